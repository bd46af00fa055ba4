//! Some of the groups, numbered through: what is kept of a few groups takes no memory for all of them.

/// Some of the numbers below a bound, each with its place among them. Takes two bits for each number below the bound.
#[derive(Clone, Default)]
pub(super) struct Subset {
    blocks: Vec<Block>,
    length: usize,
}

/// 64 numbers, adjacent so that a place takes one access to memory.
#[derive(Clone, Copy, Default)]
struct Block {
    /// A bit for each that is in the subset.
    bits: u64,
    /// The size of the subset before this block.
    before: u32,
}

impl Subset {
    /// These numbers, in any order and however often.
    pub fn of(bound: usize, numbers: impl Iterator<Item = u32>) -> Self {
        let mut blocks = vec![Block::default(); bound.div_ceil(64)];
        numbers.for_each(|number| blocks[number as usize / 64].bits |= 1 << (number % 64));
        let mut length = 0;
        for block in &mut blocks {
            block.before = length as u32;
            length += block.bits.count_ones() as usize;
        }
        Subset { blocks, length }
    }

    /// The numbers that are marked.
    pub fn marked(is_in: &[bool]) -> Self {
        Self::of(is_in.len(), (0..).zip(is_in).filter(|(_, is_in)| **is_in).map(|(number, _)| number))
    }

    /// The size of the subset.
    pub fn len(&self) -> usize {
        self.length
    }

    /// Whether a number is in the subset. None is in the empty one, whatever the bound.
    #[inline]
    pub fn has(&self, number: u32) -> bool {
        self.blocks.get(number as usize / 64).is_some_and(|block| block.bits >> (number % 64) & 1 == 1)
    }

    /// The position of a number in the ascending list, if it is in the subset.
    #[inline]
    pub fn place(&self, number: u32) -> Option<usize> {
        let Block { bits, before } = self.blocks[number as usize / 64];
        let bit = 1u64 << (number % 64);
        (bits & bit != 0).then(|| before as usize + (bits & (bit - 1)).count_ones() as usize)
    }

    /// The numbers, ascending.
    pub fn iter(&self) -> impl Iterator<Item = u32> {
        let of = |(block, bits): (u32, u64)| {
            (0..64).filter(move |bit| bits >> bit & 1 == 1).map(move |bit| 64 * block + bit)
        };
        (0..).zip(self.blocks.iter().map(|block| block.bits)).flat_map(of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn places_are_those_in_a_list(numbers in prop::collection::vec(0u32..300, 0..200)) {
            let mut list = numbers.clone();
            list.sort_unstable();
            list.dedup();
            let subset = Subset::of(300, numbers.into_iter());
            prop_assert_eq!(subset.len(), list.len());
            prop_assert_eq!(subset.iter().collect::<Vec<_>>(), &*list);
            for number in 0..300 {
                prop_assert_eq!(subset.place(number), list.binary_search(&number).ok());
                prop_assert_eq!(subset.has(number), list.contains(&number));
            }
            let marked: Vec<bool> = (0..300).map(|number| list.contains(&number)).collect();
            prop_assert_eq!(Subset::marked(&marked).iter().collect::<Vec<_>>(), list);
        }
    }
}
