//! Layouts of block tables: which bits of a fingerprint make the keys of which table, and what a search through them
//! costs. Batch, index and plan choose among the same layouts.

use super::combinations::{binomial, combinations};
use std::fmt;

/// A layout of tables that finds every pair of `bits`-bit fingerprints within `distance` of each other (Manku, Jain &
/// Das Sarma, WWW 2007, section 3).
///
/// *One level.* The bits are cut into `blocks` blocks. Two fingerprints that differ in at most `distance` bits differ in
/// at most that many blocks, so they agree on at least `blocks − distance` whole ones. There is one table for each
/// choice of that many blocks, keyed by their bits: C(blocks, distance) tables.
///
/// *Two levels.* The bits that a table of the first level does not use are cut into blocks again. A pair that agrees in
/// the key of the first level has all its differences among these bits, so it agrees on at least `blocks − distance` of
/// these blocks too. The key is both. 64 bits at distance 3 in 4 and 4 blocks make 16 tables with keys of 16 + 12 = 28
/// bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    bits: usize,
    distance: usize,
    blocks: usize,
    /// The number of blocks of the second level.
    again: Option<usize>,
}

impl Layout {
    /// The most tables of a layout with [a given number of them](Self::with_tables).
    pub const MOST_TABLES: usize = 2000;

    /// One level of blocks of nearly equal size, the larger ones first (64 bits in 6: 11, 11, 11, 11, 10, 10).
    ///
    /// # Panics
    /// Unless `distance < blocks <= bits`.
    pub fn one_level(bits: usize, distance: usize, blocks: usize) -> Self {
        assert!(distance < blocks && blocks <= bits, "{blocks} blocks for distance {distance} of {bits} bits");
        Layout { bits, distance, blocks, again: None }
    }

    /// Two levels: `blocks` blocks, and `again` blocks of the bits that a choice of the first ones leaves. `None` if a
    /// level does not have more blocks than the distance, or fewer bits than blocks, or if nothing is left.
    pub fn two_levels(bits: usize, distance: usize, blocks: usize, again: usize) -> Option<Self> {
        // The smallest blocks are left over if the largest are chosen.
        let fits =
            0 < distance && distance < blocks.min(again) && blocks <= bits && again <= distance * (bits / blocks);
        fits.then_some(Layout { bits, distance, blocks, again: Some(again) })
    }

    /// The layout with exactly this many tables, at most [`MOST_TABLES`](Self::MOST_TABLES); `None` if there is none. Of
    /// several it is that of one level, or the one that compares least.
    ///
    /// # Panics
    /// Unless `distance < bits`; the same holds for the functions below.
    pub fn with_tables(bits: usize, distance: usize, tables: usize) -> Option<Self> {
        if tables > Self::MOST_TABLES {
            return None;
        }
        let tables = tables as f64;
        let most = if distance == 0 { 1 } else { bits };
        let mut one = (distance + 1..=most).take_while(|&blocks| binomial(blocks, distance) <= tables);
        one.find(|&blocks| binomial(blocks, distance) == tables)
            .map(|blocks| Self::one_level(bits, distance, blocks))
            .or_else(|| every(bits, distance, tables).into_iter().find(|layout| layout.tables() == tables))
    }

    /// The layouts with at most this many tables, ascending by their number. Layouts that compare no less than one with
    /// fewer tables are left out.
    pub fn all(bits: usize, distance: usize, most_tables: usize) -> Vec<Self> {
        let mut best = f64::INFINITY;
        let mut all = every(bits, distance, most_tables.min(Self::MOST_TABLES) as f64);
        all.retain(|layout| {
            let is_better = layout.share() < best;
            best = best.min(layout.share());
            is_better
        });
        all
    }

    /// The numbers of tables of all layouts, ascending: those that [`with_tables`](Self::with_tables) takes.
    pub fn numbers_of_tables(bits: usize, distance: usize) -> Vec<usize> {
        let blocks = distance + 1..=if distance == 0 { 1 } else { bits };
        let one =
            blocks.map(|blocks| binomial(blocks, distance)).take_while(|&tables| tables <= Self::MOST_TABLES as f64);
        let two = every(bits, distance, Self::MOST_TABLES as f64).into_iter().map(|layout| layout.tables());
        let mut all: Vec<usize> = one.chain(two).map(|tables| tables as usize).collect();
        all.retain(|&tables| tables <= Self::MOST_TABLES);
        all.sort_unstable();
        all.dedup();
        all
    }

    /// The number of bits of a fingerprint.
    pub fn bits(&self) -> usize {
        self.bits
    }

