//! Counting terms on several threads.
//!
//! ```text
//! tokens → tally of a thread → shards of all threads → lexicon
//!                                 ↓ full                  ↑ merged
//!                              ascending rows (term, count) in a file
//! ```
//!
//! In texts, most tokens are from a few frequent terms. A tally of these fits the cache of a processor; the whole does
//! not. So few counts reach the whole, and in its order.
//!
//! Terms that do not fit the memory go to a temporary file, a shard at a time: external sorting with early aggregation
//! (Bitton & DeWitt, *Duplicate record elimination in large data files*, TODS 8(2), 1983). The result is the same.

use super::stored::Writer;
use super::table::{Table, spread};
use super::{Frequencies, Lexicon, PREFETCH_AHEAD, SHARD_BITS, Shards, shard_of};
use crate::error::Error;
use crate::postings::Portions;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// Counts terms on several threads. Each thread has a [`Tally`] of its own, which is added to the whole when it is
/// large.
pub(crate) struct LexiconBuilder {
    shards: Vec<Mutex<Table>>,
    /// The number of terms from which a tally is large.
    large: usize,
    /// Tallies that are not in use.
    idle: Mutex<Vec<Tally>>,
    /// The new count of a term that is counted again.
    combine: fn(u32, u32) -> u32,
    bound: Option<Bound>,
}

/// The memory for the terms of a collection.
#[derive(Clone, Debug)]
pub(crate) struct TermMemory {
    /// While they are counted, in bytes.
    pub counting: u64,
    /// Of the lexicon, in bytes.
    pub kept: u64,
    /// The folder of the temporary file for those that do not fit, or that of the system.
    pub folder: Option<PathBuf>,
}

impl TermMemory {
    /// A part of the memory of a run, and of what the process may take in addition.
    pub fn of(memory: u64, folder: Option<&Path>) -> Self {
        let folder = folder.map(Path::to_path_buf);
        TermMemory { counting: memory / 2 + COUNTING_BYTES, kept: memory / 8 + KEPT_BYTES, folder }
    }
}

/// What the promise about the memory of the process allows for the terms that are counted, in addition to a share of the budget, and
/// for those of the lexicon.
const COUNTING_BYTES: u64 = 32 << 20;
const KEPT_BYTES: u64 = 8 << 20;

/// What does not fit the memory.
struct Bound {
    memory: TermMemory,
    /// Bytes of memory of the shards.
    held: AtomicU64,
    /// The file, and the numbers of the portions of each shard.
    spilled: Mutex<(Portions<2>, Vec<Vec<usize>>)>,
}

/// The terms of some documents, counted by one thread.
#[derive(Default)]
pub(crate) struct Tally {
    counts: Table,
    documents: u32,
}

/// The number of terms from which a tally is large if memory suffices: it takes 2 MB, or 4 with the terms of its last document.
const LARGE: usize = 1 << 16;

/// The memory of a term of a tally at most, in bytes, with that for moving it.
const BYTES_A_TALLIED: u64 = 64;

/// The share of the memory for tallies.
const TALLY_SHARE: u64 = 8;

/// So many terms of a shard are added in their order.
const IN_ORDER: usize = 1 << 11;

/// A smaller shard grows, whatever the memory: many small portions would take more to merge. Tests use less, so that a few terms are
/// many portions.
const LEAST_BYTES_OF_SHARD: u64 = if cfg!(test) { 1 << 10 } else { 1 << 16 };

impl Tally {
    /// Counts the terms of a document, each once however often it occurs.
    fn add(&mut self, terms: &[u64]) {
        self.documents += 1;
        for terms in terms.chunks(PREFETCH_AHEAD) {
            terms.iter().for_each(|&term| self.counts.fetch(term));
            terms.iter().for_each(|&term| self.counts.count(term, self.documents));
        }
    }
}

impl LexiconBuilder {
    /// Counts any number of terms.
    pub fn new() -> Self {
        let shards = Shards::default().0.into_iter().map(Mutex::new).collect();
        let combine = u32::saturating_add;
        LexiconBuilder { shards, large: LARGE, idle: Mutex::default(), combine, bound: None }
    }

    /// Counts any number of terms within this memory, on this many threads.
    pub fn within(memory: TermMemory, threads: usize) -> Self {
        let a_tally = memory.counting / TALLY_SHARE / threads.max(1) as u64;
        let large = usize::try_from(a_tally / BYTES_A_TALLIED).unwrap_or(LARGE).clamp(1 << 10, LARGE);
        let file = Portions::new("terms", memory.folder.as_deref());
        let spilled = Mutex::new((file, vec![Vec::new(); 1 << SHARD_BITS]));
        LexiconBuilder { large, bound: Some(Bound { memory, held: AtomicU64::new(0), spilled }), ..Self::new() }
    }

