//! The passages that repeat in a collection.
//!
//! **Definition.** A repeat is a string of tokens that stands at two or more places, such that neither the tokens before all
//! of its places are equal nor those after them: it can be extended at none of its ends without losing a place. The
//! beginning and the end of a document differ from everything. So a paragraph that a hundred documents quote is one
//! repeat with a hundred places, and where twenty of them also quote the next paragraph, both together are another one. These are
//! the maximal repeats of Gusfield, *Algorithms on Strings, Trees, and Sequences*, 1997, section 7.12; a collection has
//! fewer of them than tokens.
//!
//! **Procedure.** [Winnowing](super::winnow) selects a k-gram of every window of `shortest` tokens by what is in it. So a
//! repeat has the k-gram of its first window, its *anchor*, at the same distance `d` from its start at all of its places, and is found among
//! the places of one k-gram:
//!
//! ```text
//! places of a k-gram → the tree of what precedes them, up to a window
//!    each node, at depth d, where the text branches: the places whose window d tokens earlier selects the k-gram
//!       → the tree of what follows them → each node, at depth r, whose places the first tree separates:
//!         a repeat of d + r tokens
//! ```
//!
//! Both trees are read from sorted lists and the lengths of the common prefixes of neighbours (Abouelhoda, Kurtz &
//! Ohlebusch, *Replacing suffix trees with enhanced suffix arrays*, J. Discrete Algorithms 2004). What follows two
//! places is compared by hashes from anchor to anchor, with steps that double: of two texts that are equal, the anchors are. After the last
//! anchor in common, it is compared as the places of that k-gram are, which were sorted before by the tokens around them. So tokens are
//! read once for each place.

use super::distinct::Distinct;
use super::gathered::Gathered;
use super::order;
use super::reduced::{Reduced, reduce_beyond};
use super::text::{BYTES_BESIDE, Builder, LAST, Selector, Slot, Text};
use crate::error::Error;
use crate::postings::{Buffer, Cached, Stored};
use rayon::prelude::*;
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// A string of tokens that stands at several places of a collection, and can be extended at neither end at all of them.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Repeat {
    /// Its length in tokens.
    pub tokens: usize,
    /// The number of its places. They may overlap in a text that repeats itself.
    pub count: usize,
    /// The number of different documents that they are in.
    pub documents: usize,
    /// The first of them, in the order of the collection.
    pub places: Vec<Place>,
}

/// Where a passage begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The number of the document, from 0.
    pub document: usize,
    /// The number of its token, from 0.
    pub token: usize,
}

/// All repeats of at least `shortest` tokens in documents that are given by their token hashes, each with its first
/// `most_places` places: in the order of their first places, longer ones first. Tokens with equal hashes count as equal.
///
/// Cost: a hash for each token; a comparison of some [`window`](super::winnow) for each place of a k-gram that repeats, and for those
/// at which something begins to repeat one of logarithmic cost with some of the others. A text that repeats itself with a short period
/// has as many repeats as tokens. Memory: 8 bytes for each token, and some 100 for each selected one.
///
/// ```
/// use neardups::passages::{Place, repeats};
///
/// let documents: [&[u64]; 3] = [&[1, 2, 3, 4, 5], &[9, 2, 3, 4, 8], &[2, 3, 4, 5]];
/// let found = repeats(&documents, 3, 10);
/// let places = |at: &[(usize, usize)]| at.iter().map(|&(document, token)| Place { document, token }).collect::<Vec<_>>();
/// assert_eq!(found.len(), 2);
/// assert_eq!((found[0].tokens, &found[0].places), (4, &places(&[(0, 1), (2, 0)])));
/// assert_eq!((found[1].tokens, &found[1].places), (3, &places(&[(0, 1), (1, 1), (2, 0)])));
/// ```
pub fn repeats(documents: &[&[u64]], shortest: usize, most_places: usize) -> Vec<Repeat> {
    let found = repeats_by(documents, Selector::new(shortest, false), most_places, u64::MAX);
    found.expect("memory is not bounded, and there is no file")
}

