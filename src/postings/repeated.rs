//! Which elements more than one set has.

use std::sync::atomic::{AtomicU64, Ordering};

/// The elements that more than one of some sets has, by classes: of an element that is [not repeated](Self::has), at most one
/// of the sets has it; of the others nearly always several.
///
/// Memory: 2 bits for each class.
pub(crate) struct Repeated {
    /// The classes of the elements so far, and those of elements of more than one set.
    once: Vec<AtomicU64>,
    repeated: Vec<AtomicU64>,
}

impl Repeated {
    /// None yet. Some eight classes for each of this many elements, in at most this many bytes.
    pub fn new(elements: u64, most_bytes: u64) -> Self {
        let most_words = (most_bytes / 16).max(1);
        let words =
            (elements / 8).checked_next_power_of_two().unwrap_or(u64::MAX).min(1 << (63 - most_words.leading_zeros()));
        let words = || (0..words).map(|_| AtomicU64::new(0)).collect();
        Repeated { once: words(), repeated: words() }
    }

    /// The word of an element, and its bit there.
    fn class(&self, element: u64) -> (usize, u64) {
        // Multiplied, so that elements need not be hashes.
        let class = element.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        ((class >> 7) as usize & (self.once.len() - 1), 1 << (class >> 58))
    }

    /// Adds a set of distinct elements, from any thread.
    pub fn add(&self, set: &[u64]) {
        for &element in set {
            let (word, bit) = self.class(element);
            if self.once[word].fetch_or(bit, Ordering::Relaxed) & bit != 0 {
                self.repeated[word].fetch_or(bit, Ordering::Relaxed);
            }
        }
    }

    /// Whether more than one of the sets may have this element.
    pub fn has(&self, element: u64) -> bool {
        let (word, bit) = self.class(element);
        self.repeated[word].load(Ordering::Relaxed) & bit != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::mix;

    #[test]
    fn elements_of_several_sets_are_repeated() {
        for most_bytes in [0, 100, 1 << 20] {
            let repeated = Repeated::new(3000, most_bytes);
            let set = |from: u64| (from..from + 1000).map(mix).collect::<Vec<_>>();
            [set(0), set(900), set(5000)].iter().for_each(|set| repeated.add(set));
            assert!((900..1000).all(|element| repeated.has(mix(element))), "{most_bytes}");
            let by_chance = (0..900).chain(1000..1900).filter(|&element| repeated.has(mix(element))).count();
            assert!(most_bytes < 1000 || by_chance < 400, "{by_chance}");
            assert!(repeated.once.len() * 16 <= most_bytes.max(16) as usize);
        }
        // None was added.
        assert!(!Repeated::new(0, 0).has(7));
    }
}
