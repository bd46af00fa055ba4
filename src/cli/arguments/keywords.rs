//! Names and values in the place of a command line: what another front end, such as Python, was called with.

use crate::readable::nearest;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, ArgAction, ArgMatches, Command, ValueHint};
use std::error::Error as _;
use std::ffi::{OsStr, OsString};
use std::slice;

/// What a name was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Given {
    /// Yes or no.
    Switch(bool),
    /// A value as it would be typed.
    Value(OsString),
    /// A list of these, also of a single one.
    List(Vec<OsString>),
}

/// Why names and values cannot be used. Names are those of the flags, without dashes before them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Misuse {
    /// There is no such name.
    Unknown {
        name: String,
        nearest: Option<String>,
    },
    /// An option of the command is not taken here.
    Withheld {
        name: String,
        /// The option, if the name is only similar to it.
        meant: Option<String>,
        /// What it does instead, and where it is taken, as the end of a sentence about it.
        why: String,
    },
    /// The value of a switch is neither yes nor no, or that of an option is.
    Type {
        name: String,
        value: String,
        expected: String,
    },
    /// A value is none that the option takes. The reason says what is expected, or what is wrong.
    Value {
        name: String,
        value: String,
        reason: String,
    },
    /// An option takes one value, and was given a list; with the words that it takes, if these are some.
    Several {
        name: String,
        values: Vec<String>,
        words: Vec<String>,
    },
    /// An option has an effect only with another one.
    Needs {
        name: String,
        other: String,
    },
    Other(String),
}

/// Flags that are not taken, and why, as the end of a sentence about one: "concerns files, and is taken with paths".
#[derive(Clone, Copy, Debug)]
pub struct Withheld {
    pub flags: &'static [&'static str],
    pub why: &'static str,
}

/// Why a flag is not taken, if it is not.
fn why_withheld(withheld: &[Withheld], name: &str) -> Option<&'static str> {
    withheld.iter().find(|withheld| withheld.flags.contains(&name)).map(|withheld| withheld.why)
}

/// The flags of a command that are taken.
pub fn taken<'c>(command: &'c Command, withheld: &[Withheld]) -> impl Iterator<Item = &'c Arg> {
    let is_taken = |arg: &&Arg| arg.get_long().is_some_and(|name| why_withheld(withheld, name).is_none());
    command.get_arguments().filter(is_taken)
}

/// Options that take the names of columns, or of files as globs.
const NAMES: [&str; 9] = [
    "text-field",
    "id-field",
    "against-text-field",
    "against-id-field",
    "stopwords",
    "include",
    "exclude",
    "prefer",
    "pre-glob",
];

/// Whether an option takes names of files or columns, so that a number is no value of it.
pub fn takes_names(arg: &Arg) -> bool {
    let is_path = matches!(arg.get_value_hint(), ValueHint::AnyPath | ValueHint::FilePath | ValueHint::DirPath);
    is_path || arg.get_long().is_some_and(|name| NAMES.contains(&name))
}

/// What other packages call an option.
const OF_OTHERS: [(&str, &str); 4] =
    [("n-jobs", "threads"), ("num-proc", "threads"), ("num-workers", "threads"), ("num-perm", "hashes")];

/// The misuse of a name that is not taken.
fn unknown(command: &Command, withheld: &[Withheld], name: &str) -> Misuse {
    let mut names: Vec<_> = command.get_arguments().filter_map(Arg::get_long).collect();
    if names.contains(&name)
        && let Some(why) = why_withheld(withheld, name)
    {
        return Misuse::Withheld { name: name.into(), meant: None, why: why.into() };
    }
    let known = OF_OTHERS.iter().find(|(theirs, _)| *theirs == name).map(|&(_, ours)| ours);
    if let Some(ours) = known.filter(|ours| taken(command, withheld).any(|arg| arg.get_long() == Some(ours))) {
        return Misuse::Unknown { name: name.into(), nearest: Some(ours.into()) };
    }
    // Where documents have no files or columns, an option that concerns those of the reference is similar to one that is withheld.
    let near = nearest(name, names.drain(..)).first().map(|near| near.to_string());
    match near.as_deref().and_then(|near| why_withheld(withheld, near)) {
        Some(why) => Misuse::Withheld { name: name.into(), meant: near, why: why.into() },
        None => Misuse::Unknown { name: name.into(), nearest: near },
    }
}

