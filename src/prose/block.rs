//! What is read of a page: blocks of words with their places, and notices.

use super::lines::Lines;
use std::fmt;
use std::ops::Range;

/// What counts although it usually does not; nothing by default. The [module](super#what-does-not-count) says what each is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProseOptions {
    /// Blocks of code.
    pub code: bool,
    /// Targets of links and images, after the text of the link.
    pub links: bool,
    /// Front matter, as a block of kind [`Kind::Code`].
    pub front_matter: bool,
    /// Licence notices that a page starts with, well-known sentences anywhere, and sections on the licence.
    pub licences: bool,
    /// Tables of contents.
    pub contents: bool,
}

/// What a block is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// A heading of that level, 1 for the highest.
    Heading(u8),
    /// A paragraph, or any run of text that is none of the others.
    Paragraph,
    /// A paragraph of an item of a list.
    Item,
    /// A cell of a table.
    Cell,
    /// A block of code, or front matter.
    Code,
}

/// A run of text that stands by itself. It has a character that is not white space.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// What it is.
    pub kind: Kind,
    /// Where it stands in [`Prose::text`], in bytes.
    pub text: Range<usize>,
    /// The number of the heading's block that it stands under, if there is one. A heading stands under one of a higher level.
    pub section: Option<usize>,
}

/// A mark that is unknown, in the wrong form, or without its counterpart.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Notice {
    /// An `ignore-start` that no `ignore-end` follows: from that line on, counted from 1, nothing counts.
    NeverEnds {
        /// The line of the mark.
        line: usize,
    },
    /// An `ignore-end` that no `ignore-start` stands before; it changes nothing.
    NeverStarted {
        /// The line of the mark.
        line: usize,
    },
    /// A comment that starts like a mark, such as `dedup:ignore-begin`, and is none; it changes nothing.
    Unknown {
        /// The line of the comment.
        line: usize,
        /// How it starts, at most 40 characters.
        mark: String,
    },
    /// A mark in a comment of another markup, such as `<!-- dedup:ignore-start -->` in AsciiDoc; it is text and changes nothing.
    OtherComment {
        /// The line of the mark.
        line: usize,
        /// The name of the markup of the page.
        markup: &'static str,
        /// The comment without further words.
        found: String,
        /// The comment that has an effect.
        expected: String,
    },
}

impl Notice {
    /// The line that it is about, counted from 1.
    pub fn line(&self) -> usize {
        match self {
            Notice::NeverEnds { line }
            | Notice::NeverStarted { line }
            | Notice::Unknown { line, .. }
            | Notice::OtherComment { line, .. } => *line,
        }
    }
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Notice::NeverEnds { line } => {
                write!(f, "line {line}: dedup:ignore-start without dedup:ignore-end: the rest does not count")
            }
            Notice::NeverStarted { line } => write!(f, "line {line}: dedup:ignore-end without dedup:ignore-start"),
            Notice::Unknown { line, mark } => {
                write!(f, "line {line}: unknown mark '{mark}'; known are dedup:ignore-start and dedup:ignore-end")
            }
            Notice::OtherComment { line, markup, found, expected } => {
                write!(f, "line {line}: '{found}' is not a comment in {markup} and has no effect: write '{expected}'")
            }
        }
    }
}

/// Why text of a page does not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Unread {
    /// Blocks of code.
    Code,
    /// The same, and one has no end.
    Unclosed {
        /// The line where it starts.
        line: usize,
    },
    /// Front matter.
    FrontMatter,
    /// Licence notices.
    Licences,
    /// Tables of contents.
    Contents,
    /// Text between marks.
    Ignored,
    /// Targets of links.
    Links,
    /// Markup, comments, and names and arguments of directives.
    Markup,
}

impl Unread {
    /// Those that are counted, by their numbers.
    const COUNTED: [Unread; 6] =
        [Unread::Code, Unread::FrontMatter, Unread::Licences, Unread::Contents, Unread::Ignored, Unread::Links];
}

impl fmt::Display for Unread {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            Unread::Code => "mostly code blocks",
            Unread::Unclosed { line } => return write!(f, "the code block of line {line} has no end"),
            Unread::FrontMatter => "mostly front matter",
            Unread::Licences => "mostly licence notices",
            Unread::Contents => "mostly tables of contents",
            Unread::Ignored => "mostly text between dedup:ignore-start and dedup:ignore-end",
            Unread::Links => "mostly targets of links",
            Unread::Markup => "mostly markup and comments",
        })
    }
}

/// The number of letters of texts that do not count, by the reason.
#[derive(Clone, Debug, Default)]
pub(super) struct Letters {
    counts: [usize; Unread::COUNTED.len()],
    /// Where a block of code starts that has no end.
    pub(super) unclosed: Option<usize>,
}

impl Letters {
    pub(super) fn add(&mut self, text: &str, why: Unread) {
        if let Some(number) = Unread::COUNTED.iter().position(|counted| *counted == why) {
            self.counts[number] += letters(text);
        }
    }

    pub(super) fn add_all(&mut self, other: &Letters) {
        self.counts.iter_mut().zip(other.counts).for_each(|(count, other)| *count += other);
    }
}

/// The number of letters and digits. Every character beyond ASCII counts as one: looking each of them up takes a tenth of the time of a
/// check, and the share of the text that was read hardly changes.
fn letters(text: &str) -> usize {
    let is_one = |byte: u8| {
        let (is_letter, is_digit) = ((byte | 0x20).wrapping_sub(b'a') < 26, byte.wrapping_sub(b'0') < 10);
        u8::from(is_letter | is_digit | (byte >= 0xc0))
    };
    // Sums of bytes: the compiler makes vectors of them.
    let of_part = |part: &[u8]| usize::from(part.iter().map(|&byte| is_one(byte)).sum::<u8>());
    text.as_bytes().chunks(usize::from(u8::MAX)).map(of_part).sum()
}

