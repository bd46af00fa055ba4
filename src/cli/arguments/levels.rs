//! How much the help of a command shows: `-h` the options that most users need, `--help` those that some need too, and `--help-all`
//! every option with its details.

use clap::{Arg, ArgAction, Command};
use std::ffi::OsString;

/// The options that `-h` shows.
const BRIEF: &[&str] = &[
    // What is compared, and how.
    "algo",
    "threshold",
    "format",
    "text-field",
    "id-field",
    // What is done with the result.
    "emit",
    "keep",
    "against",
    "output",
    "dry-run",
    "move-duplicates",
    "index",
    "duplicates",
    "mark",
    "window",
    "expire",
    "top",
    "ids-from",
    "salvage",
    "fingerprints",
    "truth",
    "truth-is",
    "sweep",
    "plot",
    "documents",
    "sample",
    "min-df",
    "all",
    "json",
    // Of the check.
    "min-words",
    "min-documents",
    "ignore",
    "baseline",
    "update-baseline",
    "prune-baseline",
    "since",
    "staged",
    "report",
    "fail-on",
    // The run.
    "memory",
    "threads",
    "quiet",
];

/// The options that only `--help-all` shows.
const ADVANCED: &[&str] = &[
    // Tokens.
    "join-hyphens",
    "fold",
    "mask",
    "stopwords",
    "stem",
    // Algorithms.
    "cosine",
    "lexicon",
    "hash",
    "sketch",
    "bands",
    "rows",
    "hashes",
    "supershingles",
    "min-supershingles",
    "count-repeats",
    "drop-common",
    "bits",
    "grams",
    "blocks",
    "tables",
    "force",
    "weights",
    "idf-low",
    "idf-high",
    "drop-frequent",
    "drop-rare",
    "lexicons",
    "drop-fraction",
    "min-terms",
    "min-share",
    "lexicon-without",
    "agree",
    "projection-bits",
    "spot-distance",
    "spot-chain",
    "chain-over",
    "spots",
    "min-spots",
    // Input.
    "content",
    "hidden",
    "pre",
    "on-error",
    "rejects",
    "max-bad",
    "delimiter",
    "against-format",
    "encoding",
    "against-text-field",
    "against-id-field",
    "against-encoding",
    "max-record",
    "max-expansion",
    "max-window",
    "compression",
    "pre-glob",
    "pre-timeout",
    "allow-empty",
    // What is done with the result.
    "print0",
    "prefer",
    "decisions",
    "host-depth",
    "link",
    "removed",
    // Of the check.
    "paragraph-words",
    "paragraph-similarity",
    "accept",
    "reason",
    "sort",
    "no-config",
    "print-config",
    // Runs and indexes.
    "seed",
    "temp-dir",
    "sync",
    "random-seed",
    "expect",
    "max-candidates",
    "metrics-label",
];

/// Those of streams, which `clean` has for `--index` alone: only its `--help-all` shows them.
const ADVANCED_IN_CLEAN: &[&str] = &["require-index", "window", "expire", "max-docs", "drop-known"];

/// Those that `--help` of `filter` shows too: a stream cannot be read again for what was rejected.
const USUAL_IN_FILTER: &[&str] = &["on-error", "rejects"];

/// Those that `-h` of these commands shows too: what they look for.
const BRIEF_IN: &[(&str, &[&str])] = &[("contain", &["shingle", "min-coverage", "of"]), ("passages", &["exact"])];

/// The options that show the help, for the program and each of its commands.
pub const HELP: [&str; 2] = ["help", "help-all"];

/// The number of examples that `-h` shows.
const EXAMPLES: usize = 3;

/// The help of clap with another text in the place of the short description.
const WITHOUT_ABOUT: &str = "{before-help}{usage-heading} {usage}\n\n{all-args}{after-help}";

/// How much is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// `-h`.
    Brief,
    /// `--help`.
    Usual,
    /// `--help-all`.
    All,
}

impl Level {
    /// What a command line that asks for help asks for first.
    pub fn of(line: &[OsString]) -> Self {
        let typed = line.iter().take_while(|&word| word != "--").find_map(|word| match word.to_str() {
            Some("--help") => Some(Level::Usual),
            Some("--help-all") => Some(Level::All),
            _ => None,
        });
        typed.unwrap_or(Level::Brief)
    }

    fn shows(self, command: &str, option: &str) -> bool {
        match self {
            Level::Brief | Level::Usual if command == "clean" && ADVANCED_IN_CLEAN.contains(&option) => false,
            Level::Usual if command == "filter" && USUAL_IN_FILTER.contains(&option) => true,
            Level::Brief if BRIEF_IN.iter().any(|(name, own)| *name == command && own.contains(&option)) => true,
            Level::Brief => BRIEF.contains(&option),
            Level::Usual => !ADVANCED.contains(&option),
            Level::All => true,
        }
    }
}

