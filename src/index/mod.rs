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
//! alone too, and a checkpoint says so.
//!
//! Documents that come without an id are remembered under numbers (unnamed.rs). Of those of a stream that was interrupted, the last ones pass
//! again if they are fed again (unconfirmed.rs, confirm.rs). What a call of Python remembers, it
//! remembers as a whole or not at all (transaction.rs).
//!
//! A run notes in the log what it forgets (forgetting.rs). If it forgets anything, it also logs its decisions, so that it
//! can continue after an interruption as if there had been none (repeat.rs). A window of documents counts those that are
//! in the index. Removed documents do not count, so that compacting changes nothing; expired ones count, as they did
//! before they expired. Each document expires by its own time, independent of the others. Tables of which most is
//! forgotten are replaced by new ones, which are built beside decisions (renewal.rs).
//!
//! Memory per document, for MinHash with 16 keys: some 500 bytes while its postings are in memory. Once they are in
//! files: 8 bytes for its place in the log, and 12 bits for each of its keys and its id, 34 bytes in all.

mod checkpoint;
mod coded;
mod confirm;
mod crowded;
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

pub use checkpoint::tables_folder;
pub use crowded::{MOST_OF_A_KEY, crowded_keys};
pub use decision::{Decision, Pace, TableWork};
pub use file::FORMAT_VERSION;
pub use forgetting::Forgetting;
pub use header::{Header, header};
pub use maintain::{
    Compacted, Outdated, Removed, StoredDocument, StoredDocuments, Summary, compact, distribution, documents, inspect,
    remembered, remove, snapshot,
};
pub use nearest::{Nearest, Neighbour, Wanted};
pub use options::{IndexOptions, Limits, Mode, Sync};
pub use plan::{MEDIAN_TOKENS, Plan, Seed, Size};
pub use signature::{Signature, Signer};
pub(crate) use signature::{Signatures, Signed};
#[cfg(feature = "clean")]
pub(crate) use staged::{Addition, Made, Staged};
pub use stored::Repair;
#[cfg(feature = "cli")]
pub(crate) use unconfirmed::is_unnamed;
#[cfg(feature = "python")]
pub(crate) use unnamed::ROW;

use crate::algorithm::{Algorithm, CompareOn, RunSummary, Spec};
use crate::error::Error;
use crate::readable::{counted, display_size};
use crate::similarity::Similarity;
use checkpoint::Notes;
use crowded::MOST_WORDS;
use disk::Disk;
use enter::Entering;
use entry::Document;
use file::are_tables_damaged;
use header::seed_of;
use log::Log;
use plan::Signing;
use remembered::Remembered;
use renewal::Renewal;
use reopen::{Beside, reopen};
use repeat::{Past, Recent, Repetition, Tail};
use search::{Bounds, Found, Ordered, Search};
use serde_json::Value;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;
use std::fs::File;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;
use tables::{State, Tables, disk_of, least_room};
#[cfg(not(feature = "cli"))]
use unconfirmed::is_unnamed;
use unconfirmed::{Leaving, Left};
use unnamed::{Name, number_in};

/// The index.
pub struct Index {
    signing: Signing,
    algorithm: Arc<dyn Algorithm>,
    log: Log,
    limits: Limits,
    sync: Sync,
    mode: Mode,
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
    /// The places of the documents without ids that are unconfirmed.
    unconfirmed: Range<u64>,
    /// Up to where those of this run have left, and whether it has decided on any.
    leaving: Leaving,
    has_unnamed: bool,
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

/// How an index is opened that keeps aside what it remembers.
#[derive(Clone, Copy)]
#[cfg_attr(not(feature = "clean"), expect(dead_code, reason = "only cleaning does"))]
struct Staging<'a> {
    /// The empty file that it is written to.
    aside: &'a File,
    /// Whether it will not be added to the index, which is then only read.
    is_trial: bool,
}

impl fmt::Debug for Index {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut index = f.debug_struct("Index");
        index.field("documents", &self.len()).field("limits", &self.limits).field("mode", &self.mode);
        index.finish_non_exhaustive()
    }
}

impl Index {
    /// An index in memory only, lost when the process ends.
    pub fn in_memory(plan: &Plan, limits: Limits) -> Self {
        let options = IndexOptions { limits, sync: Sync::Off, ..IndexOptions::default() };
        Self::with_log(plan.for_memory(), Log::in_memory(), &options, None)
    }

