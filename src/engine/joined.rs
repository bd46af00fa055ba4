//! Pairs of fingerprints without tables: where a distance takes many of them, a [join](crate::hamming) takes less time, and
//! no memory for each document and table.

use super::corpus::Corpus;
use super::edges::{Edge, Found};
use super::group::Keys;
use super::verify::Search;
use crate::algorithm::{Algorithm, CompareOn};
use crate::hamming::{Near, each_across, each_pair_while};
use rayon::prelude::*;

/// More tables than this are not made where a join finds the same pairs.
const MANY_TABLES: f64 = 64.0;

/// The distance within which a join finds all pairs, if this is how they are found: fingerprints of 64 bits, and many
/// tables.
pub(super) fn joins_within(algorithm: &dyn Algorithm, keys: &Keys<'_>, corpus: &Corpus) -> Option<u32> {
    let layout = algorithm.layout().filter(|_| algorithm.compare_on() == CompareOn::Fingerprints)?;
    let is_one_word = layout.bits() == 64 && keys.fingerprints().len() == corpus.distinct();
    (is_one_word && layout.tables() > MANY_TABLES).then_some(layout.distance() as u32)
}

/// The number of documents of a sample, and of the fingerprints that a thread compares it with at once.
const SAMPLE: u64 = 1 << 10;
const COLUMNS: usize = 1 << 15;

/// An upper bound of the number of pairs of documents, if copies and a sample show more than `many` of them; otherwise 0.
///
/// Cost: a comparison of each fingerprint with a thousand others.
pub(super) fn most_pairs(fingerprints: &[u64], corpus: &Corpus, distance: u32, many: u64) -> u64 {
    let groups = 0..corpus.distinct() as u32;
    let all = groups.clone().map(|group| corpus.counts(group)).fold((0, 0), |all, own| (all.0 + own.0, all.1 + own.1));
    let step = (all.0 + all.1).div_ceil(SAMPLE).max(1);
    // Every so many documents, so that a large group is in the sample for certain, with the number of times that it is.
    let (mut sample, mut next, mut before) = (Vec::new(), 0, 0);
    for group in groups {
        before += corpus.members(group).len() as u64;
        let times = before.saturating_sub(next).div_ceil(step);
        next += times * step;
        sample.extend((times > 0).then_some((group, times)));
    }
    let rows: Vec<u64> = sample.iter().map(|&(group, _)| fingerprints[group as usize]).collect();
    let of_piece = |(piece, codes): (usize, &[u64])| {
        let mut found = 0;
        each_across(&rows, codes, distance, |row, column| {
            let ((group, times), other) = (sample[row], (piece * COLUMNS + column) as u32);
            if group != other {
                let documents = corpus.members(group).len() as u128;
                found += u128::from(corpus.pairs_between(group, other)) * u128::from(times * step) / documents;
            }
        });
        found
    };
    // Each pair is met from both ends.
    let found: u128 = fingerprints.par_chunks(COLUMNS).enumerate().map(of_piece).sum::<u128>() / 2;
    if found + u128::from(corpus.pairs_of_copies()) > many.into() { corpus.pairs_among(all) } else { 0 }
}

impl Search<'_> {
    /// Adds every pair of groups within the distance, unless they are [closed](Found::is_closed) before the end. Returns the number
    /// of comparisons.
    pub(super) fn joined(&self, distance: u32, found: &Found) -> u64 {
        let corpus = self.corpus();
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
            let mut list = found.list(corpus);
            pairs.iter().filter_map(similar).for_each(|edge| list.push(edge));
            !found.is_closed()
        });
        compared.unwrap_or(0)
    }
}
