//! What of a text stands in it before: the places of repeats but for the first one of each.
//!
//! Of a repeat of `L` tokens whose first place begins at `f`, a place that begins at `q` is [`Later`] from `max(q, f + L)` to `q + L`: the
//! first place stays whole, also where a text repeats itself and others overlap it. The tokens of all these ranges, taken together, are
//! what is cut to leave one copy of each repeat.
//!
//! **No run of the minimum length that is left whole occurs earlier.** Let `R` be such a run at `q`, with its first place at `f < q`. It is
//! part of a repeat `S` that has as many places as `R`, and the place of `S` around `q` is not the first one. `R` is not cut with it only if it lies
//! in the first place of `S` too, at another distance from its start. Then every place of `S` holds `R` twice, `q - f` tokens apart; so `S` stands
//! `q - f` tokens further on as well, and again after it, without end.
//!
//! The same holds for repeats that are in a number of documents or more: `S` is in the same documents as `R`.
//!
//! **What is cut is there.** Each token that is cut has the same token at an earlier place, and so, in the end, one that is not cut.

use super::reduced::{Reduced, reduce_beyond};
use super::repeats::{Collect, FindOptions, Repeated, search_groups};
use super::text::Text;
use crate::error::Error;
use rayon::prelude::*;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::{Mutex, PoisonError};

/// A range of tokens that stands earlier too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Later {
    /// Its first token, in all documents together.
    pub start: u64,
    /// The token that is equal to it, in the first place of the passage.
    pub first: u64,
    pub tokens: u32,
}

impl Later {
    /// Its end.
    pub fn end(&self) -> u64 {
        self.start + u64::from(self.tokens)
    }
}

/// The places of a repeat: the first one, and those of which something may still be found. A list is made only for several: of a
/// text that repeats itself, as many of these are there at once as it has places.
pub(super) struct Places {
    first: u32,
    #[expect(clippy::box_collection, reason = "it takes a third of the memory where there are none")]
    others: Option<Box<BinaryHeap<u32>>>,
}

/// Which places of repeats are collected.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Which {
    /// All, first places too.
    All,
    /// All but what is in the first place.
    NotInFirst,
    /// All but first places; also what is both in the first place and in another one, if it overlaps itself.
    NotFirst,
}

/// Collects ranges, each as long as possible.
struct Collecting {
    references: u32,
    which: Which,
    found: Vec<Later>,
    /// The number of ranges after which they are reduced.
    most: usize,
}

impl Collect for Collecting {
    type Gathered = Places;

    const NEEDS_DOCUMENTS: bool = false;

    fn of_place(&self, anchor: u32) -> Places {
        Places { first: anchor, others: None }
    }

    fn join(&self, places: &mut Places, mut other: Places) {
        if other.first < places.first {
            std::mem::swap(places, &mut other);
        }
        let others = places.others.get_or_insert_default();
        others.push(other.first);
        if let Some(mut more) = other.others {
            others.append(&mut more);
        }
    }

    /// Shorter repeats at the same places come later: what is found here of a place that does not overlap the first one is all of them.
    fn repeat(&mut self, text: &Text, repeat: &Repeated, places: &mut Places) {
        self.add_later(text, repeat, places);
        reduce_beyond(&mut self.found, &mut self.most, reduce);
    }
}

impl Collecting {
    fn add_later(&mut self, text: &Text, repeat: &Repeated, places: &mut Places) {
        let Places { first: first_anchor, others } = places;
        let others = others.get_or_insert_default();
        let (first, tokens) = (repeat.start(text, *first_anchor), repeat.tokens);
        let end = first + tokens;
        let mut add = |start: u64, tokens: u64, first: u64| {
            self.found.push(Later { start, first, tokens: tokens as u32 });
        };
        if self.which == Which::All && *first_anchor >= self.references {
            add(first, tokens, first);
        }
        while let Some(&last) = others.peek() {
            let start = repeat.start(text, last);
            if self.which != Which::All && start < end {
                // Of several places that overlap the first one, the last one has all that the others have.
                match self.which {
                    _ if last < self.references => {}
                    Which::NotFirst => add(start, tokens, first),
                    _ => add(end, start - first, end - (start - first)),
                }
                return;
            }
            if last >= self.references {
                add(start, tokens, first);
            }
            others.pop();
        }
    }
}

/// The ranges that stand in these places of repeats, without those within others: in the order of their starts, which is that of their
/// ends. Those of a [reference](FindOptions::references) are left out. Then the number of repeats in too few documents.
///
/// # Errors
/// A temporary file cannot be read, or there are too many for this memory.
pub(super) fn later(text: &Text, options: &FindOptions, which: Which, memory: u64) -> Result<(Vec<Later>, u64), Error> {
    let found = Mutex::new(Reduced::new(memory, reduce));
    let collect = || Collecting { references: options.references.unwrap_or(0), which, found: Vec::new(), most: 0 };
    let below_min_documents = search_groups(text, options, collect, |Collecting { found: own, most, .. }| {
        if own.is_empty() {
            return Ok(());
        }
        *most = 0;
        reduce(own);
        found.lock().unwrap_or_else(PoisonError::into_inner).append(own)
    })?;
    let mut found = found.into_inner().unwrap_or_else(PoisonError::into_inner).finish()?;
    found.par_sort_unstable_by_key(order);
    longest(&mut found);
    found.shrink_to_fit();
    Ok((found, below_min_documents))
}

