//! Verification: every candidate pair is compared once, by the algorithm's own exact measure.

use super::Side;
use super::corpus::Corpus;
use super::edges::{Edge, Found, FoundList};
use super::group::Keys;
use super::hot::HotFamilies;
use super::portions::Portion;
use super::prefixes::Prefixes;
use super::read::Reader;
use super::rows::search_rows;
use super::sets::{Chunk, LastRead, Sets};
use super::sided::Sided;
use super::subset::Subset;
use super::table::{HOT_RUN, Table, hot_run};
use crate::algorithm::{Algorithm, CompareOn, PreparedAlgorithm};
use crate::error::Error;
use crate::kernel::fetch::fetch;
use crate::outline::{Parities, can_reach, parities};
use crate::postings::{self, ASKED, MOST_ASKED, Spilled};
use crate::run::batches::Numbered;
use crate::run::ordered::Load;
use crate::run::sign::{Scratch, Signer, evidence_in};
use crate::run::sort::HashSort;
use crate::similarity::bound::Bound;
use crate::similarity::{Similarity, Threshold};
use crate::source::{Place, Problem, ProblemKind, Severity};
use crate::union_find::SharedUnionFind;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The data that pairs are compared by.
pub(super) enum Evidence {
    /// The fingerprints, which the keys hold.
    Fingerprints,
    /// The feature sets of the candidates.
    Sets(Box<Sets>),
}

/// The wanted group that a document represents: the first document of each group does.
fn stands_for(corpus: &Corpus, wanted: &[bool], document: u32) -> Option<u32> {
    corpus.group_of(document).filter(|&group| wanted[group as usize] && corpus.first(group) == document)
}

impl Evidence {
    /// Makes the sets from the features that reading kept.
    pub fn retained(compare_on: CompareOn, corpus: &mut Corpus, wanted: &[bool]) -> Self {
        let (mut flat, ends) = (std::mem::take(&mut corpus.features), std::mem::take(&mut corpus.feature_ends));
        // Each is sorted in place.
        let (mut rest, mut start) = (&mut flat[..], 0);
        let mut own: Vec<(u32, usize, &mut [u64])> = Vec::new();
        for (document, end) in (0..).zip(ends) {
            let (features, after) = rest.split_at_mut(end - start);
            if let Some(group) = stands_for(corpus, wanted, document) {
                own.push((group, start, features));
            }
            (rest, start) = (after, end);
        }
        let sort = |sort: &mut HashSort, (group, start, features): (u32, usize, &mut [u64])| {
            let length = evidence_in(sort, compare_on, features);
            (group, start, length, parities(&features[..length]))
        };
        let placed: Vec<(u32, usize, usize, Parities)> =
            own.into_par_iter().map_init(HashSort::default, sort).collect();
        Evidence::Sets(Box::new(Sets::of(Subset::marked(wanted), flat, placed)))
    }

    /// Reads everything again and adds the sets of the groups that are missing. A document that changed since the first reading gets no
    /// set, so that no pair with it is reported; its problem is added.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn reread(
        reader: &Reader<'_>,
        sources: &mut [Side<'_>],
        prepared: &PreparedAlgorithm,
        corpus: &Corpus,
        missing: &[bool],
        sets: Sets,
        problems: &mut BTreeMap<u32, Problem>,
    ) -> Result<Self, Error> {
        let compares = prepared.algorithm.compare_on();
        let (sets, changed) = recompute(reader, sources, prepared, compares, corpus, missing, sets)?;
        problems.extend(changed);
        Ok(Evidence::Sets(Box::new(sets)))
    }

    /// The file of the sets, if they are in a [large](Spilled::is_large) one.
    pub fn large_file(&self) -> Option<&Spilled> {
        match self {
            Evidence::Fingerprints => None,
            Evidence::Sets(sets) => sets.large_file(),
        }
    }

    /// Fails if some of it could not be read.
    ///
    /// # Errors
    /// See [`Sets::check`].
    pub fn check(&self) -> Result<(), Error> {
        match self {
            Evidence::Fingerprints => Ok(()),
            Evidence::Sets(sets) => sets.check(),
        }
    }
}

