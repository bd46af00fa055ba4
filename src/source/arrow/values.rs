//! Columns of ids and of the values that rank rows.

use super::text::{TextColumn, dictionary};
use crate::source::Number;
use crate::source::ranking::FieldValue;
use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Date64Type, DurationMicrosecondType, DurationMillisecondType, DurationNanosecondType,
    DurationSecondType, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType, UInt8Type,
    UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef};
use arrow_schema::{DataType, TimeUnit};
use std::borrow::Cow;

/// A column of values.
#[derive(Clone, Debug)]
pub(super) enum Values {
    Text(TextColumn),
    /// Texts of which nothing says that they are UTF-8.
    Bytes(ArrayRef),
    /// Of a type for which [`number`] has a row.
    Number(ArrayRef),
    Bool(ArrayRef),
    /// Of a type that no value of a rule can have: its name, with an article.
    Other(ArrayRef, &'static str),
    /// Those of a dictionary.
    Keyed {
        array: ArrayRef,
        /// The value of each row; any number where the row is null.
        keys: Vec<u32>,
        values: Box<Values>,
    },
}

const NANOSECONDS: i128 = 1_000_000_000;

impl Values {
    /// `None` for a type that has neither strings nor numbers, nor times. A column of Parquet of the same type has the same values.
    pub fn new(array: &ArrayRef) -> Option<Self> {
        if let Some(texts) = TextColumn::new(array) {
            return Some(Values::Text(texts));
        }
        Some(match array.data_type() {
            DataType::Binary | DataType::LargeBinary | DataType::BinaryView => Values::Bytes(array.clone()),
            DataType::Dictionary(..) => Values::of_dictionary(array, Values::new)?,
            kind if is_number(kind) => Values::Number(array.clone()),
            _ => return None,
        })
    }

    /// Those that can be the value of a rule, and those that never are.
    pub fn to_match(array: &ArrayRef) -> Self {
        let never = |kind| Values::Other(array.clone(), kind);
        match array.data_type() {
            DataType::Boolean => Values::Bool(array.clone()),
            DataType::Dictionary(_, values) if !values.is_string() => {
                let read = |array: &ArrayRef| Some(Values::to_match(array));
                Values::of_dictionary(array, read).unwrap_or_else(|| never("of another type"))
            }
            kind => Values::new(array).unwrap_or_else(|| never(name_of(kind))),
        }
    }

    /// A dictionary of other values than texts.
    fn of_dictionary(array: &ArrayRef, read: fn(&ArrayRef) -> Option<Self>) -> Option<Self> {
        let (keys, values) = dictionary(array)?;
        Some(Values::Keyed { array: array.clone(), keys, values: Box::new(read(&values)?) })
    }

    /// Whether these can be ids.
    pub fn are_ids(&self) -> bool {
        match self {
            Values::Text(_) => true,
            Values::Number(array) => array.data_type().is_integer(),
            Values::Bytes(_) | Values::Bool(_) | Values::Other(..) | Values::Keyed { .. } => false,
        }
    }

    /// The value in a row.
    pub fn value(&self, row: usize) -> FieldValue<'_> {
        match self {
            Values::Text(texts) => texts.get(row).map_or(FieldValue::Missing, |text| FieldValue::Text(text.into())),
            Values::Number(array)
            | Values::Bytes(array)
            | Values::Bool(array)
            | Values::Other(array, _)
            | Values::Keyed { array, .. }
                if !array.is_valid(row) =>
            {
                FieldValue::Missing
            }
            Values::Bytes(array) => FieldValue::Text(String::from_utf8_lossy(bytes(array, row))),
            Values::Number(array) => match array.data_type() {
                DataType::Float16 => FieldValue::Single(array.as_primitive::<Float16Type>().value(row).into()),
                DataType::Float32 => FieldValue::Single(array.as_primitive::<Float32Type>().value(row)),
                _ => FieldValue::Number(number(array, row)),
            },
            Values::Bool(array) => FieldValue::Bool(array.as_boolean().value(row)),
            Values::Other(_, kind) => FieldValue::Other(kind),
            Values::Keyed { keys, values, .. } => values.value(keys[row] as usize),
        }
    }

