//! The columns of a file that are not read, checked before a copy is made of them: page by page, on any thread.
//!
//! The reading thread walks the headers of their pages, as of those that are read, and hands out pages ([`Unread::next`]).
//! Any thread decodes them ([`Checks::problems`]). What is found is kept, so that a later reading of the file repeats it without
//! the pages.

use std::fs;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock};

use ::parquet::file::reader::{FileReader, SerializedFileReader};

use super::check::{self, Column, MORE_VALUES, OTHER_ROWS};
use super::fault::Fault;
use super::page::{Expansion, Page, Pages};
use crate::source::{Place, Problem, ProblemKind, ReadOptions, Severity};

/// What is wrong with a file that is checked.
#[derive(Clone, Debug)]
pub(in crate::source) struct Found {
    /// The number of the first row, if it is in rows.
    row: Option<u64>,
    kind: ProblemKind,
    pub message: String,
}

impl Found {
    /// A file is not damaged, as far as it was checked, but no copy without some of its rows can be made.
    fn uncopied(row: Option<u64>, why: &str) -> Self {
        let message = format!("copied whole, because no copy without some of its rows can be made: {why}");
        Found { row, kind: ProblemKind::Uncopied, message }
    }

    /// The problem with the file of this path.
    pub fn problem(&self, path: &Arc<str>) -> Problem {
        let severity = if self.kind == ProblemKind::Uncopied { Severity::Deferred } else { Severity::Failed };
        Problem::at(Place { path: Arc::clone(path), line: self.row }, severity, self.kind, self.message.clone())
    }
}

/// What was found by [`Checks`], once any thread has done them.
pub(in crate::source) type Outcome = Arc<OnceLock<Vec<Found>>>;

/// Pages to be checked.
#[derive(Debug, Default)]
pub(in crate::source) struct Checks {
    pages: Vec<Unchecked>,
    outcome: Outcome,
    bytes_held: u64,
    /// The size of the pages without compression.
    bytes: u64,
}

/// A page, or what is wrong already.
#[derive(Debug)]
enum Unchecked {
    Page {
        column: Arc<Column>,
        page: Arc<Page>,
        dictionary: Option<Arc<Page>>,
        /// Whether it is the first page of its column in a row group: it alone reports that the dictionary is damaged.
        is_first: bool,
        /// The numbers of its first and its last row.
        rows: (u64, u64),
    },
    Found(Found),
}

impl Checks {
    /// The same checks without pages, for what a thread has found before.
    pub fn again(outcome: &Outcome) -> Self {
        Checks { outcome: Arc::clone(outcome), ..Checks::default() }
    }

    /// Where what is found will be.
    pub fn outcome(&self) -> &Outcome {
        &self.outcome
    }

    /// The memory, in bytes.
    pub fn bytes_held(&self) -> u64 {
        self.bytes_held
    }

    /// The size of the pages without compression, in bytes.
    pub fn bytes_unpacked(&self) -> u64 {
        self.bytes
    }

    /// What is wrong, in the order of the file. Decodes the pages, unless a thread has done so.
    pub fn problems(&self) -> &[Found] {
        self.outcome.get_or_init(|| self.pages.iter().filter_map(Unchecked::check).collect())
    }

    fn push(&mut self, page: Unchecked) {
        if let Unchecked::Page { page, dictionary, .. } = &page {
            let last = match self.pages.last() {
                Some(Unchecked::Page { dictionary, .. }) => dictionary.as_ref(),
                _ => None,
            };
            let new = dictionary.as_ref().filter(|new| !last.is_some_and(|last| Arc::ptr_eq(last, new)));
            self.bytes += page.size();
            self.bytes_held += page.bytes_held() + new.map_or(0, |dictionary| dictionary.bytes_held());
        }
        self.bytes_held += size_of::<Unchecked>() as u64;
        self.pages.push(page);
    }
}

