//! The pairs that decide which documents are kept and which are connected, without all others.
//!
//! ```text
//! choose    in the order of the policy, each text is compared with the kept ones that it shares a key with: the most
//!           similar one explains why it is dropped; without one it is kept
//! copies    a dropped text of several documents is also compared with what is kept after it
//! connect   under each key, texts that nothing connects yet are compared, until they are connected
//! ```
//!
//! Pairs of dropped texts are compared only if nothing connects them. So a hundred thousand pages of one template, of
//! which one is kept, take that many comparisons, and not five thousand million. If they are too different and all are
//! kept, the prefix filter of [`Families`] rules out most of them.
//!
//! Texts are numbered by their turn: their position in the order of the policy.

use super::corpus::Corpus;
use super::edges::{Edge, Found, FoundList};
use super::hot::HotFamilies;
use super::portions::Portion;
use super::sets::LastRead;
use super::subset::Subset;
use super::table::{HOT_RUN, Table};
use super::turns::{self, KeepPolicy};
use super::verify::{self, Evidence, Search};
use crate::error::Error;
use crate::postings::{Families, Repeated, Wanted};
use crate::similarity::Similarity;
use crate::similarity::bound::Bound;
use crate::union_find::UnionFind;
use rayon::prelude::*;
use std::borrow::Cow;
use std::cmp::Ordering;
use std::convert::Infallible;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

/// The number of texts that are compared with the kept ones at the same time.
const AT_ONCE: usize = 1 << 10;

/// The number of texts that a thread takes at least.
const LEAST_A_TASK: usize = 16;

/// So many members of a hot run are compared with each other before prefixes find them; of vectors, which no outline rules out, so many.
const HOT_MEMBERS: usize = 64;
const HOT_VECTORS: usize = 16;

/// The number of runs whose members are connected at the same time, and of these members, unless one run has more.
const RUNS_AT_ONCE: usize = 1 << 10;
const MEMBERS_AT_ONCE: usize = 1 << 20;

/// The runs of some tables, numbered through, and those of each group.
struct Runs<'a> {
    tables: &'a [Table],
    /// The number of the first run of each table, and the number of members of the runs before it; and of all.
    first: Vec<(u32, usize)>,
    /// The groups that are in a run.
    groups: Subset,
    /// The runs of each of these groups, ascending: `runs[ends[p − 1]..ends[p]]`, where `p` is its place among them.
    runs: Vec<u32>,
    ends: Vec<usize>,
    /// Whether the members of each run are found by prefixes, as the algorithm allows it and they are so many.
    hot: Vec<bool>,
    /// The number of members of these that are compared with each other.
    hot_members: usize,
}

impl<'a> Runs<'a> {
    /// The runs of these tables, of so many groups.
    fn new(tables: &'a [Table], groups: usize, evidence: &Evidence, bound: Option<Bound>) -> Self {
        let (mut first, mut all) = (Vec::new(), (0, 0));
        let groups = Subset::of(groups, tables.iter().flat_map(|table| &table.members).copied());
        let place = |group: u32| groups.place(group).expect("it is in a run");
        let mut ends = vec![0usize; groups.len()];
        for table in tables {
            first.push(all);
            all = (all.0 + table.runs() as u32, all.1 + table.members.len());
            table.members.iter().for_each(|&group| ends[place(group)] += 1);
        }
        first.push(all);
        let mut sum = 0;
        for end in &mut ends {
            // At first the start of each group; filling moves each to its end.
            sum += std::mem::replace(end, sum);
        }
        let (mut runs, mut number) = (vec![0; sum], 0);
        for table in tables {
            for run in 0..table.runs() {
                for &group in table.run(run) {
                    let end = &mut ends[place(group)];
                    runs[*end] = number;
                    *end += 1;
                }
                number += 1;
            }
        }
        let hot_members = if let Some(Bound::Cosine(_)) = bound { HOT_VECTORS } else { HOT_MEMBERS };
        let mut runs = Runs { tables, first, groups, runs, ends, hot: Vec::new(), hot_members };
        let is_hot = |members: &[u32]| bound.is_some_and(|bound| verify::is_hot(bound, evidence, members));
        runs.hot = (0..runs.len() as u32).into_par_iter().map(|run| is_hot(runs.members(run))).collect();
        runs
    }

