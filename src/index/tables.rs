//! The tables of an index: in memory, and moved to the disk beside decisions.

use super::checkpoint::{Checkpoint, Manifest, Notes};
use super::disk::{Disk, Flushed, Folder, Merged};
use super::file::cannot_move;
use super::hot::HotKeys;
use super::log::Log;
use super::options::{IndexOptions, Limits};
use super::outlines::Outlines;
use super::remembered::Remembered;
use super::segment::{Fresh, Sizes};
use crate::algorithm::{Algorithm, CompareOn, Spec};
use crate::error::Error;
use crate::postings::{Table, put};
use serde_json::Value;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::thread;
use xxhash_rust::xxh3::xxh3_64;

/// A checkpoint is made after this many documents, or a quarter of all if that is more, so that the end of the log that it
/// does not have is read fast, and the work stays small. At the end of a run it is made after fewer.
const CHECKPOINT_AFTER: (usize, usize) = (1 << 17, 1 << 14);

/// It is also made, if there is a document that it does not have, after so many decisions that a run with a window or an age has noted: 64 MiB of
/// the log. A stream of almost only duplicates has few documents and many notes, which would be read each time.
const CHECKPOINT_AFTER_NOTES: u64 = 1 << 22;

/// Merges of up to this many documents are waited for at the end of a run.
const MERGED_AT_END: usize = 1 << 20;

/// What finds documents, by their numbers.
pub(super) struct Tables {
    /// The files, if the index is in a file itself, and the bound on what of that is in memory too, in bytes.
    pub disk: Option<Disk>,
    memory: u64,
    /// The bound on all that the index holds, if it has one, and what it holds beside these tables, in bytes.
    pub most: Option<u64>,
    pub beside: u64,
    /// The numbers of documents after which a checkpoint is made, and at the end of a run, which tests lower.
    pub checkpoint_after: (usize, usize),
    /// The number of noted decisions, likewise.
    pub checkpoint_after_notes: u64,
    /// The number of decisions that were noted since the last state that a checkpoint can have.
    notes: u64,
    /// The hash of how signatures and tables are made.
    pub identity: u64,
    /// The number of documents entered since the last state that a checkpoint can have, also into tables that these took the place of.
    since: usize,
    /// Whether they are those of the whole log.
    pub is_whole: bool,
    /// Whether a flush failed, so that postings are missing in what follows on the disk.
    has_failed: bool,
    /// Documents that these limits forget may not be in them.
    pub dropped: Limits,
    /// The place of each document's record in the log.
    pub places: Vec<u64>,
    /// The times of the documents since the last flush, in seconds.
    pub fresh_times: Vec<u32>,
    /// Fingerprints back to back, and the end of each, if fingerprints are compared.
    pub has_fingerprints: bool,
    pub fingerprints: Vec<u64>,
    pub ends: Vec<u64>,
    /// The size and the parities of each set, if sets are compared.
    pub outlines: Outlines,
    pub keys: Table,
    pub ids: Table,
    /// Whether `ids` has the documents by their ids alone too.
    pub has_names: bool,
    /// The documents of keys that very many have.
    pub hot: HotKeys,
    /// The documents by their whole fingerprints, where keys can be crowded.
    pub copies: Option<Table>,
}

/// The memory, in bytes, that tables on the way to files have at least, if the index may hold `most`.
pub(super) fn least_room(most: u64) -> u64 {
    most / 8
}

/// The state of an index beside its tables.
pub(super) struct State<'a> {
    pub log: &'a mut Log,
    pub remembered: &'a Remembered,
    /// Where the decisions that can be repeated begin, if the end of the log has some.
    pub notes: Option<Notes>,
}

