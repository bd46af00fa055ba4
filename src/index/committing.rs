//! What reaches the disk, and when: commits, and the end of a run.

use super::tables::Tables;
use super::{Index, Mode, Sync, repeat};
use crate::error::Error;
impl Index {
    /// Writes the documents that passed to the log. Afterwards their records may leave, and are taken to have left when the next
    /// document is decided on.
    ///
    /// # Errors
    /// The log cannot be written.
    pub fn commit(&mut self) -> Result<(), Error> {
        match self.mode {
            Mode::Query | Mode::Nearest(_) => Ok(()),
            Mode::Filter | Mode::Add => {
                match self.sync {
                    Sync::Off => self.log.commit(false),
                    Sync::Batch => self.log.commit(true),
                    Sync::Always => self.log.sync(),
                }?;
                self.leaving.begin_commit(self.log.len());
                self.leaving.end_commit();
                Ok(())
            }
        }
    }

    /// As [`commit`](Self::commit), but with [`Sync::Batch`] the disk may have the documents later: then this returns true, and their
    /// records may leave when [`end_commit`](Self::end_commit) says so. Meanwhile others can be decided on. A commit that was begun before
    /// is ended first.
    ///
    /// # Errors
    /// The log cannot be written.
    pub(crate) fn begin_commit(&mut self) -> Result<bool, Error> {
        if self.mode.only_reads() || self.sync != Sync::Batch {
            return self.commit().map(|()| false);
        }
        let is_begun = self.log.begin_commit()?;
        self.leaving.begin_commit(self.log.len());
        if !is_begun {
            self.leaving.end_commit();
        }
        Ok(is_begun)
    }

    /// Ends a commit that was [begun](Self::begin_commit), if the disk has its documents or this `waits` for it. Returns whether none is
    /// left.
    ///
    /// # Errors
    /// The log could not be written.
    pub(crate) fn end_commit(&mut self, waits: bool) -> Result<bool, Error> {
        let has_ended = self.log.end_commit(waits)?;
        if has_ended {
            self.leaving.end_commit();
        }
        Ok(has_ended)
    }

    /// Lets commits that are [begun](Self::begin_commit) end by a function.
    #[cfg(test)]
    pub(crate) fn sync_by(&mut self, sync: impl FnMut() -> std::io::Result<()> + Send + 'static) {
        self.log.sync_by(sync);
    }

    /// Writes everything to the disk, regardless of [`Sync`], and marks it as written. To be called when a stream ends.
    ///
    /// # Errors
    /// The log cannot be written.
    pub fn seal(&mut self) -> Result<(), Error> {
        self.end(true)
    }

    /// As [`seal`](Self::seal), for a stream that failed or was stopped: its last decisions may be fed again, as after a run
    /// that was killed.
    ///
    /// # Errors
    /// The log cannot be written.
    pub fn interrupt(&mut self) -> Result<(), Error> {
        self.end(false)
    }

    pub(super) fn end(&mut self, is_complete: bool) -> Result<(), Error> {
        match self.mode {
            Mode::Query | Mode::Nearest(_) => Ok(()),
            Mode::Filter | Mode::Add if self.staged.is_some() || self.before.is_some() => self.log.commit(false),
            Mode::Filter | Mode::Add => {
                // All decided records have left, unless decisions in the log have not been repeated yet.
                if is_complete && self.is_noting() && self.noted.is_some() && self.repetition.is_none() {
                    self.log.mark(repeat::END);
                    self.noted = None;
                }
                if is_complete {
                    self.confirm_all();
                }
                // The index is whole without it.
                let mut checkpoint = self.with_tables(Tables::begin_last_checkpoint);
                match is_complete {
                    true => self.log.seal()?,
                    false => self.log.sync()?,
                }
                checkpoint =
                    checkpoint.and_then(|()| self.with_tables(|tables, state| tables.end_last_checkpoint(state)));
                self.failed_checkpoint = checkpoint.err().map(|error| error.to_string());
                Ok(())
            }
        }
    }
}
