//! Reading: batches of documents become ids, hashes, keys and features, on all threads, collected in input order.

use super::columns::transposed;
use super::documents::{Documents, Part};
use super::early::{Among, SeenKeys};
use super::frequent::FrequentFeatures;
use super::sets::{Chunk, EarlySets};
use super::{Counts, Observer, ScanOptions};
use crate::algorithm::{Algorithm, AlgorithmFactory, CompareOn, Features, Learned, Learns, PreparedAlgorithm, Profile};
use crate::error::Error;
use crate::hash::sequence_hash;
use crate::lexicon::file::Terms;
use crate::lexicon::{Distinct, FrequencyBounds, LexiconBuilder, Rarity, Tally, TermMemory, TermsBuilder};
use crate::outline::{Parities, parities};
use crate::postings::Spilled;
use crate::run::batches::{self, ALONE_BYTES, Numbered, Queue, SIGNING_BYTES, Side};
use crate::run::ordered::Room;
use crate::run::sign::{self, Budget, Scratch, Signer, SigningMemory};
use crate::source::{Document, Problem};
use crate::tokenizer::{Bound, TokenDetail, Tokens};
use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use xxhash_rust::xxh3::xxh3_64;

/// How the algorithm is selected.
pub(super) enum Choice<'a> {
    /// By the median length of the first documents.
    Sampled(&'a dyn AlgorithmFactory),
    /// It is given.
    Known(PreparedAlgorithm),
}

/// The sample ends with the batch that brings it to this many documents or bytes of input.
const SAMPLE_DOCUMENTS: usize = 1000;
const SAMPLE_BYTES: u64 = 4 << 20;

/// The result of reading.
pub(super) struct Reading {
    pub documents: Documents,
    /// The median length of all documents, in tokens of the requested tokenizer.
    pub median_tokens: usize,
    pub counts: Counts,
    /// Whether the features of every document are in memory.
    pub retained: bool,
    /// The sets of some documents, if not.
    pub early: Option<EarlySets>,
}

/// The result of counting.
pub(super) struct Counted {
    pub prepared: PreparedAlgorithm,
    pub learned: Learned,
    pub median_tokens: usize,
    /// The result of reading except records, if the counted features are those that are compared, and fit the budget.
    pub kept: Option<(Documents, Counts)>,
}

/// What is counted, as the algorithm requires.
enum Counters {
    Terms(LexiconBuilder, Distinct),
    Features(Rarity),
    FrequencyBounds(FrequencyBounds),
    /// Those that at least so many documents have are learned.
    Frequent(FrequentFeatures, u64),
}

impl Counters {
    fn new(prepared: &PreparedAlgorithm, total_bytes: Option<u64>, reader: &Reader<'_>) -> Self {
        let (memory, folder) = (reader.options.memory, reader.options.temp_dir.as_deref());
        match prepared.algorithm.learns() {
            Some(Learns::Features) => {
                Counters::Features(Rarity::for_bytes(total_bytes.unwrap_or(UNKNOWN_BYTES), memory))
            }
            Some(Learns::FrequencyBounds) => {
                Counters::FrequencyBounds(FrequencyBounds::for_bytes(total_bytes.unwrap_or(u64::MAX), memory))
            }
            Some(Learns::Frequent { documents, most }) => {
                Counters::Frequent(FrequentFeatures::new(most, memory, folder), documents)
            }
            Some(Learns::Terms) | None => {
                let memory = TermMemory::of(memory, folder);
                Counters::Terms(LexiconBuilder::within(memory, reader.threads), Distinct::default())
            }
        }
    }

    /// What was counted in so many documents.
    ///
    /// # Errors
    /// It does not fit in memory, or a temporary file cannot be read.
    fn learned(self, documents: u64) -> Result<Learned, Error> {
        Ok(match self {
            Counters::Terms(lexicon, distinct) => Learned::Terms(Arc::new(lexicon.freeze(distinct.count())?)),
            Counters::Features(rarity) => Learned::Features(Arc::new(rarity)),
            Counters::FrequencyBounds(bounds) => Learned::FrequencyBounds(Arc::new(bounds.of(documents))),
            Counters::Frequent(features, least) => {
                let least = least.try_into().unwrap_or(u32::MAX);
                Learned::Frequent(features.of_at_least(least)?.into())
            }
        })
    }
}

/// The number of bytes that features are counted for if the size of the input is not known.
const UNKNOWN_BYTES: u64 = 64 << 20;

