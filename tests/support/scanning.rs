//! Shorter ways to run a scan.

use super::corpus::Text;
use neardups::Error;
use neardups::algorithm::parameter::Settings;
use neardups::algorithm::{
    ALGORITHMS, Algorithm, AlgorithmFactory, CompareOn, Entry, Features, Learned, Learns, PreparedAlgorithm,
    TableFactory,
};
use neardups::engine::{KEEP_POLICIES, Outcome, ScanOptions, scan};
use neardups::lexicon::{FrequencyBounds, Lexicon, Rarity};
use neardups::report::JsonLines;
use neardups::source::{Batch, Documents, Source};
use neardups::tokenizer::{Tokenizer, Tokens};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::sync::Arc;

/// An algorithm of the table with these settings.
pub fn factory(algorithm: &str, settings: &[(&str, &str)]) -> TableFactory {
    Entry::by_name(algorithm).unwrap().factory(Settings::from_pairs(settings.iter().copied())).unwrap()
}

/// The name of an algorithm of the table, and settings of it.
pub type Method = (&'static str, &'static [(&'static str, &'static str)]);

/// These, and with its defaults each algorithm of the table that they do not have.
pub fn and_all_others(listed: &[Method]) -> Vec<Method> {
    let is_other = |entry: &&Entry| listed.iter().all(|(name, _)| *name != entry.name);
    let others = ALGORITHMS.iter().filter(is_other).map(|entry| (entry.name, &[][..]));
    listed.iter().copied().chain(others).collect()
}

/// The same, of those that an index can have.
pub fn and_all_others_of_streams(listed: &[Method]) -> Vec<Method> {
    let mut all = and_all_others(listed);
    all.retain(|(name, settings)| !follows_the_collection(&factory(name, settings)));
    all
}

/// A factory that always gives what `make` makes.
pub fn always<A: Algorithm + 'static>(make: impl Fn() -> A + Sync) -> impl AlgorithmFactory {
    move |_: usize| -> Result<PreparedAlgorithm, Error> { Ok(PreparedAlgorithm::new(make())) }
}

/// Whether a fingerprint depends on the other documents, so that one document more can change which others are alike.
pub fn follows_the_collection(factory: &dyn AlgorithmFactory) -> bool {
    factory.prepare(0).unwrap().algorithm.learns() == Some(Learns::Terms)
}

/// Scans with two threads.
pub fn outcome(documents: &[Text], factory: &dyn AlgorithmFactory) -> Outcome {
    outcome_with(documents, factory, &ScanOptions { threads: 2, ..ScanOptions::default() })
}

/// Scans with these options.
pub fn outcome_with(documents: &[Text], factory: &dyn AlgorithmFactory, options: &ScanOptions) -> Outcome {
    scan(&mut Documents::new(documents.iter().cloned()), None, factory, options, &()).unwrap()
}

/// Scans against a reference.
pub fn outcome_against(reference: &[Text], documents: &[Text], factory: &dyn AlgorithmFactory) -> Outcome {
    let mut reference = Documents::new(reference.iter().cloned());
    let mut source = Documents::new(documents.iter().cloned());
    scan(&mut source, Some(&mut reference), factory, &ScanOptions { threads: 2, ..ScanOptions::default() }, &())
        .unwrap()
}

/// The pairs, in the order in which they are reported.
pub fn pairs(outcome: &Outcome) -> Vec<(String, String, f64)> {
    let mut pairs = Vec::new();
    for pair in outcome.pairs().map(Result::unwrap) {
        pairs.push((pair.a.to_string(), pair.b.to_string(), pair.similarity.value()));
    }
    pairs
}

/// The pairs of ids, each with the lesser id first, and their similarities: what must not depend on the order of the input.
/// Fails if a pair was reported twice.
pub fn unordered(outcome: &Outcome) -> BTreeMap<(String, String), f64> {
    let mut all = BTreeMap::new();
    for (a, b, similarity) in pairs(outcome) {
        let key = if a < b { (a, b) } else { (b, a) };
        assert!(all.insert(key.clone(), similarity).is_none(), "{key:?} was reported twice");
    }
    all
}

