//! `dedup filter`: passes new documents of a stream.

use super::arguments::OnError;
use super::arguments::filter::Arguments;
use super::files::OutFile;
use super::input::{self, LackingStats};
use super::json::{Ordered, json};
use super::mark;
use super::monitor::{Ending, Label, Monitor};
use super::outputs::Outputs;
use super::problems::Rejects;
use super::signals::{Ask, on_requests};
use super::spelling::{self, spell_all};
use super::standard_output::{refuse_closed_output, sync_output};
use super::stats::{Failure, with_stats, write_stats};
use super::status::{Status, usage_error};
use super::stream::{self, Duplicate, STOPPED, Stop, Verdict, ended, opened};
use super::terminal::{Terminal, bytes, count, counted};
use super::verdict_file::VerdictFile;
use super::watch::InputWatch;
use crate::index::is_unnamed;
use neardups::Error;
use neardups::filter::{self, Counts, Filter, Sink};
use neardups::hash;
use neardups::index::{self, Decision, Index, Limits, Mode, Plan, Sync};
use neardups::similarity::Similarity;
use neardups::source::{Format, Live, Problem, ReadOptions};
use serde::Serialize;
use std::io::{self, Write};
use std::mem::take;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::Instant;

/// The resolved request.
struct Request {
    source: ReadOptions,
    plan: Plan,
    index: Option<PathBuf>,
    requires_index: bool,
    limits: Limits,
    sync: Sync,
    mark: bool,
    duplicates: Option<PathBuf>,
    verdicts: Option<PathBuf>,
    drops_known: bool,
    replaces: bool,
    on_error: OnError,
    rejects: Option<PathBuf>,
    max_bad: u64,
    /// Whether the field of ids was typed.
    names_ids: bool,
    temp_dir: Option<PathBuf>,
    threads: usize,
    quiet: bool,
}

impl Request {
    /// Resolves the arguments.
    ///
    /// # Errors
    /// They contradict each other.
    fn resolve(arguments: &Arguments) -> Result<Self, Error> {
        let signing = &arguments.signing;
        let source = ReadOptions { decompresses: arguments.decompresses, ..stream::source_options(signing)? };
        if arguments.mark {
            refuse_mark(&source)?;
        }
        let mut names: Vec<&str> = arguments.metrics_labels.iter().map(|(name, _)| &**name).collect();
        names.sort_unstable();
        if let Some(twice) = names.windows(2).find(|two| two[0] == two[1]) {
            return Err(usage_error(format!("--metrics-label gives the label '{}' twice", twice[0])));
        }
        if arguments.replace && signing.input.id_field.is_typed && signing.input.id_field.value == input::NO_FIELD {
            return Err(usage_error("--replace finds the earlier text by its id, and --id-field none gives no ids"));
        }
        if arguments.replace && source.format == Format::Lines {
            return Err(usage_error("--replace finds the earlier text by its id, and lines of text have none"));
        }
        if arguments.replace && arguments.limits.window.is_some() {
            return Err(usage_error(
                "--replace cannot be combined with --window N: what is replaced leaves the window, and then it depends on \
                 where runs begin which others are in it; use --expire DURATION",
            ));
        }
        Ok(Request {
            plan: stream::plan(signing, &source, arguments.index.as_deref(), false)?,
            source,
            index: arguments.index.clone(),
            requires_index: arguments.require_index,
            limits: arguments.limits,
            sync: arguments.sync,
            mark: arguments.mark,
            duplicates: arguments.duplicates.clone(),
            verdicts: arguments.verdicts.clone(),
            drops_known: arguments.drop_known,
            replaces: arguments.replace,
            on_error: arguments.on_error,
            rejects: signing.input.rejects.clone(),
            max_bad: input::max_bad(&signing.input, arguments.on_error)?,
            names_ids: signing.input.id_field.is_typed && signing.input.id_field.value != input::NO_FIELD,
            temp_dir: signing.run.temp_dir.clone(),
            threads: signing.run.threads,
            quiet: signing.run.quiet,
        })
    }
}

