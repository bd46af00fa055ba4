//! `--drop-common` against a plain count of the features that more than a share of the documents have.

use crate::support::corpus::{Text, related, with_articles, words};
use crate::support::plain::{all_pairs, shared_and_either, shingles, token_texts};
use crate::support::random::Random;
use crate::support::scanning::{factory, features, json, outcome, outcome_against, outcome_with, pairs};
use neardups::algorithm::{ALGORITHMS, AlgorithmFactory, CompareOn, Features};
use neardups::engine::ScanOptions;
use neardups::tokenizer::{Tokenizer, Tokens, Word};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// Related documents, most of them between the menus and footers of a few templates.
fn templated(seed: u64) -> Vec<Text> {
    let mut random = Random::new(seed);
    let templates: Vec<(String, f64)> =
        [0.6, 0.25, 0.1].iter().map(|&share| (words(&mut random, 40, 50_000).join(" "), share)).collect();
    let mut documents = with_articles(related(&mut random, 150, 80));
    for (_, text) in &mut documents {
        for (template, share) in &templates {
            if random.chance(*share) {
                *text = if random.chance(0.5) { format!("{template} {text}") } else { format!("{text} {template}") };
            }
        }
    }
    documents
}

/// Shares, and the same in thousandths.
const SHARES: [(&str, u64); 4] = [("0.05", 50), ("0.2", 200), ("0.5", 500), ("0.999", 999)];

/// Every pair of shingle sets at or above 1/2 after what is common was left out, as strings.
fn expected(documents: &[Text], width: usize, thousandths: u64) -> Vec<(String, String, f64)> {
    let mut sets: Vec<HashSet<Vec<String>>> =
        documents.iter().map(|(_, text)| shingles(&token_texts(&Word, text), width)).collect();
    let mut frequencies: HashMap<Vec<String>, u64> = HashMap::new();
    sets.iter().flatten().for_each(|shingle| *frequencies.entry(shingle.clone()).or_default() += 1);
    let most = thousandths * documents.len() as u64;
    sets.iter_mut().for_each(|set| set.retain(|shingle| frequencies[shingle] * 1000 <= most));
    let similar = all_pairs(documents.len()).filter_map(|(i, j)| {
        let (shared, either) = shared_and_either(&sets[i], &sets[j]);
        let pair = || (documents[i].0.clone(), documents[j].0.clone(), shared as f64 / either as f64);
        (!sets[i].is_empty() && !sets[j].is_empty() && 2 * shared >= either).then(pair)
    });
    similar.collect()
}

#[test]
fn the_exact_join_is_one_of_sets_without_what_is_common() {
    let mut found_without = BTreeSet::new();
    for (round, (share, thousandths)) in SHARES.into_iter().enumerate() {
        let (documents, width) = (templated(round as u64 % 2), 3);
        let expected = expected(&documents, width, thousandths);
        let settings = [("exact", "true"), ("threshold", "0.5"), ("shingle", "3"), ("drop-common", share)];
        let factory = factory("minhash", &settings);
        assert_eq!(pairs(&outcome(&documents, &factory)), expected, "without what more than {share} have");
        // Made again, and in another order of reading.
        let options = ScanOptions { threads: 3, memory: 0, ..ScanOptions::default() };
        assert_eq!(pairs(&outcome_with(&documents, &factory, &options)), expected);
        assert!(expected.len() > 20, "{} pairs at {share}", expected.len());
        found_without.insert(expected.len());
    }
    assert!(found_without.len() > 2, "the share hardly mattered: {found_without:?}");
}

#[test]
fn bands_report_nothing_else() {
    for (share, thousandths) in SHARES {
        let documents = templated(7);
        let expected = expected(&documents, 2, thousandths);
        let settings = [("threshold", "0.5"), ("shingle", "2"), ("drop-common", share)];
        let found = pairs(&outcome(&documents, &factory("minhash", &settings)));
        assert!(found.iter().all(|pair| expected.contains(pair)), "{share}");
        assert!(found.len() as f64 > 0.9 * expected.len() as f64, "{} of {}", found.len(), expected.len());
    }
}

