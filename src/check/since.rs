//! The lines that changed since a commit, according to git.

use super::error::SinceError;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::rc::Rc;
use std::{env, fs};

/// The lines that changed, by file. A new file has one range with all lines; a new folder stands for all files in it.
type Lines = BTreeMap<PathBuf, Vec<RangeInclusive<usize>>>;

/// Environment variables that change the format of diffs, or how git reads paths.
const OUTPUT_VARIABLES: [&str; 5] =
    ["GIT_DIFF_OPTS", "GIT_EXTERNAL_DIFF", "GIT_GLOB_PATHSPECS", "GIT_NOGLOB_PATHSPECS", "GIT_ICASE_PATHSPECS"];

/// Environment variables with settings of the caller, such as safe folders: they apply to submodules too.
const SETTINGS_VARIABLES: [&str; 2] = ["GIT_CONFIG_PARAMETERS", "GIT_CONFIG_COUNT"];

/// The changes in a repository and its submodules.
pub(super) struct Changes {
    /// The root of the repository.
    top: PathBuf,
    lines: Lines,
    /// Submodules whose changes could not be determined, each with the reason.
    unknown: BTreeMap<PathBuf, String>,
}

impl Changes {
    /// Differences between the working tree and its merge base with `reference`, and untracked files. A submodule is compared with
    /// the commit that it had at the merge base.
    ///
    /// # Errors
    /// Git cannot be run, there is no repository, or no such commit.
    pub fn since(reference: &str) -> Result<Self, SinceError> {
        let wrong = |message: String| SinceError::Reference { reference: reference.into(), message };
        let top = Repository::here().map_err(SinceError::Git)?;
        let commit = top.commit(reference).map_err(|_| {
            let shallow =
                top.git(["rev-parse", "--is-shallow-repository"]).is_ok_and(|printed| printed.starts_with(b"true"));
            let hint = match shallow {
                true => "; this clone is shallow: fetch more of it (for actions/checkout, fetch-depth: 0)",
                false => "",
            };
            wrong(format!("there is no such commit{hint}"))
        })?;
        // Without a common ancestor, as in a shallow clone, against the commit itself.
        let base = top.git(["merge-base", &commit, "HEAD"]).map(line).unwrap_or(commit);
        let mut changes = Changes { top: top.folder.clone(), lines: Lines::new(), unknown: BTreeMap::new() };
        let mut submodules = changes.add(&top, &base).map_err(|message| wrong(format!("git failed: {message}")))?;
        while let Some((submodule, base)) = submodules.pop() {
            match changes.add(&submodule, &base) {
                Ok(inside) => submodules.extend(inside),
                // This matters only if a page is in the submodule.
                Err(message) => {
                    let why = match submodule.commit(&base) {
                        // The commit is missing, for example in a shallow clone.
                        Err(message) if message.is_empty() => {
                            format!("without the commit {base}: fetch it")
                        }
                        _ => format!("that git cannot compare with {base}: {message}"),
                    };
                    changes.unknown.insert(submodule.folder, why);
                }
            }
        }
        Ok(changes)
    }

    /// Adds the changes of a repository since a commit. Returns its submodules, each with the commit that it had then.
    fn add(&mut self, repository: &Repository, base: &str) -> Result<Vec<(Repository, String)>, String> {
        changed(repository, base, &mut self.lines)?;
        submodules(repository, base, &mut self.lines)
    }

    /// Why the changes of a file could not be determined, if so. The path is absolute and without links.
    pub fn unknown(&self, place: &Path) -> Option<String> {
        if !place.starts_with(&self.top) {
            return Some("is not in the repository that this folder is in".to_string());
        }
        let why = place.ancestors().find_map(|folder| self.unknown.get(folder))?;
        Some(format!("is in a submodule {why}"))
    }

    /// Whether one of these lines of a file changed. The path is absolute and without links.
    pub fn touch(&self, place: &Path, lines: &[RangeInclusive<usize>]) -> bool {
        // An untracked repository inside is listed as a folder.
        let within = place.ancestors().take_while(|folder| folder.starts_with(&self.top));
        let changed = within.filter_map(|path| self.lines.get(path)).next().map(Vec::as_slice).unwrap_or_default();
        lines.iter().any(|lines| {
            // Both ends of what changed ascend.
            let next = changed.partition_point(|changed| changed.end() < lines.start());
            changed.get(next).is_some_and(|changed| changed.start() <= lines.end())
        })
    }
}

