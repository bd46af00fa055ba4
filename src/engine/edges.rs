//! The pairs of distinct texts that are found: gathered from several threads, then in order; in memory or in a temporary file.

use super::ScanOptions;
use super::corpus::Corpus;
use super::subset::Subset;
use crate::error::Error;
use crate::postings::{Buffer, Gathering, List, Sorter, Stored};
use crate::similarity::Similarity;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

/// Two groups of distinct documents at or above the threshold; `a < b`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Edge {
    pub a: u32,
    pub b: u32,
    pub similarity: Similarity,
}

impl Edge {
    /// The edge that a row of its earlier group stands for.
    pub fn of(row: &[u64; 2]) -> Self {
        let (a, b, similarity) = of_row(row);
        Edge { a, b, similarity }
    }

    /// The edge between two groups in any order.
    pub fn between(a: u32, b: u32, similarity: Similarity) -> Self {
        Edge { a: a.min(b), b: a.max(b), similarity }
    }
}

/// A row of a group and another one, for the order of the groups, and a similarity.
pub(super) fn row(group: u32, other: u32, similarity: Similarity) -> [u64; 2] {
    [u64::from(group) << 32 | u64::from(other), similarity.to_bits()]
}

/// The groups of a [row], and the similarity.
#[inline]
pub(super) fn of_row(&[groups, similarity]: &[u64; 2]) -> (u32, u32, Similarity) {
    ((groups >> 32) as u32, groups as u32, Similarity::from_bits(similarity))
}

/// The share of the memory that edges may take while they are looked for, beside keys and features.
const SHARE: u64 = 8;

/// A sorter within a share of this memory, for after the search.
pub(super) fn sorter<const N: usize>(what: &'static str, memory: u64, folder: Option<&Path>) -> Sorter<N> {
    Sorter::new(what, memory / 4, folder)
}

/// The edges that are found by several threads.
pub(super) struct Found {
    rows: Gathering<2>,
    /// Whether the pairs of documents will be listed, in their order.
    lists_pairs: bool,
    /// If more than this many are found, no more are looked for.
    most: u64,
    added: AtomicU64,
}

impl Found {
    /// None yet. Beyond a share of the memory they go to a temporary file.
    pub fn new(options: &ScanOptions, threads: usize, lists_pairs: bool) -> Self {
        let rows = Gathering::new("pairs", options.memory / SHARE, threads, options.temp_dir.as_deref());
        Found { rows, lists_pairs, most: u64::MAX, added: AtomicU64::new(0) }
    }

    /// Sets how many may be found, of which there are none yet.
    pub fn limit(&mut self, most: u64) {
        self.most = most;
    }

    /// Whether more than the limit were found. Then all are removed, and there is no limit any more.
    pub fn exceeded(&mut self) -> bool {
        let exceeds = self.added.load(Ordering::Relaxed) > self.most;
        if exceeds {
            self.rows.clear();
        }
        self.most = u64::MAX;
        exceeds
    }

    /// Whether it is of no use to look for more: there are too many, or they cannot be written.
    pub fn is_closed(&self) -> bool {
        (self.most < u64::MAX && self.added.load(Ordering::Relaxed) > self.most) || self.rows.has_failed()
    }

    /// What one thread adds its edges to.
    pub fn list<'f>(&'f self, corpus: &'f Corpus) -> FoundList<'f> {
        FoundList { rows: self.rows.list(), found: self, corpus }
    }

    /// Calls `each` with every edge so far, in any order. No thread has a list.
    ///
    /// # Errors
    /// Edges cannot be written or read.
    pub fn for_each(&self, mut each: impl FnMut(Edge)) -> Result<(), Error> {
        self.rows.for_each(|row| {
            let (a, b, similarity) = of_row(row);
            if a < b {
                each(Edge { a, b, similarity });
            }
            Ok(())
        })
    }

