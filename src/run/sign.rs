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
use crate::source::Place;
use crate::tokenizer::{TokenDetail, Tokenizer, Tokens, is_overlapping};
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

/// The memory that signing takes at most for each byte of a text: tokens of two bytes, or for tokenizers whose tokens
/// overlap of one byte, each with its hash, its text and its features.
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
/// estimate fits beside those that are being signed, or alone.
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

    /// Waits for this much, if it is more than a share. Returns what was taken.
    fn take(&self, wanted: u64) -> u64 {
        if wanted <= self.budget.together / self.threads {
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

    /// What the document of this length may take for which this much was taken.
    fn bound(&self, taken: u64, length: u64) -> u64 {
        let Budget { together, alone, alone_a_byte, .. } = self.budget;
        if taken <= together { u64::MAX } else { alone.saturating_add(alone_a_byte * length) }
    }
}

/// Buffers of one worker, reused from document to document.
pub(crate) struct Scratch {
    pub tokens: Tokens,
    pub features: Features,
    pub fingerprint: Vec<u64>,
    memory: Arc<SigningMemory>,
    /// What the current document may take, in bytes, and how long it is.
    bound: u64,
    length: u64,
}

impl Scratch {
    /// Empty buffers, for hashes with this seed, and documents that are signed within this memory.
    pub fn new(seed: u64, memory: Arc<SigningMemory>) -> Self {
        let tokens = Tokens::new(TokenDetail::Hashes, seed);
        Scratch { tokens, features: Features::default(), fingerprint: Vec::new(), memory, bound: u64::MAX, length: 0 }
    }

    /// Empty buffers for one document, which may take this many bytes.
    pub fn bounded(seed: u64, bound: u64) -> Self {
        Scratch { bound, ..Self::new(seed, SigningMemory::new(Budget::NONE, 1)) }
    }

    /// The buffers for a text, of which each byte takes this much. If it is long, waits while others are signed, and frees
    /// the buffers afterwards.
    pub fn begin(&mut self, text: &str, a_byte: u64) -> Working<'_> {
        let length = text.len() as u64;
        self.length = length;
        let taken = self.memory.take(length.saturating_mul(a_byte));
        self.bound = self.memory.bound(taken, length);
        if a_byte == BYTES_A_BYTE_OVERLAPPING {
            // A copy of the text, of which the tokens are parts.
            self.bound = self.bound.saturating_sub(length);
        }
        Working { scratch: self, taken }
    }

    /// The maximum number of tokens of the current text, of which each takes this much in addition to itself.
    pub fn most_tokens(&self, more: u64) -> u64 {
        let detail = self.tokens.detail();
        let texts = if detail == TokenDetail::Hashes { 0 } else { self.length };
        self.bound.saturating_sub(texts) / (bytes_a_token(detail) + more).max(self.memory.budget.later_a_token)
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
    taken: u64,
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
        if self.taken > 0 {
            self.scratch.memory.give_back(self.taken);
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
    /// The memory that signing takes at most for each byte of a text.
    a_byte: u64,
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
        Signer {
            algorithm,
            reads: algorithm.reads(),
            asked: tokenizer,
            own: None,
            seed,
            a_byte: bytes_a_byte(tokenizer),
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
        self.cut_for(detail, self.algorithm.profile().bytes_a_token, text, scratch)
    }

    /// As [`cut`](Self::cut), with hashes alone, of which no features are made.
    pub fn cut_terms(&self, text: &str, scratch: &mut Scratch) -> Result<usize, TooLarge> {
        self.cut_for(TokenDetail::Hashes, 0, text, scratch)
    }

    /// Fills the tokens, of which each takes this much more later.
    fn cut_for(&self, detail: TokenDetail, more: u64, text: &str, scratch: &mut Scratch) -> Result<usize, TooLarge> {
        if scratch.tokens.detail() != detail || scratch.tokens.seed() != self.seed {
            scratch.tokens = Tokens::new(detail, self.seed);
        }
        let most = scratch.most_tokens(more);
        let tokens = &mut scratch.tokens;
        tokens.bound(most);
        self.asked.cut(text, tokens);
        let asked = tokens.len();
        if let Some(own) = self.own {
            own.cut(text, tokens);
        }
        if tokens.is_beyond_bound() { Err(TooLarge) } else { Ok(asked) }
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
    pub fn compared(&self, compare_on: CompareOn, Scratch { features, .. }: &mut Scratch, out: &mut Vec<u64>) {
        let start = out.len();
        match compare_on {
            CompareOn::Fingerprints => self.algorithm.fingerprint(features, out),
            _ if start == 0 => std::mem::swap(out, &mut features.hashes),
            _ => out.extend_from_slice(&features.hashes),
        }
        let length = evidence(compare_on, &mut out[start..]);
        out.truncate(start + length);
    }

    /// Fills the fingerprint from the features, and appends its keys. Returns whether there is a fingerprint.
    pub fn keys(&self, Scratch { features, fingerprint, .. }: &mut Scratch, out: &mut Vec<u64>) -> bool {
        keys(self.algorithm, features, fingerprint, out)
    }
}

/// The memory that signing takes at most for each byte of a text that is cut by this tokenizer.
pub(crate) fn bytes_a_byte(tokenizer: &dyn Tokenizer) -> u64 {
    if is_overlapping(&tokenizer.name()) { BYTES_A_BYTE_OVERLAPPING } else { BYTES_A_BYTE }
}

/// The size of a token, without its text.
fn bytes_a_token(detail: TokenDetail) -> u64 {
    let hash = size_of::<u64>();
    // Where its text is.
    let place = size_of::<u64>();
    (match detail {
        TokenDetail::Hashes => hash,
        TokenDetail::Texts => hash + place,
        TokenDetail::Everything => hash + place + size_of::<std::ops::Range<usize>>(),
    }) as u64
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
    match compare_on {
        CompareOn::Fingerprints => features.len(),
        CompareOn::Features => sort_distinct(features),
        CompareOn::Multisets => {
            features.sort_unstable();
            features.len()
        }
    }
}

/// Sorts, and moves the first of each run of equal words to the front. Returns the number of distinct words.
pub(crate) fn sort_distinct(keys: &mut [u64]) -> usize {
    keys.sort_unstable();
    let mut kept = 0;
    for i in 0..keys.len() {
        if i == 0 || keys[i] != keys[kept - 1] {
            keys[kept] = keys[i];
            kept += 1;
        }
    }
    kept
}
