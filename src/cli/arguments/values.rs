//! Values of flags: parsers that check them, and getters for what clap parsed.

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::parser::{MatchesError, ValueSource};
use clap::{Arg, ArgMatches, value_parser};
use std::ops::RangeInclusive;
use std::path::PathBuf;

/// The value of a flag that has a default.
#[derive(Clone, Copy, Debug)]
pub struct Defaulted<T> {
    /// The typed value, or the default.
    pub value: T,
    /// Whether it was typed.
    pub is_typed: bool,
}

/// A parser of whole numbers in a range, with an error like that of every other parameter.
pub fn whole_number(
    range: RangeInclusive<u64>,
) -> impl Fn(&str) -> Result<u64, String> + Clone + Send + Sync + 'static {
    move |typed| match typed.parse() {
        Ok(number) if range.contains(&number) => Ok(number),
        _ if *range.end() == u64::MAX => Err(format!("expected a whole number from {}", range.start())),
        _ => Err(format!("expected a whole number from {} to {}", range.start(), range.end())),
    }
}

/// Parses a number of bytes: digits, optionally followed by K, M, G or T for powers of 1024.
pub fn size(typed: &str) -> Result<u64, String> {
    let wrong = || "expected a number of bytes, such as 64M or 2G".to_string();
    let upper = typed.trim().to_ascii_uppercase();
    let upper = upper.strip_suffix("IB").or(upper.strip_suffix('B')).unwrap_or(&upper);
    let (digits, shift) = match upper.chars().last() {
        Some('K') => (&upper[..upper.len() - 1], 10),
        Some('M') => (&upper[..upper.len() - 1], 20),
        Some('G') => (&upper[..upper.len() - 1], 30),
        Some('T') => (&upper[..upper.len() - 1], 40),
        _ => (upper, 0),
    };
    let number: u64 = digits.parse().map_err(|_| wrong())?;
    number.checked_mul(1 << shift).ok_or_else(wrong)
}

/// Parses a duration, as seconds.
pub fn duration(typed: &str) -> Result<u64, String> {
    let wrong = || "expected a number followed by s, m, h or d, such as 12h".to_string();
    let unit = match typed.as_bytes().last() {
        Some(b's') => 1,
        Some(b'm') => 60,
        Some(b'h') => 3600,
        Some(b'd') => 86400,
        _ => return Err(wrong()),
    };
    let number: u64 = typed[..typed.len() - 1].parse().map_err(|_| wrong())?;
    number.checked_mul(unit).filter(|&seconds| seconds > 0).ok_or_else(wrong)
}

/// A flag that takes one of several words.
pub fn choice(
    name: &'static str,
    placeholder: &'static str,
    words: impl Iterator<Item = (&'static str, &'static str)>,
    help: &'static str,
) -> Arg {
    let words = words.map(|(word, help)| PossibleValue::new(word).help(help));
    Arg::new(name).long(name).value_name(placeholder).value_parser(PossibleValuesParser::new(words)).help(help)
}

/// A flag that takes the name of a file.
pub fn file(name: &'static str) -> Arg {
    Arg::new(name).long(name).value_name("FILE").value_parser(value_parser!(PathBuf))
}

/// The chosen value of a flag made by [`choice`] from the same table.
pub fn chosen<T: Copy>(given: &ArgMatches, name: &str, table: &[(&str, T, &str)]) -> Option<T> {
    let typed: &String = value(given, name)?;
    Some(table.iter().find(|(word, ..)| word == typed).expect("clap knows the words").1)
}

/// The value of a flag. `None` if there is none, or if the command has no such flag.
pub fn value<'a, T: Clone + Send + Sync + 'static>(given: &'a ArgMatches, name: &str) -> Option<&'a T> {
    known(given.try_get_one(name)).flatten()
}

/// All values of a flag. Empty if there are none, or if the command has no such flag.
pub fn values<T: Clone + Send + Sync + 'static>(given: &ArgMatches, name: &str) -> Vec<T> {
    known(given.try_get_many(name)).flatten().into_iter().flatten().cloned().collect()
}

/// `None` if the command has no such flag.
///
/// # Panics
/// The flag has values of another type, which is a bug.
fn known<T>(values: Result<T, MatchesError>) -> Option<T> {
    match values {
        Ok(values) => Some(values),
        Err(MatchesError::UnknownArgument { .. }) => None,
        Err(error) => panic!("{error}"),
    }
}

/// The file that a flag names.
pub fn path(given: &ArgMatches, name: &str) -> Option<PathBuf> {
    value(given, name).cloned()
}

/// Whether a switch was typed. `false` if the command has no such switch.
pub fn switch(given: &ArgMatches, name: &str) -> bool {
    value(given, name).copied().unwrap_or(false)
}

/// Whether the value of a flag was typed rather than its default.
pub fn is_typed(given: &ArgMatches, name: &str) -> bool {
    known(given.try_contains_id(name)).unwrap_or(false) && given.value_source(name) == Some(ValueSource::CommandLine)
}

/// The value of a flag if it was typed.
pub fn typed(given: &ArgMatches, name: &str) -> Option<String> {
    value(given, name).filter(|_| is_typed(given, name)).cloned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        assert_eq!(size("64M"), Ok(64 << 20));
        assert_eq!(size("2GiB"), Ok(2 << 30));
        assert_eq!(size("100"), Ok(100));
        assert_eq!(size("1kb"), Ok(1024));
        for bad in ["", "M", "-1", "1.5G", "99999999T", "12X"] {
            assert!(size(bad).is_err(), "{bad}");
        }
    }
}
