//! Files, folders and standard input, in the order given.

use std::cell::OnceCell;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::fs;
use std::io::{self, Read};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::batch::JsonFields;
use super::counts::Counts;
use super::file::{Checked, File, Pass, field_names};
use super::identity::FileId;
use super::lacking::never_found;
#[cfg(feature = "clean")]
use super::rest::{OnDisk, Original};
use super::rewind::Rewind;
use super::tally::Tally;
use super::walk::{DESCRIPTION, Found, below, display_path, walk};
use super::{Batch, Globs, Problem, ProblemKind, ReadOptions, Severity, Source};
use crate::error::Error;

/// The path that means standard input.
const STDIN: &str = "-";

/// A [`Source`] over paths: files, folders with their content, and `-` for standard input.
///
/// A file is read once, under the first of its names. Links, other spellings of a path and overlapping folders do not
/// make copies.
///
/// Reading twice yields the same documents as long as the files do not change. Standard input and pipes must be kept
/// for that; see [`keep_for_second_read`](Source::keep_for_second_read).
pub struct Input {
    paths: Vec<PathBuf>,
    options: ReadOptions,
    counts: Counts,
    keep: bool,
    stdin: Option<Box<dyn Read + Send>>,
    /// Copies of standard input and pipes from their first reading, by their position among the paths.
    once: HashMap<usize, Rewind>,
    /// The path whose copy failed in the last reading.
    failed_copy: Option<usize>,
    /// The wanted fields of JSON lines: one for all readings, because a later one may parse only some of the lines.
    fields: Option<Arc<JsonFields>>,
    /// The total, once it was requested, because it takes a walk through all folders.
    total: OnceCell<Option<u64>>,
    /// Files that the other side reads.
    elsewhere: Arc<HashSet<FileId>>,
    /// Whether each path must yield a document.
    required: Option<Required>,
    /// What was found in the columns of Parquet files that are not read, if they are checked.
    checked: Option<Checked>,
}

/// What each path must yield: a document.
struct Required {
    /// The parameter that has the paths.
    parameter: &'static str,
    tallies: Vec<Arc<Tally>>,
    /// What the first reading counted of each path; empty before its end.
    counts: Vec<Counts>,
}

/// A file that an [`Input`] reads.
#[cfg(feature = "clean")]
pub(crate) struct Listed {
    pub path: PathBuf,
    /// The path in the locations of its records.
    pub shown: String,
    /// The path below the folder that was named; its name, if it was named itself.
    pub below: PathBuf,
    pub metadata: fs::Metadata,
}

/// Input that can be read only once, with its copy.
#[cfg(feature = "clean")]
struct Kept<'a> {
    rewind: &'a mut Rewind,
    name: Option<&'a std::ffi::OsStr>,
}

#[cfg(feature = "clean")]
impl Original for Kept<'_> {
    fn name(&self) -> Option<&std::ffi::OsStr> {
        self.name
    }

    fn size(&self) -> Option<u64> {
        None
    }

    fn reopen(&mut self) -> io::Result<Box<dyn Read + '_>> {
        self.rewind.rewind()?;
        Ok(Box::new(&mut *self.rewind))
    }
}

/// Files that were read, each with the first name under which it was found.
type Files = HashMap<FileId, Arc<str>>;

impl Input {
    /// Makes a source of these paths, read in this order.
    pub fn new(paths: Vec<PathBuf>, options: ReadOptions) -> Self {
        let stdin = Some(Box::new(io::stdin()) as Box<dyn Read + Send>);
        Input {
            paths,
            options,
            counts: Counts::default(),
            keep: false,
            stdin,
            once: HashMap::new(),
            failed_copy: None,
            fields: None,
            total: OnceCell::new(),
            elsewhere: Arc::default(),
            required: None,
            checked: None,
        }
    }

    /// Makes a source of documents, and one of a reference if there are paths for it. A file that is among both is read on one
    /// side: where it is nearer to a path that was named, so that of a file and the folder with it the file decides; else
    /// as the reference. The records of the reference have its own [fields](ReadOptions::reference). Takes a walk through all folders.
    pub fn sides(paths: Vec<PathBuf>, reference: Vec<PathBuf>, options: ReadOptions) -> (Self, Option<Self>) {
        let mut input = Input::new(paths, options.clone());
        if reference.is_empty() {
            return (input, None);
        }
        let ours = JsonFields::new(&options);
        let mut reference = Input::new(reference, options.of_reference());
        let mut theirs = JsonFields::new(&reference.options);
        theirs.fields.share_found(&ours.fields);
        (input.fields, reference.fields) = (Some(Arc::new(ours)), Some(Arc::new(theirs)));
        let (ours, theirs) = (input.depths(), reference.depths());
        let both = || ours.iter().filter_map(|(id, ours)| Some((id.clone(), *ours < *theirs.get(id)?)));
        let of = |is_ours: bool| Arc::new(both().filter(|(_, ours)| *ours == is_ours).map(|(id, _)| id).collect());
        (input.elsewhere, reference.elsewhere) = (of(false), of(true));
        (input, Some(reference))
    }

    /// Makes it a [failure](Source::failure) of the first reading if a path yields no document that has a text. `parameter` names
    /// the paths in the error.
    pub fn require_documents(&mut self, parameter: &'static str) {
        let tallies = self.paths.iter().map(|_| Arc::default()).collect();
        self.required = Some(Required { parameter, tallies, counts: Vec::new() });
    }

    /// Also checks the columns of Parquet files that are not read, because copies of files without some of their records have
    /// them too. What is damaged is a problem of the kind [`DamagedColumn`](ProblemKind::DamagedColumn).
    #[cfg(feature = "clean")]
    pub(crate) fn check_for_copies(&mut self) {
        self.checked = Some(Checked::default());
    }

    /// The number of files that the other one of two [sides](Self::sides) reads.
    pub fn elsewhere(&self) -> u64 {
        self.elsewhere.len() as u64
    }

    /// The regular files that it would read, each with its depth below the path that leads to it.
    fn depths(&self) -> HashMap<FileId, usize> {
        let mut files = HashMap::new();
        for path in self.paths.iter().filter(|path| path.as_os_str() != STDIN) {
            _ = walk(path, &self.options, &mut Counts::default(), &mut |found, _| {
                if let Found::File(entry) = found
                    && entry.file_type().is_file()
                    && let Some(id) = entry.metadata().ok().and_then(|metadata| FileId::of(entry.path(), &metadata))
                {
                    let depth = files.entry(id).or_insert(usize::MAX);
                    *depth = entry.depth().min(*depth);
                }
                ControlFlow::Continue(())
            });
        }
        files
    }