    /// The memory for counting, in bytes.
    pub fn bytes_for_counting(&self) -> u64 {
        self.bound.as_ref().map_or(u64::MAX, |bound| bound.memory.counting)
    }

    /// Keeps the greatest of the counts of a term, instead of their sum.
    pub fn of_greatest(self) -> Self {
        LexiconBuilder { combine: u32::max, ..self }
    }

    /// Lends a tally for counting the terms of a batch of fewer than 2³¹ documents.
    pub fn tally(&self) -> Tally {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default()
    }

    /// Takes a tally back.
    pub fn give_back(&self, tally: Tally) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(tally);
    }

    /// Counts the terms of a document, each once however often it occurs.
    ///
    /// # Errors
    /// The temporary file cannot be written.
    pub fn count(&self, tally: &mut Tally, terms: &[u64]) -> Result<(), Error> {
        tally.add(terms);
        // The numbers of documents must not run out either.
        let is_large = tally.counts.len() > self.large || tally.documents > u32::MAX / 2;
        if is_large { self.add(tally) } else { Ok(()) }
    }

    /// As [`count`](Self::count), for a document of so many terms that a tally would take too much memory.
    ///
    /// # Errors
    /// The temporary file cannot be written.
    ///
    /// # Cost
    /// A sort.
    pub fn count_long(&self, mut terms: Vec<u64>) -> Result<(), Error> {
        terms.sort_unstable_by_key(|&term| spread(term));
        terms.dedup();
        self.put(&terms, |&term| (term, 1))
    }

    /// Adds to the count of a term.
    ///
    /// # Errors
    /// The temporary file cannot be written.
    pub fn add_term(&self, term: u64, count: u32) -> Result<(), Error> {
        self.put(&[(term, count)], |&term| term)
    }

    /// Adds the counts of a tally, and empties it.
    fn add(&self, tally: &mut Tally) -> Result<(), Error> {
        let terms: Vec<(u64, u32)> = tally.counts.iter().collect();
        self.put(&terms, |&term| term)?;
        if tally.counts.len() > 4 * self.large {
            // A document of unusual size: its memory is not kept.
            tally.counts = Table::default();
        }
        tally.counts.clear();
        tally.documents = 0;
        Ok(())
    }

    /// Adds terms with their counts, nearly in the order of their [`spread`].
    fn put<T>(&self, terms: &[T], counted: impl Fn(&T) -> (u64, u32)) -> Result<(), Error> {
        let shard_of = |term: &T| shard_of(counted(term).0);
        for of_shard in terms.chunk_by(|a, b| shard_of(a) == shard_of(b)) {
            let shard = shard_of(&of_shard[0]);
            let counts = &mut *self.shards[shard].lock().unwrap_or_else(PoisonError::into_inner);
            // In their order, many terms would first crowd at the start of a table that grows with them.
            let stride = of_shard.len() / IN_ORDER + 1;
            for start in 0..stride {
                let places = (start..of_shard.len()).step_by(stride);
                let mut ahead = places.clone().skip(PREFETCH_AHEAD);
                for at in places {
                    ahead.next().into_iter().for_each(|at| counts.fetch(counted(&of_shard[at]).0));
                    let (term, more) = counted(&of_shard[at]);
                    if counts.is_full() {
                        self.bound.as_ref().map_or(Ok(()), |bound| bound.make_room(shard, counts))?;
                    }
                    counts.change(term, |count| (self.combine)(count, more));
                }
            }
        }
        Ok(())
    }

    /// The lexicon.
    ///
    /// # Errors
    /// The temporary file cannot be written, or not be read back.
    pub fn freeze(self, documents: u64) -> Result<Lexicon, Error> {
        let tallies = std::mem::take(&mut *self.idle.lock().unwrap_or_else(PoisonError::into_inner));
        tallies.into_iter().try_for_each(|mut tally| self.add(&mut tally))?;
        let shards = self.shards.into_iter().map(|shard| shard.into_inner().unwrap_or_else(PoisonError::into_inner));
        let shards: Vec<Table> = shards.collect();
        let frequencies = match self.bound {
            Some(bound) if !bound.fits() => bound.store(shards, self.combine)?,
            _ => Frequencies::Held(Shards(shards)),
        };
        Ok(Lexicon::of(documents, frequencies))
    }
}