/// Refuses `--mark` for records without fields, or if its field is also an input.
fn refuse_mark(source: &ReadOptions) -> Result<(), Error> {
    match source.format {
        Format::Lines => return Err(usage_error("--mark adds a field, and lines of text have none")),
        Format::Warc => {
            return Err(usage_error("--mark adds a field, and records of WARC have none: use --duplicates"));
        }
        _ => {}
    }
    let texts = source.text_fields.paths().map(|path| ("text-field", path));
    let mut fields = texts.chain(source.id_field.paths().map(|path| ("id-field", path)));
    match fields.find(|(_, path)| path.first() == mark::KEY) {
        Some((flag, _)) => Err(usage_error(format!("--mark writes the field '{}', and --{flag} reads it", mark::KEY))),
        None => Ok(()),
    }
}

/// Filters standard input.
pub fn run(arguments: &Arguments) -> Result<Status, Error> {
    let signing = &arguments.signing;
    let mut outputs = Outputs::new();
    outputs.reads_documents(&[], false)?;
    outputs.reads_method(&signing.method)?;
    if let Some(index) = &arguments.index {
        outputs.writes_index(index)?;
    }
    // Checked before any file is touched, including that of the statistics.
    let appended = [
        (&arguments.duplicates, "--duplicates"),
        (&arguments.verdicts, "--verdicts"),
        (&signing.input.rejects, "--rejects"),
    ];
    for (path, flag) in appended {
        path.as_ref().map_or(Ok(()), |path| outputs.appends(path, flag))?;
    }
    let metrics = arguments.metrics.as_deref().map(|path| outputs.regular_file(path, "--metrics")).transpose()?;
    let stats = outputs.stats(arguments.stats.as_deref())?;
    with_stats(stats, |stats| {
        // With files that are appended to, SIGHUP opens them again: they may have been moved away.
        let hangup_ends = appended.iter().all(|(path, _)| path.is_none());
        let stop = Stop::on_signals(stats.as_ref(), hangup_ends)?;
        let (sender, asked) = mpsc::channel();
        on_requests(hangup_ends, sender.clone());
        let asks = sender.clone();
        refuse_closed_output()?;
        let metrics = (metrics, arguments.metrics_labels.clone());
        let reports = Reports { metrics, asked, asks, ending: Ending(sender), started: Instant::now() };
        filter_input(&Request::resolve(arguments)?, &stop, stats, reports)
    })
}

/// What is reported while the stream runs.
struct Reports {
    /// The file of metrics, and the labels of each value.
    metrics: (Option<OutFile>, Vec<Label>),
    /// What signals ask for, until the other end is dropped.
    asked: Receiver<Ask>,
    asks: Sender<Ask>,
    ending: Ending,
    started: Instant,
}

