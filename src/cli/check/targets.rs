//! Where reports go, and what they must not replace.

use super::super::out_file::{OutFile, place};
use super::super::{terminal::escaped, usage_error};
use super::config::{Check, Config};
use super::pages::{self, Page};
use super::report::{FORMATS, Outcome, Target};
use neardups::Error;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// What a report for a browser has at its start.
const GENERATOR: &str = r#"<meta name="generator" content="dedup check">"#;

/// Reports with their files.
pub struct Targets(Vec<(Target, Option<OutFile>)>);

impl Targets {
    /// Tries the files, which must be different ones, and neither the baseline nor the configuration.
    ///
    /// # Errors
    /// Two of these are one file, or a file cannot be written.
    pub fn new(check: &Check, config: &Config) -> Result<Self, Error> {
        let targets = check.report.iter().flatten().map(|report| Target::parse(report).map_err(usage_error));
        let targets = targets.collect::<Result<Vec<Target>, Error>>()?;
        if targets.iter().filter(|target| target.file.is_none()).count() > 1 {
            return Err(usage_error("one report can go to standard output; the others need FORMAT=FILE"));
        }
        let named = [(&check.baseline, "the baseline"), (&config.path, "the configuration")];
        let named = named.into_iter().filter_map(|(path, what)| Some((path.as_deref()?, what.to_string())));
        let reports = targets.iter().filter_map(|target| Some((target.file.as_deref()?, format!("report {target}"))));
        let mut taken: Vec<(PathBuf, String)> = Vec::new();
        for (path, what) in named.chain(reports) {
            let place = place(path);
            if let Some((_, other)) = taken.iter().find(|(taken, _)| *taken == place) {
                let path = escaped(&path.to_string_lossy());
                return Err(usage_error(format!("{path} cannot be both {} and {}", escaped(other), escaped(&what))));
            }
            taken.push((place, what));
        }
        let open = |target: Target| {
            let file = target.file.as_deref().map(|path| OutFile::create("report", path, &[])).transpose()?;
            Ok((target, file))
        };
        targets.into_iter().map(open).collect::<Result<_, Error>>().map(Targets)
    }

    /// Files that are no pages although they may be called like some: the baseline, and reports of earlier runs.
    pub fn written(&self, check: &Check) -> Vec<PathBuf> {
        let files = self.0.iter().filter_map(|(target, _)| target.file.as_deref());
        files.filter(|file| is_report(file)).chain(check.baseline.as_deref()).map(place).collect()
    }

    /// Says that no page would be replaced by a report.
    ///
    /// # Errors
    /// One would be.
    pub fn spare(&self, check: &Check, pages: &[Page]) -> Result<(), Error> {
        // What was named and could not be read is no report either.
        let named = check.paths.iter().flatten().filter(|path| path.is_file() && !is_report(path));
        let named: Vec<(PathBuf, String)> = named.map(|path| (place(path), pages::shown(path))).collect();
        for (target, file) in self.0.iter().filter_map(|(target, _)| Some((target, place(target.file.as_deref()?)))) {
            let read = pages.iter().find(|page| page.place == file).map(|page| &page.path);
            if let Some(page) = read.or_else(|| Some(&named.iter().find(|(named, _)| *named == file)?.1)) {
                return Err(usage_error(format!(
                    "--report {} would overwrite a page that is looked at, {}: name another file, or remove this one",
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
        for (target, file) in self.0 {
            let text = (target.format.render)(outcome);
            // Whatever colours a report has are its own; what pages have of control characters would speak to whoever shows it.
            let is_coloured = target.format.name == FORMATS[0].name;
            let speaks = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
            match file {
                Some(file) if is_coloured => file.write(&anstream::adapter::strip_str(&text).to_string())?,
                Some(file) => file.write(&text.replace(speaks, ""))?,
                None if is_coloured => anstream::stdout().lock().write_all(text.as_bytes()).map_err(cannot_write)?,
                None => io::stdout().lock().write_all(text.replace(speaks, "").as_bytes()).map_err(cannot_write)?,
            }
        }
        Ok(())
    }
}

/// Whether a file is a report of an earlier run, as its first lines tell, or empty. Other reports than those for people and browsers are
/// not told from pages, but they are seldom called like pages.
fn is_report(path: &Path) -> bool {
    let mut start = Vec::new();
    let is_file = fs::metadata(path).is_ok_and(|found| found.is_file());
    if !is_file || File::open(path).and_then(|file| file.take(1 << 12).read_to_end(&mut start)).is_err() {
        return false;
    }
    let start = String::from_utf8_lossy(&start);
    let second = start.lines().nth(1).unwrap_or_default();
    start.is_empty() || start.contains(GENERATOR) || second.contains(": the other place")
}

pub fn cannot_write(error: io::Error) -> Error {
    Error::io("cannot write results", error)
}
