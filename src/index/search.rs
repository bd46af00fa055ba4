//! The search for the documents that are similar to one.

use super::crowded::MOST_OF_A_KEY;
use super::entry::Record;
use super::file::cannot_read;
use super::log::Log;
use super::nearest::{Nearest, Neighbour, Wanted};
use super::ranked::{Bounded, ranked};
use super::remembered::Remembered;
use super::repeat;
use super::shape::Kind;
use super::signature::Signed;
use super::tables::Tables;
use super::unconfirmed::{UNNAMED, identity, is_unnamed};
use crate::algorithm::{Algorithm, CompareOn};
use crate::error::Error;
use crate::hamming::cost::{INDEX, Rates};
use crate::hamming::{Layout, distance as apart};
use crate::hash::combine;
use crate::kernel::{Level, within::within};
use crate::outline::{can_reach, jaccard_at_most};
use crate::similarity::{Similarity, Threshold};
use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::BinaryHeap;
use xxhash_rust::xxh3::xxh3_64;

/// The number of fingerprints that are compared with one bound, before it follows the nearest that were found.
const PART: usize = 1 << 12;

/// The maximum number of features that a buffer is kept for.
const MOST_KEPT: usize = 1 << 16;

/// Frees a buffer of features that a long document has grown.
pub(super) fn free_long(features: &mut Vec<u64>) {
    if features.capacity() > MOST_KEPT {
        *features = Vec::new();
    }
}

/// The bounds of a search.
#[derive(Clone, Copy)]
pub(super) struct Bounds {
    /// The maximum number of documents under a key that are compared.
    pub most_of_a_key: usize,
    /// The maximum number of words of fingerprints of which all are compared where keys are crowded; see
    /// [`super::crowded::MOST_WORDS`].
    pub most_words: usize,
    /// When all fingerprints are compared anyway, if fingerprints within a distance are sought.
    pub ordered: Option<Ordered>,
}

/// When all fingerprints are compared, in their order in memory, instead of those under the keys of one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ordered {
    /// The most bits in which those that are sought differ.
    pub distance: u32,
    /// The number of words of fingerprints below which no key is looked up.
    pub below_words: f64,
    /// What candidates cost.
    pub rates: Rates,
}

impl Ordered {
    pub fn new(layout: &Layout) -> Self {
        let below_words = INDEX.compares_all_below(layout) * layout.bits().div_ceil(64) as f64;
        Ordered { distance: layout.distance() as u32, below_words, rates: INDEX }
    }

    /// The number of candidates from which so many words are compared instead: 0 if they always are.
    fn most_candidates(&self, words: usize) -> usize {
        if (words as f64) < self.below_words { 0 } else { self.rates.candidates_for(words).max(1) }
    }
}

/// What a search reads: the documents of an index, and which of them count.
pub(super) struct Search<'a> {
    pub algorithm: &'a dyn Algorithm,
    /// The threshold for ruling out pairs by their outlines, if there is one.
    pub jaccard: Option<Threshold>,
    pub tables: &'a mut Tables,
    pub log: &'a mut Log,
    pub remembered: &'a Remembered,
    pub bounds: Bounds,
    /// Buffers.
    pub candidates: &'a mut Vec<u32>,
    pub bounded: &'a mut Vec<Bounded>,
    pub own: &'a mut Vec<u64>,
}

/// The id of a document, and when it passed, in seconds since 1970.
type Passed = (String, u64);

/// What a search for similar documents found.
pub(super) struct Found {
    pub best: Option<(u32, Similarity)>,
    /// Its id and when it passed, if that was read.
    pub id: Option<Passed>,
    /// Whether not all documents that share a key were compared.
    pub capped: bool,
}

