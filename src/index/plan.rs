//! How signatures are made for an index: an algorithm that needs no further learning, a tokenizer, a seed.

use super::Signer;
use super::crowded::crowded_keys;
use super::frame::FRAME_OVERHEAD;
use super::header::Header;
use super::outlines::{BYTES as OUTLINE_BYTES, Outlines};
use crate::algorithm::{
    self, Algorithm, AlgorithmFactory, Learned, Learns, MOST_DOCUMENTS, PreparedAlgorithm, Spec, StoredFeatures, Totals,
};
use crate::error::Error;
use crate::lexicon::FileIdentity;
use crate::postings::{Filter, Posting, Run};
use crate::tokenizer::Tokenizer;
use serde_json::Value;
use std::fmt;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::Arc;
use xxhash_rust::xxh3::xxh3_64;

/// The median length, in tokens, that algorithms are prepared for where they depend on it. The documents of a stream
/// are not known when it starts.
pub const MEDIAN_TOKENS: usize = 500;

/// The number of documents that the keys are chosen for where they are chosen for a batch.
const MANY_DOCUMENTS: usize = 1_000_000;

/// The number of documents that the tables of an index of fingerprints are chosen for if none is expected. A larger one is
/// slower than it could be, and a smaller one does not take much memory.
const USUAL_DOCUMENTS: u64 = 100_000;

/// The seed of an index. Anyone who knows it can construct texts that collide.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Seed {
    /// The seed of an existing index. A new index of MinHash in a file gets a random one: its pairs are verified whatever
    /// the seed is. Otherwise 0, so that equal streams give equal results.
    #[default]
    Auto,
    /// The seed of an existing index; otherwise a random one.
    Random,
    /// This seed. An existing index with another one is refused.
    Fixed(u64),
}

impl Seed {
    /// The seed of an index with this algorithm, given the one that its file has; `is_file` says whether it is in a file.
    fn resolve(self, stored: Option<u64>, algorithm: &dyn Algorithm, is_file: bool) -> u64 {
        match (self, stored) {
            (Seed::Fixed(seed), _) | (Seed::Auto | Seed::Random, Some(seed)) => seed,
            (Seed::Random, None) => random_seed(),
            (Seed::Auto, None) if is_file && algorithm.name() == "minhash" => random_seed(),
            (Seed::Auto, None) => 0,
        }
    }
}

/// An unpredictable number that readers of JSON keep, below 2⁵³; always of 16 digits so that indexes of equal documents
/// have equal sizes.
fn random_seed() -> u64 {
    const MIN: u64 = 1_000_000_000_000_000;
    // The standard library seeds its maps from the system.
    MIN + RandomState::new().build_hasher().finish() % (8 * MIN)
}

/// What an algorithm chooses its tables for, if it has a choice. Which documents are found does not depend on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Size {
    /// Not known: the tables are those for an index of 100,000 documents, which take little memory.
    #[default]
    Unknown,
    /// An index of this many documents: at most 4,294,967,294. If its keys will be [crowded](super::crowded_keys), the plan
    /// has a warning.
    Documents(u64),
    /// As many tables as an index was made with.
    Tables(usize),
}

impl Size {
    /// That of the index with this [header](super::header), if it is stored there.
    pub fn of_header(header: &Header) -> Option<Self> {
        match header.settings.get("tables")? {
            algorithm::Value::Integer(tables) => Some(Size::Tables((*tables).try_into().ok()?)),
            _ => None,
        }
    }
}

/// How signatures are made, apart from the seed of an existing index. The index itself
/// [makes the signatures](super::Index::signer).
#[derive(Clone)]
pub struct Plan {
    algorithm: Arc<dyn Algorithm>,
    tokenizer: Arc<dyn Tokenizer>,
    seed: Seed,
    text: Vec<(&'static str, &'static str)>,
    warnings: Vec<String>,
    terms_of: Vec<FileIdentity>,
}

impl fmt::Debug for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Without the seed: who knows it can prepare texts that collide.
        let mut plan = f.debug_struct("Plan");
        plan.field("algorithm", &self.algorithm.name()).field("tokenizer", &self.tokenizer.name());
        plan.finish_non_exhaustive()
    }
}

