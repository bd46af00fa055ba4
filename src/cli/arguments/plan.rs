//! The arguments of `dedup plan`.

use super::input::{self, Input};
use super::method::{self, Method};
use super::run::{self, Run};
use super::tokens;
use super::values::{documents, switch, value, whole_number};
use clap::{Arg, ArgAction, ArgMatches, Command};
use std::path::PathBuf;

/// The parsed arguments.
pub struct Arguments {
    /// Algorithm, preset, parameters and tokens.
    pub method: Method,
    /// `--documents`; without it, as many as are read.
    pub documents: Option<u64>,
    /// `--tokens`.
    pub tokens: u64,
    /// Files and folders; empty for a plan without documents.
    pub paths: Vec<PathBuf>,
    /// `--sample`.
    pub sample: Option<u64>,
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
        let number = |name: &str| *value(given, name).expect("has a default");
        Arguments {
            method: Method::new(given),
            documents: value(given, "documents").copied(),
            tokens: number("tokens"),
            paths: input::paths(given),
            sample: value(given, "sample").copied(),
            json: switch(given, "json"),
            input: Input::new(given),
            run: Run::new(given),
        }
    }
}

/// `dedup plan`.
pub fn command() -> Command {
    Command::new("plan")
        .about("Shows what the options resolve to, what they find and what they cost")
        .long_about(
            "Shows what the options resolve to: every parameter with its reason, the probability that a pair is found at each \
             similarity, and the cost for a number of documents; for SimHash and random projection that of each layout of tables, for a \
             batch and for a query. Without documents, it reads nothing and runs nothing.\n\n\
             With files or folders, it reads them: how many documents they have and how long these are, what a scan of them takes (or of \
             more documents like these, with --documents), and how similar they are. For that, a sample of documents is compared with all of them; every pair at 0.3 or more of these is found. \
             The numbers of pairs, and of documents that a threshold would remove, are estimates with an interval of 95 %; they are exact \
             if the sample has all documents.",
        )
        .after_help("Examples:\n  dedup plan --threshold 0.9 --recall 0.999\n  dedup plan --algo simhash --distance 6 --documents 100000000\n  dedup plan corpus.jsonl.gz --text-field body --sample 5000\n  dedup plan sample.jsonl --documents 50M --memory 8G")
        .arg(input::paths_arg().help("Files or folders to read; - is standard input. Without any, nothing is read"))
        .arg(method::algorithm())
        .arg(method::preset())
        .args(tokens::args())
        .args(method::parameters())
        .arg(
            Arg::new("documents")
                .long("documents")
                .value_name("N")
                .value_parser(documents)
                .help(
                    "Number of documents to plan for, up to 1e12: 1000000, 1,000,000, 20M, 1e9, 2^34. With files or folders: so many \
                     documents like these [default: as many as are read; without files 1000000]",
                ),
        )
        .arg(
            Arg::new("tokens")
                .long("tokens")
                .value_name("N")
                .value_parser(whole_number(1..=u32::MAX.into()))
                .default_value("300")
                .conflicts_with("path")
                .help("Median length of the documents in words; where tokens are characters, a word counts as 6"),
        )
        .arg(
            Arg::new("sample")
                .long("sample")
                .value_name("N")
                .value_parser(documents)
                .requires("path")
                .help(
                    "Number of documents that are compared with all documents: 1000, 10,000, 1M [default: 1000, or all of at most 2000]",
                ),
        )
        .arg(Arg::new("json").long("json").action(ArgAction::SetTrue).help("Print one JSON object instead of a table"))
        .args(input::args())
        .args([input::max_bad_arg().requires("path"), input::allow_empty_arg()])
        .args(run::some_args(&["threads", "memory", "temp-dir", "seed", "quiet"]))
}
