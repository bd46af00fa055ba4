//! The library names parameters as `` `recall` `` or, with a value, `` `recall 0.99` ``; people type `--recall 0.99`. It also names the
//! few functions that have a command.

use clap::Command;
use neardups::Error;
use neardups::source::Problem;
use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::{LazyLock, OnceLock};

/// The command for what the library names.
const COMMANDS: [(&str, &str); 8] = [
    ("clean::clean", "dedup clean --output DIR"),
    ("clean::clean_uncontained", "dedup contain --output DIR"),
    ("clean::clean_unshared", "dedup passages --unit document --output DIR"),
    ("clean::cut_passages", "dedup passages --output DIR"),
    ("Outdated::damaged", "dedup index compact --salvage"),
    ("count_terms", "dedup lexicon build"),
    ("index::header", "dedup index stats"),
    ("compare::compare", "dedup compare"),
];

/// A message of the library with its parameters spelled as options. Other text in backticks stays as it is, and so does quoted text:
/// 'values' are those of the user.
pub fn spelled(message: &str) -> Cow<'_, str> {
    spelled_if(message, is_option)
}

/// The same for help of the tables of the library, in which all parameters are options.
pub fn spelled_help(help: &str) -> Cow<'_, str> {
    spelled_if(help, |_| true)
}

fn spelled_if(message: &str, is_option: impl Fn(&str) -> bool) -> Cow<'_, str> {
    if !message.contains('`') {
        return Cow::Borrowed(message);
    }
    let (mut out, mut rest) = (String::with_capacity(message.len()), message);
    while let Some(at) = rest.find(['`', '\'']) {
        let (before, from) = rest.split_at(at);
        out += before;
        let after_word = out.ends_with(|last: char| last.is_alphanumeric());
        let (kept, after) = match from[1..].split_once('`') {
            _ if from.starts_with('\'') => from.split_at(if after_word { 1 } else { quoted(from) }),
            Some((name, after)) if let Some((_, command)) = COMMANDS.iter().find(|(named, _)| *named == name) => {
                (*command, after)
            }
            Some((name, after)) if is_option(name) => {
                out += "--";
                (name, after)
            }
            // The next backtick may open a name.
            _ => from.split_at(1),
        };
        out += kept;
        rest = after;
    }
    Cow::Owned(out + rest)
}

/// The length of the quoted text that a message starts with, or of the quotation mark if it does not end.
fn quoted(message: &str) -> usize {
    let is_end = |&(at, _): &(usize, &str)| !message[at + 1..].starts_with(char::is_alphanumeric);
    message.match_indices('\'').skip(1).find(is_end).map_or(1, |(at, _)| at + 1)
}

/// What is between two parameters at the end of a message.
const FOR_THE_REFERENCE: &str = "`, or for the reference alone with ";

/// A message that may end with the parameter to change, as in "(choose with `` `text-field` ``)". What comes before may be text of the
/// user, and stays as it is.
fn spelled_at_end(message: &str) -> Cow<'_, str> {
    match message.strip_suffix("`)").and_then(|message| message.rsplit_once('`')) {
        Some((before, name)) if before.ends_with(" with ") && is_option(name) => {
            let first = before.strip_suffix(FOR_THE_REFERENCE).and_then(|before| before.rsplit_once('`'));
            match first {
                Some((start, other)) if start.ends_with(" with ") && is_option(other) => {
                    format!("{start}--{other}{}--{name})", &FOR_THE_REFERENCE[1..]).into()
                }
                _ => format!("{before}--{name})").into(),
            }
        }
        _ => message.into(),
    }
}

/// Whether this is the name of an option, or one with a value.
fn is_option(quoted: &str) -> bool {
    let name = quoted.split(' ').next().unwrap_or_default();
    // They are not gathered before they are known.
    PROGRAM.get().is_some() && OPTIONS.contains(name)
}

/// The same for several messages.
pub fn spell_all<'a>(messages: impl IntoIterator<Item = &'a mut String>) {
    messages.into_iter().for_each(|message| *message = spelled(message).into_owned());
}

