//! `dedup clean`: writes a corpus without its near-duplicates, or moves them to a folder and back.

use super::arguments::clean::Arguments;
use super::arguments::{OnError, Signing};
use super::files::OutFile;
use super::input::{self, LackingStats};
use super::json::Ordered;
use super::markup;
use super::method::Method;
use super::outputs::Outputs;
use super::preparation::Tokenization;
use super::review::Page;
use super::scan::{Ran, Stats, check_reference, left_out};
use super::short_texts;
use super::spelling::{of_rejection, spell_all, spelled};
use super::stats::{INCOMPLETE, end_on_signals, end_on_signals_in, with_stats, write_stats};
use super::status::{Status, usage_error};
use super::stream;
use super::terminal::{self, Terminal, bytes, count, counted};
use neardups::Error;
use neardups::algorithm::TableFactory;
use neardups::clean::{
    ByIndex, CleanOptions, Cleaned, DecidedByIndex, Remembered, Undone, check_output, clean_by_index, clean_reviewed,
    move_duplicates, undo,
};
use neardups::engine::{self, KeptOutcome};
use neardups::filter;
use neardups::index::IndexOptions;
use neardups::source::{Input, ReadOptions, Source};
use serde::Serialize;
use std::borrow::Cow;
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

/// What decides which records are kept.
enum Decides {
    /// A scan with this algorithm.
    Scan(Box<TableFactory>),
    /// An index.
    Index(Box<ByIndex>, Box<TableFactory>),
}

/// The resolved request.
struct Request {
    paths: Vec<PathBuf>,
    target: Target,
    is_dry: bool,
    options: CleanOptions,
    decides: Decides,
    tokens: Tokenization,
    preset: Option<&'static str>,
    rejects: Option<PathBuf>,
    max_bad: u64,
    /// Whether the field of ids was typed.
    names_ids: bool,
    quiet: bool,
}

