//! What fuzzing calls, a function a target, each with what must hold of any bytes. The tests call them too, with the inputs in
//! `corpus/`.
//!
//! ```text
//! cd tests/fuzz && cargo +nightly fuzz run --fuzz-dir libfuzzer warc corpus/warc
//! ```

use neardups::algorithm::{Entry, parameter::Settings};
use neardups::check::{baseline, config};
use neardups::index::{self, Index, Plan, Seed, Sync};
use neardups::prose::{self, Language, Lines, Markup, Prose};
use neardups::source::{Format, IdFields, Input, Live, PageText, ReadOptions, Severity, Source, TextFields};
use neardups::tokenizer::Word;
use std::io::{Cursor, Read};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// An archive: it is read the same in blocks of any size and as a stream, and what a stream lets through is read the same again.
pub fn warc(bytes: &[u8]) {
    let options = ReadOptions { format: Format::Warc, max_record: 4 << 10, ..ReadOptions::default() };
    let documents = batch(bytes, &options);
    assert_eq!(batch(bytes, &ReadOptions { batch_bytes: 1, ..options.clone() }), documents);
    let (live, passed) = stream(bytes, &options, b"\r\n\r\n");
    if bytes.starts_with(b"\x1f\x8b") {
        // A stream that is damaged ends where its decoder was, which depends on how the bytes arrive.
        let common = live.len().min(documents.len());
        assert_eq!(live[..common], documents[..common]);
    } else {
        assert_eq!(live, documents);
    }
    let again = stream(&passed, &options, b"\r\n\r\n");
    assert_eq!(again.1, passed);
    let texts = |documents: &[String]| -> Vec<String> {
        documents.iter().map(|d| d.split_once('|').map_or(String::new(), |(_, text)| text.to_owned())).collect()
    };
    assert_eq!(texts(&again.0), texts(&live));
}

/// A page: its text, or its main text, is not longer than it.
pub fn html(bytes: &[u8]) {
    for page_text in [PageText::All, PageText::Main] {
        let options = ReadOptions { format: Format::Html, page_text, ..ReadOptions::default() };
        for document in batch(bytes, &options) {
            // A byte of an old encoding is up to three of UTF-8; no character reference is so much shorter than what it stands for.
            assert!(document.len() <= 3 * bytes.len() + 16, "{document}");
        }
    }
}

/// JSON lines, the paths of text and id in the first line: they are read the same as a batch and as a stream.
pub fn jsonl(bytes: &[u8]) {
    let (first, lines) = bytes.iter().position(|&byte| byte == b'\n').map_or((bytes, &b""[..]), |end| {
        let (first, rest) = bytes.split_at(end);
        (first, &rest[1..])
    });
    let first = String::from_utf8_lossy(first);
    let (text, id) = first.split_once(' ').unwrap_or((&first, "id"));
    let (Ok(text_fields), Ok(id_field)) = (TextFields::parse("text-field", [text]), IdFields::parse("id-field", id))
    else {
        return;
    };
    let options =
        ReadOptions { format: Format::Jsonl, text_fields, id_field, max_record: 4 << 10, ..ReadOptions::default() };
    let documents = batch(lines, &options);
    assert_eq!(batch(lines, &ReadOptions { batch_bytes: 1, ..options.clone() }), documents);
    // A batch guesses at UTF-16 and drops a mark at the start.
    if !lines.starts_with(b"\xff\xfe") && !lines.starts_with(b"\xfe\xff") {
        assert_eq!(stream(lines, &options, b"").0, documents);
    }
}

/// Records with delimiters, the names of text and id in the first line: they are read the same in batches of any size, and no field
/// is longer than its record.
pub fn csv(bytes: &[u8]) {
    let (first, lines) = bytes.iter().position(|&byte| byte == b'\n').map_or((bytes, &b""[..]), |end| {
        let (first, rest) = bytes.split_at(end);
        (first, &rest[1..])
    });
    let first = String::from_utf8_lossy(first);
    let (text, id) = first.split_once(' ').unwrap_or((&first, "id"));
    let (Ok(text_fields), Ok(id_field)) = (TextFields::parse("text-field", [text]), IdFields::parse("id-field", id))
    else {
        return;
    };
    for format in [Format::Csv, Format::Tsv] {
        let (text_fields, id_field) = (text_fields.clone(), id_field.clone());
        let options = ReadOptions { format, text_fields, id_field, max_record: 4 << 10, ..ReadOptions::default() };
        let documents = batch(lines, &options);
        for batch_bytes in [1, 7, 100] {
            assert_eq!(batch(lines, &ReadOptions { batch_bytes, ..options.clone() }), documents);
        }
        // Each record has a line of its own.
        assert!(documents.len() <= 1 + lines.iter().filter(|&&byte| byte == b'\n' || byte == b'\r').count());
    }
}

