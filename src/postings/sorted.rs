//! Rows of words that are sorted, in memory or in a temporary file.
//!
//! ```text
//! Gathering   rows of several threads, each with a list of its own  ─┐ a list that is full becomes a sorted
//! Sorter      rows of one thread                                    ─┴ portion of the file
//! Sorted      all rows in order, once: a merge of the portions
//! Portions    sorted rows, of which some portions are merged
//! [`Stored`]  all rows in order, to be read often and anywhere
//! ```

use super::spilled::{Buffer, Spilled};
use super::stored::Stored;
use crate::error::Error;
use rayon::prelude::*;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The least memory for rows: a smaller one would make so many portions that merging them takes as much. Tests use less, so that a few
/// rows are many portions.
const LEAST_BYTES: u64 = if cfg!(test) { 1 << 10 } else { 4 << 20 };

/// The words of a portion that are read at once: all portions together take little memory.
const BUFFERED: Range<u64> = 1 << 9..1 << 14;

/// So many portions are merged at once, however little memory there is.
const LEAST_MERGED: usize = 4;

/// The words that are written at once, or read from one portion alone.
const AT_ONCE: usize = 1 << 14;

/// Sorts on the threads of the run, or on this one outside of its pool: the pool of the process would have a thread for each core.
pub(crate) fn sort<T: Ord + Send>(rows: &mut [T]) {
    if rayon::current_thread_index().is_some() { rows.par_sort_unstable() } else { rows.sort_unstable() }
}

/// The number of rows of `N` words that fit this memory.
fn rows_in<const N: usize>(bytes: u64) -> usize {
    (bytes.max(LEAST_BYTES) / (8 * N) as u64) as usize
}

/// The words of each of the merged portions that are read at once, if all of them together may take so many.
fn words_each(words: u64, portions: usize) -> u64 {
    (words / portions.max(1) as u64).clamp(BUFFERED.start, BUFFERED.end)
}

/// Sorted portions of rows in a temporary file, numbered as they were added.
pub(crate) struct Portions<const N: usize> {
    /// What the rows are, in errors.
    what: &'static str,
    folder: Option<PathBuf>,
    file: Option<Spilled>,
    /// The bytes of each.
    ranges: Vec<Range<u64>>,
}

impl<const N: usize> Portions<N> {
    /// None yet. They go to a file in `folder`, or in the system's folder.
    pub fn new(what: &'static str, folder: Option<&Path>) -> Self {
        Portions { what, folder: folder.map(Path::to_path_buf), file: None, ranges: Vec::new() }
    }

    fn file(&mut self) -> Result<&mut Spilled, Error> {
        if self.file.is_none() {
            self.file = Some(Spilled::new(self.what, self.folder.as_deref())?);
        }
        Ok(self.file.as_mut().expect("it was just made"))
    }

    /// Adds a portion of sorted rows, and returns its number.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn append(&mut self, sorted: &[[u64; N]]) -> Result<usize, Error> {
        let file = self.file()?;
        let start = file.append(sorted.as_flattened())?;
        let end = file.bytes();
        self.ranges.push(start..end);
        Ok(self.ranges.len() - 1)
    }

    /// The bytes in the file.
    pub fn bytes(&self) -> u64 {
        self.file.as_ref().map_or(0, Spilled::bytes)
    }

    /// Calls `each` with the rows of some portions, and with sorted rows in memory, in ascending order. The portions are read through
    /// buffers of at most `bytes` together, but of at least 4 KiB each.
    ///
    /// # Errors
    /// Those of `each`, or the file cannot be read.
    pub fn merge(
        &self,
        portions: &[usize],
        rows: Vec<[u64; N]>,
        bytes: u64,
        mut each: impl FnMut(&[u64; N]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let ranges: Vec<Range<u64>> = portions.iter().map(|&number| self.ranges[number].clone()).collect();
        let mut merge = Merge::new(self.file.as_ref(), &ranges, words_each(bytes / 8, ranges.len()), rows)?;
        while let Some(row) = merge.next(self.file.as_ref())? {
            each(&row)?;
        }
        Ok(())
    }

    fn for_each(&self, each: &mut impl FnMut(&[u64; N]) -> Result<(), Error>) -> Result<(), Error> {
        let mut buffer = Buffer::default();
        for left in &self.ranges {
            let mut reader = Reader { left: left.clone(), words: AT_ONCE as u64 };
            while let Some(rows) = reader.next::<N>(self.file.as_ref(), &mut buffer)? {
                rows.iter().try_for_each(&mut *each)?;
            }
        }
        Ok(())
    }

    /// The same rows in at most `most` portions.
    fn at_most(mut self, most: usize) -> Result<Self, Error> {
        while self.ranges.len() > most {
            let mut longer = Portions::new(self.what, self.folder.as_deref());
            for ranges in self.ranges.chunks(most) {
                let file = longer.file()?;
                let start = file.bytes();
                let mut merge = Merge::new(self.file.as_ref(), ranges, BUFFERED.start, Vec::new())?;
                let mut rows: Vec<[u64; N]> = Vec::with_capacity(AT_ONCE / N);
                while let Some(row) = merge.next(self.file.as_ref())? {
                    rows.push(row);
                    if rows.len() == AT_ONCE / N {
                        file.append(rows.as_flattened())?;
                        rows.clear();
                    }
                }
                file.append(rows.as_flattened())?;
                let end = file.bytes();
                longer.ranges.push(start..end);
            }
            self = longer;
        }
        Ok(self)
    }
}

