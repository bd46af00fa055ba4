//! Parquet: the rows that another implementation wrote, in any encoding, in any batches; refusals; damaged files.
//!
//! The oracle is what was written: by the crate `parquet`, whose reader is not used, or by pyarrow (`fixtures/parquet`).

use ::parquet::basic::{
    BrotliLevel, Compression, ConvertedType, Encoding, GzipLevel, Repetition, Type as PhysicalType, ZstdLevel,
};
use ::parquet::data_type::{ByteArray, ByteArrayType, Int64Type};
use ::parquet::file::properties::{WriterProperties, WriterVersion};
use ::parquet::file::reader::{FileReader, SerializedFileReader};
use ::parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use ::parquet::schema::parser::parse_message_type;
use ::parquet::schema::types::Type;
use neardups::source::{FieldPath, Format, IdFields, Input, ProblemKind, ReadOptions, Severity, Source, TextFields};
use proptest::prelude::*;
use std::fs;
use std::io::Cursor;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/parquet");

/// An optional id and an optional text.
type Row = (Option<String>, Option<String>);

/// A file of rows with these groups, as bytes.
fn written(groups: &[&[Row]], properties: WriterProperties) -> Vec<u8> {
    let schema = "message m { optional binary id (UTF8); optional binary text (UTF8); }";
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties)).unwrap();
    for rows in groups {
        let mut group = writer.next_row_group().unwrap();
        let columns: [fn(&Row) -> &Option<String>; 2] = [|row| &row.0, |row| &row.1];
        for column in columns {
            let values: Vec<ByteArray> = rows.iter().filter_map(|row| column(row).as_deref().map(Into::into)).collect();
            let levels: Vec<i16> = rows.iter().map(|row| i16::from(column(row).is_some())).collect();
            let mut writer = group.next_column().unwrap().unwrap();
            writer.typed::<ByteArrayType>().write_batch(&values, Some(&levels), None).unwrap();
            writer.close().unwrap();
        }
        group.close().unwrap();
    }
    writer.into_inner().unwrap()
}

fn plain(rows: &[Row]) -> Vec<u8> {
    written(&[rows], WriterProperties::builder().build())
}

fn rows(count: usize) -> Vec<Row> {
    (0..count).map(|n| (Some(format!("r{n}")), Some(format!("text {}", n % 50)))).collect()
}

/// A file in a folder of its own.
struct File {
    _folder: tempfile::TempDir,
    path: PathBuf,
}

impl File {
    fn new(bytes: &[u8]) -> Self {
        File::named("f.parquet", bytes)
    }

    fn named(name: &str, bytes: &[u8]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        File { _folder: folder, path }
    }

    fn read(&self, options: &ReadOptions) -> Vec<String> {
        read(&self.path, options).0
    }
}

/// Documents as `ROW|id|text`, problems as `ROW!message`, where the path of the file is `F`; and the number of batches.
fn read(path: &Path, options: &ReadOptions) -> (Vec<String>, usize) {
    let mut input = Input::new(vec![path.into()], options.clone());
    let (mut found, mut batches, mut bytes) = (Vec::new(), 0, 0);
    let shown = path.display().to_string();
    input.read(&mut |batch| {
        batches += 1;
        bytes += batch.bytes_read();
        batch.documents(&mut |document| {
            found.push(match document {
                Ok(document) => {
                    let row = document.place.line.unwrap_or(0);
                    format!("{row}|{}|{}", document.id, document.text).replace(&shown, "F")
                }
                Err(problem) => format!("{}!{}", problem.place.line.unwrap_or(0), problem.message).replace(&shown, "F"),
            });
        });
        ControlFlow::Continue(())
    });
    assert_eq!(Some(bytes), input.total_bytes());
    (found, batches)
}

fn expected(rows: &[Row]) -> Vec<String> {
    let shown = |(at, (id, text)): (usize, &Row)| {
        let row = at + 1;
        let id = id.clone().unwrap_or_else(|| format!("F:{row}"));
        match text {
            Some(text) => format!("{row}|{id}|{text}"),
            None => format!("{row}!text column 'text' is null: there is no text to compare"),
        }
    };
    rows.iter().enumerate().map(shown).collect()
}

fn with_fields(text: &str, id: &str) -> ReadOptions {
    ReadOptions {
        text_fields: FieldPath::parse("text-field", text).unwrap().into(),
        id_field: IdFields::parse("id-field", id).unwrap(),
        ..ReadOptions::default()
    }
}

fn codecs() -> Vec<Compression> {
    vec![
        Compression::UNCOMPRESSED,
        Compression::SNAPPY,
        Compression::GZIP(GzipLevel::default()),
        Compression::BROTLI(BrotliLevel::default()),
        Compression::LZ4,
        Compression::LZ4_RAW,
        Compression::ZSTD(ZstdLevel::default()),
    ]
}

fn any_row() -> impl Strategy<Value = Row> {
    let text = prop_oneof![4 => "[a-cé]{0,12}", 1 => "(same )?text", 1 => "\u{feff}x", 1 => "[ab]{200}"];
    (proptest::option::weighted(0.8, "[a-z]{1,4}"), proptest::option::weighted(0.9, text))
}

