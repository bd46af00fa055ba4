//! `dedup contain`: states how much of each document stands in others.

use super::arguments::OnError;
use super::arguments::contain::{Arguments, Emit};
use super::arguments::scan;
use super::cut;
use super::files::OutFile;
use super::input::{self, LackingStats};
use super::markup;
use super::outputs::Outputs;
use super::preparation::Tokenization;
use super::scan::{NOTHING_WRITTEN, check_failed, check_reference};
use super::spelling::{self, spelled};
use super::standard_output::{WholeLines, refuse_closed_output};
use super::stats::{Failure, INCOMPLETE, end_on_signals, end_on_signals_in, with_stats, write_stats};
use super::status::{Status, usage_error};
use super::terminal::{Terminal, bytes, count, counted};
use crate::readable::shortened_id;
use neardups::Error;
use neardups::algorithm::parameter::THRESHOLD;
use neardups::clean::{self, CleanOptions, Cleaned};
use neardups::hash;
use neardups::passages::{
    self, ContainOptions, ContainPreset, ContainmentVerdict, PassageCounts, ShareOf, ShortDocuments, Uncontained,
};
use neardups::report::PassageLines;
use neardups::similarity::Threshold;
use neardups::source::{self, Input, ReadOptions, Source};
use serde::Serialize;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// The resolved request.
pub struct Request {
    paths: Vec<PathBuf>,
    against: Vec<PathBuf>,
    pub source: ReadOptions,
    /// Whether `--id-field` was typed, so that every record should have an id.
    names_ids: bool,
    tokens: Tokenization,
    preset: Option<&'static ContainPreset>,
    pub options: ContainOptions,
    pub emit: Emit,
    /// The folder that kept documents are written to; standard output without one.
    output: Option<PathBuf>,
    /// Whether the pairs are those of `dedup scan --measure containment`.
    is_scan: bool,
    pub on_error: OnError,
    rejects: Option<PathBuf>,
    max_bad: u64,
    pub allow_empty: bool,
    quiet: bool,
}

impl Request {
    /// Resolves it.
    ///
    /// # Errors
    /// Options contradict each other.
    pub fn resolve(arguments: &Arguments) -> Result<Self, Error> {
        let Arguments { input, run, .. } = arguments;
        refuse_without_effect(arguments)?;
        let tokens = Tokenization::resolve(&arguments.tokens, None)?;
        tokens.refuse_by_length("runs of words")?;
        let preset = arguments.preset.as_deref().map(ContainPreset::by_name).transpose()?;
        let defaults = preset.map_or_else(ContainOptions::default, ContainPreset::options);
        if let (Emit::Pairs, Some(preset), None) = (arguments.emit, preset, arguments.min_coverage)
            && preset.min_coverage_all != Threshold::LEAST
        {
            return Err(usage_error(format!(
                "the share of --preset {}, {}, is that of all documents together, and pairs state the coverage by one document: add \
                 --min-coverage",
                preset.name, preset.min_coverage_all
            )));
        }
        // Either bound that is typed replaces those of the preset, which are one share.
        let (min_coverage, min_coverage_all) = match (arguments.min_coverage, arguments.min_coverage_all) {
            _ if arguments.lists_all => (Threshold::LEAST, None),
            // What several documents have of the reference together does not say which one to leave out.
            (one, None) if arguments.of == ShareOf::Reference => (one.unwrap_or(defaults.min_coverage), None),
            (None, None) => (defaults.min_coverage, defaults.min_coverage_all),
            (None, Some(all)) if preset.is_some() => (all, Some(all)),
            (one, all) => (one.unwrap_or(defaults.min_coverage), all),
        };
        let options = ContainOptions {
            tokenizer: tokens.measure(),
            seed: run.seed.map_or(defaults.seed, |seed| seed.value),
            shingle: arguments.shingle.map_or(defaults.shingle, |shingle| shingle as usize),
            min_coverage,
            min_coverage_all,
            lists_all: arguments.lists_all,
            of: arguments.of,
            max_passages: arguments.max_passages.value as usize,
            threads: run.threads,
            memory: run.memory.map_or(defaults.memory, |memory| memory.value),
            temp_dir: run.temp_dir.clone(),
            required_fields: input::required_fields(input),
        };
        Ok(Request {
            paths: input::paths(&arguments.paths, &arguments.against)?,
            against: arguments.against.clone(),
            source: input::source_options(input, run.temp_dir.as_deref())?,
            names_ids: input.id_field.is_typed,
            tokens,
            preset,
            options,
            emit: arguments.emit,
            output: arguments.output.clone(),
            is_scan: false,
            on_error: arguments.on_error.value,
            rejects: input.rejects.clone(),
            max_bad: input::max_bad(input, arguments.on_error.value)?,
            allow_empty: input.allow_empty,
            quiet: run.quiet,
        })
    }

