//! Hot runs in families: the pages of one template share many keys, and the runs of these have mostly the same members.

use super::table::Table;
use rayon::prelude::*;
use std::cmp::{Ordering, Reverse};

/// The families of hot runs, each searched once.
#[derive(Default)]
pub(super) struct HotFamilies {
    /// The members of all runs of each family, ascending.
    pub members: Vec<Vec<u32>>,
    /// The families of each group, ascending: `in_families[ends[g − 1]..ends[g]]`; empty without any.
    in_families: Vec<u32>,
    ends: Vec<usize>,
}

impl HotFamilies {
    /// Takes the hot runs out of tables: those of at least this many members that a function accepts. All members are below `groups`.
    pub fn take(tables: &mut [Table], (least, is_hot): (usize, impl Fn(&[u32]) -> bool + Sync), groups: usize) -> Self {
        let tables_of = tables.iter().enumerate();
        let runs = tables_of.flat_map(|(number, table)| (0..table.runs()).map(move |run| (number, table, run)));
        let long: Vec<(usize, &Table, usize)> = runs.filter(|&(_, table, run)| table.run(run).len() >= least).collect();
        let hot: Vec<(usize, &Table, usize)> =
            long.into_par_iter().filter(|&(_, table, run)| is_hot(table.run(run))).collect();
        if hot.is_empty() {
            return HotFamilies::default();
        }
        let lists: Vec<&[u32]> = hot.iter().map(|&(_, table, run)| table.run(run)).collect();
        let members = families(&lists, groups);
        let (in_families, ends) = families_of(&members, groups);
        let hot: Vec<(usize, usize)> = hot.into_iter().map(|(number, _, run)| (number, run)).collect();
        for (number, table) in tables.iter_mut().enumerate() {
            table.remove_runs(|_, run| hot.binary_search(&(number, run)).is_ok());
        }
        HotFamilies { members, in_families, ends }
    }

    /// The families that a group is in.
    #[inline]
    fn of(&self, group: u32) -> &[u32] {
        let Some(&end) = self.ends.get(group as usize) else { return &[] };
        let start = group.checked_sub(1).map_or(0, |before| self.ends[before as usize]);
        &self.in_families[start..end]
    }

    /// The first family that both groups are in.
    #[inline]
    pub fn of_both(&self, a: u32, b: u32) -> Option<u32> {
        let (mut own, mut others) = (self.of(a), self.of(b));
        while let (Some(&family), Some(&other)) = (own.first(), others.first()) {
            match family.cmp(&other) {
                Ordering::Less => own = &own[1..],
                Ordering::Greater => others = &others[1..],
                Ordering::Equal => return Some(family),
            }
        }
        None
    }
}

/// The families of all groups one after the other, and the end of each group's.
fn families_of(members: &[Vec<u32>], groups: usize) -> (Vec<u32>, Vec<usize>) {
    let mut ends = vec![0; groups];
    members.iter().flatten().for_each(|&group| ends[group as usize] += 1);
    let mut sum = 0;
    for end in &mut ends {
        // At first the start of each group; filling moves each to its end.
        sum += std::mem::replace(end, sum);
    }
    let mut families = vec![0; sum];
    for (family, members) in (0..).zip(members) {
        for &group in members {
            let end = &mut ends[group as usize];
            families[*end] = family;
            *end += 1;
        }
    }
    (families, ends)
}

const NONE: u32 = u32::MAX;

/// Puts each run into the family of a larger one that has at least half of its members, or into a new one. Returns the
/// members of each family, ascending: at most twice as many as its largest run has.
///
/// Cost: a step for each member of each run, and a sort. Memory: 8 bytes for each group.
fn families(runs: &[&[u32]], groups: usize) -> Vec<Vec<u32>> {
    let mut order: Vec<usize> = (0..runs.len()).collect();
    order.sort_by_key(|&run| Reverse(runs[run].len()));
    let (mut members, mut largest) = (Vec::<Vec<u32>>::new(), Vec::new());
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
            continue;
        }
        let family = members.len() as u32;
        list.iter().for_each(|&member| core[member as usize] = family);
        members.push(list.to_vec());
        largest.push(list.len());
        shared.push(0);
    }
    for members in &mut members {
        members.sort_unstable();
        members.dedup();
    }
    members
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
        let members = families(&runs, 1100);
        assert_eq!(members, [(0..700).collect::<Vec<_>>(), (590..1100).collect()]);
        let (in_families, ends) = families_of(&members, 1101);
        let hot = HotFamilies { members, in_families, ends };
        assert_eq!(
            [hot.of(0), hot.of(589), hot.of(590), hot.of(699), hot.of(700)],
            [&[0][..], &[0], &[0, 1], &[0, 1], &[1]]
        );
        assert_eq!([hot.of(1099), hot.of(1100), hot.of(1101)], [&[1][..], &[], &[]]);
        let of_both = [(0, 600), (600, 699), (600, 700), (0, 700), (0, 1100)].map(|(a, b)| hot.of_both(a, b));
        assert_eq!(of_both, [Some(0), Some(0), Some(1), None, None]);
        assert_eq!(HotFamilies::default().of_both(0, 1), None);
    }

    /// A chain of runs of which each has half of the one before.
    #[test]
    fn a_family_is_not_much_larger_than_its_largest_run() {
        let lists: Vec<Vec<u32>> = (0..100).map(|run| (run * 300..run * 300 + 600).collect()).collect();
        let runs: Vec<&[u32]> = lists.iter().map(Vec::as_slice).collect();
        let members = families(&runs, 31_000);
        assert!(members.iter().all(|members| members.len() <= 1200 && members.is_sorted()));
        for run in runs {
            let has_all = |members: &Vec<u32>| run.iter().all(|member| members.binary_search(member).is_ok());
            assert!(members.iter().any(has_all));
        }
    }
}