    /// Passes everything that it reads to a function once more, each with its path in the locations of its records, in the
    /// same order. Standard input and pipes must have been [kept](Source::keep_for_second_read).
    ///
    /// # Errors
    /// Those of the function, which end it. What cannot be opened is left out.
    #[cfg(feature = "clean")]
    pub(crate) fn each_original(
        &mut self,
        each: &mut dyn FnMut(&str, &mut dyn Original) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let (mut seen, mut result) = (HashSet::new(), Ok(()));
        for index in 0..self.paths.len() {
            let Input { paths, options, once, elsewhere, .. } = self;
            let mut pass = |shown: &str, original: &mut dyn Original| {
                result = each(shown, original);
                if result.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            };
            if paths[index].as_os_str() == STDIN {
                let Some(rewind) = once.get_mut(&index) else { continue };
                _ = pass(STDIN, &mut Kept { rewind, name: None });
            } else {
                _ = walk(&paths[index], options, &mut Counts::default(), &mut |found, _| {
                    let Found::File(entry) = found else { return ControlFlow::Continue(()) };
                    let shown = display_path(entry.path());
                    if !entry.file_type().is_file() {
                        let Some(rewind) = once.get_mut(&index) else { return ControlFlow::Continue(()) };
                        return pass(&shown, &mut Kept { rewind, name: entry.path().file_name() });
                    }
                    let id = entry.metadata().ok().and_then(|metadata| FileId::of(entry.path(), &metadata));
                    let is_first = id.is_none_or(|id| !elsewhere.contains(&id) && seen.insert(id));
                    match OnDisk::open(entry.path()) {
                        Ok(mut file) if is_first => pass(&shown, &mut file),
                        _ => ControlFlow::Continue(()),
                    }
                });
            }
            if result.is_err() {
                break;
            }
        }
        result
    }

    /// The regular files that it will read, in its order, with all their names. Takes a walk through all folders.
    ///
    /// # Errors
    /// A path is standard input, or something that is neither a file nor a folder.
    #[cfg(feature = "clean")]
    pub(crate) fn listing(&self) -> Result<Vec<Listed>, Error> {
        let mut listed = Vec::new();
        for path in &self.paths {
            let refused = |what: &str| Error::Usage(format!("{what} cannot be written back: name files or folders"));
            if path.as_os_str() == STDIN {
                return Err(refused("standard input"));
            }
            let mut special = false;
            _ = walk(path, &self.options, &mut Counts::default(), &mut |found, _| {
                let Found::File(entry) = found else { return ControlFlow::Continue(()) };
                special |= !entry.file_type().is_file();
                if let Ok(metadata) = entry.metadata() {
                    if FileId::of(entry.path(), &metadata).is_some_and(|id| self.elsewhere.contains(&id)) {
                        return ControlFlow::Continue(());
                    }
                    let below = match entry.depth() {
                        0 => entry.path().file_name().map(PathBuf::from).unwrap_or_default(),
                        _ => entry.path().strip_prefix(path).unwrap_or(entry.path()).to_path_buf(),
                    };
                    listed.push(Listed {
                        path: entry.path().to_path_buf(),
                        shown: display_path(entry.path()),
                        below,
                        metadata,
                    });
                }
                ControlFlow::Continue(())
            });
            if special {
                return Err(refused(&format!("{}, which is not a regular file,", display_path(path))));
            }
        }
        Ok(listed)
    }

    /// Reads `stdin` in the place of standard input.
    pub fn with_stdin(mut self, stdin: Box<dyn Read + Send>) -> Self {
        self.stdin = Some(stdin);
        self
    }

    /// The globs of [`include`](ReadOptions::include), [`exclude`](ReadOptions::exclude) and
    /// [`prefer`](super::Ranking::prefer) that match no file, with the name of their parameter: they may be mistyped. Takes a
    /// walk through all folders, also those that are excluded, until each glob has matched. A file that is named itself is
    /// read in any case, and does not count for `exclude`.
    pub fn unmatched_globs(&self) -> Vec<(&'static str, String)> {
        let ReadOptions { include, exclude, ranking, .. } = &self.options;
        let sets = [("include", include), ("exclude", exclude)].into_iter();
        let sets = sets.chain(ranking.prefer.iter().map(|globs| ("prefer", globs)));
        let each = sets.flat_map(|(name, globs)| globs.typed().iter().map(move |glob| (name, glob)));
        let mut unmatched: Vec<(&'static str, &String, Globs)> = each
            .filter_map(|(name, glob)| Some((name, glob, Globs::new(name, std::slice::from_ref(glob)).ok()?)))
            // What describes an output is passed over in any case, if a run has ended.
            .filter(|(name, _, glob)| *name != "exclude" || !glob.matches(DESCRIPTION))
            .collect();
        let all = ReadOptions { include: Globs::default(), exclude: Globs::default(), ..self.options.clone() };
        for path in &self.paths {
            if path.as_os_str() == STDIN {
                unmatched.retain(|(name, _, glob)| *name != "prefer" || !glob.matches(STDIN));
                continue;
            }
            let ended = walk(path, &all, &mut Counts::default(), &mut |found, _| {
                if let Found::File(entry) = found {
                    unmatched.retain(|(name, _, glob)| match *name {
                        "prefer" => !glob.matches(display_path(entry.path())),
                        "exclude" if entry.depth() == 0 => true,
                        _ => !glob.matches_below(entry.path(), below(path, &entry)),
                    });
                }
                if unmatched.is_empty() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            });
            if ended.is_break() || unmatched.is_empty() {
                return Vec::new();
            }
        }
        unmatched.into_iter().map(|(name, glob, _)| (name, glob.clone())).collect()
    }

    /// The counts of the last reading.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    fn read_path(&mut self, index: usize, seen: &mut Files, pass: &mut Pass) -> ControlFlow<()> {
        if self.paths[index].as_os_str() == STDIN {
            return self.read_stdin(index, pass);
        }
        let Input { paths, options, counts, keep, once, elsewhere, failed_copy, .. } = self;
        walk(&paths[index], options, counts, &mut |found, counts| match found {
            Found::Problem(problem) => pass.problem(problem),
            Found::File(entry) if entry.file_type().is_file() => {
                read_file(entry.path(), (elsewhere, seen), pass, counts)
            }
            Found::File(entry) => {
                let open =
                    || Ok(Rewind::new(Box::new(fs::File::open(entry.path())?), *keep, options.temp_dir.as_deref()));
                let file = File {
                    path: &display_path(entry.path()),
                    name: entry.path().file_name(),
                    size: None,
                    random_access: None,
                };
                match kept(once, index, open) {
                    Ok(rewind) => read_once(&file, (rewind, index), failed_copy, pass, counts),
                    Err(error) => pass.fail(ProblemKind::Unreadable, file.path, None, format!("cannot open: {error}")),
                }
            }
        })
    }

