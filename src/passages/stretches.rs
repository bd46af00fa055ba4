//! The similar stretches of a part of a document: seeds are extended to runs, runs are chained, chains are aligned.

use super::Run;
use super::align::{Aligner, Part, Words, chains, similar_parts, words_of};
use super::classes::Similar;
use super::later::Later;
use super::locate::Documents;
use super::longer::{Least, longer};
use super::reduced::reduce_beyond;
use super::seeds::promising;
use crate::error::Error;
use crate::postings::{Cached, Stored};
use crate::similarity::Threshold;
use std::collections::VecDeque;
use std::mem::take;
use std::ops::Range;

/// The tokens of a document that are looked at together. Alignments reach as far beyond them.
pub(super) const WINDOW: usize = 1 << 17;

/// The tokens that are read beyond those asked for, before and after them, if they are in a file. Most places that share a k-gram have little
/// else in common: reading more costs more than it saves.
const BEYOND: usize = 1 << 6;

/// The tokens of which those that count half are counted at a time.
const COUNTED: usize = 1 << 9;

/// What is aligned in a window, as a multiple of its tokens, at most; for a window of few tokens, of so many. Each pair that is found counts
/// as so many tokens.
const MAX_RATIO: usize = 64;
const LEAST_TOKENS: usize = 1 << 10;

/// The alignments with a document that are remembered, so that their seeds are not aligned again.
const REMEMBERED: usize = 8;

/// Buffers of so many elements are reused from window to window; longer ones are rare.
const REUSED: usize = 1 << 9;

/// Pairs of similar places of a window.
#[derive(Default)]
pub(super) struct Pairs {
    /// Where alignments score best.
    pub best: Vec<Similar>,
    /// Where that was too short, with what is around it.
    pub longer: Vec<Similar>,
    /// The number of each beyond which those with the same places are removed.
    reduced_beyond: [usize; 2],
}

impl Pairs {
    fn len(&self) -> usize {
        self.best.len() + self.longer.len()
    }

    fn reduce(&mut self) {
        let [best, longer] = &mut self.reduced_beyond;
        reduce_beyond(&mut self.best, best, distinct);
        reduce_beyond(&mut self.longer, longer, distinct);
    }
}

/// A part of a document, with the numbers of its seeds and of its exact ranges.
pub(super) struct Window {
    pub document: u32,
    pub range: Range<u64>,
    pub seeds: Range<usize>,
    pub exact: Range<usize>,
}

/// Tokens, in memory or in a file, of which two ranges are read at a time.
pub(super) struct StoredWords<'t> {
    tokens: &'t Stored,
    cached: Cached<'t>,
    /// What was read last on each side.
    read: [(usize, Vec<u64>); 2],
}

impl<'t> StoredWords<'t> {
    pub fn new(tokens: &'t Stored) -> Self {
        StoredWords { tokens, cached: Cached::new(tokens), read: Default::default() }
    }

    fn read(&mut self, side: usize, range: &Range<usize>) -> Result<(), Error> {
        let (first, words) = &mut self.read[side];
        if *first <= range.start && range.end <= *first + words.len() {
            return Ok(());
        }
        *first = range.start.saturating_sub(BEYOND);
        let end = (self.tokens.len() as usize).min(range.end + BEYOND);
        words.clear();
        words.extend_from_slice(self.cached.read(*first as u64..end as u64)?);
        Ok(())
    }

    /// The number of words in a range, where some tokens count half.
    ///
    /// # Errors
    /// They cannot be read.
    pub fn size(&mut self, range: Range<u64>) -> Result<u64, Error> {
        self.half_words(range).map(|halves| halves.div_ceil(2))
    }

    /// Twice the number of words in a range.
    ///
    /// # Errors
    /// They cannot be read.
    pub fn half_words(&mut self, range: Range<u64>) -> Result<u64, Error> {
        let mut halves = 0;
        for start in range.clone().step_by(COUNTED) {
            let part = start..(start + COUNTED as u64).min(range.end);
            let tokens = match self.tokens.in_memory() {
                Some(tokens) => &tokens[part.start as usize..part.end as usize],
                None => self.cached.read(part)?,
            };
            halves += tokens.iter().map(|token| token & 1).sum::<u64>();
        }
        Ok(2 * (range.end - range.start) - halves)
    }
}

