//! Decoders of compressed data: gzip, zstd, bzip2 and xz.

use std::cell::Cell;
use std::io::{self, BufReader, ErrorKind, Read};
use std::ops::Range;
use std::rc::Rc;

use bzip2::bufread::MultiBzDecoder;
use flate2::bufread::MultiGzDecoder;
use lzma_rust2::XzReader;

use super::{Compression, Options, Unreadable};

/// The number of compressed bytes read at once.
const READ_BYTES: usize = 256 << 10;

/// The maximum window of zstd, 2³¹ bytes; public dumps made with `--long=31` use it.
const ZSTD_WINDOW_LOG: u32 = 31;

/// The memory limit of xz, in KiB: a dictionary of 1 GiB, and what the decoder needs beside it.
const XZ_MEMORY_KIB: u32 = (1 << 20) + 1024;

/// The decompressed bytes of `raw`. `consumed` counts the bytes taken from the file, including those before it.
pub(super) fn open<'a>(
    compression: Compression,
    raw: impl Read + 'a,
    (consumed, before): (Rc<Cell<u64>>, u64),
    options: &Options,
) -> io::Result<Box<dyn Read + 'a>> {
    let decompressed = Decompressed {
        inner: decoder(compression, raw)?,
        compression,
        consumed,
        before,
        produced: 0,
        max_record: options.max_record as u64,
        max_expansion: options.max_expansion,
    };
    Ok(Box::new(Steps::new(decompressed, step_bytes(compression))))
}

fn decoder<'a>(compression: Compression, raw: impl Read + 'a) -> io::Result<Box<dyn Read + 'a>> {
    let raw = BufReader::with_capacity(READ_BYTES, raw);
    Ok(match compression {
        Compression::Gzip => Box::new(MultiGzDecoder::new(raw)),
        Compression::Bzip2 => Box::new(MultiBzDecoder::new(raw)),
        Compression::Xz => Box::new(XzReader::new_mem_limit(raw, true, XZ_MEMORY_KIB)),
        Compression::Zstd => {
            let mut decoder = zstd::Decoder::with_buffer(raw)?;
            decoder.window_log_max(ZSTD_WINDOW_LOG)?;
            Box::new(decoder)
        }
    })
}

/// The number of bytes requested from a decoder in one call, which bounds the intact data that damage can cost. Small
/// steps slow xz by an eighth, and its decoder drops the most.
fn step_bytes(compression: Compression) -> usize {
    match compression {
        Compression::Xz => 64,
        Compression::Gzip | Compression::Zstd | Compression::Bzip2 => 4 << 10,
    }
}

/// Calls a decoder in steps of one size, whatever its reader requests.
///
/// A decoder that finds damage drops what it decoded in the same call. With fixed steps, the loss does not depend on
/// the reader, and is less than a step.
struct Steps<R> {
    inner: R,
    step: usize,
    buffer: Box<[u8]>,
    /// The part of `buffer` that is filled and not yet read.
    filled: Range<usize>,
    failure: Option<io::Error>,
}

impl<R: Read> Steps<R> {
    const BUFFER_BYTES: usize = 32 << 10;

    fn new(inner: R, step: usize) -> Self {
        Steps { inner, step, buffer: vec![0; Self::BUFFER_BYTES].into(), filled: 0..0, failure: None }
    }

    /// Fills the buffer, up to the first step that returned fewer bytes than requested: the next might block.
    fn fill(&mut self) -> io::Result<()> {
        if let Some(error) = self.failure.take() {
            return Err(error);
        }
        self.filled = 0..0;
        for step in self.buffer.chunks_mut(self.step) {
            match self.inner.read(step) {
                Ok(n) => {
                    self.filled.end += n;
                    if n < step.len() {
                        break;
                    }
                }
                Err(error) if self.filled.is_empty() => return Err(error),
                Err(error) => {
                    self.failure = Some(error);
                    break;
                }
            }
        }
        Ok(())
    }
}

impl<R: Read> Read for Steps<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.filled.is_empty() && !buffer.is_empty() {
            self.fill()?;
        }
        let n = buffer.len().min(self.filled.len());
        buffer[..n].copy_from_slice(&self.buffer[self.filled.start..][..n]);
        self.filled.start += n;
        Ok(n)
    }
}

/// Bounds a decoder's expansion and explains its errors.
struct Decompressed<'a> {
    inner: Box<dyn Read + 'a>,
    compression: Compression,
    consumed: Rc<Cell<u64>>,
    before: u64,
    produced: u64,
    max_record: u64,
    max_expansion: u64,
}

impl Decompressed<'_> {
    fn check_expansion(&self) -> io::Result<()> {
        let consumed = self.consumed.get() - self.before;
        if self.produced <= self.max_record.saturating_add(self.max_expansion.saturating_mul(consumed)) {
            return Ok(());
        }
        Err(io::Error::other(format!(
            "{} data expands to more than {} times its size (allow more with `max-expansion`)",
            self.compression, self.max_expansion
        )))
    }

    fn explain(&self, error: io::Error) -> io::Error {
        let compression = self.compression;
        match error.kind() {
            _ if error.get_ref().is_some_and(|inner| inner.is::<Unreadable>()) => error,
            ErrorKind::Interrupted => error,
            ErrorKind::UnexpectedEof => io::Error::other(format!("{compression} data is truncated")),
            ErrorKind::OutOfMemory if compression == Compression::Xz => {
                io::Error::other("xz data asks for a dictionary of more than 1 GiB")
            }
            _ => io::Error::other(format!("{compression} data is damaged: {error}")),
        }
    }
}

impl Read for Decompressed<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(buffer).map_err(|error| self.explain(error))?;
        self.produced += n as u64;
        self.check_expansion()?;
        Ok(n)
    }
}
