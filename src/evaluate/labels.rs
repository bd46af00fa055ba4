//! The pairs that are known to be near-duplicates, by document id, and reading them from a file.

use super::scores::PairSet;
use crate::error::Error;
use crate::source::{Place, Severity, Source};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::ops::ControlFlow;

/// Fields of pairs in other files of labels, where they say whether the two are near-duplicates.
const LIKE_LABELS: [&str; 12] = [
    "class",
    "dup",
    "duplicate",
    "gold",
    "is_duplicate",
    "is_match",
    "label",
    "labels",
    "match",
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
}

impl Labels {
    /// Reads labels, one JSON object per line, from a source that makes each line a document. A line is a pair
    /// `{"a":ID,"b":ID}`, a cluster `{"cluster":[ID,…]}` (or `{"members":[ID,…]}`, as `dedup scan --emit clusters`
    /// writes it), or a document with the name of its cluster `{"id":ID,"cluster":NAME}`. Other fields are ignored,
    /// except that a pair with a field such as `label` or `duplicate` is refused: it may say that they are not. Ids
    /// are strings, or numbers as they are written.
    ///
    /// # Errors
    /// [`Error::Label`], with the location, for a line that is none of these or cannot be read, and for a pair of a
    /// document with itself.
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

    /// The labelled pairs, by the numbers of the documents.
    ///
    /// # Errors
    /// [`Error::Label`] for an id that no document has, with the location of its first occurrence, and for too many
    /// pairs.
    pub fn resolve(&self, documents: &HashMap<&str, u32>) -> Result<PairSet, Error> {
        let unknown = self.ids.iter().find(|(id, _)| !documents.contains_key(id.as_str()));
        match unknown {
            Some((id, place)) => {
                let message = format!("no document has the id '{id}'");
                Err(Error::Label { place: place.to_string(), message })
            }
            None => self.resolve_known(documents).map(|(pairs, _)| pairs),
        }
    }

    /// The labelled pairs of known documents, and the number of ids that no document has.
    ///
    /// # Errors
    /// As for [`resolve`](Self::resolve) if there are too many pairs.
    pub fn resolve_known(&self, documents: &HashMap<&str, u32>) -> Result<(PairSet, usize), Error> {
        let numbers: Vec<Option<u32>> = self.ids.iter().map(|(id, _)| documents.get(id.as_str()).copied()).collect();
        let size = |group: &Vec<u32>| group.len() as u64 * (group.len() as u64).saturating_sub(1) / 2;
        let most = self.groups.iter().max_by_key(|group| group.len()).and_then(|group| group.first());
        if let Some(&first) = most
            && self.groups.iter().map(size).sum::<u64>() > MOST_PAIRS
        {
            return Err(Error::Label {
                place: self.ids[first as usize].1.to_string(),
                message: format!("the labels represent more than {MOST_PAIRS} pairs, most of them in this cluster"),
            });
        }
        let mut pairs = Vec::new();
        for group in &self.groups {
            let members: Vec<u32> = group.iter().filter_map(|&id| numbers[id as usize]).collect();
            for (i, &a) in members.iter().enumerate() {
                pairs.extend(members[i + 1..].iter().map(|&b| (a, b)));
            }
        }
        Ok((PairSet::new(pairs), numbers.iter().filter(|number| number.is_none()).count()))
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
            format!("not a JSON object: {}", error.to_string().replace(" at line 1 column ", " at column "))
        })?;
        let field = |name: &str| fields.get(name).copied();
        let list = ["cluster", "members"].into_iter().filter_map(field).find(|value| value.get().starts_with('['));
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
            if let Some(name) = LIKE_LABELS.iter().find(|name| fields.contains_key(**name)) {
                return Err(format!(
                    "the field '{name}' looks like a label, which is not read: every pair in this file is one of near-duplicates; \
                     leave out the others, and the field"
                ));
            }
            let pair = [self.number(a, place)?, self.number(b, place)?];
            if pair[0] == pair[1] {
                return Err(format!("a pair of '{}' with itself", self.labels.ids[pair[0] as usize].0));
            }
            self.labels.groups.push(pair.to_vec());
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
        labels(lines).unwrap().resolve(&numbered("a b c d 7 1.50")).unwrap().iter().collect()
    }

    #[test]
    fn pairs_with_labels_of_their_own_are_refused() {
        for field in ["label", "duplicate", "match"] {
            let line = format!(r#"{{"a":"a","b":"b","{field}":0}}"#);
            let error = labels(&[r#"{"a":"a","b":"c","similarity":0.9}"#, &line]).unwrap_err();
            assert!(error.starts_with(&format!("truth:2: the field '{field}' looks like a label")), "{error}");
        }
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
        let (known, unknown) = labels.resolve_known(&documents).unwrap();
        assert_eq!((known.iter().collect::<Vec<_>>(), unknown), (vec![(0, 1)], 1));
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