    /// Resolves `dedup scan --measure containment`.
    ///
    /// # Errors
    /// Options contradict each other, or have no effect on this measure.
    fn of_scan(arguments: &scan::Arguments) -> Result<Self, Error> {
        let scan::Arguments { method, input, run, .. } = arguments;
        refuse_of_scan(arguments)?;
        let tokens = Tokenization::resolve(&method.tokens, None)?;
        tokens.refuse_by_length("shingles")?;
        let mut shingle = SHINGLE;
        for (name, value) in method.settings.given() {
            match name {
                "threshold" => {}
                "shingle" => {
                    shingle = value.parse().map_err(|_| {
                        usage_error(format!(
                            "--shingle {value}: with --measure containment, a shingle has a fixed number of tokens"
                        ))
                    })?;
                }
                _ => return Err(usage_error(format!("--{name} {WITHOUT_ALGORITHM}"))),
            }
        }
        let defaults = ContainOptions::default();
        Ok(Request {
            paths: input::paths(&arguments.paths, &[])?,
            against: Vec::new(),
            source: input::source_options(input, run.temp_dir.as_deref())?,
            names_ids: input.id_field.is_typed,
            options: ContainOptions {
                tokenizer: tokens.measure(),
                seed: run.seed.map_or(defaults.seed, |seed| seed.value),
                shingle,
                min_coverage: method.settings.threshold(&THRESHOLD)?.expect("it has a default, and no auto"),
                threads: run.threads,
                memory: run.memory.map_or(defaults.memory, |memory| memory.value),
                temp_dir: run.temp_dir.clone(),
                required_fields: input::required_fields(input),
                ..defaults
            },
            tokens,
            preset: None,
            emit: Emit::Pairs,
            output: None,
            is_scan: true,
            on_error: arguments.on_error.value,
            rejects: input.rejects.clone(),
            max_bad: input::max_bad(input, arguments.on_error.value)?,
            allow_empty: input.allow_empty,
            quiet: run.quiet,
        })
    }
}

/// The tokens of a shingle of `dedup scan --measure containment`, unless typed.
const SHINGLE: usize = 5;

const WITHOUT_ALGORITHM: &str = "has no effect with --measure containment, which finds all pairs: leave it out";

/// Refuses what has no effect on `dedup scan --measure containment`.
fn refuse_of_scan(arguments: &scan::Arguments) -> Result<(), Error> {
    let scan::Arguments { method, emit, keep, .. } = arguments;
    if !arguments.against.is_empty() {
        let advice = "use dedup contain --against, which states how much of each document stands in the reference";
        return Err(usage_error(format!("--against has no effect with --measure containment: {advice}")));
    }
    if *emit != scan::Emit::Pairs {
        let typed = if *emit == scan::Emit::Paths { "--print0".to_string() } else { format!("--emit {}", emit.name()) };
        let advice = "use dedup contain, which has --emit verdicts and --emit kept";
        return Err(usage_error(format!(
            "{typed} has no effect with --measure containment, which writes pairs: {advice}"
        )));
    }
    let algorithm = method.algorithm.is_typed.then_some("--algo");
    let preset = method.preset.as_ref().map(|_| "--preset");
    if let Some(flag) = algorithm.or(preset) {
        return Err(usage_error(format!("{flag} {WITHOUT_ALGORITHM}")));
    }
    let report = arguments.report.as_ref().map(|_| "--report");
    let depth = arguments.host_depth.map(|_| "--host-depth");
    if let Some(flag) = keep.typed().or(report).or(depth) {
        return Err(usage_error(format!(
            "{flag} has no effect with --measure containment, which writes pairs: leave it out"
        )));
    }
    if arguments.on_error.is_typed && arguments.on_error.value != OnError::Fail {
        return Err(usage_error("--on-error keep and --on-error drop have no effect on pairs: leave --on-error out"));
    }
    Ok(())
}

