//! Encodings other than UTF-8: detected by their mark, or guessed.

use std::cell::Cell;
use std::io::{self, Read};
use std::rc::Rc;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{BIG5, Decoder, EUC_KR, Encoding, GB18030, GBK, ISO_2022_JP, SHIFT_JIS, UTF_16BE, UTF_16LE};

use super::{Decoded, Repair, fragment, replacements};

/// The ratio of well-formed to ill-formed multi-byte sequences from which bytes are taken for damaged UTF-8.
const UTF8_MAJORITY: u64 = 4;

/// The guess reads this many bytes from the first that is not ASCII: more would cost time and change nothing.
const GUESS_BYTES: usize = 1 << 20;

/// Decodes a whole file.
pub(in crate::source) fn whole(bytes: &[u8]) -> Decoded<'_> {
    match utf16_by_mark(bytes) {
        Some(encoding) => {
            let (text, damaged) = encoding.decode_with_bom_removal(bytes);
            let repair = damaged.then(|| invalid(encoding, &text));
            Decoded { text, repair }
        }
        None => fragment(bytes),
    }
}

/// That bytes were replaced which are ill-formed in an encoding.
pub(in crate::source) fn invalid(encoding: &'static Encoding, text: &str) -> Repair {
    Repair::replaced(format!("invalid {} replaced by U+FFFD", encoding.name()), replacements(text))
}

/// The UTF-16 encoding whose mark the bytes start with. A UTF-32 mark is not detected.
pub(in crate::source) fn utf16_by_mark(bytes: &[u8]) -> Option<&'static Encoding> {
    match Encoding::for_bom(bytes) {
        Some((encoding, _)) if encoding == UTF_16BE => Some(encoding),
        Some((encoding, _)) if encoding == UTF_16LE && !bytes.starts_with(b"\xff\xfe\0\0") => Some(encoding),
        _ => None,
    }
}

/// The encoding of bytes that are neither UTF-8 nor damaged UTF-8.
pub(in crate::source) fn legacy_encoding(bytes: &[u8]) -> Option<&'static Encoding> {
    simdutf8::basic::from_utf8(bytes).err()?;
    if bytes.starts_with(b"\xef\xbb\xbf") || is_damaged_utf8(bytes) {
        return None;
    }
    let ascii = bytes.iter().take_while(|byte| byte.is_ascii()).count();
    let sample = &bytes[ascii..];
    // Denied: bytes in ISO-2022-JP are ASCII, and so already well-formed UTF-8.
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(&sample[..sample.len().min(GUESS_BYTES)], true);
    Some(detector.guess(None, Utf8Detection::Deny))
}

/// Whether this byte of ASCII may be a part of another character in an encoding.
pub(in crate::source) fn may_end_character(encoding: &'static Encoding, byte: u8) -> bool {
    let has_such = [BIG5, EUC_KR, GB18030, GBK, SHIFT_JIS].contains(&encoding);
    (has_such && byte >= 0x40) || (encoding == ISO_2022_JP && byte > b' ')
}

/// The encoding of bytes in which this byte is probably a part of a character where it follows one that is not ASCII.
pub(in crate::source) fn hides(bytes: &[u8], byte: u8) -> Option<&'static Encoding> {
    let follows = byte >= 0x40 && bytes.windows(2).any(|pair| !pair[0].is_ascii() && pair[1] == byte);
    let encoding = if follows { legacy_encoding(bytes) } else { None };
    encoding.filter(|encoding| may_end_character(encoding, byte))
}

/// [`legacy_encoding`] for a stream of which only the start is available, which may end within a character.
pub(in crate::source) fn legacy_encoding_of_stream(start: &[u8]) -> Option<&'static Encoding> {
    // No length: the only error is a character that the end cuts.
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
pub(in crate::source) struct Transcoder<R> {
    inner: R,
    decoder: Decoder,
    raw: Vec<u8>,
    text: Vec<u8>,
    /// The rest of `text` to return.
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
