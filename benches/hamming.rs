//! All pairs of codes within a Hamming distance of 3: codes a second. The answer is checked before the clock starts.
//!
//! ```text
//! cargo bench --bench hamming
//! NEARDUPS_BENCH_HUGE=1 cargo bench --bench hamming      (100,000,000 codes as well, which take 3 GB of memory)
//! ```
//!
//! `NEARDUPS_KERNEL=plain` or `avx2` shows what the join takes with less than the processor has.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use neardups::hamming::{Near, pairs_within};
use neardups::hash::mix;
use std::hint::black_box;

const DISTANCE: u32 = 3;

/// Random codes, the last hundredth of them copies of the first with up to three bits flipped.
fn codes(count: u64) -> Vec<u64> {
    let copies = count / 100;
    let flips =
        |i: u64| (0..u64::from(DISTANCE)).fold(0, |bits, flip| bits ^ 1 << (mix(!(DISTANCE as u64 * i + flip)) % 64));
    (0..count - copies).map(mix).chain((0..copies).map(|i| mix(i) ^ flips(i))).collect()
}

/// Each with each.
fn plain(codes: &[u64]) -> Vec<Near> {
    let mut pairs = Vec::new();
    for (i, x) in codes.iter().enumerate() {
        for (j, y) in codes.iter().enumerate().skip(i + 1) {
            let distance = (x ^ y).count_ones();
            if distance <= DISTANCE {
                pairs.push(Near { a: i as u32, b: j as u32, distance });
            }
        }
    }
    pairs
}

/// That the pairs are what they say, each is there once, and all planted ones are among them.
fn check(codes: &[u64], pairs: &[Near]) {
    let apart = |a: u32, b: u32| (codes[a as usize] ^ codes[b as usize]).count_ones();
    assert!(pairs.is_sorted_by(|x, y| (x.a, x.b) < (y.a, y.b)));
    assert!(pairs.iter().all(|pair| pair.distance <= DISTANCE && pair.distance == apart(pair.a, pair.b)));
    let copies = (codes.len() / 100) as u32;
    for a in 0..copies {
        let b = codes.len() as u32 - copies + a;
        assert!(pairs.binary_search(&Near { a, b, distance: apart(a, b) }).is_ok(), "{a} and {b}");
    }
}

fn joins(c: &mut Criterion) {
    let some = codes(100_000);
    assert_eq!(pairs_within(&some, DISTANCE), plain(&some));

    let mut group = c.benchmark_group("hamming");
    group.sample_size(10);
    let huge = std::env::var_os("NEARDUPS_BENCH_HUGE").map(|_| 100_000_000);
    for count in [10_000, 1_000_000, 10_000_000].into_iter().chain(huge) {
        let codes = codes(count);
        check(&codes, &pairs_within(&codes, DISTANCE));
        group.throughput(Throughput::Elements(count));
        group.bench_function(BenchmarkId::new("join", count), |b| b.iter(|| pairs_within(black_box(&codes), DISTANCE)));
        if count == 10_000 {
            group.bench_function(BenchmarkId::new("each with each", count), |b| b.iter(|| plain(black_box(&codes))));
        }
    }
}

criterion_group!(benches, joins);
criterion_main!(benches);
