//! Paths: relative to each other, as shown in messages, and the repositories that they are in.

use crate::replace::resolve;
use crate::source::display_path;
use std::path::{Component, Path, PathBuf};
use std::{env, fs};

/// A path as shown in messages: with `/`, and without a leading `./`.
pub fn shown(path: &Path) -> String {
    let shown = display_path(path);
    shown.strip_prefix("./").map(String::from).unwrap_or(shown)
}

/// The canonical path of a file that may not exist yet: absolute and without links, as far as that can be found out.
pub fn place(path: &Path) -> PathBuf {
    resolve(path).unwrap_or_else(|_| path.to_path_buf())
}

/// The nearest folder from the current one upward that has a `.git`, without links.
pub fn current_repository() -> Option<PathBuf> {
    repository_of(&fs::canonicalize(env::current_dir().ok()?).ok()?)
}

/// The nearest folder from a path upward that has a `.git`. The path is without links, and so is the folder.
pub fn repository_of(place: &Path) -> Option<PathBuf> {
    place.ancestors().find(|folder| folder.join(".git").exists()).map(Path::to_path_buf)
}

/// The relative path from one folder to another, or to a file. Both are absolute and without links.
pub fn relative(from: &Path, to: &Path) -> PathBuf {
    let shared = from.components().zip(to.components()).take_while(|(from, to)| from == to).count();
    let up = from.components().skip(shared).map(|_| Component::ParentDir);
    up.chain(to.components().skip(shared)).collect()
}

/// A path joined to a folder, with leading `..` resolved. The path to the folder has no links.
pub fn joined(folder: &Path, path: &Path) -> PathBuf {
    let mut joined = folder.to_path_buf();
    let mut rest = path.components().filter(|part| *part != Component::CurDir).peekable();
    while rest.next_if_eq(&Component::ParentDir).is_some() {
        match joined.components().next_back() {
            Some(Component::Normal(_)) => _ = joined.pop(),
            _ => joined.push(".."),
        }
    }
    // A `..` after a name stays, because the name may be a link.
    joined.extend(rest);
    if joined.as_os_str().is_empty() { PathBuf::from(".") } else { joined }
}

/// The shortest form of a relative path that leads out of the current folder, whose absolute path without links is given: without the way
/// back into folders that it left. Any other path stays.
pub fn shortest(here: &Path, path: &Path) -> PathBuf {
    if path.components().find(|part| *part != Component::CurDir) != Some(Component::ParentDir) {
        return path.to_path_buf();
    }
    let short = relative(here, &joined(here, path));
    if short.as_os_str().is_empty() { PathBuf::from(".") } else { short }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_paths() {
        for (from, to, expected) in [
            ("/a/b", "/a/b", ""),
            ("/a", "/a/b/c", "b/c"),
            ("/a/b", "/a", ".."),
            ("/a/b/c", "/a/d", "../../d"),
            ("/a/b", "/x/y.md", "../../x/y.md"),
        ] {
            assert_eq!(relative(Path::new(from), Path::new(to)), Path::new(expected), "{from} {to}");
        }
    }

    #[test]
    fn shortest_paths() {
        for (path, expected) in [
            ("../../docs/en/a.md", "../en/a.md"),
            ("../../docs/zh/a.md", "a.md"),
            ("../../docs/zh", "."),
            ("./../a.md", "../a.md"),
            ("../../../a.md", "../../../a.md"),
            ("../../docs/x/../zh/a.md", "../x/../zh/a.md"),
            ("b/../a.md", "b/../a.md"),
            ("/r/docs/a.md", "/r/docs/a.md"),
        ] {
            assert_eq!(shortest(Path::new("/r/docs/zh"), Path::new(path)).to_str(), Some(expected), "{path}");
        }
    }

    #[test]
    fn joined_paths() {
        for (folder, path, expected) in [
            ("", ".", "."),
            ("", "a", "a"),
            ("docs/deep", "../../docs", "docs"),
            ("docs/deep", "../..", "."),
            ("docs", "../../a", "../a"),
            ("docs", ".", "docs"),
            ("../x", "../a", "../a"),
            ("..", "../a", "../../a"),
            ("docs", "./a/../b", "docs/a/../b"),
            ("docs", "/a", "/a"),
            ("/a/b", "../c.md", "/a/c.md"),
        ] {
            assert_eq!(joined(Path::new(folder), Path::new(path)).to_str(), Some(expected), "{folder} {path}");
        }
    }
}
