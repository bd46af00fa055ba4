//! Arranging the result: pairs in input order, clusters, and which documents to keep.

use super::corpus::Corpus;
use super::decisions::{Decisions, EachEdge, Room};
use super::edges::{Edge, Edges};
use super::read::Reader;
use super::sets::Sets;
use super::subset::Subset;
use super::turns::{KeepPolicy, Turns};
use super::verify;
use super::{Report, ScanOptions, Side};
use crate::algorithm::{Odds, PreparedAlgorithm};
use crate::error::Error;
use crate::postings::{Buffer, Sorter};
use crate::readable::{self, shortened_id};
use crate::run::ordered::workers;
use crate::run::places::At;
use crate::run::rejections::{Recorded, Rejection};
use crate::similarity::Similarity;
#[cfg(all(feature = "files", feature = "report"))]
use crate::source::RankedNumber;
use crate::source::Source;
use std::borrow::Cow;
use std::fmt;
#[cfg(feature = "report")]
use std::ops::Range;
use std::time::Instant;

/// A reported pair; `a` comes before `b` in the input.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Pair<'a> {
    /// Id of the earlier document.
    pub a: &'a str,
    /// Id of the later document.
    pub b: &'a str,
    /// The indices of both documents in [`Outcome::documents`], where the reference comes first.
    pub indices: (usize, usize),
    /// Their exact similarity.
    pub similarity: Similarity,
    /// How many bits they differ in, for measures that count bits.
    pub distance: Option<u32>,
    /// The locations of both, if ids are ambiguous.
    pub places: Option<(At<'a>, At<'a>)>,
}

/// Documents that are connected by reported pairs.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Cluster<'a> {
    /// Its number, from 1, in the order of first members.
    pub id: u64,
    /// Ids in input order.
    pub members: Vec<&'a str>,
    /// Ids of the members that the keep-set keeps, in input order.
    pub keep: Vec<&'a str>,
    /// The indices of the members in [`Outcome::documents`], ascending.
    pub indices: Vec<usize>,
    /// Those of the kept members, ascending.
    pub keep_indices: Vec<usize>,
    /// The locations of the members, if ids are ambiguous.
    pub members_at: Option<Vec<At<'a>>>,
    /// The locations of the kept members, if ids are ambiguous.
    pub keep_at: Option<Vec<At<'a>>>,
}

/// The decision on one record.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Verdict<'a> {
    /// Its id. For a rejected record whose id could not be read, its location.
    pub id: &'a str,
    /// Its index in [`Outcome::documents`]; `None` for a record that could not be read, which is not a document.
    pub index: Option<usize>,
    /// Whether it is kept.
    pub keep: bool,
    /// The kept document that it is a near-duplicate of, and how similar.
    pub duplicate_of: Option<(&'a str, Similarity)>,
    /// The index of that document in [`Outcome::documents`].
    pub duplicate_of_index: Option<usize>,
    /// Its cluster, if it is in one.
    pub cluster: Option<u64>,
    /// Whether the algorithm could not compare it, because it has too few features.
    pub featureless: bool,
    /// Why it could not be read and was not compared.
    pub error: Option<&'a str>,
    /// Whether it was rejected by rule, such as a file that holds no text: it counts as skipped, not as failed.
    pub is_skipped: bool,
    /// Its location, if ids are ambiguous.
    pub at: Option<At<'a>>,
    /// The location of the document that it is a near-duplicate of, if ids are ambiguous.
    pub duplicate_of_at: Option<At<'a>>,
}

/// The approximate number of pairs in a portion.
#[cfg(feature = "report")]
const PORTION: usize = 1 << 12;

/// A document with so many pairs is a portion of its own.
#[cfg(feature = "report")]
pub(crate) const MANY: usize = 1 << 16;

/// The number of a document, and its similarity to another.
#[derive(Clone, Copy)]
pub(crate) struct Partner(u32, Similarity);

/// A range of documents, and the maximum number of pairs that they have with others. A pair within the range counts
/// twice.
#[cfg(feature = "report")]
#[derive(Clone)]
pub(crate) struct Portion {
    pub documents: Range<u32>,
    /// The positions of those among the partners of each document that belong to the portion.
    pub partners: Range<usize>,
    pub pairs: usize,
}

/// What a scan found, in no order.
pub(super) struct Ran {
    pub corpus: Corpus,
    pub found: Sorter<2>,
    pub prepared: PreparedAlgorithm,
    pub report: Report,
    pub room: Room,
    /// When the search ended.
    pub begun: Instant,
}

