//! The feature sets of candidates: in memory, or in a temporary file.

use super::subset::Subset;
use crate::error::Error;
use crate::kernel::fetch::fetch;
use crate::outline::{Parities, can_reach, parities};
use crate::postings::{Buffer, Spilled};
use crate::similarity::Threshold;
use std::borrow::Cow;
use std::sync::{Mutex, PoisonError};

/// Ascending sets, back to back, with the position of each group's set.
pub(super) struct Sets {
    content: Content,
    /// The groups that may have a set.
    groups: Subset,
    /// The number of the set of each of them, from 1; 0 if it has no set.
    number: Vec<u32>,
    /// The first error of the file.
    failure: Mutex<Option<Error>>,
    /// Held while long sets that were read from the file are compared.
    long: Mutex<()>,
}

/// The sets by their numbers, and what is in memory of each.
enum Content {
    Held { words: Vec<u64>, at: Vec<At> },
    Written { file: Spilled, at: Compact },
}

/// Sets that follow each other: of a group or a document, each with its end in the words.
#[derive(Default)]
pub(super) struct Chunk {
    pub words: Vec<u64>,
    pub ends: Vec<(u32, usize, Parities)>,
}

impl Chunk {
    /// Notes that the words from the last set on are that of this group or document.
    pub fn end(&mut self, of: u32) {
        let start = self.ends.last().map_or(0, |&(_, end, _)| end);
        self.ends.push((of, self.words.len(), parities(&self.words[start..])));
    }

    /// Bytes of memory.
    pub fn bytes_held(&self) -> u64 {
        (size_of::<u64>() * self.words.capacity() + size_of_val(&*self.ends)) as u64
    }
}

/// Sets that were written to a file before it was known which groups there are.
pub(super) struct EarlySets {
    file: Spilled,
    at: Compact,
    /// The document of each.
    documents: Vec<u32>,
}

impl EarlySets {
    /// None yet, in this file.
    pub fn new(file: Spilled) -> Self {
        EarlySets { file, at: Compact::default(), documents: Vec::new() }
    }

    /// Adds the sets of documents, numbered from `first`.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn append(&mut self, first: u32, Chunk { words, ends }: &Chunk) -> Result<(), Error> {
        self.file.append(words)?;
        let mut start = 0;
        for (document, end, parities) in ends {
            self.at.push(length_of(end - start), parities);
            self.documents.push(first + document);
            start = *end;
        }
        Ok(())
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.documents.len()
    }

    /// Bytes in the file.
    pub fn bytes_spilled(&self) -> u64 {
        self.file.bytes_in_file()
    }

    /// Bytes of memory: some 40 for each, and the sets that are in memory.
    pub fn bytes_held(&self) -> u64 {
        let at = size_of_val(&*self.at.parities) + size_of_val(&*self.at.lengths) + size_of_val(&*self.documents);
        at as u64 + self.file.bytes_held()
    }
}

/// The position of a set, in words, and its parities.
struct At {
    start: usize,
    length: u32,
    parities: Parities,
}

/// The positions of sets that follow each other, and their parities: 36 bytes for each set, or 12 with
/// [combined](Compact::combined) ones.
#[derive(Default)]
struct Compact {
    lengths: Vec<u32>,
    parities: Vec<u64>,
    outlined: Outlined,
    /// Where every [`STEP`]th set starts, and where the next one will.
    starts: Vec<usize>,
    end: usize,
}

/// How precise the parities in memory are of sets in a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Outlined {
    /// As those of sets in memory: 32 bytes for each set.
    #[default]
    Whole,
    /// 8 bytes for each set, which rule out less.
    Combined,
}

/// A set that was read from a file, and its group.
type Read = (Option<u32>, Buffer);

/// The sets of earlier comparisons. Most comparisons have one set in common with the one before, and the other one with one of those
/// before that: the members of a run are compared with each other.
pub(super) struct LastRead {
    /// One of the two sets of the last comparison.
    one: Read,
    others: Others,
}

/// The other sets: the last one of each class of groups, and the last one that is larger than these may be.
struct Others {
    classes: Vec<Read>,
    large: Read,
}

