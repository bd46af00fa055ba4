//! The log: records of documents, one after the other, in a file or in memory.

use super::checkpoint::{Checkpoint, Mark, missing};
#[cfg(feature = "clean")]
use super::entry::CALL;
use super::entry::{Document, Entry, REMOVED, Reads, Record, SYNCED};
#[cfg(any(feature = "python", all(test, feature = "clean")))]
use super::file::append;
use super::file::{damaged, fault, file_header, is_still_at, is_unfinished, lock, sync_folder, too_large};
use super::forgetting::Forgetting;
#[cfg(feature = "clean")]
use super::frame::FRAME_OVERHEAD;
use super::frame::{MAX_RECORD, checked, digest_after, frame_head, length_of};
use super::repeat::Past;
use super::stored::{End, Stored};
use super::syncing::Syncing;
use super::unconfirmed::Left;
use crate::algorithm::Algorithm;
use crate::error::{Error, IndexFault};
use crate::postings::read_at;
use crate::replace::Replacement;
use serde_json::Value;
use std::fs::{self, File};
use std::io::{self, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// Checks whether an index may be created where there is none: no file, or one without a whole header. It is refused if there is a
/// checkpoint, because then there was an index that was deleted, emptied or moved.
///
/// # Errors
/// It may not be created.
pub(super) fn check_new(path: &Path, creates: bool) -> Result<(), Error> {
    let missing =
        if path.exists() { "the file is empty or its beginning is missing" } else { "the file does not exist" };
    let checkpoint = Checkpoint::of(path);
    let message = if checkpoint.exists() {
        let folder = checkpoint.folder().display();
        format!(
            "{missing}, but {folder} is the checkpoint of an index that was here: put the index or a copy of it back; to begin a new one, \
             delete this folder"
        )
    } else if !creates {
        format!("{missing} (`require-index`): check its path, or create it by a run without this option")
    } else {
        return Ok(());
    };
    Err(fault(path, IndexFault::Missing, &message))
}

/// The log.
pub(super) struct Log {
    file: Option<(File, PathBuf)>,
    /// Whether the file existed and had no whole header, so that a new index was begun in it.
    pub is_begun_anew: bool,
    /// The number of bytes in the file.
    written: u64,
    /// The number of these that are known to be on the disk.
    synced: u64,
    /// Syncs the file on another thread, from the first time that this is asked for.
    syncing: Option<Syncing>,
    /// The number of bytes in the file before the last commit to the disk; more than there are if it was synced for something else since.
    committing_from: u64,
    /// The end of the last frame if it marks this, and whether any frame does.
    marked: u64,
    has_marks: bool,
    /// The bytes that are not in the file yet; for a log in memory, all of them.
    pending: Vec<u8>,
    /// A record that was read from the file.
    buffer: Vec<u8>,
    /// Notes that are not in a frame yet.
    notes: Vec<u64>,
    /// Whether anything but decisions and [`SYNCED`] frames was added since everything was on the disk.
    is_due: bool,
    /// Whether the disk has refused what was written: the operating system reports that once, and later as written.
    has_failed: bool,
    /// The [digest](digest_after) of all frames.
    digest: u64,
    /// What the last run forgot that noted it.
    pub forgetting: Forgetting,
    /// What it says of the documents that have left.
    pub left: Left,
    /// How records are read again.
    reads: Reads,
    /// The maximum length of a record, in bytes; tests lower it.
    pub most_of_record: u64,
    /// Where what is added is written instead of the file.
    aside: Option<Aside>,
    /// What a log in memory can be restored from.
    #[cfg(any(feature = "python", all(test, feature = "clean")))]
    retained: Option<Retained>,
}

/// The bytes of a log in memory that were dropped, between two places.
#[cfg(any(feature = "python", all(test, feature = "clean")))]
struct Retained {
    from: u64,
    until: u64,
    bytes: Vec<u8>,
}

/// A file with what a log will have after its end.
#[cfg_attr(not(feature = "clean"), expect(dead_code, reason = "only cleaning and calls of Python have one"))]
pub(super) struct Aside {
    pub file: File,
    /// The end of the log: the place of the first byte of the file.
    pub start: u64,
    /// The [digest](digest_after) of all frames before it.
    pub digest: u64,
    /// The place of the frame that begins the call, once there is one: with the first entry.
    pub call: Option<u64>,
}

/// The maximum size of the buffers between two documents, in bytes.
const MOST_BUFFERED: usize = 1 << 20;

/// The number of bytes without a [`SYNCED`] frame from which on a commit is not [begun](Log::begin_commit) but done, so that there is one.
const MOST_UNMARKED: u64 = if cfg!(test) { 1 << 12 } else { 4 << 20 };

/// The maximum number of bytes of notes that commits to the disk leave with the operating system.
const MAX_UNSYNCED_NOTES: u64 = 1 << 20;

/// The size of the head of a frame.
const HEAD: usize = 8;

/// The number of bytes of a frame in the file that are read at once, whatever its length.
const READ_FIRST: u64 = if cfg!(test) { 64 } else { 1 << 11 };

/// The size of the frame that begins a call.
#[cfg(feature = "clean")]
const CALL_FRAME: u64 = FRAME_OVERHEAD + 9;

/// The frame at a place that begins a call, which ends at another one. It is in no [digest](digest_after): where the call ends is
/// known last.
#[cfg(feature = "clean")]
fn call_frame(place: u64, end: u64) -> Vec<u8> {
    let mut record = vec![CALL];
    record.extend_from_slice(&end.to_le_bytes());
    let check = xxh3_64_with_seed(&record, place);
    [&frame_head(record.len() as u32, place)[..], &record, &check.to_le_bytes()].concat()
}

fn cannot_remember(error: io::Error) -> Error {
    Error::output("cannot write what the index will remember", error)
}

/// The maximum number of words of notes in a frame.
const NOTES: usize = 1 << 13;

impl Log {
    pub fn in_memory() -> Self {
        Log {
            file: None,
            is_begun_anew: false,
            written: 0,
            synced: 0,
            syncing: None,
            committing_from: 0,
            marked: 0,
            has_marks: false,
            pending: Vec::new(),
            buffer: Vec::new(),
            notes: Vec::new(),
            is_due: false,
            has_failed: false,
            digest: 0,
            forgetting: Forgetting::default(),
            left: Left::default(),
            reads: Reads::default(),
            most_of_record: MAX_RECORD,
            aside: None,
            #[cfg(any(feature = "python", all(test, feature = "clean")))]
            retained: None,
        }
    }

    /// Whether it is in a file.
    pub fn is_stored(&self) -> bool {
        self.file.is_some()
    }

    /// Its file.
    pub fn file(&self) -> Option<&File> {
        self.file.as_ref().map(|(file, _)| file)
    }

    /// Opens a file for writing, or creates it with the header that `new` makes. Its header must still be checked, and
    /// its content read.
    ///
    /// # Errors
    /// Those of [`check_new`], or the file cannot be opened or is not an index.
    pub fn open(path: &Path, creates: bool, new: impl FnOnce() -> Value) -> Result<(Self, Stored), Error> {
        let is_missing = fs::metadata(path).is_err_and(|error| error.kind() == io::ErrorKind::NotFound);
        if is_missing {
            check_new(path, creates)?;
        }
        let mut is_begun_anew = false;
        let failed = |error| Error::io(format!("cannot open the index {}", path.display()), error);
        let mut file = lock(path, File::options().create(creates))?;
        if is_unfinished(&file).map_err(failed)? {
            check_new(path, creates)?;
            file.set_len(0).map_err(failed)?;
            file.rewind().map_err(failed)?;
            file.write_all(&file_header(&new())).and_then(|()| file.sync_all()).map_err(failed)?;
            sync_folder(path);
            is_begun_anew = !is_missing;
        }
        let (log, stored) = Log::after(file, path, Stored::open(path)?)?;
        Ok((Log { is_begun_anew, ..log }, stored))
    }

    /// Opens an existing file for writing, whatever its settings.
    pub fn open_any(path: &Path) -> Result<(Self, Stored), Error> {
        if fs::metadata(path).is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
            return Err(missing(path));
        }
        let file = lock(path, &mut File::options())?;
        let stored = Stored::open(path)?;
        Log::after(file, path, stored)
    }

    fn after(file: File, path: &Path, stored: Stored) -> Result<(Self, Stored), Error> {
        let file = Some((file, path.to_path_buf()));
        // Records are read while the rest is not read yet.
        Ok((Log { file, written: stored.length, reads: stored.reads, ..Log::in_memory() }, stored))
    }

    /// Opens a file for reading only; another process may write to it. Its header must still be checked, and its content
    /// read. Nothing is ever pending.
    pub fn open_to_read(path: &Path) -> Result<(Self, Stored), Error> {
        let stored = Stored::open(path)?;
        let failed = |error| Error::io(format!("cannot open the index {}", path.display()), error);
        let file = Some((stored.file().try_clone().map_err(failed)?, path.to_path_buf()));
        let written = stored.length;
        Ok((Log { file, written, reads: stored.reads, ..Log::in_memory() }, stored))
    }

    /// A log in a new file that will [replace](Replacement::commit_exact) another.
    pub fn beside(new: &mut Replacement, header: &Value) -> Result<Self, Error> {
        let path = new.path().to_path_buf();
        let failed = |error| Error::io(format!("cannot write {}", path.display()), error);
        let mut file = new.file().try_clone().map_err(failed)?;
        let header = file_header(header);
        file.write_all(&header).map_err(failed)?;
        let written = header.len() as u64;
        Ok(Log { file: Some((file, path)), written, synced: written, is_due: true, ..Log::in_memory() })
    }

    /// Continues after the stored frames, and cuts off the rest.
    pub fn start_at(&mut self, end: &End) -> Result<(), Error> {
        if let Some((file, path)) = &mut self.file {
            let failed = |error| Error::io(format!("cannot write the index {}", path.display()), error);
            if file.metadata().map_err(failed)?.len() > end.at {
                file.set_len(end.at).map_err(failed)?;
            }
            // Data that an earlier process left with the operating system is synced before it is marked as written.
            file.sync_all().map_err(failed)?;
            file.seek(SeekFrom::Start(end.at)).map_err(failed)?;
            (self.synced, self.is_due) = (end.at, false);
            self.marked = if end.is_marked { end.at } else { 0 };
        }
        (self.written, self.digest, self.has_marks) = (end.at, end.digest, end.has_marks);
        Ok(())
    }

    /// Continues after the stored frames, but writes to another file, which is empty. The file of the log stays as it is.
    #[cfg(feature = "clean")]
    pub fn set_aside(&mut self, file: File, end: &End) {
        (self.written, self.synced, self.is_due) = (end.at, end.at, false);
        self.marked = if end.is_marked { end.at } else { 0 };
        (self.digest, self.has_marks) = (end.digest, end.has_marks);
        self.aside = Some(Aside { file, start: end.at, digest: end.digest, call: None });
    }

    /// Ends what was written to the other file, as one call: it counts once the mark at its end is there. Whoever appends it brings what is
    /// before the mark to the disk first. Nothing is written to the log any more.
    #[cfg(feature = "clean")]
    pub fn end_aside(&mut self) -> Result<(), Error> {
        let Some((start, call)) = self.written_aside()? else {
            let emptied = self.aside.iter().try_for_each(|aside| aside.file.set_len(0));
            return emptied.map_err(cannot_remember);
        };
        let end = self.written;
        self.frame(|out| out.push(SYNCED)).expect("a byte is a frame");
        self.commit(false)?;
        self.write_call(call - start, &call_frame(call, end))
    }

    /// Writes what is pending to the other file. Returns its start and the place of the call, if it has anything.
    #[cfg(feature = "clean")]
    fn written_aside(&mut self) -> Result<Option<(u64, u64)>, Error> {
        self.commit(false)?;
        let Some(Aside { start, call, .. }) = self.aside else { return Ok(None) };
        let call = call.filter(|call| self.written > call + CALL_FRAME);
        if call.is_none() {
            self.written = start;
        }
        Ok(call.map(|call| (start, call)))
    }

    /// Writes the frame that begins the call: its end is known last.
    #[cfg(feature = "clean")]
    fn write_call(&mut self, at: u64, frame: &[u8]) -> Result<(), Error> {
        let Some(Aside { file, .. }) = &mut self.aside else { return Ok(()) };
        file.seek(SeekFrom::Start(at)).and_then(|_| file.write_all(frame)).map_err(cannot_remember)
    }

    /// Writes what follows to another file, which is empty, until it [lands](Self::land). Everything is on the disk, and marked.
    #[cfg(any(feature = "python", all(test, feature = "clean")))]
    pub fn go_aside(&mut self, file: File) {
        self.aside = Some(Aside { file, start: self.written, digest: self.digest, call: None });
    }

    /// Appends what is in the other file, to the disk, as one call: it counts once it is marked that all of it is there. After an error
    /// the file is as it was.
    #[cfg(any(feature = "python", all(test, feature = "clean")))]
    pub fn land(&mut self) -> Result<(), Error> {
        self.retained = None;
        let Some((start, call)) = self.written_aside()? else {
            self.aside = None;
            return Ok(());
        };
        let Some((file, path)) = &self.file else { return Ok(()) };
        if !is_still_at(file, path) {
            let message =
                "was moved or replaced during this call, and nothing was added to it: put it back, and open it again";
            return Err(fault(path, IndexFault::Locked, message));
        }
        self.write_call(call - start, &call_frame(call, self.written))?;
        let (Some((file, path)), Some(aside)) = (&mut self.file, &self.aside) else { return Ok(()) };
        let appended = append(file, &aside.file, (start, self.written), start)
            .map_err(|error| Error::io(format!("cannot write the index {}", path.display()), error));
        (self.aside, self.synced, self.is_due) = (None, self.written, false);
        let landed = appended.and_then(|()| self.mark_synced());
        if let (Err(_), Some((file, _))) = (&landed, &self.file) {
            _ = file.set_len(start).and_then(|()| file.sync_all());
        }
        landed
    }

    /// Keeps what is there of a log in memory, until it is [restored](Self::restore) or [lands](Self::land).
    #[cfg(any(feature = "python", all(test, feature = "clean")))]
    pub fn retain(&mut self) {
        self.retained = Some(Retained { from: self.written, until: self.len(), bytes: Vec::new() });
    }

    /// Becomes what it was when that was kept. Returns the places of its records.
    #[cfg(any(feature = "python", all(test, feature = "clean")))]
    pub fn restore(&mut self) -> Vec<u64> {
        if let Some(Retained { from, until, mut bytes }) = self.retained.take() {
            self.pending.truncate(until.saturating_sub(self.written) as usize);
            bytes.append(&mut self.pending);
            (self.pending, self.written) = (bytes, from);
        }
        let (mut places, mut at) = (Vec::new(), 0);
        while let Some(head) = self.pending[at..].first_chunk() {
            places.push(self.written + at as u64);
            at += 16 + u32::from_le_bytes(*head) as usize;
        }
        places
    }

    /// The bytes that are not in a file, to damage them.
    #[cfg(all(test, feature = "clean"))]
    pub fn held(&mut self) -> &mut [u8] {
        &mut self.pending
    }

    /// The place from which on what it has is in another file, if there is one.
    pub fn aside_from(&self) -> Option<u64> {
        self.aside.as_ref().map(|aside| aside.start)
    }

    /// Its file, and the other one that it wrote to, if there is one.
    #[cfg(feature = "clean")]
    pub fn into_files(self) -> Option<((File, PathBuf), Aside)> {
        self.file.zip(self.aside)
    }

    /// Whether a frame marks that what precedes is on the disk.
    pub fn has_marks(&self) -> bool {
        self.has_marks
    }

    /// The number of bytes in the file.
    #[cfg(test)]
    pub fn written(&self) -> u64 {
        self.written
    }

    /// The number of bytes that are known to be on the disk.
    pub fn synced(&self) -> u64 {
        self.synced
    }

    /// Another process has written up to here.
    pub fn has_grown_to(&mut self, length: u64) {
        self.written = self.written.max(length);
    }

    /// Adds a note with the digest of everything before it, by which a checkpoint recognises the log.
    pub fn mark_place(&mut self) -> Mark {
        let (place, digest) = (self.next_place(), self.digest);
        self.notes.extend(Mark { place, digest, end: 0 }.words());
        self.frame_notes();
        self.is_due = true;
        Mark { place, digest, end: self.len() }
    }

    /// The total number of bytes.
    pub fn len(&self) -> u64 {
        self.written + self.pending.len() as u64
    }

    /// The number of bytes that are not written yet.
    pub fn bytes_pending(&self) -> usize {
        self.pending.len()
    }

    /// Bytes of memory.
    pub fn bytes_held(&self) -> u64 {
        (self.pending.capacity() + 8 * self.notes.capacity()) as u64
    }

    /// Adds a document to the log of an index of this algorithm. Returns its place.
    pub fn append(&mut self, document: &Document, algorithm: &dyn Algorithm) -> Result<u64, Error> {
        self.begin();
        self.frame_notes();
        self.is_due = true;
        let place = self.frame(|out| document.write(algorithm, out));
        place.ok_or_else(|| too_large(document.id))
    }

    /// Adds an entry of another log unchanged. Returns its place.
    pub fn copy(&mut self, entry: &[u8]) -> u64 {
        self.begin();
        self.frame_notes();
        self.is_due = true;
        self.frame(|out| out.extend_from_slice(entry)).expect("it was a frame before")
    }

    /// Adds the decision on a document. It changes nothing, so it only has to reach the disk with the next entry that does.
    pub fn note(&mut self, past: Past) {
        self.notes.extend(past.words());
        if self.notes.len() >= NOTES {
            self.begin();
            self.frame_notes();
        }
    }

    /// Adds a note without a document. Returns its place.
    pub fn mark(&mut self, word: u64) -> u64 {
        let place = self.next_place();
        self.notes.push(word);
        self.frame_notes();
        self.is_due = true;
        place
    }

    /// Adds what a run forgets, unless the last one forgot the same.
    pub fn note_forgetting(&mut self, forgetting: Forgetting) {
        for word in forgetting.words(self.forgetting) {
            self.mark(word);
        }
        self.forgetting = forgetting;
    }

    /// Adds which documents have left.
    pub fn note_left(&mut self, left: Left) {
        if let Some(word) = left.word() {
            self.mark(word);
        }
        self.left = left;
    }

    /// The place of the next entry. Notes so far are before it.
    pub fn next_place(&mut self) -> u64 {
        self.begin();
        self.frame_notes();
        self.len()
    }

    fn frame_notes(&mut self) {
        if !self.notes.is_empty() {
            let mut notes = std::mem::take(&mut self.notes);
            self.frame_of_words(&notes).expect("they are bounded");
            notes.clear();
            self.notes = notes;
        }
    }

    /// Logs that the documents at these places are forgotten.
    pub fn remove(&mut self, places: &[u64]) {
        // Frames are kept small, so that little is lost if one is incomplete.
        for places in places.chunks(1 << 16) {
            self.begin();
            self.frame_notes();
            self.is_due = true;
            self.frame_of_words(places).expect("half a megabyte is a frame");
        }
    }

    /// If everything written is known to be on the disk, the next write begins with a frame that marks this. A power
    /// failure may leave parts of that write, in any order; everything before the last such frame must be whole.
    fn begin(&mut self) {
        let is_due = self.synced == self.written && self.marked < self.written;
        if self.pending.is_empty() && self.file.is_some() && is_due {
            self.frame(|out| out.push(SYNCED)).expect("a byte is a frame");
            (self.marked, self.has_marks) = (self.len(), true);
        }
        #[cfg(feature = "clean")]
        self.begin_call();
    }

    /// What goes to another file is one call, which begins with its first entry.
    #[cfg(feature = "clean")]
    fn begin_call(&mut self) {
        let place = self.len();
        if let Some(Aside { call: call @ None, .. }) = &mut self.aside {
            *call = Some(place);
            self.pending.extend_from_slice(&call_frame(place, 0));
        }
    }

    /// Adds places or notes as a frame. `None` if it is too long.
    fn frame_of_words(&mut self, words: &[u64]) -> Option<u64> {
        self.frame(|out| {
            out.push(REMOVED);
            out.extend(words.iter().flat_map(|word| word.to_le_bytes()));
        })
    }

    /// Adds what `write` appends as a frame. `None` if it is too long.
    fn frame(&mut self, write: impl FnOnce(&mut Vec<u8>)) -> Option<u64> {
        let (place, pending) = (self.len(), &mut self.pending);
        let head = pending.len();
        let start = head + HEAD;
        pending.resize(start, 0);
        write(pending);
        let record = &pending[start..];
        let Some(length) = u32::try_from(record.len()).ok().filter(|&length| u64::from(length) <= self.most_of_record)
        else {
            pending.truncate(head);
            return None;
        };
        let check = xxh3_64_with_seed(record, place);
        pending[head..start].copy_from_slice(&frame_head(length, place));
        pending.extend_from_slice(&check.to_le_bytes());
        self.digest = digest_after(self.digest, check);
        Some(place)
    }

    fn has_written(&mut self) {
        self.written += self.pending.len() as u64;
        self.pending.clear();
        // After a long document.
        self.pending.shrink_to(2 * MOST_BUFFERED);
    }

    /// Writes what is pending, to the disk if required. Notes alone are left with the operating system, so that they survive a
    /// process that is killed, unless they are many.
    pub fn commit(&mut self, to_disk: bool) -> Result<(), Error> {
        if to_disk {
            self.end_commit(true)?;
        }
        if self.prepare_commit(to_disk)? {
            self.committing_from = self.written;
            self.write_pending()?;
            self.sync_written()?;
        }
        Ok(())
    }

    /// As [`commit`](Self::commit) to the disk, but what is written may reach it later: then this returns true, and
    /// [`end_commit`](Self::end_commit) waits for it. The commit before is ended first.
    pub fn begin_commit(&mut self) -> Result<bool, Error> {
        self.end_commit(true)?;
        if self.len() - self.marked > MOST_UNMARKED {
            return self.commit(true).map(|()| false);
        }
        if !self.prepare_commit(true)? {
            return Ok(false);
        }
        self.committing_from = self.written;
        self.write_pending()?;
        let is_begun = self.begin_syncing(false)?;
        self.is_due = false;
        Ok(is_begun)
    }

    /// Lets commits that are begun end by a function.
    #[cfg(test)]
    pub fn sync_by(&mut self, sync: impl FnMut() -> io::Result<()> + Send + 'static) {
        self.syncing = Some(Syncing::by(sync).unwrap());
    }

    /// Ends a commit that was [begun](Self::begin_commit), if what it wrote is on the disk or this `waits` for it. Returns whether none is
    /// left.
    pub fn end_commit(&mut self, waits: bool) -> Result<bool, Error> {
        let Some(syncing) = &mut self.syncing else { return Ok(true) };
        match syncing.end(waits) {
            Ok(Some(length)) => self.synced = self.synced.max(length),
            Ok(None) => return Ok(!syncing.is_under_way()),
            Err(error) => return Err(self.has_not_synced(error)),
        }
        Ok(true)
    }

    /// Brings the first `length` bytes to the disk, if they are in the file; this `waits` for it, or it goes on beside decisions. Returns whether
    /// they are there.
    ///
    /// The system reports once that it could not write a part of the file, to whoever syncs it next. So nothing but the log syncs it.
    pub fn bring_to_disk(&mut self, length: u64, waits: bool) -> Result<bool, Error> {
        if self.synced < length {
            self.end_commit(waits)?;
        }
        let is_under_way = self.syncing.as_ref().is_some_and(Syncing::is_under_way);
        if self.synced < length && self.written >= length && !is_under_way && self.aside.is_none() && !self.has_failed {
            // This is no commit: what is written now or meanwhile may have left, and stays.
            self.committing_from = u64::MAX;
            self.begin_syncing(waits)?;
        }
        Ok(self.synced >= length)
    }

    /// Begins to sync what is written, or does that now if it `waits` or there is no thread for it. Returns whether it was begun.
    fn begin_syncing(&mut self, waits: bool) -> Result<bool, Error> {
        if self.syncing.is_none() && !waits {
            self.syncing = self.file().and_then(|file| Syncing::new(file).ok());
        }
        let Some(syncing) = self.syncing.as_mut().filter(|_| !waits) else {
            return self.sync_written().map(|()| false);
        };
        syncing.begin(self.written);
        Ok(true)
    }

    /// Adds the notes. Writes what is pending if it is not to reach the disk now, and returns whether it must still be written and synced.
    fn prepare_commit(&mut self, to_disk: bool) -> Result<bool, Error> {
        if !self.notes.is_empty() {
            self.begin();
            self.frame_notes();
        }
        let to_disk = to_disk && (self.is_due || self.len() > self.synced + MAX_UNSYNCED_NOTES);
        let Some((file, path)) = &mut self.file else { return Ok(false) };
        if self.has_failed {
            let error = io::Error::other("an earlier write did not reach the disk");
            return Err(Error::io(format!("cannot write the index {}", path.display()), error));
        }
        if self.pending.is_empty() && !to_disk {
            return Ok(false);
        }
        if let Some(aside) = &mut self.aside {
            aside.file.write_all(&self.pending).map_err(cannot_remember)?;
            self.has_written();
            return Ok(false);
        }
        // Another process that opens the path now finds another file, without a lock. Documents must not be recorded in
        // a file that no path leads to.
        if !is_still_at(file, path) {
            return Err(fault(
                path,
                IndexFault::Locked,
                "was moved or replaced while this run writes to it; what was decided last did not leave and is not remembered: \
                 feed it again, with the index in one place",
            ));
        }
        if !to_disk {
            self.write_pending()?;
        }
        Ok(to_disk)
    }

    /// Leaves what is pending with the operating system.
    fn write_pending(&mut self) -> Result<(), Error> {
        let Some((file, path)) = &mut self.file else { return Ok(()) };
        if let Err(error) = file.write_all(&self.pending) {
            // Anything written of it is written again later.
            _ = file.set_len(self.written).and_then(|()| file.seek(SeekFrom::Start(self.written)));
            return Err(Error::io(format!("cannot write the index {}", path.display()), error));
        }
        self.has_written();
        Ok(())
    }

    /// Waits until everything written is on the disk.
    fn sync_written(&mut self) -> Result<(), Error> {
        let Some((file, _)) = &self.file else { return Ok(()) };
        file.sync_data().map_err(|error| self.has_not_synced(error))?;
        self.synced = self.written;
        // A document that is not written yet is still to be synced.
        self.is_due &= !self.pending.is_empty();
        Ok(())
    }

    /// What the commit wrote is removed, because it did not leave, and nothing is written after it.
    fn has_not_synced(&mut self, error: io::Error) -> Error {
        self.has_failed = true;
        self.written = self.written.min(self.committing_from);
        self.pending.clear();
        let Some((file, path)) = &mut self.file else { return Error::io("cannot write the index", error) };
        _ = file.set_len(self.written).and_then(|()| file.seek(SeekFrom::Start(self.written)));
        let what = format!("cannot write the index {}", path.display());
        Error::io(
            what,
            io::Error::new(error.kind(), format!("{error}; what was decided last did not leave: feed it again")),
        )
    }

    /// Writes what is pending, if that is much. A log in memory has it there.
    pub fn bound_pending(&mut self) -> Result<(), Error> {
        if self.pending.len() >= MOST_BUFFERED { self.commit(false) } else { Ok(()) }
    }

    /// Writes everything pending to the disk, and then a mark that it is there. From then on, an error before the mark
    /// is damage.
    pub fn seal(&mut self) -> Result<(), Error> {
        self.sync()?;
        self.mark_synced()
    }

    /// Writes everything pending to the disk, notes too.
    pub fn sync(&mut self) -> Result<(), Error> {
        self.is_due |= self.len() > self.synced || !self.notes.is_empty();
        self.commit(true)
    }

    /// Writes a mark that everything is on the disk, unless there is one.
    fn mark_synced(&mut self) -> Result<(), Error> {
        self.begin();
        self.is_due = !self.pending.is_empty();
        self.commit(true)
    }

    /// Frees everything before a place, if the log is in memory. It must not be read again.
    pub fn drop_before(&mut self, place: u64) {
        if self.file.is_none() {
            let dropped = self.pending.drain(..(place - self.written) as usize);
            #[cfg(any(feature = "python", all(test, feature = "clean")))]
            if let Some(Retained { until, bytes, .. }) = &mut self.retained {
                bytes.extend(dropped.as_slice().iter().take(until.saturating_sub(self.written) as usize));
            }
            drop(dropped);
            self.pending.shrink_to(2 * self.pending.len());
            self.written = place;
        }
    }

    /// Passes the documents in the file from one place to another to a function, without what is compared.
    ///
    /// # Errors
    /// The file cannot be read, or has no frame at one of the places.
    pub fn each_between(&mut self, places: Range<u64>, mut each: impl FnMut(Record)) -> Result<(), Error> {
        let Some((file, path)) = &self.file else { return Ok(()) };
        let failed = |error| Error::io(format!("cannot read the index {}", path.display()), error);
        let (mut at, end, mut head) = (places.start, places.end.min(self.written), [0; HEAD]);
        let reads = Reads { skips_evidence: true, ..self.reads };
        while at < end {
            let wrong = || damaged(path, &format!("damaged at byte {at}: the record there has changed"));
            read_at(file, &mut head, at).map_err(failed)?;
            let length = length_of(head, at).ok_or_else(wrong)? as usize;
            self.buffer.resize(length + 8, 0);
            read_at(file, &mut self.buffer, at + HEAD as u64).map_err(failed)?;
            let bytes = checked(&self.buffer, at).ok_or_else(wrong)?;
            if let Some(Entry::Document(record)) = Entry::parse(bytes, &reads) {
                each(record);
            }
            at += (HEAD + length + 8) as u64;
        }
        Ok(())
    }

    /// The record at a place.
    pub fn read(&mut self, place: u64) -> Result<Record, Error> {
        if let Some(at) = place.checked_sub(self.written) {
            let frame = usize::try_from(at).ok().and_then(|at| self.pending.get(at..)).unwrap_or_default();
            let head = frame.first_chunk().copied();
            let length = head.map_or(0, |head: [u8; 4]| u32::from_le_bytes(head) as usize);
            let record = frame.get(8..8 + length).and_then(|record| Record::parse(record, &self.reads));
            return record.ok_or_else(|| {
                let path = self.file.as_ref().map_or(Path::new("in memory"), |(_, path)| path);
                damaged(path, &format!("there is no record at byte {place}"))
            });
        }
        let (file, path) = self.file.as_ref().expect("what is not pending is in the file");
        let failed = |error| Error::io(format!("cannot read the index {}", path.display()), error);
        let (file, at, end) = match &self.aside {
            Some(aside) if place >= aside.start => (&aside.file, place - aside.start, self.written),
            Some(aside) => (file, place, aside.start),
            None => (file, place, self.written),
        };
        // Most records are read at once.
        let first = (end - place).clamp(HEAD as u64, READ_FIRST) as usize;
        self.buffer.resize(first, 0);
        read_at(file, &mut self.buffer, at).map_err(failed)?;
        let wrong = || damaged(path, &format!("damaged at byte {place}: the record there has changed"));
        let head = self.buffer.first_chunk().copied().unwrap_or_default();
        let end = HEAD + length_of(head, place).ok_or_else(wrong)? as usize + 8;
        self.buffer.resize(end, 0);
        if let Some(rest) = self.buffer.get_mut(first..) {
            read_at(file, rest, at + first as u64).map_err(failed)?;
        }
        let record = checked(&self.buffer[HEAD..], place).and_then(|bytes| Record::parse(bytes, &self.reads));
        if self.buffer.len() > MOST_BUFFERED {
            self.buffer = Vec::new();
        }
        record.ok_or_else(wrong)
    }
}

