//! JSON lines: each line is a JSON object, with the text and the id in fields.
//!
//! Only these fields are extracted, in one pass. The rest is validated and skipped, and a text without escapes is borrowed
//! from the line. Nesting is bounded by serde_json's own limit of 128. Surrogates that stand alone are no error ([`strings`]),
//! and neither are numbers that JSON does not have ([`nonfinite`]).

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_core::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::fields::{Joined, joined_id, quoted, takes_place};
use super::label::Encoding;
use super::lacking::Found as Counted;
use super::path::Step;
#[cfg(feature = "files")]
use super::ranking::FieldValue;
use super::{FieldPath, IdFields, PageText, ProblemKind, TextFields};

mod chosen;
mod flat;
mod nonfinite;
mod strings;

use chosen::Chosen;
use flat::Record;
use nonfinite::Replaced;
use strings::{Lone, Text};

/// The maximum number of field names in a message.
pub(super) const NAMES_SHOWN: usize = 10;

/// The number of lines whose fields are named where no line has a field.
#[cfg(feature = "files")]
const FIRST_LINES: usize = 10;

/// The maximum length of a field name in a message.
const NAME_CHARS: usize = 40;

/// Why a line is not a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Rejected {
    pub kind: ProblemKind,
    pub message: String,
    /// The id, if it could be read.
    pub id: Option<String>,
    /// Whether it has none of the fields of the text.
    pub lacks_field: bool,
}

impl Rejected {
    fn new(kind: ProblemKind, message: String) -> Self {
        Rejected { kind, message, id: None, lacks_field: false }
    }
}

/// The wanted fields of lines.
#[derive(Clone, Debug)]
pub(super) struct Fields {
    texts: Vec<FieldPath>,
    id: IdFields,
    wanted: Wanted,
    /// The number of slots of texts: first those of the paths.
    slots: usize,
    /// The texts whose path may also be that of a field with brackets in its name: its own slot, and the slot of that field,
    /// which takes precedence. That slot may be the own one of another path.
    literals: Vec<[usize; 2]>,
    /// Whether two paths may lead to the same string, which is a part of the text only once.
    may_meet: bool,
    /// What is read of the texts, if they are pages.
    pages: Option<PageText>,
    /// Of several texts, which were found in some line or table.
    found: Arc<[AtomicBool]>,
    /// What to choose where these fields are missing, as the end of a message.
    advice: &'static str,
    /// The fields that rank records, as if they made an id, and their number.
    #[cfg(feature = "files")]
    values: (Wanted, usize),
}

impl Fields {
    /// The fields of the text and of the id.
    pub fn new(texts: &TextFields, id: &IdFields, pages: Option<PageText>) -> Self {
        let texts: Vec<FieldPath> = texts.paths().cloned().collect();
        let mut wanted = Wanted::default();
        let literal: Vec<FieldPath> = texts.iter().map(|path| path.literal().unwrap_or_else(|| path.clone())).collect();
        let own_of = |own: &usize| texts[*own].literal().is_some();
        let (mut literals, mut slots) = (Vec::<[usize; 2]>::new(), texts.len());
        for own in (0..texts.len()).filter(own_of) {
            let known = texts.iter().position(|path| path.steps() == literal[own].steps());
            literals.push([own, known.unwrap_or(slots)]);
            slots += usize::from(known.is_none());
        }
        let slot = |own: usize| literals.iter().find(|[text, _]| *text == own).map_or(own, |[_, slot]| *slot);
        for &[own, literal_slot] in literals.iter().filter(|[_, slot]| *slot >= texts.len()) {
            let slots = TextSlots { own: literal_slot, strings: slot(takes_place(&literal, own)) };
            wanted.add(literal[own].steps(), Goal::Text(slots));
        }
        for (own, path) in texts.iter().enumerate() {
            wanted.add(path.steps(), Goal::Text(TextSlots { own, strings: takes_place(&texts, own) }));
        }
        let meet = |path: usize, other: usize| {
            let [one, other] = [path, other].map(|at| [&texts[at], &literal[at]]);
            one.iter().any(|one| other.iter().any(|other| one.has_fields_of(other)))
        };
        let may_meet = (1..texts.len()).any(|at| (0..at).any(|other| meet(at, other)));
        id.paths().enumerate().for_each(|(at, path)| wanted.add(path.steps(), Goal::Id(at)));
        let found = texts.iter().map(|_| AtomicBool::new(false)).collect();
        Fields {
            texts,
            id: id.clone(),
            wanted,
            slots,
            literals,
            may_meet,
            pages,
            found,
            advice: "choose with `text-field`",
            #[cfg(feature = "files")]
            values: Default::default(),
        }
    }

    /// With fields that rank records, each once.
    #[cfg(feature = "files")]
    pub fn with_values(mut self, fields: &[FieldPath]) -> Self {
        let (wanted, count) = &mut self.values;
        fields.iter().enumerate().for_each(|(at, path)| wanted.add(path.steps(), Goal::Id(at)));
        *count = fields.len();
        self
    }

    /// With another advice where the fields of the text are missing.
    pub fn advising(self, advice: &'static str) -> Self {
        Fields { advice, ..self }
    }

    /// A text field that one of two sides of a comparison has is found, if both have the same text fields.
    #[cfg(feature = "files")]
    pub fn share_found(&mut self, other: &Self) {
        if self.texts == other.texts {
            self.found = Arc::clone(&other.found);
        }
    }

    /// Notes that a table has columns for all texts but these.
    #[cfg(feature = "files")]
    pub fn found_but(&self, missing: &[String]) {
        let has = |field: &FieldPath| !missing.iter().any(|missing| *missing == field.to_string());
        let found = self.texts.iter().zip(&*self.found).filter(|(field, _)| has(field));
        found.for_each(|(_, is_found)| is_found.store(true, Ordering::Relaxed));
    }

    /// The names of those of several texts that no line or table has that was read with these fields or a clone of them, if some
    /// has another.
    #[cfg(feature = "files")]
    pub fn never_found(&self) -> Vec<String> {
        let is_found = |at: usize| self.found[at].load(Ordering::Relaxed);
        if !(0..self.texts.len()).any(is_found) || self.texts.len() < 2 {
            return Vec::new();
        }
        let never = self.texts.iter().enumerate().filter(|&(at, _)| !is_found(at));
        never.map(|(_, field)| field.to_string()).collect()
    }

    /// Extracts text and id from a line, or says why it cannot. Text with escapes may be decoded into `buffer`.
    pub fn parse<'a>(&self, line: &'a str, buffer: &'a mut String) -> Result<Record<'a>, Rejected> {
        self.parse_counting(line, buffer, None)
    }

