//! Robustness against the code of library users: minimal factories, slow documents, panics anywhere.

use crate::support::corpus::Text;
use crate::support::scanning::{always, factory, outcome, unordered};
use neardups::algorithm::{Algorithm, AlgorithmFactory, CompareOn, Explain, Features, PreparedAlgorithm, Profile, Row};
use neardups::engine::{ScanOptions, scan};
use neardups::hash::shingle_hashes;
use neardups::index::{Index, Plan};
use neardups::report::JsonLines;
use neardups::similarity::{Similarity, Threshold, jaccard_at_least};
use neardups::source::{Batch, Documents, Source};
use neardups::tokenizer::{CharNgram, Code, Tokenizer, Tokens, Whitespace, Word};
use std::borrow::Cow;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

/// Sets of shingles by all of their keys; reports its width only on request.
struct Shingles {
    width: usize,
    threshold: Threshold,
    says_so: bool,
}

impl Algorithm for Shingles {
    fn profile(&self) -> Profile {
        Profile::new("shingles", "jaccard", CompareOn::Features)
    }
    fn rows(&self) -> Vec<Row> {
        if self.says_so { vec![Row::identity("width", self.width)] } else { Vec::new() }
    }
    fn features(&self, tokens: &mut Tokens, features: &mut Features) {
        shingle_hashes(tokens.hashes(), self.width, &mut features.hashes);
    }
    fn fingerprint(&self, features: &Features, fingerprint: &mut Vec<u64>) {
        fingerprint.extend_from_slice(&features.hashes);
    }
    fn keys(&self, fingerprint: &[u64], keys: &mut Vec<u64>) {
        keys.extend_from_slice(fingerprint);
    }
    fn compare(&self, a: &[u64], b: &[u64]) -> Option<Similarity> {
        jaccard_at_least(a, b, self.threshold)
    }
}

#[test]
fn a_factory_that_follows_the_median_does_not_follow_the_order_of_the_documents() {
    let text = |words: &mut dyn Iterator<Item = usize>| words.map(|word| format!("w{word} ")).collect::<String>();
    // Short documents, all different, and more long ones, in pairs that are alike only by single words.
    let short = |i: usize| (format!("s{i}"), text(&mut (0..5).map(|k| 1_000_000 + 5 * i + k)));
    let long = |i: usize| {
        let words = &mut (0..30).map(|k| if k == 15 { 5_000_000 + i } else { 30 * (i / 2) + k });
        (format!("l{i}"), text(words))
    };
    let (short, long): (Vec<Text>, Vec<Text>) = ((0..1200).map(short).collect(), (0..1300).map(long).collect());
    for says_so in [false, true] {
        let follows = |median: usize| -> Result<PreparedAlgorithm, neardups::Error> {
            let width = if median > 20 { 5 } else { 1 };
            Ok(PreparedAlgorithm::new(Shingles { width, threshold: "0.8".parse().unwrap(), says_so }))
        };
        let found = |documents: &[Text]| unordered(&outcome(documents, &follows)).len();
        let orders = [[&short[..], &long].concat(), [&long[..], &short].concat()];
        assert_eq!(orders.map(|documents| found(&documents)), [0, 0], "says so: {says_so}");
    }
}

#[test]
fn an_index_refuses_tokens_of_another_tokenizer() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("seen");
    let plan = |tokenizer: Arc<dyn Tokenizer>| Plan::new(&factory("minhash", &[("shingle", "2")]), tokenizer).unwrap();
    let open = |tokenizer| Index::open(&path, &plan(tokenizer), &neardups::index::IndexOptions::default());
    drop(open(Arc::new(Word)).unwrap());
    drop(open(Arc::new(Word)).unwrap());
    let others: [Arc<dyn Tokenizer>; 3] = [Arc::new(Whitespace), Arc::new(Code), Arc::new(CharNgram::new(5))];
    for other in others {
        let name = other.name().into_owned();
        let error = open(other).err().unwrap().to_string();
        assert!(error.contains("made with tokenizer word") && error.contains(&format!("tokenizer {name}")), "{error}");
    }
}

/// Waits at the first document until it is released.
struct Slow(Arc<AtomicBool>);

impl Tokenizer for Slow {
    fn name(&self) -> Cow<'_, str> {
        "slow".into()
    }
    fn tokenize(&self, text: &str, tokens: &mut Tokens) {
        let deadline = Instant::now() + Duration::from_secs(30);
        while text.starts_with("first ") && !self.0.load(SeqCst) && Instant::now() < deadline {
            thread::sleep(Duration::from_millis(5));
        }
        Word.tokenize(text, tokens);
    }
}

/// Batches of a document each, counted as they are taken.
struct Counted(Arc<AtomicUsize>);

