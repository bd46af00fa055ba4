//! All pairs of a document and another one that has enough of its elements.
//!
//! **Procedure.** The classes (see [`shared`](super::shared)) of the document asked about are read, those with short lists first, and their
//! weights are added to the documents in their lists. A document that is not met yet shares at most the weights of the classes that are
//! left: once these are less than what is needed, no others are met. (A prefix filter, after Chaudhuri, Ganti & Kaushik, *A Primitive
//! Operator for Similarity Joins in Data Cleaning*, ICDE 2006.) Those that were met are then counted exactly. Documents with the same
//! classes are searched for once in a portion, which is as large as the memory allows.

use super::reading::check_stopped;
use super::shared::{BYTES_A_CLASS, Class, MAX_THREADS, Shared};
use crate::error::Error;
use crate::hash::sequence_hash;
use crate::postings::Buffer;
use crate::run::observer::Observer;
use rayon::prelude::*;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// The memory of a document of a portion, and of a pair that is found for a group.
const BYTES_A_DOCUMENT: u64 = 16;
const BYTES_A_PAIR: u64 = 8;

/// The memory of a group, in addition to the pairs that are found for it.
const BYTES_A_GROUP: u64 = 96;

/// The least memory of a portion; tests use less.
const LEAST_BYTES: u64 = if cfg!(test) { 1 << 8 } else { 1 << 20 };

/// Documents with the same classes, in a portion.
struct Group {
    /// One of them.
    document: u32,
    /// The least number of elements that one of them needs.
    least: u64,
    /// The bytes that what is found for them may take.
    bytes: u64,
}

/// Some documents, which are searched for at the same time.
#[derive(Default)]
struct Portion {
    /// In order, each with the number of its group.
    documents: Vec<(u32, u32)>,
    groups: Vec<Group>,
    bytes: u64,
}

/// The number of a group, and the documents that have enough of its elements, with how many they have.
type FoundOfGroup = (usize, Vec<(u32, u32)>);

impl Shared {
    /// Calls `each` with every document asked about, every other document that has at least `least` of its elements, and how many it has:
    /// ascending by the first, then by the second. Returns the number of entries of lists that were read.
    ///
    /// # Errors
    /// Those of `each`, the observer stops the run, or a temporary file cannot be read.
    ///
    /// # Cost
    /// For each set of classes that documents have, at worst all their lists. Memory: an eighth of what is given; on each of at most 4
    /// threads, 4 bytes for each document that can be the second one, and 8 for each that is found.
    pub fn pairs(
        &self,
        least: &(impl Fn(u32) -> u64 + Sync),
        (threads, memory): (usize, u64),
        observer: &dyn Observer,
        mut each: impl FnMut(u32, u32, u32) -> Result<(), Error>,
    ) -> Result<u64, Error> {
        let most_threads = memory / 4 / (4 * self.others() as u64 + 1);
        let threads = threads.min(MAX_THREADS).min(most_threads as usize).max(1);
        let mut searches: Vec<Search<'_>> = (0..threads).map(|_| Search::new(self)).collect();
        let (mut classes, mut buffer, mut next) = (Vec::new(), Buffer::default(), 0);
        let is_among = self.first() == 0;
        while next < self.asked() {
            check_stopped(observer)?;
            let portion = self.portion(&mut next, least, (memory / 8).max(LEAST_BYTES), (&mut classes, &mut buffer))?;
            let groups = Mutex::new(portion.groups.iter().enumerate());
            let found: Vec<Vec<FoundOfGroup>> = searches
                .par_iter_mut()
                .map(|search| {
                    let mut found = Vec::new();
                    loop {
                        let group = groups.lock().unwrap_or_else(PoisonError::into_inner).next();
                        let Some((number, group)) = group else { return Ok(found) };
                        check_stopped(observer)?;
                        found.push((number, search.others_with(group)?));
                    }
                })
                .collect::<Result<_, Error>>()?;
            let mut of_groups = vec![Vec::new(); portion.groups.len()];
            found.into_iter().flatten().for_each(|(number, found)| of_groups[number] = found);
            for (document, group) in portion.documents {
                let needed = least(document);
                for &(other, count) in &of_groups[group as usize] {
                    if u64::from(count) >= needed && !(is_among && other == document) {
                        each(document, other, count)?;
                    }
                }
                check_stopped(observer)?;
            }
        }
        Ok(searches.iter().map(|search| search.read).sum())
    }

