//! The features of a document.

use super::remarks::Remark;
use crate::similarity::occurrence;

/// The features of one document: flat buffers, refilled for the next one.
#[derive(Clone, Debug, Default)]
pub struct Features {
    /// One hash for each feature, in any order. Repeats are allowed if the algorithm's fingerprint does not depend on
    /// them.
    pub hashes: Vec<u64>,
    /// One weight for each feature, parallel to `hashes`; or empty if every feature weighs 1.
    pub weights: Vec<u32>,
    /// The number of features that the hashes are made of, where that is not the number of hashes: I-Match hashes many
    /// terms to one digest.
    pub made_of: Option<usize>,
    /// What a run should know about the document.
    pub remark: Option<Remark>,
    /// Working memory of [`remove_repeats`](Self::remove_repeats) and [`first_of_each`](Self::first_of_each).
    pub(super) seen: Vec<u64>,
    /// The result of [`first_of_each`](Self::first_of_each).
    pub(super) positions: Vec<u32>,
    /// Working memory for positions and for making features.
    pub(super) weighted: Vec<(u64, u32)>,
    pub(super) bytes: Vec<u8>,
    pub(super) words: Vec<u64>,
    /// The document frequency of each token, while features are weighed.
    pub(super) frequencies: Vec<u32>,
}

impl Features {
    /// Removes the features and keeps the memory.
    pub fn clear(&mut self) {
        self.hashes.clear();
        self.weights.clear();
        self.made_of = None;
        self.remark = None;
    }

    /// The number of features, repeats included.
    pub fn count(&self) -> usize {
        self.made_of.unwrap_or(self.hashes.len())
    }

    /// Makes all hashes distinct: the second occurrence of a hash becomes another feature, the third yet another, and
    /// so on (option A of Broder 1997). Sets of such features compare like the original multisets. Leaves the hashes in
    /// the ascending order of their original values. For features without weights.
    ///
    /// Cost: a sort.
    pub fn number_repeats(&mut self) {
        debug_assert!(self.weights.is_empty(), "weights would no longer match their hashes");
        self.hashes.sort_unstable();
        for run in self.hashes.chunk_by_mut(|a, b| a == b) {
            run.iter_mut().enumerate().for_each(|(n, hash)| *hash = occurrence(*hash, n));
        }
    }

    /// Leaves each hash once, in a fixed but unspecified order. For features without weights.
    ///
    /// Cost: a look-up in a table of two to four slots for each hash, which is faster than sorting. That of sorting, for
    /// hashes that were made to crowd into one part of the table, and for very many, whose table would take several times
    /// their own memory.
    pub fn remove_repeats(&mut self) {
        debug_assert!(self.weights.is_empty(), "weights would no longer match their hashes");
        if self.hashes.len() > MOST_IN_A_TABLE {
            self.hashes.sort_unstable();
            return self.hashes.dedup();
        }
        let mut hashes = std::mem::take(&mut self.hashes);
        let mut seen = Seen::new(&mut self.seen, hashes.len());
        hashes.retain(|&hash| seen.is_first(hash));
        if seen.probe_limit_exceeded() {
            hashes.sort_unstable();
            hashes.dedup();
        }
        self.hashes = hashes;
    }

    /// Leaves in `positions` the first position of each of these hashes, in no particular order. Hashes after the first
    /// 2³² are ignored.
    ///
    /// Cost: as for [`remove_repeats`](Self::remove_repeats).
    pub(crate) fn first_of_each(&mut self, hashes: &[u64]) {
        let all = 0..u32::try_from(hashes.len()).unwrap_or(u32::MAX);
        if hashes.len() > MOST_IN_A_TABLE {
            self.positions.clear();
            self.positions.extend(all);
            return self.leave_first(hashes);
        }
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
            self.leave_first(hashes);
        }
    }

    /// Leaves of the positions of equal hashes the first.
    fn leave_first(&mut self, hashes: &[u64]) {
        self.positions.sort_unstable_by_key(|&i| (hashes[i as usize], i));
        self.positions.dedup_by_key(|i| hashes[*i as usize]);
    }
}

/// The maximum number of hashes of which repeats are found with a table.
const MOST_IN_A_TABLE: usize = 1 << 19;

/// A table of hashes that were seen.
struct Seen<'a> {
    /// Two to four slots for each hash. 0 marks a free slot; the hash 0 is tracked separately.
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

    /// Returns whether the hash was not seen before. Once the probe limit is exceeded, it also returns true for some
    /// that were.
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
    /// Leaves each hash once, ascending. `weigh` computes its weight from the least of its weights and the number of
    /// its occurrences.
    pub(crate) fn merge_repeats(&mut self, weigh: impl Fn(u32, u32) -> u32) {
        self.weighted.clear();
        self.weighted.extend(self.hashes.drain(..).zip(self.weights.drain(..)));
        self.weighted.sort_unstable();
        for run in self.weighted.chunk_by(|a, b| a.0 == b.0) {
            self.hashes.push(run[0].0);
            self.weights.push(weigh(run[0].1, u32::try_from(run.len()).unwrap_or(u32::MAX)));
        }
    }

    /// Removes the hashes of weight 0.
    pub(crate) fn remove_weightless(&mut self) {
        let mut weights = self.weights.iter();
        self.hashes.retain(|_| weights.next() != Some(&0));
        self.weights.retain(|&weight| weight > 0);
    }

    /// Repeats each hash as often as it weighs, and removes the weights.
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
        assert_eq!(features.hashes, [5, occurrence(5, 1), occurrence(5, 2), 9]);
        features.clear();
        features.number_repeats();
        assert!(features.hashes.is_empty());
    }
}
