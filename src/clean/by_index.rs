//! An index decides, and remembers what is kept.
//!
//! ```text
//! decide   documents in their order → the index as it is, and `_dedup/remembered`      the index is not changed
//! state    what is left out, what is to be added to which state of the index           on the disk
//! write    the files                                                                   on the disk
//! add      `_dedup/remembered` is appended to the index, as a whole                    on the disk
//! summary  the folder is complete
//! ```
//!
//! A run that is interrupted before the state is written has done nothing, and decides again. After that, the same run
//! continues with what was decided. What is added belongs to one state of the index, and adding it twice is adding it once;
//! so nothing is forgotten or remembered twice, and no document is compared with itself. A part of it does not count (staged.rs).

use super::decider::{Decider, Decisions, Sides};
use super::decisions::{self, Condition, Files, Found, OfFile, Partner, Removed};
use super::folder::{Folder, IndexRecord, Request, State, cannot_write};
use super::inputs::Inputs;
use super::removed_list::RemovedList;
use super::request::{ByIndex, CleanOptions, DecidedByIndex, Remembered};
use super::scan::{check_read, stream_record, with_options};
use crate::engine::{At, KeepPolicy, Observer};
use crate::error::Error;
use crate::filter::{self, Decided, Filter};
use crate::index::{Decision, Index, IndexOptions, Made, Mode, Repair, Staged, Sync};
use crate::readable::{count, counted};
use crate::run::fields::FieldsFound;
use crate::source::{Input, Problem, Severity, Source};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Decides by an index.
pub(super) struct Stream<'a> {
    by: &'a ByIndex,
    options: &'a CleanOptions,
    /// What is added at the end, and whether a checkpoint should be made then.
    staged: Option<(Staged, bool)>,
    remembered: Remembered,
}

impl<'a> Stream<'a> {
    /// # Errors
    /// The options ask for a choice that a stream does not have.
    pub fn new(by: &'a ByIndex, options: &'a CleanOptions) -> Result<Self, Error> {
        let ranking = &options.source.ranking;
        let refused = [
            (options.keep != KeepPolicy::First || !ranking.by.is_empty(), "keep"),
            (!ranking.prefer.is_empty(), "prefer"),
            (options.engine.chosen.is_some(), "decisions"),
        ];
        if let Some((_, name)) = refused.iter().find(|(is_refused, _)| *is_refused) {
            return Err(Error::Usage(format!(
                "`{name}` has no effect with `index`: documents are decided in their order, and the first of \
                 near-duplicates is kept"
            )));
        }
        if !options.against.is_empty() {
            return Err(Error::Usage(
                "`against` has no effect with `index`: documents are compared with those that the index has, and with those \
                 before them; add the reference to the index"
                    .into(),
            ));
        }
        Ok(Stream { by, options, staged: None, remembered: Remembered::default() })
    }

    /// What the output is an output of.
    fn shown(&self, digest: Option<u64>) -> Value {
        let path = self.by.path.display();
        match digest {
            Some(digest) => format!("{path}, digest {digest:016x}"),
            // The same for both: an interrupted run may have created the file.
            None => format!("{path}, which does not exist or has no index in it"),
        }
        .into()
    }

    /// The index, to be decided by; for a trial run it is only read.
    fn open(&self, folder: Option<&Folder>) -> Result<(Index, Option<Repair>), Error> {
        let ByIndex { path, plan, options, .. } = self.by;
        if let Some(folder) = folder {
            // The tables of these documents are not beside the index, whose checkpoint has none of them.
            let temp_dir = options.temp_dir.clone().unwrap_or_else(|| folder.own(""));
            let options = IndexOptions { temp_dir: Some(temp_dir), ..options.clone() };
            return Index::stage(path, plan, &options, &folder.addition(true)?, false);
        }
        let temp_dir = options.temp_dir.clone().unwrap_or_else(std::env::temp_dir);
        let cannot = |error| Error::io(format!("cannot write temporary files in {}", temp_dir.display()), error);
        let aside = tempfile::tempfile_in(&temp_dir).map_err(cannot)?;
        if Made::of(path, plan, options.creates)?.digest.is_some() {
            return Index::stage(path, plan, options, &aside, true);
        }
        // Open, it needs no name.
        let new = tempfile::NamedTempFile::new_in(&temp_dir).map_err(cannot)?;
        Index::stage(new.path(), plan, options, &aside, false)
    }

