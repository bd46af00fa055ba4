//! The decisions that a run notes in the log, and those that are repeated after an interruption: see repeat.rs.

use super::repeat::{self, Past, Recent};
use super::unnamed::Name;
use super::{Decision, Index, Mode, Signed, search};
use crate::error::Error;
impl Index {
    /// Whether this run logs its decisions, so that they can be repeated after an interruption. Where documents replace others, they are made
    /// anew: see replace.rs.
    pub(super) fn is_noting(&self) -> bool {
        let forgets = self.limits.window.is_some() || self.limits.expire.is_some() && !self.replaces;
        self.is_followed_by_output() && forgets
    }

    /// The maximum number of decisions of an interrupted run that are known.
    pub(super) fn most_repeated(&self) -> usize {
        let window = usize::try_from(self.limits.window.unwrap_or(0)).unwrap_or(usize::MAX);
        window.saturating_mul(2).saturating_add(repeat::DECISIONS_KEPT)
    }

    /// Logs what this run forgets, and whether the decisions that follow are logged.
    pub(super) fn begin_notes(&mut self) {
        let is_noting = self.is_noting();
        if self.mode == Mode::Filter && self.is_stored {
            self.log.note_forgetting((&self.limits).into());
        }
        if self.mode == Mode::Filter && self.noted.is_some() != is_noting {
            let place = self.log.mark(if is_noting { repeat::BEGIN } else { repeat::END });
            self.noted = is_noting.then(|| Recent::new(place, self.most_repeated()));
        }
    }

    pub(super) fn note(&mut self, name: Name<'_>, signature: Signed<'_>, original: Option<u64>) {
        if let Name::Id(id) = name
            && self.is_noting()
            && !self.is_repeated
        {
            self.begin_notes();
            if let Some(noted) = &mut self.noted {
                if noted.is_due() {
                    noted.pass(self.log.next_place());
                }
                noted.add();
            }
            self.log.note(Past { name: repeat::name(id, signature.sequence), original });
            self.tables.count_notes(1);
        }
    }

    /// The decision on a document before an interruption, if it is fed again. The repetition goes on to the next one, or ends.
    pub(super) fn next_past(&mut self, name: Name<'_>, signature: Signed<'_>) -> Option<Past> {
        let repetition = self.repetition.as_mut()?;
        // One without an id is never fed again.
        let past = if let Name::Id(id) = name { repetition.next(repeat::name(id, signature.sequence)) } else { None };
        if past.is_none() || repetition.is_over() {
            self.repetition = None;
        }
        past
    }

    /// The same decision again, unless another document has the hash of this one.
    pub(super) fn repeated(
        &mut self,
        past: Past,
        name: Name<'_>,
        signature: Signed<'_>,
    ) -> Result<Option<Decision>, Error> {
        let Some(place) = past.original else {
            return match name {
                Name::Id(id) => self.passed_before(id, signature).map(Some),
                Name::Number(_) => Ok(Some(Decision::Known)),
            };
        };
        let original = self.log.read(place)?;
        let similarity = self.algorithm.compare(&original.evidence, signature.evidence.words(&mut self.own));
        search::free_long(&mut self.own);
        if similarity.is_none() {
            self.repetition = None;
        }
        let (of, passed) = (original.id, original.time);
        Ok(similarity.map(|similarity| Decision::Duplicate { of, passed, similarity, is_capped: false }))
    }
}
