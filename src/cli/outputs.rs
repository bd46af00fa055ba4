//! Where a command may write. One registry for each run knows everything that is read and everything that is written, and no output
//! may be another output, an input or the index.
//!
//! Files are compared by device and inode, with symbolic links followed; files that do not exist yet, by their folder and their
//! name. What is written to a pipe, a terminal or another device replaces nothing, and is not compared.

use super::problems::Rejects;
use super::spelling::spelled;
use super::terminal::{self, escaped};
use super::{Status, usage_error};
use clap::ArgMatches;
use neardups::Error;
use neardups::replace::{self, Replacement, resolve};
use neardups::source::FileId;
use serde::Serialize;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::{self, File, Metadata};
use std::io::{self, Write};
#[cfg(unix)]
use std::os::fd::AsFd;
use std::path::{Component, Path, PathBuf};
use walkdir::WalkDir;

/// Everything that a command reads and writes.
pub struct Outputs {
    known: Vec<Known>,
    /// Whether hidden files of input folders are read.
    hidden: bool,
}

/// A file or folder that a command uses.
struct Known {
    role: Role,
    /// What it is, in messages.
    what: String,
    /// As it was typed.
    path: Option<PathBuf>,
    identity: Identity,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    /// A file that is read.
    Input,
    /// A folder of which all files are read.
    InputFolder,
    /// A file that is written, or an index, which is read and written.
    Output,
    /// The file that standard output was redirected to, and whether there is something in it.
    StandardOutput { is_empty: bool },
    /// The file that standard error was redirected to.
    StandardError,
}

/// What tells files apart.
#[derive(Default)]
struct Identity {
    /// The file itself, if it exists.
    file: Option<FileId>,
    /// Where it is or will be, without symbolic links; not known of what was already open.
    place: Option<PathBuf>,
    /// Its folder.
    folder: Option<FileId>,
}

fn id(path: &Path) -> Option<FileId> {
    FileId::of(path, &path.metadata().ok()?)
}

impl Identity {
    /// `None` for pipes, devices, and what cannot exist.
    fn of(path: &Path) -> Option<Self> {
        let file = match path.metadata() {
            Ok(found) if found.is_file() || found.is_dir() => FileId::of(path, &found),
            Ok(_) => return None,
            Err(_) => None,
        };
        let place = resolve(path).ok()?;
        let folder = place.parent().and_then(id);
        Some(Identity { file, place: Some(place), folder })
    }

    fn name(&self) -> Option<OsString> {
        Some(self.place.as_ref()?.file_name()?.to_os_string())
    }

    fn is_same(&self, other: &Identity) -> bool {
        let is_one_file = self.file.is_some() && self.file == other.file;
        let is_one_entry = self.folder.is_some() && self.folder == other.folder && self.name() == other.name();
        is_one_file || is_one_entry && self.name().is_some()
    }
}

/// What one of the three standard streams was redirected to, if that is a regular file.
#[cfg(unix)]
fn redirected(stream: impl AsFd) -> Option<Metadata> {
    let file = File::from(stream.as_fd().try_clone_to_owned().ok()?);
    file.metadata().ok().filter(Metadata::is_file)
}

#[cfg(not(unix))]
fn redirected<T>(_: T) -> Option<Metadata> {
    None
}

impl Outputs {
    /// Starts with what standard output and standard error are.
    pub fn new() -> Self {
        let mut outputs = Outputs { known: Vec::new(), hidden: false };
        let mut standard = |role: fn(&Metadata) -> Role, what: &str, found: Option<Metadata>| {
            if let Some(found) = found {
                let identity = Identity { file: FileId::of(Path::new(""), &found), ..Identity::default() };
                outputs.known.push(Known { role: role(&found), what: what.into(), path: None, identity });
            }
        };
        let is_empty = |found: &Metadata| Role::StandardOutput { is_empty: found.len() == 0 };
        standard(is_empty, "standard output", redirected(io::stdout()));
        standard(|_| Role::StandardError, "standard error", redirected(io::stderr()));
        outputs
    }

