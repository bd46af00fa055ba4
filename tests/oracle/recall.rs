//! Recall: pairs are found as often as the curve of their sketch states: `1 − (1 − sʳ)ᵇ` if slots are independent
//! (Leskovec, Rajaraman & Ullman, *Mining of Massive Datasets*, 3.4.2), another curve for the default sketch; and a
//! pair exactly at the threshold is found with at least the promised probability.
//!
//! `cargo bench --bench recall` prints a table of more pairs.

use crate::support::corpus::{Text, pair_with};
use crate::support::random::Random;
use crate::support::scanning::{factory, features, outcome_with};
use crate::support::statistics::{IMPROBABLE, binomial_at_least, binomial_at_most};
use neardups::algorithm::AlgorithmFactory;
use neardups::algorithm::minhash::curve::{self, Curve};
use neardups::algorithm::minhash::{MinHash, bands::Bands, sketch::Kind};
use neardups::algorithm::{Algorithm, Row};
use neardups::engine::ScanOptions;
use neardups::similarity::Threshold;

/// Whether two random sets that share `shared` of `either` elements have a key in common.
fn meet(minhash: &MinHash, random: &mut Random, shared: usize, either: usize) -> bool {
    let elements = random.words(either);
    let (common, own) = elements.split_at(shared);
    let (own_a, own_b) = own.split_at(own.len() / 2);
    let keys = |own: &[u64]| {
        let (mut fingerprint, mut keys) = (Vec::new(), Vec::new());
        minhash.fingerprint(&features(&[common, own].concat()), &mut fingerprint);
        minhash.keys(&fingerprint, &mut keys);
        keys
    };
    keys(own_a).iter().zip(&keys(own_b)).any(|(a, b)| a == b)
}

fn minhash(kind: Kind, bands: usize, rows: usize) -> MinHash {
    MinHash::new(Threshold::new(4, 5).unwrap(), 1, kind, Bands { bands, rows })
}

/// Pairs of similarities within 0.05 of each other: how many there were, how many had a key in common, and the sum of the
/// probabilities of that.
#[derive(Clone, Copy, Default)]
struct Bin {
    pairs: usize,
    found: usize,
    expected: f64,
}

#[test]
fn recall_at_every_similarity_is_that_of_the_curve() {
    for kind in [Kind::Fss, Kind::Classic] {
        for (bands, rows) in [(26, 8), (14, 8), (20, 5), (9, 13), (40, 4)] {
            let (minhash, curve) = (minhash(kind, bands, rows), Curve::new(kind, Bands { bands, rows }));
            for either in [10, 30, 100, 300, 1000] {
                let expected: Vec<f64> =
                    (0..=either).map(|shared| curve.found_quickly(shared as f64, either as f64)).collect();
                let cost = if kind == Kind::Fss { either.max(6 * bands * rows) } else { either * bands * rows / 4 };
                let pairs = (25_000_000 / cost).clamp(500, 6_000);
                let mut random = Random::new((bands * rows * either) as u64);
                let mut bins = [Bin::default(); 21];
                for _ in 0..pairs {
                    let shared = either * 3 / 10 + random.below(either - either * 3 / 10 + 1);
                    let similarity = shared as f64 / either as f64;
                    let bin = &mut bins[(similarity * 20.0 + 1e-9) as usize];
                    bin.pairs += 1;
                    bin.found += usize::from(meet(&minhash, &mut random, shared, either));
                    bin.expected += expected[shared];
                }
                for (number, bin) in bins.iter().enumerate().filter(|(_, bin)| bin.pairs > 0) {
                    // Trials of unequal probabilities scatter less than as many of their mean (Hoeffding 1956).
                    let mean = bin.expected / bin.pairs as f64;
                    // Where few slots are expected to differ or to agree, what is computed quickly is not exact.
                    let off = if (6..20).contains(&number) { 0.0 } else { 0.02 };
                    let chance = binomial_at_most(bin.pairs, (mean - off).max(0.0), bin.found).min(binomial_at_least(
                        bin.pairs,
                        (mean + off).min(1.0),
                        bin.found,
                    ));
                    let from = number as f64 / 20.0;
                    assert!(
                        chance > IMPROBABLE,
                        "{kind:?}, {bands} × {rows}, sets of {either}, from {from}: {} of {} found, not {}",
                        bin.found,
                        bin.pairs,
                        bin.expected
                    );
                }
            }
        }
    }
}

