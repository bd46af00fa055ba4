//! Web archives: WARC, as crawlers write it (ISO 28500), and WET, which is WARC with the text of pages.
//!
//! A record is a header, a block whose length is in the header, and two empty lines. So an archive is cut by jumping
//! from header to header, and only the records that hold text go into batches: responses and resources that are HTML or
//! plain text, and conversions to it. Chunks, compression and charset are decoded when the batch is parsed.
//!
//! Where a member of gzip is damaged, reading continues with the next one that begins with a record. What was read of the
//! damaged one ends there: it is not joined with what follows.
//!
//! If a header is invalid, or its block is not followed by two empty lines, reading continues at the next two line ends
//! that `WARC/` follows, or at the next member of gzip that begins with `WARC/`. A record that is too long is skipped to the end that its header names, or to the next header of a
//! record, if one comes before: see `skip`. In any other record nothing that a server sent can pose as a record. Messages
//! identify records by their number in the file, like lines.

mod head;
mod skip;

use std::borrow::Cow;
use std::io::{self, Read};
use std::ops::Range;

use flate2::bufread::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};
use memchr::{memchr, memmem};

use super::decode::{Change, Decoded, Repair};
use super::html::{self, Charsets};
use super::options::WARC_MAGIC;
use super::reader::Reader;
use super::{Encoding, PageText, ProblemKind};
use crate::readable::display_size;
use head::{END, Fields, HEAD_BYTES, head_length, length};
use skip::{Ending, Skip};

/// The message for the last record of an archive that ends prematurely.
const CUT: &str = "the file ends within this record";

/// The first bytes of gzip.
const GZIP: &[u8] = b"\x1f\x8b";

/// The maximum length of the line before a chunk.
const LINE_BYTES: usize = 1 << 10;

/// A record that is wanted, or is broken; with its number in the file, from 1. All records count.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Record {
    pub number: u64,
    /// The position of its first byte in the archive, decompressed.
    #[cfg_attr(not(feature = "clean"), allow(dead_code))]
    pub start: u64,
    /// The positions of its header and its block in the piece; or what is wrong with it.
    pub found: Result<(Range<usize>, Range<usize>), Broken>,
}

/// Why a record cannot be read.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Broken {
    /// [`ProblemKind::Damaged`] if the archive cannot be read on, or what follows may not be records of it.
    pub kind: ProblemKind,
    pub message: String,
}

impl Record {
    /// Bytes of memory, without those of the piece.
    pub fn bytes_held(&self) -> usize {
        size_of::<Record>() + self.found.as_ref().map_or_else(|broken| broken.message.len(), |_| 0)
    }
}

impl Broken {
    fn record(message: String) -> Self {
        Broken { kind: ProblemKind::Archive, message }
    }

    fn stream(error: &io::Error) -> Self {
        Broken { kind: ProblemKind::Damaged, message: error.to_string() }
    }

    /// A record that is longer than allowed by its header, and ends so.
    fn skipped(length: usize, ending: Ending, max_record: usize) -> Self {
        let (kind, message) = match ending {
            Ending::Regular(_) => (ProblemKind::TooLong, longer(max_record)),
            // What follows may be a part of this record: no copy without some of it is made.
            Ending::Another(_) => {
                let advice = "another begins before that (if the length is right, allow more with `max-record`)";
                (ProblemKind::Damaged, format!("{}: {advice}", astray(length)))
            }
            Ending::Astray(_) => (ProblemKind::Damaged, astray(length)),
            Ending::Cut => (ProblemKind::Archive, CUT.to_owned()),
        };
        Broken { kind, message }
    }
}

/// Whole records in their order, with a list of the wanted ones.
#[derive(Debug)]
pub(super) struct Piece {
    pub bytes: Vec<u8>,
    pub records: Vec<Record>,
}

/// Cuts a stream into [`Piece`]s. Memory is bounded by a few blocks and one record.
pub(super) struct Archive<'a> {
    reader: Reader<'a>,
    block: usize,
    max_record: usize,
    /// The position of the buffer in the archive.
    base: u64,
    buffer: Vec<u8>,
    /// The number of bytes in the buffer that are processed.
    at: usize,
    /// Whether the start of the next record is being searched.
    lost: bool,
    /// The record that is too long and being skipped.
    skip: Option<Skip>,
    /// The number of records so far.
    number: u64,
    found: Vec<Record>,
    /// The bytes of memory that `found` takes.
    held: usize,
    /// Whether every record is returned, as soon as it is available.
    live: bool,
    /// The number of responses, resources and conversions skipped because they hold no text.
    pub textless: u64,
}

/// The result of examining the next record.
enum Step {
    /// Its length, and whether it is to be read.
    Whole {
        head: usize,
        block: usize,
        wanted: bool,
    },
    /// At least this many more bytes are needed to decide.
    More(usize),
    /// It is too long by its header; and whether it may hold text.
    TooLong {
        head: usize,
        block: usize,
        text: bool,
        textless: bool,
    },
    /// The end of the record that is too long.
    Skipped(Ending),
    Broken(Broken),
    /// Reading failed. What follows, if anything, begins with a record.
    Failed(Broken),
    /// The input has ended.
    End,
}

/// Where a record begins that is searched in a buffer.
enum Found {
    Start(usize),
    /// Perhaps here; more bytes are needed to decide.
    More(usize),
}

impl<'a> Archive<'a> {
    /// Reads about `block` bytes at a time.
    pub fn new(mut reader: Reader<'a>, block: usize, max_record: usize) -> Self {
        let buffer = std::mem::take(&mut reader.head);
        Archive {
            reader,
            block,
            max_record,
            base: 0,
            buffer,
            at: 0,
            lost: false,
            skip: None,
            number: 0,
            found: Vec::new(),
            held: 0,
            live: false,
            textless: 0,
        }
    }

    /// Blocks only until one record is available, and returns records without text too. Such a record that is too long
    /// counts as broken.
    pub fn live(reader: Reader<'a>, block: usize, max_record: usize) -> Self {
        Archive { live: true, ..Self::new(reader, block, max_record) }
    }

    /// As many records as there are.
    pub fn next(&mut self) -> Option<Piece> {
        loop {
            // Failures may take more memory than the bytes in which they were found.
            if self.held >= self.block.max(self.buffer.len())
                && let Some(piece) = self.take()
            {
                return Some(piece);
            }
            match self.step() {
                Step::Whole { head, block, wanted } => {
                    self.number += 1;
                    let (start, end) = (self.at + head, self.at + head + block);
                    if wanted || self.live {
                        self.found(Ok((self.at..start, start..end)));
                    }
                    self.at = end;
                }
                Step::More(bytes) => {
                    // After damage the buffer is not full: many small pieces would wait at the same time.
                    let is_full = self.live || self.buffer.len() >= self.block;
                    if is_full && let Some(piece) = self.take() {
                        return Some(piece);
                    }
                    let most = bytes.max(self.block).max(1);
                    if self.live {
                        self.reader.fill_some(&mut self.buffer, bytes, most);
                    } else {
                        self.reader.fill(&mut self.buffer, most);
                    }
                }
                Step::TooLong { head, block, text, textless } => {
                    self.number += 1;
                    self.skip = Some(Skip::new(self.base + self.at as u64, head, block, (text, textless)));
                    self.at += Skip::first(head);
                }
                Step::Skipped(ending) => self.skipped(ending),
                Step::Broken(broken) => {
                    self.number += 1;
                    self.found(Err(broken));
                    self.lose();
                }
                Step::Failed(broken) => {
                    self.number += 1;
                    self.found(Err(broken));
                }
                Step::End => return self.take(),
            }
        }
    }

