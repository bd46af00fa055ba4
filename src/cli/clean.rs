//! `dedup clean`: writes a corpus without its near-duplicates.

use super::arguments::clean::Arguments;
use super::files::OutFile;
use super::input;
use super::method::Method;
use super::outputs::Outputs;
use super::preparation::Tokenization;
use super::scan::{Ran, Stats, check_reference};
use super::spelling::spell_all;
use super::stats::{end_on_signals, with_stats, write_stats};
use super::status::{Status, usage_error};
use super::terminal::{self, Terminal, bytes, count, counted};
use neardups::Error;
use neardups::algorithm::TableFactory;
use neardups::clean::{Cleaned, Options, clean};
use neardups::source::{Input, Source};
use serde::Serialize;
use std::path::PathBuf;
use std::time::Instant;

/// The resolved request.
struct Request {
    paths: Vec<PathBuf>,
    output: Option<PathBuf>,
    options: Options,
    factory: TableFactory,
    tokens: Tokenization,
    preset: Option<&'static str>,
    rejects: Option<PathBuf>,
    quiet: bool,
}

impl Request {
    /// Resolves the arguments.
    ///
    /// # Errors
    /// They contradict each other.
    fn resolve(arguments: &Arguments) -> Result<Self, Error> {
        let Arguments { input, run, .. } = arguments;
        let method = Method::resolve(&arguments.method)?;
        let (_, factory) = method.factory()?;
        if arguments.paths.iter().chain(&arguments.against).any(|path| path.as_os_str() == "-") {
            let why = "standard input (-) cannot be cleaned: name files or folders (dedup scan - --emit verdicts decides on it)";
            return Err(usage_error(why));
        }
        if arguments.is_dry && arguments.link {
            return Err(usage_error("--link has no effect with --dry-run, which writes nothing"));
        }
        let (preset, tokens) = (method.preset.map(|preset| preset.name), method.tokens);
        let options = Options {
            source: input::ranked_source_options(input, &arguments.keep, run.temp_dir.as_deref())?,
            engine: input::engine_options(run, &tokens),
            keep: arguments.keep.policy(),
            against: arguments.against.clone(),
            on_error: arguments.on_error.value.into(),
            link: arguments.link,
            allow_empty: input.allow_empty,
        };
        Ok(Request {
            paths: arguments.paths.clone(),
            output: arguments.output.clone().filter(|_| !arguments.is_dry),
            options,
            factory,
            tokens,
            preset,
            rejects: input.rejects.clone(),
            quiet: run.quiet,
        })
    }
}

/// Cleans a corpus, and prints a summary.
pub fn run(arguments: &Arguments) -> Result<Status, Error> {
    let mut outputs = Outputs::new();
    outputs.reads_documents(&arguments.paths, arguments.input.hidden)?;
    arguments.against.iter().try_for_each(|reference| outputs.reads(reference, "the reference"))?;
    outputs.reads_method(&arguments.method)?;
    let stats = outputs.stats(arguments.stats.as_deref())?;
    with_stats(stats, |stats| {
        end_on_signals(stats.as_ref())?;
        let started = Instant::now();
        let request = Request::resolve(arguments)?;
        write(&request, &mut outputs, stats, started)
    })
}

fn write(
    request: &Request,
    outputs: &mut Outputs,
    stats_file: &mut Option<OutFile>,
    started: Instant,
) -> Result<Status, Error> {
    check_reference(&request.options.against)?;
    let total = Input::new(request.paths.clone(), request.options.source.clone()).total_bytes();
    let rejects = outputs.rejects(request.rejects.as_deref())?;
    let terminal = Terminal::new(request.quiet, total).with_rejects(rejects);
    let Request { paths, output, factory, options, .. } = request;
    let cleaned = clean(paths, output.as_deref(), factory, options, &terminal);
    terminal.done();
    let mut cleaned = terminal.finish_rejects(cleaned)?;
    if let Some(report) = &mut cleaned.report {
        spell_all(&mut report.warnings);
        report.warnings.iter().for_each(|warning| terminal.warning(warning));
    }
    summarise(&terminal, request, &cleaned, started);
    match &cleaned.report {
        Some(report) => {
            let ran =
                Ran { report, tokens: &request.tokens, seed: options.engine.seed, preset: request.preset, started };
            let stats = Stats {
                records: cleaned.records,
                dropped: Some(cleaned.removed),
                files_written: Some(cleaned.files_written),
                bytes_written: Some(cleaned.bytes_written),
                ..Stats::of(&ran)
            };
            write_stats(stats_file.take(), &stats, None)?;
        }
        None => write_stats(stats_file.take(), &Continued::of(&cleaned), None)?,
    }
    Ok(Status::of_input(cleaned.failed))
}

/// The object of `--stats` for a run that did not scan, because an earlier one had.
#[derive(Serialize)]
struct Continued {
    r#type: &'static str,
    version: &'static str,
    records: u64,
    dropped: u64,
    failed: u64,
    files_written: u64,
    files_continued: u64,
    bytes_written: u64,
}

impl Continued {
    fn of(cleaned: &Cleaned) -> Self {
        Continued {
            r#type: "stats",
            version: env!("CARGO_PKG_VERSION"),
            records: cleaned.records,
            dropped: cleaned.removed,
            failed: cleaned.failed,
            files_written: cleaned.files_written,
            files_continued: cleaned.files_continued,
            bytes_written: cleaned.bytes_written,
        }
    }
}

fn summarise(terminal: &Terminal, request: &Request, cleaned: &Cleaned, started: Instant) {
    let Cleaned { files, files_written, files_continued, bytes_written, records, removed, failed, .. } = *cleaned;
    let Some(output) = &request.output else {
        let would = format!("{} would be left out, {} kept", count(removed), count(records - removed));
        terminal.line(&format!("{} in {}: {would}", counted(records, "record"), counted(files, "file")));
        return;
    };
    let output = output.display();
    if cleaned.was_complete {
        terminal.line(&format!("{output} is the whole output of this run already: nothing to do"));
        return;
    }
    let kept = count(records - removed);
    let what = format!(
        "{} in {}: {} left out, {kept} kept",
        counted(records, "record"),
        counted(files, "file"),
        count(removed)
    );
    terminal.line(&what);
    if let Some(report) = &cleaned.report {
        terminal.line(&terminal::what_ran(report, &request.tokens));
    }
    let written = format!("{} ({}) in {output}", counted(files_written, "file"), bytes(bytes_written as f64));
    let continued = match files_continued {
        0 => String::new(),
        n => format!(", {} of them by the run that was interrupted", count(n)),
    };
    let seconds = started.elapsed().as_secs_f64();
    terminal
        .line(&format!("{written}{continued}, {seconds:.2} s; {output}/_dedup/removed.jsonl lists what was left out"));
    if failed > 0 {
        terminal.line(&format!("{} failed", count(failed)));
    }
}
