//! Two texts in words, and the words that both have.
//!
//! **Procedure.** What both texts begin and end with is taken first. Runs of words that each of the texts has once, as far as they are in one order
//! in both, divide long texts (Bram Cohen's *patience diff*), so that what follows a long insertion is found again. Where there are none, runs that
//! both have equally often do. What is between them is divided in the same way, and where it is short, its longest common subsequence is
//! aligned; in windows, where it is long and cannot be divided.
//!
//! **Cost.** Linear but for a sort in each of [`MAX_DIVISIONS`] divisions: a window of [`MAX_ALIGNED`] words takes the square of that, divided by
//! 64, and passes at least a quarter of it. Memory: some 80 bytes for each word.

use crate::hash::shingle_hashes;
use crate::passages::Run;
use crate::passages::lcs::{Lcs, push};
use std::ops::Range;
use unicode_segmentation::UnicodeSegmentation;
use xxhash_rust::xxh3::xxh3_64;

/// The number of words of each text that are aligned at once.
const MAX_ALIGNED: usize = 2000;

/// The length in words of a run that divides texts.
const ANCHOR: usize = 6;

/// How often what was divided is divided again.
const MAX_DIVISIONS: usize = 3;

/// A text in words.
pub(super) struct Words<'a> {
    pub text: &'a str,
    pub places: Vec<Range<usize>>,
    hashes: Vec<u64>,
}

impl<'a> Words<'a> {
    pub fn new(text: &'a str) -> Self {
        let words = text.split_word_bound_indices().filter(|(_, word)| !word.trim().is_empty());
        let (places, hashes) = words.map(|(start, word)| (start..start + word.len(), xxh3_64(word.as_bytes()))).unzip();
        Words { text, places, hashes }
    }

    /// The bytes of some words. Those of none are after the word before.
    pub fn bytes(&self, words: &Range<usize>) -> Range<usize> {
        let end = |words: usize| words.checked_sub(1).map_or(0, |last| self.places[last].end);
        match words.is_empty() {
            true => end(words.start)..end(words.start),
            false => self.places[words.start].start..end(words.end),
        }
    }
}

/// The runs of words that both texts have, in order; the last one ends with the texts, and may be empty. Between two runs, the texts
/// differ.
pub(super) fn align(texts: &[Words<'_>; 2], lcs: &mut Lcs) -> Vec<Run> {
    let [a, b] = texts.each_ref().map(|words| words.hashes.as_slice());
    let mut alignment = Alignment { a, b, lcs, runs: Vec::new() };
    alignment.align([0, 0], [a.len(), b.len()], MAX_DIVISIONS);
    let mut runs = alignment.runs;
    if runs.last().is_none_or(|run| [run.a + run.tokens, run.b + run.tokens] != [a.len(), b.len()]) {
        runs.push(Run { a: a.len(), b: b.len(), tokens: 0 });
    }
    runs
}

/// The alignment of two texts so far.
struct Alignment<'t> {
    a: &'t [u64],
    b: &'t [u64],
    lcs: &'t mut Lcs,
    runs: Vec<Run>,
}

