//! Folders, walked without what `.gitignore` and its like leave out.
//!
//! The rules are git's: of the files that match a path the nearest counts, and the last line of it. Only files up to the root
//! of a repository count; where there is none, those up to the current folder. Such files are part of a contribution too, so they
//! are read within bounds here, and only their patterns are left to the `ignore` crate.

use super::globs::LONGEST;
use super::paths::shown;
use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder, gitconfig_excludes_path};
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use walkdir::{DirEntry, WalkDir};

/// The most bytes of patterns that are followed for a file: compiled, they are two hundred times as large.
const MAX_PATTERNS: u64 = 256 << 10;

/// What a walk comes upon.
pub(super) enum Found {
    /// Whatever is there, with its place: absolute, without links.
    Entry(DirEntry, PathBuf),
    /// A place that is left out, and whether it is a folder.
    LeftOut(PathBuf, bool),
    /// What could not be read, and why.
    Failed(String),
    /// A file of patterns that is not followed, and why.
    Notice(String),
}

/// How folders are walked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Walk {
    /// Whether hidden files are walked too.
    pub hidden: bool,
    /// Whether `.gitignore` and its like count.
    pub ignore_files: bool,
}

/// Without hidden files, and without what is ignored.
impl Default for Walk {
    fn default() -> Self {
        Walk { hidden: false, ignore_files: true }
    }
}

impl Walk {
    /// Walks what a path leads to, in the order of names. Links are not followed, except from the path itself, which is never left out.
    ///
    /// Cost: each file is matched with the patterns of all folders that it is in.
    pub(super) fn under(self, root: &Path, place: &Path, each: &mut dyn FnMut(Found)) {
        let mut folders = Vec::new();
        if self.ignore_files && place.is_dir() {
            above(place).into_iter().for_each(|above| Folder::push(&mut folders, above, above, each));
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
            if !is_root && self.leaves_out(&folders, &entry, &place, is_folder) {
                if is_folder {
                    entries.skip_current_dir();
                }
                each(Found::LeftOut(place, is_folder));
                continue;
            }
            if self.ignore_files && is_folder {
                Folder::push(&mut folders, &place, entry.path(), each);
            }
            each(Found::Entry(entry, place));
        }
    }

    /// A hidden file that some pattern takes back is walked.
    fn leaves_out(self, folders: &[Folder], entry: &DirEntry, place: &Path, is_folder: bool) -> bool {
        match said(folders, place, is_folder) {
            Match::None => !self.hidden && entry.file_name().as_encoded_bytes().starts_with(b"."),
            said => said.is_ignore(),
        }
    }
}

/// The folders above one of which the files of patterns count, the outermost first.
fn above(place: &Path) -> Vec<&Path> {
    let here = std::env::current_dir().and_then(fs::canonicalize).ok();
    let repository = place.ancestors().find(|folder| folder.join(".git").exists());
    let top = repository.or(place.ancestors().find(|folder| Some(*folder) == here.as_deref())).unwrap_or(place);
    let mut above: Vec<_> = place.ancestors().skip(1).take_while(|folder| folder.starts_with(top)).collect();
    above.reverse();
    above
}

/// What the files of patterns of a folder say.
struct Folder {
    /// Those of `.ignore`, of `.gitignore`, and at the top those of the repository and of the user. The earlier ones count more.
    patterns: [Gitignore; 4],
    /// Whether what is above does not count: this is the root of a repository.
    is_repository: bool,
    /// So many bytes of patterns folders in it may have.
    room: u64,
}

impl Folder {
    /// Adds a folder at a place to those that it is in; and the path that it was given by.
    fn push(folders: &mut Vec<Self>, place: &Path, given: &Path, each: &mut dyn FnMut(Found)) {
        let is_repository = place.join(".git").exists();
        let mut room = folders.last().map_or(MAX_PATTERNS, |folder| folder.room);
        let exclude = is_repository.then(|| git_folder(place)).flatten().map(|git| git.join("info/exclude"));
        let users = (is_repository || folders.is_empty()).then(gitconfig_excludes_path).flatten();
        let files = [Some(given.join(".ignore")), Some(given.join(".gitignore")), exclude, users];
        let patterns = files.map(|file| {
            let Some(file) = file else { return Gitignore::empty() };
            patterns(place, &file, &mut room).unwrap_or_else(|why| {
                each(Found::Notice(format!("{}{why}: the file is not followed", shown(&file))));
                Gitignore::empty()
            })
        });
        folders.push(Folder { patterns, is_repository, room });
    }
}

/// What folders, the outermost first, say of a place.
fn said(folders: &[Folder], place: &Path, is_folder: bool) -> Match<()> {
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

/// The patterns of a file, from a folder. What is not a pattern matches nothing, as git has it; a file that does not exist has none.
///
/// # Errors
/// Why the file is not followed, to be put after its name.
fn patterns(folder: &Path, file: &Path, room: &mut u64) -> Result<Gitignore, String> {
    let bytes = bytes(file, *room + 1).map_err(|error| format!(": cannot read: {error}"))?.unwrap_or_default();
    let Some(left) = room.checked_sub(bytes.len() as u64) else {
        return Err(format!(": with those of the folders above more than {} KiB of patterns", MAX_PATTERNS >> 10));
    };
    let text = String::from_utf8_lossy(&bytes);
    let mut builder = GitignoreBuilder::new(folder);
    for (number, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
        if line.len() > LONGEST {
            return Err(format!(":{}: a line of {} bytes", number + 1, line.len()));
        }
        _ = builder.add_line(None, &without_braces(line));
    }
    let patterns = builder.build().map_err(|error| format!(": too many patterns, or too long ones: {error}"))?;
    *room = left;
    Ok(patterns)
}

/// A pattern in which braces stand for themselves, as they do for git.
fn without_braces(line: &str) -> String {
    let mut escaped = false;
    let of = |c: char| {
        let is_brace = matches!(c, '{' | '}') && !escaped;
        escaped = c == '\\' && !escaped;
        is_brace.then_some('\\').into_iter().chain([c])
    };
    line.chars().flat_map(of).collect()
}

/// The folder that all work trees of a repository share, which `.git` is or leads to.
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
    let bytes = bytes(file, LONGEST as u64).ok()??;
    String::from_utf8(bytes).ok()?.lines().next().map(String::from)
}

