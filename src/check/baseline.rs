//! The baseline: findings that are accepted, known by their words and files.

use super::accepted::{AllKnown, Known, Sample, shared_grams, sorted};
use super::error::{Error, InvalidBaseline, SinceError};
use super::find::Kind;
use super::finding::{Finding, MAX_REASON, Origin, Place, first, name, shown_reason};
use super::globs::Globs;
use super::grading::Grader;
use super::pages::{Page, Tree};
use super::paths::{joined, place, relative, shown};
use super::since::Changes;
use super::staged::{Index, Setting};
use crate::readable::{controls_display, counted};
use crate::replace::{Links, open_regular};
use serde::de::{Deserializer, Error as _};
use serde::{Deserialize, Serialize, Serializer};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, OpenOptions};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// The version that is written. Version 1, of pairs with a fingerprint of their words, is read too.
const VERSION: u32 = 2;

/// How messages about stale entries begin.
pub(super) const STALE: &str = "stale: accepted, but not found in this run";

/// What may have happened to a stale entry.
const WHY_STALE: &str = "(removed, edited, or excluded by a rule or an option)";

/// The content of the file.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields, expecting = "an object with version and accepted")]
struct Content {
    #[serde(deserialize_with = "known_version")]
    version: u32,
    accepted: Vec<Entry>,
    /// The pages that were there when it was written and that no entry names, relative to its folder. Files of earlier programs lack it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pages: Option<Vec<String>>,
    /// The files and folders that were checked when it was written: other pages are new to it. Relative to its folder; none of them is within
    /// another one. Files of earlier programs lack it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    roots: Option<Vec<String>>,
}

/// Reports another version with its line, like every other error in the file.
fn known_version<'a, D: Deserializer<'a>>(version: D) -> Result<u32, D::Error> {
    match u32::deserialize(version)? {
        known @ 1..=VERSION => Ok(known),
        other => Err(D::Error::custom(format!("version {other}; this program reads versions 1 to {VERSION}"))),
    }
}

fn known_kind<'a, D: Deserializer<'a>>(kind: D) -> Result<String, D::Error> {
    let kind = String::deserialize(kind)?;
    match [Kind::File, Kind::Passage, Kind::Paragraph].map(name).contains(&kind.as_str()) {
        true => Ok(kind),
        false => Err(D::Error::custom(format!("unknown kind `{kind}`, expected `file`, `passage` or `paragraph`"))),
    }
}

fn two_paths<'a, D: Deserializer<'a>>(paths: D) -> Result<Vec<String>, D::Error> {
    let paths = Vec::<String>::deserialize(paths)?;
    match paths.len() {
        2.. => Ok(paths),
        _ => Err(D::Error::custom("expected two paths or more")),
    }
}

/// An accepted finding.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(deny_unknown_fields, expecting = "an object with kind, paths, words and text")]
#[non_exhaustive]
pub struct Entry {
    /// `file`, `passage` or `paragraph`.
    #[serde(deserialize_with = "known_kind")]
    pub kind: String,
    /// The file of each place, relative to the folder of the baseline.
    #[serde(deserialize_with = "two_paths")]
    pub paths: Vec<String>,
    /// A sample of its words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub words: Option<Words>,
    /// In version 1: hashes of the words of both places, the smaller first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<String>,
    /// The beginning of the first place. For people.
    pub text: String,
    /// Why it is accepted. For people, who may edit it. Files of earlier programs lack it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The line of the file where it starts, from 1; 0 if it was not read from one.
    #[serde(skip)]
    pub line: usize,
}

/// Hashes of runs of four words, in hexadecimal, separated by spaces. `…` at the end: there are more, all of them larger.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Words {
    hashes: Vec<u32>,
    is_part: bool,
}

impl Serialize for Words {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let hashes: Vec<String> = self.hashes.iter().map(|hash| format!("{hash:08x}")).collect();
        serializer.collect_str(&(hashes.join(" ") + if self.is_part { " …" } else { "" }))
    }
}

impl<'a> Deserialize<'a> for Words {
    fn deserialize<D: Deserializer<'a>>(words: D) -> Result<Self, D::Error> {
        let text = String::deserialize(words)?;
        let (hashes, is_part) = text.strip_suffix('…').map_or((text.as_str(), false), |hashes| (hashes, true));
        let hash = |word: &str| u32::from_str_radix(word, 16);
        let hashes = hashes.split_whitespace().map(hash).collect::<Result<_, _>>();
        Ok(Words {
            hashes: sorted(hashes.map_err(|_| D::Error::custom("words: expected hexadecimal numbers"))?),
            is_part,
        })
    }
}