/// Rows of `N` words, which are added in any order.
pub(crate) struct Sorter<const N: usize> {
    rows: Vec<[u64; N]>,
    /// The maximum number in memory.
    most: usize,
    portions: Portions<N>,
}

impl<const N: usize> Sorter<N> {
    /// None yet. Whenever they take `most_bytes`, they go to a file in `folder`, or in the system's folder.
    pub fn new(what: &'static str, most_bytes: u64, folder: Option<&Path>) -> Self {
        Sorter { rows: Vec::new(), most: rows_in::<N>(most_bytes), portions: Portions::new(what, folder) }
    }

    /// Their number.
    pub fn len(&self) -> u64 {
        self.bytes_spilled() / (8 * N) as u64 + self.rows.len() as u64
    }

    /// The bytes in a file.
    pub fn bytes_spilled(&self) -> u64 {
        self.portions.bytes()
    }

    /// Adds a row.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn push(&mut self, row: [u64; N]) -> Result<(), Error> {
        if self.rows.len() == self.most {
            sort(&mut self.rows);
            self.portions.append(&self.rows)?;
            self.rows.clear();
        }
        self.rows.push(row);
        Ok(())
    }

    /// Calls `each` with the rows so far, in any order.
    ///
    /// # Errors
    /// Those of `each`, or the file cannot be read.
    pub fn for_each_unsorted(&self, mut each: impl FnMut(&[u64; N]) -> Result<(), Error>) -> Result<(), Error> {
        self.portions.for_each(&mut each)?;
        self.rows.iter().try_for_each(each)
    }

    /// All rows in ascending order.
    ///
    /// # Errors
    /// The file cannot be read or written.
    ///
    /// # Cost
    /// Sorting what is in memory. Later a merge of the portions in the file, with at most 128 KiB of memory for each; if they are
    /// so many that 4 KiB for each are more memory than rows may take, some are merged in another file first.
    pub fn sorted(mut self) -> Result<Sorted<N>, Error> {
        sort(&mut self.rows);
        let words = (self.most * N) as u64;
        let portions = self.portions.at_most(LEAST_MERGED.max((words / BUFFERED.start) as usize))?;
        let words = words_each(words, portions.ranges.len());
        let merge = Merge::new(portions.file.as_ref(), &portions.ranges, words, self.rows)?;
        Ok(Sorted { file: portions.file, merge })
    }

    /// Calls `each` with all rows in ascending order.
    ///
    /// # Errors
    /// Those of `each`, or of [`sorted`](Self::sorted).
    pub fn for_each(self, mut each: impl FnMut(&[u64; N]) -> Result<(), Error>) -> Result<(), Error> {
        let mut sorted = self.sorted()?;
        while let Some(row) = sorted.next()? {
            each(&row)?;
        }
        Ok(())
    }

    /// All rows in ascending order, to be read again: in memory if they are all there, and otherwise in another file. Calls `each`
    /// with all of them in order.
    ///
    /// # Errors
    /// Those of [`sorted`](Self::sorted), or the other file cannot be written.
    pub fn stored(mut self, mut each: impl FnMut(&[u64; N])) -> Result<Stored, Error> {
        let what = self.portions.what;
        if self.portions.ranges.is_empty() {
            sort(&mut self.rows);
            self.rows.iter().for_each(each);
            return Ok(Stored::held(what, self.rows.into_flattened()));
        }
        let mut stored = Stored::new(what, 0, self.portions.folder.as_deref());
        let mut rows: Vec<[u64; N]> = Vec::with_capacity(AT_ONCE / N);
        let mut sorted = self.sorted()?;
        while let Some(row) = sorted.next()? {
            each(&row);
            rows.push(row);
            if rows.len() == AT_ONCE / N {
                stored.append(rows.as_flattened())?;
                rows.clear();
            }
        }
        stored.append(rows.as_flattened())?;
        Ok(stored)
    }
}

