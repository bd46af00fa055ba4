//! The pairs that decide which documents are kept and which are connected, as in [`keep`](super::keep), of fingerprints of 64
//! bits without tables: each is compared with each that matters, many at a time.
//!
//! ```text
//! choose    a batch of groups, in the order of the policy, is compared with all kept ones; then each with those kept before it
//!           in the batch
//! copies    what is kept is compared with the dropped groups of several documents
//! connect   the groups that are not in the largest part, or those that the choice did not compare with all, are compared with
//!           all of other parts
//! ```
//!
//! Memory is a few words for each group.

use super::edges::{Edge, Found};
use super::keep::is_open;
use super::subset::Subset;
use super::turns::{KeepPolicy, Turns};
use super::verify::Search;
use crate::error::Error;
use crate::hamming::each_across;
use crate::kernel::{Level, within::within};
use crate::similarity::Similarity;
use crate::union_find::UnionFind;
use rayon::prelude::*;

/// The number of groups that are compared with others at the same time.
const ROWS: usize = 1 << 10;

/// The number of groups that a thread compares them with at once.
const COLUMNS: usize = 1 << 15;

/// After this many pairs of groups that are connected already, groups are sorted by their parts again.
const MANY_USELESS: u64 = 1 << 24;

/// Some groups with their fingerprints.
#[derive(Default)]
struct List {
    groups: Vec<u32>,
    codes: Vec<u64>,
}

impl List {
    fn clear(&mut self) {
        self.groups.clear();
        self.codes.clear();
    }

    fn append(&mut self, other: &mut List) {
        self.groups.append(&mut other.groups);
        self.codes.append(&mut other.codes);
    }

    /// The groups in pieces for the threads, with the position of the first of each.
    fn pieces(&self) -> impl IndexedParallelIterator<Item = (&[u32], &[u64], usize)> {
        let pieces = self.groups.par_chunks(COLUMNS).zip(self.codes.par_chunks(COLUMNS)).enumerate();
        pieces.map(|(piece, (groups, codes))| (groups, codes, piece * COLUMNS))
    }
}

/// The most similar group of a list: its position and the similarity.
type Best = Option<(usize, Similarity)>;

/// Whether the first is better: it is more similar, or comes first.
fn is_better((position, similarity): (usize, Similarity), best: Best) -> bool {
    best.is_none_or(|(at, most)| {
        similarity.value() > most.value() || (similarity.value() == most.value() && position < at)
    })
}

/// What is compared, and what was found.
struct Comparison<'a> {
    search: &'a Search<'a>,
    codes: &'a [u64],
    distance: u32,
    found: &'a Found,
    compared: u64,
}

impl Comparison<'_> {
    fn similarity(&self, a: u32, b: u32) -> Option<Similarity> {
        let may_pair = self.search.corpus().may_pair(a, b);
        may_pair.then(|| self.search.similarity_of_fingerprints(a, b)).flatten()
    }

    fn list(&self, groups: impl Iterator<Item = u32>) -> List {
        let groups: Vec<u32> = groups.collect();
        List { codes: groups.iter().map(|&group| self.codes[group as usize]).collect(), groups }
    }

    fn push(&self, list: &mut List, group: u32) {
        list.groups.push(group);
        list.codes.push(self.codes[group as usize]);
    }

    /// For each row the most similar of the columns.
    fn best(&mut self, rows: &List, columns: &List) -> Vec<Best> {
        self.compared += rows.codes.len() as u64 * columns.codes.len() as u64;
        let of_piece = |(groups, codes, first): (&[u32], &[u64], usize)| {
            let mut best: Vec<Best> = vec![None; rows.codes.len()];
            each_across(&rows.codes, codes, self.distance, |row, column| {
                if let Some(similarity) = self.similarity(rows.groups[row], groups[column])
                    && is_better((first + column, similarity), best[row])
                {
                    best[row] = Some((first + column, similarity));
                }
            });
            best
        };
        columns.pieces().map(of_piece).collect::<Vec<_>>().into_iter().fold(
            vec![None; rows.codes.len()],
            |all, piece| {
                let better = |(all, piece): (Best, Best)| piece.filter(|&piece| is_better(piece, all)).or(all);
                all.into_iter().zip(piece).map(better).collect()
            },
        )
    }

    /// Passes the groups of a list to `each` that are similar to one, each by its position.
    fn one(&mut self, group: u32, list: &List, mut each: impl FnMut(usize, Similarity)) {
        self.compared += list.codes.len() as u64;
        within(Level::current(), &list.codes, &[self.codes[group as usize]], self.distance, &mut |position| {
            let similarity = self.similarity(group, list.groups[position]);
            similarity.into_iter().for_each(|similarity| each(position, similarity));
        });
    }

    /// Adds the edges between each row and each column.
    fn all(&mut self, rows: &List, columns: &List) {
        self.compared += rows.codes.len() as u64 * columns.codes.len() as u64;
        let corpus = self.search.corpus();
        columns.pieces().for_each(|(groups, codes, _)| {
            let mut list = self.found.list(corpus);
            each_across(&rows.codes, codes, self.distance, |row, column| {
                let (a, b) = (rows.groups[row], groups[column]);
                if let Some(similarity) = self.similarity(a, b) {
                    list.push(Edge::between(a, b, similarity));
                }
            });
        });
    }
}

