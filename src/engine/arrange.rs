//! Arranging the result: pairs in input order, clusters, and which documents to keep.

use super::corpus::Corpus;
use super::documents::At;
use super::read::Reader;
use super::sets::Sets;
use super::subset::Subset;
use super::verify::{self, Edge};
use super::{Report, ScanOptions, Side};
use crate::algorithm::{Odds, PreparedAlgorithm};
use crate::error::Error;
use crate::run::ordered::workers;
use crate::similarity::Similarity;
use crate::source::Source;
use crate::union_find::UnionFind;
use rayon::prelude::*;
use std::fmt;
#[cfg(feature = "report")]
use std::ops::Range;

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

/// Which documents are preferred when only some of a group of near-duplicates are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeepPolicy {
    /// Earlier in the input.
    #[default]
    First,
    /// Later in the input.
    Last,
    /// More tokens; among equals the earlier.
    Longest,
    /// Fewer tokens; among equals the earlier.
    Shortest,
}

/// The names of the policies, with help.
pub static KEEP_POLICIES: &[(&str, KeepPolicy, &str)] = &[
    ("first", KeepPolicy::First, "the earliest in the input"),
    ("last", KeepPolicy::Last, "the latest in the input"),
    ("longest", KeepPolicy::Longest, "the one with most tokens"),
    ("shortest", KeepPolicy::Shortest, "the one with fewest tokens"),
];

/// The approximate number of pairs in a portion.
#[cfg(feature = "report")]
const PORTION: usize = 1 << 12;

/// The number of a document, and its similarity to another.
#[derive(Clone, Copy)]
pub(crate) struct Partner(u32, Similarity);

/// A range of documents, and the maximum number of pairs that they have with others. A pair within the range counts
/// twice.
#[cfg(feature = "report")]
pub(crate) struct Portion {
    pub documents: Range<u32>,
    pub pairs: usize,
}

/// The result of a scan.
pub struct Outcome {
    pub(super) corpus: Corpus,
    /// Sorted by (a, b).
    edges: Vec<Edge>,
    neighbours: Neighbours,
    prepared: PreparedAlgorithm,
    /// The settings and statistics of the run.
    pub report: Report,
}

impl fmt::Debug for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Outcome").field("report", &self.report).finish_non_exhaustive()
    }
}

/// The edges of each group that has any, in both directions: `edges[of[ends[p − 1]..ends[p]]]`, where `p` is its place.
struct Neighbours {
    groups: Subset,
    of: Vec<u32>,
    ends: Vec<usize>,
}

impl Neighbours {
    fn new(groups: usize, edges: &[Edge]) -> Self {
        let groups = Subset::of(groups, edges.iter().flat_map(|edge| [edge.a, edge.b]));
        let place = |group| groups.place(group).expect("it has an edge");
        let mut ends = vec![0usize; groups.len()];
        for edge in edges {
            ends[place(edge.a)] += 1;
            ends[place(edge.b)] += 1;
        }
        let mut sum = 0;
        for end in &mut ends {
            // At first the start of each group; filling moves each to its end.
            sum += std::mem::replace(end, sum);
        }
        let mut of = vec![0u32; sum];
        for (number, edge) in edges.iter().enumerate() {
            for group in [edge.a, edge.b] {
                let at = &mut ends[place(group)];
                of[*at] = number as u32;
                *at += 1;
            }
        }
        Neighbours { groups, of, ends }
    }

    /// The place of a group with an edge.
    fn place(&self, group: u32) -> usize {
        self.groups.place(group).expect("it has an edge")
    }

    fn edges(&self, group: u32) -> &[u32] {
        self.groups.place(group).map_or(&[], |place| self.edges_at(place))
    }

    fn edges_at(&self, place: usize) -> &[u32] {
        let start = place.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.of[start..self.ends[place]]
    }

    /// For each group with an edge, the first of those that edges connect it with.
    fn clusters(&self, edges: &[Edge]) -> Vec<u32> {
        let mut connected = UnionFind::<u32>::new(self.groups.len());
        for edge in edges {
            connected.union(self.place(edge.a) as u32, self.place(edge.b) as u32);
        }
        let mut first = vec![u32::MAX; self.groups.len()];
        let labels = connected.into_labels().into_iter();
        labels
            .zip(self.groups.iter())
            .map(|(label, group)| {
                let first = &mut first[label as usize];
                *first = group.min(*first);
                *first
            })
            .collect()
    }
}

