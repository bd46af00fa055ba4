//! A corpus without its near-duplicates, in the files and formats that it came in.
//!
//! ```text
//! inputs     paths → files, each with the path of its output                              (inputs.rs)
//! decider    what decides which records are left out: a scan, or an index                 (decider.rs, by_scan.rs, by_index.rs)
//! contain    or containment: documents that others contain                                (by_containment.rs)
//! reference  or a reference: documents that have a passage of it                          (by_reference.rs)
//! passages   or which parts of their texts: passages that stand elsewhere                 (by_passages.rs)
//! decide     decisions → the records of each file that are left out; removed.jsonl        (decisions.rs, verdicts.rs)
//! list       where removed.jsonl is written                                               (removed_list.rs)
//! write      each file without them, several beside each other                            (write.rs)
//! uncopied   files of which that cannot be written stay whole                             (uncopied.rs)
//! failures   what could not be read, for each further run                                 (failures.rs)
//! folder     what the output is the output of, and what is done of it                     (folder.rs)
//! stream     the kept records as one stream instead of files                              (stream.rs)
//! duplicates files that are not kept move to a folder, and back                           (duplicates.rs)
//! manifest   the files that move, each with what identifies it and what it duplicates     (manifest.rs)
//! moves      each of them moves, unless something has changed                             (moves.rs)
//! relocate   one file gets another name, on any file system                               (relocate.rs)
//! scan       the scan, and the options that decide                                        (scan.rs)
//! summary    what was run and found, as a file                                            (summary.rs)
//! request    the options, and what a run returns                                          (request.rs)
//! ```
//!
//! A file of which nothing is left out is copied byte for byte, as are the other records of any file. No record
//! disappears without a line in `removed.jsonl` that names the kept document that it is a near-duplicate of. A file of
//! the output is written beside its place and then renamed, so it is there whole or not at all. A run that is interrupted
//! is continued by the same run. Nothing is synchronised with the disk, unless an index decides, which must not remember
//! what is not in the output.
//!
//! Files that move are listed in `moved.jsonl`, on the disk, before the first one moves.

mod by_containment;
mod by_index;
mod by_passages;
mod by_reference;
mod by_scan;
mod decider;
mod decisions;
mod duplicates;
mod failures;
mod folder;
mod inputs;
mod manifest;
mod moves;
mod relocate;
mod removed_list;
mod request;
mod scan;
mod stream;
mod summary;
mod uncopied;
mod verdicts;
mod write;

pub use duplicates::{Undone, duplicate_files, move_duplicates, undo};
pub use request::{ByIndex, CleanOptions, Cleaned, CutReport, DecidedByIndex, OnError, Remembered};
pub use stream::{write_cut, write_kept, write_uncontained, write_unshared};

use crate::algorithm::AlgorithmFactory;
use crate::engine::{KeptOutcome, Observer, Report};
use crate::error::Error;
use crate::passages::{ContainOptions, CutOptions, PassageOptions, Uncontained, Unshared};
use crate::source::{self, Input, ReadOptions};
use by_containment::ByContainment;
use by_index::Stream;
use by_passages::ByPassages;
use by_reference::ByReference;
use by_scan::Scanning;
use decider::{Decider, Decisions, Sides};
use decisions::OfFile;
use folder::Found::{Complete, Decided, New};
use folder::{Folder, Request, State, records, refuse_other_than_folders};
use inputs::Inputs;
use std::path::{Path, PathBuf};
use std::time::Instant;
use summary::{json, summary};

/// Writes the files of these paths, without the records that are near-duplicates of kept ones, into the folder
/// `output`; without a folder, only decides. See the [module](self).
///
/// What could not be read is listed in `_dedup/failed.jsonl`, as by [`write_rejected`](crate::source::write_rejected). A call that finds the
/// decisions of an earlier one reports it to the observer again.
///
/// # Errors
/// [`Error::Usage`] if an output would be an input, two files would have one output, or the folder holds something
/// else; [`Error::Output`] if it cannot be written; [`Error::Input`] if a file changes meanwhile; [`Error::Failed`] if [`OnError::Fail`]
/// applies; those of [`engine::deduplicate`](crate::engine::deduplicate). Problems with single records are not errors: they go to the observer and the counts.
///
/// # Cost
/// A [scan](crate::engine::deduplicate), and one more reading of the files of which records are left out. Memory: that of the
/// scan, 8 bytes for each record that is left out, and some 200 bytes for each file. Writing takes some MiB a thread, and
/// 100 MB for files that are compressed with xz, of which one is written at a time.
pub fn clean(
    paths: &[PathBuf],
    output: Option<&Path>,
    factory: &dyn AlgorithmFactory,
    options: &CleanOptions,
    observer: &dyn Observer,
) -> Result<Cleaned, Error> {
    clean_reviewed(paths, output, factory, options, observer, &mut |_| Ok(()))
}