/// The choice so far.
struct Choice<'a> {
    comparison: Comparison<'a>,
    is_kept: Vec<bool>,
    /// The kept groups that others are compared with, and the dropped groups of several documents, in the order of the choice.
    kept: List,
    copied: List,
}

impl Choice<'_> {
    /// Decides on groups that follow each other in the order.
    fn decide(&mut self, batch: &[u32]) {
        let corpus = self.comparison.search.corpus();
        let rows = self.comparison.list(batch.iter().copied());
        let before = self.comparison.best(&rows, &self.kept);
        let (mut kept, mut copied) = (List::default(), List::default());
        let mut edges = self.comparison.found.list(corpus);
        for (&group, before) in batch.iter().zip(before) {
            let before = before.map(|(position, similarity)| (self.kept.groups[position], similarity));
            // Those of the batch come later in the order, so that they must be more similar.
            let most = before.map_or(0.0, |(_, similarity)| similarity.value());
            let later = self.best_of_batch(&kept, group).filter(|(_, later)| before.is_none() || later.value() > most);
            let Some((other, similarity)) = later.or(before) else {
                self.is_kept[group as usize] = true;
                // With a reference, documents are compared with it alone.
                if !corpus.against() {
                    self.comparison.one(group, &copied, |position, similarity| {
                        edges.push(Edge::between(group, copied.groups[position], similarity));
                    });
                    self.comparison.push(&mut kept, group);
                }
                continue;
            };
            edges.push(Edge::between(group, other, similarity));
            if corpus.members(group).len() > 1 {
                self.comparison.push(&mut copied, group);
            }
        }
        drop(edges);
        self.comparison.all(&kept, &self.copied);
        self.kept.append(&mut kept);
        self.copied.append(&mut copied);
    }

    fn best_of_batch(&mut self, kept: &List, group: u32) -> Option<(u32, Similarity)> {
        let mut best: Best = None;
        self.comparison.one(group, kept, |position, similarity| {
            if is_better((position, similarity), best) {
                best = Some((position, similarity));
            }
        });
        best.map(|(position, similarity)| (kept.groups[position], similarity))
    }
}

/// The connection of what all edges would connect.
struct Connection<'a> {
    comparison: Comparison<'a>,
    is_kept: Vec<bool>,
    connected: UnionFind<u32>,
    /// The part of each group when the columns were sorted by it.
    parts: Vec<u32>,
    columns: List,
    /// Whether parts were connected since then, and how many pairs were found that they connect.
    has_changed: bool,
    useless: u64,
}

impl Connection<'_> {
    /// Sorts groups by their parts.
    fn sort(&mut self) {
        let groups = 0..self.is_kept.len() as u32;
        self.parts = groups.clone().map(|group| self.connected.find(group)).collect();
        let mut sorted: Vec<u32> = groups.collect();
        sorted.par_sort_unstable_by_key(|&group| (self.parts[group as usize], group));
        self.columns.clear();
        self.columns = self.comparison.list(sorted.into_iter());
        (self.has_changed, self.useless) = (false, 0);
    }

    fn part(&self, group: u32) -> u32 {
        self.parts[group as usize]
    }

    /// The groups of which one is in each pair that can connect parts: those outside of the largest part, or those that are
    /// [open](is_open).
    fn rows(&self) -> Vec<u32> {
        let parts = self.columns.groups.chunk_by(|&a, &b| self.part(a) == self.part(b));
        let largest = parts.max_by_key(|part| (part.len(), std::cmp::Reverse(part[0]))).map(|part| self.part(part[0]));
        let corpus = self.comparison.search.corpus();
        let is_outside = |group: u32| Some(self.part(group)) != largest;
        let is_open = |group: u32| is_open(corpus, &self.is_kept, group);
        let of = |is_row: &dyn Fn(u32) -> bool| -> Vec<u32> {
            self.columns.groups.iter().copied().filter(|&group| is_row(group)).collect()
        };
        let [outside, open] = [of(&is_outside), of(&is_open)];
        if outside.len() <= open.len() { outside } else { open }
    }

    /// Compares all rows with the groups of other parts.
    fn connect(&mut self) {
        self.sort();
        let mut rows = self.rows();
        while !rows.is_empty() {
            if self.has_changed && self.useless > MANY_USELESS {
                self.sort();
                rows.sort_unstable_by_key(|&group| (self.part(group), group));
            }
            let part = self.part(rows[rows.len() - 1]);
            // A batch of one part is not compared with it.
            let of_part = rows.iter().rev().take(ROWS).take_while(|&&group| self.part(group) == part).count();
            let is_one = of_part == ROWS.min(rows.len());
            let batch = rows.split_off(rows.len() - ROWS.min(rows.len()));
            self.connect_batch(&batch, is_one.then_some(part));
        }
    }

    fn connect_batch(&mut self, batch: &[u32], only: Option<u32>) {
        let rows = self.comparison.list(batch.iter().copied());
        let (comparison, parts) = (&self.comparison, &self.parts);
        let of_piece = |(groups, codes, _): (&[u32], &[u64], usize)| {
            let (mut found, mut useless, mut compared) = (Vec::new(), 0u64, 0);
            let mut pieces = Pieces::new(groups, &rows.groups, |group| parts[group as usize]);
            let own = |side: fn(u32, u32) -> bool| {
                groups.partition_point(|&group| only.is_some_and(|only| side(parts[group as usize], only)))
            };
            let (start, end) =
                if only.is_some() { (own(|part, only| part < only), own(|part, only| part <= only)) } else { (0, 0) };
            for range in [0..start, end..groups.len()] {
                let first = range.start;
                let (groups, codes) = (&groups[range.clone()], &codes[range]);
                compared += (rows.codes.len() * codes.len()) as u64;
                each_across(&rows.codes, codes, comparison.distance, |row, column| {
                    let (a, b) = (rows.groups[row], groups[column]);
                    if pieces.are_connected(row, first + column) {
                        useless += 1;
                    } else if let Some(similarity) = comparison.similarity(a, b) {
                        pieces.connect(row, first + column);
                        found.push(Edge::between(a, b, similarity));
                    }
                });
            }
            (found, useless, compared)
        };
        let found: Vec<(Vec<Edge>, u64, u64)> = self.columns.pieces().map(of_piece).collect();
        let mut edges = self.comparison.found.list(self.comparison.search.corpus());
        for (found, useless, compared) in found {
            self.comparison.compared += compared;
            self.useless += useless;
            for edge in found {
                if self.connected.union(edge.a, edge.b) {
                    self.has_changed = true;
                    edges.push(edge);
                }
            }
        }
    }
}

