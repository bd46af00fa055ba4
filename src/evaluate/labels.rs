//! The pairs that are known to be near-duplicates, and those known not to be, by document id; and reading them.

use super::pairs::PairSet;
use crate::error::Error;
use crate::source::{Place, Severity, Source};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::ops::ControlFlow;

/// Fields of pairs that are labels: whether the two are near-duplicates. A number of a class may be the name of one.
const LABEL_FIELDS: [&str; 17] = [
    "class",
    "dup",
    "duplicate",
    "gold",
    "is_dup",
    "is_duplicate",
    "is_match",
    "is_near_duplicate",
    "is_same",
    "label",
    "labels",
    "match",
    "near_dup",
    "near_duplicate",
    "positive",
    "same",
    "target",
];

/// The maximum number of pairs that labels may represent. Each takes 8 bytes while in use.
const MOST_PAIRS: u64 = 100_000_000;

/// Labelled groups of documents, by id: every document of a group is a near-duplicate of every other one. A labelled pair is
/// a group of two.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Labels {
    /// Each id once, with the location of its first occurrence.
    ids: Vec<(String, Place)>,
    groups: Vec<Vec<u32>>,
    /// Pairs that are no near-duplicates, each with its location.
    negatives: Vec<([u32; 2], Place)>,
}

/// Labels by the numbers of the documents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Resolved {
    /// Pairs of near-duplicates.
    pub pairs: PairSet,
    /// Pairs that are labelled as no near-duplicates.
    pub negatives: PairSet,
    /// The documents that occur in the labels, ascending.
    pub documents: Vec<u32>,
    /// The number of ids that no document has.
    pub unknown: usize,
}

