//! Walks folders without the files that `.gitignore` and similar files exclude.
//!
//! The rules are those of git: of the ignore files with a pattern for a path, the nearest decides, by its last matching line. Ignore
//! files count up to the root of the repository or, without one, up to the current folder. They may come from an untrusted contribution,
//! so they are read here within limits, and only their patterns are passed to the `ignore` crate.

use super::globs::MAX_GLOB_BYTES;
use super::paths::{place as resolved, shown};
use super::staged::{IGNORE_FILES, Index, MAX_PATTERN_BYTES, Setting};
use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder, gitconfig_excludes_path};
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use walkdir::{DirEntry, WalkDir};

/// An item of a walk.
pub(super) enum Found {
    /// A file or folder, with its absolute path without links.
    Entry(DirEntry, PathBuf),
    /// The path of an excluded file or folder, and whether it is a folder.
    LeftOut(PathBuf, bool),
    /// A file or folder that could not be read, with the reason.
    Failed(String),
    /// An ignore file that is not followed, with the reason.
    Notice(String),
}

/// How folders are walked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Walk {
    /// Whether to include hidden files.
    pub hidden: bool,
    /// Whether `.gitignore` and similar files count.
    pub ignore_files: bool,
}

/// Without hidden and ignored files.
impl Default for Walk {
    fn default() -> Self {
        Walk { hidden: false, ignore_files: true }
    }
}

impl Walk {
    /// Walks a file or folder, in the order of names. Links are not followed, except the root itself, which is never excluded. With the
    /// index of git, ignore files are those in it.
    ///
    /// Cost: each file is matched with the patterns of all folders that it is in.
    pub(super) fn under(self, root: &Path, place: &Path, index: Option<&Index>, each: &mut dyn FnMut(Found)) {
        let mut folders = Vec::new();
        if self.ignore_files && place.is_dir() {
            above(place).into_iter().for_each(|above| Folder::push(&mut folders, above, above, index, each));
        }
        let above = folders.len();
        let mut entries = WalkDir::new(root).sort_by_file_name().into_iter();
        while let Some(entry) = entries.next() {
            let entry = match entry {
                Ok(entry) => entry,
                Err(error) => {
                    each(Found::Failed(unread(&error)));
                    continue;
                }
            };
            let is_root = entry.depth() == 0;
            let is_folder = if is_root { place.is_dir() } else { entry.file_type().is_dir() };
            let place = match entry.path().strip_prefix(root) {
                Ok(inside) if !is_root => place.join(inside),
                _ => place.to_path_buf(),
            };
            folders.truncate(above + entry.depth());
            if !is_root && self.leaves_out(&folders, &place, is_folder) {
                if is_folder {
                    entries.skip_current_dir();
                }
                each(Found::LeftOut(place, is_folder));
                continue;
            }
            if self.ignore_files && is_folder {
                Folder::push(&mut folders, &place, entry.path(), index, each);
            }
            each(Found::Entry(entry, place));
        }
    }

    /// A hidden file is walked if a pattern re-includes it.
    fn leaves_out(self, folders: &[Folder], place: &Path, is_folder: bool) -> bool {
        let is_hidden = || place.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
        match decision(folders, place, is_folder) {
            Match::None => !self.hidden && is_hidden(),
            decision => decision.is_ignore(),
        }
    }
}

/// The folder of a walk and paths in it that may not exist: those that the walk would leave out.
pub(super) struct Inside<'a> {
    walk: Walk,
    root: &'a Path,
    /// The root as it is named in messages.
    given: &'a Path,
    index: Option<&'a Index>,
    /// How many of the folders are above the root. Their ignore files are read for the first path.
    above: Option<usize>,
    /// The folders of the last path, each with whether it is left out.
    last: Vec<(PathBuf, bool)>,
    folders: Vec<Folder>,
    /// Ignore files that are not followed, each with the reason: of folders that the working tree does not have, so no walk names them.
    notices: Vec<String>,
}

