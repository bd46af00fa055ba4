//! The arguments of `dedup scan`.

use super::input::{self, Input, OnError};
use super::keep::{self, Keep};
use super::method::{self, Method};
use super::run::{self, Run};
use super::tokens;
use super::values::{Defaulted, choice, chosen, path, switch, value, values, whole_number};
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use neardups::passages::CONTAINMENT;
use std::path::PathBuf;

/// The parsed arguments.
pub struct Arguments {
    /// Files and folders.
    pub paths: Vec<PathBuf>,
    /// `--against`.
    pub against: Vec<PathBuf>,
    /// Algorithm, preset, parameters and tokens.
    pub method: Method,
    /// `--measure`, if it was typed.
    pub measure: Option<Measure>,
    /// `--emit`, or `--print0`.
    pub emit: Emit,
    /// `--keep` and `--prefer`.
    pub keep: Keep,
    /// `--host-depth`, if it was typed.
    pub host_depth: Option<u64>,
    /// Options of the input.
    pub input: Input,
    /// `--on-error`.
    pub on_error: Defaulted<OnError>,
    /// Options of the run.
    pub run: Run,
    /// The file of `--report`.
    pub report: Option<PathBuf>,
    /// `--stats`.
    pub stats: Option<PathBuf>,
}

impl Arguments {
    /// Takes the values from what clap parsed.
    pub fn new(given: &ArgMatches) -> Self {
        Arguments {
            paths: input::paths(given),
            against: values(given, "against"),
            method: Method::new(given),
            measure: chosen(given, "measure", MEASURES),
            emit: match switch(given, "print0") {
                true => Emit::Paths,
                false => chosen(given, "emit", EMITS).expect("has a default"),
            },
            keep: Keep::new(given),
            host_depth: value(given, "host-depth").copied(),
            input: Input::new(given),
            on_error: input::on_error(given),
            run: Run::new(given),
            report: path(given, "report"),
            stats: path(given, "stats"),
        }
    }
}

/// A measure of no algorithm.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Measure {
    Containment,
}

const MEASURES: &[(&str, Measure, &str)] =
    &[(CONTAINMENT, Measure::Containment, "how much of the document with fewer shingles stands in the other one")];

/// Values of `--emit`, and what `--print0` writes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Emit {
    Pairs,
    Clusters,
    Verdicts,
    Kept,
    Fingerprints,
    Hosts,
    Paths,
}

impl Emit {
    /// What is typed for it.
    pub fn name(self) -> &'static str {
        EMITS.iter().find(|&&(_, emit, _)| emit == self).map_or("", |&(name, ..)| name)
    }
}

const EMITS: &[(&str, Emit, &str)] = &[
    ("pairs", Emit::Pairs, "every pair at or above the threshold"),
    ("clusters", Emit::Clusters, "the groups connected by pairs, and which members to keep"),
    ("verdicts", Emit::Verdicts, "for each record, whether to keep it, and what it is a duplicate of"),
    ("kept", Emit::Kept, "the records that are kept, byte for byte (JSON lines, CSV, TSV, lines, WARC)"),
    ("fingerprints", Emit::Fingerprints, "the fingerprint of each document, to store and compare elsewhere"),
    ("hosts", Emit::Hosts, "which hosts or folders repeat which, and how much of each"),
];

/// `dedup scan`.
pub fn command() -> Command {
    Command::new("scan")
        .about("Finds the near-duplicates among documents")
        .long_about(
            "Finds the near-duplicates among documents, and prints them as JSON lines.\n\n\
             A path is a file, a folder (every file in it, in order of name) or - for standard input. A file is one document, unless \
             it has a format with many records: .jsonl, .ndjson, .csv, .tsv, .warc, .wet, .parquet, or --format. Files may be compressed with gzip, \
             zstd, bzip2 or xz. Hidden files in folders are not read; binary files are skipped and counted.",
        )
        .after_help(
            "Examples:\n  dedup scan ./corpus\n  dedup scan ./corpus --algo simhash --distance 6\n  \
             dedup scan crawl.jsonl.gz --text-field body --id-field url --emit clusters\n  \
             cat crawl.jsonl | dedup scan - --emit verdicts --keep longest\n  \
             dedup scan new.jsonl --against old.jsonl\n  zcat crawl.jsonl.gz | dedup scan - --emit kept > unique.jsonl\n  \
             dedup scan notes/ --print0 | xargs -0 ls -l\n\n\
             dedup plan with the same options shows what they find and cost.",
        )
        .arg(input::paths_arg())
        .arg(method::algorithm())
        .arg(method::preset())
        .arg(
            choice("measure", "NAME", MEASURES.iter().map(|&(name, _, help)| (name, help)), "Compare by another measure than that of an algorithm")
                .long_help(
                    "Compare documents by another measure than that of an algorithm. containment is the share of the distinct shingles of one \
                     document that stand in the other one, for the document that has fewer of them: 1 if one is a part of the other. All \
                     pairs at or above --threshold (0.8) are found, exactly. --shingle is 5 tokens; documents with fewer are not compared. \
                     Only pairs are written. dedup contain states more: passages, the shares of both, what to keep, and a reference.",
                ),
        )
        .arg(choice("emit", "KIND", EMITS.iter().map(|&(name, _, help)| (name, help)), "What to write").default_value("pairs"))
        .arg(
            Arg::new("print0")
                .long("print0")
                .action(ArgAction::SetTrue)
                .conflicts_with("emit")
                .help("Write the paths of the files that are not kept, each followed by a NUL byte, for xargs -0")
                .long_help(
                    "Write the paths of the files that are not kept, each followed by a NUL byte, instead of records: for xargs -0 and other \
                     programs that read such lists. Each file must be one document. The paths are the files that dedup clean --move-duplicates \
                     moves: files that are read through a symbolic link are not listed.",
                ),
        )
        .args(keep::args("Which of several near-duplicates is kept, for clusters, verdicts and kept records"))
        .arg(
            Arg::new("against")
                .long("against")
                .value_name("REF")
                .value_parser(value_parser!(PathBuf))
                .help("Report only pairs of a document with one of this reference; may be repeated")
                .action(ArgAction::Append)
                .long_help(
                    "Report only pairs of a document with one of this reference (a file or folder). The reference comes first in \
                     input order, so its document is always the a of a pair; all of it is kept. Documents are not compared with each other. \
                     The same id may occur on both sides. A file that is also an input is read as the reference, unless the input names it more \
                     closely. A reference from which no document is read is an error, unless --allow-empty is given. May be repeated.",
                ),
        )
        .arg(
            Arg::new("host-depth")
                .long("host-depth")
                .value_name("N")
                .value_parser(whole_number(0..=100))
                .help("Folders of a path that belong to the host, for --emit hosts [default: 0]")
                .long_help(
                    "Folders of a path that belong to the host, for --emit hosts. The host of a document is that of its id, if this is a URL \
                     (--id-field url), with up to N folders of the path. Otherwise it is the first N folders of the path; with 0, all of them.",
                ),
        )
        .args(tokens::args())
        .args(method::parameters())
        .args(input::args())
        .args(input::reference_args())
        .args([input::on_error_arg("keep"), input::rejects_arg(), input::max_bad_arg(), input::allow_empty_arg()])
        .args(run::args())
        .arg(keep::report_arg())
        .arg(run::stats_arg("Write counts, resolved parameters, recall and timings to a file as one JSON object"))
}
