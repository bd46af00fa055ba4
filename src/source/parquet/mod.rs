//! Parquet: the texts and ids of a file, read with random access, without its other columns.
//!
//! The reading thread walks the headers of the pages of two columns, and hands out ranges of rows with their pages, which
//! are not unpacked yet ([`File::next`]). Any thread unpacks and decodes them ([`Rows::visit`]). A column that is in no list has
//! as many values as there are rows, so ranges are cut without decoding, also within a page. Of a column in lists, a row
//! has any number of values, also across pages: the reading thread unpacks its pages, to count the rows that begin in them.
//!
//! Files are untrusted, and a decoder that panics on a damaged file would end the program. Therefore this is our own
//! decoder, of what columns of texts and integers need: it allocates no size that was not checked, and every value that
//! is not there is an error.
//!
//! | file | one idea |
//! |---|---|
//! | `fault` | what is wrong with a file |
//! | `thrift` | the encoding of metadata |
//! | `footer` | the schema, the wanted columns, the row groups |
//! | `page` | headers of pages; their bytes |
//! | `codec` | their compression |
//! | `values` | the encodings of values |
//! | `cells` | the values of a column in a range of rows |
//! | `repeats` | what values that rows repeat expand to |
//! | `rows` | a range of rows: ids and texts |
//! | `lists` | the texts of a row in a column in lists |
//! | `taken` | which elements of lists are chosen |
//! | `choices` | the texts in these |
//! | `check` | every page of a column, before another decoder reads it |
//! | `unread` | the columns that are not read, checked for copies |
//! | `copy` | a file without some of its rows, or parts of their texts |
//! | `cuts` | the parts of texts that a copy lacks, by rows and by the values of their columns |

mod cells;
mod check;
mod choices;
mod codec;
#[cfg(feature = "clean")]
mod copy;
#[cfg(feature = "clean")]
mod cuts;
mod fault;
mod footer;
mod lists;
mod page;
mod repeats;
mod rows;
mod taken;
mod thrift;
mod unread;
mod values;

#[cfg(feature = "clean")]
pub(super) use copy::copy_without;
use std::fs;
use std::io::{Read, Seek, SeekFrom};
use std::sync::Arc;

use cells::{Limits, Slice};
use fault::Damage;
pub(super) use fault::Fault;
use footer::{Chunk, Column, Columns, Footer, Group};
use page::{Expansion, Page, Pages, Starts, max_page};
use repeats::Repeats;
pub(super) use rows::{Record, Refused, Rows};
use unread::Unread;
pub(super) use unread::{Checks, Outcome};

use super::options::PARQUET_MAGIC as MAGIC;
use super::{ProblemKind, ReadOptions};
use crate::readable::display_size;

/// The beginning and the end of a file whose metadata is encrypted.
const ENCRYPTED: &[u8] = b"PARE";

/// The length at the end of a file: of the length of the metadata, and of the magic.
const TAIL_BYTES: u64 = 8;

/// The maximum length of metadata, unless a record may be longer.
const MAX_FOOTER: u64 = 64 << 20;

/// The maximum number of rows that are parsed as one piece. What is kept of a document takes memory, too.
const MAX_ROWS: u64 = 16 << 10;

/// Whether a file that begins like this is a Parquet file.
pub(super) fn is_parquet(beginning: &[u8]) -> bool {
    beginning.starts_with(MAGIC) || beginning.starts_with(ENCRYPTED)
}

/// A file that is being read.
pub(super) struct File<'f> {
    file: &'f fs::File,
    options: &'f ReadOptions,
    /// Where the metadata begins.
    end: u64,
    footer: Footer,
    columns: Arc<Columns>,
    expansion: Expansion,
    /// What each column may still repeat, in the order of [`Columns::ordinals`].
    slacks: Vec<repeats::Slack>,
    /// The bytes of the columns so far. No part of a file is read twice.
    column_bytes: u64,
    /// The number of rows in the row groups so far.
    rows: u64,
    group: Option<Open<'f>>,
    /// The columns that are not read, if they are checked.
    unread: Option<Unread<'f>>,
}

