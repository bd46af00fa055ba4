//! `dedup contain`: states how much of each document stands in others.

use super::arguments::contain::Arguments;
use super::input;
use super::outputs::Outputs;
use super::preparation::Tokenization;
use super::scan::check_reference;
use super::spelling::spelled;
use super::standard_output::{WholeLines, refuse_closed_output};
use super::stats::{Failure, INCOMPLETE, end_on_signals, with_stats, write_stats};
use super::status::Status;
use super::terminal::{Terminal, bytes, count, counted};
use neardups::Error;
use neardups::hash;
use neardups::passages::{self, ContainOptions, ContainPreset, PassageCounts};
use neardups::report::PassageLines;
use neardups::similarity::Threshold;
use neardups::source::{self, Input, ReadOptions, Source};
use serde::Serialize;
use std::path::PathBuf;
use std::time::Instant;

/// The resolved request.
struct Request {
    paths: Vec<PathBuf>,
    against: Vec<PathBuf>,
    source: ReadOptions,
    tokens: Tokenization,
    preset: Option<&'static ContainPreset>,
    options: ContainOptions,
    rejects: Option<PathBuf>,
    allow_empty: bool,
    quiet: bool,
}

impl Request {
    fn resolve(arguments: &Arguments) -> Result<Self, Error> {
        let Arguments { input, run, .. } = arguments;
        let tokens = Tokenization::resolve(&arguments.tokens, None)?;
        tokens.refuse_by_length("runs of words")?;
        let preset = arguments.preset.as_deref().map(ContainPreset::by_name).transpose()?;
        let defaults = preset.map_or_else(ContainOptions::default, ContainPreset::options);
        // Either bound that is typed replaces those of the preset, which are one share.
        let (min_coverage, min_coverage_all) = match (arguments.min_coverage, arguments.min_coverage_all) {
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
            max_passages: arguments.max_passages as usize,
            threads: run.threads,
            memory: run.memory.map_or(defaults.memory, |memory| memory.value),
            temp_dir: run.temp_dir.clone(),
        };
        Ok(Request {
            paths: input::paths(&arguments.paths, &arguments.against)?,
            against: arguments.against.clone(),
            source: input::source_options(input, run.temp_dir.as_deref())?,
            tokens,
            preset,
            options,
            rejects: input.rejects.clone(),
            allow_empty: input.allow_empty,
            quiet: run.quiet,
        })
    }
}

/// Finds the documents that are contained in others, writes them, and prints a summary.
pub fn run(arguments: &Arguments) -> Result<Status, Error> {
    let mut outputs = Outputs::new();
    outputs.reads_documents(&arguments.paths, arguments.input.hidden)?;
    arguments.against.iter().try_for_each(|reference| outputs.reads_reference(reference))?;
    outputs.reads_stop_words(&arguments.tokens)?;
    let stats = outputs.stats(arguments.stats.as_deref())?;
    with_stats(stats, |stats_file| {
        refuse_closed_output()?;
        end_on_signals(stats_file.as_ref(), INCOMPLETE)?;
        let started = Instant::now();
        let request = Request::resolve(arguments)?;
        check_reference(&request.against)?;
        let (mut input, mut reference) =
            Input::sides(request.paths.clone(), request.against.clone(), request.source.clone());
        if !request.allow_empty {
            reference.iter_mut().for_each(|reference| reference.require_documents("against"));
        }
        let total = input.total_bytes().zip(reference.as_ref().map_or(Some(0), Source::total_bytes));
        let rejects = outputs.rejects(request.rejects.as_deref())?;
        let terminal = Terminal::new(request.quiet, total.map(|(a, b)| a + b)).with_rejects(rejects);
        input::warn_of_globs(&terminal, &[&request.paths, &request.against], &request.source);
        input::report_shared(&terminal, &input, reference.as_ref(), ["searched", "looked for"]);
        let result = search(&mut input, &mut reference, &request, &terminal);
        terminal.done();
        let (written, closed) = terminal.finish_rejects(result)?;
        input.fields_never_found().iter().for_each(|warning| terminal.warning(&spelled(warning)));
        let files = input.counts() + reference.as_ref().map(Input::counts).unwrap_or_default();
        let PassageCounts { documents, failed, skipped, .. } = written.counts;
        let failure = input::check_not_empty(request.allow_empty, documents, (failed, skipped), &input.counts()).err();
        if !closed {
            summarise(&terminal, &request, &written, files, started);
        }
        write_stats(stats_file.take(), &stats_of(&request, &written, failure.as_ref(), started), failure.as_ref())?;
        failure.map_or_else(|| Ok(Status::of_input(failed)), Err)
    })
}

/// What was found and written.
struct Written {
    counts: PassageCounts,
    /// Records.
    records: u64,
    /// Documents without a run.
    short: u64,
    /// Whether more of the reference was kept than is needed.
    exceeds_filter: bool,
}

