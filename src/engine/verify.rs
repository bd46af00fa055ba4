//! Verification: every candidate pair is compared once, by the algorithm's own exact measure.

use super::Side;
use super::corpus::Corpus;
use super::group::{Keys, Table, sort_distinct};
use super::portions::Portion;
use super::read::{Numbered, Reader, Scratch};
use crate::algorithm::{Algorithm, Compares, Setup};
use crate::hash::sequence_hash;
use crate::similarity::Similarity;
use crate::source::{Place, Problem, Severity};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

/// Two groups of distinct documents at or above the threshold; `a < b`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edge {
    pub a: u32,
    pub b: u32,
    pub similarity: Similarity,
}

/// What pairs are compared by.
pub(super) enum Evidence {
    /// The fingerprints, which the keys hold.
    Fingerprints,
    /// The feature sets of the candidates.
    Sets(Sets),
}

/// Ascending sets, with where each group's is.
pub(super) struct Sets {
    flat: Vec<u64>,
    /// Where each set starts, and its length.
    at: Vec<(usize, u32)>,
    /// By group, the number of its set, from 1; 0 where there is none.
    number: Vec<u32>,
}

impl Sets {
    fn new(groups: usize, sets: usize) -> Self {
        Sets { flat: Vec::new(), at: Vec::with_capacity(sets), number: vec![0; groups] }
    }

    #[inline]
    pub fn get(&self, group: u32) -> &[u64] {
        let Some(set) = self.number[group as usize].checked_sub(1) else { return &[] };
        let (start, length) = self.at[set as usize];
        &self.flat[start..][..length as usize]
    }

    /// Says where a group's set is.
    fn place(&mut self, group: u32, start: usize, length: usize) {
        let length = u32::try_from(length).expect("a document has fewer than 2³² features");
        self.at.push((start, length));
        self.number[group as usize] = self.at.len() as u32;
    }
}

/// The sets of the candidates of one part.
#[derive(Default)]
struct Chunk {
    flat: Vec<u64>,
    ends: Vec<(u32, usize)>,
}

/// A set, or a multiset: sorted. Returns how much is left.
fn sorted(compares: Compares, features: &mut [u64]) -> usize {
    match compares {
        Compares::Fingerprints => features.len(),
        Compares::Features => sort_distinct(features),
        Compares::Multisets => {
            features.sort_unstable();
            features.len()
        }
    }
}

/// The wanted group that a document stands for: the first document of each does.
fn stands_for(corpus: &Corpus, wanted: &[bool], document: u32) -> Option<u32> {
    corpus.group_of(document).filter(|&group| wanted[group as usize] && corpus.first(group) == document)
}

impl Evidence {
    /// From the features that reading kept.
    pub fn retained(compares: Compares, corpus: &mut Corpus, wanted: &[bool]) -> Self {
        let (mut flat, ends) = (std::mem::take(&mut corpus.features), std::mem::take(&mut corpus.feature_ends));
        let mut sets = Sets::new(corpus.distinct(), 0);
        // Each is sorted where it stands.
        let (mut rest, mut start) = (&mut flat[..], 0);
        let mut own: Vec<(u32, usize, &mut [u64])> = Vec::new();
        for (document, end) in (0..).zip(ends) {
            let (features, behind) = rest.split_at_mut(end - start);
            if let Some(group) = stands_for(corpus, wanted, document) {
                own.push((group, start, features));
            }
            (rest, start) = (behind, end);
        }
        let placed: Vec<(u32, usize, usize)> =
            own.into_par_iter().map(|(group, start, features)| (group, start, sorted(compares, features))).collect();
        placed.into_iter().for_each(|(group, start, length)| sets.place(group, start, length));
        sets.flat = flat;
        Evidence::Sets(sets)
    }

