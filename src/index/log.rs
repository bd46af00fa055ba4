//! The log: records of documents, one after the other, in a file or in memory.
//!
//! ```text
//! file    magic (12 bytes), format version (4), length of the header (4), header (JSON), checksum (8); then frames
//! frame   length of the record (4), check of the length and the place (4), record, checksum (8)
//! record  kind (1), id, hash of the token sequence (16), time; fingerprint, or tags of keys and coded features
//! ```
//!
//! Numbers are little-endian; lengths within a record are LEB128. A checksum depends on where it stands.

use super::coded::{decode, encode};
use super::signature::{Signature, tags};
use crate::algorithm::{Algorithm, Compares};
use crate::error::Error;
use serde_json::Value;
use std::fs::{File, TryLockError};
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

/// The version of the format that is written.
pub const FORMAT_VERSION: u32 = 1;

const MAGIC: &[u8; 12] = b"dedup index\n";

/// What an interrupted write left at the end of the file, which was cut off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repair {
    /// The byte where the file was cut.
    pub at: u64,
    /// How many bytes that were.
    pub bytes: u64,
}

/// What is stored of a document.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Record {
    pub id: String,
    pub sequence: u128,
    /// In seconds since 1970.
    pub time: u64,
    pub kind: Kind,
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

impl Record {
    pub fn new(id: &str, signature: &Signature, time: u64, algorithm: &dyn Algorithm) -> Self {
        let kind = match algorithm.compares() {
            _ if signature.featureless => Kind::Featureless,
            Compares::Fingerprints => Kind::Fingerprint,
            Compares::Features | Compares::Multisets => Kind::Features,
        };
        let tags = if kind == Kind::Features { signature.tags.clone() } else { Vec::new() };
        let evidence = signature.evidence.clone();
        Record { id: id.into(), sequence: signature.sequence, time, kind, tags, evidence }
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
        out.push(self.kind as u8);
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

    /// `None` if the bytes are no record.
    fn parse(bytes: &[u8]) -> Option<Self> {
        let mut rest = bytes;
        let kind = match take(&mut rest, 1)?[0] {
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
        match kind {
            Kind::Featureless => {}
            Kind::Fingerprint => {
                evidence.extend(counted(&mut rest, 8)?.as_chunks().0.iter().map(|&word| u64::from_le_bytes(word)));
            }
            Kind::Features => {
                tags.extend(counted(&mut rest, 4)?.as_chunks().0.iter().map(|&tag| u32::from_le_bytes(tag)));
                let count = usize::try_from(number(&mut rest)?).ok()?;
                // An element takes more than a bit.
                (count <= 8 * rest.len()).then_some(())?;
                decode(rest, count, &mut evidence)?;
            }
        }
        Some(Record { id, sequence, time, kind, tags, evidence })
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
    (frame_head(length, place) == head).then_some(length.into())
}

/// A frame takes so much beside its record.
const AROUND: u64 = 16;

/// The log.
pub(super) struct Log {
    file: Option<(File, PathBuf)>,
    /// How much is in the file.
    written: u64,
    /// What is not yet; in memory, all there is.
    pending: Vec<u8>,
    buffer: Vec<u8>,
}

impl Log {
    pub fn in_memory() -> Self {
        Log { file: None, written: 0, pending: Vec::new(), buffer: Vec::new() }
    }

    /// Opens a file for writing, or makes it. What it holds is still to be gone through.
    pub fn open(path: &Path, header: &Value) -> Result<(Self, Stored), Error> {
        let failed = |error| Error::io(format!("cannot open the index {}", path.display()), error);
        let mut file =
            File::options().read(true).write(true).create(true).truncate(false).open(path).map_err(failed)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(damaged(path, "another process writes to this index; one at a time can"));
            }
            Err(TryLockError::Error(error)) => return Err(failed(error)),
        }
        let expected = file_header(header);
        let mut found = Vec::new();
        (&file).take(expected.len() as u64).read_to_end(&mut found).map_err(failed)?;
        // A new file, or one whose very first write was interrupted.
        if found.len() < expected.len() && expected.starts_with(&found) {
            file.set_len(0).map_err(failed)?;
            file.rewind().map_err(failed)?;
            file.write_all(&expected).and_then(|()| file.sync_all()).map_err(failed)?;
            sync_folder(path);
        }
        let stored = Stored::open(path)?;
        stored.check(header)?;
        let log = Log { file: Some((file, path.to_path_buf())), written: 0, pending: Vec::new(), buffer: Vec::new() };
        Ok((log, stored))
    }

    /// Goes on behind what is stored, and cuts off the rest.
    pub fn start_at(&mut self, end: u64) -> Result<(), Error> {
        if let Some((file, path)) = &mut self.file {
            let failed = |error| Error::io(format!("cannot write the index {}", path.display()), error);
            if file.metadata().map_err(failed)?.len() > end {
                file.set_len(end).and_then(|()| file.sync_all()).map_err(failed)?;
            }
            file.seek(SeekFrom::Start(end)).map_err(failed)?;
        }
        self.written = end;
        Ok(())
    }

    /// Bytes in all.
    pub fn len(&self) -> u64 {
        self.written + self.pending.len() as u64
    }

    /// Bytes of memory.
    pub fn bytes_held(&self) -> u64 {
        self.pending.capacity() as u64
    }

    /// Adds a record. Returns its place.
    pub fn append(&mut self, record: &Record) -> Result<u64, Error> {
        let place = self.len();
        self.buffer.clear();
        record.write(&mut self.buffer);
        let length = u32::try_from(self.buffer.len())
            .map_err(|_| Error::Usage(format!("document '{}' is too large for the index", record.id)))?;
        self.pending.extend_from_slice(&frame_head(length, place));
        self.pending.extend_from_slice(&self.buffer);
        self.pending.extend_from_slice(&xxh3_64_with_seed(&self.buffer, place).to_le_bytes());
        Ok(place)
    }

    /// Writes what is pending; to the disk, if it is to be there.
    pub fn commit(&mut self, to_disk: bool) -> Result<(), Error> {
        let Some((file, path)) = &mut self.file else { return Ok(()) };
        if self.pending.is_empty() {
            return Ok(());
        }
        let failed = |error| Error::io(format!("cannot write the index {}", path.display()), error);
        let synced = |file: &mut File| if to_disk { file.sync_data() } else { Ok(()) };
        if let Err(error) = file.write_all(&self.pending).and_then(|()| synced(file)) {
            // Whatever of it was written is written again, if it comes to that.
            _ = file.set_len(self.written).and_then(|()| file.seek(SeekFrom::Start(self.written)));
            return Err(failed(error));
        }
        self.written += self.pending.len() as u64;
        self.pending.clear();
        Ok(())
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
            return Ok(Record::parse(&frame[8..8 + length]).expect("what was written is a record"));
        }
        let (file, path) = self.file.as_ref().expect("what is not pending is in the file");
        let failed = |error| Error::io(format!("cannot read the index {}", path.display()), error);
        let mut head = [0; 8];
        read_at(file, &mut head, place).map_err(failed)?;
        let wrong = || damaged(path, &format!("damaged at byte {place}: the record there has changed"));
        let length = length_of(head, place).ok_or_else(wrong)?;
        self.buffer.resize(length as usize + 8, 0);
        read_at(file, &mut self.buffer, place + 8).map_err(failed)?;
        checked(&self.buffer, place).and_then(Record::parse).ok_or_else(wrong)
    }
}

