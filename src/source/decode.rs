//! Bytes to text.
//!
//! In this order: a byte order mark decides. Well-formed UTF-8 is taken unchanged, without a copy. Otherwise the bytes
//! are either damaged UTF-8 or text in a legacy encoding. They are damaged UTF-8 if they have at least
//! [`UTF8_MAJORITY`] well-formed multi-byte sequences for each ill-formed one. Then each maximal ill-formed subsequence
//! becomes one U+FFFD, as in [`String::from_utf8_lossy`]. Otherwise the encoding is guessed.
//!
//! In legacy text, multi-byte UTF-8 sequences occur only by accident: for about one in five pairs of Chinese or Korean
//! bytes, one in two of Thai, almost never in European encodings. The ratio of four to one is above all of these.
//! Damaged UTF-8, where one character in thousands is broken, is far above four to one. ASCII fits both and is not
//! counted: an English page with one stray byte 0xE9 is Latin-1.

use crate::readable::count;
use std::borrow::Cow;

#[cfg(feature = "files")]
mod encoding;

#[cfg(feature = "files")]
pub(super) use encoding::{
    Transcoder, hides, legacy_encoding, legacy_encoding_of_stream, may_end_character, utf16_by_mark, whole,
};

#[cfg(feature = "html")]
pub(super) use encoding::invalid;

/// Decoded text, and how it was decoded if it was not valid UTF-8.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Decoded<'a> {
    pub text: Cow<'a, str>,
    pub repair: Option<Repair>,
}

/// What was changed in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// Bytes or escapes that are no characters were replaced.
    Replaced,
    /// It was decoded from an encoding that was guessed.
    #[cfg_attr(not(feature = "files"), allow(dead_code, reason = "only encodings of files are guessed"))]
    Guessed,
    /// It is incomplete.
    #[cfg_attr(not(feature = "warc"), allow(dead_code, reason = "only pages of archives are"))]
    Incomplete,
}

/// How text was changed when it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Repair {
    pub change: Change,
    pub message: String,
    /// The number of U+FFFD that were put in place of something else, in the text or beside it.
    pub replaced: usize,
}

impl Repair {
    /// Something was replaced in this number of places.
    pub fn replaced(message: String, replaced: usize) -> Self {
        Repair { change: Change::Replaced, message, replaced }
    }

    /// That of two texts which are joined. Its message is about the first that was changed.
    #[cfg(any(feature = "files", feature = "arrow", feature = "parquet"))]
    pub fn joined(first: Option<Self>, second: Option<Self>) -> Option<Self> {
        match (first, second) {
            (Some(first), Some(second)) => Some(Repair { replaced: first.replaced + second.replaced, ..first }),
            (first, second) => first.or(second),
        }
    }

    /// That of a text to which both happened.
    pub fn both(first: Option<Self>, second: Option<Self>) -> Option<Self> {
        match (first, second) {
            (Some(first), Some(second)) => Some(Repair {
                message: format!("{}; {}", first.message, second.message),
                replaced: first.replaced + second.replaced,
                ..second
            }),
            (first, second) => first.or(second),
        }
    }
}

/// Of the letters and digits of a text, one in this many may be replaced by U+FFFD. U+FFFD is no part of a word, so it is as if a text
/// did not have what it stands for: texts that differ in nothing else would be equal. A single one is accepted in any text.
const MOST_REPLACED: usize = 20;

impl Decoded<'_> {
    /// Why the text cannot be compared, as a message, if too much of it was replaced. `bytes` are those that it was decoded from. What
    /// follows the message is asked for them, and for whether their encoding was guessed.
    pub fn loss(&self, bytes: &[u8], advice: impl FnOnce(&[u8], bool) -> String) -> Option<String> {
        let Repair { change, message, replaced } = self.repair.as_ref().filter(|repair| repair.replaced > 1)?;
        let found = |bytes: &[u8]| memchr::memmem::find_iter(bytes, "\u{fffd}").count();
        // Those that were there before say nothing.
        let lost = found(self.text.as_bytes()).saturating_sub(found(bytes)).min(*replaced);
        let letters = lost + self.text.chars().filter(|c| c.is_alphanumeric()).count();
        if lost < 2 || lost * MOST_REPLACED <= letters {
            return None;
        }
        let what = message.replace(", replaced by U+FFFD", "").replace(" replaced by U+FFFD", "");
        let advice = advice(bytes, *change == Change::Guessed);
        Some(format!("{what}: {} of {} letters cannot be read{advice}", count(lost as u64), count(letters as u64)))
    }
}

