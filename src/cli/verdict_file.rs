//! The files of `--duplicates` and `--verdicts`: appended verdicts, each written once although its document may be fed again.
//!
//! After an interruption, input is fed again from the line after the last one that arrived, and the verdicts after it are computed again.
//! The file ends with the same verdicts in the same order. Therefore the first verdicts of a run are not written if the file ends with
//! verdicts on the same ids. A run counts as such a repetition if the last run left the index in an interrupted state, or if the index
//! already has the first document, with its id and its tokens. Otherwise everything is written, because another shard may start with the
//! same ids: a repeated verdict is better than a lost one. Documents without ids are identified by their number in the run, which has no
//! meaning in another run: between documents with ids each equals any other without one; before the first and after the last of
//! them their verdicts are always written. Those of unreadable records, which may have no id either, are repeated if the next verdict is.

use super::files::{cannot_write, is_at, open_to_append, read_at, reopened};
use crate::index::is_unnamed;
use neardups::Error;
use serde::Deserialize;
use serde::de::IgnoredAny;
use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::mem::replace;
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::xxh3_64;

/// How many bytes at the end of the file are compared with the first verdicts of a run.
const TAIL_BYTES: u64 = 16 << 20;

/// Maximum number of places in the file where the first verdict of a run is searched for; the last ones count.
const MAX_PLACES: usize = 64;

/// The start of a verdict, or of a part of it.
const START: &[u8] = b"{\"type\":\"verdict\",";

/// The file.
pub struct VerdictFile {
    file: File,
    path: PathBuf,
    /// Its length, if it is a regular file; a pipe has none.
    length: Option<u64>,
    lines: Vec<u8>,
    /// The number of bytes of `lines` that are written next, if not all.
    apart: Option<usize>,
    overlap: Overlap,
}

impl VerdictFile {
    /// Opens the file, and removes an incomplete verdict at its end.
    ///
    /// # Errors
    /// It cannot be written, or has another writer.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let (mut file, length) = open_to_append(path, START).map_err(|error| cannot_write(path, error))?;
        let ids = match length {
            Some(length) => last_ids(&mut file, length).map_err(|error| cannot_write(path, error))?,
            None => Vec::new(),
        };
        Ok(VerdictFile { file, path: path.into(), length, lines: Vec::new(), apart: None, overlap: Overlap::new(ids) })
    }

    /// Opens the file again under its name, if another has taken its place, or none. A pipe stays open.
    ///
    /// # Errors
    /// It cannot be written. Verdicts then go where they went before.
    pub fn reopen(&mut self) -> Result<(), Error> {
        if self.length.is_none() || is_at(&self.file, &self.path) {
            return Ok(());
        }
        (self.file, self.length) = reopened(&self.path, START)?;
        Ok(())
    }

    /// Declares that this run repeats no other: all of its verdicts are written.
    pub fn write_all_verdicts(&mut self) {
        self.overlap.finish(&mut self.lines);
    }

    /// Adds a verdict on a document, as a line without line end.
    pub fn push(&mut self, id: &str, verdict: &str) {
        self.overlap.push(hash_of(id), verdict, &mut self.lines);
    }

    /// Adds a verdict on a record that could not be read, as a line without line end.
    pub fn push_unread(&mut self, verdict: &str) {
        self.overlap.push_unread(verdict, &mut self.lines);
    }

    /// Keeps apart the verdicts so far: the next time, only these are [written](Self::flush).
    pub fn keep_apart(&mut self) {
        self.apart = Some(self.lines.len());
    }

    /// Writes the added verdicts, or those of them that were [kept apart](Self::keep_apart).
    ///
    /// # Errors
    /// The file cannot be written. Only complete lines stay in it.
    pub fn flush(&mut self) -> Result<(), Error> {
        let later = self.apart.take().map_or(Vec::new(), |bytes| self.lines.split_off(bytes));
        let lines = replace(&mut self.lines, later);
        let (written, result) = write_all(&mut self.file, &lines);
        let whole = match result {
            Ok(()) => written,
            Err(_) => lines[..written].iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1),
        };
        if let Some(length) = &mut self.length {
            *length += whole as u64;
            // The file may have become shorter meanwhile.
            if whole < written
                && let Ok(found) = self.file.metadata()
            {
                _ = self.file.set_len(found.len().saturating_sub((written - whole) as u64));
            }
        }
        result.map_err(|error| cannot_write(&self.path, error))
    }

    /// Writes the remaining verdicts at the end of a stream.
    ///
    /// # Errors
    /// As for [`flush`](Self::flush).
    pub fn finish(&mut self) -> Result<(), Error> {
        self.overlap.finish(&mut self.lines);
        self.flush()
    }
}

