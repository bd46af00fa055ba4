//! Random projection against all pairs: fingerprints from one counter a bit, distances of every pair, and the exact cosine of
//! counted words.

use super::hamming::{Coded, all_within, codes, found};
use crate::support::corpus::{Text, related};
use crate::support::plain::{all_pairs, token_texts};
use crate::support::random::Random;
use crate::support::scanning::{always, factory, features, outcome, outcome_with, pairs};
use crate::support::statistics::{IMPROBABLE, SIGMAS, binomial_at_least, binomial_at_most};
use neardups::algorithm::projection::{RandomProjection, cosine};
use neardups::algorithm::{Algorithm, AlgorithmFactory};
use neardups::engine::ScanOptions;
use neardups::hamming::distance;
use neardups::hash::{mix, token_hash};
use neardups::similarity::Threshold;
use neardups::tokenizer::Word;
use proptest::prelude::*;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

fn numbered(texts: &[String]) -> Vec<Text> {
    texts.iter().enumerate().map(|(n, text)| (format!("d{n}"), text.clone())).collect()
}

/// The sign of the sum of ±1 over all token occurrences, bit by bit; `None` without tokens.
fn signs(text: &str, bits: usize) -> Option<Vec<bool>> {
    let hashes: Vec<u64> = token_texts(&Word, text).iter().map(|token| token_hash(token.as_bytes(), 0)).collect();
    let sign = |bit: usize| {
        let word = (bit / 64) as u64;
        let plus = |hash: u64| {
            let pattern =
                if word == 0 { hash } else { mix(hash.wrapping_add(word.wrapping_mul(0x9e37_79b9_7f4a_7c15))) };
            pattern >> (bit % 64) & 1 == 1
        };
        hashes.iter().map(|&hash| if plus(hash) { 1i128 } else { -1 }).sum::<i128>() > 0
    };
    (!hashes.is_empty()).then(|| (0..bits).map(sign).collect())
}

fn agreeing(a: &[bool], b: &[bool]) -> usize {
    a.iter().zip(b).filter(|(x, y)| x == y).count()
}

/// Texts of few different words, so that counts repeat and sums tie; from nothing to one much longer than the others; most of
/// them made from an earlier one by a few edits.
fn texts() -> impl Strategy<Value = Vec<String>> {
    let word = || prop::sample::select(vec!["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"]);
    let fresh = prop_oneof![
        6 => prop::collection::vec((word(), 1usize..6), 0..12),
        1 => prop::collection::vec((word(), 20usize..80), 1..6),
    ];
    let edit = (any::<prop::sample::Index>(), word(), 0u8..3);
    let text = (fresh, prop::option::weighted(0.7, (any::<prop::sample::Index>(), prop::collection::vec(edit, 0..4))));
    prop::collection::vec(text, 0..12).prop_map(|drawn| {
        let mut texts: Vec<Vec<&str>> = Vec::new();
        for (fresh, near) in drawn {
            let text = match near {
                Some((of, edits)) if !texts.is_empty() => {
                    let mut words = of.get(&texts).clone();
                    for (at, word, kind) in edits {
                        let at = at.index(words.len() + 1);
                        match kind {
                            0 => words.insert(at, word),
                            1 if at < words.len() => words[at] = word,
                            _ if at < words.len() => _ = words.remove(at),
                            _ => {}
                        }
                    }
                    words
                }
                _ => fresh.into_iter().flat_map(|(word, count)| vec![word; count]).collect(),
            };
            texts.push(text);
        }
        texts.iter().map(|words| words.join(" ")).collect()
    })
}

/// Scans for pairs that agree in at least `agree` bits and compares the result with all pairs. Returns the number of
/// pairs that do not agree in all bits.
fn check_agreeing(texts: &[String], bits: usize, agree: usize) -> Result<usize, TestCaseError> {
    let all: Vec<Option<Vec<bool>>> = texts.iter().map(|text| signs(text, bits)).collect();
    let expected: Vec<_> = all_pairs(texts.len())
        .filter_map(|(i, j)| {
            let same = agreeing(all[i].as_ref()?, all[j].as_ref()?);
            (same >= agree).then_some((i, j, (bits - same) as u32))
        })
        .collect();
    let settings = [("projection-bits", &*bits.to_string()), ("agree", &*agree.to_string())];
    let outcome = outcome(&numbered(texts), &factory("projection", &settings));
    prop_assert_eq!(&found(&outcome, bits), &expected);
    Ok(expected.iter().filter(|pair| pair.2 > 0).count())
}

