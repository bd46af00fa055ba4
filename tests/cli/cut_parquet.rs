//! `dedup passages --output` of Parquet files: texts are cut as those of the same records in JSON lines, and nothing else changes.

use super::clean::files;
use super::clean_parquet::{with_metadata, written};
use super::cut::text;
use super::shell::Shell;
use crate::support::random::Random;
use ::parquet::basic::{Compression, Encoding};
use ::parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use ::parquet::file::metadata::{KeyValue, SortingColumn};
use ::parquet::file::properties::{EnabledStatistics, WriterProperties, WriterVersion};
use ::parquet::file::reader::{FileReader, SerializedFileReader};
use ::parquet::file::writer::SerializedFileWriter;
use ::parquet::record::{Field, Row as Read};
use ::parquet::schema::parser::parse_message_type;
use ::parquet::schema::types::ColumnPath;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::sync::Arc;

/// The columns of texts are in another order than that in which they are joined.
const SCHEMA: &str = "message m {
    required int64 id;
    optional binary body (UTF8);
    optional group chat (LIST) { repeated group list { optional binary element (UTF8); } }
    optional double score;
    optional binary text (UTF8);
}";

/// A row.
#[derive(Clone, Debug, PartialEq)]
struct Row {
    id: i64,
    body: Option<String>,
    chat: Option<Vec<Option<String>>>,
    score: Option<f64>,
    text: Option<String>,
}

impl Row {
    fn line(&self) -> String {
        let Row { id, body, chat, score, text } = self;
        json!({"id": id, "body": body, "chat": chat, "score": score, "text": text}).to_string() + "\n"
    }

    fn of_line(line: &str) -> Self {
        let value: Value = serde_json::from_str(line).unwrap();
        let text = |value: &Value| value.as_str().map(str::to_string);
        Row {
            id: value["id"].as_i64().unwrap(),
            body: text(&value["body"]),
            chat: value["chat"].as_array().map(|list| list.iter().map(text).collect()),
            score: value["score"].as_f64(),
            text: text(&value["text"]),
        }
    }

    /// A row of a file, by the reader of another implementation.
    fn of_file(row: &Read) -> Self {
        let text = |field: &Field| match field {
            Field::Null => None,
            Field::Str(text) => Some(text.clone()),
            other => panic!("{other:?}"),
        };
        let fields: Vec<&Field> = row.get_column_iter().map(|(_, field)| field).collect();
        let [Field::Long(id), body, chat, score, last] = fields[..] else { panic!("{row:?}") };
        let chat = match chat {
            Field::Null => None,
            Field::ListInternal(list) => Some(list.elements().iter().map(text).collect()),
            other => panic!("{other:?}"),
        };
        let score = match score {
            Field::Null => None,
            Field::Double(score) => Some(*score),
            other => panic!("{other:?}"),
        };
        Row { id: *id, body: text(body), chat, score, text: text(last) }
    }
}

/// Rows with copies of parts of the texts of others.
fn rows(random: &mut Random, count: usize, first: i64, before: &mut Vec<String>) -> Vec<Row> {
    let mut any = |random: &mut Random| match random.below(8) {
        0 => None,
        1 => Some(String::new()),
        _ => {
            before.push(text(random, before));
            before.last().cloned()
        }
    };
    (first..)
        .take(count)
        .map(|id| Row {
            id,
            body: any(random),
            chat: random.chance(0.8).then(|| (0..random.below(4)).map(|_| any(random)).collect()),
            score: random.chance(0.7).then(|| random.below(100) as f64 / 4.0),
            text: any(random),
        })
        .collect()
}

/// The values of a column of texts that are not null, and the levels of all.
#[derive(Default)]
struct Levels {
    values: Vec<ByteArray>,
    definition: Vec<i16>,
    repetition: Vec<i16>,
}

