//! Fingerprints of sign bits: computing them from weighted features, their distance, the block tables that find every
//! pair within a distance, and a join that returns every such pair of given codes.
//!
//! Shared by the families whose fingerprint is the signs of a sum of ±1 vectors (Charikar, STOC 2002).

mod join;

use crate::hash::{combine, mix};
use crate::kernel::{Level, counts::count_bits};

pub use join::{Near, each_pair_within, pairs_within};

/// Appends the `bits / 64` words of the fingerprint: bit `i` is 1 iff the features whose hash has bit `i` set weigh
/// more than the others. A tie gives 0. `bits` is a multiple of 64.
///
/// The first 64 hash bits of a feature are its hash itself; further words are mixed from it. `weights` is parallel to
/// `hashes`, or empty, which means 1 each. Sums are exact for up to 2³⁰ features of weight below 2³².
///
/// Cost: 64 additions a feature and word with weights; without, a third of that, or a tenth with AVX2.
pub fn sign_bits(hashes: &[u64], weights: &[u32], bits: usize, out: &mut Vec<u64>) {
    assert!(bits.is_multiple_of(64) && bits > 0, "{bits} bits are not whole words");
    assert!(weights.is_empty() || weights.len() == hashes.len(), "one weight a feature, or none");
    for word in 0..bits as u64 / 64 {
        let pattern = |&hash: &u64| match word {
            0 => hash,
            _ => mix(hash.wrapping_add(word.wrapping_mul(0x9e3779b97f4a7c15))),
        };
        let patterns = hashes.iter().map(pattern);
        let (set, total) = if weights.is_empty() {
            (count_bits(Level::current(), patterns), hashes.len() as i64)
        } else {
            weighted_popcount(patterns.zip(weights.iter().map(|&weight| i64::from(weight))))
        };
        // set − (total − set) > 0
        out.push(set.iter().enumerate().fold(0, |word, (bit, &sum)| word | u64::from(2 * sum > total) << bit));
    }
}

/// Returns, for each bit, the weight of the patterns that have it; and the weight of all.
fn weighted_popcount(patterns: impl Iterator<Item = (u64, i64)>) -> ([i64; 64], i64) {
    let (mut set, mut total) = ([0i64; 64], 0);
    for (pattern, weight) in patterns {
        total += weight;
        for (bit, sum) in set.iter_mut().enumerate() {
            // All ones or all zeros, so that no branch depends on a pattern.
            *sum += weight & ((pattern >> bit & 1) as i64).wrapping_neg();
        }
    }
    (set, total)
}

/// Returns the number of bits in which two fingerprints of the same length differ.
#[inline]
pub fn distance(a: &[u64], b: &[u64]) -> u32 {
    a.iter().zip(b).map(|(x, y)| (x ^ y).count_ones()).sum()
}

/// The block tables that find every pair of `bits`-bit fingerprints within `distance` of each other (Manku, Jain & Das
/// Sarma, WWW 2007, section 3).
///
/// The bits are cut into `blocks` blocks. Two fingerprints that differ in at most `distance` bits differ in at most
/// that many blocks, so they agree on at least `blocks − distance` whole ones. There is one table for each choice of
/// that many blocks, keyed by their bits, so every such pair shares a key in some table. That makes C(blocks, distance)
/// tables.
#[derive(Clone, Debug)]
pub struct BlockTables {
    /// For each table, the bits that make its key: one mask a word.
    masks: Vec<Vec<u64>>,
}

impl BlockTables {
    /// Tables for `blocks` blocks of nearly equal size, the larger ones first (64 bits in 6: 11, 11, 11, 11, 10, 10).
    ///
    /// # Panics
    /// Unless `distance < blocks <= bits`.
    pub fn new(bits: usize, blocks: usize, distance: usize) -> Self {
        assert!(distance < blocks && blocks <= bits, "{blocks} blocks for distance {distance} of {bits} bits");
        let sizes = block_sizes(bits, blocks);
        let mut block_masks = Vec::with_capacity(blocks);
        let mut start = 0;
        for size in sizes {
            let mut mask = vec![0u64; bits.div_ceil(64)];
            for bit in start..start + size {
                mask[bit / 64] |= 1 << (bit % 64);
            }
            start += size;
            block_masks.push(mask);
        }
        let merge = |chosen: &Vec<usize>| {
            let words = 0..bits.div_ceil(64);
            words.map(|w| chosen.iter().fold(0, |mask, &block| mask | block_masks[block][w])).collect()
        };
        BlockTables { masks: combinations(blocks, blocks - distance).iter().map(merge).collect() }
    }

    /// Returns the number of tables.
    pub fn len(&self) -> usize {
        self.masks.len()
    }

    /// Returns false: there is at least one table.
    pub fn is_empty(&self) -> bool {
        self.masks.is_empty()
    }

    /// Returns the number of bits of a table's key.
    pub fn key_bits(&self, table: usize) -> u32 {
        self.masks[table].iter().map(|mask| mask.count_ones()).sum()
    }

