//! Git, as far as a check needs it: commands in a repository, the files that they list, and objects.

use super::paths::shown;
use crate::readable::shell_word;
use std::ffi::OsStr;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::{env, fs, thread};

/// Environment variables that change the format of diffs, or how git reads paths.
const OUTPUT_VARIABLES: [&str; 5] =
    ["GIT_DIFF_OPTS", "GIT_EXTERNAL_DIFF", "GIT_GLOB_PATHSPECS", "GIT_NOGLOB_PATHSPECS", "GIT_ICASE_PATHSPECS"];

/// Environment variables with settings of the caller, such as safe folders: they apply to submodules too.
const SETTINGS_VARIABLES: [&str; 2] = ["GIT_CONFIG_PARAMETERS", "GIT_CONFIG_COUNT"];

/// A file with the text of an object.
pub(super) struct OldFile {
    /// Its absolute path without links.
    pub place: PathBuf,
    pub bytes: Vec<u8>,
}

/// What a shallow clone needs: everything, with what else is fetched.
pub(super) fn shallow_hint(from: &str) -> String {
    format!(
        "this clone is shallow: fetch the rest with git fetch --unshallow{from} (in GitHub Actions, give actions/checkout fetch-depth: 0)"
    )
}

/// Options of `git diff` for its raw output of files, whatever the settings of the user.
pub(super) const RAW_DIFF: [&str; 6] =
    ["--raw", "-z", "--no-abbrev", "--no-renames", "--no-ext-diff", "--ignore-submodules"];

/// A repository that git runs in.
#[derive(Clone)]
pub(super) struct Repository {
    pub folder: PathBuf,
    /// Names of the environment variables that are specific to a repository.
    local: Arc<[String]>,
    /// Whether these variables apply to this one.
    is_given: bool,
    /// The index, if it is not that of the repository.
    index: Option<PathBuf>,
}

impl Repository {
    /// The repository of the current folder.
    ///
    /// In a hook, environment variables name the repository and its index. They are used only if the repository is not found
    /// without them: if they name no working tree, git takes the current folder for its root, which may be wrong.
    pub fn here() -> Result<Self, String> {
        let within = |local, is_given| Repository { folder: PathBuf::from("."), local, is_given, index: None };
        let local = line(within(Arc::default(), true).git(["rev-parse", "--local-env-vars"])?);
        let local: Arc<[String]> =
            local.split_whitespace().filter(|name| !SETTINGS_VARIABLES.contains(name)).map(String::from).collect();
        let top = |is_given| within(local.clone(), is_given).git(["rev-parse", "--show-toplevel"]);
        let (top, is_given) = match env::var_os("GIT_WORK_TREE") {
            None => top(false).map(|top| (top, false)).or_else(|_| top(true).map(|top| (top, true)))?,
            Some(_) => (top(true)?, true),
        };
        let top = path_of(top.trim_ascii_end());
        Ok(Repository { folder: fs::canonicalize(&top).unwrap_or(top), local, is_given, index: None })
    }

    /// The same with the index that a hook is given, if it is one of this repository: of `git commit --all` and `git commit FILE`, what
    /// will be in the commit is not yet in the usual one.
    pub fn with_index(self) -> Self {
        let Some(given) = env::var_os("GIT_INDEX_FILE").filter(|_| !self.is_given) else { return self };
        // Git resolves it from the root of the working tree.
        let index = self.folder.join(given);
        let folder = index.parent().and_then(|folder| fs::canonicalize(folder).ok());
        let git = self.git(["rev-parse", "--absolute-git-dir"]).ok();
        let git = git.and_then(|git| fs::canonicalize(path_of(git.trim_ascii_end())).ok());
        // One in the folder of another repository is the index of that: a hook may check a submodule.
        let is_own = folder.is_some_and(|folder| Some(&folder) == git.as_ref() || !folder.join("HEAD").is_file());
        Repository { index: (is_own && index.is_file()).then_some(index), ..self }
    }

    /// A repository inside this one.
    pub fn inner(&self, folder: PathBuf) -> Self {
        Repository { folder, local: self.local.clone(), is_given: false, index: None }
    }

