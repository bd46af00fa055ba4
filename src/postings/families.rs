//! Keys that very many documents have, with a prefix filter for the documents of each.

use super::prefixes::Prefixes;
use super::table::Table;
use crate::similarity::Threshold;
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::io;
use std::path::Path;

/// The maximum number of sets, and of their elements, that choose the order of elements of a family.
const FIRST: usize = 1024;
const FIRST_ELEMENTS: usize = 1 << 20;

/// The number of documents of a key that choose its family.
const ASKED: usize = 16;

/// The maximum number of elements by which the documents of a family are recognised: they have half of them.
const RECOGNISED_BY: usize = 64;

/// The documents of hot keys, in families: they are found by the elements that are rare among them.
///
/// The documents of one template share many keys, of which each has only some. The keys of documents with the same frequent
/// elements are one family, so that the elements of a document are entered once, not once for each key.
pub(crate) struct Families {
    jaccard: Threshold,
    families: Vec<Family>,
    /// The family of each hot key.
    of: HashMap<u64, u32>,
    /// The families by their most frequent elements.
    recognised: HashMap<u64, Vec<u32>>,
    postings: Table,
}

struct Family {
    prefixes: Prefixes,
    /// The number of elements by which its documents are recognised.
    frequent: usize,
    /// The documents, ascending.
    members: Vec<u32>,
}

impl Families {
    /// None yet; documents at or above the threshold will be found.
    pub fn new(jaccard: Threshold) -> Self {
        let (of, recognised) = Default::default();
        Families { jaccard, families: Vec::new(), of, recognised, postings: Table::default() }
    }

    /// Makes no key hot.
    pub fn clear(&mut self) {
        *self = Families::new(self.jaccard);
    }

    /// Whether no key is hot.
    pub fn is_empty(&self) -> bool {
        self.of.is_empty()
    }

    /// Whether a key is hot.
    pub fn is_hot(&self, key: u64) -> bool {
        !self.is_empty() && self.of.contains_key(&key)
    }

    /// The families of some keys, each once, ascending.
    pub fn of(&self, keys: impl Iterator<Item = u64>) -> Vec<u32> {
        if self.is_empty() {
            return Vec::new();
        }
        let mut families: Vec<u32> = keys.filter_map(|key| self.of.get(&key).copied()).collect();
        families.sort_unstable();
        families.dedup();
        families
    }

