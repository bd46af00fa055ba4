//! Markup cut into tags, comments and text.

use encoding_rs::WINDOWS_1252;
use html5ever::data::NAMED_ENTITIES;
use memchr::{memchr, memchr2, memmem};

/// The length of the longest name of a character, `CounterClockwiseContourIntegral;`.
pub(super) const NAME_BYTES: usize = 32;

/// Elements within a line of text: their tags do not separate words.
pub(crate) const INLINE: &[&str] = &[
    "a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em", "font", "i", "ins",
    "kbd", "label", "mark", "nobr", "q", "s", "samp", "small", "span", "strike", "strong", "sub", "sup", "time", "tt",
    "u", "var", "wbr",
];

pub(crate) fn is_among(names: &[&str], name: &str) -> bool {
    names.iter().any(|other| other.eq_ignore_ascii_case(name))
}

/// NUL characters are left out.
pub(super) fn push_without_nul(run: &str, out: &mut String) {
    run.split('\0').for_each(|part| out.push_str(part));
}

/// Appends text, with character references resolved.
pub(super) fn unescape(run: &str, out: &mut String) {
    let mut rest = run;
    while let Some(at) = memchr(b'&', rest.as_bytes()) {
        push_without_nul(&rest[..at], out);
        rest = &rest[at + 1..];
        match reference(rest) {
            Some((length, [first, second])) => {
                out.push(first);
                if second != '\0' {
                    out.push(second);
                }
                rest = &rest[length..];
            }
            None => out.push('&'),
        }
    }
    push_without_nul(rest, out);
}

/// The character or two of the reference after an ampersand (the second is NUL if there is only one), and its length.
pub(crate) fn reference(rest: &str) -> Option<(usize, [char; 2])> {
    let Some(number) = rest.strip_prefix('#') else { return named(rest) };
    let hex = number.strip_prefix(['x', 'X']);
    let (digits, radix) = hex.map_or((number, 10), |digits| (digits, 16));
    let length = digits.bytes().take_while(|&byte| char::from(byte).is_digit(radix)).count();
    if length == 0 {
        return None;
    }
    let code = digits[..length].bytes().fold(0u32, |code, byte| {
        let digit = char::from(byte).to_digit(radix).unwrap_or(0);
        code.saturating_mul(radix).saturating_add(digit)
    });
    let after = &digits[length..];
    let semicolon = usize::from(after.starts_with(';'));
    let c = match code {
        // All browsers read these as windows-1252.
        0x80..=0x9f => WINDOWS_1252.decode_without_bom_handling(&[code as u8]).0.chars().next(),
        0 => None,
        code => char::from_u32(code),
    };
    Some((rest.len() - after.len() + semicolon, [c.unwrap_or('\u{fffd}'), '\0']))
}

/// The longest name that the text starts with. Old names need no semicolon.
fn named(rest: &str) -> Option<(usize, [char; 2])> {
    let letters = rest.bytes().take(NAME_BYTES).take_while(u8::is_ascii_alphanumeric).count();
    let semicolon = usize::from(rest[letters..].starts_with(';'));
    (1..=letters + semicolon).rev().find_map(|length| {
        // The table also has the beginnings of names, which have no value.
        let &(first, second) = NAMED_ENTITIES.get(&rest[..length]).filter(|(first, _)| *first != 0)?;
        Some((length, [char::from_u32(first)?, char::from_u32(second)?]))
    })
}

/// The kind of content of an element, as far as it matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    Data,
    /// Text up to the end tag, with references.
    Title,
    Area,
    /// Text up to the end tag, without references.
    Sample,
    /// Invisible content, up to the end tag.
    Hidden,
    Script,
    /// Text up to the end of the page.
    Plain,
}

