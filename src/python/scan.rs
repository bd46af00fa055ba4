//! Scans: all near-duplicates among documents, and what is kept of them.

use super::input::{Given as Documents, Opened};
use super::records::Records;
use super::refusal::{caught, exception, refused, rejection, spelled, warning};
use super::worker::{self, Watch};
use crate::clean;
use crate::cli::call::{self, Emit, Given, Scan, ScanRequest as Request, ScanWritten as Written};
use crate::engine::{self, Fingerprints, Kept, Report, Verdict};
use crate::report::table::{Ids, Records as Table};
use crate::{Error, compare};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::ffi::OsString;
use std::time::Instant;

/// The value of a keyword argument, as `_input.py` passes it.
#[derive(FromPyObject)]
pub enum Value {
    Switch(bool),
    One(Typed),
    List(Vec<Typed>),
}

/// A value as it would be typed: text, or the path of a file, whose name may be none.
pub struct Typed(OsString);

impl<'py> FromPyObject<'_, 'py> for Typed {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let text = value.extract::<String>().map(OsString::from);
        text.or_else(|_| value.extract::<OsString>()).map(Typed)
    }
}

/// Keyword arguments, by their names.
pub fn given(keywords: Vec<(String, Value)>) -> Vec<(String, Given)> {
    let given = keywords.into_iter().map(|(name, value)| {
        let value = match value {
            Value::Switch(is_on) => Given::Switch(is_on),
            Value::One(Typed(value)) => Given::Value(value),
            Value::List(values) => Given::List(values.into_iter().map(|Typed(value)| value).collect()),
        };
        (name.replace('_', "-"), value)
    });
    given.collect()
}

/// What a scan found.
enum Found {
    Records(Table),
    /// The kept records of files, byte for byte.
    Bytes(Vec<u8>),
}

/// Scans documents. Returns records, or bytes for the records of files that are kept, statistics as JSON without warnings, and warnings.
#[pyfunction]
pub fn scan<'py>(
    py: Python<'py>,
    documents: Documents,
    against: Option<Documents>,
    keywords: Vec<(String, Value)>,
    show: Option<Bound<'py, PyAny>>,
) -> PyResult<(Bound<'py, PyAny>, String, Vec<String>)> {
    let started = Instant::now();
    let call =
        call::scan(&given(keywords), documents.kind(), against.as_ref().map(Documents::kind)).map_err(refused)?;
    let source = &call.request.source;
    let mut sample = documents.sample(source);
    let mut opened = documents.open(source, call.request.names_ids)?;
    let mut against =
        against.map(|against| against.open(&source.of_reference(), call.names_reference_ids())).transpose()?;
    if !call.allows_empty_reference {
        against = against.map(Opened::required_reference);
    }
    let work = move |watch: &Watch| {
        let hint =
            sample.as_mut().and_then(|sample| call::hint_of_sample(sample.source(), &call.request.source, watch));
        let found = find(&call, &mut opened, against.as_mut(), watch).map_err(|error| watch.explained(error));
        found.map(|(found, written, mut report)| {
            let warnings = std::mem::take(&mut report.warnings);
            let read = opened.counts() + against.as_ref().map(Opened::counts).unwrap_or_default();
            let stats = call.stats(&report, &written, read, started);
            let never_found = [Some(&opened), against.as_ref()].into_iter().flatten().filter_map(Opened::never_found);
            (
                found,
                stats,
                hint.into_iter().chain(never_found).chain(warnings).chain(watch.warnings()).collect::<Vec<_>>(),
            )
        })
    };
    let (found, stats, warnings) = worker::run(py, show.as_ref(), work)?.map_err(|ended| ended.exception())?;
    let found = match found {
        Found::Records(table) => Bound::new(py, Records(table))?.into_any(),
        Found::Bytes(bytes) => PyBytes::new(py, &bytes).into_any(),
    };
    Ok((found, stats, warnings.iter().map(|message| warning(message)).collect()))
}

