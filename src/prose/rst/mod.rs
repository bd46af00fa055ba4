//! reStructuredText, line by line: indentation and the first characters of a line decide where blocks begin.

mod inline;
mod tables;

use super::Kind;
use super::builder::Builder;
use super::directives::{CODE, HIDDEN, WITH_TEXT, has_signatures};
use super::page_lines::{Line, item_mark, lines};
use std::ops::Range;

const BULLETS: &[char] = &['*', '+', '-', '•', '‣', '⁃'];

pub(super) fn read(builder: &mut Builder) {
    let source = builder.source();
    let lines = lines(source, builder.page());
    let mut reader = Reader { builder, source, lines, at: 0, items: Vec::new(), titles: Vec::new() };
    while reader.at < reader.lines.len() {
        reader.block();
    }
    reader.builder.end();
}

struct Reader<'b, 'a> {
    builder: &'b mut Builder<'a>,
    source: &'a str,
    lines: Vec<Line>,
    /// The number of the next line.
    at: usize,
    /// The columns where the text of the open items starts, ascending.
    items: Vec<usize>,
    /// The adornments of titles, and whether they are above as well, in the order of their first use, which is that of
    /// their levels.
    titles: Vec<(char, bool)>,
}

impl Reader<'_, '_> {
    /// Reads the block that starts in this line, or a part of it that leaves a block in this line or a later one.
    fn block(&mut self) {
        let Some(line) = self.line(self.at) else {
            self.builder.end();
            self.at += 1;
            return;
        };
        let text = line.text(self.source);
        self.leave_items(line.indent);
        if self.overlined(text) || self.table(text) {
        } else if text == ".." || text.starts_with(".. ") {
            self.explicit(line);
        } else if text == "__" || text.starts_with("__ ") {
            self.skip_body(line.indent);
        } else if let Some((name, value)) = field(text) {
            if is_text(name) {
                self.builder.end();
                self.text_of_body(line.indent, Line { start: line.end - value.len(), ..line });
            } else {
                self.skip_body(line.indent);
            }
        } else if text.starts_with(">>> ") {
            self.doctest();
        } else if text == "|" || text.starts_with("| ") {
            self.line_block();
        } else if self.underlined(line) {
        } else if let Some(mark) = item_mark(text, BULLETS) {
            self.item(line.after(mark, self.source));
        } else {
            self.paragraph();
        }
    }

    /// That line, if there is one and it is not blank.
    fn line(&self, number: usize) -> Option<Line> {
        self.lines.get(number).copied().filter(|line| !line.is_blank())
    }

    fn leave_items(&mut self, indent: usize) {
        let had_items = !self.items.is_empty();
        while self.items.pop_if(|item| *item > indent).is_some() {}
        if had_items && self.items.is_empty() {
            self.builder.end_list();
        }
    }

    /// The text after the mark of an item is read as a separate line.
    fn item(&mut self, rest: Line) {
        if self.items.is_empty() {
            self.builder.begin_list();
        }
        self.items.push(rest.indent);
        self.builder.begin_text();
        self.lines[self.at] = rest;
    }

    /// A title with a line above and below, or a line that separates.
    fn overlined(&mut self, text: &str) -> bool {
        let Some(adornment) = adornment(text).filter(|_| text.len() >= 3) else { return false };
        let is_closed = self.line(self.at + 2).is_some_and(|line| line.text(self.source) == text);
        if let Some(title) = self.line(self.at + 1).filter(|_| is_closed) {
            self.title(title, (adornment, true));
            self.at += 3;
            return true;
        }
        let separates = text.len() >= 4 && self.line(self.at + 1).is_none();
        self.at += usize::from(separates);
        separates
    }

    /// A title with a line below.
    fn underlined(&mut self, line: Line) -> bool {
        let Some(below) = self.line(self.at + 1).filter(|below| below.indent == 0 && line.indent == 0) else {
            return false;
        };
        let below = below.text(self.source);
        let is_long = || below.len() >= 4 || below.len() >= line.text(self.source).chars().count();
        let Some(adornment) = adornment(below).filter(|_| is_long()) else { return false };
        self.title(line, (adornment, false));
        self.at += 2;
        true
    }

