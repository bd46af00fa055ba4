//! Properties of every algorithm of the table, with its default settings.

use crate::support::corpus::Text;
use crate::support::plain::all_pairs;
use crate::support::scanning::{Made, factory, learn, made, outcome_with, pairs};
use neardups::algorithm::{ALGORITHMS, Algorithm, AlgorithmFactory, CompareOn};
use neardups::engine::ScanOptions;
use neardups::similarity::Similarity;
use neardups::tokenizer::{Tokenizer, Word};
use proptest::prelude::*;

/// What two documents are compared by.
fn evidence<'a>(algorithm: &dyn Algorithm, made: &'a Made) -> &'a [u64] {
    match algorithm.compare_on() {
        CompareOn::Fingerprints => &made.fingerprint,
        CompareOn::Features | CompareOn::Multisets => &made.set,
        other => panic!("{other:?} is not compared here"),
    }
}

fn share_a_key(algorithm: &dyn Algorithm, a: &Made, b: &Made) -> bool {
    match algorithm.tables() {
        Some(_) => a.keys.iter().zip(&b.keys).any(|(x, y)| x == y),
        None => a.keys.iter().any(|key| b.keys.contains(key)),
    }
}

fn check(texts: &[String], seed: u64) -> Result<(), TestCaseError> {
    let documents: Vec<Text> = texts.iter().enumerate().map(|(n, text)| (n.to_string(), text.clone())).collect();
    for entry in ALGORITHMS {
        let factory = factory(entry.name, &[]);
        let outcome = outcome_with(&documents, &factory, &ScanOptions { seed, threads: 2, ..ScanOptions::default() });
        let mut prepared = factory.prepare(outcome.report.median_tokens).unwrap();
        let tokenizer: &dyn Tokenizer = prepared.tokenizer.as_deref().unwrap_or(&Word);
        learn(&mut *prepared.algorithm, tokenizer, seed, texts);
        let algorithm = &*prepared.algorithm;
        let all: Vec<Made> = texts.iter().map(|text| made(algorithm, tokenizer, seed, text)).collect();

        for (text, made_once) in texts.iter().zip(&all) {
            prop_assert_eq!(&made(algorithm, tokenizer, seed, text), made_once, "{} is not deterministic", entry.name);
            if let Some(tables) = algorithm.tables() {
                let expected = if made_once.fingerprint.is_empty() { 0 } else { tables };
                prop_assert_eq!(made_once.keys.len(), expected);
                let one_by_one: Vec<u64> =
                    (0..expected).map(|table| algorithm.key(&made_once.fingerprint, table)).collect();
                prop_assert_eq!(&one_by_one, &made_once.keys);
            }
            if !made_once.fingerprint.is_empty() {
                let own = evidence(algorithm, made_once);
                prop_assert_eq!(algorithm.compare(own, own), Some(Similarity::ONE), "{} to itself", entry.name);
            }
        }
        let mut expected = Vec::new();
        for (i, j) in all_pairs(all.len()) {
            let (a, b) = (&all[i], &all[j]);
            if a.fingerprint.is_empty() || b.fingerprint.is_empty() {
                continue;
            }
            let (x, y) = (evidence(algorithm, a), evidence(algorithm, b));
            let similarity = algorithm.compare(x, y);
            prop_assert_eq!(similarity, algorithm.compare(y, x), "{} is not symmetric", entry.name);
            if a.fingerprint == b.fingerprint {
                prop_assert_eq!(&a.keys, &b.keys, "{}: equal fingerprints, other keys", entry.name);
            }
            if let Some(similarity) = similarity.filter(|_| share_a_key(algorithm, a, b)) {
                expected.push((i.to_string(), j.to_string(), similarity.value()));
            }
        }
        prop_assert_eq!(pairs(&outcome), expected, "{}", entry.name);
    }
    Ok(())
}

/// Texts of some 60 words and more, with stop words, which no algorithm refuses: three of their own, and others made from them by edits.
fn texts() -> impl Strategy<Value = Vec<String>> {
    let word = || prop_oneof![3 => (0u32..400).prop_map(|n| format!("w{n}")), 1 => Just("the".to_string())];
    let own = prop::collection::vec(prop::collection::vec(word(), 60..120), 3);
    let edits = prop::collection::vec((any::<prop::sample::Index>(), word()), 0..8);
    let near = prop::collection::vec((0usize..3, edits, any::<bool>()), 0..10);
    (own, near, any::<bool>()).prop_map(|(own, near, empty)| {
        let mut texts: Vec<String> = own.iter().map(|words| words.join(" ")).collect();
        for (of, edits, shouted) in near {
            let mut words = own[of].clone();
            edits.into_iter().for_each(|(at, word)| *at.get_mut(&mut words) = word);
            let text = words.join(if shouted { ", " } else { " " });
            texts.push(if shouted { text.to_uppercase() } else { text });
        }
        texts.extend(empty.then(String::new));
        texts
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 150, ..ProptestConfig::default() })]

    #[test]
    fn every_algorithm_keeps_its_word(texts in texts(), seed in 0u64..4) {
        check(&texts, seed)?;
    }
}
