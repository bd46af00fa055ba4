//! Paths to files: folders are walked in the order of their names.

use std::ffi::OsStr;
use std::ops::ControlFlow;
use std::path::Path;
#[cfg(feature = "clean")]
use std::path::PathBuf;

use walkdir::{DirEntry, WalkDir};

use super::{Counts, Problem, ProblemKind, ReadOptions, Severity};

/// An item found by a walk.
pub(super) enum Found {
    /// A regular file, or any path that was given directly.
    File(DirEntry),
    Problem(Problem),
}

/// Walks the files under a path, following symbolic links, and counts those left out: hidden ones, and those that globs
/// exclude. What describes the output of [`clean`](crate::clean) is passed over.
pub(super) fn walk(
    root: &Path,
    options: &ReadOptions,
    counts: &mut Counts,
    each: &mut dyn FnMut(Found, &mut Counts) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let mut entries = WalkDir::new(root).follow_links(true).sort_by_file_name().into_iter();
    while let Some(entry) = entries.next() {
        let (name, depth) = match &entry {
            Ok(entry) => (Some(entry.file_name()), entry.depth()),
            Err(error) => (error.path().and_then(Path::file_name), error.depth()),
        };
        if depth > 0 && !options.hidden && name.is_some_and(is_hidden) {
            counts.hidden += 1;
            if entry.is_ok_and(|entry| entry.file_type().is_dir()) {
                entries.skip_current_dir();
            }
            continue;
        }
        if let Ok(entry) = &entry
            && depth > 0
            && is_description(entry)
        {
            entries.skip_current_dir();
            continue;
        }
        if let Ok(entry) = &entry
            && depth > 0
            && is_excluded(root, entry, options)
        {
            counts.excluded += u64::from(!entry.file_type().is_dir());
            if entry.file_type().is_dir() {
                entries.skip_current_dir();
            }
            continue;
        }
        if let Ok(entry) = &entry
            && depth > 0
            && entry.file_type().is_dir()
            && entry.path_is_symlink()
            && let Some(passed_over) = leads_back(root, entry.path(), options)
        {
            entries.skip_current_dir();
            each(Found::Problem(passed_over), counts)?;
            continue;
        }
        match entry {
            Err(error) => each(Found::Problem(problem(root, &error)), counts)?,
            Ok(entry) if entry.file_type().is_dir() => {}
            Ok(entry) if entry.file_type().is_file() || entry.depth() == 0 => each(Found::File(entry), counts)?,
            Ok(entry) => {
                counts.special += 1;
                let path = display_path(entry.path());
                let message = "not a regular file: read only when named itself";
                each(
                    Found::Problem(Problem::new(Severity::Skipped, ProblemKind::Special, &path, None, message)),
                    counts,
                )?;
            }
        }
    }
    ControlFlow::Continue(())
}

/// Why a symbolic link to a folder is passed over: it leads to a folder above the walked one, or to one in it that is walked by its own
/// name. Then the files keep the names that are no links, and are read once.
fn leads_back(root: &Path, link: &Path, options: &ReadOptions) -> Option<Problem> {
    let (target, real) = (link.canonicalize().ok()?, root.canonicalize().ok()?);
    let passed_over = |kind, message| Some(Problem::new(Severity::Skipped, kind, &display_path(link), None, message));
    if real.starts_with(&target) {
        let message = format!("symbolic link that leads back to {}", display_path(&target));
        return passed_over(ProblemKind::Loop, message);
    }
    if !(options.include.is_empty() && options.exclude.is_empty()) {
        // They choose among files by the names that they are found by. A file is read once in any case.
        return None;
    }
    let below = target.strip_prefix(&real).ok()?;
    let is_walked = |below: &Path| {
        let is_shown = options.hidden || !below.file_name().is_some_and(is_hidden);
        is_shown && !is_described(&root.join(below))
    };
    let mut folders = below.ancestors().filter(|folder| !folder.as_os_str().is_empty());
    if !folders.all(is_walked) {
        return None;
    }
    let message = format!("symbolic link to {}, which is read", display_path(&root.join(below)));
    passed_over(ProblemKind::SameFile, message)
}

/// The folder in an output of [`clean`](crate::clean) that describes it.
pub(crate) const DESCRIPTION: &str = "_dedup";

/// The files of which a run that ended leaves one in it.
const DESCRIBES: [&str; 3] = ["summary.json", "moved.jsonl", "undone.jsonl"];

/// Whether a folder describes the output that it is in, and is no part of it.
fn is_description(entry: &DirEntry) -> bool {
    entry.file_type().is_dir() && is_described(entry.path())
}

fn is_described(path: &Path) -> bool {
    path.file_name() == Some(OsStr::new(DESCRIPTION)) && DESCRIBES.iter().any(|name| path.join(name).is_file())
}

