//! The greedy choice: documents in an order, each dropped if one that was kept before has enough of its elements.
//!
//! **Procedure.** Each class (see [`shared`](super::shared)) has a list of the documents that were kept. The classes of the document asked
//! about are read in two parts, in each those with the fewest kept documents first, and their weights are added to these documents. A
//! document that is not met yet shares at most the weights of the classes that are left: once these are less than the least number needed,
//! or than the best one has, no others are met. Those that were met are counted exactly, as far as they can still be the best one.
//!
//! The second part are the classes with long lists, such as the frames of pages. They come in few combinations, each of which is a *tail*.
//! Once as much was read for the documents with a tail as its lists have entries, the kept document that has most of the tail is remembered,
//! with how far each list was read: from then on only what was added to the lists is read. A document that only the lists of the tail
//! have shares no more than that one. So a licence in a hundred thousand files costs what it costs to read, whether one of them is
//! kept or all.

use super::reading::check_stopped;
use super::shared::{Class, Shared};
use crate::error::Error;
use crate::hash::sequence_hash;
use crate::postings::{Buffer, Slots};
use crate::run::observer::Observer;
use std::collections::HashMap;
use std::path::Path;

/// What was chosen.
pub(super) struct Choice {
    /// The documents that are dropped, ascending; for each the kept document that has most of its elements, the first of several, and how
    /// many it has.
    pub dropped: Vec<(u32, u32, u32)>,
    /// The entries of lists, and of classes of documents, that were read.
    pub read: u64,
    /// The bytes in a file.
    pub spilled: u64,
}

/// Classes with lists of this length on are the second part; tests use less, so that small collections have such lists.
const LONG: u32 = if cfg!(test) { 4 } else { 64 };

/// The memory of a tail, in addition to a number for each of its classes.
const BYTES_A_TAIL: u64 = 96;

/// The least memory for tails; tests use less.
const LEAST_BYTES: u64 = if cfg!(test) { 1 << 10 } else { 1 << 20 };

impl Shared {
    /// Chooses among documents, which are all asked about and can all be the best one. In this order, each of them is dropped if a document
    /// that was kept before has at least `least` of its elements. Documents without classes are kept.
    ///
    /// # Errors
    /// The observer stops the run, or a temporary file cannot be written or read.
    ///
    /// # Cost
    /// On one thread. Memory: 4 bytes for each entry of the lists, of which what does not fit a quarter of the memory goes to a file; a
    /// sixteenth of it for tails; and 8 for each document.
    pub fn choose(
        &self,
        order: &[u32],
        least: &impl Fn(u32) -> u64,
        (memory, folder): (u64, Option<&Path>),
        observer: &dyn Observer,
    ) -> Result<Choice, Error> {
        let mut choosing = Choosing {
            shared: self,
            kept: KeptLists(Slots::new("lists of kept documents", self.entries(), memory / 4, folder)),
            own: Vec::new(),
            order: Vec::new(),
            met: Tally::new(self.others()),
            of_tail: Tally::new(self.others()),
            best: None,
            least: 0,
            buffer: Buffer::default(),
            tails: HashMap::new(),
            bytes_of_tails: 0,
            most_bytes_of_tails: (memory / 16).max(LEAST_BYTES),
            read: 0,
        };
        let mut dropped = Vec::new();
        for &document in order {
            check_stopped(observer)?;
            if self.count(document) == 0 {
                continue;
            }
            match choosing.best_of(document, least(document))? {
                Some((best, in_best)) => dropped.push((document, best, in_best as u32)),
                None => choosing.keep(document)?,
            }
        }
        dropped.sort_unstable();
        Ok(Choice { dropped, read: choosing.read, spilled: choosing.kept.0.bytes_spilled() })
    }
}

/// The kept documents of each class, in the order in which they were kept: their number, then these. They are where the list of all
/// documents of the class is. One place is enough for the number, because the last of all documents need not be added: nothing is asked
/// about after it.
struct KeptLists(Slots);

impl KeptLists {
    fn len(&mut self, class: Class) -> Result<u32, Error> {
        self.0.get(class.list)
    }

    fn first(&mut self, class: Class) -> Result<u32, Error> {
        self.0.get(class.list + 1)
    }

    fn add(&mut self, class: Class, document: u32) -> Result<(), Error> {
        let len = self.len(class)?;
        if len + 1 < class.length {
            self.0.set(class.list + 1 + u64::from(len), document)?;
            self.0.set(class.list, len + 1)?;
        }
        Ok(())
    }

    /// Calls `each` with the documents from a place on, up to another one.
    fn for_each(&mut self, class: Class, from: u32, to: u32, each: impl FnMut(u32)) -> Result<(), Error> {
        self.0.for_each(class.list + 1 + u64::from(from), class.list + 1 + u64::from(to), each)
    }
}

