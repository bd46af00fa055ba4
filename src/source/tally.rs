//! What a path yields, counted while its batches are parsed.

use super::counts::Counts;
use super::{Document, Problem, Severity};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// What the batches of a path yield. Any threads may add to it.
#[derive(Debug, Default)]
pub(super) struct Tally {
    /// The number of batches that count for it.
    batches: AtomicU64,
    /// Whether a document has more than white space.
    has_text: AtomicBool,
    rejected: Mutex<Rejected>,
}

/// What was not read, however often it is parsed.
#[derive(Debug, Default)]
struct Rejected {
    /// The first, with the numbers of its batch and record.
    first: Option<((u64, u32), String)>,
    has_others: bool,
}

impl Tally {
    /// Numbers a batch, and returns the tally with its number.
    pub fn numbered(self: &Arc<Self>) -> (Arc<Self>, u64) {
        (Arc::clone(self), self.batches.fetch_add(1, Ordering::Relaxed))
    }

    /// Adds a record, given the numbers of its batch and of itself.
    pub fn take(&self, number: (u64, u32), read: &Result<Document<'_>, Problem>) {
        match read {
            _ if self.has_text() => {}
            Ok(document) => {
                if !document.text.trim().is_empty() {
                    self.has_text.store(true, Ordering::Relaxed);
                }
            }
            Err(problem) if problem.severity < Severity::Skipped => {}
            Err(problem) => {
                let mut rejected = self.rejected.lock().unwrap_or_else(PoisonError::into_inner);
                let Rejected { first, has_others } = &mut *rejected;
                *has_others |= first.as_ref().is_some_and(|(known, _)| *known != number);
                if first.as_ref().is_none_or(|(known, _)| number < *known) {
                    *first = Some((number, problem.to_string()));
                }
            }
        }
    }

    /// Whether a document had a text.
    pub fn has_text(&self) -> bool {
        self.has_text.load(Ordering::Relaxed)
    }

    /// Why none had, given what was counted of the path.
    pub fn why_none(&self, counts: &Counts) -> String {
        let rejected = self.rejected.lock().unwrap_or_else(PoisonError::into_inner);
        match &rejected.first {
            Some((_, first)) if rejected.has_others => format!("{first}, and others"),
            Some((_, first)) => first.clone(),
            None if counts.files > 0 => "it is empty".to_string(),
            None if *counts == Counts::default() => "it holds no files".to_string(),
            None => counts.why_none((0, 0)),
        }
    }
}