/// [`repeats`] with these anchors, in this memory.
fn repeats_by(documents: &[&[u64]], selector: Selector, most_places: usize, memory: u64) -> Result<Vec<Repeat>, Error> {
    let select = |document: &&[u64]| {
        let mut selected = Vec::new();
        selector.select(0, 0, document, &mut Vec::new(), &mut selected);
        selected
    };
    let selected: Vec<Vec<u64>> = documents.par_iter().map(select).collect();
    let mut builder = Builder::new(selector, memory, None);
    for (document, mut selected) in documents.iter().zip(selected) {
        builder.add(&[document.len() as u64], document, &mut selected, &[])?;
    }
    let mut text = builder.finish(0)?;
    order::sort(&mut text, memory)?;
    let options = FindOptions { most_places, ..FindOptions::default() };
    let found = find(&text, &options, memory, None)?;
    let mut repeats = Vec::new();
    found.for_each(0..found.len(), &mut Buffer::default(), |repeat| {
        let place = |FoundPlace { at, .. }| {
            let document = text.number_at(at);
            Place { document, token: (at - text.starts[document]) as usize }
        };
        let places = repeat.places().map(place).collect();
        let [tokens, count, documents] = [repeat.tokens, repeat.count, repeat.documents].map(|number| number as usize);
        repeats.push(Repeat { tokens, count, documents, places });
        Ok(())
    })?;
    Ok(repeats)
}

/// Which repeats are found.
pub(super) struct FindOptions {
    /// The minimum size, where tokens that count half do.
    pub min_size: u64,
    /// The maximum number of places of each that are kept.
    pub most_places: usize,
    /// The number of anchors of a reference, which come first: then only repeats are found that stand in it and elsewhere.
    pub references: Option<u32>,
    /// The minimum number of different documents that places are in.
    pub min_documents: u64,
    /// The maximum number of repeats with the same first place that overlap themselves.
    pub most_overlapping: usize,
}

impl Default for FindOptions {
    fn default() -> Self {
        FindOptions {
            min_size: 0,
            most_places: usize::MAX,
            references: None,
            min_documents: 1,
            most_overlapping: usize::MAX,
        }
    }
}

/// The repeats that were found, in memory or in a file.
pub(super) struct Found {
    words: Stored,
    /// In their order.
    index: Vec<Entry>,
    /// Whether each place has its own length, and a number of words that are those of the first one.
    is_near: bool,
    /// The number of repeats that were left out, because there are too many with their first place.
    pub left_out: u64,
    /// The number of repeats that are in too few documents.
    pub below_min_documents: u64,
    /// The number of repeats that were left out because they are mostly in longer ones.
    pub overlapping: u64,
    /// The maximum number of repeats.
    most: u64,
    /// What ended the search.
    error: Option<Error>,
}

/// Where a repeat is.
#[derive(Clone, Copy)]
struct Entry {
    /// Its first token.
    first: u64,
    /// Where its words begin.
    at: u64,
    tokens: u32,
    /// The number of places that are kept.
    places: u32,
}

/// A repeat that was found.
pub(super) struct FoundRepeat<'a> {
    /// Its length.
    pub tokens: u64,
    /// The same, where tokens that count half do.
    pub size: u64,
    /// The number of its places.
    pub count: u64,
    /// The number of different documents that they are in.
    pub documents: u64,
    /// The first of them.
    places: &'a [u64],
    is_near: bool,
}

/// A place of a repeat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FoundPlace {
    /// Its first token, in all documents together.
    pub at: u64,
    pub tokens: u32,
    /// The tokens that are those of the first place.
    pub matched: u32,
}

impl FoundRepeat<'_> {
    /// The first of them.
    pub fn places(&self) -> impl Iterator<Item = FoundPlace> {
        let all = self.tokens as u32;
        self.places.chunks(words_a_place(self.is_near)).map(move |place| match *place {
            [at, lengths] => FoundPlace { at, tokens: (lengths >> 32) as u32, matched: lengths as u32 },
            _ => FoundPlace { at: place[0], tokens: all, matched: all },
        })
    }
}

/// The words of a repeat before its places: its size, its count, and the number of its documents.
const HEAD: usize = 3;

/// The words of a place: its first token, and its two lengths if they differ from that of the repeat.
fn words_a_place(is_near: bool) -> usize {
    1 + usize::from(is_near)
}

