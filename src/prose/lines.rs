//! Positions in a text as line and column.

use memchr::memchr_iter;
use std::fmt;

/// The number of bytes that are counted at once.
const STRIDE: usize = 1024;

/// A line and a column in it, both from 1. Columns count characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// The number of the line. Lines end with a line feed.
    pub line: usize,
    /// The number of the character in its line.
    pub column: usize,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// Finds lines and columns of bytes in a text. A byte order mark at its start does not count as a column.
#[derive(Clone, Debug)]
pub struct Lines<'a> {
    text: &'a [u8],
    /// The start of each line.
    starts: Vec<usize>,
    /// The number of characters that start before each stride.
    characters: Vec<usize>,
}

impl<'a> Lines<'a> {
    /// Cost: one pass; memory of 8 bytes for each line and each KiB.
    pub fn new(text: &'a str) -> Self {
        let text = text.as_bytes();
        let starts = std::iter::once(0).chain(memchr_iter(b'\n', text).map(|end| end + 1)).collect();
        let mut before = 0;
        let characters = text.chunks(STRIDE).map(|stride| {
            let first = before;
            before += count(stride);
            first
        });
        Lines { text, starts, characters: characters.collect() }
    }

    /// Returns the position of a byte. A byte within a character has the position of the next character; a byte beyond
    /// the text has that of its end.
    ///
    /// Cost: a binary search and two scans of less than a KiB each, however long the line.
    pub fn position(&self, byte: usize) -> Position {
        let byte = byte.min(self.text.len());
        let line = self.starts.partition_point(|&start| start <= byte);
        let start = self.starts[line - 1];
        let mark = usize::from(line == 1 && byte > 0 && self.text.starts_with("\u{feff}".as_bytes()));
        Position { line, column: self.characters_before(byte) - self.characters_before(start) - mark + 1 }
    }

    fn characters_before(&self, byte: usize) -> usize {
        let stride = byte / STRIDE;
        let before = self.characters.get(stride).or(self.characters.last()).copied().unwrap_or(0);
        let counted = stride.min(self.characters.len().saturating_sub(1)) * STRIDE;
        before + count(&self.text[counted..byte])
    }
}

/// The number of characters that start in these bytes.
fn count(bytes: &[u8]) -> usize {
    bytes.iter().filter(|&&byte| byte & 0xc0 != 0x80).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Counts from the start of the text.
    fn plainly(text: &str, byte: usize) -> (usize, usize) {
        let before: Vec<char> = text.char_indices().filter(|&(at, _)| at < byte).map(|(_, c)| c).collect();
        let line = before.iter().filter(|&&c| c == '\n').count();
        (line + 1, before.iter().rev().take_while(|&&c| c != '\n').count() + 1)
    }

    fn check_all(text: &str) {
        let lines = Lines::new(text);
        for byte in 0..=text.len() + 2 {
            let Position { line, column } = lines.position(byte);
            assert_eq!((line, column), plainly(text, byte), "{text:?} at {byte}");
        }
    }

    #[test]
    fn ends_of_lines_and_of_text() {
        ["", "a", "\n", "a\n", "\r\n\r\n", "é\n\nß x", "中文\n中"].into_iter().for_each(check_all);
    }

    #[test]
    fn long_lines_go_over_strides() {
        check_all(&format!("ab\n{}\ncd", "é中x".repeat(500)));
    }

    #[test]
    fn a_byte_order_mark_is_no_column() {
        let lines = Lines::new("\u{feff}ab\nc");
        let positions = [0, 3, 4, 6].map(|byte| lines.position(byte).to_string());
        assert_eq!(positions, ["1:1", "1:1", "1:2", "2:1"]);
    }

    proptest! {
        #[test]
        fn positions_are_counted_right(text in "[a\né中]{0,40}") {
            check_all(&text);
        }
    }
}
