//! Verdicts on whole records: which are left out of each file, and their lines in `removed.jsonl`.

use super::decisions::{self, Conditions, Files, OfFile};
use super::folder::{Folder, cannot_write};
use super::inputs::Inputs;
use super::removed_list::RemovedList;
use super::request::{CleanOptions, OnError};
use crate::engine::Observer;
use crate::error::Error;
use std::io::{self, BufWriter, Write};

/// What was decided.
pub(super) struct Decided {
    pub files: Vec<OfFile>,
    /// The length of `removed.jsonl` in bytes.
    pub removed_bytes: u64,
    /// The number of files of which nothing can be left out.
    pub refused: u64,
}

/// Decides by `each`, which takes the verdicts, all of them in order, and lists the records that are left out, if there is a list. If nothing
/// may fail, `each` is called once before anything is written.
///
/// # Errors
/// The list cannot be written, or a file failed, and that is not allowed.
pub(super) fn decide(
    conditions: &Conditions,
    (inputs, folder): (&Inputs, Option<&Folder>),
    options: &CleanOptions,
    observer: &dyn Observer,
    each: &dyn Fn(&mut Files<'_>, &mut dyn Write) -> io::Result<()>,
) -> Result<Decided, Error> {
    let (names, on_error) = (inputs.names(), options.on_error);
    let decide = |out: &mut dyn Write| {
        let mut files = conditions.files(&names, on_error);
        each(&mut files, out)?;
        decisions::list_further_names(inputs, &mut *out)?;
        out.flush().map(|()| files)
    };
    let nothing = |error| Error::output("nothing", error);
    if on_error == OnError::Fail {
        // Before anything is written.
        let Files { refused, .. } = decide(&mut io::sink()).map_err(nothing)?;
        refused.iter().for_each(|problem| observer.problem(problem));
        decisions::check_failed(on_error, refused.len() as u64)?;
    }
    let (Files { files, refused, .. }, removed_bytes) = RemovedList::of(folder, options).write(|file| match file {
        None => Ok((decide(&mut io::sink()).map_err(nothing)?, 0)),
        Some((file, path)) => {
            let decided = decide(&mut BufWriter::with_capacity(1 << 16, &mut *file));
            let length = file.metadata().map(|found| found.len());
            decided.and_then(|files| Ok((files, length?))).map_err(|error| cannot_write(path, error))
        }
    })?;
    refused.iter().for_each(|problem| observer.problem(problem));
    Ok(Decided { files, removed_bytes, refused: refused.len() as u64 })
}
