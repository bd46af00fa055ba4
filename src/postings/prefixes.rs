//! A prefix filter for sets that share most of their elements, such as the pages of one template.

use super::words::{Words, put};
use crate::hash::combine;
use crate::similarity::Threshold;
use std::cmp::Reverse;
use std::collections::HashMap;

/// Sets are found by the elements that are rare among them.
///
/// All sets have one order of elements, rare ones first. Of two sets at or above the threshold, the first common element
/// in this order is within the [prefix](Threshold::prefix_of) of both (Chaudhuri, Ganti & Kaushik, *A Primitive Operator
/// for Similarity Joins in Data Cleaning*, ICDE 2006). After it, both must have enough elements for the rest of the
/// overlap (Xiao, Wang, Lin & Yu, *Efficient Similarity Joins for Near Duplicate Detection*, WWW 2008, the positional
/// filter). An element that many sets have is entered under its shape too: the size of the set and the number of elements
/// from this one on. So all sets of a shape are ruled out at once.
///
/// Memory: the common elements of the first sets, and the shapes of each.
pub(crate) struct Prefixes {
    jaccard: Threshold,
    /// Distinguishes the tags of one filter from those of others.
    salt: u64,
    /// Common elements: how many of the first sets have each, and the shapes of all sets that were entered under it,
    /// ascending.
    common: HashMap<u64, (u32, Vec<Shape>)>,
    /// The number of shapes of all elements together.
    shapes: usize,
}

/// The size of a set, and the number of its elements from a given one on, which is counted.
type Shape = (u32, u32);

/// An element of the prefix of a set, and the number of elements of the set from this one on.
#[derive(Clone, Copy)]
struct Placed {
    element: u64,
    rest: usize,
    is_common: bool,
}

/// Of this many of the first sets, one must have an element that is common.
const COMMON: usize = 64;

/// The maximum number of shapes of an element. Sets of further ones are entered under the element alone, so that hostile
/// sets, each of another size, do not make every search look at as many shapes.
const MOST_SHAPES: usize = 1 << 10;

