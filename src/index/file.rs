//! The file of an index: its header, its lock, and whether its path still leads to it.
//!
//! ```text
//! file    magic (12 bytes), format version (4), length of the header (4), header (JSON), room (32), checksum (8) of both; then frames
//! ```
//!
//! The header is the identity of the [`Spec`](crate::algorithm::Spec). The room is zeros and is not read; it is
//! reserved for the place of a checkpoint of the tables. Versions 1 and 2 are refused: they hold signatures of hashes
//! that are no longer made, and no texts to recompute them from.

use crate::error::{Error, IndexFault};
#[cfg(feature = "clean")]
use crate::postings::read_at;
use crate::readable::shortened_id;
use crate::replace::{Links, open_regular, remove_stale};
use serde_core::de::IgnoredAny;
use serde_json::Value;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek};
#[cfg(feature = "clean")]
use std::io::{SeekFrom, Write};
use std::path::Path;
use std::thread;
use std::time::Duration;
use xxhash_rust::xxh3::xxh3_64;

/// The version of the format that this program writes.
pub const FORMAT_VERSION: u32 = 3;

/// Reserved bytes after the header.
pub(super) const ROOM: usize = 32;

pub(super) const MAGIC: &[u8; 12] = b"dedup index\n";

/// Whether a file begins as an index does. `false` also if it cannot be read.
#[cfg(feature = "cli")]
pub(crate) fn is_index(path: &Path) -> bool {
    use std::io::Read;
    let mut begin = [0; MAGIC.len()];
    File::open(path).and_then(|mut file| file.read_exact(&mut begin)).is_ok() && begin == *MAGIC
}

/// The maximum length of a header.
pub(super) const MAX_HEADER: u32 = 1 << 24;

pub(super) fn file_header(header: &Value) -> Vec<u8> {
    let header = header.to_string();
    let mut bytes = MAGIC.to_vec();
    bytes.extend_from_slice(&FORMAT_VERSION.to_le_bytes());
    bytes.extend_from_slice(&(header.len() as u32).to_le_bytes());
    let start = bytes.len();
    bytes.extend_from_slice(header.as_bytes());
    bytes.extend_from_slice(&[0; ROOM]);
    bytes.extend_from_slice(&xxh3_64(&bytes[start..]).to_le_bytes());
    bytes
}

/// Whether a file is new, or its very first write was interrupted: it ends within its header, and holds only a part of
/// it.
pub(super) fn is_unfinished(mut file: &File) -> io::Result<bool> {
    file.rewind()?;
    let mut head = Vec::new();
    file.take(20).read_to_end(&mut head)?;
    let Some(&length) = head.last_chunk().filter(|_| head.len() == 20) else {
        return Ok(MAGIC.starts_with(&head[..head.len().min(MAGIC.len())]));
    };
    let needs = u64::from(u32::from_le_bytes(length).min(MAX_HEADER)) + (8 + ROOM) as u64;
    let mut rest = Vec::new();
    file.take(needs).read_to_end(&mut rest)?;
    let mut objects = serde_json::Deserializer::from_slice(&rest).into_iter::<IgnoredAny>();
    let is_part = match objects.next() {
        None => true,
        Some(Ok(_)) => rest.len() - objects.byte_offset() < 8 + ROOM,
        Some(Err(error)) => error.is_eof(),
    };
    Ok(head.starts_with(MAGIC) && (rest.len() as u64) < needs && is_part)
}

/// How often locking a file is tried, and the wait in between: another process may be about to end.
const TRIES: usize = 20;
const BETWEEN_TRIES: Duration = Duration::from_millis(50);

