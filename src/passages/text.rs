//! Documents that are prepared to be compared: their tokens, in memory or in a file, and their anchors.
//!
//! ```text
//! tokens → [`Selector`] on any thread → [`Builder`], in order → [`Text`]: the anchors whose k-gram repeats
//! ```
//!
//! An anchor takes [`BYTES_AN_ANCHOR`] bytes if its k-gram repeats; tokens, all selected anchors and their k-grams go to temporary files
//! if they do not fit.

use super::minima::Minima;
use super::modular::{Beginnings, Powers};
use super::selected_by_windows;
use crate::error::Error;
use crate::hash::{mix, shingle_hashes};
use crate::kernel::fetch::fetch;
use crate::postings::{Buffer, Cached, Sorter, Stored};
use rayon::prelude::*;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// A k-gram that windows of a document select, and that occurs at least twice.
pub(super) struct Anchor {
    /// Its token, in all documents together.
    pub at: u64,
    /// The hash of the document up to its end.
    pub hash: u64,
    pub document: u32,
    /// The number of its group, in the order of their first places; and when the groups are sorted, its place in [`Text::slots`].
    pub slot: u32,
    /// The tokens of its document before it that count half.
    pub halves: u32,
    /// The least and the greatest number of tokens between the start of a window that selects it and itself.
    pub offsets: [u16; 2],
}

/// The places of a k-gram are a group: a range of slots. They are in two orders.
#[derive(Clone, Copy, Default)]
pub(super) struct Slot {
    /// The anchor at this place in the order of what follows from it on.
    pub right: u32,
    /// The anchor at this place in the order of what precedes it, read from its end.
    pub left: u32,
    /// The number of tokens that are equal to those of the next one, at most those of [`Text::reach`]; [`LAST`] if it is the last one.
    pub right_common: u16,
    /// The same on the left, at most those of a window.
    pub left_common: u16,
}

/// There is no next one in the group.
pub(super) const LAST: u16 = u16::MAX;

/// The memory of an anchor whose k-gram repeats, with its slot and its part of the minima.
pub(super) const BYTES_AN_ANCHOR: u64 = (size_of::<Anchor>() + size_of::<Slot>() + 3) as u64;

/// The maximum length of the k-grams, and of a window.
const MAX_GRAM: usize = 32;
const MAX_WINDOW: usize = 1 << 14;

/// Selects the anchors of a document.
#[derive(Clone)]
pub(super) struct Selector {
    shortest: usize,
    gram: usize,
    /// The number of k-grams in a window.
    window: usize,
    /// Whether tokens with an odd hash count half.
    halves: bool,
    powers: Arc<Powers>,
}

impl Selector {
    /// For repeats of at least `shortest` tokens.
    pub fn new(shortest: usize, halves: bool) -> Self {
        let shortest = shortest.max(1);
        // A gram is long enough that few repeat by chance, and short enough that few are selected.
        Self::with_gram(shortest, shortest.div_ceil(4).max(10).min(shortest).min(MAX_GRAM), halves)
    }

    /// With k-grams of this length, at most that of the shortest repeat.
    pub fn with_gram(shortest: usize, gram: usize, halves: bool) -> Self {
        let window = (shortest - gram + 1).min(MAX_WINDOW);
        Selector { shortest, gram, window, halves, powers: Arc::new(Powers::random()) }
    }

    /// Appends the anchors of a document as words: its number and its first token, which come first, are added.
    pub fn select(&self, document: u32, first: u64, tokens: &[u64], grams: &mut Vec<u64>, selected: &mut Vec<u64>) {
        if tokens.len() < self.shortest {
            return;
        }
        grams.clear();
        shingle_hashes(tokens, self.gram, grams);
        let start = selected.len();
        selected_by_windows(grams, self.window, |at, window| {
            selected.extend([0, 0, at as u64, window as u64, 0]);
        });
        let mut last = (grams.len() - self.window) as u64;
        for anchor in selected[start..].as_chunks_mut::<WORDS>().0.iter_mut().rev() {
            let [_, _, at, window, _] = *anchor;
            // The last window that selects it, and the first one.
            anchor[3] = u64::from(document) << 32 | (at - last) << 16 | (at - window);
            last = window.wrapping_sub(1);
        }
        let beginnings = Beginnings::new(&self.powers, tokens, grams);
        let (mut counted, mut halves) = (0, 0);
        for anchor in selected[start..].as_chunks_mut::<WORDS>().0 {
            let at = anchor[2] as usize;
            let hash = beginnings.hash(at + self.gram);
            // Not the hash that it was selected by: texts could be made in which different ones agree.
            anchor[0] = mix(self.powers.between(beginnings.hash(at), hash, self.gram as u64));
            if self.halves {
                halves += tokens[counted..at].iter().map(|token| token & 1).sum::<u64>();
            }
            counted = at;
            (anchor[1], anchor[2], anchor[4]) = (hash, first + at as u64, halves);
        }
    }
}

