//! The documents whose sets are written while everything is read for the first time.
//!
//! A document that shares a key with an earlier one is a candidate. If features do not fit in memory, its set goes to a
//! temporary file at once, and its text is not read again. So only the first document of each key is.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// How many keys of each document are looked at: similar documents share one of these in most cases, and candidates that share
/// only others are read again.
const KEYS_ASKED: usize = 4;

/// What is known of the keys takes at most this part of the memory, and a bit for each of so many bits of the input: some 20 for
/// each key of usual texts.
const MEMORY_SHARE: u64 = 16;
const INPUT_SHARE: u64 = 128;

/// Which keys were seen, by two bits of a class for each. Whatever it returns, the result of the run is the same: it decides
/// what is read again.
pub(super) struct SeenKeys {
    words: Vec<AtomicU64>,
    /// How many bits are ones.
    ones: AtomicU64,
    is_stopped: AtomicBool,
    /// Whether only documents of a reference are looked for.
    against: bool,
}

impl SeenKeys {
    /// None yet, of an input of so many bytes, in a part of the memory. If documents are compared with a reference alone, only keys
    /// of the reference count.
    pub fn new(total_bytes: Option<u64>, memory: u64, against: bool) -> Self {
        let bytes = (memory / MEMORY_SHARE).min(total_bytes.map_or(u64::MAX, |total| total / INPUT_SHARE));
        let words = 1usize << (bytes / 8).max(1).ilog2();
        SeenKeys {
            words: (0..words).map(|_| AtomicU64::new(0)).collect(),
            ones: AtomicU64::new(0),
            is_stopped: AtomicBool::new(false),
            against,
        }
    }

    /// Adds the keys of a document. Returns whether one of those that are looked at was seen before, or by chance looks so; false
    /// after it was [stopped](Self::stop), and once a quarter of the bits are ones: then chance finds a fifth of the documents.
    ///
    /// Threads may miss what others add at the same time.
    pub fn add(&self, keys: &[u64], is_reference: bool) -> bool {
        if self.is_stopped.load(Ordering::Relaxed) {
            return false;
        }
        let (mut was_seen, mut new) = (false, 0);
        for &key in keys.iter().take(KEYS_ASKED) {
            // Multiplied, so that keys need not be hashes.
            let class = key.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let bits = 1 << (class >> 58) | 1 << (class >> 52 & 63);
            let word = &self.words[(class >> 16) as usize & (self.words.len() - 1)];
            let old = word.load(Ordering::Relaxed);
            was_seen |= old & bits == bits;
            if old & bits != bits && (is_reference || !self.against) {
                word.store(old | bits, Ordering::Relaxed);
                new += u64::from((bits & !old).count_ones());
            }
        }
        if new > 0 && self.ones.fetch_add(new, Ordering::Relaxed) > 16 * self.words.len() as u64 {
            self.stop();
        }
        was_seen && !(self.against && is_reference)
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
        let seen = SeenKeys::new(Some(1 << 23), 1 << 30, false);
        let by_chance = (0..10_000).filter(|&document| seen.add(&keys(document), false)).count();
        assert!(by_chance < 1_000, "{by_chance}");
        assert!((0..10_000).all(|document| seen.add(&keys(document), false)));
        // One of the first keys is enough, and the others do not count.
        let mut one = keys(20_000);
        one[1] = keys(7)[1];
        assert!(seen.add(&one, false));
        seen.stop();
        assert!(!seen.add(&keys(7), false));
    }

    #[test]
    fn documents_are_compared_with_the_reference_alone() {
        let seen = SeenKeys::new(None, 1 << 20, true);
        assert!(!seen.add(&keys(1), true) && !seen.add(&keys(1), true));
        assert!(!seen.add(&keys(2), false) && !seen.add(&keys(2), false));
        assert!(seen.add(&keys(1), false));
    }

    #[test]
    fn it_stops_when_chance_would_decide() {
        let seen = SeenKeys::new(Some(0), 0, false);
        let found = (0..10_000).filter(|&document| seen.add(&keys(document), false)).count();
        assert!(found < 100, "{found}");
        assert!(!seen.add(&keys(0), false));
    }
}