/// What comes next in a file.
pub(super) enum Piece {
    Rows(Box<Rows>),
    /// Pages of columns that are not read. They come after all rows.
    Checks(Checks),
    /// A part of the file cannot be read.
    Broken {
        /// Its first row, and the number of its rows as far as it is known: at least 1.
        row: u64,
        rows: u64,
        fault: Fault,
    },
}

impl<'f> File<'f> {
    /// Reads the metadata of a file. If it `is_checked`, every page of every column is decoded, as for a copy.
    pub fn open(file: &'f fs::File, options: &'f ReadOptions, is_checked: bool) -> Result<Self, Fault> {
        let (end, metadata) = metadata(file, options)?;
        let (footer, columns) = Footer::parse(metadata, options)?;
        let unread = is_checked.then(|| Unread::new(file, end, columns.ordinals().collect()));
        let slacks = columns.ordinals().map(|_| repeats::slack(options)).collect();
        let (expansion, column_bytes, rows, group, columns) = (Expansion::default(), 0, 0, None, Arc::new(columns));
        Ok(File { file, options, end, footer, columns, expansion, slacks, column_bytes, rows, group, unread })
    }

    /// Leaves out the pages of columns that are not read: an earlier reading has checked them.
    pub fn leave_out_checks(&mut self) {
        self.unread.iter_mut().for_each(Unread::end);
    }

    /// The columns of texts that it does not have.
    pub fn missing(&self) -> &[String] {
        &self.columns.missing
    }

    /// The messages about columns that are read and have the name of another one.
    pub fn repeated(&self) -> &[String] {
        &self.columns.repeated
    }

    /// The messages about paths whose elements are chosen by a field that is no string.
    pub fn unchosen(&self) -> &[String] {
        &self.columns.unchosen
    }

    /// The messages about columns that should rank its rows, and cannot.
    pub fn unranked(&self) -> &[String] {
        &self.columns.unranked
    }

    /// The number of bytes of pages so far.
    pub fn bytes_read(&self) -> u64 {
        self.expansion.packed() + self.unread.as_ref().map_or(0, Unread::packed)
    }

    /// The next rows.
    pub fn next(&mut self) -> Option<Piece> {
        loop {
            let Some(group) = &mut self.group else {
                match self.open_group() {
                    Some(Ok(group)) => self.group = Some(group),
                    Some(Err(fault)) => {
                        self.unread = None;
                        return Some(Piece::Broken { row: self.rows + 1, rows: 1, fault });
                    }
                    None => return self.unread.as_mut()?.next(self.options).map(Piece::Checks),
                }
                continue;
            };
            let first = group.first + group.done;
            match group.next(&mut self.expansion, self.options) {
                Ok(Some((count, texts, ids, ranks))) => {
                    let (columns, limits) = (Arc::clone(&self.columns), Limits::new(self.options));
                    let checks = self.unread.as_ref().map(Unread::columns);
                    let is_credible = group.is_credible();
                    let rows = Rows { first, count, texts, ids, ranks, columns, limits, is_credible, checks };
                    return Some(Piece::Rows(Box::new(rows)));
                }
                Ok(None) => self.finish_group(),
                Err(fault) => {
                    let message = format!("rows {first} to {} cannot be read: {}", self.rows, fault.message);
                    let (rows, is_credible) = (group.rows - group.done, group.is_credible());
                    self.group = None;
                    // How many pages of other columns were counted depends on how long ranges are.
                    self.slacks.iter().for_each(|slack| slack.set(0));
                    let (rows, kind) = if is_credible { (rows, fault.kind) } else { (1, ProblemKind::Damaged) };
                    return Some(Piece::Broken { row: first, rows, fault: Fault { message, kind } });
                }
            }
        }
    }

