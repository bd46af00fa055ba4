//! Retrieval: the documents of an index that are most similar to a text, whatever the threshold.

use crate::error::Error;
use crate::similarity::Similarity;

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
    /// Whether a key had more than [`MOST_OF_A_KEY`](super::MOST_OF_A_KEY) documents, of which only the latest were compared.
    pub is_capped: bool,
}

/// How many documents are wanted, and where they are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// The maximum number of documents.
    pub most: usize,
    /// Whether every document is compared. Otherwise only those that share a key: all documents at or above the
    /// threshold that a scan would find, and others by chance, the more similar the more probably.
    pub is_exhaustive: bool,
}

/// A candidate, with an upper bound of its similarity.
pub(super) type Bounded = (f64, u32);

/// The most similar candidates, the most similar first; among equals the one with the lowest number. Candidates without a
/// similarity are left out.
///
/// # Errors
/// Those of `similarity`.
///
/// # Cost
/// A sort of the candidates, and a similarity of each whose bound is not below what was found.
pub(super) fn ranked(
    mut candidates: Vec<Bounded>,
    most: usize,
    mut similarity: impl FnMut(u32) -> Result<Option<Similarity>, Error>,
) -> Result<Vec<(Similarity, u32)>, Error> {
    candidates.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let mut best: Vec<(Similarity, u32)> = Vec::new();
    for (bound, document) in candidates {
        // No later candidate is more similar; one as similar may have a lower number.
        if best.len() >= most && best.last().is_none_or(|(last, _)| bound < last.value()) {
            break;
        }
        let Some(similarity) = similarity(document)? else { continue };
        let precedes = |&(other, earlier): &(Similarity, u32)| {
            let order = other.value().total_cmp(&similarity.value());
            order.is_gt() || order.is_eq() && earlier < document
        };
        best.insert(best.partition_point(precedes), (similarity, document));
        best.truncate(most);
    }
    Ok(best)
}
