//! Every pair of given 64-bit codes within a Hamming distance.
//!
//! The plain idea is the block tables of the parent module: group the codes that agree in the blocks of a table, and
//! compare those. Three techniques make it fast.
//!
//! *Partitioning in two steps.* A table is not sorted. The codes are dealt into buckets by a few bits of a table's first block,
//! such that a bucket fits into a core's cache; this is the only step that goes through memory, and tables that have their
//! first block in common share it. Each bucket is then dealt into small ones, where codes agree in nearly all of a table's
//! bits.
//!
//! *Short codes.* What is compared in a small bucket are 32 bits: the two halves of a code, combined by exclusive or.
//! Two differing bits may then cancel each other, but no difference is added. So every pair within the distance passes,
//! and of random pairs that are not within it one in a million. Passing pairs are compared in full.
//!
//! *No memory of pairs.* A pair that agrees in several tables is reported by the first of them, which follows from the
//! two codes alone.

use super::cost::JOIN;
use super::{BlockTables, Layout, combinations};
use crate::kernel::Level;
use crate::kernel::near::{PADDING, ROWS, near};
use rayon::prelude::*;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Two codes within the distance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Near {
    /// The index of the first code.
    pub a: u32,
    /// The index of the second code, `a < b`.
    pub b: u32,
    /// The number of bits in which they differ.
    pub distance: u32,
}

/// Returns every pair of codes that differ in at most `distance` bits, ascending.
///
/// Cost: see [`each_pair_within`]; and 12 bytes a pair.
///
/// # Panics
/// If there are more than 2³² − 1 codes.
pub fn pairs_within(codes: &[u64], distance: u32) -> Vec<Near> {
    let pairs = Mutex::new(Vec::new());
    each_pair_within(codes, distance, |found| pairs.lock().expect("nobody panicked").extend_from_slice(found));
    let mut pairs = pairs.into_inner().expect("nobody panicked");
    pairs.par_sort_unstable();
    pairs
}

/// Passes every pair of codes that differ in at most `distance` bits to `visit`, once, in batches of thousands. The
/// order is unspecified, and the threads of the current rayon pool call `visit` concurrently.
///
/// Where many codes are equal they are compared as one code; their pairs are still passed one by one.
///
/// Cost: 12 bytes a code, and 36 more for each code in a bucket of thousands, whatever is found. The number of blocks
/// is the cheapest by an estimate for random codes, or none, in which case each code is compared with each. For
/// distance 3 these are the four tables of four blocks up to about twenty million codes, then the ten of five. Distinct
/// codes that agree in a block more often than by chance cost the square of their number.
///
/// ```
/// let codes = [0b0000, 0b1111, 0b0111, 0b0000];
/// let pairs = neardups::hamming::pairs_within(&codes, 1);
/// let pairs: Vec<_> = pairs.iter().map(|pair| (pair.a, pair.b, pair.distance)).collect();
/// assert_eq!(pairs, [(0, 3, 0), (1, 2, 1)]);
/// ```
///
/// # Panics
/// If there are more than 2³² − 1 codes.
pub fn each_pair_within(codes: &[u64], distance: u32, visit: impl Fn(&[Near]) + Sync) {
    each_pair_while(codes, codes.len(), distance, |found| {
        visit(found);
        true
    });
}

/// As [`each_pair_within`], until `visit` returns false: it may then be called a few more times, and pairs are missing.
/// Returns the number of pairs that were compared, the same for any number of threads; `None` if it was stopped.
///
/// Only pairs with one of the first `rows` codes are passed. The others are not compared with each other.
///
/// # Panics
/// If there are more than 2³² − 1 codes, or fewer than `rows`.
pub(crate) fn each_pair_while(
    codes: &[u64],
    rows: usize,
    distance: u32,
    visit: impl Fn(&[Near]) -> bool + Sync,
) -> Option<u64> {
    assert!(u32::try_from(codes.len()).is_ok(), "{} codes are more than 32 bits can number", codes.len());
    assert!(rows <= codes.len(), "{rows} rows of {} codes", codes.len());
    let distance = distance.min(u64::BITS);
    Join::new(codes, rows, distance, cheapest(codes.len(), rows, distance), SIZES).run(&visit)
}

