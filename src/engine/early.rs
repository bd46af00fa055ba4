//! The documents whose sets are written while everything is read for the first time.
//!
//! A document that shares a key with an earlier one, but not all tokens, is a candidate. If features do not fit in memory, its set goes
//! to a temporary file at once. So of the documents with a key, mostly the first alone is read again.
//!
//! A set that is written is that of the first reading: if the input changes between the readings, timing decides which documents are
//! reported as changed.

use crate::kernel::fetch::fetch;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// How many keys of each document are looked up: similar documents share one of these in most cases, and candidates that share
/// only others are read again.
const KEYS_LOOKED_UP: usize = 4;

/// What is known of the keys takes at most this part of the memory, and a bit for each of so many bits of the input: some 20 for
/// each key of usual texts.
const MEMORY_SHARE: u64 = 16;
const INPUT_SHARE: u64 = 128;

/// Which pairs are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Among {
    /// Those of all documents.
    All,
    /// Those of a document of the reference and another one.
    Sides,
}

/// Which keys and token sequences were seen, by two bits of a class for each. It decides what is read again, and nothing else as long
/// as the input does not change.
pub(super) struct SeenKeys {
    words: Vec<AtomicU64>,
    /// How many bits are ones.
    ones: AtomicU64,
    is_stopped: AtomicBool,
    among: Among,
}

impl SeenKeys {
    /// None yet, of an input of so many bytes, in a part of the memory. If documents are compared with a reference alone, only keys
    /// of the reference count.
    pub fn new(total_bytes: Option<u64>, memory: u64, among: Among) -> Self {
        let bytes = (memory / MEMORY_SHARE).min(total_bytes.map_or(u64::MAX, |total| total / INPUT_SHARE));
        let words = 1usize << (bytes / 8).max(1).ilog2();
        SeenKeys {
            words: (0..words).map(|_| AtomicU64::new(0)).collect(),
            ones: AtomicU64::new(0),
            is_stopped: AtomicBool::new(false),
            among,
        }
    }

    /// Adds the keys of a document and the hash of its tokens. Returns whether one of the keys that are looked up was seen before, and
    /// the tokens were not, or by chance it looks so; false after it was [stopped](Self::stop), and once a quarter of the bits are ones:
    /// then chance finds a fifth of the documents.
    ///
    /// Threads may miss what others add at the same time.
    pub fn add(&self, keys: &[u64], sequence: u64, is_reference: bool) -> bool {
        if self.is_stopped.load(Ordering::Relaxed) {
            return false;
        }
        // They are more than the processor's caches hold: all are prefetched before the first is read.
        self.fetch(!sequence);
        keys.iter().take(KEYS_LOOKED_UP).for_each(|&key| self.fetch(key));
        let (is_copy, mut ones) = self.mark(!sequence, true);
        let (counts, mut is_seen) = (is_reference || self.among == Among::All, false);
        for &key in keys.iter().take(KEYS_LOOKED_UP) {
            let (was_seen, new) = self.mark(key, counts);
            is_seen |= was_seen;
            ones += new;
        }
        if ones > 0 && self.ones.fetch_add(ones, Ordering::Relaxed) > 16 * self.words.len() as u64 {
            self.stop();
        }
        is_seen && !is_copy && !(is_reference && self.among == Among::Sides)
    }

    /// The class of a key, and the number of its word.
    fn class(&self, key: u64) -> (u64, usize) {
        // Multiplied, so that keys need not be hashes.
        let class = key.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (class, (class >> 16) as usize & (self.words.len() - 1))
    }

    /// Prefetches the bits of a key.
    fn fetch(&self, key: u64) {
        fetch(&self.words, self.class(key).1);
    }

    /// Whether the bits of a key were ones. Makes them ones if it `counts`, and also returns how many were not.
    fn mark(&self, key: u64, counts: bool) -> (bool, u64) {
        let (class, word) = self.class(key);
        let bits = 1 << (class >> 58) | 1 << (class >> 52 & 63);
        let word = &self.words[word];
        let old = word.load(Ordering::Relaxed);
        if old & bits == bits || !counts {
            return (old & bits == bits, 0);
        }
        word.store(old | bits, Ordering::Relaxed);
        (false, (bits & !old).count_ones().into())
    }

    /// Bytes of memory.
    pub fn bytes_held(&self) -> u64 {
        size_of_val(&*self.words) as u64
    }

    /// From now on, nothing is found.
    pub fn stop(&self) {
        self.is_stopped.store(true, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::mix;

    fn keys(document: u64) -> Vec<u64> {
        (0..16).map(|key| mix(16 * document + key)).collect()
    }

    #[test]
    fn keys_are_seen_once_they_were_added() {
        let seen = SeenKeys::new(Some(1 << 23), 1 << 30, Among::All);
        let by_chance = (0..8_000).filter(|&document| seen.add(&keys(document), mix(document), false)).count();
        assert!(by_chance < 800, "{by_chance}");
        // Copies are found where one of them is; others by one of the first keys, and not by the rest.
        let copies = (0..8_000).filter(|&document| seen.add(&keys(document), mix(document), false)).count();
        let other = |document| mix(document + 100_000);
        let found = (0..500).filter(|&document| seen.add(&keys(document), other(document), false)).count();
        assert!(copies == 0 && found > 450, "{copies} {found}");
        let mut one = keys(20_000);
        one[1] = keys(7)[1];
        assert!(seen.add(&one, other(20_000), false));
        seen.stop();
        assert!(!seen.add(&keys(7), other(7), false));
    }

    #[test]
    fn documents_are_compared_with_the_reference_alone() {
        let seen = SeenKeys::new(None, 1 << 20, Among::Sides);
        assert!(!seen.add(&keys(1), 11, true) && !seen.add(&keys(1), 12, true));
        assert!(!seen.add(&keys(2), 13, false) && !seen.add(&keys(2), 14, false));
        assert!(seen.add(&keys(1), 15, false));
    }

    #[test]
    fn it_stops_when_chance_would_decide() {
        let seen = SeenKeys::new(Some(0), 0, Among::All);
        let found = (0..10_000).filter(|&document| seen.add(&keys(document), mix(document), false)).count();
        assert!(found < 100, "{found}");
        assert!(!seen.add(&keys(0), 3, false));
    }
}
