//! Fingerprints of sign bits: a bit of two fingerprints differs with probability `θ/π`, where `θ` is the angle between
//! the feature vectors (Charikar, STOC 2002, section 3). With hash bits instead of normal deviates that holds for many
//! features of similar weight. Ties give 0, and an odd number of equal weights never ties, so only odd numbers give
//! unbiased bits.

use crate::support::corpus::words;
use crate::support::random::Random;
use crate::support::scanning::{factory, made};
use crate::support::statistics::{
    IMPROBABLE, SIGMAS, binomial, binomial_at_least, binomial_at_most, mean_and_deviation,
};
use neardups::algorithm::simhash::{SimHash, Weights};
use neardups::algorithm::{AlgorithmFactory, Row};
use neardups::hamming::{bits_differ, bits_differ_at_most, distance, excess_of, sign_bits};
use neardups::tokenizer::Word;
use proptest::prelude::*;

fn code(hashes: &[u64], weights: &[u32], bits: usize) -> Vec<u64> {
    let mut code = Vec::new();
    sign_bits(hashes, weights, bits, &mut code);
    code
}

/// Probability that a sum of `common` random signs and `own_a` others, and one of the same and `own_b` others, are not both
/// positive or both not: exact.
fn differ(common: usize, own_a: usize, own_b: usize) -> f64 {
    // That `own` signs sum up to more than `limit`.
    let more = |own: usize, limit: i64| -> f64 {
        (0..=own).filter(|&plus| 2 * plus as i64 - own as i64 > limit).map(|plus| binomial(own, 0.5, plus)).sum()
    };
    let given = |plus: usize| {
        let sum = 2 * plus as i64 - common as i64;
        let (a, b) = (more(own_a, -sum), more(own_b, -sum));
        a * (1.0 - b) + b * (1.0 - a)
    };
    (0..=common).map(|plus| binomial(common, 0.5, plus) * given(plus)).sum()
}

/// Which share of the bits differs in many pairs of documents with random features.
fn observed(random: &mut Random, (common, own_a, own_b): (usize, usize, usize), bits: usize, pairs: usize) -> f64 {
    let mut one = || {
        let all = random.words(common + own_a + own_b);
        let a = code(&all[..common + own_a], &[], bits);
        distance(&a, &code(&[&all[..common], &all[common + own_a..]].concat(), &[], bits))
    };
    (0..pairs).map(|_| f64::from(one())).sum::<f64>() / (pairs * bits) as f64
}

/// Five standard deviations of a share.
fn noise(expected: f64, trials: usize) -> f64 {
    SIGMAS * (expected * (1.0 - expected) / trials as f64).sqrt()
}

#[test]
fn bits_differ_with_probability_angle_over_pi() {
    let mut random = Random::new(1);
    for bits in [64, 128] {
        for (common, own_a, own_b) in [
            (401, 0, 0),
            (361, 40, 40),
            (301, 100, 100),
            (200, 201, 401),
            (100, 301, 301),
            (0, 401, 301),
            (300, 1, 701),
        ] {
            let pairs = 1_500;
            let observed = observed(&mut random, (common, own_a, own_b), bits, pairs);
            let cosine = common as f64 / (((common + own_a) * (common + own_b)) as f64).sqrt();
            let expected = cosine.min(1.0).acos() / std::f64::consts::PI;
            let noise = noise(expected, pairs * bits);
            assert!(
                (observed - expected).abs() <= noise,
                "{common} common features, {own_a} and {own_b} others: {observed} differ, not {expected} ± {noise}"
            );
        }
    }
}

#[test]
fn bits_differ_with_the_exact_probability_whatever_the_number_of_features() {
    // Few features, and even numbers of them, which tie.
    let mut random = Random::new(8);
    for (common, own_a, own_b) in [
        (1, 0, 1),
        (1, 1, 1),
        (2, 1, 0),
        (3, 2, 2),
        (10, 0, 1),
        (10, 5, 4),
        (50, 0, 1),
        (100, 1, 1),
        (399, 2, 2),
        (400, 0, 1),
    ] {
        let pairs = 4_000;
        let (expected, observed) =
            (differ(common, own_a, own_b), observed(&mut random, (common, own_a, own_b), 64, pairs));
        let noise = noise(expected, 64 * pairs);
        assert!(
            (observed - expected).abs() <= noise,
            "{common} common features, {own_a} and {own_b} others: {observed} differ, not {expected} ± {noise}"
        );
    }
}

