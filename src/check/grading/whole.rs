//! Places that whole copies of a page have too. Of two files that are one finding, a text that a third page has as well is found in only one
//! of them, which can be the one that counts less: a changelog, or a page of another version or language than the third one. The other file
//! then has a place of the text that is graded higher: that is added, with the pair that its grade is of.

use super::super::find::{self, FindOptions, Kind};
use super::super::finding::{Added, Finding, Origin, Place};
use super::super::grade::{Grade, Reason};
use super::super::pages::Page;
use super::super::runs::{composed, turned};
use super::files::Files;
use super::places::Pairs;
use crate::passages::Run;
use crate::prose::Lines;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

/// A place is in the other file if so many of its words are, in percent, and few others are between them.
const SAME_PERCENT: usize = 80;

/// Maximum number of places in whole copies that are considered for a finding.
const MAX_CONSIDERED: usize = 128;

/// Maximum number of pairs of which it is tried whether their texts are similar enough.
const MAX_TRIED: usize = 16;

/// A file that is one finding with another, and their matching words: the other one's first. Ordered by that.
pub(super) struct Copy {
    page: Arc<Page>,
    runs: Vec<Run>,
}

/// The files that each file is one finding with, by path.
pub(super) type Copies = BTreeMap<String, Vec<Copy>>;

/// Adds a place, or a pair of places, to each finding that is graded higher with it. Returns the whole copies of files.
///
/// Cost: linear in the runs of files; and for each finding that its places limit, in the runs of the files that are one finding with theirs,
/// at most [`MAX_CONSIDERED`].
pub(super) fn add(findings: &mut [Finding], files: &Files, options: &FindOptions) -> Copies {
    let mut copies = Copies::new();
    for pair in findings.iter().filter(|finding| finding.kind == Kind::File).flat_map(|finding| &finding.pairs) {
        for side in [0, 1] {
            let [own, other] = [&pair.places[side], &pair.places[1 - side]];
            let runs = if side == 0 { pair.runs.clone() } else { turned(&pair.runs) };
            copies.entry(own.path().into()).or_default().push(Copy { page: Arc::clone(&other.page), runs });
        }
    }
    if copies.is_empty() {
        return copies;
    }
    let mut lines = BTreeMap::new();
    for finding in findings.iter_mut() {
        let added = more_serious(finding, files, &copies, &mut lines, options);
        finding.add_places(added);
    }
    copies
}

/// Where a whole copy of a page has the text of a place.
struct InCopy<'a> {
    page: &'a Arc<Page>,
    words: Range<usize>,
    /// From the place to these words.
    runs: Vec<Run>,
}

/// Where whole copies of the page of a place have its text, also copies of copies: the nearest first, and at most `limit`. Pages that are
/// known are left out; those of the result become known.
///
/// Cost: linear in the runs of these copies.
fn in_copies<'a: 'k, 'k>(
    place: &Place,
    copies: &'a Copies,
    known: &mut BTreeSet<&'k str>,
    limit: usize,
) -> Vec<InCopy<'a>> {
    let mut of = |path: &str, runs: &[Run], limit: usize| -> Vec<InCopy<'a>> {
        let own = copies.get(path).into_iter().flatten();
        let in_copy = |copy: &'a Copy| {
            if known.contains(copy.page.path.as_str()) {
                return None;
            }
            let runs = composed(runs, &copy.runs);
            let words = stretch(&place.words, &runs)?;
            known.insert(&copy.page.path);
            Some(InCopy { page: &copy.page, words, runs })
        };
        own.filter_map(in_copy).take(limit).collect()
    };
    let whole = Run { a: place.words.start, b: place.words.start, tokens: place.words.len() };
    let mut found = of(place.path(), &[whole], limit);
    let mut next = 0;
    while next < found.len() && found.len() < limit {
        let more = of(&found[next].page.path, &found[next].runs, limit - found.len());
        found.extend(more);
        next += 1;
    }
    found
}

/// The whole copies of the pages of a finding that have its text and are none of its pages, each as often as it has the text, in the order
/// of the places. At most [`MAX_CONSIDERED`].
///
/// Cost: for each place, linear in the runs of these copies.
pub(super) fn hidden<'a>(finding: &Finding, copies: &'a Copies) -> Vec<&'a Page> {
    let own: BTreeSet<&str> = finding.places.iter().map(Place::path).collect();
    let mut found: Vec<InCopy> = Vec::new();
    for place in &finding.places {
        for other in in_copies(place, copies, &mut own.clone(), MAX_CONSIDERED) {
            let overlaps = |words: &Range<usize>| words.start < other.words.end && other.words.start < words.end;
            let is_same = |known: &InCopy| known.page.path == other.page.path && overlaps(&known.words);
            if found.len() < MAX_CONSIDERED && !found.iter().any(is_same) {
                found.push(other);
            }
        }
    }
    found.into_iter().map(|found| &**found.page).collect()
}

/// A place in a whole copy of a page.
struct Candidate {
    /// The index of the place that it is a copy of, and the runs from there.
    from: usize,
    runs: Vec<Run>,
    place: Place,
}