    /// Ends a row group of which all rows are handed out. If columns are checked, nothing may come after their values. A row group
    /// without rows is not checked: no copy has it, and writers give the position 0 for the pages of values that it lacks.
    fn finish_group(&mut self) {
        let Some((mut group, unread)) = self.group.take().zip(self.unread.as_mut()) else { return };
        if group.rows == 0 {
            return;
        }
        let rows = (group.first, group.first + group.rows - 1);
        for (cursor, ordinal) in group.cursors().zip(self.columns.ordinals()) {
            if let Err(fault) = cursor.pages.finish(&mut self.expansion, self.options) {
                unread.note(ordinal, rows, &fault);
            }
        }
    }

    /// Starts the next row group. The first one that cannot be read is the last.
    fn open_group(&mut self) -> Option<Result<Open<'f>, Fault>> {
        let first = self.rows + 1;
        let opened = self.footer.next(&self.columns)?.and_then(|group| {
            self.check(&group)?;
            let rows = self.rows.checked_add(group.rows).filter(|&rows| rows < u64::MAX);
            self.rows = rows.ok_or("its row groups have too many rows")?;
            let limits = (&*self.slacks, self.options);
            Open::new(self.file, &group, &self.columns, first, (limits, self.unread.is_some()))
        });
        Some(opened.map_err(|damage| {
            self.footer.end();
            self.rows = first - 1;
            let fault = Fault::from(damage);
            let message = format!("rows from {first} on cannot be read: {}", fault.message);
            Fault { message, ..fault }
        }))
    }

    /// Checks that a row group with rows is within the file, and that all are not longer together than the file.
    fn check(&mut self, group: &Group) -> Result<(), Damage> {
        if group.rows == 0 {
            return Ok(());
        }
        for chunk in group.chunks() {
            let is_within = chunk.start >= MAGIC.len() as u64
                && chunk.start.checked_add(chunk.length).is_some_and(|end| end <= self.end);
            self.column_bytes = self.column_bytes.saturating_add(chunk.length);
            if !is_within || self.column_bytes > self.end {
                return Err("a column is outside the file, or overlaps another".into());
            }
        }
        Ok(())
    }
}

/// The paths of the columns of a file, for a message; `None` if it cannot be read.
pub(super) fn column_names(file: &fs::File, options: &ReadOptions) -> Option<String> {
    let (_, metadata) = metadata(file, options).ok()?;
    Footer::column_names(&metadata).ok()
}

/// The first column of texts of a file whose type is that of JSON; `None` if there is none, or the file cannot be read.
#[cfg(feature = "clean")]
pub(super) fn json_texts(file: &fs::File, options: &ReadOptions) -> Option<String> {
    let (_, metadata) = metadata(file, options).ok()?;
    Footer::parse(metadata, options).ok()?.1.json
}

/// The first path of texts that chooses elements of lists in a file; `None` if there is none, or the file cannot be read.
#[cfg(feature = "clean")]
pub(super) fn chosen_texts(file: &fs::File, options: &ReadOptions) -> Option<String> {
    let (_, metadata) = metadata(file, options).ok()?;
    Footer::parse(metadata, options).ok()?.1.chosen
}

