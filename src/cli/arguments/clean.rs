//! The arguments of `dedup clean`.

use super::input::{self, Input, OnError};
use super::keep::{self, Keep};
use super::method::{self, Method};
use super::run::{self, Run};
use super::tokens;
use super::values::{Defaulted, is_typed, path, switch, values};
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use std::path::PathBuf;

/// The parsed arguments.
pub struct Arguments {
    /// Files and folders.
    pub paths: Vec<PathBuf>,
    /// `--output`; `None` with `--dry-run` alone.
    pub output: Option<PathBuf>,
    /// `--move-duplicates`.
    pub move_duplicates: Option<PathBuf>,
    /// `--undo`.
    pub undo: Option<PathBuf>,
    /// The first option that was typed and has no effect with `--undo`.
    pub beside_undo: Option<String>,
    /// `--dry-run`.
    pub is_dry: bool,
    /// `--link`.
    pub link: bool,
    /// `--against`.
    pub against: Vec<PathBuf>,
    /// Algorithm, preset, parameters and tokens.
    pub method: Method,
    /// `--keep` and `--prefer`.
    pub keep: Keep,
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
            output: path(given, "output"),
            move_duplicates: path(given, "move-duplicates"),
            undo: path(given, "undo"),
            beside_undo: beside_undo(given),
            is_dry: switch(given, "dry-run"),
            link: switch(given, "link"),
            against: values(given, "against"),
            method: Method::new(given),
            keep: Keep::new(given),
            input: Input::new(given),
            on_error: input::on_error(given),
            run: Run::new(given),
            report: path(given, "report"),
            stats: path(given, "stats"),
        }
    }
}

fn beside_undo(given: &ArgMatches) -> Option<String> {
    let mut names = given.ids().map(|id| id.as_str());
    let other = names.find(|name| !["undo", "quiet"].contains(name) && is_typed(given, name))?;
    Some(if other == "path" { "PATH".into() } else { format!("--{other}") })
}

/// `dedup clean`.
pub fn command() -> Command {
    Command::new("clean")
        .about("Writes a corpus without its near-duplicates")
        .long_about(
            "Writes a corpus without its near-duplicates: every file of the input again, at its path below the output folder, in its \
             format and compression, without the records that are near-duplicates of kept ones. All other bytes are those of the input.\n\n\
             DIR/_dedup/removed.jsonl has a line for each record that is left out, with the kept record that it duplicates. \
             DIR/_dedup/summary.json states what was run. If a run is interrupted, the same command continues it.\n\n\
             With --move-duplicates instead of --output, files that are near-duplicates of kept ones move to a folder, and --undo moves them \
             back.",
        )
        .after_help(
            "Examples:\n  dedup clean shards/ --output clean/\n  dedup clean shards/ --dry-run\n  \
             dedup clean train.jsonl.zst --output clean/ --text-field body --keep longest\n  \
             dedup clean new/ --against old/ --output new-only/\n  dedup clean wiki/ crawl/ --output clean/ --prefer wiki/ --keep max:score\n  dedup clean notes/ --output unique/ --link\n  \
             dedup clean notes/ --move-duplicates duplicates/\n  dedup clean --undo duplicates/",
        )
        .arg(
            Arg::new("path")
                .value_name("PATH")
                .value_parser(value_parser!(PathBuf))
                .num_args(1..)
                .required_unless_present("undo")
                .help("Files and folders"),
        )
        .arg(
            Arg::new("output")
                .short('o')
                .long("output")
                .value_name("DIR")
                .value_parser(value_parser!(PathBuf))
                .required_unless_present_any(["dry-run", "move-duplicates", "undo"])
                .help("Folder of the output: new, empty, or that of an interrupted run"),
        )
        .arg(
            Arg::new("move-duplicates")
                .long("move-duplicates")
                .value_name("DIR")
                .value_parser(value_parser!(PathBuf))
                .conflicts_with_all(["output", "link"])
                .help("Instead of writing an output, move files that are near-duplicates of kept ones to this folder")
                .long_help(
                    "Instead of writing an output, move files that are near-duplicates of kept ones to this folder (new, empty, or that of an \
                     interrupted run), each to its path below the path given. Each file must be one document. DIR/_dedup/moved.jsonl lists \
                     the files before the first one moves; --undo DIR moves them back. A file stays, and is reported, if it or the file that \
                     it duplicates has changed since it was read, or if its name in DIR is taken.",
                ),
        )
        .arg(
            Arg::new("undo")
                .long("undo")
                .value_name("DIR")
                .value_parser(value_parser!(PathBuf))
                .help("Move back the files that --move-duplicates moved to this folder")
                .long_help(
                    "Move back the files that --move-duplicates moved to this folder. A file stays there, and is reported, if it has changed, or \
                     if there is another one at its old place. Takes no other option but --quiet.",
                ),
        )
        .arg(
            Arg::new("dry-run")
                .long("dry-run")
                .action(ArgAction::SetTrue)
                .help("Write and move nothing; only report how many records would be left out, or files would move"),
        )
        .arg(
            Arg::new("link")
                .long("link")
                .action(ArgAction::SetTrue)
                .help("Make files of which nothing is left out further names (hard links) of their inputs")
                .long_help(
                    "Make files of which nothing is left out further names (hard links) of their inputs where the system allows it, and \
                     copies elsewhere. A program that changes such a file in its place changes the input too.",
                ),
        )
        .arg(method::algorithm())
        .arg(method::preset())
        .args(keep::args("Which of several near-duplicates is kept"))
        .arg(
            Arg::new("against")
                .long("against")
                .value_name("REF")
                .value_parser(value_parser!(PathBuf))
                .help("Also leave out near-duplicates of records in this file or folder, which is not written; may be repeated")
                .action(ArgAction::Append)
                .long_help(
                    "Also leave out near-duplicates of records in this file or folder, which counts as earlier and kept, and is not written. \
                     Near-duplicates among the paths are left out as without it. May be repeated.",
                ),
        )
        .args(tokens::args())
        .args(method::parameters())
        .args(input::args())
        .args([input::on_error_arg("keep"), input::rejects_arg(), input::allow_empty_arg()])
        .args(run::args())
        .arg(keep::report_arg())
        .arg(run::stats_arg("Write counts, resolved parameters, recall and timings to a file as one JSON object"))
}
