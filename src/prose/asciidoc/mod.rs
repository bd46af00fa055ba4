//! AsciiDoc, line by line: the first characters of a line identify delimiters, lists and tables.

mod inline;
mod tables;

use super::Kind;
use super::builder::Builder;
use super::page_lines::{Line, item_mark, lines};
use std::collections::HashMap;

/// Labels of paragraphs that are admonitions; the reader sees an icon.
const LABELS: &[&str] = &["NOTE: ", "TIP: ", "IMPORTANT: ", "WARNING: ", "CAUTION: "];

/// Styles whose blocks are code.
const CODE: &[&str] = &["source", "listing", "literal", "stem", "latexmath", "asciimath"];

/// The characters that underline headings, the highest level first.
const UNDERLINES: &str = "=-~^+";

pub(super) fn read(builder: &mut Builder) {
    let lines = lines(builder.source(), builder.page());
    let mut reader = Reader::new(builder, lines, false);
    reader.blocks();
    reader.builder.end();
}

struct Reader<'b, 'a> {
    builder: &'b mut Builder<'a>,
    source: &'a str,
    lines: Vec<Line>,
    /// The last line of each text.
    last: HashMap<&'a str, usize>,
    /// The number of the next line.
    at: usize,
    in_list: bool,
    /// Whether a `+` joins the next block to an item.
    attached: bool,
    /// The style of the next block.
    style: Style,
    /// The line that ends the tabs of Antora that are being read.
    tabs: Option<&'a str>,
    /// Whether no title has been read.
    is_first: bool,
    /// Whether the lines are those of a cell of a table.
    is_cell: bool,
}

/// What the style in brackets above a block says about it.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Style {
    #[default]
    Other,
    /// A paragraph is code.
    Code,
    /// A list whose terms are labels of tabs.
    Tabs,
}

impl Style {
    fn of(name: &str) -> Style {
        match name {
            "tabs" => Style::Tabs,
            name if CODE.contains(&name) => Style::Code,
            _ => Style::Other,
        }
    }
}

