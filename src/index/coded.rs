//! Sets of hashes in few bytes: the differences of ascending numbers of 44 bits, Rice-coded.
//!
//! A set of 200 takes some 5 bytes per element instead of 8. Each hash keeps 44 bits: two documents of 200 features
//! each get a wrong common element with a probability of 2 in a billion.

use crate::hash::mix;

/// Bits of each element.
const BITS: u32 = 44;

/// The elements as stored: mixed, cut, ascending. Their number does not change.
pub(super) fn cut(elements: &[u64]) -> Vec<u64> {
    let mut cut: Vec<u64> = elements.iter().map(|&element| mix(element) >> (64 - BITS)).collect();
    cut.sort_unstable();
    cut
}

/// The number of low bits of a difference that are stored verbatim: about the logarithm of the mean of the differences.
fn low_bits(count: usize) -> u32 {
    BITS - (count as u64).max(1).ilog2()
}

/// Appends the code of an ascending set, whose size is stored elsewhere.
pub(super) fn encode(set: &[u64], out: &mut Vec<u8>) {
    let low = low_bits(set.len());
    let (mut held, mut bits, mut before) = (0u64, 0, 0);
    // At most 7 bits are held, so that 57 more fit.
    let mut put = |value: u64, width: u32, out: &mut Vec<u8>| {
        held |= value << bits;
        bits += width;
        out.extend_from_slice(&held.to_le_bytes());
        out.truncate(out.len() - 8 + bits as usize / 8);
        held = held.checked_shr(bits & !7).unwrap_or(0);
        bits %= 8;
    };
    for &element in set {
        let difference = element - before;
        before = element;
        // The high part in unary: this many ones and a zero. Then the low part.
        let (mut high, rest) = (difference >> low, difference & ((1 << low) - 1));
        while high > MOST_ONES {
            put((1 << MOST_ONES) - 1, MOST_ONES as u32, out);
            high -= MOST_ONES;
        }
        put(rest << (high + 1) | ((1 << high) - 1), high as u32 + 1 + low, out);
    }
    put(0, 7, out);
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
pub(super) fn decode(code: &[u8], count: usize, mut each: impl FnMut(u64)) -> Option<()> {
    let low = low_bits(count);
    let mut bits = Bits { code: code.iter(), held: 0, count: 0 };
    let mut before = 0u64;
    for _ in 0..count {
        let high = bits.ones()?;
        before = before.checked_add(high.checked_shl(low)? | bits.number(low)?)?;
        each(before);
    }
    Some(())
}

/// Bits, the lowest of each byte first.
struct Bits<'a> {
    code: std::slice::Iter<'a, u8>,
    held: u64,
    /// The number of bits held; the bits above them are zeros.
    count: u32,
}

impl Bits<'_> {
    /// Holds 57 bits or more, if that many remain.
    #[inline]
    fn fill(&mut self) {
        while self.count <= 56
            && let Some(&byte) = self.code.next()
        {
            self.held |= u64::from(byte) << self.count;
            self.count += 8;
        }
    }

    #[inline]
    fn drop(&mut self, count: u32) {
        self.held = self.held.checked_shr(count).unwrap_or(0);
        self.count -= count;
    }

    /// The number of ones before the next zero. Consumes the zero too.
    #[inline]
    fn ones(&mut self) -> Option<u64> {
        let mut ones = 0;
        loop {
            self.fill();
            let run = self.held.trailing_ones();
            if run < self.count {
                self.drop(run + 1);
                return Some(ones + u64::from(run));
            }
            (self.count > 0).then_some(())?;
            ones += u64::from(self.count);
            self.drop(self.count);
        }
    }

    /// A number of at most 57 bits.
    #[inline]
    fn number(&mut self, width: u32) -> Option<u64> {
        self.fill();
        (self.count >= width).then_some(())?;
        let number = self.held & ((1 << width) - 1);
        self.drop(width);
        Some(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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
        bits.chunks(8).map(|byte| (0..).zip(byte).map(|(at, &bit)| u8::from(bit) << at).sum()).collect()
    }

    proptest! {
        #[test]
        fn what_was_coded_comes_back(elements in prop::collection::vec(prop_oneof![any::<u64>(), 0u64..4], 0..300)) {
            let set = cut(&elements);
            let mut code = vec![7];
            encode(&set, &mut code);
            prop_assert_eq!(&code[1..], plainly(&set));
            let mut back = Vec::new();
            prop_assert!(fits(&code[1..], set.len()));
            prop_assert_eq!(decode(&code[1..], set.len(), |element| back.push(element)), Some(()));
            prop_assert_eq!(back, set);
        }

        #[test]
        fn any_bytes_are_a_set_or_none(code in prop::collection::vec(any::<u8>(), 0..60), count in 0usize..100) {
            let mut set = Vec::new();
            if fits(&code, count) && decode(&code, count, |element| set.push(element)).is_some() {
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
