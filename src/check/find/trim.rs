//! Trims passages that reach only a few words into the next block: the first words of two headings are often the same.

use super::grams::GRAM;
use crate::passages::Run;
use std::ops::Range;

/// Cuts off fewer than [`GRAM`] words of a block that continues beyond the passage, at both ends and in both documents. `blocks` are
/// ranges of words in their documents, which start at `starts`.
///
/// A passage that reaches its own copy, in one document, belongs to a list of items that are worded alike, and begins and ends anywhere
/// in an item. There, less than half of a block is cut off.
pub(super) fn trim(runs: &mut Vec<Run>, blocks: [&[Range<usize>]; 2], starts: [usize; 2], own: bool) {
    let reaches_copy = |first: &Run, last: &Run| first.b < last.a + last.tokens + GRAM;
    let is_list = own && runs.first().zip(runs.last()).is_some_and(|(first, last)| reaches_copy(first, last));
    for (side, (blocks, offset)) in blocks.into_iter().zip(starts).enumerate() {
        let place = move |run: &Run| [run.a, run.b][side] - offset;
        let ends = |runs: &[Run]| Some(place(runs.first()?)..place(runs.last()?) + runs.last()?.tokens);
        if let Some(start) = ends(runs).and_then(|words| begin(blocks, words, is_list)) {
            runs.retain_mut(|run| {
                let cut = start.saturating_sub(place(run)).min(run.tokens);
                *run = Run { a: run.a + cut, b: run.b + cut, tokens: run.tokens - cut };
                run.tokens > 0
            });
        }
        if let Some(end) = ends(runs).and_then(|words| end(blocks, words, is_list)) {
            runs.retain_mut(|run| {
                run.tokens = run.tokens.min(end.saturating_sub(place(run)));
                run.tokens > 0
            });
        }
    }
}

/// Splits a passage into parts that are within one block in both documents. `blocks` are ranges of words in their documents, which start
/// at `starts`.
pub(super) fn within_blocks(runs: &[Run], blocks: [&[Range<usize>]; 2], starts: [usize; 2]) -> Vec<Vec<Run>> {
    let block = |side: usize, place: usize| blocks[side].partition_point(|block| block.end + starts[side] <= place);
    let end =
        |side: usize, number: usize| blocks[side].get(number).map_or(usize::MAX, |block| block.end + starts[side]);
    let (mut parts, mut last): (Vec<Vec<Run>>, _) = (Vec::new(), None);
    for run in runs {
        let mut rest = *run;
        while rest.tokens > 0 {
            let own = [block(0, rest.a), block(1, rest.b)];
            let tokens = rest.tokens.min(end(0, own[0]) - rest.a).min(end(1, own[1]) - rest.b);
            if last.replace(own) != Some(own) {
                parts.push(Vec::new());
            }
            parts.last_mut().expect("one was added").push(Run { tokens, ..rest });
            rest = Run { a: rest.a + tokens, b: rest.b + tokens, tokens: rest.tokens - tokens };
        }
    }
    parts
}

/// The new start of a passage that starts in the last words of a block.
fn begin(blocks: &[Range<usize>], words: Range<usize>, is_list: bool) -> Option<usize> {
    let block = blocks.get(blocks.partition_point(|block| block.end <= words.start))?;
    let inside = block.end - words.start;
    let is_item = is_list && block.end < words.end;
    let is_scrap = inside < GRAM || is_item && 2 * inside < block.len();
    (block.start < words.start && is_scrap).then_some(block.end)
}

/// The new end of a passage that ends in the first words of a block.
fn end(blocks: &[Range<usize>], words: Range<usize>, is_list: bool) -> Option<usize> {
    let block = blocks.get(blocks.partition_point(|block| block.end < words.end))?;
    let inside = words.end.checked_sub(block.start).filter(|&inside| inside > 0)?;
    let is_item = is_list && words.start < block.start;
    let is_scrap = inside < GRAM || is_item && 2 * inside < block.len();
    (words.end < block.end && is_scrap).then_some(block.start)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trimmed(runs: &[Run], blocks: [&[Range<usize>]; 2]) -> Vec<Run> {
        let mut runs = runs.to_vec();
        trim(&mut runs, blocks, [100, 200], false);
        runs
    }

    #[test]
    fn passages_of_a_list_end_with_its_items() {
        let items: Vec<Range<usize>> = (0..9).map(|item| 10 * item..10 * item + 10).collect();
        let trimmed = |runs: &[Run]| {
            let mut runs = runs.to_vec();
            trim(&mut runs, [&items; 2], [100, 100], true);
            runs
        };
        let run = |a: usize, b: usize, tokens| Run { a: 100 + a, b: 100 + b, tokens };
        // Four words of ten at an end are cut off, six are not.
        assert_eq!(trimmed(&[run(6, 36, 28)]), [run(10, 40, 20)]);
        assert_eq!(trimmed(&[run(4, 34, 30)]), [run(4, 34, 26)]);
        assert_eq!(trimmed(&[run(4, 34, 16), run(21, 51, 13)]), [run(4, 34, 16), run(21, 51, 9)]);
        // What is within one item stays.
        assert_eq!(trimmed(&[run(0, 4, 4)]), [run(0, 4, 4)]);
        // The copy is elsewhere.
        assert_eq!(trimmed(&[run(6, 46, 28)]), [run(6, 46, 28)]);
    }

    #[test]
    fn parts_are_within_one_block() {
        let run = |a: usize, b: usize, tokens| Run { a: 100 + a, b: 200 + b, tokens };
        let parts = |runs: &[Run], blocks| within_blocks(runs, blocks, [100, 200]);
        let runs = [run(2, 12, 3), run(6, 15, 20)];
        assert_eq!(parts(&runs, [&[0..40, 40..50], &[0..90, 90..99]]), [runs.to_vec()]);
        assert_eq!(parts(&runs, [&[0..6, 6..40], &[0..90, 90..99]]), [[runs[0]], [runs[1]]]);
        let cut = [vec![runs[0], run(6, 15, 5)], vec![run(11, 20, 15)]];
        assert_eq!(parts(&runs, [&[0..40, 40..50], &[0..20, 20..90]]), cut);
        assert_eq!(
            parts(&runs, [&[0..11, 11..40], &[0..20, 20..30]]),
            [cut[0].clone(), vec![run(11, 20, 10)], vec![run(21, 30, 5)]]
        );
        assert_eq!(parts(&runs, [&[], &[]]), [runs.to_vec()]);
    }

    #[test]
    fn scraps_are_cut_off() {
        let run = |a: usize, b: usize, tokens| Run { a: 100 + a, b: 200 + b, tokens };
        let runs = [run(2, 12, 3), run(6, 15, 20)];
        // Whole blocks, or at least four words of one, stay.
        assert_eq!(trimmed(&runs, [&[2..26, 26..40], &[]]), runs);
        assert_eq!(trimmed(&runs, [&[0..6, 6..22, 22..40], &[]]), runs);
        // Two words at the end of a block; then three at the beginning of another, in the other document.
        assert_eq!(trimmed(&runs, [&[0..4, 4..40], &[]]), [run(4, 14, 1), run(6, 15, 20)]);
        assert_eq!(trimmed(&runs, [&[], &[10..15, 15..32, 32..90]]), [run(6, 15, 17)]);
        assert_eq!(trimmed(&[run(0, 0, 3)], [&[0..3, 3..9], &[0..9, 9..12]]), []);
    }
}