/// The number of a k-gram without a group yet.
const NO_GROUP: u32 = u32::MAX;

/// The words of a selected anchor: its gram; the hash up to its end; its token; its document and its offsets; its halves.
const WORDS: usize = 5;

/// The number of selected anchors that are looked at together.
const AT_ONCE: u64 = 1 << 16;

/// The number of these that one thread looks at.
const ANCHORS_A_TASK: usize = 1 << 10;

/// How many anchors ahead their entries are prefetched.
const PREFETCH_AHEAD: usize = 8;

/// Documents that are being added.
pub(super) struct Builder {
    selector: Selector,
    tokens: Stored,
    selected: Stored,
    grams: Sorter<1>,
    starts: Vec<u64>,
    halves: Halves,
    memory: u64,
}

impl Builder {
    /// What does not fit this memory goes to files in this folder, or in the system's.
    pub fn new(selector: Selector, memory: u64, folder: Option<&Path>) -> Self {
        Builder {
            tokens: Stored::new("tokens", memory / 4, folder),
            selected: Stored::new("places of k-grams", memory / 8, folder),
            grams: Sorter::new("k-grams of anchors", memory / 8, folder),
            starts: vec![0],
            halves: Halves::default(),
            selector,
            memory,
        }
    }

    /// Adds documents with these numbers of tokens, and their anchors as [`Selector::select`] made them, with documents and tokens
    /// numbered from the first of these. `halves` are the documents with tokens that count half.
    ///
    /// # Errors
    /// A temporary file cannot be written, or there are too many documents.
    pub fn add(&mut self, lengths: &[u64], tokens: &[u64], selected: &mut [u64], halves: &[u32]) -> Result<(), Error> {
        let (document, first) = (self.starts.len() as u64 - 1, self.starts[self.starts.len() - 1]);
        if document + lengths.len() as u64 >= u64::from(u32::MAX) {
            return Err(Error::TooManyDocuments(u64::from(u32::MAX) - 1));
        }
        for anchor in selected.as_chunks_mut::<WORDS>().0 {
            anchor[2] += first;
            anchor[3] += document << 32;
            self.grams.push([anchor[0]])?;
        }
        self.starts.extend(lengths.iter().scan(first, |end, length| {
            *end += length;
            Some(*end)
        }));
        halves.iter().for_each(|&number| self.halves.add(document as u32 + number));
        self.tokens.append(tokens)?;
        self.selected.append(selected)
    }

    /// The documents, without the anchors whose k-gram does not repeat. So many bytes of the memory are taken by something else.
    ///
    /// # Errors
    /// A temporary file cannot be read or written, or there are more anchors than fit the memory.
    pub fn finish(mut self, taken: u64) -> Result<Text, Error> {
        let sorter = std::mem::replace(&mut self.grams, Sorter::new("k-grams", 0, None));
        let grams_spilled = sorter.bytes_spilled();
        let (grams, places) = self.repeated(sorter, self.memory.saturating_sub(taken))?;
        let repeated = grams.len();
        let grams = Grams::new(grams);
        let mut anchors = Vec::with_capacity(places);
        // Groups are numbered in the order of their first places: those that follow each other have tokens close to each other.
        let mut counts = Vec::with_capacity(repeated);
        let (mut groups, mut buffer) = (vec![NO_GROUP; repeated], Buffer::default());
        for first in (0..self.selected.len()).step_by(AT_ONCE as usize * WORDS) {
            let end = self.selected.len().min(first + AT_ONCE * WORDS as u64);
            let selected = self.selected.read(first..end, &mut buffer)?.as_chunks::<WORDS>().0;
            let numbers: Vec<Option<u32>> =
                selected.par_chunks(ANCHORS_A_TASK).flat_map_iter(|anchors| grams.numbers(anchors)).collect();
            for (place, &[_, hash, at, packed, halves]) in selected.iter().enumerate() {
                if let Some(Some(later)) = numbers.get(place + PREFETCH_AHEAD) {
                    fetch(&groups, *later as usize);
                }
                let Some(number) = numbers[place] else { continue };
                let slot = match &mut groups[number as usize] {
                    group if *group == NO_GROUP => {
                        *group = counts.len() as u32;
                        counts.push(0u32);
                        *group
                    }
                    group => *group,
                };
                counts[slot as usize] += 1;
                let offsets = [(packed >> 16) as u16, packed as u16];
                let (document, halves) = ((packed >> 32) as u32, halves as u32);
                anchors.push(Anchor { at, hash, document, slot, halves, offsets });
            }
        }
        drop((grams, groups));
        let slots = slots(&anchors, counts);
        let selected_spilled = self.selected.bytes_spilled() + grams_spilled;
        let Builder { selector, tokens, starts, halves, .. } = self;
        Ok(Text { tokens, starts, anchors, slots, minima: Minima::default(), selector, halves, selected_spilled })
    }

