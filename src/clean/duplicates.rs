//! Files that are not kept move to a folder, and back.

use super::Scanned;
use super::decider::Sides;
use super::decisions::{self, Conditions, OfFile};
use super::failures;
use super::folder::{Folder, Found, Request, SOURCE_OF_MOVED, State, Stay, records, refuse_other_than_folders};
use super::inputs::{APART, File, Inputs};
use super::manifest::{self, Duplicate, MANIFEST, Movable, RETIRED, Written, movable};
use super::moves::{Moved, Mover, remove_empty};
use super::relocate::found;
use super::removed_list::REMOVED;
use super::request::{CleanOptions, Cleaned, OnError};
use super::scan::{references, request, scan, scan_record};
use super::summary::{json, summary};
use crate::algorithm::AlgorithmFactory;
use crate::engine::{self, KeptOutcome, Observer, Report};
use crate::error::Error;
use crate::replace::{rename_new, sync_folder};
use crate::run::observer::Stage;
use crate::source::rest::{OnDisk, format};
use crate::source::{self, Format, Input, Problem, ProblemKind, Severity, Source, display_path};
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Moves the files of these paths that are near-duplicates of kept ones into the folder `output`, each to its path below
/// the path given; without a folder, only decides. Each file must be one document. [`undo`] moves them back.
///
/// `output/_dedup/moved.jsonl` lists them, on the disk, before the first one moves. A file moves only if neither it nor the
/// kept file that it duplicates has changed since it was read, by time, inode and content, and if these are two files:
/// the last name of a content never moves. All names of a file (hard links) among the inputs move. A file that is read
/// through a symbolic link stays. So does any other that cannot move; it is reported, and the others move. Nothing is
/// overwritten. To another file system a file is copied, and the copy checked before the file is removed. The same call
/// continues a run that was interrupted, and tries again to move files that the system refused to move, for example for
/// lack of space.
///
/// [`OnError::Drop`] has no effect: files that cannot be read stay. So has [`link`](CleanOptions::link).
///
/// # Errors
/// [`Error::Usage`] if a file has many records, two files would move to one path, the folder is read, or holds something
/// else; [`Error::Output`] if it cannot be written; those of [`engine::deduplicate`].
///
/// # Cost
/// A [scan](engine::deduplicate). Files that move are read twice more, and those that they duplicate too. Memory: that of
/// the scan, and about 1 KiB for each file that moves.
pub fn move_duplicates(
    paths: &[PathBuf],
    output: Option<&Path>,
    factory: &dyn AlgorithmFactory,
    options: &CleanOptions,
    observer: &dyn Observer,
) -> Result<Cleaned, Error> {
    let sides = Input::sides(paths.to_vec(), options.against.clone(), options.source.clone());
    let inputs = Inputs::new(sides.0.listing()?);
    if let Some(output) = output {
        refuse_other_than_folders(output)?;
        inputs.refuse_output(paths, output)?;
        inputs.refuse_output(&options.against, output)?;
    }
    refuse_records(&inputs, options, TO_MOVE)?;
    let Some(output) = output else {
        let decided = decide(sides, &inputs, factory, options, observer)?;
        let (moves, stay) = movable(&inputs, &decided.duplicates);
        let not_writable = refuse_equal_places(&moves).err().map(|error| error.to_string());
        stay.iter().for_each(|problem| observer.problem(problem));
        let counts = Cleaned::of(decided.files.iter().map(|file| file.counts), decided.report.counts.failed);
        let (files_written, stayed) = (moves.len() as u64, stay.len() as u64);
        let (report, read) = (Some(decided.report), decided.read);
        return Ok(Cleaned { report, read, files_written, stayed, not_writable, ..counts });
    };
    let request = request_to_move(paths, factory, options)?;
    let folder = Folder::open(output)?;
    let before = read_manifest(&folder)?.unwrap_or_default();
    let moved: BTreeSet<String> = before.iter().map(|(line, _)| line.file.clone()).collect();
    let (state, lines, scanned) = match folder.find(&request, &records(&inputs), Some(&moved))? {
        Found::Complete(counts) => {
            failures::report_again(&folder, counts.failed, observer)?;
            folder.finish();
            let files = inputs.files.len() as u64;
            return Ok(Cleaned { was_complete: true, files, ..*counts });
        }
        Found::Decided(state) => {
            failures::report_again(&folder, state.failed(), observer)?;
            (state, before, None)
        }
        // They were taken out of the folder, for good or for a moment.
        Found::New if !before.iter().all(|(line, _)| Mover::is_back(line)) => return Err(folder.not_all_back()),
        Found::New => {
            let planned = plan(sides, &inputs, request, &folder, (factory, options, observer));
            let (state, lines, scanned) = planned.inspect_err(|_| folder.give_up())?;
            (state, lines, Some(scanned))
        }
    };
    carry_out(&folder, &inputs, (state, lines, scanned), observer)
}

