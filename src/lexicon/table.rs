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

/// The factor of [`spread`], and the one that [undoes](term_of) it.
const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
const INVERSE: u64 = {
    // Newton's method: each step doubles the number of last bits that are right, of which any odd number has three.
    let (mut inverse, mut bits) = (FACTOR, 3);
    while bits < u64::BITS {
        inverse = inverse.wrapping_mul(2u64.wrapping_sub(FACTOR.wrapping_mul(inverse)));
        bits *= 2;
    }
    inverse
};

/// The bits that order the terms: multiplied, so that hashes that are small numbers are also spread out.
#[inline]
pub(crate) fn spread(term: u64) -> u64 {
    term.wrapping_mul(FACTOR)
}

/// The term with these bits.
#[inline]
pub(super) fn term_of(spread: u64) -> u64 {
    spread.wrapping_mul(INVERSE)
}

/// The minimum number of places.
const LEAST: usize = 64;

impl Table {
    /// The memory of a place, of which a term takes 1⅓ or more.
    pub const BYTES_A_PLACE: u64 = size_of::<Place>() as u64;

    /// An empty table, for terms whose [`spread`] agrees in the first `alike` bits.
    pub fn of_part(alike: u32) -> Self {
        Table { alike, ..Table::default() }
    }

    /// An empty table in these bytes, at least those of the smallest.
    pub fn of_bytes(bytes: u64) -> Self {
        let places = usize::try_from(bytes / Self::BYTES_A_PLACE).unwrap_or(usize::MAX);
        let places = 1 << places.max(LEAST).ilog2();
        Table { places: vec![Place::default(); places], ..Table::default() }
    }

    /// The number of terms.
    pub fn len(&self) -> usize {
        self.terms
    }

    /// Bytes of memory.
    pub fn bytes_held(&self) -> u64 {
        Self::BYTES_A_PLACE * self.places.len() as u64
    }

    /// Bytes of memory after it has grown.
    pub fn bytes_when_grown(&self) -> u64 {
        Self::BYTES_A_PLACE * (2 * self.places.len()).max(LEAST) as u64
    }

    /// Whether it grows before it takes the next term.
    #[inline]
    pub fn is_full(&self) -> bool {
        4 * self.terms >= 3 * self.places.len()
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
        if self.is_full() {
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

        #[test]
        fn terms_come_back_from_their_order(term: u64) {
            prop_assert_eq!(term_of(spread(term)), term);
        }
    }

    #[test]
    fn a_table_of_some_bytes_does_not_grow_up_to_three_quarters() {
        for bytes in [0, 1 << 10, 5000, 1 << 20] {
            let mut table = Table::of_bytes(bytes);
            let held = table.bytes_held();
            assert!(held <= bytes.max(1 << 10) && 2 * held > bytes, "{bytes}: {held}");
            for term in 0.. {
                if table.is_full() {
                    break;
                }
                table.change(term, |count| count + 1);
            }
            assert_eq!((table.bytes_held(), 64 * table.len() as u64), (held, 3 * held));
            assert_eq!(table.bytes_when_grown(), 2 * held);
        }
    }
}
