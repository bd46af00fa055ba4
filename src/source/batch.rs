//! Batches: records that have been read but not parsed.

use std::borrow::Cow;
use std::fmt::Write as _;
#[cfg(feature = "files")]
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

#[cfg(any(feature = "arrow", feature = "html", feature = "parquet"))]
use super::PageText;
#[cfg(feature = "arrow")]
use super::arrow;
#[cfg(feature = "files")]
use super::csv::{Columns, Fields, records};
use super::decode::{self, Change, Decoded, Repair};
#[cfg(any(feature = "arrow", feature = "parquet"))]
use super::fields::joined_length;
#[cfg(feature = "files")]
use super::fields::{Joined, joined_id};
#[cfg(feature = "html")]
use super::html;
#[cfg(feature = "files")]
use super::label::whole;
use super::label::{self, Encoding, Remedy};
#[cfg(feature = "files")]
use super::lacking::OfTable;
use super::lacking::{Found, Reading};
use super::lines::{Blank, lines};
#[cfg(feature = "parquet")]
use super::parquet;
#[cfg(feature = "files")]
use super::program::{Fault, Job};
use super::ranking::among;
#[cfg(feature = "files")]
use super::ranking::{FieldRules, FieldValue};
#[cfg(feature = "files")]
use super::tally::Tally;
#[cfg(feature = "warc")]
use super::warc::{self, Record, Trouble};
use super::{Document, FieldPath, Place, Problem, ProblemKind, Rank, ReadOptions, Severity, jsonl};
use crate::readable::display_size;

/// The overhead of a part in addition to its bytes. It bounds the number of empty parts in one batch.
const PART_COST: usize = 256;

/// A piece of the input: whole records, unparsed, in their order, with the problems found while reading them.
///
/// Any thread can parse any batch.
#[derive(Debug, Default)]
pub struct Batch {
    bytes_read: u64,
    parts: Vec<Part>,
    /// The rank of the documents of each part, in addition to their own; empty if all are the default.
    ranks: Vec<Rank>,
    /// What counts its documents, with its number there.
    #[cfg(feature = "files")]
    tally: Option<(Arc<Tally>, u64)>,
    /// Whether what its records lack was added to the counts of the reading.
    is_counted: AtomicBool,
}

/// Receives documents and problems, one after the other, with the number of the record in the batch.
type Each<'e> = &'e mut dyn FnMut(u32, Result<Document<'_>, Problem>);

/// Numbers records, and selects the wanted ones.
struct Selection<'w> {
    next: u32,
    wanted: Wanted<'w>,
    /// The number of records that were wanted.
    taken: u32,
    /// Whether it matters what records lack, and what those so far lack.
    counts: bool,
    found: Vec<Found>,
}

/// Decides which records are wanted, by their numbers in the batch and the lines of their places.
type Wanted<'w> = &'w mut dyn FnMut(u32, Option<u64>) -> bool;

impl Selection<'_> {
    /// The number of the next record, if it is wanted. `line` is that of its place.
    fn next(&mut self, line: Option<u64>) -> Option<u32> {
        let number = self.next;
        self.next += 1;
        let is_wanted = (self.wanted)(number, line);
        self.taken += u32::from(is_wanted);
        is_wanted.then_some(number)
    }

    /// Counts what the rows of a table lack, from this number on.
    #[cfg(feature = "files")]
    fn count_rows(&mut self, first: u32, table: Option<&OfTable>) {
        if let Some(table) = table.filter(|_| self.counts) {
            self.found.push(table.rows(u64::from(self.next - first)));
        }
    }
}

#[derive(Debug)]
pub(super) enum Part {
    Problem(Problem),
    Document {
        id: String,
        text: String,
    },
    /// A file that is one document.
    #[cfg(feature = "files")]
    Text {
        path: Arc<str>,
        bytes: Vec<u8>,
        encoding: Option<Encoding>,
    },
    /// A file that is one page.
    #[cfg(feature = "html")]
    Html {
        path: Arc<str>,
        bytes: Vec<u8>,
        encoding: Option<Encoding>,
        wanted: PageText,
    },
    /// A file that is read through a program.
    #[cfg(feature = "files")]
    Program {
        path: Arc<str>,
        job: Job,
    },
    Lines(Records),
    Jsonl(Records, Arc<JsonFields>),
    #[cfg(feature = "files")]
    Csv(Records, Columns, Option<OfTable>),
    /// Records of an archive, and the options that select from them.
    #[cfg(feature = "warc")]
    Warc(Records, Vec<Record>, PageText),
    /// Rows of a Parquet file.
    #[cfg(feature = "parquet")]
    Parquet {
        path: Arc<str>,
        rows: parquet::Rows,
        max_record: usize,
        /// What is read of the texts, if they are pages.
        pages: Option<PageText>,
        /// Which text fields have no column.
        lacking: Option<OfTable>,
    },
    /// Pages of a Parquet file that are only checked.
    #[cfg(feature = "parquet")]
    Checks {
        path: Arc<str>,
        checks: parquet::Checks,
    },
    /// Rows of a table in memory.
    #[cfg(feature = "arrow")]
    Arrow {
        rows: arrow::Rows,
        max_record: usize,
        /// What is read of the texts, if they are pages.
        pages: Option<PageText>,
    },
}

/// Whole records of one file.
#[derive(Debug)]
pub(super) struct Records {
    pub path: Arc<str>,
    /// The line of the first record. Records of archives have numbers of their own instead.
    pub line: u64,
    pub bytes: Vec<u8>,
    pub max_record: usize,
    /// Whether problems carry the record.
    pub keep_rejected: bool,
    /// Which lines are no records.
    pub blank: Blank,
    /// Their encoding, if it is named.
    pub encoding: Option<Encoding>,
}

/// The wanted fields of JSON lines.
#[derive(Clone, Debug)]
pub(super) struct JsonFields {
    pub fields: jsonl::Fields,
    /// What ranks records.
    #[cfg(feature = "files")]
    pub rules: FieldRules,
    /// Whether the first record is the first of input that may be lines of text: no format was given.
    pub may_be_text: bool,
    /// What counts the fields that lines lack.
    pub reading: Option<Arc<Reading>>,
}

impl JsonFields {
    /// Those that the options name.
    pub fn new(options: &ReadOptions) -> Self {
        let fields = jsonl::Fields::new(&options.text_fields, &options.id_field, options.field_pages())
            .advising(options.text_advice());
        #[cfg(feature = "files")]
        {
            let rules = FieldRules::new(&options.ranking.by);
            JsonFields { fields: fields.with_values(rules.fields()), rules, may_be_text: false, reading: None }
        }
        #[cfg(not(feature = "files"))]
        JsonFields { fields, may_be_text: false, reading: None }
    }

