//! The specification of a run as a value: the algorithm with its parameters, the tokenizer and the hashes. Equal
//! identities give equal signatures, so an index stores the identity that it was made with and refuses others.

use super::Algorithm;
use crate::hash::HASH_VERSION;
use crate::tokenizer::Tokenizer;
use serde_json::{Map, Value as Json};
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
    /// Its name, in `snake_case`, as in `--stats`.
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

/// Returns whether two algorithms make the same fingerprints, keys and similarities, apart from what they learn. They
/// do if name and measure are the same and the identity rows are equal; the provenance of the values does not matter.
pub fn same_identity(a: &dyn Algorithm, b: &dyn Algorithm) -> bool {
    let identity = |algorithm: &dyn Algorithm| -> Vec<_> {
        algorithm.rows().into_iter().filter(Row::is_identity).map(|row| (row.name, row.value)).collect()
    };
    a.profile() == b.profile() && identity(a) == identity(b)
}

/// The specification of a run.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Spec {
    /// The name of the algorithm.
    pub algorithm: &'static str,
    /// Its resolved parameters.
    pub parameters: Vec<Row>,
    /// The [name](crate::tokenizer::Tokenizer::name) of the tokenizer.
    pub tokenizer: String,
    /// The seed of the hashes.
    pub seed: u64,
    /// Names and values of other options that decide which text is read, such as `content` `main`.
    pub text: Vec<(&'static str, &'static str)>,
}

impl Spec {
    /// The specification of this algorithm on the tokens of this tokenizer.
    pub fn new(algorithm: &dyn Algorithm, tokenizer: &dyn Tokenizer, seed: u64) -> Self {
        let (parameters, tokenizer) = (algorithm.parameters(), tokenizer.name().into_owned());
        Spec { algorithm: algorithm.name(), parameters, tokenizer, seed, text: Vec::new() }
    }

    /// Returns everything that signatures depend on, by name, including the [hash version](HASH_VERSION). Decimal
    /// numbers are kept as text, so that they compare equal when read back.
    pub fn identity(&self) -> Map<String, Json> {
        let mut identity = Map::new();
        identity.insert("algo".into(), self.algorithm.into());
        identity.insert("hash version".into(), HASH_VERSION.into());
        identity.insert("seed".into(), self.seed.into());
        identity.insert("tokenizer".into(), self.tokenizer.as_str().into());
        identity.extend(self.text.iter().map(|&(name, value)| (name.into(), value.into())));
        for row in self.parameters.iter().filter(|row| row.is_identity()) {
            let value = match &row.value {
                Value::Switch(on) => (*on).into(),
                Value::Integer(number) => (*number).into(),
                decimal @ Value::Decimal(_) => decimal.to_string().into(),
                Value::Text(text) => text.as_ref().into(),
            };
            identity.insert(row.name.replace('_', " "), value);
        }
        identity
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::minhash::{MinHash, bands::Bands, sketch::Kind};
    use crate::algorithm::parameter::Settings;
    use crate::algorithm::{AlgorithmFactory, Entry};
    use crate::tokenizer::Word;

    fn prepared(pairs: &[(&str, &str)]) -> Box<dyn Algorithm> {
        let settings = Settings::from_pairs(pairs.iter().copied());
        Entry::by_name("minhash").unwrap().factory(settings).unwrap().prepare(300).unwrap().algorithm
    }

    fn origin(algorithm: &dyn Algorithm, name: &str) -> Origin {
        algorithm.rows().iter().find(|row| row.name == name).unwrap().provenance.origin
    }

    #[test]
    fn identity_does_not_depend_on_origins() {
        let (default, typed) = (prepared(&[]), prepared(&[("threshold", "0.8"), ("bands", "16"), ("rows", "6")]));
        let in_code = MinHash::new("0.8".parse().unwrap(), 5, Kind::Fss, Bands { bands: 16, rows: 6 });
        let origins = |algorithm| ["threshold", "bands", "shingle"].map(|name| origin(algorithm, name));
        assert_eq!(origins(&*default), [Origin::Default, Origin::Derived, Origin::Derived]);
        assert_eq!(origins(&*typed), [Origin::Given, Origin::Given, Origin::Derived]);
        assert_eq!(origins(&in_code), [Origin::Given; 3]);
        let identity = |algorithm: &dyn Algorithm| Spec::new(algorithm, &Word, 7).identity();
        for other in [&*typed, &in_code] {
            assert!(same_identity(&*default, other));
            assert_eq!(identity(&*default), identity(other));
        }
        assert!(!same_identity(&*default, &*prepared(&[("threshold", "0.9"), ("bands", "16"), ("rows", "6")])));
    }

    #[test]
    fn a_value_typed_as_auto_is_derived() {
        let auto = prepared(&[("bands", "auto"), ("shingle", "auto"), ("rows", "5")]);
        assert_eq!(
            ["bands", "shingle", "rows"].map(|name| origin(&*auto, name)),
            [Origin::Derived, Origin::Derived, Origin::Given]
        );
    }

    #[test]
    fn rows_of_plans_are_no_parameters_of_a_run() {
        let algorithm = prepared(&[]);
        let names = |rows: Vec<Row>| rows.into_iter().map(|row| row.name).collect::<Vec<_>>();
        let shown = names(algorithm.parameters());
        assert_eq!(shown, ["threshold", "shingle", "sketch", "bands", "rows", "recall_at_threshold"]);
        assert!(["recall", "hashes"].iter().all(|name| names(algorithm.rows()).contains(name)));
    }

    #[test]
    fn provenance_in_words() {
        let words = |provenance: Provenance| provenance.to_string();
        assert_eq!(words(Provenance::DEFAULT), "default");
        assert_eq!(words(Provenance::DEFAULT.with_remark("31 of 32")), "default: 31 of 32");
        assert_eq!(words(Provenance::GIVEN), "as given");
        assert_eq!(words(Provenance::preset("lee")), "preset lee");
        assert_eq!(words(Provenance::derived("bands × rows")), "bands × rows");
    }
}
