//! Strings of JSON with surrogates that stand alone.
//!
//! An escape such as `\ud83d` is half of a character. JSON has it where a program cut a text between its two halves. It is
//! read as invalid UTF-8 is: in a text it becomes U+FFFD. An id must differ from others, so it becomes the escape itself.

use super::super::decode::Repair;
use super::super::label::Encoding;
use std::borrow::Cow;

use serde_core::de::{Deserializer as _, Error as _, Visitor};
use std::fmt;

/// The surrogates in a string that are not halves of a pair.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::source) struct Lone {
    count: u32,
    first: u16,
}

impl Lone {
    pub fn add(&mut self, unit: u16) {
        self.merge(Lone { count: 1, first: unit });
    }

    /// Adds those of a string that follows.
    pub fn merge(&mut self, next: Lone) {
        if self.count == 0 {
            self.first = next.first;
        }
        self.count = self.count.saturating_add(next.count);
    }

    pub fn is_empty(self) -> bool {
        self.count == 0
    }

    /// What was changed; `None` if there are none.
    pub fn repair(self) -> Option<Repair> {
        let Lone { count, first } = self;
        let message = match count {
            0 => return None,
            1 => format!("lone surrogate \\u{first:04x} replaced by U+FFFD"),
            _ => format!("{count} lone surrogates, the first \\u{first:04x}, replaced by U+FFFD"),
        };
        Some(Repair::replaced(message, count as usize))
    }
}

/// A string as it is read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Text<'a> {
    pub text: Cow<'a, str>,
    /// What was replaced in it.
    pub lone: Lone,
}

impl<'a> From<Cow<'a, str>> for Text<'a> {
    fn from(text: Cow<'a, str>) -> Self {
        Text { text, lone: Lone::default() }
    }
}

/// The text of a string as it is written, with quotation marks; each lone surrogate is replaced by U+FFFD.
pub(super) fn text(json: &str) -> Result<Text<'_>, serde_json::Error> {
    let bytes = match plain(json) {
        Some(text) => return Ok(Cow::Borrowed(text).into()),
        None => bytes(json)?,
    };
    let bytes = match String::from_utf8(bytes) {
        Ok(text) => return Ok(Cow::<str>::Owned(text).into()),
        Err(error) => error.into_bytes(),
    };
    let (mut text, mut lone) = (String::with_capacity(bytes.len()), Lone::default());
    each_piece(&bytes, |piece, unit| {
        text.push_str(piece);
        if let Some(unit) = unit {
            lone.add(unit);
            text.push(char::REPLACEMENT_CHARACTER);
        }
    });
    Ok(Text { text: Cow::Owned(text), lone })
}

/// The id that a string is, as it is written, with quotation marks. A lone surrogate stays an escape such as `\ud83d`. A backslash that
/// would look like the start of such an escape, or of this one, becomes `\u005c`; so different strings are different ids.
pub(super) fn id(json: &str) -> Result<Cow<'_, str>, serde_json::Error> {
    if let Some(id) = plain(json) {
        return Ok(Cow::Borrowed(id));
    }
    let mut id = String::new();
    each_piece(&bytes(json)?, |mut piece, unit| {
        while let Some(at) = find_escape(piece) {
            id.push_str(&piece[..at]);
            id.push_str("\\u005c");
            piece = &piece[at + 1..];
        }
        id.push_str(piece);
        if let Some(unit) = unit {
            id.push_str(&format!("\\u{unit:04x}"));
        }
    });
    Ok(Cow::Owned(id))
}

/// Where an id looks like an escape that [`id`] writes.
pub(super) fn find_escape(id: &str) -> Option<usize> {
    memchr::memmem::find_iter(id.as_bytes(), b"\\u").find(|&at| {
        let is_hex = |byte: &u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        match id.as_bytes().get(at + 2..at + 6) {
            Some([b'd', b'8'..=b'9' | b'a'..=b'f', last @ ..]) => last.iter().all(is_hex),
            digits => digits == Some(b"005c"),
        }
    })
}

