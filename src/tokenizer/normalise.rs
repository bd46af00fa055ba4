//! NFKC and case folding piece by piece. Thus every normalised character is mapped to its bytes in the original, and
//! text that is normalised already (nearly all text) is only read.
//!
//! A text is cut into *segments*. There is a boundary before a character if the first character of its full
//! compatibility decomposition is a starter (combining class 0) that never composes with a preceding character (its
//! NFKC_Quick_Check is Yes). Canonical reordering moves nothing past a starter, and composition joins a character only
//! to a starter before it. So nothing crosses such a boundary, and the NFKC of the text is the NFKC of its segments,
//! one after the other (Unicode Standard Annex 15, "Detecting Normalization Forms"). Case folding works on single
//! characters, so it also stays within the segments.
//!
//! [Ignored](Properties::IGNORED) characters are removed between decomposition and composition, so that texts that
//! differ only in them become equal: `e`, a joiner and an acute accent are `é`. An ignored character belongs to the
//! segment before it.

use super::properties::Properties;
use super::ranges::Ranges;
use super::room::reserve_text;
use caseless::Caseless;
use std::iter::once;
use std::ops::Range;
use std::str::Chars;
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfkc_quick};

/// The segments of a text, in order and without gaps.
pub(super) struct Segments<'a> {
    text: &'a str,
    /// The first character of the next segment, with its properties and its position.
    first: Option<(char, Properties)>,
    start: usize,
    /// The text after the first character.
    rest: Chars<'a>,
}

/// A piece of text that can be normalised separately.
#[derive(Clone, Copy, Debug)]
pub(super) struct Segment<'a> {
    whole: &'a str,
    /// Its span in the whole text.
    start: usize,
    end: usize,
    /// The character and its properties, if there is only one, not counting ignored ones after it: the usual case. If
    /// there are ignored ones, FOLDED is not among the properties, so that the segment is not taken unchanged.
    single: Option<(char, Properties)>,
    /// The properties that any of its characters has.
    any: Properties,
}

impl<'a> Segments<'a> {
    /// The segments of `text` from byte `start`, where a segment must begin.
    pub fn from(text: &'a str, start: usize) -> Self {
        let mut rest = text[start..].chars();
        let first = rest.next().map(|c| (c, Properties::of(c)));
        Segments { text, first, start, rest }
    }

    /// The start of the next segment.
    #[inline]
    pub fn at(&self) -> usize {
        self.start
    }

    /// The first character of the next segment.
    #[inline]
    pub fn first(&self) -> Option<char> {
        self.first.map(|(c, _)| c)
    }

    /// Skips segments of one character that normalisation and folding do not change and that `wanted` holds for, in a
    /// tighter loop than one by one. Returns the start of the next segment.
    #[inline]
    pub fn pass(&mut self, wanted: impl Fn(Properties) -> bool) -> usize {
        while let Some((_, properties)) = self.first
            && properties.all(Properties::UNCHANGED)
            && wanted(properties)
        {
            let mut rest = self.rest.clone();
            let next = rest.next().map(|c| (c, Properties::of(c)));
            if next.is_some_and(|(_, properties)| !properties.any(Properties::BEGINS_SEGMENT)) {
                break;
            }
            self.start = self.text.len() - self.rest.as_str().len();
            (self.first, self.rest) = (next, rest);
        }
        self.start
    }
}

impl<'a> Iterator for Segments<'a> {
    type Item = Segment<'a>;

    #[inline]
    fn next(&mut self) -> Option<Segment<'a>> {
        let first = self.first?;
        let (mut single, mut any) = (Some(first), first.1);
        let mut end;
        loop {
            end = self.text.len() - self.rest.as_str().len();
            self.first = self.rest.next().map(|c| (c, Properties::of(c)));
            match self.first {
                Some((_, properties)) if !properties.any(Properties::BEGINS_SEGMENT) => {
                    any = any.and(properties);
                    single = single.filter(|_| properties.any(Properties::IGNORED));
                    single = single.map(|(c, properties)| (c, properties.without(Properties::FOLDED)));
                }
                _ => break,
            }
        }
        let start = std::mem::replace(&mut self.start, end);
        Some(Segment { whole: self.text, start, end, single, any })
    }
}

