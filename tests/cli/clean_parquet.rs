//! `dedup clean` of Parquet files: damage in any column, and what copies keep.

use super::clean::files;
use super::shell::{Shell, root};
use ::parquet::basic::{Compression, Encoding, GzipLevel};
use ::parquet::data_type::{ByteArray, ByteArrayType, FixedLenByteArrayType, Int64Type};
use ::parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData, ParquetMetaDataWriter};
use ::parquet::file::properties::{EnabledStatistics, WriterProperties, WriterVersion};
use ::parquet::file::reader::{FileReader, SerializedFileReader};
use ::parquet::file::writer::SerializedFileWriter;
use ::parquet::schema::parser::parse_message_type;
use ::parquet::schema::types::ColumnPath;
use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// A file of 60 rows in two row groups: an id, a text that is that of another row in half of the rows, a number, and a list. The
/// texts of the second group end with `more`.
pub fn written(properties: WriterProperties, more: &str) -> Vec<u8> {
    let schema = "message m { required int64 id; required binary text (UTF8); required int64 score; \
                  repeated binary tags (UTF8); }";
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties)).unwrap();
    for rows in [0..30i64, 30..60] {
        let mut group = writer.next_row_group().unwrap();
        let ids: Vec<i64> = rows.clone().collect();
        let text = |row: i64| format!("the text of row {} is like that of no other number", row / 2);
        let more = if rows.start > 0 { more } else { "" };
        let texts: Vec<ByteArray> = rows.clone().map(|row| (text(row) + more).as_str().into()).collect();
        let scores: Vec<i64> = rows.clone().map(|row| row * 7919 % 100).collect();
        let tags: Vec<ByteArray> =
            rows.clone().flat_map(|row| ["a", "b"].map(|tag| format!("{tag}{row}").as_str().into())).collect();
        for column in 0..4 {
            let mut to = group.next_column().unwrap().unwrap();
            match column {
                0 => to.typed::<Int64Type>().write_batch(&ids, None, None),
                1 => to.typed::<ByteArrayType>().write_batch(&texts, None, None),
                2 => to.typed::<Int64Type>().write_batch(&scores, None, None),
                _ => to.typed::<ByteArrayType>().write_batch(&tags, Some(&[1; 60]), Some(&[0, 1].repeat(30))),
            }
            .unwrap();
            to.close().unwrap();
        }
        group.close().unwrap();
    }
    writer.into_inner().unwrap()
}

/// A file with very many rows in few bytes: the same text in all of them.
fn repeated(rows: usize) -> Vec<u8> {
    let schema = Arc::new(parse_message_type("message m { required binary text (UTF8); }").unwrap());
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, Arc::default()).unwrap();
    let mut group = writer.next_row_group().unwrap();
    let mut to = group.next_column().unwrap().unwrap();
    to.typed::<ByteArrayType>().write_batch(&vec!["the same text in every row".into(); rows], None, None).unwrap();
    to.close().unwrap();
    group.close().unwrap();
    writer.into_inner().unwrap()
}

/// Rows that take no bytes are not counted one by one if they cannot be read: a small file does not take all memory, and the run
/// goes on.
#[test]
fn very_many_rows_that_are_lost_are_few_problems() {
    const ROWS: usize = 300_000;
    let shell = Shell::new();
    let whole = repeated(ROWS);
    assert!(whole.len() < ROWS / 10);
    fs::create_dir(shell.folder().join("in")).unwrap();
    shell.write("in/b.jsonl", "{\"text\":\"words of a text\"}\n");
    fs::write(shell.folder().join("in/a.parquet"), &whole).unwrap();
    let column = columns(&shell.folder().join("in/a.parquet"))[0].1.clone();
    let text = whole.windows(8).position(|window| window == b"the same").unwrap();
    // The header of the first page of data, and the length of the text in the dictionary.
    for at in [text + 26, text - 4] {
        assert!(column.contains(&at));
        let mut bytes = whole.clone();
        bytes[at..at + 4].iter_mut().for_each(|byte| *byte ^= 0x5a);
        fs::write(shell.folder().join("in/a.parquet"), &bytes).unwrap();
        for on_error in ["keep", "drop"] {
            let run = shell
                .sh(&format!("rm -rf out; dedup clean in --output out --on-error {on_error} --rejects rejects.jsonl"));
            assert_eq!(run.status, 3, "{}", run.stderr);
            let rejects = fs::read_to_string(shell.folder().join("rejects.jsonl")).unwrap();
            assert!((1..1000).contains(&rejects.lines().count()), "{}", run.stderr);
            assert_eq!(fs::read(shell.folder().join("out/a.parquet")).unwrap(), bytes);
            assert!(shell.folder().join("out/b.jsonl").exists());
        }
    }
}

