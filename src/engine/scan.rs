//! A scan, stage by stage, as in the diagram at the top of [`engine`](super).

use super::arrange::{KeptOutcome, Outcome, Ran};
use super::columns::Columns;
use super::corpus::Corpus;
use super::decisions::Room;
use super::early::Among;
use super::edges::Found;
use super::group::{self, Keys};
use super::hot::HotFamilies;
use super::joined;
use super::portions::{self, Portion, Portions};
use super::read::{Choice, Counted, Reader, Reading};
use super::sets::{EarlySets, Outlined, Sets};
use super::subset::Subset;
use super::table::{Table, hot_run};
use super::turns::KeepPolicy;
use super::verify::{self, Evidence, Outlines, Search};
use super::{Counts, Observer, Report, ScanOptions, Side, Stage};
use crate::algorithm::{
    AlgorithmFactory, CompareOn, Learned, PreparedAlgorithm, Remarks, RunSummary, Totals, same_identity,
};
use crate::error::Error;
use crate::hamming::Distribution;
use crate::kernel::heap;
use crate::lexicon::file::Terms;
use crate::outline::Parities;
use crate::run::fields::field_names;
use crate::run::ordered::{thread_pool, workers};
use crate::source::{Problem, Source};
use rayon::ThreadPool;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Finds all near-duplicates among the documents of `source`; with a `reference`, only pairs of one of its documents and one
/// of `source`.
///
/// # Errors
/// The algorithm is refused for these documents, its lexicon has terms of another tokenizer or seed, there are more than 2³² − 2 documents, a temporary file cannot be written,
/// or threads cannot be started. Problems with single documents are not errors: they go to the observer and the counts.
///
/// # Cost
/// One reading of everything, and up to a few more: a second one if the first documents misled about the median length;
/// one for the candidates if features do not fit [`ScanOptions::memory`]; and one before for each thing that the algorithm
/// learns, except the last if that is the frequency of features and they fit. Time grows linearly with the documents, and with
/// the square of the number of documents that are similar without being copies if all pairs are asked for; so does the
/// temporary file of the pairs. Memory grows with the documents alone.
pub fn scan(
    source: &mut dyn Source,
    reference: Option<&mut dyn Source>,
    factory: &dyn AlgorithmFactory,
    options: &ScanOptions,
    observer: &dyn Observer,
) -> Result<Outcome, Error> {
    run(source, reference, factory, options, observer, Goal::Pairs, Outcome::new)
}

/// Decides which documents are kept by a policy, as [`Outcome::keep`] does after a [`scan`], and which are connected.
/// With a `reference`, which is kept, documents are compared with it alone.
///
/// # Errors
/// As for [`scan`].
///
/// # Cost
/// As for [`scan`], but not all pairs are looked for: a document is compared with the kept documents that it shares a key
/// with, and with others only where nothing connects them. So time and memory grow linearly with the documents even if
/// all are similar. Features that do not fit [`ScanOptions::memory`] go to a file.
pub fn scan_to_keep(
    source: &mut dyn Source,
    reference: Option<&mut dyn Source>,
    factory: &dyn AlgorithmFactory,
    options: &ScanOptions,
    observer: &dyn Observer,
    policy: KeepPolicy,
) -> Result<KeptOutcome, Error> {
    run(source, reference, factory, options, observer, Goal::Keep(policy), |ran| KeptOutcome::new(ran, policy))
}

/// As [`scan_to_keep`], but with a `reference` documents are compared with each other too: what is kept has no
/// near-duplicates in itself and none in the reference, except [chosen](ScanOptions::chosen) documents that are always
/// kept. Those of the reference are not compared with each other: they are in one cluster only if other documents connect
/// them.
///
/// # Errors
/// As for [`scan`].
///
/// # Cost
/// As for [`scan_to_keep`].
pub fn deduplicate(
    source: &mut dyn Source,
    reference: Option<&mut dyn Source>,
    factory: &dyn AlgorithmFactory,
    options: &ScanOptions,
    observer: &dyn Observer,
    policy: KeepPolicy,
) -> Result<KeptOutcome, Error> {
    run(source, reference, factory, options, observer, Goal::KeepAmongAll(policy), |ran| KeptOutcome::new(ran, policy))
}

/// What is looked for.
#[derive(Clone, Copy)]
pub(super) enum Goal {
    /// All pairs.
    Pairs,
    /// The pairs that decide what is kept, and what is connected.
    Keep(KeepPolicy),
    /// The same, with documents compared with each other although there is a reference.
    KeepAmongAll(KeepPolicy),
}

