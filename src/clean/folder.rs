//! The output folder: what it is the output of, and which files are done, so that an interrupted run is continued.
//!
//! | file in `_dedup` | content |
//! |---|---|
//! | `removed.jsonl` | a line for each record that is left out |
//! | `failed.jsonl` | a line for each file and record that could not be read |
//! | `state.json` | while files are written: the request, the inputs, what happens to each |
//! | `done` | while files are written: a line for each that is done, its number, its length and its time |
//! | `remembered` | until an index remembers what is kept: what is added to it |
//! | `summary.json` | at the end |
//! | `moved.jsonl` | instead of `removed.jsonl`: a line for each file that moved there, or will |
//! | `undone.jsonl` | the same, when all have moved back |
//! | `.lock` | locked by the process that writes |

use super::decisions::{Condition, Counts};
use super::inputs::{Inputs, OWN, Stamp};
use super::manifest::MANIFEST;
use super::request::Cleaned;
use crate::error::Error;
use crate::index::Addition;
use crate::replace::{Links, Replacement, open_regular, sync_folder};
use crate::source::path_of;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};

/// The options that decide the output, by name.
pub(super) type Request = Map<String, Value>;

/// The row of a request that names what decides.
const ALGORITHM: &str = "algo";

/// What it names where near-duplicates do not decide.
pub(super) const PASSAGES: &str = "passages";
pub(super) const CONTAINMENT: &str = "containment";

/// The row of a request to move files that names where they were.
pub(super) const SOURCE_OF_MOVED: &str = "source of moved files";

/// The file `state.json`.
#[derive(Serialize, Deserialize)]
pub(super) struct State {
    pub request: Request,
    pub inputs: Vec<InputRecord>,
    pub counts: Vec<Counts>,
    /// The length of `removed.jsonl` in bytes.
    pub removed_bytes: u64,
    /// If files move: those that are not kept and stay where they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stay: Option<Stay>,
    /// If an index decided: what it is to remember.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index: Option<IndexRecord>,
    /// Files of which nothing is left out because that could not be written.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub uncopied: Vec<Uncopied>,
    /// What the scan found, as `summary.json` has it.
    pub scan: Box<RawValue>,
}

/// A file of which nothing is left out because a copy without it could not be written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Uncopied {
    /// Its path in records.
    pub file: String,
    /// What is wrong.
    pub error: String,
}

/// What happens to an index that decided.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct IndexRecord {
    /// Its path as given.
    pub file: String,
    /// Documents that it remembers before and afterwards.
    pub before: u64,
    pub after: u64,
    /// What is added to it.
    pub addition: Addition,
}

impl State {
    /// The number of files and records that could not be read.
    pub fn failed(&self) -> u64 {
        #[derive(Deserialize)]
        struct Scan {
            counts: Failed,
        }
        #[derive(Deserialize)]
        struct Failed {
            failed: u64,
        }
        serde_json::from_str(self.scan.get()).map_or(0, |scan: Scan| scan.counts.failed)
    }

    /// Whether a run can have counted this: no more is left out than was read, and every sum is a number.
    fn is_counted(&self) -> bool {
        let sum = |count: fn(&Counts) -> u64| self.counts.iter().map(count).try_fold(0, u64::checked_add);
        let sums = [sum(|of| of.records), sum(|of| of.failed), sum(|of| of.duplicates_kept)];
        let stay = self.stay.unwrap_or_default();
        sums.iter().all(Option::is_some)
            && self.counts.iter().all(|of| of.removed <= of.records)
            && stay.failed <= stay.files
            && self.failed().checked_add(stay.files).is_some()
    }
}

/// Numbers of files that are not kept, and are not to be moved.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct Stay {
    /// All of them.
    pub files: u64,
    /// Of these, because something changed.
    pub failed: u64,
}

/// A file of the input as it was read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct InputRecord {
    pub file: String,
    pub output: String,
    pub bytes: u64,
    pub modified: String,
}

/// What of `summary.json` shows whether a run is the same.
#[derive(Deserialize)]
struct Summary {
    request: Request,
    files: Vec<FileRecord>,
    /// Empty if an earlier version wrote it.
    #[serde(default)]
    lists: Vec<ListRecord>,
    #[serde(flatten)]
    counts: Cleaned,
}

/// A list in the folder of its own, as it was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ListRecord {
    pub file: String,
    pub bytes: u64,
}

