//! Errors before a run starts or while its output is written. Problems with single documents are not errors: each is a
//! [`Problem`](crate::source::Problem), reported and counted while the run continues.

use crate::readable::count;
use std::{fmt, io};

/// The kind of an error that ended a run, for programs that react to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The request is invalid: an unknown option, a value out of range, options that contradict each other.
    Usage,
    /// The results cannot be written to their destination.
    Output,
    /// A temporary file or the file of an index cannot be read or written.
    Disk,
    /// An index is damaged, or the file is not an index.
    IndexDamaged,
    /// An index was made with other options, or by another version.
    IndexOptions,
    /// The index is open for writing, in another process or in this one.
    IndexLocked,
    /// An index that is not to be created is missing. One that is only read and does not exist is [`Input`](Self::Input).
    IndexMissing,
    /// A bound on memory, threads or the number of documents was reached.
    Memory,
    /// No document was read.
    Empty,
    /// A file that the run depends on (a reference, labels, a lexicon, the stream itself) cannot be read or understood.
    Input,
    /// The run was stopped before its end.
    Stopped,
}

impl ErrorKind {
    /// Its name in messages and statistics.
    pub fn name(self) -> &'static str {
        match self {
            ErrorKind::Usage => "usage",
            ErrorKind::Output => "output",
            ErrorKind::Disk => "disk",
            ErrorKind::IndexDamaged => "index-damaged",
            ErrorKind::IndexOptions => "index-options",
            ErrorKind::IndexLocked => "index-locked",
            ErrorKind::IndexMissing => "index-missing",
            ErrorKind::Memory => "memory",
            ErrorKind::Empty => "empty",
            ErrorKind::Input => "input",
            ErrorKind::Stopped => "signal",
        }
    }
}

/// Why an index cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum IndexFault {
    /// It is damaged, or is not an index.
    Damaged,
    /// It was made with other options, or by another version.
    Options,
    /// It is open for writing, in another process or in this one.
    Locked,
    /// It does not exist, or is an empty file, and is not to be created.
    Missing,
}

/// An error that ends a run.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// A parameter has an invalid value.
    Parameter {
        /// The parameter, as the program `dedup` spells it, without `--`: `min-words`.
        name: &'static str,
        /// The value as typed.
        value: String,
        /// The valid values: a range, or the accepted words.
        expected: String,
    },
    /// Parameters that contradict each other, or that the algorithm does not support.
    Usage(String),
    /// The algorithm would not give a reliable result on these documents.
    Unsuitable(String),
    /// A file of the run itself cannot be read or written: a temporary file, or that of an index.
    Io {
        /// The failed operation, with the file.
        what: String,
        /// The error of the system.
        error: io::Error,
    },
    /// The results cannot be written.
    Output {
        /// The failed operation, with the file.
        what: String,
        /// The error of the system.
        error: io::Error,
    },
    /// A file that the run depends on cannot be read.
    Input {
        /// The failed operation, with the file.
        what: String,
        /// The error of the system.
        error: io::Error,
    },
    /// A bound on memory or on the number of documents was reached, or threads cannot be started.
    Full(String),
    /// No document was read.
    Empty(String),
    /// No record has a text field that was named. The first problem with one, with its place.
    NoText(String),
    /// Files or records could not be read, and none may fail.
    Failed {
        /// Their number.
        failed: u64,
        /// What happened to the results: "nothing was written".
        results: String,
    },
    /// The [observer](crate::engine::Observer::is_stopped) ended the run.
    Stopped,
    /// A labelled pair or cluster that cannot be used.
    Label {
        /// The file and the line.
        place: String,
        /// What is wrong with it.
        message: String,
    },
    /// A lexicon file that is invalid.
    Lexicon {
        /// The file and the line.
        place: String,
        /// What is wrong with it, and what was expected.
        message: String,
    },
    /// A chosen document that is none of the input, or a line that is not a decision.
    Decision {
        /// The file and the line.
        place: String,
        /// What is wrong with it, and what was expected.
        message: String,
    },
    /// An index that cannot be used.
    Index {
        /// The file.
        path: String,
        /// Why it cannot be used.
        fault: IndexFault,
        /// What is wrong with it, and what was expected.
        message: String,
    },
    /// More documents than a run can number.
    TooManyDocuments(u64),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Parameter { name, value, expected } => {
                // As a field or an argument of a program, in which no name has hyphens.
                write!(f, "invalid value '{value}' for `{}`: expected {expected}", name.replace('-', "_"))
            }
            Error::Usage(message) | Error::Unsuitable(message) | Error::Full(message) | Error::Empty(message) => {
                f.write_str(message)
            }
            Error::Io { what, error } | Error::Output { what, error } | Error::Input { what, error } => {
                write!(f, "{what}: {error}")
            }
            Error::Label { place, message }
            | Error::Lexicon { place, message }
            | Error::Decision { place, message } => {
                write!(f, "{place}: {message}")
            }
            Error::Index { path, message, .. } => write!(f, "{path}: {message}"),
            Error::NoText(problem) => write!(f, "no record has a text field: {problem}"),
            Error::Failed { failed: 1, results } => write!(f, "`on-error fail`: 1 file or record failed: {results}"),
            Error::Failed { failed, results } => {
                write!(f, "`on-error fail`: {} files or records failed: {results}", count(*failed))
            }
            Error::Stopped => f.write_str("the run was stopped before its end"),
            Error::TooManyDocuments(most) => write!(f, "more than {most} documents: split the input"),
        }
    }
}

