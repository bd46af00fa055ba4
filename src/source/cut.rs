//! Bytes to pieces of whole records, without parsing them.
//!
//! Large blocks are read and cut after the last whole record; the rest is carried over to the next block. A [`Cut`]
//! defines the end of a record. Memory is bounded by one block and one record: the rest of a record that is too long is
//! skipped without being kept.

use std::io;

use memchr::{memchr, memchr_iter, memrchr};

use super::reader::Reader;

/// Finds the ends of records. It receives all bytes in order, in slices of any size, and keeps the state it needs.
pub(super) trait Cut {
    /// The offset after the first record that ends in `bytes`. The bytes after it are not consumed, and are passed
    /// again.
    fn first_end(&mut self, bytes: &[u8]) -> Option<usize>;

    /// The offset after the last record that ends in `bytes`, all of which are consumed.
    fn last_end(&mut self, bytes: &[u8]) -> Option<usize>;

    /// The number of lines that end in `bytes`.
    fn line_ends(&mut self, bytes: &[u8]) -> u64;

    /// Whether the input is incomplete if it ends here.
    fn is_unclosed(&self) -> bool;
}

/// Lines end with a line feed; a carriage return before it belongs to the end.
pub(super) struct LineCut;

impl Cut for LineCut {
    fn first_end(&mut self, bytes: &[u8]) -> Option<usize> {
        memchr(b'\n', bytes).map(|at| at + 1)
    }

    fn last_end(&mut self, bytes: &[u8]) -> Option<usize> {
        memrchr(b'\n', bytes).map(|at| at + 1)
    }

    fn line_ends(&mut self, bytes: &[u8]) -> u64 {
        memchr_iter(b'\n', bytes).count() as u64
    }

    fn is_unclosed(&self) -> bool {
        false
    }
}

/// The output of the cutter.
#[derive(Debug)]
pub(super) enum Piece {
    /// Whole records; the first starts on this line.
    Records { line: u64, bytes: Vec<u8> },
    /// The record that starts on this line is too long and was skipped.
    TooLong { line: u64 },
    /// The record that starts on this line is open at the end of the input.
    Unclosed { line: u64 },
    /// Reading failed in the record that starts on this line.
    Broken { line: u64, error: io::Error },
}

/// Cuts a stream into [`Piece`]s.
pub(super) struct Cutter<'a, C> {
    reader: Reader<'a>,
    cut: C,
    block: usize,
    max_record: usize,
    /// The bytes of the current block. The first record starts on `line`.
    buffer: Vec<u8>,
    line: u64,
    /// The number of bytes in the buffer that were checked without finding an end.
    seen: usize,
    /// Whether the rest of a record that is too long is being skipped.
    passing: bool,
}

impl<'a, C: Cut> Cutter<'a, C> {
    /// Reads `block` bytes at a time.
    pub fn new(mut reader: Reader<'a>, cut: C, block: usize, max_record: usize) -> Self {
        let buffer = std::mem::take(&mut reader.head);
        Cutter { reader, cut, block: block.max(1), max_record, buffer, line: 1, seen: 0, passing: false }
    }

    /// As many whole records as available, or an unreadable one.
    pub fn next(&mut self) -> Option<Piece> {
        self.advance(false)
    }

    /// Skips the line ends before the first record.
    pub fn skip_blank_lines(&mut self) {
        loop {
            let blank = self.buffer.iter().take_while(|byte| matches!(byte, b'\n' | b'\r')).count();
            self.line += self.cut.line_ends(&self.buffer[..blank]);
            self.buffer.drain(..blank);
            if !self.buffer.is_empty() || self.reader.is_ended() {
                return;
            }
            self.reader.fill(&mut self.buffer, self.block);
        }
    }

    /// One record, or an unreadable one.
    pub fn next_record(&mut self) -> Option<Piece> {
        self.advance(true)
    }

    fn advance(&mut self, one: bool) -> Option<Piece> {
        loop {
            if self.passing {
                self.pass_over();
            }
            if !self.passing {
                let unseen = &self.buffer[self.seen..];
                let end = if one { self.cut.first_end(unseen) } else { self.cut.last_end(unseen) };
                if let Some(end) = end.map(|end| self.seen + end) {
                    // Only after the last of all ends is the rest known to have none.
                    self.seen = if one { 0 } else { self.buffer.len() - end };
                    return Some(self.take(end));
                }
                self.seen = self.buffer.len();
                if self.is_too_long() {
                    self.passing = true;
                    return Some(Piece::TooLong { line: self.line });
                }
            }
            if self.reader.is_ended() {
                return self.finish();
            }
            self.reader.fill(&mut self.buffer, self.block);
        }
    }

    /// Returns the buffer up to `end`; the rest becomes the next buffer.
    fn take(&mut self, end: usize) -> Piece {
        let rest = &self.buffer[end..];
        let room = if self.reader.is_ended() { 0 } else { self.block };
        let mut next = Vec::with_capacity(rest.len() + room);
        next.extend_from_slice(rest);
        self.buffer.truncate(end);
        let bytes = std::mem::replace(&mut self.buffer, next);
        let line = self.line;
        self.line += self.cut.line_ends(&bytes);
        Piece::Records { line, bytes }
    }

