//! Hashes of many words at once: those of a round of sketching, those of words combined with one state, and those of rows of words.

use super::{Level, Set};
use crate::hash::{combine, mix};

/// Writes `mix(x + step)` of each element to its position in `out`.
///
/// Cost: two 64-bit multiplications an element, eight at a time with AVX-512; with AVX2 four at a time, each made of three of 32 bits.
///
/// # Panics
/// If the two differ in length.
#[inline]
pub fn mix_all(level: Level, elements: &[u64], step: u64, out: &mut [u64]) {
    assert_eq!(elements.len(), out.len());
    match level.set() {
        Set::Plain => plain(elements, step, out),
        // SAFETY: the level says that the processor has AVX2.
        #[cfg(target_arch = "x86_64")]
        Set::Avx2 => unsafe { avx2(elements, step, out) },
        // SAFETY: the level says that the processor has AVX-512 DQ.
        #[cfg(target_arch = "x86_64")]
        Set::Avx512 => unsafe { avx512(elements, step, out) },
        #[cfg(not(target_arch = "x86_64"))]
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
#[target_feature(enable = "avx2")]
fn avx2(elements: &[u64], step: u64, out: &mut [u64]) {
    plain(elements, step, out);
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

/// Maps a value uniform in 64 bits to `0..count`.
#[inline(always)]
pub fn scale(value: u64, count: u64) -> usize {
    ((u128::from(value) * u128::from(count)) >> 64) as usize
}

/// Lowers the least value of the slot that each value [falls](scale) into, unless the slot is [`CLOSED`]. `few_open` says that most are.
/// The values are working memory afterwards.
///
/// Cost: a multiplication and a few operations a value. If few slots are open, with AVX-512 the values that fall into these are moved to
/// the front before.
///
/// # Panics
/// If there are values and no slots.
#[inline]
pub fn lower(level: Level, values: &mut [u64], least: &mut [u64], few_open: bool) {
    let values = match level.set() {
        Set::Avx512 if few_open => gather_open(values, least),
        _ => values,
    };
    for &value in &*values {
        let slot = &mut least[scale(value, least.len() as u64)];
        *slot = value.min(*slot);
    }
}

/// Moves the values that fall into slots that are not closed to the front, and returns them.
fn gather_open<'v>(values: &'v mut [u64], least: &[u64]) -> &'v mut [u64] {
    let mut open = 0;
    for i in 0..values.len() {
        let value = values[i];
        // Without a branch, which nobody could predict.
        values[open] = value;
        open += usize::from(least[scale(value, least.len() as u64)] != CLOSED);
    }
    &mut values[..open]
}

/// Moves the least values that are neither [`EMPTY`] nor [`CLOSED`] to their slots, and closes these. Returns their number.
///
/// Cost: a few operations a slot, eight slots at a time with AVX-512, four with AVX2.
///
/// # Panics
/// If the two differ in length.
#[inline]
pub fn close_filled(level: Level, least: &mut [u64], slots: &mut [u64]) -> usize {
    assert_eq!(least.len(), slots.len());
    match level.set() {
        Set::Plain => close_plain(least, slots),
        // SAFETY: the level says that the processor has AVX2.
        #[cfg(target_arch = "x86_64")]
        Set::Avx2 => unsafe { close_avx2(least, slots) },
        // SAFETY: the level says that the processor has AVX-512.
        #[cfg(target_arch = "x86_64")]
        Set::Avx512 => unsafe { close_avx512(least, slots) },
        #[cfg(not(target_arch = "x86_64"))]
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
#[target_feature(enable = "avx2")]
fn close_avx2(least: &mut [u64], slots: &mut [u64]) -> usize {
    close_plain(least, slots)
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
        Set::Plain => combine_plain(state, words, out),
        // SAFETY: the level says that the processor has AVX2.
        #[cfg(target_arch = "x86_64")]
        Set::Avx2 => unsafe { combine_avx2(state, words, out) },
        // SAFETY: the level says that the processor has AVX-512 DQ.
        #[cfg(target_arch = "x86_64")]
        Set::Avx512 => unsafe { combine_avx512(state, words, out) },
        #[cfg(not(target_arch = "x86_64"))]
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
#[target_feature(enable = "avx2")]
fn combine_avx2(state: u64, words: &[u64], out: &mut [u64]) {
    combine_plain(state, words, out);
}

/// The same loop, which the compiler vectorises.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512dq,avx512bw,avx512vl")]
fn combine_avx512(state: u64, words: &[u64], out: &mut [u64]) {
    combine_plain(state, words, out);
}

/// Combines each state with its row of words: state `i` becomes the fold by `combine` over `words[i × length..(i + 1) × length]`.
///
/// Cost: a `combine` a word. A fold waits for its multiplications, so eight rows are folded side by side: with AVX-512 in the lanes of
/// a register, and otherwise so that the processor overlaps them.
///
/// # Panics
/// If there is not a row of words for each state.
#[inline]
pub fn combine_rows(level: Level, words: &[u64], length: usize, states: &mut [u64]) {
    assert_eq!(words.len(), length * states.len());
    match level.set() {
        // Products of 64 bits take longer with AVX2 than one after the other.
        Set::Plain | Set::Avx2 => combine_rows_plain(words, length, states),
        // SAFETY: the level says that the processor has AVX-512 DQ.
        #[cfg(target_arch = "x86_64")]
        Set::Avx512 => unsafe { combine_rows_avx512(words, length, states) },
        #[cfg(not(target_arch = "x86_64"))]
        Set::Avx512 => combine_rows_plain(words, length, states),
    }
}

/// The number of rows that are folded side by side.
const LANES: usize = 8;

#[inline(always)]
fn combine_rows_plain(words: &[u64], length: usize, states: &mut [u64]) {
    let (together, rest) = states.as_chunks_mut::<LANES>();
    let (words_together, words_of_rest) = words.split_at(LANES * length * together.len());
    for (states, words) in together.iter_mut().zip(words_together.chunks(LANES * length.max(1))) {
        let mut folded = *states;
        for at in 0..length {
            for lane in 0..LANES {
                folded[lane] = combine(folded[lane], words[lane * length + at]);
            }
        }
        *states = folded;
    }
    for (state, row) in rest.iter_mut().zip(words_of_rest.chunks(length.max(1))) {
        *state = row.iter().fold(*state, |state, &word| combine(state, word));
    }
}

/// The same loop, which the compiler vectorises.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512dq,avx512bw,avx512vl")]
fn combine_rows_avx512(words: &[u64], length: usize, states: &mut [u64]) {
    combine_rows_plain(words, length, states);
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
        fn every_level_lowers_alike(
            values in prop::collection::vec(any::<u64>(), 0..40),
            least in prop::collection::vec(prop_oneof![Just(EMPTY), Just(CLOSED), any::<u64>()], 1..20),
            few_open: bool,
        ) {
            let slots = least.len() as u64;
            let in_slot = |slot: usize| values.iter().filter(move |&&value| scale(value, slots) == slot);
            let lowest = |(slot, &least): (usize, &u64)| in_slot(slot).copied().fold(least, u64::min);
            let expected: Vec<u64> = least.iter().enumerate().map(lowest).collect();
            for level in Level::available() {
                let (mut values, mut least) = (values.clone(), least.clone());
                lower(level, &mut values, &mut least, few_open);
                prop_assert_eq!(&least, &expected, "{:?}", level);
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

        #[test]
        fn every_level_combines_rows_alike(words in prop::collection::vec(any::<u64>(), 0..300), length in 0usize..12, count in 0usize..30) {
            let count = words.len().checked_div(length).unwrap_or(count);
            let words = &words[..count * length];
            let before: Vec<u64> = (0..count as u64).map(mix).collect();
            let row = |number: usize| &words[number * length..][..length];
            let expected: Vec<u64> =
                (0..count).map(|number| row(number).iter().fold(before[number], |state, &word| combine(state, word))).collect();
            for level in Level::available() {
                let mut states = before.clone();
                combine_rows(level, words, length, &mut states);
                prop_assert_eq!(&states, &expected, "{:?}", level);
            }
        }
    }
}
