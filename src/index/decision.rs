//! Decisions on documents, and the time that they take.

use super::nearest::Nearest;
use crate::similarity::Similarity;
use std::time::Duration;

/// The decision on a document.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Decision {
    /// It is new, and is remembered from now on.
    Fresh,
    /// It passed before, with this id and these tokens, and passes again. Only with an index in a file, whose input is
    /// fed again after a crash.
    Known,
    /// It is remembered as a new one, and none of the documents that it was compared with is similar enough; but it shares a
    /// key with more others than are compared ([`Limits::candidates`](super::Limits::candidates)): only the latest were. It may be a near-duplicate.
    Crowded,
    /// It passes, because it has too few features to be compared.
    Featureless,
    /// It is a near-duplicate of one that passed.
    Duplicate {
        /// The id of the earlier document.
        of: String,
        /// Their exact similarity.
        similarity: Similarity,
        /// Whether it shares a key with more documents than were compared ([`Limits::candidates`](super::Limits::candidates)): the earlier document
        /// is the most similar of the latest ones, and others may be more similar, or as similar and earlier.
        is_capped: bool,
    },
    /// No decision, but the most similar documents; with [`Mode::Nearest`](super::Mode::Nearest).
    Nearest(Nearest),
}

impl Decision {
    /// Whether the document passes: it is not a near-duplicate, or is known by its id. Where nothing is decided, it does not.
    pub fn passes(&self) -> bool {
        !matches!(self, Decision::Duplicate { .. } | Decision::Nearest(_))
    }
}

/// The time that decisions took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Pace {
    /// The number of decisions.
    pub decisions: u64,
    /// The total time.
    pub total: Duration,
    /// The time of the slowest.
    pub longest: Duration,
}

impl Pace {
    pub(super) fn add(&mut self, time: Duration) {
        self.decisions += 1;
        self.total += time;
        self.longest = self.longest.max(time);
    }

    /// The average time of a decision since an earlier state of these counts.
    pub fn mean_since(&self, earlier: Pace) -> Duration {
        let decisions = u32::try_from(self.decisions - earlier.decisions).unwrap_or(u32::MAX);
        (self.total - earlier.total).checked_div(decisions).unwrap_or_default()
    }
}
