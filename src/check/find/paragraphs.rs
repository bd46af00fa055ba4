//! Near-equal paragraphs: blocks with a common run, compared as a whole.

use super::grams::{GRAM, Text};
use super::select::disjoint;
use super::{Document, FindOptions};
use crate::passages::Run;
use crate::passages::lcs::Lcs;
use crate::similarity::overlap_at_least;
use std::ops::Range;

/// Maximum length in words of a block that is compared as a whole. What longer blocks share is a passage.
const MAX_WORDS: usize = 400;

/// Maximum number of comparisons of a paragraph with others that share enough words with it. Except in adversarial texts, those are
/// its copies.
const MAX_COMPARISONS: u32 = 32;

/// Counts the comparisons of each paragraph of a document.
pub(super) struct Compared {
    times: Vec<u32>,
    /// Whether a paragraph reached the limit.
    pub cut_short: bool,
}

impl Compared {
    /// Counts one more comparison. Returns whether the paragraph may be compared.
    fn one_more(&mut self, paragraph: usize) -> bool {
        self.times[paragraph] += 1;
        self.cut_short |= self.times[paragraph] > MAX_COMPARISONS;
        self.times[paragraph] <= MAX_COMPARISONS
    }
}

/// The paragraphs of a document.
pub(super) struct Paragraphs {
    places: Vec<Range<usize>>,
    /// The size of each, in words.
    sizes: Vec<usize>,
    /// The words of each, sorted.
    sorted: Vec<Vec<u64>>,
}

impl Paragraphs {
    /// The blocks with a length that allows a similar paragraph of the minimum length. Blocks that are out of range, or overlap the one
    /// before, are skipped.
    pub fn new(document: &Document, start: usize, options: &FindOptions) -> Self {
        let shortest = options.paragraph_words.div_ceil(2).max(1);
        let (mut places, mut sizes, mut sorted) = (Vec::new(), Vec::new(), Vec::new());
        let mut end = 0;
        for block in document.blocks {
            let Some(words) = document.words.get(block.clone()) else { continue };
            if block.start < end || !(shortest..=MAX_WORDS).contains(&words.len()) {
                continue;
            }
            end = block.end;
            places.push(start + block.start..start + block.end);
            sizes.push(super::size(words));
            let mut words = words.to_vec();
            words.sort_unstable();
            sorted.push(words);
        }
        Paragraphs { places, sizes, sorted }
    }

    /// Counters at zero.
    pub fn compared(&self) -> Compared {
        Compared { times: vec![0; self.places.len()], cut_short: false }
    }

    /// The indices of those that share at least [`GRAM`] words with these places.
    fn within(&self, places: &Range<usize>) -> Range<usize> {
        let first = self.places.partition_point(|own| own.end < places.start + GRAM);
        let end = self.places.partition_point(|own| own.start + GRAM <= places.end);
        first..end.max(first)
    }
}

/// How many words two paragraphs with `both` words in total must share. The items of a list are often worded alike: within one
/// document, paragraphs shorter than a passage may have only half as many edits.
fn needed(both: usize, are_items: bool, options: &FindOptions) -> usize {
    let edits = both - options.paragraph_similarity.min_overlap(both);
    let edits = if are_items { edits / 2 } else { edits };
    (both - edits).div_ceil(2)
}

/// The part of a common run that is in both places.
fn clipped(run: &Run, places: &[Range<usize>; 2]) -> Option<Run> {
    let cut = places[0].start.saturating_sub(run.a).max(places[1].start.saturating_sub(run.b));
    let (a, b) = (run.a + cut, run.b + cut);
    let tokens =
        run.tokens.saturating_sub(cut).min(places[0].end.saturating_sub(a)).min(places[1].end.saturating_sub(b));
    (tokens >= GRAM).then_some(Run { a, b, tokens })
}

/// The equal runs of two paragraphs, in any order, if they have enough words.
fn reordered(runs: impl Iterator<Item = Run>, places: &[Range<usize>; 2], needed: usize) -> Option<Vec<Run>> {
    let runs = disjoint(runs.filter_map(|run| clipped(&run, places)).collect());
    (runs.iter().map(|run| run.tokens).sum::<usize>() >= needed).then_some(runs)
}

/// The pairs of paragraphs of two documents that are similar enough, as equal runs, given the documents' common runs. The runs ascend in
/// both paragraphs, unless only [`FindOptions::strict`] finds them.
pub(super) fn similar(
    text: &Text,
    runs: &[Run],
    own: bool,
    [a, b]: [&Paragraphs; 2],
    options: &FindOptions,
    compared: &mut Compared,
    lcs: &mut Lcs,
) -> Vec<([Range<usize>; 2], Vec<Run>)> {
    let mut pairs = Vec::new();
    for (number, run) in runs.iter().enumerate() {
        for j in b.within(&(run.b..run.b + run.tokens)) {
            let shared = run.b.max(b.places[j].start)..(run.b + run.tokens).min(b.places[j].end);
            let other = shared.start - run.b + run.a..shared.end - run.b + run.a;
            pairs.extend(a.within(&other).map(|i| (i, j, number)));
        }
    }
    pairs.sort_unstable();
    pairs
        .chunk_by(|x, y| (x.0, x.1) == (y.0, y.1))
        .filter_map(|common| {
            let (i, j, _) = common[0];
            let places = [a.places[i].clone(), b.places[j].clone()];
            let sizes = [a.sizes[i], b.sizes[j]];
            if places[0] == places[1] || sizes[0].max(sizes[1]) < options.paragraph_words {
                return None;
            }
            let is_short = sizes[0] + sizes[1] < options.min_words.saturating_mul(2);
            let needed = needed(places[0].len() + places[1].len(), own && is_short, options);
            // A common subsequence has no more words than both share in any order.
            overlap_at_least(&a.sorted[i], &b.sorted[j], needed).filter(|_| compared.one_more(j))?;
            let mut equal = Vec::new();
            lcs.common(&text.words[places[0].clone()], &text.words[places[1].clone()], &mut equal);
            let matched: usize = equal.iter().map(|run| run.tokens).sum();
            equal.iter_mut().for_each(|run| (run.a, run.b) = (run.a + places[0].start, run.b + places[1].start));
            if matched < needed {
                let common = common.iter().filter(|_| options.strict).map(|&(.., number)| runs[number]);
                equal = reordered(common, &places, needed)?;
            }
            Some((places, equal))
        })
        .collect()
}
