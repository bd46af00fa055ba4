//! Git, as far as a check needs it: commands in a repository, the files that they list, and objects.

use super::paths::shown;
use crate::readable::shell_word;
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::{env, fs, thread};

/// Environment variables that change the format of diffs, or how git reads paths.
const OUTPUT_VARIABLES: [&str; 5] =
    ["GIT_DIFF_OPTS", "GIT_EXTERNAL_DIFF", "GIT_GLOB_PATHSPECS", "GIT_NOGLOB_PATHSPECS", "GIT_ICASE_PATHSPECS"];

/// Environment variables with settings of the caller, such as safe folders: they apply to submodules too.
const SETTINGS_VARIABLES: [&str; 2] = ["GIT_CONFIG_PARAMETERS", "GIT_CONFIG_COUNT"];

/// A variable without a value, for settings that are switched off.
const EMPTY_VARIABLE: &str = "DEDUP_EMPTY";

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

/// Options of `git diff-index` for its raw output of files.
pub(super) const RAW_DIFF: [&str; 7] =
    ["diff-index", "--raw", "-z", "--no-abbrev", "--no-renames", "--no-ext-diff", "--ignore-submodules"];

/// Settings that start programs while git reads files. The configuration of a repository may come from a stranger.
const PROGRAMS: &str = r"^filter\..*\.(clean|smudge|process|required)$";

/// How to get objects that a clone without all of them lacks. Git would fetch them by itself, with programs that the configuration names.
const FETCH_OBJECTS: &str = "git fetch --refetch --no-filter";

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
        // One that is missing has no files, as git sees it.
        Repository { index: is_own.then_some(index), ..self }
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

    /// Why git failed; in a clone without all objects, also what fetches them.
    pub fn failure(&self, message: String) -> String {
        match self.git(["config", "--get-regexp", r"^remote\..*\.promisor$"]) {
            Ok(_) => format!("{message}; this clone lacks objects, and this fetches them: {FETCH_OBJECTS}"),
            Err(_) => message,
        }
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

    /// The files that git ignores and does not track, and the folders of which it ignores all. Paths are absolute. None if git fails.
    pub fn ignored(&self) -> Vec<PathBuf> {
        // With `--directory`, folders such as `node_modules` are not read.
        let list = ["ls-files", "--others", "--ignored", "--exclude-standard", "--directory", "-z"];
        let listed = self.git(list).unwrap_or_default();
        let path = |name: &[u8]| self.folder.join(path_of(name.strip_suffix(b"/").unwrap_or(name)));
        ended_by_zero(&listed).map(path).collect()
    }

    /// Options that switch off all filters of this repository, for commands that read files of the working tree.
    ///
    /// # Errors
    /// Git failed: the reason.
    pub fn without_filters(&self) -> Result<Vec<OsString>, String> {
        let names = match self.git(["config", "-z", "--name-only", "--get-regexp", PROGRAMS]) {
            // There is none.
            Err(message) if message.is_empty() => Vec::new(),
            names => names?,
        };
        let names: BTreeSet<&[u8]> = ended_by_zero(&names).collect();
        let off = |name: &[u8]| {
            let has_sign = name.contains(&b'=');
            let name = path_of(name).into_os_string();
            match has_sign {
                // The value is that of a variable, which is empty.
                true => [OsString::from("--config-env"), joined_by(name, &format!("={EMPTY_VARIABLE}"))],
                false => [OsString::from("-c"), joined_by(name, "=")],
            }
        };
        Ok(names.into_iter().flat_map(off).collect())
    }

    /// The objects that files would be without any filter, in their order. The files are regular ones.
    ///
    /// # Errors
    /// Git failed: the reason. Or a name has a line end.
    pub fn hashes(&self, names: &[&[u8]]) -> Result<Vec<String>, String> {
        if names.is_empty() {
            return Ok(Vec::new());
        }
        let mut command = self.command(["hash-object", "--no-filters", "--stdin-paths"]);
        let failed = |error: io::Error| format!("cannot run git: {error}");
        let mut git =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().map_err(failed)?;
        let mut input = git.stdin.take().expect("a pipe");
        let text: Vec<u8> = names.iter().flat_map(|name| [name, &b"\n"[..]]).flatten().copied().collect();
        let output = thread::scope(|scope| {
            scope.spawn(move || input.write_all(&text));
            git.wait_with_output()
        });
        let printed = String::from_utf8_lossy(&output.map_err(failed)?.stdout).into_owned();
        Ok(printed.lines().map(String::from).collect())
    }

    /// Reads objects up to a size. Those that are larger, or no files, are left out.
    ///
    /// # Errors
    /// Git failed, or an object is missing: the reason.
    pub fn read(&self, objects: &[(&Path, &str)], limit: u64) -> Result<Vec<OldFile>, String> {
        let mut files = Vec::new();
        self.read_each(
            objects,
            |size| (size <= limit).then_some(size),
            |index, bytes| {
                let place = objects[index].0.to_path_buf();
                files.extend(bytes.map(|bytes| OldFile { place, bytes }));
            },
        )?;
        Ok(files)
    }

    /// Reads the beginnings of objects: `length` gives the number of bytes, given the size, or `None` for nothing of it. In their order,
    /// each with its index; `None` also if it is no file. One is in memory at a time.
    ///
    /// # Errors
    /// As of [`read`](Self::read).
    pub fn read_each(
        &self,
        objects: &[(&Path, &str)],
        length: impl Fn(u64) -> Option<u64>,
        mut each: impl FnMut(usize, Option<Vec<u8>>),
    ) -> Result<(), String> {
        if objects.is_empty() {
            return Ok(());
        }
        let failed = |error: io::Error| match error.kind() {
            io::ErrorKind::UnexpectedEof => {
                format!("git does not print objects; this fetches what may be missing: {FETCH_OBJECTS}")
            }
            io::ErrorKind::Other => error.to_string(),
            _ => format!("cannot read objects of git: {error}"),
        };
        let mut command = self.command(["cat-file", "--batch"]);
        let mut git = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
        let git = git.as_mut().map_err(|error| format!("cannot run git: {error}"))?;
        let (mut input, output) = (git.stdin.take().expect("a pipe"), git.stdout.take().expect("a pipe"));
        let names: String = objects.iter().map(|(_, object)| format!("{object}\n")).collect();
        let read = thread::scope(|scope| {
            scope.spawn(move || input.write_all(names.as_bytes()));
            let mut output = BufReader::new(output);
            for (index, (place, _)) in objects.iter().enumerate() {
                let name = place.strip_prefix(&self.folder).unwrap_or(place);
                each(index, next_object(&mut output, name, &length)?);
            }
            Ok(())
        });
        // It ends by itself at the end of its input, or when nobody reads its output.
        let _ = git.wait();
        read.map_err(failed)
    }

    /// Git in this repository, with these arguments.
    fn command<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Command {
        let mut command = Command::new("git");
        // A program that would list changed files, from the configuration.
        command.args(["-c", "core.fsmonitor=false", "-C"]).arg(&self.folder).args(args);
        let foreign = self.local.iter().filter(|_| !self.is_given).map(String::as_str);
        for name in OUTPUT_VARIABLES.into_iter().chain(foreign) {
            command.env_remove(name);
        }
        if let Some(index) = &self.index {
            command.env("GIT_INDEX_FILE", index);
        }
        // Nothing is fetched, which would start programs. Git before 2.45 tries to, without any protocol that is allowed.
        command.env("GIT_NO_LAZY_FETCH", "1").env("GIT_ALLOW_PROTOCOL", "none").env(EMPTY_VARIABLE, "");
        command.env("GIT_OPTIONAL_LOCKS", "0").env("GIT_LITERAL_PATHSPECS", "1");
        command
    }
}

