//! The codes of a list that differ from one code in few bits.
//!
//! The plain idea is a loop:
//!
//! ```text
//! for each code: if it differs from the given one in at most so many bits, report it
//! ```
//!
//! Nearly none does, so the speed of rejecting one decides. For sixteen codes at a time the least of their distances is
//! kept, and one test decides whether any of them must be checked.

use super::{Level, Set};

/// The number of codes that one test rejects.
const ROWS: usize = 16;

/// Calls `each` with the number of every code that differs from `code` in at most `most` bits, ascending. `codes` are back
/// to back, and as long as `code`.
///
/// Cost: on the machine of `benches/README.md`, 0.2 ns a word of codes of one word with AVX-512 VPOPCNTDQ, 0.3 ns with
/// AVX2, 0.8 ns with neither; up to 0.4 ns more for codes of several words, or that are not in a cache.
///
/// # Panics
/// If `code` is empty.
#[inline]
pub fn within(level: Level, codes: &[u64], code: &[u64], most: u32, each: &mut impl FnMut(usize)) {
    match *code {
        [one] => by_level(level, codes, &[one], most, each),
        [one, two] => by_level(level, codes, &[one, two], most, each),
        _ => by_level(level, codes, code, most, each),
    }
}

#[inline(always)]
fn by_level<C: AsRef<[u64]> + ?Sized>(level: Level, codes: &[u64], code: &C, most: u32, each: &mut impl FnMut(usize)) {
    match level.set() {
        // SAFETY: the processor has AVX-512 F by the level, and VPOPCNTDQ by the check above.
        #[cfg(target_arch = "x86_64")]
        Set::Avx512 if is_x86_feature_detected!("avx512vpopcntdq") => unsafe { avx512(codes, code, most, each) },
        // SAFETY: the level says that the processor has AVX2, which every higher one includes.
        #[cfg(target_arch = "x86_64")]
        Set::Avx2 | Set::Avx512 => unsafe { avx2(codes, code, most, each) },
        _ => plain(codes, code, most, each),
    }
}

/// Returns the number of bits in which two codes of the same length differ.
///
/// Cost: 0.5 ns a word with POPCNT, which not every processor of the architecture has; four times that without.
#[inline]
pub fn apart(level: Level, a: &[u64], b: &[u64]) -> u32 {
    match level.set() {
        // SAFETY: the level says that the processor has POPCNT, which every higher one includes.
        #[cfg(target_arch = "x86_64")]
        Set::Avx2 | Set::Avx512 => unsafe { apart_popcnt(a, b) },
        _ => apart_plain(a, b),
    }
}

#[inline(always)]
fn apart_plain(a: &[u64], b: &[u64]) -> u32 {
    a.iter().zip(b).map(|(x, y)| (x ^ y).count_ones()).sum()
}

/// The same loop, with an instruction for each word.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "popcnt")]
fn apart_popcnt(a: &[u64], b: &[u64]) -> u32 {
    apart_plain(a, b)
}

/// The length of `code` is known to the compiler where it is an array.
#[inline(always)]
fn plain<C: AsRef<[u64]> + ?Sized>(codes: &[u64], code: &C, most: u32, each: &mut impl FnMut(usize)) {
    let code = code.as_ref();
    let apart = |other: &[u64]| other.iter().zip(code).map(|(a, b)| (a ^ b).count_ones()).sum::<u32>();
    for (number, rows) in codes.chunks(ROWS * code.len()).enumerate() {
        let mut least = u32::MAX;
        for row in rows.chunks_exact(code.len()) {
            least = least.min(apart(row));
        }
        if least <= most {
            let near = rows.chunks_exact(code.len()).enumerate().filter(|(_, row)| apart(row) <= most);
            near.for_each(|(row, _)| each(number * ROWS + row));
        }
    }
}

/// The same loop, which the compiler vectorises.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
fn avx2<C: AsRef<[u64]> + ?Sized>(codes: &[u64], code: &C, most: u32, each: &mut impl FnMut(usize)) {
    plain(codes, code, most, each);
}

/// The same loop, which the compiler vectorises, with a bit count of eight at once.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq,bmi1,bmi2,popcnt")]
fn avx512<C: AsRef<[u64]> + ?Sized>(codes: &[u64], code: &C, most: u32, each: &mut impl FnMut(usize)) {
    plain(codes, code, most, each);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_level_finds_what_one_comparison_each_finds(
            words in 1usize..6,
            codes in prop::collection::vec(prop_oneof![0u64..16, any::<u64>()], 0..200),
            code in prop::collection::vec(prop_oneof![0u64..16, any::<u64>()], 6),
            most in prop::sample::select(vec![0, 1, 3, 12, 32, 64, 400]),
        ) {
            let (codes, code) = (&codes[..codes.len() / words * words], &code[..words]);
            let apart = |other: &[u64]| (0..words).map(|at| (other[at] ^ code[at]).count_ones()).sum::<u32>();
            let near = |(_, other): &(usize, &[u64])| apart(other) <= most;
            let expected: Vec<usize> = codes.chunks(words).enumerate().filter(near).map(|(number, _)| number).collect();
            for level in Level::available() {
                let mut found = Vec::new();
                within(level, codes, code, most, &mut |number| found.push(number));
                prop_assert_eq!(&found, &expected, "{:?}", level);
                for other in codes.chunks(words) {
                    let bits = |words: &[u64], bit: usize| words[bit / 64] >> (bit % 64) & 1;
                    let differing = (0..64 * words).filter(|&bit| bits(other, bit) != bits(code, bit)).count();
                    prop_assert_eq!(super::apart(level, other, code) as usize, differing, "{:?}", level);
                }
            }
        }
    }
}
