//! Values of a TOML file with their positions, so that errors name file, line, key and value.

use super::super::error::InvalidConfig;
use super::super::finding::first;
use super::super::globs;
use crate::readable::nearest;
use std::cell::{Cell, RefCell};
use std::ops::Range;
use std::path::Path;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Maximum number of characters of a value in a message.
const MAX_SHOWN: usize = 100;

/// Maximum number of errors that are reported of a file.
const MAX_ERRORS: usize = 20;

/// Maximum number of errors of the parser that are looked at.
const MAX_PARSED: usize = 100;

/// An error in a file: the byte offset, and what is wrong there.
#[derive(Clone, Debug)]
pub struct Wrong {
    place: usize,
    what: String,
    /// Whether the line is not TOML. Values in such a line are not what was meant.
    is_syntax: bool,
}

/// A file. Errors are collected, so that all of them can be reported at once.
pub struct Toml<'a> {
    path: &'a Path,
    text: &'a str,
    /// What precedes the names of our tables in headers, such as `tool.dedup.`.
    prefix: &'static str,
    /// Number and size of its globs read so far.
    globs: Cell<globs::Count>,
    errors: RefCell<Vec<Wrong>>,
}

impl<'a> Toml<'a> {
    /// A file with this text.
    pub fn new(path: &'a Path, text: &'a str, prefix: &'static str) -> Self {
        Toml { path, text, prefix, globs: Cell::default(), errors: RefCell::default() }
    }

    /// Its tables. Of a file that is not TOML, what can be parsed; its errors are recorded.
    pub fn parse(&self) -> Whole<'a> {
        let (table, errors) = DeTable::parse_recoverable(self.text);
        // An error without a position is found by parsing again: once is enough. Of a line, the first error is enough.
        let (mut has_unplaced, mut last) = (false, None);
        for error in errors.into_iter().take(MAX_PARSED) {
            let place = match error.span() {
                Some(span) => span.start,
                None if has_unplaced => continue,
                None => self.too_deep(),
            };
            has_unplaced |= error.span().is_none();
            let start = self.text[..place.min(self.text.len())].rfind('\n').map_or(0, |end| end + 1);
            if last != Some(start) {
                self.record(self.not_toml(place, start, error.message()));
            }
            last = Some(start);
        }
        table
    }

    /// An error of the parser, with the line that it is about, which starts there.
    fn not_toml(&self, place: usize, start: usize, message: &str) -> Wrong {
        let line = self.text[start..].lines().next().unwrap_or_default();
        let value = line.split_once('=').map_or("", |(_, value)| value.trim_start());
        let word = value.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
        // The parser's own message may be about a number.
        let is_text = word.starts_with(char::is_alphabetic) && !["true", "false", "inf", "nan"].contains(&word);
        let why = if is_text { "not a value (strings must be quoted)" } else { message.trim_end() };
        Wrong { place, what: format!("`{}`: {why}", shown(line)), is_syntax: true }
    }

    /// Records an error.
    fn record(&self, wrong: Wrong) {
        self.errors.borrow_mut().push(wrong);
    }

    /// The value, unless it is wrong: then the error is recorded.
    fn kept<T>(&self, read: Result<T, Wrong>) -> Option<T> {
        read.map_err(|wrong| self.record(wrong)).ok()
    }

    /// A header as written in this file.
    fn header(&self, header: &str) -> String {
        header.replacen("check", &format!("{}check", self.prefix), 1)
    }

    /// Whether an error was recorded.
    pub fn has_errors(&self) -> bool {
        !self.errors.borrow().is_empty()
    }

    /// All errors that were recorded, by position; `None` if there are none. Of a line that is not TOML, only the first is reported.
    pub fn into_errors(self) -> Option<InvalidConfig> {
        let mut errors = self.errors.take();
        // The keys below a header that is not closed are not in the table that was meant.
        let is_syntax = |wrong: &&Wrong| wrong.is_syntax;
        let below: Vec<Range<usize>> =
            errors.iter().filter(is_syntax).filter_map(|wrong| self.below_header(wrong.place)).collect();
        errors.retain(|wrong| wrong.is_syntax || !below.iter().any(|lines| lines.contains(&wrong.place)));
        errors.sort_by_key(|wrong| (wrong.place, !wrong.is_syntax));
        let (mut line, mut at, mut broken) = (1, 0, 0);
        let (mut messages, mut all) = (Vec::new(), 0);
        for Wrong { place, what, is_syntax } in errors {
            let place = place.min(self.text.len());
            line += memchr::memchr_iter(b'\n', &self.text.as_bytes()[at..place]).count();
            at = place;
            if broken == line {
                continue;
            }
            broken = if is_syntax { line } else { broken };
            all += 1;
            if all <= MAX_ERRORS {
                messages.push(format!("{}:{line}: {what}", self.path.to_string_lossy()));
            }
        }
        (all > 0).then(|| InvalidConfig { more: all - messages.len(), errors: messages })
    }

    /// If that place is in a header, the lines from there up to the next header.
    fn below_header(&self, place: usize) -> Option<Range<usize>> {
        let start = self.text[..place.min(self.text.len())].rfind('\n').map_or(0, |end| end + 1);
        let mut lines = self.text[start..].split_inclusive('\n');
        let header = lines.next().filter(|line| is_header(line) && !is_closed(line))?;
        let below: usize = lines.take_while(|line| !is_header(line)).map(str::len).sum();
        Some(start..start + header.len() + below)
    }

    /// The first line where keys are nested too deep. The parser reports this error without a position.
    ///
    /// Cost: the file is parsed once for each doubling of its lines.
    fn too_deep(&self) -> usize {
        let starts: Vec<usize> =
            std::iter::once(0).chain(memchr::memchr_iter(b'\n', self.text.as_bytes()).map(|end| end + 1)).collect();
        let is_too_deep = |&start: &usize| {
            let end = starts[starts.partition_point(|other| other <= &start)..].first();
            let lines = &self.text[..end.copied().unwrap_or(self.text.len())];
            DeTable::parse(lines).is_err_and(|error| error.span().is_none())
        };
        starts[starts.partition_point(|start| !is_too_deep(start)).min(starts.len() - 1)]
    }

    fn part(&self, place: Range<usize>) -> String {
        shown(self.text.get(place).unwrap_or_default())
    }
}

