//! The online index of a stream: the documents that passed, found again by their keys.
//!
//! ```text
//! sign      text → tokens → features → fingerprint → keys     on any thread      ([`Index::signer`], signature.rs)
//! decide    keys → candidates → the most similar one           one at a time      ([`Index::decide`])
//! keep      the record of a document that passes               log, then tables   (log.rs, table.rs)
//! ```
//!
//! Decisions are as if documents came one by one: each passes unless one that passed before it is similar enough. A
//! scan with `--emit verdicts --keep first` keeps the same documents.
//!
//! Only the log matters: records one after the other, each with a checksum. A record at its end that a crash left
//! incomplete is cut off and reported. Damage before the part that is known to have been on the disk is an error.
//!
//! The tables that find records are in memory, and every so often what is new in them is also written to files, in
//! segments of consecutive documents. Beyond a bound they leave the memory. Segments are sorted, written and merged on
//! threads of their own (disk.rs, flush.rs, segment.rs), so that decisions do not wait. They are kept beside the log as a
//! checkpoint (checkpoint.rs): opening an index reads that, and of the log only what came after it. Tables that are
//! missing or damaged are made again of the log.
//!
//! Where sets are compared, the documents of a key that many have (pages of one template) are searched by the elements
//! that are rare among them (hot.rs), so that a decision looks at few of them. Such a document takes memory for those
//! elements too: some 16 bytes for each of a fifth of its set at a threshold of 0.8.
//!
//! Of a key that very many documents have, the latest are compared ([`MOST_OF_A_KEY`]); a decision says so if a similar
//! document may have been missed ([`Decision::Crowded`]). Tables of bits of fingerprints are chosen by the expected number
//! of documents ([`Size`]). They are made of the fingerprints when the log is opened, so an index opens with any of them.
//!
//! A run that forgets also logs its decisions, so that it can continue after an interruption as if there had been none
//! (repeat.rs). A window of documents counts those that are in the index. Removed documents do not count, so that
//! compacting changes nothing; expired ones count, as they did before they expired. Each document expires by its own
//! time, independent of the others.
//!
//! Memory per document, for MinHash with 16 keys: some 500 bytes while its postings are in memory. Once they are in
//! files: 8 bytes for its place in the log, and 12 bits for each of its keys and its id, 34 bytes in all.

mod checkpoint;
mod coded;
mod crowded;
mod disk;
mod entry;
mod file;
mod frame;
mod header;
mod hot;
mod log;
mod maintain;
mod nearest;
mod options;
mod outlines;
mod plan;
mod reopen;
mod repeat;
mod segment;
mod shape;
mod signature;
mod stored;
mod tables;

pub use crowded::{MOST_OF_A_KEY, crowded_keys};
pub use file::FORMAT_VERSION;
pub use header::{Header, header};
pub use maintain::{
    Compacted, Outdated, Removed, StoredDocument, Summary, compact, distribution, export, inspect, remove,
};
pub use nearest::{Nearest, Neighbour, Wanted};
pub use options::{Limits, Mode, Options, Sync};
pub use plan::{MEDIAN_TOKENS, Plan, Seed, Size};
pub use signature::{Signature, Signer};
pub use stored::Repair;