    /// The same for a reading, which is counted if the options say so.
    pub fn of_reading(self: &Arc<Self>, options: &ReadOptions) -> Arc<Self> {
        let ReadOptions { lacking, text_fields, is_reference, .. } = options;
        match lacking.as_ref().and_then(|lacking| lacking.begin(text_fields, *is_reference)) {
            Some(reading) => Arc::new(JsonFields { reading: Some(reading), ..(**self).clone() }),
            None => Arc::clone(self),
        }
    }

    /// The id of a line, of which the bytes are given if some are ill-formed: ids of other bytes differ.
    fn own_id<'i>(&self, id: Cow<'i, str>, damaged: Option<&[u8]>, named: Option<Encoding>) -> Cow<'i, str> {
        match damaged.filter(|_| id.contains(char::REPLACEMENT_CHARACTER)) {
            Some(line) => self.fields.id_of_damaged(line, named).map_or(id, Cow::Owned),
            None => id,
        }
    }

    /// The rank of a line that is JSON. A value that cannot be used is passed on, with its field.
    #[cfg(feature = "files")]
    fn rank(&self, line: &str, refuse: Refuse<'_>) -> Rank {
        self.rules.rank(&self.fields.values(line), refuse)
    }

    /// Records that are in no file are not ranked.
    #[cfg(not(feature = "files"))]
    fn rank(&self, _: &str, _: Refuse<'_>) -> Rank {
        Rank::default()
    }
}

impl Part {
    /// The text that it was made of.
    fn bytes(&self) -> &[u8] {
        match self {
            Part::Problem(_) => &[],
            Part::Document { text, .. } => text.as_bytes(),
            #[cfg(feature = "files")]
            Part::Text { bytes, .. } => bytes,
            #[cfg(feature = "html")]
            Part::Html { bytes, .. } => bytes,
            #[cfg(feature = "files")]
            Part::Program { .. } => &[],
            Part::Lines(records) | Part::Jsonl(records, _) => &records.bytes,
            #[cfg(feature = "files")]
            Part::Csv(records, ..) => &records.bytes,
            #[cfg(feature = "warc")]
            Part::Warc(records, ..) => &records.bytes,
            #[cfg(feature = "parquet")]
            Part::Parquet { .. } | Part::Checks { .. } => &[],
            #[cfg(feature = "arrow")]
            Part::Arrow { .. } => &[],
        }
    }

    /// The bytes of input that it was made of, without compression.
    fn bytes_unpacked(&self) -> u64 {
        match self {
            #[cfg(feature = "parquet")]
            Part::Parquet { rows, .. } => rows.bytes_unpacked(),
            #[cfg(feature = "parquet")]
            Part::Checks { checks, .. } => checks.bytes_unpacked(),
            #[cfg(feature = "arrow")]
            Part::Arrow { rows, .. } => rows.bytes,
            #[cfg(feature = "files")]
            Part::Program { job, .. } => job.size,
            part => part.bytes().len() as u64,
        }
    }

    /// The approximate memory, in bytes.
    fn bytes_held(&self) -> u64 {
        let records = match self {
            #[cfg(feature = "parquet")]
            Part::Parquet { rows, .. } => rows.bytes_held(),
            #[cfg(feature = "parquet")]
            Part::Checks { checks, .. } => checks.bytes_held(),
            #[cfg(feature = "files")]
            Part::Program { job, .. } => job.bytes_held(),
            #[cfg(feature = "warc")]
            Part::Warc(records, pages, _) => {
                (records.bytes.len() + pages.iter().map(Record::bytes_held).sum::<usize>()) as u64
            }
            part => part.bytes().len() as u64,
        };
        PART_COST as u64 + records
    }
}

impl Batch {
    /// A batch of documents, each an id and a text.
    pub fn from_documents(documents: Vec<(String, String)>) -> Self {
        let mut batch = Batch::default();
        documents.into_iter().for_each(|(id, text)| batch.push(id, text));
        batch
    }

    /// Adds a document.
    pub fn push(&mut self, id: String, text: String) {
        self.push_ranked(id, text, Rank::default());
    }

    /// Adds a document with a [rank](Document::rank).
    pub fn push_ranked(&mut self, id: String, text: String, rank: Rank) {
        self.bytes_read += text.len() as u64;
        self.push_part(Part::Document { id, text }, rank);
    }

    fn push_part(&mut self, part: Part, rank: Rank) {
        if rank != Rank::default() || !self.ranks.is_empty() {
            self.ranks.resize(self.parts.len(), Rank::default());
            self.ranks.push(rank);
        }
        self.parts.push(part);
    }

    /// Adds a record that could not be read, or a warning about the next document.
    pub fn reject(&mut self, problem: Problem) {
        self.push_part(Part::Problem(problem), Rank::default());
    }

    /// A batch of one part, which was not compressed.
    pub(super) fn of_part(part: Part) -> Self {
        let mut batch = Batch { parts: vec![part], ..Batch::default() };
        batch.bytes_read = batch.raw().len() as u64;
        batch
    }

    /// A batch of rows in memory.
    #[cfg(feature = "arrow")]
    pub(super) fn of_rows(part: Part) -> Self {
        Batch { bytes_read: part.bytes_unpacked(), parts: vec![part], ..Batch::default() }
    }

    /// The number of input bytes consumed for it; compressed input counts compressed.
    pub fn bytes_read(&self) -> u64 {
        self.bytes_read
    }

    /// The number of bytes of its records without compression. Of Parquet these are the values of the columns that are read. What is
    /// left out before records are found, such as a binary file or a record that is too long, does not count.
    pub fn bytes_unpacked(&self) -> u64 {
        self.parts.iter().map(Part::bytes_unpacked).sum()
    }

    /// The approximate memory, in bytes.
    pub(crate) fn bytes_held(&self) -> u64 {
        self.parts.iter().map(Part::bytes_held).sum()
    }

    /// The bytes of its only part, unchanged.
    pub(super) fn raw(&self) -> &[u8] {
        match &self.parts[..] {
            [part] => part.bytes(),
            _ => &[],
        }
    }

