//! One file: its format, and its pieces.

use std::cell::Cell;
#[cfg(feature = "parquet")]
use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs;
use std::io::{ErrorKind, Read};
use std::ops::ControlFlow;
use std::path::Path;
use std::rc::Rc;
use std::sync::{Arc, OnceLock};

use memchr::memchr_iter;

use super::batch::{Assembler, JsonFields, Part, Records, header_delimiter, hidden_delimiter, too_long};
use super::csv::{Columns, RecordCut, records};
use super::cut::{Cut, Cutter, LineCut, Piece};
use super::label::{has_mark, start_as_utf8, utf16};
use super::lines::Blank;
use super::opaque::{is_document, opaque};
use super::options::{PARQUET_MAGIC, WARC_MAGIC};
#[cfg(feature = "parquet")]
use super::parquet;
use super::program::Job;
use super::reader::Reader;
use super::tally::Tally;
#[cfg(feature = "warc")]
use super::warc::{self, Archive};
use super::{Batch, Counts, Encoding, Format, Problem, ProblemKind, Rank, ReadOptions, Severity, compression, decode};
use crate::readable::display_size;

/// A NUL among this many first bytes makes a file binary.
const BINARY_BYTES: usize = 8 << 10;

/// One reading of the input, file by file.
pub(super) struct Pass<'a> {
    options: &'a ReadOptions,
    fields: Arc<JsonFields>,
    /// The number of bytes read; compressed input counts compressed.
    bytes_read: Rc<Cell<u64>>,
    assembler: Assembler<'a>,
    /// The encoding of the records of the current file, if it is named.
    encoding: Option<Encoding>,
    /// What was found in the columns of Parquet files that are not read, if they are checked.
    #[cfg_attr(not(feature = "parquet"), allow(dead_code, reason = "no other format has columns that are not read"))]
    checked: Option<&'a mut Checked>,
}

/// What earlier readings found in the columns that are not read, by the path of their file. A later one repeats it.
#[cfg(feature = "parquet")]
pub(super) type Checked = HashMap<Arc<str>, Vec<parquet::Outcome>>;
#[cfg(not(feature = "parquet"))]
#[derive(Default)]
pub(super) struct Checked {}

/// A file to read.
pub(super) struct File<'a> {
    /// The path in messages and ids.
    pub path: &'a str,
    /// The name that determines the format; standard input has none.
    pub name: Option<&'a OsStr>,
    /// Its size, if known.
    pub size: Option<u64>,
    /// The same file for formats that are read with random access; `None` if it can only be read once from the start.
    #[cfg_attr(not(feature = "parquet"), allow(dead_code, reason = "no other format needs it"))]
    pub random_access: Option<&'a fs::File>,
}

impl<'a> Pass<'a> {
    /// `fields` are those of JSON lines that the options name. With `checked`, columns that are not read are checked.
    pub fn new(
        options: &'a ReadOptions,
        fields: Arc<JsonFields>,
        checked: Option<&'a mut Checked>,
        deliver: &'a mut dyn FnMut(Batch) -> ControlFlow<()>,
    ) -> Self {
        let assembler = Assembler::new(options, deliver);
        Pass { options, fields, bytes_read: Rc::default(), assembler, encoding: None, checked }
    }

    /// Passes on the pending batch. What follows counts for this tally.
    pub fn begin_tally(&mut self, tally: &Arc<Tally>) -> ControlFlow<()> {
        let passed = self.finish();
        self.assembler.tally = Some(Arc::clone(tally));
        passed
    }

    /// Passes on the pending batch.
    pub fn finish(&mut self) -> ControlFlow<()> {
        self.assembler.flush(self.bytes_read.get())
    }

    pub fn problem(&mut self, problem: Problem) -> ControlFlow<()> {
        self.push(Part::Problem(problem))
    }

    pub fn fail(
        &mut self,
        kind: ProblemKind,
        path: &str,
        line: Option<u64>,
        message: impl Into<String>,
    ) -> ControlFlow<()> {
        self.problem(Problem::new(Severity::Failed, kind, path, line, message))
    }

    fn push(&mut self, part: Part) -> ControlFlow<()> {
        self.assembler.push(part, self.bytes_read.get())
    }

    /// Reads a file of any format.
    pub fn read(&mut self, file: &File, raw: impl Read, counts: &mut Counts) -> ControlFlow<()> {
        let before = self.bytes_read.get();
        let outcome = self.read_contents(file, raw, counts);
        // The bytes of a file that was abandoned count as read, so that the total is reached.
        let end = before + file.size.unwrap_or(0);
        self.bytes_read.set(self.bytes_read.get().max(end));
        outcome
    }

