//! What is known of a whole collection: how many documents have a term, and how rare a feature is.
//!
//! Counted in a pass of its own before fingerprints are made, then frozen: a fingerprint depends on the document, the
//! parameters and the frozen counts, never on what came before it.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Mutex, PoisonError};

/// In how many documents of a collection each term occurs.
///
/// Terms are known by their token hash. About 20 bytes a distinct term.
#[derive(Clone, Debug, Default)]
pub struct Lexicon {
    documents: u64,
    frequencies: Frequencies,
}

type Frequencies = HashMap<u64, u32, BuildHasherDefault<Identity>>;

impl Lexicon {
    /// A lexicon of a collection of so many documents, from terms and their document frequencies.
    pub fn new(documents: u64, frequencies: impl IntoIterator<Item = (u64, u32)>) -> Self {
        Lexicon { documents, frequencies: frequencies.into_iter().collect() }
    }

    /// How many documents were counted.
    pub fn documents(&self) -> u64 {
        self.documents
    }

    /// How many distinct terms there are.
    pub fn len(&self) -> usize {
        self.frequencies.len()
    }

    /// Whether there is no term.
    pub fn is_empty(&self) -> bool {
        self.frequencies.is_empty()
    }

    /// In how many documents the term occurs; 0 for an unknown one.
    #[inline]
    pub fn document_frequency(&self, term: u64) -> u32 {
        self.frequencies.get(&term).copied().unwrap_or(0)
    }

    /// The normalised inverse document frequency `ln((N + 1) / df) / ln(N + 1)`: 0 for a term in every document, 1 for one
    /// that is in one of a million; `None` for an unknown term (Theobald, Siddharth & Paepcke 2008, reference program).
    pub fn normalised_idf(&self, term: u64) -> Option<f64> {
        let frequency = self.document_frequency(term);
        let all = self.documents as f64 + 1.0;
        (frequency > 0).then(|| (all / f64::from(frequency)).ln() / all.ln())
    }
}

/// Counts terms on several threads.
pub(crate) struct LexiconBuilder {
    shards: Vec<Mutex<Frequencies>>,
}

/// As many shards as bits of the hash choose among, so that threads seldom wait for each other.
const SHARD_BITS: u32 = 6;

impl LexiconBuilder {
    pub fn new() -> Self {
        LexiconBuilder { shards: (0..1 << SHARD_BITS).map(|_| Mutex::default()).collect() }
    }

    /// Counts the terms of some documents: the distinct terms of each, back to back. The buffer is left sorted.
    pub fn add(&self, terms: &mut [u64]) {
        terms.sort_unstable();
        let shard_of = |term: u64| (term >> (64 - SHARD_BITS)) as usize;
        for shard in terms.chunk_by(|a, b| shard_of(*a) == shard_of(*b)) {
            let mut counts = self.shards[shard_of(shard[0])].lock().unwrap_or_else(PoisonError::into_inner);
            for run in shard.chunk_by(|a, b| a == b) {
                let count = counts.entry(run[0]).or_default();
                *count = count.saturating_add(run.len() as u32);
            }
        }
    }

    pub fn freeze(self, documents: u64) -> Lexicon {
        let shards = self.shards.into_iter().map(|shard| shard.into_inner().unwrap_or_else(PoisonError::into_inner));
        Lexicon { documents, frequencies: shards.flatten().collect() }
    }
}

/// How rare features are, roughly: one byte a class of features, counting the documents that have one of the class.
///
/// Two features can be of one class, and counts end at 255, so this is no document frequency. It need not be: it orders
/// features, rare ones first, and any order gives the same result. A count of 1 is certain, though.
pub struct Rarity {
    counts: Box<[AtomicU8]>,
}

impl Default for Rarity {
    fn default() -> Self {
        Rarity::new()
    }
}

/// At least 64 KiB of counters, at most 64 MiB.
const CLASSES: std::ops::RangeInclusive<usize> = 1 << 16..=1 << 26;

impl Rarity {
    /// Nothing counted, with room for a collection of any size.
    pub fn new() -> Self {
        Self::for_bytes(u64::MAX)
    }

    /// Nothing counted, with room for a collection of so many bytes: about one class a feature, within limits. Fewer classes
    /// make a poorer order, and a cheaper start.
    pub fn for_bytes(bytes: u64) -> Self {
        // A feature begins at every fourth byte or so.
        let classes = usize::try_from(bytes / 4).unwrap_or(usize::MAX).clamp(*CLASSES.start(), *CLASSES.end());
        Rarity { counts: (0..classes.next_power_of_two()).map(|_| AtomicU8::new(0)).collect() }
    }

    /// Counts a feature of a document. To be called once for each distinct feature.
    #[inline]
    pub fn add(&self, feature: u64) {
        let up = |count: u8| count.checked_add(1);
        // An error says that the count is full, which is fine.
        _ = self.counts[self.class(feature)].fetch_update(Ordering::Relaxed, Ordering::Relaxed, up);
    }

    /// In how many documents a feature of the same class was counted, up to 255.
    #[inline]
    pub fn count(&self, feature: u64) -> u8 {
        self.counts[self.class(feature)].load(Ordering::Relaxed)
    }

    #[inline]
    fn class(&self, feature: u64) -> usize {
        // Their number is a power of two.
        feature as usize & (self.counts.len() - 1)
    }
}

/// Terms are hashes already.
#[derive(Clone, Default)]
struct Identity(u64);

impl Hasher for Identity {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }

    fn write(&mut self, _: &[u8]) {
        unreachable!("only 64-bit hashes are keys");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frequencies_are_those_of_the_documents() {
        let builder = LexiconBuilder::new();
        // Two batches: documents {1, 2}, {1} and {1, u64::MAX}.
        builder.add(&mut [1, 2, 1]);
        builder.add(&mut [u64::MAX, 1]);
        let lexicon = builder.freeze(3);
        let frequency = |term| lexicon.document_frequency(term);
        assert_eq!([frequency(1), frequency(2), frequency(u64::MAX), frequency(3)], [3, 1, 1, 0]);
        assert_eq!((lexicon.len(), lexicon.documents()), (3, 3));
    }

    #[test]
    fn normalised_idf_runs_from_0_to_1() {
        let lexicon = Lexicon::new(99, [(1, 100), (2, 10), (3, 1)]);
        let idf = [1, 2, 3].map(|term| lexicon.normalised_idf(term).unwrap());
        assert!((idf[0] - 0.0).abs() < 1e-12 && (idf[1] - 0.5).abs() < 1e-12 && (idf[2] - 1.0).abs() < 1e-12);
        assert_eq!(lexicon.normalised_idf(4), None);
    }

    #[test]
    fn rarity_counts_up_to_255() {
        let rarity = Rarity::new();
        (0..300).for_each(|_| rarity.add(7));
        rarity.add(8);
        assert_eq!([rarity.count(7), rarity.count(8), rarity.count(9)], [255, 1, 0]);
        let sizes = [0, 1 << 20, u64::MAX].map(|bytes| Rarity::for_bytes(bytes).counts.len());
        assert_eq!(sizes, [1 << 16, 1 << 18, 1 << 26]);
    }
}