#[test]
fn no_small_difference_moves_more_bits_than_stated() {
    // One feature more moves most, and about as many as stated; none moves more.
    for common in (1..=60).chain([99, 100, 101, 200, 999, 1000]) {
        for (own_a, own_b) in [(0, 1), (1, 1), (0, 2), (1, 2), (1, 3), (2, 2), (2, 3), (5, 6), (1, 8)] {
            let cosine = common as f64 / (((common + own_a) * (common + own_b)) as f64).sqrt();
            let (exact, stated) = (differ(common, own_a, own_b), bits_differ_at_most(cosine));
            let what = format!("{common} common features, {own_a} and {own_b} others: {exact} of {stated}");
            // For a handful of features many additional ones are a large difference: ties, which give 0, have an
            // effect.
            if common >= 10 * (own_a + own_b) || own_a + own_b == 1 {
                assert!(exact <= stated * 1.0001, "{what}");
            }
            if (own_a, own_b) == (0, 1) {
                assert!(exact >= stated * 0.98 - 0.003, "{what}");
            }
        }
    }
    assert_eq!((bits_differ_at_most(1.0), bits_differ_at_most(0.0)), (0.0, 0.5));
}

#[test]
fn what_is_known_of_the_difference_says_how_many_bits_move() {
    for (common, own_a, own_b) in [(100, 0, 1), (101, 0, 1), (300, 1, 1), (301, 1, 2), (400, 2, 3), (401, 20, 20)] {
        let cosine = common as f64 / (((common + own_a) * (common + own_b)) as f64).sqrt();
        let stated = bits_differ(cosine) * excess_of(&vec![1.0; own_a + own_b]);
        let exact = differ(common, own_a, own_b);
        assert!((stated / exact - 1.0).abs() < 0.02, "{common}, {own_a}, {own_b}: {stated}, not {exact}");
    }
}

#[test]
fn copies_that_differ_by_a_word_are_found_with_the_recall_that_was_asked_for() {
    // Documents of different words each, whose copies have a word more, less or replaced; at exactly their cosine.
    let bits =
        |rows: &[Row]| rows.iter().find(|row| row.name == "distance").unwrap().value.as_integer().unwrap() as u32;
    for (length, recall) in [(50, "0.9"), (51, "0.9"), (100, "0.9"), (101, "0.95"), (300, "0.8"), (20, "0.99")] {
        for grams in ["1", "1+2"] {
            for edit in ["inserted", "removed", "replaced"] {
                let pairs = 1_500;
                let all: Vec<[Vec<String>; 2]> = (0..pairs)
                    .map(|n| {
                        let word = |i: usize| format!("n{n}x{i}");
                        let one: Vec<String> = (0..length).map(word).collect();
                        let (mut other, at) = (one.clone(), n * 7 % length);
                        match edit {
                            "inserted" => other.insert(at, word(length)),
                            "removed" => _ = other.remove(at),
                            _ => other[at] = word(length),
                        }
                        [one, other]
                    })
                    .collect();
                // Features that both have, of how many; an edit at an end changes fewer pairs of neighbours, so the cosine is that inside.
                let both = length - usize::from(edit != "inserted");
                let ([a, b], common) = match (grams, edit) {
                    ("1", "inserted") => ([length, length + 1], both),
                    ("1", "removed") => ([length, length - 1], both),
                    ("1", _) => ([length, length], both),
                    (_, "inserted") => ([2 * length - 1, 2 * length + 1], 2 * length - 2),
                    (_, "removed") => ([2 * length - 1, 2 * length - 3], 2 * length - 4),
                    (_, _) => ([2 * length - 1, 2 * length - 1], 2 * length - 4),
                };
                let cosine = format!("{:.8}", common as f64 / ((a * b) as f64).sqrt() - 1e-8);
                let settings = [("grams", grams), ("cosine", &*cosine), ("recall", recall), ("force", "true")];
                let factory = factory("simhash", &settings);
                let algorithm = factory.prepare(length).unwrap().algorithm;
                let most = bits(&algorithm.rows());
                let near = |[a, b]: &&[Vec<String>; 2]| {
                    let code = |words: &[String]| made(&*algorithm, &Word, 3, &words.join(" ")).fingerprint;
                    distance(&code(a), &code(b)) <= most
                };
                let found = all.iter().filter(near).count();
                let recall: f64 = recall.parse().unwrap();
                let errors = (found as f64 - recall * pairs as f64) / (pairs as f64 * recall * (1.0 - recall)).sqrt();
                assert!(
                    errors > -3.0,
                    "{length} words, grams {grams}, one {edit}: {found} of {pairs} within {most} ({errors:+.1})"
                );
            }
        }
    }
}

