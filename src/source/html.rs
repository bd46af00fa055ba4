//! HTML pages: the markup is removed, and the text that readers see remains.
//!
//! Pages are cut into tags, comments and text by the rules of the HTML standard for tokens (section 13.2.5), without
//! building a tree: one pass, linear in the length whatever the nesting, and no recursion. Tests compare it with
//! html5ever's tokenizer. Only the table of named characters of html5ever is used here: for text alone, its tokenizer
//! takes several times as long, and its cost is quadratic in the number of attributes of a tag.
//!
//! Content that readers do not see is left out: comments, scripts, styles, templates, `noscript` and replacements for
//! frames, and any title after the first. Tags separate words, except those for a style within a line, such as `b`.

use encoding_rs::{Encoding, REPLACEMENT, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252, X_USER_DEFINED};
use html5ever::data::NAMED_ENTITIES;
use memchr::{memchr, memchr_iter, memchr2, memmem};
use std::borrow::Cow;

use super::PageText;
use super::decode::{self, Decoded};

#[cfg(feature = "main-content")]
mod main_text;

/// The number of first bytes that are searched for a declaration of the encoding. The standard requires 1024; some
/// pages declare it later.
const DECLARATION_BYTES: usize = 4096;

/// The length of the longest name of a character, `CounterClockwiseContourIntegral;`.
const NAME_BYTES: usize = 32;

/// Elements within a line of text: their tags do not separate words.
pub(crate) const INLINE: &[&str] = &[
    "a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em", "font", "i", "ins",
    "kbd", "label", "mark", "nobr", "q", "s", "samp", "small", "span", "strike", "strong", "sub", "sup", "time", "tt",
    "u", "var", "wbr",
];

/// The text of a page in a file, and how it was decoded if not simply as UTF-8. `None` if it is binary: it has a zero
/// byte near its start, and no byte order mark of UTF-16. In HTML, `charset` in a `meta` element counts.
pub fn page_text(bytes: &[u8], html: bool) -> Option<(Cow<'_, str>, Option<String>)> {
    const NEAR: usize = 8 << 10;
    if decode::utf16_by_mark(bytes).is_none() && bytes[..bytes.len().min(NEAR)].contains(&0) {
        return None;
    }
    let Decoded { text, repair } = if html { decode(bytes, None, true) } else { decode::whole(bytes) };
    Some((text, repair))
}

/// Decodes a page from a server. In this order: a byte order mark, the charset from the server (`charset`), the
/// declaration in an HTML page, and a guess as for any text.
pub(super) fn decode<'a>(bytes: &'a [u8], charset: Option<&[u8]>, html: bool) -> Decoded<'a> {
    if Encoding::for_bom(bytes).is_some() {
        return decode::whole(bytes);
    }
    match charset.and_then(by_label).or_else(|| if html { declared(bytes) } else { None }) {
        None => decode::whole(bytes),
        Some(encoding) if encoding == UTF_8 => decode::utf8(bytes),
        Some(encoding) => {
            let (text, damaged) = encoding.decode_without_bom_handling(bytes);
            Decoded { text, repair: damaged.then(|| format!("invalid {} replaced by U+FFFD", encoding.name())) }
        }
    }
}

/// The encoding with this label. Labels of the "replacement" encoding, which means that the text must not be read, have
/// none.
fn by_label(label: &[u8]) -> Option<&'static Encoding> {
    Encoding::for_label(label).filter(|&encoding| encoding != REPLACEMENT)
}

/// The encoding that a page declares in a `meta` element. Because the element was readable, it cannot be UTF-16.
fn declared(bytes: &[u8]) -> Option<&'static Encoding> {
    let start = String::from_utf8_lossy(&bytes[..bytes.len().min(DECLARATION_BYTES)]);
    Tokens::new(&start).find_map(|token| {
        let Token::Start { name, attributes } = token else { return None };
        if !name.eq_ignore_ascii_case("meta") {
            return None;
        }
        let of = |wanted: &str| {
            Attributes::new(attributes).find(|(name, _)| name.eq_ignore_ascii_case(wanted)).map(|(_, value)| value)
        };
        let by_content = || {
            of("http-equiv").filter(|what| what.eq_ignore_ascii_case("content-type"))?;
            charset_of(of("content")?.as_bytes())
        };
        let encoding = by_label(of("charset").map(str::as_bytes).or_else(by_content)?)?;
        Some(match encoding {
            utf16 if utf16 == UTF_16BE || utf16 == UTF_16LE => UTF_8,
            user if user == X_USER_DEFINED => WINDOWS_1252,
            other => other,
        })
    })
}

