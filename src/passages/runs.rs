//! Options, and the reading of documents as sets of runs of words; which of them share runs.

use super::cutting::{Cutting, WordOptions, memory_of_reading, sequence_of};
use super::locate::Documents;
use super::reading::{PassageCounts, check_stopped};
use super::shared::Shared;
use crate::error::Error;
use crate::hash::shingle_hashes_in_place;
use crate::postings::{Filter, Sorter};
use crate::readable::counted;
use crate::run::batches::{Numbered, Side, in_parallel};
use crate::run::fields::{FieldsFound, RequiredFields, field_names};
use crate::run::observer::{Observer, Stage};
use crate::run::ordered::{Load, thread_pool};
use crate::run::places::{At, Places};
use crate::run::rejections::Rejections;
use crate::run::sign::sort_distinct;
use crate::similarity::Threshold;
use crate::source::{Problem, Source};
use crate::tokenizer::{TokenDetail, Tokenizer, Word};
use rayon::ThreadPool;
use std::path::PathBuf;
use std::sync::Arc;

/// Options of the search for documents that are contained in others. Threads, memory and the folder do not change what is found.
#[derive(Clone)]
pub struct ContainOptions {
    /// What texts are cut with. It must not make tokens that overlap.
    pub tokenizer: Arc<dyn Tokenizer>,
    /// Seeds every hash.
    pub seed: u64,
    /// The length of a run, in tokens, at least 1. A Han or Kana character is a token of the default tokenizer.
    pub shingle: usize,
    /// The least share of the runs of a document in one other document.
    pub min_coverage: Threshold,
    /// If set, a document is also reported if at least this share of its runs stands in all other documents together.
    pub min_coverage_all: Option<Threshold>,
    /// Whether [`find_contained`](super::find_contained) reports every document, whatever its coverage: also those that share nothing.
    pub lists_all: bool,
    /// What `min_coverage` is a share of, where documents are kept or dropped. The share of the reference excludes `min_coverage_all`.
    pub of: ShareOf,
    /// The maximum number of passages that are reported of a document.
    pub max_passages: usize,
    /// Worker threads; 0 means one a core.
    pub threads: usize,
    /// Memory for runs, words and passages, in bytes. What does not fit goes to temporary files.
    pub memory: u64,
    /// The folder of the temporary files; `None` is the system's.
    pub temp_dir: Option<PathBuf>,
    /// The fields that some record must have.
    pub required_fields: RequiredFields,
}

/// What a share is a share of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ShareOf {
    /// Of the document that is kept or dropped.
    #[default]
    Document,
    /// Of a document of the reference.
    Reference,
}

impl ShareOf {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            ShareOf::Document => "document",
            ShareOf::Reference => "reference",
        }
    }
}

/// Runs of 13 words, half of them in one document, 100 passages, 1 GiB.
impl Default for ContainOptions {
    fn default() -> Self {
        ContainOptions {
            tokenizer: Arc::new(Word),
            seed: 0,
            shingle: 13,
            min_coverage: Threshold::new(1, 2).expect("a half is a threshold"),
            min_coverage_all: None,
            lists_all: false,
            of: ShareOf::Document,
            max_passages: 100,
            threads: 0,
            memory: 1 << 30,
            temp_dir: None,
            required_fields: RequiredFields::default(),
        }
    }
}

impl ContainOptions {
    pub(super) fn words(&self) -> WordOptions<'_> {
        let ContainOptions { tokenizer, seed, threads, memory, .. } = self;
        WordOptions { tokenizer: &**tokenizer, seed: *seed, threads: *threads, memory: *memory }
    }

    /// Checks what is independent of the documents.
    fn check(&self, purpose: Purpose, is_against: bool) -> Result<(), Error> {
        self.words().check("runs of words")?;
        if self.shingle == 0 {
            return Err(Error::parameter("shingle", "0", "a number of tokens from 1"));
        }
        if self.of == ShareOf::Document {
            return Ok(());
        }
        let why = match (purpose, is_against, self.min_coverage_all) {
            (Purpose::Passages | Purpose::Shares, ..) => {
                "has an effect only on what is kept: to list shares of the reference, search for it in the documents"
            }
            (_, false, _) => "needs a reference: name one with `against`",
            (_, _, Some(_)) => {
                "excludes `min-coverage-all`: a document is dropped for what it has of one document of the reference"
            }
            (_, true, None) => return Ok(()),
        };
        Err(Error::Usage(format!("`of reference` {why}")))
    }
}

