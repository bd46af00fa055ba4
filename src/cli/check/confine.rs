//! Restricts the files that a configuration may name to its repository.

use super::super::status::usage_error;
use super::super::terminal::escaped;
use neardups::Error;
use neardups::replace::resolve;
use std::fs;
use std::path::{Component, Path, PathBuf};

/// Refuses an output that the configuration of a repository names outside of the repository: a contributor could overwrite any file of
/// those who check the contribution.
///
/// # Errors
/// The path is outside, or one of git's own files.
pub fn confine(path: &Path, root: &Path, what: &str) -> Result<(), Error> {
    let refused = |why: &str| {
        let (what, path) = (escaped(what), escaped(&path.to_string_lossy()));
        Err(usage_error(format!(
            "{what}: {path} {why}: the configuration may name only files inside of it; use an option to name any file"
        )))
    };
    let Ok(place) = resolve(path) else { return Ok(()) };
    let Ok(inside) = place.strip_prefix(root) else {
        return refused(&format!("is outside of {}", escaped(&root.to_string_lossy())));
    };
    let is_git = |part: Component| part.as_os_str().eq_ignore_ascii_case(".git");
    if inside.components().any(is_git) {
        return refused("is one of git's own files");
    }
    Ok(())
}

/// Refuses a path that leads out of a repository through a symbolic link inside of it: the link may come from a contribution.
///
/// # Errors
/// The path leads out of the repository.
pub fn refuse_links_out_of(root: &Path, path: &Path, what: &str) -> Result<(), Error> {
    let Ok(place) = resolve(path) else { return Ok(()) };
    match link_within(root, path) {
        Some(link) if !place.starts_with(root) => Err(usage_error(format!(
            "{}: the symbolic link {} leads out of the repository, to {}: name that file itself, or remove the link",
            escaped(what),
            escaped(&link.to_string_lossy()),
            escaped(&place.to_string_lossy())
        ))),
        _ => Ok(()),
    }
}

/// The first symbolic link inside of a folder that is followed to reach a file.
fn link_within(root: &Path, path: &Path) -> Option<PathBuf> {
    let mut reached = std::env::current_dir().ok()?.canonicalize().ok()?;
    let mut rest: Vec<PathBuf> = parts(path);
    // A limit above that of any system, in case of a cycle.
    for _ in 0..1000 {
        let part = rest.pop()?;
        if part.as_os_str() == ".." {
            reached.pop();
            continue;
        }
        let next = reached.join(part);
        match fs::read_link(&next) {
            Ok(_) if reached.starts_with(root) => return Some(next),
            Ok(link) => rest.extend(parts(&link)),
            Err(_) => reached = next,
        }
    }
    None
}

/// The components of a path, the last first.
fn parts(path: &Path) -> Vec<PathBuf> {
    let parts = path.components().filter(|part| *part != Component::CurDir);
    let mut parts: Vec<PathBuf> = parts.map(|part| PathBuf::from(part.as_os_str())).collect();
    parts.reverse();
    parts
}
