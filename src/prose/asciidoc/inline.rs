//! Markup within a paragraph of AsciiDoc: one pass, left to right.

use crate::prose::builder::Builder;
use crate::source::html::reference;
use memchr::memchr;
use std::ops::Range;

/// Macros whose brackets hold text; `image` and `icon` hold an alternative text.
const MACROS: &[&str] = &[
    "link",
    "mailto",
    "xref",
    "image",
    "kbd",
    "btn",
    "menu",
    "footnote",
    "footnoteref",
    "pass",
    "stem",
    "latexmath",
    "asciimath",
    "http",
    "https",
    "ftp",
    "irc",
    "anchor",
    "icon",
    "indexterm",
    "indexterm2",
];

/// Those that are links.
const LINKS: &[&str] = &["link", "mailto", "xref", "http", "https", "ftp", "irc"];

/// The longest of their names.
const MACRO_BYTES: usize = 11;

/// Longer names are not attributes, and longer numbers are not character references.
const NAME_BYTES: usize = 64;

/// Reads that part of the source without its markup.
pub(super) fn text(builder: &mut Builder, range: Range<usize>) {
    let text = &builder.source()[range.clone()];
    let mut reader = Inline { builder, text, base: range.start, from: 0, stop: 0, close: 0 };
    let mut at = 0;
    while let Some(found) = text.as_bytes()[at..].iter().position(|byte| b"\\*_`#:<[{&+".contains(byte)) {
        at = reader.special(at + found);
    }
    reader.push(text.len());
}

/// The text in the brackets of a macro, which has no closing bracket in it: up to a comma that a named attribute follows. A caret at its end opens a window.
pub(super) fn label(builder: &mut Builder, range: Range<usize>) {
    let label = &builder.source()[range.clone()];
    let end = match label.find('=') {
        Some(equals) => label[..equals].rfind(',').unwrap_or(0),
        None => label.len(),
    };
    let end = label[..end].trim_end_matches('^').len();
    text(builder, range.start..range.start + end);
}

struct Inline<'b, 'a> {
    builder: &'b mut Builder<'a>,
    text: &'a str,
    /// Where the text starts in the source.
    base: usize,
    /// The end of the text that has been pushed or left out.
    from: usize,
    /// The position of the first bracket or white space that the last search found, so that nothing is searched twice.
    stop: usize,
    /// The same for a closing bracket.
    close: usize,
}

impl Inline<'_, '_> {
    /// Pushes the text before `to`.
    fn push(&mut self, to: usize) {
        self.builder.verbatim(self.base + self.from..self.base + to);
        self.from = to;
    }

    /// Leaves out the text between `from` and `to`; pushes the text before.
    fn skip(&mut self, from: usize, to: usize) -> usize {
        self.push(from);
        self.from = to;
        to
    }

    /// Reads the construct that starts there; returns where to continue.
    fn special(&mut self, at: usize) -> usize {
        let rest = &self.text[at..];
        match rest.as_bytes()[0] {
            b'\\' => match rest[1..].chars().next().filter(char::is_ascii_punctuation) {
                Some(_) => self.skip(at, at + 1) + 1,
                None => at + 1,
            },
            b'*' | b'_' | b'`' | b'#' => self.format(at),
            b':' => self.inline_macro(at).unwrap_or(at + 1),
            b'<' => self.cross_reference(at).unwrap_or(at + 1),
            b'[' => match self.bracket(at) {
                Some(end) => self.skip(at, end),
                None => at + 1,
            },
            b'{' => match attribute(rest) {
                // It may be the start of a link's target.
                Some(length) => {
                    self.labelled(at, at..at + length, "link").unwrap_or_else(|| self.skip(at, at + length))
                }
                None => at + 1,
            },
            b'&' => self.reference(at),
            b'+' => self.hard_break(at),
            _ => at + 1,
        }
    }

    /// The end of an anchor, or of a role before a mark of format.
    fn bracket(&mut self, at: usize) -> Option<usize> {
        let close = self.closing(at + 1)?;
        let (inner, after) = (&self.text[at + 1..close], &self.text[close + 1..]);
        let is_anchor = inner.starts_with('[') && after.starts_with(']');
        let is_role = after.starts_with('#') || (inner.starts_with('.') && after.starts_with(['*', '_', '`']));
        (is_anchor || is_role).then_some(close + 1 + usize::from(is_anchor))
    }

