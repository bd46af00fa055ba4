//! Which of several near-duplicates is kept: `--keep`, `--prefer` and `--decisions`.

use super::values::{path, value, values};
use crate::readable;
use clap::{Arg, ArgAction, ArgMatches, value_parser};
use neardups::Error;
use neardups::engine::{KEEP_POLICIES, KeepPolicy};
use neardups::source::{FieldPath, Globs, RankBy, Ranking};
use std::borrow::Cow;
use std::path::PathBuf;

/// The choice, as typed.
pub struct Keep {
    /// `--keep`, if it was typed.
    pub which: Option<Which>,
    /// `--prefer`, in order.
    pub prefer: Vec<String>,
    /// `--decisions`.
    pub decisions: Option<PathBuf>,
}

/// A value of `--keep`: what ranks documents, and the policy among equal ones.
#[derive(Clone)]
pub struct Which {
    policy: KeepPolicy,
    by: Vec<RankBy>,
}

impl Keep {
    /// Takes the values from what clap parsed.
    pub fn new(given: &ArgMatches) -> Self {
        Keep {
            which: value(given, "keep").cloned(),
            prefer: values(given, "prefer"),
            decisions: path(given, "decisions"),
        }
    }

    /// What was typed.
    pub fn typed(&self) -> Option<&'static str> {
        self.typed_without_decisions().or(self.decisions.as_ref().map(|_| "--decisions"))
    }

    /// What was typed, without `--decisions`.
    pub fn typed_without_decisions(&self) -> Option<&'static str> {
        let prefer = (!self.prefer.is_empty()).then_some("--prefer");
        self.which.as_ref().map(|_| "--keep").or(prefer)
    }

    /// The files that are preferred.
    pub fn prefer(&self) -> &[String] {
        &self.prefer
    }

    /// The policy among documents of equal rank.
    pub fn policy(&self) -> KeepPolicy {
        self.which.as_ref().map(|which| which.policy).unwrap_or_default()
    }

    /// What ranks documents before the policy.
    ///
    /// # Errors
    /// A glob is invalid.
    pub fn ranking(&self) -> Result<Ranking, Error> {
        let by = self.which.as_ref().map(|which| which.by.clone()).unwrap_or_default();
        let globs = self.prefer.iter().map(|glob| Globs::new("prefer", std::slice::from_ref(glob)));
        Ok(Ranking { prefer: globs.collect::<Result<_, _>>()?, by })
    }
}

/// The files whose time is compared.
const BY_TIME: [(&str, RankBy, &str); 2] = [
    ("newest", RankBy::Newest, "the one whose file was modified last"),
    ("oldest", RankBy::Oldest, "the one whose file was modified first"),
];

/// The rules of a field, with help.
const BY_FIELD: [(&str, &str); 3] = [
    ("max:FIELD", "the one with the largest number, or the latest time, in this field of JSON, CSV or Parquet"),
    ("min:FIELD", "the one with the smallest number, or the earliest time, in it"),
    ("is:FIELD=VALUE", "one with this value in this field, rather than others"),
];

