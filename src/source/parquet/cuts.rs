//! The parts of texts that a copy lacks. Ranges of the text of a row are those of the values of its columns of texts, one after the other,
//! and these columns may have any order in the file.

use std::io;
use std::iter::Peekable;
use std::ops::Range;

use ::parquet::data_type::ByteArray;

use super::footer::Columns;
use crate::source::decode;
use crate::source::fields::joined_length;
use crate::source::snip::{CHANGED, Snips, snip_value};

/// The records that are cut, each with its ranges.
type Records<'s> = Peekable<Box<dyn Iterator<Item = (u64, &'s [[u32; 2]])> + 's>>;

/// What is cut of the texts of a file.
pub(super) struct Cuts<'s> {
    /// The numbers of the columns of texts, in the order in which they are joined.
    columns: Vec<usize>,
    records: Records<'s>,
}

impl<'s> Cuts<'s> {
    /// Cuts of a file with these columns.
    pub fn new(snips: &'s Snips, columns: &Columns) -> Self {
        let records: Box<dyn Iterator<Item = _>> = Box::new(snips.records());
        let columns = columns.texts.iter().map(|column| column.ordinal as usize).collect();
        Cuts { columns, records: records.peekable() }
    }

    /// The numbers of the columns that change.
    pub fn columns(&self) -> &[usize] {
        &self.columns
    }

    /// What is cut of the next row group, which has these rows, and of which some are left out.
    ///
    /// # Errors
    /// A row that is left out is to be cut, or none has the number of a record.
    pub fn of_group(&mut self, rows: Range<u64>, dropped: &[u64]) -> io::Result<GroupCuts<'s>> {
        let mut cut = Vec::new();
        while let Some((row, ranges)) = self.records.next_if(|(row, _)| *row < rows.end) {
            if row < rows.start || dropped.binary_search(&row).is_ok() {
                return Err(changed());
            }
            cut.push((row - rows.start, ranges));
        }
        Ok(GroupCuts { columns: self.columns.clone(), rows: cut, before: Vec::new() })
    }

    /// Checks that no record is left.
    ///
    /// # Errors
    /// There are fewer rows.
    pub fn finish(mut self) -> io::Result<()> {
        self.records.next().map_or(Ok(()), |_| Err(changed()))
    }
}

/// The error that a row is not as it was read.
fn changed() -> io::Error {
    io::Error::other(CHANGED)
}

/// What is cut of a row group.
pub(super) struct GroupCuts<'s> {
    columns: Vec<usize>,
    /// Rows, counted from the first of the row group, each with the ranges of its text.
    rows: Vec<(u64, &'s [[u32; 2]])>,
    /// For the second column of texts and each later one, the length of the text of each row before it.
    before: Vec<Vec<usize>>,
}

impl<'s> GroupCuts<'s> {
    /// The rows that are cut.
    pub fn rows(&self) -> impl Iterator<Item = u64> {
        self.rows.iter().map(|&(row, _)| row)
    }

    /// The columns of texts that others follow, of which the lengths must be [measured](Self::measure) in this order.
    pub fn measured_columns(&self) -> Vec<usize> {
        let last = self.columns.len().saturating_sub(1);
        if self.rows.is_empty() { Vec::new() } else { self.columns[..last].to_vec() }
    }

    /// Begins the next column of texts.
    pub fn begin_measure(&mut self) {
        let lengths = self.before.last().cloned().unwrap_or_else(|| vec![0; self.rows.len()]);
        self.before.push(lengths);
    }

    /// Measures values of the column of texts that was begun.
    pub fn measure(&mut self, values: Values<'_, ByteArray>) {
        let (Some(lengths), rows) = (self.before.last_mut(), &self.rows) else { return };
        values.each(|row, value| {
            if let Ok(at) = rows.binary_search_by_key(&row, |&(row, _)| row) {
                let length = decode::utf8_value(value.data()).text.len();
                lengths[at] = joined_length(lengths[at], length);
            }
        });
    }

