//! Text by blocks of 64 bytes: where words of ASCII are, as bits, and the same bytes in lower case; and where other characters begin.
//!
//! The plain idea is a loop over the bytes with a table of 256 classes:
//!
//! ```text
//! for each byte: if it is a letter, digit or _, append its lower case to the token, else end the token
//! ```
//!
//! That is four or five dependent steps a byte and a mispredicted branch a word. Here a block is classified and
//! lower-cased by comparisons without branches, and the result is one bit for each byte. Bit operations then find the
//! starts and ends of words, so the remaining work is per word, not per byte.

use super::{Level, Set};

/// Up to 64 bytes of text, classified together. A shorter rest of a text counts as followed by separators.
pub struct Block {
    /// The bytes, ASCII letters in lower case; then 16 meaningless bytes, so that 16 bytes can be read from any
    /// position.
    pub lower: [u8; Block::LEN + 16],
    /// Bit i: byte i is an ASCII letter, digit or `_`.
    pub word: u64,
    /// Bit i: byte i is not ASCII.
    pub other: u64,
    /// Bit i: byte i is the first one of a character that is not ASCII.
    pub first: u64,
}

impl Block {
    /// The bytes of a block.
    pub const LEN: usize = 64;

    /// An empty block, to be filled.
    pub const EMPTY: Block = Block { lower: [0; Block::LEN + 16], word: 0, other: 0, first: 0 };

    /// Fills the block from the beginning of `bytes`.
    #[inline]
    pub fn fill(&mut self, level: Level, bytes: &[u8]) {
        let mut padded = [0; Self::LEN];
        let full = match bytes.first_chunk() {
            Some(full) => full,
            None => {
                padded[..bytes.len()].copy_from_slice(bytes);
                &padded
            }
        };
        match level.set() {
            Set::Plain => self.plain(full),
            // SAFETY: the level says that the processor has AVX2.
            #[cfg(target_arch = "x86_64")]
            Set::Avx2 => unsafe { self.avx2(full) },
            // SAFETY: the level says that the processor has AVX-512 BW.
            #[cfg(target_arch = "x86_64")]
            Set::Avx512 => unsafe { self.avx512(full) },
            #[cfg(not(target_arch = "x86_64"))]
            _ => self.plain(full),
        }
    }

    fn lower_mut(&mut self) -> &mut [u8; Block::LEN] {
        self.lower.first_chunk_mut().expect("it is longer")
    }

