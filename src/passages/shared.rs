//! Which document has most of the elements of another one, and how many of them others have at all.
//!
//! **Procedure.** Elements that stand in the same documents are a *class*: it has a weight, their number, and a list of documents.
//! A licence in a hundred thousand files is one class, whatever its length. Two documents share the weights of the classes in
//! both:
//!
//! ```text
//! rows (element, document), sorted → the documents of each element → classes, each with its list
//!    → rows (document, class), sorted → the classes of each document
//! ```
//!
//! The search for the best document goes through the classes of the document asked about, those with short lists first, and adds their
//! weights to the documents in their lists. A document that is met for the first time shares at most the weights of the classes that
//! are left: if the best one so far shares as much, no others are met. That one is counted exactly, as soon as that costs no more than
//! what was read: so a list of a hundred thousand copies is not read if the first of them shares everything. Of documents with the same
//! classes, only the first is searched for. (After Zhu, Deng, Nargesian &
//! Miller, *JOSIE: Overlap Set Similarity Search for Finding Joinable Tables in Data Lakes*, SIGMOD 2019.)

use super::reading::check_stopped;
use crate::error::Error;
use crate::hash::sequence_hash;
use crate::postings::{Buffer, Sorter, Stored};
use crate::run::observer::Observer;
use rayon::prelude::*;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// The least memory for classes that are looked up; tests use less, so that classes are split.
const LEAST_BYTES: u64 = if cfg!(test) { 1 << 8 } else { 4 << 20 };

/// The words of a list that are read at once.
const AT_ONCE: u64 = 1 << 14;

/// The rows that are taken before the observer is asked whether to stop.
const ROWS_A_CHECK: u64 = 1 << 12;

/// The threads that search, which have a number for each document.
pub(super) const MAX_THREADS: usize = 4;

/// The memory of a class of the document asked about: itself, its place in an order, and its words as they are read.
pub(super) const BYTES_A_CLASS: u64 = 40;

/// The number of groups of documents that a thread takes at once.
const GROUPS_AT_ONCE: usize = 64;

/// From lists of this length on, the documents that have all classes that are left are remembered; tests use less, so that small collections have such lists.
const LONG: u32 = if cfg!(test) { 2 } else { 64 };

/// The maximum number of sets of classes that are remembered.
const MAX_REMEMBERED: usize = 1 << 14;

/// The class of a document: where its list is, and how long; and the number of its elements.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct Class {
    pub list: u64,
    pub length: u32,
    pub weight: u32,
}

/// The words of a class in the list of a document.
const WORDS: u64 = 2;

impl Class {
    fn of(words: &[u64; WORDS as usize]) -> Self {
        Class { list: words[0], length: (words[1] >> 32) as u32, weight: words[1] as u32 }
    }
}

/// Documents and the classes of their elements. Documents are numbers: those asked about come first.
pub(super) struct Shared {
    /// The lists of the classes: documents that can be the best one, ascending.
    lists: Stored,
    /// The classes of each document, ordered by their lists.
    classes: Stored,
    /// Where the classes of each document begin, in classes; and the end of the last one.
    starts: Vec<u64>,
    /// The number of documents asked about.
    asked: u32,
    /// The first document that can be the best one: 0 if they are all asked about.
    first: u32,
}

/// What was found of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Answer {
    pub document: u32,
    /// The elements that another document has.
    pub in_any: u32,
    /// The document that has most of them, the first of several.
    pub best: u32,
    /// How many it has.
    pub in_best: u32,
}

