//! What a run adds to an index, kept in a file of its own until the run is certain of it. Then it is appended as it is.
//!
//! ```text
//! seen.idx   header, frames                     not changed while documents are decided
//! aside                      further frames     the bytes that the index will have from its end on
//! ```
//!
//! What is appended is one call (entry.rs), as it is for transaction.rs: it counts once the mark at its end is there. Of one that was
//! interrupted meanwhile, an index has nothing: none of its documents is known, confirmed or compared with, and the next run that writes
//! cuts it off. So deciding again with another folder keeps the same documents, whatever was run in between.
//!
//! A frame belongs to its place, so appending the same bytes again changes nothing: a run that was interrupted at any
//! moment appends what is missing. Before that it checks that the index is the one that the documents were decided with: by
//! a hash of its header and of all frames up to that place. What follows must be a beginning of what is appended, or all of
//! it and more. After a beginning there may be marks alone, which a run without documents left: they are cut off. (Versions before
//! this one appended frames that are no call: a beginning of those can be completed, too.)

use super::checkpoint::Checkpoint;
use super::entry::Entry;
use super::file::{PIECE, append, fault, is_still_at, lock};
use super::frame::FRAME_OVERHEAD;
use super::header::{SEED, seed_of, stored};
use super::log::{Log, check_new};
use super::plan::Plan;
use super::repeat::DIGEST;
use super::stored::{Start, Stored};
use crate::error::{Error, IndexFault};
use crate::hash::combine;
use crate::postings::read_at;
use serde_json::{Map, Value};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::xxh3_64;

/// How an index was made, as others may know it: without its seed.
pub(crate) struct Made {
    /// The rows of its header.
    pub rows: Map<String, Value>,
    /// A hash of all of them and of the seed; `None` if the file does not exist.
    pub digest: Option<u64>,
}

impl Made {
    /// How the index at a path was made, or will be.
    ///
    /// # Errors
    /// The file cannot be read, is not an index, or was made with other settings than these; or it is missing, and is not to be created.
    pub fn of(path: &Path, plan: &Plan, creates: bool) -> Result<Self, Error> {
        let without_seed = |mut rows: Map<String, Value>| {
            rows.remove(SEED);
            rows
        };
        let Some(stored) = stored(path)? else {
            check_new(path, creates)?;
            return Ok(Made { rows: without_seed(plan.for_file(None).spec.identity_json()), digest: None });
        };
        stored.check(&Value::Object(plan.for_file(seed_of(&stored.header)).spec.identity_json()))?;
        let rows = stored.header.as_object().cloned().unwrap_or_default();
        Ok(Made { rows: without_seed(rows), digest: Some(hash_of(&stored.header)) })
    }
}

fn hash_of(header: &Value) -> u64 {
    xxh3_64(header.to_string().as_bytes())
}

/// What is to be appended to which state of an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) struct Addition {
    /// The place where it begins: the end of the index before.
    pub start: u64,
    /// Where it ends.
    pub end: u64,
    /// The hash of the index before.
    pub before: u64,
}

/// What is appended to an index, which is locked.
pub(crate) struct Staged {
    file: File,
    path: PathBuf,
    aside: File,
    addition: Addition,
    /// Up to where the index has it.
    at: u64,
}

impl Staged {
    /// What a log has written to another file.
    ///
    /// # Errors
    /// The index cannot be read.
    pub(super) fn of(log: Log) -> Result<Self, Error> {
        let end = log.len();
        let ((file, path), aside) = log.into_files().expect("it writes to another file");
        let before = combine(hash_of(&Stored::open(&path)?.header), aside.digest);
        let addition = Addition { start: aside.start, end, before };
        Ok(Staged { file, path, aside: aside.file, addition, at: aside.start })
    }

