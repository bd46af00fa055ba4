//! The files of an index's tables, which are written and merged beside decisions.

use super::checkpoint::{Checkpoint, Manifest, number_of};
use super::decision::TableWork;
use super::retired;
use super::segment::{Fresh, Segment};
use crate::postings::Writer;
use std::fs;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

/// The number of segments that are merged into one.
const MERGED: usize = 4;

/// The number of documents of a segment of level 0. Segments of each further level have four times as many.
const SMALL: u32 = 1 << 14;

/// With more segments than this, flushes wait for merges.
const MOST_SEGMENTS: usize = 48;

/// Where segments are.
#[derive(Clone, Debug)]
pub(super) enum Folder {
    /// In the folder of a checkpoint, which later runs open.
    Kept(Checkpoint),
    /// In unnamed files in a folder, which the system removes with the process.
    Temporary(PathBuf),
}

/// The segments of an index, and the work on them.
pub(super) struct Disk {
    folder: Folder,
    /// The oldest first.
    segments: Vec<Arc<Segment>>,
    /// The number of first segments that belong to another process, and are not merged.
    foreign: usize,
    /// The number of the next segment.
    next: u64,
    /// Ends work that is under way.
    stop: Arc<AtomicBool>,
    flush: Option<Flush>,
    merge: Option<Merge>,
    saving: Option<Job<()>>,
    /// The last whole state of the index, without its segments, and whether the checkpoint is behind it.
    manifest: Option<Manifest>,
    is_behind: bool,
    /// Why a checkpoint was not saved.
    failure: Option<io::Error>,
    /// Whether it is known that segments can be made.
    is_checked: bool,
    /// Segments that the next checkpoint does not name any more.
    garbage: Vec<PathBuf>,
    /// How many segments were written, and how many merges have ended.
    counts: (u64, u64),
}

struct Flush {
    job: Job<Segment>,
    moves: bool,
    bytes: u64,
    manifest: Option<Manifest>,
}

struct Merge {
    job: Job<Segment>,
    /// The first segment, and the number of them.
    first: Arc<Segment>,
    count: usize,
}

/// Work on a thread of its own.
struct Job<T>(JoinHandle<io::Result<T>>);

impl<T: Send + 'static> Job<T> {
    fn begin(work: impl FnOnce() -> io::Result<T> + Send + 'static) -> io::Result<Self> {
        thread::Builder::new().name("dedup tables".into()).spawn(work).map(Job)
    }

    fn has_ended(&self) -> bool {
        self.0.is_finished()
    }

    fn end(self) -> io::Result<T> {
        self.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }

    fn join(self) -> thread::Result<io::Result<T>> {
        self.0.join()
    }
}

/// What a flush that has ended added.
pub(super) struct Flushed {
    pub segment: Arc<Segment>,
    pub moves: bool,
}

/// Segments that were merged, by their positions.
pub(super) struct Merged {
    pub range: Range<usize>,
    pub segment: Arc<Segment>,
}

impl Disk {
    /// Without segments.
    pub fn new(folder: Folder) -> Self {
        let next = match &folder {
            Folder::Kept(checkpoint) => checkpoint.clean(|_| true),
            Folder::Temporary(_) => 0,
        };
        Self::empty(folder, next, false)
    }

    /// For tables that will take the place of these, in the same folder.
    pub fn successor(&self) -> Self {
        // Far above the numbers that are used meanwhile.
        Self::empty(self.folder.clone(), self.next.saturating_add(1 << 24), self.is_checked)
    }

    fn empty(folder: Folder, next: u64, is_checked: bool) -> Self {
        Disk {
            folder,
            segments: Vec::new(),
            foreign: 0,
            next,
            stop: Arc::default(),
            flush: None,
            merge: None,
            saving: None,
            manifest: None,
            is_behind: false,
            failure: None,
            is_checked,
            garbage: Vec::new(),
            counts: (0, 0),
        }
    }