    /// Registers what the options that several commands have say is read: paths, references, a lexicon, stop words.
    ///
    /// # Errors
    /// Standard output goes to one of these.
    pub fn read_by(&mut self, given: &ArgMatches) -> Result<(), Error> {
        // As it was typed, whatever the option makes of it.
        let typed = |flag: &str| -> Vec<OsString> {
            let raw = given.try_get_raw(flag).ok().flatten();
            raw.into_iter().flatten().map(OsString::from).collect()
        };
        self.hidden = given.try_get_one("hidden").ok().flatten().is_some_and(|&hidden: &bool| hidden);
        let paths = typed("path");
        if paths.is_empty() {
            self.reads("-", "the input")?;
        }
        for (paths, what) in
            [(paths, "the input"), (typed("against"), "the reference"), (typed("lexicon"), "the lexicon")]
        {
            paths.into_iter().try_for_each(|path| self.reads(path, what))?;
        }
        for words in typed("stopwords") {
            let is_file = Path::new(&words).is_file();
            let parts = words.to_str().unwrap_or_default().split(',').map(OsString::from);
            let parts = if is_file { vec![words.clone()] } else { parts.collect() };
            let mut files = parts.into_iter().filter(|part| Path::new(part).is_file());
            files.try_for_each(|file| self.reads(file, "stop words"))?;
        }
        Ok(())
    }

    /// Registers a file or folder that is read; `-` is standard input.
    ///
    /// # Errors
    /// It is an output.
    pub fn reads(&mut self, path: impl AsRef<Path>, what: &str) -> Result<(), Error> {
        let path = path.as_ref();
        if path.as_os_str() == "-" {
            let Some(found) = redirected(io::stdin()) else { return Ok(()) };
            let identity = Identity { file: FileId::of(Path::new(""), &found), ..Identity::default() };
            return self.add(Known { role: Role::Input, what: "standard input".into(), path: None, identity });
        }
        let Some(identity) = Identity::of(path) else { return Ok(()) };
        let role = if path.is_dir() { Role::InputFolder } else { Role::Input };
        self.add(Known { role, what: what.into(), path: Some(path.to_path_buf()), identity })
    }

    /// Registers a file that is written, or an index.
    ///
    /// # Errors
    /// It is an input, another output, `-`, or called like a temporary file.
    pub fn writes(&mut self, path: &Path, what: &str) -> Result<(), Error> {
        let (shown, what) = (escaped(&path.to_string_lossy()), what.to_string());
        if path.as_os_str() == "-" {
            let why = "needs a file: standard output is for results (./- is a file called so)";
            return Err(usage_error(format!("{} {why}", escaped(&what))));
        }
        if replace::is_temporary(path) {
            return Err(usage_error(format!("{shown}: names like this are for temporary files: choose another one")));
        }
        let Some(identity) = Identity::of(path) else { return Ok(()) };
        self.add(Known { role: Role::Output, what, path: Some(path.to_path_buf()), identity })
    }

    /// A file that is written at once, at the end of a run. That it can be written is tried now, so that a run of hours does not end
    /// on a mistyped name.
    ///
    /// # Errors
    /// As for [`writes`](Self::writes), and if it has several hard links or cannot be written.
    pub fn file(&mut self, path: &Path, what: &str) -> Result<OutFile, Error> {
        self.writes(path, what)?;
        refuse_hard_links(path, what)?;
        OutFile::new(path)
    }

    /// Registers a file that is appended to.
    ///
    /// # Errors
    /// As for [`writes`](Self::writes), and if it has several hard links or its folder does not exist.
    pub fn appends(&mut self, path: &Path, what: &str) -> Result<(), Error> {
        self.writes(path, what)?;
        refuse_hard_links(path, what)?;
        if path.metadata().is_err() {
            resolve(path).map_err(|error| cannot_write(path, error))?;
        }
        Ok(())
    }

    /// The file of `--rejects`, which is written as records are rejected.
    ///
    /// # Errors
    /// As for [`file`](Self::file).
    pub fn rejects(&mut self, given: &ArgMatches) -> Result<Option<Rejects>, Error> {
        let flag = "--rejects";
        let Some(path) = given.get_one::<PathBuf>("rejects") else { return Ok(None) };
        self.writes(path, flag)?;
        refuse_hard_links(path, flag)?;
        Rejects::create(path).map(Some)
    }

