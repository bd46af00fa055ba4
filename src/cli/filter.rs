//! `dedup filter`: the stream.

use super::arguments::{self, bytes, count, counted};
use super::out_file::OutFile;
use super::terminal::Terminal;
use super::{Status, input, preparation, usage_error};
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use neardups::Error;
use neardups::filter::{Counts, Plan, Sink, filter};
use neardups::index::{self, Decision, Index, Limits, MOST_OF_A_KEY, Mode, Pace, Sync};
use neardups::source::Live;
use serde::Serialize;
use serde_json::{Value, json as value};
use sha1::{Digest, Sha1};
use std::fs::File;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, Read, Write};
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
            "Lets new documents of a stream through, and remembers them. Reads JSON lines from standard input (or --format lines), and \
             writes the lines of documents that are like none before them to standard output, byte for byte. Each decision is as if \
             documents came one by one; it leaves as soon as the input pauses.\n\n\
             With --index FILE what was let through is remembered over restarts and crashes: a document is in the index before its line \
             leaves. The same id with the same text, fed again, is let through again, so that feeding again what may have been lost is \
             safe. An index belongs to the options that it was made with, and to one writer at a time.",
        )
        .after_help(
            "Examples:\n  crawler | dedup filter --index seen.idx > fresh.jsonl\n  \
             zcat crawl.jsonl.gz | dedup filter --algo simhash --id-field url --duplicates dropped.jsonl > fresh.jsonl\n  \
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
                .conflicts_with("duplicates"),
        )
        .arg(
            Arg::new("duplicates")
                .long("duplicates")
                .value_name("FILE")
                .value_parser(value_parser!(PathBuf))
                .help("Append a verdict for each duplicate to this file"),
        )
        .arg(
            number("window", "N|DURATION")
                .value_parser(window)
                .help("Remember only the last N documents let through, or those of the last 30m, 12h, 7d"),
        )
        .arg(
            number("expire", "DURATION")
                .value_parser(duration)
                .help("Forget a document so long after it was let through: 30m, 12h, 7d"),
        )
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
        .arg(
            Arg::new("stats")
                .long("stats")
                .value_name("FILE")
                .value_parser(value_parser!(PathBuf))
                .help_heading(input::RUN_OPTIONS)
                .help("Write counts, rate and sizes to a file, as one JSON object"),
        )
}

/// The options that say what documents are and how signatures are made.
pub(super) fn signing_args() -> Vec<Arg> {
    let of_input = |arg: &Arg| ["format", "text-field", "id-field", "max-record"].contains(&arg.get_id().as_str());
    let of_run = |arg: &Arg| ["threads", "seed", "temp-dir", "quiet"].contains(&arg.get_id().as_str());
    let mut args = vec![arguments::algorithm(), arguments::preset()];
    args.extend(arguments::tokens());
    args.extend(arguments::parameters());
    args.extend(input::input_args().into_iter().filter(of_input));
    args.extend(input::run_args().into_iter().filter(of_run));
    args.push(
        Arg::new("random-seed")
            .long("random-seed")
            .action(ArgAction::SetTrue)
            .conflicts_with("seed")
            .help_heading(input::RUN_OPTIONS)
            .help("Let a new index choose its seed, and take that of one that is there: nobody can prepare texts whose keys collide"),
    );
    args
}

/// How signatures are made for an index, and what it says of it.
pub(super) fn signing(given: &ArgMatches, index: Option<&Path>) -> Result<(Plan, Value), Error> {
    let (_, recipe) = arguments::recipe(given)?;
    let (tokenizer, prepared) = preparation::tokenizer(given)?;
    let seed = match given.get_flag("random-seed") {
        false => *given.get_one("seed").expect("has a default"),
        true => seed_of(index)?,
    };
    let plan = Plan::new(&recipe, tokenizer, seed)?;
    let mut header = plan.header();
    header.insert("tokenizer".into(), value!(arguments::chosen_tokenizer(given)?));
    header.insert("preparation".into(), value!(prepared));
    if let Some(lexicon) = given.try_get_one::<PathBuf>("lexicon").ok().flatten() {
        header.insert("lexicon".into(), value!(digest(lexicon)?));
    }
    Ok((plan, Value::Object(header)))
}

