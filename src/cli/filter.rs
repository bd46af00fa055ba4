//! `dedup filter`: the stream.

use super::arguments::{self, bytes, count, counted};
use super::duplicates::{Duplicates, has_no_id};
use super::input::OnError;
use super::outputs::{Failure, OutFile, Outputs, refuse_closed_output, with_stats, write_stats};
use super::problems::Rejects;
use super::terminal::Terminal;
use super::{Status, input, mark, preparation, usage_error};
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use neardups::Error;
use neardups::filter::{Counts, Plan, Sink, filter};
use neardups::index::{self, Decision, Index, Limits, MOST_OF_A_KEY, Mode, Pace, Sync};
use neardups::similarity::Similarity;
use neardups::source::{self, Format, Live, PageText, Problem};
use serde::Serialize;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, Write};
use std::mem::take;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const SYNCS: &[(&str, Sync, &str)] = &[
    ("batch", Sync::Batch, "on the disk before documents leave, several at a time"),
    ("always", Sync::Always, "on the disk after each document"),
    ("off", Sync::Off, "with the operating system: safe from a crash of the program, not from a power cut"),
];

/// `dedup filter`.
pub fn command() -> Command {
    let number = |name: &'static str, value: &'static str| Arg::new(name).long(name).value_name(value);
    Command::new("filter")
        .about("Lets new documents of a stream through, and remembers them")
        .long_about(
            "Lets new documents of a stream through, and remembers them. Reads JSON lines from standard input (or --format lines or warc), \
             and writes the lines or records of documents that are like none before them to standard output, byte for byte. Each decision \
             is as if documents came one by one; it leaves as soon as the input pauses. Input may be compressed with gzip, zstd, bzip2 or \
             xz; what leaves is not.\n\n\
             With --format warc pages are decided on, by their URI and text. Whole records go out, uncompressed. Every record that holds no \
             page to read passes in its place: warcinfo, requests, metadata, revisits, images; those of a page that is dropped too.\n\n\
             With --index FILE what was let through is remembered over restarts and crashes: a document is in the index before its line \
             leaves. The same id with the same tokens, fed again, is let through again, so that feeding again what may have been lost is \
             safe. An index belongs to the options that it was made with, and to one writer at a time.",
        )
        .after_help(
            "Examples:\n  crawler | dedup filter --index seen.idx > fresh.jsonl\n  \
             dedup filter --algo simhash --id-field url --duplicates dropped.jsonl < crawl.jsonl.gz > fresh.jsonl\n  \
             dedup filter --format warc --index seen.idx < crawl.warc.gz > fresh.warc\n  \
             tail -f posts.txt | dedup filter --format lines --window 100000",
        )
        .arg(
            Arg::new("index")
                .long("index")
                .value_name("FILE")
                .value_parser(value_parser!(PathBuf))
                .help("Remember what was let through in this file, which is made if it is not there"),
        )
        .arg(
            Arg::new("mark")
                .long("mark")
                .action(ArgAction::SetTrue)
                .help("Let duplicates through too, with a field 'dedup' that says of what")
                .long_help(
                    "Let duplicates through too, with a field 'dedup' that says of what. Of the records that leave, only duplicates have \
                     such a field: one that comes with a record is removed from it, or replaced, and counted. Fields of that name within \
                     other fields stay.",
                )
                .conflicts_with("duplicates"),
        )
        .arg(
            Arg::new("duplicates")
                .long("duplicates")
                .value_name("FILE")
                .value_parser(value_parser!(PathBuf))
                .help("Append a verdict for each duplicate to this file")
                .long_help(
                    "Append a verdict for each duplicate to this file. It is written before the documents behind the duplicate leave. What \
                     an interrupted run wrote is not written again when the documents behind the last line that arrived are fed again, as \
                     far as they have ids. One process can write to the file at a time.",
                ),
        )
        .arg(
            Arg::new("drop-known")
                .long("drop-known")
                .action(ArgAction::SetTrue)
                .help("Drop documents that come again with the same id and tokens, as duplicates of themselves")
                .long_help(
                    "Drop documents that come again with the same id and tokens, as duplicates of themselves, such as pages that are crawled \
                     again. Without it they are let through again, so that whatever a crash may have lost can be fed again.",
                ),
        )
        .args(forgetting_args())
        .arg(
            number("max-docs", "N")
                .value_parser(arguments::whole_number(1..=u32::MAX.into()))
                .help("Stop, and say so, when the index holds so many documents"),
        )
        .arg(
            number("memory", "SIZE")
                .value_parser(arguments::size)
                .help(
                    "Stop, and say so, when the index takes more memory than this. With --index, tables go to the disk from half of it on, \
                     or from 512 MiB on if it is not given",
                ),
        )
        .arg(
            input::choice("sync", "WHEN", SYNCS.iter().map(|&(name, _, help)| (name, help)), "How sure it is that the index has what left")
                .default_value("batch")
                .requires("index"),
        )
        .args(signing_args())
        .args([
            input::on_error_arg("drop"),
            input::rejects_arg().help("Append each record that was rejected to a file, as JSON lines: its place in this run, the reason and, where it is at hand, the record"),
        ])
        .arg(
            Arg::new("stats")
                .long("stats")
                .value_name("FILE")
                .value_parser(value_parser!(PathBuf))
                .help_heading(input::RUN_OPTIONS)
                .help("Write counts, rate and sizes to a file, as one JSON object"),
        )
}

