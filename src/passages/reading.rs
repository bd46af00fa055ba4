//! The reading of documents, as words and as the k-grams at which they are compared.

use super::cutting::{Cutting, PassageOptions, memory_of_reading, sequence_of};
use super::locate::Documents;
use super::order;
use super::repeats::FindOptions;
use super::seeds::{Seeding, Seeds};
use super::text::{Builder, Selector, Text};
use crate::error::Error;
use crate::postings::Sorter;
use crate::run::batches::{Numbered, Side, in_parallel};
use crate::run::fields::{FieldsFound, field_names};
use crate::run::observer::{Observer, Stage};
use crate::run::ordered::{Load, thread_pool};
use crate::run::places::Places;
use crate::run::rejections::Rejections;
use crate::source::{Problem, Severity, Source};
use crate::tokenizer::TokenDetail;
use rayon::ThreadPool;

/// What was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "report", derive(serde::Serialize))]
#[non_exhaustive]
pub struct PassageCounts {
    /// Documents read, references not included.
    pub documents: u64,
    /// Documents of the reference, if there is one.
    pub references: u64,
    /// Records without an id of their own, identified by their position; those of references included.
    pub unnamed: u64,
    /// Those of them that are of a reference.
    #[cfg_attr(feature = "report", serde(skip))]
    pub unnamed_references: u64,
    /// Tokens, those of references included.
    pub tokens: u64,
    /// Tokens of references.
    pub reference_tokens: u64,
    /// Documents with fewer words than a passage has at least, references not included. They are not counted where runs are compared.
    #[cfg_attr(feature = "report", serde(skip))]
    pub short: u64,
    /// Those of references.
    #[cfg_attr(feature = "report", serde(skip))]
    pub short_references: u64,
    /// Bytes of input as read; compressed input counts compressed.
    pub bytes: u64,
    /// Records or files whose text was not valid in its encoding and was read with replacements.
    pub repaired: u64,
    /// Files left out by rule.
    pub skipped: u64,
    /// Records or files that could not be read.
    pub failed: u64,
    /// Pages whose whole text was read because no main text was found.
    pub fell_back: u64,
    /// Bytes that went to temporary files.
    pub spilled: u64,
}

impl PassageCounts {
    pub(super) fn problem(&mut self, problem: &Problem) {
        match problem.severity {
            Severity::Deferred => {}
            Severity::FellBack => self.fell_back += 1,
            Severity::Repaired => self.repaired += u64::from(problem.is_repair()),
            Severity::Skipped => self.skipped += 1,
            Severity::Failed => self.failed += problem.records,
        }
    }
}

/// The maximum number of passages with the same first place that overlap themselves.
pub(super) const MOST_OVERLAPPING: usize = 10;

/// Documents that were read, and whose groups are sorted.
pub(super) struct Search {
    pub documents: Documents,
    /// The records of the source that are not documents, if they are [kept](Search::read_for_verdicts).
    pub rejections: Rejections,
    pub text: Text,
    pub options: FindOptions,
    /// With a similarity, the k-grams by which places are compared.
    pub seeds: Option<Seeds>,
    pub counts: PassageCounts,
    pub pool: ThreadPool,
}

impl Search {
    /// Reads everything.
    pub fn read(
        source: &mut dyn Source,
        reference: Option<&mut dyn Source>,
        options: &PassageOptions,
        observer: &dyn Observer,
    ) -> Result<Self, Error> {
        Search::read_all(source, reference, options, false, observer)
    }

    /// Reads everything, and keeps which records of the source are not documents.
    pub fn read_for_verdicts(
        source: &mut dyn Source,
        reference: &mut dyn Source,
        options: &PassageOptions,
        observer: &dyn Observer,
    ) -> Result<Self, Error> {
        Search::read_all(source, Some(reference), options, true, observer)
    }

