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
use crate::hash::sequence_hash;
use crate::tokenizer::{TokenDetail, Tokenizer, Tokens};

/// Buffers of one worker, reused from document to document.
pub(crate) struct Scratch {
    pub tokens: Tokens,
    pub features: Features,
    pub fingerprint: Vec<u64>,
}

impl Scratch {
    /// Empty buffers, for hashes with this seed.
    pub fn new(seed: u64) -> Self {
        let tokens = Tokens::new(TokenDetail::Hashes, seed);
        Scratch { tokens, features: Features::default(), fingerprint: Vec::new() }
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
}

impl<'a> Signer<'a> {
    /// A signer for this prepared algorithm, on tokens of this tokenizer unless the prepared algorithm has its own.
    pub fn new(prepared: &'a PreparedAlgorithm, tokenizer: &'a dyn Tokenizer, seed: u64) -> Self {
        let own = prepared.tokenizer.as_deref();
        Signer { own, ..Signer::of(&*prepared.algorithm, tokenizer, seed) }
    }

    /// A signer for this algorithm, on tokens of this tokenizer.
    pub fn of(algorithm: &'a dyn Algorithm, tokenizer: &'a dyn Tokenizer, seed: u64) -> Self {
        Signer { algorithm, reads: algorithm.reads(), asked: tokenizer, own: None, seed }
    }

    /// Fills the tokens with the detail that the algorithm reads. Returns the number of tokens of the requested
    /// tokenizer, which the algorithm need not use.
    pub fn cut(&self, text: &str, scratch: &mut Scratch) -> usize {
        self.cut_as(self.reads, text, scratch)
    }

    /// As [`cut`](Self::cut), with this token detail.
    pub fn cut_as(&self, detail: TokenDetail, text: &str, Scratch { tokens, .. }: &mut Scratch) -> usize {
        if tokens.detail() != detail || tokens.seed() != self.seed {
            *tokens = Tokens::new(detail, self.seed);
        }
        self.asked.tokenize(text, tokens);
        let asked = tokens.len();
        if let Some(own) = self.own {
            own.tokenize(text, tokens);
        }
        asked
    }

    /// The hash of the tokens in their order.
    pub fn sequence(&self, scratch: &Scratch) -> u128 {
        sequence_hash(scratch.tokens.hashes(), self.seed)
    }

    /// Fills the features from the tokens.
    pub fn features(&self, scratch: &mut Scratch) {
        features(self.algorithm, scratch);
    }

    /// Fills the fingerprint from the features, and appends its keys. Returns whether there is a fingerprint.
    pub fn keys(&self, Scratch { features, fingerprint, .. }: &mut Scratch, out: &mut Vec<u64>) -> bool {
        keys(self.algorithm, features, fingerprint, out)
    }
}

/// Fills the features from the tokens, which must have the detail that the algorithm reads.
pub(crate) fn features(algorithm: &dyn Algorithm, Scratch { tokens, features, .. }: &mut Scratch) {
    features.clear();
    algorithm.features(tokens, features);
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