    /// Parses and decodes its records, in their order. A document that was read with replacements comes after the
    /// problem that reports this.
    pub fn documents(&self, each: &mut dyn FnMut(Result<Document<'_>, Problem>)) {
        self.selected(&mut |_| true, &mut |_, result| each(result));
    }

    /// As [`documents`](Self::documents), but only for the wanted records; the others are not parsed. Records are
    /// numbered from 0, including those that cannot be read. Each document and problem comes with its number.
    pub fn selected(
        &self,
        wanted: &mut dyn FnMut(u32) -> bool,
        each: &mut dyn FnMut(u32, Result<Document<'_>, Problem>),
    ) {
        self.selected_by_line(&mut |number, _| wanted(number), each);
    }

    /// As [`selected`](Self::selected), by the lines of the places too. A document that is a whole file has none, and
    /// neither has a problem that was found while the batch was read, whatever its place.
    pub(super) fn selected_by_line(&self, wanted: Wanted<'_>, each: Each<'_>) {
        #[cfg(feature = "files")]
        if let Some((tally, number)) = &self.tally {
            return self.visit(wanted, &mut |record, read| {
                tally.take((*number, record), &read);
                each(record, read);
            });
        }
        self.visit(wanted, each);
    }

    fn visit(&self, wanted: Wanted<'_>, each: Each<'_>) {
        let counts = !self.is_counted.load(Ordering::Relaxed);
        let mut selection = Selection { next: 0, wanted, taken: 0, counts, found: Vec::new() };
        for (at, part) in self.parts.iter().enumerate() {
            match self.ranks.get(at).filter(|rank| **rank != Rank::default()) {
                None => part.documents(&mut selection, each),
                Some(file) => part.documents(&mut selection, &mut |number, read| {
                    each(number, read.map(|document| Document { rank: document.rank.of_file(file), ..document }));
                }),
            }
        }
        // Records that were not wanted were not parsed.
        let Selection { next, taken, found, .. } = selection;
        if taken == next && !found.is_empty() && !self.is_counted.swap(true, Ordering::Relaxed) {
            found.into_iter().for_each(Found::add);
        }
    }
}

impl Part {
    #[cfg(feature = "files")]
    fn size(&self) -> usize {
        self.bytes_held().try_into().unwrap_or(usize::MAX)
    }

    fn documents(&self, selection: &mut Selection, each: Each) {
        match self {
            Part::Problem(problem) => {
                if let Some(number) = selection.next(None) {
                    each(number, Err(problem.clone()));
                }
            }
            Part::Document { id, text } => {
                if let Some(number) = selection.next(None) {
                    let place = Place { path: id.as_str().into(), line: None };
                    let (id, text) = (Cow::Borrowed(&**id), Cow::Borrowed(&**text));
                    each(number, Ok(Document { id, text, place, rank: Rank::default() }));
                }
            }
            #[cfg(feature = "files")]
            Part::Text { path, bytes, encoding } => {
                if let Some(number) = selection.next(None) {
                    let origin = Origin::whole(path, bytes, Remedy::Name(*encoding));
                    emit(number, each, origin, unranked_file, whole(bytes, *encoding));
                }
            }
            #[cfg(feature = "html")]
            Part::Html { path, bytes, encoding, wanted } => {
                if let Some(number) = selection.next(None) {
                    let charsets = html::Charsets { sent: encoding.map(Encoding::inner), otherwise: None };
                    let html::Page { text, fell_back, repair } = html::page(bytes, charsets, *wanted);
                    let origin = Origin { fell_back, ..Origin::whole(path, bytes, Remedy::Name(*encoding)) };
                    emit(number, each, origin, unranked_file, Decoded { text: Cow::Owned(text), repair });
                }
            }
            #[cfg(feature = "files")]
            Part::Program { path, job } => {
                if let Some(number) = selection.next(None) {
                    match job.text() {
                        Ok(text) => {
                            let origin = Origin::whole(path, &text, Remedy::Convert);
                            emit(number, each, origin, unranked_file, decode::utf8(&text));
                        }
                        Err(Fault { kind, message }) => {
                            let place = Place { path: path.clone(), line: None };
                            each(number, Err(Problem::at(place, Severity::Failed, kind, message)));
                        }
                    }
                }
            }
            Part::Lines(records) => records.each_line(selection, each),
            Part::Jsonl(records, fields) => records.each_object(fields, selection, each),
            #[cfg(feature = "files")]
            Part::Csv(records, columns, lacking) => {
                let first = selection.next;
                records.each_row(columns, selection, each);
                selection.count_rows(first, lacking.as_ref());
            }
            #[cfg(feature = "warc")]
            Part::Warc(records, pages, wanted) => records.each_page(pages, *wanted, selection, each),
            #[cfg(feature = "parquet")]
            Part::Parquet { path, rows, max_record, pages, lacking } => {
                let first = selection.next;
                each_parquet_row(path, rows, (*max_record, *pages), selection, each);
                selection.count_rows(first, lacking.as_ref());
            }
            #[cfg(feature = "parquet")]
            Part::Checks { path, checks } => {
                if let Some(number) = selection.next(None) {
                    checks.problems().iter().for_each(|found| each(number, Err(found.problem(path))));
                }
            }
            #[cfg(feature = "arrow")]
            Part::Arrow { rows, max_record, pages } => {
                each_arrow_row(rows, (*max_record, *pages), selection, each);
            }
        }
    }
}

/// A row of columns that has a text.
#[cfg(any(feature = "arrow", feature = "parquet"))]
struct Row<'r> {
    place: Place,
    id: Option<Cow<'r, str>>,
    /// The values of the fields of the rules.
    values: &'r [FieldValue<'r>],
    rules: &'r FieldRules,
}

/// The length of the joined texts of a row.
#[cfg(any(feature = "arrow", feature = "parquet"))]
fn length_of<T: AsRef<[u8]>>(texts: &[T]) -> usize {
    texts.iter().fold(0, |length, text| joined_length(length, text.as_ref().len()))
}

/// Passes on a row as a document, with its texts joined.
#[cfg(any(feature = "arrow", feature = "parquet"))]
fn emit_row<'t>(
    number: u32,
    each: Each,
    Row { place, id, values, rules }: Row<'_>,
    texts: impl Iterator<Item = (&'t [u8], Decoded<'t>)>,
    pages: Option<PageText>,
) {
    let mut name = String::new();
    let id = id.unwrap_or_else(|| positional_id(&place.path, place.line.unwrap_or_default(), &mut name));
    let (mut joined, mut repair, mut bytes) = (Joined::new(pages), None, &[][..]);
    for (raw, decoded) in texts {
        if bytes.is_empty() && decoded.repair.is_some() {
            bytes = raw;
        }
        joined.push(decoded.text);
        repair = Repair::joined(repair, decoded.repair);
    }
    let (text, fell_back) = (joined.text.unwrap_or_default(), joined.fell_back);
    let origin = Origin { place, id, bytes, remedy: Remedy::Convert, keep_rejected: false, fell_back };
    let rank = |refuse: Refuse<'_>| rules.rank(values, refuse);
    emit(number, each, origin, rank, Decoded { text, repair });
}

