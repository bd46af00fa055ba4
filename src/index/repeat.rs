//! Repeating the decisions from before an interruption.
//!
//! With `--window` or `--expire`, a decision depends on when it is made. After a crash the stream is fed again, from
//! the line after the last one that arrived, while the log may already hold later documents. By then, a document may
//! have left the window that an earlier one was dropped for. A decision by the current content of the index would let
//! that earlier document pass.
//!
//! Therefore a run that forgets logs every decision, in input order. A document that passes is an entry of the log
//! anyway. One that is dropped, or that passes again, leaves a *note*: a hash of its id and its tokens, and the place
//! of the document that it is similar to. After opening, the input is taken for a repetition as long as it matches, in
//! order, the decisions in the log after some point. It is then decided as before: by the log, not by the tables. So
//! nothing is written, nothing is forgotten, and no table grows. If a repetition is interrupted, the next one finds the
//! same log. The first document that is not ahead in the log ends the repetition. From there on, decisions are made
//! with the index at the end of the log, where the interrupted run was.
//!
//! A run that ends by itself, or by a signal, has released all its decisions. It logs that too, and its decisions are
//! not repeated.
//!
//! Bounds: a repetition may begin [`DECISIONS_KEPT`] decisions back, and twice the window of documents more. A crash of
//! the program alone loses less than a batch, which has fewer. Notes that no document follows are left with the operating
//! system, up to a MiB of them, unless each batch is synced (`Sync::Always`): a power failure may lose them. The index has
//! not changed since, so those documents are decided on as before if they are fed again at once. Fed again later, one may
//! pass whose original has expired or left the window by then.
//!
//! Where the same id with the same text was decided on more than once within those bounds, it may be unclear where a
//! repetition begins, or whether it is one at all: a page may be crawled again just after a crash. While this is
//! unclear, a document passes if it passed at one of these places, because a duplicate is better than a loss. Streams
//! in which every document has an id of its own are exact. One without an id is named by its tokens alone.
//! If the log says that it passed, it passes. It also does if it was dropped for a document that is forgotten by now, because it may be another
//! one with the same tokens.
//!
//! In the log, a note is an entry that removes documents at places that no file has: from 2⁶³ on. A program that does
//! not know notes finds no documents there, and removes none.

use super::entry::{Entry, NO_PLACE};
use super::unconfirmed::{identity, is_before};
use crate::hash::combine;
use std::collections::{BTreeSet, VecDeque};
use xxhash_rust::xxh3::xxh3_64;

/// The number of decisions that a repetition may reach back, without a window.
pub(super) const DECISIONS_KEPT: usize = if cfg!(test) { 1 << 14 } else { 1 << 16 };

/// The following decisions are by a run that writes notes.
pub(super) const BEGIN: u64 = u64::MAX - 1;

/// All decisions were released.
pub(super) const END: u64 = u64::MAX;

/// The note is not a decision: it marks a place of the log for a checkpoint, with a digest of everything before it.
pub(super) const DIGEST: u64 = u64::MAX - 2;

/// The hash of a document's id and tokens.
pub(super) fn id_hash(id: &str, sequence: u128) -> u64 {
    combine(xxh3_64(id.as_bytes()), sequence as u64)
}

/// The hash of a document in a note: never [`BEGIN`], [`END`] or [`DIGEST`], and never a place. Of one without an id, it is that of its tokens.
pub(super) fn name(id: &str, sequence: u128) -> u64 {
    NO_PLACE | id_hash(identity(id), sequence) >> 2
}

/// A decision in the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Past {
    pub name: u64,
    /// The place of the document that it was dropped for; `None` if it passed.
    pub original: Option<u64>,
}

impl Past {
    /// The two words of its note.
    pub fn words(self) -> [u64; 2] {
        [self.name, NO_PLACE | self.original.unwrap_or(0)]
    }

    fn of_words([name, original]: [u64; 2]) -> Self {
        // The file begins at 0, so no document is there.
        Past { name, original: Some(original & !NO_PLACE).filter(|&place| place > 0) }
    }

    /// The notes of an entry. An incomplete pair is ignored.
    pub fn all(words: &[u64]) -> impl Iterator<Item = Past> {
        words.as_chunks().0.iter().map(|&pair| Past::of_words(pair))
    }
}

/// Whether the notes of an entry at a place are of documents before it.
pub(super) fn are_before(words: &[u64], place: u64) -> bool {
    match words {
        [BEGIN | END] | [DIGEST, ..] => true,
        [word] => is_before(*word, place),
        _ => Past::all(words).all(|past| past.original.is_none_or(|original| original < place)),
    }
}

