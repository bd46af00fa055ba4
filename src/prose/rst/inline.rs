//! Markup within a paragraph of reStructuredText: one pass, left to right.

use crate::prose::builder::Builder;
use memchr::{memchr, memmem};
use std::ops::Range;

/// The longest name of a role.
const ROLE_BYTES: usize = 64;

/// Reads that part of the source without its markup.
pub(super) fn text(builder: &mut Builder, range: Range<usize>) {
    let text = &builder.source()[range.clone()];
    let mut reader = Inline { builder, text, base: range.start, from: 0, no_literal: false, no_role: false };
    let mut at = 0;
    while let Some(found) = next_special(text, at) {
        at = reader.special(found);
    }
    reader.push(text.len());
}

fn next_special(text: &str, at: usize) -> Option<usize> {
    text.as_bytes()[at..].iter().position(|byte| b"`*_:[\\".contains(byte)).map(|found| at + found)
}

struct Inline<'b, 'a> {
    builder: &'b mut Builder<'a>,
    text: &'a str,
    /// Where the text starts in the source.
    base: usize,
    /// The end of the text that has been pushed or left out.
    from: usize,
    /// Whether no further literal ends in this text, and no further interpreted text.
    no_literal: bool,
    no_role: bool,
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

    fn before(&self, at: usize) -> Option<char> {
        self.text[..at].chars().next_back()
    }

    fn after(&self, at: usize) -> Option<char> {
        self.text[at..].chars().next()
    }

    /// Reads the construct that starts there; returns where to continue.
    fn special(&mut self, at: usize) -> usize {
        let rest = &self.text[at..];
        match rest.as_bytes()[0] {
            b'\\' => self.escape(at),
            b'`' => self.backticks(at),
            b'*' => self.stars(at),
            b':' => match role(rest) {
                Some(length) => self.skip(at, at + length),
                None => at + 1,
            },
            b'[' => match footnote(rest) {
                Some(length) => self.skip(at, at + length),
                None => at + 1,
            },
            _ => self.underscores(at),
        }
    }

    /// A backslash is removed, with the white space after it.
    fn escape(&mut self, at: usize) -> usize {
        match self.after(at + 1) {
            Some(c) if c.is_whitespace() => self.skip(at, at + 1 + c.len_utf8()),
            Some(c) => self.skip(at, at + 1) + c.len_utf8(),
            None => at + 1,
        }
    }

    /// A run of stars is removed unless it is isolated or within a word.
    fn stars(&mut self, at: usize) -> usize {
        let end = at + self.text[at..].bytes().take_while(|&byte| byte == b'*').count();
        let is_free = |c: Option<char>| c.is_none_or(char::is_whitespace);
        let is_in_word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
        let (before, after) = (self.before(at), self.after(end));
        if (is_free(before) && is_free(after)) || (is_in_word(before) && is_in_word(after)) {
            return end;
        }
        self.skip(at, end)
    }

    /// The underscores that make a word a reference, or a text a target, are removed.
    fn underscores(&mut self, at: usize) -> usize {
        let end = at + self.text[at..].bytes().take_while(|&byte| byte == b'_').count();
        let is_reference = end - at <= 2
            && self.before(at).is_some_and(char::is_alphanumeric)
            && self.after(end).is_none_or(|c| !c.is_alphanumeric());
        if is_reference || self.after(end) == Some('`') { self.skip(at, end) } else { end }
    }

    fn backticks(&mut self, at: usize) -> usize {
        let bytes = self.text.as_bytes();
        if bytes[at..].starts_with(b"``") {
            let end = if self.no_literal { None } else { memmem::find(&bytes[at + 2..], b"``") };
            let Some(length) = end else {
                self.no_literal = true;
                return at + 2;
            };
            self.skip(at, at + 2);
            self.push(at + 2 + length);
            // More backticks belong to the literal.
            let more = bytes[at + 4 + length..].iter().take_while(|&&byte| byte == b'`').count();
            return self.skip(at + 2 + length, at + 4 + length + more);
        }
        let end = if self.no_role { None } else { memchr(b'`', &bytes[at + 1..]) };
        let Some(length) = end else {
            self.no_role = true;
            return at + 1;
        };
        let before = &self.text[..at];
        let is_link = before.ends_with(':') && LINK_ROLES.iter().any(|role| before.ends_with(role));
        let end = at + 2 + length;
        let underscores = bytes[end..].iter().take(2).take_while(|&&byte| byte == b'_').count();
        self.skip(at, at + 1);
        if is_link || underscores > 0 {
            self.builder.begin_link(false);
        }
        self.interpreted(at + 1..at + 1 + length, is_link);
        self.builder.end_link();
        self.from = end + underscores;
        self.from
    }

    /// The content of single backticks: a text, or a text and a target. Except in links, white space precedes the
    /// target.
    fn interpreted(&mut self, range: Range<usize>, is_link: bool) {
        let inner = &self.text[range.clone()];
        let target = inner.strip_suffix('>').and_then(|inner| inner.rfind('<'));
        let text = match target {
            Some(open) if open == 0 || is_link || inner[..open].ends_with(char::is_whitespace) => {
                inner[..open].trim_end()
            }
            _ => inner,
        };
        let mut at = range.start;
        let end = range.start + text.len();
        while let Some(escape) = memchr(b'\\', &self.text.as_bytes()[at..end]) {
            self.push(at + escape);
            self.from = at + escape + 1;
            // The next character is literal, even another backslash.
            at = self.text.ceil_char_boundary((self.from + 1).min(end)).min(end);
        }
        self.push(end);
        if text.len() < inner.len() {
            let target = range.start + text.len()..range.end;
            let name = inner[text.len()..inner.len() - 1].trim_start().trim_start_matches('<');
            self.builder.target(name, self.base + target.start..self.base + target.end);
        }
    }
}

/// Roles of Sphinx whose text may be followed by a target without white space.
const LINK_ROLES: [&str; 6] = [":doc:", ":ref:", ":numref:", ":term:", ":any:", ":download:"];

/// The length of the role that interpreted text starts with.
fn role(rest: &str) -> Option<usize> {
    let name = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.:+".contains(byte);
    let length = rest.bytes().take(ROLE_BYTES).take_while(name).count();
    (length > 2 && rest[..length].ends_with(':') && rest[length..].starts_with('`')).then_some(length)
}

/// The length of a reference to a footnote or a citation.
fn footnote(rest: &str) -> Option<usize> {
    let length = rest.bytes().take(ROLE_BYTES).position(|byte| byte == b']')?;
    let is_label = length > 1 && !rest[..length].contains(char::is_whitespace);
    (is_label && rest[length + 1..].starts_with('_')).then_some(length + 2)
}
