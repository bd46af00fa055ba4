//! The command line: every flag with its help, and the parsed values as typed structs. Only this folder and `check/arguments.rs` read
//! what clap parsed.
//!
//! ```text
//! values.rs    parsers and getters of single values
//! method.rs    algorithm, preset, parameters    ┐
//! tokens.rs    tokenizer, preparation           │ groups shared by several commands: each group
//! input.rs     documents, and how to read them  │ defines its flags and parses them in one place
//! run.rs       memory, threads, seed            │
//! signing.rs   options that belong to an index  ┘
//! aliases.rs   options that people type by habit from other tools
//! levels.rs    how much of the help -h, --help and --help-all show
//! keywords.rs  names and values in the place of a command line
//! indexed.rs   the options of an index in the place of those that were not typed
//! the others   one file for each command
//! ```

pub mod aliases;
pub mod clean;
pub mod compare;
pub mod contain;
pub mod eval;
pub mod filter;
pub mod generate;
pub mod help;
pub mod index;
pub mod indexed;
mod input;
pub mod keep;
#[cfg_attr(not(feature = "python"), allow(dead_code, reason = "Python calls with names and values"))]
pub mod keywords;
pub mod levels;
pub mod lexicon;
pub mod method;
pub mod passages;
pub mod plan;
mod run;
pub mod scan;
pub mod signing;
mod tokens;
mod values;

pub use input::{Content, Input, OnError, Program};
pub use method::{Method, is_antecedents_file};
pub use run::{Run, some_args as some_run_args};
pub use signing::Signing;
pub use tokens::Tokens;
pub use values::{choice, is_file, whole_number};

use clap::ArgMatches;
use std::path::PathBuf;

/// `--stats`, of a command that has it.
pub fn stats(given: &ArgMatches) -> Option<PathBuf> {
    values::path(given, "stats")
}
