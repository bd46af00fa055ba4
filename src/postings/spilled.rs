//! Words that go to a temporary file because they do not fit in memory.

use super::read_at;
use crate::error::Error;
use crate::kernel::bytes;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// An unnamed file: it is removed when the process ends, even after a crash.
pub(crate) struct Spilled {
    /// What the words are, in errors.
    what: &'static str,
    file: File,
    folder: PathBuf,
    bytes: u64,
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

/// The number of words that are written at once, so that many of them do not take their memory twice where they are copied.
const AT_ONCE: usize = 1 << 16;

impl Spilled {
    /// An empty file in `folder`, or in the system's.
    ///
    /// # Errors
    /// The file cannot be made.
    pub fn new(what: &'static str, folder: Option<&Path>) -> Result<Self, Error> {
        let folder = folder.map_or_else(std::env::temp_dir, Path::to_path_buf);
        match tempfile::tempfile_in(&folder) {
            Ok(file) => Ok(Spilled { what, file, folder, bytes: 0 }),
            Err(error) => Err(cannot_write(what, &folder, error)),
        }
    }

    /// Its size.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Adds words at the end. Returns the byte where they start.
    ///
    /// # Errors
    /// The disk is full.
    pub fn append(&mut self, words: &[u64]) -> Result<u64, Error> {
        let start = self.bytes;
        for words in words.chunks(AT_ONCE) {
            let bytes = bytes::of_words(words);
            self.file.write_all(&bytes).map_err(|error| cannot_write(self.what, &self.folder, error))?;
            self.bytes += bytes.len() as u64;
        }
        Ok(start)
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
        cfg!(unix) && self.bytes >= LEAST_READ_AHEAD
    }

    /// Reads the file from the start to the end, until `stops`, so that the system has it in its cache. Random reads would otherwise wait
    /// for the disk one after the other. No result depends on it. Returns the number of bytes that were read.
    pub fn read_ahead(&self, stops: &AtomicBool) -> u64 {
        let (mut start, mut buffer) = (0, vec![0; READ_AHEAD_CHUNK]);
        while start < self.bytes && !stops.load(Ordering::Relaxed) {
            let count = READ_AHEAD_CHUNK.min((self.bytes - start) as usize);
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
        buffer.words.clear();
        buffer.words.reserve_exact(count);
        buffer.words.resize(count, 0);
        bytes::fill_words(&mut buffer.words, |bytes| read_at(&self.file, bytes, start))
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
