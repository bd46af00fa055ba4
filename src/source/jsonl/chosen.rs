//! Which elements of an array a path leads to.

use std::fmt;

use serde_core::de::{Deserializer as _, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::strings;
use crate::source::path::Step;

/// The elements of an array that a step leads to.
pub(super) enum Chosen<'p> {
    All,
    /// With this number, if there is one.
    At(Option<u64>),
    Where {
        field: &'p str,
        value: &'p str,
    },
}

impl<'p> Chosen<'p> {
    /// The elements of this array.
    pub fn new(step: &'p Step, array: &str) -> Result<Self, serde_json::Error> {
        Ok(match step {
            Step::Where { field, value } => Chosen::Where { field, value },
            Step::Element(number) => match u64::try_from(*number) {
                Ok(number) => Chosen::At(Some(number)),
                // Counted before anything is read, so that no element is kept for it.
                Err(_) => Chosen::At(length(array)?.checked_sub(number.unsigned_abs())),
            },
            Step::Elements | Step::Field(_) => Chosen::All,
        })
    }

    /// Whether it leads to the element with this number, counted from 0.
    pub fn takes(&self, at: u64, json: &str) -> Result<bool, serde_json::Error> {
        match *self {
            Chosen::All => Ok(true),
            Chosen::At(number) => Ok(number == Some(at)),
            Chosen::Where { field, value } => has_string(json, field, value),
        }
    }
}

/// The number of elements of an array.
fn length(array: &str) -> Result<u64, serde_json::Error> {
    struct Count;
    impl<'de> Visitor<'de> for Count {
        type Value = u64;

        fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
            f.write_str("an array")
        }

        fn visit_seq<S: SeqAccess<'de>>(self, mut seq: S) -> Result<u64, S::Error> {
            let mut count = 0;
            while seq.next_element::<IgnoredAny>()?.is_some() {
                count += 1;
            }
            Ok(count)
        }
    }
    serde_json::Deserializer::from_str(array).deserialize_seq(Count)
}

/// Whether a value is an object that has this string in this field. The last of equal names counts.
fn has_string(json: &str, field: &str, wanted: &str) -> Result<bool, serde_json::Error> {
    struct Last<'f>(&'f str);
    impl<'de> Visitor<'de> for Last<'_> {
        type Value = Option<&'de RawValue>;

        fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
            f.write_str("a JSON object")
        }

        fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Self::Value, M::Error> {
            let mut last = None;
            while let Some((name, value)) = map.next_entry::<&RawValue, &RawValue>()? {
                if strings::name(name.get()).map_err(M::Error::custom)?.is_some_and(|name| name == self.0) {
                    last = Some(value);
                }
            }
            Ok(last)
        }
    }
    if !json.starts_with('{') {
        return Ok(false);
    }
    let value = serde_json::Deserializer::from_str(json).deserialize_map(Last(field))?;
    let value = value.map(RawValue::get).filter(|value| value.starts_with('"'));
    Ok(value.map(strings::name).transpose()?.flatten().is_some_and(|value| value == wanted))
}
