//! Passages that repeat: their places, and what may not change them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use neardups::tokenizer::Word;
use serde_json::Value;

use crate::support::plain::token_texts;

use super::records;
use super::shell::{Shell, root};

#[test]
fn places_cut_the_same_words() {
    let found = Shell::new().dedup("passages fixtures/english/docs --exact --min-words 20 -q").done();
    let passages = records::repeated(&found);
    assert!(passages.len() > 20, "{}", passages.len());
    for passage in &passages {
        let expected = token_texts(&Word, &passage.text);
        assert_eq!(expected.len() as u64, passage.words);
        for (number, place) in passage.places.iter().enumerate() {
            let text = fs::read_to_string(root().join(&place.id)).unwrap();
            let cut = &text[place.start..place.end];
            assert_eq!(place.similarity, 1.0);
            assert!(number > 0 || cut == passage.text);
            assert_eq!(token_texts(&Word, cut), expected, "{}", place.id);
        }
    }
}

#[test]
fn threads_and_memory_change_no_passages() {
    let shell = Shell::new();
    let flags = ["--exact", "", "--exact --min-documents 2", "--min-documents 2"];
    for (emit, flags) in ["passages", "pairs", "spans"].iter().flat_map(|emit| flags.map(|flags| (*emit, flags))) {
        let run = |tuning: &str| {
            shell
                .dedup(&format!("passages fixtures/english/docs {flags} --min-words 10 --emit {emit} -q {tuning}"))
                .done()
        };
        let expected = run("-j1");
        match emit {
            "spans" => assert!(records::spans(&expected).len() > 10),
            "pairs" => assert!(records::shared(&expected).len() > 10),
            _ => assert!(records::repeated(&expected).len() > 10),
        }
        for tuning in ["-j2", "-j5", "--memory 0", "--memory 1M -j3"] {
            assert!(run(tuning) == expected, "{emit} {flags} {tuning}");
        }
        assert!(!flags.contains("--exact") || run("--seed 7") == expected, "{emit} --seed");
    }
}

/// What is in too few documents is left out, and the rest is as it was; whatever is listed, all places count.
#[test]
fn passages_in_few_documents_are_left_out() {
    let shell = Shell::new();
    // Copies of a paragraph with different edits, some of them twice in a document; and one paragraph in one document.
    let word =
        |copy: usize, at: usize| if at % 9 == copy % 9 { format!("new{copy}x{at}") } else { format!("word{at}") };
    let paragraph = |copy: usize| (0..60).map(|at| word(copy, at)).collect::<Vec<String>>().join(" ");
    let twice = |copy: usize| [paragraph(copy), format!("between{copy}"), paragraph(copy + 1)].join(" ");
    let alone = (0..60).map(|at| format!("alone{at} ")).collect::<String>();
    let texts = (0..40).map(|copy| if copy % 3 == 0 { twice(copy) } else { paragraph(copy) });
    let texts: Vec<String> = texts.chain([alone.repeat(2)]).collect();
    let line = |(id, text): (usize, &String)| format!("{{\"id\":\"{}\",\"text\":\"{text}\"}}\n", id % 30);
    shell.write("in.jsonl", texts.iter().enumerate().map(line).collect::<String>());
    for (input, flags) in [
        ("fixtures/english/docs", "--exact --min-words 8"),
        ("fixtures/english/docs", "--min-words 10"),
        ("in.jsonl", "--exact --min-words 6"),
        ("in.jsonl", "--min-words 40"),
    ] {
        let run = |more: &str| {
            let run = shell.dedup(&format!("passages {input} {flags} {more}"));
            assert_eq!(run.status, 0, "{}", run.stderr);
            (run.stdout, run.stderr)
        };
        let rows = |output: &str| -> Vec<Value> {
            let mut rows: Vec<Value> = output.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
            rows.iter_mut().for_each(|row| row["id"] = Value::Null);
            rows
        };
        let (all, _) = run("--max-places 1000000");
        for passage in records::repeated(&all) {
            let documents: BTreeSet<_> = passage.places.iter().map(|place| (&place.id, &place.at)).collect();
            assert_eq!((passage.count, passage.documents), (passage.places.len() as u64, documents.len() as u64));
        }
        let all = rows(&all);
        let mut numbers = BTreeSet::new();
        for least in [2, 3, 20, 100] {
            let expected: Vec<&Value> =
                all.iter().filter(|passage| passage["documents"].as_u64().unwrap() >= least).collect();
            let (found, stderr) = run(&format!("--max-places 1000000 --min-documents {least}"));
            assert!(rows(&found).iter().eq(expected.iter().copied()), "{input} {flags} {least}");
            let fewer = all.len() - expected.len();
            let line = format!("{fewer} passage");
            let end = format!("in fewer than {least} documents (--min-documents)");
            let is_reported = stderr.lines().any(|own| own.contains(&line) && own.ends_with(&end));
            assert_eq!(is_reported, fewer > 0, "{line} {end}: {stderr}");
            let counts = |row: &Value| [&row["count"], &row["documents"], &row["text"]].map(Value::to_string);
            let (short, _) = run(&format!("--max-places 1 --min-documents {least}"));
            assert!(
                rows(&short).iter().map(counts).eq(expected.iter().copied().map(counts)),
                "{input} {flags} {least}"
            );
            numbers.insert(expected.len());
        }
        assert!(numbers.len() >= 2, "{input} {flags}: {numbers:?} of {}", all.len());
    }
}

