//! Documents that were chosen by hand: they come first in the choice of what is kept.

use crate::error::Error;
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt;
use std::io::{BufRead, Read};
use xxhash_rust::xxh3::xxh3_128;

/// Documents that are decided on before all others, whatever their rank and the policy. Nothing else changes: of two that
/// are near-duplicates only the first is kept, and one that is a near-duplicate of a reference is not kept.
///
/// ```
/// use neardups::engine::Chosen;
///
/// let lines = r#"{"type":"decision","keep":"page-7"}
/// {"type":"decision","keep":"12","file":"crawl.jsonl","record":12}"#;
/// assert_eq!(Chosen::read("decisions.jsonl", lines.as_bytes())?.len(), 2);
/// # Ok::<(), neardups::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Chosen {
    /// The file, in errors.
    name: String,
    documents: Vec<One>,
}

/// A document, as a line names it.
#[derive(Clone, Debug)]
struct One {
    line: u64,
    id: String,
    at: Option<Location>,
}

/// A file, and the record in it unless it is one document.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Location {
    file: String,
    record: Option<u64>,
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.record {
            Some(record) => write!(f, "{}:{record}", self.file),
            None => f.write_str(&self.file),
        }
    }
}

/// A document of a run, with its number.
#[derive(Clone, Copy)]
pub(super) struct Named<'d> {
    pub number: u32,
    pub id: &'d str,
    pub file: &'d str,
    pub record: Option<u64>,
}

/// The documents that a line may name.
#[derive(Clone, Copy)]
enum Found<'d> {
    Nothing,
    One(Named<'d>),
    Several,
}

/// The longest line.
const MAX_LINE: u64 = 1 << 20;

impl Chosen {
    /// Reads JSON lines such as `{"type":"decision","keep":"ID","file":"FILE","record":7}`: the id of a document, and where
    /// it is. `file` is the path as in the results; a document that is a whole file has no `record`. Without `file` the id
    /// alone names the document. Other fields are ignored, and so are blank lines. `name` is that of the file in errors.
    ///
    /// # Errors
    /// [`Error::Decision`] for a line that is not a decision; [`Error::Input`] if they cannot be read.
    pub fn read(name: &str, mut lines: impl BufRead) -> Result<Self, Error> {
        let cannot_read = |error| Error::input(format!("cannot read {name}"), error);
        let (mut documents, mut bytes) = (Vec::new(), Vec::new());
        for line in 1.. {
            bytes.clear();
            let read = lines.by_ref().take(MAX_LINE + 1).read_until(b'\n', &mut bytes).map_err(cannot_read)?;
            if read == 0 {
                break;
            }
            let invalid = |message: String| Error::Decision { place: format!("{name}:{line}"), message };
            if read as u64 > MAX_LINE {
                return Err(invalid(format!("longer than {MAX_LINE} bytes")));
            }
            let text = std::str::from_utf8(&bytes).map_err(|error| invalid(error.to_string()))?;
            let text = if line == 1 { text.trim_start_matches('\u{feff}') } else { text };
            if !text.trim().is_empty() {
                let (id, at) = decision(text).map_err(invalid)?;
                documents.push(One { line, id, at });
            }
        }
        Ok(Chosen { name: name.into(), documents })
    }

    /// The number of lines.
    pub fn len(&self) -> usize {
        self.documents.len()
    }

    /// Whether nothing was chosen.
    pub fn is_empty(&self) -> bool {
        self.documents.is_empty()
    }

    /// A hash of what was chosen, whatever the order and however often.
    pub fn digest(&self) -> u128 {
        let key = |one: &One| {
            let at = one.at.as_ref().map(|at| (at.file.as_str(), at.record));
            serde_json::json!([one.id, at.map(|at| at.0), at.and_then(|at| at.1)]).to_string()
        };
        let mut keys: Vec<String> = self.documents.iter().map(key).collect();
        keys.sort_unstable();
        keys.dedup();
        xxh3_128(keys.join("\n").as_bytes())
    }

    /// The numbers of the chosen documents, some of them several times.
    ///
    /// # Errors
    /// [`Error::Decision`] if a line names no document, several, or one with another id.
    pub(super) fn find<'d>(&self, documents: impl Iterator<Item = Named<'d>>) -> Result<Vec<u32>, Error> {
        let mut by_id: HashMap<&str, Found<'d>> = HashMap::new();
        let mut by_location: HashMap<Location, Found<'d>> = HashMap::new();
        for one in &self.documents {
            match &one.at {
                Some(at) => _ = by_location.entry(at.clone()).or_insert(Found::Nothing),
                None => _ = by_id.entry(&one.id).or_insert(Found::Nothing),
            }
        }
        for document in documents {
            let note = |found: &mut Found<'d>| {
                *found = match found {
                    Found::Nothing => Found::One(document),
                    _ => Found::Several,
                };
            };
            by_id.get_mut(document.id).map(note);
            if !by_location.is_empty() {
                let location = Location { file: document.file.into(), record: document.record };
                if let Entry::Occupied(mut found) = by_location.entry(location) {
                    note(found.get_mut());
                }
            }
        }
        let number = |one: &One| {
            let found = match &one.at {
                Some(at) => by_location[at],
                None => by_id[one.id.as_str()],
            };
            let place = || format!("{}:{}", self.name, one.line);
            one.only(found).map_err(|message| Error::Decision { place: place(), message })
        };
        self.documents.iter().map(number).collect()
    }
}

