//! The part of a table in memory.

use crate::kernel::fetch::fetch;

/// Open addressing with linear probing. A slot has the document of its key; if there are several, they are chained, the latest first.
/// If there are many keys, takes 16 to 32 bytes for each, as at most half of the slots are used, and 8 for each document of a key that has several.
///
/// The slots are in shards that grow one by one, and the postings in blocks, so that no insertion moves many of them.
pub(super) struct Young {
    shards: [Shard; SHARDS],
    /// The number of slots of all shards, and of those that are used.
    slots: usize,
    used: usize,
    /// The number of documents of all keys.
    inserted: usize,
    postings: Postings,
}

/// Each posting: a document, and the previous posting under the same key, from 1; 0 means none.
#[derive(Default)]
struct Postings {
    /// All but the last have [`BLOCK`] postings.
    blocks: Vec<Vec<(u32, u32)>>,
    length: usize,
}

/// The number of postings in a block; tests have many blocks.
const BLOCK: usize = if cfg!(test) { 1 << 3 } else { 1 << 15 };

impl Postings {
    /// Adds a posting. Returns its number, from 1.
    #[inline]
    fn push(&mut self, document: u32, before: u32) -> u32 {
        match self.blocks.last_mut().filter(|block| block.len() < BLOCK) {
            Some(block) => block.push((document, before)),
            None => {
                // The first grows, because many tables have few postings.
                let mut block = Vec::with_capacity(if self.blocks.is_empty() { 0 } else { BLOCK });
                block.push((document, before));
                self.blocks.push(block);
            }
        }
        self.length += 1;
        u32::try_from(self.length).expect("fewer than 2³² documents of keys")
    }

    #[inline]
    fn get(&self, number: usize) -> (u32, u32) {
        self.blocks[number / BLOCK][number % BLOCK]
    }

    /// The number of postings that there is memory for.
    fn capacity(&self) -> usize {
        self.blocks.last().map_or(0, |last| (self.blocks.len() - 1) * BLOCK + last.capacity())
    }
}

/// The keys with one value of the upper bits of their hashes.
#[derive(Default)]
struct Shard {
    /// As numbers, of which the system has zeros at no cost.
    slots: Vec<u64>,
    used: usize,
}

const SHARDS: usize = 1 << SHARD_BITS;
const SHARD_BITS: u32 = 6;

/// The rest of the hash of a key, whether it has several documents, and that the slot is used; in the lower half the document, or the
/// number of its latest posting. 0 is empty.
#[derive(Clone, Copy)]
struct Slot(u64);

const USED: u32 = 1;
const SEVERAL: u32 = 2;

impl Slot {
    const EMPTY: u64 = 0;

    /// The slot as a number.
    #[inline]
    fn number(hash: u32, several: u32, low: u32) -> u64 {
        u64::from(hash << SHARD_BITS | several | USED) << 32 | u64::from(low)
    }

    /// The hash, without the bits that all of a shard have.
    #[inline]
    fn hash(self) -> u32 {
        (self.0 >> 32) as u32 >> SHARD_BITS
    }

    #[inline]
    fn has_several(self) -> bool {
        (self.0 >> 32) as u32 & SEVERAL != 0
    }

    #[inline]
    fn low(self) -> u32 {
        self.0 as u32
    }

    /// Whether it is that of a key with this hash.
    #[inline]
    fn is_of(self, hash: u32) -> bool {
        (self.0 >> 32) as u32 & !SEVERAL == hash << SHARD_BITS | USED
    }
}

impl Default for Young {
    fn default() -> Self {
        let shards = std::array::from_fn(|_| Shard::default());
        Young { shards, slots: 0, used: 0, inserted: 0, postings: Postings::default() }
    }
}

/// Multiplied, so that neighbouring tags do not form one long run. Each tag has another hash.
#[inline]
fn hash(tag: u32) -> u32 {
    tag.wrapping_mul(0x9e37_79b1)
}

impl Young {
    #[inline]
    pub fn insert(&mut self, tag: u32, document: u32) {
        let hash = hash(tag);
        let shard = &mut self.shards[shard_of(hash)];
        if shard.is_full() {
            let before = shard.slots.len();
            shard.grow();
            self.slots += shard.slots.len() - before;
        }
        self.inserted += 1;
        let at = shard.slot(hash);
        let slot = Slot(shard.slots[at]);
        if slot.0 == Slot::EMPTY {
            shard.slots[at] = Slot::number(hash, 0, document);
            shard.used += 1;
            self.used += 1;
            return;
        }
        let before = if slot.has_several() { slot.low() } else { self.postings.push(slot.low(), 0) };
        shard.slots[at] = Slot::number(hash, SEVERAL, self.postings.push(document, before));
    }