    fn read_all(
        source: &mut dyn Source,
        reference: Option<&mut dyn Source>,
        options: &PassageOptions,
        keeps_rejections: bool,
        observer: &dyn Observer,
    ) -> Result<Self, Error> {
        options.words().check("passages")?;
        options.check()?;
        let pool = thread_pool(options.words().workers())?;
        let against = reference.is_some();
        let mut sources = Side::both(source, reference);
        sources.iter_mut().for_each(|side| side.source.keep_for_second_read());
        observer.stage(Stage::Reading);
        let Reading { documents, rejections, builder, mut counts, fields, seeds } =
            read(&mut sources, options, keeps_rejections, &pool, observer)?;
        fields.check(&options.required_fields, &mut |of_reference| field_names(&mut sources, of_reference))?;
        (counts.unnamed, counts.unnamed_references) = (fields.all_unnamed(), fields.unnamed[1]);
        observer.stage(Stage::Grouping);
        let text = pool.install(|| {
            let mut text = builder.finish(documents.bytes_beyond())?;
            order::sort(&mut text, options.memory)?;
            Ok::<Text, Error>(text)
        })?;
        check_stopped(observer)?;
        observer.stage(Stage::Verifying);
        counts.spilled = text.bytes_spilled();
        let references =
            against.then(|| text.anchors.partition_point(|a| a.document < documents.end_of_references()) as u32);
        let find = FindOptions {
            min_size: options.min_words as u64,
            most_places: options.max_places,
            references,
            min_documents: options.min_documents as u64,
            most_overlapping: MOST_OVERLAPPING,
        };
        Ok(Search { documents, rejections, text, options: find, seeds, counts, pool })
    }
}

pub(super) fn check_stopped(observer: &dyn Observer) -> Result<(), Error> {
    if observer.is_stopped() { Err(Error::Stopped) } else { Ok(()) }
}

/// What is made of a batch: arrays with an entry for each document, and their tokens and anchors.
#[derive(Default)]
struct Part {
    reference: bool,
    bytes: u64,
    unpacked: u64,
    lengths: Vec<u64>,
    sequences: Vec<u64>,
    ids: String,
    id_ends: Vec<usize>,
    places: Places,
    tokens: Vec<u64>,
    selected: Vec<u64>,
    /// K-grams and their places.
    seeds: Vec<u64>,
    /// The documents with tokens that count half.
    halves: Vec<u32>,
    /// How many have fewer words than a passage.
    short: u64,
    fields: FieldsFound,
    problems: Vec<Problem>,
    /// The problems that rejected a record or a file, each with the number of documents before it.
    rejected: Vec<(u32, usize)>,
    /// A document that is too large, which ends the run.
    refused: Option<Error>,
}

impl Part {
    /// The memory of what grows with the texts.
    fn bytes_held(&self) -> u64 {
        8 * (self.tokens.capacity() + self.selected.capacity() + self.seeds.capacity()) as u64
    }
}

/// What was read.
struct Reading {
    documents: Documents,
    rejections: Rejections,
    builder: Builder,
    counts: PassageCounts,
    fields: FieldsFound,
    seeds: Option<Seeds>,
}

/// How documents are turned into words and anchors.
#[derive(Clone)]
struct Selecting {
    anchors: Selector,
    seeds: Option<Seeding>,
    seed: u64,
    min_words: usize,
}