    /// Decides, and lists what is left out; with a folder, in it.
    fn decide_with(
        &mut self,
        index: &mut Index,
        (mut input, inputs): (Input, &Inputs),
        folder: Option<&Folder>,
        observer: &dyn Observer,
    ) -> Result<Decisions, Error> {
        let started = Instant::now();
        let before = filter::remembered(index);
        let mut are_unnamed = false;
        let mut moved = Moved::default();
        let mut run = |list: &mut List<'_>| {
            let filter = Filter::new(&mut *index).threads(self.options.engine.threads).observer(observer);
            let filter = filter.drop_known(self.by.drops_known);
            let mut fields = FieldsFound::default();
            let how = (self.options, self.by.drops_known);
            moved = Moved::default();
            let decided = decide((filter, observer), &mut input, inputs, how, (&mut *list, &mut fields, &mut moved))?;
            fields.check(&self.options.engine.required_fields, &mut |_| input.field_names())?;
            are_unnamed = fields.all_unnamed() > 0;
            check_read(self.options, decided.1.documents, (decided.1.failed, 0), &input.counts()).map(|()| decided)
        };
        let (files, counts, removed_bytes) = RemovedList::of(folder, self.options).write(|file| {
            let (file, path) = file.unzip();
            let mut list = List::new(file, path.unwrap_or(Path::new("")));
            let (files, counts) = run(&mut list)?;
            Ok((files, counts, list.finish(inputs)?))
        })?;
        let mut warnings = index.warnings();
        warnings.extend(input.fields_never_found());
        if are_unnamed {
            warnings.push(
                "records without an id are remembered by their position, FILE:RECORD: a later file of the same name would \
                 repeat these ids (`id-field` names another field for ids)"
                    .into(),
            );
        }
        warnings.extend(moved.warning(counts.documents));
        let decided = DecidedByIndex {
            algorithm: index.spec().algorithm,
            measure: index.measure(),
            parameters: index.spec().parameters.clone(),
            counts,
            capped: (index.capped(), index.most_of_a_key()),
            warnings,
            repair: None,
            is_begun_anew: false,
            seconds: started.elapsed().as_secs_f64(),
        };
        let (after, scan) = (filter::remembered(index), stream_record(&decided, self.options));
        self.remembered = Remembered { before, after, decided: Some(decided), without_checkpoint: None };
        let (failed, read) = (counts.failed, input.counts());
        Ok(Decisions { files, removed_bytes, scan, failed, read, report: None, cut: None, index: None, replaced: None })
    }
}