/// Markdown as prose.
pub fn markdown(bytes: &[u8]) {
    page(Markup::Markdown, bytes);
}

/// MDX as prose.
pub fn mdx(bytes: &[u8]) {
    page(Markup::Mdx, bytes);
}

/// reStructuredText as prose.
pub fn rst(bytes: &[u8]) {
    page(Markup::ReStructuredText, bytes);
}

/// AsciiDoc as prose.
pub fn asciidoc(bytes: &[u8]) {
    page(Markup::AsciiDoc, bytes);
}

/// HTML as prose.
pub fn prose_html(bytes: &[u8]) {
    page(Markup::Html, bytes);
}

/// Text without markup as prose.
pub fn plain(bytes: &[u8]) {
    page(Markup::Plain, bytes);
}

/// The documentation in a source file as prose. The first byte chooses the language.
pub fn docstrings(bytes: &[u8]) {
    const ENDINGS: [&str; 11] = ["py", "rs", "go", "js", "java", "kt", "scala", "c", "php", "swift", "cs"];
    let Some((first, rest)) = bytes.split_first() else { return };
    let ending = ENDINGS[usize::from(*first) % ENDINGS.len()];
    page(Markup::Docstrings(Language::of_path(format!("a.{ending}")).expect("a known ending")), rest);
}

/// A page as prose, whatever counts: words stand in the source in their order, and there is no more of anything than the source has
/// room for.
fn page(markup: Markup, bytes: &[u8]) {
    let source = String::from_utf8_lossy(bytes);
    let all = prose::ProseOptions { code: true, links: true, front_matter: true, licences: true, contents: true };
    for options in [prose::ProseOptions::default(), all] {
        check_places(&source, &prose::read(markup, &source, &options));
    }
}

fn check_places(source: &str, prose: &Prose) {
    let text = prose.text();
    // A reference to a character may be shorter than the characters, by a third at most; blocks are parted by a blank line.
    assert!(text.len() <= 4 * source.len(), "{} bytes of {}", text.len(), source.len());
    let mut end = 0;
    for (number, block) in prose.blocks().iter().enumerate() {
        assert_eq!(block.text.start, if number == 0 { 0 } else { end + 2 }, "{block:?}");
        assert!(!text[block.text.clone()].trim().is_empty(), "{block:?}");
        assert!(block.section.is_none_or(|section| section < number), "{block:?}");
        end = block.text.end;
    }
    assert_eq!(end, text.len());
    let (mut start, mut after) = (0, 0);
    for word in text.split_whitespace() {
        let at = word.as_ptr().addr() - text.as_ptr().addr();
        let place = prose.source_of(at..at + word.len());
        assert!(source.get(place.clone()).is_some_and(|part| !part.is_empty()), "{word} at {place:?}");
        assert!(start <= place.start && after <= place.end, "{word} at {place:?}, after {start}..{after}");
        (start, after) = (place.start, place.end);
    }
    let mut after = 0;
    for ignored in prose.ignored() {
        assert!(after <= ignored.start && source.get(ignored.clone()).is_some(), "{ignored:?}");
        after = ignored.end;
    }
    let last = Lines::new(source).position(source.len()).line;
    assert!(prose.notices().iter().all(|notice| (1..=last).contains(&notice.line())), "{:?}", prose.notices());
}

/// `dedup.toml`: what was read is written so that it is read as the same; what is wrong is reported with its line.
pub fn config(bytes: &[u8]) {
    written(bytes, |bytes| {
        Ok(config::parse(Path::new("file"), bytes)?.to_toml().expect("what was read can be written"))
    });
}

/// A baseline: the same.
pub fn baseline(bytes: &[u8]) {
    written(bytes, |bytes| Ok(baseline::render(baseline::parse(Path::new("file"), bytes)?)));
}

fn written(bytes: &[u8], read: fn(&[u8]) -> Result<String, neardups::check::Error>) {
    match read(bytes) {
        Ok(written) => assert_eq!(read(written.as_bytes()).expect("it was written to be read"), written),
        Err(error) => {
            let message = error.to_string();
            let line = message.strip_prefix("file:").and_then(|rest| rest.split(':').next()?.parse::<usize>().ok());
            let lines = 1 + bytes.iter().filter(|&&byte| byte == b'\n').count();
            assert!(line.is_some_and(|line| (1..=lines).contains(&line)), "{message}");
        }
    }
}

