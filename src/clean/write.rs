//! The files of the output: each whole, or not there.

use super::decisions::{Condition, OfFile};
use super::folder::{Folder, cannot_write};
use super::inputs::{File, Inputs, Stamp, check_unchanged};
use super::relocate::Content;
use super::request::{CleanOptions, OnError};
use crate::error::Error;
use crate::replace::Replacement;
use crate::run::observer::{Observer, Stage};
use crate::run::ordered::{self, Room, workers};
use crate::source::rest::{Failure, Form, OnDisk, copy_without};
use std::collections::BTreeSet;
use std::fs;
use std::io::{self, BufWriter, Read, Write};
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, channel, sync_channel};
use std::thread;

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
    /// The numbers of files that were not written because no copy without what is left out can be made, and why.
    pub refused: Vec<(usize, String)>,
}

/// What became of a file.
enum Outcome {
    /// It has no output.
    Nothing,
    /// What shows whether its output is as it was written.
    Written(Stamp),
    /// Nothing can be left out of it, for this reason.
    Refused(String),
}

type Copied = Result<Outcome, Error>;

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

/// Writes the output of each file, several beside each other; if it `is_durable`, to the disk. Those of which no copy without something can
/// be made, though they could be read, are not written but [listed](Written::refused), unless nothing may fail.
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
    let mut written = Written { lengths: vec![None; inputs.files.len()], ..Written::default() };
    let numbers = (0..inputs.files.len()).collect();
    write_more(numbers, &mut written, inputs, decisions, folder, (options, observer, is_durable))?;
    Ok(written)
}

