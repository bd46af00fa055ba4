//! The arguments of `dedup passages`.

use super::input::{self, Input, OnError};
use super::run::{self, Run};
use super::tokens::{self, Tokens};
use super::values::{
    Defaulted, choice, chosen, documents_up_to, is_typed, parse_share, path, switch, value, values, whole_number,
};
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use neardups::passages::{CutUnit, KeptPlaces, PassageOptions};
use neardups::similarity::Threshold;
use std::path::PathBuf;

/// The parsed arguments.
pub struct Arguments {
    /// Files and folders.
    pub paths: Vec<PathBuf>,
    /// `--against`.
    pub against: Vec<PathBuf>,
    /// `--exact`.
    pub exact: bool,
    /// `--similarity`.
    pub similarity: Defaulted<Threshold>,
    /// `--min-words`.
    pub min_words: u64,
    /// `--min-documents`.
    pub min_documents: u64,
    /// `--no-overlaps`.
    pub no_overlaps: bool,
    /// `--emit`.
    pub emit: Emit,
    /// Whether `--emit` was typed.
    pub is_emit_typed: bool,
    /// `--output`.
    pub output: Option<PathBuf>,
    /// `--keep`, if it was typed.
    pub keep: Option<KeptPlaces>,
    /// `--unit`, if it was typed.
    pub unit: Option<Unit>,
    /// `--max-cut`.
    pub max_cut: Option<Threshold>,
    /// `--min-coverage`.
    pub min_coverage: Option<Threshold>,
    /// `--on-error`.
    pub on_error: Defaulted<OnError>,
    /// `--max-places`.
    pub max_places: Defaulted<u64>,
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
            similarity: Defaulted {
                value: *value(given, "similarity").expect("has a default"),
                is_typed: is_typed(given, "similarity"),
            },
            min_words: number("min-words"),
            min_documents: number("min-documents"),
            no_overlaps: switch(given, "no-overlaps"),
            emit: chosen(given, "emit", EMITS).expect("has a default"),
            is_emit_typed: is_typed(given, "emit"),
            output: path(given, "output"),
            keep: chosen(given, "keep", KEPT),
            unit: chosen(given, "unit", UNITS),
            max_cut: value(given, "max-cut").copied(),
            min_coverage: value(given, "min-coverage").copied(),
            on_error: input::on_error(given),
            max_places: Defaulted { value: number("max-places"), is_typed: is_typed(given, "max-places") },
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
    Pairs,
    Spans,
    Verdicts,
    Kept,
}

/// Values of `--unit`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// A part of the text of a document.
    Part(CutUnit),
    /// The whole document.
    Document,
}

const EMITS: &[(&str, Emit, &str)] = &[
    ("passages", Emit::Passages, "every passage, with its places and its text"),
    (
        "pairs",
        Emit::Pairs,
        "pairs of documents with the passages that they share: each with the first one that has them",
    ),
    ("spans", Emit::Spans, "for each document, the ranges of bytes that are in a passage"),
    (
        "verdicts",
        Emit::Verdicts,
        "with --against, whether to keep each document: not if it has a passage of the reference, which is named",
    ),
    (
        "kept",
        Emit::Kept,
        "the records themselves, with each passage cut but for its first place, or without those that --unit document leaves out",
    ),
];

const KEPT: &[(&str, KeptPlaces, &str)] = &[
    ("first", KeptPlaces::First, "the first place of each passage stays"),
    ("none", KeptPlaces::None, "no place stays"),
];

const UNITS: &[(&str, Unit, &str)] = &[
    ("words", Unit::Part(CutUnit::Words), "the words of the passage"),
    ("paragraph", Unit::Part(CutUnit::Paragraph), "whole paragraphs that lie within a passage"),
    ("line", Unit::Part(CutUnit::Line), "whole lines that lie within a passage"),
    ("document", Unit::Document, "with --against: the whole document, with --exact or without"),
];