    /// The hash of a commit. The message is empty if there is no such commit.
    pub fn commit(&self, reference: &str) -> Result<String, String> {
        let commit = format!("{reference}^{{commit}}");
        self.git(["rev-parse", "--verify", "--quiet", "--end-of-options", &commit]).map(line)
    }

    /// Whether it lacks commits, as a clone of CI often does.
    pub fn is_shallow(&self) -> bool {
        self.git(["rev-parse", "--is-shallow-repository"]).is_ok_and(|printed| printed.starts_with(b"true"))
    }

    /// That there is no such commit, and what may bring it.
    pub fn missing_commit(&self, reference: &str) -> String {
        let remotes = self.git(["remote"]).map(line).unwrap_or_default();
        // The name of a remote can have slashes.
        let of_remote = |remote: &str| Some((remote.to_string(), reference.strip_prefix(remote)?.strip_prefix('/')?));
        let branch = remotes.lines().filter_map(of_remote).max_by_key(|(remote, _)| remote.len());
        // Without `~3` and the like. A clone of one branch names no others by itself, so the command says where it goes.
        let from = branch.and_then(|(remote, branch)| {
            let branch = branch.split(['~', '^', ':']).next()?;
            let branch = branch.split_once("@{").map_or(branch, |(branch, _)| branch);
            let to = shell_word(&format!("{branch}:refs/remotes/{remote}/{branch}"));
            (!branch.is_empty()).then(|| format!(" {} {to}", shell_word(remote.as_str())))
        });
        let same = || remotes.lines().find(|remote| self.commit(&format!("{remote}/{reference}")).is_ok());
        let hint = match from {
            None if let Some(remote) = same() => format!(", but there is {remote}/{reference}"),
            from if self.is_shallow() => format!("; {}", shallow_hint(&from.unwrap_or_default())),
            Some(from) => format!("; if it is there, this fetches it: git fetch{from}"),
            None => String::new(),
        };
        format!("there is no such commit{hint}")
    }

    /// The output of git, or the reason why it failed.
    pub fn git<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Result<Vec<u8>, String> {
        let output = self.command(args).output().map_err(|error| format!("cannot run git: {error}"))?;
        match output.status.success() {
            true => Ok(output.stdout),
            false => Err(String::from_utf8_lossy(&output.stderr).trim().to_string()),
        }
    }

    /// Reads objects up to a size.
    pub fn read(&self, objects: &[(&Path, &str)], limit: u64) -> Result<Vec<OldFile>, String> {
        let failed = |error: io::Error| format!("cannot read objects of git: {error}");
        let mut command = self.command(["cat-file", "--batch"]);
        let mut git = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
        let git = git.as_mut().map_err(|error| format!("cannot run git: {error}"))?;
        let (mut input, output) = (git.stdin.take().expect("a pipe"), git.stdout.take().expect("a pipe"));
        let names: String = objects.iter().map(|(_, object)| format!("{object}\n")).collect();
        let read = thread::scope(|scope| {
            scope.spawn(move || input.write_all(names.as_bytes()));
            let mut output = BufReader::new(output);
            objects.iter().map(|(place, _)| old_file(&mut output, place, limit)).collect::<io::Result<Vec<_>>>()
        });
        // It ends by itself at the end of its input, or when nobody reads its output.
        let _ = git.wait();
        Ok(read.map_err(failed)?.into_iter().flatten().collect())
    }

    /// Git in this repository, with these arguments.
    fn command<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Command {
        let mut command = Command::new("git");
        command.arg("-C").arg(&self.folder).args(args);
        let foreign = self.local.iter().filter(|_| !self.is_given).map(String::as_str);
        for name in OUTPUT_VARIABLES.into_iter().chain(foreign) {
            command.env_remove(name);
        }
        if let Some(index) = &self.index {
            command.env("GIT_INDEX_FILE", index);
        }
        command.env("GIT_OPTIONAL_LOCKS", "0").env("GIT_LITERAL_PATHSPECS", "1");
        command
    }
}

