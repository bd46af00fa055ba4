//! A step at work: batches in, batches out, one row at a time.

use super::rows::{Column, Input, Out};
use super::spec::Spec;
use crate::error::Error;
use arrow_array::RecordBatch;
use std::fmt;
use std::sync::Arc;

/// What a step does with its rows.
pub(super) trait Rows: Send {
    /// Takes the columns of the next batch, whose rows follow.
    fn begin(&mut self, input: &Input<'_>) -> Result<(), Error>;

    /// Works on a row of the batch, or on a part of what the rows before it left to do: then it returns false, and is called with the
    /// same row again.
    fn row(&mut self, row: usize, out: &mut Out) -> Result<bool, Error>;

    /// Works on what is left after the last row, or on a part of it: then it returns false, and is called again.
    fn end(&mut self, _out: &mut Out) -> Result<bool, Error> {
        Ok(true)
    }
}

/// A step of the table.
#[non_exhaustive]
pub struct Entry {
    /// Its name.
    pub name: &'static str,
    /// What it does; one line.
    pub summary: &'static str,
    /// The columns that it needs. Others are ignored.
    pub takes: &'static [Column],
    /// The columns by which the rows must be in ascending order. All rows with one value of the first of them must go to one step.
    pub order: &'static [&'static str],
    /// The columns of its results.
    pub gives: &'static [Column],
    /// Whether it runs before the algorithm has learned what it must know of the whole collection.
    pub learns: bool,
    pub(super) make: fn(Arc<Spec>) -> Box<dyn Rows>,
}

impl Entry {
    /// Starts the step in a task.
    ///
    /// # Errors
    /// The algorithm must [learn](Spec::learns) something before.
    pub fn start(&'static self, spec: Arc<Spec>) -> Result<Step, Error> {
        if !self.learns {
            spec.check_learned(self.name)?;
        }
        Ok(Step::new(self, spec))
    }
}

impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entry").field("name", &self.name).finish_non_exhaustive()
    }
}

/// A step at work. It takes the batches of one task, and gives its results as soon as there are enough for a batch.
///
/// After an error it is of no use any more.
pub struct Step {
    entry: &'static Entry,
    rows: Box<dyn Rows>,
    /// The number of rows of the batch that was given last, and the next of them.
    length: usize,
    next: usize,
    /// Whether there are no more batches, and whether what they left is done.
    is_finished: bool,
    is_done: bool,
    out: Out,
}

impl fmt::Debug for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Step").field("name", &self.entry.name).finish_non_exhaustive()
    }
}

impl Step {
    fn new(entry: &'static Entry, spec: Arc<Spec>) -> Self {
        let (rows, out) = ((entry.make)(spec), Out::new(entry.gives));
        Step { entry, rows, length: 0, next: 0, is_finished: false, is_done: false, out }
    }

    /// Gives it the next batch. All results that [`take`](Self::take) has must have been taken before.
    ///
    /// # Errors
    /// A column is missing, has another type, or lacks values.
    pub fn push(&mut self, batch: &RecordBatch) -> Result<(), Error> {
        self.rows.begin(&Input { step: self.entry.name, batch })?;
        (self.length, self.next) = (batch.num_rows(), 0);
        Ok(())
    }

    /// Tells it that there are no more batches. Then [`take`](Self::take) has the last results.
    pub fn finish(&mut self) {
        self.is_finished = true;
    }

    /// Works on the rows that were given, until there are enough results for a batch. `None` means that it needs more rows or, after
    /// [`finish`](Self::finish), that it is done.
    ///
    /// # Errors
    /// Rows are not in order, or do not belong together; a document takes too much memory. The message names the step and the key.
    pub fn take(&mut self) -> Result<Option<RecordBatch>, Error> {
        while self.next < self.length && !self.out.is_full() {
            let is_done = self.rows.row(self.next, &mut self.out).map_err(|error| self.named(error))?;
            self.next += usize::from(is_done);
        }
        while self.is_finished && !self.is_done && !self.out.is_full() {
            self.is_done = self.rows.end(&mut self.out).map_err(|error| self.named(error))?;
        }
        let is_ready = self.out.is_full() || self.is_done && !self.out.is_empty();
        Ok(is_ready.then(|| self.out.take()))
    }

    fn named(&self, error: Error) -> Error {
        let message = format!("step {}: {error}", self.entry.name);
        if let Error::Full(_) = error { Error::Full(message) } else { Error::Usage(message) }
    }
}
