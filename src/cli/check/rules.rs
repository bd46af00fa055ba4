//! Which findings count: what the configuration says of some files.

use super::config::{Check, Config, Rule};
use super::globs::Globs;
use super::pages::Page;
use neardups::Error;
use neardups::check::{Finding, Kind};

/// What the configuration says of some files.
pub struct Rules {
    allow: Vec<Globs>,
    rules: Vec<(Globs, Rule)>,
}

/// What is done with a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Counts,
    /// Copies between these files are as they should be.
    Allowed,
    /// It does not reach what is asked of these files.
    TooLittle,
}

impl Rules {
    pub fn new(check: &Check, config: &Config) -> Result<Self, Error> {
        let allow = check.allow.iter().map(|allow| config.globs(&allow.paths));
        let rules = check.rule.iter().map(|rule| Ok((config.globs(&rule.paths)?, rule.clone())));
        Ok(Rules { allow: allow.collect::<Result<_, Error>>()?, rules: rules.collect::<Result<_, Error>>()? })
    }

    pub fn verdict(&self, pages: &[Page], finding: &Finding) -> Verdict {
        let places = [&finding.a, &finding.b].map(|place| pages[place.document].place.as_path());
        if !self
            .rules
            .iter()
            .filter(|(globs, _)| places.iter().any(|place| globs.find(place)))
            .all(|(_, rule)| reaches(finding, rule))
        {
            Verdict::TooLittle
        } else if self.allow.iter().any(|globs| places.iter().all(|place| globs.find(place))) {
            Verdict::Allowed
        } else {
            Verdict::Counts
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
