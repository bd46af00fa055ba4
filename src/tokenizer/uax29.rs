//! Words as the Unicode Standard cuts them.

use super::ascii::ascii_prefix;
use super::normalise::{Segments, counts, has_ignored};
use super::shortened::Shortened;
use super::{Tokenizer, Tokens};
use std::borrow::Cow;
use std::ops::Range;
use unicode_segmentation::UnicodeSegmentation;

/// Words by Unicode Standard Annex 29, case folded.
///
/// # What a token is
/// The text between two word boundaries of UAX 29 (its default rules), if it has a letter or number: `don't`, `3.14`
/// and `e.g` are one token each. A run of Katakana is one token. Each Han or Hiragana character is one, and so is each
/// letter of Thai, Lao, Khmer and Burmese with its marks, because the default rules leave words of these to
/// dictionaries.
///
/// # What is normalised
/// Boundaries are found in the original without [invisible characters](super#what-does-not-count). Then each word is
/// brought to NFKC and case folded. Canonically equivalent texts have the same tokens; compatibility equivalents need
/// not (`㍿` is not a word). The span of a token is the word, to the byte.
///
/// # Cost
/// 235 MB/s on ASCII, 185 on texts with up to 2 % of bytes beyond ASCII, 110 on those with 2 to 20 %, 85 above; 25 on
/// Thai. See [the module](crate::tokenizer) for what was measured.
///
/// # Weak
/// Slow beyond ASCII. A token may contain white space, where a ligature represents a phrase (`ﷺ`).
#[derive(Clone, Copy, Debug, Default)]
pub struct Uax29;

impl Tokenizer for Uax29 {
    fn name(&self) -> Cow<'_, str> {
        "uax29".into()
    }

    fn tokenize(&self, text: &str, tokens: &mut Tokens) {
        tokens.clear();
        let mut at = 0;
        while at < text.len() && !tokens.is_beyond_bound() {
            let ascii = ascii_piece(text.as_bytes(), at);
            push_words(&text[at..ascii], at, None, tokens);
            let end = mixed_piece(text.as_bytes(), ascii);
            push_mixed(&text[ascii..end], ascii, tokens);
            at = end;
        }
    }
}

/// Pushes the words of a piece of any content that begins at byte `start` of the text.
fn push_mixed(piece: &str, start: usize, tokens: &mut Tokens) {
    if !has_ignored(piece) {
        return push_words(piece, start, None, tokens);
    }
    let mut shortened = std::mem::take(&mut tokens.shortened);
    shortened.begin(tokens.room_beside());
    shortened.extend(piece, counts);
    if shortened.is_beyond_bound() {
        tokens.give_up();
    } else {
        tokens.hold_beside(shortened.bytes_held());
        push_words(&shortened.text, start, Some(&shortened), tokens);
        tokens.hold_beside(0);
    }
    tokens.shortened = shortened;
}

/// Pushes the words of a piece that begins at byte `begin` of the text, and begins and ends where a cut is allowed. If
/// something was left out, the piece is the text of `shortened`. `unicode-segmentation` is faster for pure ASCII text;
/// the text is cut into pieces for this reason.
fn push_words(piece: &str, begin: usize, shortened: Option<&Shortened>, tokens: &mut Tokens) {
    for (start, word) in piece.unicode_word_indices() {
        if word.is_ascii() {
            push_lower(word, tokens);
        } else {
            for segment in Segments::from(word, 0) {
                if tokens.has_room_for(segment.bytes_to_normalise()) {
                    segment.each_folded(|c| tokens.building().push(c));
                }
            }
        }
        let span = start..start + word.len();
        let Range { start, end } = shortened.map_or(span.clone(), |shortened| shortened.original(span));
        tokens.finish(begin + start..begin + end);
    }
}

fn push_lower(word: &str, tokens: &mut Tokens) {
    if let Some(building) = tokens.building_more(word.len()) {
        let before = building.len();
        building.push_str(word);
        building[before..].make_ascii_lowercase();
    }
}

/// Whether the text may be cut before byte `at`: at a space after an ASCII character that is not a space. The rules
/// join a space only to other spaces before it (WB3d) and to marks and joiners after it (WB4), and none depends on text
/// beyond it.
fn may_cut(bytes: &[u8], at: usize) -> bool {
    bytes[at] == b' ' && at > 0 && bytes[at - 1].is_ascii() && bytes[at - 1] != b' '
}

/// The end of the ASCII piece that starts at `at`.
fn ascii_piece(bytes: &[u8], at: usize) -> usize {
    match at + ascii_prefix(&bytes[at..]) {
        ascii if ascii == bytes.len() => ascii,
        ascii => (at + 1..ascii).rev().find(|&end| may_cut(bytes, end)).unwrap_or(at),
    }
}

/// The end of the piece from `at` to the first cut after a character beyond ASCII.
fn mixed_piece(bytes: &[u8], at: usize) -> usize {
    let ascii = at + ascii_prefix(&bytes[at..]);
    (ascii..bytes.len()).find(|&end| may_cut(bytes, end)).unwrap_or(bytes.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokenizer::tests::{nasty_text, normalised, shown, texts};
    use caseless::Caseless;
    use proptest::prelude::*;

    /// The definition on the whole text. A letter beyond ASCII in front keeps the segmentation on its general path.
    fn plain(text: &str) -> Vec<(String, Range<usize>)> {
        let folded = |word: &str| normalised(word).chars().default_case_fold().collect::<String>();
        let counted: Vec<(usize, char)> = text.char_indices().filter(|(_, c)| counts(*c)).collect();
        let general: String = "é\n".chars().chain(counted.iter().map(|(_, c)| *c)).collect();
        // From the first to the last of its characters.
        let mut at = 0;
        let mut words = Vec::new();
        for piece in general.split_word_bounds().skip(2) {
            let characters = &counted[at..at + piece.chars().count()];
            at += characters.len();
            let (last, c) = characters[characters.len() - 1];
            if piece.chars().any(char::is_alphanumeric) && !folded(piece).is_empty() {
                words.push((folded(piece), characters[0].0..last + c.len_utf8()));
            }
        }
        words
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
        // U+0345 is alphabetic and attaches to the space before it, and spaces are joined: an odd word, but the rules
        // define it so.
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