/// The meaning of a line, by its first characters.
enum Role<'a> {
    Blank,
    Comment(&'a str),
    /// Lines up to the same delimiter do not count, or are code.
    CommentBlock,
    CodeBlock,
    Table,
    /// Edges of blocks of text, breaks, attributes, macros without text.
    Nothing,
    Continuation,
    /// The style in brackets above a block.
    Style(&'a str),
    /// An attribute whose value continues in the next line.
    LongAttribute,
    /// The alternative text of an image.
    Image(usize),
    Title,
    /// The number of marks, and of bytes before the text.
    Heading(u8, usize),
    /// The number of bytes before the text.
    Item(usize),
    /// The end of the term, and the start of its description.
    Term(usize, usize),
    Text,
}

impl<'a> Role<'a> {
    fn of(text: &'a str) -> Role<'a> {
        if text.is_empty() {
            return Role::Blank;
        }
        if let Some(delimiter) = delimiter(text) {
            return delimiter;
        }
        if text == "+" {
            return Role::Continuation;
        }
        if let Some(comment) = text.strip_prefix("//").filter(|comment| !comment.starts_with('/')) {
            return Role::Comment(comment);
        }
        if let Some(style) = style(text) {
            return Role::Style(style);
        }
        if is_attribute(text) {
            return if text.ends_with('\\') { Role::LongAttribute } else { Role::Nothing };
        }
        if let Some((name, start)) = block_macro(text) {
            return if name == "image" { Role::Image(start) } else { Role::Nothing };
        }
        let marks = text.bytes().take_while(|byte| text.as_bytes()[0] == *byte).count();
        match text.as_bytes()[0] {
            b'=' | b'#' if marks <= 6 && text[marks..].starts_with(' ') => return Role::Heading(marks as u8, marks),
            b'.' if marks == 1 && !text[1..].starts_with([' ', '.']) && text.len() > 1 => return Role::Title,
            _ => {}
        }
        item(text).map(Role::Item).or_else(|| term(text)).unwrap_or(Role::Text)
    }
}

impl<'b, 'a> Reader<'b, 'a> {
    /// Reads the lines of a page, or of a cell of a table.
    fn new(builder: &'b mut Builder<'a>, lines: Vec<Line>, is_cell: bool) -> Self {
        let source = builder.source();
        let last = lines.iter().enumerate().map(|(number, line)| (line.text(source), number)).collect();
        Reader {
            builder,
            source,
            lines,
            last,
            at: 0,
            in_list: false,
            attached: false,
            style: Style::Other,
            tabs: None,
            is_first: !is_cell,
            is_cell,
        }
    }

    fn blocks(&mut self) {
        while self.at < self.lines.len() {
            self.block();
        }
    }

    /// Reads the block that starts in this line.
    fn block(&mut self) {
        let line = self.lines[self.at];
        let role = Role::of(line.text(self.source));
        if let (Role::Text | Role::Item(_) | Role::Term(..), Some(marks)) = (&role, self.underlined(line)) {
            return self.underlined_heading(line, marks);
        }
        let role = match role {
            Role::CommentBlock | Role::CodeBlock if !self.has_end(line) => Role::Nothing,
            role => role,
        };
        let (attached, style) = (self.attached, std::mem::take(&mut self.style));
        if style == Style::Tabs && matches!(role, Role::Blank | Role::Comment(_) | Role::Title) {
            self.style = style;
        }
        match role {
            Role::Blank
            | Role::Comment(_)
            | Role::Continuation
            | Role::Nothing
            | Role::Style(_)
            | Role::LongAttribute => {}
            Role::Item(_) | Role::Term(..) => self.attached = false,
            Role::Text if attached || line.indent > 0 => self.attached = false,
            _ => {
                self.attached = false;
                if !attached {
                    self.leave_list();
                }
            }
        }
        self.at += 1;
        match role {
            Role::Blank => self.builder.end(),
            Role::Nothing => {
                self.builder.end();
                self.begin_or_end_tabs(line.text(self.source), style);
            }
            Role::Comment(comment) => self.builder.comment(comment, line.range()),
            Role::CommentBlock => _ = self.block_end(line),
            Role::CodeBlock => self.code_block(line),
            Role::Table => self.table(line),
            Role::Continuation => {
                self.builder.end();
                self.attached = true;
            }
            Role::Style(own) => {
                self.builder.end();
                self.style = match Style::of(own) {
                    Style::Other if style == Style::Tabs => style,
                    other => other,
                };
            }
            Role::LongAttribute => self.long_attribute(),
            Role::Image(start) => {
                self.builder.begin_text();
                inline::label(self.builder, line.start + start..line.end - 1);
                self.builder.end();
            }
            Role::Title => self.paragraph(Line { start: line.start + 1, ..line }, true),
            Role::Heading(marks, length) => self.heading(line.after(length, self.source), marks),
            Role::Item(length) => {
                self.enter_list();
                self.paragraph(self.without_box(line.after(length, self.source)), false);
            }
            Role::Term(_, start) if self.is_label_of_tab(line, start) => {
                self.enter_list();
                self.builder.end();
            }
            Role::Term(end, start) => {
                self.enter_list();
                self.builder.begin_text();
                inline::text(self.builder, line.start..line.start + end);
                self.paragraph(line.after(start, self.source), false);
            }
            Role::Text => self.text(line, style == Style::Code),
        }
    }

    /// Whether a term of a list, whose description starts there, is the label of a tab: a block follows it, such as code, and no text.
    fn is_label_of_tab(&self, line: Line, start: usize) -> bool {
        let below = self.lines[self.at..].iter().map(|line| line.text(self.source)).find(|text| !text.is_empty());
        self.tabs.is_some()
            && start == line.text(self.source).len()
            && !below.is_some_and(|below| matches!(Role::of(below), Role::Text | Role::Item(_)))
    }

    /// The edge of a block of text: that of tabs, if the style above says so.
    fn begin_or_end_tabs(&mut self, delimiter: &'a str, style: Style) {
        if self.tabs == Some(delimiter) {
            self.tabs = None;
        } else if style == Style::Tabs && self.tabs.is_none() && delimiter.starts_with("====") {
            self.tabs = Some(delimiter);
        }
    }

    fn enter_list(&mut self) {
        if !std::mem::replace(&mut self.in_list, true) {
            self.builder.begin_list();
        }
    }

    fn leave_list(&mut self) {
        if std::mem::take(&mut self.in_list) {
            self.builder.end_list();
        }
    }

    /// A paragraph; code if it is indented or styled so.
    fn text(&mut self, line: Line, styled_code: bool) {
        if styled_code || (line.indent > 0 && !self.in_list) {
            self.builder.begin(Kind::Code);
            self.builder.verbatim(line.range());
            while let Some(next) = self.lines.get(self.at).filter(|next| !next.is_blank()) {
                self.builder.space();
                self.builder.verbatim(next.range());
                self.at += 1;
            }
            return self.builder.end();
        }
        if line.indent == 0 && self.in_list && self.at >= 2 && self.lines[self.at - 2].is_blank() {
            self.leave_list();
        }
        let text = line.text(self.source);
        let label = LABELS.iter().find(|label| text.starts_with(**label)).map_or(0, |label| label.len());
        self.paragraph(line.after(label, self.source), false);
    }

    /// A paragraph or the text of an item: the lines up to one that is something else.
    fn paragraph(&mut self, first: Line, is_title: bool) {
        let mut end = first.end;
        while let Some(next) = self.lines.get(self.at).filter(|_| !is_title) {
            match Role::of(next.text(self.source)) {
                Role::Text | Role::Title | Role::Heading(..) => {}
                Role::Item(_) | Role::Term(..) if !self.in_list => {}
                _ => break,
            }
            end = next.end;
            self.at += 1;
        }
        self.builder.begin_text();
        if self.is_cell && !self.in_list {
            self.builder.begin(Kind::Cell);
        }
        inline::text(self.builder, first.start.min(end)..end);
        self.builder.end();
    }

    /// The level of the heading if the next line underlines this one: with one of five characters, and of the same
    /// length up to one character.
    fn underlined(&self, line: Line) -> Option<u8> {
        let (text, below) = (line.text(self.source), self.lines.get(self.at + 1)?.text(self.source));
        let mark = UNDERLINES.find(below.chars().next()?)?;
        let is_underline = below.len() >= 3 && below.bytes().all(|byte| byte == UNDERLINES.as_bytes()[mark]);
        let is_as_long = || text.chars().count().abs_diff(below.len()) <= 1;
        let is_title = line.indent == 0 && !text.starts_with('.') && text.contains(char::is_alphanumeric);
        (is_underline && is_title && is_as_long()).then_some(mark as u8 + 1)
    }

    fn underlined_heading(&mut self, line: Line, marks: u8) {
        self.at += 2;
        (self.attached, self.style) = (false, Style::Other);
        self.leave_list();
        self.heading(line, marks);
    }

    /// A heading. The heading of the page continues with its authors and attributes, up to a blank line.
    fn heading(&mut self, line: Line, marks: u8) {
        self.builder.begin(Kind::Heading(marks));
        inline::text(self.builder, line.range());
        self.builder.end();
        if marks == 1 && std::mem::take(&mut self.is_first) {
            while let Some(next) = self.lines.get(self.at).filter(|next| !next.is_blank()) {
                if let Role::Comment(comment) = Role::of(next.text(self.source)) {
                    self.builder.comment(comment, next.range());
                }
                self.at += 1;
            }
        }
    }

    /// A checkbox of a checklist.
    fn without_box(&self, line: Line) -> Line {
        let text = line.text(self.source);
        if ["[ ] ", "[x] ", "[*] "].iter().any(|check| text.starts_with(check)) {
            line.after(4, self.source)
        } else {
            line
        }
    }

    fn long_attribute(&mut self) {
        self.builder.end();
        while let Some(line) = self.lines.get(self.at) {
            self.at += 1;
            if !line.text(self.source).ends_with('\\') {
                break;
            }
        }
    }

    /// Whether a block that starts with that line ends. If not, the line means nothing.
    fn has_end(&self, delimiter: Line) -> bool {
        self.last.get(end_of(delimiter.text(self.source))).is_some_and(|&last| last > self.at)
    }

    /// Moves past the line that ends the block and returns its number. A table without an end reaches to the end of the
    /// page.
    fn block_end(&mut self, delimiter: Line) -> usize {
        let delimiter = end_of(delimiter.text(self.source));
        let rest = &self.lines[self.at..];
        let length = rest.iter().position(|line| line.text(self.source) == delimiter).unwrap_or(rest.len());
        let end = self.at + length;
        self.at = (end + 1).min(self.lines.len());
        end
    }

    fn code_block(&mut self, delimiter: Line) {
        let start = self.at;
        let end = self.block_end(delimiter);
        self.builder.begin(Kind::Code);
        for line in start..end {
            self.builder.space();
            self.builder.verbatim(self.lines[line].range());
        }
        self.builder.end();
    }
}

/// The line that ends the block of a delimiter.
fn end_of(delimiter: &str) -> &str {
    if delimiter.starts_with("```") { "```" } else { delimiter }
}

fn delimiter(text: &str) -> Option<Role<'_>> {
    let first = text.chars().next().filter(char::is_ascii)?;
    if matches!(text, "|===" | "!===" | ",===" | ":===") {
        return Some(Role::Table);
    }
    if text.starts_with("```") && !text[3..].contains('`') {
        return Some(Role::CodeBlock);
    }
    if matches!(text, "--" | "'''" | "<<<" | "---" | "***" | "- - -" | "* * *") {
        return Some(Role::Nothing);
    }
    let is_run = text.len() >= 4 && text.bytes().all(|byte| byte == first as u8);
    match first {
        '-' | '.' if is_run => Some(Role::CodeBlock),
        '/' | '+' if is_run => Some(Role::CommentBlock),
        '=' | '*' | '_' if is_run => Some(Role::Nothing),
        _ => None,
    }
}

/// The first word of attributes in brackets above a block.
fn style(text: &str) -> Option<&str> {
    let inner = text.strip_prefix('[')?.strip_suffix(']')?;
    let inner = inner.strip_prefix('[').and_then(|inner| inner.strip_suffix(']')).unwrap_or(inner);
    let is_style = !inner.contains(['[', ']']) && !inner.starts_with(' ');
    is_style.then(|| inner.split([',', '%', '#', '.']).next().unwrap_or(""))
}

fn is_attribute(text: &str) -> bool {
    let Some((name, value)) = text.strip_prefix(':').and_then(|rest| rest.split_once(':')) else { return false };
    let name = name.strip_prefix('!').or(name.strip_suffix('!')).unwrap_or(name);
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '-' || c == '_');
    is_name && (value.is_empty() || value.starts_with(' '))
}

