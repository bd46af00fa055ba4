//! A file without some of its records, or parts of their texts: every other byte unchanged, in the compression that the file has;
//! Parquet is encoded again.
//!
//! Records are identified as in a [`Place`](super::Place): by the line on which they start, or by their number in an
//! archive. Only a record whose text changes is held; others are copied, or passed over, as they are read.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::fs;
use std::io::{self, Read, Seek, Write};
use std::iter::{Copied, Peekable};
use std::path::Path;
use std::rc::Rc;
use std::slice::Iter;

use encoding_rs::{UTF_16BE, UTF_16LE};

use super::compress::Encoder;
use super::compression::Compression;
use super::csv::RecordCut;
use super::cut::{Cut, LineCut};
use super::label::utf16;
use super::members::Members;
#[cfg(feature = "parquet")]
use super::parquet;
use super::reader::Reader;
use super::snip::{CHANGED, Snipper, Snips, snip_whole};
#[cfg(feature = "warc")]
use super::warc::Archive;
use super::{Encoding, Format, ReadOptions, decode, decompress, file};

/// The number of bytes that are read at once; even, for encodings in units of two bytes.
const BLOCK: usize = 256 << 10;

/// Why a file was not copied.
#[derive(Debug)]
pub(crate) enum Failure {
    /// It cannot be read to its end, or is not the file whose records were read.
    Read(io::Error),
    /// Its bytes can be read, but what they are cannot be written again without a part of it.
    #[cfg_attr(not(feature = "parquet"), allow(dead_code, reason = "other formats are not written again"))]
    Refused(io::Error),
    /// The copy cannot be written.
    Write(io::Error),
}

/// How a file is copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// In its own compression, with everything that is not a record.
    Whole,
    /// Not compressed. A file that is not the first continues the others: without a byte order mark or a header row.
    Joined { is_first: bool },
}

/// What is copied, and can be read several times.
pub(crate) trait Original {
    /// The name that determines the format; standard input has none.
    fn name(&self) -> Option<&OsStr>;

    /// Its path, if it is a file on disk.
    fn path(&self) -> Option<&Path> {
        None
    }

    /// Its size in bytes, if known.
    fn size(&self) -> Option<u64>;

    /// Its bytes, from the start.
    ///
    /// # Errors
    /// It cannot be read.
    fn reopen(&mut self) -> io::Result<Box<dyn Read + '_>>;

    /// The file, if it is one on disk.
    #[cfg(feature = "parquet")]
    fn on_disk(&self) -> Option<&fs::File> {
        None
    }
}

/// A file on disk.
pub(crate) struct OnDisk<'a> {
    path: &'a Path,
    file: fs::File,
    size: u64,
}

impl<'a> OnDisk<'a> {
    /// Opens it.
    ///
    /// # Errors
    /// It cannot be opened.
    pub fn open(path: &'a Path) -> io::Result<Self> {
        let file = fs::File::open(path)?;
        let size = file.metadata()?.len();
        Ok(OnDisk { path, file, size })
    }
}

impl Original for OnDisk<'_> {
    fn path(&self) -> Option<&Path> {
        Some(self.path)
    }

    fn name(&self) -> Option<&OsStr> {
        self.path.file_name()
    }

    fn size(&self) -> Option<u64> {
        Some(self.size)
    }

    fn reopen(&mut self) -> io::Result<Box<dyn Read + '_>> {
        self.file.rewind()?;
        Ok(Box::new(&self.file))
    }

    #[cfg(feature = "parquet")]
    fn on_disk(&self) -> Option<&fs::File> {
        Some(&self.file)
    }
}

