//! Grouping: documents that share a key become candidates. One table at a time is sorted and its runs are walked; there is
//! no map from keys to documents.

use super::corpus::Corpus;
use crate::algorithm::{Algorithm, Compares};
use crate::hash::mix;
use rayon::prelude::*;

/// The keys of every group of distinct documents.
pub(super) enum Keys<'a> {
    /// A fixed number of keys, each computed from the fingerprint when it is needed.
    Computed { algorithm: &'a dyn Algorithm, tables: usize, fingerprints: Fingerprints },
    /// A fixed number of keys, stored.
    Aligned { tables: usize, keys: Vec<u64> },
    /// Any number of keys, stored ascending, with where each document's end; and the fingerprints, if those are compared.
    Free { keys: Vec<u64>, ends: Vec<usize>, fingerprints: Fingerprints },
}

/// Fingerprints back to back, all of the same number of words or with their ends.
#[derive(Default)]
pub(super) struct Fingerprints {
    words: Vec<u64>,
    ends: Vec<usize>,
}

impl Fingerprints {
    #[inline]
    pub fn get(&self, group: u32) -> &[u64] {
        slice(&self.words, &self.ends, group)
    }
}

#[inline]
fn slice<'a>(flat: &'a [u64], ends: &[usize], group: u32) -> &'a [u64] {
    let start = if group == 0 { 0 } else { ends[group as usize - 1] };
    &flat[start..ends[group as usize]]
}