/// The name of a macro that is a line, and where its text starts.
fn block_macro(text: &str) -> Option<(&str, usize)> {
    let inner = text.strip_suffix(']')?;
    let name = &text[..text.bytes().take_while(|byte| byte.is_ascii_lowercase() || *byte == b'_').count()];
    let target = inner[name.len()..].strip_prefix("::")?;
    let open = target.find('[')?;
    let is_macro = !name.is_empty() && !target[..open].contains(char::is_whitespace);
    is_macro.then_some((name, name.len() + 2 + open + 1))
}

/// The number of bytes of the mark of an item.
fn item(text: &str) -> Option<usize> {
    let first = text.as_bytes()[0];
    let marks = text.bytes().take_while(|&byte| byte == first).count();
    if (matches!(first, b'*' | b'.') || (first == b'-' && marks == 1)) && marks <= 6 && text[marks..].starts_with(' ') {
        return Some(marks);
    }
    let callout = text.strip_prefix('<').and_then(|rest| rest.split_once("> ")).map(|(number, _)| number);
    match callout.filter(|number| number.len() < 4 && number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.'))
    {
        Some(number) => Some(number.len() + 2),
        None => item_mark(text, &[]).filter(|&length| length < text.len()),
    }
}

/// A term that a run of colons follows, and white space.
fn term<'a>(text: &str) -> Option<Role<'a>> {
    let mut from = text.chars().next().map_or(0, char::len_utf8);
    while let Some(found) = text[from..].find("::") {
        let end = from + found;
        from = text.len() - text[end..].trim_start_matches(':').len();
        if text[from..].is_empty() || text[from..].starts_with(' ') {
            return Some(Role::Term(end, from));
        }
    }
    None
}
