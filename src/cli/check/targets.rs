//! The files of reports and of the baseline. They must not replace inputs.

use super::super::files::{self, OutFile};
use super::super::outputs::Outputs;
use super::super::status::usage_error;
use super::super::terminal::escaped;
use super::super::wrap;
use super::confine::{confine, refuse_links_out_of};
use crate::check::paths::{current_repository, place, repository_of, shown};
use crate::cli::standard_output::refuse_closed_output;
use neardups::Error;
use neardups::check::config::{Config, Settings};
use neardups::check::report::{Format, Target, is_html_report, marked};
use neardups::check::{Outcome, Request, Tree};
use neardups::replace::{Links, open_regular};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The variable of GitHub's runner that names the file of a step's summary.
const STEP_SUMMARY: &str = "GITHUB_STEP_SUMMARY";

/// Reports with their files, and the file of the baseline if it is updated.
pub struct Targets {
    reports: Vec<(Target, Option<OutFile>)>,
    pub baseline: Option<OutFile>,
    /// The summary of a step of GitHub Actions, which is appended to if there is a report for GitHub.
    step_summary: Option<PathBuf>,
    outputs: Outputs,
}

impl Targets {
    /// Checks that the files can be written, and that they are different from each other, the baseline and the configuration. Files named
    /// by the configuration rather than by options must be inside of its repository, and so must the pages.
    ///
    /// # Errors
    /// Two of these are the same file, a file cannot be written, or it is outside of the repository.
    pub fn new(request: &Request, config: &Config, typed: &Settings) -> Result<Self, Error> {
        let targets = request.reports.clone();
        if targets.iter().filter(|target| target.file.is_none()).count() > 1 {
            return Err(usage_error("only one report can go to standard output: use FORMAT=FILE for the others"));
        }
        let repositories = repositories(request, config)?;
        let refuse_outside = |path: &Path, what: &str, is_typed: bool| {
            if let (false, Some(own)) = (is_typed, &repositories.own) {
                confine(path, own, what)?;
            }
            repositories.all.iter().try_for_each(|root| refuse_links_out_of(root, path, what))
        };
        // Without a repository, the configuration is the user's own.
        let own = repositories.own.as_ref().filter(|own| own.join(".git").exists());
        if let (None, Some(_), Some(own)) = (&typed.paths, &config.settings.paths, own) {
            request.paths.iter().try_for_each(|path| confine(path, own, "paths"))?;
        }
        let mut outputs = Outputs::new();
        let mut baseline = None;
        if let Some(path) = request.baseline.as_deref() {
            refuse_outside(path, "the baseline", typed.baseline.is_some())?;
            if request.writes_baseline() {
                baseline = Some(outputs.file(path, "the baseline")?);
            } else {
                outputs.reads(path, "the baseline")?;
            }
        }
        if let Some(path) = config.path.as_deref() {
            outputs.reads(path, "the configuration")?;
        }
        let mut open = |target: Target| {
            let file = target.file.as_deref().map(|path| {
                let what = format!("report {target}");
                refuse_outside(path, &what, typed.report.is_some())?;
                outputs.file(path, &what)
            });
            file.transpose().map(|file| (target, file))
        };
        let reports = targets.into_iter().map(&mut open).collect::<Result<Vec<_>, Error>>()?;
        // The runner names it, not the configuration: it may be anywhere, but no link in a repository may lead to it.
        let is_github = |(target, _): &(Target, _)| target.format == Format::Github;
        let step_summary =
            std::env::var_os(STEP_SUMMARY).filter(|path| !path.is_empty() && reports.iter().any(is_github));
        let step_summary = step_summary.map(PathBuf::from);
        if let Some(path) = &step_summary {
            refuse_outside(path, STEP_SUMMARY, true)?;
            outputs.appends(path, STEP_SUMMARY)?;
        }
        let targets = Targets { reports, baseline, step_summary, outputs };
        match targets.reports.iter().any(|(_, file)| file.is_none()) {
            true => refuse_closed_output().map(|()| targets),
            false => Ok(targets),
        }
    }

