//! The tests' own strict picture of every JSON line that the program prints. A field more, a field less, another order or
//! another way to write a number does not pass.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Pair {
    r#type: String,
    pub a: String,
    pub b: String,
    similarity: Box<RawValue>,
    measure: String,
    algo: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    distance: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub a_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub b_at: Option<String>,
}

#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Cluster {
    r#type: String,
    pub id: u64,
    size: usize,
    pub members: Vec<String>,
    pub keep: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub members_at: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keep_at: Option<Vec<String>>,
}

#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Verdict {
    r#type: String,
    pub id: String,
    pub keep: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duplicate_of: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duplicate_of_time: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    similarity: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub r#in: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contains: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub coverage: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub coverage_all: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replaced: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duplicate_of_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contains_at: Option<String>,
}

/// A record of `dedup passages --emit verdicts` about a document that is not kept.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct PassageVerdict {
    r#type: String,
    pub id: String,
    keep: bool,
    pub contains: String,
    pub words: u64,
    pub similarity: Box<RawValue>,
    pub start: usize,
    pub end: usize,
    pub contains_start: usize,
    pub contains_end: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub coverage: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contains_at: Option<String>,
}

impl PassageVerdict {
    fn check(&self) -> bool {
        !self.keep
            && self.words > 0
            && similarity(&self.similarity).is_some()
            && self.start < self.end
            && self.contains_start < self.contains_end
            && self.coverage.as_ref().is_none_or(|value| similarity(value).is_some())
            && self.at.is_some() == self.contains_at.is_some()
    }
}

/// A record of `dedup contain --emit pairs`.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Coverage {
    r#type: String,
    pub id: String,
    pub r#in: String,
    pub coverage: f64,
    pub words: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_at: Option<String>,
}

/// The record of `dedup index stats`.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct OfIndex {
    r#type: String,
    format_version: u32,
    pub documents: u64,
    featureless: u64,
    pub removed: u64,
    pub unconfirmed: u64,
    pub bytes: u64,
    pub torn: u64,
    first: Option<u64>,
    last: Option<u64>,
    made_with: BTreeMap<String, Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    distribution: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub forgetting: Option<OfForgetting>,
}

/// What the last run of an index forgot.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct OfForgetting {
    pub window: Option<u64>,
    pub expire: Option<u64>,
    pub remembered: u64,
    pub oldest: Option<u64>,
}

impl OfIndex {
    fn check(&self) -> bool {
        let is_possible = |OfForgetting { window, expire, remembered, oldest }: &OfForgetting| {
            (window.is_some() || expire.is_some())
                && *remembered <= window.unwrap_or(u64::MAX).min(self.documents)
                && oldest.is_some() == (*remembered > 0)
                && oldest.is_none_or(|oldest| self.first <= Some(oldest) && Some(oldest) <= self.last)
        };
        self.forgetting.as_ref().is_none_or(is_possible)
            && self.featureless <= self.documents + self.removed
            && self.unconfirmed <= self.documents
            && self.first <= self.last
            && self.first.is_some() == (self.documents + self.removed > 0)
            && ["algo", "hash version", "seed", "tokenizer"].iter().all(|name| self.made_with.contains_key(*name))
    }
}

/// A record of `dedup passages`.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Repeated {
    r#type: String,
    id: u64,
    pub words: u64,
    pub count: u64,
    pub documents: u64,
    pub places: Vec<RepeatedAt>,
    pub text: String,
}

/// Where a passage stands.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct RepeatedAt {
    pub id: String,
    pub start: usize,
    pub end: usize,
    line: usize,
    pub similarity: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
}

impl Repeated {
    fn check(&self) -> bool {
        let is_place =
            |at: &RepeatedAt| at.start < at.end && at.line > 0 && at.similarity > 0.0 && at.similarity <= 1.0;
        let are_places = self.places[0].similarity == 1.0 && self.places.iter().all(is_place);
        // With a reference the first place is in it, and those in it precede the others.
        let in_reference = |at: &RepeatedAt| at.reference == Some(true);
        let are_sides = self.places.is_sorted_by_key(|at| !in_reference(at))
            && self.places.iter().all(|at| at.reference != Some(false))
            && (in_reference(&self.places[0]) || !self.places.iter().any(in_reference));
        let listed = |places: &[RepeatedAt]| {
            places.iter().map(|at| (at.reference, &at.id, &at.at)).collect::<BTreeSet<_>>().len() as u64
        };
        // At the least, those that are listed; at the most, another one for each place that is not.
        let not_listed = self.count.checked_sub(self.places.len() as u64);
        let are_documents = not_listed.is_some_and(|not_listed| {
            let least = listed(&self.places);
            (least..=least + not_listed).contains(&self.documents)
        });
        self.id > 0 && self.words > 0 && self.count > 1 && are_places && are_sides && are_documents
    }
}

/// A record of `dedup passages --emit spans`.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Spans {
    r#type: String,
    pub id: String,
    pub spans: Vec<[usize; 2]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<String>,
}

impl Spans {
    fn check(&self) -> bool {
        let bytes: Vec<usize> = self.spans.iter().flatten().copied().collect();
        !bytes.is_empty() && bytes.is_sorted_by(|a, b| a < b)
    }
}

/// A record of `dedup contain`.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Containment {
    r#type: String,
    pub id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub r#in: Option<String>,
    pub coverage: f64,
    pub coverage_all: f64,
    pub words: u64,
    pub passages: Vec<SharedPassage>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left_out: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    in_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

/// A passage of a document and of the one that contains it.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct SharedPassage {
    pub start: usize,
    pub end: usize,
    line: usize,
    pub in_start: usize,
    pub in_end: usize,
    in_line: usize,
}

