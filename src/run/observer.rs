//! Events of a run, for progress displays.

use crate::source::Problem;

/// The stage of a scan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stage {
    /// Counting terms or features over all documents. Repeated for each reading that it takes.
    Counting,
    /// Reading and fingerprinting; only the latter if counting kept the features.
    Reading,
    /// Reading everything again, because the first documents were not representative in length.
    ReadingAgain,
    /// Sorting keys into groups.
    Grouping,
    /// Reading candidates a second time, because their features did not fit the memory budget.
    Rereading,
    /// Comparing candidates.
    Verifying,
    /// Writing files without the records that are not kept.
    Writing,
}

/// An estimate of the resources of a scan, from its first documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Estimate {
    /// Documents.
    pub documents: u64,
    /// Bytes of memory for what is always kept of each document.
    pub memory: u64,
    /// Bytes of keys.
    pub keys: u64,
    /// Whether the keys do not fit the budget and go to a temporary file.
    pub spills: bool,
}

/// Receives events of a scan. The methods are called from the calling thread, in a deterministic order; only
/// [`is_stopped`](Self::is_stopped) may be called from any thread.
pub trait Observer: Sync {
    /// A stage begins.
    fn stage(&self, _stage: Stage) {}
    /// Input was read: this many more bytes and documents. Bytes are those of [`Batch::bytes_read`](crate::source::Batch::bytes_read),
    /// so compressed input counts compressed: in a stage that reads everything once, their sum is at most
    /// [`Source::total_bytes`](crate::source::Source::total_bytes).
    fn progress(&self, _bytes: u64, _documents: u64) {}
    /// The same input without compression is this many more bytes, as in
    /// [`Batch::bytes_unpacked`](crate::source::Batch::bytes_unpacked). Called before [`progress`](Self::progress) of the
    /// same input. A stage that works on what an earlier one kept does not call it.
    fn unpacked(&self, _bytes: u64) {}
    /// The first documents were read, and the size of the rest is known.
    fn estimate(&self, _estimate: &Estimate) {}
    /// All pairs are about to be looked for, and there are at most so many pairs of documents: more than ten million.
    fn many_pairs(&self, _most: u64) {}
    /// A document had a problem.
    fn problem(&self, _problem: &Problem) {}
    /// Whether the run is to end soon, with [`Error::Stopped`](crate::Error::Stopped). It is asked after each piece of input, and
    /// before each stage.
    fn is_stopped(&self) -> bool {
        false
    }
}

/// The no-op observer.
impl Observer for () {}
