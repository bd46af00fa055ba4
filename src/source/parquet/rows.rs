//! A range of rows: their values as ids and texts.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt::Write as _;
use std::sync::Arc;

use super::cells::{Broken, Cells, Limits, Slice};
use super::check;
use super::choices::ChosenCells;
use super::fault::Fault;
use super::footer::{Columns, IdKind, NumberKind};
use super::lists::ListCells;
use super::unread::found;
use crate::source::fields::joined_id;
use crate::source::ranking::{FieldRules, FieldValue};
use crate::source::{Number, ProblemKind};

/// A range of rows of a file.
#[derive(Debug)]
pub(in crate::source) struct Rows {
    /// The number of the first one.
    pub(super) first: u64,
    pub(super) count: u64,
    /// A slice for each column of texts.
    pub(super) texts: Vec<Slice>,
    /// A slice for each column of the id.
    pub(super) ids: Vec<Slice>,
    /// A slice for each column that ranks rows.
    pub(super) ranks: Vec<Slice>,
    pub(super) columns: Arc<Columns>,
    pub(super) limits: Limits,
    /// Whether each row that cannot be read counts; otherwise those that follow each other are one.
    pub(super) is_credible: bool,
    /// Every column of the file, if pages are checked for a copy of it.
    pub(super) checks: Option<Arc<[Arc<check::Column>]>>,
}

/// Why a row, or several, cannot be read.
#[derive(Debug)]
pub(in crate::source) struct Refused<'r> {
    pub kind: ProblemKind,
    pub message: String,
    pub id: Option<Cow<'r, str>>,
    /// The number of rows, from this one on.
    pub rows: u64,
}

/// A row that can be read.
pub(in crate::source) struct Record<'r> {
    pub id: Option<Cow<'r, str>>,
    /// The values of the fields of the rules.
    pub values: &'r [FieldValue<'r>],
    pub rules: &'r FieldRules,
    /// The texts that are not null, at least one, in the order in which they are joined.
    pub texts: &'r [&'r [u8]],
}

/// A row, or why it cannot be read.
type Read<'r> = Result<Record<'r>, Refused<'r>>;

impl Rows {
    /// Their share of the pages that they are in, in bytes without compression.
    pub fn bytes_unpacked(&self) -> u64 {
        self.texts.iter().chain(&self.ids).chain(&self.ranks).map(Slice::bytes).sum()
    }

    /// The memory, in bytes.
    pub fn bytes_held(&self) -> u64 {
        self.texts.iter().chain(&self.ids).chain(&self.ranks).map(Slice::bytes_held).sum()
    }

    /// Decodes the wanted rows, in their order. `next` is called once for each row, with its number in the file, and
    /// returns something for those that are wanted, which `each` receives with that number. Rows that cannot be read
    /// because of a damaged page are one.
    ///
    /// If pages are checked, and all rows are wanted and could be read, what a copy would lack is one more record that cannot be
    /// read, with the last of them.
    pub fn visit<W: Copy>(&self, next: &mut dyn FnMut(u64) -> Option<W>, each: &mut dyn FnMut(W, u64, Read<'_>)) {
        let Columns { ids: id_columns, ranks: rank_columns, rules, values: known, choices, .. } = &*self.columns;
        let mut columns: Vec<Texts> = (0..choices.len()).map(|at| self.texts_of(at)).collect();
        let mut seen = SeenStrings::default();
        let ids = self.ids.iter().zip(id_columns);
        let mut ids: Vec<(Cells, IdKind)> =
            ids.map(|(slice, (column, kind))| (Cells::new(slice, column, self.limits), *kind)).collect();
        let ranks = self.ranks.iter().zip(rank_columns);
        let mut ranks: Vec<(Cells, NumberKind)> =
            ranks.map(|(slice, (column, kind))| (Cells::new(slice, column, self.limits), *kind)).collect();
        let (mut row, mut scratch) = (0, String::new());
        let (mut last_wanted, mut is_checked) = (None, true);
        while row < self.count {
            let number = self.first + row;
            let (wanted, at) = (next(number), row);
            row += 1;
            last_wanted = wanted;
            let Some(wanted) = wanted else {
                is_checked = false;
                continue;
            };
            let id = id_at(&mut ids, at, &mut scratch);
            let values = values_at(&mut ranks, known, at);
            let mut texts: Vec<&[u8]> = Vec::new();
            seen.clear();
            let read = columns.iter_mut().try_for_each(|column| column.read(at, &mut seen, &mut texts));
            let broken = match (id, values, read) {
                (Ok(id), Ok(values), Ok(())) => {
                    let record = match texts.is_empty() {
                        false => Ok(Record { id, values: &values, rules, texts: &texts }),
                        true => Err(self.null(id)),
                    };
                    each(wanted, number, record);
                    continue;
                }
                (Err(broken), ..) | (_, Err(broken), _) | (.., Err(broken)) => broken,
            };
            is_checked = false;
            let last = broken.last.min(self.count - 1);
            (row..=last).for_each(|row| _ = next(self.first + row));
            row = last + 1;
            let fault = Fault::from(broken.damage);
            let rows = match last - at {
                0 => "it".to_string(),
                more => format!("rows {number} to {}", number + more),
            };
            let message = format!("{rows} cannot be read: {}", fault.message);
            let (kind, rows) = match last - at + 1 {
                2.. if !self.is_credible => (ProblemKind::Damaged, 1),
                rows => (fault.kind, rows),
            };
            each(wanted, number, Err(Refused { kind, message, id: None, rows }));
        }
        if let Some(wanted) = last_wanted.filter(|_| is_checked) {
            self.check(&mut |row, message| {
                each(wanted, row, Err(Refused { kind: ProblemKind::DamagedColumn, message, id: None, rows: 1 }));
            });
        }
    }

    /// The column of texts with this number.
    fn texts_of(&self, at: usize) -> Texts<'_> {
        let Columns { texts: columns, choices, .. } = &*self.columns;
        let (slice, column, limits) = (&self.texts[at], &columns[at], self.limits);
        // What two paths choose of the same column counts once.
        let is_shared = (0..choices.len()).any(|other| other != at && columns[other].ordinal == column.ordinal);
        let shared = is_shared.then_some(column.ordinal);
        let cells = match (column.max_repetition, &choices[at][..]) {
            (0, _) => TextCells::One(Cells::new(slice, column, limits)),
            (_, []) => TextCells::Any(ListCells::new(slice, column, limits).numbered(is_shared)),
            (_, choices) => {
                TextCells::Chosen(ChosenCells::new(at, choices, &self.texts, columns, limits).numbered(is_shared))
            }
        };
        Texts { shared, cells }
    }

