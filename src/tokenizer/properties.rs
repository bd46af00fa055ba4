//! The properties of characters that tokenizers need, looked up once and then cached, in pages of 128 characters.
//!
//! A look-up in the Unicode tables costs 10 to 50 ns, and a tokenizer needs up to nine. A page is filled at the first
//! of its characters (about 25 µs; that of ASCII at once), so a run pays only for the scripts in its input and starts at once.

use caseless::Caseless;
use std::iter::once;
use std::sync::OnceLock;
use unicode_normalization::char::{canonical_combining_class, decompose_compatible, is_combining_mark};
use unicode_normalization::{IsNormalized, is_nfkc_quick};
use unicode_script::{Script, UnicodeScript};

/// A set of the constants below.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Properties(u16);

/// The characters of a page: the first page is ASCII.
const PAGE: usize = 128;

/// The size of Unicode in pages.
const PAGES: usize = 0x11_0000 / PAGE;

static TABLE: [OnceLock<Box<[Properties; PAGE]>>; PAGES] = [const { OnceLock::new() }; PAGES];

impl Properties {
    /// A normalisation segment may begin here: no text before it affects it. See [`super::normalise`].
    pub const BEGINS_SEGMENT: Self = Properties(1);
    /// Alone, it is its own NFKC, and it is not ignored.
    pub const NORMAL: Self = Properties(1 << 1);
    /// It is its own case folding.
    pub const FOLDED: Self = Properties(1 << 2);
    /// A combining mark (general category M). Some are alphabetic too; here a mark has no other property.
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
    /// Not part of any token, and not a separator: see [`IGNORED`].
    pub const IGNORED: Self = Properties(1 << 9);
    /// It is ignored, or a part of its full compatibility decomposition is.
    pub const HAS_IGNORED: Self = Properties(1 << 10);

    /// Unchanged, alone, by NFKC and case folding.
    pub const UNCHANGED: Self = Self::NORMAL.and(Self::FOLDED);

    /// The properties of `c`.
    #[inline]
    pub fn of(c: char) -> Self {
        let page = c as usize / PAGE;
        TABLE[page].get_or_init(|| page_of(page))[c as usize % PAGE]
    }

    /// The union of both.
    pub const fn and(self, other: Self) -> Self {
        Properties(self.0 | other.0)
    }

    /// The properties of `self` without the others.
    pub const fn without(self, other: Self) -> Self {
        Properties(self.0 & !other.0)
    }

    /// Whether all of `wanted` are set.
    #[inline]
    pub const fn all(self, wanted: Self) -> bool {
        self.0 & wanted.0 == wanted.0
    }

    /// Whether any of `wanted` is set.
    #[inline]
    pub const fn any(self, wanted: Self) -> bool {
        self.0 & wanted.0 != 0
    }
}

/// Invisible or optional characters: no tokenizer cuts there, and no token contains them. In order, first to last.
///
/// * Default_Ignorable_Code_Point of Unicode 16.0 (DerivedCoreProperties.txt), the same since 14.0, unassigned code points included:
///   soft hyphens, zero-width spaces, joiners and non-joiners, bidirectional controls, variation selectors, Hangul fillers, tags.
/// * Tatweel, which stretches Arabic words.
/// * Nonspacing marks of Arabic: vowel signs and Quranic annotation. Maddah and hamza (U+0653 to U+0655) do count: they make other
///   letters of alef, waw and yeh, and compose with them.
/// * Points and cantillation marks of Hebrew.
///
/// No canonical composition begins or ends with one of these, except the pointed letters of Hebrew (U+FB1D to U+FB4E),
/// which NFC decomposes.
const IGNORED: &[(char, char)] = &[
    ('\u{ad}', '\u{ad}'),
    ('\u{34f}', '\u{34f}'),
    // Hebrew, without maqaf, paseq, sof pasuq and nun hafukha, which are punctuation.
    ('\u{591}', '\u{5bd}'),
    ('\u{5bf}', '\u{5bf}'),
    ('\u{5c1}', '\u{5c2}'),
    ('\u{5c4}', '\u{5c5}'),
    ('\u{5c7}', '\u{5c7}'),
    // Arabic.
    ('\u{610}', '\u{61a}'),
    ('\u{61c}', '\u{61c}'),
    ('\u{640}', '\u{640}'),
    ('\u{64b}', '\u{652}'),
    ('\u{656}', '\u{65f}'),
    ('\u{670}', '\u{670}'),
    ('\u{6d6}', '\u{6dc}'),
    ('\u{6df}', '\u{6e4}'),
    ('\u{6e7}', '\u{6e8}'),
    ('\u{6ea}', '\u{6ed}'),
    ('\u{897}', '\u{89f}'),
    ('\u{8ca}', '\u{8e1}'),
    ('\u{8e3}', '\u{8ff}'),
    ('\u{115f}', '\u{1160}'),
    ('\u{17b4}', '\u{17b5}'),
    ('\u{180b}', '\u{180f}'),
    ('\u{200b}', '\u{200f}'),
    ('\u{202a}', '\u{202e}'),
    ('\u{2060}', '\u{206f}'),
    ('\u{3164}', '\u{3164}'),
    // A point of Judaeo-Spanish.
    ('\u{fb1e}', '\u{fb1e}'),
    ('\u{fe00}', '\u{fe0f}'),
    ('\u{feff}', '\u{feff}'),
    ('\u{ffa0}', '\u{ffa0}'),
    ('\u{fff0}', '\u{fff8}'),
    ('\u{10efd}', '\u{10eff}'),
    ('\u{1bca0}', '\u{1bca3}'),
    ('\u{1d173}', '\u{1d17a}'),
    ('\u{e0000}', '\u{e0fff}'),
];