/// The places to add to a finding: those of a pair that is graded higher than all of its own.
fn more_serious<'a>(
    finding: &Finding,
    files: &Files,
    copies: &'a Copies,
    lines: &mut BTreeMap<&'a str, Lines<'a>>,
    options: &FindOptions,
) -> Vec<Added> {
    let has_copies = |place: &Place| copies.contains_key(place.path());
    if !finding.places.iter().any(has_copies) {
        return Vec::new();
    }
    let own = Pairs::new(finding, finding.places.iter(), files);
    if own.highest() == Some(Grade::Error) && !own.have_languages() {
        return Vec::new();
    }
    let candidates = candidates(finding, copies, lines);
    let others = candidates.iter().map(|other| &other.place);
    let own = Pairs::beside(finding, finding.places.iter(), others, files);
    let highest = own.highest();
    if highest == Some(Grade::Error) {
        return Vec::new();
    }
    let (number, all) =
        (finding.places.len(), finding.places.iter().chain(candidates.iter().map(|other| &other.place)));
    let all = Pairs::new(finding, all, files);
    let of_candidate = |index: usize| index.checked_sub(number).map(|index| &candidates[index]);
    let origin = |index: usize| of_candidate(index).map_or(index, |candidate| candidate.from);
    // Whole copies of each other are a finding of their own.
    let is_new = |[one, other]: [usize; 2]| one.max(other) >= number && origin(one) != origin(other);
    let is_wanted = |(grade, pair): &(Grade, [usize; 2])| Some(*grade) > highest && is_new(*pair);
    let mut pairs: Vec<(Grade, [usize; 2])> = all.compared().filter(is_wanted).collect();
    // The most serious first, then those with a place of the finding.
    pairs.sort_by_key(|&(grade, pair)| (Reverse(grade), pair.iter().filter(|index| **index >= number).count()));
    for (_, [one, other]) in pairs.into_iter().take(MAX_TRIED) {
        let place = |index: usize| of_candidate(index).map_or_else(|| &finding.places[index], |other| &other.place);
        // From a place in a copy to that in the finding, to another one in the finding, to its copy.
        let mut runs = finding.runs_between(origin(one), origin(other));
        if let Some(candidate) = of_candidate(one) {
            runs = composed(&turned(&candidate.runs), &runs);
        }
        if let Some(candidate) = of_candidate(other) {
            runs = composed(&runs, &candidate.runs);
        }
        if !is_similar(finding.kind, [place(one), place(other)], &runs, options) {
            continue;
        }
        let added = |from: usize, index: usize, runs: Vec<Run>, origin: Origin| {
            let place = Place { origin, ..place(index).clone() };
            Added { from, place, runs }
        };
        return match (of_candidate(one), of_candidate(other)) {
            (None, _) => vec![added(one, other, runs, Origin::Copy)],
            (_, None) => vec![added(other, one, turned(&runs), Origin::Copy)],
            (Some(first), Some(_)) => {
                // A pair as there is one in the finding already, but of another version of the site.
                let is_version = |index: usize| {
                    let reasons = all.limits_of([origin(index), index]);
                    reasons.iter().any(|(_, reason)| matches!(reason, Reason::Version | Reason::OtherVersion))
                };
                let of_pair = if is_version(one) && is_version(other) { Origin::Version } else { Origin::Copy };
                let first = added(first.from, one, first.runs.clone(), of_pair);
                vec![first, added(number, other, runs, of_pair)]
            }
        };
    }
    Vec::new()
}

/// The places in whole copies of the pages of a finding, also in copies of copies, each page once.
fn candidates<'a>(finding: &Finding, copies: &'a Copies, lines: &mut BTreeMap<&'a str, Lines<'a>>) -> Vec<Candidate> {
    let mut known: BTreeSet<&str> = finding.places.iter().map(Place::path).collect();
    let mut candidates = Vec::new();
    for (from, place) in finding.places.iter().enumerate() {
        let found = in_copies(place, copies, &mut known, MAX_CONSIDERED - candidates.len());
        candidates.extend(found.into_iter().map(|InCopy { page, words, runs }| {
            let lines = lines.entry(&page.path).or_insert_with(|| Lines::new(&page.source));
            let place = Place::of(page, &find::Place { document: 0, words }, lines);
            Candidate { from, runs, place }
        }));
    }
    candidates
}

/// The words from the first run to the last in the other file, if most of these words are there in one stretch.
fn stretch(words: &Range<usize>, runs: &[Run]) -> Option<Range<usize>> {
    let matched: usize = runs.iter().map(|run| run.tokens).sum();
    let start = runs.iter().map(|run| run.b).min()?;
    let end = runs.iter().map(|run| run.b + run.tokens).max()?;
    let is_same = |length: usize| 100 * matched >= SAME_PERCENT * length;
    (is_same(words.len()) && is_same(end - start)).then_some(start..end)
}

/// Whether two places are as similar as those of a finding. Of words that neither the places between them have, it is not known whether they
/// match: a paragraph only has to be as similar as a passage.
fn is_similar(kind: Kind, places: [&Place; 2], runs: &[Run], options: &FindOptions) -> bool {
    let matched: usize = runs.iter().map(|run| run.tokens).sum();
    let [one, other] = places.map(|place| place.words.len());
    let shorter = one.min(other) as u64;
    options.passage_similarity.reached_by(2 * matched as u64, (one + other) as u64)
        || kind == Kind::File && options.file_similarity.reached_by(matched as u64, shorter)
}
