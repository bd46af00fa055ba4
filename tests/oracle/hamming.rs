//! Fingerprints within a Hamming distance, against all pairs: with any number of blocks the tables of Manku, Jain & Das
//! Sarma (WWW 2007, section 3) must find every pair, once. As in the tests of seomoz/simhash-cpp, one expected set
//! serves every number of blocks.

use crate::support::corpus::Text;
use crate::support::plain::all_pairs;
use crate::support::random::Random;
use crate::support::scanning::{always, factory, made, outcome, outcome_with};
use neardups::algorithm::simhash::{SimHash, Weights};
use neardups::algorithm::{Algorithm, Explain, Features, Learned, Profile, Row};
use neardups::engine::{Outcome, ScanOptions};
use neardups::hamming::Layout;
use neardups::hash::token_hash;
use neardups::similarity::Similarity;
use neardups::tokenizer::{Tokens, Word};
use std::collections::HashMap;
use std::sync::Arc;

/// An algorithm with given fingerprints: the single token of a document selects its code.
pub(super) struct Coded<A> {
    pub inner: A,
    pub codes: Arc<HashMap<u64, Vec<u64>>>,
}

impl<A: Algorithm> Algorithm for Coded<A> {
    fn profile(&self) -> Profile {
        self.inner.profile()
    }
    fn rows(&self) -> Vec<Row> {
        self.inner.rows()
    }
    fn learn(&mut self, learned: &Learned) {
        self.inner.learn(learned);
    }
    fn features(&self, tokens: &mut Tokens, features: &mut Features) {
        features.hashes.extend_from_slice(tokens.hashes());
    }
    fn fingerprint(&self, features: &Features, fingerprint: &mut Vec<u64>) {
        fingerprint.extend_from_slice(&self.codes[&features.hashes[0]]);
    }
    fn keys(&self, fingerprint: &[u64], keys: &mut Vec<u64>) {
        self.inner.keys(fingerprint, keys);
    }
    fn key(&self, fingerprint: &[u64], table: usize) -> u64 {
        self.inner.key(fingerprint, table)
    }
    fn compare(&self, a: &[u64], b: &[u64]) -> Option<Similarity> {
        self.inner.compare(a, b)
    }
    fn explain(&self) -> Option<&dyn Explain> {
        self.inner.explain()
    }
}

/// Random codes, and near ones of some of them: bits flipped anywhere, next to each other, or at either end of a block.
pub(super) fn codes(random: &mut Random, bits: usize, count: usize) -> Vec<Vec<u64>> {
    let words = bits.div_ceil(64);
    let mut codes: Vec<Vec<u64>> = vec![vec![0; words], vec![!0; words]];
    while codes.len() < count {
        if codes.len() < count / 5 {
            codes.push(random.words(words));
            continue;
        }
        let mut code = random.pick(&codes).clone();
        let (flips, start, together) = (random.below(11), random.below(bits), random.chance(0.3));
        for flip in 0..flips {
            let bit = if together { (start + flip) % bits } else { random.below(bits) };
            code[bit / 64] ^= 1 << (bit % 64);
        }
        codes.push(code);
    }
    if !bits.is_multiple_of(64) {
        codes.iter_mut().for_each(|code| code[words - 1] &= (1 << (bits % 64)) - 1);
    }
    random.shuffle(&mut codes);
    codes
}

/// Codes of which most agree in all but 16 bits next to each other, so that most keys are crowded.
fn crowded_codes(random: &mut Random, bits: usize, count: usize) -> Vec<Vec<u64>> {
    let (mut codes, start) = (codes(random, bits, count / 4), random.below(bits));
    let common = codes[0].clone();
    while codes.len() < count {
        let mut code = common.clone();
        for offset in (0..16).filter(|_| random.chance(0.3)) {
            let bit = (start + offset) % bits;
            code[bit / 64] ^= 1 << (bit % 64);
        }
        codes.push(code);
    }
    codes
}

/// Pairs by number, with the number of differing bits.
pub(super) fn all_within(codes: &[Vec<u64>], distance: u32) -> Vec<(usize, usize, u32)> {
    let apart = |i: usize, j: usize| codes[i].iter().zip(&codes[j]).map(|(a, b)| (a ^ b).count_ones()).sum::<u32>();
    all_pairs(codes.len()).map(|(i, j)| (i, j, apart(i, j))).filter(|found| found.2 <= distance).collect()
}

pub(super) fn found(outcome: &Outcome, bits: usize) -> Vec<(usize, usize, u32)> {
    let mut found = Vec::new();
    for pair in outcome.pairs().map(Result::unwrap) {
        let number = |id: &str| id[1..].parse::<usize>().unwrap();
        let distance = pair.distance.expect("a distance");
        assert_eq!(pair.similarity.value(), 1.0 - f64::from(distance) / bits as f64);
        found.push((number(pair.a), number(pair.b), distance));
    }
    found
}

/// `n` over `k`.
fn choose(n: usize, k: usize) -> usize {
    (0..k).fold(1, |c, i| c * (n - i) / (i + 1))
}

