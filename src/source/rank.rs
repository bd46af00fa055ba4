//! How much a document is preferred over its near-duplicates, and the numbers and times that decide it.

use std::cmp::Ordering;
use std::hash::{Hash, Hasher};

/// How much a document is preferred over its near-duplicates. Of several, the one with the smallest rank is kept; the
/// [policy](crate::KeepPolicy) decides among equal ranks.
///
/// It has a class, which decides, and values within it, of which each decides where those before it are equal. By default the class is
/// the smallest, and there are no values. The ranks of all documents of a run have values of the same meaning in the same order.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rank {
    class: u32,
    values: Vec<RankValue>,
}

/// A value of a rank: smaller ones are preferred.
#[derive(Clone, Debug)]
pub(crate) enum RankValue {
    /// There is none: that of the file decides, or that of the record.
    Unset,
    Number(RankedNumber),
    /// It is that of a rule.
    Match,
    /// It is not: what it is, for a message, if the record has the field.
    Other(Option<Box<str>>),
}

impl RankValue {
    /// What it is compared by.
    pub fn key(&self) -> u128 {
        match self {
            RankValue::Unset => 0,
            RankValue::Match => 1,
            RankValue::Other(_) => 2,
            RankValue::Number(number) => number.0 + 1,
        }
    }
}

impl PartialEq for RankValue {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for RankValue {}

impl PartialOrd for RankValue {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for RankValue {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}

impl Hash for RankValue {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key().hash(state);
    }
}

impl Rank {
    /// The first rank of a class. Smaller classes are preferred.
    pub const fn of_class(class: u32) -> Self {
        Rank { class, values: Vec::new() }
    }

    /// The rank with one more value, of which smaller ones are preferred; without a number, the last. Integers of 84 bits are
    /// compared exactly. Numbers are not compared with times.
    #[must_use]
    pub fn with_least(self, value: Option<Number>) -> Self {
        self.with(RankValue::Number(RankedNumber::least(value)))
    }

    /// As [`with_least`](Self::with_least), but larger values are preferred.
    #[must_use]
    pub fn with_greatest(self, value: Option<Number>) -> Self {
        self.with(RankValue::Number(RankedNumber::greatest(value)))
    }

    /// The rank with one more value: whether something matches, which is preferred.
    #[must_use]
    pub fn with_match(self, is_match: bool) -> Self {
        self.with(if is_match { RankValue::Match } else { RankValue::Other(Some("".into())) })
    }

    pub(super) fn with(mut self, value: RankValue) -> Self {
        self.values.push(value);
        self
    }

    /// The class.
    pub(crate) fn class(&self) -> u32 {
        self.class
    }

    /// The values, in the order in which they decide.
    pub(crate) fn values(&self) -> &[RankValue] {
        &self.values
    }

    /// The rank of a record, with the class and the values of its file.
    #[must_use]
    pub(super) fn of_file(mut self, file: &Rank) -> Self {
        self.class = file.class;
        self.values.resize(self.values.len().max(file.values.len()), RankValue::Unset);
        for (own, of_file) in self.values.iter_mut().zip(&file.values) {
            if matches!(own, RankValue::Unset) {
                *own = of_file.clone();
            }
        }
        self
    }
}

/// The bits of a number as `f64`, in their order, and what rounding changed.
const VALUE_BITS: u32 = 64 + ROUNDED_BITS;
const ROUNDED_BITS: u32 = 32;
const MAX_VALUE: u128 = (1 << VALUE_BITS) - 1;

/// The bits after it, which say what the value means: whether it is a time, and whether larger ones are preferred.
const MEANING_BITS: u32 = 2;
const IS_TIME: u128 = 1;
const IS_GREATEST: u128 = 2;

/// A number that ranks, or the absence of one, which comes last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct RankedNumber(u128);

impl RankedNumber {
    /// None, which comes last.
    pub const LAST: Self = RankedNumber(MAX_VALUE << MEANING_BITS);

    /// Smaller ones are preferred.
    pub fn least(value: Option<Number>) -> Self {
        value.map_or(Self::LAST, |value| RankedNumber(value.ordered() << MEANING_BITS | value.meaning()))
    }

    /// Larger ones are preferred.
    pub fn greatest(value: Option<Number>) -> Self {
        value.map_or(Self::LAST, |value| {
            RankedNumber((MAX_VALUE - 1 - value.ordered()) << MEANING_BITS | value.meaning() | IS_GREATEST)
        })
    }

    /// The bits of the number as `f64`, and the other bits. The others are the same for all numbers that `f64` represents exactly.
    pub(crate) fn parts(self) -> (u64, u64) {
        const REST_BITS: u32 = ROUNDED_BITS + MEANING_BITS;
        ((self.0 >> REST_BITS) as u64, self.0 as u64 & ((1 << REST_BITS) - 1))
    }

    pub(crate) fn of_parts((bits, rest): (u64, u64)) -> Self {
        RankedNumber(u128::from(bits) << (ROUNDED_BITS + MEANING_BITS) | u128::from(rest))
    }

    /// What a value of a rank with it is compared by.
    pub(crate) fn key(self) -> u128 {
        RankValue::Number(self).key()
    }

    /// Whether it is none.
    pub(crate) fn is_last(self) -> bool {
        self.0 >> MEANING_BITS == MAX_VALUE
    }

    /// Whether it is a time.
    #[cfg(feature = "files")]
    pub(crate) fn is_time(self) -> bool {
        self.0 & IS_TIME != 0
    }

    /// The number of nanoseconds since the beginning of 1970 as a time, for people.
    #[cfg(all(feature = "files", feature = "report"))]
    pub(crate) fn display_as_time(self) -> String {
        RankedNumber(self.0 | IS_TIME).display()
    }

    /// The number, for a message.
    #[cfg(feature = "files")]
    pub(crate) fn display(self) -> String {
        let value = self.0 >> MEANING_BITS;
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
        Number::parse_or_time(text).map(Some).ok_or_else(|| shown(text))
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

/// A text as a value in a message.
#[cfg(feature = "files")]
pub(super) fn shown(text: &str) -> String {
    let mut shown: String = text.chars().take(VALUE_CHARS).flat_map(char::escape_debug).collect();
    if text.chars().nth(VALUE_CHARS).is_some() {
        shown.push('…');
    }
    format!("'{shown}'")
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
            let least = numbers.map(|number| rank.clone().with_least(Some(number)));
            assert!(least.is_sorted_by(|a, b| a < b), "{least:?}");
            let greatest = numbers.map(|number| rank.clone().with_greatest(Some(number)));
            assert!(greatest.is_sorted_by(|a, b| a > b), "{greatest:?}");
            for last in [rank.clone().with_least(None), rank.clone().with_greatest(None)] {
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
        let least = parsed.map(|time| RankedNumber::least(Some(time)));
        assert!(least.is_sorted_by(|a, b| a < b), "{parsed:?}");
        let greatest = parsed.map(|time| RankedNumber::greatest(Some(time)));
        assert!(greatest.is_sorted_by(|a, b| a > b), "{parsed:?}");
        assert!(least.iter().chain(&greatest).all(|number| number.is_time() && !number.is_last()));
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
            for number in [RankedNumber::least(value), RankedNumber::greatest(value)] {
                assert_eq!(number.display(), shown);
                assert_eq!(RankedNumber::of_parts(number.parts()), number);
            }
        }
    }
}