/// The next object of `git cat-file --batch`: a line `<object> <kind> <size>`, the bytes, and a line end. `None` if it is no file, or larger
/// than the limit.
///
/// # Errors
/// The object is missing, or the output ends.
fn old_file(output: &mut impl BufRead, place: &Path, limit: u64) -> io::Result<Option<OldFile>> {
    let mut head = String::new();
    output.read_line(&mut head)?;
    let mut words = head.split_whitespace().skip(1);
    let (kind, size) = (words.next(), words.next().and_then(|size| size.parse::<u64>().ok()));
    let Some(size) = size else {
        // `<object> missing`, as in a clone without all objects.
        let missing = || io::Error::other(format!("the stored text of {} is missing: fetch it", shown(place)));
        return Err(if head.is_empty() { io::ErrorKind::UnexpectedEof.into() } else { missing() });
    };
    let mut object = output.take(size + 1);
    let is_wanted = kind == Some("blob") && size <= limit;
    let mut bytes = Vec::new();
    match is_wanted {
        true => object.read_to_end(&mut bytes).map(drop)?,
        false => io::copy(&mut object, &mut io::sink()).map(drop)?,
    }
    if is_wanted && bytes.len() as u64 != size + 1 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    bytes.truncate(size as usize);
    Ok(is_wanted.then(|| OldFile { place: place.to_path_buf(), bytes }))
}

/// The entries of `git diff --raw -z`: `:<mode> <mode> <object> <object> <status>`, then the name. Each with its old object, if that was a
/// regular file.
pub(super) fn raw(printed: &[u8]) -> impl Iterator<Item = (Option<String>, &[u8])> {
    let mut parts = ended_by_zero(printed);
    std::iter::from_fn(move || {
        let head = String::from_utf8_lossy(parts.next()?).into_owned();
        let name = parts.next()?;
        let mut words = head.trim_start_matches(':').split(' ');
        let (mode, object) = (words.next()?, words.nth(1)?);
        Some((mode.starts_with("100").then(|| object.to_string()), name))
    })
}

/// Splits the output of `git … -z`.
pub(super) fn ended_by_zero(printed: &[u8]) -> impl Iterator<Item = &[u8]> {
    printed.split(|&byte| byte == 0).filter(|name| !name.is_empty())
}

/// The single line that git printed.
pub(super) fn line(printed: Vec<u8>) -> String {
    String::from_utf8_lossy(&printed).trim_end_matches(['\r', '\n']).to_string()
}

#[cfg(unix)]
pub(super) fn path_of(name: &[u8]) -> PathBuf {
    PathBuf::from(<OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(name))
}

#[cfg(not(unix))]
pub(super) fn path_of(name: &[u8]) -> PathBuf {
    PathBuf::from(String::from_utf8_lossy(name).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_of_a_raw_diff() {
        let zero = "0".repeat(40);
        let one = "1".repeat(40);
        let diff = format!(
            ":100644 100644 {one} {zero} M\0a.md\0:000000 100644 {zero} {zero} A\0b c.md\0:120000 100644 {one} {zero} T\0d.md\0\
             :100755 000000 {one} {zero} D\0e\0"
        );
        let found: Vec<_> = raw(diff.as_bytes()).collect();
        let old = || Some(one.clone());
        assert_eq!(found, [(old(), &b"a.md"[..]), (None, b"b c.md"), (None, b"d.md"), (old(), b"e")]);
    }

    #[test]
    fn objects_of_a_batch() {
        let mut output =
            &b"aa blob 3\nx\ny\nbb missing\ncc blob 5\n12345\ndd tree 1\nx\nee blob 0\n\nff blob 9\nxx"[..];
        let mut next = || old_file(&mut output, Path::new("p"), 4).map(|file| file.map(|file| file.bytes));
        assert_eq!(next().unwrap(), Some(b"x\ny".to_vec()));
        assert!(next().unwrap_err().to_string().contains("missing"));
        assert_eq!([next().unwrap(), next().unwrap()], [None, None]);
        assert_eq!(next().unwrap(), Some(vec![]));
        // Too large, and the output ends; then no output at all.
        assert_eq!(next().unwrap(), None);
        assert!(next().is_err());
    }
}