/// The same of the files with these numbers, after others were written.
///
/// # Errors
/// Those of [`write`].
pub(super) fn write_more(
    numbers: Vec<usize>,
    written: &mut Written,
    inputs: &Inputs,
    decisions: &[OfFile],
    folder: &Folder,
    (options, observer, is_durable): (&CleanOptions, &dyn Observer, bool),
) -> Result<(), Error> {
    let done = folder.done();
    let mut list = folder.list_of_done()?;
    let threads = workers(options.engine.threads);
    // Each writes from up to 3 MiB beside it: few, whatever the number of threads.
    let has_idle = inputs.files.len() <= (threads / 2).min(MOST_BESIDE);
    let mut next = numbers.into_iter();
    let copy = |number: usize| {
        let (file, of_file) = (&inputs.files[number], &decisions[number]);
        let found = found_at(&folder.output(&file.output), done.get(&number), file);
        let copied = match found {
            Existing::Output => Ok(done.get(&number).cloned().map_or(Outcome::Nothing, Outcome::Written)),
            Existing::Replaceable | Existing::Other | Existing::NoFile => {
                write_file(file, of_file, folder, options, (found, is_durable, has_idle))
            }
        };
        (number, file, found == Existing::Output, copied)
    };
    let take = |(number, file, before, copied): (usize, &File, bool, Copied)| {
        match copied? {
            Outcome::Nothing => {}
            Outcome::Written(stamp) => {
                written.lengths[number] = Some(stamp.bytes);
                written.files += 1;
                written.bytes += stamp.bytes;
                written.continued += u64::from(before);
                if !before {
                    list.add(number, &stamp)?;
                }
            }
            // It is written later.
            Outcome::Refused(why) => {
                written.refused.push((number, why));
                return Ok(());
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
    Ok(())
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
    (found, is_durable, has_idle): (Existing, bool, bool),
) -> Copied {
    // Its records are unknown, as in an encrypted file: its bytes are kept.
    let is_lost = of_file.counts.condition == Condition::Unreadable && !has_bytes(file);
    if of_file.is_left_out || is_lost {
        return Ok(Outcome::Nothing);
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
            return Ok(Outcome::Written(file.stamp.clone()));
        }
    }
    let mut new = Replacement::new(&output).map_err(cannot)?;
    match is_unchanged {
        true => copy_whole(file, new.file()).map_err(cannot)?,
        false => {
            let original = OnDisk::open(&file.path).map_err(Failure::Read);
            let copied = original.and_then(|mut original| {
                let copy = |out: &mut (dyn Write + Send)| {
                    copy_without(&mut original, &options.source, of_file.left_out(), Form::Whole, out)
                };
                write_with(new.file(), has_idle, copy)
            });
            match copied {
                Ok(()) => {}
                Err(Failure::Write(error)) => return Err(cannot(error)),
                Err(Failure::Refused(error)) if options.on_error != OnError::Fail => {
                    check_unchanged(file)?;
                    return Ok(Outcome::Refused(format!(
                        "copied whole, because no copy without what is left out can be made: {error}"
                    )));
                }
                Err(Failure::Read(error) | Failure::Refused(error)) => {
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
    Ok(Outcome::Written(Stamp::of(&fs::symlink_metadata(&output).map_err(cannot)?)))
}

/// Writes to a file what `copy` makes, which then need not wait for the system if a thread `is_idle`.
///
/// # Errors
/// Those of `copy`, or the file cannot be written.
fn write_with(
    file: &fs::File,
    is_idle: bool,
    copy: impl FnOnce(&mut (dyn Write + Send)) -> Result<(), Failure>,
) -> Result<(), Failure> {
    thread::scope(|scope| {
        let (full, blocks) = sync_channel(BLOCKS);
        let (give_back, empty) = channel();
        let write = move || {
            let mut file = file;
            blocks.into_iter().try_for_each(|block: Vec<u8>| {
                file.write_all(&block)?;
                // Nobody needs it if the copy is complete.
                _ = give_back.send(block);
                Ok(())
            })
        };
        let writer = is_idle.then(|| thread::Builder::new().name("dedup write".into()).spawn_scoped(scope, write));
        let Some(Ok(writer)) = writer else {
            let mut out = BufWriter::with_capacity(1 << 16, file);
            return copy(&mut out).and_then(|()| out.flush().map_err(Failure::Write));
        };
        let mut passed = Passed { block: Vec::new(), full, empty };
        let copied = copy(&mut passed).and_then(|()| passed.flush().map_err(Failure::Write));
        drop(passed);
        // After an error, nothing more can be passed: the first error counts.
        let written: io::Result<()> = writer.join().unwrap_or_else(|panic| resume_unwind(panic));
        written.map_err(Failure::Write).and(copied)
    })
}

/// The maximum number of files that are written beside their reading.
const MOST_BESIDE: usize = 8;

/// The number of bytes that are passed to the thread that writes, at least, and of such blocks that wait for it.
const BLOCK: usize = 256 << 10;
const BLOCKS: usize = 4;

/// What is written by another thread.
struct Passed {
    block: Vec<u8>,
    full: SyncSender<Vec<u8>>,
    /// Those that were written.
    empty: Receiver<Vec<u8>>,
}

impl Write for Passed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = &bytes[..bytes.len().min(BLOCK)];
        self.block.extend_from_slice(taken);
        if self.block.len() >= BLOCK {
            self.flush()?;
        }
        Ok(taken.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let mut next = self.empty.try_recv().unwrap_or_default();
        next.clear();
        let block = std::mem::replace(&mut self.block, next);
        self.full.send(block).map_err(|_| io::ErrorKind::BrokenPipe.into())
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    /// By another thread or by this one: all of it, and the error of the system.
    #[test]
    fn what_is_copied_is_written() {
        let pieces: Vec<Vec<u8>> = [0, 1, 70_000, BLOCK, 3, 3 * BLOCK + 1, 2 * BLOCK, 5]
            .into_iter()
            .zip(1u8..)
            .map(|(length, byte)| (0..length).map(|at| byte.wrapping_mul(at as u8)).collect())
            .collect();
        let copy = |out: &mut (dyn Write + Send)| {
            let written = pieces.iter().try_for_each(|piece| out.write_all(piece));
            written.map_err(Failure::Write)
        };
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        for is_idle in [false, true] {
            write_with(&fs::File::create(&path).unwrap(), is_idle, copy).unwrap();
            assert_eq!(fs::read(&path).unwrap(), pieces.concat());
            // It is open for reading alone.
            let Err(Failure::Write(error)) = write_with(&fs::File::open(&path).unwrap(), is_idle, copy) else {
                panic!("it was written")
            };
            assert!(error.raw_os_error().is_some(), "{error}");
            let unread = |_: &mut (dyn Write + Send)| Err(Failure::Read(io::Error::other("unread")));
            let file = fs::File::create(&path).unwrap();
            assert!(matches!(write_with(&file, is_idle, unread), Err(Failure::Read(_))));
        }
    }
}
