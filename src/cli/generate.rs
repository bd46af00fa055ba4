//! `dedup completions` and `dedup man`: generated from the definition of the command line.

use super::status::{Status, usage_error};
use clap::Command;
use clap_complete::Shell;
use neardups::Error;
use std::io::Write;

/// Prints the script.
pub fn completions(shell: Shell, mut program: Command) -> Result<Status, Error> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut program, "dedup", &mut script);
    print(&script)
}

/// Prints the page in roff.
pub fn man(page: Option<&str>, mut program: Command) -> Result<Status, Error> {
    // Propagates settings to subcommands.
    program.build();
    let page = match page {
        None => program,
        Some(name) => match program.find_subcommand(name) {
            Some(command) => command.clone(),
            None => {
                let names: Vec<_> = program.get_subcommands().map(|c| c.get_name()).collect();
                return Err(usage_error(format!("unknown command '{name}': expected one of {}", names.join(", "))));
            }
        },
    };
    let mut roff = Vec::new();
    clap_mangen::Man::new(page).render(&mut roff).map_err(|e| Error::output("cannot write the page", e))?;
    print(&roff)
}

/// Prints what was made to standard output.
pub fn print(bytes: &[u8]) -> Result<Status, Error> {
    let mut out = std::io::stdout().lock();
    out.write_all(bytes).and_then(|()| out.flush()).map_err(|e| Error::output("cannot write to standard output", e))?;
    Ok(Status::Done)
}