    /// The most bits in which a pair that is found differs.
    pub fn distance(&self) -> usize {
        self.distance
    }

    /// The number of blocks of the first level.
    pub fn blocks(&self) -> usize {
        self.blocks
    }

    /// The number of blocks of the second level, if there is one.
    pub fn blocks_again(&self) -> Option<usize> {
        self.again
    }

    /// The number of tables. A whole number, exact below 2⁵³.
    pub fn tables(&self) -> f64 {
        binomial(self.blocks, self.distance) * self.again.map_or(1.0, |again| binomial(again, self.distance))
    }

    /// The numbers of bits that keys have, ascending, each with the number of tables that have such keys.
    pub fn key_bits(&self) -> Vec<(u32, f64)> {
        let mut key_bits: Vec<(u32, f64)> = Vec::new();
        for (first, ways) in choices(self.bits, self.blocks, self.distance) {
            match self.again {
                None => key_bits.push((first as u32, ways)),
                Some(again) => key_bits.extend(
                    choices(self.bits - first, again, self.distance)
                        .map(|(second, more)| ((first + second) as u32, ways * more)),
                ),
            }
        }
        key_bits.sort_unstable_by_key(|&(bits, _)| bits);
        key_bits.dedup_by(|next, kept| {
            let is_same = next.0 == kept.0;
            kept.1 += if is_same { next.1 } else { 0.0 };
            is_same
        });
        key_bits
    }

    /// The fewest and the most bits of a key.
    pub fn key_bits_range(&self) -> (u32, u32) {
        let key_bits = self.key_bits();
        (key_bits[0].0, key_bits[key_bits.len() - 1].0)
    }

    /// The number of tables in which two random fingerprints share a key, on average.
    pub fn share(&self) -> f64 {
        self.key_bits().into_iter().map(|(bits, tables)| tables * 0.5f64.powi(bits as i32)).sum()
    }

    /// The fingerprints that the most frequent key of a table has on average, if they are random: those that a probe
    /// returns at most.
    pub fn candidates_of_a_probe(&self, documents: f64) -> f64 {
        documents * 0.5f64.powi(self.key_bits_range().0 as i32)
    }

    /// The fingerprints that the probes of one query return together, if they are random.
    pub fn candidates(&self, documents: f64) -> f64 {
        documents * self.share()
    }

    /// The pairs that a self-join compares over all tables, if the fingerprints are random.
    pub fn compared(&self, documents: f64) -> f64 {
        documents * documents / 2.0 * self.share()
    }

    /// For each table, the bits that make its key, as one mask a word. The tables are in the order of Manku's: 012, 013,
    /// …; those of the second level within those of the first.
    pub(super) fn masks(&self) -> Vec<Vec<u64>> {
        let all: Vec<usize> = (0..self.bits).collect();
        let mut masks = Vec::new();
        for (chosen, rest) in selections(&all, self.blocks, self.distance) {
            match self.again {
                None => masks.push(mask(self.bits, &[&chosen])),
                Some(again) => masks.extend(
                    selections(&rest, again, self.distance)
                        .into_iter()
                        .map(|(more, _)| mask(self.bits, &[&chosen, &more])),
                ),
            }
        }
        masks
    }
}

/// As `blocks`, or `blocks` and those of the second level: `6`, `4x4`.
impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.again {
            None => self.blocks.fmt(f),
            Some(again) => write!(f, "{}x{again}", self.blocks),
        }
    }
}

/// The most blocks of a level beyond the fewest, except where the number of blocks or tables is given.
const MORE_BLOCKS: usize = 15;

/// The layouts with at most this many tables, ascending by their number, and one of each number; at least that of the
/// fewest blocks.
pub(super) fn every(bits: usize, distance: usize, most_tables: f64) -> Vec<Layout> {
    let fewest = distance + 1;
    // At distance 0 more blocks make the same key.
    let most = if distance == 0 { fewest } else { bits.min(fewest + MORE_BLOCKS) };
    let one = (fewest..=most).map(|blocks| Layout::one_level(bits, distance, blocks));
    let two = (fewest..=most)
        .flat_map(|first| (fewest..=most).filter_map(move |again| Layout::two_levels(bits, distance, first, again)));
    let mut every: Vec<(f64, bool, f64, Layout)> = one
        .chain(two)
        .filter(|layout| layout.tables() <= most_tables || (layout.blocks == fewest && layout.again.is_none()))
        .map(|layout| (layout.tables(), layout.again.is_some(), layout.share(), layout))
        .collect();
    every.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)).then(a.2.total_cmp(&b.2)));
    every.dedup_by_key(|layout| layout.0);
    every.into_iter().map(|(.., layout)| layout).collect()
}

