//! What every command that reads documents has in common: which paths, how they are read, how the run goes.

use super::{arguments, preparation, usage_error};
use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, value_parser};
use neardups::source::{FORMATS, FieldPath, Format, PageText};
use neardups::{Error, engine, source};
use std::io::IsTerminal;
use std::path::PathBuf;

/// Where the flags of the run stand in the help.
pub const RUN_OPTIONS: &str = "Options of the run";

/// What is said of pages without a main text, after their number.
pub const FELL_BACK: &str = "without a main text to find, of which all text was read";

/// Which text of a page is read.
const CONTENTS: &[(&str, PageText, &str)] = &[
    ("all", PageText::All, "all that a reader sees, menus and footers too"),
    ("main", PageText::Main, "the main text, or all where none is found; takes many times as long"),
];

/// The documents themselves.
pub fn paths_arg() -> Arg {
    Arg::new("path")
        .value_name("PATH")
        .value_parser(value_parser!(PathBuf))
        .num_args(0..)
        .help("Files and folders; - is standard input, and the default if something is piped in")
}

/// How documents are read.
pub fn input_args() -> Vec<Arg> {
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
        choice("content", "WHAT", CONTENTS.iter().map(|&(name, _, help)| (name, help)), "Which text of a page of HTML is read (formats html and warc)")
            .default_value("all"),
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

/// What happens to records that cannot be read: `--on-error`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnError {
    /// They are kept: nobody can tell what is in them.
    Keep,
    /// They are dropped.
    Drop,
    /// The command fails.
    Fail,
}

const ON_ERROR: &[(&str, OnError, &str)] = &[
    ("keep", OnError::Keep, "they are kept"),
    ("drop", OnError::Drop, "they are dropped"),
    ("fail", OnError::Fail, "the command fails: status 2"),
];

/// `--on-error`, for a command with this default.
pub fn on_error_arg(default: &'static str) -> Arg {
    choice(
        "on-error",
        "WHAT",
        ON_ERROR.iter().map(|&(name, _, help)| (name, help)),
        "What happens to records that cannot be read",
    )
    .default_value(default)
    .help_heading("Options of the input")
}

/// How a choice is typed.
pub fn name_of(on_error: OnError) -> &'static str {
    ON_ERROR.iter().find(|row| row.1 == on_error).expect("each has a row").0
}

/// What was chosen.
pub fn on_error(given: &ArgMatches) -> OnError {
    let named = given.get_one::<String>("on-error").expect("has a default");
    ON_ERROR.iter().find(|(name, ..)| name == named).expect("clap knows the names").1
}

/// `--rejects`.
pub fn rejects_arg() -> Arg {
    Arg::new("rejects")
        .long("rejects")
        .value_name("FILE")
        .value_parser(value_parser!(PathBuf))
        .help_heading("Options of the input")
        .help("Write each record or file that was rejected to a file, as JSON lines: its place, the reason and, where it is at hand, the record")
}

/// `--allow-empty`.
pub fn allow_empty_arg() -> Arg {
    Arg::new("allow-empty")
        .long("allow-empty")
        .action(ArgAction::SetTrue)
        .help_heading("Options of the input")
        .help("No document at all is not an error")
}

/// That no document was read is an error, unless it is allowed: a mistyped path must not pass for a clean corpus.
pub fn check_not_empty(allowed: bool, documents: u64, failed: u64, skipped: u64) -> Result<(), Error> {
    if documents > 0 || allowed {
        return Ok(());
    }
    let why = match (failed, skipped) {
        (0, 0) => "there is none in the input".to_string(),
        (1, 0) => "the only file or record failed".to_string(),
        (0, 1) => "the only file or record was skipped".to_string(),
        (failed, 0) => format!("{} files or records failed", arguments::count(failed)),
        (0, skipped) => format!("{} files or records were skipped", arguments::count(skipped)),
        (failed, skipped) => {
            format!("{} files or records failed, {} skipped", arguments::count(failed), arguments::count(skipped))
        }
    };
    Err(Error::Empty(format!("no document was read: {why} (--allow-empty accepts that)")))
}

