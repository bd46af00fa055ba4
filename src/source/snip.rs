//! A record without some ranges of its text: every other byte unchanged, in the encoding and with the escapes that it has.
//!
//! Ranges are bytes of the text as it is read. They are translated back, step by step: from the text to the values of fields, to the
//! escapes or quotes that these have in the record, and to the bytes of an encoding.

use std::ops::Range;

use encoding_rs::{Encoding, UTF_16BE, UTF_16LE};

use super::csv::Columns;
use super::fields::SEPARATOR;
use super::jsonl;
use super::label::{has_mark, utf16};
use super::{Format, ReadOptions, decode};

/// Ranges of texts that are left out of the records of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Snips {
    /// The records, ascending, each with the end of its ranges among all. A file that is one document is 0.
    records: Vec<(u64, u32)>,
    /// Those that touch are one.
    ranges: Vec<[u32; 2]>,
}

impl Snips {
    /// Adds a range of a record, after those before it.
    pub fn push(&mut self, record: u64, range: Range<usize>) {
        let [start, end] = [range.start as u32, range.end as u32];
        let is_further = self.records.last().is_some_and(|&(last, _)| last == record);
        if is_further
            && let Some(last) = self.ranges.last_mut()
            && last[1] == start
        {
            last[1] = end;
            return;
        }
        self.ranges.push([start, end]);
        let end = self.ranges.len() as u32;
        match self.records.last_mut() {
            Some((_, last_end)) if is_further => *last_end = end,
            _ => self.records.push((record, end)),
        }
    }

    /// Removes the ranges of a record, if it is the last one.
    pub fn remove(&mut self, record: u64) {
        if self.records.pop_if(|(last, _)| *last == record).is_some() {
            let end = self.records.last().map_or(0, |&(_, end)| end);
            self.ranges.truncate(end as usize);
        }
    }

    /// Whether nothing is left out.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// The records, each with its ranges.
    pub fn records(&self) -> impl Iterator<Item = (u64, &[[u32; 2]])> {
        let mut start = 0;
        self.records.iter().map(move |&(record, end)| {
            let ranges = &self.ranges[start as usize..end as usize];
            start = end;
            (record, ranges)
        })
    }
}

/// Leaves ranges out of the records of one file.
pub(super) struct Snipper<'o> {
    options: &'o ReadOptions,
    format: Format,
    /// The encoding of the whole file, unless it is UTF-8.
    encoding: Option<&'static Encoding>,
    /// Whether it was named, so that nothing is guessed.
    is_named: bool,
    fields: jsonl::Fields,
    columns: Option<Columns>,
}

/// Why a record is not as it was read.
pub(super) const CHANGED: &str = "it changed since its records were read";

impl<'o> Snipper<'o> {
    /// `start` is the beginning of the file, as its reader has it.
    pub fn new(options: &'o ReadOptions, format: Format, start: &[u8]) -> Self {
        let encoding = match options.encoding {
            _ if let Some(encoding) = utf16(start, options.encoding) => Some(encoding),
            Some(named) => (!named.is_utf8() && !has_mark(start)).then(|| named.inner()),
            None if format == Format::Jsonl => None,
            None => decode::legacy_encoding_of_stream(start),
        };
        let fields = jsonl::Fields::new(&options.text_fields, &options.id_field, None);
        Snipper { options, format, encoding, is_named: options.encoding.is_some(), fields, columns: None }
    }

    /// Takes the header row, with its line end.
    ///
    /// # Errors
    /// It has no column of texts.
    pub fn header(&mut self, row: &[u8]) -> Result<(), String> {
        let row = self.decoded(self.body(row));
        let delimiter = self.options.delimiter(self.format).unwrap_or(b',');
        self.columns = Some(Columns::find(delimiter, &row, self.options)?);
        Ok(())
    }

    /// A record without these ranges of its text. It has its line end.
    ///
    /// # Errors
    /// It is not as it was read.
    pub fn snip(&self, record: &[u8], ranges: &[[u32; 2]]) -> Result<Vec<u8>, String> {
        let body = self.body(record);
        // A mark at the start of a line is no text, and is not decoded if the encoding of the file is named.
        let has_marks = self.is_named && !self.is_utf16() && matches!(self.format, Format::Jsonl | Format::Lines);
        let mark = if has_marks { body.len() - decode::without_utf8_mark(body).len() } else { 0 };
        let body = &body[mark..];
        let decoded = self.decoded(body);
        let ranges: Vec<Range<usize>> =
            ranges.iter().map(|&[start, end]| start as usize..end as usize).filter(|range| !range.is_empty()).collect();
        let mut edits = match self.format {
            Format::Jsonl => self.of_object(&decoded, &ranges)?,
            Format::Csv | Format::Tsv => self.of_row(&decoded, &ranges)?,
            _ => {
                let line = decode::without_utf8_mark(&decoded);
                of_fragment(line, &ranges, decoded.len() - line.len(), self.is_named)?
            }
        };
        if let Some(encoding) = self.encoding {
            let starts: Vec<usize> = edits.iter().flat_map(|edit| [edit.range.start, edit.range.end]).collect();
            let starts = origins(body, Some(encoding), &starts)?;
            edits.iter_mut().zip(starts.as_chunks::<2>().0).for_each(|(edit, &[start, end])| edit.range = start..end);
        }
        let edits: Vec<Edit> = edits.into_iter().map(|edit| edit.moved(mark)).collect();
        Ok(self.edited(record, &edits))
    }

