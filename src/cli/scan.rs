//! `dedup scan`: the batch.

use super::arguments::{self, Ordered, bytes, count, counted};
use super::terminal::Terminal;
use super::{Status, usage_error};
use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use neardups::Error;
use neardups::algorithm::{Compares, Recipe};
use neardups::engine::{self, Counts, KEEP_POLICIES, KeepPolicy, Outcome, Report};
use neardups::report::JsonLines;
use neardups::source::{FORMATS, FieldPath, Format, Input, Source};
use neardups::{hash, source, tokenizer};
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};
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
    ("verdicts", Emit::Verdicts, "for each document, whether to keep it, or what it is a duplicate of"),
];

/// `dedup scan`.
pub fn command() -> Command {
    let path = |name, help| Arg::new(name).value_name("PATH").value_parser(value_parser!(PathBuf)).help(help);
    Command::new("scan")
        .about("Finds the near-duplicates among documents")
        .long_about(
            "Finds the near-duplicates among documents, and prints them as JSON lines.\n\n\
             A path is a file, a folder (every file in it, in order of name) or - for standard input. A file is one document, unless \
             its format says that it holds many: .jsonl, .ndjson, .csv, .tsv, or --format. Any of them may be compressed with gzip, \
             zstd, bzip2 or xz. Hidden files in folders are left out, binary files are skipped and counted.",
        )
        .after_help(
            "Examples:\n  dedup scan ./corpus\n  dedup scan ./corpus --algo simhash --distance 6\n  \
             dedup scan crawl.jsonl.gz --text-field body --id-field url --emit clusters\n  \
             cat crawl.jsonl | dedup scan - --emit verdicts --keep longest\n  \
             dedup scan new.jsonl --against old.jsonl\n\n\
             dedup plan, with the same options, shows what they find and cost.",
        )
        .arg(path("path", "Files and folders; - is standard input, and the default if something is piped in").num_args(0..))
        .arg(arguments::algorithm())
        .arg(choice("emit", "KIND", EMITS.iter().map(|&(name, _, help)| (name, help)), "What is written").default_value("pairs"))
        .arg(choice(
            "keep",
            "WHICH",
            KEEP_POLICIES.iter().map(|&(name, _, help)| (name, help)),
            "Which of several near-duplicates is kept, for clusters and verdicts [default: first]",
        ))
        .arg(
            path("against", "Report only pairs of a document with one of this reference; may be repeated")
                .long("against")
                .value_name("REF")
                .action(ArgAction::Append)
                .long_help(
                    "Report only pairs of a document with one of this reference (a file or folder). The reference comes first in \
                     input order, so it is always the a of a pair; all of it is kept. Documents are not compared with each other. \
                     The same id may stand on both sides. May be repeated.",
                ),
        )
        .arg(arguments::tokenizer())
        .args(arguments::parameters())
        .args(input_args())
        .args(run_args())
}

fn input_args() -> Vec<Arg> {
    let defaults = source::Options::default();
    let heading = "Options of the input";
    vec![
        choice("format", "FORMAT", FORMATS.iter().map(|f| (f.name, f.help)), "How files are cut into documents")
            .value_parser(PossibleValuesParser::new(
                FORMATS.iter().map(|f| PossibleValue::new(f.name).help(f.help).aliases(f.aliases.iter().copied())),
            ))
            .default_value("auto"),
        field("text-field", "text", "Where the text of a record is: a key of JSON, keys joined by dots, or a CSV column"),
        field("id-field", "id", "Where the id of a record is; a record without one is called FILE:LINE"),
        size("max-record", "64M", "Longest record; a longer one is not read, and named")
            .value_parser(|typed: &str| match arguments::size(typed) {
                Ok(size) if source::Options::MAX_RECORD.contains(&(size as usize)) => Ok(size),
                _ => Err("expected a number of bytes from 1 to 1G".to_string()),
            })
            .long_help("Longest record (line, file or CSV row, uncompressed), up to 1G. A longer one is not read, but named and counted."),
        Arg::new("max-expansion")
            .long("max-expansion")
            .value_name("N")
            .value_parser(arguments::whole_number(1..=u64::MAX))
            .default_value(defaults.max_expansion.to_string())
            .help("How many times its size a compressed file may expand to, beyond --max-record"),
        Arg::new("hidden").long("hidden").action(ArgAction::SetTrue).help("Read hidden files in folders too"),
    ]
    .into_iter()
    .map(|arg| arg.help_heading(heading))
    .collect()
}