/// The charset in a content type, as in `text/html; charset=utf-8`.
pub(super) fn charset_of(content_type: &[u8]) -> Option<&[u8]> {
    content_type.split(|&byte| byte == b';').skip(1).find_map(|parameter| {
        let equals = memchr(b'=', parameter)?;
        let (name, value) = (parameter[..equals].trim_ascii(), parameter[equals + 1..].trim_ascii());
        name.eq_ignore_ascii_case(b"charset").then(|| {
            let quoted = value.split(|byte| matches!(byte, b'"' | b'\'')).find(|part| !part.is_empty());
            quoted.unwrap_or(b"")
        })
    })
}

/// The text of a page.
pub(super) struct Page {
    pub text: String,
    /// Whether all text was read because no main text was found.
    pub fell_back: bool,
    /// How the text was decoded, if not simply as UTF-8.
    pub repair: Option<String>,
}

/// Reads a page that was sent with this charset.
pub(super) fn page(bytes: &[u8], charset: Option<&[u8]>, wanted: PageText) -> Page {
    let Decoded { text: html, repair } = decode(bytes, charset, true);
    let (text, fell_back) = wanted_text(&html, wanted);
    Page { text, fell_back, repair }
}

/// The wanted text of a page, and whether all was read because no main text was found.
fn wanted_text(html: &str, wanted: PageText) -> (String, bool) {
    let main = if wanted == PageText::Main { main_text(html) } else { None };
    let fell_back = wanted == PageText::Main && main.is_none();
    (main.unwrap_or_else(|| text(html)), fell_back)
}

/// Reads a field that holds a page, or a part of one; see [`wanted_text`]. What it declares as its encoding does not
/// matter. Text without tags is main text, and without character references it stays as it is.
pub(super) fn field(html: Cow<'_, str>, wanted: PageText) -> (Cow<'_, str>, bool) {
    let bytes = html.as_bytes();
    // As in the tokenizer: any other `<` is text.
    let begins_tag = |at: usize| matches!(bytes.get(at + 1), Some(b'a'..=b'z' | b'A'..=b'Z' | b'/' | b'!' | b'?'));
    if memchr_iter(b'<', bytes).any(begins_tag) {
        let (text, fell_back) = wanted_text(&html, wanted);
        return (text.into(), fell_back);
    }
    match memchr_iter(b'&', bytes).any(|at| reference(&html[at + 1..]).is_some()) {
        true => (text(&html).into(), false),
        false => (html, false),
    }
}

#[cfg(feature = "main-content")]
fn main_text(html: &str) -> Option<String> {
    main_text::main_text(html)
}

#[cfg(not(feature = "main-content"))]
fn main_text(_html: &str) -> Option<String> {
    None
}

/// The text of a page. Runs of white space around tags are one, a line feed if the tag separates.
pub(super) fn text(html: &str) -> String {
    let mut text = Text { text: String::with_capacity(html.len() / 4), gap: None };
    let (mut templates, mut titled) = (0u64, false);
    let mut inside = Content::Data;
    for token in Tokens::new(html) {
        match token {
            Token::Start { name, .. } => {
                templates += u64::from(name.eq_ignore_ascii_case("template"));
                inside = Content::of(name);
                text.tag(name);
            }
            Token::End { name } => {
                if name.eq_ignore_ascii_case("template") {
                    templates = templates.saturating_sub(1);
                }
                inside = Content::Data;
                text.tag(name);
            }
            Token::Comment(_) => {}
            Token::Text(_) if templates > 0 => {}
            Token::Text(run) => match inside {
                Content::Title if titled => {}
                Content::Title => {
                    titled = true;
                    text.push(run, true);
                }
                Content::Hidden | Content::Script => {}
                Content::Data | Content::Area => text.push(run, true),
                Content::Sample | Content::Plain => text.push(run, false),
            },
        }
    }
    text.text
}

/// The text so far, and the separator before the next word.
struct Text {
    text: String,
    gap: Option<char>,
}

impl Text {
    fn tag(&mut self, name: &str) {
        if !is_among(INLINE, name) {
            self.gap = Some('\n');
        }
    }

