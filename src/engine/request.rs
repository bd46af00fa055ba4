//! A scan as a builder: every option has a default.

use super::{Observer, Outcome, ScanOptions, scan};
use crate::algorithm::{AlgorithmFactory, PreparedAlgorithm};
use crate::error::Error;
use crate::source::{Records, Source};
use crate::tokenizer::Tokenizer;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

/// A scan: the algorithm and the options of the search. [`texts`](Self::texts) and [`run`](Self::run) start it. The scan
/// owns its algorithm: with the default observer it is a `Scan<'static>`, which a struct can hold.
///
/// ```
/// use neardups::{KeepPolicy, MinHash, Scan};
///
/// let texts = ["one fine day in the middle of the night", "Hickory dickory dock", "One fine day in the middle of the night!"];
/// let minhash = MinHash::builder().build()?;
/// let outcome = Scan::new(minhash).texts(&texts)?;
/// assert_eq!(outcome.keep(KeepPolicy::First).indices().collect::<Vec<_>>(), [0, 1]);
/// # Ok::<(), neardups::Error>(())
/// ```
#[derive(Clone)]
pub struct Scan<'a> {
    factory: Arc<dyn AlgorithmFactory + Send + 'a>,
    options: ScanOptions,
    observer: &'a dyn Observer,
    /// Whether the tokenizer was chosen: then it is used however short the documents are.
    is_tokenizer_fixed: bool,
}

impl fmt::Debug for Scan<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ScanOptions { tokenizer, seed, threads, memory, temp_dir, chosen, distribution } = &self.options;
        let mut scan = f.debug_struct("Scan");
        scan.field("tokenizer", &tokenizer.name()).field("seed", seed).field("threads", threads);
        scan.field("memory", memory)
            .field("temp_dir", temp_dir)
            .field("chosen", chosen)
            .field("distribution", distribution);
        scan.finish_non_exhaustive()
    }
}

/// A factory whose algorithms take the tokenizer that was chosen, and none of their own.
struct WithFixedTokenizer<'a>(&'a dyn AlgorithmFactory);

impl AlgorithmFactory for WithFixedTokenizer<'_> {
    fn prepare(&self, median_tokens: usize) -> Result<PreparedAlgorithm, Error> {
        self.0.prepare(median_tokens).map(|prepared| PreparedAlgorithm { tokenizer: None, ..prepared })
    }

    fn depends_on_length(&self) -> bool {
        self.0.depends_on_length()
    }
}

impl<'a> Scan<'a> {
    /// A scan with this algorithm and the defaults: word tokens, seed 0, all cores, 1 GiB of memory for the documents,
    /// and a no-op observer.
    pub fn new(factory: impl AlgorithmFactory + Send + 'a) -> Self {
        Scan { factory: Arc::new(factory), options: ScanOptions::default(), observer: &(), is_tokenizer_fixed: false }
    }

    /// Cuts texts by this tokenizer, however short they are. By default these are words, and runs of characters where the
    /// algorithm finds texts too short for words.
    pub fn tokenizer(mut self, tokenizer: impl Tokenizer + 'static) -> Self {
        self.options.tokenizer = Arc::new(tokenizer);
        self.is_tokenizer_fixed = true;
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

    /// See [`ScanOptions::memory`].
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
        self.scan(source, None)
    }

    /// Finds the pairs of one document of the source and one of the reference.
    ///
    /// # Errors
    /// As for [`scan`].
    pub fn run_against(&self, reference: &mut dyn Source, source: &mut dyn Source) -> Result<Outcome, Error> {
        self.scan(source, Some(reference))
    }

    fn scan(&self, source: &mut dyn Source, reference: Option<&mut dyn Source>) -> Result<Outcome, Error> {
        let fixed = WithFixedTokenizer(&*self.factory);
        let factory = if self.is_tokenizer_fixed { &fixed } else { &*self.factory };
        scan(source, reference, factory, &self.options, self.observer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::minhash::MinHash;
    use crate::tokenizer::Whitespace;

    #[test]
    fn a_chosen_tokenizer_is_used_for_short_texts_too() {
        let minhash = MinHash::builder().build().unwrap();
        let texts = ["one two", "one  two", "onetwo"];
        let pairs = |scan: Scan<'_>| {
            let outcome = scan.texts(&texts).unwrap();
            (outcome.report.tokenizer.clone(), outcome.pairs().map(|pair| pair.indices).collect::<Vec<_>>())
        };
        assert_eq!(pairs(Scan::new(minhash.clone())).0.as_deref(), Some("char:4"));
        assert_eq!(pairs(Scan::new(minhash).tokenizer(Whitespace)), (None, vec![(0, 1)]));
    }

    #[test]
    fn a_scan_can_be_kept_and_sent() {
        fn kept() -> Result<impl Send, Error> {
            let scan: Scan<'static> = Scan::new(MinHash::builder().build()?).seed(7);
            Ok(scan.clone())
        }
        assert!(kept().is_ok());
    }

    #[test]
    fn a_scan_can_be_shown() {
        let minhash = MinHash::builder().build().unwrap();
        assert!(format!("{:?}", Scan::new(minhash).seed(7)).contains("seed: 7"));
    }
}
