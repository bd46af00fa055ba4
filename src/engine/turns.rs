//! The order in which documents are decided on: by a policy, and by ranks.

use super::corpus::Corpus;
use super::subset::Subset;
use rayon::prelude::*;

/// Which documents are preferred when only some of a group of near-duplicates are kept, among those of equal
/// [rank](crate::source::Rank). Rules of files and fields, such as the largest number in a field or a value of it, are in
/// [`Ranking::by`](crate::source::Ranking::by), and come before the policy.
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

/// The order of the choice: documents of the reference first, then by rank, then by the policy. The ranks put documents that are
/// always kept before those that were only chosen, and these before all others.
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

    pub fn policy(&self) -> KeepPolicy {
        self.policy
    }

    /// What a document is sorted by.
    pub fn turn(&self, document: u32) -> (bool, u32, u32, u32) {
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
    pub fn leader(&self, group: u32) -> u32 {
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
