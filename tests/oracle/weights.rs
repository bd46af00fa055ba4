//! Weighted fingerprints against a plain computation: strings, floating-point logarithms, one counter a bit.

use crate::support::corpus::{Text, related, with_articles};
use crate::support::plain::{all_pairs, token_texts};
use crate::support::random::Random;
use crate::support::scanning::{factory, learn, made, outcome, pairs};
use neardups::algorithm::AlgorithmFactory;
use neardups::algorithm::weights::{MAX_WEIGHT, SCALE};
use neardups::hamming::sign_bits;
use neardups::hash::{shingle_hashes, token_hash};
use neardups::lexicon::weights::TermWeights;
use neardups::tokenizer::Word;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// In how many distinct documents each word is, and how many those are.
fn counted(documents: &[Vec<String>]) -> (BTreeMap<String, u32>, usize) {
    let distinct: BTreeSet<&Vec<String>> = documents.iter().collect();
    let mut frequencies = BTreeMap::new();
    for words in &distinct {
        let terms: BTreeSet<&String> = words.iter().collect();
        terms.into_iter().for_each(|term| *frequencies.entry(term.clone()).or_default() += 1);
    }
    (frequencies, distinct.len())
}

/// The weight by the formula, and whether rounding it is in no doubt.
fn weight(documents: usize, df: u32, tf: usize) -> (i64, bool) {
    let all = documents as f64 + 1.0;
    let exact = f64::from(SCALE) * (1.0 + (tf as f64).ln()) * (all / f64::from(df)).ln() / all.ln();
    ((exact.round() as i64).clamp(1, MAX_WEIGHT.into()), (exact.fract() - 0.5).abs() > 0.01)
}

/// The runs of a document, each with its weight; `None` if one is in doubt.
fn weighted(
    words: &[String],
    grams: &[usize],
    kind: &str,
    documents: &[Vec<String>],
) -> Option<BTreeMap<Vec<String>, i64>> {
    let (frequencies, count) = counted(documents);
    let mut runs: BTreeMap<Vec<String>, usize> = BTreeMap::new();
    grams.iter().flat_map(|&n| words.windows(n)).for_each(|run| *runs.entry(run.to_vec()).or_default() += 1);
    let weigh = |(run, tf): (Vec<String>, usize)| {
        let rarest = run.iter().map(|word| frequencies[word]).min()?;
        let (weight, certain) = match kind {
            "binary" => (1, true),
            "tf" => (tf as i64, true),
            _ => weight(count, rarest, tf),
        };
        certain.then_some((run, weight))
    };
    runs.into_iter().map(weigh).collect()
}

/// One counter for each of 64 bits.
fn signs<'a>(features: impl Iterator<Item = (u64, &'a i64)> + Clone) -> u64 {
    let sum = |bit: u32| {
        features.clone().map(|(hash, weight)| if hash >> bit & 1 == 1 { *weight } else { -weight }).sum::<i64>()
    };
    (0..64).filter(|&bit| sum(bit) > 0).fold(0, |word, bit| word | 1 << bit)
}

fn corpus(seed: u64) -> (Vec<String>, Vec<Vec<String>>) {
    let documents = with_articles(related(&mut Random::new(seed), 60, 60));
    let texts: Vec<String> = documents.into_iter().map(|(_, text)| text).collect();
    let words = texts.iter().map(|text| token_texts(&Word, text)).collect();
    (texts, words)
}

#[test]
fn fingerprints_are_the_signs_of_weighted_sums() {
    let (texts, words) = corpus(1);
    let run_hash = |run: &Vec<String>| {
        let tokens: Vec<u64> = run.iter().map(|word| token_hash(word.as_bytes(), 0)).collect();
        let mut hash = Vec::new();
        shingle_hashes(&tokens, tokens.len(), &mut hash);
        hash[0]
    };
    let one_hash = |run: &Vec<String>| token_hash(run[0].as_bytes(), 0);
    let mut compared = 0;
    for kind in ["binary", "tf", "idf"] {
        for (algorithm, grams, hash) in [
            ("simhash", &[1, 2][..], &run_hash as &dyn Fn(&Vec<String>) -> u64),
            ("simhash", &[2, 3], &run_hash),
            ("projection", &[1], &one_hash),
        ] {
            let names: Vec<String> = grams.iter().map(usize::to_string).collect();
            let names = names.join("+");
            let own: &[(&str, &str)] =
                if algorithm == "simhash" { &[("grams", &names)] } else { &[("projection-bits", "64")] };
            let mut prepared = factory(algorithm, &[own, &[("weights", kind)]].concat()).prepare(0).unwrap();
            learn(&mut *prepared.algorithm, &Word, 0, &texts);
            for (text, words) in texts.iter().zip(&words).filter(|(_, words)| words.len() >= 3) {
                let Some(features) = weighted(words, grams, kind, &self::words(&texts)) else { continue };
                let expected = signs(features.iter().map(|(run, weight)| (hash(run), weight)));
                assert_eq!(
                    made(&*prepared.algorithm, &Word, 0, text).fingerprint,
                    [expected],
                    "{algorithm} {kind}: {text}"
                );
                compared += 1;
            }
        }
    }
    assert!(compared > 300, "{compared}");
}

