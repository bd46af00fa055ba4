//! The blocks of dialects of Markdown, line by line: admonitions and tabs of MkDocs, directives of MyST, containers of
//! Docusaurus and VitePress, blocks of pymdown, shortcodes of Hugo. Their lines are replaced by their titles, indented
//! bodies are moved to the left, and the rest is left to the parser of Markdown.
//!
//! The lines of items and code fences are recognised too, because the columns of a body count from those of the item
//! that it is in, and because nothing is a mark within code.

use super::inline::Inline;
use super::marker::{self, admonition};
use crate::prose::builder::Mark;
use crate::prose::directives;
use crate::prose::excerpt::Excerpt;
use memchr::{memchr, memmem};
use std::ops::Range;

/// The columns by which the body of an admonition is indented, and code.
const INDENT: usize = 4;

/// A tab moves to the next multiple of this many columns.
const TAB: usize = 4;

/// A fence that closes any block of code that this module opens.
const FENCE: &str = "~~~~~~~~";

/// The greatest length of a list of included files.
const MAX_LIST: usize = 1024;

/// A line without white space at its ends.
#[derive(Clone, Copy)]
struct Line {
    start: usize,
    end: usize,
    column: usize,
}

/// What may have several blocks in it.
struct Open {
    /// The least column of its lines.
    column: usize,
    /// The column that this one becomes.
    out: usize,
    kind: Kind,
}

enum Kind {
    Item,
    /// The indented body of an admonition or a tab.
    Body,
    /// A directive between fences of that character and length.
    Directive(u8, usize),
}

/// An open block of code.
struct Code {
    end: CodeEnd,
    /// The number of open containers around it, and the column where it stands.
    depth: usize,
    out: usize,
    /// Where it starts.
    start: usize,
}

#[derive(Clone, Copy)]
enum CodeEnd {
    /// A fence of that character and length.
    Fence(u8, usize),
    /// A line that contains that byte.
    At(usize),
}

/// The options that may follow the line of a directive.
enum Header {
    None,
    /// Its next line: `---`, or `:name: value`.
    Directive,
    Yaml,
    /// Lines indented at least to that column.
    Indented(usize),
}

struct Layout<'m> {
    inline: Inline<'m>,
    page: Excerpt,
    /// Whether the page is MDX, in which indentation makes no code.
    is_mdx: bool,
    open: Vec<Open>,
    code: Option<Code>,
    header: Header,
    /// A list of included files ends there.
    hidden_to: usize,
    /// Whether the last line is the mark of an item: a blank line would end the item.
    after_mark: bool,
    /// For names of template tags: where the next closing tag is, if there is one.
    closing: Vec<(&'static str, Option<usize>)>,
    /// Marks in comments that are written as definitions of links.
    marks: Vec<(Mark, Range<usize>)>,
}

/// A page without the blocks of dialects.
pub(super) struct Read {
    pub page: Excerpt,
    /// Where a block of code starts that has no end.
    pub unclosed: Option<usize>,
    /// Marks that the parser of Markdown does not show, ascending.
    pub marks: Vec<(Mark, Range<usize>)>,
}

/// Returns a page of Markdown without those blocks.
///
/// Cost: linear.
pub(super) fn read(markdown: &str) -> Read {
    read_lines(Layout::new(markdown, false), markdown, &[])
}

/// Returns a page of MDX without those blocks: Markdown that is blank where the MDX is something else. Each of the breaks,
/// ascending, ends a line and a paragraph.
pub(super) fn read_mdx(markdown: &str, mdx: &str, breaks: &[usize]) -> Read {
    read_lines(Layout::new(markdown, true), mdx, breaks)
}

/// Reads the lines of a page, which are indented as those of the source.
fn read_lines(mut layout: Layout, source: &str, breaks: &[usize]) -> Read {
    let markdown = layout.inline.markdown;
    let (mut at, mut breaks) = (0, breaks.iter().copied().peekable());
    while at < markdown.len() {
        let end = memchr(b'\n', &markdown.as_bytes()[at..]).map_or(markdown.len(), |end| at + end);
        let line = Line { column: line(source, at..end).column, ..line(markdown, at..end) };
        let mut start = line.start;
        while let Some(end) = breaks.next_if(|end| *end < line.end) {
            layout.line(Line { start: start.min(end), end, ..line });
            layout.blank();
            start = end.max(start);
        }
        layout.line(Line { start, ..line });
        at = end + 1;
    }
    Read { page: layout.page, unclosed: layout.code.map(|code| code.start), marks: layout.marks }
}