/// Scans for pairs at a cosine and compares with all pairs that agree in a band. Returns how many there are below 1.
fn check_cosine(
    texts: &[String],
    (typed, p, q): (&str, u128, u128),
    bits: &str,
    memory: u64,
) -> Result<usize, TestCaseError> {
    let factory = factory("projection", &[("cosine", typed), ("projection-bits", bits)]);
    let resolved = factory.prepare(0).unwrap().algorithm.rows();
    let number =
        |name: &str| resolved.iter().find(|row| row.name == name).unwrap().value.as_integer().unwrap() as usize;
    let (bands, rows) = (number("bands"), number("rows"));
    let all: Vec<Option<Vec<bool>>> = texts.iter().map(|text| signs(text, bands * rows)).collect();
    let count = |text: &String| {
        token_texts(&Word, text).into_iter().fold(BTreeMap::new(), |mut counts: BTreeMap<String, u128>, token| {
            *counts.entry(token).or_insert(0) += 1;
            counts
        })
    };
    let counts: Vec<BTreeMap<String, u128>> = texts.iter().map(count).collect();
    let mut expected = Vec::new();
    for (i, j) in all_pairs(texts.len()) {
        let (Some(a), Some(b)) = (&all[i], &all[j]) else { continue };
        let dot: u128 = counts[i].iter().map(|(token, n)| n * counts[j].get(token).unwrap_or(&0)).sum();
        let square = |n: usize| counts[n].values().map(|n| n * n).sum::<u128>();
        let squares = square(i) * square(j);
        let band = a.chunks(rows).zip(b.chunks(rows)).any(|(x, y)| x == y);
        if band && dot * dot * q * q >= p * p * squares {
            expected.push((i, j, dot as f64 / (squares as f64).sqrt()));
        }
    }
    let options = ScanOptions { threads: 2, memory, ..ScanOptions::default() };
    let found = pairs(&outcome_with(&numbered(texts), &factory, &options));
    prop_assert_eq!(found.len(), expected.len(), "{:?} is not {:?}", found, expected);
    for ((a, b, similarity), &(i, j, value)) in found.into_iter().zip(&expected) {
        prop_assert_eq!((a, b), (format!("d{i}"), format!("d{j}")));
        // The same number, rounded in another way.
        prop_assert!((similarity - value).abs() < 1e-15 && similarity <= 1.0 && similarity >= p as f64 / q as f64);
    }
    Ok(expected.iter().filter(|pair| pair.2 < 1.0).count())
}

const COSINES: [(&str, u128, u128); 7] =
    [("0.5", 1, 2), ("0.8", 4, 5), ("0.9", 9, 10), ("0.96", 24, 25), ("1", 1, 1), ("3/5", 3, 5), ("0.999", 999, 1000)];

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 1500, ..ProptestConfig::default() })]

    #[test]
    fn every_pair_that_agrees_in_enough_bits_and_no_other(
        texts in texts(),
        (bits, agree) in
            prop::sample::select(vec![(64, 62), (64, 56), (64, 64), (128, 112), (384, 372), (384, 336), (512, 450)]),
    ) {
        check_agreeing(&texts, bits, agree)?;
    }

    #[test]
    fn every_pair_of_a_band_at_or_above_the_cosine_and_no_other(
        texts in texts(),
        cosine in prop::sample::select(COSINES.to_vec()),
        bits in prop::sample::select(vec!["64", "384"]),
        memory in prop::sample::select(vec![0, 1 << 30]),
    ) {
        check_cosine(&texts, cosine, bits, memory)?;
    }
}