#[cfg(feature = "parquet")]
fn each_parquet_row(
    path: &Arc<str>,
    rows: &parquet::Rows,
    (max_record, pages): (usize, Option<PageText>),
    selection: &mut Selection,
    each: Each,
) {
    rows.visit(&mut |row| selection.next(Some(row)), &mut |number, row, read| {
        let place = Place { path: path.clone(), line: Some(row) };
        match read {
            Ok(record) if length_of(record.texts) > max_record => {
                each(number, Err(too_long(path, row, max_record)));
            }
            Ok(parquet::Record { id, values, rules, texts }) => {
                let texts = texts.iter().map(|text| (*text, decode::utf8_value(text)));
                emit_row(number, each, Row { place, id, values, rules }, texts, pages);
            }
            Err(parquet::Refused { kind, message, id, rows }) => {
                let id = id.map(Cow::into_owned);
                each(number, Err(Problem { id, records: rows, ..Problem::at(place, Severity::Failed, kind, message) }));
            }
        }
    });
}

#[cfg(feature = "arrow")]
fn each_arrow_row(
    rows: &arrow::Rows,
    (max_record, pages): (usize, Option<PageText>),
    selection: &mut Selection,
    each: Each,
) {
    let (path, mut digits): (Arc<str>, _) = (arrow::ROW.into(), String::new());
    rows.visit(&mut |row| selection.next(Some(row)), &mut |number, row| {
        let place = Place { path: path.clone(), line: Some(row.number) };
        let id = row.id.map(|id| match id {
            arrow::Id::Text(id) => Cow::Borrowed(id),
            arrow::Id::Number(id) => {
                digits.clear();
                _ = write!(digits, "{id}");
                Cow::Borrowed(&*digits)
            }
        });
        if row.texts.is_empty() {
            let id = id.map(Cow::into_owned);
            let problem = Problem::at(place, Severity::Failed, ProblemKind::Text, row.null);
            return each(number, Err(Problem { id, ..problem }));
        }
        if length_of(row.texts) > max_record {
            return each(number, Err(too_long(&path, row.number, max_record)));
        }
        let texts = row.texts.iter().map(|text| (&[][..], Decoded { text: Cow::Borrowed(*text), repair: None }));
        emit_row(number, each, Row { place, id, values: row.values, rules: row.rules }, texts, pages);
    });
}

/// The delimiter of a line that is probably the header row of CSV: names without spaces, separated by one character.
pub(super) fn header_delimiter(line: &str) -> Option<u8> {
    let is_of_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    let is_name = |field: &str| {
        let name = field.strip_prefix('"').and_then(|field| field.strip_suffix('"')).unwrap_or(field);
        name.starts_with(|c: char| c.is_alphabetic() || c == '_') && name.chars().all(is_of_name)
    };
    let is_header = |&by: &u8| line.contains(char::from(by)) && line.trim_end().split(char::from(by)).all(is_name);
    [b',', b'\t', b';'].into_iter().find(is_header)
}

/// The problem of a record whose value does not rank it.
fn unranked(place: Place, field: &FieldPath, value: &str, rule: usize) -> Problem {
    let among = among(rule);
    let message =
        format!("field '{field}' is {value}, neither a number nor a time: it comes last in the choice{among}");
    Problem::at(place, Severity::Failed, ProblemKind::Rank, message)
}

/// The id of a record without one.
fn positional_id<'n>(path: &str, line: u64, buffer: &'n mut String) -> Cow<'n, str> {
    buffer.clear();
    _ = write!(buffer, "{path}:{line}");
    Cow::Borrowed(buffer)
}

impl Records {
    fn each_line(&self, selection: &mut Selection, each: Each) {
        let mut id = String::new();
        for (line, bytes) in lines(self.line, &self.bytes, self.blank) {
            let Some(number) = selection.next(Some(line)) else { continue };
            if bytes.len() > self.max_record {
                each(number, Err(too_long(&self.path, line, self.max_record)));
                continue;
            }
            let origin = self.origin(line, self.name(line, &mut id), bytes);
            emit(number, each, origin, unranked_file, label::piece(bytes, self.encoding));
        }
    }

    fn each_object(&self, fields: &JsonFields, selection: &mut Selection, each: Each) {
        let (mut name, mut buffer) = (String::new(), String::new());
        let mut may_be_text = fields.may_be_text;
        let mut found = fields.reading.as_ref().filter(|_| selection.counts).map(Reading::found);
        for (line, bytes) in lines(self.line, &self.bytes, self.blank) {
            may_be_text &= !matches!(bytes.trim_ascii_start().first(), Some(b'{' | b'['));
            let advises = std::mem::take(&mut may_be_text);
            let Some(number) = selection.next(Some(line)) else { continue };
            if bytes.len() > self.max_record {
                each(number, Err(too_long(&self.path, line, self.max_record)));
                continue;
            }
            let json = self.encoding.map_or_else(|| decode::utf8(bytes), |encoding| encoding.decode(bytes));
            let damaged = json.repair.is_some().then(|| decode::without_utf8_mark(bytes));
            match fields.fields.parse_counting(&json.text, &mut buffer, found.as_mut()) {
                Err(jsonl::Rejected { kind, mut message, id, lacks_field }) => {
                    let id = id.map(|id| fields.own_id(id.into(), damaged, self.encoding).into_owned());
                    if advises {
                        message += match header_delimiter(&json.text).is_some() {
                            true => " (this looks like CSV, which is read from files, by scan and clean)",
                            false => " (lines of text are read with `format lines`)",
                        };
                    }
                    each(number, Err(Problem { id, lacks_field, ..self.rejected(line, kind, message, bytes) }))
                }
                Ok(record) => {
                    let own_id = record.id.map(|id| fields.own_id(id, damaged, self.encoding));
                    let id = own_id.unwrap_or_else(|| self.name(line, &mut name));
                    let origin = Origin { fell_back: record.fell_back, ..self.origin(line, id, bytes) };
                    let rank = |refuse: Refuse<'_>| fields.rank(&json.text, refuse);
                    let repair = Repair::both(json.repair, record.lone.repair());
                    emit(number, each, origin, rank, Decoded { text: record.text, repair });
                }
            }
        }
        selection.found.extend(found);
    }

