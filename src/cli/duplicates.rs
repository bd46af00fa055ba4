//! The file of `--duplicates`: verdicts, appended, each once although its document may be fed again.
//!
//! A run that was interrupted is fed again from the last line that arrived, and the verdicts behind that are made again. They stand at
//! the end of the file, in the same order, and so the first verdicts of a run are not written if the file ends with verdicts on the
//! same ids. A run is taken for such a repetition if the last one left the index as an interrupted run does, or if the index knows its first
//! document, with its id and its tokens, from before; else everything is written, because another shard may well begin with the same ids:
//! rather a verdict twice than one lost. Documents without ids are identified by their number in a run, which says nothing in another one:
//! theirs are always written.

use super::files::{cannot_write, open_to_append, read_at};
use neardups::Error;
use serde::Deserialize;
use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::mem::take;
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::xxh3_64;

/// How much of the end of the file is compared with what comes first.
const TAIL: u64 = 16 << 20;

/// At so many places in it the first verdict of a run is looked for, the last ones.
const MAX_PLACES: usize = 64;

/// What a verdict that was written in part begins with, as far as it goes.
const START: &[u8] = b"{\"type\":\"verdict\",";

/// The file.
pub struct Duplicates {
    file: File,
    path: PathBuf,
    /// Its length, if it is a regular file; a pipe has none.
    length: Option<u64>,
    lines: Vec<u8>,
    overlap: Overlap,
}

impl Duplicates {
    /// Opens it, and removes what an interrupted write left at its end.
    ///
    /// # Errors
    /// It cannot be written, or has another writer.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let (mut file, length) = open_to_append(path, START).map_err(|error| cannot_write(path, error))?;
        let ids = match length {
            Some(length) => last_ids(&mut file, length).map_err(|error| cannot_write(path, error))?,
            None => Vec::new(),
        };
        Ok(Duplicates { file, path: path.into(), length, lines: Vec::new(), overlap: Overlap::new(ids) })
    }

    /// This run repeats nothing: all of its verdicts are written.
    pub fn is_new(&mut self) {
        self.overlap.finish(&mut self.lines);
    }

    /// Adds a verdict on a document, as a line without its end.
    pub fn push(&mut self, id: &str, verdict: &str) {
        self.overlap.push((!has_no_id(id)).then(|| xxh3_64(id.as_bytes())), verdict, &mut self.lines);
    }

    /// Writes what was added.
    ///
    /// # Errors
    /// It cannot be written. Only whole lines stay in the file.
    pub fn flush(&mut self) -> Result<(), Error> {
        let lines = take(&mut self.lines);
        let (written, result) = write_all(&mut self.file, &lines);
        let whole = match result {
            Ok(()) => written,
            Err(_) => lines[..written].iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1),
        };
        if let Some(length) = &mut self.length {
            *length += whole as u64;
            if whole < written {
                _ = self.file.set_len(*length);
            }
        }
        result.map_err(|error| cannot_write(&self.path, error))
    }

    /// Writes the rest at the end of a stream.
    ///
    /// # Errors
    /// As for [`flush`](Self::flush).
    pub fn finish(&mut self) -> Result<(), Error> {
        self.overlap.finish(&mut self.lines);
        self.flush()
    }
}

/// Whether a document is called by its number.
pub fn has_no_id(id: &str) -> bool {
    id.starts_with("-:")
}

/// How many bytes were written, and why not all.
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

/// Hashes of the ids of the verdicts that a file ends with, behind the last line that is none.
fn last_ids(file: &mut (impl Read + Seek), length: u64) -> io::Result<Vec<u64>> {
    #[derive(Deserialize)]
    struct Verdict<'a> {
        #[serde(borrow)]
        id: Cow<'a, str>,
    }
    let start = length.saturating_sub(TAIL);
    let mut tail = Vec::new();
    read_at(file, start, length, &mut tail)?;
    let mut lines = tail.split_inclusive(|&byte| byte == b'\n');
    if start > 0 {
        lines.next();
    }
    let mut ids = Vec::new();
    for line in lines {
        match serde_json::from_slice::<Verdict>(line) {
            Ok(Verdict { id }) if !has_no_id(&id) => ids.push(xxh3_64(id.as_bytes())),
            _ => ids.clear(),
        }
    }
    Ok(ids)
}

