//! Decisions on documents, and what is remembered of them.

use super::entry::Document;
use super::file::{are_tables_damaged, too_large};
use super::repeat::Past;
use super::search::{Found, Search};
use super::unconfirmed::is_unnamed;
use super::unnamed::{Name, number_in};
use super::{Decision, Index, Mode, Nearest, Signature, Signatures, Signed, Sync, Wanted};
use crate::error::Error;
use crate::similarity::Similarity;
use std::borrow::Cow;
use std::time::Instant;

impl Index {
    /// Decides on a document, at a time in seconds. A document that passes is remembered from now on. It is on the disk
    /// after the next [`commit`](Self::commit), and should not leave before that.
    ///
    /// Cost: a look-up for each key, and a comparison for each document that shares one; of sets, for those whose sizes and outlines
    /// allow them to be the most similar. Memory: 20 bytes for each document that may be compared.
    ///
    /// # Errors
    /// The signature was made by the signer of an index with another [identity](crate::algorithm::Spec::identity), the log cannot be
    /// read or written, or a limit is reached.
    pub fn decide(&mut self, id: &str, signature: &Signature, now: u64) -> Result<Decision, Error> {
        self.decide_signed(id, signature.signed(), now)
    }

    /// Prefetches what a decision on a document of a batch looks up first, if it has this document.
    pub(crate) fn fetch(&self, signatures: &Signatures, number: usize) {
        if number < signatures.len() {
            signatures.get(number).1.tags.iter().for_each(|&tag| self.tables.keys.fetch(tag));
        }
    }

    /// As [`decide`](Self::decide), with a signature of a batch.
    pub(crate) fn decide_signed(&mut self, id: &str, signature: Signed<'_>, now: u64) -> Result<Decision, Error> {
        self.decide_on(Name::Id(id), signature, now, None)
    }

    /// [Decides](Self::decide) on a document without an id. If it is remembered, its id is its number in the index after
    /// `prefix`, which is empty or `row:`.
    ///
    /// # Errors
    /// Those of [`decide`](Self::decide).
    pub(crate) fn decide_unnamed(
        &mut self,
        prefix: &'static str,
        signature: Signed<'_>,
        now: u64,
    ) -> Result<Decision, Error> {
        self.decide_on(Name::Number(prefix), signature, now, None)
    }

    /// Checks that a signature was made for this index, of all that the algorithm has learned: another has other hashes.
    pub(super) fn check(&self, signature: Signed<'_>) -> Result<(), Error> {
        self.algorithm.check_learned()?;
        if signature.made_by == self.signing.made_by {
            return Ok(());
        }
        let message = "the signature was made for another index, with other settings or another seed: make it with the `signer` of \
                       the index that decides";
        Err(Error::Usage(message.into()))
    }

