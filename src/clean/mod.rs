//! A corpus without its near-duplicates, in the files and formats that it came in.
//!
//! ```text
//! inputs     paths → files, each with the path of its output                              (inputs.rs)
//! decide     scan → verdicts → the records of each file that are left out; removed.jsonl  (decisions.rs)
//! write      each file without them, several beside each other                            (write.rs)
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
//! the output is written beside its place and then renamed, so it is there whole or not at all; nothing is
//! synchronised with the disk. A run that is interrupted is continued by the same run.
//!
//! Files that move are listed in `moved.jsonl`, on the disk, before the first one moves.

mod decisions;
mod duplicates;
mod folder;
mod inputs;
mod manifest;
mod moves;
mod relocate;
mod request;
mod scan;
mod stream;
mod summary;
mod write;

pub use duplicates::{Undone, duplicate_files, move_duplicates, undo};
pub use request::{CleanOptions, Cleaned, OnError};
pub use stream::write_kept;

use crate::algorithm::AlgorithmFactory;
use crate::engine::{At, KeptOutcome, Observer, Report, Verdict};
use crate::error::Error;
use crate::source::Input;
use decisions::OfFile;
use folder::{Folder, Found, Request, State, records};
use inputs::Inputs;
use scan::{request, scan, scan_record};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;
use summary::{json, summary};

/// Writes the files of these paths, without the records that are near-duplicates of kept ones, into the folder
/// `output`; without a folder, only decides. See the [module](self).
///
/// # Errors
/// [`Error::Usage`] if an output would be an input, two files would have one output, or the folder holds something
/// else; [`Error::Output`] if it cannot be written; [`Error::Input`] if a file changes meanwhile; those of
/// [`engine::deduplicate`](crate::engine::deduplicate). Problems with single records are not errors: they go to the observer and the counts.
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
    let input = Input::new(paths.to_vec(), options.source.clone());
    let inputs = Inputs::new(input.listing()?);
    Inputs::refuse_equal_outputs(inputs.files.iter())?;
    let Some(output) = output else {
        let (outcome, conditions) = scan(input, factory, options, observer)?;
        review(&outcome)?;
        let decided =
            decisions::decide(&outcome.kept(), &inputs.names(), &conditions, options.on_error, |_, _, _| Ok(()));
        let files = decided.map_err(|error| Error::output("nothing", error))?;
        let counts = files.iter().map(|file| file.counts);
        return Ok(Cleaned {
            report: Some(outcome.report().clone()),
            ..Cleaned::of(counts, outcome.report().counts.failed)
        });
    };
    inputs.refuse_output(paths, output)?;
    inputs.refuse_output(&options.against, output)?;
    let request = request(factory, options)?;
    let folder = Folder::open(output)?;
    let (state, files, report) = match folder.find(&request, &records(&inputs), None)? {
        Found::Complete(counts) => {
            folder.finish();
            let files = inputs.files.len() as u64;
            return Ok(Cleaned { was_complete: true, files, ..*counts });
        }
        Found::Decided(state) => {
            let lines = folder.read("removed.jsonl")?;
            let files = decisions::read(lines, &inputs, &state.counts).map_err(|error| {
                Error::input(
                    format!("cannot continue with {}", folder.output("removed.jsonl".as_ref()).display()),
                    error,
                )
            })?;
            (state, files, None)
        }
        Found::New => {
            let decided = decide(input, &inputs, request, &folder, (factory, options, observer), review);
            let (state, files, report) = decided.inspect_err(|_| folder.give_up())?;
            (state, files, Some(report))
        }
    };
    let started = Instant::now();
    let written = write::write(&inputs, &files, &folder, options, observer)?;
    let seconds = started.elapsed().as_secs_f64();
    let cleaned = Cleaned {
        report,
        files_written: written.files,
        files_continued: written.continued,
        bytes_written: written.bytes,
        ..Cleaned::of(files.iter().map(|file| file.counts), state.failed())
    };
    folder.write("summary.json", &summary(&state, &inputs, &cleaned, seconds))?;
    folder.finish();
    Ok(cleaned)
}

/// Decides what becomes of each record, and writes it down.
fn decide(
    input: Input,
    inputs: &Inputs,
    request: Request,
    folder: &Folder,
    (factory, options, observer): (&dyn AlgorithmFactory, &CleanOptions, &dyn Observer),
    review: &mut dyn FnMut(&KeptOutcome) -> Result<(), Error>,
) -> Result<(State, Vec<OfFile>, Report), Error> {
    let started = Instant::now();
    let (outcome, conditions) = scan(input, factory, options, observer)?;
    review(&outcome)?;
    let kept = outcome.kept();
    let (files, removed_bytes) = folder.replace("removed.jsonl", |file| {
        let mut out = BufWriter::with_capacity(1 << 16, &mut *file);
        let each = |_, verdict: &Verdict<'_>, at: At<'_>| decisions::list(verdict, at, &mut out);
        let files = decisions::decide(&kept, &inputs.names(), &conditions, options.on_error, each)?;
        decisions::list_further_names(inputs, &mut out)?;
        out.flush()?;
        drop(out);
        Ok((files, file.metadata()?.len()))
    })?;
    let report = outcome.report().clone();
    let state = State {
        request,
        inputs: records(inputs),
        counts: files.iter().map(|file| file.counts).collect(),
        removed_bytes,
        stay: None,
        scan: scan_record(&report, started.elapsed().as_secs_f64()),
    };
    folder.write("state.json", &json(&state))?;
    Ok((state, files, report))
}