/// The result of a scan.
pub struct Outcome {
    pub(super) corpus: Corpus,
    pub(super) edges: Edges,
    pub(super) room: Room,
    prepared: PreparedAlgorithm,
    /// The settings and statistics of the run.
    pub report: Report,
}

impl fmt::Debug for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Outcome").field("report", &self.report).finish_non_exhaustive()
    }
}

impl Outcome {
    /// From the edges that were found. Counts the pairs that they stand for.
    ///
    /// # Errors
    /// Edges cannot be read or written.
    pub(super) fn new(ran: Ran) -> Result<Self, Error> {
        let Ran { corpus, found, prepared, mut report, room, begun } = ran;
        report.spilled += found.bytes_spilled();
        let mut pairs = corpus.pairs_of_copies();
        let edges = Edges::new(found, corpus.distinct(), |edge| pairs += corpus.pairs_between(edge.a, edge.b))?;
        report.counts.pairs = Some(pairs);
        report.timings.push(("arrange", begun.elapsed()));
        Ok(Outcome { corpus, edges, room, prepared, report })
    }

    /// The id of every document, in input order, the reference first.
    pub fn documents(&self) -> impl Iterator<Item = &str> {
        self.corpus.documents_read().map(|document| self.corpus.id(document))
    }

    /// The location of a document, by its index in [`documents`](Self::documents).
    ///
    /// # Panics
    /// If there are fewer documents.
    pub fn place(&self, index: usize) -> At<'_> {
        assert!(index < self.corpus.documents_read().len(), "there is no document {index}");
        self.corpus.at(index as u32)
    }

    /// What the similarity of [`odds`](Self::odds) measures. It may be another measure than that of the pairs.
    pub fn odds_measure(&self) -> &'static str {
        self.prepared.algorithm.odds_measure()
    }

    /// Every pair, sorted by the input order of its documents.
    ///
    /// Pairs that did not fit [`ScanOptions::memory`] are read from a temporary file, and pairs of copies are generated on demand:
    /// memory is that of the partners of one document. The iterator ends after an error.
    ///
    /// # Errors
    /// The temporary file cannot be read. Without one there are no errors.
    pub fn pairs(&self) -> impl Iterator<Item = Result<Pair<'_>, Error>> {
        let mut documents = self.corpus.documents_read();
        let (mut a, mut partners, mut next, mut buffer) = (0, Vec::new(), 0, Buffer::default());
        std::iter::from_fn(move || {
            while next == partners.len() {
                (a, next) = (documents.next()?, 0);
                if let Err(error) = self.partners_of(a, &mut partners, &mut buffer) {
                    partners.clear();
                    documents = 0..0;
                    return Some(Err(error));
                }
            }
            next += 1;
            Some(Ok(self.pair(a, partners[next - 1])))
        })
    }

    /// The documents in portions of at most [`PORTION`] pairs. A document with more pairs is in several portions, each with some of
    /// its partners, or, with very many pairs, in one of its own.
    ///
    /// # Errors
    /// The temporary file cannot be read.
    #[cfg(feature = "report")]
    pub(crate) fn portions(&self) -> impl Iterator<Item = Result<Portion, Error>> {
        let mut buffer = Buffer::default();
        let mut documents = self.corpus.documents_read().map(move |document| {
            let group = self.corpus.group_of(document);
            Ok((document, 1 + group.map_or(Ok(0), |group| self.partners(group, &mut buffer))?))
        });
        let (mut next, mut rest) = (documents.next(), None::<Portion>);
        std::iter::from_fn(move || {
            if let Some(portion) = &mut rest {
                let start = portion.partners.end;
                portion.partners = start..start + PORTION;
                let portion = portion.clone();
                rest = rest.take().filter(|_| portion.partners.end < portion.pairs);
                return Some(Ok(portion));
            }
            let (start, mut pairs) = match next.take()? {
                Ok(first) => first,
                Err(error) => return Some(Err(error)),
            };
            let mut end = start + 1;
            next = documents.next();
            while let Some(Ok((document, own))) = &next
                && pairs + own <= PORTION
            {
                (pairs, end) = (pairs + own, document + 1);
                next = documents.next();
            }
            let mut portion = Portion { documents: start..end, partners: 0..usize::MAX, pairs };
            if (PORTION + 1..MANY).contains(&pairs) {
                portion.partners = 0..PORTION;
                rest = Some(portion.clone());
            }
            Some(Ok(portion))
        })
    }

    /// The number of documents similar to those of a group, the group included; or more, with documents that all come before it.
    #[cfg(feature = "report")]
    fn partners(&self, group: u32, buffer: &mut Buffer) -> Result<usize, Error> {
        if !self.corpus.has_copies() {
            return Ok(1 + self.edges.count(group) as usize);
        }
        let similar = self.edges.of(group, buffer)?.map(|(other, _)| other);
        Ok(similar.chain([group]).map(|group| self.corpus.members(group).len()).sum())
    }

    /// Fills `partners` with the later documents that are similar to this one, in input order.
    ///
    /// # Errors
    /// The temporary file cannot be read.
    pub(crate) fn partners_of(&self, a: u32, partners: &mut Vec<Partner>, buffer: &mut Buffer) -> Result<(), Error> {
        partners.clear();
        let Some(group) = self.corpus.group_of(a) else { return Ok(()) };
        let mut add = |group: u32, similarity| {
            let members = self.corpus.members(group);
            let later = &members[members.partition_point(|&b| b <= a)..];
            partners.extend(later.iter().filter(|&&b| self.may_report(a, b)).map(|&b| Partner(b, similarity)));
        };
        add(group, Similarity::ONE);
        self.edges.of(group, buffer)?.for_each(|(other, similarity)| add(other, similarity));
        partners.sort_unstable_by_key(|partner| partner.0);
        self.corpus.fetch_ids(partners.iter().map(|partner| partner.0));
        Ok(())
    }

    pub(crate) fn pair(&self, a: u32, Partner(b, similarity): Partner) -> Pair<'_> {
        let distance = self.prepared.algorithm.distance(similarity);
        let places = self.corpus.ids_repeat().then(|| (self.corpus.at(a), self.corpus.at(b)));
        Pair {
            a: self.corpus.id(a),
            b: self.corpus.id(b),
            indices: (a as usize, b as usize),
            similarity,
            distance,
            places,
        }
    }

    /// Compares given pairs of documents: returns the exact similarity of each, also below the threshold, and the
    /// probability that a scan finds it. Documents are identified by their index in [`documents`](Self::documents). The
    /// result is `None` for a pair with a document that has too few features, or that changed since the scan.
    ///
    /// The documents are read again from `source`, which must be the source of the scan, with the same options. The
    /// scan must not have had a reference.
    ///
    /// # Errors
    /// [`Error::Usage`] if the algorithm knows no similarity of documents that it does not report.
    ///
    /// # Cost
    /// One reading, and one comparison per pair. Memory: 8 bytes for each feature of the documents in the pairs.
    pub fn odds(
        &self,
        source: &mut dyn Source,
        options: &ScanOptions,
        pairs: &[(usize, usize)],
    ) -> Result<Vec<Option<Odds>>, Error> {
        let algorithm = &*self.prepared.algorithm;
        let made = algorithm
            .odds_read()
            .ok_or_else(|| Error::Usage(format!("{} has no similarity below what it reports", algorithm.name())))?;
        let documents = self.corpus.documents_read();
        let document = |index: usize| u32::try_from(index).ok().filter(|document| documents.contains(document));
        let group = |index: usize| document(index).and_then(|document| self.corpus.group_of(document));
        let mut wanted = vec![false; self.corpus.distinct()];
        pairs.iter().flat_map(|&(a, b)| [group(a), group(b)]).flatten().for_each(|group| wanted[group as usize] = true);
        let reader = Reader::new(options, workers(options.threads), &());
        let sources = &mut [Side { reference: false, source }];
        let sets = Sets::new(Subset::marked(&wanted), None);
        let (sets, _) = verify::recompute(&reader, sources, &self.prepared, made, &self.corpus, &wanted, sets)?;
        algorithm.check_learned()?;
        let of = |&(a, b): &(usize, usize)| {
            let (a, b) = (sets.get(group(a)?), sets.get(group(b)?));
            if a.is_empty() || b.is_empty() { None } else { algorithm.odds(&a, &b) }
        };
        Ok(pairs.iter().map(of).collect())
    }

    /// With a reference, each pair has one document of the reference and one other.
    fn may_report(&self, a: u32, b: u32) -> bool {
        !self.corpus.against() || self.corpus.is_reference(a) != self.corpus.is_reference(b)
    }

    /// Decides which documents are kept. The choice is greedy: in the order of the policy, a document is kept unless a
    /// similar enough one is kept already. Hence every document that is not kept has a kept one at or above the
    /// threshold. [Chosen](ScanOptions::chosen) documents come before the policy, and some are kept whatever is kept already.
    ///
    /// With a reference, all its documents are kept, and only the others are decided on.
    ///
    /// # Errors
    /// Pairs that did not fit [`ScanOptions::memory`] are sorted in a temporary file, which cannot be written or read.
    pub fn keep(&self, policy: KeepPolicy) -> Result<Kept<'_>, Error> {
        let turns = Turns::new(&self.corpus, policy);
        let edges: EachEdge<'_> = &|each| self.edges.for_each(each);
        let decisions = Decisions::new(&turns, &self.corpus, edges, &self.room)?;
        Ok(Kept { corpus: &self.corpus, prepared: &self.prepared, decisions: Cow::Owned(decisions), turns })
    }
}

