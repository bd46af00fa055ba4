//! Pages that were put together from others: none of these is the home of what it has from them.

use super::super::finding::{Finding, Place};
use super::super::grade::Grade;
use super::super::totals::union;
use crate::prose::Markup;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// A page is a collage only if so many of its words, in percent, are in other pages than the one that has most of them.
const BESIDE_PERCENT: usize = 20;

/// Maximum number of other pages of a finding that are looked at, in the order of their paths: what is in many pages is mostly boilerplate.
const MAX_OTHERS: usize = 16;

/// What a page shares with others.
#[derive(Default)]
struct Shared<'a> {
    /// How many words the page has.
    words: usize,
    all: Vec<Range<usize>>,
    by_page: BTreeMap<&'a str, Vec<Range<usize>>>,
}

/// The paths of pages of which most words are in copies of two other pages or more, none of which has nearly all of these. Notes do not
/// count.
///
/// Cost: linear in the places, times [`MAX_OTHERS`], and sorts.
pub(super) fn collages(findings: &[Finding]) -> BTreeSet<String> {
    let mut pages: BTreeMap<&str, Shared> = BTreeMap::new();
    for finding in findings.iter().filter(|finding| finding.grade > Grade::Note) {
        // Places are ordered by page.
        let mut paths: Vec<&str> = finding.places.iter().map(|place| place.path()).collect();
        paths.dedup();
        // Functions of one family describe the same parameters.
        let is_page = |place: &&Place| !matches!(place.page.markup, Markup::Docstrings(_));
        for place in finding.places.iter().filter(is_page).filter(|_| paths.len() > 1) {
            let shared = pages.entry(place.path()).or_default();
            shared.words = place.page.words().len();
            shared.all.push(place.words.clone());
            for other in paths.iter().filter(|path| **path != place.path()).take(MAX_OTHERS) {
                shared.by_page.entry(other).or_default().push(place.words.clone());
            }
        }
    }
    let is_collage = |shared: Shared| {
        let all = union(shared.all);
        let most = shared.by_page.into_values().map(union).max().unwrap_or_default();
        2 * all > shared.words && 100 * (all - most.min(all)) >= BESIDE_PERCENT * shared.words
    };
    pages.into_iter().filter_map(|(path, shared)| is_collage(shared).then(|| path.to_string())).collect()
}
