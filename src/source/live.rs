//! A live stream: available input is passed on, without waiting for more.

use super::batch::{JsonFields, Part, Records, too_long};
use super::decode::without_utf8_mark;
use super::lines::{Blank, raw_lines};
use super::members::Members;
use super::opaque::{may_become_opaque, opaque};
use super::options::{PARQUET_MAGIC, WARC_MAGIC};
use super::{
    Batch, Document, Encoding, Format, Place, Problem, ProblemKind, Ranking, ReadOptions, Severity, decompress,
};
#[cfg(feature = "warc")]
use super::{
    PageText,
    reader::Reader,
    warc::{self, Archive},
};
use memchr::{memchr, memchr_iter, memrchr};
use std::io::{self, Cursor, Read};
use std::ops::Range;
use std::sync::Arc;

/// The approximate number of bytes read at once: some milliseconds of work, so that decisions follow each other closely.
const BLOCK: usize = 64 << 10;

/// A stream of documents that is not read yet: JSON lines, lines of text, or records of an archive (WARC). It may be
/// compressed.
pub struct Live<R> {
    input: R,
    path: Arc<str>,
    options: ReadOptions,
}

impl<R: Read> Live<R> {
    /// Records of `input`, called `path`, in the given format: lines of text, WARC, or else JSON lines.
    pub fn new(input: R, path: &str, options: &ReadOptions) -> Self {
        Live { input, path: path.into(), options: options.clone() }
    }

    /// Its name, which begins the ids of documents that have none of their own.
    pub(crate) fn name(&self) -> &str {
        &self.path
    }

    /// Starts reading: blocks until the first line, or the first few bytes, are available.
    ///
    /// # Errors
    /// The stream ends prematurely, is read as lines but starts like a PDF or another file without text, or is an archive,
    /// a Parquet file or UTF-16 and the format was not given (UTF-16: or is lines). The format does not consist of
    /// records at whose ends a stream can be cut: lines, JSON lines or, with the feature `warc`, archives.
    pub fn open<'r>(self) -> io::Result<Chunks<'r>>
    where
        R: 'r,
    {
        let Live { input, path, options } = self;
        let members = Members::default();
        let input = match options.decompresses {
            true => decompress::open_as(input, Default::default(), &members, &options)?.0,
            false => Box::new(decompress::Counted { inner: input, consumed: Default::default() }),
        };
        let (input, encoding) = match options.encoding {
            Some(named) if options.format != Format::Warc => {
                if named.is_utf16() {
                    let what = "cannot be read as a stream: convert it to UTF-8 first: iconv -f";
                    let message = format!("{} {what} {} -t UTF-8", named.name(), named.name());
                    return Err(io::Error::new(io::ErrorKind::Unsupported, message));
                }
                let (input, has_mark) = starting_with(input, b"\xef\xbb\xbf")?;
                (input, Some(if has_mark { named.marked_utf8() } else { named }))
            }
            named => (input, named),
        };
        let max_record = options.max_record;
        let fields = JsonFields::new(&ReadOptions { ranking: Ranking::default(), ..options.clone() });
        let fields = Arc::new(fields).of_reading(&options);
        let kind = match options.format {
            #[cfg(feature = "warc")]
            Format::Warc => {
                Kind::Archive(Box::new(Archive::live(Reader::new(input).with_members(members), BLOCK, max_record)))
            }
            #[cfg(not(feature = "warc"))]
            Format::Warc => {
                let message = "archives are only read by programs built with the feature warc";
                return Err(io::Error::new(io::ErrorKind::Unsupported, message));
            }
            Format::Lines => Kind::Lines(Lines::new(no_opaque(no_utf16(input)?)?, None)),
            Format::Auto => {
                let first = Some(Arc::new(JsonFields { may_be_text: true, ..(*fields).clone() }));
                Kind::Lines(Lines { first, ..Lines::new(no_archive(no_parquet(no_utf16(input)?)?)?, Some(fields)) })
            }
            // With the format named, no line ends the stream, whatever it begins like.
            Format::Jsonl => Kind::Lines(Lines::new(input, Some(fields))),
            Format::Text | Format::Csv | Format::Tsv | Format::Html | Format::Parquet => {
                let message =
                    format!("{} cannot be read as a stream: expected lines, jsonl or warc", options.format.name());
                return Err(io::Error::new(io::ErrorKind::Unsupported, message));
            }
        };
        Ok(Chunks {
            kind,
            path,
            max_record,
            keep_rejected: options.keep_rejected,
            encoding,
            #[cfg(feature = "warc")]
            page_text: options.page_text,
        })
    }
}

/// The same stream, unless it starts like an archive, none of whose lines would be JSON.
fn no_archive<'r>(input: Box<dyn Read + 'r>) -> io::Result<Box<dyn Read + 'r>> {
    unless_it_starts(input, WARC_MAGIC, "this is an archive (read it with `format warc`)")
}