/// As [`clean`](clean()), but passes the outcome to a function before anything of the output is written, unless an earlier
/// run has decided.
///
/// # Errors
/// As for [`clean`](clean()), and those of the function.
///
/// # Cost
/// As for [`clean`](clean()).
pub fn clean_reviewed(
    paths: &[PathBuf],
    output: Option<&Path>,
    factory: &dyn AlgorithmFactory,
    options: &CleanOptions,
    observer: &dyn Observer,
    review: &mut dyn FnMut(&KeptOutcome) -> Result<(), Error>,
) -> Result<Cleaned, Error> {
    write_clean(paths, output, &mut Scanning { factory, options, review }, options, observer)
}

/// As [`clean`](clean()), but documents are decided on in their order as in a stream, by an index and by those before them:
/// what is kept is remembered in the index. Without a folder, nothing is remembered either. See [`ByIndex`].
///
/// The index is changed at the end, when the output is on the disk. A run that is interrupted is continued by the same run:
/// documents are remembered once, and none is compared with itself.
///
/// Of the options, [`keep`](CleanOptions::keep), the ranking of documents, chosen ones and
/// [`against`](CleanOptions::against) must be the defaults; of those of the engine, only the number of threads and the fields
/// that some record must have take effect.
///
/// # Errors
/// As for [`clean`](clean()), and [`Index::open`](crate::index::Index::open); [`Error::Usage`] if the index is in a folder that
/// is read or written; [`Error::Full`] if it is full: then nothing was written; [`Error::Index`] if a run was interrupted, and
/// the index has changed since.
///
/// # Cost
/// As for [`Filter::documents`](crate::filter::Filter::documents), and one more reading of the files of which records are left
/// out. Until the end, the folder has a copy of what is added to the index. To continue a run, the index is read once.
pub fn clean_by_index(
    paths: &[PathBuf],
    output: Option<&Path>,
    by: &ByIndex,
    options: &CleanOptions,
    observer: &dyn Observer,
) -> Result<Cleaned, Error> {
    write_clean(paths, output, &mut Stream::new(by, options)?, options, observer)
}

/// Writes the files of these paths into the folder `output`, without the passages that stand earlier: of each one, only the first place
/// stays. See [`find_cuts`](crate::passages::find_cuts), and the [module](self) for the folder. Without a folder, only decides.
///
/// The text of a record changes only by what is left out of it. The other bytes of the file are those of the input, in its encoding, with
/// its escapes and its compression; lines, JSON lines, CSV and text are changed like this. Parquet is encoded again, and only the columns of
/// texts change. HTML and archives are searched, and first places may be in them, but nothing is cut out of them: a file out of which
/// something was to be cut is copied whole, and is a failure.
///
/// Of the options, [`source`](CleanOptions::source), [`against`](CleanOptions::against), [`on_error`](CleanOptions::on_error),
/// [`link`](CleanOptions::link), [`allow_empty`](CleanOptions::allow_empty) and [`worded`](CleanOptions::worded) have an effect.
///
/// # Errors
/// As for [`clean`](clean()), and [`find_cuts`](crate::passages::find_cuts); [`Error::Usage`] if all files are of other formats, or the text
/// of a record is not its own, because pages or programs are read, or is JSON by the type of its column.
///
/// # Cost
/// Those of [`find_cuts`](crate::passages::find_cuts), one reading for what is cut, and one for files that change. Memory: that of
/// `find_cuts`, 8 bytes for each cut, and some 200 bytes for each file.
pub fn cut_passages(
    paths: &[PathBuf],
    output: Option<&Path>,
    passages: &PassageOptions,
    cut: &CutOptions,
    options: &CleanOptions,
    observer: &dyn Observer,
) -> Result<Cleaned, Error> {
    write_clean(paths, output, &mut ByPassages::new(passages, cut, options), options, observer)
}

