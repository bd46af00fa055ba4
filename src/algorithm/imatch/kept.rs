//! Which terms make the digests of a document, by their numbers.

use super::parameters::Parameters;

/// The number of counting terms that identify a document, whatever share of its terms they are: that two documents have
/// as many informative terms in common, and no others, is not a coincidence.
pub const ENOUGH: usize = 20;

/// A digest of fewer terms than this identifies a document only if they are at least three quarters of its distinct terms;
/// otherwise a warning is given.
pub const FEW_TERMS: usize = 8;

/// Whether a digest of these terms that count is that of documents with rather different words: of fewer than [`FEW_TERMS`] terms
/// that are less than three quarters of the distinct ones, or of fewer than [`ENOUGH`] that are at most half of them.
pub(super) fn says_little(counting: usize, distinct: usize) -> bool {
    counting < FEW_TERMS && 4 * counting < 3 * distinct || counting < ENOUGH && 2 * counting <= distinct
}

/// The terms that make the digests of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kept {
    /// Those that count, under each lexicon.
    Counting,
    /// Also those that no other document has, under the whole lexicon alone: too few terms count, or most terms are of
    /// this kind. The document has no near-duplicate; these terms identify its copies.
    WithOwn,
    /// All of them, under the whole lexicon alone: too small a share counts.
    All,
}

impl Kept {
    /// For a document with these numbers of terms: those that count, those of its own, and all distinct ones.
    pub(super) fn of(parameters: &Parameters, counting: usize, own: usize, distinct: usize) -> Self {
        if 2 * own > distinct || counting < parameters.min_terms {
            Kept::WithOwn
        } else if counting < ENOUGH.min(distinct) && 1000 * counting <= parameters.min_share as usize * distinct {
            Kept::All
        } else {
            Kept::Counting
        }
    }
}
