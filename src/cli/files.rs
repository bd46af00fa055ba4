//! Output files: replaced as a whole at the end of a run, or appended to line by line.

use neardups::Error;
use neardups::index::is_index;
use neardups::replace::Replacement;
use std::fs::{File, TryLockError};
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// The error of a file that cannot be written. A closed pipe must not be mistaken for closed standard output, which is not an error.
pub fn cannot_write(path: &Path, error: io::Error) -> Error {
    Error::output(format!("cannot write {}", path.display()), io::Error::other(error))
}

/// A file that is written at the end of a run.
pub struct OutFile {
    /// The path as typed.
    path: PathBuf,
    target: Target,
}

enum Target {
    /// A regular file, which is replaced as a whole.
    File(PathBuf),
    /// A pipe, a terminal or another file that cannot be replaced.
    Special(File),
}

/// Starts to replace a file. A file without write permission is not replaced either.
pub fn replacement(path: &Path, exists: bool) -> io::Result<Replacement> {
    if exists {
        File::options().write(true).open(path)?;
    }
    Replacement::new(path)
}

impl OutFile {
    /// Checks that the file can be written.
    ///
    /// # Errors
    /// It cannot be written, or is an index, which no result replaces.
    pub fn new(path: &Path) -> Result<Self, Error> {
        let target = match path.metadata() {
            Ok(found) if !found.is_file() => File::options().write(true).open(path).map(Target::Special),
            // What it remembers would be lost.
            Ok(_) if is_index(path) => Err(io::Error::other("it is an index: name another file")),
            found => Self::try_out(path, found.is_ok()).map(Target::File),
        };
        Ok(OutFile { path: path.to_path_buf(), target: target.map_err(|error| cannot_write(path, error))? })
    }

    /// Checks that a file can be replaced. No temporary file may remain while folders are read.
    fn try_out(path: &Path, exists: bool) -> io::Result<PathBuf> {
        Ok(replacement(path, exists)?.target().to_path_buf())
    }

    /// The error of this file that it cannot be written.
    pub fn cannot_write(&self, error: io::Error) -> Error {
        cannot_write(&self.path, error)
    }

    /// Another handle of the file.
    ///
    /// # Errors
    /// A file that is already open cannot be opened again.
    pub fn try_clone(&self) -> Result<Self, Error> {
        let target = match &self.target {
            Target::File(place) => Ok(Target::File(place.clone())),
            Target::Special(file) => file.try_clone().map(Target::Special),
        };
        Ok(OutFile { path: self.path.clone(), target: target.map_err(|error| cannot_write(&self.path, error))? })
    }

    /// Writes the content.
    ///
    /// # Errors
    /// It cannot be written; the old content stays.
    pub fn write(&self, text: &str) -> Result<(), Error> {
        self.stream(|out| out.write_all(text.as_bytes()).map_err(|error| self.cannot_write(error)))
    }

    /// Writes the content piece by piece.
    ///
    /// # Errors
    /// It cannot be written, or the function fails; the old content stays.
    pub fn stream<T>(&self, write: impl FnOnce(&mut dyn Write) -> Result<T, Error>) -> Result<T, Error> {
        let cannot_write = |error| cannot_write(&self.path, error);
        match &self.target {
            Target::File(place) => {
                let mut file = Replacement::new(place).map_err(cannot_write)?;
                let written = Self::buffered(file.file(), write, cannot_write)?;
                file.commit().map_err(cannot_write)?;
                Ok(written)
            }
            Target::Special(file) => Self::buffered(&mut &*file, write, cannot_write),
        }
    }

    fn buffered<T>(
        out: &mut dyn Write,
        write: impl FnOnce(&mut dyn Write) -> Result<T, Error>,
        cannot_write: impl FnOnce(io::Error) -> Error,
    ) -> Result<T, Error> {
        let mut out = BufWriter::with_capacity(1 << 16, out);
        let written = write(&mut out)?;
        out.flush().map_err(cannot_write)?;
        Ok(written)
    }
}