/// Passes every pair of one of the `rows` and one of the `columns` that differ in at most `distance` bits to `each`, by their
/// indices. The rows should be few hundred or more, so that a column is compared with several at a time.
///
/// Cost: a comparison of each row with each column and each other row, of which one test rejects 64; and a copy of them, 4
/// bytes each.
pub(crate) fn each_across(rows: &[u64], columns: &[u64], distance: u32, mut each: impl FnMut(usize, usize)) {
    let mut folded: Vec<u32> = rows.iter().chain(columns).map(|&code| fold(code)).collect();
    let length = folded.len();
    folded.resize(length + PADDING, 0);
    near(Level::current(), &folded, length, 0..rows.len(), distance, &mut |row, other| {
        if let Some(column) = other.checked_sub(rows.len())
            && (rows[row] ^ columns[column]).count_ones() <= distance
        {
            each(row, column);
        }
    });
}

/// The number of blocks that costs least for this many codes; `None` if comparing each of the rows with each costs less.
fn cheapest(codes: usize, rows: usize, distance: u32) -> Option<usize> {
    let (codes, rows, distance) = (codes as f64, rows as f64, distance as usize);
    let blocks = distance + 1..=64.min(distance + 16);
    let layout = JOIN.cheapest(blocks.map(|blocks| Layout::one_level(64, distance, blocks)), codes)?;
    // Tables share the first step, which deals the codes by each block that can come first.
    let first_step = (distance as f64 + 1.0) * codes * JOIN.enter;
    let each_with_each = rows * JOIN.comparing_all(64, codes - rows / 2.0);
    (first_step + JOIN.all(&layout, codes) < each_with_each).then(|| layout.blocks())
}

/// The assignment of codes to buckets: by some of their bits, multiplied.
///
/// The highest bits of the product depend on all bits of the mask. If the mask is one block, no wider than the bits
/// taken (and skipped), then different blocks go into different buckets, because multiplication by an odd number is
/// one-to-one.
struct Deal {
    mask: u64,
    factor: u64,
    /// The number of highest bits of the product that are skipped, and of the next bits that make the number of the
    /// bucket.
    skip: u32,
    bits: u32,
}

impl Deal {
    /// By `bits` bits, or as many as the mask has beyond those skipped.
    fn new(mask: u64, skip: u32, bits: u32) -> Self {
        // 2⁶⁴ by the golden ratio, shifted so that the highest bit of the mask meets the highest of the product.
        let factor = 0x9e37_79b9_7f4a_7c15u64.unbounded_shl(mask.leading_zeros());
        Deal { mask, factor, skip, bits: bits.min(mask.count_ones() - skip) }
    }

    fn buckets(&self) -> usize {
        1 << self.bits
    }

    #[inline]
    fn bucket(&self, code: u64) -> usize {
        // Two shifts, because one by 64 is none.
        ((code & self.mask).wrapping_mul(self.factor) << self.skip >> 1 >> (63 - self.bits)) as usize
    }
}

/// The tables that share their first block.
struct Group {
    first: Deal,
    /// The number of each table, and how it deals the buckets of the first step on.
    tables: Vec<(usize, Deal)>,
}

/// The sizes of the units of work. The pairs do not depend on them.
#[derive(Clone, Copy)]
struct Sizes {
    /// The least number of codes in a chunk that is dealt into buckets separately.
    chunk: usize,
    /// A bucket of the first step should hold this many codes to twice as many: dealt again, they fit into the cache of
    /// a core.
    bucket: usize,
    /// The same for a small bucket, if the blocks have enough bits.
    small: usize,
    /// In a small bucket that is larger than this, equal codes are grouped before anything is compared.
    many: usize,
    /// The number of rows of such a bucket that make a unit of work.
    rows: usize,
    /// The number of pairs in a batch.
    pairs: usize,
}

const SIZES: Sizes =
    Sizes { chunk: 1 << 16, bucket: 1 << 15, small: 1 << 5, many: 1 << 12, rows: 64 * ROWS, pairs: 1 << 12 };

