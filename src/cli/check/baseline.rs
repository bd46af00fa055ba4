//! The baseline: copies that are accepted, known by their words.

use super::super::out_file::OutFile;
use super::copies::Copy;
use neardups::Error;
use serde::{Deserialize, Serialize};
use std::fs;
use std::io;
use std::path::Path;

const VERSION: u32 = 1;

/// The file.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct File {
    version: u32,
    accepted: Vec<Entry>,
}

/// An accepted copy. What it is known by is its words; paths and text are for people, but for whole files, whose words change.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    pub kind: String,
    pub paths: [String; 2],
    pub fingerprint: String,
    pub text: String,
}

impl Entry {
    fn of(copy: &Copy) -> Self {
        let mut paths = copy.places.each_ref().map(|place| place.path.clone());
        paths.sort_unstable();
        let text: Vec<&str> = copy.pieces.iter().flat_map(|piece| piece.first().split_whitespace()).take(10).collect();
        Entry { kind: copy.name().into(), paths, fingerprint: copy.fingerprint.clone(), text: text.join(" ") }
    }
}

/// Reads a baseline. A file that is not there accepts nothing, and `None` says so.
///
/// # Errors
/// The file cannot be read, or is no baseline.
pub fn read(path: &Path) -> Result<Option<Vec<Entry>>, Error> {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Error::io(format!("cannot read the baseline {}", path.display()), error)),
    };
    let file: File = serde_json::from_str(&text)
        .map_err(|error| Error::Usage(format!("{}:{}: no baseline: {error}", path.display(), error.line())))?;
    if file.version != VERSION {
        let message = format!("{}: has version {}; this program reads version {VERSION}", path.display(), file.version);
        return Err(Error::Usage(message));
    }
    Ok(Some(file.accepted))
}

/// Marks the copies that are accepted. Each entry accepts one copy with its words: a third copy of an accepted pair is new. Returns what
/// accepts nothing any more.
pub fn accept(copies: &mut [Copy], mut entries: Vec<Entry>) -> Vec<Entry> {
    let same_paths = |entry: &Entry, found: &Entry| entry.paths == found.paths;
    let rules: [&dyn Fn(&Entry, &Entry) -> bool; 3] = [
        &|entry, found| entry.fingerprint == found.fingerprint && same_paths(entry, found),
        // Moved or renamed.
        &|entry, found| entry.fingerprint == found.fingerprint,
        // The same two files, edited.
        &|entry, found| entry.kind == "file" && found.kind == "file" && same_paths(entry, found),
    ];
    for rule in rules {
        for copy in copies.iter_mut().filter(|copy| !copy.known) {
            let found = Entry::of(copy);
            if let Some(at) = entries.iter().position(|entry| rule(entry, &found)) {
                entries.remove(at);
                copy.known = true;
            }
        }
    }
    entries
}

/// Writes a baseline that accepts these copies.
///
/// # Errors
/// The file cannot be written.
pub fn write(path: &Path, copies: &[Copy]) -> Result<(), Error> {
    let mut accepted: Vec<Entry> = copies.iter().map(Entry::of).collect();
    accepted.sort_unstable_by(|x, y| (&x.paths, &x.fingerprint).cmp(&(&y.paths, &y.fingerprint)));
    let text = serde_json::to_string_pretty(&File { version: VERSION, accepted }).expect("strings make JSON");
    OutFile::create("baseline", path, &[])?.write(&(text + "\n"))
}
