//! The rules that rank documents: by their files, and by fields of their records.

use super::FieldPath;
#[cfg(feature = "files")]
use super::Globs;
#[cfg(feature = "files")]
use super::rank::{Number, Rank, RankValue, RankedNumber, shown};
#[cfg(feature = "files")]
use std::borrow::Cow;
#[cfg(all(feature = "files", feature = "report"))]
use std::collections::BTreeSet;
use std::fmt;
#[cfg(feature = "files")]
use std::fs::Metadata;
#[cfg(feature = "files")]
use std::time::UNIX_EPOCH;

/// What ranks the documents of files, in addition to the order of the input.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Ranking {
    /// Files that match the first one are preferred to those that match the second one, and so on, and these to others.
    #[cfg(feature = "files")]
    pub prefer: Vec<Globs>,
    /// What ranks documents whose files are equally preferred: the first rule, then the second one among those that the first one
    /// leaves equal, and so on.
    pub by: Vec<RankBy>,
}

/// A rule that ranks documents.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RankBy {
    /// Files that were modified later are preferred; standard input and pipes come last.
    Newest,
    /// Files that were modified earlier are preferred; standard input and pipes come last.
    Oldest,
    /// Records with larger numbers, or later times, in a field are preferred; those without one come last.
    Greatest(FieldPath),
    /// Records with smaller numbers, or earlier times, in a field are preferred; those without one come last.
    Least(FieldPath),
    /// Records with this value in a field are preferred to all others, those without the field included. A string is compared as text,
    /// and so is a field of CSV; `true` and `false` by these names; a number has the value if it is written like it or is equal to it,
    /// and a date or time of Parquet or Arrow if it is equal to it.
    Is(FieldPath, String),
}

impl RankBy {
    /// The field that it reads, if there is one.
    pub fn field(&self) -> Option<&FieldPath> {
        match self {
            RankBy::Greatest(field) | RankBy::Least(field) | RankBy::Is(field, _) => Some(field),
            RankBy::Newest | RankBy::Oldest => None,
        }
    }

    /// Whether it compares the times of files.
    pub fn is_of_files(&self) -> bool {
        matches!(self, RankBy::Newest | RankBy::Oldest)
    }
}

/// As it is written in a list of rules that commas separate: `max:score`, `is:lang=en`.
impl fmt::Display for RankBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let listed = |text: &str| text.replace(',', "\\,");
        match self {
            RankBy::Newest => f.write_str("newest"),
            RankBy::Oldest => f.write_str("oldest"),
            RankBy::Greatest(field) => write!(f, "max:{}", listed(field.typed())),
            RankBy::Least(field) => write!(f, "min:{}", listed(field.typed())),
            RankBy::Is(field, value) => {
                write!(f, "is:{}={}", listed(&field.typed().replace('=', "\\=")), listed(value))
            }
        }
    }
}

/// The values of a rank by these rules, for people: `lang is 'en', score 5`. Those that are not known are left out. `has_effect` says of
/// the rule with a number whether it goes by such a value; otherwise there is none.
#[cfg(all(feature = "files", feature = "report"))]
pub(crate) fn values_shown(
    rules: &[RankBy],
    rank: &Rank,
    has_effect: impl Fn(usize, RankedNumber) -> bool,
) -> Vec<String> {
    let of_rule = |(at, (rule, value)): (usize, (&RankBy, &RankValue))| match (rule, value) {
        (_, RankValue::Unset) => None,
        (RankBy::Newest | RankBy::Oldest, RankValue::Number(time)) => match time.is_last() {
            true => Some("file without a time".into()),
            false => Some(format!("file of {}", time.display_as_time())),
        },
        (RankBy::Is(field, wanted), RankValue::Match) => Some(format!("{field} is {}", shown(wanted))),
        (RankBy::Is(field, _), RankValue::Other(Some(other))) if !other.is_empty() => {
            Some(format!("{field} is {other}"))
        }
        (rule, RankValue::Number(number)) if !number.is_last() && has_effect(at, *number) => {
            rule.field().map(|field| format!("{field} {}", number.display()))
        }
        (rule, _) => rule.field().map(|field| format!("{field} without a value")),
    };
    let mut values: Vec<String> = rules.iter().zip(rank.values()).enumerate().filter_map(of_rule).collect();
    // Several rules may go by one field.
    let mut seen = BTreeSet::new();
    values.retain(|value| seen.insert(value.clone()));
    values
}