/// A passage of which a word in ten is changed, in other documents: found with its edits, and similar enough.
#[test]
fn passages_with_edits() {
    let shell = Shell::new();
    let text = |number: usize, copy: usize| {
        let word = |at: usize| match copy {
            1.. if at % 10 == 5 => format!("other{copy}x{at}"),
            _ => format!("word{number}x{at}"),
        };
        (0..60).map(word).collect::<Vec<String>>().join(if copy == 2 { "\n" } else { " " })
    };
    let record =
        |id: &str, text: &str| format!("{{\"id\":\"{id}\",\"text\":{}}}\n", serde_json::to_string(text).unwrap());
    let copies: Vec<String> =
        (0..4).map(|copy| record(&format!("{copy}"), &format!("Of {copy}: {} end{copy}", text(1, copy)))).collect();
    shell.write("in.jsonl", copies.concat() + &record("4", &text(2, 0)));
    let passages = records::repeated(&shell.dedup("passages in.jsonl -q").done());
    let [passage] = &passages[..] else { panic!("{passages:?}") };
    let places: Vec<(&str, f64)> = passage.places.iter().map(|place| (&*place.id, place.similarity)).collect();
    // The four words after the last edit are too few to make up for it.
    let changed = 50.0 / 55.0;
    assert_eq!((passage.words, passage.count), (55, 4));
    assert_eq!(places, [("0", 1.0), ("1", changed), ("2", changed), ("3", changed)]);
    assert!(shell.dedup("passages in.jsonl -q --similarity 0.95").done().is_empty());
    assert!(shell.dedup("passages in.jsonl -q --exact").done().is_empty());
}

/// The document that has the first place of a passage, with each other one that has a place of it.
#[test]
fn pairs_are_those_of_the_passages() {
    let shell = Shell::new();
    for flags in ["", "--max-places 3", "--min-documents 3"] {
        let run = |emit: &str| {
            shell
                .dedup(&format!("passages fixtures/english/docs --exact --min-words 10 --emit {emit} -q {flags}"))
                .done()
        };
        let mut expected = BTreeMap::<(String, String), Vec<[usize; 4]>>::new();
        for passage in records::repeated(&run("passages")) {
            let first = &passage.places[0];
            for place in passage.places.iter().filter(|place| place.id != first.id) {
                let ranges = [place.start, place.end, first.start, first.end];
                expected.entry((first.id.clone(), place.id.clone())).or_default().push(ranges);
            }
        }
        expected.values_mut().for_each(|passages| passages.sort_unstable());
        let pairs = records::shared(&run("pairs"));
        assert!(pairs.is_sorted_by_key(|pair| (pair.a.clone(), pair.b.clone())));
        assert_eq!(pairs.len(), expected.len());
        for pair in pairs {
            let found: Vec<[usize; 4]> =
                pair.passages.iter().map(|at| [at.b_start, at.b_end, at.a_start, at.a_end]).collect();
            assert_eq!(expected[&(pair.a, pair.b)], found);
        }
    }
}
