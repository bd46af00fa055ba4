//! What changed since a commit, according to git: the files, and their text at that commit.

use super::error::SinceError;
use super::git::{Changed, OldFile, RAW_DIFF, Repository, ended_by_zero, line, path_of, raw, shallow_hint};
use super::pages::MAX_PAGE_BYTES;
use super::staged::Index;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};

/// What to do about a reference that a CI system fills in when there is nothing to compare with.
const NO_COMMIT: &str = "names no commit: CI systems leave it empty, or give zeros, for the first push of a branch; name the branch to \
    compare with, such as origin/main";

/// Whether a reference stands for no commit: it is empty, or its last name is, or it consists of the zeros that git writes for no object.
fn is_no_commit(reference: &str) -> bool {
    let reference = reference.trim();
    let has_no_name = reference.is_empty() || reference.ends_with('/');
    has_no_name || matches!(reference.len(), 40 | 64) && reference.bytes().all(|byte| byte == b'0')
}

/// What a changed file was at the commit.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Was {
    /// Nothing, or no regular file. Of a folder: all files in it are new.
    New,
    /// A file with this object, in the repository of this index.
    File {
        repository: usize,
        object: String,
        /// Whether it is no regular file any longer: it was removed, or is a link now.
        is_gone: bool,
    },
}

/// The changes in a repository and its submodules.
pub(super) struct Changes {
    /// The root of the repository.
    top: PathBuf,
    repositories: Vec<Repository>,
    /// What each changed file was, by its absolute path.
    files: BTreeMap<PathBuf, Was>,
    /// Submodules whose changes could not be determined, each with the reason.
    unknown: BTreeMap<PathBuf, String>,
    /// What a commit would have, if only that is compared; else the working tree is.
    index: Option<Index>,
}

impl Changes {
    /// Differences between the index and the last commit: what is staged. Submodules count as unchanged.
    ///
    /// # Errors
    /// Git cannot be run, or there is no repository.
    pub fn staged() -> Result<Self, SinceError> {
        let index = Index::here().map_err(SinceError::Git)?;
        let was = |place: &Path, object: &String| Was::File {
            repository: 0,
            object: object.clone(),
            is_gone: index.object(place).is_none(),
        };
        let changed = index.changed().iter().map(|(place, old)| {
            let was = old.as_ref().map_or(Was::New, |object| was(place, object));
            (place.clone(), was)
        });
        let (files, top) = (changed.collect(), index.repository().folder.clone());
        let (repositories, unknown) = (vec![index.repository().clone()], BTreeMap::new());
        Ok(Changes { top, repositories, files, unknown, index: Some(index) })
    }

    /// Differences between the working tree and its merge base with `reference`, and untracked files. A submodule is compared with
    /// the commit that it had at the merge base.
    ///
    /// # Errors
    /// Git cannot be run, there is no repository, or no such commit.
    pub fn since(reference: &str) -> Result<Self, SinceError> {
        let wrong = |message: String| SinceError::Reference { reference: reference.into(), message };
        if is_no_commit(reference) {
            return Err(wrong(NO_COMMIT.into()));
        }
        let top = Repository::here().map_err(SinceError::Git)?;
        let commit = top.commit(reference).map_err(|_| wrong(top.missing_commit(reference)))?;
        let base = match top.git(["merge-base", &commit, "HEAD"]).map(line) {
            Ok(base) => base,
            Err(_) if top.is_shallow() => {
                return Err(wrong(format!("no common ancestor with HEAD is known; {}", shallow_hint(""))));
            }
            // Histories without a common ancestor.
            Err(_) => commit,
        };
        let mut changes = Changes {
            top: top.folder.clone(),
            repositories: Vec::new(),
            files: BTreeMap::new(),
            unknown: BTreeMap::new(),
            index: None,
        };
        let mut submodules =
            changes.add(&top, &base).map_err(|message| wrong(top.failure(format!("git failed: {message}"))))?;
        while let Some((submodule, base)) = submodules.pop() {
            match changes.add(&submodule, &base) {
                Ok(inside) => submodules.extend(inside),
                // This matters only if a page is in the submodule.
                Err(message) => {
                    let why = match submodule.commit(&base) {
                        // The commit is missing, for example in a shallow clone.
                        Err(message) if message.is_empty() => {
                            format!("without the commit {base}: fetch it")
                        }
                        _ => format!("that git cannot compare with {base}: {message}"),
                    };
                    changes.unknown.insert(submodule.folder, why);
                }
            }
        }
        Ok(changes)
    }

    /// Adds the changes of a repository since a commit. Returns its submodules, each with the commit that it had then.
    fn add(&mut self, repository: &Repository, base: &str) -> Result<Vec<(Repository, String)>, String> {
        changed(repository, base, self.repositories.len(), &mut self.files)?;
        self.repositories.push(repository.clone());
        submodules(repository, base, &mut self.files)
    }

    /// The root of the repository.
    pub fn top(&self) -> &Path {
        &self.top
    }

    /// Why the changes of a file could not be determined, if so. The path is absolute and without links.
    pub fn unknown(&self, place: &Path) -> Option<String> {
        if !place.starts_with(&self.top) {
            return Some("is not in the repository that this folder is in".to_string());
        }
        let why = place.ancestors().find_map(|folder| self.unknown.get(folder))?;
        Some(format!("is in a submodule {why}"))
    }

    /// The index, if what is staged is compared.
    pub fn index(&self) -> Option<&Index> {
        self.index.as_ref()
    }

