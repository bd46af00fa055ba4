//! Disjoint sets of numbers, joined one pair at a time (Tarjan & van Leeuwen 1984, *Worst-case analysis of set union
//! algorithms*): union by size, and path halving on every look-up. [`SharedUnionFind`] joins them from many threads.

use std::sync::atomic::{AtomicU32, Ordering};

/// The type of member numbers: `u32` where four bytes are enough.
pub trait Number: Copy + Ord {
    /// The number of an index, which must fit.
    fn new(index: usize) -> Self;
    /// The index.
    fn index(self) -> usize;
}

impl Number for u32 {
    fn new(index: usize) -> Self {
        u32::try_from(index).expect("members are numbered by 32 bits")
    }

    fn index(self) -> usize {
        self as usize
    }
}

impl Number for usize {
    fn new(index: usize) -> Self {
        index
    }

    fn index(self) -> usize {
        self
    }
}

/// The sets. At first each number is a set of its own.
#[derive(Clone, Debug)]
pub struct UnionFind<N> {
    /// A member of the same set that is nearer to its representative; a representative points to itself.
    parents: Vec<N>,
    /// The size of the set, for representatives.
    sizes: Vec<N>,
}

impl<N: Number> UnionFind<N> {
    /// Sets of one number each, from 0.
    pub fn new(members: usize) -> Self {
        UnionFind { parents: (0..members).map(N::new).collect(), sizes: vec![N::new(1); members] }
    }

    /// The representative of the set that a number is in.
    pub fn find(&mut self, member: N) -> N {
        let mut member = member;
        loop {
            let parent = self.parents[member.index()];
            if parent == member {
                return member;
            }
            let grandparent = self.parents[parent.index()];
            self.parents[member.index()] = grandparent;
            member = grandparent;
        }
    }

    /// Whether two numbers are in one set.
    pub fn same(&mut self, a: N, b: N) -> bool {
        self.find(a) == self.find(b)
    }

    /// Joins the sets of two numbers. Returns whether they were different sets.
    pub fn union(&mut self, a: N, b: N) -> bool {
        let (a, b) = (self.find(a), self.find(b));
        if a == b {
            return false;
        }
        let [size_a, size_b] = [a, b].map(|root| self.sizes[root.index()].index());
        let (root, child) = if size_a < size_b { (b, a) } else { (a, b) };
        self.parents[child.index()] = root;
        self.sizes[root.index()] = N::new(size_a + size_b);
        true
    }

    /// The representative of each number's set: equal labels mean one set.
    pub fn into_labels(mut self) -> Vec<N> {
        (0..self.parents.len()).map(|member| self.find(N::new(member))).collect()
    }
}

/// Sets that many threads join at the same time (Anderson & Woll 1991, *Wait-free parallel algorithms for the union-find
/// problem*), linked by number instead of rank. The smallest member of a set represents it, whatever the order of the unions.
///
/// A parent is never larger than its child, and a number that has another parent never represents a set again. So a
/// parent that another thread wrote meanwhile, or overwrites, is a member of the same set, and no cycle is possible.
pub struct SharedUnionFind {
    parents: Vec<AtomicU32>,
}

impl SharedUnionFind {
    /// Sets of one number each, from 0. Takes 4 bytes for each.
    pub fn new(members: usize) -> Self {
        SharedUnionFind { parents: (0..members).map(|member| AtomicU32::new(Number::new(member))).collect() }
    }

    fn parent(&self, member: u32) -> u32 {
        self.parents[member as usize].load(Ordering::Relaxed)
    }

    /// The smallest number of the set that a number is in, once no thread joins any more.
    pub fn find(&self, member: u32) -> u32 {
        let mut member = member;
        loop {
            let parent = self.parent(member);
            if parent == member {
                return member;
            }
            let grandparent = self.parent(parent);
            if grandparent == parent {
                return parent;
            }
            self.parents[member as usize].store(grandparent, Ordering::Relaxed);
            member = grandparent;
        }
    }

    /// Joins the sets of two numbers.
    pub fn union(&self, a: u32, b: u32) {
        let (mut a, mut b) = (a, b);
        loop {
            (a, b) = (self.find(a), self.find(b));
            if a == b {
                return;
            }
            let (root, child) = (a.min(b), a.max(b));
            // It fails if another thread joined the child's set to another one meanwhile.
            let linked =
                self.parents[child as usize].compare_exchange(child, root, Ordering::Relaxed, Ordering::Relaxed);
            if linked.is_ok() {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rayon::prelude::*;

    proptest! {
        #[test]
        fn sets_joined_by_many_threads_are_those_of_one(
            members in 1u32..3000,
            pairs in prop::collection::vec((0u32..3000, 0u32..3000), 0..3000),
        ) {
            let pairs: Vec<(u32, u32)> = pairs.into_iter().filter(|&(a, b)| a.max(b) < members).collect();
            let shared = SharedUnionFind::new(members as usize);
            let pool = rayon::ThreadPoolBuilder::new().num_threads(4).build().unwrap();
            pool.install(|| pairs.par_iter().with_max_len(1).for_each(|&(a, b)| shared.union(a, b)));
            let mut plain = UnionFind::<u32>::new(members as usize);
            for (a, b) in pairs {
                plain.union(a, b);
            }
            let mut smallest = vec![u32::MAX; members as usize];
            for member in (0..members).rev() {
                smallest[plain.find(member) as usize] = member;
            }
            for member in 0..members {
                prop_assert_eq!(shared.find(member), smallest[plain.find(member) as usize]);
            }
        }

        #[test]
        fn labels_are_those_of_a_plain_relabelling(
            members in 0usize..20,
            pairs in prop::collection::vec((0usize..20, 0usize..20), 0..30),
        ) {
            let pairs = pairs.into_iter().filter(|&(a, b)| a.max(b) < members);
            let mut plain: Vec<usize> = (0..members).collect();
            let mut sets = UnionFind::<u32>::new(members);
            for (a, b) in pairs {
                let (from, to) = (plain[a], plain[b]);
                prop_assert_eq!(sets.same(a as u32, b as u32), from == to);
                prop_assert_eq!(sets.union(a as u32, b as u32), from != to);
                plain.iter_mut().filter(|label| **label == from).for_each(|label| *label = to);
            }
            let labels = sets.into_labels();
            for a in 0..members {
                for b in 0..members {
                    prop_assert_eq!(labels[a] == labels[b], plain[a] == plain[b]);
                }
                prop_assert_eq!(labels[labels[a] as usize], labels[a]);
            }
        }
    }

    #[test]
    fn long_chains_stay_flat() {
        let mut sets = UnionFind::<usize>::new(1_000_000);
        (1..1_000_000).for_each(|member| assert!(sets.union(member - 1, member)));
        let root = sets.find(0);
        assert!(sets.into_labels().iter().all(|&label| label == root));
        assert_eq!(UnionFind::<u32>::new(0).into_labels(), [0; 0]);
        let shared = SharedUnionFind::new(1_000_000);
        (1..1_000_000).rev().for_each(|member| shared.union(member - 1, member));
        assert!((0..1_000_000).all(|member| shared.find(member) == 0));
    }
}
