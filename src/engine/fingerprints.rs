//! The fingerprints of the documents of a source as a result of their own.
//!
//! ```text
//! survey   lengths, ids that repeat, records that cannot be read     one reading
//! learn    what the algorithm must know about the collection         a reading each
//! sign     texts → fingerprints, in input order                      one reading
//! ```

use super::read::{Reader, median_of};
use super::scan::{finalize, learned};
use super::{Counts, Observer, Report, ScanOptions, Side, Stage};
use crate::algorithm::{
    Algorithm, AlgorithmFactory, FingerprintForm, Learned, Learns, PreparedAlgorithm, Profile, Remark, Remarks,
    RunSummary, Totals,
};
use crate::error::Error;
use crate::run::batches::Numbered;
use crate::run::ordered::workers;
use crate::run::sign::{Scratch, bytes_a_byte, evidence};
use crate::source::{Place, Problem, Severity, Source};
use crate::tokenizer::TokenDetail;
use std::collections::HashSet;
use std::time::Instant;
use xxhash_rust::xxh3::xxh3_64;

/// The fingerprint of a document, or a record that could not be read.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Fingerprint<'a> {
    /// The id of the document. For a record whose id could not be read, its location.
    pub id: &'a str,
    /// The name of the algorithm.
    pub algorithm: &'static str,
    /// What the words are.
    pub form: FingerprintForm,
    /// The fingerprint in this form. Empty if the document has too few features, or could not be read.
    pub words: &'a [u64],
    /// The number of features, repeats included.
    pub features: usize,
    /// Why the record could not be read.
    pub error: Option<&'a str>,
    /// The location, if ids repeat in this run.
    pub at: Option<&'a Place>,
}

impl Fingerprint<'_> {
    /// The fingerprint as text; `None` if there is none.
    pub fn hex(&self) -> Option<String> {
        (!self.words.is_empty()).then(|| self.form.write(self.words))
    }
}

/// Prepared to make the fingerprints of a source: its documents were read once.
pub struct Fingerprints<'a> {
    reader: Reader<'a>,
    sides: [Side<'a>; 1],
    prepared: PreparedAlgorithm,
    median_tokens: usize,
    failed: u64,
    repeated: Option<Repeated>,
    /// Whether an id occurs twice, those of rejected records included.
    ids_repeat: bool,
    started: Instant,
}

/// Documents whose id an earlier one has.
struct Repeated {
    count: u64,
    /// The first of them.
    id: String,
    place: Place,
}

impl<'a> Fingerprints<'a> {
    /// Reads the source, and prepares the algorithm for documents of their median length.
    ///
    /// # Errors
    /// The algorithm is refused for these documents, or has a lexicon with terms of another tokenizer or seed; or a
    /// temporary file cannot be written.
    ///
    /// # Cost
    /// One reading, and one for each thing that the algorithm learns. Memory: some 30 bytes for each document, and what the
    /// algorithm learns.
    pub fn prepare(
        source: &'a mut dyn Source,
        factory: &dyn AlgorithmFactory,
        options: &'a ScanOptions,
        observer: &'a dyn Observer,
    ) -> Result<Self, Error> {
        let started = Instant::now();
        factory.prepare(0)?.check_terms(&*options.tokenizer, options.seed)?;
        let reader = Reader::new(options, workers(options.threads), observer);
        source.keep_for_second_read();
        let mut sides = [Side { reference: false, source }];
        observer.stage(Stage::Counting);
        let survey = survey(&reader, &mut sides)?;
        let (median_tokens, ids_repeat) = (median_of(&survey.lengths), survey.ids_repeat());
        let chosen = finalize(factory, median_tokens)?;
        let form = chosen.algorithm.profile().form;
        let mut prepared = match chosen.algorithm.learns() {
            // The rarity of features orders prefixes, which are not written.
            Some(Learns::Features) if form == FingerprintForm::Elements => chosen,
            Some(_) => learned(&reader, &mut sides, factory)?.prepared,
            None => chosen,
        };
        // The rows say what a scan of these documents says, apart from copies.
        prepared.algorithm.learn(&Learned::Totals(Totals { fingerprints: survey.lengths.len(), median_tokens }));
        let Survey { failed, repeated, .. } = survey;
        Ok(Fingerprints { reader, sides, prepared, median_tokens, failed, repeated, ids_repeat, started })
    }

    /// The number of files and records that could not be read.
    pub fn failed(&self) -> u64 {
        self.failed
    }

