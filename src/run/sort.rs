//! Sorting hashes.

use std::mem::replace;

/// The number of hashes from which on digits are faster than comparisons.
const LEAST: usize = 48;

/// The number of hashes from which on digits of eight bits are faster than those of seven.
const MANY: usize = if cfg!(test) { 1 << 8 } else { 1 << 10 };

/// The maximum number of hashes that are sorted by digits: more do not fit into a near cache, nor their number into 16 bits.
const MOST: usize = if cfg!(test) { 1 << 9 } else { 1 << 15 };

/// Sorts hashes; with working memory for as many.
#[derive(Clone, Debug, Default)]
pub(crate) struct HashSort {
    half: Vec<u64>,
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
            sort.sort(&mut hashes);
            prop_assert_eq!(hashes, expected);
        }
    }
}
