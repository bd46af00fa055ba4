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
//! Only the log is stored: records one after the other, each with a checksum. The tables that find them are rebuilt
//! when the log is opened. They are in memory, and beyond a bound in sorted runs on the disk. A record at the end of
//! the log that a crash left incomplete is cut off and reported. Damage before the part that is known to have been on
//! the disk is an error.
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
//! Memory per document, for MinHash with 16 keys: some 400 bytes while its postings are in memory. Once they are in
//! runs: 8 bytes for its place in the log, and 10 bits for each of its keys and its id, 29 bytes in all.

mod coded;
mod crowded;
mod entry;
mod file;
mod frame;
mod header;
mod hot;
mod log;
mod maintain;
mod nearest;
mod outlines;
mod plan;
mod repeat;
mod shape;
mod signature;
mod stored;

pub use crowded::{MOST_OF_A_KEY, crowded_keys};
pub use file::FORMAT_VERSION;
pub use header::{Header, header};
pub use maintain::{
    Compacted, Outdated, Removed, StoredDocument, Summary, compact, distribution, export, inspect, remove,
};
pub use nearest::{Nearest, Neighbour, Wanted};
pub use plan::{MEDIAN_TOKENS, Plan, Seed, Size};
pub use signature::{Signature, Signer};
pub use stored::Repair;

use crate::algorithm::{Algorithm, CompareOn, Spec};
use crate::error::Error;
use crate::hash::combine;
use crate::outline::{can_reach, jaccard_at_most, parities};
use crate::postings::Table;
use crate::similarity::{Similarity, Threshold};
use crowded::MOST_WORDS;
use entry::Record;
use file::{cannot_move, cannot_read, folder_of};
use header::seed_of;
use hot::HotKeys;
use log::Log;
use outlines::Outlines;
use plan::Signing;
use repeat::{Past, Repetition, Tail};
use serde_json::Value;
use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// When a document that passed is written to the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Sync {
    /// Before the next decision.
    Always,
    /// Before its record leaves; several documents are written together.
    Batch,
    /// Whenever the operating system writes it. A crash of the program loses nothing; a power failure may.
    Off,
}

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

/// Limits of what is remembered, and of what is compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Only this many latest documents are remembered. Removed ones do not count.
    pub window: Option<u64>,
    /// Documents are forgotten this many seconds after they passed.
    pub expire: Option<u64>,
    /// The maximum number of documents that are remembered.
    pub max_documents: Option<u64>,
    /// The maximum memory of the index, in bytes.
    pub memory: Option<u64>,
    /// The maximum number of documents under a key that are compared: the latest ones. The default is
    /// [`MOST_OF_A_KEY`]. A decision says so if more may be similar ([`Decision::Crowded`]).
    pub candidates: Option<usize>,
}

/// How documents are processed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Mode {
    /// They are decided on, and those that pass are remembered.
    #[default]
    Filter,
    /// They are decided on, and none is remembered. Another process may write to the file at the same time.
    Query,
    /// The most similar documents are looked up, and none is remembered. Another process may write to the file at the
    /// same time.
    Nearest(Wanted),
    /// All are remembered without a decision, except those that are in the index already.
    Add,
}

impl Mode {
    /// Whether the file is only read.
    fn only_reads(self) -> bool {
        matches!(self, Mode::Query | Mode::Nearest(_))
    }
}

/// Options for opening an index in a file.
#[derive(Clone, Debug)]
pub struct Options {
    /// Limits of what is remembered.
    pub limits: Limits,
    /// When a document that passed is written to the disk.
    pub sync: Sync,
    /// How documents are processed.
    pub mode: Mode,
    /// Tables move to the disk before they take more memory than this, in bytes. To find them there takes 8 bytes per
    /// document and 10 bits per key.
    pub tables: u64,
    /// The folder for these tables. The default is the folder of the index file; with [`Mode::Query`], which must not
    /// write there, the system's folder for temporary files.
    pub temp_dir: Option<PathBuf>,
}

