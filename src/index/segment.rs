//! Segments: what the tables of an index hold of consecutive documents, in one file.
//!
//! ```text
//! postings of keys, of ids, of the third table; outlines; places, times, lengths and words of fingerprints; state;
//! footer: what is kept of them in memory; its place, its checksum, a mark
//! ```
//!
//! Numbers are little-endian. Each page of postings and of outlines has a checksum in the footer, and so has each other part.

use super::checkpoint::open_table;
use super::outlines::{Outline, OutlineRun};
use super::retired::hold;
use crate::postings::{Posting, Run, Words, Writer, damaged, put, read_at, sorted};
use std::fs::File;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

/// The number of tables.
pub(super) const TABLES: usize = 3;

/// What tables hold of documents that are in no segment yet.
#[derive(Default)]
pub(super) struct Fresh {
    pub documents: Range<u32>,
    /// The postings of each table, in any order.
    pub postings: [Vec<Posting>; TABLES],
    /// One for each document, if sets are compared.
    pub outlines: Vec<Outline>,
    /// The place of each document's record in the log, and its time in seconds.
    pub places: Vec<u64>,
    pub times: Vec<u32>,
    /// The number of words of each fingerprint, and all words, if fingerprints are compared.
    pub lengths: Vec<u32>,
    pub words: Vec<u64>,
    /// What else is known of all documents up to these.
    pub state: Vec<u8>,
}

impl Fresh {
    /// Bytes of memory, with those for sorting.
    pub fn bytes_held(&self) -> u64 {
        let postings = self.postings.iter().map(Vec::capacity);
        let sizes = Sizes {
            documents: self.places.len(),
            has_outlines: !self.outlines.is_empty(),
            words: self.words.len(),
            sorted: postings.clone().max().unwrap_or(0),
        };
        8 * postings.sum::<usize>() as u64 + sizes.bytes() + self.state.len() as u64
    }
}

/// What a flush copies and sorts, beside the postings themselves.
pub(super) struct Sizes {
    pub documents: usize,
    /// Whether sets are compared. Otherwise fingerprints are, of so many words in all.
    pub has_outlines: bool,
    pub words: usize,
    /// The postings of the largest table.
    pub sorted: usize,
}

impl Sizes {
    /// Bytes of memory.
    pub fn bytes(&self) -> u64 {
        let compared = if self.has_outlines { size_of::<Outline>() } else { size_of::<u32>() };
        let a_document = size_of::<u64>() + size_of::<u32>() + compared;
        (self.documents * a_document + 8 * (self.words + self.sorted)) as u64
    }
}

/// A segment.
pub(super) struct Segment {
    /// The path, if it has one.
    pub path: Option<PathBuf>,
    pub documents: Range<u32>,
    pub runs: [Arc<Run>; TABLES],
    pub outlines: Arc<OutlineRun>,
    pub places: Part,
    pub times: Part,
    pub lengths: Part,
    pub words: Part,
    pub state: Part,
    /// The checksum of its footer, by which a checkpoint recognises it.
    pub check: u64,
}

/// A part of a segment that is read as a whole.
pub(super) struct Part {
    file: Arc<File>,
    at: u64,
    bytes: u64,
    check: u64,
}

impl Part {
    /// Writes pieces one after the other.
    fn write<B: AsRef<[u8]>>(out: &mut Writer, pieces: impl Iterator<Item = io::Result<B>>) -> io::Result<Self> {
        let (at, mut hash) = (out.at(), Xxh3::new());
        for piece in pieces {
            let piece = piece?;
            hash.update(piece.as_ref());
            out.write(piece.as_ref())?;
        }
        Ok(Part { file: out.file(), at, bytes: out.at() - at, check: hash.digest() })
    }

    fn of_words(out: &mut Writer, words: &[u64]) -> io::Result<Self> {
        Part::write(out, words.iter().map(|word| Ok(word.to_le_bytes())))
    }

    fn of_numbers(out: &mut Writer, numbers: &[u32]) -> io::Result<Self> {
        Part::write(out, numbers.iter().map(|number| Ok(number.to_le_bytes())))
    }