/// How a run goes; none of it but the seed can change what is found.
pub fn run_args() -> Vec<Arg> {
    vec![
        size("memory", "1G", "Memory for what is kept of the documents")
            .long_help(
                "Memory for what is kept of the documents. Keys that do not fit go to a temporary file; features of candidates that do not \
                 fit are made again from a second reading, in portions if need be: slower, the same result. Each document takes its id \
                 and some 50 bytes in any case, each candidate and each pair found a few dozen more, and reading some 30 MB.",
            ),
        Arg::new("temp-dir")
            .long("temp-dir")
            .value_name("DIR")
            .value_parser(value_parser!(PathBuf))
            .help("Where temporary files are made [default: the system's folder for them]")
            .long_help(
                "Where temporary files are made: for keys that do not fit --memory, and for a copy of standard input, which may have to be \
                 read twice (up to 64 MiB of it stay in memory). They have no names, and are gone however the program ends. [default: \
                 the system's folder for temporary files]",
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
        Arg::new("quiet").short('q').long("quiet").action(ArgAction::SetTrue).help("Only errors and failures on standard error: why the status is 2 or 3"),
    ]
    .into_iter()
    .map(|arg| arg.help_heading(RUN_OPTIONS))
    .collect()
}

/// A flag that takes one of some words.
pub fn choice(
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

/// The paths that were typed, or standard input. `more` is what the command reads besides.
pub fn paths(given: &ArgMatches, more: &[PathBuf]) -> Result<Vec<PathBuf>, Error> {
    let paths: Vec<PathBuf> = given.get_many::<PathBuf>("path").into_iter().flatten().cloned().collect();
    let stdin = |path: &&PathBuf| path.as_os_str() == "-";
    let elsewhere = more.iter().filter(stdin).count();
    if paths.iter().filter(stdin).count() + elsewhere > 1 {
        return Err(usage_error("standard input (-) can be read only once"));
    }
    if !paths.is_empty() {
        return Ok(paths);
    }
    if elsewhere > 0 || std::io::stdin().is_terminal() {
        return Err(usage_error(
            "nothing to scan: name files or folders, or pipe documents in (dedup scan --help says more)",
        ));
    }
    Ok(vec![PathBuf::from("-")])
}

/// How they are to be read.
pub fn source_options(given: &ArgMatches) -> Result<source::Options, Error> {
    let text = |name: &str| given.get_one::<String>(name).expect("has a default");
    let typed = |name: &str| given.value_source(name) == Some(ValueSource::CommandLine);
    if let (format @ ("text" | "lines" | "html" | "warc"), Some(field)) =
        (text("format").as_str(), ["text-field", "id-field"].into_iter().find(|name| typed(name)))
    {
        return Err(usage_error(format!("--{field} has no effect with --format {format}: it has no fields")));
    }
    let content = text("content");
    if let ("main", format @ ("text" | "lines" | "jsonl" | "csv" | "tsv")) = (content.as_str(), text("format").as_str())
    {
        return Err(usage_error(format!("--content main has no effect with --format {format}: it has no pages")));
    }
    // Found out now rather than when standard input has filled what memory there is for it.
    let temp_dir = optional::<PathBuf>(given, "temp-dir");
    if let Some(folder) = temp_dir {
        tempfile::tempfile_in(folder)
            .map_err(|e| Error::io(format!("cannot write temporary files in {}", folder.display()), e.kind().into()))?;
    }
    let max_record = *given.get_one::<u64>("max-record").expect("has a default");
    let options = source::Options {
        format: Format::by_name(text("format"))?,
        text_field: FieldPath::parse("text-field", text("text-field"))?,
        id_field: FieldPath::parse("id-field", text("id-field"))?,
        page_text: CONTENTS.iter().find(|(name, ..)| name == content).expect("clap knows the names").1,
        max_record: max_record.try_into().unwrap_or(usize::MAX),
        max_expansion: optional(given, "max-expansion").copied().unwrap_or(source::Options::default().max_expansion),
        keep_rejected: optional::<PathBuf>(given, "rejects").is_some(),
        hidden: optional::<bool>(given, "hidden").is_some_and(|&hidden| hidden),
        temp_dir: temp_dir.cloned(),
        ..source::Options::default()
    };
    options.validate()?;
    Ok(options)
}

/// How the run is to go, and how its tokens are prepared.
pub fn engine_options(given: &ArgMatches) -> Result<(engine::Options, Option<preparation::Described>), Error> {
    let (tokenizer, prepared) = preparation::tokenizer(given)?;
    let defaults = engine::Options::default();
    let options = engine::Options {
        tokenizer,
        seed: *given.get_one("seed").expect("has a default"),
        threads: optional::<u64>(given, "threads").map_or(0, |&n| n as usize),
        memory: optional::<u64>(given, "memory").map_or(defaults.memory, |&bytes| bytes),
        temp_dir: optional::<PathBuf>(given, "temp-dir").cloned(),
    };
    Ok((options, prepared))
}

/// What was typed for a flag that not every command has.
fn optional<'a, T: Clone + Send + Sync + 'static>(given: &'a ArgMatches, flag: &str) -> Option<&'a T> {
    given.try_get_one(flag).ok().flatten()
}
