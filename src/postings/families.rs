//! Keys that very many documents have, with a prefix filter for the documents of each.

use super::prefixes::Prefixes;
use super::repeated::Repeated;
use super::table::Table;
use super::words::{Words, put};
use crate::similarity::bound::Bound;
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::io;
use std::sync::Arc;

/// The maximum number of sets, and of their elements, that choose the order of elements of a family.
const FIRST: usize = 1024;
const FIRST_ELEMENTS: usize = 1 << 20;

/// The number of documents of a key that choose its family.
const ASKED: usize = 16;

/// The maximum number of elements by which the documents of a family are recognised: they have half of them.
const RECOGNISED_BY: usize = 64;

/// The memory of a document of a family: a vector has room for up to twice as many.
const BYTES_A_MEMBER: u64 = 8;

/// The documents of hot keys, in families: they are found by the elements that are rare among them.
///
/// Sets may be multisets, of which the occurrences of an element count; or vectors of these counts.
///
/// The documents of one template share many keys, of which each has only some. The keys of documents with the same frequent
/// elements are one family, so that the elements of a document are entered once, not once for each key.
pub(crate) struct Families {
    bound: Bound,
    families: Vec<Family>,
    /// The family of each hot key.
    of: HashMap<u64, u32>,
    /// The families by their most frequent elements.
    recognised: HashMap<u64, Vec<u32>>,
    postings: Table,
    /// The elements that more than one document has, if they are known.
    repeated: Option<Arc<Repeated>>,
    /// The size that every document has at least.
    smallest: usize,
    /// Bytes of memory of all families.
    held: u64,
}

struct Family {
    prefixes: Prefixes,
    /// The number of elements by which its documents are recognised.
    frequent: usize,
    /// The documents, ascending.
    members: Vec<u32>,
    /// Whether they were entered in this order.
    is_ordered: bool,
}

impl Family {
    fn bytes_held(&self) -> u64 {
        self.prefixes.bytes_held() + BYTES_A_MEMBER * self.members.len() as u64
    }
}

impl Families {
    /// None yet; documents at or above the threshold will be found.
    pub fn new(bound: Bound) -> Self {
        Self::with(bound, Table::default())
    }

    /// As [`new`](Self::new), with this table for the elements.
    pub fn with(bound: Bound, postings: Table) -> Self {
        let (of, recognised) = Default::default();
        Families { bound, families: Vec::new(), of, recognised, postings, repeated: None, smallest: 0, held: 0 }
    }

    /// The same for documents none of which is smaller than `smallest`, and of which more than one has no other elements than
    /// these: they alone are entered, as far as they can be the first of enough common ones.
    pub fn of_repeated(self, repeated: Arc<Repeated>, smallest: usize) -> Self {
        Families { repeated: Some(repeated), smallest, ..self }
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

    /// Whether it saves time to make a key hot which these documents have; see [`Prefixes::spare_comparisons`].
    ///
    /// # Errors
    /// A set cannot be read.
    pub fn spare_comparisons<'s, E>(
        &self,
        documents: &[u32],
        set: impl FnMut(u32) -> Result<Cow<'s, [u64]>, E>,
    ) -> Result<bool, E> {
        Prefixes::spare_comparisons(self.bound, documents, set)
    }

