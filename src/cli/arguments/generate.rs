//! The arguments of `dedup completions` and `dedup man`.

use super::values::value;
use clap::{Arg, ArgMatches, Command, value_parser};
use clap_complete::Shell;

/// `dedup completions SHELL`.
pub fn completions_command() -> Command {
    Command::new("completions")
        .about("Prints a completion script for a shell")
        .after_help("Example:\n  dedup completions bash > ~/.local/share/bash-completion/completions/dedup")
        .arg(
            Arg::new("shell").value_name("SHELL").required(true).value_parser(value_parser!(Shell)).help("Which shell"),
        )
}

/// `dedup man [COMMAND]`.
pub fn man_command() -> Command {
    Command::new("man")
        .about("Prints the manual page, of the program or of one command")
        .after_help("Example:\n  dedup man scan | man -l -")
        .arg(Arg::new("command").value_name("COMMAND").help("The command; without it the page of the program"))
}

/// The typed shell.
pub fn shell(given: &ArgMatches) -> Shell {
    *value(given, "shell").expect("required")
}

/// The typed command, if any.
pub fn page(given: &ArgMatches) -> Option<String> {
    value(given, "command").cloned()
}
