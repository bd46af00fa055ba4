//! Globs as `.gitignore` has them, from a folder.

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use std::path::{Component, Path, PathBuf};

/// No path is longer, and the braces of a pattern that is not do not go too deep.
pub const LONGEST: usize = 4096;

/// Patterns of paths. A name without a slash is found in any folder, and a folder stands for all that is in it.
pub struct Globs {
    base: PathBuf,
    /// As they were typed.
    typed: Vec<String>,
    patterns: Gitignore,
}

impl Globs {
    /// Patterns from a folder, whose path is absolute and without links.
    ///
    /// # Errors
    /// One of them is wrong: the error names it.
    pub fn new(base: &Path, patterns: &[String]) -> Result<Self, String> {
        let mut builder = builder(base);
        for pattern in patterns {
            check(pattern).and_then(|()| add(&mut builder, pattern)).map_err(|why| format!("'{pattern}': {why}"))?;
        }
        let built = builder.build().map_err(|error| error.to_string())?;
        Ok(Globs { base: base.to_path_buf(), typed: patterns.to_vec(), patterns: built })
    }

    /// Whether they find a file, whose path is absolute and without links. Of a file elsewhere the names of all folders count.
    pub fn find(&self, place: &Path) -> bool {
        self.patterns.matched_path_or_any_parents(self.inside(place), false).is_ignore()
    }

    /// Those that find none of some places, as they were typed; of each is said whether it is a folder. One that takes files back
    /// finds these.
    ///
    /// Cost: each pattern is tried on the places up to the first that it finds.
    pub fn find_nothing(&self, places: &[(&Path, bool)]) -> Vec<&str> {
        if self.typed.is_empty() {
            return Vec::new();
        }
        let inside: Vec<(PathBuf, bool)> =
            places.iter().map(|(place, is_folder)| (self.inside(place), *is_folder)).collect();
        let finds = |pattern: &&String| {
            let alone = Globs::new(&self.base, &[pattern.to_string()]).ok();
            alone.is_some_and(|alone| {
                let finds = |(place, is_folder): &(PathBuf, bool)| {
                    !alone.patterns.matched_path_or_any_parents(place, *is_folder).is_none()
                };
                inside.iter().any(finds)
            })
        };
        self.typed.iter().filter(|pattern| !finds(pattern)).map(String::as_str).collect()
    }

    /// A path from the folder.
    fn inside(&self, place: &Path) -> PathBuf {
        let names = place.strip_prefix(&self.base).unwrap_or(place).components();
        names.filter(|part| matches!(part, Component::Normal(_))).collect()
    }
}

/// Whether a pattern is one.
///
/// # Errors
/// Why not.
pub fn check(pattern: &str) -> Result<(), String> {
    if pattern.len() > LONGEST {
        return Err(format!("expected a glob of at most {LONGEST} bytes"));
    }
    let mut builder = builder(Path::new("."));
    add(&mut builder, pattern)?;
    builder.build().map(drop).map_err(|error| format!("no glob: {error}"))
}

fn builder(base: &Path) -> GitignoreBuilder {
    let mut builder = GitignoreBuilder::new(base);
    // Git takes a bracket that nothing closes for itself; here it is a slip.
    builder.allow_unclosed_class(false);
    builder
}

fn add(builder: &mut GitignoreBuilder, pattern: &str) -> Result<(), String> {
    let (not, name) = pattern.strip_prefix('!').map_or(("", pattern), |pattern| ("!", pattern));
    // In a file of patterns these would be lines that say nothing.
    if name.trim().is_empty() {
        return Err("expected a glob, such as old/ or *.txt".into());
    }
    if pattern.starts_with('#') {
        return Err("a glob that starts with # is a remark; \\# stands for the character".into());
    }
    // Here, and not in every folder.
    let from_here = name.strip_prefix("./").map_or(name.to_string(), |rest| format!("/{rest}"));
    match builder.add_line(None, &format!("{not}{from_here}")) {
        Ok(_) => Ok(()),
        Err(ignore::Error::Glob { err, .. }) => Err(format!("no glob: {err}")),
        Err(error) => Err(format!("no glob: {error}")),
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
        for pattern in ["b{", "[", "[z-a]", "", " ", "!", "! ", "#", "#a", "a\\"] {
            let error = Globs::new(Path::new("/"), &["a".into(), pattern.into()]).err().unwrap();
            assert!(error.starts_with(&format!("'{pattern}': ")), "{error}");
            assert!(check(pattern).is_err(), "{pattern}");
        }
        for depth in [LONGEST / 2 - 1, LONGEST] {
            assert!(check(&["{".repeat(depth), "}".repeat(depth)].join("a")).is_err(), "{depth}");
        }
        for pattern in ["\\#", "!a", "a b", "{a,b}", "**"] {
            assert_eq!(check(pattern), Ok(()), "{pattern}");
        }
    }

    #[test]
    fn those_that_find_nothing() {
        let typed = ["old/a.md", "old/", "!old/b.md", "!c.md", "*.rst", "./a.md", "build/", "c/"].map(String::from);
        let globs = Globs::new(Path::new("/home/docs"), &typed).unwrap();
        let places = [("old/a.md", false), ("old/b.md", false), ("build", true), ("c", false)]
            .map(|(name, is_folder)| (Path::new("/home/docs").join(name), is_folder));
        let places = places.each_ref().map(|(place, is_folder)| (place.as_path(), *is_folder));
        assert_eq!(globs.find_nothing(&places), ["!c.md", "*.rst", "./a.md", "c/"]);
        assert_eq!(globs.find_nothing(&[]), typed);
    }
}
