//! Keys that very many documents have, with a prefix filter for the documents of each.

use super::gained::Gained;
use super::prefixes::{Asked, Prefixes, first_from};
use super::repeated::Repeated;
use super::table::Table;
use super::words::{Words, put};
use crate::similarity::bound::{Bound, Tail};
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

/// The number of documents that are found before those of the same document are added up.
const HITS_AT_ONCE: usize = 1 << 16;

/// A family whose later documents have gained elements gets a further order of elements if a search by these hits so many documents, and
/// one in 32 of the family; more with each order. Fewer hits cost no more than a further order does.
const LEAST_FOUND: usize = 1 << 12;

/// The maximum number of orders of a family: each is searched.
const MOST_ORDERS: usize = 32;

/// The memory of a document of a family: a vector has room for up to twice as many.
const BYTES_A_MEMBER: u64 = 2 * size_of::<Member>() as u64;

/// The documents of hot keys, in families: they are found by the elements that are rare among them.
///
/// Sets may be multisets, of which the occurrences of an element count; or vectors of these counts.
///
/// The documents of one template share many keys, of which each has only some. The keys of documents with the same frequent
/// elements are one family, so that the elements of a document are entered once, not once for each key.
///
/// What is rare among the first documents of a family need not stay so: a template gains words. Then the later documents have an order
/// of elements of their own, in which these come last.
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
    /// [`LEAST_FOUND`], which tests lower.
    pub least_found: usize,
}

struct Family {
    /// The oldest first. Documents are entered in the last, and found in all.
    orders: Vec<Prefixes>,
    /// Of what was entered in the last.
    gained: Gained,
    /// The number of documents that were entered, in all.
    entered: u32,
    /// The number of elements by which its documents are recognised.
    frequent: usize,
    /// The documents, ascending.
    members: Vec<Member>,
    /// Whether they were entered in this order.
    is_ordered: bool,
}

/// A document of a family.
#[derive(Clone, Copy)]
pub(crate) struct Member {
    document: u32,
    tail: [u32; 2],
}

impl Member {
    fn new(document: u32, tail: Tail) -> Self {
        let word = tail.to_word();
        Member { document, tail: [(word >> 32) as u32, word as u32] }
    }

    fn word(self) -> u64 {
        u64::from(self.tail[0]) << 32 | u64::from(self.tail[1])
    }
}

/// Documents under the elements that were asked for, each with what it has in common by this element.
///
/// Memory: 8 bytes for each of up to [`HITS_AT_ONCE`] hits, and 16 for each document.
#[derive(Default)]
struct Hits {
    /// The document above the share.
    hits: Vec<u64>,
    /// Of each document the sum of its earlier hits, ascending.
    sums: Vec<(u32, u64)>,
}

impl Hits {
    fn add(&mut self, document: u32, share: u32) {
        if self.hits.len() == HITS_AT_ONCE {
            self.add_up();
        }
        self.hits.push(u64::from(document) << 32 | u64::from(share));
    }

    fn add_up(&mut self) {
        self.hits.sort_unstable();
        let by_document = self.hits.chunk_by(|a, b| a >> 32 == b >> 32);
        let sum = |hits: &[u64]| hits.iter().map(|&hit| u64::from(hit as u32)).sum::<u64>();
        self.sums.extend(by_document.map(|hits| ((hits[0] >> 32) as u32, sum(hits))));
        self.hits.clear();
        // Two ascending parts, which a stable sort merges.
        self.sums.sort_by_key(|&(document, _)| document);
        self.sums.dedup_by(|next, first| {
            let is_same = next.0 == first.0;
            if is_same {
                first.1 += next.1;
            }
            is_same
        });
    }

    /// The sum of each document, ascending.
    fn sums(mut self) -> Vec<(u32, u64)> {
        self.add_up();
        self.sums
    }
}

/// Whether a document is wanted that was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    Yes,
    No,
    /// No, and neither are those that come after it under the same element.
    NoMore,
}

