//! Keys that very many documents have: those of pages of one template, of a log, of a shop.

use super::signature::{Evidence, Signed};
use crate::algorithm::Algorithm;
use crate::postings::{Families, Run, Table, Wanted, Words};
use crate::similarity::bound::Bound;
use std::io;
use std::sync::Arc;

/// How often the documents of a family may be found, for each that may be compared: finding one costs much less than comparing one.
const HITS: usize = 64;

/// A key of this many documents is hot: of its documents, only those are compared that the prefix filter does not rule
/// out.
pub(super) const HOT: usize = 256;

/// The same of vectors, of which no outline rules out a comparison.
const HOT_OF_VECTORS: usize = 64;

/// Of this many documents, the keys of one are counted.
const COUNTED: u32 = 64;

/// The hot keys of an index, if its algorithm allows a prefix filter.
pub(super) struct HotKeys {
    families: Option<Families>,
    /// The number of documents of a key that make it hot, which tests lower.
    pub from: usize,
}

impl HotKeys {
    /// None yet; never any if documents below the threshold are looked for. With an empty table for the elements.
    pub fn new(algorithm: &dyn Algorithm, only_similar: bool, elements: Table) -> Self {
        let bound = algorithm.profile().bound().filter(|_| only_similar);
        let from = if let Some(Bound::Cosine(_)) = bound { HOT_OF_VECTORS } else { HOT };
        HotKeys { families: bound.map(|bound| Families::with(bound, elements)), from }
    }

    /// Whether a key is hot: its later documents are in the table of keys too.
    #[inline]
    pub fn is_hot(&self, tag: u32) -> bool {
        self.families.as_ref().is_some_and(|families| families.is_hot(tag.into()))
    }

    /// Enters a document, later than all others, under those of its keys that are hot.
    pub fn enter(&mut self, tags: &[u32], document: u32, set: Evidence<'_>) {
        if let Some(families) = &mut self.families {
            let (of, mut buffer) = (families.of(tags.iter().map(|&tag| tag.into())), Vec::new());
            let set = if of.is_empty() { &[] } else { set.words(&mut buffer) };
            of.into_iter().for_each(|family| families.add(family, document, set));
        }
    }

    /// Whether the keys of a document are counted: those of one in [`COUNTED`].
    pub fn counts(&self, document: u32) -> bool {
        self.families.is_some() && document.is_multiple_of(COUNTED)
    }

    /// The documents of a key, ascending, if they are so many that it becomes hot.
    ///
    /// # Errors
    /// They cannot be read.
    pub fn crowd(&self, tag: u32, keys: &Table) -> io::Result<Option<Vec<u32>>> {
        if self.is_hot(tag) {
            return Ok(None);
        }
        let mut documents = Vec::new();
        let add = |document| {
            documents.push(document);
            true
        };
        keys.find_while(tag, add)?;
        documents.reverse();
        Ok((documents.len() >= self.from).then_some(documents))
    }

    /// The families, which are there if a key can be hot.
    pub fn families(&mut self) -> &mut Families {
        self.families.as_mut().expect("its documents are counted")
    }

    /// Adds the documents that count, have a hot key of this document and may be similar to it; and by chance a few that
    /// have none of its keys. Where more than `most` of a family may be, the latest `most` of these come. Where they are found more than
    /// [`HITS`] times `most` times, each under several elements, the latest documents of the family come instead. Returns whether any were
    /// left out, and the other families: no further document of them can be similar.
    pub fn find(
        &self,
        signature: Signed<'_>,
        most: usize,
        counts: impl Fn(u32) -> bool,
        candidates: &mut Vec<u32>,
    ) -> io::Result<(bool, Vec<u32>)> {
        let Some(families) = &self.families else { return Ok((false, Vec::new())) };
        let (mut is_capped, mut searched) = (false, Vec::new());
        let (of, mut buffer) = (families.of(signature.tags.iter().map(|&tag| tag.into())), Vec::new());
        let set = if of.is_empty() { &[] } else { signature.evidence.words(&mut buffer) };
        for family in of {
            let mut hits = 0;
            let found = families.find(family, set, |document| {
                if !counts(document) {
                    return Wanted::No;
                }
                hits += 1;
                if hits > most.saturating_mul(HITS) { Wanted::NoMore } else { Wanted::Yes }
            })?;
            if hits <= most.saturating_mul(HITS) {
                let left_out = found.len().saturating_sub(most);
                candidates.extend(&found[left_out..]);
                match left_out {
                    0 => searched.push(family),
                    _ => is_capped = true,
                }
                continue;
            }
            // In what order they were found depends on the memory.
            let mut latest = families.members(family).rev().filter(|&document| counts(document));
            candidates.extend(latest.by_ref().take(most));
            // A document is found under each of its rare elements: there may be fewer documents than were found.
            match latest.next() {
                None => searched.push(family),
                Some(_) => is_capped = true,
            }
        }
        Ok((is_capped, searched))
    }

