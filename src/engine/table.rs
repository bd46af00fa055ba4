//! The result of grouping: the runs of documents that share a key, table by table.

use crate::kernel::fetch::fetch;
use crate::similarity::bound::Bound;
use std::ops::Range;

/// A run with at least this many members can be hot: not all its pairs are compared, if the algorithm knows a prefix
/// filter that spares most of them.
pub(crate) const HOT_RUN: usize = 512;

/// The same of vectors: comparing two takes longer, and no outline rules them out.
const HOT_RUN_OF_VECTORS: usize = 128;

/// No shorter run is hot, whatever the algorithm.
pub(super) const LEAST_HOT_RUN: usize = HOT_RUN_OF_VECTORS;

/// The number of members from which on a run can be hot.
pub(super) fn hot_run(bound: Option<Bound>) -> usize {
    if let Some(Bound::Cosine(_)) = bound { HOT_RUN_OF_VECTORS } else { HOT_RUN }
}

/// The groups of two or more that share a key in one table.
#[derive(Clone, Default)]
pub(super) struct Table {
    /// The members of all runs, ascending within each.
    pub members: Vec<u32>,
    /// Where each run ends in `members`.
    ends: Vec<u32>,
    /// The key of each run, if keys are free.
    keys: Vec<u64>,
}

impl Table {
    /// The number of runs.
    pub fn runs(&self) -> usize {
        self.ends.len()
    }

    /// The members of a run.
    #[inline]
    pub fn run(&self, run: usize) -> &[u32] {
        &self.members[self.range(run)]
    }

    /// The positions of a run in `members`.
    #[inline]
    pub fn range(&self, run: usize) -> Range<usize> {
        let start = if run == 0 { 0 } else { self.ends[run - 1] };
        start as usize..self.ends[run] as usize
    }

    /// Prefetches these runs: where they are, then their members.
    pub fn fetch(&self, runs: impl Iterator<Item = usize> + Clone) {
        runs.clone().for_each(|run| fetch(&self.ends, run.saturating_sub(1)));
        runs.for_each(|run| fetch(&self.members, self.range(run).start));
    }

    /// Prefetches where a run is.
    #[inline]
    pub fn fetch_range(&self, run: usize) {
        fetch(&self.ends, run.saturating_sub(1));
    }

    /// The key of a run, if keys are free; else 0.
    #[inline]
    pub fn key(&self, run: usize) -> u64 {
        self.keys.get(run).copied().unwrap_or(0)
    }

    /// Turns the members after the last run into a run.
    pub fn end_run(&mut self, key: Option<u64>) {
        self.ends.push(self.members.len() as u32);
        self.keys.extend(key);
    }

    /// Removes some of the runs, and frees their memory.
    pub fn remove_runs(&mut self, is_removed: impl Fn(&Table, usize) -> bool) {
        let removed: Vec<bool> = (0..self.runs()).map(|run| is_removed(self, run)).collect();
        if !removed.contains(&true) {
            return;
        }
        let (mut start, mut members, mut runs) = (0, 0, 0);
        for (run, is_removed) in removed.into_iter().enumerate() {
            let end = self.ends[run];
            if !is_removed {
                self.members.copy_within(start as usize..end as usize, members as usize);
                members += end - start;
                self.ends[runs] = members;
                if !self.keys.is_empty() {
                    self.keys[runs] = self.keys[run];
                }
                runs += 1;
            }
            start = end;
        }
        self.members.truncate(members as usize);
        self.ends.truncate(runs);
        self.keys.truncate(runs);
        self.shrink_to_fit();
    }

    /// Frees memory that was reserved for more runs.
    pub fn shrink_to_fit(&mut self) {
        self.members.shrink_to_fit();
        self.ends.shrink_to_fit();
        self.keys.shrink_to_fit();
    }

    /// Bytes of memory.
    pub fn bytes_held(&self) -> u64 {
        (4 * (self.members.len() + self.ends.len()) + 8 * self.keys.len()) as u64
    }

    /// The parts of the runs that consist of these groups.
    pub fn restricted(&self, is_wanted: &[bool]) -> Table {
        let mut out = Table::default();
        for run in 0..self.runs() {
            let start = out.members.len();
            out.members.extend(self.run(run).iter().filter(|&&group| is_wanted[group as usize]));
            if out.members.len() < start + 2 {
                out.members.truncate(start);
                continue;
            }
            out.end_run(self.keys.get(run).copied());
        }
        out
    }

    #[cfg(test)]
    pub fn of_runs(runs: &[Vec<u32>]) -> Table {
        let ends = runs.iter().scan(0, |end, run| {
            *end += run.len() as u32;
            Some(*end)
        });
        Table { ends: ends.collect(), members: runs.concat(), keys: Vec::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn removed_runs_leave_the_others() {
        let runs: Vec<Vec<u32>> = vec![vec![0, 1], vec![2, 3, 4], vec![1, 5], vec![0, 2, 3, 4]];
        let mut table = Table::of_runs(&runs);
        table.keys = vec![10, 11, 12, 13];
        table.remove_runs(|table, run| table.run(run).len() > 2);
        assert_eq!(table.runs(), 2);
        assert_eq!([table.run(0), table.run(1)], [&[0, 1], &[1, 5]]);
        assert_eq!([table.key(0), table.key(1)], [10, 12]);
        table.remove_runs(|_, _| true);
        assert_eq!((table.runs(), table.bytes_held()), (0, 0));
    }
}