/// A file of one column, with a row group for each number of rows: the same texts in all of them.
fn grouped(groups: &[usize]) -> Vec<u8> {
    let schema = Arc::new(parse_message_type("message m { required binary text (UTF8); }").unwrap());
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, Arc::default()).unwrap();
    for &rows in groups {
        let text = |row: usize| format!("number {row} of some texts of words").as_str().into();
        let texts: Vec<ByteArray> = (0..rows).map(text).collect();
        let mut group = writer.next_row_group().unwrap();
        let mut to = group.next_column().unwrap().unwrap();
        to.typed::<ByteArrayType>().write_batch(&texts, None, None).unwrap();
        to.close().unwrap();
        group.close().unwrap();
    }
    writer.into_inner().unwrap()
}

/// Writers give a row group without rows a dictionary, and the position 0 of its pages of values.
#[test]
fn row_groups_without_rows_are_not_damaged() {
    for (groups, kept) in [(&[2, 0, 2][..], 2), (&[0, 2, 2], 2), (&[2, 2, 0], 2), (&[0, 2], 2), (&[0, 0], 0)] {
        let shell = Shell::new();
        fs::create_dir(shell.folder().join("in")).unwrap();
        let bytes = grouped(groups);
        let metadata = |path: &str| {
            let path = shell.folder().join(path);
            SerializedFileReader::try_from(&*path).unwrap().metadata().clone()
        };
        shell.write("in/a.parquet", &bytes);
        let empty = metadata("in/a.parquet");
        let empty = empty.row_groups().iter().find(|group| group.num_rows() == 0).unwrap().column(0);
        assert!(empty.dictionary_page_offset().is_some() && empty.data_page_offset() == 0);
        let run = shell.dedup("clean in --output out --threshold 1 --allow-empty");
        assert_eq!(run.status, 0, "{groups:?}: {}", run.stderr);
        assert!(!run.stderr.contains("damaged"), "{groups:?}: {}", run.stderr);
        assert_eq!(metadata("out/a.parquet").file_metadata().num_rows(), kept, "{groups:?}");
    }
}

/// The columns of each row group: their names, and where they are.
fn columns(path: &Path) -> Vec<(String, Range<usize>)> {
    let reader = SerializedFileReader::try_from(path).unwrap();
    let groups = reader.metadata().row_groups().iter();
    let columns = groups.flat_map(|group| group.columns()).map(|column| {
        let (start, length) = column.byte_range();
        (column.column_path().string(), start as usize..(start + length) as usize)
    });
    columns.collect()
}

/// The files that are damaged: those of `fixtures`, and one for each other codec.
fn cases() -> Vec<(String, Vec<u8>, &'static str)> {
    let fixture = |name: &str| fs::read(root().join("fixtures/parquet").join(name)).unwrap();
    let mut cases = vec![
        ("types".to_string(), fixture("types.parquet"), ""),
        ("int96".to_string(), fixture("int96.parquet"), ""),
        ("lists".to_string(), fixture("lists.parquet"), "--text-field chat[].content"),
        ("docs-1".to_string(), fixture("docs/train-00000-of-00002.parquet"), "--text-field doc.body"),
        ("docs-2".to_string(), fixture("docs/train-00001-of-00002.parquet"), "--text-field doc.body"),
    ];
    use Compression::*;
    for codec in [UNCOMPRESSED, SNAPPY, GZIP(GzipLevel::default()), BROTLI(Default::default()), LZ4, LZ4_RAW] {
        let properties = WriterProperties::builder()
            .set_compression(codec)
            .set_data_page_row_count_limit(20)
            .set_write_batch_size(5);
        let (version_1, version_2) = (properties.clone(), properties.set_writer_version(WriterVersion::PARQUET_2_0));
        cases.push((format!("{codec}"), written(version_1.build(), ""), ""));
        cases.push((format!("{codec} 2"), written(version_2.set_dictionary_enabled(false).build(), ""), ""));
    }
    cases
}