impl Decider for Stream<'_> {
    fn refuse(&mut self, inputs: &Inputs, paths: &[PathBuf], output: Option<&Path>) -> Result<(), Error> {
        inputs.refuse_index(&self.by.path, paths, output, self.options.source.hidden)
    }

    fn apart(&self) -> &'static str {
        "name a folder that holds both instead, or clean one after the other, each into a folder of its own, with the same index"
    }

    fn request(&self) -> Result<Request, Error> {
        let Made { rows, digest } = Made::of(&self.by.path, &self.by.plan, self.by.options.creates)?;
        let mut request = with_options(rows, self.options)?;
        let limits = &self.by.options.limits;
        let rows = [
            ("index", self.shown(digest)),
            ("index window", limits.window.into()),
            ("index expire", limits.expire.into()),
            ("index max candidates", limits.candidates.into()),
            ("index drop known", self.by.drops_known.into()),
        ];
        request.extend(rows.map(|(name, value)| (name.to_string(), value)));
        Ok(request)
    }

    fn decide(
        &mut self,
        (input, _): Sides,
        inputs: &Inputs,
        folder: Option<&Folder>,
        observer: &dyn Observer,
    ) -> Result<Decisions, Error> {
        let ByIndex { path, plan, .. } = self.by;
        let existed = path.exists();
        let (mut index, repair) = self.open(folder)?;
        let is_begun_anew = existed && index.is_begun_anew();
        let failed = |error| Error::output(format!("cannot write the index {}", path.display()), error);
        // Until everything is decided, the file is as it was, so that the run after one that fails or is killed warns too.
        let header = (folder.is_some() && is_begun_anew).then(|| take_header(path)).transpose().map_err(failed)?;
        let decided = self.decide_with(&mut index, (input, inputs), folder, observer).inspect_err(|_| {
            // It is empty, and locked.
            if folder.is_some() && !existed {
                _ = fs::remove_file(path);
            }
        });
        let mut decisions = decided?;
        header.map_or(Ok(()), |header| put_back(path, &header)).map_err(failed)?;
        let Remembered { before, after, decided, .. } = &mut self.remembered;
        if let Some(decided) = decided {
            (decided.repair, decided.is_begun_anew) = (repair, is_begun_anew);
        }
        if let Some(folder) = folder {
            let (staged, is_due) = index.into_staged()?;
            staged.sync().map_err(|error| cannot_write(folder.root(), error))?;
            let (file, addition) = (path.display().to_string(), staged.addition());
            decisions.index = Some(IndexRecord { file, before: *before, after: *after, addition });
            decisions.replaced = Some(("index", self.shown(Made::of(path, plan, self.by.options.creates)?.digest)));
            self.staged = Some((staged, is_due));
        }
        Ok(decisions)
    }

    fn continue_with(&mut self, state: &State, files: &[OfFile], folder: &Folder) -> Result<(), Error> {
        let Some(IndexRecord { before, after, addition, .. }) = state.index.clone() else { return Ok(()) };
        self.remembered = Remembered { before, after, ..Remembered::default() };
        let staged = Staged::reopen(&self.by.path, folder.addition(false)?, addition, &instead(files, folder))?;
        self.staged = Some((staged, true));
        Ok(())
    }

    fn complete(&mut self) -> Result<(), Error> {
        let Some((staged, is_due)) = self.staged.take() else { return Ok(()) };
        staged.append()?;
        if is_due {
            let options = IndexOptions { mode: Mode::Filter, sync: Sync::Batch, ..self.by.options.clone() };
            self.remembered.without_checkpoint = Index::renew_checkpoint(&self.by.path, &self.by.plan, &options);
        }
        Ok(())
    }

    fn remembered(&mut self) -> Option<Remembered> {
        Some(std::mem::take(&mut self.remembered))
    }

    fn is_durable(&self) -> bool {
        true
    }
}

/// Files that the index remembers under other paths: if those of this run are spelled differently, all are left out.
#[derive(Default)]
struct Moved {
    /// Files that are near-duplicates of a document with another id.
    files: u64,
    /// The first of them whose partner was remembered before, and the partner.
    first: Option<(String, String)>,
    /// The first files that are kept, until that is found.
    kept: BTreeSet<String>,
}

/// After so many files are kept, no partner is sought: nearly all are to be left out.
const MOST_KEPT: usize = 1000;

impl Moved {
    /// Notes the decision on a file that is a document.
    fn see(&mut self, id: &str, decision: &Decision) {
        let is_sought = self.first.is_none() && self.kept.len() < MOST_KEPT;
        match decision {
            Decision::Duplicate { of, .. } if **of != *id => {
                self.files += 1;
                if is_sought && !self.kept.contains(&**of) {
                    self.first = Some((id.to_string(), of.to_string()));
                }
            }
            Decision::Duplicate { .. } => {}
            _ if is_sought => _ = self.kept.insert(id.to_string()),
            _ => {}
        }
    }

