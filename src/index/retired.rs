//! Files of tables that no checkpoint names any more, which are removed beside decisions.
//!
//! Many file systems free a large file at once when it is removed, and what is written meanwhile waits for that. So a file loses its
//! name first, and then its content a little at a time. A process that reads it, or this one, keeps it from that by a
//! [shared lock](hold).

use crate::replace::{Links, open_regular};
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

/// Keeps the content of a file as long as it is open.
///
/// # Errors
/// It is being removed: of the kind `NotFound`.
pub(super) fn hold(file: &File) -> io::Result<()> {
    // Elsewhere a shared lock keeps its holder from writing, and files are not emptied.
    if !cfg!(unix) {
        return Ok(());
    }
    match file.try_lock_shared() {
        Err(TryLockError::WouldBlock) => Err(io::ErrorKind::NotFound.into()),
        // Where files cannot be locked, this one will not be emptied either.
        Ok(()) | Err(TryLockError::Error(_)) => Ok(()),
    }
}

/// Removes files. Their content goes later, on a thread of its own; if none starts, or the process ends, at once.
pub(super) fn remove(paths: Vec<PathBuf>) {
    let open = |path: &PathBuf| open_regular(path, File::options().write(true), Links::Refused).ok();
    let files: Vec<File> = paths.iter().filter_map(open).collect();
    paths.iter().for_each(|path| _ = fs::remove_file(path));
    if !files.is_empty() {
        _ = thread::Builder::new().name("dedup tables".into()).spawn(move || files.iter().for_each(empty));
    }
}

/// Empties a file that has no name, once nobody reads it.
fn empty(file: &File) {
    if !is_unread(file) || has_name(file) {
        return;
    }
    let mut length = file.metadata().map_or(0, |metadata| metadata.len());
    while length > STEP {
        length -= STEP;
        if file.set_len(length).is_err() {
            return;
        }
        thread::sleep(PAUSE);
    }
}

/// Waits until nobody reads a file. From then on nobody can, because it has no name.
fn is_unread(file: &File) -> bool {
    for _ in 0..TRIES {
        match file.try_lock() {
            Ok(()) => return true,
            Err(TryLockError::WouldBlock) => thread::sleep(WAIT),
            Err(TryLockError::Error(_)) => return false,
        }
    }
    false
}

/// Whether it has another name, as in a copy made of links, or a name that cannot be excluded.
#[cfg(unix)]
fn has_name(file: &File) -> bool {
    use std::os::unix::fs::MetadataExt;
    file.metadata().map_or(true, |metadata| metadata.nlink() > 0)
}

#[cfg(not(unix))]
fn has_name(_: &File) -> bool {
    true
}

/// The bytes that are freed at once, and the time between: 400 MB in a second.
const STEP: u64 = 8 << 20;
const PAUSE: Duration = Duration::from_millis(20);

/// How often, and how long, it is waited for those that read the file. After that it is freed when the last of them closes it.
const TRIES: usize = 600;
const WAIT: Duration = Duration::from_millis(100);

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::time::Instant;

    /// Waits until a file has less than this length. Returns whether it does.
    fn shrinks_below(file: &File, length: u64) -> bool {
        let start = Instant::now();
        while file.metadata().unwrap().len() >= length {
            if start.elapsed() > Duration::from_secs(20) {
                return false;
            }
            thread::sleep(PAUSE);
        }
        true
    }

    #[test]
    fn content_goes_when_nobody_reads_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let length = 3 * STEP;
        let make = |name: &str| {
            let file = File::options().read(true).write(true).create_new(true).open(path(name)).unwrap();
            file.set_len(length).unwrap();
            file
        };
        let (plain, read, linked) = (make("plain"), make("read"), make("linked"));
        fs::hard_link(path("linked"), path("other")).unwrap();
        let reader = File::open(path("read")).unwrap();
        hold(&reader).unwrap();
        let late = File::open(path("plain")).unwrap();
        for name in ["plain", "read", "linked"] {
            remove(vec![path(name)]);
            assert!(!path(name).exists());
        }
        assert!(shrinks_below(&plain, length));
        assert_eq!(reader.metadata().unwrap().len(), length, "someone reads it");
        drop(reader);
        assert!(shrinks_below(&read, length));
        assert!(shrinks_below(&plain, STEP + 1));
        assert_eq!(linked.metadata().unwrap().len(), length, "it has another name");
        // One that is being emptied cannot be opened any more.
        let removed = make("removed");
        removed.try_lock().unwrap();
        let opened = File::open(path("removed")).unwrap();
        assert_eq!(hold(&opened).unwrap_err().kind(), io::ErrorKind::NotFound);
        drop(removed);
        hold(&opened).unwrap();
        drop(late);
    }
}
