//! The prefix filter: every two sets whose Jaccard similarity reaches a threshold share a key, and few others do.
//!
//! Sort the elements of every set in one global order, rare ones first. If `J(x, y) ≥ τ` the two share at least
//! `⌈τ·|x|⌉` elements, so they cannot share only elements from the end of `x`: one of them is among the first
//! `|x| − ⌈τ·|x|⌉ + 1` of `x`, its prefix; the first shared element in the order is in both prefixes (Chaudhuri, Ganti
//! & Kaushik, ICDE 2006; Bayardo, Ma & Srikant, WWW 2007). Each element of the prefix is a key. A multiset is the set
//! of its (element, occurrence) pairs.
//!
//! The order decides the cost, not the result: few sets share a rare element. An element of only one document is not a
//! key at all.

use crate::hash::{combine, mix};
use crate::lexicon::Rarity;
use crate::similarity::Threshold;
use std::sync::Arc;

/// Makes prefixes and keys.
#[derive(Clone)]
pub(crate) struct Prefix {
    threshold: Threshold,
    rarity: Option<Arc<Rarity>>,
}

impl Prefix {
    /// Keys for pairs at or above `threshold`. Until [`learn`](Self::learn) is called, all elements count as equally
    /// rare.
    pub fn new(threshold: Threshold) -> Self {
        Prefix { threshold, rarity: None }
    }

    /// Returns whether the rarity of elements is known.
    pub fn has_learned(&self) -> bool {
        self.rarity.is_some()
    }

    /// Sets the order of elements, by their rarity in the collection.
    pub fn learn(&mut self, rarity: &Arc<Rarity>) {
        self.rarity = Some(Arc::clone(rarity));
    }

    /// Appends the keys of the prefix of a set, given with or without repeats and in any order. An empty set has none.
    ///
    /// Cost: a sort, if they are not ascending and distinct, and a selection by rarity. Memory: 9 bytes for each element in addition
    /// to the keys.
    pub fn keys_of_set(&self, elements: &[u64], keys: &mut Vec<u64>) {
        let mut set = elements.to_vec();
        if !set.is_sorted_by(|a, b| a < b) {
            set.sort_unstable();
            set.dedup();
        }
        let counts = self.counts(&set);
        self.keys_of(&counts, set, keys);
    }

    /// Appends the keys of the prefix of a multiset, given in any order. An empty one has none. Those of its first `inner` elements
    /// come first: returns how many they are.
    ///
    /// Cost: a sort of the elements that other documents have too, of 16 bytes each.
    pub fn keys_of_multiset(&self, elements: &[u64], inner: usize, keys: &mut Vec<u64>) -> usize {
        let (counts, length) = (self.counts(elements), self.threshold.prefix_of(elements.len()));
        let is_count = |wanted: u8| counts.iter().filter(|&&count| count == wanted).count();
        // Mostly, the elements of this document alone fill the prefix, after those that were not counted.
        let (unknown, own) = (is_count(0), is_count(1));
        let of_others = |length: usize| length.min(unknown) + length.saturating_sub(unknown + own);
        if elements.is_empty() || of_others(length) == 0 {
            return 0;
        }
        let mut others: Vec<(u8, u64)> = Vec::with_capacity(elements.len() - own);
        others.extend(counts.into_iter().zip(elements.iter().copied()).filter(|&(count, _)| count != 1));
        others.sort_unstable();
        // The first occurrence of an element is the element itself, as in a set.
        if others.array_windows().any(|[a, b]| a == b) {
            for run in others.chunk_by_mut(|a, b| a == b) {
                let repeats = run.iter_mut().enumerate().skip(1);
                repeats.for_each(|(at, (_, element))| *element = combine(mix(at as u64), *element));
            }
            others.sort_unstable();
        }
        keys.extend(others[..of_others(length)].iter().map(|&(_, key)| key));
        of_others(inner)
    }

    /// How many documents have each of these elements.
    fn counts(&self, elements: &[u64]) -> Vec<u8> {
        let mut counts = vec![u8::MAX; elements.len()];
        if let Some(rarity) = &self.rarity {
            rarity.count_all(elements, &mut counts);
        }
        counts
    }

