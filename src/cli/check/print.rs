//! What was asked, as `dedup.toml`.

use super::super::terminal::Terminal;
use super::super::{Status, usage_error};
use super::config::{Check, Config, File, NAME};
use super::paths::{behind, way};
use super::report::Target;
use super::targets::cannot_write;
use clap::ArgMatches;
use clap::parser::ValueSource;
use neardups::Error;
use std::io::{self, Write};
use std::path::Path;

/// Options that the file has no keys for, and that say what is looked at.
const WITHOUT_KEYS: [&str; 3] = ["hidden", "no-ignore-files", "since"];

/// Prints it so that the same is asked when it stands in the folder of the configuration, or in the current one if there is none. What
/// cannot be asked there is named.
///
/// # Errors
/// A folder is not there, or standard output cannot be written.
pub fn print(given: &ArgMatches, check: Check, config: &Config, terminal: &Terminal) -> Result<Status, Error> {
    terminal.line(&match &config.path {
        Some(path) => format!("{} is read; what is printed starts from its folder", path.display()),
        None if given.get_flag("no-config") => "what is printed starts from the current folder".to_string(),
        None => format!("there is no {NAME}; what is printed starts from the current folder"),
    });
    let (here, base) = (Config::default().base()?, config.base()?);
    let mut check = starting_from(check, &way(&base, &here));
    let typed: Vec<String> = given.get_many("ignore").into_iter().flatten().cloned().collect();
    // Such a glob takes back what those of its own list leave out, and no others.
    let takes_back = typed.iter().chain(&check.ignore).any(|glob| glob.starts_with('!'));
    if here == base && !takes_back {
        check.ignore.extend(typed);
    } else {
        let why = if takes_back { "what ! takes back is of its own list" } else { "globs start from elsewhere there" };
        typed.iter().for_each(|glob| terminal.warning(&format!("--ignore '{glob}' is not printed: {why}")));
    }
    for name in WITHOUT_KEYS.iter().filter(|name| given.value_source(name) == Some(ValueSource::CommandLine)) {
        terminal.warning(&format!("--{name} is not printed: {NAME} has no key for it"));
    }
    let text = toml::to_string(&File { check }).map_err(|error| usage_error(format!("cannot print: {error}")))?;
    io::stdout().write_all(text.as_bytes()).map_err(cannot_write)?;
    Ok(Status::Done)
}

/// The same with paths from another folder, from which this is the way to the current one.
fn starting_from(check: Check, way: &Path) -> Check {
    let report = |report: String| match Target::parse(&report) {
        Ok(Target { format, file: Some(file) }) => Target { format, file: Some(behind(way, &file)) }.to_string(),
        _ => report,
    };
    Check {
        paths: check.paths.map(|paths| paths.iter().map(|path| behind(way, path)).collect()),
        baseline: check.baseline.map(|path| behind(way, &path)),
        report: check.report.map(|reports| reports.into_iter().map(report).collect()),
        ..check
    }
}