/// The number of pairs of documents that the groups and the edges between them represent.
pub(super) fn count_pairs(corpus: &Corpus, edges: &[Edge]) -> u64 {
    corpus.pairs_of_copies() + edges.iter().map(|edge| corpus.pairs_between(edge.a, edge.b)).sum::<u64>()
}

impl Outcome {
    pub(super) fn new(corpus: Corpus, edges: Vec<Edge>, prepared: PreparedAlgorithm, report: Report) -> Self {
        let neighbours = Neighbours::new(corpus.distinct(), &edges);
        Outcome { corpus, edges, neighbours, prepared, report }
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
    /// Pairs of copies are generated on demand: memory is that of the partners of one document.
    pub fn pairs(&self) -> impl Iterator<Item = Pair<'_>> {
        self.corpus.documents_read().flat_map(move |a| {
            let mut partners = Vec::new();
            self.partners_of(a, &mut partners);
            partners.into_iter().map(move |partner| self.pair(a, partner))
        })
    }

    /// The documents in portions of at most [`PORTION`] pairs. A document with more pairs is a portion of its own.
    #[cfg(feature = "report")]
    pub(crate) fn portions(&self) -> impl Iterator<Item = Portion> {
        let mut documents = self.corpus.documents_read().peekable();
        std::iter::from_fn(move || {
            let (start, mut end, mut pairs) = (*documents.peek()?, 0, 0);
            while let Some(document) = documents.next_if(|&document| {
                let own = 1 + self.corpus.group_of(document).map_or(0, |group| self.partners(group));
                let fits = document == start || pairs + own <= PORTION;
                pairs += if fits { own } else { 0 };
                fits
            }) {
                end = document + 1;
            }
            Some(Portion { documents: start..end, pairs })
        })
    }

    /// The groups that are similar to a group.
    pub(super) fn similar_groups(&self, group: u32) -> impl Iterator<Item = u32> {
        self.neighbours.edges(group).iter().map(move |&number| self.edges[number as usize].other_than(group))
    }

    /// The number of documents similar to those of a group, the group included.
    #[cfg(feature = "report")]
    fn partners(&self, group: u32) -> usize {
        self.similar_groups(group).chain([group]).map(|group| self.corpus.members(group).len()).sum()
    }

    /// Fills `partners` with the later documents that are similar to this one, in input order.
    pub(crate) fn partners_of(&self, a: u32, partners: &mut Vec<Partner>) {
        partners.clear();
        let Some(group) = self.corpus.group_of(a) else { return };
        let mut add = |group: u32, similarity| {
            let members = self.corpus.members(group);
            let later = &members[members.partition_point(|&b| b <= a)..];
            partners.extend(later.iter().filter(|&&b| self.may_report(a, b)).map(|&b| Partner(b, similarity)));
        };
        add(group, Similarity::ONE);
        for &number in self.neighbours.edges(group) {
            let edge = &self.edges[number as usize];
            add(edge.other_than(group), edge.similarity);
        }
        partners.sort_unstable_by_key(|partner| partner.0);
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
    /// threshold.
    ///
    /// With a reference, all its documents are kept, and only the others are decided on.
    pub fn keep(&self, policy: KeepPolicy) -> Kept<'_> {
        let turns = Turns::new(&self.corpus, policy);
        let decisions = self.decide(&turns);
        let later = self.decide_copies(&turns, &decisions);
        Kept { outcome: self, clusters: self.neighbours.clusters(&self.edges), decisions, later, turns }
    }

    /// The group that a group is dropped for by a decision other than [`KEPT`], and their similarity.
    fn dropped_for(&self, group: u32, decision: u32) -> (u32, Similarity) {
        let edge = &self.edges[decision as usize];
        (edge.other_than(group), edge.similarity)
    }