    /// How a file is read through a program, if it is.
    pub fn job(&self, path: &Path, size: u64) -> Option<Job> {
        let program = self.options.program_for(path)?;
        let max_output = self.options.max_record;
        let (program, outcome) = (Arc::clone(program), OnceLock::new());
        Some(Job { program, path: path.to_path_buf(), size, max_output, outcome })
    }

    /// Reads a file through a program, later and on any thread. Programs take long, so each file is a batch of its own.
    pub fn read_through(&mut self, file: &File, job: Job, counts: &mut Counts) -> ControlFlow<()> {
        counts.files += 1;
        counts.fieldless += 1;
        self.assembler.rank = self.rank(file, Format::Text);
        self.bytes_read.set(self.bytes_read.get() + job.size);
        self.push(Part::Program { path: file.path.into(), job })?;
        self.assembler.flush(self.bytes_read.get())
    }

    /// The rank of the documents of a file, in addition to their own.
    fn rank(&self, file: &File, format: Format) -> Rank {
        let ranking = &self.options.ranking;
        if ranking.is_empty() {
            return Rank::default();
        }
        let metadata = file.random_access.and_then(|file| file.metadata().ok());
        ranking.of_file(file.path, metadata.as_ref(), has_fields(format))
    }

    fn read_contents(&mut self, file: &File, raw: impl Read, counts: &mut Counts) -> ControlFlow<()> {
        #[cfg(feature = "parquet")]
        let before = self.bytes_read.get();
        let mut reader = match Reader::of(raw, self.bytes_read.clone(), self.options) {
            Ok(reader) => reader,
            Err(error) => {
                let kind = match error.kind() {
                    ErrorKind::Unsupported => ProblemKind::Unreadable,
                    _ => ProblemKind::Damaged,
                };
                return self.fail(kind, file.path, None, error.to_string());
            }
        };
        fill_head(&mut reader, file.name, file.size, self.options);
        let format = format(self.options, file.name, &reader.head);
        if let Some(what) = no_text(&reader.head, format, self.options.encoding) {
            let what = match reader.head.starts_with(PARQUET_MAGIC) && self.options.format != Format::Auto {
                true => {
                    &*format!("Parquet file: leave the format out (it is not read with `format {}`)", format.name())
                }
                false => what,
            };
            counts.binary += 1;
            let kind = match is_document(&reader.head, file.name) {
                true => ProblemKind::NeedsProgram,
                false => ProblemKind::NotText,
            };
            return self.problem(Problem::new(Severity::Skipped, kind, file.path, None, what));
        }
        if self.options.format == Format::Auto
            && format == Format::Text
            && is_json_array(file.name, &reader.head, self.options.encoding)
        {
            let what = "JSON array of objects, not one object per line";
            return self.problem(Problem::new(Severity::Skipped, ProblemKind::JsonArray, file.path, None, what));
        }
        if let Some(feature) = format.missing_feature() {
            let message = format!("{}, which is only read by programs built with the feature {feature}", format.name());
            return self.fail(ProblemKind::Unreadable, file.path, None, message);
        }
        counts.files += 1;
        counts.fieldless += u64::from(!has_fields(format));
        self.assembler.rank = self.rank(file, format);
        let encoding = self.options.encoding;
        self.encoding = encoding;
        match format {
            // Empty standard input is not a document, while an empty file is one.
            Format::Auto if reader.failure.is_none() => ControlFlow::Continue(()),
            Format::Auto | Format::Text => {
                self.read_whole(file.path, reader, |path, bytes| Part::Text { path: path.into(), bytes, encoding })
            }
            #[cfg(feature = "html")]
            Format::Html => {
                let wanted = self.options.page_text;
                self.read_whole(file.path, reader, |path, bytes| Part::Html {
                    path: path.into(),
                    bytes,
                    encoding,
                    wanted,
                })
            }
            #[cfg(feature = "warc")]
            Format::Warc => self.read_archive(file.path, reader, counts),
            Format::Lines => self.read_records(file.path, reader, true, LineCut, Part::Lines),
            Format::Jsonl => {
                let fields = self.fields.clone();
                let part = |records| Part::Jsonl(records, fields.clone());
                self.read_records(file.path, reader, false, LineCut, part)
            }
            Format::Csv | Format::Tsv => {
                self.read_csv(file.path, reader, self.options.delimiter(format).unwrap_or(b','))
            }
            #[cfg(feature = "parquet")]
            Format::Parquet => self.read_parquet(file, &reader.head, before),
            #[cfg(not(all(feature = "html", feature = "warc", feature = "parquet")))]
            _ => unreachable!("formats of missing features are refused"),
        }
    }