    /// The warning if nearly all documents are such files.
    fn warning(&self, documents: u64) -> Option<String> {
        let (id, of) = self.first.as_ref().filter(|_| self.files > 1 && 10 * self.files >= 9 * documents)?;
        let spelling = spelling(id, of).unwrap_or_default();
        let (id, of) = (id.escape_debug(), of.escape_debug());
        Some(format!(
            "{} of {} left out as near-duplicates under other ids, the first, '{id}', as one of '{of}', which the index remembers: the id of a \
             file is its path as it is spelled; if these are the same files, name them as in the run before{spelling}, with another output folder",
            count(self.files),
            counted(documents, "document") + " are",
        ))
    }
}

/// In which way the path of a file is to be spelled as it was before, if both lead to a file of this name.
fn spelling(now: &str, before: &str) -> Option<String> {
    let same = now
        .rsplit('/')
        .zip(before.rsplit('/'))
        .take_while(|(now, before)| now == before)
        .map(|(name, _)| name.len() + 1);
    // The first name has no slash before it.
    let length = same.reduce(|all, more| all + more)?;
    let start = |path: &str| path[..(path.len() + 1).saturating_sub(length)].escape_debug().to_string();
    Some(match (start(now), start(before)) {
        (now, before) if before.is_empty() => format!(", without '{now}'"),
        (now, before) if now.is_empty() => format!(", with '{before}' before their names"),
        (now, before) => format!(", with '{before}' instead of '{now}'"),
    })
}

/// Empties an index that has nothing but its header, which it returns.
fn take_header(path: &Path) -> io::Result<Vec<u8>> {
    let header = fs::read(path)?;
    fs::File::options().write(true).open(path)?.set_len(0)?;
    Ok(header)
}

fn put_back(path: &Path, header: &[u8]) -> io::Result<()> {
    let mut file = fs::File::options().write(true).open(path)?;
    file.write_all(header).and_then(|()| file.sync_all())
}

/// What to do if what was decided cannot be added. Nothing of the output may be lost by that: if all files are written, a part of the
/// documents may be known, because the whole was added before something else has changed.
fn instead(files: &[OfFile], folder: &Folder) -> String {
    let (root, done) = (folder.root().display(), folder.done());
    let is_written = |(number, file): (usize, &OfFile)| file.is_left_out || done.contains_key(&number);
    match files.iter().enumerate().all(is_written) {
        true => format!(
            "all files of {root} are written, so keep this folder, and clean it with the index into another one, with `exclude _dedup` and \
             without `drop-known`: that adds what the index does not have; or decide again, with another output folder"
        ),
        false => format!("decide again, with another output folder, because {root} is not complete"),
    }
}