    /// Returns the copies, ascending, whose best kept neighbour differs from that of their group, with the group of
    /// that neighbour. Copies of a document that is not kept come after it in the order of the policy; in between, a
    /// more similar document may have been kept.
    fn decide_copies(&self, turns: &Turns<'_>, decisions: &[u32]) -> Vec<(u32, u32, Similarity)> {
        // The reference is kept before any document is decided on.
        if self.corpus.against() {
            return Vec::new();
        }
        let (mut later, mut kept, mut copies) = (Vec::new(), Vec::new(), Vec::new());
        for (place, group) in self.neighbours.groups.iter().enumerate() {
            if decisions[place] == KEPT || self.corpus.members(group).len() == 1 {
                continue;
            }
            let (by, _) = self.dropped_for(group, decisions[place]);
            kept.clear();
            for &number in self.neighbours.edges_at(place) {
                let edge = &self.edges[number as usize];
                let other = edge.other_than(group);
                if decisions[self.neighbours.place(other)] == KEPT {
                    kept.push((turns.turn(turns.leader(other)), other, edge.similarity));
                }
            }
            kept.sort_unstable_by_key(|&(turn, ..)| turn);
            copies.clear();
            copies.extend(self.corpus.members(group).iter().map(|&document| (turns.turn(document), document)));
            copies.sort_unstable();
            let (mut next, mut best) = (0, None::<(u32, Similarity)>);
            for &(turn, document) in &copies {
                while let Some(&(earlier, other, similarity)) = kept.get(next)
                    && earlier < turn
                {
                    next += 1;
                    if best.is_none_or(|(_, most)| similarity.value() > most.value()) {
                        best = Some((other, similarity));
                    }
                }
                later.extend(best.filter(|&(other, _)| other != by).map(|(other, s)| (document, other, s)));
            }
        }
        later.sort_unstable_by_key(|&(document, ..)| document);
        later
    }

    /// The decision on each group with an edge: [`KEPT`], or the number of the edge to the kept group that it is dropped for.
    fn decide(&self, turns: &Turns<'_>) -> Vec<u32> {
        let (corpus, neighbours) = (&self.corpus, &self.neighbours);
        let order = turns.order(&neighbours.groups);
        let mut rank = vec![0u32; order.len()];
        for (position, &group) in (0..).zip(&order) {
            rank[neighbours.place(group)] = position;
        }
        const OPEN: u32 = 0;
        // A group with a document of the reference is kept before any other is decided on.
        let first = |group| if corpus.is_reference(corpus.first(group)) { KEPT } else { OPEN };
        let mut decisions: Vec<u32> = neighbours.groups.iter().map(first).collect();
        for &group in &order {
            let place = neighbours.place(group);
            if decisions[place] == KEPT {
                continue;
            }
            // The most similar kept neighbour explains the decision best; among equals the preferred one.
            let best = neighbours
                .edges_at(place)
                .iter()
                .map(|&number| (number, &self.edges[number as usize]))
                .map(|(number, edge)| (number, neighbours.place(edge.other_than(group)), edge.similarity))
                .filter(|&(_, other, _)| decisions[other] == KEPT)
                .max_by(|(_, g, s), (_, h, t)| s.value().total_cmp(&t.value()).then(rank[*h].cmp(&rank[*g])));
            decisions[place] = best.map_or(KEPT, |(number, ..)| number);
        }
        decisions
    }
}

/// The decision to keep a group; every other one is the number of an edge. There are fewer edges than this.
const KEPT: u32 = u32::MAX;

/// The order of the choice: documents of the reference first, then by rank, then by the policy.
pub(super) struct Turns<'a> {
    corpus: &'a Corpus,
    policy: KeepPolicy,
    /// The groups of several documents and the document with the first turn of each, if there are ranks. Without them it
    /// is the first or the last one.
    copied: Subset,
    leaders: Vec<u32>,
}

impl<'a> Turns<'a> {
    pub fn new(corpus: &'a Corpus, policy: KeepPolicy) -> Self {
        let mut turns = Turns { corpus, policy, copied: Subset::default(), leaders: Vec::new() };
        if corpus.has_ranks() {
            let groups = 0..corpus.distinct() as u32;
            let copied = Subset::of(groups.len(), groups.filter(|&group| corpus.members(group).len() > 1));
            turns.leaders = copied.iter().map(|group| turns.first_of(corpus.members(group))).collect();
            turns.copied = copied;
        }
        turns
    }

    /// What a document is sorted by.
    fn turn(&self, document: u32) -> (bool, u32, u32, u32) {
        let (key, place) = match self.policy {
            KeepPolicy::First => (0, document),
            KeepPolicy::Last => (0, !document),
            KeepPolicy::Longest => (!self.corpus.length(document), document),
            KeepPolicy::Shortest => (self.corpus.length(document), document),
        };
        (!self.corpus.is_reference(document), self.corpus.rank(document), key, place)
    }

