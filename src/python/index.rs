//! An index of documents, in a file or in memory.

use super::input::{Given as Documents, Opened};
use super::refusal::{self, exception, refused, warning};
use super::scan::{Value, given};
use super::worker::{self, Ended, Watch};
use crate::Error;
use crate::cli::call::{self, Indexing};
use crate::engine::Observer;
use crate::filter::{self, Decided, Filter};
use crate::index::{self, IndexOptions, Mode, Wanted};
use crate::report::table::Ids;
use crate::run::fields::FieldsFound;
use crate::source::{Problem, Severity};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Instant;

/// The native part of `neardups.Index`.
#[pyclass(frozen, module = "neardups._native")]
pub struct Index {
    shared: Arc<Shared>,
}

struct Shared {
    path: Option<PathBuf>,
    settings: Indexing,
    /// One caller at a time.
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// `None` if it is closed, or has to be opened again.
    index: Option<index::Index>,
    is_closed: bool,
}

impl Shared {
    /// The state. A panic may have left the index in the middle of a change: it is opened again if it is in a file, and otherwise closed.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|poisoned| {
            self.state.clear_poison();
            let mut state = poisoned.into_inner();
            *state = State { index: None, is_closed: state.is_closed || self.path.is_none() };
            state
        })
    }

    fn open(&self) -> Result<index::Index, Error> {
        let Indexing { plan, limits, temp_dir, .. } = &self.settings;
        match &self.path {
            None => Ok(index::Index::in_memory(plan, *limits)),
            Some(path) => {
                let options = IndexOptions { temp_dir: temp_dir.clone(), ..IndexOptions::within(*limits) };
                index::Index::open(path, plan, &options).map(|(index, _)| index)
            }
        }
    }

    /// Works on the index, without what a call that was not completed remembered.
    fn with<T>(&self, work: impl FnOnce(&mut index::Index) -> Result<T, Error>) -> Result<T, Error> {
        self.with_state(&mut self.lock(), work)
    }

    /// The same, where the state is locked for more than that.
    fn with_state<T>(
        &self,
        state: &mut State,
        work: impl FnOnce(&mut index::Index) -> Result<T, Error>,
    ) -> Result<T, Error> {
        if state.is_closed {
            return Err(closed());
        }
        self.roll_back(state)?;
        if state.index.is_none() {
            state.index = Some(self.open()?);
        }
        work(state.index.as_mut().expect("it was opened"))
    }

    /// Forgets what a call that was not completed remembered.
    fn roll_back(&self, state: &mut State) -> Result<(), Error> {
        let Some(index) = state.index.as_mut().filter(|index| index.is_in_transaction()) else { return Ok(()) };
        if self.path.is_none() {
            return index.roll_back();
        }
        let next = index.next_number()?;
        self.reopen(state, next, || ())
    }

    /// Opens it again, after work on the file, which has one writer at a time. If that fails, it is tried at the next use.
    fn reopen<T>(&self, state: &mut State, next_number: u64, work: impl FnOnce() -> T) -> Result<T, Error> {
        state.index = None;
        let result = work();
        let mut index = self.open()?;
        index.number_from(next_number);
        state.index = Some(index);
        Ok(result)
    }

    /// Begins to remember what a call gives.
    fn begin(&self, index: &mut index::Index) -> Result<(), Error> {
        let temp_dir = self.settings.temp_dir.clone().unwrap_or_else(std::env::temp_dir);
        index.begin_transaction(|| tempfile::tempfile_in(temp_dir))
    }
}

/// What a run of documents through an index gives.
struct Answers {
    lines: String,
    added: u64,
    ids: Ids,
    /// As JSON, without warnings.
    stats: String,
    warnings: Vec<String>,
}

