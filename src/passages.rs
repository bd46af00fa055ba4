//! Passages that two documents share: winnowed fingerprints find them, token-by-token comparison confirms them.
//!
//! **Source.** Schleimer, Wilkerson & Aiken, *Winnowing: Local Algorithms for Document Fingerprinting*, SIGMOD 2003: of
//! every `w` consecutive k-gram hashes the least is selected. The choice depends on those hashes alone. So two
//! documents that have `t = w + k − 1` consecutive tokens in common select the same k-gram of them, and matches shorter
//! than `k` tokens are never found.
//!
//! **Result.** [`common_runs`] returns the maximal common runs of at least `t` tokens: pairs of places from which the
//! tokens are equal, and which can be extended neither to the left nor to the right. [`CommonRuns::passages`] selects
//! those that are worth showing. [`Overlap`] counts the shingles that the documents share.
//!
//! **A whole corpus.** [`repeats`] finds what repeats in many documents, and [`find_passages`] and [`find_spans`] in those of a
//! source. [`find_unshared`] chooses the documents that have none of a reference. [`find_contained`] states how much of each document stands in others, [`find_coverages`] lists every pair, and
//! [`find_uncontained`] chooses the documents that are kept.
//!
//! **Cost.** Linear in the tokens, times 2·[`FREQUENT`] at worst. In a text that repeats itself, the number of maximal
//! runs can be the square of its length. Therefore, if a k-gram is selected more than [`FREQUENT`] times in a document,
//! only a few pairs of its places are compared, and [`CommonRuns::frequent`] counts it.

pub(crate) mod align;
mod choice;
mod classes;
mod contained;
mod corpus;
mod coverages;
mod covered;
mod cuts;
mod cutting;
mod distinct;
mod gathered;
mod later;
pub(crate) mod lcs;
mod locate;
mod longer;
mod marks;
mod matched;
mod minima;
mod modular;
mod near;
mod order;
mod overlaps;
mod paired;
mod pairs;
mod pieces;
mod presets;
mod reading;
mod reduced;
mod repeats;
mod runs;
mod seeds;
mod shared;
mod sites;
mod stretches;
mod text;
mod uncontained;
mod units;
mod unshared;

pub use crate::run::fields::RequiredFields;
pub use crate::run::places::At;
pub use contained::{Contained, Containment, SharedPassage, find_contained};
pub use corpus::{DocumentSpans, Passage, PassagePlace, Passages, Spans, find_passages, find_spans};
pub use coverages::{CONTAINMENT, ContainedPair, Coverage, Coverages, find_coverages};
pub use cuts::{Cut, CutCounts, CutOptions, Cuts, DocumentCuts, FirstPlace, KeptPlaces, find_cuts};
pub use cutting::PassageOptions;
pub use paired::{DocumentPair, DocumentPairs, PairedPassage};
pub use presets::{CONTAIN_PRESETS, ContainPreset};
pub use reading::PassageCounts;
pub use repeats::{Place, Repeat, repeats};
pub use runs::{ContainOptions, ShareOf, ShortDocuments};
pub use uncontained::{Container, ContainmentVerdict, Further, Uncontained, find_uncontained};
pub use units::CutUnit;
pub use unshared::{PassageVerdict, ReferencePassage, Unshared, find_unshared};

use crate::hash::shingle_hashes;
use crate::similarity::{Similarity, overlap_at_least};
use std::ops::Range;

/// The positions that winnowing selects: of every `window` consecutive hashes the rightmost least one. Ascending, without
/// repeats. Fewer hashes than the window are one window; no hashes select nothing. A window of 0 counts as 1.
///
/// A selection depends on the window alone and not on earlier selections, so equal windows select the same place. About
/// 2 in `window + 1` positions are selected.
///
/// Cost: linear, whatever the window.
///
/// ```
/// // The example of the paper.
/// let hashes = [77, 74, 42, 17, 98, 50, 17, 98, 8, 88, 67, 39, 77, 74, 42, 17, 98];
/// assert_eq!(neardups::passages::winnow(&hashes, 4), [3, 6, 8, 11, 15]);
/// ```
pub fn winnow(hashes: &[u64], window: usize) -> Vec<usize> {
    let mut selected = Vec::new();
    selected_by_windows(hashes, window, |at, _| selected.push(at));
    selected
}