    fn first_of(&self, members: &[u32]) -> u32 {
        let by_turn = || members.iter().copied().min_by_key(|&document| self.turn(document));
        // A document of the reference comes first, because it is always kept.
        let first = members[0];
        if self.corpus.is_reference(first) { first } else { by_turn().unwrap_or(first) }
    }

    /// The document that represents a group.
    fn leader(&self, group: u32) -> u32 {
        let members = self.corpus.members(group);
        if members.len() == 1 {
            return members[0];
        }
        if self.corpus.has_ranks() {
            return self.leaders[self.copied.place(group).expect("it has copies")];
        }
        // All copies are equally long.
        let is_last = self.policy == KeepPolicy::Last && !self.corpus.is_reference(members[0]);
        if is_last { members[members.len() - 1] } else { members[0] }
    }

    /// Some groups in their order.
    pub fn order(&self, groups: &Subset) -> Vec<u32> {
        let mut order: Vec<u32> = groups.iter().collect();
        // Groups are numbered in the order of their first members.
        if self.policy != KeepPolicy::First || self.corpus.has_ranks() {
            order.par_sort_by_cached_key(|&group| self.turn(self.leader(group)));
        }
        order
    }
}

/// The result of a scan that looked only for what decides which documents are kept, by one policy. Its pairs are not all
/// there are.
#[derive(Debug)]
pub struct KeptOutcome {
    outcome: Outcome,
    policy: KeepPolicy,
}

impl KeptOutcome {
    pub(super) fn new(outcome: Outcome, policy: KeepPolicy) -> Self {
        KeptOutcome { outcome, policy }
    }

    /// Which documents are kept, and the clusters: the same as those of all pairs.
    pub fn kept(&self) -> Kept<'_> {
        self.outcome.keep(self.policy)
    }

    /// The settings and statistics of the run.
    pub fn report(&self) -> &Report {
        &self.outcome.report
    }

    /// Adds a warning to them.
    #[cfg(feature = "clean")]
    pub(crate) fn warn(&mut self, warning: String) {
        self.outcome.report.warnings.push(warning);
    }

    /// The id of every document, in input order, the reference first.
    pub fn documents(&self) -> impl Iterator<Item = &str> {
        self.outcome.documents()
    }
}

/// What a page shows of documents, which are named by their indices.
#[cfg(feature = "report")]
impl<'a> Kept<'a> {
    pub(super) fn corpus(&self) -> &'a Corpus {
        &self.outcome.corpus
    }

    pub(super) fn prepared(&self) -> &'a PreparedAlgorithm {
        &self.outcome.prepared
    }

    pub(crate) fn id(&self, document: usize) -> &'a str {
        self.outcome.corpus.id(document as u32)
    }

    pub(crate) fn at(&self, document: usize) -> At<'a> {
        self.outcome.corpus.at(document as u32)
    }

    pub(crate) fn is_reference(&self, document: usize) -> bool {
        self.outcome.corpus.is_reference(document as u32)
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
    outcome: &'a Outcome,
    /// The first group of the cluster of each group with an edge.
    clusters: Vec<u32>,
    /// The [decision](Outcome::decide) on each group with an edge.
    decisions: Vec<u32>,
    /// Copies whose reason differs from that of their group, ascending.
    later: Vec<(u32, u32, Similarity)>,
    turns: Turns<'a>,
}

impl fmt::Debug for Kept<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kept").field("policy", &self.turns.policy).finish_non_exhaustive()
    }
}

impl<'a> Kept<'a> {
    /// The indices of the kept documents in [`Outcome::documents`], ascending.
    pub fn indices(&self) -> impl Iterator<Item = usize> {
        let documents = self.outcome.corpus.documents_read();
        documents.filter(|&document| self.reason(document).0).map(|document| document as usize)
    }

    /// The number of documents that are not kept.
    pub fn dropped(&self) -> u64 {
        let corpus = &self.outcome.corpus;
        corpus.documents_read().filter(|&d| !self.reason(d).0).count() as u64
    }

