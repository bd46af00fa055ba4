//! Reading an index: every frame from start to end. Damage is found in linear time.

use super::checkpoint::{Checkpoint, missing};
use super::entry::{Entry, Reads, SYNCED};
use super::file::{FORMAT_VERSION, MAGIC, MAX_HEADER, ROOM, damaged, fault, is_unfinished};
use super::frame::{FRAME_OVERHEAD, MAX_RECORD, PIECE, WINDOW, checked, digest_after, length_of};
use super::moved::{MARK, Moved, Shifts, next_moved_mark, written_at};
use super::repeat::are_before;
use super::shape::{Shape, chooses_tables};
use crate::error::{Error, IndexFault};
use crate::postings::read_at;
use crate::readable::counted;
use crate::replace::{Links, open_regular};
use serde_json::Value;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

/// The incomplete end of a file, left by an interrupted write. A writer cuts it off. To a reader, it may also be a record that
/// another process is writing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Repair {
    /// The byte where it begins.
    pub at: u64,
    /// The number of its bytes.
    pub bytes: u64,
    /// Whether it is known to be the beginning of what is added as a whole: by cleaning with an index, or by a call of the Python package.
    /// Nothing of it counts, and repeating the command or the call adds all of it.
    pub is_addition: bool,
}

/// The end of the part that is whole.
pub(super) struct End {
    pub at: u64,
    pub torn: Option<Repair>,
    /// Whether the last frame marks that everything before it is on the disk.
    pub is_marked: bool,
    /// The number of bytes skipped.
    pub damaged: u64,
    /// The number of bytes of what was written that are not in the file, as far as it is known.
    pub missing: u64,
    /// The [digest](digest_after) of all frames.
    pub digest: u64,
    /// Whether any frame marks that what precedes is on the disk.
    pub has_marks: bool,
}

/// A reading from start to end: what was read last, and what is known of all before it.
pub(super) struct Reading {
    frame: Vec<u8>,
    is_marked: bool,
    damaged: u64,
    /// How many bytes of what was written are not in the file, as far as records that moved show it.
    missing: u64,
    /// How often something was skipped.
    gaps: u64,
    digest: u64,
    has_marks: bool,
}

/// What a reading comes to.
pub(super) enum Step {
    /// A record, and the place where it was written.
    Entry(u64, Entry),
    End(End),
}

impl Reading {
    /// The bytes of the last record.
    pub fn bytes(&self) -> &[u8] {
        &self.frame[..self.frame.len() - 8]
    }

    /// How often something was skipped before the last record.
    pub fn gaps(&self) -> u64 {
        self.gaps
    }

    fn torn(&self, at: u64, bytes: u64) -> Step {
        Step::End(self.end(at, Some(Repair { at, bytes, is_addition: false })))
    }

    fn end(&self, at: u64, torn: Option<Repair>) -> End {
        let Reading { is_marked, damaged, missing, digest, has_marks, .. } = *self;
        End { at, torn, is_marked, damaged, missing, digest, has_marks }
    }
}

fn cannot_read(path: &Path, error: io::Error) -> Error {
    Error::io(format!("cannot read the index {}", path.display()), error)
}

/// A place where reading can begin.
#[derive(Clone, Copy, Debug)]
pub(super) struct Start {
    pub at: u64,
    /// The digest of all frames before it.
    pub digest: u64,
    /// Whether a frame before it marks that what precedes is on the disk.
    pub has_marks: bool,
}

