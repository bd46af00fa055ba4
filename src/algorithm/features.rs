//! The features of a document.

use crate::hash::{combine, mix};

/// The features of one document: flat buffers, refilled for the next one.
#[derive(Clone, Debug, Default)]
pub struct Features {
    /// One hash a feature, in any order. Repeats are allowed where the algorithm's fingerprint does not mind them.
    pub hashes: Vec<u64>,
    /// One weight a feature, side by side with `hashes`; or empty, which means that every feature weighs 1.
    pub weights: Vec<u32>,
    /// Working memory of [`remove_repeats`](Self::remove_repeats) and [`first_of_each`](Self::first_of_each).
    pub(super) seen: Vec<u64>,
    /// What [`first_of_each`](Self::first_of_each) leaves.
    pub(super) positions: Vec<u32>,
    /// For anything that goes with positions or makes features.
    pub(super) weighted: Vec<(u64, u32)>,
    pub(super) bytes: Vec<u8>,
    pub(super) words: Vec<u64>,
    /// In how many documents each token is, while features are weighed.
    pub(super) frequencies: Vec<u32>,
}

impl Features {
    /// Forgets the features, keeps the memory.
    pub fn clear(&mut self) {
        self.hashes.clear();
        self.weights.clear();
    }

    /// Makes each hash differ from the others: the second occurrence of one is a feature of its own, the third another, and so on
    /// (option A of Broder 1997). Sets of such features compare as the multisets that they were made of. Leaves the hashes
    /// ascending before they were numbered. For features without weights.
    ///
    /// Cost: a sort.
    pub fn number_repeats(&mut self) {
        debug_assert!(self.weights.is_empty(), "weights would no longer stand beside their hashes");
        self.hashes.sort_unstable();
        for run in self.hashes.chunk_by_mut(|a, b| a == b) {
            // The first occurrence is the hash itself, as in a set.
            run.iter_mut().enumerate().skip(1).for_each(|(i, hash)| *hash = combine(mix(i as u64), *hash));
        }
    }

    /// Leaves each hash once, in a fixed but unspecified order. For features without weights.
    ///
    /// Cost: a look-up in a table of two to four slots a hash, faster than sorting; at worst, for hashes that were made to crowd
    /// into one part of the table, that of sorting after all.
    pub fn remove_repeats(&mut self) {
        debug_assert!(self.weights.is_empty(), "weights would no longer stand beside their hashes");
        let mut hashes = std::mem::take(&mut self.hashes);
        let mut seen = Seen::new(&mut self.seen, hashes.len());
        hashes.retain(|&hash| seen.is_first(hash));
        if seen.probe_limit_exceeded() {
            hashes.sort_unstable();
            hashes.dedup();
        }
        self.hashes = hashes;
    }

    /// Leaves in `positions` where each of these hashes is for the first time, in no particular order. Of more than 2³² hashes the rest
    /// is not looked at.
    ///
    /// Cost: as for [`remove_repeats`](Self::remove_repeats).
    pub(crate) fn first_of_each(&mut self, hashes: &[u64]) {
        let all = 0..u32::try_from(hashes.len()).unwrap_or(u32::MAX);
        let mut seen = Seen::new(&mut self.seen, hashes.len());
        self.positions.clear();
        self.positions.resize(all.len(), 0);
        let mut count = 0;
        for (i, &hash) in all.zip(hashes) {
            // Without a branch, which nobody could predict.
            self.positions[count] = i;
            count += usize::from(seen.is_first(hash));
        }
        self.positions.truncate(count);
        if seen.probe_limit_exceeded() {
            self.positions.sort_unstable_by_key(|&i| (hashes[i as usize], i));
            self.positions.dedup_by_key(|i| hashes[*i as usize]);
        }
    }
}

/// A table of hashes that were seen.
struct Seen<'a> {
    /// Two to four places a hash; 0 marks a free one, and is looked after by itself.
    slots: &'a mut [u64],
    zero: bool,
    /// Steps left before the table gives up. Well-distributed hashes take one or two each.
    probes_left: usize,
}

impl<'a> Seen<'a> {
    fn new(memory: &'a mut Vec<u64>, hashes: usize) -> Self {
        memory.clear();
        memory.resize((2 * hashes).next_power_of_two(), 0);
        Seen { slots: memory, zero: false, probes_left: 16 * hashes + 64 }
    }

    /// Whether the hash was not seen before. Once the probe limit is exceeded, also of some that were.
    #[inline]
    fn is_first(&mut self, hash: u64) -> bool {
        if hash == 0 {
            return !std::mem::replace(&mut self.zero, true);
        }
        let mask = self.slots.len() - 1;
        let mut slot = hash as usize & mask;
        while self.probes_left > 0 && self.slots[slot] != 0 && self.slots[slot] != hash {
            slot = (slot + 1) & mask;
            self.probes_left -= 1;
        }
        self.probes_left == 0 || std::mem::replace(&mut self.slots[slot], hash) == 0
    }

    fn probe_limit_exceeded(&self) -> bool {
        self.probes_left == 0
    }
}

impl Features {
    /// Leaves each hash once, ascending, with the weight that `weigh` makes of the least of its weights and of how often it was there.
    pub(crate) fn merge_repeats(&mut self, weigh: impl Fn(u32, u32) -> u32) {
        self.weighted.clear();
        self.weighted.extend(self.hashes.drain(..).zip(self.weights.drain(..)));
        self.weighted.sort_unstable();
        for run in self.weighted.chunk_by(|a, b| a.0 == b.0) {
            self.hashes.push(run[0].0);
            self.weights.push(weigh(run[0].1, u32::try_from(run.len()).unwrap_or(u32::MAX)));
        }
    }

    /// Leaves each hash as often as it weighs, without a weight.
    pub(crate) fn repeat_by_weight(&mut self) {
        if !self.weights.is_empty() {
            self.weighted.clear();
            self.weighted.extend(self.hashes.drain(..).zip(self.weights.drain(..)));
            let repeated = self.weighted.iter().flat_map(|&(hash, weight)| std::iter::repeat_n(hash, weight as usize));
            self.hashes.extend(repeated);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeats_are_removed() {
        let mut features = Features { hashes: vec![5, 0, 9, 5, 0, 5 + (1 << 32), 9, 1], ..Features::default() };
        features.remove_repeats();
        assert_eq!(features.hashes, [5, 0, 9, 5 + (1 << 32), 1]);
        features.clear();
        features.remove_repeats();
        assert!(features.hashes.is_empty());
        // Made to fall into one slot: as many steps as pairs, were it not for the probe limit.
        let crowded = || (1..=200_000u64).map(|i| i << 32);
        features.hashes = crowded().chain(crowded()).collect();
        features.remove_repeats();
        features.hashes.sort_unstable();
        assert!(features.hashes.iter().copied().eq(crowded()));
    }

    #[test]
    fn repeats_are_numbered() {
        let mut features = Features { hashes: vec![5, 9, 5, 5], ..Features::default() };
        features.number_repeats();
        assert_eq!(features.hashes, [5, combine(mix(1), 5), combine(mix(2), 5), 9]);
        features.clear();
        features.number_repeats();
        assert!(features.hashes.is_empty());
    }
}