impl Segment<'_> {
    /// The bytes of the original text.
    #[inline]
    pub fn range(&self) -> Range<usize> {
        self.start..self.end
    }

    /// The properties of the one character, if it is its own NFKC and case folding and nothing is ignored.
    #[inline]
    pub fn as_is(&self) -> Option<Properties> {
        self.single.map(|(_, properties)| properties).filter(|properties| properties.all(Properties::UNCHANGED))
    }

    /// The memory that normalisation takes at most, in bytes; 0 if that is little.
    #[inline]
    pub fn bytes_to_normalise(&self) -> usize {
        bytes_to_normalise(self.end - self.start)
    }

    /// Passes each character of the NFKC to a function.
    #[inline]
    pub fn each_nfkc(&self, mut each: impl FnMut(char)) {
        match self.single {
            Some((c, properties)) if properties.all(Properties::NORMAL) => each(c),
            _ => self.each_of_several(each),
        }
    }

    /// Passes each character of the NFKC, case folded, to a function.
    #[inline]
    pub fn each_folded(&self, mut each: impl FnMut(char)) {
        match self.single {
            Some((c, properties)) if properties.all(Properties::UNCHANGED) => each(c),
            Some((c, _)) if c.is_ascii() => each(c.to_ascii_lowercase()),
            Some((c, _)) if Properties::of(c).all(Properties::UNCHANGED) => each(c),
            _ => self.each_nfkc(|c| once(c).default_case_fold().for_each(&mut each)),
        }
    }

    fn each_of_several(&self, each: impl FnMut(char)) {
        let text = &self.whole[self.range()];
        if self.any.any(Properties::HAS_IGNORED) {
            // Decomposition may produce ignored characters: the presentation forms of Arabic vowel signs contain
            // tatweels.
            return counted(text).nfkd().filter(|&c| counts(c)).nfc().for_each(each);
        }
        // For most letters with vowel signs, a quick check shows that they are normalised.
        match is_nfkc_quick(text.chars()) {
            IsNormalized::Yes => text.chars().for_each(each),
            _ => text.nfkc().for_each(each),
        }
    }
}

/// The memory that the normalisation of so many bytes takes at most, in bytes; 0 if that is little. Marks of one letter are held until
/// they are sorted.
#[inline]
pub(super) fn bytes_to_normalise(length: usize) -> usize {
    const SHORT: usize = 1 << 8;
    const BYTES_A_BYTE: usize = 12;
    if length <= SHORT { 0 } else { BYTES_A_BYTE * length }
}

/// Whether a character is not ignored.
#[inline]
pub(super) fn counts(c: char) -> bool {
    !Properties::of(c).any(Properties::IGNORED)
}

/// Whether a text contains characters that are ignored.
pub(super) fn has_ignored(text: &str) -> bool {
    // Most texts have none of the first bytes of ignored characters, and many bytes are checked at a time.
    let begins_ignored = |byte| matches!(byte, 0xc2 | 0xcd | 0xd6..=0xd9 | 0xdb | 0xe0..=0xe3 | 0xef..=0xf4);
    let is_ignored = |at: usize| text[at..].chars().next().is_some_and(|c| !counts(c));
    text.bytes().fold(false, |found, byte| found | begins_ignored(byte))
        && text.bytes().enumerate().any(|(at, byte)| begins_ignored(byte) && is_ignored(at))
}

/// The characters that are not ignored.
pub(super) fn counted(text: &str) -> impl Iterator<Item = char> + Clone {
    text.chars().filter(|&c| counts(c))
}

/// Normalised text with the positions of its source: working memory, refilled.
#[derive(Clone, Debug, Default)]
pub(super) struct Normalised {
    /// The text.
    pub text: String,
    /// For each character of the text, the bytes of the original that it came from; empty if spans are not needed.
    pub spans: Ranges,
}

impl Normalised {
    /// Removes the text, keeps the memory.
    pub fn clear(&mut self) {
        self.text.clear();
        self.spans.clear();
    }

