//! Documents whose digest rests on a small part of their terms.

use crate::algorithm::Features;
use crate::hash::combine;
use crate::tokenizer::Tokens;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// The number of such documents, and an example. All threads share it.
#[derive(Debug)]
pub(super) struct Partial {
    count: AtomicU64,
    /// The least hash of the terms of a document: that of the example, which so depends on the documents alone.
    least: AtomicU64,
    example: Mutex<Option<(u64, Example)>>,
}

/// The terms that make the digest of a document, and the number of its distinct terms.
#[derive(Clone, Debug)]
pub(super) struct Example {
    pub terms: String,
    pub counting: usize,
    pub distinct: usize,
}

impl Default for Partial {
    fn default() -> Self {
        Partial { count: AtomicU64::new(0), least: AtomicU64::new(u64::MAX), example: Mutex::default() }
    }
}

/// The maximum number of characters of the terms of an example.
const MOST_SHOWN: usize = 80;

impl Partial {
    /// Counts a document, by its distinct terms and those that make its digest, which `features` has.
    pub fn add(&self, tokens: &Tokens, features: &Features) {
        self.count.fetch_add(1, Ordering::Relaxed);
        let hashes = features.positions.iter().map(|&i| tokens.hashes()[i as usize]);
        let hash = hashes.fold(0, combine);
        // Nearly all documents end here.
        if self.least.fetch_min(hash, Ordering::Relaxed) <= hash {
            return;
        }
        let mut example = self.example.lock().unwrap_or_else(PoisonError::into_inner);
        if example.as_ref().is_none_or(|(least, _)| hash < *least) {
            let terms: Vec<&str> = features.weighted.iter().map(|&(_, i)| tokens.text(i as usize)).collect();
            let terms = terms.join(" ").chars().take(MOST_SHOWN).collect();
            let (counting, distinct) = (features.weighted.len(), features.positions.len());
            *example = Some((hash, Example { terms, counting, distinct }));
        }
    }

    /// The number of documents, at most that of the run, and an example.
    pub fn found(&self, documents: u64) -> Option<(u64, Example)> {
        let example = self.example.lock().unwrap_or_else(PoisonError::into_inner);
        let (_, example) = example.as_ref()?;
        Some((self.count.load(Ordering::Relaxed).min(documents), example.clone()))
    }
}
