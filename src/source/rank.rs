//! Which documents are preferred over their near-duplicates, by their files or by a field.

use super::FieldPath;
#[cfg(feature = "files")]
use super::Globs;
#[cfg(feature = "files")]
use std::fs::Metadata;
#[cfg(feature = "files")]
use std::time::UNIX_EPOCH;

/// How much a document is preferred over its near-duplicates. Of several, the one with the smallest rank is kept; the
/// [policy](crate::KeepPolicy) decides among equal ranks.
///
/// It has a class, which decides, and a value within it. By default both are the smallest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rank(u128);

/// The bits of a value: those of a number as `f64`, in their order, and what rounding changed.
const VALUE_BITS: u32 = 64 + ROUNDED_BITS;
const ROUNDED_BITS: u32 = 32;
const MAX_VALUE: u128 = (1 << VALUE_BITS) - 1;

/// The bits after it, which say what the value means: whether it is a time, and whether larger ones are preferred.
const MEANING_BITS: u32 = 2;
const IS_TIME: u128 = 1;
const IS_GREATEST: u128 = 2;

/// The bits of the value, and all that are not those of the class.
const VALUE: u128 = MAX_VALUE << MEANING_BITS;
const NO_CLASS: u128 = (1 << (VALUE_BITS + MEANING_BITS)) - 1;
const MAX_CLASS: u32 = u32::MAX >> MEANING_BITS;

impl Rank {
    /// The first value of a class. Smaller classes are preferred; all from 2³⁰ on are equal.
    pub const fn of_class(class: u32) -> Self {
        let class = if class < MAX_CLASS { class } else { MAX_CLASS };
        Rank((class as u128) << (VALUE_BITS + MEANING_BITS))
    }

    /// The rank of the same class with this value, of which smaller ones are preferred; without a number, the last.
    /// Integers of 84 bits are compared exactly. Numbers are not compared with times.
    #[must_use]
    pub fn with_least(self, value: Option<Number>) -> Self {
        self.with(value.map(|value| (value.ordered(), value.meaning())))
    }

    /// As [`with_least`](Self::with_least), but larger values are preferred.
    #[must_use]
    pub fn with_greatest(self, value: Option<Number>) -> Self {
        self.with(value.map(|value| (MAX_VALUE - 1 - value.ordered(), value.meaning() | IS_GREATEST)))
    }

    /// The rank of the same class with these bits of the value and of its meaning.
    fn with(self, value: Option<(u128, u128)>) -> Self {
        let (value, meaning) = value.unwrap_or((MAX_VALUE, 0));
        Rank(self.0 & !NO_CLASS | value << MEANING_BITS | meaning)
    }

    /// Whether its value is a time.
    #[cfg(feature = "files")]
    pub(crate) fn is_time(self) -> bool {
        self.0 & IS_TIME != 0
    }

    /// The last of its class.
    #[cfg(feature = "files")]
    pub(crate) fn last(self) -> Self {
        self.with(None)
    }

    /// The value, for a message.
    #[cfg(feature = "files")]
    pub(crate) fn display_value(self) -> String {
        let value = (self.0 & VALUE) >> MEANING_BITS;
        let ordered = if self.0 & IS_GREATEST != 0 { MAX_VALUE - 1 - value } else { value };
        let bits = (ordered >> ROUNDED_BITS) as u64;
        let bits = if bits >> 63 == 1 { bits & !(1 << 63) } else { !bits };
        let rounded = (ordered & ((1 << ROUNDED_BITS) - 1)) as i128 - (1 << (ROUNDED_BITS - 1));
        let float = f64::from_bits(bits);
        let integer = float as i128 + rounded;
        match self.is_time() {
            true => time::display(integer),
            false if float.fract() == 0.0 && float.abs() < 1e21 => integer.to_string(),
            false => float.to_string(),
        }
    }

    /// Whether it is the last of its class, for want of a value.
    pub fn is_last(self) -> bool {
        self.0 & VALUE == VALUE
    }

    /// The class of one rank with the value of another.
    pub(super) fn of_file(self, file: Rank) -> Self {
        Rank(self.0 | file.0)
    }
}

/// A number, or a time, that ranks documents.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// An integer.
    Integer(i128),
    /// Any other number. NaN comes after all others.
    Float(f64),
    /// A point in time: nanoseconds since the beginning of 1970 in UTC.
    Time(i128),
}

