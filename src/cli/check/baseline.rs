//! The baseline: copies that are accepted, known by their words.

use super::super::out_file::OutFile;
use super::copies::Copy;
use neardups::Error;
use petgraph::unionfind::UnionFind;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

const VERSION: u32 = 1;

/// The file.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields, expecting = "an object with a version and what is accepted")]
struct File {
    version: u32,
    accepted: Vec<Entry>,
}

/// An accepted copy. What it is known by is its words; paths and text are for people, but for whole files, whose words change.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(deny_unknown_fields, expecting = "an object with kind, paths, fingerprint and text")]
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
        let text: Vec<&str> = copy.pieces.iter().flat_map(|piece| piece.of(0).split_whitespace()).take(10).collect();
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
    let file: File = serde_json::from_str(&text).map_err(|error| {
        let place = format!(" at line {} column {}", error.line(), error.column());
        let what = error.to_string();
        let what = what.strip_suffix(&place).unwrap_or(&what);
        Error::Usage(format!("{}:{}:{}: this is no baseline: {what}", path.display(), error.line(), error.column()))
    })?;
    if file.version != VERSION {
        let message = format!(
            "{}: this baseline has version {}; this program reads version {VERSION}",
            path.display(),
            file.version
        );
        return Err(Error::Usage(message));
    }
    Ok(Some(file.accepted))
}

/// What an entry and a copy have in common if the one accepts the other.
type Key = (Option<String>, Option<[String; 2]>);

/// When an entry accepts a copy, the strictest first.
const RULES: [fn(&Entry) -> Option<Key>; 3] = [
    |entry| Some((Some(entry.fingerprint.clone()), Some(entry.paths.clone()))),
    // Moved or renamed.
    |entry| Some((Some(entry.fingerprint.clone()), None)),
    // The same two files, edited.
    |entry| (entry.kind == "file").then(|| (None, Some(entry.paths.clone()))),
];

/// Marks the copies that are accepted. Each entry accepts one copy with its words: a third copy of an accepted pair is new. Returns what
/// accepts nothing any more.
pub fn accept(copies: &mut [Copy], entries: Vec<Entry>) -> Vec<Entry> {
    let found: Vec<Entry> = copies.iter().map(Entry::of).collect();
    let mut entries: Vec<Option<Entry>> = entries.into_iter().map(Some).collect();
    for rule in RULES {
        let mut by_key: BTreeMap<Key, Vec<usize>> = BTreeMap::new();
        for (number, entry) in entries.iter().enumerate().rev() {
            if let Some(key) = entry.as_ref().and_then(rule) {
                by_key.entry(key).or_default().push(number);
            }
        }
        for (copy, found) in copies.iter_mut().zip(&found).filter(|(copy, _)| !copy.known) {
            if let Some(number) = rule(found).and_then(|key| by_key.get_mut(&key)?.pop()) {
                entries[number] = None;
                copy.known = true;
            }
        }
    }
    let left: Vec<Entry> = entries.into_iter().flatten().collect();
    accept_in_between(copies, left)
}

/// Of n near-copies n − 1 pairs are told and accepted. If one of them goes, other pairs are told of those that stay. They are
/// accepted if pairs that are not there any more lead from the one place to the other: of each group of places that such
/// pairs connect, one less than there are pairs. Returns what accepts nothing.
fn accept_in_between(copies: &mut [Copy], left: Vec<Entry>) -> Vec<Entry> {
    let ends: Vec<[String; 2]> = left.iter().map(|entry| places(&entry.fingerprint)).collect();
    let mut numbers = BTreeMap::new();
    for end in ends.iter().flatten() {
        let next = numbers.len();
        numbers.entry(end.as_str()).or_insert(next);
    }
    let mut groups = UnionFind::<usize>::new(numbers.len());
    ends.iter().for_each(|[a, b]| _ = groups.union(numbers[a.as_str()], numbers[b.as_str()]));
    let groups = groups.into_labeling();
    let mut entries: BTreeMap<usize, Vec<Entry>> = BTreeMap::new();
    for (entry, [end, _]) in left.into_iter().zip(&ends).rev() {
        entries.entry(groups[numbers[end.as_str()]]).or_default().push(entry);
    }
    for copy in copies.iter_mut().filter(|copy| !copy.known) {
        let ends = places(&copy.fingerprint);
        let [a, b] = ends.each_ref().map(|end| numbers.get(end.as_str()).map(|&number| groups[number]));
        if let Some(spare) = a.filter(|_| a == b && ends[0] != ends[1]).and_then(|group| entries.get_mut(&group))
            && spare.len() > 1
        {
            spare.pop();
            copy.known = true;
        }
    }
    entries.into_values().flatten().collect()
}

/// The words of either place, by the parts of a fingerprint.
fn places(fingerprint: &str) -> [String; 2] {
    let (a, b) = fingerprint.split_once('-').unwrap_or((fingerprint, fingerprint));
    [a, b].map(String::from)
}

/// Writes a baseline that accepts these copies, and keeps these entries.
///
/// # Errors
/// The file cannot be written.
pub fn write(path: &Path, copies: &[Copy], kept: Vec<Entry>) -> Result<(), Error> {
    let mut accepted: Vec<Entry> = copies.iter().map(Entry::of).chain(kept).collect();
    accepted.sort_unstable_by(|x, y| (&x.paths, &x.fingerprint).cmp(&(&y.paths, &y.fingerprint)));
    let text = serde_json::to_string_pretty(&File { version: VERSION, accepted }).expect("strings make JSON");
    OutFile::create("baseline", path, &[])?.write(&(text + "\n"))
}
