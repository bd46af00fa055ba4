//! The map of a report for browsers: how many copies are between which files.

use super::super::finding::Finding;
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of files on the map. Pairs with more copied words come first.
const MAX_FILES: usize = 24;

/// Files by number, and the number of findings between each two.
#[derive(Serialize)]
pub(super) struct Map {
    files: Vec<usize>,
    cells: Vec<Vec<usize>>,
    /// How many files with findings are not on the map.
    left_off: usize,
}

/// The map of findings that are not accepted; if all are, of these. `pages` has the numbers of files by path.
pub(super) fn map(findings: &[Finding], pages: &BTreeMap<&str, usize>) -> Map {
    let has_only_accepted = findings.iter().all(|finding| finding.accepted);
    let is_shown = |finding: &&Finding| !finding.accepted || has_only_accepted;
    let mut words = BTreeMap::<[usize; 2], usize>::new();
    let shown: Vec<&Finding> = findings.iter().filter(is_shown).collect();
    for pair in shown.iter().flat_map(|finding| &finding.pairs) {
        let mut ends = pair.places.each_ref().map(|place| pages[place.path()]);
        ends.sort_unstable();
        *words.entry(ends).or_default() += pair.words();
    }
    let mut by_words: Vec<[usize; 2]> = words.keys().copied().collect();
    by_words.sort_by_key(|ends| Reverse(words[ends]));
    let mut files = BTreeSet::new();
    for ends in by_words {
        let new = BTreeSet::from(ends).difference(&files).count();
        if files.len() + new <= MAX_FILES {
            files.extend(ends);
        }
    }
    let all: BTreeSet<usize> = words.keys().flatten().copied().collect();
    let files: Vec<usize> = files.into_iter().collect();
    let mut cells = vec![vec![0; files.len()]; files.len()];
    for finding in shown {
        count(finding, pages, &files, &mut cells);
    }
    Map { left_off: all.len() - files.len(), files, cells }
}

/// Counts a finding once in each cell of two files that it has places in. A cell of one file needs two places in it.
fn count(finding: &Finding, pages: &BTreeMap<&str, usize>, files: &[usize], cells: &mut [Vec<usize>]) {
    let mut places = BTreeMap::<usize, usize>::new();
    for place in &finding.places {
        if let Ok(file) = files.binary_search(&pages[place.path()]) {
            *places.entry(file).or_default() += 1;
        }
    }
    for (&one, &number) in &places {
        for &other in places.keys().filter(|&&other| other != one || number > 1) {
            cells[one][other] += 1;
        }
    }
}
