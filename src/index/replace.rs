//! Documents that take the place of earlier ones with the same id.
//!
//! A run that replaces does not log its decisions as other runs that forget do (repeat.rs). After an interruption, what is fed again is decided on
//! anew: a text that was replaced meanwhile takes the place of the one that replaced it, until that comes again too. So what is remembered of
//! an id is always the last text that came; a decision that was repeated by the log would leave another one. Nothing is lost by
//! that: a document that passed before is remembered, or is decided on like a new one, and what it may be similar to now is remembered. One that was dropped
//! passes if what it was dropped for has expired or was replaced since.
//!
//! A window of documents is refused. What is replaced does not count in it, and while an index is open, a document that has left the window does
//! not come back for that; when the log is read again, it does. So decisions would depend on where runs begin.

use super::signature::{Signature, Signed};
use super::unnamed::Name;
use super::{Decision, Index, Mode};
use crate::error::Error;

impl Index {
    /// [Decides](Self::decide) on a document as the only text of its id: those that passed with this id and other tokens are forgotten
    /// first. Returns the decision, and whether some were forgotten that had features.
    ///
    /// A text with too few features to be compared replaces nothing: often the page could not be fetched whole. It is decided on as by
    /// [`decide`](Self::decide), and the earlier text stays remembered.
    ///
    /// The index must be one in a file, opened with [`IndexOptions::replaces`](super::IndexOptions::replaces), to filter, without a window
    /// of documents: which of them are in it would depend on when the index was opened.
    ///
    /// # Errors
    /// Those of [`decide`](Self::decide), or the index does not find documents by their ids. If a limit is reached, the earlier ones may
    /// have been forgotten already.
    ///
    /// # Cost
    /// That of [`decide`](Self::decide), a look-up more, and a record of the log that is read for each document of the id. What was replaced
    /// is skipped by look-ups, some 60 ns each, until the tables are made anew: when half of the documents are forgotten, when skipping
    /// has taken as much time as making them, or when the index is compacted.
    pub fn replace(&mut self, id: &str, signature: &Signature, now: u64) -> Result<(Decision, bool), Error> {
        self.replace_signed(id, signature.signed(), now)
    }

    /// As [`replace`](Self::replace), with a signature of a batch.
    pub(crate) fn replace_signed(
        &mut self,
        id: &str,
        signature: Signed<'_>,
        now: u64,
    ) -> Result<(Decision, bool), Error> {
        if !self.replaces || !self.tables.has_names || self.mode != Mode::Filter || self.limits.window.is_some() {
            let message = "documents are replaced in an index that was opened with `replaces`, to filter, without a `window` of documents \
                           (`expire` forgets by age)";
            return Err(Error::Usage(message.into()));
        }
        let mut replaced = false;
        let of_earlier = (!signature.featureless).then_some(&mut replaced);
        let decision = self.decide_on(Name::Id(id), signature, now, of_earlier)?;
        Ok((decision, replaced))
    }

    /// Forgets what passed with this id, but not the document at the place that `stays`. `replaced` becomes true if there was a text with
    /// features, also if there is an error after that.
    pub(super) fn forget_others(&mut self, id: &str, stays: Option<u64>, replaced: &mut bool) -> Result<(), Error> {
        loop {
            // Of very many at most some at a time.
            let mut named = self.search().named(id)?;
            named.retain(|&(place, _)| Some(place) != stays);
            if named.is_empty() {
                return Ok(());
            }
            *replaced |= named.iter().any(|&(_, has_features)| has_features);
            let places: Vec<u64> = named.into_iter().map(|(place, _)| place).collect();
            self.log.remove(&places);
            for &place in &places {
                self.remembered.remove_at(&self.tables.places, place);
                if let Some(renewal) = &mut self.renewal {
                    renewal.remove(place);
                }
            }
        }
    }
}