impl Content {
    pub(crate) fn of(name: &str) -> Self {
        const HIDDEN: &[&str] = &["style", "noscript", "iframe", "noembed", "noframes"];
        // Checking the length first avoids most comparisons of names.
        match name.len() {
            3 if name.eq_ignore_ascii_case("xmp") => Content::Sample,
            5 if name.eq_ignore_ascii_case("title") => Content::Title,
            6 if name.eq_ignore_ascii_case("script") => Content::Script,
            8 if name.eq_ignore_ascii_case("textarea") => Content::Area,
            9 if name.eq_ignore_ascii_case("plaintext") => Content::Plain,
            5.. if is_among(HIDDEN, name) => Content::Hidden,
            _ => Content::Data,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Token<'a> {
    /// Not empty; references are not resolved.
    Text(&'a str),
    Start {
        name: &'a str,
        attributes: &'a str,
    },
    End {
        name: &'a str,
    },
    /// Including its delimiters.
    Comment(&'a str),
}

/// Cuts a page into tags and text.
#[derive(Clone)]
pub(crate) struct Tokens<'a> {
    rest: &'a str,
    /// The element whose content ends only with its end tag.
    within: Option<(&'a str, Content)>,
    /// Whether the page is XML, where a tag can end its element itself.
    is_xml: bool,
}

impl<'a> Tokens<'a> {
    pub(crate) fn new(html: &'a str) -> Self {
        Tokens { rest: html, within: None, is_xml: html.trim_start().starts_with("<?xml") }
    }

    /// The number of bytes after the last token.
    #[cfg(any(feature = "check", feature = "main-content"))]
    pub(crate) fn left(&self) -> usize {
        self.rest.len()
    }

    /// Takes the next `bytes` bytes.
    fn take(&mut self, bytes: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(bytes);
        self.rest = rest;
        taken
    }

    /// Takes a tag whose name starts at byte `at`; `None` if the page ends in it.
    fn tag(&mut self, at: usize) -> Option<Token<'a>> {
        let rest = &self.rest[at..];
        let name = &rest[..name_length(rest)];
        let mut attributes = Attributes::new(&rest[name.len()..]);
        attributes.by_ref().for_each(drop);
        let Some(after) = attributes.after else {
            self.rest = "";
            return None;
        };
        self.rest = after;
        if at == 2 {
            return Some(Token::End { name });
        }
        let is_ended = self.is_xml && rest[..rest.len() - after.len()].ends_with("/>");
        let content = if is_ended { Content::Data } else { Content::of(name) };
        self.within = (content != Content::Data).then_some((name, content));
        Some(Token::Start { name, attributes: &rest[name.len()..rest.len() - after.len()] })
    }
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        if let Some((name, content)) = self.within.take() {
            let end = match content {
                Content::Plain => self.rest.len(),
                Content::Script => script_end(self.rest),
                _ => end_tag(self.rest, name).unwrap_or(self.rest.len()),
            };
            if end > 0 {
                return Some(Token::Text(self.take(end)));
            }
        }
        while !self.rest.is_empty() {
            let bytes = self.rest.as_bytes();
            match memchr(b'<', bytes) {
                Some(0) => {}
                open => return Some(Token::Text(self.take(open.unwrap_or(bytes.len())))),
            }
            let end = match bytes[1..] {
                [b'a'..=b'z' | b'A'..=b'Z', ..] => return self.tag(1),
                [b'/', b'a'..=b'z' | b'A'..=b'Z', ..] => return self.tag(2),
                [b'!', b'-', b'-', ..] => return Some(Token::Comment(self.take(comment_end(bytes)))),
                // Any other markup here ends like a declaration.
                [b'!' | b'?', ..] | [b'/', _, ..] => memchr(b'>', bytes).map_or(bytes.len(), |at| at + 1),
                [b'/'] => return Some(Token::Text(self.take(2))),
                _ => return Some(Token::Text(self.take(1))),
            };
            self.take(end);
        }
        None
    }
}

/// The attributes of a tag, in the text after its name. Names and values are unchanged, without quotes.
pub(crate) struct Attributes<'a> {
    rest: &'a str,
    /// The text after the tag, once its end was found.
    after: Option<&'a str>,
}

impl<'a> Attributes<'a> {
    pub(crate) fn new(rest: &'a str) -> Self {
        Attributes { rest, after: None }
    }
}

impl<'a> Iterator for Attributes<'a> {
    type Item = (&'a str, &'a str);