/// The weights that documents have.
struct Tally {
    /// Of each document, or [`COUNTED`].
    weights: Vec<u32>,
    /// The documents that have any.
    documents: Vec<u32>,
}

/// The weight of a document that was counted exactly.
const COUNTED: u32 = u32::MAX;

impl Tally {
    fn new(documents: usize) -> Self {
        Tally { weights: vec![0; documents], documents: Vec::new() }
    }

    fn get(&self, document: u32) -> u32 {
        self.weights[document as usize]
    }

    /// Adds a weight, unless the document was counted. Returns what it has.
    #[inline]
    fn add(&mut self, document: u32, weight: u32) -> u32 {
        let sum = &mut self.weights[document as usize];
        if *sum == 0 {
            self.documents.push(document);
        }
        if *sum != COUNTED {
            *sum += weight;
        }
        *sum
    }

    fn set_counted(&mut self, document: u32) {
        self.add(document, 0);
        self.weights[document as usize] = COUNTED;
    }

    fn clear(&mut self) {
        self.documents.drain(..).for_each(|document| self.weights[document as usize] = 0);
    }
}

/// A class of the document asked about, as it is searched.
#[derive(Clone, Copy)]
struct Step {
    is_long: bool,
    /// The number of its kept documents.
    kept: u32,
    /// Its place among the classes of the document.
    class: u32,
}

/// What is known of classes with long lists that documents have together.
#[derive(Default)]
struct Tail {
    /// What was read for documents with them.
    read: u64,
    /// How far the list of each was read, in the order of the lists; empty before that.
    seen: Vec<u32>,
    /// The document with most of their weights, the first of several, and how much it has.
    best: Option<(u32, u32)>,
}

/// The choice so far, and the search for the best document.
struct Choosing<'s> {
    shared: &'s Shared,
    kept: KeptLists,
    /// The classes of the document asked about, ordered by their lists, and the order of their search.
    own: Vec<Class>,
    order: Vec<Step>,
    met: Tally,
    of_tail: Tally,
    best: Option<(u32, u64)>,
    /// The least number that the best one must have.
    least: u64,
    buffer: Buffer,
    /// By a hash of their lists.
    tails: HashMap<u128, Tail>,
    bytes_of_tails: u64,
    most_bytes_of_tails: u64,
    /// The entries of lists, and of classes of documents, that were read.
    read: u64,
}

