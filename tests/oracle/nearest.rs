//! The most similar documents of an index, against the similarity to every document.

use crate::support::corpus::{Text, related, with_articles};
use crate::support::plain::{shared_and_either, shingles, token_texts};
use crate::support::random::Random;
use crate::support::scanning::{Method, and_all_others_of_streams, factory, made};
use neardups::algorithm::{AlgorithmFactory, CompareOn};
use neardups::index::{
    Decision, Index, IndexOptions, Limits, MEDIAN_TOKENS, Mode, Nearest, Plan, Seed, Sync, Wanted, remove,
};
use neardups::tokenizer::Word;
use std::sync::Arc;

/// With settings that some documents of the tests are alike by. The others of the table come with their defaults.
const METHODS: &[Method] = &[
    ("minhash", &[("shingle", "2"), ("threshold", "0.5")]),
    ("minhash", &[("shingle", "2"), ("exact", "true"), ("threshold", "0.5")]),
    ("simhash", &[("distance", "10")]),
    ("projection", &[]),
    ("projection", &[("cosine", "0.8")]),
    ("spotsigs", &[("min-spots", "1")]),
];

struct Stored {
    _folder: tempfile::TempDir,
    path: std::path::PathBuf,
    plan: Plan,
}

/// An index of all documents in a file, near-duplicates or not.
fn stored(documents: &[Text], factory: &dyn AlgorithmFactory) -> Stored {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.idx");
    let plan = Plan::new(factory, Arc::new(Word)).unwrap().with_seed(Seed::Fixed(0)).unwrap();
    let options = IndexOptions { mode: Mode::Add, sync: Sync::Off, ..IndexOptions::default() };
    let (mut index, _) = Index::open(&path, &plan, &options).unwrap();
    let mut signer = index.signer();
    for (id, text) in documents {
        index.decide(id, &signer.sign(text), 0).unwrap();
    }
    index.seal().unwrap();
    Stored { _folder: folder, path, plan }
}

/// Opens the index with tables in memory or on the disk.
fn opened(stored: &Stored, wanted: Wanted, tables: u64) -> Index {
    let options = IndexOptions { mode: Mode::Nearest(wanted), tables, ..IndexOptions::default() };
    Index::open(&stored.path, &stored.plan, &options).unwrap().0
}

fn asked(index: &mut Index, text: &str) -> Nearest {
    let signature = index.signer().sign(text);
    let Decision::Nearest(nearest) = index.decide("query", &signature, 0).unwrap() else {
        panic!("no decision is asked for")
    };
    nearest
}

fn shown(nearest: &Nearest) -> Vec<(String, f64)> {
    nearest.neighbours.iter().map(|neighbour| (neighbour.id.clone(), neighbour.similarity.value())).collect()
}

#[test]
fn an_exhaustive_search_finds_what_brute_force_finds() {
    let documents = with_articles(related(&mut Random::new(3), 140, 60));
    let (known, asked_for) = documents.split_at(110);
    for (name, settings) in &and_all_others_of_streams(METHODS) {
        let factory = factory(name, settings);
        let algorithm = factory.prepare(MEDIAN_TOKENS).unwrap().algorithm;
        let evidence = |text: &str| {
            let made = made(&*algorithm, &Word, 0, text);
            let words =
                if algorithm.compare_on() == CompareOn::Fingerprints { made.fingerprint.clone() } else { made.set };
            (!made.fingerprint.is_empty()).then_some(words)
        };
        let stored = stored(known, &factory);
        // Fingerprints are always all compared.
        let ways: &[bool] =
            if matches!(*name, "simhash" | "projection") && algorithm.compare_on() == CompareOn::Fingerprints {
                &[true, false]
            } else {
                &[true]
            };
        for (most, &is_exhaustive) in [1, 3, 500].into_iter().flat_map(|most| ways.iter().map(move |way| (most, way))) {
            let wanted = Wanted { most, is_exhaustive };
            let (mut index, mut on_disk) = (opened(&stored, wanted, 1 << 30), opened(&stored, wanted, 1 << 12));
            for (_, text) in asked_for {
                let mut expected: Vec<(String, f64)> = Vec::new();
                if let Some(own) = evidence(text) {
                    let all = known.iter().filter_map(|(id, text)| {
                        Some((id.clone(), algorithm.similarity(&own, &evidence(text)?)?.value()))
                    });
                    expected.extend(all.filter(|(_, similarity)| *similarity > 0.0));
                    // Stable: ties stay in input order.
                    expected.sort_by(|a, b| b.1.total_cmp(&a.1));
                    expected.truncate(most);
                }
                let found = asked(&mut index, text);
                assert_eq!(shown(&found), expected, "{name} {settings:?} of {text}");
                assert_eq!(found.is_featureless, evidence(text).is_none());
                assert_eq!(asked(&mut on_disk, text), found);
            }
        }
    }
}

