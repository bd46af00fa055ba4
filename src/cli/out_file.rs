//! Files that are written beside the results.

use super::usage_error;
use neardups::Error;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// A file that a run writes at its end. Tried before the scan, so that a scan of hours does not end on a mistyped name; takes
/// the place of an older file only when there is something to put there.
pub struct OutFile {
    path: PathBuf,
    target: Target,
}

enum Target {
    /// A new file, made in this folder under another name first.
    New(PathBuf),
    /// Something that cannot be replaced, such as a pipe or a terminal.
    Existing(File),
}

impl OutFile {
    /// Makes the file for a flag that names it; none of the inputs may be overwritten.
    pub fn create(flag: &str, path: &Path, inputs: &[PathBuf]) -> Result<Self, Error> {
        if path.as_os_str() == "-" {
            return Err(usage_error(format!("--{flag} needs a file: standard output is for results")));
        }
        let same =
            |input: &PathBuf| path.canonicalize().is_ok_and(|path| input.canonicalize().is_ok_and(|i| i == path));
        if inputs.iter().any(same) {
            return Err(usage_error(format!("--{flag} would overwrite the input {}", path.display())));
        }
        let special = path.metadata().is_ok_and(|found| !found.is_file());
        let target = if special {
            File::options().write(true).open(path).map(Target::Existing)
        } else {
            let folder = folder_of(path);
            // Only to see that it can be done: nothing may lie about while the folder is scanned.
            folder.metadata().and_then(|_| beside().tempfile_in(folder)).map(|_| Target::New(folder.to_path_buf()))
        };
        let target = target.map_err(|e| Self::error(path, e))?;
        // Through a link, the file that it leads to is replaced.
        Ok(OutFile { path: place(path), target })
    }

    /// Writes all of it.
    pub fn write(self, text: &str) -> Result<(), Error> {
        match self.target {
            Target::New(folder) => beside().tempfile_in(folder).and_then(|mut file| {
                file.write_all(text.as_bytes())?;
                file.persist(&self.path).map(drop).map_err(io::Error::from)
            }),
            Target::Existing(mut file) => file.write_all(text.as_bytes()),
        }
        .map_err(|e| Self::error(&self.path, e))
    }

    fn error(path: &Path, error: io::Error) -> Error {
        Error::output(format!("cannot write {}", path.display()), error)
    }
}

/// Where a file is, or will be, whatever way it is named: absolute and without links, as far as it is there.
pub fn place(path: &Path) -> PathBuf {
    let new = || Some(folder_of(path).canonicalize().ok()?.join(path.file_name()?));
    path.canonicalize().ok().or_else(new).unwrap_or_else(|| path.to_path_buf())
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Temporary files that others may read as far as the user's mask allows, since they stay under another name.
fn beside() -> tempfile::Builder<'static, 'static> {
    #[cfg_attr(not(unix), expect(unused_mut))]
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder
}
