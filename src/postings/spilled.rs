//! Words that go to a temporary file because they do not fit in memory.

use super::read_at;
use crate::error::Error;
use crate::kernel::bytes;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// Words in an unnamed file, which is removed when the process ends, even after a crash. The first of them may stay in memory.
pub(crate) struct Spilled {
    /// What the words are, in errors.
    what: &'static str,
    file: File,
    folder: PathBuf,
    /// All bytes, those in memory included.
    bytes: u64,
    /// The words in memory, in parts of [`AT_ONCE`], and how many there may be.
    held: Vec<Vec<u64>>,
    most_held: usize,
}

/// The memory for reading back.
#[derive(Default)]
pub(crate) struct Buffer {
    words: Vec<u64>,
}

/// A smaller file is not [read ahead](Spilled::read_ahead), in bytes; in tests, where no file is large, less.
const LEAST_READ_AHEAD: u64 = if cfg!(test) { 1 << 10 } else { 1 << 30 };

/// The bytes that are read ahead at once.
const READ_AHEAD_CHUNK: usize = 1 << 20;

/// The number of words that are written at once, so that many of them do not take their memory twice where they are copied; and in each part
/// of those in memory, so that these do not move. Tests use fewer, so that some of few words stay in memory.
const AT_ONCE: usize = if cfg!(test) { 1 << 6 } else { 1 << 16 };

impl Spilled {
    /// An empty file in `folder`, or in the system's.
    ///
    /// # Errors
    /// The file cannot be made.
    pub fn new(what: &'static str, folder: Option<&Path>) -> Result<Self, Error> {
        let folder = folder.map_or_else(std::env::temp_dir, Path::to_path_buf);
        match tempfile::tempfile_in(&folder) {
            Ok(file) => Ok(Spilled { what, file, folder, bytes: 0, held: Vec::new(), most_held: 0 }),
            Err(error) => Err(cannot_write(what, &folder, error)),
        }
    }

    /// The same, with the first words in memory, up to this size in bytes: reading them back is a copy.
    pub fn holding(self, bytes: u64) -> Self {
        debug_assert!(self.bytes == 0, "nothing is written yet");
        let parts = usize::try_from(bytes / (8 * AT_ONCE) as u64).unwrap_or(usize::MAX / AT_ONCE);
        Spilled { most_held: parts * AT_ONCE, ..self }
    }

    /// Its size, with what is in memory: where the next words start.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The bytes in memory.
    pub fn bytes_held(&self) -> u64 {
        (8 * AT_ONCE * self.held.len()) as u64
    }

    /// The bytes on the disk.
    pub fn bytes_in_file(&self) -> u64 {
        self.bytes - self.bytes.min(8 * self.most_held as u64)
    }

    /// Adds words at the end. Returns the byte where they start.
    ///
    /// # Errors
    /// The disk is full.
    pub fn append(&mut self, words: &[u64]) -> Result<u64, Error> {
        let start = self.bytes;
        let room = self.most_held - self.most_held.min((start / 8) as usize);
        let (to_hold, to_write) = words.split_at(room.min(words.len()));
        self.hold(to_hold);
        for words in to_write.chunks(AT_ONCE) {
            let bytes = bytes::of_words(words);
            self.file.write_all(&bytes).map_err(|error| cannot_write(self.what, &self.folder, error))?;
            self.bytes += bytes.len() as u64;
        }
        Ok(start)
    }

    fn hold(&mut self, mut words: &[u64]) {
        self.bytes += size_of_val(words) as u64;
        while !words.is_empty() {
            if self.held.last().is_none_or(|part| part.len() == AT_ONCE) {
                self.held.push(Vec::with_capacity(AT_ONCE));
            }
            let part = self.held.last_mut().expect("there is one");
            let (first, rest) = words.split_at((AT_ONCE - part.len()).min(words.len()));
            part.extend_from_slice(first);
            words = rest;
        }
    }

