//! Copies of a file without some of its rows, or without parts of their texts, with all columns.
//!
//! Values are read and written as they are stored, column by column, with the schema of the file itself: no type is
//! translated on the way, so none is changed. That includes types that Arrow does not have, and the description of
//! Arrow's own types in the metadata.

use std::fs;
use std::io::{self, Write};
use std::sync::Arc;

use ::parquet::basic::{Encoding, Type as PhysicalType};
use ::parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use ::parquet::data_type::{ByteArrayType, DataType};
use ::parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData, SortingColumn};
use ::parquet::file::properties::{EnabledStatistics, WriterProperties, WriterVersion};
use ::parquet::file::reader::{FileReader, SerializedFileReader};
use ::parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use ::parquet::schema::types::ColumnDescriptor;

use super::check as columns;
use super::cuts::{Cuts, GroupCuts, Values};
use super::footer::Footer;
use crate::source::ReadOptions;
use crate::source::snip::Snips;

/// The number of rows that are copied at once.
const BATCH: usize = 256;

/// The program, in the metadata of a copy.
const CREATED_BY: &str = concat!("neardups version ", env!("CARGO_PKG_VERSION"));

/// Writes all rows of a file but those with these numbers, which count from 1 and ascend, and leaves these ranges out of the texts of
/// others, which `read` finds. Schema, metadata, row groups, and
/// the compression and the encoding of each column are those of the file, with Bloom filters, statistics and an index of pages
/// where it has them; a row group of which nothing is left is left out. The level of the compression is not in the file: it is
/// the default. The bytes depend on the file and on what is left out alone. Memory is bounded by the pages of a column, not by
/// the file, which is decoded twice: every page is checked first. If a text is in several columns, all but the last of these are decoded
/// once more.
///
/// # Errors
/// The file is damaged or encrypted, or has a logical type that is not known; there is no such row, or its text does not have such a
/// range; `out` fails. What was written by then is not a valid file.
pub(in crate::source) fn copy_without(
    input: &fs::File,
    (dropped, snips): (&[u64], Option<&Snips>),
    read: &ReadOptions,
    out: impl Write + Send,
) -> io::Result<()> {
    let options = ReadOptions { max_record: *ReadOptions::MAX_RECORD.end(), ..ReadOptions::default() };
    let (end, footer) = super::metadata(input, &options).map_err(|fault| refused(fault.message))?;
    let cuts = snips.map(|snips| {
        let (_, columns) = Footer::parse(footer, read).map_err(|fault| refused(fault.message))?;
        if columns.chosen.is_some() {
            return Err(refused("parts of chosen elements cannot be left out".into()));
        }
        Ok::<_, io::Error>(Cuts::new(snips, &columns))
    });
    let mut cuts = cuts.transpose()?;
    let reader = SerializedFileReader::new(input.try_clone()?)?;
    let metadata = reader.metadata();
    let schema = metadata.file_metadata().schema_descr().root_schema_ptr();
    columns::metadata(metadata)?;
    let changed = cuts.as_ref().map_or(&[][..], Cuts::columns);
    if changed.iter().any(|&column| column >= metadata.file_metadata().schema_descr().num_columns()) {
        return Err(damaged("a column of texts is missing"));
    }
    let properties = properties(metadata, version(input, end, metadata), changed);
    let mut writer = SerializedFileWriter::new(out, schema, Arc::new(properties))?;
    let (mut first, mut dropped) = (1u64, dropped);
    for (index, group) in metadata.row_groups().iter().enumerate() {
        let rows = u64::try_from(group.num_rows()).map_err(|_| damaged("a number of rows is negative"))?;
        let next = first.checked_add(rows).ok_or_else(|| damaged("there are too many rows"))?;
        let (here, later) = dropped.split_at(dropped.partition_point(|&row| row < next));
        let kept = kept(first, rows, here)?;
        let mut cuts = cuts.as_mut().map(|cuts| cuts.of_group(first..next, here)).transpose()?;
        (first, dropped) = (next, later);
        if kept.is_empty() {
            continue;
        }
        let from = reader.get_row_group(index)?;
        if let Some(cuts) = &mut cuts {
            let wanted = stretches(cuts.rows());
            for column in cuts.measured_columns() {
                columns::column(input, end, rows, group.column(column), &options)
                    .map_err(|fault| refused(fault.message))?;
                measure(from.get_column_reader(column)?, group.column(column).column_descr(), &wanted, cuts)?;
            }
        }
        let mut to = writer.next_row_group()?;
        let mut column = 0;
        while let Some(mut writer) = to.next_column()? {
            columns::column(input, end, rows, group.column(column), &options)
                .map_err(|fault| refused(fault.message))?;
            copy_column(from.get_column_reader(column)?, &mut writer, &kept, (column, cuts.as_ref()))?;
            writer.close()?;
            column += 1;
        }
        to.close()?;
    }
    if let Some(row) = dropped.first() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, format!("there is no row {row}")));
    }
    cuts.map_or(Ok(()), Cuts::finish)?;
    writer.close()?;
    Ok(())
}

