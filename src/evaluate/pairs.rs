//! Pairs of documents by number: sets of them, and those that a scan found.

use crate::engine::{Outcome, Pair};
use crate::error::Error;
use std::collections::HashMap;

/// Pairs of documents by number. Each is in the set once, regardless of the order of its documents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PairSet(Vec<(u32, u32)>);

impl PairSet {
    /// The set of these pairs. A pair of a document with itself is left out.
    pub fn new(pairs: impl IntoIterator<Item = (u32, u32)>) -> Self {
        let mut pairs: Vec<_> = pairs.into_iter().filter(|(a, b)| a != b).map(|(a, b)| (a.min(b), a.max(b))).collect();
        pairs.sort_unstable();
        pairs.dedup();
        PairSet(pairs)
    }

    /// Whether a pair is in it.
    pub fn contains(&self, a: u32, b: u32) -> bool {
        self.0.binary_search(&(a.min(b), a.max(b))).is_ok()
    }

    /// The number of pairs.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The pairs, ascending, the smaller number first.
    pub fn iter(&self) -> impl Iterator<Item = (u32, u32)> {
        self.0.iter().copied()
    }

    /// The pairs of this set that are not in the other.
    pub fn without(&self, other: &PairSet) -> PairSet {
        PairSet(self.iter().filter(|&(a, b)| !other.contains(a, b)).collect())
    }
}

/// Passes every found pair to a function, by number, with its closeness in the measure of the algorithm: higher is
/// closer.
pub(super) fn each_pair(
    outcome: &Outcome,
    numbers: &HashMap<&str, u32>,
    mut each: impl FnMut(u32, u32, f64),
) -> Result<(), Error> {
    for pair in outcome.pairs() {
        let pair = pair?;
        each(numbers[pair.a], numbers[pair.b], closeness(&pair));
    }
    Ok(())
}

/// The closeness of a pair in the measure of the algorithm: higher is closer.
pub(super) fn closeness(pair: &Pair) -> f64 {
    pair.distance.map_or(pair.similarity.value(), |bits| -f64::from(bits))
}