    /// The same, and counts which fields of the text a line lacks that is JSON.
    pub fn parse_counting<'a>(
        &self,
        line: &'a str,
        buffer: &'a mut String,
        counted: Option<&mut Counted>,
    ) -> Result<Record<'a>, Rejected> {
        if let [text] = &self.texts[..]
            && let ([Step::Field(text)], Some([Step::Field(id)])) = (text.steps(), self.id.single_steps())
            && let Some(found) = flat::parse(line, text, id, buffer)
        {
            let (Text { text, lone }, id) = found.text_and_id(buffer);
            let id = id.filter(|id| !id.is_empty());
            let mut joined = Joined::new(self.pages);
            joined.push(text);
            return Ok(Record { text: joined.text.unwrap_or_default(), id, fell_back: joined.fell_back, lone });
        }
        self.parse_any(line, counted)
    }

    /// The id of a line that is not UTF-8, or not the encoding that was named, with an escape such as `\udcff` for each byte that is not, so that different ids stay different. A
    /// backslash that would look like the start of such an escape becomes `\u005c`.
    pub fn id_of_damaged(&self, line: &[u8], named: Option<Encoding>) -> Option<String> {
        match self.parse(&strings::escaped(line, named), &mut String::new()) {
            Ok(record) => record.id.map(Cow::into_owned),
            Err(rejected) => rejected.id,
        }
    }

    /// [`parse`](Self::parse) for every line, without the fast path.
    fn parse_any<'a>(&self, line: &'a str, mut counted: Option<&mut Counted>) -> Result<Record<'a>, Rejected> {
        let parsed = self.parse_json(line, &|at| at, counted.as_deref_mut());
        match &parsed {
            Err(Rejected { kind: ProblemKind::Json, .. }) => match Replaced::new(line) {
                Some(replaced) => {
                    let original = |at| replaced.original(at);
                    self.parse_json(&replaced.line, &original, counted).map(Record::into_owned)
                }
                None => parsed,
            },
            _ => parsed,
        }
    }

    fn nothing_found<'a>(&self, as_written: bool) -> Found<'a> {
        Found { has_places: self.may_meet, ..Found::new(self.slots, self.id.paths().count(), as_written) }
    }

    /// The slots of the texts. A field with brackets in its name takes precedence over elements of an array.
    fn prefer_literals<'a>(&self, mut slots: Vec<Slot<'a>>) -> Vec<Slot<'a>> {
        for &[own, literal] in &self.literals {
            if !matches!(slots[literal], Slot::Missing) {
                // A field that another path leads to is read for that one, too.
                slots[own] = match literal < self.texts.len() {
                    true => slots[literal].clone(),
                    false => std::mem::take(&mut slots[literal]),
                };
            }
        }
        slots.truncate(self.texts.len());
        slots
    }

    /// Parses a line of JSON. `original` returns the position in the line as it was read.
    fn parse_json<'a>(
        &self,
        line: &'a str,
        original: &dyn Fn(usize) -> usize,
        counted: Option<&mut Counted>,
    ) -> Result<Record<'a>, Rejected> {
        let mut found = self.nothing_found(false);
        let mut json = serde_json::Deserializer::from_str(line);
        let parsed =
            Object { wanted: &self.wanted, found: &mut found }.deserialize(&mut json).and_then(|()| json.end());
        parsed.map_err(|error| Rejected::new(ProblemKind::Json, malformed(&error, line, original)))?;
        let texts = self.prefer_literals(found.texts);
        if let Some(Counted { records, lacking, .. }) = counted {
            *records += 1;
            lacking.iter_mut().zip(&texts).for_each(|(count, slot)| *count += u64::from(matches!(slot, Slot::Missing)));
        }
        let mut values = Vec::with_capacity(found.ids.len());
        for (slot, path) in found.ids.into_iter().zip(self.id.paths()) {
            let of_kind = |kind| format!("id field '{path}' is {kind}, not a string or a number");
            values.push(match slot {
                Slot::Missing | Slot::Kind("null") => None,
                Slot::Text(id, _) => Some(id.text),
                Slot::Number(id) => Some(Cow::Borrowed(id)),
                // No path of an id leads through arrays.
                Slot::Kind(kind) | Slot::Misled(kind, _) => {
                    return Err(Rejected::new(ProblemKind::Id, of_kind(kind)));
                }
                Slot::Bool(_) => return Err(Rejected::new(ProblemKind::Id, of_kind("a boolean"))),
                Slot::Texts(_) => None,
            });
        }
        let id = joined_id(values.into_iter());
        let mut lacks_field = true;
        let mut is_null = true;
        for (slot, is_found) in texts.iter().zip(&*self.found) {
            if !matches!(slot, Slot::Missing) {
                lacks_field = false;
                is_null &= matches!(slot, Slot::Kind("null"));
                // Written once, as threads share it.
                if !is_found.load(Ordering::Relaxed) {
                    is_found.store(true, Ordering::Relaxed);
                }
            }
        }
        let wrong = match self.joined(texts) {
            Ok((joined, lone)) => {
                let (text, fell_back) = (joined.text.unwrap_or_default(), joined.fell_back);
                return Ok(Record { text, id, fell_back, lone });
            }
            Err(wrong) => wrong,
        };
        let message = match is_null && !lacks_field {
            true => wrong,
            false => {
                let here = field_names(line).unwrap_or_default();
                format!("{wrong} (fields here: {here}; {})", self.advice)
            }
        };
        Err(Rejected { kind: ProblemKind::Text, message, id: id.map(Cow::into_owned), lacks_field })
    }

    /// The strings that are joined to the text of a line, as they are written in it, with quotation marks and escapes; `None` if there is
    /// no text.
    #[cfg(feature = "clean")]
    pub fn literals<'a>(&self, line: &'a str) -> Option<Vec<&'a str>> {
        self.literals_of_json(line).or_else(|| {
            let replaced = Replaced::new(line)?;
            let literals = self.literals_of_json(&replaced.line)?;
            literals.into_iter().map(|literal| replaced.in_original(line, literal)).collect()
        })
    }

    #[cfg(feature = "clean")]
    fn literals_of_json<'a>(&self, line: &'a str) -> Option<Vec<&'a str>> {
        let mut found = self.nothing_found(true);
        let mut json = serde_json::Deserializer::from_str(line);
        Object { wanted: &self.wanted, found: &mut found }.deserialize(&mut json).ok()?;
        let mut literals = Vec::new();
        let mut seen = SeenStrings::default();
        let mut add = |(literal, place): (Text<'a>, Option<usize>)| {
            let Cow::Borrowed(text) = literal.text else { return None };
            if seen.is_new(place) {
                literals.push(text);
            }
            Some(())
        };
        for slot in self.prefer_literals(found.texts) {
            match slot {
                Slot::Missing | Slot::Kind("null") => {}
                Slot::Text(text, place) => add((text, place))?,
                Slot::Texts(texts) => texts.into_places().try_for_each(&mut add)?,
                Slot::Number(_) | Slot::Bool(_) | Slot::Kind(_) | Slot::Misled(..) => return None,
            }
        }
        Some(literals)
    }

    /// The joined texts of these fields, and what was replaced in them; or what is wrong with them. One of several may be
    /// missing or null.
    fn joined<'a>(&self, found: Vec<Slot<'a>>) -> Result<(Joined<'a>, Lone), String> {
        let (mut joined, mut lone, mut null) = (Joined::new(self.pages), Lone::default(), None);
        let mut seen = SeenStrings::default();
        let mut push = |(text, place): (Text<'a>, Option<usize>)| {
            if seen.is_new(place) {
                lone.merge(text.lone);
                joined.push(text.text);
            }
        };
        for (field, slot) in self.texts.iter().zip(found) {
            match slot {
                Slot::Missing => {}
                Slot::Text(text, place) => push((text, place)),
                Slot::Texts(texts) => texts.into_places().for_each(&mut push),
                Slot::Kind("null") => null = null.or(Some(field)),
                slot @ (Slot::Number(_) | Slot::Bool(_) | Slot::Kind(_) | Slot::Misled(..)) => {
                    return Err(wrong(field, &slot));
                }
            }
        }
        match (&joined.text, null) {
            (Some(_), _) => Ok((joined, lone)),
            (None, Some(field)) => Err(format!("text field '{field}' is null: there is no text to compare")),
            (None, None) => Err(format!("no text field {}", quoted(self.texts.iter()))),
        }
    }

    /// The values of the fields that rank a line that is JSON.
    #[cfg(feature = "files")]
    pub fn values<'l>(&self, line: &'l str) -> Vec<FieldValue<'l>> {
        let (wanted, count) = &self.values;
        if *count == 0 {
            return Vec::new();
        }
        // The line was parsed before.
        values(line, wanted, *count).unwrap_or_else(|| {
            let replaced = Replaced::new(line);
            let found = replaced.as_ref().and_then(|replaced| values(&replaced.line, wanted, *count));
            found.into_iter().flatten().map(FieldValue::into_owned).collect()
        })
    }
}