impl Tables {
    /// Empty ones. Documents below the threshold may be looked for unless `only_similar` says otherwise.
    pub fn new(algorithm: &dyn Algorithm, spec: &Spec, only_similar: bool, memory: u64, disk: Option<Disk>) -> Self {
        let table = || if disk.is_some() { Table::recorded(Vec::new()) } else { Table::default() };
        let rows = Value::Object(spec.identity_json()).to_string();
        Tables {
            memory,
            most: None,
            beside: 0,
            checkpoint_after: CHECKPOINT_AFTER,
            checkpoint_after_notes: CHECKPOINT_AFTER_NOTES,
            notes: 0,
            identity: xxh3_64(rows.as_bytes()),
            since: 0,
            is_whole: false,
            has_failed: false,
            dropped: Limits::default(),
            places: Vec::new(),
            fresh_times: Vec::new(),
            has_fingerprints: algorithm.compare_on() == CompareOn::Fingerprints,
            fingerprints: Vec::new(),
            ends: Vec::new(),
            outlines: Outlines::default(),
            keys: table(),
            ids: table(),
            has_names: false,
            hot: HotKeys::new(algorithm, only_similar, table()),
            copies: algorithm.layout().map(|_| table()),
            disk,
        }
    }

    /// The bound on what is in memory, in bytes.
    pub fn memory(&self) -> u64 {
        self.memory
    }

    /// Takes the place of other tables, whose files will be removed.
    pub fn succeed(&mut self, old: &mut Tables) {
        (self.memory, self.most) = (old.memory, old.most);
        (self.checkpoint_after, self.is_whole) = (old.checkpoint_after, old.is_whole);
        (self.checkpoint_after_notes, self.notes) = (old.checkpoint_after_notes, old.notes);
        // What was not saved yet is lost with its files.
        let is_saved = old.disk.as_ref().is_none_or(Disk::is_saved);
        self.since = if is_saved { old.since } else { usize::MAX };
        if let (Some(disk), Some(old)) = (&mut self.disk, old.disk.take()) {
            disk.succeed(old);
        }
    }

    /// Waits for the checkpoint that is being saved.
    pub fn wait_for_saving(&mut self) {
        self.disk.iter_mut().for_each(Disk::wait_for_saving);
    }

    /// Forgets all documents. Returns the places that their records had.
    pub fn clear(&mut self) -> Vec<u64> {
        if let Some(disk) = &mut self.disk {
            disk.clear();
        }
        let table = || if self.disk.is_some() { Table::recorded(Vec::new()) } else { Table::default() };
        (self.keys, self.ids, self.copies) = (table(), table(), self.copies.as_ref().map(|_| table()));
        self.hot.clear(table());
        self.has_failed = false;
        (self.fresh_times, self.fingerprints, self.ends) = Default::default();
        self.outlines = Outlines::default();
        std::mem::take(&mut self.places)
    }

    /// The fingerprint of a document, where fingerprints are compared; empty if it has no features.
    pub fn fingerprint(&self, document: u32) -> &[u64] {
        let at = document as usize;
        &self.fingerprints[self.start_of_words(at) as usize..self.ends[at] as usize]
    }

    /// Bytes of memory.
    pub fn bytes_held(&self) -> u64 {
        8 * self.places.len() as u64
            + 4 * self.fresh_times.capacity() as u64
            + self.disk.as_ref().map_or(0, Disk::bytes_held)
            + 8 * (self.fingerprints.len() + self.ends.len()) as u64
            + self.outlines.bytes_held()
            + self.keys.bytes_held()
            + self.hot.bytes_held()
            + self.ids.bytes_held()
            + self.copies.as_ref().map_or(0, Table::bytes_held)
    }

    /// Bytes of memory that stay once all that can be is in files. They depend only on which documents were entered, and not
    /// on what is under way.
    pub fn bytes_staying(&self) -> u64 {
        let documents = self.places.len() as u64;
        8 * (documents + (self.fingerprints.len() + self.ends.len()) as u64)
            + if self.has_fingerprints { 0 } else { Outlines::bytes_in_runs(documents) }
            + self.keys.bytes_in_runs()
            + self.ids.bytes_in_runs()
            + self.hot.bytes_in_runs()
            + self.copies.as_ref().map_or(0, Table::bytes_in_runs)
    }

    /// The bound on what can be in files, in bytes: less, where what stays in memory leaves less.
    fn bound(&self) -> u64 {
        let left = |most: u64| most.saturating_sub(self.bytes_staying() + self.beside).max(least_room(most));
        self.most.map_or(self.memory, |most| left(most).min(self.memory))
    }

