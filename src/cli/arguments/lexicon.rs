//! The arguments of `dedup lexicon`.

use super::input::{self, Input};
use super::run::{self, Run};
use super::tokens::{self, Tokens};
use super::values::{value, whole_number};
use clap::{Arg, ArgMatches, Command};
use std::path::PathBuf;

/// What was typed for `dedup lexicon build`.
pub struct Arguments {
    /// Files and folders.
    pub paths: Vec<PathBuf>,
    /// `--min-df`.
    pub min_df: u32,
    /// What tokens are.
    pub tokens: Tokens,
    /// How documents are read.
    pub input: Input,
    /// How the run goes.
    pub run: Run,
}

impl Arguments {
    /// What clap parsed.
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
        .about("Makes files that say in how many documents each term is")
        .long_about(
            "Makes files that say in how many documents each term is. With --lexicon FILE a scan judges terms by such a file instead \
             of counting those of its own documents: they are read once, and what is said of two of them does not depend on others.",
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
             documents that have it, in the order of the terms' bytes. Exact copies are counted once. The same documents give the \
             same bytes. Terms are those of --tokenizer, which a scan must then use too. Takes some 100 bytes of memory for \
             every distinct term, and some 30 bytes for each document.",
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
                .help("Least documents that a term must be in to be listed")
                .long_help(
                    "Least documents that a term must be in to be listed. Most terms of a large collection are in a single document; \
                     1 lists them too, and they are judged as if they were not there.",
                ),
        )
        .args(tokens::args())
        .args(input::args())
        .args([input::rejects_arg(), input::allow_empty_arg()])
        .args(run::some_args(&["threads", "quiet"]))
}