/// The record of a frame without its head, if the checksum is right.
fn checked(frame: &[u8], place: u64) -> Option<&[u8]> {
    let (record, sum) = frame.split_last_chunk()?;
    (xxh3_64_with_seed(record, place) == u64::from_le_bytes(*sum)).then_some(record)
}

#[cfg(unix)]
fn read_at(file: &File, buffer: &mut [u8], place: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, buffer, place)
}

/// Moves the cursor, and moves it back.
#[cfg(not(unix))]
fn read_at(mut file: &File, buffer: &mut [u8], place: u64) -> io::Result<()> {
    let cursor = file.stream_position()?;
    file.seek(SeekFrom::Start(place))?;
    file.read_exact(buffer)?;
    file.seek(SeekFrom::Start(cursor)).map(drop)
}

/// Makes sure that a new file is found after a power cut, where folders can be told so.
fn sync_folder(path: &Path) {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    _ = File::open(folder).and_then(|folder| folder.sync_all());
}

fn damaged(path: &Path, message: &str) -> Error {
    Error::Index { path: path.display().to_string(), message: message.into() }
}

fn file_header(header: &Value) -> Vec<u8> {
    let header = header.to_string();
    let mut bytes = MAGIC.to_vec();
    bytes.extend_from_slice(&FORMAT_VERSION.to_le_bytes());
    bytes.extend_from_slice(&(header.len() as u32).to_le_bytes());
    bytes.extend_from_slice(header.as_bytes());
    bytes.extend_from_slice(&xxh3_64(header.as_bytes()).to_le_bytes());
    bytes
}

