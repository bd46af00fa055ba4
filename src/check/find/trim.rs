//! Where a passage ends when it reaches a few words into the next block: the first words of two headings are often the same.

use super::grams::GRAM;
use crate::passages::Run;
use std::ops::Range;

/// Cuts off less than [`GRAM`] words of a block that goes on beyond the passage, at both ends and in both documents. The
/// blocks are by word numbers of their documents, which begin at these places.
pub(super) fn trim(runs: &mut Vec<Run>, blocks: [&[Range<usize>]; 2], starts: [usize; 2]) {
    for (side, (blocks, start)) in blocks.into_iter().zip(starts).enumerate() {
        let place = move |run: &Run| [run.a, run.b][side] - start;
        if let Some(least) = runs.first().and_then(|run| begin(blocks, place(run))) {
            runs.retain_mut(|run| {
                let cut = least.saturating_sub(place(run)).min(run.tokens);
                *run = Run { a: run.a + cut, b: run.b + cut, tokens: run.tokens - cut };
                run.tokens > 0
            });
        }
        if let Some(most) = runs.last().and_then(|run| end(blocks, place(run) + run.tokens)) {
            runs.retain_mut(|run| {
                run.tokens = run.tokens.min(most.saturating_sub(place(run)));
                run.tokens > 0
            });
        }
    }
}

/// Where a passage begins that begins in the last words of a block.
fn begin(blocks: &[Range<usize>], first: usize) -> Option<usize> {
    let block = blocks.get(blocks.partition_point(|block| block.end <= first))?;
    (block.start < first && block.end - first < GRAM).then_some(block.end)
}

/// Where a passage ends that ends in the first words of a block.
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
        // Two words at the end of a block; then three at the beginning of another, by the other document.
        assert_eq!(trimmed(&runs, [&[0..4, 4..40], &[]]), [run(4, 14, 1), run(6, 15, 20)]);
        assert_eq!(trimmed(&runs, [&[], &[10..15, 15..32, 32..90]]), [run(6, 15, 17)]);
        assert_eq!(trimmed(&[run(0, 0, 3)], [&[0..3, 3..9], &[0..9, 9..12]]), []);
    }
}