impl Containment {
    fn check(&self) -> bool {
        let is_passage = |passage: &SharedPassage| {
            passage.start < passage.end && passage.in_start < passage.in_end && passage.line.min(passage.in_line) > 0
        };
        // Without what contains it, it is listed because all are.
        let has_best = self.r#in.is_some();
        (0.0 < self.coverage) == has_best
            && self.coverage <= self.coverage_all
            && self.coverage_all <= 1.0
            && (has_best || self.coverage_all == 0.0 && self.passages.is_empty() && self.left_out.is_none())
            && self.passages.iter().all(is_passage)
            && self.passages.is_sorted_by(|a, b| a.start < b.start)
            && self.left_out != Some(0)
            && self.in_at.is_some() == (self.at.is_some() && has_best)
            && self.note.as_deref().is_none_or(|note| note == "no runs" && !has_best)
    }
}

/// A record of `--emit fingerprints`.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Fingerprint {
    r#type: String,
    pub id: String,
    algo: String,
    pub fingerprint: Option<String>,
    pub features: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
}

impl Fingerprint {
    fn check(&self) -> bool {
        let is_hex = |hex: &String| !hex.is_empty() && hex.bytes().all(|byte| b"0123456789abcdef".contains(&byte));
        self.fingerprint.as_ref().is_none_or(|hex| is_hex(hex) && self.features > 0)
            && self.fingerprint.is_none() == (self.note.is_some() || self.error.is_some())
    }
}

/// A record of `--emit hosts`.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Hosts {
    r#type: String,
    pub a: String,
    pub b: String,
    pub pages_a: u64,
    of_a: u64,
    share_a: f64,
    pub pages_b: u64,
    of_b: u64,
    share_b: f64,
}

impl Hosts {
    fn check(&self) -> bool {
        let share = |pages: u64, of: u64, share: f64| pages <= of && share == pages as f64 / of as f64;
        self.pages_a > 0
            && self.pages_b > 0
            && share(self.pages_a, self.of_a, self.share_a)
            && share(self.pages_b, self.of_b, self.share_b)
    }
}

/// A record of `dedup index export`.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Document {
    r#type: String,
    pub id: String,
    time: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<String>,
}

/// A record of `dedup index query --top`.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Neighbours {
    r#type: String,
    pub id: String,
    pub neighbours: Vec<Neighbour>,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    capped: Option<bool>,
}

#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Neighbour {
    pub id: String,
    similarity: Box<RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    distance: Option<u32>,
}

impl Neighbour {
    pub fn is_equal(&self) -> bool {
        self.similarity.get() == "1.0"
    }
}

impl Neighbours {
    fn check(&self) -> bool {
        let similarities: Option<Vec<f64>> =
            self.neighbours.iter().map(|neighbour| similarity(&neighbour.similarity)).collect();
        similarities.is_some_and(|all| all.is_sorted_by(|a, b| a >= b))
            && (self.neighbours.is_empty() || self.note.is_none() && self.error.is_none())
            && self.capped != Some(false)
    }
}

/// A line of `_dedup/removed.jsonl`.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Removed {
    r#type: String,
    pub file: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub record: Option<u64>,
    pub id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub words: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duplicate_of: Option<Kept>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub similarity: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    same_file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cut: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    contained_in: Option<Kept>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contains: Option<Kept>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub coverage: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    coverage_all: Option<Box<RawValue>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also_contains: Vec<Share>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left_out: Option<u64>,
}

/// A further document of a reference that a page contains.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Share {
    pub file: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub record: Option<u64>,
    pub id: String,
    coverage: Box<RawValue>,
}

/// A line of `_dedup/removed.jsonl` about a part of a text.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Cut {
    r#type: String,
    pub file: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub record: Option<u64>,
    pub id: String,
    pub start: usize,
    pub end: usize,
    pub words: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first: Option<First>,
}

/// Where the words of a cut stay.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct First {
    pub file: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub record: Option<u64>,
    pub id: String,
    pub start: usize,
    pub end: usize,
}

impl Cut {
    fn check(&self) -> bool {
        self.start < self.end && self.words > 0 && self.first.as_ref().is_none_or(|first| first.start < first.end)
    }
}

/// A record of `dedup passages --emit pairs`.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Shared {
    r#type: String,
    pub a: String,
    pub b: String,
    pub passages: Vec<SharedAt>,
    #[serde(skip_serializing_if = "Option::is_none")]
    a_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    b_at: Option<String>,
}

/// A passage in both.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct SharedAt {
    pub words: u64,
    pub a_start: usize,
    pub a_end: usize,
    pub a_line: usize,
    pub b_start: usize,
    pub b_end: usize,
    pub b_line: usize,
    pub similarity: f64,
}

impl Shared {
    fn check(&self) -> bool {
        let is_passage = |at: &SharedAt| {
            at.words > 0
                && at.a_start < at.a_end
                && at.b_start < at.b_end
                && at.similarity > 0.0
                && at.similarity <= 1.0
        };
        !self.passages.is_empty()
            && self.passages.iter().all(is_passage)
            && self.passages.is_sorted_by_key(|at| (at.b_start, at.b_end))
            && self.a_at.is_some() == self.b_at.is_some()
    }
}

/// The document for which another was left out. An index knows only its id.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Kept {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub record: Option<u64>,
    pub id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end: Option<usize>,
}

