//! The quality of a result, measured against pairs that are known to be near-duplicates.
//!
//! [`Labels`] are the known pairs, by document id. Resolved against the documents of a run they become a [`PairSet`],
//! by document number. [`Scores`] counts the predicted pairs against it, and [`adjusted_rand_index`] compares the
//! clusters. A sweep counts for every threshold at once. Counts are integers; a measure is one division at the end.

use crate::algorithm::parameter::{Settings, Values};
use crate::algorithm::{Entry, Odds, parameter::Parameter};
use crate::engine::Outcome;
use crate::error::Error;
use crate::similarity::{Similarity, Threshold};
use crate::source::{Place, Severity, Source};
use crate::union_find::UnionFind;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::ops::ControlFlow;

/// Fields of pairs in other files of labels, where they say whether the two are near-duplicates.
const LIKE_LABELS: [&str; 12] = [
    "class",
    "dup",
    "duplicate",
    "gold",
    "is_duplicate",
    "is_match",
    "label",
    "labels",
    "match",
    "positive",
    "same",
    "target",
];

/// The maximum number of pairs that labels may represent. Each takes 8 bytes while in use.
const MOST_PAIRS: u64 = 100_000_000;

/// Labelled groups of documents, by id: every document of a group is a near-duplicate of every other one. A labelled pair is
/// a group of two.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Labels {
    /// Each id once, with the location of its first occurrence.
    ids: Vec<(String, Place)>,
    groups: Vec<Vec<u32>>,
}

impl Labels {
    /// Reads labels, one JSON object per line, from a source that makes each line a document. A line is a pair
    /// `{"a":ID,"b":ID}`, a cluster `{"cluster":[ID,…]}` (or `{"members":[ID,…]}`, as `dedup scan --emit clusters`
    /// writes it), or a document with the name of its cluster `{"id":ID,"cluster":NAME}`. Other fields are ignored,
    /// except that a pair with a field such as `label` or `duplicate` is refused: it may say that they are not. Ids
    /// are strings, or numbers as they are written.
    ///
    /// # Errors
    /// [`Error::Label`], with the location, for a line that is none of these or cannot be read, and for a pair of a
    /// document with itself.
    pub fn read(source: &mut dyn Source) -> Result<Self, Error> {
        let mut reading = Reading::default();
        let mut error = None;
        source.read(&mut |batch| {
            batch.documents(&mut |line| {
                let result = match line {
                    _ if error.is_some() => return,
                    Ok(line) => reading.line(&line.text, &line.place).map_err(|message| (line.place, message)),
                    // The line itself comes after it.
                    Err(problem) if problem.severity <= Severity::Repaired => return,
                    Err(problem) => Err((problem.place, problem.message)),
                };
                error = result.err();
            });
            if error.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        match error {
            Some((place, message)) => Err(Error::Label { place: place.to_string(), message }),
            None => Ok(reading.labels),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// The labelled pairs, by the numbers of the documents.
    ///
    /// # Errors
    /// [`Error::Label`] for an id that no document has, with the location of its first occurrence, and for too many
    /// pairs.
    pub fn resolve(&self, documents: &HashMap<&str, u32>) -> Result<PairSet, Error> {
        let unknown = self.ids.iter().find(|(id, _)| !documents.contains_key(id.as_str()));
        match unknown {
            Some((id, place)) => {
                let message = format!("no document has the id '{id}'");
                Err(Error::Label { place: place.to_string(), message })
            }
            None => self.resolve_known(documents).map(|(pairs, _)| pairs),
        }
    }

    /// The labelled pairs of known documents, and the number of ids that no document has.
    ///
    /// # Errors
    /// As for [`resolve`](Self::resolve) if there are too many pairs.
    pub fn resolve_known(&self, documents: &HashMap<&str, u32>) -> Result<(PairSet, usize), Error> {
        let numbers: Vec<Option<u32>> = self.ids.iter().map(|(id, _)| documents.get(id.as_str()).copied()).collect();
        let size = |group: &Vec<u32>| group.len() as u64 * (group.len() as u64).saturating_sub(1) / 2;
        let most = self.groups.iter().max_by_key(|group| group.len()).and_then(|group| group.first());
        if let Some(&first) = most
            && self.groups.iter().map(size).sum::<u64>() > MOST_PAIRS
        {
            return Err(Error::Label {
                place: self.ids[first as usize].1.to_string(),
                message: format!("the labels represent more than {MOST_PAIRS} pairs, most of them in this cluster"),
            });
        }
        let mut pairs = Vec::new();
        for group in &self.groups {
            let members: Vec<u32> = group.iter().filter_map(|&id| numbers[id as usize]).collect();
            for (i, &a) in members.iter().enumerate() {
                pairs.extend(members[i + 1..].iter().map(|&b| (a, b)));
            }
        }
        Ok((PairSet::new(pairs), numbers.iter().filter(|number| number.is_none()).count()))
    }
}

/// The state of reading labels.
#[derive(Default)]
struct Reading {
    labels: Labels,
    numbers: HashMap<String, u32>,
    /// The group of each named cluster. Only used for look-ups: groups are numbered in order of appearance.
    named: HashMap<String, usize>,
}

impl Reading {
    fn line(&mut self, line: &str, place: &Place) -> Result<(), String> {
        let fields: BTreeMap<Cow<'_, str>, &RawValue> = serde_json::from_str(line).map_err(|error| {
            // The message already starts with the line of the file.
            format!("not a JSON object: {}", error.to_string().replace(" at line 1 column ", " at column "))
        })?;
        let field = |name: &str| fields.get(name).copied();
        let list = ["cluster", "members"].into_iter().filter_map(field).find(|value| value.get().starts_with('['));
        if let Some(list) = list {
            let list: Vec<&RawValue> = serde_json::from_str(list.get()).map_err(|error| error.to_string())?;
            let ids = list.into_iter().map(|id| self.number(id, place)).collect::<Result<Vec<_>, _>>()?;
            self.labels.groups.push(ids);
        } else if let (Some(id), Some(cluster)) = (field("id"), field("cluster")) {
            let id = self.number(id, place)?;
            // A document in no cluster is similar to no other.
            if cluster.get() != "null" {
                let groups = &mut self.labels.groups;
                let group = *self.named.entry(text(cluster, "a cluster's name")?).or_insert_with(|| {
                    groups.push(Vec::new());
                    groups.len() - 1
                });
                groups[group].push(id);
            }
        } else if let (Some(a), Some(b)) = (field("a"), field("b")) {
            if let Some(name) = LIKE_LABELS.iter().find(|name| fields.contains_key(**name)) {
                return Err(format!(
                    "the field '{name}' looks like a label, which is not read: every pair in this file is one of near-duplicates; \
                     leave out the others, and the field"
                ));
            }
            let pair = [self.number(a, place)?, self.number(b, place)?];
            if pair[0] == pair[1] {
                return Err(format!("a pair of '{}' with itself", self.labels.ids[pair[0] as usize].0));
            }
            self.labels.groups.push(pair.to_vec());
        } else {
            return Err(
                "neither a pair (\"a\", \"b\") nor a cluster (\"cluster\" with ids, or \"id\", \"cluster\")".into()
            );
        }
        Ok(())
    }

    /// The number of an id.
    fn number(&mut self, id: &RawValue, place: &Place) -> Result<u32, String> {
        let id = text(id, "an id")?;
        if let Some(&number) = self.numbers.get(&id) {
            return Ok(number);
        }
        let number = u32::try_from(self.labels.ids.len()).map_err(|_| "too many ids".to_string())?;
        self.labels.ids.push((id.clone(), place.clone()));
        self.numbers.insert(id, number);
        Ok(number)
    }
}

/// A string, or a number as it is written.
fn text(value: &RawValue, what: &str) -> Result<String, String> {
    match value.get().as_bytes().first() {
        Some(b'"') => serde_json::from_str(value.get()).map_err(|error| error.to_string()),
        Some(b'-' | b'0'..=b'9') => Ok(value.get().to_string()),
        _ => Err(format!("{what} is {}, not a string or a number", value.get())),
    }
}

/// Pairs of documents by number. Each is in the set once, regardless of the order of its documents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PairSet(Vec<(u32, u32)>);

impl PairSet {
    /// The set of these pairs. A pair of a document with itself is left out.
    pub fn new(pairs: impl IntoIterator<Item = (u32, u32)>) -> Self {
        let mut pairs: Vec<_> = pairs.into_iter().filter(|(a, b)| a != b).map(|(a, b)| (a.min(b), a.max(b))).collect();
        pairs.sort_unstable();
        pairs.dedup();
        PairSet(pairs)
    }

    /// Whether a pair is in it.
    pub fn contains(&self, a: u32, b: u32) -> bool {
        self.0.binary_search(&(a.min(b), a.max(b))).is_ok()
    }

    /// The number of pairs.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The pairs, ascending, the smaller number first.
    pub fn iter(&self) -> impl Iterator<Item = (u32, u32)> {
        self.0.iter().copied()
    }

    /// The pairs of this set that are not in the other.
    pub fn without(&self, other: &PairSet) -> PairSet {
        PairSet(self.iter().filter(|&(a, b)| !other.contains(a, b)).collect())
    }
}

/// The truth that predicted pairs are compared with.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Truth {
    /// Pairs that should be found.
    pub pairs: PairSet,
    /// Pairs that count as neither right nor wrong.
    pub ignored: PairSet,
}

/// The judgement of a predicted pair. Exhaustive: these three are all that labels can say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Labelled: right.
    Right,
    /// Not labelled: wrong.
    Wrong,
    /// Counts as neither.
    Ignored,
}

