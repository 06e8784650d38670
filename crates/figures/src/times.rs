//! Times of which every one is held, and their exact quantiles.

use plimsoll_engine::sample::NEVER;

/// What the times of requests become.
pub trait Kept: Default {
    /// None yet, with room for so many if each of them is held.
    #[must_use]
    fn with_room(most: usize) -> Self;

    /// Notes the time between two instants that are both known.
    fn note(&mut self, start_ns: u64, end_ns: u64);

    /// These and others.
    #[must_use]
    fn joined(self, other: Self) -> Self;
}

/// Times in nanoseconds, in no order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Times(Vec<i64>);

impl Kept for Times {
    fn with_room(most: usize) -> Self {
        Self(Vec::with_capacity(most))
    }

    #[inline]
    #[allow(clippy::cast_possible_wrap)]
    fn note(&mut self, start_ns: u64, end_ns: u64) {
        if start_ns != NEVER && end_ns != NEVER {
            self.0.push(end_ns.wrapping_sub(start_ns) as i64);
        }
    }

    fn joined(mut self, mut others: Self) -> Self {
        self.0.append(&mut others.0);
        self
    }
}

impl Times {
    pub(crate) fn into_values(self) -> Vec<i64> {
        self.0
    }

    /// Every time.
    #[must_use]
    pub fn values(&self) -> &[i64] {
        &self.0
    }

    /// Their mean; None of none.
    #[must_use]
    #[allow(clippy::cast_precision_loss)]
    pub fn mean(&self) -> Option<f64> {
        let sum: i128 = self.0.iter().map(|&time| i128::from(time)).sum();
        (!self.0.is_empty()).then(|| sum as f64 / self.0.len() as f64)
    }

    /// The values at some places in rising order, counted from 0; puts the times in another order.
    ///
    /// `places` rise; those behind the last value are the last one. There are none of no times.
    pub fn at(&mut self, places: &[usize]) -> Vec<i64> {
        let Some(last) = self.0.len().checked_sub(1) else { return Vec::new() };
        let places: Vec<_> = places.iter().map(|&place| place.min(last)).collect();
        select(&mut self.0, 0, &places);
        places.iter().map(|&place| self.0[place]).collect()
    }
}

impl From<Vec<i64>> for Times {
    fn from(values: Vec<i64>) -> Self {
        Self(values)
    }
}

/// Puts at each of some places what belongs there in rising order; values before it are not greater.
///
/// Each half of the places is looked for on its own side of the middle one, so that every value is
/// moved as often as the places can be halved.
fn select(values: &mut [i64], first: usize, places: &[usize]) {
    let Some(&middle) = places.get(places.len() / 2) else { return };
    if middle < first {
        return; // the same place twice
    }
    values.select_nth_unstable(middle - first);
    let (before, behind) = places.split_at(places.len() / 2);
    let (left, right) = values.split_at_mut(middle - first);
    let before = &before[..before.partition_point(|&place| place < middle)];
    select(left, first, before);
    let behind = &behind[behind.partition_point(|&place| place <= middle)..];
    select(&mut right[1..], middle + 1, behind);
}
