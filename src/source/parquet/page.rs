//! Pages: their headers, their bytes in the file, and their content.

use std::fs;
use std::io::{Read, Seek, SeekFrom};
use std::ops::RangeInclusive;
use std::sync::{Arc, OnceLock};

use super::codec::{self, Codec};
use super::fault::{Damage, Fault};
use super::footer::{Chunk, Physical};
use super::thrift::{Kind, Thrift};
use super::values::{Dictionary, Runs, length};
use crate::readable::display_size;
use crate::source::{ProblemKind, ReadOptions};

/// The number of bytes that are read ahead for headers.
const BLOCK: usize = 64 << 10;

/// The maximum length of a header, which may hold the smallest and the largest value of its page.
const MAX_HEADER: usize = 64 << 20;

/// The maximum size of a page, as a multiple of that of a record. Writers end a page after some number of rows.
const RECORDS_PER_PAGE: u64 = 4;

/// The maximum size of a page, in bytes.
pub(super) fn max_page(options: &ReadOptions) -> u64 {
    RECORDS_PER_PAGE.saturating_mul(options.max_record as u64).max(BLOCK as u64)
}

/// A page, as it is in the file. It is unpacked once, by the first thread that needs its values.
#[derive(Debug)]
pub(super) struct Page {
    bytes: Vec<u8>,
    codec: Codec,
    header: Header,
    unpacked: OnceLock<Result<Vec<u8>, Damage>>,
    starts: OnceLock<Result<Starts, Damage>>,
    dictionary: OnceLock<Result<Dictionary, Damage>>,
}

/// Where rows begin in a page of a column in lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Starts {
    /// The number of rows that begin in it.
    pub rows: u64,
    /// Whether its first value belongs to the last row of the page before it.
    pub goes_on: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Header {
    kind: i64,
    /// The size in the file, and unpacked.
    packed: usize,
    size: usize,
    checksum: Option<u32>,
    values: u64,
    encoding: i64,
    level_encoding: i64,
    repetition_encoding: i64,
    /// In the second version of the format: the number of rows, and of nulls.
    counts: Option<(u64, u64)>,
    /// In the second version of the format: the lengths of the levels, which are not compressed.
    levels: Option<(usize, usize)>,
    is_packed: bool,
}

impl Header {
    const DATA: i64 = 0;
    const DICTIONARY: i64 = 2;
    const DATA_2: i64 = 3;

    /// Reads a header, and its length. `None` if the bytes end before it.
    fn parse(bytes: &[u8]) -> Result<Option<(Self, usize)>, Damage> {
        let mut thrift = Thrift::new(bytes);
        match Self::read(&mut thrift) {
            Ok(header) => Ok(Some((header, bytes.len() - thrift.rest().len()))),
            Err(_) if thrift.ended => Ok(None),
            Err(damage) => Err(damage),
        }
    }

    fn read(thrift: &mut Thrift) -> Result<Self, Damage> {
        let mut header = Header { kind: -1, is_packed: true, ..Header::default() };
        let mut is_negative = false;
        // Another decoder may read the same header, and take the lower half of more.
        let int = |thrift: &mut Thrift| match thrift.int()? {
            value if i32::try_from(value).is_ok() => Ok(value),
            _ => Err(Damage::from("a page has a number of more than 32 bits")),
        };
        let mut size = |thrift: &mut Thrift| {
            let value = int(thrift)?;
            is_negative |= value < 0;
            Ok::<_, Damage>(value.unsigned_abs())
        };
        let (mut levels, mut counts, mut is_version_2) = ((0, 0), (0, 0), false);
        // The numbers of the parts that only pages of a kind have, as bits.
        let mut parts = 0u32;
        thrift.fields(&mut |thrift, number, kind| {
            check_field(number, kind, 1..=4, 5..=8)?;
            if matches!(number, 5 | 7 | 8) {
                parts |= 1 << number;
            }
            match (number, kind) {
                (1, Kind::Int) => header.kind = int(thrift)?,
                (2, Kind::Int) => header.size = size(thrift)? as usize,
                (3, Kind::Int) => header.packed = size(thrift)? as usize,
                (4, Kind::Int) => header.checksum = Some(int(thrift)? as u32),
                (5 | 7, Kind::Struct) => thrift.fields(&mut |thrift, number, kind| {
                    check_field(number, kind, 1..=2, 5..=5)?;
                    match (number, kind) {
                        (1, Kind::Int) => header.values = size(thrift)?,
                        (2, Kind::Int) => header.encoding = int(thrift)?,
                        (3, Kind::Int) => header.level_encoding = int(thrift)?,
                        (4, Kind::Int) => header.repetition_encoding = int(thrift)?,
                        _ => return Ok(false),
                    }
                    Ok(true)
                })?,
                (8, Kind::Struct) => {
                    is_version_2 = true;
                    thrift.fields(&mut |thrift, number, kind| {
                        check_field(number, kind, 1..=6, 8..=8)?;
                        match (number, kind) {
                            (1, Kind::Int) => header.values = size(thrift)?,
                            (2, Kind::Int) => counts.1 = size(thrift)?,
                            (3, Kind::Int) => counts.0 = size(thrift)?,
                            (4, Kind::Int) => header.encoding = int(thrift)?,
                            (5, Kind::Int) => levels.1 = size(thrift)? as usize,
                            (6, Kind::Int) => levels.0 = size(thrift)? as usize,
                            (7, Kind::Bool(value)) => header.is_packed = value,
                            _ => return Ok(false),
                        }
                        Ok(true)
                    })?;
                }
                _ => return Ok(false),
            }
            Ok(true)
        })?;
        if is_negative {
            return Err("a page has a negative size".into());
        }
        // The decoder that copies files relies on it.
        let own = match header.kind {
            Header::DATA => 1 << 5,
            Header::DICTIONARY => 1 << 7,
            Header::DATA_2 => 1 << 8,
            _ => parts,
        };
        if parts != own {
            return Err("the header of a page is that of another kind of page".into());
        }
        header.levels = is_version_2.then_some(levels);
        header.counts = is_version_2.then_some(counts);
        Ok(header)
    }
}

