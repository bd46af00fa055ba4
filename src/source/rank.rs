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
const VALUE: u128 = (1 << VALUE_BITS) - 1;

impl Rank {
    /// The first value of a class. Smaller classes are preferred.
    pub const fn of_class(class: u32) -> Self {
        Rank((class as u128) << VALUE_BITS)
    }

    /// The rank of the same class with this value, of which smaller ones are preferred; without a number, the last.
    /// Integers of 64 bits are compared exactly.
    #[must_use]
    pub fn with_least(self, value: Option<Number>) -> Self {
        Rank(self.0 & !VALUE | value.map_or(VALUE, Number::ordered))
    }

    /// As [`with_least`](Self::with_least), but larger values are preferred.
    #[must_use]
    pub fn with_greatest(self, value: Option<Number>) -> Self {
        Rank(self.0 & !VALUE | value.map_or(VALUE, |value| VALUE - 1 - value.ordered()))
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

/// A number that ranks documents.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// An integer.
    Integer(i128),
    /// Any other number. NaN comes after all others.
    Float(f64),
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

    /// Less than 2⁹⁶ − 1, in the order of numbers.
    fn ordered(self) -> u128 {
        let (float, rounded) = match self {
            Number::Integer(integer) => (integer as f64, integer - integer as f64 as i128),
            Number::Float(float) => (if float == 0.0 { 0.0 } else { float }, 0),
        };
        let bits = float.to_bits();
        // As IEEE 754 orders them: all bits of negative numbers count downwards.
        let bits = if bits >> 63 == 1 { !bits } else { bits | 1 << 63 };
        let rounded = rounded + (1 << (ROUNDED_BITS - 1));
        (u128::from(bits) << ROUNDED_BITS | rounded as u128).min(VALUE - 1)
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
    /// Records with larger numbers in a field are preferred; those without a number come last.
    Greatest(FieldPath),
    /// Records with smaller numbers in a field are preferred; those without a number come last.
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

    /// The rank of a record with this number in the field.
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
}
