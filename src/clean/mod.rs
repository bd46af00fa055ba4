//! A corpus without its near-duplicates, in the files and formats that it came in.
//!
//! ```text
//! inputs     paths → files, each with the path of its output                              (inputs.rs)
//! decide     scan → verdicts → the records of each file that are left out; removed.jsonl  (decisions.rs)
//! write      each file without them, several beside each other                            (write.rs)
//! folder     what the output is the output of, and what is done of it                     (folder.rs)
//! stream     the kept records as one stream instead of files                              (stream.rs)
//! request    the options, and what a run returns                                          (request.rs)
//! ```
//!
//! A file of which nothing is left out is copied byte for byte, as are the other records of any file. No record
//! disappears without a line in `removed.jsonl` that names the kept document that it is a near-duplicate of. A file of
//! the output is written beside its place and then renamed, so it is there whole or not at all; nothing is
//! synchronised with the disk. A run that is interrupted is continued by the same run.

mod decisions;
mod folder;
mod inputs;
mod request;
mod stream;
mod write;

pub use request::{Cleaned, OnError, Options};
pub use stream::write_kept;

use crate::algorithm::{AlgorithmFactory, Spec};
use crate::engine::{self, KEEP_POLICIES, KeptOutcome, Observer, Report};
use crate::error::Error;
use crate::source::{self, Input, RankBy, Source};
use decisions::{Counts, OfFile, Watch};
use folder::{Folder, Found, Request, State, records};
use inputs::{File, Inputs};
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Writes the files of these paths, without the records that are near-duplicates of kept ones, into the folder
/// `output`; without a folder, only decides. See the [module](self).
///
/// # Errors
/// [`Error::Usage`] if an output would be an input, two files would have one output, or the folder holds something
/// else; [`Error::Output`] if it cannot be written; [`Error::Input`] if a file changes meanwhile; those of
/// [`engine::deduplicate`]. Problems with single records are not errors: they go to the observer and the counts.
///
/// # Cost
/// A [scan](engine::deduplicate), and one more reading of the files of which records are left out. Memory: that of the
/// scan, 8 bytes for each record that is left out, and some 200 bytes for each file. Writing takes some MiB a thread, and
/// 100 MB for files that are compressed with xz, of which one is written at a time.
pub fn clean(
    paths: &[PathBuf],
    output: Option<&Path>,
    factory: &dyn AlgorithmFactory,
    options: &Options,
    observer: &dyn Observer,
) -> Result<Cleaned, Error> {
    let input = Input::new(paths.to_vec(), options.source.clone());
    let inputs = Inputs::new(input.listing()?, false)?;
    let Some(output) = output else {
        let (outcome, conditions) = scan(input, factory, options, observer)?;
        let decided =
            decisions::decide(&outcome.kept(), &inputs.names(), &conditions, options.on_error, &mut io::sink());
        let files = decided.map_err(|error| Error::output("nothing", error))?;
        return Ok(Cleaned { report: Some(outcome.report().clone()), ..Cleaned::of(&files, &inputs) });
    };
    inputs.refuse_output(paths, output)?;
    inputs.refuse_output(&options.against, output)?;
    let request = request(factory, options)?;
    let folder = Folder::open(output)?;
    let (state, files, report) = match folder.find(&request, &records(&inputs))? {
        Found::Complete(counts) => {
            folder.finish();
            let files = inputs.files.len() as u64;
            return Ok(Cleaned { was_complete: true, files, ..*counts });
        }
        Found::Decided(state) => {
            let lines = folder.read("removed.jsonl")?;
            let files = decisions::read(lines, &inputs, &state.counts).map_err(|error| {
                Error::input(
                    format!("cannot continue with {}", folder.output("removed.jsonl".as_ref()).display()),
                    error,
                )
            })?;
            (state, files, None)
        }
        Found::New => {
            let decided = decide(input, &inputs, request, &folder, (factory, options, observer));
            let (state, files, report) = decided.inspect_err(|_| folder.give_up())?;
            (state, files, Some(report))
        }
    };
    let started = Instant::now();
    let written = write::write(&inputs, &files, &folder, options, observer)?;
    let seconds = started.elapsed().as_secs_f64();
    let cleaned = Cleaned {
        report,
        files_written: written.files,
        files_continued: written.continued,
        bytes_written: written.bytes,
        ..Cleaned::of(&files, &inputs)
    };
    folder.write("summary.json", &summary(&state, &inputs, &cleaned, seconds))?;
    folder.finish();
    Ok(cleaned)
}

