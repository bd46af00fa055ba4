//! Prefixes of feature sets: which members of a large group have a rare element in common, and can be similar.

use super::sets::Sets;
use super::table::Table;
use crate::postings::Repeated;
use crate::similarity::bound::{Bound, Shape};
use rayon::prelude::*;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};

/// The prefixes of the members of [hot runs](super::hot::HotFamilies), who may share no more than the element that brought them there: a
/// licence, or a page's frame. Members are numbers within the family.
///
/// Within the family all sets have one order of elements, rare ones first, as in an exact join: of two sets at or above the
/// threshold, the first common element is in the prefix of both (Chaudhuri, Ganti & Kaushik, ICDE 2006). From it on both
/// must have [enough](crate::similarity::bound). Elements that very many members share come last in the order: nearly all of a
/// prefix comes before them, or too little follows.
pub(super) struct Prefixes {
    bound: Bound,
    /// The members with each element of a prefix, in the order of elements, but for those that no other one can be similar to.
    pub table: Table,
    /// For each of them in the table, the rest of its shape from this element on.
    rests: Vec<u32>,
    /// The other part of the shape of each member.
    sizes: Vec<u32>,
}

/// An element of the prefix of a member, in the order of elements.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Held {
    /// How many members have an element of this class.
    count: u32,
    element: u64,
    number: u32,
    /// The rest of its shape from this element on.
    rest: u32,
}

/// The memory in which the elements of the members of a hot run are counted, in bytes.
const LEAST_COUNTED: u64 = 1 << 20;
const MOST_COUNTED: u64 = 64 << 20;

/// With more shapes than this under one element, each member may have a partner.
const MANY_SHAPES: usize = 64;

impl Prefixes {
    /// Cost: two steps for each element of each set, a sort of the prefixes, and one of those of their elements that more than
    /// one member has. Some 10 bytes for each of these, and 48 for as many as fit `memory / 2`: if they do not all, the prefixes are
    /// sorted again for each range of elements that does. For elements at most `memory / 8` bytes, 64 MiB, or 1 MiB if that is
    /// more: 4 for each class of them by which they are ordered, and 2 bits for each class that more than one member has.
    pub fn new(bound: Bound, members: &[u32], sets: &Sets, memory: u64) -> Self {
        let elements: Vec<u32> = members.iter().map(|&member| sets.size(member) as u32).collect();
        let total: u64 = elements.iter().map(|&size| u64::from(size)).sum();
        let most = (memory / 8).clamp(LEAST_COUNTED, MOST_COUNTED) / 2;
        let classes = (total / 2).next_power_of_two().clamp(1 << 12, 1 << (most / 4).ilog2()) as usize;
        let class = |element: u64| element as usize & (classes - 1);
        let counts: Vec<AtomicU32> = (0..classes).map(|_| AtomicU32::new(0)).collect();
        let repeated = Repeated::new(total, most);
        members.par_iter().for_each(|&member| {
            let multiset = sets.get(member);
            let set = bound.weighed(&multiset).elements;
            set.iter().for_each(|&element| _ = counts[class(element)].fetch_add(1, Ordering::Relaxed));
            repeated.add(&set);
        });
        let counts: Vec<u32> = counts.into_iter().map(AtomicU32::into_inner).collect();
        let smallest = elements.iter().copied().filter(|&size| size > 0).min().unwrap_or(0) as usize;
        let sizes: Vec<u32> = elements.into_iter().map(|size| bound.shape(size.into(), 0).0).collect();
        let held_by = |(number, &member): (usize, &u32)| {
            let multiset = sets.get(member);
            let set = bound.weighed(&multiset);
            let places = set.elements.iter().enumerate();
            let mut order: Vec<(u32, u64, usize)> =
                places.map(|(place, &element)| (counts[class(element)], element, place)).collect();
            let length = bound.prefix_of(&set);
            if length < order.len() {
                order.select_nth_unstable(length);
                order.truncate(length);
            }
            order.sort_unstable();
            let mut rest = set.total;
            let mut held = Vec::with_capacity(order.len());
            for (count, element, place) in order {
                let shape = bound.shape(set.total, rest);
                if !bound.can_reach_any(shape, smallest) {
                    break;
                }
                if count > 1 && repeated.has(element) {
                    held.push(Held { count, element, number: number as u32, rest: shape.1 });
                }
                rest -= set.weight(place);
            }
            held.into_iter()
        };
        let (mut table, mut rests) = (Table::default(), Vec::new());
        for range in ranges(members, held_by, memory / 2) {
            // A few large lists: those that were moved are returned to the system.
            let some = members.len().div_ceil(2 * rayon::current_num_threads()).max(1 << 10);
            let held_by = |member| held_by(member).filter(|held| range.contains(&(held.count, held.element)));
            let lists: Vec<Vec<Held>> = members
                .par_chunks(some)
                .enumerate()
                .map(|(chunk, members)| (chunk * some..).zip(members).flat_map(held_by).collect())
                .collect();
            let mut held = Vec::with_capacity(lists.iter().map(Vec::len).sum());
            lists.into_iter().for_each(|list| held.extend(list));
            held.par_sort_unstable();
            // They grow by what is added, and not to twice their length.
            table.members.reserve_exact(held.len());
            rests.reserve_exact(held.len());
            for run in held.chunk_by_mut(|a, b| (a.count, a.element) == (b.count, b.element)) {
                let run = partners(bound, run, &sizes);
                if run.len() > 1 {
                    table.members.extend(run.iter().map(|held| held.number));
                    rests.extend(run.iter().map(|held| held.rest));
                    table.end_run(None);
                }
            }
        }
        table.shrink_to_fit();
        rests.shrink_to_fit();
        Prefixes { bound, table, rests, sizes }
    }