    /// What is cut of a column; `None` if nothing is.
    pub fn of_column(&self, column: usize) -> Option<ColumnCuts<'_, 's>> {
        let at = self.columns.iter().position(|&text| text == column).filter(|_| !self.rows.is_empty())?;
        let before = at.checked_sub(1).map(|before| &self.before[before][..]);
        Some(ColumnCuts { rows: &self.rows, before, is_last: at + 1 == self.columns.len(), next: 0, length: None })
    }
}

/// What is cut of a column of texts of a row group.
pub(super) struct ColumnCuts<'c, 's> {
    rows: &'c [(u64, &'s [[u32; 2]])],
    /// The length of the text of each row before this column.
    before: Option<&'c [usize]>,
    /// Whether the text of a row ends in this column.
    is_last: bool,
    /// The next row that is cut, and the length of its text so far if it has begun.
    next: usize,
    length: Option<usize>,
}

impl ColumnCuts<'_, '_> {
    /// Cuts values, which come in order.
    ///
    /// # Errors
    /// They are not those that were read.
    pub fn cut(&mut self, values: Values<'_, ByteArray>) -> io::Result<()> {
        if self.rows.get(self.next).is_none_or(|&(row, _)| row >= values.rows.end) {
            return Ok(());
        }
        let end = values.rows.end;
        let mut failed = None;
        values.each(|row, value| {
            failed = failed.take().or_else(|| self.cut_value(row, value).err());
        });
        failed.map_or(Ok(()), Err)?;
        self.pass(end)
    }

    fn cut_value(&mut self, row: u64, value: &mut ByteArray) -> io::Result<()> {
        self.pass(row)?;
        let Some(&(_, ranges)) = self.rows.get(self.next).filter(|&&(next, _)| next == row) else { return Ok(()) };
        let mut length = self.length.unwrap_or_else(|| self.before.map_or(0, |before| before[self.next]));
        if let Some(left) = snip_value(value.data(), ranges, &mut length).map_err(io::Error::other)? {
            *value = left.into();
        }
        self.length = Some(length);
        Ok(())
    }

    /// Passes the rows before this one: all of their values were cut.
    fn pass(&mut self, row: u64) -> io::Result<()> {
        while let Some(&(_, ranges)) = self.rows.get(self.next).filter(|&&(next, _)| next < row) {
            let length = self.length.take().unwrap_or_else(|| self.before.map_or(0, |before| before[self.next]));
            if self.is_last && ranges.last().is_some_and(|&[_, end]| end as usize > length) {
                return Err(changed());
            }
            self.next += 1;
        }
        Ok(())
    }

    /// Checks that all rows were cut.
    ///
    /// # Errors
    /// There are fewer.
    pub fn finish(self) -> io::Result<()> {
        if self.next < self.rows.len() { Err(changed()) } else { Ok(()) }
    }
}

/// Values of a column in some rows of a row group, whole rows, with their levels.
pub(super) struct Values<'v, T> {
    /// The rows, counted from the first of the row group.
    pub rows: Range<u64>,
    /// The values that are not null.
    pub values: &'v mut Vec<T>,
    /// None if no value can be null.
    pub definition: &'v [i16],
    /// The definition level of a value that is not null.
    pub max_definition: i16,
    /// None if each row has one value.
    pub repetition: &'v [i16],
}

impl<T> Values<'_, T> {
    /// Passes each value that is not null, with its row.
    fn each(self, mut each: impl FnMut(u64, &mut T)) {
        let Values { rows, values, definition, max_definition, repetition } = self;
        let mut row = rows.start;
        let mut values = values.iter_mut();
        for at in 0..definition.len().max(repetition.len()).max(values.len()) {
            let begins = repetition.get(at).is_none_or(|&level| level == 0);
            row += u64::from(begins && at > 0);
            if definition.get(at).is_none_or(|&level| level == max_definition)
                && let Some(value) = values.next()
            {
                each(row, value);
            }
        }
    }
}
