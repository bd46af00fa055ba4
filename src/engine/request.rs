//! A scan as a builder: every option has a default.

use super::{KeepPolicy, KeptOutcome, Observer, Outcome, ScanOptions, deduplicate, scan};
use crate::algorithm::{AlgorithmFactory, PreparedAlgorithm};
use crate::error::Error;
use crate::source::{Records, Source};
use crate::tokenizer::Tokenizer;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

/// A scan: the algorithm and the options of the search. Two groups of methods start it:
///
/// | result | texts | a source | a source against a reference |
/// |---|---|---|---|
/// | which documents to keep, and the clusters | [`deduplicate_texts`](Self::deduplicate_texts) | [`deduplicate`](Self::deduplicate) | [`deduplicate_against`](Self::deduplicate_against) |
/// | all pairs, and from them the same | [`texts`](Self::texts) | [`run`](Self::run) | [`run_against`](Self::run_against) |
///
/// Those that find all pairs take time that grows with the square of the number of documents that are similar, and a temporary file
/// if the pairs do not fit the [memory](ScanOptions::memory); the others do not. The scan owns its algorithm: with the default observer it is a `Scan<'static>`, which a struct can
/// hold.
///
/// ```
/// use neardups::{KeepPolicy, MinHash, Scan};
///
/// let texts = ["one fine day in the middle of the night", "Hickory dickory dock", "One fine day in the middle of the night!"];
/// let scan = Scan::new(MinHash::builder().build()?);
/// let outcome = scan.deduplicate_texts(&texts, KeepPolicy::First)?;
/// assert_eq!(outcome.kept().indices().collect::<Vec<_>>(), [0, 1]);
/// let pairs = scan.texts(&texts)?;
/// let indices = pairs.pairs().map(|pair| Ok(pair?.indices)).collect::<Result<Vec<_>, neardups::Error>>()?;
/// assert_eq!(indices, [(0, 2)]);
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
        let ScanOptions {
            tokenizer,
            seed,
            threads,
            memory,
            temp_dir,
            chosen,
            distribution,
            required_fields,
            ranked_by,
        } = &self.options;
        let mut scan = f.debug_struct("Scan");
        scan.field("tokenizer", &tokenizer.name()).field("seed", seed).field("threads", threads);
        scan.field("memory", memory)
            .field("temp_dir", temp_dir)
            .field("chosen", chosen)
            .field("distribution", distribution)
            .field("required_fields", required_fields)
            .field("ranked_by", ranked_by);
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

    /// Decides which texts are kept, by this policy. Their ids are their indices.
    ///
    /// # Errors
    /// As for [`scan`].
    ///
    /// # Cost
    /// As for [`deduplicate`](Self::deduplicate). Texts are copied while they are read, some hundred at a time.
    pub fn deduplicate_texts<T: AsRef<str> + Sync>(
        &self,
        texts: &[T],
        policy: KeepPolicy,
    ) -> Result<KeptOutcome, Error> {
        self.deduplicate(&mut records(texts), policy)
    }

    /// Decides which documents of the source are kept, by this policy, and which form clusters: the same as
    /// [`Outcome::keep`] after [`run`](Self::run).
    ///
    /// # Errors
    /// As for [`scan`].
    ///
    /// # Cost
    /// That of [`scan_to_keep`](super::scan_to_keep): time and memory grow linearly with the documents, even if all of
    /// them are similar.
    pub fn deduplicate(&self, source: &mut dyn Source, policy: KeepPolicy) -> Result<KeptOutcome, Error> {
        self.with_factory(|factory| deduplicate(source, None, factory, &self.options, self.observer, policy))
    }

    /// As [`deduplicate`](Self::deduplicate), with a reference that is kept: what is kept of the source has no
    /// near-duplicates in itself and none in the reference. [`scan_to_keep`](super::scan_to_keep) compares the documents
    /// with the reference alone.
    ///
    /// # Errors
    /// As for [`scan`].
    pub fn deduplicate_against(
        &self,
        reference: &mut dyn Source,
        source: &mut dyn Source,
        policy: KeepPolicy,
    ) -> Result<KeptOutcome, Error> {
        self.with_factory(|factory| deduplicate(source, Some(reference), factory, &self.options, self.observer, policy))
    }

    /// Finds all pairs of near-duplicates among texts. Their ids are their indices.
    ///
    /// # Errors
    /// As for [`scan`].
    ///
    /// # Cost
    /// That of [`scan`], which finds every pair: [`deduplicate_texts`](Self::deduplicate_texts) is much faster where many
    /// texts are similar. Texts are copied while they are read, some hundred at a time.
    pub fn texts<T: AsRef<str> + Sync>(&self, texts: &[T]) -> Result<Outcome, Error> {
        self.run(&mut records(texts))
    }

    /// Finds all pairs of near-duplicates among the documents of a source.
    ///
    /// # Errors
    /// As for [`scan`].
    pub fn run(&self, source: &mut dyn Source) -> Result<Outcome, Error> {
        self.with_factory(|factory| scan(source, None, factory, &self.options, self.observer))
    }

    /// Finds the pairs of one document of the source and one of the reference.
    ///
    /// # Errors
    /// As for [`scan`].
    pub fn run_against(&self, reference: &mut dyn Source, source: &mut dyn Source) -> Result<Outcome, Error> {
        self.with_factory(|factory| scan(source, Some(reference), factory, &self.options, self.observer))
    }

    /// Calls a function with the factory that makes the algorithm, with the chosen tokenizer.
    fn with_factory<T>(&self, call: impl FnOnce(&dyn AlgorithmFactory) -> T) -> T {
        let fixed = WithFixedTokenizer(&*self.factory);
        call(if self.is_tokenizer_fixed { &fixed } else { &*self.factory })
    }
}

