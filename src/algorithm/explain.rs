//! Looking at single pairs: what an algorithm can say about two documents beside whether they are a pair. None of it is asked for in a
//! scan; `compare`, `eval` and `plan` are made of it.

use super::{Algorithm, CompareOn};
use crate::similarity::Similarity;

/// How a pair stands to what is reported; see [`Explain::odds`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Odds {
    /// How similar the two are, exactly, on the axis that `plan` draws the curve over.
    pub similarity: Similarity,
    /// The probability that a pair like this one is reported, from 0 to 1.
    pub found: f64,
}

impl Odds {
    /// A pair this similar, reported with this probability.
    pub const fn new(similarity: Similarity, found: f64) -> Self {
        Odds { similarity, found }
    }
}

/// How many parts of two fingerprints are equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "report", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Agreement {
    /// What is counted: `slots`, `bands`, `bits`, ….
    pub what: &'static str,
    /// How many are equal.
    pub equal: usize,
    /// How many there are.
    pub of: usize,
}

impl Agreement {
    /// So many of them equal.
    pub const fn new(what: &'static str, equal: usize, of: usize) -> Self {
        Agreement { what, equal, of }
    }

    /// Parts that stand side by side.
    pub(crate) fn of_parts<T: PartialEq>(what: &'static str, parts: impl ExactSizeIterator<Item = (T, T)>) -> Self {
        Agreement { what, of: parts.len(), equal: parts.filter(|(a, b)| a == b).count() }
    }

    /// Bits of fingerprints that use so many.
    pub(crate) fn of_bits(a: &[u64], b: &[u64], bits: usize) -> Self {
        Agreement { what: "bits", of: bits, equal: bits - crate::hamming::distance(a, b) as usize }
    }
}

/// What an algorithm can say about single pairs, and about what it found.
pub trait Explain {
    /// The exact similarity, whatever the threshold: what [`Algorithm::compare`] gives at or above it. `None` below the threshold if
    /// it is not known there.
    fn similarity(&self, a: &[u64], b: &[u64]) -> Option<Similarity>;

    /// The probability that a pair of this similarity shares a key. `None`, the default, if that is not a matter of chance: no pair at or
    /// above the threshold is missed.
    fn found_with(&self, _similarity: Similarity) -> Option<f64> {
        None
    }

    /// The probability that these two documents share a key, given what [`Algorithm::compare`] reads of them. By default that of their
    /// [`similarity`](Self::similarity).
    fn pair_found_with(&self, a: &[u64], b: &[u64]) -> Option<f64> {
        self.similarity(a, b).and_then(|similarity| self.found_with(similarity))
    }

    /// What [`odds`](Self::odds) reads; `None`, the default, where two documents that are not reported have no similarity.
    fn odds_read(&self) -> Option<CompareOn> {
        None
    }

    /// How similar two documents with fingerprints are, also below the threshold, and with what probability a scan reports such a pair:
    /// for measuring what was found against what was promised. `reported` says whether [`Algorithm::compare`] finds them at or above
    /// the threshold, if it reads the same. By default the [`similarity`](Self::similarity) and [`pair_found_with`](Self::pair_found_with), or 0 below
    /// the threshold.
    fn odds(&self, a: &[u64], b: &[u64], reported: bool) -> Option<Odds> {
        let similarity = self.similarity(a, b)?;
        Some(Odds { similarity, found: if reported { self.pair_found_with(a, b).unwrap_or(1.0) } else { 0.0 } })
    }

    /// How far two fingerprints agree: the parts that fingerprints are made of. `None`, the default, for their keys.
    fn agreement(&self, _a: &[u64], _b: &[u64]) -> Option<Vec<Agreement>> {
        None
    }

    /// The number of differing bits behind a similarity, for measures that have one.
    fn distance(&self, _similarity: Similarity) -> Option<u32> {
        None
    }

    /// What users should know after a run over so many documents, of so many of which no fingerprint could be made; a sentence each.
    fn warnings(&self, _documents: u64, _featureless: u64) -> Vec<String> {
        Vec::new()
    }
}

/// What [`Explain`] says, or what can be said of any algorithm where it says nothing.
impl dyn Algorithm + '_ {
    /// See [`Explain::similarity`].
    pub fn similarity(&self, a: &[u64], b: &[u64]) -> Option<Similarity> {
        match self.explain() {
            Some(explain) => explain.similarity(a, b),
            None => self.compare(a, b),
        }
    }

    /// See [`Explain::found_with`].
    pub fn found_with(&self, similarity: Similarity) -> Option<f64> {
        self.explain()?.found_with(similarity)
    }

    /// See [`Explain::pair_found_with`].
    pub fn pair_found_with(&self, a: &[u64], b: &[u64]) -> Option<f64> {
        self.explain()?.pair_found_with(a, b)
    }

    /// See [`Explain::odds_read`].
    pub fn odds_read(&self) -> Option<CompareOn> {
        self.explain()?.odds_read()
    }

    /// See [`Explain::odds`].
    pub fn odds(&self, a: &[u64], b: &[u64]) -> Option<Odds> {
        let explain = self.explain()?;
        // Fingerprints cannot be compared where features are looked at.
        let reported = explain.odds_read() == Some(self.compare_on()) && self.compare(a, b).is_some();
        explain.odds(a, b, reported)
    }

    /// See [`Explain::agreement`].
    pub fn agreement(&self, a: &[u64], b: &[u64]) -> Vec<Agreement> {
        if let Some(agreement) = self.explain().and_then(|explain| explain.agreement(a, b)) {
            return agreement;
        }
        let [a, b] = [a, b].map(|fingerprint| {
            let mut keys = Vec::new();
            self.keys(fingerprint, &mut keys);
            keys.sort_unstable();
            keys.dedup();
            keys
        });
        let equal = a.iter().filter(|key| b.binary_search(key).is_ok()).count();
        vec![Agreement { what: "keys", equal, of: a.len().min(b.len()) }]
    }

    /// See [`Explain::distance`].
    pub fn distance(&self, similarity: Similarity) -> Option<u32> {
        self.explain()?.distance(similarity)
    }

    /// See [`Explain::warnings`].
    pub fn warnings(&self, documents: u64, featureless: u64) -> Vec<String> {
        self.explain().map_or_else(Vec::new, |explain| explain.warnings(documents, featureless))
    }
}