impl Number {
    /// Reads a number in decimal notation; `None` if it is none.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let is_number = text.bytes().any(|byte| byte.is_ascii_digit())
            && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E'));
        if !is_number {
            return None;
        }
        let integer = text.parse().ok().filter(|integer: &i128| integer.unsigned_abs() <= u64::MAX.into());
        integer.map(Number::Integer).or_else(|| text.parse().ok().map(Number::Float))
    }

    /// Reads a number in decimal notation, or a date or a time as in RFC 3339: `2024-05-01`, `2024-05-01T12:00:00Z`,
    /// `2024-05-01 14:00:00.5+02:00`. Without an offset it is in UTC, and a date is its beginning.
    #[cfg(feature = "files")]
    pub fn parse_or_time(text: &str) -> Option<Self> {
        Number::parse(text).or_else(|| time::parse(text.trim()).map(Number::Time))
    }

    /// The value of a field of text: `None` if it is blank.
    ///
    /// # Errors
    /// The value for a message, if it is neither a number nor a time.
    #[cfg(feature = "files")]
    pub(super) fn of_field(text: &str) -> Result<Option<Self>, String> {
        if text.trim().is_empty() {
            return Ok(None);
        }
        Number::parse_or_time(text).map(Some).ok_or_else(|| {
            let mut shown: String = text.chars().take(VALUE_CHARS).flat_map(char::escape_debug).collect();
            if text.chars().nth(VALUE_CHARS).is_some() {
                shown.push('…');
            }
            format!("'{shown}'")
        })
    }

    /// Less than 2⁹⁶ − 1, in the order of numbers.
    fn ordered(self) -> u128 {
        let (float, rounded) = match self {
            Number::Integer(integer) | Number::Time(integer) => (integer as f64, integer - integer as f64 as i128),
            Number::Float(float) => (if float == 0.0 { 0.0 } else { float }, 0),
        };
        let bits = float.to_bits();
        // As IEEE 754 orders them: all bits of negative numbers count downwards.
        let bits = if bits >> 63 == 1 { !bits } else { bits | 1 << 63 };
        // Only integers of more than 84 bits are rounded by more.
        let half = 1 << (ROUNDED_BITS - 1);
        let rounded = rounded.clamp(-half, half - 1) + half;
        (u128::from(bits) << ROUNDED_BITS | rounded as u128).min(MAX_VALUE - 1)
    }

    /// The bits of what it means.
    fn meaning(self) -> u128 {
        if matches!(self, Number::Time(_)) { IS_TIME } else { 0 }
    }
}

/// The maximum length of a value in a message.
#[cfg(feature = "files")]
const VALUE_CHARS: usize = 40;

/// Dates and times as in RFC 3339.
#[cfg(feature = "files")]
mod time {
    use chrono::{DateTime, NaiveDate, NaiveDateTime, Utc};

    const PER_SECOND: i128 = 1_000_000_000;

    /// The nanoseconds since the beginning of 1970.
    pub fn parse(text: &str) -> Option<i128> {
        let has_shape = |text: &str, shape: &[u8]| {
            let fits = |(byte, shape): (&u8, &u8)| if *shape == b'0' { byte.is_ascii_digit() } else { byte == shape };
            text.len() >= shape.len() && text.bytes().zip(shape).all(|(byte, shape)| fits((&byte, shape)))
        };
        if !has_shape(text, b"0000-00-00") {
            return None;
        }
        let (date, rest) = text.split_at(10);
        let day = NaiveDate::parse_from_str(date, "%Y-%m-%d").ok()?;
        if rest.is_empty() {
            return Some(i128::from(day.and_hms_opt(0, 0, 0)?.and_utc().timestamp()) * PER_SECOND);
        }
        let clock = rest.strip_prefix(['T', 't', ' ']).filter(|clock| has_shape(clock, b"00:00"))?;
        let both = format!("{date}T{clock}");
        let with_offset = DateTime::parse_from_rfc3339(&both)
            .or_else(|_| DateTime::parse_from_str(&both, "%Y-%m-%dT%H:%M:%S%.f%#z"))
            .or_else(|_| DateTime::parse_from_str(&both, "%Y-%m-%dT%H:%M%#z"))
            .map(|time| time.with_timezone(&Utc));
        let without = || {
            let forms = ["%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%dT%H:%M"];
            forms.iter().find_map(|form| NaiveDateTime::parse_from_str(&both, form).ok()).map(|time| time.and_utc())
        };
        let time = with_offset.ok().or_else(without)?;
        Some(i128::from(time.timestamp()) * PER_SECOND + i128::from(time.timestamp_subsec_nanos()))
    }

