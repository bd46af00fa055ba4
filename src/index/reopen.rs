//! Opening the tables of an index from its checkpoint.

use super::checkpoint::{Checkpoint, Manifest, Mark, Notes};
use super::forgetting::Forgetting;
use super::frame::{FRAME_OVERHEAD, digest_after};
use super::hot::HotKeys;
use super::options::Limits;
use super::outlines::Outlines;
use super::repeat::Tail;
use super::segment::{Segment, TABLES};
use super::shape::Kind;
use super::stored::{Start, Stored};
use super::tables::Tables;
use super::unconfirmed::Left;
use crate::postings::{Run, Table, Words};
use std::io;
use std::path::Path;
use std::sync::Arc;

/// What a checkpoint has beside tables.
pub(super) struct Beside {
    /// The time of each document, in seconds, if documents expire.
    pub times: Vec<u32>,
    /// The documents that were removed.
    pub removed: Vec<u32>,
    /// What the last run before its place forgot.
    pub forgetting: Forgetting,
    /// What the log says before its place of what has left.
    pub left: Left,
}

/// Opens the checkpoint of the index at a path if it has one that fits, and lets the log be read from there on. `None` if
/// it has none; then nothing has changed.
pub(super) fn reopen(
    path: &Path,
    tables: &mut Tables,
    limits: &Limits,
    stored: &mut Stored,
    tail: &mut Tail,
) -> Option<Beside> {
    let checkpoint = Checkpoint::of(path);
    for _ in 0..TRIES {
        let Some(manifest) = checkpoint.read() else { break };
        match open(&checkpoint, &manifest, tables, limits, stored, tail) {
            Ok(Some((segments, beside))) => {
                tables.disk.as_mut().expect("it is in a file").open(manifest, segments);
                return Some(beside);
            }
            // A writer has merged segments, and there is another checkpoint.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Ok(None) | Err(_) => break,
        }
    }
    tables.disk.as_ref().expect("it is in a file").clean();
    None
}

/// The segments, which the tables now have, and what is beside them.
type Opened = (Vec<Arc<Segment>>, Beside);

fn open(
    checkpoint: &Checkpoint,
    manifest: &Manifest,
    tables: &mut Tables,
    limits: &Limits,
    stored: &mut Stored,
    tail: &mut Tail,
) -> io::Result<Option<Opened>> {
    if manifest.identity != tables.identity || tables.has_names && !manifest.has_names || !manifest.suits(limits) {
        return Ok(None);
    }
    let Some(start) = start_of(manifest, stored)? else { return Ok(None) };
    let most = start.at.saturating_mul(MOST_FOOTER.1).saturating_add(MOST_FOOTER.0);
    let mut segments = Vec::new();
    for (&(number, _, check), documents) in manifest.segments.iter().zip(manifest.documents()) {
        let segment = Segment::open(&checkpoint.segment(number), most)?;
        if (&segment.documents, segment.check) != (&documents, check) || documents.start > documents.end {
            return Ok(None);
        }
        segments.push(Arc::new(segment));
    }
    let with_times = limits.expire.is_some();
    let Some(parts) = Parts::read(tables, with_times, &segments, start.at, stored)? else { return Ok(None) };
    if let Some(notes) = manifest.notes {
        if !tail.keeps_some() {
            tail.begin_at(notes.place, notes.follow);
        } else if let Some(read) = tail_from(stored, notes, start.at, tail.like()) {
            *tail = read;
        } else {
            return Ok(None);
        }
    }
    stored.start_at(start);
    (tables.dropped, tables.has_names) = (manifest.limits, manifest.has_names);
    let beside = parts.move_into(tables, &segments, manifest);
    Ok(Some((segments, beside)))
}

/// How often a checkpoint is read that is replaced meanwhile.
const TRIES: usize = 5;

/// The maximum size of a footer or another part: in bytes, and for each byte of the log. A fingerprint of 64 bits can have
/// 2,000 keys.
const MOST_FOOTER: (u64, u64) = (1 << 20, 64);

/// The minimum size of a document in the log, in bytes.
const LEAST_BYTES: u64 = 34;

/// The maximum size of the frame of a mark.
const MOST_MARK: u64 = 64;

/// Where the log goes on after the place of a checkpoint; `None` if it is the checkpoint of another log.
fn start_of(manifest: &Manifest, stored: &mut Stored) -> io::Result<Option<Start>> {
    let Mark { place, digest, end } = manifest.mark;
    let Some((record, check)) = stored.frame_at(place, MOST_MARK)? else { return Ok(None) };
    let expected = manifest.mark.words().into_iter().flat_map(u64::to_le_bytes);
    let is_it = record.split_first().is_some_and(|(_, words)| words.iter().copied().eq(expected));
    let is_its_end = place + FRAME_OVERHEAD + record.len() as u64 == end;
    let start = Start { at: end, digest: digest_after(digest, check), has_marks: manifest.has_marks };
    Ok((is_it && is_its_end).then_some(start))
}

