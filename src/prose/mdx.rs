//! MDX: everything that is not Markdown is blanked out, byte for byte, and the rest is read as Markdown.

use super::block::Unread;
use super::builder::{Builder, Mark};
use super::markdown;
use memchr::memmem;
use std::ops::Range;

/// Longer runs of backticks are not code marks, because each length costs a search ahead in each paragraph.
const MAX_BACKTICKS: usize = 32;

pub(super) fn read(builder: &mut Builder) {
    let page = builder.page();
    let code = builder.options().code;
    let mdx = &builder.source()[page.clone()];
    let mut mask = Mask {
        mdx,
        code,
        blank: Vec::new(),
        marks: Vec::new(),
        fences: Vec::new(),
        unclosed: None,
        breaks: Vec::new(),
        blank_to: None,
    };
    mask.read();
    let place = |at: Range<usize>| page.start + at.start..page.start + at.end;
    let markdown = mask.blanked();
    if let Some(start) = mask.unclosed {
        builder.unclosed_code(page.start + start);
    }
    for fence in &mask.fences {
        builder.unread(&mdx[fence.clone()], Unread::Code);
    }
    builder.await_marks(mask.marks.into_iter().map(|(mark, at)| (mark, place(at))).collect());
    markdown::read_mdx(builder, &markdown, &mask.breaks, page.start);
}

/// The parts of a page that are not Markdown.
struct Mask<'a> {
    mdx: &'a str,
    /// Whether blocks of code count.
    code: bool,
    /// The blanked-out ranges, ascending and disjoint.
    blank: Vec<Range<usize>>,
    /// Marks in comments, ascending.
    marks: Vec<(Mark, Range<usize>)>,
    /// The blocks of code that are blanked out.
    fences: Vec<Range<usize>>,
    /// Where the first of them starts that has no end.
    unclosed: Option<usize>,
    /// Where the texts of attributes start and end, ascending.
    breaks: Vec<usize>,
    /// The end of the tags that the line starts with, unless a text follows them.
    blank_to: Option<usize>,
}

