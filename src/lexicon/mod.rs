//! What is known of a whole collection: how many documents have a term, and how rare a feature is.
//!
//! Counted in a pass of its own before fingerprints are made, then frozen: a fingerprint depends on the document, the
//! parameters and the frozen counts, never on what came before it. Or counted once and kept in a [`mod@file`].

pub mod file;

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// In how many documents of a collection each term occurs, exact copies (equal token sequences) counted once: a document that
/// is there a thousand times makes its terms no more common.
///
/// Terms are known by their token hash. About 20 bytes a distinct term.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lexicon {
    documents: u64,
    frequencies: Frequencies,
    origin: Option<Origin>,
}

/// The file that a lexicon was read from, by its contents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The SHA-1 of the counts, in hexadecimal ([`mod@file`]).
    pub digest: String,
    /// The tokenizer that made the terms.
    pub tokenizer: String,
}

type Frequencies = HashMap<u64, u32, BuildHasherDefault<Identity>>;

impl Lexicon {
    /// A lexicon of a collection of so many documents, from terms and their document frequencies.
    pub fn new(documents: u64, frequencies: impl IntoIterator<Item = (u64, u32)>) -> Self {
        Lexicon { documents, frequencies: frequencies.into_iter().collect(), origin: None }
    }

    /// Where it comes from, if it was read from a file.
    pub fn origin(&self) -> Option<&Origin> {
        self.origin.as_ref()
    }

    /// How many documents were counted, exact copies once.
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

    /// The terms and their document frequencies, in no order.
    pub(crate) fn terms(&self) -> impl Iterator<Item = (u64, u32)> {
        self.frequencies.iter().map(|(&term, &frequency)| (term, frequency))
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
    /// What was counted; `None` once there were too many terms.
    shards: Vec<Mutex<Option<Frequencies>>>,
    /// Most terms in a shard.
    most: usize,
}

/// As many shards as bits of the hash choose among, so that threads seldom wait for each other.
const SHARD_BITS: u32 = 6;
/// Room in each for chance, where the number of terms is limited.
const MORE_A_SHARD: usize = 4096;

impl LexiconBuilder {
    /// Counts any number of terms.
    pub fn new() -> Self {
        Self::with_most(usize::MAX)
    }

    /// Counts about so many different terms, spread evenly over the hashes, and some more. Where there are more, those whose
    /// hashes begin alike are not counted at all, and take no memory: which ones depends on the terms, not on their order.
    pub fn with_most(most: usize) -> Self {
        let most = (most >> SHARD_BITS).saturating_add(MORE_A_SHARD);
        LexiconBuilder {
            shards: (0..1 << SHARD_BITS).map(|_| Mutex::new(Some(Frequencies::default()))).collect(),
            most,
        }
    }

    /// Counts the terms of some documents: the distinct terms of each, back to back. The buffer is left sorted.
    pub fn add(&self, terms: &mut [u64]) {
        terms.sort_unstable();
        let shard_of = |term: u64| (term >> (64 - SHARD_BITS)) as usize;
        for shard in terms.chunk_by(|a, b| shard_of(*a) == shard_of(*b)) {
            let mut guard = self.shards[shard_of(shard[0])].lock().unwrap_or_else(PoisonError::into_inner);
            let Some(counts) = guard.as_mut() else { continue };
            for run in shard.chunk_by(|a, b| a == b) {
                let count = counts.entry(run[0]).or_default();
                *count = count.saturating_add(run.len() as u32);
            }
            if counts.len() > self.most {
                *guard = None;
            }
        }
    }

    /// The lexicon, and whether all terms were counted.
    pub fn freeze(self, documents: u64) -> (Lexicon, bool) {
        let shards = self.shards.into_iter().map(|shard| shard.into_inner().unwrap_or_else(PoisonError::into_inner));
        let shards: Vec<_> = shards.collect();
        let complete = shards.iter().all(Option::is_some);
        (Lexicon { documents, frequencies: shards.into_iter().flatten().flatten().collect(), origin: None }, complete)
    }
}

/// The distinct documents that were met so far, on several threads.
///
/// Known by the 128-bit hash of their token sequence: some 30 bytes each.
#[derive(Default)]
pub(crate) struct Distinct {
    shards: Box<[Mutex<Sequences>; 32]>,
}

type Sequences = HashSet<u128, BuildHasherDefault<Identity>>;

impl Distinct {
    /// Whether no document of this token sequence was met before.
    pub fn insert(&self, sequence: u128) -> bool {
        let shard = (sequence >> 64) as usize % self.shards.len();
        self.shards[shard].lock().unwrap_or_else(PoisonError::into_inner).insert(sequence)
    }