impl Found {
    /// None yet. What does not fit a part of this memory goes to a file.
    pub fn new(is_near: bool, memory: u64, folder: Option<&Path>) -> Self {
        let words = Stored::new("passages", memory / 4, folder);
        let most = (memory / 4).saturating_add(BYTES_BESIDE) / size_of::<Entry>() as u64;
        let (left_out, below_min_documents, overlapping) = Default::default();
        Found { words, index: Vec::new(), is_near, left_out, below_min_documents, overlapping, most, error: None }
    }

    /// Adds one that is near: its size, the numbers of its places and of their documents, and the first places, of which the first one is
    /// the first.
    ///
    /// # Errors
    /// The file cannot be written, or there are too many for the memory.
    pub fn push_near(&mut self, size: u64, [count, documents]: [u64; 2], places: &[FoundPlace]) -> Result<(), Error> {
        let FoundPlace { at: first, tokens, .. } = places[0];
        let mut words = vec![size, count, documents];
        words.extend(
            places.iter().flat_map(|place| [place.at, u64::from(place.tokens) << 32 | u64::from(place.matched)]),
        );
        self.add(&words, &[Entry { first, at: 0, tokens, places: places.len() as u32 }], 0)
    }

    /// Puts them in order. A place has one repeat of each length.
    pub fn sort(&mut self) {
        self.index.par_sort_unstable_by_key(|entry| (entry.first, std::cmp::Reverse(entry.tokens), entry.at));
    }

    /// The first place of one of them.
    pub fn first(&self, repeat: usize) -> Range<u64> {
        let Entry { first, tokens, .. } = self.index[repeat];
        first..first + u64::from(tokens)
    }

    /// Leaves out those that are mostly in longer ones, given which these are.
    pub fn leave_out_overlapping(&mut self, left_out: &[bool]) {
        let (before, mut left_out) = (self.index.len(), left_out.iter());
        self.index.retain(|_| left_out.next() == Some(&false));
        self.overlapping = (before - self.index.len()) as u64;
    }

    /// Their number.
    pub fn len(&self) -> usize {
        self.index.len()
    }

    /// The number of places of one of them that are kept.
    pub fn places(&self, repeat: usize) -> u64 {
        u64::from(self.index[repeat].places)
    }

    /// The bytes in a file.
    pub fn bytes_spilled(&self) -> u64 {
        self.words.bytes_spilled()
    }

    /// The bytes in memory.
    pub fn bytes_held(&self) -> u64 {
        (self.words.in_memory().map_or(0, size_of_val) + size_of_val(&self.index[..])) as u64
    }

    /// Moves the places to a file.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn spill(&mut self) -> Result<(), Error> {
        self.words.spill()
    }

    /// Calls `each` with some of them, in their order: by their first places, longer ones first.
    ///
    /// # Errors
    /// Those of `each`, or the temporary file cannot be read.
    pub fn for_each(
        &self,
        range: Range<usize>,
        buffer: &mut Buffer,
        mut each: impl FnMut(FoundRepeat<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        for &Entry { at, tokens, places, .. } in &self.index[range] {
            let length = HEAD + places as usize * words_a_place(self.is_near);
            let words = self.words.read(at..at + length as u64, buffer)?;
            let (head, places) = words.split_at(HEAD);
            let (tokens, is_near) = (u64::from(tokens), self.is_near);
            each(FoundRepeat { tokens, size: head[0], count: head[1], documents: head[2], places, is_near })?;
        }
        Ok(())
    }

    fn add(&mut self, words: &[u64], index: &[Entry], left_out: u64) -> Result<(), Error> {
        let start = self.words.len();
        if (self.index.len() + index.len()) as u64 > self.most {
            let message = "the passages do not fit `memory`: allow more, or raise `min-words` so that fewer are found";
            return Err(Error::Full(format!("{message} ({} found)", self.index.len() + index.len())));
        }
        self.words.append(words)?;
        self.index.extend(index.iter().map(|entry| Entry { at: start + entry.at, ..*entry }));
        self.left_out += left_out;
        Ok(())
    }
}

/// Collects the repeats of one group. What it gathers of places goes up the tree of what follows them.
pub(super) trait Collect {
    type Gathered;

    /// Whether it needs the number of documents of each repeat.
    const NEEDS_DOCUMENTS: bool;

