//! The index of git: the files and texts that a commit would have.

use super::error::SinceError;
use super::git::{RAW_DIFF, Repository, ended_by_zero, path_of, raw};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The files in the index of a repository. Paths are absolute and without links.
pub(super) struct Index {
    repository: Repository,
    files: BTreeSet<PathBuf>,
    /// Submodules: their files are not in this index, and are taken as they are.
    submodules: BTreeSet<PathBuf>,
    /// The objects of files that the working tree does not have, or has with another text.
    objects: BTreeMap<PathBuf, String>,
}

/// Texts of the index that the working tree does not have.
pub(super) struct Staged<'a> {
    index: &'a Index,
    texts: BTreeMap<PathBuf, Vec<u8>>,
}

impl Index {
    /// Reads the list of files.
    ///
    /// # Errors
    /// Git failed: the reason.
    pub fn read(repository: &Repository) -> Result<Self, String> {
        let (mut files, mut submodules) = (BTreeSet::new(), BTreeSet::new());
        // `<mode> <object> <stage>`, a tab, and the name.
        for entry in ended_by_zero(&repository.git(["ls-files", "--stage", "-z"])?) {
            let Some(name) = entry.splitn(2, |&byte| byte == b'\t').nth(1) else { continue };
            let place = repository.folder.join(path_of(name));
            match entry {
                [b'1', b'0', b'0', ..] => drop(files.insert(place)),
                [b'1', b'6', b'0', ..] => drop(submodules.insert(place)),
                _ => {}
            }
        }
        let mut objects = BTreeMap::new();
        for (object, name) in raw(&repository.git(["diff"].iter().chain(&RAW_DIFF).chain(&["--"]))?) {
            let place = repository.folder.join(path_of(name));
            match object {
                Some(object) => drop(objects.insert(place, object)),
                // Its text is not staged (`git add --intent-to-add`), or it has none until a conflict is resolved.
                None => drop(files.remove(&place)),
            }
        }
        Ok(Index { repository: repository.clone(), files, submodules, objects })
    }

    /// Whether a file is in the index, or in a submodule.
    pub fn has(&self, place: &Path) -> bool {
        self.files.contains(place) || place.ancestors().any(|folder| self.submodules.contains(folder))
    }

    /// Reads the texts that differ from the working tree, of the files that are wanted and have at most `limit` bytes.
    ///
    /// # Errors
    /// Git cannot read them.
    pub fn staged(&self, limit: u64, is_wanted: impl Fn(&Path) -> bool) -> Result<Staged<'_>, SinceError> {
        let wanted = self.objects.iter().filter(|(place, _)| is_wanted(place));
        let objects: Vec<(&Path, &str)> = wanted.map(|(place, object)| (place.as_path(), object.as_str())).collect();
        let read = self.repository.read(&objects, limit).map_err(SinceError::Git)?;
        Ok(Staged { index: self, texts: read.into_iter().map(|file| (file.place, file.bytes)).collect() })
    }
}

impl Staged<'_> {
    /// Whether a file may count: it is in the index or in a submodule, or outside of the repository, which is an error.
    pub fn has(&self, place: &Path) -> bool {
        self.index.has(place) || !place.starts_with(&self.index.repository.folder)
    }

    /// The text in the index, if it differs from that in the working tree.
    ///
    /// # Errors
    /// It was not read: it is too large.
    pub fn text(&self, place: &Path) -> Result<Option<&[u8]>, ()> {
        match self.index.objects.contains_key(place) {
            true => self.texts.get(place).map(|text| Some(text.as_slice())).ok_or(()),
            false => Ok(None),
        }
    }

    /// The files whose texts were read, in order.
    pub fn places(&self) -> impl Iterator<Item = &Path> {
        self.texts.keys().map(PathBuf::as_path)
    }
}
