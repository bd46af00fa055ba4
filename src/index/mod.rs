//! The online index of a stream: what was let through, found again by its keys.
//!
//! ```text
//! sign      text → tokens → features → fingerprint → keys     on any thread      ([`Signer`], signature.rs)
//! decide    keys → candidates → the most similar one           one at a time      ([`Index::decide`])
//! keep      the record of a document that is let through       log, then tables   (log.rs, table.rs)
//! ```
//!
//! Decisions are as if documents came one by one: each is let through unless one that was let through before it is similar enough.
//! That is what a scan with `--emit verdicts --keep first` keeps.
//!
//! The log is all that stays: records one after the other, each with a checksum. The tables that find them are made again when the log is
//! opened; they are in memory, and beyond a bound in sorted runs on the disk. What a crash tore at the end of the log is cut off and said;
//! damage before what is known to have been on the disk is an error.
//!
//! What a run that forgets decided is in the log too, so that an interrupted one goes on as if it had not been (repeat.rs). With a window
//! of documents, those count that are there: what was removed does not, so that compacting changes nothing; what has expired does, as
//! it did before it expired. Each document expires by its own time, whatever those of others are.
//!
//! Memory, bytes a document of MinHash with 16 keys: some 400 while its postings are in memory; 8 for its place and 10 bits for each of its
//! keys and its id, 29 in all, when they are in runs.

mod coded;
mod entry;
mod file;
mod frame;
mod log;
mod maintain;
mod outlines;
mod plan;
mod repeat;
mod run;
mod shape;
mod signature;
mod stored;
mod table;

pub use file::FORMAT_VERSION;
pub use maintain::{Compacted, Entry, Outdated, Removed, Summary, compact, header, inspect, remove};
pub use plan::{MEDIAN_TOKENS, Plan};
pub use signature::{Signature, Signer};
pub use stored::Repair;

use crate::algorithm::{Algorithm, CompareOn};
use crate::error::Error;
use crate::hash::combine;
use crate::outline::{can_reach, parities};
use crate::similarity::{Similarity, Threshold};
use entry::Record;
use file::folder_of;
use log::Log;
use outlines::Outlines;
use repeat::{Past, Repetition, Tail};
use serde_json::Value;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use table::Table;
use xxhash_rust::xxh3::xxh3_64;

/// How sure it is that what was let through is remembered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sync {
    /// On the disk before anything else is decided.
    Always,
    /// On the disk before it leaves, several at a time.
    Batch,
    /// With the operating system, which writes it when it likes: a crash of the program loses nothing, a power cut may.
    Off,
}

/// What became of a document.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Decision {
    /// It is new, and is remembered from now on.
    Fresh,
    /// It was let through before, with this id and these tokens: it is let through again. Only of an index in a file, which is fed again
    /// after a crash.
    Known,
    /// It gives the algorithm nothing to compare: let through.
    Featureless,
    /// It is like one that was let through.
    Duplicate {
        /// The id of that one.
        of: String,
        /// How similar they are, exactly.
        similarity: Similarity,
    },
}

/// Limits of what is remembered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Only the last so many documents are remembered. Those that were removed do not count.
    pub window: Option<u64>,
    /// Documents are forgotten after so many seconds, each by the time at which it was let through.
    pub expire: Option<u64>,
    /// The most documents that may be remembered.
    pub max_documents: Option<u64>,
    /// The most bytes of memory that the index may take.
    pub memory: Option<u64>,
}

/// What is done with documents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// They are decided on, and those that are let through are remembered.
    #[default]
    Filter,
    /// They are decided on, and none is remembered. Another process may write to the file meanwhile.
    Query,
    /// All are remembered, whatever they are like, but those that are known.
    Add,
}

/// How an index in a file is opened.
#[derive(Clone, Debug)]
pub struct Options {
    /// Limits of what is remembered.
    pub limits: Limits,
    /// How sure it is that what was let through is remembered.
    pub sync: Sync,
    /// What is done with documents.
    pub mode: Mode,
    /// Tables go to the disk before they take more bytes of memory than this. What finds them there takes 8 bytes a document and 10 bits a key.
    pub tables: u64,
    /// Where they go. If it is not given: to the folder of the file, or to the system's folder of temporary files with [`Mode::Query`],
    /// which needs to write nowhere else.
    pub temp_dir: Option<PathBuf>,
}

