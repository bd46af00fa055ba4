//! Signatures: the data of a document that decisions need, made on any thread.

use super::coded::{cut, decode, encode};
use super::frame::MAX_RECORD;
use crate::algorithm::{Algorithm, CompareOn, Remark};
use crate::error::Error;
use crate::hash::{combine, mix};
use crate::outline::{Parities, parities};
use crate::readable::display_size;
use crate::run::sign::{self, Scratch, SigningMemory, TooLarge};
use crate::run::sort::HashSort;
use crate::source::{Place, Problem, ProblemKind, Severity};
use crate::tokenizer::Tokenizer;
use std::sync::Arc;

/// The data of a document that the index needs, made by [its own signer](super::Index::signer).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Signature {
    head: Head,
    tags: Vec<u32>,
    fingerprint: Vec<u64>,
    code: Vec<u8>,
}

/// What a signature has beside lists.
#[derive(Clone, Debug, Default, PartialEq)]
struct Head {
    made_by: u64,
    sequence: u128,
    featureless: bool,
    /// The number of features, if these are compared.
    features: usize,
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
    pub(super) evidence: Evidence<'a>,
    /// Of features.
    pub(super) parities: &'a Parities,
    /// The remark of the algorithm.
    pub(super) remark: Option<&'a Remark>,
}

/// What is compared.
#[derive(Clone, Copy, Debug)]
pub(super) enum Evidence<'a> {
    /// The fingerprint; or the features as stored, ascending.
    Words(&'a [u64]),
    /// The [code](encode) of so many features.
    Coded(usize, &'a [u8]),
}

impl<'a> Evidence<'a> {
    /// The number of its words.
    pub fn len(self) -> usize {
        match self {
            Evidence::Words(words) => words.len(),
            Evidence::Coded(count, _) => count,
        }
    }

    /// Its words, decoded into a buffer if they are coded.
    pub fn words<'b>(self, buffer: &'b mut Vec<u64>) -> &'b [u64]
    where
        'a: 'b,
    {
        match self {
            Evidence::Words(words) => words,
            Evidence::Coded(count, code) => {
                buffer.clear();
                buffer.reserve_exact(count);
                decode(code, count, |element| buffer.push(element)).expect("it was encoded by a signer");
                buffer
            }
        }
    }
}

/// Why a document of a batch has no signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unsigned {
    /// Signing it takes more memory than it may.
    Memory(TooLarge),
    /// Its record is longer than an index can have.
    Record,
}

impl Unsigned {
    /// The problem of the document at a place with this id, and the error if that ends the run.
    pub fn at(self, place: &Place, id: &str) -> (Problem, Option<Error>) {
        let (message, error) = match self {
            Unsigned::Memory(too_large) => (
                "too many tokens to be compared within the memory (allow more with `memory`)".to_string(),
                Some(too_large.at(place)),
            ),
            Unsigned::Record => (
                format!("too many tokens: an index has at most {} of a document", display_size(MAX_RECORD as usize)),
                None,
            ),
        };
        let problem = Problem::at(place.clone(), Severity::Failed, ProblemKind::TooLong, message);
        (Problem { id: Some(id.to_string()), ..problem }, error)
    }
}

/// The length, in bytes, of what a record has beside the id, the tags and the evidence: its kind, the hash, the time, and the lengths of the
/// lists; at most.
const BESIDE_LISTS: u64 = 1 + 16 + 4 * 10;

impl<'a> Signed<'a> {
    /// The length, in bytes, of the record of a document with this id; a little more at most.
    pub(super) fn bytes_of_record(&self, id: &str) -> u64 {
        let evidence = match self.evidence {
            Evidence::Words(words) => 8 * words.len(),
            Evidence::Coded(_, code) => code.len(),
        };
        BESIDE_LISTS + (id.len() + 4 * self.tags.len() + evidence) as u64
    }

    /// The fingerprint, if that is compared.
    pub(super) fn fingerprint(&self) -> &'a [u64] {
        if let Evidence::Words(fingerprint) = self.evidence { fingerprint } else { &[] }
    }
}

impl Signature {
    pub(super) fn signed(&self) -> Signed<'_> {
        let Signature { head, tags, fingerprint, code } = self;
        head.with((tags, fingerprint, code))
    }
}

