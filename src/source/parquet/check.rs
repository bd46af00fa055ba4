//! Checks a column before another decoder reads it: every page, level and value is decoded by our own, which refuses what
//! is damaged. Decoders that trust their input would end the program.

use std::fs;
use std::io;

use ::parquet::basic::{Compression, LogicalType, Type};
use ::parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData};
use ::parquet::schema::types::{ColumnDescriptor, Type as Schema};

use super::fault::{Damage, Fault};
use super::footer::{Chunk, Physical};
use super::page::{Expansion, Page, Pages};
use super::values::{Runs, Values};
use crate::source::ReadOptions;

/// What is known of a column.
#[derive(Debug)]
pub(super) struct Column {
    /// Its path.
    pub name: String,
    physical: Type,
    width: usize,
    max_definition: u32,
    pub max_repetition: u32,
}

/// The part of a file where a column of a row group is, in a file whose metadata begins at `end`.
///
/// # Errors
/// It is outside the file.
pub(super) fn chunk(end: u64, metadata: &ColumnChunkMetaData) -> Result<Chunk, Damage> {
    let size = |value: i64| u64::try_from(value).map_err(|_| Damage::from("a size in its metadata is negative"));
    let dictionary = metadata.dictionary_page_offset().filter(|&offset| offset != 0);
    let start = size(dictionary.map_or(metadata.data_page_offset(), |first| first.min(metadata.data_page_offset())))?;
    let (length, values) = (size(metadata.compressed_size())?, size(metadata.num_values())?);
    if start < 4 || start.checked_add(length).is_none_or(|column| column > end) {
        return Err(Damage::from("a column is outside the file"));
    }
    let codec = match metadata.compression() {
        Compression::UNCOMPRESSED => 0,
        Compression::SNAPPY => 1,
        Compression::GZIP(_) => 2,
        Compression::LZO => 3,
        Compression::BROTLI(_) => 4,
        Compression::LZ4 => 5,
        Compression::ZSTD(_) => 6,
        Compression::LZ4_RAW => 7,
    };
    Ok(Chunk { codec, values, start, length })
}

/// Checks the column of a row group with this many rows, in a file whose metadata begins at `end`.
#[cfg_attr(not(feature = "clean"), allow(dead_code, reason = "for copies"))]
pub(super) fn column(
    file: &fs::File,
    end: u64,
    rows: u64,
    metadata: &ColumnChunkMetaData,
    options: &ReadOptions,
) -> Result<(), Fault> {
    let column = Column::new(metadata.column_descr());
    let chunk = chunk(end, metadata)?;
    let (mut pages, mut expansion) = (Pages::new(file, chunk)?, Expansion::default());
    pages.refuses_others = true;
    let (mut left, mut found) = (chunk.values, 0);
    while left > 0 {
        let page = pages.next(&mut expansion, options)?;
        left = left.checked_sub(page.rows()).ok_or(MORE_VALUES)?;
        found += column.check(&page, pages.dictionary.as_deref())?;
    }
    if found != rows {
        return Err(OTHER_ROWS.into());
    }
    pages.finish(&mut expansion, options)
}

/// Checks that a copy of a file with this metadata can be written.
///
/// # Errors
/// It has a logical type that is not known, or a codec that has no writer.
pub(super) fn metadata(metadata: &ParquetMetaData) -> io::Result<()> {
    check_types(metadata.file_metadata().schema_descr().root_schema())?;
    check_codecs(metadata)
}

/// A logical type that is not known would be written as another.
fn check_types(schema: &Schema) -> io::Result<()> {
    if let Some(LogicalType::_Unknown { .. }) = schema.get_basic_info().logical_type_ref() {
        let message = format!("the column '{}' has a logical type that is not known", schema.name());
        return Err(io::Error::new(io::ErrorKind::Unsupported, message));
    }
    match schema {
        Schema::GroupType { fields, .. } => fields.iter().try_for_each(|field| check_types(field)),
        Schema::PrimitiveType { .. } => Ok(()),
    }
}

/// The writer panics if it does not have the codec of a column.
pub(super) fn check_codecs(metadata: &ParquetMetaData) -> io::Result<()> {
    let mut columns = metadata.row_groups().iter().flat_map(|group| group.columns());
    match columns.find(|column| column.compression() == Compression::LZO) {
        Some(column) => {
            let message = format!("the column '{}' is compressed with LZO", column.column_path().string());
            Err(io::Error::new(io::ErrorKind::Unsupported, message))
        }
        None => Ok(()),
    }
}

/// Whether the first page of a column is of the second version of the format. False if it cannot be read.
#[cfg_attr(not(feature = "clean"), allow(dead_code, reason = "for copies"))]
pub(super) fn has_pages_of_version_2(file: &fs::File, end: u64, metadata: &ColumnChunkMetaData) -> bool {
    let options = ReadOptions { max_record: *ReadOptions::MAX_RECORD.end(), ..ReadOptions::default() };
    let pages = chunk(end, metadata).and_then(|chunk| Pages::new(file, chunk));
    let first = pages.map(|mut pages| pages.next(&mut Expansion::default(), &options));
    first.is_ok_and(|page| page.is_ok_and(|page| page.is_of_version_2()))
}