impl Plan {
    /// The plan of a factory, with [`Seed::Auto`], or the seed of its lexicon.
    ///
    /// # Errors
    /// The algorithm is refused, must count the whole collection first, has a lexicon with terms of another tokenizer, or has
    /// [rows](Algorithm::rows) that do not identify it: none, two of one name, or one named as another part of the identity.
    pub fn new(factory: &dyn AlgorithmFactory, tokenizer: Arc<dyn Tokenizer>) -> Result<Self, Error> {
        Self::sized(factory, tokenizer, Size::default())
    }

    /// As [`new`](Self::new), with tables for another number of documents.
    ///
    /// # Errors
    /// As for [`new`](Self::new); or an index cannot hold so many documents.
    pub fn sized(factory: &dyn AlgorithmFactory, tokenizer: Arc<dyn Tokenizer>, size: Size) -> Result<Self, Error> {
        let PreparedAlgorithm { mut algorithm, tokenizer: own, mut warnings, refusal, terms_of } =
            factory.prepare(MEDIAN_TOKENS)?;
        if let Some(refusal) = refusal {
            return Err(Error::Unsuitable(refusal));
        }
        match algorithm.learns() {
            // The order of features changes the cost, not the result.
            None | Some(Learns::Features) => {}
            Some(Learns::Terms) => {
                return Err(Error::Usage(format!(
                    "{} must know in how many documents terms are: give it a lexicon of documents like these with `lexicon` \
                     (`count_terms` makes one)",
                    algorithm.name()
                )));
            }
            Some(Learns::FrequencyBounds | Learns::Frequent { .. }) => {
                return Err(Error::Usage(
                    "`drop-common` counts over all documents, which a stream has not seen yet".into(),
                ));
            }
        }
        algorithm.learn(&Learned::Totals(Totals { fingerprints: MANY_DOCUMENTS, median_tokens: 0 }));
        match size {
            Size::Unknown => algorithm.learn(&Learned::Expected(USUAL_DOCUMENTS)),
            Size::Documents(documents) if documents > MOST_DOCUMENTS => {
                let expected =
                    format!("at most {MOST_DOCUMENTS}, the most documents of an index: more need several indexes");
                return Err(Error::parameter("expect", documents, expected));
            }
            Size::Documents(documents) => {
                algorithm.learn(&Learned::Expected(documents));
                warnings.extend(algorithm.layout().and_then(|layout| crowded_keys(&layout, documents)));
            }
            Size::Tables(tables) => algorithm.learn(&Learned::Tables(tables)),
        }
        let tokenizer = own.unwrap_or(tokenizer);
        Spec::new(&*algorithm, &*tokenizer, 0).check_identity()?;
        let algorithm = algorithm.into();
        // The terms are hashed already.
        let seed = terms_of.first().map_or(Seed::Auto, |terms| Seed::Fixed(terms.seed));
        if let Seed::Fixed(seed) = seed {
            terms_of.iter().try_for_each(|terms| terms.check(&tokenizer.name(), seed))?;
        }
        Ok(Plan { algorithm, tokenizer, seed, text: Vec::new(), warnings, terms_of })
    }

    /// Sets the seed.
    ///
    /// # Errors
    /// The terms of a lexicon were hashed with a seed, and this is another.
    pub fn with_seed(self, seed: Seed) -> Result<Self, Error> {
        match (self.terms_of.first(), seed) {
            (None, _) => Ok(Plan { seed, ..self }),
            (Some(_), Seed::Auto) => Ok(self),
            (Some(terms), Seed::Fixed(seed)) => terms.check(&terms.tokenizer, seed).map(|()| self),
            (Some(terms), Seed::Random) => Err(Error::Usage(format!(
                "a random seed has no effect with a {}, whose terms were hashed with the seed that it was read with",
                terms.what
            ))),
        }
    }

    /// Names an option that decides which text is read, beside those of algorithm and tokenizer. It becomes part of the identity
    /// of an index.
    pub fn with_text(mut self, name: &'static str, value: &'static str) -> Self {
        self.text.push((name, value));
        self
    }

    /// Whether the algorithm chooses its tables for a [`Size`].
    pub fn chooses_tables(&self) -> bool {
        self.algorithm.layout().is_some()
    }

    /// Warnings about the plan.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// The same plan without warnings, for an index that was made with it.
    pub fn without_warnings(self) -> Self {
        Plan { warnings: Vec::new(), ..self }
    }