/// The options that say what is forgotten.
pub(super) fn forgetting_args() -> [Arg; 2] {
    let number = |name: &'static str, value: &'static str| Arg::new(name).long(name).value_name(value);
    [
        number("window", "N|DURATION")
            .value_parser(window)
            .help("Remember only the last N documents let through, or those of the last 30m, 12h, 7d"),
        number("expire", "DURATION")
            .value_parser(duration)
            .help("Forget a document so long after it was let through: 30m, 12h, 7d"),
    ]
}

/// What they say.
pub(super) fn forgetting(given: &ArgMatches) -> Limits {
    let expire = given.get_one::<u64>("expire").copied();
    let (window, age) = match given.get_one("window") {
        Some(Window::Documents(documents)) => (Some(*documents), None),
        Some(Window::Seconds(seconds)) => (None, Some(*seconds)),
        None => (None, None),
    };
    let expire = expire.into_iter().chain(age).min();
    Limits { window, expire, ..Limits::default() }
}

/// The options that say what documents are and how signatures are made.
pub(super) fn signing_args() -> Vec<Arg> {
    let of_input = |arg: &Arg| {
        ["format", "text-field", "id-field", "content", "max-record", "max-expansion"].contains(&arg.get_id().as_str())
    };
    let of_run = |arg: &Arg| ["threads", "seed", "temp-dir", "quiet"].contains(&arg.get_id().as_str());
    let mut args = vec![arguments::algorithm(), arguments::preset()];
    args.extend(arguments::tokens());
    args.extend(arguments::parameters());
    args.extend(input::input_args().into_iter().filter(of_input));
    let of_an_index = |arg: Arg| match arg.get_id().as_str() {
        "temp-dir" => arg
            .help("Where tables of an index go that do not fit in memory [default: the folder of the index]")
            .long_help(None),
        _ => arg,
    };
    args.extend(input::run_args().into_iter().filter(of_run).map(of_an_index));
    args.push(
        Arg::new("random-seed")
            .long("random-seed")
            .action(ArgAction::SetTrue)
            .conflicts_with("seed")
            .help_heading(input::RUN_OPTIONS)
            .help("Let a new index, or this run, choose its seed, so that nobody can prepare texts whose keys collide; new indexes of minhash always do"),
    );
    args
}

/// How signatures are made for an index.
pub(super) fn signing(given: &ArgMatches, index: Option<&Path>) -> Result<Plan, Error> {
    let (entry, recipe) = arguments::recipe(given)?;
    let (tokenizer, _) = preparation::tokenizer(given)?;
    let seed = seed(given, entry.name, index)?;
    let plan = Plan::new(&recipe, tokenizer, seed)?;
    Ok(match input::source_options(given)?.page_text {
        PageText::Main => plan.with_text("content", "main"),
        PageText::All => plan,
    })
}

/// The seed that was typed; that of an index that is there; a random one for a new index if that was asked for or its algorithm is
/// MinHash, whose pairs are verified whatever the seed is; otherwise the default.
fn seed(given: &ArgMatches, algorithm: &str, index: Option<&Path>) -> Result<u64, Error> {
    let usual = *given.get_one("seed").expect("has a default");
    // The terms of a lexicon are hashed with the seed of the options, before the index is looked at.
    let has_lexicon = given.try_contains_id("lexicon").unwrap_or(false);
    if has_lexicon || given.value_source("seed") == Some(ValueSource::CommandLine) {
        return Ok(usual);
    }
    let header = index.map(index::header).transpose()?.flatten();
    let of_index = header.and_then(|header| header["seed"].as_u64());
    let is_random = given.get_flag("random-seed") || index.is_some() && algorithm == "minhash";
    Ok(of_index.unwrap_or_else(|| if is_random { random_seed() } else { usual }))
}

