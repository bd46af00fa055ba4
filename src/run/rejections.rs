//! Records and files that are not documents, because they were rejected.

use super::places::{At, Places};
use crate::source::{Problem, Severity};
use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::Arc;

/// Rejected records and files, in input order. Takes some 30 bytes each in addition to their names; equal messages are stored once.
#[derive(Default)]
pub(crate) struct Rejections {
    /// The number of documents before each.
    before: Vec<u32>,
    places: Places,
    /// The id of each, or its location if there is none, back to back, and where it ends.
    labels: String,
    label_ends: Vec<usize>,
    /// Whether it has an id of its own, and whether it was skipped by rule.
    flags: Vec<(bool, bool)>,
    /// Why each was rejected, by its number among the messages.
    reasons: Vec<u32>,
    messages: Vec<Arc<str>>,
    numbers: HashMap<Arc<str>, u32>,
    /// Bytes of the messages. Counted as they are added, because the size is requested for each batch.
    message_bytes: usize,
}

/// A record in input order.
pub(crate) enum Recorded<'a> {
    /// A document, by its number.
    Document(u32),
    Rejected(Rejection<'a>),
}

/// A rejected record or file.
pub(crate) struct Rejection<'a> {
    /// Its id, or its location if it has none.
    pub id: &'a str,
    pub at: At<'a>,
    pub why: &'a str,
    /// Whether it was rejected by rule, so that it counts as skipped, not as failed.
    pub is_skipped: bool,
}

impl Rejections {
    /// Adds the records that a problem rejected, with so many documents before them.
    pub fn push(&mut self, before: u32, problem: &Problem) {
        let next = self.messages.len() as u32;
        let number = self.numbers.get(&*problem.message).copied().unwrap_or_else(|| {
            let message: Arc<str> = problem.message.as_str().into();
            self.messages.push(Arc::clone(&message));
            // Two counters are stored with the text, and two pointers to it.
            self.message_bytes += message.len() + size_of::<([usize; 2], [&str; 2], u32)>();
            self.numbers.insert(message, next);
            next
        });
        for place in problem.places() {
            self.before.push(before);
            self.places.push(&place);
            match &problem.id {
                Some(id) => self.labels.push_str(id),
                None => _ = write!(self.labels, "{place}"),
            }
            self.label_ends.push(self.labels.len());
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

    /// These and documents, whose numbers ascend, in input order.
    pub fn merged(&self, documents: impl Iterator<Item = u32>) -> impl Iterator<Item = Recorded<'_>> {
        let (mut rejections, mut documents) = ((0..self.len()).peekable(), documents.peekable());
        std::iter::from_fn(move || {
            let document = documents.peek().copied();
            let comes_before = |&next: &usize| document.is_none_or(|document| self.before[next] <= document);
            match rejections.next_if(comes_before) {
                Some(rejection) => Some(Recorded::Rejected(self.get(rejection))),
                None => documents.next().map(Recorded::Document),
            }
        })
    }

    /// One of them.
    pub fn get(&self, number: usize) -> Rejection<'_> {
        let start = number.checked_sub(1).map_or(0, |before| self.label_ends[before]);
        Rejection {
            id: &self.labels[start..self.label_ends[number]],
            at: self.places.at(number as u32),
            why: &self.messages[self.reasons[number] as usize],
            is_skipped: self.flags[number].1,
        }
    }

    /// Bytes of memory.
    pub fn bytes_held(&self) -> u64 {
        let each = size_of::<(u32, u32, usize, (bool, bool), u32)>() * self.before.len();
        (each + self.labels.len() + self.message_bytes) as u64
    }
}