/// Refuses `--of`, `--max-passages`, `--min-coverage-all` and `--on-error` where they have no effect.
fn refuse_without_effect(arguments: &Arguments) -> Result<(), Error> {
    let Arguments { emit, on_error, output, .. } = arguments;
    let what = emit.name();
    if output.is_some() && *emit != Emit::Kept {
        let why = "--output writes the documents that are kept: leave --emit out, or use --emit kept";
        return Err(usage_error(why));
    }
    let is_standard = |path: &PathBuf| path.as_os_str() == "-";
    if output.is_some() && (arguments.paths.is_empty() || arguments.paths.iter().any(is_standard)) {
        let why = "standard input (-) cannot be written back to a folder: name files or folders (--emit kept writes to standard output)";
        return Err(usage_error(why));
    }
    refuse_of_reference(arguments)?;
    if arguments.lists_all && *emit != Emit::Containments {
        return Err(usage_error(format!(
            "--min-coverage 0 lists every document, and has no meaning for {what}: use --emit containments, or a share above 0"
        )));
    }
    if arguments.lists_all && arguments.min_coverage_all.is_some() {
        return Err(usage_error("--min-coverage-all has no effect with --min-coverage 0, which lists every document"));
    }
    if *emit != Emit::Containments && arguments.max_passages.is_typed {
        return Err(usage_error(format!("--max-passages has no effect on {what}: use --emit containments")));
    }
    if *emit == Emit::Pairs && arguments.min_coverage_all.is_some() {
        let why = "has no effect on pairs, which state the coverage by one document";
        return Err(usage_error(format!("--min-coverage-all {why}: use --emit containments")));
    }
    let decides = matches!(emit, Emit::Verdicts | Emit::Kept);
    if decides && arguments.min_coverage_all.is_some() && arguments.against.is_empty() {
        let why = "has an effect on what is kept only with --against: otherwise one kept document contains each that is dropped";
        return Err(usage_error(format!("--min-coverage-all {why}")));
    }
    if on_error.is_typed && on_error.value != OnError::Fail && !decides {
        return Err(usage_error(
            "--on-error keep and --on-error drop have an effect only on verdicts and kept records: add --emit verdicts or --emit kept",
        ));
    }
    Ok(())
}

/// Refuses `--of reference` where it has no effect, and what has none with it.
fn refuse_of_reference(arguments: &Arguments) -> Result<(), Error> {
    if arguments.of == ShareOf::Document {
        return Ok(());
    }
    if !matches!(arguments.emit, Emit::Kept | Emit::Verdicts) {
        return Err(usage_error(
            "--of reference has an effect only on --output, --emit kept and --emit verdicts: to list how much of each reference \
             document stands in the documents, swap the sides (dedup contain REFERENCE --against DOCUMENTS)",
        ));
    }
    if arguments.min_coverage_all.is_some() {
        return Err(usage_error(
            "--min-coverage-all has no effect with --of reference, which leaves out a document for what it has of one reference \
             document: use --min-coverage",
        ));
    }
    Ok(())
}

/// Finds the documents that are contained in others, writes them, and prints a summary.
pub fn run(arguments: &Arguments) -> Result<Status, Error> {
    let mut outputs = Outputs::new();
    arguments.output.iter().try_for_each(|folder| outputs.writes_folder(folder, "--output"))?;
    outputs.reads_documents(&arguments.paths, arguments.input.hidden)?;
    arguments.against.iter().try_for_each(|reference| outputs.reads_reference(reference))?;
    outputs.reads_stop_words(&arguments.tokens)?;
    let output = arguments.output.as_deref();
    execute(&mut outputs, arguments.stats.as_deref(), output, || Request::resolve(arguments))
}

/// `dedup scan --measure containment`: finds the pairs of documents one of which stands in the other.
pub fn scan(arguments: &scan::Arguments) -> Result<Status, Error> {
    let mut outputs = Outputs::new();
    outputs.reads_documents(&arguments.paths, arguments.input.hidden)?;
    outputs.reads_stop_words(&arguments.method.tokens)?;
    execute(&mut outputs, arguments.stats.as_deref(), None, || Request::of_scan(arguments))
}

