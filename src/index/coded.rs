//! Sets of hashes in few bytes: the differences of ascending numbers of 44 bits, Rice-coded.
//!
//! A set of 200 takes some 5 bytes per element instead of 8. Each hash keeps 44 bits: two documents of 200 features
//! each get a wrong common element with a probability of 2 in a billion.

use crate::kernel::{Level, sketch::mix_all};
use crate::run::sort::HashSort;

/// Bits of each element.
const BITS: u32 = 44;

/// Replaces elements by what is stored: mixed, cut, ascending; of a set each element once. Elements that are equal only once they are
/// cut stay.
pub(super) fn cut(elements: &mut Vec<u64>, is_set: bool, sort: &mut HashSort) {
    let mut mixed = [0; 64];
    for part in elements.chunks_mut(mixed.len()) {
        let mixed = &mut mixed[..part.len()];
        mix_all(Level::current(), part, 0, mixed);
        part.copy_from_slice(mixed);
    }
    if is_set {
        let distinct = sort.sort_distinct(elements);
        elements.truncate(distinct);
    } else {
        sort.sort(elements);
    }
    elements.iter_mut().for_each(|element| *element >>= 64 - BITS);
}

/// The number of low bits of a difference that are stored verbatim: about the logarithm of the mean of the differences.
fn low_bits(count: usize) -> u32 {
    BITS - (count as u64).max(1).ilog2()
}

/// Appends the code of an ascending set, whose size is stored elsewhere.
pub(super) fn encode(set: &[u64], out: &mut Vec<u8>) {
    let low = low_bits(set.len());
    // Each element takes its low part and a zero; all of them take no more ones than the last element would.
    let ones = set.last().map_or(0, |last| last >> low) as usize;
    let start = out.len();
    out.resize(start + (set.len() * (low as usize + 1) + ones) / 8 + 9, 0);
    let (code, mut at) = (&mut out[start..], 0);
    let (mut held, mut bits, mut before) = (0u64, 0, 0);
    // At most 7 bits are held, so that 57 more fit. No width is less than 7: what is held are bits of the last value alone, so that a
    // value need not wait for the one before.
    let mut put = |value: u64, width: u32| {
        *code[at..].first_chunk_mut().expect("there is room") = (held | value << bits).to_le_bytes();
        bits += width;
        at += bits as usize / 8;
        bits %= 8;
        held = value >> (width - bits);
    };
    for &element in set {
        let difference = element - before;
        before = element;
        // The high part in unary: this many ones and a zero. Then the low part.
        let (mut high, rest) = (difference >> low, difference & ((1 << low) - 1));
        while high > MOST_ONES {
            put((1 << MOST_ONES) - 1, MOST_ONES as u32);
            high -= MOST_ONES;
        }
        put(rest << (high + 1) | ((1 << high) - 1), high as u32 + 1 + low);
    }
    put(0, 7);
    out.truncate(start + at);
}

/// The maximum length of a code: ones, a zero and the low part are at most 57 bits.
const MOST_ONES: u64 = 56 - BITS as u64;

/// Whether a code of this many elements can fit: each element takes its low part and at least one bit.
pub(super) fn fits(code: &[u8], count: usize) -> bool {
    let bits = 8 * code.len() as u64;
    count as u64 <= bits && count as u64 * u64::from(low_bits(count) + 1) <= bits
}

/// Passes the `count` elements of a code to a function, ascending. `None` if the bytes are not such a code. The size
/// must [fit](fits).
///
/// Cost: a read of eight bytes for each element; of a long difference one for each 57 ones of its unary part, and one more.
pub(super) fn decode(code: &[u8], count: usize, mut each: impl FnMut(u64)) -> Option<()> {
    let low = low_bits(count);
    let (mut at, mut before) = (0, 0u64);
    for _ in 0..count {
        let (mut bits, mut high) = (bits_from(code, at), 0u64);
        while bits.trailing_ones() >= READ {
            (at, high) = (at + READ as usize, high + u64::from(READ));
            bits = bits_from(code, at);
        }
        let ones = bits.trailing_ones();
        (at, high) = (at + ones as usize + 1, high + u64::from(ones));
        let rest = if ones + 1 + low <= READ { bits >> (ones + 1) } else { bits_from(code, at) };
        at += low as usize;
        // Zeros follow the last byte.
        (at <= 8 * code.len()).then_some(())?;
        before = before.checked_add(high << low | rest & ((1 << low) - 1))?;
        each(before);
    }
    Some(())
}

