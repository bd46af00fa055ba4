//! What two sets can still have in common from an element on: the bounds of prefix filters.
//!
//! All sets have one order of elements. The first common element of two sets in this order, and all other common ones, are among the
//! elements from it on, the *rest* of each.
//!
//! - Jaccard similarity: both rests have at least as many elements as the sets must share (Xiao, Wang, Lin & Yu, *Efficient Similarity
//!   Joins for Near Duplicate Detection*, WWW 2008, the positional filter).
//! - Cosine: the dot product is at most the product of the norms of the rests (Cauchy and Schwarz). Where `r` is the share of the rest
//!   in the squared norm, `r_a · r_b ≥ t²` (Anastasiu & Karypis, *L2AP: Fast Cosine Similarity Search With Prefix L-2 Norm Bounds*,
//!   ICDE 2014). Shares are rounded up to 12 bits, so that few differ: documents are compared whose bound is less than
//!   0.0003 below a threshold above one half.
//!
//! Where all common elements among the first ones of both are known, the others are in the [tails](Tail): then what the known ones
//! contribute and the bound of the tails must suffice together (the positional filter at the end of the prefixes).

use super::{Threshold, set_of};
use std::borrow::Cow;

/// The similarity that two sets must reach, and how it is bounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bound {
    /// Of sets, or of multisets, whose occurrences count.
    Jaccard(Threshold),
    /// Of multisets, which are vectors of counts: the least product of two shares, of [`ONE`]².
    Cosine(u64),
}

/// The whole, where shares are counted.
const ONE: u64 = 1 << 12;

/// A set and its rest from an element on. For Jaccard the number of elements of each; for the cosine 0, and the share of the rest.
pub(crate) type Shape = (u32, u32);

/// What a set has besides its first elements, in some order of all elements that all sets share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tail {
    /// For Jaccard the number of all elements. For the cosine the share of the largest of the first counts in the norm.
    of: u32,
    /// The rest after the first elements, as in a [shape](Shape); [`IS_COMPLETE`] is set if the first elements are all of a certain kind, of
    /// which this rest has none.
    rest: u32,
}

/// A bit that no rest has.
const IS_COMPLETE: u32 = 1 << 31;

impl Tail {
    fn rest(self) -> u64 {
        u64::from(self.rest & !IS_COMPLETE)
    }

    /// As a number, for [`from_word`](Self::from_word).
    pub fn to_word(self) -> u64 {
        u64::from(self.of) << 32 | u64::from(self.rest)
    }

    /// The tail of a number.
    pub fn from_word(word: u64) -> Self {
        Tail { of: (word >> 32) as u32, rest: word as u32 }
    }
}

/// A set or a multiset as distinct elements, ascending, with what each contributes.
pub(crate) struct Weighed<'s> {
    pub elements: Cow<'s, [u64]>,
    /// Empty if each contributes 1.
    weights: Vec<u64>,
    /// Of all together.
    pub total: u64,
}

impl Weighed<'_> {
    /// What the element at this place contributes.
    #[inline]
    pub fn weight(&self, at: usize) -> u64 {
        self.weights.get(at).copied().unwrap_or(1)
    }
}

impl Bound {
    /// The bound of the cosine at this threshold.
    pub fn cosine(threshold: Threshold) -> Self {
        let [numerator, denominator] = threshold.fraction().map(u128::from);
        let root = numerator * u128::from(ONE * ONE) / denominator;
        Bound::Cosine((root * root / u128::from(ONE * ONE)) as u64)
    }