/// Decides by an index, in the order of the input, lists what is left out, and notes which fields there are.
///
/// # Errors
/// Those of the filter; the list cannot be written.
fn decide(
    (filter, observer): (Filter<'_>, &dyn Observer),
    input: &mut dyn Source,
    inputs: &Inputs,
    (options, drops_known): (&CleanOptions, bool),
    (list, fields, moved): (&mut List<'_>, &mut FieldsFound, &mut Moved),
) -> Result<(Vec<OfFile>, filter::Counts), Error> {
    let names = inputs.names();
    let mut files = Files::new(&names, options.on_error);
    let mut counts = filter.documents(input, &mut |place, decided| {
        let at = At { path: &place.path, line: place.line };
        match decided {
            Decided::Document(id, decision) => {
                fields.document((at.path, at.line), id, false);
                if at.line.is_none() {
                    moved.see(id, decision);
                }
                let partner = match decision {
                    Decision::Duplicate { of, similarity, .. } => Some((&**of, similarity.value())),
                    Decision::Known if drops_known => Some((id, 1.0)),
                    _ => None,
                };
                if let Some(number) = files.take(at, Found::Document { keep: partner.is_none() }) {
                    let duplicate_of = partner.map(|(id, _)| Partner { id, ..Partner::default() });
                    let similarity = partner.map(|(_, similarity)| similarity);
                    list.add(number, &Removed { duplicate_of, similarity, ..Removed::at(at, id) })?;
                }
            }
            Decided::Problem(problem) => {
                fields.problem(problem);
                take_problem(problem, at, (&mut files, list), options.worded_problem)?;
            }
        }
        Ok(())
    })?;
    files.refused.iter().for_each(|problem| observer.problem(problem));
    counts.failed += files.refused.len() as u64;
    Ok((files.files, counts))
}

fn take_problem(
    problem: &Problem,
    at: At<'_>,
    (files, list): (&mut Files<'_>, &mut List<'_>),
    worded: fn(&str) -> String,
) -> Result<(), Error> {
    let changed = match problem.severity {
        Severity::Deferred => files.refuse(problem),
        _ => files.worsen(at.path, Condition::after(problem)),
    };
    if let Some(number) = changed {
        list.take_back(number)?;
    }
    if !problem.kind.is_rejection() {
        return Ok(());
    }
    let found = if problem.severity == Severity::Skipped { Found::Skipped } else { Found::Failed };
    for place in problem.places() {
        let at = At { line: place.line, ..at };
        if let Some(number) = files.take(at, found) {
            let id = problem.id.clone().unwrap_or_else(|| place.to_string());
            list.add(number, &Removed { error: Some(&worded(&problem.message)), ..Removed::at(at, &id) })?;
        }
    }
    Ok(())
}

/// The lines of what is left out, while it is decided; without a file nothing is written.
struct List<'f> {
    out: Option<BufWriter<&'f mut fs::File>>,
    path: PathBuf,
    /// The number of the file with the last line, and the place of its first line.
    last: Option<usize>,
    start: u64,
}

impl<'f> List<'f> {
    /// A list in an empty file, which is shown as this path.
    fn new(out: Option<&'f mut fs::File>, path: &Path) -> Self {
        let out = out.map(|file| BufWriter::with_capacity(1 << 16, file));
        List { out, path: path.to_path_buf(), last: None, start: 0 }
    }

    /// Adds a line about a record of the file with this number.
    fn add(&mut self, number: usize, removed: &Removed<'_>) -> Result<(), Error> {
        let Some(out) = &mut self.out else { return Ok(()) };
        let mut write = || {
            if self.last != Some(number) {
                (self.last, self.start) = (Some(number), out.stream_position()?);
            }
            decisions::line(out, removed)
        };
        write().map_err(|error| cannot_write(&self.path, error))
    }

    /// Takes back the lines about a file: the last ones.
    fn take_back(&mut self, number: usize) -> Result<(), Error> {
        let Some(out) = self.out.as_mut().filter(|_| self.last == Some(number)) else { return Ok(()) };
        let start = self.start;
        self.last = None;
        // Seeking writes what is in the buffer.
        let cut = out.seek(SeekFrom::Start(start)).and_then(|_| out.get_mut().set_len(start));
        cut.map_err(|error| cannot_write(&self.path, error))
    }

    /// Ends the list with the further names of files, on the disk. Returns its length in bytes.
    ///
    /// # Errors
    /// It cannot be written.
    fn finish(mut self, inputs: &Inputs) -> Result<u64, Error> {
        let Some(out) = &mut self.out else { return Ok(0) };
        let mut write = || {
            decisions::list_further_names(inputs, out)?;
            out.flush()?;
            out.get_mut().sync_all()?;
            Ok(out.get_mut().metadata()?.len())
        };
        write().map_err(|error| cannot_write(&self.path, error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_a_path_was_spelled_before() {
        let cases = [
            ("./x/a.txt", "x/a.txt", ", without './'"),
            ("/home/x/a.txt", "x/a.txt", ", without '/home/'"),
            ("x/a.txt", "/home/x/a.txt", ", with '/home/' before their names"),
            ("a.txt", "x/a.txt", ", with 'x/' before their names"),
            ("./a.txt", "x/a.txt", ", with 'x/' instead of './'"),
            ("y/a.txt", "x/a.txt", ", with 'x/' instead of 'y/'"),
            ("/a.txt", "a.txt", ", without '/'"),
        ];
        for (now, before, expected) in cases {
            assert_eq!(spelling(now, before).as_deref(), Some(expected), "{now} {before}");
        }
        assert_eq!(spelling("x/a.txt", "x/b.txt"), None);
        assert_eq!(spelling("ba.txt", "a.txt"), None);
    }
}
