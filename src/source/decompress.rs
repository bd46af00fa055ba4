//! Compressed bytes to bytes. The compression of a file is detected by its first bytes, never by its name.
//!
//! Compressed files are untrusted: their dictionary size and expansion are bounded. Damage ends the stream with an
//! error that says what is wrong, after all the bytes before it; only gzip of a web archive is read on (gzip.rs).

use std::cell::Cell;
use std::fs::File;
#[cfg(feature = "files")]
use std::io::Chain;
use std::io::{self, Cursor, ErrorKind, Read};
use std::path::Path;
use std::rc::Rc;

use super::compression::{Compression, Unreadable};
use super::members::Members;
use super::options::ReadOptions;

#[cfg(feature = "compression")]
mod decoder;

/// The length of the longest magic below, including the block marker of bzip2.
const MAGIC_BYTES: usize = 10;

/// The bytes of a file, decompressed if they are compressed. `consumed` counts the bytes taken from `raw`. Error
/// messages are ready to be shown.
pub(super) fn decompressed<'a>(
    raw: impl Read + 'a,
    consumed: Rc<Cell<u64>>,
    options: &ReadOptions,
) -> io::Result<Box<dyn Read + 'a>> {
    Ok(open_as(raw, consumed, &Members::default(), options)?.0)
}

/// Whether an error of reading is that compressed data is damaged, or ends too early.
#[cfg(feature = "compression")]
pub(super) fn is_damage(error: &io::Error) -> bool {
    decoder::is_of_data(error)
}

/// Nothing is decompressed.
#[cfg(not(feature = "compression"))]
pub(super) fn is_damage(_: &io::Error) -> bool {
    false
}

#[cfg(feature = "warc")]
pub(super) use decoder::{Resumed, resumed};

/// The bytes of one file that is not a document, decompressed if they are compressed.
pub(crate) fn open(path: &Path) -> io::Result<Box<dyn Read>> {
    decompressed(File::open(path)?, Default::default(), &ReadOptions::default())
}

/// The bytes of a file: as they are, and not counted yet, or decompressed.
#[cfg(feature = "files")]
pub(super) enum Bytes<'a, R> {
    Plain(Chain<Cursor<Vec<u8>>, R>),
    Decompressed(Box<dyn Read + 'a>),
}

/// As [`decompressed`], for a reader that counts bytes that are not compressed itself.
#[cfg(feature = "files")]
pub(super) fn bytes_of<'a, R: Read + 'a>(
    raw: R,
    consumed: Rc<Cell<u64>>,
    members: &Members,
    options: &ReadOptions,
) -> io::Result<Bytes<'a, R>> {
    let before = consumed.get();
    let mut raw = Counted { inner: raw, consumed: Rc::clone(&consumed) };
    let start = start(&mut raw)?;
    match Compression::by_magic(&start) {
        None => {
            consumed.set(before);
            Ok(Bytes::Plain(Cursor::new(start).chain(raw.inner)))
        }
        Some(kind) => {
            let raw = Cursor::new(start).chain(raw);
            decoder::open(kind, raw, (consumed, before), members, options).map(Bytes::Decompressed)
        }
    }
}

/// As [`decompressed`], with the compression.
pub(super) fn open_as<'a>(
    raw: impl Read + 'a,
    consumed: Rc<Cell<u64>>,
    members: &Members,
    options: &ReadOptions,
) -> io::Result<(Box<dyn Read + 'a>, Option<Compression>)> {
    let before = consumed.get();
    let mut raw = Counted { inner: raw, consumed: consumed.clone() };
    let start = start(&mut raw)?;
    let compression = Compression::by_magic(&start);
    let raw = Cursor::new(start).chain(raw);
    Ok(match compression {
        None => (Box::new(raw), None),
        Some(kind) => (decoder::open(kind, raw, (consumed, before), members, options)?, compression),
    })
}

/// The bytes that show the compression.
fn start(raw: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut start = Vec::with_capacity(MAGIC_BYTES);
    // No magic has a line feed, so a short first line decides without waiting for the next.
    while start.len() < MAGIC_BYTES && !start.contains(&b'\n') {
        let mut more = [0; MAGIC_BYTES];
        let n = raw.read(&mut more[..MAGIC_BYTES - start.len()])?;
        start.extend_from_slice(&more[..n]);
        if n == 0 {
            break;
        }
    }
    Ok(start)
}

