//! What a call with many documents remembers: all of it, or nothing.
//!
//! A caller that gets no decisions, because of an error or an interruption, has nothing that passed. So nothing may be
//! remembered then: the same documents are fed again, and must not be duplicates of themselves.
//!
//! In a file, what is remembered goes to another file, and is appended when the transaction ends, as one call (entry.rs):
//! of one that was interrupted meanwhile, an index has nothing when it is opened. An index that is rolled back is to be
//! dropped, and opened again. In memory, the log of before is kept, and the tables are rebuilt from it.

use super::{Before, Index};
use crate::error::Error;
use std::fs::File;
use std::io;

impl Index {
    /// Begins a transaction. In a file, `aside` makes the empty file for what is remembered meanwhile.
    ///
    /// # Errors
    /// What is pending cannot be written, or the file not made.
    pub(crate) fn begin_transaction(&mut self, aside: impl FnOnce() -> io::Result<File>) -> Result<(), Error> {
        debug_assert!(self.before.is_none(), "one at a time");
        if self.is_stored {
            self.log.seal()?;
            let file = aside().map_err(|error| {
                Error::output(
                    "cannot make a file for what the index will remember (choose another folder with `temp-dir`)",
                    error,
                )
            })?;
            self.log.go_aside(file);
        } else {
            self.log.retain();
        }
        self.before = Some(Before {
            next_number: self.next_number,
            capped: self.capped,
            summary: self.summary.clone(),
            // A checkpoint must not be ahead of the file.
            was_whole: std::mem::replace(&mut self.tables.is_whole, false),
        });
        Ok(())
    }

    /// The number of the next document without an id, which is found out now if it is not known.
    ///
    /// # Errors
    /// The log cannot be read.
    #[cfg(feature = "python")]
    pub(crate) fn next_number(&mut self) -> Result<u64, Error> {
        match &self.before {
            Some(Before { next_number: Some(next), .. }) => Ok(*next),
            _ => self.number(),
        }
    }

    /// Numbers documents without an id from here on.
    #[cfg(feature = "python")]
    pub(crate) fn number_from(&mut self, next: u64) {
        self.next_number = Some(next);
    }

    /// Whether a transaction was begun.
    pub(crate) fn is_in_transaction(&self) -> bool {
        self.before.is_some()
    }

    /// Ends the transaction: what was remembered since it began is in the index from now on, and on the disk.
    ///
    /// # Errors
    /// The index cannot be written, or was moved. The transaction is to be rolled back.
    pub(crate) fn end_transaction(&mut self) -> Result<(), Error> {
        self.log.land()?;
        if let Some(before) = self.before.take() {
            self.tables.is_whole = before.was_whole;
        }
        // All that matters is on the disk.
        if let Err(error) = self.seal() {
            self.failed_checkpoint = Some(error.to_string());
        }
        Ok(())
    }

    /// Rolls the transaction of an index in memory back. After an error it is to be tried again before the index is used.
    ///
    /// # Errors
    /// There is no memory for its documents.
    ///
    /// # Cost
    /// That of entering all documents again.
    pub(crate) fn roll_back(&mut self) -> Result<(), Error> {
        let Some(Before { next_number, capped, summary, was_whole }) = &self.before else { return Ok(()) };
        (self.next_number, self.capped, self.summary) = (*next_number, *capped, summary.clone());
        self.tables.is_whole = *was_whole;
        self.renewal = None;
        let now = self.remembered.now();
        self.remembered = self.remembered.successor();
        self.tables.clear();
        for place in self.log.restore() {
            let record = self.log.read(place)?;
            self.entering().remember(place, &record)?;
            self.forget(now)?;
        }
        self.before = None;
        Ok(())
    }
}
