//! How signatures are made for an index: an algorithm that needs no further learning, a tokenizer, a seed.

use super::Signer;
use crate::algorithm::{Algorithm, AlgorithmFactory, Learned, Learns, PreparedAlgorithm, Spec, Totals};
use crate::error::Error;
use crate::tokenizer::Tokenizer;
use std::fmt;
use std::sync::Arc;

/// The median length, in tokens, that algorithms are prepared for where they depend on it. The documents of a stream
/// are not known when it starts.
pub const MEDIAN_TOKENS: usize = 500;

/// The number of documents that the keys are chosen for.
const MANY_DOCUMENTS: usize = 1_000_000;

/// How signatures are made.
#[derive(Clone)]
pub struct Plan {
    /// The algorithm.
    pub algorithm: Arc<dyn Algorithm>,
    tokenizer: Arc<dyn Tokenizer>,
    spec: Spec,
    warnings: Vec<String>,
}

impl fmt::Debug for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Without the seed: who knows it can prepare texts that collide.
        let Spec { algorithm, tokenizer, .. } = &self.spec;
        f.debug_struct("Plan").field("algorithm", algorithm).field("tokenizer", tokenizer).finish_non_exhaustive()
    }
}

impl Plan {
    /// The plan of a factory.
    ///
    /// # Errors
    /// The algorithm is refused, or must count the whole collection first.
    pub fn new(factory: &dyn AlgorithmFactory, tokenizer: Arc<dyn Tokenizer>, seed: u64) -> Result<Self, Error> {
        let PreparedAlgorithm { mut algorithm, tokenizer: own, warnings, refusal } = factory.prepare(MEDIAN_TOKENS)?;
        if let Some(refusal) = refusal {
            return Err(Error::Unsuitable(refusal));
        }
        match algorithm.learns() {
            // The order of features changes the cost, not the result.
            None | Some(Learns::Features) => {}
            Some(Learns::Terms) => {
                return Err(Error::Usage(format!(
                    "{} must know in how many documents terms are: give it a lexicon of documents like these with `lexicon` \
                     (dedup lexicon build makes one)",
                    algorithm.name()
                )));
            }
            Some(Learns::FrequencyBounds | Learns::Frequencies { .. }) => {
                return Err(Error::Usage(
                    "`drop-common` counts over all documents, which a stream has not seen yet".into(),
                ));
            }
        }
        algorithm.learn(&Learned::Totals(Totals { fingerprints: MANY_DOCUMENTS, median_tokens: 0 }));
        let tokenizer = own.unwrap_or(tokenizer);
        let spec = Spec::new(&*algorithm, &*tokenizer, seed);
        Ok(Plan { algorithm: algorithm.into(), tokenizer, spec, warnings })
    }

    /// Makes signatures.
    pub fn signer(&self) -> Signer {
        Signer::new(&self.algorithm, &self.tokenizer, self.spec.seed)
    }

    /// As [`signer`](Self::signer), for text that is selected by more than the options of algorithm and tokenizer.
    pub fn with_text(mut self, name: &'static str, value: &'static str) -> Self {
        self.spec.text.push((name, value));
        self
    }

    /// The identity of the plan: stored with an index, and compared when it is opened.
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// Warnings about the plan.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }
}
