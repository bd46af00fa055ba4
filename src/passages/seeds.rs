//! Where places are compared that may be similar: at k-grams that they have in common.
//!
//! ```text
//! tokens → [`Seeding`] on any thread → rows (k-gram, place), sorted → [`pairs`]: rows (place, earlier place), sorted
//! ```
//!
//! A place is paired with the first one that has its k-gram, and with the one before it: so a paragraph that a hundred thousand documents
//! have is found in all of them by two comparisons for each of its k-grams. With a reference, it is paired with the places there: with all of
//! them if they are few, so that a question is found whose every part stands in others, too; otherwise with the first and the last one.
//!
//! How many are few follows from the work: a few questions may have more pairs each than many documents ([`Reference`]). Of many pairs of a
//! place, only those are [looked at](promising) that have most others near them.

use super::covered::Covered;
use super::selected_by_windows;
use crate::error::Error;
use crate::hash::shingle_hashes;
use crate::postings::Sorter;
use std::ops::Range;

/// The maximum number of places of a k-gram in a reference that are all compared, however many documents are.
const MOST_OF_REFERENCE: usize = 8;

/// The maximum number of pairs of a document with a reference, about: each token is the place of one k-gram at most.
const MOST_OF_DOCUMENT: u64 = 1 << 17;

/// Of so many tokens of a document, the pairs with most others near them are looked at.
const BLOCK: usize = 1 << 7;

/// How far apart two of them may be moved, in tokens, by words that one side has more.
const NEAR: u64 = 8;

/// The groups of such pairs that are looked at for each block.
const MOST_OF_BLOCK: usize = 16;

/// Selects the k-grams of a document: the least one of each window, by its hash.
#[derive(Clone, Copy)]
pub(super) struct Seeding {
    gram: usize,
    window: usize,
}

/// The range of the length of a k-gram, and of that of a window. Of a passage of which one word in five is changed, evenly, no more than 4
/// words in a row are not; but nobody edits evenly, and the shorter a k-gram is, the more places have it by chance.
const LEAST: usize = 4;
const MOST: usize = 5;

impl Seeding {
    /// For passages of at least so many words.
    pub fn new(min_words: usize) -> Self {
        let length = (min_words / 6).clamp(LEAST, MOST);
        Seeding { gram: length.min(min_words), window: length }
    }

    /// The number of equal tokens in a row of which one k-gram is selected for sure.
    #[cfg(all(test, feature = "files"))]
    pub fn reach(self) -> usize {
        self.gram + self.window - 1
    }

    /// Appends the k-grams of a document, each with its place: that of the first token is `first`.
    pub fn select(self, first: u64, tokens: &[u64], grams: &mut Vec<u64>, seeds: &mut Vec<u64>) {
        if tokens.len() < self.gram {
            return;
        }
        grams.clear();
        shingle_hashes(tokens, self.gram, grams);
        selected_by_windows(grams, self.window, |at, _| seeds.extend([grams[at], first + at as u64]));
    }
}

/// Rows of a k-gram and its place, for all documents.
pub(super) type Seeds = Sorter<2>;

/// A reference: the documents before the others.
#[derive(Clone, Copy)]
pub(super) struct Reference<'d> {
    /// Its tokens.
    pub end: u64,
    /// Where documents start, and the end of the last one.
    pub starts: &'d [u64],
}

impl Reference<'_> {
    /// The maximum number of places in the reference that a place of a document of so many tokens is paired with: there are no more pairs
    /// than tokens, but for [`MOST_OF_REFERENCE`] of each place.
    fn most_of(self, tokens: u64) -> usize {
        let all = self.starts[self.starts.len() - 1];
        let share = (all / (all - self.end).max(1)).min(MOST_OF_DOCUMENT / tokens.max(1));
        MOST_OF_REFERENCE.max(share as usize)
    }

    /// The same for a place of a document.
    fn most_at(self, place: u64) -> usize {
        let next = self.starts.partition_point(|&start| start <= place);
        self.most_of(self.starts[next] - self.starts[next - 1])
    }
}