/// The message includes that of the system's error, which is in the field `error`, so it has no source.
impl std::error::Error for Error {}

impl Error {
    /// A parameter out of range.
    pub fn parameter(name: &'static str, value: impl ToString, expected: impl Into<String>) -> Self {
        Error::Parameter { name, value: value.to_string(), expected: expected.into() }
    }

    /// A failed read or write of a file of the run itself, with the operation that failed.
    pub fn io(what: impl Into<String>, error: io::Error) -> Self {
        Error::Io { what: what.into(), error }
    }

    /// The system starts no threads.
    pub(crate) fn no_threads(error: impl fmt::Display) -> Self {
        Error::Full(format!("cannot start threads: {error}"))
    }

    /// Results that could not be written.
    pub fn output(what: impl Into<String>, error: io::Error) -> Self {
        Error::Output { what: what.into(), error }
    }

    /// A file that the run depends on and that could not be read.
    pub fn input(what: impl Into<String>, error: io::Error) -> Self {
        Error::Input { what: what.into(), error }
    }

    /// The kind of the error.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Error::Parameter { .. } | Error::Usage(_) | Error::Unsuitable(_) => ErrorKind::Usage,
            Error::Io { .. } => ErrorKind::Disk,
            Error::Output { .. } => ErrorKind::Output,
            Error::Input { .. }
            | Error::Failed { .. }
            | Error::Label { .. }
            | Error::Lexicon { .. }
            | Error::Decision { .. } => ErrorKind::Input,
            Error::Full(_) | Error::TooManyDocuments(_) => ErrorKind::Memory,
            Error::Empty(_) | Error::NoText(_) => ErrorKind::Empty,
            Error::Stopped => ErrorKind::Stopped,
            Error::Index { fault: IndexFault::Damaged, .. } => ErrorKind::IndexDamaged,
            Error::Index { fault: IndexFault::Options, .. } => ErrorKind::IndexOptions,
            Error::Index { fault: IndexFault::Locked, .. } => ErrorKind::IndexLocked,
            Error::Index { fault: IndexFault::Missing, .. } => ErrorKind::IndexMissing,
        }
    }

    /// Whether the error only means that the reader of our output closed it, which ends the program quietly.
    pub fn is_closed_pipe(&self) -> bool {
        matches!(self, Error::Output { error, .. } if error.kind() == io::ErrorKind::BrokenPipe)
    }
}
