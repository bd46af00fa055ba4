//! From a text to its signature: the only place that combines tokens, features, fingerprints, keys and evidence.
//!
//! ```text
//! text --cut--> tokens --sequence--> 128 bits: exact copies
//!                 |
//!              features --keys--> fingerprint, and the keys that it is found by
//!                 |
//!              evidence: what the algorithm compares
//! ```
//!
//! The steps are separate functions, because the batch makes keys of every document, and evidence only of candidates.

use crate::algorithm::{Algorithm, CompareOn, Features, PreparedAlgorithm};
use crate::error::Error;
use crate::hash::sequence_hash;
use crate::run::sort::HashSort;
use crate::source::Place;
use crate::tokenizer::{Bound, TokenDetail, Tokenizer, Tokens, is_overlapping, is_rewriting};
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

/// The memory that signing usually takes at most for each byte of a text: tokens of two bytes, or for tokenizers whose tokens
/// overlap of one byte, each with its hash, its text and its features. Tokens that are made of other tokens take as much.
const BYTES_A_BYTE: u64 = 24;
const BYTES_A_BYTE_OVERLAPPING: u64 = 48;

/// Buffers with more bytes than these are freed after the document: few documents need them. The first is for few threads.
const LONG: u64 = 4 << 20;
const LONG_AT_LEAST: u64 = 1 << 16;

/// The memory for signing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget {
    /// What all documents may take that are signed at one time, in bytes.
    pub together: u64,
    /// What a document may take that is signed alone, in bytes, and for each of its own bytes.
    pub alone: u64,
    pub alone_a_byte: u64,
    /// What is made of a document later, in bytes for each token, if that is more than signing takes.
    pub later_a_token: u64,
}

impl Budget {
    /// No bound.
    pub const NONE: Budget = Budget { together: u64::MAX, alone: u64::MAX, alone_a_byte: 0, later_a_token: 0 };
}

/// The memory that the workers of a run share for signing. Short documents are signed at any time; a long one when its
/// estimate fits beside those that are being signed, or alone. A document that takes more than its estimate is signed again, alone.
pub(crate) struct SigningMemory {
    budget: Budget,
    threads: u64,
    used: Mutex<u64>,
    freed: Condvar,
}

impl SigningMemory {
    /// For this many workers.
    pub fn new(budget: Budget, threads: usize) -> Arc<Self> {
        Arc::new(SigningMemory {
            budget,
            threads: threads.max(1) as u64,
            used: Mutex::default(),
            freed: Condvar::new(),
        })
    }

    /// What each worker may take at any time.
    fn share(&self) -> u64 {
        self.budget.together / self.threads
    }

    /// Waits for this much, if it is more than a share. Returns what was taken.
    fn take(&self, wanted: u64) -> u64 {
        if wanted <= self.share() {
            return 0;
        }
        let used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        let is_full = |used: &mut u64| *used > 0 && used.saturating_add(wanted) > self.budget.together;
        *self.freed.wait_while(used, is_full).unwrap_or_else(PoisonError::into_inner) += wanted;
        wanted
    }

    /// The bytes of a buffer from which on it is freed after the document. Each worker keeps several, which take half of the memory for
    /// signing at most.
    fn long(&self) -> u64 {
        (self.budget.together / (8 * self.threads)).clamp(LONG_AT_LEAST, LONG)
    }

    fn give_back(&self, taken: u64) {
        *self.used.lock().unwrap_or_else(PoisonError::into_inner) -= taken;
        self.freed.notify_all();
    }

    /// Waits until nothing else is taken, and takes more than everything.
    fn take_all(&self) -> u64 {
        self.take(self.budget.together.saturating_add(1))
    }

    /// What a document of this length may take alone.
    fn bound_alone(&self, length: u64) -> u64 {
        self.budget.alone.saturating_add(self.budget.alone_a_byte * length)
    }
}

