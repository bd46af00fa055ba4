//! The bits that most of many patterns have.

use super::{Level, Set};

/// Returns the bits that more than half of the hashes' patterns have; a tie gives 0. `pattern` makes the pattern of a hash.
///
/// The plain idea is a counter for each bit. Here the counters of all 64 bits are vertical: word `d` has the binary digit `d` of
/// each. Five operations on words, a full adder, then add two patterns to the lowest digit of all counters, and return the
/// carries (carry-save adders; Muła, Kurz & Lemire, *Faster Population Counts Using AVX2 Instructions*, 2018; for each bit as here:
/// Klarqvist, Muła & Lemire, *Efficient Computation of Positional Population Counts Using SIMD Instructions*, 2021). Vectors are
/// several such words, whose counters are added up at the end. No counter is ever read: one comparison, from the lowest digit up,
/// compares all of them with half the number of patterns.
///
/// Cost: about six operations on words for each pattern; on vectors of four words with AVX2, and of eight with AVX-512, with which a
/// full adder is two operations. Some 100 more a call.
#[inline]
pub fn majority(level: Level, hashes: &[u64], pattern: impl Fn(u64) -> u64) -> u64 {
    match level.set() {
        Set::Plain => plain::<1>(hashes, pattern),
        // SAFETY: the level says that the processor has AVX2.
        #[cfg(target_arch = "x86_64")]
        Set::Avx2 => unsafe { avx2(hashes, pattern) },
        // SAFETY: the level says that the processor has AVX-512 F, BW, DQ and VL.
        #[cfg(target_arch = "x86_64")]
        Set::Avx512 => unsafe { avx512(hashes, pattern) },
        #[cfg(not(target_arch = "x86_64"))]
        _ => plain::<1>(hashes, pattern),
    }
}

/// The same loop on vectors of four words, which the compiler makes.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn avx2(hashes: &[u64], pattern: impl Fn(u64) -> u64) -> u64 {
    plain::<4>(hashes, pattern)
}

/// The same loop on vectors of eight words.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512dq,avx512bw,avx512vl")]
fn avx512(hashes: &[u64], pattern: impl Fn(u64) -> u64) -> u64 {
    plain::<8>(hashes, pattern)
}

/// The maximum number of digits: there are fewer than 2³⁵ patterns.
const DIGITS: usize = 36;

/// The majority by counters in vectors of this many words, a power of two up to 8.
#[inline(always)]
fn plain<const WORDS: usize>(hashes: &[u64], pattern: impl Fn(u64) -> u64) -> u64 {
    assert!((hashes.len() as u64) < 1 << (DIGITS - 1), "the counters have {DIGITS} digits");
    let patterns = |hashes: &[u64; WORDS]| {
        let mut patterns = [0; WORDS];
        for i in 0..WORDS {
            patterns[i] = pattern(hashes[i]);
        }
        patterns
    };
    let (vectors, rest) = hashes.as_chunks::<WORDS>();
    let (eights, single) = vectors.as_chunks::<8>();
    let mut digits = [[0; WORDS]; DIGITS];
    // The digits of what each word counts, and of all together.
    let (used, all) = (digits_of(vectors.len() + 1), digits_of(hashes.len()));
    let [mut ones, mut twos, mut fours] = [[0; WORDS]; 3];
    for eight in eights {
        let twos_1 = add(&mut ones, patterns(&eight[0]), patterns(&eight[1]));
        let twos_2 = add(&mut ones, patterns(&eight[2]), patterns(&eight[3]));
        let fours_1 = add(&mut twos, twos_1, twos_2);
        let twos_1 = add(&mut ones, patterns(&eight[4]), patterns(&eight[5]));
        let twos_2 = add(&mut ones, patterns(&eight[6]), patterns(&eight[7]));
        let fours_2 = add(&mut twos, twos_1, twos_2);
        let eights = add(&mut fours, fours_1, fours_2);
        increment(&mut digits[3..used.max(3)], eights);
    }
    (digits[0], digits[1], digits[2]) = (ones, twos, fours);
    for hashes in single {
        increment(&mut digits[..used], patterns(hashes));
    }
    let mut padded = [0; WORDS];
    padded[..rest.len()].copy_from_slice(rest);
    let mut last = patterns(&padded);
    last[rest.len()..].fill(0);
    increment(&mut digits[..used], last);
    let digits = &mut digits[..all];
    if WORDS > 4 {
        add_words::<WORDS, 4>(digits);
    }
    if WORDS > 2 {
        add_words::<WORDS, 2>(digits);
    }
    if WORDS > 1 {
        add_words::<WORDS, 1>(digits);
    }
    // A number is above another if its highest digit that differs is 1.
    let half = hashes.len() / 2;
    let above = |above, (d, digit): (usize, &[u64; WORDS])| match half >> d & 1 {
        1 => above & digit[0],
        _ => above | digit[0],
    };
    digits.iter().enumerate().fold(0, above)
}

