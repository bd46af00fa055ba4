//! Places that whole copies of a page have too. Of two files that are one finding, a text that a third page has as well is found in only one
//! of them. If that is a page whose copies count less, such as a changelog, the other one is a further place of the text: a copy between it
//! and the third page is not less serious because of the changelog.

use super::super::find::{self, Kind};
use super::super::finding::{Finding, Place};
use super::super::pages::Page;
use super::super::sources::bytes_of;
use super::files::{About, Files, is_version_heading};
use crate::passages::Run;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// A place is in the other file if so many of its words are, in percent, and few others are between them.
const SAME_PERCENT: usize = 80;

/// Maximum number of places that are added to a finding.
const MAX_ADDED: usize = 16;

/// A file that is one finding with another, and their matching words: the other one's first.
struct Copy {
    page: Arc<Page>,
    runs: Vec<Run>,
}

/// Adds places to passages and paragraphs.
///
/// Cost: linear in the runs of files, and for each place whose copies count less, in those of the files with its page.
pub(super) fn add(findings: &mut [Finding], files: &Files) {
    let mut copies: BTreeMap<String, Vec<Copy>> = BTreeMap::new();
    for pair in findings.iter().filter(|finding| finding.kind == Kind::File).flat_map(|finding| &finding.pairs) {
        for side in [0, 1] {
            let [own, other] = [&pair.places[side], &pair.places[1 - side]];
            let turned = |run: &Run| if side == 0 { *run } else { Run { a: run.b, b: run.a, tokens: run.tokens } };
            let runs = pair.runs.iter().map(turned).collect();
            copies.entry(own.path().into()).or_default().push(Copy { page: Arc::clone(&other.page), runs });
        }
    }
    if copies.is_empty() {
        return;
    }
    for finding in findings.iter_mut().filter(|finding| finding.kind != Kind::File) {
        let mut added: Vec<(usize, find::Place, Arc<Page>, Vec<Run>)> = Vec::new();
        for (index, (place, about)) in finding.places.iter().zip(files.about(finding)).enumerate() {
            if !counts_less(place, about) {
                continue;
            }
            for copy in copies.get(place.path()).into_iter().flatten() {
                let has_page = |path: &str| path == copy.page.path;
                let is_known = finding.places.iter().any(|other| has_page(other.path()))
                    || added.iter().any(|(_, _, page, _)| has_page(&page.path));
                if let Some((words, runs)) = within(&place.words, &copy.runs).filter(|_| !is_known)
                    && added.len() < MAX_ADDED
                {
                    added.push((index, find::Place { document: 0, words }, Arc::clone(&copy.page), runs));
                }
            }
        }
        finding.add_places(added);
    }
}

/// Whether copies at this place are no errors because of its file or heading.
fn counts_less(place: &Place, about: &About) -> bool {
    about.is_release_notes
        || about.rules.grade.is_some()
        || place.heading.as_deref().is_some_and(is_version_heading)
        || about.generated.has(&bytes_of(place))
}

/// Where these words are in the other file, and the runs between both, if most of them are there in one stretch.
fn within(words: &Range<usize>, runs: &[Run]) -> Option<(Range<usize>, Vec<Run>)> {
    let clipped = |run: &Run| {
        let (start, end) = (run.a.max(words.start), (run.a + run.tokens).min(words.end));
        (start < end).then(|| Run { a: start, b: run.b + start - run.a, tokens: end - start })
    };
    let runs: Vec<Run> = runs.iter().filter_map(clipped).collect();
    let matched: usize = runs.iter().map(|run| run.tokens).sum();
    let start = runs.iter().map(|run| run.b).min()?;
    let end = runs.iter().map(|run| run.b + run.tokens).max()?;
    let is_same = |length: usize| 100 * matched >= SAME_PERCENT * length;
    (is_same(words.len()) && is_same(end - start)).then_some((start..end, runs))
}