    /// The next documents that others may have enough of: as many as fit the memory, at least one if there is one.
    fn portion(
        &self,
        next: &mut u32,
        least: &impl Fn(u32) -> u64,
        most_bytes: u64,
        (classes, buffer): (&mut Vec<Class>, &mut Buffer),
    ) -> Result<Portion, Error> {
        let (mut portion, mut numbers) = (Portion::default(), HashMap::new());
        while *next < self.asked() && (portion.documents.is_empty() || portion.bytes < most_bytes) {
            let document = *next;
            *next += 1;
            if self.count(document) == 0 {
                continue;
            }
            self.load(document, classes, buffer)?;
            let (all, needed) = (classes.iter().map(|class| u64::from(class.weight)).sum::<u64>(), least(document));
            if all < needed {
                continue;
            }
            let lists: Vec<u64> = classes.iter().map(|class| class.list).collect();
            let group = *numbers.entry(sequence_hash(&lists, 0)).or_insert(portion.groups.len() as u32);
            let mut found = || BYTES_A_PAIR * most_met(classes, all, needed).min(self.others() as u64);
            match portion.groups.get_mut(group as usize) {
                Some(group) if group.least <= needed => {}
                // The less is needed, the more is met.
                Some(group) => {
                    let bytes = found();
                    portion.bytes += bytes - group.bytes.min(bytes);
                    (group.least, group.bytes) = (needed, bytes);
                }
                None => {
                    let bytes = found();
                    portion.bytes += BYTES_A_GROUP + bytes + BYTES_A_CLASS * classes.len() as u64;
                    portion.groups.push(Group { document, least: needed, bytes });
                }
            }
            portion.bytes += BYTES_A_DOCUMENT;
            portion.documents.push((document, group));
        }
        Ok(portion)
    }
}

/// At most so many documents are met for one with these classes, which have the weight `left` together.
fn most_met(classes: &mut [Class], mut left: u64, least: u64) -> u64 {
    classes.sort_unstable_by_key(|class| class.length);
    let mut most = 0;
    for class in classes {
        if left < least {
            break;
        }
        most += u64::from(class.length);
        left -= u64::from(class.weight);
    }
    most
}

/// The search on one thread.
struct Search<'s> {
    shared: &'s Shared,
    /// The weights of each document, from the first one that can be the second of a pair.
    counts: Vec<u32>,
    /// The documents that have any.
    met: Vec<u32>,
    /// The classes of the document asked about, ordered by their lists, and the order of their search.
    own: Vec<Class>,
    order: Vec<u32>,
    buffer: Buffer,
    /// The entries of lists that were read.
    read: u64,
}

impl<'s> Search<'s> {
    fn new(shared: &'s Shared) -> Self {
        Search {
            shared,
            counts: vec![0; shared.others()],
            met: Vec::new(),
            own: Vec::new(),
            order: Vec::new(),
            buffer: Buffer::default(),
            read: 0,
        }
    }

    /// The documents that have enough elements of a group, ascending, and how many; those of the group too.
    fn others_with(&mut self, group: &Group) -> Result<Vec<(u32, u32)>, Error> {
        self.shared.load(group.document, &mut self.own, &mut self.buffer)?;
        let result = self.search(group.least);
        let (counts, first) = (&mut self.counts, self.shared.first());
        let mut found = Vec::new();
        for &met in &self.met {
            let count = std::mem::take(&mut counts[(met - first) as usize]);
            if u64::from(count) >= group.least {
                found.push((met, count));
            }
        }
        self.met.clear();
        found.sort_unstable();
        result.map(|()| found)
    }

