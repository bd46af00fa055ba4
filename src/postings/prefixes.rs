//! A prefix filter for sets that share most of their elements, such as the pages of one template.

use super::words::{Words, put};
use crate::hash::combine;
use crate::similarity::bound::{Bound, Shape, Tail, Weighed};
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
    /// The common elements, ascending, and of each how many of the first sets have it.
    common: Vec<u64>,
    counts: Vec<u32>,
    /// Of each the shapes of all sets that were entered under it, ascending.
    shapes_of: Vec<Vec<Shape>>,
    /// The number of shapes of all elements together.
    shapes: usize,
}

/// An element of the prefix of a set, and the shape of the set from this one on.
#[derive(Clone, Copy)]
struct Placed {
    element: u64,
    place: usize,
    shape: Shape,
    /// Its number among the common elements, if it is one.
    common: Option<u32>,
}

/// How similar sets are found.
pub(crate) struct Asked {
    /// The tags under which they were entered, each with the [share](Bound::share) of its element; 0 for one that does not count: one that
    /// many sets have.
    pub tags: Vec<(u32, u32)>,
    /// What comes after the elements that count.
    pub tail: Tail,
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
        let mut common: HashMap<u64, u32> = HashMap::new();
        for &element in sets.flatten().filter(|&&element| usize::from(counts[class(element)]) >= least) {
            *common.entry(element).or_default() += 1;
        }
        let mut common: Vec<(u64, u32)> = common.into_iter().filter(|&(_, count)| count as usize >= least).collect();
        common.sort_unstable();
        let shapes_of = vec![Vec::new(); common.len()];
        let (common, counts) = common.into_iter().unzip();
        Prefixes { bound, salt, common, counts, shapes_of, shapes: 0 }
    }

    /// A filter with the same common elements and further ones, ascending, each with the share of sets that have it, of `whole`. No set is
    /// entered in it yet.
    pub fn with_common(&self, salt: u64, further: &[(u64, u32)], whole: u32) -> Self {
        // About the number of the first sets: some element is in nearly all of them.
        let sets = self.counts.iter().copied().max().unwrap_or(whole);
        let further = further
            .iter()
            .map(|&(element, share)| (element, (u64::from(share) * u64::from(sets) / u64::from(whole)) as u32));
        let mut common: Vec<(u64, u32)> =
            self.common.iter().copied().zip(self.counts.iter().copied()).chain(further).collect();
        common.sort_unstable();
        common.dedup_by_key(|&mut (element, _)| element);
        let shapes_of = vec![Vec::new(); common.len()];
        let (common, counts) = common.into_iter().unzip();
        Prefixes { bound: self.bound, salt, common, counts, shapes_of, shapes: 0 }
    }

    /// Passes the elements of an ascending multiset that are not common to a function, while that returns true.
    pub fn rare(&self, set: &[u64], each: &mut dyn FnMut(u64) -> bool) {
        let (elements, mut common) = (self.bound.weighed(set).elements, &self.common[..]);
        let mut rare = elements.iter().copied().filter(|&element| {
            common = &common[first_from(common, |&common| common >= element)..];
            common.first() != Some(&element)
        });
        _ = rare.all(each);
    }

    /// The number of common elements.
    pub fn common(&self) -> usize {
        self.common.len()
    }

    /// The tag under which sets are entered by an element that is not common.
    pub fn tag_of_rare(&self, element: u64) -> u32 {
        self.tag(element, None)
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
            let asked = prefixes.ask(set, 0, |_| true);
            let others =
                asked.tags.iter().filter_map(|(tag, _)| entered.get(tag)).fold(0, |others, bits| others | bits);
            found += others.count_ones() as usize;
            prefixes.enter(set, 0, |_| true, |tag| *entered.entry(tag).or_default() |= 1 << number);
        }
        Ok(8 * found <= sets.len() * sets.len().saturating_sub(1))
    }

    /// The elements that most of the first sets have, at most `most` of them.
    pub fn most_common(&self, most: usize) -> Vec<u64> {
        let mut elements: Vec<(Reverse<u32>, u64)> =
            self.counts.iter().copied().map(Reverse).zip(self.common.iter().copied()).collect();
        elements.sort_unstable();
        elements.into_iter().take(most).map(|(_, element)| element).collect()
    }

    /// The elements of the prefix of a set from which on enough follow to be similar to a set of at least the size `smallest`, or all rare
    /// ones if the prefix for sets of any size has them; and what comes after those of them that are not common.
    fn prefix(&self, set: &Weighed<'_>, smallest: usize) -> (Vec<Placed>, Tail) {
        let length = self.bound.prefix_of(set);
        let (mut rare, mut common) = (Vec::with_capacity(length), Vec::new());
        let (mut places, mut next) = (set.elements.iter().enumerate(), 0);
        // Rare elements are in the order of the set.
        while rare.len() < length
            && let Some((place, element)) = places.next()
        {
            next += first_from(&self.common[next..], |common| common >= element);
            match self.common.get(next) == Some(element) {
                true => common.push((self.counts[next], next as u32, place)),
                false => rare.push(place),
            }
        }
        let has_all = places.len() == 0;
        let wanted = length - rare.len();
        if wanted > 0 && wanted < common.len() {
            common.select_nth_unstable(wanted);
        }
        common.truncate(wanted);
        common.sort_unstable();
        let count_of_rare = rare.len();
        let rare = rare.into_iter().map(|place| (place, None));
        let order = rare.chain(common.into_iter().map(|(_, number, place)| (place, Some(number))));
        let mut rest = set.total;
        let placed = order.map(|(place, common)| {
            let shape = self.bound.shape(set.total, rest);
            rest -= set.weight(place);
            Placed { element: set.elements[place], place, shape, common }
        });
        let mut prefix: Vec<Placed> = placed.collect();
        let needed = prefix.iter().take_while(|placed| self.bound.can_reach_any(placed.shape, smallest)).count();
        // All rare elements say more than some: then nothing of what remains is rare, and only what is common can be shared.
        prefix.truncate(if has_all { needed.max(count_of_rare) } else { needed });
        let rare = &prefix[..count_of_rare.min(prefix.len())];
        let is_complete = has_all && rare.len() == count_of_rare;
        let tail = self.bound.tail(set, rare.iter().map(|placed| placed.place), is_complete);
        (prefix, tail)
    }

    /// The elements of the prefix of an ascending multiset.
    #[cfg(feature = "arrow")]
    pub fn elements(&self, multiset: &[u64]) -> impl Iterator<Item = u64> {
        self.prefix(&self.bound.weighed(multiset), 0).0.into_iter().map(|placed| placed.element)
    }

    /// Passes the tags of an ascending multiset to a function, under which it has to be entered: those of elements that other
    /// sets may have, none of which is smaller than `smallest`. Returns what comes after the elements that count when sets are
    /// [asked for](Self::ask).
    pub fn enter(
        &mut self,
        set: &[u64],
        smallest: usize,
        may_be_shared: impl Fn(u64) -> bool,
        mut each: impl FnMut(u32),
    ) -> Tail {
        let (prefix, tail) = self.prefix(&self.bound.weighed(set), smallest);
        for Placed { element, shape, common, .. } in prefix {
            let Some(common) = common else {
                if may_be_shared(element) {
                    each(self.tag(element, None));
                }
                continue;
            };
            let shapes = &mut self.shapes_of[common as usize];
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
        tail
    }

    /// The tags under which all sets were entered that may be at or above the threshold with this one, none of which is smaller
    /// than `smallest`.
    ///
    /// A set that was entered under some of them, whose shares are `common` together, can be at or above it only if it [can reach it
    /// with](Bound::can_reach_with) these.
    pub fn ask(&self, set: &[u64], smallest: usize, may_be_shared: impl Fn(u64) -> bool) -> Asked {
        let (set, mut tags) = (self.bound.weighed(set), Vec::new());
        let (prefix, tail) = self.prefix(&set, smallest);
        for Placed { element, place, shape, common } in prefix {
            let Some(common) = common else {
                if may_be_shared(element) {
                    tags.push((self.tag(element, None), self.bound.share(&set, place)));
                }
                continue;
            };
            let shapes = &self.shapes_of[common as usize];
            if shapes.len() == MOST_SHAPES {
                tags.push((self.tag(element, None), 0));
            }
            for sizes in shapes.chunk_by(|a, b| a.0 == b.0) {
                // With a larger rest, all the more.
                let enough = sizes.partition_point(|&other| !self.bound.can_reach(shape, other));
                tags.extend(sizes[enough..].iter().map(|&shape| (self.tag(element, Some(shape)), 0)));
            }
        }
        Asked { tags, tail }
    }

    fn tag(&self, element: u64, shape: Option<Shape>) -> u32 {
        let (size, rest) = shape.unwrap_or_default();
        (combine(combine(self.salt, element), u64::from(size) << 32 | u64::from(rest)) >> 32) as u32
    }

    /// Appends the elements and their shapes, for [`read`](Self::read).
    pub fn put(&self, out: &mut Vec<u8>) {
        put(out, self.common.len() as u64);
        for ((&element, &count), shapes) in self.common.iter().zip(&self.counts).zip(&self.shapes_of) {
            put(out, element);
            put(out, u64::from(count));
            put(out, shapes.len() as u64);
            shapes.iter().for_each(|&(size, rest)| put(out, u64::from(size) << 32 | u64::from(rest)));
        }
    }

    /// Reads what [`put`](Self::put) wrote; `None` if that is not a filter.
    pub fn read(bound: Bound, salt: u64, words: &mut Words) -> Option<Self> {
        let mut prefixes =
            Prefixes { bound, salt, common: Vec::new(), counts: Vec::new(), shapes_of: Vec::new(), shapes: 0 };
        for _ in 0..words.next()? {
            let (element, count) = (words.next()?, words.next_u32()?);
            let shapes: Vec<Shape> = words.list()?.map(|shape| ((shape >> 32) as u32, shape as u32)).collect();
            (shapes.is_sorted() && shapes.len() <= MOST_SHAPES).then_some(())?;
            prefixes.common.last().is_none_or(|&last| last < element).then_some(())?;
            prefixes.shapes += shapes.len();
            prefixes.common.push(element);
            prefixes.counts.push(count);
            prefixes.shapes_of.push(shapes);
        }
        Some(prefixes)
    }

    /// Bytes of memory, which depend only on what was entered: a vector has room for up to twice as many.
    pub fn bytes_held(&self) -> u64 {
        let elements = self.common.len() * (size_of::<u64>() + size_of::<u32>() + size_of::<Vec<Shape>>());
        2 * (elements + self.shapes * size_of::<Shape>()) as u64
    }
}

