//! Words as the Unicode Standard cuts them.

use super::ascii::ascii_prefix;
use super::normalise::Segments;
use super::{Tokenizer, Tokens};
use std::borrow::Cow;
use std::ops::Range;
use unicode_segmentation::UnicodeSegmentation;

/// Words by Unicode Standard Annex 29, case folded.
///
/// # What a token is
/// What stands between two word boundaries of UAX 29 (its default rules) and has a letter or number in it: `don't`,
/// `3.14` and `e.g` are one token each. A run of Katakana is one token; each Han or Hiragana character is one, and so
/// is each letter of Thai, Lao, Khmer and Burmese with its marks, because the default rules leave words of these to
/// dictionaries.
///
/// # What is normalised
/// Boundaries are found in the original; then each word is brought to NFKC and case folded. Canonically equivalent
/// texts have the same tokens; compatibility equivalents need not (`㍿` is no word). The span of a token is the word,
/// to the byte.
///
/// # Cost
/// 235 MB/s on ASCII, 185 on texts with up to 2 % of bytes beyond ASCII, 110 on those with 2 to 20 %, 85 above; 25 on
/// Thai. See [the module](crate::tokenizer) for what was measured.
///
/// # Weak
/// Slow beyond ASCII. A token may have white space in it, where a ligature stands for a phrase (`ﷺ`).
#[derive(Clone, Copy, Debug, Default)]
pub struct Uax29;

impl Tokenizer for Uax29 {
    fn name(&self) -> Cow<'_, str> {
        "uax29".into()
    }

    fn tokenize(&self, text: &str, tokens: &mut Tokens) {
        tokens.clear();
        let mut at = 0;
        while at < text.len() {
            let ascii = ascii_piece(text.as_bytes(), at);
            push_words(text, at..ascii, tokens);
            at = mixed_piece(text.as_bytes(), ascii);
            push_words(text, ascii..at, tokens);
        }
    }
}

/// Pushes the words of a piece of the text that begins and ends where a cut is allowed. `unicode-segmentation` has a
/// faster way for a text of nothing but ASCII, which is what cutting the text into pieces is for.
fn push_words(text: &str, piece: Range<usize>, tokens: &mut Tokens) {
    for (offset, word) in text[piece.clone()].unicode_word_indices() {
        let start = piece.start + offset;
        if word.is_ascii() {
            push_lower(word, start, tokens);
        } else {
            for segment in Segments::from(word, 0) {
                segment.each_folded(|c| tokens.building().push(c));
            }
            tokens.finish(start..start + word.len());
        }
    }
}

fn push_lower(word: &str, start: usize, tokens: &mut Tokens) {
    let building = tokens.building();
    let before = building.len();
    building.push_str(word);
    building[before..].make_ascii_lowercase();
    tokens.finish(start..start + word.len());
}

/// Whether the text may be cut before byte `at`: a space after an ASCII character that is none. The rules join a
/// space to nothing but other spaces before it (WB3d) and to marks and joiners after it (WB4), and none looks past
/// it.
fn may_cut(bytes: &[u8], at: usize) -> bool {
    bytes[at] == b' ' && at > 0 && bytes[at - 1].is_ascii() && bytes[at - 1] != b' '
}

/// The end of the piece from `at` on that has nothing but ASCII in it.
fn ascii_piece(bytes: &[u8], at: usize) -> usize {
    match at + ascii_prefix(&bytes[at..]) {
        ascii if ascii == bytes.len() => ascii,
        ascii => (at + 1..ascii).rev().find(|&end| may_cut(bytes, end)).unwrap_or(at),
    }
}

/// The end of the piece from `at` on up to the first cut after a character beyond ASCII.
fn mixed_piece(bytes: &[u8], at: usize) -> usize {
    let ascii = at + ascii_prefix(&bytes[at..]);
    (ascii..bytes.len()).find(|&end| may_cut(bytes, end)).unwrap_or(bytes.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokenizer::tests::{nasty_text, shown, texts};
    use caseless::Caseless;
    use proptest::prelude::*;
    use unicode_normalization::UnicodeNormalization;

    /// The definition on the whole text. A letter beyond ASCII in front keeps the segmentation on its general way.
    fn plain(text: &str) -> Vec<(String, Range<usize>)> {
        let folded = |word: &str| word.nfkc().default_case_fold().collect();
        let general = format!("é\n{text}");
        let words = general.unicode_word_indices().skip(1);
        words.map(|(start, word)| (folded(word), start - 3..start - 3 + word.len())).collect()
    }

    #[test]
    fn words() {
        for (text, expected) in [
            ("Don't stop: e.g. 3.14, 1,000;5 a.b.c", "don't|stop|e.g|3.14|1,000;5|a.b.c"),
            ("snake_case _ __x", "snake_case|__x"),
            ("Straße cafe\u{301}", "strasse|café"),
            ("テキスト ひら 日本 ㍿", "テキスト|ひ|ら|日|本"),
            ("ที่นี่", "ที่|นี่"),
            ("ﷺ", "صلى الله عليه وسلم"),
            ("", ""),
        ] {
            let tokens: Vec<_> = shown(&Uax29, text).into_iter().map(|(token, _)| token).collect();
            assert_eq!(tokens.join("|"), expected, "{text:?}");
        }
    }

    #[test]
    fn spaces_that_belong_together_are_not_cut() {
        // U+0345 is alphabetic and attaches to the space before it, and spaces hold together: an odd word, but the
        // rules'.
        for text in
            ["x  \u{345}y", "x \u{345}y", "é\u{2003} \u{345}", "x\u{2003} \u{345} é ", "é x  \u{345}", "é  \u{345}"]
        {
            assert_eq!(shown(&Uax29, text), plain(text), "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn pieces_give_the_words_of_the_whole(text in prop_oneof![texts(), nasty_text(), any::<String>()]) {
            prop_assert_eq!(shown(&Uax29, &text), plain(&text));
        }

        #[test]
        fn ascii_gives_the_words_of_the_rules(text in "([a-c1-3_'.,:; \r\n\"-]|[ -~]){0,60}") {
            prop_assert_eq!(shown(&Uax29, &text), plain(&text));
        }
    }
}