impl Request {
    /// Resolves the arguments.
    ///
    /// # Errors
    /// They contradict each other.
    fn resolve(arguments: &Arguments) -> Result<Self, Error> {
        let Signing { input, run, method, .. } = &arguments.signing;
        let method = Method::resolve(method)?;
        let (_, factory) = method.factory()?;
        if arguments.paths.iter().chain(&arguments.against).any(|path| path.as_os_str() == "-") {
            let why = "standard input (-) cannot be cleaned: name files or folders (dedup scan - --emit verdicts decides on it)";
            return Err(usage_error(why));
        }
        if arguments.output.is_none() && arguments.move_duplicates.is_none() && !arguments.is_dry {
            let why = "clean needs --output DIR (write the corpus there without its near-duplicates), --move-duplicates DIR (move files that \
                       are near-duplicates there) or --dry-run (only count them)";
            return Err(usage_error(why));
        }
        if arguments.is_dry && arguments.link {
            return Err(usage_error("--link has no effect with --dry-run, which writes nothing"));
        }
        if arguments.removed.is_some() && arguments.move_duplicates.is_some() {
            let why =
                "--removed has no effect with --move-duplicates: dedup scan --print0 lists the files that would move";
            return Err(usage_error(why));
        }
        if arguments.removed.is_some() && !arguments.is_dry {
            let why = "--removed lists what --dry-run would leave out: with --output DIR, the list is DIR/_dedup/removed.jsonl";
            return Err(usage_error(why));
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
        if arguments.index.is_some() {
            refuse_with_index(arguments)?;
        }
        let (preset, tokens) = (method.preset.map(|preset| preset.name), method.tokens);
        let options = CleanOptions {
            source: input::ranked_source_options(input, &arguments.keep, run.temp_dir.as_deref())?,
            engine: input::deciding_engine_options((input, run), &tokens, &arguments.keep)?,
            keep: arguments.keep.policy(),
            against: arguments.against.clone(),
            on_error: arguments.on_error.value.into(),
            link: arguments.link,
            allow_empty: input.allow_empty,
            warnings: Vec::new(),
            removed: arguments.removed.clone(),
            worded: |warning| spelled(warning).into_owned(),
            worded_problem: |message| of_rejection(message).into_owned(),
        };
        Ok(Request {
            paths: arguments.paths.clone(),
            target,
            is_dry: arguments.is_dry,
            decides: match &arguments.index {
                Some(path) => Decides::Index(by_index(path, arguments, &options.source)?.into(), factory.into()),
                None => Decides::Scan(factory.into()),
            },
            options,
            tokens,
            preset,
            rejects: input.rejects.clone(),
            max_bad: input::max_bad(input, arguments.on_error.value)?,
            names_ids: input.id_field.is_typed,
            quiet: run.quiet,
        })
    }
}

/// Refuses what cannot be done by an index.
fn refuse_with_index(arguments: &Arguments) -> Result<(), Error> {
    if arguments.move_duplicates.is_some() {
        let why = "--move-duplicates cannot be combined with --index: a file moves only if the kept one is still there, and an index \
                   knows only the ids of documents: use --output";
        return Err(usage_error(why));
    }
    if arguments.report.is_some() {
        let why = "--report cannot be combined with --index: an index has no texts of the documents that are kept, to be compared on \
                   a page";
        return Err(usage_error(why));
    }
    Ok(())
}

/// The index that decides.
fn by_index(path: &Path, arguments: &Arguments, source: &ReadOptions) -> Result<ByIndex, Error> {
    let signing = &arguments.signing;
    let options = IndexOptions {
        temp_dir: signing.run.temp_dir.clone(),
        creates: !arguments.require_index,
        ..IndexOptions::within(arguments.limits)
    };
    let plan = stream::plan(signing, source, Some(path), false)?;
    Ok(ByIndex { path: path.to_path_buf(), plan, options, drops_known: arguments.drop_known })
}

/// Cleans a corpus, and prints a summary.
pub fn run(arguments: &Arguments) -> Result<Status, Error> {
    if let Some(folder) = &arguments.undo {
        return move_back(folder, arguments);
    }
    let mut outputs = Outputs::new();
    if let Some((folder, what)) = output_folder(arguments) {
        outputs.writes_folder(folder, what)?;
    }
    outputs.reads_documents(&arguments.paths, arguments.signing.input.hidden)?;
    arguments.against.iter().try_for_each(|reference| outputs.reads_reference(reference))?;
    outputs.reads_method(&arguments.signing.method)?;
    outputs.reads_decisions(&arguments.keep)?;
    arguments.index.iter().try_for_each(|index| outputs.writes_index(index))?;
    // Whether it can be written is checked now; it is written once everything is decided.
    arguments.removed.iter().try_for_each(|file| outputs.regular_file(file, "--removed").map(drop))?;
    let page = Page::open(arguments.report.as_deref(), &arguments.keep, &mut outputs)?;
    let stats = outputs.stats(arguments.stats.as_deref())?;
    with_stats(stats, |stats| {
        match output_folder(arguments).filter(|_| !arguments.is_dry) {
            Some((folder, _)) => end_on_signals_in(stats.as_ref(), folder, when_stopped(arguments))?,
            None => end_on_signals(stats.as_ref(), INCOMPLETE)?,
        }
        let started = Instant::now();
        let request = Request::resolve(arguments)?;
        write(&request, page.as_ref(), &mut outputs, stats, started)
    })
}

/// What the message of a signal that stops the run ends with, once it has decided.
fn when_stopped(arguments: &Arguments) -> String {
    let back = |folder: &PathBuf| format!(", and dedup clean --undo {} moves the files back", folder.display());
    arguments.move_duplicates.as_ref().map(back).unwrap_or_default()
}

/// The folder that is filled, and its option.
fn output_folder(arguments: &Arguments) -> Option<(&Path, &'static str)> {
    let moved = arguments.move_duplicates.as_deref().map(|folder| (folder, "--move-duplicates"));
    moved.or_else(|| Some((arguments.output.as_deref()?, "--output")))
}

fn write(
    request: &Request,
    page: Option<&Page>,
    outputs: &mut Outputs,
    stats_file: &mut Option<OutFile>,
    started: Instant,
) -> Result<Status, Error> {
    check_reference(&request.options.against)?;
    let CleanOptions { source, against, .. } = &request.options;
    let (input, reference) = Input::sides(request.paths.clone(), against.clone(), source.clone());
    let total = input.total_bytes();
    let rejects = outputs.rejects(request.rejects.as_deref())?;
    let terminal = Terminal::new(request.quiet, total).with_rejects(rejects).with_max_bad(request.max_bad);
    input::warn_of_globs(&terminal, &[&request.paths, against], source);
    markup::hint_of_pages(&terminal, &request.paths, source);
    input::warn_of_file_time(&terminal, &source.ranking, &request.paths);
    input::report_shared(&terminal, &input, reference.as_ref(), ["compared with", "written"]);
    let Request { paths, options, is_dry, .. } = request;
    let options = &CleanOptions { warnings: terminal.warnings(), ..options.clone() };
    let mut review = |outcome: &KeptOutcome| match page {
        Some(page) => write_page(page, outcome, request, &terminal),
        None => Ok(()),
    };
    let folder = match &request.target {
        Target::Output(folder) => folder.as_deref(),
        Target::Moved(folder) => Some(&**folder),
    };
    if *is_dry {
        folder.map_or(Ok(()), check_output)?;
    }
    let folder = folder.filter(|_| !is_dry);
    // An index that exists has its shingles.
    let is_new = matches!(&request.decides, Decides::Index(by, _) if !by.path.exists());
    let cleaned = match (&request.decides, &request.target) {
        (Decides::Index(by, _), _) => {
            by.plan.warnings().iter().for_each(|warning| terminal.warning(&spelled(warning)));
            clean_by_index(paths, folder, by, options, &terminal)
        }
        (Decides::Scan(factory), Target::Output(_)) => {
            clean_reviewed(paths, folder, &**factory, options, &terminal, &mut review)
        }
        (Decides::Scan(factory), Target::Moved(_)) => move_duplicates(paths, folder, &**factory, options, &terminal),
    };
    terminal.done();
    input::report_interrupted(&terminal, folder, &cleaned);
    let mut cleaned = terminal.finish_rejects(cleaned)?;
    if let Some(report) = &mut cleaned.report {
        spell_all(&mut report.warnings);
        report.warnings.iter().for_each(|warning| terminal.warning(warning));
    }
    if let Some(why) = &cleaned.not_writable {
        terminal.warning(&format!("without --dry-run this is refused: {}", spelled(why)));
    }
    if let (Some(remembered), Decides::Index(by, _)) = (&mut cleaned.remembered, &request.decides) {
        warn_of_index(remembered, by, *is_dry, &terminal);
    }
    if let (Some(page), None, Decides::Scan(factory)) = (page, &cleaned.report, &request.decides) {
        write_page_again(page, factory, request, &terminal)?;
    }
    summarise(&terminal, request, &cleaned, started);
    let warnings = terminal.warnings();
    match &cleaned.report {
        Some(report) => {
            let ran =
                Ran { report, tokens: &request.tokens, seed: options.engine.seed, preset: request.preset, started };
            let stats = Stats {
                records: cleaned.records,
                dropped: Some(cleaned.removed),
                files_written: Some(cleaned.files_written),
                bytes_written: Some(cleaned.bytes_written),
                warnings: &warnings,
                lacking: LackingStats::of(&options.source),
                ..Stats::of(&ran)
            };
            write_stats(stats_file.take(), &stats, None)?;
        }
        None => {
            let index = match &request.decides {
                Decides::Index(by, _) => cleaned.remembered.as_ref().map(|remembered| (remembered, &**by)),
                Decides::Scan(_) => None,
            };
            let lacking = LackingStats::of(&options.source);
            match index
                .and_then(|(remembered, by)| IndexStats::of(&cleaned, (remembered, by), &warnings, started, lacking))
            {
                Some(stats) => write_stats(stats_file.take(), &stats, None)?,
                None => write_stats(stats_file.take(), &Continued::of(&cleaned, index), None)?,
            }
        }
    }
    // All is written by now, and short texts are read once more.
    if let (true, false, Decides::Index(_, factory)) = (is_new, request.quiet, &request.decides) {
        let remark = short_texts::remark((paths, source), factory, &*request.tokens.measure())?;
        remark.iter().for_each(|remark| terminal.line(remark));
    }
    Ok(terminal.end_with(cleaned.failed))
}

/// Prints the warnings about an index, and spells them for statistics.
fn warn_of_index(remembered: &mut Remembered, by: &ByIndex, is_dry: bool, terminal: &Terminal) {
    if let Some(decided) = &mut remembered.decided {
        decided.warnings.extend(remembered.without_checkpoint.take());
        spell_all(&mut decided.warnings);
        let of_torn = if is_dry { stream::of_torn } else { stream::of_cut };
        let of_anew = if is_dry { stream::of_empty } else { stream::of_decided_anew };
        decided.warnings.extend(decided.repair.map(|torn| of_torn(&by.path, torn)));
        decided.warnings.extend(decided.is_begun_anew.then(|| of_anew(&by.path)));
        decided.warnings.iter().for_each(|warning| terminal.warning(warning));
    }
    remembered.without_checkpoint.iter().for_each(|warning| terminal.warning(warning));
}

/// Writes the page of `--report`, for which the files are read again.
fn write_page(page: &Page, outcome: &KeptOutcome, request: &Request, terminal: &Terminal) -> Result<(), Error> {
    let CleanOptions { source, against, engine, .. } = &request.options;
    let (mut input, mut reference) = Input::sides(request.paths.clone(), against.clone(), source.clone());
    let sides = (&mut input as &mut dyn Source, reference.as_mut().map(|reference| reference as &mut dyn Source));
    page.write((&outcome.kept(), outcome.report()), sides, engine, terminal)
}

/// Writes the page of a run that does not know what is alike, because an earlier one had decided: the same scan decides the same.
fn write_page_again(page: &Page, factory: &TableFactory, request: &Request, terminal: &Terminal) -> Result<(), Error> {
    terminal.line("an earlier run had decided what is kept: the input is scanned again for --report");
    // What could not be read was reported, and is copied: it is no reason to fail now.
    let options = CleanOptions { on_error: neardups::clean::OnError::Keep, removed: None, ..request.options.clone() };
    let mut review = |outcome: &KeptOutcome| write_page(page, outcome, request, terminal);
    clean_reviewed(&request.paths, None, factory, &options, &(), &mut review).map(drop)
}

/// The object of `--stats` for a run that did not scan, because an earlier one had.
#[derive(Serialize)]
struct Continued<'a> {
    r#type: &'static str,
    version: &'static str,
    records: u64,
    dropped: u64,
    failed: u64,
    files_written: u64,
    files_continued: u64,
    bytes_written: u64,
    #[serde(flatten)]
    index: Option<IndexHolds<'a>>,
}