impl Levels {
    fn of<'r>(texts: impl Iterator<Item = &'r Option<String>>) -> Self {
        let mut levels = Levels::default();
        texts.for_each(|text| levels.push(text.as_deref(), [0, 1], 0));
        levels
    }

    fn of_lists<'r>(lists: impl Iterator<Item = &'r Option<Vec<Option<String>>>>) -> Self {
        let mut levels = Levels::default();
        for list in lists {
            match list.as_deref() {
                None => levels.push(None, [0; 2], 0),
                Some([]) => levels.push(None, [1; 2], 0),
                Some(list) => (0..).zip(list).for_each(|(at, text)| levels.push(text.as_deref(), [2, 3], at.min(1))),
            }
        }
        levels
    }

    fn push(&mut self, text: Option<&str>, [null, present]: [i16; 2], repetition: i16) {
        self.definition.push(if text.is_some() { present } else { null });
        self.repetition.push(repetition);
        self.values.extend(text.map(ByteArray::from));
    }
}

/// A file of these rows, in row groups of so many.
fn file(rows: &[Row], group: usize, properties: WriterProperties) -> Vec<u8> {
    let schema = Arc::new(parse_message_type(SCHEMA).unwrap());
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties)).unwrap();
    for rows in rows.chunks(group) {
        let mut to = writer.next_row_group().unwrap();
        for number in 0..5 {
            let mut column = to.next_column().unwrap().unwrap();
            let texts = match number {
                1 => Levels::of(rows.iter().map(|row| &row.body)),
                2 => Levels::of_lists(rows.iter().map(|row| &row.chat)),
                _ => Levels::of(rows.iter().map(|row| &row.text)),
            };
            match number {
                0 => {
                    let ids: Vec<i64> = rows.iter().map(|row| row.id).collect();
                    column.typed::<Int64Type>().write_batch(&ids, None, None).unwrap();
                }
                3 => {
                    let scores: Vec<f64> = rows.iter().filter_map(|row| row.score).collect();
                    let levels: Vec<i16> = rows.iter().map(|row| i16::from(row.score.is_some())).collect();
                    column.typed::<DoubleType>().write_batch(&scores, Some(&levels), None).unwrap();
                }
                _ => {
                    let Levels { values, definition, repetition } = texts;
                    let repetition = (number == 2).then_some(&repetition[..]);
                    column.typed::<ByteArrayType>().write_batch(&values, Some(&definition), repetition).unwrap();
                }
            }
            column.close().unwrap();
        }
        to.close().unwrap();
    }
    writer.into_inner().unwrap()
}

/// How files are written, in many ways.
fn properties(random: &mut Random) -> WriterProperties {
    use Compression::*;
    let codecs = [UNCOMPRESSED, SNAPPY, GZIP(Default::default()), LZ4_RAW, ZSTD(Default::default())];
    let encodings = [Encoding::PLAIN, Encoding::DELTA_LENGTH_BYTE_ARRAY, Encoding::DELTA_BYTE_ARRAY];
    let versions = [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0];
    let statistics = [EnabledStatistics::None, EnabledStatistics::Chunk, EnabledStatistics::Page];
    let mut builder = WriterProperties::builder()
        .set_compression(*random.pick(&codecs))
        .set_writer_version(*random.pick(&versions))
        .set_statistics_enabled(*random.pick(&statistics))
        .set_dictionary_enabled(random.chance(0.5))
        .set_data_page_row_count_limit(1 + random.below(7))
        .set_write_batch_size(1 + random.below(5))
        .set_key_value_metadata(Some(vec![KeyValue::new("huggingface".to_string(), "{}".to_string())]));
    for name in ["body", "text"] {
        builder = builder.set_column_encoding(ColumnPath::from(name), *random.pick(&encodings));
    }
    builder.build()
}

fn open(path: &Path) -> SerializedFileReader<fs::File> {
    SerializedFileReader::try_from(path).unwrap()
}

fn rows_of(path: &Path) -> Vec<Row> {
    open(path).get_row_iter(None).unwrap().map(|row| Row::of_file(&row.unwrap())).collect()
}

/// The list of what was cut, of files that have these names.
fn list(shell: &Shell, output: &str, extension: &str) -> Vec<String> {
    let list = fs::read_to_string(shell.folder().join(output).join("_dedup/removed.jsonl")).unwrap();
    list.lines().map(|line| line.replace(&format!(".{extension}\""), "\"").replace("rows/", "lines/")).collect()
}