    /// Makes a key hot, which these documents have; ascending. After each document that is entered, `make_room` may
    /// [freeze](Table::freeze) the table of their elements.
    ///
    /// Memory: beside what is kept, one set at a time; for a new family, sets of up to a million elements.
    ///
    /// # Errors
    /// A set cannot be read, or the first error of `make_room`.
    pub fn make_hot<'s, E>(
        &mut self,
        key: u64,
        documents: &[u32],
        mut set: impl FnMut(u32) -> Result<Cow<'s, [u64]>, E>,
        mut make_room: impl FnMut(&mut Table) -> Result<(), E>,
    ) -> Result<(), E> {
        let family = match self.recognise(documents, &mut set)? {
            Some(family) => family,
            None => self.new_family(documents, &mut set)?,
        };
        let Family { members, .. } = &self.families[family as usize];
        let is_new = |document: &u32| members.binary_search(document).is_err();
        let new: Vec<u32> = documents.iter().copied().filter(is_new).collect();
        for &document in &new {
            let set = set(document)?;
            self.enter(family, document, &set);
            make_room(&mut self.postings)?;
        }
        let members = &mut self.families[family as usize].members;
        members.extend(new);
        members.sort_unstable();
        self.of.insert(key, family);
        Ok(())
    }

    /// Makes a family for these documents, without adding them. Its order of elements is that of some of them.
    fn new_family<'s, E>(
        &mut self,
        documents: &[u32],
        mut set: impl FnMut(u32) -> Result<Cow<'s, [u64]>, E>,
    ) -> Result<u32, E> {
        let (mut first, mut elements) = (Vec::new(), 0);
        for &document in documents.iter().step_by(documents.len().div_ceil(FIRST).max(1)) {
            let set = set(document)?;
            elements += set.len();
            if elements > FIRST_ELEMENTS && !first.is_empty() {
                break;
            }
            first.push(set);
        }
        let number = self.families.len() as u32;
        let prefixes = Prefixes::new(self.jaccard, u64::from(number) + 1, first.iter().map(|set| &**set));
        let frequent = prefixes.most_common(RECOGNISED_BY);
        for &element in &frequent {
            self.recognised.entry(element).or_default().push(number);
        }
        self.families.push(Family { prefixes, frequent: frequent.len(), members: Vec::new() });
        Ok(number)
    }

    /// The family whose frequent elements at least half of these documents have, as far as some of them tell; the first of
    /// several.
    fn recognise<'s, E>(
        &self,
        documents: &[u32],
        mut set: impl FnMut(u32) -> Result<Cow<'s, [u64]>, E>,
    ) -> Result<Option<u32>, E> {
        let (mut recognised, mut asked) = (BTreeMap::<u32, usize>::new(), 0);
        for &document in documents.iter().step_by(documents.len().div_ceil(ASKED).max(1)) {
            let mut shared: BTreeMap<u32, usize> = BTreeMap::new();
            for &family in set(document)?.iter().filter_map(|element| self.recognised.get(element)).flatten() {
                *shared.entry(family).or_default() += 1;
            }
            let has_half = |family: u32, shared: usize| 2 * shared >= self.families[family as usize].frequent;
            for (family, _) in shared.into_iter().filter(|&(family, shared)| has_half(family, shared)) {
                *recognised.entry(family).or_default() += 1;
            }
            asked += 1;
        }
        Ok(recognised.into_iter().find(|&(_, documents)| 2 * documents >= asked).map(|(family, _)| family))
    }

    /// Adds a document, later than all others of the family.
    pub fn add(&mut self, family: u32, document: u32, set: &[u64]) {
        self.enter(family, document, set);
        self.families[family as usize].members.push(document);
    }

    fn enter(&mut self, family: u32, document: u32, set: &[u64]) {
        self.families[family as usize].prefixes.enter(set, |tag| self.postings.insert(tag, document));
    }

    /// The number of families.
    pub fn len(&self) -> usize {
        self.families.len()
    }

    /// The documents of a family, ascending.
    pub fn members(&self, family: u32) -> &[u32] {
        &self.families[family as usize].members
    }

    /// Passes the documents of a family to a function that may be at or above the threshold with this set; some of them
    /// several times, and by chance a few others. Those under one element come latest first, while it returns true.
    ///
    /// # Errors
    /// What is on the disk cannot be read.
    pub fn find(&self, family: u32, set: &[u64], mut each: impl FnMut(u32) -> bool) -> io::Result<()> {
        let tags = self.families[family as usize].prefixes.tags(set);
        tags.iter().for_each(|&tag| self.postings.fetch(tag));
        for tag in tags {
            self.postings.find_while(tag, &mut each)?;
        }
        Ok(())
    }

    /// Bytes of memory.
    pub fn bytes_held(&self) -> u64 {
        self.postings.bytes_held() + self.bytes_of_families()
    }

    fn bytes_of_families(&self) -> u64 {
        let bytes = |family: &Family| family.prefixes.bytes_held() + 4 * family.members.capacity() as u64;
        let recognised = 64 * self.recognised.capacity() as u64;
        self.families.iter().map(bytes).sum::<u64>() + 16 * self.of.capacity() as u64 + recognised
    }

    /// Bytes of memory that freezing would free.
    pub fn bytes_to_free(&self) -> u64 {
        self.postings.bytes_to_free()
    }

    /// The number of further postings before it must be frozen.
    pub fn room(&self) -> usize {
        self.postings.room()
    }

    /// Moves the elements of documents to files in a folder.
    ///
    /// # Errors
    /// A file cannot be made, written or read.
    pub fn freeze(&mut self, folder: &Path) -> io::Result<()> {
        self.postings.freeze(folder)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::mix;
    use std::collections::BTreeSet;
    use std::convert::Infallible;

    fn page(template: u64, number: u64, own: u64) -> Vec<u64> {
        let own = (0..own).map(|word| mix(1 << 63 | template << 50 | number << 20 | word));
        let frame = (0..100).map(|word| mix(template << 50 | word));
        frame.chain(own).collect::<BTreeSet<u64>>().into_iter().collect()
    }

    #[test]
    fn keys_of_documents_of_one_template_are_one_family() {
        let mut families = Families::new(Threshold::new(4, 5).unwrap());
        let sets: Vec<Vec<u64>> = (0..1000).map(|number| page(number % 2, number, 20)).collect();
        let set = |document: u32| Ok::<_, Infallible>(Cow::Borrowed(&sets[document as usize][..]));
        let some = |step: usize, from: u32| (from..1000).step_by(step).collect::<Vec<u32>>();
        // No two keys have a document in common.
        families.make_hot(1, &some(4, 0), set, |_| Ok(())).unwrap();
        families.make_hot(2, &some(4, 1), set, |_| Ok(())).unwrap();
        families.make_hot(3, &some(4, 2), set, |_| Ok(())).unwrap();
        families.make_hot(4, &some(4, 3), set, |_| Ok(())).unwrap();
        // Two thirds of these are even.
        let mixed: Vec<u32> = (0..1000).filter(|number| number % 2 == 0 || number % 4 == 3).collect();
        families.make_hot(5, &mixed, set, |_| Ok(())).unwrap();
        assert_eq!(families.of([1, 3, 5, 9].into_iter()), [0]);
        assert_eq!(families.of([4, 2, 1].into_iter()), [0, 1]);
        assert!(families.is_hot(5) && !families.is_hot(6));
        assert_eq!(families.families[0].members, mixed);
        assert_eq!(families.families[1].members, some(2, 1));
        let found = |families: &Families, family: u32, set: &[u64]| {
            let mut found = BTreeSet::new();
            let add = |document| {
                found.insert(document);
                true
            };
            families.find(family, set, add).unwrap();
            found
        };
        // With 3 words of its own it is .81 alike to all pages of its template.
        let folder = tempfile::tempdir().unwrap();
        for _ in 0..2 {
            assert_eq!(found(&families, 0, &page(0, 5000, 3)).len(), 500);
            assert_eq!(found(&families, 0, &page(0, 5000, 9)).len(), 0);
            assert_eq!(found(&families, 1, &page(1, 5000, 3)).len(), 500);
            families.freeze(folder.path()).unwrap();
        }
        // Whether to go on is asked for each element.
        let mut found = Vec::new();
        let latest = |document| {
            found.push(document);
            document >= 990
        };
        families.find(1, &page(1, 5000, 3), latest).unwrap();
        assert!(found.len() < 200 && found.starts_with(&[999, 997, 995, 993, 991, 989]), "{found:?}");
    }

    /// Elements can move to the disk while a key with many documents becomes hot.
    #[test]
    fn there_is_room_after_each_document() {
        let folder = tempfile::tempdir().unwrap();
        let sets: Vec<Vec<u64>> = (0..500).map(|number| page(0, number, 40)).collect();
        let documents: Vec<u32> = (0..500).collect();
        let mut families = Families::new(Threshold::new(4, 5).unwrap());
        let (mut asked, mut most) = (0, 0);
        let make_room = |elements: &mut Table| {
            asked += 1;
            most = most.max(elements.bytes_to_free());
            if elements.bytes_to_free() > 4096 { elements.freeze(folder.path()) } else { Ok(()) }
        };
        let set = |document: u32| Ok::<_, io::Error>(Cow::Borrowed(&sets[document as usize][..]));
        families.make_hot(1, &documents, set, make_room).unwrap();
        assert!(asked == 500 && (4096..20_000).contains(&most), "{asked} times, at most {most} bytes");
        let mut found = Vec::new();
        let add = |document| {
            found.push(document);
            true
        };
        families.find(0, &sets[77], add).unwrap();
        assert!(found.contains(&77));
    }
}
