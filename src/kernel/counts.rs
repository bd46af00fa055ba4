//! Counts, for each of 64 bits, the patterns that have it.

use super::{Level, Set};

/// Returns, for each bit, the number of patterns that have it.
///
/// Every eighth bit of a pattern, shifted down, is eight counters' increments in one word: eight shifts, masks and additions
/// count all 64 bits. A byte holds up to 255, so the words are emptied that often. With AVX2 four such words are one vector.
///
/// Cost: 24 operations a pattern, or 7 with AVX2.
#[inline]
pub fn count_bits(level: Level, patterns: impl Iterator<Item = u64>) -> [i64; 64] {
    match level.set() {
        // SAFETY: the level says that the processor has AVX2, which every higher one includes. A masked addition of
        // AVX-512 would be no faster.
        #[cfg(target_arch = "x86_64")]
        Set::Avx2 | Set::Avx512 => unsafe { avx2(patterns) },
        _ => plain(patterns),
    }
}

/// The number of patterns that a one-byte counter can count.
const ROOM: usize = 255;

/// Adds up eight words of eight counters. Counter `byte` of word `shift` counts bit `8 · byte + shift`.
fn empty(words: &[[u8; 8]; 8], counts: &mut [i64; 64]) {
    for (shift, word) in words.iter().enumerate() {
        for (byte, &count) in word.iter().enumerate() {
            counts[8 * byte + shift] += i64::from(count);
        }
    }
}

fn plain(patterns: impl Iterator<Item = u64>) -> [i64; 64] {
    let (mut patterns, mut counts) = (patterns.peekable(), [0; 64]);
    while patterns.peek().is_some() {
        let mut words = [0u64; 8];
        for pattern in patterns.by_ref().take(ROOM) {
            for (shift, word) in words.iter_mut().enumerate() {
                *word += pattern >> shift & 0x0101_0101_0101_0101;
            }
        }
        empty(&words.map(u64::to_le_bytes), &mut counts);
    }
    counts
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn avx2(patterns: impl Iterator<Item = u64>) -> [i64; 64] {
    use std::arch::x86_64::*;
    let (mut patterns, mut counts) = (patterns.peekable(), [0; 64]);
    let shifts = [_mm256_setr_epi64x(0, 1, 2, 3), _mm256_setr_epi64x(4, 5, 6, 7)];
    while patterns.peek().is_some() {
        let mut halves = [_mm256_setzero_si256(); 2];
        for pattern in patterns.by_ref().take(ROOM) {
            for (half, shift) in halves.iter_mut().zip(shifts) {
                let bits = _mm256_srlv_epi64(_mm256_set1_epi64x(pattern as i64), shift);
                *half = _mm256_add_epi8(*half, _mm256_and_si256(bits, _mm256_set1_epi8(1)));
            }
        }
        let mut words = [[0u8; 8]; 8];
        for (words, half) in words.as_chunks_mut::<4>().0.iter_mut().zip(halves) {
            // SAFETY: four words of 8 bytes are 32 bytes; the store needs no alignment.
            unsafe { _mm256_storeu_si256(words.as_mut_ptr().cast(), half) };
        }
        empty(&words, &mut counts);
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_level_counts_as_bit_by_bit(
            mut patterns in prop::collection::vec(any::<u64>(), 0..600),
            full in 0usize..600,
        ) {
            // Counters that are full show more than those of random bits.
            patterns.extend(std::iter::repeat_n(u64::MAX, full));
            let count = |bit| patterns.iter().filter(|&&pattern| pattern >> bit & 1 == 1).count() as i64;
            let expected: [i64; 64] = std::array::from_fn(count);
            prop_assert_eq!(plain(patterns.iter().copied()), expected);
            for level in Level::available() {
                prop_assert_eq!(count_bits(level, patterns.iter().copied()), expected, "{:?}", level);
            }
        }
    }
}
