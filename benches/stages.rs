//! Each loop and each stage by itself: bytes, elements or documents a second. The answer is checked before the clock starts.
//!
//! ```text
//! cargo bench --bench stages                    (all; some ten minutes)
//! cargo bench --bench stages -- loop            (the inner loops, at each level that the processor has)
//! ```
//!
//! The level of the kernels is fixed for a process, so the program runs itself once for each lower one. `NEARDUPS_KERNEL` set by hand
//! gives that one alone.

#[path = "loops/languages.rs"]
mod languages;
mod loops;

use criterion::{BatchSize, BenchmarkId, Criterion, Throughput};
use loops::kernel::Level;
use loops::{LOOPS, passages, scan_of, text};
use neardups::algorithm::parameter::Settings;
use neardups::algorithm::{
    ALGORITHMS, Algorithm, AlgorithmFactory, CompareOn, Entry, Features, PreparedAlgorithm, Profile, Row,
};
use neardups::engine::{Outcome, ScanOptions, scan};
use neardups::similarity::{Similarity, Threshold, jaccard_at_least};
use neardups::source::{self, Documents, Input};
use neardups::tokenizer::{TOKENIZERS, TokenDetail, Tokenizer, Tokens, Word, by_name};
use neardups::{Error, hash};
use std::hint::black_box;
use std::time::Duration;

fn main() {
    /// Set for the processes of the lower levels.
    const LOOPS_ONLY: &str = "NEARDUPS_BENCH_LOOPS_ONLY";
    if std::env::var_os(Level::VARIABLE).is_none() {
        for name in Level::available().filter(|&level| level < Level::current()).map(Level::name) {
            let mut own = std::process::Command::new(std::env::current_exe().expect("it runs"));
            let own = own.args(std::env::args().skip(1)).env(Level::VARIABLE, name).env(LOOPS_ONLY, "1");
            assert!(own.status().expect("it runs").success());
        }
    }
    let short = Criterion::default().warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(2));
    let mut c = short.configure_from_args();
    let loops_only = std::env::var_os(LOOPS_ONLY).is_some();
    inner_loops(&mut c, !loops_only);
    if !loops_only {
        [tokenizers, languages, stages, pass_over, scans].iter().for_each(|group| group(&mut c));
    }
    c.final_summary();
}

fn inner_loops(c: &mut Criterion, with_plain: bool) {
    let level = Level::current().name();
    for (name, make) in LOOPS {
        let mut made = make();
        made.check();
        let mut group = c.benchmark_group(format!("loop: {name}"));
        group.throughput(match made.unit {
            "byte" => Throughput::Bytes(made.amount),
            _ => Throughput::Elements(made.amount),
        });
        let mut out = Vec::new();
        group.bench_function(level, |b| b.iter(|| (made.fast)(&mut out)));
        if let Some(plain) = made.plain.as_mut().filter(|_| with_plain) {
            group.bench_function("said plainly", |b| b.iter(|| plain(&mut out)));
        }
    }
}

fn tokenizers(c: &mut Criterion) {
    let mut group = c.benchmark_group("tokenizer");
    for (name, text) in ["english", "chinese", "code"].map(|folder| (folder, text(folder, 1 << 20))) {
        group.throughput(Throughput::Bytes(text.len() as u64));
        for entry in TOKENIZERS.iter().filter(|entry| entry.build.is_some()) {
            let tokenizer = by_name(entry.name).expect("this build has it");
            let mut tokens = Tokens::new(TokenDetail::Hashes, 0);
            tokenizer.tokenize(&text, &mut tokens);
            assert!(tokens.len() > 1000);
            group.bench_function(BenchmarkId::new(entry.name, name), |b| {
                b.iter(|| tokenizer.tokenize(black_box(&text), &mut tokens));
            });
        }
    }
}