/// A file in `summary.json`.
#[derive(Deserialize)]
struct FileRecord {
    #[serde(flatten)]
    input: InputRecord,
    /// The length of its output; `None` if it has none, or an earlier version wrote it.
    output_bytes: Option<u64>,
    #[serde(default)]
    condition: Condition,
}

/// The error that a file of a run was changed.
fn not_written(path: &Path) -> Error {
    Error::Usage(format!("{} is not what a run wrote: choose another output folder", path.display()))
}

/// Parses a file that a run wrote, of which at most so many bytes are read; `None` if there is none.
fn parse<T: for<'de> Deserialize<'de>>(path: &Path, most: u64) -> Result<Option<T>, Error> {
    let mut text = String::new();
    match open_to_read(path).and_then(|file| file.take(most).read_to_string(&mut text)) {
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Error::input(format!("cannot read {}", path.display()), error)),
    }
    serde_json::from_str(&text).map(Some).map_err(|_| not_written(path))
}

/// The length of a `summary.json` that is read to say what was run: that of some 100,000 files.
const MOST_ASKED: u64 = 32 << 20;

/// Whether `summary.json` in a folder says that near-duplicates were left out of its other files.
pub(super) fn is_cleaned(root: &Path) -> bool {
    #[derive(Deserialize)]
    struct Asked {
        request: Request,
    }
    let Ok(Some(Asked { request })) = parse(&root.join(OWN).join("summary.json"), MOST_ASKED) else { return false };
    let decides = request.get(ALGORITHM).and_then(Value::as_str);
    decides.is_some_and(|name| ![PASSAGES, CONTAINMENT].contains(&name)) && !request.contains_key(SOURCE_OF_MOVED)
}

/// The records of the inputs.
pub(super) fn records(inputs: &Inputs) -> Vec<InputRecord> {
    let record = |file: &super::inputs::File| InputRecord {
        file: file.shown.clone(),
        output: file.shown_output.clone(),
        bytes: file.stamp.bytes,
        modified: file.stamp.modified.clone(),
    };
    inputs.files.iter().map(record).collect()
}

/// An output folder that this process writes to.
pub(super) struct Folder {
    root: PathBuf,
    own: PathBuf,
    /// Held until the end.
    lock: File,
    /// The folders that this run created, the outermost first.
    created: Vec<PathBuf>,
}

/// A process that this one starts has its open files until it runs its program, and closing ours leaves them locked.
impl Drop for Folder {
    fn drop(&mut self) {
        _ = self.lock.unlock();
    }
}

/// What is in an output folder.
pub(super) enum Found {
    /// Nothing.
    New,
    /// Some files; what happens to all is decided.
    Decided(State),
    /// All files; the counts of the run that wrote them.
    Complete(Box<Cleaned>),
}