    /// Takes the place of the files of other tables, which are removed once a checkpoint has others. No checkpoint of theirs
    /// may be being [saved](Self::is_saving).
    pub fn succeed(&mut self, mut old: Disk) {
        self.failure = old.failure.take();
        self.counts = (self.counts.0 + old.counts.0, self.counts.1 + old.counts.1);
        self.garbage.append(&mut old.garbage);
        self.garbage.extend(old.segments.drain(..).filter_map(|segment| segment.path.clone()));
        if old.is_kept() && !self.is_kept() {
            // Nothing will name others.
            self.garbage.clear();
        }
        // What is being written is of no use. It ends beside decisions; here, if no thread starts.
        let end = move || {
            old.stop();
            retired::remove(std::mem::take(&mut old.garbage));
        };
        _ = thread::Builder::new().spawn(end);
    }

    /// Whether the checkpoint has the last whole state of the index.
    pub fn is_saved(&self) -> bool {
        !self.is_behind && self.saving.is_none() && self.flush.is_none()
    }

    /// Whether a checkpoint is being saved.
    pub fn is_saving(&self) -> bool {
        self.saving.as_ref().is_some_and(|saving| !saving.has_ended())
    }

    /// Waits for the checkpoint that is being saved.
    pub fn wait_for_saving(&mut self) {
        if let Some(saving) = self.saving.take() {
            self.failure = self.failure.take().or(saving.end().err());
        }
    }

    /// Takes over the segments of a checkpoint. Others in its folder are removed, if it is this index's own.
    pub fn open(&mut self, manifest: Manifest, segments: Vec<Arc<Segment>>) {
        match &self.folder {
            Folder::Kept(checkpoint) => {
                checkpoint.clean(|number| manifest.segments.iter().any(|&(kept, ..)| kept == number));
            }
            Folder::Temporary(_) => self.foreign = segments.len(),
        }
        (self.segments, self.manifest) = (segments, Some(manifest));
    }

    /// Whether segments are those of a checkpoint.
    pub fn has_checkpoint(&self) -> bool {
        self.manifest.is_some()
    }

    /// Removes the segments that no checkpoint names.
    pub fn clean(&self) {
        if let Folder::Kept(checkpoint) = &self.folder {
            checkpoint.clean(|_| false);
        }
    }

    /// Whether later runs open the segments.
    pub fn is_kept(&self) -> bool {
        matches!(self.folder, Folder::Kept(_))
    }

    /// Whether checkpoints are made, and none has failed.
    pub fn makes_checkpoints(&self) -> bool {
        self.is_kept() && self.failure.is_none()
    }

    pub fn folder(&self) -> &Path {
        match &self.folder {
            Folder::Kept(checkpoint) => checkpoint.folder(),
            Folder::Temporary(folder) => folder,
        }
    }

    /// The end of the documents that are flushed. One that is under way does not count.
    pub fn flushed(&self) -> u32 {
        self.segments.last().map_or(0, |segment| segment.documents.end)
    }

    pub fn is_flushing(&self) -> bool {
        self.flush.is_some()
    }

    /// Whether the flush that is under way has ended.
    #[cfg(test)]
    pub fn has_flushed(&self) -> bool {
        self.flush.as_ref().is_some_and(|flush| flush.job.has_ended())
    }

    /// Bytes of memory that a flush holds.
    pub fn bytes_held(&self) -> u64 {
        self.flush.as_ref().map_or(0, |flush| flush.bytes)
    }

    /// What makes the file of the next segment: on another thread, because that can wait for other writes to the disk.
    fn new_file(&mut self) -> NewFile {
        self.next += 1;
        NewFile { folder: self.folder.clone(), number: self.next - 1, stop: Arc::clone(&self.stop) }
    }

    /// Checks that segments can be made, before the first is.
    fn check_folder(&mut self) {
        if let Folder::Kept(checkpoint) = &self.folder
            && !std::mem::replace(&mut self.is_checked, true)
            && !checkpoint.can_be_made()
        {
            // This process may not write beside the index. The segments of the checkpoint stay as they are.
            self.folder = Folder::Temporary(std::env::temp_dir());
            self.foreign = self.segments.len();
        }
    }

    /// Begins to write what is fresh. With a manifest, a checkpoint will have it. No other flush may be under way.
    ///
    /// # Errors
    /// No thread starts.
    pub fn begin_flush(&mut self, fresh: Fresh, moves: bool, manifest: Option<Manifest>) -> io::Result<()> {
        self.check_folder();
        let (file, bytes) = (self.new_file(), fresh.bytes_held());
        let manifest = manifest.filter(|_| self.is_kept());
        let job = Job::begin(move || file.write(|out, path| Segment::write(out, path, fresh)))?;
        self.flush = Some(Flush { job, moves, bytes, manifest });
        Ok(())
    }

