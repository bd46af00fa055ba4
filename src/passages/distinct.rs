//! The number of different documents that the places of a repeat are in, for all repeats that are nodes of one tree.
//!
//! **Source.** Hui, *Color Set Size Problem with Applications to String Matching*, CPM 1992: a node has as many different documents as places,
//! less the number of places below it of which an earlier one in the same document is below it too. It is enough to count, for each place and
//! the last one before it in its document, the lowest node that holds both: this node, and each node above it, has one document less.
//!
//! A node is a range of sorted places; the lowest one that holds two places is known by the two neighbours between them that have the least
//! in common. So the counts are sums over places, and one pass finds them.

use rayon::slice::ParallelSliceMut;
use std::ops::Range;

/// Counts the different documents of sorted places.
pub(super) struct Distinct {
    /// For each place, a sum up to it: at places after which the next one has the least in common between two of one document. Empty if no
    /// document has two places.
    again: Vec<u32>,
}

/// The first place of a document.
const NONE: u32 = u32::MAX;

impl Distinct {
    /// For sorted places of which each has so much in common with the next one, given the document of each. `is_parallel` uses several threads.
    ///
    /// Cost: a sort of numbers. Memory: 12 bytes for each place meanwhile, and then 4 if some document has two of them.
    pub fn new(common: &[u32], document: impl Fn(usize) -> u32, is_parallel: bool) -> Self {
        let places = common.len() + 1;
        let mut again = previous(places, document, is_parallel);
        // The places since the start that have less in common with the next one than all between them and here.
        let mut least: Vec<u32> = Vec::new();
        for at in 0..again.len() {
            if let Some(last) = at.checked_sub(1) {
                while least.pop_if(|before| common[*before as usize] >= common[last]).is_some() {}
                least.push(last as u32);
            }
            let earlier = std::mem::take(&mut again[at]);
            if earlier != NONE {
                let between = least.partition_point(|&place| place < earlier);
                again[least[between] as usize] += 1;
            }
        }
        let mut sum = 0;
        for counted in &mut again {
            sum += *counted;
            *counted = sum;
        }
        Distinct { again }
    }

    /// The number of different documents of the places of a node: two or more places, of which neighbours have more in common than the first
    /// one and the last one have with those around them.
    pub fn count(&self, node: &Range<usize>) -> u64 {
        let places = node.len() as u64;
        if self.again.is_empty() {
            return places;
        }
        let before = node.start.checked_sub(1).map_or(0, |before| self.again[before]);
        places - u64::from(self.again[node.end - 2] - before)
    }
}

/// For each place the last one before it in the same document, or [`NONE`]; nothing if no document has two of them.
fn previous(places: usize, document: impl Fn(usize) -> u32, is_parallel: bool) -> Vec<u32> {
    let mut by_document: Vec<u64> = (0..places).map(|at| u64::from(document(at)) << 32 | at as u64).collect();
    if is_parallel {
        by_document.par_sort_unstable();
    } else {
        by_document.sort_unstable();
    }
    let of_one = |pair: &&[u64]| pair[0] >> 32 == pair[1] >> 32;
    let mut pairs = by_document.windows(2).filter(of_one).peekable();
    if pairs.peek().is_none() {
        return Vec::new();
    }
    let mut previous = vec![NONE; places];
    pairs.for_each(|pair| previous[pair[1] as u32 as usize] = pair[0] as u32);
    previous
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn as_sets(places in prop::collection::vec((0u32..5, 0u32..8), 1..40), kinds in 1u32..9, is_parallel: bool) {
            let documents: Vec<u32> = places.iter().map(|&(_, document)| document % kinds).collect();
            let common: Vec<u32> = places[1..].iter().map(|&(common, _)| common).collect();
            let distinct = Distinct::new(&common, |at| documents[at], is_parallel);
            for start in 0..places.len() {
                for end in start + 2..=places.len() {
                    let inside = common[start..end - 1].iter().min();
                    let around = [start.checked_sub(1), Some(end - 1)];
                    let is_node = around.iter().flatten().all(|&at| common.get(at) < inside);
                    if is_node {
                        let expected: BTreeSet<u32> = documents[start..end].iter().copied().collect();
                        prop_assert_eq!(distinct.count(&(start..end)), expected.len() as u64, "{}..{}", start, end);
                    }
                }
            }
        }
    }
}