fn filter_input(
    request: &Request,
    stop: &Stop,
    stats: &mut Option<OutFile>,
    reports: Reports,
) -> Result<Status, Error> {
    let rejects = request.rejects.as_deref().map(Rejects::append).transpose()?;
    let terminal = Terminal::new(request.quiet, None).with_rejects(rejects).with_max_bad(request.max_bad);
    let mut warnings = request.plan.warnings().to_vec();
    spell_all(&mut warnings);
    warnings.iter().for_each(|warning| terminal.warning(warning));
    let (mut index, torn) = open_index(request, &terminal)?;
    warnings.extend(torn);
    if request.drops_known && index.has_unconfirmed() {
        terminal.line(PASSES_AGAIN);
    }
    if request.drops_known && index.noted_nothing() {
        terminal.warning(DROPS_UNWRITTEN);
        warnings.push(DROPS_UNWRITTEN.into());
    }
    let open = |path: &Option<PathBuf>| path.as_deref().map(VerdictFile::open).transpose();
    let files = VerdictFiles { duplicates: open(&request.duplicates)?, all: open(&request.verdicts)? };
    let remembered = filter::remembered(&index);
    let Reports { metrics, asked, asks, ending, started } = reports;
    let monitor = Arc::new(Monitor::new((metrics.0, &metrics.1), &index, request.index.is_some(), started));
    let of_signals = Arc::clone(&monitor);
    let report = move || {
        _ = asks.send(Ask::Stop);
    };
    stop.on_each(report, move || of_signals.end_at_once());
    let before = (index.was_interrupted(), index.drops_unwritten()?);
    let mut sink = Output::new(request, files, remembered, before, &terminal, &monitor);
    let live = Live::new(monitor.watched(io::stdin()), "-", &request.source);
    let filter = Filter::new(&mut index).threads(request.threads).stop(stop.begin()).observer(&terminal);
    let filter = filter.replace(request.replaces).drop_known(request.drops_known);
    let result = thread::scope(|scope| {
        let (monitor, terminal) = (&monitor, &terminal);
        thread::Builder::new()
            .name("dedup monitor".into())
            .spawn_scoped(scope, move || monitor.watch(&asked, terminal))
            .map_err(Error::no_threads)?;
        let _ending = ending;
        filter.run(live, &mut sink)
    });
    terminal.done();
    let result = result.and_then(|counts| sink.finish().map(|()| counts));
    let counts = *result.as_ref().unwrap_or(&sink.counts);
    warnings.extend(sink.warnings());
    if let Some(warning) = input::never_found(&request.source) {
        terminal.warning(&warning);
        warnings.push(warning);
    }
    input::report_lacking(&terminal, &request.source);
    monitor.note(&counts, &index, filter::remembered(&index));
    // Records that are passed are not lost.
    let none_read = match (&result, request.on_error) {
        (Ok(counts), OnError::Drop) => stream::none_read(counts, stop, &terminal),
        _ => None,
    };
    let has_failed = none_read.is_some() || result.as_ref().is_err_and(|error| !error.is_closed_pipe());
    let status = if has_failed { Status::Failed } else { stream::status(&counts, stop, &terminal) };
    let reported = monitor.end(status.into());
    let result = result.and_then(|counts| reported.map(|()| counts));
    // A bound ends the run in order: what was decided before is written and remembered. Where something cannot be written, it matters what was.
    let has_some = |error: &Error| counts.documents > 0 && !error.is_closed_pipe() && is_of_writing(error);
    if result.as_ref().map_or_else(has_some, |_| true) {
        summarise(
            &terminal,
            &counts,
            (remembered, &remembered_now(&index, &sink, result.as_ref().err())),
            &index,
            &sink,
            started,
        );
        warnings.extend(stream::warn_at_end(&index, &terminal));
    }
    let failure = match result {
        Ok(_) => none_read,
        // The reader closed the output early. No unwritten document is remembered, so this is not an error.
        Err(error) if error.is_closed_pipe() => None,
        Err(Error::Io { what, error }) if request.index.is_some() => {
            Some(Error::io(what, io::Error::other(format!("{error}; {FEED_AGAIN}"))))
        }
        Err(error) => Some(error),
    };
    let lacking = LackingStats::of(&request.source);
    let mut of_run = Stats { lacking, ..Stats::new(&counts, &index, &sink, started, warnings, failure.as_ref()) };
    if failure.is_none() && stop.is_stopped() {
        of_run.error = Some(Failure::by_signal(STOPPED));
    }
    write_stats(stats.take(), &of_run, failure.as_ref())?;
    failure.map_or_else(|| Ok(ended(&counts, stop, &terminal)), Err)
}

/// How many documents are remembered, as text. If the index could not be written, it may have more than those that are known to be in it.
fn remembered_now(index: &Index, sink: &Output, failure: Option<&Error>) -> String {
    match failure {
        Some(Error::Io { .. }) => format!("at least {}", count(sink.remembered)),
        _ => count(filter::remembered(index)),
    }
}

/// Whether an error is that no more can be remembered or written.
fn is_of_writing(error: &Error) -> bool {
    matches!(error, Error::Full(_) | Error::Output { .. } | Error::Io { .. })
}

/// What is to be done where an interrupted run noted which documents have left.
const PASSES_AGAIN: &str = "the last run was interrupted, and may not have written its last documents: feed them again in this run, and they pass once more";