    /// The table beside those of keys and of ids, if there is one.
    fn third(&mut self) -> Option<&mut Table> {
        self.copies.as_mut().or_else(|| self.hot.postings_mut())
    }

    /// Bytes of memory that moving tables to the disk frees.
    fn bytes_to_move(&mut self) -> u64 {
        let third = self.third().map_or(0, |table| table.bytes_to_move());
        self.keys.bytes_to_move() + self.ids.bytes_to_move() + third + self.outlines.bytes_to_move()
    }

    /// Bytes of memory that a flush takes beside what it moves: for copies, and for sorting. The state that it writes too is not
    /// known before: it grows with the documents under hot keys, 16 bytes each.
    fn bytes_to_flush(&mut self) -> u64 {
        let first = self.disk.as_ref().map_or(0, Disk::flushed) as usize;
        let third = self.third().map_or(0, |table| table.recent());
        let words = self.ends.last().map_or(0, |&end| end - self.start_of_words(first)) as usize;
        let sorted = third.max(self.keys.recent()).max(self.ids.recent());
        let documents = self.places.len() - first;
        Sizes { documents, has_outlines: !self.has_fingerprints, words, sorted }.bytes()
    }

    /// Where the words of a document's fingerprint begin, or would begin.
    fn start_of_words(&self, document: usize) -> u64 {
        document.checked_sub(1).map_or(0, |before| self.ends[before])
    }

    /// Bytes of memory that the tables take beside what is always there.
    pub fn bytes_of_tables(&mut self) -> u64 {
        let third = self.third().map_or(0, |table| table.bytes_of_postings());
        let postings = self.keys.bytes_of_postings() + self.ids.bytes_of_postings() + third;
        postings + self.outlines.bytes_to_move() + self.disk.as_ref().map_or(0, Disk::bytes_held)
    }

    /// Moves tables to the disk before they exceed their memory, and makes checkpoints. Sorting and writing are done beside
    /// further decisions, unless there is no memory for those.
    pub fn make_room(&mut self, keys: usize, state: &mut State) -> Result<(), Error> {
        if self.disk.is_none() {
            return match self.keys.room() > keys && self.hot.has_room() {
                true => Ok(()),
                false => Err(Error::Full(
                    "the documents that are remembered have 4,294,967,295 keys in memory, and no more fit".into(),
                )),
            };
        }
        if self.has_failed {
            let folder = self.disk.as_ref().map_or(Path::new(""), Disk::folder);
            return Err(cannot_move(folder, io::Error::other("this failed before")));
        }
        self.take_over(state)?;
        let bound = self.bound();
        // An eighth is for outlines that were read from files.
        let blocks = if self.has_fingerprints { 0 } else { bound / 8 };
        self.outlines.keep_blocks_within(blocks);
        let bound = bound - blocks;
        loop {
            let is_full = self.keys.room() <= keys || !self.hot.has_room();
            let held = self.keys.runs().1;
            let disk = self.disk.as_ref().expect("it has one");
            let must_wait = disk.is_flushing() || disk.must_merge(held);
            if !must_wait {
                // The rest is for what comes while it is written.
                let is_over = is_full || self.bytes_to_move() + self.bytes_to_flush() > bound / 4 * 3;
                let is_due = is_over || self.is_checkpoint_due(self.checkpoint_after.0.max(self.places.len() / 4));
                return if is_due { self.begin_flush(is_over, state) } else { Ok(()) };
            }
            if !is_full && self.bytes_of_tables() <= bound {
                return Ok(());
            }
            self.wait(state)?;
        }
    }

    /// Counts a document that was entered.
    pub fn count(&mut self) {
        self.since = self.since.saturating_add(1);
    }

    /// Counts decisions that were noted.
    pub fn count_notes(&mut self, notes: u64) {
        self.notes += notes;
    }