#[test]
fn every_number_of_blocks_finds_all_pairs_within_the_distance() {
    let mut scans = 0;
    for bits in [64, 128] {
        let mut random = Random::new(bits as u64);
        let codes = codes(&mut random, bits, 200);
        let documents: Vec<Text> = (0..codes.len()).map(|n| (format!("d{n}"), format!("code{n}"))).collect();
        let by_token = |n: usize| (token_hash(documents[n].1.as_bytes(), 0), codes[n].clone());
        let by_token: Arc<HashMap<u64, Vec<u64>>> = Arc::new((0..codes.len()).map(by_token).collect());
        for distance in 0..=8 {
            let expected = all_within(&codes, distance as u32);
            assert!(expected.len() > 10, "{} pairs within {distance}", expected.len());
            // As many as `--blocks` takes, and then the choice of the scan itself.
            let admissible = (distance + 1..=64).filter(|&blocks| choose(blocks, distance) <= 2000).map(Some);
            for blocks in admissible.chain([None]) {
                let make = || {
                    let inner = SimHash::new(bits, distance, vec![1], Weights::Binary, blocks);
                    Coded { inner, codes: Arc::clone(&by_token) }
                };
                let outcome = outcome(&documents, &always(make));
                assert_eq!(found(&outcome, bits), expected, "{bits} bits, distance {distance}, {blocks:?} blocks");
                scans += 1;
            }
        }
    }
    assert_eq!(scans, 510);
}

#[test]
fn every_layout_finds_all_pairs_within_the_distance() {
    let (mut scans, mut two_levels) = (0, 0);
    for (bits, distance) in [(32, 1), (32, 3), (64, 2), (64, 3), (64, 6), (96, 3), (128, 4), (256, 5)] {
        let mut random = Random::new((bits + distance) as u64);
        for crowded in [false, true] {
            let make = if crowded { crowded_codes } else { codes };
            let codes = make(&mut random, bits, 150);
            let documents: Vec<Text> = (0..codes.len()).map(|n| (format!("d{n}"), format!("code{n}"))).collect();
            let by_token = |n: usize| (token_hash(documents[n].1.as_bytes(), 0), codes[n].clone());
            let by_token: Arc<HashMap<u64, Vec<u64>>> = Arc::new((0..codes.len()).map(by_token).collect());
            let expected = all_within(&codes, distance as u32);
            assert!(expected.len() > 10, "{} pairs within {distance}", expected.len());
            let two = (1..4).flat_map(|more| {
                (1..4).filter_map(move |again| Layout::two_levels(bits, distance, distance + more, distance + again))
            });
            let two = two.filter(|layout| layout.tables() <= 300.0);
            for layout in Layout::all(bits, distance, 100).into_iter().chain(two) {
                let make = || {
                    let inner = SimHash::new(bits, distance, vec![1], Weights::Binary, None).with_layout(layout);
                    Coded { inner, codes: Arc::clone(&by_token) }
                };
                let outcome = outcome(&documents, &always(make));
                assert_eq!(found(&outcome, bits), expected, "{layout:?}, crowded: {crowded}");
                scans += 1;
                two_levels += u32::from(layout.blocks_again().is_some());
            }
        }
    }
    assert!(scans > 150 && two_levels > 60, "{scans} scans, {two_levels} with two levels");
}

#[test]
fn joined_codes_are_all_pairs_within_the_distance() {
    let codes = codes(&mut Random::new(7), 64, 1500);
    let words: Vec<u64> = codes.iter().map(|code| code[0]).collect();
    for distance in (0..=12).chain([40, 64]) {
        let found = neardups::hamming::pairs_within(&words, distance);
        let found: Vec<_> = found.iter().map(|pair| (pair.a as usize, pair.b as usize, pair.distance)).collect();
        assert_eq!(found, all_within(&codes, distance), "distance {distance}");
    }
}

#[test]
fn a_pair_is_compared_in_each_table_where_it_meets_and_reported_once() {
    // Equal codes of different documents: they meet in every one of the C(6, 3) = 20 tables.
    let documents: Vec<Text> = ["code1", "code2"].iter().map(|code| (code.to_string(), code.to_string())).collect();
    let codes: HashMap<u64, Vec<u64>> =
        documents.iter().map(|(_, text)| (token_hash(text.as_bytes(), 0), vec![5])).collect();
    let codes = Arc::new(codes);
    let make = || {
        let inner = SimHash::new(64, 3, vec![1], Weights::Binary, Some(6));
        Coded { inner, codes: Arc::clone(&codes) }
    };
    let outcome = outcome(&documents, &always(make));
    assert_eq!((outcome.report.compared, outcome.report.counts.pairs), (20, Some(1)));
}

#[test]
fn documents_of_words_within_the_distance() {
    let mut random = Random::new(5);
    let documents = crate::support::corpus::related(&mut random, 300, 200);
    for (bits, distance, grams, weights) in [
        ("64", "3", "1+2", "binary"),
        ("64", "8", "1", "tf"),
        ("128", "12", "2+3", "binary"),
        ("128", "0", "1", "binary"),
    ] {
        let settings =
            [("bits", bits), ("distance", distance), ("grams", grams), ("weights", weights), ("force", "true")];
        let factory = factory("simhash", &settings);
        let prepared = neardups::algorithm::AlgorithmFactory::prepare(&factory, 100).unwrap();
        let codes: Vec<Option<Vec<u64>>> = documents
            .iter()
            .map(|(_, text)| {
                Some(made(&*prepared.algorithm, &Word, 0, text).fingerprint).filter(|code| !code.is_empty())
            })
            .collect();
        let apart = |i: usize, j: usize| {
            let (a, b) = (codes[i].as_ref()?, codes[j].as_ref()?);
            Some(a.iter().zip(b).map(|(a, b)| (a ^ b).count_ones()).sum::<u32>())
        };
        let most: u32 = distance.parse().unwrap();
        let expected: Vec<_> = all_pairs(documents.len())
            .filter_map(|(i, j)| Some((i, j, apart(i, j)?)))
            .filter(|pair| pair.2 <= most)
            .collect();
        let outcome = outcome_with(&documents, &factory, &ScanOptions { threads: 1, ..ScanOptions::default() });
        assert_eq!(found(&outcome, bits.parse().unwrap()), expected, "{bits} {distance} {grams} {weights}");
        assert!(expected.len() > 20);
    }
}