/// Calls `each` with the positions that winnowing selects, and for each with the start of the first window that does.
pub(crate) fn selected_by_windows(hashes: &[u64], window: usize, mut each: impl FnMut(usize, usize)) {
    let window = window.clamp(1, hashes.len().max(1));
    // Of blocks of the length of a window, each window has the end of one and the start of the next, as in van Herk, Pattern
    // Recogn. Lett. 1992. Places go with their hashes. For the end of the block before that starts at each place: its least place.
    let mut ends = vec![(0, 0); window];
    let mut selected = usize::MAX;
    for (block, hashes) in (0..).step_by(window).zip(hashes.chunks(window)) {
        let mut start = (u64::MAX, 0);
        for (at, &hash) in hashes.iter().enumerate() {
            start = if hash <= start.0 { (hash, block + at) } else { start };
            let least = match ends.get(at + 1) {
                Some(_) if block == 0 => continue,
                Some(end) if end.0 < start.0 => end.1,
                _ => start.1,
            };
            if least != selected {
                selected = least;
                each(least, block + at + 1 - window);
            }
        }
        let last = hashes.len() - 1;
        let mut end = (hashes[last], block + last);
        for ((at, &hash), kept) in hashes.iter().enumerate().zip(&mut ends).rev() {
            end = if hash < end.0 { (hash, block + at) } else { end };
            *kept = end;
        }
    }
}

/// A run of tokens that occurs in both documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Run {
    /// The number of its first token in the first document, from 0.
    pub a: usize,
    /// The number of its first token in the second document.
    pub b: usize,
    /// Its length in tokens.
    pub tokens: usize,
}

/// The common runs of two documents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommonRuns {
    /// The maximal common runs, ordered by their place in the first document, then in the second. They may overlap.
    pub runs: Vec<Run>,
    /// The number of distinct k-grams that were too frequent for all their places to be compared. If it is 0, the runs
    /// are complete. Otherwise, runs of text that repeats this often may be missing, but every run is a maximal common
    /// run.
    pub frequent: usize,
    shortest: usize,
    lengths: [usize; 2],
}

/// A k-gram that is selected more often than this in one of the documents is frequent.
pub const FREQUENT: usize = 32;

/// The maximal common runs of at least `shortest` tokens. Documents are given by their token hashes; a `shortest` of 0 counts
/// as 1.
///
/// Memory: 24 bytes per pair of places with an equal selected k-gram; there are at most [`FREQUENT`] times as many as
/// tokens.
///
/// ```
/// use neardups::passages::{Run, common_runs};
/// let found = common_runs(&[1, 2, 3, 4, 5, 6], &[9, 2, 3, 4, 5, 8], 3);
/// assert_eq!(found.runs, [Run { a: 1, b: 1, tokens: 4 }]);
/// ```
pub fn common_runs(a: &[u64], b: &[u64], shortest: usize) -> CommonRuns {
    let shortest = shortest.max(1);
    let mut found = CommonRuns { shortest, lengths: [a.len(), b.len()], ..CommonRuns::default() };
    if a.len().min(b.len()) < shortest {
        return found;
    }
    // Half and half: long grams rarely match by chance, wide windows select few. Hashes are of at most 64 tokens.
    let gram = shortest.div_ceil(2).min(64);
    let window = shortest - gram + 1;
    let selected = [a, b].map(|tokens| {
        let mut hashes = Vec::new();
        shingle_hashes(tokens, gram, &mut hashes);
        let mut selected: Vec<(u64, usize)> = winnow(&hashes, window).iter().map(|&at| (hashes[at], at)).collect();
        selected.sort_unstable();
        selected
    });
    let mut seeds = Vec::new();
    found.frequent = meet(&selected, &mut seeds);
    // Seeds of one diagonal are adjacent, so that a run is extended from its first seed only.
    seeds.sort_unstable_by_key(|&(a, b)| (b.wrapping_sub(a), a));
    seeds.dedup();
    let (mut diagonal, mut end) = (None, 0);
    for (at_a, at_b) in seeds {
        let own = Some(at_b.wrapping_sub(at_a));
        if own == diagonal && at_a < end {
            continue;
        }
        let before = a[..at_a].iter().rev().zip(b[..at_b].iter().rev()).take_while(|(x, y)| x == y).count();
        let after = a[at_a..].iter().zip(&b[at_b..]).take_while(|(x, y)| x == y).count();
        // Equal hashes need not be equal tokens.
        if after > 0 {
            (diagonal, end) = (own, at_a + after);
            if before + after >= shortest {
                found.runs.push(Run { a: at_a - before, b: at_b - before, tokens: before + after });
            }
        }
    }
    found.runs.sort_unstable();
    found.runs.dedup();
    found
}