/// Everything that can be written about an outcome, as it would be written.
pub fn json(outcome: &Outcome) -> String {
    let mut out = Vec::new();
    let mut lines = JsonLines::new(&mut out, &outcome.report);
    outcome.pairs().map(Result::unwrap).for_each(|pair| lines.pair(&pair).unwrap());
    lines.finish().unwrap();
    for threads in [1, 3] {
        let mut at_once = Vec::new();
        let written = JsonLines::new(&mut at_once, &outcome.report).pairs(outcome, threads).unwrap();
        assert!(at_once == out, "{threads} threads write the pairs otherwise");
        assert_eq!(Some(written), outcome.report.counts.pairs);
    }
    let mut lines = JsonLines::new(&mut out, &outcome.report);
    for (_, policy, _) in KEEP_POLICIES {
        let kept = outcome.keep(*policy).unwrap();
        kept.clusters().for_each(|cluster| lines.cluster(&cluster).unwrap());
        kept.verdicts().for_each(|verdict| lines.verdict(&verdict).unwrap());
    }
    lines.finish().unwrap();
    String::from_utf8(out).unwrap()
}

/// Documents in memory that come in batches of a chosen size.
pub struct Batched<'a> {
    pub documents: &'a [Text],
    pub size: usize,
}

impl Source for Batched<'_> {
    fn read(&mut self, deliver: &mut dyn FnMut(Batch) -> ControlFlow<()>) {
        for batch in self.documents.chunks(self.size) {
            if deliver(Batch::from_documents(batch.to_vec())).is_break() {
                return;
            }
        }
    }
}

/// Features of weight 1.
pub fn features(hashes: &[u64]) -> Features {
    let mut features = Features::default();
    features.hashes.extend_from_slice(hashes);
    features
}

/// What an algorithm makes of a text.
#[derive(Clone, Debug, PartialEq)]
pub struct Made {
    /// The token hashes.
    pub tokens: Vec<u64>,
    pub fingerprint: Vec<u64>,
    pub keys: Vec<u64>,
    /// The features, ascending, and without repeats unless multisets are compared.
    pub set: Vec<u64>,
}

/// Asks an algorithm all its questions about a text, as anybody could.
pub fn made(algorithm: &dyn Algorithm, tokenizer: &dyn Tokenizer, seed: u64, text: &str) -> Made {
    let mut tokens = Tokens::new(algorithm.reads(), seed);
    tokenizer.tokenize(text, &mut tokens);
    let mut features = Features::default();
    algorithm.features(&mut tokens, &mut features);
    let (mut fingerprint, mut keys) = (Vec::new(), Vec::new());
    algorithm.fingerprint(&features, &mut fingerprint);
    if !fingerprint.is_empty() {
        algorithm.keys(&fingerprint, &mut keys);
    }
    let mut set = features.hashes;
    set.sort_unstable();
    if algorithm.compare_on() != CompareOn::Multisets {
        set.dedup();
    }
    Made { tokens: tokens.hashes().to_vec(), fingerprint, keys, set }
}

/// Tells an algorithm what it must know of these texts, counted one document after the other.
pub fn learn(algorithm: &mut dyn Algorithm, tokenizer: &dyn Tokenizer, seed: u64, texts: &[String]) {
    let sets = |all: Vec<Made>| all.into_iter().map(|made| made.set.into_iter().collect::<BTreeSet<u64>>());
    while let Some(wanted) = algorithm.learns() {
        let all: Vec<Made> = texts.iter().map(|text| made(algorithm, tokenizer, seed, text)).collect();
        match wanted {
            Learns::Terms => {
                // Exact copies count once.
                let distinct: BTreeSet<Vec<u64>> = all.into_iter().map(|made| made.tokens).collect();
                let mut frequencies = BTreeMap::new();
                for tokens in &distinct {
                    let terms: BTreeSet<u64> = tokens.iter().copied().collect();
                    terms.into_iter().for_each(|term| *frequencies.entry(term).or_insert(0) += 1);
                }
                algorithm.learn(&Learned::Terms(Arc::new(Lexicon::new(distinct.len() as u64, frequencies))));
            }
            Learns::Features => {
                let rarity = Rarity::new();
                sets(all).flatten().for_each(|feature| rarity.add(feature));
                algorithm.learn(&Learned::Features(Arc::new(rarity)));
            }
            Learns::FrequencyBounds => {
                let bounds = FrequencyBounds::for_bytes(0, 0);
                sets(all).for_each(|set| bounds.add(&set.into_iter().collect::<Vec<_>>()));
                algorithm.learn(&Learned::FrequencyBounds(Arc::new(bounds.of(texts.len() as u64))));
            }
            Learns::Frequent { documents, .. } => {
                let mut frequencies: BTreeMap<u64, u64> = BTreeMap::new();
                sets(all).flatten().for_each(|feature| *frequencies.entry(feature).or_insert(0) += 1);
                frequencies.retain(|_, frequency| *frequency >= documents);
                algorithm.learn(&Learned::Frequent(frequencies.into_keys().collect()));
            }
            other => panic!("{other:?} is not counted here"),
        }
    }
}
