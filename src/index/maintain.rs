//! Operations on the file of an index as a whole.

use super::entry;
use super::file::{is_at, sync_folder};
use super::header::Header;
use super::log::Log;
use super::repeat::{BEGIN, Past, Tail, name};
use super::shape::Kind;
use super::stored::{End, Repair, Stored};
use crate::error::Error;
use crate::replace::Replacement;
use std::collections::BTreeSet;
use std::io;
use std::path::Path;

/// Information about an index file.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Summary {
    /// How its signatures were made.
    pub header: Header,
    /// The version of its format.
    pub version: u32,
    /// Documents in it, including those without features, except removed ones.
    pub documents: u64,
    /// Documents without features, including removed ones.
    pub featureless: u64,
    /// Documents that were removed but still take space in the file.
    pub removed: u64,
    /// When the first and the last document passed, in seconds since 1970; removed ones count.
    pub times: Option<(u64, u64)>,
    /// Bytes of the file that hold whole records.
    pub bytes: u64,
    /// Bytes after them that an interrupted write left. They are not cut off.
    pub torn: Option<Repair>,
}

/// A document of an index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry<'a> {
    /// Its id.
    pub id: &'a str,
    /// When it passed, in seconds since 1970.
    pub time: u64,
}

/// Reads an index from start to end, checks every checksum, and passes each document that was not removed to a
/// function. The file is not changed, and may be written to at the same time.
///
/// # Errors
/// The file cannot be read, is not an index, or is damaged; or what `each` returns.
///
/// # Cost
/// The file is read twice. Memory: 8 bytes for each document that was removed.
pub fn inspect(path: &Path, mut each: impl FnMut(Entry) -> Result<(), Error>) -> Result<Summary, Error> {
    let mut stored = Stored::open(path)?;
    stored.reads.skips_evidence = true;
    let (gone, _) = removed(&mut stored, 0)?;
    let (mut documents, mut removed, mut featureless, mut times) = (0, 0, 0, None::<(u64, u64)>);
    let End { at: bytes, torn, .. } = stored.each(|place, entry, _| {
        let entry::Entry::Document(record) = entry else { return Ok(()) };
        featureless += u64::from(record.kind == Kind::Featureless);
        let (first, last) = times.unwrap_or((record.time, record.time));
        times = Some((first.min(record.time), last.max(record.time)));
        if gone.contains(&place) {
            removed += 1;
            return Ok(());
        }
        documents += 1;
        each(Entry { id: &record.id, time: record.time })
    })?;
    let (header, version) = (Header::of(&stored)?, stored.version);
    Ok(Summary { header, version, documents, featureless, removed, times, bytes, torn })
}

/// The places of documents that were removed, and the last decisions.
fn removed(stored: &mut Stored, most: usize) -> Result<(BTreeSet<u64>, Tail), Error> {
    let (mut gone, mut tail) = (BTreeSet::new(), Tail::new(most));
    stored.each(|place, entry, _| {
        tail.read(place, &entry);
        if let entry::Entry::Removed(places) = entry {
            gone.extend(places);
        }
        Ok(())
    })?;
    Ok((gone, tail))
}

/// The result of a removal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Removed {
    /// The number of documents that were forgotten.
    pub documents: u64,
    /// Ids that no document has.
    pub unknown: BTreeSet<String>,
    /// The incomplete end of an interrupted write, which was cut off.
    pub torn: Option<Repair>,
}

/// Makes an index forget all documents with these ids. They take space until the index is [compacted](compact).
///
/// # Errors
/// The file cannot be read or written, is not an index, is damaged, or has another writer.
pub fn remove(path: &Path, mut ids: BTreeSet<String>) -> Result<Removed, Error> {
    let (mut log, mut stored) = Log::open_any(path)?;
    stored.reads.skips_evidence = true;
    let (gone, _) = removed(&mut stored, 0)?;
    let (mut places, mut found) = (Vec::new(), BTreeSet::new());
    let end = stored.each(|place, entry, _| {
        if let entry::Entry::Document(record) = entry
            && ids.contains(&record.id)
            && !gone.contains(&place)
        {
            places.push(place);
            found.insert(record.id);
        }
        Ok(())
    })?;
    log.start_at(&end)?;
    log.remove(&places);
    log.seal()?;
    ids.retain(|id| !found.contains(id));
    Ok(Removed { documents: places.len() as u64, unknown: ids, torn: end.torn })
}

/// The documents that compacting leaves out, beside removed ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outdated {
    /// Documents that passed before this time, in seconds since 1970.
    pub before: u64,
    /// All but this many latest documents.
    pub window: Option<u64>,
    /// Whether damaged parts are left out too; otherwise they are an error.
    pub damaged: bool,
}

