//! Two documents as an algorithm compares them: their features, their fingerprints, their similarity, and whether a
//! scan of the two would report them; if not, why not.
//!
//! The result agrees with [`engine::scan`](crate::engine::scan) of the two documents, but the algorithm is called
//! directly.

use crate::algorithm::parameter::Settings;
use crate::algorithm::{
    ALGORITHMS, Agreement, Algorithm, AlgorithmFactory, CompareOn, FingerprintForm, Learned, Learns, PreparedAlgorithm,
    Row, RunSummary, TableFactory, TermUse, Totals,
};
use crate::engine::{ScanOptions, learned_from, median_of};
use crate::error::Error;
use crate::index::MEDIAN_TOKENS;
use crate::lexicon::Rarity;
use crate::passages::Overlap;
use crate::run::sign::{self, Scratch, Signer, TooLarge};
use crate::similarity::{self, Similarity};
use crate::source::{Batch, Source};
use crate::tokenizer::{TokenDetail, Tokenizer, Tokens, Word};
use std::ops::ControlFlow;
use std::sync::Arc;

/// The memory for the tokens and features of one document, in addition to twice its length. Tests reach a lower bound.
const BYTES_OF_ONE: u64 = if cfg!(test) { 1 << 20 } else { 256 << 20 };

/// The judgement of an algorithm on two documents.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Comparison {
    /// The algorithm's name, as in records.
    pub algorithm: &'static str,
    /// What its similarity measures.
    pub measure: &'static str,
    /// The tokenizer that it required instead of the given one.
    pub tokenizer: Option<String>,
    /// Its parameters as resolved for these two documents.
    pub parameters: Vec<Row>,
    /// Warnings about this algorithm on these documents.
    pub warnings: Vec<String>,
    /// The features and fingerprints; `None` if there are none, because the algorithm needs a whole collection or is
    /// refused.
    pub evidence: Option<Evidence>,
    /// The outcome of a scan of the two.
    pub verdict: Verdict,
}

/// The features and fingerprints of two documents, and their agreement.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Evidence {
    /// The number of features of each, repeats included.
    pub features: [usize; 2],
    /// The numbers of their distinct features, and of those in common.
    pub distinct: Overlap,
    /// The fingerprints. An empty one means too few features.
    pub fingerprints: [Vec<u64>; 2],
    /// How the fingerprints are written.
    pub form: FingerprintForm,
    /// The terms of each that count, for algorithms where not all do. `features` and `distinct` are then of these.
    pub terms: Option<[CountedTerms; 2]>,
    /// How far the fingerprints agree; empty if one of them is.
    pub agreement: Vec<Agreement>,
    /// The exact similarity, also below the threshold; `None` if a fingerprint is empty.
    pub similarity: Option<Similarity>,
    /// The number of differing bits that it is computed from, for measures that have one.
    pub distance: Option<u32>,
    /// The probability that a pair of this similarity is found, where that depends on chance.
    pub found_with: Option<f64>,
}

/// The terms of a document that count.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CountedTerms {
    /// The distinct terms that count, in the order of their bytes.
    pub counting: Vec<String>,
    /// The number of all distinct terms.
    pub distinct: usize,
    /// Why other terms than these make the fingerprint, or none.
    pub note: Option<&'static str>,
}

/// The distance of two documents as vectors of the counts of their tokens.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct CountVectors {
    /// The cosine of the angle between them, from 0 to 1; `None` if one has no tokens.
    pub cosine: Option<f64>,
    /// Their Euclidean distance: 0 for equal counts, without an upper bound.
    pub euclidean: f64,
}

impl CountVectors {
    /// The distances of documents with these token hashes, in any order.
    ///
    /// # Cost
    /// A sort of each.
    pub fn of(a: &[u64], b: &[u64]) -> Self {
        let [a, b] = [a, b].map(|hashes| {
            let mut hashes = hashes.to_vec();
            hashes.sort_unstable();
            hashes
        });
        let both = !a.is_empty() && !b.is_empty();
        let cosine = both.then(|| similarity::cosine(&a, &b).value());
        CountVectors { cosine, euclidean: similarity::euclidean(&a, &b) }
    }
}

/// Whether a scan reports two documents.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verdict {
    /// They are reported, with the similarity of the evidence; as exact copies if their tokens are equal.
    Reported {
        /// Whether their tokens are equal.
        copies: bool,
    },
    /// They are less similar than the threshold.
    BelowThreshold,
    /// They are similar enough, but missed, because they share no key.
    NoKeyInCommon,
    /// These of the two documents have too few features for the algorithm.
    TooFewFeatures([bool; 2]),
    /// The algorithm is refused for documents like these, for this reason.
    Refused(String),
    /// The algorithm needs the frequencies of terms or features in a collection, which two documents are not: see [`compare_in`].
    NeedsCollection,
}

