//! The log: records of documents, one after the other, in a file or in memory.
//!
//! ```text
//! file    magic (12 bytes), format version (4), length of the header (4), header (JSON), room (32), checksum (8) of both; then frames
//! frame   length of the record (4), check of the length and the place (4), record, checksum (8)
//! record  kind (1), id, hash of the token sequence (16), time; fingerprint, or tags of keys and coded features
//!         or kind 3, places of documents that are removed, or notes of what was decided (repeat.rs), which are no places;
//!         or kind 4 alone: all before it was on the disk before it was written
//! ```
//!
//! The kind of a document that was added, and never let through, has its highest bit set.
//!
//! Numbers are little-endian; lengths within a record are LEB128. A checksum depends on where it stands. The header is
//! the identity of the [`Spec`](crate::algorithm::Spec). The room is zeros, and not looked at: it is for the place of a checkpoint of the
//! tables. Versions 1 and 2 hold signatures of hashes that are no longer made, and no texts to make others of: they are refused.

use super::coded::{decode, encode, fits};
use super::repeat::{NO_PLACE, Past};
use super::shape::Shape;
use super::signature::{Signature, tags};
use crate::algorithm::{Algorithm, Compares};
use crate::error::{Error, IndexFault};
use crate::replace::{Replacement, remove_stale};
use serde_core::de::IgnoredAny;
use serde_json::Value;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;
use xxhash_rust::xxh3::{Xxh3, xxh3_64, xxh3_64_with_seed};

/// The version of the format that is written.
pub const FORMAT_VERSION: u32 = 3;

/// Bytes behind the header that are kept free.
const ROOM: usize = 32;

const MAGIC: &[u8; 12] = b"dedup index\n";

/// What an interrupted write left at the end of the file, which was cut off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repair {
    /// The byte where the file was cut.
    pub at: u64,
    /// How many bytes that were.
    pub bytes: u64,
}

/// Where what is whole ends.
pub(super) struct End {
    pub at: u64,
    pub torn: Option<Repair>,
    /// Whether the last frame says that all before it is on the disk.
    pub is_marked: bool,
    /// Bytes that were passed over.
    pub damaged: u64,
}

/// What is stored of a document.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Record {
    pub id: String,
    pub sequence: u128,
    /// In seconds since 1970.
    pub time: u64,
    pub kind: Kind,
    /// Whether it was added, and never let through.
    pub is_added: bool,
    /// Tags of keys, if features are stored.
    pub tags: Vec<u32>,
    /// The fingerprint, or features.
    pub evidence: Vec<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Featureless = 0,
    Fingerprint = 1,
    Features = 2,
}

/// What a frame holds.
pub(super) enum Entry {
    Document(Record),
    /// The documents at these places are forgotten.
    Removed(Vec<u64>),
    /// What was decided, and changed nothing.
    Notes(Vec<u64>),
    /// Everything before it was on the disk before it was written.
    Synced,
}

const REMOVED: u8 = 3;
const SYNCED: u8 = 4;
const ADDED: u8 = 0x80;

impl Entry {
    /// `None` if the bytes are no entry, or none of an index of this shape.
    fn parse(bytes: &[u8], reads: &Reads) -> Option<Self> {
        match bytes {
            [SYNCED] => Some(Entry::Synced),
            [REMOVED, rest @ ..] => {
                let (words, rest) = rest.as_chunks();
                rest.is_empty().then_some(())?;
                let words: Vec<u64> = words.iter().map(|&word| u64::from_le_bytes(word)).collect();
                let are_notes = words.first().is_some_and(|&word| word >= NO_PLACE);
                Some(if are_notes { Entry::Notes(words) } else { Entry::Removed(words) })
            }
            _ => Record::parse(bytes, reads).map(Entry::Document),
        }
    }
}

/// How records are read.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Reads {
    /// Which there can be.
    pub shape: Shape,
    /// Whether tags, fingerprints and features are not kept, only checked.
    pub skips_evidence: bool,
}

impl Record {
    pub fn new(id: &str, signature: &Signature, time: u64, is_added: bool, algorithm: &dyn Algorithm) -> Self {
        let kind = match algorithm.compares() {
            _ if signature.featureless => Kind::Featureless,
            Compares::Fingerprints => Kind::Fingerprint,
            Compares::Features | Compares::Multisets => Kind::Features,
        };
        let tags = if kind == Kind::Features { signature.tags.clone() } else { Vec::new() };
        let evidence = signature.evidence.clone();
        Record { id: id.into(), sequence: signature.sequence, time, kind, is_added, tags, evidence }
    }