/// Folds the two halves of a code into one by exclusive or. It never increases the distance of two codes.
#[inline]
fn fold(code: u64) -> u32 {
    (code ^ code >> 32) as u32
}

struct Join<'a> {
    codes: &'a [u64],
    /// Of each pair, one is below this number.
    rows: usize,
    distance: u32,
    /// The bits in which two codes must agree to meet in a table.
    masks: Vec<u64>,
    groups: Vec<Group>,
    sizes: Sizes,
}

impl<'a> Join<'a> {
    /// With tables for this many blocks, or with a single table in which all codes meet.
    fn new(codes: &'a [u64], rows: usize, distance: u32, blocks: Option<usize>, sizes: Sizes) -> Self {
        let bits = (codes.len() / sizes.bucket).checked_ilog2().unwrap_or(0);
        let Some(blocks) = blocks else {
            let all = Group { first: Deal::new(0, 0, 0), tables: vec![(0, Deal::new(0, 0, 0))] };
            return Join { codes, rows, distance, masks: vec![0], groups: vec![all], sizes };
        };
        let tables = BlockTables::new(64, blocks, distance as usize);
        let masks: Vec<u64> = tables.masks.iter().map(|mask| mask[0]).collect();
        let chosen = combinations(blocks, blocks - distance as usize);
        let single = BlockTables::new(64, blocks, blocks - 1);
        let mut groups: Vec<Group> = Vec::new();
        let mut number = 0;
        for choices in chosen.chunk_by(|a, b| a[0] == b[0]) {
            let block = single.masks[choices[0][0]][0];
            let first = Deal::new(block, 0, bits);
            let small = (codes.len() >> first.bits) / sizes.small;
            let small = small.checked_ilog2().unwrap_or(0);
            let tables = choices
                .iter()
                .map(|_| {
                    let rest = masks[number] & !block;
                    let deal = if rest == 0 { Deal::new(block, first.bits, small) } else { Deal::new(rest, 0, small) };
                    number += 1;
                    (number - 1, deal)
                })
                .collect();
            groups.push(Group { first, tables });
        }
        Join { codes, rows, distance, masks, groups, sizes }
    }

    /// Returns the number of pairs that were compared; `None` if `visit` returned false.
    fn run(&self, visit: &(impl Fn(&[Near]) -> bool + Sync)) -> Option<u64> {
        let progress = Progress::default();
        let mut dealt = Dealt::default();
        for group in &self.groups {
            dealt.fill(self.codes, &group.first, self.sizes.chunk);
            (0..group.first.buckets()).into_par_iter().for_each_init(
                || (Small::default(), Found::new(visit, &progress, self.sizes.pairs)),
                |(small, found), bucket| {
                    for (table, deal) in &group.tables {
                        if progress.is_stopped() {
                            return;
                        }
                        small.fill(dealt.bucket(bucket), deal);
                        for run in small.runs() {
                            self.compare(*table, &small.folded[run.start..], &small.numbers[run], found);
                        }
                    }
                },
            );
        }
        (!progress.is_stopped()).then(|| progress.compared.into_inner())
    }

    /// Whether a code is a row.
    #[inline]
    fn is_row(&self, number: u32) -> bool {
        (number as usize) < self.rows
    }

    /// Compares the rows of a small bucket with all its codes, which are in the order of their numbers. The folded ones are
    /// followed by others.
    fn compare<V: Fn(&[Near]) -> bool + Sync>(
        &self,
        table: usize,
        folded: &[u32],
        numbers: &[u32],
        found: &mut Found<'_, V>,
    ) {
        let rows = match self.rows == self.codes.len() {
            true => numbers.len(),
            false => numbers.partition_point(|&number| self.is_row(number)),
        };
        if rows == 0 {
            return;
        }
        if numbers.len() > self.sizes.many {
            return self.compare_many(table, numbers, found);
        }
        found.count(rows, numbers.len());
        near(Level::current(), folded, numbers.len(), 0..rows, self.distance, &mut |i, j| {
            let (a, b) = (numbers[i], numbers[j]);
            if let Some(distance) = self.meet_first(table, self.codes[a as usize], self.codes[b as usize]) {
                found.push(a, b, distance);
            }
        });
    }

