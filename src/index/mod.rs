//! The online index of a stream: the documents that passed, found again by their keys.
//!
//! ```text
//! sign      text → tokens → features → fingerprint → keys     on any thread      ([`Index::signer`], signature.rs)
//! decide    keys → candidates → the most similar one           one at a time      ([`Index::decide`])
//! keep      the record of a document that passes               log, then tables   (log.rs, tables.rs)
//! ```
//!
//! Decisions are as if documents came one by one: each passes unless one that passed before it is similar enough. A
//! scan that keeps the first of several near-duplicates keeps the same documents.
//!
//! Only the log matters: records one after the other, each with a checksum. A record at its end that a crash left
//! incomplete is cut off and reported. Damage before the part that is known to have been on the disk, by a mark in the log or by
//! its checkpoint, is an error. A thread of its own waits for the disk (syncing.rs), so that decisions do not.
//!
//! The tables that find records are in memory, and every so often what is new in them is also written to files, in
//! segments of consecutive documents. Beyond a bound they leave the memory. Segments are sorted, written and merged on
//! threads of their own (disk.rs, segment.rs), so that decisions do not wait. They are kept beside the log as a
//! checkpoint (checkpoint.rs): opening an index reads that, and of the log only what came after it. Tables that are
//! missing or damaged are rebuilt from the log.
//!
//! Where sets are compared, the documents of a key that many have (pages of one template) are searched by the elements
//! that are rare among them (hot.rs), so that a decision looks at few of them. Such a document takes memory for those
//! elements too: some 16 bytes for each of a fifth of its set at a threshold of 0.8.
//!
//! Of a key that very many documents have, the latest are compared ([`MOST_OF_A_KEY`]); a decision says so if a similar
//! document may have been missed ([`Decision::Crowded`]). Tables of bits of fingerprints are chosen by the expected number
//! of documents ([`Size`]). They are made of the fingerprints when the log is opened, so an index opens with any of them.
//!
//! A document can take the place of an earlier one with its id ([`Index::replace`]): the table of ids then has each document by its id
//! alone too, and a checkpoint says so. What such a run forgets by age is decided on anew after an interruption (replace.rs).
//!
//! Documents that come without an id are remembered under numbers (unnamed.rs). Of a stream that was interrupted, the last
//! documents pass again if they are fed again (unconfirmed.rs, confirm.rs). What a call of Python remembers, it
//! remembers as a whole or not at all (transaction.rs), and so does a run of cleaning (staged.rs).
//!
//! A run notes in the log what it forgets (forgetting.rs). If it forgets anything and replaces nothing, it also logs its decisions, so that it
//! can continue after an interruption as if there had been none (repeat.rs). A window of documents counts those that are
//! in the index. Removed documents do not count, so that compacting changes nothing; expired ones count, as they did
//! before they expired. Each document expires by its own time, independent of the others. Tables of which most is
//! forgotten are replaced by new ones, which are built beside decisions (renewal.rs).
//!
//! Memory per document, for MinHash with 16 keys: some 500 bytes while its postings are in memory. Once they are in
//! files: 8 bytes for its place in the log, and 12 bits for each of its keys and its id, 34 bytes in all.

mod agreement;
mod awaited;
mod checkpoint;
mod coded;
mod committing;
mod confirm;
mod crowded;
mod deciding;
mod decision;
mod disk;
mod enter;
mod entry;
mod file;
mod forgetting;
mod frame;
mod header;
mod hot;
mod log;
mod maintain;
mod moved;
mod nearest;
mod noting;
mod opening;
mod options;
mod outlines;
mod plan;
mod ranked;
mod remembered;
mod renewal;
mod reopen;
mod repeat;
mod replace;
mod retired;
mod search;
mod segment;
mod shape;
mod signature;
#[cfg(feature = "clean")]
mod staged;
mod stored;
mod syncing;
mod tables;
#[cfg(any(feature = "python", all(test, feature = "clean")))]
mod transaction;
mod unconfirmed;
mod unnamed;
mod upkeep;

pub use agreement::check_plan;
pub use checkpoint::tables_folder;
pub use crowded::{MOST_OF_A_KEY, crowded_keys};
pub use decision::{Decision, Pace, TableWork};
pub use file::FORMAT_VERSION;
#[cfg(feature = "cli")]
pub(crate) use file::is_index;
pub use forgetting::Forgetting;
pub use header::{Header, header};
pub use maintain::{
    Compacted, Outdated, Removed, StoredDocument, StoredDocuments, Summary, compact, distribution, documents, inspect,
    remembered, remove, snapshot,
};
pub use nearest::{Nearest, Neighbour, Wanted};
pub use options::{IndexOptions, Limits, Mode, Sync};
pub use plan::{MEDIAN_TOKENS, Plan, Seed, Size, bytes_in_memory, bytes_of_tables, bytes_on_disk};
pub use signature::{Signature, Signer};
pub(crate) use signature::{Signatures, Signed, Unsigned};
#[cfg(feature = "clean")]
pub(crate) use staged::{Addition, Made, Staged};
pub use stored::Repair;
#[cfg(feature = "cli")]
pub(crate) use unconfirmed::is_unnamed;
#[cfg(feature = "python")]
pub(crate) use unnamed::ROW;