/// Cleans `in` in every way. Returns the status, which is the same for all, and the messages of the first.
fn clean(shell: &Shell, options: &str) -> (i32, String) {
    let dry = shell.dedup(&format!("clean in --dry-run {options}"));
    let mut written = Vec::new();
    for (number, threads) in ["-j1", "-j2"].into_iter().enumerate() {
        let output = shell.folder().join(format!("out-{number}"));
        _ = fs::remove_dir_all(&output);
        let run = shell.dedup(&format!("clean in --output out-{number} {options} {threads}"));
        assert_ne!(run.status, 2, "{options}: {}", run.stderr);
        assert_eq!(run.status, dry.status, "{}\n{}", run.stderr, dry.stderr);
        let failed = |stderr: &str| {
            stderr.lines().filter(|line| line.starts_with("dedup: failed:")).map(String::from).collect::<Vec<_>>()
        };
        assert_eq!(failed(&run.stderr), failed(&dry.stderr));
        let list = fs::read_to_string(output.join("_dedup/removed.jsonl")).unwrap_or_default();
        written.push((files(&output), list));
    }
    assert!(written[0] == written[1], "{options}");
    (dry.status, dry.stderr)
}

/// The header of each column's first page is destroyed; then some bytes in the middle of the column, which need not show.
#[test]
fn a_file_that_is_damaged_in_any_column_is_copied_whole() {
    for (name, bytes, options) in cases() {
        let shell = Shell::new();
        fs::create_dir(shell.folder().join("in")).unwrap();
        let line = |row: usize| {
            format!("{{\"id\":\"a{row}\",\"text\":\"one of twenty records, number {}, with some words\"}}\n", row / 2)
        };
        shell.write("in/a.jsonl", (0..20).map(line).collect::<String>());
        shell.write("in/b.parquet", &bytes);
        let output = |name: &str| fs::read(shell.folder().join("out-0").join(name)).unwrap();
        let options = &format!("--text-field text {options}")
            .replace("--text-field text --text-field", "--text-field text --text-field");
        let (status, messages) = clean(&shell, options);
        assert!([0, 3].contains(&status), "{name}: {messages}");
        let cleaned = output("a.jsonl");
        let columns = columns(&shell.folder().join("in/b.parquet"));
        for (at, (column, range)) in columns.iter().enumerate() {
            for is_header in [true, false] {
                let middle = (range.start + range.end) / 2;
                let run = if is_header { range.start..range.start + 4 } else { middle..(middle + 6).min(range.end) };
                let mut damaged = bytes.clone();
                damaged[run].iter_mut().for_each(|byte| *byte ^= 0xff);
                shell.write("in/b.parquet", &damaged);
                let (status, messages) = clean(&shell, options);
                let what = format!("{name}: {column} ({at}, {is_header}): {messages}");
                assert!(status == 3 || !is_header && status == 0, "{what}");
                assert_eq!(output("a.jsonl"), cleaned, "{what}");
                let is_whole = messages.contains("1 damaged file is copied whole");
                assert!(is_whole || !is_header, "{what}");
                if is_whole {
                    assert!(output("b.parquet") == damaged, "{what}");
                } else {
                    SerializedFileReader::try_from(&*shell.folder().join("out-0/b.parquet")).unwrap();
                }
            }
        }
    }
}

/// A file of which a byte of a column is changed, which is found between these bytes.
struct Changed {
    name: &'static str,
    bytes: Vec<u8>,
    column: usize,
    after: &'static [u8],
    byte: Option<u8>,
    before: &'static [u8],
    to: u8,
}

