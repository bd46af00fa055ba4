//! How the signatures of an index were made, as its file says.

use super::file::{damaged, is_unfinished};
use super::stored::Stored;
use crate::algorithm::{self, FingerprintForm};
use crate::error::Error;
use crate::replace::{Links, open_regular};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::Path;

/// How the signatures of an index were made: what [`Spec::identity`](crate::algorithm::Spec::identity) was when its file
/// was new.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Header {
    /// The name of the algorithm.
    pub algorithm: String,
    /// The name of the tokenizer.
    pub tokenizer: String,
    /// The seed of the hashes. Anyone who knows it can construct texts that collide.
    pub seed: u64,
    /// The [version of the hashes](crate::hash::HASH_VERSION).
    pub hash_version: u64,
    /// The other settings, by name: parameters of the algorithm, and options that decide which text is read. Numbers
    /// with decimals are text.
    pub settings: BTreeMap<String, algorithm::Value>,
}

/// How the signatures of an index were made. `None` if the file does not exist, or its very first write was interrupted.
///
/// # Errors
/// The file cannot be read, or is not an index.
pub fn header(path: &Path) -> Result<Option<Header>, Error> {
    stored(path)?.map(|stored| Header::of(&stored)).transpose()
}

/// The file at a path, opened for reading; `None` as for [`header`].
///
/// # Errors
/// As for [`header`].
pub(super) fn stored(path: &Path) -> Result<Option<Stored>, Error> {
    let failed = |error| Error::io(format!("cannot open the index {}", path.display()), error);
    match open_regular(path, File::options().read(true), Links::Followed) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(failed(error)),
        Ok(file) if is_unfinished(&file).map_err(failed)? => Ok(None),
        Ok(_) => Stored::open(path).map(Some),
    }
}

/// The seed in a header.
pub(super) fn seed_of(header: &Value) -> Option<u64> {
    header.get(SEED)?.as_u64()
}

const ALGORITHM: &str = "algo";
const TOKENIZER: &str = "tokenizer";
pub(super) const SEED: &str = "seed";
const HASH_VERSION: &str = "hash version";

impl Header {
    /// The header of a file.
    ///
    /// # Errors
    /// The header lacks a field that every index has.
    pub(super) fn of(stored: &Stored) -> Result<Self, Error> {
        let object = stored.header.as_object();
        object.and_then(Header::from_object).ok_or_else(|| damaged(stored.path(), "damaged: the header is incomplete"))
    }

    /// What the words of a stored fingerprint are.
    pub(super) fn form(&self) -> FingerprintForm {
        match self.settings.get("bits") {
            Some(algorithm::Value::Integer(bits)) => FingerprintForm::Bits(*bits as usize),
            _ => FingerprintForm::Words,
        }
    }

    fn from_object(object: &Map<String, Value>) -> Option<Self> {
        let text = |name: &str| object.get(name)?.as_str().map(String::from);
        let number = |name: &str| object.get(name)?.as_u64();
        let others = object.iter().filter(|(name, _)| ![ALGORITHM, TOKENIZER, SEED, HASH_VERSION].contains(&&***name));
        Some(Header {
            algorithm: text(ALGORITHM)?,
            tokenizer: text(TOKENIZER)?,
            seed: number(SEED)?,
            hash_version: number(HASH_VERSION)?,
            settings: others.map(|(name, value)| Some((name.clone(), setting(value)?))).collect::<Option<_>>()?,
        })
    }
}

fn setting(value: &Value) -> Option<algorithm::Value> {
    match value {
        Value::Bool(on) => Some((*on).into()),
        Value::Number(number) => number.as_u64().map(algorithm::Value::from),
        Value::String(text) => Some(text.clone().into()),
        _ => None,
    }
}

/// As one object, like the header of the file.
#[cfg(feature = "report")]
impl serde::Serialize for Header {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let own: [(&str, algorithm::Value); 4] = [
            (ALGORITHM, self.algorithm.clone().into()),
            (TOKENIZER, self.tokenizer.clone().into()),
            (SEED, self.seed.into()),
            (HASH_VERSION, self.hash_version.into()),
        ];
        // Ordered by name.
        let mut fields: BTreeMap<&str, &algorithm::Value> = own.iter().map(|(name, value)| (*name, value)).collect();
        fields.extend(self.settings.iter().map(|(name, value)| (&**name, value)));
        serializer.collect_map(fields)
    }
}