    #[cfg(feature = "files")]
    fn each_row(&self, columns: &Columns, selection: &mut Selection, each: Each) {
        let mut name = String::new();
        let mut fields = Fields::new(columns);
        // Rows in UTF-8 are split as they are.
        let named = self.encoding.filter(|encoding| !encoding.is_utf8());
        let value_of = if self.encoding.is_some() { decode::utf8_value } else { decode::fragment };
        for (line, row) in records(columns.delimiter, self.line, &self.bytes) {
            let Some(number) = selection.next(Some(line)) else { continue };
            if row.len() > self.max_record {
                each(number, Err(too_long(&self.path, line, self.max_record)));
                continue;
            }
            let hiding = if self.encoding.is_some() { None } else { decode::hides(row, columns.delimiter) };
            if let Some(encoding) = hiding {
                let message = hidden_delimiter(encoding.name(), columns.delimiter, false);
                each(number, Err(self.rejected(line, ProblemKind::Text, message, row)));
                continue;
            }
            let decoded = named.map(|encoding| encoding.decode(row));
            fields.split(decoded.as_ref().map_or(row, |decoded| decoded.text.as_bytes()));
            let is_damaged = decoded.as_ref().is_some_and(|decoded| decoded.repair.is_some());
            let value = |column: &usize| fields.get(*column).filter(|value| !value.is_empty());
            let id = joined_id(columns.ids.iter().map(|column| value(column).map(|value| value_of(value).text)));
            let (mut joined, mut repair) = (Joined::new(columns.pages), None);
            for text in columns.texts.iter().filter_map(|&text| fields.get(text)) {
                let decoded = value_of(text);
                let damage = named.filter(|_| is_damaged).and_then(|encoding| encoding.damage(&decoded.text));
                joined.push(decoded.text);
                repair = Repair::joined(repair, decoded.repair.or(damage));
            }
            let Some(text) = joined.text else {
                let (found, wanted) = (fields.len(), columns.texts.iter().min().map_or(0, |first| first + 1));
                let plural = if found == 1 { "" } else { "s" };
                let message = format!("{found} field{plural}, and the text should be in field {wanted}");
                let id = id.map(Cow::into_owned);
                each(number, Err(Problem { id, ..self.rejected(line, ProblemKind::Text, message, row) }));
                continue;
            };
            // Text after a comma that should have been quoted would be lost. Delimiters alone at the end of a row are
            // common.
            if fields.has_surplus() {
                let message = format!(
                    "{} fields, and the header has {}: a field with delimiters in it must be quoted",
                    fields.len(),
                    columns.count
                );
                let id = id.map(Cow::into_owned);
                each(number, Err(Problem { id, ..self.rejected(line, ProblemKind::Text, message, row) }));
                continue;
            }
            let id = id.unwrap_or_else(|| self.name(line, &mut name));
            let value = |column: &Option<usize>| match column.and_then(|column| fields.get(column)) {
                Some(value) => FieldValue::Text(value_of(value).text),
                None => FieldValue::Missing,
            };
            let values: Vec<FieldValue> = columns.ranks.iter().map(value).collect();
            let rank = |refuse: Refuse<'_>| columns.rules.rank(&values, refuse);
            let origin = Origin { fell_back: joined.fell_back, ..self.origin(line, id, row) };
            emit(number, each, origin, rank, Decoded { text, repair });
        }
    }

    #[cfg(feature = "warc")]
    fn each_page(&self, pages: &[Record], wanted: PageText, selection: &mut Selection, each: Each) {
        let mut name = String::new();
        for Record { number: line, found, .. } in pages {
            let Some(number) = selection.next(Some(*line)) else { continue };
            let place = self.place(*line);
            let page = match found {
                Ok((head, block)) => {
                    let (head, block) = (&self.bytes[head.clone()], &self.bytes[block.clone()]);
                    warc::page(head, block, self.max_record, wanted, self.encoding)
                }
                Err(broken) => {
                    each(number, Err(Problem::at(place, Severity::Failed, broken.kind, broken.message.as_str())));
                    continue;
                }
            };
            let (severity, kind, message) = match page {
                None => continue,
                Some(Ok(page)) => {
                    let id = page.id.unwrap_or_else(|| self.name(*line, &mut name));
                    // Nobody converts an archive.
                    let (bytes, remedy) = (&[][..], Remedy::Convert);
                    let origin = Origin { place, id, bytes, remedy, keep_rejected: false, fell_back: page.fell_back };
                    emit(number, each, origin, unranked_file, page.content);
                    continue;
                }
                Some(Err(Trouble::Coding(coding))) => {
                    (Severity::Skipped, ProblemKind::Coding, format!("Content-Encoding '{coding}' is not read"))
                }
                Some(Err(Trouble::Damaged(message))) => (Severity::Failed, ProblemKind::Archive, message),
                Some(Err(Trouble::TooLong)) => {
                    let size = display_size(self.max_record);
                    let message = format!("longer than {size} when unpacked (allow more with `max-record`)");
                    (Severity::Failed, ProblemKind::TooLong, message)
                }
            };
            each(number, Err(Problem::at(place, severity, kind, message)));
        }
    }

    /// Where the text of a record comes from.
    fn origin<'r>(&self, line: u64, id: Cow<'r, str>, bytes: &'r [u8]) -> Origin<'r> {
        let remedy = Remedy::Name(self.encoding);
        Origin { place: self.place(line), id, bytes, remedy, keep_rejected: self.keep_rejected, fell_back: false }
    }

    /// A record that is not read.
    fn rejected(&self, line: u64, kind: ProblemKind, message: String, record: &[u8]) -> Problem {
        let record = self.keep_rejected.then(|| record.to_vec());
        Problem { record, ..Problem::at(self.place(line), Severity::Failed, kind, message) }
    }

    fn place(&self, line: u64) -> Place {
        Place { path: self.path.clone(), line: Some(line) }
    }

    /// The id of a record without one.
    fn name<'n>(&self, line: u64, buffer: &'n mut String) -> Cow<'n, str> {
        positional_id(&self.path, line, buffer)
    }
}

/// Where a text comes from.
struct Origin<'r> {
    place: Place,
    id: Cow<'r, str>,
    /// The bytes that it was decoded from, or that it is a part of; none if nothing can be done about them.
    bytes: &'r [u8],
    /// What can be done about them.
    remedy: Remedy,
    /// Whether a problem carries them.
    keep_rejected: bool,
    /// Whether it is a page that was read completely because no main text was found.
    fell_back: bool,
}

#[cfg(feature = "files")]
impl<'r> Origin<'r> {
    /// A file that is one document.
    fn whole(path: &'r Arc<str>, bytes: &'r [u8], remedy: Remedy) -> Self {
        let place = Place { path: path.clone(), line: None };
        Origin { place, id: Cow::Borrowed(path), bytes, remedy, keep_rejected: false, fell_back: false }
    }
}