impl Removed {
    fn check(&self) -> bool {
        let reasons = [
            self.duplicate_of.is_some(),
            self.error.is_some(),
            self.same_file.is_some(),
            self.cut.is_some(),
            self.contained_in.is_some(),
            self.contains.is_some(),
        ];
        let (other, has_words) = (self.contains.as_ref(), self.words.is_some());
        let places = [self.start.zip(self.end), other.and_then(|other| other.start.zip(other.end))];
        (self.duplicate_of.is_some() || has_words) == self.similarity.is_some()
            && places.iter().all(|place| place.is_some() == has_words && place.is_none_or(|(start, end)| start < end))
            && self.words.is_none_or(|words| words > 0 && other.is_some())
            && self.similarity.as_ref().is_none_or(|value| similarity(value).is_some())
            && self.duplicate_of.as_ref().is_none_or(|kept| kept.file.is_some() || kept.record.is_none())
            && self.cut.is_none_or(|share| 0.0 < share && share <= 1.0)
            && (has_words || (self.contained_in.is_some() || other.is_some()) == self.coverage.is_some())
            && (self.coverage_all.is_none() || self.contained_in.is_some())
            && reasons.iter().filter(|&&is_it| is_it).count() == 1
    }
}

/// A line of `_dedup/moved.jsonl`.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Moved {
    r#type: String,
    pub file: String,
    pub from: String,
    pub to: String,
    bytes: u64,
    pub sha256: String,
    modified: String,
    inode: u64,
    pub kept: KeptFile,
    similarity: Box<RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changed: Option<Content>,
}

/// The size and the hash of a file.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Content {
    bytes: u64,
    pub sha256: String,
}

/// The file of the document for which another was moved.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct KeptFile {
    pub file: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub record: Option<u64>,
    pub path: String,
    bytes: u64,
    pub sha256: String,
    modified: String,
    inode: u64,
}

impl Moved {
    fn check(&self) -> bool {
        let is_hash = |hash: &str| hash.len() == 64 && hash.bytes().all(|byte| b"0123456789abcdef".contains(&byte));
        let is_time = |time: &str| time.split_once('.').is_some_and(|(_, nanos)| nanos.len() == 9);
        self.inode != self.kept.inode
            && self.from.starts_with('/')
            && self.kept.path.starts_with('/')
            && self.from.ends_with(&format!("/{}", self.to))
            && [&self.sha256, &self.kept.sha256].into_iter().all(|hash| is_hash(hash))
            && [&self.modified, &self.kept.modified].into_iter().all(|time| is_time(time))
            && self.bytes < 1 << 40
            && self.kept.bytes < 1 << 40
            && similarity(&self.similarity).is_some()
    }
}

/// A line of `--rejects`.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Rejected {
    r#type: String,
    pub file: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub record: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    pub kind: String,
    pub error: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<String>,
}

/// What `dedup plan --json` prints.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    r#type: String,
    pub algo: String,
    pub documents: u64,
    pub tokens: u32,
    parameters: Box<RawValue>,
    pub curve_of: String,
    curve: Box<RawValue>,
    costs: Box<RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub search: Option<Vec<Search>>,
    pub notes: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preset: Option<Preset>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preparation: Option<Preparation>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokenizer: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<PlanData>,
}

/// What a plan says about documents.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct PlanData {
    pub documents: u64,
    pub bytes: u64,
    pub median_words: u64,
    pub median_tokens: u64,
    pub copies: u64,
    pub featureless: u64,
    failed: u64,
    pub expected: ExpectedOfScan,
    measure: String,
    pub distinct: u64,
    pub sampled: u64,
    complete_sample: bool,
    unseen_documents: u64,
    unseen_pairs: f64,
    pub copy_pairs: u64,
    pub ranges: Vec<PlanRange>,
    pub removals: Vec<PlanRemoval>,
}

#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ExpectedOfScan {
    documents: u64,
    pub memory_bytes: f64,
    temporary_bytes: f64,
    pub most_temporary_bytes: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    seconds: Option<f64>,
}

#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct PlanRange {
    pub from: f64,
    to: f64,
    pub pairs: f64,
    pub low: f64,
    pub high: f64,
    pub examples: Vec<PlanExample>,
}

#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct PlanExample {
    pub a: String,
    pub b: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    a_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    b_at: Option<String>,
    pub similarity: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub differ: Option<[String; 2]>,
}

#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct PlanRemoval {
    pub threshold: f64,
    pub documents: f64,
    pub low: f64,
    pub high: f64,
}

/// A way to search in a plan.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Search {
    pub design: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocks: Option<String>,
    pub chosen: bool,
    pub of_index: bool,
    pub tables: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key_bits: Option<[u32; 2]>,
    pub probes: f64,
    pub candidates_of_a_probe: f64,
    pub candidates: f64,
    pub bytes: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub false_candidates: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes_in_memory: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes_of_filters: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compares_all: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub building_seconds: Option<f64>,
    pub query_seconds: f64,
    pub batch_seconds: f64,
}

/// The preset in a plan.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Preset {
    pub name: String,
    pub summary: String,
    pub source: String,
    pub differs: Vec<String>,
    pub advice: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Point {
    similarity: f64,
    probability: f64,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cost {
    pub what: String,
    pub value: f64,
    pub unit: String,
}

/// What `--stats` writes.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Stats {
    r#type: String,
    pub version: String,
    pub hash_version: u32,
    pub algo: String,
    pub measure: String,
    pub tokenizer: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preparation: Option<Preparation>,
    pub seed: u64,
    parameters: Box<RawValue>,
    pub median_tokens: usize,
    pub counts: Counts,
    pub hidden: u64,
    pub records: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clusters: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dropped: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clusters_keeping_several: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub files_written: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes_written: Option<u64>,
    pub compared: u64,
    pub rereadings: u64,
    pub spilled: u64,
    pub warnings: Vec<String>,
    timings: Box<RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preset: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub textless: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub excluded: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shared: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lacking_fields: Option<BTreeMap<String, u64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    against_lacking_fields: Option<BTreeMap<String, u64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<Failure>,
}

