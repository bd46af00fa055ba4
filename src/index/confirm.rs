//! Confirming what a run remembered: see unconfirmed.rs.

use super::awaited::Awaited;
use super::repeat::id_hash;
use super::signature::Signed;
use super::unconfirmed::{Left, identity, is_unnamed};
use super::{Decision, Index, Mode, Sync};
use crate::error::Error;
use std::collections::BTreeSet;

impl Index {
    /// Whether a run that remembered documents was interrupted, and noted which of them have left: one of the others passes again if it is
    /// fed again, once ([`Decision::Unconfirmed`]).
    pub fn has_unconfirmed(&self) -> bool {
        !self.unconfirmed.is_empty()
    }

    /// From now on, documents are those of a stream: each leaves by itself after it was remembered, whether it has an id or not; those that
    /// are [known](Decision::Known) perhaps do not.
    pub(crate) fn begin_stream(&mut self, drops_known: bool) {
        (self.is_of_stream, self.drops_known) = (true, drops_known);
    }

    /// Whether the last run was interrupted and did not note which documents have left, as earlier versions do, and the Python package. Where
    /// known documents are dropped, so is what it remembered and did not write. A run that only added documents wrote none.
    pub fn noted_nothing(&self) -> bool {
        self.was_interrupted && !self.was_adding && !matches!(self.log.left, Left::Before(_))
    }

    /// As [`noted_nothing`](Self::noted_nothing), if the last document has no id: what of those was not written is dropped when it is fed again.
    ///
    /// # Errors
    /// The last document cannot be read.
    pub fn drops_unwritten(&mut self) -> Result<bool, Error> {
        match self.tables.places.last() {
            Some(&last) if self.noted_nothing() => Ok(is_unnamed(&self.log.read(last)?.id)),
            _ => Ok(false),
        }
    }

    /// After a run that failed: what it remembered may not have left, and passes again.
    pub(crate) fn doubt(&mut self) {
        if let Left::Before(left) = self.log.left {
            (self.unconfirmed, self.passed_again) = (left..self.log.len().max(left), BTreeSet::new());
            self.awaited = None;
            self.leaving.restart();
        }
    }

    /// Whether documents leave after they are remembered, one by one.
    pub(super) fn is_followed_by_output(&self) -> bool {
        // What is kept aside is added as a whole.
        self.mode == Mode::Filter && self.log.is_stored() && self.log.aside_from().is_none()
    }

    /// Whether it is noted that a document has left.
    pub(super) fn leaves_by_itself(&self, is_unnamed: bool) -> bool {
        (is_unnamed || self.is_of_stream) && self.is_followed_by_output()
    }

    /// Sets whether documents that are [known](Decision::Known) do not leave, of a source that is no stream.
    pub(crate) fn drop_known(&mut self, drops_known: bool) {
        self.drops_known = drops_known;
    }

    /// Whether an unconfirmed document with an id is not simply known.
    fn confirms_known(&self) -> bool {
        self.drops_known && (self.leaves_by_itself(false) || self.staged.is_some())
    }

    /// Whether a document at a place that comes again is to pass for that.
    pub(super) fn is_unconfirmed(&self, place: u64) -> bool {
        self.confirms_known() && self.unconfirmed.contains(&place)
    }

    /// Whether the document at a place is unconfirmed, known ones are dropped, and it comes for the first time since. It then has come.
    pub(super) fn comes_again(&mut self, place: u64) -> bool {
        let comes_again = self.is_unconfirmed(place) && self.passed_again.insert(place);
        if comes_again {
            // It has not left yet: what did before it says nothing of it.
            self.leaving.restart();
        }
        comes_again
    }

    /// The decision on a document that passed before an interruption, and is fed again.
    pub(super) fn passed_before(&mut self, id: &str, signature: Signed<'_>) -> Result<Decision, Error> {
        if is_unnamed(id) {
            // A copy of it does not pass.
            self.confirms(id, signature)?;
            return Ok(Decision::Unconfirmed);
        }
        let known = self.search().known(id, signature, false)?;
        // By now it may be forgotten. A duplicate is better than a loss.
        let is_unconfirmed = match known {
            Some(place) => self.comes_again(place),
            None => self.confirms_known(),
        };
        Ok(if is_unconfirmed { Decision::Unconfirmed } else { Decision::Known })
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
            self.leaving.restart();
        }
        self.passed_again = again;
        Ok(found?.is_some())
    }

    /// Notes up to where documents have left, if it is time.
    pub(super) fn note_left(&mut self) {
        let left = match self.log.left {
            Left::Before(_) => self.leaving.next(self.leaving.clock),
            Left::Unknown | Left::All => Some(self.log.next_place()),
        };
        if let Some(left) = left {
            self.log.note_left(Left::Before(left));
            // All before this run, too.
            self.all_are_confirmed();
        }
        self.leaving.add();
    }

    fn all_are_confirmed(&mut self) {
        (self.unconfirmed, self.passed_again) = (0..0, BTreeSet::new());
        self.awaited = None;
    }

    /// A new document is remembered. If it is an unconfirmed one that was forgotten since, because it expired or was replaced, what was fed
    /// again goes on, and what left before it says nothing of the documents that follow.
    pub(super) fn note_again(&mut self, id: &str, signature: Signed<'_>) {
        if self.unconfirmed.is_empty() {
            return;
        }
        let (log, places) = (&mut self.log, self.unconfirmed.clone());
        let awaited = self.awaited.get_or_insert_with(|| Awaited::of(log, places));
        if awaited.take(id_hash(identity(id), signature.sequence)) {
            self.leaving.restart();
        }
    }

    /// Whether the end of this run will confirm documents, if it ends by itself, and what it writes is to be on the disk.
    pub(crate) fn will_confirm(&self) -> bool {
        self.can_confirm() && self.sync != Sync::Off
    }

    /// Whether the end of this run can confirm documents: it had some, and those whose decisions were not repeated yet have not come again.
    fn can_confirm(&self) -> bool {
        self.has_leaving && self.repetition.is_none() && matches!(self.log.left, Left::Before(_))
    }

    /// A run has ended by itself: if it had documents, all have left.
    pub(super) fn confirm_all(&mut self) {
        if self.can_confirm() {
            self.log.note_left(Left::All);
            self.all_are_confirmed();
        }
    }
}
