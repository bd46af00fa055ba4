//! Statistics of a whole collection: the number of documents that have a term, and the frequency of features.
//!
//! They are counted in a pass before fingerprints are made, then frozen. A fingerprint depends on the document, the
//! parameters and the frozen counts, never on earlier documents. Alternatively, they are counted once and stored in a
//! [`mod@file`]. A [`mod@list`] of words is a lexicon without counts;
//! [`mod@weights`] say how much terms weigh.
//!
//! ```
//! use neardups::engine::{ScanOptions, count_terms};
//! use neardups::lexicon::Lexicon;
//! use neardups::source::Documents;
//! use neardups::{IMatch, Scan};
//!
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("terms");
//! let texts = ["the cat sat on the mat", "the dog sat on the log", "a cat and a dog"];
//! let mut collection = Documents::new(texts.iter().enumerate().map(|(id, text)| (id.to_string(), *text)));
//! let (terms, _) = count_terms(&mut collection, &ScanOptions::default(), &())?;
//! terms.write("word", 1, &mut std::fs::File::create(&path)?)?;
//!
//! let lexicon = Lexicon::read(&path, 0)?;
//! assert_eq!((lexicon.documents(), lexicon.len()), (3, 9));
//! let imatch = IMatch::builder().min_terms(2).lexicon(lexicon).build()?;
//! let outcome = Scan::new(imatch).texts(&["a dog, a cat", "A cat? A dog!", "the log"])?;
//! let pairs = outcome.pairs().map(|pair| Ok(pair?.indices)).collect::<Result<Vec<_>, neardups::Error>>()?;
//! assert_eq!(pairs, [(0, 1)]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod builder;
pub mod file;
mod lines;
pub mod list;
mod stored;
mod table;
mod terms;
pub mod weights;

use crate::error::Error;
use crate::kernel::fetch::fetch;
use crate::kernel::pages;
use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use stored::Stored;
use table::{Table, spread};

pub(crate) use table::spread as order;

pub(crate) use builder::{LexiconBuilder, Tally, TermMemory};
pub(crate) use terms::TermsBuilder;

/// The document frequency of each term of a collection. Exact copies (equal token sequences) count once: a document
/// that occurs a thousand times does not make its terms more frequent.
///
/// Terms are identified by their token hash. Takes 21 to 43 bytes per distinct term, in memory; or within a bound on
/// memory 16 bytes in a temporary file, if those of a collection or of a file are more.
#[derive(Clone)]
pub struct Lexicon {
    documents: u64,
    frequencies: Frequencies,
    origin: Option<FileIdentity>,
    is_list: bool,
    /// The first words of a list, for messages.
    words: Vec<String>,
}

impl fmt::Debug for Lexicon {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut lexicon = f.debug_struct("Lexicon");
        lexicon.field("documents", &self.documents).field("terms", &self.len()).field("origin", &self.origin);
        lexicon.finish_non_exhaustive()
    }
}

/// Where the frequencies are.
#[derive(Clone)]
enum Frequencies {
    /// In memory.
    Held(Shards),
    /// In a temporary file, but for those of the most frequent terms.
    Stored(Arc<Stored>),
}

/// The identity of the file that a lexicon, or a list of weights, was read from.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileIdentity {
    /// What the file is, for messages: a lexicon, or a list of weights.
    pub what: &'static str,
    /// The SHA-1 of the content, in hexadecimal ([`mod@file`], [`mod@list`], [`mod@weights`]).
    pub digest: String,
    /// The tokenizer that made the terms.
    pub tokenizer: String,
    /// The seed that the terms were hashed with when the file was read.
    pub seed: u64,
}

impl FileIdentity {
    /// Checks that documents are cut into tokens by the same tokenizer, and hashed with the same seed.
    pub(crate) fn check(&self, tokenizer: &str, seed: u64) -> Result<(), Error> {
        if self.tokenizer != tokenizer {
            return Err(Error::Usage(format!(
                "the terms of the {} are tokens of '{}', and documents are to be cut into those of '{tokenizer}': \
                 `tokenizer`, `join-hyphens`, `fold`, `mask`, `stopwords` and `stem` must be the same for both",
                self.what, self.tokenizer
            )));
        }
        if self.seed != seed {
            return Err(Error::Usage(format!(
                "the terms of the {} were hashed with another seed than documents are: read it with the same `seed`",
                self.what
            )));
        }
        Ok(())
    }
}