/// Weights of a file: a run weighs as much as its heaviest word, and is left out if that is 0.
#[test]
fn fingerprints_follow_a_list_of_weights() {
    let (texts, words) = corpus(3);
    let distinct: BTreeSet<&String> = words.iter().flatten().collect();
    // Every third word is not listed, and weighs 1.
    let listed = distinct.iter().enumerate().filter(|(n, _)| n % 3 > 0);
    let weights: BTreeMap<&str, i64> = listed.map(|(n, word)| (word.as_str(), (n * 7 % 4) as i64)).collect();
    let file: String = weights.iter().map(|(word, weight)| format!("{word}\t{weight}\n")).collect();
    let file = Arc::new(TermWeights::parse("file", file.as_bytes(), &Word, 0).unwrap());
    let hash = |run: &[String]| {
        let tokens: Vec<u64> = run.iter().map(|word| token_hash(word.as_bytes(), 0)).collect();
        let mut hash = Vec::new();
        shingle_hashes(&tokens, tokens.len(), &mut hash);
        if run.len() == 1 { (tokens[0], hash[0]) } else { (0, hash[0]) }
    };
    let (mut compared, mut left_out) = (0, 0);
    for (algorithm, grams, own) in [
        ("simhash", &[1, 2][..], &[("grams", "1+2")][..]),
        ("simhash", &[3], &[("grams", "3")]),
        ("projection", &[1], &[("projection-bits", "64")]),
    ] {
        let factory = factory(algorithm, own).with_term_weights(Arc::clone(&file)).unwrap();
        let prepared = factory.prepare(300).unwrap();
        for (text, words) in texts.iter().zip(&words).filter(|(_, words)| words.len() >= 3) {
            let runs: BTreeSet<&[String]> = grams.iter().flat_map(|&n| words.windows(n)).collect();
            let weigh =
                |run: &&[String]| run.iter().map(|word| weights.get(&**word).copied().unwrap_or(1)).max().unwrap();
            let kept: Vec<(u64, i64)> = runs
                .iter()
                .map(|run| (if algorithm == "simhash" { hash(run).1 } else { hash(run).0 }, weigh(run)))
                .filter(|(_, weight)| *weight > 0)
                .collect();
            left_out += runs.len() - kept.len();
            let sign = || signs(kept.iter().map(|(hash, weight)| (*hash, weight)));
            let expected: Vec<u64> = (!kept.is_empty()).then(sign).into_iter().collect();
            assert_eq!(made(&*prepared.algorithm, &Word, 0, text).fingerprint, expected, "{algorithm}: {text}");
            compared += 1;
        }
    }
    assert!(compared > 100 && left_out > 100, "{compared} {left_out}");
}

fn words(texts: &[String]) -> Vec<Vec<String>> {
    texts.iter().map(|text| token_texts(&Word, text)).collect()
}

#[test]
fn cosines_are_those_of_the_weights() {
    let (texts, words) = corpus(2);
    for kind in ["binary", "tf", "idf"] {
        let vectors: Vec<_> = words.iter().map(|own| weighted(own, &[1], kind, &words)).collect();
        let documents: Vec<Text> = texts.iter().enumerate().map(|(n, text)| (n.to_string(), text.clone())).collect();
        let settings = [("weights", kind), ("cosine", "0.3"), ("projection-bits", "1024"), ("recall", "0.999999")];
        let found = pairs(&outcome(&documents, &factory("projection", &settings)));
        let found: BTreeMap<_, _> = found.into_iter().map(|(a, b, similarity)| ((a, b), similarity)).collect();
        let mut compared = 0;
        for (i, j) in all_pairs(texts.len()) {
            let (Some(a), Some(b)) = (&vectors[i], &vectors[j]) else { continue };
            let dot = |x: &BTreeMap<Vec<String>, i64>, y: &BTreeMap<Vec<String>, i64>| {
                x.iter().map(|(run, weight)| weight * y.get(run).unwrap_or(&0)).sum::<i64>() as f64
            };
            let cosine = dot(a, b) / (dot(a, a) * dot(b, b)).sqrt();
            match found.get(&(i.to_string(), j.to_string())) {
                Some(similarity) => assert!((similarity - cosine).abs() < 1e-12, "{kind}: {similarity}, {cosine}"),
                None => assert!(cosine.is_nan() || cosine < 0.4, "{kind}: {cosine} was missed"),
            }
            compared += usize::from(cosine > 0.4);
        }
        assert!(compared > 30, "{kind}: {compared}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn all_weights_times_anything_are_the_same(
        features in prop::collection::vec((any::<u64>(), 0u32..16), 0..80),
        factor in 1u32..1_000_000,
    ) {
        let (hashes, weights): (Vec<u64>, Vec<u32>) = features.into_iter().unzip();
        let code = |factor: u32| {
            let (mut code, weights) = (Vec::new(), weights.iter().map(|weight| weight * factor).collect::<Vec<_>>());
            sign_bits(&hashes, &weights, 128, &mut code);
            code
        };
        prop_assert_eq!(code(factor), code(1));
    }
}
