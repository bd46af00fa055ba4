//! The batch engine: finds every reported pair among all documents of a source, for any algorithm.
//!
//! ```text
//! read      batches → tokens → features → fingerprint → keys          on all threads, once          (read.rs)
//! copies    equal token sequences become one document                  128-bit hashes, sorted        (corpus.rs)
//! group     equal keys → groups of candidates                          one table at a time, sorted   (group.rs, distinct.rs)
//! verify    candidates → pairs with their exact similarity             sets kept, or read again      (verify.rs)
//! arrange   pairs → clusters, kept documents, records in input order   union-find, greedy keep-set   (arrange.rs, decisions.rs)
//! ```
//!
//! Fingerprints of 64 bits at a distance that takes many tables are not grouped, but joined (joined.rs), or, where a keep-set
//! is made of too many pairs to list them, compared each with each (each_with_each.rs).
//!
//! A run of very many documents under one key, such as pages that share a frame, is searched like an exact join if the
//! algorithm knows a prefix filter, and for vectors a sample shows that it spares most comparisons, together with other runs of mostly the same documents (hot.rs). Otherwise all its pairs are
//! compared, once for all such runs. Documents of a reference are not compared with each other (sided.rs).
//!
//! Memory is bounded: keys that do not fit the budget go to a temporary file (columns.rs). If features do not fit, those of documents
//! that share a key with an earlier one go to a file at once (early.rs), and the other candidates are read again (sets.rs). Keys of
//! candidates are in memory in portions (portions.rs). Pairs that do not fit go to a temporary file too, as they are found, where they
//! are sorted (edges.rs). What stays is some 40 bytes for each document, its id, and the runs of candidates.
//!
//! It knows no algorithm: it asks for keys and calls `compare`. What it guarantees whatever the algorithm: the same result for
//! any number of threads, batch size and memory budget; each pair once; nothing from the order of a map or a thread.

mod arrange;
mod chosen;
mod columns;
mod corpus;
mod decisions;
mod distinct;
mod documents;
mod each_with_each;
mod early;
mod edges;
mod fingerprints;
mod frequent;
mod group;
mod hosts;
mod hot;
mod joined;
mod keep;
mod names;
mod portions;
mod prefixes;
mod ranks;
mod read;
mod request;
mod rows;
mod sample;
mod scan;
mod sets;
mod sided;
mod subset;
mod table;
#[cfg(feature = "report")]
mod texts;
mod turns;
mod verify;

use crate::algorithm::{PreparedAlgorithm, Row};
use crate::hamming::Distribution;
use crate::source::{Problem, RankBy, Severity};
use crate::tokenizer::{Tokenizer, Word};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::run::batches::Side;
pub use crate::run::fields::RequiredFields;
pub use crate::run::observer::{Estimate, Observer, Stage};
pub use crate::run::places::At;
pub use arrange::{Cluster, Kept, KeptOutcome, Outcome, Pair, Verdict};
#[cfg(feature = "report")]
pub(crate) use arrange::{MANY, Partner, Portion};
pub use chosen::Chosen;
pub use fingerprints::{Fingerprint, Fingerprints};
pub use hosts::{HostPair, Hosts, MAX_HOSTS_PER_TEXT, host_of};
pub(crate) use read::median_of;
pub use request::Scan;
pub use sample::{
    ALL_UP_TO, Bounded, EXAMPLES, Example, Removal, SAMPLE, Similarities, SimilarityRange, Unseen, sample_similarities,
};
pub(crate) use scan::learned_from;
pub use scan::{count_terms, deduplicate, scan, scan_to_keep};
#[cfg(feature = "arrow")]
pub(crate) use table::HOT_RUN;
#[cfg(feature = "report")]
pub(crate) use texts::Texts;
pub use turns::{KEEP_POLICIES, KeepPolicy};

/// Options of a scan. Only the tokenizer and the seed can change which pairs are found.
#[derive(Clone)]
pub struct ScanOptions {
    /// The tokenizer, unless the algorithm needs another.
    pub tokenizer: Arc<dyn Tokenizer>,
    /// Seeds every hash.
    pub seed: u64,
    /// Worker threads; 0 means one a core.
    pub threads: usize,
    /// Memory for what is kept of the documents and for the pairs that are found, in bytes. Keys and pairs that do not fit go to
    /// temporary files. Features that do not fit are recomputed, in as many further readings as needed. The minimum for every
    /// document, its id and some 50 bytes, is used even beyond this bound.
    pub memory: u64,
    /// The folder of temporary files, which have no names there; `None` is the system's.
    pub temp_dir: Option<PathBuf>,
    /// Documents that come first in the choice of what is kept, or are kept always. Where documents are compared with a reference
    /// alone, only the latter have an effect.
    pub chosen: Option<Arc<Chosen>>,
    /// Whether the [distribution](Report::distribution) of fingerprints is measured, which takes a sort of them for each
    /// table.
    pub distribution: bool,
    /// The fields that some record must have.
    pub required_fields: RequiredFields,
    /// The rules that the values of [ranks](crate::source::Rank) come from, as in [`Ranking::by`](crate::source::Ranking::by), for messages.
    /// It is an error if there are documents, and none has a value in the field of a rule.
    pub ranked_by: Vec<RankBy>,
}

