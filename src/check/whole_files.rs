//! Passages that whole files cover. Of three files that are one finding, two may not be similar enough to be compared as files: what they
//! share is then found again, as passages of pages that are reported already.

use super::find::Kind;
use super::finding::{Finding, Place};
use super::runs::{composed, turned};
use crate::passages::Run;
use std::borrow::Cow;
use std::collections::{BTreeMap, VecDeque};

/// Of the findings of whole files around a place, this many are considered: those that start last.
const MAX_AROUND: usize = 16;

/// To compare the files of a finding, at most this many times its places and the runs of its pairs are visited. What is not compared then is
/// not covered.
const MAX_VISITS: usize = 64;

/// Takes out the passages and paragraphs that a finding of whole files covers, with a grade that is as high: each of their places is in a
/// page of its own and within a place of the files, and the files of each pair have half of the shorter one in common. A passage with a
/// place in another page, or with two in one page, says something new.
///
/// Cost: sorts of the places of files; for each place, binary searches in up to [`MAX_AROUND`] findings; and linear in the runs of files,
/// up to [`MAX_VISITS`] times. Memory: linear in the places and in the runs of files.
pub(super) fn take_covered(findings: &mut Vec<Finding>) -> Vec<Finding> {
    let covered = covered(findings);
    let (mut numbers, mut taken) = (covered.iter(), Vec::new());
    for finding in std::mem::take(findings) {
        if numbers.next() == Some(&true) { taken.push(finding) } else { findings.push(finding) }
    }
    taken
}

/// Which findings are covered.
fn covered(findings: &[Finding]) -> Vec<bool> {
    // Of two files, what they share is not compared again.
    let files = findings.iter().filter(|finding| finding.kind == Kind::File && finding.places.len() > 2);
    let mut files: Vec<Files> = files.map(Files::new).collect();
    // Where the files of each page start, with the indices of their findings.
    let mut of_page: BTreeMap<&str, Vec<(usize, usize)>> = BTreeMap::new();
    for (index, Files { finding, .. }) in files.iter().enumerate() {
        for place in &finding.places {
            of_page.entry(place.path()).or_default().push((place.words.start, index));
        }
    }
    of_page.values_mut().for_each(|files| files.sort_unstable());
    let mut is_covered = |finding: &Finding| {
        // Places are ordered by page.
        let are_pages = finding.places.windows(2).all(|two| two[0].path() != two[1].path());
        if finding.kind == Kind::File || !are_pages {
            return false;
        }
        let first = &finding.places[0];
        let around = of_page.get(first.path()).map_or(&[][..], Vec::as_slice);
        let around = &around[..around.partition_point(|(start, _)| *start <= first.words.start)];
        around.iter().rev().take(MAX_AROUND).any(|&(_, index)| {
            let files = &mut files[index];
            files.finding.grade >= finding.grade && files.cover(finding)
        })
    };
    findings.iter().map(&mut is_covered).collect()
}

/// Files that are one finding.
struct Files<'a> {
    finding: &'a Finding,
    /// Built when two of them are compared.
    tree: Option<Tree<'a>>,
    /// Whether two places, by index, have half of the shorter one in common.
    compared: BTreeMap<[usize; 2], bool>,
    /// How many places and runs may still be visited.
    visits_left: usize,
}

impl<'a> Files<'a> {
    fn new(finding: &'a Finding) -> Self {
        let runs: usize = finding.pairs.iter().map(|pair| pair.runs.len()).sum();
        let visits_left = MAX_VISITS * (finding.places.len() + runs);
        Files { finding, tree: None, compared: BTreeMap::new(), visits_left }
    }

    /// Whether they cover a finding.
    fn cover(&mut self, finding: &Finding) -> bool {
        let around = finding.places.iter().map(|place| self.around(place)).collect::<Option<Vec<usize>>>();
        let Some(around) = around else { return false };
        finding.pairs.iter().all(|pair| self.share_half(pair.indices.map(|index| around[index])))
    }

    /// The index of the place of a file that a place is within: of several in a page, the one that starts last before it.
    fn around(&self, part: &Place) -> Option<usize> {
        let key = (part.path(), part.words.start);
        let after = self.finding.places.partition_point(|file| (file.path(), file.words.start) <= key);
        let index = after.checked_sub(1)?;
        let file = &self.finding.places[index];
        (file.path() == part.path() && part.words.end <= file.words.end).then_some(index)
    }

    /// Whether two places have half of the shorter one in common. Words that one of the places between them lacks do not count.
    fn share_half(&mut self, [one, other]: [usize; 2]) -> bool {
        let key = [one.min(other), one.max(other)];
        if let Some(&known) = self.compared.get(&key) {
            return known;
        }
        let finding = self.finding;
        let tree = self.tree.get_or_insert_with(|| Tree::new(finding));
        let share = tree.share_half(finding, key, &mut self.visits_left).unwrap_or_default();
        self.compared.insert(key, share);
        share
    }
}

/// The places of a finding as a tree, of which its pairs are the edges. The first place is the root.
struct Tree<'a> {
    /// The edge from each place to its parent.
    edges: Vec<Option<Edge<'a>>>,
}

