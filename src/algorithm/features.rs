//! The features of a document.

use super::remarks::Remark;
use crate::lexicon::order;
use crate::similarity::occurrence;
use std::ops::Range;

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
    /// The result of [`first_of_each`](Self::first_of_each), and its working memory.
    pub(super) positions: Vec<u32>,
    pub(super) left: Vec<u32>,
    /// Working memory for positions and for making features.
    pub(super) weighted: Vec<(u64, u32)>,
    pub(super) bytes: Vec<u8>,
    /// Working memory of [`remove_repeats`](Self::remove_repeats), and for making features.
    pub(super) words: Vec<u64>,
    /// The document frequency of each token or term, and working memory for those that are not in memory.
    pub(super) frequencies: Vec<u32>,
    pub(super) missing: Vec<(u64, u32)>,
}

impl Features {
    /// Removes the features and keeps the memory.
    pub fn clear(&mut self) {
        self.hashes.clear();
        self.weights.clear();
        self.made_of = None;
        self.remark = None;
    }

    /// Bytes of memory, of what grows most.
    pub(crate) fn bytes_held(&self) -> usize {
        let words = self.hashes.capacity() + self.seen.capacity() + self.words.capacity();
        let positions = self.positions.capacity() + self.left.capacity();
        let halves = self.weights.capacity() + positions + self.frequencies.capacity();
        let pairs = self.weighted.capacity() + self.missing.capacity();
        8 * words + 4 * halves + size_of::<(u64, u32)>() * pairs + self.bytes.capacity()
    }

