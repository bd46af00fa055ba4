//! What is done with the file of an index as a whole.

use super::log::{self, End, Kind, Log, Repair, Stored};
use crate::error::Error;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;

/// What an index file says of itself.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// How its signatures were made.
    pub header: Value,
    /// The version of its format.
    pub version: u32,
    /// Documents in it, those without features included and those that were removed not.
    pub documents: u64,
    /// Documents without features, those that were removed included.
    pub featureless: u64,
    /// Documents that were removed, and still take room.
    pub removed: u64,
    /// When the first and the last of all were let through, in seconds since 1970.
    pub times: Option<(u64, u64)>,
    /// Bytes of the file that hold whole records.
    pub bytes: u64,
    /// What an interrupted write left behind them. It is not cut off.
    pub torn: Option<Repair>,
}

/// A document of an index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry<'a> {
    /// Its id.
    pub id: &'a str,
    /// When it was let through, in seconds since 1970.
    pub time: u64,
}

/// How an index was made. `None` if there is none, or its very first write was interrupted.
///
/// # Errors
/// The file cannot be read, or is no index.
pub fn header(path: &Path) -> Result<Option<Value>, Error> {
    log::header_of(path)
}

/// Reads an index from start to end, every checksum included, and hands over each document that was not removed. The file is not
/// changed, and may have a writer meanwhile.
///
/// # Errors
/// The file cannot be read, is no index, or is damaged; or what `each` returns.
///
/// # Cost
/// The file is read twice if something was removed; memory, 8 bytes for each that was.
pub fn inspect(path: &Path, mut each: impl FnMut(Entry) -> Result<(), Error>) -> Result<Summary, Error> {
    let mut stored = Stored::open(path)?;
    let gone = removed(&mut stored)?;
    let (mut documents, mut featureless, mut times) = (0, 0, None::<(u64, u64)>);
    let End { at: bytes, torn, .. } = stored.each(|place, entry, _| {
        let log::Entry::Document(record) = entry else { return Ok(()) };
        featureless += u64::from(record.kind == Kind::Featureless);
        let (first, last) = times.unwrap_or((record.time, record.time));
        times = Some((first.min(record.time), last.max(record.time)));
        if gone.contains(&place) {
            return Ok(());
        }
        documents += 1;
        each(Entry { id: &record.id, time: record.time })
    })?;
    let Stored { header, version, .. } = stored;
    Ok(Summary { header, version, documents, featureless, removed: gone.len() as u64, times, bytes, torn })
}

/// The places of documents that were removed.
fn removed(stored: &mut Stored) -> Result<BTreeSet<u64>, Error> {
    let mut gone = BTreeSet::new();
    stored.each(|_, entry, _| {
        if let log::Entry::Removed(places) = entry {
            gone.extend(places);
        }
        Ok(())
    })?;
    Ok(gone)
}

/// What removing did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Removed {
    /// Documents that were forgotten.
    pub documents: u64,
    /// Ids that no document has.
    pub unknown: BTreeSet<String>,
    /// What an interrupted write had left, which was cut off.
    pub torn: Option<Repair>,
}

/// Makes an index forget all documents with these ids. They take room until the index is [compacted](compact).
///
/// # Errors
/// The file cannot be read or written, is no index, is damaged, or has a writer.
pub fn remove(path: &Path, mut ids: BTreeSet<String>) -> Result<Removed, Error> {
    let (mut log, mut stored) = Log::open_any(path)?;
    let gone = removed(&mut stored)?;
    let (mut places, mut found) = (Vec::new(), BTreeSet::new());
    let end = stored.each(|place, entry, _| {
        if let log::Entry::Document(record) = entry
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

/// What compacting leaves out, beside what was removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outdated {
    /// Documents let through before this time, in seconds since 1970.
    pub before: u64,
    /// All but the last so many documents.
    pub window: Option<u64>,
    /// Whether what is damaged is left out too; else it is an error.
    pub damaged: bool,
}

/// What compacting did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compacted {
    /// Documents that stay.
    pub documents: u64,
    /// Documents that had been removed or were too old, and take no room any more.
    pub dropped: u64,
    /// Bytes of the file before, torn ones included, and after.
    pub bytes: (u64, u64),
    /// Bytes that were damaged.
    pub damaged: u64,
    /// What an interrupted write had left, which is gone.
    pub torn: Option<Repair>,
}

/// Writes an index anew without what was removed or is outdated. The new file takes the old one's place when it is whole and on the disk.
///
/// # Errors
/// The file cannot be read, is no index, is damaged, or has a writer; a file beside it cannot be written.
///
/// # Cost
/// The file is read twice, three times with a window. Room on the disk for both files; memory, 8 bytes for each document that was removed.
pub fn compact(path: &Path, outdated: Outdated) -> Result<Compacted, Error> {
    let (_held, mut stored) = Log::open_any(path)?;
    stored.salvages = outdated.damaged;
    let gone = removed(&mut stored)?;
    let is_left = |place: u64, record: &log::Record| !gone.contains(&place) && record.time >= outdated.before;
    let mut too_many = 0u64;
    if let Some(window) = outdated.window {
        stored.each(|place, entry, _| {
            too_many += u64::from(matches!(entry, log::Entry::Document(record) if is_left(place, &record)));
            Ok(())
        })?;
        too_many = too_many.saturating_sub(window);
    }
    let (mut log, file) = Log::beside(path, &stored.header)?;
    let (mut documents, mut dropped) = (0, 0);
    let end = stored.each(|place, entry, bytes| {
        let log::Entry::Document(record) = entry else { return Ok(()) };
        let is_left = is_left(place, &record);
        if !is_left || too_many > 0 {
            too_many -= u64::from(is_left);
            dropped += 1;
            return Ok(());
        }
        documents += 1;
        log.copy(bytes);
        if log.bytes_pending() > WRITTEN_AT_ONCE { log.commit(true) } else { Ok(()) }
    })?;
    let before = end.at + end.torn.map_or(0, |torn| torn.bytes);
    let after = log.replace(file, path)?;
    Ok(Compacted { documents, dropped, bytes: (before, after), damaged: end.damaged, torn: end.torn })
}

const WRITTEN_AT_ONCE: usize = 1 << 24;
