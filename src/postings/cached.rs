//! Reading stored words again that are close to others which were read before.

use super::spilled::Buffer;
use super::stored::Stored;
use crate::error::Error;
use std::ops::Range;

/// The words of a block, which are read from the file together, and the number of slots for blocks.
const BLOCK: u64 = 1 << 9;
const SLOTS: u64 = 32;

/// Longer ranges bypass the cache.
const MAX_CACHED_WORDS: u64 = SLOTS / 4 * BLOCK;

/// Marks a slot without a block.
const NONE: u64 = u64::MAX;

/// Reads stored words on one thread, those in a file through a direct-mapped cache of 128 KiB.
pub(crate) struct Cached<'s> {
    stored: &'s Stored,
    /// The number of the block in each slot, and its words.
    numbers: Vec<u64>,
    blocks: Vec<u64>,
    words: Vec<u64>,
    buffer: Buffer,
}

impl<'s> Cached<'s> {
    /// Nothing is cached yet.
    pub fn new(stored: &'s Stored) -> Self {
        Cached { stored, numbers: Vec::new(), blocks: Vec::new(), words: Vec::new(), buffer: Buffer::default() }
    }

    /// Some of the words.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn read(&mut self, range: Range<u64>) -> Result<&[u64], Error> {
        debug_assert!(range.end <= self.stored.len());
        if self.stored.in_memory().is_some() || range.end - range.start > MAX_CACHED_WORDS {
            return self.stored.read(range, &mut self.buffer);
        }
        self.words.clear();
        let mut from = range.start;
        while from < range.end {
            let number = from / BLOCK;
            let start = self.hold(number)?;
            let end = range.end.min((number + 1) * BLOCK);
            let within = |word: u64| start + (word - number * BLOCK) as usize;
            if from == range.start && end == range.end {
                return Ok(&self.blocks[within(from)..within(end)]);
            }
            self.words.extend_from_slice(&self.blocks[within(from)..within(end)]);
            from = end;
        }
        Ok(&self.words)
    }

    /// Where the block of this number begins among those of all slots.
    fn hold(&mut self, number: u64) -> Result<usize, Error> {
        if self.numbers.is_empty() {
            self.numbers.resize(SLOTS as usize, NONE);
            self.blocks.resize((SLOTS * BLOCK) as usize, 0);
        }
        let slot = (number % SLOTS) as usize;
        let start = slot * BLOCK as usize;
        if self.numbers[slot] != number {
            let end = self.stored.len().min((number + 1) * BLOCK);
            let words = self.stored.read(number * BLOCK..end, &mut self.buffer)?;
            self.blocks[start..start + words.len()].copy_from_slice(words);
            self.numbers[slot] = number;
        }
        Ok(start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]
        #[test]
        fn the_words_that_are_stored(
            count in 0u64..3 * SLOTS * BLOCK,
            in_memory in any::<bool>(),
            ranges in prop::collection::vec((any::<u64>(), prop_oneof![0u64..100, 0u64..2 * MAX_CACHED_WORDS]), 1..50),
        ) {
            let words: Vec<u64> = (0..count).map(|word| word.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
            let mut stored = Stored::new("words", if in_memory { u64::MAX } else { 0 }, None);
            stored.append(&words).unwrap();
            let mut cached = Cached::new(&stored);
            for (start, length) in ranges {
                let start = start % (count + 1);
                let end = count.min(start + length);
                prop_assert_eq!(cached.read(start..end).unwrap(), &words[start as usize..end as usize]);
            }
        }
    }

    #[test]
    fn what_was_read_is_read_again_from_memory() {
        let mut stored = Stored::new("words", 0, None);
        stored.append(&[7; 2 * BLOCK as usize]).unwrap();
        let mut cached = Cached::new(&stored);
        assert_eq!(cached.read(3..5).unwrap(), [7, 7]);
        stored.damage();
        assert_eq!(cached.read(BLOCK - 2..BLOCK).unwrap(), [7, 7]);
        for range in [BLOCK..BLOCK + 1, BLOCK - 1..BLOCK + 1] {
            assert!(cached.read(range).unwrap_err().to_string().contains("cannot read words back"));
        }
    }
}