/// The name of the encoding that bytes are probably in, if they are neither UTF-8 nor UTF-16.
#[cfg(feature = "files")]
pub(super) fn likely_encoding(bytes: &[u8]) -> Option<&'static str> {
    match utf16_by_mark(bytes) {
        None => legacy_encoding(bytes).map(encoding_rs::Encoding::name),
        Some(_) => None,
    }
}

/// This build knows no encodings.
#[cfg(not(feature = "files"))]
pub(super) fn likely_encoding(_: &[u8]) -> Option<&'static str> {
    None
}

/// Decodes a piece of a file, in which a UTF-16 mark has no meaning.
#[cfg(feature = "files")]
pub(super) fn fragment(bytes: &[u8]) -> Decoded<'_> {
    match legacy_encoding(bytes) {
        None => utf8(bytes),
        Some(encoding) => {
            let (text, damaged) = encoding.decode_without_bom_handling(bytes);
            let damage = if damaged { ", ill-formed bytes replaced by U+FFFD" } else { "" };
            let message = format!("decoded as {}{damage}", encoding.name());
            let replaced = if damaged { replacements(&text) } else { 0 };
            Decoded { text, repair: Some(Repair { change: Change::Guessed, message, replaced }) }
        }
    }
}

/// Decodes a piece of a file, which this build assumes to be UTF-8.
#[cfg(not(feature = "files"))]
pub(super) fn fragment(bytes: &[u8]) -> Decoded<'_> {
    utf8(bytes)
}

/// Decodes text that must be UTF-8.
pub(super) fn utf8(bytes: &[u8]) -> Decoded<'_> {
    utf8_value(without_utf8_mark(bytes))
}

/// Decodes a value that must be UTF-8, at whose beginning a mark is text.
pub(super) fn utf8_value(bytes: &[u8]) -> Decoded<'_> {
    // By far the most common case, and the faster check; it does not locate the error.
    #[cfg(feature = "files")]
    let found = simdutf8::basic::from_utf8(bytes).ok();
    #[cfg(not(feature = "files"))]
    let found = std::str::from_utf8(bytes).ok();
    if let Some(text) = found {
        return Decoded { text: Cow::Borrowed(text), repair: None };
    }
    let first = std::str::from_utf8(bytes).err().map_or(bytes.len(), |error| error.valid_up_to());
    let count = bytes.utf8_chunks().filter(|chunk| !chunk.invalid().is_empty()).count();
    let repair = match count {
        1 => format!("invalid UTF-8 at byte {first} replaced by U+FFFD"),
        _ => format!("invalid UTF-8 in {count} places, the first at byte {first}, replaced by U+FFFD"),
    };
    Decoded { text: String::from_utf8_lossy(bytes), repair: Some(Repair::replaced(repair, count)) }
}

/// How many U+FFFD a text has.
#[cfg(feature = "files")]
pub(super) fn replacements(text: &str) -> usize {
    memchr::memmem::find_iter(text.as_bytes(), "\u{fffd}").count()
}

/// The bytes after a UTF-8 mark, if there is one.
pub(super) fn without_utf8_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)
}

#[cfg(all(test, feature = "files"))]
mod tests {
    use super::*;
    use encoding_rs::*;
    use proptest::prelude::*;
    use std::cell::Cell;
    use std::io::Read;
    use std::rc::Rc;

    fn check(bytes: &[u8], text: &str, repair: Option<&str>) {
        let decoded = whole(bytes);
        assert_eq!((&*decoded.text, decoded.repair.as_ref().map(|repair| &*repair.message)), (text, repair));
    }

    const RUSSIAN: &str = "Съешь же ещё этих мягких французских булок, да выпей чаю";
    const CHINESE: &str = "中华人民共和国是位于亚洲东部的社会主义国家,首都为北京,人口众多,历史悠久";
    const JAPANESE: &str = "吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ。";
    const KOREAN: &str = "모든 국민은 인간으로서의 존엄과 가치를 가지며, 행복을 추구할 권리를 가진다";
    const THAI: &str = "มนุษย์ทั้งหลายเกิดมามีอิสระและเสมอภาคกันในเกียรติศักดิ์และสิทธิ";

    #[test]
    fn utf8_is_borrowed() {
        assert!(matches!(whole(RUSSIAN.as_bytes()), Decoded { text: Cow::Borrowed(RUSSIAN), repair: None }));
        check(b"", "", None);
    }