impl Shared {
    /// From rows of an element and a document, each once. The first `asked` of all `documents` are asked about; `among` says
    /// whether the best one is among them too, and otherwise it is one of the rest.
    ///
    /// # Errors
    /// The observer stops the run, or a temporary file cannot be written or read.
    pub fn new(
        rows: Sorter<2>,
        [asked, documents]: [u32; 2],
        among: bool,
        (memory, folder): (u64, Option<&Path>),
        observer: &dyn Observer,
    ) -> Result<Self, Error> {
        let mut classes = Classes {
            index: HashMap::new(),
            open: Vec::new(),
            documents: Vec::new(),
            asked: if among { 0 } else { asked },
            most_bytes: (memory / 8).max(LEAST_BYTES),
            lists: Stored::new("lists of documents", memory / 8, folder),
            rows: Sorter::new("classes of documents", memory / 8, folder),
        };
        let (mut element, mut of_element) = (None, Vec::new());
        let mut count = 0u64;
        let mut check = || {
            count += 1;
            if count.is_multiple_of(ROWS_A_CHECK) { check_stopped(observer) } else { Ok(()) }
        };
        rows.for_each(|&[next, document]| {
            check()?;
            if element != Some(next) {
                classes.add(&of_element)?;
                of_element.clear();
                element = Some(next);
            }
            of_element.push(document);
            Ok(())
        })?;
        classes.add(&of_element)?;
        classes.flush()?;
        let Classes { lists, rows, .. } = classes;
        let mut classes = Stored::new("classes of documents", memory / 8, folder);
        let mut starts = Vec::with_capacity(documents as usize + 1);
        let mut block = Vec::new();
        rows.for_each(|&[document, list, sizes]| {
            check()?;
            let before = (classes.len() + block.len() as u64) / WORDS;
            starts.resize(starts.len().max(document as usize + 1), before);
            block.extend([list, sizes]);
            if block.len() as u64 >= AT_ONCE {
                classes.append(&block)?;
                block.clear();
            }
            Ok(())
        })?;
        classes.append(&block)?;
        starts.resize(documents as usize + 1, classes.len() / WORDS);
        Ok(Shared { lists, classes, starts, asked, first: if among { 0 } else { asked } })
    }

    /// The bytes in files.
    pub fn bytes_spilled(&self) -> u64 {
        self.lists.bytes_spilled() + self.classes.bytes_spilled()
    }

    /// The answers for the documents asked about that have enough elements, in order. `least` returns two numbers: a document has enough
    /// if the best one has the first number of its elements, or all others together have the second. Returns also the number of entries
    /// of lists that were read.
    ///
    /// # Errors
    /// The observer stops the run, or a temporary file cannot be read.
    ///
    /// # Cost
    /// For each set of classes that documents have, these classes; and at worst all their lists. Memory: 8 bytes for each document asked
    /// about, 16 for each answer, and on each of at most 4 threads 4 for each document that can be the best one; fewer threads search
    /// where these take more than a quarter of the memory.
    pub fn answers(
        &self,
        least: &(impl Fn(u32) -> [u64; 2] + Sync),
        (threads, memory): (usize, u64),
        observer: &dyn Observer,
    ) -> Result<(Vec<Answer>, u64), Error> {
        let order = self.by_classes()?;
        let groups: Vec<&[(u32, u32)]> = order.chunk_by(|a, b| a.0 == b.0).collect();
        let most_threads = memory / 4 / (4 * self.starts.len() as u64);
        let threads = threads.min(MAX_THREADS).min(most_threads as usize).max(1);
        let mut searches: Vec<Search<'_>> = (0..threads).map(|_| Search::new(self)).collect();
        let (mut answers, mut next) = (Vec::new(), 0);
        let most = (memory / 4 / BYTES_A_CLASS).max(1 << 12);
        while next < groups.len() {
            let (start, mut taken) = (next, 0);
            while next < groups.len() && (next == start || taken + self.count(groups[next][0].1) <= most) {
                taken += self.count(groups[next][0].1);
                next += 1;
            }
            let parts = Mutex::new(groups[start..next].chunks(GROUPS_AT_ONCE));
            let found: Vec<Vec<Answer>> = searches
                .par_iter_mut()
                .map(|search| {
                    let mut found = Vec::new();
                    loop {
                        let part = parts.lock().unwrap_or_else(PoisonError::into_inner).next();
                        let Some(groups) = part else { return Ok(found) };
                        for group in groups {
                            check_stopped(observer)?;
                            search.answer_alike(group, least, &mut found)?;
                        }
                    }
                })
                .collect::<Result<_, Error>>()?;
            answers.extend(found.into_iter().flatten());
        }
        answers.sort_unstable_by_key(|answer| answer.document);
        Ok((answers, searches.iter().map(|search| search.read).sum()))
    }

