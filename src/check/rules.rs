//! Which findings count: some files may have copies, and some have stricter thresholds.

use super::error::{Error, List};
use super::find::{Finding, Kind, Place, size};
use super::globs::Lists;
use super::grade::{Grade, Preset};
use super::pages::Page;
use crate::similarity::Threshold;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Accepts copies between files that match these globs, or a text in any file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Allow {
    /// Globs as in `.gitignore`. Both places of a finding must be in one of these files.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<String>,
    /// Lists of such globs: the two places of a finding may be in files of two different lists.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub between: Vec<Vec<String>>,
    /// A text whose words do not count wherever they are, as plain text. Words are compared as those of pages are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Why they are accepted.
    pub reason: String,
}

impl Allow {
    /// All of its lists, that of both places first.
    pub(super) fn lists(&self) -> impl Iterator<Item = &[String]> {
        std::iter::once(&self.paths[..]).chain(self.between.iter().map(|globs| &globs[..]))
    }
}

/// A finding in a file that matches these globs must also reach these thresholds, and has at most this grade.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rule {
    /// Globs as in `.gitignore`.
    pub paths: Vec<String>,
    /// Minimum length, in words.
    pub min_words: Option<usize>,
    /// Minimum similarity of the places; for a file, also the minimum share that is contained in the other.
    pub similarity: Option<Threshold>,
    /// The highest grade of a finding.
    pub grade: Option<Grade>,
    /// What these files are.
    pub preset: Option<Preset>,
}

/// What the rules say about a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct OfFile {
    /// The highest grade of its findings.
    pub grade: Option<Grade>,
    pub presets: Vec<Preset>,
    /// The entries that accept copies in it.
    pub allow: Vec<Side>,
}

impl OfFile {
    /// Whether copies between this file and another one are accepted.
    pub fn accepts(&self, other: &OfFile) -> bool {
        accepting(&self.allow, &other.allow).next().is_some()
    }
}

/// The rules of a request.
pub(super) struct Rules {
    /// The lists of all entries, one after the other.
    allow: Lists,
    sides: Vec<Side>,
    finding: Lists,
    rules: Vec<Rule>,
    /// How many entries accept copies.
    entries: usize,
}

/// What happens to a finding that reaches the thresholds of the rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Reported,
    /// Copies between these files are accepted.
    Allowed,
}

impl Rules {
    /// `base` is the folder that globs are relative to, as an absolute path without links.
    ///
    /// # Errors
    /// A glob is invalid, or there are too many.
    pub fn new(base: &Path, allow: &[Allow], rules: &[Rule]) -> Result<Self, Error> {
        let lists = |list: List, lists: Vec<&[String]>| {
            Lists::new(base, &lists).map_err(|message| Error::Globs { list, message })
        };
        let of_entry = |(entry, allow): (usize, &Allow)| {
            let between = (0..allow.between.len()).map(move |list| Side { entry, between: Some(list) });
            std::iter::once(Side { entry, between: None }).chain(between).collect::<Vec<_>>()
        };
        let of_allow = |allow: &'_ Allow| allow.lists().map(<[String]>::to_vec).collect::<Vec<_>>();
        let all: Vec<Vec<String>> = allow.iter().flat_map(of_allow).collect();
        Ok(Rules {
            allow: lists(List::Allow, all.iter().map(|globs| &globs[..]).collect())?,
            sides: allow.iter().enumerate().flat_map(of_entry).collect(),
            finding: lists(List::Rules, rules.iter().map(|rule| &rule.paths[..]).collect())?,
            rules: rules.to_vec(),
            entries: allow.len(),
        })
    }

    /// What the rules say about a file, given as an absolute path without links.
    pub fn of_file(&self, place: &Path) -> OfFile {
        let allow = self.allow_of(place);
        if self.rules.iter().all(|rule| rule.grade.is_none() && rule.preset.is_none()) {
            return OfFile { allow, ..OfFile::default() };
        }
        let numbers = self.finding.find(place);
        let rules = || numbers.iter().map(|&number| &self.rules[number]);
        OfFile {
            grade: rules().filter_map(|rule| rule.grade).min(),
            presets: rules().filter_map(|rule| rule.preset).collect(),
            allow,
        }
    }