impl Entry {
    /// That of a finding, and of these pages that have its text too. They may stay copies of the others when one of its places is edited.
    fn of(finding: &Finding, hidden: &[&Page], folder: &Path, reason: Option<&str>) -> Self {
        let pages = finding.places.iter().map(|place| &*place.page).chain(hidden.iter().copied());
        let mut paths: Vec<String> = pages.map(|page| shown(&relative(folder, &page.place))).collect();
        paths.sort_unstable();
        let Sample { hashes, is_part } = Sample::of(shared_grams(finding));
        Entry {
            kind: finding.name().into(),
            paths,
            words: Some(Words { hashes, is_part }),
            fingerprint: None,
            text: finding.places[0].beginning(),
            reason: reason.map(String::from),
            line: 0,
        }
    }

    /// Its reason, unless it is blank.
    pub fn reason(&self) -> Option<&str> {
        self.reason.as_deref().map(str::trim).filter(|reason| !reason.is_empty())
    }

    /// Its text, and why it was accepted.
    pub fn text_and_reason(&self) -> String {
        let reason = self.reason().map_or(String::new(), |reason| format!(" (reason: {})", shown_reason(reason)));
        format!("{}{reason}", self.text)
    }

    /// What is wrong if it is stale, on one line.
    pub fn stale_message(&self) -> String {
        format!("{STALE} {WHY_STALE}: {}", self.paths_and_text())
    }

    /// What is wrong if several entries are stale, without what they are.
    pub fn stale_messages(number: usize) -> String {
        format!("{} are {STALE} {WHY_STALE}", counted(number as u64, "entry"))
    }

    /// Its files, its text, and why it was accepted.
    pub fn paths_and_text(&self) -> String {
        format!("{}: {}", self.paths.join(" and "), self.text_and_reason())
    }

    /// What it accepts. An entry of version 1 has no sample.
    fn known(&self, folder: &Path) -> Known {
        let Words { hashes, is_part } = self.words.clone().unwrap_or_default();
        Known {
            sample: Sample { hashes, is_part },
            files: self.paths.iter().map(|path| joined(folder, Path::new(path))).collect(),
            is_file: self.kind == "file",
        }
    }

    /// Whether an entry of version 1 has the words, or is about the same two files.
    fn is_pair_of(&self, hashes: &BTreeSet<String>, paths: &[String]) -> bool {
        let Some((low, high)) = self.fingerprint.as_ref().and_then(|words| words.split_once('-')) else { return false };
        hashes.contains(low) && hashes.contains(high) || self.kind == "file" && self.paths == paths
    }
}

/// Parses the reason why copies are accepted: a text on one line, of at most 500 characters. White space around it is dropped.
///
/// # Errors
/// It is blank or too long, or has line ends or other control characters, which reports would have to escape.
pub fn parse_reason(typed: &str) -> Result<String, String> {
    match typed.trim() {
        "" => Err("expected the reason why copies are accepted, not an empty text".into()),
        reason if first(reason, MAX_REASON).len() < reason.len() => {
            Err(format!("expected at most {MAX_REASON} characters"))
        }
        reason if reason.contains(controls_display) => Err("expected one line without control characters".into()),
        reason => Ok(reason.into()),
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
        /// How many entries it keeps for pages that were not checked.
        kept: usize,
        /// How many stale entries were dropped.
        dropped: usize,
        /// How many stale entries it keeps because they show which place of a copy is new: their texts moved there.
        needed: usize,
        /// How many findings it does not accept: those that were not selected, or are not new.
        left: usize,
    },
    /// Stale entries are dropped, and nothing else changes.
    Pruned {
        /// The text of the file; `None` if it stays as it is.
        text: Option<String>,
        /// How many stale entries were dropped.
        dropped: usize,
        /// How many entries that are not stale, as far as is known, it keeps.
        kept: usize,
        /// How many stale entries it keeps because they show which place of a copy is new: their texts moved there.
        needed: usize,
    },
}

impl Update {
    /// The new text of the file, if it is to be replaced.
    pub fn text(&self) -> Option<&str> {
        match self {
            Update::Written { text, .. } => Some(text),
            Update::Pruned { text, .. } => text.as_deref(),
            Update::Refused => None,
        }
    }
}

/// Findings in pages that were not checked when the baseline was written.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Outside {
    /// How many findings that are not accepted have a place in such a page.
    pub findings: usize,
    /// The paths of these pages as given, in order.
    pub pages: Vec<String>,
    /// The files and folders that were checked then, relative to the current folder.
    pub roots: Vec<String>,
}

