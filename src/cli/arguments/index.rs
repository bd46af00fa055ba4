//! The arguments of `dedup index`.

use super::input;
use super::run;
use super::signing::{self, Signing, forgetting_args};
use super::values::{path, switch, value, values, whole_number};
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use neardups::index::{Limits, Wanted};
use std::path::PathBuf;

/// The parsed arguments.
pub struct Arguments {
    /// The index.
    pub file: PathBuf,
    /// The command.
    pub action: Action,
    /// `--quiet`.
    pub quiet: bool,
    /// `--max-bad`.
    pub max_bad: u64,
}

/// A command of `dedup index`, with its own arguments.
pub enum Action {
    Stats,
    Verify,
    Snapshot {
        copy: PathBuf,
    },
    Export {
        /// `--fingerprints`.
        fingerprints: bool,
    },
    Get {
        ids: Ids,
        /// `--fingerprints`.
        fingerprints: bool,
    },
    /// With `--window`, `--expire`, `--memory` and `--max-candidates`, and what `--top` asks for.
    Query(Box<Signing>, Limits, Option<Wanted>),
    /// With `--memory`, and whether the index may be created: without `--require-index`.
    Add(Box<Signing>, Limits, bool),
    Remove(Ids),
    Compact {
        /// `--window` and `--expire`.
        limits: Limits,
        /// `--salvage`.
        salvage: bool,
    },
}

/// The ids of documents.
pub struct Ids {
    /// Those that were typed.
    pub typed: Vec<String>,
    /// `--ids-from`.
    pub from: Option<PathBuf>,
}

impl Ids {
    fn new(given: &ArgMatches) -> Self {
        Ids { typed: values(given, "ids"), from: path(given, "ids-from") }
    }
}

impl Arguments {
    /// Takes the values from what clap parsed.
    pub fn new(given: &ArgMatches) -> Self {
        let (name, given) = given.subcommand().expect("clap asks for one of its subcommands");
        let action = match name {
            "stats" => Action::Stats,
            "verify" => Action::Verify,
            "snapshot" => Action::Snapshot { copy: path(given, "copy").expect("required") },
            "export" => Action::Export { fingerprints: switch(given, "fingerprints") },
            "get" => Action::Get { ids: Ids::new(given), fingerprints: switch(given, "fingerprints") },
            "query" => {
                let top = value(given, "top").map(|&most: &u64| Wanted {
                    most: usize::try_from(most).unwrap_or(usize::MAX),
                    is_exhaustive: switch(given, "exhaustive"),
                });
                Action::Query(Signing::new(given).into(), signing::limits(given), top)
            }
            "add" => {
                let limits = Limits { memory: signing::memory(given), ..Limits::default() };
                Action::Add(Signing::new(given).into(), limits, !switch(given, "require-index"))
            }
            "remove" => Action::Remove(Ids::new(given)),
            "compact" => Action::Compact { limits: signing::forgetting(given), salvage: switch(given, "salvage") },
            _ => unreachable!("clap knows the names"),
        };
        Arguments {
            file: path(given, "file").expect("required"),
            action,
            quiet: switch(given, "quiet"),
            max_bad: input::max_bad(given),
        }
    }
}