/// The files that [`move_duplicates`] would move, in the order of the input. With a `reference`, documents are compared with
/// it alone. Returns the report of the scan, and the paths of the files or why there are none.
///
/// # Errors
/// Those of the scan. In the second result: [`Error::Usage`] if a file has many records; [`Error::Failed`] if
/// [`OnError::Fail`] applies.
///
/// # Cost
/// That of [`engine::scan_to_keep`].
pub fn duplicate_files(
    input: &mut Input,
    reference: Option<&mut dyn Source>,
    factory: &dyn AlgorithmFactory,
    options: &CleanOptions,
    observer: &dyn Observer,
) -> Result<(Report, Result<Vec<PathBuf>, Error>), Error> {
    let inputs = Inputs::new(input.listing()?);
    refuse_records(&inputs, options, TO_LIST)?;
    let watch = decisions::Watch::new(observer);
    let outcome = engine::scan_to_keep(input, reference, factory, &options.engine, &watch, options.keep)?;
    let report = outcome.report().clone();
    let decide = || {
        decisions::check_failed(options.on_error, report.counts.failed)?;
        let decided = Decided::new(&outcome, &watch.conditions(), &inputs, source::Counts::default())?;
        let (moves, stay) = movable(&inputs, &decided.duplicates);
        stay.iter().for_each(|problem| observer.problem(problem));
        Ok(moves.into_iter().map(|(file, _)| file.path.clone()).collect())
    };
    let files = decide();
    Ok((report, files))
}

/// What a scan decided.
struct Decided {
    report: Report,
    /// What was counted of both sides.
    read: source::Counts,
    files: Vec<OfFile>,
    duplicates: Vec<Duplicate>,
}

impl Decided {
    fn new(
        outcome: &KeptOutcome,
        conditions: &Conditions,
        inputs: &Inputs,
        read: source::Counts,
    ) -> Result<Self, Error> {
        let mut duplicates = Vec::new();
        let mut record = None;
        let names = inputs.names();
        let decided = decisions::decide(&outcome.kept(), &names, conditions, OnError::Keep, |file, verdict, at| {
            record = record.or(at.line.map(|_| file));
            if let Some(((_, similarity), kept)) = verdict.duplicate_of.zip(verdict.duplicate_of_at) {
                let (kept, record) = (kept.path.to_string(), kept.line);
                duplicates.push(Duplicate { file, kept, record, similarity: similarity.value() });
            }
            Ok(())
        });
        let (files, _) = decided.map_err(|error| Error::output("nothing", error))?;
        match record {
            Some(file) => Err(has_records(&inputs.files[file], None, TO_MOVE)),
            None => Ok(Decided { report: outcome.report().clone(), read, files, duplicates }),
        }
    }

    /// The files that can move, and why others stay.
    fn movable<'a>(&'a self, inputs: &'a Inputs) -> Result<Movable<'a>, Error> {
        let (moves, stay) = movable(inputs, &self.duplicates);
        refuse_equal_places(&moves)?;
        Ok((moves, stay))
    }
}

/// Refuses files that would move to one path.
///
/// # Errors
/// There are some.
fn refuse_equal_places(moves: &[(&File, &Duplicate)]) -> Result<(), Error> {
    Inputs::refuse_equal_outputs(moves.iter().map(|(file, _)| *file), APART)
}

fn decide(
    sides: Sides,
    inputs: &Inputs,
    factory: &dyn AlgorithmFactory,
    options: &CleanOptions,
    observer: &dyn Observer,
) -> Result<Decided, Error> {
    let (outcome, conditions, read) = scan(sides, factory, options, observer)?;
    Decided::new(&outcome, &conditions, inputs, read)
}

/// Refuses files of many records before they are scanned.
fn refuse_records(inputs: &Inputs, options: &CleanOptions, why: &str) -> Result<(), Error> {
    for file in &inputs.files {
        let opened = OnDisk::open(&file.path).ok();
        match opened.and_then(|mut file| format(&mut file, &options.source).ok()) {
            None | Some(Format::Text | Format::Html | Format::Auto) => {}
            Some(format) => return Err(has_records(file, Some(format), why)),
        }
    }
    Ok(())
}

/// Why a file of many records is refused.
const TO_MOVE: &str = "only files that are one document can move: write the files again with `output`, or leave it out: do not \
                       name it, or use `exclude` if it is in a folder";
