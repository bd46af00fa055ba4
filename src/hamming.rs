//! Fingerprints of sign bits: computing them from weighted features, their distance, the block tables that find every
//! pair within a distance, and a join that returns every such pair of given codes.
//!
//! Shared by the families whose fingerprint is the signs of a sum of ±1 vectors (Charikar, STOC 2002).

mod combinations;
pub(crate) mod cost;
mod distribution;
mod join;
pub(crate) mod layout;
mod tables;

use crate::hash::mix;
use crate::kernel::{Level, majority::majority, within::apart};

pub use combinations::{binomial, combinations};
pub use distribution::Distribution;
pub use join::{Near, each_pair_within, pairs_within};
pub(crate) use join::{each_across, each_pair_while};
pub use layout::Layout;
pub use tables::BlockTables;

/// Appends the words of the fingerprint, of 64 bits each: bit `i` is 1 iff the features whose hash has bit `i` set weigh
/// more than the others. A tie gives 0. `bits` is a multiple of 32; the upper half of the last word may be unused, and
/// is 0. A fingerprint of fewer bits is the beginning of one of more.
///
/// The first 64 hash bits of a feature are its hash itself; further words are mixed from it. `weights` is parallel to
/// `hashes`, or empty, which means 1 each. Sums are exact for up to 2³⁰ features of weight below 2³².
///
/// Cost: 64 additions a feature and word with weights; without, a tenth of that, or less with vectors.
pub fn sign_bits(hashes: &[u64], weights: &[u32], bits: usize, out: &mut Vec<u64>) {
    assert!(bits.is_multiple_of(32) && bits > 0, "{bits} bits are not a multiple of 32");
    assert!(weights.is_empty() || weights.len() == hashes.len(), "one weight a feature, or none");
    for word in 0..bits.div_ceil(64) as u64 {
        let pattern = |hash: u64| mix(hash.wrapping_add(word.wrapping_mul(0x9e3779b97f4a7c15)));
        out.push(match weights {
            [] if word == 0 => majority(Level::current(), hashes, |hash| hash),
            [] => majority(Level::current(), hashes, pattern),
            weights if word == 0 => weighted_majority(hashes.iter().copied().zip(weights)),
            weights => weighted_majority(hashes.iter().map(|&hash| pattern(hash)).zip(weights)),
        });
    }
    if !bits.is_multiple_of(64)
        && let Some(last) = out.last_mut()
    {
        *last &= u64::from(u32::MAX);
    }
}

/// Returns the bits whose patterns weigh more than half of all.
fn weighted_majority<'w>(patterns: impl Iterator<Item = (u64, &'w u32)>) -> u64 {
    let (mut set, mut total) = ([0i64; 64], 0);
    for (pattern, &weight) in patterns {
        let weight = i64::from(weight);
        total += weight;
        for (bit, sum) in set.iter_mut().enumerate() {
            // All ones or all zeros, so that no branch depends on a pattern.
            *sum += weight & ((pattern >> bit & 1) as i64).wrapping_neg();
        }
    }
    // set − (total − set) > 0
    set.iter().enumerate().fold(0, |word, (bit, &sum)| word | u64::from(2 * sum > total) << bit)
}

/// Returns the number of bits in which two fingerprints of the same length differ.
#[inline]
pub fn distance(a: &[u64], b: &[u64]) -> u32 {
    apart(Level::current(), a, b)
}

/// Returns the probability that one sign bit differs between two feature vectors of this cosine: `θ / π`,
/// `θ = arccos(c)` (Charikar, STOC 2002, section 3). With hash bits instead of normal deviates it holds if many
/// features differ. A single additional feature on one side flips bits up to √(π/2) ≈ 1.25 times as often
/// ([`bits_differ_at_most`]), a single replaced feature 0.89 times.
pub fn bits_differ(cosine: f64) -> f64 {
    cosine.clamp(-1.0, 1.0).acos() / std::f64::consts::PI
}

