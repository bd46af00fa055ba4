//! Chosen elements of lists: one by its number, or those whose struct has a text in another column.
//!
//! The columns of a list have one value for each element, null or not, so the values of one decide about those of another as
//! both are passed. Nothing of a row is kept: the elements of a list that count from its end are counted before, by passing them
//! twice.

use super::cells::{Broken, Limits, Slice};
use super::footer::Column;
use super::lists::ListCells;
use super::taken::{Choice, Taken};

/// The values of a slice in chosen elements.
pub(super) struct ChosenCells<'p> {
    cells: ListCells<'p>,
    lists: Vec<List<'p>>,
}

/// The current list of a level.
struct List<'p> {
    level: u32,
    /// The number of the current element.
    at: u64,
    taken: Elements<'p>,
    is_taken: bool,
}

enum Elements<'p> {
    At(u64),
    FromEnd {
        back: u64,
        /// What counts the elements of a list before they are read.
        ahead: Box<ListCells<'p>>,
        wanted: Option<u64>,
    },
    Where {
        keys: Box<ListCells<'p>>,
        value: &'p [u8],
    },
}

impl<'p> ChosenCells<'p> {
    /// The texts of a column, by its number among all that are read.
    pub fn new(at: usize, choices: &'p [Choice], slices: &'p [Slice], columns: &'p [Column], limits: Limits) -> Self {
        let cells = |at: usize| ListCells::new(&slices[at], &columns[at], limits);
        let list = |choice: &'p Choice| {
            let taken = match &choice.taken {
                Taken::At(number) => Elements::At(*number),
                Taken::FromEnd(back) => Elements::FromEnd { back: *back, ahead: Box::new(cells(at)), wanted: None },
                Taken::Where { column, value } => {
                    Elements::Where { keys: Box::new(cells(*column)), value: value.as_bytes() }
                }
            };
            List { level: choice.level, at: 0, taken, is_taken: false }
        };
        ChosenCells { cells: cells(at), lists: choices.iter().map(list).collect() }
    }

    /// Whether the numbers of texts are kept.
    pub fn numbered(self, is_numbered: bool) -> Self {
        ChosenCells { cells: self.cells.numbered(is_numbered), ..self }
    }

    /// Reads the texts in a row of the range, as [`ListCells::read`] does.
    pub fn read(&mut self, row: u64) -> Result<(), Broken> {
        self.cells.begin(row)?;
        for list in &mut self.lists {
            match &mut list.taken {
                Elements::At(_) => {}
                Elements::FromEnd { ahead: cells, .. } | Elements::Where { keys: cells, .. } => cells.begin(row)?,
            }
        }
        while let Some(level) = self.cells.peek(row)? {
            self.lists.iter_mut().try_for_each(|list| list.advance(row, level))?;
            self.cells.pass(row, self.lists.iter().all(|list| list.is_taken))?;
        }
        Ok(())
    }

    /// The texts of the row that was read, with their numbers, as [`ListCells::texts`] returns them.
    pub fn texts(&self) -> impl Iterator<Item = (u64, &[u8])> {
        self.cells.texts()
    }
}

impl List<'_> {
    /// Goes to the element that the next value is in, which has this repetition level.
    fn advance(&mut self, row: u64, level: u32) -> Result<(), Broken> {
        if level > self.level {
            return Ok(());
        }
        let is_new_list = level < self.level;
        self.at = if is_new_list { 0 } else { self.at + 1 };
        self.is_taken = match &mut self.taken {
            Elements::At(number) => *number == self.at,
            Elements::FromEnd { back, ahead, wanted } => {
                if is_new_list {
                    *wanted = count(ahead, row, self.level)?.checked_sub(*back);
                }
                *wanted == Some(self.at)
            }
            Elements::Where { keys, value } => keys.pass_if_equal(row, level, value)?,
        };
        Ok(())
    }
}

/// The number of elements of the list that begins here, which are passed.
fn count(cells: &mut ListCells, row: u64, level: u32) -> Result<u64, Broken> {
    let mut elements = 1;
    cells.peek(row)?;
    cells.pass(row, false)?;
    while let Some(next) = cells.peek(row)?.filter(|next| *next >= level) {
        elements += u64::from(next == level);
        cells.pass(row, false)?;
    }
    Ok(elements)
}