impl<'a> Inside<'a> {
    /// The root is absolute and without links. With the index of git, ignore files are those in it.
    pub fn new(walk: Walk, root: &'a Path, given: &'a Path, index: Option<&'a Index>) -> Self {
        Inside { walk, root, given, index, above: None, last: Vec::new(), folders: Vec::new(), notices: Vec::new() }
    }

    /// The ignore files that are not followed, each with the reason, of folders that the working tree does not have.
    pub fn into_notices(self) -> Vec<String> {
        self.notices
    }

    /// Whether the walk would leave out this file, which is in the root or the root itself. Files in order cost least: ignore files are read
    /// once for those in a row that are in the same folder.
    pub fn leaves_out(&mut self, place: &Path) -> bool {
        let Some(folder) = place.parent().filter(|_| place != self.root) else { return false };
        let same = self.last.iter().take_while(|(last, _)| folder.starts_with(last)).count();
        self.last.truncate(same);
        let above = self.above();
        self.folders.truncate(above + same);
        let mut inside: Vec<&Path> = folder.ancestors().take_while(|folder| folder.starts_with(self.root)).collect();
        inside.reverse();
        for folder in inside.into_iter().skip(same) {
            let is_left_out = self.last.last().is_some_and(|(_, is_left_out)| *is_left_out)
                || folder != self.root && self.walk.leaves_out(&self.folders, folder, true);
            if self.walk.ignore_files {
                let notices = &mut self.notices;
                let mut each = |found| notices.extend(notice(found).filter(|_| !is_left_out && !folder.is_dir()));
                let given = folder.strip_prefix(self.root).map_or_else(|_| folder.into(), |path| self.given.join(path));
                Folder::push(&mut self.folders, folder, &given, self.index, &mut each);
            }
            self.last.push((folder.to_path_buf(), is_left_out));
        }
        self.last.last().is_some_and(|(_, is_left_out)| *is_left_out)
            || self.walk.leaves_out(&self.folders, place, false)
    }

    /// The number of folders above the root, which are read at the first call.
    fn above(&mut self) -> usize {
        if let Some(above) = self.above {
            return above;
        }
        if self.walk.ignore_files {
            let (root, folders, notices) = (self.root, &mut self.folders, &mut self.notices);
            let mut each = |found| notices.extend(notice(found).filter(|_| !root.is_dir()));
            above(root).into_iter().for_each(|above| Folder::push(folders, above, above, self.index, &mut each));
        }
        *self.above.insert(self.folders.len())
    }
}

fn notice(found: Found) -> Option<String> {
    match found {
        Found::Notice(notice) => Some(notice),
        _ => None,
    }
}

/// The folders above a folder whose ignore files count, the outermost first.
fn above(place: &Path) -> Vec<&Path> {
    let here = std::env::current_dir().and_then(fs::canonicalize).ok();
    let repository = place.ancestors().find(|folder| folder.join(".git").exists());
    let top = repository.or(place.ancestors().find(|folder| Some(*folder) == here.as_deref())).unwrap_or(place);
    let mut above: Vec<_> = place.ancestors().skip(1).take_while(|folder| folder.starts_with(top)).collect();
    above.reverse();
    above
}

/// The ignore files of a folder.
struct Folder {
    /// Patterns of `.ignore` and `.gitignore` and, at the root, those of the repository and of the user. Earlier ones take precedence.
    patterns: [Gitignore; 4],
    /// Whether this is the root of a repository, so that folders above do not count.
    is_repository: bool,
    /// How many bytes of patterns its subfolders may still have.
    room: u64,
}

