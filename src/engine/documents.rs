//! The data that reading keeps of the documents: flat arrays that one thread fills, in input order.
//!
//! Only this thread grows them. Otherwise their memory would be interleaved with what the workers allocate and free.

use super::Estimate;
use super::columns::Columns;
use super::ranks::Ranks;
use super::sets::Chunk;
use crate::algorithm::{Algorithm, Features, Remarks};
use crate::error::Error;
use crate::outline::Parities;
use crate::run::ends::Ends;
use crate::run::fields::lacks_text;
use crate::run::ordered::Load;
use crate::run::places::Places;
use crate::run::rejections::Rejections;
use crate::run::sign::{self, TooLarge};
use crate::source::{Place, Problem, ProblemKind, Rank};
#[cfg(feature = "files")]
use crate::source::{RankBy, among};
use rayon::prelude::*;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

/// The result of one batch: flat arrays with one entry per document, unless noted otherwise.
#[derive(Default)]
pub(super) struct Part {
    /// Whether the documents are of the reference.
    pub reference: bool,
    pub bytes: u64,
    /// The bytes without compression.
    pub unpacked: u64,
    /// The ids, back to back, and where each ends.
    pub ids: String,
    pub id_ends: Vec<usize>,
    pub places: Vec<Place>,
    pub sequences: Vec<u128>,
    /// Length in tokens.
    pub lengths: Vec<u32>,
    /// Length in tokens of the requested tokenizer, if the algorithm uses another.
    pub measured: Vec<u32>,
    /// Whether the document has nothing to make a fingerprint from.
    pub featureless: Vec<bool>,
    /// Fingerprints, if those are compared; keys otherwise. Empty if the keys are in `columns`.
    pub records: Vec<u64>,
    pub record_ends: Vec<usize>,
    /// The number of keys of each document, if it is the same for all and keys are not made from fingerprints. The keys
    /// are then in `columns`, in the order of [`transposed`](super::columns::transposed). A document without features
    /// has zeros.
    pub tables: Option<usize>,
    pub columns: Vec<u64>,
    /// The number of features of each document, if features are compared. If keys are free and sets are compared,
    /// repeated features count once.
    pub sizes: Vec<u32>,
    /// The parities of the features, if keys are free, features are compared, and candidates are chosen by outlines.
    pub parities: Vec<Parities>,
    pub ranks: Ranks,
    /// The number of each document's record in the batch; empty if every record is a document.
    pub records_of: Vec<u32>,
    /// Feature hashes as the algorithm gave them, if they are compared and fit the budget.
    pub features: Vec<u64>,
    pub feature_ends: Vec<usize>,
    /// The maximum number of features that are kept.
    pub most_features: usize,
    /// Whether there were more, so that none are kept.
    pub is_incomplete: bool,
    /// The sets of some documents, each with its number in the part.
    pub early: Chunk,
    /// What these take while the part waits, if there are any.
    pub load: Option<Load>,
    /// Why a document could not be signed, which ends the run.
    pub refused: Option<Error>,
    /// Whether features had weights, which are not kept.
    pub weighted: bool,
    /// The remarks of the algorithm on the documents.
    pub remarks: Remarks,
    pub problems: Vec<Problem>,
    /// The problems that rejected a record or a file, each with the number of documents before it.
    pub rejected: Vec<(u32, usize)>,
    /// The number of records without an id of their own.
    pub unnamed: u64,
}

impl Part {
    /// The length of each document in tokens of the requested tokenizer.
    pub fn asked_lengths(&self) -> &[u32] {
        if self.measured.is_empty() { &self.lengths } else { &self.measured }
    }

    /// Notes the rank of the next document, before its length.
    pub fn rank(&mut self, rank: Rank) {
        self.ranks.push(self.lengths.len(), rank);
    }