    /// The number and the position of every record, up to the end or a failure.
    #[cfg(feature = "clean")]
    pub fn starts(reader: Reader<'a>, block: usize, max_record: usize) -> Vec<(u64, u64)> {
        let mut archive = Archive::live(reader, block, max_record);
        let mut starts = Vec::new();
        while let Some(Piece { records, .. }) = archive.next() {
            starts.extend(records.iter().map(|record| (record.number, record.start)));
        }
        starts
    }

    /// The record at the current position.
    fn found(&mut self, found: Result<(Range<usize>, Range<usize>), Broken>) {
        self.push(self.base + self.at as u64, found);
    }

    /// The record at this position of the archive.
    fn push(&mut self, start: u64, found: Result<(Range<usize>, Range<usize>), Broken>) {
        let record = Record { number: self.number, start, found };
        self.held += record.bytes_held();
        self.found.push(record);
    }

    /// The next record is somewhere after the first byte of this one.
    fn lose(&mut self) {
        self.lost = true;
        self.at = self.buffer.len().min(self.at + 1);
    }

    /// Returns the records found, with the processed part of the buffer; the rest becomes the next buffer.
    fn take(&mut self) -> Option<Piece> {
        if self.found.is_empty() {
            self.buffer.drain(..self.at);
            self.base += std::mem::take(&mut self.at) as u64;
            return None;
        }
        let at = std::mem::take(&mut self.at);
        self.base += at as u64;
        let rest = &self.buffer[at..];
        let room = if self.reader.is_ended() { 0 } else { self.block };
        let most = rest.len() + room;
        // A piece waits: it must not hold a buffer of which it uses little.
        let bytes = if self.buffer.capacity() > 2 * at {
            let bytes = self.buffer[..at].to_vec();
            self.buffer.drain(..at);
            self.buffer.shrink_to(most);
            bytes
        } else {
            let mut next = Vec::with_capacity(most);
            next.extend_from_slice(rest);
            self.buffer.truncate(at);
            std::mem::replace(&mut self.buffer, next)
        };
        self.held = 0;
        Some(Piece { bytes, records: std::mem::take(&mut self.found) })
    }

    /// Reading failed within a record, or after the last one. Where members of gzip are damaged, it continues with the
    /// next one that begins with a record.
    fn failed(&mut self, error: &io::Error) -> Broken {
        let mut broken = Broken::stream(error);
        if let Some(resumed) = self.reader.resume() {
            broken.message += &format!(" ({resumed})");
        }
        broken
    }

    /// The record that is too long ends so.
    fn skipped(&mut self, ending: Ending) {
        let Some(skip) = self.skip.take() else { return };
        let is_regular = matches!(ending, Ending::Regular(_));
        self.textless += u64::from(is_regular && skip.textless);
        self.lost = matches!(ending, Ending::Astray(_));
        self.at = match ending {
            Ending::Regular(at) | Ending::Another(at) | Ending::Astray(at) => at,
            Ending::Cut => self.buffer.len(),
        };
        let failure = self.reader.failure.take_if(|_| ending == Ending::Cut);
        let broken = match failure {
            None => Broken::skipped(skip.length, ending, self.max_record),
            Some(error) => self.failed(&error),
        };
        if !is_regular || skip.text || self.live {
            self.push(skip.start, Err(broken));
        }
    }

    /// The first member of gzip that begins from here on, before `end`, with a record. It is whole, so that what is before
    /// it need not end like a record.
    fn member_with_record(&self, end: usize, ended: bool) -> Option<Found> {
        let mut from = self.base + self.at as u64;
        loop {
            let start = self.reader.members.first_from(from)?;
            let at = usize::try_from(start - self.base).ok().filter(|&at| at < end)?;
            let line_ends = self.buffer[at..].iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
            let rest = &self.buffer[at + line_ends..];
            if rest.starts_with(WARC_MAGIC) {
                return Some(Found::Start(at));
            }
            if WARC_MAGIC.starts_with(rest) && !ended {
                return Some(Found::More(at));
            }
            from = start + 1;
        }
    }

    fn step(&mut self) -> Step {
        let ended = self.reader.is_ended();
        if let Some(skip) = &self.skip {
            let ending = skip.search(&self.buffer, &mut self.at, self.base, ended);
            return ending.map_or(Step::More(1), Step::Skipped);
        }
        if self.lost {
            let marker = [END, WARC_MAGIC].concat();
            let marked = memmem::find(&self.buffer[self.at..], &marker).map(|found| self.at + found + END.len());
            match self.member_with_record(marked.unwrap_or(self.buffer.len()), ended).or(marked.map(Found::Start)) {
                Some(Found::Start(at)) => self.at = at,
                Some(Found::More(at)) => {
                    self.at = at;
                    return Step::More(1);
                }
                None if ended => self.at = self.buffer.len(),
                None => {
                    // The last bytes may begin a match.
                    self.at = self.at.max(self.buffer.len().saturating_sub(marker.len() - 1));
                    return Step::More(1);
                }
            }
            self.lost = false;
        }
        self.at += self.buffer[self.at..].iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
        let rest = &self.buffer[self.at..];
        if rest.is_empty() && !ended {
            return Step::More(1);
        }
        if rest.is_empty() {
            let failure = self.reader.failure.take();
            return failure.map_or(Step::End, |error| Step::Failed(self.failed(&error)));
        }
        match look(rest, self.max_record, ended) {
            Step::Whole { wanted: false, head, block } => {
                self.textless += u64::from(kind(&Fields(&rest[..head])) != Kind::Other);
                Step::Whole { wanted: false, head, block }
            }
            // The failure is more informative than a message that something is missing.
            Step::More(_) if ended => match self.reader.failure.take() {
                Some(error) => {
                    self.at = self.buffer.len();
                    Step::Failed(self.failed(&error))
                }
                None => Step::Broken(Broken::record(CUT.to_owned())),
            },
            step => step,
        }
    }
}

/// Examines the record that `rest` starts with. If the record is not whole, requests more even if the input has ended.
fn look(rest: &[u8], max_record: usize, ended: bool) -> Step {
    let start = &rest[..rest.len().min(WARC_MAGIC.len())];
    if !WARC_MAGIC.starts_with(start) {
        return Step::Broken(Broken::record("no WARC record starts here".to_owned()));
    }
    let Some(head) = head_length(rest) else {
        let long = format!("header longer than {}", display_size(HEAD_BYTES));
        return if rest.len() < HEAD_BYTES { Step::More(1) } else { Step::Broken(Broken::record(long)) };
    };
    let fields = Fields(&rest[..head]);
    let Some(named) = fields.get("content-length") else {
        return Step::Broken(Broken::record("no Content-Length".to_owned()));
    };
    let Some(block) = length(named) else {
        return Step::Broken(Broken::record(format!("Content-Length '{}' is not a length", shown(named))));
    };
    let kind = kind(&fields);
    if block > max_record.saturating_sub(head) {
        let seen = rest.len() - head;
        if kind == Kind::Response && seen < HEAD_BYTES && !ended {
            return Step::More(HEAD_BYTES - seen);
        }
        let text = is_text(&fields, &rest[head..head + seen.min(block).min(HEAD_BYTES)]).is_some();
        return Step::TooLong { head, block, text, textless: !text && kind != Kind::Other };
    }
    let whole = head + block;
    let after = rest.get(whole..).unwrap_or(b"");
    if after.len() < END.len() && !ended {
        return Step::More(whole + END.len() - rest.len());
    }
    // Nothing is lost if the last record is whole and only its end is missing.
    let is_end = after.starts_with(END) || (ended && rest.len() >= whole && END.starts_with(after));
    let leads_astray = || memmem::find(&rest[1..], &[END, WARC_MAGIC].concat()).is_some();
    if !is_end && (rest.len() >= whole || leads_astray()) {
        return Step::Broken(Broken::record(astray(block)));
    }
    if !is_end {
        return Step::More(whole - rest.len());
    }
    Step::Whole { head, block, wanted: kind != Kind::Other && is_text(&fields, &rest[head..whole]).is_some() }
}

