//! Sets of hashes in few bytes: the differences of ascending numbers of 44 bits, Rice-coded.
//!
//! A set of 200 takes some 5 bytes an element instead of 8. Of the hashes 44 bits are kept: two documents of 200 features each have a
//! wrong common one with a probability of 2 in a billion.

use crate::hash::mix;

/// Bits of each element.
const BITS: u32 = 44;

/// The elements as they are kept: mixed, cut, ascending. As many as before.
pub(super) fn cut(elements: &[u64]) -> Vec<u64> {
    let mut cut: Vec<u64> = elements.iter().map(|&element| mix(element) >> (64 - BITS)).collect();
    cut.sort_unstable();
    cut
}

/// How many low bits of a difference are written as they are: about the mean of the differences.
fn low_bits(count: usize) -> u32 {
    BITS - (count as u64).max(1).ilog2()
}

/// Appends the code of an ascending set, whose size is known otherwise.
pub(super) fn encode(set: &[u64], out: &mut Vec<u8>) {
    let low = low_bits(set.len());
    let (mut held, mut bits, mut before) = (0u64, 0, 0);
    let mut put = |value: u64, width: u32, out: &mut Vec<u8>| {
        // At most 7 bits are held, and at most 44 come.
        held |= value << bits;
        bits += width;
        while bits >= 8 {
            out.push(held as u8);
            held >>= 8;
            bits -= 8;
        }
    };
    for &element in set {
        let difference = element - before;
        before = element;
        // The high part as so many ones and a zero.
        (0..difference >> low).for_each(|_| put(1, 1, out));
        put(0, 1, out);
        put(difference & ((1 << low) - 1), low, out);
    }
    put(0, 7, out);
}

/// Fills `set` from the code of `count` elements. `None` if that is not what it is.
pub(super) fn decode(code: &[u8], count: usize, set: &mut Vec<u64>) -> Option<()> {
    set.clear();
    let low = low_bits(count);
    let (mut held, mut bits, mut bytes, mut before) = (0u64, 0, code.iter(), 0u64);
    let mut get = |width: u32| {
        while bits < width {
            held |= u64::from(*bytes.next()?) << bits;
            bits += 8;
        }
        let value = held & ((1u64 << width) - 1);
        held >>= width;
        bits -= width;
        Some(value)
    };
    for _ in 0..count {
        let mut high = 0u64;
        while get(1)? == 1 {
            high += 1;
        }
        before = before.checked_add(high.checked_shl(low)? | get(low)?)?;
        set.push(before);
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_was_coded_comes_back(elements in prop::collection::vec(prop_oneof![any::<u64>(), 0u64..4], 0..300)) {
            let set = cut(&elements);
            let mut code = vec![7];
            encode(&set, &mut code);
            let mut back = Vec::new();
            prop_assert_eq!(decode(&code[1..], set.len(), &mut back), Some(()));
            prop_assert_eq!(back, set);
        }

        #[test]
        fn any_bytes_are_a_set_or_none(code in prop::collection::vec(any::<u8>(), 0..60), count in 0usize..100) {
            let mut set = Vec::new();
            if decode(&code, count, &mut set).is_some() {
                prop_assert!(set.len() == count && set.is_sorted());
            }
        }
    }

    #[test]
    fn two_hundred_hashes_take_less_than_five_and_a_half_bytes_each() {
        let mut code = Vec::new();
        encode(&cut(&(0..200).collect::<Vec<_>>()), &mut code);
        assert!((800..1000).contains(&code.len()), "{}", code.len());
    }
}