    /// By reading everything again and making the features of the wanted groups. A document that is not what it was is left without a
    /// set, so that no pair with it is reported, and its problem is added.
    pub fn reread(
        reader: &Reader<'_>,
        sources: &mut [Side<'_>],
        setup: &Setup,
        corpus: &Corpus,
        wanted: &[bool],
        problems: &mut BTreeMap<u32, Problem>,
    ) -> Self {
        let compares = setup.algorithm.compares();
        let (sets, changed) = made_again(reader, sources, setup, compares, corpus, wanted);
        problems.extend(changed);
        Evidence::Sets(sets)
    }
}

/// What the algorithm makes of the wanted groups, by reading everything again: their fingerprints, sets or multisets. A document
/// that is not what it was has none, and makes a problem.
pub(super) fn made_again(
    reader: &Reader<'_>,
    sources: &mut [Side<'_>],
    setup: &Setup,
    made: Compares,
    corpus: &Corpus,
    wanted: &[bool],
) -> (Sets, Vec<(u32, Problem)>) {
    let wanted_count = wanted.iter().filter(|&&wanted| wanted).count();
    let (mut sets, mut problems) = (Sets::new(corpus.distinct(), wanted_count), Vec::new());
    let mut read = 0;
    let work = |_: &(), numbered: Numbered, scratch: &mut Scratch| {
        let number = numbered.number;
        let (mut chunk, mut problems) = (Chunk::default(), Vec::new());
        let bytes = numbered.batch.bytes_read();
        // The documents of the batch that are wanted, each with its record and its group.
        let records = corpus.records_of_part(number);
        let sought: Vec<(u32, u32, u32)> =
            records.filter_map(|(record, d)| stands_for(corpus, wanted, d).map(|group| (record, d, group))).collect();
        let (mut next, mut found) = (sought.iter().peekable(), 0);
        let is_sought = &mut |record| next.next_if(|sought| sought.0 == record).is_some();
        numbered.batch.selected(is_sought, &mut |record, read| {
            // Repairs are known from the first reading.
            let Ok(read) = read else { return };
            while found < sought.len() && sought[found].0 < record {
                problems.push((sought[found].1, changed_since(corpus, sought[found].1)));
                found += 1;
            }
            let (_, document, group) = sought[found];
            found += 1;
            reader.tokenize(setup, &read.text, scratch);
            if sequence_hash(scratch.tokens.hashes(), reader.options.seed) == corpus.sequence(group) {
                let Scratch { tokens, features, .. } = scratch;
                features.clear();
                setup.algorithm.features(tokens, features);
                let start = chunk.flat.len();
                if made == Compares::Fingerprints {
                    setup.algorithm.fingerprint(features, &mut chunk.flat);
                } else {
                    chunk.flat.extend_from_slice(&features.hashes);
                }
                let length = sorted(made, &mut chunk.flat[start..]);
                chunk.flat.truncate(start + length);
                chunk.ends.push((group, chunk.flat.len()));
            } else {
                problems.push((document, changed(read.place, corpus.id(document))));
            }
        });
        problems.extend(sought[found..].iter().map(|&(_, document, _)| (document, changed_since(corpus, document))));
        (bytes, chunk, problems)
    };
    // Nothing is chosen any more, so that beginning cannot fail.
    let begun = reader.in_parallel(
        sources,
        |_| Ok(()),
        work,
        |(bytes, chunk, found): (u64, Chunk, _)| {
            reader.observer.progress(bytes, 0);
            read += 1;
            let mut start = sets.flat.len();
            for (group, end) in chunk.ends {
                let end = sets.flat.len() + end;
                sets.place(group, start, end - start);
                start = end;
            }
            sets.flat.extend_from_slice(&chunk.flat);
            problems.extend::<Vec<(u32, Problem)>>(found);
            Ok(())
        },
    );
    debug_assert!(begun.is_ok());
    if let Some(missing) = corpus.first_document_of_part(read) {
        problems.push((missing, changed_since(corpus, missing)));
    }
    (sets, problems)
}

/// The problem of a document that is no longer where it was.
fn changed_since(corpus: &Corpus, document: u32) -> Problem {
    changed(Place { path: corpus.id(document).into(), line: None }, corpus.id(document))
}

fn changed(place: Place, id: &str) -> Problem {
    let message = format!("document '{id}' changed between being read and being verified; no pair with it is reported");
    Problem { place, severity: Severity::Failed, message }
}

/// A piece of work: some runs of a table, or some rows of one long run.
enum Task {
    Runs { table: usize, from: usize, to: usize },
    Rows { table: usize, run: usize, from: usize, to: usize },
}

/// About how many pairs make a task.
const TASK_PAIRS: u64 = 1 << 16;

/// Pieces of work for all runs but the hot ones.
fn tasks(tables: &[Table], is_hot: impl Fn(usize) -> bool) -> Vec<Task> {
    let mut tasks = Vec::new();
    for (number, table) in tables.iter().enumerate() {
        let (mut from, mut pairs) = (0, 0);
        let runs = |from, to| Task::Runs { table: number, from, to };
        for run in 0..table.runs() {
            let members = table.run(run).len() as u64;
            if is_hot(members as usize) {
                if from < run {
                    tasks.push(runs(from, run));
                }
                (from, pairs) = (run + 1, 0);
                continue;
            }
            let own = members * (members - 1) / 2;
            if own >= TASK_PAIRS {
                if from < run {
                    tasks.push(runs(from, run));
                }
                let rows = (TASK_PAIRS / members).max(1) as usize;
                for first in (0..members as usize).step_by(rows) {
                    let to = (first + rows).min(members as usize);
                    tasks.push(Task::Rows { table: number, run, from: first, to });
                }
                (from, pairs) = (run + 1, 0);
                continue;
            }
            pairs += own;
            if pairs >= TASK_PAIRS {
                tasks.push(runs(from, run + 1));
                (from, pairs) = (run + 1, 0);
            }
        }
        if from < table.runs() {
            tasks.push(runs(from, table.runs()));
        }
    }
    tasks
}

/// From so many members on a run is hot: its pairs are not all looked at, if the algorithm knows a way around that.
const HOT: usize = 512;

/// A run of many members, most of which may share no more than what brought them here: a licence, a page's frame.
///
/// Within the run the rarest elements of each set decide, as in an exact join: of two sets at or above the threshold the first
/// common element, rare ones first, is in the prefix of both. What very many members share comes last in the order, and is in no prefix.
struct HotRun {
    /// The members that have each element of a prefix, as numbers within the run, ascending, back to back.
    holders: Vec<u32>,
    /// For each member, the ranges of `holders` that it is in, from behind itself to the end.
    behind: Vec<(u32, u32)>,
    behind_ends: Vec<u32>,
}

impl HotRun {
    /// Cost: a look at each element of each set, a selection of the prefixes, a sort of those of their elements that are not one
    /// member's alone. Some 24 bytes for each of them, and 4 for each of up to 16 million classes of elements.
    fn new(algorithm: &dyn Algorithm, members: &[u32], sets: &Sets) -> Self {
        let total: usize = members.iter().map(|&member| sets.get(member).len()).sum();
        let classes = (total / 2).next_power_of_two().clamp(1 << 12, 1 << 24);
        let class = |element: u64| element as usize & (classes - 1);
        let mut counts = vec![0u32; classes];
        for &member in members {
            sets.get(member).iter().for_each(|&element| counts[class(element)] += 1);
        }
        let mut held: Vec<(u64, u32)> = members
            .par_iter()
            .enumerate()
            .flat_map_iter(|(number, &member)| {
                let set = sets.get(member);
                let mut order: Vec<(u32, u64)> = set.iter().map(|&element| (counts[class(element)], element)).collect();
                let length = if set.is_empty() { 0 } else { algorithm.prefix(set.len()).unwrap_or(set.len()) };
                if length < order.len() {
                    order.select_nth_unstable(length);
                    order.truncate(length);
                }
                order.retain(|(count, _)| *count > 1);
                order.into_iter().map(move |(_, element)| (element, number as u32))
            })
            .collect();
        held.par_sort_unstable();
        let mut behind: Vec<(u32, u32, u32)> = Vec::new();
        let mut at = 0u32;
        for group in held.chunk_by(|a, b| a.0 == b.0) {
            let end = at + group.len() as u32;
            behind.extend((at + 1..end).zip(group).map(|(from, &(_, number))| (number, from, end)));
            at = end;
        }
        behind.par_sort_unstable();
        let mut behind_ends = vec![0; members.len()];
        behind.iter().for_each(|&(number, ..)| behind_ends[number as usize] += 1);
        let mut end = 0;
        for count in &mut behind_ends {
            end += *count;
            *count = end;
        }
        HotRun {
            holders: held.into_iter().map(|(_, number)| number).collect(),
            behind: behind.into_iter().map(|(_, from, end)| (from, end)).collect(),
            behind_ends,
        }
    }

    /// The members after this one that share an element of its prefix with it, once each. `marks` has a place for each member, and
    /// is of use to one thread.
    fn partners<'a>(&'a self, number: u32, marks: &'a mut [u32]) -> impl Iterator<Item = u32> + 'a {
        let start = if number == 0 { 0 } else { self.behind_ends[number as usize - 1] };
        let ranges = &self.behind[start as usize..self.behind_ends[number as usize] as usize];
        let all = ranges.iter().flat_map(|&(from, end)| &self.holders[from as usize..end as usize]);
        // No member is its own partner, so that its own number is free to be the mark.
        all.copied().filter(move |&other| std::mem::replace(&mut marks[other as usize], number) != number)
    }
}

/// Compares every candidate pair of a portion once, and adds those at or above the threshold. Returns how many were compared.
pub(super) fn edges(
    algorithm: &dyn Algorithm,
    keys: &Keys<'_>,
    tables: &[Table],
    evidence: &Evidence,
    corpus: &Corpus,
    portion: &Portion,
    edges: &mut Vec<Edge>,
) -> u64 {
    let compared = AtomicU64::new(0);
    let compare = |(table, key): (usize, u64), (a, b): (u32, u32), count: &mut u64, found: &mut Vec<Edge>| {
        if !corpus.may_pair(a, b) || !portion.compares(a, b) {
            return;
        }
        let similarity = match evidence {
            // Comparing fingerprints is cheaper than asking whether it is this table's turn.
            Evidence::Fingerprints => {
                *count += 1;
                let similarity = algorithm.compare(keys.fingerprint(a), keys.fingerprint(b));
                similarity.filter(|_| keys.meet_first(table, key, a, b))
            }
            Evidence::Sets(sets) => {
                let (of_a, of_b) = (sets.get(a), sets.get(b));
                // Sizes are at hand; whose turn it is takes a look at the keys.
                let may = !of_a.is_empty() && !of_b.is_empty() && algorithm.sizes_can_reach(of_a.len(), of_b.len());
                if !may || !keys.meet_first(table, key, a, b) {
                    return;
                }
                *count += 1;
                algorithm.compare(of_a, of_b)
            }
        };
        found.extend(similarity.map(|similarity| Edge { a, b, similarity }));
    };
    let work = |task: &Task| {
        let mut found = Vec::new();
        let mut count = 0;
        let mut row = |table: usize, run: usize, i: usize| {
            let (members, key) = (tables[table].run(run), tables[table].key(run));
            let a = members[i];
            members[i + 1..].iter().for_each(|&b| compare((table, key), (a, b), &mut count, &mut found));
        };
        match *task {
            Task::Runs { table, from, to } => {
                for run in from..to {
                    (0..tables[table].run(run).len()).for_each(|i| row(table, run, i));
                }
            }
            Task::Rows { table, run, from, to } => (from..to).for_each(|i| row(table, run, i)),
        }
        compared.fetch_add(count, Ordering::Relaxed);
        found
    };
    let is_hot =
        |members: usize| members >= HOT && matches!(evidence, Evidence::Sets(_)) && algorithm.prefix(1).is_some();
    let mut found: Vec<Vec<Edge>> = tasks(tables, is_hot).par_iter().map(work).collect();
    if let Evidence::Sets(sets) = evidence {
        for (number, table) in tables.iter().enumerate() {
            for run in (0..table.runs()).filter(|&run| is_hot(table.run(run).len())) {
                let (members, place) = (table.run(run), (number, table.key(run)));
                let hot = HotRun::new(algorithm, members, sets);
                let marks = || vec![u32::MAX; members.len()];
                let rows = (0..members.len() as u32).into_par_iter().map_init(marks, |marks, i| {
                    let (mut count, mut found) = (0, Vec::new());
                    for partner in hot.partners(i, marks) {
                        let pair = (members[i as usize], members[partner as usize]);
                        compare(place, pair, &mut count, &mut found);
                    }
                    compared.fetch_add(count, Ordering::Relaxed);
                    found
                });
                found.extend(rows.filter(|found| !found.is_empty()).collect::<Vec<_>>());
            }
        }
    }
    edges.reserve(found.iter().map(Vec::len).sum());
    // Each piece is freed as it is moved over.
    found.into_iter().for_each(|piece| edges.extend(piece));
    compared.into_inner()
}