/// A number that nobody can know, always of 19 digits, so that indexes of equal documents have equal sizes.
fn random_seed() -> u64 {
    const LEAST: u64 = 1_000_000_000_000_000_000;
    // The standard library seeds its maps from the system.
    LEAST + RandomState::new().build_hasher().finish() % (9 * LEAST)
}

/// Opens an index for documents that are signed so, and says what had to be cut off.
pub(super) fn opened(path: &Path, plan: &Plan, options: &index::Options, terminal: &Terminal) -> Result<Index, Error> {
    let (index, repair) = Index::open(path, plan, options)?;
    if let Some(repair) = repair {
        terminal.warning(&format!(
            "{}: {} that an interrupted write left at byte {} were cut off; feed again what came last",
            path.display(),
            counted(repair.bytes, "byte"),
            repair.at,
        ));
    }
    Ok(index)
}

/// A number of documents, or a number of seconds.
#[derive(Clone, Copy)]
enum Window {
    Documents(u64),
    Seconds(u64),
}

fn window(typed: &str) -> Result<Window, String> {
    match typed.parse() {
        Ok(0) => Err("expected 1 or more documents".into()),
        Ok(documents) => Ok(Window::Documents(documents)),
        Err(_) => duration(typed).map(Window::Seconds).map_err(|_| {
            "expected a number of documents, or a number with s, m, h or d behind it, such as 12h".to_string()
        }),
    }
}

/// Seconds.
pub(super) fn duration(typed: &str) -> Result<u64, String> {
    let wrong = || "expected a number with s, m, h or d behind it, such as 12h".to_string();
    let unit = match typed.as_bytes().last() {
        Some(b's') => 1,
        Some(b'm') => 60,
        Some(b'h') => 3600,
        Some(b'd') => 86400,
        _ => return Err(wrong()),
    };
    let number: u64 = typed[..typed.len() - 1].parse().map_err(|_| wrong())?;
    number.checked_mul(unit).filter(|&seconds| seconds > 0).ok_or_else(wrong)
}

/// What the documents of a stream are.
pub(super) fn stream_options(given: &ArgMatches) -> Result<source::Options, Error> {
    let format = given.get_one::<String>("format").map_or("auto", String::as_str);
    if !["auto", "jsonl", "lines", "warc"].contains(&format) {
        return Err(usage_error(format!("a stream comes as --format jsonl, lines or warc, not as {format}")));
    }
    let options = input::source_options(given)?;
    if options.page_text == PageText::Main && options.format != Format::Warc {
        return Err(usage_error("--content main has an effect only with --format warc: lines are no pages"));
    }
    Ok(options)
}

/// Set when the process is told to end, so that it finishes what it is at.
pub(super) fn stop_on_signals() -> Arc<AtomicBool> {
    let stop = Arc::new(AtomicBool::new(false));
    let on_signal = Arc::clone(&stop);
    // Without it a signal ends the program as it does any other; the index bears that too. So does a second one, which ends it at once:
    // what it is at may be waiting for ever, for whoever reads the output.
    _ = ctrlc::set_handler(move || {
        if on_signal.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
    });
    stop
}

/// Filters standard input.
pub fn run(given: &ArgMatches) -> Result<Status, Error> {
    let index = given.get_one::<PathBuf>("index").map(PathBuf::as_path);
    let mut outputs = Outputs::new();
    outputs.read_by(given)?;
    if let Some(index) = index {
        outputs.writes(index, "the index")?;
    }
    // Refused before a file is touched, that of the statistics too.
    if let Some(duplicates) = given.get_one::<PathBuf>("duplicates") {
        outputs.appends(duplicates, "--duplicates")?;
    }
    if let Some(rejects) = given.get_one::<PathBuf>("rejects") {
        outputs.appends(rejects, "--rejects")?;
    }
    let stats = outputs.stats(given)?;
    with_stats(stats, |stats| {
        if index.is_some() {
            refuse_closed_output()?;
        }
        filter_input(given, stats)
    })
}

