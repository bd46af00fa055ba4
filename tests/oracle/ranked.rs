//! Which of exact copies is kept by rules of files and fields, against a plain sort by the values of the rules and the order of the
//! input. Records are JSON lines and CSV, read by any number of threads in any memory.

use crate::support::random::Random;
use crate::support::scanning::factory;
use neardups::engine::{KeepPolicy, ScanOptions, deduplicate};
use neardups::source::{FieldPath, Globs, Input, RankBy, ReadOptions};
use std::cmp::Reverse;
use std::fmt::Write as _;
use std::fs;

/// A value of a field.
#[derive(Clone, Debug)]
enum Value {
    Missing,
    Text(&'static str),
    /// As it is written.
    Number(&'static str),
    Bool(bool),
}

const TEXTS: &[&str] = &["en", "de", "true", "1", "1.0", "a,b=c", ""];
const NUMBERS: &[&str] = &["0", "1", "1.0", "1e0", "0.5", "-2", "9007199254740992", "9007199254740993"];
const WANTED: &[&str] = &["en", "de", "true", "false", "1", "1.0", "0.5", "a,b=c", "9007199254740993", "nowhere"];

fn any_of(texts: &[&'static str], random: &mut Random) -> &'static str {
    texts[random.below(texts.len())]
}

fn any_value(random: &mut Random) -> Value {
    match random.below(8) {
        0 => Value::Missing,
        1..=3 => Value::Text(any_of(TEXTS, random)),
        4 => Value::Bool(random.chance(0.5)),
        _ => Value::Number(any_of(NUMBERS, random)),
    }
}

impl Value {
    /// The number, as twice its value: all of these are exact.
    fn number(&self) -> Option<i128> {
        let (Value::Text(text) | Value::Number(text)) = self else { return None };
        Some(match *text {
            "0" => 0,
            "1" | "1.0" | "1e0" => 2,
            "0.5" => 1,
            "-2" => -4,
            "9007199254740992" => 2 << 53,
            "9007199254740993" => (2 << 53) + 2,
            _ => return None,
        })
    }

    fn is(&self, wanted: &'static str) -> bool {
        match self {
            Value::Missing => false,
            Value::Text(text) => *text == wanted,
            Value::Number(number) => {
                *number == wanted || self.number().is_some() && self.number() == Value::Number(wanted).number()
            }
            Value::Bool(value) => value.to_string() == wanted,
        }
    }
}

/// A record, with the values of the fields `a`, `b.c` and `d,e`.
struct Record {
    text: usize,
    values: [Value; 3],
    is_preferred: bool,
}

const FIELDS: [&str; 3] = ["a", "b.c", "d,e"];

/// A rule: of a field, by its number.
#[derive(Clone, Debug)]
enum Rule {
    Max(usize),
    Min(usize),
    Is(usize, &'static str),
}

impl Rule {
    fn any(random: &mut Random) -> Self {
        let field = random.below(FIELDS.len());
        match random.below(4) {
            0 => Rule::Max(field),
            1 => Rule::Min(field),
            _ => Rule::Is(field, any_of(WANTED, random)),
        }
    }

    fn as_option(&self) -> RankBy {
        let path = |field: usize| FieldPath::parse("keep", FIELDS[field]).unwrap();
        match *self {
            Rule::Max(field) => RankBy::Greatest(path(field)),
            Rule::Min(field) => RankBy::Least(path(field)),
            Rule::Is(field, wanted) => RankBy::Is(path(field), wanted.into()),
        }
    }

    /// Smaller ones are kept.
    fn key(&self, record: &Record) -> (bool, i128) {
        match *self {
            Rule::Max(field) => record.values[field].number().map_or((true, 0), |number| (false, -number)),
            Rule::Min(field) => record.values[field].number().map_or((true, 0), |number| (false, number)),
            Rule::Is(field, wanted) => (!record.values[field].is(wanted), 0),
        }
    }
}

fn text(number: usize) -> String {
    (0..8).map(|word| format!("word{number}x{word} ")).collect()
}

fn as_json(record: &Record) -> String {
    let value = |value: &Value| match value {
        Value::Missing => "null".to_string(),
        Value::Text(text) => format!("\"{text}\""),
        Value::Number(number) => number.to_string(),
        Value::Bool(value) => value.to_string(),
    };
    let [a, c, e] = record.values.each_ref().map(value);
    format!("{{\"a\":{a},\"b\":{{\"c\":{c},\"x\":1}},\"text\":\"{}\",\"d,e\":{e}}}\n", text(record.text))
}

/// In CSV all values are texts.
fn as_csv(record: &mut Record) -> String {
    let value = |value: &mut Value| {
        *value = match value {
            Value::Missing => Value::Text(""),
            Value::Text(text) | Value::Number(text) => Value::Text(text),
            Value::Bool(value) => Value::Text(if *value { "true" } else { "false" }),
        };
        let Value::Text(text) = value else { unreachable!() };
        format!("\"{text}\"")
    };
    let [a, c, e] = record.values.each_mut().map(value);
    format!("{a},{},{c},{e}\n", text(record.text))
}

#[test]
fn kept_copies_are_the_first_ones_by_the_rules() {
    for seed in 0..150 {
        let mut random = Random::new(seed);
        let (records, texts) = (60 + random.below(100), 1 + random.below(12));
        let is_csv = random.chance(0.4);
        let folder = tempfile::tempdir().unwrap();
        let (mut all, mut files) = (Vec::new(), Vec::new());
        for name in ["one", "two", "three"] {
            let mut lines = if is_csv { "a,text,b.c,\"d,e\"\n".to_string() } else { String::new() };
            for _ in 0..records / 3 {
                let (text, values) = (random.below(texts), [(); 3].map(|()| any_value(&mut random)));
                let mut record = Record { text, values, is_preferred: name == "two" };
                lines.push_str(&if is_csv { as_csv(&mut record) } else { as_json(&record) });
                all.push(record);
            }
            let file = folder.path().join(format!("{name}.{}", if is_csv { "csv" } else { "jsonl" }));
            fs::write(&file, lines).unwrap();
            files.push(file);
        }
        let rules: Vec<Rule> = (0..random.below(6)).map(|_| Rule::any(&mut random)).collect();
        let policy = if random.chance(0.5) { KeepPolicy::First } else { KeepPolicy::Last };
        let prefers = random.chance(0.3);

        let mut order: Vec<usize> = (0..all.len()).collect();
        if policy == KeepPolicy::Last {
            order.reverse();
        }
        order.sort_by_cached_key(|&record| {
            let record = &all[record];
            let keys: Vec<_> = rules.iter().map(|rule| rule.key(record)).collect();
            (Reverse(prefers && record.is_preferred), keys)
        });
        let is_first = |at: usize| !order[..at].iter().any(|&before| all[before].text == all[order[at]].text);
        let mut expected: Vec<usize> = (0..order.len()).filter(|&at| is_first(at)).map(|at| order[at]).collect();
        expected.sort_unstable();

        let mut shown = String::new();
        rules.iter().for_each(|rule| write!(shown, "{},", rule.as_option()).unwrap());
        for (threads, memory, batch_bytes) in [(1, 1 << 30, 1 << 20), (3, 1 << 30, 700), (2, 1 << 12, 2000)] {
            let mut source = ReadOptions { batch_bytes, ..ReadOptions::default() };
            source.ranking.by = rules.iter().map(Rule::as_option).collect();
            if prefers {
                source.ranking.prefer = vec![Globs::new("prefer", &["two.*".to_string()]).unwrap()];
            }
            let minhash = factory("minhash", &[("threshold", "0.8"), ("shingle", "1")]);
            // With the rules, a field without a number in any record would be an error.
            let ranked_by = if shown.contains("m") { Vec::new() } else { source.ranking.by.clone() };
            let options = ScanOptions { threads, memory, ranked_by, ..ScanOptions::default() };
            let mut input = Input::new(files.clone(), source);
            let outcome = deduplicate(&mut input, None, &minhash, &options, &(), policy).unwrap();
            let kept: Vec<usize> = outcome.kept().indices().collect();
            assert_eq!(kept, expected, "seed {seed}, {shown} of {} in {memory}", all.len());
        }
    }
}
