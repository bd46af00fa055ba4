//! Which members of a run are compared with which: where some are of a reference, its documents are not compared with each
//! other.

use super::corpus::Corpus;
use std::ops::Range;

/// Numbered members with the sides of their documents. Those that have documents of the reference come first.
///
/// Each pair that may be compared is met once, from one of its two members: the row. Without a reference, rows meet what comes
/// after them. A member that has only documents of the reference is no row: rows meet it wherever it is. So a run takes one
/// step for each row and member, however many are of the reference.
pub(super) struct Sided {
    /// Whether each member is a row; empty without documents of a reference.
    is_row: Vec<bool>,
    /// Members below this number have documents of the reference.
    first: u32,
    /// Whether the others are compared with these alone.
    against: bool,
}

impl Sided {
    /// These groups of documents, ascending, numbered from 0.
    pub fn new(corpus: &Corpus, groups: impl Iterator<Item = u32> + Clone) -> Self {
        let first = groups.clone().take_while(|&group| corpus.is_reference(corpus.first(group))).count() as u32;
        let is_row =
            if first == 0 { Vec::new() } else { groups.map(|group| !corpus.is_reference_only(group)).collect() };
        Sided { is_row, first, against: corpus.against() }
    }

    #[inline]
    fn is_row(&self, member: u32) -> bool {
        self.is_row.is_empty() || self.is_row[member as usize]
    }

    /// Passes the positions of those members of a run to a function that the one at this position meets.
    #[inline]
    pub fn each_met(&self, run: &[u32], at: usize, mut each: impl FnMut(usize)) {
        let (earlier, later) = self.met(run, at);
        earlier.filter(|&position| !self.is_row[run[position] as usize]).for_each(&mut each);
        later.for_each(each);
    }

    /// The positions that the member at this one meets: those before it that are no rows, and all after it.
    #[inline]
    fn met(&self, run: &[u32], at: usize) -> (Range<usize>, Range<usize>) {
        let all_later = at + 1..run.len();
        if self.is_row.is_empty() {
            return (0..0, if self.against { 0..0 } else { all_later });
        }
        if !self.is_row[run[at] as usize] {
            return (0..0, 0..0);
        }
        if run[at] < self.first {
            return (0..at, all_later);
        }
        let later = if self.against { 0..0 } else { all_later };
        (0..run.partition_point(|&member| member < self.first), later)
    }

    /// Whether the member at this position may meet others.
    #[inline]
    pub fn meets(&self, run: &[u32], at: usize) -> bool {
        self.is_row(run[at]) && (!self.is_row.is_empty() || (!self.against && at + 1 < run.len()))
    }

    /// The members in an order in which each pair that may be compared has one of the first, and how many these are: the rows,
    /// or, if they are compared with the reference alone, the members with documents of it if they are fewer. `None` if
    /// every pair may be compared. `members` is the number of all.
    pub fn rows_first(&self, members: u32) -> Option<(Vec<u32>, usize)> {
        if self.is_row.is_empty() && !self.against {
            return None;
        }
        let rows = (0..members).filter(|&member| self.is_row(member)).count();
        let is_first = |member: &u32| match self.against && (self.first as usize) < rows {
            true => *member < self.first,
            false => self.is_row(*member),
        };
        let (mut order, rest): (Vec<u32>, Vec<u32>) = (0..members).partition(is_first);
        let rows = order.len();
        order.extend(rest);
        Some((order, rows))
    }

    /// The maximum number of steps that a run takes.
    pub fn steps(&self, run: &[u32]) -> u64 {
        let members = run.len() as u64;
        if self.is_row.is_empty() {
            return members * members.saturating_sub(1) / 2;
        }
        run.iter().filter(|&&member| self.is_row(member)).count() as u64 * members
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_pair_that_may_be_compared_is_met_once(
            // Whether each member has documents of the reference only, or others too; and which are in the run.
            of_reference in prop::collection::vec(any::<bool>(), 0..8),
            others in 0usize..8,
            is_in_run in prop::collection::vec(any::<bool>(), 16),
            against: bool,
        ) {
            let (first, members) = (of_reference.len(), of_reference.len() + others);
            let has_others = |member: usize| member >= first || !of_reference[member];
            let is_row = if first == 0 { Vec::new() } else { (0..members).map(has_others).collect() };
            let sided = Sided { is_row, first: first as u32, against };
            let across = |a: usize, b: usize| a < first && has_others(b);
            let may_pair = |a: u32, b: u32| {
                let (a, b) = (a as usize, b as usize);
                if against { across(a, b) || across(b, a) } else { has_others(a) || has_others(b) }
            };
            let run: Vec<u32> = (0..members as u32).filter(|&member| is_in_run[member as usize]).collect();
            let (mut met, mut steps) = (Vec::new(), 0);
            for at in 0..run.len() {
                let before = met.len();
                sided.each_met(&run, at, |position| met.push((run[at.min(position)], run[at.max(position)])));
                prop_assert!(met.len() == before || sided.meets(&run, at));
                steps += met.len() - before;
            }
            met.sort_unstable();
            let pairs = run.iter().enumerate().flat_map(|(at, &a)| run[at + 1..].iter().map(move |&b| (a, b)));
            let expected: Vec<(u32, u32)> = pairs.filter(|&(a, b)| may_pair(a, b)).collect();
            prop_assert_eq!(met, expected);
            prop_assert!(steps as u64 <= sided.steps(&run));
            match sided.rows_first(members as u32) {
                None => prop_assert!(!against && first == 0),
                Some((order, rows)) => {
                    let mut sorted = order.clone();
                    sorted.sort_unstable();
                    prop_assert!(sorted.into_iter().eq(0..members as u32));
                    for (at, &a) in order.iter().enumerate().skip(rows) {
                        prop_assert!(order[at + 1..].iter().all(|&b| !may_pair(a.min(b), a.max(b))));
                    }
                }
            }
        }
    }
}