/// The metadata of a file, and its position.
fn metadata(file: &fs::File, options: &ReadOptions) -> Result<(u64, Vec<u8>), Fault> {
    let unreadable = |error| Fault { kind: ProblemKind::Unreadable, message: format!("cannot read: {error}") };
    let read = |from: SeekFrom, count: u64| {
        let (mut file, mut bytes) = (file, Vec::new());
        file.seek(from)?;
        file.take(count).read_to_end(&mut bytes)?;
        Ok::<_, std::io::Error>(bytes)
    };
    if !is_parquet(&read(SeekFrom::Start(0), MAGIC.len() as u64).map_err(unreadable)?) {
        let message = "compressed Parquet file: decompress it first (Parquet compresses its pages itself)".into();
        return Err(Fault { kind: ProblemKind::Unreadable, message });
    }
    let size = file.metadata().map_err(unreadable)?.len();
    let tail = match size.checked_sub(TAIL_BYTES) {
        Some(tail) => read(SeekFrom::Start(tail), TAIL_BYTES).map_err(unreadable)?,
        None => Vec::new(),
    };
    let Some((&[a, b, c, d], magic)) = tail.split_first_chunk::<4>() else {
        return Err(Damage::from("it is truncated").into());
    };
    if magic == ENCRYPTED {
        let message = "encrypted Parquet file: it is not read".into();
        return Err(Fault { kind: ProblemKind::Unreadable, message });
    }
    if magic != MAGIC {
        return Err(Damage::from("it is truncated, or has no metadata at its end").into());
    }
    let length = u64::from(u32::from_le_bytes([a, b, c, d]));
    let Some(start) = (size - TAIL_BYTES).checked_sub(length).filter(|&start| start >= MAGIC.len() as u64) else {
        return Err(Damage::from("its metadata is longer than the file").into());
    };
    let most = MAX_FOOTER.max(options.max_record as u64);
    if length > most {
        let message =
            format!("its metadata is longer than {} (allow more with `max-record`)", display_size(most as usize));
        return Err(Fault { kind: ProblemKind::Unreadable, message });
    }
    let bytes = read(SeekFrom::Start(start), length).map_err(unreadable)?;
    Ok((start, bytes))
}

/// A row group that is being read.
struct Open<'f> {
    /// The number of its first row in the file.
    first: u64,
    rows: u64,
    done: u64,
    /// The length of its columns in the file.
    length: u64,
    texts: Vec<Cursor<'f>>,
    /// The longest column of texts, which decides how many rows are about as many as in a batch.
    longest: usize,
    ids: Vec<Cursor<'f>>,
    ranks: Vec<Cursor<'f>>,
    /// Why the rest cannot be read.
    fault: Option<Fault>,
}

/// A number of rows, their texts, their ids, and the values that rank them.
type Range = (u64, Vec<Slice>, Vec<Slice>, Vec<Slice>);

/// A column of a row group that is being read.
struct Cursor<'f> {
    pages: Pages<'f>,
    /// The page with the next row, the number of rows that begin in it, and the number of these that were handed out.
    page: Option<(Arc<Page>, u64, u64)>,
    /// The number of values that are in no page so far, null or not.
    left: u64,
    /// The number of rows that begin in no page so far.
    rows: u64,
    /// 0 unless the column is in lists.
    max_repetition: u32,
    repeats: Repeats,
    /// The number of rows that begin in the page and may be read, if not all may.
    readable: Option<u64>,
}

impl<'f> Open<'f> {
    /// The columns that are read of a row group, and [checked](Unread) for a copy or not.
    fn new(
        file: &'f fs::File,
        group: &Group,
        columns: &Columns,
        first: u64,
        ((slacks, options), is_checked): ((&[repeats::Slack], &ReadOptions), bool),
    ) -> Result<Self, Damage> {
        let mut slacks = slacks.iter();
        let mut cursor = |(chunk, &column): (Chunk, &Column)| {
            let (mut pages, left, max_repetition) = (Pages::new(file, chunk)?, chunk.values, column.max_repetition);
            pages.refuses_others = is_checked;
            let slack = slacks.next().cloned().unwrap_or_default();
            let (repeats, readable) = (Repeats::new(column, chunk, slack, options), None);
            Ok::<_, Damage>(Cursor { pages, page: None, left, rows: group.rows, max_repetition, repeats, readable })
        };
        let texts = group.texts.iter().copied().zip(&columns.texts);
        let texts = texts.map(&mut cursor).collect::<Result<_, Damage>>()?;
        let ids = group.ids.iter().copied().zip(columns.ids.iter().map(|(column, _)| column));
        let ids = ids.map(&mut cursor).collect::<Result<_, Damage>>()?;
        let ranks = group.ranks.iter().copied().zip(columns.ranks.iter().map(|(column, _)| column));
        let ranks = ranks.map(&mut cursor).collect::<Result<_, Damage>>()?;
        let longest = (0..group.texts.len()).max_by_key(|&at| group.texts[at].length).unwrap_or(0);
        let length = group.chunks().iter().map(|chunk| chunk.length).sum();
        Ok(Open { first, rows: group.rows, done: 0, length, texts, longest, ids, ranks, fault: None })
    }