impl Truth {
    /// The truth of these labelled pairs. Pairs of `ignored` that are labelled count nevertheless.
    pub fn new(pairs: PairSet, ignored: &PairSet) -> Self {
        let ignored = ignored.without(&pairs);
        Truth { pairs, ignored }
    }

    /// The judgement of a predicted pair.
    pub fn kind(&self, a: u32, b: u32) -> Kind {
        if self.pairs.contains(a, b) {
            Kind::Right
        } else if self.ignored.contains(a, b) {
            Kind::Ignored
        } else {
            Kind::Wrong
        }
    }
}

/// The counts of predicted pairs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Scores {
    /// Pairs that should be found.
    pub labelled: u64,
    /// Pairs of them that were found.
    pub right: u64,
    /// Pairs found that are not labelled.
    pub wrong: u64,
    /// Pairs found that count as neither right nor wrong.
    pub ignored: u64,
}

impl Scores {
    /// The counts before any pair.
    pub fn new(truth: &Truth) -> Self {
        Scores { labelled: truth.pairs.len() as u64, ..Scores::default() }
    }

    /// Counts a predicted pair. Each pair must be added only once.
    pub fn add(&mut self, kind: Kind) {
        match kind {
            Kind::Right => self.right += 1,
            Kind::Wrong => self.wrong += 1,
            Kind::Ignored => self.ignored += 1,
        }
    }

    /// All pairs found, including ignored ones.
    pub fn predicted(&self) -> u64 {
        self.right + self.wrong + self.ignored
    }

    /// Labelled pairs that were not found.
    pub fn missed(&self) -> u64 {
        self.labelled.saturating_sub(self.right)
    }