impl Bound {
    /// Lets a shard that is full grow, or moves its terms to the file.
    #[cold]
    fn make_room(&self, shard: usize, counts: &mut Table) -> Result<(), Error> {
        let growth = counts.bytes_when_grown() - counts.bytes_held();
        let held = self.held.fetch_add(growth, Ordering::Relaxed) + growth;
        let most = self.memory.counting - self.memory.counting / TALLY_SHARE;
        if held <= most || counts.bytes_held() < LEAST_BYTES_OF_SHARD {
            return Ok(());
        }
        self.held.fetch_sub(growth, Ordering::Relaxed);
        let rows = rows_of(counts);
        counts.clear();
        let (file, portions) = &mut *self.spilled.lock().unwrap_or_else(PoisonError::into_inner);
        portions[shard].push(file.append(&rows)?);
        Ok(())
    }

    /// Whether the lexicon fits in memory.
    fn fits(&self) -> bool {
        let (file, _) = &*self.spilled.lock().unwrap_or_else(PoisonError::into_inner);
        file.bytes() == 0 && self.held.load(Ordering::Relaxed) <= self.memory.kept
    }

    /// Merges what is in memory and in the file.
    fn store(self, shards: Vec<Table>, combine: fn(u32, u32) -> u32) -> Result<Frequencies, Error> {
        let (file, portions) = self.spilled.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut writer = Writer::new(self.memory.folder.as_deref())?;
        for (counts, portions) in shards.into_iter().zip(portions) {
            let rows = rows_of(&counts);
            drop(counts);
            let mut last = None;
            file.merge(&portions, rows, self.memory.kept, |&[order, count]| {
                let count = count as u32;
                last = match last {
                    Some((same, known)) if same == order => Some((order, combine(known, count))),
                    before => {
                        before.map_or(Ok(()), |(order, count)| writer.push(order, count))?;
                        Some((order, count))
                    }
                };
                Ok(())
            })?;
            last.map_or(Ok(()), |(order, count)| writer.push(order, count))?;
        }
        drop(file);
        Ok(Frequencies::Stored(writer.finish(self.memory.kept)?.into()))
    }
}