/// The content of a file, to be read from start to end.
pub(super) struct Stored {
    reader: BufReader<File>,
    path: PathBuf,
    pub header: Value,
    pub version: u32,
    /// Where reading begins, the start of the next frame, and the end of the file.
    start: Start,
    at: u64,
    pub length: u64,
    /// Whether damaged parts are skipped.
    pub salvages: bool,
    /// How records are read.
    pub reads: Reads,
    /// The number of bytes that may be hashed without being a record. It keeps the work linear in the size of the file,
    /// whatever its content.
    credit: u64,
    /// The last mark that was searched for; 0 before the first.
    mark: u64,
    /// What must be added to a place to get the one where what is there was written: 0, unless damaged parts are skipped.
    shift: i64,
    shifts: Shifts,
    /// Up to where everything was on the disk when the checkpoint beside the file was made; 0 without one of an index that was made with
    /// the same header.
    covered: u64,
}

/// The content after a place.
enum Next {
    /// A whole frame, with the length of its record.
    Whole(u64, u64),
    /// None.
    Nothing,
    /// More beginnings of frames than are checked.
    Unclear,
}

/// What is at a place.
enum Frame {
    /// A whole frame, with the length of its record.
    Whole(u64),
    /// The head of one that is longer than what may be hashed in vain.
    TooLong,
    None,
}

/// The budget of bytes hashed in vain while searching for the next whole frame: this many at once, and this many more
/// for each byte passed.
const CREDIT: (u64, u64) = (1 << 22, 8);

/// The length of an index without documents, after its header: that of the frame that marks it as written. A document takes
/// more.
const MOST_WITHOUT_DOCUMENTS: u64 = FRAME_OVERHEAD + 1;

