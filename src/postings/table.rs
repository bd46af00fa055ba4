//! A table from keys to documents; a key can have many documents.

use super::run::{Posting, Run};
use super::young::Young;
use std::io;
use std::ops::Range;
use std::sync::Arc;

/// Keys are identified by 32 bits of their hash, their tag. Occasionally a tag finds a document without the key; the
/// comparison rules it out.
///
/// Documents are in memory, and in sorted runs on the disk once the table was [flushed](Self::begin_flush); as long as
/// memory suffices, in both, and then they are found in memory. It is a log-structured merge tree (O'Neil, Cheng, Gawlick &
/// O'Neil, *The Log-Structured Merge-Tree*, Acta Informatica 33, 1996). Sorting, writing and merging are left to others,
/// so that they can be done beside look-ups.
#[derive(Default)]
pub(crate) struct Table {
    young: Young,
    /// What a flush moves out of memory, until it ends.
    leaving: Option<Young>,
    /// The postings since the last flush, if the table is recorded.
    recent: Option<Vec<Posting>>,
    /// The oldest first.
    runs: Vec<Arc<Run>>,
    /// The number of last runs whose postings are in memory too.
    held: usize,
    /// The number of postings that were inserted, wherever they are, those in the first runs included.
    inserted: u64,
}

impl Table {
    /// A table that can be flushed, with these runs.
    pub fn recorded(runs: Vec<Arc<Run>>) -> Self {
        let inserted = runs.iter().map(|run| run.len() as u64).sum();
        Table { recent: Some(Vec::new()), runs, inserted, ..Table::default() }
    }

    /// Adds a document to the key of a tag.
    #[inline]
    pub fn insert(&mut self, tag: u32, document: u32) {
        self.young.insert(tag, document);
        self.inserted += 1;
        if let Some(recent) = &mut self.recent {
            if recent.len() == recent.capacity() {
                // Not doubled: the memory of tables must not jump.
                recent.reserve_exact((recent.len() / 8).max(16));
            }
            recent.push(u64::from(tag) << 32 | u64::from(document));
        }
    }

    /// The runs that are looked up: those that are not in memory.
    fn old_runs(&self) -> &[Arc<Run>] {
        &self.runs[..self.runs.len() - self.held]
    }

    /// Tells the processor that a tag will be looked up. Called for all tags of a document before the first look-up, so
    /// that their memory accesses overlap.
    #[inline]
    pub fn fetch(&self, tag: u32) {
        self.young.fetch(tag);
        self.old_runs().iter().for_each(|run| run.fetch(tag));
    }

    /// Passes the documents of a tag that count to a function, the latest first, at most `most`. Returns whether there
    /// are more.
    ///
    /// # Errors
    /// As for [`find_while`](Self::find_while).
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

