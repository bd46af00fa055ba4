//! The texts of a row in a column in lists: any number of values, also across pages.
//!
//! A value with the repetition level 0 is the first of a row. An empty list, or one that is null, is a value that is null.

use super::cells::{Broken, Limits, PageCells, Slice};
use super::fault::Damage;
use super::footer::Column;
use super::page::Page;
use super::values::Runs;
use crate::source::fields::joined_length;
use std::sync::Arc;

/// The values of a slice.
pub(super) struct ListCells<'p> {
    slice: &'p Slice,
    column: &'p Column,
    limits: Limits,
    /// The number of pages so far, with the rows that begin in the last one, counted from the first of the first page.
    pages: usize,
    start: u64,
    end: u64,
    page: Option<ListPage<'p>>,
    /// Whether no value of the row has been passed.
    is_first: bool,
    row: Row,
}

/// The texts of a row, one after the other.
#[derive(Default)]
struct Row {
    texts: Vec<u8>,
    ends: Vec<u32>,
    /// The numbers of these texts among the values of the row, null or not, if another path may lead to them, too.
    numbers: Option<Vec<u64>>,
    /// The number of values so far.
    values: u64,
    /// The length of the texts when they are joined.
    length: usize,
    max_record: u64,
}

impl Row {
    fn clear(&mut self) {
        self.texts.clear();
        self.ends.clear();
        self.numbers.iter_mut().for_each(Vec::clear);
        self.values = 0;
        self.length = 0;
    }

    /// Counts a value, and adds it if it is a text that is wanted.
    fn add(&mut self, value: Option<&[u8]>, is_wanted: bool) {
        if let Some(text) = value.filter(|_| is_wanted) {
            self.push(text);
        }
        self.values += 1;
    }

    /// Adds a text. Those after the maximum length of a record are left out, because the record is refused. Empty ones are
    /// left out as well, but for the first: so memory is bounded by that length.
    fn push(&mut self, text: &[u8]) {
        if self.length as u64 > self.max_record || text.is_empty() && !self.ends.is_empty() {
            return;
        }
        self.length = joined_length(self.length, text.len());
        self.texts.extend_from_slice(text);
        self.ends.push(self.texts.len() as u32);
        self.numbers.iter_mut().for_each(|numbers| numbers.push(self.values));
    }
}

impl<'p> ListCells<'p> {
    pub fn new(slice: &'p Slice, column: &'p Column, limits: Limits) -> Self {
        let row = Row { max_record: limits.max_record, ..Row::default() };
        ListCells { slice, column, limits, pages: 0, start: 0, end: 0, page: None, is_first: false, row }
    }

    /// Whether the numbers of texts are kept.
    pub fn numbered(mut self, is_numbered: bool) -> Self {
        self.row.numbers = is_numbered.then(Vec::new);
        self
    }

    /// Reads the texts in a row of the range. Rows come in ascending order; after a broken one, those of its page are not
    /// asked for.
    pub fn read(&mut self, row: u64) -> Result<(), Broken> {
        self.begin(row)?;
        let row = row + self.slice.skipped();
        self.in_page(row, ListPage::take)?;
        while self.page.as_ref().is_some_and(|page| page.next.is_none()) && self.goes_on() {
            self.next_page(row)?;
            self.in_page(row, ListPage::take_rest)?;
        }
        Ok(())
    }

    /// Goes to the first value in a row of the range, as [`read`](Self::read) does, for others to be passed one by one.
    pub fn begin(&mut self, row: u64) -> Result<(), Broken> {
        let row = row + self.slice.skipped();
        self.row.clear();
        self.is_first = true;
        while row >= self.end {
            if !self.next_page(row)? {
                let damage = "a column has fewer values than its row group has rows".into();
                return Err(Broken { damage, last: u64::MAX });
            }
        }
        let at = row - self.start;
        self.in_page(row, |page, _| page.skip_to(at))
    }

    /// The repetition level of the next value of the row that was begun; `None` at its end.
    pub fn peek(&mut self, row: u64) -> Result<Option<u32>, Broken> {
        let row = row + self.slice.skipped();
        while self.page.as_ref().is_some_and(|page| page.next.is_none()) && self.goes_on() {
            self.next_page(row)?;
            self.in_page(row, |_, _| Ok(()))?;
        }
        let next = self.page.as_ref().and_then(|page| page.next);
        Ok(next.filter(|level| *level > 0 || self.is_first))
    }

    /// Passes the value whose level was returned by [`peek`](Self::peek). It is a text of the row if it is wanted and not null.
    pub fn pass(&mut self, row: u64, is_wanted: bool) -> Result<(), Broken> {
        let row = row + self.slice.skipped();
        self.is_first = false;
        let (page, own) = (self.page.as_mut(), &mut self.row);
        let passed = page.map_or(Ok(()), |page| page.pass(|value| own.add(value, is_wanted)));
        passed.map_err(|damage| self.broken(row, damage)).inspect_err(|_| self.page = None)
    }