fn run<T: Send>(
    source: &mut dyn Source,
    reference: Option<&mut dyn Source>,
    factory: &dyn AlgorithmFactory,
    options: &ScanOptions,
    observer: &dyn Observer,
    goal: Goal,
    arrange: impl FnOnce(Ran) -> Result<T, Error> + Send,
) -> Result<T, Error> {
    let mut run = Run::new(Side::both(source, reference), options, observer, goal)?;
    run.drops_halves = true;
    run.reader.writes_early = Some(if run.is_against() { Among::Sides } else { Among::All });
    let (mut prepared, documents) = run.read(factory)?;
    let mut corpus = run.gather(&mut prepared, documents)?;
    let mut groups = run.group(&prepared, &mut corpus)?;
    let found = run.verify(&prepared, &mut corpus, &mut groups)?;
    if let Some(layout) = prepared.algorithm.layout().filter(|_| options.distribution) {
        run.report.distribution = Some(run.pool.install(|| Distribution::of(groups.keys.fingerprints(), &layout)));
    }
    drop(groups);
    run.arrange(prepared, corpus.documents, found, arrange)
}

/// More pairs than this are announced before they are looked for.
const MANY_PAIRS: u64 = 10_000_000;

/// The state that all stages of a scan share.
pub(super) struct Run<'a> {
    pub reader: Reader<'a>,
    pub sources: Vec<Side<'a>>,
    pub pool: ThreadPool,
    clock: Clock,
    pub report: Report,
    /// The remarks of the algorithm on the documents.
    remarks: Remarks,
    goal: Goal,
    /// Whether half of the hash of each token sequence is dropped once copies are known.
    drops_halves: bool,
}

/// The documents that are grouped and compared, with their keys.
pub(super) struct Gathered {
    pub documents: Corpus,
    columns: Option<Columns>,
    parities: Vec<Parities>,
    /// Whether the features of every document are in memory.
    pub retained: bool,
    /// The sets of some documents, if not.
    early: Option<EarlySets>,
}

/// Where features go that are read again.
enum Destination {
    /// To memory, after those that were written early.
    Memory(Option<EarlySets>),
    /// To a file, after the same; of a new one, so many bytes of memory are free.
    File(Option<EarlySets>, u64),
}

/// The candidates: which documents share a key, and which of them are in memory together while they are compared.
struct Groups<'a> {
    keys: Keys<'a>,
    tables: Vec<Table>,
    /// The distance within which fingerprints are joined, instead of being grouped in tables.
    joins_within: Option<u32>,
    portions: Portions,
    /// Whether the features of candidates come from another reading.
    reread: bool,
    /// In that case, the candidates whose features are made at once, and where they go.
    at_once: Option<(Vec<bool>, Destination)>,
}

/// What the promise about the memory of the process allows for what is in memory while pairs are searched, in addition to the
/// memory of the scan; and what the search takes, in sizes of the tables.
const SEARCHED_BYTES: u64 = 48 << 20;
const SEARCH_SHARE: u64 = 2;

/// The keys of all candidates take at most the memory of so many portions, however little there is: every two halves of portions
/// are loaded together, which would be many.
const MOST_PORTIONS: u64 = 8;

impl<'a> Run<'a> {
    pub fn new(
        sources: Vec<Side<'a>>,
        options: &'a ScanOptions,
        observer: &'a dyn Observer,
        goal: Goal,
    ) -> Result<Self, Error> {
        let pool = thread_pool(options.threads)?;
        let mut reader = Reader::new(options, pool.current_num_threads(), observer);
        // The choice of what is kept goes by the runs.
        reader.outlines = matches!(goal, Goal::Pairs);
        Ok(Run {
            reader,
            sources,
            pool,
            clock: Clock::start(),
            report: Report::default(),
            remarks: Remarks::default(),
            goal,
            drops_halves: false,
        })
    }

    /// Whether documents are compared with those of a reference alone.
    fn is_against(&self) -> bool {
        self.sources.iter().any(|side| side.reference) && !matches!(self.goal, Goal::KeepAmongAll(_))
    }

    /// Batches become tokens, features, fingerprints and keys; the algorithm is chosen by the median length of all documents.
    pub fn read(&mut self, factory: &dyn AlgorithmFactory) -> Result<(PreparedAlgorithm, Reading), Error> {
        let first = factory.prepare(0)?;
        let ScanOptions { tokenizer, seed, .. } = self.reader.options;
        first.check_terms(&**tokenizer, *seed)?;
        let learns = first.algorithm.learns().is_some();
        if factory.depends_on_length() || first.algorithm.compare_on() != CompareOn::Fingerprints || learns {
            self.sources.iter_mut().for_each(|side| side.source.keep_for_second_read());
        }
        drop(first);
        let (prepared, reading) =
            if learns { self.read_after_learning(factory)? } else { self.read_by_sample(factory)? };
        prepared.algorithm.check_learned()?;
        self.report.median_tokens = reading.median_tokens;
        heap::return_what_is_kept();
        self.clock.lap("read");
        Ok((prepared, reading))
    }

