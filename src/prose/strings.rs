//! Texts within strings of other languages, without their escapes.

use super::excerpt::Excerpt;
use memchr::{memchr, memchr2};
use std::ops::Range;

/// Adds the strings of a part of the source that is JSON.
pub(super) fn json(page: &mut Excerpt, source: &str, part: Range<usize>) {
    let bytes = source.as_bytes();
    let mut at = part.start;
    while let Some(quote) = memchr(b'"', &bytes[at..part.end]) {
        let string = content(source, at + quote + 1..part.end);
        at = (string.end + 1).min(part.end);
        escaped(page, source, string);
    }
}

/// The content of the string that starts there: up to a quotation mark without a backslash, or the end of the part.
pub(super) fn content(source: &str, part: Range<usize>) -> Range<usize> {
    let (bytes, mut at) = (source.as_bytes(), part.start);
    while let Some(found) = memchr2(b'"', b'\\', &bytes[at..part.end]) {
        at += found;
        if bytes[at] == b'"' {
            return part.start..at;
        }
        at = source.ceil_char_boundary((at + 2).min(part.end));
    }
    part
}

/// Adds the content of a string in which backslashes escape characters, as in JSON and in C.
pub(super) fn escaped(page: &mut Excerpt, source: &str, content: Range<usize>) {
    let mut at = content.start;
    while let Some(found) = memchr(b'\\', &source.as_bytes()[at..content.end]) {
        let escape = at + found;
        page.part(source, at..escape);
        at = escape + 1;
        let Some(c) = source[at..content.end].chars().next() else { return };
        let end = at + c.len_utf8();
        match c {
            'n' => page.push_blank(),
            'r' => {}
            't' => page.markup("\t"),
            'b' | 'f' | 'v' | 'a' => page.markup(" "),
            'u' => {
                let (c, length) = unicode(&source[end..content.end]);
                page.replaced(c.encode_utf8(&mut [0; 4]), escape..end + length);
                at = end + length;
                continue;
            }
            _ => page.part(source, at..end),
        }
        at = end;
    }
    page.part(source, at..content.end);
}

/// The character of an escape after its `u`, and the bytes that it takes there.
fn unicode(text: &str) -> (char, usize) {
    let unit = |text: &str| text.get(..4).and_then(|digits| u16::from_str_radix(digits, 16).ok());
    let Some(first) = unit(text) else { return (char::REPLACEMENT_CHARACTER, 0) };
    let second = text[4..].strip_prefix("\\u").and_then(unit);
    match char::decode_utf16([first].into_iter().chain(second)).next() {
        Some(Ok(c)) => (c, if c.len_utf16() == 2 { 10 } else { 4 }),
        _ => (char::REPLACEMENT_CHARACTER, 4),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_without_their_escapes() {
        let source = r#"["a \"b\"\n", "\u00e9\ud83d\ude00\\c\/\ud800 d\t", "e\q\u12"]"#;
        let mut page = Excerpt::default();
        json(&mut page, source, 0..source.len());
        assert_eq!(page.text(), "a \"b\"\né😀\\c/\u{fffd} d\teq\u{fffd}12");
        let place = |text: &str| {
            let at = page.text().find(text).unwrap();
            &source[page.source_of(at..at + text.len())]
        };
        assert_eq!(["b", "é", "😀", "d"].map(place), ["b", r"\u00e9", r"\ud83d\ude00", "d"]);
    }
}
