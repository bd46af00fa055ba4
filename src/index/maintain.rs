//! What is done with the file of an index as a whole.

use super::log::{self, Kind, Log, Repair, Stored};
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

/// How an index was made.
///
/// # Errors
/// The file cannot be read, or is no index.
pub fn header(path: &Path) -> Result<Value, Error> {
    Stored::open(path).map(|stored| stored.header)
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
    let gone = removed(path)?;
    let stored = Stored::open(path)?;
    let (header, version, removed) = (stored.header.clone(), stored.version, gone.len() as u64);
    let (mut documents, mut featureless, mut times) = (0, 0, None::<(u64, u64)>);
    let log::End { at: bytes, torn, .. } = stored.each(|place, entry, _| {
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
    Ok(Summary { header, version, documents, featureless, removed, times, bytes, torn })
}

/// The places of documents that were removed.
fn removed(path: &Path) -> Result<BTreeSet<u64>, Error> {
    let mut gone = BTreeSet::new();
    Stored::open(path)?.each(|_, entry, _| {
        if let log::Entry::Removed(places) = entry {
            gone.extend(places);
        }
        Ok(())
    })?;
    Ok(gone)
}

/// Makes an index forget all documents with these ids. Returns how many that were, and what an interrupted write had left, which is cut
/// off. They take room until the index is [compacted](compact).
///
/// # Errors
/// The file cannot be read or written, is no index, is damaged, or has a writer.
pub fn remove(path: &Path, ids: &BTreeSet<String>) -> Result<(u64, Option<Repair>), Error> {
    let (mut log, stored) = Log::open_any(path)?;
    let gone = removed(path)?;
    let mut places = Vec::new();
    let end = stored.each(|place, entry, _| {
        if let log::Entry::Document(record) = entry
            && ids.contains(&record.id)
            && !gone.contains(&place)
        {
            places.push(place);
        }
        Ok(())
    })?;
    log.start_at(&end)?;
    log.remove(&places);
    log.seal()?;
    Ok((places.len() as u64, end.torn))
}

/// What compacting did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compacted {
    /// Documents that stay.
    pub documents: u64,
    /// Documents that had been removed or were too old, and take no room any more.
    pub dropped: u64,
    /// Bytes of the file before and after.
    pub bytes: (u64, u64),
}

/// Writes an index anew without the documents that were removed, and without those let through before a time in seconds since 1970. The
/// new file takes the old one's place when it is whole and on the disk.
///
/// # Errors
/// The file cannot be read, is no index, is damaged, or has a writer; a file beside it cannot be written.
///
/// # Cost
/// Room on the disk for both files; memory, 8 bytes for each document that was removed.
pub fn compact(path: &Path, since: u64) -> Result<Compacted, Error> {
    let (_held, stored) = Log::open_any(path)?;
    let gone = removed(path)?;
    let (mut log, file) = Log::beside(path, &stored.header)?;
    let (mut documents, mut dropped) = (0, 0);
    let end = stored.each(|place, entry, bytes| {
        let log::Entry::Document(record) = entry else { return Ok(()) };
        if gone.contains(&place) || record.time < since {
            dropped += 1;
            return Ok(());
        }
        documents += 1;
        log.copy(bytes);
        if log.bytes_pending() > WRITTEN_AT_ONCE { log.commit(true) } else { Ok(()) }
    })?;
    let after = log.replace(file, path)?;
    Ok(Compacted { documents, dropped, bytes: (end.at, after) })
}

const WRITTEN_AT_ONCE: usize = 1 << 24;
