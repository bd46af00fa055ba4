//! The trait of algorithms, and what one learns from a collection.

use super::explain::{Agreement, Explain, Odds, TermUse};
use super::features::Features;
use super::profile::{CompareOn, Profile};
use super::remarks::RunSummary;
use super::row::{Row, RowKind};
use crate::error::Error;
use crate::hamming::Layout;
use crate::lexicon::{FrequencyBounds, Lexicon, Rarity};
use crate::similarity::Similarity;
use crate::tokenizer::{TokenDetail, Tokens};
use std::sync::Arc;

/// What an algorithm must learn from the whole collection before it makes the first fingerprint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Learns {
    /// The number of documents that each token occurs in; exact copies count once.
    Terms,
    /// The rarity of each of its own features.
    Features,
    /// An upper bound of the number of documents that have each of its own features.
    FrequencyBounds,
    /// Which of the features that it currently returns many documents have.
    Frequent {
        /// The least number of documents.
        documents: u64,
        /// How many features there can be that so many documents have.
        most: u64,
    },
}

/// What was counted for an algorithm; see [`Learns`].
#[derive(Clone)]
#[non_exhaustive]
pub enum Learned {
    /// The number of documents that each token occurs in, by token hash.
    Terms(Arc<Lexicon>),
    /// The rarity of features.
    Features(Arc<Rarity>),
    /// Upper bounds of the number of documents that have each feature.
    FrequencyBounds(Arc<FrequencyBounds>),
    /// The features that many documents have, ascending: all of them.
    Frequent(Arc<[u64]>),
    /// The size of the collection, as far as it was read. It comes last, before the first key is requested. The
    /// algorithm may then choose other keys if that is faster, and state other probabilities. Which pairs are found
    /// must not change.
    Totals(Totals),
    /// The number of documents that an index will hold, as far as it is known. An algorithm that chooses its tables
    /// chooses those that are fastest to look documents up in; for others it has no meaning. Which pairs are found must
    /// not change.
    Expected(u64),
    /// The number of tables that an index was made with. An algorithm that chooses its tables takes as many, if it can;
    /// for others it has no meaning. Which pairs are found must not change.
    Tables(usize),
}

/// The size of a collection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Totals {
    /// Distinct fingerprints.
    pub fingerprints: usize,
    /// The median number of tokens of the documents that have any; 0 if unknown.
    pub median_tokens: usize,
}

impl Totals {
    /// A collection of this many distinct fingerprints, of documents of this median length.
    pub const fn new(fingerprints: usize, median_tokens: usize) -> Self {
        Totals { fingerprints, median_tokens }
    }
}

/// One way to find near-duplicates.
///
/// Every method must be a pure function of its arguments and of how the algorithm was built. Each method appends to the
/// buffer that it receives without clearing it; the buffer of [`features`](Self::features) arrives cleared.
pub trait Algorithm: Send + Sync {
    /// Returns the name, what is read and what is compared. May change with what the algorithm learns.
    fn profile(&self) -> Profile;

    /// Returns the resolved parameters, each once. Records, plans and indexes are all made from these rows. Two
    /// algorithms of the same name with equal identity rows must make the same fingerprints, keys and similarities,
    /// apart from what they [learn](Self::learn) from a collection. An index refuses signatures made with other
    /// identity rows, and an algorithm without any. The names `algo`, `content`, `hash version`, `seed` and `tokenizer` are
    /// taken.
    fn rows(&self) -> Vec<Row>;

    /// Returns what must be counted over the collection next, before the first fingerprint is made. Each count costs
    /// one more reading of the collection. The engine calls this again after each [`learn`](Self::learn), until it
    /// returns `None`.
    fn learns(&self) -> Option<Learns> {
        None
    }

    /// Receives what was counted. If features are counted, the engine calls [`features`](Self::features) before this;
    /// its result must not depend on this count, but may depend on earlier ones.
    fn learn(&mut self, _learned: &Learned) {}