/// The bytes of an original, decompressed, with its format and compression.
fn open<'o>(
    original: &'o mut dyn Original,
    options: &ReadOptions,
) -> Result<(Reader<'o>, Format, Option<Compression>), Failure> {
    let (name, size) = (original.name().map(OsStr::to_os_string), original.size());
    let is_whole = original.path().is_some_and(|path| options.program_for(path).is_some());
    let members = Members::default();
    let opened = original.reopen().and_then(|raw| decompress::open_as(raw, Rc::default(), &members, options));
    let (reader, compression) = opened.map_err(Failure::Read)?;
    let mut reader = Reader::new(reader).with_members(members);
    file::fill_head(&mut reader, name.as_deref(), size, options);
    let format = match is_whole {
        true => Format::Text,
        false => file::format(options, name.as_deref(), &reader.head),
    };
    Ok((reader, format, compression))
}

/// The format of a file.
///
/// # Errors
/// It cannot be read.
pub(crate) fn format(original: &mut dyn Original, options: &ReadOptions) -> Result<Format, Failure> {
    open(original, options).map(|(_, format, _)| format)
}

/// The first column of texts of a file whose values are JSON by their type, so that none can be changed in parts; `None` if there is none,
/// or it cannot be read.
pub(crate) fn json_texts(original: &dyn Original, options: &ReadOptions) -> Option<String> {
    #[cfg(feature = "parquet")]
    return parquet::json_texts(original.on_disk()?, options);
    #[cfg(not(feature = "parquet"))]
    {
        _ = (original, options);
        None
    }
}

/// The first path of texts that chooses elements of lists in a Parquet file, so that none can be changed in parts; `None` if there is
/// none, or it cannot be read.
pub(crate) fn chosen_texts(original: &dyn Original, options: &ReadOptions) -> Option<String> {
    #[cfg(feature = "parquet")]
    return parquet::chosen_texts(original.on_disk()?, options);
    #[cfg(not(feature = "parquet"))]
    {
        _ = (original, options);
        None
    }
}

/// The beginning of a file of records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Heading {
    /// [`Format::Auto`] for standard input without content.
    pub format: Format,
    /// The header row, if the format has one, without a byte order mark and a line end.
    pub row: Vec<u8>,
}

/// The longest header row that is compared.
const MOST_HEADING: usize = 1 << 20;

/// The format of a file, and its header row.
///
/// # Errors
/// It cannot be read.
pub(crate) fn heading(original: &mut dyn Original, options: &ReadOptions) -> Result<Heading, Failure> {
    let (mut reader, format, _) = open(original, options)?;
    let Some(delimiter) = options.delimiter(format) else { return Ok(Heading { format, row: Vec::new() }) };
    let mut start = std::mem::take(&mut reader.head);
    let units = Units::of(&start, options.encoding);
    start.drain(..units.mark(&start));
    let mut rest = start.len();
    while rest < MOST_HEADING
        && !reader.is_ended()
        && RecordCut::new(delimiter).first_end(&units.narrow(&start)).is_none()
    {
        reader.fill(&mut start, BLOCK);
        rest = start.len();
    }
    let row = super::csv::records(delimiter, 1, &start).next().map_or(Vec::new(), |(_, row)| row.to_vec());
    Ok(Heading { format, row })
}

/// What is left out of a copy.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LeftOut<'l> {
    /// Records, ascending.
    pub records: &'l [u64],
    /// Ranges of the texts of others.
    pub snips: Option<&'l Snips>,
}

impl LeftOut<'_> {
    /// Whether the copy is the file.
    pub fn is_nothing(&self) -> bool {
        self.records.is_empty() && self.snips.is_none_or(Snips::is_empty)
    }
}

