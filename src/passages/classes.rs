//! From pairs of places to passages: pairs whose first places are nearly the same stretch are one passage.
//!
//! The first place of a passage is the union of the first places of its pairs, as long as every other place is still similar to it: with `m`
//! matching words, at a threshold of `t`, one of `b` words allows `2m/t − b` words. Words that match in an alignment with a part of the
//! first place match in one with all of it.

use super::repeats::{Found, FoundPlace};
use crate::error::Error;
use crate::similarity::Threshold;
use std::cmp::Reverse;
use std::ops::Range;

/// A place, and an earlier one that it is similar to, in tokens of all documents together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Similar {
    pub first: Range<u64>,
    pub later: Range<u64>,
    /// The tokens that are equal in both.
    pub matched: u32,
}

impl Similar {
    /// By the starts of the earlier places, then of the later ones; the longest comes first, since it makes those within it redundant; of two
    /// with the same places, the one that matches best.
    pub fn order(&self) -> impl Ord + use<> {
        let ends = Reverse((self.first.end, self.later.end));
        (self.first.start, self.later.start, ends, Reverse(self.matched))
    }

    /// As words that are ordered by the first places, longer ones first, then by the later ones.
    pub fn into_row(self) -> [u64; 4] {
        let [first, later] = [&self.first, &self.later].map(|range| range.end - range.start);
        let lengths = u64::from(u32::MAX - first as u32) << 32 | later;
        [self.first.start, lengths, self.later.start, u64::from(self.matched)]
    }

    /// The pair in these words.
    pub fn of_row(&[start, lengths, later, matched]: &[u64; 4]) -> Self {
        let length = u64::from(u32::MAX - (lengths >> 32) as u32);
        let (first, later) = (start..start + length, later..later + u64::from(lengths as u32));
        Similar { first, later, matched: matched as u32 }
    }

    /// Whether both places of another pair are within those of this one.
    pub fn holds(&self, other: &Similar) -> bool {
        let holds = |range: &Range<u64>, other: &Range<u64>| range.start <= other.start && other.end <= range.end;
        holds(&self.first, &other.first) && holds(&self.later, &other.later)
    }

    /// The maximum length of a first place to which the later one is still similar.
    fn most(&self, similarity: Threshold) -> u64 {
        let [numerator, denominator] = similarity.fraction().map(u128::from);
        let both = 2 * u128::from(self.matched) * denominator / numerator;
        (both as u64).saturating_sub(self.later.end - self.later.start)
    }
}

/// A passage that pairs are still added to.
struct Class {
    first: Range<u64>,
    /// The maximum length of the first place.
    most: u64,
    /// Where it ends at the latest: where another place begins.
    limit: u64,
    others: Vec<FoundPlace>,
    /// The places that are not kept.
    more: u64,
}

/// The maximum number of passages that pairs are added to at the same time.
const MAX_OPEN: usize = 16;

/// Passages that are being made of pairs.
pub(super) struct Classes<F> {
    similarity: Threshold,
    most_places: usize,
    open: Vec<Class>,
    /// The size of a range, where tokens that count half do.
    size: F,
}

impl<F: FnMut(Range<u64>) -> Result<u64, Error>> Classes<F> {
    /// None yet.
    pub fn new(similarity: Threshold, most_places: usize, size: F) -> Self {
        Classes { similarity, most_places, open: Vec::new(), size }
    }

    /// Adds a pair, in the order of their rows.
    ///
    /// # Errors
    /// Tokens cannot be read, or the passages do not fit the memory.
    pub fn add(&mut self, pair: Similar, found: &mut Found) -> Result<(), Error> {
        while let Some(at) = self.open.iter().position(|class| class.first.end <= pair.first.start) {
            let class = self.open.remove(at);
            self.close(class, found)?;
        }
        let most = pair.most(self.similarity);
        let place = FoundPlace {
            at: pair.later.start,
            tokens: (pair.later.end - pair.later.start) as u32,
            matched: pair.matched,
        };
        let joined = self.open.iter_mut().rev().find(|class| class.takes(&pair, most));
        match joined {
            Some(class) => {
                class.first.end = class.first.end.max(pair.first.end);
                class.most = class.most.min(most);
                class.limit = class.limit.min(place.at);
                class.others.push(place);
                if class.others.len() / 2 >= self.most_places.max(1 << 10) {
                    class.more += compact(&mut class.others, self.most_places);
                }
            }
            None => {
                // The places of what overlaps itself stay as they are.
                let limit = place.at.max(pair.first.end);
                self.open.push(Class { first: pair.first, most, limit, others: vec![place], more: 0 });
                if self.open.len() > MAX_OPEN {
                    let class = self.open.remove(0);
                    self.close(class, found)?;
                }
            }
        }
        Ok(())
    }

    /// Adds the last passages.
    ///
    /// # Errors
    /// As for [`add`](Self::add).
    pub fn finish(mut self, found: &mut Found) -> Result<(), Error> {
        while !self.open.is_empty() {
            let class = self.open.remove(0);
            self.close(class, found)?;
        }
        found.sort();
        Ok(())
    }

    fn close(&mut self, mut class: Class, found: &mut Found) -> Result<(), Error> {
        let tokens = (class.first.end - class.first.start) as u32;
        let left = compact(&mut class.others, self.most_places.saturating_sub(1));
        let count = 1 + class.others.len() as u64 + left + class.more;
        class.others.insert(0, FoundPlace { at: class.first.start, tokens, matched: tokens });
        found.push_near((self.size)(class.first)?, count, &class.others)
    }
}

impl Class {
    /// Whether a pair, which allows a first place of `most` tokens, is one of this passage. It does not begin before it.
    fn takes(&self, pair: &Similar, most: u64) -> bool {
        let end = self.first.end.max(pair.first.end);
        let common = self.first.end.min(pair.first.end) - pair.first.start;
        let shorter = (self.first.end - self.first.start).min(pair.first.end - pair.first.start);
        2 * common >= shorter
            && end - self.first.start <= most.min(self.most)
            && end <= self.limit.min(pair.later.start)
    }
}

/// Puts places in order, removes those within others, and keeps the first ones. Returns the number of those that are not kept.
fn compact(places: &mut Vec<FoundPlace>, most: usize) -> u64 {
    let end = |place: &FoundPlace| place.at + u64::from(place.tokens);
    places.sort_unstable_by_key(|place| (place.at, std::cmp::Reverse((place.tokens, place.matched))));
    let mut last = 0;
    places.retain(|place| {
        let is_further = end(place) > last;
        last = last.max(end(place));
        is_further
    });
    let left = places.len().saturating_sub(most);
    places.truncate(most);
    left as u64
}
