//! The places of a finding as reports list them, and links to them.

use super::super::finding::{Finding, Place};
use super::super::link::Link;
use super::super::outcome::Outcome;
use super::super::pages::Page;
use crate::readable::counted;
use std::borrow::Cow;
use std::fs;
use std::path::PathBuf;

/// Maximum number of new places of a finding that are listed, and of those that are annotated.
pub(super) const MAX_NEW: usize = 20;

/// The places of a finding besides the primary one.
pub(super) struct Others<'a> {
    pub places: Vec<&'a Place>,
    /// How many more there are, and how many of these are new.
    pub more: usize,
    pub more_new: usize,
}

/// First the place that is shown with the primary one, then those that are new, then the rest in order. At most `limit`, but new ones up to
/// [`MAX_NEW`].
pub(super) fn others(finding: &Finding, limit: usize) -> Others<'_> {
    let pair = finding.shown();
    let shown = pair.indices[1 - pair.primary];
    let mut order: Vec<usize> = (0..finding.places.len()).filter(|&index| index != finding.primary).collect();
    order.sort_by_key(|&index| (index != shown, !finding.places[index].is_new));
    let first = order.iter().rposition(|&index| finding.places[index].is_new).map_or(0, |last| last + 1);
    let rest = order.split_off(order.len().min(limit.max(first.min(MAX_NEW))));
    let more_new = rest.iter().filter(|&&index| finding.places[index].is_new).count();
    Others { places: order.iter().map(|&index| &finding.places[index]).collect(), more: rest.len(), more_new }
}

/// The finding as it is, and then once more for each other new place that is to be changed, with that as the primary place.
pub(super) fn annotated(finding: &Finding) -> Vec<Cow<'_, Finding>> {
    let kept = finding.proposal.as_ref().map(|proposal| finding.places[proposal.keep].path());
    let is_annotated = |index: &usize| {
        let place = &finding.places[*index];
        *index != finding.primary && place.is_new && !place.is_lesser && Some(place.path()) != kept
    };
    let others = (0..finding.places.len()).filter(is_annotated).take(MAX_NEW - 1);
    let at = |index: usize| {
        let mut other = finding.clone();
        other.look_at(index);
        Cow::Owned(other)
    };
    std::iter::once(Cow::Borrowed(finding)).chain(others.map(at)).collect()
}

/// `and 3 more places, 2 of them new`, after a separator; empty if there are none.
pub(super) fn and_more(separator: &str, more: usize, new: usize) -> String {
    let of_them = if new == 0 { String::new() } else { format!(", {new} of them new") };
    if more == 0 { String::new() } else { format!("{separator}and {}{of_them}", counted(more as u64, "more place")) }
}

/// The other places as `also at PATH:LINE, PATH:LINE (new) and 3 more places`.
pub(super) fn also_at(finding: &Finding, limit: usize, path: impl Fn(&Place) -> String) -> String {
    let Others { places, more, more_new } = others(finding, limit);
    let name = |place: &&Place| {
        format!("{}:{}{}", path(place), place.stretch.start.line, if place.is_new { " (new)" } else { "" })
    };
    let places: Vec<String> = places.iter().map(name).collect();
    format!("also at {}{}", places.join(", "), and_more(" ", more, more_new))
}

/// Why a finding is not an error, in brackets after a blank; empty for errors.
pub(super) fn reasons(finding: &Finding) -> String {
    in_brackets(&finding.reason_texts())
}

/// As [`reasons`], with the paths of places for code hosting services.
pub(super) fn reasons_in(outcome: &Outcome, finding: &Finding) -> String {
    in_brackets(&finding.reason_texts_with(|place| outcome.path(place)))
}

fn in_brackets(reasons: &[String]) -> String {
    if reasons.is_empty() { String::new() } else { format!(" ({})", reasons.join("; ")) }
}

/// That a finding is accepted, and why, in brackets after a blank; empty if it is not.
pub(super) fn accepted(finding: &Finding) -> String {
    match finding.shown_reason() {
        _ if !finding.accepted => String::new(),
        Some(reason) => format!(" (accepted: {reason})"),
        None => " (accepted)".into(),
    }
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