/// From a place to its parent.
struct Edge<'a> {
    parent: usize,
    /// The number of edges from the place to the root.
    depth: usize,
    /// The runs from the place to its parent.
    up: Cow<'a, [Run]>,
    /// The runs from the parent to the place.
    down: Cow<'a, [Run]>,
}

impl<'a> Tree<'a> {
    fn new(finding: &'a Finding) -> Self {
        let mut of_place: Vec<Vec<usize>> = vec![Vec::new(); finding.places.len()];
        for (number, pair) in finding.pairs.iter().enumerate() {
            pair.indices.iter().for_each(|&index| of_place[index].push(number));
        }
        let mut edges: Vec<Option<Edge>> = (0..of_place.len()).map(|_| None).collect();
        let mut left = VecDeque::from([(0, 0)]);
        while let Some((parent, depth)) = left.pop_front() {
            for &number in &of_place[parent] {
                let pair = &finding.pairs[number];
                let [first, second] = pair.indices;
                let place = first + second - parent;
                if place == 0 || edges[place].is_some() {
                    continue;
                }
                let (runs, turned) = (Cow::Borrowed(&pair.runs[..]), Cow::Owned(turned(&pair.runs)));
                let (up, down) = if place == first { (runs, turned) } else { (turned, runs) };
                edges[place] = Some(Edge { parent, depth: depth + 1, up, down });
                left.push_back((place, depth + 1));
            }
        }
        Tree { edges }
    }

    fn depth(&self, place: usize) -> usize {
        self.edges[place].as_ref().map_or(0, |edge| edge.depth)
    }

    /// Whether two places of the finding have half of the shorter one in common; `None` if no visits are left to find out.
    ///
    /// Cost: linear in the visits taken from `left`. The runs of the last place may be more than were left.
    fn share_half(&self, finding: &Finding, pair: [usize; 2], left: &mut usize) -> Option<bool> {
        let length = |place: usize| finding.places[place].words.len();
        let [one, other] = pair;
        // Few runs lead from the shorter one.
        let [mut from, mut to] = if length(one) <= length(other) { [one, other] } else { [other, one] };
        let (start, tokens) = (finding.places[from].words.start, length(from));
        let mut runs = vec![Run { a: start, b: start, tokens }];
        let mut follow = |next: &[Run], left: &mut usize| {
            let before = runs.len();
            runs = composed(&runs, next);
            visit(left, before + runs.len())?;
            // Further places add no words.
            Some(2 * runs.iter().map(|run| run.tokens).sum::<usize>() >= tokens)
        };
        let mut down = Vec::new();
        while from != to {
            visit(left, 1)?;
            if self.depth(from) < self.depth(to) {
                let edge = self.edges[to].as_ref()?;
                down.push(edge);
                to = edge.parent;
                continue;
            }
            let edge = self.edges[from].as_ref()?;
            if !follow(&edge.up, left)? {
                return Some(false);
            }
            from = edge.parent;
        }
        for edge in down.into_iter().rev() {
            if !follow(&edge.down, left)? {
                return Some(false);
            }
        }
        Some(true)
    }
}

/// Takes visits from those that are left; `None` if these are too few, and then none is left.
fn visit(left: &mut usize, number: usize) -> Option<()> {
    let enough = *left >= number;
    *left = left.saturating_sub(number);
    enough.then_some(())
}

#[cfg(test)]
mod tests {
    use super::super::find::{self, Group};
    use super::super::pages::Page;
    use super::super::request::Request;
    use super::super::run::Check;
    use super::*;
    use proptest::prelude::*;
    use std::fs;
    use std::ops::Range;
    use std::sync::Arc;

    /// Each page has this many parts of four words.
    const PARTS: usize = 10;

    fn pages(number: usize) -> Vec<Arc<Page>> {
        let folder = tempfile::tempdir().unwrap();
        let text: Vec<String> = (0..4 * PARTS).map(|word| format!("word{word}")).collect();
        for page in 0..number {
            fs::write(folder.path().join(format!("{page:05}.md")), text.join(" ")).unwrap();
        }
        let request = Request { folder: folder.path().into(), ..Request::new([folder.path()]) };
        let pages = Check::new(&request).unwrap().read().unwrap();
        pages.tree().pages.clone()
    }

    /// A text in these pages, with the pairs of its places and the parts of each that match in the other: the first, the second.
    type Text = (Kind, Vec<(usize, Range<usize>)>, Vec<([usize; 2], Vec<[usize; 2]>)>);

    fn findings(pages: &[Arc<Page>], texts: Vec<Text>) -> Vec<Finding> {
        let group = |(kind, places, pairs): Text| {
            let places: Vec<find::Place> =
                places.into_iter().map(|(document, words)| find::Place { document, words }).collect();
            let pair = |([one, other], parts): ([usize; 2], Vec<[usize; 2]>)| {
                let mut runs: Vec<Run> =
                    parts.into_iter().map(|[one, other]| Run { a: 4 * one, b: 4 * other, tokens: 4 }).collect();
                runs.sort_unstable();
                let (a, b, matched) = (places[one].clone(), places[other].clone(), 4 * runs.len());
                ([one, other], find::Finding { kind, a, b, matched, runs })
            };
            let mut pairs: Vec<_> = pairs.into_iter().map(pair).collect();
            pairs.sort_by_key(|(ends, _)| (ends[1], ends[0]));
            Group { kind, pairs, places }
        };
        Finding::all(pages, texts.into_iter().map(group).collect())
    }