    fn read_stdin(&mut self, index: usize, pass: &mut Pass) -> ControlFlow<()> {
        let Input { options, counts, keep, once, stdin, failed_copy, .. } = self;
        let open = || {
            let stdin = stdin.take().ok_or_else(|| io::Error::other("named twice"))?;
            Ok(Rewind::new(stdin, *keep, options.temp_dir.as_deref()))
        };
        match kept(once, index, open) {
            Ok(rewind) => {
                let file = File { path: STDIN, name: None, size: None, random_access: None };
                read_once(&file, (rewind, index), failed_copy, pass, counts)
            }
            Err(error) => {
                pass.fail(ProblemKind::Unreadable, STDIN, None, format!("cannot read standard input: {error}"))
            }
        }
    }
}

impl Source for Input {
    /// Standard input and pipes are copied while they are read: in memory while they are small, else to a temporary
    /// file.
    fn keep_for_second_read(&mut self) {
        self.keep = true;
    }

    fn field_names(&mut self) -> Option<String> {
        let mut found = None;
        for index in 0..self.paths.len() {
            let Input { paths, options, once, elsewhere, .. } = self;
            if let Some(rewind) = once.get_mut(&index) {
                let file = File { path: STDIN, name: paths[index].file_name(), size: None, random_access: None };
                found = rewind.rewind().ok().and_then(|()| field_names(&file, rewind, options));
            } else if paths[index].as_os_str() != STDIN {
                _ = walk(&paths[index], options, &mut Counts::default(), &mut |entry, _| {
                    if let Found::File(entry) = entry
                        && entry.file_type().is_file()
                    {
                        found = field_names_of(entry.path(), elsewhere, options);
                    }
                    if found.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
                });
            }
            if found.is_some() {
                break;
            }
        }
        found
    }

    fn failure(&self) -> Option<Error> {
        let Some(index) = self.failed_copy else { return self.path_without_documents() };
        let error = self.once.get(&index)?.copy_failure()?;
        let what = match self.paths[index].as_os_str() == STDIN {
            true => "standard input".into(),
            false => display_path(&self.paths[index]),
        };
        let folder = self.options.temp_dir.clone().unwrap_or_else(std::env::temp_dir);
        let folder = folder.display();
        let failed = format!(
            "cannot keep {what} for a second reading in a temporary file in {folder} (choose another with `temp-dir`)"
        );
        Some(Error::io(failed, error))
    }

    fn read(&mut self, deliver: &mut dyn FnMut(Batch) -> ControlFlow<()>) {
        (self.counts, self.failed_copy) = (Counts::default(), None);
        let options = self.options.clone();
        let fields = self.fields.get_or_insert_with(|| Arc::new(JsonFields::new(&options)));
        let mut checked = self.checked.take();
        let mut pass = Pass::new(&options, fields.of_reading(&options), checked.as_mut(), deliver);
        let mut seen = Files::new();
        let (mut counts, mut of_paths) = (Counts::default(), Vec::new());
        let all = (0..self.paths.len()).try_for_each(|index| {
            if let Some(required) = &self.required {
                pass.begin_tally(&required.tallies[index])?;
            }
            self.counts = Counts::default();
            let read = self.read_path(index, &mut seen, &mut pass);
            of_paths.push(self.counts);
            counts = counts + self.counts;
            read
        });
        self.counts = counts;
        if all.is_continue() {
            self.required.iter_mut().for_each(|required| required.counts = std::mem::take(&mut of_paths));
            // Nothing comes after the last batch, so the result of passing it does not matter.
            _ = pass.finish();
        }
        drop(pass);
        self.checked = checked;
    }

    fn total_bytes(&self) -> Option<u64> {
        *self.total.get_or_init(|| self.sum_of_sizes())
    }
}

impl Input {
    /// The warning about fields that were named for texts and that no record has, although some have others: they were probably
    /// mistyped. It is known when all that was read has been parsed. A reference only has one of fields of its own: others may be
    /// those of the documents.
    pub fn fields_never_found(&self) -> Option<String> {
        if self.options.is_reference && self.options.reference.text.is_none() {
            return None;
        }
        never_found(self.options.text_parameter(), &self.fields.as_ref()?.fields.never_found())
    }

    /// Those of both sides of a comparison.
    pub fn all_fields_never_found(&self, reference: Option<&Self>) -> impl Iterator<Item = String> {
        self.fields_never_found().into_iter().chain(reference.and_then(Self::fields_never_found))
    }

    /// The error about the first path that should have yielded a document and did not.
    fn path_without_documents(&self) -> Option<Error> {
        let Required { parameter, tallies, counts } = self.required.as_ref()?;
        let mut each = self.paths.iter().zip(tallies).zip(counts);
        // What was read under an earlier path is there.
        let ((path, tally), counts) = each.find(|((_, tally), counts)| !tally.has_text() && counts.same == 0)?;
        let why = tally.why_none(counts);
        let path = display_path(path);
        Some(Error::Empty(format!(
            "`{parameter}` {path}: no document was read from it: {why} (use `allow-empty` if that is expected)"
        )))
    }

    fn sum_of_sizes(&self) -> Option<u64> {
        let mut total = 0;
        let mut seen: HashSet<FileId> = (*self.elsewhere).clone();
        let all = self.paths.iter().try_for_each(|path| {
            if path.as_os_str() == STDIN {
                return ControlFlow::Break(());
            }
            walk(path, &self.options, &mut Counts::default(), &mut |found, _| {
                if let Found::File(entry) = found {
                    if !entry.file_type().is_file() {
                        return ControlFlow::Break(());
                    }
                    if let Ok(metadata) = entry.metadata()
                        && FileId::of(entry.path(), &metadata).is_none_or(|id| seen.insert(id))
                    {
                        total += metadata.len();
                    }
                }
                ControlFlow::Continue(())
            })
        });
        all.is_continue().then_some(total)
    }
}

/// The names of the fields of the first records of a file on disk, unless the other side reads it.
fn field_names_of(path: &Path, elsewhere: &HashSet<FileId>, options: &ReadOptions) -> Option<String> {
    let raw = fs::File::open(path).ok()?;
    let metadata = raw.metadata().ok()?;
    if FileId::of(path, &metadata).is_some_and(|id| elsewhere.contains(&id)) {
        return None;
    }
    let file = File { path: "", name: path.file_name(), size: Some(metadata.len()), random_access: Some(&raw) };
    field_names(&file, &raw, options)
}

/// Reads a file, unless it was already read or the other side reads it.
fn read_file(
    path: &Path,
    (elsewhere, seen): (&HashSet<FileId>, &mut Files),
    pass: &mut Pass,
    counts: &mut Counts,
) -> ControlFlow<()> {
    let shown = display_path(path);
    let (metadata, raw) = match fs::File::open(path).and_then(|file| Ok((file.metadata()?, file))) {
        Ok(opened) => opened,
        Err(error) => {
            let (kind, message) = (ProblemKind::Unreadable, format!("cannot open: {error}"));
            return pass.problem(Problem::new(Severity::Failed, kind, &shown, None, message).caused_by(&error));
        }
    };
    if let Some(id) = FileId::of(path, &metadata) {
        if elsewhere.contains(&id) {
            counts.elsewhere += 1;
            return ControlFlow::Continue(());
        }
        if let Some(first) = seen.get(&id) {
            counts.same += 1;
            let message = match **first == *shown {
                true => "named more than once among the inputs: read once".to_string(),
                false => format!("another name of {first}, which is read"),
            };
            return pass.problem(Problem::new(Severity::Skipped, ProblemKind::SameFile, &shown, None, message));
        }
        seen.insert(id, shown.as_str().into());
    }
    let (name, size) = (path.file_name(), Some(metadata.len()));
    let file = File { path: &shown, name, size, random_access: Some(&raw) };
    match pass.job(path, metadata.len()) {
        Some(job) => pass.read_through(&file, job, counts),
        None => pass.read(&file, &raw, counts),
    }
}

