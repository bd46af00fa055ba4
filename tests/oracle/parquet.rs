//! Parquet: the rows that another implementation wrote, in any encoding, in any batches; refusals; damaged files.
//!
//! The oracle is what was written: by the crate `parquet`, whose reader is not used, or by pyarrow (`fixtures/parquet`).

use ::parquet::basic::{BrotliLevel, Compression, Encoding, GzipLevel, ZstdLevel};
use ::parquet::data_type::{ByteArray, ByteArrayType};
use ::parquet::file::properties::{WriterProperties, WriterVersion};
use ::parquet::file::writer::SerializedFileWriter;
use ::parquet::schema::parser::parse_message_type;
use neardups::source::{FieldPath, Format, Input, ProblemKind, ReadOptions, Severity, Source};
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
            None => {
                let columns = "(columns here: id, text; choose with `text-field`)";
                format!("{row}!text column 'text' is null, not a string {columns}")
            }
        }
    };
    rows.iter().enumerate().map(shown).collect()
}

fn with_fields(text: &str, id: &str) -> ReadOptions {
    let path = |flag, path| FieldPath::parse(flag, path).unwrap();
    ReadOptions {
        text_fields: path("text-field", text).into(),
        id_field: path("id-field", id),
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
        let null = || "text column 'text' is null, not a string (columns here: id, text; choose with `text-field`)".to_string();
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
    assert_eq!(documents[0], documents[1]);
    assert!((16 * 5000 / 900..2000).contains(&documents[0]), "{documents:?}");
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
}

#[test]
fn columns_that_are_not_read() {
    let types = Path::new(FIXTURES).join("types.parquet");
    let here = "(columns here: text, id, small, large, view, bytes, fixed, dictionary, …; choose with `text-field`)";
    for (column, kind) in [
        ("id", "a number"),
        ("fixed", "of another type"),
        ("flag", "a boolean"),
        ("double", "a floating-point number"),
        ("decimal", "a decimal number"),
        ("zoned", "a date or time"),
        ("list", "a list (lists are not read)"),
        ("messages.content", "a list (lists are not read)"),
        ("map.key", "a map"),
    ] {
        let found = read(&types, &with_fields(column, "text")).0;
        assert_eq!(found, [format!("0!text column '{column}' is {kind}, not a string {here}")]);
        if column != "id" {
            let found = read(&types, &with_fields("text", column)).0;
            let message = format!("0!id column '{column}' is {kind}, not a string or an integer");
            assert!(found.len() == 1 && found[0].starts_with(&message), "{found:?}");
        }
    }
    for column in ["nothing", "text.inside"] {
        assert_eq!(read(&types, &with_fields(column, "id")).0, [format!("0!no text column '{column}' {here}")]);
    }
    // An id column that does not exist is like one without values.
    assert_eq!(read(&types, &with_fields("text", "nothing")).0[0], "1|F:1|text 0");
}
