//! Signatures: what of a document decides, made on any thread.

use super::coded::cut;
use crate::algorithm::{Algorithm, Compares, Features};
use crate::engine::outline::{Parities, parities};
use crate::hash::{combine, mix, sequence_hash};
use crate::tokenizer::{Tokenizer, Tokens};
use std::sync::Arc;

/// What the index must know of a document.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Signature {
    /// The hash of its tokens in their order.
    pub(super) sequence: u128,
    /// Whether it gives the algorithm nothing to compare.
    pub(super) featureless: bool,
    /// What its keys go by.
    pub(super) tags: Vec<u32>,
    /// The fingerprint; or the features as they are kept, ascending.
    pub(super) evidence: Vec<u64>,
    /// Of features.
    pub(super) parities: Parities,
}

/// What the keys of a fingerprint go by: 32 bits of their hash. The same key in another table is another key.
pub(super) fn tags(algorithm: &dyn Algorithm, fingerprint: &[u64]) -> Vec<u32> {
    let mut keys = Vec::new();
    algorithm.keys(fingerprint, &mut keys);
    let tables = if algorithm.tables().is_some() { u64::MAX } else { 0 };
    let mut tags: Vec<u32> =
        (0u64..).zip(keys).map(|(table, key)| (combine(mix(table & tables), key) >> 32) as u32).collect();
    tags.sort_unstable();
    tags.dedup();
    tags
}

/// Makes signatures; each thread has its own.
pub struct Signer {
    algorithm: Arc<dyn Algorithm>,
    tokenizer: Arc<dyn Tokenizer>,
    seed: u64,
    tokens: Tokens,
    features: Features,
    fingerprint: Vec<u64>,
}

impl Signer {
    /// For this algorithm, on tokens of this tokenizer.
    pub fn new(algorithm: &Arc<dyn Algorithm>, tokenizer: &Arc<dyn Tokenizer>, seed: u64) -> Self {
        Signer {
            tokens: Tokens::new(algorithm.reads(), seed),
            algorithm: Arc::clone(algorithm),
            tokenizer: Arc::clone(tokenizer),
            seed,
            features: Features::default(),
            fingerprint: Vec::new(),
        }
    }

    /// The signature of a text.
    pub fn sign(&mut self, text: &str) -> Signature {
        let Signer { algorithm, tokens, features, fingerprint, .. } = self;
        self.tokenizer.tokenize(text, tokens);
        features.clear();
        algorithm.features(tokens, features);
        fingerprint.clear();
        algorithm.fingerprint(features, fingerprint);
        let sequence = sequence_hash(tokens.hashes(), self.seed);
        if fingerprint.is_empty() {
            return Signature { sequence, featureless: true, ..Signature::default() };
        }
        let evidence = match algorithm.compares() {
            Compares::Fingerprints => fingerprint.clone(),
            Compares::Features => {
                features.remove_repeats();
                cut(&features.hashes)
            }
            Compares::Multisets => cut(&features.hashes),
        };
        let tags = tags(&**algorithm, fingerprint);
        Signature { sequence, featureless: false, parities: parities(&evidence), tags, evidence }
    }
}
