//! The arguments of `dedup passages`.

use super::input::{self, Input};
use super::run::{self, Run};
use super::tokens::{self, Tokens};
use super::values::{choice, chosen, path, switch, value, values, whole_number};
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use neardups::passages::PassageOptions;
use std::path::PathBuf;

/// The parsed arguments.
pub struct Arguments {
    /// Files and folders.
    pub paths: Vec<PathBuf>,
    /// `--against`.
    pub against: Vec<PathBuf>,
    /// `--exact`.
    pub exact: bool,
    /// `--min-words`.
    pub min_words: u64,
    /// `--emit`.
    pub emit: Emit,
    /// `--max-places`.
    pub max_places: u64,
    /// Tokenizer and preparation.
    pub tokens: Tokens,
    /// Options of the input.
    pub input: Input,
    /// Options of the run.
    pub run: Run,
    /// `--stats`.
    pub stats: Option<PathBuf>,
}

impl Arguments {
    /// Takes the values from what clap parsed.
    pub fn new(given: &ArgMatches) -> Self {
        let number = |name: &str| *value::<u64>(given, name).expect("has a default");
        Arguments {
            paths: input::paths(given),
            against: values(given, "against"),
            exact: switch(given, "exact"),
            min_words: number("min-words"),
            emit: chosen(given, "emit", EMITS).expect("has a default"),
            max_places: number("max-places"),
            tokens: Tokens::new(given),
            input: Input::new(given),
            run: Run::new(given),
            stats: path(given, "stats"),
        }
    }
}

/// Values of `--emit`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Emit {
    Passages,
    Spans,
}

const EMITS: &[(&str, Emit, &str)] = &[
    ("passages", Emit::Passages, "every passage, with its places and its text"),
    ("spans", Emit::Spans, "for each document, the ranges of bytes that are in a passage"),
];

/// `dedup passages`.
pub fn command() -> Command {
    let defaults = PassageOptions::default();
    Command::new("passages")
        .about("Finds the passages that repeat in a corpus, between documents and within one")
        .long_about(
            "Finds the passages that repeat in a corpus, between documents and within one, and prints them as JSON lines.\n\n\
             With --exact, a passage is a run of words that stands at two or more places, and that can be extended at neither end at \
             all of them: none is missed. Punctuation and case do not count (see 'dedup help tokens'). Passages with small edits are not found \
             yet: without --exact the command ends with an error.",
        )
        .after_help(
            "Examples:\n  dedup passages ./corpus --exact\n  dedup passages crawl.jsonl.gz --exact --min-words 100 --text-field body\n  \
             dedup passages train.jsonl --against test.jsonl --exact --min-words 13 --emit spans",
        )
        .arg(input::paths_arg())
        .arg(
            Arg::new("exact")
                .long("exact")
                .action(ArgAction::SetTrue)
                .help("Find runs of the same words; required, because passages with edits are not found yet"),
        )
        .arg(
            Arg::new("min-words")
                .long("min-words")
                .value_name("N")
                .value_parser(whole_number(1..=10_000))
                .default_value(defaults.min_words.to_string())
                .help("Minimum length of a passage, in words; a Han or Kana character counts as half a word"),
        )
        .arg(choice("emit", "KIND", EMITS.iter().map(|&(name, _, help)| (name, help)), "What to write").default_value("passages"))
        .arg(
            Arg::new("max-places")
                .long("max-places")
                .value_name("N")
                .value_parser(whole_number(1..=1_000_000))
                .default_value(defaults.max_places.to_string())
                .help("Places of a passage that are listed: the first ones; its count has all"),
        )
        .arg(
            Arg::new("against")
                .long("against")
                .value_name("REF")
                .value_parser(value_parser!(PathBuf))
                .help("Find only passages that stand in this reference and in the documents; may be repeated")
                .action(ArgAction::Append)
                .long_help(
                    "Find only passages that stand in this reference (a file or folder) and in the documents. The reference comes first in \
                     input order. --emit spans describes only the documents. May be repeated.",
                ),
        )
        .args(tokens::args())
        .args(input::args())
        .args([input::rejects_arg(), input::allow_empty_arg()])
        .args(run::args())
        .arg(run::stats_arg("Write counts and timings to a file as one JSON object"))
}