impl Folder {
    /// Opens a folder, or creates it.
    ///
    /// # Errors
    /// It holds other things than the output of a run, another process writes to it, or it cannot be written.
    pub fn open(root: &Path) -> Result<Self, Error> {
        let (root, own) = (root.to_path_buf(), root.join(OWN));
        let cannot = |error| cannot_write(&root, error);
        Folder::check(&root)?;
        let absent = |path: &&Path| !path.as_os_str().is_empty() && !path.exists();
        let mut created: Vec<PathBuf> = own.ancestors().take_while(absent).map(Path::to_path_buf).collect();
        created.reverse();
        fs::create_dir_all(&own).map_err(cannot)?;
        let path = own.join(".lock");
        let lock = open_regular(&path, File::options().create(true).truncate(false).write(true), Links::Refused);
        let lock = lock.map_err(|error| cannot_write(&path, error))?;
        match lock.try_lock() {
            // Where files cannot be locked, users must see to it.
            Ok(()) | Err(TryLockError::Error(_)) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(Error::Usage(format!("{}: another run writes to this folder", root.display())));
            }
        }
        Ok(Folder { root, own, lock, created })
    }

    /// Checks that a folder is empty, or that there is none, or that a run has begun to write to it.
    ///
    /// # Errors
    /// It holds other things, or cannot be read.
    pub fn check(root: &Path) -> Result<(), Error> {
        let own = root.join(OWN);
        refuse_links(&own)?;
        if own.is_dir() {
            return Ok(());
        }
        refuse_other_than_folders(root)?;
        match fs::read_dir(root).map(|mut entries| entries.next().is_some()) {
            Ok(true) => Err(not_ours(root)),
            Ok(false) => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(cannot_write(root, error)),
        }
    }

    /// Opens a folder of an earlier run.
    ///
    /// # Errors
    /// It is not one; those of [`open`](Self::open).
    pub fn reopen(root: &Path) -> Result<Self, Error> {
        if !root.join(OWN).is_dir() {
            return Err(Error::Usage(format!("{}: it is not the folder of a run that moved files", root.display())));
        }
        Folder::open(root)
    }

    /// What is in it, if that is the output of this request for these inputs. If they move, `moved` has those that may
    /// be inputs no longer.
    ///
    /// # Errors
    /// It is another output, or cannot be read.
    pub fn find(
        &self,
        request: &Request,
        inputs: &[InputRecord],
        moved: Option<&BTreeSet<String>>,
    ) -> Result<Found, Error> {
        if let Some(Summary { request: old, files, lists, counts }) = self.parse("summary.json")? {
            let refused = files.iter().filter(|file| file.condition == Condition::Refused).count() as u64;
            let is_whole = self.check_outputs(&files).and_then(|()| self.check_lists(&lists));
            let mut files: Vec<InputRecord> = files.into_iter().map(|file| file.input).collect();
            if let Some(moved) = moved {
                let now: BTreeSet<&String> = inputs.iter().map(|input| &input.file).collect();
                files.retain(|input| now.contains(&input.file) || !moved.contains(&input.file));
            }
            self.compare((&old, &files), (request, inputs))?;
            if counts.removed > counts.records {
                return Err(not_written(&self.own.join("summary.json")));
            }
            return is_whole.map(|()| Found::Complete(Cleaned { refused, ..counts }.into()));
        }
        if let Some(state) = self.parse::<State>("state.json")? {
            if !state.is_counted() {
                return Err(not_written(&self.own.join("state.json")));
            }
            // Each file that moves is compared before it moves.
            let old = if moved.is_some() { inputs } else { &state.inputs };
            self.compare((&state.request, old), (request, inputs))?;
            return Ok(Found::Decided(state));
        }
        let entries = fs::read_dir(&self.root).map_err(|error| cannot_write(&self.root, error))?;
        match entries.filter_map(Result::ok).any(|entry| entry.file_name() != OWN) {
            true if moved.is_some_and(|moved| !moved.is_empty()) => Err(self.not_all_back()),
            true => Err(not_ours(&self.root)),
            false => Ok(Found::New),
        }
    }

    /// Checks that outputs are as long as they were written.
    fn check_outputs(&self, files: &[FileRecord]) -> Result<(), Error> {
        let mut written =
            files.iter().filter_map(|FileRecord { input, output_bytes, .. }| Some((input, (*output_bytes)?)));
        written.try_for_each(|(input, bytes)| {
            self.check_length(&self.root.join(path_of(&input.output)), &input.output, bytes)
        })
    }

    /// The same for lists.
    fn check_lists(&self, lists: &[ListRecord]) -> Result<(), Error> {
        lists.iter().try_for_each(|ListRecord { file, bytes }| {
            self.check_length(&self.own.join(path_of(file)), &format!("{OWN}/{file}"), *bytes)
        })
    }

    fn check_length(&self, path: &Path, name: &str, expected: u64) -> Result<(), Error> {
        let found = match fs::metadata(path) {
            Ok(found) if found.len() == expected => return Ok(()),
            Ok(found) => format!("has {} bytes instead of the {expected} that were written", found.len()),
            Err(error) => format!("cannot be read: {error}"),
        };
        let why = format!("{name} {found}: remove the folder, or choose another one");
        Err(Error::Usage(format!("{} is the output of this run, but {why}", self.root.display())))
    }

    /// The lengths of those of these lists that there are.
    pub fn lists(&self, names: &[&str]) -> Vec<ListRecord> {
        let of =
            |name: &&str| Some(ListRecord { file: (*name).into(), bytes: fs::metadata(self.own(name)).ok()?.len() });
        names.iter().filter_map(of).collect()
    }

    /// The error that another run must be undone first.
    pub fn not_all_back(&self) -> Error {
        let why = "files of an earlier run have not all moved back: complete that with `undo`";
        Error::Usage(format!("{}: {why}", self.root.display()))
    }

    fn parse<T: for<'de> Deserialize<'de>>(&self, name: &str) -> Result<Option<T>, Error> {
        parse(&self.own.join(name), u64::MAX)
    }

    /// Refuses another request, and inputs that have changed.
    fn compare(&self, old: (&Request, &[InputRecord]), new: (&Request, &[InputRecord])) -> Result<(), Error> {
        let root = self.root.display();
        let moved = self.listed_as_moved();
        let refuse = |of_output: String, of_moved: String| {
            Err(Error::Usage(match moved {
                None => format!("{root} {of_output}: choose another output folder, or remove this one"),
                Some(count) => {
                    let files = if count == 1 { "1 file".into() } else { format!("{count} files") };
                    format!(
                        "{root} holds {files} that an earlier run moved ({of_moved}): use another folder, or first move {} back with `undo`",
                        if count == 1 { "it" } else { "them" }
                    )
                }
            }))
        };
        // What an earlier version did not know was not asked for.
        let row = |request: &Request, name: &str| request.get(name).cloned().unwrap_or_default();
        let names = old.0.keys().chain(new.0.keys());
        let differing = names.filter(|name| row(old.0, name) != row(new.0, name));
        // Another seed often follows from another row.
        if let Some(name) = differing.min_by_key(|name| (name.as_str() == "seed", name.as_str())) {
            let (old, new) = (row(old.0, name), row(new.0, name));
            let shown = |value: &Value| if value.is_null() { "nothing".to_string() } else { value.to_string() };
            let files = if name == "against" { other_reference(&old, &new) } else { None };
            let difference = files.unwrap_or_else(|| format!("{} there, {} now", shown(&old), shown(&new)));
            let other = format!("with {}: {difference}", another(name));
            return refuse(format!("is the output of a run {other}"), other);
        }
        if old.1 == new.1 {
            return Ok(());
        }
        let of = |records: &'_ [InputRecord]| -> BTreeMap<String, InputRecord> {
            records.iter().map(|record| (record.file.clone(), record.clone())).collect()
        };
        let (before, after) = (of(old.1), of(new.1));
        let changed = before.keys().chain(after.keys()).filter(|file| before.get(*file) != after.get(*file)).min();
        let Some(file) = changed else {
            let what = "the order of its inputs";
            return refuse(format!("is the output of {what}"), format!("{what} has changed since"));
        };
        match (before.get(file), after.get(file)) {
            (Some(_), None) => refuse(
                format!("is the output of {file}, which is not an input now"),
                format!("{file} is not an input now"),
            ),
            (None, _) => refuse(
                format!("is the output of inputs without {file}"),
                format!("the input has changed since: {file} is new"),
            ),
            _ => {
                let what = format!("{file} has changed since this run began");
                refuse(format!("cannot be continued: {what}"), what)
            }
        }
    }

    /// The number of files in the list of those that moved, if there is one.
    fn listed_as_moved(&self) -> Option<u64> {
        let mut file = self.read(MANIFEST).ok()?;
        let mut lines = 0;
        loop {
            match file.fill_buf() {
                Ok([]) | Err(_) => return Some(lines),
                Ok(block) => {
                    lines += block.iter().filter(|&&byte| byte == b'\n').count() as u64;
                    let length = block.len();
                    file.consume(length);
                }
            }
        }
    }

    /// Writes a file of its own whole.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write(&self, name: &str, content: &[u8]) -> Result<(), Error> {
        self.replace(name, |file| file.write_all(content))
    }

    /// The same, to the disk if it `is_durable`.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write_as(&self, name: &str, content: &[u8], is_durable: bool) -> Result<(), Error> {
        if is_durable { self.write_durably(name, content) } else { self.write(name, content) }
    }

    /// Replaces a file of its own by what is written to it.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn replace<T>(&self, name: &str, write: impl FnOnce(&mut File) -> io::Result<T>) -> Result<T, Error> {
        self.replace_by(name, |file, path| write(file).map_err(|error| cannot_write(path, error)))
    }

    /// As [`replace`](Self::replace), with a function that can fail otherwise, and is passed the path too.
    ///
    /// # Errors
    /// Those of the function; it cannot be written.
    pub fn replace_by<T>(
        &self,
        name: &str,
        write: impl FnOnce(&mut File, &Path) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let path = self.own.join(name);
        let mut new = Replacement::new(&path).map_err(|error| cannot_write(&path, error))?;
        let written = write(new.file(), &path)?;
        new.commit().map_err(|error| cannot_write(&path, error))?;
        Ok(written)
    }

    /// Opens the file of what is added to an index: an empty one, or that of an earlier run.
    ///
    /// # Errors
    /// It cannot be opened.
    pub fn addition(&self, is_new: bool) -> Result<File, Error> {
        let path = self.own.join(ADDITION);
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(is_new).truncate(is_new);
        open_regular(&path, &mut options, Links::Refused).map_err(|error| cannot_write(&path, error))
    }

    /// Synchronises the folders of these outputs with the disk, and where the system allows it the one above them.
    ///
    /// # Errors
    /// The disk fails.
    pub fn sync_outputs<'a>(&self, outputs: impl Iterator<Item = &'a Path>) -> Result<(), Error> {
        // The path of a folder stands for that which it is in, and that of a file for its folder.
        let all: BTreeSet<&Path> = outputs.flat_map(|output| output.ancestors().filter_map(Path::parent)).collect();
        for folder in all {
            let path = self.root.join(folder);
            if path.is_dir() {
                sync_folder(&path.join("_")).map_err(|error| cannot_write(&path, error))?;
            }
        }
        _ = sync_folder(&self.root);
        Ok(())
    }

    /// Writes a file of its own whole, and synchronises it and the folders with the disk.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write_durably(&self, name: &str, content: &[u8]) -> Result<(), Error> {
        let sync = |path: &Path| sync_folder(path).map_err(|error| cannot_write(path, error));
        self.replace(name, |file| file.write_all(content).and_then(|()| file.sync_all()))?;
        sync(&self.own.join(name))?;
        self.created.iter().rev().try_for_each(|folder| sync(folder))
    }

    /// The path of a file of its own.
    pub fn own(&self, name: &str) -> PathBuf {
        self.own.join(name)
    }

    /// Opens a file of its own.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn read(&self, name: &str) -> Result<BufReader<File>, Error> {
        let path = self.own.join(name);
        let opened =
            open_to_read(&path).map_err(|error| Error::input(format!("cannot read {}", path.display()), error));
        opened.map(BufReader::new)
    }

    /// The files that are done: what shows whether each is as it was written, by its number. Earlier versions wrote no times.
    pub fn done(&self) -> BTreeMap<usize, Stamp> {
        let Ok(file) = open_to_read(&self.own.join("done")) else { return BTreeMap::new() };
        let whole = BufReader::new(file).split(b'\n').map_while(Result::ok);
        let written = |line: Vec<u8>| {
            let line = String::from_utf8(line).ok()?;
            let mut words = line.strip_suffix('.')?.split(' ');
            let (number, bytes) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
            let modified = words.next().unwrap_or_default().into();
            words.next().is_none().then_some((number, Stamp { bytes, modified }))
        };
        whole.filter_map(written).collect()
    }

    /// The list of files that are done, to be continued.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn list_of_done(&self) -> Result<Done, Error> {
        let path = self.own.join("done");
        let file = open_regular(&path, File::options().create(true).append(true), Links::Refused);
        let file = file.map_err(|error| cannot_write(&path, error))?;
        Ok(Done { file, path })
    }

    /// Its path.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The path of an output.
    pub fn output(&self, below: &Path) -> PathBuf {
        self.root.join(below)
    }

    /// Whether names that differ only in case are one file.
    pub fn ignores_case(&self) -> bool {
        self.root.join(OWN.to_uppercase()).exists()
    }

    /// Removes what only a run that is under way needs.
    pub fn finish(&self) {
        for name in ["state.json", "done", ADDITION] {
            _ = fs::remove_file(self.own.join(name));
        }
    }

    /// Removes what this run has created, if it is empty: it has failed before it decided anything.
    pub fn give_up(&self) {
        for name in [".lock", ADDITION] {
            _ = fs::remove_file(self.own.join(name));
        }
        self.created.iter().rev().for_each(|folder| _ = fs::remove_dir(folder));
    }
}