    /// Removes the documents of families that were [searched](Self::find) from ascending candidates.
    pub fn remove_members(&self, searched: &[u32], candidates: &mut Vec<u32>) {
        if let Some(families) = &self.families {
            families.remove_members(searched, candidates);
        }
    }

    /// Forgets all, with an empty table for the elements.
    pub fn clear(&mut self, elements: Table) {
        if let Some(families) = &mut self.families {
            *families = Families::with(families.bound(), elements);
        }
    }

    /// Bytes of memory.
    pub fn bytes_held(&self) -> u64 {
        self.families.as_ref().map_or(0, Families::bytes_held)
    }

    /// Bytes of memory once the elements are in files.
    pub fn bytes_in_runs(&self) -> u64 {
        let bytes = |families: &Families| families.bytes_of_families() + families.postings().bytes_in_runs();
        self.families.as_ref().map_or(0, bytes)
    }

    /// Whether another document can be entered before the elements must leave the memory. A set has fewer than 2²⁸ elements.
    pub fn has_room(&self) -> bool {
        self.families.as_ref().is_none_or(|families| families.postings().room() > 1 << 30)
    }

    /// The table of elements, to be flushed.
    pub fn postings_mut(&mut self) -> Option<&mut Table> {
        self.families.as_mut().map(Families::postings_mut)
    }

    /// Appends all except the table of elements, for [`read`](Self::read).
    pub fn put(&self, out: &mut Vec<u8>) {
        if let Some(families) = &self.families {
            families.put(out);
        }
    }

    /// Reads what [`put`](Self::put) wrote, with elements in these runs, of documents below `end`. Inside, `None` if this
    /// index has no hot keys. `None` if it cannot be read.
    pub fn read(&self, words: &mut Words, elements: Vec<Arc<Run>>, end: u32) -> Option<Option<Self>> {
        let Some(families) = &self.families else { return Some(None) };
        let families = Families::read(families.bound(), words, Table::recorded(elements), end)?;
        Some(Some(HotKeys { families: Some(families), from: self.from }))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Decision, Index, IndexOptions, Limits, Mode, Plan, Seed, Sync};
    use super::*;
    use crate::algorithm::Entry;
    use crate::algorithm::parameter::Settings;
    use crate::tokenizer::Word;
    use crate::{MinHash, SpotSigs};
    use std::sync::Arc;

    fn plan() -> Plan {
        let minhash = MinHash::builder().threshold(0.8).shingle(1).build().unwrap();
        Plan::new(&minhash, Arc::new(Word)).unwrap().with_seed(Seed::Fixed(5)).unwrap()
    }

    /// Pages of two templates with words of their own, of which some repeat, so that pages are below, at and above the
    /// threshold. From page `gains` on, the templates have gained words.
    fn pages(count: u64, gains: u64) -> Vec<String> {
        let word = |text: &mut String, word: u64| text.push_str(&format!(" w{}", crate::hash::mix(word) >> 20));
        let page = |number: u64| {
            let mut text = String::new();
            let chance = crate::hash::mix(number);
            (0..100).for_each(|at| word(&mut text, ((chance % 2) << 32) | at));
            let (from, own) = (number - chance / 2 % 3 * (chance / 8 % 4), 8 + chance / 64 % 12);
            (0..own).for_each(|at| word(&mut text, (1 << 40) | (from << 8) | at));
            (0..if number < gains { 0 } else { 10 }).for_each(|at| word(&mut text, (1 << 41) | at));
            text
        };
        (3..count + 3).map(page).collect()
    }

    fn decisions(index: &mut Index, pages: &[String]) -> Vec<Decision> {
        let decide = |(number, page): (usize, &String)| {
            index.decide(&number.to_string(), &index.signer().sign(page), number as u64).unwrap()
        };
        pages.iter().enumerate().map(decide).collect()
    }

    fn check_equal(found: &[Decision], expected: &[Decision], what: &str) {
        let mut pairs = (0..).zip(found.iter().zip(expected));
        assert_eq!(pairs.find(|(_, (found, expected))| found != expected), None, "{what}");
        assert_eq!(found.len(), expected.len());
    }

    #[test]
    fn decisions_are_those_of_all_candidates() {
        check_decisions(&plan(), &pages(1200, 700), true);
    }

    /// Spots are counted as often as they occur.
    #[test]
    fn decisions_about_multisets_are_those_of_all_candidates() {
        let spotsigs = SpotSigs::builder().threshold(0.8).spot_distance(1).spot_chain(1).min_spots(1).build().unwrap();
        let plan = Plan::new(&spotsigs, Arc::new(Word)).unwrap().with_seed(Seed::Fixed(5)).unwrap();
        let spots = |page: &String| {
            let words = page.split_whitespace().enumerate();
            words.map(|(at, word)| format!("the {word} ").repeat(1 + usize::from(at % 3 == 0))).collect()
        };
        check_decisions(&plan, &pages(1200, 700).iter().map(spots).collect::<Vec<String>>(), true);
    }