/// Copies a file without this. It must have been read with the same options.
///
/// # Errors
/// See [`Failure`]. A part of the copy may have been written.
pub(crate) fn copy_without(
    original: &mut dyn Original,
    options: &ReadOptions,
    left_out: LeftOut<'_>,
    form: Form,
    out: impl Write + Send,
) -> Result<(), Failure> {
    let (mut reader, format, compression) = open(original, options)?;
    let snips = left_out.snips.filter(|snips| !snips.is_empty());
    #[cfg(feature = "parquet")]
    if let Format::Parquet = format {
        drop(reader);
        return copy_rows(original, (left_out.records, snips), options, out);
    }
    let compression = compression.filter(|_| form == Form::Whole);
    let encoder = Encoder::new(compression, out).map_err(Failure::Write)?;
    let snipper = snips.map(|_| Snipper::new(options, format, &reader.head));
    let mut copy = Copy {
        encoder,
        left_out: left_out.records.iter().copied().peekable(),
        snips: snips.map(|snips| (Box::new(snips.records()) as BoxedSnips<'_>).peekable()),
        snipper,
        encoding: options.encoding,
        held: Vec::new(),
    };
    match format {
        Format::Text if snips.is_some() => copy.whole(&mut reader, options.max_record)?,
        Format::Jsonl => copy.records(reader, LineCut, form, false)?,
        Format::Lines => copy.records(reader, LineCut, form, false)?,
        Format::Csv | Format::Tsv => {
            let delimiter = options.delimiter(format).unwrap_or(b',');
            copy.records(reader, RecordCut::new(delimiter), form, true)?;
        }
        Format::Warc if snips.is_some() => return Err(unchangeable(format)),
        #[cfg(feature = "warc")]
        Format::Warc => {
            let starts = Archive::starts(reader, BLOCK, options.max_record);
            copy.archive(open(original, options)?.0, &starts)?;
        }
        _ => return Err(Failure::Read(io::Error::other("it is one document"))),
    }
    let has_missing = copy.left_out.next().is_some() || copy.next_snip().is_some();
    match has_missing {
        true => Err(changed(CHANGED)),
        false => copy.encoder.finish().map_err(Failure::Write),
    }
}

fn changed(why: impl Into<String>) -> Failure {
    Failure::Read(io::Error::other(why.into()))
}

/// The error that texts in files of this format cannot be changed.
fn unchangeable(format: Format) -> Failure {
    changed(format!("parts of texts cannot be left out of {} files", format.name()))
}

/// Copies a Parquet file without these rows, and without these ranges of the texts of others.
#[cfg(feature = "parquet")]
fn copy_rows(
    original: &dyn Original,
    left_out: (&[u64], Option<&Snips>),
    options: &ReadOptions,
    out: impl Write + Send,
) -> Result<(), Failure> {
    let file = original.on_disk().ok_or_else(|| Failure::Read(io::Error::other("it is not a file on disk")))?;
    let mut out = Watched { out, failure: None };
    let copied = parquet::copy_without(file, left_out, options, &mut out);
    copied.map_err(|error| match out.failure {
        Some(failure) => Failure::Write(failure),
        None if is_of_system(&error) => Failure::Read(error),
        None => Failure::Refused(error),
    })
}

/// Whether the system reported an error, which the reader of Parquet wraps.
#[cfg(feature = "parquet")]
fn is_of_system(error: &io::Error) -> bool {
    let inner = error.get_ref().map(|inner| inner as &(dyn std::error::Error + 'static));
    let mut chain = std::iter::successors(inner, |error| error.source());
    error.raw_os_error().is_some() || chain.any(|error| error.downcast_ref().is_some_and(is_of_system))
}

/// Notes why writing failed: the writer of Parquet words it otherwise.
#[cfg(feature = "parquet")]
struct Watched<W> {
    out: W,
    failure: Option<io::Error>,
}

#[cfg(feature = "parquet")]
impl<W> Watched<W> {
    fn note(&mut self, error: &io::Error) {
        if error.kind() != io::ErrorKind::Interrupted {
            let other = || io::Error::new(error.kind(), error.to_string());
            self.failure = Some(error.raw_os_error().map_or_else(other, io::Error::from_raw_os_error));
        }
    }
}

#[cfg(feature = "parquet")]
impl<W: Write> Write for Watched<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes);
        written.inspect_err(|error| self.note(error))
    }

    fn flush(&mut self) -> io::Result<()> {
        let flushed = self.out.flush();
        flushed.inspect_err(|error| self.note(error))
    }
}

/// Records with the ranges that are left out of their texts.
type BoxedSnips<'r> = Box<dyn Iterator<Item = (u64, &'r [[u32; 2]])> + Send + 'r>;