/// A page with a copy that is accepted although no entry names the page, because a page that the entry names is gone.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct Renamed {
    /// The path of the page as given.
    pub page: String,
    /// The page that is gone, relative to the current folder.
    pub gone: String,
}

/// A baseline that was read.
pub(super) struct Baseline {
    /// Its folder, which paths are relative to: absolute and without links.
    folder: PathBuf,
    /// `None` if the file does not exist.
    accepted: Option<Content>,
}

/// What a check compared with a baseline.
pub(super) struct Checked<'a> {
    pub tree: &'a Tree,
    /// The paths that were checked: absolute and without links.
    pub roots: Vec<PathBuf>,
    /// The minimum length of a passage.
    pub min_words: usize,
    /// What changed since a commit. With the index of git, it determines which files exist.
    pub changes: Option<&'a Changes>,
}

/// Entries of pages that a run left out.
pub(super) struct Unchecked {
    /// How many there are.
    pub entries: usize,
    /// One of the pages, relative to the folder of the baseline.
    pub page: String,
    /// Whether it matches the globs of the run.
    pub is_ignored: bool,
}

impl Checked<'_> {
    fn exists(&self, file: &Path) -> bool {
        exists(file, self.changes.and_then(Changes::index))
    }

    /// In how many of its places in a file a text may still be. Earlier texts are not known: in all, as long as the file exists.
    fn times(&self, text: &Known, file: &Path) -> usize {
        if self.exists(file) { text.places_in(file) } else { 0 }
    }

    /// The same, but a text of a file that was gone at the commit already did not move from there since.
    fn times_since(&self, text: &Known, file: &Path) -> usize {
        let was_gone = self.changes.is_some_and(|changes| changes.unknown(file).is_none() && !changes.is_gone(file));
        if was_gone { text.places_in(file) } else { self.times(text, file) }
    }

    fn is_below_root(&self, file: &Path) -> bool {
        self.roots.iter().any(|root| file.starts_with(root))
    }
}

fn exists(file: &Path, index: Option<&Index>) -> bool {
    index.map_or_else(|| fs::symlink_metadata(file).is_ok(), |index| index.exists(file))
}

/// An entry that matches no copy any more.
pub(super) struct Stale {
    pub entry: Entry,
    /// The fingerprints of findings that are not accepted, of which it shows that a place is new: its text moved there.
    shows: BTreeSet<String>,
}

impl Stale {
    /// Whether it shows where a copy is new, other than those with these fingerprints, which are accepted. Without it, that would not be known.
    pub fn is_needed(&self, accepted: &BTreeSet<String>) -> bool {
        !self.shows.is_subset(accepted)
    }
}

/// What a run uses the entries of a baseline for. Each is given by its number.
#[derive(Default)]
struct Uses {
    /// Those of which something is left: they are not stale.
    left: BTreeSet<usize>,
    /// The fingerprints of the findings that are not accepted and of which each shows that a place is new.
    shown: BTreeMap<usize, BTreeSet<String>>,
    /// The pages of accepted copies that no entry names.
    renamed: BTreeSet<Renamed>,
}

/// The entries of a baseline, by what was found.
#[derive(Default)]
pub(super) struct Entries {
    /// Not found, although their pages, below the roots, were read or no longer exist.
    pub stale: Vec<Stale>,
    /// Those with the words of a finding.
    found: Vec<Entry>,
    /// Those of pages that were not checked.
    elsewhere: Vec<Entry>,
    /// The pages of accepted copies that no entry names.
    pub renamed: BTreeSet<Renamed>,
}

impl Entries {
    /// Those that are not stale, as far as is known.
    fn valid(&self) -> Vec<Entry> {
        self.elsewhere.iter().chain(&self.found).cloned().collect()
    }

    /// The stale ones that show where copies are new, other than those with these fingerprints.
    fn needed(&self, accepted: &BTreeSet<String>) -> Vec<Entry> {
        self.stale.iter().filter(|stale| stale.is_needed(accepted)).map(|stale| stale.entry.clone()).collect()
    }
}

fn fingerprints<'a>(findings: impl Iterator<Item = &'a Finding>) -> BTreeSet<String> {
    findings.map(|finding| finding.fingerprint.clone()).collect()
}

/// The fingerprints of the findings that are accepted.
pub(super) fn accepted_of(findings: &[Finding]) -> BTreeSet<String> {
    fingerprints(findings.iter().filter(|finding| finding.accepted))
}

