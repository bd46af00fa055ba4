//! Partitions of the lengths of multisets: two multisets whose Jaccard similarity reaches the threshold are in the same
//! partition or in neighbouring ones.
//!
//! The similarity is at most the smaller length over the larger one. A partition that begins at `lo` ends at the first
//! length `hi` with which `lo` can no longer reach the threshold, `hi − lo > (1 − τ)·hi`. So a multiset shorter than a
//! partition is below the threshold with every multiset that is longer than it (Theobald, Siddharth & Paepcke 2008).

use crate::similarity::Threshold;
use std::ops::RangeInclusive;

/// The partitions of lengths, from the least length on.
#[derive(Clone, Debug)]
pub struct Partitions {
    threshold: Threshold,
    least: usize,
}

impl Partitions {
    /// Partitions of the lengths from `least` on, which is at least 1.
    pub fn new(threshold: Threshold, least: usize) -> Self {
        Partitions { threshold, least: least.max(1) }
    }

    /// Returns the partitions, in order. Each length from the least on is in exactly one of them.
    pub fn ranges(&self) -> impl Iterator<Item = RangeInclusive<usize>> {
        let from = |lo: usize| lo..=self.threshold.max_total(lo).saturating_add(1);
        std::iter::successors(Some(from(self.least)), move |range| range.end().checked_add(1).map(from))
    }

    /// Returns the number of the partition of a length, and the least length of the next partition if a multiset there can reach
    /// the threshold. `None` for lengths below the least.
    ///
    /// Cost: one step a partition. Partitions grow as powers of `1/τ`, except for τ near 1, where the first ones have
    /// two lengths each.
    pub fn of(&self, length: usize) -> Option<(usize, Option<usize>)> {
        let (number, range) = self.ranges().enumerate().find(|(_, range)| length <= *range.end())?;
        let next = range.end().checked_add(1).filter(|&next| self.threshold.max_total(length) >= next);
        (length >= self.least).then_some((number, next))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn partitions(threshold: &str, least: usize) -> Partitions {
        Partitions::new(threshold.parse().unwrap(), least)
    }

    fn up_to(threshold: &str, least: usize, longest: usize) -> Vec<(usize, usize)> {
        let partitions = partitions(threshold, least);
        let ranges = partitions.ranges().map(|range| (*range.start(), *range.end()));
        ranges.take_while(|(lo, _)| *lo <= longest).collect()
    }

    /// The rule of the paper (Theobald, Siddharth & Paepcke 2008) worked out by another program: the ranges for 0.44, and how
    /// many there are up to 1,000 spots for other thresholds.
    #[test]
    fn ranges_by_the_rule_of_the_paper() {
        let expected = [(4, 10), (11, 26), (27, 62), (63, 144), (145, 330), (331, 753)];
        let found = up_to("0.44", 4, 1000);
        assert_eq!(found[..6], expected);
        assert_eq!((found.len(), found[6].0), (7, 754));
        let counts = ["0.5", "0.8", "0.85", "0.9"].map(|threshold| up_to(threshold, 4, 1000).len());
        assert_eq!(counts, [8, 21, 27, 39]);
    }

    #[test]
    fn lengths_are_found_where_they_are() {
        let at = |length| partitions("0.44", 4).of(length);
        assert_eq!([at(0), at(3), at(4), at(5)], [None, None, Some((0, None)), Some((0, Some(11)))]);
        assert_eq!([at(10), at(11), at(26)], [Some((0, Some(11))), Some((1, None)), Some((1, Some(27)))]);
        // 12 of 27 is at 4/9, just above 0.44; 11.88 would do.
        assert_eq!(at(12), Some((1, Some(27))));
    }

    #[test]
    fn the_ends_of_what_can_be_asked() {
        assert_eq!(partitions("0.000000000001", 1).of(usize::MAX), Some((1, None)));
        assert_eq!(partitions("1", 1).of(1000), Some((499, None)));
        assert_eq!(partitions("1", 1).of(1), Some((0, None)));
    }

    proptest! {
        #[test]
        fn similar_lengths_are_in_the_same_partition_or_in_the_next(
            a in 1usize..3000, b in 1usize..3000, p in 1u64..=100, least in 1usize..10,
        ) {
            let threshold = Threshold::new(p, 100).unwrap();
            let (short, long) = (a.min(b).max(least), a.max(b).max(least));
            let partitions = Partitions::new(threshold, least);
            let (of_short, next) = partitions.of(short).unwrap();
            let (of_long, _) = partitions.of(long).unwrap();
            let meet = of_short == of_long || (next.is_some_and(|least| least <= long) && of_short + 1 == of_long);
            if threshold.reached_by(short as u64, long as u64) {
                prop_assert!(meet);
            }
            // Whoever looks into the next partition can find something there.
            let after = partitions.ranges().nth(of_short + 1).map(|range| *range.start());
            prop_assert!(next.is_none_or(|least| Some(least) == after && threshold.reached_by(short as u64, least as u64)));
        }
    }
}