    /// Whether a checkpoint can be made, and this many documents are not in it, or some and many noted decisions. Documents of a small window
    /// leave the tables before they are so many at once.
    fn is_checkpoint_due(&self, documents: usize) -> bool {
        let fresh = |disk: &Disk| self.since.max(self.places.len() - disk.flushed() as usize);
        self.is_whole
            && !self.has_failed
            && self.disk.as_ref().is_some_and(|disk| {
                let has_many_notes = self.notes >= self.checkpoint_after_notes && fresh(disk) > 0;
                disk.makes_checkpoints() && (fresh(disk) >= documents || has_many_notes)
            })
    }

    /// Whether one is made at the end of a run: many documents are not in the last one, or there is none, as after a run that read
    /// the whole log. What was flushed while it was read belongs to no checkpoint.
    fn is_last_checkpoint_due(&self) -> bool {
        let least = self.checkpoint_after.1;
        let has_none = self.disk.as_ref().is_some_and(|disk| !disk.has_checkpoint());
        self.is_checkpoint_due(least) || has_none && self.places.len() >= least.max(1) && self.is_checkpoint_due(0)
    }

    /// Waits for the flush that is under way, and for a merge if there are too many segments.
    fn wait(&mut self, state: &State) -> Result<(), Error> {
        self.on_disk(|tables, disk| {
            tables.take_flushed(disk, true)?;
            while disk.must_merge(tables.keys.runs().1) {
                disk.begin_merge(tables.keys.runs().1, state.remembered.forgotten())?;
                disk.end_merge(true)?.into_iter().for_each(|merged| tables.end_merge(&merged));
            }
            Ok(())
        })
    }

    /// Takes over the work on the disk that has ended, and begins what is next.
    fn take_over(&mut self, state: &mut State) -> Result<(), Error> {
        let synced = self.bring_log_to_disk(state, false)?;
        self.on_disk(|tables, disk| {
            tables.take_flushed(disk, false)?;
            disk.end_merge(false)?.into_iter().for_each(|merged| tables.end_merge(&merged));
            // An index that is being opened does not read all of a checkpoint, which may be damaged.
            if tables.is_whole || !disk.has_checkpoint() {
                disk.begin_merge(tables.keys.runs().1, state.remembered.forgotten())?;
            }
            disk.save(synced, false)
        })
    }

    /// Brings the log to the disk as far as the checkpoint needs that; waits for it if that is wanted. Returns how far it is there.
    fn bring_log_to_disk(&self, state: &mut State, waits: bool) -> Result<u64, Error> {
        if let Some(place) = self.disk.as_ref().and_then(Disk::awaits) {
            state.log.bring_to_disk(place, waits)?;
        }
        Ok(state.log.synced())
    }

    /// Works on the disk.
    fn on_disk(&mut self, work: impl FnOnce(&mut Self, &mut Disk) -> io::Result<()>) -> Result<(), Error> {
        let Some(mut disk) = self.disk.take() else { return Ok(()) };
        let result = work(self, &mut disk).map_err(|error| cannot_move(disk.folder(), error));
        self.disk = Some(disk);
        result
    }

    /// Takes over the flush that has ended; waits for it if that is wanted.
    fn take_flushed(&mut self, disk: &mut Disk, waits: bool) -> io::Result<()> {
        let flushed = disk.end_flush(waits).inspect_err(|_| self.has_failed = true)?;
        flushed.into_iter().for_each(|flushed| self.end_flush(flushed));
        Ok(())
    }

    fn end_flush(&mut self, Flushed { segment, moves }: Flushed) {
        let [keys, ids, third] = segment.runs.clone();
        let third = self.third().map(|table| table.end_flush(third));
        let left = (self.keys.end_flush(keys), self.ids.end_flush(ids), third);
        if moves {
            // Beside decisions; if no thread starts, it is freed here.
            _ = thread::Builder::new().spawn(move || drop(left));
        }
        self.outlines.end_flush(Arc::clone(&segment.outlines), moves);
    }

