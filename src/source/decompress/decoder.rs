//! Decoders of compressed data: gzip, zstd, bzip2 and xz.

use std::cell::Cell;
use std::fmt;
use std::io::{self, BufRead, BufReader, ErrorKind, Read};
use std::ops::Range;
use std::rc::Rc;

use bzip2::bufread::MultiBzDecoder;
use lzma_rust2::XzReader;

use super::super::compression::{Compression, Unreadable};
use super::super::options::ReadOptions;
use crate::readable::display_size;
use crate::source::members::Members;

mod gzip;

use gzip::Gzip;
pub(in crate::source) use gzip::Resumed;

/// The number of compressed bytes read at once.
const READ_BYTES: usize = 256 << 10;

/// What a decoder of xz needs in addition to its dictionary, in KiB.
const XZ_MORE_KIB: u64 = 1024;

/// The decompressed bytes of `raw`, and where members of gzip begin in them. `consumed` counts the bytes taken from the file, including those before it.
pub(super) fn open<'a>(
    compression: Compression,
    raw: impl Read + 'a,
    (consumed, before): (Rc<Cell<u64>>, u64),
    members: &Members,
    options: &ReadOptions,
) -> io::Result<Box<dyn Read + 'a>> {
    let decompressed = Decompressed {
        inner: decoder(compression, raw, members, options.max_window)?,
        max_window: options.max_window,
        compression,
        consumed,
        before,
        produced: 0,
        max_record: options.max_record as u64,
        max_expansion: options.max_expansion,
        is_over: false,
    };
    Ok(Box::new(Steps::new(decompressed, step_bytes(compression))))
}

fn decoder<'a>(
    compression: Compression,
    raw: impl Read + 'a,
    members: &Members,
    max_window: u64,
) -> io::Result<Box<dyn Read + 'a>> {
    let raw = BufReader::with_capacity(READ_BYTES, raw);
    Ok(match compression {
        Compression::Gzip => Box::new(Gzip::new(raw, members.clone())),
        Compression::Bzip2 => Box::new(MultiBzDecoder::new(raw)),
        Compression::Xz => {
            let limit = (max_window >> 10) + XZ_MORE_KIB;
            let last = Last { inner: raw, bytes: Vec::new() };
            Box::new(Xz(XzReader::new_mem_limit(last, true, limit.try_into().unwrap_or(u32::MAX))))
        }
        Compression::Zstd => {
            let mut decoder = zstd::Decoder::with_buffer(raw)?;
            decoder.window_log_max(max_window.ilog2())?;
            Box::new(Zstd(decoder))
        }
    })
}

/// The data needs a larger window than allowed: its size, if it is known.
#[derive(Debug)]
struct LargeWindow(Option<u64>);

impl LargeWindow {
    fn error(size: Option<u64>) -> io::Error {
        io::Error::other(LargeWindow(size))
    }

    fn explain(&self, compression: Compression, max_window: u64) -> io::Error {
        let most = display_size(max_window as usize);
        let needed = match self.0 {
            Some(size) => format!("{}, and {most} is allowed", display_size(size as usize)),
            None => format!("more than {most}"),
        };
        io::Error::other(format!("{compression} data needs a window of {needed} (allow more with `max-window`)"))
    }
}

impl fmt::Display for LargeWindow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the window is too large")
    }
}

impl std::error::Error for LargeWindow {}

/// A decoder of zstd that says which window is too large.
struct Zstd<'a, R: BufRead>(zstd::Decoder<'a, R>);

impl<R: BufRead> Read for Zstd<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer).map_err(|error| {
            if !error.to_string().contains("requires too much memory") {
                return error;
            }
            // The frame that was refused was not consumed.
            LargeWindow::error(self.0.get_mut().fill_buf().ok().and_then(zstd_window))
        })
    }
}

/// The window of a frame of zstd, by its header (RFC 8878, section 3.1.1.1).
fn zstd_window(frame: &[u8]) -> Option<u64> {
    let &[0x28, 0xb5, 0x2f, 0xfd, descriptor, ref rest @ ..] = frame else { return None };
    let is_single_segment = descriptor & 0x20 != 0;
    if !is_single_segment {
        let (exponent, mantissa) = (rest.first()? >> 3, rest[0] & 7);
        let base = 1u64 << (10 + exponent);
        return Some(base + base / 8 * u64::from(mantissa));
    }
    // The window is the content.
    let rest = rest.get([0, 1, 2, 4][usize::from(descriptor & 3)]..)?;
    let length = [1, 2, 4, 8][usize::from(descriptor >> 6)];
    let mut size = [0; 8];
    size[..length].copy_from_slice(rest.get(..length)?);
    Some(u64::from_le_bytes(size) + if length == 2 { 256 } else { 0 })
}

