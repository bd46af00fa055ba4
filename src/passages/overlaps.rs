//! Passages whose text is mostly in longer ones, such as a menu with one word more or less.
//!
//! Two passages can have most of their text in common and no place: what both have is a passage, too, with the places of both, but one that
//! is left out. So tokens are compared by where they stand first: the tokens of a repeat are the same at all of its places.

use super::covered::Covered;
use super::later::{Later, Which, later};
use super::pieces::{Pieces, cover};
use super::repeats::FindOptions;
use super::text::{BYTES_BESIDE, Text};
use crate::error::Error;
use std::cmp::Reverse;
use std::ops::Range;

/// Where tokens stand first, of those that stand in repeats.
pub(super) struct Origins {
    /// Ranges of tokens that stand earlier, in order; none overlaps another one.
    pieces: Vec<Later>,
    /// The number of all tokens.
    tokens: u64,
}

impl Origins {
    /// Those of a text whose groups are sorted.
    ///
    /// # Errors
    /// They do not fit this memory, or a temporary file cannot be read.
    pub fn find(text: &Text, options: &FindOptions, memory: u64) -> Result<Self, Error> {
        // Places in a reference too: first places are there.
        let options = FindOptions { references: None, ..*options };
        let (later, _) = later(text, &options, Which::NotInFirst, memory)?;
        let most = (memory / 4).saturating_add(BYTES_BESIDE) / size_of::<Later>() as u64;
        let mut pieces = Pieces::new(&text.starts, true, most);
        cover(&later, |piece| pieces.cut(piece));
        Ok(Origins { pieces: pieces.finish()?, tokens: text.starts.last().copied().unwrap_or(0) })
    }

    /// Passes on where the tokens of a range stand first, part by part.
    fn of(&self, range: Range<u64>, mut each: impl FnMut(Range<u64>)) {
        let (mut at, mut next) = (range.start, self.pieces.partition_point(|piece| piece.end() <= range.start));
        while at < range.end {
            let piece = self.pieces.get(next);
            let (origin, end) = match piece {
                Some(piece) if piece.start <= at => {
                    next += 1;
                    (piece.first + (at - piece.start), piece.end())
                }
                _ => (at, piece.map_or(range.end, |piece| piece.start)),
            };
            let length = end.min(range.end) - at;
            each(origin..origin + length);
            at += length;
        }
    }

    /// Which of some ranges, so many, have most of their tokens in others: longer ones come first, of equally long ones the earlier one, and
    /// one is left out if at least half of its tokens are in those that stay.
    ///
    /// Cost: a bit for each token of all documents, and five bytes for each range.
    pub fn mostly_in_longer(&self, count: usize, range: impl Fn(usize) -> Range<u64>) -> Vec<bool> {
        let length = |number: u32| range(number as usize).end - range(number as usize).start;
        let (mut left_out, mut stay) = (vec![false; count], Covered::new(self.tokens));
        let mut order: Vec<u32> = (0..count as u32).collect();
        order.sort_by_key(|&number| Reverse(length(number)));
        for number in order {
            let mut missing = 0;
            self.of(range(number as usize), |range| missing += stay.missing(range));
            if 2 * missing <= length(number) {
                left_out[number as usize] = true;
            } else {
                self.of(range(number as usize), |range| stay.add(range));
            }
        }
        left_out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn found(pieces: &[[u64; 3]], ranges: &[Range<u64>]) -> Vec<bool> {
        let piece = |&[start, first, tokens]: &[u64; 3]| Later { start, first, tokens: tokens as u32 };
        let origins = Origins { pieces: pieces.iter().map(piece).collect(), tokens: 300 };
        origins.mostly_in_longer(ranges.len(), |number| ranges[number].clone())
    }

    #[test]
    fn by_hand() {
        // Nothing overlaps.
        assert_eq!(found(&[], &[0..10, 10..20, 30..31]), [false; 3]);
        // Shifted by a few words, and within one.
        assert_eq!(found(&[], &[0..50, 3..53, 10..20]), [false, true, true]);
        // The later one is longer.
        assert_eq!(found(&[], &[0..20, 2..200]), [true, false]);
        // They have less than half in common.
        assert_eq!(found(&[], &[0..20, 15..100]), [false, false]);
        // Half is enough; one token less is not.
        assert_eq!(found(&[], &[0..10, 5..15]), [false, true]);
        assert_eq!(found(&[], &[0..10, 6..16]), [false, false]);
        // What is left out for a longer one leaves nothing out: the first one is not in the last one.
        assert_eq!(found(&[], &[0..20, 10..60, 35..200]), [false, true, false]);
        // In two that stay, together.
        assert_eq!(found(&[], &[0..30, 20..40, 30..60]), [false, true, false]);
        // Elsewhere: 8 of 9 tokens are those from 1 on.
        assert_eq!(found(&[[100, 1, 8]], &[0..9, 1..9, 100..109]), [false, true, true]);
        assert_eq!(found(&[[100, 1, 4]], &[0..9, 1..5, 100..109]), [false, true, false]);
    }

    proptest! {
        /// With sets of tokens: what is left out is mostly in what stays and is as long, and what stays is not.
        #[test]
        fn as_sets(
            ranges in prop::collection::vec((0u64..200, 1u64..60), 0..30),
            pieces in prop::collection::vec((0u64..30, 1u64..20, 0u64..50), 0..6),
        ) {
            let (mut end, mut list) = (50, Vec::new());
            for (gap, tokens, first) in pieces {
                list.push([end + gap, first, tokens.min(50 - first)]);
                end += gap + tokens;
            }
            let origin = |token: u64| {
                let piece = list.iter().find(|&&[start, _, tokens]| (start..start + tokens).contains(&token));
                piece.map_or(token, |[start, first, _]| first + token - start)
            };
            let mut ranges: Vec<Range<u64>> = ranges.into_iter().map(|(start, length)| start..start + length).collect();
            ranges.sort_by_key(|range| (range.start, Reverse(range.end)));
            let left_out = found(&list, &ranges);
            let length = |number: usize| ranges[number].end - ranges[number].start;
            for number in 0..ranges.len() {
                let before = |&other: &usize| (Reverse(length(other)), other) < (Reverse(length(number)), number);
                let stays = (0..ranges.len()).filter(before).filter(|&other| !left_out[other]);
                let tokens: BTreeSet<u64> = stays.flat_map(|other| ranges[other].clone()).map(origin).collect();
                let within = ranges[number].clone().filter(|&token| tokens.contains(&origin(token))).count() as u64;
                prop_assert_eq!(left_out[number], 2 * within >= length(number), "{} of {:?}", number, &ranges);
            }
        }
    }
}