/// The values of some fields of a line; `None` if it is not JSON.
#[cfg(feature = "files")]
fn values<'l>(line: &'l str, wanted: &Wanted, count: usize) -> Option<Vec<FieldValue<'l>>> {
    let mut found = Found::new(0, count, false);
    let mut json = serde_json::Deserializer::from_str(line);
    Object { wanted, found: &mut found }.deserialize(&mut json).ok()?;
    let value = |slot| match slot {
        Slot::Number(number) => FieldValue::Written(Cow::Borrowed(number)),
        Slot::Text(text, _) => FieldValue::Text(text.text),
        Slot::Bool(value) => FieldValue::Bool(value),
        Slot::Kind(kind) if kind != "null" => FieldValue::Other(kind),
        _ => FieldValue::Missing,
    };
    Some(found.ids.into_iter().map(value).collect())
}

/// Why the value of a text field is no text.
fn wrong(field: &FieldPath, slot: &Slot) -> String {
    match slot {
        Slot::Misled(kind, expected) => format!("text field '{field}' leads through {kind} where {expected} should be"),
        Slot::Kind("an array") => {
            // Chats are arrays of objects with a `content`, which can be an array of objects with a `text`.
            let field = field.to_string();
            let inner = if field.contains('[') { "text" } else { "content" };
            format!(
                "text field '{field}' is an array, not a string: add '{field}[]' for strings in it, or a field of objects in it \
                 such as '{field}[].{inner}'"
            )
        }
        Slot::Bool(_) => format!("text field '{field}' is a boolean, not a string"),
        Slot::Kind(kind) => format!("text field '{field}' is {kind}, not a string"),
        _ => format!("text field '{field}' is a number, not a string"),
    }
}

/// Each line is parsed separately, so the line number of serde_json is useless.
fn malformed(error: &serde_json::Error, line: &str, original: &dyn Fn(usize) -> usize) -> String {
    let message = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    let message = message.strip_suffix(&place).unwrap_or(&message);
    // Well formed, but of another type; serde's message is "invalid type: sequence, expected a JSON object".
    if error.is_data() && message.starts_with("invalid type") {
        return "not a JSON object".to_string();
    }
    if error.is_data() {
        // This value was parsed separately: its column is not that of the line.
        let message = message.rsplit_once(" at line ").map_or(message, |(what, _)| what);
        return format!("malformed JSON: {message}");
    }
    // Of a value that is skipped, a control character is counted from 0.
    let is_control = |at: usize| line.as_bytes().get(at).is_some_and(|byte| *byte < 0x20);
    let is_before = message.starts_with("control character") && is_control(error.column());
    let column = error.column() + usize::from(is_before && !is_control(error.column().saturating_sub(1)));
    // Columns are counted from 1.
    let column = column.checked_sub(1).map_or(column, |at| original(at) + 1);
    format!("malformed JSON: {message} at column {column}")
}

/// At most [`NAMES_SHOWN`] of the `count` names, formatted for a message.
pub(super) fn display_names<'n>(names: impl Iterator<Item = Cow<'n, str>>, count: usize) -> String {
    if count == 0 {
        return "none".to_owned();
    }
    let shorten = |name: Cow<str>| name.chars().take(NAME_CHARS).flat_map(char::escape_debug).collect();
    let shown: Vec<String> = names.take(NAMES_SHOWN).map(shorten).collect();
    match count.checked_sub(NAMES_SHOWN) {
        None | Some(0) => shown.join(", "),
        Some(more) => format!("{} and {more} more", shown.join(", ")),
    }
}

/// The fields of the object itself, for a message.
fn field_names(line: &str) -> Result<String, serde_json::Error> {
    names(line, NAMES_SHOWN).map(|(names, count)| display_names(names.into_iter(), count))
}

/// The fields that the first lines have, for a message; `None` if none of them is an object.
#[cfg(feature = "files")]
pub(super) fn field_names_of_lines(text: &str) -> Option<String> {
    // A record can have any number of names.
    let (mut all, mut seen): (Option<Vec<Cow<str>>>, _) = (None, HashSet::new());
    for (found, _) in text.lines().take(FIRST_LINES).filter_map(|line| names(line, usize::MAX).ok()) {
        let all = all.get_or_insert_default();
        found.into_iter().for_each(|name| {
            if seen.insert(name.clone()) {
                all.push(name);
            }
        });
    }
    all.map(|all| display_names(all.iter().cloned(), all.len()))
}

/// At most `most` fields of the object itself, and their number.
fn names(line: &str, most: usize) -> Result<(Vec<Cow<'static, str>>, usize), serde_json::Error> {
    struct Names(usize);
    impl<'de> Visitor<'de> for Names {
        type Value = (Vec<Cow<'static, str>>, usize);

        fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
            f.write_str("a JSON object")
        }

        fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Self::Value, M::Error> {
            let (mut names, mut count) = (Vec::new(), 0);
            while let Some((name, IgnoredAny)) = map.next_entry::<&RawValue, IgnoredAny>()? {
                count += 1;
                if names.len() < self.0 {
                    let name = strings::text(name.get()).map_err(M::Error::custom)?;
                    names.push(Cow::Owned(name.text.into_owned()));
                }
            }
            Ok((names, count))
        }
    }
    let read = |line: &str| serde_json::Deserializer::from_str(line).deserialize_map(Names(most));
    read(line).or_else(|error| Replaced::new(line).map_or(Err(error), |replaced| read(&replaced.line)))
}

/// Whether a line is JSON, with numbers that JSON does not have or without.
#[cfg(feature = "files")]
pub(super) fn is_json(line: &[u8]) -> bool {
    let is_json = |line: &str| serde_json::from_str::<IgnoredAny>(line).is_ok();
    std::str::from_utf8(line)
        .is_ok_and(|line| is_json(line) || Replaced::new(line).is_some_and(|replaced| is_json(&replaced.line)))
}

/// Strings, and where they are in the line, as addresses. Without addresses unless two paths may lead to the same string.
#[derive(Clone, Debug, Default)]
struct Texts<'de> {
    texts: Vec<Text<'de>>,
    places: Vec<usize>,
}

impl<'de> Texts<'de> {
    fn push(&mut self, text: Text<'de>, place: Option<usize>) {
        self.texts.push(text);
        self.places.extend(place);
    }

    /// Each string, with its address if it has one.
    fn into_places(self) -> impl Iterator<Item = (Text<'de>, Option<usize>)> {
        let places = self.places.into_iter().map(Some).chain(std::iter::repeat(None));
        self.texts.into_iter().zip(places)
    }
}

/// The strings of a record that were added before.
#[derive(Default)]
struct SeenStrings(HashSet<usize>);

impl SeenStrings {
    /// Whether the string at this address was not added before; one without an address never was.
    fn is_new(&mut self, place: Option<usize>) -> bool {
        place.is_none_or(|place| self.0.insert(place))
    }
}