    /// The documents asked about that have classes, each after a hash of them: so those with the same classes are together.
    fn by_classes(&self) -> Result<Vec<(u32, u32)>, Error> {
        let mut buffer = Buffer::default();
        let mut order = Vec::new();
        for document in (0..self.asked).filter(|&document| self.count(document) > 0) {
            let words = self.classes.read(self.words_of(document), &mut buffer)?;
            order.push((sequence_hash(words, 0) as u32, document));
        }
        order.par_sort_unstable();
        Ok(order)
    }

    /// Loads the classes of a document, ordered by their lists.
    ///
    /// # Errors
    /// The temporary file cannot be read; likewise for the others.
    pub fn load(&self, document: u32, classes: &mut Vec<Class>, buffer: &mut Buffer) -> Result<(), Error> {
        let words = self.classes.read(self.words_of(document), buffer)?;
        classes.clear();
        classes.extend(words.as_chunks().0.iter().map(Class::of));
        Ok(())
    }

    /// The weights of those of some classes, ordered by their lists, that a document has.
    ///
    /// # Errors
    /// As for [`load`](Self::load).
    pub fn weight_in(&self, classes: &[Class], document: u32, buffer: &mut Buffer) -> Result<u64, Error> {
        let (mut at, end) = (self.starts[document as usize], self.starts[document as usize + 1]);
        let (mut classes, mut weight) = (classes.iter().peekable(), 0);
        while at < end {
            let part = at..end.min(at + AT_ONCE);
            at = part.end;
            let words = self.classes.read(WORDS * part.start..WORDS * part.end, buffer)?;
            for class in words.as_chunks().0.iter().map(Class::of) {
                while classes.next_if(|other| other.list < class.list).is_some() {}
                if classes.next_if(|other| other.list == class.list).is_some() {
                    weight += u64::from(class.weight);
                }
            }
        }
        Ok(weight)
    }

    /// Calls `each` with the documents of a class that can be the best one, ascending.
    ///
    /// # Errors
    /// As for [`load`](Self::load).
    pub fn each_of(&self, class: Class, buffer: &mut Buffer, mut each: impl FnMut(u32)) -> Result<(), Error> {
        let (mut at, end) = (class.list, class.list + u64::from(class.length));
        while at < end {
            let part = at..end.min(at + AT_ONCE);
            at = part.end;
            self.lists.read(part, buffer)?.iter().for_each(|&document| each(document as u32));
        }
        Ok(())
    }

    /// The number of documents that are asked about, which come first.
    pub fn asked(&self) -> u32 {
        self.asked
    }

    /// The first document that can be the best one.
    pub fn first(&self) -> u32 {
        self.first
    }

    /// The number of documents that can be the best one, which are the last ones.
    pub fn others(&self) -> usize {
        self.starts.len() - 1 - self.first as usize
    }

    /// The number of entries of all lists.
    pub fn entries(&self) -> u64 {
        self.lists.len()
    }

    /// Where the classes of a document are.
    fn words_of(&self, document: u32) -> Range<u64> {
        WORDS * self.starts[document as usize]..WORDS * self.starts[document as usize + 1]
    }

    /// The number of classes of a document.
    pub fn count(&self, document: u32) -> u64 {
        self.starts[document as usize + 1] - self.starts[document as usize]
    }
}

/// Classes that are being made of elements. Those of equal elements are joined as long as they are in memory: two classes with one list
/// do no harm.
struct Classes {
    /// The classes by the hashes of their documents.
    index: HashMap<u64, u32>,
    open: Vec<Open>,
    /// The documents of all of them, back to back.
    documents: Vec<u64>,
    /// The number of documents that are asked about and cannot be the best one.
    asked: u32,
    most_bytes: u64,
    lists: Stored,
    rows: Sorter<3>,
}

