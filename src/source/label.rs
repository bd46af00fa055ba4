//! Encodings that are named instead of guessed.

#[cfg(feature = "files")]
use super::decode::Repair;
use super::decode::{self, Decoded};
use crate::error::Error;
#[cfg(feature = "files")]
use encoding_rs::{DecoderResult, REPLACEMENT, UTF_8, UTF_16BE, UTF_16LE};
#[cfg(feature = "files")]
use std::borrow::Cow;

#[cfg(feature = "files")]
type Inner = &'static encoding_rs::Encoding;
/// This build knows no encodings.
#[cfg(not(feature = "files"))]
type Inner = std::convert::Infallible;

/// An encoding of text, by a label of the [Encoding Standard](https://encoding.spec.whatwg.org/#names-and-labels).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Encoding(Inner);

/// What a label is, for messages.
const LABELS: &str = "a label of the Encoding Standard, such as windows-1252 (latin1), iso-8859-2, windows-1251, koi8-r, shift_jis, \
                      euc-jp, gbk, big5, euc-kr, utf-16le or utf-8";

impl Encoding {
    /// The encoding with this label, in any case. `parameter` names it in the error.
    ///
    /// # Errors
    /// The standard has no such label, or none under which text is read; or the program is built without the feature `files`.
    #[cfg(feature = "files")]
    pub fn by_label(parameter: &'static str, label: &str) -> Result<Self, Error> {
        // Labels of the "replacement" encoding mean that the text must not be read.
        let found = encoding_rs::Encoding::for_label(label.as_bytes()).filter(|&encoding| encoding != REPLACEMENT);
        found.map(Encoding).ok_or_else(|| Error::parameter(parameter, label, LABELS))
    }

    /// The encoding with this label, in any case. `parameter` names it in the error.
    ///
    /// # Errors
    /// The standard has no such label, or none under which text is read; or the program is built without the feature `files`.
    #[cfg(not(feature = "files"))]
    pub fn by_label(parameter: &'static str, label: &str) -> Result<Self, Error> {
        Err(Error::parameter(parameter, label, format!("a program built with the feature files, and {LABELS}")))
    }

    /// Its name in the standard: that of `latin1` is `windows-1252`.
    pub fn name(self) -> &'static str {
        #[cfg(feature = "files")]
        return self.0.name();
        #[cfg(not(feature = "files"))]
        match self.0 {}
    }

    /// Whether its units have two bytes, so that lines do not end at a byte.
    pub fn is_utf16(self) -> bool {
        #[cfg(feature = "files")]
        return self.0 == UTF_16LE || self.0 == UTF_16BE;
        #[cfg(not(feature = "files"))]
        match self.0 {}
    }

    /// Whether a byte of a character may depend on those before it without limit: parts of such text are not text.
    #[cfg(feature = "clean")]
    pub(crate) fn has_states(self) -> bool {
        self.0 == encoding_rs::ISO_2022_JP
    }

    /// Whether it is UTF-8.
    pub(super) fn is_utf8(self) -> bool {
        #[cfg(feature = "files")]
        return self.0 == UTF_8;
        #[cfg(not(feature = "files"))]
        match self.0 {}
    }

    /// The encoding of text that begins with a mark of UTF-8, although this one was named.
    pub(super) fn marked_utf8(self) -> Self {
        #[cfg(feature = "files")]
        return Encoding(UTF_8);
        #[cfg(not(feature = "files"))]
        match self.0 {}
    }

    #[cfg(feature = "files")]
    pub(super) fn inner(self) -> &'static encoding_rs::Encoding {
        self.0
    }

    /// Decodes a text, or a piece of one. What is ill-formed is replaced by U+FFFD.
    pub(super) fn decode(self, bytes: &[u8]) -> Decoded<'_> {
        #[cfg(feature = "files")]
        {
            if self.is_utf8() {
                return decode::utf8(bytes);
            }
            let (text, is_damaged) = self.0.decode_without_bom_handling(bytes);
            let repair = if is_damaged { self.damage(&text) } else { None };
            Decoded { text, repair }
        }
        #[cfg(not(feature = "files"))]
        match (self.0, bytes) {}
    }

    /// That ill-formed bytes of this text were replaced, if it has any.
    #[cfg(feature = "files")]
    pub(super) fn damage(self, text: &str) -> Option<Repair> {
        let replaced = decode::replacements(text);
        (replaced > 0).then(|| Repair::replaced(format!("invalid {} replaced by U+FFFD", self.name()), replaced))
    }

    /// Calls `each` with the well-formed pieces of a text, decoded, and the ill-formed bytes after each.
    pub(super) fn chunks(self, bytes: &[u8], each: &mut dyn FnMut(&str, &[u8])) {
        #[cfg(feature = "files")]
        {
            let mut decoder = self.0.new_decoder_without_bom_handling();
            let (mut at, mut text) = (0, String::new());
            loop {
                text.clear();
                let room = decoder.max_utf8_buffer_length_without_replacement(bytes.len() - at);
                text.reserve(room.unwrap_or(usize::MAX));
                let (result, read) = decoder.decode_to_string_without_replacement(&bytes[at..], &mut text, true);
                at += read;
                match result {
                    DecoderResult::Malformed(length, after) => {
                        let end = at - usize::from(after);
                        each(&text, &bytes[end.saturating_sub(length.into())..end]);
                    }
                    DecoderResult::OutputFull => each(&text, &[]),
                    DecoderResult::InputEmpty => return each(&text, &[]),
                }
            }
        }
        #[cfg(not(feature = "files"))]
        match (self.0, bytes, each) {}
    }
}