    fn plain(&mut self, bytes: &[u8; Self::LEN]) {
        *self.lower_mut() = bytes.map(|b| b | (u8::from(b.is_ascii_uppercase()) << 5));
        self.word = high_bits(&bytes.map(|b| u8::from(is_word(b)) << 7));
        self.other = high_bits(bytes);
        self.first = high_bits(&bytes.map(|b| u8::from(is_first(b)) << 7));
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn avx2(&mut self, bytes: &[u8; Self::LEN]) {
        use std::arch::x86_64::*;
        let all = |byte: u8| _mm256_set1_epi8(byte as i8);
        // Unsigned a ≤ b is min(a, b) = a.
        let at_most = |a, b| _mm256_cmpeq_epi8(_mm256_min_epu8(a, b), a);
        (self.word, self.other, self.first) = (0, 0, 0);
        for half in 0..2 {
            // SAFETY: 32 of the 64 bytes from half · 32 on; the load needs no alignment.
            let bytes = unsafe { _mm256_loadu_si256(bytes.as_ptr().add(32 * half).cast()) };
            let upper = at_most(_mm256_sub_epi8(bytes, all(b'A')), all(25));
            let lower = _mm256_or_si256(bytes, _mm256_and_si256(upper, all(0x20)));
            let letter = at_most(_mm256_sub_epi8(lower, all(b'a')), all(25));
            let digit = at_most(_mm256_sub_epi8(bytes, all(b'0')), all(9));
            let low_line = _mm256_cmpeq_epi8(bytes, all(b'_'));
            let word = _mm256_or_si256(_mm256_or_si256(letter, digit), low_line);
            let first = at_most(all(FIRST), bytes);
            // SAFETY: 32 of the 64 bytes and more from half · 32 on; the store needs no alignment.
            unsafe { _mm256_storeu_si256(self.lower.as_mut_ptr().add(32 * half).cast(), lower) };
            self.word |= u64::from(_mm256_movemask_epi8(word) as u32) << (32 * half);
            self.other |= u64::from(_mm256_movemask_epi8(bytes) as u32) << (32 * half);
            self.first |= u64::from(_mm256_movemask_epi8(first) as u32) << (32 * half);
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512bw")]
    fn avx512(&mut self, bytes: &[u8; Self::LEN]) {
        use std::arch::x86_64::*;
        let all = |byte: u8| _mm512_set1_epi8(byte as i8);
        // SAFETY: 64 bytes; the load needs no alignment.
        let bytes = unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) };
        let upper = _mm512_cmple_epu8_mask(_mm512_sub_epi8(bytes, all(b'A')), all(25));
        let lower = _mm512_mask_add_epi8(bytes, upper, bytes, all(0x20));
        let letter = _mm512_cmple_epu8_mask(_mm512_sub_epi8(lower, all(b'a')), all(25));
        let digit = _mm512_cmple_epu8_mask(_mm512_sub_epi8(bytes, all(b'0')), all(9));
        let low_line = _mm512_cmpeq_epi8_mask(bytes, all(b'_'));
        // SAFETY: 64 bytes and more; the store needs no alignment.
        unsafe { _mm512_storeu_si512(self.lower.as_mut_ptr().cast(), lower) };
        self.word = letter | digit | low_line;
        self.other = _mm512_movepi8_mask(bytes);
        self.first = _mm512_cmpge_epu8_mask(bytes, all(FIRST));
    }

    /// Returns the first bytes of the words, as bits.
    #[inline]
    pub fn starts(&self) -> u64 {
        self.word & !(self.word << 1)
    }

    /// Returns the bytes after the words, as bits; a word that touches the end of the block has none.
    #[inline]
    pub fn ends(&self) -> u64 {
        !self.word & (self.word << 1)
    }

    /// Returns the bytes that are at least this, as bits: with 0xe0, the first bytes of characters of three or four bytes, and with 0xf0 those of
    /// four.
    #[inline]
    pub fn at_least(&self, level: Level, least: u8) -> u64 {
        match level.set() {
            // SAFETY: the level says that the processor has AVX-512 BW.
            #[cfg(target_arch = "x86_64")]
            Set::Avx512 => unsafe { self.at_least_avx512(least) },
            _ => {
                let lower: &[u8; Self::LEN] = self.lower.first_chunk().expect("it is longer");
                high_bits(&lower.map(|b| u8::from(b >= least) << 7))
            }
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512bw")]
    fn at_least_avx512(&self, least: u8) -> u64 {
        use std::arch::x86_64::*;
        // SAFETY: 64 bytes and more; the load needs no alignment.
        let bytes = unsafe { _mm512_loadu_si512(self.lower.as_ptr().cast()) };
        _mm512_cmpge_epu8_mask(bytes, _mm512_set1_epi8(least as i8))
    }

    /// Returns the three bytes from byte `at` on; those after the block are meaningless.
    ///
    /// # Panics
    /// If there is no byte `at`.
    #[inline]
    pub fn three(&self, at: usize) -> &[u8; 3] {
        assert!(at < Self::LEN);
        self.lower[at..].first_chunk().expect("there are more")
    }

    /// Returns the four bytes from byte `at` on; those after the block are meaningless.
    ///
    /// # Panics
    /// If there is no byte `at`.
    #[inline]
    pub fn four(&self, at: usize) -> &[u8; 4] {
        assert!(at < Self::LEN);
        self.lower[at..].first_chunk().expect("there are more")
    }

    /// Replaces so many bytes, two or three, from byte `at` on.
    ///
    /// # Panics
    /// If they are not in the block.
    #[inline]
    pub fn replace(&mut self, at: usize, length: usize, bytes: [u8; 3]) {
        assert!(at + length <= Self::LEN);
        (self.lower[at], self.lower[at + 1]) = (bytes[0], bytes[1]);
        if length > 2 {
            self.lower[at + 2] = bytes[2];
        }
    }

    /// Returns the 16 bytes from byte `start` on, as two words, the first byte lowest.
    #[inline]
    pub fn sixteen(&self, start: usize) -> (u64, u64) {
        let bytes: &[u8; 16] = self.lower[start..start + 16].first_chunk().expect("16 bytes");
        let both = u128::from_le_bytes(*bytes);
        (both as u64, (both >> 64) as u64)
    }
}

/// Whether `b` is an ASCII letter, digit or `_`.
#[inline]
pub fn is_word(b: u8) -> bool {
    b.is_ascii_alphanumeric() | (b == b'_')
}

/// The lowest byte that begins a character beyond ASCII.
const FIRST: u8 = 0xc0;

/// Whether `b` begins a character beyond ASCII.
#[inline]
fn is_first(b: u8) -> bool {
    b >= FIRST
}

/// The highest bit of each byte, as one bit a byte, first byte lowest.
#[inline]
fn high_bits(bytes: &[u8; Block::LEN]) -> u64 {
    let mut bits = 0;
    for (i, eight) in bytes.as_chunks::<8>().0.iter().enumerate() {
        // After the shift byte k holds its bit at 8k. The multiplication adds up copies shifted by 56 − 7k; the one
        // of byte k lands at 56 + k, and no two copies meet anywhere, so the top byte is the eight bits in order.
        let ones = (u64::from_le_bytes(*eight) >> 7) & 0x0101_0101_0101_0101;
        bits |= (ones.wrapping_mul(0x0102_0408_1020_4080) >> 56) << (8 * i);
    }
    bits
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn bits_and_bytes_are_those_of_the_plain_loop(bytes in prop::collection::vec(any::<u8>(), 0..70)) {
            let at = |i: usize| bytes.get(i).copied().unwrap_or(0);
            for level in Level::available() {
                let mut block = Block::EMPTY;
                block.fill(level, &bytes);
                for i in 0..Block::LEN {
                    prop_assert_eq!(block.word >> i & 1 == 1, is_word(at(i)));
                    prop_assert_eq!(block.other >> i & 1 == 1, !at(i).is_ascii());
                    prop_assert_eq!(block.first >> i & 1 == 1, is_first(at(i)));
                    prop_assert_eq!(block.lower[i], at(i).to_ascii_lowercase());
                    for least in [1, 0x61, 0xe0, 0xff] {
                        prop_assert_eq!(block.at_least(level, least) >> i & 1 == 1, block.lower[i] >= least);
                    }
                }
            }
        }

        #[test]
        fn starts_and_ends_are_the_runs(bytes in "[ab ]{0,64}") {
            let mut block = Block::EMPTY;
            block.fill(Level::current(), bytes.as_bytes());
            let words: Vec<_> = bytes.split(' ').filter(|word| !word.is_empty()).collect();
            prop_assert_eq!(block.starts().count_ones() as usize, words.len());
            let (mut starts, mut ends) = (block.starts(), block.ends());
            for word in words {
                let start = starts.trailing_zeros() as usize;
                prop_assert_eq!(&block.lower[start..start + word.len()], word.as_bytes());
                let (first, second) = block.sixteen(start);
                prop_assert_eq!(&first.to_le_bytes()[..], &block.lower[start..start + 8]);
                prop_assert_eq!(&second.to_le_bytes()[..], &block.lower[start + 8..start + 16]);
                prop_assert_eq!(ends.trailing_zeros() as usize, start + word.len());
                (starts, ends) = (starts & (starts - 1), ends & ends.saturating_sub(1));
            }
        }
    }
}