    /// Counts what the documents share with the one whose classes are loaded, as far as it may be at least so much.
    fn search(&mut self, least: u64) -> Result<(), Error> {
        let own = &self.own;
        self.order.clear();
        self.order.extend(0..own.len() as u32);
        self.order.sort_unstable_by_key(|&class| (own[class as usize].length, class));
        let mut left: u64 = own.iter().map(|class| u64::from(class.weight)).sum();
        let mut next = 0;
        while next < self.order.len() && left >= least {
            let class = self.own[self.order[next] as usize];
            self.add(class, true)?;
            left -= u64::from(class.weight);
            next += 1;
        }
        let count = |counts: &[u32], met: u32| u64::from(counts[(met - self.shared.first()) as usize]);
        let is_open = |counts: &[u32], met: u32| count(counts, met) + left >= least;
        let of_one = |met: u32| self.shared.count(met) + self.own.len() as u64;
        let cost: u64 = self.met.iter().filter(|&&met| is_open(&self.counts, met)).map(|&met| of_one(met)).sum();
        let rest: Vec<Class> = self.order[next..].iter().map(|&class| self.own[class as usize]).collect();
        if rest.iter().map(|class| u64::from(class.length)).sum::<u64>() <= cost {
            return rest.into_iter().try_for_each(|class| self.add(class, false));
        }
        let Search { shared, counts, met, own, buffer, read, .. } = self;
        for &met in met.iter() {
            let count = &mut counts[(met - shared.first()) as usize];
            if u64::from(*count) + left >= least {
                *read += shared.count(met);
                *count = shared.weight_in(own, met, buffer)? as u32;
            }
        }
        Ok(())
    }

    /// Adds the weight of a class to its documents; unless `meets`, only to those that were met.
    fn add(&mut self, class: Class, meets: bool) -> Result<(), Error> {
        let Search { shared, counts, met, buffer, read, .. } = self;
        *read += u64::from(class.length);
        shared.each_of(class, buffer, |document| {
            let count = &mut counts[(document - shared.first()) as usize];
            if *count == 0 && meets {
                met.push(document);
            }
            if *count > 0 || meets {
                *count += class.weight;
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::postings::Sorter;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1500))]
        #[test]
        fn pairs_by_the_definition(
            (asked, reference) in (documents(), prop::option::of(documents())),
            percent in prop_oneof![Just(1u64), 1u64..101],
            threads in 1usize..4,
            memory in prop_oneof![Just(0u64), Just(1 << 30)],
        ) {
            let among = reference.is_none();
            let first = if among { 0 } else { asked.len() };
            let all: Vec<BTreeSet<u64>> = asked.iter().cloned().chain(reference.into_iter().flatten()).collect();
            let mut rows = Sorter::new("elements", memory / 4, None);
            for (document, set) in all.iter().enumerate() {
                set.iter().for_each(|&element| rows.push([element, document as u64]).unwrap());
            }
            let numbers = [asked.len() as u32, all.len() as u32];
            let shared = Shared::new(rows, numbers, among, (memory, None), &()).unwrap();
            let least = |document: u32| (percent * all[document as usize].len() as u64).div_ceil(100);
            let mut found = Vec::new();
            let each = |document, other, count| {
                found.push((document, other, count));
                Ok(())
            };
            shared.pairs(&least, (threads, memory), &(), each).unwrap();
            let mut expected = Vec::new();
            for document in 0..asked.len() {
                for other in (first..all.len()).filter(|&other| !among || other != document) {
                    let count = all[document].intersection(&all[other]).count();
                    if count > 0 && count as u64 >= least(document as u32) {
                        expected.push((document as u32, other as u32, count as u32));
                    }
                }
            }
            prop_assert_eq!(found, expected);
        }
    }

    /// Sets of elements: some that few have, and some that many have.
    fn documents() -> impl Strategy<Value = Vec<BTreeSet<u64>>> {
        let element = prop_oneof![0u64..6, 0u64..300];
        prop::collection::vec(prop::collection::btree_set(element, 0..12), 1..40)
    }
}
