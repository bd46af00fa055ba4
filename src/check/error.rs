//! What keeps a check from running.

/// Why a check could not run. It names no option: whoever has some adds them.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Globs that cannot be used.
    #[error("{message}")]
    Globs {
        /// Where they stand.
        list: List,
        /// What is wrong with which of them.
        message: String,
    },
    /// A file that is not a baseline.
    #[error(transparent)]
    Baseline(#[from] InvalidBaseline),
    /// It is not known what changed.
    #[error(transparent)]
    Since(#[from] SinceError),
    /// A baseline is to be updated, and the request names none.
    #[error("there is no baseline to update")]
    NoBaseline,
    /// A file that the check depends on cannot be read, or threads cannot be had.
    #[error(transparent)]
    Run(#[from] crate::Error),
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
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{path}:{line}:{column}: not a dedup baseline: {message}")]
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
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SinceError {
    /// There is no git, or no repository.
    #[error("git cannot tell what changed: {0}")]
    Git(String),
    /// What changed since a commit is not known.
    #[error("{reference}: {message}")]
    Reference {
        /// The commit, as it was given.
        reference: String,
        /// Why.
        message: String,
    },
    /// What changed in a page is not known.
    #[error("{path} {message}")]
    Page {
        /// Its path as given.
        path: String,
        /// Why.
        message: String,
    },
}