    /// Passes the documents of a tag to a function, the latest first, while it returns true; each once for each time that
    /// it was added. Returns whether it always did. (Documents that did not come in ascending order may be passed in
    /// another order.)
    ///
    /// # Errors
    /// A run cannot be read, or is [damaged](Run::find).
    ///
    /// Cost: a look-up in memory and in the filter of each run, and a page of 4 KiB of each run that has the tag.
    #[inline]
    pub fn find_while(&self, tag: u32, mut each: impl FnMut(u32) -> bool) -> io::Result<bool> {
        if !self.young.find(tag, &mut each) {
            return Ok(false);
        }
        if self.leaving.as_ref().is_some_and(|leaving| !leaving.find(tag, &mut each)) {
            return Ok(false);
        }
        for run in self.old_runs().iter().rev() {
            if !run.find(tag, &mut each)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Bytes of memory.
    pub fn bytes_held(&self) -> u64 {
        self.bytes_of_postings() + self.runs.iter().map(|run| run.bytes_held()).sum::<u64>()
    }

    /// Bytes of memory once all postings are in runs, whatever is under way: they depend only on what was inserted.
    pub fn bytes_in_runs(&self) -> u64 {
        Run::bytes_for(self.inserted)
    }

    /// Bytes of memory that flushes can free.
    pub fn bytes_of_postings(&self) -> u64 {
        let leaving = self.leaving.as_ref().map_or(0, Young::bytes_held);
        self.young.bytes_with_one_more() + leaving + self.bytes_of_recent()
    }

    /// Bytes of memory that moving the table out of memory frees, with those that it is about to take.
    pub fn bytes_to_move(&self) -> u64 {
        self.young.bytes_soon() + self.bytes_of_recent()
    }

    fn bytes_of_recent(&self) -> u64 {
        8 * self.recent() as u64
    }

    /// The number of postings that there is memory for since the last flush.
    pub fn recent(&self) -> usize {
        self.recent.as_ref().map_or(0, Vec::capacity)
    }

    /// The number of further postings before it must be moved out of memory.
    pub fn room(&self) -> usize {
        self.young.room()
    }

    /// Takes the postings since the last flush, in the order of their insertion, to be sorted and written. With `moves`,
    /// the table leaves the memory when the flush ends. No other flush may be under way.
    pub fn begin_flush(&mut self, moves: bool) -> Vec<Posting> {
        if moves {
            self.leaving = Some(std::mem::take(&mut self.young));
        }
        self.recent.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Adds the run of a flush. Returns what left the memory, because freeing so much takes some time.
    pub fn end_flush(&mut self, run: Arc<Run>) -> Option<impl Send + use<>> {
        self.runs.push(run);
        let left = self.leaving.take();
        self.held = if left.is_some() { 0 } else { self.held + 1 };
        left
    }

    /// The number of runs, and of the last of them that are in memory too.
    pub fn runs(&self) -> (usize, usize) {
        (self.runs.len(), self.held)
    }

    /// Replaces runs by their union. Either all of them are in memory too, or none.
    pub fn replace(&mut self, merged: Range<usize>, run: Arc<Run>) {
        if merged.start >= self.runs.len() - self.held {
            self.held -= merged.len() - 1;
        }
        self.runs.splice(merged, [run]);
    }
}

#[cfg(test)]
mod tests {
    use super::super::Writer;
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn writer() -> Writer {
        Writer::new(tempfile::tempfile().unwrap(), false, &Arc::default())
    }

    fn write(mut postings: Vec<Posting>) -> Arc<Run> {
        let mut out = writer();
        postings.sort_unstable();
        let run = Run::write(&mut out, postings.len(), postings.into_iter().map(Ok)).unwrap();
        out.finish().unwrap();
        Arc::new(run)
    }

    fn merge(table: &mut Table, range: Range<usize>, gone: u32) {
        let mut out = writer();
        let run = Run::merge(&mut out, &table.runs[range.clone()], gone).unwrap();
        out.finish().unwrap();
        table.replace(range, Arc::new(run));
    }

    /// What happens to a table before a document comes.
    #[derive(Clone, Copy, Debug)]
    enum Event {
        Nothing,
        Flush(bool),
        EndFlush,
        Merge,
    }

    fn event() -> impl Strategy<Value = Event> {
        prop_oneof![
            6 => Just(Event::Nothing),
            1 => any::<bool>().prop_map(Event::Flush),
            1 => Just(Event::EndFlush),
            1 => Just(Event::Merge),
        ]
    }

    proptest! {
        /// Whenever it is flushed, moved and merged, the table finds the same as a map.
        #[test]
        fn finds_what_was_inserted(events in prop::collection::vec((event(), 0u32..40), 0..300), most in 1usize..40) {
            let (mut table, mut expected) = (Table::recorded(Vec::new()), BTreeMap::<u32, Vec<u32>>::new());
            let mut flush = None;
            for (document, (event, key)) in events.into_iter().enumerate() {
                match event {
                    Event::Flush(moves) if flush.is_none() => flush = Some(table.begin_flush(moves)),
                    Event::EndFlush => flush.take().into_iter().for_each(|postings| _ = table.end_flush(write(postings))),
                    // All that are in memory too, or all others.
                    Event::Merge if document % 2 == 0 => {
                        let (all, held) = table.runs();
                        let range = if document % 4 == 0 { all - held..all } else { 0..all - held };
                        if range.len() > 1 {
                            merge(&mut table, range, 0);
                        }
                    }
                    _ => {}
                }
                table.insert(key, document as u32);
                expected.entry(key).or_default().insert(0, document as u32);
                for key in [key, key / 2] {
                    let (mut found, mut all) = (Vec::new(), expected.get(&key).cloned().unwrap_or_default());
                    let more = table.find(key, most, |document| document % 3 != 0, |document| found.push(document));
                    all.retain(|document| document % 3 != 0);
                    prop_assert_eq!(more.unwrap(), all.len() > most);
                    all.truncate(most);
                    prop_assert_eq!(found, all);
                }
            }
        }
    }

    /// A key with more documents than a page holds, in several runs.
    #[test]
    fn a_key_of_many_pages_is_found_from_its_end() {
        let mut table = Table::recorded(Vec::new());
        for document in 0..6_000 {
            table.insert(7 + document % 2, document);
            if document % 1500 == 1499 {
                let postings = table.begin_flush(true);
                table.end_flush(write(postings));
            }
        }
        let check = |table: &Table, first: u32| {
            let mut found = Vec::new();
            assert!(!table.find(8, 4_000, |_| true, |document| found.push(document)).unwrap());
            assert!(found.iter().copied().eq((first / 2..3_000).rev().map(|half| 2 * half + 1)));
            found.clear();
            assert!(table.find(7, 1_000, |_| true, |document| found.push(document)).unwrap());
            assert!(found.iter().copied().eq((2_000..3_000).rev().map(|half| 2 * half)));
            assert!(!table.find(9, 1, |_| true, |_| unreachable!()).unwrap());
        };
        check(&table, 0);
        merge(&mut table, 0..4, 0);
        assert_eq!(table.runs(), (1, 0));
        check(&table, 0);
        merge(&mut table, 0..1, 1_000);
        check(&table, 1_000);
    }

    #[test]
    fn a_changed_page_is_an_error() {
        use std::io::{Seek, SeekFrom, Write};
        let run = write((0..2_000).map(|posting| posting << 32).collect());
        let mut file = run.file();
        assert!(run.find(600, |_| true).unwrap());
        file.seek(SeekFrom::Start(8 * 700)).unwrap();
        file.write_all(&[1]).unwrap();
        assert_eq!(run.find(600, |_| true).unwrap_err().kind(), io::ErrorKind::InvalidData);
        assert!(run.find(1_200, |_| true).unwrap());
        assert_eq!(Run::merge(&mut writer(), &[run], 0).err().unwrap().kind(), io::ErrorKind::InvalidData);
    }
}
