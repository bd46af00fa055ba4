//! The fast path for a line: a valid object, as nearly all are, with the wanted fields on the top level.
//!
//! It accepts only lines that it understands completely, and leaves the others to serde_json. A line that it refuses
//! may be valid. A line that it accepts is also accepted by serde_json, with the same result. The gain: strings are
//! skipped with vector instructions, and nothing is allocated.

use super::strings::{Lone, Text, find_escape};
use crate::kernel::Level;
use crate::kernel::json::{self, plain_prefix};
use serde_core::de::IgnoredAny;
use std::borrow::Cow;
use std::ops::Range;

/// A record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::source) struct Record<'a> {
    pub text: Cow<'a, str>,
    /// `None` if it has none, or null.
    pub id: Option<Cow<'a, str>>,
    /// Whether the text is a page that was read completely because no main text was found.
    pub fell_back: bool,
    /// What was replaced in the text.
    pub lone: Lone,
}

impl Record<'_> {
    /// The same, with texts of its own.
    pub(super) fn into_owned<'b>(self) -> Record<'b> {
        let Record { text, id, fell_back, lone } = self;
        let owned = |text: Cow<'_, str>| Cow::Owned(text.into_owned());
        Record { text: owned(text), id: id.map(owned), fell_back, lone }
    }
}

/// The text and the id of a line.
pub(super) struct Found<'a> {
    text: Str<'a>,
    id: Option<Str<'a>>,
}

/// A wanted string, or a number as it is written.
#[derive(Clone)]
enum Str<'a> {
    /// A string without escapes: borrowed from the line.
    Raw(&'a str),
    /// A string with escapes: its position in the buffer, and the surrogates in it that were replaced.
    Unescaped(Range<usize>, Lone),
}

/// Extracts the fields `text` and `id` from a line; if a name repeats, the last one. Strings with escapes are decoded
/// into `buffer`.
pub(super) fn parse<'a>(line: &'a str, text: &str, id: &str, buffer: &mut String) -> Option<Found<'a>> {
    // One field for both is rare and left to serde_json.
    if text == id {
        return None;
    }
    buffer.clear();
    let mut at = Cursor { line, at: 0 };
    let (mut found_text, mut found_id) = (None, None);
    at.skip_space();
    at.expect(b'{')?;
    loop {
        at.skip_space();
        at.expect(b'"')?;
        let name = at.plain_string()?;
        at.skip_space();
        at.expect(b':')?;
        at.skip_space();
        if name == text {
            at.expect(b'"')?;
            found_text = Some(at.string(buffer)?);
        } else if name == id {
            found_id = match at.peek()? {
                b'"' => {
                    at.at += 1;
                    let id = at.string(buffer)?;
                    if let Str::Unescaped(range, lone) = &id
                        && (!lone.is_empty() || find_escape(&buffer[range.clone()]).is_some())
                    {
                        // Rare, and written otherwise than a text.
                        return None;
                    }
                    Some(id)
                }
                b'n' => {
                    at.word("null")?;
                    None
                }
                _ => Some(Str::Raw(at.integer()?)),
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
    /// The text and the id, given the buffer that the line was parsed with.
    pub fn text_and_id(self, buffer: &'a str) -> (Text<'a>, Option<Cow<'a, str>>) {
        let string = |string| match string {
            Str::Raw(raw) => Text::from(Cow::Borrowed(raw)),
            Str::Unescaped(range, lone) => Text { text: Cow::Borrowed(&buffer[range]), lone },
        };
        (string(self.text), self.id.map(|id| string(id).text))
    }
}

/// The character of an escape, or the surrogate that stands alone, given the bytes after the backslash, and their number.
#[inline]
fn unescape(after: &[u8]) -> Option<(Result<char, u16>, usize)> {
    let c = match after.first()? {
        b'n' => '\n',
        b't' => '\t',
        b'r' => '\r',
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        c @ (b'"' | b'\\' | b'/') => char::from(*c),
        b'u' => {
            let unit = hex(after.get(1..5)?)?;
            let low = || hex(after.get(5..11)?.strip_prefix(b"\\u")?).filter(|low| (0xdc00..0xe000).contains(low));
            let pair = |low| char::from_u32(0x10000 + ((u32::from(unit) - 0xd800) << 10 | (u32::from(low) - 0xdc00)));
            if (0xd800..0xdc00).contains(&unit)
                && let Some(c) = low().and_then(pair)
            {
                return Some((Ok(c), 11));
            }
            return Some((char::from_u32(unit.into()).ok_or(unit), 5));
        }
        _ => return None,
    };
    Some((Ok(c), 1))
}

fn hex(digits: &[u8]) -> Option<u16> {
    digits.iter().try_fold(0, |value, &digit| Some(value << 4 | char::from(digit).to_digit(16)? as u16))
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

    /// The rest of a string that has no escapes, after its opening quotation mark.
    fn plain_string(&mut self) -> Option<&'a str> {
        let start = self.at;
        self.at += plain_prefix(Level::current(), &self.line.as_bytes()[start..]);
        let end = self.at;
        self.expect(b'"')?;
        Some(&self.line[start..end])
    }

    /// The rest of a string, after its opening quotation mark. If it has escapes, it is decoded into the buffer.
    fn string(&mut self, buffer: &mut String) -> Option<Str<'a>> {
        let bytes = self.line.as_bytes();
        let first = self.at;
        self.at += plain_prefix(Level::current(), &bytes[first..]);
        if self.peek()? == b'"' {
            self.at += 1;
            return Some(Str::Raw(&self.line[first..self.at - 1]));
        }
        let (start_in_buffer, mut lone) = (buffer.len(), Lone::default());
        buffer.push_str(&self.line[first..self.at]);
        loop {
            self.at += json::unescape(Level::current(), &self.line[self.at..], buffer);
            match self.peek()? {
                b'"' => break,
                b'\\' => {
                    let (c, length) = unescape(&bytes[self.at + 1..])?;
                    buffer.push(c.unwrap_or_else(|unit| {
                        lone.add(unit);
                        char::REPLACEMENT_CHARACTER
                    }));
                    self.at += 1 + length;
                }
                _ => return None,
            }
        }
        self.at += 1;
        Some(Str::Unescaped(start_in_buffer..buffer.len(), lone))
    }

    /// Skips the rest of a string, after its opening quotation mark.
    fn skip_string(&mut self) -> Option<()> {
        let bytes = self.line.as_bytes();
        loop {
            self.at += plain_prefix(Level::current(), &bytes[self.at..]);
            match self.peek()? {
                b'"' => break,
                b'\\' => self.at += 1 + unescape(&bytes[self.at + 1..])?.1,
                _ => return None,
            }
        }
        self.at += 1;
        Some(())
    }

    /// A whole number, as it is written.
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

    /// Skips a value that is not wanted.
    fn skip_value(&mut self) -> Option<()> {
        match self.peek()? {
            b'"' => {
                self.at += 1;
                self.skip_string()
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
