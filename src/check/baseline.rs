//! The baseline: findings that are accepted, identified by their words.

use super::error::{Error, InvalidBaseline};
use super::find::{self, Kind};
use super::finding::{Finding, fingerprint};
use super::pages::{Page, Tree};
use super::paths::{joined, place, relative, shown};
use crate::replace::{Links, open_regular};
use crate::union_find::UnionFind;
use serde::de::{Deserializer, Error as _};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, OpenOptions};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

const VERSION: u32 = 1;

/// The file.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields, expecting = "an object with version and accepted")]
struct File {
    #[serde(deserialize_with = "known_version")]
    version: u32,
    accepted: Vec<Entry>,
}

/// Reports another version with its line, like every other error in the file.
fn known_version<'a, D: Deserializer<'a>>(version: D) -> Result<u32, D::Error> {
    match u32::deserialize(version)? {
        VERSION => Ok(VERSION),
        other => Err(D::Error::custom(format!("version {other}; this program reads version {VERSION}"))),
    }
}

/// An accepted finding. Its words identify it; paths and text are for people. Whole files, whose words change, are also
/// identified by their paths.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(deny_unknown_fields, expecting = "an object with kind, paths, fingerprint and text")]
#[non_exhaustive]
pub struct Entry {
    /// `file`, `passage` or `paragraph`.
    pub kind: String,
    /// The files, relative to the folder of the baseline.
    pub paths: [String; 2],
    /// Hashes of the words of both places, the smaller first.
    pub fingerprint: String,
    /// The beginning of the first place.
    pub text: String,
}

impl Entry {
    fn of(finding: &Finding, folder: &Path) -> Self {
        let mut paths = finding.places.each_ref().map(|place| shown(&relative(folder, &place.page.place)));
        paths.sort_unstable();
        Entry {
            kind: finding.name().into(),
            paths,
            fingerprint: finding.fingerprint.clone(),
            text: finding.places[0].beginning(),
        }
    }
}

impl Entry {
    /// The pairs that it connects: the words of its places and, for whole files, whose words change, the files.
    fn connections(&self) -> Vec<[String; 2]> {
        let (words, files) = (places(&self.fingerprint), self.files());
        match self.kind.as_str() {
            "file" => vec![[words[0].clone(), files[0].clone()], words, files],
            _ => vec![words],
        }
    }

    /// Names for its two files, if it is about whole files; else empty.
    fn files(&self) -> [String; 2] {
        match self.kind.as_str() {
            "file" => self.paths.each_ref().map(|path| format!("the file {path}")),
            _ => [String::new(), String::new()],
        }
    }
}

/// The result of updating a baseline.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Update {
    /// The baseline is not changed, because some files could not be read.
    Refused,
    /// The baseline is replaced by this text.
    Written {
        /// The text of the file.
        text: String,
        /// How many of the findings it accepts now.
        accepted: usize,
        /// How many of them are new.
        new: usize,
        /// How many entries it keeps for pages outside of the checked paths.
        kept: usize,
        /// How many stale entries were dropped.
        dropped: usize,
    },
}

/// A baseline that was read.
pub(super) struct Baseline {
    /// Its folder, which paths are relative to: absolute and without links.
    folder: PathBuf,
    /// `None` if the file does not exist.
    accepted: Option<Vec<Entry>>,
}

