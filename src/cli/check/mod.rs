//! `dedup check`: finds copies in documentation. The work is done by [`neardups::check`].
//!
//! ```text
//! arguments.rs   flags → typed arguments → request
//! confine.rs     restricts the files that a configuration may name
//! targets.rs     opens the files of reports; refuses to overwrite inputs
//! print.rs       messages; the resolved settings as dedup.toml
//! ```

pub mod arguments;
mod confine;
mod print;
mod targets;

use super::status::{Status, usage_error};
use super::terminal::{self, Terminal, counted};
use arguments::{Arguments, explained};
use neardups::Error;
use neardups::check::config::{Config, NAME};
use neardups::check::report::{Format, Target};
use neardups::check::{Check, Outcome, Request};
use std::fs;
use std::io;
use std::path::Path;
use std::time::Instant;
use targets::Targets;

/// The bytes of a file, if it is one and can be read.
fn content(file: &Path) -> Option<Vec<u8>> {
    let is_file = fs::metadata(file).is_ok_and(|metadata| metadata.is_file());
    if is_file { fs::read(file).ok() } else { None }
}

/// Runs a check, writes its reports, and prints a summary.
pub fn run(arguments: &Arguments) -> Result<Status, Error> {
    let started = Instant::now();
    arguments.color.write_global();
    let config = arguments.config().map_err(|error| one_of_config(error, arguments.staged))?;
    let terminal = Terminal::new(arguments.quiet, None).without_bar();
    let settings = config.complete(arguments.settings.clone());
    if arguments.print {
        return print::config(arguments, settings, &config, &terminal).map(|()| Status::Done);
    }
    let request = arguments.request(&config, &settings)?;
    let targets = Targets::new(&request, &config, &arguments.settings)?;
    let baseline = request.baseline.as_deref();
    let before = baseline.filter(|_| request.writes_baseline()).and_then(content);
    let outcome = outcome(&request, &config, &targets, &terminal)?;
    if let (Some(update), Some(baseline)) = (&outcome.update, baseline) {
        if let (Some(text), Some(file)) = (update.text(), &targets.baseline) {
            // Another update has accepted what this one does not know.
            if content(baseline) != before {
                let why = io::Error::other("it changed during this run: repeat the command");
                return Err(Error::output(format!("cannot update {}", baseline.display()), why));
            }
            file.write(text)?;
        }
        print::update(update, baseline, request.reason.is_some(), &terminal);
    }
    match targets.write(&outcome) {
        // The reader closed the output early; the status still counts.
        Err(error) if error.is_closed_pipe() => {}
        written => written?,
    }
    check_not_empty(&outcome, &request, &config)?;
    let is_listed = |target: &Target| target.format == Format::Human && target.file.is_none();
    let is_listed = request.reports.iter().any(is_listed);
    print::summary(&outcome, request.baseline.as_deref(), is_listed, started.elapsed(), &terminal);
    let found = if outcome.fails() { Status::Found } else { Status::Done };
    Ok(found.max(Status::of_input(outcome.failed.len() as u64)))
}

/// Prints all errors of a configuration but the last, which is returned.
fn one_of_config(error: neardups::check::Error, staged: bool) -> Error {
    let neardups::check::Error::Config(mut invalid) = error else { return explained(error, staged) };
    if invalid.more > 0 {
        invalid.errors.push(format!("{} in the configuration", counted(invalid.more as u64, "more error")));
    }
    let last = invalid.errors.pop().unwrap_or_default();
    invalid.errors.into_iter().for_each(|message| terminal::error_of_check(&usage_error(message)));
    usage_error(last)
}

/// Reads and compares the pages, with messages about problems.
fn outcome(request: &Request, config: &Config, targets: &Targets, terminal: &Terminal) -> Result<Outcome, Error> {
    let explained = |error| explained(error, request.staged);
    let check = Check::new(request).map_err(explained)?;
    if let Some(baseline) = request.baseline.as_deref().filter(|_| check.lacks_baseline() && !request.update_baseline) {
        print::missing_baseline(baseline, request.staged, terminal);
    }
    let pages = check.read().map_err(explained)?;
    print::tree(pages.tree(), terminal);
    targets.refuse_overwriting_pages(request, pages.tree())?;
    print::unused(pages.unused(), config, terminal);
    let outcome = pages.find().map_err(explained)?;
    print::idle(&outcome, config, terminal);
    Ok(outcome)
}

/// Checks that pages were read: a mistyped path must not look like pages without copies. A page may be empty.
fn check_not_empty(outcome: &Outcome, request: &Request, config: &Config) -> Result<(), Error> {
    // A commit is not refused because no page is tracked yet, or because it removes the last one.
    if outcome.pages == 0 && outcome.untracked + outcome.removed > 0 {
        return Ok(());
    }
    if outcome.pages == 0 {
        if outcome.left_out > 0 {
            let name = config.path.as_deref().unwrap_or(Path::new(NAME)).display();
            let globs = [
                (!request.ignore.is_empty()).then(|| format!("ignore in {name}")),
                (!request.ignore_here.is_empty()).then(|| "--ignore".to_string()),
            ];
            let globs: Vec<String> = globs.into_iter().flatten().collect();
            let (exclude, files) =
                (if globs.len() == 1 { "excludes" } else { "exclude" }, counted(outcome.left_out as u64, "file"));
            let globs = globs.join(" and ");
            return Err(Error::Empty(format!("no pages were read: {globs} {exclude} {files}: correct the globs")));
        }
        let found = "no pages were read";
        let advice = match request.paths.iter().any(|path| path.exists()) {
            _ if !outcome.failed.is_empty() => "see the failures above, and name pages, or folders with pages",
            true => {
                "pages are files such as .md, .rst, .adoc, .html and .txt; copied code is found by 'dedup passages --tokenizer code'"
            }
            false => "name pages, or folders with pages",
        };
        return Err(Error::Empty(format!("{found}: {advice}")));
    }
    Ok(())
}
