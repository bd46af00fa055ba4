//! Documents that take the place of earlier ones with the same id.

use super::signature::{Signature, Signed};
use super::unnamed::Name;
use super::{Decision, Index, Mode};
use crate::error::Error;

impl Index {
    /// [Decides](Self::decide) on a document as the only text of its id: those that passed with this id and other tokens are forgotten
    /// first. Returns the decision, and whether some were forgotten.
    ///
    /// The index must be one in a file, opened with [`IndexOptions::replaces`](super::IndexOptions::replaces), to filter, without a window
    /// or an age at which documents expire: a run that forgets repeats the decisions before an interruption by its log.
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
        let forgets = self.limits.window.is_some() || self.limits.expire.is_some();
        if !self.tables.has_names || self.mode != Mode::Filter || forgets {
            let message = "documents are replaced in an index that was opened with `replaces`, to filter, without `window` and `expire`";
            return Err(Error::Usage(message.into()));
        }
        let mut replaced = false;
        let decision = self.decide_on(Name::Id(id), signature, now, Some(&mut replaced))?;
        Ok((decision, replaced))
    }

    /// Forgets what passed with this id, but not the document at the place that `stays`. `replaced` becomes true if there was something, also
    /// if there is an error after that.
    pub(super) fn forget_others(&mut self, id: &str, stays: Option<u64>, replaced: &mut bool) -> Result<(), Error> {
        loop {
            // Of very many at most some at a time.
            let mut places = self.search().named(id)?;
            places.retain(|&place| Some(place) != stays);
            if places.is_empty() {
                return Ok(());
            }
            *replaced = true;
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
