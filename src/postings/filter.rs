//! A filter that rules out most absent keys.

use crate::hash::mix;
use crate::kernel::fetch::fetch;

/// A Bloom filter whose bits of a key are all in one line of the cache, one in each of its words (Putze, Sanders & Singler,
/// *Cache-, Hash- and Space-Efficient Bloom Filters*, WEA 2007). It has 12 bits per key, of which it sets 8. About 4 in
/// 1,000 absent keys are not ruled out.
pub(crate) struct Filter(Vec<Block>);

#[derive(Clone, Copy, Default)]
#[repr(align(64))]
struct Block([u64; WORDS]);

const WORDS: usize = 8;

const BITS_A_KEY: usize = 12;

impl Filter {
    pub fn new(keys: usize) -> Self {
        Filter(vec![Block::default(); (BITS_A_KEY * keys).div_ceil(64 * WORDS).max(1)])
    }

    /// The number of the block of a tag, and the hash that chooses its bits. Tags are hashes themselves. Their blocks are in
    /// the same order, so that the filter of a sorted run is written from its start to its end.
    #[inline]
    fn place(&self, tag: u32) -> (usize, u64) {
        let block = (u64::from(tag) * self.0.len() as u64) >> 32;
        (block as usize, mix(u64::from(tag)))
    }

    pub fn insert(&mut self, tag: u32) {
        let (block, hash) = self.place(tag);
        let words = self.0[block].0.iter_mut().zip(0..);
        words.for_each(|(word, at)| *word |= 1 << (hash >> (6 * at) & 63));
    }

    #[inline]
    pub fn may_have(&self, tag: u32) -> bool {
        let (block, hash) = self.place(tag);
        // Without branches.
        let missing = self.0[block].0.iter().zip(0..).fold(0, |missing, (word, at)| {
            let bit = 1u64 << (hash >> (6 * at) & 63);
            missing | (bit & !word)
        });
        missing == 0
    }

    /// Tells the processor that a tag will be looked up.
    #[inline]
    pub fn fetch(&self, tag: u32) {
        fetch(&self.0, self.place(tag).0);
    }

    /// Bytes of memory.
    pub fn bytes_held(&self) -> u64 {
        (self.0.capacity() * size_of::<Block>()) as u64
    }

    /// Bytes of memory for so many keys, but for the end of each filter.
    pub fn bytes_for(keys: u64) -> u64 {
        (BITS_A_KEY as u64 * keys).div_ceil(8)
    }

    /// Its words, to be stored.
    pub fn words(&self) -> impl ExactSizeIterator<Item = u64> {
        (0..WORDS * self.0.len()).map(|at| self.0[at / WORDS].0[at % WORDS])
    }

    /// The filter with these words; `None` if it cannot have so many.
    pub fn of_words(words: &[u64]) -> Option<Self> {
        let (blocks, rest) = words.as_chunks();
        (rest.is_empty() && !blocks.is_empty()).then(|| Filter(blocks.iter().map(|&words| Block(words)).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_keys_that_are_not_there_pass_the_filter() {
        let tag = |number: u64| (mix(number) >> 32) as u32;
        let mut filter = Filter::new(10_000);
        (0..10_000).for_each(|number| filter.insert(tag(number)));
        assert!((0..10_000).all(|number| filter.may_have(tag(number))));
        let passed = (10_000..110_000).filter(|&number| filter.may_have(tag(number))).count();
        assert!(passed < 1_000, "{passed}");
    }

    #[test]
    fn it_is_the_same_from_its_words() {
        let mut filter = Filter::new(100);
        (0..100).for_each(|tag| filter.insert(tag << 24));
        let words: Vec<u64> = filter.words().collect();
        let read = Filter::of_words(&words).unwrap();
        assert!((0..1000).all(|tag| filter.may_have(tag << 22) == read.may_have(tag << 22)));
        assert!(Filter::of_words(&words[1..]).is_none() && Filter::of_words(&[]).is_none());
    }
}
