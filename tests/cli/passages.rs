//! Passages that repeat: their places, and what may not change them.

use std::collections::BTreeMap;
use std::fs;

use neardups::tokenizer::Word;

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
    for (emit, flags) in ["passages", "pairs", "spans"].iter().flat_map(|emit| [(*emit, "--exact"), (*emit, "")]) {
        let run = |tuning: &str| {
            shell
                .dedup(&format!("passages fixtures/english/docs {flags} --min-words 10 --emit {emit} -q {tuning}"))
                .done()
        };
        let expected = run("-j1");
        match emit {
            "spans" => assert!(records::spans(&expected).len() > 10),
            "pairs" => assert!(records::shared(&expected).len() > 10),
            _ => assert!(records::repeated(&expected).len() >= 20),
        }
        for tuning in ["-j2", "-j5", "--memory 0", "--memory 1M -j3"] {
            assert!(run(tuning) == expected, "{emit} {flags} {tuning}");
        }
        assert!(flags.is_empty() || run("--seed 7") == expected, "{emit} --seed");
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
    for flags in ["", "--max-places 3"] {
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
