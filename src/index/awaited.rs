//! Unconfirmed documents by their hashes, whether they are still remembered or not: see unconfirmed.rs.

use super::log::Log;
use super::repeat::id_hash;
use super::unconfirmed::identity;
use std::ops::Range;

/// The hashes of unconfirmed documents, ascending. Some may be forgotten by now, and are not in the tables any more. The lowest bit says whether
/// it has come again.
#[derive(Debug)]
pub(super) struct Awaited(Vec<u64>);

impl Awaited {
    /// Of the documents of a log from one place to another, as far as it can be read.
    pub fn of(log: &mut Log, places: Range<u64>) -> Self {
        let mut names = Vec::new();
        _ = log.each_between(places, |record| {
            if !record.is_added {
                names.push(id_hash(identity(&record.id), record.sequence) & !1);
            }
        });
        names.sort_unstable();
        names.dedup();
        Awaited(names)
    }

    /// Whether it has this document, which has not come again so far. It has now.
    pub fn take(&mut self, hash: u64) -> bool {
        let found = self.0.binary_search(&(hash & !1));
        found.is_ok_and(|at| {
            self.0[at] |= 1;
            true
        })
    }

    /// Bytes of memory.
    pub fn bytes_held(&self) -> u64 {
        8 * self.0.capacity() as u64
    }
}