/// Finds the longest end of what is there that is the start of what comes.
#[derive(Default)]
struct Overlap {
    there: Vec<u64>,
    /// Where in it all that came may start: what came is there from each of these places on, as far as it goes.
    places: Vec<usize>,
    /// How many came.
    count: usize,
    /// The lines that came, those left out that are the end of what is there.
    held: Vec<u8>,
}

impl Overlap {
    fn new(there: Vec<u64>) -> Self {
        Overlap { there, ..Overlap::default() }
    }

    /// Takes the next line, and hands on what has to be written. `None` is like nothing that is there.
    fn push(&mut self, id: Option<u64>, line: &str, out: &mut Vec<u8>) {
        self.held.extend_from_slice(line.as_bytes());
        self.held.push(b'\n');
        if !self.there.is_empty() {
            let (there, count) = (&self.there, self.count);
            if count == 0 {
                let places = there.iter().enumerate().rev().filter(|(_, there)| Some(**there) == id);
                self.places = places.map(|(place, _)| place).take(MAX_PLACES).collect();
            } else {
                self.places.retain(|&place| there.get(place + count).copied() == id && id.is_some());
            }
            self.count += 1;
            if self.places.iter().any(|place| place + self.count == self.there.len()) {
                self.held.clear();
            }
        }
        if self.places.iter().all(|place| place + self.count == self.there.len()) {
            self.finish(out);
        }
    }

    /// Hands on what is held. Nothing is looked for any more.
    fn finish(&mut self, out: &mut Vec<u8>) {
        (self.there, self.places) = (Vec::new(), Vec::new());
        out.append(&mut self.held);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// What is written of verdicts on ids, with a file that ends with verdicts on others.
    fn written(there: &[u64], coming: &[u64], chunk: usize) -> Vec<u64> {
        let mut overlap = Overlap::new(there.to_vec());
        let mut out = Vec::new();
        for ids in coming.chunks(chunk) {
            ids.iter().for_each(|id| overlap.push(Some(*id), &id.to_string(), &mut out));
        }
        overlap.finish(&mut out);
        String::from_utf8(out).unwrap().lines().map(|id| id.parse().unwrap()).collect()
    }

    /// The same, by trying every length.
    fn plain(there: &[u64], coming: &[u64]) -> Vec<u64> {
        let longest = (0..=there.len().min(coming.len())).rev().find(|&length| there.ends_with(&coming[..length]));
        coming[longest.unwrap_or(0)..].to_vec()
    }

    proptest! {
        #[test]
        fn the_longest_overlap_is_left_out(
            there in prop::collection::vec(0..3u64, 0..12),
            coming in prop::collection::vec(0..3u64, 0..12),
            from in 0..12usize,
            chunk in 1..4usize,
        ) {
            prop_assert_eq!(written(&there, &coming, chunk), plain(&there, &coming));
            // As it is when something is fed again.
            let again = [&there[from.min(there.len())..], &coming].concat();
            prop_assert_eq!(written(&there, &again, chunk), plain(&there, &again));
        }
    }

    #[test]
    fn documents_without_ids_are_like_no_others() {
        let mut overlap = Overlap::new(vec![1, 2]);
        let mut out = Vec::new();
        overlap.push(None, "x", &mut out);
        overlap.push(Some(1), "1", &mut out);
        assert_eq!(out, b"x\n1\n");
    }

    #[test]
    fn many_equal_ids_cost_no_more_than_a_few() {
        let there = vec![1; 200_000];
        let coming = [&there[..], &[2]].concat();
        assert_eq!(written(&there, &coming, 1).last(), Some(&2));
        assert!(written(&there, &coming, 1).len() >= there.len() - MAX_PLACES);
    }
}
