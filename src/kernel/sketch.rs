//! The hashes of a round of sketching.

use super::Level;
use crate::hash::mix;

/// Puts `mix(x + step)` of each element into its place of `out`.
///
/// Cost: two 64-bit multiplications an element, eight at a time with AVX-512; AVX2 has none, and would be slower than none.
///
/// # Panics
/// If the two differ in length.
#[inline]
pub fn mix_all(elements: &[u64], step: u64, out: &mut [u64]) {
    mix_all_with(Level::current(), elements, step, out);
}

#[inline]
fn mix_all_with(level: Level, elements: &[u64], step: u64, out: &mut [u64]) {
    assert_eq!(elements.len(), out.len());
    match level {
        // SAFETY: the level says that the processor has AVX-512 DQ.
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => unsafe { avx512(elements, step, out) },
        _ => plain(elements, step, out),
    }
}

#[inline(always)]
fn plain(elements: &[u64], step: u64, out: &mut [u64]) {
    for (out, element) in out.iter_mut().zip(elements) {
        *out = mix(element.wrapping_add(step));
    }
}

/// The same loop: the compiler makes vectors of it.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512dq,avx512bw,avx512vl")]
fn avx512(elements: &[u64], step: u64, out: &mut [u64]) {
    plain(elements, step, out);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_level_mixes_alike(elements in prop::collection::vec(any::<u64>(), 0..40), step: u64) {
            let expected: Vec<u64> = elements.iter().map(|x| mix(x.wrapping_add(step))).collect();
            for level in Level::available() {
                let mut out = vec![0; elements.len()];
                mix_all_with(level, &elements, step, &mut out);
                prop_assert_eq!(&out, &expected, "{:?}", level);
            }
        }
    }
}
