//! Where things end that are back to back, such as the ids of all documents.

use crate::kernel::fetch::fetch;
use std::ops::Range;

/// Ascending ends, of 4 bytes each and 8 for every [`BLOCK`]; or of 8 bytes, once [`BLOCK`] of them span more than 4 GiB.
#[derive(Default)]
pub(crate) struct Ends {
    /// Each end, from that of the last one before its block.
    low: Vec<u32>,
    bases: Vec<u64>,
    /// All ends, if these do not fit. The others are empty then.
    wide: Vec<u64>,
}

/// The number of ends with one base.
const BLOCK: usize = 64;

impl Ends {
    /// Adds an end, which is not before the last one.
    pub fn push(&mut self, end: usize) {
        let (number, end) = (self.len(), end as u64);
        if !self.wide.is_empty() {
            self.wide.push(end);
            return;
        }
        if number.is_multiple_of(BLOCK) {
            self.bases.push(number.checked_sub(1).map_or(0, |last| self.end(last) as u64));
        }
        match u32::try_from(end - self.bases[number / BLOCK]) {
            Ok(low) => self.low.push(low),
            Err(_) => {
                self.wide = (0..number).map(|number| self.end(number) as u64).chain([end]).collect();
                (self.low, self.bases) = Default::default();
            }
        }
    }

    /// How many there are.
    fn len(&self) -> usize {
        self.low.len() + self.wide.len()
    }

    /// The end of the thing with this number.
    #[inline]
    pub fn end(&self, number: usize) -> usize {
        match self.wide.get(number) {
            Some(&end) => end as usize,
            None => self.bases[number / BLOCK] as usize + self.low[number] as usize,
        }
    }

    /// Where the thing with this number is.
    #[inline]
    pub fn range(&self, number: usize) -> Range<usize> {
        number.checked_sub(1).map_or(0, |before| self.end(before))..self.end(number)
    }

    /// Prefetches most of what [`range`](Self::range) reads.
    #[inline]
    pub fn fetch(&self, number: usize) {
        fetch(&self.low, number);
    }

    /// Bytes of memory.
    pub fn bytes_held(&self) -> u64 {
        (size_of_val(&*self.low) + size_of_val(&*self.bases) + size_of_val(&*self.wide)) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_come_back() {
        // The last ones do not fit 4 bytes.
        let lengths = (0..200usize).map(|number| number % 7).chain([1 << 31, 5, 1 << 31, 1 << 40]);
        let (mut ends, mut all, mut end) = (Ends::default(), Vec::new(), 0);
        for length in lengths {
            let start = end;
            end += length;
            ends.push(end);
            all.push(start..end);
            let back: Vec<Range<usize>> = (0..ends.len()).map(|number| ends.range(number)).collect();
            assert_eq!(back, all);
        }
        assert!(ends.wide.len() == 204 && ends.low.is_empty());
    }

    #[test]
    fn an_end_takes_four_bytes() {
        let mut ends = Ends::default();
        (0..6_400).for_each(|number| ends.push(9 * number));
        assert_eq!(ends.bytes_held(), 4 * 6_400 + 8 * 100);
    }
}