    /// What is gathered of one place.
    fn of_place(&self, anchor: u32) -> Self::Gathered;

    /// What is gathered of the places of both.
    fn join(&self, gathered: &mut Self::Gathered, other: Self::Gathered);

    /// Takes a repeat, with what was gathered of its places. Of repeats that stand in one another, the longer one comes first.
    fn repeat(&mut self, text: &Text, repeat: &Repeated, gathered: &mut Self::Gathered);
}

/// A repeat that is found: from `depth` tokens before its anchors on.
pub(super) struct Repeated {
    depth: u64,
    pub tokens: u64,
    size: u64,
    count: u64,
    /// The number of different documents that its places are in; 0 if it is not [needed](Collect::NEEDS_DOCUMENTS).
    documents: u64,
}

impl Repeated {
    /// Where it begins that has this anchor.
    pub fn start(&self, text: &Text, anchor: u32) -> u64 {
        text.anchors[anchor as usize].at - self.depth
    }
}

/// The repeats that one thread found, until they are added to the others.
struct Outbox<'a> {
    options: &'a FindOptions,
    found: &'a Mutex<Found>,
    words: Vec<u64>,
    index: Vec<Entry>,
    left_out: u64,
    /// The number of words after which they are added.
    at_once: usize,
}

/// The words that all threads together hold back before they are added, or twice as many: a thread that waits for others to sort the
/// places of a k-gram takes up another one. Tests use fewer.
const AT_ONCE: usize = if cfg!(test) { 1 << 6 } else { 1 << 17 };

/// The first places of a repeat.
struct First {
    /// Ascending.
    anchors: Gathered,
    /// The number of repeats so far that have the same first place, and overlap themselves.
    overlapping: u32,
}

impl Collect for Outbox<'_> {
    type Gathered = First;

    const NEEDS_DOCUMENTS: bool = true;

    fn of_place(&self, anchor: u32) -> First {
        First { anchors: Gathered::One(anchor), overlapping: 0 }
    }

    fn join(&self, first: &mut First, mut other: First) {
        if other.anchors.all()[0] < first.anchors.all()[0] {
            std::mem::swap(first, &mut other);
        }
        // The second one shows whether the repeat overlaps itself.
        let most = self.options.most_places.max(2);
        let anchors = first.anchors.list();
        match other.anchors.all() {
            &[anchor] => anchors.insert(anchors.partition_point(|&own| own < anchor), anchor),
            others => {
                anchors.extend_from_slice(others);
                // Two sorted runs, which this finds.
                anchors.sort();
            }
        }
        anchors.truncate(most);
    }

    fn repeat(&mut self, text: &Text, repeat: &Repeated, first: &mut First) {
        let &Repeated { tokens, size, count, documents, .. } = repeat;
        let start = |anchor| repeat.start(text, anchor);
        let anchors = first.anchors.all();
        if start(anchors[1]) - start(anchors[0]) < tokens {
            first.overlapping += 1;
            if first.overlapping as usize > self.options.most_overlapping {
                self.left_out += 1;
                return;
            }
        }
        let places = &anchors[..anchors.len().min(self.options.most_places)];
        self.index.push(Entry {
            first: start(anchors[0]),
            at: self.words.len() as u64,
            tokens: tokens as u32,
            places: places.len() as u32,
        });
        self.words.extend([size, count, documents]);
        self.words.extend(places.iter().map(|&anchor| start(anchor)));
        if self.words.len() >= self.at_once {
            self.flush();
        }
    }
}

impl Outbox<'_> {
    fn flush(&mut self) {
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(error) = found.add(&self.words, &self.index, self.left_out) {
            found.error.get_or_insert(error);
        }
        self.words.clear();
        self.index.clear();
        self.left_out = 0;
    }
}

impl Drop for Outbox<'_> {
    fn drop(&mut self) {
        self.flush();
    }
}

