//! The baseline: copies that are accepted, known by their words.

use super::super::arguments::count;
use super::super::outputs::{OutFile, place};
use super::super::terminal::Terminal;
use super::copies::{Copy, fingerprint};
use super::copies_of;
use super::pages::{Page, Tree, shown};
use super::paths::{behind, way};
use crate::union_find::UnionFind;
use neardups::Error;
use neardups::check::find::{Finding, Kind};
use serde::de::{Deserializer, Error as _};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

const VERSION: u32 = 1;

/// The file.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields, expecting = "an object with a version and what is accepted")]
struct File {
    #[serde(deserialize_with = "known_version")]
    version: u32,
    accepted: Vec<Entry>,
}

/// Another version is an error of its line, like all else that is wrong with a file.
fn known_version<'a, D: Deserializer<'a>>(version: D) -> Result<u32, D::Error> {
    match u32::deserialize(version)? {
        VERSION => Ok(VERSION),
        other => Err(D::Error::custom(format!("it has version {other}, and this program reads version {VERSION}"))),
    }
}

/// An accepted copy. What it is known by is its words; paths, which start from the folder of the file, and text are for people,
/// but for whole files, whose words change.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(deny_unknown_fields, expecting = "an object with kind, paths, fingerprint and text")]
pub struct Entry {
    pub kind: String,
    pub paths: [String; 2],
    pub fingerprint: String,
    pub text: String,
}

impl Entry {
    fn of(copy: &Copy, folder: &Path) -> Self {
        let mut paths = copy.places.each_ref().map(|place| shown(&way(folder, &place.page.place)));
        paths.sort_unstable();
        Entry {
            kind: copy.name().into(),
            paths,
            fingerprint: copy.fingerprint.clone(),
            text: copy.places[0].beginning(),
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

/// A baseline that was read.
pub struct Baseline<'a> {
    path: &'a Path,
    /// The folder that it is in, which paths start from: absolute and without links.
    folder: PathBuf,
    accepted: Vec<Entry>,
}

impl<'a> Baseline<'a> {
    /// Reads a baseline. A file that is not there accepts nothing, and a warning says so unless it is about to be written.
    ///
    /// # Errors
    /// The file cannot be read, or is no baseline: it is not written over either.
    pub fn read(path: &'a Path, update: bool, terminal: &Terminal) -> Result<Self, Error> {
        let accepted = read(path)?;
        if accepted.is_none() && !update {
            terminal.warning(&format!(
                "{}: there is no such baseline; nothing is accepted (--update-baseline makes it)",
                path.display()
            ));
        }
        let folder = place(path).parent().unwrap_or(Path::new("")).to_path_buf();
        Ok(Baseline { path, folder, accepted: accepted.unwrap_or_default() })
    }

    /// What it has, to be asked for findings.
    pub fn known(&self) -> Known<'_> {
        let words = self.accepted.iter().map(|entry| places(&entry.fingerprint));
        let files = self.accepted.iter().filter(|entry| entry.kind == "file").map(|entry| entry.paths.clone());
        Known { folder: &self.folder, words: words.collect(), files: files.collect() }
    }

    /// Marks the copies that are accepted, those that are not new before those that are, and writes the file that is to be updated, if any, once all pages could be read. Returns what is
    /// accepted and not there any more, although the pages were looked at, or are gone.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn settle(
        &self,
        copies: &mut [Copy],
        is_new: impl Fn(&Copy) -> bool,
        tree: &Tree,
        roots: &[PathBuf],
        update: Option<&OutFile>,
        terminal: &Terminal,
    ) -> Result<Vec<Entry>, Error> {
        let pages: BTreeSet<&Path> = tree.pages.iter().map(|page| page.place.as_path()).collect();
        let roots: Vec<PathBuf> = roots.iter().map(|root| place(root)).collect();
        let of = |path: &String| behind(&self.folder, Path::new(path));
        // Copies of pages that are there and were not looked at may still be there: nothing else is accepted for them.
        let is_there = |path: &Path| fs::symlink_metadata(path).is_ok();
        let may_accept = |path: &String| pages.contains(of(path).as_path()) || !is_there(&of(path));
        let was_asked_for =
            |path: &String| pages.contains(of(path).as_path()) || roots.iter().any(|root| of(path).starts_with(root));
        let (mine, mut kept): (Vec<Entry>, Vec<Entry>) =
            self.accepted.iter().cloned().partition(|entry| entry.paths.iter().all(may_accept));
        let (gone, others): (Vec<Entry>, Vec<Entry>) = accept(copies, is_new, &self.folder, mine)
            .into_iter()
            .partition(|entry| entry.paths.iter().all(was_asked_for));
        kept.extend(others);
        let Some(file) = update else { return Ok(gone) };
        if !tree.failed.is_empty() {
            terminal.warning(&format!("{}: not written, because not all files could be read", self.path.display()));
            return Ok(gone);
        }
        let part = |number: usize, what: &str| match number {
            0 => String::new(),
            number => format!(", {} {what}", count(number as u64)),
        };
        let (others, dropped) =
            (part(kept.len(), "of pages that were not asked for kept"), part(gone.len(), "dropped"));
        let new = part(copies.iter().filter(|copy| !copy.known).count(), "of them new");
        write(file, copies.iter().map(|copy| Entry::of(copy, &self.folder)).chain(kept).collect())?;
        let accepted = copies_of(copies.len());
        terminal.line(&format!("{accepted} accepted in {}{new}{others}{dropped}", self.path.display()));
        copies.iter_mut().for_each(|copy| copy.known = true);
        Ok(Vec::new())
    }
}

/// What a baseline accepts.
pub struct Known<'a> {
    folder: &'a Path,
    words: BTreeSet<[String; 2]>,
    files: BTreeSet<[String; 2]>,
}