/// Whether the brackets that a header starts with are closed in its line.
fn is_closed(header: &str) -> bool {
    header.contains(if header.trim_start().starts_with("[[") { "]]" } else { "]" })
}

/// Whether a line starts with the header of a table, closed or not. Items of lists are quoted, but headers of ours may be too.
fn is_header(line: &str) -> bool {
    let line = line.trim_start();
    let name = line.trim_start_matches('[');
    let is_ours = |quote| ["check", "tool"].iter().any(|own| name_in(name.trim_start(), quote) == Some(own));
    name.len() < line.len() && (name.trim_start().starts_with(char::is_alphabetic) || is_ours('"') || is_ours('\''))
}

/// The name in quotes that a text starts with.
fn name_in(text: &str, quote: char) -> Option<&str> {
    text.strip_prefix(quote).and_then(|rest| rest.split_once(quote)).map(|(name, _)| name)
}

/// A text on one line, truncated if it is long.
fn shown(text: &str) -> String {
    // The text may be the whole file.
    let line = text
        .split_whitespace()
        .take(MAX_SHOWN + 1)
        .map(|word| first(word, MAX_SHOWN + 1))
        .collect::<Vec<_>>()
        .join(" ");
    let more = if line.chars().nth(MAX_SHOWN).is_some() { "…" } else { "" };
    first(&line, MAX_SHOWN).to_string() + more
}

/// A whole file.
pub type Whole<'a> = Spanned<DeTable<'a>>;

/// A table whose values are read by key.
pub struct Table<'a> {
    toml: &'a Toml<'a>,
    /// The header as written in a `dedup.toml`.
    header: &'static str,
    place: usize,
    entries: &'a DeTable<'a>,
    /// The keys that were read.
    known: Vec<&'static str>,
}

