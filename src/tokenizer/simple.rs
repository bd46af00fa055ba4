//! Simple characters: those that [`Word`](super::Word) needs no normalisation for, looked up by their code point.
//!
//! Nearly all characters of nearly all texts are simple: they are their own NFKC, no character before them changes them, and their case
//! folding takes as many bytes as they do. So they can be classified and folded in place. The rest, such as marks that compose,
//! ligatures, characters that are ignored and scripts without spaces, is left to the state machine.

use super::properties::Properties;
use crate::kernel::Level;
use crate::kernel::characters::Table;
use crate::kernel::words::Block;
use caseless::Caseless;
use std::iter::once;
use unicode_normalization::UnicodeNormalization;

/// What is known of a character: its kind, and the bytes of its case folding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Simple(u32);

/// The characters of up to three bytes.
static TABLE: Table = Table::new(|code| look_up(code).0);

impl Simple {
    /// A letter or number of a word.
    pub const WORD: Self = Simple(1 << 24);
    /// A letter or number that is a token of its own.
    pub const ALONE: Self = Simple(1 << 25);
    /// A mark, which belongs to the character before it.
    pub const MARK: Self = Simple(1 << 26);
    /// A mark that may be reordered with another one before it. It begins no normalisation segment, and is simple after a character that
    /// begins one.
    pub const NON_STARTER: Self = Simple(1 << 27);
    /// Not simple.
    pub const NOT: Self = Simple(1 << 28);
    /// It is not its own case folding.
    pub const CHANGED: Self = Simple(1 << 29);
    /// It was looked up. A character that is nothing else separates.
    const KNOWN: Self = Simple(1 << 31);

    /// What is known of the character with this code point, of 16 bits.
    #[inline]
    pub fn of(code: u32) -> Self {
        Simple(TABLE.get(code))
    }

    /// The characters of a block, of two or three bytes, that begin at these bytes and are of each of these kinds. `None` if one of
    /// them was not looked up before.
    #[inline]
    pub fn kinds<const N: usize>(level: Level, block: &Block, firsts: u64, kinds: [Self; N]) -> Option<[u64; N]> {
        TABLE.flags(level, block, firsts, kinds.map(|kind| kind.0))
    }

    /// What is known of any character.
    pub fn of_char(c: char) -> Self {
        match u32::from(c) {
            code if code < 1 << 16 => Simple::of(code),
            _ => Simple::beyond(c),
        }
    }

    /// What is known of the character that these four bytes are.
    pub fn of_four(&[first, second, third, fourth]: &[u8; 4]) -> Self {
        let six = |byte: u8| u32::from(byte & 0x3f);
        let code = u32::from(first & 7) << 18 | six(second) << 12 | six(third) << 6 | six(fourth);
        char::from_u32(code).map_or(Simple::NOT, Simple::beyond)
    }

    /// What is known of a character of four bytes, without its case folding: it is simple if it is unchanged, and no mark.
    fn beyond(c: char) -> Self {
        let properties = Properties::of(c);
        let is_unchanged = properties.all(Properties::UNCHANGED.and(Properties::BEGINS_SEGMENT));
        let is_not = Properties::HAS_IGNORED.and(Properties::MARK).and(Properties::UNSPACED);
        match properties {
            _ if !is_unchanged || properties.any(is_not) => Simple::NOT,
            _ if properties.any(Properties::ALONE) => Simple::ALONE,
            _ if properties.any(Properties::LETTER.and(Properties::NUMBER)) => Simple::WORD,
            _ => Simple::KNOWN,
        }
    }

    /// Whether it is any of these.
    #[inline]
    pub const fn any(self, kinds: Self) -> bool {
        self.0 & kinds.0 != 0
    }

    /// All of these kinds.
    pub const fn or(self, other: Self) -> Self {
        Simple(self.0 | other.0)
    }

    /// The bytes of the case folding, as many as the character has, the first one lowest.
    #[inline]
    pub const fn folded(self) -> [u8; 3] {
        let [first, second, third, _] = self.0.to_le_bytes();
        [first, second, third]
    }

    /// All ones for characters of this kind, otherwise 0.
    #[inline]
    pub const fn mask(self, kind: Self) -> u64 {
        let is_of_kind = self.0 >> kind.0.trailing_zeros() & 1;
        (is_of_kind as u64).wrapping_neg()
    }
}

fn look_up(code: u32) -> Simple {
    let kind = |c: char| {
        let properties = Properties::of(c);
        let begins = properties.any(Properties::BEGINS_SEGMENT);
        let length = c.len_utf8();
        let mut folded = String::with_capacity(4);
        let is_simple = !properties.any(Properties::HAS_IGNORED);
        if is_simple && properties.all(Properties::NORMAL) {
            folded.extend(once(c).default_case_fold());
            let kind = common_kind(&folded)?;
            let is_unchanged = properties.any(Properties::FOLDED);
            return match kind {
                Simple::MARK if !begins => is_unchanged.then_some((kind.or(Simple::NON_STARTER), folded)),
                Simple::MARK => is_unchanged.then_some((kind, folded)),
                _ => (begins && folded.len() == length).then_some((kind, folded)),
            };
        }
        // What becomes a separator, with marks or without, is in no token.
        let becomes = || once(c).nfkc().flat_map(|c| once(c).default_case_fold()).map(Properties::of);
        let is_mark = becomes().next().is_some_and(|first| first.any(Properties::MARK));
        let has_letters = becomes().any(|part| part.any(Properties::LETTER.and(Properties::NUMBER)));
        (is_simple && begins && !is_mark && !has_letters).then(|| (Simple::KNOWN, String::from(c)))
    };
    let Some((kind, folded)) = char::from_u32(code).and_then(kind) else { return Simple::NOT };
    let mut bytes = [0; 4];
    bytes[..folded.len()].copy_from_slice(folded.as_bytes());
    let is_changed = char::from_u32(code).is_some_and(|c| !folded.chars().eq(once(c)));
    let kind = if is_changed { kind.or(Simple::CHANGED) } else { kind };
    Simple(u32::from_le_bytes(bytes)).or(kind).or(Simple::KNOWN)
}

/// The kind of all of these characters, which are normal; `None` if they differ, or one is not simple.
fn common_kind(text: &str) -> Option<Simple> {
    let mut kinds = text.chars().map(|c| match Properties::of(c) {
        properties if properties.any(Properties::UNSPACED) => None,
        properties if properties.any(Properties::MARK) => Some(Simple::MARK),
        properties if properties.any(Properties::ALONE) => Some(Simple::ALONE),
        properties if properties.any(Properties::LETTER.and(Properties::NUMBER)) => Some(Simple::WORD),
        _ => Some(Simple::KNOWN),
    });
    let first = kinds.next()??;
    kinds.all(|kind| kind == Some(first)).then_some(first)
}
