//! The passages that repeat in a collection.
//!
//! **Definition.** A repeat is a string of tokens that stands at two or more places, such that neither the tokens before all
//! of its places are equal nor those after them: it can be extended at none of its ends without losing a place. The
//! beginning and the end of a document differ from everything. So a paragraph that a hundred documents quote is one
//! repeat with a hundred places, and where twenty of them also quote the next paragraph, both together are another one. These are
//! the maximal repeats of Gusfield, *Algorithms on Strings, Trees, and Sequences*, 1997, section 7.12; a collection has
//! fewer of them than tokens.
//!
//! **Procedure.** [Winnowing](super::winnow) selects a k-gram of every window of `shortest` tokens by what is in it. So a
//! repeat has the k-gram of its first window, its *anchor*, at the same distance `d` from its start at all of its places, and is found among
//! the places of one k-gram:
//!
//! ```text
//! places of a k-gram → the tree of what precedes them, up to a window
//!    each node, at depth d, where the text branches: the places whose window d tokens earlier selects the k-gram
//!       → the tree of what follows them → each node, at depth r, whose places the first tree separates:
//!         a repeat of d + r tokens
//! ```
//!
//! Both trees are read from sorted lists and the lengths of the common prefixes of neighbours (Abouelhoda, Kurtz &
//! Ohlebusch, *Replacing suffix trees with enhanced suffix arrays*, J. Discrete Algorithms 2004). What follows two
//! places is compared by hashes from anchor to anchor, with steps that double, and at the end by tokens: of two texts that are equal, the
//! anchors are.

use super::selected_by_windows;
use crate::hash::shingle_hashes;
use rayon::prelude::*;
use std::cmp::Ordering;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::ops::Range;

/// A string of tokens that stands at several places of a collection, and can be extended at neither end at all of them.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Repeat {
    /// Its length in tokens.
    pub tokens: usize,
    /// The number of its places. They may overlap in a text that repeats itself.
    pub count: usize,
    /// The first of them, in the order of the collection.
    pub places: Vec<Place>,
}

/// Where a passage begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The number of the document, from 0.
    pub document: usize,
    /// The number of its token, from 0.
    pub token: usize,
}

/// All repeats of at least `shortest` tokens in documents that are given by their token hashes, each with its first
/// `most_places` places: in the order of their first places, longer ones first. Tokens with equal hashes count as equal.
///
/// Cost: a hash for each token; a comparison of some [`window`](super::winnow) for each place of a k-gram that repeats, and for those
/// at which something begins to repeat one of logarithmic cost with some of the others. A text that repeats itself with a short period
/// has as many repeats as tokens. Memory: 8 bytes for each token, and some 60 for each selected one.
///
/// ```
/// use neardups::passages::{Place, repeats};
///
/// let documents: [&[u64]; 3] = [&[1, 2, 3, 4, 5], &[9, 2, 3, 4, 8], &[2, 3, 4, 5]];
/// let found = repeats(&documents, 3, 10);
/// let places = |at: &[(usize, usize)]| at.iter().map(|&(document, token)| Place { document, token }).collect::<Vec<_>>();
/// assert_eq!(found.len(), 2);
/// assert_eq!((found[0].tokens, &found[0].places), (4, &places(&[(0, 1), (2, 0)])));
/// assert_eq!((found[1].tokens, &found[1].places), (3, &places(&[(0, 1), (1, 1), (2, 0)])));
/// ```
pub fn repeats(documents: &[&[u64]], shortest: usize, most_places: usize) -> Vec<Repeat> {
    let shortest = shortest.max(1);
    // A gram is long enough that few repeat by chance, and short enough that few are selected.
    repeats_by(documents, shortest, shortest.div_ceil(2).min(MAX_GRAM), most_places)
}

/// The maximum length of the k-grams.
const MAX_GRAM: usize = 32;