/// The parts of some columns and rows, as pairs of them connect them.
struct Pieces {
    of_columns: Vec<u32>,
    of_rows: Vec<u32>,
    connected: UnionFind<u32>,
}

impl Pieces {
    /// Of groups as columns, sorted by their parts, and others as rows.
    fn new(columns: &[u32], rows: &[u32], part: impl Fn(u32) -> u32) -> Self {
        let (mut parts, mut of_columns) = (Vec::<u32>::new(), Vec::with_capacity(columns.len()));
        for &column in columns {
            if parts.last() != Some(&part(column)) {
                parts.push(part(column));
            }
            of_columns.push(parts.len() as u32 - 1);
        }
        let mut others: Vec<u32> =
            rows.iter().map(|&row| part(row)).filter(|part| parts.binary_search(part).is_err()).collect();
        others.sort_unstable();
        others.dedup();
        let number = |part: u32| match parts.binary_search(&part) {
            Ok(at) => at,
            Err(_) => parts.len() + others.partition_point(|&other| other < part),
        };
        let of_rows = rows.iter().map(|&row| number(part(row)) as u32).collect();
        Pieces { of_columns, of_rows, connected: UnionFind::new(parts.len() + others.len()) }
    }

    fn are_connected(&mut self, row: usize, column: usize) -> bool {
        self.connected.same(self.of_rows[row], self.of_columns[column])
    }

    fn connect(&mut self, row: usize, column: usize) {
        self.connected.union(self.of_rows[row], self.of_columns[column]);
    }
}

impl Search<'_> {
    /// Adds the edges that decide, as [with tables](super::keep), of fingerprints of 64 bits that are similar within this
    /// distance. Returns the number of comparisons.
    ///
    /// # Cost
    /// A comparison of each group with those kept before it, and of some with all. Memory: some 50 bytes for each group.
    ///
    /// # Errors
    /// Edges cannot be written.
    pub(super) fn deciding_edges_without_tables(
        &self,
        distance: u32,
        policy: KeepPolicy,
        found: &Found,
    ) -> Result<u64, Error> {
        let corpus = self.corpus();
        let groups = corpus.distinct();
        let comparison = Comparison { search: self, codes: self.fingerprints(), distance, found, compared: 0 };
        let all = Subset::of(groups, 0..groups as u32);
        let order = Turns::new(corpus, policy).order(&all);
        let (first, rest): (Vec<u32>, Vec<u32>) = order.into_iter().partition(|&group| corpus.is_first(group));
        let mut is_kept = vec![false; groups];
        first.iter().for_each(|&group| is_kept[group as usize] = true);
        let kept = comparison.list(first.into_iter());
        let mut choice = Choice { comparison, is_kept, kept, copied: List::default() };
        rest.chunks(ROWS).for_each(|batch| choice.decide(batch));
        drop(rest);
        let Choice { comparison, is_kept, .. } = choice;
        let mut connected = UnionFind::<u32>::new(groups);
        found.for_each(|edge| _ = connected.union(edge.a, edge.b))?;
        let (parts, columns) = Default::default();
        let mut connection =
            Connection { comparison, is_kept, connected, parts, columns, has_changed: false, useless: 0 };
        connection.connect();
        Ok(connection.comparison.compared)
    }
}