#[test]
fn sets_exactly_at_the_threshold_are_found_as_promised() {
    for kind in [Kind::Fss, Kind::Classic] {
        for (threshold, recall) in
            [(0.8, 0.99), (0.5, 0.99), (0.9, 0.9), (0.7, 0.999), (0.8, 0.5), (0.9, 0.3), (0.5, 0.1)]
        {
            let Bands { bands, rows } = curve::for_recall(kind, threshold, recall, 256).unwrap();
            let minhash = minhash(kind, bands, rows);
            for either in [10, 20, 50, 100, 1000] {
                let cost = if kind == Kind::Fss { either.max(6 * bands * rows) } else { either * bands * rows / 4 };
                let pairs = (12_000_000 / cost).clamp(500, 10_000);
                let mut random = Random::new((bands * rows * either + 1) as u64);
                let shared = (threshold * either as f64).round() as usize;
                let found = (0..pairs).filter(|_| meet(&minhash, &mut random, shared, either)).count();
                let chance = binomial_at_most(pairs, recall, found);
                assert!(
                    chance > IMPROBABLE,
                    "{kind:?} at {threshold}, sets of {either}: {found} of {pairs} found, {recall} promised"
                );
            }
        }
    }
}

#[test]
fn signatures_of_datasketch_find_as_much() {
    for kind in [Kind::Datasketch, Kind::Datasketch1] {
        for (threshold, recall) in [(0.8, 0.99), (0.5, 0.9)] {
            let Bands { bands, rows } = curve::for_recall(kind, threshold, recall, 256).unwrap();
            let minhash = minhash(kind, bands, rows);
            for (either, pairs) in [(20, 3_000), (100, 1_000)] {
                let mut random = Random::new((bands * rows * either + 2) as u64);
                let shared = (threshold * either as f64).round() as usize;
                let found = (0..pairs).filter(|_| meet(&minhash, &mut random, shared, either)).count();
                let chance = binomial_at_most(pairs, recall, found);
                assert!(
                    chance > IMPROBABLE,
                    "{kind:?} at {threshold}, sets of {either}: {found} of {pairs}, {recall} promised"
                );
            }
        }
    }
}

/// Bands and rows, how many elements of how many are shared: recalls of the default sketch from .01 to .999.
const FROM_SELDOM_TO_SURE: [(usize, usize, usize, usize); 16] = [
    (1, 20, 80, 100),
    (1, 20, 16, 20),
    (2, 20, 320, 400),
    (5, 25, 80, 100),
    (9, 13, 70, 100),
    (1, 20, 19, 20),
    (5, 25, 270, 300),
    (9, 13, 80, 100),
    (1, 20, 95, 100),
    (3, 21, 19, 20),
    (2, 60, 99, 100),
    (14, 8, 75, 100),
    (16, 6, 70, 100),
    (14, 8, 17, 20),
    (16, 6, 80, 100),
    (16, 6, 43, 50),
];

#[test]
fn pairs_are_found_as_often_as_stated_from_seldom_to_sure() {
    for (at, (bands, rows, shared, either)) in FROM_SELDOM_TO_SURE.into_iter().enumerate() {
        let (pairs, mut random) = (4_000, Random::new(40 + at as u64));
        let minhash = minhash(Kind::Fss, bands, rows);
        let found = (0..pairs).filter(|_| meet(&minhash, &mut random, shared, either)).count();
        let stated = Curve::new(Kind::Fss, Bands { bands, rows }).found(shared as f64, either as f64);
        let errors = (found as f64 - stated * pairs as f64) / (pairs as f64 * stated * (1.0 - stated)).sqrt();
        let share = found as f64 / pairs as f64;
        assert!(
            errors.abs() < 3.0,
            "{bands} x {rows}, {shared} of {either}: {share} found, {stated} stated ({errors:+.1})"
        );
    }
}

