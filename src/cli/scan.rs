//! `dedup scan`: the batch.

use super::arguments::{self, Ordered, bytes, count, counted};
use super::input::OnError;
use super::outputs::{Failure, OutFile, Outputs, with_stats, write_stats};
use super::preparation::Described;
use super::spelling::spell_all;
use super::terminal::{self, Terminal};
use super::{Status, input, usage_error};
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use neardups::Error;
use neardups::algorithm::{Compares, Recipe};
use neardups::engine::{self, Counts, KEEP_POLICIES, KeepPolicy, Outcome, Report, Verdict};
use neardups::hash;
use neardups::report::JsonLines;
use neardups::source::{self, Input, Source};
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::{self, BufWriter};
use std::path::PathBuf;
use std::time::Instant;

/// What is written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Emit {
    Pairs,
    Clusters,
    Verdicts,
}

const EMITS: &[(&str, Emit, &str)] = &[
    ("pairs", Emit::Pairs, "every pair at or above the threshold"),
    ("clusters", Emit::Clusters, "the groups that pairs connect, and which members to keep"),
    ("verdicts", Emit::Verdicts, "for each record, whether to keep it, or what it is a duplicate of"),
];

/// `dedup scan`.
pub fn command() -> Command {
    Command::new("scan")
        .about("Finds the near-duplicates among documents")
        .long_about(
            "Finds the near-duplicates among documents, and prints them as JSON lines.\n\n\
             A path is a file, a folder (every file in it, in order of name) or - for standard input. A file is one document, unless \
             its format says that it holds many: .jsonl, .ndjson, .csv, .tsv, .warc, .wet, or --format. Any of them may be compressed with gzip, \
             zstd, bzip2 or xz. Hidden files in folders are left out, binary files are skipped and counted.",
        )
        .after_help(
            "Examples:\n  dedup scan ./corpus\n  dedup scan ./corpus --algo simhash --distance 6\n  \
             dedup scan crawl.jsonl.gz --text-field body --id-field url --emit clusters\n  \
             cat crawl.jsonl | dedup scan - --emit verdicts --keep longest\n  \
             dedup scan new.jsonl --against old.jsonl\n\n\
             dedup plan, with the same options, shows what they find and cost.",
        )
        .arg(input::paths_arg())
        .arg(arguments::algorithm())
        .arg(arguments::preset())
        .arg(input::choice("emit", "KIND", EMITS.iter().map(|&(name, _, help)| (name, help)), "What is written").default_value("pairs"))
        .arg(input::choice(
            "keep",
            "WHICH",
            KEEP_POLICIES.iter().map(|&(name, _, help)| (name, help)),
            "Which of several near-duplicates is kept, for clusters and verdicts [default: first]",
        ))
        .arg(
            Arg::new("against")
                .long("against")
                .value_name("REF")
                .value_parser(value_parser!(PathBuf))
                .help("Report only pairs of a document with one of this reference; may be repeated")
                .action(ArgAction::Append)
                .long_help(
                    "Report only pairs of a document with one of this reference (a file or folder). The reference comes first in \
                     input order, so it is always the a of a pair; all of it is kept. Documents are not compared with each other. \
                     The same id may stand on both sides. May be repeated.",
                ),
        )
        .args(arguments::tokens())
        .args(arguments::parameters())
        .args(input::input_args())
        .args([input::on_error_arg("keep"), input::rejects_arg(), input::allow_empty_arg()])
        .args(input::run_args())
        .arg(
            Arg::new("stats")
                .long("stats")
                .value_name("FILE")
                .value_parser(value_parser!(PathBuf))
                .help_heading(input::RUN_OPTIONS)
                .help("Write counts, resolved parameters, recall and timings to a file, as one JSON object"),
        )
}

/// What was asked for, resolved.
struct Request {
    emit: Emit,
    keep: KeepPolicy,
    on_error: OnError,
    quiet: bool,
    tokenizer: String,
    preset: Option<&'static str>,
    prepared: Option<Described>,
    engine: engine::Options,
}

