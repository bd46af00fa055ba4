//! Rows of words that are sorted, in memory or in a temporary file.

use crate::error::Error;
use crate::postings::{Buffer, Spilled};
use rayon::prelude::*;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// The least memory for rows: a smaller one would make so many portions that merging them takes as much. Tests use less, so that a few
/// rows are many portions.
const LEAST_BYTES: u64 = if cfg!(test) { 1 << 10 } else { 8 << 20 };

/// The words of a portion that are read at once: all portions together take little memory.
const BUFFERED: Range<u64> = 1 << 9..1 << 14;

/// Rows of `N` words, which are added in any order.
pub(super) struct Sorter<const N: usize> {
    /// What they are, in errors.
    what: &'static str,
    rows: Vec<[u64; N]>,
    /// The maximum number in memory.
    most: usize,
    file: Option<Spilled>,
    /// The bytes of each sorted portion in the file.
    portions: Vec<Range<u64>>,
    folder: Option<PathBuf>,
}

impl<const N: usize> Sorter<N> {
    /// None yet. Whenever they take `most_bytes`, they go to a file in `folder`, or in the system's folder.
    pub fn new(what: &'static str, most_bytes: u64, folder: Option<&Path>) -> Self {
        let most = (most_bytes.max(LEAST_BYTES) / (8 * N) as u64) as usize;
        let folder = folder.map(Path::to_path_buf);
        Sorter { what, rows: Vec::new(), most, file: None, portions: Vec::new(), folder }
    }

    /// Their number.
    pub fn len(&self) -> u64 {
        self.bytes_spilled() / (8 * N) as u64 + self.rows.len() as u64
    }

    /// The bytes in a file.
    pub fn bytes_spilled(&self) -> u64 {
        self.file.as_ref().map_or(0, Spilled::bytes)
    }

    /// Adds a row.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn push(&mut self, row: [u64; N]) -> Result<(), Error> {
        if self.rows.len() == self.most {
            self.rows.par_sort_unstable();
            let file = match &mut self.file {
                Some(file) => file,
                None => self.file.insert(Spilled::new(self.what, self.folder.as_deref())?),
            };
            let start = file.append(self.rows.as_flattened())?;
            self.portions.push(start..file.bytes());
            self.rows.clear();
        }
        self.rows.push(row);
        Ok(())
    }

    /// Calls `each` with the rows so far, in any order.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn for_each_unsorted(&self, mut each: impl FnMut(&[u64; N])) -> Result<(), Error> {
        let mut buffer = Buffer::default();
        for portion in &self.portions {
            let mut reader = Reader { file: self.file.as_ref(), left: portion.clone(), words: BUFFERED.end };
            while let Some(rows) = reader.next::<N>(&mut buffer)? {
                rows.iter().for_each(&mut each);
            }
        }
        self.rows.iter().for_each(each);
        Ok(())
    }

    /// Calls `each` with all rows in ascending order.
    ///
    /// # Errors
    /// Those of `each`, or the file cannot be read.
    ///
    /// # Cost
    /// Sorting; and a merge of the portions that are in the file, with at most 128 KiB of memory for each.
    pub fn for_each(mut self, mut each: impl FnMut(&[u64; N]) -> Result<(), Error>) -> Result<(), Error> {
        self.rows.par_sort_unstable();
        if self.portions.is_empty() {
            return self.rows.iter().try_for_each(each);
        }
        let words = ((self.most * N) as u64 / self.portions.len() as u64).clamp(BUFFERED.start, BUFFERED.end);
        let file = self.file.as_ref();
        let mut merged: Vec<Portion<'_, N>> = self
            .portions
            .iter()
            .map(|left| Portion { reader: Some(Reader { file, left: left.clone(), words }), rows: Vec::new(), at: 0 })
            .collect();
        merged.push(Portion { reader: None, rows: std::mem::take(&mut self.rows), at: 0 });
        let mut buffer = Buffer::default();
        let mut heap = BinaryHeap::new();
        for (number, portion) in merged.iter_mut().enumerate() {
            heap.extend(portion.next(&mut buffer)?.map(|row| Reverse((row, number))));
        }
        while let Some(mut least) = heap.peek_mut() {
            let Reverse((row, number)) = *least;
            match merged[number].next(&mut buffer)? {
                Some(next) => *least = Reverse((next, number)),
                None => {
                    std::collections::binary_heap::PeekMut::pop(least);
                }
            }
            each(&row)?;
        }
        Ok(())
    }
}

/// Reads a portion of a file.
struct Reader<'a> {
    file: Option<&'a Spilled>,
    /// The bytes that are left.
    left: Range<u64>,
    /// The number of words that are read at once.
    words: u64,
}

impl Reader<'_> {
    fn next<'b, const N: usize>(&mut self, buffer: &'b mut Buffer) -> Result<Option<&'b [[u64; N]]>, Error> {
        let Some(file) = self.file.filter(|_| !self.left.is_empty()) else { return Ok(None) };
        let words = (self.left.end - self.left.start) / 8;
        let words = words.min(self.words / N as u64 * N as u64);
        let start = self.left.start;
        self.left.start += 8 * words;
        Ok(Some(file.read(start, words as usize, buffer)?.as_chunks().0))
    }
}

/// A sorted portion that is merged.
struct Portion<'a, const N: usize> {
    /// `None` if all its rows are in memory.
    reader: Option<Reader<'a>>,
    rows: Vec<[u64; N]>,
    at: usize,
}

impl<const N: usize> Portion<'_, N> {
    fn next(&mut self, buffer: &mut Buffer) -> Result<Option<[u64; N]>, Error> {
        if self.at == self.rows.len()
            && let Some(reader) = &mut self.reader
        {
            (self.at, self.rows) = (0, std::mem::take(&mut self.rows));
            self.rows.clear();
            self.rows.extend_from_slice(reader.next(buffer)?.unwrap_or_default());
        }
        let row = self.rows.get(self.at).copied();
        self.at += usize::from(row.is_some());
        Ok(row)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::mix;

    #[test]
    fn in_memory_or_in_portions() {
        for (count, most_bytes, spills) in [(0, 0, false), (10, 0, false), (3000, 0, true), (3000, 1 << 20, false)] {
            let rows: Vec<[u64; 3]> = (0..count).map(|n| [mix(n) % 97, n % 5, n]).collect();
            let mut sorter = Sorter::new("rows", most_bytes, None);
            rows.iter().for_each(|&row| sorter.push(row).unwrap());
            assert_eq!((sorter.len(), sorter.bytes_spilled() > 0), (count, spills));
            let (mut unsorted, mut sorted, mut expected) = (Vec::new(), Vec::new(), rows);
            sorter.for_each_unsorted(|&row| unsorted.push(row)).unwrap();
            sorter
                .for_each(|&row| {
                    sorted.push(row);
                    Ok(())
                })
                .unwrap();
            unsorted.sort_unstable();
            expected.sort_unstable();
            assert_eq!((&unsorted, &sorted), (&expected, &expected));
        }
    }
}