    /// The k-grams that repeat, ascending, and the number of their places.
    fn repeated(&self, grams: Sorter<1>, memory: u64) -> Result<(Vec<u64>, usize), Error> {
        let (mut repeated, mut places) = (Vec::new(), 0u64);
        let most = (memory.saturating_add(BYTES_BESIDE) / BYTES_AN_ANCHOR).min(u64::from(u32::MAX) - 1);
        let (mut last, mut count) = (None, 0u64);
        grams.for_each(|&[gram]| {
            count = if last == Some(gram) { count + 1 } else { 1 };
            last = Some(gram);
            match count {
                1 => {}
                2 => {
                    repeated.push(gram);
                    places += 2;
                }
                _ => places += 1,
            }
            if places <= most {
                return Ok(());
            }
            let (documents, memory) = (self.starts.len() - 1, self.memory);
            let message = format!("more than {most} places of repeated k-grams of {documents} documents do not fit");
            Err(Error::Full(format!("{message} `memory` ({memory} bytes): allow more")))
        })?;
        repeated.shrink_to_fit();
        Ok((repeated, places as usize))
    }
}

/// The documents with tokens that count half: a bit for each.
#[derive(Default)]
struct Halves(Vec<u64>);

impl Halves {
    /// Adds one.
    fn add(&mut self, document: u32) {
        let word = (document / 64) as usize;
        if self.0.len() <= word {
            self.0.resize(word + 1, 0);
        }
        self.0[word] |= 1 << (document % 64);
    }

    fn has(&self, document: u32) -> bool {
        self.0.get((document / 64) as usize).is_some_and(|word| word >> (document % 64) & 1 == 1)
    }

    fn any(&self) -> bool {
        !self.0.is_empty()
    }
}

/// What the promise about the memory of the process allows for anchors, and for the places of repeats, in addition to the option.
pub(super) const BYTES_BESIDE: u64 = 32 << 20;

/// The places of each k-gram, in the order of the text.
fn slots(anchors: &[Anchor], counts: Vec<u32>) -> Vec<Slot> {
    let mut next = counts;
    let mut start = 0;
    for count in &mut next {
        (*count, start) = (start, start + *count);
    }
    let mut slots = vec![Slot::default(); anchors.len()];
    for (number, anchor) in (0..).zip(anchors) {
        let place = &mut next[anchor.slot as usize];
        (slots[*place as usize].right, slots[*place as usize].left) = (number, number);
        *place += 1;
    }
    slots
}

/// The k-grams that repeat, ascending, and where those with the same highest bits begin.
struct Grams {
    grams: Vec<u64>,
    starts: Vec<u32>,
    shift: u32,
}

impl Grams {
    fn new(grams: Vec<u64>) -> Self {
        let bits = grams.len().max(2).ilog2();
        let shift = u64::BITS - bits;
        let mut starts = vec![0; (1 << bits) + 1];
        grams.iter().for_each(|gram| starts[(gram >> shift) as usize + 1] += 1);
        (1..starts.len()).for_each(|at| starts[at] += starts[at - 1]);
        Grams { grams, starts, shift }
    }

    /// The numbers of the k-grams of some anchors, in their order.
    fn numbers<'a>(&'a self, anchors: &'a [[u64; WORDS]]) -> impl Iterator<Item = Option<u32>> + 'a {
        (0..anchors.len()).map(|place| {
            if let Some([gram, ..]) = anchors.get(place + 2 * PREFETCH_AHEAD) {
                fetch(&self.starts, (gram >> self.shift) as usize);
            }
            if let Some([gram, ..]) = anchors.get(place + PREFETCH_AHEAD) {
                fetch(&self.grams, self.starts[(gram >> self.shift) as usize] as usize);
            }
            self.number(anchors[place][0])
        })
    }

    fn number(&self, gram: u64) -> Option<u32> {
        let top = (gram >> self.shift) as usize;
        let (start, end) = (self.starts[top], self.starts[top + 1]);
        let found = self.grams[start as usize..end as usize].binary_search(&gram).ok()?;
        Some(start + found as u32)
    }
}

/// Documents, prepared to be compared.
pub(super) struct Text {
    tokens: Stored,
    /// Where each document begins, and the end of the last one.
    pub starts: Vec<u64>,
    /// In the order of the text.
    pub anchors: Vec<Anchor>,
    /// Those of each k-gram, together.
    pub slots: Vec<Slot>,
    /// Of what they have in common on the right, once they are [sorted](super::order::sort).
    pub minima: Minima,
    selector: Selector,
    halves: Halves,
    /// The bytes of places of k-grams that were in a file.
    selected_spilled: u64,
}