/// Finds and writes. Whether the reader of the output closed it early is no error.
fn search(
    input: &mut Input,
    reference: &mut Option<Input>,
    request: &Request,
    terminal: &Terminal,
) -> Result<(Written, bool), Error> {
    fn side(reference: &mut Option<Input>) -> Option<&mut dyn Source> {
        reference.as_mut().map(|reference| reference as &mut dyn Source)
    }
    let mut out = PassageLines::new(WholeLines::new());
    let mut records = 0;
    let mut found = passages::find_contained(input, side(reference), &request.options, terminal)?;
    let result = found.for_each(input, side(reference), terminal, |containment| {
        records += 1;
        out.containment(containment)
    });
    let counts = found.counts().clone();
    let written = Written { counts, records, short: found.short(), exceeds_filter: found.exceeds_filter() };
    match result.and_then(|()| out.finish()) {
        Err(error) if error.is_closed_pipe() => Ok((written, true)),
        result => result.map(|()| (written, false)),
    }
}

/// The coverage that is asked for, in words.
fn coverage(least: Threshold) -> String {
    if least == Threshold::LEAST { "any coverage".to_string() } else { format!("a coverage of {least} or more") }
}

fn summarise(terminal: &Terminal, request: &Request, written: &Written, files: source::Counts, started: Instant) {
    let PassageCounts { documents, references, tokens, bytes: read, spilled, .. } = written.counts;
    let ContainOptions { shingle, min_coverage, min_coverage_all, .. } = request.options;
    let mut found = counted(documents, "document");
    let mut others = ["another document", "all others"];
    if !request.against.is_empty() {
        found += &format!(" against {}", count(references));
        others = ["a document of the reference", "all of the reference"];
    }
    let of_one = format!("{} by {}", coverage(min_coverage), others[0]);
    let of_all = |least| format!("{} by {} together", coverage(least), others[1]);
    found += &format!(": {} with ", count(written.records));
    found += &match min_coverage_all {
        // What stands in one document stands in all of them.
        Some(least) if least.as_f64() <= min_coverage.as_f64() => of_all(least),
        Some(least) => format!("{of_one}, or {}", of_all(least)),
        None => of_one,
    };
    terminal.line(&found);
    let shingle = shingle as u64;
    if written.short > 0 {
        let have = if written.short == 1 { "has" } else { "have" };
        let documents = counted(written.short, "document");
        terminal.line(&format!("{documents} {have} fewer than {} and no run: not compared", counted(shingle, "word")));
    }
    if documents > 0 {
        let seconds = started.elapsed().as_secs_f64();
        let prepared = request.tokens.prepared.as_ref().map(|prepared| format!("; {prepared}")).unwrap_or_default();
        terminal.line(&format!(
            "runs of {}: {} on {} tokens{prepared}; {} in {seconds:.2} s ({}/s)",
            count(shingle),
            counted(tokens, "word"),
            request.tokens.name,
            bytes(read as f64),
            bytes(read as f64 / seconds.max(1e-9)),
        ));
        if spilled > 0 {
            terminal.line(&format!("because of --memory, {} went to temporary files", bytes(spilled as f64)));
        }
        if written.exceeds_filter {
            terminal.line(
                "the documents have more runs than the filter of the reference has room for: with more --memory, less of the \
                 reference goes to temporary files",
            );
        }
    }
    let PassageCounts { repaired, skipped, failed, fell_back, .. } = written.counts;
    input::report_left_out(terminal, [failed, skipped, repaired, fell_back], files);
}

/// The one object of `--stats`.
#[derive(Serialize)]
struct Stats<'a> {
    r#type: &'static str,
    version: &'static str,
    hash_version: u32,
    tokenizer: &'a str,
    seed: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    preset: Option<&'static str>,
    shingle: usize,
    min_coverage: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    min_coverage_all: Option<f64>,
    max_passages: usize,
    counts: &'a PassageCounts,
    records: u64,
    short: u64,
    seconds: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Failure>,
}

fn stats_of<'a>(request: &'a Request, written: &'a Written, error: Option<&Error>, started: Instant) -> Stats<'a> {
    let options = &request.options;
    Stats {
        r#type: "stats",
        version: env!("CARGO_PKG_VERSION"),
        hash_version: hash::HASH_VERSION,
        tokenizer: &request.tokens.name,
        seed: options.seed,
        preset: request.preset.map(|preset| preset.name),
        shingle: options.shingle,
        min_coverage: options.min_coverage.as_f64(),
        min_coverage_all: options.min_coverage_all.map(|least| least.as_f64()),
        max_passages: options.max_passages,
        counts: &written.counts,
        records: written.records,
        short: written.short,
        seconds: started.elapsed().as_secs_f64(),
        error: error.map(Failure::from),
    }
}
