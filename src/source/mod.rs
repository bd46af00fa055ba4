//! The sources of documents: files, folders, standard input; plain text, JSON lines, CSV, Parquet, HTML, web archives;
//! compressed or not.
//!
//! Reading has two steps, so that it can use many threads. One thread reads bytes, decompresses them and cuts them into
//! [`Batch`]es of whole records ([`Source::read`]). Any thread then parses a batch into documents
//! ([`Batch::documents`]). Memory is bounded by the batch size and the record limit, never by the input.
//!
//! An error in one file or record is a [`Problem`] in the batch where it occurred: it is reported, and the run
//! continues.
//!
//! | file | one idea |
//! |---|---|
//! | `program` | files that another program turns into text |
//! | `opaque` | files that hold no text, by their first bytes |
//! | `options` | options: formats, limits |
//! | `fields` | the fields of records; the text in several of them |
//! | `input`, `walk` | paths and folders, in their order |
//! | `identity` | the names of one file |
//! | `rewind` | standard input, read twice |
//! | `decompress`, `reader` | compressed bytes → bytes |
//! | `file` | one file: its format, its pieces |
//! | `cut` | bytes → whole records |
//! | `live` | lines and records of a live stream |
//! | `warc` | the same for archives; a record → a page |
//! | `documents`, `records` | documents that a program has in memory, or makes one by one |
//! | `batch` | whole records → documents, on any thread |
//! | `parquet` | columns of a file with random access → ranges of rows |
//! | `lines`, `jsonl`, `csv` | the records of each format |
//! | `decode`, `html` | bytes → text; markup → text |
//! | `rest`, `compress` | a file without some of its records; bytes → compressed bytes |

mod batch;
#[cfg(feature = "clean")]
mod compress;
#[cfg(feature = "files")]
mod csv;
#[cfg(feature = "files")]
mod cut;
mod decode;
mod decompress;
mod documents;
mod fields;
#[cfg(feature = "files")]
mod file;
#[cfg(feature = "files")]
mod globs;
#[cfg(feature = "html")]
pub(crate) mod html;
pub(crate) mod identity;
#[cfg(feature = "files")]
mod input;
mod jsonl;
mod lines;
mod live;
mod opaque;
mod options;
#[cfg(feature = "parquet")]
mod parquet;
#[cfg(feature = "files")]
mod program;
mod rank;
#[cfg(feature = "files")]
mod reader;
mod records;
#[cfg(feature = "clean")]
pub(crate) mod rest;
#[cfg(feature = "files")]
mod rewind;
#[cfg(feature = "files")]
mod walk;
#[cfg(feature = "warc")]
mod warc;

pub use batch::Batch;
pub use documents::Documents;
pub use fields::{FieldPath, TextFields};
#[cfg(feature = "files")]
pub use globs::Globs;
#[cfg(feature = "html")]
pub use html::page_text;
pub use identity::FileId;
#[cfg(feature = "clean")]
pub(crate) use input::Listed;
#[cfg(feature = "files")]
pub use input::{Counts, Files, Input};
pub use live::{Chunk, Chunks, EachRecord, Live};
pub use opaque::opaque;
pub use options::{FORMATS, Format, FormatName, Options, PageText};
#[cfg(feature = "files")]
pub use program::{Program, end_programs};
pub use rank::{Number, Rank, RankBy, Ranking};
pub use records::Records;
#[cfg(any(feature = "check", feature = "clean"))]
pub(crate) use walk::display_path;

use crate::error::Error;
use std::borrow::Cow;
use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::ops::ControlFlow;
use std::path::Path;

/// A source of documents, which come in the same order each time it is read.
pub trait Source: Send {
    /// Reads everything once, passing batches in order to `deliver`. Stops early on `Break`. Each call must yield the same
    /// documents.
    fn read(&mut self, deliver: &mut dyn FnMut(Batch) -> ControlFlow<()>);

    /// Announces, before the first reading, that there may be a second one. A source that can be read only once then
    /// keeps a copy; any other does nothing.
    fn keep_for_second_read(&mut self) {}

    /// Why the last reading ended early, if something failed that is no problem of a single file: the copy for a second
    /// reading cannot be written. A run ends with this error.
    fn failure(&self) -> Option<Error> {
        None
    }

    /// The number of bytes that [`read`](Self::read) will read, counted as in [`Batch::bytes_read`], if known.
    fn total_bytes(&self) -> Option<u64> {
        None
    }
}

/// The bytes of one file that is not a document, decompressed if they are compressed.
pub(crate) fn open(path: &Path) -> io::Result<Box<dyn Read>> {
    decompress::open(File::open(path)?, Default::default(), &Options::default())
}

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
pub struct Place {
    /// The path as given, `/`-separated.
    pub path: std::sync::Arc<str>,
    /// The line, or the number of the record in an archive or of the row in a Parquet file, from 1; `None` for a whole
    /// file.
    pub line: Option<u64>,
}

impl Place {
    /// Whether an id is only this location, written as `path:LINE`.
    pub fn names(&self, id: &str) -> bool {
        let line = id.strip_prefix(&*self.path).and_then(|rest| rest.strip_prefix(':'));
        self.line.is_some_and(|own| line.is_some_and(|line| line.parse() == Ok(own)))
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}", self.path),
            None => f.write_str(&self.path),
        }
    }
}