/// Rows in ascending order, one after the other.
pub(crate) struct Sorted<const N: usize> {
    file: Option<Spilled>,
    merge: Merge<N>,
}

impl<const N: usize> Sorted<N> {
    /// The next row.
    ///
    /// # Errors
    /// The file cannot be read.
    #[inline]
    pub fn next(&mut self) -> Result<Option<[u64; N]>, Error> {
        self.merge.next(self.file.as_ref())
    }
}

/// Rows of `N` words that several threads add, in any order.
///
/// Each thread fills a list of its own, and sorts it itself when it is full, so that no thread waits for more than the writing of
/// another.
pub(crate) struct Gathering<const N: usize> {
    /// The maximum number of rows in memory, and in a list.
    most: usize,
    most_each: usize,
    /// The lists that no thread is filling now.
    lists: Mutex<Vec<Vec<[u64; N]>>>,
    portions: Mutex<Portions<N>>,
    /// The first error of the file, after which nothing is added.
    failure: Mutex<Option<Error>>,
    has_failed: AtomicBool,
}

impl<const N: usize> Gathering<N> {
    /// None yet. Whenever those of one of the `threads` take its share of `most_bytes`, they go to a file in `folder`, or in the
    /// system's folder.
    pub fn new(what: &'static str, most_bytes: u64, threads: usize, folder: Option<&Path>) -> Self {
        let most = rows_in::<N>(most_bytes);
        Gathering {
            most,
            most_each: (most / threads.max(1)).max(1),
            lists: Mutex::default(),
            portions: Mutex::new(Portions::new(what, folder)),
            failure: Mutex::default(),
            has_failed: AtomicBool::new(false),
        }
    }

    /// A list to fill. A thread should have one at a time.
    pub fn list(&self) -> List<'_, N> {
        List { rows: lock(&self.lists).pop().unwrap_or_default(), of: self }
    }

    /// Whether nothing is added any more, because the file cannot be written.
    pub fn has_failed(&self) -> bool {
        self.has_failed.load(Ordering::Relaxed)
    }

    /// Writes a list that is full. Not on other threads: one that waits for them might fill another list meanwhile.
    #[cold]
    fn write(&self, rows: &mut Vec<[u64; N]>) {
        if !self.has_failed() {
            rows.sort_unstable();
            if let Err(error) = lock(&self.portions).append(rows) {
                lock(&self.failure).get_or_insert(error);
                self.has_failed.store(true, Ordering::Relaxed);
            }
        }
        rows.clear();
    }

    /// Removes all rows.
    pub fn clear(&mut self) {
        lock(&self.lists).clear();
        let portions = self.portions.get_mut().unwrap_or_else(PoisonError::into_inner);
        *portions = Portions::new(portions.what, portions.folder.as_deref());
    }

    /// Calls `each` with the rows so far, in any order. All lists were dropped.
    ///
    /// # Errors
    /// Those of `each`, or the file cannot be read or could not be written.
    pub fn for_each(&self, mut each: impl FnMut(&[u64; N]) -> Result<(), Error>) -> Result<(), Error> {
        self.check()?;
        lock(&self.portions).for_each(&mut each)?;
        lock(&self.lists).iter().flatten().try_for_each(each)
    }

    /// # Errors
    /// The file could not be written.
    pub fn check(&self) -> Result<(), Error> {
        lock(&self.failure).take().map_or(Ok(()), Err)
    }

    /// The rows, to be sorted.
    ///
    /// # Errors
    /// The file could not be written.
    pub fn finish(self) -> Result<Sorter<N>, Error> {
        self.check()?;
        let mut lists = self.lists.into_inner().unwrap_or_else(PoisonError::into_inner).into_iter();
        let mut rows = lists.next().unwrap_or_default();
        rows.reserve_exact(lists.as_slice().iter().map(Vec::len).sum());
        // Each list is freed after it is moved.
        lists.for_each(|list| rows.extend(list));
        let portions = self.portions.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok(Sorter { rows, most: self.most, portions })
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The rows that one thread adds.
pub(crate) struct List<'g, const N: usize> {
    rows: Vec<[u64; N]>,
    of: &'g Gathering<N>,
}

