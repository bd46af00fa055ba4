//! ASCII by blocks of 64 bytes: where words are, as bits, and the same bytes in lower case.
//!
//! The plain idea is a loop over the bytes with a table of 256 classes:
//!
//! ```text
//! for each byte: if it is a letter, digit or _, append its lower case to the token, else end the token
//! ```
//!
//! That is four or five dependent steps a byte and a mispredicted branch a word. Here a block is classified and
//! lower-cased by comparisons without branches, which the compiler turns into vector instructions, and the outcome is
//! one bit a byte. Word starts and ends are then bit tricks, and the work that is left is per word, not per byte.

/// Up to 64 bytes of text, looked at together. A shorter rest of a text counts as followed by separators.
pub(super) struct Block {
    /// The bytes, ASCII letters in lower case.
    pub lower: [u8; Block::LEN],
    /// Bit i: byte i is an ASCII letter, digit or `_`.
    pub word: u64,
    /// How many bytes from the first on are ASCII: 64 if all are.
    pub ascii: u32,
}

impl Block {
    pub const LEN: usize = 64;

    /// The block at the beginning of `bytes`.
    #[inline]
    pub fn of(bytes: &[u8]) -> Self {
        match bytes.first_chunk() {
            Some(full) => Self::of_full(full),
            None => {
                let mut padded = [0; Self::LEN];
                padded[..bytes.len()].copy_from_slice(bytes);
                Self::of_full(&padded)
            }
        }
    }

    #[inline]
    fn of_full(bytes: &[u8; Self::LEN]) -> Self {
        let lower = bytes.map(|b| b | (u8::from(b.is_ascii_uppercase()) << 5));
        let word = bytes.map(|b| u8::from(is_word(b)) << 7);
        Block { lower, word: high_bits(&word), ascii: high_bits(bytes).trailing_zeros() }
    }

    /// The first bytes of the words, as bits.
    #[inline]
    pub fn starts(&self) -> u64 {
        self.word & !(self.word << 1)
    }

    /// The bytes after the words, as bits; a word that touches the end of the block has none.
    #[inline]
    pub fn ends(&self) -> u64 {
        !self.word & (self.word << 1)
    }
}

/// Whether `b` is an ASCII letter, digit or `_`.
#[inline]
pub(super) fn is_word(b: u8) -> bool {
    b.is_ascii_alphanumeric() | (b == b'_')
}

/// How many of the first bytes are ASCII.
pub(super) fn ascii_prefix(bytes: &[u8]) -> usize {
    let (chunks, _) = bytes.as_chunks::<16>();
    let whole = 16 * chunks.iter().take_while(|chunk| chunk.is_ascii()).count();
    whole + bytes[whole..].iter().take_while(|b| b.is_ascii()).count()
}

/// Whether the text goes on with ASCII for long enough to leave the way of doing things character by character.
#[inline]
pub(super) fn turns_ascii(bytes: &[u8]) -> bool {
    !bytes.is_empty() && bytes[..bytes.len().min(16)].is_ascii()
}

/// Whether `b` is a white-space character of ASCII, vertical tab included.
#[inline]
pub(super) fn is_white(b: u8) -> bool {
    matches!(b, b' ' | b'\t'..=b'\r')
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

    #[test]
    fn white_space_is_that_of_unicode() {
        for b in 0..=0x7f {
            assert_eq!(is_white(b), char::from(b).is_whitespace());
        }
    }

    proptest! {
        #[test]
        fn bits_and_bytes_are_those_of_the_plain_loop(bytes in prop::collection::vec(any::<u8>(), 0..70)) {
            let block = Block::of(&bytes);
            let at = |i: usize| bytes.get(i).copied().unwrap_or(0);
            for i in 0..Block::LEN {
                prop_assert_eq!(block.word >> i & 1 == 1, is_word(at(i)));
                prop_assert_eq!(block.lower[i], at(i).to_ascii_lowercase());
            }
            let ascii = (0..Block::LEN).take_while(|&i| at(i).is_ascii()).count();
            prop_assert_eq!(block.ascii as usize, ascii);
            prop_assert_eq!(ascii_prefix(&bytes), bytes.iter().take_while(|b| b.is_ascii()).count());
        }

        #[test]
        fn starts_and_ends_are_the_runs(bytes in "[ab ]{0,64}") {
            let block = Block::of(bytes.as_bytes());
            let words: Vec<_> = bytes.split(' ').filter(|word| !word.is_empty()).collect();
            prop_assert_eq!(block.starts().count_ones() as usize, words.len());
            let (mut starts, mut ends) = (block.starts(), block.ends());
            for word in words {
                let start = starts.trailing_zeros() as usize;
                prop_assert_eq!(&block.lower[start..start + word.len()], word.as_bytes());
                prop_assert_eq!(ends.trailing_zeros() as usize, start + word.len());
                (starts, ends) = (starts & (starts - 1), ends & ends.saturating_sub(1));
            }
        }
    }
}