fn execute(
    outputs: &mut Outputs,
    stats: Option<&Path>,
    output: Option<&Path>,
    resolve: impl FnOnce() -> Result<Request, Error>,
) -> Result<Status, Error> {
    let stats = outputs.stats(stats)?;
    with_stats(stats, |stats_file: &mut Option<OutFile>| {
        if let Some(folder) = output {
            end_on_signals_in(stats_file.as_ref(), folder, String::new())?;
        } else {
            refuse_closed_output()?;
            end_on_signals(stats_file.as_ref(), INCOMPLETE)?;
        }
        let started = Instant::now();
        let request = resolve()?;
        check_reference(&request.against)?;
        let (mut input, mut reference) =
            Input::sides(request.paths.clone(), request.against.clone(), request.source.clone());
        if !request.allow_empty {
            reference.iter_mut().for_each(|reference| reference.require_documents("against"));
        }
        let total = input.total_bytes().zip(reference.as_ref().map_or(Some(0), Source::total_bytes));
        let rejects = outputs.rejects(request.rejects.as_deref())?;
        let terminal =
            Terminal::new(request.quiet, total.map(|(a, b)| a + b)).with_rejects(rejects).with_max_bad(request.max_bad);
        input::warn_of_globs(&terminal, &[&request.paths, &request.against], &request.source);
        markup::hint_of_pages(&terminal, &request.paths, &request.source);
        let done = match request.options.of {
            ShareOf::Document => ["searched", "looked for"],
            ShareOf::Reference => ["looked for", "searched"],
        };
        input::report_shared(&terminal, &input, reference.as_ref(), done);
        let result = search(&mut input, &mut reference, &request, &terminal);
        terminal.done();
        let (written, result) = terminal.finish_rejects(result)?;
        let never_found = input.all_fields_never_found(reference.as_ref());
        never_found.for_each(|warning| terminal.warning(&spelled(&warning)));
        // An earlier run may have read all.
        if written.counts.documents > 0 {
            input::report_lacking(&terminal, &request.source);
        }
        input::warn_of_no_reference_fields(&terminal, &request.source, reference.as_ref());
        let files = match &written.cleaned {
            Some(cleaned) => cleaned.read,
            None => input.counts() + reference.as_ref().map(Input::counts).unwrap_or_default(),
        };
        let PassageCounts { documents, failed, skipped, .. } = written.counts;
        let is_written = result.is_ok();
        let failure = match result {
            // The reader of the output closed it early: that is not an error, but statistics and status still count.
            Err(error) if !error.is_closed_pipe() => Some(error),
            _ if written.cleaned.is_some() => None,
            _ => input::check_not_empty(request.allow_empty, documents, (failed, skipped), &input.counts()).err(),
        };
        if is_written {
            summarise(&terminal, &request, &written, files, started);
            warn_of_mistakes(&terminal, &request, &written.counts, files);
        }
        let ended = (&*terminal.warnings(), failure.as_ref());
        write_stats(stats_file.take(), &stats_of(&request, &written, ended, started), failure.as_ref())?;
        failure.map_or_else(|| Ok(terminal.end_with(failed)), Err)
    })
}

/// What was found and written.
#[derive(Default)]
pub struct Written {
    counts: PassageCounts,
    /// Records.
    pub records: u64,
    /// Those of documents that have a run of another one, if all documents are listed.
    with_runs: u64,
    /// Documents that are not kept, if that was decided.
    dropped: Option<u64>,
    /// Documents without a run.
    short: ShortDocuments,
    /// Why nothing was left out, if the share is probably of the wrong side.
    hint: Option<String>,
    /// Whether more of the reference was kept than is needed.
    exceeds_filter: bool,
    /// What was written to a folder.
    cleaned: Option<Cleaned>,
}

/// What was found, and why writing it ended early.
type Found = (Written, Result<(), Error>);

fn side(reference: &mut Option<Input>) -> Option<&mut dyn Source> {
    reference.as_mut().map(|reference| reference as &mut dyn Source)
}

impl Written {
    /// What was read, before records are written.
    pub fn of(counts: PassageCounts, short: ShortDocuments) -> Self {
        Written { counts, short, ..Written::default() }
    }
}

/// Finds and writes.
fn search(
    input: &mut Input,
    reference: &mut Option<Input>,
    request: &Request,
    terminal: &Terminal,
) -> Result<Found, Error> {
    match request.emit {
        Emit::Containments => write_containments(input, reference, request, terminal),
        Emit::Pairs => write_pairs(input, reference, request, terminal),
        Emit::Verdicts => write_verdicts(input, reference, request, terminal),
        Emit::Kept if request.output.is_some() => write_folder(request, terminal),
        Emit::Kept => write_kept(input, reference, request, terminal),
    }
}