fn refused(message: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, message)
}

fn damaged(what: &str) -> io::Error {
    refused(format!("damaged Parquet file: {what}"))
}

/// How a copy is written, in which the values of some columns are `changed`: as far as the metadata says how the file was. Each column is
/// compressed as in the first row group; it has what it has in any. Rows are not in the order of what changed any more.
fn properties(metadata: &ParquetMetaData, version: WriterVersion, changed: &[usize]) -> WriterProperties {
    let file = metadata.file_metadata();
    let groups = metadata.row_groups();
    let has_offsets =
        groups.iter().flat_map(|group| group.columns()).any(|column| column.offset_index_offset().is_some());
    let mut builder = WriterProperties::builder()
        .set_created_by(CREATED_BY.into())
        .set_writer_version(version)
        .set_offset_index_disabled(!has_offsets)
        .set_key_value_metadata(file.key_value_metadata().cloned())
        .set_max_row_group_row_count(None);
    let Some(first) = groups.first() else { return builder.build() };
    let is_unchanged = |column: &&SortingColumn| !changed.contains(&(column.column_idx as usize));
    let sorting = first.sorting_columns().map(|all| all.iter().take_while(is_unchanged).cloned().collect::<Vec<_>>());
    builder = builder.set_sorting_columns(sorting.filter(|columns| !columns.is_empty() || changed.is_empty()));
    let most_rows = groups.iter().map(|group| group.num_rows()).max().unwrap_or(0);
    for (number, column) in first.columns().iter().enumerate() {
        let path = || column.column_path().clone();
        let chunks: Vec<&ColumnChunkMetaData> = groups.iter().filter_map(|group| group.columns().get(number)).collect();
        let has = |what: &dyn Fn(&ColumnChunkMetaData) -> bool| chunks.iter().any(|chunk| what(chunk));
        let statistics = match () {
            () if has(&|chunk| chunk.column_index_offset().is_some()) => EnabledStatistics::Page,
            () if has(&|chunk| chunk.statistics().is_some()) => EnabledStatistics::Chunk,
            () => EnabledStatistics::None,
        };
        builder = builder
            .set_column_compression(path(), column.compression())
            .set_column_dictionary_enabled(path(), has(&|chunk| chunk.dictionary_page_offset().is_some()))
            .set_column_encoding(path(), encoding(column.column_type(), &chunks))
            .set_column_statistics_enabled(path(), statistics);
        if has(&|chunk| chunk.bloom_filter_offset().is_some()) {
            // It is made for as many values as there are rows, and shrinks to those that there are.
            let rows = u64::try_from(most_rows).unwrap_or(1).clamp(1, MAX_DISTINCT);
            builder =
                builder.set_column_bloom_filter_enabled(path(), true).set_column_bloom_filter_max_ndv(path(), rows);
        }
    }
    builder.build()
}

/// The maximum number of values for which a Bloom filter is made. It bounds memory, to 16 MiB a column.
const MAX_DISTINCT: u64 = 16 << 20;