    /// The value in a row as an id.
    pub fn id(&self, row: usize) -> Option<Cow<'_, str>> {
        match self {
            Values::Text(texts) => texts.get(row).map(Cow::Borrowed),
            ids => ids.integer(row).map(|id| Cow::Owned(id.to_string())),
        }
    }

    /// The integer in a row.
    pub fn integer(&self, row: usize) -> Option<i128> {
        match self {
            Values::Number(array) if array.is_valid(row) => match number(array, row) {
                Number::Integer(integer) => Some(integer),
                _ => None,
            },
            _ => None,
        }
    }
}

/// A duration is a number of its units, as in a column of Parquet, which has no type for it.
fn is_number(kind: &DataType) -> bool {
    kind.is_integer()
        || kind.is_floating()
        || matches!(kind, DataType::Date32 | DataType::Date64 | DataType::Timestamp(..) | DataType::Duration(_))
}

/// The name of a type without numbers and texts, with an article.
fn name_of(kind: &DataType) -> &'static str {
    match kind {
        DataType::List(_)
        | DataType::LargeList(_)
        | DataType::FixedSizeList(..)
        | DataType::ListView(_)
        | DataType::LargeListView(_) => "a list",
        DataType::Struct(_) => "a struct",
        DataType::Map(..) => "a map",
        DataType::Decimal32(..) | DataType::Decimal64(..) | DataType::Decimal128(..) | DataType::Decimal256(..) => {
            "a decimal number"
        }
        DataType::Time32(_) | DataType::Time64(_) => "a time of day",
        DataType::FixedSizeBinary(_) => "bytes of a fixed length",
        DataType::Interval(_) => "an interval",
        _ => "of another type",
    }
}

/// The bytes in a valid row of an array of bytes.
fn bytes(array: &dyn Array, row: usize) -> &[u8] {
    match array.data_type() {
        DataType::Binary => array.as_binary::<i32>().value(row),
        DataType::LargeBinary => array.as_binary::<i64>().value(row),
        DataType::BinaryView => array.as_binary_view().value(row),
        other => unreachable!("{other} is no array of bytes"),
    }
}

/// The number in a valid row of an array of numbers.
fn number(array: &dyn Array, row: usize) -> Number {
    macro_rules! of {
        ($type:ty) => {
            array.as_primitive::<$type>().value(row).into()
        };
    }
    let time = |value: i64, per_second: i128| Number::Time(i128::from(value) * (NANOSECONDS / per_second));
    match array.data_type() {
        DataType::Int8 => Number::Integer(of!(Int8Type)),
        DataType::Int16 => Number::Integer(of!(Int16Type)),
        DataType::Int32 => Number::Integer(of!(Int32Type)),
        DataType::Int64 => Number::Integer(of!(Int64Type)),
        DataType::UInt8 => Number::Integer(of!(UInt8Type)),
        DataType::UInt16 => Number::Integer(of!(UInt16Type)),
        DataType::UInt32 => Number::Integer(of!(UInt32Type)),
        DataType::UInt64 => Number::Integer(of!(UInt64Type)),
        DataType::Float64 => Number::Float(of!(Float64Type)),
        DataType::Date32 => {
            Number::Time(i128::from(array.as_primitive::<Date32Type>().value(row)) * 86_400 * NANOSECONDS)
        }
        DataType::Date64 => time(of!(Date64Type), 1000),
        DataType::Timestamp(TimeUnit::Second, _) => time(of!(TimestampSecondType), 1),
        DataType::Timestamp(TimeUnit::Millisecond, _) => time(of!(TimestampMillisecondType), 1000),
        DataType::Timestamp(TimeUnit::Microsecond, _) => time(of!(TimestampMicrosecondType), 1_000_000),
        DataType::Timestamp(TimeUnit::Nanosecond, _) => time(of!(TimestampNanosecondType), NANOSECONDS),
        DataType::Duration(TimeUnit::Second) => Number::Integer(of!(DurationSecondType)),
        DataType::Duration(TimeUnit::Millisecond) => Number::Integer(of!(DurationMillisecondType)),
        DataType::Duration(TimeUnit::Microsecond) => Number::Integer(of!(DurationMicrosecondType)),
        DataType::Duration(TimeUnit::Nanosecond) => Number::Integer(of!(DurationNanosecondType)),
        other => unreachable!("{other} is no number"),
    }
}
