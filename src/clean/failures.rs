//! The file `failed.jsonl`: what could not be read, so that each further run of the same command can report it again.

use super::folder::{Folder, cannot_write};
use super::request::CleanOptions;
use crate::engine::Observer;
use crate::error::Error;
use crate::replace::{Links, open_regular};
use crate::run::observer::{Estimate, Stage};
use crate::source::rejected::{read_rejected, write_rejected};
use crate::source::{Problem, Severity};
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, BufRead, BufWriter, Write};
use std::sync::{Mutex, PoisonError};

/// Its name.
pub(super) const FAILED: &str = "failed.jsonl";

/// Passes events on, and writes a line for each record or file that failed or was rejected by rule.
struct Recorder<'a> {
    observer: &'a dyn Observer,
    worded: fn(&str) -> String,
    /// The first error ends the list.
    out: Mutex<io::Result<BufWriter<&'a mut File>>>,
}

/// Decides with an observer that lists what fails in the folder.
///
/// # Errors
/// Those of the function; the list cannot be written.
pub(super) fn record<T>(
    folder: &Folder,
    options: &CleanOptions,
    observer: &dyn Observer,
    is_durable: bool,
    decide: impl FnOnce(&dyn Observer) -> Result<T, Error>,
) -> Result<T, Error> {
    folder.replace_by(FAILED, |file, path| {
        let out = Mutex::new(Ok(BufWriter::with_capacity(1 << 16, &mut *file)));
        let recorder = Recorder { observer, worded: options.worded_problem, out };
        let decided = decide(&recorder)?;
        recorder.finish().map_err(|error| cannot_write(path, error))?;
        if is_durable {
            file.sync_all().map_err(|error| cannot_write(path, error))?;
        }
        Ok(decided)
    })
}

/// Adds what failed after the decisions to the list, unless an earlier run did.
///
/// # Errors
/// It cannot be written.
pub(super) fn append(folder: &Folder, problems: &[Problem]) -> Result<(), Error> {
    let path = folder.own(FAILED);
    let before = fs::read_to_string(&path).unwrap_or_default();
    let before: BTreeSet<&str> = before.lines().collect();
    let write = |out: &mut File| -> io::Result<()> {
        for problem in problems {
            let mut line = Vec::new();
            write_rejected(problem, &problem.message, &mut line)?;
            if !before.contains(String::from_utf8_lossy(&line).trim_end()) {
                out.write_all(&line)?;
            }
        }
        out.sync_all()
    };
    if problems.is_empty() {
        return Ok(());
    }
    let opened = open_regular(&path, File::options().append(true).create(true), Links::Refused);
    opened.and_then(|mut file| write(&mut file)).map_err(|error| cannot_write(&path, error))
}

/// Reports to an observer what an earlier run listed.
///
/// # Errors
/// The list cannot be read, or there is none though something failed.
pub(super) fn report_again(folder: &Folder, failed: u64, observer: &dyn Observer) -> Result<(), Error> {
    let path = folder.own(FAILED);
    if failed == 0 && !path.exists() {
        return Ok(());
    }
    let cannot = |error| Error::input(format!("cannot read {}", path.display()), error);
    for line in folder.read(FAILED)?.lines() {
        let problem = line.and_then(|line| read_rejected(&line)).map_err(cannot)?;
        observer.problem(&problem);
    }
    Ok(())
}

impl Recorder<'_> {
    fn add(&self, problem: &Problem) {
        let message = match problem.kind.is_rejection() {
            true => (self.worded)(&problem.message),
            false => problem.message.clone(),
        };
        let mut out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        if let Ok(list) = &mut *out
            && let Err(error) = write_rejected(problem, &message, list)
        {
            *out = Err(error);
        }
    }

    fn finish(self) -> io::Result<()> {
        self.out.into_inner().unwrap_or_else(PoisonError::into_inner)?.flush()
    }
}

impl Observer for Recorder<'_> {
    fn stage(&self, stage: Stage) {
        self.observer.stage(stage);
    }

    fn progress(&self, bytes: u64, documents: u64) {
        self.observer.progress(bytes, documents);
    }

    fn unpacked(&self, bytes: u64) {
        self.observer.unpacked(bytes);
    }

    fn estimate(&self, estimate: &Estimate) {
        self.observer.estimate(estimate);
    }

    fn many_pairs(&self, most: u64) {
        self.observer.many_pairs(most);
    }

    fn problem(&self, problem: &Problem) {
        if problem.severity == Severity::Failed || problem.kind.is_rejection() {
            self.add(problem);
        }
        self.observer.problem(problem);
    }

    fn is_stopped(&self) -> bool {
        self.observer.is_stopped()
    }
}