    /// The file of `--stats`.
    ///
    /// # Errors
    /// As for [`file`](Self::file).
    pub fn stats(&mut self, given: &ArgMatches) -> Result<Option<OutFile>, Error> {
        given.get_one::<PathBuf>("stats").map(|path| self.file(path, "--stats")).transpose()
    }

    /// Whether standard output adds to a file that has something in it.
    pub fn standard_output_adds_to(&self, path: &Path) -> bool {
        let mut streams = self.known.iter().filter(|known| known.role == (Role::StandardOutput { is_empty: false }));
        streams.any(|stream| stream.identity.file.is_some() && stream.identity.file == id(path))
    }

    fn add(&mut self, new: Known) -> Result<(), Error> {
        self.known.iter().try_for_each(|old| self.check(old, &new))?;
        self.known.push(new);
        Ok(())
    }

    fn check(&self, old: &Known, new: &Known) -> Result<(), Error> {
        use Role::{Input, InputFolder, Output, StandardError, StandardOutput};
        match (old.role, new.role) {
            (Input | InputFolder, Input | InputFolder) => Ok(()),
            (StandardError, Input | InputFolder | StandardOutput { .. }) => Ok(()),
            (Input | InputFolder | StandardOutput { .. }, StandardError) => Ok(()),
            (InputFolder, _) => self.check_folder(old, new),
            (_, InputFolder) => self.check_folder(new, old),
            (Input | Output | StandardOutput { .. } | StandardError, _) if !old.identity.is_same(&new.identity) => {
                Ok(())
            }
            _ => {
                let path = new.path.as_ref().or(old.path.as_ref());
                let path = path.map_or("one file".into(), |path| escaped(&path.to_string_lossy()));
                let (old, new) = (escaped(&old.what), escaped(&new.what));
                Err(usage_error(format!("{path} cannot be both {old} and {new}")))
            }
        }
    }

    /// Whether an output would be read as part of an input folder, now or in the next run.
    fn check_folder(&self, folder: &Known, output: &Known) -> Result<(), Error> {
        // What the shell has just made or emptied is read as an empty document before it is written.
        if output.role == (Role::StandardOutput { is_empty: true }) {
            return Ok(());
        }
        let mut seen = BTreeSet::new();
        let path = folder.path.as_deref().unwrap_or(Path::new("."));
        if !holds(path, &output.identity, self.hidden, &mut seen) {
            return Ok(());
        }
        let place = output.path.as_ref().map_or("it".into(), |path| escaped(&path.to_string_lossy()));
        Err(usage_error(format!(
            "{}: {place} is in {} {}, and would be read as a document: write to another folder{}",
            escaped(&output.what),
            escaped(&folder.what),
            escaped(&path.to_string_lossy()),
            if self.hidden { "" } else { ", or to a hidden file" }
        )))
    }
}

/// Whether a file would be found in a folder when symbolic links are followed.
fn holds(folder: &Path, file: &Identity, hidden: bool, seen: &mut BTreeSet<FileId>) -> bool {
    let Some(root) = id(folder) else { return false };
    if !seen.insert(root.clone()) {
        return false;
    }
    let is_hidden = |name: &std::ffi::OsStr| !hidden && name.as_encoded_bytes().starts_with(b".");
    if let Some(place) = &file.place {
        let mut above = place.as_path();
        loop {
            if above.file_name().is_none_or(is_hidden) {
                break;
            }
            let Some(parent) = above.parent() else { break };
            if id(parent).as_ref() == Some(&root) {
                return true;
            }
            above = parent;
        }
    }
    // It may also be reached by links, or be known without its name.
    let wanted = file.file.as_ref();
    let entries = WalkDir::new(folder).follow_root_links(true).into_iter();
    let entries = entries.filter_entry(|entry| entry.depth() == 0 || !is_hidden(entry.file_name()));
    let is_known_by_inode_alone = file.place.is_none();
    for entry in entries.filter_map(Result::ok).filter(|entry| entry.depth() > 0) {
        let is_link = entry.path_is_symlink();
        if !(is_link || is_known_by_inode_alone && entry.file_type().is_file()) {
            continue;
        }
        let Ok(found) = entry.path().metadata() else { continue };
        if found.is_file() && wanted.is_some() && FileId::of(entry.path(), &found).as_ref() == wanted
            || found.is_dir() && is_link && holds(entry.path(), file, hidden, seen)
        {
            return true;
        }
    }
    false
}