#[test]
fn one_feature_more_breaks_ties() {
    // The parity effect: 64·½·√(2/πn) bits, or 8 of 64 at 10 features, 3.6 at 50, 2.5 at 100.
    let rounded = [10, 50, 100].map(|count| (64.0 * differ(count, 0, 1) * 10.0).round() / 10.0);
    assert_eq!(rounded, [7.9, 3.6, 2.5]);
}

#[test]
fn weighted_features_too() {
    // Weights 1, 2 and 3 in turn; 200 heavy features in common.
    let mut random = Random::new(2);
    let weights = |count: usize| (0..count as u32).map(|i| 1 + i % 3).collect::<Vec<_>>();
    let (common, own) = (301, 200);
    let square = |from: usize, to: usize| weights(to)[from..].iter().map(|w| f64::from(w * w)).sum::<f64>();
    let (shared, whole) = (square(0, common), square(0, common + own));
    let expected = (shared / whole).acos() / std::f64::consts::PI;
    let pairs = 2_000;
    let apart: u32 = (0..pairs)
        .map(|_| {
            let all = random.words(common + 2 * own);
            let a = code(&all[..common + own], &weights(common + own), 64);
            let b = code(&[&all[..common], &all[common + own..]].concat(), &weights(common + own), 64);
            distance(&a, &b)
        })
        .sum();
    let observed = f64::from(apart) / (pairs * 64) as f64;
    let noise = noise(expected, pairs * 64);
    assert!((observed - expected).abs() <= noise, "{observed} differ, not {expected} ± {noise}");
}

#[test]
fn unrelated_documents_are_half_the_bits_apart_and_every_bit_is_fair() {
    let mut random = Random::new(3);
    for bits in [64, 128] {
        let simhash = SimHash::new(bits, 3, vec![1, 2], Weights::Binary, None);
        let codes: Vec<Vec<u64>> = (0..3_000)
            .map(|n| {
                // 2n − 1 features of words that are all different: an odd number.
                let text = (0..120).map(|i| format!("w{n}x{i} ")).collect::<String>();
                made(&simhash, &Word, random.next(), &text).fingerprint
            })
            .collect();
        let apart: Vec<f64> = codes.chunks(2).map(|pair| f64::from(distance(&pair[0], &pair[1]))).collect();
        let (mean, deviation) = mean_and_deviation(&apart);
        let half = bits as f64 / 2.0;
        assert!((mean - half).abs() < half / 32.0, "{mean} of {bits} bits apart");
        let expected = (bits as f64).sqrt() / 2.0;
        assert!((deviation / expected - 1.0).abs() < 0.15, "scatter by {deviation}, not {expected}");
        for bit in 0..bits {
            let ones = codes.iter().filter(|code| code[bit / 64] >> (bit % 64) & 1 == 1).count();
            let fair = binomial_at_least(codes.len(), 0.5, ones).min(binomial_at_most(codes.len(), 0.5, ones));
            // Within 50 ± 6 % at this number of documents.
            assert!(fair > IMPROBABLE, "bit {bit} is set in {ones} of {} documents", codes.len());
        }
    }
}

#[test]
fn every_bit_is_set_in_half_of_many_fingerprints() {
    let mut random = Random::new(4);
    let count = 40_000;
    let mut ones = [0usize; 128];
    for _ in 0..count {
        let code = code(&random.words(21), &[], 128);
        ones.iter_mut().enumerate().for_each(|(bit, ones)| *ones += (code[bit / 64] >> (bit % 64) & 1) as usize);
    }
    for (bit, ones) in ones.into_iter().enumerate() {
        let share = ones as f64 / count as f64;
        assert!((share - 0.5).abs() < 0.02, "bit {bit} is set in {share} of the fingerprints");
    }
}

#[test]
fn term_frequencies_make_unrelated_texts_alike_and_distinct_features_do_not() {
    // Words of a Zipf distribution: the k-th is drawn k times less often than the first. Our own measurement: 6 bits apart
    // with term frequencies, 28 without.
    let mut random = Random::new(5);
    let vocabulary: Vec<String> = (1..=20_000).map(|k| format!("w{k}")).collect();
    let mut up_to = Vec::new();
    let mut sum = 0.0;
    for k in 1..=vocabulary.len() {
        sum += 1.0 / k as f64;
        up_to.push(sum);
    }
    let mut text = || -> String {
        let mut word = || {
            let at = (random.next() >> 11) as f64 / (1u64 << 53) as f64 * sum;
            vocabulary[up_to.partition_point(|&end| end < at)].as_str()
        };
        (0..1000).map(|_| [word(), " "].concat()).collect()
    };
    let texts: Vec<String> = (0..60).map(|_| text()).collect();
    let mean = |weights| {
        let simhash = SimHash::new(64, 3, vec![1], weights, None);
        let codes: Vec<_> = texts.iter().map(|text| made(&simhash, &Word, 0, text).fingerprint).collect();
        codes.chunks(2).map(|pair| f64::from(distance(&pair[0], &pair[1]))).sum::<f64>() / 30.0
    };
    let (binary, frequencies) = (mean(Weights::Binary), mean(Weights::TermFrequency));
    assert!(binary > 22.0, "{binary}");
    assert!(frequencies < 12.0, "{frequencies}");
}