fn find(
    call: &Scan,
    documents: &mut Opened,
    against: Option<&mut Opened>,
    watch: &Watch,
) -> Result<(Found, Written, Report), Error> {
    let ids = match &against {
        Some(against) if against.ids() != documents.ids() => Ids::Strings,
        _ => documents.ids(),
    };
    let is_against = against.is_some();
    let reference = against.map(Opened::source);
    let Request { factory, engine: options, emit, keep, host_depth, .. } = &call.request;
    if let (Emit::Kept, Opened::Files(input)) = (*emit, &mut *documents) {
        let (clean, mut bytes) = (call.request.options_of_clean(), Vec::new());
        let (report, written) = clean::write_kept(input, reference, factory, &clean, watch, &mut bytes)?;
        let records = written?;
        call.check(&report.counts)?;
        return Ok((Found::Bytes(bytes), Written::of_kept(&report.counts, records), report));
    }
    let source = documents.source();
    match emit {
        Emit::Pairs | Emit::Paths | Emit::Hosts => {
            let mut outcome = engine::scan(source, reference, factory, options, watch)?;
            call.check(&outcome.report.counts)?;
            let table = match emit {
                Emit::Hosts => {
                    let hosts = outcome.hosts(*host_depth)?;
                    outcome.report.warnings.extend(call::warnings_of_hosts(&hosts));
                    Table::hosts(&hosts)?
                }
                _ => Table::pairs(&outcome, ids)?,
            };
            let written = Written::of_records(table.rows());
            Ok((Found::Records(table), written, outcome.report))
        }
        Emit::Clusters | Emit::Verdicts | Emit::Kept => {
            let outcome = engine::scan_to_keep(source, reference, factory, options, watch, *keep)?;
            call.check(&outcome.report().counts)?;
            let kept = outcome.kept();
            let report = outcome.report().clone();
            if *emit == Emit::Kept {
                let mut records = 0;
                let flags =
                    verdicts(&kept, call).map(|(verdict, _)| verdict.keep).inspect(|keep| records += u64::from(*keep));
                let table = Table::flags("keep", flags);
                return Ok((Found::Records(table), Written::of_kept(&report.counts, records), report));
            }
            let (table, written) = if *emit == Emit::Clusters {
                (Table::clusters(&kept, ids), Written::of_clusters(&kept, is_against))
            } else {
                let table = Table::verdicts(verdicts(&kept, call), ids);
                let written = Written::of_verdicts(&kept, table.rows());
                (table, written)
            };
            Ok((Found::Records(table), written, report))
        }
        Emit::Fingerprints => {
            let fingerprints = Fingerprints::prepare(source, factory, options, watch)?;
            let mut report = Report::default();
            let table = Table::fingerprints(
                |each| {
                    let (made, result) = fingerprints.for_each(|fingerprint| {
                        let error = fingerprint.error.map(rejection);
                        each(&engine::Fingerprint { error: error.as_deref(), ..fingerprint.clone() });
                        Ok(())
                    });
                    report = made;
                    result
                },
                ids,
            )?;
            call.check(&report.counts)?;
            let written = Written::of_records(table.rows());
            Ok((Found::Records(table), written, report))
        }
    }
}

/// The verdicts, and why records were rejected.
fn verdicts<'v>(kept: &Kept<'v>, call: &Scan) -> impl Iterator<Item = (Verdict<'v>, Option<String>)> {
    let on_error = call.on_error;
    kept.verdicts().collect::<Vec<_>>().into_iter().map(move |verdict| {
        let keep = on_error.keeps(verdict.keep, verdict.error, verdict.is_skipped);
        (Verdict { keep, ..verdict }, verdict.error.map(rejection))
    })
}

/// The exact similarity of two texts; `None` if one has too few features.
#[pyfunction]
pub fn similarity(py: Python<'_>, a: &str, b: &str, keywords: Vec<(String, Value)>) -> PyResult<Option<f64>> {
    let method = call::method(&given(keywords)).map_err(refused)?;
    let compared =
        of_texts(py, [a, b], move |[a, b]| compare::compare([a, b], &method.factory, &*method.tokenizer, method.seed))?;
    let evidence = compared.map_err(|error| exception(&error))?.evidence;
    Ok(evidence.and_then(|evidence| evidence.similarity).map(|similarity| similarity.value()))
}

/// The comparison of two texts, as JSON, and warnings.
#[pyfunction(name = "compare")]
pub fn compare_texts(
    py: Python<'_>,
    a: &str,
    b: &str,
    keywords: Vec<(String, Value)>,
) -> PyResult<(String, Vec<String>)> {
    let given = given(keywords);
    let compared = of_texts(py, [a, b], move |[a, b]| call::compare([("a", a), ("b", b)], &given))?;
    let (record, warnings) = compared.map_err(refused)?;
    Ok((record, warnings.iter().map(|warning| spelled(warning)).collect()))
}

/// The size of two texts, in bytes, from which their comparison waits for Ctrl-C. Below that it takes some hundredths of a second, and a
/// thread of its own would take most of the time for sentences.
const LONG_TEXTS: usize = 1 << 18;

/// Compares two texts without the lock of the interpreter.
fn of_texts<T: Send + 'static>(
    py: Python<'_>,
    texts: [&str; 2],
    compare: impl FnOnce([&str; 2]) -> T + Send + 'static,
) -> PyResult<T> {
    if texts[0].len() + texts[1].len() < LONG_TEXTS {
        return py.detach(|| caught(|| compare(texts)));
    }
    let [a, b] = texts.map(str::to_string);
    worker::run(py, None, move |_| compare([&a, &b]))
}