/// The number of bits that select a shard: enough shards that counting threads rarely wait for each other.
const SHARD_BITS: u32 = 6;

/// The number of terms or features that are prefetched before the first of them is counted.
const PREFETCH_AHEAD: usize = 16;

fn shard_of(term: u64) -> usize {
    (spread(term) >> (u64::BITS - SHARD_BITS)) as usize
}

/// Frequencies in parts, by [`shard_of`].
#[derive(Clone, Debug)]
struct Shards(Vec<Table>);

impl Default for Shards {
    fn default() -> Self {
        Shards(vec![Table::of_part(SHARD_BITS); 1 << SHARD_BITS])
    }
}

impl Shards {
    fn bytes_held(&self) -> u64 {
        self.0.iter().map(Table::bytes_held).sum()
    }

    /// The frequency of a term; 0 if it is unknown.
    #[inline]
    fn get(&self, term: u64) -> u32 {
        self.0[shard_of(term)].get(term)
    }

    /// Changes the frequency of a term, which is 0 if it is unknown. It must not become 0.
    fn change(&mut self, term: u64, to: impl FnOnce(u32) -> u32) {
        self.0[shard_of(term)].change(term, to);
    }
}

impl PartialEq for Lexicon {
    fn eq(&self, other: &Self) -> bool {
        let of = |lexicon: &Self| (lexicon.documents, lexicon.len(), lexicon.is_list);
        if of(self) != of(other) || self.origin != other.origin {
            return false;
        }
        let mut is_equal = true;
        let all = self.for_each(|term, frequency| is_equal &= other.document_frequency(term) == frequency);
        all.is_ok() && is_equal
    }
}

impl Eq for Lexicon {}

impl Lexicon {
    /// A lexicon of a collection of `documents` documents, from terms and their document frequencies. If a term occurs
    /// twice, the last frequency counts. Terms with frequency 0 are left out.
    pub fn new(documents: u64, frequencies: impl IntoIterator<Item = (u64, u32)>) -> Self {
        let mut shards = Shards::default();
        for (term, frequency) in frequencies.into_iter().filter(|(_, frequency)| *frequency > 0) {
            shards.change(term, |_| frequency);
        }
        Lexicon::of(documents, Frequencies::Held(shards))
    }

    fn of(documents: u64, frequencies: Frequencies) -> Self {
        Lexicon { documents, frequencies, origin: None, is_list: false, words: Vec::new() }
    }

    /// Whether this is a plain list of terms ([`mod@list`]): it has no document frequencies. Each of its terms has the
    /// frequency 1, and the number of documents is 0.
    pub fn is_list(&self) -> bool {
        self.is_list
    }

    /// The first words of a [list](mod@list), in the order of their bytes; none of other lexicons.
    pub(crate) fn words(&self) -> &[String] {
        &self.words
    }

    /// Whether the lexicon has the term.
    #[inline]
    pub fn contains(&self, term: u64) -> bool {
        self.document_frequency(term) > 0
    }

    /// The identity of its file, if it was read from one.
    pub fn origin(&self) -> Option<&FileIdentity> {
        self.origin.as_ref()
    }

    /// The number of documents counted; exact copies count once.
    pub fn documents(&self) -> u64 {
        self.documents
    }

    /// The number of distinct terms.
    pub fn len(&self) -> usize {
        match &self.frequencies {
            Frequencies::Held(shards) => shards.0.iter().map(Table::len).sum(),
            Frequencies::Stored(stored) => stored.len(),
        }
    }

    /// Whether the lexicon has no terms.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of documents with the term; 0 if it is unknown.
    #[inline]
    pub fn document_frequency(&self, term: u64) -> u32 {
        match &self.frequencies {
            Frequencies::Held(shards) => shards.get(term),
            Frequencies::Stored(stored) => stored.get(term),
        }
    }

    /// Appends the numbers of documents with each of these terms to `frequencies`. For a term that a single document has, it is 0 or
    /// 1. `missing` is working memory.
    pub(crate) fn append_frequencies(
        &self,
        terms: impl Iterator<Item = u64>,
        frequencies: &mut Vec<u32>,
        missing: &mut Vec<(u64, u32)>,
    ) {
        match &self.frequencies {
            Frequencies::Held(shards) => frequencies.extend(terms.map(|term| shards.get(term))),
            Frequencies::Stored(stored) => stored.append(terms, frequencies, missing),
        }
    }