struct Copy<'r, W: Write> {
    encoder: Encoder<W>,
    /// The records that are still to be left out.
    left_out: Peekable<Copied<Iter<'r, u64>>>,
    /// Those that are still to be changed, and what does it.
    snips: Option<Peekable<BoxedSnips<'r>>>,
    snipper: Option<Snipper<'r>>,
    /// The encoding that is named.
    encoding: Option<Encoding>,
    /// The record that is changed, as far as it was read.
    held: Vec<u8>,
}

/// What happens to a record.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate<'r> {
    Kept,
    LeftOut,
    Snipped(&'r [[u32; 2]]),
    /// It is the header row, which is kept or not.
    Header {
        is_kept: bool,
    },
}

impl<'r, W: Write> Copy<'r, W> {
    /// Copies records that end where `cut` says.
    fn records(&mut self, mut reader: Reader, mut cut: impl Cut, form: Form, has_header: bool) -> Result<(), Failure> {
        let continues = form == Form::Joined { is_first: false };
        let mut block = std::mem::take(&mut reader.head);
        let units = Units::of(&block, self.encoding);
        let mark = units.mark(&block);
        if !continues {
            self.write(&block[..mark])?;
        }
        block.drain(..mark);
        let mut line = 1;
        let mut awaits_header = has_header && (continues || self.snipper.is_some());
        // What happens to the record that has begun.
        let mut fate: Option<Fate<'r>> = None;
        loop {
            let is_copying = fate.is_none_or(|fate| fate == Fate::Kept) && !awaits_header && !self.has_more();
            if is_copying {
                self.write(&block)?;
                block.clear();
            }
            let narrow = units.narrow(&block);
            let (mut at, mut kept) = (0, 0);
            while at < narrow.len() {
                let own = match fate {
                    Some(fate) => fate,
                    None if awaits_header && !matches!(narrow[at], b'\n' | b'\r') => {
                        awaits_header = false;
                        Fate::Header { is_kept: !continues }
                    }
                    None => self.next_fate(line),
                };
                if own != Fate::Kept && fate.is_none() {
                    self.write(&block[units.bytes(kept)..units.bytes(at)])?;
                }
                fate = Some(own);
                let end = cut.first_end(&narrow[at..]).map(|end| at + end);
                let next = end.unwrap_or(narrow.len());
                line += cut.line_ends(&narrow[at..next]);
                if own != Fate::Kept {
                    self.hold(own, &block[units.bytes(at)..units.bytes(next)]);
                    kept = next;
                }
                at = next;
                if end.is_some() {
                    self.release(own)?;
                    fate = None;
                }
            }
            // An odd byte at the end belongs to the last record.
            match fate {
                Some(Fate::LeftOut) => {}
                Some(own @ (Fate::Snipped(_) | Fate::Header { .. })) => self.hold(own, &block[units.bytes(at)..]),
                _ => self.write(&block[units.bytes(kept)..])?,
            }
            if let Some(error) = reader.failure.take() {
                return Err(Failure::Read(error));
            }
            if reader.is_ended() {
                return fate.map_or(Ok(()), |own| self.release(own));
            }
            block.clear();
            reader.fill(&mut block, BLOCK);
        }
    }

    /// Whether a record is still to be left out or changed.
    fn has_more(&mut self) -> bool {
        self.left_out.peek().is_some() || self.snips.as_mut().is_some_and(|snips| snips.peek().is_some())
    }