/// A decoder of xz that says which dictionary is too large.
struct Xz<R: Read>(XzReader<Last<R>>);

impl<R: Read> Read for Xz<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer).map_err(|error| match error.kind() {
            ErrorKind::OutOfMemory => LargeWindow::error(xz_dictionary(&self.0.inner().bytes)),
            _ => error,
        })
    }
}

/// The dictionary of a block of xz, given bytes that end with its header (The .xz File Format, sections 3.1 and 5.3.1).
fn xz_dictionary(before: &[u8]) -> Option<u64> {
    // The header begins with its length, in words of four bytes less one.
    let starts = (8..=before.len()).step_by(4).map(|length| &before[before.len() - length..]);
    starts.filter(|header| 4 * (usize::from(header[0]) + 1) == header.len()).find_map(|header| {
        let mut rest = header.get(2..)?;
        let mut number = || -> Option<u64> {
            let length = rest.iter().position(|byte| byte & 0x80 == 0)? + 1;
            let (bytes, after) = rest.split_at(length);
            rest = after;
            Some(bytes.iter().rev().fold(0, |number, byte| number << 7 | u64::from(byte & 0x7f)))
        };
        for size in [0x40, 0x80] {
            if header[1] & size != 0 {
                number()?;
            }
        }
        // LZMA2 is always the last filter.
        let (mut filter, mut property) = (0, 0);
        for _ in 0..=header[1] & 3 {
            filter = number()?;
            let properties = number()?;
            for _ in 0..properties {
                property = number()?;
            }
        }
        (filter == 0x21 && property < 40).then(|| (2 | (property & 1)) << (property / 2 + 11))
    })
}

/// Remembers the last bytes that were read.
struct Last<R> {
    inner: R,
    bytes: Vec<u8>,
}

impl<R> Last<R> {
    /// The maximum length of the header of a block of xz.
    const MOST: usize = 1024;
}

impl<R: Read> Read for Last<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(buffer)?;
        let new = &buffer[..n];
        if self.bytes.len() + n > 2 * Self::MOST {
            let kept = Self::MOST.saturating_sub(n).min(self.bytes.len());
            self.bytes.drain(..self.bytes.len() - kept);
        }
        self.bytes.extend_from_slice(&new[n.saturating_sub(Self::MOST)..]);
        Ok(n)
    }
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

/// Compressed data is damaged, which is no failure of reading it.
#[derive(Debug)]
struct DamagedData(String);

impl fmt::Display for DamagedData {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for DamagedData {}

fn damaged(message: String) -> io::Error {
    io::Error::other(DamagedData(message))
}

/// Whether an error is that compressed data is damaged or ends too early.
pub(in crate::source) fn is_of_data(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|inner| inner.is::<DamagedData>())
}

/// Where reading continues after damage, if this error of the next reading says so: see [`Gzip`].
#[cfg(feature = "warc")]
pub(in crate::source) fn resumed(error: &io::Error) -> Option<Resumed> {
    error.get_ref()?.downcast_ref::<Resumed>().copied()
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
    max_window: u64,
    /// Whether it failed, and cannot be read on.
    is_over: bool,
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
            _ if error.get_ref().is_some_and(|inner| inner.is::<Unreadable>() || inner.is::<Resumed>()) => error,
            ErrorKind::Interrupted => error,
            ErrorKind::UnexpectedEof => damaged(format!("{compression} data is truncated")),
            _ if let Some(window) = error.get_ref().and_then(|inner| inner.downcast_ref::<LargeWindow>()) => {
                window.explain(compression, self.max_window)
            }
            _ => damaged(format!("{compression} data is damaged: {error}")),
        }
    }
}

impl Read for Decompressed<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.is_over {
            return Ok(0);
        }
        let n = self.inner.read(buffer).map_err(|error| {
            self.is_over = self.compression != Compression::Gzip && error.kind() != ErrorKind::Interrupted;
            self.explain(error)
        })?;
        self.produced += n as u64;
        self.check_expansion().inspect_err(|_| self.is_over = true)?;
        Ok(n)
    }
}
