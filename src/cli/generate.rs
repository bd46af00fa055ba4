//! `dedup completions` and `dedup man`: made from the command line itself.

use super::Status;
use clap::{Arg, ArgMatches, Command, value_parser};
use clap_complete::Shell;
use neardups::Error;
use std::io::Write;

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

/// Prints the script.
pub fn completions(given: &ArgMatches, mut program: Command) -> Result<Status, Error> {
    let shell = *given.get_one::<Shell>("shell").expect("required");
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut program, "dedup", &mut script);
    print(&script)
}

/// Prints the page in roff.
pub fn man(given: &ArgMatches, mut program: Command) -> Result<Status, Error> {
    // Fills in what subcommands inherit.
    program.build();
    let page = match given.get_one::<String>("command") {
        None => program,
        Some(name) => match program.find_subcommand(name) {
            Some(command) => command.clone(),
            None => {
                let names: Vec<_> = program.get_subcommands().map(|c| c.get_name()).collect();
                return Err(super::usage_error(format!("no command is called '{name}': {}", names.join(", "))));
            }
        },
    };
    let mut roff = Vec::new();
    clap_mangen::Man::new(page).render(&mut roff).map_err(|e| Error::output("cannot write the page", e))?;
    print(&roff)
}

fn print(bytes: &[u8]) -> Result<Status, Error> {
    let mut out = std::io::stdout().lock();
    out.write_all(bytes).and_then(|()| out.flush()).map_err(|e| Error::output("cannot write to standard output", e))?;
    Ok(Status::Done)
}
