//! What fuzzing found, and some of what it tried, through the same functions on every run of the tests.

mod entries;

use std::fs;
use std::path::Path;

fn check(target: &str, entry: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fuzz/corpus").join(target);
    let mut files: Vec<_> =
        fs::read_dir(&folder).expect("there is a corpus").map(|file| file.unwrap().path()).collect();
    files.sort();
    assert!(files.len() > 10, "{} has {} files", folder.display(), files.len());
    for file in files {
        let bytes = fs::read(&file).expect("it can be read");
        // Without this the message of a failure would not say which.
        let result = std::panic::catch_unwind(|| entry(&bytes));
        assert!(result.is_ok(), "{}", file.display());
    }
}

#[test]
fn archives() {
    check("warc", entries::warc);
}

#[test]
fn pages() {
    check("html", entries::html);
}

#[test]
fn json_lines() {
    check("jsonl", entries::jsonl);
}

#[test]
fn logs_of_an_index() {
    check("index", entries::index);
}

#[test]
fn entries_of_an_index() {
    check("index_entries", entries::index_entries);
}

#[test]
fn records_with_delimiters() {
    check("csv", entries::csv);
}

#[test]
fn prose_of_markdown() {
    check("markdown", entries::markdown);
}

#[test]
fn prose_of_mdx() {
    check("mdx", entries::mdx);
}

#[test]
fn prose_of_restructuredtext() {
    check("rst", entries::rst);
}

#[test]
fn prose_of_asciidoc() {
    check("asciidoc", entries::asciidoc);
}

#[test]
fn prose_of_html() {
    check("prose_html", entries::prose_html);
}

#[test]
fn prose_of_plain_text() {
    check("plain", entries::plain);
}

#[test]
fn prose_of_docstrings() {
    check("docstrings", entries::docstrings);
}

#[test]
fn configurations() {
    check("config", entries::config);
}

#[test]
fn baselines() {
    check("baseline", entries::baseline);
}