    /// Opens the index in a file for signatures of this plan, or creates it unless it is only queried. An index with
    /// signatures made in another way is refused. The seed of a new index is drawn as [`Seed`] describes. An incomplete end
    /// is cut off, but only ignored where nothing is remembered, and is returned.
    ///
    /// # Errors
    /// The file cannot be read or written, is not an index, was made with other settings, has another writer, or is
    /// damaged; or it does not exist or is empty, and should not be created or has a checkpoint.
    ///
    /// # Cost
    /// With a checkpoint: 8 bytes of it are read for each document and 12 bits for each of its keys, and what the log has
    /// since (at most a quarter of the documents, or 131,072; nothing after a run that ended by [`seal`](Self::seal)). After a run with a
    /// window or an age that was interrupted, also its last 65,536 decisions and twice the window.
    /// Without one, the log is read once.
    pub fn open(path: &Path, plan: &Plan, options: &IndexOptions) -> Result<(Self, Option<Repair>), Error> {
        Self::open_as(path, plan, options, None)
    }

    /// Opens the index in a file to decide by it, as [`open`](Self::open) does, but keeps what it remembers in `aside`, an
    /// empty file, until [`Staged::append`] adds it. If it `is_trial`, the index must exist and is only read.
    ///
    /// # Errors
    /// Those of [`open`](Self::open).
    #[cfg(feature = "clean")]
    pub(crate) fn stage(
        path: &Path,
        plan: &Plan,
        options: &IndexOptions,
        aside: &File,
        is_trial: bool,
    ) -> Result<(Self, Option<Repair>), Error> {
        // The tables of documents that are not in the index yet are not those of a checkpoint.
        let temp_dir = options.temp_dir.clone().unwrap_or_else(std::env::temp_dir);
        let options = IndexOptions { mode: Mode::Filter, sync: Sync::Off, temp_dir: Some(temp_dir), ..options.clone() };
        Self::open_as(path, plan, &options, Some(Staging { aside, is_trial }))
    }

    /// What a [staged](Self::stage) index remembers, to be added; and whether a checkpoint should be made afterwards.
    ///
    /// # Errors
    /// The file that it is kept in cannot be written, or the index cannot be read.
    #[cfg(feature = "clean")]
    pub(crate) fn into_staged(mut self) -> Result<(Staged, bool), Error> {
        self.log.commit(false)?;
        let fresh = self.tables.places.len().saturating_sub(self.staged.unwrap_or(0) as usize);
        Ok((Staged::of(self.log)?, fresh >= self.tables.checkpoint_after.1))
    }

    /// Brings the checkpoint of an index up to date, if that is worth it. Returns why that failed.
    ///
    /// # Cost
    /// That of [`open`](Self::open).
    #[cfg(feature = "clean")]
    pub(crate) fn renew_checkpoint(path: &Path, plan: &Plan, options: &IndexOptions) -> Option<String> {
        let sealed = Self::open(path, plan, options).and_then(|(mut index, _)| index.seal().map(|()| index));
        match sealed {
            Ok(index) => index.without_checkpoint(),
            Err(error) => Some(no_checkpoint(&error)),
        }
    }

    fn open_as(
        path: &Path,
        plan: &Plan,
        options: &IndexOptions,
        staging: Option<Staging<'_>>,
    ) -> Result<(Self, Option<Repair>), Error> {
        for with_checkpoint in [true, false] {
            if let Some(opened) = Self::open_from(path, plan, options, with_checkpoint, staging)? {
                return Ok(opened);
            }
        }
        unreachable!("without a checkpoint it has all documents")
    }

