//! Verification: every candidate pair is compared once, by the algorithm's own exact measure.

use super::corpus::Corpus;
use super::group::{Keys, Table, sort_tail};
use super::read::{Numbered, Reader, Scratch};
use super::{Counts, Side};
use crate::algorithm::{Algorithm, Compares, Setup};
use crate::hash::sequence_hash;
use crate::similarity::Similarity;
use crate::source::{Place, Problem, Severity};
use rayon::prelude::*;
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

/// Ascending sets, in chunks, with where each group's is.
pub(super) struct Sets {
    chunks: Vec<Vec<u64>>,
    /// Start, length and chunk, by group; length 0 where there is none.
    at: Vec<(usize, u32, u32)>,
}

impl Sets {
    #[inline]
    pub fn get(&self, group: u32) -> &[u64] {
        let (start, length, chunk) = self.at[group as usize];
        if length == 0 { &[] } else { &self.chunks[chunk as usize][start..][..length as usize] }
    }

    fn collect(groups: usize, chunks: Vec<Chunk>) -> Self {
        let mut sets = Sets { chunks: Vec::with_capacity(chunks.len()), at: vec![(0, 0, 0); groups] };
        for chunk in chunks {
            let mut start = 0;
            for (group, end) in chunk.ends {
                let length = u32::try_from(end - start).expect("a document has fewer than 2³² features");
                sets.at[group as usize] = (start, length, sets.chunks.len() as u32);
                start = end;
            }
            sets.chunks.push(chunk.flat);
        }
        sets
    }
}

/// The sets of the candidates of one part.
#[derive(Default)]
struct Chunk {
    flat: Vec<u64>,
    ends: Vec<(u32, usize)>,
}

impl Chunk {
    /// Adds a set, or a multiset: sorted.
    fn push(&mut self, compares: Compares, group: u32, features: &[u64]) {
        let start = self.flat.len();
        self.flat.extend_from_slice(features);
        match compares {
            Compares::Fingerprints => {}
            Compares::Features => sort_tail(&mut self.flat, start),
            Compares::Multisets => self.flat[start..].sort_unstable(),
        }
        self.ends.push((group, self.flat.len()));
    }
}

/// Which groups are in a run with another.
fn candidates(corpus: &Corpus, tables: &[Table]) -> Vec<bool> {
    let mut candidate = vec![false; corpus.distinct()];
    tables.iter().flat_map(|table| &table.members).for_each(|&group| candidate[group as usize] = true);
    candidate
}

/// The wanted group that a document stands for: the first document of each does.
fn stands_for(corpus: &Corpus, wanted: &[bool], document: u32) -> Option<u32> {
    corpus.group_of(document).filter(|&group| wanted[group as usize] && corpus.first(group) == document)
}

impl Evidence {
    /// From the features that reading kept.
    pub fn retained(compares: Compares, corpus: &mut Corpus, tables: &[Table]) -> Self {
        let candidate = candidates(corpus, tables);
        let mut parts = std::mem::take(&mut corpus.parts);
        let chunks = parts
            .par_iter_mut()
            .zip(&corpus.part_starts)
            .map(|(part, &first)| {
                let (features, ends) = (std::mem::take(&mut part.features), std::mem::take(&mut part.feature_ends));
                let (mut chunk, mut start) = (Chunk::default(), 0);
                for (document, end) in (first..).zip(ends) {
                    if let Some(group) = stands_for(corpus, &candidate, document) {
                        chunk.push(compares, group, &features[start..end]);
                    }
                    start = end;
                }
                chunk.flat.shrink_to_fit();
                chunk
            })
            .collect();
        Evidence::Sets(Sets::collect(corpus.distinct(), chunks))
    }

