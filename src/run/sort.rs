//! Sorting hashes.

/// The number of hashes from which on buckets are faster than comparisons.
const LEAST: usize = 32;

/// The maximum number of hashes in buckets: beyond, these no longer fit into a near cache.
const MOST: usize = if cfg!(test) { 1 << 9 } else { 1 << 15 };

/// The maximum number of buckets, in bits.
const MOST_BITS: u32 = 12;

/// The maximum number of hashes in a bucket. Those of well-distributed hashes are far below it.
const MOST_IN_A_BUCKET: u16 = 64;

/// Sorts hashes; with working memory for [`MOST`] of them.
#[derive(Clone, Debug, Default)]
pub(crate) struct HashSort {
    sorted: Vec<u64>,
    ends: Vec<u16>,
}

impl HashSort {
    /// Sorts hashes ascending.
    ///
    /// They are distributed into buckets by their upper bits, about two buckets for each hash, and then nearly sorted: an
    /// insertion sort does the rest.
    ///
    /// Cost: linear for well-distributed hashes, a third of that of `sort_unstable` for a few hundred. Others, and very many, are sorted by
    /// comparisons.
    pub fn sort(&mut self, hashes: &mut [u64]) {
        if !(LEAST..=MOST).contains(&hashes.len()) || !self.distribute(hashes) {
            return hashes.sort_unstable();
        }
        // What was inserted so far is ascending, and no hash is far from its place.
        hashes[0] = self.sorted[0];
        for (at, &hash) in self.sorted.iter().enumerate().skip(1) {
            let mut to = at;
            while to > 0 && hashes[to - 1] > hash {
                hashes[to] = hashes[to - 1];
                to -= 1;
            }
            hashes[to] = hash;
        }
    }

    /// Copies the hashes in the order of their buckets, unless one of these has too many.
    fn distribute(&mut self, hashes: &[u64]) -> bool {
        let HashSort { sorted, ends } = self;
        let bits = (hashes.len().ilog2() + 2).min(MOST_BITS);
        let bucket = |hash: u64| (hash >> (u64::BITS - bits)) as usize;
        ends.clear();
        ends.resize(1 << bits, 0);
        hashes.iter().for_each(|&hash| ends[bucket(hash)] += 1);
        let (mut sum, mut most) = (0, 0);
        for end in ends.iter_mut() {
            // At first the start of each bucket; filling moves each to its end.
            most = most.max(*end);
            sum += std::mem::replace(end, sum);
        }
        if most > MOST_IN_A_BUCKET {
            return false;
        }
        sorted.resize(hashes.len(), 0);
        for &hash in hashes {
            let end = &mut ends[bucket(hash)];
            sorted[usize::from(*end)] = hash;
            *end += 1;
        }
        true
    }
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