/// A line of JSON as UTF-8, with an escape such as `\udcff` for each byte that is not: half of a character, as Python writes it. Unlike U+FFFD,
/// it tells one byte from another. The encoding is another one if it was named.
pub(super) fn escaped(line: &[u8], named: Option<Encoding>) -> String {
    let mut json = String::with_capacity(line.len());
    let mut push = |valid: &str, invalid: &[u8]| {
        json.push_str(valid);
        // After a backslash, the byte is a part of an escape, which is none.
        let backslashes = valid.bytes().rev().take_while(|byte| *byte == b'\\').count();
        for (at, byte) in invalid.iter().enumerate() {
            match at == 0 && backslashes % 2 == 1 {
                true => json.push(char::REPLACEMENT_CHARACTER),
                false => json.push_str(&format!("\\udc{byte:02x}")),
            }
        }
    };
    match named.filter(|named| !named.is_utf8()) {
        Some(named) => named.chunks(line, &mut push),
        None => line.utf8_chunks().for_each(|chunk| push(chunk.valid(), chunk.invalid())),
    }
    json
}

/// The name of a field as it is written, with quotation marks. `None` if it has lone surrogates: no option can name such a field.
pub(super) fn name(json: &str) -> Result<Option<Cow<'_, str>>, serde_json::Error> {
    text(json).map(|name| name.lone.is_empty().then_some(name.text))
}

/// A string without escapes, without its quotation marks.
fn plain(json: &str) -> Option<&str> {
    let inner = json.strip_prefix('"')?.strip_suffix('"')?;
    memchr::memchr(b'\\', inner.as_bytes()).is_none().then_some(inner)
}

/// The characters of a string as UTF-8, and lone surrogates encoded like them.
fn bytes(json: &str) -> Result<Vec<u8>, serde_json::Error> {
    struct Bytes;
    impl Visitor<'_> for Bytes {
        type Value = Vec<u8>;

        fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
            f.write_str("a string")
        }

        fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Vec<u8>, E> {
            Ok(bytes.to_vec())
        }
    }
    // Control characters would pass here, but the string was validated.
    match json.starts_with('"') {
        true => serde_json::Deserializer::from_str(json).deserialize_bytes(Bytes),
        false => Err(serde_json::Error::custom("not a string")),
    }
}

