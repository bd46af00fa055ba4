//! The share of pairs of a known Jaccard similarity that is found, against the stated probability.
//!
//! ```text
//! cargo bench --bench recall
//! ```
//!
//! Prints a table in Markdown, from a recall of .01 to .999: bands × rows (or supershingles), how many of how many shingles are shared, what
//! independent slots would find, what is stated, what was found of 20,000 pairs, and how many standard errors lie between the two. The
//! argument `--pairs N` takes another number of pairs.

#[path = "../tests/support/random.rs"]
#[allow(dead_code)]
mod random;

use neardups::algorithm::minhash::MinHash;
use neardups::algorithm::minhash::bands::Bands;
use neardups::algorithm::minhash::curve::{self, Curve};
use neardups::algorithm::minhash::sketch::Kind;
use neardups::algorithm::minhash::supershingles::{Shape, Supershingles};
use neardups::algorithm::{Algorithm, Features};
use random::Random;

/// The number of pairs, of this many, that share a key.
fn found(algorithm: &dyn Algorithm, shared: usize, either: usize, pairs: usize, seed: u64) -> usize {
    let mut random = Random::new(seed);
    let keys = |hashes: &[u64]| {
        let mut features = Features::default();
        features.hashes.extend_from_slice(hashes);
        let (mut fingerprint, mut keys) = (Vec::new(), Vec::new());
        algorithm.fingerprint(&features, &mut fingerprint);
        algorithm.keys(&fingerprint, &mut keys);
        keys
    };
    let mut met = 0;
    for _ in 0..pairs {
        let elements = random.words(either);
        let (common, own) = elements.split_at(shared);
        let (own_a, own_b) = own.split_at(own.len() / 2);
        let (a, b) = (keys(&[common, own_a].concat()), keys(&[common, own_b].concat()));
        met += usize::from(a.iter().zip(&b).any(|(a, b)| a == b));
    }
    met
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let typed = arguments.iter().position(|typed| typed == "--pairs").and_then(|at| arguments.get(at + 1));
    let pairs: usize = typed.map_or(20_000, |typed| typed.parse().expect("--pairs takes a number"));
    println!(
        "| sketch | shape | shared | independent | stated | found | standard errors |\n|---|---|---|---|---|---|---|"
    );
    let mut far = 0;
    let mut row = |kind: Kind, shape: Shape, shared: usize, either: usize| {
        let Shape { groups, rows, least } = shape;
        let threshold = "0.5".parse().expect("a threshold");
        let algorithm: Box<dyn Algorithm> = match least {
            1 => Box::new(MinHash::new(threshold, 1, kind, Bands { bands: groups, rows })),
            _ => Box::new(Supershingles::new(1, kind, shape)),
        };
        let seed = (1_000_003 * groups + 10_007 * rows + 101 * either + shared) as u64;
        let share = found(&*algorithm, shared, either, pairs, seed) as f64 / pairs as f64;
        let stated = Curve::new(kind, shape).found(shared as f64, either as f64);
        let independent = Curve::new(Kind::Classic, shape).found(shared as f64, either as f64);
        let errors = (share - stated) / (stated * (1.0 - stated) / pairs as f64).sqrt();
        far += usize::from(errors.abs() > 2.0);
        let shape = if least == 1 { format!("{groups} x {rows}") } else { format!("{least} of {groups} x {rows}") };
        println!(
            "| {} | {shape} | {shared} of {either} | {independent:.4} | {stated:.4} | {share:.4} | {errors:+.2} |",
            kind.name()
        );
    };
    let mut rows = 0;
    // What --recall chooses, at documents of several lengths.
    for recall in [0.01, 0.1, 0.3, 0.5, 0.6, 0.7, 0.9, 0.99, 0.999] {
        for (percent, eithers) in [(80, [20, 100, 300]), (95, [20, 100, 400])] {
            let bands = curve::for_recall(Kind::Fss, f64::from(percent) / 100.0, recall, 128).expect("fits");
            for either in eithers {
                row(Kind::Fss, bands.into(), either * percent as usize / 100, either);
                rows += 1;
            }
        }
    }
    // Bands of presets, and supershingles.
    for (bands, slots, percent, either) in
        [(9, 13, 80, 300), (5, 25, 90, 300), (5, 25, 90, 100), (14, 8, 75, 300), (25, 10, 70, 300)]
    {
        row(Kind::Fss, Bands { bands, rows: slots }.into(), either * percent / 100, either);
        rows += 1;
    }
    for (percent, either) in [(80, 100), (80, 300), (90, 300), (95, 300), (98, 300)] {
        row(Kind::Fss, Shape { groups: 6, rows: 14, least: 2 }, either * percent / 100, either);
        rows += 1;
    }
    for (bands, slots, percent) in [(9, 13, 80), (16, 6, 80), (1, 20, 95)] {
        row(Kind::Classic, Bands { bands, rows: slots }.into(), percent, 100);
        rows += 1;
    }
    println!("\n{far} of {rows} are more than two standard errors off; one in 22 is by chance.");
}
