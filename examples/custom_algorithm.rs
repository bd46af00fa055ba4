//! A custom algorithm: containment, which finds a document quoted whole inside a longer one. Jaccard similarity cannot,
//! because the longer document has much more text.
//!
//! ```text
//! cargo run --release --example custom_algorithm
//! ```
//!
//! Broder 1997 (*On the resemblance and containment of documents*, section 4) samples the shingles whose hash is 0 modulo a
//! number; a document that contains another also contains its samples. Here each sample is a key, so two documents that
//! share one are compared, exactly. The engine does the rest: reading, exact copies, grouping, each pair once, clusters.

use neardups::Error;
use neardups::algorithm::{Algorithm, CompareOn, Features, PreparedAlgorithm, Profile, Row};
use neardups::engine::{ScanOptions, scan};
use neardups::hash::shingle_hashes;
use neardups::similarity::{Similarity, Threshold, overlap_at_least};
use neardups::source::Documents;
use neardups::tokenizer::Tokens;

/// Pairs of which one contains at least this share of the other's shingles.
struct Containment {
    threshold: Threshold,
}

/// Tokens in a shingle.
const WIDTH: usize = 3;
/// One shingle in this many is a sample. A quotation of `n` shingles is missed with probability (3/4)ⁿ.
const SAMPLED: u64 = 4;

impl Algorithm for Containment {
    /// Comparing needs every shingle, not just the samples.
    fn profile(&self) -> Profile {
        Profile::new("containment", "containment", CompareOn::Features)
    }

    /// Whoever keeps signatures knows by these rows that others were made the same way.
    fn rows(&self) -> Vec<Row> {
        vec![Row::identity("threshold", self.threshold.as_f64()), Row::identity("shingle", WIDTH)]
    }

    fn features(&self, tokens: &mut Tokens, features: &mut Features) {
        shingle_hashes(tokens.hashes(), WIDTH, &mut features.hashes);
    }

    fn fingerprint(&self, features: &Features, fingerprint: &mut Vec<u64>) {
        fingerprint.extend(features.hashes.iter().filter(|&hash| hash.is_multiple_of(SAMPLED)));
    }

    /// The samples themselves: any number of keys, in any order, with repeats.
    fn keys(&self, fingerprint: &[u64], keys: &mut Vec<u64>) {
        keys.extend_from_slice(fingerprint);
    }

    fn compare(&self, a: &[u64], b: &[u64]) -> Option<Similarity> {
        let smaller = a.len().min(b.len()) as u64;
        let shared = overlap_at_least(a, b, 0)? as u64;
        self.threshold.reached_by(shared, smaller).then(|| Similarity::ratio(shared, smaller))
    }
}

fn pairs() -> Result<Vec<String>, Error> {
    let quoted =
        "It was the best of times, it was the worst of times, it was the age of wisdom, it was the age of foolishness";
    let essay = format!(
        "Few openings are as well known as the one that Dickens wrote in 1859. \"{quoted}\", he begins, and goes on in the same \
         breath for half a page before a single thing has happened. What the sentence does is to refuse to choose; the book that \
         follows will not choose either, and that is its strength as a portrait of an age and its weakness as a history of one."
    );
    let mut documents = Documents::new([
        ("quotation", quoted),
        ("essay", &essay),
        (
            "other",
            "Call me Ishmael. Some years ago, never mind how long precisely, I thought I would sail about a little.",
        ),
    ]);
    let threshold = "0.9".parse().expect("a threshold");
    // A factory makes the algorithm once the length of the documents is known; this one does not care.
    let factory = |_median_tokens: usize| Ok(PreparedAlgorithm::new(Containment { threshold }));
    let outcome = scan(&mut documents, None, &factory, &ScanOptions::default(), &())?;
    let pairs = outcome.pairs().map(|pair| {
        let pair = pair?;
        Ok(format!("{} {} {}", pair.a, pair.b, pair.similarity.value()))
    });
    pairs.collect()
}

fn main() -> Result<(), Error> {
    pairs()?.iter().for_each(|pair| println!("{pair}"));
    Ok(())
}

#[test]
fn finds_the_quotation_in_the_essay() {
    assert_eq!(pairs().unwrap(), ["quotation essay 1"]);
}