    /// The number of runs.
    fn len(&self) -> usize {
        self.first[self.tables.len()].0 as usize
    }

    /// The number of members of all runs.
    fn memberships(&self) -> usize {
        self.first[self.tables.len()].1
    }

    /// The table of a run, and its number there.
    #[inline]
    fn at(&self, run: u32) -> (usize, usize) {
        let table = self.first.partition_point(|&(first, _)| first <= run) - 1;
        (table, (run - self.first[table].0) as usize)
    }

    /// The positions of the members of a run among those of all runs.
    #[inline]
    fn range(&self, run: u32) -> Range<usize> {
        let (table, run) = self.at(run);
        let (range, before) = (self.tables[table].range(run), self.first[table].1);
        before + range.start..before + range.end
    }

    /// The runs that a group is in.
    fn of(&self, group: u32) -> &[u32] {
        let Some(place) = self.groups.place(group) else { return &[] };
        let start = place.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.runs[start..self.ends[place]]
    }

    /// Whether two groups are in one run.
    fn share(&self, a: u32, b: u32) -> bool {
        let (mut a, mut b) = (self.of(a).iter().peekable(), self.of(b).iter().peekable());
        while let (Some(x), Some(y)) = (a.peek(), b.peek()) {
            match x.cmp(y) {
                Ordering::Equal => return true,
                Ordering::Less => _ = a.next(),
                Ordering::Greater => _ = b.next(),
            }
        }
        false
    }

    fn is_hot(&self, run: u32) -> bool {
        self.hot[run as usize]
    }

    /// Cuts some runs, ascending, into those that are searched at the same time. Members of a long run may be connected by a long run
    /// of another table, so that one waits for the other.
    fn batches<'r>(&self, runs: &'r [u32]) -> Vec<&'r [u32]> {
        let (mut batches, mut start, mut members, mut table_of_long) = (Vec::new(), 0, 0, None);
        for (at, &run) in runs.iter().enumerate() {
            let (table, own) = (self.at(run).0, self.members(run).len());
            let is_long = own >= HOT_RUN;
            let is_full = at - start == RUNS_AT_ONCE || (at > start && members + own > MEMBERS_AT_ONCE);
            if is_full || (is_long && table_of_long.is_some_and(|other| other != table)) {
                batches.push(&runs[start..at]);
                (start, members, table_of_long) = (at, 0, None);
            }
            members += own;
            table_of_long = if is_long { Some(table) } else { table_of_long };
        }
        batches.push(&runs[start..]);
        batches
    }

    fn members(&self, run: u32) -> &'a [u32] {
        let (table, run) = self.at(run);
        self.tables[table].run(run)
    }
}

/// What the choice depends on.
struct Turns<'a> {
    search: &'a Search<'a>,
    evidence: &'a Evidence,
    runs: &'a Runs<'a>,
    /// The group of each turn.
    order: &'a [u32],
    /// The elements that more than one group in a hot run has, if there is one, and the size of the smallest of these sets.
    repeated: Option<(Arc<Repeated>, usize)>,
}