fn run_args() -> Vec<Arg> {
    vec![
        size("memory", "1G", "Memory for what verification looks at")
            .long_help(
                "Memory for what verification looks at. If it does not suffice, documents are read a second time, and only what belongs \
                 to candidates is kept, however much that is: slower, the same result.",
            ),
        Arg::new("temp-dir")
            .long("temp-dir")
            .value_name("DIR")
            .value_parser(value_parser!(PathBuf))
            .help("Where standard input is kept if it must be read twice [default: the system's]")
            .long_help(
                "Where a copy of standard input is kept as it is read, because MinHash may have to read it twice. Up to 64 MiB of it \
                 stay in memory. [default: the system's \
                 folder for temporary files]",
            ),
        Arg::new("threads")
            .short('j')
            .long("threads")
            .value_name("N")
            .value_parser(arguments::whole_number(1..=1024))
            .help("Worker threads [default: one a core]"),
        Arg::new("seed")
            .long("seed")
            .value_name("N")
            .value_parser(arguments::whole_number(0..=u64::MAX))
            .allow_negative_numbers(true)
            .default_value("0")
            .help("Seeds the hashes; with a secret one it is hard to make texts that collide"),
        Arg::new("stats")
            .long("stats")
            .value_name("FILE")
            .value_parser(value_parser!(PathBuf))
            .help("Write counts, resolved parameters, recall and timings to a file, as one JSON object"),
        Arg::new("quiet").short('q').long("quiet").action(ArgAction::SetTrue).help("Nothing on standard error but errors that end the run"),
    ]
    .into_iter()
    .map(|arg| arg.help_heading("Options of the run"))
    .collect()
}

fn choice(
    name: &'static str,
    placeholder: &'static str,
    words: impl Iterator<Item = (&'static str, &'static str)>,
    help: &'static str,
) -> Arg {
    let words = words.map(|(word, help)| PossibleValue::new(word).help(help));
    Arg::new(name).long(name).value_name(placeholder).value_parser(PossibleValuesParser::new(words)).help(help)
}

fn field(name: &'static str, default: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).value_name("PATH").default_value(default).help(help)
}

fn size(name: &'static str, default: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).value_name("SIZE").value_parser(arguments::size).default_value(default).help(help)
}

/// What was asked for, resolved.
struct Request {
    emit: Emit,
    keep: KeepPolicy,
    quiet: bool,
    stats: Option<StatsFile>,
    tokenizer: String,
    engine: engine::Options,
}

