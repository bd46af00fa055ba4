//! Lists of ranges of bytes.

use super::room;
use std::ops::Range;

/// Ranges of bytes: 8 bytes for each.
#[derive(Clone, Debug, Default)]
pub(super) struct Ranges {
    /// Where each starts, and in the lower bits its length, or [`LONG`](Self::LONG).
    ranges: Vec<u64>,
    /// Those that do not fit 8 bytes, with their numbers: they are long, or of a tokenizer of one's own, which may give any.
    long: Vec<(usize, Range<usize>)>,
}

impl Ranges {
    /// The bits of the length.
    const BITS: u32 = 20;
    const LONG: usize = (1 << Self::BITS) - 1;

    #[inline]
    pub fn push(&mut self, range: Range<usize>) {
        let Range { start, end } = range;
        let length = end.wrapping_sub(start);
        if length < Self::LONG && (start as u64) >> (u64::BITS - Self::BITS) == 0 {
            self.ranges.push((start as u64) << Self::BITS | length as u64);
        } else {
            self.push_long(range);
        }
    }

    #[cold]
    fn push_long(&mut self, range: Range<usize>) {
        self.long.push((self.ranges.len(), range));
        self.ranges.push(Self::LONG as u64);
    }

    /// Adds ranges of text that are short.
    #[inline]
    pub fn extend_short(&mut self, ranges: impl Iterator<Item = Range<usize>>) {
        self.ranges.extend(ranges.map(|Range { start, end }| (start as u64) << Self::BITS | (end - start) as u64));
    }

    /// # Panics
    /// If there is none with this number.
    #[inline]
    pub fn get(&self, i: usize) -> Range<usize> {
        let range = self.ranges[i];
        let (start, length) = ((range >> Self::BITS) as usize, range as usize & Self::LONG);
        if length == Self::LONG { self.get_long(i) } else { start..start + length }
    }

    #[cold]
    fn get_long(&self, i: usize) -> Range<usize> {
        self.long.binary_search_by_key(&i, |&(i, _)| i).map_or(0..0, |at| self.long[at].1.clone())
    }

    pub fn len(&self) -> usize {
        self.ranges.len()
    }

    pub fn clear(&mut self) {
        self.truncate(0);
    }

    pub fn truncate(&mut self, most: usize) {
        self.ranges.truncate(most);
        self.long.truncate(self.long.partition_point(|&(i, _)| i < most));
    }

    /// Makes room for more ranges, and no more than that.
    pub fn reserve_exact(&mut self, more: usize) {
        self.ranges.reserve_exact(more);
    }

    /// Makes room for more ranges, if that takes at most what is `left`, in bytes. Returns whether there is room.
    #[inline]
    pub fn reserve(&mut self, more: usize, left: impl FnOnce() -> usize) -> bool {
        room::reserve(&mut self.ranges, more, left)
    }

    pub fn shrink_to(&mut self, least: usize) {
        self.ranges.shrink_to(least);
        self.long.shrink_to_fit();
    }

    pub fn bytes_held(&self) -> usize {
        size_of::<u64>() * self.ranges.capacity() + size_of::<(usize, Range<usize>)>() * self.long.capacity()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[allow(clippy::reversed_empty_ranges, reason = "a tokenizer of one's own may give them")]
    fn all_ranges_come_back() {
        let of = [
            0..0,
            7..9,
            5..5 + Ranges::LONG - 1,
            5..5 + Ranges::LONG,
            3..1,
            1 << 43..(1 << 43) + 9,
            1 << 44..(1 << 44) + 9,
            usize::MAX - 1..usize::MAX,
            1..2,
        ];
        let mut ranges = Ranges::default();
        of.iter().for_each(|range| ranges.push(range.clone()));
        ranges.extend_short([10..12, 12..40].into_iter());
        let all: Vec<Range<usize>> = of.into_iter().chain([10..12, 12..40]).collect();
        for most in (0..=all.len()).rev() {
            ranges.truncate(most);
            assert!((0..ranges.len()).map(|i| ranges.get(i)).eq(all[..most].iter().cloned()));
        }
        ranges.push(4..1);
        assert_eq!((ranges.len(), ranges.get(0)), (1, 4..1));
    }
}