    /// The tags of its keys.
    pub fn tags(&self, algorithm: &dyn Algorithm) -> Vec<u32> {
        match self.kind {
            Kind::Featureless => Vec::new(),
            Kind::Fingerprint => tags(algorithm, &self.evidence),
            Kind::Features => self.tags.clone(),
        }
    }

    fn write(&self, out: &mut Vec<u8>) {
        out.push(self.kind as u8 | if self.is_added { ADDED } else { 0 });
        put(self.id.len() as u64, out);
        out.extend_from_slice(self.id.as_bytes());
        out.extend_from_slice(&self.sequence.to_le_bytes());
        put(self.time, out);
        match self.kind {
            Kind::Featureless => {}
            Kind::Fingerprint => {
                put(self.evidence.len() as u64, out);
                out.extend(self.evidence.iter().flat_map(|word| word.to_le_bytes()));
            }
            Kind::Features => {
                put(self.tags.len() as u64, out);
                out.extend(self.tags.iter().flat_map(|tag| tag.to_le_bytes()));
                put(self.evidence.len() as u64, out);
                encode(&self.evidence, out);
            }
        }
    }

    /// `None` if the bytes are no record, or none that an index of this shape can hold.
    fn parse(bytes: &[u8], reads: &Reads) -> Option<Self> {
        let mut rest = bytes;
        let kind = take(&mut rest, 1)?[0];
        let is_added = kind & ADDED != 0;
        let kind = match kind & !ADDED {
            0 => Kind::Featureless,
            1 => Kind::Fingerprint,
            2 => Kind::Features,
            _ => return None,
        };
        let id = counted(&mut rest, 1)?;
        let id = std::str::from_utf8(id).ok()?.to_string();
        let sequence = u128::from_le_bytes(take(&mut rest, 16)?.try_into().ok()?);
        let time = number(&mut rest)?;
        let (mut tags, mut evidence) = (Vec::new(), Vec::new());
        let (shape, keeps) = (&reads.shape, !reads.skips_evidence);
        match kind {
            Kind::Featureless => rest.is_empty().then_some(())?,
            Kind::Fingerprint => {
                let words = counted(&mut rest, 8)?.as_chunks().0;
                (rest.is_empty() && shape.allows(kind, 0, words.len())).then_some(())?;
                if keeps {
                    evidence.extend(words.iter().map(|&word| u64::from_le_bytes(word)));
                }
            }
            Kind::Features => {
                let stored = counted(&mut rest, 4)?.as_chunks().0;
                let count = usize::try_from(number(&mut rest)?).ok()?;
                // Before memory is taken for so many.
                (fits(rest, count) && shape.allows(kind, stored.len(), count)).then_some(())?;
                if keeps {
                    tags.extend(stored.iter().map(|&tag| u32::from_le_bytes(tag)));
                    evidence.reserve_exact(count);
                }
                decode(rest, count, |element| {
                    if keeps {
                        evidence.push(element);
                    }
                })?;
            }
        }
        Some(Record { id, sequence, time, kind, is_added, tags, evidence })
    }
}

fn put(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

fn number(rest: &mut &[u8]) -> Option<u64> {
    let mut number = 0u64;
    for shift in (0..64).step_by(7) {
        let byte = take(rest, 1)?[0];
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

fn take<'a>(rest: &mut &'a [u8], count: usize) -> Option<&'a [u8]> {
    let (taken, behind) = rest.split_at_checked(count)?;
    *rest = behind;
    Some(taken)
}

/// As many items of a size as the number before them says.
fn counted<'a>(rest: &mut &'a [u8], size: usize) -> Option<&'a [u8]> {
    let count = usize::try_from(number(rest)?).ok()?;
    take(rest, count.checked_mul(size)?)
}

/// What stands before a record.
fn frame_head(length: u32, place: u64) -> [u8; 8] {
    let mut head = [0; 8];
    head[..4].copy_from_slice(&length.to_le_bytes());
    head[4..].copy_from_slice(&(xxh3_64_with_seed(&length.to_le_bytes(), place) as u32).to_le_bytes());
    head
}