    /// Checks the pages of which these are the last rows, and passes what is wrong with a column to a function.
    fn check(&self, each: &mut dyn FnMut(u64, String)) {
        let Some(all) = &self.checks else { return };
        let slices = self.texts.iter().chain(&self.ids).chain(&self.ranks);
        for (slice, ordinal) in slices.zip(self.columns.ordinals()) {
            let Some(column) = all.get(ordinal as usize) else { continue };
            let checked = slice.ended().try_for_each(|page| column.check(page, slice.dictionary()).map(drop));
            if let Err(damage) = checked {
                let rows = (self.first, self.first + self.count - 1);
                each(self.first, found(&column.name, rows, &damage.into()).message);
            }
        }
    }

    fn null<'r>(&self, id: Option<Cow<'r, str>>) -> Refused<'r> {
        Refused { kind: ProblemKind::Text, message: self.columns.null.clone(), id, rows: 1 }
    }
}

/// The number of 1 January 1970 among the days that 96-bit times count from 4714 BC on (Julian days).
const DAY_OF_1970: i128 = 2_440_588;
const NANOSECONDS_OF_DAY: i128 = 86_400_000_000_000;

/// The values in a row of the fields that rank it, from those of these columns, and from those that are the same in every row.
fn values_at<'v>(
    columns: &'v mut [(Cells<'_>, NumberKind)],
    known: &[Option<FieldValue<'static>>],
    row: u64,
) -> Result<Vec<FieldValue<'v>>, Broken> {
    let mut columns = columns.iter_mut();
    let value = |known: &Option<FieldValue<'static>>| match known {
        Some(value) => Ok(value.clone()),
        None => {
            let Some((cells, kind)) = columns.next() else { unreachable!("a column for each field that is read") };
            Ok(cells.at(row)?.map_or(FieldValue::Missing, |value| ranking(value, *kind)))
        }
    };
    known.iter().map(value).collect()
}

/// A value as a number, a time, a text or a boolean.
fn ranking(value: &[u8], kind: NumberKind) -> FieldValue<'_> {
    let mut bytes = [0; 16];
    let length = value.len().min(16);
    bytes[..length].copy_from_slice(&value[..length]);
    let wide = u128::from_le_bytes(bytes);
    let word = wide as u64;
    let is_short = value.len() == 4;
    let signed = if is_short { i128::from(word as i32) } else { i128::from(word as i64) };
    FieldValue::Number(match kind {
        NumberKind::Text => return FieldValue::Text(String::from_utf8_lossy(value)),
        NumberKind::Bool => return FieldValue::Bool(value != [0]),
        NumberKind::Signed => Number::Integer(signed),
        NumberKind::Time { unit } => Number::Time(signed * i128::from(unit)),
        NumberKind::DayAndTime => {
            let days = i128::from((wide >> 64) as i32) - DAY_OF_1970;
            Number::Time(days * NANOSECONDS_OF_DAY + i128::from(word as i64))
        }
        NumberKind::Unsigned => Number::Integer(word.into()),
        NumberKind::Float if is_short => return FieldValue::Single(f32::from_bits(word as u32)),
        NumberKind::Half => return FieldValue::Single(of_half(word as u16)),
        NumberKind::Float => Number::Float(f64::from_bits(word)),
    })
}