impl Baseline {
    /// Reads a baseline. A file that does not exist accepts nothing.
    ///
    /// # Errors
    /// The file cannot be read, or is not a baseline. Such a file must not be replaced either.
    pub fn read(path: &Path) -> Result<Self, Error> {
        Baseline::of(path, read(path))
    }

    /// Reads a baseline as a commit would have it. One that it would not have accepts nothing.
    ///
    /// # Errors
    /// As of [`read`](Self::read); or the file has a conflict.
    pub fn staged(path: &Path, index: &Index) -> Result<Self, Error> {
        match index.setting(&place(path)).map_err(SinceError::Git)? {
            Setting::NotStaged => Baseline::of(path, Ok(None)),
            setting => Baseline::of(path, setting.bytes(|| read(path))),
        }
    }

    fn of(path: &Path, bytes: io::Result<Option<Vec<u8>>>) -> Result<Self, Error> {
        let cannot_read = |error| crate::Error::input(format!("cannot read the baseline {}", path.display()), error);
        let folder = place(path).parent().unwrap_or(Path::new("")).to_path_buf();
        Ok(Baseline { folder, accepted: bytes.map_err(cannot_read)?.map(|bytes| content(path, &bytes)).transpose()? })
    }

    /// Whether the file does not exist.
    pub fn is_missing(&self) -> bool {
        self.accepted.is_none()
    }

    fn entries(&self) -> &[Entry] {
        self.accepted.as_ref().map_or(&[], |accepted| &accepted.accepted)
    }

    /// Whether the file has entries, of whose pages none exists in the repository, if there is one.
    pub fn is_elsewhere(&self, index: Option<&Index>, repository: Option<&Path>) -> bool {
        let mut paths = self.entries().iter().flat_map(|entry| &entry.paths).peekable();
        let is_here = |file: &Path| repository.is_none_or(|root| file.starts_with(root)) && exists(file, index);
        paths.peek().is_some() && !paths.any(|path| is_here(&joined(&self.folder, Path::new(path))))
    }

    /// Whether it is known which pages were there when the file was written, if it exists.
    pub fn knows_pages(&self) -> bool {
        self.accepted.as_ref().is_none_or(|accepted| accepted.pages.is_some())
    }

    /// Marks the accepted findings, and the new places of the others, and grades these again. Returns the entries by what was found.
    /// `covered` is what is not reported because findings cover it.
    pub fn accept(&self, findings: &mut [Finding], covered: &[Finding], checked: &Checked, grader: &Grader) -> Entries {
        let mut uses = self.mark(findings, covered, checked, grader);
        let is_checked = self.is_checked(checked);
        let mut entries = Entries { renamed: std::mem::take(&mut uses.renamed), ..Entries::default() };
        for (number, entry) in self.entries().iter().enumerate() {
            let entry = entry.clone();
            match (entry.paths.iter().all(&is_checked), uses.left.contains(&number)) {
                (false, _) => entries.elsewhere.push(entry),
                (true, true) => entries.found.push(entry),
                (true, false) => {
                    let shows = uses.shown.remove(&number).unwrap_or_default();
                    entries.stale.push(Stale { entry, shows });
                }
            }
        }
        entries.stale.sort_by(|one, other| one.entry.cmp(&other.entry));
        entries
    }

    /// Tells whether the text of a page is known. Findings in pages that exist but were not read may still be valid.
    fn is_checked<'a>(&'a self, checked: &'a Checked) -> impl Fn(&String) -> bool + 'a {
        let pages: BTreeSet<&Path> = checked.tree.pages.iter().map(|page| page.place.as_path()).collect();
        move |path| {
            let file = joined(&self.folder, Path::new(path));
            pages.contains(file.as_path()) || !checked.exists(&file) && checked.is_below_root(&file)
        }
    }

    /// The entries of pages that were not checked because they are not below the paths of the check, or match these globs.
    pub fn unchecked(&self, entries: &Entries, checked: &Checked, ignored: &Globs) -> Option<Unchecked> {
        let is_checked = self.is_checked(checked);
        let is_ignored = |path: &String| ignored.find(&joined(&self.folder, Path::new(path)));
        let is_below = |path: &String| checked.is_below_root(&joined(&self.folder, Path::new(path)));
        let is_left_out = |path: &&String| !is_checked(path) && (is_ignored(path) || !is_below(path));
        let mut pages = entries.elsewhere.iter().filter_map(|entry| entry.paths.iter().find(is_left_out)).peekable();
        let page = (*pages.peek()?).clone();
        Some(Unchecked { is_ignored: is_ignored(&page), page, entries: pages.count() })
    }