/// A class to which elements can be added.
struct Open {
    documents: Range<usize>,
    weight: u32,
}

impl Classes {
    /// Adds an element with its documents, ascending.
    fn add(&mut self, documents: &[u64]) -> Result<(), Error> {
        let asked = documents.partition_point(|&document| document < u64::from(self.asked));
        let is_shared = if self.asked == 0 { documents.len() > 1 } else { 0 < asked && asked < documents.len() };
        if !is_shared {
            return Ok(());
        }
        let hash = sequence_hash(documents, 0) as u64;
        if let Some(&class) = self.index.get(&hash) {
            let class = &mut self.open[class as usize];
            if self.documents[class.documents.clone()] == *documents && class.weight < u32::MAX {
                class.weight += 1;
                return Ok(());
            }
        }
        let start = self.documents.len();
        self.documents.extend_from_slice(documents);
        self.index.insert(hash, self.open.len() as u32);
        self.open.push(Open { documents: start..self.documents.len(), weight: 1 });
        if 8 * self.documents.len() as u64 + 64 * self.open.len() as u64 > self.most_bytes {
            self.flush()?;
        }
        Ok(())
    }

    /// Writes the classes that are in memory.
    fn flush(&mut self) -> Result<(), Error> {
        for Open { documents, weight } in self.open.drain(..) {
            let documents = &self.documents[documents];
            let list = &documents[documents.partition_point(|&document| document < u64::from(self.asked))..];
            let (at, sizes) = (self.lists.len(), (list.len() as u64) << 32 | u64::from(weight));
            self.lists.append(list)?;
            documents.iter().try_for_each(|&document| self.rows.push([document, at, sizes]))?;
        }
        self.index.clear();
        self.documents.clear();
        Ok(())
    }
}

/// The search for the best documents on one thread.
struct Search<'s> {
    shared: &'s Shared,
    /// The weights of each document that were counted, or [`COUNTED`].
    counts: Vec<u32>,
    /// The documents that have any.
    met: Vec<u32>,
    /// The classes of the document asked about, ordered by their lists, and the order of their search.
    own: Vec<Class>,
    order: Vec<u32>,
    best: Option<(u32, u64)>,
    /// The least number that the best one must have.
    least: u64,
    buffer: Buffer,
    /// The first two documents that have all classes of a set, by a hash of the set; fewer if it takes too long to find them.
    having: HashMap<u128, [Option<u32>; 2]>,
    /// The entries of lists that were read.
    read: u64,
}

/// The count of a document that was counted exactly.
const COUNTED: u32 = u32::MAX;

impl<'s> Search<'s> {
    fn new(shared: &'s Shared) -> Self {
        Search {
            shared,
            counts: vec![0; shared.others()],
            met: Vec::new(),
            own: Vec::new(),
            order: Vec::new(),
            best: None,
            least: 0,
            buffer: Buffer::default(),
            having: HashMap::new(),
            read: 0,
        }
    }

    /// Answers for documents that probably have the same classes. If they have, each of them has all shared elements of the others: so
    /// the best one is the first document with these classes, other than the one asked about.
    fn answer_alike(
        &mut self,
        group: &[(u32, u32)],
        least: &impl Fn(u32) -> [u64; 2],
        found: &mut Vec<Answer>,
    ) -> Result<(), Error> {
        let shared = self.shared;
        let representative = group[0].1;
        shared.load(representative, &mut self.own, &mut self.buffer)?;
        let (mut alike, mut others) = (vec![representative], Vec::new());
        for &(_, document) in &group[1..] {
            let words = shared.classes.read(shared.words_of(document), &mut self.buffer)?;
            let is_alike = words.as_chunks().0.iter().map(Class::of).eq(self.own.iter().copied());
            if is_alike { &mut alike } else { &mut others }.push(document);
        }
        let in_any: u64 = self.own.iter().map(|class| u64::from(class.weight)).sum();
        // The least number that the best one must have.
        let needed = |document: u32| match least(document) {
            [_, of_any] if in_any >= of_any => 1,
            [of_best, _] => of_best,
        };
        self.least = alike.iter().map(|&document| needed(document)).min().unwrap_or(u64::MAX);
        if self.least <= in_any {
            self.search(representative, in_any)?;
            for document in alike {
                let is_twin = document != representative && shared.first == 0;
                let best = match self.best {
                    Some((best, count)) if !is_twin || count == in_any && best < representative => Some((best, count)),
                    _ if is_twin => Some((representative, in_any)),
                    _ => None,
                };
                if let Some((best, count)) = best.filter(|&(_, count)| count >= needed(document)) {
                    found.push(Answer { document, in_any: in_any as u32, best, in_best: count as u32 });
                }
            }
        }
        // Documents whose hashes agree by chance.
        others.iter().try_for_each(|&document| self.answer_alike(&[(0, document)], least, found))
    }