    /// `None` if the checkpoint does not have documents that are remembered.
    fn open_from(
        path: &Path,
        plan: &Plan,
        options: &IndexOptions,
        with_checkpoint: bool,
        staging: Option<Staging<'_>>,
    ) -> Result<Option<(Self, Option<Repair>)>, Error> {
        let asked = options.mode.only_reads();
        let only_reads = asked || staging.is_some_and(|staging| staging.is_trial);
        let new = || Value::Object(plan.for_file(None).spec.identity_json());
        let (log, mut stored) =
            if only_reads { Log::open_to_read(path) } else { Log::open(path, options.creates, new) }?;
        let signing = plan.for_file(seed_of(&stored.header));
        stored.check(&Value::Object(signing.spec.identity_json()))?;
        stored.reads.shape = stored.reads.shape.and(signing.algorithm.compare_on());
        let mut index = Self::with_log(signing, log, options, Some(disk_of(path, options)));
        index.staged = staging.map(|_| 0);
        index.tables.has_names = options.replaces;
        let mut tail = Tail::new(if index.is_noting() { index.most_repeated() } else { 0 });
        if let Some(disk) = index.tables.disk.as_mut().filter(|_| !with_checkpoint && !asked) {
            disk.forget_checkpoint();
        } else if with_checkpoint
            && let Some(Beside { times, removed, forgetting, left }) =
                reopen(path, &mut index.tables, &options.limits, &mut stored, &mut tail)
        {
            let documents = index.tables.places.len() as u32;
            index.remembered.continue_with(documents, times, removed);
            index.staged = staging.map(|_| documents);
            (index.log.forgetting, index.log.left) = (forgetting, left);
        }
        index.log.has_grown_to(stored.length);
        let mut misses_some = false;
        let end = stored.each(|place, entry, _| {
            tail.read(place, &entry);
            index.log.forgetting.read(&entry);
            index.log.left.read(&entry);
            // Without those that were removed since, documents are in the window that its tables do not have.
            misses_some |= matches!(entry, entry::Entry::Removed(_)) && index.tables.dropped.window.is_some();
            match entry {
                entry::Entry::Document(record) => index.entering().remember(place, &record)?,
                entry::Entry::Removed(places) => index.remove_places(&places),
                entry::Entry::Notes(words) => index.tables.count_notes(words.len() as u64 / 2),
                entry::Entry::Synced | entry::Entry::Call(_) => {}
            }
            Ok(())
        })?;
        if misses_some {
            return Ok(None);
        }
        if !only_reads {
            stored.remove_stale_checkpoint(&end);
            index.log.start_at(&end)?;
        }
        #[cfg(feature = "clean")]
        if let Some(staging) = staging {
            let failed = |error| Error::output("cannot write what the index will remember", error);
            index.log.set_aside(staging.aside.try_clone().map_err(failed)?, &end);
        }
        index.noted = tail.recent();
        index.last_forgetting = index.log.forgetting;
        index.is_stored = true;
        if let Left::Before(left) = index.log.left {
            index.unconfirmed = left..end.at.max(left);
        }
        index.was_interrupted = end.torn.is_some() || !end.is_marked && !index.tables.places.is_empty();
        // A document that was dropped for a meanwhile removed one is decided on again.
        let is_there = |place: u64| !tail.is_removed(place);
        let past = tail.past().filter(|past| past.original.is_none_or(is_there)).collect();
        index.repetition = Repetition::new(past);
        index.forget(0)?;
        index.end_renewal(0)?;
        // A stream that remembers checks before each document.
        if asked && options.limits.memory.is_some_and(|most| index.bytes_held() > most) {
            let [most, held] =
                [options.limits.memory.unwrap_or(0), index.bytes_held()].map(|bytes| display_size(bytes as usize));
            let message = format!("the index takes {held} when it is opened, more than {most} (`memory`): allow more");
            return Err(Error::Full(message));
        }
        index.tables.is_whole = !asked;
        Ok(Some((index, end.torn)))
    }

    fn with_log(signing: Signing, log: Log, options: &IndexOptions, disk: Option<Disk>) -> Self {
        let only_similar = !matches!(options.mode, Mode::Nearest(_));
        let mut tables = Tables::new(&*signing.algorithm, &signing.spec, only_similar, options.tables, disk);
        tables.most = options.limits.memory;
        let compares_bits = signing.algorithm.compare_on() == CompareOn::Fingerprints;
        let layout = signing.algorithm.layout().filter(|_| compares_bits);
        Index {
            algorithm: Arc::clone(&signing.algorithm),
            signing,
            log,
            limits: options.limits,
            sync: options.sync,
            mode: options.mode,
            tables,
            remembered: Remembered::new(&options.limits),
            bounds: Bounds {
                most_of_a_key: options.limits.candidates.unwrap_or(MOST_OF_A_KEY),
                most_words: MOST_WORDS,
                ordered: layout.as_ref().map(Ordered::new),
            },
            noted: None,
            last_forgetting: Forgetting::default(),
            repetition: None,
            capped: 0,
            pace: Pace::default(),
            summary: RunSummary::default(),
            candidates: Vec::new(),
            bounded: Vec::new(),
            own: Vec::new(),
            was_interrupted: false,
            failed_checkpoint: None,
            renewal: None,
            were_damaged: false,
            is_stored: false,
            staged: None,
            passed_again: BTreeSet::new(),
            unconfirmed: 0..0,
            leaving: Leaving::default(),
            has_unnamed: false,
            is_repeated: false,
            next_number: None,
            before: None,
        }
    }

