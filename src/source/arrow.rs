//! The memory format of Arrow: the texts and ids of record batches. [`ArrowTable`](super::ArrowTable) makes documents of them.
//!
//! A row is a document, as in Parquet: a row whose texts are all null is a problem, several columns of texts are joined, and
//! a row with a null id is identified by its position. A table without a column of ids has positions as ids, from 0.
//!
//! | file | one idea |
//! |---|---|
//! | `text` | a column of strings, in any layout |
//! | `nested` | the texts of a row in structs and lists |
//! | `values` | ids, and values that rank rows |

mod nested;
mod text;
mod values;

pub use text::TextColumn;

use super::fields::{joined_id, null_column};
use super::ranking::{FieldRules, FieldValue};
use super::{FieldPath, ReadOptions};
use crate::error::Error;
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::DataType;
use nested::{Missing, Texts, column, resolve};
use std::collections::HashSet;
use std::sync::Arc;
use values::Values;

/// What stands before the number of a row in its `Place`: rows are `row:0`, `row:1`, …
pub(super) const ROW: &str = "row";

/// The wanted columns of a record batch.
#[derive(Debug)]
pub(super) struct Columns {
    texts: Vec<Texts>,
    /// For each of them, the first one of the same column. If it is another one, they choose elements of lists, and one that both
    /// choose counts once.
    groups: Vec<usize>,
    /// Those of the id; none unless all are there.
    ids: Vec<Values>,
    /// What ranks rows, and the columns of its fields that are there.
    rules: FieldRules,
    ranks: Vec<Option<Values>>,
    /// The problem of rows without a text.
    null: Arc<str>,
}

/// A range of rows of a record batch.
#[derive(Debug)]
pub(super) struct Rows {
    pub columns: Arc<Columns>,
    /// The number of the first one in the table.
    pub first: u64,
    /// The id of the first row of a table without ids.
    pub first_id: u64,
    /// The number of the first one in the record batch.
    pub start: usize,
    pub count: usize,
    /// The bytes of their texts.
    pub bytes: u64,
}

/// A row.
pub(super) struct Row<'r> {
    /// The number in the table.
    pub number: u64,
    /// `None` if the id is null.
    pub id: Option<Id<'r>>,
    /// The values of the fields of the rules.
    pub values: &'r [FieldValue<'r>],
    pub rules: &'r FieldRules,
    /// The texts that are not null, in the order in which they are joined.
    pub texts: &'r [&'r str],
    /// The problem of a row without a text.
    pub null: &'r str,
}

/// The id of a row.
pub(super) enum Id<'r> {
    Text(&'r str),
    Number(i128),
}