/// The list of files that are done.
pub(super) struct Done {
    file: File,
    path: PathBuf,
}

impl Done {
    /// Adds a file.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn add(&mut self, number: usize, Stamp { bytes, modified }: &Stamp) -> Result<(), Error> {
        // A line that was cut has no full stop, or another time.
        let line = format!("{number} {bytes} {modified}.\n");
        self.file.write_all(line.as_bytes()).map_err(|error| cannot_write(&self.path, error))
    }
}

/// The name of the file of what is added to an index.
const ADDITION: &str = "remembered";

/// Refuses a folder that describes the output, or files in it, that no run makes: a link would lead to files of someone
/// else, a pipe could block, and a device may have no end.
fn refuse_links(own: &Path) -> Result<(), Error> {
    let refused = |path: &Path, what: &str| {
        Err(Error::Usage(format!("{} is {what}, which no run makes: choose another output folder", path.display())))
    };
    if own.is_symlink() {
        return refused(own, "a symbolic link");
    }
    let entries = match fs::read_dir(own) {
        Ok(entries) => entries,
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => return Ok(()),
        Err(error) => return Err(cannot_write(own, error)),
    };
    for entry in entries.filter_map(Result::ok) {
        match entry.file_type() {
            Ok(kind) if kind.is_symlink() => return refused(&entry.path(), "a symbolic link"),
            Ok(kind) if !kind.is_file() && !kind.is_dir() => return refused(&entry.path(), "not a regular file"),
            _ => {}
        }
    }
    Ok(())
}