/// The message of an error. Its paths, values and quotations are those of the user.
pub fn of_error(error: &Error) -> String {
    match error {
        Error::Parameter { name, value, expected } => {
            format!("invalid value '{value}' for {}: expected {}", spelled(&format!("`{name}`")), spelled(expected))
        }
        Error::Index { path, message, .. } => format!("{path}: {}", spelled(message)),
        Error::Io { what, error } | Error::Output { what, error } | Error::Input { what, error } => {
            format!("{}: {}", spelled_at_end(what), spelled_at_end(&error.to_string()))
        }
        // What happened to the results may end with problems.
        Error::Failed { .. } => error.to_string().replacen("`on-error fail`", "--on-error fail", 1),
        Error::Label { .. } | Error::Lexicon { .. } | Error::Decision { .. } => error.to_string(),
        error => spelled(&error.to_string()).into_owned(),
    }
}

/// The message of a problem, without its place.
pub fn of_problem(problem: &Problem) -> Cow<'_, str> {
    if problem.kind.is_rejection() { of_rejection(&problem.message) } else { (&*problem.message).into() }
}

/// The message of a problem that rejected a record or a file: names and content of the user, then what to change.
pub fn of_rejection(message: &str) -> Cow<'_, str> {
    spelled_at_end(message)
}

/// The program, whose options are gathered when a message needs them.
static PROGRAM: OnceLock<fn() -> Command> = OnceLock::new();

/// The long options of all commands.
static OPTIONS: LazyLock<HashSet<String>> = LazyLock::new(|| {
    let mut options = HashSet::new();
    PROGRAM.get().into_iter().for_each(|program| collect(&program(), &mut options));
    options
});

/// Takes note of the program that has the options. Before that none is known.
pub fn learn_options(program: fn() -> Command) {
    PROGRAM.get_or_init(|| program);
}

fn collect(command: &Command, options: &mut HashSet<String>) {
    options.extend(command.get_arguments().filter_map(|argument| argument.get_long()).map(str::to_owned));
    command.get_subcommands().for_each(|command| collect(command, options));
}

#[cfg(test)]
mod tests {
    use super::*;
    use neardups::algorithm::ALGORITHMS;
    use neardups::algorithm::presets::PRESETS;
    use neardups::source::FORMATS;
    use std::path::Path;

    #[test]
    fn parameters_become_options() {
        learn_options(crate::cli::command);
        let check = |message: &str, expected: &str| assert_eq!(spelled(message), expected);
        check("nothing to do", "nothing to do");
        check("invalid value '0' for `shingle`: expected 1", "invalid value '0' for --shingle: expected 1");
        check("`recall` or `recall 0.99`", "--recall or --recall 0.99");
        check("`recall`", "--recall");
        check("`recall``recall`", "--recall--recall");
        check("`no such option` and `recall`", "`no such option` and --recall");
        check("a ` alone, then `recall`", "a ` alone, then --recall");
        check("`recall", "`recall");
        check("`recall` and `", "--recall and `");
        check("``", "``");
        check("(`Outdated::damaged` keeps it)", "(dedup index compact --salvage keeps it)");
    }

    #[test]
    fn quoted_text_stays() {
        learn_options(crate::cli::command);
        let check = |message: &str, expected: &str| assert_eq!(spelled(message), expected);
        check("'`recall`' for `recall`", "'`recall`' for --recall");
        check("`stopwords`: f:2: '`recall`' gives no token", "--stopwords: f:2: '`recall`' gives no token");
        check("it's `recall`, isn't it: `recall`", "it's --recall, isn't it: --recall");
        check("a 'b of `recall`", "a 'b of --recall");
        check("'don't `recall`' `recall`", "'don't `recall`' --recall");
    }

    #[test]
    fn errors_keep_paths_and_values() {
        learn_options(crate::cli::command);
        let check = |error: Error, expected: &str| assert_eq!(of_error(&error), expected);
        check(
            Error::parameter("recall", "`recall`", "less than `threshold`"),
            "invalid value '`recall`' for --recall: expected less than --threshold",
        );
        let fault = neardups::IndexFault::Options;
        check(
            Error::Index { path: "`recall`".into(), fault, message: "leave `recall` out".into() },
            "`recall`: leave --recall out",
        );
        let other = |message: &str| std::io::Error::other(message.to_string());
        check(
            Error::io("cannot read `recall`/a", other("no `recall` here")),
            "cannot read `recall`/a: no `recall` here",
        );
        check(
            Error::input("cannot read -", other("an archive (read it with `format warc`)")),
            "cannot read -: an archive (read it with --format warc)",
        );
        check(Error::Label { place: "`recall`:1".into(), message: "`recall`".into() }, "`recall`:1: `recall`");
        check(Error::Full("it is full (`max-docs`)".into()), "it is full (--max-docs)");
    }

