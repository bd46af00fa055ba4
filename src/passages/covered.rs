//! Which tokens are in a passage, as bits.

use std::ops::Range;

/// A bit for each token of all documents together.
pub(super) struct Covered(Vec<u64>);

impl Covered {
    /// No tokens of so many.
    pub fn new(tokens: u64) -> Self {
        Covered(vec![0; tokens.div_ceil(64) as usize])
    }

    /// Adds a range.
    pub fn add(&mut self, range: Range<u64>) {
        words_of(range, |word, bits| self.0[word] |= bits);
    }

    /// The number of tokens of a range that are not in it.
    pub fn missing(&self, range: Range<u64>) -> u64 {
        let mut missing = 0;
        words_of(range, |word, bits| missing += u64::from((bits & !self.0[word]).count_ones()));
        missing
    }

    /// Whether a token is in it.
    pub fn has(&self, token: u64) -> bool {
        self.0[(token / 64) as usize] >> (token % 64) & 1 == 1
    }

    /// Calls `each` with the ranges of tokens that are in it, in order, from a document on. Documents are given by their starts, and the
    /// end of the last one; no range is in two of them.
    pub fn ranges(&self, starts: &[u64], mut each: impl FnMut(Range<u64>)) {
        let Some(&end) = starts.last() else { return };
        let mut next_start = starts.iter().copied().peekable();
        let mut at = self.next(starts[0], true, end);
        while at < end {
            while next_start.next_if(|&start| start <= at).is_some() {}
            let end_of_document = next_start.peek().copied().unwrap_or(end);
            let range = at..self.next(at, false, end_of_document);
            at = self.next(range.end, true, end);
            each(range);
        }
    }

    /// The first token at or after this one that is in it, or is not; `end` if there is none before.
    fn next(&self, token: u64, is_in: bool, end: u64) -> u64 {
        let mut word = (token / 64) as usize;
        let mut from = u64::MAX << (token % 64);
        while (word as u64) * 64 < end {
            let bits = if is_in { self.0[word] } else { !self.0[word] } & from;
            if bits != 0 {
                return end.min(word as u64 * 64 + u64::from(bits.trailing_zeros()));
            }
            (word, from) = (word + 1, u64::MAX);
        }
        end
    }
}

/// Calls `each` with the numbers of the words that hold a range, and with the bits of it.
fn words_of(range: Range<u64>, mut each: impl FnMut(usize, u64)) {
    let mut at = range.start;
    while at < range.end {
        let end = range.end.min((at / 64 + 1) * 64);
        each((at / 64) as usize, u64::MAX >> (64 - (end - at)) << (at % 64));
        at = end;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn as_a_list_of_flags(
            ranges in prop::collection::vec((0u64..300, 0u64..150), 0..8),
            (start, length) in (0u64..300, 0u64..150),
            starts in prop::collection::btree_set(0u64..450, 0..6),
            first in 0usize..3,
        ) {
            let (mut covered, mut flags) = (Covered::new(450), vec![false; 450]);
            for (start, length) in ranges {
                covered.add(start..start + length);
                flags[start as usize..][..length as usize].fill(true);
            }
            let all = (start..start + length).filter(|&at| !flags[at as usize]).count() as u64;
            prop_assert_eq!(covered.missing(start..start + length), all);
            prop_assert_eq!(covered.has(start), flags[start as usize]);
            let mut starts: Vec<u64> = starts.into_iter().chain([450]).collect();
            starts.drain(..first.min(starts.len() - 1));
            let mut expected: Vec<Range<u64>> = Vec::new();
            for at in (starts[0]..450).filter(|&at| flags[at as usize]) {
                match expected.last_mut() {
                    Some(last) if last.end == at && !starts.contains(&at) => last.end += 1,
                    _ => expected.push(Range { start: at, end: at + 1 }),
                }
            }
            let mut found = Vec::new();
            covered.ranges(&starts, |range| found.push(range));
            prop_assert_eq!(found, expected);
        }
    }
}