impl<'a> Turns<'a> {
    fn runs_of(&self, turn: u32) -> &'a [u32] {
        self.runs.of(self.order[turn as usize])
    }

    /// The similarity of two groups that share a key; see [`Search::compared`].
    fn compared(&self, a: u32, b: u32, (compared, last): (&mut u64, &mut LastRead)) -> Option<Similarity> {
        self.search.compared(self.evidence, (a, b), || self.runs.share(a, b), (compared, last))
    }

    /// No families yet, if the algorithm allows prefixes of sets.
    fn families(&self) -> Option<Families> {
        let families = self.search.prefixes_by().map(Families::new)?;
        Some(match &self.repeated {
            Some((repeated, smallest)) => families.of_repeated(Arc::clone(repeated), *smallest),
            None => families,
        })
    }

    /// The set of the group of a turn, where sets are compared.
    fn set(&self, turn: u32) -> Cow<'a, [u64]> {
        match self.evidence {
            Evidence::Fingerprints => Cow::Borrowed(&[]),
            Evidence::Sets(sets) => sets.get(self.order[turn as usize]),
        }
    }
}

/// Some of the members of each run: those that were added, in the order of their turns; of a run that prefixes search, the first.
///
/// The lists of what is kept and of what is copied share the places of all members: one begins at the first place of each run,
/// the other at the last. No text is in both.
struct Members {
    begins_at_end: bool,
    lengths: Vec<u32>,
    /// The runs that have too many of them.
    families: Option<Families>,
}

impl Members {
    fn new(turns: &Turns<'_>, begins_at_end: bool) -> Self {
        Members { begins_at_end, lengths: vec![0; turns.runs.len()], families: turns.families() }
    }

    /// The place of a member of a run.
    #[inline]
    fn place(&self, run: &Range<usize>, number: usize) -> usize {
        if self.begins_at_end { run.end - 1 - number } else { run.start + number }
    }

    /// Adds a text to the lists in `places`.
    fn add(&mut self, turns: &Turns<'_>, places: &mut [u32], turn: u32) {
        if let Some(families) = &mut self.families {
            let of = families.of(turns.runs_of(turn).iter().map(|&run| run.into()));
            let set = if of.is_empty() { Cow::Borrowed(&[][..]) } else { turns.set(turn) };
            of.into_iter().for_each(|family| families.add(family, turn, &set));
        }
        for &run in turns.runs_of(turn) {
            let (range, length) = (turns.runs.range(run), self.lengths[run as usize] as usize);
            if length >= turns.runs.hot_members && self.families.is_some() && turns.runs.is_hot(run) {
                // Its family has it.
                continue;
            }
            places[self.place(&range, length)] = turn;
            self.lengths[run as usize] += 1;
            let becomes_hot = length + 1 == turns.runs.hot_members && turns.runs.is_hot(run);
            let list = || (0..=length).map(|number| places[self.place(&range, number)]).collect::<Vec<u32>>();
            if let (Some(list), Some(families)) = (becomes_hot.then(list), &mut self.families) {
                let Ok(()) = families.make_hot(run.into(), &list, |turn| Ok::<_, Infallible>(turns.set(turn)));
            }
        }
    }

    /// Passes those to a function that share a run with this one, have at least the turn `from`, and may be similar to
    /// it; some of them several times.
    fn find(&self, turns: &Turns<'_>, places: &[u32], turn: u32, from: u32, mut each: impl FnMut(u32)) {
        let all = turns.runs_of(turn).iter().copied();
        let is_hot = |run: u32| self.families.as_ref().is_some_and(|families| families.is_hot(run.into()));
        let listed = all.clone().filter(|&run| !is_hot(run)).flat_map(|run| {
            let (range, length) = (turns.runs.range(run), self.lengths[run as usize] as usize);
            let list = (0..length).rev().map(move |number| places[self.place(&range, number)]);
            list.take_while(|&other| other >= from)
        });
        let of = self.families.as_ref().map(|families| (families, families.of(all.clone().map(u64::from))));
        let Some((families, of)) = of.filter(|(_, of)| !of.is_empty()) else { return listed.for_each(each) };
        let mut listed: Vec<u32> = listed.collect();
        listed.sort_unstable();
        listed.dedup();
        families.remove_members(&of, &mut listed);
        listed.into_iter().for_each(&mut each);
        let set = turns.set(turn);
        for family in of {
            let is_ordered = families.is_ordered(family);
            let found = families.find(family, &set, |other| match other >= from {
                true => Wanted::Yes,
                // A run that became hot later brought earlier turns.
                false if is_ordered => Wanted::NoMore,
                false => Wanted::No,
            });
            found.expect("it is in memory").into_iter().for_each(&mut each);
        }
    }
}

