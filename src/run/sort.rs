//! Sorting hashes.

use crate::kernel::{Level, compress::nonzero};
use std::mem::replace;

/// The number of hashes from which on digits are faster than comparisons.
const LEAST: usize = 48;

/// The number of hashes from which on digits of eight bits are faster than those of seven.
const MANY: usize = if cfg!(test) { 1 << 8 } else { 1 << 10 };

/// The maximum number of hashes that are sorted by digits: more do not fit into a near cache, nor their number into 16 bits.
const MOST: usize = if cfg!(test) { 1 << 9 } else { 1 << 15 };

/// The numbers of hashes that are put into a table to be sorted, which has 4 to 8 slots for each.
const LEAST_IN_TABLE: usize = 24;
const MOST_IN_TABLE: usize = if cfg!(test) { 1 << 9 } else { 1 << 12 };

/// Sorts hashes; with working memory for as many, or for a table of some of them.
#[derive(Clone, Debug, Default)]
pub(crate) struct HashSort {
    half: Vec<u64>,
    table: Vec<u64>,
}

impl HashSort {
    /// Sorts hashes ascending.
    ///
    /// A radix sort by the upper bits, two digits of them, leaves few hashes out of order: an insertion sort does the rest.
    ///
    /// Cost: linear for well-distributed hashes, for a few hundred less than half of `sort_unstable`. Others, and very many, are sorted
    /// by comparisons.
    pub fn sort(&mut self, hashes: &mut [u64]) {
        let is_sorted = match hashes.len() {
            LEAST..MANY => self.sort_by_digits::<{ 1 << 7 }>(hashes),
            MANY..=MOST => self.sort_by_digits::<{ 1 << 8 }>(hashes),
            _ => false,
        };
        if !is_sorted {
            hashes.sort_unstable();
        }
    }

    /// Sorts hashes ascending, and moves the first of each run of equal ones to the front. Returns the number of distinct hashes.
    ///
    /// A linear probing sort (Gonnet & Munro, *The Analysis of Linear Probing Sort by the Use of a New Mathematical Transform*, Journal
    /// of Algorithms 5, 1984): each hash goes to the slot of a table that its upper bits name, or into the run of used slots around
    /// it, which is kept ascending. As most slots are free, hardly any is moved. The used slots are then the sorted hashes.
    ///
    /// Cost: as [`sort`](Self::sort); half of that with AVX-512, or if there are fewer than a hundred.
    pub fn sort_distinct(&mut self, hashes: &mut [u64]) -> usize {
        let in_table =
            matches!(hashes.len(), LEAST_IN_TABLE..=MOST_IN_TABLE).then(|| self.sort_in_table(hashes)).flatten();
        if let Some(distinct) = in_table {
            return distinct;
        }
        self.sort(hashes);
        let mut kept = 0;
        for at in 0..hashes.len() {
            if at == 0 || hashes[at] != hashes[kept - 1] {
                hashes[kept] = hashes[at];
                kept += 1;
            }
        }
        kept
    }

    /// Sorts by a table. `None`, with the hashes unchanged, if too many would be moved in it.
    fn sort_in_table(&mut self, hashes: &mut [u64]) -> Option<usize> {
        let bits = (4 * hashes.len()).next_power_of_two().ilog2();
        // The last run can go on beyond the slots that are named.
        let slots = ((1 << bits) + hashes.len()).next_multiple_of(8);
        if self.table.len() < slots {
            self.table = vec![0; slots.next_power_of_two()];
        }
        let (table, mut has_zero, mut moves_left) = (&mut self.table[..slots], false, 4 * hashes.len());
        table.fill(0);
        for &hash in &*hashes {
            if hash == 0 {
                // As a free slot is.
                has_zero = true;
                continue;
            }
            let first = (hash >> (u64::BITS - bits)) as usize;
            let (mut at, mut moved) = (first, hash);
            while table[at] != 0 && table[at] != moved {
                let held = table[at];
                table[at] = held.min(moved);
                moved = held.max(moved);
                at += 1;
            }
            table[at] = moved;
            moves_left = moves_left.checked_sub(at - first)?;
        }
        let zeros = usize::from(has_zero);
        hashes[..zeros].fill(0);
        Some(zeros + nonzero(Level::current(), table, &mut hashes[zeros..]))
    }