/// The same stream, unless it starts like a Parquet file, which has no lines.
fn no_parquet<'r>(input: Box<dyn Read + 'r>) -> io::Result<Box<dyn Read + 'r>> {
    let advice = "this is a Parquet file, which cannot be read as a stream: write its text column as JSON lines first";
    unless_it_starts(input, PARQUET_MAGIC, advice)
}

/// The same stream, unless it starts like text in UTF-16, which has its line ends in other bytes: what passes must be whole lines.
fn no_utf16<'r>(mut input: Box<dyn Read + 'r>) -> io::Result<Box<dyn Read + 'r>> {
    for start in [b"\xff\xfe", b"\xfe\xff", b"{\0", b"\0{"] {
        input = unless_it_starts(input, start, "this is UTF-16 (convert it to UTF-8 first: iconv -f UTF-16 -t UTF-8)")?;
    }
    Ok(input)
}

/// The same stream, or an error if it starts with these bytes. Reads no more bytes than needed to decide.
fn unless_it_starts<'r>(
    input: Box<dyn Read + 'r>,
    magic: &[u8],
    error: &'static str,
) -> io::Result<Box<dyn Read + 'r>> {
    match starting_with(input, magic)? {
        (_, true) => Err(io::Error::other(error)),
        (input, false) => Ok(input),
    }
}

/// The same stream, and whether it starts with these bytes. Reads no more bytes than needed to decide.
fn starting_with<'r>(input: Box<dyn Read + 'r>, magic: &[u8]) -> io::Result<(Box<dyn Read + 'r>, bool)> {
    let (start, input) = start_while(input, |start| start.len() < magic.len() && magic.starts_with(start))?;
    Ok((input, start == magic))
}

/// The same stream, unless it starts like a file whose lines are not text. Reads no more bytes than needed to decide.
fn no_opaque<'r>(input: Box<dyn Read + 'r>) -> io::Result<Box<dyn Read + 'r>> {
    let (start, input) = start_while(input, may_become_opaque)?;
    match opaque(&start) {
        Some(what) => Err(io::Error::other(format!(
            "{what}; a stream has records, such as a JSON object with a text on each line"
        ))),
        None => Ok(input),
    }
}

/// The start of a stream, which is read a byte at a time while it `is_open`, and the same stream from its start. Compressed data that
/// is damaged there is so again where the stream is read.
///
/// # Errors
/// It cannot be read.
fn start_while<'r>(
    mut input: Box<dyn Read + 'r>,
    is_open: impl Fn(&[u8]) -> bool,
) -> io::Result<(Vec<u8>, Box<dyn Read + 'r>)> {
    let mut start = Vec::new();
    while is_open(&start) {
        match input.by_ref().take(1).read_to_end(&mut start) {
            Ok(0) => break,
            Ok(_) => {}
            Err(error) if decompress::is_damage(&error) => {
                input = Box::new(decompress::Failing(Some(error)));
                break;
            }
            Err(error) => return Err(error),
        }
    }
    Ok((start.clone(), Box::new(Cursor::new(start).chain(input))))
}

/// The records of a stream.
pub struct Chunks<'r> {
    kind: Kind<'r>,
    path: Arc<str>,
    max_record: usize,
    keep_rejected: bool,
    /// The encoding of the records, if it is named.
    encoding: Option<Encoding>,
    #[cfg(feature = "warc")]
    page_text: PageText,
}

enum Kind<'r> {
    Lines(Lines<'r>),
    #[cfg(feature = "warc")]
    Archive(Box<Archive<'r>>),
}

impl Chunks<'_> {
    /// The whole records that are available; blocks only if there are none. `None` at the end.
    ///
    /// # Errors
    /// The stream cannot be read. The beginning of its last line is lost. (Where compressed data is damaged or ends too early, that is a
    /// problem like others. It is the last one, except in an archive in gzip, which is read on from its next member with a record.)
    pub fn next_chunk(&mut self) -> io::Result<Option<Result<Chunk, Problem>>> {
        let Chunks { kind, path, max_record, keep_rejected, encoding, .. } = self;
        let (max_record, keep_rejected, encoding) = (*max_record, *keep_rejected, *encoding);
        let blank = Blank::OfStreams;
        let records =
            |line, bytes| Records { path: path.clone(), line, bytes, max_record, keep_rejected, blank, encoding };
        let (part, places) = match kind {
            #[cfg(feature = "warc")]
            Kind::Archive(archive) => {
                let Some(warc::Piece { bytes, records: found }) = archive.next() else { return Ok(None) };
                let place =
                    |record: &warc::Record| record.found.as_ref().map_or(0..0, |(head, block)| head.start..block.end);
                let places = found.iter().map(place).collect();
                (Part::Warc(records(0, bytes), found, self.page_text), Some(places))
            }
            Kind::Lines(lines) => match lines.next(max_record).or_else(|error| lines.end_at_damage(error))? {
                None => return Ok(None),
                Some(Whole::Damaged(line, message)) => {
                    let place = Place { path: Arc::clone(path), line: Some(line) };
                    return Ok(Some(Err(Problem::at(place, Severity::Failed, ProblemKind::Damaged, message))));
                }
                Some(Whole::TooLong(line)) => return Ok(Some(Err(too_long(path, line, max_record)))),
                Some(Whole::Lines(line, bytes)) => {
                    let first = lines.first.take_if(|_| !blank.is(&bytes));
                    let records = records(line, bytes);
                    let part = match first.as_ref().or(lines.fields.as_ref()) {
                        Some(fields) => Part::Jsonl(records, Arc::clone(fields)),
                        None => Part::Lines(records),
                    };
                    (part, None)
                }
            },
        };
        Ok(Some(Ok(Chunk { batch: Batch::of_part(part), places })))
    }
}