fn order(later: &Later) -> (u64, Reverse<u32>, u64) {
    (later.start, Reverse(later.tokens), later.first)
}

/// Sorts ranges, and removes those within others.
fn reduce(found: &mut Vec<Later>) {
    found.sort_unstable_by_key(order);
    longest(found);
}

/// Removes ranges within others. They are in order.
fn longest(found: &mut Vec<Later>) {
    let mut end = 0;
    found.retain(|later| {
        let is_further = later.end() > end;
        end = end.max(later.end());
        is_further
    });
}

#[cfg(test)]
mod tests {
    use super::super::order;
    use super::super::repeats::oracle::{by_definition, documents};
    use super::super::text::{Builder, Selector};
    use super::*;
    use proptest::prelude::*;

    /// The documents one after the other, prepared.
    fn prepared(documents: &[Vec<u64>], shortest: usize, memory: u64) -> Text {
        let selector = Selector::new(shortest, false);
        let mut builder = Builder::new(selector.clone(), memory, None);
        for document in documents {
            let mut selected = Vec::new();
            selector.select(0, 0, document, &mut Vec::new(), &mut selected);
            builder.add(&[document.len() as u64], document, &mut selected, &[]).unwrap();
        }
        let mut text = builder.finish(0).unwrap();
        order::sort(&mut text, memory).unwrap();
        text
    }

    /// Whether each token of the documents one after the other is in a range, by the definition.
    fn expected(
        documents: &[Vec<u64>],
        shortest: usize,
        references: usize,
        min_documents: usize,
        but_first: bool,
    ) -> (Vec<bool>, u64) {
        let slices: Vec<&[u64]> = documents.iter().map(Vec::as_slice).collect();
        let starts: Vec<usize> =
            documents.iter().scan(0, |sum, d| Some(std::mem::replace(sum, *sum + d.len()))).collect();
        let (mut is_later, mut below_min_documents) = (vec![false; documents.iter().map(Vec::len).sum()], 0);
        for repeat in by_definition(&slices, shortest) {
            let places: Vec<usize> = repeat.places.iter().map(|place| starts[place.document] + place.token).collect();
            let of_references = repeat.places.iter().filter(|place| place.document < references).count();
            if references > 0 && (of_references == 0 || of_references == places.len()) {
                continue;
            }
            if repeat.documents < min_documents {
                below_min_documents += 1;
                continue;
            }
            for (number, &start) in places.iter().enumerate() {
                if repeat.places[number].document < references || but_first && number == 0 {
                    continue;
                }
                let from = if but_first { start.max(places[0] + repeat.tokens) } else { start };
                is_later[from..start + repeat.tokens].fill(true);
            }
        }
        (is_later, below_min_documents)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn all_but_first_places(
            documents in documents(),
            shortest in 1usize..9,
            (references, min_documents) in (0usize..3, 1usize..5),
            but_first: bool,
            memory in prop_oneof![Just(0u64), Just(u64::MAX)],
        ) {
            let references = if references < documents.len() { references } else { 0 };
            let text = prepared(&documents, shortest, memory);
            let end = text.starts[references];
            let of_references = text.anchors.partition_point(|anchor| anchor.at < end) as u32;
            let options = FindOptions {
                references: (references > 0).then_some(of_references),
                min_documents: min_documents as u64,
                ..FindOptions::default()
            };
            let which = if but_first { Which::NotInFirst } else { Which::All };
            let (found, below_min_documents) = later(&text, &options, which, u64::MAX / 2).unwrap();
            let all = documents.concat();
            let mut is_later = vec![false; all.len()];
            for later in &found {
                let (start, end) = (later.start as usize, later.end() as usize);
                is_later[start..end].fill(true);
                let first = later.first as usize;
                prop_assert_eq!(&all[start..end], &all[first..first + end - start]);
                prop_assert!(!but_first || first + end - start <= start);
            }
            prop_assert!(found.is_sorted_by(|a, b| a.start < b.start && a.end() < b.end()));
            let expected = expected(&documents, shortest, references, min_documents, but_first);
            prop_assert_eq!((is_later, below_min_documents), expected, "{:?}", documents);
        }
    }

    /// A text that repeats itself takes time that grows little faster than its length.
    #[test]
    fn periods() {
        for period in [1u64, 3] {
            let text = prepared(&[(0..300_000).map(|at| at % period).collect()], 50, u64::MAX);
            let (found, _) = later(&text, &FindOptions::default(), Which::NotInFirst, u64::MAX / 2).unwrap();
            let (first, last) = (found[0], found[found.len() - 1]);
            let kept = first.start;
            assert!((50..50 + period).contains(&kept), "{kept}");
            assert_eq!(last.end(), 300_000);
        }
    }
}