    #[test]
    fn a_mark_is_no_text() {
        check(b"\xef\xbb\xbfabc", "abc", None);
        check(b"\xff\xfea\0b\0", "ab", None);
        check(b"\xfe\xff\0a\0b", "ab", None);
    }

    #[test]
    fn a_lone_surrogate_in_utf16() {
        check(b"\xff\xfe\x00\xd8a\0", "\u{fffd}a", Some("invalid UTF-16LE replaced by U+FFFD"));
    }

    #[test]
    fn a_utf32_mark_is_not_utf16() {
        assert_eq!(utf16_by_mark(b"\xff\xfe\0\0a\0\0\0"), None);
    }

    #[test]
    fn legacy_text_is_guessed() {
        for (text, encoding) in [
            (RUSSIAN, WINDOWS_1251),
            (RUSSIAN, KOI8_U),
            (CHINESE, GBK),
            (CHINESE, BIG5),
            (JAPANESE, SHIFT_JIS),
            (JAPANESE, EUC_JP),
            (KOREAN, EUC_KR),
            (THAI, WINDOWS_874),
        ] {
            // Big5 has no simplified characters: encode those that it has.
            let text: String = text.chars().filter(|c| !encoding.encode(c.encode_utf8(&mut [0; 4])).2).collect();
            let (bytes, _, _) = encoding.encode(&text);
            check(&bytes, &text, Some(&format!("decoded as {}", encoding.name())));
        }
    }

    #[test]
    fn one_accented_letter_is_latin1() {
        check(b"the caf\xe9 is closed", "the café is closed", Some("decoded as windows-1252"));
    }

    #[test]
    fn broken_bytes_in_utf8_are_replaced() {
        let mut bytes = RUSSIAN.as_bytes().to_vec();
        bytes[1] = b'!';
        let expected = RUSSIAN.replacen('С', "\u{fffd}!", 1);
        check(&bytes, &expected, Some("invalid UTF-8 at byte 0 replaced by U+FFFD"));
        bytes.push(0xff);
        let expected = expected + "\u{fffd}";
        check(&bytes, &expected, Some("invalid UTF-8 in 2 places, the first at byte 0, replaced by U+FFFD"));
    }

    #[test]
    fn four_well_formed_outweigh_one_ill_formed() {
        assert_eq!(legacy_encoding("éééé\u{20}".as_bytes()), None);
        assert_eq!(legacy_encoding(b"\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9 \xe9 "), None);
        assert!(legacy_encoding(b"\xc3\xa9\xc3\xa9\xc3\xa9 \xe9 ").is_some());
    }

    #[test]
    fn a_stream_cut_within_a_character_is_utf8() {
        assert_eq!(legacy_encoding_of_stream(&RUSSIAN.as_bytes()[..5]), None);
        assert_eq!(legacy_encoding_of_stream(&WINDOWS_1251.encode(RUSSIAN).0), Some(WINDOWS_1251));
    }

    fn transcode(bytes: &[u8], encoding: &'static encoding_rs::Encoding) -> (String, bool) {
        let damaged = Rc::new(Cell::new(false));
        let mut text = String::new();
        Transcoder::new(bytes, encoding, damaged.clone()).read_to_string(&mut text).unwrap();
        (text, damaged.get())
    }

    #[test]
    fn streams_are_transcoded() {
        let long = RUSSIAN.repeat(5000);
        let mut utf16 = b"\xff\xfe".to_vec();
        utf16.extend(long.encode_utf16().flat_map(u16::to_le_bytes));
        assert_eq!(transcode(&utf16, UTF_16LE), (long.clone(), false));
        utf16.push(0);
        assert_eq!(transcode(&utf16, UTF_16LE), (long.clone() + "\u{fffd}", true));
        assert_eq!(transcode(&WINDOWS_1251.encode(&long).0, WINDOWS_1251), (long, false));
    }

    proptest! {
        #[test]
        fn any_bytes_decode(bytes: Vec<u8>) {
            let decoded = whole(&bytes);
            let whole_utf16 = utf16_by_mark(&bytes).is_some_and(|encoding| !encoding.decode(&bytes).2);
            prop_assert_eq!(decoded.repair.is_none(), whole_utf16 || std::str::from_utf8(&bytes).is_ok());
        }

        #[test]
        fn transcoding_a_stream_equals_decoding_it_whole(bytes: Vec<u8>) {
            for encoding in [UTF_16LE, UTF_16BE, GBK, SHIFT_JIS] {
                let (text, _) = encoding.decode_with_bom_removal(&bytes);
                prop_assert_eq!(transcode(&bytes, encoding).0, text);
            }
        }
    }
}
