//! The hashes that fingerprints are made of. They are part of every stored and printed fingerprint, so they are written
//! down here with test vectors and never change within a hash version.
//!
//! | what | how |
//! |---|---|
//! | a token | XXH3-64 of its normalised UTF-8 bytes, seeded with the run's seed |
//! | a shingle of `w` tokens | `mix(Σ h(tᵢ)·Bʷ⁻¹⁻ⁱ mod 2⁶⁴)`, rolled from one shingle to the next |
//! | a document's token sequence | XXH3-128 of its token hashes, little-endian |
//!
//! Hashes of shingles as other tools take them, for literal compatibility, are in [`crate::algorithm::shingles`].
//!
//! XXH3 is a published specification with implementations in every language, so a signature made here can be made anywhere.
//! The seed goes into the token hash: texts crafted to collide under one seed do not under another. (XXH3 is no cryptographic
//! hash; a secret seed makes crafting them hard, not impossible.)

use xxhash_rust::xxh3::{Xxh3, xxh3_64_with_seed};

/// The version of everything in this file; stored with each fingerprint that outlives a run.
pub const HASH_VERSION: u32 = 1;

/// Multiplier of the rolling shingle hash: odd, so that it is invertible mod 2⁶⁴ (Steele & Vigna's 64-bit spectral constant).
const SHINGLE_BASE: u64 = 0xd1342543de82ef95;

/// The 64-bit hash of one token.
#[inline]
pub fn token_hash(token: &[u8], seed: u64) -> u64 {
    xxh3_64_with_seed(token, seed)
}

/// The 128-bit hash of a token sequence: equal sequences, and for all practical purposes only those, agree
/// (N documents collide by chance with probability N²/2¹²⁹).
pub fn sequence_hash(tokens: &[u64], seed: u64) -> u128 {
    // Through a buffer on the stack: no allocation a document.
    let mut hasher = Xxh3::with_seed(seed);
    let mut bytes = [0u8; 1024];
    for tokens in tokens.chunks(bytes.len() / 8) {
        for (place, token) in bytes.chunks_exact_mut(8).zip(tokens) {
            place.copy_from_slice(&token.to_le_bytes());
        }
        hasher.update(&bytes[..8 * tokens.len()]);
    }
    hasher.digest128()
}

/// A bijection of 64-bit words with full avalanche (the finaliser of SplitMix64: Steele, Lea & Flood, OOPSLA 2014).
#[inline(always)]
pub const fn mix(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d049bb133111eb);
    x ^ (x >> 31)
}

/// Folds one more word into a running hash; order matters.
#[inline(always)]
pub const fn combine(state: u64, word: u64) -> u64 {
    mix(state.rotate_left(23).wrapping_mul(0x9e3779b97f4a7c15) ^ word)
}

/// Appends the hash of every run of `width` consecutive tokens: `tokens.len() − width + 1` of them, repeats included.
/// Fewer tokens than `width` are one shingle of all of them; no tokens give none.
///
/// Rolling polynomial hash mod 2⁶⁴ (Karp & Rabin 1987; Broder 1997 uses Rabin's over GF(2)) followed by [`mix`]: two
/// multiplications a shingle whatever the width. Shingles wider
/// than 64 are refused by the callers, because a polynomial mod 2⁶⁴ loses bits on very long self-similar sequences.
pub fn shingle_hashes(tokens: &[u64], width: usize, out: &mut Vec<u64>) {
    assert!(width >= 1, "a shingle has at least one token");
    if tokens.is_empty() {
        return;
    }
    let width = width.min(tokens.len());
    let horner = |h: u64, t: &u64| h.wrapping_mul(SHINGLE_BASE).wrapping_add(*t);
    let mut h = tokens[..width].iter().fold(0, horner);
    // The factor of the token that leaves the window, once the window has moved on by one.
    let leaving = (0..width).fold(1u64, |p, _| p.wrapping_mul(SHINGLE_BASE));
    out.reserve(tokens.len() - width + 1);
    out.push(mix(h));
    for (old, new) in tokens.iter().zip(&tokens[width..]) {
        h = horner(h, new).wrapping_sub(old.wrapping_mul(leaving));
        out.push(mix(h));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn token_hashes_are_xxh3() {
        // XXH3-64 of the empty input with seed 0, from the xxHash specification.
        assert_eq!(token_hash(b"", 0), 0x2d06800538d394c2);
        assert_eq!(token_hash(b"near", 0), xxhash_rust::xxh3::xxh3_64(b"near"));
        assert_ne!(token_hash(b"near", 0), token_hash(b"near", 1));
    }

    #[test]
    fn mix_is_splitmix64() {
        // First outputs of SplitMix64 with seed 0 (state advances by the golden gamma before mixing).
        assert_eq!(mix(0x9e3779b97f4a7c15), 0xe220a8397b1dcdaf);
        assert_eq!(mix(0x9e3779b97f4a7c15u64.wrapping_mul(2)), 0x6e789e6aa1b965f4);
    }

    /// Computed with the reference implementation of XXH3 and a few lines of Python.
    #[test]
    fn fixed_values() {
        let words = ["the", "quick", "brown", "fox", "jumps", "over"];
        let expected = [
            (
                0,
                [0xcb1283631cf33d7d, 0xa484d68ab370b322],
                [0x53951680105ce700, 0x2e3061a59aaa02c9],
                0x46660f3336c6116ad0d492bdd7944a90,
            ),
            (
                42,
                [0xfee50c6a94780e85, 0x4f5528fa1748502c],
                [0x564f84e53ecb23e2, 0x9a1e77c44365b7ca],
                0xca1921aff375c00f26a35638062dd50b,
            ),
        ];
        for (seed, first_tokens, shingles_of_five, sequence) in expected {
            let tokens: Vec<u64> = words.iter().map(|word| token_hash(word.as_bytes(), seed)).collect();
            assert_eq!(tokens[..2], first_tokens);
            let mut shingles = Vec::new();
            shingle_hashes(&tokens, 5, &mut shingles);
            assert_eq!(shingles, shingles_of_five);
            assert_eq!(sequence_hash(&tokens, seed), sequence);
        }
        let long: Vec<u64> = (0..300).map(mix).collect();
        assert_eq!(sequence_hash(&long, 7), 0x93ea6123014b7ea75508fc11be5de143);
        assert_eq!([combine(1, 2), combine(mix(1), 3)], [0xee89d4c441c1e64b, 0x9dd86239c17b7d54]);
    }

    #[test]
    fn rolling_equals_hashing_each_window_alone() {
        let tokens: Vec<u64> = (1..200).map(mix).collect();
        for width in [1, 2, 3, 5, 8, 64] {
            let mut rolled = Vec::new();
            shingle_hashes(&tokens, width, &mut rolled);
            let alone: Vec<u64> = tokens
                .windows(width)
                .map(|w| mix(w.iter().fold(0, |h: u64, t| h.wrapping_mul(SHINGLE_BASE).wrapping_add(*t))))
                .collect();
            assert_eq!(rolled, alone, "width {width}");
        }
    }

    #[test]
    fn fewer_tokens_than_a_shingle_are_one_shingle() {
        let mut out = Vec::new();
        shingle_hashes(&[7, 8], 5, &mut out);
        assert_eq!(out.len(), 1);
        shingle_hashes(&[], 5, &mut out);
        assert_eq!(out.len(), 1);
    }
}
