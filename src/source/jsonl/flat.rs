//! The short way through a line: an object as nearly all are, its wanted fields on the top level, without a mistake.
//!
//! It takes what it understands completely, and everything else is left to serde_json: a line that this refuses may be
//! right, and a line that this takes is one that serde_json takes, with the same outcome. What is gained is that strings
//! are passed over by vectors and nothing is allocated.

use super::Record;
use crate::kernel::json::plain_prefix;
use serde::de::IgnoredAny;
use std::borrow::Cow;

/// The text and the id of a line.
pub(super) struct Found<'a> {
    text: Str<'a>,
    id: Option<Id<'a>>,
}

#[derive(Clone, Copy)]
enum Id<'a> {
    Text(Str<'a>),
    /// As it stands in the line.
    Number(&'a str),
}

/// The inside of a string, checked.
#[derive(Clone, Copy)]
struct Str<'a> {
    raw: &'a str,
    has_escapes: bool,
}

/// Takes the fields `text` and `id` from a line; the last ones of these names.
pub(super) fn parse<'a>(line: &'a str, text: &str, id: &str) -> Option<Found<'a>> {
    // One field that is both is rare enough.
    if text == id {
        return None;
    }
    let mut at = Cursor { line, at: 0 };
    let (mut found_text, mut found_id) = (None, None);
    at.skip_space();
    at.expect(b'{')?;
    loop {
        at.skip_space();
        at.expect(b'"')?;
        let name = at.string()?;
        if name.has_escapes {
            return None;
        }
        at.skip_space();
        at.expect(b':')?;
        at.skip_space();
        if name.raw == text {
            at.expect(b'"')?;
            found_text = Some(at.string()?);
        } else if name.raw == id {
            found_id = match at.peek()? {
                b'"' => {
                    at.at += 1;
                    Some(Id::Text(at.string()?))
                }
                b'n' => {
                    at.word("null")?;
                    None
                }
                _ => Some(Id::Number(at.integer()?)),
            };
        } else {
            at.skip_value()?;
        }
        at.skip_space();
        match at.peek()? {
            b',' => at.at += 1,
            b'}' => break,
            _ => return None,
        }
    }
    at.at += 1;
    at.skip_space();
    (at.at == line.len()).then_some(Found { text: found_text?, id: found_id })
}

impl<'a> Found<'a> {
    /// The record. What has escapes is put together in `buffer`, the text before the id.
    pub fn record(&self, buffer: &'a mut String) -> Record<'a> {
        buffer.clear();
        let text_end = self.text.unescape_into(buffer);
        let id_end = match self.id {
            Some(Id::Text(id)) => id.unescape_into(buffer),
            _ => None,
        };
        let buffer: &'a str = buffer;
        let start_of_id = text_end.unwrap_or(0);
        let id = self.id.map(|id| match (id, id_end) {
            (Id::Text(_), Some(end)) => Cow::Borrowed(&buffer[start_of_id..end]),
            (Id::Text(Str { raw, .. }) | Id::Number(raw), _) => Cow::Borrowed(raw),
        });
        Record { text: Cow::Borrowed(text_end.map_or(self.text.raw, |end| &buffer[..end])), id }
    }
}

impl Str<'_> {
    /// If it has escapes, appends it without them, and returns where the buffer then ends.
    fn unescape_into(self, buffer: &mut String) -> Option<usize> {
        if !self.has_escapes {
            return None;
        }
        buffer.reserve(self.raw.len());
        let mut rest = self.raw;
        while let Some((plain, escape)) = split_at_backslash(rest) {
            buffer.push_str(plain);
            let (c, length) = unescape(escape.as_bytes()).expect("it was checked when it was found");
            buffer.push(c);
            rest = &escape[length..];
        }
        buffer.push_str(rest);
        Some(buffer.len())
    }
}

/// What stands before the first backslash, and what stands after it.
fn split_at_backslash(text: &str) -> Option<(&str, &str)> {
    // In a string there is neither quotation mark nor control character, so that a backslash is all that can stop it.
    let at = plain_prefix(text.as_bytes());
    (at < text.len()).then(|| (&text[..at], &text[at + 1..]))
}

/// The character that what follows a backslash stands for, and how many bytes that is.
fn unescape(after: &[u8]) -> Option<(char, usize)> {
    let c = match after.first()? {
        b'n' => '\n',
        b't' => '\t',
        b'r' => '\r',
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        c @ (b'"' | b'\\' | b'/') => char::from(*c),
        b'u' => {
            let high = hex(after.get(1..5)?)?;
            if !(0xd800..0xdc00).contains(&high) {
                // A low surrogate alone is no character.
                return Some((char::from_u32(high)?, 5));
            }
            let (b"\\u", low) = after.get(5..11)?.split_at(2) else { return None };
            let low = hex(low)?;
            let pair = (0xdc00..0xe000).contains(&low).then(|| 0x10000 + ((high - 0xd800) << 10 | (low - 0xdc00)))?;
            return Some((char::from_u32(pair)?, 11));
        }
        _ => return None,
    };
    Some((c, 1))
}

fn hex(digits: &[u8]) -> Option<u32> {
    digits.iter().try_fold(0, |value, &digit| Some(value << 4 | char::from(digit).to_digit(16)?))
}

struct Cursor<'a> {
    line: &'a str,
    at: usize,
}

impl<'a> Cursor<'a> {
    fn peek(&self) -> Option<u8> {
        self.line.as_bytes().get(self.at).copied()
    }

    fn expect(&mut self, byte: u8) -> Option<()> {
        (self.peek()? == byte).then(|| self.at += 1)
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn word(&mut self, word: &str) -> Option<()> {
        self.line.as_bytes()[self.at..].starts_with(word.as_bytes()).then(|| self.at += word.len())
    }

    /// The rest of a string, after its opening quotation mark.
    fn string(&mut self) -> Option<Str<'a>> {
        let bytes = self.line.as_bytes();
        let start = self.at;
        let mut has_escapes = false;
        loop {
            self.at += plain_prefix(&bytes[self.at..]);
            match self.peek()? {
                b'"' => break,
                b'\\' => {
                    has_escapes = true;
                    self.at += 1 + unescape(&bytes[self.at + 1..])?.1;
                }
                _ => return None,
            }
        }
        let raw = &self.line[start..self.at];
        self.at += 1;
        Some(Str { raw, has_escapes })
    }

    /// A whole number, as it stands.
    fn integer(&mut self) -> Option<&'a str> {
        let start = self.at;
        self.at += usize::from(self.peek()? == b'-');
        let digits = self.line.as_bytes()[self.at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let leads_with_zero = self.peek()? == b'0';
        self.at += digits;
        let goes_on = matches!(self.peek(), Some(b'.' | b'e' | b'E'));
        let fine = digits > 0 && !(leads_with_zero && digits > 1) && !goes_on;
        fine.then(|| &self.line[start..self.at])
    }

    /// Passes over a value that is not wanted.
    fn skip_value(&mut self) -> Option<()> {
        match self.peek()? {
            b'"' => {
                self.at += 1;
                self.string().map(|_| ())
            }
            b't' => self.word("true"),
            b'f' => self.word("false"),
            b'n' => self.word("null"),
            b'{' | b'[' => {
                let mut values = serde_json::Deserializer::from_str(&self.line[self.at..]).into_iter::<IgnoredAny>();
                values.next()?.ok()?;
                self.at += values.byte_offset();
                Some(())
            }
            _ => self.integer().map(|_| ()),
        }
    }
}
