//! Retrieval: the documents of an index that are most similar to a text, whatever the threshold.

use crate::error::Error;
use crate::similarity::Similarity;
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// A document of an index, and how similar it is.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Neighbour {
    /// Its id.
    pub id: String,
    /// The exact similarity, also below the threshold.
    pub similarity: Similarity,
    /// The number of differing bits, for measures that count bits.
    pub distance: Option<u32>,
}

/// The most similar documents, the most similar first; among equals the earliest.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Nearest {
    /// The documents.
    pub neighbours: Vec<Neighbour>,
    /// Whether the text has too few features to be compared with any.
    pub is_featureless: bool,
    /// Whether a key had more documents than are [compared](super::Limits::candidates): only the latest were.
    pub is_capped: bool,
}

/// How many documents are wanted, and where they are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// The maximum number of documents.
    pub most: usize,
    /// Whether every document is compared, as SimHash and random projection always do. Otherwise only those that share a
    /// key: all documents at or above the threshold that a scan would find, and others by chance, the more similar the more
    /// probably.
    pub is_exhaustive: bool,
}

/// The ten nearest of those that share a key.
impl Default for Wanted {
    fn default() -> Self {
        Wanted { most: 10, is_exhaustive: false }
    }
}

/// A candidate, with an upper bound of its similarity.
pub(super) type Bounded = (f64, u32);

/// A document with its similarity. The more similar is greater; among equals that with the lower number.
#[derive(Clone, Copy)]
struct Ranked(Similarity, u32);

impl Ord for Ranked {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.value().total_cmp(&other.0.value()).then(other.1.cmp(&self.1))
    }
}

impl PartialOrd for Ranked {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Ranked {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Ranked {}

/// The most similar candidates, the most similar first; among equals the one with the lowest number. Candidates without a
/// similarity, or with 0, are left out.
///
/// # Errors
/// Those of `similarity`.
///
/// # Cost
/// A sort of the candidates, and a similarity of each whose bound is not below what was found; the best are in a heap.
pub(super) fn ranked(
    mut candidates: Vec<Bounded>,
    most: usize,
    mut similarity: impl FnMut(u32) -> Result<Option<Similarity>, Error>,
) -> Result<Vec<(Similarity, u32)>, Error> {
    candidates.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    // The least of the best comes first.
    let mut best: BinaryHeap<Reverse<Ranked>> = BinaryHeap::new();
    for (bound, document) in candidates {
        // No later candidate is more similar; one as similar may have a lower number.
        if best.len() >= most && best.peek().is_none_or(|Reverse(least)| bound < least.0.value()) {
            break;
        }
        // Documents that have nothing in common are no neighbours.
        if let Some(similarity) = similarity(document)?.filter(|similarity| similarity.value() > 0.0) {
            best.push(Reverse(Ranked(similarity, document)));
        }
        if best.len() > most {
            best.pop();
        }
    }
    Ok(best.into_sorted_vec().into_iter().map(|Reverse(Ranked(similarity, document))| (similarity, document)).collect())
}