/// Buffers of one worker, reused from document to document.
pub(crate) struct Scratch {
    pub tokens: Tokens,
    pub features: Features,
    pub fingerprint: Vec<u64>,
    sort: HashSort,
    memory: Arc<SigningMemory>,
    /// What was taken of the memory for the current document, what the document may take, and its length, in bytes.
    taken: u64,
    bound: u64,
    length: u64,
    /// Whether the document has all the memory that there is for one.
    is_alone: bool,
}

impl Scratch {
    /// Empty buffers, for hashes with this seed, and documents that are signed within this memory.
    pub fn new(seed: u64, memory: Arc<SigningMemory>) -> Self {
        Scratch {
            tokens: Tokens::new(TokenDetail::Hashes, seed),
            features: Features::default(),
            fingerprint: Vec::new(),
            sort: HashSort::default(),
            memory,
            taken: 0,
            bound: u64::MAX,
            length: 0,
            is_alone: false,
        }
    }

    /// Empty buffers for one document, which may take this many bytes.
    pub fn bounded(seed: u64, bound: u64) -> Self {
        Scratch { bound, is_alone: true, ..Self::new(seed, SigningMemory::new(Budget::NONE, 1)) }
    }

    /// The buffers for a text, of which each byte is estimated to take this much. If it is long, waits while others are signed, and
    /// frees the buffers afterwards.
    pub fn begin(&mut self, text: &str, a_byte: u64) -> Working<'_> {
        self.length = text.len() as u64;
        self.taken = self.memory.take(self.length.saturating_mul(a_byte));
        self.bound = self.taken.max(self.memory.share());
        self.is_alone = false;
        if self.taken > self.memory.budget.together {
            self.be_alone();
        }
        Working { scratch: self }
    }

    /// Fills the tokens, with this detail, of which each takes `more` bytes in addition to itself. A text that takes more than was
    /// estimated is cut again, once no other long text is being signed; and without what buffers hold of texts before, so that these
    /// do not decide whether there is an error.
    ///
    /// # Errors
    /// It takes more than the document may.
    pub fn cut(&mut self, detail: TokenDetail, more: u64, mut cut: impl FnMut(&mut Tokens)) -> Result<(), TooLarge> {
        loop {
            if self.tokens.detail() != detail {
                self.tokens = Tokens::new(detail, self.tokens.seed());
            }
            let was_empty = self.tokens.bytes_held() == 0;
            let later = if self.is_alone { self.memory.budget.later_a_token } else { 0 };
            self.tokens.bound(Bound { bytes: self.bound, more, later });
            cut(&mut self.tokens);
            if !self.tokens.is_beyond_bound() {
                return Ok(());
            }
            if self.is_alone && was_empty {
                return Err(TooLarge);
            }
            if self.is_alone {
                self.tokens = Tokens::new(detail, self.tokens.seed());
            } else {
                self.be_alone();
                self.memory.give_back(std::mem::take(&mut self.taken));
                self.taken = self.memory.take_all();
            }
        }
    }

    /// Frees the buffers of earlier documents, so that the current one has all that there is.
    fn be_alone(&mut self) {
        self.is_alone = true;
        self.bound = self.memory.bound_alone(self.length);
        self.tokens = Tokens::new(self.tokens.detail(), self.tokens.seed());
        self.features = Features::default();
    }

    /// Leaves each feature once, ascending. For features without weights.
    pub fn sort_features(&mut self) {
        debug_assert!(self.features.weights.is_empty(), "weights would no longer match their hashes");
        let distinct = self.sort.sort_distinct(&mut self.features.hashes);
        self.features.hashes.truncate(distinct);
    }

    /// Whether a buffer of so many bytes is freed after the document.
    fn is_long(&self, bytes: usize) -> bool {
        bytes as u64 > self.memory.long()
    }

    /// Frees another buffer of the worker after a long document.
    pub fn free(&self, words: &mut Vec<u64>) {
        if self.is_long(8 * words.capacity()) {
            *words = Vec::new();
        }
    }

    /// Frees the tokens of a long document.
    fn free_tokens(&mut self) {
        if self.is_long(self.tokens.bytes_held()) {
            self.tokens = Tokens::new(self.tokens.detail(), self.tokens.seed());
        }
    }

    fn free_long(&mut self) {
        self.free_tokens();
        if self.is_long(self.features.bytes_held()) {
            self.features = Features::default();
        }
    }
}