/// The places of equal k-grams, each with an earlier one: the first one and the last one before it. With a reference, only places after it,
/// with places in it: all of them up to the [most](Reference::most_of) for the document, and otherwise the first one and the last one. A
/// place in a passage that is `known` is paired with the first one only.
///
/// # Errors
/// A temporary file cannot be read, or that of the pairs cannot be written.
pub(super) fn pairs(
    seeds: Seeds,
    known: &Covered,
    reference: Option<Reference<'_>>,
    mut pairs: Sorter<2>,
) -> Result<Sorter<2>, Error> {
    let most = reference.map_or(0, |reference| reference.most_of(1));
    // Of the places in the reference between the first and the last one, the first few, and their number.
    let (mut between, mut count) = (Vec::new(), 0);
    let (mut gram, mut first, mut last) = (None, 0, 0);
    seeds.for_each(|&[own, place]| {
        if gram != Some(own) {
            (gram, first, last, count) = (Some(own), place, place, 0);
            between.clear();
            return Ok(());
        }
        let is_paired = reference.is_none_or(|reference| first < reference.end && reference.end <= place);
        if is_paired {
            pairs.push([place, first])?;
            if last != first && !known.has(place) {
                let are_few = count + 2 <= MOST_OF_REFERENCE
                    || reference.is_some_and(|reference| count + 2 <= reference.most_at(place));
                if are_few {
                    between.iter().try_for_each(|&other| pairs.push([place, other]))?;
                }
                pairs.push([place, last])?;
            }
        }
        let is_of_reference = reference.is_some_and(|reference| place < reference.end);
        if is_of_reference && last != first {
            if count + 2 < most {
                between.push(last);
            }
            count += 1;
        }
        if reference.is_none() || is_of_reference {
            last = place;
        }
        Ok(())
    })?;
    Ok(pairs)
}

/// Calls `each` with those of these pairs of a document, which ascend, that are to be looked at, in no order: all of a place that has few. Of
/// one that has many, the first one, the last one, and those that have most others near them, at about the same distance.
pub(super) fn promising(pairs: &[[u64; 2]], mut each: impl FnMut([u64; 2])) {
    let mut many = Vec::new();
    for of_place in pairs.chunk_by(|x, y| x[0] == y[0]) {
        match of_place {
            [first, between @ .., last] if of_place.len() > MOST_OF_REFERENCE => {
                [first, last].into_iter().for_each(|&pair| each(pair));
                many.extend(between.iter().map(|&[place, earlier]| (place - earlier, place)));
            }
            few => few.iter().for_each(|&pair| each(pair)),
        }
    }
    let Some(&(_, start)) = many.first() else { return };
    let block_of = |place: u64| (place - start) / BLOCK as u64;
    for block in many.chunk_by_mut(|x, y| block_of(x.1) == block_of(y.1)) {
        block.sort_unstable();
        let mut groups = groups(block);
        groups.sort_by_key(|(places, _)| std::cmp::Reverse(*places));
        let (mut is_taken, mut left) = (vec![false; block.len()], MOST_OF_BLOCK);
        for (_, group) in groups {
            if left == 0 {
                break;
            }
            if is_taken[group.start] {
                continue;
            }
            left -= 1;
            for at in group {
                if !std::mem::replace(&mut is_taken[at], true) {
                    let (apart, place) = block[at];
                    each([place, place - apart]);
                }
            }
        }
    }
}