/// The last decisions before a place; `None` if they are too few, or if the log cannot be read there.
fn tail_from(stored: &mut Stored, notes: Notes, end: u64, mut tail: Tail) -> Option<Tail> {
    let (start, length, reads) = (stored.start(), stored.length, stored.reads);
    (tail.begin_at(notes.place, notes.follow) && notes.place < end).then_some(())?;
    stored.start_at(Start { at: notes.place, ..start });
    (stored.length, stored.reads.skips_evidence) = (end, true);
    let read = stored.each(|place, entry, _| {
        tail.read(place, &entry);
        Ok(())
    });
    stored.start_at(start);
    (stored.length, stored.reads) = (length, reads);
    read.ok().filter(|end| end.torn.is_none()).map(|_| tail)
}

/// What segments hold that is always in memory.
struct Parts {
    places: Vec<u64>,
    times: Vec<u32>,
    fingerprints: Vec<u64>,
    ends: Vec<u64>,
    removed: Vec<u32>,
    hot: Option<HotKeys>,
}

impl Parts {
    /// `None` if it cannot be that of the index, whose log goes on at `end`.
    fn read(
        tables: &Tables,
        with_times: bool,
        segments: &[Arc<Segment>],
        end: u64,
        stored: &Stored,
    ) -> io::Result<Option<Self>> {
        let (mut places, mut times) = (Vec::<u64>::new(), Vec::new());
        let (mut fingerprints, mut ends) = (Vec::new(), Vec::new());
        let has_fingerprints = tables.has_fingerprints;
        for segment in segments {
            // Each document is in the log.
            if u64::from(segment.documents.end) * LEAST_BYTES > end {
                return Ok(None);
            }
            let (count, bytes) = (segment.documents.len(), segment.places.read()?);
            let mut words = Words::new(&bytes);
            places.extend(words.take(count).into_iter().flatten());
            if with_times {
                let bytes = segment.times.read()?;
                times.extend(bytes.as_chunks().0.iter().map(|&time| u32::from_le_bytes(time)));
            }
            if count > 0 && has_fingerprints != (segment.outlines.len() < count) {
                return Ok(None);
            }
            if has_fingerprints {
                let (lengths, words) = (segment.lengths.read()?, segment.words.read()?);
                fingerprints.extend(Words::new(&words).rest());
                for &length in lengths.as_chunks().0 {
                    let length = u32::from_le_bytes(length);
                    if length > 0 && !stored.reads.shape.allows(Kind::Fingerprint, 0, length as usize) {
                        return Ok(None);
                    }
                    ends.push(ends.last().copied().unwrap_or(0) + u64::from(length));
                }
                if ends.last() != Some(&(fingerprints.len() as u64)) {
                    return Ok(None);
                }
            }
        }
        if places.len() != segments.last().map_or(0, |last| last.documents.end as usize) {
            return Ok(None);
        }
        let is_ascending =
            places.windows(2).all(|pair| pair[0] < pair[1]) && places.last().is_none_or(|&last| last < end);
        let Some((removed, hot)) = state(tables, segments)? else { return Ok(None) };
        Ok(is_ascending.then_some(Parts { places, times, fingerprints, ends, removed, hot }))
    }

    fn move_into(self, tables: &mut Tables, segments: &[Arc<Segment>], manifest: &Manifest) -> Beside {
        let runs = |table: usize| segments.iter().map(|segment| Arc::clone(&segment.runs[table])).collect();
        tables.keys = Table::recorded(runs(0));
        tables.ids = Table::recorded(runs(1));
        if let Some(copies) = &mut tables.copies {
            *copies = Table::recorded(runs(2));
        }
        tables.outlines = Outlines::of_runs(segments.iter().map(|segment| Arc::clone(&segment.outlines)).collect());
        (tables.places, tables.fingerprints, tables.ends) = (self.places, self.fingerprints, self.ends);
        if let Some(hot) = self.hot {
            tables.hot = hot;
        }
        Beside { times: self.times, removed: self.removed, forgetting: manifest.forgetting, left: manifest.left }
    }
}

/// The removed documents, and the hot keys if the index looks for them.
fn state(tables: &Tables, segments: &[Arc<Segment>]) -> io::Result<Option<(Vec<u32>, Option<HotKeys>)>> {
    let Some(last) = segments.last() else { return Ok(None) };
    let (bytes, end) = (last.state.read()?, last.documents.end);
    let mut words = Words::new(&bytes);
    let Some(removed) = words.list() else { return Ok(None) };
    let removed: Vec<u32> = removed.map(|document| document as u32).collect();
    if removed.iter().any(|&document| document >= end) {
        return Ok(None);
    }
    let elements: Vec<Arc<Run>> = segments.iter().map(|segment| Arc::clone(&segment.runs[TABLES - 1])).collect();
    Ok(tables.hot.read(&mut words, elements, end).map(|hot| (removed, hot)))
}