/// Finds the repeats of a text whose groups are [sorted](order::sort). What does not fit a part of this memory goes to a file.
///
/// # Errors
/// A temporary file cannot be read or written, or there are too many repeats for the memory.
pub(super) fn find(text: &Text, options: &FindOptions, memory: u64, folder: Option<&Path>) -> Result<Found, Error> {
    let found = Mutex::new(Found::new(false, memory, folder));
    let at_once = AT_ONCE / rayon::current_num_threads();
    let outbox = || Outbox { options, found: &found, words: Vec::new(), index: Vec::new(), left_out: 0, at_once };
    let below_min_documents = search_groups(text, options, outbox, |_| Ok(()))?;
    let mut found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    found.below_min_documents = below_min_documents;
    if let Some(error) = found.error.take() {
        return Err(error);
    }
    found.sort();
    Ok(found)
}

/// Collects the places that stand in a repeat, each with the longest one that begins a number of tokens before it.
struct Covering {
    references: u32,
    ranges: Vec<(u64, u64)>,
    /// The number of ranges after which they are reduced.
    most: usize,
}

impl Collect for Covering {
    type Gathered = Gathered;

    const NEEDS_DOCUMENTS: bool = false;

    fn of_place(&self, anchor: u32) -> Gathered {
        Gathered::One(anchor)
    }

    fn join(&self, anchors: &mut Gathered, mut other: Gathered) {
        if anchors.all().len() < other.all().len() {
            std::mem::swap(anchors, &mut other);
        }
        anchors.list().extend_from_slice(other.all());
    }

    fn repeat(&mut self, text: &Text, repeat: &Repeated, anchors: &mut Gathered) {
        let here = anchors.list().drain(..).filter(|&anchor| anchor >= self.references);
        self.ranges.extend(here.map(|anchor| (repeat.start(text, anchor), repeat.tokens)));
        reduce_beyond(&mut self.ranges, &mut self.most, join_overlapping);
    }
}

/// The tokens that stand in repeats: ranges of tokens in all documents together, ascending, those that touch joined unless they are in
/// different documents. Those of a [reference](FindOptions::references) are left out. Then the number of repeats in too few documents.
///
/// # Errors
/// A temporary file cannot be read, or there are too many for this memory.
pub(super) fn covered(text: &Text, options: &FindOptions, memory: u64) -> Result<(Vec<Range<u64>>, u64), Error> {
    let found = Mutex::new(Reduced::new(memory, join_overlapping));
    let collect = || Covering { references: options.references.unwrap_or(0), ranges: Vec::new(), most: 0 };
    let below_min_documents = search_groups(text, options, collect, |Covering { ranges, most, .. }| {
        if ranges.is_empty() {
            return Ok(());
        }
        *most = 0;
        // What was found at one anchor overlaps: it is kept once.
        join_overlapping(ranges);
        found.lock().unwrap_or_else(PoisonError::into_inner).append(ranges)
    })?;
    let mut found = found.into_inner().unwrap_or_else(PoisonError::into_inner).finish()?;
    found.par_sort_unstable();
    let mut ranges: Vec<Range<u64>> = Vec::new();
    let (mut document, mut end_of_document) = (0, 0);
    for (start, tokens) in found {
        let is_of_last = start < end_of_document;
        while start >= end_of_document {
            document += 1;
            end_of_document = text.starts[document];
        }
        match ranges.last_mut() {
            Some(last) if is_of_last && start <= last.end => last.end = last.end.max(start + tokens),
            _ => ranges.push(start..start + tokens),
        }
    }
    Ok((ranges, below_min_documents))
}

/// Sorts ranges, each a start and a length, and joins those that overlap: they end within their document.
fn join_overlapping(ranges: &mut Vec<(u64, u64)>) {
    ranges.sort_unstable();
    ranges.dedup_by(|next, last| {
        let joins = next.0 < last.0 + last.1;
        last.1 = if joins { last.1.max(next.0 + next.1 - last.0) } else { last.1 };
        joins
    });
}