    /// The share of the found pairs that is right; `None` if none was found. Ignored pairs do not count.
    pub fn precision(&self) -> Option<f64> {
        let found = self.right + self.wrong;
        (found > 0).then(|| part(self.right, found))
    }

    /// The share of the labelled pairs that was found; 1 if there are no labelled pairs.
    pub fn recall(&self) -> f64 {
        part(self.right, self.labelled)
    }

    /// The harmonic mean of precision and recall, `2·right / (2·right + wrong + missed)`; `None` if precision is
    /// undefined.
    pub fn f1(&self) -> Option<f64> {
        self.precision().map(|_| part(2 * self.right, 2 * self.right + self.wrong + self.missed()))
    }
}

/// `part / whole`; 1 if both are 0.
fn part(part: u64, whole: u64) -> f64 {
    if whole == 0 { 1.0 } else { part as f64 / whole as f64 }
}

/// A label for each of `documents` documents, equal for documents that pairs connect.
pub fn components(documents: usize, pairs: impl IntoIterator<Item = (u32, u32)>) -> Vec<u32> {
    let mut union = UnionFind::<u32>::new(documents);
    for (a, b) in pairs {
        union.union(a, b);
    }
    union.into_labels()
}

/// The adjusted Rand index of two partitions, given as a label for each document: 1 for equal ones, about 0 for
/// unrelated ones (Hubert & Arabie 1985, *Comparing partitions*). Let `t` and `p` be the pairs inside the clusters of
/// the one and of the other, `s` those inside clusters of both, and `N` all pairs. The index is `(s − tp/N) / ((t +
/// p)/2 − tp/N)`. It is 1 where that is 0/0, which occurs only for equal partitions.
///
/// # Panics
/// If the two have different numbers of documents.
pub fn adjusted_rand_index(truth: &[u32], predicted: &[u32]) -> f64 {
    assert_eq!(truth.len(), predicted.len(), "a label for each document on both sides");
    let mut both: Vec<(u32, u32)> = truth.iter().copied().zip(predicted.iter().copied()).collect();
    let s = pairs_within(&mut both);
    let t = pairs_within(&mut truth.to_vec());
    let p = pairs_within(&mut predicted.to_vec());
    let documents = truth.len() as i128;
    let all = documents * (documents - 1) / 2;
    // Both sides of the fraction times 2N: whole numbers, below 2¹²⁷ for up to 2³² documents.
    let (above, below) = (2 * all * s - 2 * t * p, all * (t + p) - 2 * t * p);
    if below == 0 { 1.0 } else { above as f64 / below as f64 }
}

/// The share of the documents that are clustered correctly: their cluster has the same documents in both partitions,
/// given as for [`adjusted_rand_index`]. A document that is alone in both is correct. 1 without documents.
///
/// # Panics
/// If the two have different numbers of documents.
pub fn accuracy(truth: &[u32], predicted: &[u32]) -> f64 {
    assert_eq!(truth.len(), predicted.len(), "a label for each document on both sides");
    let sizes = |labels: &[u32]| {
        let mut sizes: HashMap<u32, u64> = HashMap::new();
        labels.iter().for_each(|&label| *sizes.entry(label).or_default() += 1);
        sizes
    };
    let (of_truth, of_predicted) = (sizes(truth), sizes(predicted));
    let mut both: Vec<(u32, u32)> = truth.iter().copied().zip(predicted.iter().copied()).collect();
    both.sort_unstable();
    // Two clusters are the same if what they share is all of each.
    let same = |run: &&[(u32, u32)]| [of_truth[&run[0].0], of_predicted[&run[0].1]] == [run.len() as u64; 2];
    let right: usize = both.chunk_by(|a, b| a == b).filter(same).map(<[_]>::len).sum();
    part(right as u64, truth.len() as u64)
}

/// The number of pairs with equal labels.
fn pairs_within<L: Ord>(labels: &mut [L]) -> i128 {
    labels.sort_unstable();
    let pairs = |run: &[L]| run.len() as i128 * (run.len() as i128 - 1) / 2;
    labels.chunk_by(|a, b| a == b).map(pairs).sum()
}

/// The measures of a result against the truth.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Evaluation {
    /// The pairs.
    pub scores: Scores,
    /// The adjusted Rand index of the clusters that pairs connect, over all documents. Ignored pairs connect nothing in
    /// the clusters of the truth; in those of the result they connect like any other.
    pub ari: f64,
    /// The share of the documents whose cluster has exactly the documents that labelled pairs connect; see
    /// [`accuracy`].
    pub accuracy: f64,
}

/// The documents of an outcome by id, numbered in input order. Of several with one id only the last has a number, so ids
/// should be distinct.
pub fn numbers(outcome: &Outcome) -> HashMap<&str, u32> {
    outcome.documents().zip(0..).collect()
}

/// Measures an outcome. `numbers` are those of its documents; see [`numbers`].
///
/// # Errors
/// Those of [`Outcome::pairs`].
pub fn evaluate(outcome: &Outcome, numbers: &HashMap<&str, u32>, truth: &Truth) -> Result<Evaluation, Error> {
    let mut scores = Scores::new(truth);
    let mut union = UnionFind::<u32>::new(numbers.len());
    each_pair(outcome, numbers, |a, b, _| {
        scores.add(truth.kind(a, b));
        union.union(a, b);
    })?;
    let clusters = components(numbers.len(), truth.pairs.iter());
    let found = union.into_labels();
    Ok(Evaluation { scores, ari: adjusted_rand_index(&clusters, &found), accuracy: accuracy(&clusters, &found) })
}

