//! Groups of findings that are about one text: n places of a passage are one group, not n − 1 pairs.

use super::{Finding, Kind, Place};
use crate::passages::Run;
use crate::union_find::UnionFind;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::Range;

/// Two places of findings are the same place if their overlap is this share of the longer one, in percent.
const SAME_PERCENT: usize = 80;

/// The part of a file with a copy of another is at most this long, in percent of the matching words.
const PART_PERCENT: usize = 150;

/// A text that occurs in two places or more.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Group {
    /// Whether it is a file, a passage or a paragraph. Of a group of both, a passage.
    pub kind: Kind,
    /// Its places, by document and start; two or more. Of a file that contains another, the part with the copy if it is little longer than
    /// what matches.
    pub places: Vec<Place>,
    /// Pairs that connect all places: one fewer than places. Each has the indices of its places in `places`, ascending.
    pub pairs: Vec<([usize; 2], Finding)>,
}

/// Groups findings by their places: two findings with a place in common are about one text. A file that contains another is not the
/// same text as that file. Its place is the part from the first to the last matching word, if that is at most half longer than what
/// matches; if not, the whole file, which is then no place of another finding. So a file that several larger ones contain is one group
/// with all of them, and a file that contains several others has a place in the group of each.
///
/// The groups are ordered by their first places. They do not depend on the order of the findings.
///
/// Cost: a sort, and for each place the known places of its document that start within a quarter of its length.
pub fn grouped(mut findings: Vec<Finding>) -> Vec<Group> {
    findings.sort_by_cached_key(|found| {
        let [a, b] = [&found.a, &found.b].map(|place| (place.document, place.words.start, place.words.end));
        (found.kind != Kind::File, Reverse(found.matched), a, b, found.kind)
    });
    let mut nodes = Nodes::default();
    let ends: Vec<[usize; 2]> = findings.iter().map(|found| nodes.of(found)).collect();
    let mut texts = UnionFind::<usize>::new(nodes.places.len());
    let mut connecting = Vec::new();
    for (found, ends) in findings.into_iter().zip(ends) {
        if texts.union(ends[0], ends[1]) {
            connecting.push((ends, found));
        }
    }
    let labels = texts.into_labels();
    let (mut own, mut pairs) = (BTreeMap::<usize, Vec<usize>>::new(), BTreeMap::<usize, Vec<Connection>>::new());
    (0..labels.len()).for_each(|node| own.entry(labels[node]).or_default().push(node));
    for (ends, found) in connecting {
        pairs.entry(labels[ends[0]]).or_default().push((ends, found));
    }
    // Each place is of a finding, and so connected.
    let mut groups: Vec<Group> =
        own.into_iter().filter_map(|(label, own)| group(&nodes.places, own, pairs.remove(&label)?)).collect();
    groups.sort_by_cached_key(|group| {
        let key = |place: &Place| (place.document, place.words.start, place.words.end);
        (group.places.iter().map(key).collect::<Vec<_>>(), group.kind)
    });
    groups
}

/// A finding with the indices of its places.
type Connection = ([usize; 2], Finding);

/// The group of these places, which these pairs connect.
fn group(all: &[Place], mut own: Vec<usize>, pairs: Vec<Connection>) -> Option<Group> {
    own.sort_by_key(|&node| (all[node].document, all[node].words.start, all[node].words.end));
    let mut index = BTreeMap::new();
    own.iter().enumerate().for_each(|(at, &node)| _ = index.insert(node, at));
    let kind = pairs.iter().map(|(_, found)| found.kind).min()?;
    let places: Vec<Place> = own.into_iter().map(|node| all[node].clone()).collect();
    let pairs = pairs.into_iter().map(|(ends, found)| {
        let ends = ends.map(|node| index[&node]);
        let found = if ends[0] > ends[1] { reversed(found) } else { found };
        let ends = [ends[0].min(ends[1]), ends[0].max(ends[1])];
        (ends, within(found, ends.map(|end| &places[end])))
    });
    let mut pairs: Vec<_> = pairs.collect();
    pairs.sort_by_key(|(ends, _)| (ends[1], ends[0]));
    Some(Group { kind, pairs, places })
}