impl Default for Options {
    /// No limits; on the disk before it leaves; 512 MiB of tables in memory.
    fn default() -> Self {
        Options { limits: Limits::default(), sync: Sync::Batch, mode: Mode::Filter, tables: 512 << 20, temp_dir: None }
    }
}

/// Of the documents that share a key the latest so many are looked at.
pub const MOST_OF_A_KEY: usize = 1 << 14;

/// How long decisions took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pace {
    /// How many there were.
    pub decisions: u64,
    /// All together.
    pub total: Duration,
    /// The slowest.
    pub longest: Duration,
}

impl Pace {
    fn add(&mut self, time: Duration) {
        self.decisions += 1;
        self.total += time;
        self.longest = self.longest.max(time);
    }

    /// A decision on average, since an earlier moment.
    pub fn mean_since(&self, earlier: Pace) -> Duration {
        let decisions = u32::try_from(self.decisions - earlier.decisions).unwrap_or(u32::MAX);
        (self.total - earlier.total).checked_div(decisions).unwrap_or_default()
    }
}

/// The index.
pub struct Index {
    algorithm: Arc<dyn Algorithm>,
    /// The threshold by which outlines tell documents apart, if there is one.
    jaccard: Option<Threshold>,
    log: Log,
    limits: Limits,
    sync: Sync,
    mode: Mode,
    /// Where tables go that take more than so many bytes of memory.
    folder: Option<PathBuf>,
    tables: u64,
    /// Where the record of each document is in the log.
    places: Vec<u64>,
    /// When each came, in seconds, if documents expire: those that have not, the oldest first.
    times: BinaryHeap<Reverse<(u32, u32)>>,
    /// Fingerprints back to back, if those are compared, and where each ends.
    fingerprints: Vec<u64>,
    ends: Vec<u64>,
    /// The size and the parities of each set, if sets are compared.
    outlines: Outlines,
    keys: Table,
    ids: Table,
    /// Documents below this number are forgotten.
    forgotten: u32,
    /// Of the others, those that were removed, and those of the rest that have expired, with their times.
    removed: BTreeSet<u32>,
    expired: BTreeMap<u32, u32>,
    /// All documents below this number are one of these.
    gone: u32,
    /// What the clock said last.
    now: u64,
    /// Whether the log says what was decided, at its end.
    is_noted: bool,
    /// What was decided before an interruption, as long as it may be fed again.
    repetition: Option<Repetition>,
    /// How many documents shared a key with more than are looked at.
    capped: u64,
    pace: Pace,
    /// A buffer.
    candidates: Vec<u32>,
    was_interrupted: bool,
    /// Whether it is in a file.
    is_stored: bool,
}

impl Index {
    /// An index in memory that is gone with the process.
    pub fn in_memory(plan: &Plan, limits: Limits) -> Self {
        let options = Options { limits, sync: Sync::Off, ..Options::default() };
        Self::with_log(Arc::clone(&plan.algorithm), Log::in_memory(), &options, None)
    }

