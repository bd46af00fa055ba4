//! Explanations of single pairs: what an algorithm reports about two documents in addition to whether they are a pair. `compare`,
//! `eval` and `plan` are based on it. And what an algorithm reports about a run, of which a scan uses all.

use super::profile::CompareOn;
use super::remarks::RunSummary;
use crate::error::Error;
use crate::similarity::Similarity;
use crate::tokenizer::Tokens;

/// The similarity of a pair and the probability that it is reported; see [`Explain::odds`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Odds {
    /// The exact similarity of the two, on the axis of the curve that `plan` shows.
    pub similarity: Similarity,
    /// The probability that a pair like this one is reported, from 0 to 1.
    pub found: f64,
}

impl Odds {
    /// A pair of this similarity that is reported with this probability.
    pub const fn new(similarity: Similarity, found: f64) -> Self {
        Odds { similarity, found }
    }
}

/// The number of equal parts of two fingerprints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "report", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Agreement {
    /// What is counted: `slots`, `bands`, `bits`, ….
    pub what: &'static str,
    /// The number of equal parts.
    pub equal: usize,
    /// The number of parts.
    pub of: usize,
}

impl Agreement {
    /// `equal` of `of` parts are equal.
    pub const fn new(what: &'static str, equal: usize, of: usize) -> Self {
        Agreement { what, equal, of }
    }

    /// Compares corresponding parts.
    pub(crate) fn of_parts<T: PartialEq>(what: &'static str, parts: impl ExactSizeIterator<Item = (T, T)>) -> Self {
        Agreement { what, of: parts.len(), equal: parts.filter(|(a, b)| a == b).count() }
    }

    /// Compares the bits of fingerprints that use `bits` bits.
    pub(crate) fn of_bits(a: &[u64], b: &[u64], bits: usize) -> Self {
        Agreement { what: "bits", of: bits, equal: bits - crate::hamming::distance(a, b) as usize }
    }
}

/// The terms of a document that an algorithm uses, where it does not use all; see [`Explain::terms`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TermUse {
    /// The number of the first token of each distinct term that counts, in the order of the terms' text.
    pub counting: Vec<usize>,
    /// The number of distinct terms.
    pub distinct: usize,
    /// Why other terms than those that count make the fingerprint, or none.
    pub note: Option<&'static str>,
}

/// Explanations of single pairs, and of the results of a run.
pub trait Explain {
    /// Returns the exact similarity, whatever the threshold. At or above the threshold it equals the result of
    /// [`Algorithm::compare`](super::Algorithm::compare); below it may be `None` if it is unknown there.
    fn similarity(&self, a: &[u64], b: &[u64]) -> Option<Similarity>;

    /// Returns the probability that a pair of this similarity shares a key. `None`, the default, if that is certain: no
    /// pair at or above the threshold is missed.
    fn found_with(&self, _similarity: Similarity) -> Option<f64> {
        None
    }

    /// Returns the probability that these two documents share a key; `a` and `b` are what [`Algorithm::compare`](super::Algorithm::compare) reads.
    /// By default that of their [`similarity`](Self::similarity).
    fn pair_found_with(&self, a: &[u64], b: &[u64]) -> Option<f64> {
        self.similarity(a, b).and_then(|similarity| self.found_with(similarity))
    }

    /// Returns what [`odds`](Self::odds) reads; `None`, the default, if two documents that are not reported have no
    /// similarity.
    fn odds_read(&self) -> Option<CompareOn> {
        None
    }

    /// Returns the similarity of two documents with fingerprints, even below the threshold, and the probability that a
    /// scan reports such a pair. It serves to compare the results of a scan with the stated probabilities. `reported`
    /// is whether [`Algorithm::compare`](super::Algorithm::compare) finds them at or above the threshold, if it reads the same. By default the
    /// [`similarity`](Self::similarity) and [`pair_found_with`](Self::pair_found_with), or 0 below the threshold.
    fn odds(&self, a: &[u64], b: &[u64], reported: bool) -> Option<Odds> {
        let similarity = self.similarity(a, b)?;
        Some(Odds { similarity, found: if reported { self.pair_found_with(a, b).unwrap_or(1.0) } else { 0.0 } })
    }

    /// Returns what the similarity of [`odds`](Self::odds) measures; `None`, the default, if it is the same as in results.
    fn odds_measure(&self) -> Option<&'static str> {
        None
    }

    /// Returns how far two fingerprints agree, by the parts that they consist of. `None`, the default, compares their
    /// keys instead.
    fn agreement(&self, _a: &[u64], _b: &[u64]) -> Option<Vec<Agreement>> {
        None
    }

    /// Returns the number of differing bits of a similarity, for measures that have one.
    fn distance(&self, _similarity: Similarity) -> Option<u32> {
        None
    }

    /// Checks that what the algorithm has learned could be read so far: what does not fit in memory may be in a temporary file.
    /// Features that were made are used only after this check.
    ///
    /// # Errors
    /// The file cannot be read, so that features are wrong. The run ends with the error.
    fn check_learned(&self) -> Result<(), Error> {
        Ok(())
    }

    /// Returns which terms of a document count. `None`, the default, if all do. The tokens have the detail that
    /// [`Profile::reads`](super::Profile::reads) requests.
    fn terms(&self, _tokens: &Tokens) -> Option<TermUse> {
        None
    }

    /// Returns warnings after a run over these documents; one sentence each. What is noticed while features are made is
    /// not kept by the algorithm, which several runs may share: it is a [remark](super::Features::remark), which a run
    /// counts.
    fn warnings(&self, _run: &RunSummary) -> Vec<String> {
        Vec::new()
    }
}