/// A part of the text and what it stands for in the source. Between two of them there is white space, or nothing.
#[derive(Clone, Debug)]
pub(super) struct Piece {
    pub text: Range<usize>,
    pub source: Range<usize>,
    /// Whether both have the same bytes, but for a byte of white space. If not, the piece stands for the source as a whole.
    pub verbatim: bool,
    /// The number of the link that it is in the text of, from 1; 0 for none.
    pub link: u32,
}

impl Piece {
    /// Whether it is in the text of a link.
    pub fn is_linked(&self) -> bool {
        self.link > 0
    }
}

/// What a reader of the rendered page sees, and where each part of it stands in the source.
#[derive(Clone, Debug, Default)]
pub struct Prose {
    pub(super) text: String,
    pub(super) blocks: Vec<Block>,
    /// Ascending in the text and in the source.
    pub(super) pieces: Vec<Piece>,
    pub(super) ignored: Vec<Range<usize>>,
    /// Menus and tables of contents of HTML in the source; ascending and disjoint.
    pub(super) navigation: Vec<Range<usize>>,
    pub(super) notices: Vec<Notice>,
    pub(super) unread: Letters,
}

impl Prose {
    /// The text of all blocks in the order of the source, a blank line between two. Within a block, white space is a space.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The blocks, in the order of the source. They and the blank lines between them make up the text.
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// The bytes of the source between marks, marks included; ascending and disjoint.
    pub fn ignored(&self) -> &[Range<usize>] {
        &self.ignored
    }

    /// Marks that are unknown, in the wrong form, or lack their counterparts, in the order of the source but for a start without an end, which is last.
    pub fn notices(&self) -> &[Notice] {
        &self.notices
    }

    /// Why less than half of the letters and digits of the source count: the reason for most of the others. `None` if half of them
    /// count, or if the source has less than 400.
    ///
    /// Cost: one pass over the text and the source.
    pub fn mostly_unread(&self, source: &str) -> Option<Unread> {
        const LEAST: usize = 400;
        let (all, read) = (letters(source), letters(&self.text));
        if all < LEAST || 2 * read >= all {
            return None;
        }
        let known: usize = self.unread.counts.iter().sum();
        let counted = self.unread.counts.iter().copied().zip(Unread::COUNTED);
        let rest = [(all.saturating_sub(read + known), Unread::Markup)];
        // The first of several.
        let (_, why) = counted.chain(rest).rev().max_by_key(|(count, _)| *count)?;
        match (why, self.unread.unclosed) {
            (Unread::Code, Some(start)) => Some(Unread::Unclosed { line: Lines::new(source).position(start).line }),
            _ => Some(why),
        }
    }

    /// Whether that byte of the source is in the text, and not in a block of code.
    pub(super) fn is_text(&self, source: usize) -> bool {
        let piece = self.pieces.get(self.pieces.partition_point(|piece| piece.source.end <= source));
        let text = piece.filter(|piece| piece.source.start <= source).map(|piece| piece.text.start);
        let block = |text: usize| self.blocks.get(self.blocks.partition_point(|block| block.text.end <= text));
        text.and_then(block).is_some_and(|block| block.kind != Kind::Code)
    }

    /// The number of letters and digits of a range of the text, in bytes: of all, and of those in the texts of links.
    ///
    /// Cost: a binary search, and linear in the range.
    pub(crate) fn letters(&self, text: Range<usize>) -> [usize; 2] {
        let first = self.pieces.partition_point(|piece| piece.text.end <= text.start);
        let pieces = self.pieces[first..].iter().take_while(|piece| piece.text.start < text.end);
        pieces.fold([0, 0], |[all, linked], piece| {
            let own = piece.text.start.max(text.start)..piece.text.end.min(text.end);
            let number = self.text.get(own).map_or(0, letters);
            [all + number, linked + if piece.is_linked() { number } else { 0 }]
        })
    }

    /// The least range of the source that holds that range of the text, both in bytes. For white space between words it is what
    /// stands between them in the source. A range that ends beyond the text, or within a character, is taken to fit.
    ///
    /// Cost: a binary search.
    pub fn source_of(&self, text: Range<usize>) -> Range<usize> {
        let start = self.text.floor_char_boundary(text.start);
        let end = self.text.ceil_char_boundary(text.end).max(start);
        let first = self.pieces.partition_point(|piece| piece.text.end <= start);
        let after_last = self.pieces.partition_point(|piece| piece.text.start < end);
        if first >= after_last {
            let before = first.checked_sub(1).map_or(0, |before| self.pieces[before].source.end);
            return match self.pieces.get(first) {
                Some(piece) if piece.text.start == start => piece.source.start..piece.source.start,
                Some(piece) => before..piece.source.start,
                None => before..before,
            };
        }
        let (first, last) = (&self.pieces[first], &self.pieces[after_last - 1]);
        let cut_start = if first.verbatim { start.saturating_sub(first.text.start) } else { 0 };
        let cut_end = if last.verbatim { last.text.end.saturating_sub(end) } else { 0 };
        first.source.start + cut_start..last.source.end - cut_end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_and_digits_are_counted() {
        let text: String = ('\0'..='ÿ').chain(['中', 'é', '.']).cycle().take(5000).collect();
        let one_by_one = text.chars().filter(|c| c.is_ascii_alphanumeric() || !c.is_ascii()).count();
        assert_eq!(letters(&text), one_by_one);
        assert_eq!(letters(&"a".repeat(1000)), 1000);
        assert_eq!(letters(""), 0);
    }
}