    /// The words from a byte on. Threads that read do not wait for each other.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn read<'b>(&self, start: u64, count: usize, buffer: &'b mut Buffer) -> Result<&'b [u64], Error> {
        self.fill(start, count, buffer).map_err(|error| {
            let (what, folder) = (self.what, self.folder.display());
            Error::io(format!("cannot read {what} back from a temporary file in {folder}"), error)
        })?;
        Ok(&buffer.words)
    }

    /// Whether the file is so large that the system may have evicted parts of it from its cache, so that
    /// [reading it ahead](Self::read_ahead) helps. Where threads that read wait for each other, it does not.
    pub fn is_large(&self) -> bool {
        cfg!(unix) && self.bytes_in_file() >= LEAST_READ_AHEAD
    }

    /// Reads the file from the start to the end, until `stops`, so that the system has it in its cache. Random reads would otherwise wait
    /// for the disk one after the other. No result depends on it. Returns the number of bytes that were read.
    pub fn read_ahead(&self, stops: &AtomicBool) -> u64 {
        let (mut start, mut buffer) = (0, vec![0; READ_AHEAD_CHUNK]);
        let end = self.bytes_in_file();
        while start < end && !stops.load(Ordering::Relaxed) {
            let count = READ_AHEAD_CHUNK.min((end - start) as usize);
            if read_at(&self.file, &mut buffer[..count], start).is_err() {
                // The read that needs these words reports the error.
                break;
            }
            start += count as u64;
        }
        start
    }

    /// Loses what was written.
    #[cfg(test)]
    pub fn damage(&self) {
        self.file.set_len(0).expect("it can be cut");
    }

    fn fill(&self, start: u64, count: usize, buffer: &mut Buffer) -> io::Result<()> {
        let words = &mut buffer.words;
        words.clear();
        words.reserve_exact(count);
        let mut at = (start / 8) as usize;
        while words.len() < count
            && let Some(part) = self.held.get(at / AT_ONCE)
            && let Some(part) = part.get(at % AT_ONCE..).filter(|part| !part.is_empty())
        {
            let part = &part[..part.len().min(count - words.len())];
            words.extend_from_slice(part);
            at += part.len();
        }
        let held = words.len();
        if held == count {
            return Ok(());
        }
        words.resize(count, 0);
        let in_file = 8 * (at - self.most_held.min(at)) as u64;
        bytes::fill_words(&mut words[held..], |bytes| read_at(&self.file, bytes, in_file))
    }
}

impl Buffer {
    /// The words that were read last.
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// How many words there is room for.
    pub fn capacity(&self) -> usize {
        self.words.capacity()
    }

    /// The words that were read last.
    pub fn into_words(self) -> Vec<u64> {
        self.words
    }
}

/// The error that words cannot be written.
pub(super) fn cannot_write(what: &str, folder: &Path, error: io::Error) -> Error {
    let folder = folder.display();
    Error::io(format!("cannot write {what} to a temporary file in {folder} (choose another with `temp-dir`)"), error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_words_stay_in_memory() {
        let words: Vec<u64> = (0..5 * AT_ONCE as u64 / 2).map(|n| n * n).collect();
        // None, one part, two, and more than there are words.
        for parts in [0, 1, 2, 4] {
            let mut file = Spilled::new("words", None).unwrap().holding((8 * AT_ONCE * parts + 7) as u64);
            for some in words.chunks(AT_ONCE / 3) {
                let (at, start) = (file.bytes(), file.append(some).unwrap());
                assert_eq!(at, start);
            }
            let held = (parts * AT_ONCE).min(words.len());
            assert_eq!(file.bytes(), 8 * words.len() as u64);
            assert_eq!(file.bytes_in_file(), 8 * (words.len() - held) as u64);
            assert_eq!(file.bytes_held(), (8 * AT_ONCE * held.div_ceil(AT_ONCE)) as u64);
            let mut buffer = Buffer::default();
            for (from, count) in
                [(0, 1), (7, 0), (AT_ONCE - 1, 1), (AT_ONCE - 1, 2), (0, words.len()), (2 * AT_ONCE, 9)]
            {
                assert_eq!(file.read(8 * from as u64, count, &mut buffer).unwrap(), &words[from..][..count]);
            }
            // What is not there is an error, and what is in the file is not in memory.
            assert!(file.read(8 * words.len() as u64, 1, &mut buffer).is_err());
            file.damage();
            assert_eq!(file.read(0, held, &mut buffer).unwrap(), &words[..held]);
            assert_eq!(file.read(0, words.len(), &mut buffer).is_err(), held < words.len());
        }
    }

    #[test]
    fn all_of_a_file_is_read_ahead_until_it_stops() {
        let words: Vec<u64> = (0..300_000).collect();
        let mut file = Spilled::new("words", None).unwrap();
        let ahead = |file: &Spilled, stops| file.read_ahead(&AtomicBool::new(stops));
        assert_eq!((file.is_large(), ahead(&file, false)), (false, 0));
        let start = file.append(&words).unwrap();
        assert_eq!((file.is_large(), ahead(&file, false), ahead(&file, true)), (cfg!(unix), 2_400_000, 0));
        // It moves nothing that is written or read.
        file.append(&[7]).unwrap();
        let mut buffer = Buffer::default();
        assert_eq!(file.read(start, words.len(), &mut buffer).unwrap(), words);
        assert_eq!(file.read(2_400_000, 1, &mut buffer).unwrap(), [7]);
        file.damage();
        assert_eq!(ahead(&file, false), 0);
    }
}
