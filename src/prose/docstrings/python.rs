//! Docstrings of Python: a string that is the first statement of a module, a class or a function, alone in its
//! statement.
//!
//! `def` and `class` occur only in definitions; the body starts after the next colon outside of brackets.

use memchr::memchr2;
use std::ops::Range;

/// The longest prefix of a string.
const PREFIX_BYTES: usize = 2;

/// Parts that are not code.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// A comment with its `#`.
    Comment(Range<usize>),
    /// The text between the quotes of a docstring.
    Docstring(Range<usize>),
}

/// The expected next part.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    /// The first statement of a module or of a body.
    First,
    /// More of a definition, within this many brackets.
    Definition(usize),
    Anything,
}

/// Comments and docstrings in that part of the source, in their order.
pub(super) fn find(source: &str, page: Range<usize>) -> Vec<Found> {
    let bytes = &source.as_bytes()[..page.end];
    let (mut at, mut next, mut found) = (page.start, Next::First, Vec::new());
    while let Some(&byte) = bytes.get(at) {
        let start = at;
        at += 1;
        match byte {
            b'#' => {
                at = memchr::memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |end| at + end);
                found.push(Found::Comment(start..at));
            }
            b'"' | b'\'' => at = string(bytes, start, next == Next::First, "", &mut found),
            _ if is_of_word(byte) => {
                at = start + bytes[start..].iter().take_while(|&&byte| is_of_word(byte)).count();
                let word = &source[start..at];
                if word.len() <= PREFIX_BYTES && matches!(bytes.get(at), Some(b'"' | b'\'')) {
                    at = string(bytes, at, next == Next::First, word, &mut found);
                } else if matches!(word, "def" | "class") {
                    next = Next::Definition(0);
                    continue;
                }
            }
            _ => {}
        }
        next = match (next, byte) {
            (Next::First, b'#' | b'\\') => Next::First,
            (Next::First, _) if byte.is_ascii_whitespace() => Next::First,
            (Next::Definition(0), b':') => Next::First,
            (Next::Definition(depth), b'(' | b'[' | b'{') => Next::Definition(depth + 1),
            (Next::Definition(depth), b')' | b']' | b'}') => Next::Definition(depth.saturating_sub(1)),
            (Next::Definition(depth), _) => Next::Definition(depth),
            _ => Next::Anything,
        };
    }
    found
}

/// The end of the string whose first quote is there.
fn string(bytes: &[u8], quote: usize, is_first: bool, prefix: &str, found: &mut Vec<Found>) -> usize {
    let quotes = if bytes[quote..].starts_with(&[bytes[quote]; 3]) { 3 } else { 1 };
    let start = quote + quotes;
    let (inner, end) = string_end(bytes, start, bytes[quote], quotes);
    let is_text = matches!(prefix, "" | "r" | "R" | "u" | "U");
    if is_first && is_text && inner < end && ends_statement(bytes, end) {
        found.push(Found::Docstring(start..inner));
    }
    end
}

/// The end of the text of a string, and of the string. An unterminated string ends with the source, or with the line if
/// its quotes are single; then both ends are the same.
fn string_end(bytes: &[u8], mut at: usize, quote: u8, quotes: usize) -> (usize, usize) {
    loop {
        let rest = bytes.get(at..).unwrap_or_default();
        let stop = match quotes {
            3 => memchr2(quote, b'\\', rest),
            _ => rest.iter().position(|&byte| byte == quote || matches!(byte, b'\\' | b'\n')),
        };
        let Some(stop) = stop else { return (bytes.len(), bytes.len()) };
        at += stop;
        match bytes[at] {
            b'\\' if bytes[at..].starts_with(b"\\\r\n") => at += 3,
            b'\\' => at += 2,
            b'\n' => return (at, at),
            _ if quotes == 1 || bytes[at..].starts_with(&[quote; 3]) => return (at, at + quotes),
            _ => at += 1,
        }
    }
}

/// Whether the statement has no further part there.
fn ends_statement(bytes: &[u8], at: usize) -> bool {
    let mut rest = bytes[at..].iter().skip_while(|&&byte| matches!(byte, b' ' | b'\t' | b'\r'));
    matches!(rest.next(), None | Some(b'\n' | b'#' | b';'))
}

fn is_of_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}