/// Where a record comes that lacks the value of the rule with this number.
pub(crate) fn among(rule: usize) -> &'static str {
    if rule == 0 { "" } else { " among those that earlier rules leave equal" }
}

/// The value of a field.
#[cfg(feature = "files")]
#[derive(Clone, Debug)]
pub(super) enum FieldValue<'v> {
    /// There is no such field, or it is null.
    Missing,
    Text(Cow<'v, str>),
    /// A number as it is written.
    Written(Cow<'v, str>),
    #[cfg(any(feature = "arrow", feature = "parquet"))]
    Number(Number),
    /// A number of 32 bits or fewer, which is written in fewer digits than the same one of 64.
    #[cfg(any(feature = "arrow", feature = "parquet"))]
    Single(f32),
    Bool(bool),
    /// A value of another type: its name, with an article.
    Other(&'static str),
}

#[cfg(feature = "files")]
impl FieldValue<'_> {
    /// The number or the time; `None` if it has none.
    ///
    /// # Errors
    /// What it is instead, for a message.
    fn number(&self) -> Result<Option<Number>, String> {
        match self {
            FieldValue::Missing => Ok(None),
            FieldValue::Text(text) | FieldValue::Written(text) => Number::of_field(text),
            #[cfg(any(feature = "arrow", feature = "parquet"))]
            FieldValue::Number(number) => {
                Ok(Some(*number).filter(|number| !matches!(number, Number::Float(float) if float.is_nan())))
            }
            #[cfg(any(feature = "arrow", feature = "parquet"))]
            FieldValue::Single(number) => FieldValue::Number(Number::Float((*number).into())).number(),
            FieldValue::Bool(_) => Err("a boolean".into()),
            FieldValue::Other(kind) => Err((*kind).into()),
        }
    }

    /// What it is, for a message.
    fn shown(&self) -> Option<String> {
        Some(match self {
            FieldValue::Missing => return None,
            FieldValue::Text(text) => shown(text),
            FieldValue::Written(number) => shown(number).trim_matches('\'').into(),
            #[cfg(any(feature = "arrow", feature = "parquet"))]
            FieldValue::Number(number) => RankedNumber::least(Some(*number)).display(),
            #[cfg(any(feature = "arrow", feature = "parquet"))]
            FieldValue::Single(number) => number.to_string(),
            FieldValue::Bool(value) => value.to_string(),
            FieldValue::Other(kind) => (*kind).into(),
        })
    }

    /// The same, without what it was read from.
    pub fn into_owned(self) -> FieldValue<'static> {
        match self {
            FieldValue::Missing => FieldValue::Missing,
            FieldValue::Text(text) => FieldValue::Text(Cow::Owned(text.into_owned())),
            FieldValue::Written(text) => FieldValue::Written(Cow::Owned(text.into_owned())),
            #[cfg(any(feature = "arrow", feature = "parquet"))]
            FieldValue::Number(number) => FieldValue::Number(number),
            #[cfg(any(feature = "arrow", feature = "parquet"))]
            FieldValue::Single(number) => FieldValue::Single(number),
            FieldValue::Bool(value) => FieldValue::Bool(value),
            FieldValue::Other(kind) => FieldValue::Other(kind),
        }
    }
}

/// The value that a rule prefers.
#[cfg(feature = "files")]
#[derive(Clone, Debug, PartialEq, Eq)]
struct WantedValue {
    text: String,
    /// The number that it is, if it is one.
    number: Option<Decimal>,
    /// The time that it is, if it is one.
    #[cfg(any(feature = "arrow", feature = "parquet"))]
    time: Option<RankedNumber>,
}

