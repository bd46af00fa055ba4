//! The files of the output: each whole, or not there.

use super::decisions::{Condition, OfFile};
use super::folder::{Folder, cannot_write};
use super::inputs::{File, Inputs, Stamp, check_unchanged};
use super::relocate::Content;
use super::request::CleanOptions;
use crate::error::Error;
use crate::replace::Replacement;
use crate::run::observer::{Observer, Stage};
use crate::run::ordered::{self, Room, workers};
use crate::source::rest::{Failure, Form, OnDisk, copy_without};
use std::collections::BTreeSet;
use std::fs;
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

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

/// What shows whether an output is as it was written; `None` if the file has none.
type Copied = Result<Option<Stamp>, Error>;

/// What has the name of an output before it is written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Existing {
    /// Nothing, or what an earlier run has written and the system did not keep.
    Replaceable,
    /// The output.
    Output,
    /// Another file, which is replaced only by the same content. It may have been edited.
    Other,
    /// A link, a folder, a pipe or the like, which is not replaced.
    NoFile,
}

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
        let found = found_at(&folder.output(&file.output), done.get(&number), file);
        let copied = match found {
            Existing::Output => Ok(done.get(&number).cloned()),
            Existing::Replaceable | Existing::Other | Existing::NoFile => {
                write_file(file, of_file, folder, options, (found, is_durable))
            }
        };
        (number, file, found == Existing::Output, copied)
    };
    let take = |(number, file, before, copied): (usize, &File, bool, Copied)| {
        let copied = copied?;
        written.lengths.push(copied.as_ref().map(|stamp| stamp.bytes));
        if let Some(stamp) = copied {
            written.files += 1;
            written.bytes += stamp.bytes;
            written.continued += u64::from(before);
            if !before {
                list.add(number, &stamp)?;
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

/// What is at the path of an output, of which an earlier run may have listed that it is done. An output has the time of its input as far
/// as the system allows, and what has another time may have been edited.
fn found_at(output: &Path, done: Option<&Stamp>, file: &File) -> Existing {
    let Ok(found) = fs::symlink_metadata(output) else { return Existing::Replaceable };
    if !found.is_file() {
        return Existing::NoFile;
    }
    // Someone may have put it there, with the time of the input: only the same content is replaced.
    let Some(done) = done else { return Existing::Other };
    let found = Stamp::of(&found);
    let is_long = done.bytes == found.bytes;
    match &*done.modified {
        // Earlier versions list no times.
        "" if is_long => Existing::Output,
        "" if found.modified == file.stamp.modified => Existing::Replaceable,
        time if time == found.modified && is_long => Existing::Output,
        // Nothing has written to it since, so the system did not keep it.
        time if time == found.modified => Existing::Replaceable,
        _ => Existing::Other,
    }
}

fn write_file(
    file: &File,
    of_file: &OfFile,
    folder: &Folder,
    options: &CleanOptions,
    (found, is_durable): (Existing, bool),
) -> Copied {
    // Its records are unknown, as in an encrypted file: its bytes are kept.
    let is_lost = of_file.counts.condition == Condition::Unreadable && !has_bytes(file);
    if of_file.is_left_out || is_lost {
        return Ok(None);
    }
    check_unchanged(file)?;
    let output = folder.output(&file.output);
    let cannot = |error| cannot_write(&output, error);
    if found == Existing::NoFile {
        return Err(edited(&output));
    }
    refuse_links(folder, &file.output)?;
    if let Some(folder) = output.parent() {
        fs::create_dir_all(folder).map_err(cannot)?;
    }
    let is_unchanged = of_file.left_out().is_nothing();
    let refuse_edited =
        |content: &Path| match found == Existing::Other && !is_equal(content, &output).map_err(cannot)? {
            true => Err(edited(&output)),
            false => Ok(()),
        };
    if is_unchanged && options.link {
        refuse_edited(&file.path)?;
        if link(&file.path, &output).map_err(cannot)? {
            return Ok(Some(file.stamp.clone()));
        }
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
    if is_durable {
        new.file().sync_all().map_err(cannot)?;
    }
    refuse_edited(new.path())?;
    new.commit().map_err(cannot)?;
    Ok(Some(Stamp::of(&fs::symlink_metadata(&output).map_err(cannot)?)))
}

/// Refuses a link in the place of a folder for an output: what it leads to is not of this run.
fn refuse_links(folder: &Folder, output: &Path) -> Result<(), Error> {
    let above = output.ancestors().skip(1).filter(|path| !path.as_os_str().is_empty());
    let mut above = above.map(|path| folder.output(path));
    let is_none = |path: &PathBuf| fs::symlink_metadata(path).is_ok_and(|found| !found.is_dir());
    above.find(is_none).map_or(Ok(()), |path| Err(edited(&path)))
}

/// Whether an output has this content, or is not there any more.
fn is_equal(content: &Path, output: &Path) -> io::Result<bool> {
    match fs::metadata(output) {
        Ok(found) if found.len() != fs::metadata(content)?.len() => Ok(false),
        Ok(_) => Content::of(content)?.is_in(output),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(true),
        Err(error) => Err(error),
    }
}

/// The error that what has the name of an output is not replaced.
fn edited(output: &Path) -> Error {
    Error::Usage(format!(
        "{}: it was changed since an earlier run wrote it, and is not overwritten: move it to another place, and the same command continues",
        output.display()
    ))
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
