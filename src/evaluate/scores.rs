//! Predicted pairs counted against the truth: precision, recall and F1.

/// Pairs of documents by number. Each is in the set once, regardless of the order of its documents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PairSet(Vec<(u32, u32)>);

impl PairSet {
    /// The set of these pairs. A pair of a document with itself is left out.
    pub fn new(pairs: impl IntoIterator<Item = (u32, u32)>) -> Self {
        let mut pairs: Vec<_> = pairs.into_iter().filter(|(a, b)| a != b).map(|(a, b)| (a.min(b), a.max(b))).collect();
        pairs.sort_unstable();
        pairs.dedup();
        PairSet(pairs)
    }

    /// Whether a pair is in it.
    pub fn contains(&self, a: u32, b: u32) -> bool {
        self.0.binary_search(&(a.min(b), a.max(b))).is_ok()
    }

    /// The number of pairs.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The pairs, ascending, the smaller number first.
    pub fn iter(&self) -> impl Iterator<Item = (u32, u32)> {
        self.0.iter().copied()
    }

    /// The pairs of this set that are not in the other.
    pub fn without(&self, other: &PairSet) -> PairSet {
        PairSet(self.iter().filter(|&(a, b)| !other.contains(a, b)).collect())
    }
}

/// The truth that predicted pairs are compared with.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Truth {
    /// Pairs that should be found.
    pub pairs: PairSet,
    /// Pairs that count as neither right nor wrong.
    pub ignored: PairSet,
}

/// The judgement of a predicted pair. Exhaustive: these three are all that labels can say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Labelled: right.
    Right,
    /// Not labelled: wrong.
    Wrong,
    /// Counts as neither.
    Ignored,
}

impl Truth {
    /// The truth of these labelled pairs. Pairs of `ignored` that are labelled count nevertheless.
    pub fn new(pairs: PairSet, ignored: &PairSet) -> Self {
        let ignored = ignored.without(&pairs);
        Truth { pairs, ignored }
    }

    /// The judgement of a predicted pair.
    pub fn kind(&self, a: u32, b: u32) -> Kind {
        if self.pairs.contains(a, b) {
            Kind::Right
        } else if self.ignored.contains(a, b) {
            Kind::Ignored
        } else {
            Kind::Wrong
        }
    }
}

/// The counts of predicted pairs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Scores {
    /// Pairs that should be found.
    pub labelled: u64,
    /// Pairs of them that were found.
    pub right: u64,
    /// Pairs found that are not labelled.
    pub wrong: u64,
    /// Pairs found that count as neither right nor wrong.
    pub ignored: u64,
}

impl Scores {
    /// The counts before any pair.
    pub fn new(truth: &Truth) -> Self {
        Scores { labelled: truth.pairs.len() as u64, ..Scores::default() }
    }

    /// Counts a predicted pair. Each pair must be added only once.
    pub fn add(&mut self, kind: Kind) {
        match kind {
            Kind::Right => self.right += 1,
            Kind::Wrong => self.wrong += 1,
            Kind::Ignored => self.ignored += 1,
        }
    }

    /// All pairs found, including ignored ones.
    pub fn predicted(&self) -> u64 {
        self.right + self.wrong + self.ignored
    }

    /// Labelled pairs that were not found.
    pub fn missed(&self) -> u64 {
        self.labelled.saturating_sub(self.right)
    }

    /// The share of the found pairs that is right; `None` if none was found. Ignored pairs do not count.
    pub fn precision(&self) -> Option<f64> {
        let found = self.right + self.wrong;
        (found > 0).then(|| part(self.right, found))
    }

    /// The share of the labelled pairs that was found; 1 if there are no labelled pairs.
    pub fn recall(&self) -> f64 {
        part(self.right, self.labelled)
    }

    /// The harmonic mean of precision and recall, `2·right / (2·right + wrong + missed)`; `None` if precision is
    /// undefined.
    pub fn f1(&self) -> Option<f64> {
        self.precision().map(|_| part(2 * self.right, 2 * self.right + self.wrong + self.missed()))
    }
}

/// `part / whole`; 1 if both are 0.
pub(super) fn part(part: u64, whole: u64) -> f64 {
    if whole == 0 { 1.0 } else { part as f64 / whole as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn precision_recall_and_f1_by_hand() {
        // Labelled: 01 02 12 34. Ignored: 01 (labelled, so it counts), 05. Found: 01 12 05 25 35.
        let labelled = PairSet::new([(0, 1), (2, 0), (1, 2), (3, 4)]);
        let truth = Truth::new(labelled, &PairSet::new([(0, 1), (0, 5)]));
        let mut scores = Scores::new(&truth);
        for (a, b) in [(1, 0), (1, 2), (0, 5), (2, 5), (5, 3)] {
            scores.add(truth.kind(a, b));
        }
        assert_eq!(scores, Scores { labelled: 4, right: 2, wrong: 2, ignored: 1 });
        assert_eq!((scores.predicted(), scores.missed()), (5, 2));
        assert_eq!((scores.precision(), scores.recall(), scores.f1()), (Some(0.5), 0.5, Some(0.5)));
        let three = Scores { labelled: 10, right: 3, wrong: 1, ignored: 0 };
        // Harmonic mean of 3/4 and 3/10.
        assert_eq!((three.precision(), three.recall(), three.f1()), (Some(0.75), 0.3, Some(6.0 / 14.0)));
    }

    #[test]
    fn measures_of_nothing() {
        let measures = |labelled, right, wrong| {
            let scores = Scores { labelled, right, wrong, ignored: 9 };
            (scores.precision(), scores.recall(), scores.f1())
        };
        // If no pairs are found, precision is undefined, even if some were found that do not count.
        assert_eq!(measures(0, 0, 0), (None, 1.0, None));
        assert_eq!(measures(5, 0, 0), (None, 0.0, None));
        assert_eq!(measures(0, 0, 5), (Some(0.0), 1.0, Some(0.0)));
        assert_eq!(measures(5, 0, 5), (Some(0.0), 0.0, Some(0.0)));
    }
}
