//! Portions: the candidates whose keys, and features if these fit too, are in memory together during verification.
//!
//! Candidates that no chain of runs connects are never compared. Whole connected components are therefore packed
//! together until the budget is full. A component that is larger than the budget is cut into blocks of half the budget,
//! and every two blocks are loaded together once.

use super::table::Table;
use crate::union_find::UnionFind;
use std::ops::Range;

/// The loads that together bring every two candidates of a run into memory at the same time.
pub(super) struct Portions {
    /// The candidates, in the order of the loads.
    order: Vec<u32>,
    loads: Vec<Load>,
}

/// The content of each load: ranges of the order.
#[derive(Clone, Debug, PartialEq)]
struct Load {
    near: Range<usize>,
    /// A second block of the same component; empty for whole components.
    far: Range<usize>,
    /// Whether this load compares the pairs within each of the two blocks.
    within_near: bool,
    within_far: bool,
}

/// The candidates of one load.
pub(super) struct Portion {
    /// Ascending.
    pub groups: Vec<u32>,
    /// For a load of two blocks: the block of each group, or neither. Empty if all pairs are compared.
    block: Vec<Block>,
    within_near: bool,
    within_far: bool,
    /// Whether it holds all candidates.
    pub whole: bool,
}

#[derive(Clone, Copy, PartialEq)]
enum Block {
    Neither,
    Near,
    Far,
}

impl Portion {
    /// Whether this pair is compared in this portion. Each pair is compared in exactly one portion.
    #[inline]
    pub fn compares(&self, a: u32, b: u32) -> bool {
        if self.block.is_empty() {
            return true;
        }
        match (self.block[a as usize], self.block[b as usize]) {
            (Block::Near, Block::Near) => self.within_near,
            (Block::Far, Block::Far) => self.within_far,
            (Block::Neither, _) | (_, Block::Neither) => false,
            _ => true,
        }
    }
}

/// What a portion may always have, in bytes.
pub(super) const LEAST: u64 = 1 << 16;

impl Portions {
    /// Divides the candidates into portions of at most `budget` bytes where possible; `bytes` is the size of a
    /// candidate. A portion may always have [`LEAST`] bytes, so that a budget that is much too small does not make thousands.
    pub fn new(is_candidate: &[bool], tables: &[Table], bytes: impl Fn(u32) -> u64, budget: u64) -> Self {
        let groups = is_candidate.len();
        let candidates: Vec<u32> = (0..groups as u32).filter(|&group| is_candidate[group as usize]).collect();
        Self::of(candidates, is_candidate, tables, bytes, budget.max(LEAST))
    }

    fn of(
        mut order: Vec<u32>,
        is_candidate: &[bool],
        tables: &[Table],
        bytes: impl Fn(u32) -> u64,
        budget: u64,
    ) -> Self {
        let groups = is_candidate.len();
        if order.iter().map(|&group| bytes(group)).sum::<u64>() <= budget {
            let all = 0..order.len();
            return Portions { order, loads: vec![Load::whole(all)] };
        }
        let mut components = UnionFind::<u32>::new(groups);
        for table in tables {
            for run in 0..table.runs() {
                let mut members = table.run(run).iter().filter(|&&group| is_candidate[group as usize]);
                let Some(&first) = members.next() else { continue };
                members.for_each(|&other| {
                    components.union(first, other);
                });
            }
        }
        // A component is identified by its first group.
        let mut first = vec![u32::MAX; groups];
        for &group in &order {
            let label = components.find(group) as usize;
            first[label] = first[label].min(group);
        }
        let component: Vec<u32> = (0..groups as u32).map(|group| first[components.find(group) as usize]).collect();
        order.sort_by_key(|&group| component[group as usize]);

        let mut loads = Vec::new();
        let (mut start, mut at, mut taken) = (0, 0, 0);
        for members in order.chunk_by(|&a, &b| component[a as usize] == component[b as usize]) {
            let own: u64 = members.iter().map(|&group| bytes(group)).sum();
            if taken > 0 && taken + own > budget {
                loads.push(Load::whole(start..at));
                (start, taken) = (at, 0);
            }
            if own > budget {
                loads.extend(blocks(members, at, &bytes, budget / 2));
                start = at + members.len();
            } else {
                taken += own;
            }
            at += members.len();
        }
        if start < at {
            loads.push(Load::whole(start..at));
        }
        Portions { order, loads }
    }