/// The warning where documents that an interrupted run remembered and did not write would be dropped.
const DROPS_UNWRITTEN: &str = "the last run did not close the index, and did not note which documents it wrote: --drop-known drops those with ids that it remembered \
     and did not write; feed its last documents again without --drop-known first";

/// What the warning of records without ids says after a run of an earlier version.
const NOTHING_NOTED: &str = "the last run did not close the index, and did not note which records without ids it wrote: what it remembered and did not \
     write is dropped if it is fed again";

/// The index of `--index`, or one in memory; and the warning of a torn end.
fn open_index(request: &Request, terminal: &Terminal) -> Result<(Index, Option<String>), Error> {
    let limits = request.limits;
    let Some(path) = &request.index else {
        return Ok((Index::in_memory(&request.plan, limits), None));
    };
    let options = index::IndexOptions {
        sync: request.sync,
        mode: Mode::Filter,
        temp_dir: request.temp_dir.clone(),
        replaces: request.replaces,
        creates: !request.requires_index,
        ..index::IndexOptions::within(limits)
    };
    opened(path, &request.plan, &options, terminal)
}

/// How much of the memory of an index its limit counts, if it has one.
fn counted_of_limit(index: &Index) -> String {
    let of = |limit: u64| {
        format!(" ({} count towards --memory {})", bytes(index.bytes_needed() as f64), bytes(limit as f64))
    };
    index.limits().memory.map(of).unwrap_or_default()
}

/// Prints a summary.
fn summarise(
    terminal: &Terminal,
    counts: &Counts,
    (before, now): (u64, &str),
    index: &Index,
    sink: &Output,
    started: Instant,
) {
    let seconds = started.elapsed().as_secs_f64();
    let known_passed = if sink.drops_known { counts.unconfirmed } else { counts.known };
    terminal.line(&format!(
        "{}: {} passed{}, {}{}; {} remembered before, {now} now",
        counted(counts.documents, "document"),
        count(counts.fresh + known_passed),
        match known_passed {
            0 => String::new(),
            known => format!(" ({} of them known)", count(known)),
        },
        counted(counts.duplicates, "duplicate"),
        match counts.known - known_passed {
            0 => String::new(),
            known => format!(", {} known and {}", count(known), if sink.mark { "marked" } else { "dropped" }),
        },
        count(before),
    ));
    terminal.line(&format!(
        "{} in {seconds:.2} s ({} documents/s); index: {} in memory{}, {} stored",
        bytes(counts.bytes as f64),
        count((counts.documents as f64 / seconds.max(1e-9)) as u64),
        bytes(index.bytes_held() as f64),
        counted_of_limit(index),
        bytes(index.bytes_stored() as f64),
    ));
    if sink.left < counts.documents {
        terminal.line(&match sink.left {
            0 => "not all of it was written, and perhaps nothing".to_string(),
            1 => "not all of it was written: the result of the first document was, and perhaps more".to_string(),
            left => format!(
                "not all of it was written: the results of the first {} documents were, and perhaps more",
                count(left)
            ),
        });
    }
    if counts.replaced > 0 {
        terminal.line(&format!("{} replaced an earlier text of the same id", counted(counts.replaced, "document")));
    }
    if counts.unconfirmed > 0 {
        terminal.line(&stream::passed_again(counts.unconfirmed));
    }
    if counts.featureless > 0 {
        let replaced =
            if sink.replaces { ", which replaced nothing: earlier texts of their ids stay remembered" } else { "" };
        let passed = counted(counts.featureless, "document");
        terminal.line(&format!("passed unchecked: {passed} with too few features{replaced}"));
    }
    if let Some(line) = stream::crowded(index) {
        terminal.line(&line);
    }
    if counts.fell_back > 0 {
        terminal.line(&format!("{} {}", counted(counts.fell_back, "page"), input::FELL_BACK));
    }
    if counts.repaired > 0 {
        terminal.line(&format!("{} repaired", count(counts.repaired)));
    }
    if counts.passed > 0 {
        terminal.line(&format!("{} without text passed through", counted(counts.passed, "record")));
    }
    if counts.failed > 0 {
        let happened = match (sink.on_error, counts.failed) {
            (OnError::Keep, 1) => "was passed",
            (OnError::Keep, _) => "were passed",
            (_, 1) => "was dropped",
            _ => "were dropped",
        };
        terminal.line(&format!("{} {happened}", counted(counts.failed, "unreadable record")));
    }
    if sink.only_marked > 0 {
        terminal.line(&format!("{} of them left without content, as a mark alone", count(sink.only_marked)));
    }
    if sink.replaced_fields > 0 {
        terminal.line(&format!(
            "{} had a field '{}' of {} own, which was removed or replaced",
            counted(sink.replaced_fields, "record"),
            mark::KEY,
            if sink.replaced_fields == 1 { "its" } else { "their" }
        ));
    }
}

