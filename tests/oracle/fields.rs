//! Pages in fields of records against the same pages in files.

use neardups::source::{Input, PageText, ReadOptions, Source, TextFields};
use neardups::{MinHash, Scan};
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// The texts of the documents of a path, in their order, and the number of pages without a main text.
fn texts(path: &Path, options: &ReadOptions) -> (Vec<String>, usize) {
    let (mut texts, mut problems) = (Vec::new(), 0);
    Input::new(vec![path.to_path_buf()], options.clone()).read(&mut |batch| {
        batch.documents(&mut |document| match document {
            Ok(document) => texts.push(document.text.into_owned()),
            Err(problem) => {
                assert!(problem.message.starts_with("no main text"), "{problem}");
                problems += 1;
            }
        });
        ControlFlow::Continue(())
    });
    (texts, problems)
}

/// The pages of the fixtures that are UTF-8.
fn pages() -> Vec<String> {
    let mut folders = vec![PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("fixtures/html")];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if entry.is_dir() {
                folders.push(entry);
            } else if entry.extension().is_some_and(|extension| extension == "html") {
                files.push(entry);
            }
        }
    }
    files.sort();
    let pages: Vec<String> = files.iter().filter_map(|file| String::from_utf8(fs::read(file).unwrap()).ok()).collect();
    assert!(pages.len() >= 6, "{files:?}");
    pages
}

fn compare(pages: &[String], page_text: PageText) {
    let folder = tempfile::tempdir().unwrap();
    let (files, lines, rows) =
        (folder.path().join("pages"), folder.path().join("a.jsonl"), folder.path().join("a.csv"));
    fs::create_dir(&files).unwrap();
    let (mut json, mut csv) = (String::new(), String::from("n;text\n"));
    for (n, page) in pages.iter().enumerate() {
        fs::write(files.join(format!("{n:03}.html")), page).unwrap();
        json += &format!("{}\n", serde_json::json!({"before": n, "text": page}));
        csv += &format!("{n};\"{}\"\n", page.replace('"', "\"\""));
    }
    fs::write(&lines, json).unwrap();
    fs::write(&rows, csv).unwrap();
    let options = ReadOptions { page_text, ..ReadOptions::default() };
    let expected = texts(&files, &options);
    let in_fields = ReadOptions { pages_in_fields: true, delimiter: Some(b';'), ..options };
    assert_eq!(texts(&lines, &in_fields), expected);
    assert_eq!(texts(&rows, &in_fields), expected);
    let pairs = |path: &Path| {
        let scan = Scan::new(MinHash::builder().threshold(0.5).build().unwrap());
        let outcome = scan.run(&mut Input::new(vec![path.to_path_buf()], in_fields.clone())).unwrap();
        outcome.pairs().map(Result::unwrap).map(|pair| pair.similarity.value()).collect::<Vec<_>>()
    };
    assert!(!pairs(&files).is_empty());
    assert_eq!(pairs(&lines), pairs(&files));
}

#[test]
fn pages_in_fields_have_the_texts_and_pairs_of_those_in_files() {
    compare(&pages(), PageText::All);
    if cfg!(feature = "main-content") {
        compare(&pages(), PageText::Main);
    }
}

#[test]
fn several_columns_of_parquet_have_the_texts_of_the_same_fields_of_json() {
    let fixture = |path: &str| Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(path);
    for fields in ["meta.title,doc.body", "doc.body,meta.title,doc.id", "meta.url,doc.body"] {
        let text_fields = TextFields::parse("text-field", [fields]).unwrap();
        let options = ReadOptions { text_fields, ..ReadOptions::default() };
        let expected = texts(&fixture("jsonl/nested/nested.jsonl"), &options);
        assert_eq!(expected.0.len(), 15);
        // The longest column decides where ranges of rows end, and the others follow.
        for batch_bytes in [1, 100, 1000, 1 << 20] {
            let found = texts(&fixture("parquet/docs"), &ReadOptions { batch_bytes, ..options.clone() });
            assert_eq!(found, expected, "{fields} in batches of {batch_bytes} bytes");
        }
    }
}