    /// The same, with each distinct code once, and with all threads.
    fn compare_many<V: Fn(&[Near]) -> bool + Sync>(&self, table: usize, numbers: &[u32], found: &mut Found<'_, V>) {
        let mut sorted: Vec<(u64, u32)> = numbers.iter().map(|&number| (self.codes[number as usize], number)).collect();
        sorted.par_sort_unstable();
        let mut equal: Vec<&[(u64, u32)]> = sorted.chunk_by(|a, b| a.0 == b.0).collect();
        // Rows have the smallest numbers of those with one code.
        let has_row = |equal: &&[(u64, u32)]| self.is_row(equal[0].1);
        equal.sort_by_key(|equal| !has_row(equal));
        let with_rows = equal.partition_point(has_row);
        let mut folded: Vec<u32> = equal.iter().map(|equal| fold(equal[0].0)).collect();
        folded.resize(equal.len() + PADDING, 0);
        found.count(with_rows, equal.len());
        let pieces = with_rows.div_ceil(self.sizes.rows);
        (0..pieces).into_par_iter().for_each_init(
            || Found::new(found.visit, found.progress, found.most),
            |found, piece| {
                if found.progress.is_stopped() {
                    return;
                }
                let rows = piece * self.sizes.rows..with_rows.min((piece + 1) * self.sizes.rows);
                // Equal codes agree in every table.
                for equal in equal[rows.clone()].iter().filter(|_| table == 0) {
                    let rows = equal.iter().enumerate().take_while(|(_, code)| self.is_row(code.1));
                    for (i, a) in rows.take_while(|_| !found.progress.is_stopped()) {
                        equal[i + 1..].iter().for_each(|b| found.push(a.1, b.1, 0));
                    }
                }
                near(Level::current(), &folded, equal.len(), rows, self.distance, &mut |i, j| {
                    if let Some(distance) = self.meet_first(table, equal[i][0].0, equal[j][0].0) {
                        for a in equal[i].iter().take_while(|_| !found.progress.is_stopped()) {
                            let others = equal[j].iter().take_while(|b| self.is_row(a.1) || self.is_row(b.1));
                            others.for_each(|b| found.push(a.1, b.1, distance));
                        }
                    }
                });
            },
        );
    }

    /// The distance of two codes, if it is within `distance` and this is the first table in which they meet.
    #[inline]
    fn meet_first(&self, table: usize, a: u64, b: u64) -> Option<u32> {
        let differ = a ^ b;
        let first = || self.masks.iter().position(|mask| differ & mask == 0);
        (differ.count_ones() <= self.distance && first() == Some(table)).then(|| differ.count_ones())
    }
}

/// The codes in the buckets of the first step, with their numbers. Each chunk of the codes is dealt separately, into
/// its own part of the memory, so a bucket consists of a piece of each chunk.
#[derive(Default)]
struct Dealt {
    codes: Vec<u64>,
    numbers: Vec<u32>,
    chunk: usize,
    /// For each chunk, where its buckets end.
    ends: Vec<Vec<u32>>,
}

impl Dealt {
    fn fill(&mut self, codes: &[u64], deal: &Deal, chunk: usize) {
        self.chunk = codes.len().div_ceil(2 * rayon::current_num_threads()).max(chunk);
        self.codes.resize(codes.len(), 0);
        self.numbers.resize(codes.len(), 0);
        let chunks = codes.par_chunks(self.chunk).enumerate();
        let out = self.codes.par_chunks_mut(self.chunk).zip(self.numbers.par_chunks_mut(self.chunk));
        let dealt = chunks.zip(out).map(|((chunk, codes), (dealt, numbers))| {
            let mut next = starts(codes, deal);
            for (number, &code) in (chunk * self.chunk..).zip(codes) {
                let next = &mut next[deal.bucket(code)];
                dealt[*next as usize] = code;
                numbers[*next as usize] = number as u32;
                *next += 1;
            }
            next
        });
        self.ends = dealt.collect();
    }

