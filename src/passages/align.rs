//! From common runs to passages: chains runs, aligns the gaps between them, and cuts the chain where too little is equal.
//!
//! What finds passages with edits uses this: [`check`](crate::check) for documentation, and [`find_passages`](super::find_passages) for a
//! corpus, whose words may be in a file.

use super::Run;
use super::lcs::{Lcs, push};
use crate::similarity::Threshold;
use std::convert::Infallible;
use std::ops::Range;

/// Maximum gap in words, in either document, between runs of one passage.
const MAX_GAP: usize = 32;

/// How many words the alignment extends beyond the first and the last run, if it does so once.
const END_WORDS: usize = 16;

/// How many words it compares at a time, if it goes on.
const BLOCK_WORDS: usize = 32;

/// It goes on after a run of so many words, however few of a block are equal.
const RUN_WORDS: usize = 4;

/// How many words are compared at a time where they are equal: more and more.
const EQUAL_WORDS: Range<usize> = 64..4096;

/// Number of preceding runs that a run may be chained to.
const CHAIN_WINDOW: usize = 32;

/// Where words are read from. A place is the number of a word in all documents together.
pub(crate) trait Words {
    type Error;

    /// Two ranges of words.
    fn pair(&mut self, a: Range<usize>, b: Range<usize>) -> Result<[&[u64]; 2], Self::Error>;
}

/// Words in memory.
impl Words for &[u64] {
    type Error = Infallible;

    fn pair(&mut self, a: Range<usize>, b: Range<usize>) -> Result<[&[u64]; 2], Infallible> {
        Ok([&self[a], &self[b]])
    }
}

/// Aligns stretches of two documents.
pub(crate) struct Aligner<W> {
    pub words: W,
    pub lcs: Lcs,
    /// The minimum similarity of a passage.
    pub similarity: Threshold,
    buffers: Buffers,
}

/// What is reused from alignment to alignment: there are millions of short ones.
#[derive(Default)]
struct Buffers {
    before: Vec<Run>,
    block: Vec<Run>,
    reversed: [Vec<u64>; 2],
}

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

impl<W: Words> Aligner<W> {
    pub fn new(words: W, similarity: Threshold) -> Self {
        Aligner { words, lcs: Lcs::default(), similarity, buffers: Buffers::default() }
    }

    /// The passages formed by the common runs of two documents, or of one with `own`: each a list of equal runs, ascending in both. The
    /// input is ordered by place in the second document. Chains with fewer than `least` words in runs are skipped. An alignment extends a
    /// little beyond its runs, but not within one document.
    ///
    /// # Errors
    /// Words cannot be read.
    pub fn passages(
        &mut self,
        documents: &[Range<usize>; 2],
        runs: &[Run],
        least: usize,
    ) -> Result<Vec<Vec<Run>>, W::Error> {
        let (mut passages, mut parts, own) = (Vec::new(), Vec::new(), documents[0] == documents[1]);
        if words_of(runs) >= least {
            for chain in chains(runs, own).iter().filter(|chain| words_of(chain) >= least) {
                let aligned = self.aligned(documents, chain, own)?;
                similar_parts(&aligned, self.similarity, &mut parts);
                passages.extend(parts.iter().map(|part| aligned[part.runs.clone()].to_vec()));
            }
        }
        Ok(passages)
    }

    /// The chain, with equal words between its runs and around it added.
    fn aligned(&mut self, documents: &[Range<usize>; 2], chain: &[Run], own: bool) -> Result<Vec<Run>, W::Error> {
        let (mut runs, mut between) = (Vec::new(), Vec::new());
        if !own {
            let Run { a, b, .. } = chain[0];
            self.block_before(documents, [a, b], END_WORDS, &mut between)?;
            between.drain(..).rev().for_each(|run| push(&mut runs, run));
        }
        let [a, b] = self.joined(chain, &mut runs)?;
        if !own {
            self.block_after(documents, [a, b], END_WORDS, &mut between)?;
            between.drain(..).for_each(|run| push(&mut runs, run));
        }
        Ok(runs)
    }