/// The result of a scan that looked only for what decides which documents are kept, by one policy.
pub struct KeptOutcome {
    corpus: Corpus,
    prepared: PreparedAlgorithm,
    report: Report,
    decisions: Decisions,
    policy: KeepPolicy,
}

impl fmt::Debug for KeptOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeptOutcome")
            .field("report", &self.report)
            .field("policy", &self.policy)
            .finish_non_exhaustive()
    }
}

impl KeptOutcome {
    /// From the edges that were found.
    ///
    /// # Errors
    /// Edges cannot be read or written.
    pub(super) fn new(ran: Ran, policy: KeepPolicy) -> Result<Self, Error> {
        let Ran { corpus, found, prepared, mut report, room, begun } = ran;
        report.spilled += found.bytes_spilled();
        let edges: EachEdge<'_> = &|each| found.for_each_unsorted(|row| each(Edge::of(row)));
        let decisions = Decisions::new(&Turns::new(&corpus, policy), &corpus, edges, &room)?;
        report.timings.push(("arrange", begun.elapsed()));
        let mut outcome = KeptOutcome { corpus, prepared, report, decisions, policy };
        let warnings = outcome.kept().without_effect();
        outcome.report.warnings.extend(warnings);
        Ok(outcome)
    }

    /// Which documents are kept, and the clusters: the same as those of all pairs.
    pub fn kept(&self) -> Kept<'_> {
        let KeptOutcome { corpus, prepared, decisions, policy, .. } = self;
        Kept { corpus, prepared, decisions: Cow::Borrowed(decisions), turns: Turns::new(corpus, *policy) }
    }

    /// The settings and statistics of the run.
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// Adds a warning to them.
    #[cfg(feature = "clean")]
    pub(crate) fn warn(&mut self, warning: String) {
        self.report.warnings.push(warning);
    }

    /// The id of every document, in input order, the reference first.
    pub fn documents(&self) -> impl Iterator<Item = &str> {
        self.corpus.documents_read().map(|document| self.corpus.id(document))
    }
}

