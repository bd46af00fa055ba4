//! Values of flags: parsers that check them, and getters for what clap parsed.

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::parser::{MatchesError, ValueSource};
use clap::{Arg, ArgMatches, value_parser};
use neardups::similarity::Threshold;
use std::num::IntErrorKind;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf, is_separator};

/// The value of a flag that has a default.
#[derive(Clone, Copy, Debug)]
pub struct Defaulted<T> {
    /// The typed value, or the default.
    pub value: T,
    /// Whether it was typed.
    pub is_typed: bool,
}

/// Parses a share of a whole.
pub fn parse_share(typed: &str) -> Result<Threshold, String> {
    typed.parse().map_err(|_| {
        "expected a number above 0 and at most 1, with up to 12 decimals, such as 0.5, or a fraction, such as 2/3"
            .to_string()
    })
}

/// A parser of whole numbers in a range, with an error like that of every other parameter.
pub fn whole_number(
    range: RangeInclusive<u64>,
) -> impl Fn(&str) -> Result<u64, String> + Clone + Send + Sync + 'static {
    move |typed| match typed.parse() {
        Ok(number) if range.contains(&number) => Ok(number),
        // The upper end says something about a number that is greater.
        Err(error) if *error.kind() == IntErrorKind::PosOverflow => Err(expected(range.start(), Some(range.end()))),
        _ => Err(expected(range.start(), Some(range.end()).filter(|&&end| end != u64::MAX))),
    }
}

/// What a whole number must be, without an upper end that is only that of the type.
fn expected(least: &u64, most: Option<&u64>) -> String {
    let most = most.map(|most| format!(" to {most}")).unwrap_or_default();
    format!("expected a whole number from {least}{most}")
}

/// The most documents that can be planned for or expected.
const MOST_DOCUMENTS: u64 = 1_000_000_000_000;

/// Parses a number of documents: digits, in groups if wanted, followed by K, M, G or B, or T for powers of 1000; or as
/// a decimal or binary power.
pub fn documents(typed: &str) -> Result<u64, String> {
    let number = written_out(typed).filter(|number| (1..=MOST_DOCUMENTS).contains(number));
    number.ok_or_else(|| {
        format!("expected a whole number from 1 to {MOST_DOCUMENTS}, such as 1000000, 1,000,000, 20M, 1e9 or 2^34")
    })
}

/// A parser of numbers of documents, written as for [`documents`], up to `most`.
pub fn documents_up_to(most: u64) -> impl Fn(&str) -> Result<u64, String> + Clone + Send + Sync + 'static {
    move |typed| {
        let number = written_out(typed).filter(|number| (1..=most).contains(number));
        number.ok_or_else(|| format!("expected a whole number from 1 to {most}"))
    }
}

/// `None` if it is no whole number, or too large.
fn written_out(typed: &str) -> Option<u64> {
    if let Some((base, power)) = typed.split_once('^') {
        return digits(base)?.checked_pow(digits(power)?.try_into().ok()?);
    }
    let lower = typed.to_ascii_lowercase();
    let (number, zeros) = match lower.split_once('e') {
        Some((number, power)) => (number, digits(power)?.try_into().ok()?),
        None => match lower.char_indices().last()? {
            (at, 'k') => (&lower[..at], 3),
            (at, 'm') => (&lower[..at], 6),
            (at, 'g' | 'b') => (&lower[..at], 9),
            (at, 't') => (&lower[..at], 12),
            _ => (&*lower, 0u32),
        },
    };
    // 1.5M, 2.5e9: decimals take away zeros.
    let (whole, decimals) = number.split_once('.').unwrap_or((number, ""));
    if decimals.is_empty() {
        return digits(whole)?.checked_mul(10u64.checked_pow(zeros)?);
    }
    let zeros = zeros.checked_sub(decimals.len().try_into().ok()?)?;
    let fraction = digits(decimals)?.checked_mul(10u64.checked_pow(zeros)?)?;
    let whole = digits(whole)?.checked_mul(10u64.checked_pow(zeros + decimals.len() as u32)?)?;
    whole.checked_add(fraction)
}