/// Scans, writes the results, and says how it went.
pub fn run(given: &ArgMatches) -> Result<Status, Error> {
    let mut outputs = Outputs::new();
    outputs.read_by(given)?;
    with_stats(outputs.stats(given)?, |stats| scan(given, &mut outputs, stats))
}

fn scan(given: &ArgMatches, outputs: &mut Outputs, stats_file: &mut Option<OutFile>) -> Result<Status, Error> {
    let started = Instant::now();
    let (entry, recipe) = arguments::recipe(given)?;
    let compares = recipe.prepare(0)?.algorithm.compares();
    if compares == Compares::Fingerprints && given.value_source("memory") == Some(ValueSource::CommandLine) {
        return Err(usage_error(format!(
            "--memory has no effect on {}: it compares fingerprints, which are all in memory",
            entry.name
        )));
    }
    let options = input::source_options(given)?;
    let against: Vec<PathBuf> = given.get_many("against").into_iter().flatten().cloned().collect();
    let paths = input::paths(given, &against)?;
    let request = request(given)?;
    check_reference(&against)?;
    let mut input = Input::new(paths, options.clone());
    // A file that is named on both sides is one document, and is asked about.
    let mut reference =
        given.contains_id("against").then(|| Input::new(against, options.clone()).without(input.files()));

    let total = |input: &Input| input.total_bytes();
    let total = match &reference {
        None => total(&input),
        Some(reference) => total(&input).zip(total(reference)).map(|(a, b)| a + b),
    };
    let rejects = outputs.rejects(given)?;
    let terminal = Terminal::new(request.quiet, total).with_rejects(rejects);
    let against = reference.as_mut().map(|reference| reference as &mut dyn Source);
    let outcome = engine::scan(&mut input, against, &recipe, &request.engine, &terminal);
    terminal.done();
    let mut outcome = terminal.finish_rejects(outcome)?;
    spell_all(&mut outcome.report.warnings);
    let failed = outcome.report.counts.failed;
    outcome.report.warnings.iter().for_each(|warning| terminal.warning(warning));

    let results = match request.on_error {
        OnError::Fail if failed > 0 => {
            let what =
                if failed == 1 { "1 file or record".into() } else { format!("{} files or records", count(failed)) };
            let why = io::Error::other(format!("{what} failed: no results were written"));
            Err(Error::input("--on-error fail", why))
        }
        _ => write(&outcome, &request),
    };
    let Counts { unnamed, documents, references, skipped, .. } = outcome.report.counts;
    let (written, closed, failure) = match results {
        Ok(written) => {
            let allowed = given.get_flag("allow-empty");
            (written, false, input::check_not_empty(allowed, documents, failed, skipped).err())
        }
        // Whoever read the results has seen enough: a quiet end, but not one without statistics and a status.
        Err(error) if error.is_closed_pipe() => (Written::default(), true, None),
        Err(error) => (Written::default(), true, Some(error)),
    };
    let input = input.counts() + reference.as_ref().map(Input::counts).unwrap_or_default();
    if !closed {
        summarise(&terminal, &outcome.report, &request, &written, input, started);
    }
    if documents == 1 && references == 0 {
        terminal.warning(
            "nothing was compared: all that was read is one document (a list of file names is text, and so is JSON that is not an \
             object a line: jq -c '.[]' makes lines of an array)",
        );
    }
    if unnamed > 0 && given.value_source("id-field") == Some(ValueSource::CommandLine) {
        terminal.warning(&format!(
            "{} of {} have no --id-field '{}', and are identified by their place, FILE:RECORD",
            count(unnamed),
            counted(documents, "document"),
            options.id_field
        ));
    }
    let error = failure.as_ref().map(Failure::from);
    let stats = Stats { error, ..stats(&outcome.report, &request, &written, input, started) };
    write_stats(stats_file.take(), &stats, failure.as_ref())?;
    if let Some(failure) = failure {
        return Err(failure);
    }
    Ok(Status::of_input(failed))
}

