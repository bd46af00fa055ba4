//! Where places are compared that may be similar: at k-grams that they have in common.
//!
//! ```text
//! tokens → [`Seeding`] on any thread → rows (k-gram, place), sorted → [`pairs`]: rows (place, earlier place), sorted
//! ```
//!
//! A place is paired with the first one that has its k-gram, and with the one before it: so a paragraph that a hundred thousand documents
//! have is found in all of them by two comparisons for each of its k-grams. With a reference, it is paired with the places there: with all of
//! them if they are few, so that a question is found whose every part stands in others, too; otherwise with the first and the last one.

use super::covered::Covered;
use super::selected_by_windows;
use crate::error::Error;
use crate::hash::shingle_hashes;
use crate::postings::Sorter;

/// The maximum number of places of a k-gram in a reference that are all compared.
const MOST_OF_REFERENCE: usize = 8;

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

/// The places of equal k-grams, each with an earlier one: the first one and the last one before it. With a reference, of so many tokens, only
/// places after it, with places in it: all of them up to [`MOST_OF_REFERENCE`], and otherwise the first one and the last one. A place in a
/// passage that is `known` is paired with the first one only.
///
/// # Errors
/// A temporary file cannot be read, or that of the pairs cannot be written.
pub(super) fn pairs(
    seeds: Seeds,
    known: &Covered,
    reference: Option<u64>,
    mut pairs: Sorter<2>,
) -> Result<Sorter<2>, Error> {
    // Of the places in the reference between the first and the last one, the first few, and their number.
    let (mut between, mut count) = ([0; MOST_OF_REFERENCE - 2], 0);
    let (mut gram, mut first, mut last) = (None, 0, 0);
    seeds.for_each(|&[own, place]| {
        if gram != Some(own) {
            (gram, first, last, count) = (Some(own), place, place, 0);
            return Ok(());
        }
        let is_paired = reference.is_none_or(|end| first < end && end <= place);
        if is_paired {
            pairs.push([place, first])?;
            if last != first && !known.has(place) {
                let all = between.get(..count).unwrap_or_default();
                all.iter().try_for_each(|&other| pairs.push([place, other]))?;
                pairs.push([place, last])?;
            }
        }
        if reference.is_some_and(|end| place < end) && last != first {
            if let Some(other) = between.get_mut(count) {
                *other = last;
            }
            count += 1;
        }
        if reference.is_none_or(|end| place < end) {
            last = place;
        }
        Ok(())
    })?;
    Ok(pairs)
}