/// A place of a log from which reading it yields all decisions that may be repeated. Without it, opening an index would read everything
/// since the first run that noted decisions.
#[derive(Clone, Debug, Default)]
pub(super) struct Recent {
    /// Places of entries, ascending, and how many decisions were logged before each.
    starts: VecDeque<(u64, u64)>,
    /// The number of decisions logged since the beginning.
    count: u64,
    /// The number of decisions that must follow the first place before it moves; with 0 it never does.
    most: usize,
    /// At least so many of the last decisions follow the first place, or all that there are; `None` if all do.
    follow: Option<u64>,
}

impl Recent {
    /// Of a part that begins at a place.
    pub fn new(begin: u64, most: usize) -> Self {
        Recent { starts: VecDeque::from([(begin, 0)]), count: 0, most, follow: None }
    }

    /// The place.
    pub fn first(&self) -> u64 {
        self.starts.front().map_or(0, |&(place, _)| place)
    }

    /// How many of the last decisions follow it at least; `None` if all do.
    pub fn follow(&self) -> Option<u64> {
        self.follow
    }

    /// The number of decisions logged since the beginning.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Whether the place of the next entry is wanted: see [`pass`](Self::pass).
    pub fn is_due(&self) -> bool {
        let step = (self.most / 8).max(1) as u64;
        self.most > 0 && self.starts.back().is_none_or(|&(_, before)| self.count - before >= step)
    }

    /// Notes the place of the next entry, if it is due. All decisions so far are before it.
    pub fn pass(&mut self, place: u64) {
        if self.is_due() {
            self.starts.push_back((place, self.count));
            while self.starts.get(1).is_some_and(|&(_, before)| self.count - before >= self.most as u64) {
                self.starts.pop_front();
                self.follow = Some(self.most as u64);
            }
        }
    }

    /// Counts a decision.
    pub fn add(&mut self) {
        self.count += 1;
    }
}

/// The last decisions of a log, while it is read.
#[derive(Debug, Default)]
pub(super) struct Tail {
    /// Whether the end of the log is a part with decisions.
    pub is_on: bool,
    /// The place of the entry that begins this part, or from which it is read.
    pub begin: u64,
    /// Where the last decisions of this part begin.
    recent: Recent,
    most: usize,
    past: VecDeque<Past>,
    /// The places of documents that were removed since.
    removed: BTreeSet<u64>,
}

impl Tail {
    /// Keeps at most this many.
    pub fn new(most: usize) -> Self {
        Tail { most, ..Tail::default() }
    }

    /// Whether it keeps decisions.
    pub fn keeps_some(&self) -> bool {
        self.most > 0
    }

    /// An empty one that keeps as many.
    pub fn like(&self) -> Self {
        Tail::new(self.most)
    }

    /// Begins a part with decisions at this place.
    fn begin(&mut self, place: u64) {
        *self = Tail { is_on: true, begin: place, recent: Recent::new(place, self.most), ..self.like() };
    }

    /// Continues a part with decisions at a place that at least so many of them `follow`, or all. Returns whether these are enough.
    pub fn begin_at(&mut self, place: u64, follow: Option<u64>) -> bool {
        self.begin(place);
        self.recent.follow = follow;
        follow.is_none_or(|follow| self.most as u64 <= follow)
    }

    /// The number of decisions logged since it [begins](Self::begin).
    pub fn count(&self) -> u64 {
        self.recent.count()
    }

    /// Where the last decisions begin, if the end of the log is a part with decisions.
    pub fn recent(&self) -> Option<Recent> {
        self.is_on.then(|| self.recent.clone())
    }

    /// Whether the document at a place was removed since the decisions.
    pub fn is_removed(&self, place: u64) -> bool {
        self.removed.contains(&place)
    }

    /// Continues with the entry at a place.
    pub fn read(&mut self, place: u64, entry: &Entry) {
        if self.is_on {
            self.recent.pass(place);
        }
        match entry {
            Entry::Document(record) if self.is_on && !record.is_added => {
                self.push(Past { name: name(&record.id, record.sequence), original: None });
            }
            Entry::Notes(words) => match words[..] {
                [BEGIN] => self.begin(place),
                [END] => *self = self.like(),
                [DIGEST, ..] => {}
                _ if self.is_on => Past::all(words).for_each(|past| self.push(past)),
                _ => {}
            },
            Entry::Removed(places) if self.is_on && self.most > 0 => self.removed.extend(places),
            _ => {}
        }
    }

