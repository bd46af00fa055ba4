//! The batch engine: finds every reported pair among all documents of a source, for any algorithm.
//!
//! ```text
//! read      batches → tokens → features → fingerprint → keys          on all threads, once          (read.rs)
//! copies    equal token sequences become one document                  128-bit hashes, sorted        (corpus.rs)
//! group     equal keys → groups of candidates                          one table at a time, sorted   (group.rs)
//! verify    candidates → pairs with their exact similarity             sets kept, or read again      (verify.rs)
//! arrange   pairs → clusters, kept documents, records in input order   union-find, greedy keep-set   (arrange.rs)
//! ```
//!
//! A run of very many documents under one key, such as pages that share a frame, is searched as an exact join is, if the algorithm
//! knows a prefix filter; else all its pairs are looked at.
//!
//! Memory is bounded: keys that do not fit the budget go to a temporary file (columns.rs), and candidates whose features do not
//! fit are read again and verified in portions (portions.rs). What stays is some 70 bytes for each document, the runs of candidates,
//! and the pairs found.
//!
//! It knows no algorithm: it asks for keys and calls `compare`. What it guarantees whatever the algorithm: the same result for
//! any number of threads, batch size and memory budget; each pair once; nothing from the order of a map or a thread.

mod arrange;
mod columns;
mod corpus;
mod documents;
mod group;
mod portions;
mod read;
mod request;
mod scan;
mod table;
mod verify;

use crate::algorithm::Row;
use crate::source::{Problem, Severity, Source};
use crate::tokenizer::{Tokenizer, Word};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

pub use crate::run::observer::{Estimate, Observer, Stage};
#[cfg(feature = "report")]
pub(crate) use arrange::Portion;
pub use arrange::{Cluster, KEEP_POLICIES, KeepPolicy, Kept, Outcome, Pair, Verdict};
pub use documents::At;
pub use request::Scan;
pub use scan::{count_terms, scan};

/// How a scan is run. None of it but the tokenizer and the seed can change what is found.
#[derive(Clone)]
pub struct Options {
    /// The tokenizer, unless the algorithm needs another.
    pub tokenizer: Arc<dyn Tokenizer>,
    /// Seeds every hash.
    pub seed: u64,
    /// Worker threads; 0 means one a core.
    pub threads: usize,
    /// Bytes of memory for what is kept of the documents. Keys that do not fit go to a temporary file; features that do not fit are
    /// made again, from as many readings as it takes. What every document needs is taken all the same: its id and some 50 bytes.
    pub memory: u64,
    /// Where the temporary file is made; `None` is the system's folder.
    pub temp_dir: Option<PathBuf>,
}

impl Default for Options {
    fn default() -> Self {
        Options { tokenizer: Arc::new(Word), seed: 0, threads: 0, memory: 1 << 30, temp_dir: None }
    }
}

/// What was counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "report", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Counts {
    /// Documents read, references not included.
    pub documents: u64,
    /// Documents of the reference, with `--against`.
    pub references: u64,
    /// Documents with too few features for the algorithm to compare: never reported.
    pub featureless: u64,
    /// Documents that are exact copies (after tokenising) of an earlier one.
    pub copies: u64,
    /// Comparisons of candidates: of feature sets once a pair, but for those that their sizes and a few bits of them tell apart; of
    /// fingerprints once in each table where a pair meets.
    pub compared: u64,
    /// Pairs at or above the threshold, copies included.
    pub pairs: u64,
    /// Records without an id of their own, identified by their place.
    pub unnamed: u64,
    /// Documents with an id that an earlier one of the same side has.
    #[cfg_attr(feature = "report", serde(skip_serializing_if = "is_zero"))]
    pub repeated_ids: u64,
    /// Bytes of input, compressed as they came.
    pub bytes: u64,
    /// Tokens.
    pub tokens: u64,
    /// Records or files whose text had to be repaired.
    pub repaired: u64,
    /// Files left out by rule.
    pub skipped: u64,
    /// Records or files that could not be read.
    pub failed: u64,
    /// Pages of which all text was read because no main text was found.
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
            Severity::FellBack => self.fell_back += 1,
            Severity::Repaired => self.repaired += 1,
            Severity::Skipped => self.skipped += 1,
            Severity::Failed => self.failed += 1,
        }
    }
}

/// What was run and how it went, beside the pairs.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Report {
    /// The algorithm's name.
    pub algorithm: &'static str,
    /// What its similarity measures.
    pub measure: &'static str,
    /// The tokenizer that the algorithm asked for instead of the given one.
    pub tokenizer: Option<String>,
    /// The parameters as resolved.
    pub parameters: Vec<Row>,
    /// The median number of tokens of the documents that have any.
    pub median_tokens: usize,
    /// What was counted.
    pub counts: Counts,
    /// What users should know about this algorithm on these documents.
    pub warnings: Vec<String>,
    /// Time spent in each stage, in all.
    pub timings: Vec<(&'static str, Duration)>,
    /// How often candidates had to be read again for verification, because their features did not fit the budget.
    pub rereadings: u64,
    /// Bytes of keys that went to a temporary file, because they did not fit the budget.
    pub spilled: u64,
}

/// One of the sources of a scan.
struct Side<'a> {
    /// Whether it is the reference.
    reference: bool,
    source: &'a mut dyn Source,
}