impl Words for StoredWords<'_> {
    type Error = Error;

    fn pair(&mut self, a: Range<usize>, b: Range<usize>) -> Result<[&[u64]; 2], Error> {
        if let Some(tokens) = self.tokens.in_memory() {
            return Ok([&tokens[a], &tokens[b]]);
        }
        self.read(0, &a)?;
        self.read(1, &b)?;
        let of = |side: usize, range: Range<usize>| {
            let (first, words) = &self.read[side];
            if range.is_empty() { &[][..] } else { &words[range.start - first..range.end - first] }
        };
        Ok([of(0, a), of(1, b)])
    }
}

/// Finds similar stretches.
pub(super) struct Stretches<'t> {
    aligner: Aligner<StoredWords<'t>>,
    documents: &'t Documents,
    min_words: u64,
    has_halves: bool,
    /// The ranges of the document before, and of this one around the window.
    ranges: [Range<usize>; 2],
    /// The tokens that may still be aligned in a window.
    left: usize,
    buffers: Buffers,
}

/// What is reused: most windows have a few short alignments.
#[derive(Default)]
struct Buffers {
    equal: Vec<(usize, usize, usize)>,
    runs: Vec<(u32, Run)>,
    of_one: Vec<Run>,
    aligned: Vec<Run>,
    parts: Vec<Part>,
    remembered: Remembered,
}

/// The last alignments with a document.
#[derive(Default)]
struct Remembered {
    /// The last one first. Those from `count` on are left from an earlier document: only their memory is used.
    alignments: VecDeque<Vec<Run>>,
    count: usize,
}

impl Remembered {
    fn add(&mut self, runs: impl Iterator<Item = Run>) {
        if self.count == self.alignments.len() && self.count < REMEMBERED {
            self.alignments.push_front(Vec::new());
        } else {
            self.alignments.rotate_right(1);
        }
        self.count = REMEMBERED.min(self.count + 1);
        let last = &mut self.alignments[0];
        last.clear();
        last.extend(runs);
        last.shrink_to(REUSED);
    }

    /// Whether a run is in one of them.
    fn holds(&self, run: &Run) -> bool {
        self.alignments.iter().take(self.count).any(|runs| holds(runs, run))
    }

    fn clear(&mut self) {
        self.count = 0;
        self.alignments.retain(|runs| runs.capacity() <= REUSED);
    }
}

/// Empties a buffer and keeps it, shrunk to [`REUSED`] elements.
fn reuse<T>(mut buffer: Vec<T>, kept: &mut Vec<T>) {
    buffer.clear();
    buffer.shrink_to(REUSED);
    *kept = buffer;
}

impl<'t> Stretches<'t> {
    pub fn new(
        words: StoredWords<'t>,
        documents: &'t Documents,
        similarity: Threshold,
        (min_words, has_halves): (usize, bool),
    ) -> Self {
        let aligner = Aligner::new(words, similarity);
        let min_words = min_words as u64;
        let (ranges, buffers) = Default::default();
        Stretches { aligner, documents, min_words, has_halves, ranges, left: 0, buffers }
    }

    /// The pairs of similar places of which the later one has a seed in a window, or an exact range: those of which the longer place has the
    /// minimum length, as they are found.
    ///
    /// # Errors
    /// Tokens cannot be read.
    pub fn of_window(&mut self, window: &Window, seeds: &[[u64; 2]], exact: &[Later]) -> Result<Pairs, Error> {
        let own = self.document(window.document);
        let (start, end) = (window.range.start as usize, window.range.end as usize);
        self.ranges[1] = own.start.max(start.saturating_sub(WINDOW))..own.end.min(end + WINDOW);
        self.left = MAX_RATIO * (end - start).max(LEAST_TOKENS);
        let exact = exact.iter().filter(|range| range.first + u64::from(range.tokens) <= range.start);
        let mut equal = take(&mut self.buffers.equal);
        promising(seeds, |[b, a]| equal.push(((b - a) as usize, b as usize, 0)));
        equal.extend(
            exact.map(|range| ((range.start - range.first) as usize, range.start as usize, range.tokens as usize)),
        );
        equal.sort_unstable();
        let mut runs = self.runs(&equal)?;
        reuse(equal, &mut self.buffers.equal);
        runs.sort_unstable_by_key(|&(document, run)| (document, run.b, run.a));
        let (mut pairs, mut of_one) = (Pairs::default(), take(&mut self.buffers.of_one));
        for with in runs.chunk_by(|x, y| x.0 == y.0) {
            of_one.clear();
            of_one.extend(with.iter().map(|&(_, run)| run));
            self.with(with[0].0, &of_one, window.document == with[0].0, &mut pairs)?;
        }
        reuse(of_one, &mut self.buffers.of_one);
        reuse(runs, &mut self.buffers.runs);
        pairs.best.shrink_to_fit();
        pairs.longer.shrink_to_fit();
        Ok(pairs)
    }

