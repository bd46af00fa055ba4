//! What keeps a check from running.

use std::fmt;

/// Why a check could not run. It names no option: whoever has some adds them.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// Globs that cannot be used.
    Globs {
        /// Where they stand.
        list: List,
        /// What is wrong with which of them.
        message: String,
    },
    /// A file that is not a baseline.
    Baseline(InvalidBaseline),
    /// It is not known what changed.
    Since(SinceError),
    /// A baseline is to be updated, and the request names none.
    NoBaseline,
    /// A file that the check depends on cannot be read, or threads cannot be had.
    Run(crate::Error),
}

/// The lists of globs of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum List {
    /// [`ignore_here`](super::Request::ignore_here).
    IgnoreHere,
    /// [`ignore`](super::Request::ignore).
    Ignore,
    /// [`allow`](super::Request::allow).
    Allow,
    /// [`rules`](super::Request::rules).
    Rules,
}

/// Why a file is not a baseline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidBaseline {
    /// The file.
    pub path: String,
    /// The line, from 1.
    pub line: usize,
    /// The column in bytes, from 1.
    pub column: usize,
    /// What is wrong there.
    pub message: String,
    /// Whether git left two versions in it.
    pub is_conflict: bool,
}

/// Why it is not known what changed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SinceError {
    /// There is no git, or no repository.
    Git(String),
    /// What changed since a commit is not known.
    Reference {
        /// The commit, as it was given.
        reference: String,
        /// Why.
        message: String,
    },
    /// What changed in a page is not known.
    Page {
        /// Its path as given.
        path: String,
        /// Why.
        message: String,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Globs { message, .. } => f.write_str(message),
            Error::Baseline(error) => error.fmt(f),
            Error::Since(error) => error.fmt(f),
            Error::NoBaseline => f.write_str("there is no baseline to update"),
            Error::Run(error) => error.fmt(f),
        }
    }
}

impl fmt::Display for InvalidBaseline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let InvalidBaseline { path, line, column, message, .. } = self;
        write!(f, "{path}:{line}:{column}: not a dedup baseline: {message}")
    }
}

impl fmt::Display for SinceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SinceError::Git(message) => write!(f, "git cannot tell what changed: {message}"),
            SinceError::Reference { reference, message } => write!(f, "{reference}: {message}"),
            SinceError::Page { path, message } => write!(f, "{path} {message}"),
        }
    }
}

// The errors inside have no source, and their text is shown already.
impl std::error::Error for Error {}

impl std::error::Error for InvalidBaseline {}

impl std::error::Error for SinceError {}

impl From<InvalidBaseline> for Error {
    fn from(error: InvalidBaseline) -> Self {
        Error::Baseline(error)
    }
}

impl From<SinceError> for Error {
    fn from(error: SinceError) -> Self {
        Error::Since(error)
    }
}

impl From<crate::Error> for Error {
    fn from(error: crate::Error) -> Self {
        Error::Run(error)
    }
}
