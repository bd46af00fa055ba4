//! A file that takes the place of another, all or nothing, and is what that one was: for its owner, its group, its mode, its access
//! control list and its extended attributes, under every name that leads to it by symbolic links.
//!
//! Writing to a new file and renaming it keeps none of these by itself, but a reader or a crash sees the old file or the new one whole,
//! which writing in place could give only with a journal, and with readers that know of it. So the rest is copied, or the file is left
//! alone: an owner that the new file cannot be given, an access control list that cannot be set, other hard links to the old file,
//! which would go on leading to it.

use super::log::{folder_of, is_at, sync_folder};
use crate::error::Error;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// A file beside another. It is removed unless it is [put](Self::put) in its place.
pub(super) struct Replacement {
    file: File,
    path: PathBuf,
    /// The file itself, not a link to it.
    target: PathBuf,
}

/// The name of the file beside another. The next run that has the lock of the index removes what a killed one left there.
fn beside(target: &Path) -> PathBuf {
    let mut name = OsString::from(".");
    name.push(target.file_name().unwrap_or_default());
    name.push(".dedup-compact");
    folder_of(target).join(name)
}

/// Removes what a killed run left beside a file that this run has locked: a file that begins like one of ours, or is empty.
pub(super) fn remove_stale(path: &Path, magic: &[u8]) {
    let Ok(stale) = path.canonicalize().map(|target| beside(&target)) else { return };
    let begins = || -> io::Result<bool> {
        let mut head = Vec::new();
        File::open(&stale)?.take(magic.len() as u64).read_to_end(&mut head)?;
        Ok(magic.starts_with(&head))
    };
    if fs::symlink_metadata(&stale).is_ok_and(|found| found.is_file()) && begins().unwrap_or(false) {
        // Who may not remove it leaves it to the next one.
        _ = fs::remove_file(&stale);
    }
}

impl Replacement {
    /// A new file beside a file that this run has locked, which a path leads to.
    ///
    /// # Errors
    /// It cannot be made, or could not take the other one's place.
    pub fn beside(path: &Path, old: &File) -> Result<Self, Error> {
        let failed = |error| Error::io(format!("cannot write beside the index {}", path.display()), error);
        let target = path.canonicalize().map_err(failed)?;
        refuse_hard_links(path, old)?;
        let new = beside(&target);
        let mut options = File::options();
        options.read(true).write(true).create_new(true);
        // Nobody else reads it before it has the mode of the other one.
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(&new).map_err(failed)?;
        let replacement = Replacement { file, path: new, target };
        // Before the work is done, not after it.
        replacement.take_over(path, old)?;
        Ok(replacement)
    }

    /// The new file.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Puts it in the place of the other. It must be on the disk.
    ///
    /// # Errors
    /// It cannot be renamed, or another file has come into that place.
    pub fn put(mut self, path: &Path, old: &File) -> Result<(), Error> {
        let failed = |error| Error::io(format!("cannot replace the index {}", path.display()), error);
        refuse_hard_links(path, old)?;
        if !is_at(old, &self.target).map_err(failed)? {
            return Err(failed(io::Error::other("it was moved or replaced meanwhile")));
        }
        // What was changed meanwhile.
        self.take_over(path, old)?;
        fs::rename(&self.path, &self.target).map_err(failed)?;
        sync_folder(&self.target);
        self.path = PathBuf::new();
        Ok(())
    }

    /// Gives it what the other one has, but for the content.
    fn take_over(&self, path: &Path, old: &File) -> Result<(), Error> {
        let failed = |what: &str, error| {
            Error::io(
                format!("cannot replace the index {}: the new file cannot have its {what}", path.display()),
                error,
            )
        };
        let found = old.metadata().map_err(|error| failed("permissions", error))?;
        #[cfg(unix)]
        {
            use std::os::unix::fs::{MetadataExt, fchown};
            let own = self.file.metadata().map_err(|error| failed("owner", error))?;
            if (own.uid(), own.gid()) != (found.uid(), found.gid()) {
                let owner = (own.uid() != found.uid()).then_some(found.uid());
                fchown(&self.file, owner, Some(found.gid())).map_err(|error| failed("owner and group", error))?;
            }
        }
        self.file.set_permissions(found.permissions()).map_err(|error| failed("mode", error))?;
        copy_attributes(old, &self.file).map_err(|(name, error)| failed(&name, error))
    }
}

impl Drop for Replacement {
    fn drop(&mut self) {
        if !self.path.as_os_str().is_empty() {
            _ = fs::remove_file(&self.path);
        }
    }
}

/// Two names of one file would be two indexes afterwards.
fn refuse_hard_links(path: &Path, old: &File) -> Result<(), Error> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let links = old.metadata().map_or(1, |found| found.nlink());
        if links > 1 {
            let error = io::Error::other(format!(
                "the file has {links} names (hard links), and the others would go on leading to the old one; remove those first, \
                 or copy the index and compact the copy"
            ));
            return Err(Error::io(format!("cannot replace the index {}", path.display()), error));
        }
    }
    #[cfg(not(unix))]
    let _ = (path, old);
    Ok(())
}

/// Copies extended attributes, of which access control lists are some. Those of users and access control lists must be copied; the
/// others are the system's own, which it gives a new file itself or lets only some set.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn copy_attributes(old: &File, new: &File) -> Result<(), (String, io::Error)> {
    use rustix::fs::{XattrFlags, fgetxattr, flistxattr, fremovexattr, fsetxattr};
    use rustix::io::Errno;
    let list = |file: &File| -> Result<Vec<Vec<u8>>, Errno> {
        let mut names = vec![0u8; 1 << 16];
        match flistxattr(file, &mut names[..]) {
            Ok(length) => Ok(names[..length].split(|&byte| byte == 0).map(<[u8]>::to_vec).collect()),
            // The file system has none.
            Err(Errno::NOTSUP) => Ok(Vec::new()),
            Err(error) => Err(error),
        }
    };
    let failed = |name: &[u8], error: Errno| {
        let what = match name.starts_with(b"system.posix_acl") {
            true => "access control list".to_string(),
            false => format!("extended attribute {}", String::from_utf8_lossy(name)),
        };
        (what, error.into())
    };
    let is_ours = |name: &[u8]| name.starts_with(b"user.") || name.starts_with(b"system.posix_acl");
    let names = list(old).map_err(|error| failed(b"s", error))?;
    // A folder may give new files a list of its own.
    let extra = list(new).map_err(|error| failed(b"s", error))?;
    for name in extra.iter().filter(|name| is_ours(name) && !names.contains(name)) {
        fremovexattr(new, &name[..]).map_err(|error| failed(name, error))?;
    }
    let mut value = vec![0u8; 1 << 16];
    for name in names.iter().filter(|name| !name.is_empty()) {
        let copied = fgetxattr(old, &name[..], &mut value[..])
            .and_then(|length| fsetxattr(new, &name[..], &value[..length], XattrFlags::empty()));
        match copied {
            Err(error) if is_ours(name) => return Err(failed(name, error)),
            _ => {}
        }
    }
    Ok(())
}

/// Elsewhere there is nothing to copy them with.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn copy_attributes(_: &File, _: &File) -> Result<(), (String, io::Error)> {
    Ok(())
}