/// Why a run failed.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Failure {
    pub kind: String,
    pub message: String,
}

impl Failure {
    /// Its message on standard error, without colours.
    pub fn said(&self) -> String {
        let kinds = "usage output disk index-damaged index-missing index-options index-locked memory empty input";
        assert!(kinds.split(' ').any(|kind| kind == self.kind), "{}", self.kind);
        format!("dedup: error: {}: {}\n", self.kind, self.message)
    }
}

/// What `--stats` writes if a command failed before it had anything to count.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct FailedStats {
    r#type: String,
    version: String,
    pub error: Failure,
}

/// What `dedup filter --stats` writes.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct FilterStats {
    r#type: String,
    version: String,
    hash_version: u64,
    algo: String,
    measure: String,
    tokenizer: String,
    parameters: Box<RawValue>,
    pub counts: FilterCounts,
    pub remembered: u64,
    bytes_held: u64,
    bytes_stored: u64,
    capped: u64,
    seconds: Box<RawValue>,
    seconds_deciding: Box<RawValue>,
    longest_decision: Box<RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replaced_fields: Option<u64>,
    pub warnings: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lacking_fields: Option<BTreeMap<String, u64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<Failure>,
}

#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct FilterCounts {
    pub documents: u64,
    pub fresh: u64,
    pub known: u64,
    pub duplicates: u64,
    replaced: u64,
    featureless: u64,
    pub crowded: u64,
    repaired: u64,
    fell_back: u64,
    pub failed: u64,
    passed: u64,
    bytes: u64,
    pub unconfirmed: u64,
}

/// Statistics of a filter.
#[track_caller]
pub fn filter_stats(line: &str) -> FilterStats {
    let each = |counts: &FilterCounts| {
        counts.fresh + counts.known + counts.duplicates == counts.documents && counts.unconfirmed <= counts.known
    };
    let stats: FilterStats = checked(line.trim_end(), |stats: &FilterStats| {
        stats.r#type == "stats"
            && stats.version == env!("CARGO_PKG_VERSION")
            && !inner::<BTreeMap<String, Value>>(&stats.parameters).is_empty()
    });
    assert!(each(&stats.counts), "{line}");
    stats
}

/// The ids of duplicates, which `dedup filter --duplicates` writes.
#[track_caller]
pub fn filter_verdicts(output: &str) -> Vec<String> {
    let check = |verdict: &Verdict| {
        let value = verdict.similarity.as_deref().and_then(similarity);
        verdict.r#type == "verdict"
            && !verdict.keep
            && verdict.duplicate_of.is_some()
            && value.is_some()
            && verdict.cluster.is_none()
            && verdict.note.is_none()
    };
    output.lines().map(|line| checked::<Verdict>(line, check).id).collect()
}

/// What `dedup filter --verdicts` writes.
#[track_caller]
pub fn filter_decisions(output: &str) -> Vec<Verdict> {
    let check = |verdict: &Verdict| {
        let value = verdict.similarity.as_deref().map(similarity);
        let note = verdict.note.as_deref();
        matches!(
            (verdict.keep, &verdict.duplicate_of, value, note, verdict.error.as_deref()),
            (true, None, None, None | Some("no features" | "crowded keys"), None)
                | (false, Some(_), Some(Some(_)), None | Some("crowded keys" | "known"), None)
                | (_, None, None, None, Some(_))
        ) && verdict.r#type == "verdict"
            && verdict.cluster.is_none()
            && verdict.at.as_deref().map_or(verdict.id.starts_with("-:"), |at| at.starts_with("-:") && at != verdict.id)
            && verdict.duplicate_of_at.is_none()
            && (verdict.duplicate_of.is_some() || verdict.duplicate_of_time.is_none())
            && verdict.replaced != Some(false)
    };
    output.lines().map(|line| checked::<Verdict>(line, check)).collect()
}

/// Statistics of a command that failed early.
#[track_caller]
pub fn failed_stats(line: &str) -> Failure {
    let check = |stats: &FailedStats| stats.r#type == "stats" && stats.version == env!("CARGO_PKG_VERSION");
    checked::<FailedStats>(line.trim_end(), check).error
}

#[derive(Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Counts {
    pub documents: u64,
    pub references: u64,
    pub featureless: u64,
    pub copies: u64,
    /// Where all pairs are looked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pairs: Option<u64>,
    pub unnamed: u64,
    pub bytes: u64,
    pub tokens: u64,
    pub repaired: u64,
    pub skipped: u64,
    pub failed: u64,
}

/// What `dedup eval` prints of an algorithm.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Eval {
    r#type: String,
    pub algo: String,
    parameters: Box<RawValue>,
    pub documents: u64,
    pub truth_pairs: u64,
    pub predicted_pairs: u64,
    precision: Box<RawValue>,
    recall: Box<RawValue>,
    f1: Box<RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ari: Option<Box<RawValue>>,
    pub right: u64,
    wrong: u64,
    missed: u64,
    ignored: u64,
    tokenizer: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    accuracy: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub distribution: Option<Distribution>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bins: Option<Vec<Bin>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_compared: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_bins: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    preparation: Option<Preparation>,
    #[serde(skip_serializing_if = "Option::is_none")]
    truth_is: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub truth_negatives: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unlabelled: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub precision_interval: Option<[f64; 2]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recall_interval: Option<[f64; 2]>,
}

/// How evenly fingerprints are distributed.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Distribution {
    pub fingerprints: u64,
    pub ones_least: f64,
    pub ones_mean: f64,
    pub ones_most: f64,
    pub tables: u64,
    pub expected_of_a_key: f64,
    pub most_of_a_key: u64,
    pub crowded_keys: u64,
}