/// The wanted columns of a schema.
pub(super) struct Wanted<'w> {
    options: &'w ReadOptions,
    /// The paths of texts, and those by which their columns are read.
    texts: Vec<(&'w FieldPath, FieldPath)>,
    /// The columns of texts that are not there, and what to add about them.
    pub missing: Vec<(&'w FieldPath, String)>,
    /// The messages about columns that are read and have the name of another one.
    pub repeated: Vec<String>,
    /// The names of all columns.
    pub here: String,
    null: Arc<str>,
}

impl<'w> Wanted<'w> {
    /// The columns that the options name, by a batch without rows.
    ///
    /// # Errors
    /// None of the columns of texts is there.
    pub fn new(empty: &RecordBatch, options: &'w ReadOptions) -> Result<Self, Error> {
        let schema = empty.schema();
        let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
        let here = if names.is_empty() { "none".to_string() } else { names.join(", ") };
        let wanted: Vec<&FieldPath> = options.text_fields.in_columns(|name| names.contains(&name)).collect();
        let (mut texts, mut missing, mut wrong) = (Vec::new(), Vec::new(), String::new());
        for &path in &wanted {
            match resolve(&schema, path) {
                Ok(resolved) => texts.push((path, resolved)),
                Err(Missing::Field) => missing.push((path, String::new())),
                Err(Missing::Choice(field)) => {
                    wrong.push_str(&format!(", and field '{field}' of '{path}' is no string"));
                    missing.push((path, format!(" (its field '{field}' is no string)")));
                }
            }
        }
        if texts.is_empty() {
            let names: Vec<_> = wanted.iter().map(|path| path.typed()).collect();
            let expected = format!("a column of texts{wrong} (columns here: {here})");
            return Err(Error::parameter(options.text_parameter(), names.join(","), expected));
        }
        let null = null_column(texts.iter().map(|(path, _)| *path));
        let null = missing_text(&null, options.is_reference).into();
        let repeated = options.repeated_columns(|name| names.iter().filter(|&&other| other == name).count());
        Ok(Wanted { options, texts, missing, repeated, here, null })
    }

    /// Those of a batch.
    ///
    /// # Errors
    /// One has another type.
    pub fn columns(&self, batch: &RecordBatch) -> Result<Columns, Error> {
        let Wanted { options, here, .. } = self;
        let texts = self.texts.iter().map(|(path, resolved)| {
            Texts::new(batch, resolved).map_err(|found| {
                let expected = format!("a column of strings, and it is of type {found} (columns here: {here})");
                Error::parameter(options.text_parameter(), path, expected)
            })
        });
        let texts = texts.collect::<Result<_, _>>()?;
        let group = |(at, (_, resolved)): (usize, &(&FieldPath, FieldPath))| {
            self.texts[..at].iter().position(|(_, other)| other.has_fields_of(resolved)).unwrap_or(at)
        };
        let groups = self.texts.iter().enumerate().map(group).collect();
        let values = |parameter, path: &FieldPath, expected: &str| match column(batch, path) {
            None => Ok(None),
            Some(array) => match Values::new(&array) {
                Some(values) => Ok(Some((values, array))),
                None => Err(other_type(parameter, path, expected, &array, here)),
            },
        };
        const IDS: &str = "strings or integers, or none for positions";
        let parameter = options.id_parameter();
        let mut ids = Some(Vec::new());
        for path in options.id_field.in_columns(|name| batch.schema_ref().column_with_name(name).is_some()) {
            match values(parameter, path, IDS)? {
                Some((values, array)) if !values.are_ids() => {
                    return Err(other_type(parameter, path, IDS, &array, here));
                }
                Some((values, _)) => ids.iter_mut().for_each(|ids| ids.push(values.clone())),
                None => ids = None,
            }
        }
        let ids = ids.unwrap_or_default();
        let rules = FieldRules::new(&options.ranking.by);
        let mut ranks = Vec::new();
        for (at, field) in rules.fields().iter().enumerate() {
            ranks.push(match rules.by_number(at) {
                Some(_) => values("keep", field, "numbers or times")?.map(|(values, _)| values),
                None => column(batch, field).map(|array| Values::to_match(&array)),
            });
        }
        Ok(Columns { texts, groups, ids, rules, ranks, null: self.null.clone() })
    }
}

fn other_type(parameter: &'static str, path: &FieldPath, expected: &str, array: &ArrayRef, here: &str) -> Error {
    let found = array.data_type();
    Error::parameter(
        parameter,
        path.name(),
        format!("a column of {expected}, and it is of type {found} (columns here: {here})"),
    )
}

/// The problem of a row without a text. Rows of both sides have the same places.
pub(super) fn missing_text(why: &str, is_reference: bool) -> String {
    if is_reference { format!("in the reference: {why}") } else { why.into() }
}

impl Columns {
    /// Whether a row has a text.
    pub fn has_text(&self, row: usize) -> bool {
        let mut has_text = false;
        self.texts.iter().for_each(|texts| texts.visit(row, &mut |_, _| has_text = true));
        has_text
    }

    /// States the problem of rows without a text otherwise.
    #[cfg(feature = "python")]
    pub fn set_null(&mut self, null: &Arc<str>) {
        self.null = null.clone();
    }

    /// Whether there is a column of ids, or several that make one.
    pub fn has_ids(&self) -> bool {
        !self.ids.is_empty()
    }

    /// Whether the ids of all these rows are integers.
    pub fn has_integer_ids(&self, rows: usize) -> bool {
        match &self.ids[..] {
            [ids @ Values::Number(_)] => (0..rows).all(|row| ids.integer(row).is_some()),
            _ => false,
        }
    }

    /// Whether ids are integers that may be greater than those with a sign.
    pub fn has_unsigned_ids(&self) -> bool {
        matches!(&self.ids[..], [Values::Number(array)] if *array.data_type() == DataType::UInt64)
    }

    /// The bytes of the texts in a row.
    pub fn bytes(&self, row: usize) -> u64 {
        let mut bytes = 0;
        self.texts.iter().for_each(|texts| texts.visit(row, &mut |_, text| bytes += text.len() as u64));
        bytes
    }

    /// Adds the texts of a row, in the order in which they are joined.
    fn texts<'t>(&'t self, row: usize, texts: &mut Vec<&'t str>) {
        let may_meet = self.groups.iter().enumerate().any(|(at, group)| at != *group);
        let mut seen = HashSet::new();
        for (column, group) in self.texts.iter().zip(&self.groups) {
            column.visit(row, &mut |element, text| {
                if !may_meet || seen.insert((group, element)) {
                    texts.push(text);
                }
            });
        }
    }
}

impl Rows {
    /// Passes on the wanted rows, in their order. `next` is called once for each row, with its number in the table, and
    /// returns something for those that are wanted, which `each` receives.
    pub fn visit<W>(&self, next: &mut dyn FnMut(u64) -> Option<W>, each: &mut dyn FnMut(W, Row<'_>)) {
        let Columns { ids, rules, ranks, null, .. } = &*self.columns;
        let (mut texts, mut values) = (Vec::new(), Vec::new());
        for at in 0..self.count {
            let (number, row) = (self.first + at as u64, self.start + at);
            let Some(wanted) = next(number) else { continue };
            texts.clear();
            self.columns.texts(row, &mut texts);
            let joined;
            let id = match &ids[..] {
                [] => Some(Id::Number(i128::from(self.first_id) + i128::from(number))),
                [Values::Text(ids)] => ids.get(row).filter(|id| !id.is_empty()).map(Id::Text),
                [ids] => ids.integer(row).map(Id::Number),
                several => {
                    joined = joined_id(several.iter().map(|ids| ids.id(row)));
                    joined.as_deref().map(Id::Text)
                }
            };
            values.clear();
            values.extend(ranks.iter().map(|rank| rank.as_ref().map_or(FieldValue::Missing, |rank| rank.value(row))));
            each(wanted, Row { number, id, values: &values, rules, texts: &texts, null });
        }
    }
}