/// Receives a field whose value does not rank its record, the value, and the number of the rule.
type Refuse<'f> = &'f mut dyn FnMut(&FieldPath, &str, usize);

/// The rank of documents that have no fields.
fn unranked_file(_: Refuse<'_>) -> Rank {
    Rank::default()
}

/// A document, after the problems that it was not read as it is; or the problem that its text cannot be compared.
fn emit(
    number: u32,
    each: Each,
    Origin { place, id, bytes, remedy, keep_rejected, fell_back }: Origin<'_>,
    rank: impl FnOnce(Refuse<'_>) -> Rank,
    decoded: Decoded,
) {
    if let Some(message) = decoded.loss(bytes, |bytes, is_guess| remedy.advice(bytes, is_guess)) {
        let is_own = place.line.is_some() && !place.names(&id);
        let id = is_own.then(|| id.into_owned());
        let record = keep_rejected.then(|| bytes.to_vec());
        let problem = Problem::at(place, Severity::Failed, ProblemKind::Encoding, message);
        return each(number, Err(Problem { id, record, ..problem }));
    }
    if fell_back {
        each(number, Err(without_main_text(place.clone())));
    }
    let rank = rank(&mut |field, value, rule| each(number, Err(unranked(place.clone(), field, value, rule))));
    if let Some(Repair { change, message, .. }) = decoded.repair {
        let kind = match change {
            Change::Replaced => ProblemKind::Replaced,
            Change::Guessed => ProblemKind::Decoded,
            Change::Incomplete => ProblemKind::Incomplete,
        };
        each(number, Err(Problem::at(place.clone(), Severity::Repaired, kind, message)));
    }
    each(number, Ok(Document { id, text: decoded.text, place, rank }));
}

/// The problem that all text of a page is read because its main text was not found.
fn without_main_text(place: Place) -> Problem {
    let message = "no main text found: all of its text was read";
    Problem::at(place, Severity::FellBack, ProblemKind::MainText, message)
}

/// The problem of a record that is longer than allowed.
pub(super) fn too_long(path: &str, line: u64, max_record: usize) -> Problem {
    let message = format!("record longer than {} (allow more with `max-record`)", display_size(max_record));
    Problem::new(Severity::Failed, ProblemKind::TooLong, path, Some(line), message)
}

/// The message for rows in an encoding in which the delimiter may be a part of a character. A file without some of its records is
/// cut before it is decoded, so even one that is decoded as a whole is refused. The encoding was named, or it was guessed.
#[cfg(feature = "files")]
pub(super) fn hidden_delimiter(encoding: &str, delimiter: u8, is_named: bool) -> String {
    let delimiter = char::from(delimiter);
    let advice = if is_named { "" } else { " (if it is in another encoding, name that with `encoding`)" };
    format!("in {encoding}, '{delimiter}' may be a part of a character: convert it to UTF-8 first{advice}")
}

/// Collects parts into batches, and passes each batch on when it is full.
#[cfg(feature = "files")]
pub(super) struct Assembler<'d> {
    deliver: &'d mut dyn FnMut(Batch) -> ControlFlow<()>,
    batch: Batch,
    size: usize,
    full: usize,
    /// The number of bytes read that are already assigned to a part.
    bytes_read: u64,
    /// The rank of the documents in the next parts.
    pub rank: Rank,
    /// What counts the documents of the next batches.
    pub tally: Option<Arc<Tally>>,
}

#[cfg(feature = "files")]
impl<'d> Assembler<'d> {
    pub fn new(options: &ReadOptions, deliver: &'d mut dyn FnMut(Batch) -> ControlFlow<()>) -> Self {
        Assembler {
            deliver,
            batch: Batch::default(),
            size: 0,
            full: options.batch_bytes,
            bytes_read: 0,
            rank: Rank::default(),
            tally: None,
        }
    }

    /// Adds a part. `bytes_read` is the total number of bytes read.
    pub fn push(&mut self, part: Part, bytes_read: u64) -> ControlFlow<()> {
        let size = part.size();
        if self.size + size > self.full && !self.batch.parts.is_empty() {
            // The bytes read for this part belong to it.
            self.flush(self.bytes_read)?;
        }
        self.batch.push_part(part, self.rank.clone());
        self.size += size;
        self.batch.bytes_read += bytes_read - self.bytes_read;
        self.bytes_read = bytes_read;
        if self.size >= self.full { self.flush(bytes_read) } else { ControlFlow::Continue(()) }
    }

    /// Passes on a part as a batch of its own. `bytes_read` is the total number of bytes read.
    #[cfg(feature = "parquet")]
    pub fn alone(&mut self, part: Part, bytes_read: u64) -> ControlFlow<()> {
        self.flush(self.bytes_read)?;
        self.batch.push_part(part, Rank::default());
        self.flush(bytes_read)
    }

    /// Passes on the current batch.
    pub fn flush(&mut self, bytes_read: u64) -> ControlFlow<()> {
        let mut batch = std::mem::take(&mut self.batch);
        batch.tally = self.tally.as_ref().map(Tally::numbered);
        batch.bytes_read += bytes_read - self.bytes_read;
        self.bytes_read = bytes_read;
        self.size = 0;
        if batch.parts.is_empty() && batch.bytes_read == 0 { ControlFlow::Continue(()) } else { (self.deliver)(batch) }
    }
}

#[cfg(all(test, feature = "files"))]
mod tests {
    use super::super::FieldPath;
    use super::*;

    /// Documents as `id|text`, problems as `severity place: message`.
    fn shown(part: Part) -> Vec<String> {
        let mut out = Vec::new();
        Batch::of_part(part).documents(&mut |result| {
            out.push(match result {
                Ok(document) => format!("{}|{}", document.id, document.text),
                Err(problem) => format!("{:?} {problem}", problem.severity),
            });
        });
        out
    }

    fn part_of(bytes: &[u8], max_record: usize) -> Records {
        Records {
            path: "f".into(),
            line: 7,
            bytes: bytes.to_vec(),
            max_record,
            keep_rejected: true,
            blank: Blank::OfFiles,
            encoding: None,
        }
    }

    fn json_fields() -> Arc<JsonFields> {
        Arc::new(JsonFields::new(&ReadOptions::default()))
    }

    #[test]
    fn header_rows_of_csv() {
        for line in ["id,text", "id\ttext\tdate_of-birth\r", "\"id\",\"text\"", "title;body", "_a,b.c"] {
            assert!(header_delimiter(line).is_some(), "{line}");
        }
        for line in ["", "text", "Hello, world", "Some words", "1,2", "id,", "{\"id\":1,\"text\":2}", "a,b c"] {
            assert!(header_delimiter(line).is_none(), "{line}");
        }
    }

