//! `dedup help`: the help of a command, or a chapter of the guide.

use super::levels::{self, Level};
use clap::builder::PossibleValue;
use clap::error::ErrorKind;
use clap::{Arg, ArgMatches, Command};
use neardups::guide::CHAPTERS;

/// The name of the command.
pub const NAME: &str = "help";

/// The topic that is the JSON Schema of the records, for programs.
pub const SCHEMA: &str = "schema";

/// The last line of the help of the program.
const ADVICE: &str = "dedup help COMMAND shows the options of a command; dedup help lists the chapters of the guide.";

/// The program with `dedup help [TOPIC] [COMMAND]...` in the place of clap's own command, which knows no chapters.
pub fn add(program: Command) -> Command {
    let commands = program.get_subcommands().map(|command| command.get_name().to_string()).chain([NAME.to_string()]);
    let chapters_and_schema = CHAPTERS.iter().map(|chapter| chapter.name).chain([SCHEMA]);
    let topics = commands.map(PossibleValue::new).chain(chapters_and_schema.map(PossibleValue::new));
    let help = Command::new(NAME)
        .about("Prints the help of a command, or a chapter of the guide")
        .after_help(format!("{}\n\nExamples:\n  dedup help filtering\n  dedup help index compact", chapters()))
        .arg(
            Arg::new("topic")
                .value_name("TOPIC")
                .value_parser(topics.collect::<Vec<_>>())
                .hide_possible_values(true)
                .help("A command or a chapter; without it the help of the program"),
        )
        .arg(Arg::new("nested").value_name("COMMAND").num_args(0..).help("A command of TOPIC, such as stats of index"));
    let examples = program.get_after_help().map(ToString::to_string).unwrap_or_default();
    program
        .disable_help_subcommand(true)
        .after_help(format!("{examples}\n\n{ADVICE}"))
        .after_long_help(format!("{}\n\n{examples}\n\n{ADVICE}", chapters()))
        .subcommand(help)
}

/// The chapters with their summaries, a line each.
fn chapters() -> String {
    let width = CHAPTERS.iter().map(|chapter| chapter.name.len()).max().unwrap_or(0);
    let lines = CHAPTERS.iter().map(|chapter| format!("\n  {:width$}  {}", chapter.name, chapter.summary));
    let schema = format!("\n  {SCHEMA:width$}  The JSON Schema of the records, for programs");
    format!("Chapters of the guide:{}{schema}", lines.collect::<String>())
}

/// The help of a command is what clap prints for its `--help`, so `dedup help COMMAND` ends here as that does. Everything else
/// passes, without the cost of making the program a second time.
pub fn of_commands(program: fn() -> Command, matches: ArgMatches) -> Result<ArgMatches, clap::Error> {
    let Some((NAME, given)) = matches.subcommand() else { return Ok(matches) };
    let program = levels::at(Level::Usual, program());
    let arguments = Arguments::new(given);
    let path = arguments.path();
    match path.first().map(|name| program.find_subcommand(name).is_some()) {
        Some(false) => Ok(matches),
        _ => Err(help_of(program, &path)),
    }
}

/// What clap answers to `--help` of a command, or to a name that is none.
fn help_of(mut program: Command, path: &[&str]) -> clap::Error {
    program.build();
    let mut command = &program;
    for (depth, name) in path.iter().enumerate() {
        match command.find_subcommand(name) {
            Some(nested) => command = nested,
            None if command.has_subcommands() => return parse(program, &path[..=depth]),
            None => {
                let message = format!("'{}' has no command '{name}'", path[..depth].join(" "));
                return program.error(ErrorKind::InvalidSubcommand, message);
            }
        }
    }
    parse(program, &[path, &["--help"]].concat())
}

/// The error of clap for a line that is none of a command, such as one that asks for help.
fn parse(program: Command, line: &[&str]) -> clap::Error {
    let line = ["dedup"].iter().chain(line);
    program.try_get_matches_from(line).expect_err("asks for help or names no command")
}

/// What was typed behind `dedup help`.
pub struct Arguments {
    pub topic: Option<String>,
    /// Commands of the topic.
    pub nested: Vec<String>,
}

impl Arguments {
    pub fn new(given: &ArgMatches) -> Self {
        let nested = given.get_many("nested").unwrap_or_default().cloned();
        Arguments { topic: given.get_one("topic").cloned(), nested: nested.collect() }
    }

    fn path(&self) -> Vec<&str> {
        self.topic.iter().chain(&self.nested).map(String::as_str).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Otherwise the command would hide the chapter.
    #[test]
    fn no_chapter_has_the_name_of_a_command() {
        let mut program = crate::cli::command();
        program.build();
        for name in CHAPTERS.iter().map(|chapter| chapter.name).chain([SCHEMA]) {
            assert!(program.find_subcommand(name).is_none(), "{name}");
        }
    }
}