    /// Bytes of memory.
    pub fn bytes_held(&self) -> usize {
        self.text.capacity() + self.spans.bytes_held()
    }

    /// Makes room for so many bytes, and for the spans of as many characters if `with_spans`, where all of it takes at most `room` bytes.
    /// Returns whether there is.
    #[inline]
    pub fn reserve(&mut self, bytes: usize, with_spans: bool, room: impl Fn() -> usize) -> bool {
        let held = self.bytes_held();
        reserve_text(&mut self.text, bytes, || room().saturating_sub(held)) && {
            let held = self.bytes_held();
            !with_spans || self.spans.reserve(bytes, || room().saturating_sub(held))
        }
    }

    /// Appends a character that came from `span`, which is stored if `with_span`.
    #[inline]
    pub fn push(&mut self, c: char, span: Range<usize>, with_span: bool) {
        self.text.push(c);
        if with_span {
            self.spans.push(span);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokenizer::tests::{nasty_text, normalised, texts};
    use proptest::prelude::*;

    fn by_segments(text: &str, fold: bool) -> String {
        let mut out = String::new();
        for segment in Segments::from(text, 0) {
            if fold { segment.each_folded(|c| out.push(c)) } else { segment.each_nfkc(|c| out.push(c)) }
        }
        out
    }

    fn check(text: &str) {
        let expected = normalised(text);
        assert_eq!(by_segments(text, false), expected, "{text:?}");
        assert_eq!(by_segments(text, true), expected.chars().default_case_fold().collect::<String>(), "{text:?}");
        let mut end = 0;
        for segment in Segments::from(text, 0) {
            assert_eq!(segment.start, end);
            end = segment.range().end;
        }
        assert_eq!(end, text.len());
    }

    #[test]
    fn every_character_after_a_base_that_composes_and_before_a_mark() {
        // Bases that open compositions (Latin, Greek, jamo, Hangul LV, kana, Indic) against all of Unicode.
        for c in '\0'..=char::MAX {
            for base in ['a', 'ω', 'ᄀ', '가', 'カ', 'க', 'ေ', '\u{1100}', '\u{0f71}', '\u{11131}'] {
                let text: String = [base, c, '\u{301}', '\u{3099}', '\u{1161}', '\u{11a8}'].iter().collect();
                let pieces: Vec<_> = Segments::from(&text, 0).collect();
                let mut joined = String::new();
                for piece in &pieces {
                    piece.each_nfkc(|c| joined.push(c));
                }
                assert_eq!(joined, normalised(&text), "{text:?} {pieces:?}");
            }
        }
    }

    #[test]
    fn every_pair_of_characters_that_touch_each_other() {
        // Characters that are changed by, or change, their neighbours: every pair and a mark between.
        let touchy: Vec<char> = ('\0'..='\u{2fff}')
            .chain('\u{ac00}'..='\u{ac40}')
            .chain('\u{f900}'..='\u{ffff}')
            .filter(|&c| !Properties::of(c).all(Properties::BEGINS_SEGMENT.and(Properties::NORMAL)))
            .collect();
        for (i, &c) in touchy.iter().enumerate() {
            // All pairs would take minutes; a stride that is coprime to the number of characters visits each in turn.
            for k in 0..40 {
                let d = touchy[(i * 31 + k * 97) % touchy.len()];
                check(&['q', c, d, '\u{323}', c].iter().collect::<String>());
            }
        }
    }

    #[test]
    fn ignored_characters_are_found() {
        for c in '\0'..=char::MAX {
            assert_eq!(has_ignored(&format!("a{c}é")), !counts(c), "{c:?}");
        }
    }

    #[test]
    fn notorious_strings() {
        for text in
            ["", "e\u{301}", "\u{301}", "ﾊﾞ", "\u{344}", "\u{1100}\u{1161}\u{11a8}", "\u{f73}\u{f71}", "ำ", "ﷺ", "㍿"]
        {
            check(text);
        }
    }

    proptest! {
        #[test]
        fn segments_normalise_to_the_normalised_text(text in prop_oneof![texts(), nasty_text(), any::<String>()]) {
            check(&text);
        }
    }
}