/// Opens a file that no other process has open for writing.
pub(super) fn lock(path: &Path, options: &mut OpenOptions) -> Result<File, Error> {
    let failed = |error| Error::io(format!("cannot open the index {}", path.display()), error);
    let in_use = || {
        fault(
            path,
            IndexFault::Locked,
            "this index is open for writing, in another process or in this one; only one can at a time",
        )
    };
    for again in 0..TRIES {
        if again > 0 {
            thread::sleep(BETWEEN_TRIES);
        }
        options.read(true).write(true).truncate(false);
        let file = open_regular(path, options, Links::Followed).map_err(failed)?;
        match file.try_lock() {
            // Another file may have replaced it while it was opened.
            Ok(()) if is_at(&file, path).map_err(failed)? => {
                remove_stale(path);
                return Ok(file);
            }
            Ok(()) | Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Error(error)) => return Err(failed(error)),
        }
    }
    Err(in_use())
}

/// Whether a path leads to this file.
#[cfg(unix)]
pub(super) fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let (own, there) = (file.metadata()?, std::fs::metadata(path)?);
    Ok((own.dev(), own.ino()) == (there.dev(), there.ino()))
}

/// On other systems an open file cannot be replaced.
#[cfg(not(unix))]
pub(super) fn is_at(_: &File, _: &Path) -> io::Result<bool> {
    Ok(true)
}

/// The same, if it can be determined: otherwise it is assumed.
pub(super) fn is_still_at(file: &File, path: &Path) -> bool {
    match is_at(file, path) {
        Ok(is_there) => is_there,
        Err(error) => !matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory),
    }
}

/// The folder of a file.
pub(super) fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Makes sure that a new file is found after a power failure, on systems that can sync folders.
pub(super) fn sync_folder(path: &Path) {
    _ = File::open(folder_of(path)).and_then(|folder| folder.sync_all());
}

pub(super) fn damaged(path: &Path, message: &str) -> Error {
    fault(path, IndexFault::Damaged, message)
}

pub(super) fn fault(path: &Path, fault: IndexFault, message: &str) -> Error {
    Error::Index { path: path.display().to_string(), fault, message: message.into() }
}

pub(super) fn cannot_read(error: io::Error) -> Error {
    Error::io("cannot read what the index keeps in temporary files", error)
}

/// The error of a document that no index can have.
pub(super) fn too_large(id: &str) -> Error {
    Error::Full(format!("document '{}' is too large for the index", shortened_id(id)))
}

/// The error for tables that cannot be moved to this folder.
pub(super) fn cannot_move(folder: &Path, error: io::Error) -> Error {
    let message = format!("cannot move tables of the index to {} (choose another with `temp-dir`)", folder.display());
    Error::io(message, error)
}

/// Whether an error is that tables on the disk have changed, which can be rebuilt.
pub(super) fn are_tables_damaged(error: &Error) -> bool {
    matches!(error, Error::Io { error, .. } if error.kind() == io::ErrorKind::InvalidData)
}

/// The number of bytes that are copied or compared at once.
#[cfg(feature = "clean")]
pub(super) const PIECE: usize = 1 << 18;
/// The number of bytes that are written before they must be on the disk.
#[cfg(feature = "clean")]
const SYNCED_AFTER: u64 = 1 << 26;

/// Appends frames that are kept in another file, whose places go from `start` to `end`, to the disk. The file has those before `at`,
/// and perhaps what an interrupted run left of a frame.
#[cfg(feature = "clean")]
pub(super) fn append(file: &mut File, aside: &File, (start, end): (u64, u64), mut at: u64) -> io::Result<()> {
    if at < end {
        file.set_len(at)?;
        file.seek(SeekFrom::Start(at))?;
    }
    let (mut piece, mut unsynced) = (vec![0; PIECE], 0);
    while at < end {
        let count = PIECE.min((end - at) as usize);
        read_at(aside, &mut piece[..count], at - start)?;
        file.write_all(&piece[..count])?;
        at += count as u64;
        unsynced += count as u64;
        if unsynced >= SYNCED_AFTER {
            // A power failure may leave parts of what is not on the disk, in any order.
            file.sync_data()?;
            unsynced = 0;
        }
    }
    file.sync_all()
}