/// Writes the files of these paths into the folder `output`, without the documents that others contain, as
/// [`find_uncontained`](crate::passages::find_uncontained) decides; with [`against`](CleanOptions::against), that a reference contains,
/// or that contain a document of it.
/// Without a folder, only decides. See the [module](self) for the folder. `review` gets the decisions, and warnings about the
/// input, before anything is written, unless an earlier run has decided.
///
/// Of the options, the same have an effect as for [`cut_passages`].
///
/// # Errors
/// As for [`clean`](clean()), and [`find_uncontained`](crate::passages::find_uncontained).
///
/// # Cost
/// Those of [`find_uncontained`](crate::passages::find_uncontained), and one more reading of the files of which records are left out.
/// Memory: 8 bytes more for each record that is left out, and some 200 bytes for each file.
pub fn clean_uncontained(
    paths: &[PathBuf],
    output: Option<&Path>,
    contain: &ContainOptions,
    options: &CleanOptions,
    observer: &dyn Observer,
    review: &mut dyn FnMut(&Uncontained, &[String]),
) -> Result<Cleaned, Error> {
    write_clean(paths, output, &mut ByContainment { contain, options, review }, options, observer)
}

/// Writes the files of these paths into the folder `output`, without the documents that have a passage of the reference
/// [`against`](CleanOptions::against), as [`find_unshared`](crate::passages::find_unshared) decides. Without a folder, only decides. See the
/// [module](self) for the folder. `review` gets the decisions, and warnings about the input, before anything is written, unless an earlier
/// run has decided.
///
/// Files may be of any format. Of the options, the same have an effect as for [`cut_passages`].
///
/// # Errors
/// As for [`clean`](clean()), and [`find_unshared`](crate::passages::find_unshared); [`Error::Usage`] if there is no reference.
///
/// # Cost
/// Those of [`find_unshared`](crate::passages::find_unshared), and one more reading of the files of which records are left out. Memory: 8
/// bytes more for each record that is left out, and some 200 bytes for each file.
pub fn clean_unshared(
    paths: &[PathBuf],
    output: Option<&Path>,
    passages: &PassageOptions,
    options: &CleanOptions,
    observer: &dyn Observer,
    review: &mut dyn FnMut(&Unshared, &[String]),
) -> Result<Cleaned, Error> {
    if options.against.is_empty() {
        return Err(by_reference::without_reference());
    }
    write_clean(paths, output, &mut ByReference { passages, options, review }, options, observer)
}