/// Everything about a file that a writer may choose.
fn any_properties() -> impl Strategy<Value = WriterProperties> {
    let encodings =
        vec![None, Some(Encoding::PLAIN), Some(Encoding::DELTA_LENGTH_BYTE_ARRAY), Some(Encoding::DELTA_BYTE_ARRAY)];
    let choices = (proptest::sample::select(codecs()), any::<bool>(), proptest::sample::select(encodings));
    (choices, 1usize..200, 1usize..40).prop_map(|((codec, is_version_2, encoding), page, dictionary)| {
        let version = if is_version_2 { WriterVersion::PARQUET_2_0 } else { WriterVersion::PARQUET_1_0 };
        let builder = WriterProperties::builder()
            .set_compression(codec)
            .set_writer_version(version)
            .set_write_batch_size(7)
            .set_data_page_size_limit(page)
            .set_dictionary_page_size_limit(10 * dictionary);
        match encoding {
            Some(encoding) => builder.set_dictionary_enabled(false).set_encoding(encoding).build(),
            None => builder.build(),
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn every_encoding_in_any_batches(
        rows in proptest::collection::vec(any_row(), 0..120),
        properties in any_properties(),
        group in 1usize..60,
        batch_bytes in 1usize..3000,
    ) {
        let groups: Vec<&[Row]> = rows.chunks(group).collect();
        let file = File::new(&written(&groups, properties));
        prop_assert_eq!(file.read(&ReadOptions { batch_bytes, ..ReadOptions::default() }), expected(&rows));
    }

    #[test]
    fn selected_rows_are_the_same_as_all(
        rows in proptest::collection::vec(any_row(), 1..120),
        properties in any_properties(),
        wanted in proptest::collection::vec(any::<bool>(), 120),
        batch_bytes in 1usize..3000,
    ) {
        let file = File::new(&written(&[&rows], properties));
        let mut input = Input::new(vec![file.path.clone()], ReadOptions { batch_bytes, ..ReadOptions::default() });
        let (mut found, mut first) = (Vec::new(), 0);
        input.read(&mut |batch| {
            let mut asked = 0;
            batch.selected(&mut |record| (asked = asked.max(record as usize + 1), wanted[first + record as usize]).1,
                &mut |record, read| found.push((first + record as usize, read.map(|document| document.text.into_owned()).map_err(|problem| problem.message))));
            first += asked;
            ControlFlow::Continue(())
        });
        let null = || "text column 'text' is null: there is no text to compare".to_string();
        let all = rows.iter().enumerate().filter(|(at, _)| wanted[*at]);
        let all = all.map(|(at, (_, text))| (at, text.clone().ok_or_else(null)));
        prop_assert_eq!(first, rows.len());
        prop_assert_eq!(found, all.collect::<Vec<_>>());
    }

    /// No panic, no document that is too long, and the same result twice.
    #[test]
    fn damaged_files_are_reported(
        which in 0usize..6,
        changes in proptest::collection::vec((any::<proptest::sample::Index>(), any::<u8>(), 0usize..4), 1..6),
    ) {
        let mut bytes = hostile_seed(which);
        for (at, byte, how) in changes {
            let at = at.index(bytes.len());
            match how {
                0 => bytes[at] = byte,
                1 => bytes[at] ^= 1 << (byte % 8),
                2 => bytes.insert(at, byte),
                _ => { bytes[at] = 0xff; if at + 1 < bytes.len() { bytes[at + 1] = 0x7f; } }
            }
        }
        let options = ReadOptions { max_record: 1 << 12, ..ReadOptions::default() };
        let file = File::new(&bytes);
        let found = file.read(&options);
        prop_assert!(found.iter().all(|line| line.len() < (1 << 12) + 1000));
        prop_assert_eq!(found, file.read(&options));
    }
}

/// Small files, one for each encoding.
fn hostile_seed(which: usize) -> Vec<u8> {
    let rows: Vec<Row> = (0..40)
        .map(|n| ((n % 3 > 0).then(|| format!("id{n}")), (n % 7 > 0).then(|| format!("a text {}", n % 9))))
        .collect();
    let builder = WriterProperties::builder().set_data_page_size_limit(100).set_write_batch_size(8);
    let with = |encoding| builder.clone().set_dictionary_enabled(false).set_encoding(encoding);
    let properties = match which {
        0 => builder,
        1 => builder.set_writer_version(WriterVersion::PARQUET_2_0).set_compression(Compression::SNAPPY),
        2 => with(Encoding::PLAIN).set_compression(Compression::ZSTD(ZstdLevel::default())),
        3 => with(Encoding::DELTA_LENGTH_BYTE_ARRAY),
        4 => with(Encoding::DELTA_BYTE_ARRAY).set_writer_version(WriterVersion::PARQUET_2_0),
        _ => with(Encoding::PLAIN).set_compression(Compression::LZ4),
    };
    written(&[&rows[..25], &rows[25..]], properties.build())
}

#[test]
fn a_file_that_is_cut_anywhere_is_one_problem() {
    let bytes = hostile_seed(0);
    for length in 4..bytes.len() {
        let file = File::new(&bytes[..length]);
        let found = file.read(&ReadOptions::default());
        assert_eq!(found.len(), 1, "{length}: {found:?}");
        assert!(found[0].starts_with("0!damaged Parquet file: "), "{found:?}");
    }
}

#[test]
fn a_damaged_page_is_one_problem_with_its_rows() {
    let rows = rows(60);
    let properties = WriterProperties::builder()
        .set_dictionary_enabled(false)
        .set_write_batch_size(10)
        .set_data_page_row_count_limit(10)
        .build();
    let mut bytes = written(&[&rows[..30], &rows[30..]], properties);
    // The length of the text in row 11, the first of its page.
    let needle = [&7u32.to_le_bytes()[..], b"text 10"].concat();
    let at = bytes.windows(needle.len()).position(|window| window == needle).unwrap();
    bytes[at + 3] = 0x7f;
    for batch_bytes in [1 << 20, 100] {
        let options = ReadOptions { batch_bytes, ..ReadOptions::default() };
        let found = File::new(&bytes).read(&options);
        let (problems, documents): (Vec<String>, Vec<String>) = found.into_iter().partition(|line| line.contains('!'));
        let expected: Vec<String> = expected(&rows)
            .into_iter()
            .enumerate()
            .filter(|(at, _)| !(10..20).contains(at))
            .map(|(_, line)| line)
            .collect();
        assert_eq!(documents, expected);
        assert!(!problems.is_empty() && problems.iter().all(|line| line.contains("a page holds fewer values")));
        if batch_bytes > 100 {
            let message =
                "rows 11 to 20 cannot be read: damaged Parquet file: a page holds fewer values than it claims";
            assert_eq!(problems, [format!("11!{message}")]);
        }
    }
}

#[test]
fn a_large_row_group_is_read_in_pieces() {
    let rows: Vec<Row> = (0..4000).map(|n| (None, Some(format!("{n} {}", "x".repeat(5000))))).collect();
    let properties = WriterProperties::builder().set_dictionary_enabled(false).set_data_page_size_limit(100_000);
    let file = File::new(&written(&[&rows], properties.build()));
    let (found, batches) = read(&file.path, &ReadOptions::default());
    assert_eq!(found.len(), 4000);
    assert!((15..40).contains(&batches), "{batches}");
    // The first piece needs a small part of the file.
    let mut first = None;
    Input::new(vec![file.path.clone()], ReadOptions::default()).read(&mut |batch| {
        first = Some(batch.bytes_read());
        ControlFlow::Break(())
    });
    assert!(first.unwrap() < 3 << 20, "{first:?}");
}

#[test]
fn what_expands_too_much_is_refused() {
    let nulls: Vec<Row> = vec![(None, None); 200_000];
    let properties = || WriterProperties::builder().set_compression(Compression::ZSTD(ZstdLevel::default()));
    let limits = ReadOptions { max_record: 1000, max_expansion: 10, ..ReadOptions::default() };
    let file = File::new(&written(&[&nulls], properties().build()));
    assert_eq!(file.read(&ReadOptions::default()).len(), 200_000);
    let found = file.read(&limits);
    assert!(found.last().unwrap().contains("expand to more than 10 times"), "{:?}", found.last());
    assert!(found.len() < 50_000, "{}", found.len());

    let long: Vec<Row> = vec![(None, Some("x".repeat(100_000)))];
    let file = File::new(&written(&[&long], properties().set_dictionary_enabled(false).build()));
    assert_eq!(file.read(&ReadOptions::default()).len(), 1);
    let found = file.read(&limits);
    assert!(found[0].contains("allow more with `max-record`"), "{found:?}");

    // Many references to one text in a dictionary.
    let same: Vec<Row> = vec![(None, Some("x".repeat(900))); 20_000];
    let file = File::new(&written(&[&same], properties().build()));
    assert_eq!(file.read(&ReadOptions::default()).len(), 20_000);
    let documents = [1 << 20, 50].map(|batch_bytes| {
        let found =
            file.read(&ReadOptions { batch_bytes, max_expansion: 400, max_record: 5000, ..ReadOptions::default() });
        assert!(found.last().unwrap().contains("allow more with `max-expansion`"), "{:?}", found.last());
        found.iter().filter(|line| line.contains('|')).count()
    });
    let allowed = 400 * lengths(&file, 1)[0] + 5000;
    assert_eq!(documents, [allowed / 900; 2]);
}

/// The length in the file of a column in each row group.
fn lengths(file: &File, column: usize) -> Vec<usize> {
    let reader = SerializedFileReader::new(fs::File::open(&file.path).unwrap()).unwrap();
    let groups = reader.metadata().row_groups();
    groups.iter().map(|group| group.column(column).compressed_size() as usize).collect()
}

/// What is read of row groups with these numbers of rows, of which each repeats a value of `length` bytes: in each row group
/// `max_expansion` times the column, and in all together `max_record` bytes more, of which nothing is left after a row group that was
/// not read to its end. Documents are `ROW`.
fn expected_repeats(groups: &[usize], columns: &[usize], length: usize, options: &ReadOptions) -> Vec<String> {
    let (mut slack, mut first, mut found) = (options.max_record, 1, Vec::new());
    for (&rows, column) in groups.iter().zip(columns) {
        let share = column * options.max_expansion as usize;
        let read = rows.min((share + slack) / length);
        found.extend((first..first + read).map(|row| row.to_string()));
        if read < rows {
            let times = options.max_expansion;
            let why = format!("its values, which rows repeat, expand to more than {times} times its size");
            let range = format!("rows {} to {}", first + read, first + rows - 1);
            found.push(format!("{}!{range} cannot be read: {why} (allow more with `max-expansion`)", first + read));
        }
        slack = if read < rows { 0 } else { slack - (read * length).saturating_sub(share) };
        first += rows;
    }
    found
}

fn check_repeats(file: &File, groups: &[usize], column: usize, length: usize, options: &ReadOptions) {
    let expected = expected_repeats(groups, &lengths(file, column), length, options);
    for batch_bytes in [1 << 20, 3000, 50] {
        let found = file.read(&ReadOptions { batch_bytes, ..options.clone() });
        let found: Vec<&str> = found.iter().map(|line| line.split_once('|').map_or(&**line, |(row, _)| row)).collect();
        assert_eq!(found, expected, "{groups:?} in batches of {batch_bytes}");
    }
}

#[test]
fn what_rows_repeat_is_limited_by_the_size_of_their_column() {
    let options = ReadOptions { max_record: 3000, max_expansion: 5, ..ReadOptions::default() };
    let builder = WriterProperties::builder;
    let properties = [
        builder().build(),
        builder().set_write_batch_size(2).set_data_page_row_count_limit(4).build(),
        builder().set_writer_version(WriterVersion::PARQUET_2_0).build(),
        builder().set_dictionary_enabled(false).set_encoding(Encoding::DELTA_BYTE_ARRAY).build(),
        builder()
            .set_dictionary_enabled(false)
            .set_encoding(Encoding::DELTA_BYTE_ARRAY)
            .set_write_batch_size(20)
            .set_data_page_row_count_limit(20)
            .build(),
    ];
    for properties in properties {
        for groups in [&[5, 6, 5, 6, 7][..], &[6, 6, 6], &[500, 10, 500], &[1, 2, 3], &[7]] {
            let long = "x".repeat(2000);
            let texts: Vec<Row> = vec![(None, Some(long.clone())); 500];
            let ids: Vec<Row> = (0..500).map(|n| (Some(long.clone()), Some(format!("text {n}")))).collect();
            for (rows, column) in [(texts, 1), (ids, 0)] {
                let of_groups: Vec<&[Row]> = groups.iter().map(|&count| &rows[..count]).collect();
                let file = File::new(&written(&of_groups, properties.clone()));
                check_repeats(&file, groups, column, 2000, &options);
            }
        }
    }
}

#[test]
fn what_rows_in_lists_repeat_is_limited_by_the_size_of_their_column() {
    let options = ReadOptions { max_record: 3000, max_expansion: 5, ..with_texts("x[][]", 0) };
    let list = || Some(vec![Some(vec![Some("x".repeat(700)); 2]), None, Some(vec![Some("x".repeat(700)), None])]);
    for properties in [
        WriterProperties::builder().build(),
        WriterProperties::builder().set_write_batch_size(1).set_data_page_size_limit(1).build(),
    ] {
        for count in [1, 2, 300] {
            let file = File::new(&written_lists(&vec![list(); count], properties.clone()));
            check_repeats(&file, &[count], 0, 2100, &options);
        }
    }
}

/// The rows of one value in a file of a few hundred bytes: 20 MB of text, which fits in the length of a record.
#[test]
fn short_texts_that_many_rows_repeat_are_read() {
    let same: Vec<Row> = vec![(None, Some("twenty bytes of text".to_owned())); 1_000_000];
    let file = File::new(&written(&[&same], WriterProperties::builder().build()));
    let mut found = [0, 0];
    Input::new(vec![file.path.clone()], ReadOptions::default()).read(&mut |batch| {
        batch.documents(&mut |document| found[usize::from(document.is_err())] += 1);
        ControlFlow::Continue(())
    });
    assert_eq!(found, [1_000_000, 0]);
}

/// Where batches end within pages, at every size of a batch.
#[test]
fn the_size_of_batches_does_not_matter() {
    let rows: Vec<Row> = (0..110)
        .map(|n| (None, (n % 9 > 0).then(|| "ab".repeat([0, 1, 7, 90, 3][n * 7 % 5]) + &n.to_string())))
        .collect();
    for page in [30, 200, 1000] {
        let properties = WriterProperties::builder().set_write_batch_size(7).set_data_page_size_limit(page);
        for properties in [properties.clone(), properties.set_dictionary_enabled(false)] {
            let file = File::new(&written(&[&rows], properties.build()));
            for batch_bytes in 1..600 {
                assert_eq!(
                    file.read(&ReadOptions { batch_bytes, ..ReadOptions::default() }),
                    expected(&rows),
                    "{batch_bytes}"
                );
            }
        }
    }
}

#[test]
fn a_text_that_is_too_long_is_one_record() {
    let rows: Vec<Row> = ["a", "too long", "b"].map(|text| (None, Some(text.to_string()))).into();
    let options = ReadOptions { max_record: 7, ..ReadOptions::default() };
    let found = File::new(&plain(&rows)).read(&options);
    assert_eq!(found, ["1|F:1|a", "2!record longer than 7 bytes (allow more with `max-record`)", "3|F:3|b"]);
}

#[test]
fn only_files_on_disk_are_read() {
    let bytes = plain(&rows(3));
    let message = "Parquet must be in a file on disk, not in standard input or a pipe: write it to a file first";
    let mut input =
        Input::new(vec!["-".into()], ReadOptions::default()).with_stdin(Box::new(Cursor::new(bytes.clone())));
    let mut found = Vec::new();
    input.read(&mut |batch| {
        batch.documents(&mut |document| found.push(document.unwrap_err()));
        ControlFlow::Continue(())
    });
    assert_eq!((found.len(), &*found[0].message), (1, message));
    assert_eq!((found[0].kind, found[0].severity), (ProblemKind::Unreadable, Severity::Failed));

    let packed = zstd::encode_all(&bytes[..], 1).unwrap();
    for name in ["f.parquet.zst", "f"] {
        let found = File::named(name, &packed).read(&ReadOptions::default());
        let message = "0!compressed Parquet file: decompress it first (Parquet compresses its pages itself)";
        assert_eq!(found, [message], "{name}");
    }
}

#[test]
fn recognised_by_name_by_content_or_by_option() {
    let (bytes, expected) = (plain(&rows(3)), expected(&rows(3)));
    let parquet = ReadOptions { format: Format::Parquet, ..ReadOptions::default() };
    for (name, options) in
        [("f", ReadOptions::default()), ("f.PARQUET", ReadOptions::default()), ("f.bin", parquet.clone())]
    {
        assert_eq!(File::named(name, &bytes).read(&options), expected, "{name}");
    }
    let not_one = "0!not a Parquet file: it does not begin with PAR1";
    assert_eq!(File::new(b"").read(&ReadOptions::default()), [not_one]);
    assert_eq!(File::named("f.txt", b"text").read(&parquet), [not_one]);
    assert_eq!(
        File::new(b"PARE............PARE").read(&ReadOptions::default()),
        ["0!encrypted Parquet file: it is not read"]
    );
}

/// The shards in `fixtures` are the records of a file of JSON lines.
#[test]
fn shards_of_another_implementation() {
    let options = with_fields("doc.body", "doc.id");
    let lines = Path::new(FIXTURES).join("../jsonl/nested/nested.jsonl");
    let content = |path: &Path| -> Vec<String> {
        let lines = read(path, &options).0;
        lines.into_iter().map(|line| line.split_once('|').expect("a document").1.to_string()).collect()
    };
    let expected = content(&lines);
    assert_eq!(expected.len(), 15);
    assert_eq!(content(&Path::new(FIXTURES).join("docs")), expected);
}

#[test]
fn types_of_another_implementation() {
    let types = Path::new(FIXTURES).join("types.parquet");
    let read = |text: &str, id: &str| read(&types, &with_fields(text, id)).0;
    // What `make.py` writes: a value is null where the number of its row and of its column add up to 2, modulo 3.
    let rows = |column: usize, value: &dyn Fn(usize) -> String| -> Vec<Option<String>> {
        (0..12).map(|n| ((n + column) % 3 != 2).then(|| value(n))).collect()
    };
    let check = |text: &str, column, value: &dyn Fn(usize) -> String| {
        let ids = rows(1, &|n| (4294967295 - n).to_string());
        let texts = rows(column, value);
        let found: Vec<String> = read(text, "id").into_iter().filter(|line| line.contains('|')).collect();
        let shown = |(n, (id, text)): (usize, (&Option<String>, Option<String>))| {
            let id = id.clone().unwrap_or_else(|| format!("{}:{}", types.display(), n + 1));
            let id = id.replace(&types.display().to_string(), "F");
            text.map(|text| format!("{}|{id}|{text}", n + 1))
        };
        assert_eq!(found, ids.iter().zip(texts).enumerate().filter_map(shown).collect::<Vec<_>>(), "{text}");
    };
    check("text", 0, &|n| format!("text {}", n % 5));
    check("large", 3, &|n| "é".repeat(n));
    check("view", 4, &|n| format!("a value of more than twelve bytes {n}"));
    check("dictionary", 7, &|n| ["a", "b"][n % 2].to_string());
    // Bytes that are not UTF-8 are replaced, and this is reported.
    check("bytes", 5, &|n| format!("{}\u{fffd}", char::from(n as u8)));
    assert!(read("bytes", "id").iter().any(|line| line == "2!invalid UTF-8 at byte 1 replaced by U+FFFD"));
    let ids = rows(2, &|n| (n as i64 - 6).to_string());
    for line in read("text", "small").iter().filter(|line| line.contains('|')) {
        let row: usize = line.split('|').next().unwrap().parse().unwrap();
        assert!(ids[row - 1].as_ref().is_none_or(|id| line.contains(&format!("|{id}|"))), "{line}");
    }
    // Two columns make one id where both have a value.
    let (first, mut joined) = (rows(1, &|n| (4294967295 - n).to_string()), 0);
    for line in read("view", "id,small").iter().filter(|line| line.contains('|')) {
        let row: usize = line.split('|').next().unwrap().parse().unwrap();
        let id = first[row - 1].as_ref().zip(ids[row - 1].as_ref()).map(|(a, b)| format!("{a},{b}"));
        joined += usize::from(id.is_some());
        let id = id.unwrap_or_else(|| format!("F:{row}"));
        assert!(line.contains(&format!("|{id}|")), "{line}");
    }
    assert_eq!(joined, 4);
}

#[test]
fn columns_that_are_not_read() {
    let types = Path::new(FIXTURES).join("types.parquet");
    let here = "(columns here: text, id, small, large, view, bytes, fixed, dictionary, flag, half and 12 more; choose with `text-field`)";
    for (column, kind) in [
        ("id", "a number"),
        ("fixed", "bytes of a fixed length"),
        ("flag", "a boolean"),
        ("double", "a floating-point number"),
        ("decimal", "a decimal number"),
        ("zoned", "a date or time"),
        ("list", "a list"),
        ("messages.content", "a list"),
        ("map.key", "a map"),
        ("lists", "a list"),
    ] {
        let hint = match column {
            "list" => " (strings in it: list[])",
            "messages.content" => " (strings in it: messages[].role, messages[].content)",
            "map.key" => " (strings in it: map[].key)",
            "lists" => " (no strings are in it)",
            _ => "",
        };
        let found = read(&types, &with_fields(column, "text")).0;
        assert_eq!(found, [format!("0!text column '{column}' is {kind}, not a string{hint} {here}")]);
        if column != "id" {
            let found = read(&types, &with_fields("text", column)).0;
            let message = format!("0!id column '{column}' is {kind}, not a string or an integer");
            assert!(found.len() == 1 && found[0].starts_with(&message), "{found:?}");
        }
    }
    for column in ["nothing", "text.inside"] {
        assert_eq!(read(&types, &with_fields(column, "id")).0, [format!("0!no text column '{column}' {here}")]);
    }
    assert_eq!(read(&types, &with_fields("text", "id,nothing")).0[0], "1|F:1|text 0");
    // An id column that does not exist is like one without values.
    assert_eq!(read(&types, &with_fields("text", "nothing")).0[0], "1|F:1|text 0");
}

/// The strings of a list in a list, each of which may be null.
type Lists = Option<Vec<Option<Vec<Option<String>>>>>;

/// The values of a column in two lists, of three levels each, with their definition and repetition levels.
fn levels(rows: &[Lists]) -> (Vec<&str>, Vec<i16>, Vec<i16>) {
    let (mut values, mut definition, mut repetition) = (Vec::new(), Vec::new(), Vec::new());
    let mut level = |defined: i16, repeats: i16| {
        definition.push(defined);
        repetition.push(repeats);
    };
    for row in rows {
        match row.as_deref() {
            None => level(0, 0),
            Some([]) => level(1, 0),
            Some(lists) => {
                for (outer, list) in lists.iter().enumerate() {
                    let first = i16::from(outer > 0);
                    match list.as_deref() {
                        None => level(2, first),
                        Some([]) => level(3, first),
                        Some(strings) => {
                            for (inner, string) in strings.iter().enumerate() {
                                level(4 + i16::from(string.is_some()), if inner > 0 { 2 } else { first });
                                values.extend(string.as_deref());
                            }
                        }
                    }
                }
            }
        }
    }
    (values, definition, repetition)
}

/// A file whose only column is that of [`levels`].
fn written_lists(rows: &[Lists], properties: WriterProperties) -> Vec<u8> {
    let schema = Arc::new(parse_message_type(NESTED).unwrap());
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties)).unwrap();
    let mut group = writer.next_row_group().unwrap();
    let (values, definition, repetition) = levels(rows);
    let values: Vec<ByteArray> = values.into_iter().map(ByteArray::from).collect();
    let mut column = group.next_column().unwrap().unwrap();
    column.typed::<ByteArrayType>().write_batch(&values, Some(&definition), Some(&repetition)).unwrap();
    column.close().unwrap();
    group.close().unwrap();
    writer.into_inner().unwrap()
}

/// A structure in the compact protocol of Thrift, of fields in ascending order.
#[derive(Default)]
struct Thrift {
    bytes: Vec<u8>,
    last: u8,
}

impl Thrift {
    fn varint(bytes: &mut Vec<u8>, mut value: u64) {
        while value >= 0x80 {
            bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        bytes.push(value as u8);
    }

    fn field(mut self, number: u8, kind: u8, content: &[u8]) -> Self {
        self.bytes.push((number - self.last) << 4 | kind);
        self.bytes.extend(content);
        self.last = number;
        self
    }

    /// A number that is not negative.
    fn int(self, number: u8, value: usize) -> Self {
        let mut content = Vec::new();
        Self::varint(&mut content, 2 * value as u64);
        self.field(number, 6, &content)
    }

    fn text(self, number: u8, text: &str) -> Self {
        let mut content = Vec::new();
        Self::varint(&mut content, text.len() as u64);
        content.extend(text.as_bytes());
        self.field(number, 8, &content)
    }

    fn structure(self, number: u8, inner: Thrift) -> Self {
        self.field(number, 12, &inner.end())
    }

    fn list(self, number: u8, elements: Vec<Thrift>) -> Self {
        let mut content = vec![(elements.len() as u8) << 4 | 12];
        elements.into_iter().for_each(|element| content.extend(element.end()));
        self.field(number, 9, &content)
    }

    fn end(mut self) -> Vec<u8> {
        self.bytes.push(0);
        self.bytes
    }
}

/// As [`written_lists`], with pages that end after these numbers of values, also within rows: as writers may do it in the first
/// version of pages, and the crate does not.
fn written_in_pages(rows: &[Lists], ends: &[usize]) -> Vec<u8> {
    let (values, definition, repetition) = levels(rows);
    let (mut values, mut file, mut start) = (values.into_iter(), b"PAR1".to_vec(), 0);
    for end in ends.iter().copied().filter(|&end| end < definition.len()).chain([definition.len()]) {
        let mut page = Vec::new();
        for levels in [&repetition[start..end], &definition[start..end]] {
            // Runs of one level each.
            page.extend((2 * levels.len() as u32).to_le_bytes());
            levels.iter().for_each(|&level| page.extend([2, level as u8]));
        }
        for value in definition[start..end].iter().filter(|&&level| level == 5).map(|_| values.next().unwrap()) {
            page.extend((value.len() as u32).to_le_bytes());
            page.extend(value.as_bytes());
        }
        let data = Thrift::default().int(1, end - start).int(2, 0).int(3, 3).int(4, 3);
        let header = Thrift::default().int(1, 0).int(2, page.len()).int(3, page.len()).structure(5, data);
        file.extend(header.end());
        file.extend(page);
        start = end;
    }
    let (group, optional, repeated) = (Thrift::default, 1, 2);
    let schema = vec![
        group().text(4, "m").int(5, 1),
        group().int(3, optional).text(4, "x").int(5, 1).int(6, 3),
        group().int(3, repeated).text(4, "list").int(5, 1),
        group().int(3, optional).text(4, "element").int(5, 1).int(6, 3),
        group().int(3, repeated).text(4, "list").int(5, 1),
        Thrift::default().int(1, 6).int(3, optional).text(4, "element").int(6, 0),
    ];
    let column = Thrift::default().int(1, 6).int(4, 0).int(5, definition.len()).int(7, file.len() - 4).int(9, 4);
    let row_group = Thrift::default().list(1, vec![Thrift::default().structure(3, column)]).int(3, rows.len());
    let metadata = Thrift::default().int(1, 1).list(2, schema).int(3, rows.len()).list(4, vec![row_group]).end();
    file.extend(&metadata);
    file.extend((metadata.len() as u32).to_le_bytes());
    file.extend(b"PAR1");
    file
}

const NESTED: &str = "message m { optional group x (LIST) { repeated group list { optional group element (LIST) {
    repeated group list { optional binary element (UTF8); } } } } }";

