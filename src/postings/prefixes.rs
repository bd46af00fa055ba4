//! A prefix filter for sets that share most of their elements, such as the pages of one template.

use super::words::{Words, put};
use crate::hash::combine;
use crate::similarity::bound::{Bound, Shape, Weighed};
use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::HashMap;

/// Sets are found by the elements that are rare among them.
///
/// All sets have one order of elements, rare ones first. Of two sets at or above the threshold, the first common element
/// in this order is within the [prefix](Bound::prefix_of) of both (Chaudhuri, Ganti & Kaushik, *A Primitive Operator
/// for Similarity Joins in Data Cleaning*, ICDE 2006). From it on, both must have [enough](crate::similarity::bound). An element that many
/// sets have is entered under its [shape](Shape) too: what of the set comes from this element on. So all sets of a
/// shape are ruled out at once.
///
/// Memory: the common elements of the first sets, and the shapes of each.
pub(crate) struct Prefixes {
    bound: Bound,
    /// Distinguishes the tags of one filter from those of others.
    salt: u64,
    /// Common elements: how many of the first sets have each, and the shapes of all sets that were entered under it,
    /// ascending.
    common: HashMap<u64, (u32, Vec<Shape>)>,
    /// The number of shapes of all elements together.
    shapes: usize,
}

/// An element of the prefix of a set, and the shape of the set from this one on.
#[derive(Clone, Copy)]
struct Placed {
    element: u64,
    shape: Shape,
    is_common: bool,
}

/// Of this many of the first sets, one must have an element that is common.
const COMMON: usize = 64;

/// The maximum number of documents that decide whether a filter is worth its cost, at most 32, and of their elements.
pub(crate) const ASKED: usize = 24;
pub(crate) const MOST_ASKED: usize = 1 << 15;

/// Fewer documents decide nothing.
const LEAST_ASKED: usize = 4;

/// The maximum number of shapes of an element. Sets of further ones are entered under the element alone, so that hostile
/// sets, each of another size, do not make every search look at as many shapes.
const MOST_SHAPES: usize = 1 << 10;