/// Passes every found pair to a function, by number, with its closeness in the measure of the algorithm: higher is
/// closer.
fn each_pair(
    outcome: &Outcome,
    numbers: &HashMap<&str, u32>,
    mut each: impl FnMut(u32, u32, f64),
) -> Result<(), Error> {
    for pair in outcome.pairs() {
        let pair = pair?;
        let closeness = pair.distance.map_or(pair.similarity.value(), |bits| -f64::from(bits));
        each(numbers[pair.a], numbers[pair.b], closeness);
    }
    Ok(())
}

/// How an outcome and the truth disagree about a pair. Exhaustive: there is no third way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Disagreement {
    /// It was found, and is not labelled.
    Wrong,
    /// It is labelled, and was not found.
    Missed,
}

/// A pair on which an outcome and the truth disagree.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Mistake {
    /// The numbers of the two documents, the smaller one first.
    pub documents: (u32, u32),
    /// What is wrong.
    pub disagreement: Disagreement,
    /// The similarity: of a pair that was found by the measure of the outcome, of a missed one by that of
    /// [`Outcome::odds_measure`]. `None` if it is not known.
    pub similarity: Option<Similarity>,
    /// The number of differing bits, for measures that have one.
    pub distance: Option<u32>,
}

/// The wrong and the missed pairs, in the order of the documents. `odds` are those that [`bins`] takes, or empty if the
/// algorithm has none. The ids of the documents are distinct.
///
/// # Errors
/// Those of [`Outcome::pairs`].
///
/// # Cost
/// One pass over the pairs. They are not collected.
pub fn mistakes<'o>(
    outcome: &'o Outcome,
    truth: &'o Truth,
    odds: &'o [Option<Odds>],
) -> impl Iterator<Item = Result<Mistake, Error>> + 'o {
    let found = outcome.pairs().map(|pair| {
        let pair = pair?;
        let documents = (pair.indices.0 as u32, pair.indices.1 as u32);
        Ok(Mistake {
            documents,
            disagreement: Disagreement::Wrong,
            similarity: Some(pair.similarity),
            distance: pair.distance,
        })
    });
    mistakes_of(found, truth, odds)
}

/// The mistakes among these found pairs, which are ascending.
fn mistakes_of<'o>(
    found: impl Iterator<Item = Result<Mistake, Error>> + 'o,
    truth: &'o Truth,
    odds: &'o [Option<Odds>],
) -> impl Iterator<Item = Result<Mistake, Error>> + 'o {
    let odds = odds.iter().copied().chain(std::iter::repeat(None));
    let missed = truth.pairs.iter().zip(odds).map(|(documents, odds)| Mistake {
        documents,
        disagreement: Disagreement::Missed,
        similarity: odds.map(|odds| odds.similarity),
        distance: None,
    });
    let (mut missed, mut found) = (missed.peekable(), found.peekable());
    std::iter::from_fn(move || {
        loop {
            let documents = match found.peek() {
                None => return missed.next().map(Ok),
                Some(Err(_)) => return found.next(),
                Some(Ok(pair)) => pair.documents,
            };
            if let Some(earlier) = missed.next_if(|missed| missed.documents < documents) {
                return Some(Ok(earlier));
            }
            let pair = found.next();
            match truth.kind(documents.0, documents.1) {
                Kind::Right => _ = missed.next(),
                Kind::Wrong => return pair,
                Kind::Ignored => {}
            }
        }
    })
}

/// Labelled pairs of about the same similarity, and the number of them that were found.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Bin {
    /// The lower bound of the similarity.
    pub from: f64,
    /// The upper bound, where the next bin begins. The last bin includes 1.
    pub to: f64,
    /// The labelled pairs in the bin.
    pub pairs: u64,
    /// Those of them that were found.
    pub found: u64,
    /// The mean probability that one of them is found, by the curve of the algorithm at the exact similarity of each.
    pub predicted: f64,
}

impl Bin {
    /// The share of the pairs that was found.
    pub fn recall(&self) -> f64 {
        part(self.found, self.pairs)
    }
}

/// The number of bins.
const BINS: usize = 20;

/// The recall of the labelled pairs, by their similarity.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Bins {
    /// The bins that are not empty, ascending.
    pub bins: Vec<Bin>,
    /// Labelled pairs with a document that has too few features to be compared.
    pub not_compared: u64,
}

/// Puts the labelled pairs of an outcome into bins of their similarity. `odds` has one entry per pair, in the order of
/// the truth; see [`Outcome::odds`].
///
/// # Errors
/// Those of [`Outcome::pairs`].
pub fn bins(
    outcome: &Outcome,
    numbers: &HashMap<&str, u32>,
    truth: &Truth,
    odds: &[Option<Odds>],
) -> Result<Bins, Error> {
    let mut found = Vec::new();
    each_pair(outcome, numbers, |a, b, _| {
        if truth.kind(a, b) == Kind::Right {
            found.push((a, b));
        }
    })?;
    let found = PairSet::new(found);
    Ok(bins_of(truth.pairs.iter().zip(odds).map(|((a, b), &odds)| (odds, found.contains(a, b)))))
}

/// The bins of these pairs, given whether each was found.
fn bins_of(pairs: impl Iterator<Item = (Option<Odds>, bool)>) -> Bins {
    let edge = |at: usize| at as f64 / BINS as f64;
    let mut bins: Vec<Bin> =
        (0..BINS).map(|at| Bin { from: edge(at), to: edge(at + 1), pairs: 0, found: 0, predicted: 0.0 }).collect();
    let mut not_compared = 0;
    for (odds, found) in pairs {
        let Some(Odds { similarity, found: probability }) = odds else {
            not_compared += 1;
            continue;
        };
        // Both sides are nearest doubles of fractions, so that a pair exactly at an edge is not below it.
        let at = (1..BINS).filter(|&at| similarity.value() >= edge(at)).count();
        let bin = &mut bins[at];
        bin.pairs += 1;
        bin.found += u64::from(found);
        bin.predicted += probability;
    }
    bins.retain(|bin| bin.pairs > 0);
    bins.iter_mut().for_each(|bin| bin.predicted /= bin.pairs as f64);
    Bins { bins, not_compared }
}