    /// Keeps the features of the next document, unless those of the part are too many.
    pub fn retain(&mut self, features: &[u64]) {
        self.is_incomplete |= self.features.len() + features.len() > self.most_features;
        if self.is_incomplete {
            (self.features, self.feature_ends) = Default::default();
        } else {
            self.features.extend_from_slice(features);
            self.feature_ends.push(self.features.len());
        }
    }

    /// Notes an error that ends the run.
    pub fn fail(&mut self, result: Result<(), Error>) {
        if let Err(error) = result {
            self.refused.get_or_insert(error);
        }
    }

    /// Notes that a document could not be signed.
    pub fn refuse(&mut self, too_large: TooLarge, place: &Place) {
        self.refused.get_or_insert_with(|| too_large.at(place));
    }
}

/// The hashes of token sequences, in halves.
#[derive(Default)]
pub(super) struct Sequences {
    high: Vec<u64>,
    /// Empty once it was dropped.
    low: Vec<u64>,
}

impl Sequences {
    fn extend(&mut self, hashes: &[u128]) {
        self.high.extend(hashes.iter().map(|&hash| (hash >> 64) as u64));
        self.low.extend(hashes.iter().map(|&hash| hash as u64));
    }

    /// The high half of that of a document.
    pub fn high(&self, document: u32) -> u64 {
        self.high[document as usize]
    }

    /// The hash of a document. The lower half is 0 once it was dropped.
    pub fn get(&self, document: u32) -> u128 {
        let low = self.low.get(document as usize).copied().unwrap_or(0);
        u128::from(self.high(document)) << 64 | u128::from(low)
    }

    /// Whether the lower halves are there.
    pub fn is_whole(&self) -> bool {
        self.low.len() == self.high.len()
    }

    /// Whether this is the hash of a document, as far as that is known.
    pub fn is(&self, document: u32, hash: u128) -> bool {
        let known = if self.is_whole() { u128::MAX } else { u128::MAX << 64 };
        self.get(document) == hash & known
    }

    /// Drops the lower halves: the others are enough to see that a document is the same.
    pub fn drop_low(&mut self) {
        self.low = Vec::new();
    }

    pub fn bytes_held(&self) -> usize {
        8 * (self.high.len() + self.low.len())
    }
}

/// The results of all batches so far; the fields have the meaning of those of [`Part`].
#[derive(Default)]
pub(super) struct Documents {
    pub ids: String,
    pub id_ends: Ends,
    pub places: Places,
    pub sequences: Sequences,
    pub lengths: Vec<u32>,
    pub measured: Vec<u32>,
    pub featureless: Vec<bool>,
    pub records: Vec<u64>,
    pub record_ends: Vec<usize>,
    pub columns: Option<Columns>,
    pub sizes: Vec<u32>,
    pub parities: Vec<Parities>,
    /// Whether they were dropped.
    has_no_parities: bool,
    pub features: Vec<u64>,
    pub feature_ends: Vec<usize>,
    pub ranks: Ranks,
    /// Documents below this number are of the reference.
    pub references: u32,
    /// The `records_of` of each part.
    pub records_of: Vec<Vec<u32>>,
    /// The number of the first document of each part, and one past the last.
    pub part_starts: Vec<usize>,
    /// The rejected records, except those of the reference.
    pub rejections: Rejections,
    /// The files of which a copy has all records, except those of the reference: damaged ones, and those that cannot be written.
    pub damaged: BTreeSet<Arc<str>>,
    pub remarks: Remarks,
    /// The first record without a text, or whose file has no such column, with its place.
    pub first_without_text: Option<String>,
}

impl Documents {
    /// As [`Part::asked_lengths`].
    pub fn asked_lengths(&self) -> &[u32] {
        if self.measured.is_empty() { &self.lengths } else { &self.measured }
    }