    fn read_whole(&mut self, path: &str, mut reader: Reader, part: impl Fn(&str, Vec<u8>) -> Part) -> ControlFlow<()> {
        let mut bytes = std::mem::take(&mut reader.head);
        // One byte beyond the limit shows that the file is too long.
        let room = self.options.max_record.saturating_add(1).saturating_sub(bytes.len());
        reader.fill(&mut bytes, room);
        if bytes.len() > self.options.max_record {
            let size = display_size(self.options.max_record);
            return self.fail(
                ProblemKind::TooLong,
                path,
                None,
                format!("document longer than {size} (allow more with `max-record`)"),
            );
        }
        match reader.failure {
            Some(error) => self.fail(ProblemKind::Damaged, path, None, error.to_string()),
            None => self.push(part(path, bytes)),
        }
    }

    #[cfg(feature = "warc")]
    fn read_archive(&mut self, path: &str, reader: Reader, counts: &mut Counts) -> ControlFlow<()> {
        let mut archive = Archive::new(reader, self.options.batch_bytes, self.options.max_record);
        while let Some(warc::Piece { bytes, records: pages }) = archive.next() {
            let records = self.records(path, 0, bytes);
            self.push(Part::Warc(records, pages, self.options.page_text))?;
        }
        counts.textless += archive.textless;
        ControlFlow::Continue(())
    }

    fn read_records<C: Cut>(
        &mut self,
        path: &str,
        reader: Reader,
        guess: bool,
        cut: C,
        part: impl Fn(Records) -> Part,
    ) -> ControlFlow<()> {
        let (reader, encoding) = self.decoded(path, reader, guess)?;
        let mut cutter = Cutter::new(reader, cut, self.options.batch_bytes, self.options.max_record);
        self.drain(path, &mut cutter, part)?;
        self.report(path, &encoding)
    }

    fn read_csv(&mut self, path: &str, reader: Reader, delimiter: u8) -> ControlFlow<()> {
        let (reader, encoding) = self.decoded(path, reader, true)?;
        let named = self.encoding.map(Encoding::inner);
        let in_doubt = named.or_else(|| encoding.as_ref().map(|transcoded| transcoded.encoding));
        if let Some(encoding) = in_doubt.filter(|encoding| decode::may_end_character(encoding, delimiter)) {
            let message = hidden_delimiter(encoding.name(), delimiter, named.is_some());
            return self.fail(ProblemKind::Unreadable, path, None, message);
        }
        let cut = RecordCut::new(delimiter);
        let mut cutter = Cutter::new(reader, cut, self.options.batch_bytes, self.options.max_record);
        cutter.skip_blank_lines();
        let columns = match cutter.next_record() {
            None => return ControlFlow::Continue(()),
            Some(Piece::Records { line, bytes }) => match records(delimiter, line, &bytes).next() {
                None => return ControlFlow::Continue(()),
                Some((line, header)) if header.len() > self.options.max_record => {
                    return self.problem(too_long(path, line, self.options.max_record));
                }
                Some((_, header)) => {
                    let decoded = self.encoding.map(|encoding| encoding.decode(header).text);
                    let header = decoded.as_ref().map_or(header, |header| header.as_bytes());
                    Columns::find(delimiter, header, self.options)
                }
            },
            Some(other) => return self.piece(path, other, &Part::Lines),
        };
        match columns {
            Ok(columns) => {
                self.fields.fields.found_but(&columns.missing);
                self.note_columns(path, ProblemKind::RepeatedColumn, &columns.repeated)?;
                let lacking = self.fields.reading.as_ref().map(|reading| reading.of_table(&columns.missing));
                self.drain(path, &mut cutter, |records| Part::Csv(records, columns.clone(), lacking.clone()))?;
            }
            Err(message) => return self.fail(ProblemKind::Header, path, None, message),
        }
        self.report(path, &encoding)
    }

    /// Reports what these messages say about the columns of a file.
    fn note_columns(&mut self, path: &str, kind: ProblemKind, messages: &[String]) -> ControlFlow<()> {
        messages
            .iter()
            .try_for_each(|message| self.problem(Problem::new(Severity::Repaired, kind, path, None, message.clone())))
    }

