//! The output has the same bytes for any number of threads, size of batches and memory, and the same pairs for any
//! order of the documents.

use crate::support::corpus::{Text, related, with_articles, words};
use crate::support::random::Random;
use crate::support::scanning::{Batched, factory, json, outcome, unordered};
use neardups::algorithm::{ALGORITHMS, AlgorithmFactory, Entry, TableFactory};
use neardups::engine::{Observer, Outcome, ScanOptions, Stage, scan};
use neardups::source;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

const MEMORY: [u64; 4] = [0, 1, 20_000, 1 << 30];

/// Documents long enough for every algorithm, with near-duplicates, copies and empty ones.
fn corpus(seed: u64, count: usize) -> Vec<Text> {
    with_articles(related(&mut Random::new(seed), count, 300))
}

/// The algorithm with settings that find some pairs in the corpus.
fn some_pairs(entry: &Entry) -> TableFactory {
    factory(entry.name, if entry.uses("distance") { &[("distance", "8")] } else { &[] })
}

#[test]
fn threads_batches_and_memory_do_not_show() {
    let documents = corpus(1, 300);
    for entry in ALGORITHMS {
        let factory = some_pairs(entry);
        let run = |threads, size, memory| {
            let options = ScanOptions { threads, memory, ..ScanOptions::default() };
            let mut source = Batched { documents: &documents, size };
            let outcome = scan(&mut source, None, &factory, &options, &()).unwrap();
            (json(&outcome), outcome.report.counts, outcome.report.parameters)
        };
        let expected = run(1, 1000, 1 << 30);
        assert!(expected.1.pairs > Some(100));
        for threads in 1..=8 {
            for size in [1, 7, 64, 1000] {
                let memory = MEMORY[(threads + size) % 4];
                assert!(run(threads, size, memory) == expected, "{}: {threads}, {size}, {memory}", entry.name);
            }
        }
        for memory in MEMORY {
            assert!(run(2, 7, memory) == expected, "{}: {memory} bytes", entry.name);
        }
    }
}

#[test]
fn a_reference_in_other_batches_does_not_show_either() {
    let documents = corpus(2, 240);
    let (old, new) = documents.split_at(100);
    let factory = factory("minhash", &[]);
    let run = |threads, size, memory| {
        let mut reference = Batched { documents: old, size };
        let mut source = Batched { documents: new, size: 1000 / size };
        let options = ScanOptions { threads, memory, ..ScanOptions::default() };
        json(&scan(&mut source, Some(&mut reference), &factory, &options, &()).unwrap())
    };
    let expected = run(1, 1000, 1 << 30);
    assert!(expected.lines().count() > 300);
    for (threads, size) in [(1, 1), (2, 10), (3, 40), (8, 1000), (5, 3)] {
        for memory in MEMORY {
            assert!(run(threads, size, memory) == expected, "{threads}, {size}, {memory}");
        }
    }
}

#[test]
fn files_cut_into_batches_of_any_size() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let paths: Vec<PathBuf> =
        ["english/docs", "jsonl/docs", "markdown/docs"].map(|folder| fixtures.join(folder)).into();
    let factory = factory("minhash", &[]);
    let run = |threads, batch_bytes, memory| {
        let options = source::ReadOptions { batch_bytes, ..source::ReadOptions::default() };
        let mut input = source::Input::new(paths.clone(), options);
        let options = ScanOptions { threads, memory, ..ScanOptions::default() };
        json(&scan(&mut input, None, &factory, &options, &()).unwrap())
    };
    let expected = run(1, 1 << 20, 1 << 30);
    // 7, 12 and 6 pairs, as the fixtures say, and the clusters and verdicts of four policies.
    assert_eq!(expected.lines().filter(|line| line.starts_with("{\"type\":\"pair\"")).count(), 25);
    for (threads, batch_bytes) in [(1, 0), (2, 1), (8, 100), (3, 5_000), (4, 1 << 16)] {
        for memory in MEMORY {
            assert!(run(threads, batch_bytes, memory) == expected, "{threads}, {batch_bytes}, {memory}");
        }
    }
}

