//! Ways from one place to another.

use std::path::{Component, Path, PathBuf};

/// The way from one folder to another, or to a file. Both are absolute and without links.
pub fn way(from: &Path, to: &Path) -> PathBuf {
    let shared = from.components().zip(to.components()).take_while(|(from, to)| from == to).count();
    let up = from.components().skip(shared).map(|_| Component::ParentDir);
    up.chain(to.components().skip(shared)).collect()
}

/// A path behind a way without links, without detours: from a folder, where it leads to.
pub fn behind(way: &Path, path: &Path) -> PathBuf {
    let mut way = way.to_path_buf();
    let mut rest = path.components().filter(|part| *part != Component::CurDir).peekable();
    while rest.next_if_eq(&Component::ParentDir).is_some() {
        match way.components().next_back() {
            Some(Component::Normal(_)) => _ = way.pop(),
            _ => way.push(".."),
        }
    }
    // Whatever comes behind a name stays, since that may be a link.
    way.extend(rest);
    if way.as_os_str().is_empty() { PathBuf::from(".") } else { way }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_between_folders() {
        for (from, to, expected) in [
            ("/a/b", "/a/b", ""),
            ("/a", "/a/b/c", "b/c"),
            ("/a/b", "/a", ".."),
            ("/a/b/c", "/a/d", "../../d"),
            ("/a/b", "/x/y.md", "../../x/y.md"),
        ] {
            assert_eq!(way(Path::new(from), Path::new(to)), Path::new(expected), "{from} {to}");
        }
    }

    #[test]
    fn paths_behind_a_way() {
        for (way, path, expected) in [
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
            assert_eq!(behind(Path::new(way), Path::new(path)).to_str(), Some(expected), "{way} {path}");
        }
    }
}
