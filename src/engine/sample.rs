//! How similar the documents of a collection are: a sample of them, each compared with all documents.
//!
//! ```text
//! read      as a scan, without keys: features, exact copies                        (read.rs, corpus.rs)
//! choose    the distinct documents with the least hashes of their tokens: the sample
//! join      every document → the features that it shares with each of the sample   exact: no candidate is missed
//! estimate  what was counted for the sample → all documents, with intervals
//! ```
//!
//! The cost is linear in the documents: a document looks up its features in a table of those of the sample. Features
//! that the same documents of the sample have are counted together, so that a frame that all share costs one step for
//! each of them and not one for each feature.

use super::corpus::Corpus;
use super::scan::{Gathered, Goal, Run};
use super::sets::Sets;
use super::subset::Subset;
use super::verify::{Evidence, read_again};
use super::{Observer, Report, ScanOptions, Side, Stage};
use crate::algorithm::{
    Algorithm, AlgorithmFactory, CompareOn, Explain, Features, Learns, PreparedAlgorithm, Profile, Row,
};
use crate::error::Error;
use crate::run::places::At;
use crate::run::sign::{self, Signer};
use crate::similarity::{Similarity, Threshold};
use crate::source::{Problem, Source};
use crate::tokenizer::Tokens;
use rayon::prelude::*;
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use xxhash_rust::xxh3::xxh3_64;

/// The most examples of a range.
pub const EXAMPLES: usize = 3;

/// The similarities of a sample of documents with all documents.
#[derive(Debug)]
#[non_exhaustive]
pub struct Similarities {
    /// The settings and counts of the reading. Pairs are not counted.
    pub report: Report,
    /// The median length of the documents in tokens that the algorithm reads.
    pub median_own_tokens: usize,
    /// The mean length of their ids in bytes; 0 without documents.
    pub mean_id: f64,
    /// Distinct documents that the algorithm can compare: exact copies count once.
    pub distinct: u64,
    /// How many of these are in the sample.
    pub sampled: u64,
    /// Whether the sample has fewer documents than wanted because their features take too much memory.
    pub is_cut: bool,
    /// How long the first reading took. A scan of the same documents takes about as long, and the time of its comparisons.
    pub reading: Duration,
    /// Pairs of exact copies: all of them, counted.
    pub copies: u64,
    /// The documents that the sample may have missed.
    pub unseen: Unseen,
    /// The numbers of other pairs, in ranges of similarity, ascending.
    pub ranges: Vec<SimilarityRange>,
    /// What thresholds would remove, ascending.
    pub removals: Vec<Removal>,
}

/// Documents of which the sample may have none, whatever these are like.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Unseen {
    /// The most distinct documents of which a sample of this size has none with a probability of .02 or more.
    pub documents: u64,
    /// The pairs that these have, with their copies, if all are similar to each other. The upper ends of pairs include them.
    pub pairs: f64,
}

/// An estimate, with an interval that has the true number in about 95 of 100 samples; in some more than 90, where nearly all pairs are those
/// of one cluster of which a sample has one document or a few.
///
/// Of pairs, the upper end includes those of [`Unseen`] documents: a cluster of which the sample has no document. Where few documents are
/// similar to very many that are not similar to each other, as an original with many edits, the true number may be up to twice that.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Bounded {
    /// The estimate.
    pub value: f64,
    /// The lower end of the interval.
    pub low: f64,
    /// The upper end of the interval.
    pub high: f64,
}

/// The pairs with a similarity in a range.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SimilarityRange {
    /// The least similarity of the range, in tenths. The range ends below the next tenth; that of ten tenths has only 1.
    pub tenths: u32,
    /// The number of pairs of documents that are not exact copies of each other.
    pub pairs: Bounded,
    /// Up to [`EXAMPLES`] of these pairs.
    pub examples: Vec<Example>,
}

/// A pair of documents. The first comes earlier in the input.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Example {
    /// Their ids.
    pub ids: [String; 2],
    /// Their locations, if ids are ambiguous.
    pub places: Option<[String; 2]>,
    /// Their similarity.
    pub similarity: Similarity,
    /// Their texts, unless one of them is too long to be kept, or changed since the first reading.
    pub texts: Option<[String; 2]>,
}

/// The documents that have an earlier one at or above a threshold.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Removal {
    /// The threshold.
    pub threshold: Threshold,
    /// How many these are, exact copies included.
    pub documents: Bounded,
}

/// The least similarity that is counted, and the last range, in tenths.
const LEAST: u64 = 3;
const RANGES: usize = 8;

/// The thresholds of removals, in tenths, in addition to that of the algorithm.
const REMOVALS: [u64; 5] = [5, 6, 7, 8, 9];

/// Texts that are longer than this are not kept for examples.
const MOST_TEXT: usize = 256 << 10;

/// The number of documents in a sample, unless another is wanted.
pub const SAMPLE: usize = 1_000;

