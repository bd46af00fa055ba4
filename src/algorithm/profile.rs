//! The properties of an algorithm.

use super::form::FingerprintForm;
use crate::hamming::Layout;
use crate::similarity::Threshold;
use crate::similarity::bound::Bound;
use crate::tokenizer::TokenDetail;

/// What [`Algorithm::compare`](super::Algorithm::compare) receives of the two documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CompareOn {
    /// Their fingerprints.
    Fingerprints,
    /// Their feature hashes, ascending and without repeats. The engine keeps or recomputes them, for candidates only.
    Features,
    /// Their feature hashes, ascending, each as often as it occurs. The engine keeps or recomputes them, for candidates
    /// only.
    Multisets,
}

/// The properties of an algorithm; see [`Algorithm::profile`](super::Algorithm::profile).
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Profile {
    /// Its name, as in the records and in the table.
    pub name: &'static str,
    /// What the similarity measures, as in the records: `jaccard`, `hamming`, ….
    pub measure: &'static str,
    /// The detail of the tokens that it reads. Hashes alone are fastest.
    pub reads: TokenDetail,
    /// What [`Algorithm::compare`](super::Algorithm::compare) reads.
    pub compare_on: CompareOn,
    /// `Some(n)` if every fingerprint has exactly `n` keys and the i-th key of one can only equal the i-th of another. The
    /// engine then works through one table at a time. `None` lets keys be any number in any order.
    pub tables: Option<usize>,
    /// Set if [`Algorithm::compare`](super::Algorithm::compare) is the Jaccard similarity of features at this threshold. The engine can then
    /// reject candidates by their sizes and a few bits, so that many dissimilar documents that share a key do not cost
    /// the square of their number.
    pub jaccard: Option<Threshold>,
    /// Set if [`Algorithm::compare`](super::Algorithm::compare) is the cosine of the counts of features at this threshold, exactly. The
    /// engine can then reject candidates by their elements that are rare, to the same end.
    pub cosine: Option<Threshold>,
    /// What a written fingerprint consists of.
    pub form: FingerprintForm,
    /// Which bits of the fingerprint make its keys, if the fingerprint is bits of which near-duplicates differ in few: none
    /// differ in more than its distance. A batch may find the same pairs without keys.
    pub layout: Option<Layout>,
    /// The memory that [`Algorithm::features`](super::Algorithm::features) takes at most in addition to the tokens, in bytes for each token. A long document is
    /// signed only if there is so much.
    pub bytes_a_token: u64,
    /// The memory of what the algorithm has learned, in bytes. A run subtracts it from what its documents may take.
    pub bytes_learned: u64,
    /// Set if [`Algorithm::fingerprint`](super::Algorithm::fingerprint) makes the same of features in any order and with repeats, and
    /// there are no weights. A run may then pass them ascending, each once, so that they are sorted only once.
    pub signs_sets: bool,
}

impl Profile {
    /// A profile with this name, measure and comparison. The algorithm reads token hashes, makes any number of keys, and
    /// its fingerprints are written word by word.
    pub const fn new(name: &'static str, measure: &'static str, compare_on: CompareOn) -> Self {
        let (reads, form) = (TokenDetail::Hashes, FingerprintForm::Words);
        let (tables, jaccard, cosine, layout) = (None, None, None, None);
        let (bytes_a_token, bytes_learned, signs_sets) = (8, 0, false);
        Profile {
            name,
            measure,
            reads,
            compare_on,
            tables,
            jaccard,
            cosine,
            form,
            layout,
            bytes_a_token,
            bytes_learned,
            signs_sets,
        }
    }

    /// Sets the detail of the tokens that the algorithm reads.
    pub const fn reading(self, reads: TokenDetail) -> Self {
        Profile { reads, ..self }
    }

    /// Sets the memory that features take at most, in bytes for each token. The default is 8, for a hash.
    pub const fn taking(self, bytes_a_token: u64) -> Self {
        Profile { bytes_a_token, ..self }
    }

    /// Sets the memory of what was learned, in bytes. The default is 0.
    pub const fn holding(self, bytes_learned: u64) -> Self {
        Profile { bytes_learned, ..self }
    }

    /// Declares that fingerprints are made of sets of features.
    pub const fn signing_sets(self) -> Self {
        Profile { signs_sets: true, ..self }
    }

    /// Sets the number of keys of each fingerprint.
    pub const fn with_tables(self, tables: usize) -> Self {
        Profile { tables: Some(tables), ..self }
    }

    /// Sets what a written fingerprint consists of.
    pub const fn written_as(self, form: FingerprintForm) -> Self {
        Profile { form, ..self }
    }

    /// Declares that the algorithm compares by the Jaccard similarity of features at this threshold.
    pub const fn with_jaccard(self, threshold: Threshold) -> Self {
        Profile { jaccard: Some(threshold), ..self }
    }

    /// Declares that the algorithm compares by the cosine of the counts of features at this threshold.
    pub const fn with_cosine(self, threshold: Threshold) -> Self {
        Profile { cosine: Some(threshold), ..self }
    }

    /// The bound by which a prefix filter rules out candidates, if features are compared.
    pub(crate) fn bound(&self) -> Option<Bound> {
        let bound = self.jaccard.map(Bound::Jaccard).or(self.cosine.map(Bound::cosine));
        bound.filter(|_| self.compare_on != CompareOn::Fingerprints)
    }

    /// Sets which bits of the fingerprint make its keys.
    pub const fn with_layout(self, layout: Layout) -> Self {
        Profile { layout: Some(layout), ..self }
    }
}