/// Searches the places of each k-gram on all threads. `collect` makes a collector, which is used for many k-grams; `each` is called with it
/// after each of them, and takes what was found. Returns the number of repeats that were left out because they are in too few documents.
///
/// # Errors
/// Those of `each`, or the temporary file of the tokens cannot be read.
pub(super) fn search_groups<C: Collect>(
    text: &Text,
    options: &FindOptions,
    collect: impl Fn() -> C + Send + Sync,
    each: impl Fn(&mut C) -> Result<(), Error> + Send + Sync,
) -> Result<u64, Error> {
    let groups = text.slots.par_chunk_by(|slot, _| slot.right_common != LAST);
    let below_min_documents = AtomicU64::new(0);
    groups.try_for_each_init(
        || (collect(), text.tokens()),
        |(collect, read), slots| {
            let mut search = Search { text, options, collect, read, below_min_documents: 0 };
            search.group(slots)?;
            if search.below_min_documents > 0 {
                below_min_documents.fetch_add(search.below_min_documents, Ordering::Relaxed);
            }
            each(collect)
        },
    )?;
    Ok(below_min_documents.into_inner())
}

/// The number of places of a k-gram from which on several threads sort them: few have so many, and one can have most of them.
const MIN_PARALLEL_PLACES: usize = if cfg!(test) { 1 << 6 } else { 1 << 14 };

/// The search for the repeats whose first window selects one k-gram.
struct Search<'s, 't, C> {
    text: &'s Text,
    options: &'s FindOptions,
    collect: &'s mut C,
    read: &'s mut Cached<'t>,
    /// The number of repeats in too few documents.
    below_min_documents: u64,
}

impl<C: Collect> Search<'_, '_, C> {
    fn group(&mut self, slots: &[Slot]) -> Result<(), Error> {
        let (text, mut branch) = (self.text, Vec::new());
        let mut result = Ok(());
        tree(
            slots.len(),
            |at| u32::from(slots[at].left_common),
            |_| (),
            |_, ()| (),
            |depth, range, ()| {
                // No window reaches further.
                if depth >= text.window() as u64 || result.is_err() {
                    return;
                }
                branch.clear();
                let mut number = 0u32;
                for at in range.clone() {
                    number += u32::from(at > range.start && u64::from(slots[at - 1].left_common) == depth);
                    let [first, last] = text.anchors[slots[at].left as usize].offsets;
                    if (u64::from(first)..=u64::from(last)).contains(&depth) {
                        branch.push((slots[at].left, number));
                    }
                }
                let is_branching = branch.first().is_some_and(|first| branch.iter().any(|other| other.1 != first.1));
                if is_branching {
                    result = self.follow(depth, &mut branch);
                }
            },
        );
        result
    }

    /// The repeats that begin `depth` tokens before these places. Each has the number of its branch to the left.
    fn follow(&mut self, depth: u64, places: &mut [(u32, u32)]) -> Result<(), Error> {
        let Search { text, options, collect, read, below_min_documents } = self;
        let compare = |a: &(u32, u32), b: &(u32, u32)| text.compare_right(a.0, b.0).then(a.0.cmp(&b.0));
        // No document has more tokens.
        let common = |pair: &[(u32, u32)]| text.right_common(pair[0].0, pair[1].0) as u32;
        let common: Vec<u32> = match places.len() {
            MIN_PARALLEL_PLACES.. => {
                places.par_sort_unstable_by(compare);
                places.par_windows(2).map(common).collect()
            }
            _ => {
                places.sort_unstable_by(compare);
                places.windows(2).map(common).collect()
            }
        };
        let sum_up = |counts: &dyn Fn(usize) -> bool| {
            let sums = (0..places.len()).scan(0u32, |sum, at| {
                *sum += u32::from(counts(at));
                Some(*sum)
            });
            sums.collect::<Vec<u32>>()
        };
        // The number of places in the reference up to each.
        let references = options.references.map(|bound| sum_up(&|at| places[at].0 < bound));
        // From here on, each place has the number of changes of the branch up to it.
        let (mut changes, mut branch) = (0, places[0].1);
        for place in &mut *places {
            changes += u32::from(place.1 != branch);
            branch = std::mem::replace(&mut place.1, changes);
        }
        let distinct = (C::NEEDS_DOCUMENTS || options.min_documents > 1).then(|| {
            let document = |at: usize| text.anchors[places[at].0 as usize].document;
            Distinct::new(&common, document, places.len() >= MIN_PARALLEL_PLACES)
        });
        let is_on_both_sides = |range: &Range<usize>| {
            references.as_ref().is_none_or(|sums| {
                let before = range.start.checked_sub(1).map_or(0, |at| sums[at]);
                let inside = (sums[range.end - 1] - before) as usize;
                0 < inside && inside < range.len()
            })
        };
        let (mut result, collect) = (Ok(()), std::cell::RefCell::new(&mut **collect));
        tree(
            places.len(),
            |at| common[at],
            |at| collect.borrow().of_place(places[at].0),
            |gathered, other| collect.borrow().join(gathered, other),
            |length, range, gathered| {
                let is_maximal = places[range.start].1 != places[range.end - 1].1;
                let tokens = depth + length;
                if !is_maximal || tokens < text.shortest() || !is_on_both_sides(&range) || result.is_err() {
                    return;
                }
                match text.size(places[range.start].0, depth, length, read) {
                    Ok(size) if size >= options.min_size => {
                        let documents = distinct.as_ref().map(|distinct| distinct.count(&range));
                        if documents.is_some_and(|documents| documents < options.min_documents) {
                            *below_min_documents += 1;
                            return;
                        }
                        let (count, documents) = (range.len() as u64, documents.unwrap_or_default());
                        let repeat = Repeated { depth, tokens, size, count, documents };
                        collect.borrow_mut().repeat(text, &repeat, gathered);
                    }
                    Ok(_) => {}
                    Err(error) => result = Err(error),
                }
            },
        );
        result
    }
}

