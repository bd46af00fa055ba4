//! Globs with the syntax of `.gitignore`, relative to a folder.

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder, Glob};
use std::collections::BTreeSet;
use std::fmt;
use std::path::{Component, Path, PathBuf};

/// Maximum length of a glob in bytes: no path is longer, and braces within this length do not nest too deep for the parser.
pub const MAX_GLOB_BYTES: usize = 4096;

/// Maximum number of globs in a configuration or on a command line.
pub const MAX_GLOBS: usize = 4096;

/// Maximum size of all of them in bytes. Compiled, they are about two hundred times as large.
pub const MAX_BYTES: usize = 256 << 10;

/// Maximum size in bytes of patterns that are compiled together: the compiler of regular expressions has a limit of its own.
const COMPILED_BYTES: usize = 16 << 10;

/// How many patterns, or lists of patterns, are tried together before each is tried alone.
const CHUNK: usize = 64;

/// Number and size of the globs counted so far.
#[derive(Clone, Copy, Debug, Default)]
pub struct Count {
    globs: usize,
    bytes: usize,
}

impl Count {
    /// Counts one more glob.
    ///
    /// # Errors
    /// A limit is exceeded.
    pub fn add(&mut self, glob: &str) -> Result<(), String> {
        (self.globs, self.bytes) = (self.globs + 1, self.bytes + glob.len());
        match self.fits() {
            true => Ok(()),
            false => Err(format!(
                "too many globs: at most {MAX_GLOBS} in all, and {} KiB; name folders instead of files, or use wider globs such as \
                 old/*.md",
                MAX_BYTES >> 10
            )),
        }
    }

    /// Whether no limit is exceeded.
    pub fn fits(self) -> bool {
        self.globs <= MAX_GLOBS && self.bytes <= MAX_BYTES
    }
}

/// Patterns of paths. A name without a slash matches in any folder, and a folder matches everything in it.
pub struct Globs {
    base: PathBuf,
    /// As typed.
    typed: Vec<String>,
    patterns: Vec<Gitignore>,
}

impl Globs {
    /// Compiles patterns relative to a folder, given as an absolute path without links.
    ///
    /// # Errors
    /// A pattern is invalid: the error names it.
    pub fn new(base: &Path, patterns: &[String]) -> Result<Self, String> {
        Self::in_parts(base, patterns, COMPILED_BYTES)
    }

    /// [`new`](Self::new) with at most about `max_bytes` of patterns compiled together. The result does not depend on it.
    fn in_parts(base: &Path, patterns: &[String], max_bytes: usize) -> Result<Self, String> {
        let (mut all, mut count) = (Vec::new(), Count::default());
        let (mut part, mut bytes) = (builder(base), 0);
        for pattern in patterns {
            count.add(pattern)?;
            check(pattern).and_then(|()| add(&mut part, pattern)).map_err(|why| format!("'{pattern}': {why}"))?;
            bytes += pattern.len();
            if bytes >= max_bytes {
                all.push(std::mem::replace(&mut part, builder(base)));
                bytes = 0;
            }
        }
        all.push(part);
        let built = all.iter().map(|part| part.build().map_err(|error| error.to_string()));
        Ok(Globs { base: base.to_path_buf(), typed: patterns.to_vec(), patterns: built.collect::<Result<_, _>>()? })
    }

    /// Whether they match a file, given as an absolute path without links. Of a file outside of the folder, the names of all its
    /// folders count.
    pub fn find(&self, place: &Path) -> bool {
        self.matched(&self.inside(place), false).is_ignore()
    }

    /// The result of the last pattern that matches the path, or else the nearest folder above it that a pattern matches.
    fn matched(&self, inside: &Path, is_folder: bool) -> Match<()> {
        self.decisive(inside, is_folder).map(drop)
    }

    /// The pattern that decides.
    fn decisive(&self, inside: &Path, is_folder: bool) -> Match<&Glob> {
        let of = |(above, path): (usize, &Path)| {
            let parts = self.patterns.iter().rev();
            parts.map(|part| part.matched(path, is_folder || above > 0)).find(|found| !found.is_none())
        };
        inside.ancestors().enumerate().find_map(of).unwrap_or(Match::None)
    }

