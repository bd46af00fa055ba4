//! Documents that were chosen by hand: they come first in the choice of what is kept.

use super::names::Names;
use crate::error::Error;
use serde_json::{Map, Value};
use std::io::{BufRead, Read};
use xxhash_rust::xxh3::{Xxh3, xxh3_128};

/// Documents that are decided on before all others, whatever their rank and the policy. Some are kept whatever they are
/// near-duplicates of, and come first. Of two of the others that are near-duplicates only the first by rank and policy is kept, and
/// one that is a near-duplicate of a reference is not kept.
///
/// ```
/// use neardups::engine::Chosen;
///
/// let lines = r#"{"type":"decision","keep":"page-7"}
/// {"type":"decision","keep":"12","file":"crawl.jsonl","record":12,"always":true}"#;
/// let chosen = Chosen::read("decisions.jsonl", lines.as_bytes())?;
/// assert_eq!((chosen.len(), chosen.always()), (2, 1));
/// # Ok::<(), neardups::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Chosen {
    /// The file of the decisions, in errors.
    name: String,
    documents: Vec<One>,
    /// The ids and the files that they name.
    ids: Names,
    files: Names,
    /// The indices of those that are kept whatever they are near-duplicates of, ascending.
    always: Vec<u32>,
    /// The number of the first line, and of each that does not follow the one before, with its index.
    lines: Vec<(usize, u64)>,
}

/// A document, as a line names it.
#[derive(Clone, Copy, Debug)]
struct One {
    /// The number of its id.
    id: u32,
    /// The number of its file, or [`ANYWHERE`], and the record in it; 0 if it is a whole file.
    file: u32,
    record: u64,
}

/// What a line says.
struct Line {
    id: String,
    /// The file, and the record or 0.
    at: Option<(String, u64)>,
    always: bool,
}

/// Not the number of a file: the id alone names the document.
const ANYWHERE: u32 = u32::MAX;

impl One {
    fn is_located(&self) -> bool {
        self.file != ANYWHERE
    }

    fn location(&self) -> (u32, u64) {
        (self.file, self.record)
    }
}

/// A document of a run, as a line can name it.
#[derive(Clone, Copy)]
pub(super) struct Named<'d> {
    pub id: &'d str,
    pub file: &'d str,
    pub record: Option<u64>,
}

/// Not the number of a document: what was found instead of one.
const NOTHING: u32 = u32::MAX;
const SEVERAL: u32 = u32::MAX - 1;

/// Notes a document that a line names.
fn note(found: &mut u32, document: u32) {
    *found = if *found == NOTHING { document } else { SEVERAL };
}

/// A path without the current folder before it.
fn plain(mut path: &str) -> &str {
    while let Some(rest) = path.strip_prefix("./") {
        path = rest.trim_start_matches('/');
    }
    path
}

/// The longest line.
const MAX_LINE: u64 = 1 << 20;