/// Receives records unchanged, each with its content: a document, nothing if it holds none, or a problem.
pub type EachRecord<'e> = &'e mut dyn FnMut(&[u8], Result<Option<Document<'_>>, Problem>);

/// Receives the position of each record instead.
type EachPlace<'e> = &'e mut dyn FnMut(Range<usize>, Result<Option<Document<'_>>, Problem>);

/// Whole records of a stream.
pub struct Chunk {
    batch: Batch,
    /// The position of each record of an archive; a broken record is empty.
    places: Option<Vec<Range<usize>>>,
}

impl Chunk {
    /// Its length in bytes, decompressed.
    pub fn bytes(&self) -> u64 {
        self.batch.bytes_read()
    }

    /// Parses its records, in their order. Each comes unchanged: a line with its end, a record of an archive without
    /// the two empty lines after it. A line that is too long is empty here. A document that was read with replacements
    /// comes after the problem that reports this.
    pub fn documents(&self, each: EachRecord<'_>) {
        let bytes = self.batch.raw();
        self.places(&mut |place, result| each(&bytes[place], result));
    }

    /// The bytes of these records.
    pub(crate) fn raw(&self) -> &[u8] {
        self.batch.raw()
    }

    /// As [`documents`](Self::documents), with the position of each record in [`raw`](Self::raw).
    pub(crate) fn places(&self, each: EachPlace<'_>) {
        let bytes = self.batch.raw();
        let place = |line: &[u8]| {
            let start = line.as_ptr().addr() - bytes.as_ptr().addr();
            start..start + line.len()
        };
        let raw: Vec<Range<usize>> = match &self.places {
            Some(places) => places.clone(),
            None => raw_lines(bytes, Blank::OfStreams).map(|(line, _)| place(line)).collect(),
        };
        let mut next = 0;
        self.batch.selected(&mut |_| true, &mut |record, result| {
            let record = record as usize;
            // The records in between were not parsed: they hold no document.
            (next..record).for_each(|other| each(raw[other].clone(), Ok(None)));
            next = record + 1;
            // Of most lines that are too long there is nothing, because they are not held. So it is of all.
            let is_too_long = result.as_ref().is_err_and(|problem| problem.kind == ProblemKind::TooLong);
            let place = if is_too_long && self.places.is_none() { 0..0 } else { raw[record].clone() };
            each(place, result.map(Some));
        });
        raw[next..].iter().for_each(|other| each(other.clone(), Ok(None)));
    }
}

/// A stream of lines; each line is a document.
struct Lines<'r> {
    input: Box<dyn Read + 'r>,
    fields: Option<Arc<JsonFields>>,
    /// The fields for the first record.
    first: Option<Arc<JsonFields>>,
    /// The block that input is read into. Line ends are searched only here.
    block: Box<[u8]>,
    /// The part of the block that was not looked at yet.
    new: Range<usize>,
    /// Input that was read but not passed on: the start of a line.
    rest: Vec<u8>,
    /// The number of that line.
    line: u64,
    /// Whether a line that is too long is being skipped, and whether all of it is blank so far.
    passing: Option<bool>,
    ended: bool,
    /// The number of bytes that were searched for the end of a line.
    #[cfg(test)]
    searched: usize,
}

/// The result of [`Lines`], with the number of the first line.
enum Whole {
    Lines(u64, Vec<u8>),
    TooLong(u64),
    /// Compressed data is damaged here, and nothing after it is read.
    Damaged(u64, String),
}

impl<'r> Lines<'r> {
    fn new(input: Box<dyn Read + 'r>, fields: Option<Arc<JsonFields>>) -> Self {
        Lines {
            input,
            fields,
            first: None,
            block: vec![0; BLOCK].into(),
            new: 0..0,
            rest: Vec::new(),
            line: 1,
            passing: None,
            ended: false,
            #[cfg(test)]
            searched: 0,
        }
    }

    fn next(&mut self, max_record: usize) -> io::Result<Option<Whole>> {
        loop {
            if self.rest.len() > max_record {
                self.passing = Some(Blank::OfStreams.is(&self.rest));
                self.rest.clear();
            }
            if self.new.is_empty() && !self.ended {
                self.new = 0..self.read()?;
                self.ended = self.new.is_empty();
            }
            if let Some(is_blank) = self.passing {
                if let Some(line) = self.passed(is_blank) {
                    return Ok(Some(Whole::TooLong(line)));
                }
            } else if self.ended && self.new.is_empty() {
                let bytes = std::mem::take(&mut self.rest);
                // A byte order mark alone is an empty input.
                let is_empty = if self.line == 1 { without_utf8_mark(&bytes).is_empty() } else { bytes.is_empty() };
                return Ok((!is_empty).then(|| self.whole(bytes)));
            } else if let Some(bytes) = self.ended_lines() {
                return Ok(Some(self.whole(bytes)));
            }
        }
    }

    /// Where compressed data is damaged, the stream ends after the whole lines before it, with a problem like others.
    ///
    /// # Errors
    /// It is another error.
    fn end_at_damage(&mut self, error: io::Error) -> io::Result<Option<Whole>> {
        if !decompress::is_damage(&error) {
            return Err(error);
        }
        self.rest.clear();
        (self.ended, self.passing) = (true, None);
        Ok(Some(Whole::Damaged(self.line, error.to_string())))
    }

    /// Passes over more of a line that is too long. Returns its number at its end, unless it is blank.
    fn passed(&mut self, was_blank: bool) -> Option<u64> {
        let new = &self.block[self.new.clone()];
        let end = memchr(b'\n', new);
        let length = end.map_or(new.len(), |end| end + 1);
        let is_blank = was_blank && Blank::OfStreams.is(&new[..length]);
        #[cfg(test)]
        {
            self.searched += length;
        }
        self.new.start += length;
        if end.is_none() && !self.ended {
            self.passing = Some(is_blank);
            return None;
        }
        self.passing = None;
        let line = self.line;
        self.line += u64::from(end.is_some());
        (!is_blank).then_some(line)
    }

    /// Reads available input into the block.
    fn read(&mut self) -> io::Result<usize> {
        loop {
            match self.input.read(&mut self.block) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                result => return result,
            }
        }
    }

    /// The pending start and the new input, up to the last line end; the bytes after it become the pending start.
    fn ended_lines(&mut self) -> Option<Vec<u8>> {
        let new = &self.block[std::mem::take(&mut self.new)];
        #[cfg(test)]
        {
            self.searched += new.len();
        }
        let Some(end) = memrchr(b'\n', new) else {
            self.rest.extend_from_slice(new);
            return None;
        };
        let (ended, rest) = new.split_at(end + 1);
        let mut bytes = std::mem::replace(&mut self.rest, rest.to_vec());
        bytes.extend_from_slice(ended);
        Some(bytes)
    }

    fn whole(&mut self, bytes: Vec<u8>) -> Whole {
        let line = self.line;
        self.line += memchr_iter(b'\n', &bytes).count() as u64;
        Whole::Lines(line, bytes)
    }
}