/// What a page shows of documents, which are named by their indices.
#[cfg(feature = "report")]
impl<'a> Kept<'a> {
    pub(super) fn corpus(&self) -> &'a Corpus {
        self.corpus
    }

    pub(super) fn prepared(&self) -> &'a PreparedAlgorithm {
        self.prepared
    }

    pub(crate) fn id(&self, document: usize) -> &'a str {
        self.corpus.id(document as u32)
    }

    pub(crate) fn at(&self, document: usize) -> At<'a> {
        self.corpus.at(document as u32)
    }

    /// The length of a document in tokens, if the policy goes by it.
    pub(crate) fn deciding_length(&self, document: usize) -> Option<u32> {
        let is_by_length = matches!(self.turns.policy(), KeepPolicy::Longest | KeepPolicy::Shortest);
        is_by_length.then(|| self.corpus.length(document as u32))
    }

    /// Whether a decision says that it is kept.
    #[cfg(feature = "report")]
    pub(crate) fn is_chosen(&self, document: usize) -> bool {
        self.corpus.is_chosen(document as u32)
    }

    /// Whether the rule with this number goes by such a number: by times, or by others.
    #[cfg(all(feature = "files", feature = "report"))]
    pub(crate) fn ranks_by(&self, rule: usize, number: RankedNumber) -> bool {
        self.corpus.ranks_by(rule, number)
    }

    pub(crate) fn is_reference(&self, document: usize) -> bool {
        self.corpus.is_reference(document as u32)
    }

    pub(crate) fn is_kept(&self, document: usize) -> bool {
        self.reason(document as u32).0
    }

    /// The kept document that this one is a near-duplicate of, if it is not kept.
    pub(crate) fn duplicate_of(&self, document: usize) -> Option<(usize, Similarity)> {
        self.reason(document as u32).1.map(|(by, similarity)| (by as usize, similarity))
    }
}

