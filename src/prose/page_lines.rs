//! The lines of a page, for line-based markups.

use memchr::memchr_iter;
use std::ops::Range;

/// A tab moves to the next multiple of this many columns.
const TAB: usize = 8;

/// A line of the source without the white space around it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line {
    pub(super) start: usize,
    pub(super) end: usize,
    /// The column, from 0, in which it starts.
    pub(super) indent: usize,
}

impl Line {
    pub(super) fn is_blank(&self) -> bool {
        self.start == self.end
    }

    pub(super) fn range(&self) -> Range<usize> {
        self.start..self.end
    }

    pub(super) fn text<'a>(&self, source: &'a str) -> &'a str {
        &source[self.range()]
    }

    /// The line from its byte `bytes` on, without the white space that follows.
    pub(super) fn after(&self, bytes: usize, source: &str) -> Line {
        let rest = &source[self.start + bytes..self.end];
        let start = self.end - rest.trim_start().len();
        Line { start, end: self.end, indent: self.indent + source[self.start..start].chars().count() }
    }
}

/// The lines of that part of the source.
pub(super) fn lines(source: &str, page: Range<usize>) -> Vec<Line> {
    let ends = memchr_iter(b'\n', &source.as_bytes()[page.clone()]).map(|end| page.start + end + 1);
    let mut start = page.start;
    let mut lines: Vec<Line> =
        ends.chain([page.end]).map(|end| line(source, std::mem::replace(&mut start, end)..end)).collect();
    // An empty rest after the last line feed is not a line.
    lines.pop_if(|last| last.is_blank());
    lines
}

fn line(source: &str, range: Range<usize>) -> Line {
    let text = &source[range.clone()];
    let trimmed = text.trim_start();
    let start = range.end - trimmed.len();
    let indent = source[range.start..start].chars().fold(0, |column, c| match c {
        '\t' => (column / TAB + 1) * TAB,
        _ => column + 1,
    });
    let end = start + trimmed.trim_end().len();
    Line { start, end, indent: if start == end { 0 } else { indent } }
}

/// The length of the bullet or number that a line starts with, and of the white space after it. Bullets are of those
/// characters; numbers end with a full stop or a bracket.
pub(super) fn item_mark(line: &str, bullets: &[char]) -> Option<usize> {
    let rest = match line.strip_prefix(bullets) {
        Some(rest) => rest,
        None => {
            let open = line.strip_prefix('(').unwrap_or(line);
            let digits = open.bytes().take_while(u8::is_ascii_digit).count();
            let number = if open.starts_with('#') { 1 } else { digits };
            if number == 0 || number > 9 {
                return None;
            }
            let closed = &open[number..];
            closed.strip_prefix(')').or_else(|| closed.strip_prefix('.').filter(|_| open.len() == line.len()))?
        }
    };
    (rest.is_empty() || rest.starts_with([' ', '\t'])).then(|| line.len() - rest.trim_start().len())
}