/// The buffers while a document is signed.
pub(crate) struct Working<'s> {
    scratch: &'s mut Scratch,
}

impl Deref for Working<'_> {
    type Target = Scratch;

    fn deref(&self) -> &Scratch {
        self.scratch
    }
}

impl DerefMut for Working<'_> {
    fn deref_mut(&mut self) -> &mut Scratch {
        self.scratch
    }
}

impl Drop for Working<'_> {
    fn drop(&mut self) {
        self.scratch.free_long();
        if self.scratch.taken > 0 {
            self.scratch.memory.give_back(std::mem::take(&mut self.scratch.taken));
        }
    }
}

/// Signing a document takes more memory than it may.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooLarge;

impl TooLarge {
    /// The error that ends the run.
    pub fn at(self, place: &Place) -> Error {
        Error::Full(format!("{place}: this record has too many tokens to be compared within `memory`: allow more"))
    }
}

/// Takes texts through the steps.
pub(crate) struct Signer<'a> {
    algorithm: &'a dyn Algorithm,
    /// The token detail that the algorithm reads.
    reads: TokenDetail,
    /// The requested tokenizer.
    asked: &'a dyn Tokenizer,
    /// The tokenizer that the algorithm requires instead.
    own: Option<&'a dyn Tokenizer>,
    seed: u64,
    /// The memory that signing is estimated to take for each byte of a text.
    a_byte: u64,
    /// The memory that the algorithm takes at most for each token, in addition to it.
    a_token: u64,
}

impl<'a> Signer<'a> {
    /// A signer for this prepared algorithm, on tokens of this tokenizer unless the prepared algorithm has its own.
    pub fn new(prepared: &'a PreparedAlgorithm, tokenizer: &'a dyn Tokenizer, seed: u64) -> Self {
        let signer = Signer::of(&*prepared.algorithm, tokenizer, seed);
        let own = prepared.tokenizer.as_deref();
        Signer { own, a_byte: own.map_or(0, bytes_a_byte).max(signer.a_byte), ..signer }
    }

    /// A signer for this algorithm, on tokens of this tokenizer.
    pub fn of(algorithm: &'a dyn Algorithm, tokenizer: &'a dyn Tokenizer, seed: u64) -> Self {
        let profile = algorithm.profile();
        Signer {
            algorithm,
            reads: profile.reads,
            asked: tokenizer,
            own: None,
            seed,
            a_byte: bytes_a_byte(tokenizer),
            a_token: profile.bytes_a_token,
        }
    }