/// The texts that were seen in the runs of one.
struct Seen {
    /// A bit for each text.
    bits: Vec<u64>,
    turns: Vec<u32>,
    /// The set of the one, and of the others some.
    last: LastRead,
}

/// The memory for sets that were read from a file, for each thread that compares some.
const READ_BYTES: u64 = 1 << 16;

impl Seen {
    /// None of so many.
    fn new(texts: usize) -> Self {
        Seen { bits: vec![0; texts.div_ceil(64)], turns: Vec::new(), last: LastRead::within(READ_BYTES) }
    }

    /// Whether this one was not seen before.
    #[inline]
    fn is_first(&mut self, turn: u32) -> bool {
        let (word, bit) = (&mut self.bits[turn as usize / 64], 1 << (turn % 64));
        let is_first = *word & bit == 0;
        *word |= bit;
        if is_first {
            self.turns.push(turn);
        }
        is_first
    }

    fn clear(&mut self) {
        self.turns.drain(..).for_each(|turn| self.bits[turn as usize / 64] = 0);
    }
}

/// The choice so far.
struct Choice<'a> {
    turns: &'a Turns<'a>,
    kept: Members,
    /// The dropped groups of several documents.
    copied: Members,
    /// The lists of both.
    places: Vec<u32>,
    is_kept: Vec<bool>,
    edges: FoundList<'a>,
    compared: u64,
    /// Those that are not in use: each takes a bit for each text.
    idle: Mutex<Vec<Seen>>,
}

/// One that goes back to the idle ones.
struct Lent<'c> {
    seen: Seen,
    idle: &'c Mutex<Vec<Seen>>,
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        let seen = std::mem::replace(&mut self.seen, Seen::new(0));
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(seen);
    }
}

/// The turn of a similar group.
type Best = Option<(u32, Similarity)>;