    /// How many were met.
    pub fn count(&self) -> u64 {
        self.shards.iter().map(|shard| shard.lock().unwrap_or_else(PoisonError::into_inner).len() as u64).sum()
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
        Rarity { counts: (0..classes(bytes / 4)).map(|_| AtomicU8::new(0)).collect() }
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

/// So many classes, rounded to a power of two within the limits.
fn classes(wanted: u64) -> usize {
    let wanted = usize::try_from(wanted).unwrap_or(usize::MAX);
    wanted.clamp(*CLASSES.start(), *CLASSES.end()).next_power_of_two()
}

/// In at most how many documents features are: a counter a class of features, which counts every feature of the class. Never too
/// low, and memory does not grow with the number of features (one row of Cormode & Muthukrishnan's count-min sketch, 2005).
pub struct Bounds {
    counts: Box<[AtomicU32]>,
    added: AtomicU64,
    documents: u64,
}

impl Bounds {
    /// Nothing counted, with room for a collection of so many bytes: about a class for two features, within limits of 256 KiB
    /// and 128 MiB.
    pub fn for_bytes(bytes: u64) -> Self {
        let classes = classes((bytes / 8).min(*CLASSES.end() as u64 / 2));
        Bounds { counts: (0..classes).map(|_| AtomicU32::new(0)).collect(), added: AtomicU64::new(0), documents: 0 }
    }

    /// Counts the features of a document, each of which must come once.
    pub fn add(&self, features: &[u64]) {
        let up = |count: u32| count.checked_add(1);
        for &feature in features {
            // An error says that the count is full, which is more than there are documents.
            _ = self.counts[self.class(feature)].fetch_update(Ordering::Relaxed, Ordering::Relaxed, up);
        }
        self.added.fetch_add(features.len() as u64, Ordering::Relaxed);
    }

    /// Says how many documents were counted.
    pub fn of(self, documents: u64) -> Self {
        Bounds { documents, ..self }
    }

    /// How many documents were counted.
    pub fn documents(&self) -> u64 {
        self.documents
    }

    /// How many features were counted, each as often as documents have it.
    pub fn added(&self) -> u64 {
        self.added.load(Ordering::Relaxed)
    }

    /// In at most how many documents the feature is.
    #[inline]
    pub fn most(&self, feature: u64) -> u32 {
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

    fn write_u128(&mut self, hash: u128) {
        self.0 = hash as u64;
    }

    fn write(&mut self, _: &[u8]) {
        unreachable!("only hashes are keys");
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
        let (lexicon, complete) = builder.freeze(3);
        assert!(complete);
        let frequency = |term| lexicon.document_frequency(term);
        assert_eq!([frequency(1), frequency(2), frequency(u64::MAX), frequency(3)], [3, 1, 1, 0]);
        assert_eq!((lexicon.len(), lexicon.documents()), (3, 3));
    }

    #[test]
    fn too_many_terms_of_one_part_of_the_hashes_are_not_counted() {
        let most = 64 * 10;
        let crowd = (10 + MORE_A_SHARD) as u64;
        // The same terms in two orders: `crowd` and one more in shard 0, three elsewhere.
        for turned in [false, true] {
            let builder = LexiconBuilder::with_most(most);
            let mut terms: Vec<u64> = (0..=crowd).chain([1 << 60, 2 << 60, 3 << 60]).collect();
            if turned {
                terms.reverse();
            }
            terms.chunks(100).for_each(|batch| builder.add(&mut batch.to_vec()));
            let (lexicon, complete) = builder.freeze(1);
            assert_eq!((lexicon.len(), complete), (3, false));
        }
        let builder = LexiconBuilder::with_most(most);
        builder.add(&mut (0..crowd).collect::<Vec<_>>());
        let (lexicon, complete) = builder.freeze(1);
        assert_eq!((lexicon.len() as u64, complete), (crowd, true));
    }

    #[test]
    fn bounds_are_never_too_low() {
        let bounds = Bounds::for_bytes(0);
        (0..299).for_each(|_| bounds.add(&[7]));
        bounds.add(&[8, 7, 7 + (1 << 16)]);
        let bounds = bounds.of(300);
        assert_eq!([7, 7 + (1 << 16), 8, 9].map(|feature| bounds.most(feature)), [301, 301, 1, 0]);
        assert_eq!((bounds.added(), bounds.documents()), (302, 300));
        let sizes = [0, 1 << 20, u64::MAX].map(|bytes| Bounds::for_bytes(bytes).counts.len());
        assert_eq!(sizes, [1 << 16, 1 << 17, 1 << 25]);
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
