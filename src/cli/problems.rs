//! Problems with single records, for people: the first few of each kind are printed and the others counted; and for programs, as
//! records in the file of `--rejects`.

use super::arguments::count;
use super::terminal::escaped;
use neardups::Error;
use neardups::source::{Problem, ProblemKind, Severity};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

/// So many problems of a kind are printed.
const PRINTED: u64 = 10;

/// What came up so far.
#[derive(Default)]
pub struct Problems {
    counted: Mutex<BTreeMap<(Severity, ProblemKind), u64>>,
    rejects: Option<Rejects>,
}

impl Problems {
    /// With a file that gets what was rejected.
    pub fn with_rejects(rejects: Option<Rejects>) -> Self {
        Problems { counted: Mutex::default(), rejects }
    }

    /// Takes note of a problem. Says whether it is to be printed.
    pub fn add(&self, problem: &Problem) -> bool {
        if let Some(rejects) = self.rejects.as_ref().filter(|_| problem.kind.is_rejection()) {
            rejects.add(problem);
        }
        let mut counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        let count = counted.entry((problem.severity, problem.kind)).or_default();
        *count += 1;
        *count <= PRINTED
    }

    /// How many of each kind were not printed, a line each; asked once.
    pub fn unprinted(&self) -> Vec<(Severity, String)> {
        let counted = std::mem::take(&mut *self.counted.lock().unwrap_or_else(PoisonError::into_inner));
        let more = counted.into_iter().filter(|&(_, total)| total > PRINTED);
        more.map(|((severity, kind), total)| {
            let advice = match self.rejects {
                None if kind.is_rejection() => " (--rejects FILE lists all)",
                _ => "",
            };
            (severity, format!("{} more of the kind '{}'{advice}", count(total - PRINTED), kind.name()))
        })
        .collect()
    }

    /// Ends the file of what was rejected.
    ///
    /// # Errors
    /// It could not be written.
    pub fn finish(&self) -> Result<(), Error> {
        self.rejects.as_ref().map_or(Ok(()), Rejects::finish)
    }
}

/// The file of `--rejects`: a record each, in input order.
pub struct Rejects {
    path: PathBuf,
    /// The error ends it.
    out: Mutex<Result<BufWriter<File>, io::Error>>,
}

/// A line of it.
#[derive(Serialize)]
struct Rejected<'a> {
    r#type: &'static str,
    file: &'a str,
    /// The line, or the number of the record in an archive; none for a whole file.
    #[serde(skip_serializing_if = "Option::is_none")]
    record: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
    kind: &'static str,
    error: &'a str,
    /// The record as it came, but for bytes that are not UTF-8: U+FFFD stands for them.
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<&'a str>,
}

impl Rejects {
    /// A new file.
    pub fn create(path: &PathBuf) -> Result<Self, Error> {
        let file =
            File::create(path).map_err(|error| Error::output(format!("cannot write {}", path.display()), error))?;
        Ok(Rejects { path: path.clone(), out: Mutex::new(Ok(BufWriter::new(file))) })
    }

    fn add(&self, problem: &Problem) {
        let content = problem.record.as_deref().map(String::from_utf8_lossy);
        let record = Rejected {
            r#type: "rejected",
            file: &problem.place.path,
            record: problem.place.line,
            id: problem.id.as_deref(),
            kind: problem.kind.name(),
            error: &problem.message,
            content: content.as_deref(),
        };
        let mut out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        if let Ok(file) = &mut *out {
            let written = serde_json::to_writer(&mut *file, &record).map_err(io::Error::from);
            if let Err(error) = written.and_then(|()| file.write_all(b"\n")) {
                *out = Err(error);
            }
        }
    }

    fn finish(&self) -> Result<(), Error> {
        let mut out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        let ended = match std::mem::replace(&mut *out, Err(io::ErrorKind::BrokenPipe.into())) {
            Ok(mut file) => file.flush().map(|()| *out = Ok(file)),
            Err(error) => Err(error),
        };
        let path = escaped(&self.path.display().to_string());
        // Not an error of standard output: a pipe that closed there must not look like one that closed here.
        ended.map_err(|error| Error::output(format!("cannot write {path}"), io::Error::other(error)))
    }
}