impl Head {
    fn with<'a>(&'a self, (tags, fingerprint, code): (&'a [u32], &'a [u64], &'a [u8])) -> Signed<'a> {
        let Head { made_by, sequence, featureless, features, ref parities, ref remark } = *self;
        let evidence = if features > 0 { Evidence::Coded(features, code) } else { Evidence::Words(fingerprint) };
        Signed { made_by, sequence, featureless, tags, evidence, parities, remark: remark.as_deref() }
    }
}

/// The signatures of the documents of a batch, with their ids, back to back: they are made by one thread and freed by another, which is
/// expensive for many small allocations.
#[derive(Debug, Default)]
pub(crate) struct Signatures {
    heads: Vec<(Head, Ends)>,
    ids: String,
    tags: Vec<u32>,
    fingerprints: Vec<u64>,
    code: Vec<u8>,
}

/// The ends of the lists of a document.
#[derive(Clone, Copy, Debug, Default)]
struct Ends {
    id: usize,
    tags: usize,
    fingerprint: usize,
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
            &self.fingerprints[start.fingerprint..end.fingerprint],
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
    /// The maximum length of the record of a document of a batch, in bytes.
    most_of_record: u64,
    /// The lengths of the lists of the last batch.
    last: Ends,
    /// Buffers.
    keys: Vec<u64>,
    sort: HashSort,
}

/// The maximum room in a list that is made before it is filled, in bytes.
const MOST_ROOM: usize = 1 << 18;

impl Signer {
    /// A signer for this algorithm, on tokens of this tokenizer; `made_by` is a hash of the identity.
    pub(super) fn new(algorithm: &Arc<dyn Algorithm>, tokenizer: &Arc<dyn Tokenizer>, seed: u64, made_by: u64) -> Self {
        let (algorithm, tokenizer) = (Arc::clone(algorithm), Arc::clone(tokenizer));
        let scratch = Scratch::bounded(seed, u64::MAX);
        let (last, keys, sort) = Default::default();
        Signer { algorithm, tokenizer, seed, made_by, scratch, most_of_record: u64::MAX, last, keys, sort }
    }

    /// Makes no signatures of documents of a batch whose records are longer than this, in bytes.
    pub(super) fn with_records(self, most_of_record: u64) -> Self {
        Signer { most_of_record, ..self }
    }

    /// Makes signatures within this memory, which other signers may share.
    pub(crate) fn within(self, memory: Arc<SigningMemory>) -> Self {
        Signer { scratch: Scratch::new(self.seed, memory), ..self }
    }

    /// The signature of a text.
    pub fn sign(&mut self, text: &str) -> Signature {
        let (mut tags, mut fingerprint, mut code) = Default::default();
        let head = self.append(text, &mut tags, &mut fingerprint, &mut code);
        let head = head.unwrap_or_else(|_| Head { made_by: self.made_by, ..Head::default() });
        Signature { head, tags, fingerprint, code }
    }

    /// No signatures yet, with room for as many as in the last batch.
    pub(crate) fn begin_batch(&self) -> Signatures {
        let room = |length: usize, size: usize| (length + length / 4).min(MOST_ROOM / size);
        Signatures {
            tags: Vec::with_capacity(room(self.last.tags, 4)),
            fingerprints: Vec::with_capacity(room(self.last.fingerprint, 8)),
            code: Vec::with_capacity(room(self.last.code, 1)),
            ..Signatures::default()
        }
    }

    /// Adds the signature of a text, unless it takes more memory than it may, or a longer record than an index can have.
    pub(crate) fn sign_within(&mut self, id: &str, text: &str, out: &mut Signatures) -> Result<(), Unsigned> {
        let Signatures { heads, ids, tags, fingerprints, code } = out;
        let before = (tags.len(), fingerprints.len(), code.len());
        let head = self.append(text, tags, fingerprints, code).map_err(Unsigned::Memory)?;
        let own = head.with((&tags[before.0..], &fingerprints[before.1..], &code[before.2..]));
        if own.bytes_of_record(id) > self.most_of_record {
            tags.truncate(before.0);
            fingerprints.truncate(before.1);
            code.truncate(before.2);
            code.shrink_to(before.2 + before.2 / 4);
            return Err(Unsigned::Record);
        }
        ids.push_str(id);
        let ends = Ends { id: ids.len(), tags: tags.len(), fingerprint: fingerprints.len(), code: code.len() };
        heads.push((head, ends));
        self.last = ends;
        Ok(())
    }

    /// Appends the lists of the signature of a text.
    fn append(
        &mut self,
        text: &str,
        tags: &mut Vec<u32>,
        fingerprints: &mut Vec<u64>,
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
        let mut head = Head { made_by, sequence, remark, ..Head::default() };
        let compare_on = algorithm.compare_on();
        if compare_on == CompareOn::Fingerprints {
            fingerprints.extend_from_slice(&scratch.fingerprint);
        } else {
            let features = &mut scratch.features.hashes;
            cut(features, compare_on == CompareOn::Features, sort);
            encode(features, code);
            (head.features, head.parities) = (features.len(), parities(features));
        }
        Ok(head)
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