    /// Whether two members can be similar whose first common element is at these places in the table.
    #[inline]
    pub fn can_reach(&self, (a, b): (u32, u32), (at, other): (u32, u32)) -> bool {
        let shape = |member: u32, at: u32| (self.sizes[member as usize], self.rests[at as usize]);
        self.bound.can_reach(shape(a, at), shape(b, other))
    }
}

/// How many members are looked at to find out how many elements of prefixes there are.
const SAMPLED: usize = 1 << 10;

/// A number of members that have an element, and the element: the end of all of them.
const END: (u32, u64) = (u32::MAX, u64::MAX);

/// Ranges of elements in their order, such that what members hold of each fits this memory, twice: it is moved once.
fn ranges<'m, H: Iterator<Item = Held>>(
    members: &'m [u32],
    held_by: impl Fn((usize, &'m u32)) -> H,
    memory: u64,
) -> Vec<Range<(u32, u64)>> {
    let step = members.len().div_ceil(SAMPLED).max(1);
    let mut sample: Vec<(u32, u64)> =
        members.iter().enumerate().step_by(step).flat_map(held_by).map(|held| (held.count, held.element)).collect();
    sample.sort_unstable();
    let bytes = (sample.len() * step * 2 * size_of::<Held>()) as u64;
    let count = bytes.div_ceil(memory.max(LEAST_COUNTED)) as usize;
    let mut ends: Vec<(u32, u64)> = (1..count).map(|part| sample[part * sample.len() / count]).collect();
    ends.dedup();
    ends.push(END);
    ends.iter().scan((0, 0), |start, &end| Some(std::mem::replace(start, end)..end)).collect()
}

/// The members with an element that can be similar to another one with it, as far as sizes and rests show. All remain if
/// these are too different.
fn partners<'h>(bound: Bound, run: &'h mut [Held], sizes: &[u32]) -> &'h [Held] {
    let shape = |held: &Held| (sizes[held.number as usize], held.rest);
    // The number of members of each shape.
    let mut shapes: Vec<(Shape, u32)> = Vec::new();
    for held in &*run {
        match shapes.binary_search_by_key(&shape(held), |&(shape, _)| shape) {
            Ok(at) => shapes[at].1 += 1,
            Err(_) if shapes.len() == MANY_SHAPES => return run,
            Err(at) => shapes.insert(at, (shape(held), 1)),
        }
    }
    let has_partner = |shape: Shape| {
        shapes.iter().any(|&(other, count)| (other != shape || count > 1) && bound.can_reach(shape, other))
    };
    let with_partner: Vec<Shape> = shapes.iter().map(|&(shape, _)| shape).filter(|&shape| has_partner(shape)).collect();
    if with_partner.len() == shapes.len() {
        return run;
    }
    let mut kept = 0;
    for at in 0..run.len() {
        if with_partner.binary_search(&shape(&run[at])).is_ok() {
            run[kept] = run[at];
            kept += 1;
        }
    }
    &run[..kept]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::subset::Subset;
    use crate::hash::mix;
    use crate::outline::Parities;
    use crate::similarity::Threshold;

    /// With little memory, prefixes are made range by range: the same ones.
    #[test]
    fn prefixes_in_little_memory() {
        const MEMBERS: u32 = 6000;
        let (mut words, mut at) = (Vec::new(), Vec::new());
        for member in 0..MEMBERS {
            let mut set: Vec<u64> = (0..40).map(|n| mix(u64::from(member * 40 + n)) % 400).collect();
            set.sort_unstable();
            set.dedup();
            at.push((member, words.len(), set.len(), Parities::default()));
            words.extend(set);
        }
        let sets = Sets::of(Subset::of(MEMBERS as usize, 0..MEMBERS), words, at);
        let members: Vec<u32> = (0..MEMBERS).collect();
        let made = |memory| Prefixes::new(Bound::Jaccard("0.8".parse().unwrap()), &members, &sets, memory);
        let runs = |prefixes: &Prefixes| -> Vec<Vec<u32>> {
            (0..prefixes.table.runs()).map(|run| prefixes.table.run(run).to_vec()).collect()
        };
        let jaccard: Threshold = "0.8".parse().unwrap();
        let elements: usize = members.iter().map(|&member| jaccard.prefix_of(sets.size(member))).sum();
        assert!(elements * 2 * size_of::<Held>() > 2 * LEAST_COUNTED as usize);
        let (whole, parts) = (made(1 << 30), made(0));
        assert!(whole.table.runs() > 0);
        assert_eq!((runs(&parts), &parts.rests, &parts.sizes), (runs(&whole), &whole.rests, &whole.sizes));
    }
}