impl Known<'_> {
    /// Whether it has a finding as it is, or as the same two files.
    pub fn has(&self, pages: &[Page], finding: &Finding) -> bool {
        if self.words.is_empty() {
            return false;
        }
        let mut paths = [&finding.a, &finding.b].map(|place| shown(&way(self.folder, &pages[place.document].place)));
        paths.sort_unstable();
        finding.kind == Kind::File && self.files.contains(&paths)
            || self.words.contains(&places(&fingerprint(pages, finding)))
    }
}

/// Reads the file. `None` if it is not there.
fn read(path: &Path) -> Result<Option<Vec<Entry>>, Error> {
    match fs::read(path) {
        Ok(bytes) => parse(path, &bytes).map(Some),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Error::input(format!("cannot read the baseline {}", path.display()), error)),
    }
}

/// What the baseline in a file of that name accepts.
///
/// # Errors
/// It is not a baseline: the error names the line.
pub fn parse(path: &Path, bytes: &[u8]) -> Result<Vec<Entry>, Error> {
    let wrong = |line: usize, column: usize, what: &str| {
        Error::Usage(format!("{}:{line}:{column}: not a dedup baseline: {what}", path.display()))
    };
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let before = &bytes[..error.valid_up_to()];
        let line_start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
        let line = 1 + before.iter().filter(|&&byte| byte == b'\n').count();
        wrong(line, 1 + before.len() - line_start, "not UTF-8")
    })?;
    let is_conflict = |line: &str| ["<<<<<<<", "=======", ">>>>>>>"].iter().any(|mark| line.starts_with(mark));
    if let Some(line) = text.lines().position(is_conflict) {
        let what = "two versions that git could not merge; take one of them, and --update-baseline";
        return Err(wrong(line + 1, 1, what));
    }
    let file: File = serde_json::from_str(text.strip_prefix('\u{feff}').unwrap_or(text)).map_err(|error| {
        let place = format!(" at line {} column {}", error.line(), error.column());
        let what = error.to_string();
        wrong(error.line(), error.column().max(1), what.strip_suffix(&place).unwrap_or(&what))
    })?;
    Ok(file.accepted)
}

/// What an entry and a copy have in common if the one accepts the other.
type Key = (Option<String>, Option<[String; 2]>);

/// When an entry accepts a copy, the strictest first.
const RULES: [fn(&Entry) -> Option<Key>; 3] = [
    |entry| Some((Some(entry.fingerprint.clone()), Some(entry.paths.clone()))),
    // The same two files, edited.
    |entry| (entry.kind == "file").then(|| (None, Some(entry.paths.clone()))),
    // Moved or renamed.
    |entry| Some((Some(entry.fingerprint.clone()), None)),
];

/// Marks the copies that are accepted. Each entry accepts one copy with its words: a third copy of an accepted pair is new. Returns what
/// accepts nothing any more.
///
/// Of n near-copies n − 1 pairs are told and accepted. If one of them goes or is edited, other pairs may be told of those that
/// stay: within each group of places that accepted pairs connect, an entry that is left accepts another pair of different places.
fn accept(copies: &mut [Copy], is_new: impl Fn(&Copy) -> bool, folder: &Path, accepted: Vec<Entry>) -> Vec<Entry> {
    let found: Vec<Entry> = copies.iter().map(|copy| Entry::of(copy, folder)).collect();
    let mut order: Vec<usize> = (0..copies.len()).collect();
    order.sort_by_key(|&copy| is_new(&copies[copy]));
    let mut connected: Vec<[String; 2]> = accepted.iter().flat_map(Entry::connections).collect();
    let mut entries: Vec<Option<Entry>> = accepted.into_iter().map(Some).collect();
    for rule in RULES {
        let mut by_key: BTreeMap<Key, Vec<usize>> = BTreeMap::new();
        for (number, entry) in entries.iter().enumerate().rev() {
            if let Some(key) = entry.as_ref().and_then(rule) {
                by_key.entry(key).or_default().push(number);
            }
        }
        for &copy in order.iter().filter(|&&copy| !copies[copy].known).collect::<Vec<_>>() {
            if let Some(number) = rule(&found[copy]).and_then(|key| by_key.get_mut(&key)?.pop()) {
                let entry = entries[number].take().expect("an entry has one key");
                connected.extend(found[copy].connections());
                connected.push([places(&found[copy].fingerprint)[0].clone(), places(&entry.fingerprint)[0].clone()]);
                copies[copy].known = true;
            }
        }
    }
    let groups = Groups::new(&connected);
    let mut left: BTreeMap<Option<usize>, Vec<Entry>> = BTreeMap::new();
    for entry in entries.into_iter().flatten().rev() {
        left.entry(groups.of(&places(&entry.fingerprint))).or_default().push(entry);
    }
    for &copy in order.iter().filter(|&&copy| !copies[copy].known).collect::<Vec<_>>() {
        let ends = [places(&found[copy].fingerprint), found[copy].files()];
        let group = ends.iter().filter(|[a, b]| a != b).find_map(|ends| groups.of(ends));
        if group.is_some() {
            copies[copy].known = left.get_mut(&group).is_some_and(|left| left.pop().is_some());
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

fn write(file: &OutFile, accepted: Vec<Entry>) -> Result<(), Error> {
    file.write(&rendered(accepted))
}

/// The text of a baseline.
pub fn rendered(mut accepted: Vec<Entry>) -> String {
    accepted.sort_unstable_by(|x, y| (&x.paths, &x.fingerprint).cmp(&(&y.paths, &y.fingerprint)));
    serde_json::to_string_pretty(&File { version: VERSION, accepted }).expect("strings make JSON") + "\n"
}
