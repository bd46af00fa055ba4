//! The command line: one file for each command. Many flags come from tables of the library.
//!
//! `arguments/` and `check/arguments.rs` define the flags and parse them into typed structs. A command resolves its struct into a
//! request, and makes one call of the library.

mod arguments;
#[cfg(feature = "python")]
pub(crate) mod call;
mod check;
mod clean;
mod compare;
mod contain;
mod cut;
mod data;
mod eval;
mod excerpt;
mod files;
mod filter;
mod generate;
mod help;
mod index;
mod input;
mod json;
mod lexicon;
mod made_with;
mod mark;
mod markup;
mod method;
mod monitor;
mod numbers;
mod outputs;
mod passages;
mod plan;
mod plot;
mod preparation;
mod problems;
mod review;
mod scan;
mod short_texts;
mod signals;
mod sizing;
mod spelling;
mod spread;
mod standard_output;
mod stats;
mod status;
mod stream;
mod terminal;
mod verdict_file;
mod watch;
mod whole;
mod wrap;

use crate::kernel::heap;
use arguments::{aliases, levels};
use clap::builder::OsStringValueParser;
use clap::{Arg, Command, error::ErrorKind};
use neardups::Error;
use neardups::kernel::Level;
use standard_output::refuse_closed_output;
use status::{Status, usage_error};
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

/// Parses the arguments of the process, runs the command, and reports errors on standard error.
pub fn run() -> ExitCode {
    run_line(&std::env::args_os().collect::<Vec<_>>()).into()
}

/// The same for a command line, which begins with the name of the program. Returns the exit status.
pub fn run_line(line: &[OsString]) -> u8 {
    heap::return_what_is_freed();
    signals::let_long_files_fail();
    spelling::learn_options(command);
    let matches = command_of(line).try_get_matches_from(line);
    let matches = match matches.and_then(|matches| arguments::help::of_commands(command, matches)) {
        Ok(matches) => matches,
        Err(error) => return usage(&at_level(error, line), line),
    };
    let parse = |line: &[OsString]| command_of(line).try_get_matches_from(line).ok();
    let matches = arguments::indexed::with_options_of_index(line, matches, made_with::options_of, parse);
    let result = standard_output::refuse_unwritable_output().and_then(|()| match matches.subcommand() {
        // An unknown level would not change results, but it is set to be measured.
        _ if let Err(why) = Level::requested() => Err(usage_error(format!("{}: {why}", Level::VARIABLE))),
        Some((name, _))
            if WRITE_AT_ONCE.contains(&name)
                && let Err(error) = refuse_closed_output() =>
        {
            Err(error)
        }
        Some(("scan", given)) => {
            let arguments = arguments::scan::Arguments::new(given);
            match arguments.measure {
                Some(arguments::scan::Measure::Containment) => contain::scan(&arguments),
                None => scan::run(&arguments),
            }
        }
        Some(("filter", given)) => filter::run(&arguments::filter::Arguments::new(given)),
        Some(("index", given)) => index::run(&arguments::index::Arguments::new(given)),
        Some(("clean", given)) => clean::run(&arguments::clean::Arguments::new(given)),
        Some(("check", given)) => check::run(&check::arguments::Arguments::new(given)),
        Some(("passages", given)) => passages::run(&arguments::passages::Arguments::new(given)),
        Some(("contain", given)) => contain::run(&arguments::contain::Arguments::new(given)),
        Some(("compare", given)) => compare::run(&arguments::compare::Arguments::new(given)),
        Some(("eval", given)) => eval::run(&arguments::eval::Arguments::new(given)),
        Some(("plan", given)) => plan::run(&arguments::plan::Arguments::new(given)),
        Some(("lexicon", given)) => lexicon::build(&arguments::lexicon::Arguments::new(given)),
        Some(("completions", given)) => generate::completions(arguments::generate::shell(given), self::command()),
        Some(("man", given)) => generate::man(arguments::generate::page(given).as_deref(), self::command()),
        Some((arguments::help::NAME, given)) => help::run(&arguments::help::Arguments::new(given)),
        _ => unreachable!("clap asks for one of its subcommands"),
    });
    match result {
        Ok(status) => status.into(),
        // The reader of the output closed it early.
        Err(error) if error.is_closed_pipe() => Status::Done.into(),
        Err(error) => {
            match matches.subcommand_name() {
                Some("check") => terminal::error_of_check(&error),
                _ => terminal::error(&error),
            }
            Status::Failed.into()
        }
    }
}

/// Takes note of the options that there are, so that messages can name them.
#[cfg(feature = "python")]
pub(crate) fn learn_options() {
    spelling::learn_options(command);
}

/// The help that the command line asks for, at its level. Other errors stay.
fn at_level(error: clap::Error, line: &[OsString]) -> clap::Error {
    if error.kind() != ErrorKind::DisplayHelp {
        return error;
    }
    // What `dedup help` prints has its level.
    let at_level = levels::at(levels::Level::of(line), command()).try_get_matches_from(line);
    at_level.err().filter(|at_level| at_level.kind() == error.kind()).unwrap_or(error)
}

