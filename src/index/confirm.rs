//! Confirming what a run remembered without ids: see unconfirmed.rs.

use super::signature::Signed;
use super::unconfirmed::{Left, is_unnamed};
use super::{Index, Mode, Sync};
use crate::error::Error;
use std::collections::BTreeSet;
use std::time::Instant;

impl Index {
    /// Whether a run that remembered documents without ids was interrupted, and noted which of them have left: one with the tokens of another passes
    /// again, once ([`Decision::Unconfirmed`](super::Decision::Unconfirmed)). Otherwise it is a duplicate.
    pub fn has_unconfirmed(&self) -> bool {
        !self.unconfirmed.is_empty()
    }

    /// Whether the last run was interrupted after it remembered a document without an id, and did not note which of them have left, as
    /// earlier versions do: what it did not write is dropped when it is fed again.
    ///
    /// # Errors
    /// The last document cannot be read.
    pub fn drops_unwritten(&mut self) -> Result<bool, Error> {
        match self.tables.places.last() {
            Some(&last) if self.was_interrupted && !self.has_unconfirmed() => Ok(is_unnamed(&self.log.read(last)?.id)),
            _ => Ok(false),
        }
    }

    /// After a run that failed: what it remembered without an id may not have left, and passes again.
    pub(crate) fn doubt(&mut self) {
        if let Left::Before(left) = self.log.left {
            (self.unconfirmed, self.passed_again) = (left..self.log.len().max(left), BTreeSet::new());
            self.leaving.restart();
        }
    }

    /// Whether documents leave after they are remembered, one by one.
    pub(super) fn is_followed_by_output(&self) -> bool {
        // What is kept aside is added as a whole.
        self.mode == Mode::Filter && self.log.is_stored() && self.log.aside_from().is_none()
    }

    /// Whether a document has no id and is an unconfirmed one that comes for the first time since.
    pub(super) fn confirms(&mut self, id: &str, signature: Signed<'_>) -> Result<bool, Error> {
        let unconfirmed = self.unconfirmed.clone();
        if unconfirmed.is_empty() || !is_unnamed(id) || !self.is_followed_by_output() {
            return Ok(false);
        }
        let mut again = std::mem::take(&mut self.passed_again);
        let found = self.search().unnamed(signature, |place| unconfirmed.contains(&place) && !again.contains(&place));
        if let Ok(Some(place)) = found {
            again.insert(place);
        }
        self.passed_again = again;
        Ok(found?.is_some())
    }

    /// Notes up to where documents without ids have left, if it is time.
    pub(super) fn note_left(&mut self) {
        let left = match self.log.left {
            Left::Before(_) => self.leaving.next(Instant::now),
            Left::Unknown | Left::All => Some(self.log.next_place()),
        };
        if let Some(left) = left {
            self.log.note_left(Left::Before(left));
            // All before this run, too.
            (self.unconfirmed, self.passed_again) = (0..0, BTreeSet::new());
        }
        self.leaving.add();
    }

    /// Whether the end of this run will confirm documents, if it ends by itself, and what it writes is to be on the disk.
    pub(crate) fn will_confirm(&self) -> bool {
        self.has_unnamed && matches!(self.log.left, Left::Before(_)) && self.sync != Sync::Off
    }

    /// A run has ended by itself: if it had documents without ids, all have left.
    pub(super) fn confirm_all(&mut self) {
        if self.has_unnamed && matches!(self.log.left, Left::Before(_)) {
            self.log.note_left(Left::All);
            (self.unconfirmed, self.passed_again) = (0..0, BTreeSet::new());
        }
    }
}