    /// The flush that has ended, if one has; waits for it if that is wanted.
    ///
    /// # Errors
    /// Those of the flush.
    pub fn end_flush(&mut self, waits: bool) -> io::Result<Option<Flushed>> {
        let Some(flush) = self.flush.take_if(|flush| waits || flush.job.has_ended()) else { return Ok(None) };
        let segment = Arc::new(flush.job.end()?);
        self.counts.0 += 1;
        self.segments.push(Arc::clone(&segment));
        if flush.manifest.is_some() {
            (self.manifest, self.is_behind) = (flush.manifest, true);
        }
        Ok(Some(Flushed { segment, moves: flush.moves }))
    }

    /// Begins to merge segments where there are too many; the last `held` of them are in memory too, and are not merged with
    /// others. Postings of documents below `gone` may be left out. Returns whether a merge is under way.
    ///
    /// # Errors
    /// No thread starts.
    pub fn begin_merge(&mut self, held: usize, gone: u32) -> io::Result<bool> {
        if self.merge.is_none() {
            let Some(range) = self.to_merge(held) else { return Ok(false) };
            let file = self.new_file();
            let parts = self.segments[range.clone()].to_vec();
            // Later runs may remember more.
            let gone = if self.is_kept() { 0 } else { gone };
            let (first, count) = (Arc::clone(&parts[0]), parts.len());
            let job = Job::begin(move || file.write(|out, path| Segment::merge(out, path, &parts, gone)))?;
            self.merge = Some(Merge { job, first, count });
        }
        Ok(true)
    }

    /// The number of documents that are being merged.
    pub fn merging(&self) -> usize {
        let Some(Merge { first, count, .. }) = &self.merge else { return 0 };
        self.segments[self.positions(first, *count)].iter().map(|segment| segment.documents.len()).sum()
    }

    /// The work so far.
    pub fn work(&self) -> TableWork {
        TableWork { written: self.counts.0, merges: self.counts.1, merging: self.merging() as u64 }
    }

    /// The positions of consecutive segments. Several may begin with the same document, because some have postings only.
    fn positions(&self, first: &Arc<Segment>, count: usize) -> Range<usize> {
        let start = self.segments.iter().position(|segment| Arc::ptr_eq(segment, first)).expect("it is there");
        start..start + count
    }

    /// The segments to be merged next.
    fn to_merge(&self, held: usize) -> Option<Range<usize>> {
        let old = self.segments.len() - held;
        let of_held = to_merge(&self.segments, old..self.segments.len());
        of_held.or_else(|| to_merge(&self.segments, self.foreign.min(old)..old))
    }

    /// Whether flushes have to wait for a merge.
    pub fn must_merge(&self, held: usize) -> bool {
        self.segments.len() > MOST_SEGMENTS && (self.merge.is_some() || self.to_merge(held).is_some())
    }

    /// The merge that has ended, if one has; waits for it if that is wanted.
    ///
    /// # Errors
    /// Those of the merge.
    pub fn end_merge(&mut self, waits: bool) -> io::Result<Option<Merged>> {
        let Some(merge) = self.merge.take_if(|merge| waits || merge.job.has_ended()) else { return Ok(None) };
        let segment = Arc::new(merge.job.end()?);
        self.counts.1 += 1;
        let range = self.positions(&merge.first, merge.count);
        let old = self.segments.splice(range.clone(), [Arc::clone(&segment)]);
        self.garbage.extend(old.filter_map(|segment| segment.path.clone()));
        self.is_behind = self.manifest.is_some();
        Ok(Some(Merged { range, segment }))
    }

    /// The place that the log must have on the disk for the checkpoint to be [saved](Self::save); `None` if it is not to be saved.
    pub fn awaits(&self) -> Option<u64> {
        let manifest = self.manifest.as_ref().filter(|_| self.is_behind && self.makes_checkpoints());
        manifest.map(|manifest| manifest.mark.end)
    }