/// The mark of a record that could not be read.
#[derive(Serialize)]
struct Unread<'a> {
    error: &'a str,
}

/// The files that verdicts are appended to.
struct VerdictFiles {
    /// `--duplicates`.
    duplicates: Option<VerdictFile>,
    /// `--verdicts`.
    all: Option<VerdictFile>,
}

impl VerdictFiles {
    /// Adds a verdict to the files that take it.
    fn push(&mut self, verdict: &Verdict) {
        let duplicates = self.duplicates.as_mut().filter(|_| verdict.is_duplicate());
        let mut files = [duplicates, self.all.as_mut()].into_iter().flatten().peekable();
        if files.peek().is_some() {
            let line = json(verdict);
            files.for_each(|file| match verdict.is_unread() {
                true => file.push_unread(&line),
                false => file.push(verdict.id, &line),
            });
        }
    }

    fn each(&mut self, act: impl FnMut(&mut VerdictFile) -> Result<(), Error>) -> Result<(), Error> {
        [&mut self.duplicates, &mut self.all].into_iter().flatten().try_for_each(act)
    }
}

/// What happens to records without a text, for a warning.
fn happens(request: &Request) -> Option<&'static str> {
    match (request.on_error, request.source.keep_rejected) {
        (OnError::Drop, true) => Some("such records are dropped, and listed by --rejects"),
        (OnError::Drop, false) => {
            Some("such records are dropped: --rejects FILE keeps them, --on-error keep passes them")
        }
        (OnError::Keep, _) => Some("such records are passed"),
        (OnError::Fail, _) => None,
    }
}

/// Writes documents to standard output.
struct Output<'a> {
    out: Vec<u8>,
    /// Number of passed documents in `out`; the index, if any, remembers them already.
    waiting: u64,
    /// The bytes of `out` that are kept apart, and the number of documents in them.
    apart: Option<(usize, u64)>,
    mark: bool,
    /// Number of records that already had the field of `--mark`.
    replaced_fields: u64,
    /// Number of records that are not there, in whose place their mark was written.
    only_marked: u64,
    drops_known: bool,
    replaces: bool,
    on_error: OnError,
    /// Whether there is an index.
    remembers: bool,
    /// The warning about documents without ids, if there was one.
    without_id: Option<String>,
    /// Whether the last run was interrupted without noting which records without ids it wrote.
    noted_nothing: bool,
    watch: InputWatch,
    is_warc: bool,
    files: VerdictFiles,
    /// Whether the last run was interrupted, so that this one may repeat its last decisions.
    may_repeat: bool,
    has_decided: bool,
    /// Whether the next document takes the place of an earlier text.
    has_replaced: bool,
    /// The line or number of the next record.
    record: Option<u64>,
    /// Counts when documents were last to be written, and the number of documents whose results were.
    counts: Counts,
    left: u64,
    /// Number of documents that passed for the first time, and of those that are remembered for sure.
    fresh: u64,
    remembered: u64,
    terminal: &'a Terminal,
    monitor: &'a Monitor,
}

