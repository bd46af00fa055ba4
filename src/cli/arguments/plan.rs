//! The arguments of `dedup plan`.

use super::method::{self, Method};
use super::tokens;
use super::values::{documents, switch, value, whole_number};
use clap::{Arg, ArgAction, ArgMatches, Command};

/// The parsed arguments.
pub struct Arguments {
    /// Algorithm, preset, parameters and tokens.
    pub method: Method,
    /// `--documents`.
    pub documents: u64,
    /// `--tokens`.
    pub tokens: u64,
    /// `--json`.
    pub json: bool,
}

impl Arguments {
    /// Takes the values from what clap parsed.
    pub fn new(given: &ArgMatches) -> Self {
        let number = |name: &str| *value(given, name).expect("has a default");
        Arguments {
            method: Method::new(given),
            documents: number("documents"),
            tokens: number("tokens"),
            json: switch(given, "json"),
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
             batch and for a query. Reads no documents and runs nothing.",
        )
        .after_help("Examples:\n  dedup plan --threshold 0.9 --recall 0.999\n  dedup plan --algo simhash --distance 6 --documents 100000000")
        .arg(method::algorithm())
        .arg(method::preset())
        .args(tokens::args())
        .args(method::parameters())
        .arg(
            Arg::new("documents")
                .long("documents")
                .value_name("N")
                .value_parser(documents)
                .default_value("1000000")
                .help("Number of documents to plan for, up to 1e12: 1000000, 1,000,000, 20M, 1e9, 2^34"),
        )
        .arg(
            Arg::new("tokens")
                .long("tokens")
                .value_name("N")
                .value_parser(whole_number(1..=u32::MAX.into()))
                .default_value("300")
                .help("Median length of the documents in words; where tokens are characters, a word counts as 6"),
        )
        .arg(Arg::new("json").long("json").action(ArgAction::SetTrue).help("Print one JSON object instead of a table"))
}
