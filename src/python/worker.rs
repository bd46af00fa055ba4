//! Work without the lock of the interpreter: on a thread of its own, while the calling one shows progress and waits for Ctrl-C.

use super::refusal::{caught, exception, rejection, system_exception};
use crate::Error;
use crate::cli::call;
use crate::engine::{Observer, Stage};
use crate::source::{Problem, ProblemKind, Severity};
use pyo3::prelude::*;
use std::collections::BTreeSet;
use std::io;
use std::num::NonZeroI32;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// What a run reports while it works.
#[derive(Default)]
pub struct Watch {
    stop: AtomicBool,
    bytes: AtomicU64,
    documents: AtomicU64,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    stage: &'static str,
    /// The first problems, and the number of all that lost a document or a value.
    problems: Vec<String>,
    failed: u64,
    /// The number of the first error of the system.
    os_error: Option<i32>,
    /// The number of those that are not of files that cannot be read.
    others: u64,
    /// The first messages about columns that a table or file lacks or has twice, and the others, each once.
    columns: Vec<String>,
    more_columns: BTreeSet<String>,
}

/// The maximum number of problems that are listed.
const LISTED: usize = 3;

/// How often signals are looked for and progress is shown.
const INTERVAL: Duration = Duration::from_millis(50);

/// How long the end of a stopped run is waited for. After that it ends by itself.
const STOP_WAIT: Duration = Duration::from_millis(500);

impl Watch {
    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What ends the run when it becomes true.
    pub fn stop(&self) -> &AtomicBool {
        &self.stop
    }

    /// Whether files could not be read, and nothing else failed.
    pub fn no_file_could_be_read(&self) -> bool {
        let State { failed, others, .. } = *self.state();
        failed > 0 && others == 0
    }

    /// Warnings about columns that were named and are missing or repeated, and about the records that could not be read.
    pub fn warnings(&self) -> impl Iterator<Item = String> {
        let (columns, more) = {
            let State { columns, more_columns, .. } = &*self.state();
            (columns.clone(), more_columns.len())
        };
        let more = match more {
            0 => None,
            1 => Some("and 1 more warning about missing or repeated columns".into()),
            more => Some(format!("and {more} more warnings about missing or repeated columns")),
        };
        columns.into_iter().chain(more).chain(self.problems())
    }

    /// A warning about the records that could not be read, if there were any.
    fn problems(&self) -> Option<String> {
        let State { problems, failed, .. } = &*self.state();
        let more = failed.saturating_sub(problems.len() as u64);
        let more = if more > 0 { format!("; and {more} more") } else { String::new() };
        (*failed > 0).then(|| format!("{}{more}", problems.join("; ")))
    }
}

impl Watch {
    /// An error that no document was read, or that some were not, with the problems. If no file could be read at all, it is an error of
    /// reading. Nothing is returned then.
    pub fn explained(&self, error: Error) -> Ended {
        let is_of_problems = matches!(error, Error::Empty(_) | Error::Failed { .. });
        let State { others, os_error, .. } = *self.state();
        Ended { error: self.with_problems(error), os_error: os_error.filter(|_| is_of_problems && others == 0) }
    }

    fn with_problems(&self, error: Error) -> Error {
        let error = match error {
            Error::Failed { failed, .. } => Error::Failed { failed, results: call::NOTHING_RETURNED.into() },
            error => error,
        };
        let Some(problems) = self.problems() else { return error };
        match error {
            Error::Empty(_) if self.state().others == 0 => {
                Error::io("no document was read", io::Error::other(problems))
            }
            Error::Empty(message) => Error::Empty(format!("{message}: {problems}")),
            Error::NoText(_) => Error::NoText(problems),
            Error::Failed { failed, results } => Error::Failed { failed, results: format!("{results}: {problems}") },
            error => error,
        }
    }
}

/// An error that ended a run.
pub struct Ended {
    error: Error,
    /// The error of the system that it is because of, if nothing else failed.
    os_error: Option<i32>,
}

