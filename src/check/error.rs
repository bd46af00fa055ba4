//! Errors of a check.

use crate::readable::counted;
use std::fmt;

/// Why a check could not run. Messages name no command-line option; the caller adds it.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// Invalid globs.
    Globs {
        /// The list that they are in.
        list: List,
        /// Which glob is invalid, and why.
        message: String,
    },
    /// A configuration with errors.
    Config(InvalidConfig),
    /// A file that is not a baseline.
    Baseline(InvalidBaseline),
    /// Git cannot determine what changed.
    Since(SinceError),
    /// The request updates a baseline but names none; or it names findings to accept, or a reason, and does not update one.
    NoBaseline,
    /// The request drops stale entries of a baseline but names none.
    NoBaselineToPrune,
    /// The request fails on stale entries of a baseline but names none.
    NoBaselineToFailOn,
    /// The request fails on stale entries of a baseline that does not exist, or, of what is staged, that a commit would not have. The path
    /// as given.
    MissingBaseline(String),
    /// The request drops stale entries of a baseline, and what else it does excludes that.
    Prune(PruneError),
    /// The request accepts a finding that was not found, named as given.
    UnknownFinding(String),
    /// The request has both [`since`](super::Request::since) and [`staged`](super::Request::staged).
    SinceAndStaged,
    /// A file that the check depends on cannot be read, or threads cannot be started.
    Run(crate::Error),
}

/// The lists of globs of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum List {
    /// [`ignore_here`](super::Request::ignore_here).
    IgnoreHere,
    /// [`ignore`](super::Request::ignore).
    Ignore,
    /// [`allow`](super::Request::allow).
    Allow,
    /// The [texts](super::Allow::text) of these.
    Texts,
    /// [`rules`](super::Request::rules).
    Rules,
}

/// What is wrong in a configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct InvalidConfig {
    /// Each error with its file and line, by position.
    pub errors: Vec<String>,
    /// How many more errors there are.
    pub more: usize,
}

/// Why a file is not a baseline.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct InvalidBaseline {
    /// The file.
    pub path: String,
    /// The line, from 1.
    pub line: usize,
    /// The column in bytes, from 1.
    pub column: usize,
    /// The problem at that position.
    pub message: String,
    /// Whether the file has unresolved merge conflicts.
    pub is_conflict: bool,
}

/// Why stale entries of a baseline cannot be dropped.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PruneError {
    /// The request also [updates](super::Request::update_baseline) the baseline, which drops them too.
    Update,
    /// The request also names findings to [accept](super::Request::accept), or a [reason](super::Request::reason).
    Accept,
    /// The request also checks what is [staged](super::Request::staged): pages that are not tracked are not read.
    Staged,
    /// Only a part of the pages was checked, so it is not known whether some entries are stale.
    Part {
        /// How many entries.
        entries: usize,
        /// A page of one of them that was not checked, relative to the folder of the baseline.
        page: String,
        /// Whether [`ignore_here`](super::Request::ignore_here) excludes it.
        is_ignored: bool,
    },
}

/// Why changes could not be determined.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SinceError {
    /// Git cannot be run, or there is no repository.
    Git(String),
    /// Changes since a commit could not be determined.
    Reference {
        /// The commit as given.
        reference: String,
        /// Why.
        message: String,
    },
    /// Changes of a page could not be determined.
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
            Error::Config(error) => error.fmt(f),
            Error::Baseline(error) => error.fmt(f),
            Error::Since(error) => error.fmt(f),
            Error::SinceAndStaged => f.write_str("changes since a commit and what is staged: choose one"),
            Error::NoBaseline => f.write_str("no baseline to update: name its file"),
            Error::NoBaselineToPrune => f.write_str("no baseline to drop stale entries from: name its file"),
            Error::MissingBaseline(path) => {
                write!(f, "{path}: no such baseline, so it is not known which entries are stale")
            }
            Error::NoBaselineToFailOn => f.write_str("no baseline whose entries could be stale: name its file"),
            Error::Prune(error) => error.fmt(f),
            Error::UnknownFinding(named) => {
                write!(f, "{named}: no copy with this fingerprint, or with a place that starts there")
            }
            Error::Run(error) => error.fmt(f),
        }
    }
}

/// A line for each error.
impl fmt::Display for InvalidConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.errors.join("\n"))?;
        if self.more > 0 { write!(f, "\n{} more", self.more) } else { Ok(()) }
    }
}

impl fmt::Display for InvalidBaseline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let InvalidBaseline { path, line, column, message, .. } = self;
        write!(f, "{path}:{line}:{column}: not a dedup baseline: {message}")
    }
}

impl fmt::Display for PruneError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PruneError::Update => f.write_str("an update of the baseline drops stale entries too: choose one"),
            PruneError::Accept => {
                f.write_str("nothing is accepted then: findings to accept, and a reason, are for an update")
            }
            PruneError::Staged => f.write_str(
                "pages that are not tracked are not read, so it is not known which entries are stale: check all pages",
            ),
            PruneError::Part { entries, page, is_ignored } => write!(
                f,
                "not known whether {} of pages that were not checked {} stale, such as {page}: {}",
                counted(*entries as u64, "entry"),
                if *entries == 1 { "is" } else { "are" },
                match is_ignored {
                    true => "check it too",
                    false => "check all pages of the baseline at once",
                }
            ),
        }
    }
}

impl fmt::Display for SinceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SinceError::Git(message) => write!(f, "git cannot determine what changed: {message}"),
            // A blank one could not be seen.
            SinceError::Reference { reference, message } if reference.trim().is_empty() => {
                write!(f, "'{reference}': {message}")
            }
            SinceError::Reference { reference, message } => write!(f, "{reference}: {message}"),
            SinceError::Page { path, message } => write!(f, "{path} {message}"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            // Its text is the message.
            Error::Run(error) => error.source(),
            _ => None,
        }
    }
}

impl std::error::Error for InvalidConfig {}

impl std::error::Error for InvalidBaseline {}

impl std::error::Error for SinceError {}

impl std::error::Error for PruneError {}

impl From<InvalidConfig> for Error {
    fn from(error: InvalidConfig) -> Self {
        Error::Config(error)
    }
}

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

/// The error that ended the run; others are errors of the request, [`Usage`](crate::Error::Usage).
impl From<Error> for crate::Error {
    fn from(error: Error) -> Self {
        match error {
            Error::Run(error) => error,
            error => crate::Error::Usage(error.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorKind;

    #[test]
    fn becomes_an_error_of_the_library() {
        let globs = Error::Globs { list: List::Allow, message: "no glob: '['".into() };
        for (error, kind, message) in [
            (Error::Run(crate::Error::Full("no threads".into())), ErrorKind::Memory, "no threads"),
            (globs, ErrorKind::Usage, "no glob: '['"),
        ] {
            let error = crate::Error::from(error);
            assert_eq!((error.kind(), &*error.to_string()), (kind, message));
        }
    }
}
