//! What the finder reads and reports: documents as words, minima, findings and judgements on them.

use crate::hash::token_hash;
use crate::passages::Run;
use crate::similarity::{Similarity, Threshold};
use crate::tokenizer::{self, stands_alone, starts_cluster};
use std::ops::Range;

/// A document as input of the finder.
#[derive(Clone, Copy, Debug, Default)]
pub struct Document<'a> {
    /// Its words, each by [`word`].
    pub words: &'a [u64],
    /// Its blocks, such as paragraphs, headings, items and cells: ranges of words, ascending and disjoint. Words outside of blocks
    /// can still be in a passage.
    pub blocks: &'a [Range<usize>],
    /// The indices of words that start a sentence within a block, ascending. A block without them is one sentence.
    pub sentences: &'a [u32],
    /// The indices of blocks that are headings, ascending.
    pub headings: &'a [u32],
    /// Identifies the rules for this document: the judge treats documents with the same number alike.
    pub scope: usize,
}

/// The hash of a word that is already folded and without punctuation. Its lowest bit is set if the word has no letter, and the
/// next one if it is a single Han or Kana character, or a letter of a script that is written without spaces as well: Thai, Lao, Khmer, Burmese.
pub fn word(folded: &str) -> u64 {
    let has_letter = tokenizer::has_letter(folded);
    let mut characters = folded.chars();
    let first = characters.next();
    let is_character =
        first.is_some_and(stands_alone) && characters.next().is_none() || first.is_some_and(starts_cluster);
    token_hash(folded.as_bytes(), 0) & !3 | u64::from(!has_letter) | u64::from(is_character) << 1
}

/// Whether a word, made by [`word`], has a letter.
pub fn has_letter(word: u64) -> bool {
    word & 1 == 0
}

/// The size of these words, made by [`word`]: a character of a script without spaces counts as half a word.
pub fn size(words: &[u64]) -> usize {
    words.len() - words.iter().filter(|&&word| word & 2 != 0).count() / 2
}

/// Minimum lengths and similarities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FindOptions {
    /// Minimum length of a passage, in words of the longer place; a Han or Kana character counts as half a word.
    pub min_words: usize,
    /// Minimum similarity of passages.
    pub passage_similarity: Threshold,
    /// Minimum length of a paragraph, in words of the longer one; a Han or Kana character counts as half a word.
    pub paragraph_words: usize,
    /// Minimum similarity of paragraphs.
    pub paragraph_similarity: Threshold,
    /// Minimum similarity of whole files, and minimum share of a file that is contained in another.
    pub file_similarity: Threshold,
    /// Whether to find what is too short or too common by default: passages of [`STRICT_WORDS`] or more within one block, and paragraphs
    /// with the same sentences in another order.
    pub strict: bool,
}

/// Minimum length of a passage within one block if [`FindOptions::strict`] is set, in words.
pub const STRICT_WORDS: usize = 25;

impl FindOptions {
    /// The minimum length of a passage within one block.
    pub(super) fn shortest(&self) -> usize {
        if self.strict { self.min_words.min(STRICT_WORDS) } else { self.min_words }
    }
}

/// Passages of 40 words at 0.7, paragraphs of 15 words at 0.8, files at 0.8.
impl Default for FindOptions {
    fn default() -> Self {
        let threshold = |hundredths| Threshold::new(hundredths, 100).expect("a share above 0 and up to 1");
        FindOptions {
            min_words: 40,
            passage_similarity: threshold(70),
            paragraph_words: 15,
            paragraph_similarity: threshold(80),
            file_similarity: threshold(80),
            strict: false,
        }
    }
}

/// The kind of a finding. Exhaustive: who acts on findings decides on each kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Whole documents.
    File,
    /// A stretch of words.
    Passage,
    /// Two blocks.
    Paragraph,
}

/// A stretch of a document.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// The index of the document.
    pub document: usize,
    /// Its words, by index in the document.
    pub words: Range<usize>,
}

/// A text that occurs in two places.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// Whether it is a file, a passage or a paragraph.
    pub kind: Kind,
    /// The place in the earlier document, or earlier in the same one.
    pub a: Place,
    /// The other place. The two do not overlap.
    pub b: Place,
    /// How many words match.
    pub matched: usize,
    /// The matching words: common runs by word index in the two documents. Words outside of runs were edited. Ordered by the first
    /// document and, except for files and paragraphs with sentences in another order, also by the second.
    pub runs: Vec<Run>,
}

impl Finding {
    /// `2·matched / (|a| + |b|)`.
    pub fn similarity(&self) -> Similarity {
        Similarity::ratio(2 * self.matched as u64, (self.a.words.len() + self.b.words.len()) as u64)
    }

    /// The share of each place contained in the other: `matched / |a|` and `matched / |b|`.
    pub fn containment(&self) -> [Similarity; 2] {
        [&self.a, &self.b].map(|place| Similarity::ratio(self.matched as u64, place.words.len() as u64))
    }
}

/// The judgement on a finding that may be reported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Judgement {
    /// Findings with the same number make each other redundant; those with different numbers do not. 0 is for ordinary findings: of
    /// equal documents reported with this number, the first represents the others in findings of all numbers.
    pub number: usize,
    /// Of findings with equally many matching words, those with a lower rank are chosen first.
    pub rank: usize,
}