/// Reads a copied input from its start. If the copy fails, the reading ends, and its path is noted.
fn read_once(
    file: &File,
    (rewind, index): (&mut Rewind, usize),
    failed_copy: &mut Option<usize>,
    pass: &mut Pass,
    counts: &mut Counts,
) -> ControlFlow<()> {
    let outcome = match rewind.rewind() {
        Ok(()) => pass.read(file, &mut *rewind, counts),
        Err(error) => pass.fail(ProblemKind::Unreadable, file.path, None, error.to_string()),
    };
    if rewind.copy_failure().is_some() {
        *failed_copy = Some(index);
        return ControlFlow::Break(());
    }
    outcome
}

/// The copy of an input from an earlier reading, or the input opened now.
fn kept(
    once: &mut HashMap<usize, Rewind>,
    index: usize,
    open: impl FnOnce() -> io::Result<Rewind>,
) -> io::Result<&mut Rewind> {
    Ok(match once.entry(index) {
        Entry::Occupied(place) => place.into_mut(),
        Entry::Vacant(place) => place.insert(open()?),
    })
}

#[cfg(all(test, feature = "compression"))]
mod tests {
    use super::super::decompress::tests::{ALL, gzip};
    use super::super::{Encoding, FieldPath, Format};
    use super::*;
    use tempfile::TempDir;

    /// A folder of files, whose path is removed from the output.
    struct Fixture {
        folder: TempDir,
        options: ReadOptions,
    }

    impl Fixture {
        fn new(files: &[(&str, &[u8])]) -> Self {
            let folder = tempfile::tempdir().unwrap();
            for (name, bytes) in files {
                let path = folder.path().join(name);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, bytes).unwrap();
            }
            Fixture { folder, options: ReadOptions::default() }
        }

        fn with(mut self, set: impl FnOnce(&mut ReadOptions)) -> Self {
            set(&mut self.options);
            self
        }

        fn input(&self, paths: &[&str]) -> Input {
            let paths = paths.iter().map(|path| match *path {
                STDIN => STDIN.into(),
                path => self.folder.path().join(path),
            });
            Input::new(paths.collect(), self.options.clone())
        }

        fn read(&self, input: &mut Input) -> Vec<String> {
            read(input).iter().map(|line| self.shown(line)).collect()
        }

        fn shown(&self, line: &str) -> String {
            line.replace(&format!("{}/", self.folder.path().display()), "")
        }