/// Cuts the same records as JSON lines and as Parquet. Returns the number of cuts.
fn compare(seed: u64) -> usize {
    let mut random = Random::new(seed);
    let shell = Shell::new();
    ["lines", "rows"].iter().for_each(|folder| fs::create_dir(shell.folder().join(folder)).unwrap());
    let (mut before, files_here) = (Vec::new(), 1 + random.below(3));
    for number in 0..files_here {
        let count = 1 + random.below(25);
        let rows = rows(&mut random, count, 100 * number as i64, &mut before);
        shell.write(&format!("lines/{number}.jsonl"), rows.iter().map(Row::line).collect::<String>());
        let group = 1 + random.below(12);
        let bytes = file(&rows, group, properties(&mut random));
        shell.write(&format!("rows/{number}.parquet"), bytes);
        assert_eq!(rows_of(&shell.folder().join(format!("rows/{number}.parquet"))), rows);
    }
    let input = files(&shell.folder().join("rows"));
    let fields = random.pick(&["text", "body,text", "text,body", "chat[]", "text,chat[],body"]).to_string();
    let flags =
        *random.pick(&["", "--unit line", "--unit paragraph --keep none", "--max-cut 0.3", "--min-documents 2"]);
    let tuning = *random.pick(&["-j1", "-j3", "--memory 0", "--memory 1M -j2"]);
    let run = |folder: &str, output: &str, more: &str| {
        let run = shell.dedup(&format!(
            "passages {folder} --text-field {fields} --exact --min-words 3 {flags} --output {output} {more}"
        ));
        assert!([0, 3].contains(&run.status), "{}", run.stderr);
        run.status
    };
    let statuses = [run("lines", "of-lines", "-q"), run("rows", "of-rows", "-q"), run("rows", "other", tuning)];
    assert_eq!(statuses, [statuses[0]; 3]);
    assert!(files(&shell.folder().join("rows")) == input, "the input has changed");
    assert!(files(&shell.folder().join("of-rows")) == files(&shell.folder().join("other")), "{seed} {tuning}");
    let cuts = list(&shell, "of-rows", "parquet");
    assert_eq!(cuts, list(&shell, "of-lines", "jsonl"), "{seed} {fields} {flags}");
    for number in 0..files_here {
        let [before, after] =
            ["rows", "of-rows"].map(|folder| shell.folder().join(format!("{folder}/{number}.parquet")));
        let lines = fs::read_to_string(shell.folder().join(format!("of-lines/{number}.jsonl"))).unwrap();
        let expected: Vec<Row> = lines.lines().map(Row::of_line).collect();
        assert_eq!(rows_of(&after), expected, "{seed} {fields} {flags}");
        let [before, after] = [before, after].map(|path| open(&path).metadata().clone());
        assert_eq!(before.file_metadata().schema(), after.file_metadata().schema());
        assert_eq!(before.file_metadata().key_value_metadata(), after.file_metadata().key_value_metadata());
        for (group, column) in after.row_groups().iter().flat_map(|group| (0..5).map(move |column| (group, column))) {
            assert!(group.num_rows() > 0);
            assert_eq!(group.column(column).compression(), before.row_group(0).column(column).compression());
        }
    }
    cuts.iter().filter(|line| line.contains("\"type\":\"cut\"")).count()
}

#[test]
fn texts_are_cut_as_in_json_lines() {
    let cuts: usize = (0..40).map(compare).sum();
    assert!(cuts > 400, "{cuts}");
}

/// `cargo test --test all -- --ignored cut_as_in_json_lines --nocapture`
#[test]
#[ignore = "takes minutes"]
fn thousands_of_texts_are_cut_as_in_json_lines() {
    let cuts: usize = (40..1000).map(compare).sum();
    assert!(cuts > 10_000, "{cuts}");
}