impl Baseline {
    /// Reads a baseline. A file that does not exist accepts nothing.
    ///
    /// # Errors
    /// The file cannot be read, or is not a baseline. Such a file must not be replaced either.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let folder = place(path).parent().unwrap_or(Path::new("")).to_path_buf();
        Ok(Baseline { folder, accepted: read(path)? })
    }

    /// Whether the file does not exist.
    pub fn is_missing(&self) -> bool {
        self.accepted.is_none()
    }

    fn entries(&self) -> &[Entry] {
        self.accepted.as_deref().unwrap_or_default()
    }

    /// An index of its entries, for looking up findings.
    pub fn known(&self) -> Known<'_> {
        let words = self.entries().iter().map(|entry| places(&entry.fingerprint));
        let files = self.entries().iter().filter(|entry| entry.kind == "file").map(|entry| entry.paths.clone());
        Known { folder: &self.folder, words: words.collect(), files: files.collect() }
    }

    /// Marks the accepted findings. Findings that are not new take entries before those that are. With `update`, all findings become
    /// accepted, provided that all pages could be read.
    ///
    /// Returns the stale entries: they were not found, although their pages, under one of `roots`, were read or no longer exist.
    pub fn apply(
        &self,
        findings: &mut [Finding],
        is_new: impl Fn(&Finding) -> bool,
        tree: &Tree,
        roots: &[PathBuf],
        update: bool,
    ) -> (Vec<Entry>, Option<Update>) {
        let pages: BTreeSet<&Path> = tree.pages.iter().map(|page| page.place.as_path()).collect();
        let roots: Vec<PathBuf> = roots.iter().map(|root| place(root)).collect();
        let of = |path: &String| joined(&self.folder, Path::new(path));
        // Findings in pages that exist but were not read may still be valid: their entries accept nothing else.
        let exists = |path: &Path| fs::symlink_metadata(path).is_ok();
        let may_accept = |path: &String| pages.contains(of(path).as_path()) || !exists(&of(path));
        let is_under_roots =
            |path: &String| pages.contains(of(path).as_path()) || roots.iter().any(|root| of(path).starts_with(root));
        let (mine, mut kept): (Vec<Entry>, Vec<Entry>) =
            self.entries().iter().cloned().partition(|entry| entry.paths.iter().all(may_accept));
        let (stale, others): (Vec<Entry>, Vec<Entry>) = accept(findings, is_new, &self.folder, mine)
            .into_iter()
            .partition(|entry| entry.paths.iter().all(is_under_roots));
        kept.extend(others);
        if !update {
            return (stale, None);
        }
        if !tree.failed.is_empty() {
            return (stale, Some(Update::Refused));
        }
        let update = Update::Written {
            accepted: findings.len(),
            new: findings.iter().filter(|finding| !finding.accepted).count(),
            kept: kept.len(),
            dropped: stale.len(),
            text: render(findings.iter().map(|finding| Entry::of(finding, &self.folder)).chain(kept).collect()),
        };
        findings.iter_mut().for_each(|finding| finding.accepted = true);
        (Vec::new(), Some(update))
    }
}

/// The entries of a baseline, by words and by files.
pub(super) struct Known<'a> {
    folder: &'a Path,
    words: BTreeSet<[String; 2]>,
    files: BTreeSet<[String; 2]>,
}

impl Known<'_> {
    /// Whether it accepts a finding with these words, or between these two files.
    pub fn has(&self, pages: &[Arc<Page>], found: &find::Finding) -> bool {
        if self.words.is_empty() {
            return false;
        }
        let mut paths = [&found.a, &found.b].map(|place| shown(&relative(self.folder, &pages[place.document].place)));
        paths.sort_unstable();
        found.kind == Kind::File && self.files.contains(&paths)
            || self.words.contains(&places(&fingerprint(pages, found)))
    }
}

/// Reads the file. `None` if it does not exist.
fn read(path: &Path) -> Result<Option<Vec<Entry>>, Error> {
    let bytes = open_regular(path, OpenOptions::new().read(true), Links::Followed).and_then(|mut file| {
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map(|_| bytes)
    });
    match bytes {
        Ok(bytes) => Ok(Some(parse(path, &bytes)?)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(crate::Error::input(format!("cannot read the baseline {}", path.display()), error).into()),
    }
}

/// Parses the content of a baseline file. `path` is for messages.
///
/// # Errors
/// It is not a baseline: the error names the line.
pub fn parse(path: &Path, bytes: &[u8]) -> Result<Vec<Entry>, InvalidBaseline> {
    let path = path.display().to_string();
    let invalid = |line: usize, column: usize, message: &str| InvalidBaseline {
        path: path.clone(),
        line,
        column,
        message: message.into(),
        is_conflict: false,
    };
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let before = &bytes[..error.valid_up_to()];
        let line_start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
        let line = 1 + before.iter().filter(|&&byte| byte == b'\n').count();
        invalid(line, 1 + before.len() - line_start, "not UTF-8")
    })?;
    let is_conflict = |line: &str| ["<<<<<<<", "=======", ">>>>>>>"].iter().any(|mark| line.starts_with(mark));
    if let Some(line) = text.lines().position(is_conflict) {
        let what = "unresolved merge conflict: keep one of the versions";
        return Err(InvalidBaseline { is_conflict: true, ..invalid(line + 1, 1, what) });
    }
    let file: File = serde_json::from_str(text.strip_prefix('\u{feff}').unwrap_or(text)).map_err(|error| {
        let place = format!(" at line {} column {}", error.line(), error.column());
        let what = error.to_string();
        invalid(error.line(), error.column().max(1), what.strip_suffix(&place).unwrap_or(&what))
    })?;
    Ok(file.accepted)
}

/// The parts of an entry that a finding must share to be accepted by it.
type Key = (Option<String>, Option<[String; 2]>);