/// The length that a frame's head says, if it is one.
fn length_of(head: [u8; 8], place: u64) -> Option<u64> {
    let length = u32::from_le_bytes([head[0], head[1], head[2], head[3]]);
    (u64::from(length) <= MAX_RECORD && frame_head(length, place) == head).then_some(length.into())
}

/// The longest record: that of a text of some 300 MB. A longer one is neither written nor read.
const MAX_RECORD: u64 = 1 << 28;

/// So much is read at once where it is not known yet whether it is a record.
const PIECE: usize = 1 << 20;

/// A frame takes so much beside its record.
const AROUND: u64 = 16;

/// The log.
pub(super) struct Log {
    file: Option<(File, PathBuf)>,
    /// How much is in the file.
    written: u64,
    /// How much of that is known to be on the disk.
    synced: u64,
    /// Where the last frame that says so ends, if anything is known of it.
    marked: u64,
    /// What is not yet; in memory, all there is.
    pending: Vec<u8>,
    buffer: Vec<u8>,
    /// Notes that are not in a frame yet.
    notes: Vec<u64>,
    /// Whether anything but notes was added since all was on the disk.
    is_due: bool,
    /// How records are read again.
    reads: Reads,
}

/// So many words of notes go into a frame at most.
const NOTES: usize = 1 << 13;

impl Log {
    pub fn in_memory() -> Self {
        Log {
            file: None,
            written: 0,
            synced: 0,
            marked: 0,
            pending: Vec::new(),
            buffer: Vec::new(),
            notes: Vec::new(),
            is_due: false,
            reads: Reads::default(),
        }
    }

    /// Whether it is in a file.
    pub fn is_stored(&self) -> bool {
        self.file.is_some()
    }

    /// The file it is in.
    pub fn file(&self) -> Option<&File> {
        self.file.as_ref().map(|(file, _)| file)
    }

    /// Opens a file for writing, or makes it. What it holds is still to be gone through.
    pub fn open(path: &Path, header: &Value) -> Result<(Self, Stored), Error> {
        let failed = |error| Error::io(format!("cannot open the index {}", path.display()), error);
        let mut file = lock(path, File::options().create(true))?;
        if is_unfinished(&file).map_err(failed)? {
            file.set_len(0).map_err(failed)?;
            file.rewind().map_err(failed)?;
            file.write_all(&file_header(header)).and_then(|()| file.sync_all()).map_err(failed)?;
            sync_folder(path);
        }
        let stored = Stored::open(path)?;
        stored.check(header)?;
        Log::behind(file, path, stored)
    }

    /// Opens a file that is there for writing, whatever it was made with.
    pub fn open_any(path: &Path) -> Result<(Self, Stored), Error> {
        let file = lock(path, &mut File::options())?;
        let stored = Stored::open(path)?;
        Log::behind(file, path, stored)
    }

    fn behind(file: File, path: &Path, stored: Stored) -> Result<(Self, Stored), Error> {
        let file = Some((file, path.to_path_buf()));
        Ok((Log { file, reads: stored.reads, ..Log::in_memory() }, stored))
    }

    /// Opens a file for reading alone; another process may write to it. What it holds is still to be gone through. Nothing is ever pending.
    pub fn open_to_read(path: &Path, header: &Value) -> Result<(Self, Stored), Error> {
        let stored = Stored::open(path)?;
        stored.check(header)?;
        let failed = |error| Error::io(format!("cannot open the index {}", path.display()), error);
        let file = Some((stored.reader.get_ref().try_clone().map_err(failed)?, path.to_path_buf()));
        let written = stored.length;
        Ok((Log { file, written, reads: stored.reads, ..Log::in_memory() }, stored))
    }

    /// A log in a new file that is to [take the place](Replacement::commit_exact) of another.
    pub fn beside(new: &mut Replacement, header: &Value) -> Result<Self, Error> {
        let path = new.path().to_path_buf();
        let failed = |error| Error::io(format!("cannot write {}", path.display()), error);
        let mut file = new.file().try_clone().map_err(failed)?;
        let header = file_header(header);
        file.write_all(&header).map_err(failed)?;
        let written = header.len() as u64;
        Ok(Log { file: Some((file, path)), written, synced: written, is_due: true, ..Log::in_memory() })
    }