    pub fn display(nanoseconds: i128) -> String {
        let (seconds, rest) = (nanoseconds.div_euclid(PER_SECOND), nanoseconds.rem_euclid(PER_SECOND));
        match i64::try_from(seconds).ok().and_then(|seconds| DateTime::from_timestamp(seconds, rest as u32)) {
            Some(time) => format!("{}", time.format("%Y-%m-%dT%H:%M:%S%.fZ")),
            None => format!("{seconds} s after 1970"),
        }
    }
}

/// What ranks the documents of files, in addition to the order of the input.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Ranking {
    /// Files that match the first one are preferred to those that match the second one, and so on, and these to others.
    #[cfg(feature = "files")]
    pub prefer: Vec<Globs>,
    /// What ranks documents whose files are equally preferred.
    pub by: RankBy,
}

/// What ranks documents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum RankBy {
    /// Nothing.
    #[default]
    Nothing,
    /// Files that were modified later are preferred; standard input and pipes come last.
    Newest,
    /// Files that were modified earlier are preferred; standard input and pipes come last.
    Oldest,
    /// Records with larger numbers, or later times, in a field are preferred; those without one come last.
    Greatest(FieldPath),
    /// Records with smaller numbers, or earlier times, in a field are preferred; those without one come last.
    Least(FieldPath),
}

impl RankBy {
    /// The field with the number, if there is one.
    pub fn field(&self) -> Option<&FieldPath> {
        match self {
            RankBy::Greatest(field) | RankBy::Least(field) => Some(field),
            _ => None,
        }
    }

    /// The rank of a record with this value in the field. One that cannot be used is passed on, with the field, and the
    /// record comes last.
    #[cfg(feature = "files")]
    pub(super) fn rank_or_last(
        &self,
        value: Result<Option<Number>, String>,
        refuse: &mut dyn FnMut(&FieldPath, &str),
    ) -> Rank {
        if let (Err(value), Some(field)) = (&value, self.field()) {
            refuse(field, value);
        }
        self.rank(value.unwrap_or_default())
    }

    /// The rank of a record with this value in the field.
    #[cfg(feature = "files")]
    pub(super) fn rank(&self, value: Option<Number>) -> Rank {
        match self {
            RankBy::Greatest(_) => Rank::default().with_greatest(value),
            RankBy::Least(_) => Rank::default().with_least(value),
            _ => Rank::default(),
        }
    }
}

#[cfg(feature = "files")]
impl Ranking {
    /// Whether it ranks anything.
    pub(super) fn is_empty(&self) -> bool {
        self.prefer.is_empty() && self.by == RankBy::Nothing
    }