/// The parameter that a sweep varies.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Swept {
    /// The parameter `threshold`, from this one up to 1.
    Threshold(Threshold),
    /// The parameter `distance`, from 0 up to this one.
    Distance(u32),
}

/// The default start of a sweep of thresholds.
const LOWEST: &str = "0.1";

impl Swept {
    /// Turns settings into those of one scan that finds every pair of all stricter settings, and returns the parameter
    /// that makes them stricter. A given threshold or distance is the loosest of the sweep.
    ///
    /// # Errors
    /// The algorithm has neither a threshold nor a distance.
    pub fn loosen(entry: &Entry, settings: &mut Settings) -> Result<Self, Error> {
        let parameter = |name| entry.parameters.iter().copied().find(|p: &&Parameter| p.name == name);
        let typed = |settings: &Settings, parameter: &Parameter| {
            settings.given().find(|(name, _)| *name == parameter.name).map(|(_, value)| value.to_string())
        };
        if let Some(threshold) = parameter("threshold") {
            let lowest = typed(settings, threshold).unwrap_or_else(|| LOWEST.into());
            settings.set(threshold.name, &*lowest);
            if entry.uses("exact") {
                settings.set("exact", "true");
            }
            threshold.check(&lowest)?;
            if let Ok(lowest) = lowest.parse() {
                return Ok(Swept::Threshold(lowest));
            }
        }
        if let Some(distance) = parameter("distance") {
            let most = match (typed(settings, distance), &distance.values) {
                (Some(typed), _) => typed,
                (None, Values::Integer(range) | Values::AutoInteger(range)) => range.end().to_string(),
                (None, _) => distance.default.to_string(),
            };
            settings.set(distance.name, &*most);
            distance.check(&most)?;
            if let Ok(most) = most.parse() {
                return Ok(Swept::Distance(most));
            }
        }
        Err(Error::Usage(format!("{} has no threshold and no distance to sweep", entry.name)))
    }

    /// The values of a sweep, the loosest first: hundredths of a threshold, every distance.
    pub fn values(self) -> Vec<f64> {
        match self {
            Swept::Threshold(lowest) => (1..=100u32)
                .filter(|&part| lowest.reached_by(part.into(), 100))
                .map(|part| f64::from(part) / 100.0)
                .collect(),
            Swept::Distance(most) => (0..=most).rev().map(f64::from).collect(),
        }
    }

    /// How close pairs are at least that a value finds.
    fn closeness(self, value: f64) -> f64 {
        match self {
            Swept::Threshold(_) => value,
            Swept::Distance(_) => -value,
        }
    }
}

/// Every value of a sweep with the scores of the pairs that it finds, the loosest first. The outcome is that of the
/// [loosened](Swept::loosen) settings; `numbers` are those of its documents, see [`numbers`].
///
/// # Errors
/// Those of [`Outcome::pairs`].
pub fn sweep(
    outcome: &Outcome,
    numbers: &HashMap<&str, u32>,
    truth: &Truth,
    swept: Swept,
) -> Result<Vec<(f64, Scores)>, Error> {
    let mut sweep = Sweep::new(swept, truth.pairs.len() as u64);
    each_pair(outcome, numbers, |a, b, closeness| sweep.add(closeness, truth.kind(a, b)))?;
    Ok(sweep.points())
}

/// Counts pairs by the strictest value of a sweep that finds them.
struct Sweep {
    labelled: u64,
    /// The values, the loosest first; and how close pairs are at least that each finds, ascending.
    values: Vec<f64>,
    closeness: Vec<f64>,
    found: Vec<Scores>,
}

impl Sweep {
    fn new(swept: Swept, labelled: u64) -> Self {
        let values = swept.values();
        let closeness = values.iter().map(|&value| swept.closeness(value)).collect();
        Sweep { labelled, found: vec![Scores::default(); values.len()], values, closeness }
    }

    /// Counts a pair.
    fn add(&mut self, closeness: f64, kind: Kind) {
        let values = self.closeness.partition_point(|&least| least <= closeness);
        if let Some(strictest) = values.checked_sub(1) {
            self.found[strictest].add(kind);
        }
    }

    fn points(self) -> Vec<(f64, Scores)> {
        let mut all = Scores { labelled: self.labelled, ..Scores::default() };
        let sums = self.values.into_iter().zip(self.found).rev().map(|(value, found)| {
            all.right += found.right;
            all.wrong += found.wrong;
            all.ignored += found.ignored;
            (value, all)
        });
        let mut points: Vec<(f64, Scores)> = sums.collect();
        points.reverse();
        points
    }
}