/// The object of `--stats`.
#[derive(Serialize)]
pub struct Stats<'a> {
    r#type: &'static str,
    version: &'static str,
    hash_version: u32,
    algo: &'a str,
    measure: &'a str,
    tokenizer: &'a str,
    parameters: Ordered<'a>,
    counts: Counts,
    remembered: u64,
    bytes_held: u64,
    bytes_stored: u64,
    /// Documents that shared a key with more documents than are compared.
    capped: u64,
    seconds: f64,
    /// Time spent on decisions, and on the slowest one.
    seconds_deciding: f64,
    longest_decision: f64,
    /// With `--mark`, records that already had a field of that name.
    #[serde(skip_serializing_if = "Option::is_none")]
    replaced_fields: Option<u64>,
    warnings: Vec<String>,
    #[serde(flatten)]
    lacking: LackingStats,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Failure>,
}

impl<'a> Stats<'a> {
    fn new(
        counts: &Counts,
        index: &'a Index,
        sink: &Output,
        started: Instant,
        warnings: Vec<String>,
        failure: Option<&Error>,
    ) -> Self {
        Stats {
            remembered: match failure {
                Some(Error::Io { .. }) => sink.remembered,
                _ => filter::remembered(index),
            },
            replaced_fields: sink.mark.then_some(sink.replaced_fields),
            error: failure.map(Failure::from),
            ..Stats::of(counts, index, started, warnings)
        }
    }

    /// Those of a run that did not fail.
    pub fn of(counts: &Counts, index: &'a Index, started: Instant, warnings: Vec<String>) -> Self {
        let (pace, spec) = (index.pace(), index.spec());
        Stats {
            r#type: "stats",
            version: env!("CARGO_PKG_VERSION"),
            hash_version: hash::HASH_VERSION,
            algo: spec.algorithm,
            measure: index.measure(),
            tokenizer: &spec.tokenizer,
            parameters: Ordered(spec.parameters.iter().map(|row| (row.name, &row.value)).collect()),
            counts: *counts,
            remembered: filter::remembered(index),
            bytes_held: index.bytes_held(),
            bytes_stored: index.bytes_stored(),
            capped: index.capped(),
            seconds: started.elapsed().as_secs_f64(),
            seconds_deciding: pace.total.as_secs_f64(),
            longest_decision: pace.longest.as_secs_f64(),
            replaced_fields: None,
            warnings,
            lacking: LackingStats::default(),
            error: None,
        }
    }
}

/// The maximum size of the buffer of the output while nothing is in it, in bytes.
const MOST_OUT: usize = 4 << 20;

impl<'a> Output<'a> {
    /// The warnings about the input, when it has ended.
    fn warnings(&self) -> impl Iterator<Item = String> {
        self.watch.warnings().chain(self.without_id.clone())
    }

    fn new(
        request: &Request,
        files: VerdictFiles,
        remembered: u64,
        (may_repeat, noted_nothing): (bool, bool),
        terminal: &'a Terminal,
        monitor: &'a Monitor,
    ) -> Self {
        Output {
            out: Vec::new(),
            waiting: 0,
            apart: None,
            mark: request.mark,
            replaced_fields: 0,
            only_marked: 0,
            drops_known: request.drops_known,
            replaces: request.replaces,
            on_error: request.on_error,
            remembers: request.index.is_some(),
            without_id: None,
            noted_nothing,
            watch: InputWatch::new(&request.source, request.names_ids, happens(request)),
            is_warc: request.source.format == Format::Warc,
            files,
            may_repeat,
            has_decided: false,
            has_replaced: false,
            record: None,
            counts: Counts::default(),
            left: 0,
            fresh: 0,
            remembered,
            terminal,
            monitor,
        }
    }

    /// Opens the files again that are appended to.
    fn reopen(&mut self) {
        let warn = |reopened: Result<(), Error>| {
            if let Err(error) = reopened {
                self.terminal.warning(&format!("{}; new lines still go to the old file", spelling::of_error(&error)));
            }
        };
        warn(self.terminal.reopen_rejects());
        let VerdictFiles { duplicates, all } = &mut self.files;
        [duplicates, all].into_iter().flatten().for_each(|file| warn(file.reopen()));
    }

