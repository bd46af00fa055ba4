//! Which documents are kept, decided from the pairs that were found, and what these connect.
//!
//! The choice is greedy: in the order of the [turns](super::turns), a document is kept unless a similar enough one is kept already. So
//! the edges are sorted by the turns of their groups, and each is looked at once. They may be in a file. Groups that come
//! [first](Corpus::is_first) are kept whatever is kept already.

use super::ScanOptions;
use super::corpus::Corpus;
use super::edges::{Edge, of_row, row, sorter};
use super::subset::Subset;
use super::turns::Turns;
use crate::error::Error;
use crate::similarity::Similarity;
use crate::union_find::UnionFind;
use std::path::PathBuf;

/// Passes all edges to a function, in any order.
pub(super) type EachEdge<'e> = &'e dyn Fn(&mut dyn FnMut(Edge) -> Result<(), Error>) -> Result<(), Error>;

/// The memory and the folder for what is sorted.
#[derive(Clone, Debug)]
pub(super) struct Room {
    pub memory: u64,
    pub folder: Option<PathBuf>,
}

impl Room {
    pub fn of(options: &ScanOptions) -> Self {
        Room { memory: options.memory, folder: options.temp_dir.clone() }
    }
}

/// The decision to keep a group; every other one is a group or its turn.
const KEPT: u32 = u32::MAX;

/// The decisions on groups.
#[derive(Clone)]
pub(super) struct Decisions {
    /// The groups with an edge. The others are kept, and connected with none.
    groups: Subset,
    /// The first group of those that edges connect each with.
    clusters: Vec<u32>,
    /// [`KEPT`], or the kept group that it is dropped for; and their similarity.
    dropped_for: Vec<u32>,
    similarities: Vec<Similarity>,
    /// Copies whose reason differs from that of their group, ascending.
    later: Vec<(u32, u32, Similarity)>,
}

impl Decisions {
    /// Decides by these edges.
    ///
    /// Cost: up to three passes over them, and a sort. Memory: some 30 bytes for each group with an edge, and a share of that of the
    /// room.
    ///
    /// # Errors
    /// Edges cannot be read, or not be written in another order.
    pub fn new(turns: &Turns<'_>, corpus: &Corpus, edges: EachEdge<'_>, room: &Room) -> Result<Self, Error> {
        let mut has_edge = vec![false; corpus.distinct()];
        edges(&mut |edge| {
            (has_edge[edge.a as usize], has_edge[edge.b as usize]) = (true, true);
            Ok(())
        })?;
        let groups = Subset::marked(&has_edge);
        drop(has_edge);
        let place = |group| groups.place(group).expect("it has an edge");
        let order = turns.order(&groups);
        let mut turn_of = vec![0u32; order.len()];
        for (turn, &group) in (0..).zip(&order) {
            turn_of[place(group)] = turn;
        }
        let mut connected = UnionFind::<u32>::new(groups.len());
        let mut by_turn = sorter::<2>("pairs", room.memory, room.folder.as_deref());
        edges(&mut |Edge { a, b, similarity }| {
            let (a, b) = (place(a), place(b));
            connected.union(a as u32, b as u32);
            by_turn.push(row(turn_of[a].max(turn_of[b]), turn_of[a].min(turn_of[b]), similarity))
        })?;
        let clusters = clusters(connected, &groups);
        let first = order.partition_point(|&group| corpus.is_first(group));
        let (mut by, mut similarities) = (vec![KEPT; order.len()], vec![Similarity::ONE; order.len()]);
        by_turn.for_each(|row| {
            let (turn, earlier, similarity) = of_row(row);
            let at = turn as usize;
            // The most similar kept neighbour explains the decision best; among equals the preferred one, which comes first.
            if at >= first
                && by[earlier as usize] == KEPT
                && (by[at] == KEPT || similarity.value() > similarities[at].value())
            {
                (by[at], similarities[at]) = (earlier, similarity);
            }
            Ok(())
        })?;
        let decided = Decided { turns, corpus, groups: &groups, order: &order, turn_of: &turn_of, by: &by };
        let later = decided.copies(edges, room)?;
        let by_place = |turn: &u32| match by[*turn as usize] {
            KEPT => KEPT,
            by => order[by as usize],
        };
        let dropped_for = turn_of.iter().map(by_place).collect();
        let similarities = turn_of.iter().map(|&turn| similarities[turn as usize]).collect();
        Ok(Decisions { groups, clusters, dropped_for, similarities, later })
    }

