//! Hashes of many words at once: those of a round of sketching, and those of words combined with one state.

use super::{Level, Set};
use crate::hash::{combine, mix};

/// Writes `mix(x + step)` of each element to its position in `out`.
///
/// Cost: two 64-bit multiplications an element, eight at a time with AVX-512. AVX2 lacks the multiplication; emulating
/// it would be slower than the plain loop.
///
/// # Panics
/// If the two differ in length.
#[inline]
pub fn mix_all(level: Level, elements: &[u64], step: u64, out: &mut [u64]) {
    assert_eq!(elements.len(), out.len());
    match level.set() {
        // SAFETY: the level says that the processor has AVX-512 DQ.
        #[cfg(target_arch = "x86_64")]
        Set::Avx512 => unsafe { avx512(elements, step, out) },
        _ => plain(elements, step, out),
    }
}

#[inline(always)]
fn plain(elements: &[u64], step: u64, out: &mut [u64]) {
    for (out, element) in out.iter_mut().zip(elements) {
        *out = mix(element.wrapping_add(step));
    }
}

/// The same loop, which the compiler vectorises.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512dq,avx512bw,avx512vl")]
fn avx512(elements: &[u64], step: u64, out: &mut [u64]) {
    plain(elements, step, out);
}

/// The least value of a slot that no element has reached, and that of a filled slot, which accepts no more values.
pub const EMPTY: u64 = u64::MAX;
pub const CLOSED: u64 = 0;

/// Moves the least values that are neither [`EMPTY`] nor [`CLOSED`] to their slots, and closes these. Returns their number.
///
/// Cost: a few operations a slot, eight slots at a time with AVX-512.
///
/// # Panics
/// If the two differ in length.
#[inline]
pub fn close_filled(level: Level, least: &mut [u64], slots: &mut [u64]) -> usize {
    assert_eq!(least.len(), slots.len());
    match level.set() {
        // SAFETY: the level says that the processor has AVX-512.
        #[cfg(target_arch = "x86_64")]
        Set::Avx512 => unsafe { close_avx512(least, slots) },
        _ => close_plain(least, slots),
    }
}

#[inline(always)]
fn close_plain(least: &mut [u64], slots: &mut [u64]) -> usize {
    let mut filled = 0;
    for (least, slot) in least.iter_mut().zip(slots) {
        // Without a branch, which nobody could predict.
        let is_filled = (*least != EMPTY) & (*least != CLOSED);
        *slot = if is_filled { *least } else { *slot };
        *least = if is_filled { CLOSED } else { *least };
        filled += u64::from(is_filled);
    }
    filled as usize
}

/// The same loop, which the compiler vectorises.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512dq,avx512bw,avx512vl")]
fn close_avx512(least: &mut [u64], slots: &mut [u64]) -> usize {
    close_plain(least, slots)
}

/// Writes `combine(state, word)` of each word to its position in `out`.
///
/// Cost: as for [`mix_all`].
///
/// # Panics
/// If the two differ in length.
#[inline]
pub fn combine_all(level: Level, state: u64, words: &[u64], out: &mut [u64]) {
    assert_eq!(words.len(), out.len());
    match level.set() {
        // SAFETY: the level says that the processor has AVX-512 DQ.
        #[cfg(target_arch = "x86_64")]
        Set::Avx512 => unsafe { combine_avx512(state, words, out) },
        _ => combine_plain(state, words, out),
    }
}

#[inline(always)]
fn combine_plain(state: u64, words: &[u64], out: &mut [u64]) {
    for (out, &word) in out.iter_mut().zip(words) {
        *out = combine(state, word);
    }
}

/// The same loop, which the compiler vectorises.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512dq,avx512bw,avx512vl")]
fn combine_avx512(state: u64, words: &[u64], out: &mut [u64]) {
    combine_plain(state, words, out);
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
                mix_all(level, &elements, step, &mut out);
                prop_assert_eq!(&out, &expected, "{:?}", level);
            }
        }

        #[test]
        fn every_level_closes_what_is_filled(
            pairs in prop::collection::vec((prop_oneof![Just(EMPTY), Just(CLOSED), any::<u64>()], any::<u64>()), 0..40),
        ) {
            let is_filled = |least: u64| least != EMPTY && least != CLOSED;
            let expected: Vec<(u64, u64)> = pairs
                .iter()
                .map(|&(least, slot)| if is_filled(least) { (CLOSED, least) } else { (least, slot) })
                .collect();
            for level in Level::available() {
                let (mut least, mut slots): (Vec<u64>, Vec<u64>) = pairs.iter().copied().unzip();
                let filled = close_filled(level, &mut least, &mut slots);
                prop_assert_eq!(filled, pairs.iter().filter(|pair| is_filled(pair.0)).count());
                prop_assert_eq!(least.into_iter().zip(slots).collect::<Vec<_>>(), expected.clone(), "{:?}", level);
            }
        }

        #[test]
        fn every_level_combines_alike(words in prop::collection::vec(any::<u64>(), 0..40), state: u64) {
            let expected: Vec<u64> = words.iter().map(|&word| combine(state, word)).collect();
            for level in Level::available() {
                let mut out = vec![0; words.len()];
                combine_all(level, state, &words, &mut out);
                prop_assert_eq!(&out, &expected, "{:?}", level);
            }
        }
    }
}
