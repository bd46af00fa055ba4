//! What selected candidates cover: a further candidate about the same places is redundant.

use super::grams::Text;
use super::groups::{same_starts, same_words};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// What selected candidates cover.
pub(super) struct Covered<'a> {
    text: &'a Text,
    /// The number of the candidate that covers each word, from 1; 0 for none. Of several, the first that was selected.
    owners: Vec<u32>,
    candidates: u32,
    /// The places of candidates of two different documents, on both sides, by document.
    pairs: BTreeMap<[usize; 2], [Stretches; 2]>,
    /// The start and the end of each place.
    places: BTreeSet<(usize, usize)>,
}

impl<'a> Covered<'a> {
    pub fn new(text: &'a Text) -> Self {
        Covered {
            text,
            owners: vec![0; text.words.len()],
            candidates: 0,
            pairs: BTreeMap::new(),
            places: BTreeSet::new(),
        }
    }

    pub fn add(&mut self, places: &[Range<usize>; 2]) {
        self.candidates += 1;
        for place in places {
            let free = self.owners[place.clone()].iter_mut().filter(|owner| **owner == 0);
            free.for_each(|owner| *owner = self.candidates);
            self.places.insert((place.start, place.end));
        }
        if let Some(documents) = self.documents(places) {
            let sides = self.pairs.entry(documents).or_default();
            sides.iter_mut().zip(places).for_each(|(side, place)| side.add(place.clone()));
        }
    }

    /// Whether half of the words of each of two places are covered, by one candidate, such as a longer passage that a paragraph moved
    /// within, or in two documents by any candidates of the same two: pages with the same sequence of similar sections also have similar
    /// sections at different places of the sequence. If both places are those of candidates, however, these are about one text.
    pub fn has(&self, places: &[Range<usize>; 2]) -> bool {
        let [a, b] = places.each_ref().map(|place| self.owner(place.clone()));
        if a.is_some() && a == b {
            return true;
        }
        let has_half = |(side, place): (&Stretches, &Range<usize>)| 2 * side.words_in(place) >= place.len();
        let sides = self.documents(places).and_then(|documents| self.pairs.get(&documents));
        sides.is_some_and(|sides| sides.iter().zip(places).all(has_half))
            && !places.iter().all(|place| self.is_place(place))
    }

    /// Whether this is the place of a candidate.
    fn is_place(&self, place: &Range<usize>) -> bool {
        let [first, last] = same_starts(place.clone());
        let mut near = self.places.range((first, 0)..=(last, usize::MAX));
        near.any(|&(start, end)| same_words(place, &(start..end)).is_some())
    }

    /// The documents of two places, if they are different.
    fn documents(&self, places: &[Range<usize>; 2]) -> Option<[usize; 2]> {
        let [a, b] = places.each_ref().map(|place| self.text.document_at(place.start));
        (a != b).then_some([a, b])
    }

    /// The candidate that covers half of these words.
    fn owner(&self, place: Range<usize>) -> Option<u32> {
        let owners = &self.owners[place];
        // A half in a row has one of the quarters.
        let some = (1..4).map(|quarter| owners[quarter * owners.len() / 4]).filter(|owner| *owner != 0);
        let owns_half = |owner: &u32| 2 * owners.iter().filter(|other| *other == owner).count() >= owners.len();
        some.into_iter().find(owns_half)
    }
}

/// A set of words, as disjoint stretches: the start of each with its end.
#[derive(Default)]
struct Stretches(BTreeMap<usize, usize>);

impl Stretches {
    /// Cost: a search, and the stretches that are joined.
    fn add(&mut self, new: Range<usize>) {
        let Range { mut start, mut end } = new;
        while let Some((&first, &last)) = self.0.range(..=end).next_back().filter(|(_, last)| **last >= start) {
            (start, end) = (start.min(first), end.max(last));
            self.0.remove(&first);
        }
        self.0.insert(start, end);
    }

    /// How many of these words are in the set.
    fn words_in(&self, place: &Range<usize>) -> usize {
        let stretches = self.0.range(..place.end).rev().take_while(|(_, end)| **end > place.start);
        stretches.map(|(&start, &end)| end.min(place.end) - start.max(place.start)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn stretches_are_a_set_of_words(added in prop::collection::vec((0usize..40, 1usize..8), 0..12), place in (0usize..40, 0usize..12)) {
            let place = place.0..place.0 + place.1;
            let (mut stretches, mut plain) = (Stretches::default(), [false; 60]);
            for (start, words) in added {
                stretches.add(start..start + words);
                plain[start..start + words].fill(true);
            }
            prop_assert_eq!(stretches.words_in(&place), plain[place].iter().filter(|has| **has).count());
            let ends: Vec<(usize, usize)> = stretches.0.into_iter().collect();
            prop_assert!(ends.windows(2).all(|two| two[0].1 < two[1].0));
        }
    }
}