impl<const N: usize> List<'_, N> {
    /// Adds a row. If the file cannot be written, nothing more is added; see [`Gathering::has_failed`].
    #[inline]
    pub fn push(&mut self, row: [u64; N]) {
        if self.rows.len() == self.of.most_each {
            self.of.write(&mut self.rows);
        }
        self.rows.push(row);
    }
}

impl<const N: usize> Drop for List<'_, N> {
    fn drop(&mut self) {
        lock(&self.of.lists).push(std::mem::take(&mut self.rows));
    }
}

/// Reads a portion of a file.
struct Reader {
    /// The bytes that are left.
    left: Range<u64>,
    /// The number of words that are read at once.
    words: u64,
}

impl Reader {
    fn next<'b, const N: usize>(
        &mut self,
        file: Option<&Spilled>,
        buffer: &'b mut Buffer,
    ) -> Result<Option<&'b [[u64; N]]>, Error> {
        let Some(file) = file.filter(|_| !self.left.is_empty()) else { return Ok(None) };
        let words = (self.left.end - self.left.start) / 8;
        let words = words.min(self.words / N as u64 * N as u64);
        let start = self.left.start;
        self.left.start += 8 * words;
        Ok(Some(file.read(start, words as usize, buffer)?.as_chunks().0))
    }
}

/// A merge of sorted portions.
struct Merge<const N: usize> {
    portions: Vec<Portion<N>>,
    /// The next row of each portion that has one, if there are several portions.
    next: BinaryHeap<Reverse<([u64; N], usize)>>,
    buffer: Buffer,
}

impl<const N: usize> Merge<N> {
    /// Of some portions of a file, each read by so many words at once, and of sorted rows in memory.
    fn new(file: Option<&Spilled>, ranges: &[Range<u64>], words: u64, rows: Vec<[u64; N]>) -> Result<Self, Error> {
        let portion =
            |left: &Range<u64>| Portion { reader: Some(Reader { left: left.clone(), words }), rows: Vec::new(), at: 0 };
        let mut portions: Vec<Portion<N>> = ranges.iter().map(portion).collect();
        portions.push(Portion { reader: None, rows, at: 0 });
        let (mut next, mut buffer) = (BinaryHeap::new(), Buffer::default());
        if portions.len() > 1 {
            for (number, portion) in portions.iter_mut().enumerate() {
                next.extend(portion.next(file, &mut buffer)?.map(|row| Reverse((row, number))));
            }
        }
        Ok(Merge { portions, next, buffer })
    }

    #[inline]
    fn next(&mut self, file: Option<&Spilled>) -> Result<Option<[u64; N]>, Error> {
        if let [alone] = &mut self.portions[..] {
            return alone.next(file, &mut self.buffer);
        }
        let Some(mut least) = self.next.peek_mut() else { return Ok(None) };
        let Reverse((row, number)) = *least;
        match self.portions[number].next(file, &mut self.buffer)? {
            Some(next) => *least = Reverse((next, number)),
            None => _ = PeekMut::pop(least),
        }
        Ok(Some(row))
    }
}

/// A sorted portion that is merged.
struct Portion<const N: usize> {
    /// `None` if all its rows are in memory.
    reader: Option<Reader>,
    rows: Vec<[u64; N]>,
    at: usize,
}