/// Parses names and values as the flags of a command, except those that are `withheld`.
pub fn parse(command: Command, withheld: &[Withheld], given: &[(String, Given)]) -> Result<ArgMatches, Misuse> {
    let flag = |name: &str| taken(&command, withheld).find(|arg| arg.get_long() == Some(name));
    let mut line: Vec<OsString> = vec![command.get_name().into()];
    for (name, given) in given {
        let Some(arg) = flag(name) else {
            return Err(unknown(&command, withheld, name));
        };
        match (arg.get_action().takes_values(), given) {
            (false, Given::Switch(_)) | (true, Given::Value(_)) => {}
            (true, Given::List(_)) if matches!(arg.get_action(), ArgAction::Append) => {}
            (true, Given::List(values)) => {
                let values = values.iter().map(|value| value.to_string_lossy().into_owned()).collect();
                return Err(Misuse::Several { name: name.clone(), values, words: words(&command, name) });
            }
            (false, Given::Value(value)) => return Err(mistyped(name, &value.to_string_lossy(), "True or False")),
            (false, Given::List(_)) => return Err(mistyped(name, "a list", "True or False")),
            (true, Given::Switch(is_on)) => {
                let words = words(&command, name);
                let expected = match words.is_empty() {
                    true if takes_names(arg) => "a string or a path".into(),
                    true => "a string or a number".into(),
                    false => format!("one of {}", words.join(", ")),
                };
                return Err(mistyped(name, if *is_on { "True" } else { "False" }, &expected));
            }
        }
        line.extend(words_of(name, given));
    }
    let parsed = command.clone().try_get_matches_from(line);
    parsed.map_err(|error| {
        let special = missing(&command, given, &error).or_else(|| undecoded(&command, given, &error));
        special.unwrap_or_else(|| misuse(&error))
    })
}

fn mistyped(name: &str, value: &str, expected: &str) -> Misuse {
    Misuse::Type { name: name.into(), value: value.into(), expected: expected.into() }
}

/// The words that an option takes, if these are some.
fn words(command: &Command, name: &str) -> Vec<String> {
    let mut command = command.clone();
    // Before that, clap does not know which arguments take values.
    command.build();
    let words = command.get_arguments().find(|arg| arg.get_long() == Some(name)).map(Arg::get_possible_values);
    words.into_iter().flatten().map(|word| word.get_name().to_string()).collect()
}

/// The words of a command line.
pub fn words_of(name: &str, given: &Given) -> Vec<OsString> {
    match given {
        Given::Switch(false) => Vec::new(),
        Given::Switch(true) => vec![format!("--{name}").into()],
        Given::Value(value) => vec![typed_value(name, value)],
        Given::List(values) => values.iter().map(|value| typed_value(name, value)).collect(),
    }
}

fn typed_value(name: &str, value: &OsStr) -> OsString {
    let mut word = OsString::from(format!("--{name}="));
    word.push(value);
    word
}

/// The misuse of a text that is not UTF-8, which paths may be.
fn undecoded(command: &Command, given: &[(String, Given)], error: &clap::Error) -> Option<Misuse> {
    let is_undecoded = |error: &clap::Error| error.kind() == ErrorKind::InvalidUtf8;
    if !is_undecoded(error) {
        return None;
    }
    // The error does not name the option.
    given.iter().find_map(|(name, given)| {
        let values = match given {
            Given::Switch(_) => return None,
            Given::Value(value) => slice::from_ref(value),
            Given::List(values) => values,
        };
        let value = values.iter().find(|value| {
            let line = [command.get_name().into(), typed_value(name, value)];
            value.to_str().is_none() && command.clone().try_get_matches_from(line).is_err_and(|e| is_undecoded(&e))
        })?;
        let (name, value) = (name.clone(), value.to_string_lossy().into_owned());
        Some(Misuse::Value { name, value, reason: "expected text, and it is not UTF-8".into() })
    })
}