    /// Calls `each` with every term and its document frequency, in unspecified order.
    ///
    /// # Errors
    /// The temporary file cannot be read.
    pub(crate) fn for_each(&self, mut each: impl FnMut(u64, u32)) -> Result<(), Error> {
        match &self.frequencies {
            Frequencies::Held(shards) => {
                shards.0.iter().flat_map(Table::iter).for_each(|(term, frequency)| each(term, frequency));
                Ok(())
            }
            Frequencies::Stored(stored) => stored.for_each(each),
        }
    }

    /// The terms in memory and their document frequencies, in unspecified order: all terms, or at least all that [several
    /// documents](Self::holds_several) have, or else some.
    pub(crate) fn held_terms(&self) -> impl Iterator<Item = (u64, u32)> {
        let tables = match &self.frequencies {
            Frequencies::Held(shards) => &shards.0,
            Frequencies::Stored(stored) => std::slice::from_ref(stored.frequent()),
        };
        tables.iter().flat_map(Table::iter)
    }

    /// Whether all terms that several documents have are in memory.
    pub(crate) fn holds_several(&self) -> bool {
        match &self.frequencies {
            Frequencies::Held(_) => true,
            Frequencies::Stored(stored) => stored.has_all(),
        }
    }

    /// The number of terms with each document frequency.
    pub(crate) fn terms_of_frequencies(&self) -> BTreeMap<u32, u64> {
        match &self.frequencies {
            Frequencies::Held(_) => {
                let mut terms = BTreeMap::new();
                self.held_terms().for_each(|(_, frequency)| *terms.entry(frequency).or_default() += 1);
                terms
            }
            Frequencies::Stored(stored) => stored.terms_of_counts().clone(),
        }
    }

    /// Bytes of memory.
    pub(crate) fn bytes_held(&self) -> u64 {
        match &self.frequencies {
            Frequencies::Held(shards) => shards.bytes_held(),
            Frequencies::Stored(stored) => stored.bytes_held(),
        }
    }

    /// Loses the terms in the temporary file.
    #[cfg(test)]
    pub(crate) fn damage(&self) {
        if let Frequencies::Stored(stored) = &self.frequencies {
            stored.damage();
        }
    }

    /// Whether all terms could be read since: otherwise frequencies were too low.
    ///
    /// # Errors
    /// The temporary file cannot be read.
    pub(crate) fn check(&self) -> Result<(), Error> {
        match &self.frequencies {
            Frequencies::Held(_) => Ok(()),
            Frequencies::Stored(stored) => stored.check(),
        }
    }

    /// The normalised inverse document frequency `ln((N + 1) / df) / ln(N + 1)`: 0 for a term in every document, 1 for one
    /// that is in one of a million; `None` for an unknown term (Theobald, Siddharth & Paepcke 2008, reference program).
    pub fn normalised_idf(&self, term: u64) -> Option<f64> {
        let frequency = self.document_frequency(term);
        let all = self.documents as f64 + 1.0;
        (frequency > 0).then(|| (all / f64::from(frequency)).ln() / all.ln())
    }
}

/// The distinct documents seen so far, on several threads.
///
/// They are identified by the 128-bit hash of their token sequence: some 30 bytes each.
#[derive(Default)]
pub(crate) struct Distinct {
    shards: Box<[Mutex<Sequences>; 32]>,
}

type Sequences = HashSet<u128, BuildHasherDefault<Identity>>;

impl Distinct {
    /// Whether no document with this token sequence was added before.
    pub fn insert(&self, sequence: u128) -> bool {
        let shard = (sequence >> 64) as usize % self.shards.len();
        self.shards[shard].lock().unwrap_or_else(PoisonError::into_inner).insert(sequence)
    }

    /// The number of distinct documents.
    pub fn count(&self) -> u64 {
        self.shards.iter().map(|shard| shard.lock().unwrap_or_else(PoisonError::into_inner).len() as u64).sum()
    }
}

/// The approximate frequency of features: one byte per class of features, which counts the documents with a feature of
/// the class.
///
/// Two features can be in the same class, and counts end at 255, so this is not a document frequency. It need not be
/// one: it orders features, rare ones first, and any order gives the same result. A count of 1 is exact, though.
pub struct Rarity {
    counts: Box<[AtomicU8]>,
}

impl Default for Rarity {
    fn default() -> Self {
        Rarity::new()
    }
}