#[cfg(test)]
mod tests {
    use super::super::entry::NO_PLACE;
    use super::*;
    use serde_json::json;
    use std::sync::mpsc::{Sender, channel};

    /// A log in a new file, with everything on the disk and marked.
    fn log(folder: &Path) -> Log {
        let (mut log, _) = Log::open(&folder.join("index"), true, || json!({})).unwrap();
        let at = log.written();
        log.start_at(&End { at, torn: None, is_marked: false, damaged: 0, missing: 0, digest: 0, has_marks: false })
            .unwrap();
        log
    }

    #[test]
    fn notes_are_in_the_file_when_they_leave_and_on_the_disk_when_they_are_many() {
        let folder = tempfile::tempdir().unwrap();
        let mut log = log(folder.path());
        let (begin, mut committed) = (log.written(), 0);
        while log.synced == begin {
            log.note(Past { name: NO_PLACE | 5, original: Some(begin) });
            log.commit(true).unwrap();
            committed += 1;
            assert_eq!((log.written(), log.bytes_pending()), (log.file().unwrap().metadata().unwrap().len(), 0));
            assert!(log.written() >= begin + 16 * committed && log.written() <= begin + MAX_UNSYNCED_NOTES + 64);
        }
        assert!(log.synced > begin + MAX_UNSYNCED_NOTES && log.synced == log.written());
        // Before anything else is written, that is marked; and with what changes the index, notes before it are on the disk.
        log.note(Past { name: NO_PLACE | 5, original: Some(begin) });
        log.commit(true).unwrap();
        assert!(log.has_marks() && log.synced < log.written());
        log.remove(&[begin]);
        log.commit(true).unwrap();
        assert_eq!(log.synced, log.written());
        // The same at the end of a stream that was interrupted, and in each batch with `Sync::Always`.
        log.note(Past { name: NO_PLACE | 5, original: Some(begin) });
        log.sync().unwrap();
        assert_eq!(log.synced, log.written());
    }

