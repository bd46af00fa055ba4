//! The quality of a result, measured against pairs that are known to be near-duplicates.
//!
//! [`Labels`] are the known pairs, by document id. Resolved against the documents of a run they become a [`PairSet`],
//! by document number. [`Scores`] counts the predicted pairs against it, and [`adjusted_rand_index`] compares the
//! clusters. A sweep counts for every threshold at once. Counts are integers; a measure is one division at the end.
//!
//! ```text
//! labels      a file → pairs by id                        (labels.rs)
//! scores      pairs found, against pairs labelled         (scores.rs)
//! clusters    partitions: adjusted Rand index, accuracy   (clusters.rs)
//! mistakes    the pairs that are wrong or missed          (mistakes.rs)
//! bins        recall by similarity                        (bins.rs)
//! sweep       the scores at every threshold               (sweep.rs)
//! ```

mod bins;
mod clusters;
mod labels;
mod mistakes;
mod scores;
mod sweep;

pub use bins::{Bin, Bins, bins};
pub use clusters::{accuracy, adjusted_rand_index, components};
pub use labels::Labels;
pub use mistakes::{Disagreement, Mistake, mistakes};
pub use scores::{Kind, PairSet, Scores, Truth};
pub use sweep::{Swept, best, sweep};

use crate::engine::Outcome;
use crate::error::Error;
use crate::union_find::UnionFind;
use std::collections::HashMap;

/// The measures of a result against the truth.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Evaluation {
    /// The pairs.
    pub scores: Scores,
    /// The adjusted Rand index of the clusters that pairs connect, over all documents. Ignored pairs connect nothing in
    /// the clusters of the truth; in those of the result they connect like any other.
    pub ari: f64,
    /// The share of the documents whose cluster has exactly the documents that labelled pairs connect; see
    /// [`accuracy`].
    pub accuracy: f64,
}

/// The documents of an outcome by id, numbered in input order. Of several with one id only the last has a number, so ids
/// should be distinct.
pub fn numbers(outcome: &Outcome) -> HashMap<&str, u32> {
    outcome.documents().zip(0..).collect()
}

/// Measures an outcome. `numbers` are those of its documents; see [`numbers`].
///
/// # Errors
/// Those of [`Outcome::pairs`].
pub fn evaluate(outcome: &Outcome, numbers: &HashMap<&str, u32>, truth: &Truth) -> Result<Evaluation, Error> {
    let mut scores = Scores::new(truth);
    let mut union = UnionFind::<u32>::new(numbers.len());
    each_pair(outcome, numbers, |a, b, _| {
        scores.add(truth.kind(a, b));
        union.union(a, b);
    })?;
    let clusters = components(numbers.len(), truth.pairs.iter());
    let found = union.into_labels();
    Ok(Evaluation { scores, ari: adjusted_rand_index(&clusters, &found), accuracy: accuracy(&clusters, &found) })
}

/// Passes every found pair to a function, by number, with its closeness in the measure of the algorithm: higher is
/// closer.
fn each_pair(
    outcome: &Outcome,
    numbers: &HashMap<&str, u32>,
    mut each: impl FnMut(u32, u32, f64),
) -> Result<(), Error> {
    for pair in outcome.pairs() {
        let pair = pair?;
        let closeness = pair.distance.map_or(pair.similarity.value(), |bits| -f64::from(bits));
        each(numbers[pair.a], numbers[pair.b], closeness);
    }
    Ok(())
}