    /// Fails if some could not be written.
    ///
    /// # Errors
    /// The first error.
    pub fn check(&self) -> Result<(), Error> {
        self.rows.check()
    }

    /// All of them, to be sorted.
    ///
    /// # Errors
    /// Some could not be written.
    pub fn finish(self) -> Result<Sorter<2>, Error> {
        self.rows.finish()
    }
}

/// The edges of one thread.
pub(super) struct FoundList<'f> {
    rows: List<'f, 2>,
    found: &'f Found,
    corpus: &'f Corpus,
}

impl FoundList<'_> {
    /// Adds an edge, from the first group to the other one; and back, if the pairs of documents are listed and the other group has
    /// a document before the last one of the first.
    #[inline]
    pub fn push(&mut self, Edge { a, b, similarity }: Edge) {
        self.rows.push(row(a, b, similarity));
        // Groups are in the order of their first documents: without copies, all of `a` is before `b`, which need not be looked up.
        let of_a = self.corpus.members(a);
        if self.found.lists_pairs && of_a.len() > 1 && of_a[of_a.len() - 1] > self.corpus.first(b) {
            self.rows.push(row(b, a, similarity));
        }
        if self.found.most < u64::MAX {
            self.found.added.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// All edges, to list the pairs of documents.
pub(super) struct Edges {
    rows: Stored,
    /// The groups that have rows, and the number of rows up to the end of those of each.
    groups: Subset,
    ends: Vec<u64>,
}

impl Edges {
    /// From rows of `groups` groups. Calls `each` with every edge.
    ///
    /// Cost: a sort of the rows. If they do not fit in memory, a temporary file twice as large for a time.
    ///
    /// # Errors
    /// Rows cannot be written or read.
    pub fn new(found: Sorter<2>, groups: usize, mut each: impl FnMut(Edge)) -> Result<Self, Error> {
        let mut has_rows = vec![false; groups];
        let mut ends: Vec<u64> = Vec::new();
        let (mut count, mut last) = (0, u32::MAX);
        let rows = found.stored(|row| {
            let (a, b, similarity) = of_row(row);
            if a != last {
                has_rows[a as usize] = true;
                ends.extend((last != u32::MAX).then_some(count));
                last = a;
            }
            count += 1;
            if a < b {
                each(Edge { a, b, similarity });
            }
        })?;
        ends.extend((last != u32::MAX).then_some(count));
        Ok(Edges { rows, groups: Subset::marked(&has_rows), ends })
    }

    /// The number of rows of a group.
    #[cfg(feature = "report")]
    pub fn count(&self, group: u32) -> u64 {
        let range = self.range(group);
        range.end - range.start
    }

    #[inline]
    fn range(&self, group: u32) -> std::ops::Range<u64> {
        let Some(place) = self.groups.place(group) else { return 0..0 };
        let start = place.checked_sub(1).map_or(0, |before| self.ends[before]);
        start..self.ends[place]
    }

    /// The groups that a group has edges to, ascending: all later ones, and those earlier ones that have a document after its first.
    ///
    /// # Errors
    /// They cannot be read.
    #[inline]
    pub fn of<'b>(
        &'b self,
        group: u32,
        buffer: &'b mut Buffer,
    ) -> Result<impl Iterator<Item = (u32, Similarity)> + 'b, Error> {
        let rows = self.rows.rows::<2>(self.range(group), buffer)?;
        Ok(rows.iter().map(|row| {
            let (_, other, similarity) = of_row(row);
            (other, similarity)
        }))
    }

    /// Calls `each` with every edge, in order.
    ///
    /// # Errors
    /// Those of `each`, or edges cannot be read.
    pub fn for_each(&self, mut each: impl FnMut(Edge) -> Result<(), Error>) -> Result<(), Error> {
        self.rows.for_each_row(|row| {
            let (a, b, similarity) = of_row(row);
            if a < b { each(Edge { a, b, similarity }) } else { Ok(()) }
        })
    }
}