/// The number of binary digits of a number.
fn digits_of(number: usize) -> usize {
    (usize::BITS - number.leading_zeros()) as usize
}

/// Adds two bits to a digit of each counter, and returns the carries: a full adder.
#[inline(always)]
fn add<const WORDS: usize>(digit: &mut [u64; WORDS], a: [u64; WORDS], b: [u64; WORDS]) -> [u64; WORDS] {
    let mut carry = [0; WORDS];
    for i in 0..WORDS {
        let sum = digit[i] ^ a[i];
        carry[i] = digit[i] & a[i] | sum & b[i];
        digit[i] = sum ^ b[i];
    }
    carry
}

/// Adds a bit to each counter.
#[inline(always)]
fn increment<const WORDS: usize>(digits: &mut [[u64; WORDS]], mut carry: [u64; WORDS]) {
    for digit in digits {
        for i in 0..WORDS {
            (digit[i], carry[i]) = (digit[i] ^ carry[i], digit[i] & carry[i]);
        }
    }
}

/// Adds to the counters of each word those of the word that is `APART` further on. After that of 4, 2 and 1 the first word has the
/// sum of eight.
#[inline(always)]
fn add_words<const WORDS: usize, const APART: usize>(digits: &mut [[u64; WORDS]]) {
    let mut carry = [0; WORDS];
    for digit in digits {
        let mut other = [0; WORDS];
        for i in 0..WORDS {
            other[i] = digit[(i + APART) % WORDS];
        }
        carry = add(digit, other, carry);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::mix;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_level_counts_as_bit_by_bit(
            mut hashes in prop::collection::vec(any::<u64>(), 0..600),
            full in 0usize..600,
            none in 0usize..600,
            is_mixed: bool,
        ) {
            // Bits that all have, or about half, show more than random ones.
            hashes.extend(std::iter::repeat_n(u64::MAX, full));
            hashes.extend(std::iter::repeat_n(0, none));
            let pattern = |hash: u64| if is_mixed { mix(hash) } else { hash };
            let count = |bit: u32| hashes.iter().filter(|&&hash| pattern(hash) >> bit & 1 == 1).count();
            let expected = (0..64).fold(0, |word, bit| word | u64::from(2 * count(bit) > hashes.len()) << bit);
            for level in Level::available() {
                prop_assert_eq!(majority(level, &hashes, pattern), expected, "{:?}", level);
            }
        }

        #[test]
        fn a_tie_is_no_majority(halves in 0usize..70, more in 0usize..2, mask: u64) {
            let with = std::iter::repeat_n(mask, halves + more);
            let hashes: Vec<u64> = with.chain(std::iter::repeat_n(!mask, halves)).collect();
            for level in Level::available() {
                prop_assert_eq!(majority(level, &hashes, |hash| hash), if more == 1 { mask } else { 0 }, "{:?}", level);
            }
        }
    }
}
