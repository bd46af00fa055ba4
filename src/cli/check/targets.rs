//! Where reports go, and what they must not replace.

use super::super::outputs::{OutFile, Outputs, confine, place, refuse_links_out_of};
use super::super::{terminal::escaped, usage_error};
use super::config::{Check, Config};
use super::pages::{Tree, shown};
use super::report::{FORMATS, Outcome, Target, repository, repository_of};
use neardups::Error;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// What a report for a browser has at its start.
const HTML: &str = "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n";

/// And what tells it from other pages, before its title.
const GENERATOR: &str = "<meta name=\"generator\" content=\"dedup check\">\n";

/// A report for people in a file that would be empty otherwise, and could not be told from an empty page.
const NO_COPIES: &str = "No copies.\n";

/// Reports with their files, and the file of the baseline if it is to be written.
pub struct Targets {
    reports: Vec<(Target, Option<OutFile>)>,
    pub baseline: Option<OutFile>,
    outputs: Outputs,
}

/// Which of the files that are written were named by options; the others, by the configuration.
#[derive(Clone, Copy)]
pub struct Typed {
    pub report: bool,
    pub baseline: bool,
}

impl Targets {
    /// Tries the files, which must be different ones, and neither the baseline nor the configuration. Those that the configuration names
    /// must be inside of its repository.
    ///
    /// # Errors
    /// Two of these are one file, or a file cannot be written.
    pub fn new(check: &Check, config: &Config, typed: Typed, updates: bool) -> Result<Self, Error> {
        let targets = check.report.iter().flatten().map(|report| Target::parse(report).map_err(usage_error));
        let targets = targets.collect::<Result<Vec<Target>, Error>>()?;
        if targets.iter().filter(|target| target.file.is_none()).count() > 1 {
            return Err(usage_error("one report can go to standard output; the others need FORMAT=FILE"));
        }
        let repositories = repositories(check, config)?;
        let refuse_outside = |path: &Path, what: &str, is_typed: bool| {
            if let (false, Some(own)) = (is_typed, &repositories.own) {
                confine(path, own, what)?;
            }
            repositories.all.iter().try_for_each(|root| refuse_links_out_of(root, path, what))
        };
        let mut outputs = Outputs::new();
        let mut baseline = None;
        if let Some(path) = check.baseline.as_deref() {
            if updates {
                refuse_outside(path, "the baseline", typed.baseline)?;
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
                refuse_outside(path, &what, typed.report)?;
                outputs.file(path, &what)
            });
            file.transpose().map(|file| (target, file))
        };
        let reports = targets.into_iter().map(&mut open).collect::<Result<_, Error>>()?;
        Ok(Targets { reports, baseline, outputs })
    }

    /// Files that are no pages although they may be called like some: the baseline, and reports of earlier runs.
    pub fn written(&self, check: &Check) -> Vec<PathBuf> {
        let files = self.reports.iter().filter_map(|(target, _)| target.file.as_deref());
        files.filter(|file| is_report(file)).chain(check.baseline.as_deref()).map(place).collect()
    }

    /// Says that no file that is looked at would be replaced by a report, whether it could be read or not.
    ///
    /// # Errors
    /// One would be.
    pub fn spare(&self, check: &Check, tree: &Tree) -> Result<(), Error> {
        // Also if globs leave it out. Of what was named only a report for browsers is sure to be one.
        let named = check
            .paths
            .iter()
            .flatten()
            .filter(|path| path.is_file() && !start(path).is_some_and(|text| is_html(&text)));
        let named: Vec<(PathBuf, String)> = named.map(|path| (place(path), shown(path))).collect();
        let read = tree.pages.iter().map(|page| (&page.place, &page.path));
        let looked_at: BTreeMap<&PathBuf, &String> =
            named.iter().chain(&tree.unread).map(|(place, path)| (place, path)).chain(read).collect();
        if let Some((_, page)) = looked_at.iter().find(|(place, _)| self.outputs.standard_output_adds_to(place)) {
            return Err(usage_error(format!(
                "standard output would add to a page that is looked at, {}",
                escaped(page)
            )));
        }
        for (target, file) in
            self.reports.iter().filter_map(|(target, _)| Some((target, place(target.file.as_deref()?))))
        {
            if let Some(page) = looked_at.get(&file) {
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
        // Who reads standard output may have seen enough: the files are written all the same.
        let mut closed = None;
        for (target, file) in self.reports {
            let text = (target.format.render)(outcome);
            // Whatever colours a report has are its own; what pages have of control characters would speak to whoever
            // shows it.
            let is_coloured = target.format.name == FORMATS[0].name;
            let speaks = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
            let written = match file {
                Some(file) if is_coloured && text.is_empty() => file.write(NO_COPIES),
                Some(file) if is_coloured => file.write(&anstream::adapter::strip_str(&text).to_string()),
                Some(file) => file.write(&text.replace(speaks, "")),
                None if is_coloured => anstream::stdout().lock().write_all(text.as_bytes()).map_err(cannot_write),
                None => io::stdout().lock().write_all(text.replace(speaks, "").as_bytes()).map_err(cannot_write),
            };
            match written {
                Err(error) if error.is_closed_pipe() => closed = Some(error),
                written => written?,
            }
        }
        closed.map_or_else(|| io::stdout().flush().map_err(cannot_write), Err)
    }
}

/// Folders that may be somebody else's work.
struct Repositories {
    /// That of the configuration, or its folder, if there is a configuration.
    own: Option<PathBuf>,
    /// Those of what is looked at, of the current folder and of the configuration.
    all: BTreeSet<PathBuf>,
}

fn repositories(check: &Check, config: &Config) -> Result<Repositories, Error> {
    let base = config.path.is_some().then(|| config.base()).transpose()?;
    let own = base.map(|base| repository_of(&base).unwrap_or(base));
    let looked_at = check.paths.iter().flatten().filter_map(|path| path.canonicalize().ok());
    let looked_at = looked_at.filter_map(|path| repository_of(&path));
    let all = own.clone().into_iter().chain(repository()).chain(looked_at).collect();
    Ok(Repositories { own, all })
}

/// Whether a file is a report of an earlier run, as its start tells. Other reports than those for people and browsers are not told
/// from pages, but they are seldom called like pages.
fn is_report(path: &Path) -> bool {
    start(path).is_some_and(|text| starts_report(&text))
}

/// The start of a file.
fn start(path: &Path) -> Option<String> {
    let mut start = Vec::new();
    // The names of two files, each as long as a path can be, and with what stands for control characters.
    let is_read = fs::metadata(path).is_ok_and(|found| found.is_file())
        && File::open(path).and_then(|file| file.take(1 << 16).read_to_end(&mut start)).is_ok();
    is_read.then(|| String::from_utf8_lossy(&start).into_owned())
}

/// Whether a text starts as reports for people and browsers do.
fn starts_report(text: &str) -> bool {
    let mut lines = text.lines();
    let copy = [lines.next(), lines.next(), lines.next()];
    let is_human = match copy {
        [Some(here), Some(there), Some(words)] => {
            let is_copy = told(here).is_some_and(|copy| {
                let copy = copy.strip_suffix(" (accepted)").unwrap_or(copy);
                copy.ends_with(" % alike") || copy.contains(" is in ")
            });
            let other = told(there).and_then(|other| other.strip_prefix("the other place"));
            is_copy
                && other.is_some_and(|under| under.is_empty() || under.starts_with(", under “"))
                && words.starts_with("    ")
        }
        _ => text == NO_COPIES,
    };
    is_human || is_html(text)
}

/// Whether a text starts as reports for browsers do.
fn is_html(text: &str) -> bool {
    let head = text.strip_prefix(HTML).and_then(|head| head.split_once("<title>"));
    head.is_some_and(|(head, _)| head.ends_with(GENERATOR))
}

/// What is told of a place, behind its path, line and column.
fn told(line: &str) -> Option<&str> {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    line.match_indices(": ").find_map(|(end, _)| {
        let mut place = line[..end].rsplitn(3, ':');
        let is_place =
            place.next().is_some_and(is_number) && place.next().is_some_and(is_number) && place.next().is_some();
        is_place.then(|| &line[end + 2..])
    })
}

pub fn cannot_write(error: io::Error) -> Error {
    Error::output("cannot write results", error)
}

#[cfg(test)]
mod tests {
    use super::*;

    const COPY: &str = "a.md:6:1: paragraph of 57 words, 94 % alike\nb.md:6:1: the other place\n    The same words.\n";

    #[test]
    fn reports_are_known() {
        for text in [
            COPY,
            "a: b.md:6:1: 90 % of a: b.md is in c.md\nc.md:1:1: the other place, under “C”\n    x\n\nmore",
            "a.md:6:1: paragraph of 57 words, 94 % alike (accepted)\nb.md:6:1: the other place\n    x",
            NO_COPIES,
            include_str!("../../check/report/page.html"),
        ] {
            assert!(starts_report(text), "{text}");
        }
    }

    #[test]
    fn pages_are_no_reports() {
        let quoted = format!("# What is told\n\n{COPY}");
        let words = COPY.replace("    The", "The");
        let late = format!("{HTML}<title>How reports look</title>{GENERATOR}");
        let about = format!("# Reports\n\n{GENERATOR}\n");
        for text in [
            "",
            "\n",
            "Moving\nSee: the other place\n\n    words",
            "a.md:6:1: all alike\nb.md:6:1: the other place\n    words",
            "a.md:6:1: 94 % alike\nb.md:6: the other place\n    words",
            "a.md:6:1: 94 % alike\nb.md:6:1: the other place to be\n    words",
            "a.md:6:1: 94 % alike\nb.md:6:1: the other place",
            "No copies.\n\nThis page is about copies.\n",
            &quoted,
            &words,
            &late,
            &about,
        ] {
            assert!(!starts_report(text), "{text}");
        }
    }

    #[test]
    fn what_stands_behind_a_place() {
        for (line, expected) in [
            ("a:1:2: b", Some("b")),
            ("a: b:1:2: c: d", Some("c: d")),
            ("a:1:2:3:4: b", Some("b")),
            ("1:2: b", None),
            ("a:x:2: b", None),
            ("a:1:: b", None),
            ("a:1:2:b", None),
            ("", None),
        ] {
            assert_eq!(told(line), expected, "{line}");
        }
    }
}
