//! Keys that very many documents have: those of pages of one template, of a log, of a shop.

use super::file::{cannot_move, cannot_read};
use super::log::Log;
use super::signature::Signature;
use crate::algorithm::{Algorithm, CompareOn};
use crate::error::Error;
use crate::postings::{Families, Table};
use std::io;
use std::path::Path;

/// A key of this many documents is hot: of its documents, only those are compared that the prefix filter does not rule
/// out.
pub(super) const HOT: usize = 256;

/// Of this many documents, the keys of one are counted.
const COUNTED: u32 = 64;

/// The hot keys of an index, if its algorithm allows a prefix filter.
pub(super) struct HotKeys {
    families: Option<Families>,
    /// The bound [`HOT`], which tests lower.
    pub from: usize,
}

impl HotKeys {
    /// None yet; never any if documents below the threshold are looked for.
    pub fn new(algorithm: &dyn Algorithm, only_similar: bool) -> Self {
        let profile = algorithm.profile();
        let jaccard = profile.jaccard.filter(|_| only_similar && profile.compare_on == CompareOn::Features);
        HotKeys { families: jaccard.map(Families::new), from: HOT }
    }

    /// Whether a key is hot: its later documents are not in the table of keys.
    #[inline]
    pub fn is_hot(&self, tag: u32) -> bool {
        self.families.as_ref().is_some_and(|families| families.is_hot(tag.into()))
    }

    /// Enters a document, later than all others, under those of its keys that are hot.
    pub fn enter(&mut self, tags: &[u32], document: u32, set: &[u64]) {
        if let Some(families) = &mut self.families {
            for family in families.of(tags.iter().map(|&tag| tag.into())) {
                families.add(family, document, set);
            }
        }
    }

    /// Makes those keys of a document hot that too many documents have. Looks at one in [`COUNTED`] documents only.
    ///
    /// With a folder, the elements of documents move there before they take more than this memory, in bytes.
    ///
    /// # Errors
    /// The documents of a key cannot be read, or their elements cannot be moved.
    pub fn watch(
        &mut self,
        tags: &[u32],
        document: u32,
        keys: &Table,
        (log, places): (&mut Log, &[u64]),
        (folder, memory): (Option<&Path>, u64),
    ) -> Result<(), Error> {
        let Some(families) = self.families.as_mut().filter(|_| document.is_multiple_of(COUNTED)) else { return Ok(()) };
        for &tag in tags {
            if families.is_hot(tag.into()) {
                continue;
            }
            let mut documents = Vec::new();
            let add = |document| {
                documents.push(document);
                true
            };
            keys.find_while(tag, add).map_err(cannot_read)?;
            if documents.len() >= self.from {
                documents.reverse();
                let set = |document: u32| Ok(log.read(places[document as usize])?.evidence.into());
                let make_room = |elements: &mut Table| match folder {
                    Some(folder) if elements.bytes_to_free() > memory => {
                        elements.freeze(folder).map_err(|error| cannot_move(folder, error))
                    }
                    _ => Ok(()),
                };
                families.make_hot::<Error>(tag.into(), &documents, set, make_room)?;
            }
        }
        Ok(())
    }

    /// Adds the documents that count, have a hot key of this document and may be similar to it; and by chance a few that
    /// have none of its keys. Some come several times. Returns whether there are more than `most`.
    pub fn find(
        &self,
        signature: &Signature,
        most: usize,
        counts: impl Fn(u32) -> bool,
        candidates: &mut Vec<u32>,
    ) -> io::Result<bool> {
        let Some(families) = &self.families else { return Ok(false) };
        let (start, mut is_capped) = (candidates.len(), false);
        for family in families.of(signature.tags.iter().map(|&tag| tag.into())) {
            families.find(family, &signature.evidence, |document| {
                if counts(document) {
                    is_capped |= candidates.len() - start >= most;
                    if !is_capped {
                        candidates.push(document);
                    }
                }
                !is_capped
            })?;
        }
        Ok(is_capped)
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        if let Some(families) = &mut self.families {
            families.clear();
        }
    }

    /// Bytes of memory.
    pub fn bytes_held(&self) -> u64 {
        self.families.as_ref().map_or(0, Families::bytes_held)
    }

    /// Bytes of memory that freezing would free.
    pub fn bytes_to_free(&self) -> u64 {
        self.families.as_ref().map_or(0, Families::bytes_to_free)
    }