/// The log of an index: an even first byte is followed by the file itself, an odd one by changes to a good file, each two bytes of
/// place and one to put there; the last two bytes tell its length. What opens, opens again with nothing to repair.
pub fn index(bytes: &[u8]) {
    let Some((first, rest)) = bytes.split_first() else { return };
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let path = folder.path().join("index");
    let file = if first % 2 == 0 { rest.to_vec() } else { changed(good(&path), rest) };
    std::fs::write(&path, &file).expect("a file can be written");
    let plan = plan();
    let Ok((index, _)) = open(&path, &plan) else { return };
    let documents = index.len();
    drop(index);
    let (index, repair) = open(&path, &plan).expect("it opened before");
    assert_eq!((index.len(), repair), (documents, None));
}

fn changed(mut file: Vec<u8>, changes: &[u8]) -> Vec<u8> {
    let word = |bytes: &[u8]| usize::from(u16::from_le_bytes([bytes[0], bytes[1]]));
    let changes = changes.chunks_exact(3);
    if let [low, high] = *changes.remainder() {
        file.resize(word(&[low, high]).min(2 * file.len()), 0);
    }
    for change in changes {
        if let Some(byte) = file.get_mut(word(change)) {
            *byte = change[2];
        }
    }
    file
}

fn plan() -> Plan {
    let settings = Settings::from_pairs([("shingle", "2")]);
    let factory = Entry::by_name("minhash").and_then(|entry| entry.factory(settings)).expect("the settings are good");
    Plan::new(&factory, Arc::new(Word)).and_then(|plan| plan.with_seed(Seed::Fixed(0))).expect("it goes with a stream")
}

fn open(path: &Path, plan: &Plan) -> Result<(Index, Option<neardups::index::Repair>), neardups::Error> {
    Index::open(path, plan, &index::IndexOptions { sync: Sync::Off, ..index::IndexOptions::default() })
}

/// An index of three documents.
fn good(path: &Path) -> Vec<u8> {
    let plan = plan();
    let mut index = open(path, &plan).expect("it is made").0;
    let mut signer = index.signer();
    for text in ["a heron stood in the shallows", "the library opens at nine", "ten beech trees fell"] {
        index.decide(text, &signer.sign(text), 0).expect("it is written");
    }
    index.commit().expect("it is written");
    drop(index);
    std::fs::read(path).expect("it is there")
}

/// Entries of an index with right checksums, so that what is changed reaches the parser. The first byte says of which algorithm the
/// header is; behind it come entries, each with its length in a byte, or in two if that is 255. An entry of length 0 is followed by two
/// bytes, which change a byte of a good record of that algorithm: where, and to what. What `verify` finds whole, opens; what opens can be
/// asked, compacted and written to; nothing panics.
pub fn index_entries(bytes: &[u8]) {
    let Some((&first, mut rest)) = bytes.split_first() else { return };
    let algorithms = algorithms();
    let (plan, good) = &algorithms[usize::from(first) % algorithms.len()];
    let mut file = good.header.clone();
    while let Some((&length, behind)) = rest.split_first() {
        rest = behind;
        let mut length = usize::from(length);
        if length == 0 {
            let [at, value, behind @ ..] = rest else { break };
            rest = behind;
            let mut record = good.record.clone();
            let at = usize::from(*at) % record.len();
            record[at] = *value;
            framed(&record, &mut file);
            continue;
        }
        if length == 255
            && let [low, high, behind @ ..] = rest
        {
            (length, rest) = (usize::from(u16::from_le_bytes([*low, *high])), behind);
        }
        let (entry, behind) = rest.split_at(length.min(rest.len()));
        rest = behind;
        framed(entry, &mut file);
    }
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let path = folder.path().join("index");
    std::fs::write(&path, &file).expect("a file can be written");
    let is_whole = index::inspect(&path).is_ok_and(|summary| summary.torn.is_none());
    let signature = Index::in_memory(plan, index::Limits::default()).signer().sign(TEXT);
    for (mode, window) in [(index::Mode::Query, None), (index::Mode::Filter, Some(2)), (index::Mode::Filter, None)] {
        let limits = index::Limits { window, expire: window, ..index::Limits::default() };
        let options = index::IndexOptions { sync: Sync::Off, mode, limits, ..index::IndexOptions::default() };
        let opened = Index::open(&path, plan, &options);
        assert!(opened.is_ok() || !is_whole, "{:?}", opened.err().map(|error| error.to_string()));
        let Ok((mut index, _)) = opened else { continue };
        for (id, now) in [("a", 1), ("x", 1 << 40), ("a", 0)] {
            index.decide(id, &signature, now).expect("it is decided on");
        }
        index.commit().expect("it is written");
    }
    _ = index::remove(&path, ["x".to_string()].into());
    for damaged in [false, true] {
        let outdated = index::Outdated { before: 2, window: Some(2), damaged };
        let compacted = index::compact(&path, outdated);
        assert!(compacted.is_ok() || !(is_whole || damaged), "{:?}", compacted.err().map(|error| error.to_string()));
        if compacted.is_ok() {
            assert!(index::inspect(&path).is_ok_and(|summary| summary.torn.is_none()));
        }
    }
}