    /// Reads the source again, and passes the fingerprint of each document to a function, in input order. Also passes
    /// each record that could not be read. The function's first error ends the run. Returns the report of what was
    /// passed, and that error.
    ///
    /// # Errors
    /// That of the function.
    ///
    /// # Cost
    /// One reading. Memory does not grow with the number of documents.
    pub fn for_each(
        mut self,
        mut each: impl FnMut(&Fingerprint<'_>) -> Result<(), Error>,
    ) -> (Report, Result<(), Error>) {
        let Fingerprints { reader, sides, prepared, repeated, ids_repeat, .. } = &mut self;
        let ids_repeat = *ids_repeat;
        reader.observer.stage(Stage::Reading);
        let (mut report, mut counts, mut remarks) = (Report::default(), Counts::default(), Remarks::default());
        report.describe(prepared);
        let (algorithm, form) = (prepared.algorithm.name(), prepared.algorithm.profile().form);
        let result = reader.in_parallel(
            sides,
            |_| Ok(()),
            |(), numbered, scratch| sign(reader, prepared, numbered, scratch),
            |Part { documents, bytes, unpacked, refused }: Part| {
                refused.map_or(Ok(()), Err)?;
                prepared.algorithm.check_learned()?;
                for mut document in documents {
                    if let Some(problem) = &document.problem {
                        counts.problem(problem);
                        reader.report_once(problem);
                        if !problem.kind.is_rejection() {
                            continue;
                        }
                    } else {
                        counts.documents += 1;
                        document.remark.take().into_iter().for_each(|remark| remarks.add(remark));
                        counts.tokens += document.tokens as u64;
                        counts.featureless += u64::from(document.words.is_empty());
                        counts.unnamed += u64::from(document.place.names(&document.id));
                        reader.observer.progress(0, 1);
                    }
                    each(&Fingerprint {
                        id: &document.id,
                        algorithm,
                        form,
                        words: &document.words,
                        features: document.features,
                        error: document.problem.as_ref().map(|problem| &*problem.message),
                        at: ids_repeat.then_some(&document.place),
                    })?;
                }
                counts.bytes += bytes;
                reader.observer.unpacked(unpacked);
                reader.observer.progress(bytes, 0);
                reader.check_stopped()
            },
        );
        counts.repeated_ids = repeated.as_ref().map_or(0, |repeated| repeated.count);
        if result.is_err() {
            // The rest was not read again.
            counts.failed = counts.failed.max(self.failed);
        }
        report.median_tokens = self.median_tokens;
        let summary = RunSummary::new(counts.documents, counts.featureless, remarks);
        report.warnings.extend(self.prepared.algorithm.warnings(&summary));
        report.warnings.extend(self.repeated.as_ref().map(Repeated::warning));
        report.counts = counts;
        report.timings = vec![("read", self.started.elapsed())];
        (report, result)
    }
}

impl Repeated {
    fn warning(&self) -> String {
        let documents = if self.count == 1 { "1 document has" } else { &format!("{} documents have", self.count) };
        format!(
            "{documents} an id that an earlier one has, such as '{}' of {}: the records that are written carry places too \
             (`id-field` names another field for ids)",
            self.id, self.place,
        )
    }
}

/// What one reading says about the source.
#[derive(Default)]
struct Survey {
    /// Length of each document in tokens of the requested tokenizer.
    lengths: Vec<u32>,
    failed: u64,
    /// Documents with the id of an earlier one.
    repeated: Option<Repeated>,
    /// Hashes of the ids of documents, and of rejected records.
    ids: HashSet<u64>,
    rejected: HashSet<u64>,
    /// Whether two rejected records have one id.
    rejected_repeat: bool,
}

impl Survey {
    fn document(&mut self, id: String, place: Place) {
        if self.ids.insert(xxh3_64(id.as_bytes())) {
            return;
        }
        let repeated = self.repeated.get_or_insert(Repeated { count: 0, id, place });
        repeated.count += 1;
    }

    fn problem(&mut self, problem: &Problem) {
        self.failed += if problem.severity == Severity::Failed { problem.records } else { 0 };
        if let Some(id) = problem.id.as_ref().filter(|_| problem.kind.is_rejection()) {
            self.rejected_repeat |= !self.rejected.insert(xxh3_64(id.as_bytes()));
        }
    }