    fn title(&mut self, line: Line, style: (char, bool)) {
        let known = self.titles.iter().position(|other| *other == style);
        let number = known.unwrap_or(self.titles.len());
        if known.is_none() {
            self.titles.push(style);
        }
        self.builder.begin(Kind::Heading(u8::try_from(number + 1).unwrap_or(u8::MAX)));
        inline::text(self.builder, line.range());
        self.builder.end();
    }

    fn paragraph(&mut self) {
        let Some(first) = self.line(self.at) else {
            self.at += 1;
            return;
        };
        let mut end = first.end;
        self.at += 1;
        while let Some(next) = self.line(self.at).filter(|next| next.indent == first.indent) {
            end = next.end;
            self.at += 1;
        }
        self.builder.begin_text();
        let text = &self.source[first.start..end];
        let is_before_code = text.ends_with("::");
        inline::text(self.builder, first.start..end - if text == "::" { 2 } else { usize::from(is_before_code) });
        self.builder.end();
        if is_before_code {
            self.code_body(first.indent);
        }
    }

    /// Lines with a bar before each: the reader sees one block, with line breaks. A line without a bar continues the one above it.
    fn line_block(&mut self) {
        self.builder.begin_text();
        while let Some(line) = self.line(self.at) {
            let text = line.text(self.source);
            let own = if text == "|" || text.starts_with("| ") { line.after(1, self.source) } else { line };
            if own.start == line.start && line.indent == 0 {
                break;
            }
            if own.is_blank() {
                self.builder.begin_text();
            } else {
                self.builder.space();
                inline::text(self.builder, own.range());
            }
            self.at += 1;
        }
        self.builder.end();
    }

    /// The lines that are indented more, as code.
    fn code_body(&mut self, indent: usize) {
        self.builder.begin(Kind::Code);
        for line in self.body(indent) {
            self.builder.space();
            self.builder.verbatim(self.lines[line].range());
        }
        self.builder.end();
    }

    /// Leaves out this line and those after it that are indented more.
    fn skip_body(&mut self, indent: usize) {
        self.at += 1;
        self.body(indent);
        self.builder.end();
    }

    /// Skips the lines that are blank or indented more; returns their numbers.
    fn body(&mut self, indent: usize) -> Range<usize> {
        let start = self.at;
        while self.lines.get(self.at).is_some_and(|line| line.is_blank() || line.indent > indent) {
            self.at += 1;
        }
        start..self.at
    }

    fn doctest(&mut self) {
        self.builder.begin(Kind::Code);
        while let Some(line) = self.line(self.at) {
            self.builder.space();
            self.builder.verbatim(line.range());
            self.at += 1;
        }
        self.builder.end();
    }

    /// Constructs that start with two full stops: directives, footnotes, targets, substitutions, comments.
    fn explicit(&mut self, line: Line) {
        self.builder.end();
        let rest = line.after(2, self.source);
        let text = rest.text(self.source);
        if text.is_empty() && self.line(self.at + 1).is_none() {
            self.at += 1;
        } else if let Some(label) = text.strip_prefix('[').and_then(|text| text.find("] ")) {
            self.text_of_body(line.indent, rest.after(label + 2, self.source));
        } else if let Some(start) = replacement(text) {
            self.text_of_body(line.indent, rest.after(start, self.source));
        } else if text.starts_with(['_', '|']) {
            self.skip_body(line.indent);
        } else if let Some((name, arguments)) = directive(text) {
            self.directive(line, name, rest.after(text.len() - arguments.len(), self.source));
        } else {
            self.builder.comment(text, line.range());
            self.skip_body(line.indent);
        }
    }

    fn directive(&mut self, line: Line, name: &str, arguments: Line) {
        if CODE.contains(&name) {
            self.at += 1;
            self.options(line.indent, false);
            self.code_body(line.indent);
        } else if HIDDEN.contains(&name) {
            self.at += 1;
            self.options(line.indent, name == "image");
            self.body(line.indent);
        } else {
            let with_text = WITH_TEXT.contains(&name) && !arguments.is_blank();
            self.at += 1;
            if !with_text && !arguments.is_blank() {
                self.signatures(line, has_signatures(name));
            }
            let first_option = self.at;
            if with_text {
                // The argument continues up to the options.
                while self
                    .line(self.at)
                    .is_some_and(|next| next.indent > line.indent && field(next.text(self.source)).is_none())
                {
                    self.at += 1;
                }
            }
            self.options(line.indent, name == "figure");
            if with_text {
                self.at = first_option - 1;
                self.text_of_body(line.indent, arguments);
            }
        }
    }