impl Verdict {
    /// Whether they are reported.
    pub fn is_reported(&self) -> bool {
        matches!(self, Verdict::Reported { .. })
    }
}

/// Compares two texts as the algorithm of the factory does. `tokenizer` is used unless the algorithm requires another;
/// `seed` seeds the hashes.
///
/// # Errors
/// As for [`AlgorithmFactory::prepare`]. Also, a lexicon must have terms of this tokenizer and seed, and the tokens of a
/// text must fit in 256 MiB and twice its length. A refusal is not an error but a [`Verdict`].
///
/// # Cost
/// That of scanning two documents on one thread.
///
/// ```
/// use neardups::algorithm::{Entry, parameter::Settings};
/// use neardups::compare::{Verdict, compare};
/// use neardups::tokenizer::Word;
///
/// let factory = Entry::by_name("minhash")?.factory(Settings::default())?;
/// let texts = ["A rose is a rose is a rose, she said.", "A rose is a rose is a rose, he said."];
/// let comparison = compare(texts, &factory, &Word, 0)?;
/// assert_eq!(comparison.verdict, Verdict::BelowThreshold);
/// // Three of seven pairs of neighbouring words.
/// assert_eq!(comparison.evidence.unwrap().similarity.unwrap().value(), 3.0 / 7.0);
/// # Ok::<(), neardups::Error>(())
/// ```
pub fn compare(
    texts: [&str; 2],
    factory: &dyn AlgorithmFactory,
    tokenizer: &dyn Tokenizer,
    seed: u64,
) -> Result<Comparison, Error> {
    compare_among(median_tokens(texts, tokenizer, seed), texts, factory, tokenizer, seed)
}

/// As [`compare`], with the parameters for documents of a collection, whose median length is `median_tokens`
/// (see [`MeasuredSource`]).
///
/// # Errors
/// As for [`compare`].
pub fn compare_among(
    median_tokens: usize,
    texts: [&str; 2],
    factory: &dyn AlgorithmFactory,
    tokenizer: &dyn Tokenizer,
    seed: u64,
) -> Result<Comparison, Error> {
    compare_within(bytes_of_one, median_tokens, texts, factory, tokenizer, seed)
}

/// As [`compare_among`], for documents of this source: what the algorithm must know about a collection, such as the frequencies of terms, it
/// learns from it, as a scan of the source does. The options are those of the scan.
///
/// # Errors
/// As for [`compare`], and those of [`engine::scan`](crate::engine::scan) while it counts. A source that can be read only once must
/// [keep](Source::keep_for_second_read) what it read.
///
/// # Cost
/// That of [`compare`], and the readings before the last one of a scan, if the algorithm must know something.
pub fn compare_in(
    source: &mut dyn Source,
    options: &ScanOptions,
    median_tokens: usize,
    texts: [&str; 2],
    factory: &dyn AlgorithmFactory,
) -> Result<Comparison, Error> {
    let (tokenizer, seed) = (&*options.tokenizer, options.seed);
    let prepared = factory.prepare(median_tokens)?;
    prepared.check_terms(tokenizer, seed)?;
    if prepared.algorithm.learns().is_none_or(|wanted| wanted == Learns::Features) {
        return compare_among(median_tokens, texts, factory, tokenizer, seed);
    }
    if let Some(refusal) = prepared.refusal {
        let comparison = compare_among(median_tokens, texts, factory, tokenizer, seed)?;
        return Ok(Comparison { verdict: Verdict::Refused(refusal), ..comparison });
    }
    let learned = learned_from(source, factory, options)?;
    if let Some(error) = source.failure() {
        return Err(error);
    }
    let prepared = PreparedAlgorithm { warnings: prepared.warnings, ..learned };
    compare_prepared(prepared, bytes_of_one, median_tokens, texts, tokenizer, seed)
}

fn bytes_of_one(text: &str) -> u64 {
    BYTES_OF_ONE + 2 * text.len() as u64
}

/// As [`compare_among`], with this bound on the memory for the tokens and features of a text, in bytes.
fn compare_within(
    bound: impl Fn(&str) -> u64,
    median_tokens: usize,
    texts: [&str; 2],
    factory: &dyn AlgorithmFactory,
    tokenizer: &dyn Tokenizer,
    seed: u64,
) -> Result<Comparison, Error> {
    let prepared = factory.prepare(median_tokens)?;
    prepared.check_terms(tokenizer, seed)?;
    compare_prepared(prepared, bound, median_tokens, texts, tokenizer, seed)
}