    /// One reading, if the sample that selects the algorithm does not mislead.
    fn read_by_sample(&mut self, factory: &dyn AlgorithmFactory) -> Result<(PreparedAlgorithm, Reading), Error> {
        let observer = self.reader.observer;
        observer.stage(Stage::Reading);
        let (mut prepared, reading) = self.reader.read(&mut self.sources, Choice::Sampled(factory))?;
        let chosen = finalize(factory, reading.median_tokens)?;
        if !factory.depends_on_length() {
            prepared.warnings = chosen.warnings;
            return Ok((prepared, reading));
        }
        if same_signatures(&chosen, &prepared) {
            // Only the reasons of its parameters may differ: those of all documents count.
            return Ok((chosen, reading));
        }
        // All documents count, so that the result does not depend on their order.
        observer.stage(Stage::ReadingAgain);
        drop(reading);
        self.reader.read(&mut self.sources, Choice::Known(chosen))
    }

    /// Counts what the algorithm learns, then reads; or signs what counting kept.
    fn read_after_learning(&mut self, factory: &dyn AlgorithmFactory) -> Result<(PreparedAlgorithm, Reading), Error> {
        let Counted { prepared, kept, median_tokens, .. } = learned(&self.reader, &mut self.sources, factory)?;
        heap::return_what_is_kept();
        self.clock.lap("count");
        self.reader.observer.stage(Stage::Reading);
        let (mut prepared, reading) = match kept {
            Some(kept) => self.pool.install(|| self.reader.sign(prepared, median_tokens, kept)),
            None => self.reader.read(&mut self.sources, Choice::Known(prepared))?,
        };
        prepared.warnings = finalize(factory, reading.median_tokens)?.warnings;
        Ok((prepared, reading))
    }

    /// Equal token sequences become one document.
    pub fn gather(&mut self, prepared: &mut PreparedAlgorithm, reading: Reading) -> Result<Gathered, Error> {
        self.reader.observer.stage(Stage::Grouping);
        let Reading { mut documents, median_tokens, counts, retained, early } = reading;
        (self.report.counts, self.remarks) = (counts, std::mem::take(&mut documents.remarks));
        let (columns, parities) = (documents.columns.take(), std::mem::take(&mut documents.parities));
        self.report.spilled = columns.as_ref().map_or(0, Columns::bytes_spilled);
        let against = self.is_against();
        #[cfg(feature = "files")]
        documents.rank_by_one_kind(&self.reader.options.ranked_by, |problem| {
            self.report.counts.problem(&problem);
            self.reader.report_once(&problem);
        });
        let (damaged, memory) = (std::mem::take(&mut documents.damaged), self.reader.options.memory);
        let (counts, drops_halves) = (&mut self.report.counts, self.drops_halves);
        let mut documents = self.pool.install(|| Corpus::gather(documents, against, (memory, drops_halves), counts))?;
        documents.distrust(&damaged);
        let sources = &mut self.sources;
        documents.check_fields(self.reader.options, &mut |of_reference| field_names(sources, of_reference))?;
        if let Some(chosen) = &self.reader.options.chosen {
            documents.prefer(chosen)?;
        }
        prepared.algorithm.learn(&Learned::Totals(Totals { fingerprints: documents.distinct(), median_tokens }));
        Ok(Gathered { documents, columns, parities, retained, early })
    }

