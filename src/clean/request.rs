//! The options of cleaning, and what it returns.

use crate::engine::{self, KeepPolicy, Report};
use crate::source;
use serde::Deserialize;
use std::path::PathBuf;

/// What becomes of records that cannot be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum OnError {
    /// They stay.
    #[default]
    Keep,
    /// They are left out, with a line that says why. A file that is damaged stays as it is.
    Drop,
    /// Nothing is written.
    Fail,
}

/// Options of [`clean`](super::clean()) and [`move_duplicates`](super::move_duplicates).
#[derive(Clone)]
pub struct CleanOptions {
    /// How files are read.
    pub source: source::ReadOptions,
    /// How documents are compared.
    pub engine: engine::ScanOptions,
    /// Which of several near-duplicates is kept.
    pub keep: KeepPolicy,
    /// Files and folders that count as earlier and kept, and are not written.
    pub against: Vec<PathBuf>,
    /// What becomes of records that cannot be read.
    pub on_error: OnError,
    /// Whether a file of which nothing is left out becomes another name of its input (a hard link) where the system
    /// allows it.
    pub link: bool,
    /// Whether input without any document is accepted.
    pub allow_empty: bool,
}

impl Default for CleanOptions {
    fn default() -> Self {
        CleanOptions {
            source: source::ReadOptions::default(),
            engine: engine::ScanOptions::default(),
            keep: KeepPolicy::First,
            against: Vec::new(),
            on_error: OnError::Keep,
            link: false,
            allow_empty: false,
        }
    }
}

/// The result of [`clean`](super::clean()) and [`move_duplicates`](super::move_duplicates).
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Cleaned {
    /// The settings and statistics of the scan; `None` if an earlier run had scanned.
    #[serde(skip)]
    pub report: Option<Report>,
    /// Files of the input, without further names of one file.
    #[serde(skip)]
    pub files: u64,
    /// Files of the output; or files that moved, each name of a file counted.
    pub files_written: u64,
    /// Of these, written by an earlier run that was interrupted.
    pub files_continued: u64,
    /// Bytes of the output.
    pub bytes_written: u64,
    /// Documents, and records that could not be read.
    pub records: u64,
    /// Of these, left out.
    pub removed: u64,
    /// Records or files that could not be read, and files that were not moved because something had changed.
    pub failed: u64,
    /// Files that are not kept and stay where they are, for any reason; 0 if nothing should move.
    pub stayed: u64,
    /// Whether the output was whole already, and nothing was done.
    pub was_complete: bool,
}