const TEXT: &str = "the heron was in the shallows and the library is to open at nine and there were ten beech trees";

/// What an index of an algorithm begins with, and a record of it.
struct Good {
    header: Vec<u8>,
    record: Vec<u8>,
}

/// An algorithm of each kind of record.
fn algorithms() -> &'static [(Plan, Good)] {
    static ALGORITHMS: std::sync::OnceLock<Vec<(Plan, Good)>> = std::sync::OnceLock::new();
    ALGORITHMS.get_or_init(|| {
        let settings: &[(&str, &[(&'static str, &'static str)])] = &[
            ("minhash", &[("shingle", "2")]),
            ("minhash", &[("shingle", "2"), ("exact", "true")]),
            ("minhash", &[("shingle", "2"), ("supershingles", "6x14")]),
            ("simhash", &[("force", "true")]),
            ("projection", &[]),
            ("projection", &[("cosine", "0.9")]),
            ("spotsigs", &[]),
        ];
        settings.iter().map(|(name, settings)| algorithm(name, settings)).collect()
    })
}

fn algorithm(name: &str, settings: &[(&'static str, &'static str)]) -> (Plan, Good) {
    let settings = Settings::from_pairs(settings.iter().copied());
    let factory = Entry::by_name(name).and_then(|entry| entry.factory(settings)).expect("the settings are good");
    let plan = Plan::new(&factory, Arc::new(Word))
        .and_then(|plan| plan.with_seed(Seed::Fixed(0)))
        .expect("it goes with a stream");
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let path = folder.path().join("index");
    let mut index = open(&path, &plan).expect("it is made").0;
    let start = index.bytes_stored() as usize;
    index.decide("a", &index.signer().sign(TEXT), 1).expect("it is written");
    index.commit().expect("it is written");
    let file = std::fs::read(&path).expect("it is there");
    let first = 60 + u32::from_le_bytes([file[16], file[17], file[18], file[19]]) as usize;
    let (header, mut at) = (file[..first].to_vec(), start.max(first));
    // The first frame may be a mark, whose record is a byte.
    while file[at..at + 4] == [1, 0, 0, 0] {
        at += 17;
    }
    let length = u32::from_le_bytes([file[at], file[at + 1], file[at + 2], file[at + 3]]) as usize;
    (plan, Good { header, record: file[at + 8..at + 8 + length].to_vec() })
}

/// Appends an entry with its checksums.
fn framed(record: &[u8], file: &mut Vec<u8>) {
    let (place, length) = (file.len() as u64, (record.len() as u32).to_le_bytes());
    file.extend_from_slice(&length);
    file.extend_from_slice(&(xxh3_64_with_seed(&length, place) as u32).to_le_bytes());
    file.extend_from_slice(record);
    file.extend_from_slice(&xxh3_64_with_seed(record, place).to_le_bytes());
}

/// The documents of a file, as `id|text`.
fn batch(bytes: &[u8], options: &ReadOptions) -> Vec<String> {
    let mut input =
        Input::new(vec![PathBuf::from("-")], options.clone()).with_stdin(Box::new(Cursor::new(bytes.to_vec())));
    let mut documents = Vec::new();
    input.read(&mut |batch| {
        batch.documents(&mut |result| {
            if let Ok(document) = result {
                documents.push(format!("{}|{}", document.id, document.text));
            }
        });
        ControlFlow::Continue(())
    });
    documents
}

/// Gives few bytes at a time.
struct Dripping<'a>(&'a [u8]);

impl Read for Dripping<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let n = buffer.len().min(97);
        self.0.read(&mut buffer[..n])
    }
}

/// The same of a stream, and every record that is not broken, each with `end` behind it.
fn stream(bytes: &[u8], options: &ReadOptions, end: &[u8]) -> (Vec<String>, Vec<u8>) {
    let (mut documents, mut passed) = (Vec::new(), Vec::new());
    let Ok(mut chunks) = Live::new(Dripping(bytes), "-", options).open() else { return (documents, passed) };
    while let Ok(Some(chunk)) = chunks.next_chunk() {
        let Ok(chunk) = chunk else { continue };
        chunk.documents(&mut |record, result| {
            match &result {
                Err(problem) if problem.severity != Severity::Skipped => return,
                Ok(Some(document)) => documents.push(format!("{}|{}", document.id, document.text)),
                _ => {}
            }
            passed.extend_from_slice(record);
            passed.extend_from_slice(end);
        });
    }
    (documents, passed)
}