/// A repository that git runs in.
struct Repository {
    folder: PathBuf,
    /// Names of the environment variables that are specific to a repository.
    local: Rc<[String]>,
    /// Whether these variables apply to this one.
    is_given: bool,
}

impl Repository {
    /// The repository of the current folder.
    ///
    /// In a hook, environment variables name the repository and its index. They are used only if the repository is not found
    /// without them: if they name no working tree, git takes the current folder for its root, which may be wrong.
    fn here() -> Result<Self, String> {
        let within = |local, is_given| Repository { folder: PathBuf::from("."), local, is_given };
        let local = line(within(Rc::default(), true).git(["rev-parse", "--local-env-vars"])?);
        let local: Rc<[String]> =
            local.split_whitespace().filter(|name| !SETTINGS_VARIABLES.contains(name)).map(String::from).collect();
        let top = |is_given| within(local.clone(), is_given).git(["rev-parse", "--show-toplevel"]);
        let (top, is_given) = match env::var_os("GIT_WORK_TREE") {
            None => top(false).map(|top| (top, false)).or_else(|_| top(true).map(|top| (top, true)))?,
            Some(_) => (top(true)?, true),
        };
        let top = path_of(top.trim_ascii_end());
        Ok(Repository { folder: fs::canonicalize(&top).unwrap_or(top), local, is_given })
    }

    /// A repository inside this one.
    fn inner(&self, folder: PathBuf) -> Self {
        Repository { folder, local: self.local.clone(), is_given: false }
    }

    /// The hash of a commit. The message is empty if there is no such commit.
    fn commit(&self, reference: &str) -> Result<String, String> {
        let commit = format!("{reference}^{{commit}}");
        self.git(["rev-parse", "--verify", "--quiet", "--end-of-options", &commit]).map(line)
    }

    /// The output of git, or the reason why it failed.
    fn git<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Result<Vec<u8>, String> {
        let mut command = Command::new("git");
        command.arg("-C").arg(&self.folder).args(args);
        let foreign = self.local.iter().filter(|_| !self.is_given).map(String::as_str);
        for name in OUTPUT_VARIABLES.into_iter().chain(foreign) {
            command.env_remove(name);
        }
        command.env("GIT_OPTIONAL_LOCKS", "0").env("GIT_LITERAL_PATHSPECS", "1");
        let output = command.output().map_err(|error| format!("cannot run git: {error}"))?;
        match output.status.success() {
            true => Ok(output.stdout),
            false => Err(String::from_utf8_lossy(&output.stderr).trim().to_string()),
        }
    }
}

/// Differences between a commit and the working tree of a repository, and untracked files.
fn changed(repository: &Repository, base: &str, lines: &mut Lines) -> Result<(), String> {
    let options = [
        "--no-color",
        "--no-ext-diff",
        "--no-textconv",
        "--find-renames",
        "--ignore-submodules",
        "--inter-hunk-context=0",
    ];
    let diff = |how: &[&str]| repository.git(["diff"].iter().chain(&options).chain(how).chain(&[base, "--"]));
    // A change of type (such as a link that became a file) is printed as two diffs but as one name: it is listed separately.
    let names = diff(&["--name-only", "-z", "--diff-filter=dt"])?;
    let patch = diff(&["--unified=0", "--diff-filter=dt"])?;
    let other = diff(&["--name-only", "-z", "--diff-filter=T"])?;
    let untracked = repository.git(["ls-files", "--others", "--exclude-standard", "-z"])?;
    for (name, changed) in ended_by_zero(&names).zip(sections(&patch)) {
        lines.insert(repository.folder.join(path_of(name)), changed);
    }
    for name in ended_by_zero(&other).chain(ended_by_zero(&untracked)) {
        lines.insert(repository.folder.join(path_of(name)), vec![1..=usize::MAX]);
    }
    Ok(())
}

