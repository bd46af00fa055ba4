//! Globs that select files.

use crate::error::Error;
use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use std::fmt;
use std::path::Path;

/// The maximum length of a glob in bytes, and of all together.
const MAX_GLOB_BYTES: usize = 4096;
const MAX_BYTES: usize = 64 << 10;

/// Globs, of which a path matches any.
///
/// A glob without a slash matches names: `*.md` and `node_modules`. One with a slash matches the end of a path, from any
/// folder on: `docs/*.md`; with a slash at its beginning, all of an absolute path. A folder that matches stands for all
/// that is in it. `*` and `?` do not match a slash, `**` does; `[a-z]` and `{md,txt}` are sets.
#[derive(Clone, Default)]
pub struct Globs {
    typed: Vec<String>,
    names: GlobSet,
    paths: GlobSet,
}

impl Globs {
    /// Compiles globs. `parameter` names them in the error.
    ///
    /// # Errors
    /// One is not a valid glob, or they are too long.
    pub fn new(parameter: &'static str, globs: &[String]) -> Result<Self, Error> {
        let (mut names, mut paths) = (GlobSetBuilder::new(), GlobSetBuilder::new());
        let allowed = "a glob such as '*.md', 'docs/**' or 'node_modules'";
        if globs.iter().map(String::len).sum::<usize>() > MAX_BYTES {
            return Err(Error::Usage(format!("the globs of `{parameter}` are longer than {MAX_BYTES} bytes together")));
        }
        for glob in globs {
            let trimmed = glob.strip_suffix('/').unwrap_or(glob);
            if trimmed.is_empty() || glob.len() > MAX_GLOB_BYTES {
                return Err(Error::parameter(parameter, glob, allowed));
            }
            let set = if trimmed.contains('/') { &mut paths } else { &mut names };
            let rooted = if trimmed.starts_with('/') { trimmed.to_string() } else { format!("**/{trimmed}") };
            for glob in [rooted.clone(), rooted + "/**"] {
                let built = GlobBuilder::new(&glob).literal_separator(true).backslash_escape(true).build();
                set.add(
                    built.map_err(|error| {
                        Error::parameter(parameter, trimmed, format!("{allowed}: {}", error.kind()))
                    })?,
                );
            }
        }
        let build = |set: GlobSetBuilder| set.build().map_err(|error| Error::Usage(format!("`{parameter}`: {error}")));
        Ok(Globs { typed: globs.to_vec(), names: build(names)?, paths: build(paths)? })
    }

    /// As typed.
    pub fn typed(&self) -> &[String] {
        &self.typed
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.typed.is_empty()
    }

    /// Whether a path matches any.
    pub fn matches(&self, path: impl AsRef<Path>) -> bool {
        let path = path.as_ref();
        self.matches_below(path, path)
    }

    /// As [`matches`](Self::matches), for a path found in a folder: globs without a slash match only the names in the part
    /// below the folder.
    pub(super) fn matches_below(&self, path: &Path, below: &Path) -> bool {
        self.names.is_match(below) || self.paths.is_match(path.strip_prefix(".").unwrap_or(path))
    }
}

impl fmt::Debug for Globs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Globs").field(&self.typed).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_matches() {
        let rows: &[(&str, &[&str], &[&str])] = &[
            ("*.md", &["a.md", "./a.md", "x/y/a.md", "/x/a.md", "a.md/inside"], &["a.mdx", "md"]),
            ("drafts", &["drafts", "drafts/a", "x/drafts/y/a.txt"], &["drafts.txt", "my-drafts/a"]),
            ("drafts/", &["drafts/a", "x/drafts/y/a.txt"], &["drafts.txt"]),
            ("docs/*.md", &["docs/a.md", "x/docs/a.md", "/x/docs/a.md"], &["docs/x/a.md", "mydocs/a.md"]),
            ("docs/**/*.md", &["docs/a.md", "docs/x/y/a.md"], &["docs/a.txt"]),
            ("/data/*.gz", &["/data/a.gz"], &["data/a.gz", "/x/data/a.gz"]),
            ("part-{0,1}?.gz", &["part-01.gz", "s/part-15.gz"], &["part-20.gz"]),
            ("[ab].txt", &["a.txt", "x/b.txt"], &["c.txt"]),
            (r"\*.md", &["*.md"], &["a.md"]),
        ];
        for (glob, matching, others) in rows {
            let globs = Globs::new("include", &[glob.to_string()]).unwrap();
            for (paths, expected) in [(matching, true), (others, false)] {
                paths.iter().for_each(|path| assert_eq!(globs.matches(path), expected, "{glob} {path}"));
            }
        }
        assert!(!Globs::default().matches("a"));
        let two = Globs::new("include", &["*.md".into(), "*.txt".into()]).unwrap();
        assert!(two.matches("a.txt") && two.matches("a.md") && !two.matches("a.c"));
    }

    #[test]
    fn what_is_no_glob() {
        for glob in ["", "/", "[a", "{a", "a{b,c", &"x".repeat(5000)] {
            let error = Globs::new("prefer", &[glob.into()]).unwrap_err().to_string();
            assert!(error.contains("`prefer`") && error.contains("*.md"), "{error}");
        }
    }
}
