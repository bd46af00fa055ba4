//! Signatures: the data of a document that decisions need, made on any thread.

use super::coded::cut;
use crate::algorithm::{Algorithm, CompareOn, Remark};
use crate::hash::{combine, mix};
use crate::outline::{Parities, parities};
use crate::run::sign::{self, Scratch, SigningMemory, TooLarge};
use crate::tokenizer::Tokenizer;
use std::sync::Arc;

/// The data of a document that the index needs, made by [its own signer](super::Index::signer).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Signature {
    /// A hash of the identity of the index whose signer made it.
    pub(super) made_by: u64,
    /// The hash of its tokens in their order.
    pub(super) sequence: u128,
    /// Whether the algorithm cannot compare it, because it has too few features.
    pub(super) featureless: bool,
    /// The hashes of its keys.
    pub(super) tags: Vec<u32>,
    /// The fingerprint; or the features as stored, ascending.
    pub(super) evidence: Vec<u64>,
    /// Of features.
    pub(super) parities: Parities,
    /// The remark of the algorithm.
    pub(super) remark: Option<Box<Remark>>,
}

/// The hashes of the keys of a fingerprint: 32 bits each. The same key in another table has another hash.
pub(super) fn tags(algorithm: &dyn Algorithm, fingerprint: &[u64]) -> Vec<u32> {
    let mut keys = Vec::new();
    algorithm.keys(fingerprint, &mut keys);
    tags_of(algorithm, keys)
}

fn tags_of(algorithm: &dyn Algorithm, keys: Vec<u64>) -> Vec<u32> {
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
    made_by: u64,
    scratch: Scratch,
}

impl Signer {
    /// A signer for this algorithm, on tokens of this tokenizer; `made_by` is a hash of the identity.
    pub(super) fn new(algorithm: &Arc<dyn Algorithm>, tokenizer: &Arc<dyn Tokenizer>, seed: u64, made_by: u64) -> Self {
        let (algorithm, tokenizer) = (Arc::clone(algorithm), Arc::clone(tokenizer));
        Signer { algorithm, tokenizer, seed, made_by, scratch: Scratch::bounded(seed, u64::MAX) }
    }

    /// Makes signatures within this memory, which other signers may share.
    pub(crate) fn within(self, memory: Arc<SigningMemory>) -> Self {
        Signer { scratch: Scratch::new(self.seed, memory), ..self }
    }

    /// The signature of a text.
    pub fn sign(&mut self, text: &str) -> Signature {
        let made_by = self.made_by;
        self.sign_within(text).unwrap_or_else(|_| Signature { made_by, ..Signature::default() })
    }

    /// The signature of a text, unless it takes more memory than it may.
    pub(crate) fn sign_within(&mut self, text: &str) -> Result<Signature, TooLarge> {
        let algorithm = &*self.algorithm;
        let signer = sign::Signer::of(algorithm, &*self.tokenizer, self.seed);
        let scratch = &mut *signer.begin(text, &mut self.scratch);
        signer.cut(text, scratch)?;
        let sequence = signer.sequence(scratch);
        signer.features(scratch);
        let remark = scratch.features.remark.take().map(Box::new);
        let mut keys = Vec::new();
        if !signer.keys(scratch, &mut keys) {
            return Ok(Signature {
                made_by: self.made_by,
                sequence,
                featureless: true,
                remark,
                ..Signature::default()
            });
        }
        let compare_on = algorithm.compare_on();
        let evidence = if compare_on == CompareOn::Fingerprints {
            scratch.fingerprint.clone()
        } else {
            // Cutting sorts: the order of what is cut does not matter.
            if compare_on == CompareOn::Features {
                scratch.features.weights.clear();
                scratch.features.remove_repeats();
            }
            cut(&scratch.features.hashes)
        };
        Ok(Signature {
            made_by: self.made_by,
            sequence,
            featureless: false,
            parities: parities(&evidence),
            tags: tags_of(algorithm, keys),
            evidence,
            remark,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::Learned;
    use crate::algorithm::simhash::{SimHash, Weights};
    use crate::hash::mix;
    use crate::postings::Table;

    /// What a plan states of an index: look-ups find entries of other keys, because tags have 32 bits.
    #[test]
    fn as_many_false_candidates_as_expected() {
        const DOCUMENTS: u64 = 20_000;
        const QUERIES: u64 = 10_000;
        let mut simhash = SimHash::new(64, 3, vec![1], Weights::Binary, None);
        simhash.learn(&Learned::Tables(56));
        let layout = simhash.profile().layout.unwrap();
        let mut table = Table::default();
        for document in 0..DOCUMENTS {
            tags(&simhash, &[mix(document)]).into_iter().for_each(|tag| table.insert(tag, document as u32));
        }
        let mut found = 0.0;
        for query in DOCUMENTS..DOCUMENTS + QUERIES {
            for tag in tags(&simhash, &[mix(query)]) {
                table.find(tag, usize::MAX, |_| true, |_| found += 1.0).unwrap();
            }
        }
        let (documents, queries) = (DOCUMENTS as f64, QUERIES as f64);
        // Hardly any share a key of 40 bits.
        assert!(queries * layout.candidates(documents) < 0.1);
        let expected = queries * layout.false_candidates(documents);
        assert!(expected > 100.0 && (found - expected).abs() < 5.0 * expected.sqrt(), "{found}, not {expected}");
    }
}