    /// The buffers for a text; see [`Scratch::begin`].
    pub fn begin<'s>(&self, text: &str, scratch: &'s mut Scratch) -> Working<'s> {
        scratch.begin(text, self.a_byte)
    }

    /// Fills the tokens with the detail that the algorithm reads. Returns the number of tokens of the requested
    /// tokenizer, which the algorithm need not use.
    ///
    /// # Errors
    /// The tokens and what is made of them take more memory than the document may.
    pub fn cut(&self, text: &str, scratch: &mut Scratch) -> Result<usize, TooLarge> {
        self.cut_as(self.reads, text, scratch)
    }

    /// As [`cut`](Self::cut), with this token detail.
    pub fn cut_as(&self, detail: TokenDetail, text: &str, scratch: &mut Scratch) -> Result<usize, TooLarge> {
        self.cut_for(detail, self.a_token, text, scratch)
    }

    /// As [`cut`](Self::cut), with hashes alone, of which no features are made.
    pub fn cut_terms(&self, text: &str, scratch: &mut Scratch) -> Result<usize, TooLarge> {
        self.cut_for(TokenDetail::Hashes, 0, text, scratch)
    }

    /// Fills the tokens, of which each takes this much more later.
    fn cut_for(&self, detail: TokenDetail, more: u64, text: &str, scratch: &mut Scratch) -> Result<usize, TooLarge> {
        if scratch.tokens.seed() != self.seed {
            scratch.tokens = Tokens::new(detail, self.seed);
        }
        let mut asked = 0;
        scratch.cut(detail, more, |tokens| {
            self.asked.cut(text, tokens);
            asked = tokens.len();
            if let Some(own) = self.own {
                own.cut(text, tokens);
            }
        })?;
        Ok(asked)
    }

    /// The hash of the tokens in their order.
    pub fn sequence(&self, scratch: &Scratch) -> u128 {
        sequence_hash(scratch.tokens.hashes(), self.seed)
    }

    /// Fills the features from the tokens, which must not be used afterwards: those of a long document are gone.
    pub fn features(&self, scratch: &mut Scratch) {
        features_at_last(self.algorithm, scratch);
    }

    /// Appends what is compared of the document whose features are there: its fingerprint, or its features as evidence. Of a long
    /// document there is no second copy if `out` is empty: then the features are gone.
    pub fn compared(&self, compare_on: CompareOn, scratch: &mut Scratch, out: &mut Vec<u64>) {
        let (start, features) = (out.len(), &mut scratch.features);
        match compare_on {
            CompareOn::Fingerprints => self.algorithm.fingerprint(features, out),
            _ if start == 0 => std::mem::swap(out, &mut features.hashes),
            _ => out.extend_from_slice(&features.hashes),
        }
        let length = evidence_in(&mut scratch.sort, compare_on, &mut out[start..]);
        out.truncate(start + length);
        if scratch.is_long(8 * (out.capacity() - out.len())) {
            out.shrink_to_fit();
        }
    }

    /// Fills the fingerprint from the features, and appends its keys. Returns whether there is a fingerprint.
    pub fn keys(&self, Scratch { features, fingerprint, .. }: &mut Scratch, out: &mut Vec<u64>) -> bool {
        keys(self.algorithm, features, fingerprint, out)
    }
}

/// The memory that signing is estimated to take for each byte of a text that is cut by this tokenizer.
pub(crate) fn bytes_a_byte(tokenizer: &dyn Tokenizer) -> u64 {
    let name = tokenizer.name();
    if is_overlapping(&name) || is_rewriting(&name) { BYTES_A_BYTE_OVERLAPPING } else { BYTES_A_BYTE }
}

/// Fills the features from the tokens, which must have the detail that the algorithm reads.
pub(crate) fn features(algorithm: &dyn Algorithm, Scratch { tokens, features, .. }: &mut Scratch) {
    features.clear();
    algorithm.features(tokens, features);
}

/// Fills the features from the tokens, which are then gone if they take much memory.
fn features_at_last(algorithm: &dyn Algorithm, scratch: &mut Scratch) {
    if !scratch.is_long(scratch.tokens.bytes_held()) {
        return features(algorithm, scratch);
    }
    let Scratch { tokens, features, .. } = scratch;
    features.clear();
    tokens.allow_taking();
    algorithm.features(tokens, features);
    scratch.free_tokens();
}

/// Fills the fingerprint of these features, and appends its keys. Returns whether there is a fingerprint: a document
/// without one has too few features and is not compared.
pub(crate) fn keys(
    algorithm: &dyn Algorithm,
    features: &Features,
    fingerprint: &mut Vec<u64>,
    out: &mut Vec<u64>,
) -> bool {
    fingerprint.clear();
    algorithm.fingerprint(features, fingerprint);
    if !fingerprint.is_empty() {
        algorithm.keys(fingerprint, out);
    }
    !fingerprint.is_empty()
}

/// Turns feature hashes into evidence, or leaves a fingerprint unchanged. Sets are sorted and lose repeats; multisets
/// are sorted. Returns the length of the result, at the front.
pub(crate) fn evidence(compare_on: CompareOn, features: &mut [u64]) -> usize {
    evidence_in(&mut HashSort::default(), compare_on, features)
}