impl<'a> Table<'a> {
    /// The whole file.
    pub fn whole(toml: &'a Toml<'a>, table: &'a Whole<'a>) -> Self {
        Table { toml, header: "", place: 0, entries: table.get_ref(), known: Vec::new() }
    }

    /// The file that it is in.
    pub fn toml(&self) -> &'a Toml<'a> {
        self.toml
    }

    /// The value of a key, if the table has it and it can be read.
    pub fn get<T>(&mut self, key: &'static str, read: impl FnOnce(Value<'a>) -> Result<T, Wrong>) -> Option<T> {
        self.known.push(key);
        let value = self.entries.get(key)?;
        self.toml.kept(read(Value { toml: self.toml, key, is_item: false, value }))
    }

    /// The value of a required key. If it is missing, the error names what is `expected`.
    pub fn need<T>(
        &mut self,
        key: &'static str,
        expected: &str,
        read: impl FnOnce(Value<'a>) -> Result<T, Wrong>,
    ) -> Option<T> {
        if self.entries.get(key).is_none() {
            self.toml.record(self.wrong(&format!("has no `{key}`: expected {expected}")));
        }
        self.get(key, read)
    }

    /// Records an error about the table.
    pub fn record(&self, wrong: Wrong) {
        self.toml.record(wrong);
    }

    /// Whether the table has a key.
    pub fn has(&self, key: &str) -> bool {
        self.entries.get(key).is_some()
    }

    /// An error about the table.
    pub fn wrong(&self, what: &str) -> Wrong {
        Wrong { place: self.place, what: format!("`{}` {what}", self.toml.header(self.header)), is_syntax: false }
    }

    /// Records an error for each key that was not read. It names the most similar known key.
    pub fn done(self) {
        self.done_above("", &[]);
    }

    /// The same, if those keys belong under that header.
    pub fn done_above(self, header: &str, keys: &[&'static str]) {
        let header = self.toml.header(header);
        let below = |key: &str| match key {
            "allow" | "rule" => self.toml.header(&format!("[[check.{key}]]")),
            _ => header.clone(),
        };
        for key in self.entries.keys().filter(|key| !self.known.contains(&key.get_ref().as_ref())) {
            // Other tools have this key.
            let is_exclude = |known: &[&str]| key.get_ref() == "exclude" && known.contains(&"ignore");
            let named = if is_exclude(&self.known) { Some("ignore") } else { None };
            // The table of a check has these options on the command line.
            let has_options = self.known.contains(&"baseline") || keys.contains(&"baseline");
            let is_typed = has_options && ONLY_TYPED.contains(&key.get_ref().as_ref());
            let similar = match is_exclude(keys) {
                true => vec!["ignore"],
                false => nearest(key.get_ref(), keys.iter().copied()),
            };
            let hint = match named.or(nearest(key.get_ref(), self.known.iter().copied()).first().copied()) {
                _ if is_typed => format!("it is only an option of the command line: --{}", key.get_ref()),
                _ if keys.contains(&key.get_ref().as_ref()) => match key.get_ref().as_ref() {
                    "allow" | "rule" => format!("write {}", below(key.get_ref())),
                    _ => format!("put it under {header}"),
                },
                Some(known) => format!("did you mean `{known}`?"),
                None if !similar.is_empty() => format!("did you mean `{}`, under {}?", similar[0], below(similar[0])),
                None => format!("expected one of {}", self.known.join(", ")),
            };
            let what = format!("unknown key `{}`; {hint}", shown(key.get_ref()));
            self.toml.record(Wrong { place: key.span().start, what, is_syntax: false });
        }
    }
}

/// Options of a check that a configuration cannot have.
const ONLY_TYPED: [&str; 12] = [
    "accept",
    "color",
    "config",
    "hidden",
    "no-ignore-files",
    "prune-baseline",
    "quiet",
    "reason",
    "since",
    "staged",
    "threads",
    "update-baseline",
];

/// A value, or an item of one that is a list.
#[derive(Clone, Copy)]
pub struct Value<'a> {
    toml: &'a Toml<'a>,
    key: &'static str,
    is_item: bool,
    value: &'a Spanned<DeValue<'a>>,
}

