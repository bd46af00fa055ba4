//! The baseline: findings that are accepted, identified by their words.

use super::error::{Error, InvalidBaseline};
use super::find::{self, Kind};
use super::finding::{Finding, fingerprint};
use super::pages::{Page, Tree};
use super::paths::{joined, place, relative, shown};
use crate::union_find::UnionFind;
use serde::de::{Deserializer, Error as _};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fs, io};

const VERSION: u32 = 1;

/// The file.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields, expecting = "an object with a version and what is accepted")]
struct File {
    #[serde(deserialize_with = "known_version")]
    version: u32,
    accepted: Vec<Entry>,
}

/// Another version is an error of its line, like anything else that is wrong with a file.
fn known_version<'a, D: Deserializer<'a>>(version: D) -> Result<u32, D::Error> {
    match u32::deserialize(version)? {
        VERSION => Ok(VERSION),
        other => Err(D::Error::custom(format!("it has version {other}, and this program reads version {VERSION}"))),
    }
}

/// An accepted finding. Its words identify it; paths and text are for people, except that whole files, whose words change,
/// are identified by their paths too.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(deny_unknown_fields, expecting = "an object with kind, paths, fingerprint and text")]
pub struct Entry {
    /// What it is: `file`, `passage` or `paragraph`.
    pub kind: String,
    /// The files, from the folder of the baseline.
    pub paths: [String; 2],
    /// Hashes of the words of both places, the lesser first.
    pub fingerprint: String,
    /// How the first place begins.
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
    /// What it connects: the words of its places; and of whole files, whose words change, the files.
    fn connections(&self) -> Vec<[String; 2]> {
        let (words, files) = (places(&self.fingerprint), self.files());
        match self.kind.as_str() {
            "file" => vec![[words[0].clone(), files[0].clone()], words, files],
            _ => vec![words],
        }
    }

    /// Names of its files among places, if it is of whole files. Without words no file has one.
    fn files(&self) -> [String; 2] {
        match self.kind.as_str() {
            "file" => self.paths.each_ref().map(|path| format!("the file {path}")),
            _ => [String::new(), String::new()],
        }
    }
}

/// What becomes of a baseline that is to be updated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Update {
    /// It stays as it is, because not all files could be read.
    Refused,
    /// It gets this text.
    Written {
        /// The text of the file.
        text: String,
        /// How many findings it accepts now, of those that were found.
        accepted: usize,
        /// How many of them are new.
        new: usize,
        /// How many entries it keeps for pages that were not asked for.
        kept: usize,
        /// How many it loses.
        dropped: usize,
    },
}

/// A baseline that was read.
pub(super) struct Baseline {
    /// The folder that it is in, which paths start from: absolute and without links.
    folder: PathBuf,
    /// None if the file does not exist.
    accepted: Option<Vec<Entry>>,
}

impl Baseline {
    /// Reads a baseline. A file that does not exist accepts nothing.
    ///
    /// # Errors
    /// The file cannot be read, or is not a baseline: it must not be replaced either.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let folder = place(path).parent().unwrap_or(Path::new("")).to_path_buf();
        Ok(Baseline { folder, accepted: read(path)? })
    }

    /// Whether there is no such file.
    pub fn is_missing(&self) -> bool {
        self.accepted.is_none()
    }

    fn entries(&self) -> &[Entry] {
        self.accepted.as_deref().unwrap_or_default()
    }

    /// What it accepts, to be asked about what is found.
    pub fn known(&self) -> Known<'_> {
        let words = self.entries().iter().map(|entry| places(&entry.fingerprint));
        let files = self.entries().iter().filter(|entry| entry.kind == "file").map(|entry| entry.paths.clone());
        Known { folder: &self.folder, words: words.collect(), files: files.collect() }
    }

    /// Given what was read under some roots, marks the findings that are accepted, those that are not new before those that are; all of them, if the file is to be updated and all
    /// pages could be read. Returns the entries that are stale: what they accept was not found, although the pages were read, or are gone.
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
        // Findings in pages that exist and were not read may still be there: nothing else is accepted for them.
        let exists = |path: &Path| fs::symlink_metadata(path).is_ok();
        let may_accept = |path: &String| pages.contains(of(path).as_path()) || !exists(&of(path));
        let was_asked_for =
            |path: &String| pages.contains(of(path).as_path()) || roots.iter().any(|root| of(path).starts_with(root));
        let (mine, mut kept): (Vec<Entry>, Vec<Entry>) =
            self.entries().iter().cloned().partition(|entry| entry.paths.iter().all(may_accept));
        let (stale, others): (Vec<Entry>, Vec<Entry>) = accept(findings, is_new, &self.folder, mine)
            .into_iter()
            .partition(|entry| entry.paths.iter().all(was_asked_for));
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

/// What a baseline accepts.
pub(super) struct Known<'a> {
    folder: &'a Path,
    words: BTreeSet<[String; 2]>,
    files: BTreeSet<[String; 2]>,
}

impl Known<'_> {
    /// Whether it accepts a finding as it is, or as the same two files.
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
    match fs::read(path) {
        Ok(bytes) => Ok(Some(parse(path, &bytes)?)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(crate::Error::input(format!("cannot read the baseline {}", path.display()), error).into()),
    }
}

/// What the baseline in a file of that name accepts.
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
        let what = "two versions that git could not merge; take one of them";
        return Err(InvalidBaseline { is_conflict: true, ..invalid(line + 1, 1, what) });
    }
    let file: File = serde_json::from_str(text.strip_prefix('\u{feff}').unwrap_or(text)).map_err(|error| {
        let place = format!(" at line {} column {}", error.line(), error.column());
        let what = error.to_string();
        invalid(error.line(), error.column().max(1), what.strip_suffix(&place).unwrap_or(&what))
    })?;
    Ok(file.accepted)
}

/// What an entry and a finding have in common if the one accepts the other.
type Key = (Option<String>, Option<[String; 2]>);

/// When an entry accepts a finding, the strictest first.
const RULES: [fn(&Entry) -> Option<Key>; 3] = [
    |entry| Some((Some(entry.fingerprint.clone()), Some(entry.paths.clone()))),
    // The same two files, edited.
    |entry| (entry.kind == "file").then(|| (None, Some(entry.paths.clone()))),
    // Moved or renamed.
    |entry| Some((Some(entry.fingerprint.clone()), None)),
];

/// Marks the findings that are accepted. Each entry accepts one finding with its words: a third copy of an accepted pair is new. Returns
/// the entries that accept nothing any more.
///
/// Of n near-copies n − 1 pairs are reported and accepted. If one of them goes or is edited, other pairs of those that stay may be
/// reported: within each group of places that accepted pairs connect, an entry that is left accepts another pair of different places.
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
                let entry = entries[number].take().expect("an entry has one key");
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

/// Groups of places that pairs connect.
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

/// The words of either place, by the parts of a fingerprint.
fn places(fingerprint: &str) -> [String; 2] {
    let (a, b) = fingerprint.split_once('-').unwrap_or((fingerprint, fingerprint));
    [a, b].map(String::from)
}

/// The text of a baseline that accepts these.
pub fn render(mut accepted: Vec<Entry>) -> String {
    accepted.sort_unstable_by(|x, y| (&x.paths, &x.fingerprint).cmp(&(&y.paths, &y.fingerprint)));
    serde_json::to_string_pretty(&File { version: VERSION, accepted }).expect("strings make JSON") + "\n"
}