    /// What happens to the record that begins on this line.
    fn next_fate(&mut self, line: u64) -> Fate<'r> {
        if self.left_out.next_if_eq(&line).is_some() {
            return Fate::LeftOut;
        }
        let snip = self.snips.as_mut().and_then(|snips| snips.next_if(|(record, _)| *record == line));
        snip.map_or(Fate::Kept, |(_, ranges)| Fate::Snipped(ranges))
    }

    /// The next record that is to be changed.
    fn next_snip(&mut self) -> Option<(u64, &'r [[u32; 2]])> {
        self.snips.as_mut().and_then(Iterator::next)
    }

    /// Takes bytes of a record that is not copied as it is read.
    fn hold(&mut self, fate: Fate<'_>, bytes: &[u8]) {
        if fate != Fate::LeftOut {
            self.held.extend_from_slice(bytes);
        }
    }

    /// Writes the record that ends here, if it was held.
    fn release(&mut self, fate: Fate<'_>) -> Result<(), Failure> {
        let held = std::mem::take(&mut self.held);
        match fate {
            Fate::Kept | Fate::LeftOut => Ok(()),
            Fate::Header { is_kept } => {
                if let Some(snipper) = &mut self.snipper {
                    snipper.header(&held).map_err(changed)?;
                }
                if is_kept { self.write(&held) } else { Ok(()) }
            }
            Fate::Snipped(ranges) => {
                let snipper = self.snipper.as_ref().ok_or_else(|| changed(CHANGED))?;
                let record = snipper.snip(&held, ranges).map_err(changed)?;
                self.write(&record)
            }
        }
    }

    /// Copies a file that is one document.
    fn whole(&mut self, reader: &mut Reader, max_record: usize) -> Result<(), Failure> {
        let mut bytes = std::mem::take(&mut reader.head);
        let room = max_record.saturating_add(1).saturating_sub(bytes.len());
        reader.fill(&mut bytes, room);
        if let Some(error) = reader.failure.take() {
            return Err(Failure::Read(error));
        }
        let Some((0, ranges)) = self.next_snip() else { return Err(changed(CHANGED)) };
        let bytes = snip_whole(&bytes, ranges, self.encoding).map_err(changed)?;
        self.write(&bytes)
    }

    /// Copies the records of an archive, which start at these positions.
    #[cfg(feature = "warc")]
    fn archive(&mut self, mut reader: Reader, starts: &[(u64, u64)]) -> Result<(), Failure> {
        let mut block = std::mem::take(&mut reader.head);
        let mut starts = starts.iter().peekable();
        let (mut position, mut is_left_out) = (0, false);
        loop {
            let mut rest = &block[..];
            while !rest.is_empty() {
                let next = starts.peek().map_or(u64::MAX, |&&(_, start)| start);
                if next <= position {
                    let number = starts.next().map_or(0, |&(number, _)| number);
                    is_left_out = self.left_out.next_if_eq(&number).is_some();
                    self.encoder.begin_member();
                    continue;
                }
                let here = rest.len().min(usize::try_from(next - position).unwrap_or(usize::MAX));
                if !is_left_out {
                    self.write(&rest[..here])?;
                }
                (position, rest) = (position + here as u64, &rest[here..]);
            }
            if let Some(error) = reader.failure.take() {
                return Err(Failure::Read(error));
            }
            if reader.is_ended() {
                return Ok(());
            }
            block.clear();
            reader.fill(&mut block, BLOCK);
        }
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        self.encoder.write_all(bytes).map_err(Failure::Write)
    }
}

/// The units of an encoding, as far as the ends of records depend on them. In every other encoding in which records are read, the bytes
/// of ASCII that end lines and fields are not part of another character.
#[derive(Clone, Copy)]
enum Units {
    Bytes,
    Utf16 { is_big_endian: bool },
}

impl Units {
    fn of(start: &[u8], named: Option<Encoding>) -> Self {
        match utf16(start, named) {
            Some(encoding) if encoding == UTF_16BE => Units::Utf16 { is_big_endian: true },
            Some(encoding) if encoding == UTF_16LE => Units::Utf16 { is_big_endian: false },
            _ => Units::Bytes,
        }
    }

