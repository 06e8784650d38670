//! Exact shares of a whole: connections among workers, requests among workers.

/// Part `index` of `total` divided among `parts`; the parts differ by at most one and add up exactly.
#[must_use]
pub fn share(total: usize, index: usize, parts: usize) -> usize {
    total / parts + usize::from(index < total % parts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn shares_add_up_and_differ_by_at_most_one(total in 0usize..1_000_000, parts in 1usize..257) {
            let shares: Vec<_> = (0..parts).map(|index| share(total, index, parts)).collect();
            prop_assert_eq!(shares.iter().sum::<usize>(), total);
            let least = shares.iter().min().copied().unwrap_or(0);
            let most = shares.iter().max().copied().unwrap_or(0);
            prop_assert!(most - least <= 1);
        }

        #[test]
        fn a_share_grows_with_the_whole(total in 0usize..100_000, parts in 1usize..65, index in 0usize..64) {
            let index = index % parts;
            prop_assert!(share(total + 1, index, parts) >= share(total, index, parts));
        }
    }
}
