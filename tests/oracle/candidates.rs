//! Candidates: which documents the engine compares, against all pairs. Two documents are to be compared iff their signatures
//! agree in a whole band (Leskovec, Rajaraman & Ullman, *Mining of Massive Datasets*, 3.4.1), each pair once. Here the slots
//! of a band are compared as they are, not as a hashed key.

use crate::support::corpus::{Text, related};
use crate::support::plain::all_pairs;
use crate::support::random::Random;
use crate::support::scanning::{Made, made, outcome_with, pairs};
use neardups::Error;
use neardups::algorithm::minhash::{MinHash, bands::Bands, sketch::Kind};
use neardups::algorithm::{Algorithm, Features, PreparedAlgorithm, Profile, Row};
use neardups::engine::ScanOptions;
use neardups::similarity::{Similarity, Threshold};
use neardups::tokenizer::{Tokens, Word};
use std::sync::{Arc, Mutex};

/// Two feature sets, the lesser first.
type Compared = (Vec<u64>, Vec<u64>);

/// Reports every pair that it is asked to compare, and remembers it.
struct Recording {
    inner: MinHash,
    compared: Arc<Mutex<Vec<Compared>>>,
}

impl Algorithm for Recording {
    /// Without the threshold, so that every candidate is compared.
    fn profile(&self) -> Profile {
        let inner = self.inner.profile();
        Profile::new("recording", inner.measure, inner.compare_on).with_tables(inner.tables.unwrap())
    }
    fn rows(&self) -> Vec<Row> {
        self.inner.rows()
    }
    fn features(&self, tokens: &mut Tokens, features: &mut Features) {
        self.inner.features(tokens, features);
    }
    fn fingerprint(&self, features: &Features, fingerprint: &mut Vec<u64>) {
        self.inner.fingerprint(features, fingerprint);
    }
    fn keys(&self, fingerprint: &[u64], keys: &mut Vec<u64>) {
        self.inner.keys(fingerprint, keys);
    }
    fn key(&self, fingerprint: &[u64], table: usize) -> u64 {
        self.inner.key(fingerprint, table)
    }
    fn compare(&self, a: &[u64], b: &[u64]) -> Option<Similarity> {
        let (a, b) = (a.min(b), a.max(b));
        self.compared.lock().unwrap().push((a.to_vec(), b.to_vec()));
        Some(Similarity::ratio(1, 2))
    }
}

/// What is compared and what is reported, as documents by number, of all pairs.
fn expected(all: &[Made], rows: usize) -> (Vec<Compared>, Vec<(usize, usize, f64)>) {
    let (mut compared, mut reported) = (Vec::new(), Vec::new());
    let first_of_its_kind = |i: usize| !all[..i].iter().any(|earlier| earlier.tokens == all[i].tokens);
    for (i, j) in all_pairs(all.len()) {
        let (a, b) = (&all[i], &all[j]);
        if a.fingerprint.is_empty() || b.fingerprint.is_empty() {
            continue;
        }
        if a.tokens == b.tokens {
            reported.push((i, j, 1.0));
        } else if a.fingerprint.chunks(rows).zip(b.fingerprint.chunks(rows)).any(|(x, y)| x == y) {
            reported.push((i, j, 0.5));
            if first_of_its_kind(i) && first_of_its_kind(j) {
                let (a, b) = (&a.set, &b.set);
                compared.push((a.min(b).clone(), a.max(b).clone()));
            }
        }
    }
    compared.sort();
    (compared, reported)
}

fn check(documents: &[Text], kind: Kind, bands: Bands, width: usize) -> usize {
    let make = || MinHash::new(Threshold::new(1, 2).unwrap(), width, kind, bands);
    let seed = 7;
    let all: Vec<Made> = documents.iter().map(|(_, text)| made(&make(), &Word, seed, text)).collect();
    let (compared, reported) = expected(&all, bands.rows);
    for memory in [0, 1 << 20] {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let factory = |_: usize| -> Result<PreparedAlgorithm, Error> {
            Ok(PreparedAlgorithm::new(Recording { inner: make(), compared: Arc::clone(&seen) }))
        };
        let outcome =
            outcome_with(documents, &factory, &ScanOptions { seed, threads: 2, memory, ..ScanOptions::default() });
        let by_number = |(a, b, s): (String, String, f64)| {
            let number = |id: &str| id[1..].parse::<usize>().unwrap();
            (number(&a), number(&b), s)
        };
        let found: Vec<_> = pairs(&outcome).into_iter().map(by_number).collect();
        assert_eq!(found, reported, "{kind:?} {bands:?}, shingles of {width}");
        let mut seen = std::mem::take(&mut *seen.lock().unwrap());
        seen.sort();
        assert!(seen == compared, "{} pairs compared instead of {}", seen.len(), compared.len());
        assert_eq!(outcome.report.compared, compared.len() as u64);
        assert_eq!(outcome.report.rereadings > 0, memory == 0 && !compared.is_empty());
    }
    compared.len()
}

#[test]
fn exactly_the_pairs_that_agree_in_a_band_are_compared_and_each_once() {
    let mut candidates = Vec::new();
    for (round, kind) in [Kind::Fss, Kind::Classic].into_iter().enumerate() {
        for (bands, rows) in [(1, 1), (3, 1), (40, 1), (20, 5), (26, 8), (9, 13), (1, 64), (200, 2)] {
            let mut random = Random::new((bands * rows + round) as u64);
            let documents = related(&mut random, 250, 120);
            let width = 1 + random.below(5);
            candidates.push(check(&documents, kind, Bands { bands, rows }, width));
        }
    }
    // Sixty-four rows leave hardly any.
    let telling = candidates.iter().filter(|&&count| count > 100).count();
    assert!(telling >= 12, "too few candidates to tell anything: {candidates:?}");
}

#[test]
fn unrelated_documents_that_meet_by_chance_are_compared_too() {
    // One row: nearly every pair of documents over a small vocabulary shares some band.
    let mut random = Random::new(3);
    let documents: Vec<Text> =
        (0..150).map(|n| (format!("d{n}"), crate::support::corpus::words(&mut random, 20, 60).join(" "))).collect();
    assert!(check(&documents, Kind::Fss, Bands { bands: 64, rows: 1 }, 1) > 10_000);
}