/// `bits` in `blocks` parts, the larger first.
fn block_sizes(bits: usize, blocks: usize) -> impl Iterator<Item = usize> {
    (0..blocks).map(move |i| bits / blocks + usize::from(i < bits % blocks))
}

/// The numbers of bits that a choice of all but `distance` of the blocks can have, each with the number of such choices.
fn choices(bits: usize, blocks: usize, distance: usize) -> impl Iterator<Item = (usize, f64)> {
    // Blocks have two sizes: what counts is how many of the larger ones are chosen.
    let (large, chosen) = (bits % blocks, blocks - distance);
    (0..=chosen.min(large)).filter(move |of_large| chosen - of_large <= blocks - large).map(move |of_large| {
        let ways = binomial(large, of_large) * binomial(blocks - large, chosen - of_large);
        (chosen * (bits / blocks) + of_large, ways)
    })
}

/// These bits in blocks: for each choice of all but `distance` of the blocks, the bits chosen and the rest.
fn selections(positions: &[usize], blocks: usize, distance: usize) -> Vec<(Vec<usize>, Vec<usize>)> {
    let mut left = positions;
    let cut: Vec<&[usize]> = block_sizes(positions.len(), blocks)
        .map(|size| {
            let (block, rest) = left.split_at(size);
            left = rest;
            block
        })
        .collect();
    let of = |numbers: &dyn Fn(usize) -> bool| {
        (0..blocks).filter(|&block| numbers(block)).flat_map(|block| cut[block].iter().copied()).collect()
    };
    combinations(blocks, blocks - distance)
        .into_iter()
        .map(|chosen| (of(&|block| chosen.contains(&block)), of(&|block| !chosen.contains(&block))))
        .collect()
}

fn mask(bits: usize, positions: &[&[usize]]) -> Vec<u64> {
    let mut mask = vec![0u64; bits.div_ceil(64)];
    positions.iter().copied().flatten().for_each(|&bit| mask[bit / 64] |= 1 << (bit % 64));
    mask
}

#[cfg(test)]
mod tests {
    use super::super::{BlockTables, distance as apart};
    use super::*;
    use proptest::prelude::*;

    /// Numbers of Manku, Jain & Das Sarma 2007, section 3, for 2³⁴ fingerprints of 64 bits and distance 3.
    #[test]
    fn the_designs_of_the_paper() {
        let documents = 2f64.powi(34);
        let of = |tables| {
            let layout = Layout::with_tables(64, 3, tables).unwrap();
            (layout.to_string(), layout.key_bits_range(), layout.candidates_of_a_probe(documents))
        };
        assert_eq!(of(4), ("4".into(), (16, 16), 262_144.0));
        assert_eq!(of(10), ("5".into(), (25, 26), 512.0));
        assert_eq!(of(16), ("4x4".into(), (28, 28), 64.0));
        assert_eq!(of(20), ("6".into(), (31, 33), 8.0));
        let candidates = |tables| Layout::with_tables(64, 3, tables).unwrap().candidates(documents);
        assert_eq!([4, 10, 16, 20].map(candidates), [1_048_576.0, 3584.0, 1024.0, 88.0]);
        assert_eq!(Layout::one_level(64, 3, 6).key_bits(), [(31, 4.0), (32, 12.0), (33, 4.0)]);
        let numbers: Vec<f64> = Layout::all(64, 3, 60).iter().map(Layout::tables).collect();
        assert_eq!(numbers, [4.0, 10.0, 16.0, 20.0, 35.0, 56.0]);
        assert_eq!([0, 17, 2001, usize::MAX].map(|tables| Layout::with_tables(64, 3, tables)), [None; 4]);
    }

    #[test]
    fn numbers_of_tables_are_those_that_have_a_layout() {
        for (bits, distance) in [(32, 0), (64, 1), (64, 3), (64, 10), (128, 6), (384, 12)] {
            let has_layout = |tables: &usize| Layout::with_tables(bits, distance, *tables).is_some();
            let expected: Vec<usize> = (0..=Layout::MOST_TABLES).filter(has_layout).collect();
            assert_eq!(Layout::numbers_of_tables(bits, distance), expected, "{bits} {distance}");
        }
    }

