//! Grades: how much each finding is worth a reviewer's time.
//!
//! A finding is an error unless something limits its grade: what its matching words are ([`text`]), where its places are ([`places`]), a
//! rule of the configuration, or what its places have besides their words ([`sources`]). Of several limits the lowest applies, and its
//! reasons are given. Each is that of the two places that it limits least, so that one more place lowers no grade: a copy of a page in a
//! changelog says nothing about a copy in another page.
//!
//! Cost: linear in the matching words and the sources of the places, apart from sorts of them.

mod files;
mod generated;
mod licences;
mod places;
mod releases;
mod sites;
mod sources;
mod text;
mod versions;
mod whole;

use super::find::FindOptions;
use super::finding::Finding;
use super::grade::{Grade, Limit};
use super::links::Links;
use super::pages::Page;
use super::rules::Rules;
use files::Files;
use places::{Pairs, grade_of};
use std::collections::BTreeSet;
use std::sync::Arc;

pub(super) use files::{Languages, in_named_versions, is_of_version};
pub(super) use generated::is_whole as is_generated;
pub(super) use releases::is_in_posts;

/// Grades findings, also again when places are marked as new.
pub(super) struct Grader<'a> {
    files: Files,
    /// The files that are one finding with another as a whole.
    copies: whole::Copies,
    /// The links to the pages of findings that are not notes; `None` if all are notes.
    pub links: Option<Links<'a>>,
}

impl<'a> Grader<'a> {
    /// Grades findings among these pages, which are ordered by path.
    pub fn new(findings: &mut [Finding], pages: &'a [Arc<Page>], rules: &Rules, options: &FindOptions) -> Self {
        let files = Files::of(findings, pages, rules);
        let copies = whole::add(findings, &files, options);
        let mut grader = Grader { files, copies, links: None };
        for finding in findings.iter_mut() {
            finding.limits = text::limits(finding, &grader.files, options);
            grader.grade(finding);
        }
        grader.links = links(findings, pages);
        let Some(links) = &grader.links else { return grader };
        for finding in findings.iter_mut().filter(|finding| finding.grade > Grade::Note) {
            let limits = sources::limits(finding, links);
            finding.limits.extend(limits);
            grader.grade(finding);
        }
        grader
    }

    /// The pages that have the text of a finding and that it does not list, since they are one finding with a page of it as whole files, each as
    /// often as it has the text.
    pub fn hidden(&self, finding: &Finding) -> Vec<&Page> {
        whole::hidden(finding, &self.copies)
    }

    /// Grades a finding by its places and by what is known of its words and sources. Looks at a place that the grade is for, and pairs it with
    /// another one.
    pub fn grade(&self, finding: &mut Finding) {
        let pairs = Pairs::new(finding, finding.places.iter(), &self.files);
        let places::Limits { of_finding, of_places } = pairs.limits();
        let limits: Vec<Limit> = finding.limits.iter().copied().chain(of_finding).collect();
        let lowest = grade_of(&limits);
        finding.grade = lowest;
        finding.reasons =
            limits.iter().filter(|limit| limit.0 == lowest && lowest < Grade::Error).map(|limit| limit.1).collect();
        finding.reasons.sort_unstable();
        finding.reasons.dedup();
        finding.places.iter_mut().zip(pairs.are_release_notes()).for_each(|(place, is)| place.is_release_notes = is);
        finding.mark_lesser(&of_places);
        pair_up(finding, &pairs);
    }
}

/// Maximum number of places that are paired with others that the grade is for.
const MAX_PAIRED: usize = 64;

/// Pairs each place that the grade is for with another one such that it is for both, first the place to look at: reports show its pair.
///
/// Cost: linear in the places, times [`MAX_PAIRED`].
fn pair_up(finding: &mut Finding, grades: &Pairs) {
    let highest = grades.highest();
    if grades.compared().all(|(grade, _)| Some(grade) == highest) {
        finding.pairs.iter_mut().for_each(|pair| pair.is_lesser = false);
        return;
    }
    let is_of_grade = |pair: [usize; 2]| grades.grade_of(pair) == highest;
    let places: Vec<usize> = (0..finding.places.len()).filter(|&index| !finding.places[index].is_lesser).collect();
    for index in [finding.primary].into_iter().chain(places.iter().copied()).take(MAX_PAIRED) {
        let mut own = finding.pairs.iter().filter(|pair| pair.indices.contains(&index));
        if own.any(|pair| is_of_grade(pair.indices)) {
            continue;
        }
        let mut others = places.iter().copied().filter(|&other| other != index);
        if let Some(other) = others.find(|&other| is_of_grade([index, other])) {
            finding.connect(index, other);
        }
    }
    finding.pairs.iter_mut().for_each(|pair| pair.is_lesser = !is_of_grade(pair.indices));
}

/// The links to the pages of findings that are not notes, if there are such findings.
fn links<'a>(findings: &[Finding], pages: &'a [Arc<Page>]) -> Option<Links<'a>> {
    let above_notes = findings.iter().filter(|finding| finding.grade > Grade::Note);
    let wanted: BTreeSet<String> =
        above_notes.flat_map(|finding| &finding.places).map(|place| place.path().to_string()).collect();
    (!wanted.is_empty()).then(|| Links::to(pages, |page| wanted.contains(&page.path)))
}

#[cfg(test)]
mod tests;