/// The message that a length is wrong.
fn astray(length: usize) -> String {
    format!("Content-Length {length} does not lead to the end of the record")
}

fn longer(max_record: usize) -> String {
    format!("record longer than {} (allow more with `max-record`)", display_size(max_record))
}

/// Bytes of the input in a message.
fn shown(bytes: &[u8]) -> String {
    bytes[..bytes.len().min(40)].escape_ascii().to_string()
}

/// The types of records, as far as they are distinguished.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// A response of a server, with its HTTP header.
    Response,
    /// A document without an HTTP header.
    Document,
    Other,
}

fn kind(fields: &Fields) -> Kind {
    match fields.get("warc-type") {
        Some(kind) if kind.eq_ignore_ascii_case(b"response") => Kind::Response,
        Some(kind) if kind.eq_ignore_ascii_case(b"resource") => Kind::Document,
        Some(kind) if kind.eq_ignore_ascii_case(b"conversion") => Kind::Document,
        _ => Kind::Other,
    }
}

/// The content of a record, if it is text.
struct Payload<'a> {
    html: bool,
    charset: Option<&'a [u8]>,
    body: &'a [u8],
    /// The HTTP header; empty for a document without one.
    http: Fields<'a>,
}

/// The text in a block, or in its start, selected by its declared type.
fn is_text<'a>(fields: &Fields<'a>, block: &'a [u8]) -> Option<Payload<'a>> {
    let (http, body, said) = match kind(fields) {
        Kind::Response if block.starts_with(b"HTTP/") => {
            let (http, body) = block.split_at(head_length(block).unwrap_or(block.len()));
            let said = Fields(http).get("content-type").or_else(|| fields.get("warc-identified-payload-type"));
            (Fields(http), body, said?)
        }
        Kind::Document => (Fields(b""), block, fields.get("content-type")?),
        Kind::Response | Kind::Other => return None,
    };
    let media = said.split(|&byte| byte == b';').next().unwrap_or(b"").trim_ascii();
    let is = |name: &str| media.eq_ignore_ascii_case(name.as_bytes());
    let html = is("text/html") || is("application/xhtml+xml");
    (html || is("text/plain")).then(|| Payload { html, charset: html::charset_of(said), body, http })
}

/// The document in a record.
pub(super) struct Page<'a> {
    /// The URI; `None` if the record names none.
    pub id: Option<Cow<'a, str>>,
    /// Whether all text was read because no main text was found.
    pub fell_back: bool,
    pub content: Decoded<'a>,
}

/// Parses the record with this header and this block. The encoding `named` is that of text of which neither the server nor the
/// page names one. `None` if it holds no text. The error means that its content
/// coding is not supported, that nothing of it can be decoded, or that it is too long.
pub(super) fn page<'a>(
    head: &'a [u8],
    block: &'a [u8],
    max_record: usize,
    wanted: PageText,
    named: Option<Encoding>,
) -> Option<Result<Page<'a>, Trouble>> {
    let fields = Fields(head);
    let payload = is_text(&fields, block)?;
    let uri = fields.get("warc-target-uri").map(|uri| {
        let bare = uri.strip_prefix(b"<").and_then(|uri| uri.strip_suffix(b">"));
        String::from_utf8_lossy(bare.unwrap_or(uri))
    });
    Some(payload.unpack(max_record).map(|Unpacked { bytes, damage }| {
        let Payload { html, charset, .. } = payload;
        let charsets = Charsets::of_server(charset, named);
        let (decoded, fell_back) = if html {
            let html::Page { text, fell_back, repair } = html::page(&bytes, charsets, wanted);
            (Decoded { text: Cow::Owned(text), repair }, fell_back)
        } else {
            (plain(bytes, charsets), false)
        };
        let damage = damage.map(|message| Repair { change: Change::Incomplete, message, replaced: 0 });
        let repair = Repair::both(damage, decoded.repair);
        Page { id: uri.filter(|uri| !uri.is_empty()), fell_back, content: Decoded { text: decoded.text, repair } }
    }))
}

/// Why a text is not read.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Trouble {
    /// Its Content-Encoding is not supported.
    Coding(String),
    /// It is damaged, or ends too early, before any text.
    Damaged(String),
    /// It is longer, decompressed, than a record may be.
    TooLong,
}

/// The decoded body.
struct Unpacked<'a> {
    bytes: Cow<'a, [u8]>,
    /// What is wrong with it, if it is incomplete.
    damage: Option<String>,
}

/// A text that is not a page.
fn plain(bytes: Cow<'_, [u8]>, charsets: Charsets) -> Decoded<'_> {
    match bytes {
        Cow::Borrowed(bytes) => html::decode(bytes, charsets, false),
        Cow::Owned(bytes) => {
            let Decoded { text, repair } = html::decode(&bytes, charsets, false);
            Decoded { text: Cow::Owned(text.into_owned()), repair }
        }
    }
}

impl<'a> Payload<'a> {
    /// Decodes the transfer and content codings of a body. Some crawlers keep the header and store the body already
    /// decoded: a body that is not coded as its header says is taken unchanged.
    fn unpack(&self, max_record: usize) -> Result<Unpacked<'a>, Trouble> {
        let says =
            |name: &str, what: &str| self.http.get(name).is_some_and(|v| v.eq_ignore_ascii_case(what.as_bytes()));
        let chunked = if says("transfer-encoding", "chunked") { dechunk(self.body) } else { None };
        let sent = chunked.unwrap_or(Unpacked { bytes: Cow::Borrowed(self.body), damage: None });
        let coding = match self.http.get("content-encoding") {
            None | Some(b"") => return Ok(sent),
            Some(coding) => coding.to_ascii_lowercase(),
        };
        let body: &[u8] = &sent.bytes;
        let limit = max_record as u64 + 1;
        let mut bytes = Vec::new();
        let unpacked = match (&*coding, body) {
            (b"gzip" | b"x-gzip", body) if body.starts_with(GZIP) => {
                MultiGzDecoder::new(body).take(limit).read_to_end(&mut bytes)
            }
            // The header of zlib is a multiple of 31. Many servers leave it out.
            (b"deflate", &[first @ 0x78, second, ..])
                if (u16::from(first) << 8 | u16::from(second)).is_multiple_of(31) =>
            {
                ZlibDecoder::new(body).take(limit).read_to_end(&mut bytes)
            }
            (b"deflate", _) => DeflateDecoder::new(body).take(limit).read_to_end(&mut bytes),
            (b"gzip" | b"x-gzip" | b"identity", _) => return Ok(sent),
            _ => return Err(Trouble::Coding(shown(&coding))),
        };
        if bytes.len() > max_record {
            return Err(Trouble::TooLong);
        }
        match unpacked {
            // No text begins like gzip. What deflate refuses may be text that the crawler decoded.
            Err(error) if bytes.is_empty() && body.starts_with(GZIP) => {
                Err(Trouble::Damaged(format!("{} body is {}", shown(&coding), state(&error))))
            }
            Err(_) if bytes.is_empty() => Ok(sent),
            Err(error) => {
                let damage = || format!("{} body is {}: its start was read", shown(&coding), state(&error));
                Ok(Unpacked { bytes: bytes.into(), damage: sent.damage.or_else(|| Some(damage())) })
            }
            Ok(_) => Ok(Unpacked { bytes: bytes.into(), damage: sent.damage }),
        }
    }
}