pub(super) const MORE_VALUES: Damage = Damage::Borrowed("a column has more values than it claims");
pub(super) const OTHER_ROWS: Damage = Damage::Borrowed("a column has more or fewer rows than its row group");

impl Column {
    pub fn new(description: &ColumnDescriptor) -> Self {
        let width = match description.physical_type() {
            Type::BOOLEAN | Type::BYTE_ARRAY => 0,
            Type::INT32 | Type::FLOAT => 4,
            Type::INT64 | Type::DOUBLE => 8,
            Type::INT96 => 12,
            Type::FIXED_LEN_BYTE_ARRAY => usize::try_from(description.type_length()).unwrap_or(0),
        };
        Column {
            name: description.path().string(),
            physical: description.physical_type(),
            width,
            max_definition: description.max_def_level().unsigned_abs().into(),
            max_repetition: description.max_rep_level().unsigned_abs().into(),
        }
    }

    /// Whether a dictionary can be decoded.
    pub fn can_decode(&self, dictionary: &Page) -> bool {
        dictionary.dictionary(self.kind()).is_ok()
    }

    fn kind(&self) -> Physical {
        if self.physical == Type::BYTE_ARRAY { Physical::Bytes } else { Physical::Fixed(self.width) }
    }

    /// Checks a page, and counts its rows.
    pub fn check(&self, page: &Page, dictionary: Option<&Page>) -> Result<u64, Damage> {
        if self.physical == Type::FIXED_LEN_BYTE_ARRAY && self.width == 0 {
            return Err("a column has values of no length".into());
        }
        let content = page.levels_and_values(self.max_repetition, self.max_definition)?;
        let mut repetition = Runs::of_levels(content.repetition, self.max_repetition)?;
        let mut definition = Runs::of_levels(content.definition, self.max_definition)?;
        let (mut rows, mut present) = (0, 0);
        for _ in 0..page.rows() {
            let repeats = if self.max_repetition == 0 { 0 } else { repetition.next()? };
            let defined = if self.max_definition == 0 { 0 } else { definition.next()? };
            if repeats > self.max_repetition || defined > self.max_definition {
                return Err("a page has a level that its column does not have".into());
            }
            rows += u64::from(repeats == 0);
            present += u64::from(defined == self.max_definition);
        }
        page.check_counts(rows, page.rows() - present)?;
        if self.physical == Type::BOOLEAN {
            self.check_booleans(page.encoding(), content.values, present)?;
        } else {
            self.check_values(page, content.values, present, dictionary)?;
        }
        Ok(rows)
    }

    fn check_booleans(&self, encoding: i64, mut values: &[u8], present: u64) -> Result<(), Damage> {
        match encoding {
            0 if present.div_ceil(8) <= values.len() as u64 => Ok(()),
            0 => Err("a page holds fewer values than it claims".into()),
            3 if present == 0 => Ok(()),
            3 => {
                let length = super::values::length(&mut values)?;
                let mut runs = Runs::new(values.get(..length).ok_or("a page is shorter than its values")?, 1)?;
                (0..present).try_for_each(|_| runs.next().map(drop))
            }
            _ => Err(format!("a page has the encoding {encoding}, which does not suit its column").into()),
        }
    }

    /// Whether the decoder that copies files knows an encoding for values of this type.
    fn suits(&self, encoding: i64) -> bool {
        match self.physical {
            Type::BOOLEAN => matches!(encoding, 0 | 3),
            Type::INT96 => matches!(encoding, 0 | 2 | 8),
            Type::INT32 | Type::INT64 => matches!(encoding, 0 | 2 | 5 | 8 | 9),
            Type::FLOAT | Type::DOUBLE => matches!(encoding, 0 | 2 | 8 | 9),
            Type::BYTE_ARRAY => matches!(encoding, 0 | 2 | 6 | 7 | 8),
            Type::FIXED_LEN_BYTE_ARRAY => matches!(encoding, 0 | 2 | 7 | 8 | 9),
        }
    }

    fn check_values(&self, page: &Page, values: &[u8], present: u64, dictionary: Option<&Page>) -> Result<(), Damage> {
        let physical = self.kind();
        let encoding = page.encoding();
        if !self.suits(encoding) {
            return Err(format!("a page has the encoding {encoding}, which does not suit its column").into());
        }
        // Of values of one length, the decoder that copies files wants no byte more.
        let is_exact = |bytes: &[u8], count: u64| {
            self.physical != Type::FIXED_LEN_BYTE_ARRAY || bytes.len() as u64 == count.saturating_mul(self.width as u64)
        };
        if encoding == 0 && !is_exact(values, present) {
            return Err("a page has more bytes than its values".into());
        }
        let dictionary = match dictionary {
            Some(dictionary) => {
                let (found, bytes) = dictionary.dictionary(physical)?;
                if !is_exact(bytes, dictionary.rows()) {
                    return Err("a dictionary has more bytes than its values".into());
                }
                Some((found, bytes))
            }
            // That decoder asks for it, even for a page of nulls.
            None if matches!(encoding, 2 | 8) => return Err("a page needs a dictionary that is not there".into()),
            None => None,
        };
        if present == 0 {
            return Ok(());
        }
        let mut values = Values::new(page.encoding(), values, physical, dictionary, page.rows())?;
        (0..present).try_for_each(|_| values.next().map(drop))
    }
}