    /// With this many bytes and no end, a record is too long: two bytes more than its limit, because a line end of two
    /// bytes may follow.
    fn is_too_long(&self) -> bool {
        self.buffer.len() >= self.max_record.saturating_add(2)
    }

    fn pass_over(&mut self) {
        let end = self.cut.first_end(&self.buffer[self.seen..]).map(|end| self.seen + end);
        let passed = end.unwrap_or(self.buffer.len());
        self.line += self.cut.line_ends(&self.buffer[..passed]);
        self.buffer.drain(..passed);
        self.buffer.shrink_to(self.block);
        self.seen = 0;
        self.passing = end.is_none();
    }

    /// The rest after the end of the input: a last record without an end, unless reading failed.
    fn finish(&mut self) -> Option<Piece> {
        self.seen = 0;
        let line = self.line;
        if let Some(error) = self.reader.failure.take() {
            self.buffer.clear();
            return Some(Piece::Broken { line, error });
        }
        if self.buffer.is_empty() {
            return None;
        }
        if self.cut.is_unclosed() {
            self.buffer.clear();
            return Some(Piece::Unclosed { line });
        }
        Some(self.take(self.buffer.len()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::io::Read;

    /// The pieces of an input that is read `block` bytes at a time, in short: records as they are.
    fn pieces(input: &[u8], block: usize, max_record: usize) -> Vec<String> {
        let mut cutter = Cutter::new(Reader::new(Box::new(input)), LineCut, block, max_record);
        let mut out = Vec::new();
        while let Some(piece) = cutter.next() {
            out.push(match piece {
                Piece::Records { line, bytes } => format!("{line}:{}", String::from_utf8_lossy(&bytes)),
                other => format!("{other:?}"),
            });
        }
        out
    }

    #[test]
    fn nothing_gives_nothing() {
        assert!(pieces(b"", 10, 10).is_empty());
    }

    #[test]
    fn blocks_end_with_a_whole_line() {
        assert_eq!(pieces(b"one\ntwo\nthree\nfour", 9, 100), ["1:one\ntwo\n", "3:three\n", "4:four"]);
    }

    #[test]
    fn a_long_line_is_passed_over_and_lines_go_on_counting() {
        let input = b"one\nthis is far too long\nthree\n";
        for block in [1, 5, 7] {
            let pieces = pieces(input, block, 6).concat();
            assert_eq!(pieces, "1:one\nTooLong { line: 2 }3:three\n", "block {block}");
        }
    }

    #[test]
    fn a_long_last_line_is_passed_over() {
        assert_eq!(pieces(b"a\nfar too long", 4, 3), ["1:a\n", "TooLong { line: 2 }"]);
    }

    #[test]
    fn the_longest_allowed_line_with_either_end() {
        for end in ["", "\n", "\r\n"] {
            for block in 1..10 {
                let input = format!("123456{end}");
                assert_eq!(pieces(input.as_bytes(), block, 6), [format!("1:{input}")]);
            }
        }
    }

    #[test]
    fn what_is_whole_comes_before_what_broke() {
        let mut reader = Reader::new(Box::new(&b"one\ntw"[..]));
        reader.fill_head(None);
        reader.failure = Some(io::Error::other("damaged"));
        let mut cutter = Cutter::new(reader, LineCut, 100, 100);
        assert!(matches!(cutter.next(), Some(Piece::Records { line: 1, bytes }) if bytes == b"one\n"));
        assert!(matches!(cutter.next(), Some(Piece::Broken { line: 2, .. })));
        assert!(cutter.next().is_none());
    }

    #[test]
    fn a_gigabyte_in_one_line_needs_little_memory() {
        let input = io::repeat(b'x').take(1 << 30).chain(&b"\nlast"[..]);
        let mut cutter = Cutter::new(Reader::new(Box::new(input)), LineCut, 1 << 16, 1 << 20);
        assert!(matches!(cutter.next(), Some(Piece::TooLong { line: 1 })));
        assert!(cutter.buffer.capacity() <= 4 << 20);
        assert!(matches!(cutter.next(), Some(Piece::Records { line: 2, bytes }) if bytes == b"last"));
        assert!(cutter.next().is_none());
    }

    proptest! {
        #[test]
        fn no_byte_is_lost_for_any_block(input in "[ab\n]{0,60}", block in 1usize..20) {
            let mut cutter = Cutter::new(Reader::new(Box::new(input.as_bytes())), LineCut, block, 100);
            let mut bytes_again = Vec::new();
            while let Some(piece) = cutter.next() {
                let Piece::Records { line, bytes } = piece else { panic!("{piece:?}") };
                prop_assert_eq!(line, 1 + bytes_again.iter().filter(|&&byte| byte == b'\n').count() as u64);
                prop_assert!(bytes_again.is_empty() || bytes_again.ends_with(b"\n"));
                bytes_again.extend(bytes);
            }
            prop_assert_eq!(&bytes_again[..], input.as_bytes());
        }
    }
}
