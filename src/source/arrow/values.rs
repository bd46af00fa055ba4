//! Columns of ids and of the values that rank rows.

use super::text::TextColumn;
use crate::source::Number;
use crate::source::ranking::FieldValue;
use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Date64Type, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
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
    /// Of a type for which [`Values::new`] has a row.
    Number(ArrayRef),
    Bool(ArrayRef),
    /// Of a type that no value of a rule can have: its name, with an article.
    Other(ArrayRef, &'static str),
}

const NANOSECONDS: i128 = 1_000_000_000;

impl Values {
    /// `None` for a type that has neither strings nor numbers, nor times.
    pub fn new(array: &ArrayRef) -> Option<Self> {
        let text = TextColumn::new(array).map(Values::Text);
        text.or_else(|| is_number(array.data_type()).then(|| Values::Number(array.clone())))
    }

    /// Those that can be the value of a rule, and those that never are; `None` for other types.
    pub fn to_match(array: &ArrayRef) -> Option<Self> {
        let kind = match array.data_type() {
            DataType::Boolean => return Some(Values::Bool(array.clone())),
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
            _ => return Values::new(array),
        };
        Some(Values::Other(array.clone(), kind))
    }

    /// Whether these can be ids.
    pub fn are_ids(&self) -> bool {
        match self {
            Values::Text(_) => true,
            Values::Number(array) => array.data_type().is_integer(),
            Values::Bool(_) | Values::Other(..) => false,
        }
    }

    /// The value in a row.
    pub fn value(&self, row: usize) -> FieldValue<'_> {
        match self {
            Values::Text(texts) => texts.get(row).map_or(FieldValue::Missing, |text| FieldValue::Text(text.into())),
            Values::Number(array) | Values::Bool(array) | Values::Other(array, _) if !array.is_valid(row) => {
                FieldValue::Missing
            }
            Values::Number(array) => match array.data_type() {
                DataType::Float16 => FieldValue::Single(array.as_primitive::<Float16Type>().value(row).into()),
                DataType::Float32 => FieldValue::Single(array.as_primitive::<Float32Type>().value(row)),
                _ => FieldValue::Number(number(array, row)),
            },
            Values::Bool(array) => FieldValue::Bool(array.as_boolean().value(row)),
            Values::Other(_, kind) => FieldValue::Other(kind),
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

fn is_number(kind: &DataType) -> bool {
    kind.is_integer()
        || kind.is_floating()
        || matches!(kind, DataType::Date32 | DataType::Date64 | DataType::Timestamp(..))
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
        other => unreachable!("{other} is no number"),
    }
}