/// The seed of an index; a new one if it is not there.
fn seed_of(index: Option<&Path>) -> Result<u64, Error> {
    match index.filter(|path| path.metadata().is_ok_and(|file| file.len() > 0)) {
        // The standard library seeds its maps from the system.
        None => Ok(RandomState::new().build_hasher().finish()),
        Some(path) => Ok(index::header(path)?["seed"].as_u64().unwrap_or_default()),
    }
}

/// Opens an index for documents that are signed so, and says what had to be cut off.
pub(super) fn opened(
    path: &Path,
    (plan, header): (&Plan, &Value),
    options: &index::Options,
    terminal: &Terminal,
) -> Result<Index, Error> {
    let (index, repair) = Index::open(path, Arc::clone(&plan.algorithm), header, options)?;
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
        Err(_) => duration(typed).map(Window::Seconds),
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

/// Stops what this is given to when the process is told to end, and leaves it time to finish.
pub(super) fn stop_on_signals() -> Arc<AtomicBool> {
    let stop = Arc::new(AtomicBool::new(false));
    let on_signal = Arc::clone(&stop);
    // Without it a signal ends the program as it does any other; the index bears that too.
    _ = ctrlc::set_handler(move || on_signal.store(true, Ordering::Relaxed));
    stop
}

/// Filters standard input.
pub fn run(given: &ArgMatches) -> Result<Status, Error> {
    let started = Instant::now();
    let format = given.get_one::<String>("format").map_or("auto", String::as_str);
    if !["auto", "jsonl", "ndjson", "lines"].contains(&format) {
        return Err(usage_error(format!("a stream comes as --format jsonl or lines, not as {format}")));
    }
    let mark = given.get_flag("mark");
    if mark && format == "lines" {
        return Err(usage_error("--mark adds a field, and lines of text have none"));
    }
    let (plan, header) = signing(given, given.get_one::<PathBuf>("index").map(PathBuf::as_path))?;
    let limits = Limits {
        window: given
            .get_one("window")
            .and_then(|window| if let Window::Documents(n) = window { Some(*n) } else { None }),
        expire: match (given.get_one("window"), given.get_one::<u64>("expire")) {
            (Some(Window::Seconds(a)), Some(b)) => Some(*a.min(b)),
            (Some(Window::Seconds(a)), None) => Some(*a),
            (_, expire) => expire.copied(),
        },
        max_documents: given.get_one("max-docs").copied(),
        memory: given.get_one("memory").copied(),
    };
    let stats = given.get_one::<PathBuf>("stats").map(|path| OutFile::create("stats", path, &[])).transpose()?;
    let terminal = Terminal::new(given.get_flag("quiet"), None);
    plan.warnings().iter().for_each(|warning| terminal.warning(warning));
    let mut index = match given.get_one::<PathBuf>("index") {
        None => Index::in_memory(Arc::clone(&plan.algorithm), limits),
        Some(path) => {
            let named = given.get_one::<String>("sync").expect("has a default");
            let sync = SYNCS.iter().find(|(name, ..)| name == named).expect("clap knows the names").1;
            let temp_dir = given.get_one("temp-dir").cloned();
            let tables = limits.memory.map_or(index::Options::default().tables, |memory| memory / 2);
            let options = index::Options { limits, sync, mode: Mode::Filter, tables, temp_dir };
            opened(path, (&plan, &header), &options, &terminal)?
        }
    };
    let stop = stop_on_signals();
    let duplicates = given.get_one::<PathBuf>("duplicates").map(|path| Duplicates::open(path)).transpose()?;
    let remembered = index.len();
    let mut sink = Lines {
        out: Vec::new(),
        mark,
        duplicates,
        terminal: &terminal,
        told: Instant::now(),
        pace: Pace::default(),
        started,
    };
    let live = Live::new(io::stdin(), "-", &input::source_options(given)?);
    let threads = given.get_one::<u64>("threads").map_or(0, |&n| n as usize);
    let result = filter(live, &plan, &mut index, threads, &stop, &terminal, &mut sink);
    terminal.done();
    let counts = match result {
        // Whoever reads has seen enough. What is in the index and did not leave leaves when it is fed again.
        Err(error) if error.is_closed_pipe() => return Ok(Status::Done),
        result => result?,
    };
    let seconds = started.elapsed().as_secs_f64();
    terminal.line(&format!(
        "{}: {} let through, {}{}; {} remembered before, {} now",
        counted(counts.documents, "document"),
        count(counts.fresh + counts.known),
        counted(counts.duplicates, "duplicate"),
        if counts.known > 0 { format!(", {} known", count(counts.known)) } else { String::new() },
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
    if index.capped() > 0 {
        terminal.line(&format!(
            "{} shared a key with more than {} others, of which the latest were looked at",
            counted(index.capped(), "document"),
            count(MOST_OF_A_KEY as u64)
        ));
    }
    if counts.failed > 0 {
        terminal.line(&format!("{} could not be read, and were not let through", counted(counts.failed, "record")));
    }
    if let Some(stats) = stats {
        let (bytes_held, bytes_stored) = (index.bytes_held(), index.bytes_stored());
        let (remembered, capped, pace) = (index.len(), index.capped(), index.pace());
        let record = Stats {
            r#type: "stats",
            counts,
            remembered,
            bytes_held,
            bytes_stored,
            capped,
            seconds,
            seconds_deciding: pace.total.as_secs_f64(),
            longest_decision: pace.longest.as_secs_f64(),
        };
        stats.write(&(json(&record) + "\n"))?;
    }
    Ok(if counts.failed > 0 { Status::Failed } else { Status::Done })
}

/// What a lexicon file is known by.
fn digest(path: &Path) -> Result<String, Error> {
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|mut file| file.read_to_end(&mut bytes));
    read.map_err(|error| Error::io(format!("cannot read {}", path.display()), error))?;
    Ok(Sha1::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect())
}

/// The file of duplicates: verdicts, appended.
struct Duplicates {
    file: File,
    path: PathBuf,
    lines: Vec<u8>,
}

impl Duplicates {
    fn open(path: &Path) -> Result<Self, Error> {
        let file = File::options().append(true).create(true).open(path);
        let file = file.map_err(|error| Error::io(format!("cannot write {}", path.display()), error))?;
        Ok(Duplicates { file, path: path.to_path_buf(), lines: Vec::new() })
    }
}

/// Writes lines to standard output.
struct Lines<'a> {
    out: Vec<u8>,
    mark: bool,
    duplicates: Option<Duplicates>,
    terminal: &'a Terminal,
    told: Instant,
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
}

pub(super) fn json(record: &impl Serialize) -> String {
    serde_json::to_string(record).expect("strings and numbers make JSON")
}

/// How often the rate is told.
const TELL: Duration = Duration::from_secs(30);

impl Lines<'_> {
    /// The last line of a stream may have no end. What comes after it, perhaps in another run, is a line of its own.
    fn end_line(&mut self) {
        if !self.out.ends_with(b"\n") {
            self.out.push(b'\n');
        }
    }
}

