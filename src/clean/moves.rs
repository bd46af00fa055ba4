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
    /// It stays, or it is gone: neither at its old place nor, as it was read, at the new one.
    pub fn there(&mut self, line: &Line) -> io::Result<Moved> {
        let (from, to) = (line.from(), self.root.join(line.to()));
        refuse_link_below(self.root, &line.to())?;
        let is_planned = |found: &Metadata| is_planned(found, line);
        match (found(&from)?, found(&to)?) {
            (Some(here), None) if is_planned(&here) => {
                let way = self.way;
                relocate(&from, &to, &line.content, way, || self.check_kept(&line.kept, &here))?;
                Ok(Moved::Now)
            }
            (Some(_), None) => Err(changed()),
            (None, None) => Err(gone(&format!("it is not at {} either", to.display()))),
            // A run was interrupted while the file had both names, or after it had one.
            (here, Some(there)) if there.is_file() && line.content.is_in(&to)? => {
                if let Some(here) = here.filter(is_planned) {
                    self.check_kept(&line.kept, &here)?;
                    remove_second(&from, &to, &line.content)?;
                }
                Ok(Moved::Before)
            }
            (Some(_), Some(_)) => Err(another(&to)),
            (None, Some(_)) => {
                Err(gone(&format!("{} is another file, or was changed after it moved there", to.display())))
            }
        }
    }

    /// Whether a file is where it was before it moved, as far as it can be seen without its inode, which a copy has not.
    pub fn is_back(line: &Line) -> bool {
        let is_seen = |here: Metadata| is_seen(&here, line.content.bytes, &line.modified, None);
        found(&line.from()).is_ok_and(|here| here.is_some_and(is_seen))
    }

    /// Whether nothing in the folder can be the file of a line that is not moved, so that the line says nothing. `is_first`
    /// is a run that has written the line itself: before it, nothing moved.
    pub fn never_moved(&self, line: &Line, is_first: bool) -> bool {
        let to = self.root.join(line.to());
        let Ok((here, there)) = found(&line.from()).and_then(|here| Ok((here, found(&to)?))) else { return false };
        let here = here.filter(Metadata::is_file);
        match there {
            None => is_first || here.is_some(),
            // A file with the content of the line has moved, or was half moved when the run was interrupted.
            Some(there) if there.is_file() && line.content.is_in(&to).unwrap_or(true) => false,
            Some(_) => is_first || here.is_some_and(|here| is_planned(&here, line)),
        }
    }

    /// Moves a file back. Notes the content of a file that has changed, by which it is known when it was moved by hand.
    ///
    /// # Errors
    /// It stays, or it is gone.
    pub fn back(&self, line: &mut Line) -> io::Result<Moved> {
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
            (Some(here), None) => {
                line.changed = if here.is_file() { Some(Content::of(&from)?) } else { None };
                let advice = format!("move it to {} yourself, and undo again", line.from);
                Err(io::Error::other(format!("it changed since it was moved: {advice}")))
            }
            (None, Some(there)) if there.is_file() && line.is_in(&to)? => {
                // A copy may have been interrupted.
                remove_stale(&from);
                Ok(Moved::Before)
            }
            (None, Some(_)) => Err(gone(&format!("it is no longer there, and {} is another file: {GONE}", line.from))),
            (None, None) => Err(gone(&format!("it is neither there nor at {}: {GONE}", line.from))),
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
        if !is_seen(&found, kept.content.bytes, &kept.modified, Some(kept.inode)) {
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

/// What to do about a file that is gone.
const GONE: &str = "put it back, or remove its line from moved.jsonl if that is right, and undo again";

fn gone(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::NotFound, why)
}

/// Whether a file is the one that was read, as far as it can be seen.
fn is_planned(found: &Metadata, line: &Line) -> bool {
    is_seen(found, line.content.bytes, &line.modified, Some(line.inode))
}

fn is_seen(found: &Metadata, bytes: u64, modified: &str, inode: Option<u64>) -> bool {
    let seen = Seen::of(found);
    let is_inode = inode.is_none_or(|inode| inode == seen.inode);
    found.is_file() && is_inode && (seen.stamp.bytes, seen.stamp.modified.as_str()) == (bytes, modified)
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