/// The clusters of an outcome, and which documents are kept.
pub struct Kept<'a> {
    corpus: &'a Corpus,
    #[cfg_attr(not(feature = "report"), allow(dead_code))]
    prepared: &'a PreparedAlgorithm,
    decisions: Cow<'a, Decisions>,
    turns: Turns<'a>,
}

impl fmt::Debug for Kept<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kept").field("policy", &self.turns.policy()).finish_non_exhaustive()
    }
}

impl<'a> Kept<'a> {
    /// The indices of the kept documents in [`Outcome::documents`], ascending.
    pub fn indices(&self) -> impl Iterator<Item = usize> {
        let documents = self.corpus.documents_read();
        documents.filter(|&document| self.reason(document).0).map(|document| document as usize)
    }

    /// Whether a document, by its index in [`Outcome::documents`], is of the reference.
    pub fn is_of_reference(&self, index: usize) -> bool {
        self.corpus.is_reference(index as u32)
    }

    /// The number of documents that are not kept.
    pub fn dropped(&self) -> u64 {
        let corpus = self.corpus;
        corpus.documents_read().filter(|&d| !self.reason(d).0).count() as u64
    }

    /// Whether a document is kept, and if not, for which kept document.
    fn reason(&self, document: u32) -> (bool, Option<(u32, Similarity)>) {
        let corpus = self.corpus;
        let Some(group) = corpus.group_of(document) else { return (true, None) };
        if corpus.is_reference(document) || corpus.is_always_kept(document) {
            return (true, None);
        }
        if let Some((by, similarity)) = self.decisions.document_dropped_for(document, group) {
            return (false, Some((self.turns.leader(by), similarity)));
        }
        let leader = self.turns.leader(group);
        // Copies among the new documents are not compared with each other, unless the reference has one too.
        let kept = leader == document || (corpus.against() && !corpus.is_reference(leader));
        (kept, (!kept).then_some((leader, Similarity::ONE)))
    }

    /// The first group of each cluster of two or more documents. Clusters are numbered in this order, which is that of their
    /// first documents.
    fn first_groups(&self) -> Subset {
        let corpus = self.corpus;
        let is_first = |&group: &u32| {
            let (references, others) = corpus.sides(group);
            // Copies on one side of a reference do not form a cluster by themselves.
            let are_joined = !corpus.against() || (!references.is_empty() && !others.is_empty());
            match self.decisions.cluster_of(group) {
                Some(first) => first == group,
                None => are_joined && references.len() + others.len() > 1,
            }
        };
        Subset::of(corpus.distinct(), (0..corpus.distinct() as u32).filter(is_first))
    }

    /// The number of the cluster of a document, from 1, given the first groups of the clusters.
    fn number(&self, document: u32, first_groups: &Subset) -> Option<usize> {
        let group = self.corpus.group_of(document)?;
        first_groups.place(self.decisions.cluster_of(group).unwrap_or(group)).map(|place| place + 1)
    }

    /// The warnings about decisions that keep no document that would not have been kept, or not the one that they name.
    fn without_effect(&self) -> Vec<String> {
        if self.corpus.chosen().is_empty() {
            return Vec::new();
        }
        let (corpus, first_groups) = (self.corpus, self.first_groups());
        let warning = |documents: &[u32], [one, several]: [&str; 2]| {
            let &first = documents.first()?;
            let (id, place) = (shortened_id(corpus.id(first)), corpus.at(first));
            Some(match documents.len() {
                1 => format!("1 decision has no effect: {one} ('{id}' at {place})"),
                count => {
                    let count = readable::count(count as u64);
                    format!("{count} decisions have no effect: {several} (the first is '{id}' at {place})")
                }
            })
        };
        let in_cluster = |&document: &u32| self.number(document, &first_groups).is_some();
        let (similar, alone): (Vec<u32>, Vec<u32>) = corpus.chosen().iter().partition(|&document| in_cluster(document));
        let dropped: Vec<u32> = similar.into_iter().filter(|&document| !self.reason(document).0).collect();
        let of_alone = ["its document has no near-duplicate here", "their documents have no near-duplicates here"];
        let of_dropped = [
            "its document is not kept, as a near-duplicate of a reference or of another one with a decision",
            "their documents are not kept, as near-duplicates of a reference or of others with a decision",
        ];
        [warning(&alone, of_alone), warning(&dropped, of_dropped)].into_iter().flatten().collect()
    }