/// Scans, writes the results, and says how it went.
pub fn run(given: &ArgMatches) -> Result<Status, Error> {
    let started = Instant::now();
    let (entry, recipe) = arguments::recipe(given)?;
    let compares = recipe.prepare(0)?.algorithm.compares();
    if compares == Compares::Fingerprints && given.value_source("memory") == Some(ValueSource::CommandLine) {
        return Err(usage_error(format!(
            "--memory has no effect on {}: it compares fingerprints, which are all in memory",
            entry.name
        )));
    }
    let options = source_options(given)?;
    let mut input = Input::new(paths(given)?, options.clone());
    let mut reference =
        given.get_many::<PathBuf>("against").map(|paths| Input::new(paths.cloned().collect(), options.clone()));
    let mut request = request(given)?;
    check_folders(given)?;

    let total = |input: &Input| input.total_bytes();
    let total = match &reference {
        None => total(&input),
        Some(reference) => total(&input).zip(total(reference)).map(|(a, b)| a + b),
    };
    let terminal = Terminal::new(request.quiet, total);
    let against = reference.as_mut().map(|reference| reference as &mut dyn Source);
    let outcome = engine::scan(&mut input, against, &recipe, &request.engine, &terminal);
    terminal.done();
    let outcome = outcome?;
    outcome.report.warnings.iter().for_each(|warning| terminal.warning(warning));

    let (written, closed) = match write(&outcome, &request) {
        // Whoever read the results has seen enough: a quiet end, but not one without statistics and a status.
        Err(error) if error.is_closed_pipe() => (Written::default(), true),
        written => (written?, false),
    };
    let hidden = input.counts().hidden + reference.as_ref().map_or(0, |r| r.counts().hidden);
    if !closed {
        summarise(&terminal, &outcome.report, &request, &written, hidden, started);
    }
    let Counts { unnamed, documents, .. } = outcome.report.counts;
    if unnamed > 0 && given.value_source("id-field") == Some(ValueSource::CommandLine) {
        terminal.warning(&format!(
            "{} of {} have no --id-field '{}', and are called FILE:LINE",
            count(unnamed),
            counted(documents, "document"),
            options.id_field
        ));
    }
    if let Some(file) = request.stats.take() {
        file.write(&stats(&outcome.report, &request, &written, hidden, started))?;
    }
    Ok(if outcome.report.counts.failed > 0 { Status::Failed } else { Status::Done })
}

fn paths(given: &ArgMatches) -> Result<Vec<PathBuf>, Error> {
    let paths: Vec<PathBuf> = given.get_many::<PathBuf>("path").into_iter().flatten().cloned().collect();
    let against: Vec<&PathBuf> = given.get_many::<PathBuf>("against").into_iter().flatten().collect();
    let stdin = |path: &&PathBuf| path.as_os_str() == "-";
    if paths.iter().filter(stdin).count() + against.iter().filter(|path| stdin(path)).count() > 1 {
        return Err(usage_error("standard input (-) can be read only once"));
    }
    if !paths.is_empty() {
        return Ok(paths);
    }
    if std::io::stdin().is_terminal() {
        return Err(usage_error(
            "nothing to scan: name files or folders, or pipe documents in (dedup scan --help says more)",
        ));
    }
    Ok(vec![PathBuf::from("-")])
}

/// What would be found out too late: a reference that is not there, without which everything would seem new; a folder for
/// temporary files that cannot take any.
fn check_folders(given: &ArgMatches) -> Result<(), Error> {
    for reference in given.get_many::<PathBuf>("against").into_iter().flatten().filter(|path| path.as_os_str() != "-") {
        reference.metadata().map_err(|e| Error::io(format!("cannot read the reference {}", reference.display()), e))?;
    }
    if let Some(folder) = given.get_one::<PathBuf>("temp-dir") {
        tempfile::tempfile_in(folder)
            .map_err(|e| Error::io(format!("cannot write temporary files in {}", folder.display()), e.kind().into()))?;
    }
    Ok(())
}