/// What reading takes in several languages, of SimHash, with one thread.
fn languages(c: &mut Criterion) {
    let mut group = c.benchmark_group("language");
    group.sample_size(10);
    for (name, text) in languages::LANGUAGES {
        let documents = languages::documents(text, 2000);
        group.throughput(Throughput::Bytes(documents.iter().map(|(_, text)| text.len() as u64).sum()));
        let mut documents = Documents::new(documents);
        assert_eq!(scan_of(&mut documents, "simhash", &[], 1).report.counts.documents, 2000);
        group.bench_function(*name, |b| {
            b.iter_custom(|times| {
                (0..times).map(|_| time_in("read", &scan_of(&mut documents, "simhash", &[], 1))).sum()
            });
        });
    }
}

/// What a document goes through, stage by stage: documents a second of one thread, of passages of 64 words.
fn stages(c: &mut Criterion) {
    const COUNT: usize = 20_000;
    let passages = passages(COUNT as u64);
    let mut group = c.benchmark_group("stage");
    group.sample_size(10);
    group.throughput(Throughput::Elements(COUNT as u64));

    let mut tokens = Tokens::new(TokenDetail::Hashes, 0);
    group.bench_function("tokenise", |b| {
        b.iter(|| passages.iter().for_each(|(_, text)| Word.tokenize(black_box(text), &mut tokens)));
    });
    let mut tokens: Vec<Tokens> = passages
        .iter()
        .map(|(_, text)| {
            let mut tokens = Tokens::new(TokenDetail::Hashes, 0);
            Word.tokenize(text, &mut tokens);
            assert_eq!(tokens.len(), 64);
            tokens
        })
        .collect();
    let factory = |name, settings: &[(&str, &str)]| {
        let settings = Settings::from_pairs(settings.iter().copied());
        Entry::by_name(name).and_then(|entry| entry.factory(settings)).and_then(|factory| factory.prepare(64))
    };
    for (name, sketch, settings) in [
        ("minhash", "fss", &[][..]),
        ("minhash", "classic", &[("sketch", "classic")]),
        ("simhash", "", &[]),
        ("projection", "", &[]),
    ] {
        let algorithm = factory(name, settings).expect("defaults are sound").algorithm;
        assert!(algorithm.learns().is_none() && algorithm.reads() == TokenDetail::Hashes);
        let label = [name, sketch].join(" ").trim_end().to_string();
        let features_of = |tokens: &mut Tokens| {
            let mut features = Features::default();
            algorithm.features(tokens, &mut features);
            features
        };
        let features: Vec<Features> = tokens.iter_mut().map(features_of).collect();
        let fingerprints: Vec<Vec<u64>> = features
            .iter()
            .map(|features| {
                let mut fingerprint = Vec::new();
                algorithm.fingerprint(features, &mut fingerprint);
                assert!(!fingerprint.is_empty());
                fingerprint
            })
            .collect();
        let mut made = Features::default();
        group.bench_function(BenchmarkId::new("features", &label), |b| {
            b.iter(|| {
                for tokens in &mut tokens {
                    made.clear();
                    algorithm.features(black_box(tokens), &mut made);
                }
            });
        });
        let mut words = Vec::new();
        group.bench_function(BenchmarkId::new("fingerprint", &label), |b| {
            b.iter(|| {
                for features in &features {
                    words.clear();
                    algorithm.fingerprint(black_box(features), &mut words);
                }
            });
        });
        group.bench_function(BenchmarkId::new("keys", &label), |b| {
            b.iter(|| {
                for fingerprint in &fingerprints {
                    words.clear();
                    algorithm.keys(black_box(fingerprint), &mut words);
                }
            });
        });
    }

    // What the engine does, by its own clock.
    let mut documents = Documents::new(passages);
    for (name, settings, label) in
        [("minhash", &[][..], "minhash"), ("minhash", &[("exact", "true")], "exact"), ("simhash", &[], "simhash")]
    {
        let outcome = scan_of(&mut documents, name, settings, 1);
        assert!(outcome.report.counts.pairs.is_some_and(|pairs| pairs >= 100), "{label}");
        for stage in outcome.report.timings.iter().map(|(stage, _)| *stage).collect::<Vec<_>>() {
            group.bench_function(BenchmarkId::new(stage, label), |b| {
                b.iter_custom(|times| {
                    (0..times).map(|_| time_in(stage, &scan_of(&mut documents, name, settings, 1))).sum()
                });
            });
        }
    }
}

