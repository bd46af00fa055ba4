//! Comma- and tab-separated records with a header row. Fields in quotes may hold delimiters, line ends and doubled quotes.
//!
//! csv-core splits a record into fields. This module finds the ends of records: that is faster without parsing the
//! fields, and must also work in a record that is too long to keep. Both follow the same rules, and tests compare them.
//! A quote opens a quoted field only at the start of the field. Text after the closing quote belongs to the field. A
//! line feed, a carriage return or both end a record. Blank lines are not records.

use std::borrow::Cow;
use std::ops::Range;

use csv_core::{ReadRecordResult, Reader, ReaderBuilder};
use memchr::{memchr, memchr2_iter, memchr3};

use super::cut::Cut;
use super::fields::quoted;
use super::jsonl::{NAMES_SHOWN, display_names};
use super::ranking::FieldRules;
use super::{FieldPath, PageText, ReadOptions};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// At the start of a field.
    Start,
    /// Within a field, outside of quotes.
    Field,
    /// Within quotes.
    Quoted,
    /// After a quote within quotes: the closing one, or the first of two.
    Quote,
    /// After a carriage return that ends a record, perhaps before a line feed.
    Return,
}

/// Tracks quotes to find the ends of records.
pub(super) struct RecordCut {
    delimiter: u8,
    state: State,
    /// Whether the last byte counted was a carriage return, so that a line feed now does not start a new line.
    after_return: bool,
}

impl RecordCut {
    pub fn new(delimiter: u8) -> Self {
        RecordCut { delimiter, state: State::Start, after_return: false }
    }
}

impl Cut for RecordCut {
    fn first_end(&mut self, bytes: &[u8]) -> Option<usize> {
        let mut at = 0;
        while at < bytes.len() {
            let rest = &bytes[at..];
            match self.state {
                State::Return => {
                    self.state = State::Start;
                    return Some(at + usize::from(rest[0] == b'\n'));
                }
                State::Start if rest[0] == b'"' => (self.state, at) = (State::Quoted, at + 1),
                State::Quote if rest[0] == b'"' => (self.state, at) = (State::Quoted, at + 1),
                State::Start | State::Quote => self.state = State::Field,
                State::Quoted => (self.state, at) = (State::Quote, at + memchr(b'"', rest)? + 1),
                State::Field => {
                    at += memchr3(self.delimiter, b'\n', b'\r', rest)? + 1;
                    self.state = if bytes[at - 1] == b'\r' { State::Return } else { State::Start };
                    if bytes[at - 1] == b'\n' {
                        return Some(at);
                    }
                }
            }
        }
        None
    }

    fn last_end(&mut self, bytes: &[u8]) -> Option<usize> {
        let mut last = None;
        while let Some(end) = self.first_end(&bytes[last.unwrap_or(0)..]) {
            last = Some(last.unwrap_or(0) + end);
        }
        last
    }

    fn line_ends(&mut self, bytes: &[u8]) -> u64 {
        let mut count = 0;
        let mut after = if self.after_return { Some(0) } else { None };
        for at in memchr2_iter(b'\n', b'\r', bytes) {
            count += u64::from(bytes[at] == b'\r' || after != Some(at));
            after = (bytes[at] == b'\r').then_some(at + 1);
        }
        if !bytes.is_empty() {
            self.after_return = after == Some(bytes.len());
        }
        count
    }

    fn is_unclosed(&self) -> bool {
        self.state == State::Quoted
    }
}

/// The records that are not blank, without their ends, each with the line on which it starts.
pub(super) fn records(delimiter: u8, first_line: u64, bytes: &[u8]) -> impl Iterator<Item = (u64, &[u8])> {
    let mut cut = RecordCut::new(delimiter);
    let mut rest = bytes;
    let mut next_line = first_line;
    let every = std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let end = cut.first_end(rest).unwrap_or(rest.len());
        let (record, after) = rest.split_at(end);
        rest = after;
        let line = next_line;
        next_line += cut.line_ends(record);
        let record = record.strip_suffix(b"\n").unwrap_or(record);
        Some((line, record.strip_suffix(b"\r").unwrap_or(record)))
    });
    every.filter(|(_, record)| !record.is_empty())
}