/// The hash of an id, unless it is the number of a document without one.
fn hash_of(id: &str) -> Option<u64> {
    (!is_unnamed(id)).then(|| xxh3_64(id.as_bytes()))
}

/// Writes bytes. Returns how many were written, and the error if not all.
fn write_all(file: &mut impl Write, mut bytes: &[u8]) -> (usize, io::Result<()>) {
    let mut written = 0;
    while !bytes.is_empty() {
        match file.write(bytes) {
            Ok(0) => return (written, Err(io::ErrorKind::WriteZero.into())),
            Ok(count) => {
                written += count;
                bytes = &bytes[count..];
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return (written, Err(error)),
        }
    }
    (written, Ok(()))
}

/// Hashes of the ids of the verdicts at the end of a file, after the last line that is not a verdict; `None` for documents without one.
fn last_ids(file: &mut (impl Read + Seek), length: u64) -> io::Result<Vec<Option<u64>>> {
    #[derive(Deserialize)]
    struct Verdict<'a> {
        #[serde(borrow)]
        id: Cow<'a, str>,
        error: Option<IgnoredAny>,
    }
    let start = length.saturating_sub(TAIL_BYTES);
    let mut tail = Vec::new();
    read_at(file, start, length, &mut tail)?;
    let mut lines = tail.split_inclusive(|&byte| byte == b'\n');
    if start > 0 {
        lines.next();
    }
    let mut ids = Vec::new();
    for line in lines {
        match serde_json::from_slice::<Verdict>(line) {
            Ok(Verdict { error: Some(_), .. }) => {}
            Ok(Verdict { id, .. }) => ids.push(hash_of(&id)),
            Err(_) => ids.clear(),
        }
    }
    Ok(ids)
}

/// Finds the longest suffix of the existing verdicts that is a prefix of the new ones and begins and ends with an id.
#[derive(Default)]
struct Overlap {
    existing: Vec<Option<u64>>,
    /// Indices in `existing` where the new verdicts may start: from each of them, all new verdicts match so far.
    places: Vec<usize>,
    /// Number of new verdicts.
    count: usize,
    /// Lines of new verdicts that may be repetitions.
    held: Vec<u8>,
}

impl Overlap {
    fn new(mut existing: Vec<Option<u64>>) -> Self {
        // Only an id after them shows that documents without one are the same.
        existing.truncate(existing.iter().rposition(Option::is_some).map_or(0, |last| last + 1));
        Overlap { existing, ..Overlap::default() }
    }

    /// Takes the next line, of an unreadable record: it is a repetition if the line after it is.
    fn push_unread(&mut self, line: &str, out: &mut Vec<u8>) {
        self.hold(line);
        if self.existing.is_empty() || self.held.len() as u64 > TAIL_BYTES {
            self.finish(out);
        }
    }

    fn hold(&mut self, line: &str) {
        self.held.extend_from_slice(line.as_bytes());
        self.held.push(b'\n');
    }

    /// Takes the next line, and appends the lines to write.
    fn push(&mut self, id: Option<u64>, line: &str, out: &mut Vec<u8>) {
        self.hold(line);
        if !self.existing.is_empty() {
            let (existing, count) = (&self.existing, self.count);
            if count == 0 {
                let places = existing.iter().enumerate().rev().filter(|(_, existing)| id.is_some() && **existing == id);
                self.places = places.map(|(place, _)| place).take(MAX_PLACES).collect();
            } else {
                self.places.retain(|&place| existing.get(place + count) == Some(&id));
            }
            self.count += 1;
            if self.places.iter().any(|place| place + self.count == self.existing.len()) {
                self.held.clear();
            }
        }
        if self.places.iter().all(|place| place + self.count == self.existing.len()) {
            self.finish(out);
        }
    }

