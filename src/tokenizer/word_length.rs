//! The length of a text in words.

use super::properties::Properties;
use super::{Tokenizer, Tokens, Word};
use std::borrow::Cow;

/// Counts words, to choose between [runs of characters](super::CharNgram::for_length) by the length of documents. The tokens
/// are only to be counted.
///
/// # What a token is
/// One for each token of [`Word`], but only one for two characters of a script that is written without spaces: Han, Hiragana
/// and Katakana (as in `check`), Thai, Lao, Khmer and Burmese. A text of 300 Han characters has 150.
///
/// # Cost
/// As for [`Word`], and a look-up for each character if the text is not ASCII.
#[derive(Clone, Copy, Debug, Default)]
pub struct WordLength;

impl Tokenizer for WordLength {
    fn name(&self) -> Cow<'_, str> {
        "word length".into()
    }

    fn tokenize(&self, text: &str, tokens: &mut Tokens) {
        Word.tokenize(text, tokens);
        if text.is_ascii() {
            return;
        }
        let is_unspaced = |&c: &char| Properties::of(c).any(Properties::ALONE.and(Properties::UNSPACED));
        // A character may have another number of tokens when it is normalised.
        let characters = text.chars().filter(is_unspaced).count().min(tokens.len());
        tokens.truncate(tokens.len() - characters / 2);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokenizer::TokenDetail;

    #[test]
    fn two_characters_of_a_script_without_spaces_are_a_word() {
        for (text, words) in [
            ("", 0),
            ("...", 0),
            ("one two three", 3),
            ("eins zwei drei größer", 4),
            ("한국어는 띄어쓰기를 한다", 3),
            ("字", 1),
            ("漢字", 1),
            ("漢字か", 2),
            ("漢字かな混じり文", 4),
            ("東京 Tokyo 2020", 3),
            ("ภาษาไทย", 4),
            ("ﾊﾟ", 1),
        ] {
            for detail in [TokenDetail::Hashes, TokenDetail::Everything] {
                let mut tokens = Tokens::new(detail, 0);
                WordLength.tokenize(text, &mut tokens);
                assert_eq!(tokens.len(), words, "{text}");
            }
        }
        let mut tokens = Tokens::new(TokenDetail::Hashes, 0);
        WordLength.tokenize(&"字".repeat(300), &mut tokens);
        assert_eq!(tokens.len(), 150);
    }
}