    /// The length of the byte order mark.
    fn mark(self, start: &[u8]) -> usize {
        match self {
            Units::Bytes => start.len() - decode::without_utf8_mark(start).len(),
            Units::Utf16 { .. } if decode::utf16_by_mark(start).is_some() => 2,
            Units::Utf16 { .. } => 0,
        }
    }

    /// The length of this many units, in bytes.
    fn bytes(self, units: usize) -> usize {
        match self {
            Units::Bytes => units,
            Units::Utf16 { .. } => 2 * units,
        }
    }

    /// One byte for each unit: that of ASCII, or one that ends nothing.
    fn narrow(self, bytes: &[u8]) -> Cow<'_, [u8]> {
        let Units::Utf16 { is_big_endian } = self else { return Cow::Borrowed(bytes) };
        let narrow = |unit: &[u8]| {
            let unit = [unit[0], unit[1]];
            let unit = if is_big_endian { u16::from_be_bytes(unit) } else { u16::from_le_bytes(unit) };
            u8::try_from(unit).ok().filter(u8::is_ascii).unwrap_or(0x80)
        };
        bytes.chunks_exact(2).map(narrow).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::decompress::tests::{ALL, gzip};
    use super::super::{Input, Source};
    use super::*;
    use proptest::prelude::*;
    use std::ops::ControlFlow;

    /// The documents of a file, as `LINE|TEXT`.
    fn documents(path: &Path, options: &ReadOptions) -> Vec<(u64, String)> {
        let mut found = Vec::new();
        Input::new(vec![path.to_path_buf()], options.clone()).read(&mut |batch| {
            batch.documents(&mut |result| {
                if let Ok(document) = result {
                    found.push((document.place.line.unwrap(), document.text.into_owned()));
                }
            });
            ControlFlow::Continue(())
        });
        found
    }

    fn copied(path: &Path, options: &ReadOptions, records: &[u64], form: Form) -> Vec<u8> {
        let mut out = Vec::new();
        let left_out = LeftOut { records, snips: None };
        copy_without(&mut OnDisk::open(path).unwrap(), options, left_out, form, &mut out).unwrap();
        out
    }

    /// Leaves out some documents, and reads the rest.
    fn check(name: &str, content: &[u8], options: &ReadOptions, choose: impl Fn(usize) -> bool) -> Vec<u8> {
        let folder = tempfile::tempdir().unwrap();
        let (path, copy) = (folder.path().join(name), folder.path().join(format!("copy-{name}")));
        fs::write(&path, content).unwrap();
        let all = documents(&path, options);
        let (left_out, kept): (Vec<_>, Vec<_>) = all.into_iter().enumerate().partition(|(number, _)| choose(*number));
        let records: Vec<u64> = left_out.into_iter().map(|(_, (line, _))| line).collect();
        let out = copied(&path, options, &records, Form::Whole);
        fs::write(&copy, &out).unwrap();
        let texts = |documents: Vec<(u64, String)>| documents.into_iter().map(|(_, text)| text).collect::<Vec<_>>();
        assert_eq!(texts(documents(&copy, options)), texts(kept.into_iter().map(|(_, document)| document).collect()));
        out
    }

    #[test]
    fn lines_are_left_out_and_other_bytes_stay() {
        let options = ReadOptions::default();
        let out =
            check("a.jsonl", b"{\"text\":\"a\"}\r\n\n{\"text\":\"b\"}\n not json\n{\"text\":\"c\"}", &options, |n| {
                n == 1
            });
        assert_eq!(out, b"{\"text\":\"a\"}\r\n\n not json\n{\"text\":\"c\"}");
        let out = check("a.jsonl", b"\xef\xbb\xbf{\"text\":\"a\"}\n{\"text\":\"b\"}\n", &options, |_| true);
        assert_eq!(out, b"\xef\xbb\xbf");
    }