/// The number of classes of features.
const CLASSES: std::ops::RangeInclusive<usize> = 1 << 16..=1 << 26;

/// The share of the memory for an order of features, of a byte for each class. Among a million documents, 64 MiB save a tenth of
/// the time against 16 MiB.
const RARITY_SHARE: u64 = 16;

/// What is allowed in any case, in bytes: so much; and a quarter of the memory up to so much, since a bad order makes many keys.
const LEAST_RARITY: u64 = 1 << 20;
const SMALL_RARITY: u64 = 16 << 20;

/// The share of the memory for upper bounds of frequencies, and the least and the most of it, in bytes. No documents are in memory
/// while they are counted.
const BOUNDS_SHARE: u64 = 8;
const LEAST_BOUNDS: u64 = 16 << 20;
const MOST_BOUNDS: u64 = 128 << 20;

impl Rarity {
    /// Empty counts of 16 MiB, with room for a collection of any size.
    pub fn new() -> Self {
        Self::for_bytes(u64::MAX, 256 << 20)
    }

    /// Empty counts, with room for a collection of this many bytes: about one class per feature, in at least 64 KiB and at most
    /// 64 MiB: a sixteenth of `memory`, or a quarter of it up to 16 MiB, or 1 MiB. Fewer classes make a worse order, and a cheaper start.
    pub fn for_bytes(bytes: u64, memory: u64) -> Self {
        // A feature begins at about every fourth byte.
        let most = LEAST_RARITY.max((memory / 4).min(SMALL_RARITY)).max(memory / RARITY_SHARE);
        let classes = classes((bytes / 4).min(1 << most.ilog2()));
        let mut counts = pages::with_capacity(classes);
        counts.resize_with(classes, || AtomicU8::new(0));
        Rarity { counts: counts.into() }
    }

    /// Counts a feature of a document. Must be called once for each distinct feature.
    #[inline]
    pub fn add(&self, feature: u64) {
        let up = |count: u8| count.checked_add(1);
        // An error means that the counter is at its maximum, which is fine.
        _ = self.counts[self.class(feature)].fetch_update(Ordering::Relaxed, Ordering::Relaxed, up);
    }

    /// Counts the features of a document, which must be distinct. Faster than one by one, because their counters are
    /// prefetched.
    pub fn add_all(&self, features: &[u64]) {
        // Of few features, none is far ahead.
        features.iter().take(PREFETCH_AHEAD).for_each(|&feature| fetch(&self.counts, self.class(feature)));
        for (i, &feature) in features.iter().enumerate() {
            if let Some(&later) = features.get(i + PREFETCH_AHEAD) {
                fetch(&self.counts, self.class(later));
            }
            self.add(feature);
        }
    }

    /// [`count`](Self::count) of many, put into `counts`.
    pub fn count_all(&self, features: &[u64], counts: &mut Vec<u8>) {
        counts.clear();
        features.iter().take(PREFETCH_AHEAD).for_each(|&feature| fetch(&self.counts, self.class(feature)));
        counts.extend(features.iter().enumerate().map(|(i, &feature)| {
            if let Some(&later) = features.get(i + PREFETCH_AHEAD) {
                fetch(&self.counts, self.class(later));
            }
            self.count(feature)
        }));
    }

    /// The number of documents that were counted with a feature of the same class, up to 255.
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

/// This many classes, rounded to a power of two within the limits.
fn classes(wanted: u64) -> usize {
    let wanted = usize::try_from(wanted).unwrap_or(usize::MAX);
    wanted.clamp(*CLASSES.start(), *CLASSES.end()).next_power_of_two()
}

/// Upper bounds of the document frequency of features: a counter per class of features, which counts every feature of
/// the class. Never too low, and memory does not grow with the number of features (one row of Cormode & Muthukrishnan's
/// count-min sketch, 2005).
pub struct FrequencyBounds {
    counts: Box<[AtomicU32]>,
    added: AtomicU64,
    documents: u64,
}

impl FrequencyBounds {
    /// Empty counts, with room for a collection of this many bytes: about one class for two features, in at least 256 KiB and at
    /// most 128 MiB, an eighth of `memory`, or 16 MiB if that is more. Fewer classes make higher bounds.
    pub fn for_bytes(bytes: u64, memory: u64) -> Self {
        let most = (memory / BOUNDS_SHARE).clamp(LEAST_BOUNDS, MOST_BOUNDS) / size_of::<u32>() as u64;
        let classes = classes((bytes / 8).min(1 << most.ilog2()));
        FrequencyBounds {
            counts: (0..classes).map(|_| AtomicU32::new(0)).collect(),
            added: AtomicU64::new(0),
            documents: 0,
        }
    }