const TO_LIST: &str = "a list of paths needs files that are one document: do not name it, or leave it out with `exclude` if it is \
                       in a folder";

fn has_records(file: &File, format: Option<Format>, why: &str) -> Error {
    let format = format.map(|format| format!(" ({})", format.name())).unwrap_or_default();
    Error::Usage(format!("{} holds many records{format}, and {why}", file.shown))
}

/// The options that decide what moves.
fn request_to_move(
    paths: &[PathBuf],
    factory: &dyn AlgorithmFactory,
    options: &CleanOptions,
) -> Result<Request, Error> {
    let mut request = request(factory, options)?;
    request.insert(SOURCE_OF_MOVED.into(), paths.iter().map(|path| display_path(path)).collect());
    Ok(request)
}

fn read_manifest(folder: &Folder) -> Result<Option<Vec<Written>>, Error> {
    match folder.own(MANIFEST).exists() {
        true => manifest::read(folder.read(MANIFEST)?, &folder.own(MANIFEST)).map(Some),
        false => Ok(None),
    }
}

/// Decides what moves, and writes it down.
fn plan(
    sides: Sides,
    inputs: &Inputs,
    request: Request,
    folder: &Folder,
    (factory, options, observer): (&dyn AlgorithmFactory, &CleanOptions, &dyn Observer),
) -> Result<(State, Vec<Written>, Scanned), Error> {
    let started = Instant::now();
    let references = references(options)?;
    let (decided, lines, counts) = failures::record(folder, options, observer, true, |observer| {
        let decided = decide(sides, inputs, factory, options, observer)?;
        observer.stage(Stage::Writing);
        let (moves, mut stay) = decided.movable(inputs)?;
        let (lines, changed) = manifest::lines(&moves, inputs, &references);
        let counts = Stay { files: (stay.len() + changed.len()) as u64, failed: changed.len() as u64 };
        stay.extend(changed);
        stay.iter().for_each(|problem| observer.problem(problem));
        Ok((decided, lines, counts))
    })?;
    let lines: Vec<Written> =
        lines.into_iter().map(|line| (line.written(), line)).map(|(text, line)| (line, text)).collect();
    write_manifest(folder, &lines)?;
    _ = fs::remove_file(folder.own(RETIRED));
    let state = State {
        request,
        inputs: records(inputs),
        counts: decided.files.iter().map(|file| file.counts).collect(),
        removed_bytes: 0,
        stay: Some(counts),
        index: None,
        uncopied: Vec::new(),
        scan: scan_record(&decided.report, started.elapsed().as_secs_f64(), options),
    };
    folder.write_durably("state.json", &json(&state))?;
    Ok((state, lines, (Some(decided.report), None, decided.read)))
}

fn write_manifest(folder: &Folder, lines: &[Written]) -> Result<(), Error> {
    let text: String = lines.iter().map(|(_, text)| text.as_str()).collect();
    folder.write_durably(MANIFEST, text.as_bytes())
}

/// Moves the files, and writes the summary.
fn carry_out(
    folder: &Folder,
    inputs: &Inputs,
    (mut state, mut lines, scanned): (State, Vec<Written>, Option<Scanned>),
    observer: &dyn Observer,
) -> Result<Cleaned, Error> {
    let started = Instant::now();
    let stay = state.stay.unwrap_or_default();
    let (report, _, read) = scanned.unwrap_or_default();
    let mut cleaned =
        Cleaned { report, read, stayed: stay.files, ..Cleaned::of(state.counts.iter().copied(), state.failed()) };
    cleaned.failed += stay.failed;
    let mut mover = Mover::new(folder.root());
    let (is_first, all, mut stayed) = (cleaned.report.is_some(), lines.len(), Vec::new());
    let mut failed = Vec::new();
    lines.retain(|(line, _)| {
        let moved = mover.there(line);
        let is_listed = match &moved {
            Ok(moved) => {
                cleaned.files_written += 1;
                cleaned.bytes_written += line.content.bytes;
                cleaned.files_continued += u64::from(*moved == Moved::Before);
                true
            }
            Err(error) => {
                let is_gone = matches!(found(&line.from()), Ok(None));
                let what = if is_gone { "it is gone" } else { "it stays" };
                let problem = stays(&line.file, what, error);
                let is_retried = problem.kind == ProblemKind::Unreadable;
                cleaned.stayed += 1;
                cleaned.failed += 1;
                cleaned.to_retry += u64::from(is_retried);
                observer.problem(&problem);
                stayed.push(line.clone());
                if !is_retried {
                    failed.push(problem);
                }
                is_retried || !mover.never_moved(line, is_first)
            }
        };
        observer.progress(line.content.bytes, 0);
        is_listed
    });
    remove_empty(folder.root(), stayed.iter());
    // What has changed and did not move has no line.
    let dropped = (all - lines.len()) as u64;
    if dropped > 0 {
        write_manifest(folder, &lines)?;
    }
    if cleaned.to_retry > 0 {
        if dropped > 0 {
            state.stay = Some(Stay { files: stay.files + dropped, failed: stay.failed + dropped });
            folder.write_durably("state.json", &json(&state))?;
        }
        return Ok(cleaned);
    }
    failures::append(folder, &failed)?;
    folder
        .write_durably("summary.json", &summary(&state, inputs, &cleaned, &[], &[], started.elapsed().as_secs_f64()))?;
    folder.finish();
    Ok(cleaned)
}

