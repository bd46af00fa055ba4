//! Reads of a part of a file, which do not move its cursor.

use std::fs::File;
use std::io;
#[cfg(not(unix))]
use std::io::{Read, Seek, SeekFrom};

/// Fills the buffer from a position of the file, in bytes.
///
/// # Errors
/// The file cannot be read, or ends before.
#[cfg(unix)]
pub(crate) fn read_at(file: &File, buffer: &mut [u8], place: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, buffer, place)
}

/// Moves the cursor, and moves it back.
#[cfg(not(unix))]
pub(crate) fn read_at(mut file: &File, buffer: &mut [u8], place: u64) -> io::Result<()> {
    // Other threads read the same file.
    static CURSORS: std::sync::Mutex<()> = std::sync::Mutex::new(());
    let _held = CURSORS.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let cursor = file.stream_position()?;
    file.seek(SeekFrom::Start(place))?;
    file.read_exact(buffer)?;
    file.seek(SeekFrom::Start(cursor)).map(drop)
}