    /// Removes formatting marks: a pair anywhere, or a single mark that touches a word on one side.
    fn format(&mut self, at: usize) -> usize {
        let bytes = self.text.as_bytes();
        let end = at + bytes[at..].iter().take_while(|&&byte| byte == bytes[at]).count();
        let is_free = |c: Option<char>| c.is_none_or(char::is_whitespace);
        let is_in_word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
        let (before, after) = (self.text[..at].chars().next_back(), self.text[end..].chars().next());
        let both = (is_free(before) && is_free(after)) || (is_in_word(before) && is_in_word(after) && end - at != 2);
        if both { end } else { self.skip(at, end) }
    }

    /// A macro whose name ends before the colon there: its text counts.
    fn inline_macro(&mut self, colon: usize) -> Option<usize> {
        let before = &self.text.as_bytes()[self.from..colon];
        let letters = before.iter().rev().take(MACRO_BYTES + 1).take_while(|byte| byte.is_ascii_lowercase()).count();
        let start = colon - letters;
        let name = &self.text[start..colon];
        if !MACROS.contains(&name) {
            return None;
        }
        let is_url = self.text[colon + 1..].starts_with("//");
        self.labelled(start, if is_url { start } else { colon + 1 }..colon + 1, name)
    }

    /// A target and a text in brackets. The target starts with that part of the text; white space would end it.
    fn labelled(&mut self, start: usize, target: Range<usize>, name: &str) -> Option<usize> {
        let open = self.target_end(target.end).filter(|&open| self.text.as_bytes()[open] == b'[')?;
        let close = self.closing(open + 1)?;
        self.push(start);
        if !matches!(name, "anchor" | "icon" | "indexterm") {
            let target = &self.text[target.start..open];
            if LINKS.contains(&name) {
                self.builder.begin_link(name == "xref" && is_fragment(target));
            }
            label(self.builder, self.base + open + 1..self.base + close);
            self.builder.target(target, self.base + start..self.base + close + 1);
            self.builder.end_link();
        }
        self.from = close + 1;
        Some(close + 1)
    }

    /// A reference to a part of the page, or of another one.
    fn cross_reference(&mut self, at: usize) -> Option<usize> {
        let inner = self.text[at..].strip_prefix("<<")?;
        let length = inner.bytes().take(4 * NAME_BYTES).position(|byte| byte == b'>')?;
        let inner = inner[..length].trim_start_matches('<');
        if !self.text[at + 2 + length..].starts_with(">>") {
            return None;
        }
        let end = at + 2 + length;
        let target = inner.split(',').next().unwrap_or("");
        self.push(at);
        self.builder.begin_link(is_fragment(target));
        if target.len() < inner.len() {
            let start = end - inner.len() + target.len() + 1;
            text(self.builder, self.base + start..self.base + end);
        }
        self.builder.target(target, self.base + at..self.base + end + 2);
        self.builder.end_link();
        self.from = end + 2;
        Some(end + 2)
    }

    fn reference(&mut self, at: usize) -> usize {
        let Some((length, characters)) = reference(&self.text[at + 1..]) else {
            return at + 1;
        };
        self.push(at);
        let mut resolved = String::from(characters[0]);
        resolved.extend(Some(characters[1]).filter(|&second| second != '\0'));
        let end = at + 1 + length;
        self.builder.replaced(&resolved, self.base + at..self.base + end);
        self.from = end;
        end
    }

    /// A plus sign at the end of a line breaks it.
    fn hard_break(&mut self, at: usize) -> usize {
        let after = self.text[at + 1..].chars().next();
        let breaks = self.text[..at].ends_with(' ') && after.is_none_or(|c| matches!(c, '\n' | '\r'));
        if breaks { self.skip(at, at + 1) } else { at + 1 }
    }

    /// The first bracket or white space from there on; never from 0 on.
    fn target_end(&mut self, at: usize) -> Option<usize> {
        if self.stop < at {
            let found = self.text[at..].find(|c: char| c == '[' || c.is_whitespace());
            self.stop = found.map_or(self.text.len(), |found| at + found);
        }
        Some(self.stop).filter(|&stop| stop < self.text.len())
    }

    /// The first closing bracket from there on; never from 0 on.
    fn closing(&mut self, at: usize) -> Option<usize> {
        if self.close < at {
            let found = memchr(b']', &self.text.as_bytes()[at..]);
            self.close = found.map_or(self.text.len(), |found| at + found);
        }
        Some(self.close).filter(|&close| close < self.text.len())
    }
}

/// Whether a target is a part of the same page.
fn is_fragment(target: &str) -> bool {
    target.starts_with('#') || !target.contains(['.', '/', '#', ':'])
}

/// The length of a reference to an attribute.
fn attribute(rest: &str) -> Option<usize> {
    let length = rest.bytes().take(NAME_BYTES).position(|byte| byte == b'}')?;
    let is_name =
        length > 1 && rest[1..length].bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
    is_name.then_some(length + 1)
}
