//! A range of rows: pages that are unpacked and decoded into ids and texts.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::sync::Arc;

use super::fault::{Damage, Fault};
use super::footer::{Column, Columns, IdKind, NumberKind, Physical};
use super::page::Page;
use super::values::{Runs, Values};
use crate::source::{Number, ProblemKind, Rank, ReadOptions};

/// A range of rows of a file.
#[derive(Debug)]
pub(in crate::source) struct Rows {
    /// The number of the first one.
    pub(super) first: u64,
    pub(super) count: u64,
    /// A slice for each column of texts.
    pub(super) texts: Vec<Slice>,
    pub(super) id: Option<Slice>,
    pub(super) rank: Option<Slice>,
    pub(super) columns: Arc<Columns>,
    pub(super) limits: Limits,
}

/// Limits of what values expand to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    max_expansion: u64,
    max_record: u64,
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
}

impl Slice {
    pub fn rows(&self) -> u64 {
        self.rows
    }

    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Adds rows of a page, which come after the others.
    pub fn push(&mut self, page: &Arc<Page>, from: u64, count: u64, dictionary: Option<&Arc<Page>>) {
        if self.pages.is_empty() {
            self.skipped = from;
        }
        let share = (u128::from(page.size()) * u128::from(count) / u128::from(page.rows().max(1))) as u64;
        self.bytes = self.bytes.saturating_add(share.max(count));
        self.held += if from == 0 { page.bytes_held() } else { share };
        if self.dictionary.is_none() {
            self.dictionary = dictionary.cloned();
            self.held += dictionary.map_or(0, |page| page.bytes_held());
        }
        self.rows += count;
        // The rows of a page may come in two steps, where the first ones were shorter in all than expected.
        if !self.pages.last().is_some_and(|last| Arc::ptr_eq(last, page)) {
            self.pages.push(Arc::clone(page));
        }
    }
}

/// Why a row, or several, cannot be read.
#[derive(Debug)]
pub(in crate::source) struct Refused<'r> {
    pub kind: ProblemKind,
    pub message: String,
    pub id: Option<Cow<'r, str>>,
}

/// A row that can be read.
pub(in crate::source) struct Record<'r> {
    pub id: Option<Cow<'r, str>>,
    pub rank: Rank,
    /// The texts that are not null, at least one, in the order in which they are joined.
    pub texts: &'r [&'r [u8]],
}

/// A row, or why it cannot be read.
type Read<'r> = Result<Record<'r>, Refused<'r>>;

impl Rows {
    /// Their share of the pages that they are in, in bytes without compression.
    pub fn bytes_unpacked(&self) -> u64 {
        self.texts.iter().chain(&self.id).chain(&self.rank).map(|slice| slice.bytes).sum()
    }

    /// The memory, in bytes.
    pub fn bytes_held(&self) -> u64 {
        self.texts.iter().chain(&self.id).chain(&self.rank).map(|slice| slice.held).sum()
    }

    /// Decodes the wanted rows, in their order. `next` is called once for each row, with its number in the file, and
    /// returns something for those that are wanted, which `each` receives with that number. Rows that cannot be read
    /// because of a damaged page are one.
    pub fn visit<W>(&self, next: &mut dyn FnMut(u64) -> Option<W>, each: &mut dyn FnMut(W, u64, Read<'_>)) {
        let Columns { texts: columns, id: id_column, rank: rank_column, rank_by, .. } = &*self.columns;
        let columns = self.texts.iter().zip(columns);
        let mut columns: Vec<Cells> = columns.map(|(slice, column)| Cells::new(slice, column, self.limits)).collect();
        let ids = self.id.as_ref().zip(id_column.as_ref());
        let mut ids = ids.map(|(slice, (column, kind))| (Cells::new(slice, column, self.limits), *kind));
        let ranks = self.rank.as_ref().zip(rank_column.as_ref());
        let mut ranks = ranks.map(|(slice, (column, kind))| (Cells::new(slice, column, self.limits), *kind));
        let (mut row, mut scratch) = (0, String::new());
        while row < self.count {
            let number = self.first + row;
            let (wanted, at) = (next(number), row);
            row += 1;
            let Some(wanted) = wanted else { continue };
            let id = ids.as_mut().map(|(cells, kind)| Ok(cells.at(at)?.map(|value| shown(value, *kind, &mut scratch))));
            let value = ranks.as_mut().map(|(cells, kind)| Ok(cells.at(at)?.and_then(|value| ranking(value, *kind))));
            let texts: Result<Vec<&[u8]>, Broken> =
                columns.iter_mut().filter_map(|cells| cells.at(at).transpose()).collect();
            let broken = match (id.transpose(), value.transpose(), texts) {
                (Ok(id), Ok(value), Ok(texts)) => {
                    let (id, rank) = (id.flatten(), rank_by.rank(value.flatten()));
                    let record = match texts.is_empty() {
                        false => Ok(Record { id, rank, texts: &texts }),
                        true => Err(self.null(id)),
                    };
                    each(wanted, number, record);
                    continue;
                }
                (Err(broken), ..) | (_, Err(broken), _) | (.., Err(broken)) => broken,
            };
            let last = broken.last.min(self.count - 1);
            (row..=last).for_each(|row| _ = next(self.first + row));
            row = last + 1;
            let fault = Fault::from(broken.damage);
            let rows = match last - at {
                0 => "it".to_string(),
                more => format!("rows {number} to {}", number + more),
            };
            let message = format!("{rows} cannot be read: {}", fault.message);
            each(wanted, number, Err(Refused { kind: fault.kind, message, id: None }));
        }
    }

    fn null<'r>(&self, id: Option<Cow<'r, str>>) -> Refused<'r> {
        Refused { kind: ProblemKind::Text, message: self.columns.null.clone(), id }
    }
}