fn any_lists() -> impl Strategy<Value = Lists> {
    let string = proptest::option::weighted(0.8, prop_oneof![4 => "[a-cé]{0,9}", 1 => "[ab]{150}"]);
    let list = proptest::option::weighted(0.8, proptest::collection::vec(string, 0..6));
    proptest::option::weighted(0.8, proptest::collection::vec(list, 0..5))
}

/// What is read of rows of lists, by the plain rule.
fn expected_lists(rows: &[Lists], path: &str) -> Vec<String> {
    let shown = |(at, row): (usize, &Lists)| {
        let strings: Vec<&str> = row.iter().flatten().flatten().flatten().flatten().map(|string| &**string).collect();
        let row = at + 1;
        if strings.is_empty() {
            return format!("{row}!text column '{path}' is null: there is no text to compare");
        }
        let strings: Vec<&str> = strings.into_iter().filter(|string| !string.is_empty()).collect();
        format!("{row}|F:{row}|{}", strings.join("\n\n"))
    };
    rows.iter().enumerate().map(shown).collect()
}

fn with_texts(texts: &str, batch_bytes: usize) -> ReadOptions {
    let text_fields = TextFields::parse("text-field", [texts]).unwrap();
    ReadOptions { text_fields, batch_bytes, ..ReadOptions::default() }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn lists_in_every_encoding_in_any_batches(
        rows in proptest::collection::vec(any_lists(), 1..80),
        properties in any_properties(),
        batch_bytes in 1usize..3000,
    ) {
        let file = File::new(&written_lists(&rows, properties));
        prop_assert_eq!(file.read(&with_texts("x[][]", batch_bytes)), expected_lists(&rows, "x[][]"));
    }

    #[test]
    fn rows_go_on_in_further_pages(
        rows in proptest::collection::vec(any_lists(), 1..30),
        ends in proptest::collection::btree_set(1usize..200, 0..100),
        batch_bytes in 1usize..1500,
    ) {
        let file = File::new(&written_in_pages(&rows, &Vec::from_iter(ends)));
        prop_assert_eq!(file.read(&with_texts("x[][]", batch_bytes)), expected_lists(&rows, "x[][]"));
    }

    /// No panic, no document that is too long, and the same result twice.
    #[test]
    fn damaged_lists_are_reported(
        seed in 0usize..4,
        changes in proptest::collection::vec((any::<proptest::sample::Index>(), any::<u8>(), 0usize..3), 1..6),
    ) {
        let mut bytes = hostile_lists(seed);
        for (at, byte, how) in changes {
            let at = at.index(bytes.len());
            match how {
                0 => bytes[at] = byte,
                1 => bytes[at] ^= 1 << (byte % 8),
                _ => bytes.insert(at, byte),
            }
        }
        let options = ReadOptions { max_record: 1 << 12, ..with_texts("x[][],chat[].content", 500) };
        let file = File::new(&bytes);
        let found = file.read(&options);
        prop_assert!(found.iter().all(|line| line.len() < (1 << 12) + 1000));
        prop_assert_eq!(found, file.read(&options));
        let chosen = ReadOptions { max_record: 1 << 12, ..with_texts("x[-1][0],chat[role=user].content", 500) };
        let found = file.read(&chosen);
        prop_assert!(found.iter().all(|line| line.len() < (1 << 12) + 1000));
        prop_assert_eq!(found, file.read(&chosen));
    }

    #[test]
    fn chosen_elements_of_nested_lists(
        rows in proptest::collection::vec(any_lists(), 1..40),
        ends in proptest::collection::btree_set(1usize..200, 0..60),
        properties in any_properties(),
        paths in proptest::collection::btree_set((0..CHOICES.len(), 0..CHOICES.len()), 1..4),
        batch_bytes in 1usize..1500,
    ) {
        let names: Vec<String> = paths.iter().map(|&(outer, inner)| format!("x{}{}", CHOICES[outer].0, CHOICES[inner].0)).collect();
        let text = |row: &Lists| {
            let mut met = std::collections::BTreeSet::new();
            let mut texts = Vec::new();
            for &(outer, inner) in &paths {
                for (at, list) in chosen(row.as_deref().unwrap_or_default(), outer) {
                    for (within, text) in chosen(list.as_deref().unwrap_or_default(), inner) {
                        texts.extend(text.as_deref().filter(|_| met.insert((at, within))));
                    }
                }
            }
            joined(&texts)
        };
        let expected: Vec<Option<String>> = rows.iter().map(text).collect();
        for bytes in [written_in_pages(&rows, &Vec::from_iter(ends)), written_lists(&rows, properties)] {
            let found = File::new(&bytes).read(&with_texts(&names.join(","), batch_bytes));
            prop_assert_eq!(texts_of(&found), expected.clone(), "{:?}", names);
        }
    }

    #[test]
    fn chosen_turns_of_chats(
        rows in proptest::collection::vec(any_chat(), 1..40),
        properties in any_properties(),
        paths in proptest::collection::btree_set(0..CHATS.len(), 1..4),
        batch_bytes in 1usize..1500,
    ) {
        let names: Vec<&str> = paths.iter().map(|&path| CHATS[path].0).collect();
        let text = |row: &Chat| {
            let mut met = std::collections::BTreeSet::new();
            let mut texts = Vec::new();
            for &path in &paths {
                let (_, (field, value), leaf, choice) = CHATS[path];
                for (at, turn) in row.iter().flatten().enumerate() {
                    let Some([role, content, parts]) = turn else { continue };
                    let key = if field == "role" { role } else { content };
                    if key.first() != Some(&Some(value.to_owned())) {
                        continue;
                    }
                    let leaf = [role, content, parts][leaf];
                    for (within, text) in chosen(leaf, choice) {
                        texts.extend(text.as_deref().filter(|_| met.insert((std::ptr::from_ref(leaf), at, within))));
                    }
                }
            }
            joined(&texts)
        };
        let expected: Vec<Option<String>> = rows.iter().map(text).collect();
        let found = File::new(&written_chats(&rows, properties)).read(&with_texts(&names.join(","), batch_bytes));
        prop_assert_eq!(texts_of(&found), expected, "{:?}", names);
    }
}

