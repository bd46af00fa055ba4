//! What rows repeat: a dictionary holds a value once, and a page can make any number of rows of it from a few bytes. So can the
//! encoding of values that begin like the one before them.
//!
//! Values of a column that are repeated may be, in each row group, as long together as the expansion that is allowed times the
//! bytes of the column there. What is longer is counted for the whole file, up to the length of one record. The reading thread
//! counts it in the order of the file and before a text is made, so that the same rows are refused in ranges of any size.
//!
//! Counting means to decode where each value is. A row group is not counted if as many values as it has, each as long as the
//! longest one of its dictionary, would be short enough.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;

use super::cells::{Limits, PageCells};
use super::fault::{Damage, Fault};
use super::footer::{Chunk, Column, Physical};
use super::page::Page;
use super::values::Runs;
use crate::source::{ProblemKind, ReadOptions};

/// What the values of a column may be long together, over the shares of its row groups, in the rest of the file.
pub(super) type Slack = Rc<Cell<u64>>;

/// The slack of a column before the first row group.
pub(super) fn slack(options: &ReadOptions) -> Slack {
    Rc::new(Cell::new(options.max_record as u64))
}

/// What the values of a column of a row group may be long together.
pub(super) struct Repeats {
    column: Column,
    limits: Limits,
    max_expansion: u64,
    /// The number of values, null or not.
    values: u64,
    /// What is left of the share of the row group, and of the slack of the file.
    share: u64,
    slack: Slack,
    /// Whether pages with positions in the dictionary are counted, as soon as there is one.
    counts_dictionary: Option<bool>,
}

impl Repeats {
    pub fn new(column: Column, chunk: Chunk, slack: Slack, options: &ReadOptions) -> Self {
        let (max_expansion, limits) = (options.max_expansion, Limits::new(options));
        let share = chunk.length.saturating_mul(max_expansion);
        Repeats { column, limits, max_expansion, values: chunk.values, share, slack, counts_dictionary: None }
    }

    /// Counts a page, which comes after those that were counted. Returns how many of the rows that begin in it may be read, if not
    /// all. A page that is damaged is counted up to there: whoever reads it reports that.
    ///
    /// # Errors
    /// The row that goes on from the page before it is too long.
    pub fn count(&mut self, page: &Page, dictionary: Option<&Arc<Page>>) -> Result<Option<u64>, Fault> {
        let is_counted = self.column.physical == Physical::Bytes
            && match (page.encoding(), dictionary) {
                (2 | 8, Some(dictionary)) => self.counts(dictionary),
                (encoding, _) => encoding == 7,
            };
        let counted = if is_counted { self.rows(page, dictionary) } else { Ok(None) };
        match counted.unwrap_or(None) {
            Some(0) => Err(self.fault()),
            begun => Ok(begun.map(|begun| begun - 1)),
        }
    }

    /// Whether pages with positions in this dictionary are counted.
    fn counts(&mut self, dictionary: &Arc<Page>) -> bool {
        if let Some(counts) = self.counts_dictionary {
            return counts;
        }
        // If it is damaged, no page is read.
        let longest = dictionary.dictionary(self.column.physical).map_or(0, |(dictionary, _)| dictionary.longest());
        let less = self.share.checked_sub(self.values.saturating_mul(longest as u64));
        self.share = less.unwrap_or(self.share);
        *self.counts_dictionary.insert(less.is_none())
    }

    /// Counts the values of a page. If they are too long, returns how many rows have begun in it by then.
    fn rows(&mut self, page: &Page, dictionary: Option<&Arc<Page>>) -> Result<Option<u64>, Damage> {
        let Column { max_level, max_repetition, .. } = self.column;
        let mut cells = PageCells::new(page, dictionary, &self.column, self.limits)?;
        let content = page.levels_and_values(max_repetition, max_level)?;
        let mut repetition = Runs::of_levels(content.repetition, max_repetition)?;
        let mut begun = 0;
        for _ in 0..page.rows() {
            begun += u64::from(max_repetition == 0 || repetition.next()? == 0);
            let length = cells.next()?.map_or(0, |value| value.len() as u64);
            if !self.take(length) {
                return Ok(Some(begun));
            }
        }
        Ok(None)
    }

    /// Counts bytes of values, unless they are too many.
    fn take(&mut self, length: u64) -> bool {
        let from_share = length.min(self.share);
        let Some(slack) = self.slack.get().checked_sub(length - from_share) else { return false };
        self.share -= from_share;
        self.slack.set(slack);
        true
    }

    /// Why no further row of the row group is read.
    pub fn fault(&self) -> Fault {
        let times = self.max_expansion;
        let message = format!(
            "its values, which rows repeat, expand to more than {times} times its size (allow more with `max-expansion`)"
        );
        Fault { kind: ProblemKind::TooLong, message }
    }
}
