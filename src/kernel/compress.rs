//! The words of a list that are not zero.

use super::{Level, Set};

/// Copies the words that are not zero to the front of `out`, in their order. Returns their number. The rest of `out` is meaningless
/// afterwards.
///
/// Cost: some four cycles for eight words with AVX-512, some six with AVX2; otherwise some twelve.
///
/// # Panics
/// If `out` has no room for them.
#[inline]
pub fn nonzero(level: Level, words: &[u64], out: &mut [u64]) -> usize {
    match level.set() {
        Set::Plain => plain(words, out),
        // SAFETY: the level says that the processor has AVX2 and POPCNT.
        #[cfg(target_arch = "x86_64")]
        Set::Avx2 => unsafe { avx2(words, out) },
        // SAFETY: the level says that the processor has AVX-512 F and POPCNT.
        #[cfg(target_arch = "x86_64")]
        Set::Avx512 => unsafe { avx512(words, out) },
        #[cfg(not(target_arch = "x86_64"))]
        _ => plain(words, out),
    }
}

fn plain(words: &[u64], out: &mut [u64]) -> usize {
    let mut count = 0;
    for &word in words {
        // Without a branch for the word, which nobody could predict.
        if let Some(next) = out.get_mut(count) {
            *next = word;
        }
        count += usize::from(word != 0);
    }
    assert!(count <= out.len(), "there is room for them");
    count
}

/// For each set of the words of a four, as bits: where the halves of those in the set are, from the front; the rest is meaningless.
#[cfg(target_arch = "x86_64")]
const FRONT: [[u32; 8]; 16] = {
    let mut front = [[0; 8]; 16];
    let mut set = 0;
    while set < 16 {
        let (mut word, mut to) = (0, 0);
        while word < 4 {
            if set >> word & 1 == 1 {
                front[set][2 * to] = 2 * word;
                front[set][2 * to + 1] = 2 * word + 1;
                to += 1;
            }
            word += 1;
        }
        set += 1;
    }
    front
};

/// Four words at a time, as long as there is room for all four.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,popcnt")]
fn avx2(words: &[u64], out: &mut [u64]) -> usize {
    use std::arch::x86_64::*;
    let (fours, _) = words.as_chunks::<4>();
    let (mut count, mut done) = (0, 0);
    for four in fours {
        let Some(room) = out.get_mut(count..count + 4) else { break };
        // SAFETY: the load is of four words of the slice.
        let four = unsafe { _mm256_loadu_si256(four.as_ptr().cast()) };
        let zero = _mm256_cmpeq_epi64(four, _mm256_setzero_si256());
        let set = !_mm256_movemask_pd(_mm256_castsi256_pd(zero)) as usize & 15;
        // SAFETY: the load is of the eight numbers of the set, and the store is to the room for four words.
        unsafe {
            let front = _mm256_loadu_si256(FRONT[set].as_ptr().cast());
            _mm256_storeu_si256(room.as_mut_ptr().cast(), _mm256_permutevar8x32_epi32(four, front));
        }
        count += set.count_ones() as usize;
        done += 4;
    }
    count + plain(&words[done..], &mut out[count..])
}

/// Eight words at a time.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,popcnt")]
fn avx512(words: &[u64], out: &mut [u64]) -> usize {
    use std::arch::x86_64::*;
    let (eights, rest) = words.as_chunks::<8>();
    let mut count = 0;
    for eight in eights {
        // SAFETY: the load is of eight words of the slice.
        let eight = unsafe { _mm512_loadu_epi64(eight.as_ptr().cast()) };
        let mask = _mm512_test_epi64_mask(eight, eight);
        let found = mask.count_ones() as usize;
        let room = &mut out[count..][..found];
        // SAFETY: only the first `found` words are stored, and the slice has so many.
        unsafe {
            let first = ((1u32 << found) - 1) as u8;
            _mm512_mask_storeu_epi64(room.as_mut_ptr().cast(), first, _mm512_maskz_compress_epi64(mask, eight));
        }
        count += found;
    }
    count + plain(rest, &mut out[count..])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_level_keeps_what_is_not_zero(words in prop::collection::vec(prop_oneof![Just(0u64), 0u64..4, any::<u64>()], 0..60)) {
            let expected: Vec<u64> = words.iter().copied().filter(|&word| word != 0).collect();
            for level in Level::available() {
                let mut out = vec![7; expected.len()];
                let count = nonzero(level, &words, &mut out);
                prop_assert_eq!(&out[..count], &expected, "{:?}", level);
            }
        }
    }
}