/// The decoder that makes copies refuses more than ours needs: a page of nulls whose encoding is unknown, and a number that its dictionary
/// does not claim to have.
#[test]
fn what_the_decoder_of_copies_refuses_is_found_before() {
    let schema = Arc::new(parse_message_type("message m { required binary text (UTF8); optional int64 x; }").unwrap());
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, Arc::default()).unwrap();
    let mut group = writer.next_row_group().unwrap();
    let texts: Vec<ByteArray> =
        (0..60).map(|row| format!("the text of row {} is long", row / 2).as_str().into()).collect();
    let mut to = group.next_column().unwrap().unwrap();
    to.typed::<ByteArrayType>().write_batch(&texts, None, None).unwrap();
    to.close().unwrap();
    let mut to = group.next_column().unwrap().unwrap();
    to.typed::<Int64Type>().write_batch(&[], Some(&[0; 60]), None).unwrap();
    to.close().unwrap();
    group.close().unwrap();
    let nulls = writer.into_inner().unwrap();
    // In the header of a page of 60 values its encoding, before those of its levels; in that of a dictionary of 30 values their number. As in
    // Thrift, which writes a number of 32 bits as twice itself after its kind.
    let dictionary = written(WriterProperties::default(), "");
    let cases = [
        Changed {
            name: "encoding",
            bytes: nulls,
            column: 1,
            after: &[],
            byte: None,
            before: &[0x15, 0x06, 0x15, 0x06],
            to: 0x11,
        },
        Changed {
            name: "dictionary",
            bytes: dictionary,
            column: 2,
            after: &[0x15],
            byte: Some(60),
            before: &[0x15],
            to: 58,
        },
    ];
    for Changed { name, mut bytes, column, after, byte, before, to } in cases {
        let shell = Shell::new();
        fs::create_dir(shell.folder().join("in")).unwrap();
        shell.write("in/a.jsonl", "{\"text\":\"words of a text\"}\n".repeat(2));
        shell.write("in/b.parquet", &bytes);
        assert_eq!(clean(&shell, "").0, 0, "{name}");
        let range = columns(&shell.folder().join("in/b.parquet"))[column].1.clone();
        let is_it = |at: &usize| {
            bytes[..*at].ends_with(after)
                && byte.is_none_or(|byte| bytes[*at] == byte)
                && bytes[at + 1..].starts_with(before)
        };
        let at = range.clone().find(is_it).unwrap();
        bytes[at] = to;
        shell.write("in/b.parquet", &bytes);
        let (status, messages) = clean(&shell, "");
        assert!(status == 3 && messages.contains("1 damaged file is copied whole"), "{name}: {messages}");
        assert!(fs::read(shell.folder().join("out-0/b.parquet")).unwrap() == bytes, "{name}");
        assert_eq!(fs::read(shell.folder().join("out-0/a.jsonl")).unwrap(), b"{\"text\":\"words of a text\"}\n");
    }
}

