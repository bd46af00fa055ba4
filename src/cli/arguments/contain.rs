//! The arguments of `dedup contain`.

use super::input::{self, Input};
use super::run::{self, Run};
use super::tokens::{self, Tokens};
use super::values::{choice, parse_share, path, typed, value, values, whole_number};
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use neardups::passages::{CONTAIN_PRESETS, ContainOptions};
use neardups::similarity::Threshold;
use std::path::PathBuf;

/// The parsed arguments. What was not typed is the default, or that of the preset.
pub struct Arguments {
    /// Files and folders.
    pub paths: Vec<PathBuf>,
    /// `--against`.
    pub against: Vec<PathBuf>,
    /// `--preset`.
    pub preset: Option<String>,
    /// `--shingle`, if it was typed.
    pub shingle: Option<u64>,
    /// `--min-coverage`, if it was typed.
    pub min_coverage: Option<Threshold>,
    /// `--min-coverage-all`, if it was typed.
    pub min_coverage_all: Option<Threshold>,
    /// `--max-passages`.
    pub max_passages: u64,
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
        Arguments {
            paths: input::paths(given),
            against: values(given, "against"),
            preset: typed(given, "preset"),
            shingle: value(given, "shingle").copied(),
            min_coverage: value(given, "min-coverage").copied(),
            min_coverage_all: value(given, "min-coverage-all").copied(),
            max_passages: *value::<u64>(given, "max-passages").expect("has a default"),
            tokens: Tokens::new(given),
            input: Input::new(given),
            run: Run::new(given),
            stats: path(given, "stats"),
        }
    }
}

/// `dedup contain`. Long because it is one list of arguments with their help.
pub fn command() -> Command {
    let ContainOptions { shingle, min_coverage, max_passages, .. } = ContainOptions::default();
    let share = |name: &'static str| Arg::new(name).long(name).value_name("S").value_parser(parse_share);
    let presets = CONTAIN_PRESETS.iter().map(|preset| (preset.name, preset.summary));
    Command::new("contain")
        .about("States how much of each document stands in others: in the best one, and in all together")
        .long_about(
            "States how much of each document stands in others, and prints the documents that are mostly contained in another one as JSON \
             lines, with the passages that both share.\n\n\
             The coverage of a document is the share of its distinct runs of --shingle words that stand in the other document, at \
             any place: it is exact. Punctuation and case do not count (see 'dedup help tokens'). A Han or Kana character is a word. A document \
             with fewer words has no runs, and is not compared. See 'dedup help containing'.",
        )
        .after_help(
            "Examples:\n  dedup contain mails.jsonl                          messages that others quote in full\n  \
             dedup contain test.jsonl --against train/ --preset gpt-3\n  \
             dedup contain answers/ --against sources/ --shingle 3 --min-coverage 0.2",
        )
        .arg(input::paths_arg())
        .arg(
            Arg::new("against")
                .long("against")
                .value_name("REF")
                .value_parser(value_parser!(PathBuf))
                .help("Look for the documents in this reference, and not among themselves; may be repeated")
                .action(ArgAction::Append)
                .long_help(
                    "Look for the documents in this reference (a file or folder), and not among themselves. It may be much larger than the \
                     documents: of its runs, only those that a document has take memory. May be repeated.",
                ),
        )
        .arg(
            choice("preset", "NAME", presets, "Length of runs and coverage of a published report, for test data in training data")
                .requires("against")
                .long_help(
                    "Length of runs and coverage of a published report on test data in training data, which --against names. Other flags \
                     take precedence; --min-coverage or --min-coverage-all replaces the coverage. See 'dedup help containing' for the \
                     sources and the differences.",
                ),
        )
        .arg(
            Arg::new("shingle")
                .long("shingle")
                .value_name("N")
                .value_parser(whole_number(1..=1000))
                .help(format!("Length of a run in words; a Han or Kana character is a word [default: {shingle}]")),
        )
        .arg(share("min-coverage").help(format!(
            "Report documents of which at least this share stands in one other document [default: {min_coverage}]"
        )))
        .arg(share("min-coverage-all").help("Report also documents of which at least this share stands in all others together"))
        .arg(
            Arg::new("max-passages")
                .long("max-passages")
                .value_name("N")
                .value_parser(whole_number(0..=100_000))
                .default_value(max_passages.to_string())
                .help("Passages of a document that are listed: the first ones; left_out counts the others"),
        )
        .args(tokens::args())
        .args(input::args())
        .args([input::rejects_arg(), input::allow_empty_arg()])
        .args(run::args())
        .arg(run::stats_arg("Write counts and timings to a file as one JSON object"))
}
