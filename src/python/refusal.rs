//! Errors as exceptions of Python, with parameters as its names: `text_field` for `--text-field`.

use crate::cli::call::{self, Misuse, Refused};
use crate::source::Problem;
use crate::{Error, ErrorKind, readable};
use pyo3::exceptions::{
    PyBlockingIOError, PyFileNotFoundError, PyKeyboardInterrupt, PyMemoryError, PyOSError, PyRuntimeError, PyTypeError,
    PyValueError,
};
use pyo3::prelude::*;
use std::any::Any;
use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What follows the name of an option in a message: its value as it is written in Python, and the rest. The name of a value is left out.
fn value<'m>(option: &str, after: &'m str) -> Option<(String, &'m str)> {
    let words = call::words().get(option)?;
    let from = after.strip_prefix(' ')?;
    let length = from.find(|c: char| !(c.is_ascii_alphanumeric() || "-./_".contains(c))).unwrap_or(from.len());
    let word = from[..length].trim_end_matches('.');
    let rest = &from[word.len()..];
    if words.iter().any(|known| known == word) {
        return Some((format!("=\"{word}\""), rest));
    }
    if word.parse::<f64>().is_ok() && word.starts_with(|c: char| c.is_ascii_digit()) {
        return Some((format!("={word}"), rest));
    }
    let is_name = word.len() > 1 && word.bytes().all(|byte| byte.is_ascii_uppercase());
    is_name.then(|| (String::new(), rest))
}

/// A message in which parameters are flags, with their names in Python: `emit="kept"` for `--emit kept`. The flags of a command remain.
pub fn spelled(message: &str) -> String {
    let is_part = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let (mut out, mut rest) = (String::with_capacity(message.len()), message);
    while let Some(at) = rest.find("--") {
        let (before, from) = rest.split_at(at);
        let name = &from[2..];
        let length = name.find(|c| !is_part(c)).unwrap_or(name.len());
        let follows_text = before.ends_with(|c: char| c.is_alphanumeric() || c == '-');
        out += before;
        let clause = out.rsplit([',', ';', ':', '(']).next().unwrap_or_default();
        if length == 0 || follows_text || name.starts_with('-') || clause.contains("dedup ") {
            out += "--";
            rest = name;
        } else {
            let (option, after) = name.split_at(length);
            let (value, after) = value(option, after).unwrap_or((String::new(), after));
            out += &format!("`{}{value}`", option.replace('-', "_"));
            rest = after;
        }
    }
    out + rest
}

/// A warning of the library.
pub fn warning(message: &str) -> String {
    spelled(&call::warning(message))
}

/// Why a record was rejected.
pub fn rejection(message: &str) -> String {
    spelled(&call::rejection(message))
}

/// The message of a problem with a record.
pub fn problem(problem: &Problem) -> String {
    if problem.kind.is_rejection() { rejection(&problem.message) } else { problem.message.clone() }
}

/// A value in a message: of a long one the beginning.
pub fn shortened(value: &str) -> Cow<'_, str> {
    const MOST_CHARS: usize = 40;
    readable::shortened(value, MOST_CHARS)
}

/// The values of a list in a message.
fn listed(values: &[String]) -> String {
    const MOST_VALUES: usize = 5;
    let first = values.iter().take(MOST_VALUES).map(|value| shortened(value));
    first.chain((values.len() > MOST_VALUES).then_some("…".into())).collect::<Vec<_>>().join(", ")
}

/// A value and the reason why it is refused, which may repeat it.
fn with_reason<'m>(value: &'m str, reason: &'m str) -> (Cow<'m, str>, Cow<'m, str>) {
    match shortened(value) {
        Cow::Borrowed(value) => (value.into(), reason.into()),
        short => {
            let reason = reason.replace(value, &short).into();
            (short, reason)
        }
    }
}