/// What is wrong with a coded body, by the error of its decoder.
fn state(error: &io::Error) -> &'static str {
    if error.kind() == io::ErrorKind::UnexpectedEof { "truncated" } else { "damaged" }
}

/// Joins a body that was sent in chunks; `None` if it does not start with one.
fn dechunk(body: &[u8]) -> Option<Unpacked<'static>> {
    let mut next = chunk(body);
    // A body whose first line happens to be a number was decoded already, unless that many bytes follow.
    let (length, rest) = next?;
    if length < rest.len() && !rest[length..].starts_with(b"\r\n") && !rest[length..].starts_with(b"\n") {
        return None;
    }
    let mut bytes = Vec::with_capacity(body.len());
    loop {
        match next {
            Some((0, _)) => return Some(Unpacked { bytes: bytes.into(), damage: None }),
            Some((length, rest)) if length <= rest.len() => {
                let (data, rest) = rest.split_at(length);
                bytes.extend_from_slice(data);
                next = chunk(rest.strip_prefix(b"\r\n").unwrap_or(rest));
            }
            broken => {
                bytes.extend_from_slice(broken.map_or(b"", |(_, rest)| rest));
                let damage = Some("chunked body is damaged: its start was read".to_owned());
                return Some(Unpacked { bytes: bytes.into(), damage });
            }
        }
    }
}

/// The length of a chunk, and the bytes after the line with the length.
fn chunk(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let end = memchr(b'\n', &bytes[..bytes.len().min(LINE_BYTES)])?;
    let digits = bytes[..end].split(|&byte| byte == b';').next()?.trim_ascii();
    let digits =
        std::str::from_utf8(digits).ok().filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
    Some((usize::from_str_radix(digits, 16).ok()?, &bytes[end + 1..]))
}

#[cfg(test)]
mod tests {
    use super::super::decompress::tests::gzip;
    use super::*;
    use crate::readable::count;
    use flate2::Compression;
    use flate2::write::{DeflateEncoder, ZlibEncoder};
    use proptest::prelude::*;
    use std::io::Write;

    fn record(fields: &[(&str, &str)], block: &[u8]) -> Vec<u8> {
        let fields: String = fields.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        let head = format!("WARC/1.0\r\n{fields}Content-Length: {}\r\n\r\n", block.len());
        [head.as_bytes(), block, END].concat()
    }

    fn conversion(uri: &str, text: &[u8]) -> Vec<u8> {
        record(&[("WARC-Type", "conversion"), ("WARC-Target-URI", uri), ("Content-Type", "text/plain")], text)
    }

    fn response(uri: &str, http: &str, body: &[u8]) -> Vec<u8> {
        let fields = [
            ("WARC-Type", "response"),
            ("WARC-Target-URI", uri),
            ("Content-Type", "application/http; msgtype=response"),
        ];
        record(&fields, &[b"HTTP/1.1 200 OK\r\n", http.as_bytes(), b"\r\n\r\n", body].concat())
    }

    /// Documents as `number uri|text`, with what was repaired behind, and problems; at the end how many had no text.
    fn read(bytes: &[u8], block: usize, max_record: usize) -> (Vec<String>, u64) {
        let mut archive = Archive::new(Reader::new(Box::new(bytes)), block, max_record);
        let mut out = Vec::new();
        while let Some(Piece { bytes, records }) = archive.next() {
            for Record { number, found, .. } in records {
                let (head, block) = match found {
                    Ok((head, block)) => (&bytes[head], &bytes[block]),
                    Err(Broken { message, .. }) => {
                        out.push(format!("{number}: {message}"));
                        continue;
                    }
                };
                out.push(match page(head, block, max_record, PageText::All, None).expect("it holds text") {
                    Ok(Page { id, content: Decoded { text, repair }, .. }) => {
                        let repair = repair.map_or(String::new(), |repair| format!(" ({})", repair.message));
                        format!("{number} {}|{text}{repair}", id.unwrap_or("-".into()))
                    }
                    Err(trouble) => format!("{number}: {trouble:?}"),
                });
            }
        }
        (out, archive.textless)
    }

    fn check(bytes: &[u8], expected: &[&str]) {
        for block in [1 << 20, 1000, 64, 1] {
            assert_eq!(read(bytes, block, 1 << 20).0, expected, "block {block}");
        }
    }

    /// The text of one response.
    fn check_response(http: &str, body: &[u8], expected: &str) {
        check(&response("u", http, body), &[&format!("1 u|{expected}")]);
    }

    #[test]
    fn records_that_hold_text_and_others() {
        let html = ("Content-Type", "text/html");
        let archive = [
            record(&[("WARC-Type", "warcinfo"), ("Content-Type", "application/warc-fields")], b"software: x\r\n"),
            record(&[("WARC-Type", "request"), ("WARC-Target-URI", "http://a/")], b"GET / HTTP/1.1\r\n\r\n"),
            response("http://a/", "Content-Type: text/html; charset=koi8-r", b"<title>\xc1</title><p>x"),
            response("http://a/logo", "Content-Type: image/png", b"\x89PNG"),
            response("http://a/untold", "Server: x", b"text"),
            record(&[("WARC-Type", "response"), ("Content-Type", "text/dns")], b"20240101\na 60 IN A 1.2.3.4"),
            record(&[("warc-type", "Resource"), html, ("WARC-TARGET-URI", " <file://b> ")], b"<b>b</b>old"),
            conversion("c", "é".as_bytes()),
            record(&[("WARC-Type", "conversion"), ("Content-Type", "text/plain")], b""),
            record(&[("WARC-Type", "revisit"), html], b""),
        ];
        let expected = ["3 http://a/|а\nx", "7 file://b|bold", "8 c|é", "9 -|"];
        check(&archive.concat(), &expected);
        assert_eq!(read(&archive.concat(), 100, 1 << 20).1, 3);
        check(b"", &[]);
    }

    #[test]
    fn what_the_archive_identified_stands_in_for_what_the_server_did_not_say() {
        let identified = [
            ("WARC-Type", "response"),
            ("WARC-Identified-Payload-Type", "application/xhtml+xml"),
            ("WARC-Target-URI", "u"),
        ];
        check(&record(&identified, b"HTTP/1.0 200\nServer: x\n\n<p>x</p>"), &["1 u|x"]);
    }

    #[test]
    fn bodies_are_unpacked() {
        let plain = "Content-Type: text/plain";
        let pack = |what: &str| format!("{plain}\r\nContent-Encoding: {what}");
        let text = "text ".repeat(100).into_bytes();
        let expected = String::from_utf8(text.clone()).unwrap();
        let mut zlib = ZlibEncoder::new(Vec::new(), Compression::default());
        zlib.write_all(&text).unwrap();
        let mut deflate = DeflateEncoder::new(Vec::new(), Compression::default());
        deflate.write_all(&text).unwrap();
        let (zlib, deflate) = (zlib.finish().unwrap(), deflate.finish().unwrap());
        check_response(&pack("gzip"), &gzip(&text), &expected);
        check_response(&pack("x-GZIP"), &gzip(&text), &expected);
        check_response(&pack("deflate"), &zlib, &expected);
        check_response(&pack("deflate"), &deflate, &expected);
        check_response(&pack("identity"), &text, &expected);
        // Stored decoded by the crawler.
        check_response(&pack("gzip"), b"as it is", "as it is");
        check_response(&pack("deflate"), b"as it is", "as it is");
        let chunked = |rest: &str| format!("{plain}\r\nTransfer-Encoding: chunked{rest}");
        check_response(&chunked(""), b"5;x=y\r\nchunk\r\n1\r\ns\r\n0\r\n\r\n", "chunks");
        check_response(&chunked(""), b"no chunks\n", "no chunks\n");
        check_response(&chunked(""), b"+5\r\nchunk", "+5\r\nchunk");
        let gz = gzip(b"both");
        let sent = [format!("{:X}\r\n", gz.len()).as_bytes(), &gz, b"\r\n0\r\n\r\n"].concat();
        check_response(&chunked("\r\nContent-Encoding: gzip"), &sent, "both");
    }