use crate::algorithm::{Algorithm, CompareOn, Spec};
use crate::error::Error;
use crate::hamming::Layout;
use crate::hamming::cost::{INDEX, Rates};
use crate::hash::combine;
use crate::kernel::{Level, within::within};
use crate::outline::{can_reach, jaccard_at_most, parities};
use crate::similarity::{Similarity, Threshold};
use crowded::MOST_WORDS;
use disk::Disk;
use entry::Record;
use file::cannot_read;
use header::seed_of;
use log::Log;
use plan::Signing;
use reopen::{Beside, reopen};
use repeat::{Past, Repetition, Tail};
use serde_json::Value;
use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};
use std::fmt;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tables::{State, Tables, disk_of};

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
    /// key with more others than are compared ([`Limits::candidates`]): only the latest were. It may be a near-duplicate.
    Crowded,
    /// It passes, because it has too few features to be compared.
    Featureless,
    /// It is a near-duplicate of one that passed.
    Duplicate {
        /// The id of the earlier document.
        of: String,
        /// Their exact similarity.
        similarity: Similarity,
        /// Whether it shares a key with more documents than were compared ([`Limits::candidates`]): the earlier document
        /// is the most similar of the latest ones, and others may be more similar.
        is_capped: bool,
    },
    /// No decision, but the most similar documents; with [`Mode::Nearest`].
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
    fn add(&mut self, time: Duration) {
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

/// The index.
pub struct Index {
    signing: Signing,
    algorithm: Arc<dyn Algorithm>,
    /// The threshold for ruling out pairs by their outlines, if there is one.
    jaccard: Option<Threshold>,
    log: Log,
    limits: Limits,
    sync: Sync,
    mode: Mode,
    /// What finds documents.
    tables: Tables,
    /// The times of the documents that have not expired, in seconds, the oldest first; only if documents expire.
    times: BinaryHeap<Reverse<(u32, u32)>>,
    /// The bounds [`MOST_OF_A_KEY`] and [`MOST_WORDS`], which tests lower.
    most_of_a_key: usize,
    most_words: usize,
    /// When all fingerprints are compared, if fingerprints within a distance are sought.
    ordered: Option<Ordered>,
    /// Documents below this number are forgotten.
    forgotten: u32,
    /// The other forgotten documents: those that were removed, and the expired ones of the rest, with their times.
    removed: BTreeSet<u32>,
    /// The documents below `forgotten` that were removed: another run may remember more.
    removed_before: Vec<u32>,
    expired: BTreeMap<u32, u32>,
    /// All documents below this number are forgotten.
    gone: u32,
    /// The last time of the clock.
    now: u64,
    /// Whether the end of the log is a part with decisions, and where this begins.
    is_noted: bool,
    notes_begin: u64,
    /// The decisions before an interruption, as long as they may be fed again.
    repetition: Option<Repetition>,
    /// The number of documents that shared a key with more documents than were compared.
    capped: u64,
    pace: Pace,
    /// A buffer.
    candidates: Vec<u32>,
    was_interrupted: bool,
    /// Why the checkpoint at the end of the run was not made.
    failed_checkpoint: Option<String>,
    /// Whether tables on the disk had changed, and were made again.
    were_damaged: bool,
    /// Whether it is in a file.
    is_stored: bool,
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
        let options = Options { limits, sync: Sync::Off, ..Options::default() };
        Self::with_log(plan.for_memory(), Log::in_memory(), &options, None)
    }

    /// Opens the index in a file for signatures of this plan, or creates it unless it is only queried. An index with
    /// signatures made in another way is refused. The seed of a new index is drawn as [`Seed`] describes. An incomplete end
    /// is cut off, but only ignored where nothing is remembered, and is returned.
    ///
    /// # Errors
    /// The file cannot be read or written, is not an index, was made with other settings, has another writer, or is
    /// damaged.
    ///
    /// # Cost
    /// With a checkpoint: 8 bytes of it are read for each document and 12 bits for each of its keys, and what the log has
    /// since (at most a quarter of the documents, or 131,072; nothing after a run that ended by [`seal`](Self::seal)).
    /// Without one, the log is read once.
    pub fn open(path: &Path, plan: &Plan, options: &Options) -> Result<(Self, Option<Repair>), Error> {
        for with_checkpoint in [true, false] {
            if let Some(opened) = Self::open_from(path, plan, options, with_checkpoint)? {
                return Ok(opened);
            }
        }
        unreachable!("without a checkpoint it has all documents")
    }

    /// `None` if the checkpoint does not have documents that are remembered.
    fn open_from(
        path: &Path,
        plan: &Plan,
        options: &Options,
        with_checkpoint: bool,
    ) -> Result<Option<(Self, Option<Repair>)>, Error> {
        let asked = options.mode.only_reads();
        let new = || Value::Object(plan.for_file(None).spec.identity());
        let (log, mut stored) = if asked { Log::open_to_read(path) } else { Log::open(path, new) }?;
        let signing = plan.for_file(seed_of(&stored.header));
        stored.check(&Value::Object(signing.spec.identity()))?;
        stored.reads.shape = stored.reads.shape.and(signing.algorithm.compare_on());
        let mut index = Self::with_log(signing, log, options, Some(disk_of(path, options)));
        let mut tail = Tail::new(if index.is_noting() { index.most_repeated() } else { 0 });
        if let Some(disk) = index.tables.disk.as_mut().filter(|_| !with_checkpoint && !asked) {
            disk.forget_checkpoint();
        } else if with_checkpoint
            && let Some(Beside { times, removed }) =
                reopen(path, &mut index.tables, &options.limits, &mut stored, &mut tail)
        {
            index.times = times.into_iter().zip(0..).map(Reverse).collect();
            index.removed = removed.into_iter().collect();
        }
        index.log.has_grown_to(stored.length);
        let mut misses_some = false;
        let end = stored.each(|place, entry, _| {
            tail.read(place, &entry);
            // Without those that were removed since, documents are in the window that its tables do not have.
            misses_some |= matches!(entry, entry::Entry::Removed(_)) && index.tables.dropped.window.is_some();
            match entry {
                entry::Entry::Document(record) => index.remember(place, &record)?,
                entry::Entry::Removed(places) => index.remove_places(&places),
                entry::Entry::Notes(_) | entry::Entry::Synced => {}
            }
            Ok(())
        })?;
        if misses_some {
            return Ok(None);
        }
        if !asked {
            index.log.start_at(&end)?;
        }
        (index.is_noted, index.notes_begin) = (tail.is_on, tail.begin);
        index.is_stored = true;
        index.was_interrupted = end.torn.is_some() || !end.is_marked && !index.tables.places.is_empty();
        // A document that was dropped for a meanwhile removed one is decided on again.
        let is_there = |place: u64| !tail.is_removed(place);
        let past = tail.past().filter(|past| past.original.is_none_or(is_there)).collect();
        index.repetition = Repetition::new(past);
        index.forget(0)?;
        index.tables.is_whole = !asked;
        Ok(Some((index, end.torn)))
    }

    fn with_log(signing: Signing, log: Log, options: &Options, disk: Option<Disk>) -> Self {
        let only_similar = !matches!(options.mode, Mode::Nearest(_));
        let tables = Tables::new(&*signing.algorithm, &signing.spec, only_similar, options.tables, disk);
        let layout = signing.algorithm.layout();
        Index {
            jaccard: signing.algorithm.profile().jaccard,
            algorithm: Arc::clone(&signing.algorithm),
            signing,
            log,
            limits: options.limits,
            sync: options.sync,
            mode: options.mode,
            tables,
            times: BinaryHeap::new(),
            most_of_a_key: options.limits.candidates.unwrap_or(MOST_OF_A_KEY),
            most_words: MOST_WORDS,
            ordered: layout.as_ref().map(Ordered::new),
            forgotten: 0,
            removed: BTreeSet::new(),
            removed_before: Vec::new(),
            expired: BTreeMap::new(),
            gone: 0,
            now: 0,
            is_noted: false,
            notes_begin: 0,
            repetition: None,
            capped: 0,
            pace: Pace::default(),
            candidates: Vec::new(),
            was_interrupted: false,
            failed_checkpoint: None,
            were_damaged: false,
            is_stored: false,
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

    /// The number of documents that are remembered.
    pub fn len(&self) -> u64 {
        self.counted() - self.expired.len() as u64
    }

    /// The number of documents that count for a window, including expired ones.
    fn counted(&self) -> u64 {
        self.tables.places.len() as u64 - u64::from(self.forgotten) - self.removed.len() as u64
    }

    /// Whether the last run that passed a document was interrupted, so that its last decisions may be fed again.
    pub fn was_interrupted(&self) -> bool {
        self.was_interrupted
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

    /// Returns the warnings of the algorithm after a stream of `documents` documents, of which `featureless` have too few
    /// features; one sentence each.
    pub fn warnings(&self, documents: u64, featureless: u64) -> Vec<String> {
        let mut warnings = self.algorithm.warnings(documents, featureless);
        if self.were_damaged {
            let message =
                "the files of the index's tables had changed on the disk; the tables were made again of the index";
            warnings.push(message.into());
        }
        warnings.extend(self.failed_checkpoint.as_ref().map(|error| {
            format!(
                "the index is complete, but opening it will take longer, because there is no new checkpoint: {error}"
            )
        }));
        warnings
    }

    /// The maximum number of documents under a key that are compared.
    pub fn most_of_a_key(&self) -> usize {
        self.most_of_a_key
    }

    /// The time that decisions took.
    pub fn pace(&self) -> Pace {
        self.pace
    }

    /// Bytes of the log.
    pub fn bytes_stored(&self) -> u64 {
        self.log.len()
    }

    /// The approximate memory, in bytes.
    pub fn bytes_held(&self) -> u64 {
        8 * (self.times.capacity() + 2 * self.expired.len()) as u64
            + self.repetition.as_ref().map_or(0, Repetition::bytes_held)
            + self.tables.bytes_held()
            + self.log.bytes_held()
    }

    /// Decides on a document, at a time in seconds. A document that passes is remembered from now on. It is on the disk
    /// after the next [`commit`](Self::commit), and should not leave before that.
    ///
    /// Cost: a look-up for each key, and a comparison for each document that shares one.
    ///
    /// # Errors
    /// The log cannot be read or written, or a limit is reached.
    pub fn decide(&mut self, id: &str, signature: &Signature, now: u64) -> Result<Decision, Error> {
        let started = Instant::now();
        let mut decision = self.decision(id, signature, now);
        if decision.as_ref().is_err_and(are_tables_damaged) {
            decision = self.restore().and_then(|()| self.decision(id, signature, now));
        }
        self.pace.add(started.elapsed());
        decision
    }

    fn decision(&mut self, id: &str, signature: &Signature, now: u64) -> Result<Decision, Error> {
        if let Some(decision) = self.repeated(id, signature)? {
            return Ok(decision);
        }
        if let Mode::Nearest(wanted) = self.mode {
            return self.nearest(signature, wanted, now).map(Decision::Nearest);
        }
        self.forget(now)?;
        if self.is_known(id, signature)? {
            self.note(id, signature, None);
            return Ok(Decision::Known);
        }
        let mut is_crowded = false;
        if self.mode != Mode::Add && !signature.featureless {
            let Found { best, capped } = self.most_similar(signature)?;
            if let Some((document, similarity)) = best {
                let place = self.tables.places[document as usize];
                let of = self.log.read(place)?.id;
                self.note(id, signature, Some(place));
                return Ok(Decision::Duplicate { of, similarity, is_capped: capped });
            }
            is_crowded = capped;
        }
        if !self.mode.only_reads() {
            self.keep(id, signature, now)?;
        }
        Ok(match signature.featureless {
            true => Decision::Featureless,
            false if is_crowded => Decision::Crowded,
            false => Decision::Fresh,
        })
    }

    /// The most similar documents, at a time in seconds. Nothing is remembered.
    ///
    /// # Errors
    /// The log or the tables cannot be read.
    ///
    /// # Cost
    /// A look-up for each key, and a comparison for each document that shares one, or for every document. Of sets, only
    /// those are read whose sizes and outlines allow them to be among the most similar. Memory: 16 bytes for each document
    /// that may be compared.
    pub fn nearest(&mut self, signature: &Signature, wanted: Wanted, now: u64) -> Result<Nearest, Error> {
        let nearest = self.find_nearest(signature, wanted, now);
        if nearest.as_ref().is_err_and(are_tables_damaged) {
            self.restore()?;
            return self.find_nearest(signature, wanted, now);
        }
        nearest
    }

    fn find_nearest(&mut self, signature: &Signature, wanted: Wanted, now: u64) -> Result<Nearest, Error> {
        self.forget(now)?;
        if signature.featureless {
            return Ok(Nearest { is_featureless: true, ..Nearest::default() });
        }
        let (mut candidates, mut is_capped) = (std::mem::take(&mut self.candidates), false);
        match wanted.is_exhaustive {
            true => self.fill_with_all(&mut candidates),
            false => is_capped = self.find_candidates(signature, &mut candidates)?,
        }
        let mut bounded = Vec::with_capacity(candidates.len());
        for &document in &candidates {
            bounded.push((self.most_possible(document, signature)?, document));
        }
        self.candidates = candidates;
        let algorithm = Arc::clone(&self.algorithm);
        let best = nearest::ranked(bounded, wanted.most, |document| {
            let stored = self.evidence(document)?;
            Ok(if stored.is_empty() { None } else { algorithm.similarity(&stored, &signature.evidence) })
        })?;
        let neighbour = |(similarity, document)| {
            let id = self.log.read(self.tables.places[document as usize])?.id;
            Ok(Neighbour { id, similarity, distance: algorithm.distance(similarity) })
        };
        let neighbours = best.into_iter().map(neighbour).collect::<Result<_, Error>>()?;
        Ok(Nearest { neighbours, is_featureless: false, is_capped })
    }

    /// An upper bound of the similarity of a document.
    fn most_possible(&mut self, document: u32, signature: &Signature) -> Result<f64, Error> {
        if self.jaccard.is_none() || self.algorithm.compare_on() == CompareOn::Fingerprints {
            return Ok(1.0);
        }
        let (size, own) = self.tables.outlines.get(document).map_err(cannot_read)?;
        Ok(jaccard_at_most((size, &own), (signature.evidence.len() as u32, &signature.parities)))
    }

    /// What is compared of a document.
    fn evidence(&mut self, document: u32) -> Result<Cow<'_, [u64]>, Error> {
        if self.algorithm.compare_on() == CompareOn::Fingerprints {
            return Ok(Cow::Borrowed(self.fingerprint(document)));
        }
        Ok(Cow::Owned(self.log.read(self.tables.places[document as usize])?.evidence))
    }

    /// Whether this run logs its decisions, so that they can be repeated after an interruption.
    fn is_noting(&self) -> bool {
        let forgets = self.limits.window.is_some() || self.limits.expire.is_some();
        self.mode == Mode::Filter && self.log.is_stored() && forgets
    }

    /// The maximum number of decisions of an interrupted run that are known.
    fn most_repeated(&self) -> usize {
        let window = usize::try_from(self.limits.window.unwrap_or(0)).unwrap_or(usize::MAX);
        window.saturating_mul(2).saturating_add(repeat::DECISIONS_KEPT)
    }

    /// Logs whether the decisions that follow are logged.
    fn begin_notes(&mut self) {
        let is_noting = self.is_noting();
        if self.mode == Mode::Filter && self.is_noted != is_noting {
            self.notes_begin = self.log.mark(if is_noting { repeat::BEGIN } else { repeat::END });
            self.is_noted = is_noting;
        }
    }

    fn note(&mut self, id: &str, signature: &Signature, original: Option<u64>) {
        if self.is_noting() {
            self.begin_notes();
            self.log.note(Past { name: repeat::name(id, signature.sequence), original });
        }
    }

    /// The decision on a document before an interruption, if it is fed again.
    fn repeated(&mut self, id: &str, signature: &Signature) -> Result<Option<Decision>, Error> {
        let Some(repetition) = &mut self.repetition else { return Ok(None) };
        let past = repetition.next(repeat::name(id, signature.sequence));
        if past.is_none() || repetition.is_over() {
            self.repetition = None;
        }
        match past {
            None => Ok(None),
            Some(Past { original: None, .. }) => Ok(Some(Decision::Known)),
            Some(Past { original: Some(place), .. }) => {
                let original = self.log.read(place)?;
                let similarity = self.algorithm.compare(&original.evidence, &signature.evidence);
                if similarity.is_none() {
                    // Another document with the same hash.
                    self.repetition = None;
                }
                let of = original.id;
                Ok(similarity.map(|similarity| Decision::Duplicate { of, similarity, is_capped: false }))
            }
        }
    }

    fn keep(&mut self, id: &str, signature: &Signature, now: u64) -> Result<(), Error> {
        self.check_limits()?;
        self.make_room(signature.tags.len())?;
        self.begin_notes();
        let record = Record::new(id, signature, now, self.mode == Mode::Add, &*self.algorithm);
        let place = self.log.append(&record)?;
        self.enter(place, &record)?;
        self.forget(now)?;
        if self.sync == Sync::Always {
            self.log.commit(true)?;
        }
        Ok(())
    }

    /// Writes the documents that passed to the log. Afterwards their records may leave.
    ///
    /// # Errors
    /// The log cannot be written.
    pub fn commit(&mut self) -> Result<(), Error> {
        match self.mode {
            Mode::Query | Mode::Nearest(_) => Ok(()),
            Mode::Filter | Mode::Add => self.log.commit(self.sync != Sync::Off),
        }
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
            Mode::Filter | Mode::Add => {
                // All decided records have left, unless decisions in the log have not been repeated yet.
                if is_complete && self.is_noting() && self.is_noted && self.repetition.is_none() {
                    self.log.mark(repeat::END);
                    self.is_noted = false;
                }
                // The index is whole without it.
                let mut checkpoint = self.with_tables(Tables::begin_last_checkpoint);
                match is_complete {
                    true => self.log.seal()?,
                    false => self.log.commit(false).and_then(|()| self.log.commit(true))?,
                }
                checkpoint =
                    checkpoint.and_then(|()| self.with_tables(|tables, state| tables.end_last_checkpoint(state)));
                self.failed_checkpoint = checkpoint.err().map(|error| error.to_string());
                Ok(())
            }
        }
    }

    fn check_limits(&self) -> Result<(), Error> {
        let full = |what: String| {
            Err(Error::Full(format!(
                "the index is full: {what}; `window` or `expire` make it forget old documents, a larger limit lets it grow"
            )))
        };
        match self.limits {
            Limits { max_documents: Some(most), window, .. } if self.len() >= most && window != Some(self.len()) => {
                full(format!("it holds {most} documents (`max-docs`)"))
            }
            Limits { memory: Some(most), .. } if self.bytes_held() > most => {
                full(format!("it takes more than {most} bytes of memory (`memory`)"))
            }
            _ if self.tables.places.len() >= u32::MAX as usize => full("it holds 4,294,967,295 documents".into()),
            _ => Ok(()),
        }
    }

    /// Forgets documents that are too old. Rebuilds the tables when most of their content is forgotten.
    fn forget(&mut self, now: u64) -> Result<(), Error> {
        self.expire(now);
        if let Some(window) = self.limits.window {
            while self.counted() > window {
                match self.removed.remove(&self.forgotten) {
                    true => self.removed_before.push(self.forgotten),
                    false => _ = self.expired.remove(&self.forgotten),
                }
                self.forgotten += 1;
            }
        }
        self.gone = self.gone.max(self.forgotten);
        while self.removed.contains(&self.gone) || self.expired.contains_key(&self.gone) {
            self.gone += 1;
        }
        if self.stale() > self.tables.places.len() / 2 + STALE_ALLOWED {
            self.rebuild()?;
            self.expire(now);
        }
        Ok(())
    }

    /// The number of stale documents in the tables. With a window, expired ones count too, up to the first document
    /// that is remembered; they stay until the window has passed them.
    fn stale(&self) -> usize {
        match self.limits.window {
            Some(_) => self.gone as usize,
            None => self.forgotten as usize + self.expired.len(),
        }
    }

    /// Expires documents that are too old by this clock. If the clock goes back, expired documents that are not too old
    /// are remembered again, as long as they are in the tables.
    fn expire(&mut self, now: u64) {
        let Some(expire) = self.limits.expire else { return };
        let is_old = |time: u32| u64::from(time).saturating_add(expire) <= now;
        if now < self.now {
            let times = &mut self.times;
            self.expired.retain(|&document, &mut time| {
                if !is_old(time) {
                    times.push(Reverse((time, document)));
                }
                is_old(time)
            });
            self.gone = self.forgotten;
        }
        self.now = now;
        while let Some(&Reverse((time, document))) = self.times.peek()
            && is_old(time)
        {
            self.times.pop();
            if self.has(document) {
                self.expired.insert(document, time);
            }
        }
    }

    /// Works on the tables.
    fn with_tables<T>(&mut self, work: impl FnOnce(&mut Tables, &mut State) -> T) -> T {
        let notes = self.is_noted.then_some(self.notes_begin);
        let mut state = State {
            log: &mut self.log,
            removed: &self.removed,
            removed_before: &self.removed_before,
            notes,
            forgotten: self.forgotten,
        };
        work(&mut self.tables, &mut state)
    }

    /// Moves tables to the disk before they exceed their memory, before a document with so many keys comes.
    fn make_room(&mut self, keys: usize) -> Result<(), Error> {
        self.with_tables(|tables, state| tables.make_room(keys, state))
    }

    /// Makes the tables again, of the log.
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
        let keeps_expired = self.limits.window.is_some();
        let first = if keeps_expired { self.gone } else { self.forgotten };
        let mut places = self.tables.places.split_off(first as usize);
        let (removed, expired) = (std::mem::take(&mut self.removed), std::mem::take(&mut self.expired));
        let mut number = first..;
        places.retain(|_| {
            let number = number.next().expect("numbers do not end");
            !removed.contains(&number) && (keeps_expired || !expired.contains_key(&number))
        });
        self.tables.clear();
        self.times = BinaryHeap::new();
        (self.forgotten, self.gone, self.removed_before) = (0, 0, Vec::new());
        let was_whole = std::mem::replace(&mut self.tables.is_whole, false);
        self.tables.dropped = Limits { window: self.limits.window, expire: self.limits.expire, ..Limits::default() };
        self.log.drop_before(places.first().copied().unwrap_or(self.log.len()));
        for place in places {
            let record = self.log.read(place)?;
            self.remember(place, &record)?;
        }
        self.tables.is_whole = was_whole;
        Ok(())
    }

    /// Whether a document is still remembered. A damaged table may have any document.
    fn has(&self, document: u32) -> bool {
        (document >= self.forgotten && (document as usize) < self.tables.places.len())
            && !self.removed.contains(&document)
            && !self.expired.contains_key(&document)
    }

    /// Forgets the documents at these places.
    fn remove_places(&mut self, places: &[u64]) {
        for place in places {
            match self.number_of(*place) {
                Some(document) if document >= self.forgotten => _ = self.removed.insert(document),
                Some(document) => self.removed_before.push(document),
                None => {}
            }
        }
    }

    /// The number of the document at a place.
    fn number_of(&self, place: u64) -> Option<u32> {
        self.tables.places.binary_search(&place).ok().map(|document| document as u32)
    }

    fn is_known(&mut self, id: &str, signature: &Signature) -> Result<bool, Error> {
        let mut candidates = std::mem::take(&mut self.candidates);
        candidates.clear();
        let tag = id_tag(id, signature.sequence);
        let counted = |document| self.has(document);
        self.tables.ids.find(tag, MOST_OF_A_KEY, counted, |document| candidates.push(document)).map_err(cannot_read)?;
        let mut known = false;
        for &document in &candidates {
            let record = self.log.read(self.tables.places[document as usize])?;
            // An added document never passed, and does not pass now.
            // An index without a file does not outlive the run, so that nothing is fed again: it is a copy.
            let may_repeat = self.is_stored || signature.featureless;
            let counts = !record.is_added && may_repeat || self.mode == Mode::Add;
            known |= record.id == id && record.sequence == signature.sequence && counts;
        }
        self.candidates = candidates;
        Ok(known)
    }

    /// Fills `candidates` with the documents that share a key, ascending; or with those within the distance alone, if that
    /// takes less time. Returns whether some were left out, because too many share a key.
    fn find_candidates(&mut self, signature: &Signature, candidates: &mut Vec<u32>) -> Result<bool, Error> {
        candidates.clear();
        let most = self.most_candidates();
        let capped = most > 0 && self.look_up(signature, most, candidates)?;
        // Their number is only known now, because fingerprints need not be distributed like random ones.
        if candidates.len() >= most || capped && self.compares_all() {
            self.fill_with_near(&signature.evidence, candidates);
            return Ok(false);
        }
        if capped && self.ordered.is_some() {
            self.add_copies(&signature.evidence, candidates)?;
        }
        self.capped += u64::from(capped);
        candidates.sort_unstable();
        candidates.dedup();
        Ok(capped)
    }

    /// Adds the documents that share a key to `candidates`, and stops at `most`. Returns whether some were left out, because
    /// too many share a key.
    fn look_up(&mut self, signature: &Signature, most: usize, candidates: &mut Vec<u32>) -> Result<bool, Error> {
        signature.tags.iter().for_each(|&tag| self.tables.keys.fetch(tag));
        let counted = |document| self.has(document);
        let mut capped =
            self.tables.hot.find(signature, self.most_of_a_key, counted, candidates).map_err(cannot_read)?;
        for &tag in signature.tags.iter().filter(|&&tag| !self.tables.hot.is_hot(tag)) {
            let found = self.tables.keys.find(tag, self.most_of_a_key, counted, |document| candidates.push(document));
            capped |= found.map_err(cannot_read)?;
            if candidates.len() >= most || capped && self.compares_all() {
                break;
            }
        }
        Ok(capped)
    }

    /// The number of candidates from which all fingerprints are compared instead: 0 if no keys are looked up.
    fn most_candidates(&self) -> usize {
        let words = self.tables.fingerprints.len();
        match &self.ordered {
            // Neighbours are also those that share a key and are not within the distance.
            Some(ordered) if !matches!(self.mode, Mode::Nearest(_)) => ordered.most_candidates(words),
            _ => usize::MAX,
        }
    }

    /// Fills `candidates` with all documents that are remembered.
    fn fill_with_all(&self, candidates: &mut Vec<u32>) {
        candidates.clear();
        candidates.extend((self.gone..self.tables.places.len() as u32).filter(|&document| self.has(document)));
    }

    /// Fills `candidates` with all documents within the distance of a fingerprint; with all documents where neighbours are
    /// wanted.
    fn fill_with_near(&self, fingerprint: &[u64], candidates: &mut Vec<u32>) {
        let distance = match &self.ordered {
            Some(ordered) if !matches!(self.mode, Mode::Nearest(_)) => ordered.distance,
            _ => return self.fill_with_all(candidates),
        };
        candidates.clear();
        let (words, ends) = (fingerprint.len() as u64, &self.tables.ends);
        let start = self.gone.checked_sub(1).map_or(0, |before| ends[before as usize]);
        // Documents without features have no words, so that the number of a fingerprint is not that of its document.
        let document = |number: usize| match ends.len() as u64 * words == self.tables.fingerprints.len() as u64 {
            true => start / words + number as u64,
            false => ends.partition_point(|&end| end < start + (number as u64 + 1) * words) as u64,
        };
        within(Level::current(), &self.tables.fingerprints[start as usize..], fingerprint, distance, &mut |number| {
            let document = document(number) as u32;
            if self.has(document) {
                candidates.push(document);
            }
        });
    }

    /// The most similar document at or above the threshold; the earliest of several.
    fn most_similar(&mut self, signature: &Signature) -> Result<Found, Error> {
        let mut candidates = std::mem::take(&mut self.candidates);
        let capped = self.find_candidates(signature, &mut candidates)?;
        let mut best: Option<(u32, Similarity)> = None;
        for &document in &candidates {
            let similarity = self.similarity(document, signature)?;
            if similarity.is_some_and(|similarity| best.is_none_or(|(_, best)| similarity.value() > best.value())) {
                best = similarity.map(|similarity| (document, similarity));
            }
            // No later document is more similar.
            if best.is_some_and(|(_, similarity)| similarity.value() >= 1.0) {
                break;
            }
        }
        self.candidates = candidates;
        Ok(Found { best, capped })
    }

    /// Whether all fingerprints are compared where keys are crowded.
    fn compares_all(&self) -> bool {
        self.ordered.is_some() && self.tables.fingerprints.len() <= self.most_words
    }

    /// Adds the latest documents with this fingerprint to the candidates.
    fn add_copies(&self, fingerprint: &[u64], candidates: &mut Vec<u32>) -> Result<(), Error> {
        let Some(copies) = &self.tables.copies else { return Ok(()) };
        let counted = |document| self.has(document);
        let found =
            copies.find(copy_tag(fingerprint), self.most_of_a_key, counted, |document| candidates.push(document));
        found.map(drop).map_err(cannot_read)
    }

    /// The fingerprint of a document, where fingerprints are compared; empty if it has no features.
    fn fingerprint(&self, document: u32) -> &[u64] {
        let at = document as usize;
        let start = at.checked_sub(1).map_or(0, |before| self.tables.ends[before]) as usize;
        &self.tables.fingerprints[start..self.tables.ends[at] as usize]
    }

    fn similarity(&mut self, document: u32, signature: &Signature) -> Result<Option<Similarity>, Error> {
        let at = document as usize;
        if self.algorithm.compare_on() == CompareOn::Fingerprints {
            let fingerprint = self.fingerprint(document);
            // None, of a document without features, is similar to nothing.
            return Ok((!fingerprint.is_empty())
                .then(|| self.algorithm.compare(fingerprint, &signature.evidence))
                .flatten());
        }
        let (size, own) = self.tables.outlines.get(document).map_err(cannot_read)?;
        if !can_reach(self.jaccard, (size, &own), (signature.evidence.len() as u32, &signature.parities)) {
            return Ok(None);
        }
        let stored = self.log.read(self.tables.places[at])?;
        let similarity = self.algorithm.compare(&stored.evidence, &signature.evidence);
        // Hot keys are searched together, so that a document may have none of them.
        Ok(similarity.filter(|_| stored.tags.iter().any(|tag| signature.tags.contains(tag))))
    }

    /// Enters a document of the log into the tables.
    fn remember(&mut self, place: u64, record: &Record) -> Result<(), Error> {
        self.make_room(record.tags(&*self.algorithm).len())?;
        self.enter(place, record)
    }

    /// The index must have room for it.
    fn enter(&mut self, place: u64, record: &Record) -> Result<(), Error> {
        let tags = record.tags(&*self.algorithm);
        let document = self.tables.places.len() as u32;
        self.tables.places.push(place);
        let time = record.time.try_into().unwrap_or(u32::MAX);
        if self.limits.expire.is_some() {
            self.times.push(Reverse((time, document)));
        }
        if self.algorithm.compare_on() == CompareOn::Fingerprints {
            self.tables.fingerprints.extend_from_slice(&record.evidence);
            self.tables.ends.push(self.tables.fingerprints.len() as u64);
        } else {
            self.tables.outlines.push((record.evidence.len() as u32, parities(&record.evidence)));
        }
        if self.tables.disk.is_some() {
            self.tables.fresh_times.push(time);
        }
        tags.iter().for_each(|&tag| self.tables.keys.fetch(tag));
        tags.iter().for_each(|&tag| self.tables.keys.insert(tag, document));
        self.tables.hot.enter(&tags, document, &record.evidence);
        self.tables.ids.insert(id_tag(&record.id, record.sequence), document);
        if let Some(copies) = self.tables.copies.as_mut().filter(|_| !record.evidence.is_empty()) {
            copies.insert(copy_tag(&record.evidence), document);
        }
        self.watch(&tags, document)
    }

    /// Makes those keys of a document hot that too many documents have.
    fn watch(&mut self, tags: &[u32], document: u32) -> Result<(), Error> {
        if !self.tables.hot.counts(document) {
            return Ok(());
        }
        // What is moved to the disk meanwhile is not a state that an index can be opened with.
        let was_whole = std::mem::replace(&mut self.tables.is_whole, false);
        let watched = self.make_hot(tags);
        self.tables.is_whole = was_whole;
        match watched {
            // The document is in the log already. The next search makes the tables again.
            Err(error) if are_tables_damaged(&error) => Ok(()),
            watched => watched,
        }
    }

    fn make_hot(&mut self, tags: &[u32]) -> Result<(), Error> {
        for &tag in tags {
            let crowd = self.tables.hot.crowd(tag, &self.tables.keys).map_err(cannot_read)?;
            let Some(mut documents) = crowd else { continue };
            documents.retain(|&document| (document as usize) < self.tables.places.len());
            let (log, places) = (&mut self.log, &self.tables.places);
            let mut set = |document: u32| Ok::<_, Error>(log.read(places[document as usize])?.evidence.into());
            let (family, new) = self.tables.hot.families().family_for(&documents, &mut set)?;
            for &document in &new {
                self.make_room(0)?;
                let set = self.log.read(self.tables.places[document as usize])?.evidence;
                self.tables.hot.families().enter(family, document, &set);
            }
            self.tables.hot.families().add_key(tag.into(), family, new);
        }
        Ok(())
    }
}