/// Records as JSON lines, the number of new documents, the type of their ids, statistics as JSON without warnings, and warnings.
type Run = (String, u64, &'static str, String, Vec<String>);

#[pymethods]
impl Index {
    #[new]
    fn new(py: Python<'_>, path: Option<PathBuf>, keywords: Vec<(String, Value)>) -> PyResult<Self> {
        let given = given(keywords);
        let settings = call::index(&given, path.as_deref()).map_err(refused)?;
        let shared = Arc::new(Shared { path, settings, state: Mutex::default() });
        py.detach(|| shared.with(|_| Ok(()))).map_err(|error| exception(&error))?;
        Ok(Index { shared })
    }

    /// Runs documents through the index: `add`, `filter` or `query`, with `wanted` for the most similar. What it remembers is forgotten
    /// unless `keep` follows.
    fn run(
        &self,
        py: Python<'_>,
        mode: &str,
        documents: Documents,
        wanted: Option<(usize, bool)>,
        show: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Run> {
        let started = Instant::now();
        let mode = match (mode, wanted) {
            ("add", _) => Mode::Add,
            ("filter", _) => Mode::Filter,
            ("query", None) => Mode::Query,
            (_, Some((most, is_exhaustive))) => Mode::Nearest(Wanted { most, is_exhaustive }),
            (other, None) => return Err(PyValueError::new_err(format!("no mode of an index: {other}"))),
        };
        let Indexing { source, required_fields, .. } = &self.shared.settings;
        let mut sample = documents.sample(source);
        let opened = documents.open(source, required_fields.id.is_some())?;
        let shared = Arc::clone(&self.shared);
        let work = move |watch: &Watch| {
            let read = &shared.settings.source;
            let hint = sample.as_mut().and_then(|sample| call::hint_of_sample(sample.source(), read, watch));
            // Work that was stopped may end while the next call waits for the index: what that one remembers is not forgotten.
            let mut state = shared.lock();
            let answers = shared.with_state(&mut state, |index| shared.answers(index, mode, opened, (watch, started)));
            if answers.is_err() || watch.is_stopped() {
                shared.roll_back(&mut state).map_err(|error| watch.explained(error))?;
            }
            let with_hint =
                |answers: Answers| Answers { warnings: hint.into_iter().chain(answers.warnings).collect(), ..answers };
            answers.map(with_hint).map_err(|error| watch.explained(error))
        };
        let answers = worker::run(py, show.as_ref(), work)?.map_err(|ended: Ended| ended.exception())?;
        let warnings = answers.warnings.iter().map(|message| warning(message));
        Ok((answers.lines, answers.added, answers.ids.name(), answers.stats, warnings.collect()))
    }

    /// Remembers what the last call of `run` gave, which nothing may come between. Returns the bytes that are stored now.
    fn keep(&self, py: Python<'_>) -> PyResult<u64> {
        py.check_signals()?;
        let kept = py.detach(|| {
            let mut state = self.shared.lock();
            let Some(index) = state.index.as_mut().filter(|index| index.is_in_transaction()) else {
                return Err(Error::Usage("nothing is to be remembered: the index was used otherwise".into()));
            };
            let kept = index.end_transaction().map(|()| index.bytes_stored());
            if kept.is_err() {
                self.shared.roll_back(&mut state)?;
            }
            kept
        });
        kept.map_err(|error| exception(&error))
    }

    /// Forgets the documents with these ids, and returns those that no document has.
    fn remove(&self, py: Python<'_>, ids: BTreeSet<String>) -> PyResult<(u64, Vec<String>)> {
        let Some(path) = &self.shared.path else {
            return Err(PyValueError::new_err(
                "an index in memory cannot forget documents by their ids: give it a path",
            ));
        };
        let removed = py.detach(|| {
            // A number is not used again.
            let next = self.shared.with(index::Index::next_number)?;
            self.shared.reopen(&mut self.shared.lock(), next, || index::remove(path, ids))?
        });
        let removed = removed.map_err(|error| exception(&error))?;
        Ok((removed.documents, removed.unknown.into_iter().collect()))
    }

    /// The algorithm, and the seed of the hashes.
    fn algorithm(&self, py: Python<'_>) -> PyResult<String> {
        let name = py.detach(|| self.shared.with(|index| Ok(index.spec().algorithm.to_string())));
        name.map_err(|error| exception(&error))
    }

    /// The number of documents that it remembers.
    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        let length = py.detach(|| self.shared.with(|index| Ok(filter::remembered(index) as usize)));
        length.map_err(|error| exception(&error))
    }

    /// Ends the use of the file.
    fn close(&self, py: Python<'_>) {
        py.detach(|| *self.shared.lock() = State { index: None, is_closed: true });
    }
}

impl Shared {
    /// Runs documents through the index.
    fn answers(
        &self,
        index: &mut index::Index,
        mode: Mode,
        mut opened: Opened,
        (watch, started): (&Watch, Instant),
    ) -> Result<Answers, Error> {
        index.begin_run(mode);
        if !mode.only_reads() {
            self.begin(index)?;
        }
        let (is_nearest, mut lines) = (matches!(mode, Mode::Nearest(_)), String::new());
        let (ids, unnamed, are_positions) = (opened.ids(), opened.unnamed(), opened.are_positions());
        let mut fields = FieldsFound::default();
        let filter = Filter::new(index).threads(self.settings.threads).stop(watch.stop()).observer(watch);
        let counts = filter.unnamed(&*unnamed).documents(opened.source(), &mut |place, decided| {
            match &decided {
                Decided::Document(id, _) => fields.document((&place.path, place.line), id, false),
                Decided::Problem(problem) => fields.problem(problem),
            }
            let line = match decided {
                Decided::Problem(problem) if problem.severity != Severity::Failed => return Ok(()),
                Decided::Problem(problem) => {
                    let position = place.line.filter(|_| are_positions).map(|row| row.to_string());
                    let named = Problem { id: position.or_else(|| problem.id.clone()), ..problem.clone() };
                    call::unanswered(&named, &refusal::problem(problem), (!is_nearest).then_some(true))
                }
                Decided::Document(id, decision) => call::answer(id, decision, mode.only_reads(), self.path.is_some()),
            };
            if mode != Mode::Add {
                lines += &line;
                lines.push('\n');
            }
            Ok(())
        })?;
        let never_found = match &opened {
            Opened::Files(_) if counts.documents == 0 && watch.no_file_could_be_read() => {
                return Err(Error::Empty("no document was read".into()));
            }
            Opened::Files(_) => {
                fields.check(&self.settings.required_fields, &mut |_| None)?;
                opened.never_found()
            }
            Opened::Table(_) => None,
        };
        let warnings = never_found.into_iter().chain(index.warnings()).chain(watch.warnings()).collect();
        let stats = call::stats_of_index(&counts, index, started);
        Ok(Answers { lines, added: counts.fresh, ids, stats, warnings })
    }
}

fn closed() -> Error {
    Error::Usage("the index is closed".into())
}