    /// Makes signatures for this index.
    pub fn signer(&self) -> Signer {
        self.signing.signer()
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

    /// The number of documents that are remembered.
    pub fn len(&self) -> u64 {
        self.remembered.len()
    }

    /// Whether the last run that passed a document was interrupted, so that its last decisions may be fed again.
    pub fn was_interrupted(&self) -> bool {
        self.was_interrupted
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

    /// Changes what [`decide`](Self::decide) does from now on, of an index that was opened to be written.
    #[cfg(feature = "python")]
    pub(crate) fn set_mode(&mut self, mode: Mode) {
        self.mode = mode;
    }

    /// Decides on a document, at a time in seconds. A document that passes is remembered from now on. It is on the disk
    /// after the next [`commit`](Self::commit), and should not leave before that.
    ///
    /// Cost: a look-up for each key, and a comparison for each document that shares one; of sets, for those whose sizes and outlines
    /// allow them to be the most similar. Memory: 20 bytes for each document that may be compared.
    ///
    /// # Errors
    /// The signature was made by the signer of an index with another [identity](crate::algorithm::Spec::identity), the log cannot be
    /// read or written, or a limit is reached.
    pub fn decide(&mut self, id: &str, signature: &Signature, now: u64) -> Result<Decision, Error> {
        self.decide_signed(id, signature.signed(), now)
    }

    /// Prefetches what a decision on a document of a batch looks up first, if it has this document.
    pub(crate) fn fetch(&self, signatures: &Signatures, number: usize) {
        if number < signatures.len() {
            signatures.get(number).1.tags.iter().for_each(|&tag| self.tables.keys.fetch(tag));
        }
    }

    /// As [`decide`](Self::decide), with a signature of a batch.
    pub(crate) fn decide_signed(&mut self, id: &str, signature: Signed<'_>, now: u64) -> Result<Decision, Error> {
        self.decide_on(Name::Id(id), signature, now, None)
    }

    /// [Decides](Self::decide) on a document without an id. If it is remembered, its id is its number in the index after
    /// `prefix`, which is empty or `row:`.
    ///
    /// # Errors
    /// Those of [`decide`](Self::decide).
    pub(crate) fn decide_unnamed(
        &mut self,
        prefix: &'static str,
        signature: Signed<'_>,
        now: u64,
    ) -> Result<Decision, Error> {
        self.decide_on(Name::Number(prefix), signature, now, None)
    }

    /// Checks that a signature was made for this index, of all that the algorithm has learned: another has other hashes.
    fn check(&self, signature: Signed<'_>) -> Result<(), Error> {
        self.algorithm.check_learned()?;
        if signature.made_by == self.signing.made_by {
            return Ok(());
        }
        let message = "the signature was made for another index, with other settings or another seed: make it with the `signer` of \
                       the index that decides";
        Err(Error::Usage(message.into()))
    }

    /// The id under which a document is remembered.
    fn id_of<'n>(&mut self, name: Name<'n>) -> Result<Cow<'n, str>, Error> {
        Ok(match name {
            Name::Id(id) => id.into(),
            Name::Number(prefix) => format!("{prefix}{}", self.number()?).into(),
        })
    }

    /// The number of the next document without an id.
    ///
    /// Cost: the first time, the records of the latest documents are read, up to the last one that has a number.
    fn number(&mut self) -> Result<u64, Error> {
        if let Some(next) = self.next_number {
            return Ok(next);
        }
        let mut next = 0;
        for at in (0..self.tables.places.len()).rev() {
            let record = self.log.read(self.tables.places[at])?;
            if let Some(number) = number_in(&record.id) {
                next = number + 1;
                break;
            }
        }
        self.next_number = Some(next);
        Ok(next)
    }

    /// A document is remembered under this id. Later numbers are greater.
    fn has_used(&mut self, id: &str) {
        if let (Some(next), Some(number)) = (&mut self.next_number, number_in(id)) {
            *next = (*next).max(number + 1);
        }
    }

    /// Where documents are added, one without an id is known if another with its tokens is remembered.
    fn decision_on_copy(&mut self, signature: Signed<'_>) -> Result<Option<Decision>, Error> {
        let is_known = self.mode == Mode::Add && !signature.featureless && self.search().has_copy(signature)?;
        Ok(is_known.then_some(Decision::Known))
    }

    /// Decides. With `replaced`, the document takes the place of earlier ones with its id; it becomes true if there were some.
    fn decide_on(
        &mut self,
        name: Name<'_>,
        signature: Signed<'_>,
        now: u64,
        mut replaced: Option<&mut bool>,
    ) -> Result<Decision, Error> {
        self.check(signature)?;
        let started = Instant::now();
        // Of the repetition it takes a step, so this is done once.
        let past = self.next_past(name, signature);
        let mut decision = self.decision(name, signature, now, past, replaced.as_deref_mut());
        if decision.as_ref().is_err_and(are_tables_damaged) {
            // A document that was remembered is not decided on again: see `renew`.
            decision = self.restore().and_then(|()| self.decision(name, signature, now, past, replaced));
        }
        self.pace.add(started.elapsed());
        if decision.is_ok() {
            self.summary.add(signature.featureless, signature.remark.cloned());
        }
        decision
    }