fn line(markdown: &str, range: Range<usize>) -> Line {
    let text = markdown[range.clone()].trim_end_matches([' ', '\t', '\r']);
    let indent = text.len() - text.trim_start_matches([' ', '\t']).len();
    Line { start: range.start + indent, end: range.start + text.len(), column: width(&text[..indent]) }
}

/// The width of spaces and tabs at the start of a line.
fn width(indent: &str) -> usize {
    indent.bytes().fold(0, |column, byte| if byte == b'\t' { (column / TAB + 1) * TAB } else { column + 1 })
}

impl<'m> Layout<'m> {
    fn new(markdown: &'m str, is_mdx: bool) -> Self {
        Layout {
            inline: Inline::new(markdown),
            page: Excerpt::default(),
            is_mdx,
            open: Vec::new(),
            code: None,
            header: Header::None,
            hidden_to: 0,
            after_mark: false,
            closing: Vec::new(),
            marks: Vec::new(),
        }
    }

    fn text(&self, line: Line) -> &'m str {
        &self.inline.markdown[line.start..line.end]
    }

    /// The column that a column becomes.
    fn out(&self, column: usize) -> usize {
        let (base, out) = self.open.last().map_or((0, 0), |open| (open.column, open.out));
        let further = column.saturating_sub(base);
        out + if self.is_mdx && self.code.is_none() { further.min(INDENT - 1) } else { further }
    }

    fn line(&mut self, mut line: Line) {
        line.start = line.start.max(self.inline.resume.min(line.end));
        if line.end <= self.hidden_to {
            return;
        }
        if self.text(line).trim_start_matches([' ', '\t']).is_empty() {
            if let Header::Directive | Header::Indented(_) = self.header {
                self.header = Header::None;
            }
            return self.blank();
        }
        self.leave(line.column);
        if self.code.is_some() {
            self.code_line(line);
        } else if !self.is_option(line) && !self.mark(line) {
            self.block(line);
        }
    }

    /// A mark in a comment that is a line by itself.
    fn mark(&mut self, line: Line) -> bool {
        let base = self.open.last().map_or(0, |open| open.column);
        let comment = marker::comment(self.text(line)).filter(|_| line.column < base + INDENT);
        let Some(comment) = comment else { return false };
        let Some(mark) = Mark::of(comment) else { return false };
        // An unknown one is named by its text.
        let start = if mark == Mark::Unknown { line.end - comment.len() - 1 } else { line.start };
        self.marks.push((mark, start..line.end));
        self.blank();
        true
    }

    fn blank(&mut self) {
        if !self.after_mark {
            self.page.push_blank();
        }
    }

    /// Closes what a line in that column is not part of.
    fn leave(&mut self, column: usize) {
        while let Some(left) = self.open.pop_if(|open| open.column > column) {
            if let Some(code) = self.code.take_if(|code| code.depth > self.open.len()) {
                self.close_code(&code);
            }
            if !matches!(left.kind, Kind::Item) {
                self.header = Header::None;
                self.blank();
            }
        }
    }

    /// Ends a block of code whose end is missing or is not a fence of Markdown.
    fn close_code(&mut self, code: &Code) {
        self.page.indent(code.out);
        match code.end {
            CodeEnd::Fence(mark @ (b'`' | b'~'), length) => {
                (0..length).for_each(|_| self.page.markup(if mark == b'`' { "`" } else { "~" }));
            }
            _ => self.page.markup(FENCE),
        }
        self.page.push_blank();
    }

    fn open_code(&mut self, end: CodeEnd, line: Line) {
        let out = self.out(line.column);
        if !matches!(end, CodeEnd::Fence(b'`' | b'~', _)) {
            self.page.indent(out);
            self.page.markup(FENCE);
            self.page.push_blank();
        }
        self.code = Some(Code { end, depth: self.open.len(), out, start: line.start });
    }

    fn code_line(&mut self, line: Line) {
        let text = self.text(line);
        self.after_mark = false;
        let closes = |code: &mut Code| match code.end {
            CodeEnd::Fence(mark, length) => marker::is_run(text, mark, length),
            CodeEnd::At(end) => line.end > end,
        };
        match self.code.take_if(closes) {
            Some(code) => self.close_code(&code),
            None => self.page.push(self.out(line.column), self.inline.markdown, line.start..line.end),
        }
    }

    /// Whether a line is an option of a directive.
    fn is_option(&mut self, line: Line) -> bool {
        let text = self.text(line);
        self.header = match self.header {
            Header::None => return false,
            Header::Directive if text == "---" => Header::Yaml,
            Header::Directive if is_field(text) => Header::Directive,
            Header::Yaml if text == "---" => Header::None,
            Header::Yaml => Header::Yaml,
            Header::Indented(column) if line.column >= column => Header::Indented(column),
            Header::Directive | Header::Indented(_) => {
                self.header = Header::None;
                return false;
            }
        };
        true
    }

    /// Reads a line, from its marks of items on.
    fn block(&mut self, mut first: Line) {
        let (out, mut line) = (self.out(first.column), first);
        loop {
            let base = self.open.last().map_or(0, |open| open.column);
            if (line.column < base + INDENT || self.is_mdx) && self.construct(first, out, line) {
                return;
            }
            let (text, column_out) = (self.text(line), self.out(line.column));
            if marker::is_footnote(text) {
                let column = line.column + INDENT;
                self.open.push(Open { column, out: column_out + INDENT, kind: Kind::Item });
                break;
            }
            let (column, bytes) = if let Some((column, bytes)) = marker::item(text, line.column) {
                self.open.push(Open { column, out: column_out + (column - line.column), kind: Kind::Item });
                (column, bytes)
            } else if let Some((column, bytes)) =
                marker::definition(text, line.column).filter(|_| first.start == line.start)
            {
                self.blank();
                self.open.push(Open { column, out: column_out, kind: Kind::Body });
                first.start += bytes;
                (column, bytes)
            } else {
                break;
            };
            line = Line { start: line.start + bytes, column, ..line };
        }
        self.page.indent(out);
        self.page.part(self.inline.markdown, first.start..line.start);
        self.inline.read(line.start..line.end, &mut self.page);
        self.page.push_blank();
        self.after_mark = line.start == line.end;
    }

    /// Reads a line that opens or closes something, if it does. Marks of items may precede it.
    fn construct(&mut self, first: Line, out: usize, line: Line) -> bool {
        let text = self.text(line);
        match text.as_bytes().first() {
            Some(b'`' | b'~') => self.fence(first, out, line),
            Some(b':') if text.starts_with(":::") => self.container(first, out, line),
            Some(b'!' | b'?' | b'=') => match admonition(text).filter(|_| self.has_body(line)) {
                Some(title) => {
                    self.title(first, out, line, title);
                    let out = self.out(line.column);
                    self.open.push(Open { column: line.column + INDENT, out, kind: Kind::Body });
                    true
                }
                None => false,
            },
            Some(b'/') => match marker::slashes(text) {
                Some(title) => {
                    self.title(first, out, line, title);
                    self.header = Header::Indented(line.column + INDENT);
                    true
                }
                None => false,
            },
            Some(b'-') => self.snippet(first, out, line),
            Some(b'{') if !self.is_mdx => self.tag(first, out, line),
            Some(b'(') if marker::is_label(text) => {
                self.title(first, out, line, "");
                true
            }
            _ => false,
        }
    }

    /// Replaces a line by its title, which is a paragraph.
    fn title(&mut self, first: Line, out: usize, line: Line, title: &str) {
        let has_mark = first.start < line.start;
        if !has_mark {
            self.blank();
        }
        if has_mark || !title.is_empty() {
            self.page.indent(out);
            if has_mark {
                self.page.part(self.inline.markdown, first.start..line.start);
            }
            if !title.is_empty() {
                let start = title.as_ptr() as usize - self.inline.markdown.as_ptr() as usize;
                self.inline.read(start..start + title.len(), &mut self.page);
            }
            self.page.push_blank();
            self.after_mark = title.is_empty();
        }
        self.blank();
    }

    /// Whether the next line that is not blank is indented as the body of this one.
    fn has_body(&self, line: Line) -> bool {
        let markdown = self.inline.markdown;
        let rest = markdown[line.end..].trim_start_matches([' ', '\t', '\r', '\n']);
        let between = &markdown[line.end..markdown.len() - rest.len()];
        let indent = between.rsplit('\n').next().unwrap_or("");
        !rest.is_empty() && width(indent) >= line.column + INDENT
    }

    fn fence(&mut self, first: Line, out: usize, line: Line) -> bool {
        let text = self.text(line);
        if let Some(Open { kind: Kind::Directive(mark, length), .. }) = self.open.last()
            && marker::is_run(text, *mark, *length)
        {
            self.open.pop();
            self.blank();
            return true;
        }
        let Some((mark, length, info)) = marker::fence(text) else { return false };
        match marker::directive(info).filter(|(name, _)| directives::is_text(name)) {
            Some((name, argument)) => {
                self.title(first, out, line, if directives::has_text_argument(name) { argument } else { "" });
                // Its lines may be indented less than its fence.
                let (column, out) = self.open.last().map_or((0, 0), |open| (open.column, open.out));
                self.open.push(Open { column, out, kind: Kind::Directive(mark, length) });
                self.header = Header::Directive;
            }
            None => {
                self.page.push(out, self.inline.markdown, first.start..line.end);
                self.open_code(CodeEnd::Fence(mark, length), line);
            }
        }
        true
    }

    fn container(&mut self, first: Line, out: usize, line: Line) -> bool {
        let Some(container) = marker::container(self.text(line)) else { return false };
        let title = match container.directive {
            Some(name) if directives::is_code(name) => {
                self.title(first, out, line, "");
                self.open_code(CodeEnd::Fence(b':', container.colons), line);
                return true;
            }
            Some(name) if !directives::has_text_argument(name) => "",
            _ => container.title,
        };
        self.title(first, out, line, title);
        if container.directive.is_some() {
            self.header = Header::Directive;
        }
        true
    }

    fn snippet(&mut self, first: Line, out: usize, line: Line) -> bool {
        let Some(file) = marker::snippet(self.text(line)) else { return false };
        self.title(first, out, line, "");
        if file.is_empty() {
            // The list ends with the next such line.
            let rest = &self.inline.markdown.as_bytes()[line.end..];
            let rest = &rest[..rest.len().min(MAX_LIST)];
            self.hidden_to = memmem::find(rest, b"8<--").map_or(0, |end| line.end + end + "8<--".len());
        }
        true
    }

    fn tag(&mut self, first: Line, out: usize, line: Line) -> bool {
        let text = self.text(line);
        if let Some(name) = marker::code_tag(text)
            && let Some(end) = self.closing_tag(name, line.end)
        {
            self.title(first, out, line, "");
            self.open_code(CodeEnd::At(end), line);
            return true;
        }
        let is_tag = marker::is_tag(text);
        if is_tag {
            // Texts of shortcodes of Hugo are read within the line.
            let is_shortcode = text.starts_with("{{<") || text.starts_with("{{%");
            self.title(first, out, line, if is_shortcode { text } else { "" });
        }
        is_tag
    }

    /// Where the tag that closes a block of that name stands, after `from`.
    fn closing_tag(&mut self, name: &'static str, from: usize) -> Option<usize> {
        let known = self.closing.iter().position(|(known, _)| *known == name);
        if let Some((_, end)) =
            known.map(|known| self.closing[known]).filter(|(_, end)| end.is_none_or(|end| end > from))
        {
            return end;
        }
        let rest = &self.inline.markdown[from..];
        let closes = |at: &usize| {
            let before = rest[..*at].trim_end_matches([' ', '\t']);
            let before =
                before.strip_suffix('/').or(before.strip_suffix("end")).unwrap_or("").trim_end_matches([' ', '-']);
            ["{{<", "{{%", "{%"].iter().any(|open| before.ends_with(open))
        };
        let end = memmem::find_iter(rest.as_bytes(), name).find(closes).map(|at| from + at);
        match known {
            Some(known) => self.closing[known].1 = end,
            None => self.closing.push((name, end)),
        }
        end
    }
}

/// Whether a line is an option of a directive: `:name: value`.
fn is_field(line: &str) -> bool {
    let name = line.strip_prefix(':').and_then(|line| line.split_once(':')).map_or("", |(name, _)| name);
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
}