    #[test]
    fn bodies_that_cannot_be_unpacked_whole() {
        let plain = "Content-Type: text/plain";
        let random: Vec<u8> = (0..2000u64).map(|n| b'a' + (crate::hash::mix(n) % 26) as u8).collect();
        let gz = gzip(&random);
        let (found, _) = read(&response("u", &format!("{plain}\r\nContent-Encoding: gzip"), &gz[..1000]), 100, 1 << 20);
        let (text, repair) = found[0].strip_prefix("1 u|").unwrap().split_once(' ').unwrap();
        assert!(text.len() > 100 && String::from_utf8(random).unwrap().starts_with(text));
        assert_eq!(repair, "(gzip body is truncated: its start was read)");
        for body in ["5\r\nchu", "3\r\nchu", "3\r\nchu\r\nno length\r\n", "3\r\nchu\r\nffffffffffffffffff\r\n"] {
            let chunked = format!("{plain}\r\nTransfer-Encoding: chunked");
            check_response(&chunked, body.as_bytes(), "chu (chunked body is damaged: its start was read)");
        }
        check(&response("u", &format!("{plain}\r\nContent-Encoding: br"), b"x"), &["1: Coding(\"br\")"]);
        let bomb = response("u", &format!("{plain}\r\nContent-Encoding: gzip"), &gzip(&[0; 100_000]));
        assert_eq!(read(&bomb, 100, 10_000).0, ["1: TooLong"]);
    }

    /// What is left of a gzip body is no text: it is broken, unless some text can be read of it. A body that is not gzip is taken as it is.
    #[test]
    fn a_gzip_body_of_which_nothing_can_be_read_is_broken() {
        let http = "Content-Type: text/plain\r\nContent-Encoding: gzip";
        let text: Vec<u8> = (0..2000u64).map(|n| b'a' + (crate::hash::mix(n) % 26) as u8).collect();
        let gz = gzip(&text);
        // The header has 10 bytes (RFC 1952); nothing comes of it.
        let mut damaged = gz.clone();
        // A block of the type that is reserved (RFC 1951).
        damaged[10] |= 0b110;
        let mut flagged = gz[..4].to_vec();
        flagged[3] = 0x08;
        for (body, what) in [
            (&gz[..2], "truncated"),
            (&gz[..10], "truncated"),
            (&gz[..12], "truncated"),
            (&damaged, "damaged"),
            (&flagged, "truncated"),
        ] {
            let archive = [response("u", http, body), conversion("b", b"text b")].concat();
            check(&archive, &[&format!("1: Damaged(\"gzip body is {what}\")"), "2 b|text b"]);
        }
        for body in [&b"\x1f"[..], b"\x1fx", b""] {
            check_response(http, body, std::str::from_utf8(body).unwrap());
        }
    }

    #[test]
    fn a_record_that_makes_no_sense_is_named_and_the_next_is_read() {
        let (a, b) = (conversion("a", b"text a"), conversion("b", b"text b"));
        let with =
            |length: &str| String::from_utf8(a.clone()).unwrap().replace("Length: 6", &format!("Length: {length}"));
        let astray = |length| format!("1: Content-Length {length} does not lead to the end of the record");
        for (first, message) in [
            (with("5"), astray("5")),
            (with("7"), astray("7")),
            (with("100"), astray("100")),
            (with("1000"), astray("1000")),
            (with("x"), "1: Content-Length 'x' is not a length".to_owned()),
            (with("+6"), "1: Content-Length '+6' is not a length".to_owned()),
            (with("18446744073709551616"), "1: Content-Length '18446744073709551616' is not a length".to_owned()),
            (with("6").replace("Content-Length", "Length"), "1: no Content-Length".to_owned()),
            ("garbage\r\n\r\n".to_owned(), "1: no WARC record starts here".to_owned()),
            (with("6").replace("WARC/", "CRAW/"), "1: no WARC record starts here".to_owned()),
            (format!("WARC/1.0\r\n{}\r\n\r\n", "x".repeat(70_000)), "1: header longer than 64 KiB".to_owned()),
        ] {
            check(&[first.as_bytes(), &b, &a].concat(), &[&message, "2 b|text b", "3 a|text a"]);
        }
    }

    #[test]
    fn records_longer_than_allowed() {
        let archive = [
            conversion("a", &[b'x'; 5000]),
            conversion("b", b"short"),
            response("c", "Content-Type: video/mp4", &[0; 100_000]),
            record(&[("WARC-Type", "request")], &[b'x'; 5000]),
            response("d", "Content-Type: text/html", &[b'x'; 100_000]),
            conversion("e", b"short"),
        ];
        let long = |number| format!("{number}: record longer than 4000 bytes (allow more with `max-record`)");
        for block in [1, 100, 10_000, 1 << 20] {
            let (found, textless) = read(&archive.concat(), block, 4000);
            assert_eq!(found, [&long(1), "2 b|short", &long(5), "6 e|short"]);
            assert_eq!(textless, 1);
        }
    }

    fn long(number: u64) -> String {
        format!("{number}: record longer than 4000 bytes (allow more with `max-record`)")
    }

    fn astray(number: u64, length: impl std::fmt::Display) -> String {
        format!("{number}: Content-Length {length} does not lead to the end of the record")
    }

    fn another(number: u64, length: impl std::fmt::Display) -> String {
        let advice = "another begins before that (if the length is right, allow more with `max-record`)";
        format!("{}: {advice}", astray(number, length))
    }

    /// With a limit of 4000 bytes, in blocks of several sizes.
    fn check_long(archive: &[u8], expected: &[String]) {
        for block in [1, 7, 100, 10_000, 1 << 20] {
            assert_eq!(read(archive, block, 4000).0, expected, "block {block}");
        }
    }

    /// The record claims this length.
    fn claiming(record: &[u8], length: &str) -> Vec<u8> {
        let at = memmem::find(record, b"Content-Length: ").unwrap() + "Content-Length: ".len();
        let end = at + memchr(b'\r', &record[at..]).unwrap();
        [&record[..at], length.as_bytes(), &record[end..]].concat()
    }

    #[test]
    fn a_length_that_is_far_too_large_loses_one_record() {
        let (a, b) = (conversion("a", b"text a"), conversion("b", &[b'b'; 1000]));
        let after = [&a[..], &b, &a, &b, &a, &b, &a, &b, &a, &b].concat();
        let others = |first: u64| -> Vec<String> {
            let b = format!("b|{}", "b".repeat(1000));
            (first..first + 10).map(|n| format!("{n} {}", if n % 2 == first % 2 { "a|text a" } else { &b })).collect()
        };
        // Most of these end within another record, some after the end of the file.
        for length in
            ["3990", "4001", "4500", "5000", "5001", "70000000", "9223372036854775807", "18446744073709551615"]
        {
            for first in [
                conversion("bad", b"text"),
                response("bad", "Content-Type: text/html", b"text"),
                response("bad", "Content-Type: image/png", b"text"),
                record(&[("WARC-Type", "request")], b""),
            ] {
                let expected = [vec![another(1, length)], others(2)].concat();
                check_long(&[claiming(&first, length), after.clone()].concat(), &expected);
            }
        }
        // Several of them, one without a block and an end.
        let bad = claiming(&conversion("bad", b"text"), "18446744073709551615");
        let head = claiming(&conversion("bad", b""), "70000000");
        let head = &head[..head.len() - END.len()];
        let expected = [vec![another(1, u64::MAX), another(2, 70_000_000), another(3, u64::MAX)], others(4)].concat();
        check_long(&[&bad, head, &bad, &after].concat(), &expected);
    }