/// The start of a regular file, if it is one: a pipe or device may have no end.
fn bytes(file: &Path, most: u64) -> io::Result<Option<Vec<u8>>> {
    if !fs::metadata(file).is_ok_and(|found| found.is_file()) {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    File::open(file)?.take(most).read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}

/// What could not be read, and why.
fn unread(error: &walkdir::Error) -> String {
    match (error.path(), error.io_error()) {
        (Some(path), Some(error)) => format!("{}: cannot read: {error}", shown(path)),
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
        walk.under(&root, &root, &mut |found| match found {
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
    fn files_of_patterns_count_up_to_the_root_of_the_repository() {
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
    fn what_a_repository_keeps_for_itself() {
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
    fn braces_stand_for_themselves() {
        assert_eq!(
            files(&[(".gitignore", "{a,b}\n\\{c\\}"), ("a", ""), ("b", ""), ("{a,b}", ""), ("{c}", "")], ""),
            ["a", "b"]
        );
    }

    #[test]
    fn which_patterns_count_more() {
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
    fn files_of_patterns_are_read_within_bounds() {
        let of = |text: &str| {
            let folder = tree(&[("a", ""), ("b/a", ""), ("b/.gitignore", text)]);
            let (files, messages) = walked(folder.path(), "", Walk::default());
            // No other folder's files of patterns are touched.
            assert!(files.contains("a"));
            (files.len(), messages)
        };
        let braces = |depth: usize| format!("# braces\na\n{}a{}", "{".repeat(depth), "}".repeat(depth));
        assert_eq!(of(&braces(20)), (1, vec![]));
        let deep = braces(100_000);
        assert_eq!(of(&deep), (2, vec!["b/.gitignore:3: a line of 200001 bytes: the file is not followed".into()]));
        assert_eq!(of(&braces(LONGEST / 2 - 1)), (1, vec![]));
        assert_eq!(of("a\n[z-a]\n{\n"), (1, vec![]));
        let long = "a\n".repeat(MAX_PATTERNS as usize / 2);
        assert_eq!(of(&long), (1, vec![]));
        let longer =
            "b/.gitignore: with those of the folders above more than 256 KiB of patterns: the file is not followed";
        assert_eq!(of(&(long + "a")), (2, vec![longer.into()]));
    }

    #[test]
    fn the_bound_is_for_all_folders_that_a_file_is_in() {
        let half = format!("#{}\n", "a".repeat(4000)).repeat(35);
        let with = |name: &'static str, text: &str| (name, format!("{half}{text}"));
        let said = [with("b/.gitignore", "a"), with("b/c/.ignore", "x"), with("d/.gitignore", "a")];
        let names = ["b/a", "b/c/x", "b/c/y", "d/a", "d/b"].map(|name| (name, ""));
        let folder = tree(&said.iter().map(|(name, text)| (*name, text.as_str())).chain(names).collect::<Vec<_>>());
        let (files, messages) = walked(folder.path(), "", Walk::default());
        assert_eq!(files, ["b/c/x", "b/c/y", "d/b"].map(String::from).into());
        assert_eq!(messages.len(), 1);
        assert!(messages[0].starts_with("b/c/.ignore: "), "{messages:?}");
    }

    #[cfg(unix)]
    #[test]
    fn what_has_no_end_is_not_read() {
        let folder = tree(&[("a", ""), ("b/a", "")]);
        std::os::unix::fs::symlink("/dev/zero", folder.path().join(".gitignore")).unwrap();
        std::os::unix::fs::symlink("/dev/zero", folder.path().join(".git")).unwrap();
        assert_eq!(walked(folder.path(), "", Walk::default()), (["a", "b/a"].map(String::from).into(), vec![]));
    }

    /// The files that git would ask about.
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
            said in prop::collection::vec(("([ab]/){0,1}", prop::collection::vec(prop::sample::select(&LINES), 1..4)), 0..4),
        ) {
            let said: Vec<(String, String)> =
                said.iter().map(|(folder, lines)| (format!("{folder}.gitignore"), lines.join("\n"))).collect();
            let names = names.iter().map(|name| (name.as_str(), ""));
            let all = said.iter().map(|(name, text)| (name.as_str(), text.as_str())).chain(names);
            let folder = tree(&all.chain([(".git/HEAD", "ref: refs/heads/main\n")]).collect::<Vec<_>>());
            for part in ["objects", "refs"] {
                fs::create_dir(folder.path().join(".git").join(part)).unwrap();
            }
            let mut expected = unknown_to_git(folder.path());
            expected.retain(|name| name.ends_with(".md"));
            prop_assert_eq!(walked(folder.path(), "", Walk::default()).0, expected);
        }
    }
}