    /// The number of portions.
    pub fn len(&self) -> usize {
        self.loads.len()
    }

    /// One of the portions, for `groups` groups of documents in all.
    pub fn get(&self, number: usize, groups: usize) -> Portion {
        let load = &self.loads[number];
        let (near, far) = (&self.order[load.near.clone()], &self.order[load.far.clone()]);
        let mut block = Vec::new();
        if !far.is_empty() {
            block.resize(groups, Block::Neither);
            near.iter().for_each(|&group| block[group as usize] = Block::Near);
            far.iter().for_each(|&group| block[group as usize] = Block::Far);
        }
        let mut together = [near, far].concat();
        together.sort_unstable();
        let whole = self.loads.len() == 1;
        Portion { groups: together, block, within_near: load.within_near, within_far: load.within_far, whole }
    }
}

impl Load {
    fn whole(range: Range<usize>) -> Self {
        Load { far: range.end..range.end, near: range, within_near: true, within_far: false }
    }
}

/// The loads of a component that does not fit: every two of its blocks once. The pairs within a block are compared when
/// it is loaded with the next one; those of the last block, with the one before.
fn blocks(members: &[u32], offset: usize, bytes: &impl Fn(u32) -> u64, most: u64) -> impl Iterator<Item = Load> {
    let (mut blocks, mut start, mut taken) = (Vec::new(), 0, 0);
    for (at, &group) in members.iter().enumerate() {
        let own = bytes(group);
        if at > start && taken + own > most {
            blocks.push(offset + start..offset + at);
            (start, taken) = (at, 0);
        }
        taken += own;
    }
    blocks.push(offset + start..offset + members.len());
    let last = blocks.len() - 1;
    let alone = (last == 0).then(|| Load::whole(blocks[0].clone()));
    let two = (0..last).flat_map(move |i| (i + 1..=last).map(move |j| (i, j)));
    let of_two = two.map(move |(i, j)| {
        let (within_near, within_far) = (j == i + 1, j == last && i + 1 == last);
        Load { near: blocks[i].clone(), far: blocks[j].clone(), within_near, within_far }
    });
    alone.into_iter().chain(of_two)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]

        #[test]
        fn every_two_of_a_run_are_together_in_exactly_one_portion(
            runs in prop::collection::vec(prop::collection::btree_set(0u32..40, 2..9), 0..12),
            sizes in prop::collection::vec(1u64..50, 40),
            budget in 0u64..400,
        ) {
            let runs: Vec<Vec<u32>> = runs.into_iter().map(|run| run.into_iter().collect()).collect();
            let table = Table::of_runs(&runs);
            let is_candidate: Vec<bool> = (0..40).map(|group| runs.iter().flatten().any(|&member| member == group)).collect();
            let candidates: Vec<u32> = (0..40).filter(|&group| is_candidate[group as usize]).collect();
            let tables = [table];
            let portions = Portions::of(candidates.clone(), &is_candidate, &tables, |group| sizes[group as usize], budget);
            let mut met: BTreeMap<(u32, u32), u32> = BTreeMap::new();
            for number in 0..portions.len() {
                let portion = portions.get(number, 40);
                prop_assert!(portion.groups.is_sorted());
                let bytes: u64 = portion.groups.iter().map(|&group| sizes[group as usize]).sum();
                // A document that is larger than half the budget is a block by itself.
                prop_assert!(bytes <= budget + 2 * 50);
                for (i, &a) in portion.groups.iter().enumerate() {
                    for &b in &portion.groups[i + 1..] {
                        *met.entry((a, b)).or_default() += u32::from(portion.compares(a, b));
                    }
                }
            }
            for run in &runs {
                for (i, &a) in run.iter().enumerate() {
                    for &b in &run[i + 1..] {
                        prop_assert_eq!(met.get(&(a, b)), Some(&1));
                    }
                }
            }
        }
    }
}
