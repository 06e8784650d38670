//! Exact shares of a whole: connections among workers, requests among connections.

/// Part `index` of `total` divided among `parts`; the parts differ by at most one and add up exactly.
#[must_use]
pub fn share(total: usize, index: usize, parts: usize) -> usize {
    total / parts + usize::from(index < total % parts)
}

/// What part `index` gets of `total` that is dealt to `connections` in turn, of which each of `parts`
/// has its [`share`]. All of it is dealt, to each part in proportion to its connections.
#[must_use]
pub fn share_by_connections(total: usize, connections: usize, index: usize, parts: usize) -> usize {
    let (rounds, rest) = (total / connections.max(1), total % connections.max(1));
    rounds * share(connections, index, parts) + share(rest, index, parts)
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
        fn what_is_dealt_to_connections_adds_up_and_each_has_the_same_but_for_one(
            total in 0usize..100_000, connections in 1usize..500, parts in 1usize..65,
        ) {
            let parts = parts.min(connections);
            let dealt = |index| share_by_connections(total, connections, index, parts);
            prop_assert_eq!((0..parts).map(dealt).sum::<usize>(), total);
            for index in 0..parts {
                let own = share(connections, index, parts);
                let fewest = total / connections * own;
                prop_assert!((fewest..=fewest + own).contains(&dealt(index)));
            }
        }

        #[test]
        fn a_share_grows_with_the_whole(total in 0usize..100_000, parts in 1usize..65, index in 0usize..64) {
            let index = index % parts;
            prop_assert!(share(total + 1, index, parts) >= share(total, index, parts));
        }
    }
}
