//! The pairs on which an outcome and the truth disagree.

use super::pairs::closeness;
use super::scores::{Kind, Truth};
use super::sweep::Swept;
use crate::algorithm::Odds;
use crate::engine::Outcome;
use crate::error::Error;
use crate::similarity::Similarity;

/// How an outcome and the truth disagree about a pair. Exhaustive: there is no third way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Disagreement {
    /// It was found, and should not be.
    Wrong,
    /// It should be found, and was not.
    Missed,
}

/// A pair on which an outcome and the truth disagree.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Mistake {
    /// The numbers of the two documents, the smaller one first.
    pub documents: (u32, u32),
    /// What is wrong.
    pub disagreement: Disagreement,
    /// The similarity: of a pair that was found by the measure of the outcome, of a missed one by that of
    /// [`Outcome::odds_measure`]. `None` if it is not known.
    pub similarity: Option<Similarity>,
    /// The number of differing bits, for measures that have one.
    pub distance: Option<u32>,
}

/// The wrong and the missed pairs, in the order of the documents. `odds` are those that [`bins`](fn@super::bins) takes, or empty if the
/// algorithm has none. The ids of the documents are distinct.
///
/// # Errors
/// Those of [`Outcome::pairs`].
///
/// # Cost
/// One pass over the pairs. They are not collected.
pub fn mistakes<'o>(
    outcome: &'o Outcome,
    truth: &'o Truth,
    odds: &'o [Option<Odds>],
) -> impl Iterator<Item = Result<Mistake, Error>> + 'o {
    mistakes_from(outcome, truth, odds, f64::NEG_INFINITY)
}

/// The same of one value of a [sweep](super::sweep()): pairs of the outcome that it does not find count as not found.
///
/// # Errors
/// Those of [`Outcome::pairs`].
pub fn mistakes_at<'o>(
    outcome: &'o Outcome,
    truth: &'o Truth,
    odds: &'o [Option<Odds>],
    (swept, value): (Swept, f64),
) -> impl Iterator<Item = Result<Mistake, Error>> + 'o {
    mistakes_from(outcome, truth, odds, swept.closeness(value))
}

/// The mistakes if the pairs that are at least so close are found.
fn mistakes_from<'o>(
    outcome: &'o Outcome,
    truth: &'o Truth,
    odds: &'o [Option<Odds>],
    least: f64,
) -> impl Iterator<Item = Result<Mistake, Error>> + 'o {
    let pairs = outcome.pairs().filter(move |pair| pair.as_ref().map_or(true, |pair| closeness(pair) >= least));
    let found = pairs.map(|pair| {
        let pair = pair?;
        let documents = (pair.indices.0 as u32, pair.indices.1 as u32);
        Ok(Mistake {
            documents,
            disagreement: Disagreement::Wrong,
            similarity: Some(pair.similarity),
            distance: pair.distance,
        })
    });
    mistakes_of(found, truth, odds)
}

/// The mistakes among these found pairs, which are ascending.
fn mistakes_of<'o>(
    found: impl Iterator<Item = Result<Mistake, Error>> + 'o,
    truth: &'o Truth,
    odds: &'o [Option<Odds>],
) -> impl Iterator<Item = Result<Mistake, Error>> + 'o {
    let odds = odds.iter().copied().chain(std::iter::repeat(None));
    let missed = truth.pairs.iter().zip(odds).map(|(documents, odds)| Mistake {
        documents,
        disagreement: Disagreement::Missed,
        similarity: odds.map(|odds| odds.similarity),
        distance: None,
    });
    let (mut missed, mut found) = (missed.peekable(), found.peekable());
    std::iter::from_fn(move || {
        loop {
            let documents = match found.peek() {
                None => return missed.next().map(Ok),
                Some(Err(_)) => return found.next(),
                Some(Ok(pair)) => pair.documents,
            };
            if let Some(earlier) = missed.next_if(|missed| missed.documents < documents) {
                return Some(Ok(earlier));
            }
            let pair = found.next();
            match truth.kind(documents.0, documents.1) {
                Kind::Right => _ = missed.next(),
                Kind::Wrong | Kind::WrongElsewhere => return pair,
                Kind::Unlabelled | Kind::Ignored => {}
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate::{PairSet, Resolved, Scope};
    use proptest::prelude::*;

    proptest! {
        /// Against the plain rule, pair by pair.
        #[test]
        fn mistakes_are_what_the_sets_differ_in(
            found in proptest::collection::vec((0u32..8, 0u32..8), 0..20),
            labelled in proptest::collection::vec((0u32..8, 0u32..8), 0..20),
            negatives in proptest::collection::vec((0u32..8, 0u32..8), 0..8),
            ignored in proptest::collection::vec((0u32..8, 0u32..8), 0..8),
            is_sample: bool,
        ) {
            let found = PairSet::new(found);
            let pairs = PairSet::new(labelled);
            let negatives = PairSet::new(negatives).without(&pairs);
            let labels = Resolved { pairs, negatives, ..Resolved::default() };
            let scope = if is_sample { Scope::Sample } else { Scope::Complete };
            let truth = Truth::new(labels, &PairSet::new(ignored), scope);
            let pair = |documents, disagreement| Mistake { documents, disagreement, similarity: None, distance: None };
            let mut expected = Vec::new();
            for (a, b) in (0..8).flat_map(|a| (a + 1..8).map(move |b| (a, b))) {
                let is_right = truth.pairs.contains(a, b);
                let is_wrong = truth.negatives.contains(a, b)
                    || !is_sample && !is_right && !truth.ignored.contains(a, b);
                match found.contains(a, b) {
                    true if is_wrong => expected.push(pair((a, b), Disagreement::Wrong)),
                    false if is_right => expected.push(pair((a, b), Disagreement::Missed)),
                    _ => {}
                }
            }
            let pairs = found.iter().map(|documents| Ok(pair(documents, Disagreement::Wrong)));
            prop_assert_eq!(mistakes_of(pairs, &truth, &[]).collect::<Result<Vec<_>, _>>().unwrap(), expected);
        }
    }
}