/// Unless another sample is wanted, all of so many documents are in it: even if all are similar to each other, comparing them takes
/// about twice as long as comparing [`SAMPLE`] of them with all.
pub const ALL_UP_TO: usize = 2_000;

/// The memory for the sample, however little there is.
const LEAST_MEMORY: u64 = 4 << 20;

/// The memory for a feature of the sample, while the table is made.
const BYTES_A_FEATURE: u64 = 64;

/// Compares a sample of documents with all documents of the source.
///
/// The sample are the `sample` distinct documents whose token sequences have the least hashes. So it depends on the
/// documents and the seed, and neither on their order nor on threads. Each is compared with all documents, and every pair
/// at or above .3 is found. If the sample has all documents, the numbers are exact. Without a number, it has all of up to
/// [`ALL_UP_TO`] distinct documents if their features fit, and else [`SAMPLE`].
///
/// # Errors
/// As for [`scan`](super::scan). Also, the algorithm must compare by the Jaccard similarity of sets, and must not learn
/// from the collection which features count.
///
/// # Cost
/// One reading, if the features fit [`ScanOptions::memory`]; else two more. One more for the texts of the examples. Memory:
/// that of a scan without its keys, and a quarter of [`ScanOptions::memory`] for the sample.
pub fn sample_similarities(
    source: &mut dyn Source,
    factory: &dyn AlgorithmFactory,
    options: &ScanOptions,
    observer: &dyn Observer,
    sample: Option<usize>,
) -> Result<Similarities, Error> {
    source.keep_for_second_read();
    let keyless = KeylessFactory(factory);
    let threshold = factory.prepare(0)?.algorithm.profile().jaccard;
    let mut run = Run::new(vec![Side { reference: false, source }], options, observer, Goal::Pairs)?;
    let started = Instant::now();
    let (mut prepared, reading) = run.read(&keyless)?;
    let took = started.elapsed();
    let mut gathered = run.gather(&mut prepared, reading)?;
    let (groups, is_cut) =
        chosen(&gathered.documents, sample, (options.memory / 4).max(LEAST_MEMORY) / BYTES_A_FEATURE);
    let mut problems = BTreeMap::new();
    let tally = join(&mut run, &prepared, &mut gathered, &groups, &mut problems)?;
    let corpus = &gathered.documents;
    let unseen = Unseen::of(corpus, &groups);
    let texts = texts(&mut run, &prepared, corpus, &tally, &mut problems)?;
    for problem in problems.values() {
        run.report.counts.problem(problem);
        observer.problem(problem);
    }
    let mut report = std::mem::take(&mut run.report);
    report.describe(&prepared);
    report.warnings.extend(corpus.repeated_ids());
    let lengths: Vec<u32> = corpus.documents_read().map(|document| corpus.length(document)).collect();
    let id_bytes: usize = corpus.documents_read().map(|document| corpus.id(document).len()).sum();
    Ok(Similarities {
        mean_id: id_bytes as f64 / lengths.len().max(1) as f64,
        median_own_tokens: super::read::median_of(&lengths),
        distinct: corpus.distinct() as u64,
        sampled: groups.len() as u64,
        is_cut,
        reading: took,
        copies: corpus_groups(corpus).map(|group| pairs_of(corpus.members(group).len() as u64)).sum(),
        ranges: (0..RANGES).map(|range| range_of(corpus, &tally, range, (groups.len(), unseen), &texts)).collect(),
        removals: removals(corpus, &tally, threshold, groups.len(), report.counts.copies),
        unseen,
        report,
    })
}

fn pairs_of(documents: u64) -> u64 {
    documents * documents.saturating_sub(1) / 2
}

fn corpus_groups(corpus: &Corpus) -> Range<u32> {
    0..corpus.distinct() as u32
}

/// The groups of the sample, in the order of the hashes, and whether there would be more but for their features.
fn chosen(corpus: &Corpus, sample: Option<usize>, most_features: u64) -> (Vec<u32>, bool) {
    let mut groups: Vec<(u128, u32)> = corpus_groups(corpus).map(|group| (corpus.sequence(group), group)).collect();
    let all_fit = || corpus_groups(corpus).map(|group| u64::from(corpus.size(group))).sum::<u64>() <= most_features;
    let by_default = || if groups.len() <= ALL_UP_TO && all_fit() { ALL_UP_TO } else { SAMPLE };
    let sample = sample.unwrap_or_else(by_default).min(groups.len());
    if sample < groups.len() {
        groups.select_nth_unstable(sample);
        groups.truncate(sample);
    }
    groups.sort_unstable();
    let mut features = 0;
    let fits = |&&(_, group): &&(u128, u32)| {
        features += u64::from(corpus.size(group));
        features <= most_features
    };
    let kept: Vec<u32> = groups.iter().take_while(fits).map(|&(_, group)| group).collect();
    let is_cut = kept.len() < sample;
    (kept, is_cut)
}

