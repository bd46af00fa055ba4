//! Counting the texts of terms on several threads, for a lexicon file.
//!
//! Terms that do not fit the memory go to a temporary file, all at once, in the order of their bytes; such portions are merged at the
//! end.

use super::TermMemory;
use crate::error::Error;
use crate::kernel::heap;
use crate::postings::{Buffer, Spilled, sort};
use crate::tokenizer::Tokens;
use std::cmp::Reverse;
use std::collections::binary_heap::PeekMut;
use std::collections::{BTreeMap, BinaryHeap, HashMap};
use std::fmt;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError, RwLock};

/// The counted terms of a collection, from which a lexicon file is written.
pub struct Terms {
    documents: u64,
    counted: Counted,
    /// The number of terms with each document frequency.
    of_frequencies: BTreeMap<u32, u64>,
}

/// The terms and their document frequencies, ascending by the bytes of the term.
enum Counted {
    Held(Vec<(Box<str>, u32)>),
    Stored(Texts),
}

impl fmt::Debug for Terms {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Terms").field("documents", &self.documents).field("terms", &self.len(1)).finish_non_exhaustive()
    }
}

impl Terms {
    fn new(documents: u64, counted: Counted) -> Result<Self, Error> {
        let mut terms = Terms { documents, counted, of_frequencies: BTreeMap::new() };
        let mut of_frequencies = BTreeMap::new();
        terms.for_each(1, |_, df| {
            *of_frequencies.entry(df).or_default() += 1;
            Ok(())
        })?;
        terms.of_frequencies = of_frequencies;
        Ok(terms)
    }

    /// The number of documents counted; exact copies count once.
    pub fn documents(&self) -> u64 {
        self.documents
    }

    /// The number of distinct terms in at least `min_df` documents.
    pub fn len(&self, min_df: u32) -> u64 {
        self.of_frequencies.range(min_df..).map(|(_, terms)| terms).sum()
    }

    /// Calls `each` with the terms in at least `min_df` documents and their document frequencies, in the order of their bytes.
    ///
    /// # Errors
    /// Those of `each`, or the temporary file cannot be read.
    pub(super) fn for_each(
        &self,
        min_df: u32,
        mut each: impl FnMut(&str, u32) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut listed = |term: &str, df| if df >= min_df { each(term, df) } else { Ok(()) };
        match &self.counted {
            Counted::Held(terms) => terms.iter().try_for_each(|(term, df)| listed(term, *df)),
            Counted::Stored(texts) => {
                let mut reader = texts.reader(0..texts.file.bytes(), BUFFERED.end);
                while let Some((term, df)) = reader.next()? {
                    listed(&term, df)?;
                }
                Ok(())
            }
        }
    }
}

type Shard = HashMap<Box<str>, u32>;

/// Counts the texts of terms on several threads.
///
/// Memory: some 100 bytes for each distinct term, its text included unless it is long.
pub(crate) struct TermsBuilder {
    /// All threads add terms at the same time, or one moves all of them to the file.
    shards: RwLock<[Mutex<Shard>; SHARDS]>,
    /// The approximate bytes of memory of the shards, and their maximum.
    held: AtomicU64,
    most: u64,
    memory: TermMemory,
    spilled: Mutex<Option<(Texts, Vec<Range<u64>>)>>,
}

const SHARDS: usize = 1 << SHARD_BITS;
const SHARD_BITS: u32 = 5;

/// The number of terms after which a thread looks at the memory.
const ADDED_AT_ONCE: usize = 1 << 10;

/// The memory of a term beside its text: its place in a map, its block of the allocator, and its place while all are sorted.
const BYTES_A_TERM: u64 = 96;

impl TermsBuilder {
    /// No terms yet. What does not fit the memory goes to a file.
    pub fn new(memory: TermMemory) -> Self {
        TermsBuilder {
            shards: RwLock::default(),
            held: AtomicU64::new(0),
            most: memory.counting / 4 * 3,
            memory,
            spilled: Mutex::default(),
        }
    }

    /// Counts the terms of a document, each once however often it occurs. `order` is working memory, for 4 bytes each.
    ///
    /// # Errors
    /// The temporary file cannot be written.
    pub fn add(&self, tokens: &Tokens, order: &mut Vec<u32>) -> Result<(), Error> {
        let (hash, text) = (|i: u32| tokens.hashes()[i as usize], |i: u32| tokens.text(i as usize));
        order.clear();
        order.extend(0..u32::try_from(tokens.len()).unwrap_or(u32::MAX));
        order.sort_unstable_by_key(|&i| hash(i));
        // Different terms rarely have equal hashes.
        for run in order.chunk_by_mut(|&a, &b| hash(a) == hash(b)) {
            if run.iter().any(|&i| text(i) != text(run[0])) {
                run.sort_unstable_by_key(|&i| text(i));
            }
        }
        order.dedup_by(|a, b| hash(*a) == hash(*b) && text(*a) == text(*b));
        let shard_of = |i: u32| (hash(i) >> (u64::BITS - SHARD_BITS)) as usize;
        for of_shard in order.chunk_by(|&a, &b| shard_of(a) == shard_of(b)) {
            for terms in of_shard.chunks(ADDED_AT_ONCE) {
                self.add_to_shard(shard_of(terms[0]), terms.iter().map(|&i| text(i)));
                self.make_room()?;
            }
        }
        Ok(())
    }

