//! A small histogram of times, for who watches a load; results come from the rows.
//!
//! Buckets are sixteenths of a power of two, so that a time is known to within 1/16 of itself.

/// Buckets of a power of two, as a power of two.
const PARTS_BITS: u32 = 4;

/// Buckets of a power of two.
const PARTS: u64 = 1 << PARTS_BITS;

/// Times from here on, 137 s, share the last bucket.
const TOP_BITS: u32 = 37;

/// Number of buckets.
const BUCKETS: usize = ((TOP_BITS - PARTS_BITS + 1) << PARTS_BITS) as usize;

/// Counts of times by bucket. They wrap, and what is wanted of them are differences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Histogram([u32; BUCKETS]);

impl Default for Histogram {
    fn default() -> Self {
        Self([0; BUCKETS])
    }
}

impl Histogram {
    /// Counts a time.
    #[inline]
    pub fn count(&mut self, time_ns: u64) {
        let count = &mut self.0[bucket(time_ns)];
        *count = count.wrapping_add(1);
    }

    /// Adds the counts of another histogram.
    pub fn add(&mut self, other: &Self) {
        for (count, more) in self.0.iter_mut().zip(other.0) {
            *count = count.wrapping_add(more);
        }
    }

    /// What was counted since an earlier state.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let mut grown = *self;
        for (count, before) in grown.0.iter_mut().zip(earlier.0) {
            *count = count.wrapping_sub(before);
        }
        grown
    }

    /// Number of times.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.0.iter().copied().map(u64::from).sum()
    }

    /// The upper end of the bucket that holds a quantile, in nanoseconds; None of no times.
    ///
    /// # Arguments
    ///
    /// * `thousandths`: the quantile: 990 is the 99th percentile.
    #[must_use]
    pub fn quantile_ns(&self, thousandths: u64) -> Option<u64> {
        let rank = (self.total() * thousandths).div_ceil(1000).max(1);
        let mut below = 0;
        let holds = |&count: &u32| {
            below += u64::from(count);
            below >= rank
        };
        self.0.iter().position(holds).map(upper_ns)
    }
}

/// Which bucket a time is in.
#[inline]
#[allow(clippy::cast_possible_truncation)]
fn bucket(time_ns: u64) -> usize {
    let time_ns = time_ns.min((1 << TOP_BITS) - 1);
    let shift = (time_ns | PARTS).ilog2() - PARTS_BITS;
    ((u64::from(shift) << PARTS_BITS) + (time_ns >> shift)) as usize
}

/// The greatest time in a bucket.
fn upper_ns(bucket: usize) -> u64 {
    let bucket = bucket as u64;
    let shift = (bucket >> PARTS_BITS).saturating_sub(1);
    ((bucket - (shift << PARTS_BITS) + 1) << shift) - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(times_ns: &[u64]) -> Histogram {
        let mut histogram = Histogram::default();
        for &time_ns in times_ns {
            histogram.count(time_ns);
        }
        histogram
    }

    #[test]
    fn buckets_follow_each_other_and_none_is_wider_than_a_sixteenth() {
        for bucket_of in 0..BUCKETS {
            let last = upper_ns(bucket_of);
            assert_eq!(bucket(last), bucket_of);
            let next = if bucket_of + 1 < BUCKETS { bucket_of + 1 } else { bucket_of };
            assert_eq!(bucket(last + 1), next);
            let first = bucket_of.checked_sub(1).map_or(0, |before| upper_ns(before) + 1);
            assert!((last - first) * PARTS <= first, "{first} to {last}");
        }
        assert_eq!(bucket(u64::MAX), BUCKETS - 1);
    }

    #[test]
    fn a_quantile_is_that_of_the_times_to_within_a_sixteenth() {
        let times_ns: Vec<_> = (1..=1000).map(|time| time * 1_000_000).collect();
        let histogram = of(&times_ns);
        for thousandths in [1, 500, 900, 990, 999, 1000] {
            let exact_ns = thousandths * 1_000_000;
            let found_ns = histogram.quantile_ns(thousandths).unwrap();
            assert!(found_ns >= exact_ns && (found_ns - exact_ns) * PARTS <= exact_ns);
        }
        assert_eq!(Histogram::default().quantile_ns(500), None);
    }

    #[test]
    fn what_came_since_an_earlier_state_is_the_difference_also_when_counts_have_wrapped() {
        let mut earlier = Histogram::default();
        earlier.0[3] = u32::MAX;
        let mut now = earlier;
        now.count(3);
        now.add(&of(&[3, 700]));
        assert_eq!(now.since(&earlier), of(&[3, 3, 700]));
        assert_eq!(now.since(&earlier).total(), 3);
    }
}
