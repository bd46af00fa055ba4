//! Parts of an alignment that are too short where they score best, and long enough with what is around them.
//!
//! The best part of an alignment ends where what follows an edit does not make up for it. A copy that is little longer than the minimum
//! loses too much there, although all of it is similar: of 60 words with edits at 42, 45, 50 and 57, the first 42 score best. Such a part is
//! extended to the stretch that scores best of those that have the minimum length, if it is similar, too. Edits do not count twice for this
//! length, since what they cut off at the ends is back. What is added on either side may have twice as many edits as the whole, so that
//! words that both texts have by chance do not make a passage long.

use super::Run;
use crate::similarity::Threshold;
use std::ops::Range;

/// What is added on one side of a part: some runs, and the gaps before them.
#[derive(Clone, Copy, Debug, Default)]
struct Added {
    /// Words in both documents, and those that match.
    tokens: [u64; 2],
    matched: u64,
    /// The length of both in half words, and of what matches: some words count half.
    size: [u64; 2],
    matched_size: u64,
}

impl Added {
    fn and(self, other: Added) -> Added {
        let both = |x: [u64; 2], y: [u64; 2]| [x[0] + y[0], x[1] + y[1]];
        Added {
            tokens: both(self.tokens, other.tokens),
            matched: self.matched + other.matched,
            size: both(self.size, other.size),
            matched_size: self.matched_size + other.matched_size,
        }
    }

    /// The length of the longer place, in half words.
    fn length(&self) -> u64 {
        self.size[0].max(self.size[1])
    }

    /// At least 0 if and only if it is similar.
    fn score(&self, similarity: Threshold) -> i128 {
        let [numerator, denominator] = similarity.fraction().map(i128::from);
        2 * denominator * i128::from(self.matched) - numerator * i128::from(self.tokens[0] + self.tokens[1])
    }

    /// Whether it has at most twice the share of edits that a passage may have.
    fn is_dense(&self, similarity: Threshold) -> bool {
        let [numerator, denominator] = similarity.fraction().map(i128::from);
        let [matched, all] = [2 * self.matched, self.tokens[0] + self.tokens[1]].map(i128::from);
        denominator * (all - matched) <= 2 * (denominator - numerator) * all
    }
}

/// What a passage must be.
#[derive(Clone, Copy, Debug)]
pub(super) struct Least {
    pub half_words: u64,
    pub similarity: Threshold,
}

/// The stretch around a part of an alignment that has the minimum length, is similar and scores best: the numbers of its runs. `None` if
/// there is none, or if less than half of the minimum length matches in the part. On either side, runs are added until what is added has
/// the minimum length alone. `size` is the length of a range of the documents in half words.
///
/// # Errors
/// Those of `size`.
///
/// # Cost
/// Linear in the minimum length, which is at most twice what matches in the part, and in the last run that is added.
pub(super) fn longer<E>(
    runs: &[Run],
    part: Range<usize>,
    least: Least,
    size: &mut impl FnMut(Range<usize>) -> Result<u64, E>,
) -> Result<Option<Range<usize>>, E> {
    let mut own = run_of(&runs[part.start], size)?;
    for at in part.start + 1..part.end {
        own = own.and(gap_between(&runs[at - 1], &runs[at], size)?).and(run_of(&runs[at], size)?);
    }
    if 2 * own.matched_size < least.half_words {
        return Ok(None);
    }
    let (mut before, mut after) = (vec![Added::default()], vec![Added::default()]);
    for at in (0..part.start).rev() {
        let last = before[before.len() - 1];
        if last.length() >= least.half_words {
            break;
        }
        before.push(last.and(gap_between(&runs[at], &runs[at + 1], size)?).and(run_of(&runs[at], size)?));
    }
    for at in part.end..runs.len() {
        let last = after[after.len() - 1];
        if last.length() >= least.half_words {
            break;
        }
        after.push(last.and(gap_between(&runs[at - 1], &runs[at], size)?).and(run_of(&runs[at], size)?));
    }
    Ok(best(own, &before, &after, least).map(|(before, after)| part.start - before..part.end + after))
}

/// Of all that may be added before and after a part, the numbers of those that make it long enough and score best: the fewest before it of
/// those that score equally.
fn best(own: Added, before: &[Added], after: &[Added], least: Least) -> Option<(usize, usize)> {
    // Of what is added after the part, from each number of runs on: what scores best.
    let mut best_from: Vec<Option<(i128, usize)>> = vec![None; after.len() + 1];
    for (number, added) in after.iter().enumerate().rev() {
        let this = added.is_dense(least.similarity).then_some((added.score(least.similarity), number));
        best_from[number] = match (this, best_from[number + 1]) {
            (Some(this), Some(later)) if later.0 > this.0 => Some(later),
            (None, later) => later,
            (this, _) => this,
        };
    }
    let (mut best, mut needed) = (None, after.len());
    for (number, added) in before.iter().enumerate() {
        let with = own.and(*added);
        // The longer it is before the part, the less is needed after it.
        while needed > 0 && with.and(after[needed - 1]).length() >= least.half_words {
            needed -= 1;
        }
        if !added.is_dense(least.similarity) {
            continue;
        }
        let Some((score, of_after)) = best_from[needed] else { continue };
        let score = score + with.score(least.similarity);
        if score >= 0 && best.is_none_or(|(other, _)| score > other) {
            best = Some((score, (number, of_after)));
        }
    }
    best.map(|(_, numbers)| numbers)
}

fn run_of<E>(run: &Run, size: &mut impl FnMut(Range<usize>) -> Result<u64, E>) -> Result<Added, E> {
    let (matched, size) = (run.tokens as u64, size(run.a..run.a + run.tokens)?);
    Ok(Added { tokens: [matched; 2], matched, size: [size; 2], matched_size: size })
}

