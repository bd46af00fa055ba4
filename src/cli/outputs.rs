//! A registry of all files that a run reads and writes. No output may be another output, an input or the index.
//!
//! Nor may it be in a folder that a command fills with files of its own: it could be replaced, or replace one.
//!
//! Files are compared by device and inode, with symbolic links followed; files that do not exist yet, by folder and name. Pipes,
//! terminals and other devices are not compared, because writing to them replaces nothing.

use super::arguments::keep::Keep;
use super::arguments::{Method, Tokens};
use super::files::{OutFile, cannot_write};
use super::preparation::stop_word_lists;
use super::problems::Rejects;
use super::status::usage_error;
use crate::readable::escaped;
use neardups::Error;
use neardups::index::tables_folder;
use neardups::replace::{self, resolve, resolve_existing};
use neardups::source::FileId;
use std::collections::BTreeSet;
use std::ffi::OsString;
#[cfg(unix)]
use std::fs::File;
use std::fs::Metadata;
use std::io;
#[cfg(unix)]
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use walkdir::WalkDir;

/// All files that a run reads and writes.
pub struct Outputs {
    known: Vec<Known>,
    /// Whether hidden files of input folders are read.
    hidden: bool,
    /// The documents as typed.
    documents: Vec<String>,
}

/// A registered file or folder.
struct Known {
    role: Role,
    /// Its description in messages.
    what: String,
    /// The path as typed.
    path: Option<PathBuf>,
    identity: Identity,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    /// A file that is read.
    Input,
    /// A folder whose files are read.
    InputFolder,
    /// A file that is written, or an index.
    Output,
    /// A folder that is filled with files, and what they are. It may not exist yet.
    OutputFolder,
    /// The file that standard output was redirected to, and whether it is empty.
    StandardOutput { is_empty: bool },
    /// The file that standard error was redirected to.
    StandardError,
}

/// Identifies a file.
#[derive(Default)]
struct Identity {
    /// The file itself, if it exists.
    file: Option<FileId>,
    /// Its path without symbolic links; unknown for streams that were already open.
    place: Option<PathBuf>,
    /// Its folder.
    folder: Option<FileId>,
}

fn id(path: &Path) -> Option<FileId> {
    FileId::of(path, &path.metadata().ok()?)
}