    /// The codes of a bucket and their numbers, in pieces.
    fn bucket(&self, bucket: usize) -> impl Iterator<Item = (&[u64], &[u32])> + Clone {
        self.ends.iter().enumerate().map(move |(chunk, ends)| {
            let first = chunk * self.chunk;
            let start = if bucket == 0 { 0 } else { ends[bucket - 1] };
            let piece = first + start as usize..first + ends[bucket] as usize;
            (&self.codes[piece.clone()], &self.numbers[piece])
        })
    }
}

/// Where the buckets begin into which these codes will be dealt.
fn starts(codes: &[u64], deal: &Deal) -> Vec<u32> {
    let mut counts = vec![0u32; deal.buckets()];
    codes.iter().for_each(|&code| counts[deal.bucket(code)] += 1);
    sum_before(&mut counts);
    counts
}

/// Replaces each count by the sum of those before it.
fn sum_before(counts: &mut [u32]) {
    let mut sum = 0;
    for count in counts {
        (*count, sum) = (sum, sum + *count);
    }
}

/// A bucket of the first step, dealt again: the folded codes and their numbers, by small buckets.
#[derive(Default)]
struct Small {
    folded: Vec<u32>,
    numbers: Vec<u32>,
    ends: Vec<u32>,
}

impl Small {
    fn fill<'a>(&mut self, pieces: impl Iterator<Item = (&'a [u64], &'a [u32])> + Clone, deal: &Deal) {
        self.ends.clear();
        self.ends.resize(deal.buckets(), 0);
        for (codes, _) in pieces.clone() {
            codes.iter().for_each(|&code| self.ends[deal.bucket(code)] += 1);
        }
        let length: u32 = self.ends.iter().sum();
        sum_before(&mut self.ends);
        self.numbers.resize(length as usize, 0);
        self.folded.resize(length as usize + PADDING, 0);
        for (codes, numbers) in pieces {
            for (&code, &number) in codes.iter().zip(numbers) {
                let next = &mut self.ends[deal.bucket(code)];
                self.folded[*next as usize] = fold(code);
                self.numbers[*next as usize] = number;
                *next += 1;
            }
        }
    }

    /// The small buckets of two codes and more, as ranges.
    fn runs(&self) -> impl Iterator<Item = std::ops::Range<usize>> {
        let start = |bucket: usize| if bucket == 0 { 0 } else { self.ends[bucket - 1] as usize };
        (0..self.ends.len()).map(move |bucket| start(bucket)..self.ends[bucket] as usize).filter(|run| run.len() > 1)
    }
}

/// The state of a join that its threads share.
#[derive(Default)]
struct Progress {
    is_stopped: AtomicBool,
    compared: AtomicU64,
}

impl Progress {
    fn is_stopped(&self) -> bool {
        self.is_stopped.load(Ordering::Relaxed)
    }
}

/// Pairs that wait until they fill a batch or the join ends.
struct Found<'a, V: Fn(&[Near]) -> bool + Sync> {
    visit: &'a V,
    progress: &'a Progress,
    pairs: Vec<Near>,
    most: usize,
    compared: u64,
}

impl<'a, V: Fn(&[Near]) -> bool + Sync> Found<'a, V> {
    fn new(visit: &'a V, progress: &'a Progress, most: usize) -> Self {
        Found { visit, progress, pairs: Vec::new(), most, compared: 0 }
    }

    /// Counts the comparisons of so many rows with each other and with the rest of the codes.
    fn count(&mut self, rows: usize, codes: usize) {
        let (rows, codes) = (rows as u64, codes as u64);
        self.compared += rows * rows.saturating_sub(1) / 2 + rows * (codes - rows);
    }

    fn push(&mut self, a: u32, b: u32, distance: u32) {
        self.pairs.push(Near { a: a.min(b), b: a.max(b), distance });
        if self.pairs.len() >= self.most {
            self.pass();
        }
    }

    fn pass(&mut self) {
        if !self.pairs.is_empty() && !self.progress.is_stopped() && !(self.visit)(&self.pairs) {
            self.progress.is_stopped.store(true, Ordering::Relaxed);
        }
        self.pairs.clear();
    }
}