/// Calls `each` with the depth and the range of every inner node of a tree of sorted strings, given their number and the common length of
/// each and the next one, and with what is gathered of its strings. Inner nodes come before those around them.
fn tree<G>(
    strings: usize,
    common: impl Fn(usize) -> u32,
    of_string: impl Fn(usize) -> G,
    join: impl Fn(&mut G, G),
    mut each: impl FnMut(u64, Range<usize>, &mut G),
) {
    let mut open: Vec<(u32, u32, G)> = Vec::new();
    for at in 0..strings {
        let (mut gathered, mut start) = (of_string(at), at as u32);
        let depth = (at + 1 < strings).then(|| common(at));
        while let Some((inner, first, mut inside)) = open.pop_if(|(inner, ..)| depth.is_none_or(|depth| *inner > depth))
        {
            join(&mut inside, gathered);
            each(u64::from(inner), first as usize..at + 1, &mut inside);
            (gathered, start) = (inside, first);
        }
        match (depth, open.last_mut()) {
            (Some(depth), Some((outer, _, outside))) if *outer == depth => join(outside, gathered),
            (Some(depth), _) => open.push((depth, start, gathered)),
            (None, _) => {}
        }
    }
}

/// The plain version.
#[cfg(test)]
pub(super) mod oracle {
    use super::{Place, Repeat};
    use crate::hash::mix;
    use proptest::prelude::*;
    use std::collections::{BTreeMap, BTreeSet};

    /// All repeats by their definition: of every string, all places.
    pub fn by_definition(documents: &[&[u64]], shortest: usize) -> Vec<Repeat> {
        let mut all: BTreeMap<&[u64], Vec<Place>> = BTreeMap::new();
        for (number, document) in documents.iter().enumerate() {
            for start in 0..document.len() {
                for end in start + shortest..=document.len() {
                    all.entry(&document[start..end]).or_default().push(Place { document: number, token: start });
                }
            }
        }
        let differ = |places: &[Place], next: &dyn Fn(&Place) -> Option<u64>| {
            places.iter().any(|place| next(place).is_none() || next(place) != next(&places[0]))
        };
        let mut repeats = Vec::new();
        for (string, places) in all.into_iter().filter(|(_, places)| places.len() > 1) {
            let before = |place: &Place| documents[place.document][..place.token].last().copied();
            let after = |place: &Place| documents[place.document].get(place.token + string.len()).copied();
            if differ(&places, &before) && differ(&places, &after) {
                let documents: BTreeSet<usize> = places.iter().map(|place| place.document).collect();
                let documents = documents.len();
                repeats.push(Repeat { tokens: string.len(), count: places.len(), documents, places });
            }
        }
        repeats.sort_by(|a, b| (a.places[0], b.tokens).cmp(&(b.places[0], a.tokens)));
        repeats
    }

