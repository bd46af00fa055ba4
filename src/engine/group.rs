//! Grouping: documents that share a key become candidates. One table at a time is sorted and its runs are read; there
//! is no map from keys to documents.

use super::columns::Columns;
use super::corpus::Corpus;
use super::distinct::DistinctRuns;
use super::portions::Portion;
use super::subset::Subset;
use super::table::Table;
use crate::algorithm::{Algorithm, CompareOn};
use crate::error::Error;
use crate::hamming::BlockTables;
use crate::hash::mix;
use crate::kernel::fetch::fetch;
use crate::run::sort::{HashSort, range_of};
use rayon::prelude::*;

/// The keys of every group of distinct documents.
pub(super) enum Keys<'a> {
    /// A fixed number of keys, each computed from the fingerprint when it is needed.
    Computed { keyed: Keyed<'a>, tables: usize, fingerprints: Fingerprints },
    /// A fixed number of keys, stored; and those of the candidates that are being verified.
    Aligned { columns: Columns, rows: Rows },
    /// Any number of keys, stored ascending, with the end of each document's keys; and the fingerprints, if those are
    /// compared.
    Free { keys: Vec<u64>, ends: Vec<usize>, fingerprints: Fingerprints, a_table: usize },
}

/// Makes the keys of fingerprints.
pub(super) struct Keyed<'a> {
    algorithm: &'a dyn Algorithm,
    /// The bits that each key is made of, if that is known: comparing them is faster than making keys.
    blocks: Option<BlockTables>,
}

impl<'a> Keyed<'a> {
    fn by(algorithm: &'a dyn Algorithm) -> Self {
        Keyed { algorithm, blocks: algorithm.layout().map(|layout| BlockTables::of(&layout)) }
    }

    #[inline]
    fn share_key(&self, a: &[u64], b: &[u64], table: usize) -> bool {
        match &self.blocks {
            Some(blocks) => blocks.share_key(a, b, table),
            None => self.algorithm.key(a, table) == self.algorithm.key(b, table),
        }
    }
}

/// The keys of some groups in all tables.
#[derive(Default)]
pub(super) struct Rows {
    tables: usize,
    words: Vec<u64>,
    /// The groups that have a row, in their order.
    groups: Subset,
}

impl Rows {
    #[inline]
    fn get(&self, group: u32) -> &[u64] {
        let row = self.groups.place(group).expect("only candidates are compared");
        &self.words[row * self.tables..][..self.tables]
    }

    /// Prefetches a row: the cache lines of its start and of its middle.
    #[inline]
    fn fetch(&self, group: u32) {
        if let Some(row) = self.groups.place(group) {
            fetch(&self.words, row * self.tables);
            fetch(&self.words, row * self.tables + self.tables / 2);
        }
    }
}

/// Fingerprints back to back.
#[derive(Default)]
pub(super) struct Fingerprints {
    words: Vec<u64>,
    /// The words of each, if all have the same number; otherwise 0.
    width: usize,
    /// The end of each, if they differ in their number of words: reading it is another cache miss for each look-up.
    ends: Vec<usize>,
}

impl Fingerprints {
    fn new(words: Vec<u64>, ends: Vec<usize>) -> Self {
        let width = ends.first().copied().unwrap_or(0);
        match (1..).zip(&ends).all(|(count, &end)| end == count * width) {
            true => Fingerprints { words, width, ends: Vec::new() },
            false => Fingerprints { words, width: 0, ends },
        }
    }

    #[inline]
    pub fn get(&self, group: u32) -> &[u64] {
        match self.width {
            0 => slice(&self.words, &self.ends, group),
            width => &self.words[group as usize * width..][..width],
        }
    }

    /// Prefetches a fingerprint: the cache lines of its start and of its end.
    #[inline]
    fn fetch(&self, group: u32) {
        let start = group as usize * self.width;
        fetch(&self.words, start);
        fetch(&self.words, start + self.width.saturating_sub(1));
    }
}