/// Labelled pairs of about the same similarity.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Bin {
    pub from: f64,
    pub to: f64,
    pub pairs: u64,
    pub found: u64,
    pub recall: f64,
    pub predicted: f64,
}

/// How tokens were prepared.
#[derive(Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Preparation {
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub join_hyphens: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fold: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mask: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stopwords: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stem: Option<String>,
}

/// What it prints of one that is not to be run.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Refusal {
    r#type: String,
    pub algo: String,
    pub refused: String,
}

/// What it prints of a threshold or a distance.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct SweepPoint {
    r#type: String,
    pub algo: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    threshold: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    distance: Option<u32>,
    pub truth_pairs: u64,
    pub predicted_pairs: u64,
    precision: Box<RawValue>,
    recall: Box<RawValue>,
    f1: Box<RawValue>,
    right: u64,
    wrong: u64,
    missed: u64,
    ignored: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    truth_is: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub truth_negatives: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unlabelled: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub precision_interval: Option<[f64; 2]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recall_interval: Option<[f64; 2]>,
}

/// What `dedup compare --json` prints.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Comparison {
    r#type: String,
    pub a: ComparedDocument,
    pub b: ComparedDocument,
    tokenizer: String,
    algorithms: Vec<ComparedBy>,
    shingles: Vec<Shingles>,
    token_counts: TokenCounts,
    min_run: usize,
    covered: [usize; 2],
    pub complete: bool,
    pub passages: Vec<Passage>,
    pub differences: ComparedWords,
    median_tokens: usize,
    pub reported_by: Vec<String>,
    pub contained: Option<String>,
}

#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ComparedWords {
    pub shown: usize,
    pub more: usize,
    pub complete: bool,
    pub a: Vec<Words>,
    pub b: Vec<Words>,
    pub places: Vec<DifferencePlaces>,
}

#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct DifferencePlaces {
    pub a: PassagePlace,
    pub b: PassagePlace,
}

#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Words {
    Shared(String),
    Own(String),
    Omitted(usize),
}

/// A pair on which a result and the labels disagree.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Mistake {
    r#type: String,
    error: String,
    a: String,
    b: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    similarity: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    measure: Option<String>,
    algo: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    distance: Option<u32>,
    a_at: String,
    b_at: String,
}

impl Mistake {
    fn check(&self) -> bool {
        ["wrong", "missed"].contains(&&*self.error)
            && self.a != self.b
            && self.similarity.is_some() == self.measure.is_some()
    }
}

#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ComparedDocument {
    pub id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    bytes: usize,
    tokens: usize,
    distinct_tokens: usize,
}

#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct ComparedBy {
    algo: String,
    measure: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    tokenizer: Option<String>,
    parameters: Box<RawValue>,
    reported: bool,
    outcome: String,
    why: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    similarity: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    distance: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    probability: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reported_by_exact: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    features: Option<ComparedFeatures>,
    #[serde(skip_serializing_if = "Option::is_none")]
    terms: Option<[ComparedTerms; 2]>,
    agreement: Vec<Equal>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fingerprints: Option<[String; 2]>,
    warnings: Vec<String>,
}

#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct ComparedFeatures {
    a: usize,
    b: usize,
    distinct_a: usize,
    distinct_b: usize,
    shared: usize,
}

#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct ComparedTerms {
    distinct: usize,
    counting: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct TokenCounts {
    cosine: Option<Box<RawValue>>,
    euclidean: Box<RawValue>,
}

#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Equal {
    what: String,
    equal: usize,
    of: usize,
}

#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Shingles {
    shingle: String,
    a: usize,
    b: usize,
    shared: usize,
    jaccard: Option<Box<RawValue>>,
    a_in_b: Option<Box<RawValue>>,
    b_in_a: Option<Box<RawValue>>,
}

#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Passage {
    tokens: usize,
    pub a: PassagePlace,
    pub b: PassagePlace,
    pub text: String,
}

#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct PassagePlace {
    pub lines: [usize; 2],
    pub bytes: [usize; 2],
}

impl Comparison {
    fn check(&self) -> bool {
        // Some are so small that they have an exponent, which `number` does not know.
        let share = |share: &Option<Box<RawValue>>| {
            let value = share.as_deref().map(|raw| raw.get().parse::<f64>());
            value.is_none_or(|value| value.is_ok_and(|share| (0.0..=1.0).contains(&share)))
        };
        let judged = |by: &ComparedBy| {
            let reported = matches!(&*by.outcome, "reported" | "copies");
            let unsure =
                matches!(&*by.outcome, "below_threshold" | "no_key_in_common" | "too_few_features" | "refused");
            by.reported == reported
                && (reported || unsure || by.outcome == "needs_collection")
                && match &*by.outcome {
                    "needs_collection" => by.features.is_none(),
                    "refused" => true,
                    _ => by.features.is_some(),
                }
                && (!reported || by.similarity.is_some())
                && share(&by.similarity)
                && share(&by.probability)
                && by.agreement.iter().all(|parts| parts.equal <= parts.of)
                && !inner::<BTreeMap<String, Value>>(&by.parameters).is_empty()
        };
        let inside = |place: &PassagePlace, document: &ComparedDocument| {
            place.lines[0] >= 1
                && place.lines[0] <= place.lines[1]
                && place.bytes[0] <= place.bytes[1]
                && place.bytes[1] <= document.bytes
        };
        let is_empty = |place: &PassagePlace| place.bytes[0] == place.bytes[1];
        let passage = |passage: &Passage| {
            passage.tokens >= self.min_run
                && inside(&passage.a, &self.a)
                && inside(&passage.b, &self.b)
                && !is_empty(&passage.b)
                && !passage.text.is_empty()
                && passage.text.len() == passage.a.bytes[1] - passage.a.bytes[0]
        };
        let difference = |places: &DifferencePlaces| {
            let is_different = !is_empty(&places.a) || !is_empty(&places.b);
            is_different && inside(&places.a, &self.a) && inside(&places.b, &self.b)
        };
        let reported = self.algorithms.iter().filter(|by| by.reported).map(|by| &by.algo);
        let contained = match [(self.covered[0], &self.a), (self.covered[1], &self.b)]
            .map(|(covered, document)| covered > document.tokens / 2)
        {
            [true, true] => Some("both"),
            [true, false] => Some("a"),
            [false, true] => Some("b"),
            [false, false] => None,
        };
        self.covered[0] <= self.a.tokens
            && self.covered[1] <= self.b.tokens
            && self.algorithms.iter().all(judged)
            && self.shingles.iter().all(|set| {
                set.shared <= set.a.min(set.b) && [&set.jaccard, &set.a_in_b, &set.b_in_a].into_iter().all(share)
            })
            && self.passages.iter().all(passage)
            && self.passages.is_sorted_by_key(|passage| passage.a.bytes[0])
            && self.differences.places.len() == self.differences.shown
            && self.differences.places.iter().all(difference)
            && reported.eq(self.reported_by.iter())
            && self.contained.as_deref() == contained
    }
}

