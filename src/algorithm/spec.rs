//! What was run, as a value: the algorithm with its parameters, the tokenizer, the hashes. Equal identities give equal signatures, so an
//! index keeps the identity of what it was made with, and refuses others.

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
            // With its point, as in JSON.
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
    /// The whole number that it is.
    pub fn as_integer(&self) -> Option<u64> {
        match self {
            Value::Integer(number) => Some(*number),
            _ => None,
        }
    }

    /// The number that it is.
    pub fn as_decimal(&self) -> Option<f64> {
        match self {
            Value::Integer(number) => Some(*number as f64),
            Value::Decimal(number) => Some(*number),
            _ => None,
        }
    }
}

/// A parameter as it was resolved.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Row {
    /// Its name, in `snake_case`, as in `--stats`.
    pub name: &'static str,
    /// Its value.
    pub value: Value,
    /// Whether fingerprints, keys or similarities depend on it. Other rows state what follows from those that do.
    pub is_identity: bool,
}

impl Row {
    /// A parameter that fingerprints, keys or similarities depend on.
    pub fn identity(name: &'static str, value: impl Into<Value>) -> Self {
        Row { name, value: value.into(), is_identity: true }
    }

    /// What follows from others.
    pub fn stated(name: &'static str, value: impl Into<Value>) -> Self {
        Row { name, value: value.into(), is_identity: false }
    }
}

/// Whether two algorithms make the same fingerprints, keys and similarities, apart from what they learn: same name and measure, equal
/// identity rows.
pub fn same_identity(a: &dyn Algorithm, b: &dyn Algorithm) -> bool {
    let rows = |algorithm: &dyn Algorithm| algorithm.rows().into_iter().filter(|row| row.is_identity);
    a.profile() == b.profile() && rows(a).eq(rows(b))
}

/// What was run.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Spec {
    /// The name of the algorithm.
    pub algorithm: &'static str,
    /// Its parameters as they were resolved.
    pub parameters: Vec<Row>,
    /// What the tokens are: the [name](crate::tokenizer::Tokenizer::name) of the tokenizer.
    pub tokenizer: String,
    /// The seed of the hashes.
    pub seed: u64,
    /// What else decides which text is looked at, such as `content` `main`: names and values.
    pub text: Vec<(&'static str, &'static str)>,
}

impl Spec {
    /// This algorithm on the tokens of this tokenizer.
    pub fn new(algorithm: &dyn Algorithm, tokenizer: &dyn Tokenizer, seed: u64) -> Self {
        let (parameters, tokenizer) = (algorithm.rows(), tokenizer.name().into_owned());
        Spec { algorithm: algorithm.name(), parameters, tokenizer, seed, text: Vec::new() }
    }

    /// Everything that signatures depend on, by name, the [hash version](HASH_VERSION) included. Numbers with decimals are kept as they
    /// are written: only so are they sure to be the same again.
    pub fn identity(&self) -> Map<String, Json> {
        let mut identity = Map::new();
        identity.insert("algo".into(), self.algorithm.into());
        identity.insert("hash version".into(), HASH_VERSION.into());
        identity.insert("seed".into(), self.seed.into());
        identity.insert("tokenizer".into(), self.tokenizer.as_str().into());
        identity.extend(self.text.iter().map(|&(name, value)| (name.into(), value.into())));
        for row in self.parameters.iter().filter(|row| row.is_identity) {
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