    #[test]
    fn problems_keep_names_of_the_user() {
        learn_options(crate::cli::command);
        let check = |message: &str, expected: &str| assert_eq!(of_rejection(message), expected);
        check("too long (allow more with `max-record`)", "too long (allow more with --max-record)");
        check(
            "(fields here: `recall`, a`recall`; choose with `text-field`)",
            "(fields here: `recall`, a`recall`; choose with --text-field)",
        );
        check("`recall` is wrong", "`recall` is wrong");
        check("cannot read `recall`", "cannot read `recall`");
        check("cannot read a (`recall`)", "cannot read a (`recall`)");
        check("`)", "`)");
        check("`", "`");
        let place = neardups::source::Place { path: "a".into(), line: None };
        let severity = neardups::source::Severity::Skipped;
        let link = Problem::at(place, severity, neardups::source::ProblemKind::Loop, "leads back to `recall`");
        assert_eq!(of_problem(&link), "leads back to `recall`");
    }

    #[test]
    fn help_names_options_that_there_are() {
        learn_options(crate::cli::command);
        let of_parameters = ALGORITHMS.iter().flat_map(|entry| entry.parameters);
        let of_parameters = of_parameters.flat_map(|parameter| [parameter.help, parameter.details]);
        let of_presets = PRESETS.iter().flat_map(|preset| preset.differs.iter().chain([&preset.advice])).copied();
        let of_entries = ALGORITHMS.iter().flat_map(|entry| [entry.summary, entry.advice]);
        let of_formats = FORMATS.iter().map(|format| format.help);
        for help in of_parameters.chain(of_presets).chain(of_entries).chain(of_formats) {
            assert_eq!(spelled(help), spelled_help(help));
            assert!(!spelled_help(help).contains('`'), "{help}");
        }
    }

    /// The library says what is wrong; only the program says what to type.
    #[test]
    fn the_library_names_no_option_or_command() {
        learn_options(crate::cli::command);
        let command = crate::cli::command();
        let commands = command.get_subcommands().flat_map(|command| {
            let name = command.get_name();
            let inner: Vec<_> =
                command.get_subcommands().map(|inner| format!("dedup {name} {}", inner.get_name())).collect();
            if inner.is_empty() { vec![format!("dedup {name} ")] } else { inner }
        });
        let commands: Vec<_> = commands.collect();
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        let files = walkdir::WalkDir::new(&source).into_iter().filter_map(Result::ok);
        let files = files.filter(|file| file.path().extension().is_some_and(|extension| extension == "rs"));
        let of_library = |path: &Path| {
            let inside = path.strip_prefix(&source).expect("within");
            // Reports name the program that made them.
            !["cli", "guide", "check/report"].iter().any(|folder| inside.starts_with(folder))
                && !path.ends_with("tests.rs")
        };
        let mut read = 0;
        for file in files.filter(|file| of_library(file.path())) {
            let text = std::fs::read_to_string(file.path()).unwrap();
            let code = text.split("#[cfg(test)]").next().unwrap();
            for line in code.lines().filter(|line| !line.trim_start().starts_with("//")) {
                read += 1;
                let named = names_option(line) || commands.iter().any(|command| line.contains(command));
                assert!(!named, "{}: {line}", file.path().display());
            }
        }
        assert!(read > 1000);
        assert!(names_option(r#"advice: "raise --recall","#) && names_option(r#""--recall 0.99 finds it""#));
        assert!(!names_option(r#"git(["diff", "--quiet"])"#) && !names_option("a -- recall, and --no-such"));
    }

    /// Whether a line of code has the name of an option. Options of other programs are strings of their own.
    fn names_option(line: &str) -> bool {
        line.match_indices("--").any(|(at, _)| {
            let rest = &line[at + 2..];
            let end = rest.find(|c: char| !(c.is_ascii_lowercase() || c == '-')).unwrap_or(rest.len());
            let is_whole = line[..at].ends_with('"') && rest[end..].starts_with('"');
            !is_whole && OPTIONS.contains(&rest[..end])
        })
    }
}