#[test]
fn a_few_changed_words_move_a_few_bits() {
    let mut random = Random::new(6);
    let simhash = SimHash::new(64, 3, vec![1], Weights::Binary, None);
    let apart: Vec<f64> = (0..200)
        .map(|_| {
            let mut text = words(&mut random, 501, 1_000_000_000);
            let before = made(&simhash, &Word, 0, &text.join(" ")).fingerprint;
            (0..10).for_each(|i| text[50 * i] = format!("x{}", random.next()));
            f64::from(distance(&before, &made(&simhash, &Word, 0, &text.join(" ")).fingerprint))
        })
        .collect();
    // cos θ = 491/501: 64·θ/π = 4.08.
    let (mean, deviation) = mean_and_deviation(&apart);
    assert!((mean - 4.08).abs() < SIGMAS * deviation / 200f64.sqrt(), "{mean} bits");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn scaling_all_weights_changes_nothing(
        features in prop::collection::vec((any::<u64>(), 0u32..1000), 0..40),
        factor in 1u32..4_000_000,
    ) {
        let (hashes, weights): (Vec<u64>, Vec<u32>) = features.into_iter().unzip();
        let scaled: Vec<u32> = weights.iter().map(|weight| weight * factor).collect();
        prop_assert_eq!(code(&hashes, &weights, 128), code(&hashes, &scaled, 128));
    }

    #[test]
    fn a_weight_is_a_number_of_repeats(features in prop::collection::vec((any::<u64>(), 0u32..6), 1..30)) {
        let (hashes, weights): (Vec<u64>, Vec<u32>) = features.iter().copied().unzip();
        let repeated: Vec<u64> = features.iter().flat_map(|&(hash, times)| vec![hash; times as usize]).collect();
        prop_assert_eq!(code(&hashes, &weights, 64), code(&repeated, &[], 64));
    }

    #[test]
    fn ties_are_0(hashes in prop::collection::vec(any::<u64>(), 0..20), weight in 0u32..=u32::MAX) {
        // Each feature against its complement.
        let both: Vec<u64> = hashes.iter().flat_map(|&hash| [hash, !hash]).collect();
        prop_assert_eq!(code(&both, &vec![weight; both.len()], 64), [0]);
    }
}

/// Which share of the pairs that differ in 2 % of their words is within a distance, with the default features. The help of
/// `--distance` says: a quarter at 3, three quarters at 6, nearly all at 10.
#[test]
fn what_each_distance_finds_of_small_edits() {
    const PAIRS: usize = 400;
    let simhash = SimHash::new(64, 10, vec![1, 2], Weights::Binary, None);
    let mut random = Random::new(11);
    // Word ranks by a Zipf distribution over 50,000 words.
    let mut sums = vec![0.0];
    (1..=50_000).for_each(|rank| sums.push(sums[rank - 1] + 1.0 / rank as f64));
    let word = |random: &mut Random| {
        let at = (random.next() >> 11) as f64 / (1u64 << 53) as f64 * sums[50_000];
        format!("w{}", sums.partition_point(|&sum| sum <= at))
    };
    for length in [300, 1000] {
        let mut within = [0; 3];
        for _ in 0..PAIRS {
            let mut words: Vec<String> = (0..length).map(|_| word(&mut random)).collect();
            let a = made(&simhash, &Word, 0, &words.join(" ")).fingerprint;
            for _ in 0..length / 50 {
                let at = random.below(length);
                words[at] = word(&mut random);
            }
            let apart = distance(&a, &made(&simhash, &Word, 0, &words.join(" ")).fingerprint);
            [3, 6, 10].iter().zip(&mut within).for_each(|(&limit, count)| *count += usize::from(apart <= limit));
        }
        let [at_3, at_6, at_10] = within.map(|count| count as f64 / PAIRS as f64);
        assert!((0.15..0.35).contains(&at_3), "{length} words, distance 3: {at_3}");
        assert!((0.65..0.85).contains(&at_6), "{length} words, distance 6: {at_6}");
        assert!(at_10 > 0.95, "{length} words, distance 10: {at_10}");
    }
}
