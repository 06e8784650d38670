//! Times of which every one is held, and their exact quantiles.

use std::collections::BTreeMap;

use plimsoll_engine::sample::NEVER;

/// Binary digits of a time that its bucket keeps, behind the first one.
const KEPT_BITS: u32 = 8;

/// Times below this one have a bucket of their own.
const NARROW: u32 = 1 << (KEPT_BITS + 1);

/// Buckets that all times of four bytes fall into.
const BUCKETS: usize = bucket(u32::MAX) + 1;

/// What the times of requests become.
pub trait Kept: Default {
    /// None yet, with room for so many if each of them is held.
    #[must_use]
    fn with_room(most: usize) -> Self;

    /// Takes in a time in nanoseconds.
    fn push(&mut self, time_ns: i64);

    /// These and others.
    #[must_use]
    fn joined(self, other: Self) -> Self;

    /// Notes the time between two instants that are both known.
    #[inline]
    #[allow(clippy::cast_possible_wrap)]
    fn note(&mut self, start_ns: u64, end_ns: u64) {
        if start_ns != NEVER && end_ns != NEVER {
            self.push(end_ns.wrapping_sub(start_ns) as i64);
        }
    }
}

/// Times in nanoseconds, in no order.
///
/// One below 4.3 s takes four bytes; a longer one, or one that runs backwards, takes eight.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Times {
    usual: Vec<u32>,
    others: Vec<i64>,
}

impl Kept for Times {
    fn with_room(most: usize) -> Self {
        Self { usual: Vec::with_capacity(most), others: Vec::new() }
    }

    #[inline]
    fn push(&mut self, time_ns: i64) {
        match u32::try_from(time_ns) {
            Ok(usual) => self.usual.push(usual),
            Err(_) => self.others.push(time_ns),
        }
    }

    fn joined(mut self, mut more: Self) -> Self {
        self.usual.append(&mut more.usual);
        self.others.append(&mut more.others);
        self
    }
}

impl Times {
    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.usual.len() + self.others.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Every time.
    pub fn values(&self) -> impl Iterator<Item = i64> {
        self.usual.iter().map(|&time| i64::from(time)).chain(self.others.iter().copied())
    }

    /// Their mean; None of none.
    #[must_use]
    #[allow(clippy::cast_precision_loss)]
    pub fn mean(&self) -> Option<f64> {
        let usual: u64 = self.usual.iter().map(|&time| u64::from(time)).sum();
        let others: i128 = self.others.iter().map(|&time| i128::from(time)).sum();
        (!self.is_empty()).then(|| (i128::from(usual) + others) as f64 / self.len() as f64)
    }

    /// The longest of them.
    #[must_use]
    pub fn longest(&self) -> Option<i64> {
        self.values().max()
    }

    /// The two in the middle, the lower first; of an odd number twice the same.
    #[must_use]
    pub fn middle(&self) -> Option<(i64, i64)> {
        let found = self.at(&[self.len().saturating_sub(1) / 2, self.len() / 2]);
        Some((*found.first()?, *found.last()?))
    }

    /// The values at some places in rising order, counted from 0.
    ///
    /// Places behind the last value are the last one. There are none of no times.
    #[must_use]
    pub fn at(&self, places: &[usize]) -> Vec<i64> {
        let Some(last) = self.len().checked_sub(1) else { return Vec::new() };
        let mut others = self.others.clone();
        others.sort_unstable();
        let backwards = others.partition_point(|&time| time < 0);
        let usual = backwards..backwards + self.usual.len();
        let places: Vec<_> = places.iter().map(|&place| place.min(last)).collect();
        let within = places.iter().filter(|&place| usual.contains(place));
        let found = selected(&self.usual, within.map(|place| place - backwards));
        let value = |place: usize| match found.get(&place.wrapping_sub(backwards)) {
            Some(&time) if usual.contains(&place) => i64::from(time),
            _ if place < backwards => others[place],
            _ => others[place - self.usual.len()],
        };
        places.into_iter().map(value).collect()
    }
}

/// The values at some places in rising order, by place.
///
/// Values are counted by buckets of 1/256 of a value; only those of a bucket that has a place are
/// then looked at one by one.
fn selected(values: &[u32], places: impl Iterator<Item = usize>) -> BTreeMap<usize, u32> {
    let mut counts = vec![0_usize; BUCKETS];
    for &value in values {
        counts[bucket(value)] += 1;
    }
    let firsts = firsts(&counts);
    let found: Vec<_> =
        places.map(|place| (place, firsts.partition_point(|&first| first <= place) - 1)).collect();
    let mut held: Vec<Option<Vec<u32>>> = vec![None; BUCKETS];
    for &(_, bucket) in found.iter().filter(|&&(_, bucket)| bucket >= NARROW as usize) {
        held[bucket] = Some(Vec::with_capacity(counts[bucket]));
    }
    for &value in values {
        if let Some(values) = &mut held[bucket(value)] {
            values.push(value);
        }
    }
    let mut value = |place: usize, bucket: usize| match &mut held[bucket] {
        Some(values) => *values.select_nth_unstable(place - firsts[bucket]).1,
        None => u32::try_from(bucket).unwrap_or(u32::MAX), // its only time
    };
    found.into_iter().map(|(place, bucket)| (place, value(place, bucket))).collect()
}

/// The place of the first value of each bucket.
fn firsts(counts: &[usize]) -> Vec<usize> {
    let before = counts.iter().scan(0, |next, &count| {
        let first = *next;
        *next += count;
        Some(first)
    });
    before.collect()
}

/// The bucket of a time: longer times have wider ones, and no later time has an earlier one.
#[inline]
const fn bucket(time: u32) -> usize {
    if time < NARROW {
        return time as usize;
    }
    let dropped = u32::BITS - time.leading_zeros() - KEPT_BITS - 1;
    ((dropped << KEPT_BITS) + (time >> dropped)) as usize
}
