//! The arguments of `dedup lexicon`.

use super::input::{self, Input};
use super::run::{self, Run};
use super::tokens::{self, Tokens};
use super::values::{value, whole_number};
use clap::{Arg, ArgMatches, Command};
use std::path::PathBuf;

/// The parsed arguments of `dedup lexicon build`.
pub struct Arguments {
    /// Files and folders.
    pub paths: Vec<PathBuf>,
    /// `--min-df`.
    pub min_df: u32,
    /// Tokenizer and preparation.
    pub tokens: Tokens,
    /// Options of the input.
    pub input: Input,
    /// Options of the run.
    pub run: Run,
}

impl Arguments {
    /// Takes the values from what clap parsed.
    pub fn new(given: &ArgMatches) -> Self {
        let Some(("build", given)) = given.subcommand() else { unreachable!("clap asks for one of its subcommands") };
        Arguments {
            paths: input::paths(given),
            min_df: *value::<u64>(given, "min-df").expect("has a default") as u32,
            tokens: Tokens::new(given),
            input: Input::new(given),
            run: Run::new(given),
        }
    }
}

/// `dedup lexicon`.
pub fn command() -> Command {
    Command::new("lexicon")
        .about("Builds files with the document frequencies of terms")
        .long_about(
            "Builds files with the document frequencies of terms. With --lexicon FILE, a scan takes frequencies from such a file instead \
             of counting those of its own documents: it reads them only once, and the result for two documents does not depend on others.",
        )
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(build_command())
}

fn build_command() -> Command {
    Command::new("build")
        .about("Counts the terms of documents, and prints the lexicon")
        .long_about(
            "Counts the terms of documents, and prints the lexicon: a line of JSON, then a line for each term with the number of \
             documents that contain it, ordered by bytes. Exact copies are counted once. The same documents give the \
             same bytes. Terms are tokens of --tokenizer, which a scan with the lexicon must use too. Terms that do not fit --memory go to a \
             temporary file. Beside that it takes about 30 bytes for each document.",
        )
        .after_help(
            "Examples:\n  dedup lexicon build ./corpus > corpus.lex\n  dedup scan new.jsonl --algo imatch --lexicon corpus.lex\n  \
             dedup lexicon build crawl.jsonl.gz --min-df 5 | zstd > crawl.lex.zst",
        )
        .arg(input::paths_arg())
        .arg(
            Arg::new("min-df")
                .long("min-df")
                .value_name("N")
                .value_parser(whole_number(1..=u32::MAX.into()))
                .default_value("2")
                .help("Minimum number of documents that contain a listed term")
                .long_help(
                    "Minimum number of documents that contain a listed term. Most terms of a large collection are in a single document; \
                     1 lists them too, but they are treated like terms that are not listed.",
                ),
        )
        .args(tokens::args())
        .args(input::args())
        .args([input::rejects_arg(), input::max_bad_arg(), input::allow_empty_arg()])
        .args(run::some_args(&["memory", "temp-dir", "threads", "quiet"]))
}
