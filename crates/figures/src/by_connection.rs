//! A value for each connection of a load.

use std::mem;

/// A value for each connection, by worker and then by its number there: engines count them from 0.
#[derive(Clone, Debug, Default)]
pub(crate) struct ByConnection<T>(Vec<Vec<T>>);

impl<T: Clone + Default> ByConnection<T> {
    /// The value of a connection; the default where there was none.
    #[inline]
    pub fn of(&mut self, worker: u16, connection: u32) -> &mut T {
        let (worker, connection) = (usize::from(worker), connection as usize);
        if worker >= self.0.len() {
            self.0.resize_with(worker + 1, Vec::new);
        }
        let values = &mut self.0[worker];
        if connection >= values.len() {
            values.resize(connection + 1, T::default());
        }
        &mut values[connection]
    }

    /// Values of the connections of each worker.
    pub fn of_workers(&self) -> &[Vec<T>] {
        &self.0
    }

    /// Both, where `join` takes the second value of a connection into the first; in any order.
    pub fn joined(self, other: Self, join: impl Fn(&mut T, T)) -> Self {
        let (mut one, mut rest) = (self.0, other.0);
        if one.len() < rest.len() {
            mem::swap(&mut one, &mut rest);
        }
        for (values, mut more) in one.iter_mut().zip(rest) {
            if values.len() < more.len() {
                mem::swap(values, &mut more);
            }
            for (value, other) in values.iter_mut().zip(more) {
                join(value, other);
            }
        }
        Self(one)
    }
}