#[cfg(feature = "files")]
impl WantedValue {
    fn new(text: &str) -> Self {
        WantedValue {
            text: text.to_owned(),
            number: Decimal::parse(text),
            #[cfg(any(feature = "arrow", feature = "parquet"))]
            time: Number::parse_or_time(text)
                .filter(|number| matches!(number, Number::Time(_)))
                .map(|time| RankedNumber::least(Some(time))),
        }
    }

    fn is(&self, value: &FieldValue) -> bool {
        let is_equal = |written: &str| self.number.is_some() && self.number == Decimal::parse(written);
        match value {
            FieldValue::Text(text) => *text == self.text,
            FieldValue::Written(number) => *number == self.text || is_equal(number),
            #[cfg(any(feature = "arrow", feature = "parquet"))]
            FieldValue::Number(number) => match number {
                Number::Integer(integer) => is_equal(&integer.to_string()),
                Number::Float(float) => is_equal(&float.to_string()),
                Number::Time(_) => self.time == Some(RankedNumber::least(Some(*number))),
            },
            #[cfg(any(feature = "arrow", feature = "parquet"))]
            FieldValue::Single(float) => is_equal(&float.to_string()),
            FieldValue::Bool(value) => self.text == if *value { "true" } else { "false" },
            FieldValue::Missing | FieldValue::Other(_) => false,
        }
    }
}

/// A number in decimal notation, so that two are equal if and only if they are the same number.
#[cfg(feature = "files")]
#[derive(Clone, Debug, PartialEq, Eq)]
struct Decimal {
    is_negative: bool,
    /// Without zeros at either end; none for zero.
    digits: String,
    /// The power of ten of the last digit.
    exponent: i64,
}

#[cfg(feature = "files")]
impl Decimal {
    /// Reads a number as [`Number::parse`] does; `None` if it is none.
    fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        Number::parse(text)?;
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let exponent: i64 = exponent.parse().ok()?;
        let (is_negative, mantissa) = match mantissa.strip_prefix('-') {
            Some(mantissa) => (true, mantissa),
            None => (false, mantissa.strip_prefix('+').unwrap_or(mantissa)),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let all = [whole, fraction].concat();
        let digits = all.trim_end_matches('0');
        let zeros = (all.len() - digits.len()) as i64;
        let digits = digits.trim_start_matches('0').to_owned();
        if digits.is_empty() {
            return Some(Decimal { is_negative: false, digits, exponent: 0 });
        }
        let exponent = exponent.checked_sub(fraction.len() as i64)?.checked_add(zeros)?;
        Some(Decimal { is_negative, digits, exponent })
    }
}

/// The rules of a [`Ranking`] as records are read, with the fields that they need, each once.
#[cfg(feature = "files")]
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct FieldRules {
    fields: Vec<FieldPath>,
    rules: Vec<Rule>,
}

/// A rule, with the number of its field.
#[cfg(feature = "files")]
#[derive(Clone, Debug, PartialEq, Eq)]
enum Rule {
    OfFile,
    Greatest(usize),
    Least(usize),
    /// No record has a number, as was reported.
    #[cfg(feature = "parquet")]
    NoNumber,
    Is(usize, WantedValue),
}

#[cfg(feature = "files")]
impl FieldRules {
    pub fn new(by: &[RankBy]) -> Self {
        let mut fields: Vec<FieldPath> = Vec::new();
        let mut number = |field: &FieldPath| {
            fields.iter().position(|known| known == field).unwrap_or_else(|| {
                fields.push(field.clone());
                fields.len() - 1
            })
        };
        let rules = by.iter().map(|rule| match rule {
            RankBy::Newest | RankBy::Oldest => Rule::OfFile,
            RankBy::Greatest(field) => Rule::Greatest(number(field)),
            RankBy::Least(field) => Rule::Least(number(field)),
            RankBy::Is(field, value) => Rule::Is(number(field), WantedValue::new(value)),
        });
        let rules = rules.collect();
        FieldRules { fields, rules }
    }

    /// The fields whose values [`rank`](Self::rank) takes, in their order.
    pub fn fields(&self) -> &[FieldPath] {
        &self.fields
    }

