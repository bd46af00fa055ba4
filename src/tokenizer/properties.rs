//! What the tokenizers ask about a character, looked up once and then remembered, in pages of 256 characters.
//!
//! Asking the Unicode tables costs 10 to 50 ns a question, and a tokenizer has up to nine questions. A page is made
//! when the first of its characters is met (about 50 µs), so a run pays for the scripts it sees and starts at once.

use caseless::Caseless;
use std::iter::once;
use std::sync::OnceLock;
use unicode_normalization::char::{canonical_combining_class, decompose_compatible, is_combining_mark};
use unicode_normalization::{IsNormalized, is_nfkc_quick};
use unicode_script::{Script, UnicodeScript};

/// A set of the constants below.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Properties(u16);

/// The size of Unicode in pages.
const PAGES: usize = 0x11_0000 / 256;

static TABLE: [OnceLock<Box<[Properties; 256]>>; PAGES] = [const { OnceLock::new() }; PAGES];

impl Properties {
    /// A normalisation segment may begin here: nothing before it can reach into it. See [`super::normalise`].
    pub const BEGINS_SEGMENT: Self = Properties(1);
    /// Alone, it is its own NFKC.
    pub const NORMAL: Self = Properties(1 << 1);
    /// It is its own case folding.
    pub const FOLDED: Self = Properties(1 << 2);
    /// A combining mark (general category M). Some are alphabetic too; here a mark is nothing but a mark.
    pub const MARK: Self = Properties(1 << 3);
    /// Alphabetic, or `_`.
    pub const LETTER: Self = Properties(1 << 4);
    /// Numeric and not alphabetic.
    pub const NUMBER: Self = Properties(1 << 5);
    /// White_Space.
    pub const WHITE_SPACE: Self = Properties(1 << 6);
    /// A letter or number that is a token of its own: Han, Hiragana, Katakana.
    pub const ALONE: Self = Properties(1 << 7);
    /// A letter or number of a script written without spaces, to be cut at grapheme clusters.
    pub const UNSPACED: Self = Properties(1 << 8);

    /// Alone, it is left as it is by NFKC and case folding.
    pub const UNCHANGED: Self = Self::NORMAL.and(Self::FOLDED);

    /// The properties of `c`.
    #[inline]
    pub fn of(c: char) -> Self {
        let page = c as usize / 256;
        TABLE[page].get_or_init(|| page_of(page))[c as usize % 256]
    }

    /// All of these and those.
    pub const fn and(self, other: Self) -> Self {
        Properties(self.0 | other.0)
    }

    /// Whether all of `wanted` are there.
    #[inline]
    pub const fn all(self, wanted: Self) -> bool {
        self.0 & wanted.0 == wanted.0
    }

    /// Whether any of `wanted` is there.
    #[inline]
    pub const fn any(self, wanted: Self) -> bool {
        self.0 & wanted.0 != 0
    }
}

#[cold]
fn page_of(page: usize) -> Box<[Properties; 256]> {
    let character = |i| char::from_u32((page * 256 + i) as u32);
    // Surrogates are no characters and are never asked for.
    Box::new(std::array::from_fn(|i| character(i).map_or(Properties(0), look_up)))
}

fn look_up(c: char) -> Properties {
    let (mark, alphanumeric) = (is_combining_mark(c), c.is_alphanumeric() || c == '_');
    let letter = alphanumeric && (c.is_alphabetic() || c == '_');
    [
        (Properties::BEGINS_SEGMENT, begins_segment(c)),
        (Properties::NORMAL, is_nfkc_quick(once(c)) == IsNormalized::Yes),
        (Properties::FOLDED, once(c).default_case_fold().eq(once(c))),
        (Properties::MARK, mark),
        (Properties::LETTER, letter && !mark),
        (Properties::NUMBER, alphanumeric && !letter && !mark),
        (Properties::WHITE_SPACE, c.is_whitespace()),
        (Properties::ALONE, alphanumeric && !mark && is_han_or_kana(c)),
        (Properties::UNSPACED, alphanumeric && !mark && is_unspaced(c)),
    ]
    .into_iter()
    .filter(|&(_, has)| has)
    .fold(Properties(0), |all, (property, _)| all.and(property))
}

/// Whether the first character of the full compatibility decomposition is a starter that never composes with what
/// stands before it. Asking the first of the decomposition, not the character itself, is what catches U+FF9E (a
/// halfwidth letter that decomposes to a mark) and U+0344 (a mark that decomposes to two).
fn begins_segment(c: char) -> bool {
    let mut first = None;
    decompose_compatible(c, |part| {
        first.get_or_insert(part);
    });
    let first = first.unwrap_or(c);
    canonical_combining_class(first) == 0 && is_nfkc_quick(once(first)) == IsNormalized::Yes
}

/// Whether all scripts that use `c` are Han or Kana. Asking for all of them, not for the main one, finds the
/// prolonged sound mark ー and the like, whose main script is Common because Hiragana and Katakana share them.
fn is_han_or_kana(c: char) -> bool {
    let ours = |script| matches!(script, Script::Han | Script::Hiragana | Script::Katakana);
    let scripts = c.script_extension();
    ours(c.script()) || (!scripts.is_common() && !scripts.is_empty() && scripts.iter().all(ours))
}

fn is_unspaced(c: char) -> bool {
    matches!(c.script(), Script::Thai | Script::Lao | Script::Khmer | Script::Myanmar)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_characters_that_stand_alone() {
        // Those that normalisation replaces are never asked about; U+1D360.. are the counting rods.
        let alone = Properties::ALONE.and(Properties::NORMAL);
        let shared = ('\0'..'\u{1d360}').filter(|&c| Properties::of(c).all(alone) && c.script() == Script::Common);
        assert_eq!(shared.collect::<String>(), "〆〱〲〳〴〵〼ー");
    }

    #[test]
    fn each_character_is_one_kind_of_thing() {
        let kinds = [Properties::MARK, Properties::LETTER, Properties::NUMBER, Properties::WHITE_SPACE];
        for c in '\0'..=char::MAX {
            let properties = Properties::of(c);
            assert!(kinds.iter().filter(|kind| properties.any(**kind)).count() <= 1, "{c:?}");
            let word = c == '_' || c.is_alphanumeric() || is_combining_mark(c);
            assert_eq!(properties.any(kinds[0].and(kinds[1]).and(kinds[2])), word, "{c:?}");
        }
    }

    #[test]
    fn ascii_is_normal_and_begins_segments() {
        for c in '\0'..='\x7f' {
            assert!(Properties::of(c).all(Properties::NORMAL.and(Properties::BEGINS_SEGMENT)));
            assert_eq!(Properties::of(c).any(Properties::FOLDED), !c.is_ascii_uppercase());
        }
    }
}
