//! Trims passages that reach only a few words into the next block: the first words of two headings are often the same.

use super::grams::GRAM;
use crate::passages::Run;
use std::ops::Range;

/// Cuts off fewer than [`GRAM`] words of a block that continues beyond the passage, at both ends and in both documents. `blocks` are
/// ranges of words in their documents, which start at `starts`.
pub(super) fn trim(runs: &mut Vec<Run>, blocks: [&[Range<usize>]; 2], starts: [usize; 2]) {
    for (side, (blocks, offset)) in blocks.into_iter().zip(starts).enumerate() {
        let place = move |run: &Run| [run.a, run.b][side] - offset;
        if let Some(start) = runs.first().and_then(|run| begin(blocks, place(run))) {
            runs.retain_mut(|run| {
                let cut = start.saturating_sub(place(run)).min(run.tokens);
                *run = Run { a: run.a + cut, b: run.b + cut, tokens: run.tokens - cut };
                run.tokens > 0
            });
        }
        if let Some(end) = runs.last().and_then(|run| end(blocks, place(run) + run.tokens)) {
            runs.retain_mut(|run| {
                run.tokens = run.tokens.min(end.saturating_sub(place(run)));
                run.tokens > 0
            });
        }
    }
}

/// The new start of a passage that starts in the last words of a block.
fn begin(blocks: &[Range<usize>], first: usize) -> Option<usize> {
    let block = blocks.get(blocks.partition_point(|block| block.end <= first))?;
    (block.start < first && block.end - first < GRAM).then_some(block.end)
}

/// The new end of a passage that ends in the first words of a block.
fn end(blocks: &[Range<usize>], end: usize) -> Option<usize> {
    let block = blocks.get(blocks.partition_point(|block| block.end < end))?;
    (block.start < end && end < block.end && end - block.start < GRAM).then_some(block.start)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trimmed(runs: &[Run], blocks: [&[Range<usize>]; 2]) -> Vec<Run> {
        let mut runs = runs.to_vec();
        trim(&mut runs, blocks, [100, 200]);
        runs
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
