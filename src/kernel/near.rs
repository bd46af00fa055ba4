//! All pairs of short codes that differ in few bits.
//!
//! The plain idea is two nested loops:
//!
//! ```text
//! for each code, for each later code: if the two differ in at most so many bits, say so
//! ```
//!
//! Nearly no pair does, so the speed of rejecting a pair decides. Four codes at a time (the rows) are compared with
//! sixteen (the columns). For each column the least of the four distances is kept, and one test decides whether any of
//! the 64 pairs must be checked. The rows stay in registers, and a column is loaded once for four pairs.

use super::{Level, Set};
use std::ops::Range;

/// The number of codes that must follow the compared ones. They are read but not compared, so their values do not
/// matter.
pub const PADDING: usize = 16;

/// The number of rows that are processed at a time. Ranges of rows, except the last, should begin and end at a multiple
/// of it.
pub const ROWS: usize = 4;

/// Calls `each` with every `(i, j)`, `i` in `rows` and `i < j < length`, whose codes differ in at most `most` bits.
///
/// Cost: an exclusive or, a bit count and a minimum for sixteen pairs with AVX-512 VPOPCNTDQ; with AVX2 for eight, with
/// a bit count of about ten instructions.
///
/// # Panics
/// Unless `rows` ends by `length`, and `PADDING` codes follow the first `length`.
#[inline]
pub fn near(
    level: Level,
    codes: &[u32],
    length: usize,
    rows: Range<usize>,
    most: u32,
    each: &mut impl FnMut(usize, usize),
) {
    assert!(rows.end <= length && length + PADDING <= codes.len());
    match level.set() {
        // SAFETY: the processor has AVX-512 F by the level, and VPOPCNTDQ by the check above.
        #[cfg(target_arch = "x86_64")]
        Set::Avx512 if is_x86_feature_detected!("avx512vpopcntdq") => unsafe {
            avx512(codes, length, rows, most, each)
        },
        // SAFETY: the level says that the processor has AVX2, which every higher one includes.
        #[cfg(target_arch = "x86_64")]
        Set::Avx2 | Set::Avx512 => unsafe { avx2(codes, length, rows, most, each) },
        _ => plain(codes, length, rows, most, each),
    }
}

#[inline(always)]
fn plain(codes: &[u32], length: usize, rows: Range<usize>, most: u32, each: &mut impl FnMut(usize, usize)) {
    let apart = |i: usize, j: usize| (codes[i] ^ codes[j]).count_ones();
    for first in rows.clone().step_by(ROWS) {
        let last = (first + ROWS).min(rows.end);
        for i in first..last {
            // The rows among themselves; after an incomplete set of rows, all remaining columns.
            let until = if last - first == ROWS { last } else { length };
            (i + 1..until).filter(|&j| apart(i, j) <= most).for_each(|j| each(i, j));
        }
        if last - first < ROWS {
            break;
        }
        let four: &[u32; ROWS] = codes[first..].first_chunk().expect("as many rows");
        let mut at = last;
        while at < length {
            let columns: &[u32; PADDING] = codes[at..].first_chunk().expect("followed by as many");
            let mut least = [u32::MAX; PADDING];
            for row in four {
                for (least, column) in least.iter_mut().zip(columns) {
                    *least = (*least).min((row ^ column).count_ones());
                }
            }
            if least.iter().fold(false, |near, &least| near | (least <= most)) {
                for i in first..last {
                    (at..length.min(at + PADDING)).filter(|&j| apart(i, j) <= most).for_each(|j| each(i, j));
                }
            }
            at += PADDING;
        }
    }
}

/// The same loop, which the compiler vectorises.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
fn avx2(codes: &[u32], length: usize, rows: Range<usize>, most: u32, each: &mut impl FnMut(usize, usize)) {
    plain(codes, length, rows, most, each);
}

/// The same loop, which the compiler vectorises, with a bit count of sixteen at once.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq,bmi1,bmi2,popcnt")]
fn avx512(codes: &[u32], length: usize, rows: Range<usize>, most: u32, each: &mut impl FnMut(usize, usize)) {
    plain(codes, length, rows, most, each);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn found(level: Level, codes: &[u32], length: usize, rows: Range<usize>, most: u32) -> Vec<(usize, usize)> {
        let mut found = Vec::new();
        near(level, codes, length, rows, most, &mut |i, j| found.push((i, j)));
        found.sort_unstable();
        found
    }

    proptest! {
        #[test]
        fn every_level_finds_what_two_loops_find(
            mut codes in prop::collection::vec(prop_oneof![0u32..16, any::<u32>()], 0..120),
            most in prop::sample::select(vec![0, 1, 3, 12, 16, 32, 64]),
            padding: [u8; PADDING],
            cut in 0usize..40,
        ) {
            let length = codes.len();
            let near = |i: usize, j: usize| (codes[i] ^ codes[j]).count_ones() <= most;
            let pairs = (0..length).flat_map(|i| (i + 1..length).map(move |j| (i, j)));
            let expected: Vec<_> = pairs.filter(|&(i, j)| near(i, j)).collect();
            // What follows is read, near as it may be, and is not part of it.
            codes.extend(padding.map(|byte| u32::from(byte % 16)));
            let cut = (cut * ROWS).min(length);
            for level in Level::available() {
                prop_assert_eq!(found(level, &codes, length, 0..length, most), &*expected, "{:?}", level);
                let mut parts = found(level, &codes, length, 0..cut, most);
                parts.extend(found(level, &codes, length, cut..length, most));
                prop_assert_eq!(parts, &*expected, "{:?}", level);
            }
        }
    }
}