impl<'a> Continued<'a> {
    fn of(cleaned: &Cleaned, index: Option<(&Remembered, &'a ByIndex)>) -> Self {
        Continued {
            r#type: "stats",
            version: env!("CARGO_PKG_VERSION"),
            records: cleaned.records,
            dropped: cleaned.removed,
            failed: cleaned.failed,
            files_written: cleaned.files_written,
            files_continued: cleaned.files_continued,
            bytes_written: cleaned.bytes_written,
            index: index.map(|(remembered, by)| IndexHolds::of(remembered, by)),
        }
    }
}

/// An index, and what it remembers.
#[derive(Serialize)]
struct IndexHolds<'a> {
    index: Cow<'a, str>,
    /// Documents, before the run and after it.
    remembered_before: u64,
    remembered: u64,
}

impl<'a> IndexHolds<'a> {
    fn of(remembered: &Remembered, by: &'a ByIndex) -> Self {
        let Remembered { before, after, .. } = *remembered;
        IndexHolds { index: by.path.to_string_lossy(), remembered_before: before, remembered: after }
    }
}

/// The object of `--stats` for a run that decided by an index.
#[derive(Serialize)]
struct IndexStats<'a> {
    r#type: &'static str,
    version: &'static str,
    algo: &'a str,
    measure: &'a str,
    parameters: Ordered<'a>,
    counts: &'a filter::Counts,
    records: u64,
    dropped: u64,
    files_written: u64,
    bytes_written: u64,
    #[serde(flatten)]
    index: IndexHolds<'a>,
    /// Documents that shared a key with more documents than are compared.
    capped: u64,
    warnings: &'a [String],
    seconds: f64,
    seconds_deciding: f64,
    #[serde(flatten)]
    lacking: LackingStats,
}