    /// A record without its line end.
    fn body<'r>(&self, record: &'r [u8]) -> &'r [u8] {
        let width = if self.is_utf16() { 2 } else { 1 };
        let strip = |bytes: &'r [u8], end: u8| -> &'r [u8] {
            let at = bytes.len().saturating_sub(width);
            let is_there = match self.encoding {
                Some(encoding) if encoding == UTF_16LE => bytes[at..] == [end, 0],
                Some(encoding) if encoding == UTF_16BE => bytes[at..] == [0, end],
                _ => bytes[at..] == [end],
            };
            if is_there { &bytes[..at] } else { bytes }
        };
        strip(strip(record, b'\n'), b'\r')
    }

    fn is_utf16(&self) -> bool {
        self.encoding.is_some_and(|encoding| encoding == UTF_16LE || encoding == UTF_16BE)
    }

    /// The bytes as they are parsed.
    fn decoded<'b>(&self, bytes: &'b [u8]) -> std::borrow::Cow<'b, [u8]> {
        match self.encoding {
            None => bytes.into(),
            Some(encoding) => match encoding.decode_without_bom_handling(bytes).0 {
                std::borrow::Cow::Borrowed(text) => text.as_bytes().into(),
                std::borrow::Cow::Owned(text) => text.into_bytes().into(),
            },
        }
    }

    /// The record with these changes.
    fn edited(&self, record: &[u8], edits: &[Edit]) -> Vec<u8> {
        let mut out = Vec::with_capacity(record.len());
        let mut at = 0;
        for Edit { range, insert } in edits {
            // Ranges of bytes that decode to one character are the same.
            out.extend_from_slice(&record[at..range.start.max(at)]);
            for byte in insert.bytes() {
                match self.encoding {
                    Some(encoding) if encoding == UTF_16LE => out.extend([byte, 0]),
                    Some(encoding) if encoding == UTF_16BE => out.extend([0, byte]),
                    _ => out.push(byte),
                }
            }
            at = range.end.max(at);
        }
        out.extend_from_slice(&record[at..]);
        out
    }

    /// The changes of an object of JSON.
    fn of_object(&self, line: &[u8], ranges: &[Range<usize>]) -> Result<Vec<Edit>, String> {
        // A second mark is no text either.
        let body = decode::without_utf8_mark(decode::without_utf8_mark(line));
        let mark = line.len() - body.len();
        let json = decode::utf8_value(body).text;
        let literals = self.fields.literals(&json).ok_or(CHANGED)?;
        let mut edits = Edits::new(ranges);
        for literal in literals {
            let start = literal.as_ptr() as usize - json.as_ptr() as usize + 1;
            let inner = literal.get(1..literal.len().saturating_sub(1)).ok_or(CHANGED)?;
            edits.field(unescaped_length(inner), |own| Ok(in_literal(inner, own, start)))?;
        }
        let mut edits = edits.finish()?;
        if matches!(json, std::borrow::Cow::Owned(_)) {
            let places: Vec<usize> = edits.iter().flat_map(|edit| [edit.range.start, edit.range.end]).collect();
            let places = origins(body, None, &places)?;
            edits.iter_mut().zip(places.as_chunks::<2>().0).for_each(|(edit, &[start, end])| edit.range = start..end);
        }
        edits.iter_mut().for_each(|edit| edit.range = edit.range.start + mark..edit.range.end + mark);
        Ok(edits)
    }

    /// The changes of a row of CSV.
    fn of_row(&self, row: &[u8], ranges: &[Range<usize>]) -> Result<Vec<Edit>, String> {
        let columns = self.columns.as_ref().ok_or(CHANGED)?;
        let mut fields = vec![None; columns.texts.len()];
        each_raw_field(columns.delimiter, row, |column, raw| {
            let texts = columns.texts.iter().zip(&mut fields).filter(|(text, _)| **text == column);
            texts.for_each(|(_, field)| *field = Some(raw.clone()));
        });
        let mut edits = Edits::new(ranges);
        for raw in fields.into_iter().flatten() {
            let value = Value::new(&row[raw.clone()]);
            let content = value.content();
            let text = match self.is_named {
                true => decode::utf8_value(&content).text.len(),
                false => decode::fragment(&content).text.len(),
            };
            edits.field(text, |own| {
                let own = in_bytes(&content, own, self.is_named)?;
                Ok(value.without(&own).into_iter().map(|edit| edit.moved(raw.start)).collect())
            })?;
        }
        let mut edits = edits.finish()?;
        edits.sort_by_key(|edit| (edit.range.start, edit.range.end));
        let left = row.len() - edits.iter().map(|edit| edit.range.len()).sum::<usize>();
        if left == 0 && edits.iter().all(|edit| edit.insert.is_empty()) {
            // A blank line is no row.
            edits.push(Edit { range: row.len()..row.len(), insert: "\"\"" });
        }
        Ok(edits)
    }
}

/// The changes of bytes that are the text, and begin at a place. Their encoding is guessed unless it is UTF-8.
fn of_fragment(bytes: &[u8], ranges: &[Range<usize>], start: usize, is_utf8: bool) -> Result<Vec<Edit>, String> {
    let ranges = in_bytes(bytes, ranges, is_utf8)?;
    Ok(ranges.into_iter().map(|range| Edit { range, insert: "" }.moved(start)).collect())
}