    fn document(&self, number: u32) -> Range<usize> {
        let starts = &self.documents.starts;
        starts[number as usize] as usize..starts[number as usize + 1] as usize
    }

    /// The runs through places that are given by their distance, the later place, and the tokens that are known to be equal: each with the
    /// document of the earlier place. The two places of a run do not overlap.
    fn runs(&mut self, equal: &[(usize, usize, usize)]) -> Result<Vec<(u32, Run)>, Error> {
        let mut runs = take(&mut self.buffers.runs);
        let (mut last, mut document, mut range) = ((0, 0), 0, 0..0);
        for &(apart, b, known) in equal {
            let is_known = last.0 == apart && b < last.1 && b + known <= last.1;
            if is_known || self.left == 0 && known == 0 {
                continue;
            }
            let a = b - apart;
            if !range.contains(&a) {
                document = self.documents.number_at(a as u64);
                range = self.document(document);
            }
            let most = if range.contains(&b) { apart } else { usize::MAX };
            self.ranges[0] = range.clone();
            let run = self.run([a, b], known, most)?;
            if run.tokens > 0 {
                last = (apart, run.b + run.tokens);
                runs.push((document, run));
            }
        }
        Ok(runs)
    }

    /// The run through two places of which some tokens are known to be equal, with at most so many tokens.
    fn run(&mut self, [a, b]: [usize; 2], known: usize, most: usize) -> Result<Run, Error> {
        let [of_a, of_b] = &self.ranges;
        let (to, end) = ((a + known).min(of_a.end), of_b.end.max(b + known));
        let after = [a..of_a.end.min(a.saturating_add(most)), b..end];
        let after = known + self.aligner.equal_after(&after, [to, b + known])?;
        if after == 0 {
            return Ok(Run { a, b, tokens: 0 });
        }
        let [of_a, of_b] = &self.ranges;
        let before = [of_a.start.max(a.saturating_sub(most - after)), of_b.start.min(b)];
        let before = self.aligner.equal_before(&before.map(|start| start..usize::MAX), [a, b])?;
        self.left = self.left.saturating_sub(before + after - known);
        Ok(Run { a: a - before, b: b - before, tokens: before + after })
    }

    /// The similar stretches of the window and of another document that have these runs.
    fn with(&mut self, document: u32, runs: &[Run], own: bool, pairs: &mut Pairs) -> Result<(), Error> {
        self.ranges[0] = self.document(document);
        let chains = chains(runs, own);
        let mut chains: Vec<&[Run]> = chains.iter().collect();
        chains.sort_unstable_by_key(|chain| (chain[0].b, chain[0].a));
        let longest_of = |chain: &[Run]| *chain.iter().max_by_key(|run| run.tokens).expect("a chain has runs");
        // No shorter run of an alignment holds the longest one of a chain: it need not be remembered.
        let least = chains.iter().map(|chain| longest_of(chain).tokens).min().unwrap_or_default();
        let Buffers { aligned, parts, remembered, .. } = &mut self.buffers;
        let (mut aligned, mut parts, mut remembered) = (take(aligned), take(parts), take(remembered));
        for chain in chains {
            let longest = &longest_of(chain);
            if self.left == 0 || remembered.holds(longest) {
                continue;
            }
            let [of_a, of_b] = self.ranges.clone();
            // Exact ranges may go beyond what is looked at.
            let last = chain[chain.len() - 1];
            let of_b = of_b.start.min(chain[0].b)..of_b.end.max(last.b + last.tokens);
            self.aligner.extended(&[of_a, of_b], chain, own, &mut aligned)?;
            let (first, last) = (aligned[0], aligned[aligned.len() - 1]);
            let found = pairs.len();
            similar_parts(&aligned, self.aligner.similarity, &mut parts);
            let mut long = Vec::new();
            for part in &parts {
                if let Some(pair) = self.similar(&aligned[part.runs.clone()])? {
                    pairs.best.push(pair);
                    long.push(part.runs.clone());
                }
            }
            let mut next = 0;
            for part in &parts {
                if long.get(next) == Some(&part.runs) {
                    next += 1;
                    continue;
                }
                let start = next.checked_sub(1).map_or(0, |before| long[before].end);
                let end = long.get(next).map_or(aligned.len(), |after| after.start);
                let own = part.runs.start - start..part.runs.end - start;
                pairs.longer.extend(self.longer(&aligned[start..end], own)?);
            }
            // So a window has about as many pairs as tokens at most.
            let new = pairs.len() - found;
            self.left = self.left.saturating_sub((last.b + last.tokens - first.b).max(MAX_RATIO * new));
            pairs.reduce();
            remembered.add(aligned.iter().filter(|run| run.tokens >= least).copied());
        }
        remembered.clear();
        self.buffers.remembered = remembered;
        reuse(aligned, &mut self.buffers.aligned);
        reuse(parts, &mut self.buffers.parts);
        Ok(())
    }