impl Identity {
    /// `None` for pipes, devices and impossible paths.
    fn of(path: &Path) -> Option<Self> {
        let file = match path.metadata() {
            Ok(found) if found.is_file() || found.is_dir() => FileId::of(path, &found),
            Ok(_) => return None,
            Err(_) => None,
        };
        let place = resolve(path).ok().or_else(|| resolve_existing(path))?;
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

/// The file that a standard stream was redirected to, if it is a regular file.
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
    /// Starts with the files of standard output and standard error.
    pub fn new() -> Self {
        let mut outputs = Outputs { known: Vec::new(), hidden: false, documents: Vec::new() };
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

    /// Registers a reference.
    ///
    /// # Errors
    /// As for [`reads_documents`](Self::reads_documents).
    pub fn reads_reference(&mut self, path: &Path) -> Result<(), Error> {
        refuse_address_or_glob(path)?;
        self.reads(path, "the reference")
    }

    /// Registers the documents: files and folders, or standard input if none was typed.
    ///
    /// # Errors
    /// Standard output goes to one of them.
    pub fn reads_documents(&mut self, paths: &[PathBuf], hidden: bool) -> Result<(), Error> {
        self.hidden = hidden;
        self.documents = paths.iter().map(|path| path.display().to_string()).collect();
        if paths.is_empty() {
            self.documents.push("-".into());
            return self.reads("-", "the input");
        }
        paths.iter().try_for_each(|path| refuse_address_or_glob(path))?;
        paths.iter().try_for_each(|path| self.reads(path, "the input"))
    }

    /// The files and folders of documents that were registered, as typed; `-` is standard input.
    pub fn documents(&self) -> &[String] {
        &self.documents
    }

    /// Registers the lexicons and the files of words.
    ///
    /// # Errors
    /// As for [`reads_documents`](Self::reads_documents).
    pub fn reads_method(&mut self, method: &Method) -> Result<(), Error> {
        method.terms().iter().try_for_each(|(flag, file)| self.reads(file, &format!("the file of --{flag}")))?;
        method.antecedents().iter().try_for_each(|file| self.reads(file, "the antecedents"))?;
        self.reads_stop_words(&method.tokens)
    }

    /// Registers the file of decisions.
    ///
    /// # Errors
    /// As for [`reads_documents`](Self::reads_documents).
    pub fn reads_decisions(&mut self, keep: &Keep) -> Result<(), Error> {
        keep.decisions.iter().try_for_each(|file| self.reads(file, "the decisions"))
    }

    /// Registers the files of stop words.
    ///
    /// # Errors
    /// As for [`reads_documents`](Self::reads_documents).
    pub fn reads_stop_words(&mut self, tokens: &Tokens) -> Result<(), Error> {
        let lists = tokens.stop_words.iter().flat_map(|typed| stop_word_lists(typed));
        let mut files = lists.filter(|list| Path::new(list).is_file());
        files.try_for_each(|file| self.reads(file, "stop words"))
    }

    /// Registers an input file or folder; `-` is standard input.
    ///
    /// # Errors
    /// It is also an output.
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
    /// It is an input, another output, `-`, or has the name of a temporary file.
    pub fn writes(&mut self, path: &Path, what: &str) -> Result<(), Error> {
        let (shown, what) = (escaped(&path.to_string_lossy()), what.to_string());
        if path.as_os_str() == "-" {
            let why = "needs a file: standard output is for results (use ./- for a file with this name)";
            return Err(usage_error(format!("{} {why}", escaped(&what))));
        }
        if replace::is_temporary(path) {
            return Err(usage_error(format!("{shown}: names like this are for temporary files: choose another one")));
        }
        let Some(identity) = Identity::of(path) else { return Ok(()) };
        self.add(Known { role: Role::Output, what, path: Some(path.to_path_buf()), identity })
    }

    /// Registers a folder that is filled with files. Other outputs must not be in it.
    ///
    /// # Errors
    /// One of them is.
    pub fn writes_folder(&mut self, path: &Path, what: &str) -> Result<(), Error> {
        let identity = Identity { file: id(path), place: resolve_existing(path), folder: None };
        self.add(Known { role: Role::OutputFolder, what: what.into(), path: Some(path.to_path_buf()), identity })
    }

    /// Registers an index, with the folder of its tables.
    ///
    /// # Errors
    /// As for [`writes`](Self::writes) and [`writes_folder`](Self::writes_folder).
    pub fn writes_index(&mut self, path: &Path) -> Result<(), Error> {
        self.writes(path, "the index")?;
        match path.as_os_str().is_empty() {
            true => Ok(()),
            false => self.writes_folder(&tables_folder(path), "the tables of the index"),
        }
    }

    /// Registers a file that is written at the end of a run. Whether it can be written is checked now, so that a long run does not fail
    /// at its end because of a mistyped name.
    ///
    /// # Errors
    /// As for [`writes`](Self::writes), and if it has several hard links or cannot be written.
    pub fn file(&mut self, path: &Path, what: &str) -> Result<OutFile, Error> {
        self.writes(path, what)?;
        refuse_hard_links(path, what)?;
        OutFile::new(path)
    }

    /// Registers a file that lines are appended to.
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

    /// Registers and creates the file of `--rejects`, which is written during the run.
    ///
    /// # Errors
    /// As for [`file`](Self::file).
    pub fn rejects(&mut self, typed: Option<&Path>) -> Result<Option<Rejects>, Error> {
        let flag = "--rejects";
        let Some(path) = typed else { return Ok(None) };
        self.writes(path, flag)?;
        refuse_hard_links(path, flag)?;
        Rejects::create(path).map(Some)
    }

    /// As [`file`](Self::file), but a pipe, which may block, is refused.
    ///
    /// # Errors
    /// Those of [`file`](Self::file), or it is no regular file.
    pub fn regular_file(&mut self, path: &Path, what: &str) -> Result<OutFile, Error> {
        if path.metadata().is_ok_and(|found| !found.is_file()) {
            let shown = escaped(&path.to_string_lossy());
            return Err(usage_error(format!(
                "{what} {shown} is no regular file: only such a file is replaced as a whole"
            )));
        }
        self.file(path, what)
    }

    /// Registers the file of `--stats`.
    ///
    /// # Errors
    /// As for [`file`](Self::file).
    pub fn stats(&mut self, typed: Option<&Path>) -> Result<Option<OutFile>, Error> {
        typed.map(|path| self.file(path, "--stats")).transpose()
    }

    /// Whether standard output appends to this file, which is not empty.
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
        use Role::{Input, InputFolder, Output, OutputFolder, StandardError, StandardOutput};
        match (old.role, new.role) {
            (Input | InputFolder, Input | InputFolder) => Ok(()),
            (OutputFolder, Output | OutputFolder) => check_output_folder(old, new),
            (Output, OutputFolder) => check_output_folder(new, old),
            // What is read from it, and the streams, are not files that are replaced.
            (OutputFolder, _) | (_, OutputFolder) => Ok(()),
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

    /// Refuses an output that would be read as part of an input folder, now or in the next run.
    fn check_folder(&self, folder: &Known, output: &Known) -> Result<(), Error> {
        // A file that the shell has just created or emptied is read as an empty document before it is written.
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
            "{}: {place} is in {} {} and would be read as a document: write to another folder{}",
            escaped(&output.what),
            escaped(&folder.what),
            escaped(&path.to_string_lossy()),
            if self.hidden { "" } else { ", or to a hidden file" }
        )))
    }
}