    /// Whether a document is kept, and if not, for which kept document.
    fn reason(&self, document: u32) -> (bool, Option<(u32, Similarity)>) {
        let Outcome { corpus, neighbours, .. } = self.outcome;
        let Some(group) = corpus.group_of(document) else { return (true, None) };
        if corpus.is_reference(document) {
            return (true, None);
        }
        match neighbours.groups.place(group).map(|place| self.decisions[place]) {
            Some(decision) if decision != KEPT => {
                let (by, similarity) = self.outcome.dropped_for(group, decision);
                let own = self.later.binary_search_by_key(&document, |&(document, ..)| document);
                let (by, similarity) = own.map_or((by, similarity), |at| (self.later[at].1, self.later[at].2));
                (false, Some((self.turns.leader(by), similarity)))
            }
            _ => {
                let leader = self.turns.leader(group);
                // Copies among the new documents are not compared with each other, unless the reference has one too.
                let kept = leader == document || (corpus.against() && !corpus.is_reference(leader));
                (kept, (!kept).then_some((leader, Similarity::ONE)))
            }
        }
    }

    /// The first group of each cluster of two or more documents. Clusters are numbered in this order, which is that of their
    /// first documents.
    fn first_groups(&self) -> Subset {
        let corpus = &self.outcome.corpus;
        let is_first = |&group: &u32| {
            let (references, others) = corpus.sides(group);
            // Copies on one side of a reference do not form a cluster by themselves.
            let are_joined = !corpus.against() || (!references.is_empty() && !others.is_empty());
            match self.cluster_of(group) {
                Some(first) => first == group,
                None => are_joined && references.len() + others.len() > 1,
            }
        };
        Subset::of(corpus.distinct(), (0..corpus.distinct() as u32).filter(is_first))
    }

    /// The first group of the cluster of a group with an edge.
    fn cluster_of(&self, group: u32) -> Option<u32> {
        self.outcome.neighbours.groups.place(group).map(|place| self.clusters[place])
    }

    /// The number of the cluster of a document, from 1, given the first groups of the clusters.
    fn number(&self, document: u32, first_groups: &Subset) -> Option<usize> {
        let group = self.outcome.corpus.group_of(document)?;
        first_groups.place(self.cluster_of(group).unwrap_or(group)).map(|place| place + 1)
    }

    /// Every cluster of two or more, in the order of first members.
    pub fn clusters(&self) -> impl Iterator<Item = Cluster<'a>> {
        let corpus = &self.outcome.corpus;
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
        let corpus = &self.outcome.corpus;
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
        self.each_verdict(self.outcome.corpus.ids_repeat())
    }

    /// As [`verdicts`](Self::verdicts), with all locations, whether ids are ambiguous or not.
    pub fn located_verdicts(&self) -> impl Iterator<Item = Verdict<'a>> {
        self.each_verdict(true)
    }

    fn each_verdict(&self, is_located: bool) -> impl Iterator<Item = Verdict<'a>> {
        let corpus = &self.outcome.corpus;
        let first_groups = self.first_groups();
        let mut rejections = (0..corpus.rejections.len()).peekable();
        let mut documents = corpus.documents_read().filter(|&d| !corpus.is_reference(d)).peekable();
        std::iter::from_fn(move || {
            let document = documents.peek().copied();
            let comes_before =
                |&next: &usize| document.is_none_or(|document| corpus.rejections.before(next) <= document);
            if let Some(rejection) = rejections.next_if(comes_before) {
                return Some(self.rejected(rejection, is_located));
            }
            documents.next().map(|document| self.verdict(document, &first_groups, is_located))
        })
    }

    fn verdict(&self, document: u32, first_groups: &Subset, is_located: bool) -> Verdict<'a> {
        let corpus = &self.outcome.corpus;
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

    /// The verdict on a record that could not be read: it is kept, because its content is unknown.
    fn rejected(&self, rejection: usize, is_located: bool) -> Verdict<'a> {
        let corpus = &self.outcome.corpus;
        let (id, at, error, is_skipped) = corpus.rejections.get(rejection);
        Verdict {
            id,
            index: None,
            keep: true,
            duplicate_of: None,
            duplicate_of_index: None,
            cluster: None,
            featureless: false,
            error: Some(error),
            is_skipped,
            at: is_located.then_some(at),
            duplicate_of_at: None,
        }
    }
}