/// A column of texts, in one row.
fn write_one(group: &mut SerializedRowGroupWriter<'_, Vec<u8>>, text: &str, level: i16, repetition: Option<&[i16]>) {
    let mut column = group.next_column().unwrap().unwrap();
    column.typed::<ByteArrayType>().write_batch(&[ByteArray::from(text)], Some(&[level]), repetition).unwrap();
    column.close().unwrap();
}

#[test]
fn a_field_that_is_no_string_chooses_nothing() {
    let schema = "message m { optional binary text (UTF8); optional group chat (LIST) { repeated group list {
        optional group element { optional int64 n; optional binary content (UTF8); } } } }";
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, Arc::default()).unwrap();
    let mut group = writer.next_row_group().unwrap();
    write_one(&mut group, "t", 1, None);
    let mut column = group.next_column().unwrap().unwrap();
    column.typed::<Int64Type>().write_batch(&[1], Some(&[4]), Some(&[0])).unwrap();
    column.close().unwrap();
    write_one(&mut group, "a", 4, Some(&[0]));
    group.close().unwrap();
    let file = File::new(&writer.into_inner().unwrap());
    let read = |texts: &str| file.read(&with_texts(texts, 1000));
    let remark = "0!no text column 'chat[n=1].content' (its field 'n' is no string): the others were read";
    assert_eq!(read("text,chat[n=1].content"), [remark, "1|F:1|t"]);
    assert_eq!(read("chat[n=1].content,chat[0].content"), [remark, "1|F:1|a"]);
    let here = "(columns here: text, chat[].n, chat[].content; choose with `text-field`)";
    let alone =
        format!("0!no text column 'chat[n=1].content', and field 'n' of 'chat[n=1].content' is no string {here}");
    assert_eq!(read("chat[n=1].content"), [alone]);
    // Nor is there a text in another field that is no string.
    assert!(read("chat[].n")[0].contains("text column 'chat[].n' is a number, not a string"));
}

