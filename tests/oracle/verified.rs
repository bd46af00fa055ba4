//! Reported pairs against the exact resemblance of all pairs (Broder 1997), from sets of strings: never a pair too many, always
//! the exact value, and with bands that miss nothing, never a pair too few.

use crate::support::corpus::{Text, pair_with, related};
use crate::support::plain::{all_pairs, shared_and_either, shingles, token_texts};
use crate::support::random::Random;
use crate::support::scanning::{factory, outcome, outcome_against, outcome_with, pairs};
use neardups::engine::ScanOptions;
use neardups::tokenizer::Word;
use std::collections::{HashMap, HashSet};

/// Every pair with `shared / either ≥ p / q`, decided in integers; copies of the same tokens are pairs at 1 whatever the
/// shingles are, and empty documents are like nothing.
fn expected(documents: &[Text], width: usize, (p, q): (u64, u64)) -> Vec<(String, String, f64)> {
    let tokens: Vec<Vec<String>> = documents.iter().map(|(_, text)| token_texts(&Word, text)).collect();
    let sets: Vec<_> = tokens.iter().map(|tokens| shingles(tokens, width)).collect();
    all_pairs(documents.len())
        .filter_map(|(i, j)| {
            let (shared, either) = shared_and_either(&sets[i], &sets[j]);
            let similar = either > 0 && shared * q >= p * either;
            similar.then(|| (documents[i].0.clone(), documents[j].0.clone(), shared as f64 / either as f64))
        })
        .collect()
}

/// A related corpus, with pairs planted at, just above and just below p/q, and texts shorter than a shingle.
fn corpus(seed: u64, width: usize, (p, q): (u64, u64)) -> Vec<Text> {
    let mut random = Random::new(seed);
    let mut documents = related(&mut random, 180, 90);
    for times in 1..6u64 {
        for nudge in [0, 1, 2] {
            // shared / (shared + more) is p/q, or one shingle less or more in common.
            let (shared, more) = ((p * times + nudge).saturating_sub(1).max(1), (q - p) * times);
            let (a, b) = pair_with(&format!("planted{times}x{nudge}"), width, shared as usize, more as usize);
            documents.push((format!("p{times}.{nudge}a"), a));
            documents.push((format!("p{times}.{nudge}b"), b));
        }
    }
    for (number, text) in ["one", "One!", "two", "one two", "one two.", "", " "].iter().enumerate() {
        documents.push((format!("short{number}"), text.to_string()));
    }
    random.shuffle(&mut documents);
    documents
}

const THRESHOLDS: [(&str, (u64, u64)); 6] =
    [("0.8", (4, 5)), ("0.5", (1, 2)), ("0.3", (3, 10)), ("2/3", (2, 3)), ("0.95", (19, 20)), ("1", (1, 1))];

#[test]
fn bands_that_miss_nothing_find_every_pair_at_or_above_the_threshold() {
    for (round, (typed, ratio)) in THRESHOLDS.into_iter().enumerate() {
        for sketch in ["fss", "classic"] {
            let width = round % 5 + 1;
            let documents = corpus(round as u64, width, ratio);
            let expected = expected(&documents, width, ratio);
            // A pair at 0.3 is missed with probability 0.7⁶⁴ = 1e-10.
            let settings = [("threshold", typed), ("rows", "1"), ("bands", "64"), ("sketch", sketch)];
            let width = width.to_string();
            let found = outcome(&documents, &factory("minhash", &[&settings[..], &[("shingle", &width)]].concat()));
            assert_eq!(pairs(&found), expected, "at {typed} with shingles of {width}");
            assert_eq!(found.report.counts.pairs, Some(expected.len() as u64));
            assert!(expected.len() > 40, "{} pairs at {typed}", expected.len());
            let exactly = |s: f64| s == ratio.0 as f64 / ratio.1 as f64;
            assert!(expected.iter().filter(|(_, _, s)| exactly(*s)).count() >= 5, "none exactly at {typed}");
        }
    }
}

#[test]
fn bands_that_miss_some_report_nothing_else() {
    for (round, (typed, ratio)) in THRESHOLDS.into_iter().enumerate() {
        for rows in ["2", "8", "20"] {
            let width = round % 5 + 1;
            let documents = corpus(100 + round as u64, width, ratio);
            let expected = expected(&documents, width, ratio);
            let settings = [("threshold", typed), ("rows", rows), ("bands", "6"), ("shingle", &width.to_string())];
            let found = pairs(&outcome(&documents, &factory("minhash", &settings)));
            // Both are in input order, so that a subset is a subsequence.
            let mut rest = expected.iter();
            let foreign = found.iter().find(|pair| !rest.any(|other| other == *pair));
            assert_eq!(foreign, None, "at {typed} with {rows} rows");
            assert!(found.len() > 20, "{} pairs at {typed} with {rows} rows", found.len());
        }
    }
}

#[test]
fn the_default_settings_find_nearly_every_pair_and_no_other() {
    let documents = corpus(9, 5, (4, 5));
    let expected = expected(&documents, 5, (4, 5));
    let found = pairs(&outcome(&documents, &factory("minhash", &[("shingle", "5")])));
    assert!(found.iter().all(|pair| expected.contains(pair)));
    assert!(found.len() as f64 > 0.97 * expected.len() as f64, "{} of {}", found.len(), expected.len());
}