    /// Accepts findings: those that `is_selected` says or, without it, all. `entries` are those of [`accept`](Self::accept), and `left` is
    /// how many findings are neither among these nor accepted. If all are accepted, entries that describe them are written anew, with the
    /// reasons that they had. `reason` is that of findings that were not accepted before; without it, they have those of entries with their
    /// words.
    pub fn update(
        &self,
        findings: &mut [Finding],
        entries: &Entries,
        (checked, grader): (&Checked, &Grader),
        is_selected: Option<&dyn Fn(&Finding) -> bool>,
        reason: Option<&str>,
        left: usize,
    ) -> Update {
        if !checked.tree.failed.is_empty() {
            return Update::Refused;
        }
        // Entries of pages that were not checked stay, also if they have words that were found. What they accept is not written twice.
        let number_of_kept = entries.elsewhere.len();
        let mut kept = if is_selected.is_some() { entries.valid() } else { entries.elsewhere.clone() };
        // Those that show where a copy is new are dropped when all of these are accepted.
        let accepted = fingerprints(
            findings
                .iter()
                .filter(|finding| finding.accepted || is_selected.is_none_or(|is_selected| is_selected(finding))),
        );
        let needed = entries.needed(&accepted);
        let (number_of_needed, dropped) = (needed.len(), entries.stale.len() - needed.len());
        let known = AllKnown::new(kept.iter().map(|entry| entry.known(&self.folder)).collect(), checked.min_words);
        let is_kept = |finding: &Finding| match is_selected {
            Some(_) => finding.accepted,
            None => known.look_up(finding, |text, file| checked.times(text, file)).is_accepted(),
        };
        // Those of entries that describe only a part of a copy, such as one place fewer.
        let found = &entries.found;
        let parts = AllKnown::new(found.iter().map(|entry| entry.known(&self.folder)).collect(), checked.min_words);
        let reason_of = |finding: &Finding| {
            let parts = parts.look_up(finding, |text, file| checked.times(text, file)).texts;
            reason.map(String::from).or_else(|| reasons_of(parts.into_iter().map(|part| &found[part])))
        };
        for finding in findings.iter_mut().filter(|finding| !finding.accepted) {
            let is_accepted = is_selected.is_none_or(|is_selected| is_selected(finding));
            finding.reason = if is_accepted { reason_of(finding) } else { None };
        }
        let mut selected: Vec<&mut Finding> =
            findings.iter_mut().filter(|finding| is_selected.is_none_or(|is_selected| is_selected(finding))).collect();
        let written = selected.iter().filter(|finding| !is_kept(finding));
        kept.extend(written.map(|finding| {
            let hidden = grader.hidden(finding);
            Entry::of(finding, &hidden, &self.folder, finding.reason.as_deref())
        }));
        kept.extend(needed);
        let pages = self.pages_after(&kept, checked, is_selected.is_none());
        let roots = self.roots_after(checked, is_selected.is_none());
        let [accepted, new] = [selected.len(), selected.iter().filter(|finding| !finding.accepted).count()];
        selected.iter_mut().for_each(|finding| finding.accepted = true);
        let text = rendered(Content { version: VERSION, accepted: kept, pages: Some(pages), roots });
        let left = left + findings.iter().filter(|finding| !finding.accepted).count();
        Update::Written { text, accepted, new, kept: number_of_kept, dropped, needed: number_of_needed, left }
    }

    /// Drops stale entries, and accepts nothing. Those that show where a copy is new stay. `entries` are those of [`accept`](Self::accept).
    pub fn prune(&self, findings: &[Finding], entries: &Entries, checked: &Checked) -> Update {
        if !checked.tree.failed.is_empty() {
            return Update::Refused;
        }
        let mut kept = entries.valid();
        let number_of_kept = kept.len();
        kept.extend(entries.needed(&accepted_of(findings)));
        let needed = kept.len() - number_of_kept;
        let dropped = entries.stale.len() - needed;
        let text = self.accepted.as_ref().filter(|_| dropped > 0).map(|content| {
            let pages = content.pages.is_some().then(|| self.pages_after(&kept, checked, false));
            rendered(Content { version: VERSION, accepted: kept, pages, roots: content.roots.clone() })
        });
        Update::Pruned { text, dropped, kept: number_of_kept, needed }
    }

