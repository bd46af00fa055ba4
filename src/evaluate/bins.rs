//! The recall of the labelled pairs, by their similarity.

use super::pairs::{PairSet, each_pair};
use super::scores::{Kind, Truth, part};
use crate::algorithm::Odds;
use crate::engine::Outcome;
use crate::error::Error;
use std::collections::HashMap;

/// Labelled pairs of about the same similarity, and the number of them that were found.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Bin {
    /// The lower bound of the similarity.
    pub from: f64,
    /// The upper bound, where the next bin begins. The last bin includes 1.
    pub to: f64,
    /// The labelled pairs in the bin.
    pub pairs: u64,
    /// Those of them that were found.
    pub found: u64,
    /// The mean probability that one of them is found, by the curve of the algorithm at the exact similarity of each.
    pub predicted: f64,
}

impl Bin {
    /// The share of the pairs that was found.
    pub fn recall(&self) -> f64 {
        part(self.found, self.pairs)
    }
}

/// The number of bins.
const BINS: usize = 20;

/// The recall of the labelled pairs, by their similarity.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Bins {
    /// The bins that are not empty, ascending.
    pub bins: Vec<Bin>,
    /// Labelled pairs with a document that has too few features to be compared.
    pub not_compared: u64,
}

/// Puts the labelled pairs of an outcome into bins of their similarity. `odds` has one entry per pair, in the order of
/// the truth; see [`Outcome::odds`].
///
/// # Errors
/// Those of [`Outcome::pairs`].
pub fn bins(
    outcome: &Outcome,
    numbers: &HashMap<&str, u32>,
    truth: &Truth,
    odds: &[Option<Odds>],
) -> Result<Bins, Error> {
    let mut found = Vec::new();
    each_pair(outcome, numbers, |a, b, _| {
        if truth.kind(a, b) == Kind::Right {
            found.push((a, b));
        }
    })?;
    let found = PairSet::new(found);
    Ok(bins_of(truth.pairs.iter().zip(odds).map(|((a, b), &odds)| (odds, found.contains(a, b)))))
}

/// The bins of these pairs, given whether each was found.
fn bins_of(pairs: impl Iterator<Item = (Option<Odds>, bool)>) -> Bins {
    let edge = |at: usize| at as f64 / BINS as f64;
    let mut bins: Vec<Bin> =
        (0..BINS).map(|at| Bin { from: edge(at), to: edge(at + 1), pairs: 0, found: 0, predicted: 0.0 }).collect();
    let mut not_compared = 0;
    for (odds, found) in pairs {
        let Some(Odds { similarity, found: probability }) = odds else {
            not_compared += 1;
            continue;
        };
        // Both sides are nearest doubles of fractions, so that a pair exactly at an edge is not below it.
        let at = (1..BINS).filter(|&at| similarity.value() >= edge(at)).count();
        let bin = &mut bins[at];
        bin.pairs += 1;
        bin.found += u64::from(found);
        bin.predicted += probability;
    }
    bins.retain(|bin| bin.pairs > 0);
    bins.iter_mut().for_each(|bin| bin.predicted /= bin.pairs as f64);
    Bins { bins, not_compared }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::similarity::Similarity;

    #[test]
    fn bins_by_hand() {
        let odds = |part, whole, found| Some(Odds { similarity: Similarity::ratio(part, whole), found });
        let pairs = [
            (odds(4, 5, 0.99), true),
            (odds(41, 50, 0.995), false),
            (odds(17, 20, 1.0), true),
            (odds(799, 1000, 0.0), false),
            (odds(1, 1, 1.0), true),
            (odds(0, 9, 0.0), false),
            (None, false),
        ];
        let Bins { bins, not_compared } = bins_of(pairs.into_iter());
        let found: Vec<_> = bins.iter().map(|b| (b.from, b.to, b.pairs, b.found, b.recall(), b.predicted)).collect();
        assert_eq!(
            found,
            [
                (0.0, 0.05, 1, 0, 0.0, 0.0),
                (0.75, 0.8, 1, 0, 0.0, 0.0),
                (0.8, 0.85, 2, 1, 0.5, (0.99 + 0.995) / 2.0),
                (0.85, 0.9, 1, 1, 1.0, 1.0),
                (0.95, 1.0, 1, 1, 1.0, 1.0)
            ]
        );
        assert_eq!(not_compared, 1);
        for twentieth in 1..20 {
            let bins = bins_of([(odds(3 * twentieth, 60, 1.0), true)].into_iter()).bins;
            assert_eq!(bins[0].from, twentieth as f64 / 20.0);
        }
    }
}