impl Mask<'_> {
    fn read(&mut self) {
        let (mut at, mut after_blank) = (0, true);
        while at < self.mdx.len() {
            let end = line_end(self.mdx, at);
            let line = &self.mdx[at..end];
            if let Some(fence) = fence(line) {
                let (after, is_closed) = self.fence_end(end, fence);
                if !is_closed {
                    self.unclosed.get_or_insert(at);
                }
                // Markdown would take a deeply indented fence, as within tags, for text.
                if !self.code {
                    self.blank.push(at..after);
                    self.fences.push(at..after);
                }
                at = after;
                after_blank = true;
            } else if after_blank && (line.starts_with("import ") || line.starts_with("export ")) {
                let length = blank_line(&self.mdx[at..]);
                self.blank.push(at..at + length);
                at += length;
            } else {
                after_blank = line.trim().is_empty();
                // A construct that starts in the line may end in a later one.
                match self.line(at, end) {
                    Some(reached) => at = reached,
                    None => return,
                }
            }
        }
    }

    /// Reads from `at` to the end of the line, or of a construct that continues over it; `None` if a construct never
    /// ends.
    fn line(&mut self, mut at: usize, end: usize) -> Option<usize> {
        let bytes = self.mdx.as_bytes();
        self.blank_to = Some(at);
        while at < end {
            at = match bytes[at] {
                b'\\' => at + 2,
                b'`' => self.backticks(at),
                b'{' => self.expression(at)?,
                b'<' => match bytes.get(at + 1) {
                    Some(b'a'..=b'z' | b'A'..=b'Z' | b'/' | b'>' | b'_' | b'$') => self.tag(at)?,
                    _ => at + 1,
                },
                _ => at + 1,
            };
        }
        // An escape may end within a character.
        Some(self.mdx.ceil_char_boundary(at))
    }

    /// Where the code within a sentence ends that starts there, or the backticks if it does not end.
    fn backticks(&self, at: usize) -> usize {
        let count = |text: &str| text.bytes().take_while(|&byte| byte == b'`').count();
        let run = count(&self.mdx[at..]);
        let after = at + run;
        if run > MAX_BACKTICKS {
            return after;
        }
        let mut from = after;
        while let Some(found) = memchr::memchr2(b'`', b'\n', &self.mdx.as_bytes()[from..]) {
            let found = from + found;
            let length = count(&self.mdx[found..]);
            from = found + length.max(1);
            if length == run {
                return from;
            }
            if length == 0 && self.mdx[from..line_end(self.mdx, from)].trim().is_empty() {
                break;
            }
        }
        after
    }

    /// Where the expression ends that starts there.
    fn expression(&mut self, at: usize) -> Option<usize> {
        let end = braces_end(self.mdx.as_bytes(), at)?;
        let inner = self.mdx[at + 1..end - 1].trim();
        let comment = inner.strip_prefix("/*").and_then(|inner| inner.strip_suffix("*/"));
        if let Some(mark) = comment.and_then(Mark::of) {
            self.marks.push((mark, at..end));
        }
        self.blank.push(at..end);
        Some(end)
    }

    /// Where the tag ends that starts there.
    fn tag(&mut self, start: usize) -> Option<usize> {
        let bytes = self.mdx.as_bytes();
        let mut at = start + 1;
        loop {
            at = match bytes.get(at)? {
                b'>' => break,
                b'{' => braces_end(bytes, at)?,
                quote @ (b'"' | b'\'') => at + memchr::memchr(*quote, &bytes[at + 1..])? + 2,
                _ => at + 1,
            };
        }
        self.blank_tag(start..at + 1);
        Some(at + 1)
    }

    /// Blanks out a tag except for the texts of its attributes. Each text is a paragraph if the tag starts its line; within a
    /// line only some are shown.
    fn blank_tag(&mut self, tag: Range<usize>) {
        let is_component = self.mdx[tag.start + 1..].starts_with(|c: char| c.is_ascii_uppercase());
        let starts_line = self.starts_line(tag.start);
        let wanted = |name: &str| name == "alt" || (is_component && (starts_line || name == "text"));
        let mut from = tag.start;
        for text in markdown::texts(&self.mdx[tag.clone()], wanted) {
            let text = tag.start + text.start..tag.start + text.end;
            self.blank.push(from..text.start);
            from = text.end;
            if starts_line {
                self.breaks.extend([text.start, text.end]);
            }
        }
        self.blank.push(from..tag.end);
        self.blank_to = starts_line.then_some(tag.end);
    }

    /// Whether only tags, expressions and marks of items precede that place in its line.
    fn starts_line(&self, place: usize) -> bool {
        let is_mark = |c: char| c.is_whitespace() || c.is_ascii_digit() || "-*+.)".contains(c);
        self.blank_to.is_some_and(|blank| self.mdx[blank..place].chars().all(is_mark))
    }

    /// The start of the line after the fence that closes a block of code, and whether there is one.
    fn fence_end(&self, mut at: usize, opening: &str) -> (usize, bool) {
        while at < self.mdx.len() {
            let end = line_end(self.mdx, at);
            let line = self.mdx[at..end].trim_matches(|c: char| c.is_whitespace() || c == '>');
            at = end;
            if line.len() >= opening.len() && line.bytes().all(|byte| byte == opening.as_bytes()[0]) {
                return (at, true);
            }
        }
        (at, false)
    }

    /// Returns the page with spaces in place of everything that is not Markdown. Line ends stay.
    fn blanked(&self) -> String {
        let mut out = String::with_capacity(self.mdx.len());
        let mut from = 0;
        for blank in &self.blank {
            out.push_str(&self.mdx[from..blank.start]);
            out.extend(self.mdx[blank.clone()].bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }));
            from = blank.end;
        }
        out.push_str(&self.mdx[from..]);
        out
    }
}

/// The start of the next line.
fn line_end(text: &str, at: usize) -> usize {
    memchr::memchr(b'\n', &text.as_bytes()[at..]).map_or(text.len(), |end| at + end + 1)
}

/// The length of the lines before the first blank one.
fn blank_line(text: &str) -> usize {
    text.split_inclusive('\n').take_while(|line| !line.trim().is_empty()).map(str::len).sum()
}

/// The fence that a line opens, perhaps in a list or a quotation.
fn fence(line: &str) -> Option<&str> {
    let line = line.trim_start_matches(|c: char| {
        c.is_whitespace() || matches!(c, '>' | '-' | '*' | '+' | '.' | ')') || c.is_ascii_digit()
    });
    let length = line.bytes().take_while(|byte| Some(byte) == line.as_bytes().first()).count();
    let is_fence = line.starts_with("~~~") || (line.starts_with("```") && !line[length..].contains('`'));
    is_fence.then(|| &line[..length])
}

/// The end of an expression that starts with the brace there: where all opened braces are closed. Braces in comments do
/// not count.
fn braces_end(bytes: &[u8], start: usize) -> Option<usize> {
    let (mut at, mut depth) = (start, 0usize);
    loop {
        at = match bytes.get(at)? {
            b'{' => {
                depth += 1;
                at + 1
            }
            b'}' => {
                depth -= 1;
                if depth == 0 {
                    return Some(at + 1);
                }
                at + 1
            }
            b'/' if bytes[at..].starts_with(b"/*") => at + memmem::find(&bytes[at + 2..], b"*/")? + 4,
            _ => at + 1,
        };
    }
}