    /// Appends the held lines, and ends the search.
    fn finish(&mut self, out: &mut Vec<u8>) {
        (self.existing, self.places) = (Vec::new(), Vec::new());
        out.append(&mut self.held);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The new verdicts that are written after existing ones. 0 is a document without an id.
    fn written(existing: &[u64], new: &[u64], chunk: usize) -> Vec<u64> {
        let id = |&id: &u64| (id > 0).then_some(id);
        let mut overlap = Overlap::new(existing.iter().map(id).collect());
        let mut out = Vec::new();
        for ids in new.chunks(chunk) {
            ids.iter().for_each(|new| overlap.push(id(new), &new.to_string(), &mut out));
        }
        overlap.finish(&mut out);
        String::from_utf8(out).unwrap().lines().map(|id| id.parse().unwrap()).collect()
    }

    /// The plain version: tries every length.
    fn plain(existing: &[u64], new: &[u64]) -> Vec<u64> {
        let existing = &existing[..existing.iter().rposition(|&id| id > 0).map_or(0, |last| last + 1)];
        let lengths = 0..=existing.len().min(new.len());
        let longest = lengths.rev().find(|&length| existing.ends_with(&new[..length]) && new.first() != Some(&0));
        new[longest.unwrap_or(0)..].to_vec()
    }

    proptest! {
        #[test]
        fn the_longest_overlap_is_not_written(
            existing in prop::collection::vec(0..4u64, 0..12),
            new in prop::collection::vec(0..4u64, 0..12),
            from in 0..12usize,
            chunk in 1..4usize,
        ) {
            prop_assert_eq!(written(&existing, &new, chunk), plain(&existing, &new));
            // Input that is fed again.
            let repeated = [&existing[from.min(existing.len())..], &new].concat();
            prop_assert_eq!(written(&existing, &repeated, chunk), plain(&existing, &repeated));
        }
    }

    #[test]
    fn documents_without_ids_are_repeated_with_those_before_them() {
        assert_eq!(written(&[1, 2], &[0, 1], 1), [0, 1]);
        assert_eq!(written(&[1, 0, 2], &[1, 0, 2, 0, 3], 1), [0, 3]);
        // Two inputs may share their first document alone.
        assert_eq!(written(&[1, 0], &[1, 0, 3], 1), [0, 3]);
        assert_eq!(written(&[0, 0], &[0, 0, 3], 1), [0, 0, 3]);
    }

    #[test]
    fn an_unreadable_record_is_repeated_if_the_next_verdict_is() {
        let mut overlap = Overlap::new([1, 2, 3].map(Some).to_vec());
        let mut out = Vec::new();
        overlap.push_unread("first", &mut out);
        overlap.push(Some(2), "2", &mut out);
        overlap.push_unread("between", &mut out);
        overlap.push(Some(3), "3", &mut out);
        overlap.push_unread("after", &mut out);
        overlap.push(Some(4), "4", &mut out);
        assert_eq!(out, b"after\n4\n");
    }

    #[test]
    fn unreadable_records_are_not_held_without_end() {
        let mut overlap = Overlap::new([1, 2].map(Some).to_vec());
        let (mut out, line) = (Vec::new(), "x".repeat(1 << 20));
        overlap.push(Some(1), "1", &mut out);
        (0..20).for_each(|_| overlap.push_unread(&line, &mut out));
        assert!(out.len() > 19 << 20);
    }

    #[test]
    fn many_equal_ids_cost_no_more_than_a_few() {
        let existing = vec![1; 200_000];
        let new = [&existing[..], &[2]].concat();
        assert_eq!(written(&existing, &new, 1).last(), Some(&2));
        assert!(written(&existing, &new, 1).len() >= existing.len() - MAX_PLACES);
    }
}
