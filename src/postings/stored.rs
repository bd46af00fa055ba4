//! Words in memory, or in a temporary file if they are too many.

use super::spilled::{Buffer, Spilled};
use crate::error::Error;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// The rows that are read at once.
const ROWS_AT_ONCE: u64 = 1 << 13;

/// Words that are appended, and then read.
pub(crate) struct Stored {
    /// What they are, in errors.
    what: &'static str,
    /// All of them, unless there is a file.
    words: Vec<u64>,
    /// The maximum number in memory.
    most: u64,
    file: Option<Spilled>,
    folder: Option<PathBuf>,
}

impl Stored {
    /// None yet. What is more than `most_bytes` goes to a file in `folder`, or in the system's folder.
    pub fn new(what: &'static str, most_bytes: u64, folder: Option<&Path>) -> Self {
        Stored { what, words: Vec::new(), most: most_bytes / 8, file: None, folder: folder.map(Path::to_path_buf) }
    }

    /// These words, in memory; also those that are appended.
    pub fn held(what: &'static str, words: Vec<u64>) -> Self {
        Stored { what, words, most: u64::MAX, file: None, folder: None }
    }

    /// The number of words.
    pub fn len(&self) -> u64 {
        self.file.as_ref().map_or(self.words.len() as u64, |file| file.bytes() / 8)
    }

    /// The bytes in a file.
    pub fn bytes_spilled(&self) -> u64 {
        self.file.as_ref().map_or(0, Spilled::bytes)
    }

    /// Adds words at the end.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn append(&mut self, words: &[u64]) -> Result<(), Error> {
        if self.len() + words.len() as u64 > self.most {
            self.spill()?;
        }
        match &mut self.file {
            Some(file) => file.append(words).map(drop),
            None => {
                self.words.extend_from_slice(words);
                Ok(())
            }
        }
    }

    /// Moves all words to a file, to which later ones are appended.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn spill(&mut self) -> Result<(), Error> {
        if self.file.is_none() {
            let mut file = Spilled::new(self.what, self.folder.as_deref())?;
            file.append(&std::mem::take(&mut self.words))?;
            self.file = Some(file);
        }
        Ok(())
    }

    /// Loses what is in the file.
    #[cfg(test)]
    pub fn damage(&self) {
        self.file.iter().for_each(Spilled::damage);
    }

    /// Some of them.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn read<'b>(&'b self, range: Range<u64>, buffer: &'b mut Buffer) -> Result<&'b [u64], Error> {
        match &self.file {
            Some(file) => file.read(8 * range.start, (range.end - range.start) as usize, buffer),
            None => Ok(&self.words[range.start as usize..range.end as usize]),
        }
    }

    /// All of them, if they are in memory.
    pub fn in_memory(&self) -> Option<&[u64]> {
        self.file.is_none().then_some(&self.words)
    }

    /// Some rows of `N` words, if it has rows of so many words.
    ///
    /// # Errors
    /// The file cannot be read.
    #[inline]
    pub fn rows<'b, const N: usize>(
        &'b self,
        range: Range<u64>,
        buffer: &'b mut Buffer,
    ) -> Result<&'b [[u64; N]], Error> {
        Ok(self.read(N as u64 * range.start..N as u64 * range.end, buffer)?.as_chunks().0)
    }

    /// Calls `each` with all rows of `N` words.
    ///
    /// # Errors
    /// Those of `each`, or the file cannot be read.
    pub fn for_each_row<const N: usize>(
        &self,
        mut each: impl FnMut(&[u64; N]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let (mut buffer, rows, mut start) = (Buffer::default(), self.len() / N as u64, 0);
        while start < rows {
            let end = rows.min(start + ROWS_AT_ONCE);
            self.rows(start..end, &mut buffer)?.iter().try_for_each(&mut each)?;
            start = end;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_memory_or_in_a_file() {
        for most in [0, 80, 1 << 20] {
            let mut stored = Stored::new("words", most, None);
            for start in (0..100).step_by(5) {
                stored.append(&(start..start + 5).collect::<Vec<_>>()).unwrap();
            }
            assert_eq!((stored.len(), stored.bytes_spilled() > 0), (100, most < 800));
            let mut buffer = Buffer::default();
            assert_eq!(stored.read(7..9, &mut buffer).unwrap(), [7, 8]);
            assert_eq!(stored.read(0..100, &mut buffer).unwrap(), (0..100).collect::<Vec<_>>());
        }
    }
}
