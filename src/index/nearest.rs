//! Retrieval: the documents of an index that are most similar to a text, whatever the threshold.

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