#[test]
fn a_column_with_brackets_in_its_name_counts_once() {
    let column = |name| {
        let builder = Type::primitive_type_builder(name, PhysicalType::BYTE_ARRAY);
        Arc::new(
            builder.with_converted_type(ConvertedType::UTF8).with_repetition(Repetition::OPTIONAL).build().unwrap(),
        )
    };
    let schema = Type::group_type_builder("m").with_fields(vec![column("m[0]"), column("x")]).build().unwrap();
    let mut writer = SerializedFileWriter::new(Vec::new(), Arc::new(schema), Arc::default()).unwrap();
    let mut group = writer.next_row_group().unwrap();
    write_one(&mut group, "a", 1, None);
    write_one(&mut group, "b", 1, None);
    group.close().unwrap();
    let file = File::new(&writer.into_inner().unwrap());
    assert_eq!(file.read(&with_texts(r"m[0],x,m\[0]", 1000)), ["1|F:1|a\n\nb"]);
}

/// Brackets, and the number of the element that they choose.
const CHOICES: [(&str, Option<i64>); 6] =
    [("[]", None), ("[0]", Some(0)), ("[1]", Some(1)), ("[-1]", Some(-1)), ("[-2]", Some(-2)), ("[4]", Some(4))];

/// The elements that brackets choose, with their numbers.
fn chosen<T>(list: &[T], choice: usize) -> impl Iterator<Item = (usize, &T)> {
    let number = CHOICES[choice].1.map(|number| if number < 0 { list.len() as i64 + number } else { number });
    list.iter().enumerate().filter(move |(at, _)| number.is_none_or(|number| number == *at as i64))
}

