//! From pairs of places to passages: pairs whose first places are nearly the same stretch are one passage.
//!
//! The first place of a passage is the union of the first places of its pairs, as long as every other place is still similar to it: with `m`
//! matching words, at a threshold of `t`, one of `b` words allows `2m/t − b` words. Words that match in an alignment with a part of the
//! first place match in one with all of it.

use super::repeats::FoundPlace;
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
    /// In the order in which passages were begun.
    number: u64,
    first: Range<u64>,
    /// The maximum length of the first place.
    most: u64,
    /// Where it ends at the latest: where another place begins.
    limit: u64,
    others: Vec<FoundPlace>,
    /// The places that are not kept.
    more: u64,
    /// A bit for each document that has a place that is not kept.
    documents_of_more: Vec<u64>,
}

/// A passage to which no more pairs are added.
pub(super) struct Closed {
    /// In the order in which passages were begun, from 0.
    pub number: u64,
    /// The number of its places.
    pub count: u64,
    /// The number of different documents that they are in.
    pub documents: u64,
    /// The first of them, of which the first one is the first.
    pub places: Vec<FoundPlace>,
}

/// The maximum number of passages that pairs are added to at the same time.
const MAX_OPEN: usize = 16;

/// The number of places of a passage that are kept at least, before those that are not reported are only counted. Tests keep fewer.
const LEAST_KEPT: usize = if cfg!(test) { 4 } else { 1 << 10 };

/// Passages that are being made of pairs.
pub(super) struct Classes<'s> {
    similarity: Threshold,
    most_places: usize,
    /// The first token of each document, and the end of the last one.
    starts: &'s [u64],
    open: Vec<Class>,
    begun: u64,
}

impl<'s> Classes<'s> {
    /// None yet, of documents with these starts. Of each, so many places are passed on.
    pub fn new(similarity: Threshold, most_places: usize, starts: &'s [u64]) -> Self {
        Classes { similarity, most_places, starts, open: Vec::new(), begun: 0 }
    }

    /// Adds a pair, in the order of their rows. Calls `each` with passages that are closed. Returns the number of the passage that the pair
    /// is added to.
    ///
    /// # Errors
    /// Those of `each`.
    pub fn add(&mut self, pair: Similar, mut each: impl FnMut(Closed) -> Result<(), Error>) -> Result<u64, Error> {
        while let Some(at) = self.open.iter().position(|class| class.first.end <= pair.first.start) {
            let class = self.open.remove(at);
            each(class.close(self.most_places, self.starts))?;
        }
        let most = pair.most(self.similarity);
        let place = FoundPlace {
            at: pair.later.start,
            tokens: (pair.later.end - pair.later.start) as u32,
            matched: pair.matched,
        };
        let joined = self.open.iter_mut().rev().find(|class| class.takes(&pair, most));
        if let Some(class) = joined {
            class.first.end = class.first.end.max(pair.first.end);
            class.most = class.most.min(most);
            class.limit = class.limit.min(place.at);
            class.others.push(place);
            if class.others.len() / 2 >= self.most_places.max(LEAST_KEPT) {
                outermost(&mut class.others);
                class.keep(self.most_places, self.starts);
            }
            return Ok(class.number);
        }
        // The places of what overlaps itself stay as they are.
        let (number, limit) = (self.begun, place.at.max(pair.first.end));
        self.begun += 1;
        let (others, documents_of_more) = (vec![place], Vec::new());
        self.open.push(Class { number, first: pair.first, most, limit, others, more: 0, documents_of_more });
        if self.open.len() > MAX_OPEN {
            let class = self.open.remove(0);
            each(class.close(self.most_places, self.starts))?;
        }
        Ok(number)
    }

