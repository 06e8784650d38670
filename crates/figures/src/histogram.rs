//! Exact distributions that add up: every value, in whole nanoseconds, with how often it came.
//!
//! Hosts count apart, and their counts are added; a quantile of the sum is a value that was measured.
//! A value takes two or three bytes, however often it came: its distance from the one before it, and
//! its count, each as a number of seven bits a byte.

use std::mem;

use crate::times::Kept;

/// Values that are sorted at a time, so that they stay in the cache.
const AT_A_TIME: usize = 1 << 20;

/// More values than any load has; sums of so many cannot overflow.
const MOST: u64 = 1 << 62;

const MORE: u8 = 0x80;
const BITS: u32 = 7;

/// Values in rising order, each with how often it came.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Histogram {
    packed: Vec<u8>,
    count: u64,
    sum: i128,
}

impl Histogram {
    /// Of values that rise.
    fn of_sorted(values: &[i64]) -> Self {
        let mut made = Packing::default();
        for alike in values.chunk_by(|one, other| one == other) {
            made.add(alike[0], alike.len() as u64);
        }
        made.done()
    }

    /// What [`Histogram::as_bytes`] gave; None if it is something else.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut left = bytes;
        let mut made = Packing::default();
        let mut last = None;
        while !left.is_empty() {
            let value = value_after(last, take(&mut left)?)?;
            let count = take(&mut left)?.checked_add(1)?;
            made.made.count.checked_add(count).filter(|&all| all < MOST)?;
            made.add(value, count);
            last = Some(value);
        }
        Some(made.done())
    }

    /// The values as bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.packed
    }

    /// How many values came.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Their mean; None of none.
    #[must_use]
    #[allow(clippy::cast_precision_loss)]
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64)
    }

    /// These and others.
    #[must_use]
    pub fn joined(&self, other: &Self) -> Self {
        let mut made = Packing::with_room(self.packed.len() + other.packed.len());
        let (mut left, mut right) = (self.values().peekable(), other.values().peekable());
        loop {
            let next = match (left.peek(), right.peek()) {
                (Some(one), Some(two)) if one.0 > two.0 => right.next(),
                (None, _) => right.next(),
                _ => left.next(),
            };
            let Some((value, count)) = next else { return made.done() };
            made.add(value, count);
        }
    }

    /// The values at some places in rising order, counted from 0.
    ///
    /// `places` rise; those behind the last value are the last one. There are none of no values.
    #[must_use]
    pub fn at(&self, places: &[u64]) -> Vec<i64> {
        let mut found = Vec::with_capacity(places.len());
        let (mut before, mut last) = (0, None);
        for (value, count) in self.values() {
            before += count;
            while places.get(found.len()).is_some_and(|&place| place < before) {
                found.push(value);
            }
            last = Some(value);
        }
        if let Some(value) = last {
            found.resize(places.len(), value);
        }
        found
    }

    /// Each value with how often it came, in rising order.
    fn values(&self) -> impl Iterator<Item = (i64, u64)> {
        let mut left = self.packed.as_slice();
        let mut last = None;
        std::iter::from_fn(move || {
            let value = value_after(last, take(&mut left)?)?;
            last = Some(value);
            Some((value, take(&mut left)? + 1))
        })
    }
}

/// A histogram that is being made of values in rising order.
#[derive(Default)]
struct Packing {
    made: Histogram,
    last: Option<(i64, u64)>,
    before: Option<i64>,
}

impl Packing {
    fn with_room(bytes: usize) -> Self {
        let made = Histogram { packed: Vec::with_capacity(bytes), ..Histogram::default() };
        Self { made, ..Self::default() }
    }

    #[inline]
    fn add(&mut self, value: i64, count: u64) {
        self.made.count += count;
        self.made.sum += i128::from(value) * i128::from(count);
        match &mut self.last {
            Some((known, counted)) if *known == value => *counted += count,
            _ => {
                self.pack();
                self.last = Some((value, count));
            }
        }
    }

    #[inline]
    fn pack(&mut self) {
        let Some((value, count)) = self.last else { return };
        put(&mut self.made.packed, distance(self.before, value));
        put(&mut self.made.packed, count - 1);
        self.before = Some(value);
    }

    fn done(mut self) -> Histogram {
        self.pack();
        self.made.packed.shrink_to_fit();
        self.made
    }
}

/// How far a value is from the one before it; the first one from 0, which lies in the middle.
#[inline]
#[allow(clippy::cast_sign_loss)]
fn distance(before: Option<i64>, value: i64) -> u64 {
    match before {
        Some(before) => value.wrapping_sub(before) as u64,
        None => ((value << 1) ^ (value >> 63)) as u64,
    }
}

