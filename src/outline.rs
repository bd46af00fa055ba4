//! What tells most candidates apart without their features: how many there are, and a few bits of them.
//!
//! Two sets at or above a threshold differ in few elements, so in few bits (a bitmap filter: Sandes, Teodoro & Melo, Information
//! Systems 88, 2020, with parities instead of presence).

use crate::similarity::Threshold;

/// For each of 256 classes of elements, whether the set has an odd number of them, each counted as often as it is.
///
/// An element that only one of two sets has changes one bit between them, so that they differ in no fewer elements than bits.
pub(crate) type Parities = [u64; 4];

/// Cost: a multiplication and a memory access an element.
pub(crate) fn parities(set: &[u64]) -> Parities {
    let mut parities = Parities::default();
    for element in set {
        // Multiplied, so that elements need not be hashes.
        let class = element.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56;
        parities[class as usize / 64] ^= 1 << (class % 64);
    }
    parities
}

/// In at least how many elements two sets differ.
#[inline]
fn differ_in_at_least(a: &Parities, b: &Parities) -> usize {
    a.iter().zip(b).map(|(x, y)| (x ^ y).count_ones() as usize).sum()
}

/// Whether two sets, or multisets, can have a Jaccard similarity at or above the threshold, by their sizes and parities. Empty ones cannot.
/// Without a threshold nothing is known, and all others can.
#[inline]
pub(crate) fn can_reach(jaccard: Option<Threshold>, a: (u32, &Parities), b: (u32, &Parities)) -> bool {
    let may = |jaccard: Threshold| {
        jaccard.may_differ_in(a.0 as usize, b.0 as usize).is_some_and(|most| differ_in_at_least(a.1, b.1) <= most)
    };
    a.0 > 0 && b.0 > 0 && jaccard.is_none_or(may)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn sets_differ_in_no_fewer_elements_than_bits(
            a in prop::collection::vec(prop::sample::select(vec![0u64, 1, 2, 3, 1 << 60, u64::MAX]), 0..40),
            b in prop::collection::vec(any::<u64>(), 0..400),
            shared in prop::collection::vec(any::<u64>(), 0..400),
        ) {
            let (a, b) = ([&a[..], &shared].concat(), [&b[..], &shared].concat());
            let mut apart = b.clone();
            // What is left of the one after taking away the other, and of the other after taking away the one.
            let mut only_a = 0;
            for element in &a {
                match apart.iter().position(|other| other == element) {
                    Some(at) => drop(apart.swap_remove(at)),
                    None => only_a += 1,
                }
            }
            prop_assert!(differ_in_at_least(&parities(&a), &parities(&b)) <= only_a + apart.len());
            prop_assert_eq!(differ_in_at_least(&parities(&a), &parities(&a)), 0);
        }
    }

    #[test]
    fn unrelated_sets_differ_in_many_bits() {
        let set = |from: u64| (from..from + 60).map(crate::hash::mix).collect::<Vec<u64>>();
        assert!(differ_in_at_least(&parities(&set(0)), &parities(&set(1000))) > 50);
    }
}