impl<'a> IndexStats<'a> {
    /// `None` if an earlier run had decided.
    fn of(
        cleaned: &Cleaned,
        (remembered, by): (&'a Remembered, &'a ByIndex),
        warnings: &'a [String],
        started: Instant,
        lacking: LackingStats,
    ) -> Option<Self> {
        let decided = remembered.decided.as_ref()?;
        Some(IndexStats {
            r#type: "stats",
            version: env!("CARGO_PKG_VERSION"),
            algo: decided.algorithm,
            measure: decided.measure,
            parameters: Ordered(decided.parameters.iter().map(|row| (row.name, &row.value)).collect()),
            counts: &decided.counts,
            records: cleaned.records,
            dropped: cleaned.removed,
            files_written: cleaned.files_written,
            bytes_written: cleaned.bytes_written,
            index: IndexHolds::of(remembered, by),
            capped: decided.capped.0,
            warnings,
            seconds: started.elapsed().as_secs_f64(),
            seconds_deciding: decided.seconds,
            lacking,
        })
    }
}

/// Lines about the index that decided.
fn summarise_index(terminal: &Terminal, request: &Request, remembered: &Remembered) {
    let Decides::Index(by, _) = &request.decides else { return };
    let Remembered { before, after, decided, .. } = remembered;
    let now = if request.is_dry { "would be then" } else { "now" };
    terminal.line(&format!("{}: {} remembered before, {} {now}", by.path.display(), count(*before), count(*after)));
    let Some(DecidedByIndex { counts, capped, .. }) = decided else { return };
    let known = counts.known - counts.unconfirmed;
    if known > 0 {
        let what = if by.drops_known { "left out" } else { "kept again" };
        terminal.line(&format!("{} known with the same id and tokens, {what}", counted(known, "document")));
    }
    if counts.unconfirmed > 0 {
        terminal.line(&stream::passed_again(counts.unconfirmed));
    }
    input::report_unchecked(terminal, counts.featureless);
    stream::crowded_keys(capped.0, capped.1).iter().for_each(|line| terminal.line(line));
    if counts.fell_back > 0 {
        terminal.line(&format!("{} {}", counted(counts.fell_back, "page"), input::FELL_BACK));
    }
}

