//! An algorithm that is ready to run, and what makes it of the length of the documents.

use super::family::Algorithm;
use crate::error::Error;
use crate::lexicon::FileIdentity;
use crate::tokenizer::Tokenizer;
use std::sync::Arc;

/// An algorithm ready to run, with its tokenizer, warnings and refusal.
#[non_exhaustive]
pub struct PreparedAlgorithm {
    /// The algorithm.
    pub algorithm: Box<dyn Algorithm>,
    /// A tokenizer that the algorithm needs instead of the requested one.
    pub tokenizer: Option<Arc<dyn Tokenizer>>,
    /// Warnings about this algorithm on these documents; one sentence each.
    pub warnings: Vec<String>,
    /// The reason why this algorithm should not run on these documents at all.
    pub refusal: Option<String>,
    /// The files of the lexicons and weights that the algorithm judges terms by.
    pub terms_of: Vec<FileIdentity>,
}

impl PreparedAlgorithm {
    /// An algorithm without tokenizer, warnings or refusal.
    pub fn new(algorithm: impl Algorithm + 'static) -> Self {
        PreparedAlgorithm {
            algorithm: Box::new(algorithm),
            tokenizer: None,
            warnings: Vec::new(),
            refusal: None,
            terms_of: Vec::new(),
        }
    }

    /// Sets a tokenizer that the algorithm needs instead of the requested one.
    pub fn with_tokenizer(self, tokenizer: Arc<dyn Tokenizer>) -> Self {
        PreparedAlgorithm { tokenizer: Some(tokenizer), ..self }
    }

    /// Checks that the terms of its lexicons and weights are tokens of its tokenizer, or else of the requested one, hashed with
    /// this seed.
    ///
    /// # Errors
    /// [`Error::Usage`] that says what differs.
    pub fn check_terms(&self, tokenizer: &dyn Tokenizer, seed: u64) -> Result<(), Error> {
        let name = self.tokenizer.as_deref().unwrap_or(tokenizer).name();
        self.terms_of.iter().try_for_each(|terms| terms.check(&name, seed))
    }

    /// Adds a warning for users; one sentence.
    pub fn with_warning(mut self, warning: impl Into<String>) -> Self {
        self.warnings.push(warning.into());
        self
    }

    /// Sets the reason why the algorithm should not run on these documents.
    pub fn with_refusal(self, refusal: impl Into<String>) -> Self {
        PreparedAlgorithm { refusal: Some(refusal.into()), ..self }
    }
}

/// Makes the algorithm once the median length of the documents is known: the median number of tokens of the documents
/// that have any (0 if none has). Equal medians must give equal prepared algorithms.
pub trait AlgorithmFactory: Sync {
    /// Returns the prepared algorithm for documents of this median length, in tokens.
    ///
    /// # Errors
    /// No algorithm can be made of the settings, whatever the documents are: a value out of range, settings that
    /// contradict each other. A run ends with the error. Documents that do not suit the algorithm are a
    /// [refusal](PreparedAlgorithm::refusal) instead.
    fn prepare(&self, median_tokens: usize) -> Result<PreparedAlgorithm, Error>;

    /// Returns whether the prepared algorithm may depend on the median. If it does not, the engine need not read the
    /// input twice.
    fn depends_on_length(&self) -> bool {
        true
    }
}

impl<F: Fn(usize) -> Result<PreparedAlgorithm, Error> + Sync> AlgorithmFactory for F {
    fn prepare(&self, median_tokens: usize) -> Result<PreparedAlgorithm, Error> {
        self(median_tokens)
    }
}