impl<'a> Keys<'a> {
    /// Takes the records of the first document of each group out of the corpus.
    pub fn new(algorithm: &'a dyn Algorithm, corpus: &mut Corpus) -> Self {
        let (words, ends) = take_records(corpus);
        let tables = algorithm.tables();
        match (algorithm.compares(), tables) {
            (Compares::Fingerprints, Some(tables)) => {
                Keys::Computed { algorithm, tables, fingerprints: Fingerprints { words, ends } }
            }
            (Compares::Fingerprints, None) => {
                let fingerprints = Fingerprints { words, ends };
                let (mut keys, mut ends) = (Vec::new(), Vec::new());
                for group in 0..corpus.distinct() as u32 {
                    let start = keys.len();
                    algorithm.keys(fingerprints.get(group), &mut keys);
                    sort_tail(&mut keys, start);
                    ends.push(keys.len());
                }
                Keys::Free { keys, ends, fingerprints }
            }
            (_, Some(tables)) => {
                assert_eq!(words.len(), tables * corpus.distinct(), "every fingerprint must have {tables} keys");
                Keys::Aligned { tables, keys: words }
            }
            (_, None) => {
                let (mut keys, mut sorted_ends) = (Vec::with_capacity(words.len()), Vec::with_capacity(ends.len()));
                for group in 0..corpus.distinct() as u32 {
                    let start = keys.len();
                    keys.extend_from_slice(slice(&words, &ends, group));
                    sort_tail(&mut keys, start);
                    sorted_ends.push(keys.len());
                }
                Keys::Free { keys, ends: sorted_ends, fingerprints: Fingerprints::default() }
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

    /// In how many tables grouping is done. For free keys a table is a range of key values.
    fn tables(&self) -> usize {
        match self {
            Keys::Computed { tables, .. } | Keys::Aligned { tables, .. } => *tables,
            Keys::Free { keys, .. } => (keys.len() / FREE_KEYS_A_TABLE + 1).next_power_of_two(),
        }
    }

    /// Hands over every (key, group) of a table.
    fn each(&self, table: usize, groups: u32, mut each: impl FnMut(u64, u32)) {
        match self {
            Keys::Computed { algorithm, fingerprints, .. } => {
                (0..groups).for_each(|group| each(algorithm.key(fingerprints.get(group), table), group));
            }
            Keys::Aligned { tables, keys } => {
                (0..groups).for_each(|group| each(keys[group as usize * tables + table], group));
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
    }

    /// Whether `table` is where the pair is to be looked at: the two share a key there, and in no earlier table. A pair that
    /// shares many keys is thus compared once, without remembering which pairs were.
    ///
    /// For free keys, `key` is the shared key, and the least one shared decides.
    #[inline]
    pub fn meet_first(&self, table: usize, key: u64, a: u32, b: u32) -> bool {
        match self {
            Keys::Computed { algorithm, fingerprints, .. } => {
                let (a, b) = (fingerprints.get(a), fingerprints.get(b));
                let same = |table| algorithm.key(a, table) == algorithm.key(b, table);
                same(table) && !(0..table).any(same)
            }
            Keys::Aligned { tables, keys } => {
                let (a, b) = (&keys[a as usize * tables..][..*tables], &keys[b as usize * tables..][..*tables]);
                a[table] == b[table] && !a[..table].iter().zip(&b[..table]).any(|(x, y)| x == y)
            }
            Keys::Free { keys, ends, .. } => least_common(slice(keys, ends, a), slice(keys, ends, b)) == Some(key),
        }
    }
}

/// Free keys are split so that one table sorts about this many.
const FREE_KEYS_A_TABLE: usize = 1 << 22;

/// The records of the first document of each group, and where each ends.
fn take_records(corpus: &mut Corpus) -> (Vec<u64>, Vec<usize>) {
    let parts: Vec<(Vec<u64>, Vec<usize>)> = corpus
        .parts
        .iter_mut()
        .map(|part| (std::mem::take(&mut part.records), std::mem::take(&mut part.record_ends)))
        .collect();
    let (mut words, mut ends) = (Vec::new(), Vec::with_capacity(corpus.distinct()));
    words.reserve_exact(parts.iter().map(|(records, _)| records.len()).sum());
    let mut document = 0u32;
    for (records, record_ends) in parts {
        let mut start = 0;
        for end in record_ends {
            if let Some(group) = corpus.group_of(document)
                && corpus.first(group) == document
            {
                words.extend_from_slice(&records[start..end]);
                ends.push(words.len());
            }
            start = end;
            document += 1;
        }
    }
    (words, ends)
}

/// Sorts what stands in `keys` from `start` on, and removes repeats from it.
pub(super) fn sort_tail(keys: &mut Vec<u64>, start: usize) {
    keys[start..].sort_unstable();
    let mut kept = start;
    for i in start..keys.len() {
        if i == start || keys[i] != keys[kept - 1] {
            keys[kept] = keys[i];
            kept += 1;
        }
    }
    keys.truncate(kept);
}

fn least_common(a: &[u64], b: &[u64]) -> Option<u64> {
    let (mut i, mut j) = (0, 0);
    while i < a.len() && j < b.len() {
        match a[i].cmp(&b[j]) {
            std::cmp::Ordering::Less => i += 1,
            std::cmp::Ordering::Greater => j += 1,
            std::cmp::Ordering::Equal => return Some(a[i]),
        }
    }
    None
}

/// The groups of two and more that share a key in one table.
pub(super) struct Table {
    /// The members of all runs, ascending within each.
    pub members: Vec<u32>,
    /// For each run, its key (of free keys; else part of its hash) and where it ends in `members`.
    pub runs: Vec<(u64, u32)>,
}

impl Table {
    /// The members of a run.
    pub fn run(&self, run: usize) -> &[u32] {
        let start = if run == 0 { 0 } else { self.runs[run - 1].1 };
        &self.members[start as usize..self.runs[run].1 as usize]
    }
}

/// Sorts every table, and keeps the runs that can hold a pair.
pub(super) fn groups(keys: &Keys<'_>, corpus: &Corpus) -> Vec<Table> {
    let groups = corpus.distinct() as u32;
    (0..keys.tables()).into_par_iter().map(|table| sorted_runs(keys, corpus, table, groups)).collect()
}

fn sorted_runs(keys: &Keys<'_>, corpus: &Corpus, table: usize, groups: u32) -> Table {
    let mut out = Table { members: Vec::new(), runs: Vec::new() };
    let keep = |run: &mut dyn Iterator<Item = u32>, key: u64, out: &mut Table| {
        let start = out.members.len();
        out.members.extend(run);
        let run = &out.members[start..];
        // With a reference, a run on one side only holds no pair.
        let one_sided = corpus.against()
            && (run.iter().all(|&g| corpus.sides(g).1.is_empty()) || run.iter().all(|&g| corpus.sides(g).0.is_empty()));
        if one_sided {
            out.members.truncate(start);
        } else {
            out.runs.push((key, out.members.len() as u32));
        }
    };
    if matches!(keys, Keys::Free { .. }) {
        let mut records: Vec<(u64, u32)> = Vec::new();
        keys.each(table, groups, |key, group| records.push((key, group)));
        records.sort_unstable();
        for run in records.chunk_by(|a, b| a.0 == b.0).filter(|run| run.len() > 1) {
            keep(&mut run.iter().map(|&(_, group)| group), run[0].0, &mut out);
        }
    } else {
        // Half the memory of (key, group) records: the number of the group takes the place of the key's low bits. Keys that
        // agree in the bits left but not in all are told apart by `meet_first`.
        let bits = u32::BITS - groups.leading_zeros();
        let low = (1u64 << bits) - 1;
        let mut records: Vec<u64> = Vec::with_capacity(groups as usize);
        // Mixed, so that keys need not be hashes: a length or a few bits will do.
        keys.each(table, groups, |key, group| records.push(mix(key) & !low | u64::from(group)));
        records.sort_unstable();
        for run in records.chunk_by(|a, b| a & !low == b & !low).filter(|run| run.len() > 1) {
            keep(&mut run.iter().map(|&record| (record & low) as u32), run[0] & !low, &mut out);
        }
    }
    out
}