    fn add_to_shard<'t>(&self, shard: usize, terms: impl Iterator<Item = &'t str>) {
        let shards = self.shards.read().unwrap_or_else(PoisonError::into_inner);
        let mut counts = shards[shard].lock().unwrap_or_else(PoisonError::into_inner);
        let mut more = 0;
        for term in terms {
            match counts.get_mut(term) {
                Some(count) => *count = count.saturating_add(1),
                None => {
                    more += BYTES_A_TERM + term.len() as u64;
                    counts.insert(term.into(), 1);
                }
            }
        }
        self.held.fetch_add(more, Ordering::Relaxed);
    }

    /// Moves all terms to the file, if they take too much memory.
    fn make_room(&self) -> Result<(), Error> {
        if self.held.load(Ordering::Relaxed) <= self.most {
            return Ok(());
        }
        let mut shards = self.shards.write().unwrap_or_else(PoisonError::into_inner);
        // Unless another thread did it meanwhile.
        if self.held.load(Ordering::Relaxed) <= self.most {
            return Ok(());
        }
        let terms = sorted(&mut shards);
        self.held.store(0, Ordering::Relaxed);
        let mut spilled = self.spilled.lock().unwrap_or_else(PoisonError::into_inner);
        let (texts, portions) = match &mut *spilled {
            Some(spilled) => spilled,
            None => spilled.insert((Texts::new(&self.memory)?, Vec::new())),
        };
        let start = texts.file.bytes();
        for (term, count) in terms {
            texts.push(&term, count)?;
        }
        texts.flush()?;
        portions.push(start..texts.file.bytes());
        // Each thread has freed what others allocated: without this, the next terms might take as much again.
        heap::return_what_is_kept();
        Ok(())
    }

    /// The terms of this many documents.
    ///
    /// # Errors
    /// The temporary file cannot be written, or not be read back.
    pub fn freeze(self, documents: u64) -> Result<Terms, Error> {
        let mut shards = self.shards.into_inner().unwrap_or_else(PoisonError::into_inner);
        let terms = sorted(&mut shards);
        drop(shards);
        let counted = match self.spilled.into_inner().unwrap_or_else(PoisonError::into_inner) {
            None => Counted::Held(terms),
            Some((texts, portions)) => Counted::Stored(texts.merged(&portions, terms, &self.memory)?),
        };
        Terms::new(documents, counted)
    }
}

/// Takes the terms of all shards, and sorts them.
fn sorted(shards: &mut [Mutex<Shard>; SHARDS]) -> Vec<(Box<str>, u32)> {
    let shards: Vec<Shard> = shards
        .iter_mut()
        .map(|shard| std::mem::take(shard.get_mut().unwrap_or_else(PoisonError::into_inner)))
        .collect();
    let mut terms = Vec::with_capacity(shards.iter().map(HashMap::len).sum());
    shards.into_iter().for_each(|shard| terms.extend(shard));
    sort(&mut terms);
    terms
}

/// The number of words that are written at once, and those of a portion that are read at once.
const WRITTEN: usize = 1 << 14;
const BUFFERED: Range<u64> = if cfg!(test) { 2..1 << 4 } else { 1 << 9..1 << 14 };

/// Texts with their counts in a file: the count, the length in bytes, the text, filled up to a whole word.
struct Texts {
    file: Spilled,
    buffer: Vec<u64>,
}

impl Texts {
    fn new(memory: &TermMemory) -> Result<Self, Error> {
        Ok(Texts { file: Spilled::new("terms", memory.folder.as_deref())?, buffer: Vec::new() })
    }