impl Text {
    /// The tokens, where each document begins and the last one ends, and whether there are tokens that count half.
    pub fn into_tokens(self) -> (Stored, Vec<u64>, bool) {
        (self.tokens, self.starts, self.halves.any())
    }

    /// The number of k-grams in a window.
    pub fn window(&self) -> usize {
        self.selector.window
    }

    /// The minimum length of a repeat.
    pub fn shortest(&self) -> u64 {
        self.selector.shortest as u64
    }

    /// Two texts that agree from an anchor on, in as many tokens as the windows before it let them, and in this many, have another
    /// anchor in common.
    pub fn reach(&self) -> usize {
        self.selector.window + self.selector.gram
    }

    /// The tokens of a document.
    pub fn document(&self, number: u32) -> Range<u64> {
        self.starts[number as usize]..self.starts[number as usize + 1]
    }

    /// The document of a token.
    pub fn number_at(&self, token: u64) -> usize {
        self.starts.partition_point(|&start| start <= token) - 1
    }

    /// Reads tokens. Those of groups that follow each other are often close to each other.
    pub fn tokens(&self) -> Cached<'_> {
        Cached::new(&self.tokens)
    }

    /// The bytes of tokens, and of places of k-grams, that went to files.
    pub fn bytes_spilled(&self) -> u64 {
        self.tokens.bytes_spilled() + self.selected_spilled
    }

    /// The tokens that are equal from two anchors of one group on.
    pub fn right_common(&self, a: u32, b: u32) -> u64 {
        let (steps, common) = self.steps(a, b);
        let [x, y] = [a, b].map(|anchor| self.anchors[anchor as usize + steps].slot as usize);
        let rest = self.minima.least(x.min(y), x.max(y));
        common + u64::from(rest.unwrap_or(0))
    }

    /// Whether what follows from the first anchor on comes before what follows from the second one, of one group.
    pub fn compare_right(&self, a: u32, b: u32) -> std::cmp::Ordering {
        let (steps, _) = self.steps(a, b);
        let [x, y] = [a, b].map(|anchor| self.anchors[anchor as usize + steps].slot);
        x.cmp(&y)
    }

    /// The number of anchors that both texts have in common from two anchors of one group on, and that of the tokens up to the last one.
    fn steps(&self, a: u32, b: u32) -> (usize, u64) {
        let (a, b) = (a as usize, b as usize);
        let (first, second) = (&self.anchors[a], &self.anchors[b]);
        let is_equal = |steps: usize| {
            let (Some(x), Some(y)) = (self.anchors.get(a + steps), self.anchors.get(b + steps)) else { return false };
            let length = x.at - first.at;
            let hashes = [[first.hash, x.hash], [second.hash, y.hash]];
            x.document == first.document
                && y.document == second.document
                && y.at - second.at == length
                && self.selector.powers.are_equal(hashes[0], hashes[1], length)
        };
        // What is equal at some anchors is so at all before them, but for the last ones.
        let (mut equal, mut step) = (0, 1);
        while is_equal(equal + step) {
            equal += step;
            step *= 2;
        }
        while step > 1 {
            step /= 2;
            equal += if is_equal(equal + step) { step } else { 0 };
        }
        (equal, self.anchors[a + equal].at - first.at)
    }

    /// The size of the string that begins `depth` tokens before an anchor and goes on from it for `length` tokens, where tokens that count
    /// half do.
    ///
    /// # Errors
    /// The temporary file cannot be read.
    pub fn size(&self, anchor: u32, depth: u64, length: u64, read: &mut Cached<'_>) -> Result<u64, Error> {
        let tokens = depth + length;
        let first = &self.anchors[anchor as usize];
        if !self.halves.has(first.document) {
            return Ok(tokens);
        }
        let end = first.at + length;
        // The last anchor in it: those that the places have in common are there, so the rest is short.
        let after = self.anchors[anchor as usize..].partition_point(|anchor| anchor.at < end);
        let last = &self.anchors[anchor as usize + after - 1];
        let mut count =
            |range: Range<u64>| -> Result<u64, Error> { Ok(read.read(range)?.iter().map(|token| token & 1).sum()) };
        let halves = count(first.at - depth..first.at)? + count(last.at..end)?;
        Ok(tokens - (halves + u64::from(last.halves - first.halves)) / 2)
    }
}

#[cfg(test)]
mod tests {
    use super::Halves;

    #[test]
    fn documents_with_halves() {
        let mut halves = Halves::default();
        assert!(!halves.any() && !halves.has(0) && !halves.has(64));
        let with = [0, 63, 64, 200];
        with.iter().for_each(|&document| halves.add(document));
        assert!(halves.any());
        let found: Vec<u32> = (0..1000).filter(|&document| halves.has(document)).collect();
        assert_eq!(found, with);
    }
}