    /// Reads the rows of a Parquet file, of which the beginning was read to recognise it. `before` is the number of bytes
    /// read before that.
    #[cfg(feature = "parquet")]
    fn read_parquet(&mut self, file: &File, beginning: &[u8], before: u64) -> ControlFlow<()> {
        let refused = |message: &str| Err(parquet::Fault { kind: ProblemKind::Unreadable, message: message.into() });
        let opened = match (parquet::is_parquet(beginning), file.random_access) {
            (false, _) => refused("not a Parquet file: it does not begin with PAR1"),
            (true, None) => {
                refused("Parquet must be in a file on disk, not in standard input or a pipe: write it to a file first")
            }
            (true, Some(on_disk)) => parquet::File::open(on_disk, self.options, self.checked.is_some()),
        };
        let mut rows = match opened {
            Ok(rows) => rows,
            Err(fault) => return self.fail(fault.kind, file.path, None, fault.message),
        };
        self.fields.fields.found_but(rows.missing());
        self.note_columns(file.path, ProblemKind::MissingColumn, rows.unchosen())?;
        self.note_columns(file.path, ProblemKind::RepeatedColumn, rows.repeated())?;
        for message in rows.unranked() {
            self.fail(ProblemKind::Rank, file.path, None, message.to_string())?;
        }
        let (max_record, pages) = (self.options.max_record, self.options.field_pages());
        let path: Arc<str> = file.path.into();
        let known = self.checked.as_ref().and_then(|checked| checked.get(&path).cloned());
        let mut outcomes = Vec::new();
        let lacking = self.fields.reading.as_ref().map(|reading| reading.of_table(rows.missing()));
        if known.is_some() {
            rows.leave_out_checks();
        }
        while let Some(piece) = rows.next() {
            let read = before + rows.bytes_read().min(file.size.unwrap_or(u64::MAX));
            self.bytes_read.set(self.bytes_read.get().max(read));
            match piece {
                // Each part has its own copy of the path, because threads would contend for one reference count.
                parquet::Piece::Rows(rows) => {
                    let (path, lacking) = (file.path.into(), lacking.clone());
                    self.push(Part::Parquet { path, rows: *rows, max_record, pages, lacking })?;
                }
                parquet::Piece::Broken { row, rows, fault } => {
                    let problem = Problem::new(Severity::Failed, fault.kind, file.path, Some(row), fault.message);
                    self.problem(Problem { records: rows, ..problem })?;
                }
                parquet::Piece::Checks(checks) => {
                    outcomes.push(Arc::clone(checks.outcome()));
                    self.check(&path, checks)?;
                }
            }
        }
        match (known, &mut self.checked) {
            // The batches are those of the first reading, so that they have the same numbers.
            (Some(known), _) => known.iter().try_for_each(|outcome| self.check(&path, parquet::Checks::again(outcome))),
            (None, Some(checked)) => {
                checked.insert(path, outcomes);
                ControlFlow::Continue(())
            }
            (None, None) => ControlFlow::Continue(()),
        }
    }

    #[cfg(feature = "parquet")]
    fn check(&mut self, path: &Arc<str>, checks: parquet::Checks) -> ControlFlow<()> {
        self.assembler.alone(Part::Checks { path: Arc::clone(path), checks }, self.bytes_read.get())
    }

    fn drain<C: Cut>(&mut self, path: &str, cutter: &mut Cutter<C>, part: impl Fn(Records) -> Part) -> ControlFlow<()> {
        while let Some(piece) = cutter.next() {
            self.piece(path, piece, &part)?;
        }
        ControlFlow::Continue(())
    }

    fn piece(&mut self, path: &str, piece: Piece, part: &impl Fn(Records) -> Part) -> ControlFlow<()> {
        let max_record = self.options.max_record;
        match piece {
            // Each part has its own copy of the path, because threads would contend for one reference count.
            Piece::Records { line, bytes } => self.push(part(self.records(path, line, bytes))),
            Piece::TooLong { line } => self.problem(too_long(path, line, max_record)),
            Piece::Unclosed { line } => {
                let message =
                    "a quote in the record that starts here is never closed: it and everything after it were not read";
                self.fail(ProblemKind::Damaged, path, Some(line), message)
            }
            Piece::Broken { line, error } => self.fail(ProblemKind::Damaged, path, Some(line), error.to_string()),
        }
    }

    fn records(&self, path: &str, line: u64, bytes: Vec<u8>) -> Records {
        let ReadOptions { max_record, keep_rejected, .. } = *self.options;
        let (blank, encoding) = (Blank::OfFiles, self.encoding);
        Records { path: path.into(), line, bytes, max_record, keep_rejected, blank, encoding }
    }