    fn end_merge(&mut self, Merged { range, segment }: &Merged) {
        let [keys, ids, third] = segment.runs.clone();
        self.keys.replace(range.clone(), keys);
        self.ids.replace(range.clone(), ids);
        if let Some(table) = self.third() {
            table.replace(range.clone(), third);
        }
        self.outlines.replace(range.clone(), Arc::clone(&segment.outlines));
    }

    /// Begins to write what was remembered since the last flush.
    fn begin_flush(&mut self, moves: bool, state: &mut State) -> Result<(), Error> {
        let first = self.disk.as_ref().map_or(0, Disk::flushed);
        let documents = first..self.places.len() as u32;
        let manifest = self.is_whole.then(|| self.mark_place(documents.end, state));
        let mut known = Vec::new();
        if manifest.is_some() {
            (self.since, self.notes) = (0, 0);
            let removed = state.remembered.removed();
            put(&mut known, removed.len() as u64);
            removed.for_each(|document| put(&mut known, document.into()));
            self.hot.put(&mut known);
        }
        let at = first as usize;
        let (mut lengths, mut words) = (Vec::new(), Vec::new());
        if self.has_fingerprints {
            let mut start = self.start_of_words(at);
            words = self.fingerprints[start as usize..].to_vec();
            lengths.extend(self.ends[at..].iter().map(|&end| (end - std::mem::replace(&mut start, end)) as u32));
        }
        let fresh = Fresh {
            documents,
            outlines: self.outlines.since(first),
            places: self.places[at..].to_vec(),
            times: std::mem::take(&mut self.fresh_times),
            lengths,
            words,
            state: known,
            postings: [
                self.keys.begin_flush(moves),
                self.ids.begin_flush(moves),
                self.third().map(|table| table.begin_flush(moves)).unwrap_or_default(),
            ],
        };
        self.on_disk(|tables, disk| disk.begin_flush(fresh, moves, manifest).inspect_err(|_| tables.has_failed = true))
    }

    /// The state of the index at the end of the log.
    fn mark_place(&self, end: u32, state: &mut State) -> Manifest {
        Manifest {
            identity: self.identity,
            has_names: self.has_names,
            mark: state.log.mark_place(),
            has_marks: state.log.has_marks(),
            notes: state.notes,
            forgetting: state.log.forgetting,
            left: state.log.left,
            limits: self.dropped,
            segments: vec![(0, end, 0)],
        }
    }

    /// Brings the checkpoint to the end of the log, if that is worth it. What is decided is in the log already.
    ///
    /// # Errors
    /// Files cannot be written.
    pub fn begin_last_checkpoint(&mut self, state: &mut State) -> Result<(), Error> {
        if self.is_last_checkpoint_due() {
            self.wait(state)?;
        }
        // It may have been what was written.
        match self.is_last_checkpoint_due() {
            true => self.begin_flush(false, state),
            false => Ok(()),
        }
    }

    /// The second part, once the log is written.
    ///
    /// # Errors
    /// Files cannot be written.
    pub fn end_last_checkpoint(&mut self, state: &mut State) -> Result<(), Error> {
        if self.has_failed || self.disk.as_ref().is_none_or(|disk| !disk.is_kept()) {
            return Ok(());
        }
        self.on_disk(|tables, disk| tables.take_flushed(disk, true))?;
        let synced = self.bring_log_to_disk(state, true)?;
        self.on_disk(|tables, disk| {
            disk.end_merge(false)?.into_iter().for_each(|merged| tables.end_merge(&merged));
            while disk.begin_merge(tables.keys.runs().1, 0)? && disk.merging() <= MERGED_AT_END {
                disk.end_merge(true)?.into_iter().for_each(|merged| tables.end_merge(&merged));
            }
            disk.save(synced, true)
        })
    }
}

/// Where the tables of the index at a path are, beside the memory.
pub(super) fn disk_of(path: &Path, options: &IndexOptions) -> Disk {
    Disk::new(match &options.temp_dir {
        Some(folder) => Folder::Temporary(folder.clone()),
        // It may not be allowed to write beside the index.
        None if options.mode.only_reads() => Folder::Temporary(std::env::temp_dir()),
        None => Folder::Kept(Checkpoint::of(path)),
    })
}