fn write_containments(
    input: &mut Input,
    reference: &mut Option<Input>,
    request: &Request,
    terminal: &Terminal,
) -> Result<Found, Error> {
    let (mut out, mut records, mut with_runs) = (PassageLines::new(WholeLines::new()), 0, 0);
    let mut found = passages::find_contained(input, side(reference), &request.options, terminal)?;
    let result = check_failed(request.on_error, found.counts().failed, NOTHING_WRITTEN).and_then(|()| {
        input::warn_of_ids(terminal, found.ids_repeat(), input::PLACES_OF_CONTAINED);
        found.for_each(input, side(reference), terminal, |containment| {
            records += 1;
            with_runs += u64::from(containment.in_id.is_some());
            out.containment(containment)
        })?;
        out.finish()?;
        // A document may have changed since.
        check_failed(request.on_error, found.counts().failed, "the results that were written are incomplete")
    });
    let (exceeds_filter, written) =
        (found.exceeds_filter(), Written::of(found.counts().clone(), found.short().clone()));
    Ok((Written { records, with_runs, exceeds_filter, ..written }, result))
}

fn write_pairs(
    input: &mut Input,
    reference: &mut Option<Input>,
    request: &Request,
    terminal: &Terminal,
) -> Result<Found, Error> {
    let (mut out, mut records, mut spilled) = (PassageLines::new(WholeLines::new()), 0, 0);
    let found = passages::find_coverages(input, side(reference), &request.options, terminal)?;
    let result = check_failed(request.on_error, found.counts().failed, NOTHING_WRITTEN).and_then(|()| {
        let fields = if request.is_scan { input::PLACES_OF_PAIR } else { input::PLACES_OF_CONTAINED };
        input::warn_of_ids(terminal, found.ids_repeat(), fields);
        if request.is_scan {
            spilled = found.for_each_pair(terminal, |pair| {
                records += 1;
                out.contained_pair(pair)
            })?;
        } else {
            found.for_each(terminal, |pair| {
                records += 1;
                out.coverage(pair)
            })?;
        }
        out.finish()
    });
    let (exceeds_filter, mut written) =
        (found.exceeds_filter(), Written::of(found.counts().clone(), found.short().clone()));
    written.counts.spilled += spilled;
    Ok((Written { records, exceeds_filter, ..written }, result))
}

fn write_verdicts(
    input: &mut Input,
    reference: &mut Option<Input>,
    request: &Request,
    terminal: &Terminal,
) -> Result<Found, Error> {
    let (mut out, mut records) = (PassageLines::new(WholeLines::new()), 0);
    let found = passages::find_uncontained(input, side(reference), &request.options, terminal)?;
    let checked = check_failed(request.on_error, found.counts().failed, NOTHING_WRITTEN);
    let lengths = || if request.allow_empty { Ok(()) } else { found.check_lengths() };
    let result = checked.and_then(|()| lengths()).and_then(|()| {
        let places = match request.options.of {
            ShareOf::Document => input::PLACES_OF_CONTAINED,
            ShareOf::Reference => input::PLACES_OF_CONTAINING,
        };
        input::warn_of_ids(terminal, found.ids_repeat(), places);
        for verdict in found.verdicts() {
            records += 1;
            let keep = clean::OnError::from(request.on_error).keeps(verdict.keep, verdict.error, verdict.is_skipped);
            let error = verdict.error.map(spelling::of_rejection);
            let verdict = ContainmentVerdict { keep, error: error.as_deref(), ..verdict };
            out.containment_verdict(&verdict, found.ids_repeat())?;
        }
        out.finish()
    });
    let hint = hint_of_share(&found, &request.options);
    Ok((Written { hint, ..decided(&found, records) }, result))
}