    fn push(&mut self, run: &str, references: bool) {
        let inner = run.trim_ascii_start();
        if inner.len() < run.len() {
            self.gap.get_or_insert(' ');
        }
        if inner.is_empty() {
            return;
        }
        if let Some(gap) = self.gap.take().filter(|_| !self.text.is_empty()) {
            self.text.push(gap);
        }
        let trimmed = inner.trim_ascii_end();
        if references {
            unescape(trimmed, &mut self.text)
        } else {
            push_without_nul(trimmed, &mut self.text)
        }
        if trimmed.len() < inner.len() {
            self.gap = Some(' ');
        }
    }
}

pub(crate) fn is_among(names: &[&str], name: &str) -> bool {
    names.iter().any(|other| other.eq_ignore_ascii_case(name))
}

/// NUL characters are left out.
fn push_without_nul(run: &str, out: &mut String) {
    run.split('\0').for_each(|part| out.push_str(part));
}

/// Appends text, with character references resolved.
fn unescape(run: &str, out: &mut String) {
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
    #[cfg(feature = "check")]
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

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use html5ever::tendril::StrTendril;
    use html5ever::tokenizer::states::RawKind;
    use html5ever::tokenizer::{
        BufferQueue, StartTag, TagToken, Token as Parsed, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts,
    };
    use proptest::prelude::*;
    use std::cell::RefCell;

    /// Text and tags by html5ever, runs of text put together.
    #[derive(Default)]
    struct Oracle(RefCell<Vec<String>>);

    impl Oracle {
        fn tokens(html: &str) -> Vec<String> {
            let input = BufferQueue::default();
            input.push_back(StrTendril::from(html));
            let tokenizer =
                Tokenizer::new(Oracle::default(), TokenizerOpts { discard_bom: false, ..Default::default() });
            while !input.is_empty() {
                _ = tokenizer.feed(&input);
            }
            tokenizer.end();
            tokenizer.sink.0.take()
        }
    }

    fn push(tokens: &mut Vec<String>, text: &str) {
        match tokens.last_mut() {
            Some(last) if last.starts_with('"') => last.push_str(text),
            _ => tokens.push(format!("\"{text}")),
        }
    }

    impl TokenSink for Oracle {
        type Handle = ();

        fn process_token(&self, token: Parsed, _: u64) -> TokenSinkResult<()> {
            let mut tokens = self.0.borrow_mut();
            match token {
                Parsed::CharacterTokens(text) => push(&mut tokens, &text),
                TagToken(tag) if tag.kind == StartTag => {
                    tokens.push(format!("<{}", tag.name));
                    return match Content::of(&tag.name) {
                        Content::Data => TokenSinkResult::Continue,
                        Content::Title | Content::Area => TokenSinkResult::RawData(RawKind::Rcdata),
                        Content::Sample | Content::Hidden => TokenSinkResult::RawData(RawKind::Rawtext),
                        Content::Script => TokenSinkResult::RawData(RawKind::ScriptData),
                        Content::Plain => TokenSinkResult::Plaintext,
                    };
                }
                TagToken(tag) => tokens.push(format!("</{}", tag.name)),
                _ => {}
            }
            TokenSinkResult::Continue
        }
    }

    fn ours(html: &str) -> Vec<String> {
        let mut tokens = Vec::new();
        let mut inside = Content::Data;
        for token in Tokens::new(html) {
            match token {
                Token::Start { name, .. } => {
                    inside = Content::of(name);
                    tokens.push(format!("<{}", name.to_ascii_lowercase()));
                }
                Token::End { name } => {
                    inside = Content::Data;
                    tokens.push(format!("</{}", name.to_ascii_lowercase()));
                }
                Token::Comment(_) => {}
                Token::Text(run) => {
                    let mut text = String::new();
                    match inside {
                        Content::Data | Content::Title | Content::Area => unescape(run, &mut text),
                        _ => text.push_str(run),
                    }
                    push(&mut tokens, &text);
                }
            }
        }
        tokens
    }

    fn check(html: &str, expected: &str) {
        assert_eq!(text(html), expected, "{html}");
        assert_eq!(ours(html), Oracle::tokens(html), "{html}");
    }

    /// Markup, whole and in fragments: the standard defines the result for fragments.
    pub(in super::super) fn markup() -> impl Strategy<Value = String> {
        const BITS: &[&str] = &[
            "<",
            ">",
            "/",
            "!",
            "-",
            "--",
            "-->",
            "--!>",
            "<!--",
            "<!",
            "</",
            "<?",
            "=",
            "\"",
            "'",
            " ",
            "\n",
            "&",
            ";",
            "#",
            "&#",
            "&#x",
            "4",
            "1f600",
            "128",
            "amp",
            "&amp;",
            "&ampx",
            "&notit;",
            "&notin;",
            "&lol;",
            "&nGt;",
            "a",
            "b ",
            "x=1",
            "href='",
            "p",
            "<p>",
            "</p>",
            "<A b=\">\">",
            "script",
            "<script>",
            "</script>",
            "<script ",
            "</SCRIPT\n>",
            "<title>",
            "</title>",
            "</titlex>",
            "<style>",
            "</style ",
            "</style/>",
            "<textarea>",
            "</textarea>",
            "<noscript>",
            "</noscript>",
            "<xmp>",
            "</xmp>",
            "<plaintext>",
            "<![CDATA[",
            "]]>",
            "é",
            "中",
        ];
        prop::collection::vec(prop::sample::select(BITS), 0..24).prop_map(|bits| bits.concat())
    }

    #[test]
    fn fields_with_and_without_markup() {
        for (html, text, fell_back) in [
            ("  a < b,\n3<5 && c > d; AT&T, R&D; x&y \0 ", "  a < b,\n3<5 && c > d; AT&T, R&D; x&y \0 ", false),
            ("Tom &amp; Jerry &lt; 3", "Tom & Jerry < 3", false),
            ("<p>a</p><meta charset=koi8-r>\u{e9}", "a\n\u{e9}", false),
            ("<title>x</title>", "x", true),
            ("", "", false),
        ] {
            assert_eq!(field(html.into(), PageText::All), (text.into(), false), "{html}");
            assert_eq!(field(html.into(), PageText::Main), (text.into(), fell_back), "{html}");
        }
        assert!(matches!(field("plain & simple".into(), PageText::Main).0, Cow::Borrowed(_)));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn tokens_are_those_of_html5ever(html in markup()) {
            prop_assert_eq!(ours(&html), Oracle::tokens(&html));
            text(&html);
        }

        #[test]
        fn any_bytes_are_read(bytes in prop::collection::vec(any::<u8>(), 0..200), charset in "[a-z0-9-]{0,12}") {
            let decoded = decode(&bytes, Some(charset.as_bytes()), true);
            text(&decoded.text);
        }
    }

    #[test]
    fn every_named_character() {
        for name in NAMED_ENTITIES.keys() {
            for after in ["", ";", "x", "="] {
                let html = format!("a&{name}{after}b");
                assert_eq!(ours(&html), Oracle::tokens(&html), "{html}");
            }
        }
        assert_eq!(NAMED_ENTITIES.keys().map(|name| name.len()).max(), Some(NAME_BYTES));
    }

    #[test]
    fn every_numbered_character() {
        for code in (0..0x300).chain(0xd7f0..0xe010).chain([0x10fffe, 0x10ffff, 0x110000, u32::MAX]) {
            for html in [format!("&#{code}"), format!("&#x{code:X};z"), format!("&#9{code}9999999999;")] {
                assert_eq!(ours(&html), Oracle::tokens(&html), "{html}");
            }
        }
    }

    #[test]
    fn blocks_separate_words_and_styles_do_not() {
        check(
            "<h1>One</h1><p>t<b>w</b>o, three<br>four<td>five</td>six<x-seven>seven",
            "One\ntwo, three\nfour\nfive\nsix\nseven",
        );
    }

    #[test]
    fn space_around_tags_is_one() {
        check("<ul>\n  <li> one </li>\n  <li>two <i> three</i>\n</ul>\n", "one\ntwo three");
        check(" a\n <b>b</b> <i>c</i>d ", "a b cd");
        check("<pre>one\n  two\n\n three</pre>", "one\n  two\n\n three");
    }

    #[test]
    fn what_nobody_sees_is_left_out() {
        check(
            "<!DOCTYPE html><!-- a > --><title>T &amp; t</title><style>p > a {}</style><script>if (a < b) '</p>';</script>\
             <noscript>On!</noscript><template>not <template>this</template> or that</template>seen<iframe>frame</iframe>\
             <svg><title>icon</title></svg><!-- to the end",
            "T & t\nseen",
        );
        check("<script><!-- <script> </script> --></script>seen", "seen");
        check("<title>only this", "only this");
    }

    #[test]
    fn references() {
        check(
            "&lt;p&gt; &copy 2024 &nbsp; &#x1F600;&#233;&#x80;&#0;&bogus; &lol;&lol9; &notit; A&B & C&",
            "<p> © 2024 \u{a0} 😀é€\u{fffd}&bogus; &lol;&lol9; ¬it; A&B & C&",
        );
        check("<xmp>&lt;</xmp><textarea>&lt;</textarea>", "&lt;\n<");
    }

    #[test]
    fn nul_is_no_text() {
        assert_eq!(text("a\0b<p>\0x</p><title>\0c</title>"), "ab\nx\nc");
    }

    #[test]
    fn size_and_depth_cost_no_more_than_their_bytes() {
        let deep = 100_000;
        assert_eq!(text(&format!("{}x{}", "<div>".repeat(deep), "</div>".repeat(deep))), "x");
        let attributes: String = (0..deep).map(|n| format!(" a{n}=1")).collect();
        assert_eq!(text(&format!("<p{attributes}>x</p>")), "x");
        assert_eq!(text(&format!("<p title='{}'>x", "<".repeat(10_000_000))), "x");
        for bit in [
            "<",
            "</",
            "<!--",
            "<!",
            "<p ",
            "<p a='",
            "&",
            "&#",
            "&a",
            "<title>",
            "</title ",
            "<script><!--",
            "<script><!--</script>",
            "<a",
        ] {
            text(&bit.repeat(deep));
            text(&format!("<script><!--{}", bit.repeat(deep)));
        }
    }

    fn check_decoding(html: &[u8], charset: Option<&str>, expected: &str, repair: Option<&str>) {
        let decoded = decode(html, charset.map(str::as_bytes), true);
        assert_eq!((&*text(&decoded.text), decoded.repair.as_deref()), (expected, repair));
    }

    #[test]
    fn in_xml_a_tag_can_end_its_element() {
        let page = |start: &str| {
            format!("{start}<html><head><title>t</title><script src='a.js'/></head><body><p>one two</html>")
        };
        assert_eq!(text(&page("<?xml version='1.0'?>")).split_whitespace().collect::<Vec<_>>(), ["t", "one", "two"]);
        assert_eq!(text(&page("")), "t");
    }

    #[test]
    fn encodings_by_what_is_said_about_them() {
        // The precedence: a mark, the server, the page, a guess.
        check_decoding("\u{feff}é".as_bytes(), Some("windows-1252"), "é", None);
        check_decoding(b"\xff\xfe\xe9\0", Some("utf-8"), "é", None);
        check_decoding(b"<meta charset=gbk>\xe9", Some(" Windows-1252"), "é", None);
        check_decoding(b"<meta charset=\"koi8-r\">\xc1\xc2", None, "аб", None);
        check_decoding(b"<META Content='text/html; charset=koi8-r' http-equiv=Content-Type>\xc1", None, "а", None);
        check_decoding(
            b"<meta content='text/html; charset=koi8-r'>caf\xe9 noir",
            None,
            "café noir",
            Some("decoded as windows-1252"),
        );
        check_decoding(
            b"<!-- <meta charset=koi8-r> -->caf\xe9 noir",
            None,
            "café noir",
            Some("decoded as windows-1252"),
        );
        check_decoding("<meta charset=utf-16>é".as_bytes(), None, "é", None);
        check_decoding("é".as_bytes(), Some("no-such"), "é", None);
        check_decoding("é".as_bytes(), Some("iso-2022-kr"), "é", None);
        check_decoding(
            b"\xe9t\xe9",
            Some("utf-8"),
            "\u{fffd}t\u{fffd}",
            Some("invalid UTF-8 in 2 places, the first at byte 0, replaced by U+FFFD"),
        );
        check_decoding(b"\xff", Some("gbk"), "\u{fffd}", Some("invalid GBK replaced by U+FFFD"));
    }

    #[test]
    fn charsets_of_content_types() {
        for (content_type, charset) in [
            ("text/html; charset=UTF-8", Some("UTF-8")),
            ("text/html;charset=\"koi8-r\"", Some("koi8-r")),
            ("text/html; a=b; Charset = 'x' ;c", Some("x")),
            ("text/html; charset=", Some("")),
            ("text/html", None),
            ("charset=x", None),
            ("", None),
        ] {
            assert_eq!(charset_of(content_type.as_bytes()), charset.map(str::as_bytes), "{content_type}");
        }
    }
}