    /// Fills `features`, which arrives cleared. The tokens have the detail that [`Profile::reads`] requests. They are not
    /// used afterwards if there are so many that they take much memory: their hashes can then be
    /// [taken](Tokens::take_hashes), and features made in their place.
    fn features(&self, tokens: &mut Tokens, features: &mut Features);

    /// Appends the document's fingerprint, or nothing if the document has no features. A document without a fingerprint
    /// is never reported in a pair; it is counted separately.
    fn fingerprint(&self, features: &Features, fingerprint: &mut Vec<u64>);

    /// Appends the keys under which this fingerprint can be found. Two documents are compared iff they share a key.
    /// Exact copies (documents with equal tokens) are not compared; they are reported with [`Similarity::ONE`].
    fn keys(&self, fingerprint: &[u64], keys: &mut Vec<u64>);

    /// Returns the key in one table: the `table`-th of [`keys`](Self::keys). Override it if one key is cheaper to make
    /// than all of them.
    fn key(&self, fingerprint: &[u64], table: usize) -> u64 {
        let mut keys = Vec::new();
        self.keys(fingerprint, &mut keys);
        keys[table]
    }

    /// Returns the exact similarity, or `None` below the threshold. Symmetric.
    fn compare(&self, a: &[u64], b: &[u64]) -> Option<Similarity>;

    /// Returns what the algorithm can explain about single pairs; `None`, the default, if nothing.
    fn explain(&self) -> Option<&dyn Explain> {
        None
    }
}

/// The fields of the [profile](Algorithm::profile), one method each.
impl dyn Algorithm + '_ {
    /// See [`Profile::name`].
    pub fn name(&self) -> &'static str {
        self.profile().name
    }

    /// See [`Profile::measure`].
    pub fn measure(&self) -> &'static str {
        self.profile().measure
    }

    /// See [`Profile::reads`].
    pub fn reads(&self) -> TokenDetail {
        self.profile().reads
    }

    /// See [`Profile::compare_on`].
    pub fn compare_on(&self) -> CompareOn {
        self.profile().compare_on
    }

    /// See [`Profile::tables`].
    pub fn tables(&self) -> Option<usize> {
        self.profile().tables
    }

    /// See [`Profile::bytes_learned`].
    pub fn bytes_learned(&self) -> u64 {
        self.profile().bytes_learned
    }

    /// See [`Explain::check_learned`].
    ///
    /// # Errors
    /// What was learned cannot be read.
    pub fn check_learned(&self) -> Result<(), Error> {
        self.explain().map_or(Ok(()), Explain::check_learned)
    }

    /// See [`Profile::layout`].
    pub fn layout(&self) -> Option<Layout> {
        self.profile().layout
    }

    /// Returns the [rows](Algorithm::rows) that the records of a run show: all except those of plans.
    pub fn parameters(&self) -> Vec<Row> {
        self.rows().into_iter().filter(|row| row.kind != RowKind::Planned).collect()
    }
}

/// The answers of [`Explain`], with defaults for algorithms that have none.
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
        // Fingerprints cannot be compared by an algorithm that reads features.
        let reported = explain.odds_read() == Some(self.compare_on()) && self.compare(a, b).is_some();
        explain.odds(a, b, reported)
    }

    /// What the similarity of `odds` measures; see [`Explain::odds_measure`].
    pub fn odds_measure(&self) -> &'static str {
        self.explain().and_then(|explain| explain.odds_measure()).unwrap_or(self.measure())
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
        vec![Agreement::new("keys", equal, a.len().min(b.len()))]
    }

    /// See [`Explain::distance`].
    pub fn distance(&self, similarity: Similarity) -> Option<u32> {
        self.explain()?.distance(similarity)
    }

    /// See [`Explain::terms`].
    pub fn terms(&self, tokens: &Tokens) -> Option<TermUse> {
        self.explain()?.terms(tokens)
    }

    /// See [`Explain::warnings`].
    pub fn warnings(&self, run: &RunSummary) -> Vec<String> {
        self.explain().map_or_else(Vec::new, |explain| explain.warnings(run))
    }
}