/// Returns an upper bound of the probability that one sign bit differs between two feature vectors of at least this
/// cosine, whatever their difference. It is the probability for copies of which one has a single additional feature,
/// which differ most often, but never less than [`bits_differ`].
///
/// Of `n` features that weigh the same, one more leaves a cosine of `√(n / (n + 1))`. It changes a bit iff the sum of `n` signs is 0 and
/// the next sign is +1, or, of an odd number, iff the sum is 1 and the next sign is −1: with probability `½·C(2m, m) / 4^m`, where
/// `m = ⌈n / 2⌉`, which is at most `1 / √(2π·(2m + ½))`. The smallest `n` that reaches the cosine differs most.
///
/// With other weights it holds as far as the shared features make the sum approximately normal. It does not hold if a
/// few features of equal weight outweigh all others together: they cancel each other in many bits, where any additional
/// feature then decides.
pub fn bits_differ_at_most(cosine: f64) -> f64 {
    let cosine = cosine.clamp(0.0, 1.0);
    let others = cosine * cosine / (1.0 - cosine * cosine);
    if !others.is_finite() {
        return 0.0;
    }
    // A cosine that was rounded up in the last of six digits still means this number.
    let pairs = ((others * (1.0 - 1e-5)).ceil() / 2.0).ceil().max(1.0);
    let lone = 1.0 / (2.0 * std::f64::consts::PI * (2.0 * pairs + 0.5)).sqrt();
    lone.max(bits_differ(cosine))
}

/// Returns the factor by which a sign bit differs more often than with probability `θ / π`, for these differences of
/// the weights of two vectors: the mean absolute sum of the differences with random signs, relative to that of many
/// small differences.
pub fn excess_of(differences: &[f64]) -> f64 {
    let deviation = differences.iter().map(|d| d * d).sum::<f64>().sqrt();
    if deviation == 0.0 || differences.len() > 10 {
        return 1.0;
    }
    let signed = |signs: u32| {
        let terms = differences.iter().enumerate();
        terms.map(|(i, d)| if signs >> i & 1 == 1 { *d } else { -d }).sum::<f64>().abs()
    };
    let all = 1u32 << differences.len();
    let mean = (0..all).map(signed).sum::<f64>() / f64::from(all);
    mean / deviation / (2.0 / std::f64::consts::PI).sqrt()
}

/// Returns the cosine at which this share of the bits differs on average: `cos(π·share)`.
pub fn cosine_of(share: f64) -> f64 {
    (std::f64::consts::PI * share).cos()
}

/// Returns the standard error of the [cosine](cosine_of) by which two fingerprints of `bits` bits estimate that of their
/// feature vectors, if they differ in `distance` bits; to four decimals. Each bit differs with probability `p =
/// θ / π`, so that the share of those that differ has the standard error `√(p(1 − p) / bits)`, and the cosine `π·sin θ` times as
/// much.
pub(crate) fn error_of_cosine(bits: usize, distance: usize) -> f64 {
    let share = distance as f64 / bits as f64;
    let of_share = (share * (1.0 - share) / bits as f64).sqrt();
    let error = std::f64::consts::PI * (std::f64::consts::PI * share).sin() * of_share;
    (error * 1e4).round() / 1e4
}

/// Returns the probability that two fingerprints of `bits` bits are at most `distance` apart if each bit differs with
/// probability `p`, independently of the others. `p` is [`bits_differ`] if many features differ, and at most
/// [`bits_differ_at_most`] in any case.
pub fn probability_within(bits: usize, distance: usize, p: f64) -> f64 {
    if p == 0.0 {
        return 1.0;
    }
    // Terms in logarithms: powers of p underflow at 128 bits.
    let term = |i: usize| (binomial(bits, i).ln() + i as f64 * p.ln() + (bits - i) as f64 * (-p).ln_1p()).exp();
    (0..=distance).map(term).sum::<f64>().min(1.0)
}