impl Default for ScanOptions {
    fn default() -> Self {
        ScanOptions {
            tokenizer: Arc::new(Word),
            seed: 0,
            threads: 0,
            memory: 1 << 30,
            temp_dir: None,
            chosen: None,
            distribution: false,
            required_fields: RequiredFields::default(),
            ranked_by: Vec::new(),
        }
    }
}

/// The counts of a scan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "report", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Counts {
    /// Documents read, references not included.
    pub documents: u64,
    /// Documents of the reference, if there is one.
    pub references: u64,
    /// Documents with too few features for the algorithm to compare: never reported.
    pub featureless: u64,
    /// Documents that are exact copies (after tokenising) of an earlier one.
    pub copies: u64,
    /// Pairs at or above the threshold, copies included; `None` if only those were looked for that decide which documents
    /// are kept.
    #[cfg_attr(feature = "report", serde(skip_serializing_if = "Option::is_none"))]
    pub pairs: Option<u64>,
    /// Records without an id of their own, identified by their position.
    pub unnamed: u64,
    /// Those of them that are of a reference.
    #[cfg_attr(feature = "report", serde(skip))]
    pub unnamed_references: u64,
    /// Documents whose id an earlier document of the same side has.
    #[cfg_attr(feature = "report", serde(skip_serializing_if = "is_zero"))]
    pub repeated_ids: u64,
    /// Bytes of input as read; compressed input counts compressed.
    pub bytes: u64,
    /// Tokens.
    pub tokens: u64,
    /// Records or files whose text was not valid in its encoding and was read with replacements.
    pub repaired: u64,
    /// Files left out by rule.
    pub skipped: u64,
    /// Records or files that could not be read.
    pub failed: u64,
    /// Pages whose whole text was read because no main text was found.
    #[cfg_attr(feature = "report", serde(skip_serializing_if = "is_zero"))]
    pub fell_back: u64,
}

#[cfg(feature = "report")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl Counts {
    pub(crate) fn problem(&mut self, problem: &Problem) {
        match problem.severity {
            Severity::Deferred => {}
            Severity::FellBack => self.fell_back += 1,
            Severity::Repaired => self.repaired += u64::from(problem.is_repair()),
            Severity::Skipped => self.skipped += 1,
            Severity::Failed => self.failed += problem.records,
        }
    }
}

/// The settings and statistics of a run, without its pairs.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Report {
    /// The algorithm's name.
    pub algorithm: &'static str,
    /// What its similarity measures.
    pub measure: &'static str,
    /// The tokenizer that the algorithm required instead of the given one.
    pub tokenizer: Option<String>,
    /// The parameters as resolved.
    pub parameters: Vec<Row>,
    /// The median number of tokens of the documents that have any.
    pub median_tokens: usize,
    /// The counts.
    pub counts: Counts,
    /// Warnings about this algorithm on these documents.
    pub warnings: Vec<String>,
    /// Total time spent in each stage.
    pub timings: Vec<(&'static str, Duration)>,
    /// Comparisons of candidates: a cost of this run, which depends on the memory and the threads too. Feature sets are compared once
    /// per pair, except pairs that sizes and a few bits of the sets rule out; with little memory these are fewer bits. Fingerprints
    /// are compared once in each table where a pair meets.
    pub compared: u64,
    /// 1 if candidates were read again for verification, because the features of all documents did not fit the budget, otherwise 0.
    pub rereadings: u64,
    /// The number of portions that candidates were verified in: more than one if their keys did not fit the budget together.
    pub portions: u64,
    /// Bytes of keys, features and pairs that went to temporary files, because they did not fit the budget.
    pub spilled: u64,
    /// How many sets were written in the first reading.
    #[cfg(test)]
    early: usize,
    /// How the fingerprints of distinct documents are distributed, with [`ScanOptions::distribution`] and fingerprints of bits.
    pub distribution: Option<Distribution>,
}

impl Report {
    /// Sets what is known of the algorithm.
    fn describe(&mut self, prepared: &PreparedAlgorithm) {
        let algorithm = &*prepared.algorithm;
        self.algorithm = algorithm.name();
        self.measure = algorithm.measure();
        self.tokenizer = prepared.tokenizer.as_ref().map(|tokenizer| tokenizer.name().into_owned());
        self.parameters = algorithm.parameters();
        self.warnings.clone_from(&prepared.warnings);
    }
}
