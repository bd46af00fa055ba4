//! Standard output: whether it is open and writable, and lines that are written whole.

use crate::kernel::streams::output_was_closed;
use neardups::Error;
use std::fs::File;
use std::io::{self, Write};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Refuses to run if standard output is open for reading only: the standard library ignores that writes to it fail.
///
/// # Errors
/// It is open for reading only.
#[cfg(unix)]
pub fn refuse_unwritable_output() -> Result<(), Error> {
    use rustix::fs::{OFlags, fcntl_getfl};
    match fcntl_getfl(io::stdout()) {
        Ok(flags) if flags & OFlags::ACCMODE == OFlags::RDONLY => {
            Err(no_output("standard output is not open for writing"))
        }
        _ => Ok(()),
    }
}

/// Refuses to run if standard output was closed when the program started, for commands whose results go there.
///
/// # Errors
/// It was closed.
pub fn refuse_closed_output() -> Result<(), Error> {
    match output_was_closed() {
        true => Err(no_output("standard output is closed (use > /dev/null if they are not wanted)")),
        false => Ok(()),
    }
}

fn no_output(why: &str) -> Error {
    Error::output("cannot write results", io::Error::other(why.to_string()))
}

#[cfg(not(unix))]
pub fn refuse_unwritable_output() -> Result<(), Error> {
    Ok(())
}

/// Makes sure that what was written to standard output is on the disk, if it is a file. A pipe has nothing there.
///
/// # Errors
/// The disk refuses it.
pub fn sync_output() -> io::Result<()> {
    #[cfg(unix)]
    let output = std::os::fd::AsFd::as_fd(&io::stdout()).try_clone_to_owned()?;
    #[cfg(windows)]
    let output = std::os::windows::io::AsHandle::as_handle(&io::stdout()).try_clone_to_owned()?;
    let output = File::from(output);
    if output.metadata().is_ok_and(|found| found.is_file()) { output.sync_data() } else { Ok(()) }
}

/// Held while lines are written.
static WRITING: Mutex<()> = Mutex::new(());

/// The size, in bytes, of the lines that are written at once.
const AT_ONCE: usize = 1 << 16;

/// Standard output, to which only whole lines are written, many at once.
///
/// Cost: each byte is looked at once, however long a line is and in however many pieces it comes.
pub struct WholeLines<W: Write> {
    out: W,
    held: Vec<u8>,
    /// The length of the whole lines at the beginning of what is held.
    whole: usize,
}

impl WholeLines<io::Stdout> {
    /// For the standard output of the process.
    pub fn new() -> Self {
        WholeLines::to(io::stdout())
    }
}

impl<W: Write> WholeLines<W> {
    fn to(out: W) -> Self {
        WholeLines { out, held: Vec::new(), whole: 0 }
    }

    fn write_until(&mut self, end: usize) -> io::Result<()> {
        let _guard = WRITING.lock().unwrap_or_else(PoisonError::into_inner);
        let written = self.out.write_all(&self.held[..end]).and_then(|()| self.out.flush());
        self.held.drain(..end);
        self.whole = 0;
        written
    }
}

impl<W: Write> Write for WholeLines<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if let Some(last) = bytes.iter().rposition(|&byte| byte == b'\n') {
            self.whole = self.held.len() + last + 1;
        }
        self.held.extend_from_slice(bytes);
        if self.whole > 0 && self.held.len() >= AT_ONCE {
            self.write_until(self.whole)?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.write_until(self.held.len())
    }
}

/// Waits until no line is being written, but not for ever: the reader may have stopped reading.
pub fn finish_line() {
    for _ in 0..100 {
        match WRITING.try_lock() {
            // Never given back: the process ends.
            Ok(guard) => return std::mem::forget(guard),
            Err(_) => std::thread::sleep(Duration::from_millis(10)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Keeps each write.
    #[derive(Default)]
    struct Writes(Vec<Vec<u8>>);

    impl Write for Writes {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.push(bytes.to_vec());
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    proptest! {
        #[test]
        fn lines_are_written_whole(lines in prop::collection::vec(0usize..200_000, 1..12), piece in 1usize..70_000) {
            let all: Vec<u8> = lines.iter().flat_map(|&length| [vec![b'x'; length], vec![b'\n']].concat()).collect();
            let mut out = WholeLines::to(Writes::default());
            all.chunks(piece).for_each(|piece| out.write_all(piece).unwrap());
            out.flush().unwrap();
            let writes = out.out.0;
            prop_assert!(writes.iter().all(|write| write.ends_with(b"\n")));
            prop_assert_eq!(writes.concat(), all);
        }
    }
}
