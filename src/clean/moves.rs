//! The files of a manifest move to a folder, or back.

use super::inputs::Stamp;
use super::manifest::{KeptFile, Line};
use super::relocate::{Content, Seen, Way, changed, found, relocate};
use crate::replace::remove_stale;
use crate::source::path_of;
use std::collections::HashMap;
use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};

/// Where a file is after it should have moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Moved {
    /// At its new place now.
    Now,
    /// At its new place already, or not at the one that it should leave.
    Before,
}

/// Moves files to a folder.
pub(super) struct Mover<'a> {
    root: &'a Path,
    way: Way,
    /// The kept files whose content was compared, as they were then.
    compared: HashMap<String, (Seen, i128)>,
}

impl<'a> Mover<'a> {
    pub fn new(root: &'a Path) -> Self {
        Mover { root, way: Way::Any, compared: HashMap::new() }
    }

    /// Moves a file that is unchanged, whose kept file is unchanged and another one.
    ///
    /// # Errors
    /// It stays.
    pub fn there(&mut self, line: &Line) -> io::Result<Moved> {
        let (from, to) = (line.from(), self.root.join(line.to()));
        refuse_link_below(self.root, &line.to())?;
        let is_planned =
            |found: &Metadata| found.is_file() && is_seen(found, line.content.bytes, &line.modified, line.inode);
        match (found(&from)?, found(&to)?) {
            (Some(here), None) if is_planned(&here) => {
                let way = self.way;
                relocate(&from, &to, &line.content, way, || self.check_kept(&line.kept, &here))?;
                Ok(Moved::Now)
            }
            (Some(_), None) => Err(changed()),
            (None, None) => Err(io::Error::new(io::ErrorKind::NotFound, "it is no longer there")),
            // A run was interrupted while the file had both names, or after it had one.
            (here, Some(there)) if there.is_file() && line.content.is_in(&to)? => {
                if let Some(here) = here.filter(is_planned) {
                    self.check_kept(&line.kept, &here)?;
                    remove_second(&from, &to, &line.content)?;
                }
                Ok(Moved::Before)
            }
            (_, Some(_)) => Err(another(&to)),
        }
    }

    /// Moves a file back.
    ///
    /// # Errors
    /// It stays.
    pub fn back(&self, line: &Line) -> io::Result<Moved> {
        let (from, to) = (self.root.join(line.to()), line.from());
        refuse_link_below(self.root, &line.to())?;
        if parent_leads_elsewhere(&to) {
            return Err(is_link_now(&to));
        }
        match (found(&from)?, found(&to)?) {
            (Some(here), None) if here.is_file() && line.content.is_in(&from)? => {
                relocate(&from, &to, &line.content, self.way, || Ok(()))?;
                Ok(Moved::Now)
            }
            (Some(_), None) => Err(io::Error::other("it changed since it was moved")),
            (None, Some(_)) => {
                // A copy may have been interrupted.
                remove_stale(&from);
                Ok(Moved::Before)
            }
            (None, None) => {
                Err(io::Error::new(io::ErrorKind::NotFound, format!("it is neither there nor at {}", line.from)))
            }
            (Some(here), Some(there)) => {
                let stated = |found: &Metadata| (found.is_file(), Stamp::of(found), found.permissions());
                let is_same = here.is_file() && stated(&here) == stated(&there);
                if !is_same || !line.content.is_in(&from)? || !line.content.is_in(&to)? {
                    return Err(another(&to));
                }
                remove_second(&from, &to, &line.content)?;
                Ok(Moved::Before)
            }
        }
    }

    /// Checks that a kept file is as it was, and another file than the one that moves.
    fn check_kept(&mut self, kept: &KeptFile, moving: &Metadata) -> io::Result<()> {
        let why = |what: &str| io::Error::other(format!("{}, which is kept, {what}", kept.file));
        let path = path_of(&kept.path);
        let found = fs::metadata(&path).map_err(|_| why("is no longer there"))?;
        if !is_seen(&found, kept.content.bytes, &kept.modified, kept.inode) {
            return Err(why("changed since it was read"));
        }
        let (seen, changed) = (Seen::of(&found), super::inputs::Version::of(&found).changed);
        let moving = Seen::of(moving);
        if (seen.device, seen.inode) == (moving.device, moving.inode) && cfg!(unix) {
            return Err(why("is the same file"));
        }
        if self.compared.get(&kept.path) != Some(&(seen.clone(), changed)) {
            if Content::of(&path)? != kept.content {
                return Err(why("changed since it was read"));
            }
            self.compared.insert(kept.path.clone(), (seen, changed));
        }
        Ok(())
    }
}

fn is_seen(found: &Metadata, bytes: u64, modified: &str, inode: u64) -> bool {
    let seen = Seen::of(found);
    found.is_file() && (seen.stamp.bytes, seen.stamp.modified.as_str(), seen.inode) == (bytes, modified, inode)
}

fn another(path: &Path) -> io::Error {
    let what = format!("there is another file at {}, which is not overwritten", path.display());
    io::Error::new(io::ErrorKind::AlreadyExists, what)
}

/// Ends a move that was interrupted between its two steps: removes a file of which the other is a copy or another name.
fn remove_second(path: &Path, other: &Path, content: &Content) -> io::Result<()> {
    if !content.is_in(path)? || !content.is_in(other)? {
        return Err(changed());
    }
    fs::remove_file(path)
}

/// Whether a symbolic link has taken the place of a folder that had none.
fn parent_leads_elsewhere(path: &Path) -> bool {
    let existing = path.ancestors().skip(1).find_map(|above| Some((above, above.canonicalize().ok()?)));
    existing.is_some_and(|(above, real)| above != real)
}

/// Refuses a path below a folder that leads through a symbolic link there, and so perhaps out of it.
fn refuse_link_below(root: &Path, below: &Path) -> io::Result<()> {
    let is_link = |above: &Path| fs::symlink_metadata(root.join(above)).is_ok_and(|found| found.is_symlink());
    match below.ancestors().skip(1).filter(|above| !above.as_os_str().is_empty()).any(is_link) {
        true => Err(is_link_now(&root.join(below))),
        false => Ok(()),
    }
}

fn is_link_now(path: &Path) -> io::Error {
    io::Error::other(format!("a folder of {} is a symbolic link now", path.display()))
}

/// Removes the folders below one that have become empty, of these files.
pub(super) fn remove_empty<'a>(root: &Path, files: impl Iterator<Item = &'a Line>) {
    let mut folders: Vec<PathBuf> = Vec::new();
    for to in files.map(Line::to).filter(|to| refuse_link_below(root, to).is_ok()) {
        folders
            .extend(to.ancestors().skip(1).filter(|above| !above.as_os_str().is_empty()).map(|above| root.join(above)));
    }
    // The innermost first.
    folders.sort_by(|a, b| b.cmp(a));
    folders.dedup();
    for folder in folders {
        _ = fs::remove_dir(folder);
    }
}