/// [`repeats`] with grams of this length, at most that of the shortest.
fn repeats_by(documents: &[&[u64]], shortest: usize, gram: usize, most_places: usize) -> Vec<Repeat> {
    let text = Text::new(documents, shortest, gram);
    let mut by_gram: Vec<u32> = (0..text.anchors.len() as u32).collect();
    by_gram.par_sort_unstable_by_key(|&anchor| (text.anchors[anchor as usize].gram, anchor));
    let groups: Vec<&[u32]> = by_gram
        .chunk_by(|&a, &b| text.anchors[a as usize].gram == text.anchors[b as usize].gram)
        .filter(|group| group.len() > 1)
        .collect();
    let mut found: Vec<Repeat> =
        groups.par_iter().flat_map_iter(|group| Group::new(&text, group).repeats(most_places)).collect();
    found.par_sort_unstable_by(|a, b| (a.places.first(), b.tokens).cmp(&(b.places.first(), a.tokens)));
    found
}

/// A k-gram that windows of a document select.
struct Anchor {
    document: u32,
    /// Its token, in all documents together.
    at: usize,
    /// The least and the greatest number of tokens between the start of a window that selects it and itself.
    offsets: Range<usize>,
    gram: u64,
    /// The hash of the document up to it.
    before: u64,
}

/// Documents, prepared to be compared.
struct Text {
    tokens: Vec<u64>,
    /// Where each document begins, and the end of the last one.
    starts: Vec<usize>,
    /// Those whose k-grams are selected more than once, in the order of the text.
    anchors: Vec<Anchor>,
    powers: Powers,
    shortest: usize,
    /// The number of k-grams in a window.
    window: usize,
}

impl Text {
    fn new(documents: &[&[u64]], shortest: usize, gram: usize) -> Self {
        let (mut tokens, mut starts) = (Vec::new(), vec![0]);
        for document in documents {
            tokens.extend_from_slice(document);
            starts.push(tokens.len());
        }
        let window = shortest - gram + 1;
        let select = |number: usize| {
            let document = documents[number];
            let mut grams = Vec::new();
            if document.len() >= shortest {
                shingle_hashes(document, gram, &mut grams);
            }
            anchors(&grams, window, number as u32, starts[number])
        };
        let mut all: Vec<Anchor> = (0..documents.len()).into_par_iter().flat_map_iter(select).collect();
        let mut grams: Vec<u64> = all.iter().map(|anchor| anchor.gram).collect();
        grams.par_sort_unstable();
        let repeated: Vec<u64> = grams.chunk_by(|a, b| a == b).filter(|run| run.len() > 1).map(|run| run[0]).collect();
        all.retain(|anchor| repeated.binary_search(&anchor.gram).is_ok());
        let mut text = Text { tokens, starts, anchors: all, powers: Powers::new(random_base()), shortest, window };
        text.hash();
        text
    }

    /// Computes the hashes up to the anchors.
    fn hash(&mut self) {
        let (base, Text { tokens, starts, anchors, .. }) = (self.powers.base(), self);
        anchors.par_chunk_by_mut(|a, b| a.document == b.document).for_each(|anchors| {
            let (mut at, mut hash) = (starts[anchors[0].document as usize], 0);
            for anchor in anchors {
                hash = tokens[at..anchor.at]
                    .iter()
                    .fold(hash, |hash, &token| modular::add(modular::times(hash, base), token));
                (at, anchor.before) = (anchor.at, hash);
            }
        });
    }

    fn document(&self, anchor: &Anchor) -> Range<usize> {
        let number = anchor.document as usize;
        self.starts[number]..self.starts[number + 1]
    }

    /// What precedes an anchor in its document, up to the tokens of a window.
    fn left(&self, anchor: u32) -> &[u64] {
        let anchor = &self.anchors[anchor as usize];
        let first = self.document(anchor).start.max(anchor.at.saturating_sub(self.window));
        &self.tokens[first..anchor.at]
    }

    /// The order of what precedes two anchors, read from its end, and the length of what is common.
    fn compare_left(&self, a: u32, b: u32) -> (Ordering, usize) {
        let (a, b) = (self.left(a), self.left(b));
        let common = a.iter().rev().zip(b.iter().rev()).take_while(|(x, y)| x == y).count();
        (a.iter().rev().nth(common).cmp(&b.iter().rev().nth(common)), common)
    }

    /// The order of what follows from two anchors on, and the length of what is common.
    fn compare_right(&self, a: u32, b: u32) -> (Ordering, usize) {
        let common = self.common_right(a as usize, b as usize);
        let at = |anchor: u32| {
            let anchor = &self.anchors[anchor as usize];
            let end = self.document(anchor).end;
            Some(anchor.at + common).filter(|&at| at < end).map(|at| self.tokens[at])
        };
        (at(a).cmp(&at(b)), common)
    }

