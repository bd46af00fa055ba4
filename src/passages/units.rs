//! Paragraphs and lines of a text.

use crate::tokenizer::Tokens;
use std::ops::Range;

/// What is cut of a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum CutUnit {
    /// Words, from the start of the first one to the end of the last one, and the marks after it that would begin a sentence.
    #[default]
    Words,
    /// Paragraphs: lines up to a line without anything but white space, with such lines after them.
    Paragraph,
    /// Lines, with their ends.
    Line,
}

/// A paragraph or a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Unit {
    /// Its bytes, with what separates it from the next one.
    pub bytes: Range<usize>,
    /// Its tokens.
    pub tokens: Range<usize>,
}

/// The paragraphs or lines of a text that have tokens, in order; none if words are cut.
pub(super) fn units(text: &str, tokens: &Tokens, unit: CutUnit) -> Vec<Unit> {
    let mut ranges: Vec<Range<usize>> = Vec::new();
    let (mut at, mut is_open) = (0, false);
    for line in text.split_inclusive('\n') {
        let (start, end) = (at, at + line.len());
        at = end;
        let is_blank = line.trim().is_empty();
        match unit {
            CutUnit::Words => return Vec::new(),
            CutUnit::Line => ranges.push(start..end),
            CutUnit::Paragraph if is_blank => {
                if let Some(last) = ranges.last_mut() {
                    last.end = end;
                }
            }
            CutUnit::Paragraph => match ranges.last_mut() {
                Some(last) if is_open => last.end = end,
                _ => ranges.push(start..end),
            },
        }
        is_open = !is_blank;
    }
    let (mut units, mut token) = (Vec::new(), 0);
    for bytes in ranges {
        let first = token;
        while token < tokens.len() && tokens.span(token).start < bytes.end {
            token += 1;
        }
        if first < token {
            units.push(Unit { bytes, tokens: first..token });
        }
    }
    units
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokenizer::{TokenDetail, Tokenizer, Word};

    /// The units of a text, and the number of their tokens.
    fn cut(text: &str, unit: CutUnit) -> Vec<(&str, usize)> {
        let mut tokens = Tokens::new(TokenDetail::Everything, 0);
        Word.tokenize(text, &mut tokens);
        units(text, &tokens, unit).into_iter().map(|unit| (&text[unit.bytes], unit.tokens.len())).collect()
    }

    #[test]
    fn paragraphs_have_the_blank_lines_after_them() {
        let text = "\n\none two\nthree\r\n \t\r\n\nfour\n\n---\n\nfive";
        assert_eq!(cut(text, CutUnit::Paragraph), [("one two\nthree\r\n \t\r\n\n", 3), ("four\n\n", 1), ("five", 1)]);
        assert!(cut("", CutUnit::Paragraph).is_empty() && cut(text, CutUnit::Words).is_empty());
    }

    #[test]
    fn lines_have_their_ends() {
        assert_eq!(cut("a b\r\n\n--\nc", CutUnit::Line), [("a b\r\n", 2), ("c", 1)]);
    }
}