#[inline]
fn slice<'a>(flat: &'a [u64], ends: &[usize], group: u32) -> &'a [u64] {
    let start = if group == 0 { 0 } else { ends[group as usize - 1] };
    &flat[start..ends[group as usize]]
}

impl<'a> Keys<'a> {
    /// Takes the records of the first document of each group out of the corpus. Tables of free keys are as large as
    /// `memory` allows.
    pub fn new(algorithm: &'a dyn Algorithm, corpus: &mut Corpus, columns: Option<Columns>, memory: u64) -> Self {
        let a_table = (memory / 256).clamp(LEAST_FREE_KEYS_A_TABLE, FREE_KEYS_A_TABLE) as usize;
        if let Some(columns) = columns {
            return Keys::Aligned { columns, rows: Rows::default() };
        }
        let (words, ends) = corpus.take_records();
        let mut sort = HashSort::default();
        let tables = algorithm.tables();
        match (algorithm.compare_on(), tables) {
            (CompareOn::Fingerprints, Some(tables)) => {
                Keys::Computed { keyed: Keyed::by(algorithm), tables, fingerprints: Fingerprints::new(words, ends) }
            }
            (CompareOn::Fingerprints, None) => {
                let fingerprints = Fingerprints::new(words, ends);
                let (mut keys, mut ends) = (Vec::new(), Vec::new());
                for group in 0..corpus.distinct() as u32 {
                    let start = keys.len();
                    algorithm.keys(fingerprints.get(group), &mut keys);
                    let kept = sort.sort_distinct(&mut keys[start..]);
                    keys.truncate(start + kept);
                    ends.push(keys.len());
                }
                Keys::Free { keys, ends, fingerprints, a_table }
            }
            _ => {
                let (mut keys, mut ends) = (words, ends);
                let (mut start, mut kept) = (0, 0);
                for end in &mut ends {
                    let length = sort.sort_distinct(&mut keys[start..*end]);
                    keys.copy_within(start..start + length, kept);
                    (start, kept) = (*end, kept + length);
                    *end = kept;
                }
                keys.truncate(kept);
                Keys::Free { keys, ends, fingerprints: Fingerprints::default(), a_table }
            }
        }
    }

    /// The fingerprint of a group, where fingerprints are compared.
    #[inline]
    pub fn fingerprint(&self, group: u32) -> &[u64] {
        match self {
            Keys::Computed { fingerprints, .. } | Keys::Free { fingerprints, .. } => fingerprints.get(group),
            Keys::Aligned { .. } => &[],
        }
    }

    /// The fingerprints of all groups back to back, where fingerprints are compared.
    pub fn fingerprints(&self) -> &[u64] {
        match self {
            Keys::Computed { fingerprints, .. } | Keys::Free { fingerprints, .. } => &fingerprints.words,
            Keys::Aligned { .. } => &[],
        }
    }

    /// Whether the number of keys varies, so that two documents can share several of them in a table.
    pub fn are_free(&self) -> bool {
        matches!(self, Keys::Free { .. })
    }

    /// Whether the number of keys varies, and fingerprints are not compared.
    pub fn are_free_of_fingerprints(&self) -> bool {
        matches!(self, Keys::Free { fingerprints, .. } if fingerprints.words.is_empty())
    }

    /// The number of tables to group. For free keys, a table is a range of key values.
    fn tables(&self) -> usize {
        match self {
            Keys::Computed { tables, .. } => *tables,
            Keys::Aligned { columns, .. } => columns.tables(),
            Keys::Free { keys, a_table, .. } => (keys.len() / a_table + 1).next_power_of_two(),
        }
    }

    /// Bytes of memory for all groups.
    pub fn bytes_held(&self) -> u64 {
        let (words, ends) = match self {
            Keys::Computed { fingerprints, .. } => (fingerprints.words.len(), fingerprints.ends.len()),
            Keys::Aligned { columns, .. } => return columns.bytes_held(),
            Keys::Free { keys, ends, fingerprints, .. } => {
                (keys.len() + fingerprints.words.len(), ends.len() + fingerprints.ends.len())
            }
        };
        8 * (words + ends) as u64
    }