    /// Adds a missing line end. The last line of a stream may have none, and more lines may follow in another run.
    fn end_line(&mut self) {
        if !self.out.ends_with(b"\n") {
            self.out.push(b'\n');
        }
    }

    /// Adds a record with the field that `--mark` writes, or without one of that name.
    fn marked(&mut self, line: &[u8], field: Option<&str>) {
        self.replaced_fields += u64::from(mark::write_marked(line, field, &mut self.out));
        self.end_line();
    }

    /// Adds a record that could not be read, with a mark that says why. A line that is no object, even to a lenient reader, has no place for
    /// it. If the record is not there, the mark is alone.
    fn marked_unread(&mut self, record: Option<&[u8]>, problem: &Problem) -> Result<(), Error> {
        let field = json(&Unread { error: &spelling::of_problem(problem) });
        match record {
            Some(record) if mark::is_bracketed(record) => self.marked(record, Some(&field)),
            Some(record) => self.passed(record)?,
            None => {
                self.only_marked += 1;
                self.marked(b"{}", Some(&field));
            }
        }
        Ok(())
    }

    /// Writes the first bytes that wait.
    fn write(&mut self, bytes: usize) -> Result<(), Error> {
        self.terminal.flush_rejects()?;
        // Before later documents, because input is fed again from the last document that arrived.
        self.files.each(VerdictFile::flush)?;
        let mut stdout = io::stdout().lock();
        let written = stdout.write_all(&self.out[..bytes]).and_then(|()| stdout.flush());
        self.out.drain(..bytes);
        // After a long record.
        self.out.shrink_to(MOST_OUT);
        written.map_err(|error| Error::output("cannot write results", error))
    }

    /// Completes the output at the end of the stream.
    fn finish(&mut self) -> Result<(), Error> {
        self.watch.end(self.terminal);
        self.files.each(VerdictFile::finish)
    }
}

/// What to do after a failure.
const FEED_AGAIN: &str = "feed the input again from the line after the last one that arrived";

/// The error of documents that are remembered and did not leave.
fn with_advice(error: Error) -> Error {
    let remembers = "the index remembers documents that were not written";
    match error {
        Error::Output { what, error } => {
            Error::output(what, io::Error::other(format!("{error}; {remembers}: {FEED_AGAIN}")))
        }
        error => error,
    }
}

