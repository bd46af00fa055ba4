//! Opening an index: from its checkpoint and the end of its log, or from the whole log.

use super::crowded::MOST_WORDS;
use super::disk::Disk;
use super::entry;
use super::header::seed_of;
use super::log::Log;
use super::plan::Signing;
use super::remembered::Remembered;
use super::reopen::{Beside, reopen};
use super::repeat::{Repetition, Tail};
use super::search::{Bounds, Ordered};
use super::tables::{Tables, disk_of};
use super::unconfirmed::{Leaving, Left};
use super::{Forgetting, Index, IndexOptions, Limits, MOST_OF_A_KEY, Mode, Pace, Plan, Repair, Sync};
#[cfg(feature = "clean")]
use super::{Staged, no_checkpoint};
use crate::algorithm::{CompareOn, RunSummary};
use crate::error::Error;
use crate::readable::display_size;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;
/// How an index is opened that keeps aside what it remembers.
#[derive(Clone, Copy)]
#[cfg_attr(not(feature = "clean"), expect(dead_code, reason = "only cleaning does"))]
struct Staging<'a> {
    /// The empty file that it is written to.
    aside: &'a File,
    /// Whether it will not be added to the index, which is then only read.
    is_trial: bool,
}

impl Index {
    /// An index in memory only, lost when the process ends.
    pub fn in_memory(plan: &Plan, limits: Limits) -> Self {
        let options = IndexOptions { limits, sync: Sync::Off, ..IndexOptions::default() };
        Self::with_log(plan.for_memory(), Log::in_memory(), &options, None)
    }

    /// Opens the index in a file for signatures of this plan, or creates it unless it is only queried. An index with
    /// signatures made in another way is refused. The seed of a new index is drawn as [`Seed`](super::Seed) describes. An incomplete end
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
        self.log.end_aside()?;
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
        let (mut misses_some, mut is_added) = (false, None);
        let end = stored.each(|place, entry, _| {
            tail.read(place, &entry);
            index.log.forgetting.read(&entry);
            index.log.left.read(&entry);
            // Without those that were removed since, documents are in the window that its tables do not have.
            misses_some |= matches!(entry, entry::Entry::Removed(_)) && index.tables.dropped.window.is_some();
            match entry {
                entry::Entry::Document(record) => {
                    is_added = Some(record.is_added);
                    index.entering().remember(place, &record)?;
                }
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
        index.was_adding = match (is_added, index.tables.places.last()) {
            (None, Some(&last)) if index.was_interrupted && !asked => index.log.read(last)?.is_added,
            _ => is_added == Some(true),
        };
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

    pub(super) fn with_log(signing: Signing, log: Log, options: &IndexOptions, disk: Option<Disk>) -> Self {
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
            replaces: options.replaces,
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
            was_adding: false,
            failed_checkpoint: None,
            renewal: None,
            were_damaged: false,
            is_stored: false,
            staged: None,
            passed_again: BTreeSet::new(),
            unconfirmed: 0..0,
            awaited: None,
            leaving: Leaving::default(),
            has_leaving: false,
            is_of_stream: false,
            drops_known: false,
            is_repeated: false,
            next_number: None,
            before: None,
        }
    }
}