/// What ranks documents, in order, and then decides among those of equal rank.
fn parse(typed: &str) -> Result<Which, String> {
    let mut rules = rules(typed);
    let is_list = rules.len() > 1;
    if let Some(at) = rules.iter().position(String::is_empty).filter(|_| is_list) {
        let place = match at {
            0 => "before the first comma",
            at if at + 1 == rules.len() => "after the last comma",
            _ => "between two commas",
        };
        return Err(format!("a rule is missing {place}: expected one of {}", expected()));
    }
    // Among equally long ones the earliest is kept anyway.
    if let [.., before, last] = &rules[..]
        && last == "first"
        && !always_decides(before)
    {
        rules.pop();
    }
    let mut which = Which { policy: KeepPolicy::First, by: Vec::new() };
    let parsed = rules.iter().map(|rule| parse_rule(rule, is_list)).collect::<Result<Vec<_>, _>>()?;
    for (at, (rule, parsed)) in rules.iter().zip(parsed).enumerate() {
        let shown = shown(rule);
        match parsed {
            Rule::Policy(policy) if at + 1 == rules.len() => which.policy = policy,
            Rule::Policy(_) if always_decides(rule) || rules[at + 1] == *rule => {
                let decides = if always_decides(rule) { "which always decides" } else { "which has decided" };
                return Err(format!("'{}' has no effect after '{shown}', {decides}", self::shown(&rules[at + 1])));
            }
            Rule::Policy(_) => {
                return Err(format!(
                    "'{shown}' is not at the end: one of {} may end a list, and decides among what the rules before it leave equal",
                    names(&[&policies()])
                ));
            }
            Rule::By(by) => match which.by.iter().find(|earlier| has_decided(earlier, &by)) {
                Some(earlier) => {
                    let earlier = earlier.to_string();
                    let earlier = self::shown(&earlier);
                    return Err(format!("'{shown}' has no effect after '{earlier}', which has decided"));
                }
                None => which.by.push(by),
            },
        }
    }
    Ok(which)
}

/// Whether a rule leaves no two documents equal: each has its place in the input.
fn always_decides(rule: &str) -> bool {
    ["first", "last"].contains(&rule)
}

/// Whether a rule leaves documents equal only if a later one does so too.
fn has_decided(earlier: &RankBy, later: &RankBy) -> bool {
    match (earlier, later) {
        (RankBy::Newest | RankBy::Oldest, RankBy::Newest | RankBy::Oldest) => true,
        (RankBy::Greatest(one) | RankBy::Least(one), RankBy::Greatest(other) | RankBy::Least(other)) => one == other,
        (earlier, later) => earlier == later,
    }
}

/// A rule of the list.
enum Rule {
    By(RankBy),
    Policy(KeepPolicy),
}

/// The rules that commas separate. A comma in the name of a field or in a value is written as `\,`.
fn rules(typed: &str) -> Vec<String> {
    let mut rules = vec![String::new()];
    let mut rest = typed;
    while let Some(at) = rest.find(',') {
        let (before, after) = (&rest[..at], &rest[at + 1..]);
        let rule = rules.last_mut().expect("there is always one");
        match before.strip_suffix('\\') {
            Some(name) => *rule += &format!("{name},"),
            None => {
                *rule += before;
                rules.push(String::new());
            }
        }
        rest = after;
    }
    *rules.last_mut().expect("there is always one") += rest;
    rules
}

/// A rule in a message: of a long one the beginning.
fn shown(rule: &str) -> Cow<'_, str> {
    readable::shortened(rule, 60)
}

fn parse_rule(rule: &str, is_list: bool) -> Result<Rule, String> {
    let shown = shown(rule);
    if let Some(&(_, policy, _)) = KEEP_POLICIES.iter().find(|row| row.0 == rule) {
        return Ok(Rule::Policy(policy));
    }
    if let Some((_, time, _)) = BY_TIME.iter().find(|row| row.0 == rule) {
        return Ok(Rule::By(time.clone()));
    }
    let field = |field: &str| {
        FieldPath::parse("keep", field).map_err(|_| {
            let field = self::shown(field);
            format!(
                "'{field}' is no field with one value: expected its name, such as lang, or names such as meta.lang; the elements of a list \
                 are not compared"
            )
        })
    };
    match rule.split_once(':') {
        Some(("max", path)) => Ok(Rule::By(RankBy::Greatest(field(path)?))),
        Some(("min", path)) => Ok(Rule::By(RankBy::Least(field(path)?))),
        Some(("is", condition)) => {
            let (path, value) = field_and_value(condition)
                .ok_or_else(|| format!("'{shown}' has no value: expected is:FIELD=VALUE, such as is:lang=en"))?;
            if value.ends_with('\\') {
                return Err(format!(
                    "'{rule}': a value cannot end with a backslash; a comma in a value is written as \\,"
                ));
            }
            Ok(Rule::By(RankBy::Is(field(&path)?, value.to_string())))
        }
        _ => {
            let expected = expected();
            Err(match is_list {
                true => format!(
                    "'{shown}' is no rule: expected one of {expected}; a comma in the name of a field or in a value is written as \\,"
                ),
                false => format!("expected one of {expected}"),
            })
        }
    }
}