    /// Opens the index in a file for signatures of this plan, or makes it unless it is only asked. An index of signatures that were made
    /// in another way is refused.
    ///
    /// # Errors
    /// The file cannot be read or written, is no index, was made with other settings, has another writer, or is damaged.
    ///
    /// # Cost
    /// The log is read once.
    pub fn open(path: &Path, plan: &Plan, options: &Options) -> Result<(Self, Option<Repair>), Error> {
        let (algorithm, header) = (Arc::clone(&plan.algorithm), &Value::Object(plan.spec().identity()));
        let asked = options.mode == Mode::Query;
        let (log, mut stored) = if asked { Log::open_to_read(path, header) } else { Log::open(path, header) }?;
        let temporary = std::env::temp_dir();
        let usual = if asked { &temporary } else { folder_of(path) };
        let folder = options.temp_dir.as_deref().unwrap_or(usual);
        stored.reads.shape = stored.reads.shape.and(algorithm.compare_on());
        let mut index = Self::with_log(algorithm, log, options, Some(folder.to_path_buf()));
        let mut tail = Tail::new(if index.is_noting() { index.most_repeated() } else { 0 });
        let end = stored.each(|place, entry, _| {
            tail.read(place, &entry);
            match entry {
                entry::Entry::Document(record) => index.remember(place, &record)?,
                entry::Entry::Removed(places) => index.remove_places(&places),
                entry::Entry::Notes(_) | entry::Entry::Synced => {}
            }
            Ok(())
        })?;
        if !asked {
            index.log.start_at(&end)?;
        }
        index.is_noted = tail.is_on;
        index.is_stored = true;
        index.was_interrupted = end.torn.is_some() || !end.is_marked && !index.places.is_empty();
        // What was dropped for a document that was removed since is decided on again.
        let is_there = |place: &u64| index.number_of(*place).is_some_and(|document| !index.removed.contains(&document));
        let past = tail.past().filter(|past| past.original.as_ref().is_none_or(is_there)).collect();
        index.repetition = Repetition::new(past);
        index.forget(0)?;
        // Who only reads cuts nothing off.
        Ok((index, end.torn.filter(|_| !asked)))
    }

    fn with_log(algorithm: Arc<dyn Algorithm>, log: Log, options: &Options, folder: Option<PathBuf>) -> Self {
        Index {
            jaccard: algorithm.profile().jaccard,
            algorithm,
            log,
            limits: options.limits,
            sync: options.sync,
            mode: options.mode,
            folder,
            tables: options.tables,
            places: Vec::new(),
            times: BinaryHeap::new(),
            fingerprints: Vec::new(),
            ends: Vec::new(),
            outlines: Outlines::default(),
            keys: Table::default(),
            ids: Table::default(),
            forgotten: 0,
            removed: BTreeSet::new(),
            expired: BTreeMap::new(),
            gone: 0,
            now: 0,
            is_noted: false,
            repetition: None,
            capped: 0,
            pace: Pace::default(),
            candidates: Vec::new(),
            was_interrupted: false,
            is_stored: false,
        }
    }

    /// How many documents are remembered.
    pub fn len(&self) -> u64 {
        self.counted() - self.expired.len() as u64
    }

    /// Those that count for a window: the expired ones too.
    fn counted(&self) -> u64 {
        self.places.len() as u64 - u64::from(self.forgotten) - self.removed.len() as u64
    }

    /// Whether the last run that let a document through did not end by itself, so that what it decided last may be fed again.
    pub fn was_interrupted(&self) -> bool {
        self.was_interrupted
    }

    /// Whether none is.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many documents shared a key with more than [`MOST_OF_A_KEY`] others, of which the latest were looked at.
    pub fn capped(&self) -> u64 {
        self.capped
    }

    /// How long decisions took.
    pub fn pace(&self) -> Pace {
        self.pace
    }

    /// Bytes of the log.
    pub fn bytes_stored(&self) -> u64 {
        self.log.len()
    }

    /// Bytes of memory, about.
    pub fn bytes_held(&self) -> u64 {
        8 * (self.places.len() + self.times.capacity() + 2 * self.expired.len()) as u64
            + self.repetition.as_ref().map_or(0, Repetition::bytes_held)
            + 8 * (self.fingerprints.len() + self.ends.len()) as u64
            + self.outlines.bytes_held()
            + self.keys.bytes_held()
            + self.ids.bytes_held()
            + self.log.bytes_held()
    }

    /// Decides on a document, at a time in seconds. If it is let through it is remembered from now on; on the disk after the next
    /// [`commit`](Self::commit), before which it should not leave.
    ///
    /// Cost: a look-up for each key, a comparison for each document that shares one.
    ///
    /// # Errors
    /// The log cannot be read or written, or a limit is reached.
    pub fn decide(&mut self, id: &str, signature: &Signature, now: u64) -> Result<Decision, Error> {
        let started = Instant::now();
        let decision = self.decision(id, signature, now);
        self.pace.add(started.elapsed());
        decision
    }