    /// The class of a feature in counts with as few classes as there may be.
    #[cfg(feature = "arrow")]
    pub(crate) fn least_class(feature: u64) -> u64 {
        feature & (*CLASSES.start() as u64 - 1)
    }

    /// Counts of `documents` documents that were made elsewhere: how many features of documents are in each
    /// [class](Self::least_class).
    #[cfg(feature = "arrow")]
    pub(crate) fn of_classes(documents: u64, counts: impl IntoIterator<Item = (u64, u64)>) -> Self {
        let bounds = FrequencyBounds::for_bytes(0, 0).of(documents);
        for (class, count) in counts {
            bounds.counts[bounds.class(class)].store(count.try_into().unwrap_or(u32::MAX), Ordering::Relaxed);
            bounds.added.fetch_add(count, Ordering::Relaxed);
        }
        bounds
    }

    /// Counts the features of a document. Each must be given once.
    pub fn add(&self, features: &[u64]) {
        let up = |count: u32| count.checked_add(1);
        for &feature in features {
            // An error means that the counter is at its maximum, which is more than there are documents.
            _ = self.counts[self.class(feature)].fetch_update(Ordering::Relaxed, Ordering::Relaxed, up);
        }
        self.added.fetch_add(features.len() as u64, Ordering::Relaxed);
    }

    /// Sets the number of documents counted.
    pub fn of(self, documents: u64) -> Self {
        FrequencyBounds { documents, ..self }
    }

    /// The number of documents counted.
    pub fn documents(&self) -> u64 {
        self.documents
    }

    /// The number of features counted, each as often as documents have it.
    pub fn added(&self) -> u64 {
        self.added.load(Ordering::Relaxed)
    }

    /// The maximum number of documents that have the feature.
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

/// Does not hash again, because token sequences are hashes already.
#[derive(Clone, Default)]
struct Identity(u64);

impl Hasher for Identity {
    fn finish(&self) -> u64 {
        self.0
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
    fn bounds_are_never_too_low() {
        let bounds = FrequencyBounds::for_bytes(0, 0);
        (0..299).for_each(|_| bounds.add(&[7]));
        bounds.add(&[8, 7, 7 + (1 << 16)]);
        let bounds = bounds.of(300);
        assert_eq!([7, 7 + (1 << 16), 8, 9].map(|feature| bounds.most(feature)), [301, 301, 1, 0]);
        assert_eq!((bounds.added(), bounds.documents()), (302, 300));
        #[cfg(feature = "arrow")]
        {
            let classes = [7, 7 + (1 << 16), 8].map(FrequencyBounds::least_class);
            let same = FrequencyBounds::of_classes(300, [(classes[0], 301), (classes[2], 1)]);
            assert_eq!([7, 7 + (1 << 16), 8, 9].map(|feature| same.most(feature)), [301, 301, 1, 0]);
            assert_eq!((same.added(), same.documents()), (302, 300));
        }
        let sizes = |memory| [0, 1 << 20, u64::MAX].map(|bytes| FrequencyBounds::for_bytes(bytes, memory).counts.len());
        assert_eq!(sizes(0), [1 << 16, 1 << 17, 1 << 22]);
        assert_eq!(sizes(300 << 20), [1 << 16, 1 << 17, 1 << 23]);
        assert_eq!(sizes(u64::MAX), [1 << 16, 1 << 17, 1 << 25]);
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
        let sizes = |memory| [0, 1 << 20, u64::MAX].map(|bytes| Rarity::for_bytes(bytes, memory).counts.len());
        assert_eq!(sizes(0), [1 << 16, 1 << 18, 1 << 20]);
        assert_eq!(sizes(64 << 20), [1 << 16, 1 << 18, 1 << 24]);
        assert_eq!(sizes(300 << 20), [1 << 16, 1 << 18, 1 << 24]);
        assert_eq!(sizes(1 << 30), [1 << 16, 1 << 18, 1 << 26]);
        assert_eq!(sizes(u64::MAX), [1 << 16, 1 << 18, 1 << 26]);
        assert_eq!(Rarity::new().counts.len(), 1 << 24);
    }
}