    /// Equal keys become groups, and the documents in them candidates.
    fn group<'s>(&mut self, prepared: &'s PreparedAlgorithm, gathered: &mut Gathered) -> Result<Groups<'s>, Error> {
        self.reader.check_stopped()?;
        let algorithm = &*prepared.algorithm;
        let Gathered { documents, columns, parities, retained, early } = gathered;
        let memory = self.reader.options.memory;
        let keys = Keys::new(algorithm, documents, columns.take(), memory);
        let joins_within = joined::joins_within(algorithm, &keys, documents);
        let tables = match joins_within {
            Some(_) => Vec::new(),
            None => self.pool.install(|| group::groups(&keys, documents, memory))?,
        };
        let of_tables: u64 = tables.iter().map(Table::bytes_held).sum();
        let early = early.take();
        #[cfg(test)]
        early.iter().for_each(|early| self.report.early = early.len());
        let held =
            documents.bytes_held() + keys.bytes_held() + of_tables + early.as_ref().map_or(0, EarlySets::bytes_held);
        if held + SEARCH_SHARE * of_tables + documents.bytes_of_features() > memory + SEARCHED_BYTES {
            documents.drop_features();
            *retained = false;
        }
        let fingerprints = algorithm.compare_on() == CompareOn::Fingerprints;
        let reread = !fingerprints && !*retained;
        // Kept features are in memory: the choice of candidates makes no difference. Finding it takes all pairs.
        let outlines = Outlines::new(documents, if reread { parities } else { &[] });
        *parities = Vec::new();
        let search = Search::new(algorithm, &keys, documents, &tables).within(memory);
        let candidates = if fingerprints { Vec::new() } else { self.pool.install(|| search.candidates(&outlines)) };
        drop(outlines);

        // The rest is for the pairs found, and for the documents that are read again.
        let budget = (memory.saturating_sub(held) / 8 * 5).max(memory / 4);
        // The choice of what is kept goes by the runs.
        let of_keys = if matches!(self.goal, Goal::Pairs) { keys.bytes_a_candidate() } else { 0 };
        let bytes = |group| if reread { 8 * u64::from(documents.size(group)) + of_keys } else { 0 };
        // Features that do not fit go to a file: reading everything once more takes longer than reading them back.
        let groups = || (0..).zip(&candidates).filter(|(_, is_candidate)| **is_candidate).map(|(group, _)| group);
        let fits = groups().map(bytes).sum::<u64>() <= budget.max(portions::LEAST);
        // Without keys they are one portion.
        let each = if fits { budget } else { budget.max(of_keys * groups().count() as u64 / MOST_PORTIONS) };
        let portions = Portions::new(&candidates, &tables, |group| if fits { bytes(group) } else { of_keys }, each);
        let at_once = match (fits, early) {
            (true, None) => None,
            (true, early) => Some((candidates, Destination::Memory(early))),
            (false, early) => Some((candidates, Destination::File(early, memory.saturating_sub(held)))),
        };
        self.report.portions = portions.len() as u64;
        heap::return_what_is_kept();
        self.clock.lap("group");
        Ok(Groups { keys, tables, joins_within, portions, reread, at_once })
    }

    /// Candidates become pairs with their exact similarity, a portion at a time.
    fn verify(
        &mut self,
        prepared: &PreparedAlgorithm,
        gathered: &mut Gathered,
        groups: &mut Groups<'_>,
    ) -> Result<Found, Error> {
        let (algorithm, corpus, memory) = (&*prepared.algorithm, &mut gathered.documents, self.reader.options.memory);
        let Groups { keys, tables, joins_within, portions, reread, at_once } = groups;
        if let Goal::Pairs = self.goal {
            let most = match *joins_within {
                Some(distance) => {
                    self.pool.install(|| joined::most_pairs(keys.fingerprints(), corpus, distance, MANY_PAIRS))
                }
                None => self.pool.install(|| verify::most_pairs(tables, corpus, MANY_PAIRS)),
            };
            if most > MANY_PAIRS {
                self.reader.observer.many_pairs(most);
            }
        }
        let bound = algorithm.profile().bound();
        let can_be_hot = |table: &Table, run| verify::can_be_hot(bound, table, run);
        let may_have_hot = || tables.iter().any(|table| (0..table.runs()).any(|run| can_be_hot(table, run)));
        // Pairs meet once in runs that are not hot, and what is kept is decided by the runs.
        if !matches!(self.goal, Goal::Pairs) || (keys.are_free_of_fingerprints() && !may_have_hot()) {
            keys.free_stored();
        }
        let lists_pairs = matches!(self.goal, Goal::Pairs);
        let mut found = Found::new(self.reader.options, self.pool.current_num_threads(), lists_pairs);
        let mut changed = BTreeMap::new();
        let of_all = match at_once.take() {
            Some((candidates, to)) => Some(self.reread(prepared, corpus, &candidates, to, &mut changed)?),
            None => None,
        };
        for number in 0..portions.len() {
            let portion = portions.get(number, corpus.distinct());
            let mut wanted = vec![false; corpus.distinct()];
            portion.groups.iter().for_each(|&group| wanted[group as usize] = true);
            if let Goal::Pairs = self.goal {
                keys.load(&portion, corpus)?;
            }
            let own: Evidence;
            let evidence = match (&of_all, algorithm.compare_on()) {
                (Some(of_all), _) => of_all,
                (None, compare_on) => {
                    own = match compare_on {
                        CompareOn::Fingerprints => Evidence::Fingerprints,
                        _ if *reread => {
                            self.reread(prepared, corpus, &wanted, Destination::Memory(None), &mut changed)?
                        }
                        _ => self.pool.install(|| Evidence::retained(compare_on, corpus, &wanted)),
                    };
                    &own
                }
            };
            self.reader.check_stopped()?;
            self.reader.observer.stage(Stage::Verifying);
            let mut restricted: Vec<Table>;
            let tables = match portion.whole {
                true => &mut *tables,
                false => {
                    restricted = tables.iter().map(|table| table.restricted(&wanted)).collect();
                    &mut restricted
                }
            };
            let hot = match self.goal {
                Goal::Pairs => {
                    let is_hot = |members: &[u32]| bound.is_some_and(|bound| verify::is_hot(bound, evidence, members));
                    let hot = (hot_run(bound), is_hot);
                    self.pool.install(|| HotFamilies::take(tables, hot, corpus.distinct()))
                }
                Goal::Keep(_) | Goal::KeepAmongAll(_) => HotFamilies::default(),
            };
            let search = Search::new(algorithm, keys, corpus, tables).joining(*joins_within).within(memory);
            // Portions share the file: it is read ahead once.
            let file = evidence.large_file().filter(|_| number == 0);
            let ahead = file.map(|file| |stops: &AtomicBool| _ = file.read_ahead(stops));
            let task = || self.search(&search, evidence, &portion, &hot, &mut found);
            self.report.compared += with_helper(ahead, task)?;
            evidence.check()?;
            found.check()?;
            algorithm.check_learned()?;
            self.clock.lap("verify");
        }
        for problem in changed.values() {
            self.report.counts.problem(problem);
            self.reader.observer.problem(problem);
        }
        if of_all.as_ref().is_some_and(|evidence| evidence.large_file().is_some()) {
            // The system can take seconds to free a large file. Without another thread, it is freed here.
            let _ = std::thread::Builder::new().name("dedup closing".into()).spawn(move || drop(of_all));
        }
        Ok(found)
    }

    /// Adds the edges of a portion that are looked for. Returns the number of comparisons.
    fn search(
        &self,
        search: &Search<'_>,
        evidence: &Evidence,
        portion: &Portion,
        hot: &HotFamilies,
        found: &mut Found,
    ) -> Result<u64, Error> {
        let (Goal::Keep(policy) | Goal::KeepAmongAll(policy)) = self.goal else {
            return Ok(self.pool.install(|| search.edges(evidence, portion, hot, found)));
        };
        if let Some(compared) = self.pool.install(|| search.edges_to_keep(evidence, portion, policy, found))? {
            return Ok(compared);
        }
        let tables = self.pool.install(|| group::groups(search.keys(), search.corpus(), self.reader.options.memory))?;
        let search = search.with_tables(&tables);
        let compared = self.pool.install(|| search.edges_to_keep(evidence, portion, policy, found))?;
        Ok(compared.expect("tables find those that decide"))
    }

    /// The features of these candidates, from another reading: in memory, or in a file, after those that were written early.
    fn reread(
        &mut self,
        prepared: &PreparedAlgorithm,
        corpus: &Corpus,
        wanted: &[bool],
        to: Destination,
        changed: &mut BTreeMap<u32, Problem>,
    ) -> Result<Evidence, Error> {
        let (groups, group_of) = (Subset::marked(wanted), |document| corpus.group_of(document));
        let written = if let Destination::File(Some(early), _) = &to { early.len() } else { 0 };
        // Of pairs, as many are compared as with all in memory, unless outlines take much.
        let is_few = written + groups.len() <= self.reader.most_outlines();
        let is_whole = matches!(self.goal, Goal::Pairs) && is_few;
        let outlined = if is_whole { Outlined::Whole } else { Outlined::Combined };
        let sets = match to {
            Destination::Memory(None) => Sets::new(groups, None),
            Destination::Memory(Some(early)) => {
                self.report.spilled += early.bytes_spilled();
                Sets::loaded(&early, groups, group_of)?
            }
            Destination::File(None, free) => Sets::new(groups, Some((self.reader.file_of_features(free)?, outlined))),
            Destination::File(Some(early), _) => Sets::after(early, groups, outlined, group_of),
        };
        let is_missing = |(group, is_wanted): (u32, &bool)| *is_wanted && !sets.has(group);
        let missing: Vec<bool> = (0..).zip(wanted).map(is_missing).collect();
        let evidence = if missing.contains(&true) {
            self.report.rereadings = 1;
            self.reader.observer.stage(Stage::Rereading);
            Evidence::reread(&self.reader, &mut self.sources, prepared, corpus, &missing, sets, changed)?
        } else {
            Evidence::Sets(Box::new(sets))
        };
        if let Evidence::Sets(sets) = &evidence {
            self.report.spilled += sets.bytes_spilled();
        }
        heap::return_what_is_kept();
        self.clock.lap("reread");
        Ok(evidence)
    }

    /// The result of the scan, from which pairs, clusters and verdicts are made on demand.
    fn arrange<T: Send>(
        self,
        prepared: PreparedAlgorithm,
        corpus: Corpus,
        found: Found,
        arrange: impl FnOnce(Ran) -> Result<T, Error> + Send,
    ) -> Result<T, Error> {
        let Run { mut report, clock, remarks, reader, pool, .. } = self;
        let algorithm = &*prepared.algorithm;
        report.describe(&prepared);
        let Counts { documents, references, featureless, .. } = report.counts;
        let summary = RunSummary::new(documents + references, featureless, remarks);
        report.warnings.extend(algorithm.warnings(&summary));
        report.warnings.extend(corpus.repeated_ids());
        report.warnings.extend(corpus.unranked(&reader.options.ranked_by));
        report.timings = clock.laps;
        let (room, begun) = (Room::of(reader.options), Instant::now());
        pool.install(|| arrange(Ran { corpus, found: found.finish()?, prepared, report, room, begun }))
    }
}