/// Reads everything again and adds the fingerprints, sets or multisets of the wanted groups to `sets`. A document that
/// changed since the first reading has none, and adds a problem.
///
/// # Errors
/// The file of the sets cannot be written.
pub(super) fn recompute(
    reader: &Reader<'_>,
    sources: &mut [Side<'_>],
    prepared: &PreparedAlgorithm,
    made: CompareOn,
    corpus: &Corpus,
    wanted: &[bool],
    mut sets: Sets,
) -> Result<(Sets, Vec<(u32, Problem)>), Error> {
    let signer = Signer::new(prepared, &*reader.options.tokenizer, reader.options.seed);
    let add = |chunk: &mut Chunk, group, _: &str, scratch: &mut Scratch| {
        signer.features(scratch);
        signer.compared(made, scratch, &mut chunk.words);
        chunk.end(group);
        chunk.bytes_held()
    };
    let take = |chunk: Chunk| sets.append(chunk);
    let problems = read_again(reader, sources, prepared, corpus, wanted, add, take)?;
    Ok((sets, problems))
}

/// Reads everything again. `add` receives the wanted groups of each part, with their texts and, in the scratch, their
/// tokens, and returns the bytes that it made of the part so far; `take` receives what it made of each part, in input order. A document that changed since the first reading is
/// left out, and adds a problem.
///
/// # Errors
/// Those of `take`.
pub(super) fn read_again<T: Default + Send>(
    reader: &Reader<'_>,
    sources: &mut [Side<'_>],
    prepared: &PreparedAlgorithm,
    corpus: &Corpus,
    wanted: &[bool],
    add: impl Fn(&mut T, u32, &str, &mut Scratch) -> u64 + Sync,
    mut take: impl FnMut(T) -> Result<(), Error>,
) -> Result<Vec<(u32, Problem)>, Error> {
    let (mut problems, mut read) = (Vec::new(), 0);
    let signer = Signer::new(prepared, &*reader.options.tokenizer, reader.options.seed);
    let work = |_: &(), numbered: Numbered, scratch: &mut Scratch| {
        let (number, mut load, counted) = (numbered.number, numbered.load, numbered.batch.bytes_held());
        let (mut made, mut problems) = (T::default(), Vec::new());
        let bytes = (numbered.batch.bytes_read(), numbered.batch.bytes_unpacked());
        // The wanted documents of the batch, each with its record and its group.
        let records = corpus.records_of_part(number);
        let sought: Vec<(u32, u32, u32)> =
            records.filter_map(|(record, d)| stands_for(corpus, wanted, d).map(|group| (record, d, group))).collect();
        let (mut next, mut found) = (sought.iter().peekable(), 0);
        let is_sought = &mut |record| next.next_if(|sought| sought.0 == record).is_some();
        numbered.batch.selected(is_sought, &mut |record, read| {
            // Replaced bytes were reported by the first reading.
            let Ok(read) = read else { return };
            while found < sought.len() && sought[found].0 < record {
                problems.push((sought[found].1, changed_since(corpus, sought[found].1)));
                found += 1;
            }
            let (_, document, group) = sought[found];
            found += 1;
            let mut scratch = signer.begin(&read.text, scratch);
            // It had no more tokens when it was read first.
            let is_cut = signer.cut(&read.text, &mut scratch).is_ok();
            if is_cut && corpus.is_sequence(group, signer.sequence(&scratch)) {
                let bytes = add(&mut made, group, &read.text, &mut scratch);
                drop(scratch);
                // As much as the batch was counted when it was read.
                load.raise(bytes.saturating_sub(counted));
            } else {
                problems.push((document, changed(read.place, corpus.id(document))));
            }
        });
        problems.extend(sought[found..].iter().map(|&(_, document, _)| (document, changed_since(corpus, document))));
        (bytes, (made, load), problems)
    };
    reader.in_parallel(
        sources,
        |_| Ok(()),
        work,
        |((bytes, unpacked), (made, _load), found): ((u64, u64), (T, Load), _)| {
            reader.observer.unpacked(unpacked);
            reader.observer.progress(bytes, 0);
            reader.check_stopped()?;
            read += 1;
            problems.extend::<Vec<(u32, Problem)>>(found);
            take(made)
        },
    )?;
    if let Some(missing) = corpus.first_document_of_part(read) {
        problems.push((missing, changed_since(corpus, missing)));
    }
    Ok(problems)
}

/// The problem of a document that changed between two readings.
fn changed_since(corpus: &Corpus, document: u32) -> Problem {
    changed(Place { path: corpus.id(document).into(), line: None }, corpus.id(document))
}

fn changed(place: Place, id: &str) -> Problem {
    let message = format!("document '{id}' changed between reading and verification; no pair with it is reported");
    Problem::at(place, Severity::Failed, ProblemKind::Changed, message)
}

/// A unit of work: some runs of a table, or some rows of one long run.
enum Task {
    Runs { table: usize, from: usize, to: usize },
    Rows { table: usize, run: usize, from: usize, to: usize },
}

/// The approximate number of pairs in a task.
const TASK_PAIRS: u64 = 1 << 16;

/// Tasks for all runs of fewer members than `many`.
fn tasks(tables: &[Table], sided: &Sided, many: usize) -> Vec<Task> {
    let mut tasks = Vec::new();
    for (number, table) in tables.iter().enumerate() {
        let (mut from, mut pairs) = (0, 0);
        let runs = |from, to| Task::Runs { table: number, from, to };
        for run in 0..table.runs() {
            let members = table.run(run).len() as u64;
            if members >= many as u64 {
                if from < run {
                    tasks.push(runs(from, run));
                }
                (from, pairs) = (run + 1, 0);
                continue;
            }
            let own = sided.steps(table.run(run));
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

/// As [`HOT_RUN`] for multisets, which no outline rules out: two documents that meet in several such runs are looked at once. Fingerprints
/// are compared sooner than a pair is known to have met, so that only hot runs are searched in this way.
const LARGE_RUN: usize = 64;

/// Whether a run can be hot: it has enough members, and the algorithm knows a prefix filter by this bound.
pub(super) fn can_be_hot(bound: Option<Bound>, table: &Table, run: usize) -> bool {
    bound.is_some() && table.run(run).len() >= hot_run(bound)
}

/// Whether a run with these members is hot: the prefix filter spares most comparisons.
///
/// Cost: for vectors, some steps for each element of a few of them.
pub(super) fn is_hot(bound: Bound, evidence: &Evidence, members: &[u32]) -> bool {
    if members.len() < hot_run(Some(bound)) {
        return false;
    }
    match (bound, evidence) {
        // Where it rules out little, outlines do.
        (Bound::Jaccard(_), _) => true,
        (Bound::Cosine(_), Evidence::Fingerprints) => false,
        (Bound::Cosine(_), Evidence::Sets(sets)) => {
            let asked = members.iter().step_by(members.len().div_ceil(ASKED));
            let short: Vec<u32> = asked.copied().filter(|&member| sets.size(member) <= MOST_ASKED / 4).collect();
            let set = |member| Ok::<_, Infallible>(sets.get(member));
            let Ok(is_worth) = postings::Prefixes::spare_comparisons(bound, &short, set);
            is_worth
        }
    }
}

/// How many runs ahead the data of members is prefetched: most runs have two or three.
const RUNS_AHEAD: usize = 8;

/// The number of runs that a thread looks at, at least, before it takes others.
const RUNS_AT_ONCE: usize = 1 << 10;

/// An upper bound of the number of pairs of documents: those of all runs; if these are more than `many`, no more than
/// those of the documents that runs connect.
///
/// Cost: a look at each run, and a union of all members if there are many pairs, on all threads of the pool.
pub(super) fn most_pairs(tables: &[Table], corpus: &Corpus, many: u64) -> u64 {
    let add = |all: (u64, u64), own: (u64, u64)| (all.0 + own.0, all.1 + own.1);
    let of_run = |run: &[u32]| {
        let (mut all, mut of_groups) = ((0, 0), 0);
        for &group in run {
            let own = corpus.counts(group);
            (all, of_groups) = (add(all, own), of_groups + corpus.pairs_among(own));
        }
        corpus.pairs_among(all) - of_groups
    };
    let of_table = |table: &Table| {
        let runs = (0..table.runs()).into_par_iter().with_min_len(RUNS_AT_ONCE);
        runs.map(|run| of_run(table.run(run))).reduce(|| 0, u64::saturating_add)
    };
    let of_tables = tables.par_iter().map(of_table).reduce(|| 0, u64::saturating_add);
    let of_runs = of_tables.saturating_add(corpus.pairs_of_copies());
    if of_runs <= many {
        return of_runs;
    }
    let connected = SharedUnionFind::new(corpus.distinct());
    for table in tables {
        let runs = (0..table.runs()).into_par_iter().with_min_len(RUNS_AT_ONCE).map(|run| table.run(run));
        runs.for_each(|run| run.iter().for_each(|&group| connected.union(run[0], group)));
    }
    // Of each set of groups, the documents of the reference and the others, at its smallest group.
    let documents: Vec<[AtomicU64; 2]> = (0..corpus.distinct()).map(|_| Default::default()).collect();
    (0..corpus.distinct() as u32).into_par_iter().with_min_len(RUNS_AT_ONCE).for_each(|group| {
        let (all, own) = (&documents[connected.find(group) as usize], corpus.counts(group));
        all[0].fetch_add(own.0, Ordering::Relaxed);
        all[1].fetch_add(own.1, Ordering::Relaxed);
    });
    let among = |[one, other]: [AtomicU64; 2]| corpus.pairs_among((one.into_inner(), other.into_inner()));
    of_runs.min(documents.into_par_iter().map(among).reduce(|| 0, u64::saturating_add))
}

/// The search for pairs in the runs; each pair comes with the run of a table that it is in.
pub(super) struct Search<'a> {
    algorithm: &'a dyn Algorithm,
    compare_on: CompareOn,
    jaccard: Option<Threshold>,
    /// The bound for prefixes of sets, if the algorithm allows them.
    bound: Option<Bound>,
    keys: &'a Keys<'a>,
    corpus: &'a Corpus,
    sided: Sided,
    tables: &'a [Table],
    /// The distance within which pairs are found by a join, if there are no tables.
    joins_within: Option<u32>,
    /// The memory of the scan, in bytes, of which the prefixes of a hot run take a share.
    memory: u64,
}

/// The outlines of all groups; empty where they are not made.
pub(super) struct Outlines(Vec<(u32, Parities)>);

impl Outlines {
    /// From those of all documents.
    pub fn new(corpus: &Corpus, parities: &[Parities]) -> Self {
        let of = |group| (corpus.size(group), parities[corpus.first(group) as usize]);
        let groups = if parities.is_empty() { 0 } else { corpus.distinct() as u32 };
        Outlines((0..groups).map(of).collect())
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    #[inline]
    fn fetch(&self, group: u32) {
        fetch(&self.0, group as usize);
    }

    #[inline]
    fn can_reach(&self, jaccard: Option<Threshold>, a: u32, b: u32) -> bool {
        let ((size_a, of_a), (size_b, of_b)) = (&self.0[a as usize], &self.0[b as usize]);
        can_reach(jaccard, (*size_a, of_a), (*size_b, of_b))
    }
}

/// Where a pair met.
#[derive(Clone, Copy)]
enum Meeting {
    /// In a run of a table with this key, and perhaps in others too.
    Here(usize, u64),
    /// In runs that are not hot; the pair does not meet again there.
    Once,
    /// In a family of hot runs.
    Family(u32),
}

impl<'a> Search<'a> {
    /// A search in the runs of these tables.
    pub fn new(algorithm: &'a dyn Algorithm, keys: &'a Keys<'a>, corpus: &'a Corpus, tables: &'a [Table]) -> Self {
        let profile = algorithm.profile();
        let (compare_on, jaccard, bound) = (profile.compare_on, profile.jaccard, profile.bound());
        let (joins_within, memory) = (None, u64::MAX);
        let sided = Sided::new(corpus, 0..corpus.distinct() as u32);
        Search { algorithm, compare_on, jaccard, bound, keys, corpus, sided, tables, joins_within, memory }
    }

    /// The same pairs, found by a join within this distance instead, if it is given.
    pub fn joining(self, joins_within: Option<u32>) -> Self {
        Search { joins_within, ..self }
    }

    /// The same pairs, with a share of this memory, in bytes, for what finds them in hot runs.
    pub fn within(self, memory: u64) -> Self {
        Search { memory, ..self }
    }

    /// The same search in the runs of tables.
    pub fn with_tables<'t>(&'t self, tables: &'t [Table]) -> Search<'t> {
        Search::new(self.algorithm, self.keys, self.corpus, tables).within(self.memory)
    }

    pub fn keys(&self) -> &'a Keys<'a> {
        self.keys
    }

    /// The fingerprints of all groups back to back, where fingerprints are compared.
    pub fn fingerprints(&self) -> &'a [u64] {
        self.keys.fingerprints()
    }

    /// The similarity of two groups by their fingerprints, if they are at or above the threshold.
    #[inline]
    pub fn similarity_of_fingerprints(&self, a: u32, b: u32) -> Option<Similarity> {
        self.algorithm.compare(self.keys.fingerprint(a), self.keys.fingerprint(b))
    }

    /// Whether two documents can share many keys and comparing them is expensive. Then the documents already met are
    /// marked.
    fn searches_by_rows(&self) -> bool {
        self.keys.are_free() && self.compares_sets()
    }

    /// Whether a pair is to be compared at this meeting. It is at exactly one of them.
    #[inline]
    fn is_compared_at(&self, meeting: Meeting, hot: &HotFamilies, a: u32, b: u32) -> bool {
        match meeting {
            // Members of a family are compared there, even if they meet elsewhere.
            Meeting::Here(table, key) => hot.of_both(a, b).is_none() && self.keys.meet_first(table, key, a, b),
            Meeting::Once => hot.of_both(a, b).is_none(),
            Meeting::Family(family) => hot.of_both(a, b) == Some(family) && self.keys.first_shared(a, b).is_some(),
        }
    }

    fn compares_sets(&self) -> bool {
        self.compare_on != CompareOn::Fingerprints
    }

    /// The bound for prefixes of sets, if the algorithm allows them.
    pub fn prefixes_by(&self) -> Option<Bound> {
        self.bound
    }

    /// Whether a run is hot, as far as that is known without evidence: hot runs of vectors were taken out of the tables.
    fn is_hot(&self, table: &Table, run: usize) -> bool {
        self.jaccard.is_some() && can_be_hot(self.bound, table, run)
    }

    /// The distance within which pairs are found by a join, without tables.
    pub fn joins_within(&self) -> Option<u32> {
        self.joins_within
    }

    /// Whether comparing each fingerprint with each takes less time than tables.
    pub fn compares_each_with_each(&self) -> bool {
        let documents = self.corpus.distinct() as f64;
        self.algorithm.layout().is_some_and(|layout| layout.compares_each_with_each(documents))
    }

    /// Passes every pair of every run to `look`, on all threads of the pool, each time with what `begin` returned for the task,
    /// except the hot runs if there is a prefix filter. No task begins once `stops`. `fetch` prefetches what `look` reads of a group.
    fn pairs<T>(
        &self,
        (stops, begin, fetch): (impl Fn() -> bool + Sync, impl Fn() -> T + Sync, impl Fn(u32) + Sync),
        look: impl Fn(Meeting, (u32, u32), &mut T) + Sync,
    ) {
        let rows = (self.tables, self.corpus.distinct());
        if self.searches_by_rows() {
            let is_wanted = |table: &Table, run| !self.is_hot(table, run);
            return search_rows(rows, &self.sided, is_wanted, self.memory, (stops, begin, fetch), |pair, _, came| {
                look(Meeting::Once, pair, came);
            });
        }
        let work = |task: &Task| {
            if stops() {
                return;
            }
            let mut came = begin();
            let mut row = |table: usize, run: usize, i: usize| {
                let (members, key) = (self.tables[table].run(run), self.tables[table].key(run));
                self.sided.each_met(members, i, |j| {
                    look(Meeting::Here(table, key), (members[i.min(j)], members[i.max(j)]), &mut came);
                });
            };
            match *task {
                Task::Runs { table, from, to } => {
                    for run in from..to {
                        if run + RUNS_AHEAD < to {
                            self.tables[table].run(run + RUNS_AHEAD).iter().for_each(|&group| fetch(group));
                        }
                        (0..self.tables[table].run(run).len()).for_each(|i| row(table, run, i));
                    }
                }
                Task::Rows { table, run, from, to } => (from..to).for_each(|i| row(table, run, i)),
            }
        };
        let many = if self.compares_sets() && self.jaccard.is_none() { LARGE_RUN } else { HOT_RUN };
        tasks(self.tables, &self.sided, many).par_iter().for_each(work);
        let is_wanted = |table: &Table, run: usize| table.run(run).len() >= many && !self.is_hot(table, run);
        if self.tables.iter().any(|table| (0..table.runs()).any(|run| is_wanted(table, run))) {
            // If they share a key in an earlier table, in a smaller run, they are compared there.
            search_rows(rows, &self.sided, is_wanted, self.memory, (&stops, &begin, fetch), |pair, place, came| {
                let (table, run) = (place.row.table as usize, place.row.run as usize);
                look(Meeting::Here(table, self.tables[table].key(run)), pair, came);
            });
        }
    }

    fn hot_runs(&self) -> impl Iterator<Item = (usize, &'a Table, usize)> + Clone {
        let numbered = self.tables.iter().enumerate();
        let runs = numbered.flat_map(|(number, table)| (0..table.runs()).map(move |run| (number, table, run)));
        runs.filter(|&(_, table, run)| self.is_hot(table, run))
    }

    /// The groups whose features are needed: those in a pair that has to be compared by them, as far as outlines
    /// decide, and all groups of a hot run; of vectors, all groups of a run with a pair.
    pub fn candidates(&self, outlines: &Outlines) -> Vec<bool> {
        let is_candidate: Vec<AtomicBool> = (0..self.corpus.distinct()).map(|_| AtomicBool::new(false)).collect();
        let mark = |group: u32| is_candidate[group as usize].store(true, Ordering::Relaxed);
        let is_marked = |group: u32| is_candidate[group as usize].load(Ordering::Relaxed);
        if outlines.is_empty() {
            self.tables.iter().flat_map(|table| &table.members).for_each(|&group| mark(group));
        } else if self.compares_sets() && self.jaccard.is_none() {
            // Outlines rule out nothing: only runs without a pair do.
            let runs = self.tables.iter().flat_map(|table| (0..table.runs()).map(|run| table.run(run)));
            runs.filter(|members| self.sided.steps(members) > 0).flatten().for_each(|&group| mark(group));
        } else {
            let never = || false;
            self.pairs((never, || (), |group| outlines.fetch(group)), |_, (a, b), ()| {
                let known = is_marked(a) && is_marked(b);
                if !known && self.corpus.may_pair(a, b) && outlines.can_reach(self.jaccard, a, b) {
                    mark(a);
                    mark(b);
                }
            });
            for (_, table, run) in self.hot_runs() {
                table.run(run).iter().for_each(|&group| mark(group));
            }
        }
        is_candidate.into_iter().map(AtomicBool::into_inner).collect()
    }

    /// The documents that are searched.
    pub fn corpus(&self) -> &'a Corpus {
        self.corpus
    }

    /// Which documents are compared with which.
    pub fn sided(&self) -> &Sided {
        &self.sided
    }

    /// The runs of documents that share a key.
    pub fn tables(&self) -> &'a [Table] {
        self.tables
    }

    /// Whether two groups can be at or above the threshold: judged by the outlines of their sets, or by comparing their
    /// fingerprints, which is counted.
    #[inline]
    pub fn can_be_similar(&self, evidence: &Evidence, a: u32, b: u32, compared: &mut u64) -> bool {
        match evidence {
            Evidence::Fingerprints => {
                *compared += 1;
                self.similarity_of_fingerprints(a, b).is_some()
            }
            Evidence::Sets(sets) => sets.can_reach(self.jaccard, a, b),
        }
    }

    /// The similarity of two groups that [can be similar](Self::can_be_similar), if they share a key and are at or above
    /// the threshold. A comparison of sets is counted. `share_run` says whether they are in one run; `last` has sets of earlier
    /// comparisons.
    pub fn compared(
        &self,
        evidence: &Evidence,
        (a, b): (u32, u32),
        share_run: impl FnOnce() -> bool,
        (compared, last): (&mut u64, &mut LastRead),
    ) -> Option<Similarity> {
        if !self.keys.share_key(a, b).unwrap_or_else(share_run) {
            return None;
        }
        match evidence {
            Evidence::Fingerprints => self.similarity_of_fingerprints(a, b),
            Evidence::Sets(sets) => {
                *compared += 1;
                sets.compared_after(last, a, b, |a, b| self.algorithm.compare(a, b))
            }
        }
    }

    /// Compares every candidate pair of a portion once, and adds those at or above the threshold, unless these are
    /// [closed](Found::is_closed) before the end. Returns the number of comparisons.
    ///
    /// `hot` are the hot runs, which were taken out of the tables, if there is a prefix filter.
    pub fn edges(&self, evidence: &Evidence, portion: &Portion, hot: &HotFamilies, found: &Found) -> u64 {
        if let Some(distance) = self.joins_within {
            return self.joined(distance, found);
        }
        let prefixed = match evidence {
            Evidence::Fingerprints => None,
            Evidence::Sets(sets) => self.prefixes_by().map(|bound| (sets, bound)),
        };
        let look = |meeting: Meeting, (a, b): (u32, u32), came: &mut Came<'_>| {
            if !self.corpus.may_pair(a, b) || !portion.compares(a, b) {
                return;
            }
            let similarity = match evidence {
                // Comparing fingerprints is cheaper than checking whether the pair is compared in this table.
                Evidence::Fingerprints => {
                    came.compared += 1;
                    let similarity = self.similarity_of_fingerprints(a, b);
                    similarity.filter(|_| self.is_compared_at(meeting, hot, a, b))
                }
                Evidence::Sets(sets) => {
                    // The outlines are in memory; checking the meeting may read the keys.
                    if !sets.can_reach(self.jaccard, a, b) || !self.is_compared_at(meeting, hot, a, b) {
                        return;
                    }
                    came.compared += 1;
                    sets.compared_after(&mut came.last, a, b, |a, b| self.algorithm.compare(a, b))
                }
            };
            if let Some(similarity) = similarity {
                came.edges.push(Edge { a, b, similarity });
            }
        };
        let compared = AtomicU64::new(0);
        let for_sets = self.memory / READ_SHARE / rayon::current_num_threads() as u64;
        let begin = || {
            let last = LastRead::within(for_sets);
            Came { compared: 0, edges: found.list(self.corpus), last, sum: &compared }
        };
        let fetch = |group| {
            if let Evidence::Sets(sets) = evidence {
                sets.fetch(group);
            }
            self.keys.fetch(group);
        };
        self.pairs((|| found.is_closed(), begin, fetch), look);
        if let Some((sets, bound)) = prefixed {
            for (family, members) in (0..).zip(&hot.members) {
                let meeting = Meeting::Family(family);
                let prefixes = Prefixes::new(bound, members, sets, self.memory);
                let sided = Sided::new(self.corpus, members.iter().copied());
                let rows = (std::slice::from_ref(&prefixes.table), members.len());
                let all = |_: &Table, _| true;
                let ways = (|| found.is_closed(), begin, |member| fetch(members[member as usize]));
                search_rows(rows, &sided, all, self.memory, ways, |(a, b), place, came| {
                    if prefixes.can_reach((a, b), (place.row.at, place.other)) {
                        look(meeting, (members[a as usize], members[b as usize]), came);
                    }
                });
            }
        }
        compared.into_inner()
    }
}

/// The part of the memory that sets take which were read from a file.
const READ_SHARE: u64 = 64;

/// What comes of some comparisons.
struct Came<'a> {
    compared: u64,
    edges: FoundList<'a>,
    last: LastRead,
    /// What their number is added to.
    sum: &'a AtomicU64,
}

impl Drop for Came<'_> {
    fn drop(&mut self) {
        self.sum.fetch_add(self.compared, Ordering::Relaxed);
    }
}