    /// Every cluster of two or more, in the order of first members.
    pub fn clusters(&self) -> impl Iterator<Item = Cluster<'a>> {
        let corpus = self.corpus;
        let first_groups = self.first_groups();
        // Documents by cluster, ascending: a counting sort.
        let numbered = || corpus.documents_read().filter_map(|d| Some((self.number(d, &first_groups)?, d)));
        let mut ends = vec![0usize; first_groups.len() + 1];
        numbered().for_each(|(number, _)| ends[number] += 1);
        let mut sum = 0;
        for end in &mut ends {
            sum += std::mem::replace(end, sum);
        }
        let mut documents = vec![0u32; sum];
        for (number, d) in numbered() {
            let at = &mut ends[number];
            documents[*at] = d;
            *at += 1;
        }
        (1..ends.len()).map(move |id| self.cluster(id as u64, &documents[ends[id - 1]..ends[id]]))
    }

    fn cluster(&self, id: u64, members: &[u32]) -> Cluster<'a> {
        let corpus = self.corpus;
        let keep: Vec<u32> = members.iter().copied().filter(|&d| self.reason(d).0).collect();
        let ids = |documents: &[u32]| documents.iter().map(|&d| corpus.id(d)).collect();
        let are_ambiguous = corpus.ids_repeat_across();
        let places = |documents: &[u32]| are_ambiguous.then(|| documents.iter().map(|&d| corpus.at(d)).collect());
        let indices = |documents: &[u32]| documents.iter().map(|&d| d as usize).collect();
        Cluster {
            id,
            members: ids(members),
            keep: ids(&keep),
            indices: indices(members),
            keep_indices: indices(&keep),
            members_at: places(members),
            keep_at: places(&keep),
        }
    }

    /// A verdict for every record, including those that could not be read, in input order. With a reference, its
    /// records have no verdict.
    pub fn verdicts(&self) -> impl Iterator<Item = Verdict<'a>> {
        self.each_verdict(self.corpus.ids_repeat())
    }

    /// As [`verdicts`](Self::verdicts), with all locations, whether ids are ambiguous or not.
    pub fn located_verdicts(&self) -> impl Iterator<Item = Verdict<'a>> {
        self.each_verdict(true)
    }

    fn each_verdict(&self, is_located: bool) -> impl Iterator<Item = Verdict<'a>> {
        let corpus = self.corpus;
        let first_groups = self.first_groups();
        let documents = corpus.documents_read().filter(|&d| !corpus.is_reference(d));
        corpus.rejections.merged(documents).map(move |record| match record {
            Recorded::Document(document) => self.verdict(document, &first_groups, is_located),
            Recorded::Rejected(rejection) => rejected(&rejection, is_located),
        })
    }

    fn verdict(&self, document: u32, first_groups: &Subset, is_located: bool) -> Verdict<'a> {
        let corpus = self.corpus;
        let (keep, reason) = self.reason(document);
        let place = |document| is_located.then(|| corpus.at(document));
        Verdict {
            id: corpus.id(document),
            index: Some(document as usize),
            keep,
            duplicate_of: reason.map(|(by, similarity)| (corpus.id(by), similarity)),
            duplicate_of_index: reason.map(|(by, _)| by as usize),
            cluster: self.number(document, first_groups).map(|number| number as u64),
            featureless: corpus.is_featureless(document),
            error: None,
            is_skipped: false,
            at: place(document),
            duplicate_of_at: reason.and_then(|(by, _)| place(by)),
        }
    }
}

/// The verdict on a record that could not be read: it is kept, because its content is unknown.
fn rejected<'a>(rejection: &Rejection<'a>, is_located: bool) -> Verdict<'a> {
    let &Rejection { id, at, why, is_skipped } = rejection;
    Verdict {
        id,
        index: None,
        keep: true,
        duplicate_of: None,
        duplicate_of_index: None,
        cluster: None,
        featureless: false,
        error: Some(why),
        is_skipped,
        at: is_located.then_some(at),
        duplicate_of_at: None,
    }
}