impl Chosen {
    /// Reads JSON lines such as `{"type":"decision","keep":"ID","file":"FILE","record":7}`: the id of a document, and where
    /// it is. `file` is the path as in the results, with or without `./` before it; a document that is a whole file has no `record`. Without `file` the id
    /// alone names the document. With `"always":true` it is kept whatever it is a near-duplicate of; one such line of several about
    /// a document is enough. Other fields are ignored, and so are blank lines. `name` is that of the file in errors.
    ///
    /// # Errors
    /// [`Error::Decision`] for a line that is not a decision; [`Error::Input`] if they cannot be read.
    pub fn read(name: &str, mut lines: impl BufRead) -> Result<Self, Error> {
        let cannot_read = |error| Error::input(format!("cannot read {name}"), error);
        let (mut chosen, mut bytes) = (Chosen { name: name.into(), ..Chosen::default() }, Vec::new());
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
                chosen.push(line, decision(text).map_err(invalid)?);
            }
        }
        Ok(chosen)
    }

    fn push(&mut self, number: u64, Line { id, at, always }: Line) {
        let index = self.documents.len();
        if self.lines.last().is_none_or(|&(first, line)| line + (index - first) as u64 != number) {
            self.lines.push((index, number));
        }
        self.always.extend(always.then_some(index as u32));
        let (file, record) = at.map_or((ANYWHERE, 0), |(file, record)| (self.files.insert(plain(&file)), record));
        self.documents.push(One { id: self.ids.insert(&id), file, record });
    }

    /// The number of a line in the file.
    fn line(&self, index: usize) -> u64 {
        let (first, number) = self.lines[self.lines.partition_point(|&(first, _)| first <= index) - 1];
        number + (index - first) as u64
    }

    /// The number of lines.
    pub fn len(&self) -> usize {
        self.documents.len()
    }

    /// Whether nothing was chosen.
    pub fn is_empty(&self) -> bool {
        self.documents.is_empty()
    }

    /// The number of lines whose document is kept whatever it is a near-duplicate of.
    pub fn always(&self) -> usize {
        self.always.len()
    }

    /// The indices of those lines among all, ascending.
    pub(super) fn always_kept(&self) -> &[u32] {
        &self.always
    }

    /// A hash of what was chosen, whatever the order and however often.
    pub fn digest(&self) -> u128 {
        let key = |one: &One| {
            let (file, record) =
                (one.is_located().then(|| self.files.get(one.file)), Some(one.record).filter(|&r| r > 0));
            xxh3_128(serde_json::json!([self.ids.get(one.id), file, record]).to_string().as_bytes())
        };
        let mut keys: Vec<(u128, bool)> = self.documents.iter().map(|one| (key(one), true)).collect();
        self.always.iter().for_each(|&index| keys[index as usize].1 = false);
        keys.sort_unstable();
        // Of two lines that name a document in one way, one is enough to keep it always: that one comes first.
        keys.dedup_by_key(|&mut (key, _)| key);
        let mut all = Xxh3::new();
        for (key, is_not_always) in keys {
            all.update(&key.to_le_bytes());
            if !is_not_always {
                all.update(b"always");
            }
        }
        all.digest128()
    }

    /// The numbers of the chosen documents, some of them several times. `named` says how the document of a number is named.
    ///
    /// # Cost
    /// Two look-ups for each of the documents. Memory: 12 bytes for each line.
    ///
    /// # Errors
    /// [`Error::Decision`] if a line names no document, several, or one with another id.
    pub(super) fn find<'d>(
        &self,
        documents: impl Iterator<Item = u32>,
        named: impl Fn(u32) -> Named<'d>,
    ) -> Result<Vec<u32>, Error> {
        let located = self.located();
        let by_id = located.len() < self.documents.len();
        let mut of_id = vec![NOTHING; if by_id { self.ids.len() } else { 0 }];
        let mut of_place = vec![NOTHING; located.len()];
        // Documents of one file follow each other.
        let mut file: Option<(&str, Option<u32>)> = None;
        let mut next = 0;
        for document in documents {
            let Named { id, file: in_file, record } = named(document);
            if by_id && let Some(id) = self.ids.find(id) {
                note(&mut of_id[id as usize], document);
            }
            if !located.is_empty() {
                let (_, number) = *match &mut file {
                    Some(file) if file.0 == in_file => file,
                    other => other.insert((in_file, self.files.find(plain(in_file)))),
                };
                let location = number.map(|file| (file, record.unwrap_or(0)));
                let place = location.and_then(|location| self.first_at(location, &located, &mut next));
                place.into_iter().for_each(|place| note(&mut of_place[place], document));
            }
        }
        let at = |one: &One| if one.is_located() { NOTHING } else { of_id[one.id as usize] };
        let mut found: Vec<u32> = self.documents.iter().map(at).collect();
        let mut first = 0;
        for (place, &index) in located.iter().enumerate() {
            if self.location(index) != self.location(located[first]) {
                first = place;
            }
            found[index as usize] = of_place[first];
        }
        for (index, &document) in found.iter().enumerate() {
            self.check(&self.documents[index], document, &named).map_err(|message| {
                let place = format!("{}:{}", self.name, self.line(index));
                Error::Decision { place, message }
            })?;
        }
        Ok(found)
    }

    /// The lines that say where their document is, in the order of their locations.
    fn located(&self) -> Vec<u32> {
        let lines = 0..self.documents.len() as u32;
        let mut located: Vec<u32> = lines.filter(|&line| self.documents[line as usize].is_located()).collect();
        located.sort_unstable_by_key(|&line| self.location(line));
        located
    }

    fn location(&self, index: u32) -> (u32, u64) {
        self.documents[index as usize].location()
    }

    /// The first place of this location among those of lines. It is nearly always the next one after that of the document
    /// before, from which the search starts.
    fn first_at(&self, location: (u32, u64), located: &[u32], next: &mut usize) -> Option<usize> {
        let is_before = |place: usize| located.get(place).is_some_and(|&line| self.location(line) < location);
        let comes_after = |place: usize| place == 0 || is_before(place - 1);
        while *next < located.len()
            && is_before(*next)
            && comes_after(*next)
            && self.location(located[*next]).0 == location.0
        {
            *next += 1;
        }
        if is_before(*next) || !comes_after(*next) {
            *next = located.partition_point(|&line| self.location(line) < location);
        }
        located.get(*next).filter(|&&line| self.location(line) == location).map(|_| *next)
    }

    /// Checks that one document was found, and that it has the id.
    fn check<'d>(&self, one: &One, found: u32, named: impl Fn(u32) -> Named<'d>) -> Result<(), String> {
        let id = self.ids.get(one.id);
        if !one.is_located() {
            return match found {
                NOTHING => Err(format!("no document has the id '{id}'")),
                SEVERAL => {
                    Err(format!("several documents have the id '{id}': name one by \"file\" and \"record\" too"))
                }
                _ => Ok(()),
            };
        }
        let file = self.files.get(one.file);
        let at = if one.record > 0 { format!("{file}:{}", one.record) } else { file.to_string() };
        match found {
            NOTHING => Err(format!(
                "no document is at {at} (id '{id}'): name the input as in the run that the decisions are of"
            )),
            SEVERAL => Err(format!("several documents are at {at} (id '{id}')")),
            _ => match named(found).id {
                other if plain(other) == plain(id) => Ok(()),
                other => Err(format!("the document at {at} has the id '{other}', not '{id}': the input has changed")),
            },
        }
    }
}