#[test]
fn a_second_reading_is_made_only_without_memory() {
    let documents = corpus(3, 100);
    let run = |memory| {
        let options = ScanOptions { memory, ..ScanOptions::default() };
        let mut source = Batched { documents: &documents, size: 10 };
        scan(&mut source, None, &factory("minhash", &[]), &options, &()).unwrap().report.rereadings > 0
    };
    assert_eq!((run(0), run(1 << 30)), (true, false));
}

/// One family of documents that does not fit a portion, and many small ones. Features go to a file; where there are many keys, candidates
/// are verified in portions too, some of two blocks of the one family.
#[test]
fn portions_do_not_show() {
    let mut random = Random::new(5);
    let mut documents = related(&mut random, 150, 900);
    let common = words(&mut random, 900, 5000);
    for member in 0..250 {
        let mut text = common.clone();
        (0..random.below(60)).for_each(|i| text[15 * i] = format!("own{member}x{i}"));
        documents.push((format!("family/{member}"), text.join(" ")));
    }
    let mut documents = with_articles(documents);
    random.shuffle(&mut documents);
    let many_keys = &[("bands", "60"), ("rows", "4")][..];
    for (name, settings) in
        [("minhash", &[][..]), ("minhash", many_keys), ("minhash", &[("exact", "true")]), ("spotsigs", &[])]
    {
        let factory = factory(name, settings);
        let run = |memory| {
            let options = ScanOptions { threads: 2, memory, ..ScanOptions::default() };
            let mut source = Batched { documents: &documents, size: 40 };
            scan(&mut source, None, &factory, &options, &()).unwrap()
        };
        let (expected, written) = (run(1 << 30), run(100_000));
        assert!(expected.report.counts.pairs > Some(1000) && expected.report.rereadings == 0);
        assert_eq!(written.report.rereadings, 1, "{name}");
        assert!(settings != many_keys || written.report.portions > 3, "{} portions", written.report.portions);
        assert!(written.report.spilled > 1_000_000, "{name}: {} bytes", written.report.spilled);
        let bounded: Vec<Outcome> = [2_000_000, 2_500_000, 3_000_000, 4_000_000].into_iter().map(run).collect();
        let is_written = |outcome: &Outcome| outcome.report.rereadings == 1 && outcome.report.spilled > 1_000_000;
        assert!(bounded.iter().any(is_written), "{name}");
        for outcome in [written].iter().chain(&bounded) {
            assert_eq!(outcome.report.counts, expected.report.counts);
            assert!(json(outcome) == json(&expected), "{name}");
        }
    }
}

#[test]
fn the_order_of_the_documents_does_not_change_the_pairs() {
    let mut documents = corpus(4, 250);
    for entry in ALGORITHMS {
        let factory = some_pairs(entry);
        let expected = unordered(&outcome(&documents, &factory));
        assert!(expected.len() > 100);
        for seed in 0..8 {
            Random::new(seed).shuffle(&mut documents);
            assert!(unordered(&outcome(&documents, &factory)) == expected, "{} in order {seed}", entry.name);
        }
    }
}

/// What happened, in order.
#[derive(Default)]
struct Stages(Mutex<Vec<Stage>>);

impl Observer for Stages {
    fn stage(&self, stage: Stage) {
        self.0.lock().unwrap().push(stage);
    }
}

/// Long and short documents, with near-duplicates among each; more long ones than are looked at before an algorithm is
/// chosen, and more short ones than that and than there are long ones.
fn long_and_short(short_words: usize) -> (Vec<Text>, Vec<Text>) {
    let mut random = Random::new(5);
    let mut documents = |kind: &str, count: usize, length: usize| {
        let mut all: Vec<Text> = Vec::new();
        for n in 0..count {
            let mut text = words(&mut random, length, 1_000_000).join(" ");
            if n > 0 && n % 3 == 0 {
                text = random.pick(&all).1.clone();
                if random.chance(0.8) {
                    text.push_str(" postscript");
                }
            }
            all.push((format!("{kind}{n}"), text));
        }
        all
    };
    (documents("long", 1300, 150), documents("short", 2700, short_words))
}