impl Unchecked {
    fn check(&self) -> Option<Found> {
        match self {
            Unchecked::Found(found) => Some(found.clone()),
            Unchecked::Page { column, page, dictionary, is_first, rows } => {
                let dictionary = dictionary.as_deref();
                if !is_first && dictionary.is_some_and(|dictionary| !column.can_decode(dictionary)) {
                    return None;
                }
                let damage = column.check(page, dictionary).err()?;
                Some(found(&column.name, *rows, &damage.into()))
            }
        }
    }
}

/// What is found if a column cannot be read in these rows: what is too long is not damaged, but was not checked.
pub(super) fn found(column: &str, (first, last): (u64, u64), fault: &Fault) -> Found {
    let rows = if first >= last { format!("row {first}") } else { format!("rows {first} to {last}") };
    let message = format!("column '{column}' of {rows} cannot be read: {}", fault.message);
    match fault.kind {
        ProblemKind::TooLong => Found::uncopied(Some(first), &message),
        _ => Found { row: Some(first), kind: ProblemKind::DamagedColumn, message },
    }
}

/// The columns of a file that are not read.
pub(super) struct Unread<'f> {
    file: &'f fs::File,
    /// Where the metadata begins.
    end: u64,
    /// What copies are made by; `None` if it refuses the file, of which no column is checked then.
    reader: Option<SerializedFileReader<fs::File>>,
    /// Every column.
    columns: Arc<[Arc<Column>]>,
    /// The numbers of those that are read.
    read: Vec<u64>,
    /// What was found so far, and was not handed out.
    found: Vec<Found>,
    /// Whether all of them are left out.
    has_ended: bool,
    /// The next row group, its first row, and the next column in it.
    group: usize,
    first: u64,
    column: usize,
    open: Option<Open<'f>>,
    /// The bytes of the columns so far. No part of a file is checked twice.
    column_bytes: u64,
    /// The bytes of the pages so far.
    packed: u64,
}

/// A column of a row group.
struct Open<'f> {
    column: Arc<Column>,
    pages: Pages<'f>,
    expansion: Expansion,
    /// The number of values that are in no page so far.
    left: u64,
    /// The first row of the row group, the number of rows in it, and of those that began in pages so far.
    first: u64,
    rows: u64,
    begun: u64,
}

impl<'f> Unread<'f> {
    /// Those of a file whose metadata begins at `end`, but for these, which are read.
    pub fn new(file: &'f fs::File, end: u64, read: Vec<u64>) -> Self {
        let (reader, found) = match open(file) {
            Ok(reader) => (Some(reader), Vec::new()),
            Err(error) => (None, vec![Found::uncopied(None, &error.to_string())]),
        };
        let schema = reader.as_ref().map(|reader| reader.metadata().file_metadata().schema_descr());
        let columns = schema.map_or(&[][..], |schema| schema.columns());
        let columns = columns.iter().map(|column| Arc::new(Column::new(column))).collect();
        let (group, column, column_bytes, packed, open) = Default::default();
        let (has_ended, first) = (false, 1);
        Unread { file, end, reader, columns, read, found, has_ended, group, first, column, open, column_bytes, packed }
    }

    /// Every column, in the order of the file.
    pub fn columns(&self) -> Arc<[Arc<Column>]> {
        Arc::clone(&self.columns)
    }

    /// The number of bytes of pages so far.
    pub fn packed(&self) -> u64 {
        self.packed
    }

    /// Notes that a column that was read is damaged in these rows, where nothing of it is read. No effect after [`Unread::end`],
    /// or if no copy can be made anyway.
    pub fn note(&mut self, column: u64, rows: (u64, u64), fault: &Fault) {
        if self.has_ended || self.reader.is_none() {
            return;
        }
        let name = self.columns.get(column as usize).map_or("", |column| &column.name);
        self.found.push(found(name, rows, fault));
    }

    /// Leaves out all of them, and what is noted later.
    pub fn end(&mut self) {
        (self.has_ended, self.group, self.open) = (true, usize::MAX, None);
        self.found.clear();
    }

