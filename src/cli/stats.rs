//! The file of `--stats`, which is also written when a run fails.

use super::files::OutFile;
use super::json::json;
use super::signals;
use super::spelling;
use super::standard_output::finish_line;
use super::status::Status;
use super::terminal;
use neardups::Error;
use neardups::{replace, source};
use serde::Serialize;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

/// The reason of a failure, as part of statistics.
#[derive(Serialize)]
pub struct Failure {
    kind: &'static str,
    message: String,
}

impl Failure {
    /// A signal ended the run.
    pub fn by_signal(message: impl Into<String>) -> Self {
        Failure { kind: "signal", message: message.into() }
    }
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

/// Whether the statistics of a whole run were written. A signal after that does not replace them.
static ARE_WRITTEN: AtomicBool = AtomicBool::new(false);

/// Ends the process on the first signal, and with it the programs that files are read through. For commands without a file
/// of statistics.
///
/// # Errors
/// None: there is no file to open again.
pub fn end_programs_on_signals(options: &source::ReadOptions) -> Result<(), Error> {
    if !options.programs.is_empty() { end_on_signals(None, INCOMPLETE) } else { Ok(()) }
}

/// The message when a signal stops a run.
pub const INCOMPLETE: &str = "stopped by a signal: results are missing or incomplete";

/// Ends the process on the first signal, with this message as the reason in the file of `--stats`. For commands without results until
/// their end.
///
/// # Errors
/// The file cannot be opened again.
pub fn end_on_signals(stats: Option<&OutFile>, message: impl Into<String>) -> Result<(), Error> {
    let message = message.into();
    end_on_signals_with(stats, move || message.clone())
}

/// The same, with a message that is made when the signal comes.
fn end_on_signals_with(stats: Option<&OutFile>, message: impl Fn() -> String + Send + 'static) -> Result<(), Error> {
    let stats = stats.map(OutFile::try_clone).transpose()?;
    // Without the handler a signal ends the program as well.
    signals::on_end(true, move || end_by_signal(stats.as_ref(), &message()));
    Ok(())
}

/// The same for a command that fills a folder. What it had decided when the signal comes is not decided again; `more` is what else can
/// be done then.
///
/// # Errors
/// Those of [`end_on_signals`].
pub fn end_on_signals_in(stats: Option<&OutFile>, folder: &Path, more: String) -> Result<(), Error> {
    let folder = folder.to_path_buf();
    end_on_signals_with(stats, move || match has_decided(&folder) {
        true => format!("{INCOMPLETE}: the same command continues{more}"),
        false => format!("{INCOMPLETE}: the same command begins again"),
    })
}

/// Whether a run that fills a folder has decided, and was not completed.
pub fn has_decided(folder: &Path) -> bool {
    folder.join("_dedup/state.json").exists()
}

/// Ends the process because of a signal; see [`end_on_signals`].
pub fn end_by_signal(stats: Option<&OutFile>, message: &str) -> ! {
    // From here on threads that read through programs stand still, so that the run cannot go on without these files.
    source::end_programs();
    terminal::stopped(message);
    let error = Failure::by_signal(message);
    let stopped = Failed { r#type: "stats", version: env!("CARGO_PKG_VERSION"), error };
    if let Some(stats) = stats
        && !ARE_WRITTEN.load(Ordering::Relaxed)
        && let Err(error) = stats.write(&json_line(&stopped))
    {
        terminal::error(&error);
    }
    finish_line();
    std::process::exit(130);
}

/// Writes the reason of a failure that the parser of the command line found. A file that is not one line of statistics stays as it
/// is: without the whole command line it is not known whether it is an input.
pub fn write_usage_error(path: &Path, message: String) {
    let is_ours = match path.metadata() {
        Ok(found) if found.is_file() && replace::hard_links(&found) == 1 => is_statistics(path),
        Ok(_) => false,
        Err(_) => true,
    };
    if !is_ours || path.as_os_str() == "-" {
        return;
    }
    let error = Error::Usage(message);
    let failed = Failed { r#type: "stats", version: env!("CARGO_PKG_VERSION"), error: (&error).into() };
    if let Err(error) = OutFile::new(path).and_then(|file| file.write(&json_line(&failed))) {
        terminal::error(&error);
    }
}

/// Whether a file is one line of statistics, of which the end is known without the rest.
fn is_statistics(path: &Path) -> bool {
    let mut found = Vec::new();
    let read = File::open(path).and_then(|file| file.take(LONGEST).read_to_end(&mut found));
    let line = found.strip_suffix(b"\n").unwrap_or_default();
    read.is_ok() && line.starts_with(START) && !line.contains(&b'\n')
}

/// The maximum size of statistics that are replaced, in bytes.
const LONGEST: u64 = 1 << 20;

/// The start of statistics.
const START: &[u8] = b"{\"type\":\"stats\",\"version\":";

fn json_line(stats: &impl Serialize) -> String {
    json(stats) + "\n"
}

/// Writes statistics. If the run has failed already, an error here is only reported.
///
/// # Errors
/// The file cannot be written.
pub fn write_stats(file: Option<OutFile>, stats: &impl Serialize, failure: Option<&Error>) -> Result<(), Error> {
    let Some(file) = file else { return Ok(()) };
    ARE_WRITTEN.store(true, Ordering::Relaxed);
    match file.write(&json_line(stats)) {
        Err(error) if failure.is_some() => {
            terminal::error(&error);
            Ok(())
        }
        written => written,
    }
}