    /// By reading everything again and making the features of the candidates. A document that is not what it was is named
    /// and counted as failed, and left without a set, so that no pair with it is reported.
    pub fn reread(
        reader: &Reader<'_>,
        sources: &mut [Side<'_>],
        setup: &Setup,
        corpus: &Corpus,
        tables: &[Table],
        counts: &mut Counts,
    ) -> Self {
        let candidate = candidates(corpus, tables);
        let compares = setup.algorithm.compares();
        let (sets, problems) = made_again(reader, sources, setup, compares, corpus, &candidate);
        for problem in problems {
            counts.problem(&problem);
            reader.observer.problem(&problem);
        }
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
) -> (Sets, Vec<Problem>) {
    let (mut chunks, mut problems) = (Vec::new(), Vec::new());
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
                problems.push(changed_since(corpus, sought[found].1));
                found += 1;
            }
            let (_, document, group) = sought[found];
            found += 1;
            reader.tokenize(setup, &read.text, scratch);
            if sequence_hash(scratch.tokens.hashes(), reader.options.seed) == corpus.sequence(group) {
                let Scratch { tokens, features, fingerprint } = scratch;
                features.clear();
                setup.algorithm.features(tokens, features);
                if made == Compares::Fingerprints {
                    fingerprint.clear();
                    setup.algorithm.fingerprint(features, fingerprint);
                    chunk.push(made, group, fingerprint);
                } else {
                    chunk.push(made, group, &features.hashes);
                }
            } else {
                problems.push(changed(read.place, corpus.id(document)));
            }
        });
        problems.extend(sought[found..].iter().map(|&(_, document, _)| changed_since(corpus, document)));
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
            chunks.push(chunk);
            problems.extend::<Vec<Problem>>(found);
        },
    );
    debug_assert!(begun.is_ok());
    if let Some(missing) = corpus.first_document_of_part(read) {
        problems.push(changed_since(corpus, missing));
    }
    (Sets::collect(corpus.distinct(), chunks), problems)
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

fn tasks(tables: &[Table]) -> Vec<Task> {
    let mut tasks = Vec::new();
    for (number, table) in tables.iter().enumerate() {
        let (mut from, mut pairs) = (0, 0);
        let runs = |from, to| Task::Runs { table: number, from, to };
        for run in 0..table.runs.len() {
            let members = table.run(run).len() as u64;
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
        if from < table.runs.len() {
            tasks.push(runs(from, table.runs.len()));
        }
    }
    tasks
}

/// Compares every candidate pair once. Returns the pairs at or above the threshold, sorted, and how many were compared.
pub(super) fn edges(
    algorithm: &dyn Algorithm,
    keys: &Keys<'_>,
    tables: &[Table],
    evidence: &Evidence,
    corpus: &Corpus,
) -> (Vec<Edge>, u64) {
    let compared = AtomicU64::new(0);
    let work = |task: &Task| {
        let mut found = Vec::new();
        let mut count = 0;
        let mut row = |table: usize, run: usize, i: usize| {
            let (members, key) = (tables[table].run(run), tables[table].runs[run].0);
            let a = members[i];
            for &b in &members[i + 1..] {
                if !corpus.may_pair(a, b) {
                    continue;
                }
                let similarity = match evidence {
                    // Comparing fingerprints is cheaper than asking whether it is this table's turn.
                    Evidence::Fingerprints => {
                        count += 1;
                        algorithm
                            .compare(keys.fingerprint(a), keys.fingerprint(b))
                            .filter(|_| keys.meet_first(table, key, a, b))
                    }
                    Evidence::Sets(sets) => keys
                        .meet_first(table, key, a, b)
                        .then(|| {
                            count += 1;
                            let (a, b) = (sets.get(a), sets.get(b));
                            if a.is_empty() || b.is_empty() { None } else { algorithm.compare(a, b) }
                        })
                        .flatten(),
                };
                if let Some(similarity) = similarity {
                    found.push(Edge { a, b, similarity });
                }
            }
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
    let found: Vec<Vec<Edge>> = tasks(tables).par_iter().map(work).collect();
    let mut edges = Vec::with_capacity(found.iter().map(Vec::len).sum());
    // Each piece is freed as it is moved over.
    found.into_iter().for_each(|piece| edges.extend(piece));
    edges.par_sort_unstable_by_key(|edge| (edge.a, edge.b));
    (edges, compared.into_inner())
}