    /// Whether another document can be entered before it must be frozen. A set has fewer than 2²⁸ elements.
    pub fn has_room(&self) -> bool {
        self.families.as_ref().is_none_or(|families| families.room() > 1 << 30)
    }

    /// Moves what is in memory to files in a folder.
    ///
    /// # Errors
    /// A file cannot be made, written or read.
    pub fn freeze(&mut self, folder: &Path) -> io::Result<()> {
        self.families.as_mut().map_or(Ok(()), |families| families.freeze(folder))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Decision, Index, Limits, Mode, Options, Plan, Seed, Sync};
    use super::*;
    use crate::MinHash;
    use crate::tokenizer::Word;
    use std::sync::Arc;

    fn plan() -> Plan {
        let minhash = MinHash::builder().threshold(0.8).shingle(1).build().unwrap();
        Plan::new(&minhash, Arc::new(Word)).unwrap().with_seed(Seed::Fixed(5)).unwrap()
    }

    /// Pages of two templates with words of their own, of which some repeat, so that pages are below, at and above the
    /// threshold.
    fn pages(count: u64) -> Vec<String> {
        let word = |text: &mut String, word: u64| text.push_str(&format!(" w{}", crate::hash::mix(word) >> 20));
        let page = |number: u64| {
            let mut text = String::new();
            let chance = crate::hash::mix(number);
            (0..100).for_each(|at| word(&mut text, ((chance % 2) << 32) | at));
            let (from, own) = (number - chance / 2 % 3 * (chance / 8 % 4), 8 + chance / 64 % 12);
            (0..own).for_each(|at| word(&mut text, (1 << 40) | (from << 8) | at));
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
        let (plan, pages) = (plan(), pages(1200));
        let folder = tempfile::tempdir().unwrap();
        for limits in [Limits::default(), Limits { window: Some(500), ..Limits::default() }] {
            let options = |tables| Options { limits, tables, sync: Sync::Off, ..Options::default() };
            let open = |name: &str, tables, from| {
                let mut index = Index::open(&folder.path().join(name), &plan, &options(tables)).unwrap().0;
                index.hot.from = from;
                index
            };
            let name = |what: &str| format!("{what}{:?}", limits.window);
            let expected = decisions(&mut open(&name("all"), 1 << 20, usize::MAX), &pages);
            let dropped = expected.iter().filter(|decision| !decision.passes()).count();
            assert!((100..1000).contains(&dropped), "{dropped} are dropped");
            for (what, tables) in [("memory", 1 << 30), ("disk", 1 << 12)] {
                let mut index = open(&name(what), tables, 20);
                check_equal(&decisions(&mut index, &pages), &expected, &format!("{limits:?} in {what}"));
                let families = index.hot.families.as_ref().unwrap();
                assert!(!families.is_empty() && index.bytes_held() > index.hot.bytes_held(), "no key is hot");
            }
        }
    }

    /// All are added without a decision; a query is then alike to a few of the many that share its keys.
    #[test]
    fn what_was_added_is_found_when_the_index_is_opened_again() {
        let (plan, pages) = (plan(), pages(2000));
        let (folder, (added, asked)) = (tempfile::tempdir().unwrap(), pages.split_at(1800));
        let open = |mode, from| {
            let options = Options { mode, sync: Sync::Off, ..Options::default() };
            let mut index = Index::open(&folder.path().join("index"), &plan, &options).unwrap().0;
            index.hot.from = from;
            index
        };
        let mut index = open(Mode::Add, 20);
        decisions(&mut index, added);
        index.seal().unwrap();
        drop(index);
        let mut all = Index::in_memory(&plan, Limits::default());
        all.hot.from = usize::MAX;
        all.mode = Mode::Add;
        decisions(&mut all, added);
        let mut found = Vec::new();
        for mode in [Mode::Query, Mode::Filter] {
            // With the bound of a program, for which there are enough.
            let mut index = open(mode, HOT);
            assert!(!index.hot.families.as_ref().unwrap().is_empty());
            found = decisions(&mut index, asked);
            all.mode = mode;
            check_equal(&found, &decisions(&mut all, asked), &format!("{mode:?}"));
        }
        assert!(found.iter().any(Decision::passes) && !found.iter().all(Decision::passes));
    }
}