impl Sink for Output<'_> {
    fn at(&mut self, record: u64) {
        self.record = Some(record);
    }

    fn passed(&mut self, record: &[u8]) -> Result<(), Error> {
        self.out.extend_from_slice(record);
        if self.is_warc {
            self.out.extend_from_slice(b"\r\n\r\n");
        } else {
            self.end_line();
        }
        Ok(())
    }

    fn replaces(&mut self) {
        self.has_replaced = true;
    }

    fn decided(&mut self, line: &[u8], id: &str, decision: &Decision) -> Result<(), Error> {
        self.fresh += u64::from(matches!(decision, Decision::Fresh | Decision::Crowded | Decision::Featureless));
        self.watch.decided(line, id, self.terminal);
        if self.remembers && self.without_id.is_none() && is_unnamed(id) {
            let no_effect = if self.replaces { ", and --replace has no effect on it" } else { "" };
            let noted_nothing = if self.noted_nothing { format!("; {NOTHING_NOTED}") } else { String::new() };
            let warning = format!(
                "{id} has no id: verdicts name it by its number in this run, and after a crash it is recognised by its text alone, so that a copy of it may pass{no_effect}; \
                 use --id-field to name the field of ids{noted_nothing}"
            );
            self.terminal.warning(&warning);
            self.without_id = Some(warning);
        }
        // With --replace an id may come again with another text, whose verdict is not the one in the file.
        let is_again = matches!(decision, Decision::Known | Decision::Unconfirmed);
        let is_new = self.replaces || !self.may_repeat && !is_again;
        if !std::mem::replace(&mut self.has_decided, true) && is_new {
            self.files.each(|file| {
                file.write_all_verdicts();
                Ok(())
            })?;
        }
        // Without an index, all passed in this run. Of a document that is known, its time is not.
        let has_time = self.remembers && matches!(decision, Decision::Duplicate { .. });
        let is_known = self.drops_known && matches!(decision, Decision::Known);
        let known;
        let decision = match decision {
            Decision::Known if is_known => {
                let similarity = Similarity::ratio(1, 1);
                known = Decision::Duplicate { of: id.to_string(), passed: 0, similarity, is_capped: false };
                &known
            }
            decision => decision,
        };
        let replaced = std::mem::take(&mut self.has_replaced);
        let verdict = Verdict::new(id, decision).replacing(replaced).knowing(is_known).at(self.record.take());
        self.files.push(&if has_time { verdict } else { verdict.without_time() });
        let Decision::Duplicate { of, passed, similarity, .. } = decision else {
            self.waiting += 1;
            if self.mark {
                self.marked(line, None);
                return Ok(());
            }
            return self.passed(line);
        };
        if self.mark {
            let duplicate_of_time = has_time.then_some(*passed);
            let field = json(&Duplicate { duplicate_of: of, duplicate_of_time, similarity: similarity.value() });
            self.marked(line, Some(&field));
        }
        Ok(())
    }

    fn rejected(&mut self, record: Option<&[u8]>, problem: &Problem) -> Result<(), Error> {
        self.watch.rejected(problem, self.terminal);
        // With `fail` there is no decision, nor about a record that cannot be passed or marked.
        let passes = self.on_error == OnError::Keep && (record.is_some() || self.mark);
        if self.on_error == OnError::Drop || passes {
            let id = problem.id.clone().unwrap_or_else(|| problem.place.to_string());
            let (keep, error) = (self.on_error == OnError::Keep, spelling::of_problem(problem));
            self.files.push(&Verdict::unread(&id, keep, &error).at(problem.place.line));
        }
        let failed = |what: &str| {
            let why = io::Error::other(format!("{}: {}{what}", problem.place, spelling::of_problem(problem)));
            Err(Error::input(format!("--on-error {}", self.on_error.name()), why))
        };
        match (self.on_error, record) {
            (OnError::Drop, _) => Ok(()),
            (OnError::Keep, record) if self.mark => self.marked_unread(record, problem),
            (OnError::Keep, Some(record)) => self.passed(record),
            (OnError::Keep, None) => failed(", and it cannot be passed: records before it were passed"),
            (OnError::Fail, _) => failed(": records before it were passed"),
        }
    }

    fn too_large(&mut self, record: &[u8], problem: &Problem) -> Result<bool, Error> {
        // Where each line has an answer, this one has too.
        let goes_on = self.mark && self.on_error == OnError::Keep;
        if goes_on {
            self.rejected(Some(record), problem)?;
        }
        Ok(goes_on)
    }

    fn queued(&mut self, pieces: usize) -> Result<(), Error> {
        self.monitor.note_queue(pieces);
        if self.monitor.reopens() {
            self.reopen();
        }
        Ok(())
    }

    fn keep(&mut self) -> Result<(), Error> {
        sync_output().map_err(|error| with_advice(Error::output("cannot write results to the disk", error)))
    }

    fn keep_apart(&mut self) -> bool {
        self.apart = Some((self.out.len(), take(&mut self.waiting)));
        let VerdictFiles { duplicates, all } = &mut self.files;
        [duplicates, all].into_iter().flatten().for_each(VerdictFile::keep_apart);
        self.terminal.keep_rejects_apart();
        true
    }

    fn release(&mut self, counts: &Counts, index: &Index) -> Result<(), Error> {
        self.counts = *counts;
        // Of those that were decided on since, the disk may have none.
        self.remembered = index.len().saturating_sub(self.fresh - counts.fresh);
        self.monitor.note(counts, index, index.len());
        let (bytes, documents) = self.apart.take().unwrap_or_else(|| (self.out.len(), take(&mut self.waiting)));
        let is_lost = documents > 0 && self.remembers;
        self.write(bytes).map_err(|error| if is_lost { with_advice(error) } else { error })?;
        self.left = counts.documents;
        self.monitor.note_left(counts.documents);
        Ok(())
    }
}