impl<const N: usize> Portion<N> {
    #[inline]
    fn next(&mut self, file: Option<&Spilled>, buffer: &mut Buffer) -> Result<Option<[u64; N]>, Error> {
        if self.at == self.rows.len()
            && let Some(reader) = &mut self.reader
        {
            self.at = 0;
            self.rows.clear();
            self.rows.extend_from_slice(reader.next(file, buffer)?.unwrap_or_default());
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

    fn rows(count: u64) -> Vec<[u64; 3]> {
        (0..count).map(|n| [mix(n) % 97, n % 5, n]).collect()
    }

    /// Adds rows to a list as they come.
    fn into<const N: usize>(list: &mut Vec<[u64; N]>) -> impl FnMut(&[u64; N]) -> Result<(), Error> {
        |&row| {
            list.push(row);
            Ok(())
        }
    }

    /// Everything that can be asked of a sorter, against a list.
    fn check(sorter: impl Fn() -> Sorter<3>, mut expected: Vec<[u64; 3]>, what: &str) {
        assert_eq!(sorter().len(), expected.len() as u64, "{what}");
        let mut unsorted = Vec::new();
        sorter().for_each_unsorted(into(&mut unsorted)).unwrap();
        unsorted.sort_unstable();
        expected.sort_unstable();
        assert_eq!(unsorted, expected, "{what}");
        let mut sorted = Vec::new();
        sorter().for_each(into(&mut sorted)).unwrap();
        assert_eq!(sorted, expected, "{what}");
        let mut seen = Vec::new();
        let stored = sorter().stored(|&row| seen.push(row)).unwrap();
        assert_eq!((&seen, stored.len()), (&expected, 3 * expected.len() as u64), "{what}");
        let mut again = Vec::new();
        stored.for_each_row(into(&mut again)).unwrap();
        assert_eq!(again, expected, "{what}");
        let mut buffer = Buffer::default();
        for start in (0..expected.len()).step_by(101) {
            let end = expected.len().min(start + start % 7);
            let rows = stored.rows::<3>(start as u64..end as u64, &mut buffer).unwrap();
            assert_eq!(rows, &expected[start..end], "{what}");
        }
    }

    #[test]
    fn in_memory_or_in_portions() {
        for (count, most_bytes, spills) in [(0, 0, false), (10, 0, false), (3000, 0, true), (3000, 1 << 20, false)] {
            let sorter = || {
                let mut sorter = Sorter::new("rows", most_bytes, None);
                rows(count).into_iter().for_each(|row| sorter.push(row).unwrap());
                assert_eq!(sorter.bytes_spilled() > 0, spills);
                sorter
            };
            check(sorter, rows(count), &format!("{count} rows in {most_bytes}"));
        }
    }

    #[test]
    fn of_several_threads() {
        for (count, most_bytes, threads) in [(0, 0, 1), (30, 0, 3), (5000, 0, 1), (5000, 0, 4), (5000, 1 << 20, 2)] {
            let gathering = || {
                let mut gathering = Gathering::new("rows", most_bytes, threads, None);
                gathering.list().push([7; 3]);
                gathering.clear();
                rows(count).par_chunks(50).for_each(|rows| {
                    let mut list = gathering.list();
                    rows.iter().for_each(|&row| list.push(row));
                });
                gathering
            };
            let mut found = Vec::new();
            gathering().for_each(into(&mut found)).unwrap();
            found.sort_unstable_by_key(|row| row[2]);
            assert_eq!(found, rows(count));
            check(|| gathering().finish().unwrap(), rows(count), &format!("{count} rows of {threads} threads"));
        }
    }

    #[test]
    fn some_portions_are_merged() {
        let mut portions = Portions::<1>::new("rows", None);
        for number in 0..5u64 {
            let added: Vec<[u64; 1]> = (0..3000).map(|n| [10 * n + number % 3]).collect();
            assert_eq!(portions.append(&added).unwrap() as u64, number);
        }
        assert_eq!(portions.bytes(), 5 * 3000 * 8);
        for (chosen, held) in
            [(vec![], vec![]), (vec![], vec![7]), (vec![4], vec![]), (vec![1, 3, 4], vec![0, 1, 29_999])]
        {
            let mut expected: Vec<[u64; 1]> = held.iter().map(|&n| [n]).collect();
            let rows = expected.clone();
            chosen.iter().for_each(|number| expected.extend((0..3000).map(|n| [10 * n + number % 3])));
            expected.sort_unstable();
            let chosen: Vec<usize> = chosen.iter().map(|&number| number as usize).collect();
            let mut merged = Vec::new();
            portions.merge(&chosen, rows, 0, into(&mut merged)).unwrap();
            assert_eq!(merged, expected);
        }
    }

    #[test]
    fn a_file_that_cannot_be_written() {
        let gathering = Gathering::new("rows", 0, 2, Some(Path::new("/no/such/folder")));
        let add = || rows(1000).into_iter().for_each(|row| gathering.list().push(row));
        add();
        assert!(gathering.has_failed());
        add();
        let error = gathering.finish().err().expect("it failed").to_string();
        assert!(error.starts_with("cannot write rows to a temporary file in /no/such/folder "), "{error}");
    }
}
