//! The content of JSON strings.

use super::{Level, Set};

/// Returns the number of leading bytes that need no escape in a JSON string: those before a quotation mark, a backslash
/// or a control character, or all of them.
///
/// Cost: 64 bytes a step with AVX-512, 32 with AVX2.
#[inline]
pub fn plain_prefix(level: Level, bytes: &[u8]) -> usize {
    match level.set() {
        Set::Plain => plain(bytes),
        // SAFETY: the level says that the processor has AVX2.
        #[cfg(target_arch = "x86_64")]
        Set::Avx2 => unsafe { avx2(bytes) },
        // SAFETY: the level says that the processor has AVX-512 BW.
        #[cfg(target_arch = "x86_64")]
        Set::Avx512 => unsafe { avx512(bytes) },
        #[cfg(not(target_arch = "x86_64"))]
        _ => plain(bytes),
    }
}

fn stands_for_itself(byte: u8) -> bool {
    byte != b'"' && byte != b'\\' && byte >= 0x20
}

fn plain(bytes: &[u8]) -> usize {
    // Sixteen bytes at a time without a branch, which the compiler vectorises; then the byte that ended the loop.
    let (chunks, _) = bytes.as_chunks::<16>();
    let whole = chunks.iter().take_while(|chunk| chunk.iter().fold(true, |all, &byte| all & stands_for_itself(byte)));
    let at = 16 * whole.count();
    at + bytes[at..].iter().take_while(|&&byte| stands_for_itself(byte)).count()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1")]
fn avx2(bytes: &[u8]) -> usize {
    use std::arch::x86_64::*;
    let (chunks, _) = bytes.as_chunks::<32>();
    for (i, chunk) in chunks.iter().enumerate() {
        // SAFETY: the chunk is 32 bytes, and the load needs no alignment.
        let bytes = unsafe { _mm256_loadu_si256(chunk.as_ptr().cast()) };
        let quote = _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(b'"' as i8));
        let backslash = _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(b'\\' as i8));
        // Unsigned: at most 0x1f iff the greater of the two is 0x1f.
        let limit = _mm256_set1_epi8(0x1f);
        let control = _mm256_cmpeq_epi8(_mm256_max_epu8(bytes, limit), limit);
        let stop = _mm256_movemask_epi8(_mm256_or_si256(_mm256_or_si256(quote, backslash), control));
        if stop != 0 {
            return 32 * i + stop.trailing_zeros() as usize;
        }
    }
    let at = 32 * chunks.len();
    at + plain(&bytes[at..])
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi1,bmi2")]
fn avx512(bytes: &[u8]) -> usize {
    use std::arch::x86_64::*;
    let stops = |bytes| {
        _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8(b'"' as i8))
            | _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8(b'\\' as i8))
            | _mm512_cmplt_epu8_mask(bytes, _mm512_set1_epi8(0x20))
    };
    let (chunks, rest) = bytes.as_chunks::<64>();
    for (i, chunk) in chunks.iter().enumerate() {
        // SAFETY: the chunk is 64 bytes, and the load needs no alignment.
        let stop = stops(unsafe { _mm512_loadu_si512(chunk.as_ptr().cast()) });
        if stop != 0 {
            return 64 * i + stop.trailing_zeros() as usize;
        }
    }
    let there = (1u64 << rest.len()) - 1;
    // SAFETY: only the bytes of the rest are loaded, there are fewer than 64, and the load needs no alignment.
    let stop = stops(unsafe { _mm512_maskz_loadu_epi8(there, rest.as_ptr().cast()) }) & there;
    let length = if stop == 0 { rest.len() } else { stop.trailing_zeros() as usize };
    64 * chunks.len() + length
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_level_stops_where_the_plain_loop_does(mut bytes in prop::collection::vec(0x20u8.., 0..200), at in 0usize..200, stop: u8) {
            if let Some(byte) = bytes.get_mut(at) {
                *byte = stop;
            }
            let expected = bytes.iter().take_while(|&&byte| stands_for_itself(byte)).count();
            prop_assert_eq!(plain(&bytes), expected);
            for level in Level::available() {
                prop_assert_eq!(plain_prefix(level, &bytes), expected, "{:?}", level);
            }
        }
    }
}
