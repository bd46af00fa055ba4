//! Globs as `.gitignore` has them, from a folder.

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use std::path::{Component, Path, PathBuf};

/// Patterns of paths. A name without a slash is found in any folder, and a folder stands for all that is in it.
pub struct Globs {
    base: PathBuf,
    patterns: Gitignore,
}

impl Globs {
    /// Patterns from a folder, whose path is absolute and without links.
    ///
    /// # Errors
    /// One of them is wrong: the error names it.
    pub fn new(base: &Path, patterns: &[String]) -> Result<Self, String> {
        let mut builder = GitignoreBuilder::new(base);
        for pattern in patterns {
            let (not, pattern) = pattern.strip_prefix('!').map_or(("", pattern.as_str()), |pattern| ("!", pattern));
            // Here, and not in every folder.
            let from_here = pattern.strip_prefix("./").map_or(pattern.to_string(), |rest| format!("/{rest}"));
            builder.add_line(None, &format!("{not}{from_here}")).map_err(|error| error.to_string())?;
        }
        let patterns = builder.build().map_err(|error| error.to_string())?;
        Ok(Globs { base: base.to_path_buf(), patterns })
    }

    /// Whether they find a file, whose path is absolute and without links. Of a file elsewhere the names of all folders count.
    pub fn find(&self, place: &Path) -> bool {
        let names = |path: &Path| path.components().filter(|part| matches!(part, Component::Normal(_))).collect();
        let inside: PathBuf = names(place.strip_prefix(&self.base).unwrap_or(place));
        self.patterns.matched_path_or_any_parents(inside, false).is_ignore()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finds(patterns: &[&str], place: &str) -> bool {
        let patterns: Vec<String> = patterns.iter().map(|pattern| pattern.to_string()).collect();
        Globs::new(Path::new("/home/docs"), &patterns).unwrap().find(Path::new(place))
    }

    #[test]
    fn as_in_gitignore() {
        for (patterns, place) in [
            (&["a.md"][..], "/home/docs/a.md"),
            (&["a.md"], "/home/docs/old/a.md"),
            (&["./a.md"], "/home/docs/a.md"),
            (&["old"], "/home/docs/old/more/a.md"),
            (&["old/"], "/home/docs/new/old/a.md"),
            (&["old/*.md"], "/home/docs/old/a.md"),
            (&["/old/**"], "/home/docs/old/more/a.md"),
            (&["*.md", "!b.md"], "/home/docs/a.md"),
            (&["*.md"], "/elsewhere/a.md"),
        ] {
            assert!(finds(patterns, place), "{patterns:?} {place}");
        }
        for (patterns, place) in [
            (&["old/*.md"][..], "/home/docs/new/old/a.md"),
            (&["/a.md"], "/home/docs/old/a.md"),
            (&["./a.md"], "/home/docs/old/a.md"),
            (&["*.md", "!./a.md"], "/home/docs/a.md"),
            (&["*.md", "!b.md"], "/home/docs/b.md"),
            (&["docs"], "/home/docs/a.md"),
            (&["a.md/"], "/home/docs/a.md"),
            (&[], "/home/docs/a.md"),
        ] {
            assert!(!finds(patterns, place), "{patterns:?} {place}");
        }
    }

    #[test]
    fn a_wrong_one_is_named() {
        let error = Globs::new(Path::new("/"), &["a".into(), "b{".into()]).err().unwrap();
        assert!(error.contains("b{"), "{error}");
    }
}
