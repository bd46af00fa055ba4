//! Ranges that are cut, each with a place where the same tokens stay.
//!
//! The first place of a passage may itself hold the end of one that stands earlier still. So a range that is cut is split where the origin of its tokens
//! changes, until each part has its tokens at one place that is not cut.

use super::later::Later;
use crate::error::Error;
use std::ops::Range;

/// Covers ranges by parts of as few of the others as possible, in order. Ranges that touch are separate parts.
pub(super) fn cover(later: &[Later], mut each: impl FnMut(Later)) {
    fewest(later.len(), |n| later[n].start..later[n].end(), |n, uncovered| each(part(&later[n], uncovered)));
}

/// Calls `each` with the numbers of as few ranges as possible that cover what all do, and with what those before do not cover. Ranges
/// are in the order of their starts and of their ends.
pub(super) fn fewest(count: usize, range: impl Fn(usize) -> Range<u64>, mut each: impl FnMut(usize, Range<u64>)) {
    let (mut at, mut next) = (0, 0);
    while next < count {
        at = at.max(range(next).start);
        // The last one that begins here reaches furthest.
        while next + 1 < count && range(next + 1).start <= at {
            next += 1;
        }
        let end = range(next).end;
        each(next, at..end);
        at = end;
        next += 1;
    }
}

/// The one that holds a range as a whole.
pub(super) fn holding(later: &[Later], range: Range<u64>) -> Option<Later> {
    // The last one that begins before it reaches furthest.
    let last = later.partition_point(|one| one.start <= range.start).checked_sub(1)?;
    (range.end <= later[last].end()).then(|| part(&later[last], range))
}

fn part(later: &Later, range: Range<u64>) -> Later {
    let first = later.first + (range.start - later.start);
    Later { start: range.start, first, tokens: (range.end - range.start) as u32 }
}

/// Parts of texts that are cut, in order. Those that touch each other in one document are one range of the text.
pub(super) struct Pieces<'s> {
    /// Where documents begin.
    starts: &'s [u64],
    pieces: Vec<Later>,
    /// Whether first places stay, so that what is cut can be found there.
    but_first: bool,
    /// Their maximum number.
    most: u64,
    /// Those that are too many.
    missing: u64,
}

impl<'s> Pieces<'s> {
    pub fn new(starts: &'s [u64], but_first: bool, most: u64) -> Self {
        Pieces { starts, pieces: Vec::new(), but_first, most, missing: 0 }
    }

    /// Adds a part that is cut, after all others. Its tokens stand before it.
    pub fn cut(&mut self, piece: Later) {
        let Later { mut start, mut first, tokens } = piece;
        let mut left = u64::from(tokens);
        if !self.but_first {
            return self.push(start, start, left);
        }
        let mut next = self.pieces.partition_point(|other| other.end() <= first);
        while left > 0 {
            let (origin, length) = match self.pieces.get(next) {
                Some(other) if other.start <= first => {
                    next += 1;
                    (other.first + (first - other.start), left.min(other.end() - first))
                }
                Some(other) => (first, left.min(other.start - first)),
                None => (first, left),
            };
            self.push(start, origin, length);
            (start, first, left) = (start + length, first + length, left - length);
        }
    }

    fn push(&mut self, start: u64, first: u64, tokens: u64) {
        let begins_document = |token: u64| self.starts.binary_search(&token).is_ok();
        let is_full = self.pieces.len() as u64 == self.most;
        match self.pieces.last_mut() {
            Some(last)
                if last.end() == start
                    && (!self.but_first || last.first + u64::from(last.tokens) == first)
                    && !begins_document(start)
                    && (!self.but_first || !begins_document(first)) =>
            {
                last.tokens += tokens as u32;
            }
            _ if is_full => self.missing += 1,
            _ => self.pieces.push(Later { start, first, tokens: tokens as u32 }),
        }
    }

    /// All of them.
    ///
    /// # Errors
    /// They are too many for the memory.
    pub fn finish(mut self) -> Result<Vec<Later>, Error> {
        if self.missing > 0 {
            let message =
                "the places of passages do not fit `memory`: allow more, or raise `min-words` so that fewer are found";
            return Err(Error::Full(format!("{message} ({} found)", self.most + self.missing)));
        }
        self.pieces.shrink_to_fit();
        Ok(self.pieces)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn later(start: u64, first: u64, tokens: u32) -> Later {
        Later { start, first, tokens }
    }

    #[test]
    fn few_parts_cover_all() {
        let all = [later(10, 0, 5), later(12, 1, 5), later(14, 2, 10), later(24, 50, 6), later(40, 3, 2)];
        let mut parts = Vec::new();
        cover(&all, |part| parts.push((part.start, part.first, part.tokens)));
        assert_eq!(parts, [(10, 0, 5), (15, 3, 9), (24, 50, 6), (40, 3, 2)]);
        assert_eq!(holding(&all, 13..17), Some(later(13, 2, 4)));
        assert_eq!((holding(&all, 13..18), holding(&all, 9..11), holding(&all, 30..31)), (None, None, None));
    }

    #[test]
    fn each_part_stays_at_one_place() {
        // Tokens 20 to 30 are those of 0 to 10; 60 to 80 those of 15 to 35, of which the middle was cut.
        let mut pieces = Pieces::new(&[0, 12, 50, 100], true, 9);
        pieces.cut(later(20, 0, 10));
        pieces.cut(later(60, 15, 20));
        let expected = [later(20, 0, 10), later(60, 15, 5), later(65, 0, 10), later(75, 30, 5)];
        assert_eq!(pieces.finish().unwrap(), expected);
    }

    #[test]
    fn parts_that_touch_on_both_sides_are_one() {
        let mut pieces = Pieces::new(&[0, 12, 50, 100], true, 9);
        for piece in [later(20, 0, 10), later(30, 10, 2), later(32, 12, 3), later(50, 15, 3)] {
            pieces.cut(piece);
        }
        assert_eq!(pieces.finish().unwrap(), [later(20, 0, 12), later(32, 12, 3), later(50, 15, 3)]);
        let mut all = Pieces::new(&[0, 12, 50, 100], false, 9);
        for piece in [later(2, 0, 10), later(12, 10, 2), later(14, 9, 3)] {
            all.cut(piece);
        }
        assert_eq!(all.finish().unwrap(), [later(2, 2, 10), later(12, 12, 5)]);
    }

    #[test]
    fn too_many_are_an_error() {
        let mut pieces = Pieces::new(&[0, 50], true, 1);
        [later(20, 0, 2), later(30, 10, 2)].into_iter().for_each(|piece| pieces.cut(piece));
        assert!(pieces.finish().unwrap_err().to_string().contains("(2 found)"));
    }
}