    fn push(&mut self, text: &str, count: u32) -> Result<(), Error> {
        self.buffer.extend([count.into(), text.len() as u64]);
        let (words, rest) = text.as_bytes().as_chunks();
        self.buffer.extend(words.iter().map(|&word| u64::from_le_bytes(word)));
        if !rest.is_empty() {
            let mut last = [0; 8];
            last[..rest.len()].copy_from_slice(rest);
            self.buffer.push(u64::from_le_bytes(last));
        }
        if self.buffer.len() >= WRITTEN { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<(), Error> {
        self.file.append(&self.buffer)?;
        self.buffer.clear();
        Ok(())
    }

    /// Merges portions of ascending texts, and ascending texts in memory, into one file. The counts of equal texts are added up.
    fn merged(self, portions: &[Range<u64>], held: Vec<(Box<str>, u32)>, memory: &TermMemory) -> Result<Texts, Error> {
        let words = memory.kept / 8 / portions.len().max(1) as u64;
        let words = words.clamp(BUFFERED.start, BUFFERED.end);
        let mut readers: Vec<Reader<'_>> = portions.iter().map(|portion| self.reader(portion.clone(), words)).collect();
        let mut held = held.into_iter();
        let mut next = |number: usize| match readers.get_mut(number) {
            Some(reader) => reader.next(),
            None => Ok(held.next()),
        };
        let mut heap = BinaryHeap::new();
        for number in 0..=portions.len() {
            heap.extend(next(number)?.map(|(text, count)| Reverse((text, number, count))));
        }
        let mut merged = Texts::new(memory)?;
        let mut last: Option<(Box<str>, u32)> = None;
        while let Some(mut least) = heap.peek_mut() {
            let number = least.0.1;
            let Reverse((text, _, count)) = match next(number)? {
                Some((text, count)) => std::mem::replace(&mut *least, Reverse((text, number, count))),
                None => PeekMut::pop(least),
            };
            match &mut last {
                Some((same, known)) if *same == text => *known = known.saturating_add(count),
                _ => {
                    let before = last.replace((text, count));
                    before.map_or(Ok(()), |(text, count)| merged.push(&text, count))?;
                }
            }
        }
        last.map_or(Ok(()), |(text, count)| merged.push(&text, count))?;
        merged.flush()?;
        Ok(merged)
    }

    fn reader(&self, portion: Range<u64>, words: u64) -> Reader<'_> {
        Reader { file: &self.file, left: portion, at_once: words, words: Vec::new(), at: 0 }
    }
}

/// Reads a portion of texts.
struct Reader<'a> {
    file: &'a Spilled,
    /// The bytes of the portion that were not read.
    left: Range<u64>,
    at_once: u64,
    /// What was read, up to `at` already used.
    words: Vec<u64>,
    at: usize,
}

impl Reader<'_> {
    fn next(&mut self) -> Result<Option<(Box<str>, u32)>, Error> {
        if self.at == self.words.len() && self.left.is_empty() {
            return Ok(None);
        }
        let &[count, length] = self.take(2)? else { unreachable!("every text has a count and a length") };
        let mut bytes = Vec::with_capacity(8 * (length as usize).div_ceil(8));
        for word in self.take((length as usize).div_ceil(8))? {
            bytes.extend(word.to_le_bytes());
        }
        bytes.truncate(length as usize);
        let text = String::from_utf8(bytes).map_err(|_| Error::io("cannot read terms back", changed()))?;
        Ok(Some((text.into(), count as u32)))
    }

    /// The next words.
    fn take(&mut self, count: usize) -> Result<&[u64], Error> {
        let missing = count.saturating_sub(self.words.len() - self.at) as u64;
        if missing > 0 {
            self.words.drain(..self.at);
            self.at = 0;
            let words = missing.max(self.at_once).min((self.left.end - self.left.start) / 8);
            let mut buffer = Buffer::default();
            self.words.extend_from_slice(self.file.read(self.left.start, words as usize, &mut buffer)?);
            self.left.start += 8 * words;
        }
        let words = self.words.get(self.at..self.at + count);
        self.at += count;
        words.ok_or_else(|| Error::io("cannot read terms back", changed()))
    }
}

/// The error of a temporary file that is not as it was written.
fn changed() -> std::io::Error {
    crate::postings::damaged()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokenizer::TokenDetail;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, cases: 100, ..ProptestConfig::default() })]
        /// Whatever fits in memory, the terms are those of a map.
        #[test]
        fn terms_are_those_of_a_map(
            documents in prop::collection::vec(prop::collection::vec("[a-d]{1,3}|[a-é]{7,20}", 0..40), 0..20),
            counting in prop_oneof![Just(0u64), Just(1000), Just(5000), Just(1 << 20)],
        ) {
            let builder = TermsBuilder::new(TermMemory { counting, kept: 0, folder: None });
            let mut expected = BTreeMap::<&str, u32>::new();
            let (mut tokens, mut order) = (Tokens::new(TokenDetail::Texts, 0), vec![7]);
            for document in &documents {
                tokens.clear();
                document.iter().for_each(|term| tokens.push(term, 0..0));
                builder.add(&tokens, &mut order).unwrap();
                let own: BTreeSet<&str> = document.iter().map(String::as_str).collect();
                own.into_iter().for_each(|term| *expected.entry(term).or_default() += 1);
            }
            let terms = builder.freeze(9).unwrap();
            prop_assert!(counting > 0 || expected.is_empty() == matches!(terms.counted, Counted::Held(_)));
            for min_df in [1, 2, 4] {
                let mut listed = Vec::new();
                terms.for_each(min_df, |term, df| {
                    listed.push((term.to_string(), df));
                    Ok(())
                }).unwrap();
                let expected = expected.iter().filter(|(_, df)| **df >= min_df);
                let expected: Vec<(String, u32)> = expected.map(|(term, df)| (term.to_string(), *df)).collect();
                prop_assert_eq!(terms.len(min_df), expected.len() as u64);
                prop_assert_eq!(listed, expected);
            }
            prop_assert_eq!(terms.documents(), 9);
        }
    }
}
