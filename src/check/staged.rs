//! The index of git: the files and texts that a commit would have.

use super::error::SinceError;
use super::git::{Changed, Objects, RAW_DIFF, Repository, ended_by_zero, line, path_of, raw};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

/// The object of an empty file, with each of the hashes of git.
const EMPTY: [&str; 2] =
    ["e69de29bb2d1d6434b8b29ae775ad8c2e48c5391", "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813"];

/// Maximum size in bytes of the patterns of ignore files that apply to a file. Compiled, they are about two hundred times as large.
pub(super) const MAX_PATTERN_BYTES: u64 = 256 << 10;

/// The names of ignore files that a folder may have. Earlier ones take precedence.
pub(super) const IGNORE_FILES: [&str; 2] = [".ignore", ".gitignore"];

/// The files in the index of a repository. Paths are absolute and without links. Texts are those of the index, whatever the working tree has.
pub(super) struct Index {
    repository: Repository,
    /// The regular files, each with its object.
    files: BTreeMap<PathBuf, String>,
    /// Files with a conflict: they have no text until it is resolved. Each with the objects of its sides.
    unmerged: BTreeMap<PathBuf, Vec<String>>,
    /// Submodules: their files are not in this index, and are taken as they are.
    submodules: BTreeSet<PathBuf>,
    /// What differs from the last commit, each with its object there, if it was a regular file.
    changed: BTreeMap<PathBuf, Option<String>>,
    /// Reads ignore files, one at a time.
    objects: Mutex<Objects>,
    /// What git ignores, listed when it is first asked for: files, and folders of which nothing counts.
    ignored: OnceLock<BTreeSet<PathBuf>>,
}

/// A file other than a page that a check depends on, as a commit would have it.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Setting {
    /// It is in the index, with these bytes.
    Staged(Vec<u8>),
    /// Git does not keep it: it ignores it, or it is outside of the repository or in a submodule. The file is read as it is.
    AsItIs,
    /// It is neither in the index nor in the working tree.
    Missing,
    /// It is in the working tree only, and git does not ignore it: a commit would not have it.
    NotStaged,
    /// It has a conflict, and no text until that is resolved.
    Unmerged,
}

/// Why a file does not count.
pub(super) const NOT_STAGED: &str = "not staged, so it does not count: stage it with git add, or let git ignore it";
const UNMERGED: &str = "it has a conflict: resolve it, and stage it with git add";

/// The index with the beginnings of some files.
pub(super) struct Staged<'a> {
    pub index: &'a Index,
    beginnings: BTreeMap<PathBuf, Vec<u8>>,
}

impl Index {
    /// Reads the list of files. The working tree is not consulted.
    ///
    /// # Errors
    /// Git failed: the reason.
    pub fn read(repository: &Repository) -> Result<Self, String> {
        let mut index = Index {
            repository: repository.clone(),
            files: BTreeMap::new(),
            unmerged: BTreeMap::new(),
            submodules: BTreeSet::new(),
            changed: BTreeMap::new(),
            objects: Mutex::new(Objects::of(repository)),
            ignored: OnceLock::new(),
        };
        // `<mode> <object> <stage>`, a tab, and the name.
        for entry in ended_by_zero(&repository.git(["ls-files", "--stage", "-z"])?) {
            let mut parts = entry.splitn(2, |&byte| byte == b'\t');
            let (Some(head), Some(name)) = (parts.next(), parts.next()) else { continue };
            let (head, place) = (String::from_utf8_lossy(head), repository.folder.join(path_of(name)));
            match head.split(' ').collect::<Vec<_>>()[..] {
                [mode, object, "0"] if mode.starts_with("100") => {
                    index.files.insert(place, object.to_string());
                }
                ["160000", _, "0"] => drop(index.submodules.insert(place)),
                [mode, object, "1" | "2" | "3"] => {
                    let sides = index.unmerged.entry(place).or_default();
                    sides.extend(mode.starts_with("100").then(|| object.to_string()));
                }
                _ => {}
            }
        }
        let last = match repository.commit("HEAD") {
            // No commit yet: compared with the empty tree.
            Err(message) if message.is_empty() => line(repository.git(["hash-object", "-t", "tree", "--stdin"])?),
            commit => commit?,
        };
        let diff = |announced: &str| {
            repository.git(RAW_DIFF.iter().copied().chain(["--cached", announced, last.as_str(), "--"]))
        };
        let changed = diff("--ita-invisible-in-index")?;
        let changed: Vec<Changed> = raw(&changed).collect();
        if index.files.values().any(|object| is_empty(object)) {
            // Files of `git add --intent-to-add` have no text yet, and a commit would not have them.
            let staged: BTreeSet<&[u8]> =
                changed.iter().filter(|changed| changed.new.is_some()).map(|changed| changed.name).collect();
            for Changed { new, name, .. } in raw(&diff("--ita-visible-in-index")?) {
                if new.is_some_and(|new| is_empty(&new)) && !staged.contains(name) {
                    index.files.remove(&repository.folder.join(path_of(name)));
                }
            }
        }
        for Changed { old, name, .. } in changed {
            let place = repository.folder.join(path_of(name));
            if !index.unmerged.contains_key(&place) {
                index.changed.insert(place, old);
            }
        }
        Ok(index)
    }

