//! The places of a finding as reports list them, and links to them.

use super::super::finding::{Finding, Place};
use super::super::link::Link;
use super::super::outcome::Outcome;
use super::super::pages::Page;
use crate::readable::counted;
use std::fs;
use std::path::PathBuf;

/// The places besides the primary one: first the one that is shown with it, then the rest in order. At most `limit`; and how many more
/// there are.
pub(super) fn others(finding: &Finding, limit: usize) -> (Vec<&Place>, usize) {
    let (_, shown) = finding.shown().primary_first();
    let is_shown = |place: &&Place| place.page.place == shown.page.place && place.words == shown.words;
    let rest = finding.others().filter(|place| !is_shown(place));
    let places: Vec<&Place> = std::iter::once(shown).chain(rest).take(limit).collect();
    let more = finding.places.len() - 1 - places.len();
    (places, more)
}

/// `and 3 more places`, after a separator; empty if there are none.
pub(super) fn and_more(separator: &str, more: usize) -> String {
    if more == 0 { String::new() } else { format!("{separator}and {}", counted(more as u64, "more place")) }
}

/// The other places as `also at PATH:LINE, PATH:LINE and 3 more places`.
pub(super) fn also_at(finding: &Finding, limit: usize, path: impl Fn(&Place) -> String) -> String {
    let (places, more) = others(finding, limit);
    let places: Vec<String> =
        places.iter().map(|place| format!("{}:{}", path(place), place.stretch.start.line)).collect();
    format!("also at {}{}", places.join(", "), and_more(" ", more))
}

/// Why a finding is not an error, in brackets after a blank; empty for errors.
pub(super) fn reasons(finding: &Finding) -> String {
    let reasons: Vec<String> = finding.reasons.iter().map(ToString::to_string).collect();
    if reasons.is_empty() { String::new() } else { format!(" ({})", reasons.join("; ")) }
}

/// The links of a report.
pub(super) struct Links<'a> {
    template: Option<&'a Link>,
    /// The folder that the paths of links are relative to: the root of the repository, else the current folder.
    root: Option<PathBuf>,
}

impl<'a> Links<'a> {
    /// The links of the places in an outcome.
    pub fn new(outcome: &'a Outcome) -> Self {
        Links { template: outcome.link.as_ref(), root: outcome.root.clone().or_else(|| fs::canonicalize(".").ok()) }
    }

    /// The template for a page. `None` without a template, and for a page outside of the root.
    pub fn page(&self, page: &Page) -> Option<String> {
        let (template, root) = (self.template?, self.root.as_ref()?);
        Some(template.page(page.place.strip_prefix(root).ok()?, root))
    }

    /// The link to a place.
    pub fn place(&self, place: &Place) -> Option<String> {
        let (start, end) = (place.stretch.start, place.stretch.end);
        let numbers = [("{line}", start.line), ("{end}", end.line), ("{column}", start.column)];
        let link = self.page(&place.page)?;
        Some(numbers.iter().fold(link, |link, (name, number)| link.replace(name, &number.to_string())))
    }
}