    /// Parts one after the other.
    fn merge(out: &mut Writer, parts: &[&Part]) -> io::Result<Self> {
        Part::write(out, parts.iter().flat_map(|part| part.pieces()))
    }

    /// The content, in pieces; at the end an error if it has changed.
    fn pieces(&self) -> impl Iterator<Item = io::Result<Vec<u8>>> {
        let (mut at, mut hash, mut has_ended) = (0, Xxh3::new(), false);
        std::iter::from_fn(move || {
            if at >= self.bytes {
                let is_whole = std::mem::replace(&mut has_ended, true) || hash.digest() == self.check;
                return (!is_whole).then(|| Err(damaged()));
            }
            let mut piece = vec![0; (self.bytes - at).min(PIECE) as usize];
            let read = read_at(&self.file, &mut piece, self.at + at);
            at += piece.len() as u64;
            if read.is_err() {
                (at, has_ended) = (self.bytes, true);
            }
            hash.update(&piece);
            Some(read.map(|()| piece))
        })
    }

    /// The content.
    ///
    /// # Errors
    /// The file cannot be read, or is damaged.
    pub fn read(&self) -> io::Result<Vec<u8>> {
        let mut all = Vec::with_capacity(self.bytes as usize);
        self.pieces().try_for_each(|piece| piece.map(|piece| all.extend_from_slice(&piece)))?;
        Ok(all)
    }

    fn put(&self, out: &mut Vec<u8>) {
        [self.at, self.bytes, self.check].into_iter().for_each(|word| put(out, word));
    }

    fn open(file: &Arc<File>, end: u64, words: &mut Words) -> Option<Self> {
        let (at, bytes, check) = (words.next()?, words.next()?, words.next()?);
        let is_there = at.checked_add(bytes).is_some_and(|last| last <= end);
        is_there.then(|| Part { file: Arc::clone(file), at, bytes, check })
    }
}

/// The number of bytes of a part that are read at once.
const PIECE: u64 = 1 << 17;

/// The last word of a segment.
const MARK: u64 = u64::from_le_bytes(*b"segment1");

impl Segment {
    /// Writes what is fresh.
    ///
    /// # Errors
    /// The file cannot be written, or writing was stopped.
    pub fn write(mut out: Writer, path: Option<PathBuf>, fresh: Fresh) -> io::Result<Self> {
        let Fresh { documents, postings, outlines, places, times, lengths, words, state } = fresh;
        let mut write_run = |postings: Vec<Posting>| {
            let postings = sorted(postings);
            Run::write(&mut out, postings.len(), postings.into_iter().map(Ok)).map(Arc::new)
        };
        let [keys, ids, third] = postings;
        let runs = [write_run(keys)?, write_run(ids)?, write_run(third)?];
        let outlines = OutlineRun::write(&mut out, documents.start, outlines.into_iter().map(Ok))?;
        let segment = Segment {
            path,
            documents,
            runs,
            outlines: Arc::new(outlines),
            places: Part::of_words(&mut out, &places)?,
            times: Part::of_numbers(&mut out, &times)?,
            lengths: Part::of_numbers(&mut out, &lengths)?,
            words: Part::of_words(&mut out, &words)?,
            state: Part::write(&mut out, std::iter::once(Ok(state)))?,
            check: 0,
        };
        segment.end(out)
    }

    /// Merges segments of consecutive documents. Postings of documents below `gone` are left out.
    ///
    /// # Errors
    /// A segment cannot be read or is damaged, the file cannot be written, or writing was stopped.
    pub fn merge(mut out: Writer, path: Option<PathBuf>, segments: &[Arc<Segment>], gone: u32) -> io::Result<Self> {
        let [first, .., last] = segments else { return Err(io::Error::other("there is nothing to merge")) };
        let mut merge_runs = |table: usize| {
            let runs: Vec<_> = segments.iter().map(|segment| Arc::clone(&segment.runs[table])).collect();
            Run::merge(&mut out, &runs, gone).map(Arc::new)
        };
        let runs = [merge_runs(0)?, merge_runs(1)?, merge_runs(2)?];
        let outlines: Vec<_> = segments.iter().map(|segment| Arc::clone(&segment.outlines)).collect();
        let outlines = Arc::new(OutlineRun::merge(&mut out, &outlines)?);
        let mut merge = |part: fn(&Segment) -> &Part| {
            let parts: Vec<&Part> = segments.iter().map(|segment| part(segment)).collect();
            Part::merge(&mut out, &parts)
        };
        let segment = Segment {
            path,
            documents: first.documents.start..last.documents.end,
            runs,
            outlines,
            places: merge(|segment| &segment.places)?,
            times: merge(|segment| &segment.times)?,
            lengths: merge(|segment| &segment.lengths)?,
            words: merge(|segment| &segment.words)?,
            state: Part::merge(&mut out, &[&last.state])?,
            check: 0,
        };
        segment.end(out)
    }