#[test]
fn related_documents_have_pairs_on_both_sides_of_every_threshold() {
    let documents = related(&mut Random::new(13), 200, 300);
    let texts: Vec<String> = documents.into_iter().map(|(_, text)| text).collect();
    for (bits, agree) in [(384, 372), (384, 336), (64, 62), (128, 116)] {
        let found = check_agreeing(&texts, bits, agree).unwrap();
        assert!(found > 20, "{found} pairs agree in {agree} of {bits} bits");
    }
    // A single changed word is below 0.999 in documents this short.
    for cosine in COSINES.into_iter().filter(|(_, p, q)| p < q && *q < 1000) {
        let found = check_cosine(&texts, cosine, "384", 1 << 30).unwrap();
        assert!(found > 20, "{found} pairs at {}", cosine.0);
    }
}

#[test]
fn every_pair_of_codes_within_the_distance() {
    for (bits, agree) in [(384, 372), (384, 384), (128, 124), (256, 250), (1024, 992)] {
        let mut random = Random::new(bits as u64);
        let codes = codes(&mut random, bits, 250);
        let documents: Vec<Text> = (0..codes.len()).map(|n| (format!("d{n}"), format!("code{n}"))).collect();
        let by_token = |n: usize| (token_hash(documents[n].1.as_bytes(), 0), codes[n].clone());
        let by_token: Arc<HashMap<u64, Vec<u64>>> = Arc::new((0..codes.len()).map(by_token).collect());
        let make = || Coded { inner: RandomProjection::new(bits, agree), codes: Arc::clone(&by_token) };
        let expected = all_within(&codes, (bits - agree) as u32);
        assert!(expected.len() > 10, "{} pairs", expected.len());
        assert_eq!(found(&outcome(&documents, &always(make)), bits), expected, "{agree} of {bits} bits");
    }
}

/// Two documents with this many words in common and this many unique words, each occurring one, two or three times in
/// turn.
fn two(random: &mut Random, common: usize, own: usize) -> [Vec<u64>; 2] {
    let counted = |words: Vec<u64>| {
        words.into_iter().enumerate().flat_map(|(n, word)| vec![word; 1 + n % 3]).collect::<Vec<u64>>()
    };
    let common = counted(random.words(common));
    [(); 2].map(|()| [common.clone(), counted(random.words(own))].concat())
}

#[test]
fn bits_agree_with_probability_1_minus_angle_over_pi() {
    let mut random = Random::new(11);
    let projection = RandomProjection::new(384, 372);
    let code = |hashes: &[u64]| {
        let mut code = Vec::new();
        projection.fingerprint(&features(hashes), &mut code);
        code
    };
    // 1² + 2² + 3² for each three words: the shares of the words are those of the squares.
    for (common, own) in [(300, 0), (285, 15), (270, 30), (240, 60), (150, 150), (30, 270), (0, 300)] {
        let pairs = 400;
        let apart: u32 = (0..pairs)
            .map(|_| {
                let [a, b] = two(&mut random, common, own);
                distance(&code(&a), &code(&b))
            })
            .sum();
        let expected = (common as f64 / 300.0).acos() / std::f64::consts::PI;
        let trials = (pairs * 384) as f64;
        let observed = f64::from(apart) / trials;
        let noise = SIGMAS * (expected * (1.0 - expected) / trials).sqrt();
        assert!(
            (observed - expected).abs() <= noise,
            "{common} and {own}: {observed} differ, not {expected} ± {noise}"
        );
    }
}

#[test]
fn every_one_of_384_bits_is_fair() {
    let mut random = Random::new(12);
    let projection = RandomProjection::new(384, 372);
    let count = 4000;
    let mut ones = [0usize; 384];
    for _ in 0..count {
        let mut code = Vec::new();
        projection.fingerprint(&features(&random.words(31)), &mut code);
        ones.iter_mut().enumerate().for_each(|(bit, ones)| *ones += (code[bit / 64] >> (bit % 64) & 1) as usize);
    }
    for (bit, ones) in ones.into_iter().enumerate() {
        let fair = binomial_at_least(count, 0.5, ones).min(binomial_at_most(count, 0.5, ones));
        assert!(fair > IMPROBABLE, "bit {bit} is set in {ones} of {count} documents");
    }
}