/// A file that is one document without these ranges of its text.
///
/// # Errors
/// It is not as it was read.
pub(super) fn snip_whole(bytes: &[u8], ranges: &[[u32; 2]], named: Option<super::Encoding>) -> Result<Vec<u8>, String> {
    let ranges: Vec<Range<usize>> = ranges.iter().map(|&[start, end]| start as usize..end as usize).collect();
    let marked = decode::utf16_by_mark(bytes);
    let other = named.filter(|named| !named.is_utf8() && !has_mark(bytes)).map(super::Encoding::inner);
    let edits = match marked.or(other) {
        None => of_fragment(bytes, &ranges, 0, named.is_some())?,
        Some(encoding) => {
            let mark = if marked.is_some() { 2 } else { 0 };
            let places: Vec<usize> = ranges.iter().flat_map(|range| [range.start, range.end]).collect();
            let places = origins(&bytes[mark..], Some(encoding), &places)?;
            let edit = |&[start, end]: &[usize; 2]| Edit { range: start + mark..end + mark, insert: "" };
            places.as_chunks::<2>().0.iter().map(edit).collect()
        }
    };
    Ok(without(bytes, &edits))
}

/// A value of a record, in UTF-8, without what it has of these ranges of the text, which several values may make together; `None` if it has
/// nothing of them. `length` is that of the text before the value, and then with it.
///
/// # Errors
/// It is not as it was read.
#[cfg(feature = "parquet")]
pub(super) fn snip_value(value: &[u8], ranges: &[[u32; 2]], length: &mut usize) -> Result<Option<Vec<u8>>, String> {
    let ranges: Vec<Range<usize>> = ranges.iter().map(|&[start, end]| start as usize..end as usize).collect();
    let mut edits = Edits { ranges: &ranges, length: *length, edits: Vec::new() };
    edits.field(decode::utf8_value(value).text.len(), |own| {
        let places: Vec<usize> = own.iter().flat_map(|range| [range.start, range.end]).collect();
        let places = origins(value, None, &places)?;
        Ok(places.as_chunks::<2>().0.iter().map(|&[start, end]| Edit { range: start..end, insert: "" }).collect())
    })?;
    *length = edits.length;
    Ok((!edits.edits.is_empty()).then(|| without(value, &edits.edits)))
}

/// Bytes without some ranges, which ascend.
fn without(bytes: &[u8], edits: &[Edit]) -> Vec<u8> {
    let (mut out, mut at) = (Vec::with_capacity(bytes.len()), 0);
    for Edit { range, .. } in edits {
        out.extend_from_slice(&bytes[at..range.start.max(at)]);
        at = range.end.max(at);
    }
    out.extend_from_slice(&bytes[at..]);
    out
}

/// A range that is left out, and ASCII that takes its place.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Edit {
    range: Range<usize>,
    insert: &'static str,
}

impl Edit {
    fn moved(self, by: usize) -> Self {
        Edit { range: self.range.start + by..self.range.end + by, insert: self.insert }
    }
}

/// The changes of a record, field by field.
struct Edits<'r> {
    ranges: &'r [Range<usize>],
    /// The length of the joined text so far.
    length: usize,
    edits: Vec<Edit>,
}

impl<'r> Edits<'r> {
    fn new(ranges: &'r [Range<usize>]) -> Self {
        Edits { ranges, length: 0, edits: Vec::new() }
    }

    /// Adds the changes of the next field, whose text has this length, by the ranges in that text.
    fn field(
        &mut self,
        length: usize,
        edits: impl FnOnce(&[Range<usize>]) -> Result<Vec<Edit>, String>,
    ) -> Result<(), String> {
        if length == 0 {
            return Ok(());
        }
        let start = self.length + if self.length > 0 { SEPARATOR.len() } else { 0 };
        self.length = start + length;
        let within = |range: &Range<usize>| range.start.max(start)..range.end.min(self.length);
        let own: Vec<Range<usize>> = self.ranges.iter().map(within).filter(|range| range.start < range.end).collect();
        if !own.is_empty() {
            let own: Vec<Range<usize>> = own.iter().map(|range| range.start - start..range.end - start).collect();
            self.edits.extend(edits(&own)?);
        }
        Ok(())
    }

    fn finish(self) -> Result<Vec<Edit>, String> {
        match self.ranges.last() {
            Some(last) if last.end > self.length => Err(CHANGED.into()),
            _ => {
                let mut edits = self.edits;
                edits.sort_by_key(|edit| (edit.range.start, edit.range.end));
                Ok(edits)
            }
        }
    }
}

/// The ranges of bytes that decode to these ranges of text, as a piece of a file is decoded, or as UTF-8.
fn in_bytes(bytes: &[u8], ranges: &[Range<usize>], is_utf8: bool) -> Result<Vec<Range<usize>>, String> {
    let places: Vec<usize> = ranges.iter().flat_map(|range| [range.start, range.end]).collect();
    let mark = bytes.len() - decode::without_utf8_mark(bytes).len();
    let places = match if is_utf8 { None } else { decode::legacy_encoding(bytes) } {
        None => origins(&bytes[mark..], None, &places)?.into_iter().map(|place| place + mark).collect(),
        encoding => origins(bytes, encoding, &places)?,
    };
    Ok(places.as_chunks::<2>().0.iter().map(|&[start, end]| start..end).collect())
}