    /// Bytes of memory per candidate for its keys during verification.
    pub fn bytes_a_candidate(&self) -> u64 {
        match self {
            Keys::Aligned { columns, .. } => 8 * columns.tables() as u64,
            Keys::Computed { .. } | Keys::Free { .. } => 0,
        }
    }

    /// Loads the keys of these candidates, which [`meet_first`](Self::meet_first) compares.
    ///
    /// # Errors
    /// The temporary file of the keys cannot be read back.
    pub fn load(&mut self, portion: &Portion, corpus: &Corpus) -> Result<(), Error> {
        if let Keys::Aligned { columns, rows } = self {
            *rows = Rows::default();
            let words = columns.rows(portion.groups.iter().map(|&group| corpus.first(group)))?;
            if portion.whole {
                // Only the keys of the candidates are needed.
                *columns = Columns::new(columns.tables());
            }
            let groups = Subset::of(corpus.distinct(), portion.groups.iter().copied());
            *rows = Rows { tables: columns.tables(), words, groups };
        }
        Ok(())
    }

    /// Passes every (key, group) of a table to a function.
    fn each(&self, table: usize, corpus: &Corpus, mut each: impl FnMut(u64, u32)) -> Result<(), Error> {
        let groups = corpus.distinct() as u32;
        match self {
            Keys::Computed { keyed, fingerprints, .. } => {
                (0..groups).for_each(|group| each(keyed.algorithm.key(fingerprints.get(group), table), group));
            }
            Keys::Aligned { columns, .. } => {
                // Groups are in the order of their first documents.
                let mut next = 0;
                columns.table(table, |first, keys| {
                    while next < groups
                        && let Some(&key) = keys.get((corpus.first(next) - first) as usize)
                    {
                        each(key, next);
                        next += 1;
                    }
                })?;
            }
            Keys::Free { keys, ends, .. } => {
                let bits = self.tables().trailing_zeros();
                let table_of = |key: u64| if bits == 0 { 0 } else { (mix(key) >> (64 - bits)) as usize };
                for group in 0..groups {
                    let own = slice(keys, ends, group).iter().filter(|&&key| table_of(key) == table);
                    own.for_each(|&key| each(key, group));
                }
            }
        }
        Ok(())
    }

    /// Whether the pair is to be compared in `table`: the two share a key there, and in no earlier table. Thus a pair
    /// that shares many keys is compared once, without a record of the pairs compared.
    ///
    /// For free keys, `key` is the shared key; the pair is compared at its smallest shared key.
    #[inline]
    pub fn meet_first(&self, table: usize, key: u64, a: u32, b: u32) -> bool {
        match self {
            Keys::Computed { keyed, fingerprints, .. } => {
                let (a, b) = (fingerprints.get(a), fingerprints.get(b));
                let same = |table| keyed.share_key(a, b, table);
                same(table) && !(0..table).any(same)
            }
            Keys::Aligned { rows, .. } => {
                let (a, b) = (rows.get(a), rows.get(b));
                a[table] == b[table] && !a[..table].iter().zip(&b[..table]).any(|(x, y)| x == y)
            }
            Keys::Free { .. } => self.least_shared(a, b) == Some(key),
        }
    }

    /// Prefetches what [`meet_first`](Self::meet_first) reads of a group, where keys are stored, and its fingerprint, where
    /// fingerprints are compared.
    #[inline]
    pub fn fetch(&self, group: u32) {
        match self {
            Keys::Aligned { rows, .. } => rows.fetch(group),
            Keys::Computed { fingerprints, .. } | Keys::Free { fingerprints, .. } => fingerprints.fetch(group),
        }
    }

