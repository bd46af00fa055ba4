//! A table from keys to documents, of which each key can have many.

/// Keys go by 32 bits of their hash, their tag: now and then one finds a document that does not have it, which comparing sorts out.
///
/// Open addressing with linear probing; the documents of a key are chained, the latest first. 8 bytes a key at a load of at most three
/// quarters, and 8 for each document of a key.
#[derive(Default)]
pub(super) struct Table {
    /// The tag of a key in the upper half, the number of its latest posting, from 1, in the lower; 0 is empty.
    slots: Vec<u64>,
    used: usize,
    /// Each posting: a document, and the posting before it under the same key, from 1; 0 is none.
    postings: Vec<(u32, u32)>,
}

impl Table {
    /// Adds a document to the key of a tag.
    pub fn insert(&mut self, tag: u32, document: u32) {
        if 4 * (self.used + 1) > 3 * self.slots.len() {
            self.grow();
        }
        let slot = self.slot(tag);
        let latest = self.slots[slot] as u32;
        self.used += usize::from(latest == 0);
        self.postings.push((document, latest));
        let number = u32::try_from(self.postings.len()).expect("fewer than 2³² keys of documents");
        self.slots[slot] = u64::from(tag) << 32 | u64::from(number);
    }

    /// Hands over the documents of a tag, the latest first.
    pub fn find(&self, tag: u32, mut each: impl FnMut(u32)) {
        if self.slots.is_empty() {
            return;
        }
        let mut posting = self.slots[self.slot(tag)] as u32;
        while posting > 0 {
            let (document, before) = self.postings[posting as usize - 1];
            each(document);
            posting = before;
        }
    }

    /// How many documents of keys there are.
    pub fn len(&self) -> usize {
        self.postings.len()
    }

    /// Bytes of memory.
    pub fn bytes_held(&self) -> u64 {
        8 * (self.slots.capacity() + self.postings.capacity()) as u64
    }

    /// Where a tag is, or where it would go.
    #[inline]
    fn slot(&self, tag: u32) -> usize {
        let mask = self.slots.len() - 1;
        // Multiplied, so that neighbouring tags do not make one long run.
        let mut slot = (u64::from(tag).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 24) as usize & mask;
        while self.slots[slot] != 0 && (self.slots[slot] >> 32) as u32 != tag {
            slot = (slot + 1) & mask;
        }
        slot
    }

    fn grow(&mut self) {
        let larger = (2 * self.slots.len()).max(64);
        for entry in std::mem::replace(&mut self.slots, vec![0; larger]) {
            if entry != 0 {
                let slot = self.slot((entry >> 32) as u32);
                self.slots[slot] = entry;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn finds_what_was_inserted(entries in prop::collection::vec((0u32..50, any::<u32>()), 0..300)) {
            let (mut table, mut expected) = (Table::default(), BTreeMap::<u32, Vec<u32>>::new());
            for (key, document) in entries {
                table.insert(key, document);
                expected.entry(key).or_default().insert(0, document);
            }
            for key in 0..60 {
                let mut found = Vec::new();
                table.find(key, |document| found.push(document));
                prop_assert_eq!(found, expected.get(&key).cloned().unwrap_or_default());
            }
        }
    }
}