/// Refuses an output in a folder that is filled with files, or in the place of that folder.
fn check_output_folder(folder: &Known, output: &Known) -> Result<(), Error> {
    let shown = |known: &Known| known.path.as_ref().map_or("it".into(), |path| escaped(&path.to_string_lossy()));
    let is_below = match (&output.identity.place, &folder.identity.place) {
        (Some(output), Some(folder)) => output.starts_with(folder),
        _ => false,
    };
    let path = folder.path.as_deref().unwrap_or(Path::new("."));
    if !is_below && !holds(path, &output.identity, true, &mut BTreeSet::new()) {
        return Ok(());
    }
    Err(usage_error(format!(
        "{}: {} is in {}, the folder of {}, which could replace it or be replaced by it: name a file elsewhere",
        escaped(&output.what),
        shown(output),
        shown(folder),
        escaped(&folder.what)
    )))
}

/// Refuses what cannot be the path of a file: an address, or a glob that the shell has passed on.
fn refuse_address_or_glob(path: &Path) -> Result<(), Error> {
    let typed = path.to_string_lossy();
    if path.symlink_metadata().is_ok() {
        return Ok(());
    }
    let shown = escaped(&typed);
    if typed.contains("://") {
        return Err(usage_error(format!(
            "{shown}: only local files and folders are read: copy it first, or pipe it to dedup scan -"
        )));
    }
    if typed.contains(['*', '?']) {
        let name = path.file_name().map(|name| escaped(&name.to_string_lossy())).unwrap_or_default();
        return Err(usage_error(format!(
            "{shown}: there is no such file, and a glob is not a path: name the folder, and its files with --include '{name}'"
        )));
    }
    Ok(())
}

/// Whether a folder contains a file, with symbolic links followed.
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
    // The file may also be reached by links, or be known only by inode.
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
            "{}: {} has {} hard links, which would be changed too or separated: name another file",
            escaped(what),
            escaped(&path.to_string_lossy()),
            replace::hard_links(&found)
        ))),
        _ => Ok(()),
    }
}