    /// Some words are there twice.
    #[test]
    fn decisions_about_vectors_are_those_of_all_candidates() {
        let settings = Settings::from_pairs([("cosine", "0.9")]);
        let projection = Entry::by_name("projection").unwrap().factory(settings).unwrap();
        let plan = Plan::new(&projection, Arc::new(Word)).unwrap().with_seed(Seed::Fixed(5)).unwrap();
        let twice = |page: &String| {
            let words = page.split_whitespace().enumerate();
            words.map(|(at, word)| format!("{word} ").repeat(1 + usize::from(at % 3 == 0))).collect()
        };
        // Too few pages pass for a further order.
        check_decisions(&plan, &pages(1200, 700).iter().map(twice).collect::<Vec<String>>(), false);
    }

    fn check_decisions(plan: &Plan, pages: &[String], has_orders: bool) {
        let folder = tempfile::tempdir().unwrap();
        for limits in [Limits::default(), Limits { window: Some(500), ..Limits::default() }] {
            let options = |tables| IndexOptions { limits, tables, sync: Sync::Off, ..IndexOptions::default() };
            let open = |name: &str, tables, from| {
                let mut index = Index::open(&folder.path().join(name), plan, &options(tables)).unwrap().0;
                index.tables.hot.from = from;
                index.tables.hot.families().least_found = 1;
                index
            };
            let name = |what: &str| format!("{what}{:?}", limits.window);
            let expected = decisions(&mut open(&name("all"), 1 << 20, usize::MAX), pages);
            let dropped = expected.iter().filter(|decision| !decision.passes()).count();
            assert!((100..1000).contains(&dropped), "{dropped} are dropped");
            for (what, tables) in [("memory", 1 << 30), ("disk", 1 << 12)] {
                let mut index = open(&name(what), tables, 20);
                check_equal(&decisions(&mut index, pages), &expected, &format!("{limits:?} in {what}"));
                let families = index.tables.hot.families.as_ref().unwrap();
                assert!(!families.is_empty() && index.bytes_held() > index.tables.hot.bytes_held(), "no key is hot");
                assert!(limits.window.is_some() || has_orders == (families.most_orders() > 1));
            }
        }
    }

    /// All pages of a template are found under several elements each: no more documents than there are.
    #[test]
    fn documents_that_are_found_several_times_count_once() {
        let plan = plan();
        let common: String = (0..100).map(|word| format!(" c{word}")).collect();
        let pages: Vec<String> = (0..300).map(|page| format!("{common} own{page}")).collect();
        for (most, is_capped) in [(300, false), (299, true)] {
            let mut index = Index::in_memory(&plan, Limits::default());
            (index.tables.hot.from, index.mode) = (20, Mode::Add);
            decisions(&mut index, &pages);
            let asked = index.signer().sign(&format!("{common} asked"));
            let mut candidates = Vec::new();
            let (found, searched) = index.tables.hot.find(asked.signed(), most, |_| true, &mut candidates).unwrap();
            assert_eq!(searched.is_empty(), is_capped);
            candidates.sort_unstable();
            candidates.dedup();
            assert_eq!((found, candidates.len()), (is_capped, most));
        }
    }

    /// All are added without a decision; a query is then alike to a few of the many that share its keys.
    #[test]
    fn what_was_added_is_found_when_the_index_is_opened_again() {
        let (plan, pages) = (plan(), pages(2000, u64::MAX));
        let (folder, (added, asked)) = (tempfile::tempdir().unwrap(), pages.split_at(1800));
        let open = |mode, from| {
            let options = IndexOptions { mode, sync: Sync::Off, ..IndexOptions::default() };
            let mut index = Index::open(&folder.path().join("index"), &plan, &options).unwrap().0;
            index.tables.hot.from = from;
            index
        };
        let mut index = open(Mode::Add, 20);
        decisions(&mut index, added);
        index.seal().unwrap();
        drop(index);
        let mut all = Index::in_memory(&plan, Limits::default());
        all.tables.hot.from = usize::MAX;
        all.mode = Mode::Add;
        decisions(&mut all, added);
        let mut found = Vec::new();
        for mode in [Mode::Query, Mode::Filter] {
            // With the bound of a program, for which there are enough.
            let mut index = open(mode, HOT);
            assert!(!index.tables.hot.families.as_ref().unwrap().is_empty());
            found = decisions(&mut index, asked);
            all.mode = mode;
            check_equal(&found, &decisions(&mut all, asked), &format!("{mode:?}"));
        }
        assert!(found.iter().any(Decision::passes) && !found.iter().all(Decision::passes));
    }
}
