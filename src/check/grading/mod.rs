//! Grades: how much each finding is worth a reviewer's time.
//!
//! A finding is an error unless something limits its grade: what its matching words are ([`text`]), where its places are ([`places`]), a
//! rule of the configuration, or what its places have besides their words ([`sources`]). Of several limits the lowest applies, and its
//! reasons are given.
//!
//! Cost: linear in the matching words and the sources of the places, apart from sorts of them.

mod files;
mod generated;
mod places;
mod sites;
mod sources;
mod text;
mod versions;

use super::find::FindOptions;
use super::finding::Finding;
use super::grade::{Grade, Limit};
use super::links::Links;
use super::pages::Page;
use super::rules::Rules;
use files::Files;
use std::collections::BTreeSet;
use std::sync::Arc;

pub(super) use files::{in_named_versions, is_in_posts, is_of_version, is_release_notes};
pub(super) use generated::is_whole as is_generated;

/// Grades findings among these pages, which are ordered by path. Returns the links to the pages of those that are not notes, unless all
/// are notes.
pub(super) fn grade<'a>(
    findings: &mut [Finding],
    pages: &'a [Arc<Page>],
    rules: &Rules,
    options: &FindOptions,
) -> Option<Links<'a>> {
    let files = Files::of(findings, pages, rules);
    let mut all_limits = Vec::new();
    for finding in findings.iter_mut() {
        let mut limits = text::limits(finding, options);
        limits.extend(places::limits(finding, &files));
        apply(finding, &limits);
        all_limits.push(limits);
    }
    let links = links(findings, pages)?;
    for (finding, mut limits) in findings.iter_mut().zip(all_limits).filter(|(finding, _)| finding.grade > Grade::Note)
    {
        limits.extend(sources::limits(finding, &links));
        apply(finding, &limits);
    }
    Some(links)
}

/// The links to the pages of findings that are not notes, if there are such findings.
fn links<'a>(findings: &[Finding], pages: &'a [Arc<Page>]) -> Option<Links<'a>> {
    let above_notes = findings.iter().filter(|finding| finding.grade > Grade::Note);
    let wanted: BTreeSet<String> =
        above_notes.flat_map(|finding| &finding.places).map(|place| place.path().to_string()).collect();
    (!wanted.is_empty()).then(|| Links::to(pages, |page| wanted.contains(&page.path)))
}

/// Sets the lowest of these grades, with its reasons.
fn apply(finding: &mut Finding, limits: &[Limit]) {
    let Some(lowest) = limits.iter().map(|(grade, _)| *grade).min().filter(|grade| *grade < Grade::Error) else {
        return;
    };
    finding.grade = lowest;
    finding.reasons = limits.iter().filter(|(grade, _)| *grade == lowest).map(|(_, reason)| *reason).collect();
    finding.reasons.sort_unstable();
    finding.reasons.dedup();
}

#[cfg(test)]
mod tests;