impl Choice<'_> {
    /// Decides on groups that follow each other in the order.
    fn decide(&mut self, batch: &[u32]) {
        let corpus = self.turns.search.corpus();
        let is_first = |turn: u32| corpus.is_first(self.turns.order[turn as usize]);
        let before = |lent: &mut Lent<'_>, &turn: &u32| match is_first(turn) {
            true => (None, 0),
            false => self.best_since(0, turn, &mut lent.seen),
        };
        let lend = || Lent { seen: self.take_idle(), idle: &self.idle };
        let found: Vec<(Best, u64)> = batch.par_iter().with_min_len(LEAST_A_TASK).map_init(lend, before).collect();
        let mut seen = self.take_idle();
        for (&turn, (best, compared)) in batch.iter().zip(found) {
            self.compared += compared;
            if is_first(turn) {
                self.keep(turn, &mut seen);
                continue;
            }
            let (later, compared) = self.best_since(batch[0], turn, &mut seen);
            self.compared += compared;
            // Those of the batch come later in the order, so that they must be more similar.
            let value = |best: Best| best.map_or(0.0, |(_, similarity)| similarity.value());
            match if best.is_none() || value(later) > value(best) { later } else { best } {
                Some((other, similarity)) => {
                    let order = self.turns.order;
                    self.edges.push(Edge::between(order[turn as usize], order[other as usize], similarity));
                    if corpus.members(order[turn as usize]).len() > 1 {
                        self.copied.add(self.turns, &mut self.places, turn);
                    }
                }
                None => self.keep(turn, &mut seen),
            }
        }
        self.idle.get_mut().unwrap_or_else(PoisonError::into_inner).push(seen);
    }

    fn take_idle(&self) -> Seen {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        idle.unwrap_or_else(|| Seen::new(self.turns.order.len()))
    }

    fn keep(&mut self, turn: u32, seen: &mut Seen) {
        let (corpus, group) = (self.turns.search.corpus(), self.turns.order[turn as usize]);
        self.is_kept[group as usize] = true;
        // With a reference, documents are compared with it alone.
        if corpus.against() && !corpus.is_first(group) {
            return;
        }
        let (others, mut compared) = self.possible(&self.copied, 0, turn, seen);
        for other in others.into_iter().map(|other| self.turns.order[other as usize]) {
            if let Some(similarity) = self.turns.compared(group, other, (&mut compared, &mut seen.last)) {
                self.edges.push(Edge::between(group, other, similarity));
            }
        }
        self.compared += compared;
        self.kept.add(self.turns, &mut self.places, turn);
    }

    /// The members with at least the turn `from` that share a run with this one and can be similar to it, in the order
    /// of the choice. Also returns the number of comparisons.
    fn possible(&self, members: &Members, from: u32, turn: u32, seen: &mut Seen) -> (Vec<u32>, u64) {
        let Turns { search, evidence, order, .. } = self.turns;
        let (mut others, mut compared, group) = (Vec::new(), 0, order[turn as usize]);
        members.find(self.turns, &self.places, turn, from, |other| {
            let other_group = order[other as usize];
            if seen.is_first(other)
                && search.can_be_similar(evidence, group, other_group, &mut compared)
                && search.corpus().may_pair(group, other_group)
            {
                others.push(other);
            }
        });
        seen.clear();
        others.sort_unstable();
        (others, compared)
    }

    /// The most similar of the kept groups with at least the turn `from`; among equals the first in the order. Also
    /// returns the number of comparisons.
    fn best_since(&self, from: u32, turn: u32, seen: &mut Seen) -> (Best, u64) {
        let order = self.turns.order;
        let (others, mut compared) = self.possible(&self.kept, from, turn, seen);
        let mut best = None::<(u32, Similarity)>;
        for other in others {
            let (a, b) = (order[turn as usize], order[other as usize]);
            if let Some(similarity) = self.turns.compared(a, b, (&mut compared, &mut seen.last))
                && best.is_none_or(|(_, most)| similarity.value() > most.value())
            {
                best = Some((other, similarity));
            }
        }
        (best, compared)
    }
}

/// Where fingerprints are compared, all pairs decide if there are at most this many, and one for each text, of 16 bytes each.
/// Most fingerprints that share a key are not similar, so that lists of what is kept under each key take longer.
const FEW_PAIRS: u64 = 1 << 16;

