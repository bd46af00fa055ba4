//! Names and values in the place of a command line: what another front end, such as Python, was called with.

use crate::readable::nearest;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, ArgAction, ArgMatches, Command};
use std::error::Error as _;
use std::ffi::OsString;

/// What a name was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Given {
    /// Yes or no.
    Switch(bool),
    /// Values as they would be typed.
    Values(Vec<String>),
}

/// Why names and values cannot be used. Names are those of the flags, without dashes before them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Misuse {
    /// There is no such name.
    Unknown {
        name: String,
        nearest: Option<String>,
    },
    /// The value of a switch is neither yes nor no, or that of an option is.
    Type {
        name: String,
        expected: &'static str,
    },
    /// A value is none that the option takes. The reason says what is expected, or what is wrong.
    Value {
        name: String,
        value: String,
        reason: String,
    },
    /// An option takes one value, and was given several.
    Several {
        name: String,
        count: usize,
    },
    /// An option has an effect only with another one.
    Needs {
        name: String,
        other: String,
    },
    Other(String),
}

/// Parses names and values as the flags of a command, except those that are `withheld`.
pub fn parse(command: Command, withheld: &[&str], given: &[(String, Given)]) -> Result<ArgMatches, Misuse> {
    let flag = |name: &str| {
        let arg = command.get_arguments().find(|arg| arg.get_long() == Some(name));
        arg.filter(|arg| !withheld.contains(&arg.get_id().as_str()))
    };
    let mut line: Vec<OsString> = vec![command.get_name().into()];
    for (name, given) in given {
        let Some(arg) = flag(name) else {
            let names = command.get_arguments().filter_map(Arg::get_long).filter(|name| flag(name).is_some());
            return Err(Misuse::Unknown {
                name: name.clone(),
                nearest: nearest(name, names).first().map(|name| name.to_string()),
            });
        };
        match (arg.get_action().takes_values(), given) {
            (false, Given::Switch(_)) => {}
            (true, Given::Values(values)) if values.len() > 1 && !matches!(arg.get_action(), ArgAction::Append) => {
                return Err(Misuse::Several { name: name.clone(), count: values.len() });
            }
            (true, Given::Values(_)) => {}
            (false, Given::Values(_)) => return Err(Misuse::Type { name: name.clone(), expected: "True or False" }),
            (true, Given::Switch(_)) => {
                return Err(Misuse::Type { name: name.clone(), expected: "a string or a number" });
            }
        }
        line.extend(typed(name, given));
    }
    let parsed = command.clone().try_get_matches_from(line);
    parsed.map_err(|error| missing(&command, given, &error).unwrap_or_else(|| misuse(&error)))
}

/// The words of a command line.
fn typed(name: &str, given: &Given) -> Vec<OsString> {
    match given {
        Given::Switch(false) => Vec::new(),
        Given::Switch(true) => vec![format!("--{name}").into()],
        Given::Values(values) => values.iter().map(|value| format!("--{name}={value}").into()).collect(),
    }
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
        let line = [vec![command.get_name().into()], typed(name, given)].concat();
        command.clone().try_get_matches_from(line).is_err_and(|error| is_missing(&error))
    };
    Some(Misuse::Needs { name: given.iter().find(needs)?.0.clone(), other })
}

/// The same, with a value of a flag that is not given by its name.
pub fn parse_with(
    command: Command,
    withheld: Vec<&str>,
    given: &[(String, Given)],
    more: Option<(&str, &str)>,
) -> Result<ArgMatches, Misuse> {
    let Some((name, value)) = more else { return parse(command, &withheld, given) };
    if given.iter().any(|(given, _)| given == name) {
        return Err(Misuse::Unknown { name: name.into(), nearest: None });
    }
    let withheld: Vec<&str> = withheld.into_iter().filter(|withheld| *withheld != name).collect();
    parse(command, &withheld, &[given, &[(name.into(), Given::Values(vec![value.into()]))]].concat())
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

    fn values(values: &[&str]) -> Given {
        Given::Values(values.iter().map(|value| value.to_string()).collect())
    }

    fn misused(name: &str, given: Given) -> Misuse {
        parse(super::super::scan::command(), &["quiet"], &[(name.to_string(), given)]).expect_err("a misuse")
    }

    #[test]
    fn a_misspelled_name_has_a_nearest_one() {
        let nearest = |name: &str| match misused(name, values(&["1"])) {
            Misuse::Unknown { nearest, .. } => nearest,
            other => panic!("{other:?}"),
        };
        assert_eq!(nearest("treshold").as_deref(), Some("threshold"));
        assert_eq!(nearest("text_fields").as_deref(), Some("text-field"));
        assert_eq!(nearest("quiet"), None, "withheld");
        assert_eq!(nearest("xyzzyplugh"), None);
    }

    #[test]
    fn an_option_without_one_that_it_needs() {
        let given = [("shingle".to_string(), values(&["9"])), ("of".to_string(), values(&["reference"]))];
        let needs = Misuse::Needs { name: "of".into(), other: "against".into() };
        assert_eq!(parse(super::super::contain::command(), &[], &given).expect_err("a misuse"), needs);
    }

    #[test]
    fn values_are_checked_as_those_of_the_command_line() {
        let expected = "a number above 0 and at most 1 with up to 12 decimals, such as 0.8, or a fraction, such as 2/3";
        let reason = format!("expected {expected}");
        let misuse = Misuse::Value { name: "threshold".into(), value: "2".into(), reason };
        assert_eq!(misused("threshold", values(&["2"])), misuse);
        let Misuse::Value { name, reason, .. } = misused("emit", values(&["all"])) else { panic!("a value") };
        assert_eq!((&*name, &reason[..21]), ("emit", "expected one of pairs"));
        let Misuse::Value { reason, .. } = misused("memory", values(&["10"])) else { panic!("a value") };
        assert_eq!(reason, "10 bytes are too few: add a unit, as in 10G");
        assert!(matches!(misused("hidden", values(&["x"])), Misuse::Type { .. }));
        assert!(matches!(misused("threshold", Given::Switch(true)), Misuse::Type { .. }));
        let several = Misuse::Several { name: "threshold".into(), count: 2 };
        assert_eq!(misused("threshold", values(&["0.8", "0.9"])), several);
    }
}