impl Ended {
    /// As an exception of Python.
    pub fn exception(&self) -> PyErr {
        match self.os_error {
            Some(number) => system_exception(number, &self.error),
            None => exception(&self.error),
        }
    }
}

impl Observer for Watch {
    fn stage(&self, stage: Stage) {
        self.bytes.store(0, Ordering::Relaxed);
        self.documents.store(0, Ordering::Relaxed);
        self.state().stage = match stage {
            Stage::Counting => "counting",
            Stage::Reading => "reading",
            Stage::ReadingAgain | Stage::Rereading => "reading again",
            Stage::Grouping => "grouping",
            Stage::Verifying => "comparing",
            Stage::Writing => "writing",
        };
    }

    fn progress(&self, bytes: u64, documents: u64) {
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
        self.documents.fetch_add(documents, Ordering::Relaxed);
    }

    fn problem(&self, problem: &Problem) {
        let mut state = self.state();
        if matches!(problem.kind, ProblemKind::MissingColumn | ProblemKind::RepeatedColumn) {
            let message = rejection(&problem.message);
            if !state.columns.contains(&message) {
                match state.columns.len() {
                    ..LISTED => state.columns.push(message),
                    _ => _ = state.more_columns.insert(message),
                }
            }
        }
        if problem.severity != Severity::Failed {
            return;
        }
        state.failed += 1;
        state.os_error = state.os_error.or(problem.os_error.map(NonZeroI32::get));
        state.others += u64::from(problem.kind != ProblemKind::Unreadable);
        if state.problems.len() < LISTED {
            let message = rejection(&problem.message);
            state.problems.push(format!("{}: {message}", problem.place));
        }
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// Runs `work` on another thread, without the lock of the interpreter. `show` is called now and then with the stage, and the bytes and
/// documents of the stage so far.
///
/// # Errors
/// `work` panicked; a signal raised an exception, or `show` did. Then the work is stopped. If it does not end soon, it ends later.
pub fn run<T: Send + 'static>(
    py: Python<'_>,
    show: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&Watch) -> T + Send + 'static,
) -> PyResult<T> {
    let watch = Arc::new(Watch::default());
    let (done, result) = channel();
    // Only this thread waits; the lock makes that known to the compiler.
    let result = Mutex::new(result);
    let watched = Arc::clone(&watch);
    let builder = thread::Builder::new().name("neardups".into()).stack_size(8 << 20);
    let spawned = builder.spawn(move || {
        // The caller may have stopped waiting.
        _ = done.send(caught(|| work(&watched)));
    });
    spawned.map_err(|error| exception(&Error::no_threads(error)))?;
    let started = Instant::now();
    loop {
        match wait(py, &result, INTERVAL) {
            Ok(result) => return result,
            Err(RecvTimeoutError::Disconnected) => unreachable!("the thread sends a result, also for a panic"),
            Err(RecvTimeoutError::Timeout) => {}
        }
        let shown = show.filter(|_| started.elapsed() > 4 * INTERVAL).map_or(Ok(()), |show| {
            let (bytes, documents) = (watch.bytes.load(Ordering::Relaxed), watch.documents.load(Ordering::Relaxed));
            let stage = watch.state().stage;
            show.call1((stage, bytes, documents)).map(drop)
        });
        if let Err(error) = py.check_signals().and(shown) {
            watch.stop.store(true, Ordering::Relaxed);
            _ = wait(py, &result, STOP_WAIT);
            return Err(error);
        }
    }
}

fn wait<T: Send>(py: Python<'_>, result: &Mutex<Receiver<T>>, time: Duration) -> Result<T, RecvTimeoutError> {
    py.detach(|| result.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(time))
}

/// Panics, for tests.
#[pyfunction]
pub fn panic(py: Python<'_>, message: String) -> PyResult<()> {
    run(py, None, move |_| panic!("{message}"))
}
