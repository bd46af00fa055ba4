//! An algorithm from outside the table, with any number of keys in any order: the engine against all pairs.

use crate::support::corpus::{Text, words};
use crate::support::plain::all_pairs;
use crate::support::random::Random;
use crate::support::scanning::{always, outcome_with, pairs};
use neardups::algorithm::{Algorithm, CompareOn, Features, Profile, Row};
use neardups::engine::ScanOptions;
use neardups::hash::token_hash;
use neardups::similarity::{Similarity, Threshold, cosine_at_least};
use neardups::tokenizer::Tokens;
use proptest::prelude::*;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Keys as given for each document, which its one token names.
struct Free {
    keys: Arc<HashMap<u64, Vec<u64>>>,
    compare_on: CompareOn,
}

/// An arbitrary symmetric rule that accepts about two of three pairs.
fn rule(a: u64, b: u64) -> Option<Similarity> {
    let sum = a ^ b;
    (!sum.is_multiple_of(3)).then(|| Similarity::ratio(sum % 101, 101))
}

impl Algorithm for Free {
    fn profile(&self) -> Profile {
        Profile::new("free", "made up", self.compare_on)
    }
    fn rows(&self) -> Vec<Row> {
        Vec::new()
    }
    fn features(&self, tokens: &mut Tokens, features: &mut Features) {
        features.hashes.extend_from_slice(tokens.hashes());
    }
    fn fingerprint(&self, features: &Features, fingerprint: &mut Vec<u64>) {
        fingerprint.extend_from_slice(&features.hashes);
    }
    fn keys(&self, fingerprint: &[u64], keys: &mut Vec<u64>) {
        keys.extend_from_slice(&self.keys[&fingerprint[0]]);
    }
    fn compare(&self, a: &[u64], b: &[u64]) -> Option<Similarity> {
        rule(a[0], b[0])
    }
}

/// Scans documents with these keys, and compares with `share_a_key` of each pair.
fn check(keys: &[Vec<u64>], memory: u64, share_a_key: impl Fn(usize, usize) -> bool) -> usize {
    let documents: Vec<Text> = (0..keys.len()).map(|n| (n.to_string(), format!("d{n}"))).collect();
    let hash = |n: usize| token_hash(documents[n].1.as_bytes(), 0);
    let by_token: Arc<HashMap<_, _>> = Arc::new((0..keys.len()).map(|n| (hash(n), keys[n].clone())).collect());
    let meet: Vec<(usize, usize)> = all_pairs(keys.len()).filter(|&(i, j)| share_a_key(i, j)).collect();
    let expected: Vec<(String, String, f64)> = meet
        .iter()
        .filter_map(|&(i, j)| Some((i.to_string(), j.to_string(), rule(hash(i), hash(j))?.value())))
        .collect();
    for compare_on in [CompareOn::Fingerprints, CompareOn::Features] {
        let make = || Free { keys: Arc::clone(&by_token), compare_on };
        let options = ScanOptions { threads: 2, memory, ..ScanOptions::default() };
        let outcome = outcome_with(&documents, &always(make), &options);
        assert_eq!(pairs(&outcome), expected, "{compare_on:?}");
        if compare_on == CompareOn::Features {
            assert_eq!(outcome.report.compared, meet.len() as u64);
        }
    }
    expected.len()
}

fn sets_meet(keys: &[Vec<u64>]) -> impl Fn(usize, usize) -> bool {
    let sets: Vec<HashSet<u64>> = keys.iter().map(|keys| keys.iter().copied().collect()).collect();
    move |i, j| !sets[i].is_disjoint(&sets[j])
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn free_keys_bring_together_whoever_shares_one(
        // Few keys, at both ends of their range, often repeated within a document and in any order.
        keys in prop::collection::vec(
            prop::collection::vec((0u64..12, prop::sample::select(vec![0, 1, u64::MAX - 20, 1 << 63])), 1..6),
            0..30,
        ),
        memory in prop::sample::select(vec![0, 100, 1 << 30]),
    ) {
        let keys: Vec<Vec<u64>> = keys.iter().map(|keys| keys.iter().map(|(low, at)| at + low).collect()).collect();
        check(&keys, memory, sets_meet(&keys));
    }
}

#[test]
fn millions_of_free_keys() {
    // More than are sorted at once, over the whole range.
    let mut random = Random::new(4);
    let popular = random.words(3000);
    let mut keys: Vec<Vec<u64>> = (0..300).map(|_| random.words(16_000)).collect();
    for keys in &mut keys {
        for _ in 0..random.below(40) {
            let (key, at) = (*random.pick(&popular), random.below(keys.len()));
            keys[at] = key;
        }
    }
    assert!(keys.iter().map(Vec::len).sum::<usize>() > 1 << 22);
    let shared: Vec<Vec<u64>> = {
        let popular: HashSet<u64> = popular.into_iter().collect();
        keys.iter().map(|keys| keys.iter().copied().filter(|key| popular.contains(key)).collect()).collect()
    };
    assert!(check(&keys, 1 << 30, sets_meet(&shared)) > 1000);
}

#[test]
fn a_document_with_a_fingerprint_and_without_keys_has_features_all_the_same() {
    // It shares no key, but it is not a featureless document, and its copies are copies.
    let documents: Vec<Text> =
        [("a", "d0"), ("b", "d0"), ("c", "d1")].map(|(id, text)| (id.into(), text.into())).into();
    for compare_on in [CompareOn::Fingerprints, CompareOn::Features] {
        let keys: HashMap<u64, Vec<u64>> = ["d0", "d1"].map(|t| (token_hash(t.as_bytes(), 0), vec![])).into();
        let keys = Arc::new(keys);
        let make = || Free { keys: Arc::clone(&keys), compare_on };
        let outcome = outcome_with(&documents, &always(make), &ScanOptions { threads: 1, ..ScanOptions::default() });
        assert_eq!(outcome.report.counts.featureless, 0, "{compare_on:?}");
        assert_eq!(pairs(&outcome), [("a".to_string(), "b".to_string(), 1.0)], "{compare_on:?}");
    }
}