    /// The patterns, as typed, that match none of these paths. The flag of a path says whether it is a folder. A negated pattern
    /// matches the files that it re-includes.
    ///
    /// Cost: a chunk of patterns is tried on all paths at once; then each pattern on the paths that the chunk matches, up to the first
    /// match.
    pub fn unmatched(&self, places: &[(&Path, bool)]) -> Vec<&str> {
        let inside: Vec<(PathBuf, bool)> =
            places.iter().map(|(place, is_folder)| (self.inside(place), *is_folder)).collect();
        let of_some = |patterns: &[String]| {
            let found = Globs::new(&self.base, patterns).ok();
            move |place: &&(PathBuf, bool)| {
                found.as_ref().is_some_and(|globs| !globs.matched(&place.0, place.1).is_none())
            }
        };
        let mut nothing = Vec::new();
        for patterns in self.typed.chunks(CHUNK) {
            let near: Vec<&(PathBuf, bool)> = inside.iter().filter(of_some(patterns)).collect();
            let finds = |pattern: &&String| near.iter().any(of_some(std::slice::from_ref(*pattern)));
            nothing.extend(patterns.iter().filter(|pattern| !finds(pattern)).map(String::as_str));
        }
        nothing
    }

    /// The negated patterns, as typed, that decide for none of these paths of files that the others would match.
    ///
    /// Cost: each path is tried on all patterns twice, if there are negated ones.
    pub fn idle_negations(&self, places: &[&Path]) -> Vec<&str> {
        let (negated, others): (Vec<&String>, Vec<&String>) =
            self.typed.iter().partition(|pattern| pattern.starts_with('!'));
        let others: Vec<String> = others.into_iter().cloned().collect();
        let Some(others) = Globs::new(&self.base, &others).ok().filter(|_| !negated.is_empty()) else {
            return Vec::new();
        };
        let used: BTreeSet<String> = places
            .iter()
            .filter(|place| others.find(place))
            .filter_map(|place| Some(self.decisive(&self.inside(place), false).inner()?.original().to_string()))
            .collect();
        negated.into_iter().filter(|pattern| !used.contains(&line_of(pattern))).map(String::as_str).collect()
    }

    /// A path relative to the folder.
    fn inside(&self, place: &Path) -> PathBuf {
        let names = place.strip_prefix(&self.base).unwrap_or(place).components();
        names.filter(|part| matches!(part, Component::Normal(_))).collect()
    }
}

/// Lists of patterns.
pub struct Lists {
    lists: Vec<Globs>,
    /// For each chunk of lists, all their patterns except negated ones: a superset of what each list matches.
    together: Vec<Globs>,
}

impl Lists {
    /// Compiles lists of patterns relative to a folder, given as an absolute path without links.
    ///
    /// # Errors
    /// A pattern is invalid: the error names it.
    pub fn new(base: &Path, lists: &[&[String]]) -> Result<Self, String> {
        let finding = |lists: &[&[String]]| {
            let patterns = lists.iter().copied().flatten().filter(|pattern| !pattern.starts_with('!'));
            Globs::new(base, &patterns.cloned().collect::<Vec<_>>())
        };
        Ok(Lists {
            lists: lists.iter().map(|list| Globs::new(base, list)).collect::<Result<_, _>>()?,
            together: lists.chunks(CHUNK).map(finding).collect::<Result<_, _>>()?,
        })
    }

    /// The indices of the lists that match a file, given as an absolute path without links; ascending.
    ///
    /// Cost: the lists of a chunk are tried one by one only if one of them may match.
    pub fn find(&self, place: &Path) -> Vec<usize> {
        let some = self.lists.chunks(CHUNK).zip(&self.together).enumerate().filter(|(_, (_, all))| all.find(place));
        some.flat_map(|(part, (lists, _))| {
            let found = lists.iter().enumerate().filter(|(_, list)| list.find(place));
            found.map(move |(number, _)| CHUNK * part + number)
        })
        .collect()
    }
}