    /// Adds the free keys of documents that were read without them, computed from their features on all threads of the
    /// pool.
    pub fn sign(&mut self, algorithm: &dyn Algorithm) {
        let chunk = |first: usize| {
            let (mut features, mut fingerprint, mut signed) = (Features::default(), Vec::new(), Signed::default());
            for document in first..(first + SIGNED_AT_ONCE).min(self.lengths.len()) {
                let start = document.checked_sub(1).map_or(0, |before| self.feature_ends[before]);
                features.clear();
                features.hashes.extend_from_slice(&self.features[start..self.feature_ends[document]]);
                let has_keys = sign::keys(algorithm, &features, &mut fingerprint, &mut signed.records);
                signed.featureless.push(!has_keys);
                signed.ends.push(signed.records.len());
            }
            signed
        };
        let firsts = (0..self.lengths.len()).into_par_iter().step_by(SIGNED_AT_ONCE);
        for signed in firsts.map(chunk).collect::<Vec<_>>() {
            append(&mut self.record_ends, &signed.ends, self.records.len());
            self.records.extend(signed.records);
            self.featureless.extend(signed.featureless);
        }
    }

    /// Makes all numbers that a rule goes by times, or none of them, whichever are more; if they are equally many, as the first one.
    /// Those of the other kind become the last, and each is a problem. References have no rank that matters.
    #[cfg(feature = "files")]
    pub fn rank_by_one_kind(&mut self, rules: &[RankBy], mut report: impl FnMut(Problem)) {
        for rule in 0..self.ranks.values() {
            let field = rules.get(rule).and_then(RankBy::field).map(ToString::to_string).unwrap_or_default();
            self.value_of_one_kind(rule, &field, &mut report);
        }
    }

    #[cfg(feature = "files")]
    fn value_of_one_kind(&mut self, rule: usize, field: &str, report: &mut dyn FnMut(Problem)) {
        let number = |ranks: &Ranks, document: usize| ranks.number(rule, document).filter(|number| !number.is_last());
        let own = self.references as usize..self.lengths.len();
        // How many there are of each kind, and the first of them.
        let (mut counts, mut firsts) = ([0u64; 2], [None; 2]);
        for document in own.clone() {
            if let Some(number) = number(&self.ranks, document) {
                let kind = usize::from(number.is_time());
                counts[kind] += 1;
                firsts[kind].get_or_insert((document, number));
            }
        }
        let [Some(first_number), Some(first_time)] = firsts else { return };
        let times = counts[1] > counts[0] || counts[0] == counts[1] && first_time.0 < first_number.0;
        let (first, shown) = if times { first_time } else { first_number };
        let (shown, among) = (shown.display(), among(rule));
        let name = |is_time| if is_time { "time" } else { "number" };
        #[cfg(feature = "report")]
        self.ranks.decide_by(rule, times);
        for document in own {
            let Some(number) = number(&self.ranks, document).filter(|number| number.is_time() != times) else {
                continue;
            };
            let message = format!(
                "field '{field}' is {}, a {}, and that of {} is {shown}, a {}: it comes last in the choice{among}",
                number.display(),
                name(!times),
                self.places.at(first as u32),
                name(times)
            );
            let at = self.places.at(document as u32);
            let place = Place { path: at.path.into(), line: at.line };
            report(Problem::at(place, crate::source::Severity::Failed, ProblemKind::Rank, message));
            self.ranks.make_last(rule, document);
        }
    }