/// The same, with a prepared algorithm, which may have learned from a collection.
fn compare_prepared(
    prepared: PreparedAlgorithm,
    bound: impl Fn(&str) -> u64,
    median_tokens: usize,
    texts: [&str; 2],
    tokenizer: &dyn Tokenizer,
    seed: u64,
) -> Result<Comparison, Error> {
    let PreparedAlgorithm { mut algorithm, tokenizer: own, warnings, refusal, .. } = prepared;
    algorithm.learn(&Learned::Totals(Totals { fingerprints: 2, median_tokens }));
    let name = own.as_ref().map(|own| own.name().into_owned());
    let tokenizer = own.as_deref().unwrap_or(tokenizer);
    let mut documents = texts.map(|text| Scratch::bounded(seed, bound(text)));
    for ((document, text), which) in documents.iter_mut().zip(texts).zip(["first", "second"]) {
        Signer::of(&*algorithm, tokenizer, seed).cut(text, document).map_err(|TooLarge| {
            Error::Full(format!("the {which} document has too many tokens to be compared in memory"))
        })?;
    }
    let knows_all = learn(&mut *algorithm, &mut documents, texts);
    let mut comparison = Comparison {
        algorithm: algorithm.name(),
        measure: algorithm.measure(),
        tokenizer: name,
        parameters: algorithm.parameters(),
        warnings,
        evidence: None,
        verdict: Verdict::NeedsCollection,
    };
    if !knows_all {
        return Ok(comparison);
    }
    let (evidence, verdict) = judge(&mut *algorithm, &mut documents, median_tokens);
    algorithm.check_learned()?;
    let mut run = RunSummary::default();
    for (document, fingerprint) in documents.iter_mut().zip(&evidence.fingerprints) {
        run.add(fingerprint.is_empty(), document.features.remark.take());
    }
    comparison.parameters = algorithm.parameters();
    comparison.warnings.extend(algorithm.warnings(&run));
    comparison.evidence = Some(evidence);
    comparison.verdict = refusal.map_or(verdict, Verdict::Refused);
    Ok(comparison)
}

/// The exact similarity of two texts by the default algorithm: the Jaccard similarity of their runs of words (of as
/// many words as texts of this length allow; of runs of four characters if one has fewer than ten words), ignoring case
/// and punctuation. `None` if one of them has too few features. [`compare`] takes any algorithm, and returns more.
///
/// # Cost
/// Linear in the texts: some 30 bytes for each word, however long they are. [`compare`] has a bound on memory.
///
/// ```
/// let similarity = neardups::similarity("A rose is a rose is a rose, she said.", "A rose is a rose is a rose, he said.");
/// assert_eq!(similarity.unwrap().value(), 3.0 / 7.0);
/// ```
pub fn similarity(a: &str, b: &str) -> Option<Similarity> {
    // Without a bound and without a lexicon, nothing can fail.
    let median = median_tokens([a, b], &Word, 0);
    let comparison =
        default_factory().and_then(|factory| compare_within(|_| u64::MAX, median, [a, b], &factory, &Word, 0));
    comparison.expect("the defaults are sound").evidence?.similarity
}

fn default_factory() -> Result<TableFactory, Error> {
    ALGORITHMS[0].factory(Settings::default())
}

/// The fingerprint of one text, as a stream with these settings makes it: for MinHash its slots, for SimHash its bits,
/// and so on. Empty if the text has too few features. Fingerprints by one factory, tokenizer and seed can be compared,
/// however long their texts are: parameters that follow the length of documents are those for
/// [`MEDIAN_TOKENS`].
///
/// # Errors
/// As for [`AlgorithmFactory::prepare`]. Also, the algorithm must know a whole collection first.
///
/// ```
/// use neardups::{SimHash, tokenizer::Word};
///
/// let simhash = SimHash::builder().build()?;
/// let text = "the quick brown fox jumps over the lazy dog ".repeat(20);
/// assert_eq!(neardups::compare::fingerprint(&text, &simhash, &Word, 0)?.len(), 1);
/// # Ok::<(), neardups::Error>(())
/// ```
pub fn fingerprint(
    text: &str,
    factory: &dyn AlgorithmFactory,
    tokenizer: &dyn Tokenizer,
    seed: u64,
) -> Result<Vec<u64>, Error> {
    let prepared = factory.prepare(MEDIAN_TOKENS)?;
    prepared.check_terms(tokenizer, seed)?;
    let PreparedAlgorithm { algorithm, tokenizer: own, refusal, .. } = prepared;
    if let Some(refusal) = refusal {
        return Err(Error::Unsuitable(refusal));
    }
    if algorithm.learns().is_some_and(|wanted| wanted != Learns::Features) {
        return Err(Error::Unsuitable(format!("{} must know a whole collection first", algorithm.name())));
    }
    let signer = Signer::of(&*algorithm, own.as_deref().unwrap_or(tokenizer), seed);
    let mut scratch = Scratch::bounded(seed, u64::MAX);
    _ = signer.cut(text, &mut scratch);
    signer.features(&mut scratch);
    signer.keys(&mut scratch, &mut Vec::new());
    algorithm.check_learned()?;
    Ok(scratch.fingerprint)
}