impl Cleaned {
    fn of(files: &[OfFile], inputs: &Inputs) -> Self {
        let sum = |count: fn(&Counts) -> u64| files.iter().map(|file| count(&file.counts)).sum();
        Cleaned {
            files: inputs.files.len() as u64,
            records: sum(|counts| counts.records),
            removed: sum(|counts| counts.removed),
            failed: sum(|counts| counts.failed),
            ..Cleaned::default()
        }
    }
}

/// Reads everything, and decides which documents are kept.
fn scan(
    mut input: Input,
    factory: &dyn AlgorithmFactory,
    options: &Options,
    observer: &dyn Observer,
) -> Result<(KeptOutcome, decisions::Conditions), Error> {
    let watch = Watch::new(observer);
    let mut reference = (!options.against.is_empty())
        .then(|| Input::new(options.against.clone(), options.source.clone()).without(input.files()));
    let against = reference.as_mut().map(|reference| reference as &mut dyn Source);
    let outcome = engine::deduplicate(&mut input, against, factory, &options.engine, &watch, options.keep)?;
    let counts = &outcome.report().counts;
    decisions::check_failed(options.on_error, counts.failed)?;
    if counts.documents == 0 && !options.allow_empty {
        let why = match counts.failed {
            0 => "the input has none".to_string(),
            1 => "the only file or record failed".to_string(),
            failed => format!("{failed} files or records failed"),
        };
        return Err(Error::Empty(format!("no document was read: {why} (use `allow-empty` if that is expected)")));
    }
    Ok((outcome, watch.conditions()))
}

/// Decides what becomes of each record, and writes it down.
fn decide(
    input: Input,
    inputs: &Inputs,
    request: Request,
    folder: &Folder,
    (factory, options, observer): (&dyn AlgorithmFactory, &Options, &dyn Observer),
) -> Result<(State, Vec<OfFile>, Report), Error> {
    let started = Instant::now();
    let (outcome, conditions) = scan(input, factory, options, observer)?;
    let kept = outcome.kept();
    let (files, removed_bytes) = folder.replace("removed.jsonl", |file| {
        let mut out = BufWriter::with_capacity(1 << 16, &mut *file);
        let files = decisions::decide(&kept, &inputs.names(), &conditions, options.on_error, &mut out)?;
        decisions::list_further_names(inputs, &mut out)?;
        out.flush()?;
        drop(out);
        Ok((files, file.metadata()?.len()))
    })?;
    let report = outcome.report().clone();
    let state = State {
        request,
        inputs: records(inputs),
        counts: files.iter().map(|file| file.counts).collect(),
        removed_bytes,
        scan: scan_record(&report, started.elapsed().as_secs_f64()),
    };
    folder.write("state.json", &json(&state))?;
    Ok((state, files, report))
}

fn json(record: &impl Serialize) -> Vec<u8> {
    let mut text = serde_json::to_vec(record).expect("strings and numbers make JSON");
    text.push(b'\n');
    text
}