/// Calls `each` with pieces of UTF-8, and the surrogate that follows each.
fn each_piece(mut bytes: &[u8], mut each: impl FnMut(&str, Option<u16>)) {
    loop {
        // No character of UTF-8 begins like this.
        let lone = bytes.windows(3).position(|unit| unit[0] == 0xed && unit[1] >= 0xa0);
        let (piece, rest) = bytes.split_at(lone.unwrap_or(bytes.len()));
        let unit = lone.map(|_| 0xd000 | u16::from(rest[1] & 0x3f) << 6 | u16::from(rest[2] & 0x3f));
        each(&String::from_utf8_lossy(piece), unit);
        match unit {
            Some(_) => bytes = &rest[3..],
            None => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn lone_surrogates_are_replaced_in_texts_and_stay_in_ids() {
        for (json, in_text, in_id, count) in [
            (r#""a \ud83d b""#, "a \u{fffd} b", r"a \ud83d b", 1),
            (r#""\uDE00""#, "\u{fffd}", r"\ude00", 1),
            (r#""\ud83d\ud83d\ude00\ude00""#, "\u{fffd}😀\u{fffd}", r"\ud83d😀\ude00", 2),
            (r#""\ude00\ud83d""#, "\u{fffd}\u{fffd}", r"\ude00\ud83d", 2),
            (r#""\ud83d\n\ufffd""#, "\u{fffd}\n\u{fffd}", "\\ud83d\n\u{fffd}", 1),
            // Backslashes that look like what is written for surrogates.
            (r#""\\ud83d""#, r"\ud83d", r"\u005cud83d", 0),
            (r#""\\\u0075d83d""#, r"\ud83d", r"\u005cud83d", 0),
            (r#""\\u005c""#, r"\u005c", r"\u005cu005c", 0),
            (r#""\\\ud83d""#, "\\\u{fffd}", r"\\ud83d", 1),
            (
                r#""\\uD83D \\ud7ff \\ud83 \\u005C C:\\users\\ud""#,
                r"\uD83D \ud7ff \ud83 \u005C C:\users\ud",
                r"\uD83D \ud7ff \ud83 \u005C C:\users\ud",
                0,
            ),
        ] {
            let read = text(json).unwrap();
            assert_eq!((&*read.text, read.lone.count), (in_text, count), "{json}");
            assert_eq!(id(json).unwrap(), in_id, "{json}");
        }
    }

    #[test]
    fn what_was_replaced() {
        let repair =
            |json| text(json).unwrap().lone.repair().map(|Repair { message, replaced, .. }| (message, replaced));
        assert_eq!(repair(r#""\ufffd""#), None);
        assert_eq!(repair(r#""a\ud83d""#), Some((r"lone surrogate \ud83d replaced by U+FFFD".into(), 1)));
        let several = r"2 lone surrogates, the first \udc00, replaced by U+FFFD";
        assert_eq!(repair(r#""\udc00\ud83d""#), Some((several.into(), 2)));
    }

    #[test]
    fn bytes_that_are_not_utf8_are_escaped() {
        for (line, json) in [
            (&b"{\"a\":\"b\"}"[..], r#"{"a":"b"}"#),
            (b"\"\xe9\xff\xc3\xa9\"", r#""\udce9\udcffé""#),
            // A character that is cut, and backslashes before a byte.
            (b"\"\xe4\xb8\"", r#""\udce4\udcb8""#),
            (br#""\\"#, r#""\\"#),
            (b"\\\xe9", "\\\u{fffd}"),
            (b"\\\\\xe9\\\xe9\xe9", "\\\\\\udce9\\\u{fffd}\\udce9"),
        ] {
            assert_eq!(escaped(line, None), json);
        }
    }

    /// Units of UTF-16, many of them surrogates, and characters of escapes.
    fn units() -> impl Strategy<Value = Vec<u16>> {
        let ascii = prop::sample::select(br"\\\ud8305cx".map(u16::from).to_vec());
        let surrogate = prop::sample::select(vec![0xd800, 0xd83d, 0xdbff, 0xdc00, 0xde00, 0xdfff, 0xd7ff, 0xe000]);
        prop::collection::vec(prop_oneof![3 => ascii, 2 => surrogate, 1 => any::<u16>()], 0..12)
    }

    /// A string with every unit as an escape.
    fn written(units: &[u16]) -> String {
        let escapes: String = units.iter().map(|unit| format!("\\u{unit:04x}")).collect();
        format!("\"{escapes}\"")
    }

    proptest! {
        #[test]
        fn texts_are_those_of_the_standard_library(units in units()) {
            let json = written(&units);
            let read = text(&json).unwrap();
            prop_assert_eq!(&*read.text, String::from_utf16_lossy(&units));
            let lone = char::decode_utf16(units.iter().copied()).filter(Result::is_err).count();
            prop_assert_eq!(read.lone.count as usize, lone);
        }

        #[test]
        fn different_strings_are_different_ids(units in units()) {
            let json = written(&units);
            let id = id(&json).unwrap();
            // Back, by a reading of its own.
            let (mut back, mut rest) = (Vec::new(), &*id);
            while let Some(c) = rest.chars().next() {
                let unit = rest.strip_prefix("\\u").and_then(|digits| digits.get(..4));
                let unit = unit.filter(|digits| digits.bytes().all(|byte| b"0123456789abcdef".contains(&byte)));
                let unit = unit.and_then(|digits| u16::from_str_radix(digits, 16).ok());
                match unit.filter(|unit| *unit == 0x5c || (0xd800..0xe000).contains(unit)) {
                    Some(unit) => (back.push(unit), rest = &rest[6..]).1,
                    None => {
                        back.extend_from_slice(c.encode_utf16(&mut [0; 2]));
                        rest = &rest[c.len_utf8()..];
                    }
                }
            }
            prop_assert_eq!(back, units);
        }
    }
}