/// The median length that a scan of the two documents uses: the shorter of those that have tokens.
pub fn median_tokens(texts: [&str; 2], tokenizer: &dyn Tokenizer, seed: u64) -> usize {
    let mut tokens = Tokens::new(TokenDetail::Hashes, seed);
    let lengths = texts.map(|text| {
        tokenizer.cut(text, &mut tokens);
        tokens.len()
    });
    lengths.into_iter().filter(|&length| length > 0).min().unwrap_or(0)
}

/// A source whose documents are measured as they are read, so that two of them can be compared as a scan of all does.
///
/// ```
/// use neardups::compare::MeasuredSource;
/// use neardups::source::{Documents, Record};
/// use neardups::tokenizer::Word;
///
/// let mut documents = Documents::new([("a", "one"), ("b", "one two"), ("c", ""), ("d", "one two three")]);
/// let mut measured = MeasuredSource::new(&mut documents, &Word, 0);
/// let [a, d] = Record::with_ids(&mut measured, ["a", "d"]);
/// assert_eq!((measured.documents(), measured.median_tokens()), (4, 2));
/// ```
pub struct MeasuredSource<'a> {
    source: &'a mut dyn Source,
    tokenizer: &'a dyn Tokenizer,
    tokens: Tokens,
    lengths: Vec<u32>,
}

impl<'a> MeasuredSource<'a> {
    /// Measures the documents of this source in tokens of this tokenizer.
    pub fn new(source: &'a mut dyn Source, tokenizer: &'a dyn Tokenizer, seed: u64) -> Self {
        MeasuredSource { source, tokenizer, tokens: Tokens::new(TokenDetail::Hashes, seed), lengths: Vec::new() }
    }

    /// The number of documents of the last reading.
    pub fn documents(&self) -> usize {
        self.lengths.len()
    }

    /// The median length that a scan of the documents of the last reading uses: the lower one of those that have tokens.
    pub fn median_tokens(&self) -> usize {
        median_of(&self.lengths)
    }
}

impl Source for MeasuredSource<'_> {
    fn read(&mut self, deliver: &mut dyn FnMut(Batch) -> ControlFlow<()>) {
        let MeasuredSource { source, tokenizer, tokens, lengths } = self;
        lengths.clear();
        source.read(&mut |batch| {
            batch.documents(&mut |document| {
                if let Ok(document) = document {
                    tokenizer.cut(&document.text, tokens);
                    lengths.push(u32::try_from(tokens.len()).unwrap_or(u32::MAX));
                }
            });
            deliver(batch)
        });
    }

    fn failure(&self) -> Option<Error> {
        self.source.failure()
    }
}

/// Teaches the algorithm what it can learn from two documents. Returns whether that is all it needs.
fn learn(algorithm: &mut dyn Algorithm, documents: &mut [Scratch; 2], texts: [&str; 2]) -> bool {
    while let Some(wanted) = algorithm.learns() {
        // The frequencies of features decide the cost of the search, not its result. Anything else needs a collection.
        if wanted != Learns::Features {
            return false;
        }
        let rarity = Rarity::for_bytes(texts.iter().map(|text| text.len() as u64).sum(), 0);
        for document in &mut *documents {
            sign::features(algorithm, document);
            evidence_of(CompareOn::Features, document).into_iter().for_each(|feature| rarity.add(feature));
        }
        algorithm.learn(&Learned::Features(Arc::new(rarity)));
    }
    true
}

/// The data of a document that is compared, given its features and fingerprint.
fn evidence_of(compare_on: CompareOn, document: &Scratch) -> Vec<u64> {
    let from = if compare_on == CompareOn::Fingerprints { &document.fingerprint } else { &document.features.hashes };
    let mut evidence = from.clone();
    let length = sign::evidence(compare_on, &mut evidence);
    evidence.truncate(length);
    evidence
}