    /// Whether a document that shares so much is better than the best one.
    fn is_better(&self, document: u32, count: u64) -> bool {
        match self.best {
            None => count >= self.least,
            Some((best, most)) => count > most || count == most && document < best,
        }
    }

    /// Finds the best document for the one whose classes are loaded, where the elements that others have are `left`.
    fn search(&mut self, document: u32, left: u64) -> Result<(), Error> {
        self.best = None;
        let result = self.search_classes(document, left);
        for &met in &self.met {
            self.counts[(met - self.shared.first) as usize] = 0;
        }
        self.met.clear();
        result
    }

    fn search_classes(&mut self, document: u32, mut left: u64) -> Result<(), Error> {
        self.order.clear();
        self.order.extend(0..self.own.len() as u32);
        let own = &self.own;
        self.order.sort_unstable_by_key(|&class| (own[class as usize].length, class));
        // The document with the most weights so far; and what was read since one was counted.
        let (mut leader, mut since, mut next, mut is_long) = (None, 0, 0, false);
        while next < self.order.len() {
            let class = self.own[self.order[next] as usize];
            // Frames of pages come in few combinations, beside what few pages share: no document that is not met yet is better than the
            // first one that has all that is left.
            if class.length >= LONG && !is_long {
                is_long = true;
                let having = self.having_all(next)?;
                if let Some(first) = having.into_iter().flatten().find(|&other| other != document) {
                    if self.counts[(first - self.shared.first) as usize] != COUNTED {
                        self.count(first)?;
                    }
                    break;
                }
            }
            since += u64::from(class.length);
            let first = self.first_of(class, document)?;
            let leading = leader.map(|(_, Reverse(document))| document);
            for candidate in [leading, first].into_iter().flatten() {
                let count = self.counts[(candidate - self.shared.first) as usize];
                let cost = self.shared.count(candidate) + self.own.len() as u64;
                if count != COUNTED && self.is_better(candidate, u64::from(count) + left) && since >= cost {
                    since -= cost;
                    self.count(candidate)?;
                    leader = leader.filter(|_| leading != Some(candidate));
                }
            }
            // Any document that is not met yet shares no more than is left, and comes no earlier than the first one.
            if first.is_none_or(|first| !self.is_better(first, left)) {
                break;
            }
            self.scan(class, document, |counts, met, at, number| {
                if counts[at] == 0 {
                    met.push(number);
                }
                if counts[at] != COUNTED {
                    counts[at] += class.weight;
                    leader = leader.max(Some((counts[at], Reverse(number))));
                }
            })?;
            left -= u64::from(class.weight);
            next += 1;
        }
        self.finish(document, next, left)
    }