    /// Whether two groups share a key in any table. Of stored keys and of freed ones this is not known here: those with the same
    /// key are in one run.
    pub fn share_key(&self, a: u32, b: u32) -> Option<bool> {
        match self {
            Keys::Computed { keyed, tables, fingerprints } => {
                let (a, b) = (fingerprints.get(a), fingerprints.get(b));
                Some((0..*tables).any(|table| keyed.share_key(a, b, table)))
            }
            Keys::Aligned { .. } => None,
            Keys::Free { ends, .. } => (!ends.is_empty()).then(|| self.least_shared(a, b).is_some()),
        }
    }

    /// Frees the keys, which are not needed once they are grouped if nothing is compared by [`meet_first`](Self::meet_first).
    /// Those that are fingerprints, or computed from them, stay.
    pub fn free_stored(&mut self) {
        match self {
            Keys::Computed { .. } => {}
            Keys::Aligned { columns, .. } => *columns = Columns::new(columns.tables()),
            Keys::Free { keys, ends, fingerprints, .. } if fingerprints.words.is_empty() => {
                (*keys, *ends) = Default::default();
            }
            Keys::Free { .. } => {}
        }
    }

    /// The first key that two groups share, with its table: 0 if keys are free, and then the same for all tables.
    #[inline]
    pub fn first_shared(&self, a: u32, b: u32) -> Option<(usize, u64)> {
        match self {
            Keys::Computed { keyed, tables, fingerprints } => {
                let (a, b) = (fingerprints.get(a), fingerprints.get(b));
                let table = (0..*tables).find(|&table| keyed.share_key(a, b, table))?;
                Some((table, keyed.algorithm.key(a, table)))
            }
            Keys::Aligned { rows, .. } => {
                let mut keys = rows.get(a).iter().zip(rows.get(b)).enumerate();
                keys.find(|(_, (a, b))| a == b).map(|(table, (&key, _))| (table, key))
            }
            Keys::Free { .. } => self.least_shared(a, b).map(|key| (0, key)),
        }
    }

    /// The smallest key that two groups share, where keys are free.
    #[inline]
    pub fn least_shared(&self, a: u32, b: u32) -> Option<u64> {
        match self {
            Keys::Free { keys, ends, .. } => least_common(slice(keys, ends, a), slice(keys, ends, b)),
            Keys::Computed { .. } | Keys::Aligned { .. } => None,
        }
    }
}

/// Free keys are split so that one table sorts about this many, or fewer if there is less memory.
const FREE_KEYS_A_TABLE: u64 = 1 << 22;
const LEAST_FREE_KEYS_A_TABLE: u64 = 1 << 16;

// The cursors advance without branches on the comparison, because its outcome cannot be predicted.
fn least_common(a: &[u64], b: &[u64]) -> Option<u64> {
    let (mut i, mut j) = (0, 0);
    while i < a.len() && j < b.len() {
        let (x, y) = (a[i], b[j]);
        if x == y {
            return Some(x);
        }
        i += usize::from(x < y);
        j += usize::from(y < x);
    }
    None
}

/// What the promise about the memory of the process allows for distinct runs, in addition to a quarter of the memory.
const RUNS_BYTES: u64 = 24 << 20;

/// A table is not cut into ranges to be sorted in less memory than this.
const LEAST_SORTED: u64 = 1 << 20;

