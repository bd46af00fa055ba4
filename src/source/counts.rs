//! How many files were read.

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
        }
    }
}