    /// The first two documents that have all classes from a place in the order on. Both are missing, or the second one, if they are not
    /// found in the time that reading the lists takes.
    fn having_all(&mut self, next: usize) -> Result<[Option<u32>; 2], Error> {
        let rest: Vec<Class> = self.order[next..].iter().map(|&class| self.own[class as usize]).collect();
        let mut lists: Vec<u64> = rest.iter().map(|class| class.list).collect();
        let key = sequence_hash(&lists, 0);
        if let Some(&having) = self.having.get(&key) {
            return Ok(having);
        }
        lists.sort_unstable();
        let all: u64 = rest.iter().map(|class| u64::from(class.length)).sum();
        let (mut at, end) = (rest[0].list, rest[0].list + u64::from(rest[0].length));
        let (mut having, mut read) = ([None; 2], 0);
        while at < end && having[1].is_none() && read < all {
            let document = self.shared.lists.read(at..at + 1, &mut self.buffer)?[0] as u32;
            at += 1;
            read += self.shared.count(document);
            if self.shared.count(document) <= AT_ONCE {
                let words = self.shared.classes.read(self.shared.words_of(document), &mut self.buffer)?;
                let mut classes = words.as_chunks().0.iter().map(|words| Class::of(words).list);
                if lists.iter().all(|list| classes.by_ref().any(|other| other == *list)) {
                    having[usize::from(having[0].is_some())] = Some(document);
                }
            } else {
                // It may have them, so nothing is known of those after it.
                break;
            }
        }
        self.read += read;
        if self.having.len() == MAX_REMEMBERED {
            self.having.clear();
        }
        self.having.insert(key, having);
        Ok(having)
    }

    /// Finds the best one of the documents that were met, where the classes from `next` on are not read.
    fn finish(&mut self, document: u32, next: usize, left: u64) -> Result<(), Error> {
        let mut open: Vec<(Reverse<u64>, u32)> = Vec::new();
        let mut cost = 0;
        for &met in &self.met {
            let count = self.counts[(met - self.shared.first) as usize];
            if count != COUNTED && self.is_better(met, u64::from(count) + left) {
                open.push((Reverse(u64::from(count) + left), met));
                cost += self.shared.count(met) + self.own.len() as u64;
            }
        }
        let rest: Vec<Class> = self.order[next..].iter().map(|&class| self.own[class as usize]).collect();
        if rest.iter().map(|class| u64::from(class.length)).sum::<u64>() <= cost {
            for class in rest {
                self.scan(class, document, |counts, _, at, _| {
                    if counts[at] != 0 && counts[at] != COUNTED {
                        counts[at] += class.weight;
                    }
                })?;
            }
            for (_, met) in open {
                let count = u64::from(self.counts[(met - self.shared.first) as usize]);
                if self.is_better(met, count) {
                    self.best = Some((met, count));
                }
            }
            return Ok(());
        }
        open.sort_unstable();
        for (Reverse(most), met) in open {
            if self.is_better(met, most) {
                self.count(met)?;
            }
        }
        Ok(())
    }

    /// The first document of a class, other than the one asked about.
    fn first_of(&mut self, class: Class, document: u32) -> Result<Option<u32>, Error> {
        let two = class.list..class.list + u64::from(class.length.min(2));
        let first = self.shared.lists.read(two, &mut self.buffer)?;
        Ok(first.iter().map(|&other| other as u32).find(|&other| other != document))
    }

    /// Calls `each` with the documents of a class other than the one asked about: the counts, the documents that were met, the place in
    /// the counts, and the number.
    fn scan(
        &mut self,
        class: Class,
        document: u32,
        mut each: impl FnMut(&mut [u32], &mut Vec<u32>, usize, u32),
    ) -> Result<(), Error> {
        let Search { shared, counts, met, buffer, read, .. } = self;
        *read += u64::from(class.length);
        shared.each_of(class, buffer, |other| {
            if other != document {
                each(counts, met, (other - shared.first) as usize, other);
            }
        })
    }

    /// Counts what a document shares.
    fn count(&mut self, candidate: u32) -> Result<(), Error> {
        let shared = self.shared;
        self.read += shared.count(candidate);
        let count = shared.weight_in(&self.own, candidate, &mut self.buffer)?;
        let place = &mut self.counts[(candidate - shared.first) as usize];
        if *place == 0 {
            self.met.push(candidate);
        }
        *place = COUNTED;
        if self.is_better(candidate, count) {
            self.best = Some((candidate, count));
        }
        Ok(())
    }
}