    fn next(&mut self) -> Option<(&'a str, &'a str)> {
        let rest = self.rest.trim_start_matches(|c| is_space(c) || c == '/');
        self.rest = rest;
        if rest.starts_with('>') && self.after.is_none() {
            self.after = Some(&rest[1..]);
        }
        if rest.is_empty() || self.after.is_some() {
            return None;
        }
        // An equals sign can be the first character of a name, but not a later one.
        let equals = usize::from(rest.starts_with('='));
        let length = equals + rest[equals..].bytes().take_while(|&byte| !ends_name(byte) && byte != b'=').count();
        let name = &rest[..length];
        let rest = rest[length..].trim_start_matches(is_space);
        let Some(rest) = rest.strip_prefix('=') else {
            self.rest = rest;
            return Some((name, ""));
        };
        let rest = rest.trim_start_matches(is_space);
        let (value, rest) = match rest.as_bytes().first() {
            Some(quote @ (b'"' | b'\'')) => match memchr(*quote, &rest.as_bytes()[1..]) {
                Some(length) => (&rest[1..=length], &rest[length + 2..]),
                None => ("", ""),
            },
            _ => rest.split_at(rest.find(|c| is_space(c) || c == '>').unwrap_or(rest.len())),
        };
        self.rest = rest;
        Some((name, value))
    }
}

fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r' | '\x0c')
}

fn ends_name(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | b'\x0c' | b'/' | b'>')
}

fn name_length(rest: &str) -> usize {
    rest.bytes().take_while(|&byte| !ends_name(byte)).count()
}

/// The offset after the comment that the text starts with.
fn comment_end(bytes: &[u8]) -> usize {
    // The dashes that open a comment may be among those that close it: `<!-->`, `<!--->`; but not as `<!--!>`.
    let mut at = 2;
    while let Some(found) = memmem::find(&bytes[at..], b"--") {
        at += found;
        match bytes[at + 2..] {
            [b'>', ..] => return at + 3,
            [b'!', b'>', ..] if at > 3 => return at + 4,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// The offset of the first end tag of this name.
fn end_tag(rest: &str, name: &str) -> Option<usize> {
    memmem::find_iter(rest.as_bytes(), b"</").find(|&at| is_named(&rest.as_bytes()[at + 2..], name))
}

/// Whether this is the whole name of the tag that it starts.
fn is_named(bytes: &[u8], name: &str) -> bool {
    let Some((start, after)) = bytes.split_at_checked(name.len()) else { return false };
    start.eq_ignore_ascii_case(name.as_bytes()) && after.first().is_some_and(|&byte| ends_name(byte))
}

/// The offset of the end tag of a script, or the end. In a comment that contains a `script` tag, the end tag ends only
/// that script.
fn script_end(rest: &str) -> usize {
    let bytes = rest.as_bytes();
    let (mut at, mut nested) = (0, false);
    // Where the dashes that end the comment may start, if we are in one.
    let mut comment = None;
    while let Some(found) = memchr2(b'<', b'>', &bytes[at..]) {
        at += found;
        match &bytes[at..] {
            // Unlike other comments, these end only with `-->`.
            [b'>', ..] if comment.is_some_and(|start| at >= start + 2 && bytes[..at].ends_with(b"--")) => {
                (comment, nested) = (None, false);
            }
            [b'<', b'/', end @ ..] if is_named(end, "script") => {
                if !nested {
                    return at;
                }
                nested = false;
            }
            [b'<', b'!', b'-', b'-', ..] if comment.is_none() => comment = Some(at + 2),
            [b'<', inner @ ..] if comment.is_some() && is_named(inner, "script") => nested = true,
            _ => {}
        }
        at += 1;
    }
    bytes.len()
}
