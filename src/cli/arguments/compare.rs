//! The arguments of `dedup compare`.

use super::input::{self, Input};
use super::method::{self, Method};
use super::run::{self, Run};
use super::tokens;
use super::values::{path, switch, value, whole_number};
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use std::path::PathBuf;

/// The parsed arguments.
pub struct Arguments {
    /// The two files or records, as typed, or with `--in` two ids.
    pub sides: [PathBuf; 2],
    /// `--in`.
    pub within: Vec<PathBuf>,
    /// Algorithm, parameters and tokens.
    pub method: Method,
    /// `--min-run`.
    pub min_run: usize,
    /// `--max-differences`, if it was typed; `usize::MAX` for all.
    pub max_differences: Option<usize>,
    /// `--all`.
    pub all: bool,
    /// `--json`.
    pub json: bool,
    /// Options of the input.
    pub input: Input,
    /// Options of the run.
    pub run: Run,
}

impl Arguments {
    /// Takes the values from what clap parsed.
    pub fn new(given: &ArgMatches) -> Self {
        Arguments {
            sides: ["A", "B"].map(|name| path(given, name).expect("required")),
            within: given.get_many("in").into_iter().flatten().cloned().collect(),
            method: Method::new(given),
            min_run: *value::<u64>(given, "min-run").expect("has a default") as usize,
            max_differences: value(given, "max-differences").copied(),
            all: switch(given, "all"),
            json: switch(given, "json"),
            input: Input::new(given),
            run: Run::new(given),
        }
    }
}

/// Parses a number of differences: `usize::MAX` for all.
fn max_differences(typed: &str) -> Result<usize, String> {
    match typed {
        "all" => Ok(usize::MAX),
        _ => typed
            .parse()
            .ok()
            .filter(|&number| number > 0)
            .ok_or_else(|| "expected a whole number from 1, or all".into()),
    }
}

/// `dedup compare`.
pub fn command() -> Command {
    let file = |name: &'static str, help: &'static str| {
        Arg::new(name).value_name(name).required(true).value_parser(value_parser!(PathBuf)).help(help)
    };
    // Two files are named and kept in memory: flags about folders, threads and memory would have no effect.
    let input_args =
        input::args().into_iter().filter(|arg| !matches!(arg.get_id().as_str(), "hidden" | "include" | "exclude"));
    Command::new("compare")
        .about("Compares two documents: the result of each algorithm, the passages they share, and the words that differ")
        .long_about(
            "Compares two documents. First whether a scan of the two would report them, by each algorithm: the similarity by its \
             measure, and if they are not reported, why. Then the passages that both share, with lines and bytes, and the words in \
             which they differ. With --all also the \
             features and fingerprints, and how much of each document the other contains.\n\n\
             A document is a file in any encoding, compression and format that dedup scan reads, or a record of one: FILE:RECORD, with \
             the line, the row of Parquet, or the number of the record of an archive, as in ids and messages. A file whose name ends so \
             is taken as a file. With --in PATH, A and B are the ids of two documents there.\n\n\
             Parameters that are not given, such as --shingle, follow from the median length of documents, as in a scan: with --in of all \
             documents of PATH, as a scan of PATH takes it; otherwise of A and B alone. The verdict names the length of shingles.",
        )
        .after_help(
            "Examples:\n  dedup compare old.txt new.txt\n  dedup compare old.txt new.txt --algo minhash --threshold 0.6\n  \
             dedup compare corpus.jsonl:17 corpus.jsonl:912 --text-field body\n  \
             dedup compare --in shards/ doc-17 doc-912\n  \
             dedup compare old.txt new.txt --max-differences all\n  \
             curl -s https://example.com/page.txt | dedup compare - copy.txt --json",
        )
        .arg(file("A", "A file, or a record of it as FILE:RECORD; - is standard input"))
        .arg(file("B", "The other one"))
        .arg(
            Arg::new("in")
                .long("in")
                .value_name("PATH")
                .action(ArgAction::Append)
                .value_parser(value_parser!(PathBuf))
                .help("Take A and B as the ids of documents in this file or folder; may be repeated")
                .long_help(
                    "Take A and B as the ids of documents in this file or folder, as in the results of dedup scan; may be repeated, and - is \
                     standard input. All of it is read, to see whether an id is that of several documents, and to measure their median length, from \
                     which the length of shingles follows. Algorithms that need the frequencies of terms or features in a collection, such as \
                     imatch, count them there, in further readings.",
                ),
        )
        .arg(
            method::algorithm_or_all()
                .default_value(method::ALL)
                .help("The algorithm: all of them, or one")
                .long_help(
                    "The algorithm: all of them, or one. With all, a parameter applies to every algorithm that has it.",
                ),
        )
        .arg(
            Arg::new("min-run")
                .long("min-run")
                .value_name("N")
                .value_parser(whole_number(1..=1_000_000))
                .default_value("10")
                .help("Minimum length of a shared passage, in tokens")
                .long_help(
                    "Minimum length of a shared passage, in tokens. Every run of at least this many equal tokens is found and extended as far as \
                     possible. If a run occurs more than 32 times in a document, some of its places are skipped, with a note.",
                ),
        )
        .arg(
            Arg::new("max-differences")
                .long("max-differences")
                .value_name("N|all")
                .value_parser(max_differences)
                .help("List the first N differences, or all, with their places and all of their words")
                .long_help(
                    "List the first N differences, or all, with their places and all of their words, in texts of any length. Without it, about \
                     1,000 bytes of each document are shown, of differences in the first MiB, and long ones are shortened. It applies to \
                     --json too.",
                ),
        )
        .arg(
            Arg::new("all")
                .long("all")
                .action(ArgAction::SetTrue)
                .help("Also print features, fingerprints and containment; --json always has them"),
        )
        .arg(Arg::new("json").long("json").action(ArgAction::SetTrue).help("Print one JSON object instead of text"))
        .arg(method::preset())
        .args(tokens::args())
        .args(method::parameters())
        .args(input_args)
        .args(run::some_args(&["seed", "quiet"]))
}