    /// Goes on behind what is stored, and cuts off the rest.
    pub fn start_at(&mut self, end: &End) -> Result<(), Error> {
        if let Some((file, path)) = &mut self.file {
            let failed = |error| Error::io(format!("cannot write the index {}", path.display()), error);
            if file.metadata().map_err(failed)?.len() > end.at {
                file.set_len(end.at).map_err(failed)?;
            }
            // What an earlier process left with the operating system is written before anything is said of it.
            file.sync_all().map_err(failed)?;
            file.seek(SeekFrom::Start(end.at)).map_err(failed)?;
            (self.synced, self.is_due) = (end.at, false);
            self.marked = if end.is_marked { end.at } else { 0 };
        }
        self.written = end.at;
        Ok(())
    }

    /// Bytes in all.
    pub fn len(&self) -> u64 {
        self.written + self.pending.len() as u64
    }

    /// Bytes that are not written yet.
    pub fn bytes_pending(&self) -> usize {
        self.pending.len()
    }

    /// Bytes of memory.
    pub fn bytes_held(&self) -> u64 {
        (self.pending.capacity() + 8 * self.notes.capacity()) as u64
    }

    /// Adds a document. Returns its place.
    pub fn append(&mut self, record: &Record) -> Result<u64, Error> {
        self.begin();
        self.frame_notes();
        self.buffer.clear();
        record.write(&mut self.buffer);
        self.is_due = true;
        self.frame().ok_or_else(|| Error::Full(format!("document '{}' is too large for the index", record.id)))
    }

    /// Adds an entry as it stands in another log. Returns its place.
    pub fn copy(&mut self, entry: &[u8]) -> u64 {
        self.begin();
        self.frame_notes();
        self.buffer.clear();
        self.buffer.extend_from_slice(entry);
        self.is_due = true;
        self.frame().expect("it was a frame before")
    }

    /// Adds what was decided. It changes nothing, so that it need not be on the disk before something does.
    pub fn note(&mut self, past: Past) {
        self.notes.extend(past.words());
        if self.notes.len() >= NOTES {
            self.begin();
            self.frame_notes();
        }
    }

    /// Adds a note that stands alone.
    pub fn mark(&mut self, word: u64) {
        self.begin();
        self.frame_notes();
        self.notes.push(word);
        self.frame_notes();
    }

    fn frame_notes(&mut self) {
        if !self.notes.is_empty() {
            self.buffer.clear();
            self.buffer.push(REMOVED);
            self.buffer.extend(self.notes.drain(..).flat_map(u64::to_le_bytes));
            self.is_due = true;
            self.frame().expect("they are bounded");
        }
    }

    /// Adds that documents are forgotten, by their places.
    pub fn remove(&mut self, places: &[u64]) {
        // A frame is small, so that a torn one is.
        for places in places.chunks(1 << 16) {
            self.begin();
            self.frame_notes();
            self.is_due = true;
            self.buffer.clear();
            self.buffer.push(REMOVED);
            self.buffer.extend(places.iter().flat_map(|place| place.to_le_bytes()));
            self.frame().expect("half a megabyte is a frame");
        }
    }

    /// If all that is written is known to be on the disk, what comes next begins with a frame that says so. What a power cut leaves of
    /// it may be there in part, in any order; what stands before the last such frame must be whole.
    fn begin(&mut self) {
        let is_due = self.synced == self.written && self.marked < self.written;
        if self.pending.is_empty() && self.file.is_some() && is_due {
            self.buffer.clear();
            self.buffer.push(SYNCED);
            self.is_due = true;
            self.frame().expect("a byte is a frame");
            self.marked = self.len();
        }
    }

    /// Adds the buffer as a frame. `None` if it is too long.
    fn frame(&mut self) -> Option<u64> {
        let place = self.len();
        let length = u32::try_from(self.buffer.len()).ok().filter(|&length| u64::from(length) <= MAX_RECORD)?;
        self.pending.extend_from_slice(&frame_head(length, place));
        self.pending.extend_from_slice(&self.buffer);
        self.pending.extend_from_slice(&xxh3_64_with_seed(&self.buffer, place).to_le_bytes());
        Some(place)
    }