/// Writes the files of these paths without what is left out.
fn write_clean(
    paths: &[PathBuf],
    output: Option<&Path>,
    decider: &mut dyn Decider,
    options: &CleanOptions,
    observer: &dyn Observer,
) -> Result<Cleaned, Error> {
    check_paths(paths)?;
    // Rejected records are listed with their content, whether the caller needs it in this run or not.
    let keep_rejected = options.source.keep_rejected || output.is_some();
    let source = ReadOptions { keep_rejected, ..options.source.clone() };
    let mut sides = Input::sides(paths.to_vec(), options.against.clone(), source);
    sides.0.check_for_copies();
    let inputs = Inputs::new(sides.0.listing()?);
    let refused = Inputs::refuse_equal_outputs(inputs.files.iter(), decider.apart());
    let not_writable =
        if output.is_some() { refused.map(|()| None)? } else { refused.err().map(|error| error.to_string()) };
    decider.refuse(&inputs, paths, output)?;
    let Some(output) = output else {
        let Decisions { files, failed, read, report, cut, .. } = decider.decide(sides, &inputs, None, observer)?;
        let counts = Cleaned::of(files.iter().map(|file| file.counts), failed);
        return Ok(Cleaned { report, cut, read, remembered: decider.remembered(), not_writable, ..counts });
    };
    refuse_other_than_folders(output)?;
    inputs.refuse_output(paths, output)?;
    inputs.refuse_output(&options.against, output)?;
    let request = decider.request()?;
    let folder = Folder::open(output)?;
    let (mut state, mut files, found) = match folder.find(&request, &records(&inputs), None)? {
        Complete(counts) => {
            failures::report_again(&folder, counts.failed, observer)?;
            folder.finish();
            let files = inputs.files.len() as u64;
            return Ok(Cleaned { was_complete: true, files, ..*counts });
        }
        Decided(state) => {
            uncopied::update_lists(&folder, &state, decider.is_durable())?;
            let lines = folder.read("removed.jsonl")?;
            let files = decisions::read(lines, &inputs, &state.counts).map_err(|error| {
                Error::input(
                    format!("cannot continue with {}", folder.output("removed.jsonl".as_ref()).display()),
                    error,
                )
            })?;
            decider.continue_with(&state, &files, &folder)?;
            failures::report_again(&folder, state.failed(), observer)?;
            (state, files, None)
        }
        New => {
            let decided = decide(sides, &inputs, request, &folder, decider, (options, observer));
            decided.inspect_err(|_| folder.give_up())?
        }
    };
    let started = Instant::now();
    let is_durable = decider.is_durable();
    let mut written = write::write(&inputs, &files, &folder, options, observer, is_durable)?;
    let refused = std::mem::take(&mut written.refused);
    if !refused.is_empty() {
        let numbers: Vec<usize> = refused.iter().map(|&(number, _)| number).collect();
        uncopied::keep_whole(refused, &inputs, (&mut state, &mut files), &folder, observer, is_durable)?;
        write::write_more(numbers, &mut written, &inputs, &files, &folder, (options, observer, is_durable))?;
    }
    decider.complete()?;
    let seconds = started.elapsed().as_secs_f64();
    let (report, cut, read) = found.unwrap_or_default();
    let cleaned = Cleaned {
        report,
        cut,
        read,
        remembered: decider.remembered(),
        files_written: written.files,
        files_continued: written.continued,
        bytes_written: written.bytes,
        ..Cleaned::of(files.iter().map(|file| file.counts), state.failed())
    };
    let lists = folder.lists(&["removed.jsonl", failures::FAILED]);
    let summary = summary(&state, &inputs, &cleaned, &written.lengths, &lists, seconds);
    folder.write_as("summary.json", &summary, is_durable)?;
    folder.finish();
    Ok(cleaned)
}

/// Checks that [`clean`](clean()) and [`move_duplicates`] could write to a folder: it is empty, or does not exist, or a run has begun
/// to write to it. Whether that was the same run is not known before it begins.
///
/// # Errors
/// [`Error::Usage`] if it holds other things; [`Error::Output`] if it cannot be read.
pub fn check_output(output: &Path) -> Result<(), Error> {
    Folder::check(output)
}

/// Whether a folder is the whole output of [`clean`](clean()) or [`clean_by_index`], by its `summary.json`: near-duplicates were left out of its
/// files. `false` for one that holds files that moved, or that other functions wrote, and if `summary.json` is longer than 32 MiB (some
/// 100,000 files).
pub fn is_cleaned(folder: &Path) -> bool {
    folder::is_cleaned(folder)
}

/// Refuses a path that leads nowhere: the output would lack what is there.
fn check_paths(paths: &[PathBuf]) -> Result<(), Error> {
    paths.iter().try_for_each(|path| match path.metadata() {
        Ok(_) => Ok(()),
        Err(error) => Err(Error::input(format!("cannot read {}", path.display()), error)),
    })
}

/// The report of a scan or of cuts, if there was one, and what was counted of both sides.
type Scanned = (Option<Report>, Option<CutReport>, source::Counts);

/// Decides what happens to each record, and writes it down.
fn decide(
    sides: Sides,
    inputs: &Inputs,
    mut request: Request,
    folder: &Folder,
    decider: &mut dyn Decider,
    (options, observer): (&CleanOptions, &dyn Observer),
) -> Result<(State, Vec<OfFile>, Option<Scanned>), Error> {
    let is_durable = decider.is_durable();
    let Decisions { files, removed_bytes, scan, read, report, cut, index, replaced, .. } =
        failures::record(folder, options, observer, is_durable, |observer| {
            decider.decide(sides, inputs, Some(folder), observer)
        })?;
    request.extend(replaced.map(|(name, value)| (name.to_string(), value)));
    let counts = files.iter().map(|file| file.counts).collect();
    let state = State {
        request,
        inputs: records(inputs),
        counts,
        removed_bytes,
        stay: None,
        index,
        uncopied: Vec::new(),
        scan,
    };
    folder.write_as("state.json", &json(&state), decider.is_durable())?;
    Ok((state, files, Some((report, cut, read))))
}
