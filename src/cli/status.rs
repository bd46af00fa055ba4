//! How a command ends: with a status, or with an error in the way that options go together.

use neardups::Error;
use std::process::ExitCode;

/// How a command ended, as scripts see it. Where several hold, the last of them counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
    /// It did what was asked.
    Done,
    /// `check` found copies.
    Found,
    /// It was done, but some input failed and was reported.
    SomeFailed,
    /// A signal stopped it after a clean end.
    Stopped,
    /// The command could not do its work.
    Failed,
}

impl Status {
    /// Done, unless some input failed.
    pub fn of_input(failed: u64) -> Self {
        if failed > 0 { Status::SomeFailed } else { Status::Done }
    }
}

impl From<Status> for ExitCode {
    fn from(status: Status) -> Self {
        match status {
            Status::Done => ExitCode::SUCCESS,
            Status::Found => ExitCode::from(1),
            Status::SomeFailed => ExitCode::from(3),
            Status::Failed => ExitCode::from(2),
            Status::Stopped => ExitCode::from(130),
        }
    }
}

/// An error in how options go together.
pub fn usage_error(message: impl Into<String>) -> Error {
    Error::Usage(message.into())
}
