//! Memory, temporary files, threads, the seed and messages: shared flags.

use super::values::{self, Defaulted, file, is_typed, path, switch, value, whole_number};
use clap::{Arg, ArgAction, ArgMatches, value_parser};
use std::path::PathBuf;

/// The help heading of the flags of the run.
pub const RUN_OPTIONS: &str = "Run";

/// Options of the run, as typed. Flags that a command does not have count as not typed.
pub struct Run {
    /// `--memory`, in bytes.
    pub memory: Option<Defaulted<u64>>,
    /// `--temp-dir`.
    pub temp_dir: Option<PathBuf>,
    /// `--threads`; 0 for one a core.
    pub threads: usize,
    /// `--seed`.
    pub seed: Option<Defaulted<u64>>,
    /// `--quiet`.
    pub quiet: bool,
}

impl Run {
    /// Takes the values from what clap parsed.
    pub fn new(given: &ArgMatches) -> Self {
        let number = |name: &str| {
            let value = value::<u64>(given, name).copied();
            value.map(|value| Defaulted { value, is_typed: is_typed(given, name) })
        };
        Run {
            memory: number("memory"),
            temp_dir: path(given, "temp-dir"),
            threads: value::<u64>(given, "threads").map_or(0, |&threads| threads as usize),
            seed: number("seed"),
            quiet: switch(given, "quiet"),
        }
    }
}

/// The flags with these names.
pub fn some_args(names: &[&str]) -> impl Iterator<Item = Arg> {
    args().into_iter().filter(|arg| names.contains(&arg.get_id().as_str()))
}

/// `--stats`.
pub fn stats_arg(help: &'static str) -> Arg {
    file("stats").help_heading(RUN_OPTIONS).help(help)
}

/// The flags of the run. Of these, only the seed can change the result.
pub fn args() -> Vec<Arg> {
    vec![
        size("memory", "1G", "Memory of the process, beside 100 MB and 70 bytes a document")
            .value_parser(values::memory)
            .long_help(
                "Memory of the process, beside 100 MB, 70 bytes for each document and four times the largest record. That includes \
                 everything that is read or decompressed ahead, on any number of threads. Keys, pairs and terms that do not fit go to \
                 temporary files; features that do not fit go there as well, those of likely candidates at once and those of the others in a second reading; \
                 long records are signed one after the other: slower, with the same result. Where that is not enough, because ids are long, \
                 because a record has too many tokens, or because of keys that cannot go to a file, the run stops with an error before it takes \
                 more.",
            ),
        Arg::new("temp-dir")
            .long("temp-dir")
            .value_name("DIR")
            .value_parser(value_parser!(PathBuf))
            .help("Folder for temporary files [default: that of the system]")
            .long_help(
                "Folder for temporary files: for keys, features, pairs and terms that do not fit --memory, and for a copy of standard input, which may have to be \
                 read twice (up to 8 MiB of it stay in memory). The files have no names, and are removed however the program ends. \
                 [default: that of the system]",
            ),
        Arg::new("threads")
            .short('j')
            .long("threads")
            .value_name("N")
            .value_parser(whole_number(1..=1024))
            .help("Worker threads [default: one a core]"),
        Arg::new("seed")
            .long("seed")
            .value_name("N")
            .value_parser(whole_number(0..=u64::MAX))
            .allow_negative_numbers(true)
            .default_value("0")
            .help("Seed of the hashes; with a secret seed it is hard to construct colliding texts"),
        Arg::new("quiet").short('q').long("quiet").action(ArgAction::SetTrue).help("Print only errors and failures, the reasons for status 2 or 3, on standard error"),
    ]
    .into_iter()
    .map(|arg| arg.help_heading(RUN_OPTIONS))
    .collect()
}

fn size(name: &'static str, default: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).value_name("SIZE").value_parser(values::size).default_value(default).help(help)
}