/// Which side of a finding is a file that contains the other one, if it is one: neither that is little larger.
fn containing(found: &Finding) -> Option<usize> {
    (found.kind == Kind::File && !is_alike(found)).then(|| usize::from(found.b.words.len() > found.a.words.len()))
}

/// The words from the first to the last run in one of the places, if they are little more than what matches.
fn part(found: &Finding, side: usize) -> Option<Range<usize>> {
    let runs = || found.runs.iter().map(|run| ([run.a, run.b][side], run.tokens));
    let start = runs().map(|(start, _)| start).min()?;
    let end = runs().map(|(start, tokens)| start + tokens).max()?;
    (100 * (end - start) <= PART_PERCENT * found.matched).then_some(start..end)
}

/// The same finding with its places exchanged.
fn reversed(found: Finding) -> Finding {
    let mut runs: Vec<Run> = found.runs.iter().map(|run| Run { a: run.b, b: run.a, tokens: run.tokens }).collect();
    runs.sort_unstable();
    Finding { a: found.b, b: found.a, runs, ..found }
}

/// A finding limited to the places of its group, which may be a little shorter or longer than its own.
fn within(found: Finding, places: [&Place; 2]) -> Finding {
    if *places[0] == found.a && *places[1] == found.b {
        return found;
    }
    let [a, b] = places.map(|place| place.words.clone());
    let clipped = |run: &Run| {
        let cut = a.start.saturating_sub(run.a).max(b.start.saturating_sub(run.b)).min(run.tokens);
        let (start_a, start_b) = (run.a + cut, run.b + cut);
        let room = a.end.saturating_sub(start_a).min(b.end.saturating_sub(start_b));
        let tokens = (run.tokens - cut).min(room);
        (tokens > 0).then_some(Run { a: start_a, b: start_b, tokens })
    };
    let runs: Vec<Run> = found.runs.iter().filter_map(clipped).collect();
    let matched = runs.iter().map(|run| run.tokens).sum();
    Finding { a: places[0].clone(), b: places[1].clone(), matched, runs, kind: found.kind }
}

/// The distinct places of findings.
#[derive(Default)]
struct Nodes {
    places: Vec<Place>,
    /// The places that other findings may have too, by document, whether they are files, and start.
    known: BTreeMap<(usize, bool, usize), Vec<usize>>,
}

impl Nodes {
    /// The places of a finding. The earlier of two equal places is that of both.
    fn of(&mut self, found: &Finding) -> [usize; 2] {
        let is_file = found.kind == Kind::File;
        let containing = containing(found);
        let ends = [0, 1].map(|side| {
            let place = [&found.a, &found.b][side];
            let part = (containing == Some(side)).then(|| part(found, side));
            let words = part.clone().flatten().unwrap_or(place.words.clone());
            // Without a part it is not known which words of the file the place is.
            (Place { words, ..place.clone() }, part != Some(None))
        });
        let known = ends.each_ref().map(|(place, is_shared)| self.known(place, is_file).filter(|_| *is_shared));
        let mut new = |(place, is_shared): &(Place, bool)| {
            self.places.push(place.clone());
            let node = self.places.len() - 1;
            if *is_shared {
                self.known.entry((place.document, is_file, place.words.start)).or_default().push(node);
            }
            node
        };
        [known[0].unwrap_or_else(|| new(&ends[0])), known[1].unwrap_or_else(|| new(&ends[1]))]
    }

    /// The known place that overlaps this one most, if it is the same.
    fn known(&self, place: &Place, is_file: bool) -> Option<usize> {
        let Range { start, end } = place.words;
        let [first, last] = same_starts(start..end).map(|start| (place.document, is_file, start));
        let overlap = |node: &usize| same_words(&(start..end), &self.places[*node].words);
        let same = self.known.range(first..=last).flat_map(|(_, nodes)| nodes);
        same.filter_map(|node| Some((overlap(node)?, Reverse(*node)))).max().map(|(_, Reverse(node))| node)
    }
}