impl One {
    /// The document that was found, if it is the only one and has the id.
    fn only(&self, found: Found<'_>) -> Result<u32, String> {
        let id = &self.id;
        match (&self.at, found) {
            (None, Found::Nothing) => Err(format!("no document has the id '{id}'")),
            (None, Found::Several) => {
                Err(format!("several documents have the id '{id}': name one by \"file\" and \"record\" too"))
            }
            (Some(at), Found::Nothing) => Err(format!("no document is at {at} (id '{id}')")),
            (Some(at), Found::Several) => Err(format!("several documents are at {at} (id '{id}')")),
            (Some(at), Found::One(document)) if document.id != id => {
                let other = document.id;
                Err(format!("the document at {at} has the id '{other}', not '{id}': the input has changed"))
            }
            (_, Found::One(document)) => Ok(document.number),
        }
    }
}

/// The id and the location in a line.
fn decision(text: &str) -> Result<(String, Option<Location>), String> {
    const EXPECTED: &str = r#"expected {"type":"decision","keep":"ID"}"#;
    let fields: Map<String, Value> =
        serde_json::from_str(text).map_err(|error| format!("not a JSON object ({error}): {EXPECTED}"))?;
    match fields.get("type") {
        Some(Value::String(kind)) if kind == "decision" => {}
        Some(kind) => return Err(format!("a record of the type {kind}: {EXPECTED}")),
        None => return Err(format!("no field \"type\": {EXPECTED}")),
    }
    let text = |name: &str| match fields.get(name) {
        Some(Value::String(text)) => Ok(Some(text.clone())),
        None | Some(Value::Null) => Ok(None),
        Some(other) => Err(format!("the field \"{name}\" is {other}, not a string")),
    };
    let id = text("keep")?.ok_or_else(|| format!("no field \"keep\": {EXPECTED}"))?;
    let record = match fields.get("record") {
        None | Some(Value::Null) => None,
        Some(number) => match number.as_u64() {
            Some(record) if record > 0 => Some(record),
            _ => return Err(format!("the field \"record\" is {number}, not a whole number from 1")),
        },
    };
    match (text("file")?, record) {
        (Some(file), record) => Ok((id, Some(Location { file, record }))),
        (None, None) => Ok((id, None)),
        (None, Some(record)) => Err(format!("the record {record} of no file: add the field \"file\"")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(lines: &str) -> String {
        Chosen::read("d", lines.as_bytes()).unwrap_err().to_string()
    }

    #[test]
    fn lines_that_are_no_decisions_are_named() {
        for (lines, expected) in [
            ("x", "d:1: not a JSON object"),
            ("[]", "d:1: not a JSON object"),
            ("\n{\"keep\":\"a\"}", "d:2: no field \"type\""),
            ("{\"type\":\"pair\",\"keep\":\"a\"}", "d:1: a record of the type \"pair\""),
            ("{\"type\":\"decision\"}", "d:1: no field \"keep\""),
            ("{\"type\":\"decision\",\"keep\":7}", "d:1: the field \"keep\" is 7, not a string"),
            ("{\"type\":\"decision\",\"keep\":\"a\",\"record\":1}", "d:1: the record 1 of no file"),
            ("{\"type\":\"decision\",\"keep\":\"a\",\"file\":\"f\",\"record\":0}", "d:1: the field \"record\" is 0"),
            (
                "{\"type\":\"decision\",\"keep\":\"a\",\"file\":\"f\",\"record\":1.5}",
                "d:1: the field \"record\" is 1.5",
            ),
        ] {
            assert!(error(lines).starts_with(expected), "{lines}: {}", error(lines));
        }
        assert!(error(&"x".repeat(2 << 20)).starts_with("d:1: longer than"), "of a line without an end");
        assert!(Chosen::read("d", &b"\xff\n"[..]).unwrap_err().to_string().starts_with("d:1: "));
    }

    #[test]
    fn the_digest_ignores_order_and_repeats() {
        let a = "{\"type\":\"decision\",\"keep\":\"a\"}\n";
        let b = "{\"type\":\"decision\",\"keep\":\"b\",\"file\":\"f\",\"record\":2,\"more\":[]}\r\n\n";
        let digest = |lines: &[&str]| Chosen::read("d", lines.concat().as_bytes()).unwrap().digest();
        assert_eq!(digest(&[a, b]), digest(&["\u{feff}", b, a, b]));
        assert_ne!(digest(&[a]), digest(&[a, b]));
        assert_ne!(digest(&["{\"type\":\"decision\",\"keep\":\"b\"}"]), digest(&[b]));
        assert!(Chosen::read("d", &b""[..]).unwrap().is_empty());
    }
}