fn is_ignored(c: char) -> bool {
    let at = IGNORED.partition_point(|&(_, last)| last < c);
    IGNORED.get(at).is_some_and(|&(first, _)| first <= c)
}

fn has_ignored(c: char) -> bool {
    let mut found = false;
    decompose_compatible(c, |part| found |= is_ignored(part));
    found || is_ignored(c)
}

#[cold]
fn page_of(page: usize) -> Box<[Properties; PAGE]> {
    let look_up = if page == 0 { of_ascii } else { look_up };
    let character = |i| char::from_u32((page * PAGE + i) as u32);
    // Surrogates are not characters and are never looked up.
    Box::new(std::array::from_fn(|i| character(i).map_or(Properties(0), look_up)))
}

/// As [`look_up`], for ASCII, without the tables.
fn of_ascii(c: char) -> Properties {
    let kind = match c {
        'A'..='Z' => return Properties::BEGINS_SEGMENT.and(Properties::NORMAL).and(Properties::LETTER),
        'a'..='z' | '_' => Properties::LETTER,
        '0'..='9' => Properties::NUMBER,
        '\t'..='\r' | ' ' => Properties::WHITE_SPACE,
        _ => Properties(0),
    };
    Properties::BEGINS_SEGMENT.and(Properties::UNCHANGED).and(kind)
}

fn look_up(c: char) -> Properties {
    let (mark, alphanumeric) = (is_combining_mark(c), c.is_alphanumeric() || c == '_');
    let letter = alphanumeric && (c.is_alphabetic() || c == '_');
    [
        (Properties::BEGINS_SEGMENT, begins_segment(c)),
        (Properties::NORMAL, is_nfkc_quick(once(c)) == IsNormalized::Yes && !is_ignored(c)),
        (Properties::FOLDED, once(c).default_case_fold().eq(once(c))),
        (Properties::MARK, mark),
        (Properties::LETTER, letter && !mark),
        (Properties::NUMBER, alphanumeric && !letter && !mark),
        (Properties::WHITE_SPACE, c.is_whitespace()),
        (Properties::ALONE, alphanumeric && !mark && is_han_or_kana(c)),
        (Properties::UNSPACED, alphanumeric && !mark && is_unspaced(c)),
        (Properties::IGNORED, is_ignored(c)),
        (Properties::HAS_IGNORED, has_ignored(c)),
    ]
    .into_iter()
    .filter(|&(_, has)| has)
    .fold(Properties(0), |all, (property, _)| all.and(property))
}

/// Whether the first character of the full compatibility decomposition is a starter that never composes with preceding
/// text. Checking the first of the decomposition, not the character itself, covers U+FF9E (a halfwidth letter that
/// decomposes to a mark) and U+0344 (a mark that decomposes to two). An ignored character begins no segment: without
/// it, the following text could compose with the preceding text.
fn begins_segment(c: char) -> bool {
    let mut first = None;
    decompose_compatible(c, |part| {
        first.get_or_insert(part);
    });
    let first = first.unwrap_or(c);
    canonical_combining_class(first) == 0 && is_nfkc_quick(once(first)) == IsNormalized::Yes && !is_ignored(first)
}