/// The program with `-h`, `--help` and `--help-all`, for its commands too. They replace those of clap.
pub fn add(program: Command) -> Command {
    let [help, all] = HELP;
    let arg = |name: &'static str| Arg::new(name).long(name).global(true).display_order(1000);
    let brief = "Print the most used options; --help prints more";
    program
        .disable_help_flag(true)
        .arg(arg(help).short('h').action(ArgAction::HelpShort).help(brief))
        .arg(arg(all).action(ArgAction::HelpLong).help("Print every option in detail"))
}

/// The program with the help of a level.
pub fn at(level: Level, program: Command) -> Command {
    if level == Level::All { program } else { shown(level, program, "") }
}

fn shown(level: Level, command: Command, before: &str) -> Command {
    let name = format!("{before}{}", command.get_name());
    let inner = format!("{name} ");
    let own = command.get_name().to_string();
    let is_hidden = |arg: &Arg| arg.get_long().is_some_and(|long| !HELP.contains(&long) && !level.shows(&own, long));
    let hides = command.get_arguments().any(is_hidden);
    let show = |arg: Arg| {
        // The few options of a brief help need no groups.
        let arg = if level == Level::Brief { arg.help_heading(None::<&'static str>) } else { arg };
        if is_hidden(&arg) { arg.hide_short_help(true) } else { arg }
    };
    let (about, examples) = match level {
        Level::Brief => (None, brief_examples(&command)),
        _ => {
            let after = command.get_after_long_help().or(command.get_after_help());
            (command.get_long_about().cloned(), after.map(ToString::to_string))
        }
    };
    let chapter = chapter_of(&name).map(|chapter| format!("Chapter of the guide: dedup help {chapter}."));
    let more = match level {
        Level::Brief => hides.then(|| format!("{name} --help shows more options, {name} --help-all every option.")),
        _ if !hides => chapter,
        _ => Some(
            format!("{name} --help-all describes every option. {}", chapter.unwrap_or_default()).trim_end().to_string(),
        ),
    };
    let after: Vec<String> = examples.into_iter().chain(more).collect();
    let command = command.mut_args(show).mut_subcommands(|command| shown(level, command, &inner));
    let command = command.after_help(after.join("\n\n"));
    match about {
        // Lists of commands have the short one.
        Some(about) => command.before_help(about).help_template(WITHOUT_ABOUT),
        None => command,
    }
}

/// The commands with a chapter of the guide about them.
const CHAPTERS_OF: &[(&str, &str)] = &[
    ("scan", "scanning"),
    ("filter", "filtering"),
    ("index", "filtering"),
    ("check", "checking"),
    ("clean", "cleaning"),
    ("passages", "repeats"),
    ("contain", "containing"),
    ("compare", "comparing"),
    ("plan", "choosing"),
    ("eval", "choosing"),
    ("lexicon", "algorithms"),
];

/// The chapter about a command, given as it is typed: `dedup index stats`.
fn chapter_of(command: &str) -> Option<&'static str> {
    let name = command.split(' ').nth(1)?;
    CHAPTERS_OF.iter().find(|(command, _)| *command == name).map(|&(_, chapter)| chapter)
}

/// The first examples, unless there are few.
fn brief_examples(command: &Command) -> Option<String> {
    let after = command.get_after_help()?.to_string();
    let hides = command.get_arguments().any(|arg| arg.get_long().is_some_and(|long| !BRIEF.contains(&long)));
    let examples = after.lines().skip_while(|line| !line.starts_with("Example"));
    let lines: Vec<&str> = examples.take(1 + EXAMPLES).take_while(|line| !line.is_empty()).collect();
    Some(if hides && !lines.is_empty() && command.get_name() != "dedup" { lines.join("\n") } else { after })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// The lines of a screen.
    const SCREEN: usize = 50;
    const WIDTH: usize = 80;

    /// Calls a function with each command, as words after `dedup`.
    fn each_command(command: &Command, before: &[String], each: &mut dyn FnMut(&[String], &Command)) {
        each(before, command);
        for inner in command.get_subcommands() {
            each_command(inner, &[before, &[inner.get_name().to_string()]].concat(), each);
        }
    }

    fn help(path: &[String], option: &str) -> String {
        let line: Vec<OsString> =
            ["dedup"].into_iter().chain(path.iter().map(String::as_str)).chain([option]).map(OsString::from).collect();
        let program = at(Level::of(&line), crate::cli::command()).term_width(WIDTH);
        program.try_get_matches_from(line).expect_err("asks for help").render().to_string()
    }

    #[test]
    fn commands_name_chapters_that_exist() {
        let program = crate::cli::command();
        for (command, chapter) in CHAPTERS_OF {
            assert!(program.find_subcommand(command).is_some(), "{command}");
            assert!(neardups::guide::CHAPTERS.iter().any(|known| known.name == *chapter), "{chapter}");
        }
        assert_eq!(chapter_of("dedup index stats"), Some("filtering"));
        assert_eq!(chapter_of("dedup"), None);
    }

    #[test]
    fn help_fits_the_screen() {
        let mut wrong = String::new();
        each_command(&crate::cli::command(), &[], &mut |path, _| {
            for (option, screens) in [("-h", 1), ("--help", 2)] {
                let help = help(path, option);
                let lines = help.lines().count();
                eprintln!("{lines:4} {path:?} {option}");
                if lines > screens * SCREEN {
                    wrong += &format!("{path:?} {option}: {lines} lines, where {} fit:\n{help}\n", screens * SCREEN);
                }
                for line in help.lines().filter(|line| line.chars().count() > WIDTH) {
                    wrong += &format!("{path:?} {option}: {line}\n");
                }
                // What is too long for a line is wrapped to its margin.
                let examples = help.lines().skip_while(|line| !line.starts_with("Example")).skip(1);
                for line in examples.take_while(|line| !line.is_empty()).filter(|line| !line.starts_with("  ")) {
                    wrong += &format!("{path:?} {option}: an example does not fit: {line}\n");
                }
            }
        });
        assert!(wrong.is_empty(), "{wrong}");
    }

    #[test]
    fn every_option_is_in_the_complete_help() {
        each_command(&crate::cli::command(), &[], &mut |path, command| {
            let [brief, usual, all] = ["-h", "--help", "--help-all"].map(|option| help(path, option));
            for long in command.get_arguments().filter_map(Arg::get_long).filter(|long| !HELP.contains(long)) {
                let is_in = |help: &str| help.split([' ', ',', '\n']).any(|word| word.strip_prefix("--") == Some(long));
                let entry = |help: &str| help.lines().any(|line| line.trim_start().starts_with('-') && is_in(line));
                assert!(entry(&all), "{path:?}: --{long}");
                let is = |name: &str| path.last().is_some_and(|command| *command == name);
                let is_usual = is("filter") && USUAL_IN_FILTER.contains(&long);
                let is_advanced =
                    ADVANCED.contains(&long) && !is_usual || is("clean") && ADVANCED_IN_CLEAN.contains(&long);
                assert_eq!(entry(&usual), !is_advanced, "{path:?}: --{long}");
                let is_own = BRIEF_IN.iter().any(|(name, own)| is(name) && own.contains(&long));
                assert_eq!(entry(&brief), is_own || BRIEF.contains(&long) && !is_advanced, "{path:?}: --{long}");
            }
            if !command.has_subcommands() && usual.lines().count() < all.lines().count() / 2 {
                assert!(usual.contains("--help-all describes every option"), "{path:?}");
            }
        });
    }

    #[test]
    fn each_level_lists_options_that_there_are() {
        let mut options = BTreeSet::new();
        each_command(&crate::cli::command(), &[], &mut |_, command| {
            options.extend(command.get_arguments().filter_map(Arg::get_long).map(String::from));
        });
        for option in BRIEF.iter().chain(ADVANCED) {
            assert!(options.contains(*option), "{option}");
        }
        let twice: Vec<_> = BRIEF.iter().filter(|option| ADVANCED.contains(option)).collect();
        assert!(twice.is_empty(), "{twice:?}");
    }

    #[test]
    fn a_line_asks_for_a_level() {
        let level = |line: &str| Level::of(&line.split(' ').map(OsString::from).collect::<Vec<_>>());
        assert_eq!([level("scan -h"), level("scan -qh a")], [Level::Brief; 2]);
        assert_eq!([level("scan --help"), level("scan --help --help-all")], [Level::Usual; 2]);
        assert_eq!([level("scan -h --help-all"), level("scan -h -- --help-all")], [Level::All, Level::Brief]);
    }

    /// Parameters of one algorithm are below its name; those of several name them.
    #[test]
    fn parameters_are_grouped_by_algorithm() {
        let all = help(&["scan".into()], "--help-all");
        let heading = |option: &str| {
            let at = all.find(&format!("\n      --{option}")).expect(option);
            let above = all[..at].lines().rev().find(|line| line.ends_with(':') && !line.starts_with(' '));
            above.expect("a heading")
        };
        for (option, expected) in [
            ("sketch ", "Parameters of minhash:"),
            ("distance ", "Parameters of simhash:"),
            ("min-terms ", "Parameters of imatch:"),
            ("agree ", "Parameters of projection:"),
            ("antecedents ", "Parameters of spotsigs:"),
            ("threshold ", "Parameters of several algorithms:"),
            ("tokenizer ", "Tokens:"),
        ] {
            assert_eq!(heading(option), expected);
        }
    }
}