/// The value of a wanted field.
#[derive(Clone, Debug, Default)]
enum Slot<'de> {
    #[default]
    Missing,
    /// With its address, if two paths may lead to it.
    Text(Text<'de>, Option<usize>),
    /// Those of the elements of an array.
    Texts(Texts<'de>),
    /// Unchanged from the line: `1.0` and `1` are two ids.
    Number(&'de str),
    Bool(#[cfg_attr(not(feature = "files"), allow(dead_code, reason = "only records of files are ranked"))] bool),
    /// A value of another type: its name, with an article.
    Kind(&'static str),
    /// A value on the way to the field of another type, and the type that leads on.
    Misled(&'static str, &'static str),
}

impl<'de> Slot<'de> {
    /// Adds what was found in the next element of an array. The first error stays.
    fn append(&mut self, element: Slot<'de>) {
        match (self, element) {
            (_, Slot::Missing | Slot::Kind("null")) => {}
            (Slot::Texts(texts), Slot::Text(text, place)) => texts.push(text, place),
            (Slot::Texts(texts), Slot::Texts(more)) => {
                texts.texts.extend(more.texts);
                texts.places.extend(more.places);
            }
            (found @ Slot::Missing, Slot::Text(text, place)) => {
                *found = Slot::Texts(Texts { texts: vec![text], places: place.into_iter().collect() });
            }
            (found @ (Slot::Missing | Slot::Texts(_)), element) => *found = element,
            _ => {}
        }
    }
}

struct Found<'de> {
    texts: Vec<Slot<'de>>,
    ids: Vec<Slot<'de>>,
    /// Whether strings stay as they are written, with quotation marks and escapes.
    as_written: bool,
    /// Whether strings have addresses.
    has_places: bool,
}

impl Found<'_> {
    fn new(texts: usize, ids: usize, as_written: bool) -> Self {
        Found { texts: vec![Slot::Missing; texts], ids: vec![Slot::Missing; ids], as_written, has_places: false }
    }
}

/// Where the text of a path goes.
#[derive(Clone, Copy, Debug)]
struct TextSlots {
    own: usize,
    /// The slot of a string. It is another one if the path of that one leads on from here.
    strings: usize,
}

/// What is at the end of a path.
#[derive(Clone, Copy, Debug)]
enum Goal {
    Text(TextSlots),
    /// The value of this field of the id.
    Id(usize),
}

/// What is wanted of a value: the value itself, or fields within it.
#[derive(Clone, Debug, Default)]
struct Wanted {
    /// The slots of the text that the value is.
    text: Option<TextSlots>,
    /// The field of the id that the value is.
    id: Option<usize>,
    within: Vec<(String, Wanted)>,
    /// What is wanted of elements of an array, by the step to them.
    elements: Vec<(Step, Wanted)>,
}

impl Wanted {
    /// Adds a path. Each path of a text comes once, and so does each of the id.
    fn add(&mut self, path: &[Step], goal: Goal) {
        match (path.split_first(), goal) {
            (None, Goal::Text(slots)) => self.text = Some(slots),
            (None, Goal::Id(at)) => self.id = Some(at),
            (Some((step @ (Step::Elements | Step::Element(_) | Step::Where { .. }), rest)), _) => {
                let at = self.elements.iter().position(|(known, _)| known == step).unwrap_or_else(|| {
                    self.elements.push((step.clone(), Wanted::default()));
                    self.elements.len() - 1
                });
                self.elements[at].1.add(rest, goal);
            }
            (Some((Step::Field(name), rest)), _) => {
                let at = self.within.iter().position(|(known, _)| known == name).unwrap_or_else(|| {
                    self.within.push((name.clone(), Wanted::default()));
                    self.within.len() - 1
                });
                self.within[at].1.add(rest, goal);
            }
        }
    }

    /// Whether the value, or something within it, is a text.
    fn has_texts(&self) -> bool {
        self.text.is_some() || self.has_texts_in_object() || self.has_texts_in_array()
    }

    fn has_texts_in_object(&self) -> bool {
        self.within.iter().any(|(_, wanted)| wanted.has_texts())
    }

    fn has_texts_in_array(&self) -> bool {
        self.elements.iter().any(|(_, wanted)| wanted.has_texts())
    }

    /// Whether a path of a text takes this value, or leads on from it. Then the others that come this way are without a
    /// text here: a value may be a string in one record and an array in another.
    fn fits(&self, json: &str) -> bool {
        match json.as_bytes().first() {
            Some(b'"') => self.text.is_some(),
            Some(b'{') => self.has_texts_in_object(),
            Some(b'[') => self.has_texts_in_array(),
            _ => false,
        }
    }

    /// Passes on the own slots of the texts that the value is, or that are within it.
    fn each_slot(&self, each: &mut dyn FnMut(usize)) {
        self.text.iter().for_each(|slots| each(slots.own));
        self.each_slot_below(each);
    }

    /// Passes on the slots of the texts within fields and elements of the value.
    fn each_slot_below(&self, each: &mut dyn FnMut(usize)) {
        let elements = self.elements.iter().map(|(_, wanted)| wanted);
        let below = self.within.iter().map(|(_, wanted)| wanted).chain(elements);
        for wanted in below {
            wanted.each_slot(each);
        }
    }
}

/// An object that has wanted fields in it.
struct Object<'p, 'f, 'de> {
    wanted: &'p Wanted,
    found: &'f mut Found<'de>,
}

impl<'de> DeserializeSeed<'de> for Object<'_, '_, 'de> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Object<'_, '_, 'de> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<(), M::Error> {
        while let Some(name) = map.next_key::<&RawValue>()? {
            let name = strings::name(name.get()).map_err(M::Error::custom)?;
            match name.and_then(|name| self.wanted.within.iter().find(|(wanted, _)| *wanted == name)) {
                None => {
                    map.next_value::<IgnoredAny>()?;
                }
                Some((_, wanted)) => look_into(map.next_value()?, wanted, self.found).map_err(M::Error::custom)?,
            }
        }
        Ok(())
    }
}

/// The elements of an array, of which something is wanted.
struct Elements<'p, 'f, 'de> {
    chosen: Chosen<'p>,
    wanted: &'p Wanted,
    found: &'f mut Found<'de>,
}

impl<'de> Visitor<'de> for Elements<'_, '_, 'de> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("an array")
    }

    fn visit_seq<S: SeqAccess<'de>>(self, mut seq: S) -> Result<(), S::Error> {
        let Elements { chosen, wanted, found } = self;
        let mut slots = Vec::new();
        wanted.each_slot(&mut |slot| slots.push(slot));
        // What an element holds is found apart, so that a name that it repeats counts once.
        let empty = Found::new(found.texts.len(), found.ids.len(), found.as_written);
        let mut element = Found { has_places: found.has_places, ..empty };
        let mut number = 0;
        while let Some(value) = seq.next_element::<&RawValue>()? {
            number += 1;
            if !chosen.takes(number - 1, value.get()).map_err(S::Error::custom)? {
                continue;
            }
            let is_object_or_null = value.get().starts_with(['{', 'n']);
            if !is_object_or_null
                && !wanted.fits(value.get())
                && let Some((_, first)) = wanted.within.first()
            {
                let misled = Slot::Misled(kind(value.get()), "an object");
                first.each_slot(&mut |slot| element.texts[slot] = misled.clone());
            }
            look_into(value, wanted, &mut element).map_err(S::Error::custom)?;
            slots.iter().for_each(|&slot| found.texts[slot].append(std::mem::take(&mut element.texts[slot])));
        }
        Ok(())
    }
}

/// The type of a value, with an article.
fn kind(json: &str) -> &'static str {
    match json.as_bytes().first() {
        Some(b'"') => "a string",
        Some(b'-' | b'0'..=b'9') => "a number",
        Some(b'{') => "an object",
        Some(b'[') => "an array",
        Some(b'n') => "null",
        _ => "a boolean",
    }
}

/// A value that is, or contains, wanted fields; unchanged from the line.
fn look_into<'de>(value: &'de RawValue, wanted: &Wanted, found: &mut Found<'de>) -> Result<(), serde_json::Error> {
    let (json, as_written) = (value.get(), found.as_written);
    let place = found.has_places.then_some(json.as_ptr() as usize);
    let read = |text| Slot::Text(text, place);
    let here = |is_id: bool| {
        Ok::<_, serde_json::Error>(match kind(json) {
            "a string" if as_written => read(Cow::Borrowed(json).into()),
            "a string" if is_id => read(strings::id(json)?.into()),
            "a string" => read(strings::text(json)?),
            "a number" => Slot::Number(json),
            "a boolean" => Slot::Bool(json == "true"),
            kind => Slot::Kind(kind),
        })
    };
    if let Some(at) = wanted.id {
        found.ids[at] = here(true)?;
    }
    if let Some(TextSlots { own, strings }) = wanted.text {
        // The last of equal names counts.
        wanted.each_slot(&mut |at| found.texts[at] = Slot::Missing);
        if !wanted.fits(json) {
            found.texts[own] = here(false)?;
            return look_within_object(json, wanted, found);
        }
        if json.starts_with('"') {
            found.texts[strings] = here(false)?;
            return Ok(());
        }
    }
    look_within(json, wanted, found)
}

