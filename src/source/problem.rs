//! What is wrong with a file or a record.

use super::document::Place;
use std::fmt;
use std::num::NonZeroI32;

/// The severity of a [`Problem`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Severity {
    /// It matters only if records of the file are to be left out of a copy. Cleaning reports it then, as
    /// [`Failed`](Severity::Failed); it is not counted before.
    Deferred,
    /// The main text of a page was requested but not found, so all its text was read. Counted, not reported one by one.
    FellBack,
    /// The document was read with changes: for example, invalid bytes were replaced, or a column of texts is missing or has the name of another,
    /// which is not counted as a repair.
    Repaired,
    /// Left out by rule: a binary file, a symbolic link that leads back to itself.
    Skipped,
    /// An unreadable file or record, or a value that cannot be used. It affects the exit status.
    Failed,
}

/// The kind of a [`Problem`], for programs, and for messages that are counted together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "report", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
#[non_exhaustive]
pub enum ProblemKind {
    /// A file, folder or stream cannot be opened or read.
    Unreadable,
    /// A file or stream ends prematurely, or its compressed data is damaged. Or a record of an archive has a wrong length that is
    /// longer than allowed, so that what follows may be a part of it.
    Damaged,
    /// A column of a Parquet file that is not read is damaged: the records are read nevertheless.
    DamagedColumn,
    /// No copy of a file without some of its records can be made: in Parquet, a type or a compression is not written, or a page
    /// of a column that is not read is longer than allowed; passages are not cut out of HTML and archives. The records are read
    /// nevertheless.
    Uncopied,
    /// A record or document is longer than allowed.
    TooLong,
    /// A line is not a JSON object.
    Json,
    /// A record has no text, or its text is not a string.
    Text,
    /// Too much of a text is in another encoding than the rest, or than it should be.
    Encoding,
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
    /// A file is a JSON array of objects, and not JSON lines.
    JsonArray,
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
    /// Invalid bytes, or escapes in JSON that stand for no character, were replaced.
    Replaced,
    /// The body of a page is incomplete: what is there was read.
    Incomplete,
    /// A file lacks some of the columns of the text, and was read without them.
    MissingColumn,
    /// Several columns of a file have the name of one that is read: the first was read.
    RepeatedColumn,
    /// No main text was found in a page.
    MainText,
    /// The value that ranks a record is neither a number nor a time, or not what it is in other records. The record is read
    /// nevertheless.
    Rank,
}

impl ProblemKind {
    /// Its name in records.
    pub fn name(self) -> &'static str {
        match self {
            ProblemKind::Unreadable => "unreadable",
            ProblemKind::Damaged => "damaged",
            ProblemKind::DamagedColumn => "damaged-column",
            ProblemKind::Uncopied => "uncopied",
            ProblemKind::TooLong => "too-long",
            ProblemKind::Json => "json",
            ProblemKind::Text => "text",
            ProblemKind::Encoding => "encoding",
            ProblemKind::Id => "id",
            ProblemKind::Header => "header",
            ProblemKind::Archive => "archive",
            ProblemKind::Coding => "coding",
            ProblemKind::NotText => "not-text",
            ProblemKind::NeedsProgram => "needs-program",
            ProblemKind::JsonArray => "json-array",
            ProblemKind::Program => "program",
            ProblemKind::SameFile => "same-file",
            ProblemKind::Loop => "loop",
            ProblemKind::Special => "special",
            ProblemKind::Changed => "changed",
            ProblemKind::Decoded => "decoded",
            ProblemKind::Replaced => "replaced",
            ProblemKind::Incomplete => "incomplete",
            ProblemKind::MissingColumn => "missing-column",
            ProblemKind::RepeatedColumn => "repeated-column",
            ProblemKind::MainText => "main-text",
            ProblemKind::Rank => "rank",
        }
    }

    /// Whether a file lacks columns, or has some twice, so that it is read as it is: no text was changed.
    pub(crate) fn is_about_columns(self) -> bool {
        matches!(self, ProblemKind::MissingColumn | ProblemKind::RepeatedColumn)
    }

    /// Whether such a file or record is rejected by rule, so that it counts as skipped, not as failed.
    #[cfg(feature = "clean")]
    pub(crate) fn is_by_rule(self) -> bool {
        matches!(self, ProblemKind::NotText | ProblemKind::NeedsProgram | ProblemKind::JsonArray | ProblemKind::Coding)
    }

    /// Whether it means that a file or record that may hold a document was not read.
    pub fn is_rejection(self) -> bool {
        match self {
            ProblemKind::Unreadable
            | ProblemKind::Damaged
            | ProblemKind::TooLong
            | ProblemKind::Json
            | ProblemKind::Text
            | ProblemKind::Encoding
            | ProblemKind::Id
            | ProblemKind::Header
            | ProblemKind::Archive
            | ProblemKind::Coding
            | ProblemKind::NotText
            | ProblemKind::NeedsProgram
            | ProblemKind::JsonArray
            | ProblemKind::Program => true,
            ProblemKind::DamagedColumn
            | ProblemKind::Uncopied
            | ProblemKind::SameFile
            | ProblemKind::Loop
            | ProblemKind::Special
            | ProblemKind::Changed
            | ProblemKind::Decoded
            | ProblemKind::Replaced
            | ProblemKind::Incomplete
            | ProblemKind::MissingColumn
            | ProblemKind::RepeatedColumn
            | ProblemKind::MainText
            | ProblemKind::Rank => false,
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
    /// The number of records that it rejects: more than 1 for rows of a Parquet file that follow each other, of which the
    /// location is the first.
    pub records: u64,
    /// The record unchanged, if it was rejected whole and [`ReadOptions::keep_rejected`](super::ReadOptions::keep_rejected) is set.
    pub record: Option<Vec<u8>>,
    /// Whether the record has none of the fields of the text. Otherwise, if the kind is [`ProblemKind::Text`], there is
    /// something that is no text.
    pub lacks_field: bool,
    /// The number of the error of the system, where a file or folder cannot be opened.
    pub os_error: Option<NonZeroI32>,
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
        Problem {
            place,
            severity,
            kind,
            message: message.into(),
            id: None,
            records: 1,
            record: None,
            lacks_field: false,
            os_error: None,
        }
    }

    /// Whether single records failed, and not a file: those that cannot be read, and those whose value ranks nothing. A document that is a
    /// whole file, and is too long or in a wrong encoding, is such a record. A record against the format of its archive is none: it is not
    /// known how many others it hides.
    pub fn is_bad_record(&self) -> bool {
        let is_of_records = match self.kind {
            ProblemKind::TooLong | ProblemKind::Encoding => true,
            ProblemKind::Json | ProblemKind::Text | ProblemKind::Id | ProblemKind::Rank => self.place.line.is_some(),
            _ => false,
        };
        self.severity == Severity::Failed && is_of_records
    }

    /// The same, because of this error.
    #[cfg(feature = "files")]
    pub(super) fn caused_by(self, error: &std::io::Error) -> Self {
        Problem { os_error: error.raw_os_error().and_then(NonZeroI32::new), ..self }
    }

    /// Whether the text is not as it was stored. A file that lacks a column of texts is read as it is.
    pub(crate) fn is_repair(&self) -> bool {
        self.severity == Severity::Repaired && !self.kind.is_about_columns()
    }

    /// The locations of the records that it rejects.
    pub(crate) fn places(&self) -> impl Iterator<Item = Place> {
        let Place { path, line } = &self.place;
        (0..self.records)
            .map(move |next| Place { path: path.clone(), line: line.map(|line| line.saturating_add(next)) })
    }
}