#[cfg(all(test, feature = "warc"))]
mod tests {
    use super::super::decompress::tests::{ALL, bzip2, gzip, zstd};
    use super::*;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use proptest::prelude::*;
    use std::collections::VecDeque;
    use std::io::Write;

    /// Returns a few bytes at a time.
    struct Dripping<'a>(&'a [u8], usize);

    impl Read for Dripping<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let n = self.1.min(self.0.len()).min(buffer.len());
            buffer[..n].copy_from_slice(&self.0[..n]);
            self.0 = &self.0[n..];
            Ok(n)
        }
    }

    fn all(input: impl Read, max_record: usize) -> (Vec<u8>, Vec<String>) {
        read(input, Format::Lines, max_record)
    }

    fn read(input: impl Read, format: Format, max_record: usize) -> (Vec<u8>, Vec<String>) {
        let options = ReadOptions { format, max_record, ..ReadOptions::default() };
        let mut live = Live::new(input, "-", &options).open().unwrap();
        let (mut raw, mut found) = (Vec::new(), Vec::new());
        while let Some(next) = live.next_chunk().unwrap() {
            match next {
                Ok(chunk) => chunk.documents(&mut |line, result| {
                    raw.extend_from_slice(line);
                    found.push(match result {
                        Ok(Some(document)) => format!("{} {}", document.id, document.text),
                        Ok(None) => "no document".to_owned(),
                        Err(problem) => problem.to_string(),
                    });
                }),
                Err(problem) => found.push(problem.to_string()),
            }
        }
        (raw, found)
    }

    /// The records of a [`Live`] stream over this input, each with its content; and whether the stream ended
    /// prematurely.
    fn records(input: impl Read, format: Format) -> (Vec<(String, String)>, bool) {
        let mut found = Vec::new();
        let Ok(mut chunks) = Live::new(input, "-", &ReadOptions { format, ..ReadOptions::default() }).open() else {
            return (found, true);
        };
        loop {
            match chunks.next_chunk() {
                Ok(None) => return (found, false),
                Err(_) => return (found, true),
                Ok(Some(Err(problem))) => found.push((String::new(), problem.to_string())),
                Ok(Some(Ok(chunk))) => chunk.documents(&mut |record, result| {
                    let read = match result {
                        Ok(Some(document)) => format!("{}|{}", document.id, document.text),
                        Ok(None) => "passes".to_owned(),
                        Err(problem) => format!("{:?} {problem}", problem.severity),
                    };
                    found.push((String::from_utf8_lossy(record).into_owned(), read));
                }),
            }
        }
    }

    fn warc(kind: &str, uri: &str, block: &str) -> String {
        let length = block.len();
        let head = format!("WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Target-URI: {uri}\r\nContent-Length: {length}\r\n");
        format!("{head}Content-Type: text/html\r\n\r\n{block}")
    }

    fn page(uri: &str, http: &str, body: &str) -> String {
        warc("response", uri, &format!("HTTP/1.1 200 OK\r\n{http}\r\n\r\n{body}"))
    }

    #[test]
    fn records_of_an_archive_come_whole_and_others_pass() {
        let html = "Content-Type: text/html";
        let kept = [
            (warc("warcinfo", "", "software: x\r\n"), "passes".to_owned()),
            (page("http://a/", html, "<p>a</p>"), "http://a/|a".to_owned()),
            (warc("request", "http://a/", "GET / HTTP/1.1\r\n\r\n"), "passes".to_owned()),
            (page("http://logo/", "Content-Type: image/png", "PNG"), "passes".to_owned()),
            (
                page("http://br/", &format!("{html}\r\nContent-Encoding: br"), "x"),
                "Skipped -:5: Content-Encoding 'br' is not read".to_owned(),
            ),
            (warc("resource", "http://b/", "b"), "http://b/|b".to_owned()),
            (warc("metadata", "http://b/", ""), "passes".to_owned()),
        ];
        let whole: String = kept.iter().map(|(record, _)| format!("{record}\r\n\r\n")).collect();
        // Without the last two line ends, with more of them between, through gzip by members.
        let cut = whole[..whole.len() - 4].to_owned();
        let wide = whole.replace("\r\n\r\nWARC", "\r\n\r\n\r\n\nWARC");
        let members: Vec<u8> =
            kept.iter().flat_map(|(record, _)| gzip(format!("{record}\r\n\r\n").as_bytes())).collect();
        for input in [whole.as_bytes(), cut.as_bytes(), wide.as_bytes(), &members] {
            for piece in [1, 7, 100, 1 << 20] {
                assert_eq!(records(Dripping(input, piece), Format::Warc), (kept.to_vec(), false), "pieces of {piece}");
            }
        }
    }

    #[test]
    fn broken_records_are_named_and_hold_nothing() {
        let (a, b) = (warc("resource", "a", "text"), warc("resource", "b", "text"));
        let broken = a.replace("Length: 4", "Length: 5");
        let (found, _) = records(format!("{broken}\r\n\r\n{b}\r\n\r\n").as_bytes(), Format::Warc);
        let message = "Failed -:1: Content-Length 5 does not lead to the end of the record";
        assert_eq!(found, [(String::new(), message.to_owned()), (b.clone(), "b|text".to_owned())]);
        // A record without text passes whole or not at all.
        let long = warc("metadata", "", &"x".repeat(5000));
        let options = ReadOptions { format: Format::Warc, max_record: 4000, ..ReadOptions::default() };
        let input = format!("{long}\r\n\r\n{b}");
        let mut chunks = Live::new(input.as_bytes(), "-", &options).open().unwrap();
        let mut found = Vec::new();
        while let Some(Ok(chunk)) = chunks.next_chunk().unwrap() {
            chunk.documents(&mut |record, result| found.push((record.len(), result.err().map(|e| e.to_string()))));
        }
        let message = "-:1: record longer than 4000 bytes (allow more with `max-record`)".to_owned();
        assert_eq!(found, [(0, Some(message)), (b.len(), None)]);
        // One whose length is wrong holds nothing, and those after it pass.
        let input = format!("{}\r\n\r\n{b}\r\n\r\n{b}\r\n\r\n", a.replace("Length: 4", "Length: 9223372036854775807"));
        let message = "Failed -:1: Content-Length 9223372036854775807 does not lead to the end of the record: another \
                       begins before that (if the length is right, allow more with `max-record`)";
        let expected = [(String::new(), message.to_owned()), (b.clone(), "b|text".into()), (b, "b|text".into())];
        for piece in [1, 7, 1 << 20] {
            assert_eq!(records(Dripping(input.as_bytes(), piece), Format::Warc), (expected.to_vec(), false));
        }
    }

    /// Returns its pieces one by one, and then fails: a reader that waits for more input than is available loses it.
    struct Pausing(VecDeque<Vec<u8>>);

    impl Read for Pausing {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let mut next = self.0.pop_front().ok_or_else(|| io::Error::other("nothing is there yet"))?;
            let n = next.len().min(buffer.len());
            buffer[..n].copy_from_slice(&next[..n]);
            if n < next.len() {
                self.0.push_front(next.split_off(n));
            }
            Ok(n)
        }
    }

    #[test]
    fn what_is_there_comes_before_more_is_waited_for() {
        let flushed = |text: &str| {
            let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
            encoder.write_all(text.as_bytes()).unwrap();
            encoder.flush().unwrap();
            encoder.get_ref().clone()
        };
        let line = ("a\n".to_owned(), "-:1|a".to_owned());
        let record = warc("resource", "a", "text");
        let whole = format!("{record}\r\n\r\n");
        let record = (record, "a|text".to_owned());
        for (input, format, expected) in [
            (b"a\n".to_vec(), Format::Lines, &line),
            (flushed("a\n"), Format::Lines, &line),
            (gzip(b"a\n"), Format::Lines, &line),
            (zstd(b"a\n"), Format::Lines, &line),
            (bzip2(b"a\n"), Format::Lines, &line),
            (whole.clone().into_bytes(), Format::Warc, &record),
            (flushed(&whole), Format::Warc, &record),
        ] {
            // Only where the next read is asked for does the stream fail.
            let mut chunks = Live::new(Pausing([input].into()), "-", &ReadOptions { format, ..ReadOptions::default() })
                .open()
                .unwrap();
            let chunk = chunks.next_chunk().unwrap().unwrap().unwrap();
            let mut found = Vec::new();
            chunk.documents(&mut |raw, result| {
                let document = result.unwrap().unwrap();
                found.push((String::from_utf8(raw.to_vec()).unwrap(), format!("{}|{}", document.id, document.text)));
            });
            assert_eq!(found, std::slice::from_ref(expected));
        }
    }

    /// Nothing comes of the only block of a stream, in whatever format: the stream begins, and its first record is a failure.
    #[test]
    fn damage_before_the_first_record_is_a_problem_like_others() {
        for (name, compress) in ALL {
            let whole = compress(b"one line of text\nand another one\n");
            let cut = whole[..whole.len() / 2].to_vec();
            let mut damaged = whole.clone();
            // After the header of the stream, which stays, and before the end.
            let header = match name {
                "zstd" => 5,
                "xz" => 12,
                _ => 10,
            };
            damaged[header..whole.len() - 8].fill(0x55);
            for (raw, what) in [(cut, "truncated"), (damaged, "damaged")] {
                for format in [Format::Auto, Format::Lines, Format::Jsonl] {
                    for encoding in [None, Some(Encoding::by_label("encoding", "windows-1252").unwrap())] {
                        let options = ReadOptions { format, encoding, ..ReadOptions::default() };
                        let mut chunks = Live::new(Dripping(&raw, 5), "-", &options).open().unwrap();
                        let mut problems = Vec::new();
                        while let Some(chunk) = chunks.next_chunk().unwrap() {
                            match chunk {
                                Ok(chunk) => chunk.documents(&mut |_, _| {}),
                                Err(problem) => problems.push((problem.kind, problem.to_string())),
                            }
                        }
                        let [(ProblemKind::Damaged, message)] = &problems[..] else { panic!("{name}: {problems:?}") };
                        let is_what = what == "damaged" || message.contains("truncated");
                        assert!(is_what && message.starts_with("-:1: "), "{name}, {what}: {message}");
                        assert!(message.contains(&format!("{name} data is ")), "{message}");
                    }
                }
            }
        }
    }

    /// Line ends in UTF-16 are other bytes: its lines are no documents.
    #[test]
    fn utf16_is_refused_unless_the_lines_are_json_by_name() {
        let text = "{\"text\":\"a\"}\n";
        let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
        let marked = [[&b"\xff\xfe"[..], &little].concat(), [&b"\xfe\xff"[..], &big].concat()];
        for input in marked.iter().chain([&little, &big, &gzip(&marked[0])]) {
            for format in [Format::Auto, Format::Lines] {
                let options = ReadOptions { format, ..ReadOptions::default() };
                let Err(error) = Live::new(Dripping(input, 1), "-", &options).open() else { panic!("{format:?}") };
                let message = "this is UTF-16 (convert it to UTF-8 first: iconv -f UTF-16 -t UTF-8)";
                assert_eq!(error.to_string(), message);
            }
        }
        // One answer for each line: none ends the stream.
        let (found, has_failed) = records(&*marked[0], Format::Jsonl);
        assert!(!has_failed && found.iter().all(|(_, read)| read.contains("malformed JSON")), "{found:?}");
        // Other bytes in the same places.
        for input in ["\u{ff}\u{fe}a\n".as_bytes(), b"{", b"\0", b"\xff", b"a\0\n"] {
            assert!(!records(input, Format::Lines).1, "{input:?}");
        }
    }

    /// テ is 0x83 0x65 in Shift_JIS.
    #[test]
    fn a_stream_in_the_named_encoding() {
        let read = |input: &[u8], label: &str, format: Format| {
            let encoding = Some(Encoding::by_label("encoding", label).unwrap());
            let options = ReadOptions { format, encoding, ..ReadOptions::default() };
            let (mut raw, mut texts) = (Vec::new(), Vec::new());
            let mut chunks = Live::new(Dripping(input, 1), "-", &options).open().map_err(|error| error.to_string())?;
            while let Some(chunk) = chunks.next_chunk().unwrap() {
                chunk.unwrap().documents(&mut |record, read| {
                    raw.extend_from_slice(record);
                    texts.extend(read.unwrap().map(|document| document.text.into_owned()));
                });
            }
            assert_eq!(raw, input);
            Ok::<_, String>(texts)
        };
        let lines = b"{\"text\":\"\x83\x65\"}\r\n{\"text\":\"\x83\x5c\"}\n";
        for format in [Format::Auto, Format::Jsonl] {
            assert_eq!(read(lines, "shift_jis", format).unwrap(), ["テ", "ソ"]);
        }
        assert_eq!(read(b"\x83\x65\n\xb1", "shift_jis", Format::Lines).unwrap(), ["テ", "ｱ"]);
        // A mark decides, and only at the beginning.
        assert_eq!(read("\u{feff}é\nà\n".as_bytes(), "latin1", Format::Lines).unwrap(), ["é", "à"]);
        assert_eq!(read(b"\xef\xbb", "latin1", Format::Lines).unwrap(), ["ï»"]);
        assert_eq!(read(b"a\n\xef\xbb\xbf\xe9\n", "latin1", Format::Lines).unwrap(), ["a", "é"]);
        for format in [Format::Auto, Format::Jsonl, Format::Lines] {
            let refused = "UTF-16LE cannot be read as a stream: convert it to UTF-8 first: iconv -f UTF-16LE -t UTF-8";
            assert_eq!(read(b"a\0\n\0", "utf-16", format).unwrap_err(), refused);
        }
    }

    #[test]
    fn every_compression_and_its_damage() {
        let text: String = (0..5000).map(|n| format!("line {n}\n")).collect();
        let expected = all(text.as_bytes(), 1000);
        for (name, compress) in ALL {
            let packed = compress(text.as_bytes());
            assert_eq!(all(Dripping(&packed, 3), 1000), expected, "{name}");
            let (mut found, failed) = records(&packed[..packed.len() - 9], Format::Lines);
            let (_, problem) = found.pop().unwrap();
            assert_eq!((failed, problem), (false, format!("-:{}: {name} data is truncated", found.len() + 1)));
            let read: String = found.into_iter().map(|(line, _)| line).collect();
            assert!(text.starts_with(&read) && (read.is_empty() || read.ends_with('\n')), "{name}");
        }
    }

    proptest! {
        #[test]
        fn pieces_of_any_size_give_the_same_lines(text in "[ab\n\r ]{0,60}", piece in 1usize..9) {
            let expected = all(text.as_bytes(), 1000);
            prop_assert_eq!(all(Dripping(text.as_bytes(), piece), 1000), expected.clone());
            let blank = |line: &&str| line.trim_ascii_start().is_empty();
            let kept: String = text.split_inclusive('\n').filter(|line| !blank(line)).collect();
            prop_assert_eq!(String::from_utf8(expected.0).unwrap(), kept);
        }
    }

    #[test]
    fn a_line_that_is_too_long_is_named_and_passed_over() {
        let text = format!("one\n{}\ntwo\n", "x".repeat(3 << 20));
        let (raw, found) = all(Dripping(text.as_bytes(), 1 << 16), 1 << 20);
        assert_eq!(raw, b"one\ntwo\n");
        assert_eq!(found, ["-:1 one", "-:2: record longer than 1 MiB (allow more with `max-record`)", "-:3 two"]);
    }

    #[test]
    fn of_a_line_that_is_too_long_nothing_comes_however_it_is_read() {
        // Shorter than what is read at once, and longer. A blank line is none, however long it is.
        let text =
            format!("one\n{}\n{}x\n{}\r\n{}", "x".repeat(200), " ".repeat(500), " \t".repeat(500), "y".repeat(300));
        let found = ["-:1 one"].into_iter().map(String::from).chain(
            [2, 3, 5].map(|line| format!("-:{line}: record longer than 100 bytes (allow more with `max-record`)")),
        );
        let expected = (b"one\n".to_vec(), found.collect::<Vec<_>>());
        for piece in [1, 7, 150, 1 << 20] {
            assert_eq!(all(Dripping(text.as_bytes(), piece), 100), expected, "pieces of {piece}");
        }
    }

    #[test]
    fn a_byte_order_mark_alone_is_an_empty_input() {
        for (text, expected) in [("\u{feff}", &[][..]), ("\u{feff}\n", &["-:1 "]), ("a\n\u{feff}", &["-:1 a", "-:2 "])]
        {
            for piece in [1, 100] {
                assert_eq!(all(Dripping(text.as_bytes(), piece), 100).1, expected, "{text:?}");
            }
        }
    }

    #[test]
    fn json_lines_may_begin_like_anything_if_the_format_is_named() {
        let line = "{\"text\":\"a\"}\n";
        let starts: [&[u8]; 7] =
            [b"WARC/1.0", b"PAR1", b"%PDF-1.7", b"\x1f\x8b\x08\0", b"\x28\xb5\x2f\xfd", b"\xfd7zXZ\0", b"BZh91AY&SY"];
        for start in starts {
            let input = [start, b"\n", line.as_bytes()].concat();
            let options = ReadOptions { format: Format::Jsonl, decompresses: false, ..ReadOptions::default() };
            let mut chunks = Live::new(&input[..], "-", &options).open().unwrap();
            let mut found = Vec::new();
            chunks.next_chunk().unwrap().unwrap().unwrap().documents(&mut |raw, result| {
                found.push((raw.to_vec(), result.map(|document| document.unwrap().text.into_owned()).ok()));
            });
            let expected = [([start, b"\n"].concat(), None), (line.into(), Some("a".to_owned()))];
            assert_eq!(found, expected, "{}", start.escape_ascii());
            assert!(chunks.next_chunk().unwrap().is_none());
        }
    }

    #[test]
    fn the_ends_of_lines_are_looked_for_once_in_each_byte() {
        let text = format!("{}\nshort\n{}", "x".repeat(50_000), "y".repeat(50_000));
        for max_record in [1 << 20, 1000] {
            let mut lines = Lines::new(Box::new(Dripping(text.as_bytes(), 10)), None);
            while lines.next(max_record).unwrap().is_some() {}
            assert_eq!(lines.searched, text.len());
        }
    }

    #[test]
    fn a_format_that_cannot_be_cut_is_refused() {
        for format in [Format::Text, Format::Csv, Format::Tsv, Format::Html] {
            let error =
                Live::new(&b"{}"[..], "-", &ReadOptions { format, ..ReadOptions::default() }).open().err().unwrap();
            let message = format!("{} cannot be read as a stream: expected lines, jsonl or warc", format.name());
            assert_eq!((error.kind(), error.to_string()), (io::ErrorKind::Unsupported, message));
        }
    }

    #[test]
    fn a_file_without_text_is_not_read_as_lines() {
        let open = |input: &[u8], piece| {
            let options = ReadOptions { format: Format::Lines, ..ReadOptions::default() };
            Live::new(Dripping(input, piece), "-", &options).open().err().map(|error| error.to_string())
        };
        for piece in [1, 3, 1000] {
            let message = "PDF document: convert it to text first (pdftotext FILE -); a stream has records, such as a JSON object \
                           with a text on each line";
            let message = Some(message.to_owned());
            assert_eq!(open(b"%PDF-1.7\n%\xe2\xe3\n", piece), message);
            assert_eq!(open(&gzip(b"%PDF-1.7\n"), piece), message);
            for text in ["", "%", "%PD", "%PDF is a format\n", "P\nK\n", "text\n"] {
                assert_eq!(open(text.as_bytes(), piece), None, "{text}");
                let (records, _) = records(Dripping(text.as_bytes(), piece), Format::Lines);
                assert_eq!(records.into_iter().map(|(record, _)| record).collect::<String>(), text);
            }
        }
    }

    #[test]
    fn an_archive_is_not_read_as_json_lines() {
        let archive = warc("resource", "a", "text");
        let open = |input: &[u8], format, piece| {
            let options = ReadOptions { format, ..ReadOptions::default() };
            let chunks = Live::new(Dripping(input, piece), "-", &options).open();
            chunks.err().map(|error| error.to_string())
        };
        let message = Some("this is an archive (read it with `format warc`)".to_owned());
        for piece in [1, 3, 1000] {
            assert_eq!(open(archive.as_bytes(), Format::Auto, piece), message);
            assert_eq!(open(&gzip(archive.as_bytes()), Format::Auto, piece), message);
            assert_eq!(open(archive.as_bytes(), Format::Jsonl, piece), None);
            assert_eq!(open(b"WARC", Format::Auto, piece), None);
        }
        for text in ["", "W", "WARC", "WAR: a line\n", r#"{"text":"a"}"#, "\n\n{\"text\":\"a\"}\n"] {
            for piece in [1, 1000] {
                let (as_auto, as_json) = (Dripping(text.as_bytes(), piece), Dripping(text.as_bytes(), piece));
                let mut auto = records(as_auto, Format::Auto);
                let advice = " (lines of text are read with `format lines`)";
                let advised = auto.0.iter_mut().filter(|(_, read)| read.ends_with(advice));
                let advised = advised.map(|(_, read)| read.truncate(read.len() - advice.len())).count();
                assert_eq!(advised, usize::from(text.starts_with('W')));
                assert_eq!(auto, records(as_json, Format::Jsonl), "{text}");
            }
        }
    }
}
