//! What can go wrong before a run starts or when its output cannot be written. Trouble with single documents is not an
//! error: it is a [`Problem`](crate::source::Problem), named and counted while the run goes on.

use std::{fmt, io};

/// What kind of trouble ended a run, for programs that react to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// What was asked for cannot be done: an unknown option, a value out of range, options that contradict each other.
    Usage,
    /// Results cannot be written where they were to go.
    Output,
    /// A temporary file or the file of an index cannot be read or written.
    Disk,
    /// An index is damaged, or is no index.
    IndexDamaged,
    /// An index was made with other options, or by another version.
    IndexOptions,
    /// An index has another writer.
    IndexLocked,
    /// A bound on memory, threads or the number of documents was reached.
    Memory,
    /// No document was read at all.
    Empty,
    /// A file that the run depends on (a reference, labels, a lexicon, the stream itself) cannot be read or understood.
    Input,
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
            ErrorKind::Memory => "memory",
            ErrorKind::Empty => "empty",
            ErrorKind::Input => "input",
        }
    }
}

/// What is wrong with an index that cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexFault {
    /// It is damaged, or no index.
    Damaged,
    /// It was made with other options, or by another version.
    Options,
    /// It has another writer.
    Locked,
}

/// An error that ends a run.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// A parameter has a value that it cannot have.
    Parameter {
        /// The parameter.
        name: &'static str,
        /// The value as typed.
        value: String,
        /// What would have been right: a range, or the accepted words.
        expected: String,
    },
    /// Parameters that contradict each other, or do not go with the algorithm.
    Usage(String),
    /// The algorithm would not give a trustworthy answer on these documents.
    Unsuitable(String),
    /// Reading or writing a file of the run itself failed: a temporary file, or that of an index.
    Io {
        /// What was being done, with the file.
        what: String,
        /// What the system said.
        error: io::Error,
    },
    /// Results cannot be written.
    Output {
        /// What was being written, with the file.
        what: String,
        /// What the system said.
        error: io::Error,
    },
    /// A file that the run depends on cannot be read.
    Input {
        /// What was being read.
        what: String,
        /// What the system said.
        error: io::Error,
    },
    /// A bound on memory or on the number of documents was reached, or threads cannot be had.
    Full(String),
    /// No document was read at all.
    Empty(String),
    /// More pairs of distinct documents than a run can number.
    TooManyPairs(u64),
    /// A labelled pair or cluster that cannot be used.
    Label {
        /// The file and the line.
        place: String,
        /// What is wrong with it.
        message: String,
    },
    /// A lexicon file that cannot be trusted.
    Lexicon {
        /// The file and the line.
        place: String,
        /// What is wrong with it, and what would be right.
        message: String,
    },
    /// An index that cannot be used.
    Index {
        /// The file.
        path: String,
        /// What kind of trouble it is.
        fault: IndexFault,
        /// What is wrong with it, and what would be right.
        message: String,
    },
    /// More documents than a run can number.
    TooManyDocuments(u64),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Parameter { name, value, expected } => {
                write!(f, "invalid value '{value}' for `{name}`: expected {expected}")
            }
            Error::Usage(message) | Error::Unsuitable(message) | Error::Full(message) | Error::Empty(message) => {
                f.write_str(message)
            }
            Error::Io { what, error } | Error::Output { what, error } | Error::Input { what, error } => {
                write!(f, "{what}: {error}")
            }
            Error::TooManyPairs(most) => write!(
                f,
                "more than {most} pairs of documents that are not copies: raise the threshold, or split the input"
            ),
            Error::Label { place, message } | Error::Lexicon { place, message } => write!(f, "{place}: {message}"),
            Error::Index { path, message, .. } => write!(f, "{path}: {message}"),
            Error::TooManyDocuments(most) => write!(f, "more than {most} documents: split the input"),
        }
    }
}

impl std::error::Error for Error {}

impl Error {
    /// A parameter out of range.
    pub fn parameter(name: &'static str, value: impl ToString, expected: impl Into<String>) -> Self {
        Error::Parameter { name, value: value.to_string(), expected: expected.into() }
    }

    /// A failed read or write of a file of the run itself, with what was being done.
    pub fn io(what: impl Into<String>, error: io::Error) -> Self {
        Error::Io { what: what.into(), error }
    }

    /// Results that could not be written.
    pub fn output(what: impl Into<String>, error: io::Error) -> Self {
        Error::Output { what: what.into(), error }
    }

    /// A file that the run depends on and that could not be read.
    pub fn input(what: impl Into<String>, error: io::Error) -> Self {
        Error::Input { what: what.into(), error }
    }

    /// What kind of trouble it is.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Error::Parameter { .. } | Error::Usage(_) | Error::Unsuitable(_) => ErrorKind::Usage,
            Error::Io { .. } => ErrorKind::Disk,
            Error::Output { .. } => ErrorKind::Output,
            Error::Input { .. } | Error::Label { .. } | Error::Lexicon { .. } => ErrorKind::Input,
            Error::Full(_) | Error::TooManyPairs(_) | Error::TooManyDocuments(_) => ErrorKind::Memory,
            Error::Empty(_) => ErrorKind::Empty,
            Error::Index { fault: IndexFault::Damaged, .. } => ErrorKind::IndexDamaged,
            Error::Index { fault: IndexFault::Options, .. } => ErrorKind::IndexOptions,
            Error::Index { fault: IndexFault::Locked, .. } => ErrorKind::IndexLocked,
        }
    }

    /// Whether this is only the reader of our output having gone away, which is a quiet end.
    pub fn is_closed_pipe(&self) -> bool {
        matches!(self, Error::Output { error, .. } if error.kind() == io::ErrorKind::BrokenPipe)
    }
}