/// By keys, everything at or above the threshold is found where the search is exact, and what is found is ranked right.
#[test]
fn a_search_by_keys_misses_nothing_that_the_algorithm_finds() {
    let documents = with_articles(related(&mut Random::new(4), 200, 60));
    let (known, asked_for) = documents.split_at(150);
    for (name, settings) in &and_all_others_of_streams(METHODS) {
        let factory = factory(name, settings);
        let algorithm = factory.prepare(MEDIAN_TOKENS).unwrap().algorithm;
        let is_exact = algorithm.found_with(neardups::similarity::Similarity::ONE).is_none();
        let stored = stored(known, &factory);
        let mut all = opened(&stored, Wanted { most: 500, is_exhaustive: true }, 1 << 30);
        let mut by_keys = opened(&stored, Wanted { most: 500, is_exhaustive: false }, 1 << 12);
        let mut above = 0;
        for (_, text) in asked_for {
            let (all, found) = (shown(&asked(&mut all, text)), shown(&asked(&mut by_keys, text)));
            let mut rest = all.iter();
            assert!(found.iter().all(|one| rest.any(|other| one == other)), "in the same order: {name} {settings:?}");
            let reported = all.iter().filter(|(_, similarity)| *similarity >= threshold(name, settings));
            for one in reported {
                above += 1;
                assert!(!is_exact || found.contains(one), "{name} {settings:?}: {one:?} is missing");
            }
        }
        assert!(above > 20, "{name} {settings:?}: {above} at or above the threshold");
    }
}

fn threshold(name: &str, settings: &[(&str, &str)]) -> f64 {
    match (name, settings) {
        ("simhash", _) => 54.0 / 64.0,
        ("projection", []) => 372.0 / 384.0,
        ("projection", _) => 0.8,
        _ => 0.5,
    }
}

/// The recall of MinHash is that of its bands, and the similarities are those of sets of words.
#[test]
fn neighbours_of_bands_are_found_as_often_as_pairs_are() {
    let documents = related(&mut Random::new(6), 400, 50);
    let (known, asked_for) = documents.split_at(300);
    let stored = stored(known, &factory("minhash", &[("shingle", "2"), ("threshold", "0.5")]));
    let mut index = opened(&stored, Wanted { most: 300, is_exhaustive: false }, 1 << 30);
    let sets = |text: &str| shingles(&token_texts(&Word, text), 2);
    let (mut expected, mut found) = (0, 0);
    for (_, text) in asked_for {
        let (own, neighbours) = (sets(text), shown(&asked(&mut index, text)));
        for (id, text) in known {
            let (shared, either) = shared_and_either(&own, &sets(text));
            if shared == 0 {
                continue;
            }
            let similarity = shared as f64 / either as f64;
            let neighbour = neighbours.iter().find(|(other, _)| other == id);
            assert!(neighbour.is_none_or(|(_, found)| *found == similarity), "{id}");
            expected += u32::from(similarity >= 0.6);
            found += u32::from(similarity >= 0.6 && neighbour.is_some());
        }
    }
    // The bands promise .99 at .5.
    assert!(expected > 100 && f64::from(found) >= 0.985 * f64::from(expected), "{found} of {expected}");
}

#[test]
fn removed_documents_are_no_neighbours_and_nothing_is_remembered() {
    let known: Vec<Text> = ["one two three four", "one two three five", "six seven eight nine"]
        .iter()
        .enumerate()
        .map(|(number, text)| (number.to_string(), text.to_string()))
        .collect();
    let stored = stored(&known, &factory("minhash", &[("shingle", "1")]));
    let wanted = Wanted { most: 2, is_exhaustive: true };
    let first = asked(&mut opened(&stored, wanted, 1 << 30), "one two three");
    assert_eq!(shown(&first), [("0".to_string(), 0.75), ("1".to_string(), 0.75)]);
    remove(&stored.path, ["0".to_string()].into()).unwrap();
    let mut index = opened(&stored, wanted, 1 << 30);
    assert_eq!(shown(&asked(&mut index, "one two three")), [("1".to_string(), 0.75)]);
    assert_eq!(index.len(), 2);
    assert_eq!(asked(&mut index, "...").neighbours, []);

    let mut empty = Index::in_memory(&stored.plan, Limits::default());
    let signature = empty.signer().sign("one two three");
    assert_eq!(empty.nearest(&signature, wanted, 0).unwrap(), Nearest::default());
}