/// Lists of structs, written by another implementation, and the same rows as JSON lines.
#[test]
fn texts_in_lists_of_another_implementation() {
    let shell = Shell::new();
    for field in ["chat[].content", "parts[].content[].text"] {
        for extension in ["parquet", "jsonl"] {
            let run = shell.sh(&format!(
                "rm -rf {extension}; dedup passages fixtures/parquet/lists.{extension} --text-field '{field}' --exact --min-words 2 \
                 --output {extension} -q"
            ));
            assert!([0, 3].contains(&run.status), "{}", run.stderr);
        }
        let cuts = list(&shell, "parquet", "parquet");
        assert!(cuts.len() > 10, "{field}: {}", cuts.len());
        assert_eq!(cuts, list(&shell, "jsonl", "jsonl"));
        // What is left is what is read of the cut lines.
        let read = |path: &str| {
            let run =
                shell.sh(&format!("dedup scan {path} --text-field '{field}' --emit fingerprints --algo minhash -q"));
            let documents = run.stdout.lines().filter(|line| !line.contains("\"error\""));
            documents.map(str::to_string).collect::<Vec<_>>()
        };
        let [of_rows, of_lines] = ["parquet/lists.parquet", "jsonl/lists.jsonl"].map(read);
        assert!(of_rows.len() > 10 && of_rows == of_lines, "{field}");
    }
}

/// A page that is too long in a column that is not read: nothing can be cut out of that file, which is a failure.
#[test]
fn a_file_that_cannot_be_written_again_fails_if_texts_would_be_cut() {
    let lzo = with_metadata(&written(WriterProperties::builder().build(), ""), |_, number, column| {
        let codec = if number == 2 { Compression::LZO } else { column.compression() };
        column.into_builder().set_compression(codec).build().unwrap()
    });
    let shell = Shell::new();
    fs::create_dir(shell.folder().join("in")).unwrap();
    shell.write("in/a.parquet", &lzo);
    shell.write("in/b.jsonl", "{\"text\":\"Then the text of row 1 is like that of no other number.\"}\n");
    let run = shell.dedup("passages in --exact --min-words 200 --output whole");
    assert_eq!(run.status, 0, "{}", run.stderr);
    let run = shell.dedup("passages in --exact --min-words 8 --output out");
    assert_eq!(run.status, 3, "{}", run.stderr);
    let failed: Vec<&str> = run.stderr.lines().filter(|line| line.contains("failed: in/")).collect();
    assert_eq!(failed.len(), 1, "{}", run.stderr);
    assert!(failed[0].contains("the column 'score' is compressed with LZO"), "{}", run.stderr);
    let output = files(&shell.folder().join("out"));
    assert!(output["a.parquet"] == lzo);
    assert_eq!(output["b.jsonl"], b"{\"text\":\"Then .\"}\n");
    let run = shell.dedup("passages in --exact --min-words 8 --output none --on-error fail");
    assert_eq!(run.status, 2, "{}", run.stderr);
    assert!(!shell.folder().join("none").exists());
    // The summary says the same where whole records would be left out.
    shell.write("reference.jsonl", "{\"text\":\"the text of row 1 is like that of no other number\"}\n");
    for (number, how) in [
        "passages in --exact --min-words 8",
        "passages in --exact --min-words 8 --against reference.jsonl --unit document",
        "contain in --shingle 8 --against reference.jsonl --of reference --min-coverage 0.9",
    ]
    .into_iter()
    .enumerate()
    {
        let run = shell.dedup(&format!("{how} --output {number}"));
        assert_eq!(run.status, 3, "{how}: {}", run.stderr);
        let message = format!(
            "1 failed: files of which no copy without what is left out can be made are copied whole; {number}/_dedup/failed.jsonl lists"
        );
        assert!(run.stderr.contains(&message), "{how}: {}", run.stderr);
        assert!(fs::read(shell.folder().join(format!("{number}/a.parquet"))).unwrap() == lzo);
    }
}

/// With damage in any column, a file is copied whole, and others are cut.
#[test]
fn a_damaged_file_is_copied_whole() {
    let bytes = written(WriterProperties::builder().build(), "");
    let shell = Shell::new();
    fs::create_dir(shell.folder().join("in")).unwrap();
    shell.write("in/whole.parquet", &bytes);
    let starts: Vec<usize> = open(&shell.folder().join("in/whole.parquet"))
        .metadata()
        .row_groups()
        .iter()
        .flat_map(|group| group.columns())
        .map(|column| column.byte_range().0 as usize)
        .collect();
    for (number, start) in starts.into_iter().enumerate() {
        let mut damaged = bytes.clone();
        damaged[start..start + 4].iter_mut().for_each(|byte| *byte ^= 0xff);
        shell.write("in/a.parquet", &damaged);
        let run = shell.sh("rm -rf out; dedup passages in --exact --min-words 8 --output out");
        assert_eq!(run.status, 3, "{number}: {}", run.stderr);
        assert!(run.stderr.contains("1 damaged file is copied whole"), "{number}: {}", run.stderr);
        let output = files(&shell.folder().join("out"));
        assert!(output["a.parquet"] == damaged, "{number}");
        assert!(output["whole.parquet"] != bytes, "{number}");
    }
}

