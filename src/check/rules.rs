//! Which findings count: some files may have copies, and of some more is asked.

use super::error::{Error, List};
use super::find::{Finding, Kind, Place, size};
use super::globs::Lists;
use super::pages::Page;
use crate::similarity::Threshold;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// Copies between files that these globs match are accepted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Allow {
    /// Globs as in `.gitignore`. Both places of a finding must be in one of these files.
    pub paths: Vec<String>,
    /// Why.
    pub reason: String,
}

/// A finding that touches a file that these globs match must reach these thresholds too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Globs as in `.gitignore`.
    pub paths: Vec<String>,
    /// The fewest words.
    pub min_words: Option<usize>,
    /// How similar the places are; of a file, also how much of it is in the other.
    pub similarity: Option<Threshold>,
}

/// What is asked of some files.
pub(super) struct Rules {
    allow: Lists,
    finding: Lists,
    rules: Vec<Rule>,
}

/// What is done with a finding that reaches what the rules ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Reported,
    /// Copies between these files are as they should be.
    Allowed,
}

impl Rules {
    /// Globs start from a folder, whose path is absolute and without links.
    ///
    /// # Errors
    /// Some cannot be used together.
    pub fn new(base: &Path, allow: &[Allow], rules: &[Rule]) -> Result<Self, Error> {
        let lists = |list: List, lists: Vec<&[String]>| {
            Lists::new(base, &lists).map_err(|message| Error::Globs { list, message })
        };
        Ok(Rules {
            allow: lists(List::Allow, allow.iter().map(|allow| &allow.paths[..]).collect())?,
            finding: lists(List::Rules, rules.iter().map(|rule| &rule.paths[..]).collect())?,
            rules: rules.to_vec(),
        })
    }

    /// The same, for these pages.
    pub fn of<'a>(&'a self, pages: &'a [Arc<Page>]) -> Scopes<'a> {
        let mut numbers = BTreeMap::new();
        let mut scopes = Vec::new();
        let of_page = pages.iter().map(|page| {
            let scope = Scope { allow: self.allow.find(&page.place), rules: self.finding.find(&page.place) };
            *numbers.entry(scope.clone()).or_insert_with(|| {
                scopes.push(scope);
                scopes.len() - 1
            })
        });
        Scopes { of_page: of_page.collect(), rules: &self.rules, pages, scopes }
    }
}

/// The numbers of the entries and rules that are about a page, ascending.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Scope {
    allow: Vec<usize>,
    rules: Vec<usize>,
}

/// What is asked of each page.
pub(super) struct Scopes<'a> {
    /// The number of the scope of each page.
    pub of_page: Vec<usize>,
    scopes: Vec<Scope>,
    rules: &'a [Rule],
    pages: &'a [Arc<Page>],
}

impl Scopes<'_> {
    /// What is done with a finding. `None` if it does not reach what the rules ask of these files.
    pub fn verdict(&self, finding: &Finding) -> Option<Verdict> {
        let [a, b] = [&finding.a, &finding.b].map(|place| &self.scopes[self.of_page[place.document]]);
        let mut rules = a.rules.iter().chain(&b.rules).map(|&number| &self.rules[number]);
        let is_allowed = || a.allow.iter().any(|number| b.allow.binary_search(number).is_ok());
        match rules.all(|rule| self.reaches(finding, rule)) {
            false => None,
            true if is_allowed() => Some(Verdict::Allowed),
            true => Some(Verdict::Reported),
        }
    }

    fn reaches(&self, finding: &Finding, rule: &Rule) -> bool {
        let [a, b] = [&finding.a, &finding.b].map(|place| place.words.len());
        // A file counts too if enough of it is in the other.
        let [part, whole] = match finding.kind {
            Kind::File => [finding.matched, a.min(b)],
            Kind::Passage | Kind::Paragraph => [2 * finding.matched, a + b],
        };
        rule.similarity.is_none_or(|least| least.reached_by(part as u64, whole as u64))
            && rule.min_words.is_none_or(|fewest| self.is_long(finding, fewest))
    }

    /// Whether it has so many words, which count as they do for the options: of passages, those that do not match twice.
    fn is_long(&self, finding: &Finding, fewest: usize) -> bool {
        let words = |place: &Place| &self.pages[place.document].words()[place.words.clone()];
        let [a, b] = [words(&finding.a), words(&finding.b)];
        let longer = if b.len() > a.len() { b } else { a };
        let size = match finding.kind {
            // Each word is half a one at least. What a large page holds is not counted anew with each page that it holds.
            Kind::File if longer.len() >= 2 * fewest => return true,
            Kind::File | Kind::Paragraph => size(a).max(size(b)),
            Kind::Passage => {
                let words = self.pages[finding.a.document].words();
                let matched: usize = finding.runs.iter().map(|run| size(&words[run.a..run.a + run.tokens])).sum();
                (2 * size(longer)).saturating_sub(matched)
            }
        };
        size >= fewest
    }
}