    #[test]
    fn rows_with_line_ends_are_left_out_whole() {
        let content = b"\xef\xbb\xbf\"text\",id\r\n\n\"a\nb\",1\r\nc,2\rd,3\n\"e\",\"4\n\"";
        let options = ReadOptions::default();
        assert_eq!(check("a.csv", content, &options, |n| n != 1), b"\xef\xbb\xbf\"text\",id\r\n\nc,2\r");
        assert_eq!(
            check("a.csv", content, &options, |n| n == 0),
            b"\xef\xbb\xbf\"text\",id\r\n\nc,2\rd,3\n\"e\",\"4\n\""
        );
        assert_eq!(check("a.tsv", b"text\tid\na\t1\nb\t2\n", &options, |n| n == 0), b"text\tid\nb\t2\n");
    }

    #[test]
    fn what_continues_other_rows_has_no_header() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv.gz");
        fs::write(&path, gzip(b"\xef\xbb\xbf\n\"te\"\"xt\nof\",text\n1,a\n2,b\n")).unwrap();
        let options = ReadOptions::default();
        let joined = |is_first, records: &[u64]| copied(&path, &options, records, Form::Joined { is_first });
        assert_eq!(joined(true, &[4]), b"\xef\xbb\xbf\n\"te\"\"xt\nof\",text\n2,b\n");
        assert_eq!(joined(false, &[]), b"\n1,a\n2,b\n");
        assert_eq!(joined(false, &[4, 5]), b"\n");
    }

    #[test]
    fn a_record_that_is_not_there_means_that_the_file_changed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jsonl");
        fs::write(&path, "{}\n{}\n").unwrap();
        let original = &mut OnDisk::open(&path).unwrap();
        let left_out = LeftOut { records: &[3], snips: None };
        let result = copy_without(original, &ReadOptions::default(), left_out, Form::Whole, io::sink());
        assert!(matches!(result, Err(Failure::Read(error)) if error.to_string().contains("changed")));
    }

    #[test]
    fn utf16_is_cut_by_its_units() {
        for is_big_endian in [false, true] {
            let encode = |text: &str| -> Vec<u8> {
                let unit = |unit: u16| if is_big_endian { unit.to_be_bytes() } else { unit.to_le_bytes() };
                text.encode_utf16().flat_map(unit).collect()
            };
            // ਊ has the byte of a line feed twice; Ģ has that of a quote.
            let content = encode("\u{feff}text,id\n\"ਊĢ\n\u{10000}\",1\nĢ\"Ģ,2\r\nc,3\n");
            let out = check("a.csv", &content, &ReadOptions::default(), |n| n == 1);
            assert_eq!(out, encode("\u{feff}text,id\n\"ਊĢ\n\u{10000}\",1\nc,3\n"));
            let odd = [&content[..], b"x"].concat();
            let out = check("a.csv", &odd, &ReadOptions::default(), |n| n == 0);
            assert_eq!(out, [encode("\u{feff}text,id\nĢ\"Ģ,2\r\nc,3\n"), b"x".to_vec()].concat());
        }
    }

    #[test]
    fn the_compression_stays() {
        let line = |n: u32| format!("{{\"id\":{n},\"text\":\"{:x}\"}}\n", n.wrapping_mul(2654435761));
        let content: String = (0..50_000).map(line).collect();
        let kept: String = (0..50_000).filter(|n| n % 3 != 0).map(line).collect();
        for (name, compress) in ALL {
            // The compression is that of the bytes, not of the name.
            let out = check("a.jsonl.gz", &compress(content.as_bytes()), &ReadOptions::default(), |n| n % 3 == 0);
            assert!(out == compress(kept.as_bytes()) || out.len() < kept.len() / 2, "{name}: {}", out.len());
            assert_eq!(out[..3], compress(b"x")[..3], "{name}");
            let out = check("a.jsonl", &compress(content.as_bytes()), &ReadOptions::default(), |_| true);
            assert_eq!(out[..3], compress(b"x")[..3], "{name}");
        }
    }

    fn warc_record(number: usize, kind: &str, text: &str) -> String {
        format!(
            "WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Target-URI: http://a/{number}\r\nContent-Type: text/plain\r\n\
             Content-Length: {}\r\n\r\n{text}\r\n\r\n",
            text.len()
        )
    }

    #[test]
    fn records_of_an_archive_are_left_out_whole() {
        let records = [
            warc_record(1, "warcinfo", "software: x"),
            warc_record(2, "conversion", &"one text\nof lines".repeat(9)),
            warc_record(3, "metadata", "about it"),
            warc_record(4, "conversion", "another"),
            "no record\r\n\r\n".to_string(),
            warc_record(5, "conversion", "a third"),
        ];
        let content = records.concat();
        let options = ReadOptions::default();
        let rest = |left_out: &[usize]| -> String {
            records
                .iter()
                .enumerate()
                .filter(|(n, _)| !left_out.contains(n))
                .map(|(_, record)| record.as_str())
                .collect()
        };
        assert_eq!(check("a.warc", content.as_bytes(), &options, |n| n == 1), rest(&[3]).as_bytes());
        assert_eq!(check("a.warc", content.as_bytes(), &options, |_| true), rest(&[1, 3, 5]).as_bytes());
        let short = ReadOptions { max_record: 200, ..options.clone() };
        assert_eq!(check("a.warc", content.as_bytes(), &short, |n| n == 0), rest(&[3]).as_bytes());
        // Each record is a member of its own, from which readers can begin.
        let out = check("a.warc.gz", &gzip(content.as_bytes()), &options, |n| n == 2);
        let members: Vec<u8> = records[..5].iter().flat_map(|record| gzip(record.as_bytes())).collect();
        assert_eq!(sizes_of_members(&out), sizes_of_members(&members));
        assert_eq!(out, members);
    }

    /// The length of the content of each member of gzip.
    fn sizes_of_members(mut bytes: &[u8]) -> Vec<usize> {
        let mut sizes = Vec::new();
        while !bytes.is_empty() {
            let mut decoder = flate2::bufread::GzDecoder::new(bytes);
            sizes.push(io::copy(&mut decoder, &mut io::sink()).unwrap() as usize);
            bytes = decoder.into_inner();
        }
        sizes
    }

    proptest! {
        #[test]
        fn any_lines_but_some(input in "(\\{\"text\":\"[ab]\"\\}|x|\u{feff}|)(\r?\n(\\{\"text\":\"[ab]\"\\}|x|))*", which: u64) {
            let chosen = |n: usize| which >> (n % 64) & 1 == 1;
            let out = check("a.jsonl", input.as_bytes(), &ReadOptions::default(), chosen);
            // What stays is in its order.
            let mut number = 0;
            let lines = input.split_inclusive('\n').filter(|line| {
                let is_document = line.trim_end().trim_start_matches('\u{feff}').starts_with('{');
                number += usize::from(is_document);
                !is_document || !chosen(number - 1)
            });
            let expected: String = lines.collect();
            let mark = if input.starts_with('\u{feff}') && !expected.starts_with('\u{feff}') { "\u{feff}" } else { "" };
            prop_assert_eq!(String::from_utf8(out).unwrap(), mark.to_string() + &expected);
        }

        #[test]
        fn any_rows_but_some(input in "text,id\n[ab,\"\n\r]{0,40}", which: u64) {
            check("a.csv", input.as_bytes(), &ReadOptions::default(), |n| which >> (n % 64) & 1 == 1);
        }

        #[test]
        fn with_nothing_left_out_all_bytes_stay(input: Vec<u8>, format in 0usize..3, mark in 0usize..4) {
            let input = [[&b""[..], b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff"][mark], &input[..]].concat();
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("a");
            fs::write(&path, &input).unwrap();
            let options = ReadOptions { format: [Format::Jsonl, Format::Csv, Format::Warc][format], ..ReadOptions::default() };
            prop_assert_eq!(copied(&path, &options, &[], Form::Whole), input);
        }
    }
}