    #[test]
    fn a_length_that_is_a_little_wrong_in_a_record_that_is_too_long() {
        let (long, b) = (conversion("long", &[b'x'; 5000]), conversion("b", b"text b"));
        for (length, message) in [
            (4990, astray(1, 4990)),
            (4996, astray(1, 4996)),
            (4999, astray(1, 4999)),
            (5001, another(1, 5001)),
            (5002, another(1, 5002)),
            (5004, another(1, 5004)),
            (5005, another(1, 5005)),
            (5020, another(1, 5020)),
        ] {
            let wrong = claiming(&long, &length.to_string());
            check_long(&[&wrong[..], &b, &b].concat(), &[message, "2 b|text b".into(), "3 b|text b".into()]);
        }
        // What follows is no record either.
        let headless = String::from_utf8(b.clone()).unwrap().replace("Content-Length", "Length").into_bytes();
        for (length, found) in [(4990, true), (4999, true), (5001, false), (5004, false), (5005, false), (5020, false)]
        {
            let named = found.then(|| "2: no Content-Length".to_owned());
            let b = format!("{} b|text b", if found { 3 } else { 2 });
            let expected: Vec<String> = [astray(1, length)].into_iter().chain(named).chain([b]).collect();
            let wrong = claiming(&long, &length.to_string());
            check_long(&[&wrong[..], &headless, &conversion("b", b"text b")].concat(), &expected);
        }
        // Bytes between the records are one.
        let between = [&long[..], b"zzzzz\r\n\r\n", &b].concat();
        check_long(&between, &[self::long(1), "2: no WARC record starts here".into(), "3 b|text b".into()]);
    }

    #[test]
    fn a_record_within_one_that_is_too_long_is_read() {
        let forged = conversion("forged", b"never crawled");
        let in_lines = String::from_utf8(forged.clone()).unwrap().replacen("\r\n", "\n", 6);
        let b = conversion("b", b"text b");
        for (before, inner) in [("\r\n\r\n", &forged[..]), ("\n\n", in_lines.as_bytes()), ("\n\r\n", &forged)] {
            let body = [&[b'x'; 3000][..], before.as_bytes(), inner, &[b'y'; 3000]].concat();
            let expected = [
                another(1, body.len()),
                "2 forged|never crawled".to_owned(),
                "3: no WARC record starts here".to_owned(),
                "4 b|text b".to_owned(),
            ];
            check_long(&[conversion("long", &body), b.clone()].concat(), &expected);
        }
    }

    #[test]
    fn what_is_no_header_begins_no_record() {
        let b = conversion("b", b"text b");
        let forged = String::from_utf8(conversion("forged", b"never crawled")).unwrap();
        for inner in [
            // Not after an empty line.
            format!("x{forged}"),
            format!("\r\n{forged}"),
            format!("\r\n\r{forged}"),
            format!("\r\n\r\n {forged}"),
            format!("\r\n\r\n{}", forged.replace("WARC/", "warc/")),
            format!("\r\n\r\n{}", forged.replace("WARC/1.0", "WARC/")),
            format!("\r\n\r\n{}", forged.replace("WARC/1.0", "WARC/1.")),
            format!("\r\n\r\n{}", forged.replace("WARC/1.0", "WARC/1")),
            format!("\r\n\r\n{}", forged.replace("WARC/1.0", "WARC/1.0 is a format")),
            format!("\r\n\r\n{}", forged.replace("WARC-Type", "Type")),
            format!("\r\n\r\n{}", forged.replace("conversion", "")),
            format!("\r\n\r\n{}", forged.replace("conversion", "of a page")),
            format!("\r\n\r\n{}", forged.replace("Content-Length", "Length")),
            format!("\r\n\r\n{}", forged.replace("Length: 13", "Length: ")),
            format!("\r\n\r\n{}", forged.replace("Length: 13", "Length: -13")),
            format!("\r\n\r\n{}", forged.replace("Length: 13", "Length: 99999999999999999999")),
            format!("\r\n\r\n{}", forged.replace("WARC-Type", &format!("X: {}\r\nWARC-Type", "x".repeat(65_600)))),
            // The end of the block cuts the header.
            format!("\r\n\r\n{}", &forged[..forged.find("Content-Type").unwrap()]),
        ] {
            let archive = [conversion("long", &[&[b'x'; 4000], inner.as_bytes()].concat()), b.clone()].concat();
            for block in [7, 100, 1 << 20] {
                assert_eq!(read(&archive, block, 4000).0, [long(1), "2 b|text b".into()], "block {block}: {inner:?}");
            }
        }
    }

    #[test]
    fn what_looks_like_a_record_in_one_of_an_allowed_length_is_none() {
        let forged = conversion("forged", b"never crawled");
        let body = [&b"x".repeat(1000)[..], END, &forged, &b"y".repeat(1000)].concat();
        let text = format!("1 a|{}", std::str::from_utf8(&body).unwrap());
        check_long(&[conversion("a", &body), conversion("b", b"text b")].concat(), &[text, "2 b|text b".into()]);
    }

    #[test]
    fn an_archive_that_ends_within_a_record_that_is_too_long() {
        let whole = [conversion("a", b"text a"), conversion("long", &[b'x'; 5000])].concat();
        let image = [conversion("a", b"text a"), response("image", "Content-Type: image/png", &[b'x'; 5000])].concat();
        let endless = String::from_utf8(whole.clone()).unwrap().replace("5000", "18446744073709551615");
        let far = String::from_utf8(whole.clone()).unwrap().replace("5000", "70000000");
        let a = "1 a|text a".to_owned();
        for ends in 0..=END.len() {
            check_long(&whole[..whole.len() - ends], &[a.clone(), long(2)]);
        }
        let cut = "2: the file ends within this record".to_owned();
        for input in [&whole[..whole.len() - END.len() - 1], &image[..image.len() - 1000]] {
            check_long(input, &[a.clone(), cut.clone()]);
        }
        for input in [endless, far] {
            check_long(input.as_bytes(), &[a.clone(), cut.clone()]);
        }
        // A header that the file cuts is no record.
        let header = [&whole[..whole.len() - 1000], b"\r\n\r\nWARC/1.0\r\nWARC-Type: metadata\r\n"].concat();
        check_long(&header, &[a, cut]);
    }

    #[test]
    fn a_stream_that_fails_within_a_record_that_is_too_long_says_why_once() {
        let mut reader = Reader::new(Box::new(&b""[..]));
        reader.fill_head(None);
        reader.head = conversion("long", &[b'x'; 5000])[..4500].to_vec();
        reader.failure = Some(io::Error::other("disk on fire"));
        let mut archive = Archive::new(reader, 100, 4000);
        let Piece { records, .. } = archive.next().unwrap();
        let why = Broken { kind: ProblemKind::Damaged, message: "disk on fire".to_owned() };
        assert_eq!(records, [Record { number: 1, start: 0, found: Err(why) }]);
        assert!(archive.next().is_none());
    }

