//! Which findings count: what the configuration says of some files.

use super::config::{Check, Config, Rule};
use super::globs::Lists;
use super::pages::Page;
use neardups::Error;
use neardups::check::find::{Finding, Kind, Place, size};
use std::collections::BTreeMap;

/// What the configuration says of some files.
pub struct Rules {
    allow: Lists,
    finding: Lists,
    rules: Vec<Rule>,
}

/// What is done with a finding that counts at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Told,
    /// Copies between these files are as they should be.
    Allowed,
}

impl Rules {
    pub fn new(check: &Check, config: &Config) -> Result<Self, Error> {
        let base = config.base()?;
        let allow: Vec<&[String]> = check.allow.iter().map(|allow| &allow.paths[..]).collect();
        let rules: Vec<&[String]> = check.rule.iter().map(|rule| &rule.paths[..]).collect();
        let [allow, finding] = [allow, rules].map(|lists| Lists::new(&base, &lists).map_err(Error::Usage));
        Ok(Rules { allow: allow?, finding: finding?, rules: check.rule.clone() })
    }

    /// The same, for these pages.
    pub fn of<'a>(&'a self, pages: &'a [Page]) -> Scopes<'a> {
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
pub struct Scopes<'a> {
    /// The number of the scope of each page.
    pub of_page: Vec<usize>,
    scopes: Vec<Scope>,
    rules: &'a [Rule],
    pages: &'a [Page],
}

impl Scopes<'_> {
    /// What is done with a finding. `None` if it does not reach what is asked of these files.
    pub fn verdict(&self, finding: &Finding) -> Option<Verdict> {
        let [a, b] = [&finding.a, &finding.b].map(|place| &self.scopes[self.of_page[place.document]]);
        let mut rules = a.rules.iter().chain(&b.rules).map(|&number| &self.rules[number]);
        let is_allowed = || a.allow.iter().any(|number| b.allow.binary_search(number).is_ok());
        match rules.all(|rule| self.reaches(finding, rule)) {
            false => None,
            true if is_allowed() => Some(Verdict::Allowed),
            true => Some(Verdict::Told),
        }
    }

    fn reaches(&self, finding: &Finding, rule: &Rule) -> bool {
        let [a, b] = finding.containment().map(|part| part.value());
        // A file counts too if enough of it is in the other.
        let alike = match finding.kind {
            Kind::File => a.max(b),
            Kind::Passage | Kind::Paragraph => finding.similarity().value(),
        };
        rule.similarity.is_none_or(|least| alike >= least)
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