/// The misuse of an option without one that it needs.
fn missing(command: &Command, given: &[(String, Given)], error: &clap::Error) -> Option<Misuse> {
    let is_missing = |error: &clap::Error| error.kind() == ErrorKind::MissingRequiredArgument;
    let Some(ContextValue::Strings(others)) = error.get(ContextKind::InvalidArg).filter(|_| is_missing(error)) else {
        return None;
    };
    let other = others.first()?.strip_prefix("--")?.split([' ', '=']).next()?.to_string();
    // The error names what is missing, and not what needs it.
    let needs = |(name, given): &&(String, Given)| {
        let line = [vec![command.get_name().into()], words_of(name, given)].concat();
        command.clone().try_get_matches_from(line).is_err_and(|error| is_missing(&error))
    };
    Some(Misuse::Needs { name: given.iter().find(needs)?.0.clone(), other })
}

/// The same, with a value of a flag that is not given by its name.
pub fn parse_with(
    command: Command,
    withheld: &[Withheld],
    given: &[(String, Given)],
    more: Option<(&str, &str)>,
) -> Result<ArgMatches, Misuse> {
    let Some((name, value)) = more else { return parse(command, withheld, given) };
    if given.iter().any(|(given, _)| given == name) {
        return Err(Misuse::Unknown { name: name.into(), nearest: None });
    }
    parse(command, withheld, &[given, &[(name.into(), Given::Value(value.into()))]].concat())
}

