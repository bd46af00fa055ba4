//! Signatures: the data of a document that decisions need, made on any thread.

use super::coded::{cut, encode};
use crate::algorithm::{Algorithm, CompareOn, Remark};
use crate::hash::{combine, mix};
use crate::outline::{Parities, parities};
use crate::run::sign::{self, Scratch, SigningMemory, TooLarge};
use crate::run::sort::HashSort;
use crate::tokenizer::Tokenizer;
use std::sync::Arc;

/// The data of a document that the index needs, made by [its own signer](super::Index::signer).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Signature {
    head: Head,
    tags: Vec<u32>,
    evidence: Vec<u64>,
    code: Vec<u8>,
}

/// What a signature has beside lists.
#[derive(Clone, Debug, Default, PartialEq)]
struct Head {
    made_by: u64,
    sequence: u128,
    featureless: bool,
    parities: Parities,
    remark: Option<Box<Remark>>,
}

/// A signature, wherever it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Signed<'a> {
    /// A hash of the identity of the index whose signer made it.
    pub(super) made_by: u64,
    /// The hash of its tokens in their order.
    pub(super) sequence: u128,
    /// Whether the algorithm cannot compare it, because it has too few features.
    pub(super) featureless: bool,
    /// The hashes of its keys.
    pub(super) tags: &'a [u32],
    /// The fingerprint; or the features as stored, ascending.
    pub(super) evidence: &'a [u64],
    /// The [code](encode) of features.
    pub(super) code: &'a [u8],
    /// Of features.
    pub(super) parities: &'a Parities,
    /// The remark of the algorithm.
    pub(super) remark: Option<&'a Remark>,
}

impl Signature {
    pub(super) fn signed(&self) -> Signed<'_> {
        let Signature { head, tags, evidence, code } = self;
        head.with((tags, evidence, code))
    }
}

impl Head {
    fn with<'a>(&'a self, (tags, evidence, code): (&'a [u32], &'a [u64], &'a [u8])) -> Signed<'a> {
        let Head { made_by, sequence, featureless, ref parities, ref remark } = *self;
        let remark = remark.as_deref();
        Signed { made_by, sequence, featureless, tags, evidence, code, parities, remark }
    }
}

/// The signatures of the documents of a batch, with their ids, back to back: they are made by one thread and freed by another, which is
/// expensive for many small allocations.
#[derive(Debug, Default)]
pub(crate) struct Signatures {
    heads: Vec<(Head, Ends)>,
    ids: String,
    tags: Vec<u32>,
    evidence: Vec<u64>,
    code: Vec<u8>,
}

/// The ends of the lists of a document.
#[derive(Clone, Copy, Debug, Default)]
struct Ends {
    id: usize,
    tags: usize,
    evidence: usize,
    code: usize,
}

impl Signatures {
    /// The number of documents.
    pub fn len(&self) -> usize {
        self.heads.len()
    }