/// Appends the pairs of places with equal hashes. Returns the number of hashes that were too frequent for all pairs.
fn meet([a, b]: &[Vec<(u64, usize)>; 2], seeds: &mut Vec<(usize, usize)>) -> usize {
    let mut frequent = 0;
    let mut others = b.chunk_by(|x, y| x.0 == y.0).peekable();
    for run in a.chunk_by(|x, y| x.0 == y.0) {
        while others.next_if(|other| other[0].0 < run[0].0).is_some() {}
        let Some(other) = others.next_if(|other| other[0].0 == run[0].0) else { continue };
        let pair = |(x, y): (&(u64, usize), &(u64, usize))| (x.1, y.1);
        if run.len().max(other.len()) <= FREQUENT {
            seeds.extend(run.iter().flat_map(|x| other.iter().map(move |y| pair((x, y)))));
        } else {
            // Paired in order, from the front and from the back: copies of a text that repeats itself are found whole.
            frequent += 1;
            seeds.extend(run.iter().zip(other).map(pair));
            seeds.extend(run.iter().rev().zip(other.iter().rev()).map(pair));
        }
    }
    frequent
}

impl CommonRuns {
    /// The number of tokens of each document that are in a common run.
    pub fn covered(&self) -> [usize; 2] {
        let mut covered = self.lengths.map(|length| vec![false; length]);
        self.runs.iter().for_each(|run| cover(&mut covered, run));
        covered.map(|tokens| tokens.into_iter().filter(|&covered| covered).count())
    }

    /// The runs that are worth showing, in the order of the first document. The longest are taken first, and among
    /// equals the earliest: first those that cover new tokens in both documents, then those that do in one. A passage
    /// that occurs twice in each document is two passages, not four.
    ///
    /// A run that is left out covers, in each document, fewer new tokens than the minimum length of a run.
    pub fn passages(&self) -> Vec<Run> {
        let mut open = self.runs.clone();
        open.sort_unstable_by_key(|run| (std::cmp::Reverse(run.tokens), run.a, run.b));
        let mut covered = self.lengths.map(|length| vec![false; length]);
        let mut passages = Vec::new();
        for least_uncovered in [2, 1] {
            open.retain(|run| {
                let uncovered = uncovered(&covered, run).iter().filter(|&&tokens| tokens >= self.shortest).count();
                if uncovered >= least_uncovered {
                    cover(&mut covered, run);
                    passages.push(*run);
                }
                uncovered < least_uncovered
            });
        }
        passages.sort_unstable();
        passages
    }
}

/// The number of tokens of a run that are not covered yet, in each document.
fn uncovered(covered: &[Vec<bool>; 2], run: &Run) -> [usize; 2] {
    let [a, b] = covered;
    [&a[run.a..], &b[run.b..]].map(|tokens| tokens[..run.tokens].iter().filter(|&&covered| !covered).count())
}

fn cover([a, b]: &mut [Vec<bool>; 2], run: &Run) {
    a[run.a..][..run.tokens].fill(true);
    b[run.b..][..run.tokens].fill(true);
}

/// The first place where two documents differ, as tokens of each: what is between their common runs of at least `shortest`
/// tokens. One of the two is empty if tokens were only added. `None` if all tokens are equal.
///
/// Cost: that of [`common_runs`].
///
/// ```
/// assert_eq!(neardups::passages::first_difference(&[1, 2, 3, 4, 5], &[1, 2, 9, 9, 4, 5], 2), Some([2..3, 2..4]));
/// ```
pub fn first_difference(a: &[u64], b: &[u64], shortest: usize) -> Option<[Range<usize>; 2]> {
    let (mut start, mut end) = ([0usize; 2], [a.len(), b.len()]);
    for Run { a: in_a, b: in_b, tokens } in common_runs(a, b, shortest).runs {
        // What was passed already counts no more.
        let passed = start[0].saturating_sub(in_a).max(start[1].saturating_sub(in_b));
        if passed >= tokens {
            continue;
        }
        if [in_a + passed, in_b + passed] != start {
            end = [in_a + passed, in_b + passed];
            break;
        }
        start = [in_a + tokens, in_b + tokens];
    }
    let gaps = |start: [usize; 2], end: [usize; 2]| [&a[start[0]..end[0]], &b[start[1]..end[1]]];
    let [x, y] = gaps(start, end);
    let before = x.iter().zip(y).take_while(|(x, y)| x == y).count();
    start = start.map(|start| start + before);
    let [x, y] = gaps(start, end);
    let after = x.iter().rev().zip(y.iter().rev()).take_while(|(x, y)| x == y).count();
    end = end.map(|end| end - after);
    let [of_a, of_b] = [start[0]..end[0], start[1]..end[1]];
    (!of_a.is_empty() || !of_b.is_empty()).then_some([of_a, of_b])
}