/// The point with the highest F1, the strictest of equals; `None` if no point has an F1. Points must come loosest
/// first.
pub fn best(points: &[(f64, Scores)]) -> Option<(f64, Scores)> {
    let with_f1 = points.iter().copied().filter_map(|point| Some((point.1.f1()?, point)));
    with_f1.max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, point)| point)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Documents;
    use proptest::prelude::*;

    /// Labels from lines, at the locations `truth:1` and so on.
    fn labels(lines: &[&str]) -> Result<Labels, String> {
        let lines = lines.iter().enumerate().map(|(at, line)| (format!("truth:{}", at + 1), line.to_string()));
        Labels::read(&mut Documents::new(lines)).map_err(|error| error.to_string())
    }

    proptest! {
        /// Against the plain rule, pair by pair.
        #[test]
        fn mistakes_are_what_the_sets_differ_in(
            found in proptest::collection::vec((0u32..8, 0u32..8), 0..20),
            labelled in proptest::collection::vec((0u32..8, 0u32..8), 0..20),
            ignored in proptest::collection::vec((0u32..8, 0u32..8), 0..8),
        ) {
            let found = PairSet::new(found);
            let truth = Truth::new(PairSet::new(labelled), &PairSet::new(ignored));
            let pair = |documents, disagreement| Mistake { documents, disagreement, similarity: None, distance: None };
            let mut expected = Vec::new();
            for (a, b) in (0..8).flat_map(|a| (a + 1..8).map(move |b| (a, b))) {
                match (found.contains(a, b), truth.pairs.contains(a, b), truth.ignored.contains(a, b)) {
                    (true, false, false) => expected.push(pair((a, b), Disagreement::Wrong)),
                    (false, true, _) => expected.push(pair((a, b), Disagreement::Missed)),
                    _ => {}
                }
            }
            let pairs = found.iter().map(|documents| Ok(pair(documents, Disagreement::Wrong)));
            prop_assert_eq!(mistakes_of(pairs, &truth, &[]).collect::<Result<Vec<_>, _>>().unwrap(), expected);
        }
    }

    fn numbered(ids: &str) -> HashMap<&str, u32> {
        ids.split_whitespace().zip(0..).collect()
    }

    fn resolved(lines: &[&str]) -> Vec<(u32, u32)> {
        labels(lines).unwrap().resolve(&numbered("a b c d 7 1.50")).unwrap().iter().collect()
    }

    #[test]
    fn pairs_with_labels_of_their_own_are_refused() {
        for field in ["label", "duplicate", "match"] {
            let line = format!(r#"{{"a":"a","b":"b","{field}":0}}"#);
            let error = labels(&[r#"{"a":"a","b":"c","similarity":0.9}"#, &line]).unwrap_err();
            assert!(error.starts_with(&format!("truth:2: the field '{field}' looks like a label")), "{error}");
        }
        assert!(labels(&[]).unwrap().is_empty() && !labels(&[r#"{"id":"a","cluster":null}"#]).unwrap().is_empty());
    }

    #[test]
    fn labels_in_every_form() {
        let all = vec![(0, 1), (0, 2), (1, 2)];
        assert_eq!(resolved(&[r#"{"a":"b","b":"a"}"#, r#"{"a":"c","b":"a","note":1}"#, r#"{"b":"c","a":"b"}"#]), all);
        assert_eq!(resolved(&[r#"{"cluster":["c","a","b","a"]}"#]), all);
        assert_eq!(resolved(&[r#"{"type":"cluster","id":1,"size":3,"members":["a","b","c"],"keep":["a"]}"#]), all);
        let by_name = [r#"{"id":"a","cluster":"x"}"#, r#"{"id":"b","cluster":"x"}"#, r#"{"id":"c","cluster":"x"}"#];
        assert_eq!(resolved(&by_name), all);
        assert_eq!(
            resolved(&[r#"{"id":"a","cluster":1}"#, r#"{"id":"b","cluster":2}"#, r#"{"id":"c","cluster":1}"#]),
            [(0, 2)]
        );
        assert_eq!(resolved(&[r#"{"id":"a","cluster":null}"#, r#"{"id":"b","cluster":null}"#]), []);
        assert_eq!(resolved(&[r#"{"a":7,"b":1.50}"#, r#"{"a":"\u0061","b":7}"#]), [(0, 4), (4, 5)]);
        // A pair that carries the name of its cluster is one pair, however often it occurs.
        assert_eq!(resolved(&[r#"{"a":"a","b":"d","cluster":"x"}"#, r#"{"a":"d","b":"a"}"#]), [(0, 3)]);
        assert_eq!(resolved(&[]), []);
    }

    #[test]
    fn lines_that_are_no_labels_are_named() {
        let error = |line| labels(&[r#"{"a":"a","b":"b"}"#, line]).unwrap_err();
        assert_eq!(error(r#"{"a":"c","b":"c"}"#), "truth:2: a pair of 'c' with itself");
        assert!(error("{\"a\":\"c\",").starts_with("truth:2: not a JSON object: "));
        assert!(error("[\"a\",\"b\"]").starts_with("truth:2: not a JSON object: "));
        for line in ["{}", r#"{"a":"x"}"#, r#"{"id":"x"}"#, r#"{"cluster":"x"}"#] {
            assert!(error(line).starts_with("truth:2: neither a pair"), "{line}");
        }
        assert_eq!(error(r#"{"a":"c","b":null}"#), "truth:2: an id is null, not a string or a number");
        assert_eq!(error(r#"{"cluster":["c",["d"]]}"#), "truth:2: an id is [\"d\"], not a string or a number");
        assert_eq!(error(r#"{"id":"c","cluster":{}}"#), "truth:2: a cluster's name is {}, not a string or a number");
    }

    #[test]
    fn unknown_ids_are_named_where_they_first_stand() {
        let labels = labels(&[r#"{"a":"a","b":"b"}"#, r#"{"a":"b","b":"x"}"#, r#"{"a":"a","b":"x"}"#]).unwrap();
        let documents = numbered("a b c");
        assert_eq!(labels.resolve(&documents).unwrap_err().to_string(), "truth:2: no document has the id 'x'");
        let (known, unknown) = labels.resolve_known(&documents).unwrap();
        assert_eq!((known.iter().collect::<Vec<_>>(), unknown), (vec![(0, 1)], 1));
    }

    #[test]
    fn a_cluster_too_large_is_refused() {
        let ids: Vec<String> = (0..14_143).map(|n| n.to_string()).collect();
        let line = format!("{{\"cluster\":[{}]}}", ids.join(","));
        let documents = ids.iter().map(String::as_str).zip(0..).collect();
        let error = labels(&[&line]).unwrap().resolve(&documents).unwrap_err().to_string();
        assert!(error.starts_with("truth:1: the labels represent more than 100000000 pairs"), "{error}");
    }

    #[test]
    fn precision_recall_and_f1_by_hand() {
        // Labelled: 01 02 12 34. Ignored: 01 (labelled, so it counts), 05. Found: 01 12 05 25 35.
        let labelled = PairSet::new([(0, 1), (2, 0), (1, 2), (3, 4)]);
        let truth = Truth::new(labelled, &PairSet::new([(0, 1), (0, 5)]));
        let mut scores = Scores::new(&truth);
        for (a, b) in [(1, 0), (1, 2), (0, 5), (2, 5), (5, 3)] {
            scores.add(truth.kind(a, b));
        }
        assert_eq!(scores, Scores { labelled: 4, right: 2, wrong: 2, ignored: 1 });
        assert_eq!((scores.predicted(), scores.missed()), (5, 2));
        assert_eq!((scores.precision(), scores.recall(), scores.f1()), (Some(0.5), 0.5, Some(0.5)));
        let three = Scores { labelled: 10, right: 3, wrong: 1, ignored: 0 };
        // Harmonic mean of 3/4 and 3/10.
        assert_eq!((three.precision(), three.recall(), three.f1()), (Some(0.75), 0.3, Some(6.0 / 14.0)));
    }

    #[test]
    fn measures_of_nothing() {
        let measures = |labelled, right, wrong| {
            let scores = Scores { labelled, right, wrong, ignored: 9 };
            (scores.precision(), scores.recall(), scores.f1())
        };
        // If no pairs are found, precision is undefined, even if some were found that do not count.
        assert_eq!(measures(0, 0, 0), (None, 1.0, None));
        assert_eq!(measures(5, 0, 0), (None, 0.0, None));
        assert_eq!(measures(0, 0, 5), (Some(0.0), 1.0, Some(0.0)));
        assert_eq!(measures(5, 0, 5), (Some(0.0), 0.0, Some(0.0)));
    }

    #[test]
    fn adjusted_rand_index_by_hand() {
        // Pairs inside: t = 1, p = 2, both 1, of 6. (1 − 2/6) / (3/2 − 2/6) = 4/7.
        assert_eq!(adjusted_rand_index(&[0, 0, 1, 2], &[0, 0, 1, 1]), 4.0 / 7.0);
        // t = 3 + 3, p = 1 + 1 + 1, both 2, of 15. (2 − 18/15) / (9/2 − 18/15) = 8/33.
        assert!((adjusted_rand_index(&[0, 0, 0, 1, 1, 1], &[0, 0, 1, 1, 2, 2]) - 8.0 / 33.0).abs() < 1e-15);
        // t = p = 2, both 0, of 6. (0 − 4/6) / (2 − 4/6) = −1/2: worse than chance.
        assert_eq!(adjusted_rand_index(&[0, 0, 1, 1], &[0, 1, 0, 1]), -0.5);
        assert_eq!(adjusted_rand_index(&[0, 0, 1, 1], &[7, 7, 3, 3]), 1.0);
        assert_eq!(adjusted_rand_index(&[0, 0, 0], &[0, 1, 2]), 0.0);
        for equal in [&[][..], &[0], &[0, 1, 2], &[5, 5, 5]] {
            assert_eq!(adjusted_rand_index(equal, equal), 1.0);
        }
    }

    #[test]
    fn accuracy_by_hand() {
        // The clusters {0 1 2} {3 4} {5} against {0 1} {2} {3 4} {5}: three of six documents have the same cluster.
        assert_eq!(accuracy(&[0, 0, 0, 1, 1, 2], &[4, 4, 5, 6, 6, 7]), 0.5);
        assert_eq!(accuracy(&[0, 0, 1, 1], &[0, 1, 0, 1]), 0.0);
        assert_eq!((accuracy(&[7, 7, 3], &[1, 1, 0]), accuracy(&[], &[])), (1.0, 1.0));
        // A cluster that is too large is wrong for all of its documents.
        assert_eq!(accuracy(&[0, 0, 1, 2], &[0, 0, 0, 1]), 0.25);
    }

    #[test]
    fn bins_by_hand() {
        let odds = |part, whole, found| Some(Odds { similarity: Similarity::ratio(part, whole), found });
        let pairs = [
            (odds(4, 5, 0.99), true),
            (odds(41, 50, 0.995), false),
            (odds(17, 20, 1.0), true),
            (odds(799, 1000, 0.0), false),
            (odds(1, 1, 1.0), true),
            (odds(0, 9, 0.0), false),
            (None, false),
        ];
        let Bins { bins, not_compared } = bins_of(pairs.into_iter());
        let found: Vec<_> = bins.iter().map(|b| (b.from, b.to, b.pairs, b.found, b.recall(), b.predicted)).collect();
        assert_eq!(
            found,
            [
                (0.0, 0.05, 1, 0, 0.0, 0.0),
                (0.75, 0.8, 1, 0, 0.0, 0.0),
                (0.8, 0.85, 2, 1, 0.5, (0.99 + 0.995) / 2.0),
                (0.85, 0.9, 1, 1, 1.0, 1.0),
                (0.95, 1.0, 1, 1, 1.0, 1.0)
            ]
        );
        assert_eq!(not_compared, 1);
        for twentieth in 1..20 {
            let bins = bins_of([(odds(3 * twentieth, 60, 1.0), true)].into_iter()).bins;
            assert_eq!(bins[0].from, twentieth as f64 / 20.0);
        }
    }

    #[test]
    fn components_are_what_pairs_connect() {
        let labels = components(6, [(0, 3), (3, 5), (1, 2)]);
        let same = |a: usize, b: usize| labels[a] == labels[b];
        assert!(same(0, 5) && same(0, 3) && same(1, 2) && !same(0, 1) && !same(4, 0) && !same(4, 1));
    }

    #[test]
    fn a_sweep_counts_what_is_at_least_as_close() {
        use Kind::{Ignored, Right, Wrong};
        let points_of = |swept, found: &[(f64, Kind)], labelled| {
            let mut sweep = Sweep::new(swept, labelled);
            found.iter().for_each(|&(closeness, kind)| sweep.add(closeness, kind));
            sweep.points()
        };
        let scores_at = |points: &[(f64, Scores)], value| points.iter().find(|point| point.0 == value).unwrap().1;
        let found = [(0.5, Wrong), (0.9, Right), (0.7, Right), (0.7, Wrong), (1.0, Ignored), (0.49, Wrong)];
        let points = points_of(Swept::Threshold("0.5".parse().unwrap()), &found, 3);
        let at = |value| {
            let scores = scores_at(&points, value);
            (scores.right, scores.wrong, scores.ignored, scores.missed())
        };
        assert_eq!(at(0.5), (2, 2, 1, 1));
        assert_eq!(at(0.51), (2, 1, 1, 1));
        assert_eq!(at(0.7), (2, 1, 1, 1));
        assert_eq!(at(0.71), (1, 0, 1, 2));
        assert_eq!(at(1.0), (0, 0, 1, 3));
        assert_eq!((points.len(), points[0].0, points[50].0), (51, 0.5, 1.0));
        // 2·2 / (2·2 + 1 + 1) from 0.51 to 0.7.
        assert_eq!(best(&points).unwrap(), (0.7, scores_at(&points, 0.7)));

        let swept = Swept::Distance(4);
        assert_eq!(swept.values(), [4.0, 3.0, 2.0, 1.0, 0.0]);
        let bits = points_of(swept, &[(-0.0, Right), (-3.0, Right), (-4.0, Wrong)], 2);
        assert_eq!([0.0, 2.0, 3.0, 4.0].map(|bits_apart| scores_at(&bits, bits_apart).predicted()), [1, 1, 2, 3]);
        assert_eq!(best(&bits).unwrap().0, 3.0);
        // The smallest distance of equals: no pair is at 3.
        let bits = points_of(swept, &[(-2.0, Right), (-4.0, Wrong)], 2);
        assert_eq!(scores_at(&bits, 3.0), scores_at(&bits, 2.0));
        assert_eq!(best(&bits).unwrap().0, 2.0);
        assert_eq!(best(&[]), None);
        assert_eq!(best(&[(0.5, Scores { labelled: 3, ..Scores::default() })]), None);
    }

    #[test]
    fn hundredths_of_a_sweep_start_at_the_lowest_or_above() {
        let first = |typed: &str| Swept::Threshold(typed.parse().unwrap()).values()[0];
        assert_eq!(["0.1", "0.07", "0.995", "0.001", "1/3"].map(first), [0.1, 0.07, 1.0, 0.01, 0.34]);
    }

    #[test]
    fn settings_as_loose_as_a_sweep_goes() {
        let loosened = |algorithm: &str, pairs: &[(&str, &str)]| {
            let mut settings = Settings::from_pairs(pairs.iter().copied());
            let entry = Entry::by_name(algorithm).unwrap();
            let swept = Swept::loosen(entry, &mut settings).unwrap();
            let given: Vec<_> = settings.given().map(|(name, value)| format!("{name} {value}")).collect();
            (swept, given.join(", "))
        };
        let tenth = Swept::Threshold("0.1".parse().unwrap());
        assert_eq!(loosened("minhash", &[("shingle", "3")]), (tenth, "exact true, shingle 3, threshold 0.1".into()));
        let half = Swept::Threshold("0.5".parse().unwrap());
        assert_eq!(loosened("minhash", &[("threshold", "0.5")]), (half, "exact true, threshold 0.5".into()));
        assert_eq!(loosened("simhash", &[]), (Swept::Distance(32), "distance 32".into()));
        assert_eq!(loosened("simhash", &[("distance", "9")]), (Swept::Distance(9), "distance 9".into()));
    }

    proptest! {
        #[test]
        fn adjusted_rand_index_counted_pair_by_pair(labels in prop::collection::vec((0u32..4, 0u32..4), 0..30)) {
            let (truth, predicted): (Vec<u32>, Vec<u32>) = labels.iter().copied().unzip();
            let (mut s, mut t, mut p, mut all) = (0.0, 0.0, 0.0, 0.0);
            for (i, a) in labels.iter().enumerate() {
                for b in &labels[..i] {
                    all += 1.0;
                    t += f64::from(u8::from(a.0 == b.0));
                    p += f64::from(u8::from(a.1 == b.1));
                    s += f64::from(u8::from(a == b));
                }
            }
            let found = adjusted_rand_index(&truth, &predicted);
            if t == p && (t == 0.0 || t == all) {
                prop_assert_eq!(found, 1.0);
            } else {
                let chance = t * p / all;
                prop_assert!((found - (s - chance) / ((t + p) / 2.0 - chance)).abs() < 1e-9);
            }
            prop_assert_eq!(found, adjusted_rand_index(&predicted, &truth));
        }
    }
}