    /// Passes the next value, and returns whether it is this one. It has this repetition level, or the file is damaged.
    pub fn pass_if_equal(&mut self, row: u64, level: u32, wanted: &[u8]) -> Result<bool, Broken> {
        if self.peek(row)? != Some(level) {
            let damage = "the columns of a list have different numbers of elements".into();
            return Err(self.broken(row + self.slice.skipped(), damage));
        }
        self.is_first = false;
        let mut is_equal = false;
        let page = self.page.as_mut();
        let passed = page.map_or(Ok(()), |page| page.pass(|value| is_equal = value == Some(wanted)));
        passed.map_err(|damage| self.broken(row + self.slice.skipped(), damage)).inspect_err(|_| self.page = None)?;
        Ok(is_equal)
    }

    /// The texts of the row that was read, with their numbers among the values of the row, which are 0 unless they are kept.
    pub fn texts(&self) -> impl Iterator<Item = (u64, &[u8])> {
        let starts = std::iter::once(0).chain(self.row.ends.iter().copied());
        let texts = starts.zip(&self.row.ends).map(|(start, &end)| &self.row.texts[start as usize..end as usize]);
        let number = |at: usize| self.row.numbers.as_ref().map_or(0, |numbers| numbers[at]);
        texts.enumerate().map(move |(at, text)| (number(at), text))
    }

    /// Whether the next page begins within a row.
    fn goes_on(&self) -> bool {
        let starts = self.slice.page(self.pages).map(|(page, _)| page.starts(self.column.max_repetition));
        starts.is_some_and(|starts| starts.is_ok_and(|starts| starts.goes_on))
    }

    /// Goes on to the next page, if there is one.
    fn next_page(&mut self, row: u64) -> Result<bool, Broken> {
        let Some((page, _)) = self.slice.page(self.pages) else { return Ok(false) };
        self.page = None;
        self.pages += 1;
        let starts = page.starts(self.column.max_repetition).map_err(|damage| self.broken(row, damage))?;
        (self.start, self.end) = (self.end, self.end + starts.rows);
        Ok(true)
    }

    /// Does something with the page, which it opens before.
    fn in_page(
        &mut self,
        row: u64,
        read: impl FnOnce(&mut ListPage<'p>, &mut Row) -> Result<(), Damage>,
    ) -> Result<(), Broken> {
        let opened = match self.page.take() {
            Some(page) => Ok(page),
            None => match self.slice.page(self.pages - 1) {
                Some((page, dictionary)) => ListPage::new(page, dictionary, self.column, self.limits),
                None => Err("a column has fewer values than its row group has rows".into()),
            },
        };
        let done = opened.and_then(|mut page| {
            read(&mut page, &mut self.row)?;
            Ok(page)
        });
        self.page = Some(done.map_err(|damage| self.broken(row, damage))?);
        Ok(())
    }

    /// This row is broken, and all that begin in the page.
    fn broken(&self, row: u64, damage: Damage) -> Broken {
        Broken { damage, last: self.end.max(row + 1) - 1 - self.slice.skipped() }
    }
}

/// The values of a page.
struct ListPage<'p> {
    repetition: Runs<'p>,
    /// The number of levels after the next one.
    left: u64,
    /// The repetition level of the next value; `None` at the end.
    next: Option<u32>,
    /// The number of rows that began before the next value.
    begun: u64,
    cells: PageCells<'p>,
}

impl<'p> ListPage<'p> {
    fn new(page: &'p Page, dictionary: Option<&'p Arc<Page>>, column: &Column, limits: Limits) -> Result<Self, Damage> {
        let levels = page.levels_and_values(column.max_repetition, column.max_level)?.repetition;
        let (repetition, cells) =
            (Runs::of_levels(levels, column.max_repetition)?, PageCells::new(page, dictionary, column, limits)?);
        let mut page = ListPage { repetition, left: page.rows(), next: None, begun: 0, cells };
        page.look_ahead()?;
        Ok(page)
    }

    fn look_ahead(&mut self) -> Result<(), Damage> {
        self.next = match self.left.checked_sub(1) {
            Some(left) => {
                self.left = left;
                Some(self.repetition.next()?)
            }
            None => None,
        };
        Ok(())
    }

    /// Passes one value, to which something is done.
    fn pass(&mut self, value: impl FnOnce(Option<&[u8]>)) -> Result<(), Damage> {
        self.begun += u64::from(self.next == Some(0));
        value(self.cells.next()?);
        self.look_ahead()
    }

    /// Passes the values before the first of the row with this number, counted in the page.
    fn skip_to(&mut self, row: u64) -> Result<(), Damage> {
        while self.next.is_some_and(|level| level > 0 || self.begun < row) {
            self.pass(|_| {})?;
        }
        Ok(())
    }

    /// Takes the row that begins here, up to the end of the page.
    fn take(&mut self, row: &mut Row) -> Result<(), Damage> {
        self.pass(|value| row.add(value, true))?;
        self.take_rest(row)
    }

    /// Takes the values of the row that began before.
    fn take_rest(&mut self, row: &mut Row) -> Result<(), Damage> {
        while self.next.is_some_and(|level| level > 0) {
            self.pass(|value| row.add(value, true))?;
        }
        Ok(())
    }
}