/// The factory of the same algorithm without keys.
struct KeylessFactory<'a>(&'a dyn AlgorithmFactory);

impl AlgorithmFactory for KeylessFactory<'_> {
    fn prepare(&self, median_tokens: usize) -> Result<PreparedAlgorithm, Error> {
        let PreparedAlgorithm { algorithm, tokenizer, warnings, refusal, terms_of } = self.0.prepare(median_tokens)?;
        let profile = algorithm.profile();
        if profile.jaccard.is_none() || profile.compare_on != CompareOn::Features {
            return Err(Error::Unsuitable(
                "the similarities of documents are sampled for sets of shingles alone (`algo minhash`); for another algorithm, \
                 plan without paths, for a number of documents"
                    .into(),
            ));
        }
        let orders_only = match algorithm.learns() {
            None => false,
            Some(Learns::Features) => true,
            Some(_) => {
                return Err(Error::Unsuitable(
                    "similarities are not sampled with `drop-common`, whose features depend on the whole collection"
                        .into(),
                ));
            }
        };
        let algorithm = Box::new(Keyless { algorithm, orders_only });
        Ok(PreparedAlgorithm { algorithm, tokenizer, warnings, refusal, terms_of })
    }

    fn depends_on_length(&self) -> bool {
        self.0.depends_on_length()
    }
}

/// An algorithm without keys: only its features are of interest, and which documents have any.
struct Keyless {
    algorithm: Box<dyn Algorithm>,
    /// Whether it would learn from features, which only orders its keys.
    orders_only: bool,
}

impl Algorithm for Keyless {
    fn profile(&self) -> Profile {
        Profile { tables: None, ..self.algorithm.profile() }
    }

    fn rows(&self) -> Vec<Row> {
        self.algorithm.rows()
    }

    fn features(&self, tokens: &mut Tokens, features: &mut Features) {
        self.algorithm.features(tokens, features);
    }

    fn fingerprint(&self, features: &Features, fingerprint: &mut Vec<u64>) {
        if self.orders_only {
            fingerprint.extend((!features.hashes.is_empty()).then_some(0));
        } else {
            self.algorithm.fingerprint(features, fingerprint);
        }
    }

    fn keys(&self, _: &[u64], _: &mut Vec<u64>) {}

    fn compare(&self, a: &[u64], b: &[u64]) -> Option<Similarity> {
        self.algorithm.compare(a, b)
    }

    fn explain(&self) -> Option<&dyn Explain> {
        self.algorithm.explain()
    }
}

/// The features of the sample, by the documents that have them.
struct Index {
    /// The class of each feature: those with equal documents have the same.
    class_of: HashMap<u64, u32>,
    /// The documents of the sample in each class, ascending.
    classes: Vec<Vec<u32>>,
    /// How many features each document of the sample has.
    sizes: Vec<u64>,
    scratches: Mutex<Vec<Counters>>,
}

/// How often each class, and each document of the sample, was met by one document.
#[derive(Default)]
struct Counters {
    classes: Vec<u32>,
    met_classes: Vec<u32>,
    documents: Vec<u32>,
    met_documents: Vec<u32>,
}

impl Index {
    fn new<'s>(sets: impl Iterator<Item = std::borrow::Cow<'s, [u64]>>) -> Self {
        let (mut features, mut sizes) = (Vec::new(), Vec::new());
        for (number, set) in (0u32..).zip(sets) {
            sizes.push(set.len() as u64);
            features.extend(set.iter().map(|&feature| (feature, number)));
        }
        features.par_sort_unstable();
        let mut index = Index { class_of: HashMap::new(), classes: Vec::new(), sizes, scratches: Mutex::default() };
        let mut known: HashMap<Vec<u32>, u32> = HashMap::new();
        for run in features.chunk_by(|a, b| a.0 == b.0) {
            let documents: Vec<u32> = run.iter().map(|&(_, document)| document).collect();
            let class = *known.entry(documents).or_insert_with_key(|documents| {
                index.classes.push(documents.clone());
                index.classes.len() as u32 - 1
            });
            index.class_of.insert(run[0].0, class);
        }
        index
    }

    /// Calls `each` with the documents of the sample that share features with this set, and how many.
    fn shared(&self, set: &[u64], mut each: impl FnMut(u32, u64)) {
        let lock = || self.scratches.lock().unwrap_or_else(PoisonError::into_inner);
        let mut counters = lock().pop().unwrap_or_default();
        let Counters { classes, met_classes, documents, met_documents } = &mut counters;
        classes.resize(self.classes.len(), 0);
        documents.resize(self.sizes.len(), 0);
        let bump = |counts: &mut [u32], met: &mut Vec<u32>, number: u32, by: u32| {
            let count = &mut counts[number as usize];
            if *count == 0 {
                met.push(number);
            }
            *count += by;
        };
        set.iter()
            .filter_map(|feature| self.class_of.get(feature))
            .for_each(|&class| bump(classes, met_classes, class, 1));
        for class in met_classes.drain(..) {
            let count = std::mem::take(&mut classes[class as usize]);
            self.classes[class as usize].iter().for_each(|&document| bump(documents, met_documents, document, count));
        }
        for document in met_documents.drain(..) {
            each(document, std::mem::take(&mut documents[document as usize]).into());
        }
        lock().push(counters);
    }
}