fn source_options(given: &ArgMatches) -> Result<source::Options, Error> {
    let typed = |name: &str| given.value_source(name) == Some(ValueSource::CommandLine);
    let format = given.get_one::<String>("format").map(String::as_str);
    if let (Some(format @ ("text" | "lines")), Some(field)) =
        (format, ["text-field", "id-field"].into_iter().find(|name| typed(name)))
    {
        return Err(usage_error(format!("--{field} has no effect with --format {format}: it has no fields")));
    }
    let text = |name: &str| given.get_one::<String>(name).expect("has a default");
    let max_record = *given.get_one::<u64>("max-record").expect("has a default");
    let options = source::Options {
        format: Format::by_name(text("format"))?,
        text_field: FieldPath::parse("text-field", text("text-field"))?,
        id_field: FieldPath::parse("id-field", text("id-field"))?,
        max_record: max_record.try_into().unwrap_or(usize::MAX),
        max_expansion: *given.get_one("max-expansion").expect("has a default"),
        hidden: given.get_flag("hidden"),
        temp_dir: given.get_one::<PathBuf>("temp-dir").cloned(),
        ..source::Options::default()
    };
    options.validate()?;
    Ok(options)
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
    let typed = named("tokenizer").expect("has a default");
    let stats = given.get_one::<PathBuf>("stats").map(|path| StatsFile::create(path, &inputs(given)));
    Ok(Request {
        emit,
        keep: keep.unwrap_or_default(),
        quiet: given.get_flag("quiet"),
        stats: stats.transpose()?,
        tokenizer: typed.to_string(),
        engine: engine::Options {
            tokenizer: tokenizer::by_name(typed)?.into(),
            seed: *given.get_one("seed").expect("has a default"),
            threads: given.get_one::<u64>("threads").map_or(0, |&n| n as usize),
            memory: *given.get_one("memory").expect("has a default"),
        },
    })
}

/// Where `--stats` goes. Made before the scan, so that a scan of hours does not end on a mistyped name; takes the place of an
/// older file only when there is something to put there.
struct StatsFile {
    path: PathBuf,
    target: Target,
}

enum Target {
    /// A new file, made in this folder under another name first.
    New(PathBuf),
    /// Something that cannot be replaced, such as a pipe or a terminal.
    Existing(File),
}

impl StatsFile {
    fn create(path: &Path, inputs: &[PathBuf]) -> Result<Self, Error> {
        if path.as_os_str() == "-" {
            return Err(usage_error("--stats needs a file: standard output is for results"));
        }
        let same =
            |input: &PathBuf| path.canonicalize().is_ok_and(|path| input.canonicalize().is_ok_and(|i| i == path));
        if inputs.iter().any(same) {
            return Err(usage_error(format!("--stats would overwrite the input {}", path.display())));
        }
        let special = path.metadata().is_ok_and(|found| !found.is_file());
        let target = if special {
            File::options().write(true).open(path).map(Target::Existing)
        } else {
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
            // Only to see that it can be done: nothing may lie about while the folder is scanned.
            folder.metadata().and_then(|_| beside().tempfile_in(folder)).map(|_| Target::New(folder.to_path_buf()))
        };
        let target = target.map_err(|e| Self::error(path, e))?;
        // Through a link, the file that it leads to is replaced.
        Ok(StatsFile { path: path.canonicalize().unwrap_or_else(|_| path.to_path_buf()), target })
    }

    fn write(self, stats: &Stats<'_>) -> Result<(), Error> {
        let line = serde_json::to_string(stats).expect("numbers and strings make JSON") + "\n";
        match self.target {
            Target::New(folder) => beside().tempfile_in(folder).and_then(|mut file| {
                file.write_all(line.as_bytes())?;
                file.persist(&self.path).map(drop).map_err(io::Error::from)
            }),
            Target::Existing(mut file) => file.write_all(line.as_bytes()),
        }
        .map_err(|e| Self::error(&self.path, e))
    }

    fn error(path: &Path, error: io::Error) -> Error {
        Error::io(format!("cannot write {}", path.display()), error)
    }
}

/// Temporary files that others may read as far as the user's mask allows, since they stay under another name.
fn beside() -> tempfile::Builder<'static, 'static> {
    #[cfg_attr(not(unix), expect(unused_mut))]
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder
}

/// Everything that will be read.
fn inputs(given: &ArgMatches) -> Vec<PathBuf> {
    ["path", "against"].iter().flat_map(|name| given.get_many::<PathBuf>(name).into_iter().flatten()).cloned().collect()
}

/// What was counted while writing.
#[derive(Default)]
struct Written {
    records: u64,
    clusters: Option<u64>,
    dropped: Option<u64>,
}