fn refuse_hard_links(path: &Path, what: &str) -> Result<(), Error> {
    match path.metadata() {
        Ok(found) if found.is_file() && replace::hard_links(&found) > 1 => Err(usage_error(format!(
            "{}: {} has {} names (hard links), and would be changed under all of them, or separated: name another file",
            escaped(what),
            escaped(&path.to_string_lossy()),
            replace::hard_links(&found)
        ))),
        _ => Ok(()),
    }
}

/// The error of a file that cannot be written. A pipe that closes there must not look like standard output that closes, which may be a
/// quiet end.
pub fn cannot_write(path: &Path, error: io::Error) -> Error {
    Error::output(format!("cannot write {}", path.display()), io::Error::other(error))
}

/// A file that a run writes at its end.
pub struct OutFile {
    /// As it was typed.
    path: PathBuf,
    target: Target,
}

enum Target {
    /// A file that is replaced as a whole.
    File(PathBuf),
    /// Something that cannot be replaced, such as a pipe or a terminal.
    Special(File),
}

/// Starts to replace a file. One that may not be written is not replaced either.
pub fn replacement(path: &Path, exists: bool) -> io::Result<Replacement> {
    if exists {
        File::options().write(true).open(path)?;
    }
    Replacement::new(path)
}

impl OutFile {
    fn new(path: &Path) -> Result<Self, Error> {
        let target = match path.metadata() {
            Ok(found) if !found.is_file() => File::options().write(true).open(path).map(Target::Special),
            found => Self::try_out(path, found.is_ok()).map(Target::File),
        };
        Ok(OutFile { path: path.to_path_buf(), target: target.map_err(|error| cannot_write(path, error))? })
    }

    /// Whether a file can be replaced. Nothing of it may lie about while folders are read.
    fn try_out(path: &Path, exists: bool) -> io::Result<PathBuf> {
        Ok(replacement(path, exists)?.target().to_path_buf())
    }

    /// Writes all of it.
    ///
    /// # Errors
    /// It cannot be written; what was there before stays.
    pub fn write(&self, text: &str) -> Result<(), Error> {
        let written = match &self.target {
            Target::File(place) => Replacement::new(place).and_then(|mut file| {
                file.file().write_all(text.as_bytes())?;
                file.commit()
            }),
            Target::Special(file) => (&*file).write_all(text.as_bytes()),
        };
        written.map_err(|error| cannot_write(&self.path, error))
    }
}

/// Why a run failed, as statistics have it.
#[derive(Serialize)]
pub struct Failure {
    kind: &'static str,
    message: String,
}

impl From<&Error> for Failure {
    fn from(error: &Error) -> Self {
        Failure { kind: error.kind().name(), message: spelled(&error.to_string()).into_owned() }
    }
}

/// The object of `--stats` if nothing else is known.
#[derive(Serialize)]
struct Failed {
    r#type: &'static str,
    version: &'static str,
    error: Failure,
}