    /// A stream of records as UTF-8, or in the encoding that is named, in which each record is decoded. Only UTF-16 is detected by
    /// a mark, or decoded here if it is named; other encodings are guessed from the start of the stream if `guess` and none is
    /// named. Invalid bytes further on are handled in each record.
    fn decoded<'r>(
        &mut self,
        path: &str,
        mut reader: Reader<'r>,
        guess: bool,
    ) -> ControlFlow<(), (Reader<'r>, Option<Transcoded>)> {
        let known = utf16(&reader.head, self.options.encoding);
        self.encoding = match self.options.encoding {
            Some(named) if known.is_some() || has_mark(&reader.head) => Some(named.marked_utf8()),
            named => named,
        };
        let guesses = guess && self.encoding.is_none();
        let guessed = || if guesses { decode::legacy_encoding_of_stream(&reader.head) } else { None };
        let Some(encoding) = known.or_else(guessed) else {
            let mark = reader.head.len() - decode::without_utf8_mark(&reader.head).len();
            reader.head.drain(..mark);
            return ControlFlow::Continue((reader, None));
        };
        if known.is_none() {
            let message = format!("decoded as {}", encoding.name());
            self.problem(Problem::new(Severity::Repaired, ProblemKind::Decoded, path, None, message))?;
        }
        let damaged = Rc::new(Cell::new(false));
        let reader = reader.map(|inner| decode::Transcoder::new(inner, encoding, damaged.clone()));
        ControlFlow::Continue((reader, Some(Transcoded { encoding, damaged })))
    }

    /// Reports that bytes were replaced.
    fn report(&mut self, path: &str, encoding: &Option<Transcoded>) -> ControlFlow<()> {
        match encoding {
            Some(Transcoded { encoding, damaged }) if damaged.get() => {
                let message = format!("invalid {} replaced by U+FFFD", encoding.name());
                self.problem(Problem::new(Severity::Repaired, ProblemKind::Replaced, path, None, message))
            }
            _ => ControlFlow::Continue(()),
        }
    }
}

/// The encoding of a stream, and whether it has had ill-formed bytes so far.
struct Transcoded {
    encoding: &'static encoding_rs::Encoding,
    damaged: Rc<Cell<bool>>,
}

/// The kind of a file that is not text, and advice. Records of JSON or of columns may hold anything.
fn no_text(head: &[u8], format: Format, named: Option<Encoding>) -> Option<&'static str> {
    match format {
        Format::Jsonl | Format::Warc | Format::Parquet => None,
        Format::Csv | Format::Tsv => opaque(head),
        Format::Text | Format::Lines | Format::Html | Format::Auto => {
            opaque(head).or_else(|| is_binary(head, format, named).then_some("binary file"))
        }
    }
}

/// Whether the documents of a format are records with fields.
fn has_fields(format: Format) -> bool {
    matches!(format, Format::Jsonl | Format::Csv | Format::Tsv | Format::Parquet)
}

/// Whether a file is binary. In a stream of records, a stray NUL affects one record; the others should still be read.
fn is_binary(head: &[u8], format: Format, named: Option<Encoding>) -> bool {
    let start = &head[..head.len().min(BINARY_BYTES)];
    let few = match format {
        Format::Jsonl | Format::Csv | Format::Tsv | Format::Warc | Format::Parquet => return false,
        Format::Lines => start.len() / 64,
        Format::Text | Format::Html | Format::Auto => 0,
    };
    utf16(head, named).is_none() && memchr_iter(0, start).count() > few
}

/// Reads the start of a file, by which its [`format`] is known: of a file of JSON, the first line, however long, and a
/// beginning of the next one.
pub(super) fn fill_head(reader: &mut Reader, name: Option<&OsStr>, size: Option<u64>, options: &ReadOptions) {
    reader.fill_head(size);
    if options.format != Format::Auto || name.and_then(extension).as_deref() != Some("json") {
        return;
    }
    while is_first_line(&reader.head) && !reader.is_ended() && reader.head.len() < options.max_record {
        let mut head = std::mem::take(&mut reader.head);
        let more = head.len();
        reader.fill(&mut head, more);
        reader.head = head;
    }
}

