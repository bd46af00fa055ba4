//! What the steps of one run have in common, and how it travels.

use super::counts::Counts;
use super::sketch;
use crate::algorithm::{self, Algorithm, AlgorithmFactory, Learned, Learns, PreparedAlgorithm, Totals, same_identity};
use crate::error::Error;
use crate::lexicon::Rarity;
use crate::run::sign::{Scratch, Signer};
use crate::tokenizer::Tokenizer;
use serde_json::{Map, Value as Json, json};
use std::fmt;
use std::sync::Arc;

/// The version of the crate. Steps of different versions do not work together.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The median length of the documents, in tokens of the requested tokenizer, which algorithms are chosen by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Median {
    /// That of some documents. Documents can be signed, but an algorithm is not refused for it.
    Guessed(usize),
    /// The lower median of all documents that have tokens; 0 if there are none.
    Known(usize),
}

impl Median {
    /// The number of tokens.
    pub const fn tokens(self) -> usize {
        let (Median::Guessed(tokens) | Median::Known(tokens)) = self;
        tokens
    }
}

/// Options of the steps, which decide about cost alone, except [`against`](Self::against).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StepOptions {
    /// The number of documents under one key from which on they are searched by a prefix filter, if the algorithm allows it;
    /// 0 means never. The default is that of a scan on one machine.
    pub hot: usize,
    /// Whether only pairs of a document of a reference and another are looked for. Documents of the reference have negative
    /// numbers.
    pub against: bool,
    /// The memory for one document while it is signed, and for the features of the documents under one hot key, in bytes. Documents
    /// that take more are an error, keys that take more go through `pairs` once more.
    pub memory: u64,
    /// The number of documents, as far as it is known, by which some algorithms choose their tables; 0 if it is unknown.
    pub documents: u64,
}

impl Default for StepOptions {
    fn default() -> Self {
        StepOptions { hot: crate::engine::HOT_RUN, against: false, memory: 256 << 20, documents: 0 }
    }
}

/// What the steps of one run have in common: the algorithm, ready to run, and the tokenizer with its seed.
///
/// It is planned once, with [`new`](Self::new), and travels as [JSON](Self::to_json). Where a step runs, the same factory and tokenizer are
/// made again, and [`read`](Self::read) checks that they are the same.
pub struct Spec {
    prepared: PreparedAlgorithm,
    tokenizer: Arc<dyn Tokenizer>,
    seed: u64,
    median: Median,
    options: StepOptions,
    /// The digests of the counts that the algorithm learned.
    learned: Vec<String>,
}

impl fmt::Debug for Spec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Spec").field(&self.to_json()).finish()
    }
}

impl Spec {
    /// Plans a run for documents of this median length. The tokenizer is used unless the algorithm needs another.
    ///
    /// # Errors
    /// The algorithm is refused for documents of this length, if that is known; or its lexicon has terms of another tokenizer or seed.
    pub fn new(
        factory: &dyn AlgorithmFactory,
        tokenizer: Arc<dyn Tokenizer>,
        seed: u64,
        median: Median,
        options: StepOptions,
    ) -> Result<Self, Error> {
        let mut prepared = factory.prepare(median.tokens())?;
        prepared.check_terms(&*tokenizer, seed)?;
        if let (Median::Known(_), Some(refusal)) = (median, prepared.refusal.take()) {
            return Err(Error::Unsuitable(refusal));
        }
        let mut spec = Spec { prepared, tokenizer, seed, median, options, learned: Vec::new() };
        spec.learn_the_rest();
        Ok(spec)
    }

    /// Lets the algorithm learn what needs no counts.
    fn learn_the_rest(&mut self) {
        let algorithm = &mut self.prepared.algorithm;
        // The order of features decides what the search costs, and not what it finds. Any order will do that all steps share.
        if algorithm.learns() == Some(Learns::Features) {
            algorithm.learn(&Learned::Features(Arc::new(Rarity::for_bytes(0, 0))));
        }
        if algorithm.learns().is_none() && self.options.documents > 0 {
            let documents = usize::try_from(self.options.documents).unwrap_or(usize::MAX);
            algorithm.learn(&Learned::Totals(Totals::new(documents, self.median.tokens())));
        }
    }

    /// What the algorithm must learn from the whole collection before documents have keys: [`Learns::Terms`] of the documents that are not
    /// copies, or something else of all documents. The step `count` counts it, and [`learn`](Self::learn) takes the result; then there may be
    /// more to learn.
    pub fn learns(&self) -> Option<Learns> {
        self.algorithm().learns()
    }

    /// Whether the step `filter` can rule pairs out. Otherwise it passes all.
    pub fn filters(&self) -> bool {
        sketch::threshold(self.algorithm()).is_some()
    }

    /// Lets the algorithm learn what was counted.
    ///
    /// # Errors
    /// It learns nothing more.
    pub fn learn(&mut self, counts: &Counts) -> Result<(), Error> {
        let Some(learns) = self.learns() else {
            return Err(Error::Usage(format!("{} learns nothing that is counted", self.algorithm().name())));
        };
        self.prepared.algorithm.learn(&counts.learned(learns));
        self.learned.push(counts.digest());
        self.learn_the_rest();
        Ok(())
    }