/// The index of the first item that is as sought, or the number of items, if all that follow such an item are as sought too. Galloping:
/// it is mostly near the start.
pub(super) fn first_from<T>(ascending: &[T], is_there: impl Fn(&T) -> bool) -> usize {
    let mut end = 1;
    while ascending.get(end - 1).is_some_and(|item| !is_there(item)) {
        end *= 2;
    }
    let (start, end) = (end / 2, end.min(ascending.len()));
    start + ascending[start..end].partition_point(|item| !is_there(item))
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
            let shapes = |prefixes: &Prefixes| prefixes.shapes_of.iter().map(Vec::len).sum::<usize>();
            let mut entered: Vec<(BTreeSet<u32>, Tail)> = Vec::new();
            let repeated = Repeated::new(100, classes);
            let smallest = elements.iter().map(Vec::len).min().unwrap_or(0);
            elements.iter().for_each(|set| repeated.add(set));
            for set in &sets {
                let mut tags = BTreeSet::new();
                let tail = prefixes.enter(set, smallest, |element| repeated.has(element), |tag| _ = tags.insert(tag));
                entered.push((tags, tail));
                prop_assert_eq!(prefixes.shapes, shapes(&prefixes));
            }
            for (at, a) in sets.iter().enumerate() {
                let (all, asked) =
                    (prefixes.ask(a, 0, |_| true), prefixes.ask(a, smallest, |element| repeated.has(element)));
                prop_assert!(asked.tags.iter().all(|tag| all.tags.contains(tag)));
                for (other, (b, (own, tail))) in sets.iter().zip(&entered).enumerate() {
                    let hits = || asked.tags.iter().filter(|(tag, _)| own.contains(tag));
                    let common = hits().map(|&(_, share)| u64::from(share)).sum();
                    let can_reach = hits().count() > 0 && bound.can_reach_with(common, asked.tail, *tail);
                    let is_found = at == other || can_reach;
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

    #[test]
    fn what_is_before_an_item_is_skipped() {
        let items: Vec<u32> = (0..40).map(|item| 2 * item).collect();
        for length in 0..40 {
            for sought in 0..82 {
                let plain = items[..length].iter().filter(|&&item| item < sought).count();
                assert_eq!(first_from(&items[..length], |&item| item >= sought), plain);
            }
        }
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
        let most = prefixes.shapes_of.iter().map(Vec::len).max();
        assert_eq!(most, Some(MOST_SHAPES));
        for at in [0, 100, 700, 1100, 1399] {
            let tags = prefixes.ask(&sets[at], 0, |_| true).tags;
            // The sizes of both allow a similarity of nine tenths.
            for other in (0..sets.len()).filter(|&other| {
                let (a, b) = (1001 + at, 1001 + other);
                10 * a.min(b) >= 9 * a.max(b)
            }) {
                assert!(tags.iter().any(|(tag, _)| entered[other].contains(tag)), "{at} and {other}");
            }
        }
    }

    /// Pages of a frame that have some of their own elements in common: too few of them, or enough.
    #[test]
    fn few_common_elements_that_are_rare_do_not_suffice() {
        // 70 of their own, of which each page shares some with every other one.
        let page = |number: u64, shared: u64| {
            let own = (0..70 - shared).map(|word| mix(number << 32 | word | 1 << 31));
            let shared = (0..shared).map(|word| mix(1 << 62 | word));
            (0..550).map(mix).chain(shared).chain(own).collect::<BTreeSet<u64>>().into_iter().collect::<Vec<u64>>()
        };
        // Of 620 elements, 552 must be common for .8, and 558 for a cosine of .9.
        let threshold = |percent| Threshold::new(percent, 100).unwrap();
        for (bound, least) in [(Bound::Jaccard(threshold(80)), 2), (Bound::cosine(threshold(90)), 8)] {
            for shared in [1, least - 1, least, 20] {
                let frame: Vec<Vec<u64>> = (0..100).map(|number| page(number, 0)).collect();
                let mut prefixes = Prefixes::new(bound, 0, frame.iter().map(Vec::as_slice));
                let mut tags = BTreeSet::new();
                let tail = prefixes.enter(&page(1000, shared), 0, |_| true, |tag| _ = tags.insert(tag));
                let asked = prefixes.ask(&page(2000, shared), 0, |_| true);
                let hits: Vec<u32> = asked.tags.iter().filter(|(tag, _)| tags.contains(tag)).map(|hit| hit.1).collect();
                assert!(hits.len() >= shared as usize);
                let common = hits.into_iter().map(u64::from).sum();
                assert_eq!(bound.can_reach_with(common, asked.tail, tail), shared >= least, "{bound:?} {shared}");
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
            pages[..150].iter().for_each(|page| _ = prefixes.enter(page, 0, |_| true, |tag| _ = entered.insert(tag)));
            for page in &pages[150..] {
                assert_eq!(prefixes.ask(page, 0, |_| true).tags.iter().any(|(tag, _)| entered.contains(tag)), shares);
            }
            assert!(prefixes.bytes_held() < 1 << 20);
            // As all have the same size, nothing in common is in the prefix that could suffice.
            let mut entered = 0;
            prefixes.enter(&pages[0], 620, |_| true, |_| entered += 1);
            assert_eq!(entered > 70, shares || bound == Bound::cosine(threshold(89)), "{bound:?}");
        }
    }
}