fn write_kept(
    input: &mut Input,
    reference: &mut Option<Input>,
    request: &Request,
    terminal: &Terminal,
) -> Result<Found, Error> {
    let options = CleanOptions {
        source: request.source.clone(),
        on_error: request.on_error.into(),
        allow_empty: request.allow_empty,
        ..CleanOptions::default()
    };
    let mut out = BufWriter::with_capacity(1 << 16, io::stdout());
    let (found, written) =
        clean::write_uncontained(input, side(reference), &request.options, &options, terminal, &mut out)?;
    let written = written.and_then(|records| {
        out.flush().map_err(|error| Error::output("cannot write results", error))?;
        Ok(records)
    });
    let records = written.as_ref().copied().unwrap_or_default();
    let hint = hint_of_share(&found, &request.options);
    Ok((Written { hint, ..decided(&found, records) }, written.map(drop)))
}

/// What was decided, and the number of records written.
pub fn decided(found: &Uncontained, records: u64) -> Written {
    let (dropped, exceeds_filter) = (Some(found.dropped()), found.exceeds_filter());
    Written { records, dropped, exceeds_filter, ..Written::of(found.counts().clone(), found.short().clone()) }
}

/// Writes the files without the documents that others contain.
fn write_folder(request: &Request, terminal: &Terminal) -> Result<Found, Error> {
    let options = CleanOptions {
        source: request.source.clone(),
        against: request.against.clone(),
        on_error: request.on_error.into(),
        allow_empty: request.allow_empty,
        worded: |warning| spelled(warning).into_owned(),
        worded_problem: |message| spelling::of_rejection(message).into_owned(),
        warnings: terminal.warnings(),
        ..CleanOptions::default()
    };
    let (folder, mut decided_now) = (request.output.as_deref(), None);
    let mut review = |found: &Uncontained, warnings: &[String]| {
        warnings.iter().for_each(|warning| terminal.warning(warning));
        decided_now = Some(Written { hint: hint_of_share(found, &request.options), ..decided(found, 0) });
    };
    let cleaned = clean::clean_uncontained(&request.paths, folder, &request.options, &options, terminal, &mut review);
    terminal.done();
    input::report_interrupted(terminal, folder, &cleaned);
    let cleaned = cleaned?;
    // An earlier run may have decided.
    let written = decided_now.unwrap_or_default();
    let counts = PassageCounts { failed: cleaned.failed, ..written.counts };
    let records = cleaned.records - cleaned.removed;
    Ok((Written { counts, records, cleaned: Some(cleaned), ..written }, Ok(())))
}

/// Why nothing was left out, if the reference documents are so much shorter than the documents that one can hardly reach the coverage.
pub fn hint_of_share(found: &Uncontained, options: &ContainOptions) -> Option<String> {
    let ContainOptions { min_coverage, min_coverage_all, of, shingle, .. } = *options;
    let is_any = min_coverage == Threshold::LEAST || min_coverage_all == Some(Threshold::LEAST);
    if is_any || of == ShareOf::Reference || found.dropped() > 0 {
        return None;
    }
    let [documents, references] = found.median_tokens();
    let least = min_coverage.as_f64().min(min_coverage_all.map_or(1.0, Threshold::as_f64));
    // A share of runs of words: the shorter of two texts has fewer runs for its words.
    let runs = |words: u32| f64::from((words + 1).saturating_sub(shingle as u32));
    (references > 0 && runs(references) < least * runs(documents)).then(|| {
        format!(
            "nothing was left out: the coverage is a share of a document (median: {}), and a reference document is shorter \
             (median: {}); with `of reference`, the coverage is a share of the reference document",
            counted(documents.into(), "word"),
            counted(references.into(), "word"),
        )
    })
}

/// The coverage by these documents that is asked for, in words.
fn coverage(least: Threshold, by: &str) -> String {
    match least == Threshold::LEAST {
        true => format!("at least one run that stands in {by}"),
        false => format!("a coverage of {least} or more by {by}"),
    }
}

/// The coverage that is asked for, in words.
fn bounds(request: &Request) -> String {
    let ContainOptions { min_coverage, min_coverage_all, of, .. } = request.options;
    if of == ShareOf::Reference {
        return match min_coverage == Threshold::LEAST {
            true => "at least one run of a document of the reference".into(),
            false => format!("a coverage of {min_coverage} or more of a document of the reference"),
        };
    }
    let others = match request.emit {
        _ if !request.against.is_empty() => ["a document of the reference", "all of the reference together"],
        Emit::Verdicts | Emit::Kept => ["a kept document", "all others together"],
        Emit::Containments | Emit::Pairs => ["another document", "all others together"],
    };
    let of_one = coverage(min_coverage, others[0]);
    let of_all = |least| match least == Threshold::LEAST {
        // What stands in all of them together stands in one.
        true => coverage(least, others[0]),
        false => coverage(least, others[1]),
    };
    match min_coverage_all.filter(|_| request.emit != Emit::Pairs) {
        // What stands in one document stands in all of them.
        Some(least) if least.as_f64() <= min_coverage.as_f64() => of_all(least),
        Some(least) => format!("{of_one}, or {}", of_all(least)),
        None => of_one,
    }
}