impl Choosing<'_> {
    /// Keeps a document, whose classes are loaded.
    fn keep(&mut self, document: u32) -> Result<(), Error> {
        self.own.iter().try_for_each(|&class| self.kept.add(class, document))
    }

    /// The kept document that has most of the elements of a document, if it has at least so many. Loads the classes of the document.
    fn best_of(&mut self, document: u32, least: u64) -> Result<Option<(u32, u64)>, Error> {
        let shared = self.shared;
        shared.load(document, &mut self.own, &mut self.buffer)?;
        self.read += self.own.len() as u64;
        let left: u64 = self.own.iter().map(|class| u64::from(class.weight)).sum();
        (self.best, self.least) = (None, least);
        if left < least {
            return Ok(None);
        }
        let result = self.search(left);
        self.met.clear();
        result.map(|()| self.best)
    }

    /// Whether a document that shares so much is better than the best one.
    fn is_better(&self, document: u32, count: u64) -> bool {
        match self.best {
            None => count >= self.least,
            Some((best, most)) => count > most || count == most && document < best,
        }
    }

    /// Whether a document of which nothing is known but what it shares may be better than the best one.
    fn may_be_better(&self, count: u64) -> bool {
        count >= self.best.map_or(self.least, |(_, most)| most)
    }

    /// Finds the best document for the one whose classes are loaded, where all together have the weight `left`.
    fn search(&mut self, mut left: u64) -> Result<(), Error> {
        self.order.clear();
        for (number, &class) in self.own.iter().enumerate() {
            let (is_long, kept) = (class.length >= LONG, self.kept.len(class)?);
            self.order.push(Step { is_long, kept, class: number as u32 });
        }
        self.order.sort_unstable_by_key(|step| (step.is_long, step.kept, step.class));
        let long = self.order.partition_point(|step| !step.is_long);
        // The tail that is searched like the other classes, and what had been read before.
        let mut tail = None;
        // The document with the most weights so far; and what was read since one was counted.
        let (mut leader, mut since, mut next): (Option<(u32, u32)>, u64, usize) = (None, 0, 0);
        while next < self.order.len() && self.may_be_better(left) {
            if next == long {
                let (key, is_known) = self.tail(long)?;
                if is_known {
                    break;
                }
                tail = Some((key, self.read));
            }
            let Step { kept, class, .. } = self.order[next];
            let class = self.own[class as usize];
            if kept > 0 {
                since += u64::from(kept);
                for candidate in
                    [leader.map(|(_, document)| document), Some(self.kept.first(class)?)].into_iter().flatten()
                {
                    let count = self.met.get(candidate);
                    let cost = self.shared.count(candidate) + self.own.len() as u64;
                    if count != COUNTED && since >= cost && self.is_better(candidate, u64::from(count) + left) {
                        since -= cost;
                        self.count(candidate)?;
                        leader = leader.filter(|&(_, document)| document != candidate);
                    }
                }
                if !self.may_be_better(left) {
                    break;
                }
                let Choosing { kept: lists, met, .. } = self;
                lists.for_each(class, 0, kept, |document| {
                    let count = met.add(document, class.weight);
                    if count != COUNTED && leader.is_none_or(|(most, _)| count > most) {
                        leader = Some((count, document));
                    }
                })?;
                self.read += u64::from(kept);
            }
            left -= u64::from(class.weight);
            next += 1;
        }
        self.finish(next, left)?;
        if let Some((key, before)) = tail
            && let Some(tail) = self.tails.get_mut(&key)
        {
            tail.read += self.read - before;
        }
        Ok(())
    }

    /// Looks up the tail that begins at a place in the order. Returns its key, and whether the best one of the documents that no class
    /// before it has is among those that were counted now.
    fn tail(&mut self, long: usize) -> Result<(u128, bool), Error> {
        let mut steps = self.order[long..].to_vec();
        steps.sort_unstable_by_key(|step| step.class);
        let lists: Vec<u64> = steps.iter().map(|step| self.own[step.class as usize].list).collect();
        let key = sequence_hash(&lists, 0);
        let all: u64 = steps.iter().map(|step| u64::from(step.kept)).sum();
        if !self.tails.contains_key(&key) {
            let bytes = BYTES_A_TAIL + 4 * steps.len() as u64;
            if self.bytes_of_tails + bytes > self.most_bytes_of_tails {
                self.tails.clear();
                self.bytes_of_tails = 0;
            }
            self.bytes_of_tails += bytes;
        }
        let Choosing { tails, of_tail, kept: lists, own, read, .. } = self;
        let tail = tails.entry(key).or_default();
        if tail.seen.is_empty() && tail.read < all {
            return Ok((key, false));
        }
        tail.seen.resize(steps.len(), 0);
        for (step, seen) in steps.iter().zip(&mut tail.seen) {
            let class = own[step.class as usize];
            lists.for_each(class, *seen, step.kept, |document| _ = of_tail.add(document, class.weight))?;
            *read += u64::from(step.kept - *seen);
            *seen = step.kept;
        }
        for &document in &of_tail.documents {
            let weight = of_tail.get(document);
            if tail.best.is_none_or(|(best, most)| weight > most || weight == most && document < best) {
                tail.best = Some((document, weight));
            }
        }
        of_tail.clear();
        let best = tail.best;
        if let Some((document, weight)) = best {
            let before = self.met.get(document);
            let count = u64::from(before) + u64::from(weight);
            if before != COUNTED {
                self.met.set_counted(document);
                if self.is_better(document, count) {
                    self.best = Some((document, count));
                }
            }
        }
        Ok((key, true))
    }

    /// Finds the best one of the documents that were met, where the classes from `next` on are not read and have the weight `left`.
    fn finish(&mut self, next: usize, left: u64) -> Result<(), Error> {
        let mut open: Vec<(u64, u32)> = Vec::new();
        let mut cost = 0;
        for &met in &self.met.documents {
            let count = self.met.get(met);
            if count != COUNTED && self.is_better(met, u64::from(count) + left) {
                open.push((u64::from(count) + left, met));
                cost += self.shared.count(met) + self.own.len() as u64;
            }
        }
        let rest: u64 = self.order[next..].iter().map(|step| u64::from(step.kept)).sum();
        if rest <= cost {
            let Choosing { kept: lists, met, own, order, .. } = self;
            for step in &order[next..] {
                let class = own[step.class as usize];
                lists.for_each(class, 0, step.kept, |document| {
                    if met.get(document) != 0 {
                        met.add(document, class.weight);
                    }
                })?;
            }
            self.read += rest;
            for (_, met) in open {
                let count = u64::from(self.met.get(met));
                if self.is_better(met, count) {
                    self.best = Some((met, count));
                }
            }
            return Ok(());
        }
        open.sort_unstable_by_key(|&(most, met)| (std::cmp::Reverse(most), met));
        for (most, met) in open {
            if self.is_better(met, most) {
                self.count(met)?;
            }
        }
        Ok(())
    }

    /// Counts what a document shares.
    fn count(&mut self, candidate: u32) -> Result<(), Error> {
        self.read += self.shared.count(candidate);
        let count = self.shared.weight_in(&self.own, candidate, &mut self.buffer)?;
        self.met.set_counted(candidate);
        if self.is_better(candidate, count) {
            self.best = Some((candidate, count));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::postings::Sorter;
    use proptest::prelude::*;
    use std::cmp::Reverse;
    use std::collections::BTreeSet;

    /// Documents as sets of elements.
    type Sets = Vec<BTreeSet<u64>>;

    fn shared(sets: &Sets, memory: u64) -> Shared {
        let mut rows = Sorter::new("elements", memory / 4, None);
        for (document, set) in sets.iter().enumerate() {
            set.iter().for_each(|&element| rows.push([element, document as u64]).unwrap());
        }
        Shared::new(rows, [sets.len() as u32; 2], true, (memory, None), &()).unwrap()
    }

    fn order(sets: &Sets) -> Vec<u32> {
        let mut order: Vec<u32> = (0..sets.len() as u32).collect();
        order.sort_by_key(|&document| Reverse(sets[document as usize].len()));
        order
    }

    /// By the definition: each document with each one that was kept before.
    fn expected(sets: &Sets, least: &impl Fn(u32) -> u64) -> Vec<(u32, u32, u32)> {
        let (mut kept, mut dropped) = (Vec::<u32>::new(), Vec::new());
        for document in order(sets) {
            let count = |other: u32| sets[document as usize].intersection(&sets[other as usize]).count() as u32;
            let best = kept.iter().map(|&other| (count(other), Reverse(other))).max();
            match best.filter(|&(count, _)| count > 0 && u64::from(count) >= least(document)) {
                Some((count, Reverse(best))) => dropped.push((document, best, count)),
                None => kept.push(document),
            }
        }
        dropped.sort_unstable();
        dropped
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1500))]
        /// Elements come in blocks, as runs of words do, and blocks in few combinations, beside what few documents have.
        #[test]
        fn the_choice_by_the_definition(
            documents in prop::collection::vec((0usize..5, any::<u16>(), 0u64..40, 0u64..4), 1..60),
            combinations in prop::collection::vec(any::<u16>(), 5),
            (weights, of_own) in (prop::collection::vec(1u64..5, 10), any::<bool>()),
            percent in prop_oneof![Just(1u64), 1u64..101],
            memory in prop_oneof![Just(0u64), Just(1 << 30)],
        ) {
            let set = |&(combination, own, rare, many): &(usize, u16, u64, u64)| -> BTreeSet<u64> {
                let blocks = combinations[combination] & if of_own { own } else { u16::MAX };
                let of_block = |block: u64| (0..weights[block as usize]).map(move |n| 100 * block + n);
                let blocks = (0..10u64).filter(|block| blocks >> block & 1 == 1).flat_map(of_block);
                blocks.chain((0..many).map(|n| 10_000 + 10 * rare + n)).collect()
            };
            let sets: Sets = documents.iter().map(set).collect();
            let least = |document: u32| (percent * sets[document as usize].len() as u64).div_ceil(100);
            let choice = shared(&sets, memory).choose(&order(&sets), &least, (memory, None), &()).unwrap();
            prop_assert_eq!(choice.dropped, expected(&sets, &least));
        }
    }

    /// Many documents that none contains have one of two texts, and as many others have both: what each of these shares with the
    /// others is not read again for each.
    #[test]
    fn frames_that_none_has_together() {
        let count = 2000u64;
        let own = |document: u64, length| (0..length).map(move |n| 1_000_000 + 1000 * document + n);
        let block = |block: u64, length| (0..length).map(move |n| 1000 * block + n);
        for (of_a, of_b, percent) in [(45, 30, 40), (40, 40, 50), (30, 30, 35), (45, 45, 99)] {
            let mut sets: Sets = (0..count)
                .map(|n| if n % 2 == 0 { block(0, of_a) } else { block(1, of_b) }.chain(own(n, 200)).collect())
                .collect();
            // Beside both texts, something that another one has.
            sets.extend((0..count).map(|n| -> BTreeSet<u64> {
                block(0, of_a)
                    .chain(block(1, of_b))
                    .chain(own(count + n / 2, 10))
                    .chain(own(2 * count + n, 10))
                    .collect()
            }));
            let least = |document: u32| (percent * sets[document as usize].len() as u64).div_ceil(100);
            let choice = shared(&sets, 1 << 30).choose(&order(&sets), &least, (1 << 30, None), &()).unwrap();
            assert!(choice.read < 60 * 2 * count, "{} for {percent} %", choice.read);
            assert_eq!(choice.dropped.len() as u64 > count / 2, percent < 99);
        }
    }
}