/// What the algorithm reports without the features that too many documents have, by looking at every pair.
fn brute_force(
    algorithm: &str,
    settings: &[(&str, &str)],
    documents: &[Text],
    thousandths: u64,
) -> Vec<(String, String, f64)> {
    let algorithm = factory(algorithm, settings).prepare(100).unwrap().algorithm;
    let all: Vec<Vec<u64>> = documents
        .iter()
        .map(|(_, text)| {
            let (mut tokens, mut features) = (Tokens::new(algorithm.reads(), 0), Features::default());
            Word.tokenize(text, &mut tokens);
            algorithm.features(&mut tokens, &mut features);
            assert!(features.weights.is_empty());
            features.hashes
        })
        .collect();
    let mut frequencies: BTreeMap<u64, u64> = BTreeMap::new();
    let distinct = |hashes: &Vec<u64>| hashes.iter().copied().collect::<BTreeSet<u64>>();
    all.iter().flat_map(distinct).for_each(|feature| *frequencies.entry(feature).or_default() += 1);
    let most = thousandths * documents.len() as u64;
    let evidence: Vec<Option<Vec<u64>>> = all
        .into_iter()
        .map(|mut hashes| {
            hashes.retain(|feature| frequencies[feature] * 1000 <= most);
            let mut features = features(&hashes);
            let mut fingerprint = Vec::new();
            algorithm.fingerprint(&features, &mut fingerprint);
            features.hashes.sort_unstable();
            let multiset = algorithm.compare_on() == CompareOn::Multisets;
            let evidence = if multiset { features.hashes } else { fingerprint.clone() };
            (!fingerprint.is_empty()).then_some(evidence)
        })
        .collect();
    let similar = all_pairs(documents.len()).filter_map(|(i, j)| {
        let similarity = algorithm.compare(evidence[i].as_ref()?, evidence[j].as_ref()?)?;
        Some((documents[i].0.clone(), documents[j].0.clone(), similarity.value()))
    });
    similar.collect()
}

#[test]
fn every_family_that_misses_nothing_finds_what_brute_force_finds() {
    for (algorithm, settings) in [
        ("simhash", &[("distance", "8"), ("force", "true")][..]),
        ("projection", &[("agree", "340")]),
        ("spotsigs", &[("threshold", "0.4"), ("min-spots", "2")]),
        ("minhash", &[("supershingles", "6x3"), ("shingle", "2")]),
    ] {
        let mut numbers = BTreeSet::new();
        for (share, thousandths) in SHARES {
            let documents = templated(31);
            let expected = brute_force(algorithm, settings, &documents, thousandths);
            let factory = factory(algorithm, &[settings, &[("drop-common", share)]].concat());
            assert_eq!(
                pairs(&outcome(&documents, &factory)),
                expected,
                "{algorithm} without what more than {share} have"
            );
            assert!(expected.len() > 20, "{algorithm}: {} pairs at {share}", expected.len());
            numbers.insert(expected.len());
        }
        assert!(numbers.len() > 1, "{algorithm}: the share did not matter: {numbers:?}");
    }
}

#[test]
fn threads_and_batches_do_not_matter() {
    let documents = templated(3);
    for entry in ALGORITHMS.iter().filter(|entry| entry.uses("drop-common")) {
        let force = [("force", "true")];
        let settings = [&[("drop-common", "0.2")][..], if entry.uses("force") { &force } else { &[] }].concat();
        let algorithm = entry.name;
        let factory = factory(algorithm, &settings);
        let with = |threads| outcome_with(&documents, &factory, &ScanOptions { threads, ..ScanOptions::default() });
        let (one, four) = (with(1), with(4));
        assert_eq!(json(&one), json(&four), "{algorithm}");
        assert_eq!((&one.report.parameters, &one.report.warnings), (&four.report.parameters, &four.report.warnings));
        let common =
            one.report.parameters.iter().find(|row| row.name == "common_features").map(|row| row.value.as_integer());
        assert!(common.flatten().is_some_and(|common| common > 10), "{algorithm}");
    }
}

#[test]
fn what_everybody_has_is_no_feature_and_references_count_too() {
    let text = |id: usize, text: &str| (id.to_string(), text.to_string());
    let documents: Vec<Text> = (0..4).map(|id| text(id, "one and the same text in each of them")).collect();
    let factory = factory("minhash", &[("drop-common", "0.9"), ("shingle", "2")]);
    let found = outcome(&documents, &factory);
    assert_eq!((pairs(&found).len(), found.report.counts.featureless), (0, 4));
    // Among eight documents it is not common.
    let others: Vec<Text> = (4..8).map(|id| text(id, &format!("something else number {id} altogether {id}"))).collect();
    assert_eq!(pairs(&outcome_against(&others, &documents, &factory)).len(), 0);
    assert_eq!(outcome_against(&others, &documents, &factory).report.counts.featureless, 0);
    assert_eq!(pairs(&outcome(&[documents, others].concat(), &factory)).len(), 6);
}