/// From each pair on, those that are [`NEAR`] it, with the number of their different places. They are ordered by how far apart they are.
fn groups(block: &[(u64, u64)]) -> Vec<(usize, Range<usize>)> {
    let (mut counts, mut places, mut end) = ([0u32; BLOCK], 0, 0);
    let slot = |at: usize| (block[at].1 % BLOCK as u64) as usize;
    let mut groups = Vec::with_capacity(block.len());
    for at in 0..block.len() {
        while end < block.len() && block[end].0 < block[at].0 + NEAR {
            places += usize::from(counts[slot(end)] == 0);
            counts[slot(end)] += 1;
            end += 1;
        }
        groups.push((places, at..end));
        counts[slot(at)] -= 1;
        places -= usize::from(counts[slot(at)] == 0);
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        /// The plain version looks at all places of the reference for each place.
        #[test]
        fn places_are_paired_with_all_of_the_reference_up_to_a_bound(
            lengths in prop::collection::vec(1u64..20, 2..12),
            references in 1usize..11,
            grams in prop::collection::vec(0u64..3, 240),
        ) {
            let mut starts = vec![0];
            lengths.iter().for_each(|length| starts.push(starts[starts.len() - 1] + length));
            let (end, all) = (starts[references.min(lengths.len() - 1)], starts[lengths.len()]);
            let (mut seeds, mut expected) = (Sorter::new("k-grams", 1 << 20, None), Vec::new());
            for place in 0..all {
                let gram = grams[place as usize];
                seeds.push([gram, place]).unwrap();
                let earlier: Vec<u64> = (0..end).filter(|&other| grams[other as usize] == gram).collect();
                let (Some(&first), true) = (earlier.first(), place >= end) else { continue };
                let document = starts.iter().rposition(|&start| start <= place).unwrap();
                let most = (all / (all - end)).min((1 << 17) / lengths[document]).max(8);
                if earlier.len() as u64 <= most {
                    expected.extend(earlier.iter().map(|&other| [place, other]));
                } else {
                    expected.extend([[place, first], [place, earlier[earlier.len() - 1]]]);
                }
            }
            let reference = Reference { end, starts: &starts };
            let rows = pairs(seeds, &Covered::new(all), Some(reference), Sorter::new("pairs", 1 << 20, None)).unwrap();
            let mut found = Vec::new();
            rows.for_each(|&row| {
                found.push(row);
                Ok(())
            }).unwrap();
            expected.sort_unstable();
            prop_assert!(found.len() as u64 <= 8 * (all - end) + all);
            prop_assert_eq!(found, expected);
        }

        #[test]
        fn pairs_with_most_others_near_them_are_looked_at(
            places in prop::collection::btree_map(1000u64..1300, prop::collection::btree_set(0u64..900, 1..40), 1..40),
        ) {
            let rows: Vec<[u64; 2]> =
                places.iter().flat_map(|(&place, earlier)| earlier.iter().map(move |&other| [place, other])).collect();
            let (mut found, mut few) = (Vec::new(), BTreeSet::new());
            promising(&rows, |row| found.push(row));
            for (&place, earlier) in &places {
                let ends = [earlier.first(), earlier.last()].map(|other| *other.unwrap());
                few.extend(earlier.iter().filter(|other| earlier.len() <= 8 || ends.contains(other)).map(|&other| [place, other]));
            }
            let all: BTreeSet<_> = found.iter().copied().collect();
            prop_assert_eq!(all.len(), found.len(), "a pair is looked at once");
            prop_assert!(few.is_subset(&all) && all.iter().all(|row| rows.contains(row)));
            // Of each block, one of the largest groups is looked at as a whole, and no more groups than there may be.
            let many: Vec<[u64; 2]> = rows.iter().copied().filter(|row| !few.contains(row)).collect();
            let Some(&[start, _]) = many.first() else { return Ok(()) };
            for block in 0..3 {
                let of_block = |row: &&[u64; 2]| (row[0] - start) / 128 == block;
                let group = |own: &[u64; 2]| -> Vec<[u64; 2]> {
                    let apart = own[0] - own[1];
                    many.iter().filter(of_block).filter(|row| (apart..apart + 8).contains(&(row[0] - row[1]))).copied().collect()
                };
                let size = |own: &[u64; 2]| group(own).iter().map(|row| row[0]).collect::<BTreeSet<_>>().len();
                let own: Vec<_> = many.iter().filter(of_block).collect();
                let Some(largest) = own.iter().map(|row| size(row)).max() else { continue };
                prop_assert!(own.iter().any(|row| size(row) == largest && group(row).iter().all(|row| all.contains(row))));
                let taken = own.iter().filter(|row| all.contains(**row));
                let apart: BTreeSet<u64> = taken.map(|row| row[0] - row[1]).collect();
                prop_assert!(apart.len() <= 16 * 8);
            }
        }
    }
}
