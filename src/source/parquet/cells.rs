//! The values of a column in a range of rows, at most one in each: pages that are unpacked and decoded.

use std::ops::Range;
use std::sync::Arc;

use super::fault::Damage;
use super::footer::{Column, Physical};
use super::page::Page;
use super::values::{Runs, Values};
use crate::source::ReadOptions;

/// Limits of what values expand to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    max_expansion: u64,
    pub max_record: u64,
}

impl Limits {
    /// What a page of texts may hold without repetitions of the same one, as a multiple of a record.
    const RECORDS: u64 = 16;

    pub fn new(options: &ReadOptions) -> Self {
        Limits { max_expansion: options.max_expansion, max_record: options.max_record as u64 }
    }

    /// What the values of a page may be long together. A dictionary may hold a long text that every row repeats.
    fn of_page(&self, page: &Page, dictionary: Option<&Arc<Page>>) -> u64 {
        let size = page.packed_size() + dictionary.map_or(0, |page| page.size());
        size.saturating_mul(self.max_expansion).saturating_add(Self::RECORDS.saturating_mul(self.max_record))
    }
}

/// The part of a column in a range of rows.
#[derive(Debug, Default)]
pub(super) struct Slice {
    pages: Vec<Arc<Page>>,
    dictionary: Option<Arc<Page>>,
    /// The number of rows of the first page that are not in the range.
    skipped: u64,
    rows: u64,
    /// The share of the rows in the bytes of their pages.
    bytes: u64,
    /// The bytes of the pages of which this is the first range.
    held: u64,
    /// The numbers of the pages of which this is the last range.
    ended: Vec<u32>,
}

impl Slice {
    pub fn rows(&self) -> u64 {
        self.rows
    }

    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The memory, in bytes.
    pub fn bytes_held(&self) -> u64 {
        self.held
    }

    /// Adds rows of a page with this number of rows, which come after the others.
    pub fn push(&mut self, page: &Arc<Page>, in_page: u64, rows: Range<u64>, dictionary: Option<&Arc<Page>>) {
        let count = rows.end - rows.start;
        if self.pages.is_empty() {
            self.skipped = rows.start;
        }
        let share = (u128::from(page.size()) * u128::from(count) / u128::from(in_page.max(1))) as u64;
        self.bytes = self.bytes.saturating_add(share.max(count));
        self.held += if rows.start == 0 { page.bytes_held() } else { share };
        if self.dictionary.is_none() {
            self.dictionary = dictionary.cloned();
            self.held += dictionary.map_or(0, |page| page.bytes_held());
        }
        self.rows += count;
        // The rows of a page may come in two steps, where the first ones were shorter in all than expected.
        if !self.pages.last().is_some_and(|last| Arc::ptr_eq(last, page)) {
            self.pages.push(Arc::clone(page));
        }
        if rows.end == in_page {
            self.ended.push(self.pages.len() as u32 - 1);
        }
    }

    /// The pages of which this is the last range.
    pub fn ended(&self) -> impl Iterator<Item = &Page> {
        self.ended.iter().map(|&page| &*self.pages[page as usize])
    }

    pub fn dictionary(&self) -> Option<&Page> {
        self.dictionary.as_deref()
    }

    /// Adds a page in which the last row goes on, and `is_last` if no row begins.
    pub fn push_rest(&mut self, page: &Arc<Page>, is_last: bool) {
        self.held += page.bytes_held();
        self.pages.push(Arc::clone(page));
        if is_last {
            self.ended.push(self.pages.len() as u32 - 1);
        }
    }

    /// Leaves out the last row. Its pages stay.
    pub fn pop(&mut self) {
        self.rows -= 1;
    }

    /// The page of this number, and the dictionary of its column.
    pub fn page(&self, at: usize) -> Option<(&Page, Option<&Arc<Page>>)> {
        Some((self.pages.get(at)?, self.dictionary.as_ref()))
    }

    /// The number of rows of the first page that are not in the range.
    pub fn skipped(&self) -> u64 {
        self.skipped
    }
}

