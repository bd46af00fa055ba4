//! Bytes to text.
//!
//! In this order: a byte order mark decides; well-formed UTF-8 is taken as it stands, without a copy; else the bytes are
//! either damaged UTF-8 or text in a legacy encoding. They are damaged UTF-8 when they hold at least
//! [`UTF8_MAJORITY`] well-formed multi-byte sequences for each ill-formed one: each maximal ill-formed subsequence
//! becomes one U+FFFD, as in [`String::from_utf8_lossy`]. Otherwise the encoding is guessed.
//!
//! In legacy text a multi-byte UTF-8 sequence arises only by accident: for about one in five pairs of Chinese or Korean
//! bytes, one in two of Thai, next to never in European encodings. Four to one is beyond all of them, and damaged UTF-8,
//! where one character in thousands is broken, is far beyond four to one. ASCII says nothing either way and is not counted:
//! a page of English with one stray byte 0xE9 is Latin-1.

use std::borrow::Cow;
use std::cell::Cell;
use std::io::{self, Read};
use std::rc::Rc;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Decoder, Encoding, UTF_16BE, UTF_16LE};

/// Well-formed multi-byte sequences for each ill-formed one, from which on bytes are taken for damaged UTF-8.
const UTF8_MAJORITY: u64 = 4;

/// The guess looks at this many bytes from the first that is not ASCII: more would cost time and change nothing.
const GUESS_BYTES: usize = 1 << 20;

/// Text, and what had to be done to get it if that was more than reading it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Decoded<'a> {
    pub text: Cow<'a, str>,
    pub repair: Option<String>,
}

/// Decodes a whole file.
pub(super) fn whole(bytes: &[u8]) -> Decoded<'_> {
    match utf16_by_mark(bytes) {
        Some(encoding) => {
            let (text, damaged) = encoding.decode_with_bom_removal(bytes);
            let repair = damaged.then(|| format!("invalid {} replaced by U+FFFD", encoding.name()));
            Decoded { text, repair }
        }
        None => fragment(bytes),
    }
}

/// The text of a page that somebody wrote, and what had to be done to get it if that was more than reading it. `None` if it is no text: a
/// zero byte stands near its start, and it is not UTF-16 by its mark. Of HTML, `charset` in a `meta` element counts.
pub fn page_text(bytes: &[u8], html: bool) -> Option<(Cow<'_, str>, Option<String>)> {
    const NEAR: usize = 8 << 10;
    if utf16_by_mark(bytes).is_none() && bytes[..bytes.len().min(NEAR)].contains(&0) {
        return None;
    }
    let Decoded { text, repair } = if html { super::html::decode(bytes, None, true) } else { whole(bytes) };
    Some((text, repair))
}

/// Decodes a piece of a file, in which a UTF-16 mark would mean nothing.
pub(super) fn fragment(bytes: &[u8]) -> Decoded<'_> {
    match legacy_encoding(bytes) {
        None => utf8(bytes),
        Some(encoding) => {
            let (text, damaged) = encoding.decode_without_bom_handling(bytes);
            let damage = if damaged { ", ill-formed bytes replaced by U+FFFD" } else { "" };
            Decoded { text, repair: Some(format!("decoded as {}{damage}", encoding.name())) }
        }
    }
}

/// Decodes what is UTF-8 by definition.
pub(super) fn utf8(bytes: &[u8]) -> Decoded<'_> {
    let bytes = without_utf8_mark(bytes);
    // By far the most common case, and the faster way to find out; it does not say where what is wrong stands.
    if let Ok(text) = simdutf8::basic::from_utf8(bytes) {
        return Decoded { text: Cow::Borrowed(text), repair: None };
    }
    let first = std::str::from_utf8(bytes).err().map_or(bytes.len(), |error| error.valid_up_to());
    let count = bytes.utf8_chunks().filter(|chunk| !chunk.invalid().is_empty()).count();
    let repair = match count {
        1 => format!("invalid UTF-8 at byte {first} replaced by U+FFFD"),
        _ => format!("invalid UTF-8 in {count} places, the first at byte {first}, replaced by U+FFFD"),
    };
    Decoded { text: String::from_utf8_lossy(bytes), repair: Some(repair) }
}

