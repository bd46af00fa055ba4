//! The command line: what was typed, and which command runs. A file a command; flags come from the tables of the library.

mod arguments;
mod check;
mod compare;
mod duplicates;
mod eval;
mod filter;
mod generate;
mod index;
mod input;
mod lexicon;
mod mark;
mod outputs;
mod plan;
mod plot;
mod preparation;
mod problems;
mod scan;
mod spelling;
mod terminal;

use clap::{Command, error::ErrorKind};
use neardups::Error;
use neardups::kernel::Level;
use std::process::ExitCode;

/// How a command ended, as scripts see it. Where several hold, the last of them counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Status {
    /// It did what was asked.
    Done,
    /// `check` found copies.
    Found,
    /// It was done, but some input failed and was reported.
    SomeFailed,
    /// A signal stopped it after a clean end.
    Stopped,
    /// The command could not do its work.
    Failed,
}

impl Status {
    /// Done, unless some input failed.
    fn of_input(failed: u64) -> Self {
        if failed > 0 { Status::SomeFailed } else { Status::Done }
    }
}

impl From<Status> for ExitCode {
    fn from(status: Status) -> Self {
        match status {
            Status::Done => ExitCode::SUCCESS,
            Status::Found => ExitCode::from(1),
            Status::SomeFailed => ExitCode::from(3),
            Status::Failed => ExitCode::from(2),
            Status::Stopped => ExitCode::from(130),
        }
    }
}

/// Parses the arguments of the process, runs the command, and says on standard error what went wrong.
pub fn run() -> ExitCode {
    let matches = match command().try_get_matches() {
        Ok(matches) => matches,
        Err(error) => return usage(&error),
    };
    let result = outputs::refuse_unwritable_output().and_then(|()| match matches.subcommand() {
        // Results would be right at any level, but whoever forces one measures it.
        _ if let Err(why) = Level::requested() => Err(usage_error(format!("{}: {why}", Level::VARIABLE))),
        Some(("scan", given)) => scan::run(given),
        Some(("filter", given)) => filter::run(given),
        Some(("index", given)) => index::run(given),
        Some(("check", given)) => check::run(given),
        Some(("compare", given)) => compare::run(given),
        Some(("eval", given)) => eval::run(given),
        Some(("plan", given)) => plan::run(given),
        Some(("lexicon", given)) => lexicon::run(given),
        Some(("completions", given)) => generate::completions(given, command()),
        Some(("man", given)) => generate::man(given, command()),
        _ => unreachable!("clap asks for one of its subcommands"),
    });
    match result {
        Ok(status) => status.into(),
        // Whoever read our output has seen enough.
        Err(error) if error.is_closed_pipe() => ExitCode::SUCCESS,
        Err(error) => {
            match matches.subcommand_name() {
                Some("check") => terminal::plain_error(error.kind(), &error.to_string()),
                _ => terminal::error(&error),
            }
            Status::Failed.into()
        }
    }
}

/// Prints what clap has to say: help and version to standard output, all else to standard error.
fn usage(error: &clap::Error) -> ExitCode {
    let asked_for = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
    if let Some(message) = error.render().to_string().strip_prefix("error: ") {
        terminal::usage(message.trim_end());
        return ExitCode::from(2);
    }
    match error.print() {
        // A pipe that closes on the help is a quiet end like any other.
        Err(failure) if failure.kind() != std::io::ErrorKind::BrokenPipe => {
            terminal::error(&Error::output("cannot write to standard output", failure));
            ExitCode::from(2)
        }
        _ if asked_for => ExitCode::SUCCESS,
        _ => ExitCode::from(2),
    }
}

/// The whole command line.
fn command() -> Command {
    Command::new("dedup")
        .version(env!("CARGO_PKG_VERSION"))
        .propagate_version(true)
        .about("Finds near-duplicate texts, and says exactly how similar they are")
        .long_about(
            "Finds near-duplicate texts, and says exactly how similar they are.\n\n\
             Results go to standard output, one JSON object a line; everything for people goes to standard error.\n\
             Exit status: 0 done, 1 check found copies, 2 usage error or the work could not be done, 3 done but some input failed, \
             130 stopped by a signal.",
        )
        .after_help(
            "Examples:\n  dedup scan ./corpus                        near-duplicate pairs of a folder\n  \
             zcat crawl.jsonl.gz | dedup scan - --emit clusters\n  \
             crawler | dedup filter --index seen.idx    new documents of a stream\n  \
             dedup check docs/                          copied pages and passages of documentation\n  \
             dedup plan --threshold 0.9                 what the options find and cost\n\n\
             dedup help COMMAND says more about a command.",
        )
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(scan::command())
        .subcommand(filter::command())
        .subcommand(index::command())
        .subcommand(check::command())
        .subcommand(compare::command())
        .subcommand(eval::command())
        .subcommand(plan::command())
        .subcommand(lexicon::command())
        .subcommand(generate::completions_command())
        .subcommand(generate::man_command())
}

/// An error in how options go together.
fn usage_error(message: impl Into<String>) -> Error {
    Error::Usage(message.into())
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_command_line_is_consistent() {
        super::command().debug_assert();
    }
}