/// Objects of a repository, read one at a time. Git is started for the first one and ends with this value.
pub(super) struct Objects {
    repository: Repository,
    running: Option<Running>,
}

/// `git cat-file --batch`.
struct Running {
    git: Child,
    pipes: Option<(ChildStdin, BufReader<ChildStdout>)>,
}

impl Objects {
    pub fn of(repository: &Repository) -> Self {
        Objects { repository: repository.clone(), running: None }
    }

    /// The first bytes of an object, at most `length` of them. None of one that is no file.
    ///
    /// # Errors
    /// Git failed, or the object is missing: the reason. Others can still be read.
    pub fn beginning(&mut self, object: &str, length: u64) -> Result<Vec<u8>, String> {
        self.next(object, length).map_err(|error| {
            if error.kind() == io::ErrorKind::Other {
                return format!("the stored text is missing ({FETCH_OBJECTS} fetches it)");
            }
            // What follows in its output is unknown.
            self.running = None;
            match error.kind() {
                io::ErrorKind::UnexpectedEof => {
                    format!("git does not print the stored text ({FETCH_OBJECTS} fetches what is missing)")
                }
                _ => format!("cannot read the stored text with git: {error}"),
            }
        })
    }

    fn next(&mut self, object: &str, length: u64) -> io::Result<Vec<u8>> {
        let running = match &mut self.running {
            Some(running) => running,
            none => none.insert(Running::start(&self.repository)?),
        };
        let (input, output) = running.pipes.as_mut().expect("pipes until the end");
        // Git prints each object when it has read its name.
        input.write_all(format!("{object}\n").as_bytes())?;
        input.flush()?;
        Ok(next_object(output, Path::new(object), |_| Some(length))?.unwrap_or_default())
    }
}