/// Digits, or groups of them: one to three, then threes, joined by commas or underscores.
fn digits(typed: &str) -> Option<u64> {
    let mut groups = typed.split([',', '_']);
    let first = groups.next()?;
    let are_groups = groups.clone().next().is_none_or(|_| first.len() <= 3) && groups.all(|group| group.len() == 3);
    let plain: String = typed.chars().filter(|c| !",_".contains(*c)).collect();
    let is_number = !first.is_empty() && are_groups && plain.bytes().all(|byte| byte.is_ascii_digit());
    plain.parse().ok().filter(|_| is_number)
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

/// Parses an amount of memory, as [`size`]. A few bytes were meant in another unit; 0 is the least that works.
pub fn memory(typed: &str) -> Result<u64, String> {
    match size(typed) {
        Ok(bytes @ 1..1024) => {
            let few =
                if bytes == 1 { "1 byte is too little".to_string() } else { format!("{bytes} bytes are too few") };
            Err(format!("{few}: add a unit, as in {bytes}G"))
        }
        size => size,
    }
}

/// What a [duration] is, in messages.
pub const DURATION: &str = "a number followed by s, m, h, d or w (seconds to weeks), such as 12h";

/// Parses a duration, as seconds.
pub fn duration(typed: &str) -> Result<u64, String> {
    let wrong = || format!("expected {DURATION}");
    let unit = match typed.as_bytes().last() {
        Some(b's') => 1,
        Some(b'm') => 60,
        Some(b'h') => 3600,
        Some(b'd') => 86_400,
        Some(b'w') => 7 * 86_400,
        _ => return Err(wrong()),
    };
    let number: u64 = typed[..typed.len() - 1].parse().map_err(|_| wrong())?;
    match number.checked_mul(unit) {
        Some(0) => Err("expected a duration above 0, such as 12h".into()),
        seconds => seconds.ok_or_else(wrong),
    }
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

/// The strings of a flag that may be repeated, with their places among the arguments.
pub fn indexed(given: &ArgMatches, name: &str) -> Vec<(usize, String)> {
    let values = values(given, name);
    let indices = if values.is_empty() { None } else { given.indices_of(name) };
    indices.into_iter().flatten().zip(values).collect()
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

/// Whether a value that can also be a word names a file: it has a dot or a slash, or such a file exists and it is not one
/// of the known words. `./de` names the file `de`.
pub fn is_file(typed: &str, is_known: impl FnOnce(&str) -> bool) -> bool {
    typed.contains(|c| c == '.' || is_separator(c)) || Path::new(typed).is_file() && !is_known(typed)
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
    fn durations_are_in_seconds_to_weeks() {
        let parsed = ["90s", "30m", "12h", "7d", "1w", "52w"].map(|typed| duration(typed).unwrap());
        assert_eq!(parsed, [90, 1_800, 43_200, 604_800, 604_800, 31_449_600]);
        for bad in ["", "w", "1", "1W", "1.5w", "-1w", "1y", "1mo", "1ww", "1 w", "0w", "99999999999999999w", "1é"] {
            assert!(duration(bad).unwrap_err().contains("such as 12h"), "{bad}");
        }
    }

    #[test]
    fn numbers_of_documents() {
        let same =
            ["100000000", "100,000,000", "100_000_000", "100M", "100m", "1e8", "1E8", "0.1G", "0.1b", "10^8", "100.0M"];
        for typed in same {
            assert_eq!(documents(typed), Ok(100_000_000), "{typed}");
        }
        assert_eq!([documents("2^34"), documents("8000000000")], [Ok(17_179_869_184), Ok(8_000_000_000)]);
        assert_eq!([documents("1T"), documents("1"), documents("1.5k")], [Ok(1_000_000_000_000), Ok(1), Ok(1500)]);
        for bad in [
            "",
            "0",
            "-1",
            "+1",
            "1.5",
            "1.5e0",
            "M",
            "e8",
            "1e",
            "1e-3",
            "1e99",
            "2T",
            "1001G",
            "10,00",
            "1000,000",
            ",1",
            "1,",
            "1 000",
            "2^",
            "^2",
            "2^64",
            "2^99999999999",
            "1..5M",
            "1.5.5M",
            "12X",
            "٣",
            "1MM",
            ".5M",
            "é",
        ] {
            assert!(documents(bad).is_err(), "{bad}");
        }
        let most = documents_up_to(20_000);
        assert_eq!([most("20,000"), most("20K"), most("1")], [Ok(20_000), Ok(20_000), Ok(1)]);
        assert!(most("20001").is_err() && most("0").is_err() && most("1M").is_err());
    }

    #[test]
    fn a_known_word_is_no_file() {
        // Tests run where this file is.
        assert!(is_file("LICENSE-MIT", |_| false) && !is_file("LICENSE-MIT", |_| true));
        assert!(is_file("./de", |_| true) && is_file("a.txt", |_| true) && !is_file("de", |_| false));
    }

    #[test]
    fn a_few_bytes_of_memory_lack_a_unit() {
        assert_eq!([memory("0"), memory("1K")], [Ok(0), Ok(1024)]);
        for (typed, expected) in [
            ("1", "1 byte is too little: add a unit, as in 1G"),
            ("2B", "2 bytes are too few: add a unit, as in 2G"),
            ("1023", "1023 bytes are too few: add a unit, as in 1023G"),
        ] {
            assert_eq!(memory(typed), Err(expected.to_string()));
        }
    }

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
