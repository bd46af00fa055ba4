//! A table from keys to documents, of which each key can have many.

use super::run::{Posting, Run};
use rayon::slice::ParallelSliceMut;
use std::io;
use std::path::Path;

/// Keys go by 32 bits of their hash, their tag: now and then one finds a document that does not have it, which comparing sorts out.
///
/// What came last is in memory; what came before it in sorted runs on the disk, if it was [frozen](Self::freeze): a log-structured
/// merge tree (O'Neil, Cheng, Gawlick & O'Neil, *The Log-Structured Merge-Tree*, Acta Informatica 33, 1996), tiered.
#[derive(Default)]
pub(super) struct Table {
    young: Young,
    /// The oldest first.
    runs: Vec<Run>,
}

/// So many runs of a level become one of the next.
const TIER: usize = 4;

impl Table {
    /// Adds a document to the key of a tag. Documents come in ascending order.
    #[inline]
    pub fn insert(&mut self, tag: u32, document: u32) {
        self.young.insert(tag, document);
    }

    /// Hands over the documents of a tag, the latest first, `most` at most. Returns whether there may be more.
    ///
    /// Cost: a look-up, one in each run's filter, and a page of 4 KiB of each run that has the tag.
    #[inline]
    pub fn find(&self, tag: u32, most: usize, mut each: impl FnMut(u32)) -> io::Result<bool> {
        let mut left = most;
        let mut count = |document| {
            each(document);
            left -= 1;
            left > 0
        };
        if !self.young.find(tag, &mut count) {
            return Ok(true);
        }
        for run in self.runs.iter().rev() {
            if !run.find(tag, &mut count)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Bytes of memory.
    pub fn bytes_held(&self) -> u64 {
        self.young.bytes_held() + self.runs.iter().map(Run::bytes_held).sum::<u64>()
    }

    /// Bytes of memory that freezing would free, if one more came.
    pub fn bytes_to_free(&self) -> u64 {
        self.young.bytes_with_one_more()
    }

    /// How many postings more it takes before it must be frozen.
    pub fn room(&self) -> usize {
        u32::MAX as usize - self.young.postings.len()
    }

    /// Moves what is in memory to files in a folder.
    ///
    /// # Errors
    /// A file cannot be made, written or read.
    pub fn freeze(&mut self, folder: &Path) -> io::Result<()> {
        let postings = self.young.sorted();
        if !postings.is_empty() {
            self.runs.push(Run::write(folder, 0, postings.len(), postings.into_iter().map(Ok))?);
        }
        self.young = Young::default();
        while let Some(last) = self.runs.last()
            && let Some(tail) = self.runs.len().checked_sub(TIER)
            && self.runs[tail..].iter().all(|run| run.level == last.level)
        {
            let merged = Run::merge(folder, last.level + 1, &self.runs[tail..])?;
            self.runs.truncate(tail);
            self.runs.push(merged);
        }
        Ok(())
    }
}

/// The part in memory: open addressing with linear probing; the documents of a key are chained, the latest first. 8 bytes a key at a load
/// of at most three quarters, and 8 for each document of a key.
#[derive(Default)]
struct Young {
    /// The tag of a key in the upper half, the number of its latest posting, from 1, in the lower; 0 is empty.
    slots: Vec<u64>,
    used: usize,
    /// Each posting: a document, and the posting before it under the same key, from 1; 0 is none.
    postings: Vec<(u32, u32)>,
}

impl Young {
    fn insert(&mut self, tag: u32, document: u32) {
        if self.is_full() {
            self.grow();
        }
        let slot = self.slot(tag);
        let latest = self.slots[slot] as u32;
        self.used += usize::from(latest == 0);
        self.postings.push((document, latest));
        let number = u32::try_from(self.postings.len()).expect("fewer than 2³² keys of documents");
        self.slots[slot] = u64::from(tag) << 32 | u64::from(number);
    }

    /// Hands over the documents of a tag, the latest first, as long as `each` wants more. Returns whether it does.
    #[inline]
    fn find(&self, tag: u32, mut each: impl FnMut(u32) -> bool) -> bool {
        if self.slots.is_empty() {
            return true;
        }
        let mut posting = self.slots[self.slot(tag)] as u32;
        while posting > 0 {
            let (document, before) = self.postings[posting as usize - 1];
            if !each(document) {
                return false;
            }
            posting = before;
        }
        true
    }

    /// All there is, ascending.
    fn sorted(&self) -> Vec<Posting> {
        let mut all = Vec::with_capacity(self.postings.len());
        for &slot in &self.slots {
            let mut posting = slot as u32;
            while posting > 0 {
                let (document, before) = self.postings[posting as usize - 1];
                all.push(slot >> 32 << 32 | u64::from(document));
                posting = before;
            }
        }
        all.par_sort_unstable();
        all
    }

    fn bytes_held(&self) -> u64 {
        8 * (self.slots.capacity() + self.postings.capacity()) as u64
    }

    /// What it takes while it grows counts too.
    fn bytes_with_one_more(&self) -> u64 {
        let slots = if self.is_full() { 3 * self.slots.len() } else { self.slots.len() };
        let postings = self.postings.capacity();
        8 * (slots + if self.postings.len() == postings { 2 * postings } else { postings }) as u64
    }

    fn is_full(&self) -> bool {
        4 * (self.used + 1) > 3 * self.slots.len()
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
        /// Frozen at any moments, it finds what a map does.
        #[test]
        fn finds_what_was_inserted(
            keys in prop::collection::vec(0u32..50, 0..300),
            freezes in prop::collection::btree_set(0usize..300, 0..30),
            most in 1usize..40,
        ) {
            let folder = tempfile::tempdir().unwrap();
            let (mut table, mut expected) = (Table::default(), BTreeMap::<u32, Vec<u32>>::new());
            for (document, key) in keys.into_iter().enumerate() {
                if freezes.contains(&document) {
                    table.freeze(folder.path()).unwrap();
                }
                table.insert(key, document as u32);
                expected.entry(key).or_default().insert(0, document as u32);
            }
            for key in 0..60 {
                let (mut found, mut all) = (Vec::new(), expected.get(&key).cloned().unwrap_or_default());
                let more = table.find(key, most, |document| found.push(document)).unwrap();
                prop_assert_eq!(more, all.len() >= most);
                all.truncate(most);
                prop_assert_eq!(found, all);
            }
        }
    }

    /// A key with more documents than a page holds, in several runs.
    #[test]
    fn a_key_of_many_pages_is_found_from_its_end() {
        let (folder, mut table) = (tempfile::tempdir().unwrap(), Table::default());
        for document in 0..6_000 {
            table.insert(7 + document % 2, document);
            if document % 1500 == 1499 {
                table.freeze(folder.path()).unwrap();
            }
        }
        assert_eq!(table.runs.len(), 1);
        let mut found = Vec::new();
        assert!(!table.find(8, 4_000, |document| found.push(document)).unwrap());
        assert!(found.iter().copied().eq((0..3_000).rev().map(|half| 2 * half + 1)));
        found.clear();
        assert!(table.find(7, 2_000, |document| found.push(document)).unwrap());
        assert!(found.iter().copied().eq((1_000..3_000).rev().map(|half| 2 * half)));
        assert!(!table.find(9, 1, |_| unreachable!()).unwrap());
    }
}