/// Counts in how many documents each term is; exact copies count once. A lexicon file is written from the result. The
/// seed of the options does not affect it.
///
/// # Errors
/// Threads cannot be started, or the temporary file cannot be written. Problems with single documents are not errors: they go to the
/// observer and the counts.
///
/// # Cost
/// One reading of everything. Memory: some 100 bytes for each distinct term, within [`ScanOptions::memory`], beyond which terms go to
/// a temporary file; and some 30 bytes for each distinct document.
pub fn count_terms(
    source: &mut dyn Source,
    options: &ScanOptions,
    observer: &dyn Observer,
) -> Result<(Terms, Counts), Error> {
    let reader = Reader::new(options, workers(options.threads), observer);
    let mut counts = Counts::default();
    observer.stage(Stage::Counting);
    let terms = reader.terms(&mut [Side { reference: false, source }], &mut counts)?;
    Ok((terms, counts))
}

/// The algorithm prepared for documents of this median length, unless it is refused.
pub(super) fn finalize(factory: &dyn AlgorithmFactory, median_tokens: usize) -> Result<PreparedAlgorithm, Error> {
    let prepared = factory.prepare(median_tokens)?;
    match prepared.refusal {
        Some(refusal) => Err(Error::Unsuitable(refusal)),
        None => Ok(prepared),
    }
}