impl LastRead {
    /// None yet. They will take at most this memory, in bytes, and 132 KiB.
    pub fn within(memory: u64) -> Self {
        let most = memory / (size_of::<Read>() + size_of::<u64>() * MOST_IN_CLASS) as u64;
        let classes = (0..most.clamp(1, MOST_CLASSES)).map(|_| Read::default()).collect();
        LastRead { one: Read::default(), others: Others { classes, large: Read::default() } }
    }
}

#[cfg(test)]
impl LastRead {
    fn bytes_held(&self) -> usize {
        let all = self.others.classes.iter().chain([&self.one, &self.others.large]);
        all.map(|read| size_of::<Read>() + size_of::<u64>() * read.1.capacity()).sum()
    }
}

impl Others {
    /// Where the set of a group is, or where it is put.
    fn place(&mut self, group: u32, length: usize) -> &mut Read {
        let class = group as usize % self.classes.len();
        if length > MOST_IN_CLASS { &mut self.large } else { &mut self.classes[class] }
    }
}

/// Two sets with more words together are long.
const LONG: usize = 1 << 18;

/// Larger sets are not kept for the next comparison, in words: each thread keeps two.
const MOST_KEPT: usize = 1 << 13;

/// The same for sets of which many are kept, and the maximum number of these.
const MOST_IN_CLASS: usize = 1 << 9;
const MOST_CLASSES: u64 = 1 << 11;

/// How many sets have one start in memory.
const STEP: usize = 64;

impl Compact {
    fn push(&mut self, length: u32, parities: &Parities) {
        if self.lengths.len().is_multiple_of(STEP) {
            self.starts.push(self.end);
        }
        self.lengths.push(length);
        match self.outlined {
            Outlined::Whole => self.parities.extend(parities),
            Outlined::Combined => self.parities.push(Self::combined(parities)),
        }
        self.end += length as usize;
    }

    /// Keeps this much of what was kept of each.
    fn reduce(&mut self, outlined: Outlined) {
        if (self.outlined, outlined) == (Outlined::Whole, Outlined::Combined) {
            self.parities = self.parities.as_chunks().0.iter().map(Self::combined).collect();
            self.outlined = outlined;
        }
    }

    /// The parities of 64 classes, each of four of the others.
    fn combined(parities: &Parities) -> u64 {
        parities.iter().fold(0, |all, some| all ^ some)
    }

    fn start(&self, set: usize) -> usize {
        let before = &self.lengths[set / STEP * STEP..set];
        self.starts[set / STEP] + before.iter().map(|&length| length as usize).sum::<usize>()
    }

    fn outline(&self, set: usize) -> (u32, Parities) {
        let parities = match self.outlined {
            Outlined::Whole => self.parities.as_chunks().0[set],
            Outlined::Combined => [self.parities[set], 0, 0, 0],
        };
        (self.lengths[set], parities)
    }
}

impl Sets {
    /// Room for the sets of these groups in memory, or in a file.
    pub fn new(groups: Subset, file: Option<(Spilled, Outlined)>) -> Self {
        let content = match file {
            Some((file, outlined)) => Content::Written { file, at: Compact { outlined, ..Compact::default() } },
            None => Content::Held { words: Vec::new(), at: Vec::with_capacity(groups.len()) },
        };
        Sets { content, number: vec![0; groups.len()], groups, failure: Mutex::default(), long: Mutex::default() }
    }

    /// The sets of these groups that were written early; others can be added. `group_of` returns the group of a document.
    pub fn after(early: EarlySets, groups: Subset, outlined: Outlined, group_of: impl Fn(u32) -> Option<u32>) -> Self {
        let EarlySets { file, mut at, documents } = early;
        at.reduce(outlined);
        let mut number = vec![0; groups.len()];
        for (set, document) in (1..).zip(documents) {
            if let Some(place) = group_of(document).and_then(|group| groups.place(group)) {
                number[place] = set;
            }
        }
        let content = Content::Written { file, at };
        Sets { content, groups, number, failure: Mutex::default(), long: Mutex::default() }
    }