/// Splits records into fields, in a reused buffer. A record can have millions of fields, so they are not listed.
struct Splitter {
    reader: Reader,
    text: Vec<u8>,
}

/// The ends that are read at a time.
const ENDS: usize = 64;

impl Splitter {
    fn new(delimiter: u8) -> Self {
        let mut reader = ReaderBuilder::new().delimiter(delimiter).build();
        // The reader removes a byte order mark from its first bytes. The first record of a batch can be any record, so
        // the reader gets other bytes first.
        reader.read_record(b"\n", &mut [], &mut []);
        Splitter { reader, text: Vec::new() }
    }

    /// Splits a record, which has no line end. Calls `each` with each field, and with where it begins in the text, in order.
    fn split(&mut self, record: &[u8], mut each: impl FnMut(&[u8], usize)) {
        // Fields are never longer than their source.
        self.text.resize(self.text.len().max(record.len()), 0);
        let (mut text, mut start, mut ends) = (0, 0, [0; ENDS]);
        for mut input in [record, b"\n"] {
            loop {
                let (result, read, written, ended) = self.reader.read_record(input, &mut self.text[text..], &mut ends);
                input = &input[read..];
                text += written;
                for &end in &ends[..ended] {
                    each(&self.text[start..end], start);
                    start = end;
                }
                match result {
                    ReadRecordResult::OutputEndsFull => {}
                    ReadRecordResult::OutputFull => self.text.push(0),
                    ReadRecordResult::InputEmpty | ReadRecordResult::Record | ReadRecordResult::End => break,
                }
            }
        }
    }
}

/// The fields of a record that are wanted.
pub(super) struct Fields {
    splitter: Splitter,
    /// Their columns, ascending.
    wanted: Vec<usize>,
    /// Where each is in the text, as far as the record has them.
    ranges: Vec<Range<usize>>,
    /// The number of fields of the header row.
    header: usize,
    count: usize,
    has_surplus: bool,
}

impl Fields {
    /// None yet, for records with these columns.
    pub fn new(columns: &Columns) -> Self {
        let mut wanted: Vec<usize> = columns.texts.iter().chain(&columns.ids).copied().collect();
        wanted.extend(columns.ranks.iter().flatten());
        wanted.sort_unstable();
        wanted.dedup();
        let (splitter, header) = (Splitter::new(columns.delimiter), columns.count);
        Fields { splitter, wanted, ranges: Vec::new(), header, count: 0, has_surplus: false }
    }

    /// Splits a record, which has no line end.
    pub fn split(&mut self, record: &[u8]) {
        let Fields { splitter, wanted, ranges, header, count, has_surplus } = self;
        ranges.clear();
        (*count, *has_surplus) = (0, false);
        splitter.split(record, |field, start| {
            *has_surplus |= *count >= *header && !field.is_empty();
            if wanted.get(ranges.len()) == Some(count) {
                ranges.push(start..start + field.len());
            }
            *count += 1;
        });
    }

    /// The number of fields of the record, wanted or not.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there is text in fields that the header row does not have.
    pub fn has_surplus(&self) -> bool {
        self.has_surplus
    }

    /// The field of a column that is wanted, or `None` beyond the last field.
    pub fn get(&self, column: usize) -> Option<&[u8]> {
        let range = self.ranges.get(self.wanted.binary_search(&column).ok()?)?;
        self.splitter.text.get(range.clone())
    }
}

/// Usual delimiters, as they are written for a shell.
const USUAL: &[(u8, &str)] = &[(b'\t', "tab"), (b';', "';'"), (b'|', "'|'"), (b',', "','")];