impl Stored {
    /// Opens a file for reading only. Other processes may write to it.
    ///
    /// # Errors
    /// There is no file, it cannot be read, or it is not an index.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let failed = |error: io::Error| match error.kind() {
            io::ErrorKind::NotFound => missing(path),
            _ => Error::input(format!("cannot open the index {}", path.display()), error),
        };
        // Before the length is known: a writer may write both meanwhile.
        let checkpoint = Checkpoint::of(path).read();
        let file = open_regular(path, File::options().read(true), Links::Followed).map_err(failed)?;
        let length = file.metadata().map_err(failed)?.len();
        let mut reader = BufReader::with_capacity(1 << 18, file);
        let mut head = [0; 20];
        let read = |reader: &mut BufReader<File>, buffer: &mut [u8]| match reader.read_exact(buffer) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                let is_unfinished = is_unfinished(reader.get_ref()).unwrap_or(false);
                Err(damaged(
                    path,
                    match is_unfinished {
                        true => {
                            "it is empty or ends within the header, as if the run that made it was interrupted: it remembers nothing, \
                             and the next run that writes to it creates it again"
                        }
                        false => "not a dedup index: it ends within the header",
                    },
                ))
            }
            result => result.map_err(failed),
        };
        read(&mut reader, &mut head)?;
        let word = |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
        if !head.starts_with(MAGIC) {
            return Err(damaged(path, "not a dedup index: it does not start with 'dedup index'"));
        }
        let version = word(12);
        if version < FORMAT_VERSION {
            let message = format!(
                "this index has format version {version}, and only version {FORMAT_VERSION} can be read; it cannot be converted, because it has \
                 hashes of the documents and not their texts: make a new index from the documents that were passed"
            );
            return Err(fault(path, IndexFault::Options, &message));
        }
        if version > FORMAT_VERSION {
            let message = format!(
                "this index has format version {version}, and only versions up to {FORMAT_VERSION} can be read: use a newer version of dedup"
            );
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
        let header = header.ok_or_else(|| damaged(path, "damaged: the header has changed: restore a backup"))?;
        let header: Value = header;
        let identity = xxh3_64(header.to_string().as_bytes());
        let covered = checkpoint.filter(|made| made.identity == identity).map_or(0, |made| made.mark.end);
        let (path, at) = (path.to_path_buf(), 20 + bytes.len() as u64);
        let start = Start { at, digest: 0, has_marks: false };
        let reads = Reads { shape: Shape::of(&header), skips_evidence: false };
        Ok(Stored {
            reader,
            path,
            header,
            version,
            start,
            at,
            length,
            salvages: false,
            reads,
            credit: 0,
            mark: 0,
            shift: 0,
            shifts: Shifts::new(0),
            covered,
        })
    }

    /// The path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The file, opened for reading.
    pub fn file(&self) -> &File {
        self.reader.get_ref()
    }

    /// Checks that it was made with these settings, given as a header.
    pub fn check(&self, header: &Value) -> Result<(), Error> {
        let (Value::Object(own), Value::Object(asked)) = (&self.header, header) else {
            return Err(damaged(&self.path, "damaged: the header is not a JSON object"));
        };
        let mut names: Vec<&String> = own.keys().chain(asked.keys()).collect();
        names.sort_unstable();
        names.dedup();
        let any_tables = chooses_tables(&self.header);
        names.retain(|name| own.get(*name) != asked.get(*name) && !(any_tables && *name == "tables"));
        if names.is_empty() {
            return Ok(());
        }
        if names.iter().any(|name| *name == "algo") {
            // The others follow from it.
            names.retain(|name| *name == "algo");
        }
        // One that a mistyped command has made is not worth its options.
        let is_empty = self.length - self.start.at <= MOST_WITHOUT_DOCUMENTS;
        let or_else = if is_empty { "it holds no documents: delete it, or " } else { "" };
        if names.iter().all(|name| *name == "seed") {
            // Someone who knows the seed can craft texts that collide.
            let message = format!(
                "this index was made with another `seed`: {or_else}use its seed, which `index::header` shows, or another index"
            );
            return Err(fault(&self.path, IndexFault::Options, &message));
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
        let message =
            format!("made with {own}, and this run has {asked}: {or_else}use the same options, or another index");
        Err(fault(&self.path, IndexFault::Options, &message))
    }

    /// Begins at this place, which is that of a frame.
    pub fn start_at(&mut self, start: Start) {
        self.start = start;
    }

    /// Reads as if there were no checkpoint beside the file.
    #[cfg(feature = "clean")]
    pub fn ignore_checkpoint(&mut self) {
        self.covered = 0;
    }

    /// Removes the checkpoint beside a file that was read up to this end, if it is of a longer one: of another index, or of a later
    /// state of this one. What follows the end would seem to be damaged as soon as it is torn.
    pub fn remove_stale_checkpoint(&mut self, end: &End) {
        if self.covered > end.at {
            Checkpoint::of(&self.path).remove();
            self.covered = 0;
        }
    }

    /// How much longer the file was when its checkpoint was made, after it was read up to this end; 0 if that is not known.
    pub fn missing_after(&self, end: &End) -> u64 {
        let torn = end.torn.map_or(0, |torn| torn.bytes);
        self.covered.saturating_sub(self.written(end.at) + torn)
    }

    /// The place where reading begins.
    pub fn start(&self) -> Start {
        self.start
    }

    /// The record and the checksum of the frame at a place, if a whole one is there that is at most this long.
    pub fn frame_at(&mut self, place: u64, most: u64) -> io::Result<Option<(Vec<u8>, u64)>> {
        self.length = self.file().metadata()?.len();
        self.whole_frame(place, most)
    }

    /// The same, up to the end that is known.
    fn whole_frame(&self, place: u64, most: u64) -> io::Result<Option<(Vec<u8>, u64)>> {
        if place < self.start.at || place.checked_add(FRAME_OVERHEAD).is_none_or(|end| end > self.length) {
            return Ok(None);
        }
        let mut head = [0; 8];
        read_at(self.file(), &mut head, place)?;
        let left = self.length - place - FRAME_OVERHEAD;
        let written = self.written(place);
        let Some(length) = length_of(head, written).filter(|&length| length <= left.min(most)) else { return Ok(None) };
        let mut frame = vec![0; length as usize + 8];
        read_at(self.file(), &mut frame, place + 8)?;
        let check =
            checked(&frame, written).map(|_| u64::from_le_bytes(*frame.last_chunk().expect("it has eight bytes")));
        frame.truncate(length as usize);
        Ok(check.map(|check| (frame, check)))
    }

    /// Passes each record to a function, with its place and its bytes. Each call reads everything, up to the size of
    /// the file when it was opened.
    ///
    /// # Errors
    /// The file cannot be read, or is damaged other than at its end; or what `each` returns.
    pub fn each(&mut self, mut each: impl FnMut(u64, Entry, &[u8]) -> Result<(), Error>) -> Result<End, Error> {
        let mut reading = self.begin()?;
        loop {
            match self.step(&mut reading)? {
                Step::Entry(place, entry) => each(place, entry, reading.bytes())?,
                Step::End(end) => return Ok(end),
            }
        }
    }

    /// Begins to read.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn begin(&mut self) -> Result<Reading, Error> {
        let Start { at, digest, has_marks } = self.start;
        self.at = at;
        (self.credit, self.mark) = (CREDIT.0, 0);
        (self.shift, self.shifts) = (0, Shifts::new(self.length));
        self.reader.seek(SeekFrom::Start(at)).map_err(|error| self.failed(error))?;
        Ok(Reading { frame: Vec::new(), is_marked: false, damaged: 0, missing: 0, gaps: 0, digest, has_marks })
    }

    /// Reads up to the next record.
    ///
    /// # Errors
    /// The file cannot be read, or is damaged other than at its end.
    pub fn step(&mut self, reading: &mut Reading) -> Result<Step, Error> {
        while self.at < self.length {
            let (place, left) = (self.at, self.length - self.at);
            if left < FRAME_OVERHEAD {
                return self.torn(reading, place);
            }
            let mut head = [0; 8];
            self.reader.read_exact(&mut head).map_err(|error| self.failed(error))?;
            let written = self.written(place);
            let length = length_of(head, written).filter(|length| length + FRAME_OVERHEAD <= left);
            let is_whole = match length {
                Some(length) => {
                    self.read_frame(length, place, &mut reading.frame).map_err(|error| self.failed(error))?
                }
                None => false,
            };
            if !is_whole {
                if self.salvages {
                    let Some((next, shift)) = self.next_whole(place)? else { return Ok(reading.torn(place, left)) };
                    // What was passed may be read after all.
                    reading.damaged = (reading.damaged + next).saturating_sub(place);
                    reading.missing += u64::try_from(shift - self.shift).unwrap_or(0);
                    reading.gaps += 1;
                    (self.at, self.shift, self.mark) = (next, shift, 0);
                    self.reader.seek(SeekFrom::Start(next)).map_err(|error| self.failed(error))?;
                    continue;
                }
                if length.is_some_and(|length| length + FRAME_OVERHEAD == left)
                    || self.is_torn(place, reading.has_marks)?
                {
                    return self.torn(reading, place);
                }
                return Err(self.damaged_at(place, "the bytes there are not a valid record"));
            }
            self.at += reading.frame.len() as u64 + 8;
            match self.entry(place, reading)? {
                Some(Entry::Call(end)) if self.is_open(end)? => {
                    let mut step = self.torn(reading, place)?;
                    if let Step::End(End { torn: Some(torn), .. }) = &mut step {
                        torn.is_addition = true;
                    }
                    return Ok(step);
                }
                None | Some(Entry::Call(_)) => {}
                Some(entry) => {
                    self.shifts.has_read(self.shift, self.at - place);
                    return Ok(Step::Entry(written, entry));
                }
            }
        }
        Ok(Step::End(reading.end(self.at, None)))
    }

    /// The record of the whole frame that was read; `None` for a mark, and for a damaged one that is left out.
    fn entry(&self, place: u64, reading: &mut Reading) -> Result<Option<Entry>, Error> {
        let (bytes, check) = reading.frame.split_last_chunk().expect("a frame ends with its checksum");
        let digest = digest_after(reading.digest, u64::from_le_bytes(*check));
        let is_possible = |entry: &Entry| match entry {
            Entry::Notes(words) => are_before(words, self.written(place)),
            Entry::Call(end) => self.written(self.at) < *end,
            _ => true,
        };
        let entry = Entry::parse(bytes, &self.reads).filter(is_possible);
        if let Some(Entry::Call(_)) = entry {
            // Of what follows, and written after it.
            return Ok(entry);
        }
        reading.digest = digest;
        match entry {
            Some(Entry::Synced) => (reading.has_marks, reading.is_marked) = (true, true),
            Some(entry) => {
                reading.is_marked = false;
                return Ok(Some(entry));
            }
            None if self.salvages => {
                reading.damaged += reading.frame.len() as u64 + 8;
                reading.gaps += 1;
            }
            None => return Err(self.damaged_at(place, "an index made like this one cannot hold the record there")),
        }
        Ok(None)
    }

    fn failed(&self, error: io::Error) -> Error {
        cannot_read(&self.path, error)
    }

    /// The end of an interrupted write at a place. (An index that was truncated at the end of a record looks like an older copy.)
    ///
    /// # Errors
    /// What was there had been on the disk.
    fn torn(&self, reading: &Reading, place: u64) -> Result<Step, Error> {
        if place < self.covered && !self.salvages {
            let what = format!(
                "no valid record is there, and the index was whole up to byte {} when its checkpoint was made: restore a backup; if this \
                 is an older copy, delete the folder {}",
                self.covered,
                Checkpoint::of(&self.path).folder().display()
            );
            return Err(self.damaged_at(place, &what));
        }
        if !self.salvages
            && let Some(moved) = self.moved_end(place)?
        {
            return Err(self.moved_at(place, moved));
        }
        Ok(reading.torn(place, self.length - place))
    }

    fn damaged_at(&self, place: u64, what: &str) -> Error {
        let advice = "`Outdated::damaged` keeps what is whole";
        damaged(&self.path, &format!("damaged at byte {place}: {what} ({advice})"))
    }

    /// Reads the rest of a frame after its head. Returns whether its checksum is right. A long frame is read twice, so
    /// that memory is allocated only for a valid record.
    fn read_frame(&mut self, length: u64, place: u64, frame: &mut Vec<u8>) -> io::Result<bool> {
        if length as usize > PIECE {
            if !self.is_whole(place, length)? {
                return Ok(false);
            }
            self.reader.seek(SeekFrom::Start(place + 8))?;
        }
        frame.resize(length as usize + 8, 0);
        self.reader.read_exact(frame)?;
        Ok(checked(frame, self.written(place)).is_some())
    }

    /// Whether the checksum of the frame at a place is right. The frame must lie within the file.
    fn is_whole(&self, place: u64, length: u64) -> io::Result<bool> {
        self.is_whole_at(place, length, self.written(place))
    }

    /// The same of one that was written at another place.
    fn is_whole_at(&self, place: u64, length: u64, written: u64) -> io::Result<bool> {
        let mut hash = Xxh3::with_seed(written);
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

    /// The first whole frame at or after a place.
    ///
    /// Cost: linear in the bytes passed. A head has a check of its own, so that a body is hashed in vain only where
    /// damage left a head intact, or where heads were crafted to waste time; that is bounded.
    fn find_whole(&mut self, from: u64) -> Result<Next, Error> {
        let (mut found, mut is_unclear) = (Next::Nothing, false);
        self.search(from, |stored, place, bytes| {
            match stored.whole_at(place, bytes, stored.shift)? {
                Frame::Whole(length) => found = Next::Whole(place, length),
                Frame::TooLong => is_unclear = true,
                Frame::None => {}
            }
            Ok(matches!(found, Next::Whole(..)))
        })?;
        Ok(if is_unclear && matches!(found, Next::Nothing) { Next::Unclear } else { found })
    }

    /// Calls `is_it` with each place from one on and the bytes there, until it is.
    fn search(
        &mut self,
        mut from: u64,
        mut is_it: impl FnMut(&mut Self, u64, &[u8]) -> Result<bool, Error>,
    ) -> Result<(), Error> {
        let (mut window, mut size) = (vec![0; WINDOW], 1 << 10);
        while from + FRAME_OVERHEAD <= self.length {
            let count = size.min((self.length - from) as usize);
            size = WINDOW.min(2 * size);
            read_at(self.reader.get_ref(), &mut window[..count], from).map_err(|error| self.failed(error))?;
            let is_last = from + count as u64 == self.length;
            // The last bytes of a window may be the beginning of a mark, or of a head.
            let passed = if is_last { count - 7 } else { count - (MARK - 1) };
            for at in 0..passed {
                self.credit = (self.credit + CREDIT.1).min(MAX_RECORD);
                if is_it(self, from + at as u64, &window[at..count])? {
                    return Ok(());
                }
            }
            if is_last {
                break;
            }
            from += passed as u64;
        }
        Ok(())
    }

    /// What is at a place with these bytes, if it was written at this distance.
    fn whole_at(&mut self, place: u64, bytes: &[u8], shift: i64) -> Result<Frame, Error> {
        let (left, written) = (self.length - place, place.wrapping_add_signed(shift));
        let head = *bytes.first_chunk().expect("eight bytes are left");
        let Some(length) = length_of(head, written).filter(|length| length + FRAME_OVERHEAD <= left) else {
            return Ok(Frame::None);
        };
        if length > self.credit {
            return Ok(Frame::TooLong);
        }
        if self.is_whole_at(place, length, written).map_err(|error| self.failed(error))? {
            return Ok(Frame::Whole(length));
        }
        self.credit -= length;
        Ok(Frame::None)
    }

    /// Whether the call that was begun just before, and ends at a place, was interrupted: no mark follows, there or later.
    ///
    /// # Errors
    /// The file cannot be read; or the call was complete, and bytes of it were lost.
    fn is_open(&mut self, end: u64) -> Result<bool, Error> {
        let mark = match end.checked_add_signed(-self.shift) {
            Some(end) => self.whole_frame(end, 1).map_err(|error| self.failed(error))?,
            None => None,
        };
        if mark.is_some_and(|(record, _)| record == [SYNCED]) || self.at <= self.mark {
            return Ok(false);
        }
        // Of all calls without their mark, one search finds the next.
        self.mark = match self.next_mark(self.at)? {
            Next::Whole(at, _) => at,
            Next::Unclear => u64::MAX,
            Next::Nothing if self.salvages => match self.next_moved(self.at, self.at)? {
                None => return Ok(true),
                Some(_) => u64::MAX,
            },
            Next::Nothing => match self.moved_after(self.at)? {
                None => return Ok(true),
                Some((place, moved)) => return Err(self.moved_at(place, moved)),
            },
        };
        Ok(false)
    }

    /// The next frame from a place on that marks that everything before it was on the disk.
    fn next_mark(&mut self, mut from: u64) -> Result<Next, Error> {
        loop {
            let next = self.find_whole(from)?;
            let Next::Whole(at, length) = next else { return Ok(next) };
            let mut kind = [0];
            read_at(self.reader.get_ref(), &mut kind, at + 8).map_err(|error| self.failed(error))?;
            if length == 1 && kind == [SYNCED] {
                return Ok(next);
            }
            from = at + FRAME_OVERHEAD + length;
        }
    }

    /// Whether the error at a place is an interrupted write: no later frame marks that everything before it was on the
    /// disk. If no frame in the file is such a mark, no whole frame may follow at all.
    ///
    /// # Errors
    /// The file cannot be read; or such a mark follows, and is not where it was written.
    fn is_torn(&mut self, place: u64, has_marks: bool) -> Result<bool, Error> {
        if self.length - place > TORN {
            return Ok(false);
        }
        let next = if has_marks { self.next_mark(place + 1)? } else { self.find_whole(place + 1)? };
        if !matches!(next, Next::Nothing) {
            return Ok(false);
        }
        match self.moved_after(place)? {
            Some((place, moved)) => Err(self.moved_at(place, moved)),
            None => Ok(true),
        }
    }

    /// The place where the frame at another one was written.
    fn written(&self, place: u64) -> u64 {
        place.wrapping_add_signed(self.shift)
    }

    /// The first place from one on where no whole frame is, and the next mark after it that moved.
    ///
    /// A process that is killed leaves whole frames, and then the beginning of one. In this one, no mark is searched: a document could
    /// contain what looks like one. After a power failure, such a document makes it damage, which is not cut off.
    fn moved_after(&self, mut place: u64) -> Result<Option<(u64, Moved)>, Error> {
        let failed = |error| self.failed(error);
        while place + FRAME_OVERHEAD <= self.length {
            let mut head = [0; 8];
            read_at(self.file(), &mut head, place).map_err(failed)?;
            if let Some(length) = length_of(head, self.written(place)) {
                let end = place + FRAME_OVERHEAD + length;
                if end > self.length {
                    break;
                }
                if self.is_whole(place, length).map_err(failed)? {
                    place = end;
                    continue;
                }
            }
            return Ok(self.next_moved(place, place)?.map(|moved| (place, moved)));
        }
        Ok(None)
    }

    /// The next mark from a place on that moved, and was written after what is at another one.
    fn next_moved(&self, from: u64, after: u64) -> Result<Option<Moved>, Error> {
        let is_moved = |found: Moved| found.shift() != self.shift && found.written >= self.written(after);
        next_moved_mark(self.file(), from, self.length, is_moved).map_err(|error| self.failed(error))
    }

    /// The mark at the very end, if it moved, and was written after what is at a place. A run that ended normally leaves one there.
    fn moved_end(&self, after: u64) -> Result<Option<Moved>, Error> {
        match self.length.checked_sub(MARK as u64) {
            Some(at) if at >= after => self.next_moved(at, after),
            _ => Ok(None),
        }
    }

    /// The next whole frame from a place on where none is at the distance of what precedes, and its distance. What is before a mark
    /// moved as far as the mark.
    fn next_whole(&mut self, from: u64) -> Result<Option<(u64, i64)>, Error> {
        self.shifts.misses(from);
        let known: Vec<i64> = self.shifts.known().collect();
        let (mut found, mut mark) = (None, None);
        self.search(from, |stored, place, bytes| {
            for &shift in &known {
                if let Frame::Whole(_) = stored.whole_at(place, bytes, shift)? {
                    found = Some((place, shift));
                    return Ok(true);
                }
            }
            mark = bytes.first_chunk().and_then(written_at).map(|written| Moved { at: place, written });
            Ok(mark.is_some())
        })?;
        let Some(moved) = mark else { return Ok(found) };
        let shift = moved.shift();
        self.shifts.learn(shift);
        // At the latest, the mark itself.
        let start = self.shifts.start(from, moved.at);
        self.search(start, |stored, place, bytes| {
            let is_whole = matches!(stored.whole_at(place, bytes, shift)?, Frame::Whole(_));
            found = Some((place, shift));
            Ok(is_whole || place >= moved.at)
        })?;
        Ok(found)
    }

    fn moved_at(&self, place: u64, moved: Moved) -> Error {
        let Moved { at, written } = moved;
        let what = if written > at { "lost" } else { "inserted" };
        let bytes = counted(written.abs_diff(at), "byte");
        let what =
            format!("no valid record is there, and what follows at byte {at} has moved, because {bytes} were {what}");
        self.damaged_at(place, &what)
    }
}

/// The maximum length of a write.
const TORN: u64 = 1 << 28;