/// The text of a record, if it has one.
fn joined(texts: &[&str]) -> Option<String> {
    let full: Vec<&str> = texts.iter().copied().filter(|text| !text.is_empty()).collect();
    (!texts.is_empty()).then(|| full.join("\n\n"))
}

/// The texts of lines that [`File::read`] returns; `None` for a row without one.
fn texts_of(lines: &[String]) -> Vec<Option<String>> {
    let text = |line: &String| line.split_once('|')?.1.split_once('|').map(|(_, text)| text.to_owned());
    lines.iter().map(|line| text(line).filter(|_| !line.contains("!text column"))).collect()
}

/// A turn of a chat: at most one role, at most one content, and parts. None of them is null, and a list without any is empty.
type Chat = Option<Vec<Option<[Vec<Option<String>>; 3]>>>;

/// A path, the field and the value that choose turns, the field that is read, and the choice of its elements.
const CHATS: &[(&str, (&str, &str), usize, usize)] = &[
    ("chat[role=user].content", ("role", "user"), 1, 0),
    ("chat[role=system].content", ("role", "system"), 1, 0),
    ("chat[role=user].role", ("role", "user"), 0, 0),
    ("chat[content=a].role", ("content", "a"), 0, 0),
    ("chat[role=user].parts[]", ("role", "user"), 2, 0),
    ("chat[role=user].parts[0]", ("role", "user"), 2, 1),
    ("chat[role=user].parts[-1]", ("role", "user"), 2, 3),
    ("chat[content=a].parts[-2]", ("content", "a"), 2, 4),
];