use crate::algorithm::{Algorithm, CompareOn, RunSummary, Spec};
use awaited::Awaited;
use disk::Disk;
use log::Log;
use plan::Signing;
use remembered::Remembered;
use renewal::Renewal;
use repeat::{Recent, Repetition};
use search::Bounds;
use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use tables::{Tables, least_room};
use unconfirmed::Leaving;

/// The index.
pub struct Index {
    signing: Signing,
    algorithm: Arc<dyn Algorithm>,
    log: Log,
    limits: Limits,
    sync: Sync,
    mode: Mode,
    /// Whether documents may replace others.
    replaces: bool,
    /// What finds documents.
    tables: Tables,
    /// Which of the documents in them count.
    remembered: Remembered,
    /// The bounds of a search, which tests lower.
    bounds: Bounds,
    /// Where the decisions are that can be repeated, if the end of the log is a part with decisions.
    noted: Option<Recent>,
    /// What the last run before this one forgot.
    last_forgetting: Forgetting,
    /// The decisions before an interruption, as long as they may be fed again.
    repetition: Option<Repetition>,
    /// The number of documents that shared a key with more documents than were compared.
    capped: u64,
    pace: Pace,
    /// The documents that were decided on.
    summary: RunSummary,
    /// Buffers; the last for the features of the document that is decided on.
    candidates: Vec<u32>,
    bounded: Vec<ranked::Bounded>,
    own: Vec<u64>,
    was_interrupted: bool,
    /// Whether the last document was added, and never passed.
    was_adding: bool,
    /// Why the checkpoint at the end of the run was not made.
    failed_checkpoint: Option<String>,
    /// Tables without what is forgotten, which are being built.
    renewal: Option<Box<Renewal>>,
    /// Whether tables on the disk had changed, and were rebuilt.
    were_damaged: bool,
    /// Whether it is in a file.
    is_stored: bool,
    /// If what it remembers is kept aside: the number of documents that a checkpoint had when it was opened.
    staged: Option<u32>,
    /// In that case, the places of those documents from before that came again. Otherwise, of unconfirmed ones.
    passed_again: BTreeSet<u64>,
    /// The places of the documents that are unconfirmed.
    unconfirmed: Range<u64>,
    /// Their hashes, once they are needed.
    awaited: Option<Awaited>,
    /// Up to where those of this run have left, and whether it has decided on any.
    leaving: Leaving,
    has_leaving: bool,
    /// Whether documents are those of a stream: each leaves by itself. And whether those that are known do not.
    is_of_stream: bool,
    drops_known: bool,
    /// Whether the log has the decision on a document already that is decided on again.
    is_repeated: bool,
    /// The number of the next document without an id; `None` until there was one.
    next_number: Option<u64>,
    /// The state before a transaction, while there is one.
    before: Option<Before>,
}

/// What a transaction that is rolled back restores, beside documents.
#[cfg_attr(
    not(any(feature = "python", all(test, feature = "clean"))),
    expect(dead_code, reason = "only calls of Python are transactions")
)]
struct Before {
    next_number: Option<u64>,
    capped: u64,
    summary: RunSummary,
    /// Whether its tables were those of the whole log.
    was_whole: bool,
}

/// The memory for a place in a set of them.
const BYTES_A_PLACE: u64 = 16;

/// What the algorithm may have learned beside the memory of the index.
const LEARNED_BYTES: u64 = 8 << 20;

impl fmt::Debug for Index {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut index = f.debug_struct("Index");
        index.field("documents", &self.len()).field("limits", &self.limits).field("mode", &self.mode);
        index.finish_non_exhaustive()
    }
}

impl Index {
    /// Makes signatures for this index.
    pub fn signer(&self) -> Signer {
        self.signing.signer().with_records(self.most_of_record())
    }

    /// The maximum length of a record that is written, in bytes.
    fn most_of_record(&self) -> u64 {
        if self.mode.only_reads() { u64::MAX } else { self.log.most_of_record }
    }

    /// Lowers the maximum length of a record.
    #[cfg(test)]
    pub(crate) fn bound_records(&mut self, bytes: u64) {
        self.log.most_of_record = bytes;
    }

    /// What bounds it.
    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Whether it keeps the features of documents.
    pub(crate) fn keeps_features(&self) -> bool {
        self.algorithm.compare_on() != CompareOn::Fingerprints
    }