    /// What the disk refused is reported as written by the next sync: nothing may rely on that.
    #[cfg(target_os = "linux")]
    #[test]
    fn nothing_is_written_after_the_disk_has_failed() {
        let folder = tempfile::tempdir().unwrap();
        let mut log = log(folder.path());
        let (written, path) = (log.written(), folder.path().join("index"));
        // A pipe takes bytes and cannot be synced.
        let (reader, writer) = io::pipe().unwrap();
        let file = std::mem::replace(&mut log.file.as_mut().unwrap().0, File::from(std::os::fd::OwnedFd::from(writer)));
        assert!(file.sync_data().is_ok());
        log.remove(&[written]);
        log.committing_from = log.written;
        let error = log.write_pending().and_then(|()| log.sync_written()).unwrap_err().to_string();
        drop(reader);
        log.file.as_mut().unwrap().0 = file;
        for result in [log.commit(true), log.commit(false), log.sync(), log.seal()] {
            let again = result.unwrap_err().to_string();
            assert!(again.contains("an earlier write did not reach the disk") && again != error, "{error}; {again}");
        }
        assert_eq!((log.written(), fs::metadata(&path).unwrap().len()), (written, written));
    }

    /// A log whose syncs on another thread end with what is sent.
    fn synced_by_hand(folder: &Path) -> (Log, Sender<io::Result<()>>) {
        let (mut log, (results, wait)) = (log(folder), channel());
        log.sync_by(move || wait.recv().unwrap());
        (log, results)
    }