impl Source for Counted {
    fn read(&mut self, deliver: &mut dyn FnMut(Batch) -> ControlFlow<()>) {
        for number in 0..4000 {
            let first = if number == 0 { "first " } else { "" };
            let text = format!("{first}document number {number} of a source that goes on and on for a while");
            if deliver(Batch::from_documents(vec![(number.to_string(), text)])).is_break() {
                return;
            }
            self.0.fetch_add(1, SeqCst);
        }
    }
}

#[test]
fn one_slow_document_holds_up_reading() {
    let (go_on, taken) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    let options = ScanOptions { tokenizer: Arc::new(Slow(Arc::clone(&go_on))), threads: 2, ..ScanOptions::default() };
    // With its parameters given nothing is sampled.
    let factory = factory("minhash", &[("shingle", "3")]);
    assert!(!factory.depends_on_length());
    let counted = Arc::clone(&taken);
    let scanning =
        thread::spawn(move || scan(&mut Counted(counted), None, &always_of(factory), &options, &()).unwrap());
    // Until nothing is taken for a while.
    let mut before = usize::MAX;
    while before != taken.load(SeqCst) {
        before = taken.load(SeqCst);
        thread::sleep(Duration::from_millis(300));
    }
    go_on.store(true, SeqCst);
    let documents = scanning.join().unwrap().report.counts.documents;
    assert_eq!((documents, taken.load(SeqCst)), (4000, 4000));
    // A sample of 1,000 is read ahead in any case.
    assert!(before <= 1100, "{before} batches were taken behind a slow one");
}

/// A factory of the table that reports nothing about itself.
fn always_of(factory: impl AlgorithmFactory + Send + 'static) -> impl AlgorithmFactory {
    move |median: usize| factory.prepare(median)
}

/// Panics where it is asked to.
struct Panicking(&'static str);

impl Panicking {
    fn at(&self, place: &str) {
        assert!(self.0 != place, "a panic in {place}");
    }
}

impl Algorithm for Panicking {
    fn profile(&self) -> Profile {
        Profile::new("panicking", "none", CompareOn::Fingerprints)
    }
    fn rows(&self) -> Vec<Row> {
        vec![Row::identity("place", self.0)]
    }
    fn features(&self, tokens: &mut Tokens, features: &mut Features) {
        self.at("features");
        features.hashes.extend_from_slice(tokens.hashes());
    }
    fn fingerprint(&self, features: &Features, fingerprint: &mut Vec<u64>) {
        self.at("fingerprint");
        fingerprint.push(features.hashes[0]);
    }
    fn keys(&self, fingerprint: &[u64], keys: &mut Vec<u64>) {
        self.at("keys");
        keys.extend_from_slice(fingerprint);
    }
    fn compare(&self, a: &[u64], b: &[u64]) -> Option<Similarity> {
        self.at("compare");
        (a == b).then_some(Similarity::ONE)
    }
    fn explain(&self) -> Option<&dyn Explain> {
        Some(self)
    }
}

impl Explain for Panicking {
    fn similarity(&self, _: &[u64], _: &[u64]) -> Option<Similarity> {
        None
    }
    fn distance(&self, _: Similarity) -> Option<u32> {
        self.at("distance");
        None
    }
}

impl Tokenizer for Panicking {
    fn name(&self) -> Cow<'_, str> {
        "panicking".into()
    }
    fn tokenize(&self, text: &str, tokens: &mut Tokens) {
        self.at("tokenize");
        Word.tokenize(text, tokens);
    }
}

/// A source that panics after its documents, on request.
struct Breaking(Panicking, Documents);

impl Source for Breaking {
    fn read(&mut self, deliver: &mut dyn FnMut(Batch) -> ControlFlow<()>) {
        self.1.read(deliver);
        self.0.at("read");
    }
}

#[test]
fn a_panic_anywhere_ends_the_call() {
    for place in ["read", "tokenize", "features", "fingerprint", "keys", "compare", "distance"] {
        let (ended, end) = channel();
        thread::spawn(move || {
            let run = || {
                let documents = (0..30_000).map(|i| (i.to_string(), format!("w{} x{i}", i / 2)));
                let mut source = Breaking(Panicking(place), Documents::new(documents));
                let options =
                    ScanOptions { tokenizer: Arc::new(Panicking(place)), threads: 3, ..ScanOptions::default() };
                let outcome = scan(&mut source, None, &always(|| Panicking(place)), &options, &()).unwrap();
                JsonLines::new(std::io::sink(), &outcome.report).pairs(&outcome, 3).unwrap();
            };
            let panic = catch_unwind(AssertUnwindSafe(run)).expect_err("it panics");
            _ = ended.send(panic.downcast_ref::<String>().cloned());
        });
        let message = end.recv_timeout(Duration::from_secs(60)).unwrap_or_else(|_| panic!("{place}: the call hangs"));
        assert_eq!(message, Some(format!("a panic in {place}")));
    }
}
