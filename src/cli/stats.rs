//! The file of `--stats`, which is also written when a run fails.

use super::files::OutFile;
use super::spelling;
use super::status::Status;
use super::terminal;
use neardups::Error;
use serde::Serialize;

/// The reason of a failure, as part of statistics.
#[derive(Serialize)]
pub struct Failure {
    kind: &'static str,
    message: String,
}

impl From<&Error> for Failure {
    fn from(error: &Error) -> Self {
        Failure { kind: error.kind().name(), message: spelling::of_error(error) }
    }
}

/// The object of `--stats` for a run that failed early.
#[derive(Serialize)]
struct Failed {
    r#type: &'static str,
    version: &'static str,
    error: Failure,
}

/// Runs a command that takes the file of `--stats` and writes it. If the command fails earlier, writes the reason to the file.
///
/// # Errors
/// Those of the command.
pub fn with_stats(
    mut stats: Option<OutFile>,
    run: impl FnOnce(&mut Option<OutFile>) -> Result<Status, Error>,
) -> Result<Status, Error> {
    let result = run(&mut stats);
    if let Err(error) = &result {
        let failed = Failed { r#type: "stats", version: env!("CARGO_PKG_VERSION"), error: error.into() };
        write_stats(stats, &failed, Some(error))?;
    }
    result
}

/// Writes statistics. If the run has failed already, an error here is only reported.
///
/// # Errors
/// The file cannot be written.
pub fn write_stats(file: Option<OutFile>, stats: &impl Serialize, failure: Option<&Error>) -> Result<(), Error> {
    let Some(file) = file else { return Ok(()) };
    let text = serde_json::to_string(stats).expect("numbers and strings make JSON") + "\n";
    match file.write(&text) {
        Err(error) if failure.is_some() => {
            terminal::error(&error);
            Ok(())
        }
        written => written,
    }
}
