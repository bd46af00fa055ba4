//! Counts of terms, by their hashes: a flat table, for counting and for look-up.
//!
//! Terms are stored nearly in the order of [`spread`]. So the counts of a small table are added to a large one in a
//! single pass through both, instead of one random access per term.

use crate::kernel::fetch::fetch;

/// Terms with their counts, by open addressing. Takes 21 to 43 bytes per term.
#[derive(Clone, Debug, Default)]
pub(super) struct Table {
    /// Empty, or a power of two in length and at most three quarters full.
    places: Vec<Place>,
    terms: usize,
    /// The number of first bits of [`spread`] that are equal for all terms.
    alike: u32,
}

#[derive(Clone, Copy, Debug, Default)]
struct Place {
    term: u64,
    /// 0 marks a free place.
    count: u32,
    /// The last document that the term was counted in.
    document: u32,
}

/// The bits that order the terms: multiplied, so that hashes that are small numbers are also spread out.
#[inline]
pub(super) fn spread(term: u64) -> u64 {
    term.wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// The minimum number of places.
const LEAST: usize = 64;

impl Table {
    /// An empty table, for terms whose [`spread`] agrees in the first `alike` bits.
    pub fn of_part(alike: u32) -> Self {
        Table { alike, ..Table::default() }
    }

    /// The number of terms.
    pub fn len(&self) -> usize {
        self.terms
    }

    /// The count of a term; 0 for one that was not counted.
    #[inline]
    pub fn get(&self, term: u64) -> u32 {
        if self.places.is_empty() { 0 } else { self.places[self.place(term)].count }
    }

    /// Changes the count of a term, which is 0 before it is counted. It must not become 0.
    #[inline]
    pub fn change(&mut self, term: u64, to: impl FnOnce(u32) -> u32) {
        let place = self.take(term);
        place.count = to(place.count);
        debug_assert!(place.count > 0);
    }

    /// Counts a term of a document, once however often it is given. Documents are numbered from 1 and must come one
    /// after the other.
    #[inline]
    pub fn count(&mut self, term: u64, document: u32) {
        let place = self.take(term);
        place.count += u32::from(place.document != document);
        place.document = document;
    }

    /// Prefetches the place of a term.
    #[inline]
    pub fn fetch(&self, term: u64) {
        if !self.places.is_empty() {
            fetch(&self.places, self.home(term));
        }
    }

    /// The terms and their counts, nearly in the order of their [`spread`].
    pub fn iter(&self) -> impl Iterator<Item = (u64, u32)> {
        self.places.iter().filter(|place| place.count > 0).map(|place| (place.term, place.count))
    }

    /// Removes all terms, keeps the memory.
    pub fn clear(&mut self) {
        self.places.fill(Place::default());
        self.terms = 0;
    }

    /// The place of a term, which counts as taken from now on.
    #[inline]
    fn take(&mut self, term: u64) -> &mut Place {
        if 4 * self.terms >= 3 * self.places.len() {
            self.grow();
        }
        let at = self.place(term);
        let place = &mut self.places[at];
        self.terms += usize::from(place.count == 0);
        place.term = term;
        place
    }

    /// The place of a term, or the free place where its search ends.
    #[inline]
    fn place(&self, term: u64) -> usize {
        let mask = self.places.len() - 1;
        let mut at = self.home(term);
        while self.places[at].count > 0 && self.places[at].term != term {
            at = (at + 1) & mask;
        }
        at
    }

    /// The first place of the search for a term, if there are places.
    #[inline]
    fn home(&self, term: u64) -> usize {
        ((spread(term) << self.alike) >> (u64::BITS - self.places.len().trailing_zeros())) as usize
    }

    #[cold]
    fn grow(&mut self) {
        let more = vec![Place::default(); (2 * self.places.len()).max(LEAST)];
        for place in std::mem::replace(&mut self.places, more) {
            if place.count > 0 {
                let at = self.place(place.term);
                self.places[at] = place;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::{BTreeMap, BTreeSet};

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, cases: 200, ..ProptestConfig::default() })]
        #[test]
        fn counts_are_those_of_a_map(
            // Few and many, close together and far apart, and 0.
            documents in prop::collection::vec(
                prop::collection::vec(prop_oneof![0u64..40, any::<u64>(), (u64::MAX - 40)..], 0..90), 0..9),
            others in prop::collection::vec(any::<u64>(), 20),
            alike in 0u32..8,
        ) {
            let (mut table, mut map) = (Table::of_part(alike), BTreeMap::new());
            for round in 0..2 {
                for (document, terms) in (1..).zip(&documents) {
                    terms.iter().for_each(|&term| table.count(term, document));
                    terms.iter().collect::<BTreeSet<_>>().into_iter().for_each(|&term| *map.entry(term).or_default() += 1);
                }
                for &term in others.iter().chain(map.keys()) {
                    prop_assert_eq!(table.get(term), map.get(&term).copied().unwrap_or(0), "{} {}", round, term);
                }
                prop_assert_eq!(table.iter().collect::<BTreeMap<_, _>>(), map.clone());
                prop_assert_eq!((table.len(), table.iter().count()), (map.len(), map.len()));
                table.clear();
                map.clear();
            }
            prop_assert_eq!((table.len(), table.get(0)), (0, 0));
        }
    }
}
