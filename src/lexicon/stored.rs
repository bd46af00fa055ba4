//! The terms of a lexicon in a temporary file, because they do not fit in memory.
//!
//! They are ascending rows, in pages. The first term of each page is in memory, and so are the most frequent terms: as most
//! terms of a text are frequent ones, a document reads a few pages. The terms of a document are looked up together, in the
//! order of the file, so that a long document reads it from start to end.

use super::table::{Table, spread, term_of};
use crate::error::Error;
use crate::postings::{Buffer, Spilled};
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::OnceLock;

/// The number of rows of a page at first: 4 KiB.
const ROWS_A_PAGE: usize = if cfg!(test) { 4 } else { 1 << 8 };

/// The maximum number of pages, of which each takes 8 bytes in memory; beyond it, pages are larger. Tests have few.
const MOST_PAGES: usize = if cfg!(test) { 1 << 4 } else { 1 << 19 };

/// The number of rows that are written or read at once.
const ROWS_AT_ONCE: usize = 1 << 13;

/// The words of a row: the [order](spread) of the term, and its count.
const WORDS: usize = 2;

/// The terms and their counts.
pub(super) struct Stored {
    rows: Rows,
    /// The number of terms with each count.
    terms_of_counts: BTreeMap<u32, u64>,
    /// The terms with the greatest counts, as far as they fit in memory.
    frequent: Table,
    /// Whether these are all with a count above 1.
    has_all: bool,
    /// The first error of the file: the failed operation, and the error of the system.
    failure: OnceLock<(String, io::Error)>,
}

/// Ascending rows in a file.
struct Rows {
    file: Spilled,
    count: usize,
    a_page: usize,
    /// The order of the first term of each page.
    firsts: Vec<u64>,
}

/// Writes them.
pub(super) struct Writer {
    rows: Rows,
    buffer: Vec<[u64; WORDS]>,
    terms_of_counts: BTreeMap<u32, u64>,
}

impl Writer {
    /// A file in `folder`, or in the system's.
    ///
    /// # Errors
    /// The file cannot be made.
    pub fn new(folder: Option<&Path>) -> Result<Self, Error> {
        let file = Spilled::new("terms", folder)?;
        let rows = Rows { file, count: 0, a_page: ROWS_A_PAGE, firsts: Vec::new() };
        Ok(Writer { rows, buffer: Vec::new(), terms_of_counts: BTreeMap::new() })
    }

    /// Adds the next term, by its [order](spread).
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn push(&mut self, order: u64, count: u32) -> Result<(), Error> {
        *self.terms_of_counts.entry(count).or_default() += 1;
        self.rows.begin(order);
        self.buffer.push([order, count.into()]);
        if self.buffer.len() == ROWS_AT_ONCE { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<(), Error> {
        self.rows.file.append(self.buffer.as_flattened())?;
        self.buffer.clear();
        Ok(())
    }

    /// The terms, of which the most frequent are kept in this many bytes.
    ///
    /// # Errors
    /// The file cannot be written, or not be read back.
    ///
    /// # Cost
    /// Reads the file.
    pub fn finish(mut self, bytes: u64) -> Result<Stored, Error> {
        self.flush()?;
        let Writer { rows, terms_of_counts, .. } = self;
        let mut frequent = Table::of_bytes(bytes);
        let most = frequent.bytes_held() * 3 / 4 / Table::BYTES_A_PLACE;
        // All with a count above the least are kept, and of those with it as many as there is room for.
        let (mut least, mut room, mut terms_with_least) = (1, most, 0);
        for (&count, &terms) in terms_of_counts.range(2..).rev() {
            if terms > room {
                (least, terms_with_least) = (count, terms);
                break;
            }
            room -= terms;
        }
        let has_all = least == 1;
        // Evenly from all of them: the first ones would crowd at the start of the table.
        let kept_of = |terms: u64| u128::from(terms) * u128::from(room) / u128::from(terms_with_least.max(1));
        let mut seen = 0;
        rows.for_each(|order, count| {
            let is_kept = match count.cmp(&least) {
                Ordering::Less => false,
                Ordering::Equal => {
                    seen += 1;
                    !has_all && kept_of(seen) > kept_of(seen - 1)
                }
                Ordering::Greater => true,
            };
            if is_kept {
                frequent.change(term_of(order), |_| count);
            }
        })?;
        Ok(Stored { rows, terms_of_counts, frequent, has_all, failure: OnceLock::new() })
    }
}

impl Rows {
    /// Notes where the next row is, which is about to be written.
    fn begin(&mut self, order: u64) {
        if self.count.is_multiple_of(self.a_page) {
            if self.firsts.len() == MOST_PAGES {
                let mut is_kept = false;
                self.firsts.retain(|_| {
                    is_kept = !is_kept;
                    is_kept
                });
                self.a_page *= 2;
            }
            // Unless it is now in the middle of a page.
            if self.count.is_multiple_of(self.a_page) {
                self.firsts.push(order);
            }
        }
        self.count += 1;
    }

    /// Calls `each` with the order and the count of every term.
    fn for_each(&self, mut each: impl FnMut(u64, u32)) -> Result<(), Error> {
        let mut buffer = Buffer::default();
        for first in (0..self.count).step_by(ROWS_AT_ONCE) {
            let rows = self.read(first, ROWS_AT_ONCE.min(self.count - first), &mut buffer)?;
            rows.iter().for_each(|&[order, count]| each(order, count as u32));
        }
        Ok(())
    }

    fn read<'b>(&self, first: usize, count: usize, buffer: &'b mut Buffer) -> Result<&'b [[u64; WORDS]], Error> {
        let start = size_of::<[u64; WORDS]>() * first;
        Ok(self.file.read(start as u64, WORDS * count, buffer)?.as_chunks().0)
    }

