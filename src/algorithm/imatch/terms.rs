//! The classes of terms, in a table that is read once for each distinct term of each document.

use crate::error::Error;
use crate::kernel::fetch::fetch;
use crate::lexicon::Lexicon;
use std::ops::RangeInclusive;
use std::sync::Arc;

/// The class of a term.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// At most one document has it, or it is unknown.
    Own,
    /// It is in the band, or in the list of words.
    Counts,
    /// Several documents have it, and it is not in the band; or it is not in the list of words.
    Passed,
}

impl Class {
    /// The class of a term with this document frequency, if those in `informative` count.
    fn with(frequency: u32, informative: &RangeInclusive<u64>) -> Self {
        match frequency {
            0 | 1 => Class::Own,
            _ if informative.contains(&frequency.into()) => Class::Counts,
            _ => Class::Passed,
        }
    }
}

/// What is known about terms.
pub(super) enum Known {
    /// The class of each, in memory.
    Classes(Classes),
    /// The lexicon, if too many terms are in several documents; and the document frequencies of those that count.
    Lexicon(Arc<Lexicon>, RangeInclusive<u64>),
}

impl Known {
    /// The terms of a lexicon. Those with a document frequency in `informative` count.
    pub fn of(lexicon: &Arc<Lexicon>, informative: &RangeInclusive<u64>) -> Self {
        match lexicon.holds_several() {
            true => Known::Classes(Classes::new(lexicon, informative)),
            false => Known::Lexicon(Arc::clone(lexicon), informative.clone()),
        }
    }

    /// The class of a term.
    pub fn class(&self, term: u64) -> Class {
        match self {
            Known::Classes(classes) => classes.of(term),
            Known::Lexicon(lexicon, informative) => Class::with(lexicon.document_frequency(term), informative),
        }
    }

    /// Passes the class of each term to a function, in their order. `frequencies` and `missing` are working memory, for 20 bytes
    /// each.
    #[inline]
    pub fn each_class(
        &self,
        terms: impl Iterator<Item = u64> + Clone,
        frequencies: &mut Vec<u32>,
        missing: &mut Vec<(u64, u32)>,
        each: impl FnMut(Class),
    ) {
        match self {
            Known::Classes(classes) => {
                // The table is larger than the processor's caches: all terms are prefetched before the first is read.
                terms.clone().for_each(|term| classes.fetch(term));
                terms.map(|term| classes.of(term)).for_each(each);
            }
            Known::Lexicon(lexicon, informative) => {
                frequencies.clear();
                lexicon.append_frequencies(terms, frequencies, missing);
                frequencies.iter().map(|&frequency| Class::with(frequency, informative)).for_each(each);
            }
        }
    }

    /// Bytes of memory.
    pub fn bytes_held(&self) -> u64 {
        match self {
            Known::Classes(classes) => (size_of_val(&*classes.slots) + size_of_val(&*classes.counts)) as u64,
            Known::Lexicon(lexicon, _) => lexicon.bytes_held(),
        }
    }

    /// Whether the class of every term was right.
    ///
    /// # Errors
    /// The lexicon cannot be read.
    pub fn check(&self) -> Result<(), Error> {
        match self {
            Known::Classes(_) => Ok(()),
            Known::Lexicon(lexicon, _) => lexicon.check(),
        }
    }
}

/// The terms that several documents have, or those of a list, by their hashes: 8 to 17 bytes each. Terms of one document
/// take no space.
#[derive(Debug)]
pub(super) struct Classes {
    /// An open-addressing table, indexed by the high bits of the hash and at most half full. 0 marks a free slot.
    slots: Box<[u64]>,
    shift: u32,
    /// One bit for each slot: whether the term counts.
    counts: Box<[u64]>,
    /// The class of the term whose hash is 0.
    of_zero: Class,
    /// The class of all other terms.
    of_others: Class,
}

impl Classes {
    /// The terms of a lexicon. Those with a document frequency in `informative` count.
    pub fn new(lexicon: &Lexicon, informative: &RangeInclusive<u64>) -> Self {
        let several = || lexicon.held_terms().filter(|(_, frequency)| *frequency > 1);
        Classes::with(|| several().map(|(term, frequency)| (term, Class::with(frequency, informative))), Class::Own)
    }

    /// The terms of a list of words: they count, and no others.
    pub fn listed(list: &Lexicon) -> Self {
        Classes::with(|| list.held_terms().map(|(term, _)| (term, Class::Counts)), Class::Passed)
    }

    /// These terms, and the class of all others.
    fn with<I: Iterator<Item = (u64, Class)>>(terms: impl Fn() -> I, of_others: Class) -> Self {
        let places = (2 * terms().count() + 1).next_power_of_two().max(64);
        let mut classes = Classes {
            slots: vec![0; places].into(),
            shift: u64::BITS - places.trailing_zeros(),
            counts: vec![0; places / 64].into(),
            of_zero: of_others,
            of_others,
        };
        for (term, class) in terms() {
            if term == 0 {
                classes.of_zero = class;
                continue;
            }
            let slot = classes.slot(term);
            classes.slots[slot] = term;
            classes.counts[slot / 64] |= u64::from(class == Class::Counts) << (slot % 64);
        }
        classes
    }

    /// Prefetches the slot of a term before [`of`](Self::of) reads it.
    #[inline]
    pub fn fetch(&self, term: u64) {
        let home = (term >> self.shift) as usize;
        fetch(&self.slots, home);
        fetch(&self.counts, home / 64);
    }

    /// The class of a term.
    #[inline]
    pub fn of(&self, term: u64) -> Class {
        if term == 0 {
            return self.of_zero;
        }
        let slot = self.slot(term);
        match self.slots[slot] {
            0 => self.of_others,
            _ if self.counts[slot / 64] >> (slot % 64) & 1 == 1 => Class::Counts,
            _ => Class::Passed,
        }
    }

    /// The slot of a term, or the free slot where its search ends.
    #[inline]
    fn slot(&self, term: u64) -> usize {
        let mask = self.slots.len() - 1;
        let mut slot = (term >> self.shift) as usize;
        while self.slots[slot] != 0 && self.slots[slot] != term {
            slot = (slot + 1) & mask;
        }
        slot
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, cases: 200, ..ProptestConfig::default() })]
        #[test]
        fn classes_are_those_of_the_frequencies(
            // Close together and far apart, and 0.
            terms in prop::collection::btree_map(prop_oneof![0u64..40, any::<u64>(), (u64::MAX - 40)..], 0u32..9, 0..200),
            least in 2u64..5,
            most in 2u64..9,
            others in prop::collection::vec(any::<u64>(), 20),
        ) {
            let lexicon = Lexicon::new(1000, terms.clone());
            let classes = Classes::new(&lexicon, &(least..=most));
            for &term in terms.keys().chain(&others) {
                let expected = match lexicon.document_frequency(term) {
                    0 | 1 => Class::Own,
                    df if (least..=most).contains(&df.into()) => Class::Counts,
                    _ => Class::Passed,
                };
                prop_assert_eq!(classes.of(term), expected, "{}", term);
            }
            let listed = Classes::listed(&lexicon);
            for &term in terms.keys().chain(&others) {
                let expected = if lexicon.contains(term) { Class::Counts } else { Class::Passed };
                prop_assert_eq!(listed.of(term), expected, "{}", term);
            }
        }
    }
}