fn any_chat() -> impl Strategy<Value = Chat> {
    use proptest::collection::vec;
    use proptest::option::weighted;
    let role =
        vec(proptest::sample::select(vec!["user", "system", "users"]).prop_map(|role| Some(role.to_owned())), 0..=1);
    let content = vec("[ab]{0,2}".prop_map(Some), 0..=1);
    let parts = vec(weighted(0.8, "[c-e]{0,3}"), 0..4);
    let turn = weighted(0.9, (role, content, parts).prop_map(|(role, content, parts)| [role, content, parts]));
    weighted(0.9, vec(turn, 0..5))
}

fn written_chats(rows: &[Chat], properties: WriterProperties) -> Vec<u8> {
    let schema = "message m { optional group chat (LIST) { repeated group list { optional group element {
        optional binary role (UTF8); optional binary content (UTF8);
        required group parts (LIST) { repeated group list { optional binary element (UTF8); } } } } } }";
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties)).unwrap();
    let mut group = writer.next_row_group().unwrap();
    for column in 0..3 {
        let (mut values, mut definition, mut repetition) = (Vec::<ByteArray>::new(), Vec::new(), Vec::new());
        let mut push = |value: Option<&str>, level: (i16, i16)| {
            values.extend(value.map(ByteArray::from));
            definition.push(level.0);
            repetition.push(level.1);
        };
        for row in rows {
            let Some(turns) = row else {
                push(None, (0, 0));
                continue;
            };
            if turns.is_empty() {
                push(None, (1, 0));
            }
            for (at, turn) in turns.iter().enumerate() {
                let begins = i16::from(at > 0);
                match turn.as_ref().map(|turn| &turn[column][..]) {
                    None => push(None, (2, begins)),
                    Some([]) => push(None, (3, begins)),
                    Some(list) if column < 2 => push(list[0].as_deref(), (4, begins)),
                    Some(list) => {
                        for (within, part) in list.iter().enumerate() {
                            let level = if within > 0 { 2 } else { begins };
                            push(part.as_deref(), (if part.is_some() { 5 } else { 4 }, level));
                        }
                    }
                }
            }
        }
        let mut writer = group.next_column().unwrap().unwrap();
        writer.typed::<ByteArrayType>().write_batch(&values, Some(&definition), Some(&repetition)).unwrap();
        writer.close().unwrap();
    }
    group.close().unwrap();
    writer.into_inner().unwrap()
}

fn hostile_lists(which: usize) -> Vec<u8> {
    let rows: Vec<Lists> = (0..40)
        .map(|n| Some((0..n % 4).map(|k| Some(vec![Some(format!("{n} {k}")), None, Some("same".into())])).collect()))
        .collect();
    let builder = WriterProperties::builder().set_data_page_size_limit(100).set_write_batch_size(8);
    match which {
        0 => written_lists(&rows, builder.build()),
        1 => written_lists(&rows, builder.set_writer_version(WriterVersion::PARQUET_2_0).build()),
        // Rows that go on in further pages.
        2 => written_in_pages(&rows, &(1..200).step_by(3).collect::<Vec<_>>()),
        _ => fs::read(Path::new(FIXTURES).join("lists.parquet")).unwrap(),
    }
}