impl Default for Options {
    /// No limits; documents are on the disk before their records leave; 512 MiB of tables in memory.
    fn default() -> Self {
        Options { limits: Limits::default(), sync: Sync::Batch, mode: Mode::Filter, tables: 512 << 20, temp_dir: None }
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
    /// The folder for tables on the disk, and the bound on their memory, in bytes.
    folder: Option<PathBuf>,
    tables: u64,
    /// The place of each document's record in the log.
    places: Vec<u64>,
    /// The times of the documents that have not expired, in seconds, the oldest first; only if documents expire.
    times: BinaryHeap<Reverse<(u32, u32)>>,
    /// Fingerprints back to back, and the end of each, if fingerprints are compared.
    fingerprints: Vec<u64>,
    ends: Vec<u64>,
    /// The size and the parities of each set, if sets are compared.
    outlines: Outlines,
    keys: Table,
    ids: Table,
    /// The documents of keys that very many have.
    hot: HotKeys,
    /// The documents by their whole fingerprints: only once keys are crowded, and fingerprints too many to compare each.
    copies: Option<Table>,
    /// The bounds [`MOST_OF_A_KEY`] and [`MOST_WORDS`], which tests lower.
    most_of_a_key: usize,
    most_words: usize,
    /// Documents below this number are forgotten.
    forgotten: u32,
    /// The other forgotten documents: those that were removed, and the expired ones of the rest, with their times.
    removed: BTreeSet<u32>,
    expired: BTreeMap<u32, u32>,
    /// All documents below this number are forgotten.
    gone: u32,
    /// The last time of the clock.
    now: u64,
    /// Whether the end of the log is a part with decisions.
    is_noted: bool,
    /// The decisions before an interruption, as long as they may be fed again.
    repetition: Option<Repetition>,
    /// The number of documents that shared a key with more documents than were compared.
    capped: u64,
    pace: Pace,
    /// A buffer.
    candidates: Vec<u32>,
    was_interrupted: bool,
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
    /// signatures made in another way is refused. The seed of a new index is drawn as [`Seed`] describes.
    ///
    /// # Errors
    /// The file cannot be read or written, is not an index, was made with other settings, has another writer, or is
    /// damaged.
    ///
    /// # Cost
    /// The log is read once.
    pub fn open(path: &Path, plan: &Plan, options: &Options) -> Result<(Self, Option<Repair>), Error> {
        let asked = options.mode.only_reads();
        let new = || Value::Object(plan.for_file(None).spec.identity());
        let (log, mut stored) = if asked { Log::open_to_read(path) } else { Log::open(path, new) }?;
        let signing = plan.for_file(seed_of(&stored.header));
        stored.check(&Value::Object(signing.spec.identity()))?;
        let temporary = std::env::temp_dir();
        let usual = if asked { &temporary } else { folder_of(path) };
        let folder = options.temp_dir.as_deref().unwrap_or(usual);
        stored.reads.shape = stored.reads.shape.and(signing.algorithm.compare_on());
        let mut index = Self::with_log(signing, log, options, Some(folder.to_path_buf()));
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
        // A document that was dropped for a meanwhile removed one is decided on again.
        let is_there = |place: &u64| index.number_of(*place).is_some_and(|document| !index.removed.contains(&document));
        let past = tail.past().filter(|past| past.original.as_ref().is_none_or(is_there)).collect();
        index.repetition = Repetition::new(past);
        index.forget(0)?;
        // A reader does not cut the file.
        Ok((index, end.torn.filter(|_| !asked)))
    }

    fn with_log(signing: Signing, log: Log, options: &Options, folder: Option<PathBuf>) -> Self {
        Index {
            jaccard: signing.algorithm.profile().jaccard,
            hot: HotKeys::new(&*signing.algorithm, !matches!(options.mode, Mode::Nearest(_))),
            algorithm: Arc::clone(&signing.algorithm),
            signing,
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
            copies: None,
            most_of_a_key: options.limits.candidates.unwrap_or(MOST_OF_A_KEY),
            most_words: MOST_WORDS,
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
        self.places.len() as u64 - u64::from(self.forgotten) - self.removed.len() as u64
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
        self.algorithm.warnings(documents, featureless)
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
        8 * (self.places.len() + self.times.capacity() + 2 * self.expired.len()) as u64
            + self.repetition.as_ref().map_or(0, Repetition::bytes_held)
            + 8 * (self.fingerprints.len() + self.ends.len()) as u64
            + self.outlines.bytes_held()
            + self.keys.bytes_held()
            + self.hot.bytes_held()
            + self.ids.bytes_held()
            + self.copies.as_ref().map_or(0, Table::bytes_held)
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
        let decision = self.decision(id, signature, now);
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
                let place = self.places[document as usize];
                let of = self.log.read(place)?.id;
                self.note(id, signature, Some(place));
                return Ok(Decision::Duplicate { of, similarity });
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
            let id = self.log.read(self.places[document as usize])?.id;
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
        let (size, own) = self.outlines.get(document).map_err(cannot_read)?;
        Ok(jaccard_at_most((size, &own), (signature.evidence.len() as u32, &signature.parities)))
    }

    /// What is compared of a document.
    fn evidence(&mut self, document: u32) -> Result<Cow<'_, [u64]>, Error> {
        if self.algorithm.compare_on() == CompareOn::Fingerprints {
            return Ok(Cow::Borrowed(self.fingerprint(document)));
        }
        Ok(Cow::Owned(self.log.read(self.places[document as usize])?.evidence))
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
        match self.mode {
            Mode::Query | Mode::Nearest(_) => Ok(()),
            Mode::Filter | Mode::Add => {
                // All decided records have left, unless decisions in the log have not been repeated yet.
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

    /// Forgets documents that are too old. Rebuilds the tables when most of their content is forgotten.
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
        if self.stale() > self.places.len() / 2 + STALE_ALLOWED {
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

    /// Rebuilds the tables from the documents that are not forgotten.
    fn rebuild(&mut self) -> Result<(), Error> {
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
        (self.outlines, self.keys, self.ids, self.copies) = Default::default();
        self.hot.clear();
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
            // An added document never passed, and does not pass now.
            // An index without a file does not outlive the run, so that nothing is fed again: it is a copy.
            let may_repeat = self.is_stored || signature.featureless;
            let counts = !record.is_added && may_repeat || self.mode == Mode::Add;
            known |= record.id == id && record.sequence == signature.sequence && counts;
        }
        self.candidates = candidates;
        Ok(known)
    }

    /// Fills `candidates` with the documents that share a key, ascending. Returns whether some were left out, because too
    /// many share one.
    fn find_candidates(&mut self, signature: &Signature, candidates: &mut Vec<u32>) -> Result<bool, Error> {
        candidates.clear();
        let mut capped = false;
        signature.tags.iter().for_each(|&tag| self.keys.fetch(tag));
        let counted = |document| self.has(document);
        capped |= self.hot.find(signature, self.most_of_a_key, counted, candidates).map_err(cannot_read)?;
        for &tag in signature.tags.iter().filter(|&&tag| !self.hot.is_hot(tag)) {
            let found = self.keys.find(tag, self.most_of_a_key, counted, |document| candidates.push(document));
            capped |= found.map_err(cannot_read)?;
            if capped && self.compares_all() {
                break;
            }
        }
        if capped && self.compares_all() {
            capped = false;
            self.fill_with_all(candidates);
        } else if capped && self.algorithm.layout().is_some() {
            self.add_copies(&signature.evidence, candidates)?;
        }
        self.capped += u64::from(capped);
        candidates.sort_unstable();
        candidates.dedup();
        Ok(capped)
    }

    /// Fills `candidates` with all documents that are remembered.
    fn fill_with_all(&self, candidates: &mut Vec<u32>) {
        candidates.clear();
        candidates.extend((self.gone..self.places.len() as u32).filter(|&document| self.has(document)));
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
        self.algorithm.layout().is_some() && self.fingerprints.len() <= self.most_words
    }

    /// Adds the latest documents with this fingerprint to the candidates.
    fn add_copies(&mut self, fingerprint: &[u64], candidates: &mut Vec<u32>) -> Result<(), Error> {
        if self.copies.is_none() {
            // Half a table would hide documents.
            self.make_copies().inspect_err(|_| self.copies = None)?;
        }
        let copies = self.copies.as_ref().expect("it was made");
        let counted = |document| self.has(document);
        let found =
            copies.find(copy_tag(fingerprint), self.most_of_a_key, counted, |document| candidates.push(document));
        found.map(drop).map_err(cannot_read)
    }

    /// Enters all documents into the table of whole fingerprints, within the bound on the memory of tables.
    fn make_copies(&mut self) -> Result<(), Error> {
        self.copies = Some(Table::default());
        for document in self.gone..self.places.len() as u32 {
            self.make_room(0)?;
            let own = self.fingerprint(document);
            let tag = (!own.is_empty()).then(|| copy_tag(own));
            if let (Some(tag), Some(copies)) = (tag, &mut self.copies) {
                copies.insert(tag, document);
            }
        }
        Ok(())
    }

    /// The fingerprint of a document, where fingerprints are compared; empty if it has no features.
    fn fingerprint(&self, document: u32) -> &[u64] {
        let at = document as usize;
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before]) as usize;
        &self.fingerprints[start..self.ends[at] as usize]
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
        let (size, own) = self.outlines.get(document).map_err(cannot_read)?;
        if !can_reach(self.jaccard, (size, &own), (signature.evidence.len() as u32, &signature.parities)) {
            return Ok(None);
        }
        let stored = self.log.read(self.places[at])?;
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
        for &tag in tags.iter().filter(|&&tag| !self.hot.is_hot(tag)) {
            self.keys.insert(tag, document);
        }
        self.hot.enter(&tags, document, &record.evidence);
        self.ids.insert(id_tag(&record.id, record.sequence), document);
        if let Some(copies) = self.copies.as_mut().filter(|_| !record.evidence.is_empty()) {
            copies.insert(copy_tag(&record.evidence), document);
        }
        let room = (self.folder.as_deref(), self.tables);
        self.hot.watch(&tags, document, &self.keys, (&mut self.log, &self.places), room)
    }

    /// Moves tables to the disk before they exceed their memory.
    fn make_room(&mut self, keys: usize) -> Result<(), Error> {
        let bytes = self.keys.bytes_to_free()
            + self.ids.bytes_to_free()
            + self.hot.bytes_to_free()
            + self.copies.as_ref().map_or(0, Table::bytes_to_free)
            + self.outlines.bytes_held();
        let Some(folder) = &self.folder else {
            return match self.keys.room() > keys && self.hot.has_room() {
                true => Ok(()),
                false => {
                    Err(Error::Full("the index is full: it holds 4,294,967,295 keys of documents in memory".into()))
                }
            };
        };
        if bytes <= self.tables && self.keys.room() > keys && self.hot.has_room() {
            return Ok(());
        }
        let frozen = self.keys.freeze(folder).and_then(|()| self.ids.freeze(folder));
        let frozen = frozen.and_then(|()| self.hot.freeze(folder));
        let frozen = frozen.and_then(|()| self.copies.as_mut().map_or(Ok(()), |copies| copies.freeze(folder)));
        frozen.and_then(|()| self.outlines.freeze(folder)).map_err(|error| cannot_move(folder, error))
    }
}

/// What a search for similar documents found.
struct Found {
    best: Option<(u32, Similarity)>,
    /// Whether not all documents that share a key were compared.
    capped: bool,
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
