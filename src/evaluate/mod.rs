//! The quality of a result, measured against pairs that are known to be near-duplicates.
//!
//! [`Labels`] are the known pairs, by document id. Resolved against the documents of a run they become a [`PairSet`],
//! by document number. They are complete or a sample, and may have pairs that are no near-duplicates. [`Scores`] counts the
//! predicted pairs against it, and [`adjusted_rand_index`] compares the clusters. A sweep counts for every threshold at once. Counts are integers; a measure is one division at the end.
//!
//! ```text
//! pairs       sets of pairs, and those that were found     (pairs.rs)
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
mod pairs;
mod scores;
mod sweep;

pub use bins::{Bin, Bins, bins};
pub use clusters::{accuracy, adjusted_rand_index, components};
pub use labels::{Labels, Resolved};
pub use mistakes::{Disagreement, Mistake, mistakes, mistakes_at};
pub use pairs::PairSet;
pub use scores::{Kind, Scope, Scores, Truth, wilson};
pub use sweep::{Swept, best, sweep};

use crate::engine::Outcome;
use crate::error::Error;
use crate::union_find::UnionFind;
use pairs::each_pair;
use std::collections::HashMap;

/// The measures of a result against the truth.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Evaluation {
    /// The pairs.
    pub scores: Scores,
    /// The adjusted Rand index of the clusters that pairs connect, over all documents. Ignored pairs connect nothing in
    /// the clusters of the truth; in those of the result they connect like any other. `None` if the labels are a sample,
    /// which does not say what the clusters are.
    pub ari: Option<f64>,
    /// The share of the documents whose cluster has exactly the documents that labelled pairs connect; see
    /// [`accuracy`]. `None` if the labels are a sample.
    pub accuracy: Option<f64>,
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
    if truth.scope == Scope::Sample {
        return Ok(Evaluation { scores, ari: None, accuracy: None });
    }
    let clusters = components(numbers.len(), truth.pairs.iter());
    let found = union.into_labels();
    let (ari, accuracy) = (adjusted_rand_index(&clusters, &found), accuracy(&clusters, &found));
    Ok(Evaluation { scores, ari: Some(ari), accuracy: Some(accuracy) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Documents;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    /// Documents with one letter for an id.
    const IDS: [&str; 6] = ["a", "b", "c", "d", "e", "f"];

    /// A line of labels: its form, two documents and a label.
    fn line(form: u8, a: usize, b: usize) -> String {
        let (a, b) = (IDS[a], IDS[b]);
        match form {
            0 => format!(r#"{{"a":"{a}","b":"{b}"}}"#),
            1 => format!(r#"{{"a":"{a}","b":"{b}","label":true}}"#),
            2 => format!(r#"{{"cluster":["{a}","{b}","c"]}}"#),
            _ => format!(r#"{{"a":"{a}","b":"{b}","label":0}}"#),
        }
    }

    proptest! {
        /// Against sets of ids, pair by pair: the counts of any labels and any found pairs.
        #[test]
        fn scores_are_what_plain_sets_count(
            forms in prop::collection::vec((0u8..6, 0usize..6, 0usize..6), 1..10),
            ignored in prop::collection::vec((0usize..6, 0usize..6), 0..4),
            found in prop::collection::btree_set((0usize..6, 0usize..6), 0..15),
            is_sample: bool,
        ) {
            let forms: Vec<_> = forms.into_iter().filter(|(_, a, b)| a != b).collect();
            let (mut yes, mut no, mut named) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
            for &(form, a, b) in &forms {
                let members = if form == 2 { vec![a, b, 2] } else { vec![a, b] };
                named.extend(members.iter().copied());
                for (i, j) in (0..members.len()).flat_map(|i| (0..i).map(move |j| (i, j))) {
                    let pair = (members[i].min(members[j]), members[i].max(members[j]));
                    if pair.0 != pair.1 {
                        _ = if form > 2 { no.insert(pair) } else { yes.insert(pair) };
                    }
                }
            }
            let lines = forms.iter().enumerate().map(|(n, &(form, a, b))| (n.to_string(), line(form, a, b)));
            let labels = Labels::read(&mut Documents::new(lines)).unwrap();
            let resolved = labels.resolve(&IDS.into_iter().zip(0..).collect());
            prop_assert_eq!(resolved.is_err(), yes.intersection(&no).next().is_some());
            let Ok(resolved) = resolved else { return Ok(()) };
            let ordered = |(a, b): (usize, usize)| (a.min(b), a.max(b));
            let ignored: BTreeSet<_> = ignored.into_iter().map(ordered).collect();
            let found: BTreeSet<_> = found.into_iter().map(ordered).filter(|(a, b)| a != b).collect();

            let scope = if is_sample { Scope::Sample } else { Scope::Complete };
            let small = |(a, b): &(usize, usize)| (*a as u32, *b as u32);
            let truth = Truth::new(resolved, &PairSet::new(ignored.iter().map(small)), scope);
            let mut scores = Scores::new(&truth);
            found.iter().map(small).for_each(|(a, b)| scores.add(truth.kind(b, a)));

            let number = |rule: &dyn Fn(&(usize, usize)) -> bool| found.iter().filter(|pair| rule(pair)).count() as u64;
            let is_open = |pair: &(usize, usize)| !yes.contains(pair) && !no.contains(pair);
            let is_other = |pair: &(usize, usize)| is_open(pair) && !ignored.contains(pair);
            let is_elsewhere = |pair: &(usize, usize)| is_other(pair) && !named.contains(&pair.0) && !named.contains(&pair.1);
            let (right, false_ones, others) = (number(&|p| yes.contains(p)), number(&|p| no.contains(p)), number(&is_other));
            let expected = Scores {
                scope,
                labelled: yes.len() as u64,
                negatives: no.len() as u64,
                right,
                wrong: false_ones + if is_sample { 0 } else { others },
                wrong_elsewhere: if is_sample { 0 } else { number(&is_elsewhere) },
                unlabelled: if is_sample { others } else { 0 },
                ignored: number(&|pair| is_open(pair) && ignored.contains(pair)),
            };
            prop_assert_eq!(scores, expected);
            prop_assert_eq!(scores.predicted(), found.len() as u64);
        }
    }
}