/// Opens a file of lines for appending. Returns its length if it is a regular file; a pipe has none. An incomplete last line that
/// starts like ours was left by an interrupted write and is removed; another incomplete line is completed with a line end.
///
/// # Errors
/// It cannot be written, or has another writer.
pub fn open_to_append(path: &Path, start: &[u8]) -> io::Result<(File, Option<u64>)> {
    let is_special = path.metadata().is_ok_and(|found| !found.is_file());
    let mut file = File::options().read(!is_special).append(true).create(!is_special).open(path)?;
    if is_special {
        return Ok((file, None));
    }
    // The unfinished line of another writer would look like an interrupted write.
    if let Err(TryLockError::WouldBlock) = file.try_lock() {
        return Err(io::Error::other("another process writes to it"));
    }
    let mut length = file.metadata()?.len();
    let torn = torn(&mut file, length, start)?;
    if torn.is_ours {
        length -= torn.length;
        file.set_len(length)?;
    } else if torn.length > 0 {
        file.write_all(b"\n")?;
        length += 1;
    }
    Ok((file, Some(length)))
}

/// Opens a file for appending that took the place of a regular one, or makes it. A pipe is refused: opening it may block.
///
/// # Errors
/// It cannot be written, has another writer, or is no regular file.
pub fn reopened(path: &Path, start: &[u8]) -> Result<(File, Option<u64>), Error> {
    let is_special = path.metadata().is_ok_and(|found| !found.is_file());
    let opened = if is_special { Err(io::Error::other("it is no regular file")) } else { open_to_append(path, start) };
    opened.map_err(|error| cannot_write(path, error))
}

/// Whether a path leads to an open file.
#[cfg(unix)]
pub fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let id = |found: &std::fs::Metadata| (found.dev(), found.ino());
    matches!((file.metadata(), path.metadata()), (Ok(open), Ok(there)) if id(&open) == id(&there))
}

/// On other systems an open file keeps its name.
#[cfg(not(unix))]
pub fn is_at(_: &File, _: &Path) -> bool {
    true
}

/// The bytes after the last line end.
struct Torn {
    length: u64,
    /// Whether they are the beginning of one of our lines.
    is_ours: bool,
}

fn torn(file: &mut (impl Read + Seek), length: u64, ours: &[u8]) -> io::Result<Torn> {
    let mut end = length;
    let mut block = Vec::new();
    let start = loop {
        if end == 0 {
            break 0;
        }
        let start = end.saturating_sub(1 << 16);
        read_at(file, start, end, &mut block)?;
        if let Some(last) = memchr::memrchr(b'\n', &block) {
            break start + last as u64 + 1;
        }
        end = start;
    };
    read_at(file, start, length.min(start + ours.len() as u64), &mut block)?;
    Ok(Torn { length: length - start, is_ours: start < length && ours.starts_with(&block) })
}

/// Reads a range of bytes from a file.
pub fn read_at(file: &mut (impl Read + Seek), start: u64, end: u64, bytes: &mut Vec<u8>) -> io::Result<()> {
    bytes.clear();
    file.seek(SeekFrom::Start(start))?;
    file.take(end - start).read_to_end(bytes).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    #[test]
    fn where_the_last_line_starts() {
        let ours = b"{\"type\":\"verdict\",";
        let long = "x".repeat(200_000);
        for (text, length, is_ours) in [
            ("", 0, false),
            ("\n", 0, false),
            ("a\nb", 1, false),
            ("a", 1, false),
            ("a\n{\"type\":\"ver", 12, true),
            ("{", 1, true),
            ("{\"type\":\"verdict\",\"id\":1", 24, true),
            ("{\"type\":\"pair\"", 14, false),
            (&format!("a\n{{\"type\":\"verdict\",{long}"), 200_018, true),
            (&format!("a\n{long}"), 200_000, false),
        ] {
            let torn = torn(&mut Cursor::new(text), text.len() as u64, ours).unwrap();
            assert_eq!((torn.length, torn.is_ours), (length, is_ours), "{}", &text[..text.len().min(40)]);
        }
    }
}