fn time_in(stage: &str, outcome: &Outcome) -> Duration {
    outcome.report.timings.iter().filter(|(name, _)| *name == stage).map(|(_, time)| *time).sum()
}

/// Candidates all, and hardly any of them a pair: what passing a pair over takes.
struct EachWithEach(Threshold);

impl Algorithm for EachWithEach {
    /// Of multisets, for which no prefixes are taken.
    fn profile(&self) -> Profile {
        Profile::new("each with each", "jaccard", CompareOn::Multisets).with_tables(1).with_jaccard(self.0)
    }

    fn rows(&self) -> Vec<Row> {
        Vec::new()
    }

    fn features(&self, tokens: &mut Tokens, features: &mut Features) {
        hash::shingle_hashes(tokens.hashes(), 5, &mut features.hashes);
    }

    fn fingerprint(&self, _: &Features, fingerprint: &mut Vec<u64>) {
        fingerprint.push(0);
    }

    fn keys(&self, _: &[u64], keys: &mut Vec<u64>) {
        keys.push(0);
    }

    fn compare(&self, a: &[u64], b: &[u64]) -> Option<Similarity> {
        jaccard_at_least(a, b, self.0)
    }
}

/// Verification of candidates that are not pairs: by parity bits first, and by comparing their sets directly.
fn pass_over(c: &mut Criterion) {
    const COUNT: u64 = 1000;
    let threshold: Threshold = "0.8".parse().expect("a threshold");
    let passages = passages(COUNT);
    let sets: Vec<Vec<u64>> = passages
        .iter()
        .map(|(_, text)| {
            let (mut tokens, mut set) = (Tokens::new(TokenDetail::Hashes, 0), Vec::new());
            Word.tokenize(text, &mut tokens);
            hash::shingle_hashes(tokens.hashes(), 5, &mut set);
            set.sort_unstable();
            set.dedup();
            set
        })
        .collect();
    let plain = || {
        let rest = |i: usize| sets[i + 1..].iter();
        let pairs =
            sets.iter().enumerate().map(|(i, a)| rest(i).filter_map(|b| jaccard_at_least(a, b, threshold)).count());
        pairs.sum::<usize>() as u64
    };
    let mut documents = Documents::new(passages);
    let options = ScanOptions { threads: 1, ..ScanOptions::default() };
    let factory = |_| Ok::<_, Error>(PreparedAlgorithm::new(EachWithEach(threshold)));
    let mut outcome = || scan(&mut documents, None, &factory, &options, &()).expect("it is in memory");
    assert_eq!((outcome().report.counts.pairs, plain()), (Some(COUNT / 10), COUNT / 10));

    let mut group = c.benchmark_group("pass over");
    group.sample_size(10);
    group.throughput(Throughput::Elements(COUNT * (COUNT - 1) / 2));
    group.bench_function("parity bits, then sets", |b| {
        b.iter_custom(|times| (0..times).map(|_| time_in("verify", &outcome())).sum());
    });
    group.bench_function("said plainly: sets", |b| b.iter(plain));
}

fn scans(c: &mut Criterion) {
    let mut group = c.benchmark_group("scan");
    for entry in ALGORITHMS {
        let factory =
            Entry::by_name(entry.name).and_then(|e| e.factory(Settings::default())).expect("defaults are sound");
        let input = || Input::new(vec!["fixtures/english/docs".into()], source::ReadOptions::default());
        let run = |mut input| {
            scan(&mut input, None, &factory, &ScanOptions::default(), &())
                .expect("fixtures are sound")
                .report
                .counts
                .pairs
        };
        assert!(run(input()) > Some(0), "{}", entry.name);
        group.bench_function(entry.name, |b| b.iter_batched(input, run, BatchSize::PerIteration));
    }
}