/// The algorithm of the factory, as a scan of the source prepares it: it has learned what it must know about the collection.
///
/// # Errors
/// Those of [`scan`] until then.
pub(crate) fn learned_from(
    source: &mut dyn Source,
    factory: &dyn AlgorithmFactory,
    options: &ScanOptions,
) -> Result<PreparedAlgorithm, Error> {
    let reader = Reader::new(options, workers(options.threads), &());
    Ok(learned(&reader, &mut [Side { reference: false, source }], factory)?.prepared)
}

/// Counts until the algorithm has learned everything it must know about the collection.
pub(super) fn learned(
    reader: &Reader<'_>,
    sources: &mut [Side<'_>],
    factory: &dyn AlgorithmFactory,
) -> Result<Counted, Error> {
    reader.observer.stage(Stage::Counting);
    let mut counted = reader.count(sources, Choice::Sampled(factory))?;
    let chosen = finalize(factory, counted.median_tokens)?;
    if factory.depends_on_length() {
        if same_signatures(&chosen, &counted.prepared) {
            counted.prepared = chosen;
        } else {
            // The features of another prepared algorithm were counted, because the sample misled.
            drop(counted);
            reader.observer.stage(Stage::Counting);
            counted = reader.count(sources, Choice::Known(chosen))?;
        }
    }
    counted.prepared.algorithm.learn(&counted.learned);
    while counted.prepared.algorithm.learns().is_some() {
        reader.observer.stage(Stage::Counting);
        counted = reader.count(sources, Choice::Known(counted.prepared))?;
        counted.prepared.algorithm.learn(&counted.learned);
    }
    Ok(counted)
}

/// Runs a task, with a helper on another thread until the task ends. What the helper does is not needed: it may find no thread, or panic.
fn with_helper<T>(helper: Option<impl FnOnce(&AtomicBool) + Send>, task: impl FnOnce() -> T) -> T {
    /// Stops the helper, also if the task panics.
    struct Ends<'a>(&'a AtomicBool);
    impl Drop for Ends<'_> {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }
    let Some(helper) = helper else { return task() };
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().name("dedup ahead".into()).spawn_scoped(scope, || helper(&is_done));
        let ends = Ends(&is_done);
        let result = task();
        drop(ends);
        _ = thread.map(|thread| thread.join());
        result
    })
}

/// Whether two prepared algorithms are known to make the same fingerprints. Without any parameters, nothing is known.
fn same_signatures(a: &PreparedAlgorithm, b: &PreparedAlgorithm) -> bool {
    let tokenizer =
        |prepared: &PreparedAlgorithm| prepared.tokenizer.as_ref().map(|tokenizer| tokenizer.name().into_owned());
    !a.algorithm.parameters().is_empty() && tokenizer(a) == tokenizer(b) && same_identity(&*a.algorithm, &*b.algorithm)
}

struct Clock {
    last: Instant,
    laps: Vec<(&'static str, Duration)>,
}

impl Clock {
    fn start() -> Self {
        Clock { last: Instant::now(), laps: Vec::new() }
    }

    fn lap(&mut self, name: &'static str) {
        let now = Instant::now();
        match self.laps.iter_mut().find(|(lap, _)| *lap == name) {
            Some((_, time)) => *time += now - self.last,
            None => self.laps.push((name, now - self.last)),
        }
        self.last = now;
    }
}

#[cfg(test)]
mod tests {
    use super::super::table::HOT_RUN;
    use super::*;
    use crate::algorithm::Entry;
    use crate::algorithm::parameter::Settings;
    use crate::hash::mix;
    use crate::source::Documents;