fn filter_input(given: &ArgMatches, stats: &mut Option<OutFile>) -> Result<Status, Error> {
    let started = Instant::now();
    let options = stream_options(given)?;
    let (mark, is_warc) = (given.get_flag("mark"), options.format == Format::Warc);
    match options.format {
        Format::Lines if mark => return Err(usage_error("--mark adds a field, and lines of text have none")),
        Format::Warc if mark => {
            return Err(usage_error("--mark adds a field, and records of WARC have none: use --duplicates"));
        }
        _ => {}
    }
    if mark
        && let Some(flag) = ["text-field", "id-field"].into_iter().find(|flag| {
            let path = given.get_one::<String>(flag).expect("has a default");
            path.split('.').next() == Some(mark::KEY)
        })
    {
        return Err(usage_error(format!("--mark writes the field '{}', and --{flag} reads it", mark::KEY)));
    }
    let plan = signing(given, given.get_one::<PathBuf>("index").map(PathBuf::as_path))?;
    let limits = Limits {
        max_documents: given.get_one("max-docs").copied(),
        memory: given.get_one("memory").copied(),
        ..forgetting(given)
    };
    let rejects = given.get_one::<PathBuf>("rejects").map(|path| Rejects::append(path)).transpose()?;
    let terminal = Terminal::new(given.get_flag("quiet"), None).with_rejects(rejects);
    plan.warnings().iter().for_each(|warning| terminal.warning(warning));
    let mut index = match given.get_one::<PathBuf>("index") {
        None => Index::in_memory(&plan, limits),
        Some(path) => {
            let named = given.get_one::<String>("sync").expect("has a default");
            let sync = SYNCS.iter().find(|(name, ..)| name == named).expect("clap knows the names").1;
            let temp_dir = given.get_one("temp-dir").cloned();
            let tables = limits.memory.map_or(index::Options::default().tables, |memory| memory / 2);
            let options = index::Options { limits, sync, mode: Mode::Filter, tables, temp_dir };
            opened(path, &plan, &options, &terminal)?
        }
    };
    let duplicates = given.get_one::<PathBuf>("duplicates");
    let duplicates = duplicates.map(|path| Duplicates::open(path)).transpose()?;
    let stop = stop_on_signals();
    let remembered = index.len();
    let drops_known = given.get_flag("drop-known");
    let mut sink = Output {
        out: Vec::new(),
        waiting: 0,
        mark,
        replaced_fields: 0,
        drops_known,
        on_error: input::on_error(given),
        remembers: given.contains_id("index"),
        reported_names: false,
        is_warc,
        duplicates,
        may_repeat: index.was_interrupted(),
        has_decided: false,
        counts: Counts::default(),
        terminal: &terminal,
        reported_at: Instant::now(),
        pace: Pace::default(),
        started,
    };
    let live = Live::new(io::stdin(), "-", &options);
    let threads = given.get_one::<u64>("threads").map_or(0, |&n| n as usize);
    let result = filter(live, &plan, &mut index, threads, &stop, &terminal, &mut sink);
    terminal.done();
    let result = result.and_then(|counts| sink.finish().map(|()| counts));
    let counts = *result.as_ref().unwrap_or(&sink.counts);
    let seconds = started.elapsed().as_secs_f64();
    let mut finish_stats = |error: Option<&Error>| {
        let pace = index.pace();
        let record = Stats {
            r#type: "stats",
            counts,
            remembered: index.len(),
            bytes_held: index.bytes_held(),
            bytes_stored: index.bytes_stored(),
            capped: index.capped(),
            seconds,
            seconds_deciding: pace.total.as_secs_f64(),
            longest_decision: pace.longest.as_secs_f64(),
            replaced_fields: mark.then_some(sink.replaced_fields),
            error: error.map(Failure::from),
        };
        write_stats(stats.take(), &record, error)
    };
    if let Err(error) = result {
        // Whoever reads has seen enough, and nothing is remembered that did not leave: a quiet end, with statistics.
        if error.is_closed_pipe() {
            finish_stats(None)?;
            return Ok(ended(&counts, &stop, &terminal));
        }
        finish_stats(Some(&error))?;
        return Err(error);
    }
    terminal.line(&format!(
        "{}: {} let through, {}{}; {} remembered before, {} now",
        counted(counts.documents, "document"),
        count(counts.fresh + if drops_known { 0 } else { counts.known }),
        counted(counts.duplicates, "duplicate"),
        match counts.known {
            0 => String::new(),
            known if drops_known => format!(", {} known and dropped", count(known)),
            known => format!(", {} known", count(known)),
        },
        count(remembered),
        count(index.len()),
    ));
    terminal.line(&format!(
        "{} in {seconds:.2} s ({} documents/s); index: {} in memory, {} stored",
        bytes(counts.bytes as f64),
        count((counts.documents as f64 / seconds.max(1e-9)) as u64),
        bytes(index.bytes_held() as f64),
        bytes(index.bytes_stored() as f64),
    ));
    if counts.featureless > 0 {
        terminal.line(&format!("passed unchecked: {} with too few features", counted(counts.featureless, "document")));
    }
    if index.capped() > 0 {
        terminal.line(&format!(
            "{} shared a key with more than {} others, of which the latest were looked at",
            counted(index.capped(), "document"),
            count(MOST_OF_A_KEY as u64)
        ));
    }
    if counts.fell_back > 0 {
        terminal.line(&format!("{} {}", counted(counts.fell_back, "page"), input::FELL_BACK));
    }
    if counts.passed > 0 {
        terminal.line(&format!("{} without text to read passed", counted(counts.passed, "record")));
    }
    if counts.failed > 0 {
        let happened = match (input::on_error(given), counts.failed) {
            (OnError::Keep, 1) => "was passed on",
            (OnError::Keep, _) => "were passed on",
            (_, 1) => "was dropped",
            _ => "were dropped",
        };
        terminal.line(&format!("{} {happened}", counted(counts.failed, "unreadable record")));
    }
    if sink.replaced_fields > 0 {
        terminal.line(&format!(
            "{} had a field '{}' of {} own, which was removed or replaced",
            counted(sink.replaced_fields, "record"),
            mark::KEY,
            if sink.replaced_fields == 1 { "its" } else { "their" }
        ));
    }
    finish_stats(None)?;
    Ok(ended(&counts, &stop, &terminal))
}