    /// The number of equal tokens from two anchors on.
    fn common_right(&self, a: usize, b: usize) -> usize {
        let (first, second) = (&self.anchors[a], &self.anchors[b]);
        let is_equal = |steps: usize| {
            let (Some(x), Some(y)) = (self.anchors.get(a + steps), self.anchors.get(b + steps)) else { return false };
            let length = x.at - first.at;
            x.document == first.document
                && y.document == second.document
                && y.at - second.at == length
                && self.powers.between(first.before, x.before, length)
                    == self.powers.between(second.before, y.before, length)
        };
        // What is equal at some anchors is so at all before them, but for the last ones.
        let (mut equal, mut step) = (0, 1);
        while is_equal(equal + step) {
            equal += step;
            step *= 2;
        }
        while step > 1 {
            step /= 2;
            equal += if is_equal(equal + step) { step } else { 0 };
        }
        let common = self.anchors[a + equal].at - first.at;
        let rest = |anchor: &Anchor| &self.tokens[anchor.at + common..self.document(anchor).end];
        common + rest(first).iter().zip(rest(second)).take_while(|(x, y)| x == y).count()
    }
}

/// The anchors of a document, from its k-grams.
fn anchors(grams: &[u64], window: usize, document: u32, start: usize) -> Vec<Anchor> {
    let mut anchors = Vec::new();
    if grams.len() < window {
        return anchors;
    }
    let mut selected: Vec<(usize, usize)> = Vec::new();
    selected_by_windows(grams, window, |at, first| selected.push((at, first)));
    let after_last = grams.len() - window + 1;
    for (number, &(at, first)) in selected.iter().enumerate() {
        let last = selected.get(number + 1).map_or(after_last, |next| next.1) - 1;
        let offsets = at - last..at - first + 1;
        anchors.push(Anchor { document, at: start + at, offsets, gram: grams[at], before: 0 });
    }
    anchors
}

/// The places of one k-gram.
struct Group<'t> {
    text: &'t Text,
    /// Sorted by what precedes them.
    members: Vec<u32>,
    /// The common length of what precedes each and the next one.
    common: Vec<usize>,
}

impl<'t> Group<'t> {
    fn new(text: &'t Text, group: &[u32]) -> Self {
        let mut members = group.to_vec();
        members.sort_unstable_by(|&a, &b| text.compare_left(a, b).0.then(a.cmp(&b)));
        let common = members.windows(2).map(|pair| text.compare_left(pair[0], pair[1]).1).collect();
        Group { text, members, common }
    }

    /// The repeats whose first window selects this k-gram.
    fn repeats(&self, most_places: usize) -> Vec<Repeat> {
        let mut found = Vec::new();
        let mut branch = Vec::new();
        intervals(&self.common, |depth, range| {
            // No window reaches further.
            if depth >= self.text.window {
                return;
            }
            branch.clear();
            let mut number = 0u32;
            for at in range.clone() {
                number += u32::from(at > range.start && self.common[at - 1] == depth);
                if self.text.anchors[self.members[at] as usize].offsets.contains(&depth) {
                    branch.push((self.members[at], number));
                }
            }
            let is_branching = branch.first().is_some_and(|first| branch.iter().any(|other| other.1 != first.1));
            if is_branching {
                self.follow(depth, &mut branch, most_places, &mut found);
            }
        });
        found
    }

    /// The repeats that begin `depth` tokens before these places. Each has the number of its branch to the left.
    fn follow(&self, depth: usize, places: &mut [(u32, u32)], most_places: usize, found: &mut Vec<Repeat>) {
        let text = self.text;
        places.sort_unstable_by(|a, b| text.compare_right(a.0, b.0).0.then(a.0.cmp(&b.0)));
        let common: Vec<usize> = places.windows(2).map(|pair| text.compare_right(pair[0].0, pair[1].0).1).collect();
        // The number of changes of the branch up to each place.
        let mut changes = vec![0u32];
        changes.extend(places.windows(2).scan(0, |changes, pair| {
            *changes += u32::from(pair[0].1 != pair[1].1);
            Some(*changes)
        }));
        intervals(&common, |length, range| {
            let is_maximal = changes[range.start] != changes[range.end - 1];
            if is_maximal && depth + length >= text.shortest {
                let mut anchors: Vec<u32> = places[range.clone()].iter().map(|place| place.0).collect();
                let kept = most_places.min(anchors.len());
                if 0 < kept && kept < anchors.len() {
                    anchors.select_nth_unstable(kept - 1);
                }
                anchors.truncate(kept);
                anchors.sort_unstable();
                let place = |anchor: u32| {
                    let anchor = &text.anchors[anchor as usize];
                    Place { document: anchor.document as usize, token: anchor.at - depth - text.document(anchor).start }
                };
                let places = anchors.into_iter().map(place).collect();
                found.push(Repeat { tokens: depth + length, count: range.len(), places });
            }
        });
    }
}

