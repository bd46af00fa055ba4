//! Files of which no copy without some of their records can be made, though they could be read: that shows when they are written.
//! Nothing is left out of them then.
//!
//! Everything is decided by then, so the decisions change. First `state.json` does, which is replaced as a whole: it names these files, and
//! `removed.jsonl` and `failed.jsonl` follow from that. If a run is interrupted in between, its continuation brings them up to date.

use super::decisions::{self, Condition, OfFile};
use super::failures;
use super::folder::{Folder, State, Uncopied, cannot_write};
use super::inputs::Inputs;
use super::removed_list::REMOVED;
use super::summary::json;
use crate::engine::Observer;
use crate::error::Error;
use crate::replace::sync_folder;
use crate::source::{Place, Problem, ProblemKind, Severity};
use std::collections::BTreeSet;
use std::io::{self, BufRead, BufWriter, Write};

/// The failure.
fn problem(uncopied: &Uncopied) -> Problem {
    let place = Place { path: uncopied.file.as_str().into(), line: None };
    Problem::at(place, Severity::Failed, ProblemKind::Uncopied, &*uncopied.error)
}

/// Keeps everything of these files, given by their numbers with what is wrong: in the decisions and in the folder. Each is a failure.
///
/// # Errors
/// The folder cannot be read or written.
pub(super) fn keep_whole(
    found: Vec<(usize, String)>,
    inputs: &Inputs,
    (state, files): (&mut State, &mut [OfFile]),
    folder: &Folder,
    observer: &dyn Observer,
    is_durable: bool,
) -> Result<(), Error> {
    let known = state.uncopied.len();
    for (number, error) in found {
        files[number].stay_whole(Condition::Damaged);
        files[number].counts.failed += 1;
        state.counts[number] = files[number].counts;
        state.uncopied.push(Uncopied { file: inputs.files[number].shown.clone(), error });
    }
    // Its length, as far as it does not change any more if the run is interrupted now.
    state.removed_bytes = kept_lines(folder, &state.uncopied, &mut io::sink())?;
    folder.write_as("state.json", &json(state), is_durable)?;
    update_lists(folder, state, is_durable)?;
    state.uncopied[known..].iter().for_each(|uncopied| observer.problem(&problem(uncopied)));
    Ok(())
}

/// Brings the lists up to date with the state: no line about a record of these files is in `removed.jsonl`, and a line about each of them
/// is in `failed.jsonl`.
///
/// # Errors
/// The folder cannot be read or written.
pub(super) fn update_lists(folder: &Folder, state: &State, is_durable: bool) -> Result<(), Error> {
    if state.uncopied.is_empty() {
        return Ok(());
    }
    folder.replace_by(REMOVED, |file, path| {
        kept_lines(folder, &state.uncopied, &mut BufWriter::with_capacity(1 << 16, &mut *file))?;
        if is_durable { file.sync_all().map_err(|error| cannot_write(path, error)) } else { Ok(()) }
    })?;
    let problems: Vec<Problem> = state.uncopied.iter().map(problem).collect();
    failures::append(folder, &problems)?;
    match is_durable {
        true => {
            let path = folder.own(REMOVED);
            sync_folder(&path).map_err(|error| cannot_write(&path, error))
        }
        false => Ok(()),
    }
}

/// Writes the lines of `removed.jsonl` that are not about records of these files. Returns their length in bytes.
fn kept_lines(folder: &Folder, uncopied: &[Uncopied], out: &mut dyn Write) -> Result<u64, Error> {
    let names: BTreeSet<&str> = uncopied.iter().map(|uncopied| uncopied.file.as_str()).collect();
    let path = folder.own(REMOVED);
    let unreadable = |error| Error::input(format!("cannot read {}", path.display()), error);
    let mut lines = folder.read(REMOVED)?;
    let (mut line, mut bytes) = (Vec::new(), 0);
    loop {
        line.clear();
        if lines.read_until(b'\n', &mut line).map_err(unreadable)? == 0 {
            break;
        }
        if !decisions::is_of_any(&line, &names).map_err(unreadable)? {
            bytes += line.len() as u64;
            out.write_all(&line).map_err(|error| cannot_write(&path, error))?;
        }
    }
    out.flush().map_err(|error| cannot_write(&path, error))?;
    Ok(bytes)
}