/// A file is damaged after it was decided on, and has its length and its time: the copy without rows fails, and all of it stays. Whenever
/// the run is interrupted, the same command ends it.
#[test]
fn a_file_that_cannot_be_copied_without_its_rows_is_copied_whole() {
    let shell = Shell::new();
    let path = |name: &str| shell.folder().join(name);
    let read = |name: &str| fs::read_to_string(path(name)).unwrap();
    fs::create_dir(path("in")).unwrap();
    let properties =
        WriterProperties::builder().set_dictionary_enabled(false).set_compression(Compression::UNCOMPRESSED);
    let whole = written(properties.build(), &" more".repeat(4000));
    shell.write("in/b.parquet", &whole);
    let line = "{\"text\":\"words of a text that stand in two lines\"}\n";
    shell.write("in/c.jsonl", line.repeat(2));
    let mut damaged = whole.clone();
    let header = columns(&path("in/b.parquet"))[0].1.start;
    damaged[header..header + 4].iter_mut().for_each(|byte| *byte ^= 0xff);
    let clean = "dedup clean in --output out -q -j 1";
    // No file may be longer than 200 KiB, and that of Parquet is, with half of its rows too.
    let interrupted = |options: &str| {
        let run = shell.sh(&format!("trap '' XFSZ; ulimit -f 200; {clean} {options}"));
        assert_eq!(run.status, 2, "{}", run.stderr);
        assert!(run.stderr.contains("cannot write out/b.parquet"), "{}", run.stderr);
        assert!(path("out/_dedup/state.json").exists());
        run.stderr
    };
    let set = |bytes: &[u8]| {
        shell.sh("touch -r in/b.parquet time").done();
        shell.write("in/b.parquet", bytes);
        shell.sh("touch -r time in/b.parquet").done();
    };
    assert!(!interrupted("").contains("failed:"));
    shell.sh("cp -rp out decided").done();
    set(&damaged);
    let run = shell.sh("dedup clean in --output out -j 1");
    let failed: Vec<&str> = run.stderr.lines().filter(|line| line.contains(": failed: ")).collect();
    let [failure] = failed[..] else { panic!("{}", run.stderr) };
    let counted = "1 damaged file is copied whole, with 30 near-duplicates: summary.json names each";
    assert!(run.stderr.contains(counted), "{}", run.stderr);
    let why = "dedup: failed: in/b.parquet: copied whole, because no copy without what is left out can be made: ";
    assert!(run.status == 3 && failure.starts_with(why), "{}", run.stderr);
    // Of 60 rows, every second one repeats the one before it.
    let decided = read("decided/_dedup/removed.jsonl");
    let (of_b, others): (Vec<&str>, Vec<&str>) =
        decided.lines().partition(|line| line.contains("\"file\":\"in/b.parquet\",\"record\""));
    assert_eq!((of_b.len(), others.len()), (30, 1));
    let removed = others[0].to_string() + "\n";
    let check = || {
        assert!(fs::read(path("out/b.parquet")).unwrap() == damaged);
        assert_eq!(read("out/c.jsonl"), line);
        assert_eq!(read("out/_dedup/removed.jsonl"), removed);
        let list = read("out/_dedup/failed.jsonl");
        assert_eq!(list.lines().count(), 1, "{list}");
        let line: serde_json::Value = serde_json::from_str(&list).unwrap();
        assert_eq!((&line["file"], &line["kind"]), (&"in/b.parquet".into(), &"uncopied".into()));
        let mut summary: serde_json::Value = serde_json::from_str(&read("out/_dedup/summary.json")).unwrap();
        let counts = ["records", "kept", "removed", "failed", "files_written"].map(|name| summary[name].clone());
        assert_eq!(counts, [62, 61, 1, 1, 2].map(serde_json::Value::from));
        let file = &summary["files"][0];
        let counts = ["records", "removed", "failed", "duplicates_kept"].map(|name| file[name].clone());
        assert_eq!(counts, [60, 0, 1, 30].map(serde_json::Value::from));
        assert_eq!(file["condition"], "damaged");
        let summary = summary.as_object_mut().unwrap();
        for name in ["seconds_writing", "peak_memory", "scan"] {
            summary.remove(name);
        }
        summary.clone()
    };
    let summary = check();
    let again = shell.sh(clean);
    assert_eq!((again.status, again.stderr.lines().next()), (3, Some(failure)), "{}", again.stderr);
    check();
    // Interrupted when that was decided; and before the lists say so, both or one.
    for lost in [&[][..], &["removed.jsonl", "failed.jsonl"], &["failed.jsonl"], &["removed.jsonl"]] {
        shell.sh("rm -r out; cp -rp decided out").done();
        assert!(interrupted("").starts_with(failure));
        lost.iter().for_each(|name| {
            _ = fs::copy(path(&format!("decided/_dedup/{name}")), path(&format!("out/_dedup/{name}"))).unwrap()
        });
        let run = shell.sh(clean);
        let failed: Vec<&str> = run.stderr.lines().collect();
        assert_eq!((run.status, &failed[..]), (3, &[failure][..]), "{lost:?}");
        assert_eq!(check(), summary);
    }
    // Where nothing may fail, nothing does in the end.
    set(&whole);
    shell.sh("rm -r out").done();
    interrupted("--on-error fail");
    set(&damaged);
    let run = shell.sh(&format!("{clean} --on-error fail"));
    assert!(run.status == 2 && run.stderr.contains("cannot copy in/b.parquet without"), "{}", run.stderr);
    assert!(!path("out/b.parquet").exists());
}