    /// How its signatures are made, with the seed.
    pub fn spec(&self) -> &Spec {
        &self.signing.spec
    }

    /// What its similarities measure.
    pub fn measure(&self) -> &'static str {
        self.algorithm.measure()
    }

    /// The number of documents that are remembered. Documents expire when one is decided on; see [`len_at`](Self::len_at).
    pub fn len(&self) -> u64 {
        self.remembered.len()
    }

    /// The number of documents that are remembered at a time in seconds since 1970, which is not before that of the last decision.
    ///
    /// Cost: where documents expire, a look at the time of each.
    pub fn len_at(&self, now: u64) -> u64 {
        self.remembered.len_at(now)
    }

    /// Whether the last run that passed a document was interrupted, so that its last decisions may be fed again.
    pub fn was_interrupted(&self) -> bool {
        self.was_interrupted
    }

    /// Whether the file that was opened existed, but was empty or ended within its header, so that a new index was begun in it: if it once
    /// remembered something, that is lost.
    pub fn is_begun_anew(&self) -> bool {
        self.log.is_begun_anew
    }

    /// What the last run forgot that decided on documents and wrote to the file, as far as it noted that.
    pub fn last_forgetting(&self) -> Forgetting {
        self.last_forgetting
    }

    /// Whether no document is remembered.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of documents that shared a key with more others than are [compared](Self::most_of_a_key), of which only
    /// the latest were. Those of them that passed have the decision [`Crowded`](Decision::Crowded).
    pub fn capped(&self) -> u64 {
        self.capped
    }

    /// Returns the warnings of the algorithm about the documents that were decided on since the index was opened; one
    /// sentence each.
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings = self.algorithm.warnings(&self.summary);
        if self.were_damaged {
            let message =
                "the files of the index's tables had changed on the disk; the tables were rebuilt from the index";
            warnings.push(message.into());
        }
        warnings.extend(self.without_checkpoint());
        warnings
    }

    /// The warning that the checkpoint at the end of the run was not made.
    fn without_checkpoint(&self) -> Option<String> {
        self.failed_checkpoint.as_ref().map(|error| no_checkpoint(error))
    }

    /// The maximum number of documents under a key that are compared.
    pub fn most_of_a_key(&self) -> usize {
        self.bounds.most_of_a_key
    }

    /// The time that decisions took.
    pub fn pace(&self) -> Pace {
        self.pace
    }

    /// The work on its tables since it was opened.
    pub fn table_work(&self) -> TableWork {
        self.tables.disk.as_ref().map(Disk::work).unwrap_or_default()
    }

    /// Bytes of the log.
    pub fn bytes_stored(&self) -> u64 {
        self.log.len()
    }

    /// The approximate memory, in bytes.
    pub fn bytes_held(&self) -> u64 {
        self.bytes_beside()
            + self.tables.bytes_held()
            + self.renewal.as_ref().map_or(0, |renewal| renewal.bytes_held())
            + self.log.bytes_held()
            + self.awaited.as_ref().map_or(0, Awaited::bytes_held)
    }

    /// Bytes of memory beside tables and log.
    fn bytes_beside(&self) -> u64 {
        self.remembered.bytes_held()
            + self.algorithm.bytes_learned().saturating_sub(LEARNED_BYTES)
            + self.repetition.as_ref().map_or(0, Repetition::bytes_held)
            + BYTES_A_PLACE * self.passed_again.len() as u64
    }

    /// The memory, in bytes, that [`Limits::memory`] bounds: what it needs for what it remembers, however far the work on its files is.
    /// The same documents need the same, but for what was replaced and has not left the tables yet. Of an index in a file it leaves out what goes to files, which
    /// [`bytes_held`](Self::bytes_held) has too, and counts the room that it needs until then.
    pub fn bytes_needed(&self) -> u64 {
        let Some(most) = self.limits.memory.filter(|_| self.is_stored) else { return self.bytes_held() };
        self.bytes_beside()
            + self.tables.bytes_staying()
            + self.renewal.as_ref().map_or(0, |renewal| renewal.bytes_staying())
            + least_room(most)
    }

    /// Begins a run, in which [`decide`](Self::decide) does this, of an index that was opened to be written. Its [pace](Self::pace), and
    /// [what is capped](Self::capped), are of this run.
    #[cfg(feature = "python")]
    pub(crate) fn begin_run(&mut self, mode: Mode) {
        (self.mode, self.pace, self.capped) = (mode, Pace::default(), 0);
    }
}

fn no_checkpoint(error: &dyn fmt::Display) -> String {
    format!("the index is complete, but opening it will take longer, because there is no new checkpoint: {error}")
}

#[cfg(test)]
mod tests;