    /// Checks that documents can have keys.
    ///
    /// # Errors
    /// Something must be counted before.
    pub(super) fn check_learned(&self, step: &str) -> Result<(), Error> {
        match self.learns() {
            None => Ok(()),
            Some(learns) => Err(Error::Usage(format!(
                "step {step}: {} learns {learns:?} from the whole collection: run the step `count` before",
                self.algorithm().name()
            ))),
        }
    }

    /// The plan that [`to_json`](Self::to_json) wrote, with what it was made of, and the counts that it [learned](Self::learn).
    ///
    /// # Errors
    /// It was planned by another version of the crate, or with another algorithm, tokenizer or seed; or as for [`new`](Self::new).
    pub fn read(
        json: &str,
        factory: &dyn AlgorithmFactory,
        tokenizer: Arc<dyn Tokenizer>,
        seed: u64,
        counts: &[Counts],
    ) -> Result<Self, Error> {
        let written: Json = serde_json::from_str(json).map_err(|_| damaged())?;
        match written["version"].as_str() {
            Some(VERSION) => {}
            Some(other) => {
                return Err(Error::Usage(format!(
                    "the run was planned by version {other}, and this step is of version {VERSION}: install one version of neardups \
                     on all machines"
                )));
            }
            None => return Err(damaged()),
        }
        let number = |name: &str| written[name].as_u64().ok_or_else(damaged);
        let size = |name: &str| number(name).map(|number| usize::try_from(number).unwrap_or(usize::MAX));
        let flag = |name: &str| written[name].as_bool().ok_or_else(damaged);
        let median = size("median tokens")?;
        let median = if flag("guessed")? { Median::Guessed(median) } else { Median::Known(median) };
        let options = StepOptions {
            hot: size("hot")?,
            against: flag("against")?,
            memory: number("memory")?,
            documents: number("documents")?,
        };
        let mut spec = Spec::new(factory, tokenizer, seed, median, options)?;
        counts.iter().try_for_each(|counts| spec.learn(counts))?;
        let (planned, own) = (&written["identity"], Json::Object(spec.identity()));
        if *planned != own {
            let differs = |name: &&String| planned[name.as_str()] != own[name.as_str()];
            let names = own.as_object().into_iter().chain(planned.as_object()).flat_map(Map::keys);
            let name = names.into_iter().find(differs).cloned().unwrap_or_default();
            return Err(Error::Usage(format!(
                "the run was planned with other options: '{name}' is {} there, and {} in this step",
                planned[name.as_str()],
                own[name.as_str()]
            )));
        }
        Ok(spec)
    }

    /// The plan as JSON: the version of the crate, everything that signatures depend on, and the options.
    pub fn to_json(&self) -> String {
        let StepOptions { hot, against, memory, documents } = self.options;
        json!({
            "version": VERSION,
            "identity": self.identity(),
            "median tokens": self.median.tokens(),
            "guessed": matches!(self.median, Median::Guessed(_)),
            "hot": hot,
            "against": against,
            "memory": memory,
            "documents": documents,
        })
        .to_string()
    }

    /// Whether signatures made by another plan are those of this one: the plans differ in the median length or in options, and their
    /// algorithms and tokenizers are the same.
    pub fn has_signatures_of(&self, other: &Spec) -> bool {
        let algorithm = |spec: &Spec| spec.identity();
        algorithm(self) == algorithm(other) && same_identity(self.algorithm(), other.algorithm())
    }

    /// What signatures depend on.
    fn identity(&self) -> Map<String, Json> {
        let own = self.prepared.tokenizer.as_deref().unwrap_or(&*self.tokenizer);
        let mut identity = algorithm::Spec::new(self.algorithm(), own, self.seed).identity_json();
        identity.insert("measured by".into(), self.tokenizer.name().into());
        identity.insert("counts".into(), self.learned.as_slice().into());
        identity
    }

    /// The algorithm.
    pub fn algorithm(&self) -> &dyn Algorithm {
        &*self.prepared.algorithm
    }

    /// The tokenizer that the algorithm needs instead of the requested one.
    pub fn own_tokenizer(&self) -> Option<&dyn Tokenizer> {
        self.prepared.tokenizer.as_deref()
    }

    /// Warnings about this algorithm on documents of this length.
    pub fn warnings(&self) -> &[String] {
        &self.prepared.warnings
    }

    /// The options.
    pub fn options(&self) -> StepOptions {
        self.options
    }

    pub(super) fn signer(&self) -> Signer<'_> {
        Signer::new(&self.prepared, &*self.tokenizer, self.seed)
    }

    /// Empty buffers for signing.
    pub(super) fn scratch(&self) -> Scratch {
        Scratch::bounded(self.seed, self.options.memory)
    }
}

fn damaged() -> Error {
    Error::Usage("the plan of the run is damaged: it is not what a plan was written as".into())
}
