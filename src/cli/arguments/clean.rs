//! The arguments of `dedup clean`.

use super::input::{self, OnError};
use super::keep::{self, Keep};
use super::method;
use super::run;
use super::signing::{self, Signing};
use super::tokens;
use super::values::{Defaulted, file, is_typed, path, switch, values};
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use neardups::index::Limits;
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
    /// `--removed`.
    pub removed: Option<PathBuf>,
    /// `--link`.
    pub link: bool,
    /// `--against`.
    pub against: Vec<PathBuf>,
    /// `--index`.
    pub index: Option<PathBuf>,
    /// `--require-index`.
    pub require_index: bool,
    /// `--drop-known`.
    pub drop_known: bool,
    /// With `--index`: `--window`, `--expire`, `--max-docs`, `--max-candidates`, and `--memory` if it was typed.
    pub limits: Limits,
    /// How documents are read and compared.
    pub signing: Signing,
    /// `--keep` and `--prefer`.
    pub keep: Keep,
    /// `--on-error`.
    pub on_error: Defaulted<OnError>,
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
            removed: path(given, "removed"),
            link: switch(given, "link"),
            against: values(given, "against"),
            index: path(given, "index"),
            require_index: switch(given, "require-index"),
            drop_known: switch(given, "drop-known"),
            limits: Limits {
                memory: signing::memory(given).filter(|_| is_typed(given, "memory")),
                ..signing::limits(given)
            },
            signing: Signing::new(given),
            keep: Keep::new(given),
            on_error: input::on_error(given),
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

/// `dedup clean`. Long because it is one list of arguments with their help.
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
             dedup clean new/ --against old/ --output new-only/\n  dedup clean tomorrow/ --index seen.idx --output new-only/\n  dedup clean wiki/ crawl/ --output clean/ --prefer wiki/ --keep max:score\n  dedup clean notes/ --output unique/ --link\n  \
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
                .help("Only report what would be left out")
                .long_help(
                    "Only report what would be left out. With --output, the folder is checked, and nothing is written there. --removed FILE \
                     lists what would be left out.",
                ),
        )
        .arg(
            file("removed")
                .help("With --dry-run, list what would be left out in a file")
                .long_help(
                    "With --dry-run, write the list of what would be left out to a file, as JSON lines: those that DIR/_dedup/removed.jsonl has \
                     after a run with --output DIR.",
                ),
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
        .args(keep::args("Which near-duplicate is kept"))
        .arg(
            Arg::new("against")
                .long("against")
                .value_name("REF")
                .value_parser(value_parser!(PathBuf))
                .help("Also leave out near-duplicates of records in this file or folder, which is not written; may be repeated")
                .action(ArgAction::Append)
                .long_help(
                    "Also leave out near-duplicates of records in this file or folder, which counts as earlier and kept, and is not written. \
                     Near-duplicates among the paths are left out as without it. A file that is also an input is read as the reference, and \
                     not written, unless the input names it more closely. A reference from which no document is read is an error, unless \
                     --allow-empty is given. May be repeated.",
                ),
        )
        .args(index_args())
        .args(tokens::args())
        .args(method::parameters())
        .args(input::args())
        .args(input::reference_args())
        .args([input::on_error_arg("keep"), input::rejects_arg(), input::max_bad_arg(), input::allow_empty_arg()])
        .args(run::args())
        .arg(keep::report_arg())
        .arg(run::stats_arg("Write counts, resolved parameters, recall and timings to a file as one JSON object"))
}

/// The help heading of the flags of an index, beside that of the index itself.
const INDEX_OPTIONS: &str = "Options of an index";

/// The flags for an index that decides.
fn index_args() -> impl Iterator<Item = Arg> {
    let [window, expire] = signing::forgetting_args();
    let index = file("index")
        .help("Decide by this index of dedup filter, and remember what is kept")
        .long_help(
            "Decide by this index, as dedup filter does with the same documents in their order, and remember in it what is kept: near-duplicates \
             of documents of earlier runs are left out, and those are not read again. The index is created if it does not exist; \
             otherwise options that are not given are those that it was made with. It is changed at the end, when the output is on the disk. The first of \
             near-duplicates is kept. With --memory, the run stops with an error once the index takes more, as dedup filter does.",
        );
    let drop_known = signing::drop_known_arg()
        .help("With --index, leave out documents that it knows with the same id and tokens")
        .long_help(
            "With --index, leave out documents that it knows with the same id and tokens, such as files or pages that came before and have \
             not changed. Without it they are kept, as dedup filter passes them again.",
        );
    let of_index = [
        signing::require_index_arg(),
        drop_known,
        window,
        expire,
        signing::max_documents_arg(),
        signing::candidates_arg(),
        signing::expect_arg(),
        signing::random_seed_arg(),
    ];
    [index].into_iter().chain(of_index.map(|arg| arg.requires("index").help_heading(INDEX_OPTIONS)))
}
