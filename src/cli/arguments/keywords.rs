//! Names and values in the place of a command line: what another front end, such as Python, was called with.

use crate::readable::nearest;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, ArgMatches, Command};
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
    Value {
        name: String,
        value: String,
        expected: String,
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
            (false, Given::Switch(true)) => line.push(format!("--{name}").into()),
            (false, Given::Switch(false)) => {}
            (true, Given::Values(values)) => line.extend(values.iter().map(|value| format!("--{name}={value}").into())),
            (false, Given::Values(_)) => return Err(Misuse::Type { name: name.clone(), expected: "True or False" }),
            (true, Given::Switch(_)) => {
                return Err(Misuse::Type { name: name.clone(), expected: "a string or a number" });
            }
        }
    }
    command.try_get_matches_from(line).map_err(|error| misuse(&error))
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
            let expected = words.or(reason).unwrap_or_else(|| "another value".into());
            let expected = expected.strip_prefix("expected ").unwrap_or(&expected).to_string();
            Misuse::Value { name, value, expected }
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
    fn values_are_checked_as_those_of_the_command_line() {
        let expected = "a number above 0 and at most 1 with up to 12 decimals, such as 0.8, or a fraction, such as 2/3";
        let misuse = Misuse::Value { name: "threshold".into(), value: "2".into(), expected: expected.into() };
        assert_eq!(misused("threshold", values(&["2"])), misuse);
        let Misuse::Value { name, expected, .. } = misused("emit", values(&["all"])) else { panic!("a value") };
        assert_eq!((&*name, &expected[..12]), ("emit", "one of pairs"));
        assert!(matches!(misused("hidden", values(&["x"])), Misuse::Type { .. }));
        assert!(matches!(misused("threshold", Given::Switch(true)), Misuse::Type { .. }));
        assert!(matches!(misused("threshold", values(&["0.8", "0.9"])), Misuse::Other(_)));
    }
}
