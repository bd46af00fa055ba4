//! Disjoint sets of numbers, joined one pair at a time (Tarjan & van Leeuwen 1984, *Worst-case analysis of set union
//! algorithms*): union by size, and path halving on every look-up.

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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
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
    }
}