    /// Leaves out the arguments of a directive after its line: those that a backslash continues, or all.
    fn signatures(&mut self, line: Line, all: bool) {
        let is_argument =
            |next: &Line, reader: &Self| next.indent > line.indent && field(next.text(reader.source)).is_none();
        let mut before = line;
        while let Some(next) = self.line(self.at).filter(|next| is_argument(next, self)) {
            if !all && !before.text(self.source).ends_with('\\') {
                break;
            }
            before = next;
            self.at += 1;
        }
    }

    /// Leaves out the options of a directive: they are blank from now on. An alternative text counts if wanted.
    fn options(&mut self, indent: usize, with_alternative: bool) {
        while let Some(line) = self.line(self.at).filter(|line| line.indent > indent) {
            let Some((name, value)) = field(line.text(self.source)) else { break };
            if with_alternative && name == "alt" {
                self.builder.begin_text();
                inline::text(self.builder, line.end - value.len()..line.end);
            }
            self.lines[self.at].start = line.end;
            self.at += 1;
        }
        self.builder.end();
    }

    /// The body of this line starts in it: it is read next, as if it were indented like the lines after it.
    fn text_of_body(&mut self, indent: usize, rest: Line) {
        let below = self.line(self.at + 1).map(|below| below.indent).filter(|&below| below > indent);
        self.lines[self.at] = Line { indent: below.unwrap_or(indent + 3), ..rest };
    }
}

/// The character that the line consists of, if titles can be adorned with it.
fn adornment(text: &str) -> Option<char> {
    let first = text.chars().next().filter(char::is_ascii_punctuation)?;
    text.bytes().all(|byte| byte == first as u8).then_some(first)
}

/// The name and the value of a field.
pub(super) fn field(text: &str) -> Option<(&str, &str)> {
    let inner = text.strip_prefix(':')?;
    let colon = inner
        .match_indices(':')
        .map(|(at, _)| at)
        .find(|&at| matches!(inner.as_bytes().get(at + 1), None | Some(b' ')))?;
    let name = &inner[..colon];
    let is_name = !name.is_empty() && !name.starts_with([' ', ':']) && !name.contains('`');
    is_name.then(|| (name, inner[colon + 1..].trim_start()))
}

/// Fields whose values are text. Those of others, such as types and data about the page, do not count.
const FIELDS: [&str; 18] = [
    "param",
    "parameter",
    "arg",
    "argument",
    "key",
    "keyword",
    "kwarg",
    "raises",
    "raise",
    "except",
    "exception",
    "var",
    "ivar",
    "cvar",
    "return",
    "returns",
    "yield",
    "yields",
];

/// Whether the value of a field of that name, such as `param x`, is text.
pub(super) fn is_text(field: &str) -> bool {
    field.split_whitespace().next().is_some_and(|name| FIELDS.contains(&name))
}

/// Where the text starts that replaces a reference such as `|name|`.
fn replacement(text: &str) -> Option<usize> {
    let (_, after) = text.strip_prefix('|')?.split_once("| ")?;
    let replacing = after.trim_start().strip_prefix("replace::")?;
    (replacing.is_empty() || replacing.starts_with(' ')).then(|| text.len() - replacing.len())
}

/// The name and the arguments of a directive.
fn directive(text: &str) -> Option<(&str, &str)> {
    let end = text.find("::")?;
    let (name, arguments) = (text[..end].trim_end(), &text[end + 2..]);
    let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.:+".contains(&byte));
    (is_name && (arguments.is_empty() || arguments.starts_with(' '))).then(|| (name, arguments.trim_start()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_text() {
        assert!(["param str name", "returns", "raises ValueError"].into_iter().all(is_text));
        assert!(!["type name", "rtype", "paramx", "orphan", "date", ""].into_iter().any(is_text));
    }
}