#[test]
fn pairs_at_the_cosine_are_found_as_promised_with_any_seed() {
    // Two documents of the same length that share `common` of `common + own` words have just this share as their cosine.
    for (typed, recall, (common, own)) in
        [("0.9", "0.99", (270, 30)), ("0.8", "0.9", (160, 40)), ("0.5", "0.99", (150, 150)), ("0.95", "0.9", (285, 15))]
    {
        let text = |n: usize, side: &str| {
            let shared = (0..common).map(|i| format!("c{n}x{i} ")).collect::<String>();
            shared + &(0..own).map(|i| format!("{side}{n}x{i} ")).collect::<String>()
        };
        let documents: Vec<Text> =
            (0..150).flat_map(|n| [(format!("{n}a"), text(n, "a")), (format!("{n}b"), text(n, "b"))]).collect();
        let factory = factory("projection", &[("cosine", typed), ("recall", recall)]);
        let seeds = 20;
        let mut found = 0;
        for seed in 0..seeds {
            let outcome = outcome_with(
                &documents,
                &factory,
                &ScanOptions { seed: 50 + seed, threads: 2, ..ScanOptions::default() },
            );
            let pairs = pairs(&outcome);
            let cosine: Threshold = typed.parse().unwrap();
            assert!(pairs.iter().all(|(a, b, s)| a[..a.len() - 1] == b[..b.len() - 1] && *s == cosine.as_f64()));
            found += pairs.len();
        }
        let all = seeds as usize * documents.len() / 2;
        let chance = binomial_at_most(all, recall.parse().unwrap(), found);
        assert!(chance > IMPROBABLE, "at {typed}: {found} of {all} found, {recall} promised");
        let bands = cosine::bands(typed.parse().unwrap(), recall.parse().unwrap(), 384).unwrap();
        assert!(cosine::recall(typed.parse().unwrap(), bands) >= recall.parse().unwrap());
    }
}

#[test]
fn copies_that_differ_by_a_word_are_found_with_the_recall_that_was_asked_for() {
    // How often each word of a document is there: all different, and like words of a text.
    let text_like: Vec<usize> = [12, 8, 6, 5, 4, 3, 3, 2, 2, 2, 2].into_iter().chain([1; 60]).collect();
    for (counts, recall) in [
        (vec![1; 100], "0.99"),
        (vec![1; 101], "0.9"),
        (vec![1; 20], "0.99"),
        (vec![1; 10], "0.9"),
        (text_like.clone(), "0.99"),
        (text_like, "0.9"),
    ] {
        for edit in ["inserted", "removed", "replaced"] {
            let pairs = 1_500;
            let square: usize = counts.iter().map(|count| count * count).sum();
            // The edited word occurs once.
            let cosine = match edit {
                "inserted" => (square as f64 / (square + 1) as f64).sqrt(),
                "removed" => ((square - 1) as f64 / square as f64).sqrt(),
                _ => (square - 1) as f64 / square as f64,
            };
            let cosine = format!("{:.8}", cosine - 1e-8);
            let factory = factory("projection", &[("cosine", &cosine), ("recall", recall)]);
            let documents: Vec<Text> = (0..pairs)
                .flat_map(|n| {
                    let words = counts.iter().enumerate().flat_map(|(i, &count)| vec![format!("n{n}x{i}"); count]);
                    let mut words: Vec<String> = words.collect();
                    let one = words.join(" ");
                    if edit != "inserted" {
                        words.pop();
                    }
                    if edit != "removed" {
                        words.push(format!("n{n}x"));
                    }
                    [(format!("{n}a"), one), (format!("{n}b"), words.join(" "))]
                })
                .collect();
            let outcome = outcome(&documents, &factory);
            let resolved = &outcome.report.parameters;
            let stated =
                resolved.iter().find(|row| row.name == "recall_at_threshold").unwrap().value.as_decimal().unwrap();
            let found = outcome.report.counts.pairs.unwrap();
            let errors =
                (found as f64 - stated * f64::from(pairs)) / (f64::from(pairs) * stated * (1.0 - stated)).sqrt();
            let words = counts.len();
            assert!(stated >= recall.parse().unwrap(), "{words} words: {stated}");
            assert!(
                errors > -3.0,
                "{words} words, one {edit}: {found} of {pairs} found, {stated} stated ({errors:+.1})"
            );
        }
    }
}