    /// As [`after`](Self::after), in memory.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn loaded(early: &EarlySets, groups: Subset, group_of: impl Fn(u32) -> Option<u32>) -> Result<Self, Error> {
        let EarlySets { file, at, documents } = early;
        let mut sets = Sets::new(groups, None);
        let mut buffer = Buffer::default();
        for (set, &document) in documents.iter().enumerate() {
            let wanted = |group: &u32| sets.groups.place(*group).is_some() && !sets.has(*group);
            if let Some(group) = group_of(document).filter(wanted) {
                let words = file.read(8 * at.start(set) as u64, at.lengths[set] as usize, &mut buffer)?.to_vec();
                let ends = vec![(group, words.len(), at.outline(set).1)];
                sets.append(Chunk { words, ends })?;
            }
        }
        Ok(sets)
    }

    /// Whether a group has a set.
    pub fn has(&self, group: u32) -> bool {
        self.set_of(group).is_some()
    }

    /// Sets of these groups in these words, each with its group, its start and its length in words.
    pub fn of(groups: Subset, words: Vec<u64>, sets: Vec<(u32, usize, usize, Parities)>) -> Self {
        let (mut number, mut at) = (vec![0; groups.len()], Vec::with_capacity(sets.len()));
        for (group, start, length, parities) in sets {
            at.push(At { start, length: length_of(length), parities });
            number[place(&groups, group)] = at.len() as u32;
        }
        let content = Content::Held { words, at };
        Sets { content, groups, number, failure: Mutex::default(), long: Mutex::default() }
    }

    #[inline]
    fn set_of(&self, group: u32) -> Option<usize> {
        self.number[self.groups.place(group)?].checked_sub(1).map(|set| set as usize)
    }

    /// The set of a group; empty if it has none, or if the file cannot be [read](Self::check).
    #[inline]
    pub fn get(&self, group: u32) -> Cow<'_, [u64]> {
        match (self.set_of(group), &self.content) {
            (None, _) => Cow::Borrowed(&[]),
            (Some(set), Content::Held { words, at }) => {
                let At { start, length, .. } = at[set];
                Cow::Borrowed(&words[start..][..length as usize])
            }
            (Some(_), Content::Written { file, at }) => {
                let mut buffer = Buffer::default();
                self.read_into(file, at, group, &mut buffer);
                Cow::Owned(buffer.into_words())
            }
        }
    }

    /// The size of the set of a group; of a multiset, with all occurrences.
    pub fn size(&self, group: u32) -> usize {
        let length = |set: usize| match &self.content {
            Content::Held { at, .. } => at[set].length,
            Content::Written { at, .. } => at.lengths[set],
        };
        self.set_of(group).map_or(0, length) as usize
    }

    /// Passes the sets of two groups to a function. Long sets that are in the file are in memory one pair at a time, whatever
    /// the number of threads.
    pub fn compared<T>(&self, a: u32, b: u32, compare: impl FnOnce(&[u64], &[u64]) -> T) -> T {
        let Content::Written { at, .. } = &self.content else { return compare(&self.get(a), &self.get(b)) };
        let length = |group| self.set_of(group).map_or(0, |set| at.lengths[set] as usize);
        let is_long = length(a) + length(b) > LONG;
        let _one_pair = is_long.then(|| self.long.lock().unwrap_or_else(PoisonError::into_inner));
        compare(&self.get(a), &self.get(b))
    }

    /// As [`compared`](Self::compared), where `last` has what comparisons of the same sets left.
    pub fn compared_after<T>(
        &self,
        last: &mut LastRead,
        a: u32,
        b: u32,
        compare: impl FnOnce(&[u64], &[u64]) -> T,
    ) -> T {
        let Content::Written { file, at } = &self.content else { return compare(&self.get(a), &self.get(b)) };
        let length = |group| self.set_of(group).map_or(0, |set| at.lengths[set] as usize);
        if length(a).max(length(b)) > MOST_KEPT {
            return self.compared(a, b, compare);
        }
        let LastRead { one, others } = last;
        if one.0 != Some(a) && one.0 != Some(b) {
            let place = |group: &u32| others.place(*group, length(*group)).0 == Some(*group);
            match [b, a].into_iter().find(place) {
                Some(group) => {
                    let place = others.place(group, length(group));
                    std::mem::swap(one, place);
                    if place.1.capacity() > MOST_IN_CLASS {
                        *place = Read::default();
                    }
                }
                None => self.read_unless_held(file, at, a, one),
            }
        }
        let other = if one.0 == Some(a) { b } else { a };
        let of_other = others.place(other, length(other));
        self.read_unless_held(file, at, other, of_other);
        let (one, of_other) = (one.1.words(), of_other.1.words());
        if other == b { compare(one, of_other) } else { compare(of_other, one) }
    }

    fn read_unless_held(&self, file: &Spilled, at: &Compact, group: u32, read: &mut Read) {
        if read.0 != Some(group) {
            read.0 = Some(group);
            self.read_into(file, at, group, &mut read.1);
        }
    }

    /// Reads the set of a group; none if it has none, or if the file cannot be [read](Self::check).
    fn read_into(&self, file: &Spilled, at: &Compact, group: u32, buffer: &mut Buffer) {
        let (start, length) = self.set_of(group).map_or((0, 0), |set| (at.start(set), at.lengths[set] as usize));
        if let Err(error) = file.read(8 * start as u64, length, buffer).map(drop) {
            self.failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
            *buffer = Buffer::default();
        }
    }

    /// Fails if the file could not be read since: the sets were not complete.
    ///
    /// # Errors
    /// The first error.
    pub fn check(&self) -> Result<(), Error> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).take().map_or(Ok(()), Err)
    }

    /// The file of the sets, if they are in a [large](Spilled::is_large) one.
    pub fn large_file(&self) -> Option<&Spilled> {
        match &self.content {
            Content::Written { file, .. } => Some(file).filter(|file| file.is_large()),
            Content::Held { .. } => None,
        }
    }

    /// Bytes in the file.
    pub fn bytes_spilled(&self) -> u64 {
        match &self.content {
            Content::Held { .. } => 0,
            Content::Written { file, .. } => file.bytes_in_file(),
        }
    }

    /// Prefetches what [`can_reach`](Self::can_reach) reads of a group.
    #[inline]
    pub fn fetch(&self, group: u32) {
        match (self.set_of(group), &self.content) {
            (None, _) => {}
            (Some(set), Content::Held { at, .. }) => {
                // The end of it may be in another cache line.
                fetch(at, set);
                fetch(at, set + 1);
            }
            (Some(set), Content::Written { at, .. }) => {
                fetch(&at.lengths, set);
                match at.outlined {
                    Outlined::Whole => fetch(at.parities.as_chunks::<4>().0, set),
                    Outlined::Combined => fetch(&at.parities, set),
                }
            }
        }
    }

    /// Whether the sets of two groups can be at or above the threshold, judged by their sizes and bits alone.
    #[inline]
    pub fn can_reach(&self, jaccard: Option<Threshold>, a: u32, b: u32) -> bool {
        let (Some(a), Some(b)) = (self.set_of(a), self.set_of(b)) else { return false };
        match &self.content {
            Content::Held { at, .. } => {
                let (a, b) = (&at[a], &at[b]);
                can_reach(jaccard, (a.length, &a.parities), (b.length, &b.parities))
            }
            Content::Written { at, .. } => {
                let (a, b) = (at.outline(a), at.outline(b));
                can_reach(jaccard, (a.0, &a.1), (b.0, &b.1))
            }
        }
    }

    /// Adds the sets of groups.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn append(&mut self, Chunk { words, ends }: Chunk) -> Result<(), Error> {
        let mut start = 0;
        match &mut self.content {
            Content::Held { words: held, at } => {
                let first = held.len();
                held.extend_from_slice(&words);
                for (group, end, parities) in ends {
                    at.push(At { start: first + start, length: length_of(end - start), parities });
                    self.number[place(&self.groups, group)] = at.len() as u32;
                    start = end;
                }
            }
            Content::Written { file, at } => {
                file.append(&words)?;
                for (group, end, parities) in ends {
                    at.push(length_of(end - start), &parities);
                    self.number[place(&self.groups, group)] = at.lengths.len() as u32;
                    start = end;
                }
                debug_assert_eq!(start, words.len(), "sets follow each other");
            }
        }
        Ok(())
    }
}

