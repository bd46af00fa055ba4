//! The arguments of `dedup index`.

use super::run;
use super::signing::{self, Signing, forgetting_args};
use super::values::{duration, path, switch, value, values, whole_number};
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use neardups::index::Limits;
use std::path::PathBuf;

/// What was typed.
pub struct Arguments {
    /// The index.
    pub file: PathBuf,
    /// What is done with it.
    pub action: Action,
    /// `--quiet`.
    pub quiet: bool,
}

/// A command of `dedup index`, with what only it has.
pub enum Action {
    Stats,
    Verify,
    Export,
    /// With `--window` and `--expire`.
    Query(Box<Signing>, Limits),
    Add(Box<Signing>),
    Remove {
        ids: Vec<String>,
        /// `--ids-from`.
        ids_from: Option<PathBuf>,
    },
    Compact {
        /// `--expire`, in seconds.
        expire: Option<u64>,
        /// `--window`.
        window: Option<u64>,
        /// `--salvage`.
        salvage: bool,
    },
}

impl Arguments {
    /// What clap parsed.
    pub fn new(given: &ArgMatches) -> Self {
        let (name, given) = given.subcommand().expect("clap asks for one of its subcommands");
        let action = match name {
            "stats" => Action::Stats,
            "verify" => Action::Verify,
            "export" => Action::Export,
            "query" => Action::Query(Signing::new(given).into(), signing::forgetting(given)),
            "add" => Action::Add(Signing::new(given).into()),
            "remove" => Action::Remove { ids: values(given, "ids"), ids_from: path(given, "ids-from") },
            "compact" => Action::Compact {
                expire: value(given, "expire").copied(),
                window: value(given, "window").copied(),
                salvage: switch(given, "salvage"),
            },
            _ => unreachable!("clap knows the names"),
        };
        Arguments { file: path(given, "file").expect("required"), action, quiet: switch(given, "quiet") }
    }
}

/// `dedup index`. Long because it is one list of arguments with their help.
pub fn command() -> Command {
    let file =
        || Arg::new("file").value_name("FILE").required(true).value_parser(value_parser!(PathBuf)).help("The index");
    Command::new("index")
        .about("Looks into an index of dedup filter, and maintains it")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(
            Command::new("stats")
                .about("Prints how it was made and what it holds, as one JSON object; every checksum is looked at")
                .arg(file()),
        )
        .subcommand(
            Command::new("verify")
                .about("Says whether it is whole: status 2 if it is damaged, or if its end is torn")
                .long_about(
                    "Says whether it is whole: status 2 if it is damaged, or if its end is torn. A torn end is what an interrupted write \
                     leaves; dedup filter cuts it off when it opens the index. The index may be in use meanwhile.",
                )
                .arg(file())
                .args(quiet()),
        )
        .subcommand(
            Command::new("export")
                .about("Prints the id of each document and when it was let through, as JSON lines")
                .arg(file()),
        )
        .subcommand(
            Command::new("query")
                .about("Says of each document on standard input whether it would be let through; remembers nothing")
                .long_about(
                    "Says of each document on standard input whether it would be let through: a verdict each, as JSON lines. The index is \
                     not changed, and may be in use meanwhile. Takes the options that the index was made with.",
                )
                .arg(file())
                .args(forgetting_args())
                .args(signing::args()),
        )
        .subcommand(
            Command::new("add")
                .about("Remembers the documents on standard input, whatever they are like; prints nothing")
                .long_about(
                    "Remembers the documents on standard input, whatever they are like, so that dedup filter drops them and what is like \
                     them. Makes the index if it is not there. Takes the options that the index was made with. Documents that it has, by \
                     id and text, are not added again.",
                )
                .arg(file())
                .args(signing::args()),
        )
        .subcommand(
            Command::new("remove")
                .about("Forgets documents by their ids: what is like them is let through again")
                .arg(file())
                .arg(Arg::new("ids").value_name("ID").num_args(0..).required_unless_present("ids-from").help("Ids"))
                .arg(
                    Arg::new("ids-from")
                        .long("ids-from")
                        .value_name("FILE")
                        .value_parser(value_parser!(PathBuf))
                        .help("Read ids from a file, one a line; '-' is standard input"),
                )
                .args(quiet()),
        )
        .subcommand(
            Command::new("compact")
                .about("Writes it anew without the documents that were removed")
                .long_about(
                    "Writes it anew without the documents that were removed, and with --expire or --window without the old ones. The new \
                     file takes the place of the old one when it is whole and on the disk; until then both take room.",
                )
                .arg(file())
                .arg(
                    Arg::new("expire")
                        .long("expire")
                        .value_name("DURATION")
                        .value_parser(duration)
                        .help("Drop documents that were let through longer ago than this: 12h, 30d"),
                )
                .arg(
                    Arg::new("window")
                        .long("window")
                        .value_name("N")
                        .value_parser(whole_number(1..=u64::MAX))
                        .help("Drop all but the last N documents"),
                )
                .arg(
                    Arg::new("salvage")
                        .long("salvage")
                        .action(ArgAction::SetTrue)
                        .help("Pass over what is damaged, and keep what is whole before and behind it"),
                )
                .args(quiet()),
        )
}

fn quiet() -> impl Iterator<Item = Arg> {
    run::some_args(&["quiet"])
}
