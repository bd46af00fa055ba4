//! The arguments of `dedup contain`.

use super::input::{self, Input, OnError};
use super::run::{self, Run};
use super::tokens::{self, Tokens};
use super::values::{Defaulted, choice, chosen, is_typed, parse_share, path, typed, value, values, whole_number};
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use neardups::passages::{CONTAIN_PRESETS, ContainOptions, ShareOf};
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
    /// `--min-coverage`, if it was typed and is not 0.
    pub min_coverage: Option<Threshold>,
    /// `--min-coverage 0`.
    pub lists_all: bool,
    /// `--min-coverage-all`, if it was typed.
    pub min_coverage_all: Option<Threshold>,
    /// `--of`.
    pub of: ShareOf,
    /// `--output`.
    pub output: Option<PathBuf>,
    /// `--emit`; with `--output` kept records by default.
    pub emit: Emit,
    /// `--max-passages`.
    pub max_passages: Defaulted<u64>,
    /// `--on-error`.
    pub on_error: Defaulted<OnError>,
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
            min_coverage: value(given, "min-coverage").copied().flatten(),
            lists_all: matches!(value::<Option<Threshold>>(given, "min-coverage"), Some(None)),
            min_coverage_all: value(given, "min-coverage-all").copied(),
            of: chosen(given, "of", SIDES).expect("has a default"),
            emit: match path(given, "output") {
                Some(_) if !is_typed(given, "emit") => Emit::Kept,
                _ => chosen(given, "emit", EMITS).expect("has a default"),
            },
            output: path(given, "output"),
            max_passages: Defaulted {
                value: *value(given, "max-passages").expect("has a default"),
                is_typed: is_typed(given, "max-passages"),
            },
            on_error: input::on_error(given),
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
    Containments,
    Pairs,
    Verdicts,
    Kept,
}

impl Emit {
    /// What is typed for it.
    pub fn name(self) -> &'static str {
        EMITS.iter().find(|&&(_, emit, _)| emit == self).map_or("", |&(name, ..)| name)
    }
}

const EMITS: &[(&str, Emit, &str)] = &[
    (
        "containments",
        Emit::Containments,
        "the contained documents, each with the one that has most of it, and their passages",
    ),
    ("pairs", Emit::Pairs, "every document with each one that has enough of it"),
    ("verdicts", Emit::Verdicts, "for each record, whether to keep it, and what contains it"),
    ("kept", Emit::Kept, "the records that are kept, byte for byte (JSON lines, CSV, TSV, lines, WARC)"),
];

const SIDES: &[(&str, ShareOf, &str)] = &[
    ("document", ShareOf::Document, "of the document: it is left out if a reference document has S of it"),
    ("reference", ShareOf::Reference, "of a reference document: a document is left out if it has S of one"),
];

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
             with fewer words has no runs, and is not compared. See 'dedup help containing'.\n\n\
             With --emit verdicts or kept, the documents are kept that no kept one contains, longer ones first; with --against, those that the \
             reference does not contain. With --of reference, those are left out that have at least --min-coverage of a document of the \
             reference, such as a test question.",
        )
        .after_help(
            "Examples:\n  dedup contain mails.jsonl                          messages of which others quote half or more\n  \
             dedup contain mails.jsonl --shingle 4 --min-coverage 1 --emit kept > inclusive.jsonl\n  \
             dedup contain test.jsonl --against train/ --preset gpt-3\n  \
             dedup contain train/ --against test.jsonl --of reference --shingle 6 --min-coverage 1 --output clean/\n  \
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
                     take precedence; --min-coverage or --min-coverage-all replaces the coverage. They find copies, and no question with a \
                     changed word in every eight. See 'dedup help containing' for the \
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
        .arg(
            Arg::new("min-coverage")
                .long("min-coverage")
                .value_name("S")
                .value_parser(parse_share_or_none)
                .help(format!(
                    "Report documents of which at least this share stands in one other document; 0 reports all [default: {min_coverage}]"
                )),
        )
        .arg(share("min-coverage-all").help("Report also documents of which at least this share stands in all others together"))
        .arg(
            choice("of", "SIDE", SIDES.iter().map(|&(name, _, help)| (name, help)), "With --against: what the coverage is a share of")
                .default_value("document")
                .requires("against")
                .long_help(
                    "With --against, and --output, --emit kept or --emit verdicts: what the coverage is a share of. With 'reference', a document is left out \
                     if at least --min-coverage of the runs of one reference document stand in it: exactly the documents that 'dedup \
                     contain REF --against DOCUMENTS --emit pairs' names in 'in'.",
                ),
        )
        .arg(choice("emit", "KIND", EMITS.iter().map(|&(name, _, help)| (name, help)), "What to write").default_value("containments"))
        .arg(output_arg())
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
        .args(input::reference_args())
        .args([input::on_error_arg("keep"), input::rejects_arg(), input::max_bad_arg(), input::allow_empty_arg()])
        .args(run::args())
        .arg(run::stats_arg("Write counts and timings to a file as one JSON object"))
}

/// A share; `None` for 0.
fn parse_share_or_none(typed: &str) -> Result<Option<Threshold>, String> {
    if typed.parse() == Ok(0.0) {
        return Ok(None);
    }
    parse_share(typed).map(Some).map_err(|message| message.replacen("above 0 and at most", "from 0 to", 1))
}

fn output_arg() -> Arg {
    Arg::new("output")
        .short('o')
        .long("output")
        .value_name("DIR")
        .value_parser(value_parser!(PathBuf))
        .help("Write every file again below this folder, without the documents that are contained: new, empty, or that of an interrupted run")
        .long_help(
            "Write every file again below this folder (new, empty, or that of an interrupted run), at its path, in its format and \
             compression, Parquet too, without the documents that --emit kept leaves out. DIR/_dedup/removed.jsonl lists these, each with \
             what contains it. If a run is interrupted, the same command continues it.",
        )
}