    /// The elements of an ascending multiset.
    ///
    /// Cost: a walk; for the occurrences of a multiset, a sort.
    pub fn weighed(self, multiset: &[u64]) -> Weighed<'_> {
        match self {
            Bound::Jaccard(_) => {
                let elements = set_of(multiset);
                let total = elements.len() as u64;
                Weighed { elements, weights: Vec::new(), total }
            }
            Bound::Cosine(_) => {
                let runs = || multiset.chunk_by(|a, b| a == b);
                if multiset.array_windows::<2>().all(|[a, b]| a != b) {
                    return Weighed { elements: multiset.into(), weights: Vec::new(), total: multiset.len() as u64 };
                }
                let weights: Vec<u64> = runs().map(|run| (run.len() as u64).pow(2)).collect();
                let elements = runs().map(|run| run[0]).collect::<Vec<_>>().into();
                Weighed { elements, total: weights.iter().sum(), weights }
            }
        }
    }

    /// The shape of a set whose elements contribute `total`, from an element on with which the last `rest` of this begins.
    pub fn shape(self, total: u64, rest: u64) -> Shape {
        match self {
            Bound::Jaccard(_) => (total as u32, rest as u32),
            Bound::Cosine(_) => {
                let share = (u128::from(rest) * u128::from(ONE)).div_ceil(u128::from(total.max(1)));
                (0, share as u32)
            }
        }
    }

    /// Whether two sets can reach the threshold whose first common element is where these rests begin.
    #[inline]
    pub fn can_reach(self, a: Shape, b: Shape) -> bool {
        match self {
            Bound::Jaccard(threshold) => a.1.min(b.1) as usize >= threshold.jaccard_overlap(a.0 as usize, b.0 as usize),
            Bound::Cosine(least) => u64::from(a.1) * u64::from(b.1) >= least,
        }
    }

    /// Whether a set can reach the threshold with any other, if the first common element is where this rest begins. For Jaccard, none
    /// has fewer elements than `smallest`; the cosine does not depend on sizes.
    #[inline]
    pub fn can_reach_any(self, shape: Shape, smallest: usize) -> bool {
        match self {
            Bound::Jaccard(threshold) => {
                let size = shape.0 as usize;
                shape.1 as usize >= threshold.jaccard_overlap(size, smallest.max(threshold.min_overlap(size)))
            }
            Bound::Cosine(least) => u64::from(shape.1) * ONE >= least,
        }
    }

    /// What the element at a place contributes to what a set has in common with another one, to be added up for
    /// [`can_reach_with`](Self::can_reach_with): for Jaccard 1; for the cosine its share in the norm, rounded up.
    #[inline]
    pub fn share(self, set: &Weighed<'_>, at: usize) -> u32 {
        match self {
            Bound::Jaccard(_) => 1,
            Bound::Cosine(_) => share_of_norm(set.weight(at), set.total),
        }
    }

    /// The tail of a set after some first elements: those at these places. `is_complete` if they are all elements of a kind that does not
    /// depend on the set, such as those that are rare.
    pub fn tail(self, set: &Weighed<'_>, first: impl Iterator<Item = usize>, is_complete: bool) -> Tail {
        let (mut rest, mut largest) = (set.total, 0);
        for place in first {
            rest -= set.weight(place);
            largest = largest.max(set.weight(place));
        }
        let (of, rest) = match self {
            Bound::Jaccard(_) => (set.total as u32, rest as u32),
            Bound::Cosine(_) => (share_of_norm(largest, set.total), self.shape(set.total, rest).1),
        };
        Tail { of, rest: if is_complete { rest | IS_COMPLETE } else { rest } }
    }

    /// Whether two sets can reach the threshold that have these tails, if the first elements of both have some in common whose
    /// [shares](Self::share) in the first set are `common` together, and no others.
    ///
    /// An element that both have and that is not among the first of both is in both tails if these are complete. Otherwise it is in the
    /// tail of the one whose first elements end earlier in the order.
    #[inline]
    pub fn can_reach_with(self, common: u64, a: Tail, b: Tail) -> bool {
        let are_complete = a.rest & b.rest & IS_COMPLETE != 0;
        let (least, most) = (a.rest().min(b.rest()), a.rest().max(b.rest()));
        match self {
            Bound::Jaccard(threshold) => {
                let tails = if are_complete { least } else { most };
                common + tails >= threshold.jaccard_overlap(a.of as usize, b.of as usize) as u64
            }
            Bound::Cosine(needed) => {
                // Each count of the other one is at most the largest.
                let first = common.saturating_mul(b.of.into()).div_ceil(ONE);
                let tails = if are_complete { least * most } else { ONE * most };
                let root = tails.isqrt();
                let reached = first.saturating_add(root + u64::from(root * root < tails)).min(ONE);
                reached * reached >= needed
            }
        }
    }

    /// The maximum number of elements of a set, in any order, from which on [enough](Self::can_reach_any) follow.
    pub fn prefix_of(self, set: &Weighed<'_>) -> usize {
        let elements = set.elements.len();
        match self {
            _ if elements == 0 => 0,
            Bound::Jaccard(threshold) => threshold.prefix_of(elements),
            Bound::Cosine(least) => {
                // Each contributes at least 1, and the share of the rest was rounded up.
                let share = (least / ONE).saturating_sub(1);
                let rest = (u128::from(set.total) * u128::from(share) / u128::from(ONE)) as u64;
                usize::try_from(set.total - rest).unwrap_or(usize::MAX).saturating_add(1).min(elements)
            }
        }
    }
}