#[test]
fn the_exact_join_finds_every_pair_and_no_other() {
    for (round, (typed, ratio)) in THRESHOLDS.into_iter().chain([("0.05", (1, 20))]).enumerate() {
        for width in [1, 3, 5] {
            let documents = corpus(200 + round as u64, width, ratio);
            let expected = expected(&documents, width, ratio);
            let settings = [("exact", "true"), ("threshold", typed), ("shingle", &width.to_string())];
            let factory = factory("minhash", &settings);
            assert_eq!(pairs(&outcome(&documents, &factory)), expected, "at {typed} with shingles of {width}");

            // Feature sets that do not fit are recomputed, which changes nothing.
            let options = ScanOptions { threads: 2, memory: 0, ..ScanOptions::default() };
            assert_eq!(pairs(&outcome_with(&documents, &factory, &options)), expected, "read again at {typed}");

            // Against a reference: the pairs across, and only those.
            let (reference, new) = documents.split_at(documents.len() / 2);
            let is_reference = |id: &String| reference.iter().any(|(other, _)| other == id);
            let across = expected.iter().filter(|(a, b, _)| is_reference(a) && !is_reference(b));
            let found = pairs(&outcome_against(reference, new, &factory));
            assert!(found.iter().eq(across), "against a reference at {typed} with shingles of {width}");
            assert!(!found.is_empty());
        }
    }
}

/// Documents that share a frame and differ in the rest, by more or less: all of them meet under nearly every key.
fn in_one_frame(seed: u64, documents: usize) -> Vec<Text> {
    let mut random = Random::new(seed);
    let frame: Vec<String> = (0..30).map(|i| format!("frame{i}")).collect();
    let document = |random: &mut Random, number: usize| {
        // Of two documents four of eight own words in common are 34 of 42, above 0.8; three are 33 of 43, below.
        let pool = if number.is_multiple_of(3) { 24 } else { 400 };
        let mut own: Vec<usize> = (0..pool).collect();
        random.shuffle(&mut own);
        let own = own[..8].iter().map(|word| format!("own{pool}x{word}"));
        (number.to_string(), frame.iter().cloned().chain(own).collect::<Vec<_>>().join(" "))
    };
    (0..documents).map(|number| document(&mut random, number)).collect()
}

#[test]
fn what_very_many_share_brings_no_pair_and_loses_none() {
    let documents = in_one_frame(5, 640);
    let expected = expected(&documents, 1, (4, 5));
    assert!((1000..40_000).contains(&expected.len()), "{}", expected.len());
    let minhash = [("rows", "1"), ("bands", "64"), ("shingle", "1")];
    for settings in [&minhash[..], &[("exact", "true"), ("shingle", "1")]] {
        let factory = factory("minhash", settings);
        let found = outcome(&documents, &factory);
        assert_eq!(pairs(&found), expected);
        assert_eq!(
            pairs(&outcome_with(
                &documents,
                &factory,
                &ScanOptions { threads: 3, memory: 0, ..ScanOptions::default() }
            )),
            expected
        );
        // Not all of the 204,480 pairs were compared.
        assert!(found.report.compared < 150_000, "{}", found.report.compared);
    }
}

/// Every pair of multisets of word runs with `Σ min / Σ max` of their counts at or above p/q.
fn expected_of_multisets(documents: &[Text], width: usize, (p, q): (u64, u64)) -> Vec<(String, String, f64)> {
    let counts: Vec<HashMap<Vec<String>, u64>> = documents
        .iter()
        .map(|(_, text)| {
            let tokens = token_texts(&Word, text);
            let mut counts = HashMap::new();
            if !tokens.is_empty() {
                let runs = tokens.windows(width.min(tokens.len()));
                runs.for_each(|run| *counts.entry(run.to_vec()).or_default() += 1);
            }
            counts
        })
        .collect();
    let similar = all_pairs(documents.len()).filter_map(|(i, j)| {
        let (a, b) = (&counts[i], &counts[j]);
        let all: HashSet<_> = a.keys().chain(b.keys()).collect();
        let count = |of: &HashMap<Vec<String>, u64>, run| of.get(run).copied().unwrap_or(0);
        let least: u64 = all.iter().map(|&run| count(a, run).min(count(b, run))).sum();
        let most: u64 = all.iter().map(|&run| count(a, run).max(count(b, run))).sum();
        let pair = || (documents[i].0.clone(), documents[j].0.clone(), least as f64 / most as f64);
        (most > 0 && least * q >= p * most).then(pair)
    });
    similar.collect()
}

#[test]
fn repeats_count_as_often_as_they_occur() {
    let mut random = Random::new(77);
    // Few words, so that runs repeat; and texts that are others twice or three times over.
    let mut documents: Vec<Text> = related(&mut random, 120, 60)
        .into_iter()
        .map(|(id, text)| {
            // A word is known by its last digit.
            let few: Vec<&str> = text.split_whitespace().map(|word| &word[word.len().saturating_sub(1)..]).collect();
            (id, few.join(" "))
        })
        .collect();
    for number in 0..20 {
        let (_, text) = documents[number].clone();
        documents.push((format!("twice{number}"), format!("{text} {text}")));
        documents.push((format!("thrice{number}"), format!("{text} {text} {text}")));
    }
    for (typed, ratio) in [("0.5", (1, 2)), ("0.8", (4, 5)), ("2/3", (2, 3))] {
        for width in [1, 2] {
            let expected = expected_of_multisets(&documents, width, ratio);
            assert!(expected.len() > 40, "{} pairs", expected.len());
            assert_ne!(expected, self::expected(&documents, width, ratio), "repeats do not matter");
            let width = width.to_string();
            let shared = [("threshold", typed), ("shingle", &*width), ("count-repeats", "true")];
            let exact = factory("minhash", &[&shared[..], &[("exact", "true")]].concat());
            assert_eq!(pairs(&outcome(&documents, &exact)), expected, "at {typed} with shingles of {width}");
            let bands = factory("minhash", &[&shared[..], &[("rows", "1"), ("bands", "64")]].concat());
            assert_eq!(pairs(&outcome(&documents, &bands)), expected, "at {typed} with shingles of {width}");
        }
    }
}
