//! `dedup clean`: writes a corpus without its near-duplicates, or moves them to a folder and back.

use super::arguments::OnError;
use super::arguments::clean::Arguments;
use super::files::OutFile;
use super::input;
use super::method::Method;
use super::outputs::Outputs;
use super::preparation::Tokenization;
use super::review::Page;
use super::scan::{Ran, Stats, check_reference};
use super::spelling::spell_all;
use super::stats::{end_on_signals, with_stats, write_stats};
use super::status::{Status, usage_error};
use super::terminal::{self, Terminal, bytes, count, counted};
use neardups::Error;
use neardups::algorithm::TableFactory;
use neardups::clean::{CleanOptions, Cleaned, Undone, clean_reviewed, move_duplicates, undo};
use neardups::engine::KeptOutcome;
use neardups::source::{Input, Source};
use serde::Serialize;
use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// What is done with the corpus.
enum Target {
    /// It is written to a folder; not known with `--dry-run` alone.
    Output(Option<PathBuf>),
    /// Files that are not kept move to a folder.
    Moved(PathBuf),
}

/// The resolved request.
struct Request {
    paths: Vec<PathBuf>,
    target: Target,
    is_dry: bool,
    options: CleanOptions,
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
        if arguments.report.is_some() && arguments.move_duplicates.is_some() {
            let why = "--report cannot be combined with --move-duplicates: write it with --dry-run, and move with --decisions";
            return Err(usage_error(why));
        }
        let target = match &arguments.move_duplicates {
            Some(_) if arguments.on_error.is_typed && arguments.on_error.value == OnError::Drop => {
                let why = "--on-error drop has no effect with --move-duplicates: files that cannot be read stay";
                return Err(usage_error(why));
            }
            Some(folder) => Target::Moved(folder.clone()),
            None => Target::Output(arguments.output.clone()),
        };
        let (preset, tokens) = (method.preset.map(|preset| preset.name), method.tokens);
        let options = CleanOptions {
            source: input::ranked_source_options(input, &arguments.keep, run.temp_dir.as_deref())?,
            engine: input::deciding_engine_options(run, &tokens, &arguments.keep)?,
            keep: arguments.keep.policy(),
            against: arguments.against.clone(),
            on_error: arguments.on_error.value.into(),
            link: arguments.link,
            allow_empty: input.allow_empty,
        };
        Ok(Request {
            paths: arguments.paths.clone(),
            target,
            is_dry: arguments.is_dry,
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
    if let Some(folder) = &arguments.undo {
        return move_back(folder, arguments);
    }
    let mut outputs = Outputs::new();
    outputs.reads_documents(&arguments.paths, arguments.input.hidden)?;
    arguments.against.iter().try_for_each(|reference| outputs.reads(reference, "the reference"))?;
    outputs.reads_method(&arguments.method)?;
    outputs.reads_decisions(&arguments.keep)?;
    let page = Page::open(arguments.report.as_deref(), &mut outputs)?;
    let stats = outputs.stats(arguments.stats.as_deref())?;
    with_stats(stats, |stats| {
        end_on_signals(stats.as_ref())?;
        let started = Instant::now();
        let request = Request::resolve(arguments)?;
        write(&request, page.as_ref(), &mut outputs, stats, started)
    })
}

fn write(
    request: &Request,
    page: Option<&Page>,
    outputs: &mut Outputs,
    stats_file: &mut Option<OutFile>,
    started: Instant,
) -> Result<Status, Error> {
    check_reference(&request.options.against)?;
    let total = Input::new(request.paths.clone(), request.options.source.clone()).total_bytes();
    let rejects = outputs.rejects(request.rejects.as_deref())?;
    let terminal = Terminal::new(request.quiet, total).with_rejects(rejects);
    let Request { paths, factory, options, is_dry, .. } = request;
    let mut review = |outcome: &KeptOutcome| match page {
        Some(page) => write_page(page, outcome, request, &terminal),
        None => Ok(()),
    };
    let cleaned = match &request.target {
        Target::Output(folder) => {
            let folder = folder.as_deref().filter(|_| !is_dry);
            clean_reviewed(paths, folder, factory, options, &terminal, &mut review)
        }
        Target::Moved(folder) => {
            move_duplicates(paths, Some(&**folder).filter(|_| !is_dry), factory, options, &terminal)
        }
    };
    terminal.done();
    let mut cleaned = terminal.finish_rejects(cleaned)?;
    if let Some(report) = &mut cleaned.report {
        spell_all(&mut report.warnings);
        report.warnings.iter().for_each(|warning| terminal.warning(warning));
    }
    if page.is_some() && cleaned.report.is_none() {
        terminal
            .warning("no page was written: an earlier run had decided what is kept (--dry-run --report decides again)");
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

/// Writes the page of `--report`, for which the files are read again.
fn write_page(page: &Page, outcome: &KeptOutcome, request: &Request, terminal: &Terminal) -> Result<(), Error> {
    let CleanOptions { source, against, engine, .. } = &request.options;
    let mut input = Input::new(request.paths.clone(), source.clone());
    let mut reference =
        (!against.is_empty()).then(|| Input::new(against.clone(), source.clone()).without(input.files()));
    let sides = (&mut input as &mut dyn Source, reference.as_mut().map(|reference| reference as &mut dyn Source));
    page.write((&outcome.kept(), outcome.report()), sides, engine, terminal)
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
    let Cleaned { files, records, removed, failed, .. } = *cleaned;
    let (all, kept) =
        (format!("{} in {}", counted(records, "record"), counted(files, "file")), count(records - removed));
    let folder = match &request.target {
        Target::Output(folder) => folder.as_deref(),
        Target::Moved(folder) => Some(&**folder),
    };
    let folder = folder.map(Path::display).filter(|_| !request.is_dry);
    let Some(folder) = folder else {
        let would = match &request.target {
            Target::Output(_) => format!("{} would be left out, {kept} kept", count(removed)),
            Target::Moved(folder) => format!("{}, {kept} kept", moved(cleaned, "", "would move", &folder.display())),
        };
        terminal.line(&format!("{all}: {would}"));
        return;
    };
    if cleaned.was_complete {
        let what = match request.target {
            Target::Output(_) => "is the whole output of this run already",
            Target::Moved(_) => "has all files that this run moves already",
        };
        terminal.line(&format!("{folder} {what}: nothing to do"));
        return;
    }
    let not_kept = if matches!(request.target, Target::Output(_)) { "left out" } else { "not kept" };
    terminal.line(&format!("{all}: {} {not_kept}, {kept} kept", count(removed)));
    if let Some(report) = &cleaned.report {
        terminal.line(&terminal::what_ran(report, &request.tokens));
    }
    let seconds = started.elapsed().as_secs_f64();
    let size = bytes(cleaned.bytes_written as f64);
    let (what, list) = match request.target {
        Target::Output(_) => {
            let files = counted(cleaned.files_written, "file");
            (format!("{files} ({size}) in {folder}"), "removed.jsonl lists what was left out")
        }
        Target::Moved(_) => (moved(cleaned, &format!(" ({size})"), "moved", &folder), "moved.jsonl lists them"),
    };
    let continued = match cleaned.files_continued {
        0 => String::new(),
        n => format!(", {} of them by the run that was interrupted", count(n)),
    };
    terminal.line(&format!("{what}{continued}, {seconds:.2} s; {folder}/_dedup/{list}"));
    if failed > 0 {
        terminal.line(&format!("{} failed", count(failed)));
    }
}

/// The files that move, and those that should and do not.
fn moved(cleaned: &Cleaned, size: &str, verb: &str, folder: &dyn Display) -> String {
    let stay = match cleaned.stayed {
        0 => String::new(),
        n => format!(", {} {}", count(n), if n == 1 { "stays" } else { "stay" }),
    };
    format!("{}{size} {verb} to {folder}{stay}", counted(cleaned.files_written, "file"))
}

/// Moves files back, and prints a summary.
fn move_back(folder: &Path, arguments: &Arguments) -> Result<Status, Error> {
    if let Some(other) = &arguments.beside_undo {
        return Err(usage_error(format!("{other} has no effect with --undo, which moves back what is in DIR")));
    }
    end_on_signals(None)?;
    let started = Instant::now();
    let terminal = Terminal::new(arguments.run.quiet, None);
    let undone = undo(folder, &terminal);
    terminal.done();
    let Undone { moved, were_back, failed, was_complete, .. } = undone?;
    let shown = folder.display();
    if was_complete {
        terminal.line(&format!("all files moved back from {shown} before: nothing to do"));
        return Ok(Status::Done);
    }
    let before = match were_back {
        0 => String::new(),
        n => format!(", {} {} there", count(n), if n == 1 { "was" } else { "were" }),
    };
    let seconds = started.elapsed().as_secs_f64();
    terminal.line(&format!("{} moved back from {shown}{before}, {seconds:.2} s", counted(moved, "file")));
    if failed > 0 {
        terminal.line(&format!("{} failed: {shown}/_dedup/moved.jsonl stays", count(failed)));
    }
    Ok(Status::of_input(failed))
}
