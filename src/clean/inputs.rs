//! The files of the input, and where each goes.

use crate::error::Error;
use crate::replace::resolve_existing as real;
use crate::source::{FileId, Listed, display_path};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fs::{self, Metadata};
use std::io;
use std::path::{Component, Path, PathBuf};
use std::time::UNIX_EPOCH;

/// The folder in the output that describes it.
pub(super) const OWN: &str = crate::source::DESCRIPTION;

/// How to clean inputs that would have one output.
pub(super) const APART: &str = "name a folder that holds both instead, or clean one after the other, each into a folder of its own, \
                                the second with `against` and the first";

/// The same where what documents contain of each other decides; or of a reference, if there is one, and then nothing else.
pub(super) fn apart_by_content(against: &[PathBuf]) -> &'static str {
    match against {
        [] => {
            "name a folder that holds both instead, or run on one after the other, each into a folder of its own (then what one has of \
             the other stays)"
        }
        _ => {
            "name a folder that holds both instead, or run on one after the other, each into a folder of its own, with the same \
             reference"
        }
    }
}

/// A file of the input.
#[derive(Clone, Debug)]
pub(super) struct File {
    pub path: PathBuf,
    /// The path in records.
    pub shown: String,
    /// The path of its output, below the output folder; and as it is shown.
    pub output: PathBuf,
    pub shown_output: String,
    pub stamp: Stamp,
    pub version: Version,
}

/// What tells whether a file has changed: its length in bytes and its time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Stamp {
    pub bytes: u64,
    /// Seconds since 1970, with nine decimals; empty if the system does not know it.
    pub modified: String,
}

impl Stamp {
    pub fn of(metadata: &Metadata) -> Self {
        let modified = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        let modified = modified.map(|time| format!("{}.{:09}", time.as_secs(), time.subsec_nanos()));
        Stamp { bytes: metadata.len(), modified: modified.unwrap_or_default() }
    }
}

/// What tells whether a path still leads to the same file, and whether anything of it has changed; zeros where the system
/// does not know it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Version {
    pub device: u64,
    pub inode: u64,
    /// When its content, its attributes or its names last changed, in nanoseconds since 1970.
    pub changed: i128,
}

impl Version {
    pub fn of(metadata: &Metadata) -> Self {
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;
            let changed = i128::from(metadata.ctime()) * 1_000_000_000 + i128::from(metadata.ctime_nsec());
            Version { device: metadata.dev(), inode: metadata.ino(), changed }
        }
        #[cfg(not(unix))]
        {
            _ = metadata;
            Version::default()
        }
    }
}

/// A further name of a file.
#[derive(Clone, Debug)]
pub(super) struct Same {
    pub file: File,
    /// The number of the file.
    pub of: usize,
}

/// The files of the input, in its order.
#[derive(Debug, Default)]
pub(super) struct Inputs {
    pub files: Vec<File>,
    pub same: Vec<Same>,
}

impl Inputs {
    /// The files of a listing.
    pub fn new(listed: Vec<Listed>) -> Self {
        let mut inputs = Inputs::default();
        let mut known: HashMap<FileId, usize> = HashMap::new();
        for Listed { path, shown, below, metadata } in listed {
            let number = inputs.files.len();
            let (stamp, version) = (Stamp::of(&metadata), Version::of(&metadata));
            let id = FileId::of(&path, &metadata);
            let file = File { path, shown, shown_output: display_path(&below), output: below, stamp, version };
            if let Some(id) = id {
                match known.entry(id) {
                    Entry::Vacant(place) => _ = place.insert(number),
                    Entry::Occupied(place) => {
                        inputs.same.push(Same { file, of: *place.get() });
                        continue;
                    }
                }
            }
            inputs.files.push(file);
        }
        inputs
    }