impl Running {
    fn start(repository: &Repository) -> io::Result<Self> {
        let mut command = repository.command(["cat-file", "--batch"]);
        let mut git = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let (input, output) = (git.stdin.take().expect("a pipe"), git.stdout.take().expect("a pipe"));
        Ok(Running { git, pipes: Some((input, BufReader::new(output))) })
    }
}

impl Drop for Running {
    /// Git ends by itself at the end of its input.
    fn drop(&mut self) {
        self.pipes = None;
        _ = self.git.wait();
    }
}

/// The next object of `git cat-file --batch`: a line `<object> <kind> <size>`, the bytes, and a line end. As many of the bytes as `length`
/// gives for the size. `None` if that is `None`, or the object is no file.
///
/// # Errors
/// The object is missing, or the output ends.
fn next_object(
    output: &mut impl BufRead,
    place: &Path,
    length: impl Fn(u64) -> Option<u64>,
) -> io::Result<Option<Vec<u8>>> {
    let mut head = String::new();
    output.read_line(&mut head)?;
    let mut words = head.split_whitespace().skip(1);
    let (kind, size) = (words.next(), words.next().and_then(|size| size.parse::<u64>().ok()));
    let Some(size) = size else {
        // `<object> missing`, as in a clone without all objects.
        let what = format!("the stored text of {} is missing; this fetches it: {FETCH_OBJECTS}", shown(place));
        return Err(if head.is_empty() { io::ErrorKind::UnexpectedEof.into() } else { io::Error::other(what) });
    };
    let length = length(size).filter(|_| kind == Some("blob")).map(|length| length.min(size));
    let mut bytes = Vec::new();
    output.take(length.unwrap_or(0)).read_to_end(&mut bytes)?;
    let rest = size + 1 - bytes.len() as u64;
    if io::copy(&mut output.take(rest), &mut io::sink())? != rest {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(length.map(|_| bytes))
}

/// An entry of `git diff-index --raw -z`.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Changed<'a> {
    /// The object that it was, if that was a regular file.
    pub old: Option<String>,
    /// The object that it is, if that is a regular file; zeros if git does not know it.
    pub new: Option<String>,
    pub name: &'a [u8],
}

/// The entries of `git diff-index --raw -z`: `:<mode> <mode> <object> <object> <status>`, then the name.
pub(super) fn raw(printed: &[u8]) -> impl Iterator<Item = Changed<'_>> {
    let mut parts = ended_by_zero(printed);
    std::iter::from_fn(move || {
        let head = String::from_utf8_lossy(parts.next()?).into_owned();
        let name = parts.next()?;
        let mut words = head.trim_start_matches(':').split(' ');
        let [old_mode, new_mode, old, new] = [words.next()?, words.next()?, words.next()?, words.next()?];
        let of = |mode: &str, object: &str| mode.starts_with("100").then(|| object.to_string());
        Some(Changed { old: of(old_mode, old), new: of(new_mode, new), name })
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

fn joined_by(mut name: OsString, end: &str) -> OsString {
    name.push(end);
    name
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
        let found: Vec<_> = raw(diff.as_bytes()).map(|Changed { old, new, name }| (old, new, name)).collect();
        let [old, unknown] = [&one, &zero].map(|object| Some(object.clone()));
        let expected: [(_, _, &[u8]); 4] = [
            (old.clone(), unknown.clone(), b"a.md"),
            (None, unknown.clone(), b"b c.md"),
            (None, unknown, b"d.md"),
            (old, None, b"e"),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn objects_of_a_batch() {
        let mut output =
            &b"aa blob 3\nx\ny\nbb missing\ncc blob 5\n12345\ndd tree 1\nx\nee blob 0\n\nff blob 9\nxx"[..];
        let up_to_4 = |size: u64| (size <= 4).then_some(size);
        let mut next = || next_object(&mut output, Path::new("p"), up_to_4);
        assert_eq!(next().unwrap(), Some(b"x\ny".to_vec()));
        assert!(next().unwrap_err().to_string().contains("missing; this fetches it: git fetch"));
        assert_eq!([next().unwrap(), next().unwrap()], [None, None]);
        assert_eq!(next().unwrap(), Some(vec![]));
        // Too large, and the output ends; then no output at all.
        assert!(next().is_err() && next().is_err());
        let mut output = &b"aa blob 3\nxyz\nbb blob 1\nv\ncc blob 4\nxy"[..];
        let mut next = || next_object(&mut output, Path::new("p"), |_| Some(2));
        assert_eq!([next().unwrap(), next().unwrap()], [Some(b"xy".to_vec()), Some(b"v".to_vec())]);
        assert!(next().is_err());
    }
}