    /// Documents of few different tokens, with copies of parts of others, and with periods.
    pub fn documents() -> impl Strategy<Value = Vec<Vec<u64>>> {
        let random = (1u64..5, prop::collection::vec(any::<u64>(), 0..40))
            .prop_map(|(kinds, tokens)| tokens.into_iter().map(|token| mix(token % kinds)).collect::<Vec<_>>());
        let periodic = (1usize..4, 0usize..40)
            .prop_map(|(period, length)| (0..length).map(|at| mix((at % period) as u64)).collect::<Vec<_>>());
        let cuts = prop::collection::vec((any::<prop::sample::Index>(), 0usize..40, 0usize..40), 0..6);
        (prop::collection::vec(prop_oneof![3 => random, 1 => periodic], 1..6), cuts).prop_map(
            |(mut documents, cuts)| {
                for (of, start, length) in cuts {
                    let document = &documents[of.index(documents.len())];
                    let (start, end) = (start.min(document.len()), (start + length).min(document.len()));
                    let mut copy = vec![mix(77 + start as u64)];
                    copy.extend_from_slice(&document[start..end]);
                    copy.push(mix(99 + length as u64));
                    documents.push(copy);
                }
                documents
            },
        )
    }
}

#[cfg(test)]
mod tests {
    use super::oracle::{by_definition, documents};
    use super::*;
    use crate::hash::mix;
    use proptest::prelude::*;

    fn check(documents: &[Vec<u64>], shortest: usize, gram: usize) -> Result<(), TestCaseError> {
        let documents: Vec<&[u64]> = documents.iter().map(Vec::as_slice).collect();
        let expected = by_definition(&documents, shortest);
        let by_gram = Selector::with_gram(shortest, gram, false);
        // Without any memory, tokens and passages are in files.
        for memory in [u64::MAX, 0] {
            let found = repeats_by(&documents, by_gram.clone(), usize::MAX, memory).unwrap();
            prop_assert_eq!(&found, &expected, "{:?}", documents);
        }
        let mut found = repeats(&documents, shortest, 2);
        prop_assert_eq!(found.len(), expected.len());
        for (found, expected) in found.iter_mut().zip(expected) {
            let numbers = |repeat: &Repeat| (repeat.tokens, repeat.count, repeat.documents);
            prop_assert_eq!(numbers(found), numbers(&expected));
            prop_assert_eq!(&found.places[..], &expected.places[..found.count.min(2)]);
        }
        Ok(())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn exactly_the_maximal_repeats(documents in documents(), shortest in 1usize..9, gram in 1usize..9) {
            check(&documents, shortest, gram.min(shortest))?;
        }
    }

    #[test]
    fn empty_and_short() {
        assert!(repeats(&[], 5, 1).is_empty());
        assert!(repeats(&[&[], &[1, 2], &[1, 2]], 3, 1).is_empty());
        assert_eq!(
            repeats(&[&[1, 2], &[], &[1, 2]], 0, 0),
            [Repeat { tokens: 2, count: 2, documents: 2, places: vec![] }]
        );
    }

    /// The number of comparisons does not depend on the square of the number of copies, nor of their length.
    #[test]
    fn many_copies_and_long_ones() {
        let page: Vec<u64> = (0..200).map(mix).collect();
        let copies: Vec<Vec<u64>> =
            (0..20_000).map(|n| [&[mix(1_000_000 + n)], &page[..], &[mix(2_000_000 + n)]].concat()).collect();
        let documents: Vec<&[u64]> = copies.iter().map(Vec::as_slice).collect();
        let found = repeats(&documents, 50, 3);
        let places = (0..3).map(|document| Place { document, token: 1 }).collect();
        assert_eq!(found, [Repeat { tokens: 200, count: 20_000, documents: 20_000, places }]);

        let long: Vec<u64> = (0..500_000).map(|n| mix(n % 400_000)).collect();
        let found = repeats(&[&long, &long], 50, 9);
        let numbers = found.iter().map(|repeat| (repeat.tokens, repeat.count, repeat.documents));
        assert_eq!(numbers.collect::<Vec<_>>(), [(500_000, 2, 2), (100_000, 4, 2)]);

        // A period of one: as many repeats as tokens, found without comparing all with all.
        let same = vec![7; 20_000];
        assert_eq!(repeats(&[&same], 50, 1).len(), 20_000 - 50);
    }
}