/// What documents are compared for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// The passages that they share: the sources can be read again.
    Passages,
    /// How much they share.
    Shares,
    /// A verdict on each record of the source: those that are rejected are kept.
    Verdicts,
}

/// Documents that were read, and the runs that they share.
pub(super) struct Compared {
    pub shared: Shared,
    pub documents: Documents,
    /// The records of the source that are not documents, if they are kept.
    pub rejections: Rejections,
    /// The tokens of each document that is asked about; for verdicts, of those of the other side too.
    pub tokens: Vec<u32>,
    /// The distinct runs of each document that is asked about.
    pub runs: Vec<u32>,
    /// The number of documents that are asked about, which come first: those of the source, or of the reference if the shares are
    /// [of it](ShareOf::Reference).
    pub asked: u32,
    /// Whether there is a reference.
    pub is_against: bool,
    pub short: ShortDocuments,
    pub counts: PassageCounts,
    /// Whether there are more runs than the filter of the other side has room for.
    pub exceeds_filter: bool,
    pub pool: ThreadPool,
}

/// The documents that have no runs, because they are shorter than one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ShortDocuments {
    /// Their number in the source.
    pub documents: u64,
    /// Their number in the reference: nothing matches these.
    pub references: u64,
    /// The ids of the first three of the reference.
    pub first_references: Vec<String>,
    /// The number of tokens of the shortest one of the reference that has any; 0 if there is none.
    pub shortest_reference: u32,
}

/// The maximum number of short documents that are named.
const NAMED: usize = 3;

impl ShortDocuments {
    /// Checks that not all documents of a reference, of so many, are shorter than this parameter.
    ///
    /// # Errors
    /// They are.
    pub(super) fn check(&self, references: u64, (parameter, least): (&str, usize)) -> Result<(), Error> {
        if self.references == 0 || self.references < references {
            return Ok(());
        }
        let which = match references {
            1 => "the only document of the reference has".to_string(),
            _ => format!("all {} of the reference have", counted(references, "document")),
        };
        let longest = match self.shortest_reference {
            0 => "no words".to_string(),
            shortest => format!("the shortest has {}", counted(shortest.into(), "word")),
        };
        Err(Error::Empty(format!(
            "nothing can match: {which} fewer than {} (`{parameter}`; {longest}): take a smaller `{parameter}` (use `allow-empty` if that is \
             expected)",
            counted(least as u64, "word")
        )))
    }

    /// Counts one.
    pub(super) fn add(&mut self, is_reference: bool, id: &str, tokens: u32) {
        if !is_reference {
            self.documents += 1;
            return;
        }
        self.references += 1;
        let known = [self.shortest_reference, tokens].into_iter().filter(|tokens| *tokens > 0);
        self.shortest_reference = known.min().unwrap_or_default();
        if self.first_references.len() < NAMED {
            self.first_references.push(id.to_string());
        }
    }
}

impl Compared {
    /// Reads the documents that are asked about, then the others, and groups the runs.
    ///
    /// # Errors
    /// Those of [`find_contained`](super::find_contained).
    pub fn read(
        source: &mut dyn Source,
        reference: Option<&mut dyn Source>,
        options: &ContainOptions,
        purpose: Purpose,
        observer: &dyn Observer,
    ) -> Result<Self, Error> {
        let is_against = reference.is_some();
        options.check(purpose, is_against)?;
        let pool = thread_pool(options.words().workers())?;
        let (memory, folder) = (options.memory, options.temp_dir.as_deref());
        let mut reading = Reading {
            options,
            purpose,
            observer,
            documents: Documents::default(),
            rejections: Rejections::default(),
            tokens: Vec::new(),
            runs: Vec::new(),
            rows: Sorter::new("runs of words", memory / 4, folder),
            counts: PassageCounts::default(),
            fields: FieldsFound::default(),
            short: ShortDocuments::default(),
            exceeds_filter: false,
            pool: &pool,
        };
        observer.stage(Stage::Reading);
        let mut sides = Side::both(source, reference);
        if options.of == ShareOf::Document {
            sides.reverse();
        }
        if purpose == Purpose::Passages {
            sides.iter_mut().for_each(|side| side.source.keep_for_second_read());
        }
        reading.read(&mut sides[..1], None)?;
        let asked = reading.documents.len();
        if is_against {
            let filter = reading.filter()?;
            reading.read(&mut sides[1..], Some(&filter))?;
        }
        let Reading { documents, rejections, tokens, runs, rows, mut counts, fields, short, exceeds_filter, .. } =
            reading;
        fields.check(&options.required_fields, &mut |of_reference| field_names(&mut sides, of_reference))?;
        (counts.unnamed, counts.unnamed_references) = (fields.all_unnamed(), fields.unnamed[1]);
        check_stopped(observer)?;
        observer.stage(Stage::Grouping);
        counts.spilled += rows.bytes_spilled();
        let shared =
            pool.install(|| Shared::new(rows, [asked, documents.len()], !is_against, (memory, folder), observer))?;
        counts.spilled += shared.bytes_spilled();
        check_stopped(observer)?;
        observer.stage(Stage::Verifying);
        Ok(Compared {
            shared,
            documents,
            rejections,
            tokens,
            runs,
            asked,
            is_against,
            short,
            counts,
            exceeds_filter,
            pool,
        })
    }

