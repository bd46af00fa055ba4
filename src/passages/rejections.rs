//! Records and files that are not documents, because they were rejected.

use super::locate::Places;
use crate::source::{Problem, Severity};
use std::collections::HashMap;
use std::fmt::Write as _;

/// Rejected records and files, in input order. Takes some 30 bytes each in addition to their names; equal messages are stored once.
#[derive(Default)]
pub(super) struct Rejections {
    /// The number of documents before each.
    before: Vec<u32>,
    places: Places,
    /// The id of each, or its place if there is none, back to back, and where it ends.
    ids: String,
    id_ends: Vec<usize>,
    /// Whether it has an id of its own, and whether it was skipped by rule.
    flags: Vec<(bool, bool)>,
    /// Why each was rejected, by its number among the messages.
    reasons: Vec<u32>,
    messages: Vec<String>,
    numbers: HashMap<String, u32>,
}

/// A rejected record or file.
pub(super) struct Rejection<'a> {
    pub id: &'a str,
    pub place: (&'a str, Option<u64>),
    pub why: &'a str,
    pub is_skipped: bool,
}

impl Rejections {
    /// Adds the records that a problem rejected, with so many documents before them.
    pub fn push(&mut self, before: u32, problem: &Problem) {
        let next = self.messages.len() as u32;
        let number = *self.numbers.entry(problem.message.clone()).or_insert(next);
        if number == next {
            self.messages.push(problem.message.clone());
        }
        for place in problem.places() {
            self.before.push(before);
            self.places.push(&place);
            match &problem.id {
                Some(id) => self.ids.push_str(id),
                None => _ = write!(self.ids, "{place}"),
            }
            self.id_ends.push(self.ids.len());
            self.flags.push((problem.id.is_some(), problem.severity == Severity::Skipped));
            self.reasons.push(number);
        }
    }

    /// Their number.
    pub fn len(&self) -> usize {
        self.before.len()
    }

    /// The ids of those whose id could be read.
    pub fn own_ids(&self) -> impl Iterator<Item = &str> {
        (0..self.len()).filter(|&number| self.flags[number].0).map(|number| self.get(number).id)
    }

    /// The number of documents before one.
    pub fn before(&self, number: usize) -> u32 {
        self.before[number]
    }

    /// One of them.
    pub fn get(&self, number: usize) -> Rejection<'_> {
        let start = number.checked_sub(1).map_or(0, |before| self.id_ends[before]);
        Rejection {
            id: &self.ids[start..self.id_ends[number]],
            place: self.places.get(number as u32).expect("there is one for each"),
            why: &self.messages[self.reasons[number] as usize],
            is_skipped: self.flags[number].1,
        }
    }
}