#[test]
fn a_beginning_that_misleads_about_the_lengths_changes_nothing() {
    // From 30 tokens shingles have 3, from 10 they have 2, and below they are characters; of the long documents 5.
    for (short_words, shingles, tokenizer) in [(40, 3, None), (12, 2, None), (6, 1, Some("char:4"))] {
        let (long, short) = long_and_short(short_words);
        let run = |first: &[Text], second: &[Text], memory| -> (Outcome, Vec<Stage>) {
            let documents = [first, second].concat();
            let (stages, options) = (Stages::default(), ScanOptions { threads: 2, memory, ..ScanOptions::default() });
            let mut source = Batched { documents: &documents, size: 100 };
            let outcome = scan(&mut source, None, &factory("minhash", &[]), &options, &stages).unwrap();
            (outcome, stages.0.into_inner().unwrap())
        };
        let (expected, stages) = run(&short, &long, 1 << 30);
        assert!(!stages.contains(&Stage::ReadingAgain));
        assert_eq!(expected.report.tokenizer.as_deref(), tokenizer);
        let width = expected.report.parameters.iter().find(|row| row.name == "shingle").map(|row| &row.value);
        assert_eq!(width.and_then(|value| value.as_integer()), Some(shingles));
        let pairs = unordered(&expected);
        assert!(pairs.len() > 500);

        let mut shuffled = [&long[..], &short].concat();
        Random::new(6).shuffle(&mut shuffled);
        for memory in [0, 1 << 30] {
            let (misled, stages) = run(&long, &short, memory);
            assert!(stages.contains(&Stage::ReadingAgain));
            assert_eq!(stages.contains(&Stage::Rereading), memory == 0);
            for other in [misled, run(&short, &long, memory).0, run(&shuffled, &[], memory).0] {
                assert_eq!(other.report.parameters, expected.report.parameters);
                assert_eq!(other.report.tokenizer, expected.report.tokenizer);
                assert_eq!(other.report.median_tokens, expected.report.median_tokens);
                assert_eq!(other.report.counts, expected.report.counts);
                assert!(unordered(&other) == pairs, "shingles of {shingles}, {memory} bytes");
            }
        }
    }
}

#[test]
fn every_reading_is_announced() {
    let documents = long_and_short(40).1;
    for (algorithm, settings, countings) in [
        ("imatch", &[][..], 1),
        ("minhash", &[("exact", "true"), ("shingle", "3")], 1),
        ("minhash", &[("drop-common", "0.5"), ("shingle", "3")], 2),
        ("minhash", &[("drop-common", "0.5"), ("shingle", "3"), ("exact", "true")], 3),
        ("simhash", &[("drop-common", "0.5"), ("weights", "idf"), ("force", "true")], 3),
    ] {
        let stages = Stages::default();
        let mut source = Batched { documents: &documents, size: 100 };
        scan(&mut source, None, &factory(algorithm, settings), &ScanOptions::default(), &stages).unwrap();
        let expected = [&vec![Stage::Counting; countings][..], &[Stage::Reading, Stage::Grouping, Stage::Verifying]];
        assert_eq!(stages.0.into_inner().unwrap(), expected.concat(), "{algorithm} {settings:?}");
    }
}

#[test]
fn a_factory_that_ignores_lengths_reads_once() {
    let (long, short) = long_and_short(40);
    let documents = [long, short].concat();
    for factory in [factory("minhash", &[("shingle", "4")]), factory("simhash", &[("force", "true")])] {
        assert!(!factory.depends_on_length());
        let stages = Stages::default();
        let mut source = Batched { documents: &documents, size: 100 };
        scan(&mut source, None, &factory, &ScanOptions::default(), &stages).unwrap();
        assert_eq!(stages.0.into_inner().unwrap(), [Stage::Reading, Stage::Grouping, Stage::Verifying]);
    }
}