/// What was counted of pairs of a document of the sample and any other.
#[derive(Default)]
struct Tally {
    /// By document of the sample and range, the pairs of it, its copies, and those of other documents.
    pairs: HashMap<(u32, usize), u64>,
    /// By document of the sample, the highest similarity with an earlier document, as a fraction.
    earlier: HashMap<u32, (u64, u64)>,
    /// By range, the pairs with the least hashes.
    examples: [Vec<Seen>; RANGES],
}

/// A pair of groups; the first comes earlier in the input.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Seen {
    hash: u64,
    groups: [u32; 2],
    shared: u64,
    all: u64,
}

impl Tally {
    /// Counts the pairs of a group with those of the sample.
    fn add(&mut self, corpus: &Corpus, index: &Index, sample: &[u32], group: u32, set: &[u64]) {
        index.shared(set, |number, shared| {
            let other = sample[number as usize];
            let all = index.sizes[number as usize] + set.len() as u64 - shared;
            let tenths = 10 * shared / all;
            if other == group || tenths < LEAST {
                return;
            }
            let range = (tenths - LEAST) as usize;
            let copies = corpus.members(group).len() as u64 * corpus.members(other).len() as u64;
            *self.pairs.entry((number, range)).or_default() += copies;
            // Groups are numbered in the order of their first documents.
            if group < other {
                let best = self.earlier.entry(number).or_insert((shared, all));
                *best = most_similar(*best, (shared, all));
            }
            let groups = [group.min(other), group.max(other)];
            let sequences = groups.map(|group| corpus.sequence(group).to_le_bytes());
            self.example(range, Seen { hash: xxh3_64(sequences.as_flattened()), groups, shared, all });
        });
    }

    fn example(&mut self, range: usize, seen: Seen) {
        let examples = &mut self.examples[range];
        if let Err(at) = examples.binary_search(&seen)
            && at < EXAMPLES
        {
            examples.insert(at, seen);
            examples.truncate(EXAMPLES);
        }
    }

    fn merge(mut self, other: Tally) -> Self {
        other.pairs.into_iter().for_each(|(key, pairs)| *self.pairs.entry(key).or_default() += pairs);
        for (number, similarity) in other.earlier {
            let best = self.earlier.entry(number).or_insert(similarity);
            *best = most_similar(*best, similarity);
        }
        for (range, examples) in other.examples.into_iter().enumerate() {
            examples.into_iter().for_each(|seen| self.example(range, seen));
        }
        self
    }
}

/// The larger of two fractions.
fn most_similar(a: (u64, u64), b: (u64, u64)) -> (u64, u64) {
    if u128::from(b.0) * u128::from(a.1) > u128::from(a.0) * u128::from(b.1) { b } else { a }
}

/// Compares the sample with every group.
fn join(
    run: &mut Run<'_>,
    prepared: &PreparedAlgorithm,
    gathered: &mut Gathered,
    sample: &[u32],
    problems: &mut BTreeMap<u32, Problem>,
) -> Result<Tally, Error> {
    let Gathered { documents: corpus, retained, .. } = gathered;
    let everything = vec![true; corpus.distinct()];
    let sets = match retained {
        true => run.pool.install(|| Evidence::retained(CompareOn::Features, corpus, &everything)),
        false => {
            run.reader.observer.stage(Stage::Rereading);
            let mut wanted = vec![false; corpus.distinct()];
            sample.iter().for_each(|&group| wanted[group as usize] = true);
            let sets = Sets::new(Subset::marked(&wanted), None);
            Evidence::reread(&run.reader, &mut run.sources, prepared, corpus, &wanted, sets, problems)?
        }
    };
    let Evidence::Sets(sets) = sets else { unreachable!("features are compared") };
    let index = run.pool.install(|| Index::new(sample.iter().map(|&group| sets.get(group))));
    if *retained {
        run.reader.observer.stage(Stage::Verifying);
        let groups = corpus_groups(corpus).into_par_iter();
        let add = |mut tally: Tally, group| {
            tally.add(corpus, &index, sample, group, &sets.get(group));
            tally
        };
        return Ok(run.pool.install(|| groups.fold(Tally::default, add).reduce(Tally::default, Tally::merge)));
    }
    drop(sets);
    run.reader.observer.stage(Stage::Rereading);
    let signer = Signer::new(prepared, &*run.reader.options.tokenizer, run.reader.options.seed);
    let mut all = Tally::default();
    let changed = read_again(
        &run.reader,
        &mut run.sources,
        prepared,
        corpus,
        &everything,
        |tally: &mut Tally, group, _, scratch| {
            signer.features(scratch);
            let length = sign::evidence(CompareOn::Features, &mut scratch.features.hashes);
            tally.add(corpus, &index, sample, group, &scratch.features.hashes[..length]);
            0
        },
        |tally| {
            all = std::mem::take(&mut all).merge(tally);
            Ok(())
        },
    )?;
    prepared.algorithm.check_learned()?;
    problems.extend(changed);
    Ok(all)
}