#[derive(Debug)]
pub enum Record {
    Comparison(Comparison),
    Eval(Eval),
    Refusal(Refusal),
    Point(SweepPoint),
    Pair(Pair),
    Cluster(Cluster),
    PassageVerdict(PassageVerdict),
    Verdict(Verdict),
    Fingerprint(Fingerprint),
    Hosts(Hosts),
    Repeated(Repeated),
    Spans(Spans),
    Containment(Containment),
    Coverage(Coverage),
    OfIndex(OfIndex),
    Neighbours(Neighbours),
    Document(Document),
    Plan(Plan),
    Rejected(Rejected),
    Removed(Removed),
    Cut(Cut),
    Shared(Shared),
    Moved(Moved),
    #[expect(dead_code, reason = "only checked")]
    Mistake(Mistake),
    Stats(Stats),
}

/// Parses a line and checks its internal consistency.
#[track_caller]
pub fn parse(line: &str) -> Record {
    #[derive(Deserialize)]
    struct Tag {
        r#type: String,
    }
    let tag: Tag = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
    match &*tag.r#type {
        "pair" => Record::Pair(checked(line, Pair::check)),
        "cluster" => Record::Cluster(checked(line, Cluster::check)),
        "verdict" if line.contains(",\"contains_start\":") => {
            Record::PassageVerdict(checked(line, PassageVerdict::check))
        }
        "verdict" => Record::Verdict(checked(line, Verdict::check)),
        "fingerprint" => Record::Fingerprint(checked(line, Fingerprint::check)),
        "document" => Record::Document(checked(line, |document: &Document| document.time > 0)),
        "neighbours" => Record::Neighbours(checked(line, Neighbours::check)),
        "hosts" => Record::Hosts(checked(line, Hosts::check)),
        "passage" => Record::Repeated(checked(line, Repeated::check)),
        "spans" => Record::Spans(checked(line, Spans::check)),
        "containment" => Record::Containment(checked(line, Containment::check)),
        "coverage" => Record::Coverage(checked(line, |found: &Coverage| 0.0 < found.coverage && found.coverage <= 1.0)),
        "index" => Record::OfIndex(checked(line, OfIndex::check)),
        "eval" if line.contains(",\"refused\":") => Record::Refusal(checked(line, |_| true)),
        "eval" => Record::Eval(checked(line, Eval::check)),
        "point" | "best" => Record::Point(checked(line, SweepPoint::check)),
        "comparison" => Record::Comparison(checked(line, Comparison::check)),
        "plan" => Record::Plan(checked(line, Plan::check)),
        "rejected" => Record::Rejected(checked(line, |rejected: &Rejected| !rejected.error.is_empty())),
        "removed" => Record::Removed(checked(line, Removed::check)),
        "cut" => Record::Cut(checked(line, Cut::check)),
        "shared" => Record::Shared(checked(line, Shared::check)),
        "moved" => Record::Moved(checked(line, Moved::check)),
        "error" => Record::Mistake(checked(line, Mistake::check)),
        "stats" => Record::Stats(checked(line, Stats::check)),
        other => panic!("a record of type {other}: {line}"),
    }
}

/// All records of an output, which must be of one type.
macro_rules! all {
    ($name:ident, $kind:ident) => {
        #[track_caller]
        pub fn $name(output: &str) -> Vec<$kind> {
            let one = |line| match parse(line) {
                Record::$kind(record) => record,
                other => panic!("not what was asked for: {other:?}"),
            };
            output.lines().map(one).collect()
        }
    };
}
all!(pairs, Pair);
all!(clusters, Cluster);
all!(verdicts, Verdict);
all!(fingerprints, Fingerprint);
all!(repeated, Repeated);
all!(spans, Spans);
all!(containments, Containment);
all!(coverages, Coverage);
all!(documents, Document);
all!(of_index, OfIndex);
all!(hosts, Hosts);
all!(neighbours, Neighbours);
all!(rejected, Rejected);
all!(removed, Removed);
all!(shared, Shared);
all!(moved, Moved);
all!(plans, Plan);
all!(stats, Stats);
all!(evals, Eval);
all!(comparisons, Comparison);

#[track_caller]
fn checked<'a, T: Deserialize<'a> + Serialize>(line: &'a str, check: fn(&T) -> bool) -> T {
    let record: T = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
    assert_eq!(serde_json::to_string(&record).unwrap(), line, "fields in another order, or written in another way");
    assert!(check(&record), "it contradicts itself: {line}");
    record
}