/// The encoding of the values of a column that are in no dictionary: that of some page, if values of this type can have it.
fn encoding(kind: PhysicalType, chunks: &[&ColumnChunkMetaData]) -> Encoding {
    use PhysicalType::{BOOLEAN, BYTE_ARRAY, DOUBLE, FIXED_LEN_BYTE_ARRAY, FLOAT, INT32, INT64};
    let has = |encoding| chunks.iter().any(|chunk| chunk.encodings().any(|found| found == encoding));
    let possible: &[Encoding] = match kind {
        INT32 | INT64 => &[Encoding::DELTA_BINARY_PACKED, Encoding::BYTE_STREAM_SPLIT],
        FLOAT | DOUBLE => &[Encoding::BYTE_STREAM_SPLIT],
        BYTE_ARRAY => &[Encoding::DELTA_BYTE_ARRAY, Encoding::DELTA_LENGTH_BYTE_ARRAY],
        FIXED_LEN_BYTE_ARRAY => &[Encoding::DELTA_BYTE_ARRAY, Encoding::BYTE_STREAM_SPLIT],
        // Levels have this encoding, too.
        BOOLEAN if !has(Encoding::PLAIN) => &[Encoding::RLE],
        _ => &[],
    };
    possible.iter().copied().find(|&encoding| has(encoding)).unwrap_or(Encoding::PLAIN)
}

/// The version of the pages, by the first page of the first column that has one.
fn version(file: &fs::File, end: u64, metadata: &ParquetMetaData) -> WriterVersion {
    let columns = metadata.row_groups().iter().filter(|group| group.num_rows() > 0).flat_map(|group| group.columns());
    match columns.take(1).any(|column| columns::has_pages_of_version_2(file, end, column)) {
        true => WriterVersion::PARQUET_2_0,
        false => WriterVersion::PARQUET_1_0,
    }
}

/// Rows to leave out, and rows to keep after them.
struct Stretch {
    dropped: usize,
    kept: usize,
}

/// The rows of a row group that are kept, without stretches that keep none.
fn kept(first: u64, rows: u64, dropped: &[u64]) -> io::Result<Vec<Stretch>> {
    let mut stretches = Vec::new();
    let (mut next, mut lost) = (first, 0);
    for &row in dropped.iter().chain([&(first + rows)]) {
        let Some(kept) = row.checked_sub(next) else {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "the rows to leave out do not ascend from 1"));
        };
        if kept > 0 {
            stretches.push(Stretch { dropped: lost, kept: kept as usize });
            lost = 0;
        }
        lost += 1;
        next = row + 1;
    }
    Ok(stretches)
}

/// These rows of a row group, which ascend.
fn stretches(rows: impl Iterator<Item = u64>) -> Vec<Stretch> {
    let (mut stretches, mut next) = (Vec::<Stretch>::new(), 0);
    for row in rows {
        match stretches.last_mut() {
            Some(last) if row == next => last.kept += 1,
            _ => stretches.push(Stretch { dropped: (row - next) as usize, kept: 1 }),
        }
        next = row + 1;
    }
    stretches
}