/// Reads sources.
pub(super) struct Reader<'a> {
    pub options: &'a ScanOptions,
    pub threads: usize,
    pub observer: &'a dyn Observer,
    /// Whether candidates are chosen by outlines, if their features are read again.
    pub outlines: bool,
    /// Which pairs are looked for, if sets of likely candidates are [written](super::early) in the first reading.
    pub writes_early: Option<Among>,
    /// Hashes of the reported problems.
    reported: Mutex<HashSet<u64>>,
    /// What the workers sign documents in.
    signing: Arc<SigningMemory>,
}

/// What the promise about the memory of the process allows for the features of a batch, while they are kept.
const PART_BYTES: u64 = 1 << 20;

/// The same for what is kept of the documents, and of each: of its id, and of everything else.
const DOCUMENTS_BYTES: u64 = 32 << 20;
const BYTES_OF_ID: u64 = 22;
const BYTES_A_DOCUMENT: u64 = 40;

/// The share of the memory for features of which the rest goes to a file.
const FEATURES_HELD_SHARE: u64 = 4;

/// What outlines may take in addition to a share of the memory, in bytes.
const OUTLINES_BYTES: u64 = 4 << 20;

impl<'a> Reader<'a> {
    pub fn new(options: &'a ScanOptions, threads: usize, observer: &'a dyn Observer) -> Self {
        let eighth = options.memory / 8;
        let (together, alone) = (eighth + SIGNING_BYTES, 3 * eighth + ALONE_BYTES);
        let signing = SigningMemory::new(Budget { together, alone, alone_a_byte: 2, later_a_token: 0 }, threads);
        Reader { options, threads, observer, outlines: false, writes_early: None, reported: Mutex::default(), signing }
    }

    /// Reads everything: the reference first, then the source.
    pub fn read(&self, sources: &mut [Side<'_>], choice: Choice<'_>) -> Result<(PreparedAlgorithm, Reading), Error> {
        let retain = AtomicBool::new(true);
        let total_bytes = sources.iter().map(|side| side.source.total_bytes()).sum::<Option<u64>>();
        let (mut documents, mut counts) = (Documents::default(), Counts::default());
        let (mut estimated, learned) = (false, AtomicU64::new(0));
        let (seen, mut early) = (OnceLock::new(), None);
        let choose = |queue: &mut Queue| {
            let prepared = self.choose(choice, queue)?;
            learned.store(prepared.algorithm.bytes_learned(), Ordering::Relaxed);
            Ok(prepared)
        };
        let prepared = self.in_parallel(
            sources,
            choose,
            |prepared, numbered, scratch| {
                let retain = retain.load(Ordering::Relaxed);
                let purpose = Purpose::Sign { retain, outlines: self.outlines, seen: seen.get() };
                self.part(prepared, numbered, scratch, purpose)
            },
            |mut part| {
                self.take_note(&mut part, &mut counts)?;
                if part.is_incomplete {
                    // Verification reads the candidates again.
                    retain.store(false, Ordering::Relaxed);
                }
                let first = documents.lengths.len();
                documents.push(&part, retain.load(Ordering::Relaxed))?;
                if let Some(seen) = seen.get()
                    && !self.write_early(&mut early, first as u32, &part.early)
                {
                    seen.stop();
                }
                let learned = learned.load(Ordering::Relaxed);
                // The other half is for the groups, and for the data that candidates are compared by.
                let of_early =
                    seen.get().map_or(0, SeenKeys::bytes_held) + early.as_ref().map_or(0, EarlySets::bytes_held);
                let half = (self.options.memory / 2).saturating_sub(learned + of_early);
                documents.bound(half, self.options.temp_dir.as_deref())?;
                if self.check_budget(&documents, learned + of_early).is_err() {
                    // Without them, more candidates are read again.
                    documents.drop_parities();
                    early = None;
                    seen.get().into_iter().for_each(SeenKeys::stop);
                }
                self.check_budget(&documents, learned)?;
                if !estimated && counts.bytes >= SAMPLE_BYTES {
                    estimated = true;
                    let estimate = |total| documents.estimate(counts.bytes, total, self.options.memory / 2);
                    total_bytes.into_iter().for_each(|total| self.observer.estimate(&estimate(total)));
                }
                if part.is_incomplete || !self.fits(8 * documents.features.len() as u64, counts.bytes, total_bytes) {
                    retain.store(false, Ordering::Relaxed);
                    (documents.features, documents.feature_ends) = Default::default();
                    if let Some(among) = self.writes_early.filter(|_| documents.columns.is_some()) {
                        seen.get_or_init(|| SeenKeys::new(total_bytes, self.options.memory, among));
                    }
                }
                Ok(())
            },
        )?;
        let median_tokens = median_of(documents.asked_lengths());
        documents.measured = Vec::new();
        Ok((prepared, Reading { documents, median_tokens, counts, retained: retain.into_inner(), early }))
    }

    /// Writes the sets of documents, numbered from `first`. Returns whether there is room for more. If the file cannot be written,
    /// there are none: then the documents are read again, and there is an error if the file is needed.
    fn write_early(&self, early: &mut Option<EarlySets>, first: u32, sets: &Chunk) -> bool {
        if sets.ends.is_empty() {
            return true;
        }
        let mut add = || -> Result<bool, Error> {
            if early.is_none() {
                *early = Some(EarlySets::new(self.file_of_features(self.options.memory)?));
            }
            let early = early.as_mut().expect("it was made");
            if early.len() + sets.ends.len() > self.most_outlines() {
                return Ok(false);
            }
            early.append(first, sets).map(|()| true)
        };
        let added = add();
        if added.is_err() {
            *early = None;
        }
        added.unwrap_or(false)
    }

    /// The number of sets in a file of which all parities may be in memory.
    pub fn most_outlines(&self) -> usize {
        (self.options.memory / 16 + OUTLINES_BYTES) as usize / size_of::<Parities>()
    }

    /// A file for the features that do not fit in memory, of which the first stay there: of so many bytes that are free, a share.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn file_of_features(&self, free: u64) -> Result<Spilled, Error> {
        let file = Spilled::new("features", self.options.temp_dir.as_deref())?;
        Ok(file.holding(free / FEATURES_HELD_SHARE))
    }