/// Sorts every table, and keeps the runs that can hold a pair. As many tables are sorted at a time as fit a quarter of `memory`;
/// one that does not is sorted in ranges of keys, each of which takes one or two passes over all keys of the table. The
/// documents of one key are always in one range.
/// Where keys are free and sets are compared, only [distinct runs](DistinctRuns) are kept.
///
/// # Errors
/// The temporary file of the keys cannot be read back, or distinct runs take more than a quarter of `memory` and 24 MiB.
pub(super) fn groups(keys: &Keys<'_>, corpus: &Corpus, memory: u64) -> Result<Vec<Table>, Error> {
    let a_table = match keys {
        // They grow by doubling.
        Keys::Free { a_table, .. } => 2 * size_of::<(u64, u32)>() * a_table,
        Keys::Computed { .. } | Keys::Aligned { .. } => size_of::<u64>() * corpus.distinct(),
    };
    let at_once = (memory / 4 / a_table.max(1) as u64).clamp(1, keys.tables() as u64) as usize;
    let ranges = (a_table as u64).div_ceil((memory / 4).max(LEAST_SORTED)).max(1);
    let sorted = |first: usize| -> Result<Vec<Table>, Error> {
        let some = first..keys.tables().min(first + at_once);
        some.into_par_iter().map(|table| sorted_runs(keys, corpus, table, ranges)).collect()
    };
    let firsts = (0..keys.tables()).step_by(at_once);
    if !keys.are_free_of_fingerprints() {
        let tables: Result<Vec<Vec<Table>>, Error> = firsts.map(sorted).collect();
        return Ok(tables?.into_iter().flatten().collect());
    }
    let (mut distinct, mut before) = (DistinctRuns::default(), Vec::new());
    let mut add = |tables: Vec<Table>| {
        tables.iter().for_each(|table| distinct.add(table));
        if distinct.bytes_held() > memory / 4 + RUNS_BYTES {
            let message = "which documents share a key does not fit `memory`";
            return Err(Error::Full(format!("{message} ({memory} bytes): allow more")));
        }
        Ok(())
    };
    for first in firsts {
        // Adding takes one thread: meanwhile others sort the next tables.
        let (next, added) = rayon::join(|| sorted(first), || add(std::mem::take(&mut before)));
        added?;
        before = next?;
    }
    add(before)?;
    Ok(distinct.into_tables())
}

/// The low bits of the keys of some groups in one table, where keys are stored; otherwise nothing.
#[derive(Default)]
struct LowBits {
    groups: Subset,
    bits: Vec<u32>,
}

impl LowBits {
    fn of(
        keys: &Keys<'_>,
        table: usize,
        corpus: &Corpus,
        low: u64,
        groups: impl Iterator<Item = u32>,
    ) -> Result<Self, Error> {
        if !matches!(keys, Keys::Aligned { .. }) {
            return Ok(LowBits::default());
        }
        let groups = Subset::of(corpus.distinct(), groups);
        let mut bits = vec![0; groups.len()];
        keys.each(table, corpus, |key, group| {
            groups.place(group).into_iter().for_each(|place| bits[place] = (mix(key) & low) as u32);
        })?;
        Ok(LowBits { groups, bits })
    }

    fn get(&self, group: u32) -> u32 {
        if self.bits.is_empty() { 0 } else { self.groups.place(group).map_or(0, |place| self.bits[place]) }
    }
}

