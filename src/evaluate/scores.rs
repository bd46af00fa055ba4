//! Predicted pairs counted against the truth: precision, recall and F1.
//!
//! Labels are either complete, so that every other pair is wrong, or a sample, so that other pairs do not count. The
//! precision of a sample needs pairs that are labelled as no near-duplicates.

use super::labels::Resolved;
use super::pairs::PairSet;

/// The pairs that labels are about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scope {
    /// All pairs: those without a label are no near-duplicates.
    #[default]
    Complete,
    /// Some pairs: those without a label may be anything, and do not count.
    Sample,
}

/// The truth that predicted pairs are compared with.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Truth {
    /// Pairs that should be found.
    pub pairs: PairSet,
    /// Pairs that are labelled as no near-duplicates.
    pub negatives: PairSet,
    /// Pairs that count as neither right nor wrong.
    pub ignored: PairSet,
    /// What the labels say about other pairs.
    pub scope: Scope,
    /// The documents that occur in the labels, ascending.
    documents: Vec<u32>,
}

/// The judgement of a predicted pair. Exhaustive: these are all that labels can say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Labelled as near-duplicates: right.
    Right,
    /// Labelled as no near-duplicates; or, if labels are complete, not labelled: wrong.
    Wrong,
    /// The same, where no label names either of the two documents.
    WrongElsewhere,
    /// Not labelled, of a sample: counts as neither.
    Unlabelled,
    /// To be ignored: counts as neither.
    Ignored,
}

impl Truth {
    /// The truth of these labels. Pairs of `ignored` that are labelled count nevertheless.
    pub fn new(labels: Resolved, ignored: &PairSet, scope: Scope) -> Self {
        let Resolved { pairs, negatives, documents, .. } = labels;
        let ignored = ignored.without(&pairs).without(&negatives);
        Truth { pairs, negatives, ignored, scope, documents }
    }

    /// The number of labelled pairs.
    pub fn labelled(&self) -> u64 {
        (self.pairs.len() + self.negatives.len()) as u64
    }

    /// The judgement of a predicted pair.
    pub fn kind(&self, a: u32, b: u32) -> Kind {
        let is_named = |document: u32| self.documents.binary_search(&document).is_ok();
        if self.pairs.contains(a, b) {
            Kind::Right
        } else if self.ignored.contains(a, b) {
            Kind::Ignored
        } else if self.negatives.contains(a, b) {
            Kind::Wrong
        } else if self.scope == Scope::Sample {
            Kind::Unlabelled
        } else if is_named(a) || is_named(b) {
            Kind::Wrong
        } else {
            Kind::WrongElsewhere
        }
    }
}

/// The counts of predicted pairs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Scores {
    /// What the labels say about pairs without one.
    pub scope: Scope,
    /// Pairs that should be found.
    pub labelled: u64,
    /// Pairs that are labelled as no near-duplicates.
    pub negatives: u64,
    /// Pairs that should be found, and were.
    pub right: u64,
    /// Pairs found that should not be.
    pub wrong: u64,
    /// Those of the wrong pairs of which no label names either document.
    pub wrong_elsewhere: u64,
    /// Pairs found that a sample does not label.
    pub unlabelled: u64,
    /// Pairs found that are to be ignored.
    pub ignored: u64,
}

impl Scores {
    /// The counts before any pair.
    pub fn new(truth: &Truth) -> Self {
        let (labelled, negatives) = (truth.pairs.len() as u64, truth.negatives.len() as u64);
        Scores { scope: truth.scope, labelled, negatives, ..Scores::default() }
    }

    /// Counts a predicted pair. Each pair must be added only once.
    pub fn add(&mut self, kind: Kind) {
        match kind {
            Kind::Right => self.right += 1,
            Kind::Wrong => self.wrong += 1,
            Kind::WrongElsewhere => {
                self.wrong += 1;
                self.wrong_elsewhere += 1;
            }
            Kind::Unlabelled => self.unlabelled += 1,
            Kind::Ignored => self.ignored += 1,
        }
    }

    /// Adds the pairs that others counted.
    pub(super) fn add_found(&mut self, found: &Scores) {
        self.right += found.right;
        self.wrong += found.wrong;
        self.wrong_elsewhere += found.wrong_elsewhere;
        self.unlabelled += found.unlabelled;
        self.ignored += found.ignored;
    }

    /// All pairs found, including those that do not count.
    pub fn predicted(&self) -> u64 {
        self.right + self.wrong + self.unlabelled + self.ignored
    }

    /// Labelled pairs that were not found.
    pub fn missed(&self) -> u64 {
        self.labelled.saturating_sub(self.right)
    }

    /// The found pairs that count for the precision. `None` if none does, and for a sample without pairs that are
    /// labelled as no near-duplicates, in which no found pair can be wrong.
    fn counted(&self) -> Option<u64> {
        let is_known = self.scope == Scope::Complete || self.negatives > 0;
        Some(self.right + self.wrong).filter(|&found| is_known && found > 0)
    }