/// Checks a pattern.
///
/// # Errors
/// The pattern is invalid: the error says why.
pub fn check(pattern: &str) -> Result<(), String> {
    if pattern.len() > MAX_GLOB_BYTES {
        return Err(format!("expected a glob of at most {MAX_GLOB_BYTES} bytes"));
    }
    let mut builder = builder(Path::new("."));
    add(&mut builder, pattern)?;
    builder.build().map(drop).map_err(|error| invalid(&error))
}

/// That a glob is invalid, why, and where its syntax is explained.
fn invalid(why: &dyn fmt::Display) -> String {
    format!(
        "invalid glob: {why}; globs have the syntax of .gitignore, see \"Globs\" in the chapter 'checking' of the guide"
    )
}

fn builder(base: &Path) -> GitignoreBuilder {
    let mut builder = GitignoreBuilder::new(base);
    // Git treats an unclosed bracket as a literal character; here it is probably a mistake.
    builder.allow_unclosed_class(false);
    builder
}

/// A pattern as a line of an ignore file: `./` anchors it to the folder.
fn line_of(pattern: &str) -> String {
    let (not, name) = pattern.strip_prefix('!').map_or(("", pattern), |pattern| ("!", pattern));
    let from_here = name.strip_prefix("./").map_or(name.to_string(), |rest| format!("/{rest}"));
    format!("{not}{from_here}")
}

