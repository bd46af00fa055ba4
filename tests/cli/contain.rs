//! Documents that are contained in others: their passages, what may not change them, and planted ones.

use std::collections::BTreeMap;
use std::fs;

use neardups::tokenizer::Word;

use crate::support::plain::token_texts;

use super::records::{self, Coverage};
use super::shell::{Shell, root};

#[test]
fn passages_cut_the_same_words() {
    let found = Shell::new().dedup("contain fixtures/english/docs --min-coverage 0.05 -q").done();
    let containments = records::containments(&found);
    assert!(containments.len() >= 20, "{}", containments.len());
    for containment in &containments {
        let other = containment.r#in.as_ref().unwrap();
        let [text, other] = [&containment.id, other].map(|id| fs::read_to_string(root().join(id)).unwrap());
        assert!(!containment.passages.is_empty());
        for passage in &containment.passages {
            let words = token_texts(&Word, &text[passage.start..passage.end]);
            assert_eq!(words, token_texts(&Word, &other[passage.in_start..passage.in_end]));
            assert!(words.len() >= 13, "{words:?}");
        }
    }
}

#[test]
fn threads_and_memory_change_nothing() {
    let shell = Shell::new();
    let sides = ["fixtures/english/docs", "fixtures/english/docs --against fixtures/markdown/docs"];
    for side in sides {
        let run =
            |tuning: &str| shell.dedup(&format!("contain {side} --shingle 2 --min-coverage 0.02 -q {tuning}")).done();
        let expected = run("-j1");
        assert!(records::containments(&expected).len() > 10);
        for tuning in ["-j2", "-j5", "--memory 0", "--memory 1M -j3", "--seed 7"] {
            assert!(run(tuning) == expected, "{side} {tuning}");
        }
    }
}