impl<V: Fn(&[Near]) -> bool + Sync> Drop for Found<'_, V> {
    fn drop(&mut self) {
        self.pass();
        self.progress.compared.fetch_add(self.compared, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn all_within(codes: &[u64], distance: u32) -> Vec<Near> {
        let mut pairs = Vec::new();
        for (a, x) in (0..).zip(codes) {
            for (b, y) in (0..).zip(codes).skip(a as usize + 1) {
                let apart = (x ^ y).count_ones();
                if apart <= distance {
                    pairs.push(Near { a, b, distance: apart });
                }
            }
        }
        pairs
    }

    fn joined(codes: &[u64], distance: u32, blocks: Option<usize>, sizes: Sizes) -> Vec<Near> {
        joined_with_rows(codes, codes.len(), distance, blocks, sizes)
    }

    fn joined_with_rows(codes: &[u64], rows: usize, distance: u32, blocks: Option<usize>, sizes: Sizes) -> Vec<Near> {
        let pairs = Mutex::new(Vec::new());
        Join::new(codes, rows, distance, blocks, sizes).run(&|found: &[Near]| {
            assert!(!found.is_empty() && found.len() <= sizes.pairs);
            pairs.lock().unwrap().extend_from_slice(found);
            true
        });
        let mut pairs = pairs.into_inner().unwrap();
        pairs.sort_unstable();
        pairs
    }

    /// So small that a few codes fill many chunks and buckets, or such that all have to be put together first.
    const SMALL: [Sizes; 3] = [
        Sizes { chunk: 7, bucket: 4, small: 2, many: 3, rows: ROWS, pairs: 3 },
        Sizes { chunk: 50, bucket: 16, small: 4, many: 1000, rows: 2 * ROWS, pairs: 1 },
        Sizes { chunk: 1000, bucket: 1000, small: 1000, many: 1, rows: ROWS, pairs: 1000 },
    ];

    /// Codes of which most have bits flipped in an earlier one: none, a few, or so many that chance decides.
    fn codes() -> impl Strategy<Value = Vec<u64>> {
        let step = (any::<u64>(), any::<prop::sample::Index>(), prop::collection::vec(0u32..64, 0..9));
        prop::collection::vec(step, 0..120).prop_map(|steps| {
            let mut codes = Vec::new();
            for (code, earlier, flips) in steps {
                let code = if codes.len() < 5 { code } else { codes[earlier.index(codes.len())] };
                codes.push(flips.iter().fold(code, |code, flip| code ^ 1 << flip));
            }
            codes
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn every_number_of_blocks_finds_all_pairs_once(codes in codes(), distance in 0u32..9) {
            let expected = all_within(&codes, distance);
            prop_assert_eq!(pairs_within(&codes, distance), &*expected);
            let blocks = distance as usize + 1..distance as usize + 4;
            for blocks in blocks.map(Some).chain([None]) {
                for sizes in SMALL {
                    prop_assert_eq!(joined(&codes, distance, blocks, sizes), &*expected, "{:?} blocks", blocks);
                }
            }
        }

        #[test]
        fn each_pair_has_a_row(codes in codes(), split in any::<prop::sample::Index>(), distance in 0u32..9) {
            let rows = split.index(codes.len() + 1);
            let mut expected = all_within(&codes, distance);
            expected.retain(|pair| (pair.a as usize) < rows);
            for blocks in [Some(distance as usize + 2), None] {
                for sizes in SMALL {
                    let found = joined_with_rows(&codes, rows, distance, blocks, sizes);
                    prop_assert_eq!(found, &*expected, "{:?} blocks", blocks);
                }
            }
        }

        #[test]
        fn any_distance_is_served(codes in codes(), distance in prop::sample::select(vec![10, 31, 32, 62, 63, 64, 65, u32::MAX])) {
            prop_assert_eq!(pairs_within(&codes, distance), all_within(&codes, distance));
        }

        #[test]
        fn folding_adds_no_difference(a: u64, b: u64) {
            prop_assert!((fold(a) ^ fold(b)).count_ones() <= (a ^ b).count_ones());
        }

        #[test]
        fn a_block_goes_into_buckets_of_its_own(a: u64, b: u64, bits in 0u32..13) {
            // The first block of five, and of four: dealt by some bits, then by the rest.
            for mask in [0x1fff, 0xffff] {
                let (first, rest) = (Deal::new(mask, 0, bits), Deal::new(mask, bits, 64));
                prop_assert!(first.bucket(a) < first.buckets() && rest.bucket(a) < rest.buckets());
                let same = first.bucket(a) == first.bucket(b) && rest.bucket(a) == rest.bucket(b);
                prop_assert_eq!(same, (a ^ b) & mask == 0);
            }
        }
    }

    proptest! {
        #[test]
        fn rows_meet_all_columns(codes in codes(), split in any::<prop::sample::Index>(), distance in 0u32..20) {
            let (rows, columns) = codes.split_at(split.index(codes.len() + 1));
            let mut found = Vec::new();
            each_across(rows, columns, distance, |row, column| found.push((row, column)));
            found.sort_unstable();
            let all = (0..rows.len()).flat_map(|row| (0..columns.len()).map(move |column| (row, column)));
            let near = |&(row, column): &(usize, usize)| (rows[row] ^ columns[column]).count_ones() <= distance;
            prop_assert_eq!(found, all.filter(near).collect::<Vec<_>>());
        }
    }

    #[test]
    fn no_codes_and_one_code_are_no_pair() {
        for codes in [&[][..], &[7]] {
            assert_eq!(pairs_within(codes, 0), []);
            assert_eq!(pairs_within(codes, 64), []);
        }
    }

    #[test]
    fn many_equal_codes_are_compared_once() {
        let copies = 1500;
        let mut codes = vec![0x0123_4567_89ab_cdefu64; copies];
        codes.push(codes[0] ^ 1);
        codes.extend((1..5000u64).map(crate::hash::mix));
        let sizes = Sizes { many: 1000, ..SIZES };
        for blocks in [Some(4), Some(5), None] {
            assert_eq!(joined(&codes, 3, blocks, sizes).len(), copies * (copies - 1) / 2 + copies);
        }
    }

    #[test]
    fn a_join_can_be_stopped() {
        let mut codes = vec![7u64; 100_000];
        codes.extend((0..100_000u64).map(crate::hash::mix));
        for distance in [0, 3, 20] {
            let found = AtomicU64::new(0);
            let compared = each_pair_while(&codes, codes.len(), distance, |pairs| {
                found.fetch_add(pairs.len() as u64, Ordering::Relaxed) < 100_000
            });
            assert_eq!(compared, None);
            // Of five thousand million.
            assert!(found.into_inner() < 10_000_000, "{distance}");
        }
        let some = &codes[100_000..101_000];
        assert_eq!(each_pair_while(some, 1000, 20, |_| true), Some(1000 * 999 / 2));
        assert_eq!(each_pair_while(some, 10, 20, |_| true), Some(10 * 9 / 2 + 10 * 990));
        assert_eq!(each_pair_while(some, 0, 20, |_| true), Some(0));
    }

    #[test]
    fn every_number_of_threads_finds_the_same() {
        // Enough for several chunks and buckets as they are outside of tests.
        let mut codes: Vec<u64> = (0..200_000).map(crate::hash::mix).collect();
        codes.extend((0..1000).map(|i| crate::hash::mix(i) ^ 1 ^ 1 << 20 << (i % 40)));
        let expected: Vec<Near> = (0..1000).map(|a| Near { a, b: 200_000 + a, distance: 2 }).collect();
        for threads in [1, 3] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            assert_eq!(pool.install(|| pairs_within(&codes, 3)), expected, "{threads} threads");
        }
    }

    #[test]
    fn blocks_follow_the_number_of_codes() {
        assert_eq!(
            [10, 1_000_000, 10_000_000, 100_000_000].map(|codes| cheapest(codes, codes, 3)),
            [None, Some(4), Some(4), Some(5)]
        );
        assert_eq!([0, 3, 64].map(|distance| cheapest(1000, 1000, distance)), [Some(1), None, None]);
        assert_eq!(cheapest(0, 0, 3), None);
        assert_eq!(cheapest(1_000_000, 10, 12), None);
    }
}
