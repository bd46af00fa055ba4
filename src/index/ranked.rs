//! The order in which candidates are compared: by upper bounds of their similarities, until none can be more similar.

use crate::error::Error;
use crate::similarity::Similarity;
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

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

/// The most similar candidates, the most similar first; among equals the one with the lowest number. Those without a similarity
/// are left out. The candidates are sorted by their bounds.
///
/// # Errors
/// Those of `similarity`.
///
/// # Cost
/// A sort of the candidates, and a similarity of each that its bound allows to be among the best found so far; these are in a heap.
pub(super) fn ranked(
    candidates: &mut [Bounded],
    most: usize,
    mut similarity: impl FnMut(u32) -> Result<Option<Similarity>, Error>,
) -> Result<Vec<(Similarity, u32)>, Error> {
    candidates.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    // The least of the best comes first.
    let mut best: BinaryHeap<Reverse<Ranked>> = BinaryHeap::new();
    for &mut (bound, document) in candidates {
        // No later candidate is more similar. One as similar counts if its number is lower.
        let can_replace = |&Reverse(Ranked(least, of)): &Reverse<Ranked>| (bound, of) > (least.value(), document);
        if best.len() >= most && !best.peek().is_some_and(can_replace) {
            break;
        }
        if let Some(similarity) = similarity(document)? {
            best.push(Reverse(Ranked(similarity, document)));
        }
        if best.len() > most {
            best.pop();
        }
    }
    Ok(best.into_sorted_vec().into_iter().map(|Reverse(Ranked(similarity, document))| (similarity, document)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Against a sort of all similarities. Similarities are tenths, so that many are equal.
        #[test]
        fn no_candidate_is_compared_that_its_bound_rules_out(
            candidates in prop::collection::vec((0..=10u64, 0..=3u64), 0..40),
            most in 1..5usize,
        ) {
            let value = |document: u32| candidates[document as usize].0;
            let bounded: Vec<Bounded> = candidates.iter().enumerate()
                .map(|(document, &(value, more))| ((value + more).min(10) as f64 / 10.0, document as u32))
                .collect();
            let mut all: Vec<u32> = (0..candidates.len() as u32).filter(|&document| value(document) > 2).collect();
            all.sort_by_key(|&document| (Reverse(value(document)), document));
            all.truncate(most);
            let mut compared = Vec::new();
            let found = ranked(&mut bounded.clone(), most, |document| {
                compared.push(document);
                Ok((value(document) > 2).then(|| Similarity::ratio(value(document), 10)))
            });
            let found: Vec<u32> = found.unwrap().into_iter().map(|(_, document)| document).collect();
            prop_assert_eq!(&found, &all);
            // None that ranks below the last result.
            if let Some(&least) = found.get(most - 1) {
                let (least, of) = (value(least) as f64 / 10.0, least);
                let could = |&(bound, document): &Bounded| (bound, Reverse(document)) >= (least, Reverse(of));
                prop_assert!(compared.len() <= bounded.iter().filter(|bounded| could(bounded)).count());
            }
        }
    }

    #[test]
    fn it_stops_once_no_candidate_can_be_better() {
        let (mut compared, mut candidates) = (0, Vec::from_iter((0..1000).map(|document| (0.9, document))));
        let found = ranked(&mut candidates, 1, |_| {
            compared += 1;
            Ok(Some(Similarity::ratio(9, 10)))
        });
        assert_eq!((found.unwrap()[0].1, compared), (0, 1));
    }
}