/// Checks that a field of a header has its type, and a number that any decoder has: otherwise two decoders may read it differently.
fn check_field(number: i64, kind: Kind, ints: RangeInclusive<i64>, structs: RangeInclusive<i64>) -> Result<(), Damage> {
    let is_other = ints.contains(&number) && kind != Kind::Int || structs.contains(&number) && kind != Kind::Struct;
    match is_other || i16::try_from(number).is_err() {
        true => Err("the header of a page has a field of another type".into()),
        false => Ok(()),
    }
}

/// The parts of an unpacked page: levels in runs, and values.
#[derive(Clone, Copy, Debug)]
pub(super) struct Content<'p> {
    pub repetition: &'p [u8],
    pub definition: &'p [u8],
    pub values: &'p [u8],
}

impl Page {
    /// The number of values, null or not.
    pub fn rows(&self) -> u64 {
        self.header.values
    }

    pub fn encoding(&self) -> i64 {
        self.header.encoding
    }

    /// Whether it is one of the second version of the format, whose levels are not compressed.
    #[cfg_attr(not(feature = "clean"), allow(dead_code, reason = "for copies"))]
    pub fn is_of_version_2(&self) -> bool {
        self.header.levels.is_some()
    }

    /// Its size in the file.
    pub fn packed_size(&self) -> u64 {
        self.bytes.len() as u64
    }

    /// Its size without compression.
    pub fn size(&self) -> u64 {
        self.header.size as u64
    }

    /// Its memory, in bytes, once it is unpacked.
    pub fn bytes_held(&self) -> u64 {
        let starts = if self.header.kind == Header::DICTIONARY { Dictionary::bytes_held(self.rows()) } else { 0 };
        self.packed_size() + self.size() + starts
    }

    /// The bytes without compression.
    fn unpacked(&self) -> Result<&[u8], Damage> {
        let unpack = || {
            if self.header.checksum.is_some_and(|sum| codec::checksum(&self.bytes) != sum) {
                return Err("the checksum of a page is wrong".into());
            }
            let size = self.header.size;
            let plain = self.header.levels.map_or(0, |(repetition, definition)| repetition + definition);
            let (levels, rest) = self.bytes.split_at_checked(plain).ok_or("a page is shorter than its levels")?;
            let codec = if self.header.is_packed { self.codec } else { Codec::None };
            let rest_size = size.checked_sub(plain).ok_or("a page is shorter than its levels")?;
            codec.unpack(levels, rest, rest_size)
        };
        if self.is_plain() {
            Ok(&self.bytes)
        } else {
            self.unpacked.get_or_init(unpack).as_deref().map_err(Clone::clone)
        }
    }

    fn is_plain(&self) -> bool {
        self.codec == Codec::None && self.header.checksum.is_none() && self.header.size == self.bytes.len()
    }

