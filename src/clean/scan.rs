//! The scan that decides, and what identifies it.

use super::decider::Sides;
use super::decisions::{self, Condition, Conditions, Counts, Watch};
use super::folder::Request;
use super::inputs::{File, Inputs};
use super::request::{CleanOptions, Cleaned, DecidedByIndex, OnError};
use crate::algorithm::{self, AlgorithmFactory, Spec};
use crate::engine::{self, KEEP_POLICIES, KeepPolicy, KeptOutcome, Observer, Report};
use crate::error::Error;
use crate::passages::PassageCounts;
use crate::source::{self, Input, Source, display_path};
use serde::Serialize;
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};
use std::collections::BTreeMap;

/// Reads everything, and decides which documents are kept.
///
/// # Errors
/// Those of [`engine::deduplicate`]; no document was read, or none of a reference, or some failed, and that is not allowed.
pub(super) fn scan(
    (mut input, mut reference): Sides,
    factory: &dyn AlgorithmFactory,
    options: &CleanOptions,
    observer: &dyn Observer,
) -> Result<(KeptOutcome, Conditions, source::Counts), Error> {
    let watch = Watch::new(observer);
    if !options.allow_empty {
        reference.iter_mut().for_each(|reference| reference.require_documents("against"));
    }
    let against = reference.as_mut().map(|reference| reference as &mut dyn Source);
    let mut outcome = engine::deduplicate(&mut input, against, factory, &options.engine, &watch, options.keep)?;
    let never_found = input.all_fields_never_found(reference.as_ref());
    never_found.for_each(|warning| outcome.warn(warning));
    let counts = &outcome.report().counts;
    check_read(options, counts.documents, (counts.failed, counts.skipped), &input.counts())?;
    let read = input.counts() + reference.map_or(source::Counts::default(), |reference| reference.counts());
    Ok((outcome, watch.conditions(), read))
}

/// An error if no document was read, or some failed, and that is not allowed.
pub(super) fn check_read(
    options: &CleanOptions,
    documents: u64,
    (failed, skipped): (u64, u64),
    read: &source::Counts,
) -> Result<(), Error> {
    decisions::check_failed(options.on_error, failed)?;
    if documents > 0 || options.allow_empty {
        return Ok(());
    }
    Err(read.none_read((failed, skipped), "`allow-empty`"))
}

/// A reference, as a source.
pub(super) fn as_source(reference: &mut Option<Input>) -> Option<&mut dyn Source> {
    reference.as_mut().map(|reference| reference as &mut dyn Source)
}

/// Searches the input, and the reference, by `find`; `counts` are those of what it found.
///
/// # Errors
/// Those of the search; no document was read, or none of the reference, or some failed, and that is not allowed.
pub(super) fn search<T>(
    (input, reference): (&mut Input, &mut Option<Input>),
    options: &CleanOptions,
    find: impl FnOnce(&mut Input, Option<&mut dyn Source>) -> Result<T, Error>,
    counts: impl FnOnce(&T) -> &PassageCounts,
) -> Result<T, Error> {
    if !options.allow_empty {
        reference.iter_mut().for_each(|reference| reference.require_documents("against"));
    }
    let found = find(input, as_source(reference))?;
    let PassageCounts { documents, failed, skipped, .. } = *counts(&found);
    check_read(options, documents, (failed, skipped), &input.counts())?;
    Ok(found)
}

/// The warnings about what was read of both sides, as they are worded, and what was counted of them.
pub(super) fn read_of((input, reference): &Sides, options: &CleanOptions) -> (Vec<String>, source::Counts) {
    let warnings = input.all_fields_never_found(reference.as_ref());
    let read = input.counts() + reference.as_ref().map(Input::counts).unwrap_or_default();
    (warnings.map(|warning| (options.worded)(&warning)).collect(), read)
}

impl Cleaned {
    /// The sums of the counts of files. Of what failed, a scan knows more than that: links that lead nowhere, and folders
    /// that cannot be read.
    pub(super) fn of(counts: impl Iterator<Item = Counts> + Clone, failed: u64) -> Self {
        let sum = |count: fn(&Counts) -> u64| counts.clone().map(|counts| count(&counts)).sum();
        Cleaned {
            files: counts.clone().count() as u64,
            records: sum(|counts| counts.records),
            removed: sum(|counts| counts.removed),
            removed_for_references: sum(|counts| counts.removed_for_references),
            failed: sum(|counts| counts.failed).max(failed),
            damaged: sum(|counts| u64::from(counts.condition == Condition::Damaged)),
            refused: sum(|counts| u64::from(counts.condition == Condition::Refused)),
            duplicates_kept: sum(|counts| match counts.condition {
                Condition::Refused => 0,
                _ => counts.duplicates_kept,
            }),
            ..Cleaned::default()
        }
    }
}

/// The files of the reference.
///
/// # Errors
/// One is neither a file nor a folder.
pub(super) fn references(options: &CleanOptions) -> Result<Inputs, Error> {
    Ok(Inputs::new(Input::new(options.against.clone(), options.source.clone()).listing()?))
}