impl Prefixes {
    /// A filter whose order is that of the frequencies in these sets. Any order is exact; that of similar sets is fast.
    ///
    /// Cost: a step for each element of each set. Memory while it is made: 2 bytes for each of up to a million classes of
    /// elements.
    pub fn new<'s>(jaccard: Threshold, salt: u64, sets: impl Iterator<Item = &'s [u64]> + Clone) -> Self {
        let total: usize = sets.clone().map(<[u64]>::len).sum();
        let classes = total.next_power_of_two().clamp(1 << 10, 1 << 20);
        // Multiplied, so that elements need not be hashes.
        let class = |element: u64| (element.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as usize & (classes - 1);
        let mut counts = vec![0u16; classes];
        for &element in sets.clone().flatten() {
            let count = &mut counts[class(element)];
            *count = count.saturating_add(1);
        }
        let least = (sets.clone().count() / COMMON).max(2);
        let mut common: HashMap<u64, (u32, Vec<Shape>)> = HashMap::new();
        for &element in sets.flatten().filter(|&&element| usize::from(counts[class(element)]) >= least) {
            common.entry(element).or_default().0 += 1;
        }
        common.retain(|_, (count, _)| *count as usize >= least);
        common.shrink_to_fit();
        Prefixes { jaccard, salt, common, shapes: 0 }
    }

    /// The elements that most of the first sets have, at most `most` of them.
    pub fn most_common(&self, most: usize) -> Vec<u64> {
        let mut elements: Vec<(Reverse<u32>, u64)> =
            self.common.iter().map(|(&element, (count, _))| (Reverse(*count), element)).collect();
        elements.sort_unstable();
        elements.into_iter().take(most).map(|(_, element)| element).collect()
    }

    /// The elements of the prefix of an ascending set from which on enough follow to be similar to a set of at least the size
    /// `smallest`.
    fn prefix(&self, set: &[u64], smallest: usize) -> Vec<Placed> {
        if set.is_empty() {
            return Vec::new();
        }
        let length = self.jaccard.prefix_of(set.len());
        let (mut rare, mut common) = (Vec::with_capacity(length), Vec::new());
        for &element in set {
            match self.common.get(&element) {
                None => rare.push(element),
                Some(&(count, _)) => common.push((count, element)),
            }
            // Rare elements are in the order of the set.
            if rare.len() == length {
                break;
            }
        }
        let wanted = length - rare.len();
        if wanted > 0 && wanted < common.len() {
            common.select_nth_unstable(wanted);
            common.truncate(wanted);
        }
        common.truncate(wanted);
        common.sort_unstable();
        let rare = rare.into_iter().map(|element| (element, false));
        let order = rare.chain(common.into_iter().map(|(_, element)| (element, true)));
        let placed = |(before, (element, is_common))| Placed { element, rest: set.len() - before, is_common };
        let least = self.jaccard.jaccard_overlap(set.len(), smallest.max(self.jaccard.min_overlap(set.len())));
        order.enumerate().map(placed).take_while(|placed| placed.rest >= least).collect()
    }

    /// The elements of the prefix of an ascending set.
    #[cfg(feature = "arrow")]
    pub fn elements(&self, set: &[u64]) -> impl Iterator<Item = u64> {
        self.prefix(set, 0).into_iter().map(|placed| placed.element)
    }

    /// Passes the tags of an ascending set to a function, under which it has to be entered: those of elements that other
    /// sets may have, none of which is smaller than `smallest`.
    pub fn enter(
        &mut self,
        set: &[u64],
        smallest: usize,
        may_be_shared: impl Fn(u64) -> bool,
        mut each: impl FnMut(u32),
    ) {
        for Placed { element, rest, is_common } in self.prefix(set, smallest) {
            if !is_common {
                if may_be_shared(element) {
                    each(self.tag(element, None));
                }
                continue;
            }
            let shape = (set.len() as u32, rest as u32);
            let (_, shapes) = self.common.get_mut(&element).expect("it is common");
            let own = match shapes.binary_search(&shape) {
                Ok(_) => Some(shape),
                Err(at) if shapes.len() < MOST_SHAPES => {
                    shapes.insert(at, shape);
                    self.shapes += 1;
                    Some(shape)
                }
                Err(_) => None,
            };
            each(self.tag(element, own));
        }
    }

    /// The tags under which all sets were entered that may be at or above the threshold with this one, none of which is smaller
    /// than `smallest`.
    pub fn tags(&self, set: &[u64], smallest: usize, may_be_shared: impl Fn(u64) -> bool) -> Vec<u32> {
        let mut tags = Vec::new();
        for Placed { element, rest, is_common } in self.prefix(set, smallest) {
            if !is_common {
                if may_be_shared(element) {
                    tags.push(self.tag(element, None));
                }
                continue;
            }
            let shapes = &self.common[&element].1;
            if shapes.len() == MOST_SHAPES {
                tags.push(self.tag(element, None));
            }
            for sizes in shapes.chunk_by(|a, b| a.0 == b.0) {
                let needed = self.jaccard.jaccard_overlap(set.len(), sizes[0].0 as usize);
                if rest >= needed {
                    let enough = sizes.partition_point(|&(_, rest)| (rest as usize) < needed);
                    tags.extend(sizes[enough..].iter().map(|&shape| self.tag(element, Some(shape))));
                }
            }
        }
        tags
    }

    fn tag(&self, element: u64, shape: Option<Shape>) -> u32 {
        let (size, rest) = shape.unwrap_or_default();
        (combine(combine(self.salt, element), u64::from(size) << 32 | u64::from(rest)) >> 32) as u32
    }

    /// Appends the elements and their shapes, for [`read`](Self::read).
    pub fn put(&self, out: &mut Vec<u8>) {
        let mut elements: Vec<_> = self.common.iter().collect();
        elements.sort_unstable();
        put(out, elements.len() as u64);
        for (&element, (count, shapes)) in elements {
            put(out, element);
            put(out, u64::from(*count));
            put(out, shapes.len() as u64);
            shapes.iter().for_each(|&(size, rest)| put(out, u64::from(size) << 32 | u64::from(rest)));
        }
    }

    /// Reads what [`put`](Self::put) wrote; `None` if that is not a filter.
    pub fn read(jaccard: Threshold, salt: u64, words: &mut Words) -> Option<Self> {
        let (mut common, mut held) = (HashMap::<u64, (u32, Vec<Shape>)>::new(), 0);
        for _ in 0..words.next()? {
            let (element, count) = (words.next()?, words.next_u32()?);
            let shapes: Vec<Shape> = words.list()?.map(|shape| ((shape >> 32) as u32, shape as u32)).collect();
            (shapes.is_sorted() && shapes.len() <= MOST_SHAPES).then_some(())?;
            held += shapes.len();
            let replaced = common.insert(element, (count, shapes));
            replaced.is_none().then_some(())?;
        }
        Some(Prefixes { jaccard, salt, common, shapes: held })
    }

    /// Bytes of memory, which depend only on what was entered: a map or a vector has room for up to twice as many.
    pub fn bytes_held(&self) -> u64 {
        let elements = self.common.len() * (size_of::<(u64, u32, Vec<Shape>)>() + 1);
        2 * (elements + self.shapes * size_of::<Shape>()) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::super::Repeated;
    use super::*;
    use crate::hash::mix;
    use crate::similarity::jaccard_at_least;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        /// Whatever sets the order is made of, all sets at or above the threshold have a tag in common, with or without the
        /// elements of one set, and whether it is known that none is smaller than the smallest.
        #[test]
        fn similar_sets_share_a_tag(
            frame in 1u64..60,
            sets in prop::collection::vec(prop::collection::btree_set(0u64..90, 0..70), 1..40),
            first in 0usize..40,
            percent in 30u64..=100,
            classes in 16u64..4096,
        ) {
            let jaccard = Threshold::new(percent, 100).unwrap();
            // Nearly all elements of the frame are in all sets.
            let set = |own: BTreeSet<u64>| -> Vec<u64> {
                let frame: BTreeSet<u64> = (0..frame).map(|element| element + 70).filter(|e| !own.contains(&(e - 60))).collect();
                own.union(&frame).map(|&element| mix(element)).collect::<BTreeSet<u64>>().into_iter().collect()
            };
            let sets: Vec<Vec<u64>> = sets.into_iter().map(set).collect();
            let mut prefixes = Prefixes::new(jaccard, 7, sets.iter().take(first).map(Vec::as_slice));
            let shapes = |prefixes: &Prefixes| prefixes.common.values().map(|(_, shapes)| shapes.len()).sum::<usize>();
            let mut entered: Vec<BTreeSet<u32>> = Vec::new();
            let repeated = Repeated::new(100, classes);
            let smallest = sets.iter().map(Vec::len).min().unwrap_or(0);
            sets.iter().for_each(|set| repeated.add(set));
            for set in &sets {
                let mut tags = BTreeSet::new();
                prefixes.enter(set, smallest, |element| repeated.has(element), |tag| _ = tags.insert(tag));
                entered.push(tags);
                prop_assert_eq!(prefixes.shapes, shapes(&prefixes));
            }
            for (at, a) in sets.iter().enumerate() {
                let (all, tags) =
                    (prefixes.tags(a, 0, |_| true), prefixes.tags(a, smallest, |element| repeated.has(element)));
                prop_assert!(tags.iter().all(|tag| all.contains(tag)));
                for (other, (b, own)) in sets.iter().zip(&entered).enumerate() {
                    let is_found = at == other || tags.iter().any(|tag| own.contains(tag));
                    prop_assert!(is_found || jaccard_at_least(a, b, jaccard).is_none(), "{a:?} {b:?}");
                }
            }
        }
    }

    /// Sets of more sizes than an element has shapes, each the beginning of the next, with an element that is first in the
    /// order because few of the first sets have it.
    #[test]
    fn shapes_are_bounded_and_nothing_is_missed() {
        let jaccard = Threshold::new(9, 10).unwrap();
        let frame: Vec<u64> = (0..2400).map(mix).collect();
        let set = |size: usize, also: &[u64]| -> Vec<u64> {
            frame[..size].iter().chain(also).copied().collect::<BTreeSet<u64>>().into_iter().collect()
        };
        let own = [mix(1 << 40)];
        let first: Vec<Vec<u64>> = (0..70).map(|number| set(2400, if number < 2 { &own } else { &[] })).collect();
        let sets: Vec<Vec<u64>> = (1000..2400).map(|size| set(size, &own)).collect();
        let mut prefixes = Prefixes::new(jaccard, 1, first.iter().map(Vec::as_slice));
        let mut entered: Vec<BTreeSet<u32>> = Vec::new();
        for set in &sets {
            let mut tags = BTreeSet::new();
            prefixes.enter(set, 0, |_| true, |tag| _ = tags.insert(tag));
            entered.push(tags);
        }
        let most = prefixes.common.values().map(|(_, shapes)| shapes.len()).max();
        assert_eq!(most, Some(MOST_SHAPES));
        for at in [0, 100, 700, 1100, 1399] {
            let tags = prefixes.tags(&sets[at], 0, |_| true);
            // The sizes of both allow a similarity of nine tenths.
            for other in (0..sets.len()).filter(|&other| {
                let (a, b) = (1001 + at, 1001 + other);
                10 * a.min(b) >= 9 * a.max(b)
            }) {
                assert!(tags.iter().any(|tag| entered[other].contains(tag)), "{at} and {other}");
            }
        }
    }

    /// Pages that share 550 elements and have 70 of their own: .797 alike.
    #[test]
    fn pages_just_below_the_threshold_share_no_tag() {
        let page = |number: u64| {
            let own = (0..70).map(|word| mix(number << 32 | word | 1 << 31));
            (0..550).map(mix).chain(own).collect::<BTreeSet<u64>>().into_iter().collect::<Vec<u64>>()
        };
        let pages: Vec<Vec<u64>> = (0..200).map(page).collect();
        for (jaccard, shares) in [((4, 5), false), ((39, 50), true)] {
            let jaccard = Threshold::new(jaccard.0, jaccard.1).unwrap();
            let mut prefixes = Prefixes::new(jaccard, 0, pages.iter().take(100).map(Vec::as_slice));
            let mut entered = BTreeSet::new();
            pages[..150].iter().for_each(|page| prefixes.enter(page, 0, |_| true, |tag| _ = entered.insert(tag)));
            for page in &pages[150..] {
                assert_eq!(prefixes.tags(page, 0, |_| true).iter().any(|tag| entered.contains(tag)), shares);
            }
            assert!(prefixes.bytes_held() < 1 << 20);
            // As all have the same size, nothing in common is in the prefix that could suffice.
            let mut entered = 0;
            prefixes.enter(&pages[0], 620, |_| true, |_| entered += 1);
            assert_eq!(entered > 70, shares);
        }
    }
}