/// The names of the fields of the first records of a file, for a message; `None` if its records have no fields, or they cannot be
/// read.
pub(super) fn field_names(file: &File, raw: impl Read, options: &ReadOptions) -> Option<String> {
    let mut reader = Reader::of(raw, Rc::default(), options).ok()?;
    fill_head(&mut reader, file.name, file.size, options);
    let format = format(options, file.name, &reader.head);
    if !has_fields(format) {
        return None;
    }
    #[cfg(feature = "parquet")]
    if format == Format::Parquet {
        return parquet::column_names(file.random_access?, options);
    }
    let mut head = std::mem::take(&mut reader.head);
    while !head.contains(&b'\n') && !reader.is_ended() && head.len() < options.max_record {
        let more = head.len().max(1);
        reader.fill(&mut head, more);
    }
    let head = start_as_utf8(&head, options.encoding);
    match options.delimiter(format) {
        None => super::jsonl::field_names_of_lines(&String::from_utf8_lossy(&head)),
        Some(delimiter) => {
            let (_, header) = records(delimiter, 1, &head).next()?;
            Some(super::csv::column_names(delimiter, header))
        }
    }
}

/// Whether nothing follows a first line that begins as an object, so far.
fn is_first_line(head: &[u8]) -> bool {
    let text = decode::without_utf8_mark(head).trim_ascii_start();
    let rest = memchr::memchr(b'\n', text).map_or(&[][..], |end| &text[end..]);
    text.starts_with(b"{") && rest.trim_ascii_start().is_empty()
}

/// The format of a file with this name and this start, if the options do not decide; [`Format::Auto`] if it has no name
/// and is empty.
pub(super) fn format(options: &ReadOptions, name: Option<&OsStr>, head: &[u8]) -> Format {
    match (options.format, name.and_then(format_by_name)) {
        // JSON lines are often named so, too.
        (Format::Auto, Some(Format::Text)) if name.and_then(extension).as_deref() == Some("json") => {
            let named = options.encoding.filter(|named| !named.is_utf16());
            if has_json_lines(head, named) { Format::Jsonl } else { Format::Text }
        }
        (Format::Auto, Some(format)) => format,
        (Format::Auto, None) if head.is_empty() && name.is_none() => Format::Auto,
        (Format::Auto, None) => format_by_content(head, options),
        (format, _) => format,
    }
}

/// The extension of a file name in lower case, without that of the compression.
fn extension(name: &OsStr) -> Option<String> {
    let name = Path::new(name);
    let extension = |name: &Path| name.extension().map(|extension| extension.to_string_lossy().to_ascii_lowercase());
    let last = extension(name)?;
    match compression::EXTENSIONS.contains(&&*last) {
        true => extension(Path::new(name.file_stem()?)),
        false => Some(last),
    }
}

/// Whether the first line is a whole JSON object, and another one begins after it.
fn has_json_lines(head: &[u8], named: Option<Encoding>) -> bool {
    let decoded = named.map(|named| start_as_utf8(head, Some(named)));
    let text = decoded.as_deref().unwrap_or_else(|| decode::without_utf8_mark(head)).trim_ascii_start();
    let Some(end) = memchr::memchr(b'\n', text).filter(|_| text.starts_with(b"{")) else { return false };
    let (line, rest) = text.split_at(end);
    rest.trim_ascii_start().starts_with(b"{") && super::jsonl::is_json(line)
}

/// Whether a file of JSON, or of no kind by its name, begins as an array of objects: up to the end of the first one, if
/// that is in these bytes.
fn is_json_array(name: Option<&OsStr>, head: &[u8], named: Option<Encoding>) -> bool {
    if name.and_then(extension).is_some_and(|extension| extension != "json") {
        return false;
    }
    let head = start_as_utf8(head, named);
    let Some(first) = head.trim_ascii_start().strip_prefix(b"[").map(<[u8]>::trim_ascii_start) else { return false };
    if !first.starts_with(b"{") {
        return false;
    }
    let mut objects = serde_json::Deserializer::from_slice(first).into_iter::<serde_core::de::IgnoredAny>();
    match objects.next() {
        Some(Ok(_)) => {
            let after = first[objects.byte_offset()..].trim_ascii_start();
            matches!(after.first(), None | Some(b',' | b']'))
        }
        Some(Err(error)) => error.is_eof(),
        None => false,
    }
}

/// The format by the extension of a file name, without that of the compression.
fn format_by_name(name: &OsStr) -> Option<Format> {
    Some(match &*extension(name)? {
        "jsonl" | "ndjson" => Format::Jsonl,
        "csv" => Format::Csv,
        "tsv" => Format::Tsv,
        "html" | "htm" | "xhtml" => Format::Html,
        "warc" | "wet" => Format::Warc,
        "parquet" | "parq" | "pq" => Format::Parquet,
        _ => Format::Text,
    })
}

