//! Each stage by itself, on the fixtures: bytes or elements a second. The answer is checked before the clock starts.
//!
//! ```text
//! cargo bench --bench stages
//! ```

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use neardups::algorithm::minhash::sketch::{Kind, Sketch};
use neardups::algorithm::parameter::Settings;
use neardups::algorithm::{ALGORITHMS, Entry};
use neardups::engine::{Options, scan};
use neardups::hash::{mix, shingle_hashes};
use neardups::source::{self, Input, Source};
use neardups::tokenizer::{Keep, TOKENIZERS, Tokens, by_name};
use neardups::{hamming, similarity};
use std::hint::black_box;
use std::ops::ControlFlow;

/// The texts of a folder of fixtures, repeated to about a megabyte.
fn text(folder: &str) -> String {
    let mut input = Input::new(vec![format!("fixtures/{folder}/docs").into()], source::Options::default());
    let mut text = String::new();
    input.read(&mut |batch| {
        batch.documents(&mut |document| text += &document.expect("fixtures are sound").text);
        ControlFlow::Continue(())
    });
    assert!(text.len() > 10_000, "{folder}");
    text.repeat((1 << 20) / text.len() + 1)
}

fn tokenizers(c: &mut Criterion) {
    let mut group = c.benchmark_group("tokenize");
    for (name, text) in ["english", "chinese", "code"].map(|folder| (folder, text(folder))) {
        group.throughput(Throughput::Bytes(text.len() as u64));
        for entry in TOKENIZERS.iter().filter(|entry| entry.build.is_some()) {
            let tokenizer = by_name(entry.name).expect("this build has it");
            let mut tokens = Tokens::new(Keep::Hashes, 0);
            tokenizer.tokenize(&text, &mut tokens);
            assert!(tokens.len() > 1000);
            group.bench_function(BenchmarkId::new(entry.name, name), |b| {
                b.iter(|| tokenizer.tokenize(black_box(&text), &mut tokens));
            });
        }
    }
}

fn sketches(c: &mut Criterion) {
    let mut group = c.benchmark_group("sketch, 208 slots");
    for elements in [10u64, 200, 1000, 10_000] {
        let set: Vec<u64> = (0..elements).map(mix).collect();
        group.throughput(Throughput::Elements(elements));
        for kind in [Kind::Fss, Kind::Classic] {
            let sketch = Sketch::new(kind, 208);
            let mut signature = Vec::new();
            sketch.signature(&set, &mut signature);
            assert_eq!(signature.len(), 208);
            group.bench_function(BenchmarkId::new(kind.name(), elements), |b| {
                b.iter(|| {
                    signature.clear();
                    sketch.signature(black_box(&set), &mut signature);
                });
            });
        }
    }
}

fn fingerprints(c: &mut Criterion) {
    let hashes: Vec<u64> = (0..1000).map(mix).collect();
    let mut group = c.benchmark_group("hashes");
    group.throughput(Throughput::Elements(hashes.len() as u64));
    let ones = vec![1u32; hashes.len()];
    let (mut fast, mut plain) = (Vec::new(), Vec::new());
    hamming::sign_bits(&hashes, &[], 64, &mut fast);
    hamming::sign_bits(&hashes, &ones, 64, &mut plain);
    assert_eq!(fast, plain);
    for (name, weights) in [("sign bits, unit weights", &[][..]), ("sign bits, weighted", &ones[..])] {
        group.bench_function(name, |b| {
            b.iter(|| {
                fast.clear();
                hamming::sign_bits(black_box(&hashes), weights, 64, &mut fast);
            });
        });
    }
    let mut shingles = Vec::new();
    group.bench_function("shingles of 5", |b| {
        b.iter(|| {
            shingles.clear();
            shingle_hashes(black_box(&hashes), 5, &mut shingles);
        });
    });
    let mut a = shingles.clone();
    a.sort_unstable();
    let b_set: Vec<u64> = a.iter().copied().filter(|x| x % 10 != 0).collect();
    let threshold: similarity::Threshold = "0.8".parse().expect("a threshold");
    assert!(similarity::jaccard(&a, &b_set, threshold).is_some());
    group.bench_function("exact jaccard of two sets", |b| {
        b.iter(|| similarity::jaccard(black_box(&a), black_box(&b_set), threshold));
    });
}

fn scans(c: &mut Criterion) {
    let mut group = c.benchmark_group("scan");
    for entry in ALGORITHMS {
        let recipe =
            Entry::by_name(entry.name).and_then(|e| e.recipe(Settings::default())).expect("defaults are sound");
        let run = || {
            let mut input = Input::new(vec!["fixtures/english/docs".into()], source::Options::default());
            scan(&mut input, None, &recipe, &Options::default(), &()).expect("fixtures are sound").report.counts.pairs
        };
        assert!(run() >= 5);
        group.bench_function(entry.name, |b| b.iter(run));
    }
}

criterion_group!(benches, tokenizers, sketches, fingerprints, scans);
criterion_main!(benches);