    /// The number of the first rule that goes by the number in a field, if there is one.
    #[cfg(any(feature = "arrow", feature = "parquet"))]
    pub fn by_number(&self, field: usize) -> Option<usize> {
        self.rules.iter().position(|rule| matches!(rule, Rule::Greatest(own) | Rule::Least(own) if *own == field))
    }

    /// No record has a number in a field, which was reported.
    #[cfg(feature = "parquet")]
    pub fn without_numbers_in(&mut self, field: usize) {
        for rule in &mut self.rules {
            if matches!(rule, Rule::Greatest(own) | Rule::Least(own) if *own == field) {
                *rule = Rule::NoNumber;
            }
        }
    }

    /// The rank of a record with these values in the fields; those that are missing at the end are missing. A value that cannot be
    /// used is passed on, with its field and the number of the rule, and the record comes last.
    pub fn rank(&self, values: &[FieldValue], refuse: &mut dyn FnMut(&FieldPath, &str, usize)) -> Rank {
        if self.fields.is_empty() {
            return Rank::default();
        }
        let value = |field: usize| values.get(field).unwrap_or(&FieldValue::Missing);
        let mut number = |field: usize, rule: usize| {
            value(field).number().unwrap_or_else(|found| {
                refuse(&self.fields[field], &found, rule);
                None
            })
        };
        self.rules.iter().enumerate().fold(Rank::default(), |rank, (at, rule)| {
            rank.with(match rule {
                Rule::OfFile => RankValue::Unset,
                Rule::Greatest(field) => RankValue::Number(RankedNumber::greatest(number(*field, at))),
                Rule::Least(field) => RankValue::Number(RankedNumber::least(number(*field, at))),
                #[cfg(feature = "parquet")]
                Rule::NoNumber => RankValue::Number(RankedNumber::LAST),
                Rule::Is(field, wanted) if wanted.is(value(*field)) => RankValue::Match,
                Rule::Is(field, _) => RankValue::Other(value(*field).shown().map(Into::into)),
            })
        })
    }
}

#[cfg(feature = "files")]
impl Ranking {
    /// Whether it ranks anything.
    pub(super) fn is_empty(&self) -> bool {
        self.prefer.is_empty() && self.by.is_empty()
    }

    /// The rank of the documents of a file, whose path is as in their locations; without the values of fields, if they have some.
    pub(super) fn of_file(&self, path: &str, metadata: Option<&Metadata>, has_fields: bool) -> Rank {
        let class = self.prefer.iter().position(|globs| globs.matches(path)).unwrap_or(self.prefer.len());
        let rank = Rank::of_class(u32::try_from(class).unwrap_or(u32::MAX));
        if has_fields && !self.by.iter().any(RankBy::is_of_files) {
            return rank;
        }
        let modified = || {
            let time = metadata?.modified().ok()?;
            let nanoseconds = match time.duration_since(UNIX_EPOCH) {
                Ok(after) => i128::try_from(after.as_nanos()).ok()?,
                Err(before) => -i128::try_from(before.duration().as_nanos()).ok()?,
            };
            Some(Number::Integer(nanoseconds))
        };
        self.by.iter().fold(rank, |rank, by| match by {
            RankBy::Newest => rank.with_greatest(modified()),
            RankBy::Oldest => rank.with_least(modified()),
            _ if has_fields => rank.with(RankValue::Unset),
            RankBy::Greatest(_) | RankBy::Least(_) => rank.with_least(None),
            RankBy::Is(..) => rank.with(RankValue::Other(None)),
        })
    }
}

#[cfg(all(test, feature = "parquet"))]
mod tests {
    use super::*;

    fn field(name: &str) -> FieldPath {
        FieldPath::parse("keep", name).unwrap()
    }