/// Runs a command that takes the file of `--stats` and writes it. If the command fails before that, the file says why.
///
/// # Errors
/// Those of the command.
pub fn with_stats(
    mut stats: Option<OutFile>,
    run: impl FnOnce(&mut Option<OutFile>) -> Result<Status, Error>,
) -> Result<Status, Error> {
    let result = run(&mut stats);
    if let Err(error) = &result {
        let failed = Failed { r#type: "stats", version: env!("CARGO_PKG_VERSION"), error: error.into() };
        write_stats(stats, &failed, Some(error))?;
    }
    result
}

/// Writes statistics. If the run has an error already, that is the one that counts, and another one is only reported.
///
/// # Errors
/// They cannot be written.
pub fn write_stats(file: Option<OutFile>, stats: &impl Serialize, failure: Option<&Error>) -> Result<(), Error> {
    let Some(file) = file else { return Ok(()) };
    let text = serde_json::to_string(stats).expect("numbers and strings make JSON") + "\n";
    match file.write(&text) {
        Err(error) if failure.is_some() => {
            terminal::error(&error);
            Ok(())
        }
        written => written,
    }
}

/// Refuses an output that a repository's configuration names and that is not inside of the repository: whoever sends a change to the
/// repository could overwrite any file of those who check it.
///
/// # Errors
/// It is outside, or among git's own files.
pub fn confine(path: &Path, root: &Path, what: &str) -> Result<(), Error> {
    let refused = |why: &str| {
        let (what, path) = (escaped(what), escaped(&path.to_string_lossy()));
        Err(usage_error(format!(
            "{what}: {path} {why}: what the configuration names must be inside of it; an option may name any file"
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

/// Refuses a path that leads out of a repository through a symbolic link inside of it: whoever sends a change to the repository can
/// put it there.
///
/// # Errors
/// It does.
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

/// The first symbolic link inside of a folder that is followed on the way to a file.
fn link_within(root: &Path, path: &Path) -> Option<PathBuf> {
    let mut way = std::env::current_dir().ok()?.canonicalize().ok()?;
    let mut rest: Vec<PathBuf> = parts(path);
    // More links than any system follows.
    for _ in 0..1000 {
        let part = rest.pop()?;
        if part.as_os_str() == ".." {
            way.pop();
            continue;
        }
        let next = way.join(part);
        match fs::read_link(&next) {
            Ok(_) if way.starts_with(root) => return Some(next),
            Ok(link) => rest.extend(parts(&link)),
            Err(_) => way = next,
        }
    }
    None
}

/// The parts of a path, the last first.
fn parts(path: &Path) -> Vec<PathBuf> {
    let parts = path.components().filter(|part| *part != Component::CurDir);
    let mut parts: Vec<PathBuf> = parts.map(|part| PathBuf::from(part.as_os_str())).collect();
    parts.reverse();
    parts
}

/// Refuses to run if standard output was opened for reading alone: the standard library takes what is written to it for written.
///
/// # Errors
/// It was.
#[cfg(unix)]
pub fn refuse_unwritable_output() -> Result<(), Error> {
    use rustix::fs::{OFlags, fcntl_getfl};
    match fcntl_getfl(io::stdout()) {
        Ok(flags) if flags & OFlags::ACCMODE == OFlags::RDONLY => {
            Err(no_output("standard output is not open for writing"))
        }
        _ => Ok(()),
    }
}

/// Refuses to run if standard output was closed, where what does not leave would be lost.
///
/// When the program starts, the standard library opens `/dev/null` for reading and writing in the place of a standard stream that is
/// closed; a shell that is asked for `> /dev/null` opens it for writing alone.
///
/// # Errors
/// It was closed.
#[cfg(unix)]
pub fn refuse_closed_output() -> Result<(), Error> {
    use rustix::fs::{OFlags, fcntl_getfl};
    use std::os::unix::fs::{FileTypeExt, MetadataExt};
    let device = |found: Metadata| found.file_type().is_char_device().then(|| found.rdev());
    let of_stdout = io::stdout().as_fd().try_clone_to_owned().and_then(|stdout| File::from(stdout).metadata());
    let is_null = of_stdout
        .ok()
        .and_then(device)
        .is_some_and(|stdout| Path::new("/dev/null").metadata().ok().and_then(device) == Some(stdout));
    match fcntl_getfl(io::stdout()) {
        Ok(flags) if is_null && flags & OFlags::ACCMODE == OFlags::RDWR => Err(no_output(
            "standard output is closed (or /dev/null, opened for reading too): the index would remember documents that never left; \
             redirect it with > /dev/null if that is meant",
        )),
        _ => Ok(()),
    }
}

#[cfg(unix)]
fn no_output(why: &str) -> Error {
    Error::output("cannot write results", io::Error::other(why.to_string()))
}

#[cfg(not(unix))]
pub fn refuse_unwritable_output() -> Result<(), Error> {
    Ok(())
}

#[cfg(not(unix))]
pub fn refuse_closed_output() -> Result<(), Error> {
    Ok(())
}
