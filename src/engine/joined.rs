//! Pairs of fingerprints without tables: where a distance takes many of them, a [join](crate::hamming) takes less time, and
//! no memory for each document and table.

use super::corpus::Corpus;
use super::group::Keys;
use super::verify::{Edge, Search};
use crate::algorithm::{Algorithm, CompareOn};
use crate::hamming::{Near, each_pair_while};
use std::sync::{Mutex, PoisonError};

/// More tables than this are not made where a join finds the same pairs.
const MANY_TABLES: f64 = 64.0;

/// The distance within which a join finds all pairs, if this is how they are found: fingerprints of 64 bits, and many
/// tables.
pub(super) fn joins_within(algorithm: &dyn Algorithm, keys: &Keys<'_>, corpus: &Corpus) -> Option<u32> {
    let layout = algorithm.layout().filter(|_| algorithm.compare_on() == CompareOn::Fingerprints)?;
    let is_one_word = layout.bits() == 64 && keys.fingerprints().len() == corpus.distinct();
    (is_one_word && layout.tables() > MANY_TABLES).then_some(layout.distance() as u32)
}

impl Search<'_> {
    /// Adds every pair of groups within the distance, if at most `most` of them are similar; `None` if there are more, with
    /// nothing added. Returns the number of comparisons.
    pub(super) fn joined(&self, distance: u32, most: u64, edges: &mut Vec<Edge>) -> Option<u64> {
        let (corpus, before) = (self.corpus(), edges.len());
        let found = Mutex::new(std::mem::take(edges));
        let similar = |&Near { a, b, .. }: &Near| {
            let similarity = corpus.may_pair(a, b).then(|| self.similarity_of_fingerprints(a, b)).flatten();
            similarity.map(|similarity| Edge { a, b, similarity })
        };
        let compared = each_pair_while(self.fingerprints(), distance, |pairs| {
            let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
            found.extend(pairs.iter().filter_map(similar));
            (found.len() - before) as u64 <= most
        });
        *edges = found.into_inner().unwrap_or_else(PoisonError::into_inner);
        if compared.is_none() || (edges.len() - before) as u64 > most {
            edges.truncate(before);
            edges.shrink_to_fit();
            return None;
        }
        compared
    }
}