    /// The id under which a document is remembered.
    pub(super) fn id_of<'n>(&mut self, name: Name<'n>) -> Result<Cow<'n, str>, Error> {
        Ok(match name {
            Name::Id(id) => id.into(),
            Name::Number(prefix) => format!("{prefix}{}", self.number()?).into(),
        })
    }

    /// The number of the next document without an id.
    ///
    /// Cost: the first time, the records of the latest documents are read, up to the last one that has a number.
    pub(super) fn number(&mut self) -> Result<u64, Error> {
        if let Some(next) = self.next_number {
            return Ok(next);
        }
        let mut next = 0;
        for at in (0..self.tables.places.len()).rev() {
            let record = self.log.read(self.tables.places[at])?;
            if let Some(number) = number_in(&record.id) {
                next = number + 1;
                break;
            }
        }
        self.next_number = Some(next);
        Ok(next)
    }

    /// A document is remembered under this id. Later numbers are greater.
    pub(super) fn has_used(&mut self, id: &str) {
        if let (Some(next), Some(number)) = (&mut self.next_number, number_in(id)) {
            *next = (*next).max(number + 1);
        }
    }

    /// Where documents are added, one without an id is known if another with its tokens is remembered.
    pub(super) fn decision_on_copy(&mut self, signature: Signed<'_>) -> Result<Option<Decision>, Error> {
        let is_known = self.mode == Mode::Add && !signature.featureless && self.search().has_copy(signature)?;
        Ok(is_known.then_some(Decision::Known))
    }

    /// Decides. With `replaced`, the document takes the place of earlier ones with its id; it becomes true if there were some.
    pub(super) fn decide_on(
        &mut self,
        name: Name<'_>,
        signature: Signed<'_>,
        now: u64,
        mut replaced: Option<&mut bool>,
    ) -> Result<Decision, Error> {
        self.check(signature)?;
        if let Name::Id(id) = name
            && signature.bytes_of_record(id) > self.most_of_record()
        {
            // Before anything is forgotten for it.
            return Err(too_large(id));
        }
        let started = Instant::now();
        // Of the repetition it takes a step, so this is done once.
        let past = self.next_past(name, signature);
        let mut decision = self.decision(name, signature, now, past, replaced.as_deref_mut());
        if decision.as_ref().is_err_and(are_tables_damaged) {
            // A document that was remembered is not decided on again: see `renew`.
            decision = self.restore().and_then(|()| self.decision(name, signature, now, past, replaced));
        }
        self.pace.add(started.elapsed());
        if decision.is_ok() {
            self.summary.add(signature.featureless, signature.remark.cloned());
        }
        decision
    }

    pub(super) fn decision(
        &mut self,
        name: Name<'_>,
        signature: Signed<'_>,
        now: u64,
        past: Option<Past>,
        mut replaced: Option<&mut bool>,
    ) -> Result<Decision, Error> {
        let is_unnamed = matches!(name, Name::Id(id) if is_unnamed(id));
        self.has_leaving |= self.leaves_by_itself(is_unnamed);
        self.is_repeated = false;
        if let Some(past) = past
            && let Some(decision) = self.repeated(past, name, signature)?
        {
            if !is_unnamed || decision.passes() {
                return Ok(decision);
            }
            // Another document may have these tokens, which comes when what it is similar to is forgotten. As long as it is unclear which of
            // them it is, the log has its decision.
            self.is_repeated = true;
        }
        if let Mode::Nearest(wanted) = self.mode {
            return self.nearest_to(signature, wanted, now).map(Decision::Nearest);
        }
        self.forget(now)?;
        if let Some(decision) = self.decision_on_known(name, signature, replaced.as_deref_mut())? {
            return Ok(decision);
        }
        if let (Some(replaced), Name::Id(id)) = (replaced, name) {
            self.forget_others(id, None, replaced)?;
        }
        let mut is_crowded = false;
        if self.mode != Mode::Add && !signature.featureless {
            let Found { best, id, capped } = self.search().most_similar(signature)?;
            self.capped += u64::from(capped);
            if let Some((document, similarity)) = best {
                let place = self.tables.places[document as usize];
                let read = || self.log.read(place).map(|record| (record.id, record.time));
                let (of, passed) = id.map_or_else(read, Ok)?;
                self.note(name, signature, Some(place));
                return Ok(Decision::Duplicate { of, passed, similarity, is_capped: capped });
            }
            is_crowded = capped;
        }
        if self.is_repeated {
            return Ok(Decision::Unconfirmed);
        }
        if !self.mode.only_reads() {
            self.keep(name, signature, now)?;
        }
        Ok(match signature.featureless {
            true => Decision::Featureless,
            false if is_crowded => Decision::Crowded,
            false => Decision::Fresh,
        })
    }

    /// The decision on a document that is remembered with the same id and tokens, if it is. If it replaces others, those of its id are
    /// forgotten.
    pub(super) fn decision_on_known(
        &mut self,
        name: Name<'_>,
        signature: Signed<'_>,
        replaced: Option<&mut bool>,
    ) -> Result<Option<Decision>, Error> {
        let Name::Id(id) = name else { return self.decision_on_copy(signature) };
        // An added document never passed, and does not pass now. An index without a file does not outlive the run, so that
        // nothing is fed again: it is a copy.
        let only_adds = self.mode == Mode::Add;
        if !(only_adds || self.is_stored || signature.featureless) {
            return Ok(None);
        }
        if self.confirms(id, signature)? {
            self.note(name, signature, None);
            return Ok(Some(Decision::Unconfirmed));
        }
        let Some(place) = self.search().known(id, signature, only_adds)? else { return Ok(None) };
        let is_unconfirmed = self.staged.is_none() && self.comes_again(place);
        if let Some(replaced) = replaced {
            self.forget_others(id, Some(place), replaced)?;
        }
        if let Some(start) = self.log.aside_from().filter(|_| self.staged.is_some()) {
            // What is kept aside is added as a whole or not at all, so that nothing is fed again within the run either.
            let is_own = place >= start;
            let is_unconfirmed = !is_own && self.is_unconfirmed(place);
            if signature.featureless {
                let is_unconfirmed = is_unconfirmed && self.passed_again.insert(place);
                return Ok(Some(match is_own {
                    true => Decision::Featureless,
                    false if is_unconfirmed => Decision::Unconfirmed,
                    false => Decision::Known,
                }));
            }
            if is_own || !self.passed_again.insert(place) {
                let (of, passed, similarity) = (id.to_string(), self.log.read(place)?.time, Similarity::ratio(1, 1));
                return Ok(Some(Decision::Duplicate { of, passed, similarity, is_capped: false }));
            }
            return Ok(Some(if is_unconfirmed { Decision::Unconfirmed } else { Decision::Known }));
        }
        self.note(name, signature, None);
        Ok(Some(if is_unconfirmed { Decision::Unconfirmed } else { Decision::Known }))
    }

    /// The most similar documents, at a time in seconds. Nothing is remembered. In an index that was not opened for
    /// [`Mode::Nearest`], of the documents of a key that very many have only those at or above the threshold are found.
    ///
    /// # Errors
    /// The signature is of another index, or the log or the tables cannot be read.
    ///
    /// # Cost
    /// A comparison of every fingerprint, some 0.5 ns for each of their words, where bits are compared. Otherwise a look-up
    /// for each key, and a comparison for each document that shares one, or for every document. Of sets, only those are read
    /// whose sizes and outlines allow them to be among the most similar. Memory: 16 bytes for each document that may be
    /// compared, of fingerprints only for those that are wanted.
    pub fn nearest(&mut self, signature: &Signature, wanted: Wanted, now: u64) -> Result<Nearest, Error> {
        self.nearest_to(signature.signed(), wanted, now)
    }

    pub(super) fn nearest_to(&mut self, signature: Signed<'_>, wanted: Wanted, now: u64) -> Result<Nearest, Error> {
        self.check(signature)?;
        let nearest = self.find_nearest(signature, wanted, now);
        if nearest.as_ref().is_err_and(are_tables_damaged) {
            self.restore()?;
            return self.find_nearest(signature, wanted, now);
        }
        nearest
    }

    pub(super) fn find_nearest(&mut self, signature: Signed<'_>, wanted: Wanted, now: u64) -> Result<Nearest, Error> {
        self.forget(now)?;
        let nearest = self.search().nearest(signature, wanted)?;
        self.capped += u64::from(nearest.is_capped);
        Ok(nearest)
    }

    pub(super) fn search(&mut self) -> Search<'_> {
        Search {
            algorithm: &*self.algorithm,
            jaccard: self.algorithm.profile().jaccard,
            tables: &mut self.tables,
            log: &mut self.log,
            remembered: &self.remembered,
            bounds: self.bounds,
            candidates: &mut self.candidates,
            bounded: &mut self.bounded,
            own: &mut self.own,
        }
    }

    pub(super) fn keep(&mut self, name: Name<'_>, signature: Signed<'_>, now: u64) -> Result<(), Error> {
        if self.renewal.is_some() && self.check_limits().is_err() {
            // The old tables are freed.
            self.end_renewal(now)?;
        }
        self.check_limits()?;
        if self.limits.memory.is_some() {
            self.tables.beside = self.bytes_beside() + self.renewal.as_ref().map_or(0, |renewal| renewal.bytes_held());
        }
        self.entering().make_room(signature.tags.len())?;
        self.begin_notes();
        let id = self.id_of(name)?;
        let is_unnamed = is_unnamed(&id);
        // One without an id and without features always passes.
        if self.leaves_by_itself(is_unnamed) && !(is_unnamed && signature.featureless) {
            self.note_again(&id, signature);
            self.note_left();
        }
        let document = Document { id: &id, signed: signature, time: now, is_added: self.mode == Mode::Add };
        let place = self.log.append(&document, &*self.algorithm)?;
        if let Some(noted) = self.noted.as_mut().filter(|_| !document.is_added) {
            noted.pass(place);
            noted.add();
        }
        self.has_used(&id);
        self.entering().enter(place, &document)?;
        self.forget(now)?;
        self.log.bound_pending()?;
        if self.sync == Sync::Always {
            self.log.commit(true)?;
        }
        Ok(())
    }
}