impl<'a> Value<'a> {
    /// An error about the value.
    pub fn wrong(&self, what: impl AsRef<str>) -> Wrong {
        let (place, key, what) = (self.value.span(), self.key, what.as_ref());
        let value = self.toml.part(place.clone());
        let what_it_is = match (self.is_item, self.value.get_ref()) {
            (_, DeValue::Table(_)) => format!("`{key}` is a table"),
            (_, DeValue::Array(items)) if items.first().is_some_and(|item| item.get_ref().is_table()) => {
                format!("`{key}` is a list of tables")
            }
            (true, _) => format!("`{value}` in `{key}`"),
            (false, _) => format!("`{key} = {value}`"),
        };
        Wrong { place: place.start, what: format!("{what_it_is}: {what}"), is_syntax: false }
    }

    /// A glob, which counts towards the limit for a file.
    ///
    /// # Errors
    /// It is not a glob, or the first that exceeds the limit. The others are not checked.
    pub fn glob(&self) -> Result<&'a str, Wrong> {
        let glob = self.text().ok_or_else(|| self.wrong("expected a glob as a quoted string"))?;
        let before = self.toml.globs.get();
        let mut count = before;
        let added = count.add(glob);
        self.toml.globs.set(count);
        if added.is_err() && !before.fits() {
            return Ok(glob);
        }
        added.and_then(|()| globs::check(glob)).map(|()| glob).map_err(|why| self.wrong(why))
    }

    /// A whole number that is not negative.
    pub fn whole_number(&self) -> Option<u64> {
        let number = self.value.get_ref().as_integer()?;
        u64::from_str_radix(number.as_str(), number.radix()).ok()
    }

    /// A number.
    pub fn number(&self) -> Option<f64> {
        let whole = || self.whole_number().map(|number| number as f64);
        self.value.get_ref().as_float().map_or_else(whole, |number| number.as_str().parse().ok())
    }

    /// True or false.
    pub fn flag(&self) -> Option<bool> {
        self.value.get_ref().as_bool()
    }

    /// A string.
    pub fn text(&self) -> Option<&'a str> {
        self.value.get_ref().as_str()
    }

    /// How many items a list has.
    pub fn length(&self) -> Option<usize> {
        self.value.get_ref().as_array().map(|list| list.len())
    }

    /// All items of a list that can be read; the errors of the others are recorded.
    ///
    /// # Errors
    /// It is not a list.
    pub fn list<T>(
        &self,
        expected: &str,
        mut read: impl FnMut(Value<'a>) -> Result<T, Wrong>,
    ) -> Result<Vec<T>, Wrong> {
        let list = self.value.get_ref().as_array().ok_or_else(|| self.wrong(format!("expected {expected}")))?;
        let items = list.iter().map(|value| Value { is_item: true, value, ..*self });
        Ok(items.filter_map(|item| self.toml.kept(read(item))).collect())
    }

    /// The same for a list that must have an item.
    ///
    /// # Errors
    /// It is not a list, or it is empty.
    pub fn some<T>(&self, expected: &str, read: impl FnMut(Value<'a>) -> Result<T, Wrong>) -> Result<Vec<T>, Wrong> {
        match self.value.get_ref().as_array() {
            Some(list) if list.is_empty() => Err(self.wrong(format!("expected {expected}, not an empty list"))),
            _ => self.list(expected, read),
        }
    }

    /// The table under a header.
    ///
    /// # Errors
    /// It is not a table.
    pub fn table(&self, header: &'static str) -> Result<Table<'a>, Wrong> {
        let expected = || self.wrong(format!("expected a table, {}", self.toml.header(header)));
        let entries = self.value.get_ref().as_table().ok_or_else(expected)?;
        Ok(Table { toml: self.toml, header, place: self.value.span().start, entries, known: Vec::new() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_values_are_cut_and_stay_on_their_line() {
        assert_eq!(shown("a\n  b"), "a b");
        assert_eq!(shown(&"é".repeat(101)), "é".repeat(100) + "…");
    }
}