/// How a stream ended.
pub(super) fn ended(counts: &Counts, stop: &AtomicBool, terminal: &Terminal) -> Status {
    if stop.load(Ordering::Relaxed) {
        terminal.line("stopped by a signal before the end of the input");
        return Status::Stopped;
    }
    Status::of_input(counts.failed)
}

/// Writes to standard output.
struct Output<'a> {
    out: Vec<u8>,
    /// How many documents in it are let through, and remembered if there is an index.
    waiting: u64,
    mark: bool,
    /// Records that came with a field that `--mark` writes.
    replaced_fields: u64,
    drops_known: bool,
    on_error: OnError,
    /// Whether there is an index, and whether it was reported that documents have no ids.
    remembers: bool,
    reported_names: bool,
    is_warc: bool,
    duplicates: Option<Duplicates>,
    /// Whether the last run was interrupted, so that this one may begin with what that one decided.
    may_repeat: bool,
    has_decided: bool,
    /// What was counted when documents left the last time.
    counts: Counts,
    terminal: &'a Terminal,
    reported_at: Instant,
    /// How decisions went until then.
    pace: Pace,
    started: Instant,
}

/// What a document is a duplicate of.
#[derive(Serialize)]
pub(super) struct Duplicate<'a> {
    duplicate_of: &'a str,
    similarity: f64,
}

/// The record of a duplicate, as a scan has it.
#[derive(Serialize)]
pub(super) struct Verdict<'a> {
    r#type: &'static str,
    id: &'a str,
    keep: bool,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    duplicate: Option<Duplicate<'a>>,
}

impl<'a> Verdict<'a> {
    /// That of a document.
    pub fn new(id: &'a str, decision: &'a Decision) -> Self {
        let duplicate = match decision {
            Decision::Duplicate { of, similarity } => {
                Some(Duplicate { duplicate_of: of, similarity: similarity.value() })
            }
            _ => None,
        };
        Verdict { r#type: "verdict", id, keep: duplicate.is_none(), duplicate }
    }
}

/// The object of `--stats`.
#[derive(Serialize)]
struct Stats {
    r#type: &'static str,
    counts: Counts,
    remembered: u64,
    bytes_held: u64,
    bytes_stored: u64,
    /// Documents that shared a key with more than are looked at.
    capped: u64,
    seconds: f64,
    /// Of that, deciding, and the slowest decision.
    seconds_deciding: f64,
    longest_decision: f64,
    /// With `--mark`, records that came with a field of that name.
    #[serde(skip_serializing_if = "Option::is_none")]
    replaced_fields: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Failure>,
}

pub(super) fn json(record: &impl Serialize) -> String {
    serde_json::to_string(record).expect("strings and numbers make JSON")
}

/// How often the rate is reported.
const REPORT_EVERY: Duration = Duration::from_secs(30);

impl Output<'_> {
    /// The last line of a stream may have no end. What comes after it, perhaps in another run, is a line of its own.
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