fn summarise(terminal: &Terminal, request: &Request, cleaned: &Cleaned, started: Instant) {
    let Cleaned { files, records, removed, .. } = *cleaned;
    let references = match &cleaned.report {
        Some(report) if !request.options.against.is_empty() => {
            format!(" against {}", counted(report.counts.references, "reference"))
        }
        _ => String::new(),
    };
    let all = format!("{} in {}{references}", counted(records, "record"), counted(files, "file"));
    let kept = count(records - removed);
    let folder = match &request.target {
        Target::Output(folder) => folder.as_deref(),
        Target::Moved(folder) => Some(&**folder),
    };
    let Some(cleaned_folder) = folder.filter(|_| !request.is_dry) else {
        let would = match &request.target {
            Target::Output(_) => format!("{} would be left out, {kept} kept", count(removed)),
            Target::Moved(folder) => format!("{}, {kept} kept", moved(cleaned, "", "would move", &folder.display())),
        };
        terminal.line(&format!("{all}: {would}"));
        of_references(request, cleaned).iter().for_each(|line| terminal.line(line));
        what_ran(request, cleaned).iter().for_each(|line| terminal.line(line));
        damaged(cleaned, "").iter().for_each(|line| terminal.line(line));
        report_decided(terminal, request, cleaned);
        cleaned.remembered.iter().for_each(|remembered| summarise_index(terminal, request, remembered));
        if let (Target::Output(Some(folder)), true) = (&request.target, request.is_dry) {
            terminal.line(&format!("nothing was written to {}, because of --dry-run", folder.display()));
        }
        return;
    };
    let (folder, own) = (cleaned_folder.display(), cleaned_folder.join("_dedup"));
    if cleaned.was_complete {
        terminal.line(&match request.target {
            Target::Output(_) => format!("{folder} is the whole output of this run already: nothing to do"),
            Target::Moved(_) => format!("nothing to do: {folder} has all files of this run already"),
        });
        failed(terminal, request, cleaned).iter().for_each(|line| terminal.line(line));
        return;
    }
    let not_kept = if matches!(request.target, Target::Output(_)) { "left out" } else { "not kept" };
    terminal.line(&format!("{all}: {} {not_kept}, {kept} kept", count(removed)));
    of_references(request, cleaned).iter().for_each(|line| terminal.line(line));
    what_ran(request, cleaned).iter().for_each(|line| terminal.line(line));
    cleaned.remembered.iter().for_each(|remembered| summarise_index(terminal, request, remembered));
    let seconds = started.elapsed().as_secs_f64();
    let size = bytes(cleaned.bytes_written as f64);
    let (what, (list, listed)) = match request.target {
        Target::Output(_) => {
            let files = counted(cleaned.files_written, "file");
            (format!("{files} ({size}) in {folder}"), ("removed.jsonl", "what was left out"))
        }
        Target::Moved(_) => (moved(cleaned, &format!(" ({size})"), "moved", &folder), ("moved.jsonl", "them")),
    };
    let continued = match cleaned.files_continued {
        0 => String::new(),
        n => format!(", {} of them by the run that was interrupted", count(n)),
    };
    terminal.line(&format!("{what}{continued}, {seconds:.2} s; {} lists {listed}", own.join(list).display()));
    damaged(cleaned, ": summary.json names each").iter().for_each(|line| terminal.line(line));
    report_decided(terminal, request, cleaned);
    if cleaned.to_retry > 0 {
        let again = format!("the same command tries again to move {} of them", count(cleaned.to_retry));
        terminal.line(&format!("{} failed: {again}", count(cleaned.failed)));
    }
}