/// Where bytes are that decode to the text from these places on, ascending; `None` is UTF-8. A place after a character that stands for bytes
/// that are ill-formed may be before these.
fn origins(bytes: &[u8], encoding: Option<&'static Encoding>, places: &[usize]) -> Result<Vec<usize>, String> {
    let mut found = Vec::with_capacity(places.len());
    let mut wanted = places.iter().copied().peekable();
    match encoding {
        None if std::str::from_utf8(bytes).is_ok() => {
            found.extend(wanted.by_ref().map_while(|place| (place <= bytes.len()).then_some(place)));
        }
        None => {
            let (mut origin, mut text) = (0, 0);
            for chunk in bytes.utf8_chunks() {
                let valid = chunk.valid().len();
                while let Some(place) = wanted.next_if(|&place| place <= text + valid) {
                    found.push(origin + place.saturating_sub(text));
                }
                text += valid + if chunk.invalid().is_empty() { 0 } else { '\u{fffd}'.len_utf8() };
                origin += valid + chunk.invalid().len();
            }
            found.extend(std::iter::from_fn(|| wanted.next_if(|&place| place <= text)).map(|_| origin));
        }
        Some(encoding) => {
            let mut decoder = encoding.new_decoder_without_bom_handling();
            let (mut text, mut before, mut buffer) = (0, 0, [0; 16]);
            for origin in 0..=bytes.len() {
                // The first byte at which the text is as long: what follows may have begun before, if it was ill-formed.
                while let Some(place) = wanted.next_if(|&place| place <= text) {
                    found.push(if place == text { origin } else { before });
                }
                let Some(byte) = bytes.get(origin..origin + 1) else { break };
                let (_, _, written, _) = decoder.decode_to_utf8(byte, &mut buffer, false);
                if written > 0 {
                    (text, before) = (text + written, origin);
                }
            }
            let (_, _, written, _) = decoder.decode_to_utf8(&[], &mut buffer, true);
            found.extend(std::iter::from_fn(|| wanted.next_if(|&place| place <= text + written)).map(|_| bytes.len()));
        }
    }
    if found.len() < places.len() { Err(CHANGED.into()) } else { Ok(found) }
}

/// The length of an escape and of its character, given the literal from its backslash on.
fn escape(after: &[u8]) -> (usize, usize) {
    let hex = |at: usize| {
        let digits = after.get(at..at + 4).and_then(|digits| std::str::from_utf8(digits).ok());
        digits.and_then(|digits| u32::from_str_radix(digits, 16).ok()).unwrap_or(0)
    };
    match after.get(1) {
        Some(b'u') => match hex(2) {
            0xd800..0xdc00 if after.get(6..8) == Some(b"\\u") && (0xdc00..0xe000).contains(&hex(8)) => (12, 4),
            // U+FFFD is read where a surrogate stands alone.
            unit => (6, char::from_u32(unit).map_or(3, char::len_utf8)),
        },
        _ => (2, 1),
    }
}

/// The length of the text of a literal of JSON without its quotation marks.
fn unescaped_length(literal: &str) -> usize {
    let (bytes, mut at, mut length) = (literal.as_bytes(), 0, 0);
    while let Some(next) = memchr::memchr(b'\\', &bytes[at..]) {
        let (raw, text) = escape(&bytes[at + next..]);
        (at, length) = ((at + next + raw).min(bytes.len()), length + next + text);
    }
    length + bytes.len() - at
}

/// The changes of a literal of JSON that begins at a place, without its quotation marks, by ranges of its text.
fn in_literal(literal: &str, ranges: &[Range<usize>], start: usize) -> Vec<Edit> {
    let (bytes, mut at, mut text) = (literal.as_bytes(), 0, 0);
    // From a place in the text to one in the literal; places ascend.
    let mut origin = |place: usize| {
        while text < place && at < bytes.len() {
            let plain = memchr::memchr(b'\\', &bytes[at..]).unwrap_or(bytes.len() - at);
            if plain > 0 {
                let step = plain.min(place - text);
                (at, text) = (at + step, text + step);
            } else {
                let (raw, length) = escape(&bytes[at..]);
                (at, text) = ((at + raw).min(bytes.len()), text + length);
            }
        }
        start + at
    };
    ranges.iter().map(|range| Edit { range: origin(range.start)..origin(range.end), insert: "" }).collect()
}

/// Calls `each` with the fields of a row, as they are written: the column and the bytes of each.
fn each_raw_field(delimiter: u8, row: &[u8], mut each: impl FnMut(usize, Range<usize>)) {
    let (mut start, mut at) = (0, 0);
    for column in 0.. {
        if row.get(at) == Some(&b'"') {
            at += 1;
            while at < row.len() {
                match memchr::memchr(b'"', &row[at..]) {
                    None => at = row.len(),
                    Some(quote) if row.get(at + quote + 1) == Some(&b'"') => at += quote + 2,
                    Some(quote) => {
                        at += quote + 1;
                        break;
                    }
                }
            }
        }
        let end = memchr::memchr(delimiter, &row[at..]).map_or(row.len(), |end| at + end);
        each(column, start..end);
        if end == row.len() {
            return;
        }
        (start, at) = (end + 1, end + 1);
    }
}