/// Decodes a piece of a file, of which the encoding may be named.
pub(super) fn piece(bytes: &[u8], named: Option<Encoding>) -> Decoded<'_> {
    named.map_or_else(|| decode::fragment(bytes), |encoding| encoding.decode(bytes))
}

/// What can be done about bytes that are not the text that they should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Remedy {
    /// Their encoding can be named. It was, or it was not.
    Name(Option<Encoding>),
    /// They must be UTF-8.
    #[cfg_attr(not(feature = "files"), allow(dead_code, reason = "only columns and programs must be"))]
    Convert,
}

impl Remedy {
    /// Advice on bytes, at the end of a message. `is_guess`: an encoding was guessed.
    pub fn advice(self, bytes: &[u8], is_guess: bool) -> String {
        let likely = || if is_guess { None } else { decode::likely_encoding(bytes) };
        let is_utf8 = || std::str::from_utf8(bytes).is_ok();
        match self {
            _ if bytes.is_empty() => String::new(),
            Remedy::Name(Some(named)) if !named.is_utf8() && !bytes.is_ascii() => {
                match if is_utf8() { Some("UTF-8") } else { likely().filter(|&likely| likely != named.name()) } {
                    Some(encoding) => {
                        format!(" (if all of the input is in {encoding}, read it with `encoding {encoding}`)")
                    }
                    None => " (name another one with `encoding`)".into(),
                }
            }
            // Escapes in JSON.
            _ if is_utf8() => "; decode the text in its own encoding before it is written".into(),
            Remedy::Name(_) => match likely() {
                Some(encoding) => {
                    format!(" (if all of the input is in {encoding}, read it with `encoding {encoding}`)")
                }
                None => " (if all of the input is in another encoding, name that with `encoding`)".into(),
            },
            Remedy::Convert => match likely() {
                Some(encoding) => format!("; if this is {encoding}, convert it first: iconv -f {encoding} -t UTF-8"),
                None => "; convert it first: iconv -f ENCODING -t UTF-8".into(),
            },
        }
    }
}

/// Decodes a whole file of which the encoding may be named. A byte order mark decides before that.
#[cfg(feature = "files")]
pub(super) fn whole(bytes: &[u8], named: Option<Encoding>) -> Decoded<'_> {
    match named.filter(|_| !has_mark(bytes)) {
        Some(encoding) => encoding.decode(bytes),
        None => decode::whole(bytes),
    }
}

/// Whether bytes begin with a mark that decides about their encoding.
#[cfg(feature = "files")]
pub(super) fn has_mark(bytes: &[u8]) -> bool {
    decode::utf16_by_mark(bytes).is_some() || bytes.starts_with(b"\xef\xbb\xbf")
}

/// The encoding of bytes in UTF-16: by their mark, or named.
#[cfg(feature = "files")]
pub(super) fn utf16(bytes: &[u8], named: Option<Encoding>) -> Option<&'static encoding_rs::Encoding> {
    let named = || named.filter(|named| named.is_utf16() && !has_mark(bytes)).map(Encoding::inner);
    decode::utf16_by_mark(bytes).or_else(named)
}

