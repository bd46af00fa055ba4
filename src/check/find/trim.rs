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