/// A field as it is written.
struct Value<'r> {
    raw: &'r [u8],
    /// What is between its quotation marks, if it begins with one.
    quoted: Option<Range<usize>>,
}

impl<'r> Value<'r> {
    fn new(raw: &'r [u8]) -> Self {
        let quoted = (raw.first() == Some(&b'"')).then(|| {
            let mut at = 1;
            while let Some(quote) = memchr::memchr(b'"', &raw[at..]) {
                if raw.get(at + quote + 1) != Some(&b'"') {
                    return 1..at + quote;
                }
                at += quote + 2;
            }
            1..raw.len()
        });
        Value { raw, quoted }
    }

    /// What follows the closing quotation mark; all of a field without quotation marks.
    fn tail(&self) -> Range<usize> {
        self.quoted.as_ref().map_or(0, |quoted| (quoted.end + 1).min(self.raw.len()))..self.raw.len()
    }

    /// Its bytes without quotation marks around it, and single ones in it.
    fn content(&self) -> Vec<u8> {
        let mut content = Vec::with_capacity(self.raw.len());
        if let Some(quoted) = &self.quoted {
            let mut rest = &self.raw[quoted.clone()];
            while let Some(quote) = memchr::memchr(b'"', rest) {
                content.extend_from_slice(&rest[..=quote]);
                rest = &rest[(quote + 2).min(rest.len())..];
            }
            content.extend_from_slice(rest);
        }
        content.extend_from_slice(&self.raw[self.tail()]);
        content
    }

    /// The changes that leave out these ranges of its content.
    fn without(&self, ranges: &[Range<usize>]) -> Vec<Edit> {
        let tail = self.tail();
        let has_quotes = memchr::memchr(b'"', &self.raw[tail.clone()]).is_some();
        let mut edits = Vec::new();
        // What follows quotation marks, or begins without them, must not begin with one.
        if has_quotes && self.quoted.is_none() {
            edits.push(Edit { range: 0..0, insert: "\"" });
        }
        if has_quotes && let Some(quoted) = &self.quoted {
            edits.push(Edit { range: quoted.end..tail.start, insert: "" });
        }
        let doubles = |at: usize| has_quotes && at >= tail.start && self.raw[at] == b'"';
        let (mut at, mut content) = (self.quoted.as_ref().map_or(0, |quoted| quoted.start), 0);
        let mut ranges = ranges.iter().peekable();
        while at < self.raw.len() {
            if let Some(quoted) = &self.quoted
                && at == quoted.end
            {
                at = tail.start;
                continue;
            }
            let is_double = self.quoted.as_ref().is_some_and(|quoted| at < quoted.end) && self.raw[at] == b'"';
            let length = if is_double { 2 } else { 1 };
            while ranges.next_if(|range| range.end <= content).is_some() {}
            match ranges.peek() {
                Some(range) if range.start <= content => match edits.last_mut() {
                    Some(last) if last.range.end == at && last.insert.is_empty() => last.range.end = at + length,
                    _ => edits.push(Edit { range: at..at + length, insert: "" }),
                },
                _ if doubles(at) => edits.push(Edit { range: at..at, insert: "\"" }),
                _ => {}
            }
            (at, content) = (at + length, content + 1);
        }
        if has_quotes {
            edits.push(Edit { range: self.raw.len()..self.raw.len(), insert: "\"" });
        }
        edits.sort_by_key(|edit| (edit.range.start, edit.range.end));
        edits
    }
}

#[cfg(test)]
mod tests {
    use super::super::rest::{Form, LeftOut, OnDisk, copy_without};
    use super::super::{Input, Source, TextFields};
    use super::*;
    use encoding_rs::{GBK, SHIFT_JIS, WINDOWS_1251};
    use proptest::prelude::*;
    use std::fs;
    use std::ops::ControlFlow;
    use std::path::Path;

    /// The documents of a file: the lines of their places, or 0, and their texts.
    fn documents(path: &Path, options: &ReadOptions) -> Vec<(u64, String)> {
        let mut found = Vec::new();
        Input::new(vec![path.to_path_buf()], options.clone()).read(&mut |batch| {
            batch.documents(&mut |result| {
                if let Ok(document) = result {
                    found.push((document.place.line.unwrap_or(0), document.text.into_owned()));
                }
            });
            ControlFlow::Continue(())
        });
        found
    }

    /// Ranges of characters of a text, by random numbers.
    fn ranges_of(text: &str, numbers: &[usize]) -> Vec<Range<usize>> {
        let at = |number: usize| text.floor_char_boundary(number % (text.len() + 1));
        let mut places: Vec<usize> = numbers.iter().map(|&number| at(number)).collect();
        places.sort_unstable();
        places.as_chunks::<2>().0.iter().map(|&[start, end]| start..end).filter(|range| !range.is_empty()).collect()
    }

    fn without(text: &str, ranges: &[Range<usize>]) -> String {
        let mut text = text.to_string();
        ranges.iter().rev().for_each(|range| text.replace_range(range.clone(), ""));
        text
    }

    #[test]
    fn ranges_that_touch_are_one() {
        let mut snips = Snips::default();
        for (record, range) in [(1, 0..2), (1, 2..5), (1, 6..7), (2, 7..9), (2, 9..12), (3, 0..4)] {
            snips.push(record, range);
        }
        snips.remove(3);
        let records: Vec<(u64, &[[u32; 2]])> = snips.records().collect();
        assert_eq!(records, [(1, &[[0, 5], [6, 7]][..]), (2, &[[7, 12]])]);
    }

