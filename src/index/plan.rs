//! How signatures are made for an index: an algorithm that has nothing left to learn, a tokenizer, a seed.

use super::Signer;
use crate::algorithm::{Algorithm, AlgorithmFactory, Learned, Learns, PreparedAlgorithm, Spec, Totals};
use crate::error::Error;
use crate::tokenizer::Tokenizer;
use std::sync::Arc;

/// Where a prepared algorithm depends on the median length of documents, it is made for texts of so many tokens: how long those of a stream are is not
/// known when it starts.
pub const MEDIAN_TOKENS: usize = 500;

/// For so many documents the choice of keys is made.
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

impl Plan {
    /// The plan of a factory.
    ///
    /// # Errors
    /// The algorithm is refused, or has to count the whole collection first.
    pub fn new(factory: &dyn AlgorithmFactory, tokenizer: Arc<dyn Tokenizer>, seed: u64) -> Result<Self, Error> {
        let PreparedAlgorithm { mut algorithm, tokenizer: own, warnings, refusal } = factory.prepare(MEDIAN_TOKENS)?;
        if let Some(refusal) = refusal {
            return Err(Error::Unsuitable(refusal));
        }
        match algorithm.learns() {
            // In what order features come changes the cost, not the result.
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

    /// The same, where something else than the options of algorithm and tokenizer decides which text is looked at.
    pub fn with_text(mut self, name: &'static str, value: &'static str) -> Self {
        self.spec.text.push((name, value));
        self
    }

    /// What it is: what an index is made with, and what it refuses others by.
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// What users should know.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }
}