    #[test]
    fn the_kinds_of_records_that_are_too_long() {
        let good = conversion("a", b"text a");
        for (first, kind) in [
            (conversion("long", &[b'x'; 5000]), ProblemKind::TooLong),
            // No copy without some of the records is made: these may be parts of the block of another.
            (claiming(&conversion("bad", b"text"), "5000"), ProblemKind::Damaged),
            (claiming(&conversion("long", &[b'x'; 5000]), "4999"), ProblemKind::Damaged),
            (claiming(&conversion("bad", b"text"), "1"), ProblemKind::Archive),
        ] {
            let bytes = [&first[..], &good, &good].concat();
            for live in [false, true] {
                let new = if live { Archive::live } else { Archive::new };
                let mut archive = new(Reader::new(Box::new(&bytes[..])), 100, 4000);
                let mut records = Vec::new();
                while let Some(piece) = archive.next() {
                    records.extend(piece.records);
                }
                let places: Vec<_> = records.iter().map(|record| (record.number, record.start)).collect();
                let starts = [0, first.len(), first.len() + good.len()].map(|start| start as u64);
                assert_eq!(places, [(1, starts[0]), (2, starts[1]), (3, starts[2])]);
                assert!(matches!(&records[0].found, Err(broken) if broken.kind == kind), "{:?}", records[0]);
            }
        }
    }

    #[test]
    fn a_stream_that_fails_says_why() {
        let whole = [conversion("a", b"text a"), conversion("b", b"text b")].concat();
        for (length, number) in [(whole.len(), 3), (whole.len() - 10, 2)] {
            let mut reader = Reader::new(Box::new(&b""[..]));
            reader.fill_head(None);
            reader.head = whole[..length].to_vec();
            reader.failure = Some(io::Error::other("disk on fire"));
            let mut archive = Archive::new(reader, 100, 1000);
            let mut last = None;
            while let Some(Piece { mut records, .. }) = archive.next() {
                last = records.pop();
            }
            let Some(Record { number: own, found: Err(why), .. }) = last else { panic!("the last one cannot be read") };
            assert_eq!((own, why.kind, &*why.message), (number, ProblemKind::Damaged, "disk on fire"));
        }
    }

    /// Numbers, and blocks of records or messages, of an archive in gzip that is read in such blocks.
    fn members(raw: &[u8], block: usize, live: bool) -> Vec<(u64, Result<Vec<u8>, String>)> {
        let reader = Reader::of(raw, Default::default(), &super::super::ReadOptions::default()).unwrap();
        let mut archive = if live { Archive::live(reader, block, 4000) } else { Archive::new(reader, block, 4000) };
        let mut out = Vec::new();
        while let Some(Piece { bytes, records }) = archive.next() {
            let found = records.into_iter().map(|Record { number, found, .. }| {
                (number, found.map(|(_, block)| bytes[block].to_vec()).map_err(|broken| broken.message))
            });
            out.extend(found);
        }
        out
    }

    /// Pieces wait for each other: many small ones would take more memory than their bytes.
    #[test]
    fn damaged_members_do_not_make_a_piece_each() {
        let mut raw = Vec::new();
        for _ in 0..200 {
            raw.extend(gzip(&conversion("u", b"some text")));
            // The checksum, before the length.
            let at = raw.len() - 5;
            raw[at] ^= 1;
        }
        let reader = Reader::of(&raw[..], Default::default(), &super::super::ReadOptions::default()).unwrap();
        let mut archive = Archive::new(reader, 1 << 20, 4000);
        let pieces: Vec<usize> = std::iter::from_fn(|| archive.next()).map(|piece| piece.records.len()).collect();
        assert_eq!(pieces, [400], "a record and a failure of each member");
    }

    /// Each gives a few bytes and a failure: what was found must not grow while the buffer fills.
    #[test]
    fn what_is_found_in_a_piece_is_bounded() {
        let damaged = [&b"\x1f\x8b\x08\0\0\0\0\0\0\xff\0\x07\0\xf8\xff"[..], b"WARC/1.\x07"].concat();
        let broken = [END, WARC_MAGIC, END].concat();
        for (one, first) in [(&damaged, gzip(&conversion("u", b"text"))), (&broken, conversion("u", b"text"))] {
            let raw = [first, one.repeat(20_000)].concat();
            let reader = Reader::of(&raw[..], Default::default(), &super::super::ReadOptions::default()).unwrap();
            let mut archive = Archive::new(reader, 1 << 16, 4000);
            let mut found = 0;
            while let Some(Piece { bytes, records }) = archive.next() {
                found += records.len();
                assert!(records.len() * size_of::<Record>() <= 2 << 16, "{}", records.len());
                assert!(bytes.capacity() <= 2 * bytes.len() + 64, "{} for {}", bytes.capacity(), bytes.len());
            }
            assert!(found >= 20_000, "{found}");
        }
    }

    #[test]
    fn members_of_any_version_are_where_reading_continues() {
        let one = |text: &str| conversion("u", text.as_bytes());
        let versioned =
            |version: &str| gzip(String::from_utf8(one(version)).unwrap().replacen("WARC/1.0", version, 1).as_bytes());
        let mut damaged = gzip(&one("damaged"));
        let checksum = damaged.len() - 5;
        damaged[checksum] ^= 1;
        let first = gzip(&one("first"));
        let from = count(first.len() as u64);
        let after_line_ends = gzip(&[b"\r\n\r\n", &one("after")[..]].concat());
        for (next, text) in
            [(versioned("WARC/0.18"), "WARC/0.18"), (versioned("WARC/2.0"), "WARC/2.0"), (after_line_ends, "after")]
        {
            let raw = [&first[..], &damaged, &next, &versioned("WARC/1.1")].concat();
            let to = count((first.len() + damaged.len()) as u64);
            for (block, live) in [(1 << 20, false), (1, false), (7, true)] {
                let found = members(&raw, block, live);
                let texts: Vec<&[u8]> = found.iter().filter_map(|(_, found)| found.as_deref().ok()).collect();
                assert_eq!(texts, [&b"first"[..], b"damaged", text.as_bytes(), b"WARC/1.1"]);
                let why = found[2].1.as_ref().unwrap_err();
                let place = format!("(from byte {from} on; reading continues with the member at byte {to})");
                assert!(why.ends_with(&place), "{why}");
            }
        }
        // Nothing that follows begins with a record.
        for rest in [&b""[..], b"garbage", &gzip(b"hello")] {
            let raw = [&first[..], &damaged, rest].concat();
            let found = members(&raw, 1 << 20, false);
            let why = found[2].1.as_ref().unwrap_err();
            let place = format!("(from byte {from} on; the rest is not read: no later member begins with a record)");
            assert!(found.len() == 3 && why.ends_with(&place), "{why}");
        }
    }