/// The field before the first equals sign, and the value after it, if there is one. An equals sign in the name of a field is written
/// as `\=`.
fn field_and_value(condition: &str) -> Option<(String, &str)> {
    let mut equals = condition.match_indices('=').map(|(at, _)| at);
    let at = equals.find(|&at| !condition[..at].ends_with('\\'))?;
    let value = &condition[at + 1..];
    (!value.is_empty()).then(|| (condition[..at].replace("\\=", "="), value))
}

/// The names of all rules.
fn expected() -> String {
    names(&[&policies(), &BY_TIME.map(|row| row.0), &BY_FIELD.map(|row| row.0)])
}

fn policies() -> Vec<&'static str> {
    KEEP_POLICIES.iter().map(|row| row.0).collect()
}

fn names(lists: &[&[&str]]) -> String {
    lists.concat().join(", ")
}

/// The flag `--report`.
pub fn report_arg() -> Arg {
    let parse = |typed: &str| match typed.split_once('=') {
        Some(("html", file)) if !file.is_empty() => Ok(PathBuf::from(file)),
        _ => Err("expected html=FILE".to_string()),
    };
    Arg::new("report")
        .long("report")
        .value_name("html=FILE")
        .value_parser(parse)
        .help("Also write a page on which people review the clusters and choose what is kept")
        .long_help(
            "Also write a page for a browser: the clusters with the differences of their members marked, a histogram of the similarities, \
             filters, and buttons to choose what is kept. It exports the choice as a file for --decisions.",
        )
}

/// The flags.
pub fn args(help: &'static str) -> [Arg; 3] {
    let rows = KEEP_POLICIES.iter().map(|row| (row.0, row.2)).chain(BY_TIME.iter().map(|row| (row.0, row.2)));
    let rows = rows.chain(BY_FIELD);
    let names = rows.clone().map(|(name, _)| name).collect::<Vec<_>>().join(", ");
    let rows: String = rows.map(|(name, what)| format!("\n- {name}: {what}")).collect();
    let keep = Arg::new("keep").long("keep").value_name("WHICH").value_parser(parse).help(format!("{help}: {names} [default: first]")).long_help(format!(
        "{help}; by default the first:{rows}\n\nRules with commas are a list, in which each decides where those before it leave several: is:lang=en,max:score,longest keeps the longest of those in English that have the largest number, and of others if none is in English. The last one may be first, last, longest or shortest; otherwise the earliest is kept. A comma in the name of a field or in a value is written as \\,. A string has the value if it is the same text, true and false by these names, and a number if it is equal. Times are dates such as 2024-05-01, or with a time of day as in RFC 3339. A field has either numbers or times. Records without one come last, and so does standard input for newest and oldest."
    ));
    let prefer = Arg::new("prefer")
        .long("prefer")
        .value_name("GLOB")
        .action(ArgAction::Append)
        .help("Keep records of files that match, rather than of others; may be repeated, earlier ones first")
        .long_help(
            "Keep records of files that match, rather than near-duplicates of them in others. May be repeated: files that match an earlier \
             glob are preferred to those that match a later one. Among equally preferred files --keep decides. Globs are as in --include.",
        );
    let decisions = Arg::new("decisions")
        .long("decisions")
        .value_name("FILE")
        .value_parser(value_parser!(PathBuf))
        .help("Keep the documents that this file names, rather than near-duplicates of them")
        .long_help(
            "Keep the documents that this file names, rather than near-duplicates of them: they come first in the choice, before --prefer \
             and --keep. Of two that are near-duplicates only the first by these is kept, or else the first in the input. JSON lines such as \
             {\"type\":\"decision\",\"keep\":ID,\"file\":FILE,\"record\":N}; without file the id alone names the document. With \
             \"always\":true it is kept whatever it is a near-duplicate of.",
        );
    [keep, prefer, decisions]
}