    /// Writes the footer.
    fn end(self, mut out: Writer) -> io::Result<Self> {
        let mut footer = Vec::new();
        put(&mut footer, self.documents.start.into());
        put(&mut footer, self.documents.end.into());
        self.runs.iter().for_each(|run| run.put(&mut footer));
        self.outlines.put(&mut footer);
        self.parts().iter().for_each(|part| part.put(&mut footer));
        let (at, check) = (out.at(), xxh3_64(&footer));
        let segment = Segment { check, ..self };
        [at, check, MARK].into_iter().for_each(|word| put(&mut footer, word));
        out.write(&footer)?;
        out.finish()?;
        Ok(segment)
    }

    /// Opens a segment, of which each part may have at most this many bytes.
    ///
    /// # Errors
    /// The file cannot be read, or is damaged.
    pub fn open(path: &Path, most: u64) -> io::Result<Self> {
        let file = Arc::new(open_table(path)?);
        hold(&file)?;
        let length = file.metadata()?.len();
        let mut tail = [0; 24];
        let before = length.checked_sub(24).ok_or_else(damaged)?;
        read_at(&file, &mut tail, before)?;
        let mut words = Words::new(&tail);
        let [Some(at), Some(check), Some(MARK)] = [words.next(), words.next(), words.next()] else {
            return Err(damaged());
        };
        let bytes = before.checked_sub(at).filter(|&bytes| bytes <= most).ok_or_else(damaged)?;
        let mut footer = vec![0; bytes as usize];
        read_at(&file, &mut footer, at)?;
        if xxh3_64(&footer) != check {
            return Err(damaged());
        }
        let mut words = Words::new(&footer);
        let segment = Self::parse(path, &file, at, (check, &mut words)).filter(|_| words.is_empty());
        let segment = segment.filter(|segment| segment.parts().iter().all(|part| part.bytes <= most));
        segment.ok_or_else(damaged)
    }

    fn parse(path: &Path, file: &Arc<File>, end: u64, (check, words): (u64, &mut Words)) -> Option<Self> {
        let documents = words.next_u32()?..words.next_u32()?;
        let mut run = || Run::read(file, end, words).map(Arc::new);
        let runs = [run()?, run()?, run()?];
        let outlines = Arc::new(OutlineRun::open(file, end, documents.start, words)?);
        let mut part = || Part::open(file, end, words);
        let (places, times, lengths, fingerprints, state) = (part()?, part()?, part()?, part()?, part()?);
        let count = documents.len() as u64;
        let are_all = (places.bytes, times.bytes) == (8 * count, 4 * count) && fingerprints.bytes % 8 == 0;
        let with_lengths = if lengths.bytes == 0 { outlines.len() as u64 == count } else { outlines.len() == 0 };
        let has_one_kind = with_lengths && [0, 4 * count].contains(&lengths.bytes);
        (are_all && has_one_kind).then_some(())?;
        let path = Some(path.to_path_buf());
        Some(Segment { path, documents, runs, outlines, places, times, lengths, words: fingerprints, state, check })
    }

    fn parts(&self) -> [&Part; 5] {
        [&self.places, &self.times, &self.lengths, &self.words, &self.state]
    }

    /// The name of its file.
    pub fn file_name(&self) -> Option<&str> {
        self.path.as_ref()?.file_name()?.to_str()
    }
}
