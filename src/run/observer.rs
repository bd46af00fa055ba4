//! What goes on during a run, for whoever wants to show it.

use crate::source::Problem;

/// What a scan is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stage {
    /// Counting terms or features over all documents. Comes again for each reading that it takes.
    Counting,
    /// Reading and fingerprinting; only the latter if counting kept what it read.
    Reading,
    /// Reading everything again, because the documents turned out longer or shorter than their beginning promised.
    ReadingAgain,
    /// Sorting keys into groups.
    Grouping,
    /// Reading candidates a second time, because their features did not fit the memory budget.
    Rereading,
    /// Comparing candidates.
    Verifying,
}

/// What a scan will take, as its beginning promises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Estimate {
    /// Documents.
    pub documents: u64,
    /// Bytes of memory for what is kept of each document in any case.
    pub memory: u64,
    /// Bytes of keys.
    pub keys: u64,
    /// Whether the keys do not fit the budget, and go to a temporary file.
    pub spills: bool,
}

/// Hears what goes on during a scan. The methods are called from the calling thread, in a decided order.
pub trait Observer: Sync {
    /// A stage begins.
    fn stage(&self, _stage: Stage) {}
    /// Input was read: this many more bytes and documents.
    fn progress(&self, _bytes: u64, _documents: u64) {}
    /// The beginning was read, and the size of the rest is known.
    fn estimate(&self, _estimate: &Estimate) {}
    /// A document had a problem.
    fn problem(&self, _problem: &Problem) {}
}

/// Does nothing.
impl Observer for () {}