    /// Writes what is pending; to the disk, if it is to be there. Notes behind the last document wait for the next one.
    pub fn commit(&mut self, to_disk: bool) -> Result<(), Error> {
        if !to_disk {
            self.frame_notes();
        }
        let Some((file, path)) = &mut self.file else { return Ok(()) };
        if self.pending.is_empty() && !(to_disk && self.is_due) {
            return Ok(());
        }
        let failed = |error| Error::io(format!("cannot write the index {}", path.display()), error);
        // Whoever opens the path now finds another file, and no lock: what leaves must not be remembered where nobody looks.
        let is_there = is_at(file, path).or_else(|error| match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Ok(false),
            // It cannot be known.
            _ => Ok::<_, io::Error>(true),
        });
        if !is_there.unwrap_or(true) {
            return Err(fault(
                path,
                IndexFault::Locked,
                "was moved or replaced while this run writes to it; what was decided last did not leave and is not remembered: \
                 feed it again, with the index in one place",
            ));
        }
        let synced = |file: &mut File| if to_disk { file.sync_data() } else { Ok(()) };
        if let Err(error) = file.write_all(&self.pending).and_then(|()| synced(file)) {
            // Whatever of it was written is written again, if it comes to that.
            _ = file.set_len(self.written).and_then(|()| file.seek(SeekFrom::Start(self.written)));
            return Err(failed(error));
        }
        self.written += self.pending.len() as u64;
        self.pending.clear();
        if to_disk {
            (self.synced, self.is_due) = (self.written, false);
        }
        Ok(())
    }

    /// Writes all that is pending to the disk, and behind it that it is there: what is wrong before that is damage from then on.
    pub fn seal(&mut self) -> Result<(), Error> {
        self.frame_notes();
        self.commit(true)?;
        self.begin();
        self.commit(true)
    }

    /// Lets go of what stands before a place, if it is all in memory. It must not be read again.
    pub fn drop_before(&mut self, place: u64) {
        if self.file.is_none() {
            self.pending.drain(..(place - self.written) as usize);
            self.pending.shrink_to(2 * self.pending.len());
            self.written = place;
        }
    }

    /// The record at a place.
    pub fn read(&mut self, place: u64) -> Result<Record, Error> {
        if let Some(at) = place.checked_sub(self.written) {
            let frame = &self.pending[at as usize..];
            let length = u32::from_le_bytes([frame[0], frame[1], frame[2], frame[3]]) as usize;
            return Ok(Record::parse(&frame[8..8 + length], &self.reads).expect("what was written is a record"));
        }
        let (file, path) = self.file.as_ref().expect("what is not pending is in the file");
        let failed = |error| Error::io(format!("cannot read the index {}", path.display()), error);
        let mut head = [0; 8];
        read_at(file, &mut head, place).map_err(failed)?;
        let wrong = || damaged(path, &format!("damaged at byte {place}: the record there has changed"));
        let length = length_of(head, place).ok_or_else(wrong)?;
        self.buffer.resize(length as usize + 8, 0);
        read_at(file, &mut self.buffer, place + 8).map_err(failed)?;
        checked(&self.buffer, place).and_then(|bytes| Record::parse(bytes, &self.reads)).ok_or_else(wrong)
    }
}

/// The record of a frame without its head, if the checksum is right.
fn checked(frame: &[u8], place: u64) -> Option<&[u8]> {
    let (record, sum) = frame.split_last_chunk()?;
    (xxh3_64_with_seed(record, place) == u64::from_le_bytes(*sum)).then_some(record)
}

#[cfg(unix)]
pub(super) fn read_at(file: &File, buffer: &mut [u8], place: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, buffer, place)
}

/// Moves the cursor, and moves it back.
#[cfg(not(unix))]
pub(super) fn read_at(mut file: &File, buffer: &mut [u8], place: u64) -> io::Result<()> {
    let cursor = file.stream_position()?;
    file.seek(SeekFrom::Start(place))?;
    file.read_exact(buffer)?;
    file.seek(SeekFrom::Start(cursor)).map(drop)
}

/// How often it is tried to lock a file, and how long is waited in between: another process may be about to end.
const TRIES: usize = 20;
const BETWEEN_TRIES: Duration = Duration::from_millis(50);

