//! Quantiles of times are what sorting gives.

use plimsoll_figures::{Kept, Times};
use proptest::prelude::*;

fn times(values: &[u32]) -> Times {
    let mut times = Times::default();
    for &value in values {
        times.note(7, 7 + u64::from(value));
    }
    times
}

proptest! {
    #[test]
    fn values_at_places_are_those_of_the_sorted_times(
        values in prop::collection::vec(prop_oneof![0_u32..20, any::<u32>()], 1..400),
        places in prop::collection::vec(0_usize..450, 0..12),
    ) {
        let mut places = places;
        places.sort_unstable();
        let mut sorted: Vec<i64> = values.iter().map(|&value| i64::from(value)).collect();
        sorted.sort_unstable();
        let expected: Vec<_> =
            places.iter().map(|&place| sorted[place.min(sorted.len() - 1)]).collect();
        let mut noted = times(&values);
        prop_assert_eq!(noted.at(&places), expected);
        let mut kept = noted.values().to_vec();
        kept.sort_unstable();
        prop_assert_eq!(kept, sorted);
    }
}

#[test]
fn an_instant_that_never_came_makes_no_time() {
    let mut times = Times::default();
    times.note(u64::MAX, 5);
    times.note(5, u64::MAX);
    assert!(times.values().is_empty());
    assert_eq!((times.mean(), times.at(&[0])), (None, Vec::new()));
}

#[test]
fn the_mean_of_times_is_exact() {
    assert_eq!(times(&[1, 2, 6]).mean(), Some(3.0));
}