/// Prints the message of clap: help and version to standard output, errors to standard error.
fn usage(error: &clap::Error, line: &[OsString]) -> u8 {
    let asked_for = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
    let explained = if asked_for { None } else { aliases::explain(&command(), error, line) };
    let rendered = explained.map_or_else(|| error.render().to_string(), |message| format!("error: {message}"));
    if let Some(message) = rendered.strip_prefix("error: ") {
        terminal::usage(message.trim_end());
        if let Some(stats) = typed_stats(line) {
            let reason = message.split("\n\n").next().unwrap_or_default();
            let reason: Vec<_> = reason.split_whitespace().collect();
            stats::write_usage_error(&stats, reason.join(" "));
        }
        return Status::Failed.into();
    }
    match error.print() {
        // A pipe that closes on the help is not an error.
        Err(failure) if failure.kind() != std::io::ErrorKind::BrokenPipe => {
            terminal::error(&Error::output("cannot write to standard output", failure));
            Status::Failed.into()
        }
        _ if asked_for => Status::Done.into(),
        _ => Status::Failed.into(),
    }
}

/// The file of `--stats` on a command line with errors, unless it comes after an unknown option, where parsing ends.
fn typed_stats(line: &[OsString]) -> Option<PathBuf> {
    let any_value = |arg: Arg| match arg.get_id() != "stats" && arg.get_action().takes_values() {
        true => arg.value_parser(OsStringValueParser::new()),
        false => arg,
    };
    let program = command().mut_subcommands(|command| command.mut_args(any_value));
    let matches = program.ignore_errors(true).try_get_matches_from(line).ok()?;
    arguments::stats(matches.subcommand()?.1)
}

/// Commands whose results always go to standard output, and of which no file says how they ended.
const WRITE_AT_ONCE: &[&str] = &["compare", "eval", "plan", "lexicon", "completions", "man", arguments::help::NAME];

type MakeCommand = fn() -> Command;

/// The commands of the program, in the order of its help.
const COMMANDS: &[(&str, MakeCommand)] = &[
    ("scan", arguments::scan::command),
    ("filter", arguments::filter::command),
    ("index", arguments::index::command),
    ("clean", arguments::clean::command),
    ("check", check::arguments::command),
    ("passages", arguments::passages::command),
    ("contain", arguments::contain::command),
    ("compare", arguments::compare::command),
    ("eval", arguments::eval::command),
    ("plan", arguments::plan::command),
    ("lexicon", arguments::lexicon::command),
    ("completions", arguments::generate::completions_command),
    ("man", arguments::generate::man_command),
];

/// The whole command line.
fn command() -> Command {
    program(COMMANDS)
}

/// What a line is parsed with: of the commands only the one that it begins with, and none for the version, because the options of
/// all of them take longer to make than the scan of a small folder.
fn command_of(line: &[OsString]) -> Command {
    let first = line.get(1);
    match COMMANDS.iter().position(|(name, _)| first.is_some_and(|word| word == name)) {
        Some(typed) => program(&COMMANDS[typed..=typed]),
        None if first.is_some_and(|word| word == "--version" || word == "-V") => program(&[]),
        None => command(),
    }
}

/// The program with these commands.
fn program(commands: &[(&str, MakeCommand)]) -> Command {
    let program = Command::new("dedup")
        .version(env!("CARGO_PKG_VERSION"))
        .propagate_version(true)
        .about("Finds near-duplicate texts, and reports their exact similarity")
        .long_about(
            "Finds near-duplicate texts, and reports their exact similarity.\n\n\
             Results go to standard output, one JSON object a line; messages go to standard error.\n\
             Exit status: 0 done, 1 check found copies, 2 usage error or the work could not be done, 3 done but some input failed, \
             130 stopped by a signal.",
        )
        .after_help(
            "Examples:\n  dedup scan ./corpus                        near-duplicate pairs of a folder\n  \
             zcat crawl.jsonl.gz | dedup scan - --emit clusters\n  \
             crawler | dedup filter --index seen.idx    new documents of a stream\n  \
             dedup clean shards/ --output clean/        a corpus without near-duplicates\n  \
             dedup check docs/                          copied pages and passages in documentation\n  \
             dedup passages ./corpus                    passages that repeat in a corpus\n  \
             dedup contain test.jsonl --against train/  test questions that stand in training data\n  \
             dedup plan --threshold 0.9                 what the options find and cost",
        )
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommands(commands.iter().map(|(_, command)| command()));
    aliases::add(levels::add(arguments::help::add(program)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        super::command().debug_assert();
        for (name, command) in super::COMMANDS {
            assert_eq!(command().get_name(), *name);
            let line = ["dedup", name].map(OsString::from);
            let program = super::command_of(&line);
            program.clone().debug_assert();
            assert_eq!(program.get_subcommands().map(Command::get_name).collect::<Vec<_>>(), [name, "help"]);
        }
        assert_eq!(
            super::command_of(&["dedup".into(), "-q".into()]).get_subcommands().count(),
            super::COMMANDS.len() + 1
        );
        for option in ["--version", "-V"] {
            let line = ["dedup", option].map(OsString::from);
            let of = |program: Command| program.try_get_matches_from(&line).expect_err("prints the version");
            let (expected, fast) = (of(super::command()), of(super::command_of(&line)));
            assert_eq!((fast.kind(), fast.to_string()), (ErrorKind::DisplayVersion, expected.to_string()));
        }
    }
}
