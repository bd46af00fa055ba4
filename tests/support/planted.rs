//! Copies with edits, planted in otherwise unique text.

use super::random::Random;
use neardups::check::find::{Document, FindOptions, Found, find, word};
use std::ops::Range;

/// Words as frequent as in natural text (Zipf): the most frequent is every fourteenth, and half of them are among 140.
pub fn text(random: &mut Random, count: usize) -> Vec<u64> {
    let rank = |random: &mut Random| 20_000_f64.powf(random.below(1 << 30) as f64 / (1 << 30) as f64) as u64;
    (0..count).map(|_| word(&format!("w{}", rank(random)))).collect()
}

/// A copy in which each word is edited with this probability: another word in its place, or no word, or one more before it.
pub fn edited(random: &mut Random, words: &[u64], rate: f64) -> Vec<u64> {
    let mut copy = Vec::new();
    for &word in words {
        let edit = if random.chance(rate) { random.below(3) } else { 3 };
        if edit == 0 || edit == 2 {
            copy.extend(text(random, 1));
        }
        if edit >= 2 {
            copy.push(word);
        }
    }
    copy
}

/// Two documents with a copy of some words in both, the second one edited, and where it is.
pub struct Planted {
    pub words: [Vec<u64>; 2],
    pub places: [Range<usize>; 2],
}

/// A copy of `length` words in documents of about `around` words besides.
pub fn planted(random: &mut Random, length: usize, rate: f64, around: usize) -> Planted {
    let original = text(random, length);
    let copy = edited(random, &original, rate);
    let mut plant = |words: Vec<u64>| {
        let before = random.below(around + 1);
        let mut all = text(random, before);
        let place = all.len()..all.len() + words.len();
        all.extend(words);
        all.extend(text(random, around - before));
        (all, place)
    };
    let ((a, place_a), (b, place_b)) = (plant(original), plant(copy));
    Planted { words: [a, b], places: [place_a, place_b] }
}

impl Planted {
    /// What is found; as paragraphs if both places are blocks.
    pub fn found(&self, blocks: bool) -> Found {
        let documents = [0, 1].map(|i| Document {
            words: &self.words[i],
            blocks: if blocks { std::slice::from_ref(&self.places[i]) } else { &[] },
            ..Document::default()
        });
        find(&documents, &FindOptions::default())
    }

    /// Whether findings cover half of the copy in both documents.
    pub fn is_in(&self, found: &Found) -> bool {
        [0, 1].iter().all(|&i| {
            let told = |at: &usize| {
                found.findings.iter().any(|finding| {
                    [&finding.a, &finding.b].iter().any(|place| place.document == i && place.words.contains(at))
                })
            };
            2 * self.places[i].clone().filter(told).count() >= self.places[i].len()
        })
    }
}

/// The share of this many planted copies that are found.
pub fn recall(random: &mut Random, length: usize, rate: f64, blocks: bool, rounds: usize) -> f64 {
    let found = (0..rounds).filter(|_| {
        let planted = planted(random, length, rate, 400);
        planted.is_in(&planted.found(blocks))
    });
    found.count() as f64 / rounds as f64
}
