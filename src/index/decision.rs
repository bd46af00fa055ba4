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
    /// An interrupted run decided on it and may not have written it, so it passes, this once. A document without an id is recognised by its
    /// tokens: either it was remembered then, or it was dropped for one that is forgotten by now. One with an id would be [known](Self::Known),
    /// and is unconfirmed only where [these are dropped](crate::filter::Filter::drop_known). Only with an index in a file.
    Unconfirmed,
    /// It is remembered as a new one, and none of the documents that it was compared with is similar enough; but it shares a
    /// key with more others than are compared ([`Limits::candidates`](super::Limits::candidates)): only the latest were. It may be a near-duplicate.
    Crowded,
    /// It passes, because it has too few features to be compared.
    Featureless,
    /// It is a near-duplicate of one that passed.
    Duplicate {
        /// The id of the earlier document.
        of: String,
        /// When that passed, in seconds since 1970: several may have the same id.
        passed: u64,
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
    /// Whether the document passes: it is not a near-duplicate, or it came before and is fed again. Where nothing is decided, it does not.
    pub fn passes(&self) -> bool {
        !matches!(self, Decision::Duplicate { .. } | Decision::Nearest(_))
    }
}

/// The work on the tables of an index since it was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TableWork {
    /// Files that were written from memory.
    pub written: u64,
    /// Merges of files into one.
    pub merges: u64,
    /// The number of documents in the files that are being merged.
    pub merging: u64,
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
    /// How many took at most each of [`Pace::BOUNDS`] and longer than the one before it.
    pub within: [u64; Pace::BOUNDS.len()],
}

impl Pace {
    /// Bounds of a histogram of times: powers of 4 from 1 µs to about a second.
    pub const BOUNDS: [Duration; 11] = {
        let mut bounds = [Duration::ZERO; 11];
        let mut at = 0;
        while at < bounds.len() {
            bounds[at] = Duration::from_micros(1 << (2 * at));
            at += 1;
        }
        bounds
    };

    pub(super) fn add(&mut self, time: Duration) {
        self.decisions += 1;
        if let Some(within) = self.within.get_mut(Self::BOUNDS.partition_point(|&bound| bound < time)) {
            *within += 1;
        }
        self.total += time;
        self.longest = self.longest.max(time);
    }

    /// The average time of a decision since an earlier state of these counts.
    pub fn mean_since(&self, earlier: Pace) -> Duration {
        let decisions = u32::try_from(self.decisions - earlier.decisions).unwrap_or(u32::MAX);
        (self.total - earlier.total).checked_div(decisions).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_time_is_counted_under_the_least_bound_that_it_does_not_exceed() {
        let mut pace = Pace::default();
        let times = [0, 1, 2, 4, 5, 1 << 20, 1 << 21].map(Duration::from_micros);
        times.into_iter().for_each(|time| pace.add(time));
        for (bound, within) in Pace::BOUNDS.into_iter().zip(pace.within) {
            let lower = if bound.as_micros() == 1 { Duration::ZERO } else { bound / 4 };
            let counted =
                times.iter().filter(|&&time| time <= bound && (time > lower || time.is_zero() && lower.is_zero()));
            assert_eq!(within, counted.count() as u64, "{bound:?}");
        }
        assert_eq!((pace.decisions, pace.within.iter().sum::<u64>()), (7, 6), "one took longer than any bound");
    }
}