    /// How signatures are made for an index in a file, given the seed in it; `None` if it is new.
    pub(super) fn for_file(&self, stored: Option<u64>) -> Signing {
        self.signing(self.seed.resolve(stored, &*self.algorithm, true))
    }

    /// How signatures are made for an index in memory.
    pub(super) fn for_memory(&self) -> Signing {
        self.signing(self.seed.resolve(None, &*self.algorithm, false))
    }

    fn signing(&self, seed: u64) -> Signing {
        let (algorithm, tokenizer) = (Arc::clone(&self.algorithm), Arc::clone(&self.tokenizer));
        let spec = Spec { text: self.text.clone(), ..Spec::new(&*algorithm, &*tokenizer, seed) };
        let identity = Value::Object(spec.identity_json()).to_string();
        Signing { algorithm, tokenizer, spec, made_by: xxh3_64(identity.as_bytes()) }
    }
}

/// How the signatures of an index are made.
pub(super) struct Signing {
    pub algorithm: Arc<dyn Algorithm>,
    tokenizer: Arc<dyn Tokenizer>,
    pub spec: Spec,
    /// A hash of the identity, which its signatures carry.
    pub made_by: u64,
}

impl Signing {
    pub fn signer(&self) -> Signer {
        Signer::new(&self.algorithm, &self.tokenizer, self.spec.seed, self.made_by)
    }
}

/// About how many bytes of a file an index takes for a document whose features are compared, and whose id has this many bytes. It follows
/// from the format, without the [tables](bytes_of_tables) beside the file.
pub fn bytes_on_disk(stored: StoredFeatures, id: usize) -> u64 {
    let StoredFeatures { features, keys } = stored;
    // The kind of the record, the length of the id, the hash of the tokens, the time, and the numbers of tags and of features.
    let head = FRAME_OVERHEAD + 1 + 1 + id as u64 + 16 + 5 + 2 + 2;
    // A tag has 4 bytes. Features are differences of numbers of 44 bits in a Rice code: the low bits, a zero, and a one for each unit of
    // the high bits, of which the last feature has all.
    let high = (features as u64).max(1).ilog2();
    let bits = features as u64 * u64::from(44 - high + 1) + (1 << high);
    head + 4 * keys as u64 + bits.div_ceil(8)
}

/// About how many bytes the folder of tables beside an index takes for a document whose features are compared, once they are merged. It
/// follows from the format.
pub fn bytes_of_tables(stored: StoredFeatures) -> u64 {
    // Those of keys and of the id.
    let postings = stored.keys as u64 + 1;
    let (place, time) = (size_of::<u64>() as u64, size_of::<u32>() as u64);
    size_of::<Posting>() as u64 * postings + Filter::bytes_for(postings) + OUTLINE_BYTES as u64 + place + time
}

/// How many bytes of memory an index in a file takes for so many documents whose features are compared, as
/// [`Limits::memory`](super::Limits::memory) counts: what stays once its tables are on the disk, and the room that they have until then.
/// Documents of a template take more: their rare words are keys too.
pub fn bytes_in_memory(stored: StoredFeatures, documents: u64) -> u64 {
    // Of an id there is one posting.
    let postings = [documents.saturating_mul(stored.keys as u64), documents].map(Run::bytes_for);
    let places = size_of::<u64>() as u64 * documents;
    let staying = places + Outlines::bytes_in_runs(documents) + postings[0] + postings[1] + BYTES_OF_TIMES;
    staying.saturating_mul(8).div_ceil(7)
}

/// What the times take of documents that were remembered within a few seconds, and at least.
const BYTES_OF_TIMES: u64 = 4096;

#[cfg(test)]
mod tests {
    use super::super::coded::{cut, encode};
    use super::*;
    use crate::run::sort::HashSort;

    /// Against the codes of sets of pseudo-random numbers.
    #[test]
    fn bytes_of_features_are_those_of_their_code() {
        let of = |features| bytes_on_disk(StoredFeatures { features, keys: 0 }, 0) - 43;
        for features in [1, 10, 100, 213, 255, 256, 5000] {
            let mut set: Vec<u64> = (0..features as u64).collect();
            let mut code = Vec::new();
            cut(&mut set, true, &mut HashSort::default());
            encode(&set, &mut code);
            let found = code.len() as f64;
            assert!(
                (of(features) as f64 - found).abs() <= 2.0 + found / 50.0,
                "{features}: {} and {found}",
                of(features)
            );
        }
    }
}