/// The texts of the examples, by group.
fn texts(
    run: &mut Run<'_>,
    prepared: &PreparedAlgorithm,
    corpus: &Corpus,
    tally: &Tally,
    problems: &mut BTreeMap<u32, Problem>,
) -> Result<HashMap<u32, String>, Error> {
    let mut wanted = vec![false; corpus.distinct()];
    let groups = tally.examples.iter().flatten().flat_map(|seen| seen.groups);
    groups.for_each(|group| wanted[group as usize] = true);
    let mut texts = HashMap::new();
    if wanted.contains(&true) {
        run.reader.observer.stage(Stage::Rereading);
        let add = |made: &mut Vec<(u32, String)>, group, text: &str, _: &mut sign::Scratch| {
            if text.len() <= MOST_TEXT {
                made.push((group, text.to_string()));
            }
            // No more than the part.
            0
        };
        let take = |made: Vec<(u32, String)>| {
            texts.extend(made);
            Ok(())
        };
        problems.extend(read_again(&run.reader, &mut run.sources, prepared, corpus, &wanted, add, take)?);
    }
    Ok(texts)
}

/// The pairs of a range.
fn range_of(
    corpus: &Corpus,
    tally: &Tally,
    range: usize,
    (sampled, unseen): (usize, Unseen),
    texts: &HashMap<u32, String>,
) -> SimilarityRange {
    let pairs = (0..sampled as u32).map(|number| tally.pairs.get(&(number, range)).copied().unwrap_or(0));
    let example = |seen: &Seen| {
        let documents = seen.groups.map(|group| corpus.first(group));
        let texts = seen.groups.map(|group| texts.get(&group).cloned());
        let place = |document| -> String { At::to_string(&corpus.at(document)) };
        Example {
            ids: documents.map(|document| corpus.id(document).to_string()),
            places: corpus.ids_repeat().then(|| documents.map(place)),
            similarity: Similarity::ratio(seen.shared, seen.all),
            texts: if let [Some(a), Some(b)] = texts { Some([a, b]) } else { None },
        }
    };
    // A pair would be counted once for each of its documents.
    let seen = Bounded::of(pairs, sampled, corpus.distinct(), 0.5);
    SimilarityRange {
        tenths: (LEAST as usize + range) as u32,
        pairs: Bounded { high: seen.high + unseen.pairs, ..seen },
        examples: tally.examples[range].iter().map(example).collect(),
    }
}

/// The documents with an earlier one. Of the copies of a document, all but the first have one.
fn removals(corpus: &Corpus, tally: &Tally, own: Option<Threshold>, sampled: usize, copies: u64) -> Vec<Removal> {
    let mut thresholds: Vec<Threshold> = REMOVALS.iter().filter_map(|&tenths| Threshold::new(tenths, 10)).collect();
    // Below the least similarity nothing was counted.
    thresholds.extend(own.filter(|own| own.as_f64() >= LEAST as f64 / 10.0));
    thresholds.sort_by(|a, b| a.as_f64().total_cmp(&b.as_f64()));
    thresholds.dedup();
    let removal = |threshold: Threshold| {
        let has_one =
            |number| tally.earlier.get(&number).is_some_and(|&(part, whole)| threshold.reached_by(part, whole));
        let firsts = (0..sampled as u32).map(|number| u64::from(has_one(number)));
        let Bounded { value, low, high } = Bounded::of(firsts, sampled, corpus.distinct(), 1.0);
        let [value, low, high] = [value, low, high.min(corpus.distinct() as f64)].map(|firsts| firsts + copies as f64);
        Removal { threshold, documents: Bounded { value, low, high } }
    };
    thresholds.into_iter().map(removal).collect()
}

impl Unseen {
    fn of(corpus: &Corpus, sample: &[u32]) -> Self {
        let mut is_sampled = vec![false; corpus.distinct()];
        sample.iter().for_each(|&group| is_sampled[group as usize] = true);
        let others = corpus_groups(corpus).filter(|&group| !is_sampled[group as usize]);
        Self::among(others.map(|group| corpus.members(group).len() as u64).collect(), sample.len())
    }