    /// Appends the runs of a chain, with equal words between them. Returns where they end.
    fn joined(&mut self, chain: &[Run], runs: &mut Vec<Run>) -> Result<[usize; 2], W::Error> {
        let ([mut a, mut b], mut between) = ([chain[0].a, chain[0].b], Vec::new());
        for run in chain {
            let overlap = a.saturating_sub(run.a).max(b.saturating_sub(run.b));
            let next = (run.a + overlap, run.b + overlap);
            let [x, y] = self.words.pair(a..next.0, b..next.1)?;
            self.lcs.common(x, y, &mut between);
            between.drain(..).for_each(|gap| push(runs, Run { a: a + gap.a, b: b + gap.b, ..gap }));
            push(runs, Run { a: next.0, b: next.1, tokens: run.tokens.saturating_sub(overlap) });
            (a, b) = (run.a + run.tokens, run.b + run.tokens);
        }
        Ok([a, b])
    }

    /// Sets `runs` to the chain, with equal words between its runs added, and around it for as long as there are enough of them in these
    /// ranges of the two documents. In one document, `own`, the two places do not meet.
    ///
    /// Cost: linear in the length of the alignment.
    ///
    /// # Errors
    /// Words cannot be read.
    pub fn extended(
        &mut self,
        ranges: &[Range<usize>; 2],
        chain: &[Run],
        own: bool,
        runs: &mut Vec<Run>,
    ) -> Result<(), W::Error> {
        let Buffers { mut before, mut block, reversed } = std::mem::take(&mut self.buffers);
        self.buffers.reversed = reversed;
        runs.clear();
        let [of_a, of_b] = ranges.clone();
        let last = chain[chain.len() - 1];
        let ranges = [of_a.clone(), if own { of_b.start.max(last.a + last.tokens)..of_b.end } else { of_b.clone() }];
        let (mut a, mut b, mut goes_on) = (chain[0].a, chain[0].b, true);
        while goes_on {
            let equal = self.equal_before(&ranges, [a, b])?;
            (a, b) = (a - equal, b - equal);
            before.push(Run { a, b, tokens: equal });
            let shorter = (a - ranges[0].start).min(b - ranges[1].start);
            self.block_before(&ranges, [a, b], BLOCK_WORDS, &mut block)?;
            goes_on = is_alike(&block, shorter);
            if let Some(first) = block.last() {
                (a, b) = (first.a, first.b);
            }
            before.append(&mut block);
        }
        before.drain(..).rev().for_each(|run| push(runs, run));
        let ranges = [if own { of_a.start..b } else { of_a }, of_b];
        [a, b] = self.joined(chain, runs)?;
        goes_on = true;
        while goes_on {
            let equal = self.equal_after(&ranges, [a, b])?;
            push(runs, Run { a, b, tokens: equal });
            (a, b) = (a + equal, b + equal);
            let shorter = (ranges[0].end - a).min(ranges[1].end - b);
            self.block_after(&ranges, [a, b], BLOCK_WORDS, &mut block)?;
            goes_on = is_alike(&block, shorter);
            if let Some(last) = block.last() {
                (a, b) = (last.a + last.tokens, last.b + last.tokens);
            }
            block.drain(..).for_each(|run| push(runs, run));
        }
        (self.buffers.before, self.buffers.block) = (before, block);
        Ok(())
    }

    /// Sets `runs` to the equal words of at most `most` words of both documents before two places, the last ones first.
    fn block_before(
        &mut self,
        documents: &[Range<usize>; 2],
        [a, b]: [usize; 2],
        most: usize,
        runs: &mut Vec<Run>,
    ) -> Result<(), W::Error> {
        let from = |place: usize, document: &Range<usize>| document.start.max(place.saturating_sub(most));
        let [x, y] = self.words.pair(from(a, &documents[0])..a, from(b, &documents[1])..b)?;
        let reversed = &mut self.buffers.reversed;
        for (reversed, words) in reversed.iter_mut().zip([x, y]) {
            reversed.clear();
            reversed.extend(words.iter().rev());
        }
        runs.clear();
        self.lcs.common(&reversed[0], &reversed[1], runs);
        for run in runs {
            *run = Run { a: a - run.a - run.tokens, b: b - run.b - run.tokens, tokens: run.tokens };
        }
        Ok(())
    }