/// Opens a file that no other process has open for writing.
fn lock(path: &Path, options: &mut OpenOptions) -> Result<File, Error> {
    let failed = |error| Error::io(format!("cannot open the index {}", path.display()), error);
    let in_use = || fault(path, IndexFault::Locked, "another process writes to this index; one at a time can");
    for again in 0..TRIES {
        if again > 0 {
            thread::sleep(BETWEEN_TRIES);
        }
        let file = options.read(true).write(true).truncate(false).open(path).map_err(failed)?;
        match file.try_lock() {
            // While it was opened another may have come into its place.
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

/// Whether a file is new, or its very first write was interrupted: it ends within its header, and holds no more than a part of it.
fn is_unfinished(mut file: &File) -> io::Result<bool> {
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

/// The header of an index. `None` if it is not there, or was never finished.
pub(super) fn header_of(path: &Path) -> Result<Option<Value>, Error> {
    let failed = |error| Error::io(format!("cannot open the index {}", path.display()), error);
    match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(failed(error)),
        Ok(file) if is_unfinished(&file).map_err(failed)? => Ok(None),
        Ok(_) => Stored::open(path).map(|stored| Some(stored.header)),
    }
}

/// Whether a file is what a path leads to.
#[cfg(unix)]
pub(super) fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let (own, there) = (file.metadata()?, std::fs::metadata(path)?);
    Ok((own.dev(), own.ino()) == (there.dev(), there.ino()))
}

/// Elsewhere a file that is open is not replaced.
#[cfg(not(unix))]
pub(super) fn is_at(_: &File, _: &Path) -> io::Result<bool> {
    Ok(true)
}

/// The folder that a file is in.
pub(super) fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Makes sure that a new file is found after a power cut, where folders can be told so.
pub(super) fn sync_folder(path: &Path) {
    _ = File::open(folder_of(path)).and_then(|folder| folder.sync_all());
}

fn damaged(path: &Path, message: &str) -> Error {
    fault(path, IndexFault::Damaged, message)
}

fn fault(path: &Path, fault: IndexFault, message: &str) -> Error {
    Error::Index { path: path.display().to_string(), fault, message: message.into() }
}

fn file_header(header: &Value) -> Vec<u8> {
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

/// The largest header that is read.
const MAX_HEADER: u32 = 1 << 24;

/// What a file holds, to be gone through from start to end.
pub(super) struct Stored {
    reader: BufReader<File>,
    path: PathBuf,
    pub header: Value,
    pub version: u32,
    /// Where the first frame starts, where the next one does, and where the file ends.
    first: u64,
    at: u64,
    length: u64,
    /// Whether what is damaged is passed over.
    pub salvages: bool,
    /// How records are read.
    pub reads: Reads,
    /// How many bytes may be hashed that may not be a record: work stays linear in the size of the file, whatever stands there.
    credit: u64,
}

/// What there is behind a place.
enum Next {
    /// A whole frame, with the length of its record.
    Whole(u64, u64),
    /// None.
    Nothing,
    /// There are more beginnings of frames than are looked at.
    Unclear,
}

/// While the next whole frame is looked for, so many bytes may be hashed in vain at once, and so many more for each that is passed.
const CREDIT: (u64, u64) = (1 << 22, 8);

/// So much of a file is looked through at once.
const WINDOW: usize = 1 << 16;

impl Stored {
    /// Opens a file for reading only: others may write to it.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let failed = |error| Error::io(format!("cannot open the index {}", path.display()), error);
        let file = File::open(path).map_err(failed)?;
        let length = file.metadata().map_err(failed)?.len();
        let mut reader = BufReader::with_capacity(1 << 18, file);
        let mut head = [0; 20];
        let read = |reader: &mut BufReader<File>, buffer: &mut [u8]| match reader.read_exact(buffer) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                Err(damaged(path, "no index of dedup: it ends within the header"))
            }
            result => result.map_err(failed),
        };
        read(&mut reader, &mut head)?;
        let word = |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
        if !head.starts_with(MAGIC) {
            return Err(damaged(path, "no index of dedup: it does not start with 'dedup index'"));
        }
        let version = word(12);
        if version < FORMAT_VERSION {
            let message = format!(
                "has format version {version}, whose hashes are no longer made, and holds no texts to make others of: make a new index of \
                 the documents that were let through (this program reads version {FORMAT_VERSION})"
            );
            return Err(fault(path, IndexFault::Options, &message));
        }
        if version > FORMAT_VERSION {
            let message = format!("has format version {version}; this program reads version {FORMAT_VERSION}");
            return Err(fault(path, IndexFault::Options, &message));
        }
        if word(16) > MAX_HEADER {
            return Err(damaged(path, "damaged: the header cannot be so long"));
        }
        let mut bytes = vec![0; word(16) as usize + ROOM + 8];
        read(&mut reader, &mut bytes)?;
        let (checked, sum) = bytes.split_last_chunk().expect("eight bytes were added");
        let text = &checked[..checked.len() - ROOM];
        let header = serde_json::from_slice(text).ok().filter(|_| xxh3_64(checked) == u64::from_le_bytes(*sum));
        let header = header.ok_or_else(|| damaged(path, "damaged: the header has changed"))?;
        let (path, first) = (path.to_path_buf(), 20 + bytes.len() as u64);
        let reads = Reads { shape: Shape::of(&header), skips_evidence: false };
        Ok(Stored { reader, path, header, version, first, at: first, length, salvages: false, reads, credit: 0 })
    }

    /// Whether it was made with these settings.
    fn check(&self, header: &Value) -> Result<(), Error> {
        let (Value::Object(own), Value::Object(asked)) = (&self.header, header) else {
            return Err(damaged(&self.path, "damaged: the header is no object"));
        };
        let mut names: Vec<&String> = own.keys().chain(asked.keys()).collect();
        names.sort_unstable();
        names.dedup();
        names.retain(|name| own.get(*name) != asked.get(*name));
        if names.is_empty() {
            return Ok(());
        }
        if names.iter().all(|name| *name == "seed") {
            // Who knows the seed can prepare texts that collide.
            let message = "made with another seed: leave `seed` out to take that of the index, or use another index";
            return Err(fault(&self.path, IndexFault::Options, message));
        }
        names.retain(|name| *name != "seed");
        let shown = |of: &serde_json::Map<String, Value>| {
            let shown = |name: &&String| match of.get(*name) {
                None | Some(Value::Null) => format!("no {name}"),
                Some(Value::String(text)) if text.contains(' ') => format!("{name} '{text}'"),
                Some(value) => format!("{name} {}", value.to_string().replace('"', "")),
            };
            names.iter().map(shown).collect::<Vec<_>>().join(", ")
        };
        let (own, asked) = (shown(own), shown(asked));
        let message = format!("made with {own}, and this run has {asked}: use the same options, or another index");
        Err(fault(&self.path, IndexFault::Options, &message))
    }

    /// Hands over what was written, each with its place and its bytes; all of it each time, of the file as it was when it was opened.
    ///
    /// # Errors
    /// The file cannot be read, or is damaged elsewhere than at its end; or what `each` returns.
    pub fn each(&mut self, mut each: impl FnMut(u64, Entry, &[u8]) -> Result<(), Error>) -> Result<End, Error> {
        let path = self.path.clone();
        let failed = |error| Error::io(format!("cannot read the index {}", path.display()), error);
        let (mut frame, mut has_marks, mut is_marked, mut damaged) = (Vec::new(), false, false, 0);
        self.at = self.first;
        self.credit = CREDIT.0;
        self.reader.seek(SeekFrom::Start(self.first)).map_err(failed)?;
        while self.at < self.length {
            let (place, left) = (self.at, self.length - self.at);
            let torn = |is_marked, damaged| {
                Ok(End { at: place, torn: Some(Repair { at: place, bytes: left }), is_marked, damaged })
            };
            if left < AROUND {
                return torn(is_marked, damaged);
            }
            let mut head = [0; 8];
            self.reader.read_exact(&mut head).map_err(failed)?;
            let length = length_of(head, place).filter(|length| length + AROUND <= left);
            let is_whole = match length {
                Some(length) => self.read_frame(length, place, &mut frame).map_err(failed)?,
                None => false,
            };
            if !is_whole {
                if self.salvages {
                    match self.find_whole(place + 1)? {
                        Next::Whole(next, _) => {
                            damaged += next - place;
                            self.at = next;
                            self.reader.seek(SeekFrom::Start(next)).map_err(failed)?;
                            continue;
                        }
                        Next::Nothing | Next::Unclear => return torn(is_marked, damaged),
                    }
                }
                if length.is_some_and(|length| length + AROUND == left) || self.is_torn(place, has_marks)? {
                    return torn(is_marked, damaged);
                }
                return Err(self.damaged_at(place, "what stands there was not written so"));
            }
            let bytes = &frame[..frame.len() - 8];
            match Entry::parse(bytes, &self.reads) {
                Some(Entry::Synced) => (has_marks, is_marked) = (true, true),
                Some(entry) => {
                    is_marked = false;
                    each(place, entry, bytes)?;
                }
                None if self.salvages => damaged += frame.len() as u64 + 8,
                None => return Err(self.damaged_at(place, "an index made like this one cannot hold the record there")),
            }
            self.at += frame.len() as u64 + 8;
        }
        Ok(End { at: self.at, torn: None, is_marked, damaged })
    }

    fn damaged_at(&self, place: u64, what: &str) -> Error {
        let advice = "dedup index compact --salvage keeps what is whole";
        damaged(&self.path, &format!("damaged at byte {place}: {what} ({advice})"))
    }

    /// Reads the rest of a frame, whose head was read. Returns whether its checksum is right. A long one is read twice, so that memory
    /// is taken for what is a record alone.
    fn read_frame(&mut self, length: u64, place: u64, frame: &mut Vec<u8>) -> io::Result<bool> {
        if length as usize > PIECE {
            if !self.is_whole(place, length)? {
                return Ok(false);
            }
            self.reader.seek(SeekFrom::Start(place + 8))?;
        }
        frame.resize(length as usize + 8, 0);
        self.reader.read_exact(frame)?;
        Ok(checked(frame, place).is_some())
    }

    /// Whether the checksum of the frame at a place is right. It must lie within the file.
    fn is_whole(&self, place: u64, length: u64) -> io::Result<bool> {
        let mut hash = Xxh3::with_seed(place);
        let mut piece = vec![0; PIECE.min(length as usize)];
        let (mut at, end) = (place + 8, place + 8 + length);
        while at < end {
            let count = piece.len().min((end - at) as usize);
            read_at(self.reader.get_ref(), &mut piece[..count], at)?;
            hash.update(&piece[..count]);
            at += count as u64;
        }
        let mut sum = [0; 8];
        read_at(self.reader.get_ref(), &mut sum, end)?;
        Ok(hash.digest() == u64::from_le_bytes(sum))
    }

    /// The first whole frame at or behind a place.
    ///
    /// Cost: linear in what is passed. A head has a check of its own, so that a body is hashed in vain only where damage spared the
    /// head, or where heads were made to waste time; that is bounded.
    fn find_whole(&mut self, mut from: u64) -> Result<Next, Error> {
        let failed = |error| Error::io(format!("cannot read the index {}", self.path.display()), error);
        let (mut window, mut size, mut is_unclear) = (vec![0; WINDOW], 1 << 10, false);
        while from + AROUND <= self.length {
            let count = size.min((self.length - from) as usize);
            size = WINDOW.min(2 * size);
            read_at(self.reader.get_ref(), &mut window[..count], from).map_err(failed)?;
            for (at, head) in window[..count].windows(8).enumerate() {
                let (place, head) = (from + at as u64, head.try_into().expect("windows of 8"));
                let left = self.length - place;
                self.credit = (self.credit + CREDIT.1).min(MAX_RECORD);
                let Some(length) = length_of(head, place).filter(|length| length + AROUND <= left) else { continue };
                if length > self.credit {
                    is_unclear = true;
                } else if self.is_whole(place, length).map_err(failed)? {
                    return Ok(Next::Whole(place, length));
                } else {
                    self.credit -= length;
                }
            }
            // The last bytes may begin a head.
            from += count as u64 - 7;
        }
        Ok(if is_unclear { Next::Unclear } else { Next::Nothing })
    }

    /// Whether what is wrong at a place is an interrupted write: no frame behind it says that everything before it was on the disk. Where
    /// no frame ever said so, no whole frame stands behind it at all.
    fn is_torn(&mut self, place: u64, has_marks: bool) -> Result<bool, Error> {
        if self.length - place > TORN {
            return Ok(false);
        }
        let mut from = place + 1;
        loop {
            match self.find_whole(from)? {
                Next::Nothing => return Ok(true),
                Next::Unclear => return Ok(false),
                Next::Whole(at, length) => {
                    let mut kind = [0];
                    let failed = |error| Error::io(format!("cannot read the index {}", self.path.display()), error);
                    read_at(self.reader.get_ref(), &mut kind, at + 8).map_err(failed)?;
                    if !has_marks || (length == 1 && kind == [SYNCED]) {
                        return Ok(false);
                    }
                    from = at + AROUND + length;
                }
            }
        }
    }
}

/// No write is longer than this.
const TORN: u64 = 1 << 28;