/// Whether globs leave out a file that was found in a folder, or a folder with all that is in it.
fn is_excluded(root: &Path, entry: &DirEntry, options: &ReadOptions) -> bool {
    let is_folder = entry.file_type().is_dir();
    let (path, below) = (entry.path(), below(root, entry));
    let is_included = is_folder || options.include.is_empty() || options.include.matches_below(path, below);
    !is_included || options.exclude.matches_below(path, below)
}

/// The path of an entry below the one that is walked; of a file that is walked itself, its name.
pub(super) fn below<'e>(root: &Path, entry: &'e DirEntry) -> &'e Path {
    match entry.depth() {
        0 if entry.file_type().is_dir() => Path::new(""),
        0 => Path::new(entry.file_name()),
        _ => entry.path().strip_prefix(root).unwrap_or(entry.path()),
    }
}

fn is_hidden(name: &OsStr) -> bool {
    name.as_encoded_bytes().starts_with(b".")
}

fn problem(root: &Path, error: &walkdir::Error) -> Problem {
    let path = display_path(error.path().unwrap_or(root));
    if let Some(ancestor) = error.loop_ancestor() {
        let message = format!("symbolic link that leads back to {}", display_path(ancestor));
        return Problem::new(Severity::Skipped, ProblemKind::Loop, &path, None, message);
    }
    let unreadable = |message| Problem::new(Severity::Failed, ProblemKind::Unreadable, &path, None, message);
    match error.io_error() {
        Some(error) => unreadable(format!("cannot read: {error}")).caused_by(error),
        None => unreadable(format!("cannot read: {error}")),
    }
}

/// A path as an id: `/`-separated, with bytes that are not UTF-8 as `\xNN`. A backslash that would look like the start of
/// such a byte is itself written so, and therefore different paths have different ids.
pub(crate) fn display_path(path: &Path) -> String {
    let mut out = String::new();
    for chunk in path.as_os_str().as_encoded_bytes().utf8_chunks() {
        let mut valid = chunk.valid();
        if cfg!(windows) {
            out.push_str(&valid.replace('\\', "/"));
            valid = "";
        }
        while let Some(at) = valid.find("\\x") {
            let is_escape =
                valid.as_bytes()[at + 2..].iter().take(2).filter(|byte| byte.is_ascii_hexdigit()).count() == 2;
            out.push_str(&valid[..at]);
            out.push_str(if is_escape { "\\x5cx" } else { "\\x" });
            valid = &valid[at + 2..];
        }
        out.push_str(valid);
        for byte in chunk.invalid() {
            out.push_str(&format!("\\x{byte:02x}"));
        }
    }
    out
}

/// The path of which this is the id.
#[cfg(feature = "clean")]
pub(crate) fn path_of(id: &str) -> PathBuf {
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStringExt;
        let (mut out, mut rest) = (Vec::new(), id.as_bytes());
        while let [first, after @ ..] = rest {
            let digits = after.strip_prefix(b"x").and_then(|digits| digits.get(..2));
            let digits = digits.filter(|digits| *first == b'\\' && digits.iter().all(u8::is_ascii_hexdigit));
            let byte = digits.and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok());
            out.push(byte.unwrap_or(*first));
            rest = if byte.is_some() { &after[3..] } else { after };
        }
        std::ffi::OsString::from_vec(out).into()
    }
    #[cfg(not(unix))]
    id.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_shown_as_given() {
        for path in ["a", "./a", "../a/b", "/a", "é", "."] {
            assert_eq!(display_path(Path::new(path)), path);
        }
    }

    #[cfg(unix)]
    #[test]
    fn bytes_that_are_no_text_are_escaped() {
        use std::os::unix::ffi::OsStrExt;
        assert_eq!(display_path(Path::new(OsStr::from_bytes(b"a/\xe9\xff/\xc3\xa9"))), r"a/\xe9\xff/é");
    }

    #[cfg(all(unix, feature = "clean"))]
    proptest::proptest! {
        #[test]
        fn names_can_be_read_from_ids(pieces in proptest::collection::vec(0..8usize, 0..8)) {
            use std::os::unix::ffi::OsStrExt;
            let pieces: Vec<&[u8]> =
                pieces.iter().map(|&at| [&b"\\"[..], b"x", b"f", b"5c", b"C", b"\xff", b"\xc3", b"\xa9"][at]).collect();
            let bytes = pieces.concat();
            let id = display_path(Path::new(OsStr::from_bytes(&bytes)));
            let path = path_of(&id);
            proptest::prop_assert_eq!(path.as_os_str().as_bytes(), bytes, "{}", id);
        }
    }

    #[test]
    fn a_break_ends_the_walk() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a", "b"] {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        let mut found = 0;
        let walked = walk(folder.path(), &ReadOptions::default(), &mut Counts::default(), &mut |_, _| {
            found += 1;
            ControlFlow::Break(())
        });
        assert!(walked.is_break());
        assert_eq!(found, 1);
    }
}