/// The texts of the second row group are in one page, which is too long.
#[test]
fn each_row_that_is_lost_is_counted_and_dropped() {
    let shell = Shell::new();
    fs::create_dir(shell.folder().join("in")).unwrap();
    let properties =
        WriterProperties::builder().set_dictionary_enabled(false).set_compression(Compression::UNCOMPRESSED);
    shell.write("in/b.parquet", written(properties.build(), &" more".repeat(2000)));
    for (options, left, dropped) in [("", 45, 0), ("--on-error drop", 15, 30)] {
        let run = shell.dedup(&format!("clean in --output out --max-record 2K {options}"));
        assert_eq!(run.status, 3, "{}", run.stderr);
        let reader = SerializedFileReader::try_from(&*shell.folder().join("out/b.parquet")).unwrap();
        assert_eq!(reader.metadata().file_metadata().num_rows(), left, "{}", run.stderr);
        assert!(run.stderr.contains("rows 31 to 60 cannot be read: a page is"), "{}", run.stderr);
        assert!(run.stderr.contains("30 failed"), "{}", run.stderr);
        let list = fs::read_to_string(shell.folder().join("out/_dedup/removed.jsonl")).unwrap();
        assert_eq!(list.lines().filter(|line| line.contains("\"error\"")).count(), dropped, "{list}");
        fs::remove_dir_all(shell.folder().join("out")).unwrap();
    }
    // A line for each record that was not read.
    let run = shell.sh("dedup scan in --max-record 2K --rejects rejects.jsonl -q");
    assert_eq!(run.status, 3, "{}", run.stderr);
    let rejects = fs::read_to_string(shell.folder().join("rejects.jsonl")).unwrap();
    let records: Vec<u64> = rejects
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()["record"].as_u64().unwrap())
        .collect();
    assert_eq!(records, (31..=60).collect::<Vec<_>>());
}

/// How a column is written: what a reader depends on, or is fast by.
#[derive(Debug, PartialEq)]
struct Form {
    codec: Compression,
    encodings: BTreeSet<String>,
    has_dictionary: bool,
    has_bloom_filter: bool,
    has_statistics: bool,
    has_column_index: bool,
    has_offset_index: bool,
}

fn forms(path: &Path) -> Vec<Form> {
    let reader = SerializedFileReader::try_from(path).unwrap();
    let group = reader.metadata().row_group(0);
    let form = |column: &ColumnChunkMetaData| Form {
        codec: column.compression(),
        encodings: column.encodings().map(|encoding| encoding.to_string()).collect(),
        has_dictionary: column.dictionary_page_offset().is_some(),
        has_bloom_filter: column.bloom_filter_offset().is_some(),
        has_statistics: column.statistics().is_some(),
        has_column_index: column.column_index_offset().is_some(),
        has_offset_index: column.offset_index_offset().is_some(),
    };
    group.columns().iter().map(form).collect()
}

#[test]
fn a_copy_is_encoded_as_its_file() {
    let plain =
        || WriterProperties::builder().set_dictionary_enabled(false).set_statistics_enabled(EnabledStatistics::None);
    let column = |name: &str| ColumnPath::from(name);
    let cases = [
        WriterProperties::builder(),
        WriterProperties::builder().set_bloom_filter_enabled(true),
        plain(),
        plain().set_offset_index_disabled(true).set_column_bloom_filter_enabled(column("id"), true),
        plain()
            .set_column_dictionary_enabled(column("tags"), true)
            .set_column_statistics_enabled(column("id"), EnabledStatistics::Page),
        plain()
            .set_column_encoding(column("id"), Encoding::DELTA_BINARY_PACKED)
            .set_column_encoding(column("text"), Encoding::DELTA_LENGTH_BYTE_ARRAY),
        plain()
            .set_writer_version(WriterVersion::PARQUET_2_0)
            .set_column_encoding(column("id"), Encoding::BYTE_STREAM_SPLIT)
            .set_column_statistics_enabled(column("score"), EnabledStatistics::Chunk)
            .set_column_compression(column("text"), Compression::SNAPPY),
        WriterProperties::builder()
            .set_writer_version(WriterVersion::PARQUET_2_0)
            .set_statistics_enabled(EnabledStatistics::Chunk),
    ];
    for (number, properties) in cases.into_iter().enumerate() {
        let shell = Shell::new();
        fs::create_dir(shell.folder().join("in")).unwrap();
        shell.write("in/b.parquet", written(properties.build(), ""));
        let run = shell.dedup("clean in --output out");
        assert_eq!(run.status, 0, "{}", run.stderr);
        let [before, after] = ["in", "out"].map(|folder| shell.folder().join(folder).join("b.parquet"));
        assert_eq!(SerializedFileReader::try_from(&*after).unwrap().metadata().file_metadata().num_rows(), 30);
        assert_eq!(forms(&after), forms(&before), "{number}");
    }
}

