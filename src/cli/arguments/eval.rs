//! The arguments of `dedup eval`.

use super::input::{self, Input};
use super::method::{self, Method};
use super::run::{self, Run};
use super::tokens;
use super::values::{choice, chosen, file, path, switch};
use clap::{Arg, ArgAction, ArgMatches, Command};
use std::path::PathBuf;

/// The parsed arguments.
pub struct Arguments {
    /// Files and folders.
    pub paths: Vec<PathBuf>,
    /// `--truth`.
    pub truth: PathBuf,
    /// `--truth-is`.
    pub truth_is: Option<TruthIs>,
    /// `--ignore`.
    pub ignore: Option<PathBuf>,
    /// Algorithm, preset, parameters and tokens.
    pub method: Method,
    /// `--sweep`.
    pub sweep: bool,
    /// `--plot`.
    pub plot: Option<PathBuf>,
    /// `--errors`.
    pub errors: Option<PathBuf>,
    /// Options of the input.
    pub input: Input,
    /// Options of the run.
    pub run: Run,
}

/// What the labels are: `--truth-is`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TruthIs {
    /// All pairs of near-duplicates.
    Complete,
    /// Some pairs.
    Sample,
}

const TRUTH_IS: &[(&str, TruthIs, &str)] = &[
    ("complete", TruthIs::Complete, "All near-duplicates are labelled: every other pair that is found is wrong"),
    ("sample", TruthIs::Sample, "Some pairs are labelled: others that are found count neither as right nor as wrong"),
];

impl Arguments {
    /// Takes the values from what clap parsed.
    pub fn new(given: &ArgMatches) -> Self {
        Arguments {
            paths: input::paths(given),
            truth: path(given, "truth").expect("required"),
            truth_is: chosen(given, "truth-is", TRUTH_IS),
            ignore: path(given, "ignore"),
            method: Method::new(given),
            sweep: switch(given, "sweep"),
            plot: path(given, "plot"),
            errors: path(given, "errors"),
            input: Input::new(given),
            run: Run::new(given),
        }
    }
}

/// `dedup eval`.
pub fn command() -> Command {
    Command::new("eval")
        .about("Measures results against labelled pairs")
        .long_about(
            "Scans documents and measures the result against labelled pairs: precision, recall and F1 and, for \
             clusters, the adjusted Rand index and the share of documents whose cluster is exactly right. Labelled pairs are also \
             counted by exact similarity: how many were found, and how many should be found according to the curve that dedup plan shows. One JSON object for each algorithm goes to standard output, a table to standard error.\n\n\
             Labels are JSON lines, compressed or not: {\"a\":ID,\"b\":ID} for a pair, with \"label\":false if the two are no near-duplicates, {\"cluster\":[ID,ID,…]} for documents that are \
             all near-duplicates of each other, or {\"id\":ID,\"cluster\":NAME} for one document. Ids are those that dedup scan prints. \
             Precision is over the pairs found except ignored ones; without such pairs, precision and F1 are null in the output and a \
             dash in the table. Clusters are the groups connected by pairs, over all documents.",
        )
        .after_help(
            "Examples:\n  dedup eval --truth truth.jsonl docs.jsonl\n  dedup eval --truth truth.jsonl docs.jsonl --algo all\n  \
             dedup eval --truth truth.jsonl docs.jsonl --sweep --plot thresholds.svg",
        )
        .arg(input::paths_arg())
        .arg(file("truth").required(true).help("The labelled pairs or clusters, as JSON lines"))
        .arg(
            choice(
                "truth-is",
                "WHAT",
                TRUTH_IS.iter().map(|&(name, _, help)| (name, help)),
                "Whether all near-duplicates are labelled, or a sample of pairs [default: sample if a pair is labelled false, otherwise complete]",
            )
            .long_help(
                "Whether all near-duplicates are labelled, or a sample of pairs. By default the labels are a sample if a pair is labelled \
                 false, and complete otherwise. Of a sample only the labelled pairs count, and precision and recall come with \
                 intervals of 95 %; clusters are not measured. Without pairs that are labelled false a sample has only a recall.",
            ),
        )
        .arg(
            file("ignore")
                .help("File of pairs to leave out of the measurement, or none [default: ignore.jsonl next to the truth, if it exists]")
                .long_help(
                    "File of pairs to leave out of the measurement, in the form of --truth: if found, they count neither as right nor as wrong. A pair \
                     that is also in --truth counts. By default, ignore.jsonl or ignore.jsonl.gz in the folder of the truth is read if it exists; \
                     --ignore none reads no file.",
                ),
        )
        .arg(method::algorithm_or_all())
        .arg(method::preset())
        .arg(
            Arg::new("sweep")
                .long("sweep")
                .action(ArgAction::SetTrue)
                .help("Measure every threshold, or every distance, from one scan, and report the best")
                .long_help(
                    "Measure every threshold (in hundredths) or every distance from one scan, and report the one with the best F1, \
                     the strictest of equal ones. \
                     MinHash is swept with --exact, so that only the threshold is measured. --threshold sets the lowest threshold of the \
                     sweep [default: 0.1], --distance the largest distance [default: the maximum]. A loose limit lists very many pairs of a \
                     large collection.",
                ),
        )
        .arg(file("plot").help("Write a plot of the sweep (SVG): precision, recall and F1 against the threshold").requires("sweep"))
        .arg(
            file("errors")
                .help("Write the wrong and the missed pairs, as JSON lines; with --sweep, those at the best point")
                .long_help(
                    "Write the pairs on which the result and the labels disagree, as JSON lines: those found that should not be \
                     (wrong), and labelled ones that were not found (missed), with the similarity if the algorithm knows it, in the order \
                     of the documents. With --sweep, those of the best threshold or distance: the pairs that a run with it would write, of MinHash with --exact. \
                     dedup compare shows the texts of a pair by its places.",
                ),
        )
        .args(tokens::args())
        .args(method::parameters())
        .args(input::args())
        .args([input::rejects_arg(), input::max_bad_arg(), input::allow_empty_arg()])
        .args(run::args())
}