fn judge(algorithm: &mut dyn Algorithm, documents: &mut [Scratch; 2], median_tokens: usize) -> (Evidence, Verdict) {
    let copies = documents[0].tokens.hashes() == documents[1].tokens.hashes();
    for document in &mut *documents {
        sign::features(algorithm, document);
        sign::keys(algorithm, &document.features, &mut document.fingerprint, &mut Vec::new());
    }
    let fingerprints = documents.each_ref().map(|document| document.fingerprint.clone());
    let terms = counted_terms(algorithm, documents);
    let [a, b] = match &terms {
        // The features are digests of the terms.
        Some(terms) => terms.each_ref().map(|(_, hashes)| hashes.clone()),
        None => documents.each_ref().map(|document| evidence_of(CompareOn::Features, document)),
    };
    let mut evidence = Evidence {
        features: match &terms {
            Some(_) => [a.len(), b.len()],
            None => documents.each_ref().map(|document| document.features.count()),
        },
        distinct: Overlap::of_sets(&a, &b),
        terms: terms.map(|terms| terms.map(|(terms, _)| terms)),
        fingerprints,
        form: algorithm.profile().form,
        agreement: Vec::new(),
        similarity: None,
        distance: None,
        found_with: None,
    };
    let featureless = evidence.fingerprints.each_ref().map(Vec::is_empty);
    let fingerprints = featureless.iter().filter(|&&none| !none).count();
    let fingerprints = if copies { fingerprints.min(1) } else { fingerprints };
    algorithm.learn(&Learned::Totals(Totals { fingerprints, median_tokens }));
    if featureless.contains(&true) {
        return (evidence, Verdict::TooFewFeatures(featureless));
    }
    let [one, other] = evidence.fingerprints.each_ref().map(Vec::as_slice);
    let compare_on = algorithm.compare_on();
    let [a, b] = documents.each_ref().map(|document| evidence_of(compare_on, document));
    let similarity = if copies { Some(Similarity::ONE) } else { algorithm.similarity(&a, &b) };
    let verdict = if copies {
        Verdict::Reported { copies }
    } else if a.is_empty() || b.is_empty() || algorithm.compare(&a, &b).is_none() {
        Verdict::BelowThreshold
    } else if share_key(algorithm, one, other) {
        Verdict::Reported { copies }
    } else {
        Verdict::NoKeyInCommon
    };
    evidence.agreement = algorithm.agreement(one, other);
    evidence.similarity = similarity;
    evidence.distance = similarity.and_then(|similarity| algorithm.distance(similarity));
    evidence.found_with =
        if copies { algorithm.found_with(Similarity::ONE) } else { algorithm.pair_found_with(&a, &b) };
    (evidence, verdict)
}

/// The terms that count of each document with their hashes, ascending; `None` if all terms do.
fn counted_terms(algorithm: &dyn Algorithm, documents: &[Scratch; 2]) -> Option<[(CountedTerms, Vec<u64>); 2]> {
    let of = |Scratch { tokens, .. }: &Scratch| {
        let TermUse { counting, distinct, note } = algorithm.terms(tokens)?;
        let mut hashes: Vec<u64> = counting.iter().map(|&i| tokens.hashes()[i]).collect();
        hashes.sort_unstable();
        let counting = counting.iter().map(|&i| tokens.text(i).to_string()).collect();
        Some((CountedTerms { counting, distinct, note }, hashes))
    };
    let [a, b] = documents;
    Some([of(a)?, of(b)?])
}

/// Whether a scan would compare the two documents.
fn share_key(algorithm: &dyn Algorithm, a: &[u64], b: &[u64]) -> bool {
    if let Some(tables) = algorithm.tables() {
        return (0..tables).any(|table| algorithm.key(a, table) == algorithm.key(b, table));
    }
    let [a, b] = [a, b].map(|fingerprint| {
        let mut keys = Vec::new();
        algorithm.keys(fingerprint, &mut keys);
        keys.sort_unstable();
        keys
    });
    a.iter().any(|key| b.binary_search(key).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_compare_bounds_the_memory_of_long_texts() {
        let text = "a b c d e f g h ".repeat(80_000);
        let refused = compare([&text, "a"], &default_factory().unwrap(), &Word, 0).unwrap_err().to_string();
        assert!(refused.starts_with("the first document has too many tokens"), "{refused}");
        assert_eq!(similarity(&text, &text), Some(Similarity::ONE));
    }
}