    #[test]
    fn a_helper_ends_with_its_task() {
        let until_it_stops = |stops: &AtomicBool| {
            while !stops.load(Ordering::Relaxed) {
                std::thread::yield_now();
            }
        };
        assert_eq!(with_helper(Some(until_it_stops), || 1), 1);
        assert_eq!(with_helper(Some(|_: &AtomicBool| panic!("a helper that fails")), || 2), 2);
        assert_eq!(with_helper(None::<fn(&AtomicBool)>, || 3), 3);
        let task = || with_helper(Some(until_it_stops), || panic!("a task that fails"));
        assert!(std::panic::catch_unwind(task).is_err());
    }

    /// Pages of one template, each with four words of its own.
    fn pages(name: &str, count: usize) -> Documents {
        let frame: String = (0..100).map(|word| format!("frame{word} ")).collect();
        let own = |page: usize| (0..4).map(|word| format!("{name}{page}x{word} ")).collect::<String>();
        Documents::new((0..count).map(|page| (format!("{name}{page}"), format!("{frame}{}", own(page)))))
    }

    /// All that an outcome says, with little memory and with much.
    #[test]
    fn pairs_in_a_file_are_those_in_memory() {
        let frame: String = (0..100).map(|word| format!("frame{word} ")).collect();
        // Pages of one template, of which some have copies anywhere after them, and some are of another.
        let of = |n: usize| if n % 3 == 2 { n * 7 % (n - 1) } else { n };
        let text = |n: usize| format!("{frame}{}own{} x{}", if of(n) % 5 == 4 { &frame } else { "" }, of(n), of(n) % 4);
        let id = |n: usize| format!("http://h{}.example/{n}", n * 5 % 13);
        let documents = |range: std::ops::Range<usize>| Documents::new(range.map(|n| (id(n), text(n))));
        for (name, settings) in [
            ("minhash", &[("shingle", "1")][..]),
            ("minhash", &[("shingle", "1"), ("exact", "true")]),
            ("simhash", &[("force", "true"), ("grams", "1"), ("distance", "6"), ("blocks", "8")]),
            ("simhash", &[("force", "true"), ("grams", "1"), ("distance", "20"), ("blocks", "22")]),
        ] {
            let factory =
                Entry::by_name(name).unwrap().factory(Settings::from_pairs(settings.iter().copied())).unwrap();
            for references in [0, 60] {
                let outcome = |memory, threads| {
                    let options = ScanOptions { memory, threads, ..ScanOptions::default() };
                    let (mut reference, mut source) = (documents(0..references), documents(references..200));
                    let against = (references > 0).then_some(&mut reference as &mut dyn Source);
                    scan(&mut source, against, &factory, &options, &()).unwrap()
                };
                let said = |outcome: &Outcome| {
                    let pairs = outcome.pairs().map(|pair| format!("{:?}\n", pair.unwrap())).collect::<String>();
                    let kept = super::super::KEEP_POLICIES.iter().map(|&(_, policy, _)| {
                        let kept = outcome.keep(policy).unwrap();
                        let verdicts = kept.verdicts().map(|verdict| format!("{verdict:?}\n")).collect::<String>();
                        verdicts + &kept.clusters().map(|cluster| format!("{cluster:?}\n")).collect::<String>()
                    });
                    let hosts = outcome.hosts(0).unwrap();
                    let pairs_of_hosts = hosts.pairs().map(|pair| format!("{:?}\n", pair.unwrap())).collect::<String>();
                    (
                        outcome.report.counts.clone(),
                        pairs,
                        kept.collect::<String>(),
                        pairs_of_hosts,
                        hosts.document_pairs,
                    )
                };
                let expected = said(&outcome(1 << 30, 1));
                assert!(expected.0.pairs > Some(3000), "{name}: {:?}", expected.0);
                for threads in [1, 3] {
                    let outcome = outcome(0, threads);
                    assert!(outcome.report.spilled > 16 * 500, "{name}: {}", outcome.report.spilled);
                    assert_eq!(
                        said(&outcome),
                        expected,
                        "{name} {settings:?}, {references} references, {threads} threads"
                    );
                }
            }
        }
    }

