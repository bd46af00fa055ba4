//! Cuts by rank: the most frequent or the rarest terms of a lexicon, as a share of its distinct terms.
//!
//! Terms with equal document frequency have no rank among each other, so they are left out together or not at all: of
//! all borders between two document frequencies the one is taken whose share of terms comes nearest to the requested
//! one, and of two equally near ones that which leaves out less. A large class near the border (half of all terms of a
//! collection often have one document) can so make the cut smaller or larger than requested.

use crate::lexicon::Lexicon;
use std::collections::BTreeMap;

/// The number of terms of each document frequency.
pub(super) struct Ranks {
    terms: BTreeMap<u64, u64>,
    all: u64,
}

/// The terms that are left out at one end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Cut {
    /// The last document frequency, from the end of the cut, whose terms are left out. If none is, the frequency beyond
    /// that end.
    pub border: u64,
    /// The number of terms left out.
    pub terms: u64,
    /// The number of all terms.
    pub of: u64,
}

impl Ranks {
    /// The ranks of the terms of a lexicon.
    pub fn of(lexicon: &Lexicon) -> Self {
        let of_frequencies = lexicon.terms_of_frequencies();
        let terms: BTreeMap<u64, u64> =
            of_frequencies.into_iter().map(|(frequency, terms)| (frequency.into(), terms)).collect();
        let all = terms.values().sum();
        Ranks { terms, all }
    }

    /// Cuts this share of the terms, in thousandths, from the rare end.
    pub fn rarest(&self, share: u64) -> Cut {
        self.cut(share, 0, self.terms.iter())
    }

    /// Cuts this share of the terms, in thousandths, from the frequent end.
    pub fn most_frequent(&self, share: u64) -> Cut {
        let beyond = self.terms.keys().next_back().map_or(1, |most| most + 1);
        self.cut(share, beyond, self.terms.iter().rev())
    }

    fn cut<'a>(&self, share: u64, beyond: u64, from_end: impl Iterator<Item = (&'a u64, &'a u64)>) -> Cut {
        let distance = |terms: u64| (1000 * terms).abs_diff(share * self.all);
        let mut cut = Cut { border: beyond, terms: 0, of: self.all };
        let mut left_out = 0;
        for (&border, terms) in from_end {
            left_out += terms;
            if distance(left_out) < distance(cut.terms) {
                cut = Cut { border, terms: left_out, of: self.all };
            }
        }
        cut
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Terms with these document frequencies.
    fn ranks(frequencies: &[u32]) -> Ranks {
        Ranks::of(&Lexicon::new(1000, (1..).zip(frequencies.iter().copied())))
    }

    fn cut(border: u64, terms: u64, of: u64) -> Cut {
        Cut { border, terms, of }
    }

    #[test]
    fn shares_of_terms_that_all_differ() {
        let ten = ranks(&[3, 1, 2, 10, 9, 8, 7, 6, 5, 4]);
        assert_eq!(ten.rarest(200), cut(2, 2, 10));
        assert_eq!(ten.most_frequent(200), cut(9, 2, 10));
        assert_eq!(ten.rarest(0), cut(0, 0, 10));
        assert_eq!(ten.most_frequent(0), cut(11, 0, 10));
        // Exactly between two borders: less is left out.
        assert_eq!(ten.most_frequent(50), cut(11, 0, 10));
        assert_eq!(ten.most_frequent(51), cut(10, 1, 10));
        assert_eq!(ten.rarest(999), cut(10, 10, 10));
    }

    #[test]
    fn terms_of_one_frequency_stay_or_go_together() {
        let many = ranks(&[1, 1, 1, 1, 1, 2, 2, 3, 7, 7]);
        assert_eq!([200, 250, 251, 600, 601].map(|share| many.rarest(share).terms), [0, 0, 5, 5, 7]);
        assert_eq!([50, 100, 101, 251].map(|share| many.most_frequent(share).terms), [0, 0, 2, 3]);
        let alike = ranks(&[2; 30]);
        assert_eq!((alike.rarest(200), alike.most_frequent(50)), (cut(0, 0, 30), cut(3, 0, 30)));
        assert_eq!(ranks(&[]).most_frequent(50), cut(1, 0, 0));
    }
}