    /// The pages to list in the file: those that were there, apart from those that the entries name. If only some findings are accepted, a
    /// page that was added since stays new, and one that only an entry named which is dropped was there.
    fn pages_after(&self, entries: &[Entry], checked: &Checked, is_whole: bool) -> Vec<String> {
        let listed = self.accepted.as_ref().and_then(|accepted| accepted.pages.as_ref());
        let named: BTreeSet<&String> = entries.iter().flat_map(|entry| &entry.paths).collect();
        let is_elsewhere = |path: &&String| !checked.is_below_root(&joined(&self.folder, Path::new(path)));
        let exists = |path: &&String| checked.exists(&joined(&self.folder, Path::new(path)));
        let named_before = self.entries().iter().flat_map(|entry| &entry.paths).filter(exists);
        let named_before = named_before.filter(|_| !is_whole && listed.is_some());
        let old = listed.into_iter().flatten().filter(|path| !is_whole || is_elsewhere(path));
        let old = old.chain(named_before).cloned();
        let read = checked.tree.pages.iter().map(|page| shown(&relative(&self.folder, &page.place)));
        let now = read.filter(|_| is_whole || listed.is_none());
        let pages: BTreeSet<String> = old.chain(now).filter(|path| !named.contains(path)).collect();
        pages.into_iter().collect()
    }

    /// The files and folders to list in the file as checked: those of this check, and those that were listed and still exist. If only some
    /// findings are accepted, pages elsewhere stay new.
    fn roots_after(&self, checked: &Checked, is_whole: bool) -> Option<Vec<String>> {
        let listed = self.roots();
        if !is_whole && self.accepted.as_ref().is_some_and(|accepted| accepted.pages.is_some()) {
            return self.accepted.as_ref()?.roots.clone();
        }
        let known = listed.unwrap_or_default().into_iter().filter(|root| checked.exists(root));
        let all: BTreeSet<PathBuf> = known.chain(checked.roots.iter().cloned()).collect();
        let is_within = |root: &PathBuf| root.ancestors().skip(1).any(|folder| all.contains(folder));
        Some(all.iter().filter(|root| !is_within(root)).map(|root| shown_from(&self.folder, root)).collect())
    }

    /// The files and folders that were checked when the file was written, if it lists them.
    fn roots(&self) -> Option<Vec<PathBuf>> {
        let roots = self.accepted.as_ref()?.roots.as_ref()?;
        Some(roots.iter().map(|root| joined(&self.folder, Path::new(root))).collect())
    }

    /// The findings that are not accepted and have a place in a page that was not checked when the file was written, if there are any.
    pub fn outside(&self, findings: &[Finding]) -> Option<Outside> {
        let (roots, listed) = (self.roots()?, self.pages()?);
        let is_outside = |place: &&Place| {
            let file = &place.page.place;
            !listed.contains(file) && !roots.iter().any(|root| file.starts_with(root))
        };
        let (mut number, mut pages) = (0, BTreeSet::new());
        for finding in findings.iter().filter(|finding| !finding.accepted) {
            let outside: Vec<&Place> = finding.places.iter().filter(is_outside).collect();
            number += usize::from(!outside.is_empty());
            pages.extend(outside.into_iter().map(|place| place.path().to_string()));
        }
        let here = place(Path::new("."));
        (number > 0).then(|| Outside {
            findings: number,
            pages: pages.into_iter().collect(),
            roots: roots.iter().map(|root| shown_from(&here, root)).collect(),
        })
    }

    /// The pages that were there when the file was written, if it lists them.
    fn pages(&self) -> Option<BTreeSet<PathBuf>> {
        let accepted = self.accepted.as_ref()?;
        let named = accepted.accepted.iter().flat_map(|entry| &entry.paths);
        Some(accepted.pages.as_ref()?.iter().chain(named).map(|path| joined(&self.folder, Path::new(path))).collect())
    }

