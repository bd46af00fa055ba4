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
use memchr::{memchr, memchr_iter};
use std::borrow::Cow;

use super::PageText;
use super::decode::{self, Decoded, Repair};
use super::label;

#[cfg(feature = "main-content")]
mod documentation;
#[cfg(feature = "main-content")]
mod main_text;
mod markup;
mod text;

pub(crate) use markup::{Attributes, Token, Tokens, reference};
#[cfg(feature = "check")]
pub(crate) use markup::{Content, INLINE, is_among};
use text::text;

/// The number of first bytes that are searched for a declaration of the encoding. The standard requires 1024; some
/// pages declare it later.
const DECLARATION_BYTES: usize = 4096;

/// The text of a page in a file, and how it was decoded if not simply as UTF-8. `None` if it is binary: it has a zero
/// byte near its start, and no byte order mark of UTF-16. In HTML, `charset` in a `meta` element counts.
pub fn page_text(bytes: &[u8], html: bool) -> Option<(Cow<'_, str>, Option<String>)> {
    const NEAR: usize = 8 << 10;
    if decode::utf16_by_mark(bytes).is_none() && bytes[..bytes.len().min(NEAR)].contains(&0) {
        return None;
    }
    let Decoded { text, repair } = if html { decode(bytes, Charsets::default(), true) } else { decode::whole(bytes) };
    Some((text, repair.map(|repair| repair.message)))
}

/// The encodings that are known of a page beside what it declares.
#[derive(Clone, Copy, Default)]
pub(super) struct Charsets {
    /// The one that the server names, or the user for a file.
    pub sent: Option<&'static Encoding>,
    /// The one that the user names for pages of an archive that name none.
    pub otherwise: Option<super::Encoding>,
}

impl Charsets {
    /// Those of a page that was sent with this charset, if any.
    #[cfg(feature = "warc")]
    pub fn of_server(charset: Option<&[u8]>, otherwise: Option<super::Encoding>) -> Self {
        Charsets { sent: charset.and_then(by_label), otherwise }
    }
}

/// Decodes a page. In this order: a byte order mark, the charset that was sent with it, the declaration in an HTML page, the
/// encoding of those that name none, and a guess as for any text.
pub(super) fn decode(bytes: &[u8], charsets: Charsets, html: bool) -> Decoded<'_> {
    if Encoding::for_bom(bytes).is_some() {
        return decode::whole(bytes);
    }
    match charsets.sent.or_else(|| if html { declared(bytes) } else { None }) {
        None => label::whole(bytes, charsets.otherwise),
        Some(encoding) if encoding == UTF_8 => decode::utf8(bytes),
        Some(encoding) => {
            let (text, damaged) = encoding.decode_without_bom_handling(bytes);
            let repair = damaged.then(|| decode::invalid(encoding, &text));
            Decoded { text, repair }
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
    pub repair: Option<Repair>,
}

/// Reads a page.
pub(super) fn page(bytes: &[u8], charsets: Charsets, wanted: PageText) -> Page {
    let Decoded { text: html, repair } = decode(bytes, charsets, true);
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

#[cfg(test)]
pub(super) mod tests {
    use super::markup::{NAME_BYTES, unescape};
    use super::*;
    use html5ever::data::NAMED_ENTITIES;
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
            let decoded = decode(&bytes, Charsets { sent: by_label(charset.as_bytes()), otherwise: None }, true);
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
        let sent = charset.and_then(|charset| by_label(charset.as_bytes()));
        let decoded = decode(html, Charsets { sent, otherwise: None }, true);
        let found = decoded.repair.as_ref().map(|repair| &*repair.message);
        assert_eq!((&*text(&decoded.text), found), (expected, repair));
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

    /// 0xC1 is а in KOI8-R, Б in windows-1251, and Á in windows-1252.
    #[test]
    fn the_encoding_of_pages_that_name_none() {
        let otherwise = super::super::Encoding::by_label("encoding", "koi8-r").ok();
        let decoded = |page: &[u8], sent: Option<&str>| {
            let sent = sent.and_then(|charset| by_label(charset.as_bytes()));
            let Decoded { text: html, repair } = decode(page, Charsets { sent, otherwise }, true);
            assert_eq!(repair, None);
            text(&html)
        };
        assert_eq!(decoded(b"<p>\xc1", None), "а");
        assert_eq!(decoded(b"<p>\xc1", Some("windows-1251")), "Б");
        assert_eq!(decoded(b"<meta charset=latin1><p>\xc1", None), "Á");
        assert_eq!(decoded("\u{feff}<p>á".as_bytes(), None), "á");
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