/// How many of those that are not kept are most similar to a document of the reference, of all that are kept.
fn of_references(request: &Request, cleaned: &Cleaned) -> Option<String> {
    let (all, of_reference) = (cleaned.removed, cleaned.removed_for_references);
    let is_stated = !request.options.against.is_empty() && cleaned.report.is_some() && all > 0;
    let which = match of_reference {
        1 if all == 1 => "it is".to_string(),
        0 => "none of these is".to_string(),
        1 => "1 of these is".to_string(),
        some if some == all => "all of these are".to_string(),
        some => format!("{} of these are", count(some)),
    };
    is_stated.then(|| format!("{which} most similar to a document of the reference"))
}

/// The line about the algorithm, unless an earlier run had decided.
fn what_ran(request: &Request, cleaned: &Cleaned) -> Option<String> {
    if let Some(report) = &cleaned.report {
        return Some(terminal::what_ran(report, &request.tokens));
    }
    let DecidedByIndex { algorithm, parameters, .. } = cleaned.remembered.as_ref()?.decided.as_ref()?;
    Some(terminal::what_ran_by_index(algorithm, parameters, &request.tokens))
}

/// Reports what decisions do, and what was not read, unless an earlier run had decided. Of records without an id an index
/// warns itself: it remembers their positions.
fn report_decided(terminal: &Terminal, request: &Request, cleaned: &Cleaned) {
    if cleaned.report.is_some() {
        input::report_decisions(terminal, &request.options.engine);
    }
    failed(terminal, request, cleaned).iter().for_each(|line| terminal.line(line));
    if is_decided_now(cleaned) {
        input::report_lacking(terminal, &request.options.source);
    }
    left_out(terminal, &counts_of(cleaned), cleaned.read);
    input::warn_of_no_fields(terminal, &request.options.engine.required_fields, &cleaned.read);
    if let Some(report) = &cleaned.report {
        let engine::Counts { documents, references, unnamed, unnamed_references, featureless, .. } = report.counts;
        input::report_unchecked(terminal, featureless);
        input::warn_of_unnamed(
            terminal,
            (&request.options.source, request.names_ids),
            [unnamed - unnamed_references, unnamed_references],
            [documents, references],
        );
    }
}

/// Whether this run read everything to decide; an earlier one may have.
fn is_decided_now(cleaned: &Cleaned) -> bool {
    cleaned.report.is_some() || cleaned.remembered.as_ref().is_some_and(|remembered| remembered.decided.is_some())
}

/// What was left out before records were decided on. Another line is about failures.
fn counts_of(cleaned: &Cleaned) -> engine::Counts {
    let counts = cleaned.report.as_ref().map(|report| report.counts.clone()).unwrap_or_default();
    engine::Counts { failed: 0, ..counts }
}

/// The line about failures, unless the last line is about them.
fn failed(terminal: &Terminal, request: &Request, cleaned: &Cleaned) -> Option<String> {
    let Cleaned { failed, to_retry, .. } = *cleaned;
    match &request.target {
        _ if to_retry > 0 => None,
        Target::Output(folder) => {
            let folder = folder.as_deref().filter(|_| !request.is_dry);
            input::failed_in_copy(terminal, (failed, terminal.unranked()), request.options.on_error, folder)
        }
        Target::Moved(folder) => input::failed_to_move(terminal, failed, Some(&**folder).filter(|_| !request.is_dry)),
    }
}

/// The line about damaged files, if there are any.
fn damaged(cleaned: &Cleaned, list: &str) -> Option<String> {
    let Cleaned { damaged, duplicates_kept, .. } = *cleaned;
    let files = if damaged == 1 { "1 damaged file is".into() } else { format!("{} damaged files are", count(damaged)) };
    let duplicates = match duplicates_kept {
        0 => String::new(),
        1 => ", with 1 near-duplicate".into(),
        n => format!(", with {} near-duplicates", count(n)),
    };
    (damaged > 0).then(|| format!("{files} copied whole{duplicates}{list}"))
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
    end_on_signals(None, format!("{INCOMPLETE}: the same command continues"))?;
    let started = Instant::now();
    let terminal = Terminal::new(arguments.signing.run.quiet, None);
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
        let list = folder.join("_dedup/moved.jsonl");
        terminal.line(&format!("{} failed: {} stays", count(failed), list.display()));
    }
    Ok(Status::of_input(failed))
}