/// The positions of the texts and the id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Columns {
    pub delimiter: u8,
    /// Those of the texts, in the order in which they are joined.
    pub texts: Vec<usize>,
    /// The columns of texts that do not exist.
    pub missing: Vec<String>,
    /// The messages about columns that are read and have the name of another one.
    pub repeated: Vec<String>,
    /// What is read of the texts, if they are pages.
    pub pages: Option<PageText>,
    /// Those of the id; none unless all are there.
    pub ids: Vec<usize>,
    /// What ranks records, and the columns of its fields that are there.
    pub rules: FieldRules,
    pub ranks: Vec<Option<usize>>,
    /// The number of columns.
    pub count: usize,
}

/// The names of the columns in a header row, for a message.
pub(super) fn column_names(delimiter: u8, header: &[u8]) -> String {
    let (mut names, mut count) = (Vec::new(), 0);
    Splitter::new(delimiter).split(header, |name, _| {
        if count < NAMES_SHOWN {
            names.push(String::from_utf8_lossy(name).into_owned());
        }
        count += 1;
    });
    display_names(names.into_iter().map(Cow::Owned), count)
}

/// The number of columns in a header row, and the position of the first one that has this name.
fn position(delimiter: u8, header: &[u8], name: &str) -> (usize, Option<usize>) {
    let (mut count, mut found) = (0, None);
    Splitter::new(delimiter).split(header, |column, _| {
        if found.is_none() && column == name.as_bytes() {
            found = Some(count);
        }
        count += 1;
    });
    (count, found)
}

/// How many columns in a header row have this name.
fn named(delimiter: u8, header: &[u8], name: &str) -> usize {
    let mut count = 0;
    Splitter::new(delimiter).split(header, |column, _| count += usize::from(column == name.as_bytes()));
    count
}

