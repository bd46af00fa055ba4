//! Resolved parameters: their values, and where these came from.

use std::borrow::Cow;
use std::fmt;

/// The value of a parameter.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "report", derive(serde::Serialize), serde(untagged))]
#[non_exhaustive]
pub enum Value {
    /// A switch.
    Switch(bool),
    /// A whole number.
    Integer(u64),
    /// A number with decimals.
    Decimal(f64),
    /// A word.
    Text(Cow<'static, str>),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Switch(on) => on.fmt(f),
            Value::Integer(number) => number.fmt(f),
            // With its decimal point, as in JSON.
            Value::Decimal(number) => fmt::Debug::fmt(number, f),
            Value::Text(text) => text.fmt(f),
        }
    }
}

macro_rules! from {
    ($($from:ty => $value:expr),* $(,)?) => {
        $(impl From<$from> for Value {
            fn from(value: $from) -> Self {
                $value(value.into())
            }
        })*
    };
}

from!(bool => Value::Switch, u64 => Value::Integer, u32 => Value::Integer, f64 => Value::Decimal, &'static str => Value::Text, String => Value::Text);

impl From<usize> for Value {
    fn from(value: usize) -> Self {
        Value::Integer(value as u64)
    }
}

impl Value {
    /// Returns the whole number; `None` for other kinds of values.
    pub fn as_integer(&self) -> Option<u64> {
        match self {
            Value::Integer(number) => Some(*number),
            _ => None,
        }
    }

    /// Returns the number; `None` for other kinds of values.
    pub fn as_decimal(&self) -> Option<f64> {
        match self {
            Value::Integer(number) => Some(*number as f64),
            Value::Decimal(number) => Some(*number),
            _ => None,
        }
    }
}

/// Where the value of a parameter came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Origin {
    /// The default: nothing was given.
    Default,
    /// Given, as a setting or in code.
    Given,
    /// Given by the preset of this name.
    Preset(&'static str),
    /// Derived from other parameters or from the documents.
    Derived,
}

/// The origin of a parameter's value, and the reason for it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Provenance {
    /// The origin of the value.
    pub origin: Origin,
    /// The reason for the value, in words. Never empty for [`Origin::Derived`]; for others a remark, mostly empty.
    pub reason: Cow<'static, str>,
}

impl Provenance {
    /// From the default.
    pub const DEFAULT: Self = Provenance { origin: Origin::Default, reason: Cow::Borrowed("") };
    /// Given, as a setting or in code.
    pub const GIVEN: Self = Provenance { origin: Origin::Given, reason: Cow::Borrowed("") };

    /// From the preset of this name.
    pub const fn preset(name: &'static str) -> Self {
        Provenance { origin: Origin::Preset(name), reason: Cow::Borrowed("") }
    }

    /// Derived, for this reason.
    pub fn derived(reason: impl Into<Cow<'static, str>>) -> Self {
        Provenance { origin: Origin::Derived, reason: reason.into() }
    }

    /// Sets the remark.
    pub fn with_remark(self, remark: impl Into<Cow<'static, str>>) -> Self {
        Provenance { reason: remark.into(), ..self }
    }
}

/// Formats the provenance in words, as in `dedup plan`.
impl fmt::Display for Provenance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.origin {
            Origin::Derived => return f.write_str(&self.reason),
            Origin::Default => f.write_str("default")?,
            Origin::Given => f.write_str("as given")?,
            Origin::Preset(name) => write!(f, "preset {name}")?,
        }
        if self.reason.is_empty() { Ok(()) } else { write!(f, ": {}", self.reason) }
    }
}

/// The purpose of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RowKind {
    /// Fingerprints, keys or similarities depend on it.
    Identity,
    /// The row follows from identity rows, and the records of a run report it.
    Stated,
    /// The row led to identity rows or follows from them, and only a [plan](super::PlannedRun) shows it.
    Planned,
}

/// A resolved parameter.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Row {
    /// Its name, in `snake_case`, as in records.
    pub name: &'static str,
    /// Its value.
    pub value: Value,
    /// The purpose of the row.
    pub kind: RowKind,
    /// The provenance of the value. No identity depends on it.
    pub provenance: Provenance,
}

impl Row {
    /// A parameter that fingerprints, keys or similarities depend on; given, unless [`with`](Self::with) sets another
    /// provenance.
    pub fn identity(name: &'static str, value: impl Into<Value>) -> Self {
        Row { name, value: value.into(), kind: RowKind::Identity, provenance: Provenance::GIVEN }
    }

    /// A value that follows from other parameters.
    pub fn stated(name: &'static str, value: impl Into<Value>) -> Self {
        let provenance = Provenance::derived("from the other parameters");
        Row { name, value: value.into(), kind: RowKind::Stated, provenance }
    }

    /// A value that led to others or follows from them, shown in plans only; given, unless [`with`](Self::with) sets
    /// another provenance.
    pub fn planned(name: &'static str, value: impl Into<Value>) -> Self {
        Row { kind: RowKind::Planned, ..Row::identity(name, value) }
    }

    /// Sets the provenance.
    pub fn with(self, provenance: Provenance) -> Self {
        Row { provenance, ..self }
    }

    /// Returns whether fingerprints, keys or similarities depend on the parameter.
    pub fn is_identity(&self) -> bool {
        self.kind == RowKind::Identity
    }
}