/// Where the same place as this one starts, at the earliest and at the latest: the overlap would be too short otherwise.
pub(super) fn same_starts(place: Range<usize>) -> [usize; 2] {
    let far = place.len() * (100 - SAME_PERCENT) / SAME_PERCENT;
    [place.start.saturating_sub(far), place.start + far]
}

/// How many words two places of a document have in common, if they are the same place.
pub(super) fn same_words(one: &Range<usize>, other: &Range<usize>) -> Option<usize> {
    let both = one.end.min(other.end).saturating_sub(one.start.max(other.start));
    (100 * both >= SAME_PERCENT * one.len().max(other.len())).then_some(both)
}

/// Whether two files are the same text: neither is much larger.
fn is_alike(found: &Finding) -> bool {
    let both = found.a.words.len() + found.b.words.len();
    3 * found.matched >= both
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::ops::Range;

    fn finding(kind: Kind, a: (usize, Range<usize>), b: (usize, Range<usize>)) -> Finding {
        let tokens = a.1.len().min(b.1.len());
        let runs = vec![Run { a: a.1.start, b: b.1.start, tokens }];
        let place = |(document, words)| Place { document, words };
        Finding { kind, a: place(a), b: place(b), matched: tokens, runs }
    }

    fn places(group: &Group) -> Vec<(usize, Range<usize>)> {
        group.places.iter().map(|place| (place.document, place.words.clone())).collect()
    }

    #[test]
    fn pairs_with_nearly_the_same_place_are_one_group() {
        let passage = |a, b| finding(Kind::Passage, a, b);
        let groups = grouped(vec![
            passage((0, 10..110), (1, 0..100)),
            passage((0, 12..112), (2, 50..150)),
            // Half of it is another text.
            passage((0, 60..110), (3, 0..50)),
            passage((2, 48..148), (4, 0..100)),
        ]);
        let [one, other] = &groups[..] else { panic!("{groups:?}") };
        assert_eq!(places(one), [(0, 10..110), (1, 0..100), (2, 50..150), (4, 0..100)]);
        assert_eq!(one.pairs.iter().map(|pair| pair.0).collect::<Vec<_>>(), [[0, 1], [0, 2], [2, 3]]);
        // The first place is limited to its words in the group.
        assert_eq!(one.pairs[1].1.runs, [Run { a: 12, b: 50, tokens: 98 }]);
        assert_eq!(places(other), [(0, 60..110), (3, 0..50)]);
    }

    /// A file of 100 words that another one of 1,000 contains, from these places on: half of it each.
    fn contained(small: usize, large: usize, [one, other]: [usize; 2]) -> Finding {
        let (is_first, parts) = (small < large, [(0, one), (50, other)]);
        let run = |(in_small, in_large)| match is_first {
            true => Run { a: in_small, b: in_large, tokens: 50 },
            false => Run { a: in_large, b: in_small, tokens: 50 },
        };
        let ends = [(small, 0..100), (large, 0..1000)];
        let [a, b] = if is_first {
            ends
        } else {
            let [x, y] = ends;
            [y, x]
        };
        let mut runs = parts.map(run).to_vec();
        runs.sort_unstable();
        Finding { runs, matched: 100, ..finding(Kind::File, a, b) }
    }

    #[test]
    fn a_file_that_contains_others_is_not_one_text_with_them() {
        let whole = |number, words| finding(Kind::File, (0, 0..1000), (number, words));
        let parts = [contained(1, 0, [0, 50]), contained(2, 0, [500, 550]), contained(5, 0, [100, 800])];
        let wholes = [whole(3, 0..990), whole(4, 0..995)];
        let groups = grouped(parts.into_iter().chain(wholes).collect());
        assert_eq!(groups.iter().map(|group| group.places.len()).collect::<Vec<_>>(), [2, 3, 2, 2]);
    }

    #[test]
    fn a_file_in_several_larger_ones_is_one_text() {
        let in_parts = contained(4, 6, [100, 900]);
        let found = [contained(4, 0, [300, 350]), contained(4, 1, [0, 50]), contained(4, 5, [20, 75]), in_parts];
        let [group] = &grouped(found.to_vec())[..] else { panic!("one text") };
        assert_eq!(places(group), [(0, 300..400), (1, 0..100), (4, 0..100), (5, 20..125), (6, 0..1000)]);
        assert_eq!(group.kind, Kind::File);
        let pairs: Vec<_> = group.pairs.iter().map(|(ends, found)| (*ends, found.matched)).collect();
        assert_eq!(pairs, [([0, 2], 100), ([1, 2], 100), ([2, 3], 100), ([2, 4], 100)]);
        // A copy of the small file is a further place; what a large file has elsewhere is another text.
        let copy = finding(Kind::File, (4, 0..100), (7, 0..100));
        let other = contained(8, 0, [600, 650]);
        let groups = grouped(found.into_iter().chain([copy, other]).collect());
        let all: Vec<_> = groups.iter().map(places).collect();
        let [one, another] = &all[..] else { panic!("{all:?}") };
        assert_eq!((one.len(), one.last()), (6, Some(&(7, 0..100))));
        assert_eq!(*another, [(0, 600..700), (8, 0..100)]);
    }

    #[test]
    fn the_place_of_a_copy_in_a_larger_file() {
        let place = |second| {
            let runs = vec![Run { a: 300, b: 0, tokens: 50 }, Run { a: second, b: 50, tokens: 50 }];
            let found = Finding { runs, matched: 100, ..finding(Kind::File, (0, 0..1000), (1, 0..110)) };
            let [group] = &grouped(vec![found])[..] else { panic!("one finding") };
            assert_eq!(group.pairs[0].1.a, group.places[0]);
            places(group)
        };
        assert_eq!(place(350), [(0, 300..400), (1, 0..110)]);
        assert_eq!(place(400), [(0, 300..450), (1, 0..110)]);
        assert_eq!(place(401), [(0, 0..1000), (1, 0..110)]);
        // The parts are in another order.
        assert_eq!(place(240), [(0, 240..350), (1, 0..110)]);
    }

    proptest! {
        #[test]
        fn each_group_is_a_tree_of_pairs(
            found in prop::collection::vec((0usize..4, 0usize..60, 20usize..40, 0usize..4, 0usize..60, 20usize..40), 0..30),
        ) {
            let findings: Vec<Finding> = found
                .into_iter()
                .filter(|(a, .., b, _, _)| a != b)
                .map(|(a, start_a, long_a, b, start_b, long_b)| {
                    let ends = [(a, start_a..start_a + long_a), (b, start_b..start_b + long_b)];
                    let [first, second] = if a < b { ends } else { let [x, y] = ends; [y, x] };
                    finding(Kind::Passage, first, second)
                })
                .collect();
            let groups = grouped(findings.clone());
            let mut shuffled = findings.clone();
            shuffled.reverse();
            prop_assert_eq!(&grouped(shuffled), &groups);
            for group in &groups {
                prop_assert_eq!(group.pairs.len() + 1, group.places.len());
                let mut tree = UnionFind::<usize>::new(group.places.len());
                for ([a, b], found) in &group.pairs {
                    prop_assert!(a < b && tree.union(*a, *b));
                    prop_assert_eq!([&found.a, &found.b], [&group.places[*a], &group.places[*b]]);
                    for run in &found.runs {
                        prop_assert!(run.a >= found.a.words.start && run.a + run.tokens <= found.a.words.end);
                        prop_assert!(run.b >= found.b.words.start && run.b + run.tokens <= found.b.words.end);
                    }
                }
            }
            let is_near = |place: &Place, other: &Place| {
                let both = place.words.end.min(other.words.end).saturating_sub(place.words.start.max(other.words.start));
                place.document == other.document && 10 * both >= 8 * place.words.len().max(other.words.len())
            };
            for found in &findings {
                let has = |group: &&Group| [&found.a, &found.b].iter().all(|end| group.places.iter().any(|place| is_near(end, place)));
                prop_assert!(groups.iter().any(|group| has(&group)));
            }
        }
    }
}