    /// Sorts by two digits of so many values, and then by insertion. Returns whether the insertions came to an end: they give up when
    /// there are too many.
    fn sort_by_digits<const VALUES: usize>(&mut self, hashes: &mut [u64]) -> bool {
        let bits = VALUES.ilog2();
        let high = |hash: u64| (hash >> (u64::BITS - bits)) as usize;
        let low = |hash: u64| (hash >> (u64::BITS - 2 * bits)) as usize % VALUES;
        let (mut lows, mut highs) = ([0u16; VALUES], [0u16; VALUES]);
        for &hash in &*hashes {
            lows[low(hash)] += 1;
            highs[high(hash)] += 1;
        }
        // The start of each value.
        let (mut low_sum, mut high_sum) = (0, 0);
        for (low, high) in lows.iter_mut().zip(&mut highs) {
            low_sum += replace(low, low_sum);
            high_sum += replace(high, high_sum);
        }
        self.half.resize(hashes.len(), 0);
        distribute(hashes, &mut self.half, &mut lows, low);
        distribute(&self.half, hashes, &mut highs, high);
        insert_all(hashes)
    }
}

/// Copies hashes in the order of a digit, given where each of its values starts.
fn distribute(hashes: &[u64], out: &mut [u64], starts: &mut [u16], digit: impl Fn(u64) -> usize) {
    for &hash in hashes {
        let at = &mut starts[digit(hash)];
        out[usize::from(*at)] = hash;
        *at += 1;
    }
}

/// Sorts nearly sorted hashes. Gives up after 16 moves for each, and returns whether all are sorted.
fn insert_all(hashes: &mut [u64]) -> bool {
    let mut moves_left = 16 * hashes.len();
    for at in 1..hashes.len() {
        let (hash, mut to) = (hashes[at], at);
        while to > 0 && hashes[to - 1] > hash {
            hashes[to] = hashes[to - 1];
            to -= 1;
        }
        hashes[to] = hash;
        match moves_left.checked_sub(at - to) {
            Some(left) => moves_left = left,
            None => return false,
        }
    }
    true
}

/// Which of so many ranges of equal size a hash is in: ascending with it.
pub(crate) fn range_of(hash: u64, ranges: u64) -> u64 {
    ((u128::from(hash) * u128::from(ranges)) >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::mix;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn hashes_are_sorted(seeds in prop::collection::vec(0u64..400, 0..600), low in 0u32..64, crowded: bool) {
            // Well distributed; or with their upper bits equal in groups.
            let hash = |seed: u64| if crowded { mix(seed % 5) >> low << low | seed } else { mix(seed) };
            let mut hashes: Vec<u64> = seeds.into_iter().map(hash).collect();
            let (mut expected, mut sort) = (hashes.clone(), HashSort::default());
            expected.sort_unstable();
            // Working memory is used again.
            sort.sort(&mut (0..100).map(mix).collect::<Vec<_>>());
            let mut distinct = hashes.clone();
            sort.sort(&mut hashes);
            prop_assert_eq!(&hashes, &expected);
            let count = sort.sort_distinct(&mut distinct);
            distinct.truncate(count);
            expected.dedup();
            prop_assert_eq!(distinct, expected);
        }

        #[test]
        fn each_hash_is_kept_once(hashes in prop::collection::vec(prop_oneof![any::<u64>(), 0u64..4, (0u64..9).prop_map(|n| !n)], 0..200)) {
            let (mut distinct, expected) = (hashes.clone(), hashes.into_iter().collect::<BTreeSet<u64>>());
            let count = HashSort::default().sort_distinct(&mut distinct);
            distinct.truncate(count);
            prop_assert_eq!(distinct, expected.into_iter().collect::<Vec<_>>());
        }
    }
}
