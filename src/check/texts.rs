//! Texts that are accepted wherever they are: their words do not count.

use super::find::word;
use crate::prose::{self, Markup, ProseOptions};
use crate::tokenizer::{TokenDetail, Tokenizer, Tokens, Word};
use memchr::memmem::Finder;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

/// The texts of a configuration.
#[derive(Default)]
pub(super) struct Texts(Vec<Text>);

struct Text {
    /// The hashes of its words, as bytes.
    words: Finder<'static>,
    /// Whether a page has it.
    is_found: AtomicBool,
}

/// Bytes of a hash.
const WORD_BYTES: usize = size_of::<u64>();

impl Texts {
    /// One for each text, which is read as plain text. A text without words is in no page.
    pub fn new<'a>(texts: impl Iterator<Item = &'a str>) -> Self {
        let text =
            |text| Text { words: Finder::new(&bytes_of(&words(text))).into_owned(), is_found: AtomicBool::new(false) };
        Texts(texts.map(text).collect())
    }

    /// Where the words of a page are one of the texts, in any order. The ranges may overlap.
    ///
    /// Cost: linear in the words, for each text.
    pub fn find(&self, words: &[u64]) -> Vec<Range<usize>> {
        if self.0.is_empty() {
            return Vec::new();
        }
        let (page, mut found) = (bytes_of(words), Vec::new());
        for text in self.0.iter().filter(|text| !text.words.needle().is_empty()) {
            // A match that does not begin with a word would be one of parts of hashes.
            let starts = text.words.find_iter(&page).filter(|start| start.is_multiple_of(WORD_BYTES));
            let before = found.len();
            let length = text.words.needle().len() / WORD_BYTES;
            found.extend(starts.map(|start| start / WORD_BYTES).map(|start| start..start + length));
            text.is_found.fetch_or(found.len() > before, Ordering::Relaxed);
        }
        found
    }

    /// Whether each of the texts was found in one of the pages so far.
    pub fn are_found(&self) -> impl Iterator<Item = bool> {
        self.0.iter().map(|text| text.is_found.load(Ordering::Relaxed))
    }
}

/// The words of a text, as those of a page.
pub(super) fn words(text: &str) -> Vec<u64> {
    let all =
        ProseOptions { code: true, front_matter: true, licences: true, contents: true, ..ProseOptions::default() };
    let prose = prose::read(Markup::Plain, text, &all);
    let (mut words, mut tokens) = (Vec::new(), Tokens::new(TokenDetail::Everything, 0));
    for block in prose.blocks() {
        tokens.clear();
        Word.tokenize(&prose.text()[block.text.clone()], &mut tokens);
        words.extend((0..tokens.len()).map(|token| word(tokens.text(token))));
    }
    words
}

fn bytes_of(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_found_by_their_words() {
        let texts = Texts::new(["One, two three\n\n  four.", "four five", "six seven", ""].into_iter());
        let page = words("Zero one *two* THREE four five. one two three four");
        assert_eq!(texts.find(&page), [1..5, 6..10, 4..6]);
        assert_eq!(texts.are_found().collect::<Vec<_>>(), [true, true, false, false]);
        assert_eq!(texts.find(&words("one two three")), [0..0; 0]);
        assert_eq!(Texts::default().find(&page), [0..0; 0]);
    }
}