/// Reads everything: the reference first.
fn read(
    sources: &mut [Side<'_>],
    options: &PassageOptions,
    keeps_rejections: bool,
    pool: &ThreadPool,
    observer: &dyn Observer,
) -> Result<Reading, Error> {
    let anchors = Selector::new(options.min_words, true);
    let (memory, folder) = (options.memory, options.temp_dir.as_deref());
    let seeding = options.similarity.map(|_| Seeding::new(options.min_words));
    let mut reading = Reading {
        documents: Documents::default(),
        rejections: Rejections::default(),
        builder: Builder::new(anchors.clone(), memory, folder),
        counts: PassageCounts::default(),
        fields: FieldsFound::default(),
        seeds: seeding.map(|_| Sorter::new("k-grams", memory / 8, folder)),
    };
    let selecting = Selecting { anchors, seeds: seeding, seed: options.seed, min_words: options.min_words };
    let words = options.words();
    let (signing, threads, room) = memory_of_reading(&words);
    in_parallel(
        (threads, room),
        sources,
        |_| Ok(()),
        || (Cutting::new(words, &signing), Vec::new()),
        |(), numbered, (cutting, grams)| part(numbered, cutting, &selecting, grams),
        |(mut part, _load): (Part, Load)| {
            if let Some(refused) = part.refused {
                return Err(refused);
            }
            let Reading { documents, rejections, builder, counts, fields, seeds } = &mut reading;
            for problem in &part.problems {
                counts.problem(problem);
                observer.problem(problem);
            }
            let first = counts.tokens;
            if let Some(seeds) = seeds {
                let mut rows = part.seeds.as_chunks().0.iter();
                pool.install(|| rows.try_for_each(|&[gram, place]| seeds.push([gram, first + place])))?;
            }
            fields.add(part.fields);
            counts.bytes += part.bytes;
            let (tokens, read) = (part.tokens.len() as u64, part.lengths.len() as u64);
            counts.tokens += tokens;
            if part.reference {
                counts.references += read;
                counts.reference_tokens += tokens;
                counts.short_references += part.short;
            } else {
                counts.documents += read;
                counts.short += part.short;
            }
            observer.unpacked(part.unpacked);
            observer.progress(part.bytes, read);
            check_stopped(observer)?;
            if keeps_rejections && !part.reference {
                let before = documents.len();
                let rejected = part.rejected.iter();
                rejected.for_each(|&(number, problem)| rejections.push(before + number, &part.problems[problem]));
            }
            pool.install(|| builder.add(&part.lengths, &part.tokens, &mut part.selected, &part.halves))?;
            documents.add(part.reference, &part.sequences, (&part.ids, &part.id_ends), &part.places);
            documents.check(memory)
        },
    )?;
    Ok(reading)
}

/// Turns a batch into a part. Its load counts what is made of the text: 8 bytes for each token, 40 for each anchor, and 16 for each seed.
fn part(numbered: Numbered, cutting: &mut Cutting<'_>, selecting: &Selecting, grams: &mut Vec<u64>) -> (Part, Load) {
    let Numbered { reference, batch, mut load, .. } = numbered;
    let counted = batch.bytes_held();
    let mut part = Part { reference, bytes: batch.bytes_read(), unpacked: batch.bytes_unpacked(), ..Part::default() };
    batch.documents(&mut |document| match document {
        Ok(document) => {
            let Part { lengths, sequences, tokens, selected, seeds, halves, short, .. } = &mut part;
            let (number, first) = (lengths.len() as u32, tokens.len() as u64);
            let cut = cutting.cut(&document, TokenDetail::Hashes, tokens, |_, words, has_halves| {
                lengths.push(words.len() as u64);
                sequences.push(sequence_of(words, selecting.seed));
                selecting.anchors.select(number, first, words, grams, selected);
                if let Some(seeding) = selecting.seeds {
                    seeding.select(first, words, grams, seeds);
                }
                if has_halves {
                    halves.push(number);
                }
                let count_half = if has_halves { words.iter().filter(|word| **word & 1 == 1).count() } else { 0 };
                *short += u64::from((2 * words.len() - count_half).div_ceil(2) < selecting.min_words);
            });
            match cut {
                Ok(()) => {
                    part.ids.push_str(&document.id);
                    part.id_ends.push(part.ids.len());
                    part.fields.document((&document.place.path, document.place.line), &document.id, reference);
                    part.places.push(&document.place);
                }
                Err(error) => part.refused = part.refused.take().or(Some(error)),
            }
            cutting.free(grams);
            // The weight of a batch has its size twice: once for what is made of it.
            load.raise(part.bytes_held().saturating_sub(counted));
        }
        Err(problem) => {
            if problem.kind.is_rejection() {
                part.rejected.push((part.lengths.len() as u32, part.problems.len()));
            }
            if !reference {
                part.fields.problem(&problem);
            }
            part.problems.push(problem);
        }
    });
    (part, load)
}