/// The terms of a shard as ascending rows: the [order](spread) and the count.
fn rows_of(counts: &Table) -> Vec<[u64; 2]> {
    let mut rows: Vec<[u64; 2]> = Vec::with_capacity(counts.len());
    rows.extend(counts.iter().map(|(term, count)| [spread(term), count.into()]));
    rows.sort_unstable();
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::{BTreeMap, BTreeSet};

    #[test]
    fn frequencies_are_those_of_the_documents() {
        let builder = LexiconBuilder::new();
        // Two threads: documents {1, 2} and {1}; {1, u64::MAX}.
        let (mut first, mut second) = (builder.tally(), builder.tally());
        builder.count(&mut first, &[1, 2, 1]).unwrap();
        builder.count(&mut first, &[1]).unwrap();
        builder.count(&mut second, &[u64::MAX, 1]).unwrap();
        builder.give_back(first);
        builder.give_back(second);
        let lexicon = builder.freeze(3).unwrap();
        let frequency = |term| lexicon.document_frequency(term);
        assert_eq!([frequency(1), frequency(2), frequency(u64::MAX), frequency(3)], [3, 1, 1, 0]);
        assert_eq!((lexicon.len(), lexicon.documents()), (3, 3));
    }

    /// Documents, one batch each.
    fn count(builder: &LexiconBuilder, documents: &[Vec<u64>]) {
        for document in documents {
            let mut tally = builder.tally();
            builder.count(&mut tally, document).unwrap();
            builder.give_back(tally);
        }
    }

    #[test]
    fn more_terms_than_a_tally_holds_are_counted_too() {
        // Every document repeats some terms of the previous one, and all of them together make several tallies.
        let documents: Vec<Vec<u64>> = (0..9).map(|n| (n * 30_000..n * 30_000 + 40_000).collect()).collect();
        let builder = LexiconBuilder::new();
        count(&builder, &documents);
        let expected =
            (0..280_000).map(|term| (term, 1 + u32::from((30_000..270_000).contains(&term) && term % 30_000 < 10_000)));
        assert_eq!(builder.freeze(9).unwrap(), Lexicon::new(9, expected));
    }

    /// Memory for so few terms that most are in the file.
    fn little(kept: u64) -> TermMemory {
        TermMemory { counting: 1 << 10, kept, folder: None }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, cases: 60, ..ProptestConfig::default() })]
        /// Whatever fits in memory, the lexicon is that of a map.
        #[test]
        fn terms_in_a_file_are_counted_as_in_memory(
            documents in prop::collection::vec(prop::collection::vec(
                prop_oneof![0u64..400, (0u64..2000).prop_map(crate::hash::mix), (u64::MAX - 40)..], 0..900), 0..12),
            kept in prop_oneof![Just(0u64), Just(1 << 14), Just(1 << 20)],
            greatest: bool,
            is_long: bool,
        ) {
            let builder = LexiconBuilder::within(little(kept), 2);
            let builder = if greatest { builder.of_greatest() } else { builder };
            let mut expected = BTreeMap::<u64, u32>::new();
            let mut tallies = [builder.tally(), builder.tally()];
            for (number, document) in documents.iter().enumerate() {
                match is_long {
                    true => builder.count_long(document.clone()).unwrap(),
                    false => builder.count(&mut tallies[number % 2], document).unwrap(),
                }
                document.iter().collect::<BTreeSet<_>>().into_iter().for_each(|&term| *expected.entry(term).or_default() += 1);
            }
            tallies.into_iter().for_each(|tally| builder.give_back(tally));
            if greatest && is_long {
                expected.values_mut().for_each(|count| *count = 1);
            }
            prop_assume!(is_long || !greatest);
            let lexicon = builder.freeze(7).unwrap();
            prop_assert_eq!((lexicon.documents(), lexicon.len()), (7, expected.len()));
            let mut all = BTreeMap::new();
            lexicon.for_each(|term, count| assert_eq!(all.insert(term, count), None)).unwrap();
            prop_assert_eq!(&all, &expected);
            let asked: Vec<u64> = expected.keys().copied().chain((0..50).map(|n| n * 77)).collect();
            let known = |term: &u64| expected.get(term).copied().unwrap_or(0);
            let (mut found, mut missing) = (vec![9], Vec::new());
            lexicon.append_frequencies(asked.iter().rev().copied(), &mut found, &mut missing);
            prop_assert_eq!(found.remove(0), 9);
            for (term, found) in asked.iter().rev().zip(found) {
                prop_assert_eq!(lexicon.document_frequency(*term), known(term));
                prop_assert!(found == known(term) || known(term) == 1 && found == 0, "{} {}", found, known(term));
            }
            let mut terms_of_frequencies = BTreeMap::<u32, u64>::new();
            expected.values().for_each(|&count| *terms_of_frequencies.entry(count).or_default() += 1);
            prop_assert_eq!(lexicon.terms_of_frequencies(), terms_of_frequencies);
            let held: BTreeMap<u64, u32> = lexicon.held_terms().collect();
            prop_assert!(held.iter().all(|(term, count)| expected[term] == *count));
            if lexicon.holds_several() {
                prop_assert!(expected.iter().all(|(term, &count)| count < 2 || held.contains_key(term)));
            } else {
                // The most frequent ones.
                let least = held.values().min();
                prop_assert!(expected.iter().all(|(term, count)| held.contains_key(term) || least.is_none_or(|least| count <= least)));
            }
            prop_assert!(lexicon == Lexicon::new(7, expected) && lexicon.check().is_ok());
        }
    }

    #[test]
    fn many_portions_and_many_pages() {
        let builder = LexiconBuilder::within(little(1 << 12), 1);
        for first in 0..30 {
            builder.count_long((first * 1000..first * 1000 + 3000).collect()).unwrap();
        }
        let lexicon = builder.freeze(30).unwrap();
        assert!(!lexicon.holds_several() && lexicon.bytes_held() < 8 << 10, "{}", lexicon.bytes_held());
        let expected = |term: u64| (term / 1000).min(31 - term / 1000).min(2) as u32 + 1;
        assert!((0..32_000).all(|term| lexicon.document_frequency(term) == expected(term)));
        assert_eq!(lexicon.document_frequency(32_000), 0);
    }

    #[test]
    fn a_folder_that_is_not_there_is_named() {
        let folder = Some("/no/such/folder".into());
        let builder = LexiconBuilder::within(TermMemory { folder, ..little(0) }, 1);
        let error = builder.count_long((0..100_000).collect()).unwrap_err().to_string();
        assert!(error.starts_with("cannot write terms to a temporary file in /no/such/folder "), "{error}");
    }
}
