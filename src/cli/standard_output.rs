//! Whether standard output is there, and can be written.

use neardups::Error;
#[cfg(unix)]
use std::fs::{File, Metadata};
#[cfg(unix)]
use std::io;
#[cfg(unix)]
use std::os::fd::AsFd;
#[cfg(unix)]
use std::path::Path;

/// Refuses to run if standard output was opened for reading alone: the standard library takes what is written to it for written.
///
/// # Errors
/// It was.
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

/// Refuses to run if standard output was closed, where what does not leave would be lost.
///
/// When the program starts, the standard library opens `/dev/null` for reading and writing in the place of a standard stream that is
/// closed; a shell that is asked for `> /dev/null` opens it for writing alone.
///
/// # Errors
/// It was closed.
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
            "standard output is closed (or /dev/null, opened for reading too): the index would remember documents that never left; \
             redirect it with > /dev/null if that is meant",
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
