//! How many files were read.

#[cfg(any(feature = "clean", feature = "cli"))]
use crate::error::Error;
use crate::readable::{count, counted};
use std::ops::Add;

/// The number of files read, and of those left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counts {
    /// Files read, including standard input.
    pub files: u64,
    /// Binary files left out.
    pub binary: u64,
    /// Hidden files left out, and hidden folders with their content.
    pub hidden: u64,
    /// Pipes, sockets and devices left out.
    pub special: u64,
    /// Records of archives left out because they are pages of another type than HTML or plain text.
    pub textless: u64,
    /// Files that the globs leave out; those in excluded folders are not counted.
    pub excluded: u64,
    /// Further names of files that were already read.
    pub same: u64,
    /// Files that are read on the other side: the input that are the reference, or the other way round.
    pub elsewhere: u64,
    /// Files read whose documents have no fields: texts, lines, pages, archives.
    pub fieldless: u64,
}

impl Counts {
    /// The error that no document was read, if so many files and records failed and were skipped. `allow` is the option that allows it:
    /// no remedy where some failed.
    #[cfg(any(feature = "clean", feature = "cli"))]
    pub(crate) fn none_read(&self, (failed, skipped): (u64, u64), allow: &str) -> Error {
        let why = self.why_none((failed, skipped));
        let remedy = if failed > 0 { String::new() } else { format!(" (use {allow} if that is expected)") };
        Error::Empty(format!("no document was read: {why}{remedy}"))
    }

    /// Why no document was read, if so many files and records failed and were skipped.
    pub(crate) fn why_none(&self, (failed, skipped): (u64, u64)) -> String {
        let Counts { excluded, elsewhere, hidden, .. } = *self;
        match (failed, skipped) {
            (0, 0) if excluded > 0 => format!("`include` and `exclude` leave out {}", counted(excluded, "file")),
            (0, 0) if elsewhere == 1 => "1 file is on both sides, and is read on the other one".to_string(),
            (0, 0) if elsewhere > 0 => {
                format!("{} are on both sides, and are read on the other one", counted(elsewhere, "file"))
            }
            (0, 0) if hidden == 1 => "1 hidden entry is left out (it is read with `hidden`)".to_string(),
            (0, 0) if hidden > 0 => {
                format!("{} hidden entries are left out (they are read with `hidden`)", count(hidden))
            }
            (0, 0) => "the input has none".to_string(),
            (1, 0) => "the only file or record failed".to_string(),
            (0, 1) => "the only file or record was skipped".to_string(),
            (failed, 0) => format!("{} files or records failed", count(failed)),
            (0, skipped) => format!("{} files or records were skipped", count(skipped)),
            (failed, skipped) => format!("{} files or records failed, {} skipped", count(failed), count(skipped)),
        }
    }
}

impl Add for Counts {
    type Output = Counts;

    fn add(self, other: Counts) -> Counts {
        Counts {
            files: self.files + other.files,
            binary: self.binary + other.binary,
            hidden: self.hidden + other.hidden,
            special: self.special + other.special,
            textless: self.textless + other.textless,
            excluded: self.excluded + other.excluded,
            same: self.same + other.same,
            elsewhere: self.elsewhere + other.elsewhere,
            fieldless: self.fieldless + other.fieldless,
        }
    }
}