/// The keys by which an entry accepts a finding, the strictest first.
const RULES: [fn(&Entry) -> Option<Key>; 3] = [
    |entry| Some((Some(entry.fingerprint.clone()), Some(entry.paths.clone()))),
    // The same two files, edited.
    |entry| (entry.kind == "file").then(|| (None, Some(entry.paths.clone()))),
    // Moved or renamed.
    |entry| Some((Some(entry.fingerprint.clone()), None)),
];

/// Marks the findings that are accepted. Each entry accepts one finding with its words, so a third copy of an accepted pair is new.
/// Returns the entries that accept no finding.
///
/// Of n near-copies, n − 1 pairs are reported and accepted. If one copy is removed or edited, other pairs of the remaining copies may
/// be reported. Therefore, within each group of places that accepted pairs connect, an unused entry accepts another pair of
/// different places.
fn accept(
    findings: &mut [Finding],
    is_new: impl Fn(&Finding) -> bool,
    folder: &Path,
    accepted: Vec<Entry>,
) -> Vec<Entry> {
    let found: Vec<Entry> = findings.iter().map(|finding| Entry::of(finding, folder)).collect();
    let mut order: Vec<usize> = (0..findings.len()).collect();
    order.sort_by_key(|&number| is_new(&findings[number]));
    let mut connected: Vec<[String; 2]> = accepted.iter().flat_map(Entry::connections).collect();
    let mut entries: Vec<Option<Entry>> = accepted.into_iter().map(Some).collect();
    for rule in RULES {
        let mut by_key: BTreeMap<Key, Vec<usize>> = BTreeMap::new();
        for (number, entry) in entries.iter().enumerate().rev() {
            if let Some(key) = entry.as_ref().and_then(rule) {
                by_key.entry(key).or_default().push(number);
            }
        }
        for &new in order.iter().filter(|&&new| !findings[new].accepted).collect::<Vec<_>>() {
            if let Some(number) = rule(&found[new]).and_then(|key| by_key.get_mut(&key)?.pop()) {
                let entry = entries[number].take().expect("each entry is taken once");
                connected.extend(found[new].connections());
                connected.push([places(&found[new].fingerprint)[0].clone(), places(&entry.fingerprint)[0].clone()]);
                findings[new].accepted = true;
            }
        }
    }
    let groups = Groups::new(&connected);
    let mut left: BTreeMap<Option<usize>, Vec<Entry>> = BTreeMap::new();
    for entry in entries.into_iter().flatten().rev() {
        left.entry(groups.of(&places(&entry.fingerprint))).or_default().push(entry);
    }
    for &new in order.iter().filter(|&&new| !findings[new].accepted).collect::<Vec<_>>() {
        let ends = [places(&found[new].fingerprint), found[new].files()];
        let group = ends.iter().filter(|[a, b]| a != b).find_map(|ends| groups.of(ends));
        if group.is_some() {
            findings[new].accepted = left.get_mut(&group).is_some_and(|left| left.pop().is_some());
        }
    }
    let mut left: Vec<Entry> = left.into_values().flatten().collect();
    left.sort_unstable();
    left
}

/// Groups of places connected by pairs.
struct Groups<'a> {
    numbers: BTreeMap<&'a str, usize>,
    groups: Vec<usize>,
}

impl<'a> Groups<'a> {
    fn new(pairs: &'a [[String; 2]]) -> Self {
        let mut numbers = BTreeMap::new();
        for place in pairs.iter().flatten() {
            let next = numbers.len();
            numbers.entry(place.as_str()).or_insert(next);
        }
        let mut groups = UnionFind::<usize>::new(numbers.len());
        pairs.iter().for_each(|[a, b]| _ = groups.union(numbers[a.as_str()], numbers[b.as_str()]));
        Groups { numbers, groups: groups.into_labels() }
    }

    /// The group that both places are in.
    fn of(&self, places: &[String; 2]) -> Option<usize> {
        let [a, b] = places.each_ref().map(|place| self.numbers.get(place.as_str()).map(|&number| self.groups[number]));
        a.filter(|_| a == b)
    }
}

/// The hashes of both places, from a fingerprint.
fn places(fingerprint: &str) -> [String; 2] {
    let (a, b) = fingerprint.split_once('-').unwrap_or((fingerprint, fingerprint));
    [a, b].map(String::from)
}

/// The text of a baseline with these entries.
pub fn render(mut accepted: Vec<Entry>) -> String {
    accepted.sort_unstable_by(|x, y| (&x.paths, &x.fingerprint).cmp(&(&y.paths, &y.fingerprint)));
    serde_json::to_string_pretty(&File { version: VERSION, accepted }).expect("strings make JSON") + "\n"
}