/// The numbers of distinct shingles of two documents, and of those in common (Broder 1997: resemblance and
/// containment).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Overlap {
    /// Distinct shingles of the first document.
    pub a: usize,
    /// Distinct shingles of the second document.
    pub b: usize,
    /// Distinct shingles of both.
    pub shared: usize,
}

impl Overlap {
    /// Counts the elements of two ascending sets without repeats.
    pub fn of_sets(a: &[u64], b: &[u64]) -> Self {
        let shared = overlap_at_least(a, b, 0).unwrap_or_default();
        Overlap { a: a.len(), b: b.len(), shared }
    }

    /// Counts the shingles of `width` tokens of two documents, given by their token hashes. A document of fewer tokens
    /// is one shingle.
    ///
    /// # Panics
    /// If `width` is 0.
    pub fn of_shingles(a: &[u64], b: &[u64], width: usize) -> Self {
        let [a, b] = [a, b].map(|tokens| {
            let mut set = Vec::new();
            shingle_hashes(tokens, width, &mut set);
            set.sort_unstable();
            set.dedup();
            set
        });
        Overlap::of_sets(&a, &b)
    }

    /// The Jaccard similarity. `None` if a document has no shingles, and so is similar to nothing.
    pub fn jaccard(self) -> Option<Similarity> {
        let either = self.a + self.b - self.shared;
        (self.a > 0 && self.b > 0).then(|| Similarity::ratio(self.shared as u64, either as u64))
    }

