//! The arguments of `dedup eval`.

use super::input::{self, Input};
use super::method::{self, Method};
use super::run::{self, Run};
use super::tokens;
use super::values::{file, path, switch};
use clap::{Arg, ArgAction, ArgMatches, Command};
use std::path::PathBuf;

/// What was typed.
pub struct Arguments {
    /// Files and folders.
    pub paths: Vec<PathBuf>,
    /// `--truth`.
    pub truth: PathBuf,
    /// `--ignore`.
    pub ignore: Option<PathBuf>,
    /// How documents are compared.
    pub method: Method,
    /// `--sweep`.
    pub sweep: bool,
    /// `--plot`.
    pub plot: Option<PathBuf>,
    /// How documents are read.
    pub input: Input,
    /// How the run goes.
    pub run: Run,
}

impl Arguments {
    /// What clap parsed.
    pub fn new(given: &ArgMatches) -> Self {
        Arguments {
            paths: input::paths(given),
            truth: path(given, "truth").expect("required"),
            ignore: path(given, "ignore"),
            method: Method::new(given),
            sweep: switch(given, "sweep"),
            plot: path(given, "plot"),
            input: Input::new(given),
            run: Run::new(given),
        }
    }
}

/// `dedup eval`.
pub fn command() -> Command {
    Command::new("eval")
        .about("Measures what is found against labelled pairs")
        .long_about(
            "Scans documents and measures what is found against labelled pairs: precision, recall, F1, and of the \
             clusters the adjusted Rand index and the part of the documents that are clustered with exactly those that they should \
             be. Labelled pairs are counted by their exact similarity too: how many of them were found, and how many should be by \
             the curve that dedup plan shows. One JSON object for each algorithm goes to standard output, a table to standard error.\n\n\
             Labels are JSON lines, compressed or not: {\"a\":ID,\"b\":ID} for a pair, {\"cluster\":[ID,ID,…]} for documents that are \
             all near-duplicates of each other, or {\"id\":ID,\"cluster\":NAME} a document. Ids are those that dedup scan prints. \
             Precision is over the pairs found that are not to be ignored; if there are none, precision and F1 are null in the output and a \
             dash in the table. The clusters are those that pairs connect, over all \
             documents.",
        )
        .after_help(
            "Examples:\n  dedup eval --truth truth.jsonl docs.jsonl\n  dedup eval --truth truth.jsonl docs.jsonl --algo all\n  \
             dedup eval --truth truth.jsonl docs.jsonl --sweep --plot thresholds.svg",
        )
        .arg(input::paths_arg())
        .arg(file("truth").required(true).help("The labelled pairs or clusters, as JSON lines"))
        .arg(
            file("ignore")
                .help("Pairs that count neither way, in the same form; none for none [default: beside the truth]")
                .long_help(
                    "Pairs that count neither way, in the same form. Without it, ignore.jsonl or ignore.jsonl.gz beside the truth is \
                     taken if it is there; none takes none. A pair that is labelled as well counts.",
                ),
        )
        .arg(method::algorithm_or_all())
        .arg(method::preset())
        .arg(
            Arg::new("sweep")
                .long("sweep")
                .action(ArgAction::SetTrue)
                .help("Measure every threshold, or every distance, from one scan; name the best")
                .long_help(
                    "Measure every threshold (in hundredths) or every distance from one scan, and name the one with the best F1. \
                     MinHash is swept with --exact, so that what is measured is the threshold. --threshold is the lowest of the \
                     sweep (0.1 if not given), --distance the largest (the largest there is): a loose one lists very many pairs of a \
                     large collection.",
                ),
        )
        .arg(file("plot").help("Write a picture of the sweep (SVG): precision, recall and F1 against the threshold").requires("sweep"))
        .args(tokens::args())
        .args(method::parameters())
        .args(input::args())
        .args([input::rejects_arg(), input::allow_empty_arg()])
        .args(run::args())
}