    fn ids_repeat(&self) -> bool {
        self.repeated.is_some() || self.rejected_repeat || !self.rejected.is_disjoint(&self.ids)
    }
}

/// The id, the location and the length of the documents of a batch.
struct Surveyed {
    bytes: u64,
    /// The bytes without compression.
    unpacked: u64,
    documents: Vec<(String, Place, u32)>,
    problems: Vec<Problem>,
    /// Why a document could not be cut, which ends the run.
    refused: Option<Error>,
}

fn survey(reader: &Reader<'_>, sides: &mut [Side<'_>]) -> Result<Survey, Error> {
    let mut survey = Survey::default();
    reader.in_parallel(
        sides,
        |_| Ok(()),
        |(), numbered, scratch| {
            let (mut documents, mut problems, mut refused) = (Vec::new(), Vec::new(), None);
            numbered.batch.documents(&mut |document| match document {
                Ok(document) => {
                    let tokenizer = &*reader.options.tokenizer;
                    let scratch = &mut *scratch.begin(&document.text, bytes_a_byte(tokenizer));
                    let cut = scratch.cut(TokenDetail::Hashes, 0, |tokens| tokenizer.cut(&document.text, tokens));
                    if let Err(too_large) = cut {
                        return refused = Some(too_large.at(&document.place));
                    }
                    let length = scratch.tokens.len().try_into().unwrap_or(u32::MAX);
                    documents.push((document.id.into_owned(), document.place, length));
                }
                Err(problem) => problems.push(problem),
            });
            Surveyed {
                bytes: numbered.batch.bytes_read(),
                unpacked: numbered.batch.bytes_unpacked(),
                documents,
                problems,
                refused,
            }
        },
        |Surveyed { bytes, unpacked, documents, problems, refused }| {
            refused.map_or(Ok(()), Err)?;
            reader.observer.unpacked(unpacked);
            reader.observer.progress(bytes, documents.len() as u64);
            for (id, place, length) in documents {
                survey.document(id, place);
                survey.lengths.push(length);
            }
            problems.iter().for_each(|problem| survey.problem(problem));
            reader.check_stopped()
        },
    )?;
    Ok(survey)
}

/// The documents and problems of a batch.
struct Part {
    documents: Vec<Document>,
    bytes: u64,
    /// The bytes without compression.
    unpacked: u64,
    /// Why a document could not be signed, which ends the run.
    refused: Option<Error>,
}

/// A document with its fingerprint, or a problem in its place.
struct Document {
    id: String,
    place: Place,
    words: Vec<u64>,
    features: usize,
    tokens: usize,
    remark: Option<Remark>,
    problem: Option<Problem>,
}

fn sign(reader: &Reader<'_>, prepared: &PreparedAlgorithm, numbered: Numbered, scratch: &mut Scratch) -> Part {
    let (signer, algorithm) = (reader.signer(prepared), &*prepared.algorithm);
    let (mut documents, mut refused) = (Vec::new(), None);
    numbered.batch.documents(&mut |document| {
        documents.push(match document {
            Ok(document) => {
                let scratch = &mut *signer.begin(&document.text, scratch);
                if let Err(too_large) = signer.cut(&document.text, scratch) {
                    return refused = Some(too_large.at(&document.place));
                }
                let tokens = scratch.tokens.len();
                signer.features(scratch);
                let features = scratch.features.count();
                let words = written(algorithm, scratch);
                let id = document.id.into_owned();
                let remark = scratch.features.remark.take();
                Document { id, place: document.place, words, features, tokens, remark, problem: None }
            }
            Err(problem) => {
                let id = problem.id.clone().unwrap_or_else(|| problem.place.to_string());
                let place = problem.place.clone();
                let (words, problem) = (Vec::new(), Some(problem));
                Document { id, place, words, features: 0, tokens: 0, remark: None, problem }
            }
        });
    });
    Part { documents, bytes: numbered.batch.bytes_read(), unpacked: numbered.batch.bytes_unpacked(), refused }
}

/// The words that are written of a document, given its features.
fn written(algorithm: &dyn Algorithm, Scratch { features, fingerprint, .. }: &mut Scratch) -> Vec<u64> {
    fingerprint.clear();
    algorithm.fingerprint(features, fingerprint);
    let Profile { form, compare_on, .. } = algorithm.profile();
    if fingerprint.is_empty() || form != FingerprintForm::Elements {
        return fingerprint.clone();
    }
    let length = evidence(compare_on, &mut features.hashes);
    features.hashes[..length].to_vec()
}