/// Copies a column without what is cut of it.
fn copy_column(
    reader: ColumnReader,
    writer: &mut SerializedColumnWriter,
    kept: &[Stretch],
    (column, cuts): (usize, Option<&GroupCuts<'_>>),
) -> io::Result<()> {
    if let Some(mut cuts) = cuts.and_then(|cuts| cuts.of_column(column)) {
        copy_values(texts(reader)?, writer, kept, |values| cuts.cut(values))?;
        return cuts.finish();
    }
    match reader {
        ColumnReader::BoolColumnReader(reader) => copy_values(reader, writer, kept, |_| Ok(())),
        ColumnReader::Int32ColumnReader(reader) => copy_values(reader, writer, kept, |_| Ok(())),
        ColumnReader::Int64ColumnReader(reader) => copy_values(reader, writer, kept, |_| Ok(())),
        ColumnReader::Int96ColumnReader(reader) => copy_values(reader, writer, kept, |_| Ok(())),
        ColumnReader::FloatColumnReader(reader) => copy_values(reader, writer, kept, |_| Ok(())),
        ColumnReader::DoubleColumnReader(reader) => copy_values(reader, writer, kept, |_| Ok(())),
        ColumnReader::ByteArrayColumnReader(reader) => copy_values(reader, writer, kept, |_| Ok(())),
        ColumnReader::FixedLenByteArrayColumnReader(reader) => copy_values(reader, writer, kept, |_| Ok(())),
    }
}

/// Measures the texts of a column in the rows that are cut.
fn measure(
    reader: ColumnReader,
    column: &ColumnDescriptor,
    rows: &[Stretch],
    cuts: &mut GroupCuts<'_>,
) -> io::Result<()> {
    cuts.begin_measure();
    each_batch(texts(reader)?, column, rows, |values| {
        cuts.measure(values);
        Ok(())
    })
}

/// The reader of a column of texts.
fn texts(reader: ColumnReader) -> io::Result<ColumnReaderImpl<ByteArrayType>> {
    match reader {
        ColumnReader::ByteArrayColumnReader(reader) => Ok(reader),
        _ => Err(damaged("a column of texts has values of another type")),
    }
}

/// Copies these values of a column after each batch was changed.
fn copy_values<T: DataType>(
    reader: ColumnReaderImpl<T>,
    writer: &mut SerializedColumnWriter,
    kept: &[Stretch],
    mut change: impl FnMut(Values<'_, T::T>) -> io::Result<()>,
) -> io::Result<()> {
    let writer = writer.typed::<T>();
    let column = Arc::clone(writer.get_descriptor());
    let (has_nulls, has_lists) = (column.max_def_level() > 0, column.max_rep_level() > 0);
    each_batch(reader, &column, kept, |Values { rows, values, definition, max_definition, repetition }| {
        change(Values { rows, values: &mut *values, definition, max_definition, repetition })?;
        writer.write_batch(values, has_nulls.then_some(definition), has_lists.then_some(repetition))?;
        Ok(())
    })
}

/// Passes the values in these rows, some rows at a time.
fn each_batch<T: DataType>(
    mut reader: ColumnReaderImpl<T>,
    column: &ColumnDescriptor,
    rows: &[Stretch],
    mut each: impl FnMut(Values<'_, T::T>) -> io::Result<()>,
) -> io::Result<()> {
    let short = || damaged("a column has fewer values than its row group has rows");
    let (mut values, mut definition, mut repetition) = (Vec::new(), Vec::new(), Vec::new());
    let mut first = 0;
    for stretch in rows {
        if reader.skip_records(stretch.dropped)? < stretch.dropped {
            return Err(short());
        }
        first += stretch.dropped as u64;
        let mut left = stretch.kept;
        while left > 0 {
            values.clear();
            definition.clear();
            repetition.clear();
            let most = left.min(BATCH);
            let (count, ..) = reader.read_records(most, Some(&mut definition), Some(&mut repetition), &mut values)?;
            if count == 0 {
                return Err(short());
            }
            each(Values {
                rows: first..first + count as u64,
                values: &mut values,
                definition: &definition,
                max_definition: column.max_def_level(),
                repetition: &repetition,
            })?;
            left -= count;
            first += count as u64;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::columns::check_codecs;
    use super::*;
    use ::parquet::basic::{Compression, ZstdLevel};
    use ::parquet::data_type::ByteArray;
    use ::parquet::record::Row;
    use ::parquet::schema::parser::parse_message_type;
    use proptest::prelude::*;
    use std::path::Path;

    const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/parquet");
    const FILES: [&str; 4] =
        ["types.parquet", "int96.parquet", "docs/train-00000-of-00002.parquet", "docs/train-00001-of-00002.parquet"];

    fn file(bytes: &[u8]) -> fs::File {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        file
    }

    fn copy(input: &fs::File, dropped: &[u64]) -> io::Result<Vec<u8>> {
        let mut out = Vec::new();
        copy_without(input, (dropped, None), &ReadOptions::default(), &mut out).map(|()| out)
    }

    /// The rows, as text because a NaN is not equal to itself.
    fn rows(file: &SerializedFileReader<fs::File>) -> Vec<String> {
        file.get_row_iter(None).unwrap().map(|row: Result<Row, _>| format!("{:?}", row.unwrap())).collect()
    }

    /// Compares a copy with the input, row by row.
    fn check(input: &fs::File, dropped: &[u64]) -> Vec<u8> {
        let bytes = copy(input, dropped).unwrap();
        let open = |file: &fs::File| SerializedFileReader::new(file.try_clone().unwrap()).unwrap();
        let (before, after) = (open(input), open(&file(&bytes)));
        let mut expected = rows(&before);
        for row in dropped.iter().rev() {
            expected.remove(*row as usize - 1);
        }
        assert_eq!(rows(&after), expected, "without {dropped:?}");
        let (before, after) = (before.metadata(), after.metadata());
        assert_eq!(before.file_metadata().schema(), after.file_metadata().schema());
        assert_eq!(before.file_metadata().key_value_metadata(), after.file_metadata().key_value_metadata());
        assert_eq!(after.file_metadata().num_rows() as usize, expected.len());
        let codecs = |group: &::parquet::file::metadata::RowGroupMetaData| -> Vec<Compression> {
            group.columns().iter().map(|column| column.compression()).collect()
        };
        for group in after.row_groups() {
            assert_eq!(codecs(group), codecs(before.row_group(0)));
            assert!(group.num_rows() > 0);
        }
        bytes
    }

    #[test]
    fn every_type_of_another_implementation() {
        for name in FILES {
            let input = fs::File::open(Path::new(FIXTURES).join(name)).unwrap();
            let count =
                SerializedFileReader::new(input.try_clone().unwrap()).unwrap().metadata().file_metadata().num_rows();
            let all: Vec<u64> = (1..=count as u64).collect();
            let some = |keep: &dyn Fn(u64) -> bool| all.iter().copied().filter(|&row| keep(row)).collect::<Vec<u64>>();
            check(&input, &[]);
            check(&input, &all);
            check(&input, &[1]);
            check(&input, &some(&|row| row % 3 == 0));
            check(&input, &some(&|row| row % 3 > 0));
            // The first row group of `types.parquet`, and one row more.
            check(&input, &some(&|row| row <= 8));
            check(&input, &some(&|row| row == count as u64));
        }
    }

    /// A file of one column, compressed like this, in row groups of `group` rows.
    fn written(count: usize, group: usize, compression: Compression) -> fs::File {
        let schema = Arc::new(parse_message_type("message m { optional binary text (UTF8); }").unwrap());
        let properties = WriterProperties::builder().set_compression(compression).set_data_page_size_limit(200).build();
        let mut writer = SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties)).unwrap();
        for rows in (0..count).collect::<Vec<_>>().chunks(group) {
            let mut to = writer.next_row_group().unwrap();
            let mut column = to.next_column().unwrap().unwrap();
            let present: Vec<ByteArray> =
                rows.iter().filter(|&row| row % 5 > 0).map(|row| format!("text {row}").as_str().into()).collect();
            let levels: Vec<i16> = rows.iter().map(|row| i16::from(row % 5 > 0)).collect();
            column.typed::<ByteArrayType>().write_batch(&present, Some(&levels), None).unwrap();
            column.close().unwrap();
            to.close().unwrap();
        }
        file(&writer.into_inner().unwrap())
    }

    #[test]
    fn many_rows_in_each_compression() {
        use Compression::*;
        let zstd = ZSTD(ZstdLevel::default());
        for codec in [UNCOMPRESSED, SNAPPY, GZIP(Default::default()), BROTLI(Default::default()), LZ4, LZ4_RAW, zstd] {
            let input = written(3000, 700, codec);
            let dropped: Vec<u64> = (1..=3000).filter(|row| row % 7 < 3 || (700..1500).contains(row)).collect();
            let bytes = check(&input, &dropped);
            assert_eq!(bytes, check(&input, &dropped), "the same bytes again");
            let copied = SerializedFileReader::new(file(&bytes)).unwrap();
            // The second row group is gone.
            assert_eq!(copied.metadata().num_row_groups(), 4);
        }
    }

    /// The footer of a file says that columns are compressed with LZO, which the writer does not have.
    #[test]
    fn a_codec_without_a_writer_is_refused() {
        let input = written(10, 4, Compression::SNAPPY);
        let metadata = SerializedFileReader::new(input.try_clone().unwrap()).unwrap().metadata().clone();
        assert!(check_codecs(&metadata).is_ok());
        let groups = metadata.row_groups().iter().map(|group| {
            let column = group.column(0).clone().into_builder().set_compression(Compression::LZO).build().unwrap();
            group.clone().into_builder().set_column_metadata(vec![column]).build().unwrap()
        });
        let lzo = ParquetMetaData::new(metadata.file_metadata().clone(), groups.collect());
        let error = check_codecs(&lzo).unwrap_err();
        assert_eq!(
            (error.kind(), &*error.to_string()),
            (io::ErrorKind::Unsupported, "the column 'text' is compressed with LZO")
        );
    }

    #[test]
    fn rows_that_cannot_be_left_out() {
        let input = written(10, 4, Compression::UNCOMPRESSED);
        for (dropped, message) in [
            (&[0][..], "the rows to leave out do not ascend from 1"),
            (&[3, 2], "the rows to leave out do not ascend from 1"),
            (&[2, 2], "the rows to leave out do not ascend from 1"),
            (&[5, 4], "the rows to leave out do not ascend from 1"),
            (&[11], "there is no row 11"),
        ] {
            assert_eq!(copy(&input, dropped).unwrap_err().to_string(), message, "{dropped:?}");
        }
    }

    #[test]
    fn what_is_not_written_is_an_error() {
        struct Full(usize);
        impl Write for Full {
            fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
                self.0 = self.0.checked_sub(bytes.len()).ok_or(io::ErrorKind::StorageFull)?;
                Ok(bytes.len())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let input = written(1000, 400, Compression::SNAPPY);
        let length = copy(&input, &[1]).unwrap().len();
        let copy_to = |full| copy_without(&input, (&[1], None), &ReadOptions::default(), full);
        assert!(copy_to(Full(length)).is_ok());
        for room in [0, 100, length / 2, length - 1] {
            assert!(copy_to(Full(room)).is_err(), "{room}");
        }
    }

    /// The header of a page, without the part that pages of its kind have: in the encoding of Thrift, the field that begins the part is two, four
    /// or five after the one before it.
    #[test]
    fn a_header_of_another_kind_of_page_is_damage() {
        let mut refused = 0;
        for name in FILES {
            let bytes = fs::read(Path::new(FIXTURES).join(name)).unwrap();
            let parts = [0x2c, 0x4c, 0x5c];
            for at in (0..bytes.len()).filter(|&at| parts.contains(&bytes[at])) {
                for part in parts {
                    let mut changed = bytes.clone();
                    changed[at] = part;
                    let outcome = copy(&file(&changed), &[1]).map_err(|error| error.to_string());
                    refused += usize::from(outcome.is_err_and(|error| error.contains("of another kind of page")));
                }
            }
        }
        assert!(refused > 0);
    }

    /// A page of another kind: an index, one that nobody knows, or one that is of values for who reads 32 bits alone.
    #[test]
    fn a_page_of_another_kind_is_damage() {
        let mut refused = [0; 2];
        for name in FILES {
            let bytes = fs::read(Path::new(FIXTURES).join(name)).unwrap();
            for at in (0..bytes.len() - 2).filter(|&at| (bytes[at], bytes[at + 2]) == (0x15, 0x15)) {
                for kind in [&[0x02][..], &[0x08], &[0x80, 0x80, 0x80, 0x80, 0x20]] {
                    let changed = [&bytes[..=at], kind, &bytes[at + 2..]].concat();
                    let message = copy(&file(&changed), &[1]).map_or_else(|error| error.to_string(), |_| String::new());
                    for (refused, part) in refused.iter_mut().zip(["neither values nor", "more than 32 bits"]) {
                        *refused += usize::from(message.contains(part));
                    }
                }
            }
        }
        assert!(refused.into_iter().all(|refused| refused > 0), "{refused:?}");
    }

    proptest! {
        /// No panic, and the same outcome twice.
        #[test]
        fn damaged_files_are_errors_or_copied(
            name in proptest::sample::select(&FILES),
            changes in proptest::collection::vec((any::<proptest::sample::Index>(), any::<u8>(), any::<bool>()), 1..4),
            row in 1u64..5,
        ) {
            let mut bytes = fs::read(Path::new(FIXTURES).join(name)).unwrap();
            for (at, byte, is_bit) in changes {
                let at = at.index(bytes.len());
                bytes[at] = if is_bit { bytes[at] ^ 1 << (byte % 8) } else { byte };
            }
            let input = file(&bytes);
            let outcome = || copy(&input, &[row]).map_err(|error| error.to_string());
            prop_assert_eq!(outcome(), outcome());
        }
    }
}