/// Texts as a source; their ids are their indices.
fn records<T: AsRef<str> + Sync>(texts: &[T]) -> impl Source {
    Records::new(|| texts.iter().enumerate().map(|(index, text)| Ok((index, text.as_ref()))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::minhash::MinHash;
    use crate::source::Documents;
    use crate::tokenizer::Whitespace;

    #[test]
    fn a_chosen_tokenizer_is_used_for_short_texts_too() {
        let minhash = MinHash::builder().build().unwrap();
        let texts = ["one two", "one  two", "onetwo"];
        let pairs = |scan: Scan<'_>| {
            let outcome = scan.texts(&texts).unwrap();
            (outcome.report.tokenizer.clone(), outcome.pairs().map(|pair| pair.unwrap().indices).collect::<Vec<_>>())
        };
        assert_eq!(pairs(Scan::new(minhash.clone())).0.as_deref(), Some("char:4"));
        assert_eq!(pairs(Scan::new(minhash).tokenizer(Whitespace)), (None, vec![(0, 1)]));
    }

    #[test]
    fn a_template_is_deduplicated_without_all_pairs() {
        let words = |name: &str, count| (0..count).map(|n| format!("{name}{n} ")).collect::<String>();
        // Every hundredth page has a text of its own.
        let own = |i: usize| if i.is_multiple_of(100) { words(&format!("own{i}x"), 100) } else { String::new() };
        let page = |i| format!("{}page {i} {}", words("frame", 100), own(i));
        let texts: Vec<String> = (0..1000).map(page).collect();
        let scan = Scan::new(MinHash::builder().build().unwrap());
        let pairs = scan.texts(&texts).unwrap();
        for &(_, policy, _) in super::super::KEEP_POLICIES {
            let outcome = scan.deduplicate_texts(&texts, policy).unwrap();
            let (kept, of_pairs) = (outcome.kept(), pairs.keep(policy).unwrap());
            assert_eq!(kept.verdicts().collect::<Vec<_>>(), of_pairs.verdicts().collect::<Vec<_>>());
            assert_eq!(kept.clusters().collect::<Vec<_>>(), of_pairs.clusters().collect::<Vec<_>>());
            let report = outcome.report();
            assert!(report.compared < 20_000 && report.counts.pairs.is_none(), "{report:?}");
        }
        assert!(pairs.report.compared > 100_000);
    }

    #[test]
    fn a_reference_is_kept_and_takes_documents_away() {
        let [day, night] = ["one fine day in the middle of the year", "it was a dark and stormy night by the sea"];
        let minhash = MinHash::builder().build().unwrap();
        let scan = Scan::new(minhash);
        let (mut reference, mut source) =
            (Documents::new([("r", day)]), Documents::new([("a", day), ("b", night), ("c", night)]));
        let outcome = scan.deduplicate_against(&mut reference, &mut source, KeepPolicy::First).unwrap();
        let keep = outcome.kept().verdicts().map(|verdict| (verdict.id.to_string(), verdict.keep)).collect::<Vec<_>>();
        assert_eq!(keep, [("a".into(), false), ("b".into(), true), ("c".into(), false)]);
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