    /// The places of the frames in the file, from one on, that mark what is before them.
    fn marks(folder: &Path, begin: u64) -> Vec<u64> {
        let (file, mut at, mut marks) = (fs::read(folder.join("index")).unwrap(), begin as usize, Vec::new());
        while at < file.len() {
            let start = at + HEAD;
            let length = length_of(*file[at..].first_chunk().unwrap(), at as u64).unwrap() as usize;
            marks.extend((file[start..start + length] == [SYNCED]).then_some(at as u64));
            at = start + length + 8;
        }
        marks
    }

    #[test]
    fn a_commit_that_was_begun_is_on_the_disk_when_it_ends() {
        let folder = tempfile::tempdir().unwrap();
        let (mut log, results) = synced_by_hand(folder.path());
        let begin = log.written();
        log.remove(&[begin]);
        assert!(log.begin_commit().unwrap() && !log.end_commit(false).unwrap());
        let first = log.written();
        assert_eq!((log.synced, first), (begin, fs::metadata(folder.path().join("index")).unwrap().len()));
        // What is added meanwhile is not part of it, and not marked: this would say that the first is on the disk.
        log.remove(&[begin, begin]);
        log.commit(false).unwrap();
        results.send(Ok(())).unwrap();
        assert!(log.end_commit(true).unwrap());
        assert_eq!((log.synced, marks(folder.path(), begin)), (first, vec![begin]));
        assert!(log.written() > first && log.is_due);
        // The next one has the rest; a commit that waits ends it first.
        results.send(Ok(())).unwrap();
        assert!(log.begin_commit().unwrap());
        log.commit(true).unwrap();
        assert_eq!((log.synced, log.end_commit(false).unwrap()), (log.written(), true));
        let end = log.written();
        log.remove(&[begin]);
        log.commit(true).unwrap();
        assert_eq!(marks(folder.path(), begin), [begin, end]);
        // Nothing is left to do.
        assert!(!log.begin_commit().unwrap() && log.end_commit(true).unwrap());
    }