    /// The index of the repository of the current folder; in a hook, that of the commit.
    ///
    /// # Errors
    /// Git failed, or there is no repository: the reason.
    pub fn here() -> Result<Self, String> {
        let repository = Repository::here()?.with_index();
        Index::read(&repository).map_err(|message| repository.failure(message))
    }

    /// The repository.
    pub fn repository(&self) -> &Repository {
        &self.repository
    }

    /// What differs from the last commit, each with its object there, if it was a regular file.
    pub fn changed(&self) -> &BTreeMap<PathBuf, Option<String>> {
        &self.changed
    }

    /// The regular files, in order.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        self.files.keys().map(PathBuf::as_path)
    }

    /// The object of a regular file.
    pub fn object(&self, place: &Path) -> Option<&str> {
        self.files.get(place).map(String::as_str)
    }

    /// Whether a file is in the index, or in a submodule.
    pub fn has(&self, place: &Path) -> bool {
        self.files.contains_key(place) || place.ancestors().any(|folder| self.submodules.contains(folder))
    }

    /// Whether the index or the last commit has a file at a path or below it.
    pub fn knows(&self, root: &Path) -> bool {
        let is_inside = |place: Option<&PathBuf>| place.is_some_and(|place| place.starts_with(root));
        is_inside(self.files.range(root.to_path_buf()..).next().map(|(place, _)| place))
            || is_inside(self.unmerged.range(root.to_path_buf()..).next().map(|(place, _)| place))
            || is_inside(self.submodules.range(root.to_path_buf()..).next())
            || self.removed(root).next().is_some()
    }

    /// The files of the last commit at a path or below it that are not in the index.
    pub fn removed<'a>(&'a self, root: &'a Path) -> impl Iterator<Item = &'a Path> {
        let changed = self.changed.range(root.to_path_buf()..).take_while(move |(place, _)| place.starts_with(root));
        changed
            .filter(|(place, old)| old.is_some() && !self.files.contains_key(*place))
            .map(|(place, _)| place.as_path())
    }

    /// With the beginnings of the files that are wanted, of at most `length` bytes each.
    ///
    /// # Errors
    /// Git cannot read them.
    pub fn staged(&self, length: u64, is_wanted: impl Fn(&Path) -> bool) -> Result<Staged<'_>, SinceError> {
        let wanted = self.files.iter().filter(|(place, _)| is_wanted(place));
        let objects: Vec<(&Path, &str)> = wanted.map(|(place, object)| (place.as_path(), object.as_str())).collect();
        let mut beginnings = BTreeMap::new();
        let add = |index: usize, bytes: Option<Vec<u8>>| {
            drop(beginnings.insert(objects[index].0.to_path_buf(), bytes.unwrap_or_default()));
        };
        self.repository.read_each(&objects, |_| Some(length), add).map_err(SinceError::Git)?;
        Ok(Staged { index: self, beginnings })
    }

    /// A file that the check depends on, by its absolute path without links.
    ///
    /// # Errors
    /// Git cannot read it: the reason.
    pub fn setting(&self, place: &Path) -> Result<Setting, String> {
        let Some(object) = self.files.get(place) else { return Ok(self.without_text(place)) };
        let mut text = Vec::new();
        let add = |_, bytes: Option<Vec<u8>>| text = bytes.unwrap_or_default();
        self.repository.read_each(&[(place, object)], Some, add)?;
        Ok(Setting::Staged(text))
    }

    /// The texts of a file with a conflict: those that both sides have, and the one that they come from.
    ///
    /// # Errors
    /// Git cannot read them: the reason.
    pub fn sides(&self, place: &Path) -> Result<Vec<Vec<u8>>, String> {
        let sides = self.unmerged.get(place).map_or(&[][..], Vec::as_slice);
        let objects: Vec<(&Path, &str)> = sides.iter().map(|object| (place, object.as_str())).collect();
        let mut texts = Vec::new();
        self.repository.read_each(&objects, Some, |_, text| texts.extend(text))?;
        Ok(texts)
    }

    /// An ignore file: its first bytes, at most `length` of them. It is read each time, and nothing is kept.
    ///
    /// # Errors
    /// Git cannot read it: the reason.
    pub fn ignore_file(&self, place: &Path, length: u64) -> Result<Setting, String> {
        let Some(object) = self.files.get(place) else { return Ok(self.without_text(place)) };
        let mut objects = self.objects.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(Setting::Staged(objects.beginning(object, length)?))
    }

    /// A file that is no regular one in the index.
    fn without_text(&self, place: &Path) -> Setting {
        let is_outside = !place.starts_with(&self.repository.folder)
            || place.ancestors().any(|folder| self.submodules.contains(folder));
        match () {
            () if is_outside => Setting::AsItIs,
            () if self.unmerged.contains_key(place) => Setting::Unmerged,
            () if !fs::metadata(place).is_ok_and(|found| found.is_file()) => Setting::Missing,
            () if self.ignores(place) => Setting::AsItIs,
            () => Setting::NotStaged,
        }
    }

    /// Whether git ignores a file of the working tree that is not in the index.
    ///
    /// Cost: at the first call, git reads the folders of the working tree that it does not ignore.
    fn ignores(&self, place: &Path) -> bool {
        let ignored = self.ignored.get_or_init(|| self.repository.ignored().into_iter().collect());
        place.ancestors().any(|path| ignored.contains(path))
    }

    /// Whether a file is in the index, has a conflict, or is one of the working tree that the index does not have to have: one that git
    /// ignores, or that is outside of the repository or in a submodule.
    pub fn exists(&self, place: &Path) -> bool {
        self.files.contains_key(place)
            || self.unmerged.contains_key(place)
            || matches!(self.without_text(place), Setting::AsItIs) && fs::symlink_metadata(place).is_ok()
    }
}