    /// Of distinct documents outside the sample, each with so many copies: those with the most.
    fn among(mut copies: Vec<u64>, sampled: usize) -> Self {
        let share = sampled as f64 / (sampled + copies.len()).max(1) as f64;
        // One of them is not in the sample with a probability of 1 - share.
        let most = UNSEEN.ln() / (-share).ln_1p();
        let documents = if most < copies.len() as f64 { most as usize } else { copies.len() };
        if documents < copies.len() {
            copies.select_nth_unstable_by_key(documents, |&copies| std::cmp::Reverse(copies));
        }
        let (sum, squares) = copies[..documents]
            .iter()
            .fold((0f64, 0f64), |(sum, squares), &copies| (sum + copies as f64, squares + (copies as f64).powi(2)));
        Unseen { documents: documents as u64, pairs: (sum * sum - squares) / 2.0 }
    }
}

/// The probability with which a sample may have none of [`Unseen`] documents.
const UNSEEN: f64 = 0.02;

/// The square of the quantile of the normal distribution that intervals of 95 % have.
const QUANTILE_SQUARED: f64 = 3.841_458_820_694_124;

impl Bounded {
    /// The sum of a number over all documents, given those of a simple random sample without replacement; times `unit`.
    ///
    /// The interval is the score interval of a compound Poisson distribution with the variance of the sample, so that it
    /// is as asymmetric as that of a count of few. If nothing was seen, its upper end is what would be seen with a
    /// probability of .98.
    fn of(values: impl Iterator<Item = u64>, sampled: usize, all: usize, unit: f64) -> Self {
        let (mut sum, mut squares, mut most) = (0f64, 0f64, 0f64);
        for value in values.map(|value| value as f64) {
            (sum, squares, most) = (sum + value, squares + value * value, most.max(value));
        }
        if sampled >= all {
            return Bounded { value: sum * unit, low: sum * unit, high: sum * unit };
        }
        let (n, unseen) = (sampled.max(1) as f64, 1.0 - sampled as f64 / all as f64);
        let scale = all as f64 / n * unit;
        let spread = if n > 1.0 { (squares - sum * sum / n) * n / (n - 1.0) } else { squares };
        let least = QUANTILE_SQUARED * unseen;
        if sum == 0.0 {
            return Bounded { value: 0.0, low: 0.0, high: least * scale };
        }
        let relative = spread.max(0.0) * unseen / (sum * sum);
        let centre = 1.0 + QUANTILE_SQUARED * relative / 2.0;
        let half = (QUANTILE_SQUARED * relative + (QUANTILE_SQUARED * relative).powi(2) / 4.0).sqrt();
        // If all are equal, a few of the others may still have nothing.
        let low = if spread > 0.0 { sum * (centre - half) } else { sum - least * most };
        Bounded { value: sum * scale, low: low.max(0.0) * scale, high: sum * (centre + half) * scale }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::minhash::MinHash;
    use crate::source::Documents;
    use crate::tokenizer::Whitespace;
    use std::collections::BTreeSet;
    use std::sync::Arc;

    /// Families of texts of some forty words with more and more words replaced, exact copies among them, and a text
    /// without words.
    fn texts(families: u64) -> Vec<(String, String)> {
        let mut state = 7u64;
        let mut next = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        let mut texts = vec![("empty".to_string(), String::new())];
        for family in 0..families {
            let base: Vec<String> = (0..40 + next(100)).map(|word| format!("f{family}w{word}")).collect();
            for member in 0..1 + next(4) {
                let mut words = base.clone();
                for _ in 0..next(9) {
                    let at = next(words.len() as u64) as usize;
                    words[at] = format!("x{}", next(1 << 40));
                }
                let copies = 1 + u64::from(next(5) == 0);
                texts.extend((0..copies).map(|copy| (format!("{family}/{member}/{copy}"), words.join(" "))));
            }
        }
        texts
    }

    fn sampled(texts: &[(String, String)], sample: usize, options: ScanOptions) -> Similarities {
        sampled_by(texts, Some(sample), options)
    }

    fn sampled_by(texts: &[(String, String)], sample: Option<usize>, options: ScanOptions) -> Similarities {
        let factory = MinHash::builder().shingle(3).build().unwrap();
        let options = ScanOptions { tokenizer: Arc::new(Whitespace), ..options };
        sample_similarities(&mut Documents::new(texts.to_vec()), &factory, &options, &(), sample).unwrap()
    }

    /// The pairs of copies, those of each range, and for each threshold the documents with an earlier partner: by
    /// comparing everything with everything.
    fn brute_force(texts: &[(String, String)]) -> (u64, Vec<u64>, Vec<(f64, u64)>) {
        let sets: Vec<BTreeSet<Vec<&str>>> = texts
            .iter()
            .map(|(_, text)| text.split(' ').collect::<Vec<_>>().windows(3).map(<[&str]>::to_vec).collect())
            .collect();
        let (mut copies, mut ranges, mut removed) =
            (0, vec![0; RANGES], [0.5, 0.6, 0.7, 0.8, 0.9].map(|threshold| (threshold, 0)).to_vec());
        for b in (0..texts.len()).filter(|&b| !sets[b].is_empty()) {
            let mut best = 0.0f64;
            for a in (0..b).filter(|&a| !sets[a].is_empty()) {
                let shared = sets[a].intersection(&sets[b]).count();
                let all = sets[a].len() + sets[b].len() - shared;
                best = best.max(shared as f64 / all as f64);
                let tenths = 10 * shared / all;
                if texts[a].1 == texts[b].1 {
                    copies += 1;
                } else if tenths >= 3 {
                    ranges[tenths - 3] += 1;
                }
            }
            removed.iter_mut().for_each(|(threshold, count)| *count += u64::from(best >= *threshold));
        }
        (copies, ranges, removed)
    }

    #[test]
    fn a_sample_of_everything_is_brute_force() {
        let texts = texts(60);
        let (copies, ranges, removed) = brute_force(&texts);
        assert!(copies > 0 && ranges[..7].iter().all(|&pairs| pairs > 0), "{copies} {ranges:?}");
        // With little memory, everything is read again.
        for (memory, threads) in [(1 << 30, 1), (1 << 30, 4), (1, 3)] {
            let found = sampled(&texts, usize::MAX, ScanOptions { memory, threads, ..ScanOptions::default() });
            assert_eq!((found.sampled, found.is_cut, found.copies), (found.distinct, false, copies));
            let exactly = |value: u64| Bounded { value: value as f64, low: value as f64, high: value as f64 };
            let pairs: Vec<Bounded> = found.ranges.iter().map(|range| range.pairs).collect();
            assert_eq!(pairs, ranges.iter().map(|&pairs| exactly(pairs)).collect::<Vec<_>>());
            let counted: Vec<_> = found.removals.iter().map(|r| (r.threshold.as_f64(), r.documents)).collect();
            assert_eq!(counted, removed.iter().map(|&(t, n)| (t, exactly(n))).collect::<Vec<_>>());
            for range in &found.ranges {
                assert_eq!(range.examples.len() as f64, range.pairs.value.min(EXAMPLES as f64));
                for Example { ids, texts: own, similarity, .. } in &range.examples {
                    let text = |id: &String| texts.iter().find(|(other, _)| other == id).unwrap().1.clone();
                    assert_eq!(own.as_ref().unwrap().each_ref(), ids.each_ref().map(text).each_ref());
                    assert_eq!((similarity.value() * 10.0 + 1e-9) as u32, range.tenths);
                }
            }
        }
    }

    /// Of intervals of 95 %, about one in twenty may miss the truth.
    #[test]
    fn the_truth_is_in_the_intervals_of_most_samples() {
        let texts = texts(300);
        let (copies, ranges, removed) = brute_force_of_families(&texts);
        let (mut intervals, mut misses) = (0, Vec::new());
        for seed in 0..40 {
            let found = sampled(&texts, 100, ScanOptions { seed, ..ScanOptions::default() });
            assert_eq!((found.sampled, found.copies), (100, copies));
            let pairs = found.ranges.iter().map(|range| range.pairs).zip(ranges.iter().copied());
            let pairs = pairs.map(|(bounded, truth)| (bounded, truth, found.unseen.pairs));
            let documents = found.removals.iter().map(|r| r.documents).zip(removed.iter().map(|r| r.1));
            let documents = documents.map(|(bounded, truth)| (bounded, truth, 0.0));
            for (Bounded { value, low, high }, truth, unseen) in pairs.chain(documents) {
                intervals += 1;
                // So many are right without what is for documents that the sample does not show.
                let high = high - unseen;
                if truth as f64 > high || low > truth as f64 {
                    misses.push((seed, truth, low, high));
                }
                // The interval says something.
                assert!(low <= value && value <= high && high - low < value.max(30.0) * 3.0, "{low} {value} {high}");
            }
        }
        assert!(misses.len() * 15 < intervals, "{} of {intervals}: {misses:?}", misses.len());
    }

    /// Of texts that are unlike each other and one cluster: a third of the samples has none of the cluster, if these have one of it on
    /// average.
    #[test]
    fn a_cluster_that_the_sample_misses_is_in_the_interval() {
        for (cluster, copies) in [(12, 1), (36, 1), (12, 5)] {
            let word = |number: u32| format!("w{number} ");
            let single = |number: u32| (number * 20..).take(20).map(word).collect::<String>();
            let mut texts: Vec<(String, String)> =
                (1..=300 - cluster).map(|number| (number.to_string(), single(number))).collect();
            for number in 0..cluster {
                let text = format!("{}x{number}", single(0));
                texts.extend((0..copies).map(|copy| (format!("c{number}/{copy}"), text.clone())));
            }
            // The similarity of two of them: 18 of 20 runs of three words.
            let truth = f64::from(cluster * (cluster - 1) / 2 * copies * copies);
            let (mut pairs_missed, mut documents_missed, mut without) = (Vec::new(), 0, 0);
            for seed in 0..200 {
                let found = sampled(&texts, 25, ScanOptions { seed, ..ScanOptions::default() });
                let Bounded { value, low, high } = found.ranges[6].pairs;
                assert!(low <= value && value <= high - found.unseen.pairs);
                if low > truth || truth > high {
                    pairs_missed.push((value, low, high));
                }
                without += usize::from(low > truth || truth > high - found.unseen.pairs);
                let removed = found.removals[4].documents;
                let later = f64::from(cluster * copies - 1);
                documents_missed += u32::from(later < removed.low || removed.high < later);
            }
            let missed = pairs_missed.len();
            assert!(missed <= 20, "{cluster} with {copies}: {missed} of 200, {truth}: {pairs_missed:?}");
            assert!(documents_missed <= 20, "{cluster} with {copies}: {documents_missed} of 200");
            assert!(without > missed, "{cluster} with {copies}: {without} of 200");
        }
    }

    #[test]
    fn unseen_documents_are_those_with_the_most_copies() {
        let among = |copies: &[u64], sampled| {
            let Unseen { documents, pairs } = Unseen::among(copies.to_vec(), sampled);
            (documents, pairs)
        };
        // Of a sample of half of them, five documents are all missed with a probability of 1/32, six with 1/64.
        assert_eq!(among(&[1; 10], 10), (5, 10.0));
        assert_eq!(among(&[1, 1, 7, 1, 1, 1, 1, 3, 1, 1], 10), (5, 21.0 + 10.0 * 3.0 + 3.0));
        assert_eq!(among(&[], 10), (0, 0.0));
        assert_eq!(among(&[2, 3], 0), (2, 6.0));
        assert_eq!(among(&vec![1; 99_000], 1_000), (389, 389.0 * 388.0 / 2.0));
    }

    #[test]
    fn all_of_a_few_documents_are_measured() {
        let texts = |number: u32| -> Vec<(String, String)> {
            (0..number).map(|number| (number.to_string(), format!("a{number} b{number} c{number} d{number}"))).collect()
        };
        let of = |number, sample, memory| {
            sampled_by(&texts(number), sample, ScanOptions { memory, ..ScanOptions::default() }).sampled
        };
        assert_eq!(
            [of(1_200, None, 1 << 30), of(2_000, None, 1 << 30), of(2_001, None, 1 << 30)],
            [1_200, 2_000, 1_000]
        );
        assert_eq!(of(1_200, Some(1_000), 1 << 30), 1_000);
        // If the features do not fit, no more than of a larger collection.
        let wide = |number: u32| (0..60).map(|word| format!("w{number}x{word} ")).collect::<String>();
        let wide: Vec<(String, String)> = (0..1_200).map(|number| (number.to_string(), wide(number))).collect();
        let found = sampled_by(&wide, None, ScanOptions { memory: 1, ..ScanOptions::default() });
        assert_eq!((found.sampled, found.is_cut), (1_000, false));
    }

    /// As [`brute_force`]: families have nothing in common.
    fn brute_force_of_families(texts: &[(String, String)]) -> (u64, Vec<u64>, Vec<(f64, u64)>) {
        let family = |(id, _): &(String, String)| id.split('/').next().unwrap().to_string();
        let mut sum = brute_force(&[]);
        for texts in texts.chunk_by(|a, b| family(a) == family(b)) {
            let (copies, ranges, removed) = brute_force(texts);
            sum.0 += copies;
            sum.1.iter_mut().zip(ranges).for_each(|(sum, pairs)| *sum += pairs);
            sum.2.iter_mut().zip(removed).for_each(|(sum, (_, count))| sum.1 += count);
        }
        sum
    }

    #[test]
    fn the_sample_depends_on_the_documents_alone() {
        let mut texts = texts(300);
        let shown =
            |found: Similarities| format!("{:?}", found.ranges.iter().map(|range| range.pairs).collect::<Vec<_>>());
        let all = |texts: &[(String, String)], threads, memory| {
            sampled(texts, 50, ScanOptions { threads, memory, ..ScanOptions::default() })
        };
        let expected = shown(all(&texts, 1, 1 << 30));
        assert_eq!(expected, shown(all(&texts, 4, 1)));
        let examples = |found: &Similarities| format!("{:?}", found.ranges);
        assert_eq!(examples(&all(&texts, 1, 1)), examples(&all(&texts, 4, 1 << 30)));
        texts.reverse();
        assert_eq!(expected, shown(all(&texts, 2, 1 << 30)));
    }

    #[test]
    fn other_measures_are_refused() {
        let factory = crate::SimHash::builder().build().unwrap();
        let result = sample_similarities(&mut Documents::default(), &factory, &ScanOptions::default(), &(), None);
        assert!(matches!(result, Err(Error::Unsuitable(_))));
    }
}
