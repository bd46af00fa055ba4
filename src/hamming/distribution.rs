//! How fingerprints are distributed: over their bits, and over the keys of tables.

use super::{BlockTables, Layout};
use rayon::slice::ParallelSliceMut;

/// How evenly fingerprints are distributed. The costs of a [`Layout`] assume that each bit is 1 in half of them,
/// independently of the others, so that no key has many more fingerprints than others (Manku, Jain & Das Sarma, WWW 2007,
/// section 4.2, where pages without content make spikes).
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Distribution {
    /// The number of fingerprints.
    pub fingerprints: u64,
    /// For each bit, the share of the fingerprints in which it is 1, to four decimals. Empty without fingerprints.
    pub ones: Vec<f64>,
    /// The number of tables whose keys were counted: all, but at most [`MOST_TABLES`](Self::MOST_TABLES).
    pub tables: u64,
    /// The number of fingerprints under a key that is expected of random ones, in the table with the shortest keys; to
    /// four digits.
    pub expected_of_a_key: f64,
    /// The most fingerprints under one key of any of these tables.
    pub most_of_a_key: u64,
    /// The keys of these tables that have more than [`CROWDED`](Self::CROWDED) fingerprints, and more than `CROWDED` times
    /// as many as expected in their table.
    pub crowded_keys: u64,
}

impl Distribution {
    /// How many times the expected number of fingerprints makes a key crowded.
    pub const CROWDED: f64 = 10.0;
    /// The most tables whose keys are counted: the first ones of a layout.
    pub const MOST_TABLES: usize = 64;

    /// The distribution of fingerprints, given back to back, over the keys of a layout.
    ///
    /// Cost: a sort of all fingerprints for each table that is counted. Memory: 8 bytes a fingerprint.
    ///
    /// # Panics
    /// If the last fingerprint is not whole.
    pub fn of(fingerprints: &[u64], layout: &Layout) -> Self {
        let words = layout.bits().div_ceil(64);
        assert!(fingerprints.len().is_multiple_of(words), "a part of a fingerprint of {words} words");
        let count = fingerprints.len() / words;
        let tables = BlockTables::of(layout);
        let counted = tables.len().min(Self::MOST_TABLES);
        let mut distribution = Distribution {
            fingerprints: count as u64,
            ones: ones(fingerprints, layout.bits()),
            tables: counted as u64,
            expected_of_a_key: four_digits(layout.candidates_of_a_probe(count as f64)),
            ..Distribution::default()
        };
        let mut keys = Vec::with_capacity(count);
        for table in 0..counted {
            let expected = count as f64 * 0.5f64.powi(tables.key_bits(table) as i32);
            let bound = Self::CROWDED * expected.max(1.0);
            keys.clear();
            keys.extend(fingerprints.chunks_exact(words).map(|fingerprint| tables.key(fingerprint, table)));
            keys.par_sort_unstable();
            for equal in keys.chunk_by(|a, b| a == b) {
                distribution.most_of_a_key = distribution.most_of_a_key.max(equal.len() as u64);
                distribution.crowded_keys += u64::from(equal.len() as f64 > bound);
            }
        }
        distribution
    }
}

impl Distribution {
    /// The least, the average and the highest share of ones of a bit; 0 without fingerprints.
    pub fn ones_range(&self) -> [f64; 3] {
        let (count, ones) = (self.ones.len().max(1) as f64, || self.ones.iter().copied());
        let average = (ones().fold(0.0, |sum, share| sum + share) / count * 1e4).round() / 1e4;
        [ones().reduce(f64::min).unwrap_or(0.0), average, ones().reduce(f64::max).unwrap_or(0.0)]
    }
}

/// The share of fingerprints in which each bit is 1.
fn ones(fingerprints: &[u64], bits: usize) -> Vec<f64> {
    let words = bits.div_ceil(64);
    let count = (fingerprints.len() / words) as f64;
    let mut ones = vec![0u64; bits];
    for fingerprint in fingerprints.chunks_exact(words) {
        ones.iter_mut().enumerate().for_each(|(bit, ones)| *ones += fingerprint[bit / 64] >> (bit % 64) & 1);
    }
    let shares = ones.into_iter().map(|ones| (ones as f64 / count * 1e4).round() / 1e4);
    if fingerprints.is_empty() { Vec::new() } else { shares.collect() }
}

fn four_digits(number: f64) -> f64 {
    format!("{number:.3e}").parse().expect("it was a number")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::mix;

    #[test]
    fn random_fingerprints_are_even() {
        let codes: Vec<u64> = (0..20_000).map(mix).collect();
        let spread = Distribution::of(&codes, &Layout::one_level(64, 3, 4));
        assert_eq!((spread.fingerprints, spread.tables, spread.expected_of_a_key), (20_000, 4, 0.3052));
        // Four standard deviations of a share are 0.0141.
        assert!(spread.ones.len() == 64 && spread.ones.iter().all(|ones| (ones - 0.5).abs() < 0.0142));
        assert!(spread.most_of_a_key <= 8 && spread.crowded_keys == 0);
    }

    #[test]
    fn a_spike_is_seen_in_each_table() {
        let mut codes: Vec<u64> = (0..1000).map(mix).collect();
        codes.extend([u64::MAX; 500]);
        let spread = Distribution::of(&codes, &Layout::with_tables(64, 3, 16).unwrap());
        assert_eq!((spread.tables, spread.most_of_a_key, spread.crowded_keys), (16, 500, 16));
        assert!(spread.ones.iter().all(|ones| *ones > 0.6));
        assert_eq!(Distribution::of(&codes, &Layout::with_tables(64, 3, 84).unwrap()).crowded_keys, 64);
    }

    #[test]
    fn words_belong_together() {
        let codes = [1, 0, 3, u64::MAX];
        let spread = Distribution::of(&codes, &Layout::one_level(96, 1, 2));
        assert_eq!((spread.fingerprints, spread.ones.len(), spread.most_of_a_key), (2, 96, 1));
        assert_eq!([spread.ones[0], spread.ones[1], spread.ones[2], spread.ones[64]], [1.0, 0.5, 0.0, 0.5]);
        let none = Distribution::of(&[], &Layout::one_level(64, 3, 4));
        assert_eq!((spread.ones_range(), none.ones_range()), ([0.0, 0.1823, 1.0], [0.0; 3]));
        assert_eq!((none.fingerprints, none.most_of_a_key, none.ones.len()), (0, 0, 0));
    }
}