    /// The least number of its runs that one document must have, and all together, for one that is asked about to be contained.
    pub fn least(&self, options: &ContainOptions, document: u32) -> [u64; 2] {
        let overlap = |threshold: Threshold| threshold.min_overlap(self.runs[document as usize] as usize) as u64;
        [overlap(options.min_coverage), options.min_coverage_all.map_or(u64::MAX, overlap)]
    }

    /// Whether an id does not identify a document of its side, or a record of the source, if those that are rejected are kept.
    pub fn ids_repeat(&self) -> bool {
        self.documents.ids_repeat(self.rejections.own_ids())
    }

    /// Where a document was read.
    pub fn place(&self, document: u32) -> At<'_> {
        self.documents.place(document)
    }

    /// The number of a document in the input order of its side.
    pub fn in_side(&self, document: u32) -> usize {
        (if document < self.asked { document } else { document - self.asked }) as usize
    }
}

/// What is made of a batch: arrays with an entry for each document, and their runs.
#[derive(Default)]
struct Part {
    bytes: u64,
    unpacked: u64,
    tokens: Vec<u32>,
    /// The numbers of those that have no runs.
    short: Vec<u32>,
    /// The number of distinct runs of each that are kept, and these.
    counts: Vec<u32>,
    runs: Vec<u64>,
    sequences: Vec<u64>,
    ids: String,
    id_ends: Vec<usize>,
    /// Where each was read, if that is kept.
    places: Places,
    fields: FieldsFound,
    problems: Vec<Problem>,
    /// The problems that rejected a record or a file, each with the number of documents before it.
    rejected: Vec<(u32, usize)>,
    refused: Option<Error>,
}

/// What is read of the documents.
struct Reading<'a> {
    options: &'a ContainOptions,
    purpose: Purpose,
    observer: &'a dyn Observer,
    documents: Documents,
    rejections: Rejections,
    /// As in [`Compared`].
    tokens: Vec<u32>,
    runs: Vec<u32>,
    /// Rows of a run and a document.
    rows: Sorter<2>,
    counts: PassageCounts,
    fields: FieldsFound,
    short: ShortDocuments,
    /// Whether there are more runs than the filter has room for.
    exceeds_filter: bool,
    pool: &'a ThreadPool,
}