    fn decision(
        &mut self,
        name: Name<'_>,
        signature: Signed<'_>,
        now: u64,
        past: Option<Past>,
        mut replaced: Option<&mut bool>,
    ) -> Result<Decision, Error> {
        let is_unnamed = matches!(name, Name::Id(id) if is_unnamed(id));
        self.has_unnamed |= is_unnamed && self.is_followed_by_output();
        self.is_repeated = false;
        if let Some(past) = past
            && let Some(decision) = self.repeated(past, name, signature)?
        {
            if !is_unnamed || decision.passes() {
                return Ok(decision);
            }
            // Another document may have these tokens, which comes when what it is similar to is forgotten. As long as it is unclear which of
            // them it is, the log has its decision.
            self.is_repeated = true;
        }
        if let Mode::Nearest(wanted) = self.mode {
            return self.nearest_to(signature, wanted, now).map(Decision::Nearest);
        }
        self.forget(now)?;
        if let Some(decision) = self.decision_on_known(name, signature, replaced.as_deref_mut())? {
            return Ok(decision);
        }
        if let (Some(replaced), Name::Id(id)) = (replaced, name) {
            self.forget_others(id, None, replaced)?;
        }
        let mut is_crowded = false;
        if self.mode != Mode::Add && !signature.featureless {
            let Found { best, id, capped } = self.search().most_similar(signature)?;
            self.capped += u64::from(capped);
            if let Some((document, similarity)) = best {
                let place = self.tables.places[document as usize];
                let of = id.map_or_else(|| self.log.read(place).map(|record| record.id), Ok)?;
                self.note(name, signature, Some(place));
                return Ok(Decision::Duplicate { of, similarity, is_capped: capped });
            }
            is_crowded = capped;
        }
        if self.is_repeated {
            return Ok(Decision::Unconfirmed);
        }
        if !self.mode.only_reads() {
            self.keep(name, signature, now)?;
        }
        Ok(match signature.featureless {
            true => Decision::Featureless,
            false if is_crowded => Decision::Crowded,
            false => Decision::Fresh,
        })
    }

    /// The decision on a document that is remembered with the same id and tokens, if it is. If it replaces others, those of its id are
    /// forgotten.
    fn decision_on_known(
        &mut self,
        name: Name<'_>,
        signature: Signed<'_>,
        replaced: Option<&mut bool>,
    ) -> Result<Option<Decision>, Error> {
        let Name::Id(id) = name else { return self.decision_on_copy(signature) };
        // An added document never passed, and does not pass now. An index without a file does not outlive the run, so that
        // nothing is fed again: it is a copy.
        let only_adds = self.mode == Mode::Add;
        if !(only_adds || self.is_stored || signature.featureless) {
            return Ok(None);
        }
        if self.confirms(id, signature)? {
            self.note(name, signature, None);
            return Ok(Some(Decision::Unconfirmed));
        }
        let Some(place) = self.search().known(id, signature, only_adds)? else { return Ok(None) };
        if let Some(replaced) = replaced {
            self.forget_others(id, Some(place), replaced)?;
        }
        if let Some(start) = self.log.aside_from().filter(|_| self.staged.is_some()) {
            // What is kept aside is added as a whole or not at all, so that nothing is fed again within the run either.
            let is_own = place >= start;
            if signature.featureless {
                return Ok(Some(if is_own { Decision::Featureless } else { Decision::Known }));
            }
            if is_own || !self.passed_again.insert(place) {
                let (of, similarity) = (id.to_string(), Similarity::ratio(1, 1));
                return Ok(Some(Decision::Duplicate { of, similarity, is_capped: false }));
            }
        }
        self.note(name, signature, None);
        Ok(Some(Decision::Known))
    }

    /// The most similar documents, at a time in seconds. Nothing is remembered. In an index that was not opened for
    /// [`Mode::Nearest`], of the documents of a key that very many have only those at or above the threshold are found.
    ///
    /// # Errors
    /// The signature is of another index, or the log or the tables cannot be read.
    ///
    /// # Cost
    /// A comparison of every fingerprint, some 0.5 ns for each of their words, where bits are compared. Otherwise a look-up
    /// for each key, and a comparison for each document that shares one, or for every document. Of sets, only those are read
    /// whose sizes and outlines allow them to be among the most similar. Memory: 16 bytes for each document that may be
    /// compared, of fingerprints only for those that are wanted.
    pub fn nearest(&mut self, signature: &Signature, wanted: Wanted, now: u64) -> Result<Nearest, Error> {
        self.nearest_to(signature.signed(), wanted, now)
    }

    fn nearest_to(&mut self, signature: Signed<'_>, wanted: Wanted, now: u64) -> Result<Nearest, Error> {
        self.check(signature)?;
        let nearest = self.find_nearest(signature, wanted, now);
        if nearest.as_ref().is_err_and(are_tables_damaged) {
            self.restore()?;
            return self.find_nearest(signature, wanted, now);
        }
        nearest
    }

    fn find_nearest(&mut self, signature: Signed<'_>, wanted: Wanted, now: u64) -> Result<Nearest, Error> {
        self.forget(now)?;
        let nearest = self.search().nearest(signature, wanted)?;
        self.capped += u64::from(nearest.is_capped);
        Ok(nearest)
    }