    /// Passes the documents of a tag to `each`, the latest first, while it returns true. Returns whether it wants more.
    #[inline]
    pub fn find(&self, tag: u32, mut each: impl FnMut(u32) -> bool) -> bool {
        let hash = hash(tag);
        let shard = &self.shards[shard_of(hash)];
        if shard.slots.is_empty() {
            return true;
        }
        let slot = Slot(shard.slots[shard.slot(hash)]);
        if !slot.has_several() {
            return slot.0 == Slot::EMPTY || each(slot.low());
        }
        let mut posting = slot.low();
        while posting > 0 {
            let (document, before) = self.postings.get(posting as usize - 1);
            if !each(document) {
                return false;
            }
            posting = before;
        }
        true
    }

    /// Tells the processor that a tag will be looked up.
    #[inline]
    pub fn fetch(&self, tag: u32) {
        let hash = hash(tag);
        let shard = &self.shards[shard_of(hash)];
        if !shard.slots.is_empty() {
            fetch(&shard.slots, shard.first_slot(hash));
        }
    }

    /// Bytes of memory.
    pub fn bytes_held(&self) -> u64 {
        8 * (self.slots + self.postings.capacity()) as u64
    }

    /// Bytes of memory after one more document of a key, with those needed while a shard and the postings grow.
    pub fn bytes_with_one_more(&self) -> u64 {
        let postings = self.postings.capacity();
        // The second document of a key takes two.
        let growth = if self.postings.length + 2 > postings { (2 * postings).min(BLOCK) } else { 0 };
        self.bytes_held() + 8 * (growth + 4 * self.slots / SHARDS) as u64
    }

    /// Bytes of memory after a fifth more keys: all shards grow at about the same time, which counts before it happens.
    pub fn bytes_soon(&self) -> u64 {
        // At most half of the slots are used.
        let wanted = (self.used + self.used / 5) * 2 / SHARDS;
        let growth = (wanted.next_power_of_two() * SHARDS).saturating_sub(self.slots);
        self.bytes_with_one_more() + 8 * growth as u64
    }

    /// The number of further documents of keys that it can take.
    pub fn room(&self) -> usize {
        u32::MAX as usize - self.inserted
    }
}

/// The number of the shard of a hash.
#[inline]
fn shard_of(hash: u32) -> usize {
    (hash >> (u32::BITS - SHARD_BITS)) as usize
}

impl Shard {
    fn is_full(&self) -> bool {
        2 * (self.used + 1) > self.slots.len()
    }

    /// The slot where the search for a hash begins: ascending with what the shard does not say of it.
    #[inline]
    fn first_slot(&self, hash: u32) -> usize {
        ((u64::from(hash << SHARD_BITS) * self.slots.len() as u64) >> u32::BITS) as usize
    }

    /// The slot of a hash, or the free slot for it.
    #[inline]
    fn slot(&self, hash: u32) -> usize {
        let (mask, mut at) = (self.slots.len() - 1, self.first_slot(hash));
        while self.slots[at] != Slot::EMPTY && !Slot(self.slots[at]).is_of(hash) {
            at = (at + 1) & mask;
        }
        at
    }

    fn grow(&mut self) {
        let larger = (2 * self.slots.len()).max(16);
        for slot in std::mem::replace(&mut self.slots, vec![Slot::EMPTY; larger]) {
            if slot != Slot::EMPTY {
                let at = self.slot(Slot(slot).hash());
                self.slots[at] = slot;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn found(young: &Young, tag: u32, most: usize) -> Vec<u32> {
        let mut found = Vec::new();
        let wants_more = young.find(tag, |document| {
            found.push(document);
            found.len() < most
        });
        assert_eq!(wants_more, found.len() < most);
        found
    }

    proptest! {
        /// Tags that differ in few bits are in one shard, and those of one slot follow each other.
        #[test]
        fn each_tag_has_its_documents(
            inserted in prop::collection::vec((prop_oneof![any::<u32>(), 0u32..40, (0u32..40).prop_map(|n| !n), (0u32..40).prop_map(|n| n << 26)], any::<u32>()), 0..400),
            most in 1usize..5,
        ) {
            let (mut young, mut expected) = (Young::default(), BTreeMap::<u32, Vec<u32>>::new());
            for &(tag, document) in &inserted {
                young.insert(tag, document);
                expected.entry(tag).or_default().insert(0, document);
            }
            prop_assert_eq!(young.room(), u32::MAX as usize - inserted.len());
            for (tag, _) in inserted {
                for tag in [tag, tag ^ 1, tag ^ 1 << 31, hash(tag)] {
                    let mut documents = expected.get(&tag).cloned().unwrap_or_default();
                    documents.truncate(most);
                    prop_assert_eq!(found(&young, tag, most), documents);
                }
            }
        }
    }

    #[test]
    fn memory_grows_no_faster_than_announced() {
        let mut young = Young::default();
        let mut announced = Vec::new();
        for number in 0..200_000u32 {
            announced.push(young.bytes_soon());
            young.insert(number.wrapping_mul(0x9e37_79b1), number);
            let before = (number as usize + 1) * 19 / 20;
            assert!(number < 50_000 || young.bytes_held() <= announced[before] * 17 / 16, "{number}");
        }
        for number in [0u32, 7, 8, 199_999] {
            assert_eq!(found(&young, number.wrapping_mul(0x9e37_79b1), 2), [number]);
        }
    }
}