fn misuse(error: &clap::Error) -> Misuse {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.clone()),
        Some(ContextValue::Strings(texts)) => Some(texts.join(", ")),
        _ => None,
    };
    let name = text(ContextKind::InvalidArg).and_then(|arg| {
        let name = arg.strip_prefix("--")?.split([' ', '=']).next()?.to_string();
        Some(name)
    });
    let is_value = matches!(error.kind(), ErrorKind::InvalidValue | ErrorKind::ValueValidation);
    match (name, text(ContextKind::InvalidValue)) {
        (Some(name), Some(value)) if is_value => {
            let words = text(ContextKind::ValidValue).map(|words| format!("one of {words}"));
            let reason = error.source().map(|reason| reason.to_string());
            let words = words.map(|words| format!("expected {words}"));
            Misuse::Value { name, value, reason: words.or(reason).unwrap_or_else(|| "expected another value".into()) }
        }
        _ => {
            let rendered = error.render().to_string();
            let message = rendered.strip_prefix("error: ").unwrap_or(&rendered);
            Misuse::Other(message.split("\n\n").next().unwrap_or_default().trim().to_string())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(value: &str) -> Given {
        Given::Value(value.into())
    }

    fn list(values: &[&str]) -> Given {
        Given::List(values.iter().map(Into::into).collect())
    }

    fn misused(name: &str, given: Given) -> Misuse {
        const WITHHELD: [Withheld; 2] =
            [Withheld { flags: &["quiet"], why: "is shown" }, Withheld { flags: &["text-field"], why: "is a column" }];
        parse(super::super::scan::command(), &WITHHELD, &[(name.to_string(), given)]).expect_err("a misuse")
    }

    fn misused_in_any(name: &str, given: Given) -> Misuse {
        parse(super::super::scan::command(), &[], &[(name.to_string(), given)]).expect_err("a misuse")
    }

    #[test]
    fn a_misspelled_name_has_a_nearest_one() {
        let nearest = |name: &str| match misused(name, value("1")) {
            Misuse::Unknown { nearest, .. } => nearest,
            other => panic!("{other:?}"),
        };
        assert_eq!(nearest("treshold").as_deref(), Some("threshold"));
        assert_eq!(nearest("id_fields").as_deref(), Some("id-field"));
        assert_eq!(nearest("xyzzyplugh"), None);
        for (theirs, ours) in OF_OTHERS {
            assert_eq!(nearest(theirs).as_deref(), Some(ours));
        }
    }

    #[test]
    fn an_option_that_is_withheld_says_why() {
        let withheld = |name: &str| match misused(name, value("1")) {
            Misuse::Withheld { meant, why, .. } => (meant, why),
            other => panic!("{other:?}"),
        };
        assert_eq!(withheld("quiet"), (None, "is shown".into()));
        assert_eq!(withheld("text-field"), (None, "is a column".into()));
        assert_eq!(withheld("text_fields"), (Some("text-field".into()), "is a column".into()));
    }

    #[test]
    fn an_option_without_one_that_it_needs() {
        let given = [("shingle".to_string(), value("9")), ("of".to_string(), value("reference"))];
        let needs = Misuse::Needs { name: "of".into(), other: "against".into() };
        assert_eq!(parse(super::super::contain::command(), &[], &given).expect_err("a misuse"), needs);
    }

    #[test]
    fn values_are_checked_as_those_of_the_command_line() {
        let expected = "a number above 0 and at most 1 with up to 12 decimals, such as 0.8, or a fraction, such as 2/3";
        let reason = format!("expected {expected}");
        let misuse = Misuse::Value { name: "threshold".into(), value: "2".into(), reason };
        assert_eq!(misused("threshold", value("2")), misuse);
        let Misuse::Value { name, reason, .. } = misused("emit", value("all")) else { panic!("a value") };
        assert_eq!((&*name, &reason[..21]), ("emit", "expected one of pairs"));
        let Misuse::Value { reason, .. } = misused("memory", value("10")) else { panic!("a value") };
        assert_eq!(reason, "10 bytes are too few: add a unit, as in 10G");
        assert!(matches!(misused("hidden", value("x")), Misuse::Type { .. }));
        assert!(matches!(misused("threshold", Given::Switch(true)), Misuse::Type { .. }));
        for values in [&["0.8", "0.9"][..], &["0.8"], &[]] {
            let given = values.iter().map(|value| value.to_string()).collect();
            let several = Misuse::Several { name: "threshold".into(), values: given, words: Vec::new() };
            assert_eq!(misused("threshold", list(values)), several);
        }
        let Misuse::Several { words, .. } = misused("emit", list(&["pairs"])) else { panic!("a list") };
        assert_eq!(words[..2], ["pairs", "clusters"]);
        let Misuse::Type { value, expected, .. } = misused("emit", Given::Switch(true)) else { panic!("a switch") };
        assert_eq!((&*value, &expected[..12]), ("True", "one of pairs"));
    }

    #[test]
    fn names_of_files_and_columns_are_no_numbers() {
        let command = super::super::scan::command();
        for name in NAMES {
            assert!(command.get_arguments().any(|arg| arg.get_long() == Some(name)), "{name}");
        }
        for name in ["temp-dir", "lexicon", "stopwords", "weights", "decisions", "text-field", "include"] {
            let Misuse::Type { expected, .. } = misused_in_any(name, Given::Switch(true)) else { panic!("{name}") };
            assert_eq!(expected, "a string or a path", "{name}");
        }
        for name in ["threshold", "memory", "seed", "shingle", "keep"] {
            let Misuse::Type { expected, .. } = misused_in_any(name, Given::Switch(true)) else { panic!("{name}") };
            assert_eq!(expected, "a string or a number", "{name}");
        }
    }

    #[test]
    #[cfg(unix)]
    fn texts_are_utf_8_and_paths_may_be_others() {
        use std::os::unix::ffi::OsStrExt;
        let odd = OsStr::from_bytes(b"a\xff");
        let undecoded = Misuse::Value {
            name: "tokenizer".into(),
            value: "a\u{fffd}".into(),
            reason: "expected text, and it is not UTF-8".into(),
        };
        assert_eq!(misused("tokenizer", Given::Value(odd.into())), undecoded);
        let given = [("temp-dir".to_string(), Given::Value(odd.into()))];
        let parsed = parse(super::super::scan::command().mut_args(|arg| arg.required(false)), &[], &given);
        let parsed = parsed.expect("a path");
        assert_eq!(parsed.get_one::<std::path::PathBuf>("temp-dir").map(|path| path.as_os_str()), Some(odd));
    }
}