    /// The pair from the first to the last of these runs, if it is similar and long enough.
    fn similar(&mut self, runs: &[Run]) -> Result<Option<Similar>, Error> {
        let (start, last) = (runs[0], runs[runs.len() - 1]);
        let first = start.a as u64..(last.a + last.tokens) as u64;
        let later = start.b as u64..(last.b + last.tokens) as u64;
        let longer = if later.end - later.start > first.end - first.start { &later } else { &first };
        let matched = words_of(runs);
        let both = first.end - first.start + later.end - later.start;
        let is_similar = self.aligner.similarity.reached_by(2 * matched as u64, both);
        let is_found = is_similar && self.is_long(longer.clone(), runs)?;
        Ok(is_found.then_some(Similar { first, later, matched: matched as u32 }))
    }

    /// The pair from a part of these runs that is too short, with what is around it up to parts that are not.
    fn longer(&mut self, runs: &[Run], part: Range<usize>) -> Result<Option<Similar>, Error> {
        let least = Least { half_words: 2 * self.min_words, similarity: self.aligner.similarity };
        let (words, has_halves) = (&mut self.aligner.words, self.has_halves);
        let mut size = |range: Range<usize>| match has_halves {
            true => words.half_words(range.start as u64..range.end as u64),
            false => Ok(2 * range.len() as u64),
        };
        match longer(runs, part, least, &mut size)? {
            Some(runs_of_all) => self.similar(&runs[runs_of_all]),
            None => Ok(None),
        }
    }

    /// Whether a place has the minimum length, where words without a match count twice: an edited copy has edits at its ends, too, but is
    /// found from the first to the last match only.
    fn is_long(&mut self, longer: Range<u64>, runs: &[Run]) -> Result<bool, Error> {
        let tokens = longer.end - longer.start;
        if !self.has_halves || tokens >= 2 * self.min_words {
            return Ok((2 * tokens).saturating_sub(words_of(runs) as u64) >= self.min_words);
        }
        let words = &mut self.aligner.words;
        let mut matched = 0;
        for run in runs {
            matched += words.half_words(run.a as u64..(run.a + run.tokens) as u64)?;
        }
        Ok((2 * words.half_words(longer)?).saturating_sub(matched) >= 2 * self.min_words)
    }
}

/// Sorts pairs, and leaves one of those with the same places: alignments that begin at several seeds are the same where a text repeats
/// itself.
pub(super) fn distinct(similar: &mut Vec<Similar>) {
    similar.sort_unstable_by_key(Similar::order);
    similar.dedup_by(|next, before| next.first == before.first && next.later == before.later);
}

/// Whether a run is in one of these, which ascend.
fn holds(runs: &[Run], run: &Run) -> bool {
    let last = runs[..runs.partition_point(|other| other.b <= run.b)].last();
    last.is_some_and(|last| last.b + run.a == last.a + run.b && run.b + run.tokens <= last.b + last.tokens)
}