/// Whether an error is that tables on the disk have changed, which can be made again.
fn are_tables_damaged(error: &Error) -> bool {
    matches!(error, Error::Io { error, .. } if error.kind() == io::ErrorKind::InvalidData)
}

/// What a search for similar documents found.
struct Found {
    best: Option<(u32, Similarity)>,
    /// Whether not all documents that share a key were compared.
    capped: bool,
}

/// When all fingerprints are compared, in their order in memory, instead of those under the keys of one.
#[derive(Clone, Copy, Debug)]
struct Ordered {
    /// The most bits in which those that are sought differ.
    distance: u32,
    /// The number of words of fingerprints below which no key is looked up.
    below_words: f64,
    /// What candidates cost, which tests change.
    rates: Rates,
}

impl Ordered {
    fn new(layout: &Layout) -> Self {
        let below_words = INDEX.compares_all_below(layout) * layout.bits().div_ceil(64) as f64;
        Ordered { distance: layout.distance() as u32, below_words, rates: INDEX }
    }

    /// The number of candidates from which so many words are compared instead: 0 if they always are.
    fn most_candidates(&self, words: usize) -> usize {
        if (words as f64) < self.below_words { 0 } else { self.rates.candidates_for(words).max(1) }
    }
}

/// The number of forgotten documents that may always stay in the tables.
const STALE_ALLOWED: usize = 1000;

/// The key of a document in the table of ids. It includes the tokens, because an id can repeat with different tokens.
fn id_tag(id: &str, sequence: u128) -> u32 {
    (repeat::id_hash(id, sequence) >> 32) as u32
}

/// The key of a document in the table of whole fingerprints.
fn copy_tag(fingerprint: &[u64]) -> u32 {
    (fingerprint.iter().copied().fold(0, combine) >> 32) as u32
}

#[cfg(test)]
mod tests;