fn stays(file: &str, what: &str, error: &io::Error) -> Problem {
    let kind = match error.kind() {
        io::ErrorKind::AlreadyExists | io::ErrorKind::NotFound | io::ErrorKind::Other => ProblemKind::Changed,
        _ => ProblemKind::Unreadable,
    };
    Problem::new(Severity::Failed, kind, file, None, format!("{what}: {error}"))
}

/// The result of [`undo`].
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Undone {
    /// Files of the manifest.
    pub files: u64,
    /// Files that moved back.
    pub moved: u64,
    /// Files that were back already.
    pub were_back: u64,
    /// Files that did not move back.
    pub failed: u64,
    /// Whether everything had moved back before, and nothing was done.
    pub was_complete: bool,
}

/// Moves back what [`move_duplicates`] moved into a folder, whether it ended or was interrupted. Folders that this
/// leaves empty are removed, and then the manifest is renamed to `undone.jsonl`.
///
/// A file that has changed in the folder stays there, and so does one whose place is taken. They are reported, the others
/// move back, and the manifest stays. The same call continues one that was interrupted.
///
/// A file that is at its old place only has moved back before: with the content that was read, or, if it had changed in
/// the folder, with that of the time when this function reported it. So files that were reported can be moved by hand. Of
/// a line whose file is nowhere else, another file at the old place is reported too; such a line is removed by hand from
/// `moved.jsonl`.
///
/// # Errors
/// [`Error::Usage`] if it is not such a folder, or another run writes to it; [`Error::Input`] if the manifest cannot be
/// read; [`Error::Output`] if the folder cannot be written.
///
/// # Cost
/// Each file is read. Memory: about 1 KiB for each.
pub fn undo(folder: &Path, observer: &dyn Observer) -> Result<Undone, Error> {
    let shown = folder;
    let folder = Folder::reopen(shown)?;
    let Some(mut lines) = read_manifest(&folder)? else {
        return match folder.own(RETIRED).exists() {
            true => Ok(Undone { was_complete: true, ..Undone::default() }),
            false if folder.own(REMOVED).exists() => Err(Error::Usage(format!(
                "{}: it is an output with copies of what is kept, and no files were moved to it: the input is unchanged, and there is \
                 nothing to undo",
                shown.display()
            ))),
            false => Err(Error::Usage(format!("{}: no files were moved to it", shown.display()))),
        };
    };
    // It is no longer the whole result of a run.
    _ = fs::remove_file(folder.own("summary.json"));
    folder.finish();
    observer.stage(Stage::Writing);
    let mover = Mover::new(folder.root());
    let mut undone = Undone { files: lines.len() as u64, ..Undone::default() };
    let mut notes = false;
    for (line, text) in &mut lines {
        let changed = line.changed.clone();
        let back = mover.back(line);
        if line.changed != changed {
            (*text, notes) = (line.written(), true);
        }
        match back {
            Ok(Moved::Now) => undone.moved += 1,
            Ok(Moved::Before) => undone.were_back += 1,
            Err(error) => {
                undone.failed += 1;
                let path = display_path(&folder.output(&line.to()));
                observer.problem(&stays(&path, "it is not moved back", &error));
            }
        }
        observer.progress(line.content.bytes, 0);
    }
    remove_empty(folder.root(), lines.iter().map(|(line, _)| line));
    if notes {
        write_manifest(&folder, &lines)?;
    }
    if undone.failed == 0 {
        let (manifest, retired) = (folder.own(MANIFEST), folder.own(RETIRED));
        _ = fs::remove_file(&retired);
        let renamed = rename_new(&manifest, &retired).and_then(|()| sync_folder(&retired));
        renamed.map_err(|error| Error::output(format!("cannot rename {}", manifest.display()), error))?;
    }
    Ok(undone)
}
