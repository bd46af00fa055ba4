//! The hashes that fingerprints are made of. They are part of every stored and printed fingerprint, so they are written
//! down here with test vectors and never change within a hash version.
//!
//! | what | how |
//! |---|---|
//! | a token of up to 16 bytes of normalised UTF-8 | a folded product of its two words, see `short_token_hash`, seeded with the run's seed |
//! | a longer token | XXH3-64, seeded likewise |
//! | a shingle of `w` tokens | `mix(Σ h(tᵢ)·Bʷ⁻¹⁻ⁱ mod 2⁶⁴)`, rolled from one shingle to the next |
//! | a document's token sequence | XXH3-128 of its token hashes, little-endian |
//!
//! Hashes of shingles as other tools take them, for literal compatibility, are in [`crate::algorithm::shingles`].
//!
//! XXH3 is a published specification with implementations in every language, and the rest is a few lines in any, so a signature
//! made here can be made anywhere. The seed goes into the token hash: texts crafted to collide under one seed do not under
//! another. (None of it is a cryptographic hash; a secret seed makes crafting them hard, not impossible.)

use xxhash_rust::xxh3::{Xxh3, xxh3_64_with_seed};

/// The version of everything in this file; stored with each fingerprint that outlives a run.
pub const HASH_VERSION: u32 = 2;

/// Multiplier of the rolling shingle hash: odd, so that it is invertible mod 2⁶⁴ (Steele & Vigna's 64-bit spectral constant).
const SHINGLE_BASE: u64 = 0xd1342543de82ef95;

/// Keys of [`short_token_hash`]. The factors of its product can only be 0, which would make it forget the other one, for
/// a token that holds bytes that no UTF-8 has, unless the seed is known.
const FIRST_KEY: u64 = 0xfd1b_c0ff_9ef5_c1fb;
const SECOND_KEY: u64 = 0xc1a7_fff8_53fe_d5fc;

/// The 64-bit hash of one token.
#[inline]
pub fn token_hash(token: &[u8], seed: u64) -> u64 {
    if token.len() > 16 {
        return xxh3_64_with_seed(token, seed);
    }
    let mut bytes = [0; 16];
    bytes[..token.len()].copy_from_slice(token);
    let both = u128::from_le_bytes(bytes);
    short_token_hash((both as u64, (both >> 64) as u64), token.len(), seed)
}

/// [`token_hash`] of a token of at most 16 bytes, given as two little-endian words of which only these bytes count.
///
/// The bytes past the token are cleared, the words, each with its key and the seed, are multiplied to 128 bits, and the
/// halves of the product are folded together, with the length (Lemire & Kaser 2014; wyhash). No branch goes by the length,
/// which nobody can predict.
#[inline(always)]
pub(crate) fn short_token_hash((first, second): (u64, u64), length: usize, seed: u64) -> u64 {
    debug_assert!(length <= 16);
    let first = first & KEPT[length.min(8)];
    let second = second & KEPT[length.saturating_sub(8).min(8)];
    let product = u128::from(first ^ FIRST_KEY ^ seed) * u128::from(second ^ SECOND_KEY ^ seed.rotate_left(32));
    let folded = (product as u64) ^ ((product >> 64) as u64) ^ length as u64;
    let spread = folded.wrapping_mul(SHINGLE_BASE);
    spread ^ (spread >> 32)
}

/// The words whose first so many bytes are ones.
const KEPT: [u64; 9] = {
    let mut kept = [!0; 9];
    let mut bytes = 0;
    while bytes < 8 {
        kept[bytes] = (1 << (8 * bytes)) - 1;
        bytes += 1;
    }
    kept
};

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

    /// By a few lines of Python; the long one by the reference implementation of XXH3.
    #[test]
    fn token_hashes_are_fixed() {
        for (token, expected) in [
            ("", 0x6553271c0be1abe8),
            ("a", 0xb646a7b0d428d4c5),
            ("12345678", 0x1a1003824a23d051),
            ("123456789", 0xd5ae514cfb0664a9),
            ("1234567890123456", 0x67b22c1f0ebbcd16),
            ("12345678901234567", 0xf23ee5148499b436),
            ("naïve", 0x290d635a5ad548d9),
        ] {
            assert_eq!(token_hash(token.as_bytes(), 7), expected, "{token}");
        }
        assert_ne!(token_hash(b"near", 0), token_hash(b"near", 1));
        assert_ne!(token_hash(b"near", 0), token_hash(b"near\0", 0));
    }

    #[test]
    fn what_follows_a_short_token_does_not_count() {
        for length in 0..=16 {
            let token: Vec<u8> = (1..=length as u8).collect();
            let padded = |rest: u8| u128::from_le_bytes(std::array::from_fn(|i| *token.get(i).unwrap_or(&rest)));
            let hash = |both: u128| short_token_hash((both as u64, (both >> 64) as u64), length, 5);
            assert_eq!(hash(padded(0xaa)), token_hash(&token, 5));
            assert_eq!(hash(padded(0)), token_hash(&token, 5));
        }
    }

    #[test]
    fn no_short_word_collides_and_every_bit_is_as_often_set_as_not() {
        // All words of three letters, and numbers.
        let letters = || b'a'..=b'z';
        let words = letters().flat_map(|a| letters().flat_map(move |b| letters().map(move |c| vec![a, b, c])));
        let all: Vec<Vec<u8>> = words.chain((0..100_000).map(|n: u32| n.to_string().into_bytes())).collect();
        let mut hashes: Vec<u64> = all.iter().map(|word| token_hash(word, 0)).collect();
        for bit in 0..64 {
            let set = hashes.iter().filter(|&&hash| hash >> bit & 1 == 1).count() as f64;
            // Five standard deviations.
            assert!((set - all.len() as f64 / 2.0).abs() < 2.5 * (all.len() as f64).sqrt(), "bit {bit}: {set}");
        }
        hashes.sort_unstable();
        hashes.dedup();
        assert_eq!(hashes.len(), all.len());
    }

    #[test]
    fn mix_is_splitmix64() {
        // First outputs of SplitMix64 with seed 0 (state advances by the golden gamma before mixing).
        assert_eq!(mix(0x9e3779b97f4a7c15), 0xe220a8397b1dcdaf);
        assert_eq!(mix(0x9e3779b97f4a7c15u64.wrapping_mul(2)), 0x6e789e6aa1b965f4);
    }

    /// Computed by a few lines of Python; the hash of the sequence by the reference implementation of XXH3.
    #[test]
    fn fixed_values() {
        let words = ["the", "quick", "brown", "fox", "jumps", "over"];
        let expected = [
            (
                0,
                [0x02936778f1a6ea57, 0x26f46db686958e1e],
                [0xb660d96dd5114f41, 0xe52ad542239259b4],
                0x292e15c45a6a8b1715f2c37381dffcb7,
            ),
            (
                42,
                [0x81813dedadc39d41, 0x336ccd021dd769d3],
                [0x635ad1a20378b0d2, 0x5bb44278dccab512],
                0x1ae49f764c6b7d9cd32a821e49c351cb,
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
