//! How documents of a stream are read and signed, and which an index forgets: flags of `dedup filter` and `dedup index`.

use super::input::{self, Input};
use super::method::{self, Method};
use super::run::{self, RUN_OPTIONS, Run};
use super::tokens;
use super::values::{
    DURATION, documents, documents_up_to, duration, memory as memory_size, switch, value, whole_number,
};
use clap::{Arg, ArgAction, ArgMatches};
use neardups::index::Limits;

/// How documents are read and signed, as typed.
pub struct Signing {
    /// Algorithm, preset, parameters and tokens.
    pub method: Method,
    /// Options of the input.
    pub input: Input,
    /// Options of the run.
    pub run: Run,
    /// `--random-seed`.
    pub random_seed: bool,
    /// `--expect`, if the command has it.
    pub expect: Option<u64>,
}

impl Signing {
    /// Takes the values from what clap parsed.
    pub fn new(given: &ArgMatches) -> Self {
        Signing {
            method: Method::new(given),
            input: Input::new(given),
            run: Run::new(given),
            random_seed: switch(given, "random-seed"),
            expect: value(given, "expect").copied(),
        }
    }
}

/// `--memory`, in bytes.
pub fn memory(given: &ArgMatches) -> Option<u64> {
    value(given, "memory").copied()
}

/// The flag for the memory of an index.
pub fn memory_arg() -> Arg {
    Arg::new("memory")
        .long("memory")
        .value_name("SIZE")
        .value_parser(memory_size)
        .help("Memory of the index; stop with an error once it takes more")
        .long_help(
            "Memory of the index: the run stops with an error once it takes more. The tables of an index in a file go to the disk from half \
             of it on, or from 512 MiB on if it is not given. The process takes at most the sum of this, 100 MB, 70 bytes for each document and \
             four times the largest record, on any number of threads; a record with too many tokens for that stops the run with an error, too.",
        )
}

/// The formats of streams. The other ones are refused with advice.
pub const OF_STREAMS: [&str; 4] = ["auto", "jsonl", "lines", "warc"];

/// The flags for how documents are read and signed.
pub fn args() -> Vec<Arg> {
    let of_input = |arg: &Arg| {
        ["format", "text-field", "id-field", "encoding", "content", "max-record", "max-expansion", "max-window"]
            .contains(&arg.get_id().as_str())
    };
    let of_run = |arg: &Arg| ["threads", "seed", "temp-dir", "quiet"].contains(&arg.get_id().as_str());
    let mut args = vec![method::algorithm(), method::preset()];
    args.extend(tokens::args());
    args.extend(method::parameters());
    args.extend(input::args().into_iter().filter(of_input).map(|arg| match arg.get_id().as_str() {
        "format" => arg.value_parser(input::formats(|name| OF_STREAMS.contains(&name))),
        _ => arg,
    }));
    let of_an_index = |arg: Arg| {
        match arg.get_id().as_str() {
        "temp-dir" => arg
            .help("Folder for tables of an index that do not fit in memory [default: a checkpoint beside the index]")
            .long_help(
                "Folder for tables of an index that do not fit in memory. By default they are kept in the folder INDEX.tables, with \
                 which the index opens fast. With this option they are temporary, and no such checkpoint is made.",
            ),
        "seed" => arg
            .hide_default_value(true)
            .help("Seed of the hashes [default: that of the index; a new index of minhash gets a random one; otherwise 0]")
            .long_help(
                "Seed of the hashes. With a seed that nobody else knows, it is hard to construct colliding texts. By default it is that of the \
                 index. A new index of minhash gets a random seed, and one of another algorithm 0. Without an index, and with a file for --lexicon or --weights, it is 0.",
            ),
        _ => arg,
    }
    };
    args.extend(run::args().into_iter().filter(of_run).map(of_an_index));
    args.push(random_seed_arg());
    args
}

/// The flag for a seed that nobody knows.
pub fn random_seed_arg() -> Arg {
    Arg::new("random-seed")
        .long("random-seed")
        .action(ArgAction::SetTrue)
        .conflicts_with("seed")
        .help_heading(RUN_OPTIONS)
        .help("Choose the seed of a new index, or of this run, at random, so that nobody can construct colliding texts; new indexes of minhash always do")
}