    #[test]
    fn the_distance_of_marks_is_bounded() {
        let folder = tempfile::tempdir().unwrap();
        let (mut log, results) = synced_by_hand(folder.path());
        let (begin, mut waited, mut begun) = (log.written(), 0, 0);
        while log.written() < begin + 20 * MOST_UNMARKED {
            log.remove(&[begin; 20]);
            match log.begin_commit().unwrap() {
                true => {
                    begun += 1;
                    // The disk has it only after the next was added.
                    log.remove(&[begin]);
                    log.commit(false).unwrap();
                    results.send(Ok(())).unwrap();
                    assert!(log.end_commit(true).unwrap() && log.synced < log.written());
                }
                false => {
                    waited += 1;
                    assert_eq!(log.synced, log.written());
                }
            }
        }
        assert!(begun > 10 * waited && waited > 10, "{begun} {waited}");
        let marks = marks(folder.path(), begin);
        let far = |pair: &[u64]| pair[1] - pair[0] > MOST_UNMARKED + 1000;
        assert!(marks.len() > 15 && !marks.windows(2).any(far) && marks[0] < begin + 2 * MOST_UNMARKED, "{marks:?}");
    }

    #[test]
    fn nothing_is_written_after_a_begun_commit_has_failed() {
        let folder = tempfile::tempdir().unwrap();
        let (mut log, results) = synced_by_hand(folder.path());
        let written = log.written();
        log.remove(&[written]);
        assert!(log.begin_commit().unwrap());
        // Written meanwhile, as a long document is.
        log.remove(&[written; 3]);
        log.commit(false).unwrap();
        results.send(Err(io::Error::other("no space"))).unwrap();
        let error = log.end_commit(true).unwrap_err().to_string();
        assert!(error.contains("cannot write the index") && error.contains("no space"), "{error}");
        log.remove(&[written]);
        let results = [log.commit(true), log.commit(false), log.begin_commit().map(drop), log.sync(), log.seal()];
        for result in results {
            let again = result.unwrap_err().to_string();
            assert!(again.contains("an earlier write did not reach the disk"), "{again}");
        }
        assert_eq!((log.written(), fs::metadata(folder.path().join("index")).unwrap().len()), (written, written));
    }
}