/// The value at a distance; None where there is no such value.
#[inline]
#[allow(clippy::cast_possible_wrap)]
fn value_after(before: Option<i64>, distance: u64) -> Option<i64> {
    match before {
        Some(before) => before.checked_add_unsigned(distance),
        None => Some((distance >> 1) as i64 ^ -((distance & 1) as i64)),
    }
}

#[inline]
fn put(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= u64::from(MORE) {
        bytes.push(number.to_le_bytes()[0] | MORE);
        number >>= BITS;
    }
    bytes.push(number.to_le_bytes()[0]);
}

#[inline]
fn take(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..u64::BITS).step_by(BITS as usize) {
        let (&byte, left) = bytes.split_first()?;
        *bytes = left;
        number |= u64::from(byte & !MORE) << shift;
        if byte < MORE {
            return Some(number);
        }
    }
    None
}

/// Times of which each value is counted; memory depends on how many values differ.
#[derive(Clone, Debug, Default)]
pub struct CountedTimes {
    waiting: Vec<i64>,
    packed: Vec<Histogram>,
}

impl Kept for CountedTimes {
    fn with_room(_: usize) -> Self {
        Self::default()
    }

    #[inline]
    fn push(&mut self, time_ns: i64) {
        self.waiting.push(time_ns);
        if self.waiting.len() == AT_A_TIME {
            self.pack();
        }
    }

    fn joined(mut self, mut other: Self) -> Self {
        self.pack();
        other.pack();
        other.packed.into_iter().for_each(|more| self.add(more));
        self
    }
}

impl CountedTimes {
    /// All of them.
    #[must_use]
    pub fn histogram(mut self) -> Histogram {
        self.pack();
        let smallest_first = self.packed.into_iter().rev();
        smallest_first.reduce(|one, other| one.joined(&other)).unwrap_or_default()
    }

    fn pack(&mut self) {
        let mut values = mem::take(&mut self.waiting);
        values.sort_unstable();
        self.add(Histogram::of_sorted(&values));
        values.clear();
        self.waiting = values;
    }

    /// Keeps the larger ones in front, so that a value is packed anew as often as sizes double.
    fn add(&mut self, mut more: Histogram) {
        while self.packed.last().is_some_and(|last| last.packed.len() <= more.packed.len()) {
            more = self.packed.pop().unwrap_or_default().joined(&more);
        }
        if more.count > 0 {
            self.packed.push(more);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn counted(values: &[i64]) -> Histogram {
        let mut times = CountedTimes { waiting: values.to_vec(), ..Default::default() };
        times.pack();
        times.histogram()
    }

    fn some_values() -> impl Strategy<Value = Vec<i64>> {
        let near = prop::collection::vec(-300..300_i64, 0..200);
        prop_oneof![near, prop::collection::vec(any::<i64>(), 0..200)]
    }

    proptest! {
        #[test]
        fn counts_of_parts_add_up_to_those_of_the_whole(parts in prop::collection::vec(some_values(), 0..6)) {
            let mut all = parts.concat();
            let sum = parts.iter().map(|part| counted(part))
                .fold(Histogram::default(), |one, other| one.joined(&other));
            prop_assert_eq!(&sum, &counted(&all));
            all.sort_unstable();
            let places: Vec<_> = (0..all.len() as u64).collect();
            prop_assert_eq!(sum.at(&places), all.clone());
            prop_assert_eq!(sum.count(), all.len() as u64);
        }

        #[test]
        fn a_histogram_goes_through_bytes_as_it_is(values in some_values()) {
            let known = counted(&values);
            prop_assert_eq!(Histogram::from_bytes(known.as_bytes()), Some(known));
        }

        #[test]
        fn bytes_of_something_else_are_refused_or_read(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            if let Some(read) = Histogram::from_bytes(&bytes) {
                prop_assert!(read.count() >= u64::from(!bytes.is_empty()));
            }
        }
    }

    #[test]
    fn many_parts_are_packed_into_few() {
        let mut times = CountedTimes::default();
        for part in 0..64 {
            times = times.joined(CountedTimes {
                waiting: (part..part + 100).collect(),
                ..Default::default()
            });
        }
        assert!(times.packed.len() <= 7, "{}", times.packed.len());
        assert_eq!(times.histogram().count(), 6400);
    }

    #[test]
    fn places_behind_the_last_value_are_the_last() {
        assert_eq!(counted(&[5, 1, 5]).at(&[0, 1, 9]), [1, 5, 5]);
        assert!(counted(&[]).at(&[0]).is_empty());
    }
}