    #[test]
    fn the_start_of_a_member_is_where_a_record_may_begin() {
        let [a, b, c] = ["a", "b", "c"].map(|text| conversion("u", text.as_bytes()));
        let short = &a[..a.len() - END.len() - 1];
        let deceptive = conversion("u", b"WARC/1.0\r\nWARC-Type: conversion\r\n\r\n");
        let spaced = [b"\r\n\r\n\r\n", &b[..]].concat();
        for (between, next, expected_failures) in [
            (&b"hello"[..], &b[..], 1),
            (b"hello\r\n", &b, 1),
            (b"hello", &spaced, 1),
            (short, &b, 1),
            // Its block looks like a header.
            (&deceptive[1..], &b, 2),
            (b"WARC", &b, 1),
            (b"\r", &b, 0),
        ] {
            let raw = [&a, between, next, &c].map(gzip).concat();
            let expected = vec![Ok(b"a".to_vec()), Ok(b"b".to_vec()), Ok(b"c".to_vec())];
            for (block, live) in [(1 << 20, false), (1, false), (60, false), (7, true)] {
                let found = members(&raw, block, live);
                let failures = found.iter().filter(|(_, found)| found.is_err()).count();
                assert_eq!(failures, expected_failures, "{found:?}");
                let read: Vec<_> = found.into_iter().map(|(_, found)| found).filter(Result::is_ok).collect();
                assert_eq!(read, expected, "{:?}", between.escape_ascii().to_string());
            }
        }
        // What looks like a record at the start of a member is a part of the one that its length ends.
        let body = [&b"x"[..], &conversion("forged", b"forged")].concat();
        let whole = conversion("u", &body);
        let at = memmem::find(&whole, b"xWARC").unwrap() + 1;
        let raw = [&a[..], &whole[..at], &whole[at..], &c].map(gzip).concat();
        let read: Vec<_> = members(&raw, 1 << 20, false).into_iter().map(|(_, found)| found).collect();
        assert_eq!(read, [Ok(b"a".to_vec()), Ok(body), Ok(b"c".to_vec())]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(12))]
        #[test]
        fn a_damaged_member_of_gzip_costs_no_other(
            texts in prop::collection::vec("[a-e ]{1,300}", 2..6),
            which: prop::sample::Index,
            flip in 1u8..=255,
            block in 1usize..5000,
        ) {
            let texts: Vec<String> = texts.iter().enumerate().map(|(n, text)| format!("{n} {text}")).collect();
            let whole: Vec<Vec<u8>> = texts.iter().map(|text| gzip(&conversion("u", text.as_bytes()))).collect();
            let which = which.index(whole.len());
            let contents: Vec<&[u8]> = texts.iter().map(String::as_bytes).collect();
            let others = [&contents[..which], &contents[which + 1..]].concat();
            let from: usize = whole[..which].iter().map(Vec::len).sum();
            // Without its magic, the file is not compressed.
            for at in if which == 0 { 3 } else { 0 }..whole[which].len() {
                let mut raw = whole.concat();
                raw[from + at] ^= flip;
                let found = members(&raw, block, false);
                let read: Vec<&[u8]> = found.iter().filter_map(|(_, found)| found.as_deref().ok()).collect();
                let of_others: Vec<&[u8]> = read.iter().copied().filter(|text| others.contains(text)).collect();
                prop_assert_eq!(&of_others, &others, "byte {}", at);
                // What is read of the damaged one is reported unless no bit of its content changed.
                let is_intact = read == contents;
                prop_assert!(is_intact || found.iter().any(|(_, found)| found.is_err()), "byte {}", at);
                prop_assert!(found.windows(2).all(|pair| pair[0].0 < pair[1].0));
                let resumed = found.iter().filter(|(_, found)| {
                    found.as_ref().is_err_and(|message| message.contains("reading continues with the member"))
                });
                prop_assert!(resumed.count() <= 1);
                prop_assert_eq!(&members(&raw, 1 << 20, false), &found, "byte {}", at);
                // A stream has records without text, too.
                prop_assert_eq!(members(&raw, 7, true), members(&raw, block, true), "byte {}", at);
            }
        }
    }

    #[test]
    fn broken_records_that_ask_for_much_cost_no_more_than_their_bytes() {
        let mut broken = conversion("b", b"");
        broken.truncate(broken.len() - END.len());
        let broken = String::from_utf8(broken).unwrap().replace("Length: 0", "Length: 60000000");
        let archive = [&conversion("a", b"x")[..], broken.as_bytes()].concat().repeat(5_000);
        let (found, _) = read(&archive, 1 << 20, 64 << 20);
        assert_eq!((found.len(), &*found[9_998]), (10_000, "9999 a|x"));
    }

    #[test]
    fn a_gigabyte_in_one_record_needs_little_memory() {
        let head =
            b"WARC/1.0\r\nWARC-Type: conversion\r\nContent-Type: text/plain\r\nContent-Length: 1073741824\r\n\r\n";
        let input = (&head[..]).chain(io::repeat(b'x').take(1 << 30));
        let mut archive = Archive::new(Reader::new(Box::new(input)), 1 << 16, 1 << 20);
        assert!(matches!(&archive.next().unwrap().records[..], [Record { number: 1, found: Err(_), .. }]));
        assert!(archive.next().is_none());
        assert!(archive.buffer.capacity() <= 1 << 20);
    }

    /// A valid archive, in which no block looks like the start of a record.
    fn archive() -> impl Strategy<Value = Vec<Vec<u8>>> {
        let text = prop::sample::select(&["", "x", "\r\n", "\r\n\r\n", "WARC/1.0 ", "text\n", "<p>é</p>", "0\r\n"][..]);
        let body = prop::collection::vec(text, 0..5).prop_map(|bits| bits.concat().into_bytes());
        let record = (0..4, body).prop_map(|(kind, body)| match kind {
            0 => conversion("c", &body),
            1 => response("r", "Content-Type: text/html", &body),
            2 => response("k", "Content-Type: text/plain\r\nTransfer-Encoding: chunked", &body),
            _ => record(&[("WARC-Type", "metadata")], &body),
        });
        let no_start = |record: &Vec<u8>| memmem::find(record, &[END, WARC_MAGIC].concat()).is_none();
        prop::collection::vec(record.prop_filter("the start of a record", no_start), 0..6)
    }

    proptest! {
        #[test]
        fn a_truncated_archive_gives_its_first_records(records in archive(), cut in 0f64..1.0, block in 1usize..300) {
            let whole = records.concat();
            let (expected, textless) = read(&whole, 1 << 20, 1 << 20);
            prop_assert_eq!((&expected, textless), (&read(&whole, block, 1 << 20).0, textless));
            let cut = (whole.len() as f64 * cut) as usize;
            let (mut found, _) = read(&whole[..cut], block, 1 << 20);
            let mut ends = records.iter().scan(0, |end, record| { *end += record.len(); Some(*end) });
            // If only line ends are missing, nothing is lost.
            let whole_records = cut == 0 || ends.any(|end| (end - END.len()..=end).contains(&cut));
            let last = found.pop_if(|line| line.ends_with("the file ends within this record"));
            prop_assert_eq!(last.is_none(), whole_records);
            prop_assert!(expected.starts_with(&found), "{:?} {:?}", found, expected);
        }

        #[test]
        fn any_damage_is_read_the_same_in_any_blocks(
            records in archive(),
            damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
            block in 1usize..300,
        ) {
            let mut bytes = records.concat();
            bytes.push(b'\n');
            for (at, byte) in damage {
                let at = at.index(bytes.len());
                bytes[at] = byte;
            }
            let limit = 200;
            prop_assert_eq!(read(&bytes, block, limit), read(&bytes, 1 << 20, limit));
        }

        #[test]
        fn records_that_are_too_long_are_read_the_same_in_any_blocks(
            parts in prop::collection::vec(prop::sample::select(&[
                "\r\n", "\n", "\r\n\r\n", "WARC/1.0", "WARC-Type: conversion\r\n", "Content-Type: text/plain\r\n",
                "Content-Length: 3\r\n", "Content-Length: 90\r\n", "Content-Length: 18446744073709551615\r\n", "xyz",
                "\r\n\r\nWARC/1.1\r\nWARC-Type: conversion\r\nContent-Type: text/plain\r\nContent-Length: 3\r\n\r\nabc",
                "\r\n\r\nWARC/1.1\r\nWARC-Type: conversion\r\nContent-Type: text/plain\r\nContent-Length: 200\r\n\r\n",
            ][..]), 0..30),
            block in 1usize..100,
        ) {
            let bytes = parts.concat().into_bytes();
            prop_assert_eq!(read(&bytes, block, 100), read(&bytes, 1 << 20, 100));
        }

        #[test]
        fn any_bytes_are_read(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            read(&bytes, 100, 1000);
            read(&[b"WARC/1.0\r\n", &bytes[..]].concat(), 100, 1000);
            dechunk(&bytes);
        }
    }
}
