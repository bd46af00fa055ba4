//! Hot runs in families: the pages of one template share many keys, and the runs of these have mostly the same members.

use super::group::Keys;
use super::table::Table;
use rayon::prelude::*;
use std::cmp::Reverse;

/// The families of hot runs, each searched once.
#[derive(Default)]
pub(super) struct HotFamilies {
    /// The key of each run with its table, ascending, and its family.
    of: Vec<((usize, u64), u32)>,
    /// The members of all runs of each family, ascending.
    pub members: Vec<Vec<u32>>,
    /// Whether each group is in one of the runs; empty without any.
    is_in: Vec<bool>,
}

impl HotFamilies {
    /// Takes the hot runs out of tables: those of at least this many members that a function accepts. All members are below `groups`.
    pub fn take(
        tables: &mut [Table],
        (least, is_hot): (usize, impl Fn(&[u32]) -> bool + Sync),
        keys: &Keys<'_>,
        groups: usize,
    ) -> Self {
        let tables_of = tables.iter().enumerate();
        let runs = tables_of.flat_map(|(number, table)| (0..table.runs()).map(move |run| (number, table, run)));
        let long: Vec<(usize, &Table, usize)> = runs.filter(|&(_, table, run)| table.run(run).len() >= least).collect();
        let hot: Vec<(usize, &Table, usize)> =
            long.into_par_iter().filter(|&(_, table, run)| is_hot(table.run(run))).collect();
        if hot.is_empty() {
            return HotFamilies::default();
        }
        let lists: Vec<&[u32]> = hot.iter().map(|&(_, table, run)| table.run(run)).collect();
        let (families, members) = families(&lists, groups);
        let key =
            |&(number, table, run): &(usize, &Table, usize)| keys.of_run(number, table.key(run), table.run(run)[0]);
        let mut of: Vec<((usize, u64), u32)> = hot.iter().map(key).zip(families).collect();
        of.sort_unstable();
        let mut is_in = vec![false; groups];
        members.iter().flatten().for_each(|&group| is_in[group as usize] = true);
        let hot: Vec<(usize, usize)> = hot.into_iter().map(|(number, _, run)| (number, run)).collect();
        for (number, table) in tables.iter_mut().enumerate() {
            table.remove_runs(|_, run| hot.binary_search(&(number, run)).is_ok());
        }
        HotFamilies { of, members, is_in }
    }

    /// Whether a group is in a hot run.
    #[inline]
    pub fn has(&self, group: u32) -> bool {
        self.is_in.get(group as usize).is_some_and(|&is_in| is_in)
    }

    /// The family of the run of a key, if that is hot.
    #[inline]
    pub fn of_key(&self, key: (usize, u64)) -> Option<u32> {
        let at = self.of.binary_search_by_key(&key, |&(key, _)| key).ok()?;
        Some(self.of[at].1)
    }
}

const NONE: u32 = u32::MAX;

/// Puts each run into the family of a larger one that has at least half of its members, or into a new one. Returns the family
/// of each run, and the members of each family, ascending: at most twice as many as its largest run has.
///
/// Cost: a step for each member of each run, and a sort. Memory: 8 bytes for each group.
fn families(runs: &[&[u32]], groups: usize) -> (Vec<u32>, Vec<Vec<u32>>) {
    let mut order: Vec<usize> = (0..runs.len()).collect();
    order.sort_by_key(|&run| Reverse(runs[run].len()));
    let (mut of, mut members, mut largest) = (vec![NONE; runs.len()], Vec::<Vec<u32>>::new(), Vec::new());
    // The latest family whose largest run has a group, and the latest that another run brought it to.
    let (mut core, mut added) = (vec![NONE; groups], vec![NONE; groups]);
    let mut shared = Vec::<usize>::new();
    for run in order {
        let list = runs[run];
        let cores = || list.iter().map(|&member| core[member as usize]).filter(|&family| family != NONE);
        cores().for_each(|family| shared[family as usize] += 1);
        let most = cores().max_by_key(|&family| (shared[family as usize], Reverse(family)));
        let has_half = most.filter(|&family| 2 * shared[family as usize] >= list.len());
        cores().for_each(|family| shared[family as usize] = 0);
        let brings = |family: u32| -> Vec<u32> {
            let is_new = |member: &u32| core[*member as usize] != family && added[*member as usize] != family;
            list.iter().copied().filter(is_new).collect()
        };
        let joined = has_half.map(|family| (family, brings(family)));
        let fits =
            |family: u32, new: &[u32]| members[family as usize].len() + new.len() <= 2 * largest[family as usize];
        if let Some((family, new)) = joined.filter(|(family, new)| fits(*family, new)) {
            new.iter().for_each(|&member| added[member as usize] = family);
            members[family as usize].extend(new);
            of[run] = family;
            continue;
        }
        let family = members.len() as u32;
        list.iter().for_each(|&member| core[member as usize] = family);
        members.push(list.to_vec());
        largest.push(list.len());
        shared.push(0);
        of[run] = family;
    }
    for members in &mut members {
        members.sort_unstable();
        members.dedup();
    }
    (of, members)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_with_mostly_the_same_members_are_one_family() {
        let lists: Vec<Vec<u32>> = vec![
            (0..600).collect(),
            (50..600).collect(),
            (100..700).collect(),
            (0..600).collect(),
            (590..1100).collect(),
        ];
        let runs: Vec<&[u32]> = lists.iter().map(Vec::as_slice).collect();
        let (of, members) = families(&runs, 1100);
        assert_eq!(of, [0, 0, 0, 0, 1]);
        assert_eq!(members, [(0..700).collect::<Vec<_>>(), (590..1100).collect()]);
    }

    /// A chain of runs of which each has half of the one before.
    #[test]
    fn a_family_is_not_much_larger_than_its_largest_run() {
        let lists: Vec<Vec<u32>> = (0..100).map(|run| (run * 300..run * 300 + 600).collect()).collect();
        let runs: Vec<&[u32]> = lists.iter().map(Vec::as_slice).collect();
        let (of, members) = families(&runs, 31_000);
        assert!(members.iter().all(|members| members.len() <= 1200 && members.is_sorted()));
        for (run, family) in runs.iter().zip(of) {
            let members = &members[family as usize];
            assert!(run.iter().all(|member| members.binary_search(member).is_ok()));
        }
    }
}