/// Runs of fewer words say little.
const FEW_WORDS: u32 = 5;

/// Which documents of the reference are too short, in parentheses, and after a semicolon `remedy` by the least length in words of one.
pub fn first_short(short: &ShortDocuments, remedy: impl FnOnce(u32) -> String) -> String {
    let ShortDocuments { references, ref first_references, shortest_reference, .. } = *short;
    let further = if references > first_references.len() as u64 { ", …" } else { "" };
    let named: Vec<_> = first_references.iter().map(|id| shortened_id(id)).collect();
    let advice = match shortest_reference {
        // Pages have nearly all runs of a few words.
        ..FEW_WORDS => String::new(),
        least => format!("; the shortest has {}: {}", counted(least.into(), "word"), remedy(least)),
    };
    format!("({}{further}){advice}", named.join(", "))
}

/// The remarks on documents without a run, and on those of the reference, of which there are `references`; each with whether nothing can
/// be found because of it. `keeps`: whether the documents are kept.
pub fn remarks_on_short(short: &ShortDocuments, references: u64, shingle: usize, keeps: bool) -> Vec<(String, bool)> {
    let words = counted(shingle as u64, "word");
    let remark = |short: u64, what: &str, effect: &str| {
        let have = if short == 1 { "has" } else { "have" };
        format!("{} {have} fewer than {words} and no run: {effect}", counted(short, what))
    };
    let first = first_short(short, |least| format!("`shingle {least}` compares all that have words"));
    let ShortDocuments { documents, references: short, .. } = *short;
    let mut remarks = Vec::new();
    if documents > 0 {
        let effect = if keeps { "not compared, and kept" } else { "not compared" };
        remarks.push((remark(documents, "document", effect), false));
    }
    if short > 0 {
        let effect = if short == 1 { "nothing matches it" } else { "nothing matches them" };
        remarks.push((format!("{} {first}", remark(short, "reference document", effect)), short == references));
    }
    remarks
}

fn summarise(terminal: &Terminal, request: &Request, written: &Written, files: source::Counts, started: Instant) {
    if let (Some(folder), Some(cleaned)) = (&request.output, &written.cleaned) {
        let copy = (folder.as_path(), request.on_error.into());
        cut::summarise_folder(terminal, copy, cleaned, "what was left out", started);
        if written.dropped.is_none() {
            return;
        }
    }
    let PassageCounts { documents, references, tokens, bytes: read, spilled, .. } = written.counts;
    let ContainOptions { shingle, min_coverage, .. } = request.options;
    let mut found = counted(documents, "document");
    if !request.against.is_empty() {
        found += &format!(" against {}", count(references));
    }
    let by = bounds(request);
    found += &match (request.emit, written.dropped) {
        (_, Some(dropped)) => format!(": {} not kept, with {by}", counted(dropped, "document")),
        (Emit::Pairs, None) if request.is_scan => {
            format!(": {} with a containment of {min_coverage} or more", counted(written.records, "pair"))
        }
        (Emit::Pairs, None) if min_coverage == Threshold::LEAST => {
            format!(": {} with at least one run in common", counted(written.records, "pair"))
        }
        (Emit::Pairs, None) => {
            format!(": {} with a coverage of {min_coverage} or more", counted(written.records, "pair"))
        }
        (_, None) if request.options.lists_all => {
            format!(": {} listed, {} with {by}", count(written.records), count(written.with_runs))
        }
        (_, None) => format!(": {} with {by}", count(written.records)),
    };
    terminal.line(&found);
    let shingle = shingle as u64;
    let keeps = matches!(request.emit, Emit::Verdicts | Emit::Kept);
    for (remark, is_warning) in remarks_on_short(&written.short, references, request.options.shingle, keeps) {
        let remark = spelled(&remark);
        if is_warning { terminal.warning(&remark) } else { terminal.line(&remark) }
    }
    written.hint.iter().for_each(|hint| terminal.warning(&spelled(hint)));
    if documents > 0 {
        let seconds = started.elapsed().as_secs_f64();
        let prepared = request.tokens.prepared.as_ref().map(|prepared| format!("; {prepared}")).unwrap_or_default();
        terminal.line(&format!(
            "runs of {}: {} on {} tokens{prepared}; {}",
            count(shingle),
            counted(tokens, "word"),
            request.tokens.name,
            terminal.cost(read, seconds),
        ));
        if spilled > 0 {
            terminal.line(&format!("because of --memory, {} went to temporary files", bytes(spilled as f64)));
        }
        if written.exceeds_filter {
            let [first, second] = match request.options.of {
                ShareOf::Document => ["documents have", "reference"],
                ShareOf::Reference => ["reference documents have", "documents"],
            };
            terminal.line(&format!(
                "the {first} more runs than the filter of the {second} has room for: with more --memory, less of the {second} goes to \
                 temporary files",
            ));
        }
    }
    let PassageCounts { repaired, skipped, failed, fell_back, .. } = written.counts;
    // Of what is written to a folder, the summary has a line about failures.
    let failed = if written.cleaned.is_some() { 0 } else { failed };
    input::report_left_out(terminal, [failed, skipped, repaired, fell_back], files);
}