    /// Calls `found` with the number and the count of each of these terms that is there, given ascending orders with numbers.
    fn find(&self, wanted: &[(u64, u32)], mut found: impl FnMut(u32, u32)) -> Result<(), Error> {
        let (mut buffer, mut left) = (Buffer::default(), wanted);
        while let Some(&(order, _)) = left.first() {
            // Before the first page there are no terms.
            let page = self.firsts.partition_point(|&first| first <= order).saturating_sub(1);
            let end = self.firsts.get(page + 1).copied();
            let (here, later) = left.split_at(end.map_or(left.len(), |end| left.partition_point(|&(o, _)| o < end)));
            let first = page * self.a_page;
            let rows = self.read(first, self.a_page.min(self.count - first), &mut buffer)?;
            for &(order, number) in here {
                if let Ok(at) = rows.binary_search_by_key(&order, |&[order, _]| order) {
                    found(number, rows[at][1] as u32);
                }
            }
            left = later;
        }
        Ok(())
    }
}

impl Stored {
    /// The number of terms.
    pub fn len(&self) -> usize {
        self.rows.count
    }

    /// Bytes of memory.
    pub fn bytes_held(&self) -> u64 {
        let a_count = 2 * size_of::<(u32, u64)>();
        self.frequent.bytes_held() + (8 * self.rows.firsts.len() + a_count * self.terms_of_counts.len()) as u64
    }

    /// The number of terms with each count.
    pub fn terms_of_counts(&self) -> &BTreeMap<u32, u64> {
        &self.terms_of_counts
    }

    /// The terms in memory.
    pub fn frequent(&self) -> &Table {
        &self.frequent
    }

    /// Whether the terms in memory are all with a count above 1.
    pub fn has_all(&self) -> bool {
        self.has_all
    }

    /// The count of a term; 0 if it is not there, or if the file cannot be [read](Self::check).
    pub fn get(&self, term: u64) -> u32 {
        let mut count = self.frequent.get(term);
        if count == 0 {
            self.find(&[(spread(term), 0)], |_, found| count = found);
        }
        count
    }

    /// Appends the counts of these terms to `counts`. Those of which the count is 1 may get 0, like those that are not there.
    /// `missing` is working memory.
    pub fn append(&self, terms: impl Iterator<Item = u64>, counts: &mut Vec<u32>, missing: &mut Vec<(u64, u32)>) {
        missing.clear();
        for term in terms {
            let count = self.frequent.get(term);
            if count == 0 && !self.has_all {
                missing.push((spread(term), counts.len() as u32));
            }
            counts.push(count);
        }
        missing.sort_unstable();
        self.find(missing, |number, count| counts[number as usize] = count);
    }

    fn find(&self, wanted: &[(u64, u32)], found: impl FnMut(u32, u32)) {
        if let Err(Error::Io { what, error }) = self.rows.find(wanted, found) {
            self.failure.get_or_init(|| (what, error));
        }
    }

    /// Calls `each` with every term and its count.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn for_each(&self, mut each: impl FnMut(u64, u32)) -> Result<(), Error> {
        self.rows.for_each(|order, count| each(term_of(order), count))
    }

    /// Loses the file.
    #[cfg(test)]
    pub fn damage(&self) {
        self.rows.file.damage();
    }

    /// Fails if the file could not be read since: some counts were too low.
    ///
    /// # Errors
    /// The first error.
    pub fn check(&self) -> Result<(), Error> {
        let again = |(what, error): &(String, io::Error)| {
            Err(Error::io(what.clone(), io::Error::new(error.kind(), error.to_string())))
        };
        self.failure.get().map_or(Ok(()), again)
    }
}