/// The wanted fields and elements within a value.
fn look_within<'de>(json: &'de str, wanted: &Wanted, found: &mut Found<'de>) -> Result<(), serde_json::Error> {
    look_within_object(json, wanted, found)?;
    for (step, each) in &wanted.elements {
        // The last of equal names counts.
        let slot = match json.starts_with(['[', 'n']) || wanted.fits(json) {
            true => Slot::Missing,
            false => Slot::Misled(kind(json), "an array"),
        };
        each.each_slot(&mut |at| found.texts[at] = slot.clone());
        if json.starts_with('[') {
            serde_json::Deserializer::from_str(json).deserialize_seq(Elements {
                chosen: Chosen::new(step, json)?,
                wanted: each,
                found,
            })?;
        }
    }
    Ok(())
}

/// The wanted fields of a value, if it is an object.
fn look_within_object<'de>(json: &'de str, wanted: &Wanted, found: &mut Found<'de>) -> Result<(), serde_json::Error> {
    if json.starts_with('{') && !wanted.within.is_empty() {
        Object { wanted, found }.deserialize(&mut serde_json::Deserializer::from_str(json))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn with<'a>(line: &'a str, text: &str, id: &str) -> Result<Record<'a>, Rejected> {
        let texts = TextFields::parse("text-field", [text]).unwrap();
        let fields = Fields::new(&texts, &IdFields::parse("id-field", id).unwrap(), None);
        let expected = fields.parse_any(line, None);
        // Both paths have the same result.
        assert_eq!(fields.parse(line, &mut String::new()).ok(), expected.as_ref().ok().cloned(), "{line}");
        expected
    }

    fn check(line: &str, text: &str, id: Option<&str>) {
        check_with(line, "text", "id", text, id);
    }

    fn check_with(line: &str, text_field: &str, id_field: &str, text: &str, id: Option<&str>) {
        let expected = Record { text: text.into(), id: id.map(Cow::from), fell_back: false, lone: Lone::default() };
        assert_eq!(with(line, text_field, id_field), Ok(expected), "{line}");
    }

    fn check_error(line: &str, message: &str) {
        assert_eq!(with(line, "text", "id").unwrap_err().message, message, "{line}");
    }

    #[test]
    fn several_fields_make_one_id() {
        let check = |line: &str, id: Option<&str>| check_with(line, "text", "repo, meta.path", "t", id);
        check(r#"{"text":"t","meta":{"path":"p"},"repo":"r"}"#, Some("r,p"));
        check(r#"{"text":"t","meta":{"path":7.0},"repo":"a,\\b"}"#, Some(r"a\,\\b,7.0"));
        check(r#"{"text":"t","meta":{"path":"p"},"repo":""}"#, Some(",p"));
        // The last of equal names counts.
        check(r#"{"repo":"x","text":"t","meta":{"path":"p"},"repo":"r"}"#, Some("r,p"));
        for line in [
            r#"{"text":"t","repo":"r"}"#,
            r#"{"text":"t","repo":"r","meta":{}}"#,
            r#"{"text":"t","repo":"r","meta":{"path":null}}"#,
            r#"{"text":"t","repo":null,"meta":{"path":"p"}}"#,
            r#"{"text":"t","meta":{"path":""},"repo":""}"#,
        ] {
            check(line, None);
        }
        let wrong = with(r#"{"text":"t","repo":"r","meta":{"path":[]}}"#, "text", "repo,meta.path").unwrap_err();
        assert_eq!(wrong.message, "id field 'meta.path' is an array, not a string or a number");
        // A field of a text can be a field of the id too.
        check_with(r#"{"text":"t","n":1}"#, "text", "n,text", "t", Some("1,t"));
    }

    #[test]
    fn plain_text_is_borrowed() {
        let record = with(r#"{"id":"a","text":"no escapes"}"#, "text", "id").unwrap();
        assert!(matches!(record, Record { text: Cow::Borrowed(_), id: Some(Cow::Borrowed(_)), .. }));
    }

    #[test]
    fn escapes_are_resolved_in_values_and_names() {
        check(r#"{"id":"a","text":"line\n\u00e9 \ud83d\ude00"}"#, "line\né 😀", Some("a"));
        check(r#"{"\u0069d":"a","te\u0078t":"x"}"#, "x", Some("a"));
    }

    /// The text, the id and the number of replaced surrogates of a line with these fields.
    fn lone(line: &str, text: &str, id: &str) -> (String, Option<String>, Option<String>) {
        let record = with(line, text, id).unwrap();
        (record.text.into_owned(), record.id.map(Cow::into_owned), record.lone.repair().map(|repair| repair.message))
    }

    #[test]
    fn lone_surrogates_are_no_error() {
        let one = |unit: &str| Some(format!("lone surrogate \\u{unit} replaced by U+FFFD"));
        for (line, text, id, repair) in [
            (r#"{"id":"a","text":"a \ud83d b"}"#, "a \u{fffd} b", Some("a"), one("d83d")),
            (r#"{"text":"\uDE00\n","id":null}"#, "\u{fffd}\n", None, one("de00")),
            (r#"{"text":"\ud83d\ud83d\ude00"}"#, "\u{fffd}😀", None, one("d83d")),
            // An id stays different from others, and nothing of the text was replaced.
            (r#"{"id":"a\ud83d","text":"x"}"#, "x", Some(r"a\ud83d"), None),
            (r#"{"id":"a\\ud83d","text":"x\\ud83d"}"#, r"x\ud83d", Some(r"a\u005cud83d"), None),
            (r#"{"id":"a\ud83e","text":"\udc00"}"#, "\u{fffd}", Some(r"a\ud83e"), one("dc00")),
            // Other fields, and names.
            (r#"{"x":"\ud83d","text":"x","y":["\ude00",{"\ud800":1}]}"#, "x", None, None),
            (r#"{"\ud83d":1,"text":"x","text\ud83d":2,"\ude00text":"y"}"#, "x", None, None),
            // The last of equal names counts.
            (r#"{"text":"\ud83d","text":"x"}"#, "x", None, None),
            (r#"{"text":"x","text":"\ud83d"}"#, "\u{fffd}", None, one("d83d")),
        ] {
            assert_eq!(lone(line, "text", "id"), (text.to_string(), id.map(String::from), repair), "{line}");
        }
        let parts = r#"{"m":[{"c":"\ud83d"},{"c":["\ude00","x"]}],"id":{"x":"\udc00"}}"#;
        let several = r"2 lone surrogates, the first \ud83d, replaced by U+FFFD".to_string();
        let text = "\u{fffd}\n\n\u{fffd}\n\nx".to_string();
        assert_eq!(lone(parts, "m[].c,m[].c[]", "id.x"), (text, Some(r"\udc00".into()), Some(several)));
        check_error(
            r#"{"\ud83dtext":1,"body":"\ud83d"}"#,
            "no text field 'text' (fields here: \u{fffd}text, body; choose with `text-field`)",
        );
    }

    #[test]
    fn numbers_as_ids_stay_as_they_stand() {
        for number in ["7", "-7", "1.0", "1.50", "1e5", "123456789012345678901234567890", "-0"] {
            check(&format!(r#"{{"text":"x","id": {number} }}"#), "x", Some(number));
        }
    }

    #[test]
    fn no_id_or_null() {
        check(r#"{"text":"x"}"#, "x", None);
        check(r#"{"text":"x","id":null}"#, "x", None);
    }

    #[test]
    fn an_id_that_is_none() {
        for (value, kind) in [("{}", "an object"), ("[1]", "an array"), ("true", "a boolean")] {
            let message = format!("id field 'id' is {kind}, not a string or a number");
            check_error(&format!(r#"{{"text":"x","id":{value}}}"#), &message);
        }
    }

    #[test]
    fn fields_in_objects_in_objects() {
        let line = r#"{"a":{"x":[{"b":0}],"b":{"c":"text","d":5}},"text":"not this"}"#;
        check_with(line, "a.b.c", "a.b.d", "text", Some("5"));
        check_with(line, "a.b.c", "a.c", "text", None);
        check_with(line, "text", "a.b.d", "not this", Some("5"));
    }

    #[test]
    fn text_and_id_in_one_field() {
        check_with(r#"{"a":"x\n"}"#, "a", "a", "x\n", Some("x\n"));
        assert!(
            with(r#"{"a":{"b":"id"}}"#, "a", "a.b").unwrap_err().message.starts_with("text field 'a' is an object")
        );
    }

    #[test]
    fn texts_in_several_fields_are_joined_in_their_order() {
        let line = r#"{"body":"b\n","meta":{"title":"t"},"none":null,"id":1}"#;
        check_with(line, "meta.title,body", "id", "t\n\nb\n", Some("1"));
        check_with(line, "body,meta.title", "id", "b\n\n\nt", Some("1"));
        check_with(line, "missing,body,none", "id", "b\n", Some("1"));
    }

    #[test]
    fn one_of_several_fields_must_have_a_text() {
        for (line, message) in [
            (r#"{"x":1}"#, "no text field 'a', 'b.c' or 'd' (fields here: x; choose with `text-field`)"),
            (r#"{"b":{"c":null}}"#, "text field 'b.c' is null: there is no text to compare"),
            (
                r#"{"a":"x","d":1}"#,
                "text field 'd' is a number, not a string (fields here: a, d; choose with `text-field`)",
            ),
            (
                r#"{"a":"x","b":{"c":[]}}"#,
                "text field 'b.c' is an array, not a string: add 'b.c[]' for strings in it, or a field of objects in it such as \
                 'b.c[].content' (fields here: a, b; choose with `text-field`)",
            ),
        ] {
            assert_eq!(with(line, "a,b.c,d", "id").unwrap_err().message, message);
        }
        check_with(r#"{"a":"","x":1}"#, "a,b", "id", "", None);
    }

    #[test]
    fn texts_in_the_elements_of_arrays_are_joined() {
        for (line, path, text) in [
            (r#"{"m":[{"c":"a"},{"c":"b\n"},{"c":"c"}]}"#, "m[].c", "a\n\nb\n\n\nc"),
            (r#"{"m":[{"x":1},{"c":null},null,{},{"c":"b"},{"c":""}]}"#, "m[].c", "b"),
            (r#"{"p":["a",null,"b"]}"#, "p[]", "a\n\nb"),
            (r#"{"p":[["a"],[],["b","c"]]}"#, "p[][]", "a\n\nb\n\nc"),
            (r#"{"t":[{"p":[{"x":"a"},{"x":"b"}]},{"p":null},{},{"p":[{"x":"c"}]}]}"#, "t[].p[].x", "a\n\nb\n\nc"),
            (r#"{"a":{"m":[{"b":{"c":"x"}}]}}"#, "a.m[].b.c", "x"),
            (r#"{"m":[{"c":"x"}],"t":"title"}"#, "t,m[].c", "title\n\nx"),
            (r#"{"m":[{"c":"a","d":"b"},{"d":"c"}]}"#, "m[].d,m[].c", "b\n\nc\n\na"),
            // The last of equal names counts, in elements too.
            (r#"{"m":[{"c":"a"}],"m":[{"c":"b"}]}"#, "m[].c", "b"),
            (r#"{"m":[{"c":"a","c":"b"}]}"#, "m[].c", "b"),
            (r#"{"m":[{"c":["x"],"c":["y"]}]}"#, "m[].c[]", "y"),
        ] {
            check_with(line, path, "id", text, None);
        }
    }

    #[test]
    fn arrays_without_a_text_and_with_other_values() {
        let missing = "no text field 'm[].c'";
        for (line, wrong) in [
            (r#"{"m":[]}"#, missing),
            (r#"{"m":null}"#, missing),
            (r#"{"m":[{"c":null},null]}"#, missing),
            (r#"{"m":[{"c":"a"}],"m":null}"#, missing),
            (r#"{"m":[{"c":"x"},{"c":7}]}"#, "text field 'm[].c' is a number, not a string"),
            (
                r#"{"m":[{"c":["x"]},{"c":"y"}]}"#,
                "text field 'm[].c' is an array, not a string: add 'm[].c[]' for strings in it, or a field of objects in it such \
                 as 'm[].c[].text'",
            ),
            (r#"{"m":{"c":"x"}}"#, "text field 'm[].c' leads through an object where an array should be"),
            (r#"{"m":["x",{"c":"y"}]}"#, "text field 'm[].c' leads through a string where an object should be"),
            (r#"{"m":[[{"c":"y"}]]}"#, "text field 'm[].c' leads through an array where an object should be"),
        ] {
            let message = with(line, "m[].c", "id").unwrap_err().message;
            assert_eq!(
                message,
                format!("{wrong} (fields here: {}; choose with `text-field`)", field_names(line).unwrap())
            );
        }
        let message = with(r#"{"m":[{"c":"#, "m[].c", "id").unwrap_err().message;
        assert!(message.starts_with("malformed JSON: EOF"), "{message}");
    }

    /// As in chats: a string in one message, and an array of parts in the next one.
    #[test]
    fn a_value_that_several_paths_lead_to_must_fit_one_of_them() {
        let parts = "m[].c,m[].c[].t";
        for (line, paths, text) in [
            (r#"{"m":[{"c":"a"},{"c":"b"}]}"#, parts, "a\n\nb"),
            (r#"{"m":[{"c":[{"t":"a"},{"url":1},{"t":"b"}]},{"c":"c"}]}"#, parts, "a\n\nb\n\nc"),
            (r#"{"m":[{"c":[{"t":"a"}]},{"c":"b"},{"c":[{"t":"c"}]}]}"#, parts, "a\n\nb\n\nc"),
            (r#"{"m":[{"c":[{"t":"a"}]},{"c":"b"}]}"#, "m[].c[].t,m[].c", "a\n\nb"),
            (r#"{"m":[{"c":null},{"c":[]},{"c":[null]},{},{"c":"b"}]}"#, parts, "b"),
            (r#"{"m":[{"c":["a",{"t":"b"}]},{"c":"c"}]}"#, "m[].c,m[].c[],m[].c[].t", "a\n\nb\n\nc"),
            (
                r#"{"m":[{"c":[{"t":"a","u":"b"},{"u":"c"}]},{"c":"d"}]}"#,
                "m[].c,m[].c[].t,m[].c[].u",
                "a\n\nd\n\nb\n\nc",
            ),
            (r#"{"c":"a","x":"b"}"#, "c,x,c[].t", "b\n\na"),
            (r#"{"c":"a"}"#, "c,c[].t", "a"),
            (r#"{"c":[{"t":"a"}]}"#, "c,c[].t", "a"),
            (r#"{"c":{"t":"a"}}"#, "c,c.t", "a"),
            (r#"{"c":{"t":"a"}}"#, "c.t,c[].t", "a"),
            (r#"{"c":[{"t":"a"}]}"#, "c.t,c[].t", "a"),
            (r#"{"c":[["a"],{"t":"b"}]}"#, "c[][],c[].t", "a\n\nb"),
            // The last of equal names counts.
            (r#"{"c":"a","c":[{"t":"b"}]}"#, "c,c[].t", "b"),
            (r#"{"c":[{"t":"a"}],"c":"b"}"#, "c,c[].t", "b"),
            (r#"{"x":1,"c":[{"t":"a"}],"c":"b"}"#, "c.t,c[].t,c", "b"),
        ] {
            check_with(line, paths, "id", text, None);
        }
        check_with(r#"{"c":{"t":"a","id":7}}"#, "c,c.t", "c.id", "a", Some("7"));
        for (line, paths, wrong) in [
            (r#"{"m":[{"c":"a"},{"c":1}]}"#, parts, "text field 'm[].c' is a number, not a string"),
            (r#"{"m":[{"c":{"t":"a"}}]}"#, parts, "text field 'm[].c' is an object, not a string"),
            (r#"{"m":[{"c":[{"t":1}]}]}"#, parts, "text field 'm[].c[].t' is a number, not a string"),
            (
                r#"{"m":[{"c":["a"]}]}"#,
                parts,
                "text field 'm[].c[].t' leads through a string where an object should be",
            ),
            (r#"{"m":[{"c":[]}]}"#, parts, "no text field 'm[].c' or 'm[].c[].t'"),
            (r#"{"c":7}"#, "c.t,c[].t", "text field 'c[].t' leads through a number where an array should be"),
        ] {
            let message = with(line, paths, "id").unwrap_err().message;
            assert_eq!(message.split(" (fields here").next(), Some(wrong), "{line}");
        }
    }

    #[test]
    fn nesting_of_arrays_is_bounded_by_the_path() {
        let deep = format!("{{\"m\":{}1{}}}", "[".repeat(100_000), "]".repeat(100_000));
        let path = format!("m{}", "[]".repeat(20));
        assert!(with(&deep, &path, "id").unwrap_err().message.contains("is an array, not a string"));
    }

    #[test]
    fn the_last_of_equal_names_counts() {
        check(r#"{"text":"a","text":"b","id":1,"id":2}"#, "b", Some("2"));
    }

    #[test]
    fn a_missing_text_names_the_fields() {
        check_error(
            r#"{"id":1,"body":"x","url":"y"}"#,
            "no text field 'text' (fields here: id, body, url; choose with `text-field`)",
        );
        check_error("{}", "no text field 'text' (fields here: none; choose with `text-field`)");
        let many: Vec<String> = (0..20).map(|n| format!("\"f{n}\":0")).collect();
        check_error(
            &format!("{{{}}}", many.join(",")),
            "no text field 'text' (fields here: f0, f1, f2, f3, f4, f5, f6, f7, f8, f9 and 10 more; choose with `text-field`)",
        );
        check_error(r#"{"a\nb":1}"#, r"no text field 'text' (fields here: a\nb; choose with `text-field`)");
    }

    #[test]
    fn a_text_that_is_none() {
        check_error(r#"{"text":null}"#, "text field 'text' is null: there is no text to compare");
        for (value, kind) in [("7", "a number"), ("-1.5", "a number"), ("{\"a\":1}", "an object")] {
            let message =
                format!("text field 'text' is {kind}, not a string (fields here: text; choose with `text-field`)");
            check_error(&format!("{{\"text\":{value}}}"), &message);
        }
    }

    #[test]
    fn numbers_that_json_does_not_have_are_null() {
        for value in ["NaN", "Infinity", "-Infinity"] {
            let line =
                format!(r#"{{"q":{value},"a":[1, {value} ],"text":"NaN, \"é\"","id":"Infinity","z":{{"y":{value}}}}}"#);
            check(&line, r#"NaN, "é""#, Some("Infinity"));
            check(&format!(r#"{{"text":"x","id":{value}}}"#), "x", None);
            check_error(&format!(r#"{{"text":{value}}}"#), "text field 'text' is null: there is no text to compare");
            check_error(
                &format!(r#"{{"body":"x","q":{value}}}"#),
                "no text field 'text' (fields here: body, q; choose with `text-field`)",
            );
        }
    }

    #[cfg(feature = "files")]
    #[test]
    fn numbers_that_json_does_not_have_rank_nothing() {
        let texts = TextFields::parse("text-field", ["text"]).unwrap();
        let field = |name: &str| FieldPath::parse("keep", name).unwrap();
        let fields = Fields::new(&texts, &IdFields::new("id").unwrap(), None).with_values(&[field("q"), field("a")]);
        let values = |line| format!("{:?}", fields.values(line));
        assert_eq!(values(r#"{"a":NaN,"text":"x","q":7}"#), r#"[Written("7"), Missing]"#);
        assert_eq!(values(r#"{"q":-Infinity,"text":"x","a":"\u0065n"}"#), r#"[Missing, Text("en")]"#);
        assert_eq!(values(r#"{"a":-Infinity,"text":"x","q":true}"#), "[Bool(true), Missing]");
        assert_eq!(values(r#"{"text":"x","a":[1],"q":false}"#), r#"[Bool(false), Other("an array")]"#);
    }

    #[cfg(feature = "clean")]
    #[test]
    fn literals_are_parts_of_the_line() {
        let texts = TextFields::parse("text-field", ["a,m[].b"]).unwrap();
        let fields = Fields::new(&texts, &IdFields::new("id").unwrap(), None);
        let line = r#"{"q":NaN,"a":"x\ty","r":[-Infinity],"m":[{"b":"z","c":Infinity}]}"#;
        let literals = fields.literals(line).unwrap();
        assert_eq!(literals, [r#""x\ty""#, r#""z""#]);
        let chosen = TextFields::parse("text-field", ["m[-1].b,m[].b,a[0]"]).unwrap();
        let chosen = Fields::new(&chosen, &IdFields::new("id").unwrap(), None);
        let twice = r#"{"m":[{"b":"z"},{"b":"z"}],"a[0]":"y","a":["x"]}"#;
        let starts = |literals: Vec<&str>| {
            literals.iter().map(|part| part.as_ptr() as usize - twice.as_ptr() as usize).collect::<Vec<_>>()
        };
        assert_eq!(starts(chosen.literals(twice).unwrap()), [21, 11, 34]);
        for literal in literals {
            let at = line.find(literal).unwrap();
            assert_eq!(literal.as_ptr(), line[at..].as_ptr());
        }
    }

    #[test]
    fn malformed_lines_say_where() {
        check_error(r#"{"text":"x""#, "malformed JSON: EOF while parsing an object at column 11");
        check_error(r#"{"text":"x"} {"#, "malformed JSON: trailing characters at column 14");
        // Columns are those of the line, whatever is read as null before them.
        for value in ["NaN", "Infinity", "-Infinity"] {
            let line = format!(r#"{{"q":{value},"text":"é",}}"#);
            check_error(&line, &format!("malformed JSON: trailing comma at column {}", line.len()));
        }
        check_error(r#"{"text":"x","q":nan}"#, "malformed JSON: expected ident at column 18");
        check_error("[1]", "not a JSON object");
        check_error("null", "not a JSON object");
        for line in ["{\"text\":\"x\u{1}\"}", "{\"a\":\"xy\u{1}\",\"text\":\"\"}", "{\"te\\u0078t\":\"\u{1}\u{1}\"}"] {
            let column = line.find('\u{1}').unwrap() + 1;
            let control = "control character (\\u0000-\\u001F) found while parsing a string";
            check_error(line, &format!("malformed JSON: {control} at column {column}"));
        }
        for text in [r"\ud800\u12", r"\ud800\x", r"\ud80"] {
            let message = with(&format!(r#"{{"text":"{text}"}}"#), "text", "id").unwrap_err().message;
            assert!(message.starts_with("malformed JSON: "), "{message}");
        }
    }

    #[test]
    fn deep_nesting_is_refused_or_passed_over() {
        let deep =
            |field: &str| format!("{{\"text\":\"x\",\"{field}\":{}1{}}}", "[".repeat(100_000), "]".repeat(100_000));
        check(&deep("other"), "x", None);
        check_error(&deep("id"), "id field 'id' is an array, not a string or a number");
        assert!(with(&deep("text"), "text", "id").is_err());
        let objects = "{\"a\":".repeat(100_000) + "1" + &"}".repeat(100_000);
        let path = vec!["a"; 1000].join(".");
        assert!(with(&objects, &path, "id").is_err());
    }

    #[test]
    fn strings_have_addresses_only_if_two_paths_may_lead_to_one() {
        let line = r#"{"m":["a","b"],"x":"c"}"#;
        for (texts, has_places) in
            [("m[],x", false), ("m[0],x", false), ("m[-1],m[]", true), (r"m[0],m\[0]", true), ("m[],m[].x", false)]
        {
            let texts = TextFields::parse("text-field", [texts]).unwrap();
            let fields = Fields::new(&texts, &IdFields::single("id"), None);
            let mut found = fields.nothing_found(false);
            let object = Object { wanted: &fields.wanted, found: &mut found };
            object.deserialize(&mut serde_json::Deserializer::from_str(line)).unwrap();
            for slot in found.texts {
                match slot {
                    Slot::Text(_, place) => assert_eq!(place.is_some(), has_places),
                    Slot::Texts(Texts { texts, places }) => {
                        assert_eq!(places.len(), if has_places { texts.len() } else { 0 });
                    }
                    _ => {}
                }
            }
        }
    }

    #[test]
    fn paths_that_choose_elements() {
        let chat =
            r#"{"m":[{"r":"s","c":"a"},{"r":"u","c":"b"},null,7,{"c":"c","r":"\u0075"},{"r":"u","r":"x","c":"d"}]}"#;
        for (line, texts, expected) in [
            (chat, "m[r=u].c", "b\n\nc"),
            (chat, "m[r=x].c,m[r=s].c", "d\n\na"),
            (chat, "m[0].c", "a"),
            (chat, "m[-1].c,m[4].c", "d\n\nc"),
            // A string counts once, where it is found first.
            (chat, "m[-6].c,m[r=u].c,m[1].c,m[0].c", "a\n\nb\n\nc"),
            (r#"{"m":[["a","b"],[],["c","d"]]}"#, "m[][0]", "a\n\nc"),
            (r#"{"m":[["a","b"],[],["c","d"]]}"#, "m[-1][-2],m[0][1]", "c\n\nb"),
            (r#"{"m":[{"r":"u","c":[{"k":"t","x":"a"},{"k":"i","x":7}]}]}"#, "m[r=u].c[k=t].x", "a"),
            // Each form of what is chosen.
            (
                r#"{"m":[{"r":"u","c":[{"x":"a"}]},{"r":"v","c":7},{"r":"u","c":"b"}]}"#,
                "m[r=u].c,m[r=u].c[].x",
                "a\n\nb",
            ),
            // A name with brackets takes precedence, in any order.
            (r#"{"m[0]":"a","m":["b"]}"#, "m[0]", "a"),
            (r#"{"m":["b"],"m[0]":"a"}"#, "m[0]", "a"),
            (r#"{"m":["b"],"m[0]":"a"}"#, r"m\[0]", "a"),
            (r#"{"m[0]":{"c":["a"],"c[0]":"b"}}"#, "m[0].c[0]", "b"),
            (r#"{"a":{"m[k=v":{"w]":"x"}}}"#, "a.m[k=v.w]", "x"),
            (r#"{"x":"b","m[0]":"a"}"#, "m[0],x,m[0].t", "b\n\na"),
            // The field is a part of the text once, wherever two paths lead to it.
            (r#"{"m":["b"],"m[0]":"a"}"#, r"m[0],m\[0]", "a"),
            (r#"{"m":["b"],"m[0]":"a","x":"c"}"#, r"m\[0],x,m[0]", "a\n\nc"),
            (r#"{"m":["b"]}"#, r"m[0],m\[0]", "b"),
            (r#"{"m[0]":{"c":["a","b"]}}"#, r"m[0].c[],m\[0].c[0]", "a\n\nb"),
        ] {
            check_with(line, texts, "id", expected, None);
        }
        for (line, texts, message) in [
            (chat, "m[r=v].c", "no text field 'm[r=v].c'"),
            (chat, "m[6].c", "no text field 'm[6].c'"),
            (chat, "m[-7].c", "no text field 'm[-7].c'"),
            (chat, "m[2].c", "no text field 'm[2].c'"),
            (chat, "m[3].c", "text field 'm[3].c' leads through a number where an object should be"),
            (r#"{"m":[]}"#, "m[-1].c", "no text field 'm[-1].c'"),
            (
                r#"{"m":{"r":"u"}}"#,
                "m[r=u].c",
                "text field 'm[r=u].c' leads through an object where an array should be",
            ),
            (r#"{"m":[{"r":"u","c":7}]}"#, "m[r=u].c", "text field 'm[r=u].c' is a number, not a string"),
        ] {
            let message = format!("{message} (fields here: m; choose with `text-field`)");
            assert_eq!(with(line, texts, "id").unwrap_err().message, message, "{line} {texts}");
        }
        // Ids are as they were.
        check_with(r#"{"t":"a","m[0]":"x","m":["y"]}"#, "t", "m[0]", "a", Some("x"));
    }

    /// Lines similar to the expected ones: fields of every kind, some of them broken.
    fn lines() -> impl Strategy<Value = String> {
        let text = prop::sample::select(vec![
            "",
            "plain",
            "caf\u{e9}",
            r#"a\n\t\r\b\f\/\\\"b"#,
            r"\u00e9",
            r"\ud83d\ude00",
            r"\ud83d",
            r"\ude00",
            r"\ud83dx",
            r"\u12",
            r"\x",
            "a\tb",
            r"\uD83D\uDE00x",
            r"\u0000",
        ]);
        let value = prop_oneof![
            8 => text.prop_map(|text| format!("\"{text}\"")),
            4 => prop::sample::select(vec![
                "0", "-1", "12", "1.5", "-0", "01", "1e3", "-", "1.", "true", "false", "null", "nul", "{}", "[1,{\"text\":2}]",
                "[", "{\"id\":\"x\"}", "\"open",
            ]).prop_map(str::to_owned),
        ];
        let name = prop::sample::select(vec!["text", "id", "other", "te\\u0078t", "", "text "]);
        let space = || prop::sample::select(vec!["", "", "", " ", "\t", "\r\n", "\u{a0}"]);
        let field = (name, value, space(), space(), space())
            .prop_map(|(name, value, a, b, c)| format!("{a}\"{name}\"{b}:{c}{value}"));
        let comma = prop::sample::select(vec![",", ",", ",", ",", "", ",,", ";"]);
        let fields = prop::collection::vec((field, comma), 0..5);
        (fields, space(), prop::sample::select(vec!["}", "}", "}", "} ", "", "}x", ",}", "}}"])).prop_map(
            |(fields, space, end)| {
                let last = fields.len().saturating_sub(1);
                let fields = fields
                    .into_iter()
                    .enumerate()
                    .map(|(i, (field, comma))| if i == last { field } else { field + comma });
                format!("{{{}{space}{end}", fields.collect::<String>())
            },
        )
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]
        #[test]
        fn the_short_way_and_the_long_way_agree(line in lines()) {
            // with() compares them.
            _ = with(&line, "text", "id");
            _ = with(&line, "text", "text");
            _ = with(&line, "id", "other");
        }
    }

    proptest! {
        #[test]
        fn never_panics(line in "[{}\\[\\]\",:a-dtexid0-9\\\\ .-]{0,60}") {
            _ = with(&line, "text", "id");
        }

        #[test]
        fn any_text_comes_back(text: String, id: String, other: String) {
            let line = serde_json::json!({"other": other, "text": text, "id": id}).to_string();
            let id = (!id.is_empty()).then(|| id.into());
            prop_assert_eq!(with(&line, "text", "id"), Ok(Record { text: text.into(), id, fell_back: false, lone: Lone::default() }));
        }
    }
}
