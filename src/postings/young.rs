//! The part of a table in memory.

use crate::kernel::fetch::fetch;

/// Open addressing with linear probing. The documents of a key are chained, the latest first. Takes 8 bytes per key at a
/// load of at most three quarters, and 8 for each document of a key.
///
/// The slots are in shards that grow one by one, and the postings in blocks, so that no insertion moves many of them.
pub(super) struct Young {
    shards: [Shard; SHARDS],
    /// The number of slots of all shards, and of those that are used.
    slots: usize,
    used: usize,
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
    #[inline]
    fn push(&mut self, document: u32, before: u32) {
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

/// The keys with some values of the upper bits of their hashes.
#[derive(Default)]
struct Shard {
    /// The tag of a key in the upper half, the number of its latest posting, from 1, in the lower; 0 is empty.
    slots: Vec<u64>,
    used: usize,
}

const SHARDS: usize = 1 << SHARD_BITS;
const SHARD_BITS: u32 = 6;

impl Default for Young {
    fn default() -> Self {
        Young { shards: std::array::from_fn(|_| Shard::default()), slots: 0, used: 0, postings: Postings::default() }
    }
}

/// Multiplied, so that neighbouring tags do not form one long run.
#[inline]
fn hash(tag: u32) -> u64 {
    u64::from(tag).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

impl Young {
    #[inline]
    pub fn insert(&mut self, tag: u32, document: u32) {
        let hash = hash(tag);
        let shard = &mut self.shards[(hash >> (u64::BITS - SHARD_BITS)) as usize];
        if shard.is_full() {
            let before = shard.slots.len();
            shard.grow();
            self.slots += shard.slots.len() - before;
        }
        let slot = shard.slot(hash, tag);
        let latest = shard.slots[slot] as u32;
        shard.used += usize::from(latest == 0);
        self.used += usize::from(latest == 0);
        self.postings.push(document, latest);
        let number = u32::try_from(self.postings.length).expect("fewer than 2³² keys of documents");
        shard.slots[slot] = u64::from(tag) << 32 | u64::from(number);
    }

    #[inline]
    fn shard(&self, hash: u64) -> &Shard {
        &self.shards[(hash >> (u64::BITS - SHARD_BITS)) as usize]
    }

    /// Passes the documents of a tag to `each`, the latest first, while it returns true. Returns whether it wants more.
    #[inline]
    pub fn find(&self, tag: u32, mut each: impl FnMut(u32) -> bool) -> bool {
        let hash = hash(tag);
        let shard = self.shard(hash);
        if shard.slots.is_empty() {
            return true;
        }
        let mut posting = shard.slots[shard.slot(hash, tag)] as u32;
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
        let shard = self.shard(hash);
        if !shard.slots.is_empty() {
            fetch(&shard.slots, shard.first_slot(hash));
        }
    }

    /// Bytes of memory.
    pub fn bytes_held(&self) -> u64 {
        8 * (self.slots + self.postings.capacity()) as u64
    }

    /// Bytes of memory after one more posting, with those needed while a shard and the postings grow.
    pub fn bytes_with_one_more(&self) -> u64 {
        let postings = self.postings.capacity();
        let growth = if self.postings.length == postings { (2 * postings).min(BLOCK) } else { 0 };
        self.bytes_held() + 8 * (growth + 4 * self.slots / SHARDS) as u64
    }

    /// Bytes of memory after a fifth more keys: all shards grow at about the same time, which counts before it happens.
    pub fn bytes_soon(&self) -> u64 {
        // Slots are at most three quarters full.
        let wanted = (self.used + self.used / 5) * 4 / 3 / SHARDS;
        let growth = (wanted.next_power_of_two() * SHARDS).saturating_sub(self.slots);
        self.bytes_with_one_more() + 8 * growth as u64
    }

    /// The number of further postings that it can take.
    pub fn room(&self) -> usize {
        u32::MAX as usize - self.postings.length
    }
}

impl Shard {
    fn is_full(&self) -> bool {
        4 * (self.used + 1) > 3 * self.slots.len()
    }

    /// The slot where the search for a tag begins.
    #[inline]
    fn first_slot(&self, hash: u64) -> usize {
        (hash >> 24) as usize & (self.slots.len() - 1)
    }

    /// The slot of a tag, or the free slot for it.
    #[inline]
    fn slot(&self, hash: u64, tag: u32) -> usize {
        let (mask, mut slot) = (self.slots.len() - 1, self.first_slot(hash));
        while self.slots[slot] != 0 && (self.slots[slot] >> 32) as u32 != tag {
            slot = (slot + 1) & mask;
        }
        slot
    }

    fn grow(&mut self) {
        let larger = (2 * self.slots.len()).max(16);
        for entry in std::mem::replace(&mut self.slots, vec![0; larger]) {
            if entry != 0 {
                let tag = (entry >> 32) as u32;
                let slot = self.slot(hash(tag), tag);
                self.slots[slot] = entry;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
            let mut found = Vec::new();
            young.find(number.wrapping_mul(0x9e37_79b1), |document| {
                found.push(document);
                true
            });
            assert_eq!(found, [number]);
        }
    }
}
