//! Writing a file from its start to its end.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The number of bytes after which a file that is kept is synced, so that other writes never wait for more than these.
const SYNCED: u64 = 8 << 20;

/// A file that is being written, in large pieces.
pub(crate) struct Writer {
    out: BufWriter<Arc<File>>,
    at: u64,
    synced: u64,
    is_kept: bool,
    stop: Arc<AtomicBool>,
}

impl Writer {
    /// Writes to an empty file. It is on the disk in the end if `is_kept` says so. Writing fails once `stop` is set.
    pub fn new(file: File, is_kept: bool, stop: &Arc<AtomicBool>) -> Self {
        let out = BufWriter::with_capacity(1 << 18, Arc::new(file));
        Writer { out, at: 0, synced: 0, is_kept, stop: Arc::clone(stop) }
    }

    /// The number of bytes written.
    pub fn at(&self) -> u64 {
        self.at
    }

    /// The file, for reading what was written once it is [finished](Self::finish).
    pub fn file(&self) -> Arc<File> {
        Arc::clone(self.out.get_ref())
    }

    /// Appends these bytes.
    ///
    /// # Errors
    /// The file cannot be written, or writing was stopped.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(io::Error::other("stopped"));
        }
        self.out.write_all(bytes)?;
        self.at += bytes.len() as u64;
        if self.is_kept && self.at - self.synced >= SYNCED {
            self.sync()?;
        }
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        self.out.flush()?;
        self.out.get_ref().sync_data()?;
        self.synced = self.at;
        Ok(())
    }

    /// Ends the file.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn finish(mut self) -> io::Result<()> {
        if self.is_kept { self.sync() } else { self.out.flush() }
    }
}
