//! A document, and its location.

use super::rank::Rank;
use std::borrow::Cow;
use std::fmt;

/// One document, borrowed from its batch where possible.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Document<'a> {
    /// Its id. Several documents of a run may have the same id; they are identified by their location.
    pub id: Cow<'a, str>,
    /// The text, decoded.
    pub text: Cow<'a, str>,
    /// Its location.
    pub place: Place,
    /// How much it is preferred over its near-duplicates.
    pub rank: Rank,
}

/// The location of a record: a file, and a line in it (in an archive: a record; in Parquet: a row) unless it is the whole
/// file. `-` is standard input.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub struct Place {
    /// The path as given, `/`-separated.
    pub path: std::sync::Arc<str>,
    /// The line, or the number of the record in an archive or of the row in a Parquet file, from 1; `None` for a whole
    /// file.
    pub line: Option<u64>,
}

impl Place {
    /// The record at this line, or with this number, of a file; with `None` the whole file.
    pub fn new(path: impl Into<std::sync::Arc<str>>, line: Option<u64>) -> Self {
        Place { path: path.into(), line }
    }

    /// Whether an id is only this location, written as `path:LINE`.
    pub fn names(&self, id: &str) -> bool {
        is_name_of((&self.path, self.line), id)
    }
}

/// Whether an id is only the location of a record, written as `path:LINE`.
pub(crate) fn is_name_of((path, line): (&str, Option<u64>), id: &str) -> bool {
    let written = id.strip_prefix(path).and_then(|rest| rest.strip_prefix(':'));
    line.is_some_and(|own| written.is_some_and(|line| line.parse() == Ok(own)))
}

/// Whether an id is the number of a record in the file or stream with this path, written as `path:LINE`: the document has none of its own.
pub(crate) fn is_numbered(id: &str, path: &str) -> bool {
    let number = id.strip_prefix(path).and_then(|rest| rest.strip_prefix(':'));
    number.is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}", self.path),
            None => f.write_str(&self.path),
        }
    }
}
