//! The files of the output: each whole, or not there.

use super::decisions::{Condition, OfFile};
use super::folder::{Folder, cannot_write};
use super::inputs::{File, Inputs, check_unchanged};
use super::request::CleanOptions;
use crate::error::Error;
use crate::replace::Replacement;
use crate::run::observer::{Observer, Stage};
use crate::run::ordered::{self, Room, workers};
use crate::source::rest::{Failure, Form, OnDisk, copy_without};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, BufWriter, Read, Write};
use std::path::Path;

/// What was written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Written {
    /// Files, and their bytes.
    pub files: u64,
    pub bytes: u64,
    /// Files that an earlier run had written.
    pub continued: u64,
    /// The length of the output of each file of the input, if it has one.
    pub lengths: Vec<Option<u64>>,
}

/// A file that is written, and its length; `None` if it has no output.
type Copied = Result<Option<u64>, Error>;

/// Writes the output of each file, several beside each other; if it `is_durable`, to the disk.
///
/// # Errors
/// A file has changed since its records were read, or an output cannot be written.
pub(super) fn write(
    inputs: &Inputs,
    decisions: &[OfFile],
    folder: &Folder,
    options: &CleanOptions,
    observer: &dyn Observer,
    is_durable: bool,
) -> Result<Written, Error> {
    observer.stage(Stage::Writing);
    if folder.ignores_case() {
        refuse_equal_but_for_case(inputs)?;
    }
    let done = folder.done();
    let mut list = folder.list_of_done()?;
    let threads = workers(options.engine.threads);
    let mut next = 0..inputs.files.len();
    let mut written = Written::default();
    let copy = |number: usize| {
        let (file, of_file) = (&inputs.files[number], &decisions[number]);
        let before = is_done(&done, number, &folder.output(&file.output));
        let copied = if before {
            Ok(done.get(&number).copied())
        } else {
            write_file(file, of_file, folder, options, is_durable)
        };
        (number, file, before, copied)
    };
    let take = |(number, file, before, copied): (usize, &File, bool, Copied)| {
        let copied = copied?;
        written.lengths.push(copied);
        if let Some(length) = copied {
            written.files += 1;
            written.bytes += length;
            written.continued += u64::from(before);
            if !before {
                list.add(number, length)?;
            }
        }
        observer.progress(file.stamp.bytes, 0);
        Ok::<_, Error>(())
    };
    let room = Room { pieces: 16 * threads, bytes: u64::MAX };
    ordered::map(threads, room, || next.next(), |_| 0, || copy, take)?;
    if is_durable {
        folder.sync_outputs(inputs.files.iter().map(|file| &*file.output))?;
    }
    Ok(written)
}

/// Whether an earlier run has written an output.
fn is_done(done: &BTreeMap<usize, u64>, number: usize, output: &Path) -> bool {
    let is_long = |length: &u64| fs::symlink_metadata(output).is_ok_and(|found| found.len() == *length);
    done.get(&number).is_some_and(is_long)
}

fn write_file(file: &File, of_file: &OfFile, folder: &Folder, options: &CleanOptions, is_durable: bool) -> Copied {
    // Its records are unknown, as in an encrypted file: its bytes are kept.
    let is_lost = of_file.counts.condition == Condition::Unreadable && !has_bytes(file);
    if of_file.is_left_out || is_lost {
        return Ok(None);
    }
    check_unchanged(file)?;
    let output = folder.output(&file.output);
    let cannot = |error| cannot_write(&output, error);
    if let Some(folder) = output.parent() {
        fs::create_dir_all(folder).map_err(cannot)?;
    }
    let is_unchanged = of_file.left_out().is_nothing();
    if is_unchanged && options.link && link(&file.path, &output).map_err(cannot)? {
        return Ok(Some(file.stamp.bytes));
    }
    let mut new = Replacement::new(&output).map_err(cannot)?;
    match is_unchanged {
        true => copy_whole(file, new.file()).map_err(cannot)?,
        false => {
            let mut out = BufWriter::with_capacity(1 << 16, new.file());
            let original = OnDisk::open(&file.path).map_err(Failure::Read);
            let copied = original.and_then(|mut original| {
                copy_without(&mut original, &options.source, of_file.left_out(), Form::Whole, &mut out)
            });
            match copied {
                Ok(()) => out.flush().map_err(cannot)?,
                Err(Failure::Write(error)) => return Err(cannot(error)),
                Err(Failure::Read(error)) => {
                    let what =
                        format!("cannot copy {} without what is left out (repair it, or leave it out)", file.shown);
                    return Err(Error::input(what, error));
                }
            }
        }
    }
    check_unchanged(file)?;
    keep_time_and_mode(file, new.file());
    let length = new.file().metadata().map_err(cannot)?.len();
    if is_durable {
        new.file().sync_all().map_err(cannot)?;
    }
    new.commit().map_err(cannot)?;
    Ok(Some(length))
}

/// Whether the bytes of a file can be read.
fn has_bytes(file: &File) -> bool {
    fs::File::open(&file.path).and_then(|mut file| file.read(&mut [0])).is_ok()
}

fn copy_whole(file: &File, out: &mut fs::File) -> io::Result<()> {
    let mut input = fs::File::open(&file.path)?;
    // The system copies where it can.
    io::copy(&mut input, out).map(|_| ())
}

/// Whether the output became another name of the input.
fn link(input: &Path, output: &Path) -> io::Result<bool> {
    let real = input.canonicalize()?;
    match fs::hard_link(&real, output) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            // An earlier run was interrupted.
            fs::remove_file(output)?;
            Ok(fs::hard_link(&real, output).is_ok())
        }
        // Another device, or a system without links.
        Err(_) => Ok(false),
    }
}

/// The output has the time and the mode of its input, as far as the system allows.
fn keep_time_and_mode(file: &File, output: &fs::File) {
    let Ok(found) = fs::metadata(&file.path) else { return };
    _ = output.set_permissions(found.permissions());
    if let Ok(time) = found.modified() {
        _ = output.set_modified(time);
    }
}

fn refuse_equal_but_for_case(inputs: &Inputs) -> Result<(), Error> {
    let mut outputs = BTreeSet::new();
    match inputs.files.iter().find(|file| !outputs.insert(file.shown_output.to_lowercase())) {
        None => Ok(()),
        Some(file) => Err(Error::Usage(format!(
            "{} would be written over another output, because names that differ only in case are one file there",
            file.shown
        ))),
    }
}
