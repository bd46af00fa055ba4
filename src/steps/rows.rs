//! Columns of the batches that go into steps and come out of them.

use crate::error::Error;
use crate::source::arrow::TextColumn;
use arrow_array::builder::{Float64Builder, Int64Builder, ListBuilder};
use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef, Int64Array, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use std::sync::Arc;

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// Integers of 64 bits; hashes are their bits.
    Long,
    /// Lists of such integers.
    Longs,
    /// Doubles.
    Double,
    /// Strings, in any of the layouts of Arrow.
    Text,
}

/// A column of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Column {
    /// Its name.
    pub name: &'static str,
    /// What it holds.
    pub kind: Kind,
    /// Whether rows may have no value in it.
    pub nullable: bool,
}

impl Column {
    pub(super) const fn new(name: &'static str, kind: Kind) -> Self {
        Column { name, kind, nullable: false }
    }

    pub(super) const fn nullable(name: &'static str, kind: Kind) -> Self {
        Column { name, kind, nullable: true }
    }

    fn field(&self) -> Field {
        let item = || Field::new("element", DataType::Int64, true);
        let kind = match self.kind {
            Kind::Long => DataType::Int64,
            Kind::Longs => DataType::List(Arc::new(item())),
            Kind::Double => DataType::Float64,
            Kind::Text => DataType::Utf8,
        };
        // Engines make every column nullable.
        Field::new(self.name, kind, true)
    }
}

/// The schema of the batches with these columns.
pub(super) fn schema(columns: &[Column]) -> SchemaRef {
    Arc::new(Schema::new(columns.iter().map(Column::field).collect::<Vec<_>>()))
}

/// The columns of a batch that goes into a step, by their names.
pub(super) struct Input<'a> {
    pub step: &'static str,
    pub batch: &'a RecordBatch,
}

impl Input<'_> {
    fn error(&self, message: &str) -> Error {
        Error::Usage(format!("step {}: {message}", self.step))
    }

    fn column(&self, name: &str) -> Result<&ArrayRef, Error> {
        self.batch.column_by_name(name).ok_or_else(|| {
            let schema = self.batch.schema();
            let here: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
            self.error(&format!("no column '{name}' (columns here: {})", here.join(", ")))
        })
    }

    fn not(&self, expected: &str, name: &str, column: &ArrayRef) -> Error {
        self.error(&format!("column '{name}' is {}, not {expected}", column.data_type()))
    }

    /// A column of integers, in which values may be missing.
    pub fn optional(&self, name: &str) -> Result<Int64Array, Error> {
        let column = self.column(name)?;
        match column.as_primitive_opt::<Int64Type>() {
            Some(longs) => Ok(longs.clone()),
            None if *column.data_type() == DataType::Null => Ok(Int64Array::new_null(self.batch.num_rows())),
            None => Err(self.not("int64", name, column)),
        }
    }

    /// A column of integers.
    pub fn longs(&self, name: &str) -> Result<Int64Array, Error> {
        let column = self.optional(name)?;
        match column.null_count() {
            0 => Ok(column),
            nulls => Err(self.error(&format!("{nulls} rows have no '{name}'"))),
        }
    }

    /// A column of texts.
    pub fn texts(&self, name: &str) -> Result<TextColumn, Error> {
        let column = self.column(name)?;
        TextColumn::new(column).ok_or_else(|| self.not("text", name, column))
    }

    /// A column of lists of integers.
    pub fn lists(&self, name: &str) -> Result<Lists, Error> {
        let column = self.column(name)?;
        let (values, ends): (&ArrayRef, Vec<usize>) = if let Some(lists) = column.as_list_opt::<i32>() {
            (lists.values(), lists.value_offsets().iter().map(|&end| end as usize).collect())
        } else if let Some(lists) = column.as_list_opt::<i64>() {
            (lists.values(), lists.value_offsets().iter().map(|&end| end as usize).collect())
        } else {
            return Err(self.not("a list of int64", name, column));
        };
        let values = values.as_primitive_opt::<Int64Type>().ok_or_else(|| self.not("a list of int64", name, column))?;
        Ok(Lists { values: values.clone(), ends })
    }
}

/// A column of lists of integers. A missing list is empty.
#[derive(Debug)]
pub(super) struct Lists {
    values: Int64Array,
    /// The start of each list, and the end of the last.
    ends: Vec<usize>,
}

impl Lists {
    pub fn get(&self, row: usize) -> &[i64] {
        &self.values.values()[self.ends[row]..self.ends[row + 1]]
    }
}

/// A batch with about this many rows goes out.
const BATCH: usize = 1 << 14;

/// And one with this many integers in lists.
const BATCH_WORDS: usize = 1 << 20;

enum Values {
    Long(Int64Builder),
    Longs(ListBuilder<Int64Builder>),
    Double(Float64Builder),
}

/// Rows that go out of a step.
pub(super) struct Out {
    schema: SchemaRef,
    columns: Vec<Values>,
    rows: usize,
    words: usize,
}

/// A value of a row that goes out.
pub(super) enum Value<'v> {
    None,
    Long(i64),
    Longs(&'v [u64]),
    Double(f64),
}

impl Out {
    pub fn new(columns: &[Column]) -> Self {
        let item = || Field::new("element", DataType::Int64, true);
        let values = |column: &Column| match column.kind {
            Kind::Long => Values::Long(Int64Builder::new()),
            Kind::Longs => Values::Longs(ListBuilder::new(Int64Builder::new()).with_field(item())),
            Kind::Double => Values::Double(Float64Builder::new()),
            Kind::Text => unreachable!("no step makes texts"),
        };
        Out { schema: schema(columns), columns: columns.iter().map(values).collect(), rows: 0, words: 0 }
    }

    /// Adds a row, with a value for each column.
    pub fn push<const N: usize>(&mut self, row: [Value<'_>; N]) {
        debug_assert_eq!(N, self.columns.len());
        for (column, value) in self.columns.iter_mut().zip(row) {
            match (column, value) {
                (Values::Long(column), Value::Long(value)) => column.append_value(value),
                (Values::Long(column), _) => column.append_null(),
                (Values::Double(column), Value::Double(value)) => column.append_value(value),
                (Values::Double(column), _) => column.append_null(),
                (Values::Longs(column), Value::Longs(words)) => {
                    words.iter().for_each(|&word| column.values().append_value(word as i64));
                    column.append(true);
                    self.words += words.len();
                }
                (Values::Longs(column), _) => column.append(false),
            }
        }
        self.rows += 1;
    }

    pub fn is_full(&self) -> bool {
        self.rows >= BATCH || self.words >= BATCH_WORDS
    }

    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// The rows so far as a batch.
    ///
    /// # Panics
    /// If rows have other columns than the step declares.
    pub fn take(&mut self) -> RecordBatch {
        (self.rows, self.words) = (0, 0);
        let finish = |column: &mut Values| -> ArrayRef {
            match column {
                Values::Long(column) => Arc::new(column.finish()),
                Values::Longs(column) => Arc::new(column.finish()),
                Values::Double(column) => Arc::new(column.finish()),
            }
        };
        let columns = self.columns.iter_mut().map(finish).collect();
        RecordBatch::try_new(Arc::clone(&self.schema), columns).expect("rows have the columns of the step")
    }
}
