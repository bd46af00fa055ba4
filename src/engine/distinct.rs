//! Runs of the same members, of which one is enough: near-duplicates share many keys that no other document has.

use super::table::{LEAST_HOT_RUN, Table};
use crate::hash::combine;
use crate::kernel::fetch::fetch;

/// Where documents have any number of keys and sets are compared, the runs of all tables but for those of the same members as
/// an earlier run. Hot runs all stay, with their keys.
#[derive(Default)]
pub(super) struct DistinctRuns {
    runs: Table,
    hot: Table,
    /// The full parts of both.
    full: Vec<Table>,
    /// The number of a run after one that has its hash, from 1; 0 for a free place. At most half of them are taken.
    places: Vec<u32>,
}

/// The maximum number of members in one table.
const MOST_MEMBERS: usize = 1 << 31;

/// How many runs are prefetched together.
const FETCHED: usize = 32;

/// The minimum number of places.
const LEAST_PLACES: usize = 1 << 10;

impl DistinctRuns {
    /// Adds the runs of a table.
    pub fn add(&mut self, table: &Table) {
        for run in 0..table.runs() {
            if run % FETCHED == 0 {
                self.fetch((run..table.runs().min(run + FETCHED)).map(|run| table.run(run)));
            }
            let members = table.run(run);
            if members.len() >= LEAST_HOT_RUN {
                self.hot.members.extend_from_slice(members);
                self.hot.end_run(Some(table.key(run)));
                if self.hot.members.len() > MOST_MEMBERS {
                    self.full.push(std::mem::take(&mut self.hot));
                }
            } else {
                self.add_run(members);
            }
        }
        self.hot.shrink_to_fit();
    }

    /// Prefetches what adding these runs reads first: more than the processor's caches hold.
    fn fetch<'r>(&self, runs: impl Iterator<Item = &'r [u32]>) {
        let Some(mask) = self.places.len().checked_sub(1) else { return };
        let (mut places, mut count) = ([0; FETCHED], 0);
        for members in runs {
            places[count] = hash(members) as usize & mask;
            fetch(&self.places, places[count]);
            count += 1;
        }
        let taken = places[..count].iter().filter_map(|&place| self.places[place].checked_sub(1));
        self.runs.fetch(taken.map(|run| run as usize));
    }

    fn add_run(&mut self, members: &[u32]) {
        if 2 * (self.runs.runs() + 1) > self.places.len() {
            self.grow();
        }
        let place = self.place(members);
        if self.places[place] == 0 {
            self.runs.members.extend_from_slice(members);
            self.runs.end_run(None);
            self.places[place] = self.runs.runs() as u32;
        }
        if self.runs.members.len() > MOST_MEMBERS {
            self.full.push(std::mem::take(&mut self.runs));
            self.places.clear();
        }
    }

    /// The place of a run of these members, or the free place where its search ends.
    fn place(&self, members: &[u32]) -> usize {
        let mask = self.places.len() - 1;
        let mut place = hash(members) as usize & mask;
        while self.places[place] > 0 && self.runs.run(self.places[place] as usize - 1) != members {
            place = (place + 1) & mask;
        }
        place
    }

    #[cold]
    fn grow(&mut self) {
        let places = (2 * self.places.len()).max(LEAST_PLACES);
        self.places.clear();
        self.places.resize(places, 0);
        for run in 0..self.runs.runs() {
            let place = self.place(self.runs.run(run));
            self.places[place] = run as u32 + 1;
        }
    }

    /// Bytes of memory.
    pub fn bytes_held(&self) -> u64 {
        let tables = self.full.iter().chain([&self.runs, &self.hot]);
        tables.map(Table::bytes_held).sum::<u64>() + 4 * self.places.len() as u64
    }

    /// All of them.
    pub fn into_tables(self) -> Vec<Table> {
        let mut tables = self.full;
        tables.extend([self.runs, self.hot]);
        tables.iter_mut().for_each(Table::shrink_to_fit);
        tables
    }
}

fn hash(members: &[u32]) -> u64 {
    members.iter().fold(members.len() as u64, |hash, &member| combine(hash, member.into()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::mix;

    #[test]
    fn runs_of_the_same_members_are_one() {
        let run = |number: u64| (0..2 + number as u32 % 3).map(|n| mix(number) as u32 % 10_000 + n).collect();
        let hot: Vec<u32> = (0..LEAST_HOT_RUN as u32).collect();
        let runs: Vec<Vec<u32>> = (0..10_000).map(|n| run(n % 3001)).chain([hot.clone(), hot.clone()]).collect();
        let (mut distinct, mut all) = (DistinctRuns::default(), Vec::new());
        runs.chunks(700).for_each(|runs| distinct.add(&Table::of_runs(runs)));
        for table in distinct.into_tables() {
            all.extend((0..table.runs()).map(|run| table.run(run).to_vec()));
        }
        let mut expected = runs;
        expected.sort_unstable();
        expected.dedup();
        expected.push(hot);
        expected.sort_unstable();
        assert!(expected.len() > 2000);
        all.sort_unstable();
        assert_eq!(all, expected);
    }
}
