//! A scan as a builder: every option has a default.

use super::{Observer, Options, Outcome, scan};
use crate::algorithm::AlgorithmFactory;
use crate::error::Error;
use crate::source::{Records, Source};
use crate::tokenizer::Tokenizer;
use std::path::PathBuf;
use std::sync::Arc;

/// A scan: the algorithm and the options of the search. [`texts`](Self::texts) and [`run`](Self::run) start it.
///
/// ```
/// use neardups::{KeepPolicy, MinHash, Scan};
///
/// let texts = ["one fine day in the middle of the night", "Hickory dickory dock", "One fine day in the middle of the night!"];
/// let minhash = MinHash::builder().build()?;
/// let outcome = Scan::new(&minhash).texts(&texts)?;
/// assert_eq!(outcome.keep(KeepPolicy::First).indices().collect::<Vec<_>>(), [0, 1]);
/// # Ok::<(), neardups::Error>(())
/// ```
#[derive(Clone)]
pub struct Scan<'a> {
    factory: &'a dyn AlgorithmFactory,
    options: Options,
    observer: &'a dyn Observer,
}

impl<'a> Scan<'a> {
    /// A scan with this algorithm and the defaults: word tokens, seed 0, all cores, 1 GiB of memory for the documents,
    /// and a no-op observer.
    pub fn new(factory: &'a dyn AlgorithmFactory) -> Self {
        Scan { factory, options: Options::default(), observer: &() }
    }

    /// Cuts texts by this tokenizer, unless the algorithm needs another.
    pub fn tokenizer(mut self, tokenizer: impl Tokenizer + 'static) -> Self {
        self.options.tokenizer = Arc::new(tokenizer);
        self
    }

    /// Seeds every hash. Results with another seed may differ where an algorithm finds pairs by chance.
    pub fn seed(mut self, seed: u64) -> Self {
        self.options.seed = seed;
        self
    }

    /// Uses this many worker threads; 0 means one per core.
    pub fn threads(mut self, threads: usize) -> Self {
        self.options.threads = threads;
        self
    }

    /// See [`Options::memory`].
    pub fn memory(mut self, bytes: u64) -> Self {
        self.options.memory = bytes;
        self
    }

    /// Makes temporary files in this folder instead of the system's.
    pub fn temp_dir(mut self, folder: impl Into<PathBuf>) -> Self {
        self.options.temp_dir = Some(folder.into());
        self
    }

    /// Reports progress, and documents that could not be read.
    pub fn observer(mut self, observer: &'a dyn Observer) -> Self {
        self.observer = observer;
        self
    }

    /// Finds the near-duplicates among texts. Their ids are their indices.
    ///
    /// # Errors
    /// As for [`scan`].
    ///
    /// # Cost
    /// That of [`scan`]. Texts are copied while they are read, some hundred at a time.
    pub fn texts<T: AsRef<str> + Sync>(&self, texts: &[T]) -> Result<Outcome, Error> {
        self.run(&mut Records::new(|| texts.iter().enumerate().map(|(index, text)| Ok((index, text.as_ref())))))
    }

    /// Finds the near-duplicates among the documents of a source.
    ///
    /// # Errors
    /// As for [`scan`].
    pub fn run(&self, source: &mut dyn Source) -> Result<Outcome, Error> {
        scan(source, None, self.factory, &self.options, self.observer)
    }

    /// Finds the pairs of one document of the source and one of the reference.
    ///
    /// # Errors
    /// As for [`scan`].
    pub fn run_against(&self, reference: &mut dyn Source, source: &mut dyn Source) -> Result<Outcome, Error> {
        scan(source, Some(reference), self.factory, &self.options, self.observer)
    }
}