/// The options that decide the output.
///
/// # Errors
/// They contradict each other, or a reference cannot be listed.
pub(super) fn request(factory: &dyn AlgorithmFactory, options: &CleanOptions) -> Result<Request, Error> {
    let prepared = factory.prepare(0)?;
    let tokenizer = prepared.tokenizer.clone().unwrap_or_else(|| options.engine.tokenizer.clone());
    let mut request = Spec::new(&*prepared.algorithm, &*tokenizer, options.engine.seed).identity_json();
    if factory.depends_on_length() {
        // What follows from the median length is not known yet; that it does is.
        let derived = prepared.algorithm.rows();
        let derived = derived.iter().filter(|row| row.provenance.origin == algorithm::Origin::Derived);
        derived.for_each(|row| _ = request.insert(row.name.replace('_', " "), "auto".into()));
    }
    with_options(request, options)
}

/// What identifies the reference: one that has changed decides otherwise.
///
/// # Errors
/// A path is neither a file nor a folder.
fn identified_reference(options: &CleanOptions) -> Result<Vec<Value>, Error> {
    let file =
        |File { shown, stamp, .. }: &File| Value::from(format!("{shown}, {} bytes of {}", stamp.bytes, stamp.modified));
    let mut against: Vec<Value> = references(options)?.files.iter().map(file).collect();
    for path in &options.against {
        if Input::new(vec![path.clone()], options.source.clone()).listing()?.is_empty() {
            against.push(format!("{}, no file", display_path(path)).into());
        }
    }
    Ok(against)
}

/// The same, given how documents are compared.
///
/// # Errors
/// As for [`request`].
pub(super) fn with_options(mut request: Request, options: &CleanOptions) -> Result<Request, Error> {
    let source::ReadOptions {
        format,
        encoding,
        text_fields,
        id_field,
        reference,
        page_text,
        pages_in_fields,
        delimiter,
        max_record,
        hidden,
        include,
        exclude,
        programs,
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
    let against = identified_reference(options)?;
    // As it is typed.
    let mut rules: Vec<String> = ranking.by.iter().map(ToString::to_string).collect();
    if rules.is_empty() || options.keep != KeepPolicy::default() {
        rules.push(keep.to_string());
    }
    let programs = programs.iter().map(|program| {
        let (command, files) = program.parts();
        let words: Vec<_> = command.iter().map(|word| word.to_string_lossy()).collect();
        serde_json::json!({"command": words, "files": files})
    });
    let prefer = ranking.prefer.iter().map(|globs| Value::from(globs.typed())).collect();
    let decisions = options.engine.chosen.as_ref().map(|chosen| format!("digest {:032x}", chosen.digest()));
    let names = |fields: &source::TextFields| Value::Array(fields.paths().map(|path| path.typed().into()).collect());
    let fields_of_reference = reference.text.as_ref().map(names);
    let rows: [(&str, Value); 20] = [
        ("format", format.name().into()),
        ("encoding", encoding.map(source::Encoding::name).into()),
        ("text fields", names(text_fields)),
        ("id field", id_field.name().into()),
        ("content", content.into()),
        ("delimiter", delimiter.map_or(Value::Null, |delimiter| char::from(delimiter).to_string().into())),
        ("longest record", (*max_record).into()),
        ("choice of hidden files", (*hidden).into()),
        ("include", include.typed().into()),
        ("exclude", exclude.typed().into()),
        ("program", Some(programs.collect()).filter(|programs: &Vec<Value>| !programs.is_empty()).into()),
        ("keep", rules.join(",").into()),
        ("prefer", Value::Array(prefer)),
        ("decisions file", decisions.into()),
        ("on error", on_error.into()),
        ("against", against.into()),
        ("format of the reference", reference.format.map(source::Format::name).into()),
        ("text fields of the reference", fields_of_reference.into()),
        ("id field of the reference", reference.id.as_ref().map(|path| path.name()).into()),
        ("reference encoding", reference.encoding.map(source::Encoding::name).into()),
    ];
    request.extend(rows.map(|(name, value)| (name.to_string(), value)));
    Ok(request)
}

/// The warnings of `summary.json`: those that the caller gave, and these, each once.
pub(super) fn all_warnings(options: &CleanOptions, warnings: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut all = options.warnings.clone();
    for warning in warnings {
        if !all.contains(&warning) {
            all.push(warning);
        }
    }
    all
}

/// What the scan found, as in `summary.json`.
#[derive(Serialize)]
struct ScanRecord<'a, C> {
    algo: &'a str,
    measure: &'a str,
    parameters: BTreeMap<&'a str, &'a algorithm::Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    median_tokens: Option<usize>,
    counts: &'a C,
    warnings: Vec<String>,
    seconds: f64,
}

pub(super) fn scan_record(report: &Report, seconds: f64, options: &CleanOptions) -> Box<RawValue> {
    to_raw_value(&ScanRecord {
        algo: report.algorithm,
        measure: report.measure,
        parameters: report.parameters.iter().map(|row| (row.name, &row.value)).collect(),
        median_tokens: Some(report.median_tokens),
        counts: &report.counts,
        warnings: all_warnings(options, report.warnings.iter().map(|warning| (options.worded)(warning))),
        seconds,
    })
    .expect("strings and numbers make JSON")
}

/// The same of documents that an index decided on.
pub(super) fn stream_record(decided: &DecidedByIndex, options: &CleanOptions) -> Box<RawValue> {
    to_raw_value(&ScanRecord {
        algo: decided.algorithm,
        measure: decided.measure,
        parameters: decided.parameters.iter().map(|row| (row.name, &row.value)).collect(),
        median_tokens: None,
        counts: &decided.counts,
        warnings: all_warnings(options, decided.warnings.iter().map(|warning| (options.worded)(warning))),
        seconds: decided.seconds,
    })
    .expect("strings and numbers make JSON")
}