    /// Sets `runs` to the equal words of at most `most` words of both documents after two places.
    fn block_after(
        &mut self,
        documents: &[Range<usize>; 2],
        [a, b]: [usize; 2],
        most: usize,
        runs: &mut Vec<Run>,
    ) -> Result<(), W::Error> {
        let to = |place: usize, document: &Range<usize>| document.end.min(place + most);
        let [x, y] = self.words.pair(a..to(a, &documents[0]), b..to(b, &documents[1]))?;
        runs.clear();
        self.lcs.common(x, y, runs);
        for run in runs {
            *run = Run { a: a + run.a, b: b + run.b, ..*run };
        }
        Ok(())
    }

    /// The number of equal words before two places.
    pub fn equal_before(&mut self, documents: &[Range<usize>; 2], [a, b]: [usize; 2]) -> Result<usize, W::Error> {
        let most = (a - documents[0].start).min(b - documents[1].start);
        let (mut equal, mut step) = (0, EQUAL_WORDS.start);
        while equal < most {
            let words = step.min(most - equal);
            let [x, y] = self.words.pair(a - equal - words..a - equal, b - equal - words..b - equal)?;
            let same = x.iter().rev().zip(y.iter().rev()).take_while(|(x, y)| x == y).count();
            equal += same;
            if same < words {
                break;
            }
            step = (2 * step).min(EQUAL_WORDS.end);
        }
        Ok(equal)
    }

    /// The number of equal words after two places.
    pub fn equal_after(&mut self, documents: &[Range<usize>; 2], [a, b]: [usize; 2]) -> Result<usize, W::Error> {
        let most = (documents[0].end - a).min(documents[1].end - b);
        let (mut equal, mut step) = (0, EQUAL_WORDS.start);
        while equal < most {
            let words = step.min(most - equal);
            let [x, y] = self.words.pair(a + equal..a + equal + words, b + equal..b + equal + words)?;
            let same = x.iter().zip(y).take_while(|(x, y)| x == y).count();
            equal += same;
            if same < words {
                break;
            }
            step = (2 * step).min(EQUAL_WORDS.end);
        }
        Ok(equal)
    }
}

/// Whether so many words of a block of two documents are equal that the next ones may be, too: half of those of the shorter one, or the
/// run furthest from the passage, which comes last, is long.
fn is_alike(runs: &[Run], shorter: usize) -> bool {
    runs.last().is_some_and(|last| 2 * words_of(runs) >= shorter.min(BLOCK_WORDS) || last.tokens >= RUN_WORDS)
}

/// The words in runs.
pub(crate) fn words_of(runs: &[Run]) -> usize {
    runs.iter().map(|run| run.tokens).sum()
}

/// Chains of runs. Most chains have few runs: a list of each would take several times the memory.
pub(crate) struct Chains {
    /// Those of the first chain, then those of the next one.
    runs: Vec<Run>,
    /// Where each chain ends.
    ends: Vec<usize>,
}

impl Chains {
    /// Each chain, the best one first.
    pub fn iter(&self) -> impl Iterator<Item = &[Run]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| &self.runs[start..end])
    }
}

