//! The batch engine: finds every reported pair among all documents of a source, for any algorithm.
//!
//! ```text
//! read      batches → tokens → features → fingerprint → keys          on all threads, once          (read.rs)
//! copies    equal token sequences become one document                  128-bit hashes, sorted        (corpus.rs)
//! group     equal keys → groups of candidates                          one table at a time, sorted   (group.rs)
//! verify    candidates → pairs with their exact similarity             sets kept, or read again      (verify.rs)
//! arrange   pairs → clusters, kept documents, records in input order   union-find, greedy keep-set   (arrange.rs)
//! ```
//!
//! A run of very many documents under one key, such as pages that share a frame, is searched as an exact join is, if the algorithm
//! knows a prefix filter; else all its pairs are looked at.
//!
//! Memory is bounded: keys that do not fit the budget go to a temporary file (columns.rs), and candidates whose features do not
//! fit are read again and verified in portions (portions.rs). What stays is some 70 bytes for each document, the runs of candidates,
//! and the pairs found.
//!
//! It knows no algorithm: it asks for keys and calls `compare`. What it guarantees whatever the algorithm: the same result for
//! any number of threads, batch size and memory budget; each pair once; nothing from the order of a map or a thread.

mod arrange;
mod columns;
mod corpus;
mod documents;
mod group;
mod portions;
mod read;
mod verify;

use crate::algorithm::{Compares, Learned, Recipe, Row, Setup, Totals, same_identity};
use crate::error::Error;
use crate::lexicon::file::Terms;
use crate::run::ordered::workers;
use crate::source::{Problem, Severity, Source};
use crate::tokenizer::{Tokenizer, Word};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

pub use crate::run::observer::{Estimate, Observer, Stage};
#[cfg(feature = "report")]
pub(crate) use arrange::Portion;
pub use arrange::{Cluster, KEEP_POLICIES, KeepPolicy, Kept, Outcome, Pair, Verdict};
pub use documents::At;

/// How a scan is run. None of it but the tokenizer and the seed can change what is found.
#[derive(Clone)]
pub struct Options {
    /// The tokenizer, unless the algorithm needs another.
    pub tokenizer: Arc<dyn Tokenizer>,
    /// Seeds every hash.
    pub seed: u64,
    /// Worker threads; 0 means one a core.
    pub threads: usize,
    /// Bytes of memory for what is kept of the documents. Keys that do not fit go to a temporary file; features that do not fit are
    /// made again, from as many readings as it takes. What every document needs is taken all the same: its id and some 50 bytes.
    pub memory: u64,
    /// Where the temporary file is made; `None` is the system's folder.
    pub temp_dir: Option<PathBuf>,
}

impl Default for Options {
    fn default() -> Self {
        Options { tokenizer: Arc::new(Word), seed: 0, threads: 0, memory: 1 << 30, temp_dir: None }
    }
}

/// What was counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "report", derive(serde::Serialize))]
pub struct Counts {
    /// Documents read, references not included.
    pub documents: u64,
    /// Documents of the reference, with `--against`.
    pub references: u64,
    /// Documents with too few features for the algorithm to compare: never reported.
    pub featureless: u64,
    /// Documents that are exact copies (after tokenising) of an earlier one.
    pub copies: u64,
    /// Comparisons of candidates: of feature sets once a pair, but for those that their sizes and a few bits of them tell apart; of
    /// fingerprints once in each table where a pair meets.
    pub compared: u64,
    /// Pairs at or above the threshold, copies included.
    pub pairs: u64,
    /// Records without an id of their own, identified by their place.
    pub unnamed: u64,
    /// Documents with an id that an earlier one of the same side has.
    #[cfg_attr(feature = "report", serde(skip_serializing_if = "is_zero"))]
    pub repeated_ids: u64,
    /// Bytes of input, compressed as they came.
    pub bytes: u64,
    /// Tokens.
    pub tokens: u64,
    /// Records or files whose text had to be repaired.
    pub repaired: u64,
    /// Files left out by rule.
    pub skipped: u64,
    /// Records or files that could not be read.
    pub failed: u64,
    /// Pages of which all text was read because no main text was found.
    #[cfg_attr(feature = "report", serde(skip_serializing_if = "is_zero"))]
    pub fell_back: u64,
}