    fn decision(&mut self, id: &str, signature: &Signature, now: u64) -> Result<Decision, Error> {
        if let Some(decision) = self.repeated(id, signature)? {
            return Ok(decision);
        }
        self.forget(now)?;
        if self.is_known(id, signature)? {
            self.note(id, signature, None);
            return Ok(Decision::Known);
        }
        if self.mode != Mode::Add
            && !signature.featureless
            && let Some((document, similarity)) = self.most_similar(signature)?
        {
            let place = self.places[document as usize];
            let of = self.log.read(place)?.id;
            self.note(id, signature, Some(place));
            return Ok(Decision::Duplicate { of, similarity });
        }
        if self.mode != Mode::Query {
            self.keep(id, signature, now)?;
        }
        Ok(if signature.featureless { Decision::Featureless } else { Decision::Fresh })
    }

    /// Whether this run writes down what it decides, so that it can be decided the same after an interruption.
    fn is_noting(&self) -> bool {
        let forgets = self.limits.window.is_some() || self.limits.expire.is_some();
        self.mode == Mode::Filter && self.log.is_stored() && forgets
    }

    /// So many decisions of an interrupted run are known.
    fn most_repeated(&self) -> usize {
        let window = usize::try_from(self.limits.window.unwrap_or(0)).unwrap_or(usize::MAX);
        window.saturating_mul(2).saturating_add(repeat::MOST)
    }

    /// Says in the log whether what follows is written down.
    fn begin_notes(&mut self) {
        let is_noting = self.is_noting();
        if self.mode == Mode::Filter && self.is_noted != is_noting {
            self.log.mark(if is_noting { repeat::BEGIN } else { repeat::END });
            self.is_noted = is_noting;
        }
    }

    fn note(&mut self, id: &str, signature: &Signature, original: Option<u64>) {
        if self.is_noting() {
            self.begin_notes();
            self.log.note(Past { name: repeat::name(id, signature.sequence), original });
        }
    }