/// Splits runs, ordered by place in the second document, into chains: each run is in one chain, and a chain ascends in both documents.
/// The best chain is taken first.
pub(crate) fn chains(runs: &[Run], own: bool) -> Chains {
    debug_assert!(runs.is_sorted_by_key(|run| run.b));
    if let [run] = runs {
        return Chains { runs: vec![*run], ends: vec![1] };
    }
    let mut links: Vec<Link> = Vec::with_capacity(runs.len());
    let mut longest = 0;
    for (i, run) in runs.iter().enumerate() {
        let words = run.tokens as i64;
        let mut best = Link { score: words, before: None, start: run.b };
        for j in (i.saturating_sub(CHAIN_WINDOW)..i).rev() {
            // Runs are ordered by place in the second document: those before are further away still.
            if runs[j].b + longest + MAX_GAP < run.b {
                break;
            }
            let (Some((gap, overlap)), link) = (step(&runs[j], run), links[j]) else { continue };
            let score = link.score + words - (gap + overlap) as i64;
            if score > best.score && !(own && run.a + run.tokens > link.start) {
                best = Link { score, before: Some(j), start: link.start };
            }
        }
        links.push(best);
        longest = longest.max(run.tokens);
    }
    let mut ends: Vec<usize> = (0..runs.len()).collect();
    ends.sort_by_key(|&i| std::cmp::Reverse(links[i].score));
    let mut taken = vec![false; runs.len()];
    let mut chains = Chains { runs: Vec::with_capacity(runs.len()), ends: Vec::new() };
    for end in ends {
        let start = chains.runs.len();
        let mut at = Some(end);
        while let Some(i) = at.filter(|&i| !taken[i]) {
            taken[i] = true;
            chains.runs.push(runs[i]);
            at = links[i].before;
        }
        if chains.runs.len() > start {
            chains.runs[start..].reverse();
            chains.ends.push(chains.runs.len());
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

/// A part of an alignment.
pub(crate) struct Part {
    /// The numbers of its runs.
    pub runs: Range<usize>,
    /// The score of all before it, and with it.
    scores: [i128; 2],
    /// The nearest part before it that has less before it.
    lower: Option<usize>,
}

/// Sets `parts` to those of an alignment that are similar enough, in order: all maximal scoring subsequences (Ruzzo & Tompa, *A linear time
/// algorithm for finding all maximal scoring subsequences*, ISMB 1999), where equal words count for and others against, so
/// that a part scores above 0 if and only if `2·equal / (|a| + |b|)` is above the threshold. Each begins and ends in a run.
///
/// Cost: linear in the runs.
pub(crate) fn similar_parts(runs: &[Run], similarity: Threshold, parts: &mut Vec<Part>) {
    parts.clear();
    let [numerator, denominator] = similarity.fraction().map(i128::from);
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

    fn parts_of(runs: &[Run], similarity: Threshold) -> Vec<Vec<Run>> {
        let mut parts = Vec::new();
        similar_parts(runs, similarity, &mut parts);
        parts.iter().map(|part| runs[part.runs.clone()].to_vec()).collect()
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
            let parts = parts_of(&runs(gaps_and_words), threshold);
            parts.iter().map(|part| part.iter().map(|run| run.tokens).collect()).collect::<Vec<Vec<usize>>>()
        };
        assert_eq!(lengths(&[(0, 20), (1, 20), (8, 20)]), [[20, 20, 20]]);
        assert_eq!(lengths(&[(0, 20), (1, 20), (20, 1), (20, 30)]), [vec![20, 20], vec![1], vec![30]]);
        assert_eq!(lengths(&[(0, 1), (5, 20), (1, 3), (5, 1)]), [vec![1], vec![20, 3], vec![1]]);
        assert!(parts_of(&[], threshold).is_empty());
    }

    proptest! {
        #[test]
        fn the_best_part_is_one_of_them(gaps_and_words in prop::collection::vec((1usize..12, 1usize..12), 1..20)) {
            let runs = runs(&gaps_and_words);
            let parts = parts_of(&runs, Threshold::new(7, 10).unwrap());
            let stretches = (0..runs.len()).flat_map(|i| (i + 1..=runs.len()).map(move |j| (i, j)));
            let best = stretches.map(|(i, j)| score(&runs[i..j])).max();
            prop_assert_eq!(parts.iter().map(|part| score(part)).max(), best);
            prop_assert!(parts.iter().all(|part| score(part) > 0));
            prop_assert_eq!(parts.concat(), runs);
        }
    }
}