impl Folder {
    /// Adds a folder to those that contain it. `given` is its path as it was reached.
    fn push(folders: &mut Vec<Self>, place: &Path, given: &Path, index: Option<&Index>, each: &mut dyn FnMut(Found)) {
        let is_repository = place.join(".git").exists();
        let mut room = folders.last().map_or(MAX_PATTERN_BYTES, |folder| folder.room);
        let exclude = is_repository.then(|| git_folder(place)).flatten().map(|git| git.join("info/exclude"));
        let users = (is_repository || folders.is_empty()).then(gitconfig_excludes_path).flatten();
        let [own, git] = IGNORE_FILES.map(|name| Some((given.join(name), index)));
        // These are of this clone and of the user.
        let files = [own, git, exclude.map(|file| (file, None)), users.map(|file| (file, None))];
        let patterns = files.map(|file| {
            let Some((file, index)) = file else { return Gitignore::empty() };
            patterns(place, &file, index, &mut room).unwrap_or_else(|why| {
                each(Found::Notice(format!("{}{why}: the file is not followed", shown(&file))));
                Gitignore::empty()
            })
        });
        folders.push(Folder { patterns, is_repository, room });
    }
}

/// The decision of these folders, the outermost first, on a path.
fn decision(folders: &[Folder], place: &Path, is_folder: bool) -> Match<()> {
    let first = folders.iter().rposition(|folder| folder.is_repository).unwrap_or(0);
    for kind in 0..4 {
        for folder in folders[first..].iter().rev() {
            let found = folder.patterns[kind].matched(place, is_folder).map(drop);
            if !found.is_none() {
                return found;
            }
        }
    }
    Match::None
}

/// The patterns of an ignore file, relative to a folder. Invalid patterns match nothing, as in git; a missing file has none.
///
/// # Errors
/// The reason why the file is not followed, as text to append to its name.
fn patterns(folder: &Path, file: &Path, index: Option<&Index>, room: &mut u64) -> Result<Gitignore, String> {
    let as_it_is = || bytes(file, *room + 1).map_err(|error| format!(": cannot read: {error}"));
    // By its absolute path, because the working tree may not have the folder.
    let place = || resolved(&folder.join(file.file_name().unwrap_or_default()));
    let setting = index.map(|index| index.ignore_file(&place(), *room + 1)).transpose();
    let bytes = match setting.map_err(|why| format!(": {why}"))? {
        None | Some(Setting::AsItIs) => as_it_is()?.unwrap_or_default(),
        Some(Setting::Staged(bytes)) => bytes,
        Some(Setting::Missing) => Vec::new(),
        Some(Setting::NotStaged) => return Err(": not staged".into()),
        Some(Setting::Unmerged) => return Err(": has a conflict".into()),
    };
    let Some(left) = room.checked_sub(bytes.len() as u64) else {
        return Err(format!(
            ": more than {} KiB of patterns, together with those of the folders above",
            MAX_PATTERN_BYTES >> 10
        ));
    };
    let text = String::from_utf8_lossy(&bytes);
    let mut builder = GitignoreBuilder::new(folder);
    for (number, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
        if line.len() > MAX_GLOB_BYTES {
            return Err(format!(":{}: a line of {} bytes", number + 1, line.len()));
        }
        _ = builder.add_line(None, &without_braces(line));
    }
    let patterns = builder.build().map_err(|error| format!(": too many or too long patterns: {error}"))?;
    *room = left;
    Ok(patterns)
}

/// A pattern with its braces escaped: git treats them as literal characters.
fn without_braces(line: &str) -> String {
    let mut escaped = false;
    let of = |c: char| {
        let is_brace = matches!(c, '{' | '}') && !escaped;
        escaped = c == '\\' && !escaped;
        is_brace.then_some('\\').into_iter().chain([c])
    };
    line.chars().flat_map(of).collect()
}

/// The git folder that all work trees of a repository share.
fn git_folder(repository: &Path) -> Option<PathBuf> {
    let git = repository.join(".git");
    if git.is_dir() {
        return Some(git);
    }
    let own = repository.join(first_line(&git)?.strip_prefix("gitdir: ")?);
    let shared = first_line(&own.join("commondir")).map(|shared| own.join(shared));
    Some(shared.unwrap_or(own))
}