/// `dedup passages`.
pub fn command() -> Command {
    let defaults = PassageOptions::default();
    Command::new("passages")
        .about("Finds the passages that repeat in a corpus, between documents and within one")
        .long_about(
            "Finds the passages that repeat in a corpus, between documents and within one, and prints them as JSON lines.\n\n\
             A passage is a stretch of text with later ones that are similar to it: the same words, but for small edits. Punctuation and case \
             do not count (see 'dedup help tokens'). With --exact, it is a run of the same words that stands at two or more places, and \
             that can be extended at neither end at all of them: none is missed.\n\n\
             With --exact and --output DIR, or --emit kept for standard output, the corpus is written again with every place of each passage cut but \
             for the first one: JSON lines, CSV, TSV, lines, text and, with --output, Parquet. HTML and web archives then stay whole (see 'dedup \
             help repeats'). DIR/_dedup/removed.jsonl has a line for each cut, with the place where the same words stay.\n\n\
             With --against REF and --unit document, with --exact or without, whole documents are left out that have a passage of REF, such as \
             pages of training data with an edited test question. --emit verdicts lists them, and writes nothing else.",
        )
        .after_help(
            "Examples:\n  dedup passages ./corpus\n  dedup passages crawl.jsonl.gz --exact --min-words 100 --text-field body\n  \
             dedup passages train.jsonl --against test.jsonl --exact --min-words 13 --emit spans\n  \
             dedup passages shards/ --exact --output cut/\n  \
             dedup passages pages.jsonl --exact --min-words 5 --unit paragraph --emit kept > unique.jsonl\n  \
             dedup passages pages.jsonl --exact --min-words 8 --min-documents 10 --no-overlaps\n  \
             dedup passages train/ --against test.jsonl --min-words 15 --similarity 0.7 --unit document --output train-clean/",
        )
        .arg(input::paths_arg())
        .arg(
            Arg::new("exact")
                .long("exact")
                .action(ArgAction::SetTrue)
                .help("Find runs of the same words, all of them; required for what is cut, but not with --unit document"),
        )
        .arg(
            Arg::new("similarity")
                .long("similarity")
                .value_name("S")
                .value_parser(parse_share)
                .default_value("0.8")
                .help("Minimum similarity of each place of a passage to the first one: the share of their words that match"),
        )
        .arg(
            Arg::new("min-words")
                .long("min-words")
                .value_name("N")
                .value_parser(whole_number(1..=10_000))
                .default_value(defaults.min_words.to_string())
                .help("Minimum length of a passage, in words; without --exact, words that differ count twice; a Han or Kana character counts as half a word"),
        )
        .arg(
            Arg::new("min-documents")
                .long("min-documents")
                .value_name("N")
                .value_parser(documents_up_to(u32::MAX.into()))
                .default_value(defaults.min_documents.to_string())
                .help("Minimum number of different documents that a passage is in; with 1 it may repeat within one")
                .long_help(
                    "Minimum number of different documents that a passage is in, over all of its places; with 1 it may repeat within one. \
                     Documents of --against count too. A passage in fewer documents is neither written nor cut, and the summary counts it.",
                ),
        )
        .arg(
            Arg::new("no-overlaps")
                .long("no-overlaps")
                .action(ArgAction::SetTrue)
                .help("Leave out passages that are mostly in longer ones, such as the same text with some words more or less")
                .long_help(
                    "Leave out passages that are mostly in longer ones, such as the same text with some words more or less: those of which at \
                     least half of the words are in longer passages that are listed. The summary counts them. With \
                     --min-documents, only passages in so many documents count. It has an effect only on --emit passages.",
                ),
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
        .args(cut_args())
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
        .args(input::reference_args())
        .args([input::on_error_arg("keep"), input::rejects_arg(), input::max_bad_arg(), input::allow_empty_arg()])
        .args(run::args())
        .arg(run::stats_arg("Write counts and timings to a file as one JSON object"))
}

/// What is cut, and where the rest is written.
fn cut_args() -> [Arg; 5] {
    [
        Arg::new("output")
            .short('o')
            .long("output")
            .value_name("DIR")
            .value_parser(value_parser!(PathBuf))
            .help("Write every file again below this folder, without what is cut: new, empty, or that of an interrupted run")
            .long_help(
                "Write every file again below this folder (new, empty, or that of an interrupted run), at its path, in its format and \
                 compression, with each passage cut but for its first place, or without the documents that --unit document leaves out. What is \
                 not cut is byte for byte that of the input. A document of which no word is left is left out, too. HTML and web \
                 archives stay whole, which is a failure if something was to be cut out (--unit document leaves them out). DIR/_dedup/removed.jsonl lists the cuts, or these documents. If a run is interrupted, the same command continues it.",
            ),
        choice("keep", "PLACES", KEPT.iter().map(|&(name, _, help)| (name, help)), "Places of a passage that stay [default: first in the order of the input]"),
        choice("unit", "UNIT", UNITS.iter().map(|&(name, _, help)| (name, help)), "What is cut of a passage [default: words; for --emit verdicts: document]"),
        Arg::new("min-coverage")
            .long("min-coverage")
            .value_name("S")
            .value_parser(parse_share)
            .help("With --unit document, leave out only documents of which at least this share is in passages of the reference")
            .long_help(
                "With --unit document or --emit verdicts, leave out only documents of which at least this share of the words is in passages of \
                 the reference, all passages together. Without it, one passage is enough. A Han or Kana character counts as a word.",
            ),
        Arg::new("max-cut")
            .long("max-cut")
            .value_name("S")
            .value_parser(parse_share)
            .help("Leave out documents that would lose more than this share of their words, but none that holds a first place")
            .long_help(
                "Leave out documents that would lose more than this share of their words, but none that holds the first place of something \
                 that is cut. A document of which no word is left is always left out.",
            ),
    ]
}