    /// The share of each document's shingles that are also in the other: how much of it is contained there. `None` for
    /// a document without shingles.
    pub fn containment(self) -> [Option<Similarity>; 2] {
        [self.a, self.b].map(|all| (all > 0).then(|| Similarity::ratio(self.shared as u64, all as u64)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::mix;
    use proptest::prelude::*;

    fn tokens(text: &str) -> Vec<u64> {
        text.split_whitespace().map(|word| word.bytes().fold(0, |h, byte| mix(h ^ u64::from(byte)))).collect()
    }

    /// Passages as `a+tokens=b`.
    fn passages(a: &str, b: &str, shortest: usize) -> Vec<String> {
        let found = common_runs(&tokens(a), &tokens(b), shortest);
        found.passages().iter().map(|run| format!("{}+{}={}", run.a, run.tokens, run.b)).collect()
    }

    #[test]
    fn windows_of_any_size() {
        let hashes = [5, 3, 3, 9, 1, 7];
        assert_eq!(winnow(&hashes, 1), [0, 1, 2, 3, 4, 5]);
        assert_eq!([winnow(&hashes, 0), winnow(&hashes, 2)], [vec![0, 1, 2, 3, 4, 5], vec![1, 2, 4]]);
        assert_eq!([winnow(&hashes, 6), winnow(&hashes, 100)], [[4], [4]]);
        assert!(winnow(&[], 4).is_empty());
        // The rightmost of equal ones, so that each window decides alone.
        assert_eq!(winnow(&[7; 6], 4), [3, 4, 5]);
    }

    proptest! {
        #[test]
        fn each_selected_place_has_its_first_window(hashes in prop::collection::vec(prop_oneof![0u64..5, Just(u64::MAX)], 0..60), window in 1usize..70) {
            let mut expected = Vec::new();
            for (start, window) in hashes.windows(window.clamp(1, hashes.len().max(1))).enumerate() {
                let least = window.iter().min().unwrap();
                let place = start + window.iter().rposition(|hash| hash == least).unwrap();
                if expected.last().is_none_or(|&(last, _)| last != place) {
                    expected.push((place, start));
                }
            }
            let mut selected = Vec::new();
            selected_by_windows(&hashes, window, |place, start| selected.push((place, start)));
            prop_assert_eq!(selected, expected);
        }
    }

    #[test]
    fn a_quotation_is_one_passage() {
        assert_eq!(passages("a b c d e f g", "x y b c d e f z", 4), ["1+5=2"]);
        assert_eq!(passages("a b c d e f g", "x y b c d e f z", 5), ["1+5=2"]);
        assert!(passages("a b c d e f g", "x y b c d e f z", 6).is_empty());
        assert_eq!(passages("a b c", "a b c", 0), ["0+3=0"]);
        assert!(passages("a b c", "a b c", 4).is_empty() && passages("", "", 1).is_empty());
    }

    #[test]
    fn a_passage_that_is_there_twice() {
        // Once here and twice there; the other way round; twice on both sides.
        assert_eq!(passages("p q r s", "p q r s x p q r s", 3), ["0+4=0", "0+4=5"]);
        assert_eq!(passages("p q r s x p q r s", "p q r s", 3), ["0+4=0", "5+4=0"]);
        assert_eq!(passages("p q r s x p q r s", "p q r s y p q r s", 3), ["0+4=0", "5+4=5"]);
    }

    #[test]
    fn moved_passages_are_listed_in_the_order_of_the_one() {
        assert_eq!(passages("a b c d e f", "d e f a b c", 3), ["0+3=3", "3+3=0"]);
    }

    #[test]
    fn a_text_that_repeats_itself_is_linear() {
        // If all places were compared, the number of maximal runs would be the square of the tokens: this would not
        // end.
        let (one, other) = (vec![7; 200_000], vec![7; 300_000]);
        let found = common_runs(&one, &other, 10);
        assert_eq!((found.frequent, found.covered()), (1, [200_000, 300_000]));
        assert_eq!(found.passages(), [Run { a: 0, b: 0, tokens: 200_000 }, Run { a: 0, b: 100_000, tokens: 200_000 }]);
        let period: Vec<u64> = (0..60_000).map(|i| i % 6).collect();
        assert_eq!(common_runs(&period, &period, 10).passages(), [Run { a: 0, b: 0, tokens: 60_000 }]);
    }

    #[test]
    fn overlaps() {
        let overlap = Overlap::of_shingles(&tokens("a b c d"), &tokens("x b c d y"), 2);
        assert_eq!(overlap, Overlap { a: 3, b: 4, shared: 2 });
        assert_eq!(overlap.jaccard(), Some(Similarity::ratio(2, 5)));
        assert_eq!(overlap.containment(), [Some(Similarity::ratio(2, 3)), Some(Similarity::ratio(2, 4))]);
        let empty = Overlap::of_shingles(&[], &tokens("x"), 2);
        assert_eq!((empty.jaccard(), empty.containment()), (None, [None, Some(Similarity::ratio(0, 1))]));
    }

    #[test]
    fn the_first_difference() {
        let of = |a: &[u64], b: &[u64]| first_difference(a, b, 3);
        let a: Vec<u64> = (0..20).collect();
        assert_eq!((of(&a, &a), of(&[], &[])), (None, None));
        assert_eq!(of(&a, &a[..15]), Some([15..20, 15..15]));
        assert_eq!(of(&a[3..], &a), Some([0..0, 0..3]));
        assert_eq!(of(&[1, 2], &[1, 3]), Some([1..2, 1..2]));
        let mut b = a.clone();
        b.splice(7..9, [70, 80, 90]);
        assert_eq!(of(&a, &b), Some([7..9, 7..10]));
        b.swap(15, 17);
        assert_eq!(of(&a, &b), Some([7..9, 7..10]));
        // A passage that was moved to the front.
        let moved: Vec<u64> = (10..20).chain(0..10).collect();
        assert!(of(&a, &moved).is_some());
        // Whatever repeats, the text before the difference is equal.
        for bits in 0..1u64 << 12 {
            let [a, b] =
                [bits, (bits * 0x9e37_79b9) >> 7].map(|bits| (0..10).map(|at| (bits >> at) & 1).collect::<Vec<_>>());
            match first_difference(&a, &b, 2) {
                None => assert_eq!(a, b),
                Some([of_a, of_b]) => {
                    assert_ne!(a[of_a.clone()], b[of_b.clone()]);
                    assert!(of_a.end <= a.len() && of_b.end <= b.len());
                }
            }
        }
    }
}