/// A value as a number.
fn ranking(value: &[u8], kind: NumberKind) -> Option<Number> {
    let mut bytes = [0; 8];
    let length = value.len().min(8);
    bytes[..length].copy_from_slice(&value[..length]);
    let word = u64::from_le_bytes(bytes);
    let is_short = value.len() == 4;
    Some(match kind {
        NumberKind::Text => Number::parse(std::str::from_utf8(value).ok()?)?,
        NumberKind::Signed => Number::Integer(if is_short { i128::from(word as i32) } else { i128::from(word as i64) }),
        NumberKind::Unsigned => Number::Integer(word.into()),
        NumberKind::Float if is_short => Number::Float(f32::from_bits(word as u32).into()),
        NumberKind::Float => Number::Float(f64::from_bits(word)),
    })
    .filter(|number| !matches!(number, Number::Float(float) if float.is_nan()))
}

/// A value as an id.
fn shown<'v>(value: &'v [u8], kind: IdKind, scratch: &'v mut String) -> Cow<'v, str> {
    let mut bytes = [0; 16];
    let length = value.len().min(16);
    bytes[..length].copy_from_slice(&value[..length]);
    let number = u128::from_le_bytes(bytes);
    scratch.clear();
    _ = match (kind, value.len()) {
        (IdKind::Text, _) => return String::from_utf8_lossy(value),
        (IdKind::Signed, 4) => write!(scratch, "{}", number as i32),
        (IdKind::Signed, _) => write!(scratch, "{}", number as i64),
        (IdKind::Unsigned, _) => write!(scratch, "{number}"),
        (IdKind::Uuid, _) => {
            let hex = |range: std::ops::Range<usize>| {
                bytes[range].iter().map(|byte| format!("{byte:02x}")).collect::<String>()
            };
            let parts = [hex(0..4), hex(4..6), hex(6..8), hex(8..10), hex(10..16)];
            write!(scratch, "{}", parts.join("-"))
        }
    };
    Cow::Borrowed(scratch)
}

/// A value that cannot be read.
struct Broken {
    damage: Damage,
    /// The last row of its page, counted from the first of the range.
    last: u64,
}

/// The values of a slice.
struct Cells<'p> {
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
    fn new(slice: &'p Slice, column: &'p Column, limits: Limits) -> Self {
        Cells { slice, column, limits, pages: 0, start: 0, end: 0, page: None }
    }

    /// The value in a row of the range; `None` if it is null. Rows come in ascending order; after a broken one, those of
    /// its page are not asked for.
    fn at(&mut self, row: u64) -> Result<Option<&[u8]>, Broken> {
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
            let opened = PageCells::new(self.slice, self.pages - 1, self.column, self.limits);
            let mut page = opened.map_err(broken)?;
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
struct PageCells<'p> {
    max_level: u32,
    levels: Runs<'p>,
    values: Values<'p>,
    row: u64,
    /// What the values may still be long together; `None` if they are never longer than their page.
    left: Option<u64>,
}

impl<'p> PageCells<'p> {
    fn new(slice: &'p Slice, page: usize, column: &Column, limits: Limits) -> Result<Self, Damage> {
        let (page, max_level, physical) = (&slice.pages[page], column.max_level, column.physical);
        let content = page.levels_and_values(0, max_level)?;
        let dictionary = match (&slice.dictionary, page.encoding()) {
            (Some(dictionary), 2 | 8) => Some(dictionary.dictionary(physical)?),
            _ => None,
        };
        let levels = Runs::new(content.definition, u32::BITS - max_level.leading_zeros())?;
        let values = Values::new(page.encoding(), content.values, physical, dictionary, page.rows())?;
        let repeats = physical == Physical::Bytes && values.may_repeat();
        let left = repeats.then(|| limits.of_page(page, slice.dictionary.as_ref()));
        Ok(PageCells { max_level, levels, values, row: 0, left })
    }

    /// The value of a row, which is not before the next.
    fn at(&mut self, row: u64) -> Result<Option<&[u8]>, Damage> {
        while self.row < row {
            self.next()?;
        }
        self.next()
    }

    fn next(&mut self) -> Result<Option<&[u8]>, Damage> {
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