/// The replacement for decoders in a build without them.
#[cfg(not(feature = "compression"))]
mod decoder {
    use crate::source::compression::Compression;
    use crate::source::members::Members;
    use crate::source::options::ReadOptions;
    use std::cell::Cell;
    use std::io::{self, ErrorKind, Read};
    use std::rc::Rc;

    pub fn open<'a>(
        compression: Compression,
        _raw: impl Read + 'a,
        _consumed: (Rc<Cell<u64>>, u64),
        _members: &Members,
        _options: &ReadOptions,
    ) -> io::Result<Box<dyn Read + 'a>> {
        let message = format!("{compression} data, which is only read by programs built with the feature compression");
        Err(io::Error::new(ErrorKind::Unsupported, message))
    }
}

/// Counts the bytes that go through, and marks errors as [`Unreadable`].
pub(super) struct Counted<R> {
    pub inner: R,
    pub consumed: Rc<Cell<u64>>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.inner.read(buffer) {
                Ok(n) => {
                    self.consumed.set(self.consumed.get() + n as u64);
                    return Ok(n);
                }
                // Decoders above may not resume correctly after an interruption.
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(io::Error::new(error.kind(), Unreadable(error))),
            }
        }
    }
}

/// Fails once, then has ended.
pub(super) struct Failing(pub Option<io::Error>);

impl Read for Failing {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        self.0.take().map_or(Ok(0), Err)
    }
}

#[cfg(all(test, feature = "compression"))]
pub(super) mod tests {
    use super::*;
    use std::io::Write;

    pub fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    pub fn zstd(bytes: &[u8]) -> Vec<u8> {
        ::zstd::encode_all(bytes, 3).unwrap()
    }