/// Layouts of lists that writers have used, by the rules of the format.
#[test]
fn lists_of_old_writers() {
    for (schema, path) in [
        ("message m { repeated group x { repeated binary y (UTF8); } }", "x[].y[]"),
        ("message m { required group x (LIST) { repeated group array { repeated binary y (UTF8); } } }", "x[].y[]"),
        (
            "message m { required group x (LIST) { repeated group x_tuple { required group y (LIST) { repeated binary z (UTF8); } } } }",
            "x[].y[]",
        ),
        (
            "message m { required group x (LIST) { repeated group array (LIST) { repeated binary array (UTF8); } } }",
            "x[][]",
        ),
        (
            "message m { required group x (LIST) { repeated group bag { required group element (LIST) { repeated group list { required binary e (UTF8); } } } } }",
            "x[][]",
        ),
    ] {
        let some = |text: &str| Some(text.to_string());
        let rows: Vec<Lists> = vec![
            Some(vec![Some(vec![some("a"), some("b")]), Some(vec![some("c")])]),
            Some(vec![Some(vec![some("d")])]),
        ];
        let schema = Arc::new(parse_message_type(schema).unwrap());
        let mut writer = SerializedFileWriter::new(Vec::new(), schema, Arc::default()).unwrap();
        let mut group = writer.next_row_group().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        let values = ["a", "b", "c", "d"].map(ByteArray::from);
        column.typed::<ByteArrayType>().write_batch(&values, Some(&[2; 4]), Some(&[0, 2, 1, 0])).unwrap();
        column.close().unwrap();
        group.close().unwrap();
        let file = File::new(&writer.into_inner().unwrap());
        assert_eq!(file.read(&with_texts(path, 1000)), expected_lists(&rows, path));
        let message = file.read(&with_texts("x", 1000)).remove(0);
        let expected =
            format!("0!text column 'x' is a list, not a string (strings in it: {path}) (columns here: {path};");
        assert!(message.starts_with(&expected), "{message}");
    }
}

/// What `make.py` writes: lists of every kind, in small pages.
#[test]
fn lists_of_another_implementation() {
    let lists = Path::new(FIXTURES).join("lists.parquet");
    let lines = Path::new(FIXTURES).join("lists.jsonl");
    for fields in [
        "chat[].content",
        "chat[].role,chat[].content",
        "chat[].content,chat[].content[].text",
        "parts[].content,parts[].content[].text",
        "parts[].content[].text,parts[].content[].kind",
        "tags[]",
        "words[]",
        "views[]",
        "nested[][]",
        "tags[],chat[].content,nested[][]",
        "chat[role=user].content",
        "chat[role=assistant].content,chat[role=user].content",
        "chat[0].content",
        "chat[-1].content,chat[0].content",
        "chat[-2].content,chat[].content,chat[1].content",
        "parts[0].content[].text",
        "parts[-1].content[-1].text,parts[].content[0].kind",
        "parts[].content[kind=text].text",
        "nested[-1][0],nested[0][-1]",
        "tags[1],words[-1]",
    ] {
        let all = read(&lines, &with_texts(fields, 1 << 20)).0;
        let all: Vec<&str> = all.iter().filter(|line| line.contains('|')).map(|line| &**line).collect();
        assert!(all.len() > 20, "{fields}: {all:?}");
        for batch_bytes in [1, 40, 300, 2000, 1 << 20] {
            let found = read(&lists, &with_texts(fields, batch_bytes)).0;
            let found: Vec<&str> = found.iter().filter(|line| line.contains('|')).map(|line| &**line).collect();
            assert_eq!(found, all, "{fields} in batches of {batch_bytes} bytes");
        }
    }
    let found = read(&lists, &with_texts("attributes[].value", 100)).0;
    assert!(found.contains(&"3|id2|value 0 of 2\n\nvalue 1 of 2".to_string()), "{found:?}");
}

#[test]
fn a_broken_page_of_lists_breaks_the_rows_that_are_in_it() {
    let some = |text: &str| Some(text.to_string());
    let rows: Vec<Lists> =
        (0..6).map(|n| Some(vec![Some(vec![some(&format!("{n}a")), some(&format!("{n}b"))])])).collect();
    // The pages: 0a, 0b 1a 1b 2a, 2b 3a, 3b 4a 4b 5a, 5b.
    let mut bytes = written_in_pages(&rows, &[1, 5, 7, 11]);
    let at = bytes.windows(2).position(|window| window == b"2b").unwrap();
    bytes[at - 1] = 0x7f;
    let found = File::new(&bytes).read(&with_texts("x[][]", 1 << 20));
    let message = "rows 3 to 4 cannot be read: damaged Parquet file: a page holds fewer values than it claims";
    assert_eq!(
        found,
        ["1|F:1|0a\n\n0b", "2|F:2|1a\n\n1b", &format!("3!{message}"), "5|F:5|4a\n\n4b", "6|F:6|5a\n\n5b"]
    );
    // Levels that cannot be counted hide where rows begin, and so all that follow the last one that is known to be complete.
    let mut bytes = written_in_pages(&rows, &[1, 5, 7, 11]);
    let page = bytes.windows(2).position(|window| window == b"2b").unwrap() - 4 - 2 * 8;
    bytes[page..page + 4].copy_from_slice(&u32::MAX.to_le_bytes());
    let found = File::new(&bytes).read(&with_texts("x[][]", 1 << 20));
    assert_eq!((found.len(), &*found[1]), (3, "2|F:2|1a\n\n1b"), "{found:?}");
    assert!(found[2].starts_with("3!rows 3 to 6 cannot be read: damaged Parquet file"), "{found:?}");
}

#[test]
fn a_row_of_lists_is_bounded() {
    let long: Vec<Lists> =
        vec![Some(vec![Some(vec![Some("x".repeat(1000)); 3000])]), Some(vec![Some(vec![Some("y".into())])])];
    let ends: Vec<usize> = (1..3000).step_by(100).collect();
    let bytes = written_in_pages(&long, &ends);
    let limits = |max_record| ReadOptions { max_record, ..with_texts("x[][]", 1 << 20) };
    let found = File::new(&bytes).read(&limits(3_100_000));
    assert_eq!((found.len(), found[0].len(), &*found[1]), (2, 3000 * 1002 + 4, "2|F:2|y"));
    let found = File::new(&bytes).read(&limits(2_900_000));
    assert_eq!(found, ["1!record longer than 2900000 bytes (allow more with `max-record`)", "2|F:2|y"]);
    let found = File::new(&bytes).read(&limits(100_000));
    assert_eq!(found, ["1!rows 1 to 2 cannot be read: a row is in too many pages (allow more with `max-record`)"]);
}