impl Prefixes {
    /// A filter whose order is that of the frequencies in these sets. Any order is exact; that of similar sets is fast.
    ///
    /// Cost: a step for each element of each set. Memory while it is made: 2 bytes for each of up to a million classes of
    /// elements.
    pub fn new<'s>(bound: Bound, salt: u64, sets: impl Iterator<Item = &'s [u64]> + Clone) -> Self {
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
        Prefixes { bound, salt, common, shapes: 0 }
    }

    /// Whether a filter is worth its cost for these documents, which share a key. For Jaccard similarity it is. Of vectors it must rule
    /// out three quarters of the pairs of some documents: it does among the pages of a template that are not similar
    /// enough; not among similar ones, nor among those that have little in common: their rare elements contribute too little to end
    /// before the common ones.
    ///
    /// # Errors
    /// A set cannot be read.
    ///
    /// Cost: some steps for each element of at most 24 sets. Memory: some 100 bytes for each, of at most 32,768; and one set. Of larger
    /// sets there are too few to decide: then it is not.
    pub fn spare_comparisons<'s, E>(
        bound: Bound,
        documents: &[u32],
        mut set: impl FnMut(u32) -> Result<Cow<'s, [u64]>, E>,
    ) -> Result<bool, E> {
        if let Bound::Jaccard(_) = bound {
            return Ok(true);
        }
        let some = documents.iter().step_by(documents.len().div_ceil(ASKED).max(1));
        let (mut sets, mut elements) = (Vec::new(), 0);
        for &document in some {
            let set = set(document)?;
            elements += set.len();
            if elements > MOST_ASKED {
                break;
            }
            sets.push(set);
        }
        if sets.len() < LEAST_ASKED {
            return Ok(false);
        }
        let elements: Vec<Cow<'_, [u64]>> = sets.iter().map(|set| bound.weighed(set).elements).collect();
        let mut prefixes = Prefixes::new(bound, 0, elements.iter().map(|elements| &**elements));
        // The sets that were entered under each tag, a bit for each.
        let (mut entered, mut found) = (HashMap::<u32, u32>::new(), 0);
        for (number, set) in sets.iter().enumerate() {
            let tags = prefixes.tags(set, 0, |_| true);
            let others = tags.iter().filter_map(|tag| entered.get(tag)).fold(0, |others, bits| others | bits);
            found += others.count_ones() as usize;
            prefixes.enter(set, 0, |_| true, |tag| *entered.entry(tag).or_default() |= 1 << number);
        }
        Ok(8 * found <= sets.len() * sets.len().saturating_sub(1))
    }

    /// The elements that most of the first sets have, at most `most` of them.
    pub fn most_common(&self, most: usize) -> Vec<u64> {
        let mut elements: Vec<(Reverse<u32>, u64)> =
            self.common.iter().map(|(&element, (count, _))| (Reverse(*count), element)).collect();
        elements.sort_unstable();
        elements.into_iter().take(most).map(|(_, element)| element).collect()
    }

    /// The elements of the prefix of a set from which on enough follow to be similar to a set of at least the size `smallest`.
    fn prefix(&self, set: &Weighed<'_>, smallest: usize) -> Vec<Placed> {
        let length = self.bound.prefix_of(set);
        let (mut rare, mut common) = (Vec::with_capacity(length), Vec::new());
        for (place, element) in set.elements.iter().enumerate() {
            match self.common.get(element) {
                None => rare.push(place),
                Some(&(count, _)) => common.push((count, *element, place)),
            }
            // Rare elements are in the order of the set.
            if rare.len() == length {
                break;
            }
        }
        let wanted = length - rare.len();
        if wanted > 0 && wanted < common.len() {
            common.select_nth_unstable(wanted);
        }
        common.truncate(wanted);
        common.sort_unstable();
        let rare = rare.into_iter().map(|place| (place, false));
        let order = rare.chain(common.into_iter().map(|(_, _, place)| (place, true)));
        let mut rest = set.total;
        let placed = order.map(|(place, is_common)| {
            let shape = self.bound.shape(set.total, rest);
            rest -= set.weight(place);
            Placed { element: set.elements[place], shape, is_common }
        });
        placed.take_while(|placed| self.bound.can_reach_any(placed.shape, smallest)).collect()
    }

    /// The elements of the prefix of an ascending multiset.
    #[cfg(feature = "arrow")]
    pub fn elements(&self, multiset: &[u64]) -> impl Iterator<Item = u64> {
        self.prefix(&self.bound.weighed(multiset), 0).into_iter().map(|placed| placed.element)
    }

    /// Passes the tags of an ascending multiset to a function, under which it has to be entered: those of elements that other
    /// sets may have, none of which is smaller than `smallest`.
    pub fn enter(
        &mut self,
        set: &[u64],
        smallest: usize,
        may_be_shared: impl Fn(u64) -> bool,
        mut each: impl FnMut(u32),
    ) {
        for Placed { element, shape, is_common } in self.prefix(&self.bound.weighed(set), smallest) {
            if !is_common {
                if may_be_shared(element) {
                    each(self.tag(element, None));
                }
                continue;
            }
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
        for Placed { element, shape, is_common } in self.prefix(&self.bound.weighed(set), smallest) {
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
                // With a larger rest, all the more.
                let enough = sizes.partition_point(|&other| !self.bound.can_reach(shape, other));
                tags.extend(sizes[enough..].iter().map(|&shape| self.tag(element, Some(shape))));
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
    pub fn read(bound: Bound, salt: u64, words: &mut Words) -> Option<Self> {
        let (mut common, mut held) = (HashMap::<u64, (u32, Vec<Shape>)>::new(), 0);
        for _ in 0..words.next()? {
            let (element, count) = (words.next()?, words.next_u32()?);
            let shapes: Vec<Shape> = words.list()?.map(|shape| ((shape >> 32) as u32, shape as u32)).collect();
            (shapes.is_sorted() && shapes.len() <= MOST_SHAPES).then_some(())?;
            held += shapes.len();
            let replaced = common.insert(element, (count, shapes));
            replaced.is_none().then_some(())?;
        }
        Some(Prefixes { bound, salt, common, shapes: held })
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
    use crate::similarity::{Threshold, cosine_at_least, jaccard_at_least};
    use proptest::prelude::*;
    use std::collections::BTreeSet;
    use std::convert::Infallible;

    proptest! {
        /// Whatever sets the order is made of, all sets at or above the threshold have a tag in common, with or without the
        /// elements of one set, and whether it is known that none is smaller than the smallest. Multisets too, of which elements
        /// occur up to `most` times.
        #[test]
        fn similar_sets_share_a_tag(
            frame in 1u64..60,
            sets in prop::collection::vec(prop::collection::btree_set(0u64..90, 0..70), 1..40),
            first in 0usize..40,
            percent in 30u64..=100,
            classes in 16u64..4096,
            most in 1u64..6,
            by_cosine: bool,
        ) {
            let threshold = Threshold::new(percent, 100).unwrap();
            let bound = if by_cosine { Bound::cosine(threshold) } else { Bound::Jaccard(threshold) };
            // Nearly all elements of the frame are in all sets.
            let set_of_frame = |own: BTreeSet<u64>| -> Vec<u64> {
                let frame: BTreeSet<u64> = (0..frame).map(|element| element + 70).filter(|e| !own.contains(&(e - 60))).collect();
                own.union(&frame).map(|&element| mix(element)).collect::<BTreeSet<u64>>().into_iter().collect()
            };
            // Mostly as often in all of them.
            let count = |element: u64, number: u64| {
                let often = mix(element ^ number << 40).is_multiple_of(8);
                1 + mix(element + if often { number } else { 0 }) % most
            };
            let multiset = |(set, number): (BTreeSet<u64>, u64)| -> Vec<u64> {
                let times = |element: u64| std::iter::repeat_n(element, count(element, number) as usize);
                set_of_frame(set).into_iter().flat_map(times).collect()
            };
            let sets: Vec<Vec<u64>> = sets.into_iter().zip(0..).map(multiset).collect();
            let elements: Vec<Vec<u64>> = sets.iter().map(|set| bound.weighed(set).elements.into_owned()).collect();
            let mut prefixes = Prefixes::new(bound, 7, elements.iter().take(first).map(Vec::as_slice));
            let shapes = |prefixes: &Prefixes| prefixes.common.values().map(|(_, shapes)| shapes.len()).sum::<usize>();
            let mut entered: Vec<BTreeSet<u32>> = Vec::new();
            let repeated = Repeated::new(100, classes);
            let smallest = elements.iter().map(Vec::len).min().unwrap_or(0);
            elements.iter().for_each(|set| repeated.add(set));
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
                    let similarity =
                        if by_cosine { cosine_at_least(a, b, threshold) } else { jaccard_at_least(a, b, threshold) };
                    prop_assert!(is_found || similarity.is_none(), "{a:?} {b:?}");
                }
            }
        }
    }

    #[test]
    fn only_among_pages_of_a_frame_it_is_worth_its_cost() {
        let bound = Bound::cosine(Threshold::new(9, 10).unwrap());
        let documents: Vec<u32> = (0..500).collect();
        let is_worth = |set: &dyn Fn(u64) -> Vec<u64>| {
            let set = |document: u32| {
                let mut set = set(document.into());
                set.sort_unstable();
                Ok::<_, Infallible>(Cow::Owned(set))
            };
            let Ok(is_worth) = Prefixes::spare_comparisons(bound, &documents, set);
            is_worth
        };
        let own = |number: u64, count: u64| (0..count).map(move |word| mix(number << 32 | word | 1 << 31));
        let page = |count, frame| move |number| (0..frame).map(mix).chain(own(number, count)).collect::<Vec<u64>>();
        assert!(is_worth(&page(70, 550)) && is_worth(&page(300, 300)) && !is_worth(&page(20, 550)));
        // Texts that share some words which are frequent in each.
        let text = |number| own(number, 60).chain((0..72).map(|word| mix(word % 8))).collect();
        assert!(!is_worth(&text));
        let Ok(of_none) = Prefixes::spare_comparisons(bound, &[], |_| Ok::<_, Infallible>(Cow::Borrowed(&[])));
        assert!(!of_none);
        // They are too large to be asked.
        assert!(!is_worth(&page(1000, 9000)));
    }

    /// Sets of more sizes than an element has shapes, each the beginning of the next, with an element that is first in the
    /// order because few of the first sets have it.
    #[test]
    fn shapes_are_bounded_and_nothing_is_missed() {
        let bound = Bound::Jaccard(Threshold::new(9, 10).unwrap());
        let frame: Vec<u64> = (0..2400).map(mix).collect();
        let set = |size: usize, also: &[u64]| -> Vec<u64> {
            frame[..size].iter().chain(also).copied().collect::<BTreeSet<u64>>().into_iter().collect()
        };
        let own = [mix(1 << 40)];
        let first: Vec<Vec<u64>> = (0..70).map(|number| set(2400, if number < 2 { &own } else { &[] })).collect();
        let sets: Vec<Vec<u64>> = (1000..2400).map(|size| set(size, &own)).collect();
        let mut prefixes = Prefixes::new(bound, 1, first.iter().map(Vec::as_slice));
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

    /// Pages that share 550 elements and have 70 of their own: .797 alike, and by the cosine .887.
    #[test]
    fn pages_just_below_the_threshold_share_no_tag() {
        let page = |number: u64| {
            let own = (0..70).map(|word| mix(number << 32 | word | 1 << 31));
            (0..550).map(mix).chain(own).collect::<BTreeSet<u64>>().into_iter().collect::<Vec<u64>>()
        };
        let pages: Vec<Vec<u64>> = (0..200).map(page).collect();
        let threshold = |percent| Threshold::new(percent, 100).unwrap();
        for (bound, shares) in [
            (Bound::Jaccard(threshold(80)), false),
            (Bound::Jaccard(threshold(78)), true),
            (Bound::cosine(threshold(89)), false),
            (Bound::cosine(threshold(88)), true),
        ] {
            let mut prefixes = Prefixes::new(bound, 0, pages.iter().take(100).map(Vec::as_slice));
            let mut entered = BTreeSet::new();
            pages[..150].iter().for_each(|page| prefixes.enter(page, 0, |_| true, |tag| _ = entered.insert(tag)));
            for page in &pages[150..] {
                assert_eq!(prefixes.tags(page, 0, |_| true).iter().any(|tag| entered.contains(tag)), shares);
            }
            assert!(prefixes.bytes_held() < 1 << 20);
            // As all have the same size, nothing in common is in the prefix that could suffice.
            let mut entered = 0;
            prefixes.enter(&pages[0], 620, |_| true, |_| entered += 1);
            assert_eq!(entered > 70, shares || bound == Bound::cosine(threshold(89)), "{bound:?}");
        }
    }
}