/// Refuses a path where no folder can be: there is something else, or above it.
///
/// # Errors
/// It is refused.
pub(super) fn refuse_other_than_folders(root: &Path) -> Result<(), Error> {
    // Without a slash at its end, which asks for a folder.
    let plain: PathBuf = root.components().collect();
    for path in plain.ancestors().filter(|path| !path.as_os_str().is_empty()) {
        let Ok(found) = fs::symlink_metadata(path) else { continue };
        let what = match fs::metadata(path) {
            Ok(found) if found.is_dir() => return Ok(()),
            Ok(found) if found.is_file() => "a file",
            Err(error) if error.kind() == io::ErrorKind::NotFound && found.is_symlink() => "a dangling link",
            // The error of opening it explains why.
            Err(_) => return Ok(()),
            Ok(_) => "not a folder",
        };
        let why = if path == plain {
            format!(
                "it is {what}, and the output is a folder that holds a file for each of the input: choose a new or an empty folder"
            )
        } else {
            format!(
                "{} is {what}, so no folder can be made in it: choose another place for the output folder",
                path.display()
            )
        };
        return Err(Error::Usage(format!("{}: {why}", root.display())));
    }
    Ok(())
}

fn open_to_read(path: &Path) -> io::Result<File> {
    open_regular(path, File::options().read(true), Links::Refused)
}

