//! How a run goes: memory, temporary files, threads, the seed, and what is printed for people.

use super::values::{self, Defaulted, file, is_typed, path, switch, value, whole_number};
use clap::{Arg, ArgAction, ArgMatches, value_parser};
use std::path::PathBuf;

/// Where the flags of the run stand in the help.
pub const RUN_OPTIONS: &str = "Options of the run";

/// How a run goes: what was typed. What a command has no flag for is as if it was not typed.
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
    /// What clap parsed.
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

/// How a run goes; none of it but the seed can change what is found.
pub fn args() -> Vec<Arg> {
    vec![
        size("memory", "1G", "Memory for what is kept of the documents")
            .long_help(
                "Memory for what is kept of the documents. Keys that do not fit go to a temporary file; features of candidates that do not \
                 fit are made again from a second reading, in portions if need be: slower, the same result. Each document takes its id \
                 and some 50 bytes in any case, each candidate and each pair found a few dozen more, and reading some 30 MB.",
            ),
        Arg::new("temp-dir")
            .long("temp-dir")
            .value_name("DIR")
            .value_parser(value_parser!(PathBuf))
            .help("Where temporary files are made [default: the system's folder for them]")
            .long_help(
                "Where temporary files are made: for keys that do not fit --memory, and for a copy of standard input, which may have to be \
                 read twice (up to 64 MiB of it stay in memory). They have no names, and are gone however the program ends. [default: \
                 the system's folder for temporary files]",
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
            .help("Seeds the hashes; with a secret one it is hard to make texts that collide"),
        Arg::new("quiet").short('q').long("quiet").action(ArgAction::SetTrue).help("Only errors and failures on standard error: why the status is 2 or 3"),
    ]
    .into_iter()
    .map(|arg| arg.help_heading(RUN_OPTIONS))
    .collect()
}

fn size(name: &'static str, default: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).value_name("SIZE").value_parser(values::size).default_value(default).help(help)
}