    /// The kept group that a group is dropped for, and their similarity; `None` if it is kept.
    pub fn dropped_for(&self, group: u32) -> Option<(u32, Similarity)> {
        let place = self.groups.place(group)?;
        let by = self.dropped_for[place];
        (by != KEPT).then(|| (by, self.similarities[place]))
    }

    /// The same for a document of the group, for which a more similar document may have been kept since.
    pub fn document_dropped_for(&self, document: u32, group: u32) -> Option<(u32, Similarity)> {
        let of_group = self.dropped_for(group)?;
        let own = self.later.binary_search_by_key(&document, |&(document, ..)| document);
        Some(own.map_or(of_group, |at| (self.later[at].1, self.later[at].2)))
    }

    /// The first group of the cluster of a group with an edge.
    pub fn cluster_of(&self, group: u32) -> Option<u32> {
        self.groups.place(group).map(|place| self.clusters[place])
    }
}

/// For each group with an edge, the first of those that edges connect it with.
fn clusters(connected: UnionFind<u32>, groups: &Subset) -> Vec<u32> {
    let mut first = vec![u32::MAX; groups.len()];
    let mut labels = connected.into_labels();
    for (label, group) in labels.iter_mut().zip(groups.iter()) {
        let first = &mut first[*label as usize];
        *first = group.min(*first);
        *label = *first;
    }
    labels
}

/// The decisions on groups, by their turns.
struct Decided<'a> {
    turns: &'a Turns<'a>,
    corpus: &'a Corpus,
    groups: &'a Subset,
    order: &'a [u32],
    /// The turn of each group with an edge.
    turn_of: &'a [u32],
    /// For each turn, [`KEPT`] or the turn of the kept group.
    by: &'a [u32],
}

impl Decided<'_> {
    /// Returns the copies, ascending, whose best kept neighbour differs from that of their group, with the group of
    /// that neighbour. Copies of a document that is not kept come after it in the order of the policy; in between, a
    /// more similar document may have been kept.
    fn copies(&self, edges: EachEdge<'_>, room: &Room) -> Result<Vec<(u32, u32, Similarity)>, Error> {
        let has_copies =
            |turn: u32| self.by[turn as usize] != KEPT && self.corpus.members(self.order[turn as usize]).len() > 1;
        // The reference is kept before any document is decided on.
        if self.corpus.against() || !(0..self.order.len() as u32).any(has_copies) {
            return Ok(Vec::new());
        }
        let mut kept = sorter::<2>("pairs", room.memory, room.folder.as_deref());
        let turn_of = |group| self.turn_of[self.groups.place(group).expect("it has an edge")];
        edges(&mut |Edge { a, b, similarity }| {
            let (a, b) = (turn_of(a), turn_of(b));
            for (turn, other) in [(a, b), (b, a)] {
                if self.by[other as usize] == KEPT && has_copies(turn) {
                    kept.push(row(turn, other, similarity))?;
                }
            }
            Ok(())
        })?;
        let (mut later, mut sorted) = (Vec::new(), kept.sorted()?);
        let (mut next, mut of_group) = (sorted.next()?, Vec::new());
        while let Some(first) = next {
            let (turn, ..) = of_row(&first);
            of_group.clear();
            while let Some(row) = next.filter(|row| of_row(row).0 == turn) {
                let (_, other, similarity) = of_row(&row);
                of_group.push((other, similarity));
                next = sorted.next()?;
            }
            self.copies_of(turn, &of_group, &mut later);
        }
        later.sort_unstable_by_key(|&(document, ..)| document);
        Ok(later)
    }

    /// The same for the copies of one group, with the turns of its kept neighbours, ascending.
    fn copies_of(&self, turn: u32, kept: &[(u32, Similarity)], later: &mut Vec<(u32, u32, Similarity)>) {
        let (group, by) = (self.order[turn as usize], self.by[turn as usize]);
        let members = self.corpus.members(group).iter();
        let mut copies: Vec<_> = members.map(|&document| (self.turns.turn(document), document)).collect();
        copies.sort_unstable();
        let (mut next, mut best) = (0, None::<(u32, Similarity)>);
        for (turn, document) in copies {
            while let Some(&(other, similarity)) = kept.get(next)
                && self.turns.turn(self.turns.leader(self.order[other as usize])) < turn
            {
                next += 1;
                if best.is_none_or(|(_, most)| similarity.value() > most.value()) {
                    best = Some((other, similarity));
                }
            }
            later.extend(
                best.filter(|&(other, _)| other != by)
                    .map(|(other, similarity)| (document, self.order[other as usize], similarity)),
            );
        }
    }
}