fn place(groups: &Subset, group: u32) -> usize {
    groups.place(group).expect("there is room for its set")
}

fn length_of(words: usize) -> u32 {
    u32::try_from(words).expect("a document has fewer than 2³² features")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::mix;

    /// In memory or in a file: the same sets, and no pair is ruled out that is similar.
    #[test]
    fn sets_are_found_where_they_are() {
        let set = |group: u32| -> Vec<u64> {
            let size = if group == 77 { 5_000 } else { group % 40 };
            (0..u64::from(size)).map(|element| mix(element + u64::from(group % 5))).collect()
        };
        let mut of = [None, Some(Outlined::Combined), Some(Outlined::Whole)].map(|outlined| {
            let file = outlined.map(|outlined| (Spilled::new("sets", None).unwrap(), outlined));
            Sets::new(Subset::of(1_000, 0..900), file)
        });
        for sets in &mut of {
            for batch in (0..900).collect::<Vec<u32>>().chunks(37) {
                let mut chunk = Chunk::default();
                // In another order than that of the groups; one of them is left out.
                for group in batch.iter().map(|group| 899 - group).filter(|&group| group != 500) {
                    chunk.words.extend(set(group));
                    chunk.end(group);
                }
                sets.append(chunk).unwrap();
            }
        }
        let jaccard = Threshold::new(4, 5);
        let [held, written, precise] = &of;
        for group in 0..1_000 {
            let expected = if group == 500 || group >= 900 { Vec::new() } else { set(group) };
            assert_eq!((&*held.get(group), &*written.get(group)), (&expected[..], &expected[..]));
            for other in (group..1_000).step_by(41) {
                let is_possible = held.can_reach(jaccard, group, other);
                assert!(!is_possible || written.can_reach(jaccard, group, other), "{group} {other}");
                assert_eq!(is_possible, precise.can_reach(jaccard, group, other), "{group} {other}");
            }
        }
        for sets in &of {
            // One class for all, some, and more than there are groups.
            for memory in [0, 20_000, 1 << 23] {
                let mut last = LastRead::within(memory);
                for (a, b) in (0..4_000).map(mix).map(|n| (n as u32 % 7 * 71, (n >> 32) as u32 % 9 * 77)) {
                    assert!(last.bytes_held() <= memory as usize + (132 << 10), "{memory}");
                    let read = sets.compared_after(&mut last, a, b, |a, b| (a.to_vec(), b.to_vec()));
                    assert_eq!(read, (held.get(a).to_vec(), held.get(b).to_vec()), "{a} {b}");
                }
            }
        }
        assert!(held.bytes_spilled() == 0 && written.bytes_spilled() > 0);
        of.iter().for_each(|sets| sets.check().unwrap());
    }

    /// Sets that were written early are those of the groups of their documents; the others are added, and parities may be reduced.
    #[test]
    fn early_sets_become_those_of_groups() {
        let set =
            |document: u32| -> Vec<u64> { (0..u64::from(2 + document % 9)).map(|element| element * 7 + 1).collect() };
        // Document 3 · g is the first of group g.
        let group_of = |document: u32| document.is_multiple_of(3).then_some(document / 3);
        for outlined in [Outlined::Whole, Outlined::Combined] {
            let mut early = EarlySets::new(Spilled::new("sets", None).unwrap());
            for first in [0, 100] {
                let mut chunk = Chunk::default();
                for number in (0..100).filter(|number: &u32| !number.is_multiple_of(4)) {
                    chunk.words.extend(set(first + number));
                    chunk.end(number);
                }
                early.append(first, &chunk).unwrap();
            }
            assert_eq!(early.len(), 150);
            let groups = Subset::of(67, (0..67).filter(|group: &u32| !group.is_multiple_of(5)));
            let loaded = Sets::loaded(&early, groups.clone(), group_of).unwrap();
            let mut sets = Sets::after(early, groups, outlined, group_of);
            for group in 0..67 {
                assert_eq!((loaded.has(group), loaded.get(group)), (sets.has(group), sets.get(group)), "{group}");
            }
            let is_early = |group: u32| !group.is_multiple_of(5) && !(3 * group).is_multiple_of(4);
            assert!((0..67).all(|group| sets.has(group) == is_early(group)));
            let mut rest = Chunk::default();
            for group in (0..67).filter(|&group: &u32| !group.is_multiple_of(5) && !is_early(group)) {
                rest.words.extend(set(3 * group));
                rest.end(group);
            }
            sets.append(rest).unwrap();
            for group in 0..67u32 {
                let expected = if group.is_multiple_of(5) { Vec::new() } else { set(3 * group) };
                assert_eq!((&*sets.get(group), sets.size(group)), (&expected[..], expected.len()));
                assert!(group.is_multiple_of(5) || sets.can_reach(Threshold::new(1, 1), group, group));
            }
        }
    }
}