    #[test]
    fn a_value_is_compared_by_its_type() {
        let text = |text: &'static str| FieldValue::Text(text.into());
        let written = |text: &'static str| FieldValue::Written(text.into());
        let day = Number::parse_or_time("2024-05-01").unwrap();
        for (wanted, value, expected) in [
            ("en", text("en"), true),
            ("en", text("EN"), false),
            ("en", text(" en"), false),
            ("5", text("5"), true),
            ("5", text("5.0"), false),
            ("5", written("5"), true),
            ("5", written("5.0"), true),
            ("5e0", written("5"), true),
            ("05", written("5"), true),
            ("1e999", written("1e999"), true),
            ("five", written("5"), false),
            ("9007199254740993", written("9007199254740992"), false),
            ("18446744073709551616", written("18446744073709551617"), false),
            ("18446744073709551616", written("1.8446744073709551616e19"), true),
            ("1e400", written("1e401"), false),
            ("10e399", written("1e400"), true),
            ("1e99999999999999999999", written("1e99999999999999999998"), false),
            ("0.10", written("1e-1"), true),
            ("+0.1", written("100E-3"), true),
            ("-0.0", written("0e9"), true),
            ("-5", written("5"), false),
            ("0.1", FieldValue::Single(0.1), true),
            ("0.1", FieldValue::Number(Number::Float(0.1)), true),
            ("0.1", FieldValue::Number(Number::Float(f64::from(0.1f32))), false),
            ("1e300", FieldValue::Number(Number::Float(1e300)), true),
            ("inf", FieldValue::Single(f32::INFINITY), false),
            ("5", FieldValue::Number(Number::Float(5.0)), true),
            ("5", FieldValue::Number(Number::Float(5.5)), false),
            ("-0", FieldValue::Number(Number::Integer(0)), true),
            ("nan", FieldValue::Number(Number::Float(f64::NAN)), false),
            ("2024-05-01T00:00:00Z", FieldValue::Number(day), true),
            ("2024-05-01", written("20240501"), false),
            ("true", FieldValue::Bool(true), true),
            ("true", FieldValue::Bool(false), false),
            ("false", FieldValue::Bool(false), true),
            ("1", FieldValue::Bool(true), false),
            ("true", text("true"), true),
            ("null", FieldValue::Missing, false),
            ("an array", FieldValue::Other("an array"), false),
        ] {
            assert_eq!(WantedValue::new(wanted).is(&value), expected, "{wanted} {value:?}");
        }
    }

    #[test]
    fn each_field_is_read_once_and_each_rule_decides() {
        let by = [
            RankBy::Is(field("lang"), "en".into()),
            RankBy::Is(field("lang"), "de".into()),
            RankBy::Oldest,
            RankBy::Greatest(field("q")),
        ];
        let rules = FieldRules::new(&by);
        assert_eq!(rules.fields(), [field("lang"), field("q")]);
        let rank = |lang: &'static str, q: &'static str| {
            rules.rank(&[FieldValue::Text(lang.into()), FieldValue::Written(q.into())], &mut |_, _, _| panic!())
        };
        let ranks =
            [rank("en", "2"), rank("en", "1"), rank("de", "9"), rank("de", "8"), rank("fr", "10"), rank("", "9")];
        assert!(ranks.is_sorted_by(|a, b| a < b), "{ranks:?}");
        let file = |time| {
            Rank::of_class(0).with(RankValue::Unset).with(RankValue::Unset).with_least(Some(Number::Integer(time)))
        };
        assert!(rank("en", "2").of_file(&file(8)) > rank("en", "1").of_file(&file(7)));
        assert!(rank("en", "2").of_file(&file(7)) < rank("en", "1").of_file(&file(7)));
        let mut refused = Vec::new();
        let last = rules.rank(&[FieldValue::Missing, FieldValue::Other("an array")], &mut |field, value, rule| {
            refused.push(format!("{field} {value} {rule}"));
        });
        assert_eq!(refused, ["q an array 3"]);
        assert_eq!(last, rules.rank(&[], &mut |_, _, _| panic!()));
    }

    #[test]
    fn rules_are_shown_as_they_are_typed() {
        let is = |name: &str, value: &str| RankBy::Is(field(name), value.into()).to_string();
        assert_eq!([is("lang", "en"), is("a,b", "x=1,y")], ["is:lang=en", "is:a\\,b=x=1\\,y"]);
        assert_eq!(is("a=b", "c"), "is:a\\=b=c");
        assert_eq!(RankBy::Greatest(field("a,b")).to_string(), "max:a\\,b");
    }
}