    /// What was decided on a document before an interruption, if it is fed again.
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
                    // Another document that has the same hash.
                    self.repetition = None;
                }
                Ok(similarity.map(|similarity| Decision::Duplicate { of: original.id, similarity }))
            }
        }
    }

    fn keep(&mut self, id: &str, signature: &Signature, now: u64) -> Result<(), Error> {
        self.check_limits()?;
        self.make_room(signature.tags.len())?;
        self.begin_notes();
        let record = Record::new(id, signature, now, self.mode == Mode::Add, &*self.algorithm);
        let place = self.log.append(&record)?;
        self.enter(place, &record);
        self.forget(now)?;
        if self.sync == Sync::Always {
            self.log.commit(true)?;
        }
        Ok(())
    }

    /// Writes what was let through; after it those documents may leave.
    ///
    /// # Errors
    /// The log cannot be written.
    pub fn commit(&mut self) -> Result<(), Error> {
        match self.mode {
            Mode::Query => Ok(()),
            Mode::Filter | Mode::Add => self.log.commit(self.sync != Sync::Off),
        }
    }

    /// Writes everything to the disk, whatever [`Sync`] says, and that it is there. To be called when a stream ends.
    ///
    /// # Errors
    /// The log cannot be written.
    pub fn seal(&mut self) -> Result<(), Error> {
        match self.mode {
            Mode::Query => Ok(()),
            Mode::Filter | Mode::Add => {
                // All that was decided has left, unless some of what is in the log has not come again yet.
                if self.is_noting() && self.is_noted && self.repetition.is_none() {
                    self.log.mark(repeat::END);
                    self.is_noted = false;
                }
                self.log.seal()
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
            _ if self.places.len() >= u32::MAX as usize => full("it holds 4,294,967,295 documents".into()),
            _ => Ok(()),
        }
    }

    /// Forgets what is too old; makes the tables again when that is most of what they hold.
    fn forget(&mut self, now: u64) -> Result<(), Error> {
        self.expire(now);
        if let Some(window) = self.limits.window {
            while self.counted() > window {
                if !self.removed.remove(&self.forgotten) {
                    self.expired.remove(&self.forgotten);
                }
                self.forgotten += 1;
            }
        }
        self.gone = self.gone.max(self.forgotten);
        while self.removed.contains(&self.gone) || self.expired.contains_key(&self.gone) {
            self.gone += 1;
        }
        if self.stale() > self.places.len() / 2 + FEW {
            self.make_again()?;
            self.expire(now);
        }
        Ok(())
    }

    /// Documents in the tables that need not be there. For a window those that have expired count too, until it has passed them, but
    /// not before the first one that is there.
    fn stale(&self) -> usize {
        match self.limits.window {
            Some(_) => self.gone as usize,
            None => self.forgotten as usize + self.expired.len(),
        }
    }

    /// What is too old by this clock has expired; if the clock goes back, what is not is there again, as long as the tables have it.
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

    /// Makes the tables again, of what is not forgotten.
    fn make_again(&mut self) -> Result<(), Error> {
        let keeps_expired = self.limits.window.is_some();
        let first = if keeps_expired { self.gone } else { self.forgotten };
        let mut places = self.places.split_off(first as usize);
        let (removed, expired) = (std::mem::take(&mut self.removed), std::mem::take(&mut self.expired));
        let mut number = first..;
        places.retain(|_| {
            let number = number.next().expect("numbers do not end");
            !removed.contains(&number) && (keeps_expired || !expired.contains_key(&number))
        });
        (self.places, self.times, self.fingerprints, self.ends) = Default::default();
        (self.outlines, self.keys, self.ids) = Default::default();
        (self.forgotten, self.gone) = (0, 0);
        self.log.drop_before(places.first().copied().unwrap_or(self.log.len()));
        for place in places {
            let record = self.log.read(place)?;
            self.remember(place, &record)?;
        }
        Ok(())
    }

    /// Whether a document is still remembered.
    fn has(&self, document: u32) -> bool {
        document >= self.forgotten && !self.removed.contains(&document) && !self.expired.contains_key(&document)
    }

    /// Forgets the documents at these places.
    fn remove_places(&mut self, places: &[u64]) {
        for place in places {
            if let Some(document) = self.number_of(*place).filter(|&document| document >= self.forgotten) {
                self.removed.insert(document);
            }
        }
    }

    /// The number of the document at a place.
    fn number_of(&self, place: u64) -> Option<u32> {
        self.places.binary_search(&place).ok().map(|document| document as u32)
    }

    fn is_known(&mut self, id: &str, signature: &Signature) -> Result<bool, Error> {
        let mut candidates = std::mem::take(&mut self.candidates);
        candidates.clear();
        let tag = id_tag(id, signature.sequence);
        let counted = |document| self.has(document);
        self.ids.find(tag, MOST_OF_A_KEY, counted, |document| candidates.push(document)).map_err(cannot_read)?;
        let mut known = false;
        for &document in &candidates {
            let record = self.log.read(self.places[document as usize])?;
            // What was added was never let through, and is not now.
            // Without a file nothing outlives the run, and nobody has to feed anything again: it is a copy.
            let may_repeat = self.is_stored || signature.featureless;
            let counts = !record.is_added && may_repeat || self.mode == Mode::Add;
            known |= record.id == id && record.sequence == signature.sequence && counts;
        }
        self.candidates = candidates;
        Ok(known)
    }

    /// The most similar document at or above the threshold; the earliest of several.
    fn most_similar(&mut self, signature: &Signature) -> Result<Option<(u32, Similarity)>, Error> {
        let mut candidates = std::mem::take(&mut self.candidates);
        candidates.clear();
        let mut capped = false;
        signature.tags.iter().for_each(|&tag| self.keys.fetch(tag));
        for &tag in &signature.tags {
            let counted = |document| self.has(document);
            let found = self.keys.find(tag, MOST_OF_A_KEY, counted, |document| candidates.push(document));
            capped |= found.map_err(cannot_read)?;
        }
        self.capped += u64::from(capped);
        candidates.sort_unstable();
        candidates.dedup();
        let mut best: Option<(u32, Similarity)> = None;
        for &document in &candidates {
            let similarity = self.similarity(document, signature)?;
            if similarity.is_some_and(|similarity| best.is_none_or(|(_, best)| similarity.value() > best.value())) {
                best = similarity.map(|similarity| (document, similarity));
            }
            // No later one is more similar.
            if best.is_some_and(|(_, similarity)| similarity.value() >= 1.0) {
                break;
            }
        }
        self.candidates = candidates;
        Ok(best)
    }

    fn similarity(&mut self, document: u32, signature: &Signature) -> Result<Option<Similarity>, Error> {
        let at = document as usize;
        if self.algorithm.compare_on() == CompareOn::Fingerprints {
            let start = at.checked_sub(1).map_or(0, |before| self.ends[before]) as usize;
            let fingerprint = &self.fingerprints[start..self.ends[at] as usize];
            return Ok(self.algorithm.compare(fingerprint, &signature.evidence));
        }
        let (size, own) = self.outlines.get(document).map_err(cannot_read)?;
        if !can_reach(self.jaccard, (size, &own), (signature.evidence.len() as u32, &signature.parities)) {
            return Ok(None);
        }
        let stored = self.log.read(self.places[at])?;
        Ok(self.algorithm.compare(&stored.evidence, &signature.evidence))
    }

    /// Enters a document of the log into the tables.
    fn remember(&mut self, place: u64, record: &Record) -> Result<(), Error> {
        self.make_room(record.tags(&*self.algorithm).len())?;
        self.enter(place, record);
        Ok(())
    }

    /// There must be room.
    fn enter(&mut self, place: u64, record: &Record) {
        let tags = record.tags(&*self.algorithm);
        let document = self.places.len() as u32;
        self.places.push(place);
        if self.limits.expire.is_some() {
            self.times.push(Reverse((record.time.try_into().unwrap_or(u32::MAX), document)));
        }
        if self.algorithm.compare_on() == CompareOn::Fingerprints {
            self.fingerprints.extend_from_slice(&record.evidence);
            self.ends.push(self.fingerprints.len() as u64);
        } else {
            self.outlines.push((record.evidence.len() as u32, parities(&record.evidence)));
        }
        tags.iter().for_each(|&tag| self.keys.fetch(tag));
        tags.iter().for_each(|&tag| self.keys.insert(tag, document));
        self.ids.insert(id_tag(&record.id, record.sequence), document);
    }

    /// Moves tables to the disk before they outgrow what memory they may take.
    fn make_room(&mut self, keys: usize) -> Result<(), Error> {
        let bytes = self.keys.bytes_to_free() + self.ids.bytes_to_free() + self.outlines.bytes_held();
        let Some(folder) = &self.folder else {
            return match self.keys.room() > keys {
                true => Ok(()),
                false => {
                    Err(Error::Full("the index is full: it holds 4,294,967,295 keys of documents in memory".into()))
                }
            };
        };
        if bytes <= self.tables && self.keys.room() > keys {
            return Ok(());
        }
        let frozen = self.keys.freeze(folder).and_then(|()| self.ids.freeze(folder));
        frozen.and_then(|()| self.outlines.freeze(folder)).map_err(|error| {
            Error::io(
                format!("cannot move tables of the index to {} (`temp-dir` names another folder)", folder.display()),
                error,
            )
        })
    }
}

fn cannot_read(error: io::Error) -> Error {
    Error::io("cannot read what the index keeps in temporary files", error)
}

/// So many forgotten documents may stay in the tables.
const FEW: usize = 1000;

/// What a document goes by in the table of ids: by its tokens too, as an id can come again and again with others.
fn id_tag(id: &str, sequence: u128) -> u32 {
    (id_hash(id, sequence) >> 32) as u32
}

fn id_hash(id: &str, sequence: u128) -> u64 {
    combine(xxh3_64(id.as_bytes()), sequence as u64)
}