impl Search<'_> {
    /// Adds edges from which [`Decisions`](super::decisions::Decisions) by this policy, and clusters, are the same as from all edges:
    /// all of them, if fingerprints are compared and there are few; otherwise [those that decide](Self::deciding_edges). Returns the
    /// number of comparisons; `None` if there are many pairs, and only a search with tables finds those that decide. There are no edges
    /// before.
    ///
    /// # Errors
    /// Edges cannot be written.
    pub fn edges_to_keep(
        &self,
        evidence: &Evidence,
        portion: &Portion,
        policy: KeepPolicy,
        found: &mut Found,
    ) -> Result<Option<u64>, Error> {
        if let Evidence::Fingerprints = evidence {
            found.limit(FEW_PAIRS + self.corpus().distinct() as u64);
            let compared = self.edges(evidence, portion, &HotFamilies::default(), found);
            if !found.exceeded() {
                return Ok(Some(compared));
            }
        }
        match self.joins_within() {
            Some(distance) if self.compares_each_with_each() => {
                self.deciding_edges_without_tables(distance, policy, found).map(Some)
            }
            Some(_) => Ok(None),
            None => self.deciding_edges(evidence, policy, found).map(Some),
        }
    }

    /// Adds the edges from which [`Decisions`](super::decisions::Decisions) by this policy, and clusters, are the same as from all
    /// edges. Returns the number of comparisons.
    ///
    /// # Cost
    /// A comparison of each group with each kept group that it shares a key with, and of groups that nothing connects.
    /// Memory: some 8 bytes for each group under each key that several share, as much for each key, and 16 for each of these
    /// groups; where a key is hot and [`HOT_MEMBERS`] of them are kept, also prefixes of the kept sets.
    ///
    /// # Errors
    /// Edges cannot be written.
    fn deciding_edges(&self, evidence: &Evidence, policy: KeepPolicy, found: &Found) -> Result<u64, Error> {
        let runs = Runs::new(self.tables(), self.corpus().distinct(), evidence, self.prefixes_by());
        // A group without a run is kept, and changes nothing for the others.
        let order = &turns::Turns::new(self.corpus(), policy).order(&runs.groups);
        let repeated = self.repeated(evidence, &runs);
        let turns = Turns { search: self, evidence, runs: &runs, order, repeated };
        let mut choice = Choice {
            turns: &turns,
            kept: Members::new(&turns, false),
            copied: Members::new(&turns, true),
            places: vec![0; runs.memberships()],
            is_kept: vec![false; self.corpus().distinct()],
            edges: found.list(self.corpus()),
            compared: 0,
            idle: Mutex::default(),
        };
        let is_first = |&turn: &u32| self.corpus().is_first(order[turn as usize]);
        let (first, rest): (Vec<u32>, Vec<u32>) = (0..order.len() as u32).partition(is_first);
        first.chunks(AT_ONCE).chain(rest.chunks(AT_ONCE)).for_each(|batch| choice.decide(batch));
        let Choice { edges, is_kept, compared, .. } = choice;
        drop(edges);
        let mut connection = Connection::new(&turns, is_kept, found, compared)?;
        connection.connect_runs();
        connection.connect_families();
        Ok(connection.compared)
    }
}

impl Search<'_> {
    /// The elements that more than one group in a hot run has, and the size of the smallest of these sets that is not empty;
    /// `None` without such a run.
    ///
    /// Cost: a step for each element of these groups, whose sets are read once. Memory: at most 16 MiB.
    fn repeated(&self, evidence: &Evidence, runs: &Runs<'_>) -> Option<(Arc<Repeated>, usize)> {
        let (Evidence::Sets(sets), Some(bound)) = (evidence, self.prefixes_by()) else { return None };
        let hot = (0..runs.len() as u32).filter(|&run| runs.is_hot(run));
        let groups = Subset::of(self.corpus().distinct(), hot.flat_map(|run| runs.members(run)).copied());
        if groups.len() == 0 {
            return None;
        }
        let groups: Vec<u32> = groups.iter().collect();
        let elements = groups.par_iter().map(|&group| u64::from(self.corpus().size(group))).sum();
        let repeated = Repeated::new(elements, MOST_REPEATED);
        let size = |&group: &u32| {
            let multiset = sets.get(group);
            let set = bound.weighed(&multiset).elements;
            repeated.add(&set);
            Some(set.len()).filter(|&size| size > 0)
        };
        let smallest = groups.par_iter().filter_map(size).min();
        Some((Arc::new(repeated), smallest.unwrap_or(0)))
    }
}

/// The maximum memory of the elements that several groups have, in bytes.
const MOST_REPEATED: u64 = 16 << 20;

/// The connection of what all edges would connect.
struct Connection<'a> {
    turns: &'a Turns<'a>,
    is_kept: Vec<bool>,
    /// The parts, of the places of groups among those in a run.
    connected: UnionFind<u32>,
    edges: FoundList<'a>,
    compared: u64,
}