/// The result of compacting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compacted {
    /// The number of documents that were kept.
    pub documents: u64,
    /// The number of documents that were left out because they had been removed or were too old.
    pub dropped: u64,
    /// Bytes of the file before, including incomplete ones, and after.
    pub bytes: (u64, u64),
    /// Damaged bytes.
    pub damaged: u64,
    /// The incomplete end of an interrupted write, which was left out.
    pub torn: Option<Repair>,
}

/// Rewrites an index without removed and outdated documents. The new file replaces the old one once it is complete and
/// on the disk. It keeps the owner, mode and access control list, and a symbolic link continues to point to it.
///
/// The last decisions of an interrupted run can be repeated from the new file: it keeps their notes, and outdated
/// documents that others were dropped for.
///
/// # Errors
/// The file cannot be read, is not an index, is damaged, has another writer, or has another hard link; a file beside it
/// cannot be written, or cannot be given its owner.
///
/// # Cost
/// The file is read twice; three times with a window. The disk must have space for both files. Memory: 8 bytes for each
/// removed document, and at most some 50 MB for decisions of an interrupted run.
pub fn compact(path: &Path, outdated: Outdated) -> Result<Compacted, Error> {
    let (held, mut stored) = Log::open_any(path)?;
    let old = held.file().expect("it is in a file");
    stored.reads.skips_evidence = true;
    stored.salvages = outdated.damaged;
    let (gone, tail) = removed(&mut stored, KEPT_DECISIONS)?;
    // Documents that are kept because others were dropped for them.
    let mut originals: Vec<u64> =
        tail.past().filter_map(|past| past.original).filter(|place| !gone.contains(place)).collect();
    originals.sort_unstable();
    originals.dedup();
    let mut moved: Vec<Option<u64>> = vec![None; originals.len()];
    let mut too_many = 0u64;
    if let Some(window) = outdated.window {
        stored.each(|place, entry, _| {
            too_many += u64::from(matches!(entry, entry::Entry::Document(_)) && !gone.contains(&place));
            Ok(())
        })?;
        too_many = too_many.saturating_sub(window);
    }
    let failed = |error| Error::io(format!("cannot replace the index {}", path.display()), error);
    let mut new = Replacement::new(path).map_err(failed)?;
    // Checked before the work, not only after it.
    new.check_exact().map_err(failed)?;
    let mut log = Log::beside(&mut new, &stored.header)?;
    let (mut documents, mut dropped) = (0, 0);
    // The number of decisions logged since the last run began, and the first of them that is kept.
    let (mut has_begun, mut count, first) = (false, 0u64, tail.count - tail.past().len() as u64);
    let end = stored.each(|place, entry, bytes| {
        match entry {
            entry::Entry::Document(record) => {
                let is_recent = has_begun && !record.is_added && count >= first;
                count += u64::from(has_begun && !record.is_added);
                let is_old = too_many > 0 || record.time < outdated.before;
                let original = originals.binary_search(&place);
                if gone.contains(&place) || (is_old && original.is_err()) {
                    dropped += 1;
                    if is_recent {
                        log.note(Past { name: name(&record.id, record.sequence), original: None });
                    }
                } else {
                    documents += 1;
                    let now = log.copy(bytes);
                    if let Ok(number) = original {
                        moved[number] = Some(now);
                    }
                }
                too_many -= u64::from(too_many > 0 && !gone.contains(&place));
            }
            entry::Entry::Notes(words) if words == [BEGIN] => {
                if tail.is_on && place == tail.begin {
                    has_begun = true;
                    log.mark(BEGIN);
                }
            }
            entry::Entry::Notes(words) if has_begun => {
                for past in Past::all(&words) {
                    let original =
                        past.original.map(|place| originals.binary_search(&place).ok().and_then(|at| moved[at]));
                    // The document that it was dropped for was removed: it is decided on again.
                    if count >= first && original != Some(None) {
                        log.note(Past { original: original.flatten(), ..past });
                    }
                    count += 1;
                }
            }
            entry::Entry::Notes(_) => {}
            entry::Entry::Removed(_) | entry::Entry::Synced => {}
        }
        if log.bytes_pending() > WRITTEN_AT_ONCE { log.commit(true) } else { Ok(()) }
    })?;
    let before = end.at + end.torn.map_or(0, |torn| torn.bytes);
    log.seal()?;
    let after = log.len();
    if !is_at(old, new.target()).map_err(failed)? {
        return Err(failed(io::Error::other("it was moved or replaced meanwhile")));
    }
    let target = new.target().to_path_buf();
    new.commit_exact().map_err(failed)?;
    sync_folder(&target);
    Ok(Compacted { documents, dropped, bytes: (before, after), damaged: end.damaged, torn: end.torn })
}

/// The maximum number of decisions of an interrupted run that are kept.
const KEPT_DECISIONS: usize = 1 << 20;

const WRITTEN_AT_ONCE: usize = 1 << 24;
