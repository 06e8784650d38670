//! Values by keys of which the same one comes many times in a row.

use std::collections::HashMap;
use std::hash::Hash;

/// Values by their keys, in the order in which these first came.
#[derive(Clone, Debug)]
pub struct Grouped<K, V> {
    items: Vec<(K, V)>,
    places: HashMap<K, usize>,
    last: usize,
}

impl<K, V> Default for Grouped<K, V> {
    fn default() -> Self {
        Self { items: Vec::new(), places: HashMap::new(), last: 0 }
    }
}

impl<K: Copy + Eq + Hash, V: Default> Grouped<K, V> {
    /// The value of a key; the default where there was none.
    #[inline]
    pub fn of(&mut self, key: K) -> &mut V {
        if self.items.get(self.last).is_none_or(|(known, _)| *known != key) {
            let next = self.items.len();
            self.last = *self.places.entry(key).or_insert(next);
            if self.last == next {
                self.items.push((key, V::default()));
            }
        }
        &mut self.items[self.last].1
    }

    /// Each key with its value.
    pub fn into_items(self) -> impl Iterator<Item = (K, V)> {
        self.items.into_iter()
    }

    /// These and others; `join` joins two values of one key.
    #[must_use]
    pub fn joined(mut self, other: Self, join: impl Fn(&mut V, V)) -> Self {
        for (key, value) in other.items {
            join(self.of(key), value);
        }
        self
    }
}