impl Setting {
    /// The bytes of the file, given how it is read if the index does not count. `None` if it is missing.
    ///
    /// # Errors
    /// It cannot be read, is not staged, or has a conflict.
    pub fn bytes(self, as_it_is: impl FnOnce() -> io::Result<Option<Vec<u8>>>) -> io::Result<Option<Vec<u8>>> {
        match self {
            Setting::Staged(bytes) => Ok(Some(bytes)),
            Setting::AsItIs => as_it_is(),
            Setting::Missing => Ok(None),
            Setting::NotStaged => Err(io::Error::other(NOT_STAGED)),
            Setting::Unmerged => Err(io::Error::other(UNMERGED)),
        }
    }
}

impl Staged<'_> {
    /// Whether a file may count: it is in the index or in a submodule, or outside of the repository, which is an error.
    pub fn has(&self, place: &Path) -> bool {
        self.index.has(place) || !place.starts_with(&self.index.repository.folder)
    }

    /// The beginning of a file that was wanted.
    pub fn beginning(&self, place: &Path) -> Option<&[u8]> {
        self.beginnings.get(place).map(Vec::as_slice)
    }

    /// Reads the texts of files of the index, in their order. `None` for one of more than `limit` bytes.
    ///
    /// # Errors
    /// Git cannot read them.
    pub fn texts(
        &self,
        places: &[PathBuf],
        limit: u64,
        mut each: impl FnMut(Option<Vec<u8>>),
    ) -> Result<(), SinceError> {
        let objects = places.iter().filter_map(|place| Some((place.as_path(), self.index.object(place)?)));
        let objects: Vec<(&Path, &str)> = objects.collect();
        let length = |size| (size <= limit).then_some(size);
        self.index.repository.read_each(&objects, length, |_, text| each(text)).map_err(SinceError::Git)
    }
}

fn is_empty(object: &str) -> bool {
    EMPTY.contains(&object)
}