/// The beginning of a text without its mark, as UTF-8 as far as its encoding is known, by the mark or by name.
#[cfg(feature = "files")]
pub(super) fn start_as_utf8(head: &[u8], named: Option<Encoding>) -> Cow<'_, [u8]> {
    let text = match (decode::utf16_by_mark(head), named.filter(|named| !named.is_utf8() && !has_mark(head))) {
        (Some(encoding), _) => encoding.decode_with_bom_removal(head).0,
        (None, Some(named)) => named.inner().decode_without_bom_handling(head).0,
        (None, None) => return Cow::Borrowed(decode::without_utf8_mark(head)),
    };
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
        Cow::Owned(text) => Cow::Owned(text.into_bytes()),
    }
}

#[cfg(all(test, feature = "files"))]
mod tests {
    use super::*;

    fn named(label: &str) -> Encoding {
        Encoding::by_label("encoding", label).unwrap()
    }

    #[test]
    fn labels_are_those_of_the_standard() {
        for (label, name) in [
            ("latin1", "windows-1252"),
            (" ISO-8859-1 ", "windows-1252"),
            ("sjis", "Shift_JIS"),
            ("gb2312", "GBK"),
            ("utf-16", "UTF-16LE"),
            ("UTF8", "UTF-8"),
        ] {
            assert_eq!(named(label).name(), name, "{label}");
        }
        // The last two are names of the "replacement" encoding.
        for label in ["", "latin-9000", "utf-7", "utf-32", "iso-2022-kr", "replacement"] {
            let error = Encoding::by_label("against-encoding", label).unwrap_err().to_string();
            let expected = format!("invalid value '{label}' for `against_encoding`: expected a label of the Encoding");
            assert!(error.starts_with(&expected), "{error}");
        }
    }

    /// Bytes by the tables of the standard: in Shift_JIS, 0x83 0x65 is テ (katakana) and 0xB1 is ｱ (half width); 0x83 0x5C, whose second byte
    /// is a backslash in ASCII, is ソ; in GBK, 0xD6 0xD0 is 中.
    #[test]
    fn bytes_are_decoded_by_the_named_encoding() {
        for (label, bytes, text) in [
            ("latin1", &b"caf\xe9 \x80"[..], "café €"),
            ("shift_jis", b"\x83\x65\x83\x5c\xb1", "テソｱ"),
            ("gbk", b"\xd6\xd0", "中"),
            ("utf-16", b"\xe9\0b\0", "éb"),
            ("utf-16be", b"\0\xe9\0b", "éb"),
            ("utf-8", b"\xc3\xa9", "é"),
        ] {
            let decoded = whole(bytes, Some(named(label)));
            assert_eq!((&*decoded.text, decoded.repair), (text, None), "{label}");
        }
    }

    #[test]
    fn a_mark_decides_before_the_name() {
        for (bytes, label) in [
            (&b"\xef\xbb\xbf\xc3\xa9"[..], "latin1"),
            (b"\xff\xfe\xe9\0", "utf-8"),
            (b"\xfe\xff\0\xe9", "utf-16le"),
            (b"\xff\xfe\xe9\0", "utf-16be"),
        ] {
            assert_eq!(whole(bytes, Some(named(label))).text, "é");
            assert_eq!(&*start_as_utf8(bytes, Some(named(label))), "é".as_bytes());
        }
    }

    #[test]
    fn ill_formed_bytes_are_replaced_and_counted() {
        // 0x80 begins no character of Shift_JIS that a space ends, and 0xFC 0xFC is none.
        let decoded = whole(b"a\x81 b\xfc\xfc", Some(named("shift_jis")));
        assert_eq!(decoded.text, "a\u{fffd} b\u{fffd}");
        assert_eq!(decoded.repair, Some(Repair::replaced("invalid Shift_JIS replaced by U+FFFD".into(), 2)));
        let mut chunks = Vec::new();
        named("shift_jis").chunks(b"a\x81 b\xfc\xfc", &mut |text, bytes| {
            chunks.push((text.to_string(), bytes.to_vec()));
        });
        let pair = |text: &str, bytes: &[u8]| (text.to_string(), bytes.to_vec());
        assert_eq!(chunks, [pair("a", b"\x81"), pair(" b", b"\xfc\xfc"), pair("", b"")]);
        // Nothing is guessed of text that is not UTF-8 if it should be.
        let decoded = whole(b"caf\xe9", Some(named("utf-8")));
        assert_eq!(decoded.text, "caf\u{fffd}");
    }
}
