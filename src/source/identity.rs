//! Which names lead to one file.

use std::fs::Metadata;
use std::path::Path;

/// What a file is, whatever it is called: its device and inode; where there are none, its path without links.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId {
    #[cfg(unix)]
    inode: (u64, u64),
    #[cfg(not(unix))]
    path: std::path::PathBuf,
}

impl FileId {
    /// That of the file with this metadata, which was read through the path, links followed. `None` if it is not known.
    #[cfg(unix)]
    pub fn of(_path: &Path, metadata: &Metadata) -> Option<Self> {
        use std::os::unix::fs::MetadataExt;
        Some(FileId { inode: (metadata.dev(), metadata.ino()) })
    }

    /// That of the file with this metadata, which was read through the path, links followed. `None` if it is not known.
    #[cfg(not(unix))]
    pub fn of(path: &Path, _metadata: &Metadata) -> Option<Self> {
        Some(FileId { path: path.canonicalize().ok()? })
    }
}