/// Without a reference that is not there, everything would seem new.
fn check_reference(against: &[PathBuf]) -> Result<(), Error> {
    for reference in against.iter().filter(|path| path.as_os_str() != "-") {
        reference
            .metadata()
            .map_err(|e| Error::input(format!("cannot read the reference {}", reference.display()), e))?;
    }
    Ok(())
}

fn request(given: &ArgMatches) -> Result<Request, Error> {
    let named = |name: &str| given.get_one::<String>(name).map(String::as_str);
    let emit = EMITS.iter().find(|(name, ..)| named("emit") == Some(name)).expect("clap knows the names").1;
    let keep = named("keep").map(|typed| KEEP_POLICIES.iter().find(|(name, ..)| *name == typed).expect("clap knows").1);
    if keep.is_some() && emit == Emit::Pairs {
        return Err(usage_error("--keep has no effect on pairs: add --emit clusters or --emit verdicts"));
    }
    if keep.is_some() && given.contains_id("against") {
        return Err(usage_error("--keep has no effect with --against: the reference is kept"));
    }
    let on_error = input::on_error(given);
    let chosen = given.value_source("on-error") == Some(ValueSource::CommandLine);
    if chosen && on_error != OnError::Fail && emit != Emit::Verdicts {
        return Err(usage_error(
            "--on-error keep and --on-error drop have an effect only on verdicts: add --emit verdicts",
        ));
    }
    let (engine, prepared) = input::engine_options(given)?;
    Ok(Request {
        emit,
        keep: keep.unwrap_or_default(),
        on_error,
        quiet: given.get_flag("quiet"),
        tokenizer: arguments::chosen_tokenizer(given)?.to_string(),
        preset: arguments::chosen_preset(given)?.map(|preset| preset.name),
        prepared,
        engine,
    })
}

/// What was counted while writing.
#[derive(Default)]
struct Written {
    records: u64,
    clusters: Option<u64>,
    dropped: Option<u64>,
}

fn write(outcome: &Outcome, request: &Request) -> Result<Written, Error> {
    let mut out = JsonLines::new(BufWriter::with_capacity(1 << 16, std::io::stdout()), outcome);
    let mut written = Written::default();
    match request.emit {
        Emit::Pairs => written.records = out.pairs(outcome, request.engine.threads)?,
        Emit::Clusters => {
            let kept = outcome.keep(request.keep);
            written.dropped = Some(kept.dropped());
            for cluster in kept.clusters() {
                written.records += 1;
                out.cluster(&cluster)?;
            }
            written.clusters = Some(written.records);
        }
        Emit::Verdicts => {
            let kept = outcome.keep(request.keep);
            written.dropped = Some(kept.dropped());
            for verdict in kept.verdicts() {
                written.records += 1;
                // A file that is skipped by rule is not the records' fault, and is never to be deleted.
                let is_failed = verdict.error.is_some() && !verdict.is_skipped;
                let keep = verdict.keep && !(is_failed && request.on_error == OnError::Drop);
                out.verdict(&Verdict { keep, ..verdict })?;
            }
        }
    }
    out.finish()?;
    Ok(written)
}

fn summarise(
    terminal: &Terminal,
    report: &Report,
    request: &Request,
    written: &Written,
    input: source::Counts,
    started: Instant,
) {
    let Counts { documents, references, featureless, copies, compared, pairs, bytes: read, .. } = report.counts;
    let mut found = counted(documents, "document");
    if references > 0 {
        found += &format!(" against {}", count(references));
    }
    found += &format!(": {}", counted(pairs, "near-duplicate pair"));
    if let Some(clusters) = written.clusters {
        found += &format!(" in {}", counted(clusters, "cluster"));
    }
    if let Some(dropped) = written.dropped {
        found += &format!("; {} not kept", counted(dropped, "document"));
    }
    terminal.line(&found);
    if documents == 0 {
        return left_out(terminal, report, input);
    }
    terminal.line(&terminal::what_ran(report, &request.tokenizer, request.prepared.as_ref()));
    let seconds = started.elapsed().as_secs_f64();
    terminal.line(&format!(
        "{}, {} with too few features, {} compared; {} in {seconds:.2} s ({}/s)",
        counted(copies, "exact copy"),
        counted(featureless, "document"),
        counted(compared, "candidate"),
        bytes(read as f64),
        bytes(read as f64 / seconds.max(1e-9)),
    ));
    let mut bounded = Vec::new();
    if report.spilled > 0 {
        bounded.push(format!("{} of keys went to a temporary file", bytes(report.spilled as f64)));
    }
    if report.rereadings > 1 {
        bounded.push(format!("candidates were read again in {} portions", count(report.rereadings)));
    }
    if !bounded.is_empty() {
        terminal.line(&format!("because of --memory, {}", bounded.join(", and ")));
    }
    left_out(terminal, report, input);
}