    /// The same result from what counting kept.
    pub fn sign(
        &self,
        prepared: PreparedAlgorithm,
        median_tokens: usize,
        (mut documents, counts): (Documents, Counts),
    ) -> (PreparedAlgorithm, Reading) {
        documents.sign(&*prepared.algorithm);
        documents.measured = Vec::new();
        self.observer.progress(counts.bytes, documents.lengths.len() as u64);
        (prepared, Reading { documents, median_tokens, counts, retained: true, early: None })
    }

    /// Checks that the documents so far fit the memory, with what the algorithm has learned, and with that for grouping them.
    ///
    /// # Errors
    /// They do not.
    fn check_budget(&self, documents: &Documents, learned: u64) -> Result<(), Error> {
        let (count, memory) = (documents.lengths.len() as u64, self.options.memory);
        let allowed = BYTES_A_DOCUMENT * count + (BYTES_OF_ID * count).min(documents.ids.len() as u64);
        if documents.bytes_held() + learned <= memory / 4 * 3 + DOCUMENTS_BYTES + allowed {
            return Ok(());
        }
        let rejections = &documents.rejections;
        if rejections.bytes_held() > documents.bytes_held() / 2 {
            return Err(Error::Full(format!(
                "the messages of the first {} records that are not read do not fit `memory` ({memory} bytes): allow more, \
                 or check whether the input is damaged",
                rejections.len()
            )));
        }
        let terms = if learned == 0 { String::new() } else { format!(", beside {learned} bytes for terms,") };
        Err(Error::Full(format!(
            "the ids and keys of the first {count} documents{terms} do not fit `memory` ({memory} bytes): allow more"
        )))
    }

    /// Counts a part, and reports its problems.
    ///
    /// # Errors
    /// A document could not be signed.
    fn take_note(&self, part: &mut Part, counts: &mut Counts) -> Result<(), Error> {
        if let Some(refused) = part.refused.take() {
            return Err(refused);
        }
        for problem in &part.problems {
            counts.problem(problem);
            self.report_once(problem);
        }
        counts.unnamed += part.unnamed;
        counts.unnamed_references += if part.reference { part.unnamed } else { 0 };
        counts.bytes += part.bytes;
        self.observer.unpacked(part.unpacked);
        self.observer.progress(part.bytes, part.asked_lengths().len() as u64);
        self.check_stopped()
    }

    /// Whether the run goes on.
    ///
    /// # Errors
    /// The observer ends it.
    pub fn check_stopped(&self) -> Result<(), Error> {
        if self.observer.is_stopped() { Err(Error::Stopped) } else { Ok(()) }
    }