/// Another value of a row of the request, in words.
fn another(name: &str) -> String {
    match name {
        "against" => "another reference".into(),
        "include" | "exclude" | "prefer" => format!("other globs to {name}"),
        "text fields" => format!("other {name}"),
        name => format!("another {name}"),
    }
}

/// How the files of two references differ, in words: the first difference. `None` if a value is not a list of files.
fn other_reference(old: &Value, new: &Value) -> Option<String> {
    let (old, new) = (referenced(old)?, referenced(new)?);
    let (names, now): (Vec<&str>, Vec<&str>) =
        (old.iter().map(|file| file.0).collect(), new.iter().map(|file| file.0).collect());
    let [before, after] = [&names, &now].map(|names| names.iter().copied().collect::<BTreeSet<&str>>());
    if let Some(gone) = names.iter().find(|name| !after.contains(*name)) {
        return Some(format!("{gone} is not in it now"));
    }
    if let Some(added) = now.iter().find(|name| !before.contains(*name)) {
        return Some(format!("{added} is new in it"));
    }
    if names != now {
        return Some("its files are in another order".into());
    }
    let ((name, was), (_, is)) = old.iter().zip(&new).find(|(old, new)| old != new)?;
    let bytes = |version: &str| version.split_once(" bytes of ").map(|(bytes, _)| bytes.to_string());
    Some(match (bytes(was), bytes(is)) {
        (Some(was), Some(is)) if was != is => format!("{name} has changed, from {was} bytes to {is}"),
        _ => format!("{name} has changed"),
    })
}

/// The files of a reference, as a request has them: the name of each, and what shows whether it has changed.
fn referenced(value: &Value) -> Option<Vec<(&str, &str)>> {
    value.as_array()?.iter().map(|file| file.as_str()?.rsplit_once(", ")).collect()
}

fn not_ours(root: &Path) -> Error {
    let why = "it is not empty, and is not the output of a run: choose a new or an empty folder";
    Error::Usage(format!("{}: {why}", root.display()))
}

pub(super) fn cannot_write(path: &Path, error: io::Error) -> Error {
    Error::output(format!("cannot write {}", path.display()), error)
}

#[cfg(test)]
mod tests {
    use super::Folder;

    #[test]
    fn a_process_that_has_our_open_files_does_not_lock_the_folder() {
        let folder = tempfile::tempdir().unwrap();
        let open = Folder::open(folder.path()).unwrap();
        let inherited = open.lock.try_clone().unwrap();
        assert!(Folder::open(folder.path()).err().unwrap().to_string().contains("another run writes to this folder"));
        drop(open);
        Folder::open(folder.path()).unwrap();
        drop(inherited);
    }
}
