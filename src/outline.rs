//! Outlines rule out most candidates without their features: the size of a set, and a few bits of it.
//!
//! Two sets at or above a threshold differ in few elements, so in few bits (a bitmap filter: Sandes, Teodoro & Melo, Information
//! Systems 88, 2020, with parities instead of presence).

use crate::similarity::Threshold;

/// For each of 256 classes of elements, whether the set has an odd number of them. Repeated elements count each time.
///
/// An element of only one of two sets changes one bit between them. So they differ in at least as many elements as
/// bits.
pub(crate) type Parities = [u64; 4];

/// Cost: a multiplication and a memory access per element.
pub(crate) fn parities(set: &[u64]) -> Parities {
    let mut parities = Parities::default();
    for element in set {
        // Multiplied, so that elements need not be hashes.
        let class = element.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56;
        parities[class as usize / 64] ^= 1 << (class % 64);
    }
    parities
}

/// The minimum number of elements in which two sets differ.
#[inline]
fn differ_in_at_least(a: &Parities, b: &Parities) -> usize {
    a.iter().zip(b).map(|(x, y)| (x ^ y).count_ones() as usize).sum()
}

/// Whether two sets, or multisets, can have a Jaccard similarity at or above the threshold, by their sizes and
/// parities. Empty sets cannot. Without a threshold, all others can.
#[inline]
pub(crate) fn can_reach(jaccard: Option<Threshold>, a: (u32, &Parities), b: (u32, &Parities)) -> bool {
    let may = |jaccard: Threshold| {
        jaccard.may_differ_in(a.0 as usize, b.0 as usize).is_some_and(|most| differ_in_at_least(a.1, b.1) <= most)
    };
    a.0 > 0 && b.0 > 0 && jaccard.is_none_or(may)
}

/// An upper bound of the Jaccard similarity of two sets, or multisets, by their sizes and parities.
pub(crate) fn jaccard_at_most(a: (u32, &Parities), b: (u32, &Parities)) -> f64 {
    let (sizes, apart) = (a.0 as usize + b.0 as usize, differ_in_at_least(a.1, b.1));
    let shared = (sizes.saturating_sub(apart) / 2).min(a.0.min(b.0) as usize);
    if shared == 0 { 0.0 } else { shared as f64 / (sizes - shared) as f64 }
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
            // The rest of the first after removing the second, and of the second after removing the first.
            let mut only_a = 0;
            for element in &a {
                match apart.iter().position(|other| other == element) {
                    Some(at) => drop(apart.swap_remove(at)),
                    None => only_a += 1,
                }
            }
            prop_assert!(differ_in_at_least(&parities(&a), &parities(&b)) <= only_a + apart.len());
            prop_assert_eq!(differ_in_at_least(&parities(&a), &parities(&a)), 0);
            let sizes = a.len() + b.len();
            let shared = (sizes - only_a - apart.len()) / 2;
            let jaccard = if sizes > shared { shared as f64 / (sizes - shared) as f64 } else { 0.0 };
            let bound = jaccard_at_most((a.len() as u32, &parities(&a)), (b.len() as u32, &parities(&b)));
            prop_assert!(jaccard <= bound, "{jaccard} of {bound}");
        }
    }

    #[test]
    fn unrelated_sets_differ_in_many_bits() {
        let set = |from: u64| (from..from + 60).map(crate::hash::mix).collect::<Vec<u64>>();
        assert!(differ_in_at_least(&parities(&set(0)), &parities(&set(1000))) > 50);
    }
}