/// What was not read, or not as it stood.
fn left_out(terminal: &Terminal, report: &Report, input: source::Counts) {
    let Counts { repaired, skipped, failed, fell_back, .. } = report.counts;
    let source::Counts { hidden, textless, .. } = input;
    let skipped = skipped.saturating_sub(input.same);
    let names = if input.same == 1 { "further name of a file left out" } else { "further names of files left out" };
    let entries = if hidden == 1 { "hidden entry left out" } else { "hidden entries left out" };
    let records = if textless == 1 { "record without text left out" } else { "records without text left out" };
    let left_out = [
        (failed, "failed"),
        (skipped, "skipped"),
        (input.same, names),
        (hidden, entries),
        (textless, records),
        (repaired, "repaired"),
        (fell_back, input::FELL_BACK),
    ];
    let left_out: Vec<_> =
        left_out.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{} {what}", count(*n))).collect();
    if !left_out.is_empty() {
        terminal.line(&left_out.join(", "));
    }
}

/// The one object of `--stats`.
#[derive(Serialize)]
struct Stats<'a> {
    r#type: &'static str,
    version: &'static str,
    hash_version: u32,
    algo: &'a str,
    measure: &'a str,
    tokenizer: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    preparation: Option<&'a Described>,
    seed: u64,
    parameters: Ordered<'a>,
    median_tokens: usize,
    counts: &'a Counts,
    hidden: u64,
    records: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    clusters: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dropped: Option<u64>,
    rereadings: u64,
    spilled: u64,
    warnings: &'a [String],
    /// Seconds in each stage, and from start to end.
    timings: BTreeMap<&'a str, f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    preset: Option<&'static str>,
    /// Records of archives that are neither HTML nor plain text.
    #[serde(skip_serializing_if = "Option::is_none")]
    textless: Option<u64>,
    /// Further names of files that were read, which count as skipped.
    #[serde(skip_serializing_if = "Option::is_none")]
    same: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Failure>,
}

fn stats<'a>(
    report: &'a Report,
    request: &'a Request,
    written: &Written,
    input: source::Counts,
    started: Instant,
) -> Stats<'a> {
    let stages = report.timings.iter().map(|(name, time)| (*name, time.as_secs_f64()));
    Stats {
        r#type: "stats",
        version: env!("CARGO_PKG_VERSION"),
        hash_version: hash::HASH_VERSION,
        algo: report.algorithm,
        measure: report.measure,
        tokenizer: report.tokenizer.as_deref().unwrap_or(&request.tokenizer),
        preparation: request.prepared.as_ref(),
        seed: request.engine.seed,
        parameters: Ordered(report.parameters.iter().map(|row| (row.name, &row.value)).collect()),
        median_tokens: report.median_tokens,
        counts: &report.counts,
        hidden: input.hidden,
        records: written.records,
        clusters: written.clusters,
        dropped: written.dropped,
        rereadings: report.rereadings,
        spilled: report.spilled,
        warnings: &report.warnings,
        timings: stages.chain([("total", started.elapsed().as_secs_f64())]).collect(),
        preset: request.preset,
        textless: Some(input.textless).filter(|&count| count > 0),
        same: Some(input.same).filter(|&count| count > 0),
        error: None,
    }
}
