//! The exit status of a command, and errors in the combination of options.

use neardups::Error;

/// The outcome of a command, as scripts see it. If several apply, the last one counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
    /// It succeeded.
    Done,
    /// `check` found copies, or `index get` no document with one of the ids.
    Found,
    /// It succeeded, but some input failed and was reported.
    SomeFailed,
    /// A signal stopped it; the output is consistent.
    Stopped,
    /// The command could not do its work.
    Failed,
}

impl Status {
    /// `Done`, or `SomeFailed` if some input failed.
    pub fn of_input(failed: u64) -> Self {
        if failed > 0 { Status::SomeFailed } else { Status::Done }
    }
}

impl From<Status> for u8 {
    fn from(status: Status) -> Self {
        match status {
            Status::Done => 0,
            Status::Found => 1,
            Status::SomeFailed => 3,
            Status::Failed => 2,
            Status::Stopped => 130,
        }
    }
}

/// An error in the combination of options.
pub fn usage_error(message: impl Into<String>) -> Error {
    Error::Usage(message.into())
}