/// A similarity above 0 and at most 1, with as many digits as it takes and no more.
fn similarity(raw: &RawValue) -> Option<f64> {
    let value: f64 = raw.get().parse().ok()?;
    (format!("{value:?}") == raw.get() && value > 0.0 && value <= 1.0).then_some(value)
}

impl Pair {
    fn check(&self) -> bool {
        let Some(value) = similarity(&self.similarity) else { return false };
        match (&*self.algo, &*self.measure, self.distance) {
            ("minhash" | "exact" | "spotsigs", "jaccard", None) => true,
            ("minhash", "supershingles", None) => {
                (1..=32).any(|all| (1..=all).any(|n| value == f64::from(n) / f64::from(all)))
            }
            ("projection", "hamming", Some(bits)) => {
                (1..=16).any(|words| value == 1.0 - f64::from(bits) / f64::from(64 * words))
            }
            ("projection", "cosine", None) | ("containment", "containment", None) => true,
            ("simhash", "hamming", Some(bits)) => {
                (1..=8).any(|halves| value == 1.0 - f64::from(bits) / f64::from(32 * halves))
            }
            // A share of at most 101 digests.
            ("imatch", "imatch", None) => {
                (1..=101u32).any(|all| (1..=all).any(|n| value == f64::from(n) / f64::from(all)))
            }
            _ => false,
        }
    }

    /// The similarity, as printed.
    pub fn similarity(&self) -> &str {
        self.similarity.get()
    }
}

impl Cluster {
    fn check(&self) -> bool {
        // Members with equal ids differ by position.
        let (members, keep) = match (&self.members_at, &self.keep_at) {
            (None, None) => (&self.members, &self.keep),
            (Some(members), Some(keep)) => (members, keep),
            _ => return false,
        };
        let at = |id: &String| members.iter().position(|member| member == id);
        self.size == self.members.len()
            && self.size == members.len()
            && self.size >= 2
            && !keep.is_empty()
            && keep.len() == self.keep.len()
            && keep.iter().all(|id| at(id).is_some())
            && keep.is_sorted_by_key(at)
    }
}

impl Verdict {
    fn check(&self) -> bool {
        let value = self.similarity.as_deref().map(similarity);
        let error = self.error.as_deref();
        if self.r#in.is_some() || self.contains.is_some() || self.note.as_deref() == Some("no runs") {
            return self.check_of_contain();
        }
        let places = self.at.is_some() == self.duplicate_of_at.is_some() || self.duplicate_of.is_none();
        let of_contain = self.coverage.is_some() || self.coverage_all.is_some() || self.in_at.is_some();
        places
            && !of_contain
            && self.duplicate_of_time.is_none()
            && matches!(
                (self.keep, &self.duplicate_of, value, self.cluster, self.note.as_deref(), error),
                (true, None, None, _, None, None)
                    | (true, None, None, None, Some("no features"), None)
                    | (false, Some(_), Some(Some(_)), Some(_), None, None)
                    | (_, None, None, None, None, Some(_))
            )
    }

    /// Of `dedup contain`.
    fn check_of_contain(&self) -> bool {
        let is_plain = self.duplicate_of.is_none()
            && self.similarity.is_none()
            && self.cluster.is_none()
            && self.duplicate_of_at.is_none()
            && self.error.is_none();
        let Some(coverage) = self.coverage else {
            let is_free = self.r#in.is_none() && self.contains.is_none() && self.coverage_all.is_none();
            return is_plain && self.keep && is_free && self.in_at.is_none() && self.contains_at.is_none();
        };
        let other = [(&self.r#in, &self.in_at), (&self.contains, &self.contains_at)];
        let is_of_one = other.iter().filter(|(id, _)| id.is_some()).count() == 1
            && other.iter().all(|(id, at)| at.is_some() == (id.is_some() && self.at.is_some()));
        let is_share = 0.0 < coverage && coverage <= self.coverage_all.unwrap_or(coverage) && coverage <= 1.0;
        is_plain && is_share && is_of_one && !self.keep && self.note.is_none()
    }

    /// The similarity, as printed.
    pub fn similarity(&self) -> Option<&str> {
        self.similarity.as_deref().map(RawValue::get)
    }
}

/// A number with as many digits as it takes and no more.
fn number(raw: &RawValue) -> f64 {
    let value: f64 = raw.get().parse().expect("it is a number");
    assert_eq!(format!("{value:?}"), raw.get());
    value
}

/// Labelled, found, right, wrong, missed, ignored pairs.
type PairCounts = [u64; 6];

/// A number, or null.
fn number_or_null(raw: &RawValue) -> Option<f64> {
    (raw.get() != "null").then(|| number(raw))
}

/// What a record says of a sample: what the labels are, its negatives, unlabelled pairs, and both intervals.
type OfSample<'a> = (Option<&'a str>, Option<u64>, Option<u64>, [Option<[f64; 2]>; 2]);

