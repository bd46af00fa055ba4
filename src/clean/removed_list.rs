//! Where the list of what is left out is written.

use super::folder::{Folder, cannot_write};
use super::request::CleanOptions;
use crate::error::Error;
use crate::replace::Replacement;
use std::fs::File;
use std::path::Path;

/// The name of the list in a folder.
pub(super) const REMOVED: &str = "removed.jsonl";

/// The place of the list of what is left out.
#[derive(Clone, Copy)]
pub(super) enum RemovedList<'a> {
    /// It is not written.
    Nowhere,
    /// Beside the output.
    Folder(&'a Folder),
    /// A file, where nothing else is written.
    File(&'a Path),
}

impl<'a> RemovedList<'a> {
    /// That of a run with this folder, or without one.
    pub fn of(folder: Option<&'a Folder>, options: &'a CleanOptions) -> Self {
        match (folder, &options.removed) {
            (Some(folder), _) => RemovedList::Folder(folder),
            (None, Some(file)) => RemovedList::File(file),
            (None, None) => RemovedList::Nowhere,
        }
    }

    /// Calls a function with an empty file, which takes the place of the list once the function is done, and with its path; without a list
    /// with neither.
    ///
    /// # Errors
    /// Those of the function; the list cannot be written.
    pub fn write<T>(self, write: impl FnOnce(Option<(&mut File, &Path)>) -> Result<T, Error>) -> Result<T, Error> {
        match self {
            RemovedList::Nowhere => write(None),
            RemovedList::Folder(folder) => folder.replace_by(REMOVED, |file, path| write(Some((file, path)))),
            RemovedList::File(path) => {
                let mut new = Replacement::new(path).map_err(|error| cannot_write(path, error))?;
                let written = write(Some((new.file(), path)))?;
                new.commit().map_err(|error| cannot_write(path, error))?;
                Ok(written)
            }
        }
    }
}