    /// Working memory for positions.
    pub(crate) fn positions_mut(&mut self) -> &mut Vec<u32> {
        &mut self.positions
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
    /// Cost: one look-up in a table of two to four slots for each hash, and a second one for about an eighth of them, all
    /// without branches. That of sorting, for hashes that were made to crowd into one part of the table, and for very many,
    /// whose table would take several times their own memory.
    pub fn remove_repeats(&mut self) {
        debug_assert!(self.weights.is_empty(), "weights would no longer match their hashes");
        let Features { hashes, seen, words: distinct, .. } = self;
        if hashes.len() > MOST_IN_A_TABLE {
            hashes.sort_unstable();
            return hashes.dedup();
        }
        distinct.clear();
        for rotation in ROTATIONS {
            move_distinct(hashes, distinct, seen, |hash: u64| hash.rotate_right(rotation));
        }
        // About one in fifty, unless they are crafted.
        hashes.sort_unstable();
        hashes.dedup();
        distinct.append(hashes);
        std::mem::swap(hashes, distinct);
    }

    /// Leaves in `positions` the first position of each of these hashes, in no particular order. Hashes after the first
    /// 2³² are ignored.
    ///
    /// Cost: as for [`remove_repeats`](Self::remove_repeats).
    pub(crate) fn first_of_each(&mut self, hashes: &[u64]) {
        if hashes.len() > MOST_IN_A_TABLE {
            return self.first_of_each_in_order(hashes);
        }
        let Features { positions, seen, left, .. } = self;
        positions.clear();
        left.clear();
        left.extend(0..hashes.len() as u32);
        for rotation in ROTATIONS {
            move_distinct(left, positions, seen, |i| hashes[i as usize].rotate_right(rotation));
        }
        left.sort_unstable_by_key(|&i| (hashes[i as usize], i));
        left.dedup_by_key(|i| hashes[*i as usize]);
        positions.append(left);
    }

    /// As [`first_of_each`](Self::first_of_each), in the order in which a [lexicon](crate::lexicon::order) is read, and with little more
    /// memory than the positions.
    ///
    /// Cost: a look-up for each hash, and a sort of those that are left.
    fn first_of_each_in_order(&mut self, hashes: &[u64]) {
        let Features { positions, weighted, seen, .. } = self;
        positions.clear();
        let hashes = &hashes[..hashes.len().min(u32::MAX as usize)];
        for (part, first) in hashes.chunks(MOST_IN_A_TABLE).zip((0..).step_by(MOST_IN_A_TABLE)) {
            let mut seen = Seen::new(seen, part.len());
            positions.extend(part.iter().zip(first..).filter(|&(&hash, _)| seen.is_first(hash)).map(|(_, i)| i));
        }
        let key = |&i: &u32| (order(hashes[i as usize]), i);
        if 5 * positions.len() <= hashes.len() {
            // Together they take no more than all positions would.
            sort_by(positions, weighted, key);
        } else {
            positions.clear();
            for part in sort_in_parts(hashes, positions) {
                let part = &mut positions[part];
                match part.len() > 4 * SORTED_AT_ONCE {
                    true => part.sort_unstable_by_key(key),
                    false => sort_by(part, weighted, key),
                }
            }
        }
        positions.dedup_by_key(|i| hashes[*i as usize]);
    }

    /// Removes repeats of very many hashes, as long as that is cheap: those that are not far apart.
    pub(crate) fn remove_near_repeats(&mut self, hashes: &mut Vec<u64>) {
        let mut kept = 0;
        for start in (0..hashes.len()).step_by(MOST_IN_A_TABLE) {
            let end = hashes.len().min(start + MOST_IN_A_TABLE);
            let mut seen = Seen::new(&mut self.seen, end - start);
            for at in start..end {
                hashes[kept] = hashes[at];
                kept += usize::from(seen.is_first(hashes[at]));
            }
        }
        hashes.truncate(kept);
    }
}

/// Moves the items whose slot of a table no other hash took before to `distinct`, of each hash the first. Leaves in `items` those whose
/// slot another hash has, with all their repeats. The low bits of a hash are its slot.
fn move_distinct<T: Copy + Default>(
    items: &mut Vec<T>,
    distinct: &mut Vec<T>,
    table: &mut Vec<u64>,
    hash: impl Fn(T) -> u64,
) {
    // At least two slots. A free one holds what belongs in another: slot 0 holds 1, and all others 0.
    let mask = (2 * items.len()).next_power_of_two().max(2) - 1;
    table.clear();
    table.resize(mask + 1, 0);
    let table = &mut table[..=mask];
    table[0] = 1;
    let (mut moved, mut left) = (distinct.len(), 0);
    distinct.resize(moved + items.len(), T::default());
    for i in 0..items.len() {
        let item = items[i];
        let hash = hash(item);
        let slot = hash as usize & mask;
        let held = table[slot];
        let is_free = held == u64::from(slot == 0);
        table[slot] = if is_free { hash } else { held };
        // Without a branch, which nobody could predict: what is not counted is overwritten.
        distinct[moved] = item;
        moved += usize::from(is_free);
        items[left] = item;
        left += usize::from(!is_free & (held != hash));
    }
    distinct.truncate(moved);
    items.truncate(left);
}

/// By how many bits hashes are rotated for each table that they are looked up in.
const ROTATIONS: [u32; 2] = [0, 32];

/// Fills `positions` with those of all hashes, fewer than 2³², those of a range of the [order] in each part, and returns the parts.
fn sort_in_parts(hashes: &[u64], positions: &mut Vec<u32>) -> impl Iterator<Item = Range<usize>> + use<> {
    let all = 0..hashes.len() as u32;
    let bits = (hashes.len() / SORTED_AT_ONCE + 1).next_power_of_two().trailing_zeros().min(MOST_BITS_OF_PARTS);
    let part = |hash: u64| (order(hash) >> 32 >> (32 - bits)) as usize;
    let mut ends = vec![0usize; 1 << bits];
    hashes.iter().for_each(|&hash| ends[part(hash)] += 1);
    let mut sum = 0;
    for end in &mut ends {
        // At first the start of each part; filling moves each to its end.
        sum += std::mem::replace(end, sum);
    }
    positions.resize(all.len(), 0);
    for (i, &hash) in all.zip(hashes) {
        let at = &mut ends[part(hash)];
        positions[*at] = i;
        *at += 1;
    }
    let mut start = 0;
    ends.into_iter().map(move |end| std::mem::replace(&mut start, end)..end)
}

/// Sorts positions by keys, which are computed once for each. `keyed` is working memory.
fn sort_by(positions: &mut [u32], keyed: &mut Vec<(u64, u32)>, key: impl Fn(&u32) -> (u64, u32)) {
    keyed.clear();
    keyed.extend(positions.iter().map(key));
    keyed.sort_unstable();
    positions.iter_mut().zip(keyed).for_each(|(position, (_, i))| *position = *i);
}

/// The maximum number of parts that positions are sorted in, in bits: each is written to at its own place.
const MOST_BITS_OF_PARTS: u32 = 12;

/// About so many hashes are sorted with their positions at once.
const SORTED_AT_ONCE: usize = if cfg!(test) { 1 << 3 } else { 1 << 15 };

/// The maximum number of hashes of which repeats are found with a table.
const MOST_IN_A_TABLE: usize = if cfg!(test) { 1 << 7 } else { 1 << 19 };

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
    use crate::hash::mix;
    use proptest::prelude::*;