    /// Leaves ranges out of the documents of a file. Returns the copy, after it was read and compared.
    fn check(name: &str, content: &[u8], options: &ReadOptions, numbers: &[Vec<usize>]) -> Vec<u8> {
        let folder = tempfile::tempdir().unwrap();
        let (path, copy) = (folder.path().join(name), folder.path().join(format!("copy-{name}")));
        fs::write(&path, content).unwrap();
        let (mut snips, mut expected) = (Snips::default(), Vec::new());
        for (number, (line, text)) in documents(&path, options).into_iter().enumerate() {
            let ranges = numbers.get(number).map(|numbers| ranges_of(&text, numbers)).unwrap_or_default();
            ranges.iter().for_each(|range| snips.push(line, range.clone()));
            expected.push(without(&text, &ranges));
        }
        let (mut out, left_out) = (Vec::new(), LeftOut { records: &[], snips: Some(&snips) });
        match left_out.is_nothing() {
            true => out = content.to_vec(),
            false => copy_without(&mut OnDisk::open(&path).unwrap(), options, left_out, Form::Whole, &mut out).unwrap(),
        }
        fs::write(&copy, &out).unwrap();
        let found: Vec<String> = documents(&copy, options).into_iter().map(|(_, text)| text).collect();
        assert_eq!(found, expected, "{}", String::from_utf8_lossy(&out));
        out
    }

