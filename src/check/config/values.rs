//! Values of a TOML file with their positions, so that errors name file, line, key and value.

use super::super::globs;
use crate::Error;
use crate::readable::nearest;
use std::cell::Cell;
use std::ops::Range;
use std::path::Path;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Maximum number of characters of a value in a message.
const MAX_SHOWN: usize = 100;

/// A file.
pub struct Toml<'a> {
    pub path: &'a Path,
    pub text: &'a str,
    /// Number and size of its globs read so far.
    pub globs: Cell<globs::Count>,
}

impl<'a> Toml<'a> {
    /// Its tables.
    ///
    /// # Errors
    /// It is not TOML: the error shows the line.
    pub fn parse(&self) -> Result<Spanned<DeTable<'a>>, Error> {
        DeTable::parse(self.text).map_err(|error| {
            let place = error.span().map_or_else(|| self.too_deep(), |span| span.start);
            let line = self.text.lines().nth(self.line(place) - 1).unwrap_or_default();
            let value = line.split_once('=').map_or("", |(_, value)| value.trim_start());
            let word = value.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
            // The parser's own message may be about a number.
            let is_text = word.starts_with(char::is_alphabetic) && !["true", "false", "inf", "nan"].contains(&word);
            let why = if is_text { "not a value (strings must be quoted)" } else { error.message().trim_end() };
            self.wrong(place, &format!("`{}`: {why}", shown(line)))
        })
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

    /// The line of a byte offset, counted from 1.
    fn line(&self, place: usize) -> usize {
        1 + self.text.as_bytes()[..place.min(self.text.len())].iter().filter(|&&byte| byte == b'\n').count()
    }

    fn wrong(&self, place: usize, what: &str) -> Error {
        Error::Usage(format!("{}:{}: {what}", self.path.to_string_lossy(), self.line(place)))
    }

    fn part(&self, place: Range<usize>) -> String {
        shown(self.text.get(place).unwrap_or_default())
    }
}

/// A text on one line, truncated if it is long.
fn shown(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let more = if line.chars().nth(MAX_SHOWN).is_some() { "…" } else { "" };
    line.chars().take(MAX_SHOWN).collect::<String>() + more
}

/// A table whose values are read by key.
pub struct Table<'a> {
    toml: &'a Toml<'a>,
    /// The header as written in the file.
    header: &'static str,
    place: usize,
    entries: &'a DeTable<'a>,
    /// The keys that were read.
    known: Vec<&'static str>,
}

impl<'a> Table<'a> {
    /// The whole file.
    pub fn whole(toml: &'a Toml<'a>, table: &'a Spanned<DeTable<'a>>) -> Self {
        Table { toml, header: "", place: 0, entries: table.get_ref(), known: Vec::new() }
    }

    /// The value of a key, if the table has it.
    ///
    /// # Errors
    /// Those of `read`.
    pub fn get<T>(
        &mut self,
        key: &'static str,
        read: impl FnOnce(Value<'a>) -> Result<T, Error>,
    ) -> Result<Option<T>, Error> {
        self.known.push(key);
        let value = self.entries.get(key);
        value.map(|value| read(Value { toml: self.toml, key, is_item: false, value })).transpose()
    }

    /// The value of a required key.
    ///
    /// # Errors
    /// Those of `read`; or the key is missing: the error says what is expected.
    pub fn need<T>(
        &mut self,
        key: &'static str,
        expected: &str,
        read: impl FnOnce(Value<'a>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        self.get(key, read)?.ok_or_else(|| self.wrong(&format!("has no `{key}`: expected {expected}")))
    }

    /// An error about the table.
    pub fn wrong(&self, what: &str) -> Error {
        self.toml.wrong(self.place, &format!("`{}` {what}", self.header))
    }

    /// Checks that all keys were read.
    ///
    /// # Errors
    /// A key is unknown: the error names it, and the most similar known key.
    pub fn done(self) -> Result<(), Error> {
        let others = self.entries.keys().filter(|key| !self.known.contains(&key.get_ref().as_ref()));
        let Some(first) = others.min_by_key(|key| key.span().start) else { return Ok(()) };
        let hint = match nearest(first.get_ref(), self.known.iter().copied()).first() {
            Some(known) => format!("did you mean `{known}`?"),
            None => format!("expected one of {}", self.known.join(", ")),
        };
        Err(self.toml.wrong(first.span().start, &format!("unknown key `{}`; {hint}", shown(first.get_ref()))))
    }
}

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
    pub fn wrong(&self, what: impl AsRef<str>) -> Error {
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
        self.toml.wrong(place.start, &format!("{what_it_is}: {what}"))
    }

    /// A glob, which counts towards the limit for a file.
    ///
    /// # Errors
    /// It is not a glob, or exceeds the limit.
    pub fn glob(&self) -> Result<&'a str, Error> {
        let glob = self.text().ok_or_else(|| self.wrong("expected a glob as a quoted string"))?;
        let mut count = self.toml.globs.get();
        let is_glob = count.add(glob).and_then(|()| globs::check(glob));
        self.toml.globs.set(count);
        is_glob.map(|()| glob).map_err(|why| self.wrong(why))
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

    /// A string.
    pub fn text(&self) -> Option<&'a str> {
        self.value.get_ref().as_str()
    }

    /// All items of a list.
    ///
    /// # Errors
    /// Those of `read`; or it is not a list.
    pub fn list<T>(&self, expected: &str, read: impl FnMut(Value<'a>) -> Result<T, Error>) -> Result<Vec<T>, Error> {
        let list = self.value.get_ref().as_array().ok_or_else(|| self.wrong(format!("expected {expected}")))?;
        list.iter().map(|value| Value { is_item: true, value, ..*self }).map(read).collect()
    }

    /// The table under a header.
    ///
    /// # Errors
    /// It is not a table.
    pub fn table(&self, header: &'static str) -> Result<Table<'a>, Error> {
        let entries =
            self.value.get_ref().as_table().ok_or_else(|| self.wrong(format!("expected a table, {header}")))?;
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