/// The flag for documents that an index knows.
pub fn drop_known_arg() -> Arg {
    Arg::new("drop-known").long("drop-known").action(ArgAction::SetTrue)
}

/// The flag against an index that is created because its name was mistyped or its disk is not mounted.
pub fn require_index_arg() -> Arg {
    require_index_switch()
        .requires("index")
        .help("End with an error if the file of --index does not exist, instead of creating it")
}

/// The same for a command whose index is not an option.
pub fn require_index_switch() -> Arg {
    Arg::new("require-index").long("require-index").action(ArgAction::SetTrue)
}

/// The flag for the size of an index.
pub fn max_documents_arg() -> Arg {
    Arg::new("max-docs")
        .long("max-docs")
        .value_name("N")
        .value_parser(documents_up_to(u32::MAX.into()))
        .help("Stop with an error once the index holds this many documents")
}

/// The limits of an index, from the flags of [`forgetting_args`], [`max_documents_arg`], [`memory_arg`] and
/// [`candidates_arg`] that a command has.
pub fn limits(given: &ArgMatches) -> Limits {
    Limits {
        max_documents: value(given, "max-docs").copied(),
        memory: memory(given),
        candidates: candidates(given),
        ..forgetting(given)
    }
}

/// The flag for the size of an index.
pub fn expect_arg() -> Arg {
    Arg::new("expect")
        .long("expect")
        .value_name("N")
        .value_parser(documents)
        .help("Number of documents to choose the tables of simhash or projection for, up to 4,294,967,294: 1000000, 20M, 1e9")
        .long_help(
            "Number of documents to choose the tables of simhash or projection for, up to 4,294,967,294: 1000000, 20M, 1e9. More documents take \
             longer keys, which take more tables and memory, as far as that is faster than comparing all of them. Every number finds the \
             same documents, unless keys become crowded. A new index keeps the number of its tables for later runs. In an existing one they \
             are made again for this run; queries keep those of the index. Without it, those of the index are kept, and those of a new one \
             are for 100,000 documents",
        )
}

/// The flags for what an index forgets.
pub fn forgetting_args() -> [Arg; 2] {
    let number = |name: &'static str, value: &'static str| Arg::new(name).long(name).value_name(value);
    [
        number("window", "N|DURATION")
            .value_parser(window)
            .help("Remember only the last N passed documents, or those of the last 30m, 12h, 7d, 2w"),
        number("expire", "DURATION")
            .value_parser(duration)
            .help("Forget a document this long after it was passed: 90s, 30m, 12h, 7d, 2w"),
    ]
}

/// The limits from these flags.
pub fn forgetting(given: &ArgMatches) -> Limits {
    let expire = value::<u64>(given, "expire").copied();
    let (window, age) = match value(given, "window") {
        Some(Window::Documents(documents)) => (Some(*documents), None),
        Some(Window::Seconds(seconds)) => (None, Some(*seconds)),
        None => (None, None),
    };
    let expire = expire.into_iter().chain(age).min();
    Limits { window, expire, ..Limits::default() }
}

/// `--max-candidates`.
pub fn candidates_arg() -> Arg {
    Arg::new("max-candidates")
        .long("max-candidates")
        .value_name("N")
        .value_parser(whole_number(1..=u32::MAX.into()))
        .help("Compare at most N documents that share a key with a new one, the latest [default: 16384]")
        .long_help(
            "Compare at most N of the documents that share a key with a new one: the latest (by default 16,384). Of a key that many \
             documents have, only those count whose features allow them to be similar, for algorithms that compare sets. Where \
             there are more, a near-duplicate may be missed; this is reported.",
        )
}

/// The value of `--max-candidates`.
pub fn candidates(given: &ArgMatches) -> Option<usize> {
    value(given, "max-candidates").map(|&most: &u64| usize::try_from(most).unwrap_or(usize::MAX))
}

/// The value of `--window`: a number of documents, or of seconds.
#[derive(Clone, Copy)]
enum Window {
    Documents(u64),
    Seconds(u64),
}

fn window(typed: &str) -> Result<Window, String> {
    match typed.parse() {
        Ok(0) => Err("expected 1 or more documents".into()),
        Ok(documents) => Ok(Window::Documents(documents)),
        Err(_) => {
            duration(typed).map(Window::Seconds).map_err(|_| format!("expected a number of documents, or {DURATION}"))
        }
    }
}