    /// Appends the prefix of elements, given their counts and their keys: the rare ones first, and of those with one count the
    /// smallest keys, which is as good as any fixed order.
    ///
    /// The counts decide on most elements without a sort. Those of the last count are collected in the place of others.
    fn keys_of(&self, counts: &[u8], mut keys_of_elements: Vec<u64>, keys: &mut Vec<u64>) {
        let length = self.threshold.prefix_of(counts.len());
        // Mostly, the elements of this document alone fill the prefix. They lead to no other document.
        let is_count = |wanted: u8| counts.iter().filter(|&&count| count == wanted).count();
        if counts.is_empty() || (is_count(1) >= length && is_count(0) == 0) {
            return;
        }
        let mut of_count = [0u32; 256];
        counts.iter().for_each(|&count| of_count[usize::from(count)] += 1);
        let (mut last, mut left) = (0u8, length);
        while last < u8::MAX && (of_count[usize::from(last)] as usize) < left {
            left -= of_count[usize::from(last)] as usize;
            last += 1;
        }
        // Without branches, as it is anyone's guess which of two elements is the rarer: each is written, and stays if it counts.
        let (mut end, mut ties) = (keys.len(), 0);
        keys.reserve(length + 1);
        keys.resize(end + length - left + 1, 0);
        for (at, &count) in counts.iter().enumerate() {
            let key = keys_of_elements[at];
            keys[end] = key;
            // An element of this document alone is no key.
            end += usize::from((count < last) & (count != 1));
            keys_of_elements[ties] = key;
            ties += usize::from(count == last);
        }
        keys.truncate(end);
        if last == 1 {
            return;
        }
        keys_of_elements.truncate(ties);
        if left < ties {
            keys_of_elements.select_nth_unstable(left);
            keys_of_elements.truncate(left);
        }
        keys.append(&mut keys_of_elements);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::similarity::jaccard_at_least;
    use proptest::prelude::*;

    fn prefix(percent: u64, documents: &[Vec<u64>]) -> Prefix {
        let rarity = Rarity::new();
        for document in documents {
            let mut set = document.clone();
            set.sort_unstable();
            set.dedup();
            set.iter().for_each(|&element| rarity.add(element));
        }
        let mut prefix = Prefix::new(Threshold::new(percent, 100).unwrap());
        prefix.learn(&Arc::new(rarity));
        prefix
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn every_pair_at_the_threshold_shares_a_key(
            documents in prop::collection::vec(prop::collection::vec(0u64..12, 1..20), 2..12),
            percent in 1u64..=100,
            multisets: bool,
        ) {
            let documents: Vec<Vec<u64>> = documents.iter().map(|d| d.iter().map(|&x| mix(x)).collect()).collect();
            let prefix = prefix(percent, &documents);
            let made: Vec<(Vec<u64>, Vec<u64>)> = documents
                .iter()
                .map(|document| {
                    let (mut sorted, mut keys) = (document.clone(), Vec::new());
                    sorted.sort_unstable();
                    if multisets {
                        prefix.keys_of_multiset(document, 0, &mut keys);
                    } else {
                        sorted.dedup();
                        prefix.keys_of_set(document, &mut keys);
                    }
                    (sorted, keys)
                })
                .collect();
            for (i, (a, a_keys)) in made.iter().enumerate() {
                for (b, b_keys) in &made[i + 1..] {
                    if jaccard_at_least(a, b, prefix.threshold).is_some() {
                        prop_assert!(a_keys.iter().any(|key| b_keys.contains(key)), "{a:?} and {b:?}");
                    }
                }
            }
        }
    }

    proptest! {
        #[test]
        fn keys_are_those_of_the_first_in_a_sorted_list(
            elements in prop::collection::vec((0u8..5, any::<u8>()), 1..60),
            percent in 1u64..=100,
        ) {
            let prefix = Prefix::new(Threshold::new(percent, 100).unwrap());
            let elements: std::collections::BTreeSet<(u8, u8)> = elements.into_iter().collect();
            let (counts, of_elements): (Vec<u8>, Vec<u64>) =
                elements.iter().map(|&(count, key)| (count, mix((u64::from(key) << 8) + u64::from(count)))).unzip();
            let mut sorted: Vec<(u8, u64)> = counts.iter().copied().zip(of_elements.iter().copied()).collect();
            sorted.sort_unstable();
            sorted.truncate(prefix.threshold.prefix_of(sorted.len()));
            let mut expected: Vec<u64> = sorted.iter().filter(|(count, _)| *count != 1).map(|&(_, key)| key).collect();
            let mut keys = vec![7];
            prefix.keys_of(&counts, of_elements, &mut keys);
            prop_assert_eq!(keys.remove(0), 7);
            expected.sort_unstable();
            keys.sort_unstable();
            prop_assert_eq!(keys, expected);
        }
    }

    proptest! {
        #[test]
        fn the_first_keys_of_a_multiset_are_those_of_its_first_elements(
            documents in prop::collection::vec(prop::collection::vec(0u64..12, 1..30), 1..5),
            percent in 1u64..=100,
            inner in 0usize..30,
        ) {
            let documents: Vec<Vec<u64>> = documents.iter().map(|d| d.iter().map(|&x| mix(x)).collect()).collect();
            let prefix = prefix(percent, &documents);
            for document in &documents {
                let with = |element| documents.iter().filter(|other| other.contains(element)).count();
                let mut sorted: Vec<(usize, u64)> = Vec::new();
                for (at, element) in document.iter().enumerate() {
                    let before = document[..at].iter().filter(|&other| other == element).count() as u64;
                    let key = if before == 0 { *element } else { combine(mix(before), *element) };
                    sorted.push((with(element), key));
                }
                sorted.sort_unstable();
                let of_first = |length: usize| -> Vec<u64> {
                    sorted[..length].iter().filter(|(count, _)| *count > 1).map(|&(_, key)| key).collect()
                };
                let length = prefix.threshold.prefix_of(document.len());
                let (inner, mut keys) = (inner.min(length), vec![7]);
                let count = prefix.keys_of_multiset(document, inner, &mut keys);
                prop_assert_eq!(&keys[1..], of_first(length));
                prop_assert_eq!(&keys[1..=count], of_first(inner));
            }
        }
    }

    #[test]
    fn the_prefix_is_as_short_as_it_may_be() {
        let documents: Vec<Vec<u64>> = vec![(0..500).map(mix).collect(), (0..500).map(mix).collect()];
        let mut keys = Vec::new();
        prefix(80, &documents).keys_of_set(&documents[0], &mut keys);
        assert_eq!(keys.len(), 101);
    }

    #[test]
    fn what_one_document_has_is_no_key() {
        let documents = vec![vec![1, 2, 3], vec![3, 4, 5]];
        let prefix = prefix(1, &documents);
        let mut keys = Vec::new();
        prefix.keys_of_set(&documents[0], &mut keys);
        assert_eq!(keys, [3]);
        keys.clear();
        prefix.keys_of_set(&[], &mut keys);
        assert!(keys.is_empty());
    }
}