/// Whether the measures are those of the counts. Where no pair was found that counts, there is no precision and no F1; nor if no
/// pair of a sample is labelled false.
fn measured(
    [labelled, found, right, wrong, missed, ignored]: PairCounts,
    measures: [Option<f64>; 3],
    (truth_is, negatives, unlabelled, intervals): OfSample<'_>,
) -> bool {
    let part = |part: u64, whole: u64| if whole == 0 { 1.0 } else { part as f64 / whole as f64 };
    let counted = right + wrong > 0 && negatives != Some(0);
    let is_sample = truth_is == Some("sample");
    let holds = |interval: Option<[f64; 2]>, measure: Option<f64>, is_there: bool| match (interval, measure) {
        (Some([low, high]), Some(share)) => {
            let near = (share - 5e-5, share + 5e-5);
            is_there && 0.0 <= low && low < near.1 && near.0 < high && high <= 1.0
        }
        (interval, _) => interval.is_none() && !is_there,
    };
    (truth_is.is_some(), negatives.is_some(), unlabelled.is_some()) == (is_sample, is_sample, is_sample)
        && negatives.is_none_or(|negatives| wrong <= negatives)
        && holds(intervals[0], measures[0], is_sample && counted)
        && holds(intervals[1], measures[1], is_sample && labelled > 0)
        && labelled == right + missed
        && found == right + wrong + ignored + unlabelled.unwrap_or(0)
        && measures
            == [
                counted.then(|| part(right, right + wrong)),
                Some(part(right, labelled)),
                counted.then(|| part(2 * right, 2 * right + wrong + missed)),
            ]
}

impl Eval {
    fn check(&self) -> bool {
        let [precision, recall, f1, ari] = self.measures();
        let of_clusters = match (&self.accuracy, self.truth_is.is_some()) {
            (Some(_), false) => {
                ari.is_some_and(|ari| (-1.0..=1.0).contains(&ari)) && (0.0..=1.0).contains(&self.accuracy())
            }
            (accuracy, is_sample) => is_sample && accuracy.is_none() && ari.is_none(),
        };
        measured(self.counts(), [precision, recall, f1], self.of_sample())
            && of_clusters
            && self.bins_add_up()
            && !inner::<BTreeMap<String, Value>>(&self.parameters).is_empty()
    }

    pub fn accuracy(&self) -> f64 {
        number(self.accuracy.as_ref().expect("labels are complete"))
    }

    fn of_sample(&self) -> OfSample<'_> {
        let intervals = [self.precision_interval, self.recall_interval];
        (self.truth_is.as_deref(), self.truth_negatives, self.unlabelled, intervals)
    }

    fn bins_add_up(&self) -> bool {
        let (Some(bins), Some(not_compared), None) = (&self.bins, self.not_compared, &self.no_bins) else {
            return self.bins.is_none() && self.not_compared.is_none() && self.no_bins.is_some();
        };
        bins.iter().map(|bin| bin.pairs).sum::<u64>() + not_compared == self.truth_pairs
            && bins.iter().map(|bin| bin.found).sum::<u64>() == self.right
            && bins.iter().all(|bin| {
                let recall = (bin.found as f64 / bin.pairs as f64 * 1e4).round() / 1e4;
                bin.recall == recall && (0.0..=1.0).contains(&bin.predicted) && bin.from < bin.to
            })
    }

    /// Precision, recall, F1, ARI.
    pub fn measures(&self) -> [Option<f64>; 4] {
        let [precision, recall, f1] = [&self.precision, &self.recall, &self.f1].map(|raw| number_or_null(raw));
        [precision, recall, f1, self.ari.as_deref().and_then(number_or_null)]
    }

    pub fn counts(&self) -> PairCounts {
        [self.truth_pairs, self.predicted_pairs, self.right, self.wrong, self.missed, self.ignored]
    }
}

impl SweepPoint {
    fn check(&self) -> bool {
        let measures = [&self.precision, &self.recall, &self.f1].map(|raw| number_or_null(raw));
        measured(self.counts(), measures, self.of_sample()) && self.threshold.is_some() != self.distance.is_some()
    }

    fn of_sample(&self) -> OfSample<'_> {
        let intervals = [self.precision_interval, self.recall_interval];
        (self.truth_is.as_deref(), self.truth_negatives, self.unlabelled, intervals)
    }

    pub fn counts(&self) -> PairCounts {
        [self.truth_pairs, self.predicted_pairs, self.right, self.wrong, self.missed, self.ignored]
    }

    /// The threshold or the distance.
    pub fn at(&self) -> f64 {
        let threshold = self.threshold.as_deref().map(number);
        threshold.or(self.distance.map(f64::from)).expect("one of the two")
    }

    pub fn f1(&self) -> Option<f64> {
        number_or_null(&self.f1)
    }

    pub fn is_best(&self) -> bool {
        self.r#type == "best"
    }
}

impl Plan {
    fn check(&self) -> bool {
        let curve: Vec<Point> = inner(&self.curve);
        // By a similarity, or by how much pairs differ.
        let ordered = match &*self.curve_of {
            "differing" => curve.is_sorted_by(|a, b| a.similarity > b.similarity),
            _ => curve.is_sorted_by(|a, b| a.similarity < b.similarity),
        };
        let rising = ordered && curve.is_sorted_by(|a, b| a.probability <= b.probability);
        let probable = curve.iter().all(|point| (0.0..=1.0).contains(&point.probability));
        !self.parameters().is_empty()
            && !curve.is_empty()
            && rising
            && probable
            && self.costs().iter().all(|cost| cost.value >= 0.0)
    }

    pub fn parameters(&self) -> BTreeMap<String, Value> {
        inner(&self.parameters)
    }

    pub fn costs(&self) -> Vec<Cost> {
        inner(&self.costs)
    }
}

impl Stats {
    fn check(&self) -> bool {
        let timings = self.timings();
        let total = timings["total"];
        timings.values().all(|&seconds| (0.0..=total).contains(&seconds)) && !self.parameters().is_empty()
    }

    pub fn parameters(&self) -> BTreeMap<String, Value> {
        inner(&self.parameters)
    }

    pub fn timings(&self) -> BTreeMap<String, f64> {
        inner(&self.timings)
    }
}

fn inner<'a, T: Deserialize<'a>>(raw: &'a RawValue) -> T {
    serde_json::from_str(raw.get()).unwrap_or_else(|error| panic!("{error}: {raw}"))
}