    /// What an earlier run has left to be appended, in the file that it wrote it to. If it cannot be, `advice` says what to do.
    ///
    /// # Errors
    /// The index cannot be opened, is damaged or in use, or has changed since; or the file has.
    ///
    /// # Cost
    /// The index is read once, and what follows the place at most once more.
    pub fn reopen(path: &Path, aside: File, addition: Addition, advice: &str) -> Result<Self, Error> {
        let changed = |what: &str| {
            fault(path, IndexFault::Options, &format!("{what} since the documents were decided: {advice}"))
        };
        let file = lock(path, &mut File::options())?;
        let mut stored = Stored::open(path)?;
        // The digest says more.
        stored.ignore_checkpoint();
        stored.reads.skips_evidence = true;
        let Addition { start, end, before } = addition;
        let length = stored.length;
        if length < start {
            return Err(changed("it has changed"));
        }
        stored.length = start;
        let base = stored.each(|_, _, _| Ok(()))?;
        if base.at != start || combine(hash_of(&stored.header), base.digest) != before {
            return Err(changed("it has changed"));
        }
        stored.length = length;
        stored.start_at(Start { at: start, digest: base.digest, has_marks: base.has_marks });
        let mut at = stored.each(|_, _, _| Ok(()))?.at.min(end);
        let failed = |error| Error::io(format!("cannot read the index {}", path.display()), error);
        let has_all = aside.metadata().map_err(failed)?.len() == end - start;
        if !has_all {
            return Err(changed("what is to be added to it has changed"));
        }
        let same = start + equal_bytes((&file, start), (&aside, 0), at - start).map_err(failed)?;
        if same < at {
            let mut are_marks = true;
            at = start;
            stored.each(|place, entry, bytes| {
                let end = place + FRAME_OVERHEAD + bytes.len() as u64;
                if end <= same {
                    at = end;
                } else {
                    are_marks &= matches!(entry, Entry::Notes(words) if words.first() == Some(&DIGEST));
                }
                Ok(())
            })?;
            if !are_marks {
                return Err(changed("it has changed"));
            }
        }
        let checkpoint = Checkpoint::of(path);
        if at < end && checkpoint.read().is_some_and(|made| made.mark.end > at) {
            // What is appended takes the place of its end.
            checkpoint.remove();
        }
        Ok(Staged { file, path: path.to_path_buf(), aside, addition, at })
    }

    /// What is appended.
    pub fn addition(&self) -> Addition {
        self.addition
    }

    /// Writes what is to be appended to the disk.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn sync(&self) -> io::Result<()> {
        self.aside.sync_all()
    }

    /// Appends it, and writes the index to the disk.
    ///
    /// # Errors
    /// The index cannot be written, or was moved. What is missing can be appended later.
    pub fn append(mut self) -> Result<(), Error> {
        if !is_still_at(&self.file, &self.path) {
            let message =
                "was moved or replaced during this run, and nothing was added to it: put it back, and run again";
            return Err(fault(&self.path, IndexFault::Locked, message));
        }
        self.copy().map_err(|error| Error::io(format!("cannot write the index {}", self.path.display()), error))
    }

    fn copy(&mut self) -> io::Result<()> {
        let Addition { start, end, .. } = self.addition;
        // The mark at its end says that what precedes is on the disk.
        let mark = end.saturating_sub(FRAME_OVERHEAD + 1).clamp(self.at, end);
        append(&mut self.file, &self.aside, (start, mark), self.at)?;
        append(&mut self.file, &self.aside, (start, end), mark)
    }
}

/// How many of so many bytes are equal from these places on, up to the first that differs.
fn equal_bytes((a, from): (&File, u64), (b, start): (&File, u64), bytes: u64) -> io::Result<u64> {
    let (mut of_a, mut of_b) = (vec![0; PIECE], vec![0; PIECE]);
    let mut at = 0;
    while at < bytes {
        let count = PIECE.min((bytes - at) as usize);
        read_at(a, &mut of_a[..count], from + at)?;
        read_at(b, &mut of_b[..count], start + at)?;
        let pairs = of_a[..count].iter().zip(&of_b);
        let equal = pairs.take_while(|(a, b)| a == b).count();
        at += equal as u64;
        if equal < count {
            break;
        }
    }
    Ok(at)
}