impl<'a> Connection<'a> {
    /// After the choice, whose edges connect already.
    fn new(turns: &'a Turns<'a>, is_kept: Vec<bool>, found: &'a Found, compared: u64) -> Result<Self, Error> {
        let mut connected = UnionFind::<u32>::new(turns.runs.groups.len());
        let place = |group| turns.runs.groups.place(group).expect("it is in a run") as u32;
        found.for_each(|edge| _ = connected.union(place(edge.a), place(edge.b)))?;
        Ok(Connection { turns, is_kept, connected, edges: found.list(turns.search.corpus()), compared })
    }

    /// The part of a group that is in a run.
    fn part(&mut self, group: u32) -> u32 {
        let place = self.turns.runs.groups.place(group).expect("it is in a run");
        self.connected.find(place as u32)
    }

    /// Connects two groups. Returns whether they were in different parts.
    fn connect(&mut self, edge: &Edge) -> bool {
        let (a, b) = (self.part(edge.a), self.part(edge.b));
        self.connected.union(a, b)
    }

    /// Whether the members of a run are too many to compare each with each.
    fn is_hot(&self, run: u32) -> bool {
        self.turns.runs.is_hot(run)
    }

    /// Whether two groups may be similar and were not compared by the choice.
    fn is_new(&self, a: u32, b: u32) -> bool {
        let corpus = self.turns.search.corpus();
        // Each kept group was compared with those before it, unless both came first.
        let are_kept = self.is_kept[a as usize] && self.is_kept[b as usize];
        let are_first = corpus.is_first(a) && corpus.is_first(b);
        (!are_kept || are_first) && corpus.may_pair(a, b)
    }

    fn is_open(&self, group: u32) -> bool {
        is_open(self.turns.search.corpus(), &self.is_kept, group)
    }

    /// The members of a run by their parts, if these are several that may have to be connected.
    fn open_parts(&mut self, run: u32) -> Option<Vec<Placed>> {
        let members = self.turns.runs.members(run);
        if !members.iter().any(|&group| self.is_open(group)) {
            return None;
        }
        let placed = |&group: &u32| Placed { part: self.part(group), is_settled: !self.is_open(group), group };
        let mut placed: Vec<Placed> = members.iter().map(placed).collect();
        placed.sort_unstable();
        (placed[0].part != placed[placed.len() - 1].part).then_some(placed)
    }

    fn add(&mut self, (found, compared): (Vec<Edge>, u64)) {
        self.compared += compared;
        for edge in found {
            if self.connect(&edge) {
                self.edges.push(edge);
            }
        }
    }

    /// Compares the parts of each run that is not hot.
    fn connect_runs(&mut self) {
        let runs: Vec<u32> = (0..self.turns.runs.len() as u32).filter(|&run| !self.is_hot(run)).collect();
        for batch in self.turns.runs.batches(&runs) {
            let open: Vec<Vec<Placed>> = batch.iter().filter_map(|&run| self.open_parts(run)).collect();
            let connecting = |last: &mut LastRead, parts: Vec<Placed>| self.connecting(&parts, last);
            let found: Vec<_> = open.into_par_iter().map_init(|| LastRead::within(0), connecting).collect();
            found.into_iter().for_each(|found| self.add(found));
        }
    }