/// Calls `each` with the depth and the range of every inner node of a tree of sorted strings, given the common length of each and
/// the next one. Inner nodes come before those around them.
fn intervals(common: &[usize], mut each: impl FnMut(usize, Range<usize>)) {
    let mut open: Vec<(usize, usize)> = Vec::new();
    for (at, &depth) in common.iter().enumerate() {
        let mut start = at;
        while let Some(&(inner, first)) = open.last().filter(|(inner, _)| *inner > depth) {
            open.pop();
            each(inner, first..at + 1);
            start = first;
        }
        if open.last().is_none_or(|&(outer, _)| outer < depth) {
            open.push((depth, start));
        }
    }
    while let Some((depth, first)) = open.pop() {
        each(depth, first..common.len() + 1);
    }
}

/// The base of the hashes of strings. It is another one in each call, so that no text is made for it: two strings of `n` tokens
/// that differ have one hash for at most `n` of some 2⁶¹ bases.
fn random_base() -> u64 {
    // Not 0 or 1.
    2 + RandomState::new().hash_one(0) % (modular::PRIME - 2)
}

/// Numbers modulo a prime: hashes of strings, as the values of polynomials (Karp & Rabin, IBM J. Res. Dev. 1987).
mod modular {
    /// A Mersenne prime.
    pub const PRIME: u64 = (1 << 61) - 1;

    /// The product of numbers below 2⁶¹.
    pub const fn times(a: u64, b: u64) -> u64 {
        let product = a as u128 * b as u128;
        reduce((product as u64 & PRIME) + (product >> 61) as u64)
    }

    /// The sum of a number below the prime, and of any other.
    pub const fn add(a: u64, b: u64) -> u64 {
        reduce(a + reduce((b & PRIME) + (b >> 61)))
    }

    const fn reduce(a: u64) -> u64 {
        if a >= PRIME { a - PRIME } else { a }
    }
}

/// Powers of the base: of each digit of an exponent.
struct Powers([[u64; 256]; 6]);

impl Powers {
    /// Those of a base.
    fn new(mut base: u64) -> Self {
        let mut powers = [[1; 256]; 6];
        for digit in &mut powers {
            for at in 1..256 {
                digit[at] = modular::times(digit[at - 1], base);
            }
            base = modular::times(digit[255], base);
        }
        Powers(powers)
    }

    fn base(&self) -> u64 {
        self.0[0][1]
    }