/// The format by content: JSON lines if the first line begins like a JSON object, an archive, a page or Parquet if the
/// content identifies itself as such, CSV or TSV if the first line is a row of names with a field of texts, else text.
fn format_by_content(head: &[u8], options: &ReadOptions) -> Format {
    let text = start_as_utf8(head, options.encoding);
    let text = text.trim_ascii_start();
    let begins = |with: &str| text.get(..with.len()).is_some_and(|start| start.eq_ignore_ascii_case(with.as_bytes()));
    if text.starts_with(WARC_MAGIC) {
        return Format::Warc;
    }
    if head.starts_with(PARQUET_MAGIC) {
        return Format::Parquet;
    }
    if begins("<!doctype html") || begins("<html") {
        return Format::Html;
    }
    let object = text.strip_prefix(b"{");
    let inside = object.map(|inside| inside.iter().find(|byte| !matches!(byte, b' ' | b'\t')));
    match inside {
        Some(Some(b'"' | b'}')) => Format::Jsonl,
        _ => table_by_header(text, options).unwrap_or(Format::Text),
    }
}

/// The format of a table, if the first of several lines is a row of names, among them that of a field of texts.
fn table_by_header(text: &[u8], options: &ReadOptions) -> Option<Format> {
    let end = memchr::memchr(b'\n', text)?;
    let (line, rest) = text.split_at(end);
    let line = std::str::from_utf8(line).ok().filter(|_| !rest.trim_ascii().is_empty())?;
    let delimiter = header_delimiter(line)?;
    let mut names = line.trim_end().split(char::from(delimiter)).map(|name| name.trim_matches('"'));
    if !names.any(|name| options.text_fields.paths().any(|path| path.name() == name)) {
        return None;
    }
    match delimiter {
        b',' => Some(Format::Csv),
        b'\t' => Some(Format::Tsv),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_by_name() {
        for (name, format) in [
            ("a.jsonl", Some(Format::Jsonl)),
            ("a.NDJSON.gz", Some(Format::Jsonl)),
            ("a.csv.zst", Some(Format::Csv)),
            ("a.b.tsv.xz", Some(Format::Tsv)),
            ("a.txt.bz2", Some(Format::Text)),
            ("a.md", Some(Format::Text)),
            ("index.HTM", Some(Format::Html)),
            ("a.html.gz", Some(Format::Html)),
            ("a.xhtml", Some(Format::Html)),
            ("a.warc", Some(Format::Warc)),
            ("CC-MAIN-2024.warc.wet.gz", Some(Format::Warc)),
            ("a.warc.zst", Some(Format::Warc)),
            ("train-00000-of-00002.parquet", Some(Format::Parquet)),
            ("part-0.snappy.PARQUET", Some(Format::Parquet)),
            ("a.parq", Some(Format::Parquet)),
            ("a.pq", Some(Format::Parquet)),
            ("a.parquet.gz", Some(Format::Parquet)),
            ("a.gz", None),
            ("a", None),
            (".hidden", None),
        ] {
            assert_eq!(format_by_name(OsStr::new(name)), format, "{name}");
        }
    }

    #[test]
    fn json_lines_in_a_file_of_json() {
        let lines = b"{\"text\":\"a\"}\n{\"text\":\"b\"}\n";
        let format = |name: &str, head: &[u8]| format(&ReadOptions::default(), Some(OsStr::new(name)), head);
        assert_eq!(format("c4-train.00000-of-01024.json.gz", lines), Format::Jsonl);
        assert_eq!(format("a.JSON", b"\xef\xbb\xbf\n{}\r\n\n{\"te"), Format::Jsonl);
        for one in [
            &b"{\"text\":\"a\"}\n"[..],
            b"{\n  \"a\": {\n}",
            b"[\n{},\n{}]",
            b"{\"a\":\n{}",
            b"{\"a\":1",
            b"{} x\n{}",
            b"",
        ] {
            assert_eq!(format("a.json", one), Format::Text, "{}", one.escape_ascii());
        }
        assert_eq!(format("a.txt", lines), Format::Text);
    }

    #[test]
    fn a_first_line_of_json_is_read_to_its_end() {
        let name = Some(OsStr::new("a.json"));
        let format_of = |bytes: &[u8], max_record: usize| {
            let mut reader = Reader::new(Box::new(bytes));
            fill_head(&mut reader, name, None, &ReadOptions { max_record, ..ReadOptions::default() });
            (format(&ReadOptions::default(), name, &reader.head), reader.head.len())
        };
        let long = format!("{{\"text\":\"{}\"}}", "word ".repeat(60_000));
        assert_eq!(format_of(format!("{long}\n{{\"text\":\"b\"}}\n").as_bytes(), 1 << 20).0, Format::Jsonl);
        assert_eq!(format_of(long.as_bytes(), 1 << 20), (Format::Text, long.len()));
        // What follows begins with the next block.
        let end = format!("{{\"text\":\"{}\"}}\n", "x".repeat((1 << 16) - 12));
        assert_eq!(end.len(), 1 << 16);
        assert_eq!(format_of(format!("{end}{{}}").as_bytes(), 1 << 20).0, Format::Jsonl);
        // A record may not be so long.
        assert_eq!(format_of(format!("{long}\n{{}}").as_bytes(), 1000).1, 1 << 16);
    }

    #[test]
    fn arrays_of_objects() {
        let is_array = |name: Option<&str>, head: &[u8]| is_json_array(name.map(OsStr::new), head, None);
        for head in [
            &b"[{\"id\":1},{\"id\":2}]"[..],
            b" \r\n[\n  {\n    \"text\": \"a\"\n  },",
            b"\xef\xbb\xbf[{}]",
            b"\xff\xfe[\0{\0}\0]\0",
            b"[{\"text\":\"the first object is longer than the beginn",
            b"[{}",
        ] {
            assert!(is_array(Some("a.json"), head), "{}", head.escape_ascii());
            assert!(is_array(Some("a.JSON.gz"), head) && is_array(Some("a"), head) && is_array(None, head));
            assert!(!is_array(Some("a.txt"), head) && !is_array(Some("a.md"), head) && !is_array(Some("a.py"), head));
        }
        for head in [&b""[..], b"[", b"[]", b"[1,{}]", b"[[{}]]", b"{\"a\":[{}]}", b"[{a}]", b"[{} text", b"[{\"a\":}]"]
        {
            assert!(!is_array(Some("a.json"), head), "{}", head.escape_ascii());
        }
    }

    #[test]
    fn formats_by_content() {
        for (head, format) in [
            (&b"{\"text\":\"x\"}"[..], Format::Jsonl),
            (b"\n \r\n {  \t\"a", Format::Jsonl),
            (b"{}\n", Format::Jsonl),
            (b"\xef\xbb\xbf{\"", Format::Jsonl),
            (b"\xff\xfe{\0\"\0", Format::Jsonl),
            (b"{\n  \"pretty\": 1\n}", Format::Text),
            (b"{", Format::Text),
            (b"{% template %}", Format::Text),
            (b"WARC/1.0\r\n", Format::Warc),
            (b"PAR1\x15\x04", Format::Parquet),
            (b" PAR1", Format::Text),
            (b"\xef\xbb\xbf\n<!DOCTYPE HTML PUBLIC", Format::Html),
            (b"<html lang=en>", Format::Html),
            (b"<!doctype", Format::Text),
            (b"<?xml version=\"1.0\"?>", Format::Text),
            (b"text", Format::Text),
            (b"", Format::Text),
            (b"id,text\n1,a", Format::Csv),
            (b"\"id\"\ttext\r\n1\ta", Format::Tsv),
            (b"id;text\n1;a", Format::Text),
            (b"id,text\n", Format::Text),
            (b"Hello,world\nMore text", Format::Text),
        ] {
            assert_eq!(format_by_content(head, &ReadOptions::default()), format, "{}", head.escape_ascii());
        }
    }

    #[test]
    fn binary_by_a_nul_near_the_start() {
        assert!(is_binary(b"\x7fELF\0", Format::Text, None));
        assert!(is_binary(b"\xff\xfe\0\0a\0\0\0", Format::Text, None), "UTF-32");
        assert!(!is_binary(b"\xff\xfea\0", Format::Text, None), "UTF-16");
        let mut far = vec![b'x'; BINARY_BYTES];
        far.push(0);
        assert!(!is_binary(&far, Format::Text, None));
        // One NUL among records affects one of them.
        far[100] = 0;
        let binary =
            [Format::Text, Format::Jsonl, Format::Csv, Format::Lines].map(|format| is_binary(&far, format, None));
        assert_eq!(binary, [true, false, false, false]);
        assert!(is_binary(&[0; 64], Format::Lines, None));
    }
}