    /// Whether it has at most one row for each byte of its columns, so that work and memory for each row that cannot be read are
    /// bounded by the file. Otherwise such rows are one problem, and the file is damaged.
    fn is_credible(&self) -> bool {
        self.rows <= self.length
    }

    /// Its columns, in the order of [`Columns::ordinals`].
    fn cursors(&mut self) -> impl Iterator<Item = &mut Cursor<'f>> {
        self.texts.iter_mut().chain(&mut self.ids).chain(&mut self.ranks)
    }

    /// The next rows, about as many as are in a batch.
    fn next(&mut self, expansion: &mut Expansion, options: &ReadOptions) -> Result<Option<Range>, Fault> {
        if let Some(fault) = self.fault.take() {
            return Err(fault);
        }
        let (most, bytes) = (MAX_ROWS.min(self.rows - self.done), options.batch_bytes as u64);
        let mut longest = Slice::default();
        while self.fault.is_none() && longest.rows() < most && (longest.rows() == 0 || longest.bytes() < bytes) {
            self.fault = self.texts[self.longest].extend(&mut longest, most, bytes, (expansion, options)).err();
        }
        let mut rows = longest.rows();
        let mut follow = |cursor: &mut Cursor, fault: &mut Option<Fault>| {
            let mut slice = Slice::default();
            while slice.rows() < rows {
                if let Err(new) = cursor.extend(&mut slice, rows, u64::MAX, (expansion, options)) {
                    *fault = Some(new);
                    rows = slice.rows();
                }
            }
            slice
        };
        let mut texts = Vec::with_capacity(self.texts.len());
        for (at, cursor) in self.texts.iter_mut().enumerate() {
            texts.push(if at == self.longest { std::mem::take(&mut longest) } else { follow(cursor, &mut self.fault) });
        }
        let ids = self.ids.iter_mut().map(|cursor| follow(cursor, &mut self.fault)).collect();
        let ranks = self.ranks.iter_mut().map(|cursor| follow(cursor, &mut self.fault)).collect();
        self.done += rows;
        match self.fault.take_if(|_| rows == 0) {
            Some(fault) => Err(fault),
            None => Ok((rows > 0).then_some((rows, texts, ids, ranks))),
        }
    }
}