impl Family {
    fn bytes_held(&self) -> u64 {
        self.bytes_of_orders() + BYTES_A_MEMBER * self.members.len() as u64
    }

    fn bytes_of_orders(&self) -> u64 {
        self.orders.iter().map(Prefixes::bytes_held).sum::<u64>() + self.gained.bytes_held()
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
        let least_found = LEAST_FOUND;
        Families {
            bound,
            families: Vec::new(),
            of,
            recognised,
            postings,
            repeated: None,
            smallest: 0,
            held: 0,
            least_found,
        }
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
        let mut members = Vec::with_capacity(new.len());
        for document in new {
            members.push(self.enter(family, document, &set(document)?));
        }
        self.add_key(key, family, members);
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
        let is_new = |document: &u32| members.binary_search_by_key(document, |member| member.document).is_err();
        Ok((family, documents.iter().copied().filter(is_new).collect()))
    }

    /// The last step of [`make_hot`](Self::make_hot), with what entering returned.
    pub fn add_key(&mut self, key: u64, family: u32, new: Vec<Member>) {
        let Family { members, is_ordered, .. } = &mut self.families[family as usize];
        self.of.insert(key, family);
        if new.is_empty() {
            return;
        }
        let document = |member: &Member| member.document;
        *is_ordered &= members.last().map(document) < new.first().map(document);
        self.held += BYTES_A_MEMBER * new.len() as u64;
        members.extend(new);
        // Two ascending parts, which a stable sort merges.
        members.sort_by_key(document);
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
        let prefixes = Prefixes::new(self.bound, salt(self.families.len(), 0), first.iter().map(|set| &**set));
        Ok(self.add_family(vec![prefixes], (Gained::default(), 0), Vec::new()))
    }

    fn add_family(&mut self, orders: Vec<Prefixes>, (gained, entered): (Gained, u32), members: Vec<Member>) -> u32 {
        let number = self.families.len() as u32;
        let frequent = orders[0].most_common(RECOGNISED_BY);
        for &element in &frequent {
            self.recognised.entry(element).or_default().push(number);
        }
        let is_ordered = members.is_empty();
        let family = Family { orders, gained, entered, frequent: frequent.len(), members, is_ordered };
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
        let member = self.enter(family, document, set);
        self.families[family as usize].members.push(member);
        self.held += BYTES_A_MEMBER;
    }

