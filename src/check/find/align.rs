//! From common runs to passages: chains runs, aligns the gaps between them, and cuts the chain where too little is equal.

use super::grams::Text;
use crate::passages::Run;
use crate::passages::lcs::{Lcs, push};
use crate::similarity::Threshold;

/// Maximum gap in words, in either document, between runs of one passage.
const MAX_GAP: usize = 32;

/// How many words the alignment extends beyond the first and the last run.
const END_WORDS: usize = 16;

/// Number of preceding runs that a run may be chained to.
const CHAIN_WINDOW: usize = 32;

/// The best chain that ends with a run.
#[derive(Clone, Copy)]
struct Link {
    /// Words in its runs, less those between them.
    score: i64,
    /// The run before.
    before: Option<usize>,
    /// Where it begins in the second document.
    start: usize,
}

/// The passages formed by the common runs of two documents: each a list of equal runs, ascending in both. The input is ordered by
/// place in the second document. Chains with fewer than `least` words in runs are skipped.
pub(super) fn passages(
    text: &Text,
    runs: &[Run],
    own: bool,
    least: usize,
    similarity: Threshold,
    lcs: &mut Lcs,
) -> Vec<Vec<Run>> {
    if words_of(runs) < least {
        return Vec::new();
    }
    chains(runs, own)
        .into_iter()
        .filter(|chain| words_of(chain) >= least)
        .flat_map(|chain| similar_parts(&aligned(text, &chain, own, lcs), similarity))
        .collect()
}

fn words_of(runs: &[Run]) -> usize {
    runs.iter().map(|run| run.tokens).sum()
}

/// Splits runs into chains: each run is in one chain, and a chain ascends in both documents. The best chain is taken first.
fn chains(runs: &[Run], own: bool) -> Vec<Vec<Run>> {
    let mut links: Vec<Link> = Vec::with_capacity(runs.len());
    for (i, run) in runs.iter().enumerate() {
        let words = run.tokens as i64;
        let mut best = Link { score: words, before: None, start: run.b };
        for j in (i.saturating_sub(CHAIN_WINDOW)..i).rev() {
            let (Some((gap, overlap)), link) = (step(&runs[j], run), links[j]) else { continue };
            let score = link.score + words - (gap + overlap) as i64;
            if score > best.score && !(own && run.a + run.tokens > link.start) {
                best = Link { score, before: Some(j), start: link.start };
            }
        }
        links.push(best);
    }
    let mut ends: Vec<usize> = (0..runs.len()).collect();
    ends.sort_by_key(|&i| std::cmp::Reverse(links[i].score));
    let mut taken = vec![false; runs.len()];
    let mut chains = Vec::new();
    for end in ends {
        let mut chain = Vec::new();
        let mut at = Some(end);
        while let Some(i) = at.filter(|&i| !taken[i]) {
            taken[i] = true;
            chain.push(runs[i]);
            at = links[i].before;
        }
        if !chain.is_empty() {
            chain.reverse();
            chains.push(chain);
        }
    }
    chains
}

/// The number of words between two consecutive runs, and the number of words in which they overlap. `None` if they are not
/// consecutive, or too far apart.
fn step(before: &Run, after: &Run) -> Option<(usize, usize)> {
    let ends = (before.a + before.tokens, before.b + before.tokens);
    let overlap = ends.0.saturating_sub(after.a).max(ends.1.saturating_sub(after.b));
    let gap = (after.a + overlap - ends.0).max(after.b + overlap - ends.1);
    let rises = before.a < after.a && before.b < after.b && overlap < after.tokens && overlap < before.tokens;
    (rises && gap <= MAX_GAP).then_some((gap, overlap))
}

/// The chain, with equal words between its runs and around it added.
fn aligned(text: &Text, chain: &[Run], own: bool, lcs: &mut Lcs) -> Vec<Run> {
    let words = &text.words;
    let mut runs = Vec::new();
    let (mut a, mut b) = (chain[0].a, chain[0].b);
    let mut between = Vec::new();
    if !own {
        let (from_a, from_b) = (text.range(text.document_at(a)).start, text.range(text.document_at(b)).start);
        let reversed =
            |start: usize, end: usize| words[start.max(end.saturating_sub(END_WORDS))..end].iter().rev().copied();
        let (head_a, head_b): (Vec<u64>, Vec<u64>) = (reversed(from_a, a).collect(), reversed(from_b, b).collect());
        lcs.common(&head_a, &head_b, &mut between);
        for run in between.drain(..).rev() {
            push(&mut runs, Run { a: a - run.a - run.tokens, b: b - run.b - run.tokens, tokens: run.tokens });
        }
    }
    for run in chain {
        let overlap = a.saturating_sub(run.a).max(b.saturating_sub(run.b));
        let next = (run.a + overlap, run.b + overlap);
        lcs.common(&words[a..next.0], &words[b..next.1], &mut between);
        between.drain(..).for_each(|gap| push(&mut runs, Run { a: a + gap.a, b: b + gap.b, ..gap }));
        push(&mut runs, Run { a: next.0, b: next.1, tokens: run.tokens.saturating_sub(overlap) });
        (a, b) = (run.a + run.tokens, run.b + run.tokens);
    }
    if !own {
        let (to_a, to_b) = (text.range(text.document_at(a - 1)).end, text.range(text.document_at(b - 1)).end);
        lcs.common(&words[a..to_a.min(a + END_WORDS)], &words[b..to_b.min(b + END_WORDS)], &mut between);
        between.drain(..).for_each(|gap| push(&mut runs, Run { a: a + gap.a, b: b + gap.b, ..gap }));
    }
    runs
}