    /// Whether a file of the commit is none any longer, according to git: it was removed, or a link took its place or that of a
    /// folder around it. The path is absolute and without links.
    pub fn is_gone(&self, place: &Path) -> bool {
        matches!(self.files.get(place), Some(Was::File { is_gone: true, .. }))
    }

    /// Whether a file changed. The path is absolute and without links.
    pub fn has(&self, place: &Path) -> bool {
        // An untracked repository inside is listed as a folder.
        let mut within = place.ancestors().take_while(|folder| folder.starts_with(&self.top));
        within.any(|path| self.files.contains_key(path))
    }

    /// The changed files as they were at the commit, but for those that were not there, larger than `limit` bytes, or that `is_wanted`
    /// does not want. In the order of their paths.
    ///
    /// # Errors
    /// Git cannot read them.
    pub fn old_files(&self, limit: u64, is_wanted: impl Fn(&Path) -> bool) -> Result<Vec<OldFile>, SinceError> {
        let mut objects: Vec<Vec<(&Path, &str)>> = vec![Vec::new(); self.repositories.len()];
        for (place, was) in self.files.iter().filter(|(place, _)| is_wanted(place)) {
            if let Was::File { repository, object, .. } = was {
                objects[*repository].push((place, object));
            }
        }
        let mut files = Vec::new();
        for (repository, objects) in self.repositories.iter().zip(&objects).filter(|(_, objects)| !objects.is_empty()) {
            files.extend(repository.read(objects, limit).map_err(SinceError::Git)?);
        }
        files.sort_by(|x, y| x.place.cmp(&y.place));
        Ok(files)
    }
}

/// Differences between a commit and the working tree of a repository, which has this index, and untracked files.
///
/// No filter is run, which would be a program that the configuration names. A file that has one is changed if git does not know from its
/// size and time that it is not.
fn changed(
    repository: &Repository,
    base: &str,
    index: usize,
    files: &mut BTreeMap<PathBuf, Was>,
) -> Result<(), String> {
    let args = RAW_DIFF.into_iter().chain([base, "--"]).map(OsString::from);
    let diff = repository.git(repository.without_filters()?.into_iter().chain(args))?;
    let untracked = repository.git(["ls-files", "--others", "--exclude-standard", "-z"])?;
    let diff: Vec<Changed> = raw(&diff).collect();
    let same = same(repository, &diff)?;
    for Changed { old, new, name } in diff.iter().filter(|changed| !same.contains(changed.name)) {
        let file = |object| Was::File { repository: index, object, is_gone: new.is_none() };
        files.insert(repository.folder.join(path_of(name)), old.clone().map_or(Was::New, file));
    }
    for name in ended_by_zero(&untracked) {
        // A folder, such as an untracked repository, ends with a slash.
        let path = repository.folder.join(path_of(name.strip_suffix(b"/").unwrap_or(name)));
        let is_file = fs::symlink_metadata(&path).is_ok_and(|found| found.is_file());
        match files.get_mut(&path) {
            // Removed from the index only: the working tree is what is compared.
            Some(Was::File { is_gone, .. }) => *is_gone = !is_file,
            _ => drop(files.insert(path, Was::New)),
        }
    }
    Ok(())
}

/// The files that are what they were, though their times are others.
fn same<'a>(repository: &Repository, diff: &[Changed<'a>]) -> Result<BTreeSet<&'a [u8]>, String> {
    let may_be_same = |changed: &&Changed| {
        let is_unknown = changed.new.as_ref().is_some_and(|new| new.bytes().all(|byte| byte == b'0'));
        let place = repository.folder.join(path_of(changed.name));
        // Git would read these as other names.
        let is_plain =
            !changed.name.contains(&b'\n') && !changed.name.starts_with(b"\"") && !changed.name.ends_with(b"\r");
        let is_page =
            || fs::symlink_metadata(place).is_ok_and(|found| found.is_file() && found.len() <= MAX_PAGE_BYTES);
        is_unknown && changed.old.is_some() && is_plain && is_page()
    };
    let unknown: Vec<&Changed> = diff.iter().filter(may_be_same).collect();
    let names: Vec<&[u8]> = unknown.iter().map(|changed| changed.name).collect();
    let hashes = repository.hashes(&names)?;
    let both = unknown.iter().zip(hashes).filter(|(changed, hash)| changed.old.as_ref() == Some(hash));
    Ok(both.map(|(changed, _)| changed.name).collect())
}

/// The submodules of a repository, each with the commit that it had at `base`. A submodule added since is new as a whole.
fn submodules(
    outer: &Repository,
    base: &str,
    files: &mut BTreeMap<PathBuf, Was>,
) -> Result<Vec<(Repository, String)>, String> {
    let mut submodules = Vec::new();
    for entry in ended_by_zero(&outer.git(["ls-files", "--stage", "-z"])?) {
        let Some(name) = entry.strip_prefix(b"160000 ").and_then(|rest| rest.splitn(2, |&byte| byte == b'\t').nth(1))
        else {
            continue;
        };
        let name = path_of(name);
        let place = outer.folder.join(&name);
        // Without a repository of its own, git would answer for the outer one.
        if !place.join(".git").exists() {
            continue;
        }
        let was = outer.git([OsStr::new("ls-tree"), "-z".as_ref(), base.as_ref(), "--".as_ref(), name.as_ref()])?;
        match line(was).split([' ', '\t']).collect::<Vec<_>>()[..] {
            ["160000", _, commit, ..] => submodules.push((outer.inner(place), commit.to_string())),
            _ => drop(files.insert(place, Was::New)),
        }
    }
    Ok(submodules)
}