/// `scan --measure containment` has every two documents once, with the larger of their two shares, whatever the threads and memory.
fn pairs_of_a_scan(shell: &Shell, side: &str, coverages: &[records::Coverage], places: &BTreeMap<&str, usize>) {
    let mut expected: BTreeMap<[usize; 2], f64> = BTreeMap::new();
    for Coverage { id, r#in, coverage, .. } in coverages {
        let [one, other] = [id, r#in].map(|id| places[&**id]);
        let larger = expected.entry([one.min(other), one.max(other)]).or_default();
        *larger = larger.max(*coverage);
    }
    let run = |tuning: &str| {
        let flags = "--measure containment --shingle 2 --threshold 0.02 -q";
        shell.dedup(&format!("scan {side} {flags} {tuning}")).done()
    };
    let found = run("-j1");
    for tuning in ["-j3", "--memory 0", "--memory 1M -j2", "--seed 7"] {
        assert!(run(tuning) == found, "{tuning}");
    }
    let found = records::pairs(&found);
    let pair = |pair: &records::Pair| ([&pair.a, &pair.b].map(|id| places[&**id]), pair.similarity().parse().unwrap());
    assert!(found.len() > 10);
    assert_eq!(found.iter().map(pair).collect::<Vec<_>>(), expected.into_iter().collect::<Vec<_>>());
}

/// The pairs have the best one of each document, and a document is dropped in favour of one that is kept.
#[test]
fn the_kinds_of_output_agree() {
    let shell = Shell::new();
    for side in ["fixtures/english/docs", "fixtures/english/docs --against fixtures/markdown/docs"] {
        let run = |emit: &str, tuning: &str| {
            let flags = "--shingle 2 --min-coverage 0.02 -q";
            shell.dedup(&format!("contain {side} {flags} --emit {emit} {tuning}")).done()
        };
        let (pairs, verdicts) = (run("pairs", "-j1"), run("verdicts", "-j1"));
        for tuning in ["-j3", "--memory 0", "--memory 1M -j2", "--seed 7"] {
            assert!(run("pairs", tuning) == pairs && run("verdicts", tuning) == verdicts, "{side} {tuning}");
        }
        let (pairs, verdicts) = (records::coverages(&pairs), records::verdicts(&verdicts));
        let places: BTreeMap<&str, usize> = verdicts.iter().zip(0..).map(|(verdict, at)| (&*verdict.id, at)).collect();
        assert!(pairs.is_sorted_by_key(|pair| places[&*pair.id]));
        let best = |id: &str, may_be: &dyn Fn(&str) -> bool| {
            let of_document = pairs.iter().filter(|pair| pair.id == id && may_be(&pair.r#in));
            of_document.map(|pair| pair.coverage).max_by(f64::total_cmp)
        };
        for found in records::containments(&run("containments", "")) {
            assert_eq!(best(&found.id, &|_| true), Some(found.coverage));
        }
        if !side.contains("against") {
            pairs_of_a_scan(&shell, side, &pairs, &places);
        }
        let is_kept = |id: &str| places.get(id).is_none_or(|&at| verdicts[at].keep);
        assert!(verdicts.iter().filter(|verdict| !verdict.keep).count() > 5);
        for verdict in &verdicts {
            let Some(other) = &verdict.r#in else { continue };
            assert!(is_kept(other), "{other} is not kept");
            let pair = pairs.iter().find(|pair| pair.id == verdict.id && pair.r#in == *other);
            assert_eq!(verdict.coverage, pair.map(|pair| pair.coverage));
        }
    }
}

/// The kept records of each format are those of the verdicts, byte for byte.
#[test]
fn kept_records_are_those_of_the_verdicts() {
    let shell = Shell::new();
    let texts = [
        "one two three four",
        "one two three four five",
        "two three four",
        "six",
        "one two three four five",
        "seven eight nine",
    ];
    let line = |(number, text): (usize, &&str)| format!("{{ \"text\": \"{text}\",\t\"id\":\"d{number}\"}}\r\n");
    let lines: Vec<String> = texts.iter().enumerate().map(line).collect();
    shell.write("in.jsonl", lines.concat());
    shell.sh("gzip -k in.jsonl").done();
    for input in ["in.jsonl", "in.jsonl.gz", "- < in.jsonl"] {
        let verdicts =
            shell.sh(&format!("dedup contain {input} --shingle 3 --min-coverage 1 --emit verdicts -q")).done();
        let kept: Vec<bool> = records::verdicts(&verdicts).iter().map(|verdict| verdict.keep).collect();
        assert_eq!(kept, [false, true, false, true, false, true]);
        let expected: String =
            lines.iter().zip(kept).filter(|(_, keep)| *keep).map(|(line, _)| line.as_str()).collect();
        let found = shell.sh(&format!("dedup contain {input} --shingle 3 --min-coverage 1 --emit kept -q")).done();
        assert_eq!(found, expected);
    }
}

/// 200 questions of 60 words, each in one of 4,000 documents; and 200 that are in none.
#[test]
fn planted_questions_are_found() {
    let shell = Shell::new();
    let words = |seed: u64, count: u64| -> String {
        (0..count).map(|n| format!("word{} ", neardups::hash::mix(seed << 20 | n) % 5000)).collect()
    };
    let question = |number: u64| words(1_000_000 + number, 60);
    let record = |id: String, text: String| format!("{{\"id\":\"{id}\",\"text\":\"{text}\"}}\n");
    let page = |number: u64| match number % 20 {
        7 => record(format!("p{number}"), words(number, 150) + &question(number / 20) + &words(number + 5000, 100)),
        _ => record(format!("p{number}"), words(number, 300)),
    };
    fs::write(shell.folder().join("train.jsonl"), (0..4000).map(page).collect::<String>()).unwrap();
    let questions = (0..400).map(|number| record(format!("q{number}"), question(number))).collect::<String>();
    fs::write(shell.folder().join("test.jsonl"), questions).unwrap();
    for preset in ["gpt-3", "palm", "llama-2"] {
        let found = shell.dedup(&format!("contain test.jsonl --against train.jsonl --preset {preset} -q")).done();
        let found = records::containments(&found);
        assert_eq!(found.len(), 200, "{preset}");
        for (number, containment) in found.iter().enumerate() {
            let expected = (format!("q{number}"), format!("p{}", 20 * number + 7));
            assert_eq!((&containment.id, containment.r#in.as_ref()), (&expected.0, Some(&expected.1)));
            assert_eq!((containment.coverage, containment.words, containment.passages.len()), (1.0, 60, 1));
        }
    }
}

/// `--of reference` leaves out what the pairs of the reference in the documents name, each with its best pair, whatever the threads and
/// memory; and its output is complete, or that of another run.
#[test]
fn shares_of_the_reference_are_those_of_swapped_pairs() {
    let shell = Shell::new();
    let (docs, others) = ("fixtures/english/docs", "fixtures/markdown/docs");
    let bounds = "--shingle 2 --min-coverage 0.02 -q";
    let pairs = shell.dedup(&format!("contain {others} --against {docs} --emit pairs {bounds}")).done();
    let mut best: BTreeMap<String, (String, f64)> = BTreeMap::new();
    for Coverage { id, r#in, coverage, .. } in records::coverages(&pairs) {
        let known = best.entry(r#in).or_insert((id.clone(), 0.0));
        if coverage > known.1 {
            *known = (id, coverage);
        }
    }
    assert!(best.len() > 5, "{}", best.len());
    let run = |folder: &str, flags: &str| {
        shell.dedup(&format!("contain {docs} --against {others} --of {flags} {bounds} --output {folder}"))
    };
    let removed = |folder: &str| fs::read_to_string(shell.folder().join(folder).join("_dedup/removed.jsonl")).unwrap();
    run("kept", "reference -j1").done();
    let expected = removed("kept");
    for (number, tuning) in ["-j2", "-j5", "--memory 0", "--memory 1M -j3", "--seed 7"].iter().enumerate() {
        let folder = format!("kept{number}");
        run(&folder, &format!("reference {tuning}")).done();
        assert!(removed(&folder) == expected, "{tuning}");
    }
    let found: BTreeMap<String, (String, f64)> = records::removed(&expected)
        .into_iter()
        .map(|line| {
            let share = line.coverage.unwrap().get().parse().unwrap();
            (line.id, (line.contains.unwrap().id, share))
        })
        .collect();
    assert_eq!(found, best);
    let refused = run("kept", "document");
    assert_eq!(refused.status, 2);
    assert!(refused.stderr.contains("another side of the coverage"), "{}", refused.stderr);
}