/// What a line says.
fn decision(text: &str) -> Result<Line, String> {
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
    let always = match fields.get("always") {
        None | Some(Value::Null) => false,
        Some(Value::Bool(always)) => *always,
        Some(other) => return Err(format!("the field \"always\" is {other}, not true or false")),
    };
    match (text("file")?, record) {
        (Some(file), record) => Ok(Line { id, at: Some((file, record.unwrap_or(0))), always }),
        (None, None) => Ok(Line { id, at: None, always }),
        (None, Some(record)) => Err(format!("the record {record} of no file: add the field \"file\"")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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
            (
                "{\"type\":\"decision\",\"keep\":\"a\",\"always\":1}",
                "d:1: the field \"always\" is 1, not true or false",
            ),
            (
                "{\"type\":\"decision\",\"keep\":\"a\",\"always\":\"true\"}",
                "d:1: the field \"always\" is \"true\", not true or false",
            ),
        ] {
            assert!(error(lines).starts_with(expected), "{lines}: {}", error(lines));
        }
        assert!(error(&"x".repeat(2 << 20)).starts_with("d:1: longer than"), "of a line without an end");
        assert!(Chosen::read("d", &b"\xff\n"[..]).unwrap_err().to_string().starts_with("d:1: "));
    }

    /// Ids, files and records of which some are the same.
    fn names() -> impl Strategy<Value = (String, String, Option<u64>)> {
        ("[a-e]", "[fg]?", prop::option::of(1u64..9))
    }

    proptest! {
        #[test]
        fn documents_are_those_that_a_search_of_all_finds(
            documents in prop::collection::vec(names(), 0..12),
            copied in prop::collection::vec((any::<prop::sample::Index>(), any::<bool>()), 0..8),
            others in prop::collection::vec((names(), any::<bool>()), 0..2),
            sorted: bool,
        ) {
            let mut documents = documents;
            if sorted {
                documents.sort_by_key(|(_, file, record)| (file.clone(), *record));
            }
            let copied = copied.iter().filter(|_| !documents.is_empty());
            let lines: Vec<_> =
                copied.map(|(at, located)| (at.get(&documents).clone(), *located)).chain(others).collect();
            let mut chosen = Chosen::default();
            for (line, ((id, file, record), located)) in (1..).zip(&lines) {
                let at = located.then(|| (file.clone(), record.unwrap_or(0)));
                chosen.push(2 * line, Line { id: id.clone(), at, always: false });
            }
            let found = chosen.find(0..documents.len() as u32, |number| {
                let (id, file, record) = &documents[number as usize];
                Named { id, file, record: *record }
            });
            let expected: Result<Vec<u32>, usize> = lines.iter().enumerate().map(|(index, (line, located))| {
                let is_it = |document: &(String, String, Option<u64>)| match located {
                    true => (&document.1, document.2) == (&line.1, line.2),
                    false => document.0 == line.0,
                };
                let all: Vec<usize> = (0..documents.len()).filter(|&number| is_it(&documents[number])).collect();
                match *all {
                    [one] if documents[one].0 == line.0 => Ok(one as u32),
                    _ => Err(index),
                }
            }).collect();
            match (found, expected) {
                (Ok(found), Ok(expected)) => prop_assert_eq!(found, expected),
                (Err(error), Err(index)) => {
                    let place = format!(":{}: ", 2 * (index + 1));
                    prop_assert!(error.to_string().starts_with(&place), "{} at {}", error, place);
                }
                (found, expected) => prop_assert!(false, "{:?}, not {:?}", found, expected),
            }
        }
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
        let always = |line: &str| line.replacen('}', ",\"always\":true}", 1);
        let (always_a, always_b) = (&*always(a), &*always(b));
        assert_ne!(digest(&[always_a]), digest(&[a]));
        assert_ne!(digest(&[always_a, b]), digest(&[a, always_b]));
        assert_eq!(digest(&[a, b, always_a]), digest(&[always_a, always_a, b]));
        assert_eq!(digest(&[&*a.replacen('}', ",\"always\":false}", 1)]), digest(&[a]));
    }
}