/// The bits that a read of eight bytes always yields: all but up to seven before the first.
const READ: u32 = 57;

/// The [`READ`] bits of a code from a bit on, the lowest of each byte first; zeros beyond its end. Higher bits may be missing.
#[inline]
fn bits_from(code: &[u8], at: usize) -> u64 {
    let rest = code.get(at / 8..).unwrap_or_default();
    let word = rest.first_chunk().copied().unwrap_or_else(|| {
        let mut word = [0; 8];
        word[..rest.len()].copy_from_slice(rest);
        word
    });
    u64::from_le_bytes(word) >> (at % 8)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::mix;
    use proptest::prelude::*;

    fn stored(mut elements: Vec<u64>, is_set: bool) -> Vec<u64> {
        cut(&mut elements, is_set, &mut HashSort::default());
        elements
    }

    /// The code of a set bit by bit, by the definition.
    fn plainly(set: &[u64]) -> Vec<u8> {
        let (low, mut bits, mut before) = (low_bits(set.len()), Vec::new(), 0);
        for &element in set {
            let difference = element - before;
            before = element;
            bits.extend((0..difference >> low).map(|_| true));
            bits.push(false);
            bits.extend((0..low).map(|bit| difference >> bit & 1 == 1));
        }
        bytes(&bits)
    }

    fn bytes(bits: &[bool]) -> Vec<u8> {
        bits.chunks(8).map(|byte| (0..).zip(byte).map(|(at, &bit)| u8::from(bit) << at).sum()).collect()
    }

    /// Decodes bit by bit; `None` if the bytes are not a code.
    fn read_plainly(code: &[u8], count: usize) -> Option<Vec<u64>> {
        let mut bits = code.iter().flat_map(|byte| (0..8).map(move |at| byte >> at & 1 == 1));
        let (low, mut before, mut set) = (low_bits(count), 0u64, Vec::new());
        for _ in 0..count {
            let high = bits.by_ref().position(|bit| !bit)? as u64;
            let mut rest = 0;
            for at in 0..low {
                rest |= u64::from(bits.next()?) << at;
            }
            before = before.checked_add(high << low | rest)?;
            set.push(before);
        }
        Some(set)
    }

    proptest! {
        #[test]
        fn elements_are_cut(elements in prop::collection::vec(prop_oneof![any::<u64>(), 0u64..40], 0..300), is_set: bool) {
            let mut expected = elements.clone();
            if is_set {
                expected.sort_unstable();
                expected.dedup();
            }
            expected.iter_mut().for_each(|element| *element = mix(*element) >> (64 - BITS));
            expected.sort_unstable();
            prop_assert_eq!(stored(elements, is_set), expected);
        }

        #[test]
        fn what_was_coded_comes_back(elements in prop::collection::vec(prop_oneof![any::<u64>(), 0u64..4], 0..300)) {
            let set = stored(elements, false);
            let mut code = vec![7];
            encode(&set, &mut code);
            prop_assert_eq!(&code[1..], plainly(&set));
            let mut back = Vec::new();
            prop_assert!(fits(&code[1..], set.len()));
            prop_assert_eq!(decode(&code[1..], set.len(), |element| back.push(element)), Some(()));
            prop_assert_eq!(back, set);
        }

        #[test]
        fn any_bytes_are_a_set_or_none(
            code in prop::collection::vec(prop_oneof![any::<u8>(), Just(u8::MAX), Just(0)], 0..100),
            count in 0usize..100,
        ) {
            let mut set = Vec::new();
            if fits(&code, count) {
                let is_set = decode(&code, count, |element| set.push(element)).is_some();
                prop_assert_eq!(is_set.then_some(set), read_plainly(&code, count));
            }
        }

        /// Runs of ones longer than is read at once, from any bit on.
        #[test]
        fn long_runs_of_ones_are_counted(ones in 0usize..400, count in 1usize..4, before in 0usize..9) {
            let bits = [vec![false; before], vec![true; ones], vec![false; 300]].concat();
            let (code, mut set) = (bytes(&bits), Vec::new());
            let is_set = decode(&code, count, |element| set.push(element)).is_some();
            prop_assert_eq!(is_set.then_some(set), read_plainly(&code, count));
        }
    }

    #[test]
    fn two_hundred_hashes_take_less_than_five_and_a_half_bytes_each() {
        let mut code = Vec::new();
        encode(&stored((0..200).collect(), true), &mut code);
        assert!((800..1000).contains(&code.len()), "{}", code.len());
    }
}