    /// The id and the signature of a document, by its number.
    pub fn get(&self, number: usize) -> (&str, Signed<'_>) {
        let (head, end) = &self.heads[number];
        let start = number.checked_sub(1).map_or(Ends::default(), |before| self.heads[before].1);
        let lists = (
            &self.tags[start.tags..end.tags],
            &self.evidence[start.evidence..end.evidence],
            &self.code[start.code..end.code],
        );
        (&self.ids[start.id..end.id], head.with(lists))
    }
}

/// The hashes of the keys of a fingerprint: 32 bits each. The same key in another table has another hash.
pub(super) fn tags(algorithm: &dyn Algorithm, fingerprint: &[u64]) -> Vec<u32> {
    let (mut keys, mut tags) = (Vec::new(), Vec::new());
    algorithm.keys(fingerprint, &mut keys);
    append_tags(algorithm, &keys, &mut tags);
    tags
}

/// Appends the hashes of keys, ascending, each once.
fn append_tags(algorithm: &dyn Algorithm, keys: &[u64], out: &mut Vec<u32>) {
    let tables = if algorithm.tables().is_some() { u64::MAX } else { 0 };
    let start = out.len();
    out.extend((0u64..).zip(keys).map(|(table, &key)| (combine(mix(table & tables), key) >> 32) as u32));
    let tags = &mut out[start..];
    tags.sort_unstable();
    let mut kept = 0;
    for at in 0..tags.len() {
        if at == 0 || tags[at] != tags[kept - 1] {
            tags[kept] = tags[at];
            kept += 1;
        }
    }
    out.truncate(start + kept);
}

/// Makes signatures; each thread has its own.
pub struct Signer {
    algorithm: Arc<dyn Algorithm>,
    tokenizer: Arc<dyn Tokenizer>,
    seed: u64,
    made_by: u64,
    scratch: Scratch,
    /// Buffers.
    keys: Vec<u64>,
    sort: HashSort,
}

impl Signer {
    /// A signer for this algorithm, on tokens of this tokenizer; `made_by` is a hash of the identity.
    pub(super) fn new(algorithm: &Arc<dyn Algorithm>, tokenizer: &Arc<dyn Tokenizer>, seed: u64, made_by: u64) -> Self {
        let (algorithm, tokenizer) = (Arc::clone(algorithm), Arc::clone(tokenizer));
        let scratch = Scratch::bounded(seed, u64::MAX);
        Signer { algorithm, tokenizer, seed, made_by, scratch, keys: Vec::new(), sort: HashSort::default() }
    }

    /// Makes signatures within this memory, which other signers may share.
    pub(crate) fn within(self, memory: Arc<SigningMemory>) -> Self {
        Signer { scratch: Scratch::new(self.seed, memory), ..self }
    }

    /// The signature of a text.
    pub fn sign(&mut self, text: &str) -> Signature {
        let (mut tags, mut evidence, mut code) = Default::default();
        let head = self.append(text, &mut tags, &mut evidence, &mut code);
        let head = head.unwrap_or_else(|_| Head { made_by: self.made_by, ..Head::default() });
        Signature { head, tags, evidence, code }
    }

    /// Adds the signature of a text, unless it takes more memory than it may.
    pub(crate) fn sign_within(&mut self, id: &str, text: &str, out: &mut Signatures) -> Result<(), TooLarge> {
        let Signatures { heads, ids, tags, evidence, code } = out;
        let head = self.append(text, tags, evidence, code)?;
        ids.push_str(id);
        heads.push((head, Ends { id: ids.len(), tags: tags.len(), evidence: evidence.len(), code: code.len() }));
        Ok(())
    }

    /// Appends the lists of the signature of a text.
    fn append(
        &mut self,
        text: &str,
        tags: &mut Vec<u32>,
        evidence: &mut Vec<u64>,
        code: &mut Vec<u8>,
    ) -> Result<Head, TooLarge> {
        let Signer { algorithm, keys, sort, made_by, .. } = self;
        let (algorithm, made_by) = (&**algorithm, *made_by);
        let signer = sign::Signer::of(algorithm, &*self.tokenizer, self.seed);
        let scratch = &mut *signer.begin(text, &mut self.scratch);
        signer.cut(text, scratch)?;
        let sequence = signer.sequence(scratch);
        signer.features(scratch);
        let remark = scratch.features.remark.take().map(Box::new);
        keys.clear();
        if !signer.keys(scratch, keys) {
            return Ok(Head { made_by, sequence, featureless: true, remark, ..Head::default() });
        }
        append_tags(algorithm, keys, tags);
        let (start, compare_on) = (evidence.len(), algorithm.compare_on());
        if compare_on == CompareOn::Fingerprints {
            evidence.extend_from_slice(&scratch.fingerprint);
        } else {
            cut(&mut scratch.features.hashes, compare_on == CompareOn::Features, sort, evidence);
            encode(&evidence[start..], code);
        }
        Ok(Head { made_by, sequence, featureless: false, parities: parities(&evidence[start..]), remark })
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