/// The parts of an alignment that are similar enough: all maximal scoring subsequences (Ruzzo & Tompa, *A linear time
/// algorithm for finding all maximal scoring subsequences*, ISMB 1999), where equal words count for and others against, so
/// that a part scores above 0 if and only if `2·equal / (|a| + |b|)` is above the threshold. Each begins and ends in a run.
///
/// Cost: linear in the runs.
fn similar_parts(runs: &[Run], similarity: Threshold) -> Vec<Vec<Run>> {
    struct Part {
        runs: std::ops::Range<usize>,
        /// The score of all before it, and with it.
        scores: [i128; 2],
        /// The nearest part before it that has less before it.
        lower: Option<usize>,
    }
    let [numerator, denominator] = similarity.fraction().map(i128::from);
    let mut parts: Vec<Part> = Vec::new();
    let (mut score, mut end) = (0, None);
    for (i, run) in runs.iter().enumerate() {
        let (a, b) = end.unwrap_or((run.a, run.b));
        score -= numerator * (run.a - a + run.b - b) as i128;
        end = Some((run.a + run.tokens, run.b + run.tokens));
        let mut part = Part { runs: i..i + 1, scores: [score; 2], lower: None };
        // At a threshold of 1 a run still scores above 0.
        score += (2 * (denominator - numerator)).max(1) * run.tokens as i128;
        part.scores[1] = score;
        loop {
            let mut before = parts.len().checked_sub(1);
            while let Some(j) = before.filter(|&j| parts[j].scores[0] >= part.scores[0]) {
                before = parts[j].lower;
            }
            part.lower = before;
            let Some(j) = before.filter(|&j| parts[j].scores[1] < part.scores[1]) else { break };
            part.runs.start = parts[j].runs.start;
            part.scores[0] = parts[j].scores[0];
            parts.truncate(j);
        }
        parts.push(part);
    }
    parts.into_iter().map(|part| runs[part.runs].to_vec()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Runs that are as far apart in both documents.
    fn runs(gaps_and_words: &[(usize, usize)]) -> Vec<Run> {
        let (mut a, mut runs) = (0, Vec::new());
        for &(gap, tokens) in gaps_and_words {
            a += gap;
            runs.push(Run { a, b: 1000 + a, tokens });
            a += tokens;
        }
        runs
    }

    fn score(part: &[Run]) -> i128 {
        let (first, last) = (part[0], part[part.len() - 1]);
        let all = last.a + last.tokens - first.a + last.b + last.tokens - first.b;
        10 * 2 * words_of(part) as i128 - 7 * all as i128
    }

    #[test]
    fn a_chain_is_cut_where_too_little_is_equal() {
        let threshold = Threshold::new(7, 10).unwrap();
        let lengths = |gaps_and_words| {
            let parts = similar_parts(&runs(gaps_and_words), threshold);
            parts.iter().map(|part| part.iter().map(|run| run.tokens).collect()).collect::<Vec<Vec<usize>>>()
        };
        assert_eq!(lengths(&[(0, 20), (1, 20), (8, 20)]), [[20, 20, 20]]);
        assert_eq!(lengths(&[(0, 20), (1, 20), (20, 1), (20, 30)]), [vec![20, 20], vec![1], vec![30]]);
        assert_eq!(lengths(&[(0, 1), (5, 20), (1, 3), (5, 1)]), [vec![1], vec![20, 3], vec![1]]);
        assert!(similar_parts(&[], threshold).is_empty());
    }

    proptest! {
        #[test]
        fn the_best_part_is_one_of_them(gaps_and_words in prop::collection::vec((1usize..12, 1usize..12), 1..20)) {
            let runs = runs(&gaps_and_words);
            let parts = similar_parts(&runs, Threshold::new(7, 10).unwrap());
            let stretches = (0..runs.len()).flat_map(|i| (i + 1..=runs.len()).map(move |j| (i, j)));
            let best = stretches.map(|(i, j)| score(&runs[i..j])).max();
            prop_assert_eq!(parts.iter().map(|part| score(part)).max(), best);
            prop_assert!(parts.iter().all(|part| score(part) > 0));
            prop_assert_eq!(parts.concat(), runs);
        }
    }
}