/// The UTF-16 encoding whose mark the bytes start with. What would be a UTF-32 mark is not taken for one.
pub(super) fn utf16_by_mark(bytes: &[u8]) -> Option<&'static Encoding> {
    match Encoding::for_bom(bytes) {
        Some((encoding, _)) if encoding == UTF_16BE => Some(encoding),
        Some((encoding, _)) if encoding == UTF_16LE && !bytes.starts_with(b"\xff\xfe\0\0") => Some(encoding),
        _ => None,
    }
}

/// The bytes after a UTF-8 mark, if there is one.
pub(super) fn without_utf8_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)
}

/// The encoding to read the bytes in when they are not UTF-8, not even damaged UTF-8.
pub(super) fn legacy_encoding(bytes: &[u8]) -> Option<&'static Encoding> {
    simdutf8::basic::from_utf8(bytes).err()?;
    if bytes.starts_with(b"\xef\xbb\xbf") || is_damaged_utf8(bytes) {
        return None;
    }
    let ascii = bytes.iter().take_while(|byte| byte.is_ascii()).count();
    let sample = &bytes[ascii..];
    // Denied: what could be ISO-2022-JP is ASCII, and so well-formed UTF-8 already.
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(&sample[..sample.len().min(GUESS_BYTES)], true);
    Some(detector.guess(None, Utf8Detection::Deny))
}

/// [`legacy_encoding`] for a stream of which only the start is known, which may end within a character.
pub(super) fn legacy_encoding_of_stream(start: &[u8]) -> Option<&'static Encoding> {
    // No length: the only thing wrong is a character that the end cuts through.
    std::str::from_utf8(start).err()?.error_len()?;
    legacy_encoding(start)
}

fn is_damaged_utf8(bytes: &[u8]) -> bool {
    let (mut well_formed, mut ill_formed) = (0u64, 0u64);
    for chunk in bytes.utf8_chunks() {
        well_formed += chunk.valid().chars().filter(|c| !c.is_ascii()).count() as u64;
        ill_formed += u64::from(!chunk.invalid().is_empty());
    }
    well_formed >= ill_formed * UTF8_MAJORITY
}

/// Reads text in some encoding as UTF-8.
pub(super) struct Transcoder<R> {
    inner: R,
    decoder: Decoder,
    raw: Vec<u8>,
    text: Vec<u8>,
    /// What of `text` is still to be handed out.
    ready: std::ops::Range<usize>,
    ended: bool,
    damaged: Rc<Cell<bool>>,
}

impl<R: Read> Transcoder<R> {
    /// `damaged` is set when ill-formed bytes were replaced.
    pub fn new(inner: R, encoding: &'static Encoding, damaged: Rc<Cell<bool>>) -> Self {
        let decoder = encoding.new_decoder_with_bom_removal();
        Transcoder { inner, decoder, raw: vec![0; 1 << 16], text: Vec::new(), ready: 0..0, ended: false, damaged }
    }

    fn refill(&mut self) -> io::Result<()> {
        let read = self.inner.read(&mut self.raw)?;
        self.ended = read == 0;
        let room = self.decoder.max_utf8_buffer_length(read).unwrap_or(usize::MAX);
        if self.text.len() < room {
            self.text.resize(room, 0);
        }
        let (_, _, written, damaged) = self.decoder.decode_to_utf8(&self.raw[..read], &mut self.text, self.ended);
        self.ready = 0..written;
        self.damaged.set(self.damaged.get() || damaged);
        Ok(())
    }
}

impl<R: Read> Read for Transcoder<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.ready.is_empty() && !self.ended {
            self.refill()?;
        }
        let n = buffer.len().min(self.ready.len());
        buffer[..n].copy_from_slice(&self.text[self.ready.start..self.ready.start + n]);
        self.ready.start += n;
        Ok(n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use encoding_rs::*;
    use proptest::prelude::*;

    fn check(bytes: &[u8], text: &str, repair: Option<&str>) {
        let decoded = whole(bytes);
        assert_eq!((&*decoded.text, decoded.repair.as_deref()), (text, repair));
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
            // Big5 has no simplified characters: encode what it has.
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

    fn transcode(bytes: &[u8], encoding: &'static Encoding) -> (String, bool) {
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