#[cfg(feature = "report")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl Counts {
    pub(crate) fn problem(&mut self, problem: &Problem) {
        match problem.severity {
            Severity::FellBack => self.fell_back += 1,
            Severity::Repaired => self.repaired += 1,
            Severity::Skipped => self.skipped += 1,
            Severity::Failed => self.failed += 1,
        }
    }
}

/// What was run and how it went, beside the pairs.
#[derive(Clone, Debug)]
pub struct Report {
    /// The algorithm's name.
    pub algorithm: &'static str,
    /// What its similarity measures.
    pub measure: &'static str,
    /// The tokenizer that the algorithm asked for instead of the given one.
    pub tokenizer: Option<String>,
    /// The parameters as resolved.
    pub parameters: Vec<Row>,
    /// The median number of tokens of the documents that have any.
    pub median_tokens: usize,
    /// What was counted.
    pub counts: Counts,
    /// What users should know about this algorithm on these documents.
    pub warnings: Vec<String>,
    /// Time spent in each stage, in all.
    pub timings: Vec<(&'static str, Duration)>,
    /// How often candidates had to be read again for verification, because their features did not fit the budget.
    pub rereadings: u64,
    /// Bytes of keys that went to a temporary file, because they did not fit the budget.
    pub spilled: u64,
}

/// Finds all near-duplicates among the documents of `source`; with a `reference`, only pairs of one of its documents and one
/// of `source`.
///
/// # Errors
/// The algorithm is refused for these documents, there are more than 2³² − 2 of them or 2³² pairs, or threads cannot be had.
/// Problems with single documents are no errors: they go to the observer and the counts.
///
/// # Cost
/// One reading of everything; a second one if the first documents misled about the median length, and one for candidates if
/// features do not fit [`Options::memory`]; one before for each thing that the algorithm learns, but for the last one if that is
/// how rare features are and they fit. Time and memory grow linearly with the documents, and with the square of how many
/// are alike without being copies.
pub fn scan(
    source: &mut dyn Source,
    reference: Option<&mut dyn Source>,
    recipe: &dyn Recipe,
    options: &Options,
    observer: &dyn Observer,
) -> Result<Outcome, Error> {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(options.threads)
        .build()
        .map_err(|e| Error::Full(format!("cannot start threads: {e}")))?;
    let mut clock = Clock::start();
    let threads = pool.current_num_threads();
    let reader = read::Reader { options, threads, observer, told: Default::default() };
    let against = reference.is_some();
    let reference = reference.map(|source| Side { reference: true, source });
    // The reference comes first in input order.
    let mut sources: Vec<Side<'_>> = reference.into_iter().chain([Side { reference: false, source }]).collect();
    let first = recipe.prepare(0)?;
    if recipe.depends_on_length()
        || first.algorithm.compares() != Compares::Fingerprints
        || first.algorithm.learns().is_some()
    {
        sources.iter_mut().for_each(|side| side.source.keep_for_second_read());
    }

    let sampled = first.algorithm.learns().is_none();
    let counted = if sampled { None } else { Some(learned(&reader, &mut sources, recipe)?) };
    if !sampled {
        clock.lap("count");
    }
    observer.stage(Stage::Reading);
    let mut reading = match counted {
        None => reader.read(&mut sources, read::Choice::Sampled(recipe))?,
        Some(read::Counted { setup, kept: None, .. }) => reader.read(&mut sources, read::Choice::Settled(setup))?,
        Some(read::Counted { setup, kept: Some(kept), median_tokens, .. }) => {
            pool.install(|| reader.sign(setup, median_tokens, kept))
        }
    };
    let settled = settle(recipe, reading.median_tokens)?;
    if sampled && recipe.depends_on_length() && !same(&settled, &reading.setup) {
        // The sample misled. What all documents say counts, so that the result does not depend on their order.
        observer.stage(Stage::ReadingAgain);
        drop(reading);
        reading = reader.read(&mut sources, read::Choice::Settled(settled))?;
    } else {
        reading.setup.warnings = settled.warnings;
    }
    clock.lap("read");

    observer.stage(Stage::Grouping);
    let read::Reading { mut setup, mut documents, median_tokens, mut counts, retained } = reading;
    let (columns, parities) = (documents.columns.take(), std::mem::take(&mut documents.parities));
    let mut corpus = corpus::Corpus::gather(documents, against, &mut counts)?;
    setup.algorithm.learn(&Learned::Totals(Totals { fingerprints: corpus.distinct(), median_tokens }));
    let algorithm = &*setup.algorithm;
    let spilled = columns.as_ref().map_or(0, columns::Columns::bytes_spilled);
    let mut keys = group::Keys::new(algorithm, &mut corpus, columns);
    let groups = pool.install(|| group::groups(&keys, &corpus))?;

    let fingerprints = algorithm.compares() == Compares::Fingerprints;
    let reread = !fingerprints && !retained;
    let candidates = {
        // What was kept is at hand: no need to know who is compared.
        let outlines = verify::Outlines::new(&corpus, if reread { &parities } else { &[] });
        drop(parities);
        let search = verify::Search::new(algorithm, &keys, &corpus, &groups);
        if fingerprints { Vec::new() } else { pool.install(|| search.candidates(&outlines)) }
    };
    let held = corpus.bytes_held() + keys.bytes_held() + groups.iter().map(group::Table::bytes_held).sum::<u64>();
    // An eighth is for the pairs found, and for what the threads need.
    let budget = (options.memory.saturating_sub(held) / 8 * 7).max(options.memory / 4);
    let bytes = |group| if reread { 8 * u64::from(corpus.size(group)) + keys.bytes_a_candidate() } else { 0 };
    let portions = portions::Portions::new(&candidates, &groups, bytes, budget);
    clock.lap("group");
    let (mut edges, mut changed) = (Vec::new(), BTreeMap::new());
    for number in 0..portions.len() {
        let portion = portions.get(number, corpus.distinct());
        let mut wanted = vec![false; corpus.distinct()];
        portion.groups.iter().for_each(|&group| wanted[group as usize] = true);
        keys.load(&portion, &corpus)?;
        let evidence = if fingerprints {
            verify::Evidence::Fingerprints
        } else if retained {
            pool.install(|| verify::Evidence::retained(algorithm.compares(), &mut corpus, &wanted))
        } else {
            observer.stage(Stage::Rereading);
            let evidence = verify::Evidence::reread(&reader, &mut sources, &setup, &corpus, &wanted, &mut changed);
            clock.lap("reread");
            evidence
        };
        observer.stage(Stage::Verifying);
        let restricted: Vec<group::Table>;
        let tables = if portion.whole {
            &groups
        } else {
            restricted = groups.iter().map(|table| table.restricted(&wanted)).collect();
            &restricted
        };
        let search = verify::Search::new(algorithm, &keys, &corpus, tables);
        counts.compared += pool.install(|| search.edges(&evidence, &portion, &mut edges));
        if edges.len() > u32::MAX as usize {
            return Err(Error::TooManyPairs(u32::MAX.into()));
        }
        clock.lap("verify");
    }
    for problem in changed.values() {
        counts.problem(problem);
        observer.problem(problem);
    }
    edges.par_sort_unstable_by_key(|edge| (edge.a, edge.b));

    let mut warnings = setup.warnings.clone();
    warnings.extend(algorithm.warnings(counts.documents + counts.references, counts.featureless));
    warnings.extend(corpus.repeated_ids());
    let mut report = Report {
        algorithm: algorithm.name(),
        measure: algorithm.measure(),
        tokenizer: setup.tokenizer.as_ref().map(|tokenizer| tokenizer.name().into_owned()),
        parameters: algorithm.rows(),
        median_tokens,
        counts,
        warnings,
        timings: clock.laps,
        rereadings: if reread { portions.len() as u64 } else { 0 },
        spilled,
    };
    drop((keys, groups, portions));
    report.counts.pairs = arrange::count_pairs(&corpus, &edges);
    Ok(Outcome::new(corpus, edges, setup, report))
}

/// Counts in how many documents each term is, exact copies counted once: what a lexicon file is written from. The seed of the
/// options does not show in the result.
///
/// # Errors
/// Threads cannot be had. Problems with single documents are no errors: they go to the observer and the counts.
///
/// # Cost
/// One reading of everything. Memory: some 100 bytes for each distinct term, and some 30 bytes for each distinct document.
pub fn count_terms(
    source: &mut dyn Source,
    options: &Options,
    observer: &dyn Observer,
) -> Result<(Terms, Counts), Error> {
    let reader = read::Reader { options, threads: workers(options.threads), observer, told: Default::default() };
    let mut counts = Counts::default();
    observer.stage(Stage::Counting);
    let terms = reader.terms(&mut [Side { reference: false, source }], &mut counts)?;
    Ok((terms, counts))
}

/// The setup for documents of this median length, unless it is refused.
fn settle(recipe: &dyn Recipe, median_tokens: usize) -> Result<Setup, Error> {
    let setup = recipe.prepare(median_tokens)?;
    match setup.refusal {
        Some(refusal) => Err(Error::Unsuitable(refusal)),
        None => Ok(setup),
    }
}

/// What counting gives at last: the setup, with what it must know of the collection.
fn learned(reader: &read::Reader<'_>, sources: &mut [Side<'_>], recipe: &dyn Recipe) -> Result<read::Counted, Error> {
    reader.observer.stage(Stage::Counting);
    let mut counted = reader.count(sources, read::Choice::Sampled(recipe))?;
    let settled = settle(recipe, counted.median_tokens)?;
    if recipe.depends_on_length() && !same(&settled, &counted.setup) {
        // The features of another setup were counted, because the sample misled.
        drop(counted);
        reader.observer.stage(Stage::Counting);
        counted = reader.count(sources, read::Choice::Settled(settled))?;
    }
    counted.setup.algorithm.learn(&counted.learned);
    while counted.setup.algorithm.learns().is_some() {
        reader.observer.stage(Stage::Counting);
        counted = reader.count(sources, read::Choice::Settled(counted.setup))?;
        counted.setup.algorithm.learn(&counted.learned);
    }
    Ok(counted)
}

/// One of the sources of a scan.
struct Side<'a> {
    /// Whether it is the reference.
    reference: bool,
    source: &'a mut dyn Source,
}

/// Whether two setups are known to make the same fingerprints. Without any parameters nothing is known.
fn same(a: &Setup, b: &Setup) -> bool {
    let tokenizer = |setup: &Setup| setup.tokenizer.as_ref().map(|tokenizer| tokenizer.name().into_owned());
    !a.algorithm.rows().is_empty() && tokenizer(a) == tokenizer(b) && same_identity(&*a.algorithm, &*b.algorithm)
}

struct Clock {
    last: Instant,
    laps: Vec<(&'static str, Duration)>,
}

impl Clock {
    fn start() -> Self {
        Clock { last: Instant::now(), laps: Vec::new() }
    }

    fn lap(&mut self, name: &'static str) {
        let now = Instant::now();
        match self.laps.iter_mut().find(|(lap, _)| *lap == name) {
            Some((_, time)) => *time += now - self.last,
            None => self.laps.push((name, now - self.last)),
        }
        self.last = now;
    }
}