/// Warns of input that was probably read in an unintended way.
fn warn_of_mistakes(terminal: &Terminal, request: &Request, counts: &PassageCounts, files: source::Counts) {
    let &PassageCounts { documents, references, unnamed, unnamed_references, failed, skipped, .. } = counts;
    if documents == 1 && references == 0 {
        input::warn_of_one_document(terminal, &request.paths, (failed, skipped), files);
    }
    input::warn_of_no_fields(terminal, &request.options.required_fields, &files);
    input::warn_of_unnamed(
        terminal,
        (&request.source, request.names_ids),
        [unnamed - unnamed_references, unnamed_references],
        [documents, references],
    );
}

/// The one object of `--stats`.
#[derive(Serialize)]
pub struct Stats<'a> {
    r#type: &'static str,
    version: &'static str,
    hash_version: u32,
    tokenizer: &'a str,
    seed: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    preset: Option<&'static str>,
    /// Of `dedup scan --measure containment`, with its threshold.
    #[serde(skip_serializing_if = "Option::is_none")]
    measure: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    threshold: Option<f64>,
    shingle: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    min_coverage: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    min_coverage_all: Option<f64>,
    /// With `--of reference`.
    #[serde(skip_serializing_if = "Option::is_none")]
    of: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_passages: Option<usize>,
    counts: &'a PassageCounts,
    records: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    dropped: Option<u64>,
    short: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    short_references: Option<u64>,
    warnings: &'a [String],
    seconds: f64,
    #[serde(flatten)]
    lacking: LackingStats,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Failure>,
}

/// The statistics of a run.
pub fn stats_of<'a>(
    request: &'a Request,
    written: &'a Written,
    (warnings, error): (&'a [String], Option<&Error>),
    started: Instant,
) -> Stats<'a> {
    let options = &request.options;
    Stats {
        r#type: "stats",
        version: env!("CARGO_PKG_VERSION"),
        hash_version: hash::HASH_VERSION,
        tokenizer: &request.tokens.name,
        seed: options.seed,
        preset: request.preset.map(|preset| preset.name),
        measure: request.is_scan.then_some(passages::CONTAINMENT),
        threshold: request.is_scan.then_some(options.min_coverage.as_f64()),
        shingle: options.shingle,
        min_coverage: (!request.is_scan).then_some(if options.lists_all { 0.0 } else { options.min_coverage.as_f64() }),
        min_coverage_all: options.min_coverage_all.filter(|_| request.emit != Emit::Pairs).map(Threshold::as_f64),
        of: (options.of == ShareOf::Reference).then_some(options.of.name()),
        max_passages: (!request.is_scan).then_some(options.max_passages),
        counts: &written.counts,
        records: written.records,
        dropped: written.dropped,
        short: written.short.documents,
        short_references: (!request.against.is_empty()).then_some(written.short.references),
        warnings,
        seconds: started.elapsed().as_secs_f64(),
        lacking: if written.counts.documents > 0 { LackingStats::of(&request.source) } else { LackingStats::default() },
        error: error.map(Failure::from),
    }
}