    fn is_send<T: Send>() {}

    #[test]
    fn batches_go_to_any_thread() {
        is_send::<Batch>();
    }

    #[test]
    fn documents_in_memory() {
        let batch = Batch::from_documents(vec![("a".into(), "text".into()), ("b".into(), String::new())]);
        assert_eq!(batch.bytes_read(), 4);
        let mut places = Vec::new();
        batch.documents(&mut |document| places.push(document.unwrap().place.to_string()));
        assert_eq!(places, ["a", "b"]);
    }

    #[test]
    fn lines_are_named_by_their_number() {
        let lines = Part::Lines(part_of(b"one\r\n\ntoo long\ncaf\xe9\n", 7));
        let expected = [
            "f:7|one",
            "Failed f:9: record longer than 7 bytes (allow more with `max-record`)",
            "Repaired f:10: decoded as windows-1252",
            "f:10|café",
        ];
        assert_eq!(shown(lines), expected);
    }

    #[test]
    fn objects_with_and_without_id() {
        let lines = [
            &b"{\"text\":\"x\",\"id\":1}\n\n{\"text\":\"y\"}\n{\n{\"text\":\"z\xff\"}\n{\"text\":\"\xff\\ud83d"[..],
            "x".repeat(38).as_bytes(),
            b"\"}",
        ]
        .concat();
        let expected = [
            "1|x",
            "f:9|y",
            "Failed f:10: malformed JSON: EOF while parsing an object at column 1",
            "Repaired f:11: invalid UTF-8 at byte 10 replaced by U+FFFD",
            "f:11|z\u{fffd}",
            r"Repaired f:12: invalid UTF-8 at byte 9 replaced by U+FFFD; lone surrogate \ud83d replaced by U+FFFD",
            &format!("f:12|\u{fffd}\u{fffd}{}", "x".repeat(38)),
        ];
        assert_eq!(shown(Part::Jsonl(part_of(&lines, 100), json_fields())), expected);
    }