fn write(outcome: &Outcome, request: &Request) -> Result<Written, Error> {
    let mut out = JsonLines::new(BufWriter::with_capacity(1 << 16, std::io::stdout().lock()), outcome);
    let mut written = Written::default();
    match request.emit {
        Emit::Pairs => outcome.pairs(|pair| {
            written.records += 1;
            out.pair(&pair)
        })?,
        Emit::Clusters => {
            let kept = outcome.keep(request.keep);
            written.dropped = Some(kept.dropped());
            kept.clusters(|cluster| {
                written.records += 1;
                out.cluster(&cluster)
            })?;
            written.clusters = Some(written.records);
        }
        Emit::Verdicts => {
            let kept = outcome.keep(request.keep);
            written.dropped = Some(kept.dropped());
            kept.verdicts(|verdict| {
                written.records += 1;
                out.verdict(&verdict)
            })?;
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
    hidden: u64,
    started: Instant,
) {
    let Counts { documents, references, featureless, copies, compared, pairs, bytes: read, .. } = report.counts;
    let median = report.median_tokens as u64;
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
        return left_out(terminal, report, hidden);
    }
    // Chosen by the algorithm only where the documents call for it.
    let tokenizer = match &report.tokenizer {
        Some(chosen) => format!("{chosen} tokens (the documents are short: median {}", counted(median, "word")),
        None => format!("{} tokens (median {} a document", request.tokenizer, count(median)),
    };
    let parameters = report.resolved.iter().map(|(name, value)| format!("{} {}", name.replace('_', " "), short(value)));
    let parameters: Vec<_> = parameters.collect();
    terminal.line(&format!("{} on {tokenizer}): {}", report.algorithm, parameters.join(", ")));
    let seconds = started.elapsed().as_secs_f64();
    terminal.line(&format!(
        "{}, {} too empty to compare, {} compared; {} in {seconds:.2} s ({}/s)",
        counted(copies, "exact copy"),
        counted(featureless, "document"),
        counted(compared, "candidate"),
        bytes(read as f64),
        bytes(read as f64 / seconds.max(1e-9)),
    ));
    left_out(terminal, report, hidden);
}

/// What was not read, or not as it stood.
fn left_out(terminal: &Terminal, report: &Report, hidden: u64) {
    let Counts { repaired, skipped, failed, .. } = report.counts;
    let entries = if hidden == 1 { "hidden entry left out" } else { "hidden entries left out" };
    let left_out = [(failed, "failed"), (skipped, "skipped"), (hidden, entries), (repaired, "repaired")];
    let left_out: Vec<_> =
        left_out.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{} {what}", count(*n))).collect();
    if !left_out.is_empty() {
        terminal.line(&left_out.join(", "));
    }
}

/// A parameter's value for people: no more digits than help.
fn short(value: &Value) -> String {
    match value.as_f64() {
        Some(number) if value.is_f64() => format!("{}", (number * 1e4).round() / 1e4),
        _ => value.as_str().map_or_else(|| value.to_string(), str::to_string),
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
    read_twice: bool,
    warnings: &'a [String],
    /// Seconds in each stage, and from start to end.
    timings: BTreeMap<&'a str, f64>,
}

fn stats<'a>(report: &'a Report, request: &'a Request, written: &Written, hidden: u64, started: Instant) -> Stats<'a> {
    let stages = report.timings.iter().map(|(name, time)| (*name, time.as_secs_f64()));
    Stats {
        r#type: "stats",
        version: env!("CARGO_PKG_VERSION"),
        hash_version: hash::HASH_VERSION,
        algo: report.algorithm,
        measure: report.measure,
        tokenizer: report.tokenizer.as_deref().unwrap_or(&request.tokenizer),
        seed: request.engine.seed,
        parameters: Ordered(report.resolved.iter().map(|(name, value)| (*name, value)).collect()),
        median_tokens: report.median_tokens,
        counts: &report.counts,
        hidden,
        records: written.records,
        clusters: written.clusters,
        dropped: written.dropped,
        read_twice: report.reread,
        warnings: &report.warnings,
        timings: stages.chain([("total", started.elapsed().as_secs_f64())]).collect(),
    }
}