/// A text with ill-formed bytes keeps those that are not cut. Nothing declares rows to be in the order of a text that was cut.
#[test]
fn bytes_that_are_no_text_stay_and_the_order_of_texts_is_not_declared() {
    let shell = Shell::new();
    fs::create_dir(shell.folder().join("in")).unwrap();
    let schema = Arc::new(parse_message_type("message m { required int64 n; required binary text (UTF8); }").unwrap());
    let column = |column_idx| SortingColumn { column_idx, descending: false, nulls_first: false };
    let properties = WriterProperties::builder().set_sorting_columns(Some(vec![column(0), column(1)])).build();
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties)).unwrap();
    let mut group = writer.next_row_group().unwrap();
    // So long that three bytes are few of it.
    let rest =
        "and after that come words which stand nowhere else, so many that hardly any part of this text is damaged";
    let text = |start: &[u8]| [start, rest.as_bytes()].concat();
    let texts: Vec<ByteArray> =
        vec![b"one two three four".to_vec().into(), text(b"ab \xff One two three. \xff five \xc3 ").into()];
    let mut to = group.next_column().unwrap().unwrap();
    to.typed::<Int64Type>().write_batch(&[1, 2], None, None).unwrap();
    to.close().unwrap();
    let mut to = group.next_column().unwrap().unwrap();
    to.typed::<ByteArrayType>().write_batch(&texts, None, None).unwrap();
    to.close().unwrap();
    group.close().unwrap();
    shell.write("in/a.parquet", writer.into_inner().unwrap());
    shell.dedup("passages in --exact --min-words 3 --output out -q").done();
    let out = open(&shell.folder().join("out/a.parquet"));
    let mut left = Vec::new();
    let ::parquet::column::reader::ColumnReader::ByteArrayColumnReader(mut reader) =
        out.get_row_group(0).unwrap().get_column_reader(1).unwrap()
    else {
        panic!()
    };
    reader.read_records(9, None, None, &mut left).unwrap();
    let left: Vec<&[u8]> = left.iter().map(ByteArray::data).collect();
    assert_eq!(left, [&b"one two three four"[..], &text(b"ab \xff . \xff five \xc3 ")]);
    assert_eq!(out.metadata().row_group(0).sorting_columns().unwrap(), &vec![column(0)]);
}

#[test]
fn texts_that_are_json_by_their_type_are_refused() {
    let shell = Shell::new();
    let schema = Arc::new(parse_message_type("message m { required binary text (JSON); }").unwrap());
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, Arc::default()).unwrap();
    let mut group = writer.next_row_group().unwrap();
    let mut to = group.next_column().unwrap().unwrap();
    to.typed::<ByteArrayType>().write_batch(&["{\"a\":\"one two three\"}".into()], None, None).unwrap();
    to.close().unwrap();
    group.close().unwrap();
    shell.write("a.parquet", writer.into_inner().unwrap());
    let run = shell.dedup("passages a.parquet --exact --min-words 3 --output out");
    assert_eq!(run.status, 2, "{}", run.stderr);
    assert!(run.stderr.contains("a.parquet: the column 'text' is JSON by its type"), "{}", run.stderr);
    shell.dedup("passages a.parquet --exact --min-words 3").done();
}

/// The rows of a stream have no end at which metadata could be.
#[test]
fn a_stream_is_refused_before_the_search() {
    let shell = Shell::new();
    let run = shell.dedup("passages fixtures/parquet/int96.parquet --exact --emit kept");
    assert_eq!(run.status, 2);
    assert_eq!(
        run.stderr,
        "dedup: error: usage: fixtures/parquet/int96.parquet is a Parquet file, which cannot be part of a stream: write files instead of a \
         stream, with dedup passages --output DIR\n"
    );
}