    /// Returns the key of a fingerprint in a table: a hash of the chosen bits and the table's number.
    #[inline]
    pub fn key(&self, fingerprint: &[u64], table: usize) -> u64 {
        let chosen = self.masks[table].iter().zip(fingerprint).map(|(mask, word)| mask & word);
        chosen.fold(mix(table as u64 + 1), combine)
    }
}

/// `bits` in `blocks` parts, the larger first.
fn block_sizes(bits: usize, blocks: usize) -> impl Iterator<Item = usize> {
    (0..blocks).map(move |i| bits / blocks + usize::from(i < bits % blocks))
}

/// Returns all ways to choose `k` of `0..n`, ascending: 012, 013, … (the order of Manku's tables).
pub fn combinations(n: usize, k: usize) -> Vec<Vec<usize>> {
    let mut all = Vec::new();
    let mut chosen: Vec<usize> = (0..k).collect();
    loop {
        all.push(chosen.clone());
        // The last position that can still move up.
        let Some(i) = (0..k).rev().find(|&i| chosen[i] < n - k + i) else {
            return all;
        };
        chosen[i] += 1;
        for j in i + 1..k {
            chosen[j] = chosen[j - 1] + 1;
        }
    }
}

/// Returns `n` over `k`, as a double (exact below 2⁵³).
pub fn binomial(n: usize, k: usize) -> f64 {
    (0..k).fold(1.0, |c, i| c * (n - i) as f64 / (i + 1) as f64)
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

/// The cost of a number of blocks, for a self-join of `documents` fingerprints.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct BlockCost {
    /// The number of blocks.
    pub blocks: usize,
    /// Number of tables, C(blocks, distance).
    pub tables: f64,
    /// Pairs of fingerprints expected to be compared over all tables, if the codes are random.
    pub compared: f64,
    /// Estimated time in nanoseconds on one core: sorting plus comparing.
    pub nanoseconds: f64,
}

/// Nanoseconds to key and sort one document in one table, and to compare one pair: measured on one core of the machine of
/// `benches/README.md`. Only their ratio matters, and only for speed: every number of blocks finds the same pairs.
const SORT_NANOSECONDS: f64 = 40.0;
const COMPARE_NANOSECONDS: f64 = 3.0;

/// Returns the cost of `blocks` blocks: sorting every table, plus comparing the pairs that would share a key if the
/// codes were random.
pub fn block_cost(bits: usize, blocks: usize, distance: usize, documents: f64) -> BlockCost {
    let tables = binomial(blocks, distance);
    let sizes: Vec<usize> = block_sizes(bits, blocks).collect();
    // Blocks have two sizes: the sum is over the number of larger ones among the chosen blocks.
    let (large, chosen) = (sizes.iter().filter(|&&s| s > bits / blocks).count(), blocks - distance);
    let collide: f64 = (0..=chosen.min(large))
        .filter(|of_large| chosen - of_large <= blocks - large)
        .map(|of_large| {
            let ways = binomial(large, of_large) * binomial(blocks - large, chosen - of_large);
            ways * 0.5f64.powi((chosen * (bits / blocks) + of_large) as i32)
        })
        .sum();
    let compared = documents * documents / 2.0 * collide;
    let nanoseconds = tables * documents * SORT_NANOSECONDS + compared * COMPARE_NANOSECONDS;
    BlockCost { blocks, tables, compared, nanoseconds }
}

/// Returns the number of blocks that costs least for this many documents, with its cost.
pub fn cheapest_blocks(bits: usize, distance: usize, documents: f64) -> BlockCost {
    (distance + 1..=bits.min(distance + 16))
        .map(|blocks| block_cost(bits, blocks, distance, documents))
        .filter(|cost| cost.blocks == distance + 1 || cost.tables <= 1024.0)
        .min_by(|a, b| a.nanoseconds.total_cmp(&b.nanoseconds))
        .expect("there is always distance + 1")
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

    #[test]
    fn expected_pairs_for_a_hundred_million_codes() {
        // k = 3, N = 1e8: m = 4 compares 3.1e11 pairs, m = 5 1.0e9, m = 6 2.6e7.
        let near = |blocks, expected: f64| {
            let got = block_cost(64, blocks, 3, 1e8).compared;
            assert!((got / expected - 1.0).abs() < 0.05, "{blocks} blocks: {got}");
        };
        near(4, 3.05e11);
        near(5, 1.04e9);
        near(6, 2.6e7);
    }

    #[test]
    fn more_documents_take_more_blocks() {
        let blocks = |documents| cheapest_blocks(64, 3, documents).blocks;
        assert_eq!((blocks(1e4), blocks(1e8)), (4, 5));
        assert!(blocks(1e10) >= 6);
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
        }

        #[test]
        fn a_shared_table_means_that_its_blocks_agree(a: u64, b: u64) {
            let tables = BlockTables::new(64, 4, 3);
            for t in 0..tables.len() {
                let agree = (a ^ b) & tables.masks[t][0] == 0;
                prop_assert_eq!(tables.key(&[a], t) == tables.key(&[b], t), agree);
            }
        }
    }
}