/// Compares by the cosine. Each document has three keys, which are made of its tokens.
struct Vectors {
    keys_of: Arc<HashMap<Vec<u64>, [u64; 3]>>,
    tables: Option<usize>,
}

const COSINE: (u64, u64) = (9, 10);

impl Algorithm for Vectors {
    fn profile(&self) -> Profile {
        let profile = Profile::new("vectors", "cosine", CompareOn::Multisets);
        let profile = profile.with_cosine(Threshold::new(COSINE.0, COSINE.1).unwrap());
        self.tables.map_or(profile, |tables| profile.with_tables(tables))
    }
    fn rows(&self) -> Vec<Row> {
        Vec::new()
    }
    fn features(&self, tokens: &mut Tokens, features: &mut Features) {
        features.hashes.extend_from_slice(tokens.hashes());
    }
    fn fingerprint(&self, features: &Features, fingerprint: &mut Vec<u64>) {
        let mut sorted = features.hashes.clone();
        sorted.sort_unstable();
        fingerprint.extend(self.keys_of[&sorted]);
    }
    fn keys(&self, fingerprint: &[u64], keys: &mut Vec<u64>) {
        keys.extend_from_slice(fingerprint);
    }
    fn compare(&self, a: &[u64], b: &[u64]) -> Option<Similarity> {
        cosine_at_least(a, b, Threshold::new(COSINE.0, COSINE.1).unwrap())
    }
}

/// The cosine of the counts of words, if it is at the threshold.
fn plain_cosine(a: &str, b: &str) -> Option<f64> {
    let counts = |text: &str| {
        let mut counts = HashMap::<String, u64>::new();
        text.split_whitespace().for_each(|word| *counts.entry(word.into()).or_default() += 1);
        counts
    };
    let (a, b) = (counts(a), counts(b));
    let product = |a: &HashMap<String, u64>, b: &HashMap<String, u64>| -> u64 {
        a.iter().map(|(word, count)| count * b.get(word).copied().unwrap_or(0)).sum()
    };
    let (dot, a, b) = (product(&a, &b), product(&a, &a), product(&b, &b));
    let is_similar = (dot * COSINE.1).pow(2) >= COSINE.0 * a * COSINE.0 * b;
    is_similar.then(|| dot as f64 / (a as f64 * b as f64).sqrt())
}

/// Two thirds are pages of a template, which share a key and a frame, and the others prose, which share a key and some frequent words. Half
/// of all share another key. Some have a copy with a word more.
#[test]
fn vectors_of_a_template_and_of_prose_meet_as_all_pairs_do() {
    const DOCUMENTS: usize = 420;
    let mut random = Random::new(9);
    let frame = words(&mut random, 60, 1 << 30).join(" ");
    let mut texts: Vec<String> = Vec::new();
    for number in 0..DOCUMENTS {
        let own = words(&mut random, if number.is_multiple_of(3) { 30 } else { 9 }, 1 << 30).join(" ");
        texts.push(match number {
            21.. if number % 7 == 1 => format!("{} again", texts[number - 21]),
            _ if number.is_multiple_of(3) => format!("{own} {} {}", "the ".repeat(9), "of ".repeat(1 + number % 6)),
            _ => format!("{frame} {own} {own}").replacen(' ', &format!(" {} ", "and ".repeat(number % 3)), 1),
        });
    }
    let documents: Vec<Text> =
        texts.iter().enumerate().map(|(number, text)| (number.to_string(), text.clone())).collect();
    let keys_of =
        |number: usize| [if number.is_multiple_of(3) { 1 } else { 2 }, 10 + number as u64 % 2, 1000 + number as u64];
    let tokens = |text: &str| {
        let mut tokens: Vec<u64> = text.split_whitespace().map(|word| token_hash(word.as_bytes(), 0)).collect();
        tokens.sort_unstable();
        tokens
    };
    let by_tokens = texts.iter().enumerate().map(|(number, text)| (tokens(text), keys_of(number)));
    let by_tokens: Arc<HashMap<Vec<u64>, [u64; 3]>> = Arc::new(by_tokens.collect());
    assert_eq!(by_tokens.len(), DOCUMENTS);
    let meet = |i: usize, j: usize| keys_of(i).iter().zip(keys_of(j)).any(|(a, b)| *a == b);
    let expected: Vec<(String, String, f64)> = all_pairs(DOCUMENTS)
        .filter(|&(i, j)| meet(i, j))
        .filter_map(|(i, j)| Some((i.to_string(), j.to_string(), plain_cosine(&texts[i], &texts[j])?)))
        .collect();
    assert!((50..2000).contains(&expected.len()), "{} pairs", expected.len());
    for (tables, memory) in [(None, 1 << 30), (Some(3), 1 << 30), (None, 0), (Some(3), 0)] {
        let make = || Vectors { keys_of: Arc::clone(&by_tokens), tables };
        let options = ScanOptions { threads: 2, memory, ..ScanOptions::default() };
        let outcome = outcome_with(&documents, &always(make), &options);
        assert_eq!(pairs(&outcome), expected, "{tables:?} {memory}");
        // The filter rules out most pairs of the template.
        let compared = outcome.report.compared as usize;
        assert!(compared < 2 * all_pairs(DOCUMENTS).filter(|&(i, j)| meet(i, j)).count() / 3, "{compared}");
    }
}
