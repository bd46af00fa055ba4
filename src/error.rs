//! What can go wrong before a run starts or when its output cannot be written. Trouble with single documents is not an
//! error: it is a [`Problem`](crate::source::Problem), named and counted while the run goes on.

use std::io;

/// An error that ends a run.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A parameter has a value that it cannot have.
    #[error("invalid value '{value}' for --{name}: expected {expected}")]
    Parameter {
        /// The parameter, as its flag is called.
        name: &'static str,
        /// The value as typed.
        value: String,
        /// What would have been right: a range, or the accepted words.
        expected: String,
    },
    /// Parameters that contradict each other, or do not go with the algorithm.
    #[error("{0}")]
    Usage(String),
    /// The algorithm would not give a trustworthy answer on these documents.
    #[error("{0}")]
    Unsuitable(String),
    /// Reading or writing a file of the run itself (not of one document) failed.
    #[error("{what}: {error}")]
    Io {
        /// What was being done, with the file.
        what: String,
        /// What the system said.
        error: io::Error,
    },
    /// More pairs of distinct documents than a run can number.
    #[error("more than {0} pairs of documents that are not copies: raise the threshold, or split the input")]
    TooManyPairs(u64),
    /// A labelled pair or cluster that cannot be used.
    #[error("{place}: {message}")]
    Label {
        /// The file and the line.
        place: String,
        /// What is wrong with it.
        message: String,
    },
    /// A lexicon file that cannot be trusted.
    #[error("{place}: {message}")]
    Lexicon {
        /// The file and the line.
        place: String,
        /// What is wrong with it, and what would be right.
        message: String,
    },
    /// An index that cannot be used.
    #[error("{path}: {message}")]
    Index {
        /// The file.
        path: String,
        /// What is wrong with it, and what would be right.
        message: String,
    },
    /// More documents than a run can number.
    #[error("more than {0} documents: split the input")]
    TooManyDocuments(u64),
}

impl Error {
    /// A parameter out of range.
    pub fn parameter(name: &'static str, value: impl ToString, expected: impl Into<String>) -> Self {
        Error::Parameter { name, value: value.to_string(), expected: expected.into() }
    }

    /// A failed read or write, with what was being done.
    pub fn io(what: impl Into<String>, error: io::Error) -> Self {
        Error::Io { what: what.into(), error }
    }

    /// Whether this is only the reader of our output having gone away, which is a quiet end.
    pub fn is_closed_pipe(&self) -> bool {
        matches!(self, Error::Io { error, .. } if error.kind() == io::ErrorKind::BrokenPipe)
    }
}