/// The severity of a [`Problem`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Severity {
    /// The main text of a page was requested but not found, so all its text was read. Counted, not reported one by one.
    FellBack,
    /// The document was read with changes: for example, invalid bytes were replaced.
    Repaired,
    /// Left out by rule: a binary file, a symbolic link that leads back to itself.
    Skipped,
    /// An unreadable file or record. It affects the exit status.
    Failed,
}

/// The kind of a [`Problem`], for programs, and for messages that are counted together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum ProblemKind {
    /// A file, folder or stream cannot be opened or read.
    Unreadable,
    /// A file or stream ends prematurely, or its compressed data is damaged.
    Damaged,
    /// A record or document is longer than allowed.
    TooLong,
    /// A line is not a JSON object.
    Json,
    /// A record has no text, or its text is not a string.
    Text,
    /// The id of a record, or the column of ids, is neither a string nor a number.
    Id,
    /// The header row or the schema of a file does not have the requested columns.
    Header,
    /// A record of an archive violates the format.
    Archive,
    /// A page has a content coding that is not supported.
    Coding,
    /// A file holds no text: an archive, any other binary file.
    NotText,
    /// A PDF or an office document, which needs a program to be read.
    NeedsProgram,
    /// The program that a file is read through failed, or did not end in time.
    Program,
    /// A file was already read under another name.
    SameFile,
    /// A symbolic link leads back to a folder that contains it.
    Loop,
    /// A pipe, a socket or a device in a folder.
    Special,
    /// A document changed between two readings.
    Changed,
    /// The text was decoded from a guessed encoding other than UTF-8.
    Decoded,
    /// Invalid bytes were replaced.
    Replaced,
    /// A file lacks some of the columns of the text, and was read without them.
    MissingColumn,
    /// No main text was found in a page.
    MainText,
}

impl ProblemKind {
    /// Its name in records.
    pub fn name(self) -> &'static str {
        match self {
            ProblemKind::Unreadable => "unreadable",
            ProblemKind::Damaged => "damaged",
            ProblemKind::TooLong => "too-long",
            ProblemKind::Json => "json",
            ProblemKind::Text => "text",
            ProblemKind::Id => "id",
            ProblemKind::Header => "header",
            ProblemKind::Archive => "archive",
            ProblemKind::Coding => "coding",
            ProblemKind::NotText => "not-text",
            ProblemKind::NeedsProgram => "needs-program",
            ProblemKind::Program => "program",
            ProblemKind::SameFile => "same-file",
            ProblemKind::Loop => "loop",
            ProblemKind::Special => "special",
            ProblemKind::Changed => "changed",
            ProblemKind::Decoded => "decoded",
            ProblemKind::Replaced => "replaced",
            ProblemKind::MissingColumn => "missing-column",
            ProblemKind::MainText => "main-text",
        }
    }

    /// Whether it means that a file or record that may hold a document was not read.
    pub fn is_rejection(self) -> bool {
        match self {
            ProblemKind::Unreadable
            | ProblemKind::Damaged
            | ProblemKind::TooLong
            | ProblemKind::Json
            | ProblemKind::Text
            | ProblemKind::Id
            | ProblemKind::Header
            | ProblemKind::Archive
            | ProblemKind::Coding
            | ProblemKind::NotText
            | ProblemKind::NeedsProgram
            | ProblemKind::Program => true,
            ProblemKind::SameFile
            | ProblemKind::Loop
            | ProblemKind::Special
            | ProblemKind::Changed
            | ProblemKind::Decoded
            | ProblemKind::Replaced
            | ProblemKind::MissingColumn
            | ProblemKind::MainText => false,
        }
    }
}

/// A problem with one file or one record.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Problem {
    /// Its location.
    pub place: Place,
    /// Its severity.
    pub severity: Severity,
    /// Its kind.
    pub kind: ProblemKind,
    /// The message, with the offending value; one line, without a full stop.
    pub message: String,
    /// The id of the record, if it could be read.
    pub id: Option<String>,
    /// The record unchanged, if it was rejected whole and [`Options::keep_rejected`] is set.
    pub record: Option<Vec<u8>>,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.message)
    }
}

impl Problem {
    /// A problem with a whole file, or with one line of it.
    pub(crate) fn new(
        severity: Severity,
        kind: ProblemKind,
        path: &str,
        line: Option<u64>,
        message: impl Into<String>,
    ) -> Self {
        Problem::at(Place { path: path.into(), line }, severity, kind, message)
    }

    /// A record of a custom source that cannot be read, identified by its id. A scan counts it as failed. The message
    /// is one line that says what is wrong, with the value.
    pub fn of_record(id: impl fmt::Display, message: impl Into<String>) -> Self {
        let id = id.to_string();
        let place = Place { path: id.as_str().into(), line: None };
        Problem { id: Some(id), ..Problem::at(place, Severity::Failed, ProblemKind::Text, message) }
    }

    /// A problem at a location.
    pub fn at(place: Place, severity: Severity, kind: ProblemKind, message: impl Into<String>) -> Self {
        Problem { place, severity, kind, message: message.into(), id: None, record: None }
    }
}