/// `dedup index`. Long because it is one list of arguments with their help.
pub fn command() -> Command {
    let file =
        || Arg::new("file").value_name("FILE").required(true).value_parser(value_parser!(PathBuf)).help("The index");
    Command::new("index")
        .about("Inspects and maintains an index of dedup filter")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(
            Command::new("stats")
                .about("Prints the options and counts of an index as one JSON object; checks every checksum")
                .arg(file()),
        )
        .subcommand(
            Command::new("verify")
                .about("Checks that an index is intact: status 2 if it is damaged, or if its end is torn")
                .long_about(
                    "Checks that an index is intact: status 2 if it is damaged, or if its end is torn. A torn end is left by an interrupted write; \
                     dedup filter cuts it off when it opens the index, and a dedup clean --index that was interrupted adds all of it when it is repeated. \
                     The index may be in use meanwhile.",
                )
                .arg(file())
                .args(quiet()),
        )
        .subcommand(
            Command::new("snapshot")
                .about("Copies an index to a new file, also while a run writes to it")
                .long_about(
                    "Copies an index to a new file, also while a run writes to it: what the index had when the copy began, without an \
                     incomplete end. The copy is checked before it appears under its name, and replaces no file. It is an index of its own.",
                )
                .arg(file())
                .arg(
                    Arg::new("copy")
                        .value_name("COPY")
                        .required(true)
                        .value_parser(value_parser!(PathBuf))
                        .help("The new file"),
                )
                .args(quiet()),
        )
        .subcommand(
            Command::new("export")
                .about("Prints the id of each document and the time when it was passed, as JSON lines")
                .arg(file())
                .arg(fingerprints()),
        )
        .subcommand(
            Command::new("get")
                .about("Prints the documents with these ids, as export does: status 1 if an id is unknown")
                .long_about(
                    "Prints the documents with these ids, as JSON lines like those of export, in the order in which they were passed. \
                     Several documents can have one id. Status 1 if the index has no document with one of the ids; those with the others \
                     are printed. The whole index is read, and every checksum is checked. It may be in use meanwhile.",
                )
                .arg(file())
                .args(ids())
                .arg(fingerprints())
                .args(quiet()),
        )
        .subcommand(
            Command::new("query")
                .about("Prints for each document on standard input whether it would be passed; remembers nothing")
                .long_about(
                    "Prints for each document on standard input whether it would be passed: one verdict each, as JSON lines. The index is \
                     not changed, and may be in use meanwhile. Options that are not given are those that it was made with.\n\n\
                     With --top K, prints the most similar documents instead, whatever the threshold.",
                )
                .arg(file())
                .arg(
                    Arg::new("top")
                        .long("top")
                        .value_name("K")
                        .value_parser(whole_number(1..=100_000))
                        .help("Print the K most similar documents, with their exact similarities")
                        .long_help(
                            "Print the K most similar documents, with their exact similarities, whatever the threshold. SimHash \
                             and random projection compare every document. The others compare those that share a key with the document: all at \
                             or above the threshold, as far as the algorithm finds them, and others by chance, the more similar the more \
                             probably.",
                        ),
                )
                .arg(
                    Arg::new("exhaustive")
                        .long("exhaustive")
                        .action(ArgAction::SetTrue)
                        .requires("top")
                        .help("With --top, compare every document: nothing is missed, in time linear in the index"),
                )
                .args(forgetting_args())
                .arg(signing::memory_arg())
                .arg(signing::candidates_arg())
                .arg(signing::expect_arg())
                .args(signing::args())
                .arg(input::max_bad_arg()),
        )
        .subcommand(
            Command::new("add")
                .about("Remembers all documents on standard input, near-duplicates or not; prints nothing")
                .long_about(
                    "Remembers all documents on standard input, near-duplicates or not, so that dedup filter drops them and their near-duplicates. \
                     Creates the index if it does not exist; otherwise options that are not given are those that it was made with. Documents that it already has, \
                     by id and text, are not added again.",
                )
                .arg(file())
                .arg(
                    signing::require_index_switch()
                        .help("End with an error if the index does not exist, instead of creating it"),
                )
                .arg(signing::memory_arg())
                .arg(signing::expect_arg())
                .args(signing::args())
                .arg(input::max_bad_arg()),
        )
        .subcommand(
            Command::new("remove")
                .about("Forgets documents by id, so that their near-duplicates are passed again")
                .long_about(
                    "Forgets documents by id, so that their near-duplicates are passed again. Status 3 if the index has no document \
                     with one of the ids; the documents of the others are removed.",
                )
                .arg(file())
                .args(ids())
                .args(quiet()),
        )
        .subcommand(
            Command::new("compact")
                .about("Rewrites an index without removed documents")
                .long_about(
                    "Rewrites an index without removed documents and, with --expire or --window, without old ones. The new \
                     file replaces the old one once it is complete and on the disk; until then both take space.",
                )
                .arg(file())
                .args(forgetting_args().map(|arg| match arg.get_id().as_str() {
                    "window" => arg.help("Drop all but the last N documents, or those of the last 30m, 12h, 7d, 2w"),
                    _ => arg.help("Drop documents that were passed longer ago than this: 90s, 30m, 12h, 7d, 2w"),
                }))
                .arg(
                    Arg::new("salvage")
                        .long("salvage")
                        .action(ArgAction::SetTrue)
                        .help("Skip damaged parts, and keep intact records before and after them; the damaged file stays as FILE.damaged"),
                )
                .args(quiet()),
        )
}

fn fingerprints() -> Arg {
    Arg::new("fingerprints")
        .long("fingerprints")
        .action(ArgAction::SetTrue)
        .help("Print what is compared too: fingerprints, or 44 bits of each feature, in hexadecimal")
}

fn ids() -> [Arg; 2] {
    [
        Arg::new("ids").value_name("ID").num_args(0..).required_unless_present("ids-from").help("Ids"),
        Arg::new("ids-from")
            .long("ids-from")
            .value_name("FILE")
            .value_parser(value_parser!(PathBuf))
            .help("Read ids from a file, one per line; '-' is standard input"),
    ]
}

fn quiet() -> impl Iterator<Item = Arg> {
    run::some_args(&["quiet"])
}