    /// Without limits, and with all places compared again.
    fn simply_covered(findings: &[Finding]) -> Vec<bool> {
        let covers = |files: &Finding, finding: &Finding| {
            let around = |place: &Place| {
                files.places.iter().position(|file| {
                    let [whole, part] = [&file.words, &place.words];
                    file.path() == place.path() && whole.start <= part.start && part.end <= whole.end
                })
            };
            let around: Option<Vec<usize>> = finding.places.iter().map(around).collect();
            around.is_some_and(|around| {
                finding.pairs.iter().all(|pair| {
                    let [one, other] = pair.indices.map(|index| around[index]);
                    let matched: usize = files.runs_between(one, other).iter().map(|run| run.tokens).sum();
                    2 * matched >= files.places[one].words.len().min(files.places[other].words.len())
                })
            })
        };
        let is_covered = |finding: &Finding| {
            let mut files = findings.iter().filter(|files| files.kind == Kind::File && files.places.len() > 2);
            let are_pages = finding.places.windows(2).all(|two| two[0].path() != two[1].path());
            finding.kind != Kind::File
                && are_pages
                && files.any(|files| files.grade >= finding.grade && covers(files, finding))
        };
        findings.iter().map(is_covered).collect()
    }

    fn whole(pages: impl IntoIterator<Item = usize>) -> Vec<(usize, Range<usize>)> {
        pages.into_iter().map(|page| (page, 0..4 * PARTS)).collect()
    }

    #[test]
    fn passages_are_covered_as_each_place_searched_for_says() {
        let pages = pages(9);
        let edge = (0usize..8, prop::collection::vec(prop::bool::weighted(0.8), PARTS), 0..PARTS);
        let files = prop::collection::vec(edge, 2..7);
        let passages = prop::collection::vec((prop::collection::btree_set(0usize..9, 2..5), 0usize..3), 1..6);
        proptest!(ProptestConfig::with_cases(64), |(files in files, passages in passages)| {
            // A tree: each file is like an earlier one.
            let pairs = files.iter().enumerate().map(|(before, (like, has, shift))| {
                let parts = (0..PARTS).filter(|part| has[*part]).map(|part| [part, (part + shift) % PARTS]);
                ([like % (before + 1), before + 1], parts.collect())
            });
            let pairs = pairs.collect();
            let mut texts = vec![(Kind::File, whole(0..=files.len()), pairs)];
            for (own, start) in passages {
                let places = own.iter().map(|&page| (page, start..start + 8)).collect();
                texts.push((Kind::Passage, places, (1..own.len()).map(|other| ([other - 1, other], vec![])).collect()));
            }
            // Files of two pages, and a place in a part of a page.
            texts.push((Kind::File, whole([7, 8]), vec![([0, 1], (0..PARTS).map(|part| [part; 2]).collect())]));
            texts.push((Kind::File, vec![(0, 4..8), (1, 4..8), (8, 4..8)], vec![([0, 1], vec![[1; 2]]), ([1, 2], vec![[1; 2]])]));
            let findings = findings(&pages, texts);
            prop_assert_eq!(covered(&findings), simply_covered(&findings));
        });
    }

    /// The places of a passage in many files are compared within a limit.
    #[test]
    fn many_copies_are_compared_in_linear_time() {
        const NUMBER: usize = 3_000;
        type Of = fn(usize) -> usize;
        let pages = pages(NUMBER);
        let with = |files: Of, passage: Of| {
            let all = |parts: &[usize]| parts.iter().map(|&part| [part; 2]).collect::<Vec<_>>();
            let pairs =
                |of: Of, parts: &[usize]| (1..NUMBER).map(|index| ([of(index), index], all(parts))).collect::<Vec<_>>();
            let files = (Kind::File, whole(0..NUMBER), pairs(files, &[0, 1, 2, 3, 5, 6, 8, 9]));
            let places = (0..NUMBER).map(|page| (page, 16..20)).collect();
            findings(&pages, vec![files, (Kind::Passage, places, pairs(passage, &[4]))])
        };
        let (first, previous): (Of, Of) = (|_| 0, |index| index - 1);
        for (files, passage, is_covered) in
            [(first, first, true), (first, previous, true), (previous, previous, true), (previous, first, false)]
        {
            let findings = with(files, passage);
            let mut files = Files::new(&findings[0]);
            let visits = files.visits_left;
            assert_eq!(files.cover(&findings[1]), is_covered);
            assert!(!is_covered || visits - files.visits_left < visits / 8, "{} of {visits}", files.visits_left);
            assert_eq!(covered(&findings), [false, is_covered]);
        }
    }
}