impl Labels {
    /// Reads labels, one JSON object per line, from a source that makes each line a document. A line is a pair
    /// `{"a":ID,"b":ID}`, a cluster `{"cluster":[ID,…]}` (or `{"members":[ID,…]}`, as `dedup scan --emit clusters`
    /// writes it), or a document with the name of its cluster `{"id":ID,"cluster":NAME}`. A pair may have a label, in
    /// a field such as `label` or `duplicate`: `true` or 1 for near-duplicates, `false` or 0 for others. Other fields
    /// are ignored, but a pair without a label must not have one that is `false`. Ids are strings, or numbers as they are written.
    ///
    /// # Errors
    /// [`Error::Label`], with the location, for a line that is none of these or cannot be read, for another label, and
    /// for a pair of a document with itself.
    pub fn read(source: &mut dyn Source) -> Result<Self, Error> {
        let mut reading = Reading::default();
        let mut error = None;
        source.read(&mut |batch| {
            batch.documents(&mut |line| {
                let result = match line {
                    _ if error.is_some() => return,
                    Ok(line) => reading.line(&line.text, &line.place).map_err(|message| (line.place, message)),
                    // The line itself comes after it.
                    Err(problem) if problem.severity <= Severity::Repaired => return,
                    Err(problem) => Err((problem.place, problem.message)),
                };
                error = result.err();
            });
            if error.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        match error {
            Some((place, message)) => Err(Error::Label { place: place.to_string(), message }),
            None => Ok(reading.labels),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// The location of the first pair that is labelled as no near-duplicates, if there is one.
    pub fn first_negative(&self) -> Option<&Place> {
        self.negatives.first().map(|(_, place)| place)
    }

    /// The labels, by the numbers of the documents.
    ///
    /// # Errors
    /// [`Error::Label`] for an id that no document has, with the location of its first occurrence, for a pair with both
    /// labels, and for too many pairs.
    pub fn resolve(&self, documents: &HashMap<&str, u32>) -> Result<Resolved, Error> {
        let unknown = self.ids.iter().find(|(id, _)| !documents.contains_key(id.as_str()));
        match unknown {
            Some((id, place)) => {
                let message = format!("no document has the id '{id}'");
                Err(Error::Label { place: place.to_string(), message })
            }
            None => self.resolve_known(documents),
        }
    }

    /// The labels of known documents.
    ///
    /// # Errors
    /// As for [`resolve`](Self::resolve), except that an unknown id is none.
    pub fn resolve_known(&self, documents: &HashMap<&str, u32>) -> Result<Resolved, Error> {
        let numbers: Vec<Option<u32>> = self.ids.iter().map(|(id, _)| documents.get(id.as_str()).copied()).collect();
        self.check_size()?;
        let mut pairs = Vec::new();
        for group in &self.groups {
            let members: Vec<u32> = group.iter().filter_map(|&id| numbers[id as usize]).collect();
            for (i, &a) in members.iter().enumerate() {
                pairs.extend(members[i + 1..].iter().map(|&b| (a, b)));
            }
        }
        let pairs = PairSet::new(pairs);
        let mut negatives = Vec::new();
        for (ids, place) in &self.negatives {
            let [Some(a), Some(b)] = ids.map(|id| numbers[id as usize]) else { continue };
            if pairs.contains(a, b) {
                let [a, b] = ids.map(|id| &self.ids[id as usize].0);
                let message = format!("'{a}' and '{b}' are labelled false here, and as near-duplicates elsewhere");
                return Err(Error::Label { place: place.to_string(), message });
            }
            negatives.push((a, b));
        }
        let mut known: Vec<u32> = numbers.iter().flatten().copied().collect();
        known.sort_unstable();
        let unknown = numbers.len() - known.len();
        Ok(Resolved { pairs, negatives: PairSet::new(negatives), documents: known, unknown })
    }

    /// An error if the labels represent too many pairs.
    fn check_size(&self) -> Result<(), Error> {
        let size = |group: &Vec<u32>| group.len() as u64 * (group.len() as u64).saturating_sub(1) / 2;
        let largest = self.groups.iter().max_by_key(|group| group.len()).and_then(|group| group.first());
        match largest {
            Some(&first) if self.groups.iter().map(size).sum::<u64>() > MOST_PAIRS => Err(Error::Label {
                place: self.ids[first as usize].1.to_string(),
                message: format!("the labels represent more than {MOST_PAIRS} pairs, most of them in this cluster"),
            }),
            _ => Ok(()),
        }
    }
}

/// The state of reading labels.
#[derive(Default)]
struct Reading {
    labels: Labels,
    numbers: HashMap<String, u32>,
    /// The group of each named cluster. Only used for look-ups: groups are numbered in order of appearance.
    named: HashMap<String, usize>,
}

impl Reading {
    fn line(&mut self, line: &str, place: &Place) -> Result<(), String> {
        let fields: BTreeMap<Cow<'_, str>, &RawValue> = serde_json::from_str(line).map_err(|error| {
            // The message already starts with the line of the file.
            format!(
                "not a JSON object: {} (labels are lines such as {{\"a\":\"ID\",\"b\":\"ID\"}})",
                error.to_string().replace(" at line 1 column ", " at column ")
            )
        })?;
        let field = |name: &str| fields.get(name).copied();
        let list = ["cluster", "members"].into_iter().filter_map(field).find(|value| value.get().starts_with('['));
        let is_of_cluster = list.is_some() || field("id").is_some() && field("cluster").is_some();
        let is_pair = field("a").is_some() && field("b").is_some() && !is_of_cluster;
        // A number of a document with a named cluster may be of something else.
        let is_denied = |name: &&&str| {
            let value = field(name).map(|label| label.get());
            value == Some("false") || value == Some("0") && list.is_some() && **name != "class"
        };
        if let Some(name) = LABEL_FIELDS.iter().find(is_denied).filter(|_| !is_pair) {
            return Err(format!("the field '{name}' is false, which only a pair (\"a\", \"b\") can be"));
        }
        if let Some(list) = list {
            let list: Vec<&RawValue> = serde_json::from_str(list.get()).map_err(|error| error.to_string())?;
            let ids = list.into_iter().map(|id| self.number(id, place)).collect::<Result<Vec<_>, _>>()?;
            self.labels.groups.push(ids);
        } else if let (Some(id), Some(cluster)) = (field("id"), field("cluster")) {
            let id = self.number(id, place)?;
            // A document in no cluster is similar to no other.
            if cluster.get() != "null" {
                let groups = &mut self.labels.groups;
                let group = *self.named.entry(text(cluster, "a cluster's name")?).or_insert_with(|| {
                    groups.push(Vec::new());
                    groups.len() - 1
                });
                groups[group].push(id);
            }
        } else if let (Some(a), Some(b)) = (field("a"), field("b")) {
            let pair = [self.number(a, place)?, self.number(b, place)?];
            if pair[0] == pair[1] {
                return Err(format!("a pair of '{}' with itself", self.labels.ids[pair[0] as usize].0));
            }
            let label = label(&fields)?;
            // Other fields are ignored, but a label of another name would be taken for true.
            if let Some((name, _)) = fields.iter().find(|(_, value)| label.is_none() && value.get() == "false") {
                return Err(format!(
                    "the field '{name}' is false: name it 'label' if it says that the two are no near-duplicates, or leave it out"
                ));
            }
            match label {
                None | Some(true) => self.labels.groups.push(pair.to_vec()),
                Some(false) => self.labels.negatives.push((pair, place.clone())),
            }
        } else {
            return Err(
                "neither a pair (\"a\", \"b\") nor a cluster (\"cluster\" with ids, or \"id\", \"cluster\")".into()
            );
        }
        Ok(())
    }

    /// The number of an id.
    fn number(&mut self, id: &RawValue, place: &Place) -> Result<u32, String> {
        let id = text(id, "an id")?;
        if let Some(&number) = self.numbers.get(&id) {
            return Ok(number);
        }
        let number = u32::try_from(self.labels.ids.len()).map_err(|_| "too many ids".to_string())?;
        self.labels.ids.push((id.clone(), place.clone()));
        self.numbers.insert(id, number);
        Ok(number)
    }
}

/// The label of a pair: whether it is one of near-duplicates. `None` if it has no field that is a label.
fn label(fields: &BTreeMap<Cow<'_, str>, &RawValue>) -> Result<Option<bool>, String> {
    let mut found: Option<(&str, bool)> = None;
    for name in LABEL_FIELDS {
        let Some(value) = fields.get(name) else { continue };
        let label = match value.get() {
            "true" => true,
            "false" => false,
            "1" if name != "class" => true,
            "0" if name != "class" => false,
            other => {
                return Err(format!(
                    "the field '{name}' looks like a label, and is {other}: write true for a pair of near-duplicates, \
                     false for others, or rename the field"
                ));
            }
        };
        match found {
            Some((before, other)) if other != label => {
                return Err(format!("the fields '{before}' and '{name}' are labels that contradict each other"));
            }
            _ => found = Some((name, label)),
        }
    }
    Ok(found.map(|(_, label)| label))
}

/// A string, or a number as it is written.
fn text(value: &RawValue, what: &str) -> Result<String, String> {
    match value.get().as_bytes().first() {
        Some(b'"') => serde_json::from_str(value.get()).map_err(|error| error.to_string()),
        Some(b'-' | b'0'..=b'9') => Ok(value.get().to_string()),
        _ => Err(format!("{what} is {}, not a string or a number", value.get())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Documents;

    /// Labels from lines, at the locations `truth:1` and so on.
    fn labels(lines: &[&str]) -> Result<Labels, String> {
        let lines = lines.iter().enumerate().map(|(at, line)| (format!("truth:{}", at + 1), line.to_string()));
        Labels::read(&mut Documents::new(lines)).map_err(|error| error.to_string())
    }

    fn numbered(ids: &str) -> HashMap<&str, u32> {
        ids.split_whitespace().zip(0..).collect()
    }

    fn resolved(lines: &[&str]) -> Vec<(u32, u32)> {
        labels(lines).unwrap().resolve(&numbered("a b c d 7 1.50")).unwrap().pairs.iter().collect()
    }

    /// Once, a label of another name was ignored, so that the pair counted as one of near-duplicates.
    #[test]
    fn what_may_be_a_label_of_another_name_is_refused() {
        let error =
            labels(&[r#"{"a":"a","b":"b","label":true,"reviewed":false}"#, r#"{"a":"a","b":"b","similar":false}"#]);
        let message = error.unwrap_err().to_string();
        assert!(
            message.contains(":2") && message.contains("the field 'similar' is false: name it 'label'"),
            "{message}"
        );
    }

    #[test]
    fn pairs_may_have_a_label() {
        let lines = [
            r#"{"a":"a","b":"b","label":true}"#,
            r#"{"a":"b","b":"c","is_duplicate":1}"#,
            r#"{"a":"c","b":"a","match":0,"score":3}"#,
            r#"{"a":"d","b":"a","class":false,"label":0}"#,
            r#"{"a":"d","b":"c"}"#,
            r#"{"a":"a","b":"c","near_duplicate":false}"#,
        ];
        let labels = labels(&lines).unwrap();
        assert_eq!(labels.first_negative().map(ToString::to_string), Some("truth:3".into()));
        let resolved = labels.resolve(&numbered("x a b c d")).unwrap();
        assert_eq!(resolved.pairs, PairSet::new([(1, 2), (2, 3), (3, 4)]));
        assert_eq!(resolved.negatives, PairSet::new([(1, 3), (1, 4)]));
        assert_eq!((resolved.documents, resolved.unknown), (vec![1, 2, 3, 4], 0));
        let known = labels.resolve_known(&numbered("a b d")).unwrap();
        assert_eq!((known.pairs.len(), known.negatives.len(), known.unknown), (1, 1, 1));
    }

    #[test]
    fn other_labels_are_refused() {
        for (fields, expected) in [
            (r#""label":2"#, "the field 'label' looks like a label, and is 2: write true"),
            (r#""duplicate":"no""#, "the field 'duplicate' looks like a label, and is \"no\": write true"),
            (r#""match":null"#, "the field 'match' looks like a label, and is null: write true"),
            (r#""label":1.0"#, "the field 'label' looks like a label, and is 1.0: write true"),
            (r#""class":1"#, "the field 'class' looks like a label, and is 1: write true"),
            (r#""label":1,"match":false"#, "the fields 'label' and 'match' are labels that contradict each other"),
        ] {
            let error = labels(&[r#"{"a":"a","b":"c"}"#, &format!(r#"{{"a":"a","b":"b",{fields}}}"#)]).unwrap_err();
            assert!(error.starts_with(&format!("truth:2: {expected}")), "{error}");
        }
        for line in [
            r#"{"cluster":["a","b"],"label":false}"#,
            r#"{"cluster":["a","b"],"label":0}"#,
            r#"{"cluster":["a","b"],"a":"a","b":"b","label":false}"#,
            r#"{"id":"c","cluster":"x","a":"a","b":"b","label":false}"#,
        ] {
            let error = labels(&[line]).unwrap_err();
            assert!(error.starts_with("truth:1: the field 'label' is false, which only a pair"), "{error}");
        }
        let both = labels(&[r#"{"cluster":["a","b","c"]}"#, r#"{"a":"c","b":"a","label":false}"#]).unwrap();
        let error = both.resolve(&numbered("a b c")).unwrap_err().to_string();
        assert!(error.starts_with("truth:2: 'c' and 'a' are labelled false here, and as near"), "{error}");
        assert!(labels(&[]).unwrap().is_empty() && !labels(&[r#"{"id":"a","cluster":null}"#]).unwrap().is_empty());
    }

    #[test]
    fn labels_in_every_form() {
        let all = vec![(0, 1), (0, 2), (1, 2)];
        assert_eq!(resolved(&[r#"{"a":"b","b":"a"}"#, r#"{"a":"c","b":"a","note":1}"#, r#"{"b":"c","a":"b"}"#]), all);
        assert_eq!(resolved(&[r#"{"cluster":["c","a","b","a"]}"#]), all);
        assert_eq!(resolved(&[r#"{"type":"cluster","id":1,"size":3,"members":["a","b","c"],"keep":["a"]}"#]), all);
        let by_name = [r#"{"id":"a","cluster":"x"}"#, r#"{"id":"b","cluster":"x"}"#, r#"{"id":"c","cluster":"x"}"#];
        assert_eq!(resolved(&by_name), all);
        assert_eq!(
            resolved(&[r#"{"id":"a","cluster":1}"#, r#"{"id":"b","cluster":2}"#, r#"{"id":"c","cluster":1}"#]),
            [(0, 2)]
        );
        assert_eq!(resolved(&[r#"{"id":"a","cluster":null}"#, r#"{"id":"b","cluster":null}"#]), []);
        assert_eq!(resolved(&[r#"{"a":7,"b":1.50}"#, r#"{"a":"\u0061","b":7}"#]), [(0, 4), (4, 5)]);
        // A pair that carries the name of its cluster is one pair, however often it occurs.
        assert_eq!(resolved(&[r#"{"a":"a","b":"d","cluster":"x"}"#, r#"{"a":"d","b":"a"}"#]), [(0, 3)]);
        assert_eq!(resolved(&[]), []);
    }

    #[test]
    fn lines_that_are_no_labels_are_named() {
        let error = |line| labels(&[r#"{"a":"a","b":"b"}"#, line]).unwrap_err();
        assert_eq!(error(r#"{"a":"c","b":"c"}"#), "truth:2: a pair of 'c' with itself");
        assert!(error("{\"a\":\"c\",").starts_with("truth:2: not a JSON object: "));
        assert!(error("[\"a\",\"b\"]").starts_with("truth:2: not a JSON object: "));
        for line in ["{}", r#"{"a":"x"}"#, r#"{"id":"x"}"#, r#"{"cluster":"x"}"#] {
            assert!(error(line).starts_with("truth:2: neither a pair"), "{line}");
        }
        assert_eq!(error(r#"{"a":"c","b":null}"#), "truth:2: an id is null, not a string or a number");
        assert_eq!(error(r#"{"cluster":["c",["d"]]}"#), "truth:2: an id is [\"d\"], not a string or a number");
        assert_eq!(error(r#"{"id":"c","cluster":{}}"#), "truth:2: a cluster's name is {}, not a string or a number");
    }

    #[test]
    fn unknown_ids_are_named_where_they_first_stand() {
        let labels = labels(&[r#"{"a":"a","b":"b"}"#, r#"{"a":"b","b":"x"}"#, r#"{"a":"a","b":"x"}"#]).unwrap();
        let documents = numbered("a b c");
        assert_eq!(labels.resolve(&documents).unwrap_err().to_string(), "truth:2: no document has the id 'x'");
        let known = labels.resolve_known(&documents).unwrap();
        assert_eq!((known.pairs, known.unknown), (PairSet::new([(0, 1)]), 1));
    }

    #[test]
    fn a_cluster_too_large_is_refused() {
        let ids: Vec<String> = (0..14_143).map(|n| n.to_string()).collect();
        let line = format!("{{\"cluster\":[{}]}}", ids.join(","));
        let documents = ids.iter().map(String::as_str).zip(0..).collect();
        let error = labels(&[&line]).unwrap().resolve(&documents).unwrap_err().to_string();
        assert!(error.starts_with("truth:1: the labels represent more than 100000000 pairs"), "{error}");
    }
}