    #[test]
    fn expected_pairs_for_a_hundred_million_codes() {
        // k = 3, N = 1e8: m = 4 compares 3.1e11 pairs, m = 5 1.0e9, m = 6 2.6e7.
        let near = |blocks, expected: f64| {
            let got = Layout::one_level(64, 3, blocks).compared(1e8);
            assert!((got / expected - 1.0).abs() < 0.05, "{blocks} blocks: {got}");
        };
        near(4, 3.05e11);
        near(5, 1.04e9);
        near(6, 2.6e7);
    }

    #[test]
    fn more_documents_take_more_tables() {
        let tables = |documents| Layout::cheapest(64, 3, documents).tables();
        assert_eq!((tables(1e4), tables(1e8)), (4.0, 10.0));
        assert!(tables(1e10) >= 16.0);
        assert_eq!(Layout::cheapest(64, 0, 1e12).to_string(), "1");
    }

    #[test]
    fn an_index_has_keys_that_are_long_enough() {
        let tables = |distance, documents| Layout::for_index(64, distance, documents).tables();
        assert_eq!([1e4, 1e6, 1e8, 1e9, 4e9].map(|documents| tables(3, documents)), [4.0, 10.0, 10.0, 16.0, 16.0]);
        for (distance, documents) in [(3, 4e9), (6, 1e7), (8, 5e7), (10, 1.3e6)] {
            let layout = Layout::for_index(64, distance, documents);
            let is_short = layout.candidates_of_a_probe(documents) > 1024.0;
            assert!(!is_short || layout.compares_all(documents), "{layout:?}");
        }
        // Keys that are too short are not looked up.
        let shortest = Layout::for_index(64, 20, 1e9);
        assert_eq!((shortest.tables(), shortest.compares_all(1e9)), (21.0, true));
    }

    /// The numbers of tables and of key bits are those of the tables themselves.
    fn check_counts(layout: Layout) {
        let tables = BlockTables::of(&layout);
        assert_eq!(tables.len() as f64, layout.tables(), "{layout:?}");
        let mut expected: Vec<(u32, f64)> = Vec::new();
        let mut all: Vec<u32> = (0..tables.len()).map(|table| tables.key_bits(table)).collect();
        all.sort_unstable();
        all.chunk_by(|a, b| a == b).for_each(|same| expected.push((same[0], same.len() as f64)));
        assert_eq!(layout.key_bits(), expected, "{layout:?}");
    }

    #[test]
    fn counts_are_those_of_the_tables() {
        for (bits, distance) in [(32, 0), (32, 3), (64, 1), (64, 3), (64, 7), (96, 4), (128, 6), (256, 12), (384, 12)] {
            let all = every(bits, distance, 300.0);
            assert!(all.iter().any(|layout| layout.again.is_some()) || distance == 0, "{bits} {distance}");
            all.into_iter().for_each(check_counts);
        }
        assert_eq!(every(64, 40, 1.0).len(), 1, "there is always one");
    }

    #[test]
    fn levels_that_do_not_fit_are_none() {
        for (distance, blocks, again) in [(0, 1, 1), (3, 3, 4), (3, 4, 3), (3, 65, 4), (3, 4, 49), (3, 60, 4)] {
            assert_eq!(Layout::two_levels(64, distance, blocks, again), None, "{distance} {blocks} {again}");
        }
        check_counts(Layout::two_levels(64, 3, 4, 20).unwrap());
        check_counts(Layout::two_levels(64, 3, 5, 5).unwrap());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// Fingerprints with up to as many differing bits as allowed, anywhere or next to each other, in each layout.
        #[test]
        fn every_pair_within_the_distance_shares_a_key_in_each_layout(
            (bits, distance) in prop::sample::select(vec![(32, 2), (32, 5), (64, 3), (64, 6), (96, 3), (128, 4), (256, 9)]),
            a in any::<[u64; 4]>(),
            flips in prop::collection::vec(0usize..256, 0..10),
            start in 0usize..256,
            together: bool,
        ) {
            let mut a = a[..usize::div_ceil(bits, 64)].to_vec();
            if bits % 64 > 0 {
                *a.last_mut().unwrap() &= (1 << (bits % 64)) - 1;
            }
            let mut b = a.clone();
            for (number, flip) in flips.iter().take(distance).enumerate() {
                let bit = if together { start + number } else { *flip } % bits;
                b[bit / 64] ^= 1 << (bit % 64);
            }
            prop_assert!(apart(&a, &b) as usize <= distance);
            for layout in every(bits, distance, 130.0) {
                let tables = BlockTables::of(&layout);
                prop_assert!((0..tables.len()).any(|table| tables.key(&a, table) == tables.key(&b, table)), "{:?}", layout);
            }
        }
    }
}