    /// Marks the accepted findings, and the new places of the others. Returns what the entries are used for.
    fn mark(&self, findings: &mut [Finding], covered: &[Finding], checked: &Checked, grader: &Grader) -> Uses {
        let known = self.entries().iter().map(|entry| entry.known(&self.folder)).collect();
        let known = AllKnown::new(known, checked.min_words);
        let has_pairs = self.entries().iter().any(|entry| entry.fingerprint.is_some());
        let pages = self.pages();
        let mut uses = Uses::default();
        // The findings with the words of each entry, also in a part, and whether they have most of them.
        let mut with_words: BTreeMap<usize, BTreeMap<usize, bool>> = BTreeMap::new();
        for (number, finding) in findings.iter_mut().enumerate() {
            let found = known.look_up(finding, |text, file| checked.times_since(text, file));
            found
                .of_entries()
                .for_each(|(entry, most)| *with_words.entry(entry).or_default().entry(number).or_default() |= most);
            let mut accepted_by = found.accepted_by;
            finding.accepted = !accepted_by.is_empty();
            if has_pairs && !finding.accepted {
                accepted_by = self.pairs_of(finding);
                finding.accepted = accepted_by.len() + 1 >= finding.places.len();
            }
            uses.left.extend(accepted_by.iter().copied());
            if finding.accepted {
                uses.renamed.extend(self.renamed(finding, &accepted_by, checked));
                finding.reason = reasons_of(accepted_by.into_iter().map(|number| &self.entries()[number]));
                continue;
            }
            if checked.changes.is_some() {
                // Whether an entry is stale does not depend on the commit.
                uses.left.extend(known.look_up(finding, |text, file| checked.times(text, file)).accepted_by);
            }
            // Of a text that no entry has, a page that was not there yet is where it is new.
            let in_new_pages = || {
                let is_new = |place: &Place| pages.as_ref().is_some_and(|pages| !pages.contains(&place.page.place));
                finding.places.iter().map(is_new).collect::<Vec<bool>>()
            };
            let shown = found.new.filter(|new| new.contains(&true));
            if shown.is_some() {
                for entry in found.texts {
                    uses.shown.entry(entry).or_default().insert(finding.fingerprint.clone());
                }
            }
            let new = shown.unwrap_or_else(in_new_pages);
            if new.contains(&true) {
                finding.mark_new(&new);
                grader.grade(finding);
            }
        }
        for (number, finding) in covered.iter().enumerate() {
            let found = known.look_up(finding, |text, file| checked.times(text, file));
            let number = findings.len() + number;
            found
                .of_entries()
                .for_each(|(entry, most)| *with_words.entry(entry).or_default().entry(number).or_default() |= most);
            uses.left.extend(found.accepted_by);
        }
        let all: Vec<&Finding> = findings.iter().chain(covered).collect();
        for (entry, found) in with_words {
            let found: Vec<(&Finding, bool)> = found.into_iter().map(|(number, most)| (all[number], most)).collect();
            if self.is_left(entry, &found, checked, grader) {
                uses.left.insert(entry);
            }
        }
        uses
    }

    /// The pages of an accepted finding that the entries which accept it do not name, each with a page that they name and that is gone.
    fn renamed(&self, finding: &Finding, accepted_by: &[usize], checked: &Checked) -> Vec<Renamed> {
        let paths = accepted_by.iter().flat_map(|&number| &self.entries()[number].paths);
        let named: BTreeSet<PathBuf> = paths.map(|path| joined(&self.folder, Path::new(path))).collect();
        let has_name = |place: &&Place| place.origin == Origin::Version || named.contains(&place.page.place);
        let mut pages: Vec<&str> = finding.places.iter().filter(|place| !has_name(place)).map(Place::path).collect();
        pages.dedup();
        if pages.is_empty() {
            return Vec::new();
        }
        let gone: Vec<&PathBuf> = named.iter().filter(|file| !checked.exists(file)).collect();
        let here = place(Path::new("."));
        // Two places in a page that is gone may be one in each of two pages.
        let of_page = |(number, page): (usize, &str)| {
            let gone = gone.get(number).or(gone.last())?;
            Some(Renamed { page: page.into(), gone: shown_from(&here, gone) })
        };
        pages.into_iter().enumerate().filter_map(of_page).collect()
    }

    /// Whether something of what an entry accepts is left, given the findings with its words, and which of these have most of them: two of
    /// its paths are places of these, or whole copies that they do not list. A page that does not exist any more may have another name, if
    /// a finding has most of the words. If the text moved from one of two pages to a third, nothing is left.
    fn is_left(&self, entry: usize, found: &[(&Finding, bool)], checked: &Checked, grader: &Grader) -> bool {
        let paths = self.entries()[entry].paths.iter().map(|path| joined(&self.folder, Path::new(path)));
        let paths: Vec<PathBuf> = paths.collect();
        let may_be_renamed = found.iter().any(|&(_, has_most)| has_most);
        let has_two = |pages: &BTreeSet<&Path>| {
            let is_there = |path: &&PathBuf| pages.contains(path.as_path()) || may_be_renamed && !checked.exists(path);
            paths.iter().filter(is_there).take(2).count() == 2
        };
        let mut pages: BTreeSet<&Path> =
            found.iter().flat_map(|(finding, _)| &finding.places).map(|place| place.page.place.as_path()).collect();
        has_two(&pages) || {
            let hidden = found.iter().flat_map(|(finding, _)| grader.hidden(finding));
            pages.extend(hidden.map(|page| page.place.as_path()));
            has_two(&pages)
        }
    }

