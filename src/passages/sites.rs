//! Ranges of tokens that are sought in documents, and where they are.

use rayon::ThreadPool;
use rayon::slice::ParallelSliceMut;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Where a range of tokens is: bytes of the text of a document, and the line, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Located {
    pub start: u32,
    pub end: u32,
    pub line: u32,
    /// The number of the document.
    pub document: u32,
}

/// A range of tokens, and then, in the same memory, where it is. Threads that cut different documents write to different ones.
///
/// While it is sought: its first token; its length in tokens, and below it 0, or before the ranges are in order the number of its target. Then
/// where it starts and ends, and the document and the line, which is not 0.
pub(super) struct Site([AtomicU64; 2]);

/// Two numbers in a word.
fn packed(high: u32, low: u32) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

/// The two numbers in a word.
fn unpacked(word: u64) -> [u32; 2] {
    [(word >> 32) as u32, word as u32]
}

impl Site {
    fn sought(at: u64, tokens: u32, target: u32) -> Self {
        Site([AtomicU64::new(at), AtomicU64::new(packed(tokens, target))])
    }

    /// Of one that is sought: the first token, the number of tokens, and the target.
    pub fn range(&self) -> (u64, u32, u32) {
        let [tokens, target] = unpacked(self.0[1].load(Relaxed));
        (self.0[0].load(Relaxed), tokens, target)
    }

    /// The first token, of one that is sought.
    fn at(&self) -> u64 {
        self.0[0].load(Relaxed)
    }

    /// The target of one that is sought, which is forgotten.
    fn take_target(&mut self) -> u32 {
        let [tokens, target] = unpacked(*self.0[1].get_mut());
        *self.0[1].get_mut() = packed(tokens, 0);
        target
    }

    /// Replaces what is sought by where it is.
    pub fn locate(&self, Located { start, end, line, document }: Located) {
        self.0[0].store(packed(start, end), Relaxed);
        self.0[1].store(packed(document, line), Relaxed);
    }

    /// Where it is; `None` while it is sought.
    fn located(&self) -> Option<Located> {
        let [start, end] = unpacked(self.0[0].load(Relaxed));
        let [document, line] = unpacked(self.0[1].load(Relaxed));
        (line > 0).then_some(Located { start, end, line, document })
    }
}

/// Ranges of tokens, and where they are: one for each of several targets, which are numbered in the order in which they are added.
#[derive(Default)]
pub(super) struct Sites {
    /// In the order of their first tokens.
    sites: Vec<Site>,
    /// The site of each target.
    of_targets: Vec<u32>,
    /// The first site of each document, and the end of those of the last one.
    of_documents: Vec<u32>,
}

impl Sites {
    /// The memory of each.
    pub const BYTES: u64 = (size_of::<Site>() + size_of::<u32>()) as u64;

    /// None yet, with room for so many.
    pub fn with_capacity(count: usize) -> Self {
        Sites { sites: Vec::with_capacity(count), ..Sites::default() }
    }

    /// The number of targets.
    pub fn len(&self) -> usize {
        self.sites.len()
    }

    /// Adds a target: a range of tokens within a document.
    pub fn push(&mut self, at: u64, tokens: u32) {
        self.sites.push(Site::sought(at, tokens, self.sites.len() as u32));
    }

    /// Puts them in order once all are added: by their first tokens, those with the same one as they were added. `starts` are the first tokens
    /// of the documents, and the end of the last one.
    pub fn order(&mut self, starts: &[u64], pool: &ThreadPool) {
        let sites = &mut self.sites;
        pool.install(|| sites.par_sort_unstable_by_key(|site| (site.at(), site.range().2)));
        self.of_targets = vec![0; sites.len()];
        for (number, site) in (0..).zip(sites) {
            self.of_targets[site.take_target() as usize] = number;
        }
        let mut number = 0;
        let first = |start: &u64| {
            number += self.sites[number..].iter().take_while(|site| site.at() < *start).count();
            number as u32
        };
        self.of_documents = starts.iter().map(first).collect();
    }

    /// The number of the site of a target.
    pub fn of_target(&self, target: usize) -> u32 {
        self.of_targets[target]
    }

    /// Where a target is; `None` if its document has changed.
    pub fn located(&self, target: usize) -> Option<Located> {
        self.sites[self.of_targets[target] as usize].located()
    }

    /// The numbers of the sites in a document.
    pub fn of_document(&self, number: u32) -> Range<usize> {
        let first = |number: usize| self.of_documents.get(number).map_or(self.sites.len(), |&first| first as usize);
        first(number as usize)..first(number as usize + 1)
    }

    /// A site.
    pub fn site(&self, number: usize) -> &Site {
        &self.sites[number]
    }

    /// Where the targets in a document are.
    pub fn in_document(&self, number: u32) -> impl Iterator<Item = Located> {
        self.sites[self.of_document(number)].iter().filter_map(Site::located)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::ordered::thread_pool;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn sites_are_in_order_and_only_those_of_documents_that_were_read_are_located(
            lengths in prop::collection::vec(0u64..5, 1..9), ranges in prop::collection::vec((any::<prop::sample::Index>(), 1u32..4), 0..40),
            changed in any::<u16>(),
        ) {
            let mut starts = vec![0];
            lengths.iter().for_each(|length| starts.push(starts.last().unwrap() + length));
            let tokens = *starts.last().unwrap() as usize;
            let ranges: Vec<(u64, u32)> = ranges.iter().filter(|_| tokens > 0).map(|(at, count)| (at.index(tokens) as u64, *count)).collect();
            let mut sites = Sites::with_capacity(ranges.len());
            ranges.iter().for_each(|&(at, count)| sites.push(at, count));
            sites.order(&starts, &thread_pool(1).unwrap());
            let mut in_order: Vec<usize> = (0..ranges.len()).collect();
            in_order.sort_by_key(|&target| ranges[target].0);
            let numbers: Vec<u32> = in_order.iter().map(|&target| sites.of_target(target)).collect();
            prop_assert_eq!(numbers, (0..ranges.len() as u32).collect::<Vec<_>>());
            let is_changed = |number: u32| changed >> number & 1 == 1;
            for number in (0..lengths.len() as u32).filter(|&number| !is_changed(number)) {
                for site in sites.of_document(number) {
                    let (at, count, _) = sites.site(site).range();
                    let line = number + 1;
                    sites.site(site).locate(Located { start: at as u32, end: at as u32 + count, line, document: number });
                }
            }
            for (target, &(at, count)) in ranges.iter().enumerate() {
                let document = starts.partition_point(|&start| start <= at) as u32 - 1;
                let expected = Located { start: at as u32, end: at as u32 + count, line: document + 1, document };
                prop_assert_eq!(sites.located(target), (!is_changed(document)).then_some(expected));
            }
        }
    }
}