    /// Adds the documents of the next part, with their features if these are to be retained.
    ///
    /// # Errors
    /// The temporary file for keys cannot be written.
    pub fn push(&mut self, part: &Part, retain: bool) -> Result<(), Error> {
        if self.part_starts.is_empty() {
            self.part_starts.push(0);
        }
        if !part.reference {
            for &(before, problem) in &part.rejected {
                let problem = &part.problems[problem];
                if self.first_without_text.is_none() && lacks_text(problem) {
                    self.first_without_text = Some(problem.to_string());
                }
                self.rejections.push(self.lengths.len() as u32 + before, problem);
            }
            let is_damaged = |problem: &&Problem| {
                matches!(problem.kind, ProblemKind::Damaged | ProblemKind::DamagedColumn | ProblemKind::Uncopied)
            };
            let damaged = part.problems.iter().filter(is_damaged);
            self.damaged.extend(damaged.map(|problem| Arc::clone(&problem.place.path)));
        }
        self.ranks.append(self.lengths.len(), &part.ranks, part.reference);
        part.id_ends.iter().for_each(|end| self.id_ends.push(self.ids.len() + end));
        self.ids.push_str(&part.ids);
        part.places.iter().for_each(|place| self.places.push(place));
        self.sequences.extend(&part.sequences);
        self.lengths.extend_from_slice(&part.lengths);
        self.measured.extend_from_slice(&part.measured);
        self.featureless.extend_from_slice(&part.featureless);
        append(&mut self.record_ends, &part.record_ends, self.records.len());
        self.records.extend_from_slice(&part.records);
        if let Some(tables) = part.tables {
            self.columns.get_or_insert_with(|| Columns::new(tables)).push(&part.columns)?;
        }
        self.sizes.extend_from_slice(&part.sizes);
        if !self.has_no_parities {
            self.parities.extend_from_slice(&part.parities);
        }
        if retain {
            append(&mut self.feature_ends, &part.feature_ends, self.features.len());
            self.features.extend_from_slice(&part.features);
        }
        self.remarks.merge(part.remarks.clone());
        self.records_of.push(part.records_of.as_slice().into());
        self.part_starts.push(self.lengths.len());
        if part.reference {
            self.references = self.lengths.len().try_into().unwrap_or(u32::MAX);
        }
        Ok(())
    }

    /// Drops the parities of all documents, those that are added later included.
    pub fn drop_parities(&mut self) {
        (self.parities, self.has_no_parities) = (Vec::new(), true);
    }

    /// Writes keys to a temporary file if more than `budget` bytes would be held.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn bound(&mut self, budget: u64, temp_dir: Option<&Path>) -> Result<(), Error> {
        let others = self.bytes_held();
        match &mut self.columns {
            Some(columns) if others + columns.bytes_held() > budget => columns.spill(temp_dir),
            _ => Ok(()),
        }
    }

    /// Estimates the final memory when `total` bytes are read, from the `read` bytes so far.
    pub fn estimate(&self, read: u64, total: u64, budget: u64) -> Estimate {
        let whole = |part: u64| (part as f64 / read as f64 * total as f64) as u64;
        let (others, keys) = (
            whole(self.bytes_held()),
            whole(self.columns.as_ref().map_or(0, |keys| keys.bytes_held() + keys.bytes_spilled())),
        );
        Estimate {
            documents: whole(self.lengths.len() as u64),
            memory: others,
            keys,
            spills: keys > 0 && others + keys > budget,
        }
    }

    /// Bytes of memory, without keys that may go to a file and features that may be recomputed.
    pub fn bytes_held(&self) -> u64 {
        // Its place and its length.
        let words = self.measured.len() + self.sizes.len() + 2 * self.lengths.len();
        let long = self.record_ends.len() + self.records.len();
        (self.ids.len()
            + size_of_val(&*self.parities)
            + self.ranks.bytes_held()
            + size_of_val(&*self.featureless)
            + self.sequences.bytes_held()
            + 4 * words
            + 8 * long) as u64
            + self.id_ends.bytes_held()
            + self.rejections.bytes_held()
    }
}

/// The keys of some documents.
#[derive(Default)]
struct Signed {
    featureless: Vec<bool>,
    records: Vec<u64>,
    ends: Vec<usize>,
}

/// The number of documents whose keys a thread makes at once.
const SIGNED_AT_ONCE: usize = 4096;

/// Adds ends that count from `base`.
fn append(ends: &mut Vec<usize>, own: &[usize], base: usize) {
    ends.extend(own.iter().map(|end| base + end));
}