    /// Counts what the algorithm learns from, over everything.
    pub fn count(&self, sources: &mut [Side<'_>], choice: Choice<'_>) -> Result<Counted, Error> {
        let total_bytes = sources.iter().map(|side| side.source.total_bytes()).sum::<Option<u64>>();
        let counters = OnceLock::new();
        let retain = AtomicBool::new(true);
        let (mut kept, mut counts, mut lengths, mut documents) =
            (Documents::default(), Counts::default(), Vec::new(), 0);
        let prepared = self.in_parallel(
            sources,
            |queue| self.choose(choice, queue),
            |prepared, numbered, scratch| {
                let counters = counters.get_or_init(|| Counters::new(prepared, total_bytes, self));
                match counters {
                    Counters::Features(rarity) if makes_free_keys(prepared) && retain.load(Ordering::Relaxed) => {
                        self.part(prepared, numbered, scratch, Purpose::Count(rarity))
                    }
                    _ => self.count_batch(prepared, numbered, scratch, counters),
                }
            },
            |mut part: Part| {
                self.take_note(&mut part, &mut counts)?;
                documents += part.asked_lengths().len() as u64;
                lengths.extend_from_slice(part.asked_lengths());
                // A part that was only counted has no features.
                let has_all = part.feature_ends.len() == part.asked_lengths().len() && !part.weighted;
                if retain.load(Ordering::Relaxed) && has_all {
                    kept.push(&part, true)?;
                }
                let fits = self.fits(8 * kept.features.len() as u64, counts.bytes, total_bytes);
                if !has_all || !fits || self.check_budget(&kept, 0).is_err() {
                    // Everything will be read again.
                    retain.store(false, Ordering::Relaxed);
                    kept = Documents::default();
                }
                Ok(())
            },
        )?;
        // Without any input they are empty.
        let counters = counters.into_inner().unwrap_or_else(|| Counters::new(&prepared, Some(0), self));
        Ok(Counted {
            learned: counters.learned(documents)?,
            median_tokens: median_of(&lengths),
            kept: (retain.into_inner() && makes_free_keys(&prepared)).then_some((kept, counts)),
            prepared,
        })
    }

    fn count_batch(
        &self,
        prepared: &PreparedAlgorithm,
        numbered: Numbered,
        scratch: &mut Scratch,
        counters: &Counters,
    ) -> Part {
        let (bytes, unpacked) = (numbered.batch.bytes_read(), numbered.batch.bytes_unpacked());
        let mut part = Part { bytes, unpacked, ..Part::default() };
        let signer = self.signer(prepared);
        let mut tally = match counters {
            Counters::Terms(lexicon, _) => lexicon.tally(),
            _ => Tally::default(),
        };
        numbered.batch.documents(&mut |document| match document {
            Ok(document) => {
                let scratch = &mut *signer.begin(&document.text, scratch);
                let cut = match counters {
                    Counters::Terms(..) => signer.cut_terms(&document.text, scratch),
                    _ => signer.cut(&document.text, scratch),
                };
                match cut {
                    Ok(measured) => part.measured.push(clamp(measured)),
                    Err(too_large) => return part.refuse(too_large, &document.place),
                }
                let distinct_features = |features: &mut Features| {
                    features.weights.clear();
                    features.remove_repeats();
                };
                if !matches!(counters, Counters::Terms(..)) {
                    signer.features(scratch);
                }
                let features = &mut scratch.features;
                let counted = match counters {
                    Counters::Terms(lexicon, distinct) => {
                        // An exact copy adds no information about terms.
                        let is_new = distinct.insert(signer.sequence(scratch));
                        if is_new { count_terms(lexicon, &mut tally, scratch) } else { Ok(()) }
                    }
                    Counters::Features(rarity) => {
                        distinct_features(features);
                        rarity.add_all(&features.hashes);
                        Ok(())
                    }
                    Counters::FrequencyBounds(bounds) => {
                        distinct_features(features);
                        bounds.add(&features.hashes);
                        Ok(())
                    }
                    Counters::Frequent(counted, _) => {
                        distinct_features(features);
                        counted.add(&features.hashes)
                    }
                };
                part.fail(counted);
            }
            Err(problem) => part.problems.push(problem),
        });
        if let Counters::Terms(lexicon, _) = counters {
            lexicon.give_back(tally);
        }
        part
    }

    /// Counts the texts of the terms of everything.
    pub fn terms(&self, sources: &mut [Side<'_>], counts: &mut Counts) -> Result<Terms, Error> {
        let memory = TermMemory::of(self.options.memory, self.options.temp_dir.as_deref());
        let (terms, distinct) = (TermsBuilder::new(memory), Distinct::default());
        self.in_parallel(
            sources,
            |_| Ok(()),
            |_, numbered, scratch| self.batch_terms(numbered, scratch, &terms, &distinct),
            |mut part: Part| {
                self.take_note(&mut part, counts)?;
                counts.documents += part.lengths.len() as u64;
                counts.tokens += part.lengths.iter().map(|&length| u64::from(length)).sum::<u64>();
                Ok(())
            },
        )?;
        counts.copies = counts.documents - distinct.count();
        terms.freeze(distinct.count())
    }

    fn batch_terms(
        &self,
        numbered: Numbered,
        scratch: &mut Scratch,
        terms: &TermsBuilder,
        distinct: &Distinct,
    ) -> Part {
        let (bytes, unpacked) = (numbered.batch.bytes_read(), numbered.batch.bytes_unpacked());
        let mut part = Part { bytes, unpacked, ..Part::default() };
        let tokenizer = &*self.options.tokenizer;
        numbered.batch.documents(&mut |document| match document {
            Ok(document) => {
                let scratch = &mut *scratch.begin(&document.text, sign::bytes_a_byte(tokenizer));
                // The number of each, while they are sorted.
                let more = size_of::<u32>() as u64;
                let cut = scratch.cut(TokenDetail::Texts, more, |tokens| tokenizer.cut(&document.text, tokens));
                if let Err(too_large) = cut {
                    return part.refuse(too_large, &document.place);
                }
                let Scratch { tokens, features, .. } = scratch;
                part.lengths.push(clamp(tokens.len()));
                if distinct.insert(sequence_hash(tokens.hashes(), self.options.seed)) {
                    part.fail(terms.add(tokens, features.positions_mut()));
                }
            }
            Err(problem) => part.problems.push(problem),
        });
        part
    }

    fn choose(&self, choice: Choice<'_>, queue: &mut Queue) -> Result<PreparedAlgorithm, Error> {
        match choice {
            Choice::Known(prepared) => Ok(prepared),
            Choice::Sampled(factory) => factory.prepare(self.sample(queue)),
        }
    }

    /// Reports a problem, unless an earlier reading reported it.
    pub fn report_once(&self, problem: &Problem) {
        let known = xxh3_64(problem.to_string().as_bytes());
        if self.reported.lock().unwrap_or_else(PoisonError::into_inner).insert(known) {
            self.observer.problem(problem);
        }
    }

    /// Whether features of this size fit half the budget, and are estimated to fit after everything is read.
    fn fits(&self, kept: u64, bytes: u64, total_bytes: Option<u64>) -> bool {
        let projected = match total_bytes {
            Some(total) if bytes >= SAMPLE_BYTES => kept as f64 / bytes as f64 * total as f64,
            _ => 0.0,
        };
        let budget = self.options.memory / 2;
        kept <= budget && projected <= budget as f64 * 1.1
    }

    /// Passes every batch through `work` on some thread and passes the results to `take` in input order. `begin` runs
    /// first and may read the first batches; its value is lent to every call of `work`. The first error ends the run, and
    /// so does a [failure](Source::failure) of a source.
    ///
    /// Between reading a batch and taking its result there are at most six batches per worker, and no more bytes than
    /// there is [room](Self::room) for, however long one batch takes. A panic of the source, or of a worker, continues in
    /// the calling thread.
    pub fn in_parallel<C: Sync, T: Send>(
        &self,
        sources: &mut [Side<'_>],
        begin: impl FnOnce(&mut Queue) -> Result<C, Error>,
        work: impl Fn(&C, Numbered, &mut Scratch) -> T + Sync,
        take: impl FnMut(T) -> Result<(), Error>,
    ) -> Result<C, Error> {
        batches::in_parallel((self.threads, self.room()), sources, begin, || self.scratch(), work, take)
    }

    /// The maximum number and size of the batches between reading and taking.
    fn room(&self) -> Room {
        batches::room(self.threads, self.options.memory)
    }

    fn scratch(&self) -> Scratch {
        Scratch::new(self.options.seed, Arc::clone(&self.signing))
    }

    pub fn signer<'s>(&'s self, prepared: &'s PreparedAlgorithm) -> Signer<'s> {
        Signer::new(prepared, &*self.options.tokenizer, self.options.seed)
    }

    /// The median length of the first documents. Their batches stay in the queue, so that it ends where there is no room
    /// for more.
    fn sample(&self, queue: &mut Queue) -> usize {
        let mut tokens = Tokens::new(TokenDetail::Hashes, self.options.seed);
        let (mut lengths, mut bytes) = (Vec::new(), 0);
        while lengths.len() < SAMPLE_DOCUMENTS && bytes < SAMPLE_BYTES {
            let Some(numbered) = queue.batches.next_with_room() else { break };
            numbered.piece.batch.documents(&mut |document| {
                if let Ok(document) = document {
                    // One that takes more counts as very long.
                    tokens.bound(Bound { bytes: ALONE_BYTES, ..Bound::NONE });
                    self.options.tokenizer.cut(&document.text, &mut tokens);
                    match tokens.is_beyond_bound() {
                        true => lengths.push(clamp(ALONE_BYTES as usize / 8)),
                        false if tokens.is_empty() => {}
                        false => lengths.push(clamp(tokens.len())),
                    }
                    if tokens.bytes_held() as u64 > ALONE_BYTES / 8 {
                        tokens = Tokens::new(TokenDetail::Hashes, self.options.seed);
                    }
                }
            });
            bytes += numbered.piece.batch.bytes_read().max(1);
            queue.held.push_back(numbered);
        }
        median(&mut lengths)
    }

    /// Turns a batch into a part.
    fn part(
        &self,
        prepared: &PreparedAlgorithm,
        numbered: Numbered,
        scratch: &mut Scratch,
        purpose: Purpose<'_>,
    ) -> Part {
        let (batch, mut load, signer) = (numbered.batch, numbered.load, self.signer(prepared));
        let most_features = (self.options.memory / 16 + PART_BYTES) as usize / size_of::<u64>();
        let (reference, bytes, unpacked) = (numbered.reference, batch.bytes_read(), batch.bytes_unpacked());
        let mut part = Part { reference, bytes, unpacked, most_features, ..Part::default() };
        let profile = prepared.algorithm.profile();
        batch.selected(&mut |_| true, &mut |record, document| match document {
            Ok(document) => {
                let number = part.sequences.len() as u32;
                if record != number && part.records_of.is_empty() {
                    part.records_of.extend(0..number);
                }
                if record != number || !part.records_of.is_empty() {
                    part.records_of.push(record);
                }
                document_part((prepared, &profile), &signer, &document, scratch, purpose, &mut part);
            }
            Err(problem) => {
                if problem.kind.is_rejection() {
                    part.rejected.push((part.sequences.len() as u32, part.problems.len()));
                }
                part.problems.push(problem);
            }
        });
        part.tables = columns_of(prepared);
        if let Some(tables) = part.tables {
            part.columns = transposed(&part.records, tables);
            (part.records, part.record_ends) = Default::default();
        }
        if !part.early.ends.is_empty() {
            // As much as the batch was counted when it was read.
            let counted = batch.bytes_held();
            drop(batch);
            load.raise(part.early.bytes_held().saturating_sub(counted));
            part.load = Some(load);
        }
        part
    }
}

/// The purpose of reading the documents.
#[derive(Clone, Copy)]
enum Purpose<'a> {
    /// Making keys; and comparing by features in the same run, if these are retained.
    /// With the outlines of the features, if their keys are free; and with the sets of documents whose keys were seen, if these
    /// are looked up.
    Sign { retain: bool, outlines: bool, seen: Option<&'a SeenKeys> },
    /// Counting features, which are retained.
    Count(&'a Rarity),
}

impl Purpose<'_> {
    fn retains(self) -> bool {
        matches!(self, Purpose::Sign { retain: true, .. } | Purpose::Count(_))
    }
}

/// Adds a document to a part.
fn document_part(
    (prepared, profile): (&PreparedAlgorithm, &Profile),
    signer: &Signer<'_>,
    document: &Document<'_>,
    scratch: &mut Scratch,
    purpose: Purpose<'_>,
    part: &mut Part,
) {
    let scratch = &mut *signer.begin(&document.text, scratch);
    let measured = match signer.cut(&document.text, scratch) {
        Ok(measured) => measured,
        Err(too_large) => return part.refuse(too_large, &document.place),
    };
    if prepared.tokenizer.is_some() {
        part.measured.push(clamp(measured));
    }
    part.unnamed += u64::from(document.place.names(&document.id));
    part.ids.push_str(&document.id);
    part.id_ends.push(part.ids.len());
    part.places.push(document.place.clone());
    part.rank(document.rank.clone());
    part.sequences.push(signer.sequence(scratch));
    part.lengths.push(clamp(scratch.tokens.len()));
    signer.features(scratch);
    scratch.features.remark.take().into_iter().for_each(|remark| part.remarks.add(remark));
    if profile.signs_sets {
        scratch.sort_features();
    }

    let (algorithm, Scratch { features, fingerprint, .. }) = (&*prepared.algorithm, &mut *scratch);
    part.weighted |= !features.weights.is_empty();
    match profile.compare_on {
        CompareOn::Fingerprints => {
            let start = part.records.len();
            algorithm.fingerprint(features, &mut part.records);
            part.featureless.push(part.records.len() == start);
            part.record_ends.push(part.records.len());
        }
        compare_on @ (CompareOn::Features | CompareOn::Multisets) => {
            if purpose.retains() {
                part.retain(&features.hashes);
            }
            if let Purpose::Sign { .. } = purpose {
                sign((algorithm, profile.tables), features, fingerprint, part);
            }
            // The fingerprint was made of features in their original order, unless it is that of a set. From here on they are
            // a set, if sets are compared.
            let is_set = compare_on == CompareOn::Features && profile.tables.is_none();
            features.weights.clear();
            if is_set && !profile.signs_sets {
                features.remove_repeats();
            }
            part.sizes.push(clamp(features.hashes.len()));
            if let Purpose::Sign { seen: Some(seen), .. } = purpose {
                let number = part.record_ends.len();
                let start = number.checked_sub(2).map_or(0, |before| part.record_ends[before]);
                let sequence = (part.sequences[number - 1] >> 64) as u64;
                let is_seen = part.featureless.last() == Some(&false)
                    && seen.add(&part.records[start..], sequence, part.reference);
                if is_seen && part.early.words.len() + features.hashes.len() <= part.most_features {
                    signer.compared(compare_on, scratch, &mut part.early.words);
                    part.early.end(number as u32 - 1);
                }
                return;
            }
            if let Purpose::Sign { outlines: true, .. } = purpose
                && profile.tables.is_none()
            {
                part.parities.push(parities(&features.hashes));
            }
            if let Purpose::Count(rarity) = purpose {
                if !is_set && !profile.signs_sets {
                    features.remove_repeats();
                }
                rarity.add_all(&features.hashes);
            }
        }
    }
}

/// Adds the keys of a document that is compared by its features.
fn sign(
    (algorithm, tables): (&dyn Algorithm, Option<usize>),
    features: &Features,
    fingerprint: &mut Vec<u64>,
    part: &mut Part,
) {
    let start = part.records.len();
    let has_keys = sign::keys(algorithm, features, fingerprint, &mut part.records);
    part.featureless.push(!has_keys);
    if let Some(tables) = tables {
        let given = part.records.len() - start;
        assert!(!has_keys || given == tables, "every fingerprint must have {tables} keys");
        part.records.resize(start + tables, 0);
    }
    part.record_ends.push(part.records.len());
}

/// Documents with more tokens are counted without a tally.
const MOST_TALLIED: usize = 1 << 19;

/// Counts the terms of a document; the tokens of a long one are then gone.
fn count_terms(lexicon: &LexiconBuilder, tally: &mut Tally, scratch: &mut Scratch) -> Result<(), Error> {
    let Scratch { tokens, features, .. } = scratch;
    if tokens.len() > MOST_TALLIED {
        tokens.allow_taking();
    }
    match tokens.take_hashes() {
        Some(mut terms) => {
            features.remove_near_repeats(&mut terms);
            lexicon.count_long(terms)
        }
        None => lexicon.count(tally, tokens.hashes()),
    }
}

/// Whether documents have any number of keys and are compared by their features.
fn makes_free_keys(prepared: &PreparedAlgorithm) -> bool {
    prepared.algorithm.tables().is_none() && prepared.algorithm.compare_on() != CompareOn::Fingerprints
}

/// The number of keys of each document, if it is the same for all and keys are not made from fingerprints.
fn columns_of(prepared: &PreparedAlgorithm) -> Option<usize> {
    let algorithm = &*prepared.algorithm;
    algorithm.tables().filter(|_| algorithm.compare_on() != CompareOn::Fingerprints)
}

/// The lower median of the numbers other than 0; 0 if there are none.
pub(crate) fn median_of(lengths: &[u32]) -> usize {
    median(&mut lengths.iter().copied().filter(|&length| length > 0).collect::<Vec<_>>())
}

/// The lower median; 0 of an empty slice.
fn median(lengths: &mut [u32]) -> usize {
    if lengths.is_empty() {
        return 0;
    }
    let middle = (lengths.len() - 1) / 2;
    *lengths.select_nth_unstable(middle).1 as usize
}

fn clamp(tokens: usize) -> u32 {
    tokens.try_into().unwrap_or(u32::MAX)
}

#[cfg(all(test, feature = "compression"))]
mod tests {
    use crate::algorithm::ALGORITHMS;
    use crate::engine::{self, Observer, ScanOptions, Stage};
    use crate::source::{Input, Problem, ReadOptions, Records, Source};
    use std::fs;
    use std::io::Write;
    use std::sync::Mutex;

    /// The bytes of each stage that read: those of files, and those without compression.
    #[derive(Default)]
    struct Bytes(Mutex<Vec<(Stage, u64, u64)>>);

    impl Observer for Bytes {
        fn stage(&self, stage: Stage) {
            self.0.lock().unwrap().push((stage, 0, 0));
        }

        fn progress(&self, bytes: u64, _: u64) {
            self.0.lock().unwrap().last_mut().expect("a stage began").1 += bytes;
        }

        fn unpacked(&self, bytes: u64) {
            self.0.lock().unwrap().last_mut().expect("a stage began").2 += bytes;
        }
    }

    fn records() -> Vec<u8> {
        let words = |n: usize| (0..60).map(|i| format!("w{} ", n * i % 97)).collect::<String>();
        let line = |n| format!("{{\"id\":\"{n}\",\"text\":\"{}\"}}\n", words(n));
        (0..2000).map(line).collect::<String>().into_bytes()
    }

    #[test]
    fn records_that_are_not_read_and_fill_the_memory_are_named() {
        let mut records = Records::new(|| {
            let failures = (0..50).map(|n| Err(Problem::of_record(n, format!("{n}{}", "x".repeat(1 << 20)))));
            [Ok(("a", "some text")), Ok(("b", "other text"))].into_iter().chain(failures)
        });
        let factory = ALGORITHMS[0].factory(Default::default()).unwrap();
        let options = ScanOptions { memory: 1 << 20, threads: 2, ..ScanOptions::default() };
        let Err(error) = engine::scan(&mut records, None, &factory, &options, &()) else { panic!("they do not fit") };
        let (start, end) =
            ("the messages of the first ", " records that are not read do not fit `memory` (1048576 bytes)");
        let message = error.to_string();
        assert!(message.contains(start) && message.contains(end), "{message}");
    }

    #[test]
    fn progress_of_compressed_input_reaches_the_total_and_counts_what_it_unpacks() {
        let (folder, plain) = (tempfile::tempdir().unwrap(), records());
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        gzip.write_all(&plain).unwrap();
        fs::write(folder.path().join("a.jsonl.gz"), gzip.finish().unwrap()).unwrap();
        fs::write(folder.path().join("b.jsonl.zst"), zstd::encode_all(&plain[..], 3).unwrap()).unwrap();
        fs::write(folder.path().join("c.jsonl"), &plain).unwrap();
        for entry in ALGORITHMS {
            for memory in [1 << 30, 1 << 20] {
                let mut input = Input::new(vec![folder.path().to_path_buf()], ReadOptions::default());
                let total = input.total_bytes().expect("files have sizes");
                assert!(total < 2 * plain.len() as u64, "most of it is compressed");
                let factory = entry.factory(Default::default()).unwrap();
                let options = ScanOptions { memory, threads: 2, ..ScanOptions::default() };
                let bytes = Bytes::default();
                engine::scan(&mut input, None, &factory, &options, &bytes).unwrap();
                let stages = bytes.0.into_inner().unwrap();
                let reads = stages.iter().filter(|(_, read, _)| *read > 0);
                assert!(reads.clone().count() > 0, "{}", entry.name);
                for &(stage, read, unpacked) in reads {
                    assert_eq!(read, total, "{} {stage:?}", entry.name);
                    // From what counting kept, nothing is unpacked.
                    let is_kept = stage == Stage::Reading && unpacked == 0 && stages[0].0 == Stage::Counting;
                    assert!(is_kept || unpacked == 3 * plain.len() as u64, "{} {stage:?}: {unpacked}", entry.name);
                }
            }
        }
    }
}