/// The runs of a table that can hold a pair; the keys are sorted in so many ranges, one after the other, if they are not free.
fn sorted_runs(keys: &Keys<'_>, corpus: &Corpus, table: usize, ranges: u64) -> Result<Table, Error> {
    let mut out = Table::default();
    let keep = |run: &mut dyn Iterator<Item = u32>, key: Option<u64>, out: &mut Table| {
        let start = out.members.len();
        out.members.extend(run);
        let run = &out.members[start..];
        // With a reference, a run on one side only holds no pair.
        let is_of_reference = || run.iter().all(|&group| corpus.is_reference_only(group));
        let is_new = || run.iter().all(|&group| !corpus.is_reference(corpus.first(group)));
        if is_of_reference() || (corpus.against() && is_new()) {
            out.members.truncate(start);
        } else {
            out.end_run(key);
        }
    };
    if keys.are_free() {
        let mut records: Vec<(u64, u32)> = Vec::new();
        keys.each(table, corpus, |key, group| records.push((key, group)))?;
        records.sort_unstable();
        for run in records.chunk_by(|a, b| a.0 == b.0).filter(|run| run.len() > 1) {
            keep(&mut run.iter().map(|&(_, group)| group), Some(run[0].0), &mut out);
        }
    } else {
        // Halves the memory of (key, group) records: the number of the group replaces the low bits of the key. Keys
        // that agree only in the remaining bits are separated below if they are stored, or by `meet_first`.
        let groups = corpus.distinct() as u32;
        let bits = u32::BITS - groups.leading_zeros();
        let low = (1u64 << bits) - 1;
        let mut records: Vec<u64> = Vec::with_capacity((groups as usize).div_ceil(ranges as usize));
        for range in 0..ranges {
            records.clear();
            keys.each(table, corpus, |key, group| {
                // Mixed first, because keys need not be hashes: a key may be a length or a few bits.
                let key = mix(key) & !low;
                if range_of(key, ranges) == range {
                    records.push(key | u64::from(group));
                }
            })?;
            records.sort_unstable();
            let runs = || records.chunk_by(|a, b| a & !low == b & !low).filter(|run| run.len() > 1);
            if runs().next().is_none() {
                continue;
            }
            let group_of = |&record: &u64| (record & low) as u32;
            let rest = LowBits::of(keys, table, corpus, low, runs().flatten().map(group_of))?;
            for run in runs() {
                if run.windows(2).all(|two| rest.get(group_of(&two[0])) == rest.get(group_of(&two[1]))) {
                    keep(&mut run.iter().map(group_of), None, &mut out);
                    continue;
                }
                let mut members: Vec<(u32, u32)> =
                    run.iter().map(group_of).map(|group| (rest.get(group), group)).collect();
                members.sort_unstable();
                for run in members.chunk_by(|a, b| a.0 == b.0).filter(|run| run.len() > 1) {
                    keep(&mut run.iter().map(|&(_, group)| group), None, &mut out);
                }
            }
        }
    }
    out.shrink_to_fit();
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Counts;
    use crate::engine::columns::transposed;
    use crate::engine::documents::{Documents, Part};
    use proptest::prelude::*;

    /// Documents without copies that have these keys, in two tables each.
    fn documents(rows: &[[u64; 2]]) -> (Corpus, Columns) {
        let sequences = (0..rows.len() as u128).map(|number| number << 64).collect();
        let part = Part {
            sequences,
            lengths: vec![1; rows.len()],
            featureless: vec![false; rows.len()],
            id_ends: vec![0; rows.len()],
            tables: Some(2),
            columns: transposed(rows.as_flattened(), 2),
            ..Part::default()
        };
        let mut read = Documents::default();
        read.push(&part, false).unwrap();
        let columns = read.columns.take().unwrap();
        (Corpus::gather(read, false, (1 << 20, true), &mut Counts::default()).unwrap(), columns)
    }

    proptest! {
        #[test]
        fn ranges_do_not_show(rows: Vec<(u8, u8)>, ranges in 2..9u64) {
            let rows: Vec<[u64; 2]> = rows.into_iter().map(|(a, b)| [(a % 40).into(), (b % 90).into()]).collect();
            let (corpus, columns) = documents(&rows);
            let keys = Keys::Aligned { columns, rows: Rows::default() };
            for table in 0..2 {
                let runs = |ranges| {
                    let found = sorted_runs(&keys, &corpus, table, ranges).unwrap();
                    (0..found.runs()).map(|run| found.run(run).to_vec()).collect::<Vec<_>>()
                };
                // The slow way: for each key, those that have it.
                let with = |key: u64| (0..).zip(&rows).filter(move |(_, row)| row[table] == key).map(|(group, _)| group);
                let mut expected: Vec<Vec<u32>> =
                    (0..90).map(|key| with(key).collect()).filter(|run: &Vec<u32>| run.len() > 1).collect();
                expected.sort_unstable();
                let (whole, mut parts) = (runs(1), runs(ranges));
                prop_assert_eq!(&whole, &parts);
                parts.sort_unstable();
                prop_assert_eq!(parts, expected);
            }
        }
    }
}