    fn push(&mut self, past: Past) {
        self.recent.add();
        if self.past.len() >= self.most {
            self.past.pop_front();
        }
        if self.most > 0 {
            self.past.push_back(past);
        }
    }

    /// The last decisions, the oldest first.
    pub fn past(&self) -> impl ExactSizeIterator<Item = Past> {
        self.past.iter().copied()
    }
}

/// The maximum number of places that are followed at once.
const PLACES: usize = 256;

/// The decisions of an interrupted run, while its input is fed again.
#[derive(Debug)]
pub(super) struct Repetition {
    past: Vec<Past>,
    /// The hashes of the documents, ascending, each with the number of its decision.
    names: Vec<(u64, u32)>,
    /// The possible positions of the last document that was fed. Empty before the first one.
    at: Vec<u32>,
}

impl Repetition {
    /// `None` if there is nothing to repeat.
    pub fn new(past: Vec<Past>) -> Option<Self> {
        let mut names: Vec<(u64, u32)> = past.iter().map(|past| past.name).zip(0..).collect();
        names.sort_unstable();
        (!past.is_empty()).then_some(Repetition { past, names, at: Vec::new() })
    }

    /// The decision on the next document. `None` if the log does not have it, or not ahead.
    pub fn next(&mut self, name: u64) -> Option<Past> {
        let first = self.at.iter().min().map_or(0, |&at| at as usize + 1);
        let past = &self.past;
        self.at.retain_mut(|at| {
            *at += 1;
            past.get(*at as usize).is_some_and(|past| past.name == name)
        });
        if self.at.is_empty() {
            let start = self.names.partition_point(|&(other, number)| (other, number as usize) < (name, first));
            let same = self.names[start..].iter().take_while(|(other, _)| *other == name);
            // The last positions, if there are more than are followed: a crash that loses fewer lines is more likely.
            let count = same.clone().count();
            self.at.extend(same.skip(count.saturating_sub(PLACES)).map(|&(_, number)| number));
        }
        let met = || self.at.iter().map(|&at| self.past[at as usize]);
        met().find(|past| past.original.is_none()).or_else(|| met().next_back())
    }

    /// Whether the repetition is over.
    pub fn is_over(&self) -> bool {
        !self.at.is_empty() && self.at.iter().all(|&at| at as usize + 1 == self.past.len())
    }

    /// Bytes of memory.
    pub fn bytes_held(&self) -> u64 {
        (size_of_val(&*self.past) + size_of_val(&*self.names)) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// A part of a log is read in runs that begin at the place that was kept, with the same number of decisions or without any. The
        /// oracle is the list of all entries.
        #[test]
        fn the_last_decisions_follow_the_place(
            runs in prop::collection::vec((prop::collection::vec(0usize..5, 0..40), any::<bool>()), 1..6),
            most in 1usize..40,
        ) {
            let mut entries = vec![(10, vec![BEGIN])];
            let mut kept: Option<(u64, Option<u64>)> = None;
            for (counts, keeps) in runs {
                let mut tail = Tail::new(if keeps { most } else { 0 });
                let from = kept.map_or(0, |(place, follow)| {
                    assert!(tail.begin_at(place, follow), "too few");
                    place
                });
                for count in counts {
                    let place = 10 * (entries.len() as u64 + 1);
                    entries.push((place, (0..2 * count as u64).map(|at| NO_PLACE | place << 8 | at).collect()));
                }
                for (place, words) in entries.iter().filter(|(place, words)| *place >= from && !words.is_empty()) {
                    tail.read(*place, &Entry::Notes(words.clone()));
                }
                let recent = tail.recent().unwrap();
                kept = Some((recent.first(), recent.follow()));
                let decisions = |from: u64| entries[1..].iter().filter(|(place, _)| *place >= from).map(|(_, words)| words.len() / 2).sum::<usize>();
                let (after, all) = (decisions(recent.first()), decisions(0));
                match recent.follow() {
                    None => prop_assert_eq!(after, all),
                    Some(follow) => prop_assert!(follow as usize == most && after >= most),
                }
                // As far as entries reach, it is not much more.
                prop_assert!(!keeps || after <= most + most.div_ceil(8) + most / 8 + 10 || after == all, "{} of {}", after, all);
                prop_assert!(!keeps || tail.past().len() == most.min(all));
            }
        }
    }

    #[test]
    fn more_decisions_than_follow_a_place_are_not_there() {
        assert!(
            Tail::new(7).begin_at(3, None) && Tail::new(7).begin_at(3, Some(7)) && Tail::new(0).begin_at(3, Some(7))
        );
        assert!(!Tail::new(8).begin_at(3, Some(7)));
    }
}