    /// The next pages, about as many as are in a batch.
    pub fn next(&mut self, options: &ReadOptions) -> Option<Checks> {
        let mut checks = Checks::default();
        self.found.drain(..).for_each(|found| checks.push(Unchecked::Found(found)));
        while checks.bytes_held < options.batch_bytes as u64 {
            let Some(page) = self.next_page(options) else { break };
            checks.push(page);
        }
        (!checks.pages.is_empty()).then_some(checks)
    }

    fn next_page(&mut self, options: &ReadOptions) -> Option<Unchecked> {
        loop {
            let next = match &mut self.open {
                Some(open) => open.next(options),
                None => match self.open_next()? {
                    Ok(open) => {
                        self.open = Some(open);
                        continue;
                    }
                    Err(found) => return Some(Unchecked::Found(found)),
                },
            };
            match next {
                Ok(Some(page)) => {
                    if let Unchecked::Page { page, .. } = &page {
                        self.packed += page.packed_size();
                    }
                    return Some(page);
                }
                Ok(None) => self.open = None,
                Err(fault) => {
                    let open = self.open.take()?;
                    let rows = (open.first + open.begun.min(open.rows - 1), open.first + open.rows - 1);
                    return Some(Unchecked::Found(found(&open.column.name, rows, &fault)));
                }
            }
        }
    }

    /// Opens the next column that is not read, in a row group that has rows.
    fn open_next(&mut self) -> Option<Result<Open<'f>, Found>> {
        let metadata = self.reader.as_ref()?.metadata();
        loop {
            let group = metadata.row_groups().get(self.group)?;
            let rows = u64::try_from(group.num_rows()).unwrap_or(0);
            if self.column >= group.num_columns().min(self.columns.len()) || rows == 0 {
                (self.group, self.column, self.first) = (self.group + 1, 0, self.first.checked_add(rows)?);
                continue;
            }
            let number = self.column;
            self.column += 1;
            if self.read.contains(&(number as u64)) {
                continue;
            }
            let (column, first) = (Arc::clone(&self.columns[number]), self.first);
            let opened = check::chunk(self.end, group.column(number)).and_then(|chunk| {
                self.column_bytes = self.column_bytes.saturating_add(chunk.length);
                if self.column_bytes > self.end {
                    return Err("a column overlaps another".into());
                }
                let (mut pages, left) = (Pages::new(self.file, chunk)?, chunk.values);
                pages.refuses_others = true;
                let (expansion, begun) = Default::default();
                Ok(Open { column: Arc::clone(&column), pages, expansion, left, first, rows, begun })
            });
            return Some(opened.map_err(|damage| found(&column.name, (first, first + rows - 1), &damage.into())));
        }
    }
}

/// Opens a file as for a copy. A panic of the decoder of its metadata, which is not ours, is an error where panics unwind.
fn open(file: &fs::File) -> io::Result<SerializedFileReader<fs::File>> {
    let file = file.try_clone()?;
    let opened = catch_unwind(AssertUnwindSafe(|| SerializedFileReader::new(file)));
    let reader = opened.map_err(|_| io::Error::other("its metadata is damaged"))??;
    check::metadata(reader.metadata())?;
    Ok(reader)
}

impl Open<'_> {
    /// The next page; `None` after the last one.
    fn next(&mut self, options: &ReadOptions) -> Result<Option<Unchecked>, Fault> {
        if self.left == 0 {
            if self.begun != self.rows {
                return Err(OTHER_ROWS.into());
            }
            self.pages.finish(&mut self.expansion, options)?;
            return Ok(None);
        }
        let is_first = self.begun == 0;
        let page = self.pages.next(&mut self.expansion, options)?;
        self.left = self.left.checked_sub(page.rows()).ok_or(MORE_VALUES)?;
        let starts = page.starts(self.column.max_repetition)?;
        let before = self.begun + u64::from(!starts.goes_on);
        self.begun += starts.rows;
        let rows = (self.first + before.max(1) - 1, self.first + self.begun.max(1) - 1);
        let dictionary = self.pages.dictionary.clone();
        Ok(Some(Unchecked::Page { column: Arc::clone(&self.column), page, dictionary, is_first, rows }))
    }
}