/// As [`evidence`], with this working memory.
pub(crate) fn evidence_in(sort: &mut HashSort, compare_on: CompareOn, features: &mut [u64]) -> usize {
    match compare_on {
        CompareOn::Fingerprints => features.len(),
        CompareOn::Features => sort.sort_distinct(features),
        CompareOn::Multisets => {
            sort.sort(features);
            features.len()
        }
    }
}

/// Sorts, and moves the first of each run of equal words to the front. Returns the number of distinct words.
pub(crate) fn sort_distinct(keys: &mut [u64]) -> usize {
    HashSort::default().sort_distinct(keys)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokenizer::Word;

    const BUDGET: Budget = Budget { together: 64 << 10, alone: 1 << 20, alone_a_byte: 2, later_a_token: 0 };

    /// Cuts a text whose bytes are estimated to take one byte each. Returns how often it was cut.
    fn cut(scratch: &mut Scratch, text: &str) -> (Result<(), TooLarge>, usize) {
        let (mut times, memory) = (0, Arc::clone(&scratch.memory));
        let cut = scratch.begin(text, 1).cut(TokenDetail::Hashes, 0, |tokens| {
            times += 1;
            assert!(times == 1 || *memory.used.lock().unwrap() > BUDGET.together);
            (&Word as &dyn Tokenizer).cut(text, tokens);
        });
        (cut, times)
    }

    #[test]
    fn a_text_that_takes_more_than_was_estimated_is_cut_alone() {
        let memory = SigningMemory::new(BUDGET, 2);
        let mut scratch = Scratch::new(0, Arc::clone(&memory));
        // The share of a worker is 32 KiB; what all may take 64, and a text alone more than one MiB.
        for (words, expected) in
            [(1000, (Ok(()), 1)), (10_000, (Ok(()), 2)), (20_000, (Ok(()), 2)), (40_000, (Ok(()), 1))]
        {
            assert_eq!(cut(&mut scratch, &"a ".repeat(words)), expected, "{words}");
            assert_eq!(*memory.used.lock().unwrap(), 0);
        }
        // Marks on a letter are sorted together.
        assert_eq!(cut(&mut scratch, &format!("a{}", "\u{301}".repeat(15_000))), (Ok(()), 2));
        assert_eq!(cut(&mut scratch, &format!("a{}", "\u{301}".repeat(150_000))), (Err(TooLarge), 1));
        assert_eq!(cut(&mut scratch, &"\u{fdfa}".repeat(15_000)), (Ok(()), 2));
        assert_eq!(cut(&mut scratch, &"\u{fdfa}".repeat(80_000)), (Err(TooLarge), 1));
        assert_eq!(*memory.used.lock().unwrap(), 0);
    }

    #[test]
    fn a_text_has_no_more_than_its_bound() {
        let mut scratch = Scratch::bounded(0, 1 << 20);
        let mut cut = |words| {
            let text = "a ".repeat(words);
            scratch.cut(TokenDetail::Texts, 8, |tokens| (&Word as &dyn Tokenizer).cut(&text, tokens))
        };
        assert_eq!((cut(40_000), cut(45_000), cut(40_000)), (Ok(()), Err(TooLarge), Ok(())));
    }

    #[test]
    fn what_earlier_texts_left_does_not_count() {
        let mut scratch = Scratch::bounded(0, 1 << 20);
        // The first leaves much memory for tokens, the second needs it for one run of text.
        for text in ["a ".repeat(100_000), "ที่นี่".repeat(2_000)] {
            let cut = scratch.cut(TokenDetail::Hashes, 0, |tokens| (&Word as &dyn Tokenizer).cut(&text, tokens));
            assert_eq!((cut, scratch.tokens.is_empty()), (Ok(()), false), "{}", scratch.tokens.bytes_held());
        }
    }
}
