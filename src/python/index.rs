//! An index of documents, in a file or in memory.

use super::input::Given as Documents;
use super::refusal::{exception, refused, warning};
use super::scan::{Value, given};
use super::worker::{self, Watch};
use crate::Error;
use crate::cli::call::{self, Indexing};
use crate::filter::{Decided, Filter};
use crate::index::{self, IndexOptions, Mode, Wanted};
use crate::source::Severity;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard};

/// The native part of `neardups.Index`.
#[pyclass(frozen, module = "neardups._native")]
pub struct Index {
    shared: Arc<Shared>,
}

struct Shared {
    path: Option<PathBuf>,
    settings: Indexing,
    /// One caller at a time; `None` once it is closed.
    index: Mutex<Option<index::Index>>,
}

impl Shared {
    /// The index; closed after a panic, which may have left it in the middle of a change.
    fn lock(&self) -> MutexGuard<'_, Option<index::Index>> {
        self.index.lock().unwrap_or_else(|poisoned| {
            self.index.clear_poison();
            let mut index = poisoned.into_inner();
            *index = None;
            index
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
}

/// What a run of documents through an index gives.
struct Answers {
    lines: String,
    added: u64,
    /// The id of the first document, if positions are ids.
    first_id: Option<u64>,
    warnings: Vec<String>,
}

/// The first id of documents that are not remembered, and have none. An id of a remembered one would mean that it is the same document.
const QUERIES: u64 = 1 << 62;

#[pymethods]
impl Index {
    #[new]
    fn new(py: Python<'_>, path: Option<PathBuf>, keywords: Vec<(String, Value)>) -> PyResult<Self> {
        let given = given(keywords);
        let settings = call::index(&given, path.as_deref()).map_err(refused)?;
        let shared = Arc::new(Shared { path, settings, index: Mutex::new(None) });
        let opened = py.detach(|| shared.open()).map_err(|error| exception(&error))?;
        *shared.lock() = Some(opened);
        Ok(Index { shared })
    }

    /// Runs documents through the index: `add`, `filter` or `query`, with `wanted` for the most similar. Returns the records as JSON
    /// lines, the number of new documents, the first id if positions are ids, and warnings.
    fn run(
        &self,
        py: Python<'_>,
        mode: &str,
        documents: Documents,
        wanted: Option<(usize, bool)>,
        show: Option<Bound<'_, PyAny>>,
    ) -> PyResult<(String, u64, Option<u64>, Vec<String>)> {
        let mode = match (mode, wanted) {
            ("add", _) => Mode::Add,
            ("filter", _) => Mode::Filter,
            ("query", None) => Mode::Query,
            (_, Some((most, is_exhaustive))) => Mode::Nearest(Wanted { most, is_exhaustive }),
            (other, None) => return Err(PyValueError::new_err(format!("no mode of an index: {other}"))),
        };
        let opened = documents.open(&self.shared.settings.source, false)?;
        let shared = Arc::clone(&self.shared);
        let work = move |watch: &Watch| {
            let mut index = shared.lock();
            let index = index.as_mut().ok_or_else(closed)?;
            index.set_mode(mode);
            let first_id = if mode.only_reads() { QUERIES } else { index.len() };
            let (mut opened, are_positions) = opened.with_ids_from(first_id);
            let (is_nearest, mut lines) = (matches!(mode, Mode::Nearest(_)), String::new());
            let filter = Filter::new(index).threads(shared.settings.threads).stop(watch.stop()).observer(watch);
            let counts = filter.documents(opened.source(), &mut |_, decided| {
                let line = match decided {
                    Decided::Problem(problem) if problem.severity != Severity::Failed => return Ok(()),
                    Decided::Problem(problem) => call::unanswered(problem, is_nearest),
                    Decided::Document(id, decision) => call::answer(id, decision),
                };
                if mode != Mode::Add {
                    lines += &line;
                    lines.push('\n');
                }
                Ok(())
            })?;
            let warnings = index.warnings().into_iter().chain(watch.problems()).collect();
            let added = counts.fresh + counts.featureless + counts.crowded;
            Ok(Answers { lines, added, first_id: are_positions.then_some(first_id), warnings })
        };
        let answers = worker::run(py, show.as_ref(), work)?.map_err(|error| exception(&error))?;
        let warnings = answers.warnings.iter().map(|message| warning(message));
        Ok((answers.lines, answers.added, answers.first_id, warnings.collect()))
    }

    /// Forgets the documents with these ids, and returns those that no document has.
    fn remove(&self, py: Python<'_>, ids: BTreeSet<String>) -> PyResult<(u64, Vec<String>)> {
        let Some(path) = &self.shared.path else {
            return Err(PyValueError::new_err(
                "an index in memory cannot forget documents by their ids: give it a path",
            ));
        };
        let removed = py.detach(|| {
            let mut index = self.shared.lock();
            // There is one writer at a time.
            drop(index.take().ok_or_else(closed)?);
            let removed = index::remove(path, ids);
            *index = Some(self.shared.open()?);
            removed
        });
        let removed = removed.map_err(|error| exception(&error))?;
        Ok((removed.documents, removed.unknown.into_iter().collect()))
    }

    /// The algorithm, and the seed of the hashes.
    fn algorithm(&self, py: Python<'_>) -> PyResult<String> {
        let name = py.detach(|| self.shared.lock().as_ref().map(|index| index.spec().algorithm.to_string()));
        name.ok_or_else(|| exception(&closed()))
    }

    /// The number of documents that it remembers.
    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        let length = py.detach(|| self.shared.lock().as_ref().map(index::Index::len));
        length.map(|length| length as usize).ok_or_else(|| exception(&closed()))
    }

    /// Ends the use of the file.
    fn close(&self, py: Python<'_>) {
        py.detach(|| drop(self.shared.lock().take()));
    }
}

fn closed() -> Error {
    Error::Usage("the index is closed".into())
}