    #[test]
    fn repeats_are_removed() {
        let mut features = Features { hashes: vec![5, 0, 9, 5, 0, 5 + (1 << 32), 9, 1], ..Features::default() };
        features.remove_repeats();
        features.hashes.sort_unstable();
        assert_eq!(features.hashes, [0, 1, 5, 9, 5 + (1 << 32)]);
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

    proptest! {
        #[test]
        fn each_hash_is_left_once(
            few in 1u64..40,
            numbers in prop::collection::vec(any::<u64>(), 0..200),
            kind in 0..4,
        ) {
            // Spread, or small with 0 and 1, or all in one slot of the first table or of both.
            let hash = |number: u64| match kind {
                0 => mix(number % few),
                1 => number % (3 * few),
                2 => (number % (3 * few)) << 32,
                _ => (number % (3 * few)) << 48,
            };
            let mut expected: Vec<u64> = numbers.into_iter().map(hash).collect();
            let mut features = Features { hashes: expected.clone(), ..Features::default() };
            features.remove_repeats();
            features.hashes.sort_unstable();
            expected.sort_unstable();
            expected.dedup();
            prop_assert_eq!(features.hashes, expected);
        }

        #[test]
        fn the_first_of_each_is_found(
            few in 1u64..40,
            numbers in prop::collection::vec(any::<u64>(), 0..300),
            spread: bool,
            in_order: bool,
        ) {
            // Some often, or nearly all different, or all in one part of the order.
            let hash = |number: u64| if spread { mix(number % few) } else { number % (3 * few) };
            let hashes: Vec<u64> = numbers.into_iter().map(hash).collect();
            let mut features = Features::default();
            if in_order { features.first_of_each_in_order(&hashes) } else { features.first_of_each(&hashes) }
            if in_order || hashes.len() > MOST_IN_A_TABLE {
                prop_assert!(features.positions.is_sorted_by_key(|&i| order(hashes[i as usize])));
            }
            let is_first = |at: &usize| !hashes[..*at].contains(&hashes[*at]);
            let expected: Vec<u32> = (0..hashes.len()).filter(is_first).map(|at| at as u32).collect();
            features.positions.sort_unstable();
            prop_assert_eq!(&features.positions, &expected);
            let mut left = hashes.clone();
            features.remove_near_repeats(&mut left);
            prop_assert!(hashes.len() > MOST_IN_A_TABLE || left.len() == expected.len());
            prop_assert!(left.len() <= hashes.len());
            left.sort_unstable();
            left.dedup();
            let mut distinct: Vec<u64> = expected.iter().map(|&i| hashes[i as usize]).collect();
            distinct.sort_unstable();
            prop_assert_eq!(left, distinct);
        }
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