/// The share of a count in the norm of a vector, rounded up; both squared.
fn share_of_norm(weight: u64, total: u64) -> u32 {
    // The norm in 65,536ths, rounded down.
    let norm = (u128::from(total.max(1)) << 32).isqrt();
    (u128::from(weight.isqrt() * ONE) << 16).div_ceil(norm).min(u128::from(ONE)) as u32
}

#[cfg(test)]
mod tests {
    use super::super::{cosine_at_least, jaccard_at_least};
    use super::*;
    use proptest::prelude::*;

    /// Mostly alike: each element of few, in any number.
    fn multiset() -> impl Strategy<Value = Vec<u64>> {
        proptest::collection::vec(prop_oneof![4 => Just(1usize), 2 => 0..3usize, 1 => 0..12usize], 12).prop_map(
            |counts| counts.iter().zip(0..).flat_map(|(&count, element)| std::iter::repeat_n(element, count)).collect(),
        )
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        /// Of every pair that reaches the threshold, the first common element is in both prefixes, and the rests suffice.
        #[test]
        fn no_pair_is_ruled_out(
            a in multiset(),
            b in multiset(),
            percent in 1u64..=100,
            turn in 0u64..12,
            most in (0usize..14, 0usize..14),
            is_partial: bool,
        ) {
            let threshold = Threshold::new(percent, 100).unwrap();
            let similar = [
                (Bound::Jaccard(threshold), jaccard_at_least(&a, &b, threshold)),
                (Bound::cosine(threshold), cosine_at_least(&a, &b, threshold)),
            ];
            for (bound, _) in similar.into_iter().filter(|(_, similarity)| similarity.is_some()) {
                // Some order of all elements, of occurrences too.
                let order = |element: u64| (element.rotate_left(7).wrapping_mul(2 * turn + 1), element);
                let shapes_of = |multiset: &[u64]| {
                    let set = bound.weighed(multiset);
                    let mut places: Vec<usize> = (0..set.elements.len()).collect();
                    places.sort_by_key(|&place| order(set.elements[place]));
                    let (mut rest, mut shapes) = (set.total, Vec::new());
                    for place in places {
                        shapes.push((set.elements[place], bound.shape(set.total, rest)));
                        rest -= set.weight(place);
                    }
                    assert_eq!(rest, 0);
                    let length = shapes.iter().take_while(|(_, shape)| bound.can_reach_any(*shape, 0)).count();
                    assert!(length <= bound.prefix_of(&set), "{length} of {multiset:?} at {percent}");
                    shapes.truncate(length);
                    shapes
                };
                let (of_a, of_b) = (shapes_of(&a), shapes_of(&b));
                // Of the first elements, those that both have, and what follows.
                let counts = |element: u64| element % 3 != u64::from(is_partial);
                let first_of = |multiset: &[u64], most: usize| {
                    let set = bound.weighed(multiset);
                    let mut places: Vec<usize> = (0..set.elements.len()).collect();
                    places.sort_by_key(|&place| (!counts(set.elements[place]), order(set.elements[place])));
                    let all = places.iter().filter(|&&place| counts(set.elements[place])).count();
                    places.truncate(most.min(all));
                    let tail = bound.tail(&set, places.iter().copied(), most >= all);
                    let shares = places.iter().map(|&place| (set.elements[place], bound.share(&set, place)));
                    (shares.collect::<Vec<_>>(), tail)
                };
                let ((first_a, tail_a), (first_b, tail_b)) = (first_of(&a, most.0), first_of(&b, most.1));
                let is_common = |element: &u64| first_b.iter().any(|(other, _)| other == element);
                let common = first_a.iter().filter(|(element, _)| is_common(element)).map(|(_, share)| u64::from(*share)).sum();
                prop_assert_eq!((Tail::from_word(tail_a.to_word()), Tail::from_word(tail_b.to_word())), (tail_a, tail_b));
                prop_assert!(bound.can_reach_with(common, tail_a, tail_b), "{bound:?} {a:?} {b:?} {common} {tail_a:?} {tail_b:?}");
                let first = of_a.iter().find_map(|(x, one)| {
                    of_b.iter().find(|(y, _)| x == y).map(|(_, other)| (*one, *other))
                });
                let (one, other) = first.expect("it is in both prefixes");
                prop_assert!(bound.can_reach(one, other), "{bound:?} {a:?} {b:?}");
            }
        }
    }