    /// Makes a key hot, which these documents have; ascending.
    ///
    /// # Errors
    /// A set cannot be read.
    pub fn make_hot<'s, E>(
        &mut self,
        key: u64,
        documents: &[u32],
        mut set: impl FnMut(u32) -> Result<Cow<'s, [u64]>, E>,
    ) -> Result<(), E> {
        let (family, new) = self.family_for(documents, &mut set)?;
        for &document in &new {
            self.enter(family, document, &set(document)?);
        }
        self.add_key(key, family, new);
        Ok(())
    }

    /// The first step of [`make_hot`](Self::make_hot): the family of a key that these documents have, and those of them that
    /// must be [entered](Self::enter) before the key is [added](Self::add_key).
    ///
    /// Memory: one set at a time; for a new family, sets of up to a million elements.
    ///
    /// # Errors
    /// A set cannot be read.
    pub fn family_for<'s, E>(
        &mut self,
        documents: &[u32],
        mut set: impl FnMut(u32) -> Result<Cow<'s, [u64]>, E>,
    ) -> Result<(u32, Vec<u32>), E> {
        let family = match self.recognise(documents, &mut set)? {
            Some(family) => family,
            None => self.new_family(documents, &mut set)?,
        };
        let Family { members, .. } = &self.families[family as usize];
        let is_new = |document: &u32| members.binary_search(document).is_err();
        Ok((family, documents.iter().copied().filter(is_new).collect()))
    }

    /// The last step of [`make_hot`](Self::make_hot).
    pub fn add_key(&mut self, key: u64, family: u32, new: Vec<u32>) {
        let Family { members, is_ordered, .. } = &mut self.families[family as usize];
        self.of.insert(key, family);
        if new.is_empty() {
            return;
        }
        *is_ordered &= members.last() < new.first();
        self.held += BYTES_A_MEMBER * new.len() as u64;
        members.extend(new);
        // Two ascending parts, which a stable sort merges.
        members.sort();
    }

    /// Makes a family for these documents, without adding them. Its order of elements is that of some of them.
    fn new_family<'s, E>(
        &mut self,
        documents: &[u32],
        mut set: impl FnMut(u32) -> Result<Cow<'s, [u64]>, E>,
    ) -> Result<u32, E> {
        let (mut first, mut elements) = (Vec::new(), 0);
        for &document in documents.iter().step_by(documents.len().div_ceil(FIRST).max(1)) {
            let multiset = set(document)?;
            let elements_of = self.bound.weighed(&multiset).elements;
            let set = if let Cow::Owned(set) = elements_of { Cow::Owned(set) } else { multiset };
            elements += set.len();
            if elements > FIRST_ELEMENTS && !first.is_empty() {
                break;
            }
            first.push(set);
        }
        let prefixes = Prefixes::new(self.bound, self.next_salt(), first.iter().map(|set| &**set));
        Ok(self.add_family(prefixes, Vec::new()))
    }

    fn next_salt(&self) -> u64 {
        self.families.len() as u64 + 1
    }

    fn add_family(&mut self, prefixes: Prefixes, members: Vec<u32>) -> u32 {
        let number = self.families.len() as u32;
        let frequent = prefixes.most_common(RECOGNISED_BY);
        for &element in &frequent {
            self.recognised.entry(element).or_default().push(number);
        }
        let is_ordered = members.is_empty();
        let family = Family { prefixes, frequent: frequent.len(), members, is_ordered };
        self.held += family.bytes_held();
        self.families.push(family);
        number
    }

    /// The family whose frequent elements at least half of these documents have, as far as a sample of them shows; the first of
    /// several.
    fn recognise<'s, E>(
        &self,
        documents: &[u32],
        mut set: impl FnMut(u32) -> Result<Cow<'s, [u64]>, E>,
    ) -> Result<Option<u32>, E> {
        let (mut recognised, mut asked) = (BTreeMap::<u32, usize>::new(), 0);
        for &document in documents.iter().step_by(documents.len().div_ceil(ASKED).max(1)) {
            let mut shared: BTreeMap<u32, usize> = BTreeMap::new();
            let set = set(document)?;
            let elements = self.bound.weighed(&set).elements;
            for &family in elements.iter().filter_map(|element| self.recognised.get(element)).flatten() {
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
        self.held += BYTES_A_MEMBER;
    }

    /// Enters a document under the elements by which it is found.
    pub fn enter(&mut self, family: u32, document: u32, set: &[u64]) {
        let prefixes = &mut self.families[family as usize].prefixes;
        let before = prefixes.bytes_held();
        let may_be_shared = may_be_shared(&self.repeated);
        prefixes.enter(set, self.smallest, may_be_shared, |tag| self.postings.insert(tag, document));
        self.held += prefixes.bytes_held() - before;
    }

    /// The number of families.
    pub fn len(&self) -> usize {
        self.families.len()
    }

    /// Whether the documents of a family were entered in ascending order, so that [`find`](Self::find) has the latest first
    /// under each element.
    pub fn is_ordered(&self, family: u32) -> bool {
        self.families[family as usize].is_ordered
    }

    /// The documents of a family, ascending.
    pub fn members(&self, family: u32) -> &[u32] {
        &self.families[family as usize].members
    }

    /// Passes the documents of a family to a function that may be at or above the threshold with this set; some of them
    /// several times, and by chance a few others. Those under one element come while it returns true, the last that
    /// was entered first.
    ///
    /// # Errors
    /// What is on the disk cannot be read.
    pub fn find(&self, family: u32, set: &[u64], mut each: impl FnMut(u32) -> bool) -> io::Result<()> {
        let tags = self.families[family as usize].prefixes.tags(set, self.smallest, may_be_shared(&self.repeated));
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

    /// Bytes of memory of all except the table of elements. They depend only on what was entered.
    pub fn bytes_of_families(&self) -> u64 {
        debug_assert!(
            self.families.len() > 64 || self.held == self.families.iter().map(Family::bytes_held).sum::<u64>()
        );
        // Maps have room for up to twice as many.
        self.held + 32 * self.of.len() as u64 + 128 * self.recognised.len() as u64
    }

    /// The similarity that is looked for.
    pub fn bound(&self) -> Bound {
        self.bound
    }

    /// The table of elements.
    pub fn postings(&self) -> &Table {
        &self.postings
    }

    /// The table of elements, to be flushed.
    pub fn postings_mut(&mut self) -> &mut Table {
        &mut self.postings
    }

    /// Appends all except the table of elements, for [`read`](Self::read).
    pub fn put(&self, out: &mut Vec<u8>) {
        put(out, self.families.len() as u64);
        for Family { prefixes, members, .. } in &self.families {
            prefixes.put(out);
            put(out, members.len() as u64);
            let pair = |pair: &[u32]| u64::from(pair[0]) << 32 | u64::from(*pair.last().expect("it is not empty"));
            members.chunks(2).for_each(|members| put(out, pair(members)));
        }
        let mut of: Vec<(u64, u32)> = self.of.iter().map(|(&key, &family)| (key, family)).collect();
        of.sort_unstable();
        put(out, of.len() as u64);
        of.into_iter().flat_map(|(key, family)| [key, family.into()]).for_each(|word| put(out, word));
    }

    /// Reads what [`put`](Self::put) wrote, with this table of elements. `None` if that is not families of documents below
    /// `end`.
    pub fn read(bound: Bound, words: &mut Words, postings: Table, end: u32) -> Option<Self> {
        let mut families = Families::with(bound, postings);
        for _ in 0..words.next()? {
            let prefixes = Prefixes::read(bound, families.next_salt(), words)?;
            let count = usize::try_from(words.next()?).ok()?;
            let pairs = words.take(count.div_ceil(2))?;
            let mut members: Vec<u32> = pairs.flat_map(|pair| [(pair >> 32) as u32, pair as u32]).collect();
            members.truncate(count);
            (members.is_sorted() && members.last().is_none_or(|&last| last < end)).then_some(())?;
            families.add_family(prefixes, members);
        }
        for _ in 0..words.next()? {
            let (key, family) = (words.next()?, words.next_u32()?);
            ((family as usize) < families.len()).then_some(())?;
            families.of.insert(key, family);
        }
        Some(families)
    }
}

/// Whether another document may have an element.
fn may_be_shared(repeated: &Option<Arc<Repeated>>) -> impl Fn(u64) -> bool + use<'_> {
    |element| repeated.as_ref().is_none_or(|repeated| repeated.has(element))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::mix;
    use crate::similarity::Threshold;
    use std::collections::BTreeSet;
    use std::convert::Infallible;

    fn page(template: u64, number: u64, own: u64) -> Vec<u64> {
        let own = (0..own).map(|word| mix(1 << 63 | template << 50 | number << 20 | word));
        let frame = (0..100).map(|word| mix(template << 50 | word));
        frame.chain(own).collect::<BTreeSet<u64>>().into_iter().collect()
    }

    #[test]
    fn keys_of_documents_of_one_template_are_one_family() {
        let mut families = Families::new(Bound::Jaccard(Threshold::new(4, 5).unwrap()));
        let sets: Vec<Vec<u64>> = (0..1000).map(|number| page(number % 2, number, 20)).collect();
        let set = |document: u32| Ok::<_, Infallible>(Cow::Borrowed(&sets[document as usize][..]));
        let some = |step: usize, from: u32| (from..1000).step_by(step).collect::<Vec<u32>>();
        // No two keys have a document in common.
        families.make_hot(1, &some(4, 0), set).unwrap();
        assert!(families.is_ordered(0));
        families.make_hot(2, &some(4, 1), set).unwrap();
        families.make_hot(3, &some(4, 2), set).unwrap();
        families.make_hot(4, &some(4, 3), set).unwrap();
        // Two thirds of these are even.
        let mixed: Vec<u32> = (0..1000).filter(|number| number % 2 == 0 || number % 4 == 3).collect();
        families.make_hot(5, &mixed, set).unwrap();
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
        for _ in 0..2 {
            assert_eq!(found(&families, 0, &page(0, 5000, 3)).len(), 500);
            assert_eq!(found(&families, 0, &page(0, 5000, 9)).len(), 0);
            assert_eq!(found(&families, 1, &page(1, 5000, 3)).len(), 500);
            let mut bytes = Vec::new();
            families.put(&mut bytes);
            let (mut words, postings) = (Words::new(&bytes), std::mem::take(&mut families.postings));
            families = Families::read(families.bound, &mut words, postings, 1000).unwrap();
            assert!(words.is_empty());
            assert!(Families::read(families.bound, &mut Words::new(&bytes), Table::default(), 999).is_none());
            assert_eq!(families.of([1, 3, 5, 9].into_iter()), [0]);
        }
        // Whether to go on is asked for each element.
        let mut found = Vec::new();
        let latest = |document| {
            found.push(document);
            document >= 990
        };
        families.find(1, &page(1, 5000, 3), latest).unwrap();
        // Those of key 4 were entered last, and so were the documents of key 5 that are not even.
        assert!(!families.is_ordered(0) && !families.is_ordered(1));
        assert!(found.len() < 200 && found.starts_with(&[999, 995, 991, 987]), "{found:?}");
    }
}
