//! What a table knows of the characters in a block, as bits: one for each first byte of a character of two or three bytes.
//!
//! The plain idea is a look-up for each character:
//!
//! ```text
//! for each character: bits of its first byte = table[code point]
//! ```
//!
//! That is a dependent chain of shifts for each of the 20 to 30 characters of a block. Here the code points of 16 bytes are computed at once,
//! those at first bytes are moved together, and 16 entries are loaded at once.

use super::words::Block;
use super::{Level, Set};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// The characters of a page, which is filled as a whole.
const PAGE: usize = 128;

/// The characters of the table: all of up to three bytes.
const CHARACTERS: usize = 1 << 16;

const PAGES: usize = CHARACTERS / PAGE;

/// What is known of each character of up to three bytes: 32 bits, which are not all 0. It is filled by pages, when a character is first looked up.
pub struct Table {
    /// 0 until its page is filled. Written within `filled`, once.
    entries: [AtomicU32; CHARACTERS],
    filled: [OnceLock<()>; PAGES],
    /// A bit for each page: it is filled, and its entries never change again.
    ready: [AtomicU64; PAGES / 64],
    /// What is known of a character.
    make: fn(u32) -> u32,
}

impl Table {
    /// An empty table. `make` returns what is known of the character with this code point, of 16 bits, which may be a surrogate: always the same,
    /// and not 0.
    pub const fn new(make: fn(u32) -> u32) -> Self {
        Table {
            entries: [const { AtomicU32::new(0) }; CHARACTERS],
            filled: [const { OnceLock::new() }; PAGES],
            ready: [const { AtomicU64::new(0) }; PAGES / 64],
            make,
        }
    }

    /// Returns the entry of a character, by the lower 16 bits of its code point.
    #[inline]
    pub fn get(&self, code: u32) -> u32 {
        let code = code as usize % CHARACTERS;
        match self.entries[code].load(Ordering::Relaxed) {
            0 => self.filled(code),
            known => known,
        }
    }

    /// Fills the page of a character. Returns its entry.
    #[cold]
    fn filled(&self, code: usize) -> u32 {
        let page = code / PAGE;
        self.filled[page].get_or_init(|| {
            for code in page * PAGE..(page + 1) * PAGE {
                self.entries[code].store((self.make)(code as u32), Ordering::Relaxed);
            }
            self.ready[page / 64].fetch_or(1 << (page % 64), Ordering::Release);
        });
        self.entries[code].load(Ordering::Relaxed)
    }

    /// Looks up the characters of a block that begin at these bytes and are of two or three bytes; of others the result is meaningless. Returns the
    /// first bytes whose entries have any of these flags, as bits, for each of the flags. `None` if a page is not filled yet: then
    /// [`get`](Self::get) fills it.
    #[inline]
    pub fn flags<const N: usize>(&self, level: Level, block: &Block, firsts: u64, flags: [u32; N]) -> Option<[u64; N]> {
        match level.set() {
            Set::Plain | Set::Avx2 => self.plain(block, firsts, flags),
            // SAFETY: the level says that the processor has AVX-512 F and BW, and BMI2.
            #[cfg(target_arch = "x86_64")]
            Set::Avx512 => unsafe { self.avx512(block, firsts, flags) },
            #[cfg(not(target_arch = "x86_64"))]
            _ => self.plain(block, firsts, flags),
        }
    }

    fn plain<const N: usize>(&self, block: &Block, mut firsts: u64, flags: [u32; N]) -> Option<[u64; N]> {
        let mut found = [0; N];
        while firsts != 0 {
            let at = firsts.trailing_zeros() as usize;
            firsts &= firsts - 1;
            let entry = self.entries[decoded(block.three(at)).0 as usize].load(Ordering::Relaxed);
            if entry == 0 {
                return None;
            }
            for (bits, flag) in found.iter_mut().zip(flags) {
                *bits |= u64::from(entry & flag != 0) << at;
            }
        }
        Some(found)
    }