    /// The rank of the documents of a file, whose path is as in their locations; without the values of fields.
    pub(super) fn of_file(&self, path: &str, metadata: Option<&Metadata>) -> Rank {
        let class = self.prefer.iter().position(|globs| globs.matches(path)).unwrap_or(self.prefer.len());
        let modified = || {
            let time = metadata?.modified().ok()?;
            let nanoseconds = match time.duration_since(UNIX_EPOCH) {
                Ok(after) => i128::try_from(after.as_nanos()).ok()?,
                Err(before) => -i128::try_from(before.duration().as_nanos()).ok()?,
            };
            Some(Number::Integer(nanoseconds))
        };
        let rank = Rank::of_class(u32::try_from(class).unwrap_or(u32::MAX));
        match self.by {
            RankBy::Newest => rank.with_greatest(modified()),
            RankBy::Oldest => rank.with_least(modified()),
            _ => rank,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_in_their_order() {
        let numbers = [
            "-1e400",
            "-18446744073709551615",
            "-9007199254740993",
            "-9007199254740992",
            "-2",
            "-1.5",
            "-1",
            "0",
            "1e-300",
            "0.5",
            "1",
            "1.25",
            "9007199254740992",
            "9007199254740993",
            "9223372036854775806",
            "9223372036854775807",
            "18446744073709551615",
            "1e30",
            "1e400",
        ];
        let numbers = numbers.map(|text| Number::parse(text).unwrap());
        for class in [0, 7] {
            let rank = Rank::of_class(class);
            let least = numbers.map(|number| rank.with_least(Some(number)));
            assert!(least.is_sorted_by(|a, b| a < b), "{least:?}");
            let greatest = numbers.map(|number| rank.with_greatest(Some(number)));
            assert!(greatest.is_sorted_by(|a, b| a > b), "{greatest:?}");
            for last in [rank.with_least(None), rank.with_greatest(None)] {
                assert!(least.iter().chain(&greatest).all(|rank| *rank < last) && last < Rank::of_class(class + 1));
            }
        }
    }

    /// Where integers are rounded, they do not change places with others.
    #[test]
    fn huge_integers_are_in_their_order() {
        let huge = [i128::MIN, i128::MIN + 1, -(1 << 100) - 1, -(1 << 90), -(1 << 84) - 1, -1, 0];
        let huge = huge.into_iter().chain([(1 << 84) + 1, (1 << 90) - 1, 1 << 90, 1 << 100, i128::MAX]);
        let ranks: Vec<_> = huge.map(|integer| Rank::default().with_least(Some(Number::Integer(integer)))).collect();
        assert!(ranks.is_sorted(), "{ranks:?}");
        assert!(ranks[0] < ranks[6] && ranks[6] < ranks[11] && ranks[11] < Rank::default().with_least(None));
    }

    #[test]
    fn equal_numbers_have_equal_ranks() {
        for equal in [["0", "-0.0"], ["1", "1.0"], ["100", "1e2"], ["-3", " -3 "], ["+5", "5"]] {
            let [a, b] = equal.map(|text| Rank::default().with_least(Number::parse(text)));
            assert_eq!(a, b, "{equal:?}");
        }
    }

    #[test]
    fn what_is_no_number() {
        for text in ["", " ", "x", "1x", "inf", "nan", "0x10", "1_000", "-", ".", "e", "2024-01-02"] {
            assert_eq!(Number::parse(text), None, "{text}");
        }
    }

    #[cfg(feature = "files")]
    #[test]
    fn dates_and_times_are_in_their_order() {
        let times = [
            "0001-01-01",
            "1969-12-31T23:59:59.999999999Z",
            "1970-01-01",
            "1970-01-01T00:00:00.000000001Z",
            "2024-02-29",
            "2024-05-01T11:59:59+00:00",
            "2024-05-01T14:00:00.25+02:00",
            "2024-05-01 12:00:00.5",
            "2024-05-01t12:00:01z",
            "2024-05-01T07:00:02-0500",
            "2024-05-01T12:01",
            "2024-05-01T14:02:00+02",
            "2024-05-01T12:03Z",
            "2024-05-01T14:04+02:00",
            "9999-12-31T23:59:59Z",
        ];
        let parsed = times.map(|text| Number::parse_or_time(text).unwrap_or_else(|| panic!("{text}")));
        let rank = Rank::of_class(3);
        let least = parsed.map(|time| rank.with_least(Some(time)));
        assert!(least.is_sorted_by(|a, b| a < b), "{parsed:?}");
        let greatest = parsed.map(|time| rank.with_greatest(Some(time)));
        assert!(greatest.is_sorted_by(|a, b| a > b), "{parsed:?}");
        assert!(least.iter().chain(&greatest).all(|rank| rank.is_time() && !rank.is_last() && rank.last().is_last()));
        for (a, b) in [("2024-05-01", "2024-05-01T00:00:00Z"), ("2024-05-01T12:00:00Z", " 2024-05-01T14:00:00+02:00 ")]
        {
            assert_eq!(Number::parse_or_time(a), Number::parse_or_time(b));
        }
    }

    #[cfg(feature = "files")]
    #[test]
    fn what_is_neither_a_number_nor_a_time() {
        for text in [
            "2024-13-01",
            "2024-02-30",
            "2023-02-29",
            "2024-5-1",
            "2024-05-01T",
            "2024-05-01T25:00:00Z",
            "2024-05-01T1:02:03Z",
            "2024-05-01T12:00:00+25:00:00",
            "2024-05-01T12:00:00 CET",
            "2024-05-01x12:00:00Z",
            "01/05/2024",
            "May 1, 2024",
            "2024-05",
            "20240501T120000Z",
            "yesterday",
            "１２３４-05-01",
        ] {
            assert_eq!(Number::of_field(text), Err(format!("'{text}'")), "{text}");
        }
        assert_eq!(Number::of_field(" "), Ok(None));
        assert_eq!(Number::of_field(&"x".repeat(100)), Err(format!("'{}…'", "x".repeat(40))));
    }

    #[cfg(feature = "files")]
    #[test]
    fn values_are_shown_again() {
        for (text, shown) in [
            ("2024-05-01", "2024-05-01T00:00:00Z"),
            ("2024-05-01T12:00:00.25+02:00", "2024-05-01T10:00:00.250Z"),
            ("1960-01-01T00:00:00.5Z", "1960-01-01T00:00:00.500Z"),
            ("20240501", "20240501"),
            ("-18446744073709551615", "-18446744073709551615"),
            ("0.25", "0.25"),
            ("-1e300", &format!("{}", -1e300)),
        ] {
            let value = Number::parse_or_time(text);
            let rank = Rank::of_class(7);
            assert_eq!(rank.with_least(value).display_value(), shown);
            assert_eq!(rank.with_greatest(value).display_value(), shown);
        }
    }
}