impl Cursor<'_> {
    /// Adds rows of one page to a slice, up to these numbers of rows and of bytes, but at least one.
    fn extend(
        &mut self,
        slice: &mut Slice,
        most: u64,
        bytes: u64,
        (expansion, options): (&mut Expansion, &ReadOptions),
    ) -> Result<(), Fault> {
        let (page, rows, used) = match self.page.take() {
            Some(page) => page,
            None => {
                let (page, starts) = self.next_page(expansion, options)?;
                if starts.goes_on {
                    return Err(Damage::from("a column begins within a row").into());
                }
                (page, starts.rows, 0)
            }
        };
        if self.readable == Some(used) {
            return Err(self.repeats.fault());
        }
        let available = self.readable.unwrap_or(rows) - used;
        let fitting = bytes.saturating_sub(slice.bytes()).saturating_mul(rows) / page.size().max(1);
        let count = available.min(most - slice.rows()).min(fitting.max(1));
        slice.push(&page, rows, used..used + count, self.pages.dictionary.as_ref());
        if used + count < rows {
            self.page = Some((page, rows, used + count));
        } else if self.max_repetition > 0 {
            self.finish_row(slice, expansion, options).inspect_err(|_| slice.pop())?;
        }
        Ok(())
    }

    fn next_page(&mut self, expansion: &mut Expansion, options: &ReadOptions) -> Result<(Arc<Page>, Starts), Fault> {
        let page = self.pages.next(expansion, options)?;
        let starts = page.starts(self.max_repetition)?;
        let left = self.left.checked_sub(page.rows()).zip(self.rows.checked_sub(starts.rows));
        (self.left, self.rows) = left.ok_or(Damage::from("a column has more values than its row group has rows"))?;
        self.readable = self.repeats.count(&page, self.pages.dictionary.as_ref())?;
        Ok((page, starts))
    }

    /// Adds the pages in which the last row of a slice goes on, and reads the page after them.
    fn finish_row(&mut self, slice: &mut Slice, expansion: &mut Expansion, options: &ReadOptions) -> Result<(), Fault> {
        let mut left = max_page(options);
        while self.page.is_none() && self.left > 0 {
            let (page, starts) = self.next_page(expansion, options)?;
            if starts.goes_on {
                let Some(less) = left.checked_sub(page.size()) else {
                    let message = "a row is in too many pages (allow more with `max-record`)".into();
                    return Err(Fault { kind: ProblemKind::TooLong, message });
                };
                left = less;
                slice.push_rest(&page, starts.rows == 0);
            }
            self.page = (starts.rows > 0).then_some((page, starts.rows, 0));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ::parquet::data_type::{ByteArray, ByteArrayType};
    use ::parquet::file::writer::SerializedFileWriter;
    use ::parquet::schema::parser::parse_message_type;
    use std::io::Write as _;

    /// A file with a text and a note in each row, and row groups of these numbers of rows.
    fn written(groups: &[usize]) -> fs::File {
        with_schema("message m { required binary text (UTF8); required binary note (UTF8); }", groups)
    }

    /// A file with the same text in each column of a row.
    fn with_schema(schema: &str, groups: &[usize]) -> fs::File {
        let schema = Arc::new(parse_message_type(schema).unwrap());
        let mut writer = SerializedFileWriter::new(Vec::new(), schema, Arc::default()).unwrap();
        for &rows in groups {
            let values: Vec<ByteArray> = (0..rows).map(|row| format!("text {row}").as_str().into()).collect();
            let mut group = writer.next_row_group().unwrap();
            while let Some(mut column) = group.next_column().unwrap() {
                column.typed::<ByteArrayType>().write_batch(&values, None, None).unwrap();
                column.close().unwrap();
            }
            group.close().unwrap();
        }
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&writer.into_inner().unwrap()).unwrap();
        file
    }

    #[test]
    fn columns_of_one_name_are_noted_if_they_are_read() {
        let text = |name: &str| format!("required binary {name} (UTF8);");
        for (names, expected) in [
            (&["text", "note", "text"][..], &["2 columns are named 'text': the first one was read"][..]),
            (&["id", "text", "id", "id"], &["3 columns are named 'id': the first one was read"]),
            (&["text", "note", "note"], &[]),
        ] {
            let columns: String = names.iter().map(|name| text(name)).collect();
            let (file, options) = (with_schema(&format!("message m {{ {columns} }}"), &[2]), ReadOptions::default());
            assert_eq!(File::open(&file, &options, true).unwrap().repeated(), expected, "{names:?}");
        }
    }

    /// Booleans, of which some are null, in pages of both versions and as one page or several.
    #[test]
    fn booleans_in_any_encoding() {
        use ::parquet::basic::Encoding;
        use ::parquet::data_type::BoolType;
        use ::parquet::file::properties::{WriterProperties, WriterVersion};
        let flag =
            |row: usize| (!row.is_multiple_of(5)).then_some(row.is_multiple_of(3) || (row / 50).is_multiple_of(2));
        for (rows, version, encoding, limit) in [
            (1000, WriterVersion::PARQUET_1_0, Encoding::PLAIN, 1 << 20),
            (1000, WriterVersion::PARQUET_1_0, Encoding::PLAIN, 37),
            (1000, WriterVersion::PARQUET_2_0, Encoding::RLE, 1 << 20),
            (1000, WriterVersion::PARQUET_2_0, Encoding::RLE, 37),
            // All of them are null.
            (1, WriterVersion::PARQUET_2_0, Encoding::RLE, 37),
        ] {
            let properties = WriterProperties::builder()
                .set_writer_version(version)
                .set_dictionary_enabled(false)
                .set_column_encoding("flag".into(), encoding)
                .set_data_page_row_count_limit(limit)
                .set_write_batch_size(limit.min(64))
                .build();
            let schema = "message m { required binary text (UTF8); optional boolean flag; }";
            let schema = Arc::new(parse_message_type(schema).unwrap());
            let mut writer = SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties)).unwrap();
            let mut group = writer.next_row_group().unwrap();
            let texts: Vec<ByteArray> = (0..rows).map(|row| format!("text {row}").as_str().into()).collect();
            let mut column = group.next_column().unwrap().unwrap();
            column.typed::<ByteArrayType>().write_batch(&texts, None, None).unwrap();
            column.close().unwrap();
            let levels: Vec<i16> = (0..rows).map(|row| flag(row).is_some().into()).collect();
            let flags: Vec<bool> = (0..rows).filter_map(flag).collect();
            let mut column = group.next_column().unwrap().unwrap();
            column.typed::<BoolType>().write_batch(&flags, Some(&levels), None).unwrap();
            column.close().unwrap();
            group.close().unwrap();
            let mut file = tempfile::tempfile().unwrap();
            file.write_all(&writer.into_inner().unwrap()).unwrap();

            let mut options = ReadOptions { batch_bytes: 3000, ..ReadOptions::default() };
            let path = crate::source::FieldPath::parse("keep", "flag").unwrap();
            options.ranking.by = vec![crate::source::RankBy::Is(path, "true".into())];
            let (mut reader, mut found) = (File::open(&file, &options, true).unwrap(), Vec::new());
            while let Some(piece) = reader.next() {
                let Piece::Rows(rows) = piece else { panic!("all pages can be read") };
                rows.visit(&mut |row| (row % 4 > 0).then_some(row), &mut |row, _, read| {
                    let values = read.unwrap_or_else(|refused| panic!("{}", refused.message)).values;
                    found.push((row, format!("{values:?}")));
                });
            }
            let shown = |row: usize| flag(row - 1).map_or("[Missing]".into(), |flag| format!("[Bool({flag})]"));
            let expected: Vec<_> = (1..=rows).filter(|row| row % 4 > 0).map(|row| (row as u64, shown(row))).collect();
            assert_eq!(found, expected, "{version:?} {encoding} {limit}");
        }
    }

    /// Such a row group has a dictionary and no page of values, whose position is 0.
    #[test]
    fn row_groups_without_rows() {
        for groups in [&[2, 0, 2][..], &[0, 2], &[2, 0], &[0], &[0, 0], &[]] {
            let (file, options) = (written(groups), ReadOptions::default());
            let mut reader = File::open(&file, &options, true).unwrap();
            let mut rows = 0;
            while let Some(piece) = reader.next() {
                match piece {
                    Piece::Rows(found) => rows += found.count as usize,
                    Piece::Checks(checks) => assert!(checks.problems().is_empty(), "{groups:?}: {checks:?}"),
                    Piece::Broken { fault, .. } => panic!("{groups:?}: {}", fault.message),
                }
            }
            assert_eq!(rows, groups.iter().sum::<usize>(), "{groups:?}");
        }
    }
}
