//! What was decided before an interruption, decided the same again.
//!
//! With `--window` or `--expire` a decision depends on when it is made. After a crash the stream is fed again from the line behind the
//! last one that arrived, while the log may already hold what came after it: by then a document may have left the window that an earlier
//! one was dropped for, and a decision by what the index holds *now* would let that one through.
//!
//! So a run that forgets writes down every decision, in input order: a document that is let through is an entry of the log anyway; one
//! that is dropped, or comes again and passes, leaves a *note*: a hash of its id and its tokens, and where the document stands that it is
//! like. After opening, what is fed is taken for a repetition as long as it matches, in order, what the log says was decided behind some
//! point, and is decided as it was then: by the log, not by the tables. So nothing is written, nothing is forgotten and no table holds
//! more than before; whatever interrupts a repetition, the next one finds the same log. The first document that is not ahead in the log
//! ends it: from there on decisions are made with the index as the log ends, which is where the interrupted run was.
//!
//! A run that ends by itself, or by a signal, has handed over all that it decided on. It writes that too, and nothing is taken for a
//! repetition of it.
//!
//! Bounds: a repetition may begin [`MOST`] decisions back, and twice the window of documents more. A crash of the program alone loses
//! less than a batch, which has fewer than that. Notes that are not followed by a document may be lost in a crash: the index has not
//! changed since, so that those documents are decided on again as before, unless one that they are like expired in between.
//!
//! Where the same id with the same text was decided on more than once within those bounds, it is not always clear where a repetition
//! begins, or whether it is one at all: a page may be crawled again just after a crash. As long as it is not clear, a document passes if
//! it passed at one of these places: rather once too often than never. Streams in which every document has an id of its own are exact.
//!
//! In the log a note is an entry that removes documents, at places that no file has: from 2⁶³ on. Who does not know notes finds no
//! documents there, and removes none.

use super::entry::{Entry, NO_PLACE};
use super::id_hash;
use std::collections::VecDeque;

/// So many decisions back a repetition may begin, at least.
pub(super) const MOST: usize = 1 << 16;

/// What follows was decided by a run that writes notes.
pub(super) const BEGIN: u64 = u64::MAX - 1;

/// All that was decided was handed over.
pub(super) const END: u64 = u64::MAX;

/// A word for a document: never [`BEGIN`] or [`END`], never a place.
pub(super) fn name(id: &str, sequence: u128) -> u64 {
    NO_PLACE | id_hash(id, sequence) >> 2
}

/// A decision of which the log tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Past {
    pub name: u64,
    /// Where the document stands that it was dropped for; `None` if it was let through.
    pub original: Option<u64>,
}

impl Past {
    /// The two words of its note.
    pub fn words(self) -> [u64; 2] {
        [self.name, NO_PLACE | self.original.unwrap_or(0)]
    }

    fn of_words([name, original]: [u64; 2]) -> Self {
        // At 0 the file begins, and no document.
        Past { name, original: Some(original & !NO_PLACE).filter(|&place| place > 0) }
    }

    /// The notes of an entry. What is no pair is passed over.
    pub fn all(words: &[u64]) -> impl Iterator<Item = Past> {
        words.as_chunks().0.iter().map(|&pair| Past::of_words(pair))
    }
}

/// The last decisions of a log, while it is read.
#[derive(Debug, Default)]
pub(super) struct Tail {
    /// Whether decisions are written down at its end.
    pub is_on: bool,
    /// Where the entry is that says so.
    pub begin: u64,
    /// How many decisions were written down since.
    pub count: u64,
    most: usize,
    past: VecDeque<Past>,
}

impl Tail {
    /// Keeps at most so many.
    pub fn new(most: usize) -> Self {
        Tail { most, ..Tail::default() }
    }

    /// Goes on with the entry at a place.
    pub fn read(&mut self, place: u64, entry: &Entry) {
        match entry {
            Entry::Document(record) if self.is_on && !record.is_added => {
                self.push(Past { name: name(&record.id, record.sequence), original: None });
            }
            Entry::Notes(words) => match words[..] {
                [BEGIN] => *self = Tail { is_on: true, begin: place, ..Tail::new(self.most) },
                [END] => *self = Tail::new(self.most),
                _ if self.is_on => Past::all(words).for_each(|past| self.push(past)),
                _ => {}
            },
            _ => {}
        }
    }

    fn push(&mut self, past: Past) {
        self.count += 1;
        if self.past.len() >= self.most {
            self.past.pop_front();
        }
        if self.most > 0 {
            self.past.push_back(past);
        }
    }

    /// The last of them, the oldest first.
    pub fn past(&self) -> impl ExactSizeIterator<Item = Past> {
        self.past.iter().copied()
    }
}

/// At most so many places are followed at once.
const PLACES: usize = 256;

/// What was decided, while it is fed again.
#[derive(Debug)]
pub(super) struct Repetition {
    past: Vec<Past>,
    /// Their names, ascending, each with its number.
    names: Vec<(u64, u32)>,
    /// Where the document that was fed last may be. Empty before the first one.
    at: Vec<u32>,
}

impl Repetition {
    /// `None` if there is nothing to repeat.
    pub fn new(past: Vec<Past>) -> Option<Self> {
        let mut names: Vec<(u64, u32)> = past.iter().map(|past| past.name).zip(0..).collect();
        names.sort_unstable();
        (!past.is_empty()).then_some(Repetition { past, names, at: Vec::new() })
    }

    /// What was decided on the next document. `None` if the log does not have it, or not ahead.
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
            // The last ones, if there are more than are followed: the fewer lines were lost, the likelier.
            let count = same.clone().count();
            self.at.extend(same.skip(count.saturating_sub(PLACES)).map(|&(_, number)| number));
        }
        let met = || self.at.iter().map(|&at| self.past[at as usize]);
        met().find(|past| past.original.is_none()).or_else(|| met().next_back())
    }

    /// Whether nothing is left of it.
    pub fn is_over(&self) -> bool {
        !self.at.is_empty() && self.at.iter().all(|&at| at as usize + 1 == self.past.len())
    }

    /// Bytes of memory.
    pub fn bytes_held(&self) -> u64 {
        (size_of_val(&*self.past) + size_of_val(&*self.names)) as u64
    }
}
