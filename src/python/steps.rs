//! Steps of a cluster: functions of record batches.

use super::refusal::{caught, exception, refused, warning};
use super::scan::{Value, given};
use crate::Error;
use crate::algorithm::Learns;
use crate::cli::call::{self, Compared};
use crate::steps::{self, Counts, Kind, Median, STEPS, Spec, StepOptions};
use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_pyarrow::PyArrowType;
use pyo3::prelude::*;
use std::sync::{Arc, Mutex, PoisonError};

/// A column: its name and what it holds.
type Column = (&'static str, &'static str);

/// A step: its name, and its columns.
type Described = (&'static str, Vec<Column>, Vec<&'static str>, Vec<Column>);

/// Every step: its name, the columns that it takes, those that its rows must be in the order of, and those that it gives.
#[pyfunction]
pub fn steps_table() -> Vec<Described> {
    let column = |column: &steps::Column| {
        let kind = match column.kind {
            Kind::Long => "long",
            Kind::Longs => "array<long>",
            Kind::Double => "double",
            Kind::Text => "string",
        };
        (column.name, kind)
    };
    let columns = |columns: &[steps::Column]| columns.iter().map(column).collect();
    STEPS.iter().map(|step| (step.name, columns(step.takes), step.order.to_vec(), columns(step.gives))).collect()
}

/// What was counted over a collection: the number of documents, and a batch of the sums of the step `count`.
type Counted = (u64, PyArrowType<RecordBatch>);

/// Keyword arguments that say how documents are compared.
type Keywords = Vec<(String, Value)>;

fn counts_of(counted: &[Counted]) -> Result<Vec<Counts>, Error> {
    let counts = counted.iter().map(|(documents, PyArrowType(batch))| {
        let column = |name: &str| batch.column_by_name(name).and_then(|column| column.as_primitive_opt::<Int64Type>());
        let (Some(what), Some(sums)) = (column("what"), column("documents")) else {
            return Err(Error::Usage("counts are columns `what` and `documents` of int64".into()));
        };
        Ok(Counts::new(*documents, what.values().iter().copied().zip(sums.values().iter().copied())))
    });
    counts.collect()
}

/// Plans a run, given the options of `dedup scan` that say how documents are compared, and what was counted. Returns the plan as JSON, and
/// what is to be reported of it, and counted next, as JSON.
#[pyfunction]
pub fn plan_steps(
    keywords: Keywords,
    median: (usize, bool),
    options: (usize, bool, u64),
    counted: Vec<Counted>,
) -> PyResult<(String, String)> {
    let ((median, is_guess), (hot, against, memory)) = (median, options);
    let Compared { factory, tokenizer, seed } = call::method(&given(keywords)).map_err(refused)?;
    let median = if is_guess { Median::Guessed(median) } else { Median::Known(median) };
    let mut options = StepOptions::default();
    (options.hot, options.against, options.memory) = (hot, against, memory);
    let plan = || -> Result<Spec, Error> {
        let mut spec = Spec::new(&factory, tokenizer, seed, median, options)?;
        counts_of(&counted)?.iter().try_for_each(|counts| spec.learn(counts))?;
        Ok(spec)
    };
    let spec = plan().map_err(|error| exception(&error))?;
    let algorithm = spec.algorithm();
    let parameters = algorithm.parameters().into_iter().map(|row| (row.name.to_string(), row.value.to_string().into()));
    let report = serde_json::json!({
        "algo": algorithm.name(),
        "measure": algorithm.measure(),
        "tokenizer": spec.own_tokenizer().map(|tokenizer| tokenizer.name().into_owned()),
        "median_tokens": median.tokens(),
        "parameters": serde_json::Value::Object(parameters.collect()),
        "warnings": spec.warnings().iter().map(|message| warning(message)).collect::<Vec<_>>(),
        "filters": spec.filters(),
        "learns": spec.learns().map(|learns| {
            let least = if let Learns::Frequent { documents, .. } = learns { Some(documents) } else { None };
            serde_json::json!({ "distinct": learns == Learns::Terms, "least": least })
        }),
    });
    Ok((spec.to_json(), report.to_string()))
}

/// The plan that was written, in a process that may be another.
fn read(Compared { factory, tokenizer, seed }: &Compared, plan: &str, counted: &[Counted]) -> PyResult<Spec> {
    let counts = counts_of(counted);
    let read = counts.and_then(|counts| Spec::read(plan, factory, Arc::clone(tokenizer), *seed, &counts));
    read.map_err(|error| exception(&error))
}

/// Whether documents that were signed by one plan need not be signed again for another; both before anything was counted.
#[pyfunction]
pub fn same_signatures(keywords: Keywords, one: &str, other: &str) -> PyResult<bool> {
    let method = call::method(&given(keywords)).map_err(refused)?;
    Ok(read(&method, one, &[])?.has_signatures_of(&read(&method, other, &[])?))
}

/// A step at work. It takes the batches of one task; after an exception it is of no use any more.
#[pyclass(frozen, module = "neardups._native")]
pub struct Step(Mutex<steps::Step>);

#[pymethods]
impl Step {
    #[new]
    fn new(name: &str, keywords: Keywords, plan: &str, counted: Vec<Counted>) -> PyResult<Self> {
        let method = call::method(&given(keywords)).map_err(refused)?;
        let spec = Arc::new(read(&method, plan, &counted)?);
        let step = steps::by_name(name).and_then(|entry| entry.start(spec));
        Ok(Step(Mutex::new(step.map_err(|error| exception(&error))?)))
    }

    /// Gives it the next batch.
    fn push(&self, py: Python<'_>, batch: PyArrowType<RecordBatch>) -> PyResult<()> {
        self.work(py, |step| step.push(&batch.0))
    }

    /// The next batch of results; `None` if it needs more rows or is done.
    fn take(&self, py: Python<'_>) -> PyResult<Option<PyArrowType<RecordBatch>>> {
        Ok(self.work(py, steps::Step::take)?.map(PyArrowType))
    }

    /// Ends the input: there are no more batches.
    fn finish(&self, py: Python<'_>) -> PyResult<()> {
        self.work(py, |step| {
            step.finish();
            Ok(())
        })
    }
}

impl Step {
    /// Works without the lock of the interpreter. A panic ends the task, and not the worker.
    fn work<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut steps::Step) -> Result<T, Error> + Send,
    ) -> PyResult<T> {
        let result = py.detach(|| {
            let mut step = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            caught(|| work(&mut step))
        });
        result?.map_err(|error| exception(&error))
    }
}
