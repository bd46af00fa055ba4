//! Checks that standard output is open and writable.

use neardups::Error;
#[cfg(unix)]
use std::fs::{File, Metadata};
#[cfg(unix)]
use std::io;
#[cfg(unix)]
use std::os::fd::AsFd;
#[cfg(unix)]
use std::path::Path;

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

/// Refuses to run if standard output is closed, for commands that would lose documents.
///
/// When the program starts, the standard library replaces a closed standard stream by `/dev/null`, opened for reading and writing. A
/// shell opens `> /dev/null` for writing only.
///
/// # Errors
/// It is closed.
#[cfg(unix)]
pub fn refuse_closed_output() -> Result<(), Error> {
    use rustix::fs::{OFlags, fcntl_getfl};
    use std::os::unix::fs::{FileTypeExt, MetadataExt};
    let device = |found: Metadata| found.file_type().is_char_device().then(|| found.rdev());
    let of_stdout = io::stdout().as_fd().try_clone_to_owned().and_then(|stdout| File::from(stdout).metadata());
    let is_null = of_stdout
        .ok()
        .and_then(device)
        .is_some_and(|stdout| Path::new("/dev/null").metadata().ok().and_then(device) == Some(stdout));
    match fcntl_getfl(io::stdout()) {
        Ok(flags) if is_null && flags & OFlags::ACCMODE == OFlags::RDWR => Err(no_output(
            "standard output is closed (or /dev/null, opened for reading and writing): the index would remember documents that were never \
             written; use > /dev/null if that is intended",
        )),
        _ => Ok(()),
    }
}

#[cfg(unix)]
fn no_output(why: &str) -> Error {
    Error::output("cannot write results", io::Error::other(why.to_string()))
}

#[cfg(not(unix))]
pub fn refuse_unwritable_output() -> Result<(), Error> {
    Ok(())
}

#[cfg(not(unix))]
pub fn refuse_closed_output() -> Result<(), Error> {
    Ok(())
}