    /// Saves the checkpoint if it is behind, and the log is on the disk up to its place, `synced`; waits for it if that is wanted. After a
    /// failure no other is tried: the index is complete without one.
    ///
    /// # Errors
    /// If it waits: the checkpoint cannot be written, now or before.
    pub fn save(&mut self, synced: u64, waits: bool) -> io::Result<()> {
        if self.failure.is_none() {
            self.failure = self.try_save(synced, waits).err();
        }
        match &self.failure {
            Some(failure) if waits => Err(io::Error::new(failure.kind(), failure.to_string())),
            _ => Ok(()),
        }
    }

    fn try_save(&mut self, synced: u64, waits: bool) -> io::Result<()> {
        if let Some(saving) = self.saving.take_if(|saving| waits || saving.has_ended()) {
            saving.end()?;
        }
        let (Folder::Kept(checkpoint), Some(manifest)) = (&self.folder, &self.manifest) else { return Ok(()) };
        if !self.is_behind || self.saving.is_some() || synced < manifest.mark.end {
            return Ok(());
        }
        let named =
            |segment: &Arc<Segment>| Some((number_of(segment.file_name()?)?, segment.documents.end, segment.check));
        // Documents that were flushed since belong to a later state, or to none yet.
        let own = manifest.segments.last().map_or(0, |&(_, end, _)| end);
        let own_segments = self.segments.iter().filter(|segment| segment.documents.end <= own);
        let manifest = Manifest { segments: own_segments.filter_map(named).collect(), ..manifest.clone() };
        let is_whole = manifest.segments.last().is_some_and(|&(_, end, _)| end == own);
        if !is_whole {
            // A merge went beyond it; the state at its end comes with the next flush.
            return Ok(());
        }
        let (checkpoint, garbage) = (checkpoint.clone(), std::mem::take(&mut self.garbage));
        self.is_behind = false;
        let job = Job::begin(move || {
            checkpoint.write(&manifest)?;
            retired::remove(garbage);
            Ok(())
        })?;
        match waits {
            true => job.end(),
            false => {
                self.saving = Some(job);
                Ok(())
            }
        }
    }

    /// Ends all work, and forgets all segments. Their files are removed once a checkpoint has others.
    pub fn clear(&mut self) {
        self.stop();
        self.stop = Arc::default();
        self.garbage.extend(self.segments.drain(..).filter_map(|segment| segment.path.clone()));
        (self.foreign, self.manifest, self.is_behind) = (0, None, false);
    }

    /// Removes the checkpoint, which is damaged.
    pub fn forget_checkpoint(&mut self) {
        if let Folder::Kept(checkpoint) = &self.folder {
            checkpoint.remove();
        }
    }

    fn stop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let jobs = [self.flush.take().map(|flush| flush.job), self.merge.take().map(|merge| merge.job)];
        // A panic in one of them is not passed on: this may be dropped because of another.
        for job in jobs.into_iter().flatten() {
            let segment = job.join().ok().and_then(Result::ok);
            self.garbage.extend(segment.and_then(|segment| segment.path));
        }
        if let Some(saving) = self.saving.take() {
            _ = saving.join();
        }
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        self.stop();
    }
}

/// The file of a new segment, to be made.
struct NewFile {
    folder: Folder,
    number: u64,
    stop: Arc<AtomicBool>,
}

impl NewFile {
    /// Makes it, and writes a segment. If that fails, it is removed.
    fn write(self, write: impl FnOnce(Writer, Option<PathBuf>) -> io::Result<Segment>) -> io::Result<Segment> {
        match self.folder {
            Folder::Kept(checkpoint) => {
                let (file, path) = checkpoint.new_segment(self.number)?;
                write(Writer::new(file, true, &self.stop), Some(path.clone()))
                    .inspect_err(|_| _ = fs::remove_file(&path))
            }
            Folder::Temporary(folder) => write(Writer::new(tempfile::tempfile_in(folder)?, false, &self.stop), None),
        }
    }
}

/// The segments of a range that should be merged: the last [`MERGED`], if the first of them is not of a higher level than
/// all others. So there are at most three of each level, and each document is merged once a level.
fn to_merge(segments: &[Arc<Segment>], range: Range<usize>) -> Option<Range<usize>> {
    let start = range.end.checked_sub(MERGED).filter(|&start| start >= range.start)?;
    let level = |segment: &Arc<Segment>| (segment.documents.len() as u32 / SMALL).max(1).ilog2() / 2;
    let (first, others) = segments[start..range.end].split_first()?;
    others.iter().any(|other| level(other) >= level(first)).then_some(start..range.end)
}