impl Search<'_> {
    /// The most similar document at or above the threshold; the earliest of several.
    pub fn most_similar(&mut self, signature: Signed<'_>) -> Result<Found, Error> {
        let capped = self.find_candidates(signature)?;
        self.find_bounds(signature, self.jaccard)?;
        if self.bounded.is_empty() {
            return Ok(Found { best: None, id: None, capped });
        }
        let (mut bounded, mut buffer) = (std::mem::take(self.bounded), std::mem::take(self.own));
        let own = signature.evidence.words(&mut buffer);
        let mut read = None;
        let best = ranked(&mut bounded, 1, |document| {
            let Some((similarity, id)) = self.similarity(document, own, signature.tags)? else { return Ok(None) };
            read = id.map(|id| (document, id));
            Ok(Some(similarity))
        });
        free_long(&mut buffer);
        (*self.bounded, *self.own) = (bounded, buffer);
        let best = best?.first().map(|&(similarity, document)| (document, similarity));
        // Usually the last one that was read is the best.
        let id = read.filter(|&(document, _)| best.is_some_and(|(best, _)| best == document)).map(|(_, id)| id);
        Ok(Found { best, id, capped })
    }

    /// The most similar documents, whatever the threshold.
    pub fn nearest(&mut self, signature: Signed<'_>, wanted: Wanted) -> Result<Nearest, Error> {
        if signature.featureless {
            return Ok(Nearest { is_featureless: true, ..Nearest::default() });
        }
        let (mut is_capped, mut buffer) = (false, Vec::new());
        let own = signature.evidence.words(&mut buffer);
        match (self.bounds.ordered, wanted.is_exhaustive) {
            // Fingerprints are compared faster than they are looked up.
            (Some(_), _) => self.fill_with_nearest(own, u32::MAX, wanted.most),
            (None, true) => self.fill_with_all(),
            (None, false) => is_capped = self.find_candidates(signature)?,
        }
        self.find_bounds(signature, None)?;
        let (mut bounded, algorithm) = (std::mem::take(self.bounded), self.algorithm);
        let best = ranked(&mut bounded, wanted.most, |document| {
            let stored = self.evidence(document)?;
            let similarity = (!stored.is_empty()).then(|| algorithm.similarity(&stored, own)).flatten();
            // Documents that have nothing in common are no neighbours.
            Ok(similarity.filter(|similarity| similarity.value() > 0.0))
        });
        *self.bounded = bounded;
        let best = best?;
        let neighbour = |(similarity, document)| {
            let id = self.log.read(self.tables.places[document as usize])?.id;
            Ok(Neighbour { id, similarity, distance: algorithm.distance(similarity) })
        };
        let neighbours = best.into_iter().map(neighbour).collect::<Result<_, Error>>()?;
        Ok(Nearest { neighbours, is_featureless: false, is_capped })
    }

    /// The place of the first remembered document with this id and these tokens. Where documents are only added, those that
    /// were added before count; otherwise only those that passed.
    pub fn known(&mut self, id: &str, signature: Signed<'_>, only_adds: bool) -> Result<Option<u64>, Error> {
        let is_it = |_: u64, record: &Record| record.id == id && (!record.is_added || only_adds);
        let passed = self.with_tokens(id, signature, false, is_it)?;
        // Two keys only of documents without an id.
        if !only_adds || signature.featureless || !is_unnamed(id) {
            return Ok(passed);
        }
        let added = self.with_tokens(id, signature, true, is_it)?;
        Ok(passed.into_iter().chain(added).min())
    }

    /// The place of the first remembered document with these tokens that passed without an id, of those whose places count.
    pub fn unnamed(&mut self, signature: Signed<'_>, counts: impl Fn(u64) -> bool) -> Result<Option<u64>, Error> {
        let is_it = |place: u64, record: &Record| !record.is_added && is_unnamed(&record.id) && counts(place);
        self.with_tokens(UNNAMED, signature, false, is_it)
    }

    /// The place of the first remembered document with these tokens that has the key of one with this id, and counts.
    fn with_tokens(
        &mut self,
        id: &str,
        signature: Signed<'_>,
        is_added: bool,
        is_it: impl Fn(u64, &Record) -> bool,
    ) -> Result<Option<u64>, Error> {
        self.candidates.clear();
        let (tables, candidates) = (&*self.tables, &mut *self.candidates);
        let tag = id_tag(id, signature.sequence, signature.featureless, is_added);
        let counted = |document| self.remembered.is_found(document);
        tables.ids.find(tag, MOST_OF_A_KEY, counted, |document| candidates.push(document)).map_err(cannot_read)?;
        let mut known = None;
        for &document in &*candidates {
            let place = tables.places[document as usize];
            let record = self.log.read(place)?;
            if record.sequence == signature.sequence && is_it(place, &record) {
                known = Some(known.map_or(place, |first: u64| first.min(place)));
            }
        }
        Ok(known)
    }

    /// The places of the remembered documents with this id that passed, ascending, and whether each has features. Only if the tables have
    /// names.
    pub fn named(&mut self, id: &str) -> Result<Vec<(u64, bool)>, Error> {
        self.candidates.clear();
        let (tables, candidates) = (&*self.tables, &mut *self.candidates);
        let counted = |document| self.remembered.is_found(document);
        tables
            .ids
            .find(name_tag(id), MOST_OF_A_KEY, counted, |document| candidates.push(document))
            .map_err(cannot_read)?;
        let mut places = Vec::new();
        for &document in &*candidates {
            let place = tables.places[document as usize];
            let record = self.log.read(place)?;
            if record.id == id && !record.is_added {
                places.push((place, record.kind != Kind::Featureless));
            }
        }
        places.sort_unstable();
        Ok(places)
    }

    /// Whether a remembered document has the same tokens, and features.
    pub fn has_copy(&mut self, signature: Signed<'_>) -> Result<bool, Error> {
        self.candidates.clear();
        match &self.tables.copies {
            Some(copies) => {
                let (tag, candidates) = (copy_tag(signature.fingerprint()), &mut *self.candidates);
                let counted = |document| self.remembered.is_found(document);
                copies.find(tag, MOST_OF_A_KEY, counted, |document| candidates.push(document)).map_err(cannot_read)?;
            }
            None => _ = self.find_candidates(signature)?,
        }
        for at in 0..self.candidates.len() {
            let document = self.candidates[at];
            let may_be_equal = match self.algorithm.compare_on() {
                CompareOn::Fingerprints => self.tables.fingerprint(document) == signature.fingerprint(),
                _ => {
                    let (size, own) = self.tables.outlines.get(document).map_err(cannot_read)?;
                    (size, &own) == (signature.evidence.len() as u32, signature.parities)
                }
            };
            let place = self.tables.places[document as usize];
            if may_be_equal && self.log.read(place)?.sequence == signature.sequence {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Finds the documents that share a key, ascending; or the nearest within the distance alone, if that takes less time.
    /// Returns whether some were left out, because too many share a key.
    pub(super) fn find_candidates(&mut self, signature: Signed<'_>) -> Result<bool, Error> {
        self.candidates.clear();
        let (ordered, words) = (self.bounds.ordered, self.tables.fingerprints.len());
        let most = ordered.map_or(usize::MAX, |ordered| ordered.most_candidates(words));
        let compares_all = ordered.is_some() && words <= self.bounds.most_words;
        let capped = most > 0 && self.look_up(signature, most, compares_all)?;
        // Their number is only known now, because fingerprints need not be distributed like random ones.
        if let Some(ordered) = ordered.filter(|_| self.candidates.len() >= most || capped && compares_all) {
            self.fill_with_nearest(signature.fingerprint(), ordered.distance, 1);
            return Ok(false);
        }
        if let Some(copies) = self.tables.copies.as_ref().filter(|_| capped) {
            // The latest documents with this fingerprint.
            let (tag, candidates) = (copy_tag(signature.fingerprint()), &mut *self.candidates);
            let counted = |document| self.remembered.is_found(document);
            let most = self.bounds.most_of_a_key;
            copies.find(tag, most, counted, |document| candidates.push(document)).map_err(cannot_read)?;
        }
        self.candidates.sort_unstable();
        self.candidates.dedup();
        Ok(capped)
    }

    /// Adds the documents that share a key to the candidates, and stops at `most` of them, or where some were left out and
    /// all are compared then. Returns whether some were left out, because too many share a key.
    fn look_up(&mut self, signature: Signed<'_>, most: usize, compares_all: bool) -> Result<bool, Error> {
        let Search { tables, remembered, candidates, .. } = self;
        signature.tags.iter().for_each(|&tag| tables.keys.fetch(tag));
        let (most_of_a_key, counted) = (self.bounds.most_of_a_key, |document| remembered.is_found(document));
        let found = tables.hot.find(signature, most_of_a_key, counted, candidates).map_err(cannot_read)?;
        let (mut capped, searched) = found;
        let of_hot = if searched.is_empty() { Vec::new() } else { std::mem::take(*candidates) };
        for &tag in signature.tags.iter().filter(|&&tag| !tables.hot.is_hot(tag)) {
            let found = tables.keys.find(tag, most_of_a_key, counted, |document| candidates.push(document));
            capped |= found.map_err(cannot_read)?;
            if candidates.len() >= most || capped && compares_all {
                break;
            }
        }
        if !searched.is_empty() {
            candidates.sort_unstable();
            candidates.dedup();
            tables.hot.remove_members(&searched, candidates);
        }
        candidates.extend(of_hot);
        Ok(capped)
    }

    /// Leaves as candidates, of the documents whose fingerprints differ in at most `distance` bits, the `most` nearest,
    /// ascending; of several as near the earliest. The nearest are the most similar: fingerprints are compared by the bits in
    /// which they differ.
    ///
    /// Cost: a comparison of each fingerprint, however many there may be under a key; see [`crate::kernel::within`].
    fn fill_with_nearest(&mut self, fingerprint: &[u64], distance: u32, most: usize) {
        let Search { tables, remembered, candidates, .. } = self;
        candidates.clear();
        if fingerprint.is_empty() || most == 0 {
            return;
        }
        let (words, ends) = (fingerprint.len(), &tables.ends);
        let start = remembered.first().checked_sub(1).map_or(0, |before| ends[before as usize]);
        // Documents without features have no words, so that the number of a fingerprint is not that of its document.
        let document = |number: usize| match ends.len() * words == tables.fingerprints.len() {
            true => (start as usize / words + number) as u32,
            false => ends.partition_point(|&end| end < start + ((number + 1) * words) as u64) as u32,
        };
        // The farthest comes first. A later one as far as that is no nearer.
        let mut nearest: BinaryHeap<(u32, u32)> = BinaryHeap::new();
        for (part, codes) in tables.fingerprints[start as usize..].chunks(PART * words).enumerate() {
            let least =
                |nearest: &BinaryHeap<_>| nearest.peek().filter(|_| nearest.len() >= most).map(|&(apart, _)| apart);
            let Some(within_bits) = least(&nearest).map_or(Some(distance), |apart| apart.checked_sub(1)) else { break };
            within(Level::current(), codes, fingerprint, within_bits, &mut |number| {
                let apart = apart(fingerprint, &codes[number * words..][..words]);
                if least(&nearest).is_none_or(|farthest| apart < farthest) {
                    let document = document(part * PART + number);
                    if remembered.is_found(document) {
                        nearest.push((apart, document));
                        if nearest.len() > most {
                            nearest.pop();
                        }
                    }
                }
            });
        }
        candidates.extend(nearest.into_iter().map(|(_, document)| document));
        candidates.sort_unstable();
    }

    fn fill_with_all(&mut self) {
        self.candidates.clear();
        self.candidates.extend(self.remembered.documents());
    }

    /// Finds upper bounds of the similarities of the candidates, without those that cannot reach the threshold, if there is one.
    ///
    /// Sizes and outlines bound the Jaccard similarity alone. Of other measures, all candidates have the bound 1: they are compared
    /// in their order.
    pub(super) fn find_bounds(&mut self, signature: Signed<'_>, threshold: Option<Threshold>) -> Result<(), Error> {
        let Search { tables, bounded, candidates, .. } = self;
        bounded.clear();
        if self.algorithm.compare_on() == CompareOn::Fingerprints {
            bounded.extend(candidates.iter().map(|&document| (1.0, document)));
            return Ok(());
        }
        let own = (signature.evidence.len() as u32, signature.parities);
        for &document in &**candidates {
            let (size, parities) = tables.outlines.get(document).map_err(cannot_read)?;
            if can_reach(threshold, (size, &parities), own) {
                let most = self.jaccard.map_or(1.0, |_| jaccard_at_most((size, &parities), own));
                bounded.push((most, document));
            }
        }
        Ok(())
    }

    /// What is compared of a document.
    fn evidence(&mut self, document: u32) -> Result<Cow<'_, [u64]>, Error> {
        if self.algorithm.compare_on() == CompareOn::Fingerprints {
            return Ok(Cow::Borrowed(self.tables.fingerprint(document)));
        }
        Ok(Cow::Owned(self.log.read(self.tables.places[document as usize])?.evidence))
    }

    /// The similarity of a document to one with this evidence and these tags, `None` below the threshold; with its id if its record was
    /// read.
    fn similarity(
        &mut self,
        document: u32,
        own: &[u64],
        tags: &[u32],
    ) -> Result<Option<(Similarity, Option<Passed>)>, Error> {
        if self.algorithm.compare_on() == CompareOn::Fingerprints {
            let fingerprint = self.tables.fingerprint(document);
            // None, of a document without features, is similar to nothing.
            let similarity = (!fingerprint.is_empty()).then(|| self.algorithm.compare(fingerprint, own)).flatten();
            return Ok(similarity.map(|similarity| (similarity, None)));
        }
        let stored = self.log.read(self.tables.places[document as usize])?;
        let similarity = self.algorithm.compare(&stored.evidence, own);
        // Hot keys are searched together, so that a document may have none of them.
        let read = |similarity| (similarity, Some((stored.id, stored.time)));
        Ok(similarity.filter(|_| share_one(&stored.tags, tags)).map(read))
    }
}

/// Whether two ascending lists have a number in common.
fn share_one(a: &[u32], b: &[u32]) -> bool {
    let (mut a, mut b) = (a.iter().peekable(), b.iter().peekable());
    while let (Some(x), Some(y)) = (a.peek(), b.peek()) {
        match x.cmp(y) {
            Ordering::Less => a.next(),
            Ordering::Greater => b.next(),
            Ordering::Equal => return true,
        };
    }
    false
}

/// The key of a document in the table of ids. It includes the tokens, because an id can repeat with different tokens. One that passed without
/// an id has only these: with features, it is the only one that passes with them, as long as it is remembered.
pub(super) fn id_tag(id: &str, sequence: u128, is_featureless: bool, is_added: bool) -> u32 {
    let id = if is_featureless || is_added { id } else { identity(id) };
    (repeat::id_hash(id, sequence) >> 32) as u32
}

/// The key of a document in the table of ids by its id alone.
pub(super) fn name_tag(id: &str) -> u32 {
    (xxh3_64(id.as_bytes()) >> 32) as u32
}

/// The key of a document in the table of whole fingerprints.
pub(super) fn copy_tag(fingerprint: &[u64]) -> u32 {
    (fingerprint.iter().copied().fold(0, combine) >> 32) as u32
}
