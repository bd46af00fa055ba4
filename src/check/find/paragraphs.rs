//! Paragraphs that are nearly the same: blocks with a common run, compared as a whole.

use super::grams::{GRAM, Text};
use super::lcs::Lcs;
use super::{Document, Options};
use crate::passages::Run;
use crate::similarity::overlap_at_least;
use std::ops::Range;

/// Longer blocks are not compared as a whole: what they have in common is a passage.
const LONGEST: usize = 400;

/// A paragraph is compared with so many others that have as many words in common with it as it needs. Those are its copies,
/// but in a text that was made so that they are not.
const MOST: u32 = 32;

/// How many others each paragraph of a document was compared with.
pub(super) struct Compared {
    times: Vec<u32>,
    /// Whether there were too many for one of them.
    pub cut_short: bool,
}

impl Compared {
    /// Whether a paragraph may be compared with one more.
    fn one_more(&mut self, paragraph: usize) -> bool {
        self.times[paragraph] += 1;
        self.cut_short |= self.times[paragraph] > MOST;
        self.times[paragraph] <= MOST
    }
}

/// The paragraphs of a document.
pub(super) struct Paragraphs {
    places: Vec<Range<usize>>,
    /// How many words each counts for.
    sizes: Vec<usize>,
    /// The words of each, ascending.
    sorted: Vec<Vec<u64>>,
}

impl Paragraphs {
    /// The blocks that are long enough to be similar to one with the fewest words that there must be, and not too long.
    /// Blocks that reach beyond the words, or back into the one before, are left out.
    pub fn new(document: &Document, start: usize, options: &Options) -> Self {
        let shortest = options.paragraph_words.div_ceil(2).max(1);
        let (mut places, mut sizes, mut sorted) = (Vec::new(), Vec::new(), Vec::new());
        let mut end = 0;
        for block in document.blocks {
            let Some(words) = document.words.get(block.clone()) else { continue };
            if block.start < end || !(shortest..=LONGEST).contains(&words.len()) {
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

    /// None of them is compared with any yet.
    pub fn compared(&self) -> Compared {
        Compared { times: vec![0; self.places.len()], cut_short: false }
    }

    /// The numbers of those that share a [`GRAM`] or more with these places.
    fn within(&self, places: &Range<usize>) -> Range<usize> {
        let first = self.places.partition_point(|own| own.end < places.start + GRAM);
        let end = self.places.partition_point(|own| own.start + GRAM <= places.end);
        first..end.max(first)
    }
}

/// How many words two paragraphs of so many words together must have in common. The items of a list are often written alike:
/// within one document, paragraphs that are shorter than a passage may have half as many edits.
fn needed(both: usize, are_items: bool, options: &Options) -> usize {
    let edits = both - options.paragraph_similarity.min_overlap(both);
    let edits = if are_items { edits / 2 } else { edits };
    (both - edits).div_ceil(2)
}

/// The pairs of paragraphs of two documents that are similar enough, as equal runs, given the documents' common runs.
pub(super) fn similar(
    text: &Text,
    runs: &[Run],
    own: bool,
    [a, b]: [&Paragraphs; 2],
    options: &Options,
    compared: &mut Compared,
    lcs: &mut Lcs,
) -> Vec<([Range<usize>; 2], Vec<Run>)> {
    let mut pairs = Vec::new();
    for run in runs {
        for j in b.within(&(run.b..run.b + run.tokens)) {
            let shared = run.b.max(b.places[j].start)..(run.b + run.tokens).min(b.places[j].end);
            let there = shared.start - run.b + run.a..shared.end - run.b + run.a;
            pairs.extend(a.within(&there).map(|i| (i, j)));
        }
    }
    pairs.sort_unstable();
    pairs.dedup();
    pairs
        .into_iter()
        .filter_map(|(i, j)| {
            let places = [a.places[i].clone(), b.places[j].clone()];
            let sizes = [a.sizes[i], b.sizes[j]];
            if places[0] == places[1] || sizes[0].max(sizes[1]) < options.paragraph_words {
                return None;
            }
            let is_short = sizes[0] + sizes[1] < options.min_words.saturating_mul(2);
            let needed = needed(places[0].len() + places[1].len(), own && is_short, options);
            // A subsequence keeps no more than the words that both have, in whatever order.
            overlap_at_least(&a.sorted[i], &b.sorted[j], needed).filter(|_| compared.one_more(j))?;
            let mut runs = Vec::new();
            lcs.common(&text.words[places[0].clone()], &text.words[places[1].clone()], &mut runs);
            let matched: usize = runs.iter().map(|run| run.tokens).sum();
            runs.iter_mut().for_each(|run| (run.a, run.b) = (run.a + places[0].start, run.b + places[1].start));
            (matched >= needed).then_some((places, runs))
        })
        .collect()
}
