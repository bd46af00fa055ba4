//! Pairs of fingerprints without tables: where a distance takes many of them, a [join](crate::hamming) takes less time, and
//! no memory for each document and table.

use super::corpus::Corpus;
use super::group::Keys;
use super::verify::{Edge, Search};
use crate::algorithm::{Algorithm, CompareOn};
use crate::hamming::{Near, each_across, each_pair_while};
use rayon::prelude::*;
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

/// The number of fingerprints of a sample, and of those that a thread compares it with at once.
const SAMPLE: usize = 1 << 10;
const COLUMNS: usize = 1 << 15;

/// An upper bound of the number of pairs of documents, if a sample shows more than `many` of them; otherwise 0.
///
/// Cost: a comparison of each fingerprint with a thousand others.
pub(super) fn most_pairs(fingerprints: &[u64], corpus: &Corpus, distance: u32, many: u64) -> u64 {
    let step = fingerprints.len().div_ceil(SAMPLE).max(1);
    let documents = |group: usize| corpus.members(group as u32).len() as u128;
    let sample: Vec<u64> = fingerprints.iter().copied().step_by(step).collect();
    let of_piece = |(piece, codes): (usize, &[u64])| {
        let mut found = 0;
        each_across(&sample, codes, distance, |row, column| {
            let (group, other) = (row * step, piece * COLUMNS + column);
            found += if group == other { 0 } else { documents(group) * documents(other) };
        });
        found
    };
    // Each pair is met from both ends.
    let found: u128 = fingerprints.par_chunks(COLUMNS).enumerate().map(of_piece).sum();
    let all = corpus.documents_read().count() as u64;
    if found * step as u128 / 2 > many.into() { all * all.saturating_sub(1) / 2 } else { 0 }
}

impl Search<'_> {
    /// Adds every pair of groups within the distance, if at most `most` of them are similar; `None` if there are more, with
    /// nothing added. Returns the number of comparisons.
    pub(super) fn joined(&self, distance: u32, most: u64, edges: &mut Vec<Edge>) -> Option<u64> {
        let (corpus, before) = (self.corpus(), edges.len());
        let found = Mutex::new(std::mem::take(edges));
        // Documents of the reference are not compared with each other.
        let rows_first = self.sided().rows_first(corpus.distinct() as u32);
        let own = rows_first.as_ref().map(|(order, _)| order.iter().map(|&group| self.fingerprints()[group as usize]));
        let own: Option<Vec<u64>> = own.map(Iterator::collect);
        let codes = own.as_deref().unwrap_or(self.fingerprints());
        let rows = rows_first.as_ref().map_or(codes.len(), |(_, rows)| *rows);
        let group = |at: u32| rows_first.as_ref().map_or(at, |(order, _)| order[at as usize]);
        let similar = |&Near { a, b, .. }: &Near| {
            let (a, b) = (group(a).min(group(b)), group(a).max(group(b)));
            let similarity = corpus.may_pair(a, b).then(|| self.similarity_of_fingerprints(a, b)).flatten();
            similarity.map(|similarity| Edge { a, b, similarity })
        };
        let compared = each_pair_while(codes, rows, distance, |pairs| {
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
