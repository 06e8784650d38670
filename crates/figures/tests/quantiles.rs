//! Quantiles of times are what sorting gives.

use plimsoll_figures::{Kept, Times};
use proptest::prelude::*;

const START_NS: i64 = 1 << 50;

fn times(values: &[i64]) -> Times {
    let mut times = Times::default();
    for &value in values {
        times.note(START_NS.unsigned_abs(), (START_NS + value).unsigned_abs());
    }
    times
}

/// Times that are equal, of the same bucket, of all usual buckets, too long for these, or negative.
fn time() -> impl Strategy<Value = i64> {
    prop_oneof![0_i64..20, 1_000_000_i64..1_000_300, 0_i64..1 << 32, 0_i64..1 << 40, -1_000_i64..0,]
}

proptest! {
    #[test]
    fn values_at_places_are_those_of_the_sorted_times(
        values in prop::collection::vec(time(), 1..400),
        places in prop::collection::vec(0_usize..450, 0..12),
    ) {
        let mut sorted = values.clone();
        sorted.sort_unstable();
        let expected: Vec<_> =
            places.iter().map(|&place| sorted[place.min(sorted.len() - 1)]).collect();
        let noted = times(&values);
        prop_assert_eq!(noted.at(&places), expected);
        let middle = (sorted[(sorted.len() - 1) / 2], sorted[sorted.len() / 2]);
        prop_assert_eq!(noted.middle(), Some(middle));
        prop_assert_eq!(noted.longest(), sorted.last().copied());
        let mut kept: Vec<_> = noted.values().collect();
        kept.sort_unstable();
        prop_assert_eq!(kept, sorted);
    }
}

#[test]
fn an_instant_that_never_came_makes_no_time() {
    let mut times = Times::default();
    times.note(u64::MAX, 5);
    times.note(5, u64::MAX);
    assert!(times.is_empty());
    assert_eq!((times.mean(), times.middle(), times.at(&[0])), (None, None, Vec::new()));
}

#[test]
fn the_mean_of_times_is_exact() {
    assert_eq!(times(&[1, 2, 6]).mean(), Some(3.0));
    assert_eq!(times(&[-4, 6, 10_000_000_000]).mean(), Some(3_333_333_334.0));
}