    /// Refuses to replace a page, whether it could be read or not.
    ///
    /// # Errors
    /// A report would replace a page.
    pub fn refuse_overwriting_pages(&self, request: &Request, tree: &Tree) -> Result<(), Error> {
        // Named files count even if globs exclude them. Only reports for browsers are recognised reliably and may be replaced.
        let named = request.paths.iter().filter(|path| path.is_file() && !is_html_report(path));
        let named: Vec<(PathBuf, String)> = named.map(|path| (place(path), shown(path))).collect();
        let read = tree.pages.iter().map(|page| (&page.place, &page.path));
        let checked: BTreeMap<&PathBuf, &String> =
            named.iter().chain(&tree.unread).map(|(place, path)| (place, path)).chain(read).collect();
        if let Some((_, page)) = checked.iter().find(|(place, _)| self.outputs.standard_output_adds_to(place)) {
            return Err(usage_error(format!("standard output would be appended to a checked page, {}", escaped(page))));
        }
        if let Some(page) = self.step_summary.as_deref().and_then(|path| checked.get(&place(path))) {
            return Err(usage_error(format!("{STEP_SUMMARY} would be appended to a checked page, {}", escaped(page))));
        }
        for (target, file) in
            self.reports.iter().filter_map(|(target, _)| Some((target, place(target.file.as_deref()?))))
        {
            if let Some(page) = checked.get(&file) {
                return Err(usage_error(format!(
                    "--report {} would overwrite a checked page, {}: name another file, or remove this one",
                    escaped(&target.to_string()),
                    escaped(page)
                )));
            }
        }
        Ok(())
    }

    /// Writes the reports.
    ///
    /// # Errors
    /// One cannot be written.
    pub fn write(self, outcome: &Outcome) -> Result<(), Error> {
        // If the reader closes standard output early, the files are still written.
        let mut closed = None;
        for (target, file) in self.reports {
            let written = match file {
                Some(file) => file.write(&target.render(outcome)),
                None if target.format == Format::Human => wrap::write(&marked(outcome)).map_err(cannot_write),
                None => io::stdout().lock().write_all(target.render(outcome).as_bytes()).map_err(cannot_write),
            };
            match written {
                Err(error) if error.is_closed_pipe() => closed = Some(error),
                written => written?,
            }
        }
        // Last: if it cannot be written, the reports are.
        if let Some(path) = &self.step_summary {
            append(path, &Format::Markdown.render(outcome)).map_err(|error| files::cannot_write(path, error))?;
        }
        closed.map_or_else(|| io::stdout().flush().map_err(cannot_write), Err)
    }
}

/// Appends to a file.
fn append(path: &Path, text: &str) -> io::Result<()> {
    open_regular(path, OpenOptions::new().append(true).create(true), Links::Followed)?.write_all(text.as_bytes())
}

/// Folders that may contain untrusted contributions.
struct Repositories {
    /// The repository of the configuration, or its folder; `None` without a configuration.
    own: Option<PathBuf>,
    /// The repositories of the checked files, of the current folder and of the configuration.
    all: BTreeSet<PathBuf>,
}

fn repositories(request: &Request, config: &Config) -> Result<Repositories, Error> {
    let base = config.path.is_some().then(|| config.base()).transpose()?;
    let own = base.map(|base| repository_of(&base).unwrap_or(base));
    let checked = request.paths.iter().filter_map(|path| path.canonicalize().ok());
    let checked = checked.filter_map(|path| repository_of(&path));
    let all = own.clone().into_iter().chain(current_repository()).chain(checked).collect();
    Ok(Repositories { own, all })
}

pub fn cannot_write(error: io::Error) -> Error {
    Error::output("cannot write results", error)
}
