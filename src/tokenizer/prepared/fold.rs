//! Letters without their accents.
//!
//! A token is decomposed (NFD), marks are removed from its letters, and the rest is composed again (NFC). The removed
//! marks are those on letters of Latin, Greek and Cyrillic, and maddah and hamza of Arabic:
//!
//! | block | for example |
//! |---|---|
//! | Combining Diacritical Marks, with Extended, Supplement, for Symbols, and Half Marks | `é` is `e`, `ς̓` is `ς`, `й` is `и` |
//! | Cyrillic, U+0483 to U+0489 | titlo |
//! | Arabic, U+0653 to U+0655 | `أ` is `ا` |
//!
//! Marks of other scripts are kept, because removing them makes another word: vowel signs and nukta of Devanagari and
//! its relatives, tone marks of Thai, the dots of kana (`が` is not `か`). Marks that are not on a letter are kept too
//! (`≠` is not `=`).
//!
//! Letters that Unicode does not decompose are kept, except those that are often written without their stroke or dot
//! where accents are omitted: `đ` `ħ` `ł` `ø` `ŧ` become `d` `h` `l` `o` `t`, and `ı` becomes `i`. `æ`, `œ`, `þ` and
//! `ð` stay. `ß` is `ss` already if the tokenizer folds case, and stays otherwise.

use super::super::properties::Properties;
use unicode_normalization::UnicodeNormalization;

/// What can be folded, each with a line of help.
pub const FOLDS: &[(&str, &str)] = &[("marks", "accents are removed: é is e, ø is o")];

/// Whether a mark is removed from letters.
fn is_folded(mark: char) -> bool {
    matches!(mark, '\u{300}'..='\u{36f}' | '\u{483}'..='\u{489}' | '\u{653}'..='\u{655}' | '\u{1ab0}'..='\u{1aff}'
        | '\u{1dc0}'..='\u{1dff}' | '\u{20d0}'..='\u{20ff}' | '\u{fe20}'..='\u{fe2f}')
}

/// The base of a letter with a stroke, or without its dot, that Unicode does not decompose.
fn without_stroke(c: char) -> char {
    match c {
        'đ' => 'd',
        'Đ' => 'D',
        'ħ' => 'h',
        'Ħ' => 'H',
        'ł' => 'l',
        'Ł' => 'L',
        'ø' => 'o',
        'Ø' => 'O',
        'ŧ' => 't',
        'Ŧ' => 'T',
        'ı' => 'i',
        _ => c,
    }
}

/// The maximum size of a folded token for each byte of the token: what Unicode decomposes need not be composed again.
pub(super) const BYTES_A_BYTE: usize = 3;

/// Appends a token without the marks of its letters. The result is never empty.
pub(super) fn push_folded(token: &str, folded: &mut String) {
    if token.is_ascii() {
        return folded.push_str(token);
    }
    let mut on_letter = false;
    let kept = token.nfd().filter(|&c| {
        let properties = Properties::of(c);
        if properties.any(Properties::MARK) {
            return !(on_letter && is_folded(c));
        }
        on_letter = properties.any(Properties::LETTER);
        true
    });
    folded.extend(kept.map(without_stroke).nfc());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokenizer::tests::{nasty_text, texts};
    use proptest::prelude::*;

    fn folded(token: &str) -> String {
        let mut folded = String::new();
        push_folded(token, &mut folded);
        folded
    }

    #[test]
    fn marks_of_letters() {
        for (token, expected) in [
            ("café", "cafe"),
            ("cafe\u{301}", "cafe"),
            ("Łódź", "Lodz"),
            ("đường", "duong"),
            ("tiếng", "tieng"),
            ("i\u{307}stanbulı", "istanbuli"),
            ("smørrebrød", "smorrebrod"),
            ("ǿ", "o"),
            ("ἐν", "εν"),
            ("λόγος", "λογος"),
            ("ещё", "еще"),
            ("український", "украінськии"),
            ("أؤئآ", "اويا"),
            ("straße", "straße"),
            ("æœþð", "æœþð"),
            ("が", "が"),
            ("か\u{3099}", "が"),
            ("क़", "क\u{93c}"),
            ("हिन्दी", "हिन्दी"),
            ("น้ำ", "น้ำ"),
            ("한국", "한국"),
            ("≠", "≠"),
            ("1\u{20e3}", "1\u{20e3}"),
            ("\u{301}", "\u{301}"),
        ] {
            assert_eq!(folded(token), expected, "{token}");
        }
    }

    #[test]
    fn what_is_folded_are_marks_and_no_others() {
        for mark in ('\0'..=char::MAX).filter(|&c| is_folded(c)) {
            let is_mark = unicode_normalization::char::is_combining_mark(mark);
            assert!(is_mark || !mark.is_alphanumeric(), "{mark:?}");
        }
    }

    proptest! {
        #[test]
        fn folding_again_folds_nothing(token in prop_oneof![texts(), nasty_text(), any::<String>()]) {
            let once = folded(&token);
            prop_assert_eq!(&folded(&once), &once);
            prop_assert!(token.is_empty() || !once.is_empty());
            prop_assert_eq!(folded(&token.nfc().collect::<String>()), folded(&token.nfd().collect::<String>()));
        }
    }
}
