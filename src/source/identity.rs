//! The identity of a file: which names lead to it.

use std::fs::Metadata;
use std::path::Path;

/// The identity of a file, independent of its name: its device and inode; where there are none, its path without links.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId {
    #[cfg(unix)]
    inode: (u64, u64),
    #[cfg(not(unix))]
    path: std::path::PathBuf,
}

impl FileId {
    /// The identity of the file with this metadata, which was read through the path, with links followed. `None` if it
    /// is unknown.
    #[cfg(unix)]
    pub fn of(_path: &Path, metadata: &Metadata) -> Option<Self> {
        use std::os::unix::fs::MetadataExt;
        Some(FileId { inode: (metadata.dev(), metadata.ino()) })
    }

    /// The identity of the file with this metadata, which was read through the path, with links followed. `None` if it
    /// is unknown.
    #[cfg(not(unix))]
    pub fn of(path: &Path, _metadata: &Metadata) -> Option<Self> {
        Some(FileId { path: path.canonicalize().ok()? })
    }
}
