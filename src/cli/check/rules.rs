//! Which findings count: what the configuration says of some files.

use super::config::{Check, Config, Rule};
use super::globs::Globs;
use super::pages::Page;
use neardups::Error;
use neardups::check::{Finding, Kind};
use std::collections::BTreeMap;

/// What the configuration says of some files.
pub struct Rules {
    allow: Vec<Globs>,
    rules: Vec<(Globs, Rule)>,
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
        let allow = check.allow.iter().map(|allow| config.globs(&allow.paths));
        let rules = check.rule.iter().map(|rule| Ok((config.globs(&rule.paths)?, rule.clone())));
        Ok(Rules { allow: allow.collect::<Result<_, Error>>()?, rules: rules.collect::<Result<_, Error>>()? })
    }

    /// The same, for these pages.
    pub fn of(&self, pages: &[Page]) -> Scopes<'_> {
        let mut numbers = BTreeMap::new();
        let mut scopes = Vec::new();
        let of_page = pages.iter().map(|page| {
            let finds = |globs: &Globs| globs.find(&page.place);
            let scope = Scope {
                allow: self.allow.iter().map(finds).collect(),
                rules: self.rules.iter().map(|(globs, _)| finds(globs)).collect(),
            };
            *numbers.entry(scope.clone()).or_insert_with(|| {
                scopes.push(scope);
                scopes.len() - 1
            })
        });
        Scopes { of_page: of_page.collect(), rules: &self.rules, scopes }
    }
}

/// Which of the entries and rules are about a page.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Scope {
    allow: Vec<bool>,
    rules: Vec<bool>,
}

/// What is asked of each page.
pub struct Scopes<'a> {
    /// The number of the scope of each page.
    pub of_page: Vec<usize>,
    scopes: Vec<Scope>,
    rules: &'a [(Globs, Rule)],
}

impl Scopes<'_> {
    /// What is done with a finding. `None` if it does not reach what is asked of these files.
    pub fn verdict(&self, finding: &Finding) -> Option<Verdict> {
        let [a, b] = [&finding.a, &finding.b].map(|place| &self.scopes[self.of_page[place.document]]);
        let mut rules = self.rules.iter().zip(a.rules.iter().zip(&b.rules));
        let is_allowed = || a.allow.iter().zip(&b.allow).any(|(a, b)| *a && *b);
        match rules.all(|((_, rule), (a, b))| !(*a || *b) || reaches(finding, rule)) {
            false => None,
            true if is_allowed() => Some(Verdict::Allowed),
            true => Some(Verdict::Told),
        }
    }
}

fn reaches(finding: &Finding, rule: &Rule) -> bool {
    let words = finding.a.words.len().max(finding.b.words.len());
    let [a, b] = finding.containment().map(|part| part.value());
    // A file counts too if enough of it is in the other.
    let alike = match finding.kind {
        Kind::File => a.max(b),
        Kind::Passage | Kind::Paragraph => finding.similarity().value(),
    };
    rule.min_words.is_none_or(|fewest| words >= fewest) && rule.similarity.is_none_or(|least| alike >= least)
}