impl Alignment<'_> {
    /// Appends the runs of words that two ranges have in common. They are divided so many times at most.
    fn align(&mut self, start: [usize; 2], end: [usize; 2], divisions: usize) {
        let head = self.equal_after(start, end);
        push(&mut self.runs, Run { a: start[0], b: start[1], tokens: head });
        let start = start.map(|at| at + head);
        let tail = self.equal_before(start, end);
        let end = end.map(|at| at - tail);
        self.divide(start, end, divisions);
        push(&mut self.runs, Run { a: end[0], b: end[1], tokens: tail });
    }

    /// [`align`](Self::align) between equal ends.
    fn divide(&mut self, start: [usize; 2], end: [usize; 2], divisions: usize) {
        let ranges = [&self.a[start[0]..end[0]], &self.b[start[1]..end[1]]];
        if divisions == 0 || ranges.iter().all(|words| words.len() <= MAX_ALIGNED) {
            return self.align_windows(start, end);
        }
        let found = [1, usize::MAX].into_iter().map(|most| anchors(ranges, most)).find(|anchors| !anchors.is_empty());
        let Some(anchors) = found else { return self.align_windows(start, end) };
        let mut at = start;
        for [a, b] in anchors {
            let anchor = [start[0] + a, start[1] + b];
            // Words that are equal after the anchors before have passed some.
            if anchor[0] < at[0] || anchor[1] < at[1] {
                continue;
            }
            self.align(at, anchor, divisions - 1);
            let tokens = self.equal_after(anchor, end);
            push(&mut self.runs, Run { a: anchor[0], b: anchor[1], tokens });
            at = anchor.map(|at| at + tokens);
        }
        self.align(at, end, divisions - 1);
    }

    /// As [`align`](Self::align). The next window begins after the last run that begins in the first three quarters of a window. Where there is
    /// none in the last three quarters of one, the rest of the ranges is different.
    fn align_windows(&mut self, start: [usize; 2], end: [usize; 2]) {
        let (mut at, mut found) = (start, Vec::new());
        while at[0] < end[0] && at[1] < end[1] {
            let window = |side: usize| at[side]..(at[side] + MAX_ALIGNED).min(end[side]);
            let is_last = (0..2).all(|side| window(side).end == end[side]);
            found.clear();
            self.lcs.common(&self.a[window(0)], &self.b[window(1)], &mut found);
            if !is_last {
                let is_certain = |run: &Run| run.a.max(run.b) < MAX_ALIGNED / 4 * 3;
                found.truncate(found.partition_point(is_certain));
            }
            found.iter().for_each(|run| push(&mut self.runs, Run { a: run.a + at[0], b: run.b + at[1], ..*run }));
            match found.last() {
                Some(run) if !is_last && run.a.max(run.b) + run.tokens >= MAX_ALIGNED / 4 => {
                    at = [at[0] + run.a + run.tokens, at[1] + run.b + run.tokens];
                }
                _ => return,
            }
        }
    }

    /// The number of equal words from two places on.
    fn equal_after(&self, start: [usize; 2], end: [usize; 2]) -> usize {
        let [a, b] = [&self.a[start[0]..end[0]], &self.b[start[1]..end[1]]];
        a.iter().zip(b).take_while(|(a, b)| a == b).count()
    }

    /// The number of equal words before two places.
    fn equal_before(&self, start: [usize; 2], end: [usize; 2]) -> usize {
        let [a, b] = [&self.a[start[0]..end[0]], &self.b[start[1]..end[1]]];
        a.iter().rev().zip(b.iter().rev()).take_while(|(a, b)| a == b).count()
    }
}

/// The places of runs of [`ANCHOR`] words that two texts have equally often, at most so many times, in one order in both: as many as there can be.
fn anchors(texts: [&[u64]; 2], most: usize) -> Vec<[usize; 2]> {
    if texts.iter().any(|text| text.len() < ANCHOR) {
        return Vec::new();
    }
    let [a, b] = texts.map(|text| {
        let mut hashes = Vec::new();
        shingle_hashes(text, ANCHOR, &mut hashes);
        let mut places: Vec<(u64, usize)> = hashes.into_iter().zip(0..).collect();
        places.sort_unstable();
        places
    });
    let mut others = b.chunk_by(|x, y| x.0 == y.0).peekable();
    let mut pairs = Vec::new();
    for equal in a.chunk_by(|x, y| x.0 == y.0) {
        while others.next_if(|other| other[0].0 < equal[0].0).is_some() {}
        let Some(other) = others.next_if(|other| other[0].0 == equal[0].0) else { continue };
        if equal.len() == other.len() && equal.len() <= most {
            pairs.extend(equal.iter().zip(other).map(|(&(_, a), &(_, b))| [a, b]));
        }
    }
    // Equal hashes need not be equal words.
    pairs.retain(|&[a, b]| texts[0][a..][..ANCHOR] == texts[1][b..][..ANCHOR]);
    pairs.sort_unstable();
    longest_rising(&pairs)
}

