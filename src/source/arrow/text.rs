//! A column of texts, in any of the layouts that Arrow has for strings.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowDictionaryKeyType, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, LargeStringArray, StringArray, StringViewArray};
use arrow_buffer::{ArrowNativeType, NullBuffer};
use arrow_schema::DataType;

/// A column of strings: `Utf8`, `LargeUtf8`, `Utf8View`, or a dictionary of one of these. It shares the memory of the array.
///
/// ```
/// use arrow_array::StringArray;
/// use neardups::source::arrow::TextColumn;
///
/// let column = TextColumn::new(&StringArray::from(vec![Some("one"), None])).expect("a column of strings");
/// assert_eq!((column.get(0), column.get(1)), (Some("one"), None));
/// ```
#[derive(Clone, Debug)]
pub struct TextColumn(Layout);

#[derive(Clone, Debug)]
enum Layout {
    Utf8(StringArray),
    Large(LargeStringArray),
    View(StringViewArray),
    Dictionary {
        /// The value of each row; any number where the row is null.
        keys: Vec<u32>,
        nulls: Option<NullBuffer>,
        values: Box<TextColumn>,
    },
    /// Every row is null.
    Null(usize),
}

impl TextColumn {
    /// The texts of an array; `None` if it is not an array of strings. An array of the type `Null` has only nulls.
    ///
    /// # Cost
    /// No text is copied. A dictionary takes 4 bytes for each row.
    pub fn new(array: &dyn Array) -> Option<Self> {
        Some(TextColumn(match array.data_type() {
            DataType::Utf8 => Layout::Utf8(array.as_string::<i32>().clone()),
            DataType::LargeUtf8 => Layout::Large(array.as_string::<i64>().clone()),
            DataType::Utf8View => Layout::View(array.as_string_view().clone()),
            DataType::Null => Layout::Null(array.len()),
            DataType::Dictionary(..) => {
                let (keys, values) = dictionary(array)?;
                Layout::Dictionary { keys, nulls: array.nulls().cloned(), values: Box::new(TextColumn::new(&*values)?) }
            }
            _ => return None,
        }))
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        match &self.0 {
            Layout::Utf8(texts) => texts.len(),
            Layout::Large(texts) => texts.len(),
            Layout::View(texts) => texts.len(),
            Layout::Dictionary { keys, .. } => keys.len(),
            Layout::Null(rows) => *rows,
        }
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The text of a row; `None` if it is null.
    ///
    /// # Panics
    /// There is no such row.
    pub fn get(&self, row: usize) -> Option<&str> {
        match &self.0 {
            Layout::Utf8(texts) => texts.is_valid(row).then(|| texts.value(row)),
            Layout::Large(texts) => texts.is_valid(row).then(|| texts.value(row)),
            Layout::View(texts) => texts.is_valid(row).then(|| texts.value(row)),
            Layout::Dictionary { keys, nulls, values } => {
                let is_valid = nulls.as_ref().is_none_or(|nulls| nulls.is_valid(row));
                is_valid.then(|| values.get(keys[row] as usize)).flatten()
            }
            Layout::Null(rows) => {
                assert!(row < *rows, "row {row} of {rows}");
                None
            }
        }
    }
}

/// The number of the value in each row of a dictionary, which is any where the row is null, and its values; `None` for another array, or
/// more than 2³² values.
pub(super) fn dictionary(array: &dyn Array) -> Option<(Vec<u32>, ArrayRef)> {
    fn of<K: ArrowDictionaryKeyType>(array: &dyn Array) -> Option<(Vec<u32>, ArrayRef)> {
        let array = array.as_dictionary::<K>();
        u32::try_from(array.values().len()).ok()?;
        // The key of a null row may be anything.
        let keys = array.keys().values().iter().map(|key| key.to_usize().unwrap_or_default() as u32).collect();
        Some((keys, array.values().clone()))
    }
    let DataType::Dictionary(key, _) = array.data_type() else { return None };
    match **key {
        DataType::Int8 => of::<Int8Type>(array),
        DataType::Int16 => of::<Int16Type>(array),
        DataType::Int32 => of::<Int32Type>(array),
        DataType::Int64 => of::<Int64Type>(array),
        DataType::UInt8 => of::<UInt8Type>(array),
        DataType::UInt16 => of::<UInt16Type>(array),
        DataType::UInt32 => of::<UInt32Type>(array),
        DataType::UInt64 => of::<UInt64Type>(array),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::DictionaryArray;
    use arrow_array::{Int64Array, NullArray};

    fn texts(array: &dyn Array) -> Vec<Option<String>> {
        let column = TextColumn::new(array).expect("strings");
        (0..column.len()).map(|row| column.get(row).map(String::from)).collect()
    }

    #[test]
    fn every_layout_of_strings() {
        let rows = vec![Some("one"), None, Some(""), Some("a text of more than twelve bytes"), Some("one")];
        let expected: Vec<_> = rows.iter().map(|row| row.map(String::from)).collect();
        assert_eq!(texts(&StringArray::from(rows.clone())), expected);
        assert_eq!(texts(&LargeStringArray::from(rows.clone())), expected);
        assert_eq!(texts(&StringViewArray::from(rows.clone())), expected);
        assert_eq!(texts(&rows.iter().copied().collect::<DictionaryArray<Int8Type>>()), expected);
        assert_eq!(texts(&rows.iter().copied().collect::<DictionaryArray<UInt64Type>>()), expected);
        assert_eq!(texts(&StringArray::from(rows).slice(2, 2)), expected[2..4]);
    }

    #[test]
    fn a_dictionary_with_nulls_in_its_values_and_beyond_its_keys() {
        let values = std::sync::Arc::new(StringViewArray::from(vec![None, Some("x")]));
        let keys = arrow_array::Int32Array::from(vec![Some(0), None, Some(1)]);
        let array = DictionaryArray::<Int32Type>::try_new(keys, values).unwrap();
        assert_eq!(texts(&array), [None, None, Some("x".into())]);
        assert_eq!(texts(&array.slice(1, 2)), [None, Some("x".into())]);
        let empty = DictionaryArray::<Int32Type>::try_new(
            arrow_array::Int32Array::from(vec![None]),
            std::sync::Arc::new(StringArray::from(Vec::<&str>::new())),
        );
        assert_eq!(texts(&empty.unwrap()), [None]);
    }

    #[test]
    fn other_types_are_not_texts() {
        assert!(TextColumn::new(&Int64Array::from(vec![1])).is_none());
        assert_eq!(texts(&NullArray::new(2)), [None, None]);
    }
}