    /// The share of the found pairs that is right; `None` if none counts, or the labels cannot say.
    pub fn precision(&self) -> Option<f64> {
        self.counted().map(|found| part(self.right, found))
    }

    /// An interval of 95 % for the precision.
    pub fn precision_interval(&self) -> Option<[f64; 2]> {
        self.counted().and_then(|found| wilson(self.right, found))
    }

    /// An interval of 95 % for the recall; `None` if there are no labelled pairs.
    pub fn recall_interval(&self) -> Option<[f64; 2]> {
        wilson(self.right, self.labelled)
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

/// The score interval of 95 % for a share of which `part` of `whole` were drawn (Wilson 1927): the shares from which
/// the drawn one is at most 1.96 standard errors away. `None` if nothing was drawn.
pub fn wilson(part: u64, whole: u64) -> Option<[f64; 2]> {
    const Z: f64 = 1.959_963_984_540_054;
    if whole == 0 {
        return None;
    }
    let (n, p) = (whole as f64, part as f64 / whole as f64);
    let middle = p + Z * Z / (2.0 * n);
    let half = Z * (p * (1.0 - p) / n + Z * Z / (4.0 * n * n)).sqrt();
    let end = |sum: f64| sum / (1.0 + Z * Z / n);
    // The ends are exact where rounding would miss them.
    let low = if part == 0 { 0.0 } else { end(middle - half) };
    let high = if part == whole { 1.0 } else { end(middle + half) };
    Some([low, high])
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
        let labels = Resolved { pairs: labelled, documents: vec![0, 1, 2, 3, 4], ..Resolved::default() };
        let truth = Truth::new(labels, &PairSet::new([(0, 1), (0, 5)]), Scope::Complete);
        let mut scores = Scores::new(&truth);
        for (a, b) in [(1, 0), (1, 2), (0, 5), (2, 5), (5, 3)] {
            scores.add(truth.kind(a, b));
        }
        assert_eq!(scores, Scores { labelled: 4, right: 2, wrong: 2, ignored: 1, ..Scores::default() });
        assert_eq!((scores.predicted(), scores.missed()), (5, 2));
        assert_eq!((scores.precision(), scores.recall(), scores.f1()), (Some(0.5), 0.5, Some(0.5)));
        let three = Scores { labelled: 10, right: 3, wrong: 1, ..Scores::default() };
        // Harmonic mean of 3/4 and 3/10.
        assert_eq!((three.precision(), three.recall(), three.f1()), (Some(0.75), 0.3, Some(6.0 / 14.0)));
    }

    #[test]
    fn measures_of_nothing() {
        let measures = |labelled, right, wrong| {
            let scores = Scores { labelled, right, wrong, ignored: 9, ..Scores::default() };
            (scores.precision(), scores.recall(), scores.f1())
        };
        // If no pairs are found, precision is undefined, even if some were found that do not count.
        assert_eq!(measures(0, 0, 0), (None, 1.0, None));
        assert_eq!(measures(5, 0, 0), (None, 0.0, None));
        assert_eq!(measures(0, 0, 5), (Some(0.0), 1.0, Some(0.0)));
        assert_eq!(measures(5, 0, 5), (Some(0.0), 0.0, Some(0.0)));
    }

    #[test]
    fn a_sample_without_negatives_has_no_precision() {
        let scores = Scores { scope: Scope::Sample, labelled: 4, right: 3, unlabelled: 9, ..Scores::default() };
        assert_eq!((scores.precision(), scores.recall(), scores.f1()), (None, 0.75, None));
        assert_eq!((scores.predicted(), scores.precision_interval()), (12, None));
        let scores = Scores { negatives: 5, wrong: 1, ..scores };
        assert_eq!((scores.precision(), scores.recall(), scores.f1()), (Some(0.75), 0.75, Some(0.75)));
        assert_eq!(scores.precision_interval(), wilson(3, 4));
    }

    #[test]
    fn intervals_of_shares() {
        let rounded = |part, whole| wilson(part, whole).map(|ends| ends.map(|end| (end * 1e4).round() / 1e4));
        // Newcombe 1998, Two-sided confidence intervals for the single proportion, table I, method 3.
        assert_eq!(rounded(81, 263), Some([0.2553, 0.3662]));
        assert_eq!(rounded(15, 148), Some([0.0624, 0.1605]));
        assert_eq!(rounded(0, 20), Some([0.0, 0.1611]));
        assert_eq!(rounded(1, 29), Some([0.0061, 0.1718]));
        assert_eq!((rounded(20, 20), wilson(0, 0)), (Some([0.8389, 1.0]), None));
        for (part, whole) in (1..60u64).flat_map(|whole| (0..=whole).map(move |part| (part, whole))) {
            let [low, high] = wilson(part, whole).unwrap();
            let share = part as f64 / whole as f64;
            assert!(0.0 <= low && low <= share && share <= high && high <= 1.0, "{part} of {whole}");
        }
    }
}