    // Loops over numbers: a function of the standard library that takes a closure would not be compiled for these features.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512bw,bmi2")]
    #[allow(clippy::needless_range_loop)]
    fn avx512<const N: usize>(&self, block: &Block, firsts: u64, flags: [u32; N]) -> Option<[u64; N]> {
        use std::arch::x86_64::*;
        let all = |number: u32| _mm512_set1_epi32(number as i32);
        let six = |byte| _mm512_and_si512(byte, all(0x3f));
        let (mut codes, mut count) = ([0u32; Block::LEN + 16], 0);
        for group in 0..Block::LEN / 16 {
            let firsts = (firsts >> (16 * group)) as u16;
            if firsts == 0 {
                continue;
            }
            let byte = |number: usize| {
                // SAFETY: 16 bytes from 16 · group + number ≤ 50 on, of 80; the load needs no alignment.
                let bytes = unsafe { _mm_loadu_si128(block.lower.as_ptr().add(16 * group + number).cast()) };
                _mm512_cvtepu8_epi32(bytes)
            };
            let (first, second, third) = (byte(0), six(byte(1)), six(byte(2)));
            let two = _mm512_or_si512(_mm512_slli_epi32::<6>(_mm512_and_si512(first, all(0x1f))), second);
            let high = _mm512_slli_epi32::<12>(_mm512_and_si512(first, all(0xf)));
            let three = _mm512_or_si512(high, _mm512_or_si512(_mm512_slli_epi32::<6>(second), third));
            let code = _mm512_mask_blend_epi32(_mm512_cmpge_epu32_mask(first, all(0xe0)), two, three);
            // SAFETY: 16 of the 80 numbers from `count` on, which is at most 16 for each group before, of which there are three; the store needs no
            // alignment.
            unsafe {
                _mm512_storeu_si512(codes.as_mut_ptr().add(count).cast(), _mm512_maskz_compress_epi32(firsts, code))
            };
            count += firsts.count_ones() as usize;
        }
        let mut ready = [0u64; PAGES / 64];
        for page in 0..ready.len() {
            ready[page] = self.ready[page].load(Ordering::Acquire);
        }
        // SAFETY: 8 numbers of 64 bits, which are 16 of 32, the lower half first; the load needs no alignment.
        let ready = unsafe { _mm512_loadu_si512(ready.as_ptr().cast()) };
        let mut found = [0; N];
        for at in (0..count).step_by(16) {
            let lanes = ((1u32 << (count - at).min(16)) - 1) as u16;
            // SAFETY: 16 of the 80 numbers from `at` on, which is at most 48; the load needs no alignment.
            let code = unsafe { _mm512_loadu_si512(codes.as_ptr().add(at).cast()) };
            let page = _mm512_srli_epi32::<7>(code);
            // An index counts by its lowest four bits, a shift by all.
            let bits = _mm512_permutexvar_epi32(_mm512_srli_epi32::<5>(page), ready);
            let bit = _mm512_srlv_epi32(bits, _mm512_and_si512(page, all(31)));
            if _mm512_mask_test_epi32_mask(lanes, bit, all(1)) != lanes {
                return None;
            }
            // SAFETY: code points are below 65,536, the number of entries, each of four bytes. The pages of these lanes were filled before their bits
            // of `ready` were set, with release, and these were loaded with acquire; a page is written once. So nothing writes
            // what is read here.
            let entry = unsafe {
                _mm512_mask_i32gather_epi32::<4>(_mm512_setzero_si512(), lanes, code, self.entries.as_ptr().cast())
            };
            for flag in 0..N {
                found[flag] |= u64::from(_mm512_test_epi32_mask(entry, all(flags[flag]))) << at;
            }
        }
        for bits in 0..N {
            found[bits] = _pdep_u64(found[bits], firsts);
        }
        Some(found)
    }
}

/// The code point and the length of the character that these bytes begin, which is not ASCII. That of four bytes is meaningless, and of 16 bits.
#[inline]
pub fn decoded(&[first, second, third]: &[u8; 3]) -> (u32, usize) {
    let six = |byte: u8| u32::from(byte & 0x3f);
    match first {
        ..0xe0 => (u32::from(first & 0x1f) << 6 | six(second), 2),
        _ => (u32::from(first & 0xf) << 12 | six(second) << 6 | six(third), 3 + usize::from(first >= 0xf0)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const FLAGS: [u32; 4] = [1 << 31, 1, 0xff00, 3 << 16];

    fn entry(code: u32) -> u32 {
        1 << 31 | code.wrapping_mul(0x9E37_79B9) >> 7
    }

    proptest! {
        /// By the standard library's reading of UTF-8.
        #[test]
        fn flags_are_those_of_each_character(text in "[a-zà-ÿа-яء-ي一-龥あ-ん가-힣 \u{7ff}\u{800}\u{ffff}\u{300}]{0,64}", half in any::<bool>()) {
            static TABLE: Table = Table::new(entry);
            let mut block = Block::EMPTY;
            block.fill(Level::current(), text.as_bytes());
            let mut expected = [0u64; 4];
            let mut firsts = 0;
            for (at, c) in text.char_indices().filter(|(at, c)| !c.is_ascii() && at + c.len_utf8() <= Block::LEN) {
                if half && at % 3 == 0 {
                    continue;
                }
                firsts |= 1 << at;
                for (bits, flag) in expected.iter_mut().zip(FLAGS) {
                    *bits |= u64::from(entry(u32::from(c)) & flag != 0) << at;
                }
                prop_assert_eq!(TABLE.get(c.into()), entry(c.into()));
            }
            for level in Level::available() {
                prop_assert_eq!(TABLE.flags(level, &block, firsts, FLAGS), Some(expected), "{:?}", level);
            }
        }
    }

    #[test]
    fn characters_of_pages_that_are_not_filled_are_not_found() {
        for level in Level::available() {
            let table = Box::leak(Box::new(Table::new(entry)));
            let mut block = Block::EMPTY;
            block.fill(level, "éш語".as_bytes());
            let firsts = 0b1_0101;
            for c in "éш".chars() {
                assert_eq!(table.flags(level, &block, firsts, FLAGS), None);
                table.get(c.into());
            }
            assert_eq!(table.flags(level, &block, firsts, FLAGS), None);
            assert!(table.flags(level, &block, firsts & 0b101, FLAGS).is_some());
            // Of the same page as 語.
            table.get(0x8a80);
            assert!(table.flags(level, &block, firsts, FLAGS).is_some());
            assert_eq!(table.flags(level, &block, 0, FLAGS), Some([0; 4]));
        }
    }

    #[test]
    fn any_bytes_and_any_bits_are_allowed() {
        let table = Box::leak(Box::new(Table::new(entry)));
        assert!((0..CHARACTERS as u32).all(|code| table.get(code) == entry(code)));
        let block = Block { lower: [0xff; Block::LEN + 16], word: 0, other: !0, first: !0 };
        for level in Level::available() {
            assert_eq!(table.flags(level, &block, !0, [1 << 31]), Some([!0]));
        }
    }
}