/// Of pairs whose first numbers ascend, as many as there can be whose second numbers ascend too.
fn longest_rising(pairs: &[[usize; 2]]) -> Vec<[usize; 2]> {
    // For each length, the pair that the chain of this length with the least end ends with.
    let mut ends: Vec<usize> = Vec::new();
    let mut before = Vec::with_capacity(pairs.len());
    for (number, pair) in pairs.iter().enumerate() {
        let length = ends.partition_point(|&end| pairs[end][1] < pair[1]);
        before.push(length.checked_sub(1).map(|shorter| ends[shorter]));
        match ends.get_mut(length) {
            Some(end) => *end = number,
            None => ends.push(number),
        }
    }
    let mut chain: Vec<[usize; 2]> =
        std::iter::successors(ends.last().copied(), |&number| before[number]).map(|number| pairs[number]).collect();
    chain.reverse();
    chain
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_longest_rising_chain() {
        let chain = |seconds: &[usize]| -> Vec<usize> {
            let pairs: Vec<[usize; 2]> = seconds.iter().enumerate().map(|(first, &second)| [first, second]).collect();
            longest_rising(&pairs).into_iter().map(|[_, second]| second).collect()
        };
        assert!(chain(&[]).is_empty());
        assert_eq!(chain(&[3, 1, 2, 0, 4]), [1, 2, 4]);
        assert_eq!(chain(&[9, 8, 7]), [7]);
    }

    /// The length of the longest rising chain, by trying all.
    fn longest(seconds: &[usize]) -> usize {
        let mut best = vec![1; seconds.len()];
        for i in 0..seconds.len() {
            let shorter = (0..i).filter(|&j| seconds[j] < seconds[i]).map(|j| best[j]).max();
            best[i] += shorter.unwrap_or(0);
        }
        best.into_iter().max().unwrap_or(0)
    }

    /// Words by their numbers.
    fn text(words: &[u32]) -> String {
        words.iter().map(|word| format!("w{word} ")).collect()
    }

    fn runs_of(a: &str, b: &str) -> Vec<Run> {
        align(&[Words::new(a), Words::new(b)], &mut Lcs::default())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn no_chain_is_longer(seconds in Just((0..40).collect::<Vec<usize>>()).prop_shuffle()) {
            let pairs: Vec<[usize; 2]> = seconds.iter().enumerate().map(|(first, &second)| [first, second]).collect();
            let chain = longest_rising(&pairs);
            prop_assert!(chain.windows(2).all(|pair| pair[0][0] < pair[1][0] && pair[0][1] < pair[1][1]));
            prop_assert_eq!(chain.len(), longest(&seconds));
        }

        /// Runs are of equal words, ascend, are apart in at least one text, and end with the texts.
        #[test]
        fn runs_are_common(
            a in prop::collection::vec(0u32..30, 0..60),
            b in prop::collection::vec(0u32..30, 0..60),
            pad in prop::collection::vec(30u32..60, 2500),
            long: bool,
        ) {
            let [a, b] = match long {
                true => [[&pad[..], &a].concat(), [&a[..], &pad, &b].concat()],
                false => [a, b],
            };
            let runs = runs_of(&text(&a), &text(&b));
            for run in &runs {
                prop_assert_eq!(&a[run.a..][..run.tokens], &b[run.b..][..run.tokens]);
            }
            for pair in runs.windows(2) {
                let ends = [pair[0].a + pair[0].tokens, pair[0].b + pair[0].tokens];
                prop_assert!(ends[0] <= pair[1].a && ends[1] <= pair[1].b && ends != [pair[1].a, pair[1].b]);
            }
            let last = runs[runs.len() - 1];
            prop_assert_eq!([last.a + last.tokens, last.b + last.tokens], [a.len(), b.len()]);
        }

        /// Insertions and deletions of any length are found as they were made, in texts in which no run of words is repeated. What was
        /// inserted or deleted has no word in common with the rest, so that no other alignment is as long.
        #[test]
        fn planted_edits_are_found(
            edits in prop::collection::btree_map(1usize..300, (any::<bool>(), 1usize..6000), 0..4),
            seed: u64,
        ) {
            const PART: usize = 40;
            // A number that is not used elsewhere in three of four words; the others are frequent in the same part.
            let word = |first: usize, at: usize| {
                let random = seed.wrapping_add((first + at) as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 62;
                (first + if random == 0 { at % 5 } else { 10 + at }) as u32
            };
            let (mut a, mut b, mut next, mut apart) = (Vec::new(), Vec::new(), 0, 0);
            for part in 0..300 {
                if let Some(&(is_insertion, words)) = edits.get(&part) {
                    let side = if is_insertion { &mut b } else { &mut a };
                    side.extend((0..words).map(|at| word(100_000 * (part + 1), at)));
                    apart += words;
                }
                for side in [&mut a, &mut b] {
                    side.extend((next..next + PART).map(|at| word(0, at)));
                }
                next += PART;
            }
            let runs = runs_of(&text(&a), &text(&b));
            let common: usize = runs.iter().map(|run| run.tokens).sum();
            prop_assert_eq!(common, 300 * PART);
            prop_assert_eq!(a.len() + b.len() - 2 * common, apart);
            prop_assert_eq!(runs.len(), 1 + edits.len());
        }
    }
}
