//! Bytes to compressed bytes, as they are read by `decompress`.
//!
//! The level of a compressed file is not stored in it. Each compression writes at the default level of its usual
//! program (gzip 6, zstd 3, bzip2 9, xz 6), on one thread, so the same bytes always give the same file.

use std::io::{self, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::compression::Compression;

/// Writes compressed bytes.
pub(super) enum Encoder<W: Write> {
    Plain(W),
    /// The member that is being written, or the output between two of them.
    Gzip(Gzip<W>),
    Zstd(zstd::Encoder<'static, W>),
    Bzip2(bzip2::write::BzEncoder<W>),
    Xz(Box<lzma_rust2::XzWriter<W>>, MutexGuard<'static, ()>),
}

/// Held while xz is written, which takes some 100 MB: one file at a time, so that memory does not depend on threads.
static XZ: Mutex<()> = Mutex::new(());

/// Writes gzip, in members that end where its user wants.
pub(super) struct Gzip<W: Write> {
    member: Option<flate2::write::GzEncoder<W>>,
    is_empty: bool,
    /// Whether the next byte begins a member.
    begins: bool,
}

impl<W: Write> Gzip<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.begins && !bytes.is_empty() {
            let ended = self.member.take().expect(WRITTEN).finish()?;
            self.member = Some(member(ended));
            self.begins = false;
        }
        self.is_empty &= bytes.is_empty();
        self.member.as_mut().expect(WRITTEN).write(bytes)
    }
}

/// Why there is a member.
const WRITTEN: &str = "only an error leaves none";

impl<W: Write> Encoder<W> {
    pub fn new(compression: Option<Compression>, out: W) -> io::Result<Self> {
        Ok(match compression {
            None => Encoder::Plain(out),
            Some(Compression::Gzip) => Encoder::Gzip(Gzip { member: Some(member(out)), is_empty: true, begins: false }),
            Some(Compression::Zstd) => {
                let mut encoder = zstd::Encoder::new(out, zstd::DEFAULT_COMPRESSION_LEVEL)?;
                encoder.include_checksum(true)?;
                Encoder::Zstd(encoder)
            }
            Some(Compression::Bzip2) => Encoder::Bzip2(bzip2::write::BzEncoder::new(out, bzip2::Compression::best())),
            Some(Compression::Xz) => {
                let turn = XZ.lock().unwrap_or_else(PoisonError::into_inner);
                let options = lzma_rust2::XzOptions::with_preset(6);
                Encoder::Xz(Box::new(lzma_rust2::XzWriter::new(out, options)?), turn)
            }
        })
    }

    /// Begins a record: what follows is in another member of gzip, so that readers can begin there.
    pub fn begin_member(&mut self) {
        if let Encoder::Gzip(gzip) = self {
            gzip.begins = !gzip.is_empty;
        }
    }

    /// Ends the stream, which is valid even if nothing was written.
    pub fn finish(self) -> io::Result<()> {
        match self {
            Encoder::Plain(mut out) => out.flush(),
            Encoder::Gzip(gzip) => gzip.member.expect(WRITTEN).finish()?.flush(),
            Encoder::Zstd(encoder) => encoder.finish()?.flush(),
            Encoder::Bzip2(encoder) => encoder.finish()?.flush(),
            Encoder::Xz(encoder, _turn) => encoder.finish()?.flush(),
        }
    }
}

impl<W: Write> Write for Encoder<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Encoder::Plain(out) => out.write(bytes),
            Encoder::Gzip(gzip) => gzip.write(bytes),
            Encoder::Zstd(encoder) => encoder.write(bytes),
            Encoder::Bzip2(encoder) => encoder.write(bytes),
            Encoder::Xz(encoder, _) => encoder.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Encoder::Plain(out) => out.flush(),
            Encoder::Gzip(gzip) => gzip.member.as_mut().expect(WRITTEN).flush(),
            Encoder::Zstd(encoder) => encoder.flush(),
            Encoder::Bzip2(encoder) => encoder.flush(),
            Encoder::Xz(encoder, _) => encoder.flush(),
        }
    }
}

/// A member without name and time, so that it depends on the content alone.
fn member<W: Write>(out: W) -> flate2::write::GzEncoder<W> {
    flate2::write::GzEncoder::new(out, flate2::Compression::default())
}