    /// The hash of a string of this length, from those of the text before it and of the text with it.
    fn between(&self, before: u64, with: u64, length: usize) -> u64 {
        let (mut power, mut rest) = (1, length);
        for digit in &self.0 {
            if rest & 255 > 0 {
                power = modular::times(power, digit[rest & 255]);
            }
            rest >>= 8;
        }
        modular::add(with, modular::PRIME - modular::times(before, power))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::mix;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    /// All repeats by their definition: of every string, all places.
    fn by_definition(documents: &[&[u64]], shortest: usize) -> Vec<Repeat> {
        let mut all: BTreeMap<&[u64], Vec<Place>> = BTreeMap::new();
        for (number, document) in documents.iter().enumerate() {
            for start in 0..document.len() {
                for end in start + shortest..=document.len() {
                    all.entry(&document[start..end]).or_default().push(Place { document: number, token: start });
                }
            }
        }
        let differ = |places: &[Place], next: &dyn Fn(&Place) -> Option<u64>| {
            places.iter().any(|place| next(place).is_none() || next(place) != next(&places[0]))
        };
        let mut repeats = Vec::new();
        for (string, places) in all.into_iter().filter(|(_, places)| places.len() > 1) {
            let before = |place: &Place| documents[place.document][..place.token].last().copied();
            let after = |place: &Place| documents[place.document].get(place.token + string.len()).copied();
            if differ(&places, &before) && differ(&places, &after) {
                repeats.push(Repeat { tokens: string.len(), count: places.len(), places });
            }
        }
        repeats.sort_by(|a, b| (a.places[0], b.tokens).cmp(&(b.places[0], a.tokens)));
        repeats
    }

    fn check(documents: &[Vec<u64>], shortest: usize, gram: usize) -> Result<(), TestCaseError> {
        let documents: Vec<&[u64]> = documents.iter().map(Vec::as_slice).collect();
        let expected = by_definition(&documents, shortest);
        prop_assert_eq!(&repeats_by(&documents, shortest, gram, usize::MAX), &expected, "{:?}", documents);
        let mut found = repeats(&documents, shortest, 2);
        prop_assert_eq!(found.len(), expected.len());
        for (found, expected) in found.iter_mut().zip(expected) {
            prop_assert_eq!((found.tokens, found.count), (expected.tokens, expected.count));
            prop_assert_eq!(&found.places[..], &expected.places[..found.count.min(2)]);
        }
        Ok(())
    }

    /// Documents of few different tokens, with copies of parts of others, and with periods.
    fn documents() -> impl Strategy<Value = Vec<Vec<u64>>> {
        let random = (1u64..5, prop::collection::vec(any::<u64>(), 0..40))
            .prop_map(|(kinds, tokens)| tokens.into_iter().map(|token| mix(token % kinds)).collect::<Vec<_>>());
        let periodic = (1usize..4, 0usize..40)
            .prop_map(|(period, length)| (0..length).map(|at| mix((at % period) as u64)).collect::<Vec<_>>());
        let cuts = prop::collection::vec((any::<prop::sample::Index>(), 0usize..40, 0usize..40), 0..6);
        (prop::collection::vec(prop_oneof![3 => random, 1 => periodic], 1..6), cuts).prop_map(
            |(mut documents, cuts)| {
                for (of, start, length) in cuts {
                    let document = &documents[of.index(documents.len())];
                    let (start, end) = (start.min(document.len()), (start + length).min(document.len()));
                    let mut copy = vec![mix(77 + start as u64)];
                    copy.extend_from_slice(&document[start..end]);
                    copy.push(mix(99 + length as u64));
                    documents.push(copy);
                }
                documents
            },
        )
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn exactly_the_maximal_repeats(documents in documents(), shortest in 1usize..9, gram in 1usize..9) {
            check(&documents, shortest, gram.min(shortest))?;
        }
    }

    #[test]
    fn empty_and_short() {
        assert!(repeats(&[], 5, 1).is_empty());
        assert!(repeats(&[&[], &[1, 2], &[1, 2]], 3, 1).is_empty());
        assert_eq!(repeats(&[&[1, 2], &[], &[1, 2]], 0, 0), [Repeat { tokens: 2, count: 2, places: vec![] }]);
    }

    /// The number of comparisons does not depend on the square of the number of copies, nor of their length.
    #[test]
    fn many_copies_and_long_ones() {
        let page: Vec<u64> = (0..200).map(mix).collect();
        let copies: Vec<Vec<u64>> =
            (0..20_000).map(|n| [&[mix(1_000_000 + n)], &page[..], &[mix(2_000_000 + n)]].concat()).collect();
        let documents: Vec<&[u64]> = copies.iter().map(Vec::as_slice).collect();
        let found = repeats(&documents, 50, 3);
        let places = (0..3).map(|document| Place { document, token: 1 }).collect();
        assert_eq!(found, [Repeat { tokens: 200, count: 20_000, places }]);

        let long: Vec<u64> = (0..500_000).map(|n| mix(n % 400_000)).collect();
        let found = repeats(&[&long, &long], 50, 9);
        let lengths: Vec<(usize, usize)> = found.iter().map(|repeat| (repeat.tokens, repeat.count)).collect();
        assert_eq!(lengths, [(500_000, 2), (100_000, 4)]);

        // A period of one: as many repeats as tokens, found without comparing all with all.
        let same = vec![7; 20_000];
        assert_eq!(repeats(&[&same], 50, 1).len(), 20_000 - 50);
    }
}
