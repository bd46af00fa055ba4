//! What follows from all pairs together, in one task: which documents are dropped, and which are connected.

use super::rows::{Column, Input, Kind, Out, Value};
use super::step::{Entry, Rows};
use crate::error::Error;
use crate::union_find::UnionFind;
use arrow_array::Int64Array;
use std::collections::{BTreeMap, HashSet};

pub(super) static KEEP: Entry = Entry {
    name: "keep",
    summary: "the documents that are not kept: in ascending order, a document is kept unless it is similar to one that is kept. All rows go \
              to one step; documents are compared by `rank`, then by number",
    takes: &[
        Column::new("a_rank", Kind::Long),
        Column::new("a", Kind::Long),
        Column::new("b_rank", Kind::Long),
        Column::new("b", Kind::Long),
    ],
    order: &["b_rank", "b"],
    gives: &[Column::new("doc", Kind::Long)],
    learns: true,
    make: |_| Box::new(Keep { columns: None, last: None, dropped: HashSet::new() }),
};

struct Keep {
    columns: Option<[Int64Array; 4]>,
    /// The rank and the number of the last later document.
    last: Option<(i64, i64)>,
    dropped: HashSet<i64>,
}

impl Rows for Keep {
    fn begin(&mut self, input: &Input<'_>) -> Result<(), Error> {
        self.columns = Some([input.longs("a_rank")?, input.longs("a")?, input.longs("b_rank")?, input.longs("b")?]);
        Ok(())
    }

    fn row(&mut self, row: usize, out: &mut Out) -> Result<bool, Error> {
        let Some(columns) = &self.columns else { return Ok(true) };
        let [a_rank, a, b_rank, b] = columns.each_ref().map(|column| column.value(row));
        let (earlier, later) = ((a_rank, a), (b_rank, b));
        if let Some(before) = self.last.filter(|&before| before > later) {
            return Err(Error::Usage(format!(
                "rows are not in order of their later document: {b} with rank {b_rank} comes after {} with rank {}",
                before.1, before.0
            )));
        }
        if earlier >= later {
            return Err(Error::Usage(format!(
                "the earlier document of a pair comes first: {a} with rank {a_rank} is not before {b} with rank {b_rank}"
            )));
        }
        self.last = Some(later);
        // Whatever comes before it is decided already.
        if !self.dropped.contains(&a) && self.dropped.insert(b) {
            out.push([Value::Long(b)]);
        }
        Ok(true)
    }
}

pub(super) static CLUSTERS: Entry = Entry {
    name: "clusters",
    summary: "the documents that are connected by pairs, each with the least number among them. All rows go to one step",
    takes: &[Column::new("a", Kind::Long), Column::new("b", Kind::Long)],
    order: &[],
    gives: &[Column::new("doc", Kind::Long), Column::new("cluster", Kind::Long)],
    learns: true,
    make: |_| Box::new(Clusters { columns: None, numbers: BTreeMap::new(), edges: Vec::new(), found: None }),
};

struct Clusters {
    columns: Option<(Int64Array, Int64Array)>,
    numbers: BTreeMap<i64, usize>,
    edges: Vec<(usize, usize)>,
    /// Each document with the least one of its cluster, in reverse.
    found: Option<Vec<(i64, i64)>>,
}

impl Clusters {
    fn number(&mut self, doc: i64) -> usize {
        let next = self.numbers.len();
        *self.numbers.entry(doc).or_insert(next)
    }

    fn find(&mut self) -> Vec<(i64, i64)> {
        let mut sets = UnionFind::<usize>::new(self.numbers.len());
        for (a, b) in std::mem::take(&mut self.edges) {
            sets.union(a, b);
        }
        let mut least: BTreeMap<usize, i64> = BTreeMap::new();
        // In ascending order, so that the first is the least.
        let of = |(&doc, &number): (&i64, &usize)| (doc, *least.entry(sets.find(number)).or_insert(doc));
        let mut found: Vec<(i64, i64)> = self.numbers.iter().map(of).collect();
        found.reverse();
        found
    }
}

impl Rows for Clusters {
    fn begin(&mut self, input: &Input<'_>) -> Result<(), Error> {
        self.columns = Some((input.longs("a")?, input.longs("b")?));
        Ok(())
    }

    fn row(&mut self, row: usize, _: &mut Out) -> Result<bool, Error> {
        let Some((a, b)) = &self.columns else { return Ok(true) };
        let (a, b) = (a.value(row), b.value(row));
        let edge = (self.number(a), self.number(b));
        self.edges.push(edge);
        Ok(true)
    }

    fn end(&mut self, out: &mut Out) -> Result<bool, Error> {
        if self.found.is_none() {
            self.found = Some(self.find());
        }
        match self.found.as_mut().and_then(Vec::pop) {
            None => Ok(true),
            Some((doc, cluster)) => {
                out.push([Value::Long(doc), Value::Long(cluster)]);
                Ok(false)
            }
        }
    }
}