    /// Sets that are written in the first reading do not show: with copies, with a reference, and where what is kept is chosen.
    #[test]
    fn early_sets_do_not_show() {
        let word = |n: usize| format!("w{} ", mix(n as u64) % 100_000);
        // Families of six, each member with a word of its own but for a copy of the third.
        let text = |n: usize| {
            let (family, member) = (n % 1000, if n / 1000 == 4 { 2 } else { n / 1000 });
            (0..60)
                .map(|at| word(if at == 30 { 9 * n.min(member * 1000 + family) } else { 100 * family + at }))
                .collect::<String>()
        };
        let documents = |range: std::ops::Range<usize>| Documents::new(range.map(|n| (format!("d{n}"), text(n))));
        let factory = Entry::by_name("minhash").unwrap().factory(Settings::default()).unwrap();
        let policy = KeepPolicy::Longest;
        let scanned =
            |outcome: &Outcome| -> String { outcome.pairs().map(|pair| format!("{:?}\n", pair.unwrap())).collect() };
        let kept =
            |kept: &KeptOutcome| -> String { kept.kept().verdicts().map(|verdict| format!("{verdict:?}\n")).collect() };
        let mut written = 0;
        for references in [0, 1500] {
            let outcome = |way: usize, memory, threads| {
                let options = ScanOptions { memory, threads, ..ScanOptions::default() };
                let (mut reference, mut source) = (documents(0..references), documents(references..6000));
                let against = (references > 0).then_some(&mut reference as &mut dyn Source);
                let source = &mut source;
                let (result, report) = match way {
                    0 => {
                        let outcome = scan(source, against, &factory, &options, &()).unwrap();
                        (scanned(&outcome), outcome.report)
                    }
                    1 => {
                        let outcome = scan_to_keep(source, against, &factory, &options, &(), policy).unwrap();
                        (kept(&outcome), outcome.report().clone())
                    }
                    _ => {
                        let outcome = deduplicate(source, against, &factory, &options, &(), policy).unwrap();
                        (kept(&outcome), outcome.report().clone())
                    }
                };
                (result, report.counts, report.early)
            };
            for way in 0..3 {
                let expected = outcome(way, 1 << 30, 1);
                assert_eq!(expected.2, 0);
                for (memory, threads) in [(1 << 18, 1), (1 << 18, 3)] {
                    let found = outcome(way, memory, threads);
                    // Copies are not written. How many are depends on the batches that are under way when memory is full.
                    assert!(found.2 < 5000, "{way} {references} {memory}: {}", found.2);
                    written += found.2;
                    assert!(
                        (found.0, found.1) == (expected.0.clone(), expected.1.clone()),
                        "{way} {references} {memory}"
                    );
                }
            }
        }
        assert!(written > 1000, "{written}");
    }

    /// How many pairs are looked at.
    fn looked_at(references: usize, documents: usize, factory: &dyn AlgorithmFactory, goal: Goal) -> u64 {
        let (mut reference, mut source) = (pages("r", references), pages("n", documents));
        let options = ScanOptions::default();
        let asked = |ran: Ran| Ok(ran.corpus.asked.into_inner());
        run(&mut source, Some(&mut reference), factory, &options, &(), goal, asked).unwrap()
    }

    #[test]
    fn pages_of_a_reference_do_not_meet_each_other() {
        // In so many tables they may be in runs that are searched one by one.
        for (name, settings, tables) in [
            ("minhash", &[("shingle", "1")][..], 0),
            ("minhash", &[("shingle", "1"), ("exact", "true")], 0),
            // 28 tables; and 91, which are not made.
            ("simhash", &[("grams", "1"), ("distance", "6"), ("blocks", "8")], 28),
            ("simhash", &[("grams", "1"), ("distance", "12"), ("blocks", "14")], 0),
            ("projection", &[], 0),
            ("projection", &[("cosine", "0.7")], 0),
        ] {
            let settings = Settings::from_pairs(
                [("force", "true")].into_iter().filter(|_| name == "simhash").chain(settings.iter().copied()),
            );
            let factory = Entry::by_name(name).unwrap().factory(settings).unwrap();
            for (goal, what) in [
                (Goal::Pairs, "pairs"),
                (Goal::Keep(KeepPolicy::First), "verdicts"),
                (Goal::KeepAmongAll(KeepPolicy::First), "clean"),
            ] {
                let looked_at = looked_at(1500, 4, &factory, goal);
                // Each of the four is looked at with all others once, and once more to connect them.
                let bound = 4 * (2 * 1504 + tables * HOT_RUN as u64);
                assert!(looked_at <= bound, "{name} {what}: {looked_at}");
            }
        }
    }

    /// In an exact join they share many keys.
    #[test]
    fn pages_of_one_template_meet_once() {
        let settings = Settings::from_pairs([("shingle", "1"), ("exact", "true")]);
        let factory = Entry::by_name("minhash").unwrap().factory(settings).unwrap();
        let count = 600;
        let outcome = scan(&mut pages("n", count), None, &factory, &ScanOptions::default(), &()).unwrap();
        let pairs = (count * (count - 1) / 2) as u64;
        assert_eq!(outcome.report.counts.pairs, Some(pairs));
        let looked_at = outcome.corpus.asked.into_inner();
        assert!(looked_at <= pairs, "{looked_at} of {pairs}");
    }
}