    /// The content of a page of values, in a column with at most these levels.
    pub fn levels_and_values(&self, max_repetition: u32, max_definition: u32) -> Result<Content<'_>, Damage> {
        let short = || Damage::from("a page is shorter than its levels");
        let bytes = self.unpacked()?;
        if let Some((repetition, definition)) = self.header.levels {
            let (repetition, rest) = bytes.split_at_checked(repetition).ok_or_else(short)?;
            let (definition, values) = rest.split_at_checked(definition).ok_or_else(short)?;
            return Ok(Content { repetition, definition, values });
        }
        let mut rest = bytes;
        let mut levels = |max, encoding| {
            if max == 0 {
                return Ok(&rest[..0]);
            }
            if encoding != 3 {
                return Err(format!("a page has levels in the encoding {encoding}").into());
            }
            let length = length(&mut rest)?;
            let (levels, after) = rest.split_at_checked(length).ok_or_else(short)?;
            rest = after;
            Ok::<_, Damage>(levels)
        };
        let repetition = levels(max_repetition, self.header.repetition_encoding)?;
        let definition = levels(max_definition, self.header.level_encoding)?;
        Ok(Content { repetition, definition, values: rest })
    }

    /// Where rows begin in it, in a column with at most this repetition level. Of a column in lists it unpacks the page.
    pub fn starts(&self, max_repetition: u32) -> Result<Starts, Damage> {
        if max_repetition == 0 {
            return Ok(Starts { rows: self.rows(), goes_on: false });
        }
        let count = || {
            let content = self.levels_and_values(max_repetition, 0)?;
            let mut levels = Runs::of_levels(content.repetition, max_repetition)?;
            let mut starts = Starts { rows: 0, goes_on: false };
            for at in 0..self.rows() {
                let begins = levels.next()? == 0;
                starts.rows += u64::from(begins);
                starts.goes_on |= at == 0 && !begins;
            }
            Ok(starts)
        };
        self.starts.get_or_init(count).clone()
    }

    /// Checks the numbers of rows and of nulls, if the page says how many.
    pub fn check_counts(&self, rows: u64, nulls: u64) -> Result<(), Damage> {
        match self.header.counts {
            Some(counts) if counts != (rows, nulls) => Err("a page has more or fewer rows than it claims".into()),
            _ => Ok(()),
        }
    }

    /// The values of a dictionary, with the bytes in which they are.
    pub fn dictionary(&self, physical: Physical) -> Result<(&Dictionary, &[u8]), Damage> {
        let page = self.unpacked()?;
        let dictionary = self.dictionary.get_or_init(|| Dictionary::new(page, self.rows(), physical));
        Ok((dictionary.as_ref().map_err(Clone::clone)?, page))
    }
}

/// What the pages of a file have unpacked to, so far.
#[derive(Debug, Default)]
pub(super) struct Expansion {
    packed: u64,
    size: u64,
}

impl Expansion {
    /// The size of the pages in the file.
    pub fn packed(&self) -> u64 {
        self.packed
    }

    /// Counts a page. Each row counts as a byte more: runs make any number of them from a few bytes.
    fn check(&mut self, header: &Header, length: usize, options: &ReadOptions) -> Result<(), Fault> {
        let too_long = |message: String| Fault { kind: ProblemKind::TooLong, message };
        if header.packed.max(header.size) as u64 > max_page(options) {
            let size = display_size(header.packed.max(header.size));
            return Err(too_long(format!("a page is {size} long (allow more with `max-record`)")));
        }
        self.packed = self.packed.saturating_add((length + header.packed) as u64);
        self.size = self.size.saturating_add(header.size as u64).saturating_add(header.values);
        let allowed = self.packed.saturating_mul(options.max_expansion).saturating_add(options.max_record as u64);
        if self.size > allowed {
            let times = options.max_expansion;
            let message =
                format!("its pages expand to more than {times} times their size (allow more with `max-expansion`)");
            return Err(too_long(message));
        }
        Ok(())
    }
}

/// Reads the pages of a column of a row group.
pub(super) struct Pages<'f> {
    file: &'f fs::File,
    codec: Codec,
    /// The part of the file that was not read.
    start: u64,
    end: u64,
    /// Bytes that were read ahead, from `used` on.
    buffer: Vec<u8>,
    used: usize,
    pub dictionary: Option<Arc<Page>>,
    /// Whether pages that are neither values nor a dictionary are damage: the decoder that copies files takes their bytes for a header.
    pub refuses_others: bool,
    /// Whether all values were read: what follows is not read by that decoder.
    has_ended: bool,
}

impl<'f> Pages<'f> {
    pub fn new(file: &'f fs::File, chunk: Chunk) -> Result<Self, Damage> {
        let Chunk { codec, start, length, .. } = chunk;
        let codec = Codec::by_code(codec)?;
        Ok(Pages {
            file,
            codec,
            start,
            end: start + length,
            buffer: Vec::new(),
            used: 0,
            dictionary: None,
            refuses_others: false,
            has_ended: false,
        })
    }

    /// The next page of values.
    pub fn next(&mut self, expansion: &mut Expansion, options: &ReadOptions) -> Result<Arc<Page>, Fault> {
        loop {
            if let Some(page) = self.page(expansion, options)? {
                return Ok(page);
            }
        }
    }