/// A value that cannot be read.
pub(super) struct Broken {
    pub damage: Damage,
    /// The last row of its page, counted from the first of the range.
    pub last: u64,
}

/// The values of a slice.
pub(super) struct Cells<'p> {
    slice: &'p Slice,
    column: &'p Column,
    limits: Limits,
    /// The number of pages so far, with the rows of the last one, counted from the first of the first page.
    pages: usize,
    start: u64,
    end: u64,
    page: Option<PageCells<'p>>,
}

impl<'p> Cells<'p> {
    pub fn new(slice: &'p Slice, column: &'p Column, limits: Limits) -> Self {
        Cells { slice, column, limits, pages: 0, start: 0, end: 0, page: None }
    }

    /// The value in a row of the range; `None` if it is null. Rows come in ascending order; after a broken one, those of
    /// its page are not asked for.
    pub fn at(&mut self, row: u64) -> Result<Option<&[u8]>, Broken> {
        let (row, skipped) = (row + self.slice.skipped, self.slice.skipped);
        while row >= self.end {
            let Some(page) = self.slice.pages.get(self.pages) else {
                return Err(Broken {
                    damage: "a column has fewer values than its row group has rows".into(),
                    last: u64::MAX,
                });
            };
            (self.start, self.end) = (self.end, self.end + page.rows());
            self.pages += 1;
            self.page = None;
        }
        let (start, last) = (self.start, (self.end - 1).saturating_sub(skipped));
        let broken = |damage| Broken { damage, last };
        if self.page.is_none() {
            let Some((page, dictionary)) = self.slice.page(self.pages - 1) else { unreachable!("counted above") };
            let mut page = PageCells::new(page, dictionary, self.column, self.limits).map_err(broken)?;
            // Counted as if they were read, so that the limits do not depend on where ranges begin.
            for _ in start..skipped {
                page.next().map_err(broken)?;
            }
            self.page = Some(page);
        }
        let Some(page) = &mut self.page else { unreachable!("opened above") };
        page.at(row - start).map_err(broken)
    }
}

/// The values of a page.
pub(super) struct PageCells<'p> {
    max_level: u32,
    levels: Runs<'p>,
    values: Values<'p>,
    row: u64,
    /// What the values may still be long together; `None` if they are never longer than their page.
    left: Option<u64>,
}

impl<'p> PageCells<'p> {
    pub fn new(
        page: &'p Page,
        dictionary_page: Option<&'p Arc<Page>>,
        column: &Column,
        limits: Limits,
    ) -> Result<Self, Damage> {
        let (max_level, physical) = (column.max_level, column.physical);
        let content = page.levels_and_values(column.max_repetition, max_level)?;
        let dictionary = match (dictionary_page, page.encoding()) {
            (Some(dictionary), 2 | 8) => Some(dictionary.dictionary(physical)?),
            _ => None,
        };
        let levels = Runs::of_levels(content.definition, max_level)?;
        let values = Values::new(page.encoding(), content.values, physical, dictionary, page.rows())?;
        let repeats = physical == Physical::Bytes && values.may_repeat();
        let left = repeats.then(|| limits.of_page(page, dictionary_page));
        Ok(PageCells { max_level, levels, values, row: 0, left })
    }

    /// The value of a row, which is not before the next.
    fn at(&mut self, row: u64) -> Result<Option<&[u8]>, Damage> {
        while self.row < row {
            self.next()?;
        }
        self.next()
    }

    pub fn next(&mut self) -> Result<Option<&[u8]>, Damage> {
        self.row += 1;
        let level = if self.max_level == 0 { 0 } else { self.levels.next()? };
        if level < self.max_level {
            return Ok(None);
        }
        if level > self.max_level {
            return Err("a page has a level that its column does not have".into());
        }
        let value = self.values.next()?;
        if let Some(left) = &mut self.left {
            let Some(less) = left.checked_sub(value.len() as u64) else {
                return Err("a page expands too much (allow more with `max-expansion`)".into());
            };
            *left = less;
        }
        Ok(Some(value))
    }
}