    /// Refuses files that would have one output. `apart` is how to clean them nevertheless.
    ///
    /// # Errors
    /// There are some, or an output would be where the output is described.
    pub fn refuse_equal_outputs<'a>(files: impl Iterator<Item = &'a File> + Clone, apart: &str) -> Result<(), Error> {
        let mut outputs: HashMap<&Path, &File> = HashMap::new();
        for file in files.clone() {
            if let Some(other) = outputs.insert(&file.output, file) {
                return Err(Error::Usage(format!(
                    "{} and {} would both be written to {}: {apart}",
                    other.shown, file.shown, file.shown_output
                )));
            }
            if file.output.components().next() == Some(Component::Normal(OWN.as_ref())) {
                let what =
                    format!("{}: its output would be in {OWN}, which describes the output: rename it", file.shown);
                return Err(Error::Usage(what));
            }
        }
        for file in files {
            if let Some((folder, other)) =
                file.output.ancestors().skip(1).find_map(|above| Some((above, outputs.get(above)?)))
            {
                return Err(Error::Usage(format!(
                    "{} would be written to {}, which is the folder of the output of {}: {apart}",
                    other.shown,
                    folder.display(),
                    file.shown
                )));
            }
        }
        Ok(())
    }

    /// The paths in records.
    pub fn names(&self) -> Vec<&str> {
        self.files.iter().map(|file| file.shown.as_str()).collect()
    }

    /// The number of the file with this path in records.
    pub fn numbers(&self) -> HashMap<&str, usize> {
        self.files.iter().zip(0..).map(|(file, number)| (file.shown.as_str(), number)).collect()
    }

    /// Refuses an output folder that holds a file of the input, or is in a folder that is read.
    ///
    /// # Errors
    /// It is refused.
    pub fn refuse_output(&self, paths: &[PathBuf], output: &Path) -> Result<(), Error> {
        let shown = output.display();
        let Some(output) = real(output) else { return Ok(()) };
        let refused = |what: String| Err(Error::Usage(format!("{shown}: {what}")));
        for path in paths {
            if path.is_dir() && path.canonicalize().is_ok_and(|path| output.starts_with(path)) {
                return refused(format!("it is in {}, which is read: choose another folder", path.display()));
            }
        }
        for file in &self.files {
            if file.path.canonicalize().is_ok_and(|path| path.starts_with(&output)) {
                return refused(format!(
                    "{} is in it, and would be an input and an output: choose another folder",
                    file.shown
                ));
            }
        }
        Ok(())
    }
}

impl Inputs {
    /// Refuses an index that is read as a file of the input, or will be, or is in the output folder.
    ///
    /// # Errors
    /// It is refused.
    pub fn refuse_index(
        &self,
        index: &Path,
        paths: &[PathBuf],
        output: Option<&Path>,
        reads_hidden: bool,
    ) -> Result<(), Error> {
        let refused = |why: String| Err(Error::Usage(format!("{}: the index {why}", index.display())));
        let Some(real_index) = real(index) else { return Ok(()) };
        if let Some(file) = self.files.iter().find(|file| file.path.canonicalize().is_ok_and(|path| path == real_index))
        {
            return refused(format!("is also {}, which is read: name another file", file.shown));
        }
        let is_hidden = |below: &Path| below.iter().any(|name| name.as_encoded_bytes().starts_with(b"."));
        for path in paths.iter().filter(|path| path.is_dir()) {
            let below =
                path.canonicalize().ok().and_then(|path| Some(real_index.strip_prefix(path).ok()?.to_path_buf()));
            if below.is_some_and(|below| reads_hidden || !is_hidden(&below)) {
                return refused(format!("is in {}, which is read: choose another folder for it", path.display()));
            }
        }
        match output.and_then(real) {
            Some(output) if real_index.starts_with(&output) => {
                refused("is in the output folder: choose another folder for it".into())
            }
            _ => Ok(()),
        }
    }
}

/// Fails if a file is not as it was listed.
///
/// # Errors
/// It has changed, or cannot be read.
pub(super) fn check_unchanged(file: &File) -> Result<(), Error> {
    let found = fs::metadata(&file.path).map(|found| Stamp::of(&found));
    match found {
        Ok(stamp) if stamp == file.stamp => Ok(()),
        Ok(_) => {
            let why = "it changed since its records were read: run again with another output folder";
            Err(Error::input(file.shown.as_str(), io::Error::other(why)))
        }
        Err(error) => Err(Error::input(format!("cannot read {}", file.shown), error)),
    }
}