fn gap_between<E>(one: &Run, next: &Run, size: &mut impl FnMut(Range<usize>) -> Result<u64, E>) -> Result<Added, E> {
    let gaps = [one.a + one.tokens..next.a, one.b + one.tokens..next.b];
    let tokens = [gaps[0].len() as u64, gaps[1].len() as u64];
    let [of_a, of_b] = gaps;
    Ok(Added { tokens, size: [size(of_a)?, size(of_b)?], ..Added::default() })
}

#[cfg(test)]
mod tests {
    use super::super::align::{similar_parts, words_of};
    use super::*;
    use proptest::prelude::*;
    use std::convert::Infallible;

    /// Runs after gaps in both documents.
    fn runs(gaps_and_words: &[(usize, usize, usize)]) -> Vec<Run> {
        let (mut a, mut b, mut runs) = (0, 1000, Vec::new());
        for &(gap_a, gap_b, tokens) in gaps_and_words {
            (a, b) = (a + gap_a, b + gap_b);
            runs.push(Run { a, b, tokens });
            (a, b) = (a + tokens, b + tokens);
        }
        runs
    }

    fn lengths(runs: &[Run]) -> [usize; 2] {
        let (first, last) = (runs[0], runs[runs.len() - 1]);
        [last.a + last.tokens - first.a, last.b + last.tokens - first.b]
    }

    fn score(runs: &[Run]) -> i64 {
        10 * words_of(runs) as i64 - 4 * lengths(runs).iter().sum::<usize>() as i64
    }

    /// The length of the longer place in half words, where `size` is that of a range. What matches has the size of its first place.
    fn length_of(runs: &[Run], size: &impl Fn(Range<usize>) -> u64) -> u64 {
        let matched: u64 = runs.iter().map(|run| size(run.a..run.a + run.tokens)).sum();
        let gaps = |place: fn(&Run) -> usize| -> u64 {
            runs.windows(2).map(|pair| size(place(&pair[0]) + pair[0].tokens..place(&pair[1]))).sum()
        };
        matched + gaps(|run| run.a).max(gaps(|run| run.b))
    }

    /// Whether what is between two numbers of runs has at most 40 % of edits, without the run at the inner end.
    fn is_dense(all: &[Run], from: usize, to: usize, inner: usize) -> bool {
        if from == to {
            return true;
        }
        let stretch = &all[from.min(inner)..to.max(inner + 1)];
        let tokens = lengths(stretch).iter().sum::<usize>() - 2 * all[inner].tokens;
        let matched = 2 * (words_of(stretch) - all[inner].tokens);
        10 * (tokens - matched) <= 4 * tokens
    }

    proptest! {
        /// The plain version looks at every stretch around the part.
        #[test]
        fn the_best_of_those_that_are_long_enough_is_found(
            gaps_and_words in prop::collection::vec((0usize..4, 0usize..4, 1usize..12), 1..16),
            half_words in 20u64..100,
            halves in prop::collection::vec(any::<bool>(), 64),
        ) {
            let all = runs(&gaps_and_words);
            let least = Least { half_words, similarity: Threshold::new(8, 10).unwrap() };
            // Of some words, each counts half.
            let size = |range: Range<usize>| range.map(|word| if halves[word % 1000 % 64] { 1 } else { 2 }).sum::<u64>();
            let mut parts = Vec::new();
            similar_parts(&all, least.similarity, &mut parts);
            for part in parts {
                let part = part.runs;
                let length = |from: usize, to: usize| length_of(&all[from..to], &size);
                let own = size(all[part.start].a..all[part.start].a + all[part.start].tokens);
                let last = size(all[part.end - 1].a..all[part.end - 1].a + all[part.end - 1].tokens);
                let matched: u64 = all[part.clone()].iter().map(|run| size(run.a..run.a + run.tokens)).sum();
                let found = longer(&all, part.clone(), least, &mut |range| Ok::<_, Infallible>(size(range))).unwrap();
                let mut expected = None;
                for start in (0..=part.start).rev() {
                    for end in part.end..=all.len() {
                        // On either side, no more is looked at than has the minimum length alone.
                        let is_looked_at = (start + 1 >= part.start || length(start + 1, part.start + 1) - own < half_words)
                            && (end <= part.end + 1 || length(part.end - 1, end - 1) - last < half_words);
                        let is_good = 2 * matched >= half_words
                            && is_looked_at
                            && length(start, end) >= half_words
                            && score(&all[start..end]) >= 0
                            && is_dense(&all, start, part.start, part.start)
                            && is_dense(&all, part.end, end, part.end - 1);
                        if is_good && expected.as_ref().is_none_or(|(best, _)| score(&all[start..end]) > *best) {
                            expected = Some((score(&all[start..end]), start..end));
                        }
                    }
                }
                prop_assert_eq!(found, expected.map(|(_, range)| range), "{:?} of {:?}", part, all);
            }
        }
    }

    #[test]
    fn a_short_copy_with_edits_near_its_end_is_whole() {
        let least = Least { half_words: 100, similarity: Threshold::new(8, 10).unwrap() };
        let all = runs(&[(0, 0, 28), (1, 1, 13), (1, 1, 2), (1, 1, 4), (1, 1, 6), (1, 1, 2)]);
        let mut size = |range: Range<usize>| Ok::<_, Infallible>(2 * range.len() as u64);
        assert_eq!(longer(&all, 0..2, least, &mut size), Ok(Some(0..5)));
        // A word that both have by chance adds nothing.
        let all = runs(&[(0, 0, 41), (8, 8, 1)]);
        assert_eq!(longer(&all, 0..1, least, &mut size), Ok(None));
    }
}