    #[test]
    fn tails_and_what_is_common_must_suffice_together() {
        // Ten of ten elements of which the first four count: one is common, and all others are in the tails.
        let threshold: Threshold = "0.6".parse().unwrap();
        let of = |bound: Bound, first: u64, is_complete: bool| {
            let elements: Vec<u64> = (0..10).collect();
            bound.tail(&bound.weighed(&elements), 0..first as usize, is_complete)
        };
        let bound = Bound::Jaccard(threshold);
        // By hand: of two sets of ten, eight must be common.
        assert!(!bound.can_reach_with(1, of(bound, 4, true), of(bound, 4, true)));
        assert!(bound.can_reach_with(2, of(bound, 4, true), of(bound, 4, true)));
        assert!(!bound.can_reach_with(1, of(bound, 2, true), of(bound, 4, true)));
        assert!(bound.can_reach_with(1, of(bound, 2, false), of(bound, 4, true)));
        let bound = Bound::cosine("0.8".parse().unwrap());
        let share = bound.share(&bound.weighed(&[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]), 3);
        assert_eq!(share, 1296, "4096 / √10 is 1295.3");
        assert!(!bound.can_reach_with(u64::from(share), of(bound, 4, true), of(bound, 4, true)));
        assert!(bound.can_reach_with(2 * u64::from(share), of(bound, 4, true), of(bound, 4, true)));
        // √(0.6 · 0.4) is 0.49; √0.6 is 0.77.
        assert!(!bound.can_reach_with(u64::from(share), of(bound, 4, true), of(bound, 6, true)));
        assert!(bound.can_reach_with(u64::from(share), of(bound, 4, true), of(bound, 6, false)));
    }

    #[test]
    fn shares_are_those_of_squared_counts() {
        let bound = Bound::cosine("0.9".parse().unwrap());
        let set = bound.weighed(&[3, 3, 3, 5, 8, 8]);
        assert_eq!((&*set.elements, set.total), (&[3, 5, 8][..], 9 + 1 + 4));
        assert_eq!((0..3).map(|at| set.weight(at)).collect::<Vec<_>>(), [9, 1, 4]);
        assert_eq!(bound.shape(14, 14), (0, 4096));
        // By hand: 0.81 is 3317.76 of 4096, and 0.9 is 3686.4.
        assert!(bound.can_reach((0, 4096), (0, 3318)) && !bound.can_reach((0, 4096), (0, 3317)));
        assert!(bound.can_reach((0, 3687), (0, 3687)) && !bound.can_reach((0, 3686), (0, 3686)));
        // Of 620 words, of which 70 are its own, the others follow: 550 of 620 are less than 0.9.
        let after_own = bound.shape(620, 550);
        assert!(bound.can_reach_any(after_own, 0) && !bound.can_reach(after_own, after_own));
        assert_eq!(Bound::cosine(Threshold::LEAST), Bound::Cosine(0));
    }
}