    /// The next page, if it is one of values; a dictionary is kept.
    fn page(&mut self, expansion: &mut Expansion, options: &ReadOptions) -> Result<Option<Arc<Page>>, Fault> {
        let (header, length) = self.header()?;
        self.used += length;
        expansion.check(&header, length, options)?;
        if header.packed as u64 > self.buffered() as u64 + (self.end - self.start) {
            return Err(Damage::from("a page ends behind its column").into());
        }
        let bytes = self.take(header.packed)?;
        let (unpacked, starts, dictionary) = Default::default();
        let page = Arc::new(Page { bytes, codec: self.codec, header, unpacked, starts, dictionary });
        let encoding = header.encoding;
        // The decoder that copies files reads no header with another one, even if no value is in it.
        let is_unknown = |encoding: &i64| !matches!(encoding, 0 | 2..=10);
        let encodings = [encoding, header.level_encoding, header.repetition_encoding];
        if let Some(unknown) = encodings.iter().copied().find(is_unknown) {
            return Err(Damage::from(format!("a page has the encoding {unknown}, which is not known")).into());
        }
        match header.kind {
            Header::DATA | Header::DATA_2 if header.values > 0 => return Ok(Some(page)),
            Header::DICTIONARY if self.dictionary.is_some() => {
                return Err(Damage::from("a column has several dictionaries").into());
            }
            Header::DICTIONARY if !matches!(encoding, 0 | 2) => {
                return Err(Damage::from(format!("a dictionary has the encoding {encoding}")).into());
            }
            Header::DICTIONARY => self.dictionary = Some(page),
            // Of a page without values, that decoder asks for the dictionary too.
            Header::DATA | Header::DATA_2
                if self.refuses_others && !self.has_ended && matches!(encoding, 2 | 8) && self.dictionary.is_none() =>
            {
                return Err(Damage::from("a page needs a dictionary that is not there").into());
            }
            Header::DATA | Header::DATA_2 => {}
            _ if self.refuses_others => return Err(Damage::from("a page is neither values nor a dictionary").into()),
            // Pages of other kinds hold no values.
            _ => {}
        }
        Ok(None)
    }

    /// Reads what comes after the last page of values, where no further one may be.
    pub fn finish(&mut self, expansion: &mut Expansion, options: &ReadOptions) -> Result<(), Fault> {
        self.has_ended = true;
        while self.buffered() > 0 || self.start < self.end {
            if self.page(expansion, options)?.is_some() {
                return Err(Damage::from("a column has more values than it claims").into());
            }
        }
        Ok(())
    }

    fn buffered(&self) -> usize {
        self.buffer.len() - self.used
    }

    /// The next header, and its length.
    fn header(&mut self) -> Result<(Header, usize), Damage> {
        let mut wanted = 1 << 10;
        loop {
            if self.buffered() < wanted {
                self.read_ahead(wanted.max(BLOCK))?;
            }
            match Header::parse(&self.buffer[self.used..])? {
                Some(found) => return Ok(found),
                None if self.start == self.end => return Err("a column has fewer values than it claims".into()),
                None if self.buffered() > MAX_HEADER => return Err("the header of a page is too long".into()),
                None => wanted = 2 * self.buffered(),
            }
        }
    }

    /// Extends the buffer to this many bytes; fewer at the end of the column.
    fn read_ahead(&mut self, wanted: usize) -> Result<(), Damage> {
        self.buffer.drain(..self.used);
        self.used = 0;
        let more = (wanted.saturating_sub(self.buffer.len()) as u64).min(self.end - self.start);
        let mut buffer = std::mem::take(&mut self.buffer);
        let outcome = self.read(more as usize, &mut buffer);
        self.buffer = buffer;
        outcome
    }

    fn take(&mut self, count: usize) -> Result<Vec<u8>, Damage> {
        let here = count.min(self.buffered());
        let mut bytes = Vec::with_capacity(count);
        bytes.extend_from_slice(&self.buffer[self.used..self.used + here]);
        self.used += here;
        self.read(count - here, &mut bytes)?;
        Ok(bytes)
    }

    fn read(&mut self, count: usize, buffer: &mut Vec<u8>) -> Result<(), Damage> {
        if count == 0 {
            return Ok(());
        }
        let mut file = self.file;
        let read = file
            .seek(SeekFrom::Start(self.start))
            .and_then(|_| file.take(count as u64).read_to_end(buffer))
            .map_err(|error| format!("cannot read it: {error}"))?;
        self.start += read as u64;
        if read < count { Err("it is shorter than when it was opened".into()) } else { Ok(()) }
    }
}