    /// The entries that accept copies in a file.
    fn allow_of(&self, place: &Path) -> Vec<Side> {
        self.allow.find(place).into_iter().map(|list| self.sides[list]).collect()
    }

    /// The rules that apply to each of these pages.
    pub fn of<'a>(&'a self, pages: &'a [Arc<Page>]) -> Scopes<'a> {
        let mut numbers = BTreeMap::new();
        let mut scopes = Vec::new();
        let of_page = pages.iter().map(|page| {
            let scope = Scope { allow: self.allow_of(&page.place), rules: self.finding.find(&page.place) };
            *numbers.entry(scope.clone()).or_insert_with(|| {
                scopes.push(scope);
                scopes.len() - 1
            })
        });
        let has_accepted = std::iter::repeat_with(AtomicBool::default).take(self.entries).collect();
        Scopes { of_page: of_page.collect(), rules: &self.rules, pages, scopes, has_accepted }
    }
}

/// An entry that accepts copies, and which of its lists a page is in: that of both places if it is `None`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Side {
    entry: usize,
    between: Option<usize>,
}

impl Side {
    /// Whether it accepts copies between a page of this list and one of another.
    fn accepts(self, other: Side) -> bool {
        let is_between = self.between.is_some() && other.between.is_some() && self.between != other.between;
        self.entry == other.entry && (is_between || self.between.is_none() && other.between.is_none())
    }
}

/// Those of one file that accept copies between it and another file, given those of that.
fn accepting<'a>(one: &'a [Side], other: &'a [Side]) -> impl Iterator<Item = &'a Side> {
    one.iter().filter(|one| other.iter().any(|other| one.accepts(*other)))
}

/// The entries, and the indices of the rules, that apply to a page, ascending.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Scope {
    allow: Vec<Side>,
    rules: Vec<usize>,
}

/// The rules that apply to each page.
pub(super) struct Scopes<'a> {
    /// The number of the scope of each page.
    pub of_page: Vec<usize>,
    scopes: Vec<Scope>,
    rules: &'a [Rule],
    pages: &'a [Arc<Page>],
    /// Whether each entry accepted one of the findings so far.
    has_accepted: Vec<AtomicBool>,
}

impl Scopes<'_> {
    /// What happens to a finding. `None` if it does not reach the thresholds for these files.
    pub fn verdict(&self, finding: &Finding) -> Option<Verdict> {
        let [a, b] = [&finding.a, &finding.b].map(|place| &self.scopes[self.of_page[place.document]]);
        let mut rules = a.rules.iter().chain(&b.rules).map(|&number| &self.rules[number]);
        if !rules.all(|rule| self.reaches(finding, rule)) {
            return None;
        }
        let mut verdict = Verdict::Reported;
        for Side { entry, .. } in accepting(&a.allow, &b.allow) {
            self.has_accepted[*entry].store(true, Ordering::Relaxed);
            verdict = Verdict::Allowed;
        }
        Some(verdict)
    }

    /// The entries that accepted none of the findings so far, by index.
    pub fn idle(&self) -> Vec<usize> {
        let accepted = |entry: &usize| self.has_accepted[*entry].load(Ordering::Relaxed);
        (0..self.has_accepted.len()).filter(|entry| !accepted(entry)).collect()
    }

    fn reaches(&self, finding: &Finding, rule: &Rule) -> bool {
        let [a, b] = [&finding.a, &finding.b].map(|place| place.words.len());
        // A file also counts if enough of it is contained in the other.
        let [part, whole] = match finding.kind {
            Kind::File => [finding.matched, a.min(b)],
            Kind::Passage | Kind::Paragraph => [2 * finding.matched, a + b],
        };
        rule.similarity.is_none_or(|least| least.reached_by(part as u64, whole as u64))
            && rule.min_words.is_none_or(|min_words| self.is_long(finding, min_words))
    }

    /// Whether its longer place has at least `min_words`.
    fn is_long(&self, finding: &Finding, min_words: usize) -> bool {
        let words = |place: &Place| &self.pages[place.document].words()[place.words.clone()];
        let [a, b] = [words(&finding.a), words(&finding.b)];
        // Each word counts at least half. This avoids counting a large page again for each page that it contains.
        a.len().max(b.len()) >= 2 * min_words || size(a).max(size(b)) >= min_words
    }
}