        /// Reads these paths, twice.
        fn check(&self, paths: &[&str], expected: &[&str]) -> Counts {
            let mut input = self.input(paths);
            assert_eq!(self.read(&mut input), expected);
            let counts = input.counts();
            assert_eq!(self.read(&mut input), expected, "second reading");
            assert_eq!(input.counts(), counts);
            counts
        }
    }

    /// Documents as `id|text`, problems as `severity place: message`. Checks that the bytes add up.
    fn read(input: &mut Input) -> Vec<String> {
        let total = input.total_bytes();
        let (mut out, mut bytes) = (Vec::new(), 0);
        input.read(&mut |batch| {
            bytes += batch.bytes_read();
            batch.documents(&mut |result| {
                out.push(match result {
                    Ok(document) => format!("{}|{}", document.id, document.text),
                    Err(problem) => format!("{:?} {problem}", problem.severity),
                });
            });
            ControlFlow::Continue(())
        });
        assert_eq!(bytes, total.unwrap_or(bytes));
        out
    }

    fn stdin(bytes: &[u8]) -> Box<dyn Read + Send> {
        Box::new(io::Cursor::new(bytes.to_vec()))
    }

    #[test]
    fn folders_in_the_order_of_names_and_paths_as_given() {
        let fixture = Fixture::new(&[("b/2.txt", b"2"), ("b/10.txt", b"10"), ("b/B/x", b"x"), ("a.txt", b"a")]);
        let counts = fixture.check(&["b", "a.txt"], &["b/10.txt|10", "b/2.txt|2", "b/B/x|x", "a.txt|a"]);
        assert_eq!(counts, Counts { files: 4, fieldless: 4, ..Counts::default() });
    }

    #[test]
    fn an_empty_folder_and_an_empty_file() {
        let fixture = Fixture::new(&[("a/empty", b"")]);
        fs::create_dir(fixture.folder.path().join("b")).unwrap();
        fixture.check(&["b", "a"], &["a/empty|"]);
    }

    #[test]
    fn hidden_entries_are_counted_unless_asked_for_or_named() {
        let files: &[(&str, &[u8])] = &[(".a/x", b"x"), (".a/y", b"y"), (".b", b"b"), ("c", b"c"), ("d/.e", b"e")];
        let fixture = Fixture::new(files);
        let counts = fixture.check(&["", ".b", ".a"], &["c|c", ".b|b", ".a/x|x", ".a/y|y"]);
        assert_eq!((counts.hidden, counts.files), (3, 4));
        let fixture = Fixture::new(files).with(|options| options.hidden = true);
        let counts = fixture.check(&[""], &[".a/x|x", ".a/y|y", ".b|b", "c|c", "d/.e|e"]);
        assert_eq!(counts.hidden, 0);
    }

    #[test]
    fn a_missing_file_is_a_problem_and_the_next_is_read() {
        let fixture = Fixture::new(&[("a", b"a")]);
        let missing = "Failed no: cannot read: No such file or directory (os error 2)";
        fixture.check(&["no", "a"], &[missing, "a|a"]);
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_and_loops_end() {
        use std::os::unix::fs::symlink;
        let fixture = Fixture::new(&[("a/x", b"x"), ("b/y", b"y")]);
        let path = |name: &str| fixture.folder.path().join(name);
        symlink(path("a"), path("b/to_a")).unwrap();
        symlink(path("b"), path("b/to_b")).unwrap();
        symlink(path("no"), path("b/to_nothing")).unwrap();
        symlink(path("no"), path("b/.#lock")).unwrap();
        let expected = [
            "b/to_a/x|x",
            "Skipped b/to_b: symbolic link that leads back to b",
            "Failed b/to_nothing: cannot read: No such file or directory (os error 2)",
            "b/y|y",
        ];
        let mut input = fixture.input(&["b"]);
        let folder = fixture.folder.path().display().to_string();
        let found: Vec<String> =
            read(&mut input).into_iter().map(|line| line.replace(&format!("{folder}/"), "")).collect();
        assert_eq!(found, expected);
        assert_eq!(input.counts().hidden, 1);
    }

    /// Names that are no links come first, as where `current` is a link to the newest version; what has no other name is read through the
    /// link.
    #[cfg(unix)]
    #[test]
    fn links_to_folders_that_are_read_are_passed_over() {
        use std::os::unix::fs::symlink;
        let fixture = Fixture::new(&[("d/in/v1/x", b"x"), ("d/in/v3/y", b"y"), ("d/in/.data/z", b"z")]);
        let path = |name: &str| fixture.folder.path().join(name);
        symlink("v3", path("d/in/current")).unwrap();
        symlink("../v3", path("d/in/v1/next")).unwrap();
        symlink(".data", path("d/in/data")).unwrap();
        symlink(path("d"), path("d/in/up")).unwrap();
        let expected = [
            "Skipped d/in/current: symbolic link to d/in/v3, which is read",
            "d/in/data/z|z",
            "Skipped d/in/up: symbolic link that leads back to d",
            "Skipped d/in/v1/next: symbolic link to d/in/v3, which is read",
            "d/in/v1/x|x",
            "d/in/v3/y|y",
        ];
        let folder = fixture.folder.path().display().to_string();
        let found = |fixture: &Fixture| -> Vec<String> {
            let mut input = fixture.input(&["d/in"]);
            read(&mut input).into_iter().map(|line| line.replace(&format!("{folder}/"), "")).collect()
        };
        assert_eq!(found(&fixture), expected);
        // Where names are chosen, what is left out by its own name is read through the link.
        for (include, exclude) in [("current/*", None), ("*", Some("v3")), ("*", Some("v3/")), ("*", Some("v3/*"))] {
            let globs = |globs: Option<&str>| {
                Globs::new("globs", &globs.map(String::from).into_iter().collect::<Vec<_>>()).unwrap()
            };
            let fixture = Fixture { folder: tempfile::tempdir().unwrap(), options: fixture.options.clone() };
            fs::create_dir_all(fixture.folder.path().join("d/in/v3")).unwrap();
            fs::write(fixture.folder.path().join("d/in/v3/y"), b"y").unwrap();
            symlink("v3", fixture.folder.path().join("d/in/current")).unwrap();
            let fixture =
                fixture.with(|options| (options.include, options.exclude) = (globs(Some(include)), globs(exclude)));
            assert_eq!(fixture.read(&mut fixture.input(&["d/in"])), ["d/in/current/y|y"], "{include} {exclude:?}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn an_unreadable_file_or_folder_is_a_problem() {
        use std::os::unix::fs::PermissionsExt;
        let fixture = Fixture::new(&[("a/x", b"x"), ("b", b"b"), ("c", b"c")]);
        for name in ["a", "b"] {
            fs::set_permissions(fixture.folder.path().join(name), fs::Permissions::from_mode(0o000)).unwrap();
        }
        if fs::File::open(fixture.folder.path().join("b")).is_ok() {
            return; // The superuser reads everything.
        }
        let found = fixture.read(&mut fixture.input(&[""]));
        assert!(found[0].starts_with("Failed a: cannot read: Permission denied"), "{found:?}");
        assert!(found[1].starts_with("Failed b: cannot open: Permission denied"), "{found:?}");
        assert_eq!(found[2..], ["c|c"]);
    }

    #[cfg(unix)]
    #[test]
    fn special_files_are_skipped_in_folders() {
        let fixture = Fixture::new(&[("a", b"a")]);
        let _socket = std::os::unix::net::UnixListener::bind(fixture.folder.path().join("s")).unwrap();
        let skipped = "Skipped s: not a regular file: read only when named itself";
        assert_eq!(fixture.check(&[""], &["a|a", skipped]).special, 1);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_pipe_that_is_named_is_read_twice_if_kept() {
        use std::io::Write;
        use std::os::fd::AsRawFd;
        for keep in [true, false] {
            let (reader, mut writer) = io::pipe().unwrap();
            writer.write_all(b"{\"id\":7,\"text\":\"piped\"}\n").unwrap();
            drop(writer);
            let path = PathBuf::from(format!("/proc/self/fd/{}", reader.as_raw_fd()));
            let options = ReadOptions { format: Format::Jsonl, ..ReadOptions::default() };
            let mut input = Input::new(vec![path.clone()], options);
            if keep {
                input.keep_for_second_read();
            }
            assert_eq!(read(&mut input), ["7|piped"]);
            let again = format!("Failed {}: cannot be read a second time", path.display());
            assert_eq!(read(&mut input), [if keep { "7|piped" } else { &again }]);
        }
    }

    #[cfg(unix)]
    #[test]
    fn bytes_of_a_path_that_are_no_text() {
        use std::os::unix::ffi::OsStrExt;
        let fixture = Fixture::new(&[]);
        let path = fixture.folder.path().join(std::ffi::OsStr::from_bytes(b"caf\xe9.txt"));
        if fs::write(path, b"x").is_ok() {
            fixture.check(&[""], &["caf\\xe9.txt|x"]);
        }
    }

    #[test]
    fn standard_input_is_text_or_json_lines() {
        let fixture = Fixture::new(&[]);
        for (bytes, expected) in [
            (&b"some text\n"[..], &["-|some text\n"][..]),
            (b"{\"text\":\"a\"}\n{\"text\":\"b\",\"id\":\"i\"}", &["-:1|a", "i|b"]),
            (b"", &[]),
        ] {
            for raw in [bytes.to_vec(), gzip(bytes)] {
                let mut input = fixture.input(&["-"]).with_stdin(stdin(&raw));
                input.keep_for_second_read();
                for _ in 0..2 {
                    assert_eq!(read(&mut input), expected);
                }
            }
        }
    }

    #[test]
    fn without_room_for_its_copy_standard_input_ends_the_run() {
        let fixture = Fixture::new(&[("later.txt", b"later")]);
        let long = [b"{\"text\":\"", &vec![b'a'; 9 << 20][..], b"\"}\n"].concat();
        let mut input = fixture.input(&["-", "later.txt"]).with_stdin(stdin(&long));
        input.options.temp_dir = Some(fixture.folder.path().join("missing"));
        input.keep_for_second_read();
        assert_eq!(read(&mut input), [""; 0]);
        let error = input.failure().unwrap();
        assert_eq!(error.kind(), crate::ErrorKind::Disk);
        let message = error.to_string();
        let folder = fixture.folder.path().join("missing").display().to_string();
        assert!(
            message.starts_with("cannot keep standard input for a second reading in a temporary file in "),
            "{message}"
        );
        assert!(message.contains(&format!(" in {folder} (choose another with `temp-dir`): ")), "{message}");
    }

    #[test]
    fn standard_input_that_was_not_kept_or_is_named_twice() {
        let fixture = Fixture::new(&[]);
        let twice = "Failed -: cannot read standard input: named twice";
        let mut input = fixture.input(&["-", "-"]).with_stdin(stdin(b"text"));
        assert_eq!(read(&mut input), ["-|text", twice]);
        assert_eq!(read(&mut input), ["Failed -: cannot be read a second time", twice]);
    }

    #[test]
    fn the_format_follows_the_name() {
        let fixture = Fixture::new(&[
            ("a.jsonl", b"{\"text\":\"a\"}"),
            ("b.csv", b"id,text\n7,b\n"),
            ("c.tsv.gz", &gzip(b"text\tid\nc\t8\n")),
            ("d.txt", b"{\"text\":\"d\"}"),
            ("e", b"{\"text\":\"e\"}"),
        ]);
        fixture.check(&[""], &["a.jsonl:1|a", "7|b", "8|c", "d.txt|{\"text\":\"d\"}", "e:1|e"]);
    }

    #[test]
    fn the_format_that_was_asked_for() {
        let fixture = Fixture::new(&[("a.jsonl", b"x\n\r\ny")]);
        fixture.check(
            &["a.jsonl"],
            &[
                "Failed a.jsonl:1: malformed JSON: expected value at column 1",
                "Failed a.jsonl:3: malformed JSON: expected value at column 1",
            ],
        );
        let lines = fixture.with(|options| options.format = Format::Lines);
        lines.check(&["a.jsonl"], &["a.jsonl:1|x", "a.jsonl:3|y"]);
        let text = lines.with(|options| options.format = Format::Text);
        text.check(&["a.jsonl"], &["a.jsonl|x\n\r\ny"]);
    }

    #[test]
    fn binary_files_are_skipped_unless_records_are_expected() {
        let jsonl = b"{\"text\":\"x\"}\n{\"text\":\"\0\"}\n{\"text\":\"y\"}\n";
        let fixture = Fixture::new(&[("a.txt", b"a\0"), ("b.jsonl", jsonl), ("c.txt.gz", &gzip(b"\x7fELF\0"))]);
        let spoilt = "malformed JSON: control character (\\u0000-\\u001F) found while parsing a string at column 10";
        let expected = [
            "Skipped a.txt: binary file",
            "b.jsonl:1|x",
            &format!("Failed b.jsonl:2: {spoilt}"),
            "b.jsonl:3|y",
            "Skipped c.txt.gz: binary file",
        ];
        let counts = fixture.check(&[""], &expected);
        assert_eq!(counts, Counts { binary: 2, files: 1, ..Counts::default() });
    }

    #[test]
    fn a_compressed_file_by_any_name() {
        for (name, compress) in ALL {
            let fixture = Fixture::new(&[("a.jsonl", &compress(b"{\"text\":\"x\"}\n"))]);
            assert_eq!(fixture.read(&mut fixture.input(&[""])), ["a.jsonl:1|x"], "{name}");
        }
    }

    #[test]
    fn a_truncated_stream_gives_what_was_whole_and_one_problem() {
        let lines: Vec<String> =
            (0..3000u64).map(|n| format!("{{\"text\":\"{:x}\"}}\n", crate::hash::mix(n))).collect();
        let whole = gzip(lines.concat().as_bytes());
        let fixture =
            Fixture::new(&[("a.jsonl.gz", &whole[..whole.len() / 2]), ("b.txt.gz", &whole[..whole.len() / 2])]);
        let found = fixture.read(&mut fixture.input(&["a.jsonl.gz", "b.txt.gz"]));
        let count = found.len() - 2;
        assert!(count > 1000);
        assert!(found[..count].iter().all(|line| line.starts_with("a.jsonl.gz:")));
        assert_eq!(found[count], format!("Failed a.jsonl.gz:{}: gzip data is truncated", count + 1));
        assert_eq!(found[count + 1], "Failed b.txt.gz: gzip data is truncated");
    }

    #[test]
    fn a_bomb_is_stopped_and_names_the_flag() {
        let fixture = Fixture::new(&[("a.jsonl", &gzip(&[b'\n'; 1 << 20])), ("b.txt", b"b")]);
        let fixture = fixture.with(|options| (options.max_record, options.max_expansion) = (1000, 10));
        let found = fixture.read(&mut fixture.input(&[""]));
        assert!(found[0].starts_with("Failed a.jsonl:"), "{found:?}");
        assert!(
            found[0].ends_with("gzip data expands to more than 10 times its size (allow more with `max-expansion`)")
        );
        assert_eq!(found[1..], ["b.txt|b"]);
    }

    #[test]
    fn records_longer_than_allowed() {
        let fixture = Fixture::new(&[
            ("a.txt", b"12345678901"),
            ("b.txt", b"1234567890"),
            ("c.csv", b"text\n\"12345678901\n\"\nx\n"),
            ("d.jsonl", b"{\"text\":\"too long\"}\n{}\n"),
            ("e.csv", b"text,far too long a header\nx\n"),
        ]);
        let expected = [
            "Failed a.txt: document longer than 10 bytes (allow more with `max-record`)",
            "b.txt|1234567890",
            "Failed c.csv:2: record longer than 10 bytes (allow more with `max-record`)",
            "c.csv:4|x",
            "Failed d.jsonl:1: record longer than 10 bytes (allow more with `max-record`)",
            "Failed d.jsonl:2: no text field 'text' (fields here: none; choose with `text-field`)",
            "Failed e.csv:1: record longer than 10 bytes (allow more with `max-record`)",
        ];
        let mut fixture = fixture.with(|options| options.max_record = 10);
        for batch_bytes in [0, 1, 5, 1 << 20] {
            fixture.options.batch_bytes = batch_bytes;
            fixture.check(&[""], &expected);
        }
    }

    #[test]
    fn csv_without_a_text_column_is_one_problem() {
        let fixture = Fixture::new(&[("a.csv", b"id,body\n1,x\n2,y\n"), ("b.csv", b""), ("c.csv", b"\n\ntext\nz\n")]);
        let missing = "Failed a.csv: no text column 'text' (columns here: id, body; choose with `text-field`)";
        fixture.check(&[""], &[missing, "c.csv:4|z"]);
    }

    #[test]
    fn columns_of_one_name_are_noted_if_they_are_read() {
        let fixture = Fixture::new(&[
            ("a.csv", b"id,text,x,text,x\n1,a,b,c,d\n"),
            ("b.csv", b"id,id,text,id\n1,2,a,3\n"),
            ("c.csv", b"text,x,x\na,b,c\n"),
        ]);
        fixture.check(
            &[""],
            &[
                "Repaired a.csv: 2 columns are named 'text': the first one was read",
                "1|a",
                "Repaired b.csv: 3 columns are named 'id': the first one was read",
                "1|a",
                "c.csv:2|a",
            ],
        );
    }

    #[test]
    fn a_megabyte_of_blank_lines_before_the_header() {
        let blank = "\r\n".repeat(1 << 19);
        let fixture = Fixture::new(&[("a.csv", format!("{blank}text\nx\n").as_bytes()), ("b.csv", blank.as_bytes())]);
        fixture.check(&[""], &["a.csv:524290|x"]);
    }

    #[test]
    fn an_unclosed_quote_loses_its_record_and_what_is_behind_it() {
        let fixture = Fixture::new(&[("a.csv", b"text\nx\n\"y\nz\n")]);
        let lost = "Failed a.csv:3: a quote in the record that starts here is never closed: it and everything after it were not read";
        fixture.check(&[""], &["a.csv:2|x", lost]);
    }

    #[test]
    fn utf16_in_each_format() {
        let utf16 = |text: &str| -> Vec<u8> {
            [0xfeffu16].into_iter().chain(text.encode_utf16()).flat_map(u16::to_be_bytes).collect()
        };
        let fixture = Fixture::new(&[
            ("a.txt", &utf16("é")),
            ("b.jsonl", &utf16("{\"text\":\"é\"}\n")),
            ("c.csv", &utf16("id,text\r\n1,é\r\n")),
            ("d", &utf16("{\"text\":\"é\"}\n")),
            ("e.csv", &[&utf16("text\né\n")[..], &[0xd8]].concat()),
        ]);
        let damaged = "Repaired e.csv: invalid UTF-16BE replaced by U+FFFD";
        fixture.check(&[""], &["a.txt|é", "b.jsonl:1|é", "1|é", "d:1|é", "e.csv:2|é", "e.csv:3|\u{fffd}", damaged]);
    }

    #[test]
    fn a_mark_is_no_part_of_the_first_field() {
        let fixture = Fixture::new(&[
            ("a.csv", b"\xef\xbb\xbftext\nx\n"),
            ("b.jsonl", b"\xef\xbb\xbf{\"text\":\"x\"}\n"),
            ("c.txt", b"\xef\xbb\xbfx"),
        ]);
        fixture.check(&[""], &["a.csv:2|x", "b.jsonl:1|x", "c.txt|x"]);
    }

    #[test]
    fn a_legacy_encoding_is_guessed_for_the_whole_stream() {
        let text = "текст\nСъешь же ещё этих мягких французских булок\nда\n";
        let fixture = Fixture::new(&[("a.csv", &encoding_rs::WINDOWS_1251.encode(text).0)]);
        fixture
            .with(|options| options.text_fields = super::super::TextFields::parse("text-field", ["текст"]).unwrap())
            .check(
                &[""],
                &[
                    "Repaired a.csv: decoded as windows-1251",
                    "a.csv:2|Съешь же ещё этих мягких французских булок",
                    "a.csv:3|да",
                ],
            );
    }

    #[test]
    fn any_batch_size_yields_the_same() {
        let lines: String = (0..500).map(|n| format!("{{\"text\":\"{}\"}}\n\n", "x".repeat(n % 70))).collect();
        let rows: String = (0..500).map(|n| format!("\"{}\"\r\n", "x\r\n\"\"".repeat(n % 20))).collect();
        let mut fixture =
            Fixture::new(&[("a.jsonl", lines.as_bytes()), ("b.csv", format!("text\n{rows}").as_bytes()), ("c", b"c")]);
        let expected = fixture.read(&mut fixture.input(&[""]));
        assert_eq!(expected.len(), 1001);
        for batch_bytes in [0, 1, 7, 100, 5000] {
            fixture.options.batch_bytes = batch_bytes;
            assert!(fixture.read(&mut fixture.input(&[""])) == expected, "{batch_bytes}");
        }
    }

    #[test]
    fn a_file_on_both_sides_is_read_where_it_is_nearer() {
        let fixture = Fixture::new(&[("d/e/a", b"a"), ("d/e/b", b"b"), ("d/c", b"c")]);
        let paths = |paths: &[&str]| paths.iter().map(|path| fixture.folder.path().join(path)).collect::<Vec<_>>();
        for (input, reference, expected) in [
            (&["d"][..], &["d/e/a"][..], (&["c", "b"][..], &["a"][..])),
            (&["d"], &["d/e"], (&["c"], &["a", "b"])),
            (&["d/e"], &["d"], (&["a", "b"], &["c"])),
            (&["d/e/a"], &["d/e"], (&["a"], &["b"])),
            (&["d/e/a"], &["d/e/a"], (&[], &["a"])),
            (&["d"], &["d"], (&[], &["c", "a", "b"])),
            (&["d", "d/e/a"], &["d/e"], (&["c", "a"], &["b"])),
            (&["d/e"], &["d/c"], (&["a", "b"], &["c"])),
        ] {
            let (ours, theirs) = Input::sides(paths(input), paths(reference), fixture.options.clone());
            let texts = |mut side: Input| -> Vec<String> {
                let read = read(&mut side);
                read.iter().filter_map(|line| line.split_once('|')).map(|(_, text)| text.to_string()).collect()
            };
            assert_eq!(texts(ours), expected.0, "{input:?} {reference:?}");
            assert_eq!(texts(theirs.unwrap()), expected.1, "{input:?} {reference:?}");
        }
    }

    #[test]
    fn globs_choose_among_the_files_in_folders() {
        let named = |name: &str| Globs::new("include", &[name.to_string()]).unwrap();
        let fixture = Fixture::new(&[("d/a.md", b"a"), ("d/b.txt", b"b"), ("c.txt", b"c")]);
        let fixture = fixture.with(|options| options.include = named("*.md"));
        let counts = fixture.check(&["d", "c.txt"], &["d/a.md|a", "c.txt|c"]);
        assert_eq!(counts.excluded, 1);
        let fixture = fixture.with(|options| options.exclude = named("*.txt"));
        fixture.check(&["d", "c.txt"], &["d/a.md|a", "c.txt|c"]);
        assert_eq!(fixture.input(&["d", "c.txt"]).unmatched_globs(), []);
        assert_eq!(fixture.input(&["c.txt"]).unmatched_globs().len(), 2);
    }

    #[test]
    fn a_path_without_text_is_a_failure_of_the_first_reading() {
        let fixture = Fixture::new(&[("a", b"a"), ("blank", b" \n"), ("d.jsonl", b"{}\n{}\n"), ("e/.hidden", b"h")]);
        let failure = |paths: &[&str]| {
            let mut input = fixture.input(paths);
            input.require_documents("against");
            assert!(input.failure().is_none());
            read(&mut input);
            let failure = input.failure().map(|error| fixture.shown(&error.to_string()));
            read(&mut input);
            assert_eq!(input.failure().is_some(), failure.is_some());
            failure
        };
        assert_eq!(failure(&["a"]), None);
        for (paths, expected) in [
            (&["a", "blank"][..], "`against` blank: no document was read from it: it is empty"),
            (
                &["e", "a"],
                "`against` e: no document was read from it: 1 hidden entry is left out (it is read with `hidden`)",
            ),
            (&["missing"], "`against` missing: no document was read from it: missing: cannot read: No such file"),
            (&["d.jsonl"], "`against` d.jsonl: no document was read from it: d.jsonl:1: no text field 'text'"),
        ] {
            let found = failure(paths).unwrap();
            assert!(found.starts_with(expected), "{found}");
        }
        assert!(failure(&["d.jsonl"]).unwrap().contains(", and others (use `allow-empty`"));
    }

    #[test]
    fn a_break_stops_at_once() {
        let mut fixture = Fixture::new(&[("a.jsonl", b"{}\n{}\n{}\n"), ("b", b"b")]);
        fixture.options.batch_bytes = 1;
        let mut batches = 0;
        fixture.input(&[""]).read(&mut |_| {
            batches += 1;
            ControlFlow::Break(())
        });
        assert_eq!(batches, 1);
    }

    #[test]
    fn every_reading_without_room_for_the_copy_ends_the_run() {
        let mut fixture = Fixture::new(&[]);
        fixture.options.temp_dir = Some("/no/such/folder".into());
        fixture.options.format = Format::Lines;
        let endless = io::BufReader::new(io::repeat(b'\n').take(80 << 20));
        let mut input = fixture.input(&["-"]).with_stdin(Box::new(endless));
        input.keep_for_second_read();
        assert!(input.failure().is_none());
        for _ in 0..2 {
            assert_eq!(read(&mut input), [""; 0]);
            assert_eq!(input.failure().unwrap().kind(), crate::ErrorKind::Disk);
        }
    }

    /// The encoding of a stream is guessed from its start; rows in another come later.
    #[test]
    fn a_delimiter_in_a_late_character_is_not_taken_for_one() {
        let mut rows = b"id|text|note\n".to_vec();
        (0..3000).for_each(|n| rows.extend(format!("{n}|plain words of row {n} in ASCII|\n").bytes()));
        let chinese = "教育部說明學校的方法以及學生學習的目的與制度，並且討論老師在課堂上如何使用新的材料";
        let (big5, ..) = encoding_rs::BIG5.encode(chinese);
        assert!(big5.contains(&b'|'));
        rows.extend([b"big5|", &*big5, b"|\nlatin|a caf\xe9 and more words|\n"].concat());
        let fixture = Fixture::new(&[("a.csv", &rows)]).with(|options| options.delimiter = Some(b'|'));
        let found = fixture.read(&mut fixture.input(&["a.csv"]));
        let refused = "Failed a.csv:3002: in Big5, '|' may be a part of a character: convert it to UTF-8 first (if it \
                       is in another encoding, name that with `encoding`)";
        assert_eq!(found[3000], refused);
        assert_eq!(found.last().unwrap(), "latin|a café and more words");
    }

    /// テ is 0x83 0x65 in Shift_JIS, ソ 0x83 0x5C.
    #[test]
    fn files_of_every_format_in_the_named_encoding() {
        let utf16 = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
        let of = |label: &str, name: &str, bytes: &[u8]| {
            let fixture = Fixture::new(&[(name, bytes)])
                .with(|options| options.encoding = Some(Encoding::by_label("encoding", label).unwrap()));
            fixture.read(&mut fixture.input(&[name]))
        };
        assert_eq!(of("shift_jis", "a.txt", b"\x83\x65\x83\x5c"), ["a.txt|テソ"]);
        assert_eq!(of("shift_jis", "a.jsonl", b"{\"text\":\"\x83\x65\x83\x5c\"}\n"), ["a.jsonl:1|テソ"]);
        assert_eq!(
            of("shift_jis", "a.json", b"{\"text\":\"\x83\x5c\"}\n{\"text\":\"\x83\x65\"}\n"),
            ["a.json:1|ソ", "a.json:2|テ"]
        );
        let options = |name: &str, bytes: &[u8], column: &str| {
            let fixture = Fixture::new(&[(name, bytes)]).with(|options| {
                options.encoding = Some(Encoding::by_label("encoding", "shift_jis").unwrap());
                options.text_fields = FieldPath::single(column).into();
            });
            fixture.read(&mut fixture.input(&[name]))
        };
        // The names of columns, too; and of a file without an extension.
        assert_eq!(options("a.csv", b"id,\x83\x65\n1,\x83\x5c\n", "テ"), ["1|ソ"]);
        assert_eq!(options("table", b"id,\x83\x65\n1,\x83\x5c\n", "テ"), ["1|ソ"]);
        // UTF-16 without a mark.
        assert_eq!(of("utf-16le", "a.txt", &utf16("été")), ["a.txt|été"]);
        assert_eq!(
            of("utf-16le", "a.jsonl", &utf16("{\"text\":\"é\"}\n{\"text\":\"ਊ\"}\n")),
            ["a.jsonl:1|é", "a.jsonl:2|ਊ"]
        );
        assert_eq!(of("utf-16le", "a.csv", &utf16("id,text\nx,ਊé\n")), ["x|ਊé"]);
        // A mark decides.
        assert_eq!(
            of("latin1", "a.jsonl", "\u{feff}{\"text\":\"é\"}\n{\"text\":\"à\"}\n".as_bytes()),
            ["a.jsonl:1|é", "a.jsonl:2|à"]
        );
        assert_eq!(of("latin1", "a.csv", "\u{feff}id,text\nx,é\n".as_bytes()), ["x|é"]);
        assert_eq!(of("latin1", "a.csv", &utf16("\u{feff}id,text\nx,é\n")), ["x|é"]);
        // A page in a file is in the named encoding, whatever it declares.
        assert_eq!(of("utf-8", "a.html", "<meta charset=latin1><p>é".as_bytes()), ["a.html|é"]);
        // Columns cannot be split where their delimiter may be a part of a character.
        let refused = "Failed a.csv: in ISO-2022-JP, ',' may be a part of a character: convert it to UTF-8 first";
        assert_eq!(of("iso-2022-jp", "a.csv", b"id,text\n1,a\n"), [refused]);
        assert_eq!(of("iso-2022-jp", "a.jsonl", b"{\"text\":\"\x1b$B%F\x1b(B\"}\n"), ["a.jsonl:1|テ"]);
    }

    #[test]
    fn a_reference_may_be_in_another_encoding() {
        let label = |label: &str| Some(Encoding::by_label("encoding", label).unwrap());
        let fixture = Fixture::new(&[("a.txt", b"\xc3\xa9")]).with(|options| {
            options.encoding = label("latin1");
            *options = options.of_reference();
        });
        assert_eq!(fixture.read(&mut fixture.input(&["a.txt"])), ["a.txt|Ã©"]);
        let fixture = Fixture::new(&[("a.txt", b"\xc3\xa9")]).with(|options| {
            options.encoding = label("latin1");
            options.reference.encoding = label("utf-8");
            *options = options.of_reference();
        });
        assert_eq!(fixture.read(&mut fixture.input(&["a.txt"])), ["a.txt|é"]);
    }
}