    #[test]
    fn a_text_of_which_much_is_not_utf8_is_refused() {
        let menu = "Home News Sport Login";
        let (text, ..) = encoding_rs::WINDOWS_1251.encode("Съешь же ещё этих мягких");
        let line = [format!(r#"{{"id":"a","text":"{menu} "#).as_bytes(), &text, br#""}"#].concat();
        // 20 letters in windows-1251, none of which is UTF-8 by accident, after 18 in ASCII.
        let message = "invalid UTF-8 in 20 places, the first at byte 40: 20 of 38 letters cannot be read \
                       (if all of the input is in windows-1251, read it with `encoding windows-1251`)";
        let problems = |part: Part| {
            let mut problems = Vec::new();
            Batch::of_part(part).documents(&mut |read| problems.push(read.expect_err("it is refused")));
            problems
        };
        let found = problems(Part::Jsonl(part_of(&line, 1000), json_fields()));
        assert_eq!(found.len(), 1);
        assert_eq!(
            (found[0].kind, found[0].severity, &*found[0].message),
            (ProblemKind::Encoding, Severity::Failed, message)
        );
        assert_eq!((found[0].id.as_deref(), found[0].record.as_deref()), (Some("a"), Some(&*line)));
        // A record without an id has none in its problem either.
        let nameless = [br#"{"text":""#, &*text, br#""}"#].concat();
        assert_eq!(problems(Part::Jsonl(part_of(&nameless, 1000), json_fields()))[0].id, None);
    }

    #[test]
    fn one_letter_in_twenty_may_be_replaced() {
        let json = |text: &[u8], more: &[u8]| {
            let line = [br#"{"text":""#, text, br#"""#, more, b"}"].concat();
            shown(Part::Jsonl(part_of(&line, 1000), json_fields()))
        };
        let is_refused = |found: Vec<String>| found.last().is_some_and(|last| last.starts_with("Failed "));
        let letters = |count: usize| "x1 ".repeat(count / 2) + if count % 2 == 1 { "y" } else { "" };
        for (damage, replaced) in
            [(&b"\xff"[..], 1), (b"\xff \xfe", 2), (br"\udcff", 1), (br"\udcff\udcfe!", 2), (b"\xff\\ud800", 2)]
        {
            // 19 others for each, or one less.
            for (others, expected) in [(19 * replaced, false), (19 * replaced - 1, replaced > 1)] {
                let text = [letters(others).as_bytes(), damage].concat();
                assert_eq!(is_refused(json(&text, b"")), expected, "{}", text.escape_ascii());
            }
        }
        // One is accepted in any text, and so is what stands in other fields or was U+FFFD before.
        assert!(!is_refused(json(b"\xff", b"")));
        assert!(!is_refused(json(b"x", b",\"title\":\"\xff\xff\xff\"")));
        assert!(!is_refused(json("\u{fffd}\u{fffd}\u{fffd}".as_bytes(), b"")));
        assert!(!is_refused(json("\u{fffd}\u{fffd}\u{fffd}\u{fffd}".as_bytes(), b",\"title\":\"\xff\"")));
    }

    #[test]
    fn damaged_text_of_other_formats_is_refused_too() {
        // Four well-formed characters for each ill-formed one are UTF-8 with damage.
        let damaged = ["é".repeat(8).as_bytes(), b"\xff \xff"].concat();
        let message = "invalid UTF-8 in 2 places, the first at byte 16: 2 of 10 letters cannot be read \
                       (if all of the input is in another encoding, name that with `encoding`)";
        let at_line = [format!("Failed f:7: {message}")];
        assert_eq!(shown(Part::Lines(part_of(&damaged, 100))), at_line);
        let columns = Columns::find(b',', b"text,id", &ReadOptions::default()).unwrap();
        let row = [&damaged[..], b",a"].concat();
        assert_eq!(shown(Part::Csv(part_of(&row, 100), columns, None)), at_line);
        assert_eq!(
            shown(Part::Text { path: "f".into(), bytes: damaged, encoding: None }),
            [format!("Failed f: {message}")]
        );
    }

    fn named(label: &str) -> Option<Encoding> {
        Some(Encoding::by_label("encoding", label).unwrap())
    }

    /// Bytes by the tables of the standard: in Shift_JIS, 0x83 0x65 is テ, and 0x83 0x5C, with the byte of a backslash, ソ.
    #[test]
    fn records_are_decoded_by_the_named_encoding() {
        let of = |label: &str, bytes: &[u8]| Records { encoding: named(label), ..part_of(bytes, 100) };
        assert_eq!(
            shown(Part::Lines(of("latin1", b"caf\xe9\n\xe9\r\n\xef\xbb\xbf\xc3\xa9"))),
            ["f:7|café", "f:8|é", "f:9|Ã©"]
        );
        let json = b"{\"id\":\"\x83\x5c\",\"text\":\"\x83\x65\\u30bd\x83\x5c\"}";
        assert_eq!(shown(Part::Jsonl(of("shift_jis", json), json_fields())), ["ソ|テソソ"]);
        let columns = Columns::find(b',', b"text,id", &ReadOptions::default()).unwrap();
        let rows = b"\"\x83\x5c, \"\"\x83\x65\"\"\",\x83\x65\n\x83\x65\nx\x81\xff,\x81\xff";
        let expected = [
            "テ|ソ, \"テ\"",
            "f:8|テ",
            "Repaired f:9: invalid Shift_JIS replaced by U+FFFD",
            "\u{fffd}\u{fffd}|x\u{fffd}\u{fffd}",
        ];
        assert_eq!(shown(Part::Csv(of("shift_jis", rows), columns.clone(), None))[..2], expected[..2]);
        // Damage in other fields than the text is not reported.
        let rows = b"text,\xfc\xfc\n\xe9 a b c,x";
        assert_eq!(shown(Part::Csv(of("shift_jis", rows), columns.clone(), None)).len(), 3);
        // Nothing is guessed.
        let lines = b"caf\xe9 noir";
        assert_eq!(
            shown(Part::Lines(of("utf-8", lines))),
            ["Repaired f:7: invalid UTF-8 at byte 3 replaced by U+FFFD", "f:7|caf\u{fffd} noir"]
        );
        assert_eq!(
            shown(Part::Csv(of("utf-8", lines), columns, None)),
            ["Repaired f:7: invalid UTF-8 at byte 3 replaced by U+FFFD", "f:7|caf\u{fffd} noir"]
        );
    }

    #[test]
    fn a_text_that_is_not_in_the_named_encoding_is_refused() {
        let of = |label: &str, bytes: &[u8]| Records { encoding: named(label), ..part_of(bytes, 100) };
        // 0xFC 0xFC is no character of Shift_JIS.
        let damaged = b"a b c\xfc\xfc\xfc\xfc";
        let message = "invalid Shift_JIS: 2 of 5 letters cannot be read";
        let found = shown(Part::Lines(of("shift_jis", damaged)));
        assert_eq!(found.len(), 1);
        assert!(found[0].starts_with(&format!("Failed f:7: {message} (")), "{found:?}");
        assert!(found[0].contains("`encoding"), "{found:?}");
        // à is 0xC3 0xA0 in UTF-8. EUC-JP has no such character.
        let found = shown(Part::Lines(of("euc-jp", "à à à à".as_bytes())));
        assert!(found[0].ends_with(" (if all of the input is in UTF-8, read it with `encoding UTF-8`)"), "{found:?}");
    }

    #[test]
    fn ids_of_other_bytes_differ_in_the_named_encoding() {
        let lines = b"{\"id\":\"\x83\x65\xfc\xfc\",\"text\":\"x\"}\n{\"id\":\"\x83\x65\xfc\xfd\",\"text\":\"x\"}";
        let records = Records { encoding: named("shift_jis"), ..part_of(lines, 100) };
        let ids: Vec<String> = shown(Part::Jsonl(records, json_fields()))
            .into_iter()
            .filter_map(|line| line.split_once('|').map(|(id, _)| id.to_string()))
            .collect();
        assert_eq!(ids, [r"テ\udcfc\udcfc", r"テ\udcfc\udcfd"]);
    }

    #[test]
    fn ids_of_other_bytes_differ() {
        let lines = b"{\"id\":\"caf\xe9\",\"text\":\"x\"}\n{\"id\":\"caf\xe8\",\"text\":\"x\"}\n{\"id\":\"\xef\xbf\xbd\",\"text\":\"x\xff\"}";
        let ids: Vec<String> = shown(Part::Jsonl(part_of(lines, 100), json_fields()))
            .into_iter()
            .filter_map(|line| line.split_once('|').map(|(id, _)| id.to_string()))
            .collect();
        assert_eq!(ids, [r"caf\udce9", r"caf\udce8", "\u{fffd}"]);
    }

    #[test]
    fn an_empty_id_is_none() {
        let lines = b"{\"id\":\"\",\"text\":\"x\"}\n{\"text\":\"\\n\",\"id\":\"\"}";
        assert_eq!(shown(Part::Jsonl(part_of(lines, 100), json_fields())), ["f:7|x", "f:8|\n"]);
    }

    #[test]
    fn a_long_object() {
        let expected = [
            "Failed f:7: record longer than 5 bytes (allow more with `max-record`)",
            "Failed f:8: malformed JSON: EOF while parsing an object at column 1",
        ];
        assert_eq!(shown(Part::Jsonl(part_of(b"{\"text\":\"x\"}\n{", 5), json_fields())), expected);
    }

    #[test]
    fn rows_with_too_few_fields_and_without_id() {
        let options = ReadOptions { text_fields: FieldPath::parse("", "b").unwrap().into(), ..ReadOptions::default() };
        let columns = Columns::find(b',', b"a,b,id,d", &options).unwrap();
        let rows = part_of(b"a,\"x\ny\",1\nb\n\nc,z\nd,w,\ne,v,2,more\nf,longer than the limit,3", 20);
        let expected = [
            "1|x\ny",
            "Failed f:9: 1 field, and the text should be in field 2",
            "f:11|z",
            "f:12|w",
            "2|v",
            "Failed f:14: record longer than 20 bytes (allow more with `max-record`)",
        ];
        assert_eq!(shown(Part::Csv(rows, columns, None)), expected);
    }

    #[test]
    fn small_parts_share_a_batch_and_bytes_add_up() {
        let mut batches = Vec::new();
        let mut deliver = |batch: Batch| {
            batches.push((batch.parts.len(), batch.bytes_read));
            ControlFlow::Continue(())
        };
        let options = ReadOptions { batch_bytes: 10 * PART_COST, ..ReadOptions::default() };
        let mut assembler = Assembler::new(&options, &mut deliver);
        let part = |size| Part::Text { path: "f".into(), bytes: vec![b'x'; size], encoding: None };
        for n in 1..=12 {
            _ = assembler.push(part(0), n * 10);
        }
        _ = assembler.push(part(100_000), 200);
        _ = assembler.push(part(0), 201);
        _ = assembler.flush(210);
        _ = assembler.flush(210);
        assert_eq!(batches, [(10, 100), (2, 20), (1, 80), (1, 10)]);
    }
}