fn first_line(file: &Path) -> Option<String> {
    let bytes = bytes(file, MAX_GLOB_BYTES as u64).ok()??;
    String::from_utf8(bytes).ok()?.lines().next().map(String::from)
}

/// The start of a regular file; `None` for others, because a pipe or device may have no end.
fn bytes(file: &Path, limit: u64) -> io::Result<Option<Vec<u8>>> {
    if !fs::metadata(file).is_ok_and(|found| found.is_file()) {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    File::open(file)?.take(limit).read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}

/// A message that something could not be read.
fn unread(error: &walkdir::Error) -> String {
    match (error.path(), error.io_error()) {
        (Some(path), Some(error)) => {
            let is_glob = error.kind() == io::ErrorKind::NotFound && shown(path).contains(['*', '?', '[', '{']);
            let advice = if is_glob { " (a path is a file or a folder, not a glob: name the folder)" } else { "" };
            format!("{}: cannot read: {error}{advice}", shown(path))
        }
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;
    use std::process::{Command, Stdio};

    /// A folder with files, each with its text.
    fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let file = folder.path().join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        }
        folder
    }

    /// The files that are walked under a root of a folder, and the messages.
    fn walked(folder: &Path, root: &str, walk: Walk) -> (BTreeSet<String>, Vec<String>) {
        let base = fs::canonicalize(folder).unwrap();
        let root = base.join(root);
        let (mut files, mut messages) = (BTreeSet::new(), Vec::new());
        walk.under(&root, &root, None, &mut |found| match found {
            Found::Entry(entry, place) if entry.file_type().is_file() => {
                files.insert(shown(place.strip_prefix(&base).unwrap()));
            }
            Found::Entry(..) | Found::LeftOut(..) => {}
            Found::Failed(message) | Found::Notice(message) => {
                messages.push(message.replace(&format!("{}/", shown(&base)), ""));
            }
        });
        (files, messages)
    }

    fn files(files: &[(&str, &str)], root: &str) -> Vec<String> {
        let folder = tree(files);
        let (files, messages) = walked(folder.path(), root, Walk::default());
        assert_eq!(messages, [""; 0]);
        files.into_iter().collect()
    }

    #[test]
    fn ignore_files_count_up_to_the_root_of_the_repository() {
        let above = [(".gitignore", "*.md"), (".ignore", "*.md"), ("r/docs/a.md", ""), ("r/docs/b.txt", "")];
        let with = |more: &[(&'static str, &'static str)]| [&above, more].concat();
        assert_eq!(files(&with(&[("r/.git/HEAD", "")]), "r/docs"), ["r/docs/a.md", "r/docs/b.txt"]);
        assert_eq!(files(&with(&[("r/.git/HEAD", ""), ("r/.gitignore", "/docs/a*")]), "r/docs"), ["r/docs/b.txt"]);
        // The test does not run in that folder.
        assert_eq!(files(&above, "r/docs"), ["r/docs/a.md", "r/docs/b.txt"]);
        assert_eq!(files(&above, ""), ["r/docs/b.txt"]);
        assert_eq!(files(&with(&[(".git/HEAD", "")]), "r/docs"), ["r/docs/b.txt"]);
        // A repository within another.
        assert_eq!(files(&with(&[(".git/HEAD", ""), ("r/.git/HEAD", "")]), ""), ["r/docs/a.md", "r/docs/b.txt"]);
    }

    #[test]
    fn info_exclude_counts() {
        let own = [("r/.git/info/exclude", "a.md"), ("r/a.md", ""), ("r/b.md", "")];
        assert_eq!(files(&own, "r"), ["r/b.md"]);
        let submodule =
            [("r/.git", "gitdir: ../git/r\n"), ("git/r/info/exclude", "a.md"), ("r/a.md", ""), ("r/b.md", "")];
        assert_eq!(files(&submodule, "r"), ["r/b.md"]);
        let tree = [
            ("r/.git", "gitdir: ../git/worktrees/r\n"),
            ("git/worktrees/r/commondir", "../..\n"),
            ("git/info/exclude", "b.md"),
            ("r/a.md", ""),
            ("r/b.md", ""),
        ];
        assert_eq!(files(&tree, "r"), ["r/a.md"]);
    }

    #[test]
    fn files_that_are_missing_are_left_out_too() {
        let names =
            [(".git/HEAD", ""), (".gitignore", "/docs/old/\n*.tmp.md\n"), ("docs/.gitignore", "!keep.tmp.md\n")];
        let folder = tree(&names);
        let base = fs::canonicalize(folder.path()).unwrap();
        let root = base.join("docs");
        let left = |walk: Walk| {
            let mut inside = Inside::new(walk, &root, &root, None);
            let paths = ["a.md", "a.tmp.md", "keep.tmp.md", "old/b.md", "old/c/keep.tmp.md", "x/.h/a.md", "x/y/a.md"];
            paths.into_iter().filter(|path| !inside.leaves_out(&root.join(path))).collect::<Vec<_>>()
        };
        assert_eq!(left(Walk::default()), ["a.md", "keep.tmp.md", "x/y/a.md"]);
        let hidden = Walk { hidden: true, ..Walk::default() };
        assert_eq!(left(hidden), ["a.md", "keep.tmp.md", "x/.h/a.md", "x/y/a.md"]);
        let all = ["a.md", "a.tmp.md", "keep.tmp.md", "old/b.md", "old/c/keep.tmp.md", "x/y/a.md"];
        assert_eq!(left(Walk { ignore_files: false, ..Walk::default() }), all);
    }

    #[test]
    fn braces_are_literal() {
        assert_eq!(
            files(&[(".gitignore", "{a,b}\n\\{c\\}"), ("a", ""), ("b", ""), ("{a,b}", ""), ("{c}", "")], ""),
            ["a", "b"]
        );
    }

    #[test]
    fn precedence_of_patterns() {
        let with = |more: &[(&'static str, &'static str)]| files(&[&[("d/a", ""), ("d/.h", "")], more].concat(), "");
        assert_eq!(with(&[]), ["d/a"]);
        assert_eq!(with(&[(".gitignore", "!.h")]), ["d/.h", "d/a"]);
        assert_eq!(with(&[(".gitignore", "a"), ("d/.gitignore", "!a")]), ["d/a"]);
        assert_eq!(with(&[("d/.gitignore", "a"), (".ignore", "!a")]), ["d/a"]);
        assert_eq!(with(&[(".gitignore", "!a\na")]), [""; 0]);
        assert_eq!(with(&[(".gitignore", "d"), ("d/.gitignore", "!a")]), [""; 0]);
        assert_eq!(with(&[(".gitignore", "\u{feff}a")]), [""; 0]);
        assert_eq!(with(&[(".gitignore/a", "")]), ["d/a"]);
    }

    #[test]
    fn ignore_files_are_read_within_limits() {
        let of = |text: &str| {
            let folder = tree(&[("a", ""), ("b/a", ""), ("b/.gitignore", text)]);
            let (files, messages) = walked(folder.path(), "", Walk::default());
            // Ignore files of other folders are not affected.
            assert!(files.contains("a"));
            (files.len(), messages)
        };
        let braces = |depth: usize| format!("# braces\na\n{}a{}", "{".repeat(depth), "}".repeat(depth));
        assert_eq!(of(&braces(20)), (1, vec![]));
        let deep = braces(100_000);
        assert_eq!(of(&deep), (2, vec!["b/.gitignore:3: a line of 200001 bytes: the file is not followed".into()]));
        assert_eq!(of(&braces(MAX_GLOB_BYTES / 2 - 1)), (1, vec![]));
        assert_eq!(of("a\n[z-a]\n{\n"), (1, vec![]));
        let long = "a\n".repeat(MAX_PATTERN_BYTES as usize / 2);
        assert_eq!(of(&long), (1, vec![]));
        let longer = "b/.gitignore: more than 256 KiB of patterns, together with those of the folders above: the file is not followed";
        assert_eq!(of(&(long + "a")), (2, vec![longer.into()]));
    }

    #[test]
    fn the_limit_is_shared_by_all_folders_above_a_file() {
        let half = format!("#{}\n", "a".repeat(4000)).repeat(35);
        let with = |name: &'static str, text: &str| (name, format!("{half}{text}"));
        let ignore_files = [with("b/.gitignore", "a"), with("b/c/.ignore", "x"), with("d/.gitignore", "a")];
        let names = ["b/a", "b/c/x", "b/c/y", "d/a", "d/b"].map(|name| (name, ""));
        let folder =
            tree(&ignore_files.iter().map(|(name, text)| (*name, text.as_str())).chain(names).collect::<Vec<_>>());
        let (files, messages) = walked(folder.path(), "", Walk::default());
        assert_eq!(files, ["b/c/x", "b/c/y", "d/b"].map(String::from).into());
        assert_eq!(messages.len(), 1);
        assert!(messages[0].starts_with("b/c/.ignore: "), "{messages:?}");
    }

    #[cfg(unix)]
    #[test]
    fn endless_ignore_files_are_not_read() {
        let folder = tree(&[("a", ""), ("b/a", "")]);
        std::os::unix::fs::symlink("/dev/zero", folder.path().join(".gitignore")).unwrap();
        std::os::unix::fs::symlink("/dev/zero", folder.path().join(".git")).unwrap();
        assert_eq!(walked(folder.path(), "", Walk::default()), (["a", "b/a"].map(String::from).into(), vec![]));
    }

    /// The untracked files according to git.
    fn unknown_to_git(folder: &Path) -> BTreeSet<String> {
        let list = ["ls-files", "--others", "--exclude-standard"];
        let out = Command::new("git").current_dir(folder).args(list).stderr(Stdio::inherit()).output().unwrap();
        assert!(out.status.success());
        String::from_utf8(out.stdout).unwrap().lines().map(String::from).collect()
    }

    const LINES: [&str; 16] = [
        "a",
        "b/",
        "/a",
        "!a",
        "!b",
        "*.md",
        "!x.md",
        "/b/a",
        "a/*",
        "!a/x.md",
        "**/b/*.md",
        "b/**",
        "#a",
        " ",
        "[ab]",
        "?.m*",
    ];

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn as_git_does(
            names in prop::collection::btree_set("([ab]/){0,2}[xy]\\.md", 1..12),
            ignore_files in prop::collection::vec(("([ab]/){0,1}", prop::collection::vec(prop::sample::select(&LINES), 1..4)), 0..4),
        ) {
            let ignore_files: Vec<(String, String)> =
                ignore_files.iter().map(|(folder, lines)| (format!("{folder}.gitignore"), lines.join("\n"))).collect();
            let all_names = names.clone();
            let names = names.iter().map(|name| (name.as_str(), ""));
            let all = ignore_files.iter().map(|(name, text)| (name.as_str(), text.as_str())).chain(names);
            let folder = tree(&all.chain([(".git/HEAD", "ref: refs/heads/main\n")]).collect::<Vec<_>>());
            for part in ["objects", "refs"] {
                fs::create_dir(folder.path().join(".git").join(part)).unwrap();
            }
            let mut expected = unknown_to_git(folder.path());
            expected.retain(|name| name.ends_with(".md"));
            prop_assert_eq!(&walked(folder.path(), "", Walk::default()).0, &expected);
            // The same without a walk.
            let base = fs::canonicalize(folder.path()).unwrap();
            let mut inside = Inside::new(Walk::default(), &base, &base, None);
            let is_left = |name: &&String| !inside.leaves_out(&base.join(name.as_str()));
            prop_assert_eq!(all_names.iter().filter(is_left).cloned().collect::<BTreeSet<_>>(), expected);
        }
    }
}