    pub fn bzip2(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = ::bzip2::write::BzEncoder::new(Vec::new(), ::bzip2::Compression::default());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    pub fn xz(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = lzma_rust2::XzWriter::new(Vec::new(), lzma_rust2::XzOptions::with_preset(1)).unwrap();
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    type Compress = fn(&[u8]) -> Vec<u8>;
    pub const ALL: [(&str, Compress); 4] = [("gzip", gzip), ("zstd", zstd), ("bzip2", bzip2), ("xz", xz)];

    /// The readable bytes, and the error after them.
    fn read(raw: &[u8], options: &ReadOptions) -> (Vec<u8>, Option<String>) {
        let mut out = Vec::new();
        let error = decompressed(raw, Rc::default(), options).and_then(|mut reader| reader.read_to_end(&mut out)).err();
        (out, error.map(|error| error.to_string()))
    }

    fn sample() -> Vec<u8> {
        (0..100_000u32)
            .flat_map(|n| format!("{{\"id\":{n},\"text\":\"{:x}\"}}\n", n.wrapping_mul(2654435761)).into_bytes())
            .collect()
    }

    #[test]
    fn each_compression_round_trips_and_is_multi_member() {
        for (name, compress) in ALL {
            let (a, b) = (sample(), b"second member\n".to_vec());
            let raw = [compress(&a), compress(b""), compress(&b)].concat();
            assert_eq!(read(&raw, &ReadOptions::default()), ([a, b].concat(), None), "{name}");
            assert_eq!(read(&compress(b""), &ReadOptions::default()), (vec![], None), "{name}, empty");
        }
    }

    /// As a tape writes blocks. gzip(1) accepts these files, too.
    #[test]
    fn zeros_after_gzip_are_ignored() {
        let members = [gzip(b"one\n"), gzip(b"two\n")].concat();
        for zeros in [1, 511, 300 << 10] {
            let raw = [&members[..], &vec![0; zeros]].concat();
            assert_eq!(read(&raw, &ReadOptions::default()), (b"one\ntwo\n".to_vec(), None), "{zeros}");
            let more = [&raw[..], &gzip(b"three\n")].concat();
            let message = "gzip data is damaged: other data follows the zeros after its end".to_string();
            assert_eq!(read(&more, &ReadOptions::default()), (b"one\ntwo\n".to_vec(), Some(message)), "{zeros}");
        }
        let other = [&members[..], b"text"].concat();
        assert_eq!(read(&other, &ReadOptions::default()).0, b"one\ntwo\n");
        assert!(read(&other, &ReadOptions::default()).1.is_some());
    }

    #[test]
    fn plain_bytes_are_plain() {
        for plain in [&b""[..], b"a", b"BZh9 is how bzip2 files start", b"\x1f\x8b", b"PK\x03\x04"] {
            assert_eq!(read(plain, &ReadOptions::default()), (plain.to_vec(), None));
        }
    }

    #[test]
    fn a_skippable_frame_first() {
        let raw = [&b"\x50\x2a\x4d\x18\x04\0\0\0pzst"[..], &zstd(b"text")].concat();
        assert_eq!(read(&raw, &ReadOptions::default()), (b"text".to_vec(), None));
    }

    fn zstd_window(log: u32) -> Vec<u8> {
        let mut encoder = ::zstd::Encoder::new(Vec::new(), 1).unwrap();
        encoder.window_log(log).unwrap();
        encoder.write_all(b"text").unwrap();
        encoder.finish().unwrap()
    }

    fn xz_dictionary(bytes: u32) -> Vec<u8> {
        let mut options = lzma_rust2::XzOptions::with_preset(0);
        options.lzma_options.dict_size = bytes;
        let mut encoder = lzma_rust2::XzWriter::new(Vec::new(), options).unwrap();
        encoder.write_all(b"text").unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn windows_up_to_the_limit_are_read() {
        for (max_window, raw) in [
            (128, zstd_window(27)),
            (2048, zstd_window(31)),
            (128, xz_dictionary(128 << 20)),
            (3, xz_dictionary(3 << 20)),
        ] {
            let options = ReadOptions { max_window: max_window << 20, ..ReadOptions::default() };
            assert_eq!(read(&raw, &options), (b"text".to_vec(), None), "{max_window} MiB");
        }
    }

    #[test]
    fn a_larger_window_is_named() {
        for (compression, mib, raw) in [
            ("zstd", 256, zstd_window(28)),
            ("zstd", 2048, zstd_window(31)),
            ("xz", 192, xz_dictionary(192 << 20)),
            ("xz", 1024, xz_dictionary(1 << 30)),
        ] {
            let message = format!(
                "{compression} data needs a window of {mib} MiB, and 128 MiB is allowed (allow more with `max-window`)"
            );
            assert_eq!(read(&raw, &ReadOptions::default()), (vec![], Some(message.clone())));
            // Not only the first member.
            let small = if compression == "xz" { xz(b"small ") } else { zstd(b"small ") };
            assert_eq!(read(&[small, raw].concat(), &ReadOptions::default()), (b"small ".to_vec(), Some(message)));
        }
    }

    #[test]
    fn truncated_anywhere_it_says_so_after_what_was_whole() {
        let text = sample();
        for (name, compress) in ALL {
            let raw = compress(&text);
            for cut in [raw.len() - 1, raw.len() / 2, 12] {
                let (out, error) = read(&raw[..cut], &ReadOptions::default());
                assert_eq!(error.as_deref(), Some(&*format!("{name} data is truncated")), "{name} at {cut}");
                assert!(text.starts_with(&out), "{name}");
                // bzip2 and xz output whole blocks only.
                assert!(cut < raw.len() / 2 || out.len() > text.len() / 4, "{name} gave {}", out.len());
            }
        }
    }

    #[test]
    fn damage_and_garbage_after_the_end_are_errors() {
        for (name, compress) in ALL {
            let mut raw = compress(&sample());
            let middle = raw.len() / 2;
            raw[middle..middle + 8].fill(0x55);
            let (_, error) = read(&raw, &ReadOptions::default());
            assert!(error.unwrap().starts_with(&format!("{name} data is ")), "{name}");
            let (out, error) = read(&[&compress(b"text"), &b"garbage, garbage"[..]].concat(), &ReadOptions::default());
            assert_eq!(out, b"text", "{name}");
            assert!(error.unwrap().starts_with(&format!("{name} data is damaged: ")), "{name}");
        }
    }

    #[test]
    fn what_is_read_of_a_damaged_stream_does_not_depend_on_the_reader() {
        for (name, compress) in ALL {
            let mut raw = compress(&sample());
            let middle = raw.len() / 2;
            raw[middle..middle + 8].fill(0x55);
            let (whole, error) = read(&raw, &ReadOptions::default());
            for size in [1, 1000, 5000, 1 << 20] {
                let mut reader = decompressed(&raw[..], Rc::default(), &ReadOptions::default()).unwrap();
                let (mut out, mut buffer) = (Vec::new(), vec![0; size]);
                let failure = loop {
                    match reader.read(&mut buffer) {
                        Ok(0) => break None,
                        Ok(n) => out.extend_from_slice(&buffer[..n]),
                        Err(error) => break Some(error.to_string()),
                    }
                };
                assert_eq!((out.len(), failure), (whole.len(), error.clone()), "{name}, {size} bytes at a time");
            }
        }
    }

    #[test]
    fn a_bomb_is_stopped() {
        let options = ReadOptions { max_record: 1000, max_expansion: 10, ..ReadOptions::default() };
        for (name, compress) in ALL {
            let raw = compress(&vec![0; 1 << 20]);
            let mut reader = decompressed(&raw[..], Rc::default(), &options).unwrap();
            let mut produced = 0;
            let error = loop {
                match reader.read(&mut [0; 4096]) {
                    Ok(0) => panic!("{name} went through"),
                    Ok(n) => produced += n,
                    Err(error) => break error.to_string(),
                }
            };
            assert!(produced <= 1000 + 10 * raw.len(), "{name}: {produced}");
            assert!(error.contains("more than 10 times") && error.contains("`max-expansion`"), "{error}");
        }
    }

    #[test]
    fn a_huge_xz_dictionary_is_refused_before_it_is_allocated() {
        // Stream header (CRC-64), then a block header: LZMA2 with the dictionary size code 37, which is 1.5 GiB.
        let stream = [&[0xfd, b'7', b'z', b'X', b'Z', 0, 0, 4][..], &0x46b4_d6e6u32.to_le_bytes()].concat();
        let block = |dictionary: u8| {
            let header = [2, 0, 0x21, 1, dictionary, 0, 0, 0];
            [&header[..], &crc32(&header).to_le_bytes()].concat()
        };
        let options = ReadOptions { max_window: 1 << 30, ..ReadOptions::default() };
        let (_, error) = read(&[stream.clone(), block(37)].concat(), &options);
        let message = "xz data needs a window of 1536 MiB, and 1024 MiB is allowed (allow more with `max-window`)";
        assert_eq!(error.as_deref(), Some(message));
        let (_, error) = read(&[stream, block(36)].concat(), &options);
        assert_eq!(error.as_deref(), Some("xz data is truncated"));
    }

    fn crc32(bytes: &[u8]) -> u32 {
        let mut crc = flate2::Crc::new();
        crc.update(bytes);
        crc.sum()
    }

    #[test]
    fn an_unreadable_file_is_not_called_damaged() {
        struct Broken;
        impl Read for Broken {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::Error::other("disk on fire"))
            }
        }
        let raw = gzip(&sample());
        for start in [&raw[..], &raw[..100], b""] {
            let mut out = Vec::new();
            let reader = decompressed(start.chain(Broken), Rc::default(), &ReadOptions::default());
            let error = reader.and_then(|mut reader| reader.read_to_end(&mut out)).unwrap_err();
            assert_eq!(error.to_string(), "cannot read: disk on fire");
        }
    }

    #[test]
    fn an_interrupted_read_is_tried_again() {
        /// Every other read is interrupted; the others give a byte.
        struct Interrupted<'a>(&'a [u8], bool);
        impl Read for Interrupted<'_> {
            fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                self.1 = !self.1;
                let one = buffer.len().min(1);
                if self.1 { Err(ErrorKind::Interrupted.into()) } else { self.0.read(&mut buffer[..one]) }
            }
        }
        let text = b"a text that is longer than any magic";
        for raw in ALL.map(|(_, compress)| compress(text)).into_iter().chain([text.to_vec()]) {
            // Call by call, because `read_to_end` would retry by itself.
            let mut reader = decompressed(Interrupted(&raw, false), Rc::default(), &ReadOptions::default()).unwrap();
            let (mut out, mut byte) = (Vec::new(), [0]);
            while reader.read(&mut byte).unwrap() > 0 {
                out.extend(byte);
            }
            assert_eq!(out, text);
        }
    }

    #[test]
    fn mutated_streams_never_panic() {
        let text = &sample()[..2000];
        let options = ReadOptions { max_record: 1 << 20, ..ReadOptions::default() };
        let mut random = 1u64;
        for (_, compress) in ALL {
            let whole = compress(text);
            for _ in 0..if cfg!(debug_assertions) { 300 } else { 3000 } {
                let mut raw = whole.clone();
                for _ in 0..3 {
                    random = crate::hash::mix(random.wrapping_add(1));
                    let at = random as usize % raw.len();
                    raw[at] = (random >> 32) as u8;
                }
                read(&raw, &options);
            }
        }
    }
}