    fn search(&mut self) -> Search<'_> {
        Search {
            algorithm: &*self.algorithm,
            jaccard: self.algorithm.profile().jaccard,
            tables: &mut self.tables,
            log: &mut self.log,
            remembered: &self.remembered,
            bounds: self.bounds,
            candidates: &mut self.candidates,
            bounded: &mut self.bounded,
            own: &mut self.own,
        }
    }

    /// Whether this run logs its decisions, so that they can be repeated after an interruption.
    fn is_noting(&self) -> bool {
        let forgets = self.limits.window.is_some() || self.limits.expire.is_some();
        self.is_followed_by_output() && forgets
    }

    /// The maximum number of decisions of an interrupted run that are known.
    fn most_repeated(&self) -> usize {
        let window = usize::try_from(self.limits.window.unwrap_or(0)).unwrap_or(usize::MAX);
        window.saturating_mul(2).saturating_add(repeat::DECISIONS_KEPT)
    }

    /// Logs what this run forgets, and whether the decisions that follow are logged.
    fn begin_notes(&mut self) {
        let is_noting = self.is_noting();
        if self.mode == Mode::Filter && self.is_stored {
            self.log.note_forgetting((&self.limits).into());
        }
        if self.mode == Mode::Filter && self.noted.is_some() != is_noting {
            let place = self.log.mark(if is_noting { repeat::BEGIN } else { repeat::END });
            self.noted = is_noting.then(|| Recent::new(place, self.most_repeated()));
        }
    }

    fn note(&mut self, name: Name<'_>, signature: Signed<'_>, original: Option<u64>) {
        if let Name::Id(id) = name
            && self.is_noting()
            && !self.is_repeated
        {
            self.begin_notes();
            if let Some(noted) = &mut self.noted {
                if noted.is_due() {
                    noted.pass(self.log.next_place());
                }
                noted.add();
            }
            self.log.note(Past { name: repeat::name(id, signature.sequence), original });
            self.tables.count_notes(1);
        }
    }

    /// The decision on a document before an interruption, if it is fed again. The repetition goes on to the next one, or ends.
    fn next_past(&mut self, name: Name<'_>, signature: Signed<'_>) -> Option<Past> {
        let repetition = self.repetition.as_mut()?;
        // One without an id is never fed again.
        let past = if let Name::Id(id) = name { repetition.next(repeat::name(id, signature.sequence)) } else { None };
        if past.is_none() || repetition.is_over() {
            self.repetition = None;
        }
        past
    }

    /// The same decision again, unless another document has the hash of this one.
    fn repeated(&mut self, past: Past, name: Name<'_>, signature: Signed<'_>) -> Result<Option<Decision>, Error> {
        let Some(place) = past.original else {
            return match name {
                Name::Id(id) if is_unnamed(id) => {
                    // A copy of it does not pass.
                    self.confirms(id, signature)?;
                    Ok(Some(Decision::Unconfirmed))
                }
                _ => Ok(Some(Decision::Known)),
            };
        };
        let original = self.log.read(place)?;
        let similarity = self.algorithm.compare(&original.evidence, signature.evidence.words(&mut self.own));
        search::free_long(&mut self.own);
        if similarity.is_none() {
            self.repetition = None;
        }
        let of = original.id;
        Ok(similarity.map(|similarity| Decision::Duplicate { of, similarity, is_capped: false }))
    }

    fn keep(&mut self, name: Name<'_>, signature: Signed<'_>, now: u64) -> Result<(), Error> {
        if self.renewal.is_some() && self.check_limits().is_err() {
            // The old tables are freed.
            self.end_renewal(now)?;
        }
        self.check_limits()?;
        if self.limits.memory.is_some() {
            self.tables.beside = self.bytes_beside() + self.renewal.as_ref().map_or(0, |renewal| renewal.bytes_held());
        }
        self.entering().make_room(signature.tags.len())?;
        self.begin_notes();
        let id = self.id_of(name)?;
        if self.is_followed_by_output() && !signature.featureless && is_unnamed(&id) {
            self.note_left();
        }
        let document = Document { id: &id, signed: signature, time: now, is_added: self.mode == Mode::Add };
        let place = self.log.append(&document, &*self.algorithm)?;
        if let Some(noted) = self.noted.as_mut().filter(|_| !document.is_added) {
            noted.pass(place);
            noted.add();
        }
        self.has_used(&id);
        self.entering().enter(place, &document)?;
        self.forget(now)?;
        self.log.bound_pending()?;
        if self.sync == Sync::Always {
            self.log.commit(true)?;
        }
        Ok(())
    }

    /// Writes the documents that passed to the log. Afterwards their records may leave, and those without an id are taken to have left when
    /// the next document is decided on.
    ///
    /// # Errors
    /// The log cannot be written.
    pub fn commit(&mut self) -> Result<(), Error> {
        match self.mode {
            Mode::Query | Mode::Nearest(_) => Ok(()),
            Mode::Filter | Mode::Add => {
                match self.sync {
                    Sync::Off => self.log.commit(false),
                    Sync::Batch => self.log.commit(true),
                    Sync::Always => self.log.sync(),
                }?;
                self.leaving.begin_commit(self.log.len());
                self.leaving.end_commit();
                Ok(())
            }
        }
    }

    /// As [`commit`](Self::commit), but with [`Sync::Batch`] the disk may have the documents later: then this returns true, and their
    /// records may leave when [`end_commit`](Self::end_commit) says so. Meanwhile others can be decided on. A commit that was begun before
    /// is ended first.
    ///
    /// # Errors
    /// The log cannot be written.
    pub(crate) fn begin_commit(&mut self) -> Result<bool, Error> {
        if self.mode.only_reads() || self.sync != Sync::Batch {
            return self.commit().map(|()| false);
        }
        let is_begun = self.log.begin_commit()?;
        self.leaving.begin_commit(self.log.len());
        if !is_begun {
            self.leaving.end_commit();
        }
        Ok(is_begun)
    }

    /// Ends a commit that was [begun](Self::begin_commit), if the disk has its documents or this `waits` for it. Returns whether none is
    /// left.
    ///
    /// # Errors
    /// The log could not be written.
    pub(crate) fn end_commit(&mut self, waits: bool) -> Result<bool, Error> {
        let has_ended = self.log.end_commit(waits)?;
        if has_ended {
            self.leaving.end_commit();
        }
        Ok(has_ended)
    }

    /// Lets commits that are [begun](Self::begin_commit) end by a function.
    #[cfg(test)]
    pub(crate) fn sync_by(&mut self, sync: impl FnMut() -> std::io::Result<()> + Send + 'static) {
        self.log.sync_by(sync);
    }

    /// Writes everything to the disk, regardless of [`Sync`], and marks it as written. To be called when a stream ends.
    ///
    /// # Errors
    /// The log cannot be written.
    pub fn seal(&mut self) -> Result<(), Error> {
        self.end(true)
    }

    /// As [`seal`](Self::seal), for a stream that failed or was stopped: its last decisions may be fed again, as after a run
    /// that was killed.
    ///
    /// # Errors
    /// The log cannot be written.
    pub fn interrupt(&mut self) -> Result<(), Error> {
        self.end(false)
    }

    fn end(&mut self, is_complete: bool) -> Result<(), Error> {
        match self.mode {
            Mode::Query | Mode::Nearest(_) => Ok(()),
            Mode::Filter | Mode::Add if self.staged.is_some() || self.before.is_some() => self.log.commit(false),
            Mode::Filter | Mode::Add => {
                // All decided records have left, unless decisions in the log have not been repeated yet.
                if is_complete && self.is_noting() && self.noted.is_some() && self.repetition.is_none() {
                    self.log.mark(repeat::END);
                    self.noted = None;
                }
                if is_complete {
                    self.confirm_all();
                }
                // The index is whole without it.
                let mut checkpoint = self.with_tables(Tables::begin_last_checkpoint);
                match is_complete {
                    true => self.log.seal()?,
                    false => self.log.sync()?,
                }
                checkpoint =
                    checkpoint.and_then(|()| self.with_tables(|tables, state| tables.end_last_checkpoint(state)));
                self.failed_checkpoint = checkpoint.err().map(|error| error.to_string());
                Ok(())
            }
        }
    }

    fn takes_half_of_its_memory(&self) -> bool {
        self.limits.memory.is_some_and(|most| self.bytes_needed() > most / 2)
    }

    fn check_limits(&self) -> Result<(), Error> {
        let full = |what: String, in_a_file: &str| {
            let advice = match self.mode {
                Mode::Add => "a larger limit allows more",
                _ => "`window` or `expire` forget old documents, and a larger limit allows more",
            };
            let in_a_file = if self.log.file().is_none() { in_a_file } else { "" };
            Err(Error::Full(format!("{what}; {advice}{in_a_file}")))
        };
        match self.limits {
            Limits { max_documents: Some(most), window, .. } if self.len() >= most && window != Some(self.len()) => {
                full(format!("at most {} may be remembered (`max-docs`)", counted(most, "document")), "")
            }
            Limits { memory: Some(most), .. } if self.bytes_needed() > most => {
                let (remembered, most) = (counted(self.len(), "document"), display_size(most as usize));
                full(
                    format!("remembering {remembered} takes more than {most} (`memory`)"),
                    "; an index in a file (`index`) takes less memory",
                )
            }
            _ if self.tables.places.len() >= u32::MAX as usize => {
                Err(Error::Full("4,294,967,295 documents are remembered, and no index holds more".into()))
            }
            _ => Ok(()),
        }
    }

    /// Forgets documents that are too old. The tables are renewed when most of their content is forgotten, of small ones only if they take
    /// half of the memory that is allowed; or when skipping what is forgotten has cost as much.
    fn forget(&mut self, now: u64) -> Result<(), Error> {
        let is_worthwhile = self.remembered.forget(now) || self.remembered.is_skipped_often();
        if self.renewal.is_none()
            && (is_worthwhile || self.remembered.is_mostly_stale() && self.takes_half_of_its_memory())
        {
            self.begin_renewal();
        }
        self.renew(now)
    }

    /// Where the decisions are that can be repeated, if the end of the log is a part with decisions.
    fn notes(&self) -> Option<Notes> {
        self.noted.as_ref().map(|noted| Notes { place: noted.first(), follow: noted.follow() })
    }

    /// Works on the tables.
    fn with_tables<T>(&mut self, work: impl FnOnce(&mut Tables, &mut State) -> T) -> T {
        let notes = self.notes();
        let mut state = State { log: &mut self.log, remembered: &self.remembered, notes };
        work(&mut self.tables, &mut state)
    }

    fn entering(&mut self) -> Entering<'_> {
        let notes = self.notes();
        Entering {
            algorithm: &*self.algorithm,
            tables: &mut self.tables,
            log: &mut self.log,
            remembered: &mut self.remembered,
            notes,
        }
    }

    /// Begins to build new tables.
    fn begin_renewal(&mut self) {
        let disk = self.tables.disk.as_ref().map(Disk::successor);
        let (only_similar, memory) = (!matches!(self.mode, Mode::Nearest(_)), self.tables.memory());
        let mut tables =
            Tables::new(&*self.algorithm, &self.signing.spec, only_similar, renewal::part_of(memory), disk);
        tables.dropped = Limits { window: self.limits.window, expire: self.limits.expire, ..Limits::default() };
        (tables.hot.from, tables.has_names) = (self.tables.hot.from, self.tables.has_names);
        self.renewal = Some(Box::new(Renewal::new(tables, &self.remembered)));
    }

    /// Copies a few documents to the new tables, if there are some, which take the place of the old ones when they have all.
    fn renew(&mut self, now: u64) -> Result<(), Error> {
        let Some(mut renewal) = self.renewal.take() else { return Ok(()) };
        let is_complete = match renewal.copy_some(&self.tables, &self.remembered, &mut self.log, &*self.algorithm) {
            // Rebuilding leaves out what is forgotten as well. The document that is decided on may be remembered already, and would be a copy
            // of itself if it was decided on again.
            Err(error) if are_tables_damaged(&error) => return self.restore(),
            copied => copied?,
        };
        // A checkpoint that is being saved names the files of the old tables.
        if !is_complete || self.tables.disk.as_ref().is_some_and(Disk::is_saving) && !renewal.is_due(now) {
            self.renewal = Some(renewal);
            return Ok(());
        }
        self.tables.wait_for_saving();
        renewal.replace(&mut self.tables, &mut self.remembered);
        self.remembered.forget(now);
        self.log.drop_before(self.tables.places.first().copied().unwrap_or(self.log.len()));
        Ok(())
    }

    /// Copies all that is left.
    fn end_renewal(&mut self, now: u64) -> Result<(), Error> {
        while self.renewal.is_some() {
            self.tables.wait_for_saving();
            self.renew(now)?;
        }
        Ok(())
    }

    /// Rebuilds the tables from the log.
    fn restore(&mut self) -> Result<(), Error> {
        if let Some(disk) = &mut self.tables.disk {
            disk.clear();
            disk.forget_checkpoint();
        }
        self.were_damaged = true;
        self.rebuild()
    }

    /// Rebuilds the tables from the documents that are not forgotten.
    fn rebuild(&mut self) -> Result<(), Error> {
        self.renewal = None;
        let places = std::mem::take(&mut self.tables.places);
        let staying = self.remembered.restart();
        let places: Vec<u64> = staying.into_iter().map(|document| places[document as usize]).collect();
        self.tables.clear();
        let was_whole = std::mem::replace(&mut self.tables.is_whole, false);
        self.tables.dropped = Limits { window: self.limits.window, expire: self.limits.expire, ..Limits::default() };
        self.log.drop_before(places.first().copied().unwrap_or(self.log.len()));
        for place in places {
            let record = self.log.read(place)?;
            self.entering().remember(place, &record)?;
        }
        self.tables.is_whole = was_whole;
        Ok(())
    }

    /// Forgets the documents at these places.
    fn remove_places(&mut self, places: &[u64]) {
        self.renewal = None;
        places.iter().for_each(|&place| self.remembered.remove_at(&self.tables.places, place));
    }
}

fn no_checkpoint(error: &dyn fmt::Display) -> String {
    format!("the index is complete, but opening it will take longer, because there is no new checkpoint: {error}")
}

#[cfg(test)]
mod tests;