    /// A character of a literal of JSON, as it may be written.
    fn written(c: char, how: usize) -> String {
        let mut units = [0; 2];
        match c {
            '\u{fffd}' if how == 5 => "\\ud83d".into(),
            '"' | '\\' if how.is_multiple_of(2) => format!("\\{c}"),
            '\n' if how.is_multiple_of(2) => "\\n".into(),
            '/' if how.is_multiple_of(2) => "\\/".into(),
            _ if !how.is_multiple_of(3) && !matches!(c, '"' | '\\' | '\n') => c.to_string(),
            _ => c.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}")).collect(),
        }
    }

    const CHARACTERS: &[char] = &['a', ' ', '"', '\\', '\n', '/', 'é', '中', '😀', ',', 'u', '\u{fffd}'];

    fn characters() -> impl Strategy<Value = Vec<(char, usize)>> {
        prop::collection::vec((prop::sample::select(CHARACTERS), 0usize..6), 0..30)
    }

    /// Of a short text, only one character may be a lone surrogate: otherwise too much of it is no text, and it is not read.
    fn with_one_lone<'t>(texts: impl Iterator<Item = &'t mut Vec<(char, usize)>>) {
        let lone = texts.flatten().filter(|(c, how)| (*c, *how) == ('\u{fffd}', 5));
        lone.skip(1).for_each(|(_, how)| *how = 4);
    }

    fn numbers() -> impl Strategy<Value = Vec<Vec<usize>>> {
        prop::collection::vec(prop::collection::vec(0usize..99, 0..7), 0..4)
    }

    proptest! {
        /// What is left of a literal is written as it was, and the rest of the line is the same.
        #[test]
        fn escapes_stay(mut texts in prop::collection::vec(characters(), 1..4), numbers in numbers(), is_utf16: bool) {
            texts.iter_mut().for_each(|text| with_one_lone(std::iter::once(text)));
            let options = ReadOptions::default();
            let encode = |text: &str| match is_utf16 {
                true => text.encode_utf16().flat_map(u16::to_le_bytes).collect(),
                false => text.as_bytes().to_vec(),
            };
            let line = |text: &[(char, usize)], ranges: &[Range<usize>]| {
                let (mut at, mut literal) = (0, String::new());
                for &(c, how) in text {
                    if !ranges.iter().any(|range| range.contains(&at)) {
                        literal += &written(c, how);
                    }
                    at += c.len_utf8();
                }
                format!(" {{\"a\":[\"text\",{{\"text\":\"\\u0041\"}}] ,\"text\" : \"{literal}\",\"b\":1.0e5, \"id\":\"\\u00e9\"}}\r\n")
            };
            let plain = |text: &[(char, usize)]| text.iter().map(|&(c, _)| c).collect::<String>();
            let ranges = |number: usize| {
                numbers.get(number).map(|numbers| ranges_of(&plain(&texts[number]), numbers)).unwrap_or_default()
            };
            let mark = if is_utf16 { "\u{feff}" } else { "" };
            let content: String = texts.iter().map(|text| line(text, &[])).collect();
            let expected: String = texts.iter().enumerate().map(|(number, text)| line(text, &ranges(number))).collect();
            let out = check("a.jsonl", &encode(&format!("{mark}{content}")), &options, &numbers);
            prop_assert_eq!(out, encode(&format!("{mark}{expected}")));
        }

        #[test]
        fn texts_in_several_fields(
            numbers in numbers(),
            mut first in characters(),
            mut rest in prop::collection::vec(characters(), 0..4),
        ) {
            with_one_lone(std::iter::once(&mut first).chain(&mut rest));
            let text = |text: &[(char, usize)]| text.iter().map(|&(c, how)| written(c, how)).collect::<String>();
            let rest: Vec<String> = rest.iter().map(|own| format!("{{\"role\":\"x\",\"content\":\"{}\"}}", text(own))).collect();
            let line = format!("{{\"title\":\"{}\",\"messages\":[{}],\"n\":2}}\n", text(&first), rest.join(","));
            let options = ReadOptions {
                text_fields: TextFields::new(["title,messages[].content"]).unwrap(),
                ..ReadOptions::default()
            };
            // Cuts in several fields: what they join is not compared with what is read, but what is left is valid.
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("a.jsonl");
            fs::write(&path, &line).unwrap();
            let all = documents(&path, &options);
            let ranges = numbers.first().map(|numbers| ranges_of(&all[0].1, numbers)).unwrap_or_default();
            let mut snips = Snips::default();
            ranges.iter().for_each(|range| snips.push(1, range.clone()));
            let mut out = Vec::new();
            let left_out = LeftOut { records: &[], snips: Some(&snips) };
            copy_without(&mut OnDisk::open(&path).unwrap(), &options, left_out, Form::Whole, &mut out).unwrap();
            fs::write(&path, &out).unwrap();
            let words = |text: &str| text.chars().filter(|&c| c != '\n').collect::<String>();
            prop_assert_eq!(words(&documents(&path, &options)[0].1), words(&without(&all[0].1, &ranges)));
        }

        #[test]
        fn rows_stay_rows(
            rows in prop::collection::vec(("[ab\",\n\r é]{0,12}", 0usize..3, "[ab\",\n\r é]{0,12}"), 1..5),
            numbers in numbers(),
            alone: bool,
        ) {
            // Quoted, as it is, or quoted with something after it.
            let field = |text: &str, how: usize| match how {
                0 => format!("\"{}\"", text.replace('"', "\"\"")),
                1 => text.replace([',', '\n', '\r'], "").trim_start_matches('"').to_string(),
                _ => format!("\"{}\"{}", text.replace('"', "\"\""), text.replace([',', '\n', '\r'], "").trim_start_matches('"')),
            };
            let row = |(text, how, other): &(String, usize, String)| match alone {
                true => format!("{}\r\n", field(text, *how)),
                false => format!("{},{},\r\n", field(other, 0), field(text, *how)),
            };
            let header = if alone { "text\n" } else { "\"id\",\"text\",x\n" };
            let content = header.to_string() + &rows.iter().map(row).collect::<String>();
            for content in [content.clone().into_bytes(), format!("\u{feff}{content}").encode_utf16().flat_map(u16::to_be_bytes).collect()] {
                let out = check("a.csv", &content, &ReadOptions::default(), &numbers);
                if !alone {
                    prop_assert!(out.len() < content.len() + 12 * rows.len());
                }
            }
        }

        #[test]
        fn lines_and_files(lines in prop::collection::vec("[b中é😀.]{0,9}", 1..6), end in "\r?\n", numbers in numbers()) {
            // A line of which nothing is left is no document: its beginning stays.
            let numbers: Vec<Vec<usize>> = numbers.iter().map(|own| own.iter().map(|number| number.max(&1) % 30).collect()).collect();
            let text: String = lines.iter().map(|line| format!("a{line}{end}")).collect();
            let utf16 = |text: &str| text.encode_utf16().flat_map(u16::to_be_bytes).collect::<Vec<u8>>();
            let auto = ReadOptions::default();
            check("a.txt", text.as_bytes(), &auto, &numbers);
            check("a.txt", format!("\u{feff}{text}").as_bytes(), &auto, &numbers);
            check("a.txt", &utf16(&format!("\u{feff}{text}")), &auto, &numbers);
            let by_line = ReadOptions { format: Format::Lines, ..auto };
            let numbers: Vec<Vec<usize>> = numbers
                .iter()
                .zip(&lines)
                .map(|(own, line)| own.iter().map(|number| 1 + number % (line.len() + 1)).collect())
                .collect();
            check("a.txt", text.as_bytes(), &by_line, &numbers);
            check("a.txt", &utf16(&format!("\u{feff}{text}")), &by_line, &numbers);
        }
    }

    #[test]
    fn encodings_stay() {
        const RUSSIAN: &str = "Съешь же ещё этих мягких французских булок, да выпей чаю";
        const CHINESE: &str = "中华人民共和国是位于亚洲东部的社会主义国家,首都为北京,人口众多,历史悠久";
        const JAPANESE: &str = "吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ。";
        for (encoding, text) in [(WINDOWS_1251, RUSSIAN), (GBK, CHINESE), (SHIFT_JIS, JAPANESE)] {
            let encode = |text: &str| encoding.encode(text).0.into_owned();
            let at = |number: usize| text.char_indices().nth(number).unwrap().0;
            let range = at(5)..at(9);
            let left = without(text, std::slice::from_ref(&range));
            let numbers = vec![vec![range.start, range.end]];
            assert_eq!(check("a.txt", &encode(text), &ReadOptions::default(), &numbers), encode(&left));
            let lines = ReadOptions { format: Format::Lines, ..ReadOptions::default() };
            let content = encode(&format!("{text}\r\n{text}"));
            assert_eq!(check("a.txt", &content, &lines, &numbers), encode(&format!("{left}\r\n{text}")));
            // Guessed of the field alone, after much that is ASCII.
            let before = "a,b\n".repeat(20_000);
            let content =
                [format!("text,id\n{before}").into_bytes(), b"\"".to_vec(), encode(text), b"\",x\n".to_vec()].concat();
            let mut numbers = vec![Vec::new(); 20_000];
            numbers.push(vec![range.start, range.end]);
            let out = check("a.csv", &content, &ReadOptions::default(), &numbers);
            let expected =
                [format!("text,id\n{before}").into_bytes(), b"\"".to_vec(), encode(&left), b"\",x\n".to_vec()].concat();
            assert!(out == expected);
        }
    }

    /// In the named encoding, of records that would be guessed otherwise, or not at all. テ is 0x83 0x65 in Shift_JIS, ソ 0x83 0x5C.
    #[test]
    fn named_encodings_stay() {
        let named = |label: &str| ReadOptions {
            encoding: Some(super::super::Encoding::by_label("encoding", label).unwrap()),
            ..ReadOptions::default()
        };
        // The second character of three, each of which has three bytes in UTF-8.
        let sjis = named("shift_jis");
        for (name, before, after) in [
            ("a.txt", &b""[..], &b""[..]),
            ("a.jsonl", b"{\"text\":\"", b"\",\"x\":\"\x83\x5c\"}\r\n"),
            ("a.csv", b"text,\x83\x5c\n\"", b"\",\x83\x5c\n"),
        ] {
            let content = [before, b"\x83\x65\x83\x5c\x83\x65", after].concat();
            let out = check(name, &content, &sjis, &[vec![3, 6]]);
            assert_eq!(out, [before, b"\x83\x65\x83\x65", after].concat(), "{name}");
        }
        let lines = ReadOptions { format: Format::Lines, ..named("latin1") };
        let out = check("a.txt", b"\xe9\n\xef\xbb\xbf\xe9\xe8b\n", &lines, &[Vec::new(), vec![2, 4]]);
        assert_eq!(out, b"\xe9\n\xef\xbb\xbf\xe9b\n");
        // The mark of the file decides.
        let out = check("a.txt", "\u{feff}éèb\n".as_bytes(), &lines, &[vec![2, 4]]);
        assert_eq!(out, "\u{feff}éb\n".as_bytes());
        let out = check("a.txt", "\u{feff}éèb".as_bytes(), &named("latin1"), &[vec![2, 4]]);
        assert_eq!(out, "\u{feff}éb".as_bytes());
        // UTF-16 without a mark.
        let utf16 = |text: &str| text.encode_utf16().flat_map(u16::to_be_bytes).collect::<Vec<u8>>();
        for (name, content, expected) in [
            ("a.txt", "éèb", "éb"),
            ("a.jsonl", "{\"text\":\"éèb\"}\n{\"text\":\"x\"}\n", "{\"text\":\"éb\"}\n{\"text\":\"x\"}\n"),
            ("a.csv", "id,text\n1,éèb\n", "id,text\n1,éb\n"),
        ] {
            let out = check(name, &utf16(content), &named("utf-16be"), &[vec![2, 4]]);
            assert_eq!(out, utf16(expected), "{name}");
        }
        // Nothing is guessed if it is UTF-8. The text has three bytes for the one that is replaced.
        let out = check("a.txt", b"caf\xe9 noir de la ville", &named("utf-8"), &[vec![6, 11]]);
        assert_eq!(out, b"caf\xe9 de la ville");
        let csv = b"id,text\n1,caf\xe9 noir de la ville\n";
        let out = check("a.csv", csv, &named("utf-8"), &[vec![6, 11]]);
        assert_eq!(out, b"id,text\n1,caf\xe9 de la ville\n");
    }

    #[test]
    fn bytes_that_are_no_text_stay_if_they_are_not_cut() {
        let content = "é".repeat(40);
        let content = [b"ab \xff cd ef \xc3 ", content.as_bytes(), b"\n"].concat();
        // The text has three bytes for each that is replaced.
        let out = check("a.txt", &content, &ReadOptions::default(), &[vec![7, 10]]);
        assert_eq!(out, [b"ab \xff ef \xc3 ", "é".repeat(40).as_bytes(), b"\n"].concat());
        // Several escapes that are no characters, in a text that is long enough.
        let line =
            |cut: &str| format!(r#"{{"text":"\udc05\udc00\udc01{cut} \ud800{}"}}"#, "x".repeat(120)).into_bytes();
        let out = check("a.jsonl", &line(r"\udc02é"), &ReadOptions::default(), &[vec![9, 14]]);
        assert_eq!(out, line(""));
        let json = [b"{\"text\":\"ab \xff cd ef\"}\n".to_vec(), b"{\"text\":\"\\u00e9x\"}".to_vec()].concat();
        let out = check("a.jsonl", &json, &ReadOptions::default(), &[vec![7, 10], vec![0, 2]]);
        assert_eq!(out, [b"{\"text\":\"ab \xff ef\"}\n".to_vec(), b"{\"text\":\"x\"}".to_vec()].concat());
    }

    #[test]
    fn a_record_that_changed_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jsonl");
        fs::write(&path, "{\"text\":\"short\"}\n").unwrap();
        for (line, range) in [(1, 2..9), (2, 0..1)] {
            let mut snips = Snips::default();
            snips.push(line, range);
            let left_out = LeftOut { records: &[], snips: Some(&snips) };
            let original = &mut OnDisk::open(&path).unwrap();
            let copied = copy_without(original, &ReadOptions::default(), left_out, Form::Whole, std::io::sink());
            assert!(copied.is_err(), "{line}");
        }
    }
}