/// The largest header that is read.
const MAX_HEADER: u32 = 1 << 24;

/// What a file holds, to be gone through from start to end.
pub(super) struct Stored {
    reader: BufReader<File>,
    path: PathBuf,
    pub header: Value,
    /// Where the next frame starts, and where the file ends.
    at: u64,
    length: u64,
}

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
        if word(12) != FORMAT_VERSION {
            let message = format!("has format version {}; this program reads version {FORMAT_VERSION}", word(12));
            return Err(damaged(path, &message));
        }
        if word(16) > MAX_HEADER {
            return Err(damaged(path, "damaged: the header cannot be so long"));
        }
        let mut bytes = vec![0; word(16) as usize + 8];
        read(&mut reader, &mut bytes)?;
        let (text, sum) = bytes.split_last_chunk().expect("eight bytes were added");
        let header = serde_json::from_slice(text).ok().filter(|_| xxh3_64(text) == u64::from_le_bytes(*sum));
        let header = header.ok_or_else(|| damaged(path, "damaged: the header has changed"))?;
        Ok(Stored { reader, path: path.to_path_buf(), header, at: 20 + bytes.len() as u64, length })
    }

    /// Whether it was made with these settings.
    fn check(&self, header: &Value) -> Result<(), Error> {
        let (Value::Object(own), Value::Object(asked)) = (&self.header, header) else {
            return Err(damaged(&self.path, "damaged: the header is no object"));
        };
        let mut names: Vec<&String> = own.keys().chain(asked.keys()).collect();
        names.sort_unstable();
        let shown = |value: Option<&Value>| value.map_or("nothing".into(), Value::to_string);
        match names.into_iter().find(|name| own.get(*name) != asked.get(*name)) {
            None => Ok(()),
            Some(name) => Err(damaged(
                &self.path,
                &format!(
                    "made with {name} {}, and this run has {}: use the same options, or another index",
                    shown(own.get(name)),
                    shown(asked.get(name))
                ),
            )),
        }
    }

    /// Hands over every record with its place. Returns where the last one ends, and what was torn behind it.
    ///
    /// # Errors
    /// The file cannot be read, or is damaged elsewhere than at its end.
    pub fn each(mut self, mut each: impl FnMut(u64, Record)) -> Result<(u64, Option<Repair>), Error> {
        let path = self.path.clone();
        let failed = |error| Error::io(format!("cannot read the index {}", path.display()), error);
        let mut frame = Vec::new();
        while self.at < self.length {
            let (place, left) = (self.at, self.length - self.at);
            let torn = Ok((place, Some(Repair { at: place, bytes: left })));
            if left < AROUND {
                return torn;
            }
            let mut head = [0; 8];
            self.reader.read_exact(&mut head).map_err(failed)?;
            let Some(length) = length_of(head, place) else {
                return if self.has_frame_behind(place)? { Err(self.damage(place)) } else { torn };
            };
            if length + AROUND > left {
                return torn;
            }
            frame.resize(length as usize + 8, 0);
            self.reader.read_exact(&mut frame).map_err(failed)?;
            match checked(&frame, place).and_then(Record::parse) {
                Some(record) => each(place, record),
                None if length + AROUND == left || !self.has_frame_behind(place)? => return torn,
                None => return Err(self.damage(place)),
            }
            self.at += length + AROUND;
        }
        Ok((self.at, None))
    }

    fn damage(&self, place: u64) -> Error {
        damaged(&self.path, &format!("damaged at byte {place}: what stands there was not written so"))
    }

    /// Whether a whole frame stands anywhere behind a place: then what is wrong there is no interrupted write.
    fn has_frame_behind(&mut self, place: u64) -> Result<bool, Error> {
        let failed = |error| Error::io(format!("cannot read the index {}", self.path.display()), error);
        if self.length - place > TORN {
            return Ok(true);
        }
        self.reader.seek(SeekFrom::Start(place)).map_err(failed)?;
        let mut rest = Vec::new();
        self.reader.read_to_end(&mut rest).map_err(failed)?;
        Ok((1..rest.len().saturating_sub(AROUND as usize - 1)).any(|at| {
            let own = place + at as u64;
            let length = rest[at..].first_chunk().and_then(|&head| length_of(head, own));
            let frame = length.and_then(|length| rest[at + 8..].get(..length as usize + 8));
            frame.is_some_and(|frame| checked(frame, own).is_some())
        }))
    }
}

/// No write is longer than this.
const TORN: u64 = 1 << 28;