/// Returns a sentence for plans: the probability that a distance finds a pair at a cosine.
pub(crate) fn stated(bits: usize, distance: usize, cosine: f64) -> String {
    let [single, many] =
        [bits_differ_at_most(cosine), bits_differ(cosine)].map(|differ| probability_within(bits, distance, differ));
    format!(
        "the curve is for copies of which one has a single word more, which are found least surely; at a cosine of {cosine} they are found with \
         probability {single:.4}, pairs that differ in many words with {many:.4}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn manku_numbers() {
        // Manku, Jain & Das Sarma 2007, section 3: 64 bits, k = 3, six blocks: 20 tables of 31 to 33 bits.
        assert_eq!(binomial(64, 3), 41_664.0);
        assert_eq!((0..=3).map(|k| binomial(64, k)).sum::<f64>(), 43_745.0);
        let tables = BlockTables::new(64, 6, 3);
        let with = |bits| (0..tables.len()).filter(|&t| tables.key_bits(t) == bits).count();
        assert_eq!((tables.len(), with(31), with(32), with(33)), (20, 4, 12, 4));
        // 2^34 codes against keys of 31, 28, 25 and 16 bits.
        let candidates = |key_bits: i32| 2f64.powi(34 - key_bits);
        assert_eq!([31, 28, 25, 16].map(candidates), [8.0, 64.0, 512.0, 262_144.0]);
        // Five blocks, choose two to differ in none: 10 tables of 25 and 26 bits.
        let tables = BlockTables::new(64, 5, 3);
        assert_eq!((tables.len(), tables.key_bits(0), tables.key_bits(9)), (10, 26, 25));
    }

    #[test]
    fn errors_of_estimated_cosines() {
        // p = 3/64: √(.046875 · .953125 / 64) = .026421, and π · sin(.147262) = .460971.
        assert_eq!([error_of_cosine(64, 3), error_of_cosine(64, 0)], [0.0122, 0.0]);
        // At a right angle: π · √(.25 / 400).
        assert_eq!(error_of_cosine(400, 200), 0.0785);
    }

    #[test]
    fn choices_come_in_the_order_of_the_simhash_cpp_tests() {
        let all = combinations(6, 3);
        assert_eq!((all.len(), &all[0], &all[1], &all[19]), (20, &vec![0, 1, 2], &vec![0, 1, 3], &vec![3, 4, 5]));
    }

    #[test]
    fn distances_of_a_published_walk_through() {
        // Fingerprints of three sentences, printed in a well-known introduction to SimHash in Ruby: 4, 16 and 12 apart.
        let codes = [851459198u64, 847263864, 984968088];
        let apart = |i: usize, j: usize| distance(&codes[i..=i], &codes[j..=j]);
        assert_eq!((apart(0, 1), apart(0, 2), apart(1, 2)), (4, 16, 12));
    }

    /// Sums one bit at a time in 128-bit integers.
    fn sign_bits_plain(hashes: &[u64], weights: &[u32]) -> u64 {
        let mut word = 0;
        for bit in 0..64 {
            let mut sum = 0i128;
            for (i, hash) in hashes.iter().enumerate() {
                let weight = if weights.is_empty() { 1 } else { i128::from(weights[i]) };
                sum += if hash & (1 << bit) != 0 { weight } else { -weight };
            }
            if sum > 0 {
                word |= 1 << bit;
            }
        }
        word
    }

    proptest! {
        #[test]
        fn sign_bits_equal_one_counter_a_bit(
            features in prop::collection::vec((any::<u64>(), prop::sample::select(vec![0, 1, 2, 7, u32::MAX])), 0..600),
            weighted: bool,
        ) {
            let (hashes, weights): (Vec<u64>, Vec<u32>) = features.into_iter().unzip();
            let weights = if weighted { weights } else { vec![] };
            let mut words = Vec::new();
            sign_bits(&hashes, &weights, 128, &mut words);
            prop_assert_eq!(words[0], sign_bits_plain(&hashes, &weights));
            let second: Vec<u64> = hashes.iter().map(|h| mix(h.wrapping_add(0x9e3779b97f4a7c15))).collect();
            prop_assert_eq!(words[1], sign_bits_plain(&second, &weights));
        }

        #[test]
        fn every_pair_within_the_distance_shares_a_table(
            a in any::<[u64; 2]>(),
            flips in prop::collection::vec(0usize..128, 0..7),
            more_blocks in 1usize..4,
        ) {
            let mut b = a;
            for flip in &flips {
                b[flip / 64] ^= 1 << (flip % 64);
            }
            let tables = BlockTables::new(128, 6 + more_blocks, 6);
            prop_assert!((0..tables.len()).any(|t| tables.key(&a, t) == tables.key(&b, t)));
            for t in 0..tables.len() {
                prop_assert_eq!(tables.share_key(&a, &b, t), tables.key(&a, t) == tables.key(&b, t));
            }
        }

        #[test]
        fn a_shared_table_means_that_its_blocks_agree(a: u64, b: u64) {
            let tables = BlockTables::new(64, 4, 3);
            for t in 0..tables.len() {
                let agree = (a ^ b) & tables.masks[t][0] == 0;
                prop_assert_eq!(tables.key(&[a], t) == tables.key(&[b], t), agree);
                prop_assert_eq!(tables.share_key(&[a], &[b], t), agree);
            }
        }
    }
}