fn add(builder: &mut GitignoreBuilder, pattern: &str) -> Result<(), String> {
    let name = pattern.strip_prefix('!').unwrap_or(pattern);
    // In a `.gitignore` these lines have no effect.
    if name.trim().is_empty() {
        return Err("expected a glob, such as old/ or *.txt".into());
    }
    if pattern.starts_with('#') {
        return Err("a glob that starts with # is a comment; write \\# for the character".into());
    }
    match builder.add_line(None, &line_of(pattern)) {
        Ok(_) => Ok(()),
        Err(ignore::Error::Glob { err, .. }) => Err(invalid(&err)),
        Err(error) => Err(invalid(&error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn patterns_compiled_in_parts_match_the_same(
            globs in prop::collection::vec("!?(/|\\./)?[ab*]{1,2}(/[ab*]{1,2}){0,2}/?", 1..9),
            path in "[ab]{1,2}(/[ab]{1,2}){0,3}",
            is_folder: bool,
        ) {
            let mut all = builder(Path::new("/docs"));
            globs.iter().for_each(|glob| add(&mut all, glob).unwrap());
            let expected = all.build().unwrap().matched_path_or_any_parents(&path, is_folder).map(drop);
            for max_bytes in [0, 5, COMPILED_BYTES] {
                let parts = Globs::in_parts(Path::new("/docs"), &globs, max_bytes).unwrap();
                prop_assert_eq!(format!("{:?}", parts.matched(Path::new(&path), is_folder)), format!("{expected:?}"));
            }
        }
    }

    proptest! {
        // Each case compiles some hundred globs, each several times.
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn lists_match_what_each_matches_alone(
            lists in prop::collection::vec(prop::collection::vec("!?/?[ab*]{1,2}(/[ab*]{1,2}){0,2}/?", 1..3), 0..150),
            path in "[ab]{1,2}(/[ab]{1,2}){0,3}",
        ) {
            let (base, place) = (Path::new("/docs"), Path::new("/docs").join(path));
            let finds = |list: &Vec<String>| Globs::new(base, list).unwrap().find(&place);
            let expected: Vec<usize> = (0..lists.len()).filter(|&number| finds(&lists[number])).collect();
            let all: Vec<&[String]> = lists.iter().map(Vec::as_slice).collect();
            prop_assert_eq!(Lists::new(base, &all).unwrap().find(&place), expected);
            // Each pattern by itself, whether it excludes or re-includes.
            let patterns = lists.concat();
            let nothing = |pattern: &&String| {
                let builder = &mut builder(base);
                add(builder, pattern).unwrap();
                let inside = place.strip_prefix(base).unwrap();
                builder.build().unwrap().matched_path_or_any_parents(inside, false).is_none()
            };
            let expected: Vec<&String> = patterns.iter().filter(nothing).collect();
            let globs = Globs::new(base, &patterns).unwrap();
            prop_assert_eq!(globs.unmatched(&[(&place, false)]), expected);
        }
    }

    #[test]
    fn too_many_are_refused_before_they_are_compiled() {
        let limit = vec!["a*b".to_string(); MAX_GLOBS];
        assert!(Globs::new(Path::new("/"), &limit).is_ok());
        let error = Globs::new(Path::new("/"), &[limit, vec!["c".into()]].concat()).err().unwrap();
        assert!(error.starts_with("too many globs: at most 4096 in all, and 256 KiB; "), "{error}");
        let long = vec!["*a?[!b]{c,d}".repeat(MAX_GLOB_BYTES / 12); 1 + MAX_BYTES / (MAX_GLOB_BYTES / 12 * 12)];
        assert!(Globs::new(Path::new("/"), &long).err().unwrap().starts_with("too many globs"));
    }

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
    fn an_invalid_glob_is_named() {
        for pattern in ["b{", "[", "[z-a]", "", " ", "!", "! ", "#", "#a", "a\\"] {
            let error = Globs::new(Path::new("/"), &["a".into(), pattern.into()]).err().unwrap();
            assert!(error.starts_with(&format!("'{pattern}': ")), "{error}");
            assert!(check(pattern).is_err(), "{pattern}");
        }
        for depth in [MAX_GLOB_BYTES / 2 - 1, MAX_GLOB_BYTES] {
            assert!(check(&["{".repeat(depth), "}".repeat(depth)].join("a")).is_err(), "{depth}");
        }
        for pattern in ["\\#", "!a", "a b", "{a,b}", "**"] {
            assert_eq!(check(pattern), Ok(()), "{pattern}");
        }
    }

    #[test]
    fn negated_patterns_that_include_nothing_again() {
        let is = |typed: &[&str], places: &[&str], expected: &[&str]| {
            let typed: Vec<String> = typed.iter().map(|glob| glob.to_string()).collect();
            let globs = Globs::new(Path::new("/home/docs"), &typed).unwrap();
            let places: Vec<PathBuf> = places.iter().map(|name| Path::new("/home/docs").join(name)).collect();
            let places: Vec<&Path> = places.iter().map(PathBuf::as_path).collect();
            assert_eq!(globs.idle_negations(&places), expected, "{typed:?}");
        };
        is(&["old/", "!old/a.md"], &["old/a.md", "b.md"], &[]);
        is(&["!./old/a.md", "old/"], &["old/a.md", "b.md"], &[]);
        is(&["old/", "!old/a.md", "!b.md", "!c.md", "*.rst"], &["old/a.md", "b.md"], &["!b.md", "!c.md"]);
        is(&["!b.md"], &["b.md"], &["!b.md"]);
        // The last one decides, and two equal ones are one.
        is(&["*.md", "!b.*", "!b.md"], &["b.md"], &["!b.*"]);
        is(&["*.md", "!b.md", "!b.md"], &["b.md"], &[]);
        is(&["old/", "\\!b.md"], &["b.md"], &[]);
    }

    #[test]
    fn unmatched_patterns() {
        let typed = ["old/a.md", "old/", "!old/b.md", "!c.md", "*.rst", "./a.md", "build/", "c/"].map(String::from);
        let globs = Globs::new(Path::new("/home/docs"), &typed).unwrap();
        let places = [("old/a.md", false), ("old/b.md", false), ("build", true), ("c", false)]
            .map(|(name, is_folder)| (Path::new("/home/docs").join(name), is_folder));
        let places = places.each_ref().map(|(place, is_folder)| (place.as_path(), *is_folder));
        assert_eq!(globs.unmatched(&places), ["!c.md", "*.rst", "./a.md", "c/"]);
        assert_eq!(globs.unmatched(&[]), typed);
    }
}