/// The submodules of a repository, each with the commit that it had at `base`. A submodule added since is new as a whole.
fn submodules(outer: &Repository, base: &str, lines: &mut Lines) -> Result<Vec<(Repository, String)>, String> {
    let mut submodules = Vec::new();
    for entry in ended_by_zero(&outer.git(["ls-files", "--stage", "-z"])?) {
        let Some(name) = entry.strip_prefix(b"160000 ").and_then(|rest| rest.splitn(2, |&byte| byte == b'\t').nth(1))
        else {
            continue;
        };
        let name = path_of(name);
        let place = outer.folder.join(&name);
        // Without a repository of its own, git would answer for the outer one.
        if !place.join(".git").exists() {
            continue;
        }
        let was = outer.git([OsStr::new("ls-tree"), "-z".as_ref(), base.as_ref(), "--".as_ref(), name.as_ref()])?;
        match line(was).split([' ', '\t']).collect::<Vec<_>>()[..] {
            ["160000", _, commit, ..] => submodules.push((outer.inner(place), commit.to_string())),
            _ => drop(lines.insert(place, vec![1..=usize::MAX])),
        }
    }
    Ok(submodules)
}

/// Splits the output of `git … -z`.
fn ended_by_zero(printed: &[u8]) -> impl Iterator<Item = &[u8]> {
    printed.split(|&byte| byte == 0).filter(|name| !name.is_empty())
}

/// The lines that each file of a patch without context adds.
fn sections(patch: &[u8]) -> Vec<Vec<RangeInclusive<usize>>> {
    let mut sections: Vec<Vec<RangeInclusive<usize>>> = Vec::new();
    // Remaining lines of the hunk: these are content, whatever they look like.
    let mut content = 0;
    for line in patch.split(|&byte| byte == b'\n') {
        if content > 0 && matches!(line.first(), Some(b'+' | b'-')) {
            content -= 1;
        } else if line.starts_with(b"diff --git ") {
            sections.push(Vec::new());
        } else if line.starts_with(b"Binary files ")
            && let Some(section) = sections.last_mut()
        {
            // For example UTF-16: git does not print which lines.
            section.push(1..=usize::MAX);
        } else if let Some((removed, start, added)) = hunk(line)
            && let Some(section) = sections.last_mut()
        {
            content = removed + added;
            // Where lines were removed, the lines on both sides of the gap count as changed.
            section.push(if added == 0 { start..=start + 1 } else { start..=start + added - 1 });
        }
    }
    sections
}

/// `@@ -1,2 +3,4 @@`: the number of removed lines, the first added line, the number of added lines.
fn hunk(line: &[u8]) -> Option<(usize, usize, usize)> {
    let line = std::str::from_utf8(line.strip_prefix(b"@@ -")?.split(|&byte| byte == b'@').next()?).ok()?;
    let (old, new) = line.trim_end().split_once(" +")?;
    let count = |range: &str| range.split_once(',').map_or(Some(1), |(_, count)| count.parse().ok());
    let start = new.split(',').next()?.parse().ok()?;
    Some((count(old)?, start, count(new)?))
}

/// The single line that git printed.
fn line(printed: Vec<u8>) -> String {
    String::from_utf8_lossy(&printed).trim_end_matches(['\r', '\n']).to_string()
}

#[cfg(unix)]
fn path_of(name: &[u8]) -> PathBuf {
    PathBuf::from(<OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(name))
}

#[cfg(not(unix))]
fn path_of(name: &[u8]) -> PathBuf {
    PathBuf::from(String::from_utf8_lossy(name).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_a_patch() {
        let patch = b"diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,0 +2,3 @@ head\n+diff --git a/q b/q\n+@@ -1 +1 @@\n+c\n@@ -9,2 +12,0 @@\n-a\n-b\n\
diff --git a/bin b/bin\nBinary files a/bin and b/bin differ\ndiff --git a/y b/y\n@@ -4 +4 @@\n-u\n+v\n\\ No newline at end of file\n";
        assert_eq!(sections(patch), [vec![2..=4, 12..=13], vec![1..=usize::MAX], vec![4..=4]]);
    }
}