/// The floating-point number with these 16 bits: a sign, 5 bits of the exponent, and 10 of the fraction.
fn of_half(bits: u16) -> f32 {
    let (exponent, fraction) = (i32::from(bits >> 10 & 0x1f), f32::from(bits & 0x3ff));
    let size = match exponent {
        0 => fraction * 2f32.powi(-24),
        31 if fraction == 0.0 => f32::INFINITY,
        31 => f32::NAN,
        _ => (1024.0 + fraction) * 2f32.powi(exponent - 25),
    };
    if bits >> 15 == 1 { -size } else { size }
}

/// The id in a row, from the values of these columns.
fn id_at<'v>(
    columns: &'v mut [(Cells<'_>, IdKind)],
    row: u64,
    scratch: &'v mut String,
) -> Result<Option<Cow<'v, str>>, Broken> {
    match columns {
        [(cells, kind)] => Ok(cells.at(row)?.map(|value| shown(value, *kind, scratch))),
        columns => {
            let mut values = Vec::with_capacity(columns.len());
            for (cells, kind) in columns {
                values.push(cells.at(row)?.map(|value| Cow::Owned(shown(value, *kind, scratch).into_owned())));
            }
            Ok(joined_id(values.into_iter()))
        }
    }
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

/// A column of texts.
struct Texts<'p> {
    /// The number of the column in the file, if another path leads to it, too.
    shared: Option<u64>,
    cells: TextCells<'p>,
}

enum TextCells<'p> {
    /// With at most one text in a row.
    One(Cells<'p>),
    Any(ListCells<'p>),
    Chosen(ChosenCells<'p>),
}

/// The greatest capacity of a set that is cleared: clearing takes time for all of it, in each row after a long one.
const KEPT_CAPACITY: usize = 1024;

/// The texts of a row that were added before: the number of the column in the file, and that of the value in the row.
#[derive(Default)]
struct SeenStrings(HashSet<(u64, u64)>);

impl SeenStrings {
    /// Begins a row.
    fn clear(&mut self) {
        match self.0.capacity() > KEPT_CAPACITY {
            true => self.0 = HashSet::new(),
            false => self.0.clear(),
        }
    }

    /// Whether a value of a column was not added before; one of a column to which a single path leads never was.
    fn is_new(&mut self, shared: Option<u64>, value: u64) -> bool {
        shared.is_none_or(|column| self.0.insert((column, value)))
    }
}

impl Texts<'_> {
    /// Adds the texts in a row that were not added before. Rows come in ascending order.
    fn read<'t>(&'t mut self, row: u64, seen: &mut SeenStrings, texts: &mut Vec<&'t [u8]>) -> Result<(), Broken> {
        let shared = self.shared;
        match &mut self.cells {
            TextCells::One(cells) => texts.extend(cells.at(row)?.filter(|_| seen.is_new(shared, 0))),
            TextCells::Any(cells) => {
                cells.read(row)?;
                texts.extend(cells.texts().filter(|(value, _)| seen.is_new(shared, *value)).map(|(_, text)| text));
            }
            TextCells::Chosen(cells) => {
                cells.read(row)?;
                texts.extend(cells.texts().filter(|(value, _)| seen.is_new(shared, *value)).map(|(_, text)| text));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(feature = "arrow")]
    #[test]
    fn every_number_of_16_bits() {
        use arrow_array::types::{ArrowPrimitiveType, Float16Type};
        for bits in 0..=u16::MAX {
            let expected = f32::from(<<Float16Type as ArrowPrimitiveType>::Native>::from_bits(bits));
            let found = of_half(bits);
            assert!(found.is_nan() && expected.is_nan() || found.to_bits() == expected.to_bits(), "{bits:x}: {found}");
        }
    }

    #[test]
    fn the_rows_after_a_long_one_do_not_clear_its_capacity() {
        let mut seen = SeenStrings::default();
        assert!((0..50_000).all(|value| seen.is_new(Some(7), value)));
        assert!(!seen.is_new(Some(7), 3) && seen.is_new(Some(8), 3) && seen.is_new(None, 3));
        seen.clear();
        assert!(seen.0.capacity() <= KEPT_CAPACITY, "{}", seen.0.capacity());
        assert!(seen.is_new(Some(7), 3) && !seen.is_new(Some(7), 3));
        seen.clear();
        assert!(seen.is_new(Some(7), 3));
    }
}
