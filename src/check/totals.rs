//! Totals of the findings that are reported: by grade and kind, and by page.

use super::find::Kind;
use super::finding::name;
use super::grade::Grade;
use super::outcome::Outcome;
use crate::readable::counted;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::Range;

const KINDS: [Kind; 3] = [Kind::File, Kind::Passage, Kind::Paragraph];

/// A page, and how much of it is copied.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PageTotal {
    /// Its path as given.
    pub path: String,
    /// How many of its words are in a reported finding.
    pub words: usize,
    /// How many reported findings have a place in it.
    pub findings: usize,
}

impl Outcome {
    /// How many findings there are of each grade that are not accepted, on one line: `3 errors, 1 note`. Empty if there are none.
    pub fn by_grade(&self) -> String {
        let of_grade =
            |grade: Grade| self.findings.iter().filter(|found| found.grade == grade && !found.accepted).count();
        let parts = Grade::ALL.map(|grade| (of_grade(grade), grade.name()));
        listed(parts.into_iter().map(|(number, name)| (number, counted(number as u64, name))))
    }

    /// How many findings of each kind are reported, by grade: `errors: 1 file, 2 passages; warnings: 1 paragraph`. Empty for at most one
    /// finding.
    pub fn by_kind(&self) -> String {
        let of = |grade: Grade, kind: Kind| {
            self.reported().filter(|finding| finding.grade == grade && finding.kind == kind).count()
        };
        let of_grade = |grade: Grade| {
            let kinds = KINDS.map(|kind| (of(grade, kind), counted(of(grade, kind) as u64, name(kind))));
            let kinds = listed(kinds.into_iter());
            (!kinds.is_empty()).then(|| format!("{}s: {kinds}", grade.name()))
        };
        match self.reported().nth(1) {
            Some(_) => Grade::ALL.into_iter().filter_map(of_grade).collect::<Vec<_>>().join("; "),
            None => String::new(),
        }
    }

    /// How many findings are not reported because of their grade, by grade: `12 notes`. Empty if there are none.
    pub fn unreported(&self) -> String {
        let hidden = Grade::ALL.into_iter().filter(|grade| *grade < self.least_reported());
        let number =
            |grade: Grade| self.findings.iter().filter(|found| found.grade == grade && !found.accepted).count();
        listed(hidden.map(|grade| (number(grade), counted(number(grade) as u64, grade.name()))))
    }

    /// The pages with the most copied words among the reported findings, at most `limit`; of equal ones, by path.
    pub fn worst_pages(&self, limit: usize) -> Vec<PageTotal> {
        let mut pages = BTreeMap::<&str, (Vec<Range<usize>>, usize)>::new();
        for finding in self.reported() {
            let mut last = None;
            // Places are ordered by page.
            for place in &finding.places {
                let (words, findings) = pages.entry(place.path()).or_default();
                words.push(place.words.clone());
                *findings += usize::from(last != Some(place.path()));
                last = Some(place.path());
            }
        }
        let total =
            |(path, (words, findings)): (&str, _)| PageTotal { path: path.into(), words: union(words), findings };
        let mut totals: Vec<PageTotal> = pages.into_iter().map(total).collect();
        totals.sort_by_key(|page| Reverse(page.words));
        totals.truncate(limit);
        totals
    }
}

impl PageTotal {
    /// On one line: `docs/a.md: 1,200 words in 5 copies`.
    pub fn line(&self) -> String {
        let (words, findings) = (counted(self.words as u64, "word"), counted(self.findings as u64, "copy"));
        format!("{}: {words} in {findings}", self.path)
    }
}

/// The parts whose number is not 0, separated by commas.
fn listed(parts: impl Iterator<Item = (usize, String)>) -> String {
    parts.filter(|(number, _)| *number > 0).map(|(_, part)| part).collect::<Vec<_>>().join(", ")
}

/// How many words are in one of the ranges.
pub(super) fn union(mut ranges: Vec<Range<usize>>) -> usize {
    ranges.sort_unstable_by_key(|range| range.start);
    let (mut end, mut words) = (0, 0);
    for range in ranges {
        words += range.end.saturating_sub(range.start.max(end));
        end = end.max(range.end);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlapping_ranges_count_once() {
        assert_eq!(union(vec![5..9, 0..3, 2..6, 20..21, 8..8, 0..2]), 10);
        assert_eq!(union(Vec::new()), 0);
    }

    #[test]
    fn numbers_of_none_are_left_out() {
        let parts = [(0, "0 files"), (2, "2 passages"), (1, "1 paragraph")];
        assert_eq!(listed(parts.into_iter().map(|(n, part)| (n, part.to_string()))), "2 passages, 1 paragraph");
    }
}