/// Whether all scripts that use `c` are Han or Kana. Checking all of them, not only the main one, covers the prolonged
/// sound mark ー and similar characters, whose main script is Common because Hiragana and Katakana share them.
fn is_han_or_kana(c: char) -> bool {
    let ours = |script| matches!(script, Script::Han | Script::Hiragana | Script::Katakana);
    let scripts = c.script_extension();
    ours(c.script()) || (!scripts.is_common() && !scripts.is_empty() && scripts.iter().all(ours))
}

fn is_unspaced(c: char) -> bool {
    matches!(c.script(), Script::Thai | Script::Lao | Script::Khmer | Script::Myanmar)
}

/// Whether a character is a token of its own to [`Word`](super::Word): Han, Hiragana, Katakana.
pub(crate) fn stands_alone(c: char) -> bool {
    Properties::of(c).any(Properties::ALONE)
}

/// Whether a token of [`Word`](super::Word) that starts with this character is a letter with its marks, as in Thai, Lao, Khmer and Burmese.
pub(crate) fn starts_cluster(c: char) -> bool {
    Properties::of(c).any(Properties::UNSPACED) && !c.is_numeric()
}

/// Whether a text has a letter: an alphabetic character that is no combining mark.
pub(crate) fn has_letter(text: &str) -> bool {
    let is_letter = |c: char| c != '_' && Properties::of(c).any(Properties::LETTER);
    text.bytes().any(|byte| byte.is_ascii_alphabetic()) || !text.is_ascii() && text.chars().any(is_letter)
}

#[cfg(test)]
mod tests {
    use super::*;
    use unicode_normalization::char::decompose_canonical;

    #[test]
    fn shared_characters_that_stand_alone() {
        // Characters that normalisation replaces are never looked up; U+1D360.. are the counting rods.
        let alone = Properties::ALONE.and(Properties::NORMAL);
        let shared = ('\0'..'\u{1d360}').filter(|&c| Properties::of(c).all(alone) && c.script() == Script::Common);
        assert_eq!(shared.collect::<String>(), "〆〱〲〳〴〵〼ー");
    }

    #[test]
    fn letters_are_alphabetic() {
        let mut buffer = [0; 4];
        for c in ('\0'..=char::MAX).filter(|&c| !is_combining_mark(c)) {
            assert_eq!(has_letter(c.encode_utf8(&mut buffer)), c.is_alphabetic(), "{c:?}");
        }
        assert!(has_letter("1a") && has_letter("1é") && !has_letter("1_\u{301}"));
    }

    #[test]
    fn what_is_ignored() {
        assert!(IGNORED.iter().all(|(first, last)| first <= last) && IGNORED.is_sorted_by(|a, b| a.1 < b.0));
        let ignored = |c: &char| Properties::of(*c).any(Properties::IGNORED);
        // 4,174 of Default_Ignorable_Code_Point, by the count at the end of it in DerivedCoreProperties.txt; 52 of Hebrew, 115 of Arabic.
        assert_eq!(('\0'..=char::MAX).filter(ignored).count(), 4174 + 52 + 115);
        for (first, last) in IGNORED {
            let (before, after) = (*first as u32 - 1, *last as u32 + 1);
            assert!([*first, *last].iter().all(ignored));
            assert!(![before, after].into_iter().filter_map(char::from_u32).any(|c| ignored(&c)), "{first:?}");
        }
        // Visible, or distinguishing: letters of several parts, signs of other scripts, punctuation and white space.
        let counted = "أإآؤئۀ\u{653}\u{654}\u{655}\u{93c}\u{941}\u{94d}\u{e34}\u{e48}\u{300}\u{301}\u{345}\u{3099}\u{20e3}־׀׃\u{6dd}۞\u{6e5}\u{6e9}\
            \u{2010}\u{2011}\u{2028}\u{a0}\u{2009}\u{3000}\u{fff9}\u{fffd}";
        assert!(!counted.chars().any(|c| ignored(&c)));
    }

    #[test]
    fn what_is_ignored_is_not_composed() {
        for c in '\0'..=char::MAX {
            let mut parts = Vec::new();
            decompose_canonical(c, |part| parts.push(part));
            let ignored = parts.iter().any(|&part| is_ignored(part)) && !is_ignored(c);
            assert_eq!(
                ignored,
                matches!(c, '\u{fb1d}' | '\u{fb1f}' | '\u{fb2a}'..='\u{fb4e}') && parts.len() > 1,
                "{c:?}"
            );
            assert!(!ignored || is_nfkc_quick(once(c)) == IsNormalized::No);
            assert!(!is_ignored(c) || parts == [c]);
        }
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
    fn ascii_needs_no_tables() {
        for c in '\0'..='\x7f' {
            assert_eq!(of_ascii(c), look_up(c), "{c:?}");
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