    /// Enters a document under the elements by which it is found.
    #[must_use = "it is a member once it is added"]
    pub fn enter(&mut self, family: u32, document: u32, set: &[u64]) -> Member {
        let (number, family) = (family as usize, &mut self.families[family as usize]);
        let before = family.bytes_of_orders();
        let may_be_shared = may_be_shared(&self.repeated);
        let orders = family.orders.len();
        let current = family.orders.last_mut().expect("a family has an order");
        let tail = current.enter(set, self.smallest, may_be_shared, |tag| self.postings.insert(tag, document));
        family.entered += 1;
        if orders < MOST_ORDERS {
            let gained = family.gained.add(|each| current.rare(set, each));
            // An order takes the memory of its common elements, and the time of each search.
            let least = self.least_found.max(family.entered as usize / 32).max(4 * current.common());
            if hits_at_least(&self.postings, current, &gained, least << (orders / 8)) {
                let order = current.with_common(salt(number, orders), &gained, Gained::WHOLE);
                family.orders.push(order);
            }
        }
        self.held = self.held + family.bytes_of_orders() - before;
        Member::new(document, tail)
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
    pub fn members(&self, family: u32) -> impl DoubleEndedIterator<Item = u32> + ExactSizeIterator {
        self.families[family as usize].members.iter().map(|member| member.document)
    }

    /// The documents of a family that may be at or above the threshold with this set, ascending, and by chance a few others; of those
    /// that `wants` says yes to. It is asked about a document for each element that brings it: those under one element come with the last
    /// that was entered first.
    ///
    /// Cost: for each order of the family a step for each document under each element that can be the first of enough common ones, and a
    /// sort of those that count.
    ///
    /// # Errors
    /// What is on the disk cannot be read.
    pub fn find(&self, family: u32, set: &[u64], mut wants: impl FnMut(u32) -> Wanted) -> io::Result<Vec<u32>> {
        let Family { orders, members, .. } = &self.families[family as usize];
        let mut documents = Vec::new();
        for order in orders {
            self.find_in(order, members, set, &mut wants, &mut documents)?;
        }
        // Each order has its own documents.
        documents.sort_unstable();
        documents.dedup();
        Ok(documents)
    }

    /// Appends the documents of one order, ascending.
    fn find_in(
        &self,
        order: &Prefixes,
        members: &[Member],
        set: &[u64],
        wants: &mut impl FnMut(u32) -> Wanted,
        documents: &mut Vec<u32>,
    ) -> io::Result<()> {
        let Asked { tags, tail } = order.ask(set, self.smallest, may_be_shared(&self.repeated));
        tags.iter().for_each(|&(tag, _)| self.postings.fetch(tag));
        let mut hits = Hits::default();
        for (tag, share) in tags {
            self.postings.find_while(tag, |document| {
                let wanted = wants(document);
                if wanted == Wanted::Yes {
                    hits.add(document, share);
                }
                wanted != Wanted::NoMore
            })?;
        }
        let mut rest = members;
        for (document, common) in hits.sums() {
            rest = &rest[first_from(rest, |member| member.document >= document)..];
            // By chance it can be one of another family or order.
            let is_possible = rest.first().is_some_and(|member| {
                let own = Tail::from_word(member.word());
                member.document == document && self.bound.can_reach_with(common, tail, own)
            });
            if is_possible {
                documents.push(document);
            }
        }
        Ok(())
    }

    /// Removes the members of some families from ascending documents: [`find`](Self::find) finds those that are similar.
    ///
    /// Cost: some steps for each document and family.
    pub fn remove_members(&self, families: &[u32], documents: &mut Vec<u32>) {
        for &family in families {
            let mut rest = &self.families[family as usize].members[..];
            documents.retain(|&document| {
                rest = &rest[first_from(rest, |member| member.document >= document)..];
                rest.first().is_none_or(|member| member.document != document)
            });
        }
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

    /// The largest number of orders of a family.
    #[cfg(test)]
    pub fn most_orders(&self) -> usize {
        self.families.iter().map(|family| family.orders.len()).max().unwrap_or(0)
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
        for Family { orders, gained, entered, members, .. } in &self.families {
            put(out, orders.len() as u64);
            orders.iter().for_each(|order| order.put(out));
            gained.put(out);
            put(out, (*entered).into());
            put(out, members.len() as u64);
            for &member in members {
                put(out, member.document.into());
                put(out, member.word());
            }
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
            let (number, mut orders) = (families.len(), Vec::new());
            for order in 0..words.next().filter(|orders| (1..=MOST_ORDERS as u64).contains(orders))? {
                orders.push(Prefixes::read(bound, salt(number, order as usize), words)?);
            }
            let gained = (Gained::read(words)?, words.next_u32()?);
            let count = usize::try_from(words.next()?).ok()?;
            let mut members = Vec::new();
            for _ in 0..count {
                let document = words.next_u32().filter(|&document| document < end)?;
                members.push(Member::new(document, Tail::from_word(words.next()?)));
            }
            members.is_sorted_by(|a, b| a.document < b.document).then_some(())?;
            families.add_family(orders, gained, members);
        }
        for _ in 0..words.next()? {
            let (key, family) = (words.next()?, words.next_u32()?);
            ((family as usize) < families.len()).then_some(())?;
            families.of.insert(key, family);
        }
        Some(families)
    }
}

/// Distinguishes the orders of all families.
fn salt(family: usize, order: usize) -> u64 {
    (order as u64) << 32 | (family as u64 + 1)
}

/// Whether a search by these elements hits at least so many documents. Errors are ignored here: the next search reports them.
///
/// With a window, those of forgotten documents that merges have left out are not counted.
fn hits_at_least(postings: &Table, order: &Prefixes, elements: &[(u64, u32)], least: usize) -> bool {
    let mut found = 0;
    elements.iter().any(|&(element, _)| {
        _ = postings.find_while(order.tag_of_rare(element), |_| {
            found += 1;
            found < least
        });
        found >= least
    })
}

/// Whether another document may have an element.
fn may_be_shared(repeated: &Option<Arc<Repeated>>) -> impl Fn(u64) -> bool + use<'_> {
    |element| repeated.as_ref().is_none_or(|repeated| repeated.has(element))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::mix;
    use crate::similarity::{Threshold, cosine_at_least, jaccard_at_least};
    use proptest::prelude::*;
    use std::collections::BTreeSet;
    use std::convert::Infallible;

    fn page(template: u64, number: u64, own: u64) -> Vec<u64> {
        let own = (0..own).map(|word| mix(1 << 63 | template << 50 | number << 20 | word));
        let frame = (0..100).map(|word| mix(template << 50 | word));
        frame.chain(own).collect::<BTreeSet<u64>>().into_iter().collect()
    }

    #[test]
    fn hits_of_a_document_are_added_up() {
        let (mut hits, mut plain) = (Hits::default(), std::collections::BTreeMap::<u32, u64>::new());
        for number in 0..3 * HITS_AT_ONCE as u64 + 5 {
            let (document, share) = (mix(number) as u32 % 1000 + (number / 90_000) as u32 * 500, mix(!number) as u32);
            hits.add(document, share);
            *plain.entry(document).or_default() += u64::from(share);
        }
        assert!(hits.hits.len() <= HITS_AT_ONCE && hits.sums.len() >= 1000);
        assert_eq!(hits.sums(), plain.into_iter().collect::<Vec<(u32, u64)>>());
    }

    /// Pages of a frame that gain ten words from some page on, and later others.
    fn drifting(number: u64) -> Vec<u64> {
        let gained = match number {
            0..300 => 3 << 50 | number << 20,
            300..2500 => 1 << 50,
            _ => 2 << 50,
        };
        let gained = (0..10).map(|word| mix(1 << 62 | gained | word));
        page(0, number, 20).into_iter().chain(gained).collect::<BTreeSet<u64>>().into_iter().collect()
    }

    #[test]
    fn words_that_a_template_gains_do_not_find_all_pages() {
        let (mut found, mut orders) = (Vec::new(), Vec::new());
        for least_found in [256, usize::MAX] {
            let mut families = Families::new(Bound::Jaccard(Threshold::new(4, 5).unwrap()));
            families.least_found = least_found;
            let set = |document: u32| Ok::<_, Infallible>(Cow::Owned(drifting(document.into())));
            families.make_hot(1, &(0..64).collect::<Vec<u32>>(), set).unwrap();
            let mut hits = 0;
            for document in 64..4000 {
                let set = drifting(document.into());
                let wants = |_| {
                    hits += 1;
                    Wanted::Yes
                };
                assert_eq!(families.find(0, &set, wants).unwrap(), [0u32; 0], "none is similar enough to {document}");
                families.add(0, document, &set);
                if document % 1000 == 0 {
                    let bytes = families.bytes_held();
                    let mut stored = Vec::new();
                    families.put(&mut stored);
                    let (mut words, postings) = (Words::new(&stored), std::mem::take(&mut families.postings));
                    families = Families::read(families.bound, &mut words, postings, document + 1).unwrap();
                    families.least_found = least_found;
                    assert!(words.is_empty());
                    assert_eq!(families.bytes_held(), bytes);
                }
            }
            found.push(hits);
            orders.push(families.families[0].orders.len());
        }
        // Each page after the 300th has ten words that those before it have: ten million hits. An order forgets them after a window
        // of 128 pages, or two.
        assert_eq!(orders, [3, 1]);
        assert!(found[0] < 3 * 4000 * 10 * 256 / 2 && found[1] > 10_000_000, "{found:?}");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        /// Whatever documents gain, and however often an order is fixed, all that reach the threshold are found.
        #[test]
        fn further_orders_miss_no_similar_document(
            seed: u64,
            frame in 1u64..40,
            changes in 1u64..400,
            own in 1u64..12,
            percent in 50u64..=95,
            by_cosine: bool,
        ) {
            let threshold = Threshold::new(percent, 100).unwrap();
            let bound = if by_cosine { Bound::cosine(threshold) } else { Bound::Jaccard(threshold) };
            // Words of the frame, of the time, and of few pages; by the cosine some of them twice.
            let set = |number: u64| -> Vec<u64> {
                let chance = |at: u64| mix(seed ^ number << 20 ^ at);
                let of_frame = (0..frame).filter(|&word| chance(word) % 16 != 0);
                let of_time = (0..12).filter(|&word| chance(word | 64) % 4 != 0).map(|word| word + 100 * (1 + number / changes));
                let of_few = (0..own).map(|word| (1 << 32) + chance(word | 128) % 200);
                let words: BTreeSet<u64> = of_frame.chain(of_time).chain(of_few).map(mix).collect();
                let times = |word: &u64| if by_cosine && word.is_multiple_of(5) { 2 } else { 1 };
                words.iter().flat_map(|word| std::iter::repeat_n(*word, times(word))).collect()
            };
            let sets: Vec<Vec<u64>> = (0..900).map(set).collect();
            let mut families = Families::new(bound);
            families.least_found = 1;
            let first: Vec<u32> = (0..20).collect();
            families.make_hot(1, &first, |document| Ok::<_, Infallible>(Cow::Borrowed(&sets[document as usize][..]))).unwrap();
            for (document, set) in (20..).zip(&sets[20..]) {
                let found = families.find(0, set, |_| Wanted::Yes).unwrap();
                prop_assert!(found.is_sorted_by(|a, b| a < b));
                for (other, b) in (0..document).zip(&sets) {
                    let similar = if by_cosine {
                        cosine_at_least(set, b, threshold).is_some()
                    } else {
                        jaccard_at_least(set, b, threshold).is_some()
                    };
                    prop_assert!(!similar || found.binary_search(&other).is_ok(), "{document} and {other}");
                }
                families.add(0, document, set);
            }
            prop_assert!(changes < 256 || families.families[0].orders.len() > 1);
        }
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
        assert_eq!(families.members(0).collect::<Vec<u32>>(), mixed);
        assert_eq!(families.members(1).collect::<Vec<u32>>(), some(2, 1));
        let found = |families: &Families, family: u32, set: &[u64]| {
            let found = families.find(family, set, |_| Wanted::Yes).unwrap();
            assert!(found.is_sorted_by(|a, b| a < b));
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
        let mut documents: Vec<u32> = (600..700).collect();
        families.remove_members(&[], &mut documents);
        assert_eq!(documents.len(), 100);
        families.remove_members(&[1], &mut documents);
        assert_eq!(documents, (600..700).filter(|number| number % 2 == 0).collect::<Vec<u32>>());
        families.remove_members(&[1, 0], &mut documents);
        assert!(documents.is_empty());
        // Whether to go on is asked for each element.
        let mut found = Vec::new();
        let latest = |document| {
            found.push(document);
            if document >= 990 { Wanted::Yes } else { Wanted::NoMore }
        };
        let wanted = families.find(1, &page(1, 5000, 3), latest).unwrap();
        assert_eq!(wanted, [991, 995, 999]);
        // Those of key 4 were entered last, and so were the documents of key 5 that are not even.
        assert!(!families.is_ordered(0) && !families.is_ordered(1));
        assert!(found.len() < 200 && found.starts_with(&[999, 995, 991, 987]), "{found:?}");
    }
}
