//! A table from keys to documents; a key can have many documents.

use super::run::{Posting, Run};
use crate::kernel::fetch::fetch;
use rayon::slice::ParallelSliceMut;
use std::io;
use std::path::Path;

/// Keys are identified by 32 bits of their hash, their tag. Occasionally a tag finds a document without the key; the
/// comparison rules it out.
///
/// The latest documents are in memory. Earlier ones are in sorted runs on the disk, if the table was
/// [frozen](Self::freeze). It is a log-structured merge tree (O'Neil, Cheng, Gawlick & O'Neil, *The Log-Structured
/// Merge-Tree*, Acta Informatica 33, 1996), tiered.
#[derive(Default)]
pub(crate) struct Table {
    young: Young,
    /// The oldest first.
    runs: Vec<Run>,
}

/// The number of runs of a level that are merged into one of the next.
const TIER: usize = 4;

impl Table {
    /// Adds a document to the key of a tag. Documents come in ascending order.
    #[inline]
    pub fn insert(&mut self, tag: u32, document: u32) {
        self.young.insert(tag, document);
    }

    /// Tells the processor that a tag will be looked up. Called for all tags of a document before the first look-up, so
    /// that their memory accesses overlap.
    #[inline]
    pub fn fetch(&self, tag: u32) {
        self.young.fetch(tag);
        self.runs.iter().for_each(|run| run.fetch(tag));
    }

    /// Passes the documents of a tag that count to a function, the latest first, at most `most`. Returns whether there
    /// are more.
    ///
    /// Cost: as [`find_while`](Self::find_while).
    #[inline]
    pub fn find(
        &self,
        tag: u32,
        most: usize,
        counts: impl Fn(u32) -> bool,
        mut each: impl FnMut(u32),
    ) -> io::Result<bool> {
        let mut left = most;
        let are_all = self.find_while(tag, |document| {
            if !counts(document) {
                return true;
            }
            if left > 0 {
                each(document);
                left -= 1;
                return true;
            }
            false
        });
        are_all.map(|are_all| !are_all)
    }

    /// Passes the documents of a tag to a function, the latest first, while it returns true. Returns whether it always
    /// did.
    ///
    /// Cost: a look-up in memory and in the filter of each run, and a page of 4 KiB of each run that has the tag.
    #[inline]
    pub fn find_while(&self, tag: u32, mut each: impl FnMut(u32) -> bool) -> io::Result<bool> {
        if !self.young.find(tag, &mut each) {
            return Ok(false);
        }
        for run in self.runs.iter().rev() {
            if !run.find(tag, &mut each)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Bytes of memory.
    pub fn bytes_held(&self) -> u64 {
        self.young.bytes_held() + self.runs.iter().map(Run::bytes_held).sum::<u64>()
    }

    /// Bytes of memory that freezing would free, after one more posting.
    pub fn bytes_to_free(&self) -> u64 {
        self.young.bytes_with_one_more()
    }

    /// The number of further postings before it must be frozen.
    pub fn room(&self) -> usize {
        u32::MAX as usize - self.young.postings.len()
    }

    /// Moves the part in memory to files in a folder.
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

    /// The average number of postings that were in memory when the runs of a file were frozen; of the largest such file.
    #[cfg(test)]
    pub(crate) fn most_frozen(&self) -> usize {
        self.runs.iter().map(|run| run.len() / TIER.pow(run.level)).max().unwrap_or(0)
    }
}

/// The part in memory: open addressing with linear probing. The documents of a key are chained, the latest first. Takes
/// 8 bytes per key at a load of at most three quarters, and 8 for each document of a key.
#[derive(Default)]
struct Young {
    /// The tag of a key in the upper half, the number of its latest posting, from 1, in the lower; 0 is empty.
    slots: Vec<u64>,
    used: usize,
    /// Each posting: a document, and the previous posting under the same key, from 1; 0 means none.
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

    /// Passes the documents of a tag to `each`, the latest first, while it returns true. Returns whether it wants more.
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

    /// All postings, ascending.
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

    /// The memory needed while growing counts too.
    fn bytes_with_one_more(&self) -> u64 {
        let slots = if self.is_full() { 3 * self.slots.len() } else { self.slots.len() };
        let postings = self.postings.capacity();
        8 * (slots + if self.postings.len() == postings { 2 * postings } else { postings }) as u64
    }

    fn is_full(&self) -> bool {
        4 * (self.used + 1) > 3 * self.slots.len()
    }

    fn fetch(&self, tag: u32) {
        if !self.slots.is_empty() {
            fetch(&self.slots, self.first_slot(tag));
        }
    }

    /// The slot where the search for a tag begins.
    #[inline]
    fn first_slot(&self, tag: u32) -> usize {
        // Multiplied, so that neighbouring tags do not form one long run.
        (u64::from(tag).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 24) as usize & (self.slots.len() - 1)
    }

    /// The slot of a tag, or the free slot for it.
    #[inline]
    fn slot(&self, tag: u32) -> usize {
        let (mask, mut slot) = (self.slots.len() - 1, self.first_slot(tag));
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
        /// Frozen at any time, the table finds the same as a map.
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
                let more = table.find(key, most, |document| document % 3 != 0, |document| found.push(document)).unwrap();
                all.retain(|document| document % 3 != 0);
                prop_assert_eq!(more, all.len() > most);
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
        assert!(!table.find(8, 4_000, |_| true, |document| found.push(document)).unwrap());
        assert!(found.iter().copied().eq((0..3_000).rev().map(|half| 2 * half + 1)));
        found.clear();
        assert!(table.find(7, 2_000, |_| true, |document| found.push(document)).unwrap());
        assert!(found.iter().copied().eq((1_000..3_000).rev().map(|half| 2 * half)));
        assert!(!table.find(9, 1, |_| true, |_| unreachable!()).unwrap());
    }
}