/// The options that decide the output.
fn request(factory: &dyn AlgorithmFactory, options: &Options) -> Result<Request, Error> {
    let prepared = factory.prepare(0)?;
    let tokenizer = prepared.tokenizer.clone().unwrap_or_else(|| options.engine.tokenizer.clone());
    let mut request = Spec::new(&*prepared.algorithm, &*tokenizer, options.engine.seed).identity();
    if factory.depends_on_length() {
        // What follows from the median length is not known yet; that it does is.
        let derived = prepared.algorithm.rows();
        let derived = derived.iter().filter(|row| row.provenance.origin == crate::algorithm::Origin::Derived);
        derived.for_each(|row| _ = request.insert(row.name.replace('_', " "), "auto".into()));
    }
    let source::Options {
        format,
        text_fields,
        id_field,
        page_text,
        pages_in_fields,
        delimiter,
        max_record,
        hidden,
        include,
        exclude,
        program,
        ranking,
        ..
    } = &options.source;
    let keep = KEEP_POLICIES.iter().find(|(_, policy, _)| *policy == options.keep).map_or("", |&(name, ..)| name);
    let on_error = match options.on_error {
        OnError::Drop => "drop",
        OnError::Keep | OnError::Fail => "keep",
    };
    let content = match (page_text, pages_in_fields) {
        (source::PageText::All, false) => "all",
        (source::PageText::All, true) => "html",
        (source::PageText::Main, false) => "main of pages",
        (source::PageText::Main, true) => "main",
    };
    // A reference that has changed decides otherwise.
    let reference = Inputs::new(Input::new(options.against.clone(), options.source.clone()).listing()?, true)?;
    let against = reference
        .files
        .iter()
        .map(|File { shown, stamp, .. }| Value::from(format!("{shown}, {} bytes of {}", stamp.bytes, stamp.modified)));
    let against = against.collect();
    let rank = match &ranking.by {
        RankBy::Newest => "newest".to_string(),
        RankBy::Oldest => "oldest".to_string(),
        RankBy::Greatest(field) => format!("max:{field}"),
        RankBy::Least(field) => format!("min:{field}"),
        _ => keep.to_string(),
    };
    let program = program.as_ref().map(|program| {
        let (command, files) = program.parts();
        let words: Vec<_> = command.iter().map(|word| word.to_string_lossy()).collect();
        serde_json::json!({"command": words, "files": files})
    });
    let prefer = ranking.prefer.iter().map(|globs| Value::from(globs.typed())).collect();
    let rows: [(&str, Value); 14] = [
        ("format", format.name().into()),
        ("text fields", Value::Array(text_fields.paths().map(|path| path.name().into()).collect())),
        ("id field", id_field.name().into()),
        ("content", content.into()),
        ("delimiter", delimiter.map_or(Value::Null, |delimiter| char::from(delimiter).to_string().into())),
        ("longest record", (*max_record).into()),
        ("choice of hidden files", (*hidden).into()),
        ("include", include.typed().into()),
        ("exclude", exclude.typed().into()),
        ("program", program.into()),
        ("keep", rank.into()),
        ("prefer", Value::Array(prefer)),
        ("on error", on_error.into()),
        ("against", Value::Array(against)),
    ];
    request.extend(rows.map(|(name, value)| (name.to_string(), value)));
    Ok(request)
}

/// What the scan found, as in `summary.json`.
#[derive(Serialize)]
struct ScanRecord<'a> {
    algo: &'a str,
    measure: &'a str,
    parameters: BTreeMap<&'a str, &'a crate::algorithm::Value>,
    median_tokens: usize,
    counts: &'a engine::Counts,
    warnings: &'a [String],
    seconds: f64,
}

fn scan_record(report: &Report, seconds: f64) -> Box<RawValue> {
    let record = ScanRecord {
        algo: report.algorithm,
        measure: report.measure,
        parameters: report.parameters.iter().map(|row| (row.name, &row.value)).collect(),
        median_tokens: report.median_tokens,
        counts: &report.counts,
        warnings: &report.warnings,
        seconds,
    };
    to_raw_value(&record).expect("strings and numbers make JSON")
}

/// The file `summary.json`.
#[derive(Serialize)]
struct Summary<'a> {
    r#type: &'static str,
    version: &'static str,
    request: &'a Map<String, Value>,
    scan: &'a RawValue,
    records: u64,
    kept: u64,
    removed: u64,
    failed: u64,
    files_written: u64,
    bytes_written: u64,
    /// Seconds of writing, in the run that ended it.
    seconds_writing: f64,
    /// The largest memory of the process so far in bytes, where the system states it.
    #[serde(skip_serializing_if = "Option::is_none")]
    peak_memory: Option<u64>,
    files: Vec<FileSummary<'a>>,
    /// Further names of files.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    same: Vec<&'a str>,
}

#[derive(Serialize)]
struct FileSummary<'a> {
    #[serde(flatten)]
    input: &'a folder::InputRecord,
    #[serde(flatten)]
    counts: Counts,
}

fn summary(state: &State, inputs: &Inputs, cleaned: &Cleaned, seconds_writing: f64) -> Vec<u8> {
    let files = state.inputs.iter().zip(&state.counts);
    json(&Summary {
        r#type: "clean",
        version: env!("CARGO_PKG_VERSION"),
        request: &state.request,
        scan: &state.scan,
        records: cleaned.records,
        kept: cleaned.records - cleaned.removed,
        removed: cleaned.removed,
        failed: cleaned.failed,
        files_written: cleaned.files_written,
        bytes_written: cleaned.bytes_written,
        seconds_writing,
        peak_memory: peak_memory(),
        files: files.map(|(input, counts)| FileSummary { input, counts: *counts }).collect(),
        same: inputs.same.iter().map(|same| same.shown.as_str()).collect(),
    })
}

/// The largest memory of the process so far in bytes, where the system states it.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.parse().ok().map(|kilobytes: u64| kilobytes << 10)
}