    /// Edges between the parts of a run until all that are similar are connected.
    fn connecting(&self, placed: &[Placed], last: &mut LastRead) -> (Vec<Edge>, u64) {
        let Turns { search, evidence, .. } = self.turns;
        // Of each part the groups that are open, and the others.
        let parts = placed.chunk_by(|a, b| a.part == b.part);
        let parts: Vec<(&[Placed], &[Placed])> =
            parts.map(|part| part.split_at(part.partition_point(|placed| !placed.is_settled))).collect();
        let (mut connected, mut edges, mut compared) = (UnionFind::<u32>::new(parts.len()), Vec::new(), 0);
        for (number, (open, settled)) in (0..).zip(&parts).filter(|(_, (open, _))| !open.is_empty()) {
            for (other, (other_open, other_settled)) in (0..).zip(&parts) {
                // Two parts with open groups meet once.
                let meets = other < number || (other > number && other_open.is_empty());
                if !meets || connected.same(number, other) {
                    continue;
                }
                let all = || other_open.iter().chain(*other_settled);
                let pairs = open.iter().flat_map(|a| all().map(move |b| (a.group, b.group)));
                let rest = settled.iter().flat_map(|a| other_open.iter().map(move |b| (a.group, b.group)));
                let mut similar = pairs.chain(rest).filter(|&(a, b)| self.is_new(a, b)).filter_map(|(a, b)| {
                    let can_be = search.can_be_similar(evidence, a, b, &mut compared);
                    let similarity = if can_be { self.turns.compared(a, b, (&mut compared, &mut *last)) } else { None };
                    similarity.map(|similarity| Edge::between(a, b, similarity))
                });
                if let Some(edge) = similar.next() {
                    connected.union(number, other);
                    edges.push(edge);
                }
            }
        }
        (edges, compared)
    }

    /// Compares groups of hot runs with all others of their family: the fewer of those that the largest part does not contain,
    /// and of those that are open.
    fn connect_families(&mut self) {
        let (Some(mut families), Evidence::Sets(sets)) = (self.turns.families(), self.turns.evidence) else {
            return;
        };
        for run in 0..self.turns.runs.len() as u32 {
            if self.is_hot(run) && self.open_parts(run).is_some() {
                let set = |group| Ok::<_, Infallible>(sets.get(group));
                let Ok(()) = families.make_hot(run.into(), self.turns.runs.members(run), set);
            }
        }
        for family in 0..families.len() as u32 {
            let members: Vec<u32> = families.members(family).collect();
            let outside = self.outside_largest_part(&members);
            let open: Vec<u32> = members.iter().copied().filter(|&group| self.is_open(group)).collect();
            for group in if outside.len() <= open.len() { outside } else { open } {
                self.connect_one(&families, family, group, &sets.get(group));
            }
        }
    }

    /// The groups that are not in the part with most of them.
    fn outside_largest_part(&mut self, groups: &[u32]) -> Vec<u32> {
        let mut parts: Vec<(u32, u32)> = groups.iter().map(|&group| (self.part(group), group)).collect();
        parts.sort_unstable();
        let parts = parts.chunk_by(|a, b| a.0 == b.0);
        // Among equals the first.
        let largest = parts.clone().max_by_key(|part| (part.len(), !part[0].0)).map(|part| part[0].0);
        parts.filter(|part| Some(part[0].0) != largest).flatten().map(|&(_, group)| group).collect()
    }

    /// Adds edges between a group and those of its family that nothing connects with it.
    fn connect_one(&mut self, families: &Families, family: u32, group: u32, set: &[u64]) {
        let Turns { search, evidence, .. } = *self.turns;
        let (others, mut last) = (families.find(family, set, |_| Wanted::Yes), LastRead::within(0));
        for other in others.expect("it is in memory") {
            if self.is_new(group, other)
                && self.part(group) != self.part(other)
                && search.can_be_similar(evidence, group, other, &mut self.compared)
                && let Some(similarity) = self.turns.compared(group, other, (&mut self.compared, &mut last))
            {
                let edge = Edge::between(group, other, similarity);
                self.connect(&edge);
                self.edges.push(edge);
            }
        }
    }
}

/// A member of a run, for the order of its parts: in each, the groups that are open come first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Placed {
    part: u32,
    is_settled: bool,
    group: u32,
}

/// Whether a group may have to be connected with others: one group of each pair that was not compared by the choice is open.
/// Kept groups were compared with each other, unless both came [first](Corpus::is_first); of two that have only documents of the
/// reference, no pair is looked for.
pub(super) fn is_open(corpus: &Corpus, is_kept: &[bool], group: u32) -> bool {
    !is_kept[group as usize] || (corpus.is_first(group) && !corpus.is_reference_only(group))
}