/// The exception for a call that is refused.
pub fn refused(refused: Refused) -> PyErr {
    let python = |name: &str| shortened(name).replace('-', "_");
    match refused {
        Refused::Error(error) => exception(&error),
        Refused::Misuse(Misuse::Unknown { name, nearest }) => {
            let hint = nearest.map(|nearest| format!(": did you mean '{}'?", python(&nearest))).unwrap_or_default();
            PyTypeError::new_err(format!("unexpected keyword argument '{}'{hint}", python(&name)))
        }
        Refused::Misuse(Misuse::Withheld { name, meant, why }) => {
            let about = meant.map_or_else(|| "it".into(), |meant| format!("'{}'", python(&meant)));
            PyTypeError::new_err(format!("unexpected keyword argument '{}': {about} {why}", python(&name)))
        }
        Refused::Misuse(Misuse::Type { name, value, expected }) => {
            PyTypeError::new_err(format!("`{}` must be {expected}, not {}", python(&name), shortened(&value)))
        }
        Refused::Misuse(Misuse::Value { name, value, reason }) => {
            let (value, reason) = with_reason(&value, &reason);
            let reason = spelled(&reason);
            PyValueError::new_err(format!("invalid value '{value}' for `{}`: {reason}", python(&name)))
        }
        Refused::Misuse(Misuse::Several { name, values, words }) => {
            let shown = if values.is_empty() { String::new() } else { format!(" ({})", listed(&values)) };
            let expected =
                if words.is_empty() { String::new() } else { format!(": expected one of {}", words.join(", ")) };
            let (name, count) = (python(&name), values.len());
            PyTypeError::new_err(format!("`{name}` takes one value, and not a list of {count}{shown}{expected}"))
        }
        Refused::Misuse(Misuse::Needs { name, other }) => {
            PyValueError::new_err(format!("`{}` has an effect only with `{}`", python(&name), python(&other)))
        }
        Refused::Misuse(Misuse::Other(message)) => PyValueError::new_err(spelled(&message)),
    }
}

/// The exception for an error of the library.
pub fn exception(error: &Error) -> PyErr {
    if let Error::Io { error: of_system, .. }
    | Error::Output { error: of_system, .. }
    | Error::Input { error: of_system, .. } = error
        && let Some(number) = of_system.raw_os_error()
    {
        return system_exception(number, error);
    }
    let short = match error {
        Error::Parameter { name, value, expected } => {
            let (value, expected) = with_reason(value, expected);
            Some(Error::parameter(name, value, expected))
        }
        _ => None,
    };
    let message = spelled(&call::message(short.as_ref().unwrap_or(error)));
    match error.kind() {
        ErrorKind::Usage | ErrorKind::Empty | ErrorKind::IndexOptions => PyValueError::new_err(message),
        ErrorKind::Input | ErrorKind::Output | ErrorKind::Disk => PyOSError::new_err(message),
        ErrorKind::Memory => PyMemoryError::new_err(message),
        ErrorKind::IndexMissing => PyFileNotFoundError::new_err(message),
        ErrorKind::IndexLocked => PyBlockingIOError::new_err(message),
        ErrorKind::IndexDamaged => PyRuntimeError::new_err(message),
        ErrorKind::Stopped => PyKeyboardInterrupt::new_err(message),
    }
}

/// The exception for an error of the library that is because of one of the system. Python makes it a `FileNotFoundError`, a
/// `PermissionError` and so on by its number.
pub fn system_exception(number: i32, error: &Error) -> PyErr {
    PyOSError::new_err((number, spelled(&call::message(error))))
}

/// Runs `work`. A panic, which is a defect of this package, becomes an exception: the interpreter goes on.
pub fn caught<T>(work: impl FnOnce() -> T) -> PyResult<T> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| panicked(&*panic))
}

fn panicked(panic: &(dyn Any + Send)) -> PyErr {
    let message = panic.downcast_ref::<String>().map(String::as_str);
    let message = message.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("without a message");
    PyRuntimeError::new_err(format!("neardups panicked, which is a defect of it: {message}"))
}

#[cfg(test)]
mod tests {
    use super::spelled;

    #[test]
    fn flags_become_names() {
        for (message, expected) in [
            ("--text-field has no effect", "`text_field` has no effect"),
            ("use --keep or --prefer.", "use `keep` or `prefer`."),
            ("a -- b, a--b, ---", "a -- b, a--b, ---"),
            ("(allow more with --max-record)", "(allow more with `max_record`)"),
            ("dedup index compact --salvage makes one, --memory", "dedup index compact --salvage makes one, `memory`"),
            ("add --against REF, and --emit verdicts", "add `against`, and `emit=\"verdicts\"`"),
            ("--emit kept.", "`emit=\"kept\"`."),
            ("--min-words 8 finds them, --threshold 0.5", "`min_words=8` finds them, `threshold=0.5`"),
            ("--exact finds, --keep has, --of documents", "`exact` finds, `keep` has, `of` documents"),
        ] {
            assert_eq!(spelled(message), expected);
        }
    }
}