#[test]
fn a_scan_states_the_recall_of_documents_of_the_median_length() {
    // Pairs of 90 shingles each, 80 of them in both: by independent slots .5015, .3094 and .3988 would be found.
    for (settings, width) in [
        (vec![("threshold", "0.8"), ("bands", "9"), ("rows", "13")], 1),
        (vec![("threshold", "0.8"), ("bands", "9"), ("rows", "13"), ("sketch", "classic")], 1),
        (vec![("threshold", "0.8"), ("recall", "0.5")], 3),
        (vec![("threshold", "0.8"), ("recall", "0.2")], 1),
    ] {
        let pairs = 2_500;
        let documents: Vec<Text> = (0..pairs)
            .flat_map(|n| {
                let (a, b) = pair_with(&format!("n{n}"), width, 80, 20);
                [(format!("{n}a"), a), (format!("{n}b"), b)]
            })
            .collect();
        let width = width.to_string();
        let settings = [&settings[..], &[("shingle", &*width)]].concat();
        let factory = factory("minhash", &settings);
        let report = outcome_with(&documents, &factory, &ScanOptions { threads: 2, ..ScanOptions::default() }).report;
        let stated = |rows: &[Row]| {
            rows.iter().find(|row| row.name == "recall_at_threshold").unwrap().value.as_decimal().unwrap()
        };
        let (says, found) = (stated(&report.parameters), report.counts.pairs.unwrap() as f64 / f64::from(pairs));
        let errors = (found - says) / (says * (1.0 - says) / f64::from(pairs)).sqrt();
        assert!(errors.abs() < 3.0, "{settings:?}: {found} found, {says} stated ({errors:+.1})");
        // Before the length is known, it is what documents of any length reach.
        let any_length = stated(&factory.prepare(0).unwrap().algorithm.rows());
        assert!(any_length <= says, "{settings:?}: {any_length}");
        if let Some((_, recall)) = settings.iter().find(|(name, _)| *name == "recall") {
            assert!(any_length >= recall.parse().unwrap(), "{settings:?}: {any_length}");
        }
    }
}

#[test]
fn documents_exactly_at_the_threshold_are_found_as_promised_with_any_seed() {
    // Pairs of their own words, so that nothing but chance decides whether they meet.
    let corpus = |width: usize, shared: usize, more: usize| -> Vec<Text> {
        let pair = |n: usize| {
            let (a, b) = pair_with(&format!("n{n}"), width, shared, more);
            [(format!("{n}a"), a), (format!("{n}b"), b)]
        };
        (0..400).flat_map(pair).collect()
    };
    for (sketch, threshold, recall, (shared, more)) in [
        ("fss", "0.8", "0.99", (40, 10)),
        ("fss", "0.8", "0.99", (160, 40)),
        ("fss", "0.5", "0.9", (30, 30)),
        ("classic", "0.8", "0.99", (40, 10)),
    ] {
        let documents = corpus(3, shared, more);
        let settings = [("threshold", threshold), ("recall", recall), ("shingle", "3"), ("sketch", sketch)];
        let factory = factory("minhash", &settings);
        let seeds = 25;
        let found: u64 = (0..seeds)
            .map(|seed| {
                let options = ScanOptions { seed: 1000 + seed, threads: 2, ..ScanOptions::default() };
                outcome_with(&documents, &factory, &options).report.counts.pairs.unwrap()
            })
            .sum();
        let pairs = seeds as usize * documents.len() / 2;
        let chance = binomial_at_most(pairs, recall.parse().unwrap(), found as usize);
        assert!(chance > IMPROBABLE, "{sketch} at {threshold}: {found} of {pairs} found, {recall} promised");
    }
}