impl Reading<'_> {
    /// Reads one side: the documents that are asked about, or the others, of which only the runs are kept that `filter` has.
    fn read(&mut self, side: &mut [Side<'_>], filter: Option<&Filter>) -> Result<(), Error> {
        let is_reference = side.iter().any(|side| side.reference);
        let Reading {
            options,
            purpose,
            observer,
            documents,
            rejections,
            tokens,
            runs,
            rows,
            counts,
            fields,
            short,
            pool,
            ..
        } = self;
        let words = options.words();
        let (signing, threads, room) = memory_of_reading(&words);
        in_parallel(
            (threads, room),
            side,
            |_| Ok(()),
            || (Cutting::new(words, &signing), Vec::new()),
            |(), numbered, (cutting, words)| part(numbered, cutting, words, options, filter),
            |(mut part, _load): (Part, Load)| {
                if let Some(refused) = part.refused {
                    return Err(refused);
                }
                for problem in &part.problems {
                    counts.problem(problem);
                    observer.problem(problem);
                }
                fields.add(part.fields);
                counts.bytes += part.bytes;
                let read_tokens = part.tokens.iter().map(|&tokens| u64::from(tokens)).sum::<u64>();
                counts.tokens += read_tokens;
                counts.reference_tokens += if is_reference { read_tokens } else { 0 };
                let read = part.counts.len() as u64;
                *(if is_reference { &mut counts.references } else { &mut counts.documents }) += read;
                observer.unpacked(part.unpacked);
                observer.progress(part.bytes, read);
                check_stopped(*observer)?;
                let before = documents.len();
                let (mut first, mut at) = (u64::from(before), 0);
                pool.install(|| {
                    for &count in &part.counts {
                        let end = at + count as usize;
                        part.runs[at..end].iter().try_for_each(|&run| rows.push([run, first]))?;
                        (first, at) = (first + 1, end);
                    }
                    Ok::<(), Error>(())
                })?;
                let short_tokens: Vec<u32> = part.short.iter().map(|&number| part.tokens[number as usize]).collect();
                if filter.is_none() || *purpose == Purpose::Verdicts {
                    tokens.append(&mut part.tokens);
                }
                // Of the others, only some runs are kept.
                if filter.is_none() {
                    runs.append(&mut part.counts);
                }
                if !is_reference && *purpose == Purpose::Verdicts {
                    let rejected = part.rejected.iter();
                    rejected.for_each(|&(number, problem)| rejections.push(before + number, &part.problems[problem]));
                }
                documents.add(is_reference, &part.sequences, (&part.ids, &part.id_ends), &part.places);
                for (number, tokens) in part.short.iter().zip(short_tokens) {
                    short.add(is_reference, documents.id(before + number), tokens);
                }
                documents.check(options.memory)
            },
        )
    }

    /// A filter of the runs so far: as large as an eighth of the memory allows.
    fn filter(&mut self) -> Result<Filter, Error> {
        let most = (8 * (self.options.memory / 8).max(1 << 22) / Filter::bytes_for(8)).min(u64::from(u32::MAX));
        self.exceeds_filter = self.rows.len() > most;
        let mut filter = Filter::new(self.rows.len().min(most) as usize);
        self.rows.for_each_unsorted(|&[run, _]| {
            filter.insert(tag(run));
            Ok(())
        })?;
        Ok(filter)
    }
}

/// What a run is looked up by.
fn tag(run: u64) -> u32 {
    (run >> 32) as u32
}

/// Turns a batch into a part.
fn part(
    numbered: Numbered,
    cutting: &mut Cutting<'_>,
    words: &mut Vec<u64>,
    options: &ContainOptions,
    filter: Option<&Filter>,
) -> (Part, Load) {
    let Numbered { batch, mut load, reference, .. } = numbered;
    let counted = batch.bytes_held();
    let mut part = Part { bytes: batch.bytes_read(), unpacked: batch.bytes_unpacked(), ..Part::default() };
    batch.documents(&mut |document| match document {
        Ok(document) => {
            words.clear();
            let cut =
                cutting.cut(&document, TokenDetail::Hashes, words, |_, words, _| sequence_of(words, options.seed));
            match cut {
                Ok(sequence) => part.sequences.push(sequence),
                Err(error) => part.refused = part.refused.take().or(Some(error)),
            }
            part.tokens.push(words.len() as u32);
            if words.len() < options.shingle {
                part.short.push(part.counts.len() as u32);
                words.clear();
            } else {
                shingle_hashes_in_place(words, options.shingle);
            }
            if let Some(filter) = filter {
                words.retain(|&run| filter.may_have(tag(run)));
            }
            let distinct = sort_distinct(words);
            part.counts.push(distinct as u32);
            match part.runs.is_empty() {
                // Of a long document there is no second copy.
                true => {
                    words.truncate(distinct);
                    std::mem::swap(&mut part.runs, words);
                }
                false => part.runs.extend_from_slice(&words[..distinct]),
            }
            cutting.free(words);
            part.ids.push_str(&document.id);
            part.id_ends.push(part.ids.len());
            part.fields.document((&document.place.path, document.place.line), &document.id, reference);
            part.places.push(&document.place);
            // The weight of a batch has its size twice: once for what is made of it.
            load.raise((8 * part.runs.capacity() as u64).saturating_sub(counted));
        }
        Err(problem) => {
            if problem.kind.is_rejection() {
                part.rejected.push((part.sequences.len() as u32, part.problems.len()));
            }
            if !reference {
                part.fields.problem(&problem);
            }
            part.problems.push(problem);
        }
    });
    (part, load)
}