/// The file with other metadata of each column, which is given with the numbers of its row group and of the column.
pub fn with_metadata(
    bytes: &[u8],
    change: impl Fn(usize, usize, ColumnChunkMetaData) -> ColumnChunkMetaData,
) -> Vec<u8> {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(bytes).unwrap();
    let metadata = SerializedFileReader::new(file).unwrap().metadata().clone();
    let groups = metadata.row_groups().iter().enumerate().map(|(at, group)| {
        let columns = group.columns().iter().cloned().enumerate();
        let columns = columns.map(|(number, column)| change(at, number, column)).collect();
        group.clone().into_builder().set_column_metadata(columns).build().unwrap()
    });
    let metadata = ParquetMetaData::new(metadata.file_metadata().clone(), groups.collect());
    let tail = bytes.len() - 8;
    let length = u32::from_le_bytes(bytes[tail..tail + 4].try_into().unwrap());
    let mut changed = bytes[..tail - length as usize].to_vec();
    ParquetMetaDataWriter::new(&mut changed, &metadata).finish().unwrap();
    changed
}

/// The column of texts goes on after its values. Without memory for the texts, those of candidates are read again.
#[test]
fn damage_after_the_values_of_a_column_is_the_same_in_each_reading() {
    let bytes = written(WriterProperties::builder().build(), "");
    let damaged = with_metadata(&bytes, |group, number, column| {
        let length = column.compressed_size() + if (group, number) == (0, 1) { 10 } else { 0 };
        column.into_builder().set_total_compressed_size(length).build().unwrap()
    });
    let shell = Shell::new();
    fs::create_dir(shell.folder().join("in")).unwrap();
    shell.write("in/a.parquet", &damaged);
    let line = |row: usize| {
        format!("{{\"id\":\"b{row}\",\"text\":\"the text of row {} is like that of no other number\"}}\n", row / 2)
    };
    shell.write("in/b.jsonl", (0..80).map(line).collect::<String>());
    let mut written = Vec::new();
    for memory in ["1G", "0"] {
        let run = shell.dedup(&format!("clean in --output out-{memory} --memory {memory}"));
        assert_eq!(run.status, 3, "{}", run.stderr);
        let failed: Vec<String> =
            run.stderr.lines().filter(|line| line.starts_with("dedup: failed: ")).map(String::from).collect();
        assert_eq!(failed.len(), 1, "{}", run.stderr);
        assert!(failed[0].contains("column 'text' of rows 1 to 30 cannot be read"), "{}", run.stderr);
        let output = shell.folder().join(format!("out-{memory}"));
        let list = fs::read_to_string(output.join("_dedup/removed.jsonl")).unwrap();
        assert!(list.lines().count() > 0);
        written.push((failed, files(&output), list));
    }
    assert!(written[0] == written[1]);
    assert!(written[0].1["a.parquet"] == damaged);
}

