//! Recall: a pair of similarity `s` shares one of `b` bands of `r` rows with probability `1 − (1 − sʳ)ᵇ` (Leskovec, Rajaraman
//! & Ullman, *Mining of Massive Datasets*, 3.4.2), and one exactly at the threshold is found with the promised probability.

use crate::support::corpus::{Text, pair_with};
use crate::support::random::Random;
use crate::support::scanning::{features, outcome_with, recipe};
use crate::support::statistics::{IMPROBABLE, binomial_at_most};
use neardups::algorithm::Algorithm;
use neardups::algorithm::minhash::{MinHash, bands::Bands, sketch::Kind};
use neardups::engine::Options;
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
fn recall_at_every_similarity_is_not_below_the_curve() {
    for kind in [Kind::Fss, Kind::Classic] {
        for (bands, rows) in [(26, 8), (14, 8), (20, 5), (9, 13), (40, 4)] {
            let (minhash, curve) = (minhash(kind, bands, rows), Bands { bands, rows });
            for either in [10, 30, 100, 300, 1000] {
                let cost = if kind == Kind::Fss { either.max(6 * bands * rows) } else { either * bands * rows / 4 };
                let pairs = (50_000_000 / cost).clamp(500, 10_000);
                let mut random = Random::new((bands * rows * either) as u64);
                let mut bins = [Bin::default(); 21];
                for _ in 0..pairs {
                    let shared = either * 3 / 10 + random.below(either - either * 3 / 10 + 1);
                    let similarity = shared as f64 / either as f64;
                    let bin = &mut bins[(similarity * 20.0 + 1e-9) as usize];
                    bin.pairs += 1;
                    bin.found += usize::from(meet(&minhash, &mut random, shared, either));
                    bin.expected += curve.probability(similarity);
                }
                for (number, bin) in bins.iter().enumerate().filter(|(_, bin)| bin.pairs > 0) {
                    // Trials of unequal probabilities scatter less than as many of their mean (Hoeffding 1956).
                    let chance = binomial_at_most(bin.pairs, bin.expected / bin.pairs as f64, bin.found);
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
        for (threshold, recall) in [(0.8, 0.99), (0.5, 0.99), (0.9, 0.9), (0.7, 0.999)] {
            let Bands { bands, rows } = Bands::for_recall(threshold, recall, 256).unwrap();
            let minhash = minhash(kind, bands, rows);
            for either in [10, 20, 50, 100, 1000] {
                let cost = if kind == Kind::Fss { either.max(6 * bands * rows) } else { either * bands * rows / 4 };
                let pairs = (30_000_000 / cost).clamp(500, 20_000);
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
    for (threshold, recall) in [(0.8, 0.99), (0.5, 0.9)] {
        let Bands { bands, rows } = Bands::for_recall(threshold, recall, 256).unwrap();
        let minhash = minhash(Kind::Datasketch, bands, rows);
        for (either, pairs) in [(20, 3_000), (100, 1_000)] {
            let mut random = Random::new((bands * rows * either + 2) as u64);
            let shared = (threshold * either as f64).round() as usize;
            let found = (0..pairs).filter(|_| meet(&minhash, &mut random, shared, either)).count();
            let chance = binomial_at_most(pairs, recall, found);
            assert!(chance > IMPROBABLE, "at {threshold}, sets of {either}: {found} of {pairs}, {recall} promised");
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
        let recipe = recipe("minhash", &settings);
        let seeds = 25;
        let found: u64 = (0..seeds)
            .map(|seed| {
                let options = Options { seed: 1000 + seed, threads: 2, ..Options::default() };
                outcome_with(&documents, &recipe, &options).report.counts.pairs
            })
            .sum();
        let pairs = seeds as usize * documents.len() / 2;
        let chance = binomial_at_most(pairs, recall.parse().unwrap(), found as usize);
        assert!(chance > IMPROBABLE, "{sketch} at {threshold}: {found} of {pairs} found, {recall} promised");
    }
}