    /// The entries of version 1 with two places of a finding. One fewer than its places accept it.
    fn pairs_of(&self, finding: &Finding) -> Vec<usize> {
        let hash = |place: &Place| format!("{:016x}", place.page.hash(&place.words));
        let hashes: BTreeSet<String> = finding.places.iter().map(hash).collect();
        let paths = Entry::of(finding, &[], &self.folder, None).paths;
        let of_pair = |(_, entry): &(usize, &Entry)| entry.is_pair_of(&hashes, &paths);
        self.entries().iter().enumerate().filter(of_pair).map(|(number, _)| number).collect()
    }
}

/// The reasons of some entries, each once, in their order.
fn reasons_of<'a>(entries: impl Iterator<Item = &'a Entry>) -> Option<String> {
    let mut reasons: Vec<&str> = Vec::new();
    for reason in entries.filter_map(Entry::reason) {
        if !reasons.contains(&reason) {
            reasons.push(reason);
        }
    }
    (!reasons.is_empty()).then(|| reasons.join("; "))
}

/// A path relative to a folder, `.` for the folder itself.
fn shown_from(folder: &Path, path: &Path) -> String {
    match relative(folder, path) {
        same if same.as_os_str().is_empty() => ".".into(),
        other => shown(&other),
    }
}

/// The content of the file. `None` if it does not exist.
fn read(path: &Path) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    let file = open_regular(path, OpenOptions::new().read(true), Links::Followed);
    match file.and_then(|mut file| file.read_to_end(&mut bytes)) {
        Ok(_) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Parses the content of a baseline file. `path` is for messages.
///
/// # Errors
/// It is not a baseline: the error names the line.
pub fn parse(path: &Path, bytes: &[u8]) -> Result<Vec<Entry>, InvalidBaseline> {
    Ok(content(path, bytes)?.accepted)
}

fn content(path: &Path, bytes: &[u8]) -> Result<Content, InvalidBaseline> {
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
    let content = serde_json::from_str(text.strip_prefix('\u{feff}').unwrap_or(text)).map_err(|error| {
        let place = format!(" at line {} column {}", error.line(), error.column());
        let what = error.to_string();
        invalid(error.line(), error.column().max(1), what.strip_suffix(&place).unwrap_or(&what))
    });
    content.map(|mut content: Content| {
        content.accepted.iter_mut().zip(lines_of_entries(text)).for_each(|(entry, line)| entry.line = line);
        content
    })
}

/// The lines where the entries of a valid baseline start: of its objects, these are the ones within another one.
fn lines_of_entries(text: &str) -> Vec<usize> {
    let (mut line, mut depth, mut lines) = (1, 0, Vec::new());
    let (mut is_in_string, mut is_escaped) = (false, false);
    for byte in text.bytes() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = is_in_string,
            b'"' => is_in_string = !is_in_string,
            b'\n' => line += 1,
            b'{' if !is_in_string => {
                depth += 1;
                lines.extend((depth == 2).then_some(line));
            }
            b'}' if !is_in_string => depth -= 1,
            _ => {}
        }
    }
    lines
}

/// The text of a baseline with these entries.
pub fn render(accepted: Vec<Entry>) -> String {
    rendered(Content { version: VERSION, accepted, pages: None, roots: None })
}

fn rendered(mut content: Content) -> String {
    content
        .accepted
        .sort_unstable_by(|x, y| (&x.paths, &x.words, &x.fingerprint).cmp(&(&y.paths, &y.words, &y.fingerprint)));
    serde_json::to_string_pretty(&content).expect("strings make JSON") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_have_their_lines() {
        let entry =
            |text: &str| format!("{{\"kind\":\"passage\",\"paths\":[\"a.md\",\"b.md\"],\n\n\"text\":\"{text}\"}}");
        let text = format!(
            "{{\"version\":2,\"pages\":[\"{{.md\"],\"accepted\":[\n{},{},\n\n {}\n]}}\n",
            entry("x } \\\" { \\\\"),
            entry("{{"),
            entry("é")
        );
        let lines = |text: &str| {
            parse(Path::new("b.json"), text.as_bytes()).unwrap().iter().map(|entry| entry.line).collect::<Vec<_>>()
        };
        assert_eq!(lines(&text), [2, 4, 8]);
        assert_eq!(lines(&format!("\u{feff}{text}")), [2, 4, 8]);
        assert_eq!(lines("{\"version\":2,\"accepted\":[]}"), Vec::<usize>::new());
    }
}