impl Sink for Lines<'_> {
    fn decided(&mut self, line: &[u8], id: &str, decision: &Decision) -> Result<(), Error> {
        let Decision::Duplicate { of, similarity } = decision else {
            self.out.extend_from_slice(line);
            self.end_line();
            return Ok(());
        };
        if let Some(duplicates) = &mut self.duplicates {
            duplicates.lines.extend_from_slice(json(&Verdict::new(id, decision)).as_bytes());
            duplicates.lines.push(b'\n');
        }
        if self.mark {
            // A line that was read as an object ends with its brace.
            let end = line.trim_ascii_end().len().saturating_sub(1);
            let empty = line[..end].trim_ascii_end().ends_with(b"{");
            self.out.extend_from_slice(&line[..end]);
            let field = json(&Duplicate { duplicate_of: of, similarity: similarity.value() });
            let comma = if empty { "" } else { "," };
            self.out.extend_from_slice(format!("{comma}\"dedup\":{field}").as_bytes());
            self.out.extend_from_slice(&line[end..]);
            self.end_line();
        }
        Ok(())
    }

    fn release(&mut self, counts: &Counts, index: &Index) -> Result<(), Error> {
        if let Some(Duplicates { file, path, lines }) = &mut self.duplicates {
            file.write_all(lines).map_err(|error| Error::io(format!("cannot write {}", path.display()), error))?;
            lines.clear();
        }
        let mut stdout = io::stdout().lock();
        let written = stdout.write_all(&self.out).and_then(|()| stdout.flush());
        self.out.clear();
        written.map_err(|error| Error::io("cannot write results", error))?;
        if self.told.elapsed() > TELL {
            self.told = Instant::now();
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