impl Columns {
    /// Finds the columns by the header row. The error lists the existing ones.
    pub fn find(delimiter: u8, header: &[u8], options: &ReadOptions) -> Result<Self, String> {
        let by_name = |name: &str| position(delimiter, header, name).1;
        let (count, _) = position(delimiter, header, options.id_field.name());
        let ids = options.id_field.in_columns(|name| by_name(name).is_some()).iter();
        let ids = ids.map(|field| by_name(field.name())).collect::<Option<_>>().unwrap_or_default();
        let position = |field: &FieldPath| by_name(field.name());
        let wanted: Vec<&FieldPath> = options.text_fields.in_columns(|name| by_name(name).is_some()).collect();
        // Two paths may be the same name, as `m[0]` and `m\[0]`: a column counts once.
        let mut texts: Vec<usize> = Vec::new();
        for column in wanted.iter().copied().filter_map(position) {
            if !texts.contains(&column) {
                texts.push(column);
            }
        }
        if texts.is_empty() {
            let here = column_names(delimiter, header);
            let wanted = quoted(wanted.into_iter());
            let other = USUAL.iter().find(|(other, _)| count == 1 && header.contains(other));
            return Err(match other {
                Some((_, other)) => {
                    format!("no text column {wanted} (one column here: {here}; split it with `delimiter {other}`)")
                }
                None => format!("no text column {wanted} (columns here: {here}; {})", options.text_advice()),
            });
        }
        let rules = FieldRules::new(&options.ranking.by);
        let missing = wanted.iter().filter(|field| position(field).is_none()).map(ToString::to_string).collect();
        Ok(Columns {
            delimiter,
            texts,
            missing,
            repeated: options.repeated_columns(|name| named(delimiter, header, name)),
            pages: options.field_pages(),
            ids,
            ranks: rules.fields().iter().map(position).collect(),
            rules,
            count,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::{IdFields, TextFields};
    use super::*;
    use proptest::prelude::*;

    fn rows(input: &str) -> Vec<(u64, Vec<String>)> {
        let mut splitter = Splitter::new(b',');
        records(b',', 1, input.as_bytes())
            .map(|(line, record)| {
                let mut fields = Vec::new();
                splitter.split(record, |field, _| fields.push(String::from_utf8_lossy(field).into_owned()));
                (line, fields)
            })
            .collect()
    }

    fn check(input: &str, expected: &[(u64, &[&str])]) {
        let expected: Vec<(u64, Vec<String>)> =
            expected.iter().map(|(line, row)| (*line, row.iter().map(|field| field.to_string()).collect())).collect();
        assert_eq!(rows(input), expected, "{input:?}");
    }

    #[test]
    fn each_line_end() {
        check("a,b\nc\r\nd\re", &[(1, &["a", "b"]), (2, &["c"]), (3, &["d"]), (4, &["e"])]);
    }

    #[test]
    fn quoted_fields_span_lines() {
        check("\"a\n\"\"b\"\",\r\nc\",d\ne,f", &[(1, &["a\n\"b\",\r\nc", "d"]), (4, &["e", "f"])]);
    }

    #[test]
    fn blank_lines_count_and_are_no_records() {
        check("\n\r\na\n\n\nb\n\n", &[(3, &["a"]), (6, &["b"])]);
    }

    #[test]
    fn a_quote_within_a_field_is_a_quote() {
        check("5\" disk,b\n\"x\"y\"z,w\n", &[(1, &["5\" disk", "b"]), (2, &["xy\"z", "w"])]);
    }

    #[test]
    fn more_fields_than_expected() {
        let row = vec!["x"; 1000].join(",");
        assert_eq!(rows(&row)[0].1.len(), 1000);
    }

    #[test]
    fn a_mark_within_a_file_is_kept_in_every_record_alike() {
        check("\u{feff}a\n\u{feff}b\n", &[(1, &["\u{feff}a"]), (2, &["\u{feff}b"])]);
    }

    #[test]
    fn columns_by_name() {
        let options = ReadOptions::default();
        let none = |delimiter| Columns {
            delimiter,
            texts: Vec::new(),
            missing: Vec::new(),
            repeated: Vec::new(),
            pages: None,
            ids: Vec::new(),
            rules: FieldRules::default(),
            ranks: Vec::new(),
            count: 0,
        };
        assert_eq!(
            Columns::find(b',', b"id,\"text\",x", &options),
            Ok(Columns { texts: vec![1], ids: vec![0], count: 3, ..none(b',') })
        );
        assert_eq!(Columns::find(b'\t', b"text\tx", &options), Ok(Columns { texts: vec![0], count: 2, ..none(b'\t') }));
        let two = ReadOptions { id_field: IdFields::new("repo,path").unwrap(), ..ReadOptions::default() };
        let ids = |header: &[u8]| Columns::find(b';', header, &two).unwrap().ids;
        assert_eq!(ids(b"path;text;repo"), [2, 0]);
        assert_eq!(ids(b"path;text;repo;repo,path"), [3]);
        assert_eq!(ids(b"path;text"), [0; 0]);
        let error = Columns::find(b',', b"url,body", &options).unwrap_err();
        assert_eq!(error, "no text column 'text' (columns here: url, body; choose with `text-field`)");
    }

    #[test]
    fn a_single_column_may_have_another_delimiter() {
        for (delimiter, header, wrong) in [
            (b',', "id;text", "one column here: id;text; split it with `delimiter ';'`"),
            (b',', "id\ttext", "one column here: id\\ttext; split it with `delimiter tab`"),
            (b'\t', "id,text", "one column here: id,text; split it with `delimiter ','`"),
            (b';', "id|text", "one column here: id|text; split it with `delimiter '|'`"),
            (b',', "id", "columns here: id; choose with `text-field`"),
            (b',', "id;text,body", "columns here: id;text, body; choose with `text-field`"),
        ] {
            let message = Columns::find(delimiter, header.as_bytes(), &ReadOptions::default()).unwrap_err();
            assert_eq!(message, format!("no text column 'text' ({wrong})"));
        }
    }

    #[test]
    fn several_columns_by_name() {
        let find = |header: &[u8], text: &str| {
            let text_fields = TextFields::parse("text-field", [text]).unwrap();
            let found = Columns::find(b',', header, &ReadOptions { text_fields, ..ReadOptions::default() });
            found.map(|columns| (columns.texts, columns.missing.join(" ")))
        };
        assert_eq!(find(b"body,id,title", "title,body"), Ok((vec![2, 0], String::new())));
        assert_eq!(find(b"m[0],id", r"m[0],id,m\[0]"), Ok((vec![0, 1], String::new())));
        assert_eq!(find(b"body,id", "title,body,x"), Ok((vec![0], "title x".into())));
        assert_eq!(find(b"title,body,\"title,body\"", "title,body"), Ok((vec![2], String::new())));
        assert_eq!(find(b"title,\"a,b\"", r"a\,b,title"), Ok((vec![1, 0], String::new())));
        let error = find(b"id", "title,body").unwrap_err();
        assert_eq!(error, "no text column 'title' or 'body' (columns here: id; choose with `text-field`)");
    }

    proptest! {
        #[test]
        fn records_are_those_of_the_csv_crate(input in "[ab,\"\n\r]{0,40}") {
            let mut cut = RecordCut::new(b',');
            cut.last_end(input.as_bytes());
            prop_assume!(!cut.is_unclosed());
            let mut reader = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(input.as_bytes());
            let expected: Vec<Vec<String>> =
                reader.records().map(|row| row.unwrap().iter().map(str::to_owned).collect()).collect();
            let found: Vec<Vec<String>> = rows(&input).into_iter().map(|(_, row)| row).collect();
            prop_assert_eq!(found, expected);
        }

        #[test]
        fn only_fields_that_are_wanted_are_listed(
            start in "[ab,\"]{0,40}",
            many in 0usize..200,
            end in "[ab,]{0,9}",
            [first, second, id] in [0usize..70, 0usize..250, 0usize..70],
            header in 1usize..250,
        ) {
            let row = format!("{start}{}{end}", ",".repeat(many));
            let mut cut = RecordCut::new(b',');
            cut.last_end(row.as_bytes());
            prop_assume!(!cut.is_unclosed() && !row.is_empty());
            let all = &rows(&row)[0].1;
            let found = Columns::find(b',', b"text", &ReadOptions::default()).unwrap();
            let columns = Columns { texts: vec![first, second], ids: vec![id], count: header, ..found };
            let mut fields = Fields::new(&columns);
            for _ in 0..2 {
                fields.split(row.as_bytes());
                prop_assert_eq!(fields.len(), all.len());
                for column in [first, second, id] {
                    prop_assert_eq!(fields.get(column), all.get(column).map(String::as_bytes));
                }
                prop_assert!(fields.ranges.len() <= 3);
                prop_assert_eq!(fields.has_surplus(), all.iter().skip(header).any(|field| !field.is_empty()));
            }
        }

        #[test]
        fn ends_are_the_same_in_any_slices(input in "[ab,\"\n\r]{0,40}", slice in 1usize..8) {
            let (mut whole, mut sliced) = (RecordCut::new(b','), RecordCut::new(b','));
            let mut expected = None;
            let mut start = 0;
            for slice in input.as_bytes().chunks(slice) {
                if let Some(end) = sliced.last_end(slice) { expected = Some(start + end); }
                start += slice.len();
            }
            prop_assert_eq!(whole.last_end(input.as_bytes()), expected);
            prop_assert_eq!(whole.state, sliced.state);
            let lines: u64 = input.as_bytes().chunks(slice).map(|slice| sliced.line_ends(slice)).sum();
            prop_assert_eq!(whole.line_ends(input.as_bytes()), lines);
        }
    }
}