    /// What is left to do at the end of the stream.
    fn finish(&mut self) -> Result<(), Error> {
        self.duplicates.as_mut().map_or(Ok(()), Duplicates::finish)
    }
}

impl Sink for Output<'_> {
    fn passed(&mut self, record: &[u8]) -> Result<(), Error> {
        self.out.extend_from_slice(record);
        if self.is_warc {
            self.out.extend_from_slice(b"\r\n\r\n");
        } else {
            self.end_line();
        }
        Ok(())
    }

    fn decided(&mut self, line: &[u8], id: &str, decision: &Decision) -> Result<(), Error> {
        if self.remembers && !self.reported_names && has_no_id(id) {
            self.reported_names = true;
            self.terminal.warning(&format!(
                "{id} has no id: it is called by its number in this run, and so is another one in the next; --id-field says where ids are"
            ));
        }
        if !std::mem::replace(&mut self.has_decided, true)
            && !self.may_repeat
            && !matches!(decision, Decision::Known)
            && let Some(duplicates) = &mut self.duplicates
        {
            duplicates.is_new();
        }
        let itself;
        let decision = match decision {
            Decision::Known if self.drops_known => {
                itself = Decision::Duplicate { of: id.to_string(), similarity: Similarity::ratio(1, 1) };
                &itself
            }
            decision => decision,
        };
        let Decision::Duplicate { of, similarity } = decision else {
            self.waiting += 1;
            if self.mark {
                self.marked(line, None);
                return Ok(());
            }
            return self.passed(line);
        };
        if let Some(duplicates) = &mut self.duplicates {
            duplicates.push(id, &json(&Verdict::new(id, decision)));
        }
        if self.mark {
            let field = json(&Duplicate { duplicate_of: of, similarity: similarity.value() });
            self.marked(line, Some(&field));
        }
        Ok(())
    }

    fn rejected(&mut self, record: Option<&[u8]>, problem: &Problem) -> Result<(), Error> {
        let failed = |what: &str| {
            let why = io::Error::other(format!("{problem}{what}"));
            Err(Error::input(format!("--on-error {}", input::name_of(self.on_error)), why))
        };
        match (self.on_error, record) {
            (OnError::Drop, _) => Ok(()),
            (OnError::Keep, Some(record)) if self.mark => {
                self.marked(record, None);
                Ok(())
            }
            (OnError::Keep, Some(record)) => self.passed(record),
            (OnError::Keep, None) => failed(", and cannot be passed on: what is before it was let through"),
            (OnError::Fail, _) => failed(": what is before it was let through"),
        }
    }

    fn release(&mut self, counts: &Counts, index: &Index) -> Result<(), Error> {
        self.terminal.flush_rejects()?;
        self.counts = *counts;
        // Before the documents behind them: what is fed again starts there.
        if let Some(duplicates) = &mut self.duplicates {
            duplicates.flush()?;
        }
        let mut stdout = io::stdout().lock();
        let written = stdout.write_all(&self.out).and_then(|()| stdout.flush());
        self.out.clear();
        let waiting = take(&mut self.waiting);
        written.map_err(|error| match waiting {
            1.. if self.remembers => {
                let advice =
                    "the index remembers documents that did not leave: feed again from the last line that arrived";
                Error::output("cannot write results", io::Error::other(format!("{error}; {advice}")))
            }
            _ => Error::output("cannot write results", error),
        })?;
        if self.reported_at.elapsed() > REPORT_EVERY {
            self.reported_at = Instant::now();
            let (pace, mean) = (index.pace(), index.pace().mean_since(self.pace));
            self.pace = pace;
            self.terminal.line(&format!(
                "{} ({}/s), {}, {} remembered; a decision takes {:.0} µs, at most {:.1} ms; index: {} in memory, {} stored",
                counted(counts.documents, "document"),
                count((counts.documents as f64 / self.started.elapsed().as_secs_f64()) as u64),
                counted(counts.duplicates, "duplicate"),
                count(index.len()),
                mean.as_secs_f64() * 1e6,
                pace.longest.as_secs_f64() * 1e3,
                bytes(index.bytes_held() as f64),
                bytes(index.bytes_stored() as f64),
            ));
        }
        Ok(())
    }
}