/// A codec that is not written, and a page that is too long, in a column that is not read: a failure if a row would be left out.
#[test]
fn a_file_that_cannot_be_written_again_fails_if_rows_would_be_left_out() {
    let lzo = with_metadata(&written(WriterProperties::builder().build(), ""), |_, number, column| {
        let codec = if number == 2 { Compression::LZO } else { column.compression() };
        column.into_builder().set_compression(codec).build().unwrap()
    });
    let plain = WriterProperties::builder().set_dictionary_enabled(false).set_compression(Compression::UNCOMPRESSED);
    let long = written(plain.build(), &" more".repeat(2000));
    // Texts are repeated in rows of the first file; lists of tags in the copy of the second file.
    for (bytes, other_field, field, copies, why) in [
        (lzo, "tags[]", "text", 1, "the column 'score' is compressed with LZO"),
        (long, "tags[]", "tags[]", 2, "column 'text' of rows 31 to 60 cannot be read: a page is"),
    ] {
        let shell = Shell::new();
        fs::create_dir(shell.folder().join("in")).unwrap();
        shell.write("in/a.parquet", &bytes);
        for by in ["", "--index seen.idx"] {
            let options = format!("--max-record 2K {by}");
            let run = shell.dedup(&format!("clean in --output whole --text-field {other_field} {options}"));
            assert_eq!(run.status, 0, "{}", run.stderr);
            assert!(!run.stderr.contains("failed") && !run.stderr.contains("copied whole"), "{}", run.stderr);
            _ = fs::remove_file(shell.folder().join("seen.idx"));
            if copies > 1 {
                shell.write("in/b.parquet", &bytes);
            }
            for how in ["--dry-run", "--output out", "--output none --on-error fail"] {
                let run = shell.dedup(&format!("clean in {how} --text-field {field} {options}"));
                assert_eq!(run.status, if how.contains("fail") { 2 } else { 3 }, "{how} {by}: {}", run.stderr);
                let failed: Vec<&str> = run.stderr.lines().filter(|line| line.contains("failed: in/")).collect();
                assert_eq!(failed.len(), 1, "{how} {by}: {}", run.stderr);
                let message = format!("copied whole, because no copy without some of its rows can be made: {why}");
                assert!(failed[0].contains(&message), "{}", run.stderr);
                assert!(!run.stderr.contains("damaged"), "{}", run.stderr);
                _ = fs::remove_file(shell.folder().join("seen.idx"));
            }
            let output = files(&shell.folder().join("out"));
            assert!(output.len() == copies && output.values().all(|copy| *copy == bytes), "{by}");
            assert_eq!(fs::read(shell.folder().join("out/_dedup/removed.jsonl")).unwrap(), b"", "{by}");
            assert!(!shell.folder().join("none").exists(), "{by}");
            for folder in ["whole", "out"] {
                fs::remove_dir_all(shell.folder().join(folder)).unwrap();
            }
            _ = fs::remove_file(shell.folder().join("in/b.parquet"));
        }
    }
}

/// Numbers of 16 bits rank rows. A column of another type is named with it, and those that could be meant have one value in a row.
#[test]
fn types_of_columns_that_rank_rows() {
    let schema = "message m { required binary text (UTF8); required fixed_len_byte_array(2) half (FLOAT16); \
                  required fixed_len_byte_array(3) raw; repeated int64 tags; }";
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, Arc::default()).unwrap();
    let mut group = writer.next_row_group().unwrap();
    // 1, 1.5 and -2.
    let halves = [[0x00, 0x3c], [0x00, 0x3e], [0x00, 0xc0]].map(|bytes| ByteArray::from(bytes.to_vec()).into());
    for column in 0..4 {
        let mut to = group.next_column().unwrap().unwrap();
        match column {
            0 => to.typed::<ByteArrayType>().write_batch(&vec!["words of one text".into(); 3], None, None),
            1 => to.typed::<FixedLenByteArrayType>().write_batch(&halves, None, None),
            2 => {
                let raw = ByteArray::from(b"abc".to_vec()).into();
                to.typed::<FixedLenByteArrayType>().write_batch(&vec![raw; 3], None, None)
            }
            _ => to.typed::<Int64Type>().write_batch(&[7; 3], Some(&[1; 3]), Some(&[0; 3])),
        }
        .unwrap();
        to.close().unwrap();
    }
    group.close().unwrap();
    let shell = Shell::new();
    shell.write("a.parquet", writer.into_inner().unwrap());
    for (keep, kept) in [("max:half", 2), ("min:half", 3), ("is:half=1", 1), ("is:half=-2.0", 3)] {
        let found = shell.dedup(&format!("scan a.parquet --emit clusters -q --keep {keep}")).done();
        assert!(found.contains(&format!("\"keep\":[\"a.parquet:{kept}\"]")), "{keep}: {found}");
    }
    for (column, kind) in [("raw", "bytes of a fixed length"), ("tags", "a list")] {
        let run = shell.dedup(&format!("scan a.parquet --emit clusters --keep max:{column}"));
        let named = format!("a.parquet: column '{column}' is {kind}, neither numbers nor points in time: ");
        assert!(run.status == 2 && run.stderr.contains(&named), "{}", run.stderr);
        assert!(
            run.stderr.contains(&format!("in the field '{column}' (fields here: text, half, raw)")),
            "{}",
            run.stderr
        );
    }
}