    /// Closes the last passages.
    ///
    /// # Errors
    /// As for [`add`](Self::add).
    pub fn finish(self, mut each: impl FnMut(Closed) -> Result<(), Error>) -> Result<(), Error> {
        self.open.into_iter().try_for_each(|class| each(class.close(self.most_places, self.starts)))
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

    /// Keeps the first other places, which are in order, and only counts the rest.
    fn keep(&mut self, most: usize, starts: &[u64]) {
        let Some(rest) = self.others.get(most..) else { return };
        self.more += rest.len() as u64;
        let bits = &mut self.documents_of_more;
        for_each_document(rest, starts, |document| {
            let word = document / 64;
            bits.resize(bits.len().max(word + 1), 0);
            bits[word] |= 1 << (document % 64);
        });
        self.others.truncate(most);
    }

    fn close(mut self, most_places: usize, starts: &[u64]) -> Closed {
        let tokens = (self.first.end - self.first.start) as u32;
        outermost(&mut self.others);
        self.others.insert(0, FoundPlace { at: self.first.start, tokens, matched: tokens });
        let bits = &self.documents_of_more;
        let mut documents = bits.iter().map(|word| u64::from(word.count_ones())).sum();
        for_each_document(&self.others, starts, |document| {
            let is_counted = bits.get(document / 64).is_some_and(|word| word >> (document % 64) & 1 == 1);
            documents += u64::from(!is_counted);
        });
        let count = self.others.len() as u64 + self.more;
        self.others.truncate(most_places);
        Closed { number: self.number, count, documents, places: self.others }
    }
}

/// Calls `each` with every document of these places, which are in order, once.
fn for_each_document(places: &[FoundPlace], starts: &[u64], mut each: impl FnMut(usize)) {
    // The number of starts up to the place.
    let mut next = 0;
    for place in places {
        if starts.get(next).is_some_and(|&start| start <= place.at) {
            next += starts[next..].partition_point(|&start| start <= place.at);
            each(next - 1);
        }
    }
}

/// Puts places in order, and removes those within others.
fn outermost(places: &mut Vec<FoundPlace>) {
    let end = |place: &FoundPlace| place.at + u64::from(place.tokens);
    places.sort_unstable_by_key(|place| (place.at, std::cmp::Reverse((place.tokens, place.matched))));
    let mut last = 0;
    places.retain(|place| {
        let is_further = end(place) > last;
        last = last.max(end(place));
        is_further
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        /// Whatever is kept of the places.
        #[test]
        fn documents_are_counted_once(
            pairs in prop::collection::vec((0u64..5, 0u64..90), 1..60),
            most_places in 1usize..6,
        ) {
            // A first document of 10 tokens, then some of 3.
            let starts: Vec<u64> = [0].into_iter().chain((10..103).step_by(3)).collect();
            let mut rows: Vec<[u64; 4]> = pairs
                .iter()
                .map(|&(start, later)| Similar { first: start..start + 6, later: later + 10..later + 16, matched: 6 })
                .map(Similar::into_row)
                .collect();
            rows.sort_unstable();
            let mut classes = Classes::new(Threshold::new(1, 2).unwrap(), most_places, &starts);
            let (mut closed, mut documents) = (Vec::new(), Vec::<BTreeSet<usize>>::new());
            let mut close = |class: Closed| {
                closed.push(class);
                Ok(())
            };
            for row in &rows {
                let pair = Similar::of_row(row);
                let number = classes.add(pair.clone(), &mut close).unwrap() as usize;
                documents.resize(documents.len().max(number + 1), BTreeSet::new());
                let of = |token: u64| starts.iter().rposition(|&start| start <= token).unwrap();
                documents[number].extend([of(pair.first.start), of(pair.later.start)]);
            }
            classes.finish(&mut close).unwrap();
            closed.sort_unstable_by_key(|class| class.number);
            prop_assert!(closed.iter().map(|class| class.number).eq(0..documents.len() as u64));
            for (class, documents) in closed.iter().zip(documents) {
                prop_assert_eq!(class.documents, documents.len() as u64);
                prop_assert!(class.places.len() <= most_places && class.places[0].at < 10);
                prop_assert!(class.documents <= class.count);
            }
        }
    }
}
