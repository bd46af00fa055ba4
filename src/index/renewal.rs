//! New tables, without the documents that are forgotten, which are built beside decisions.
//!
//! Most of what is in the tables of a window is forgotten after a while. Each decision then copies a few of the documents that
//! stay, in their order, to tables of their own; those that pass meanwhile come last. When all are there, the new tables take
//! the place of the old ones. So no decision waits for all documents of the window.

use super::enter::Entering;
use super::log::Log;
use super::remembered::{Remembered, SKIPS_OF_A_COPY};
use super::tables::Tables;
use crate::algorithm::Algorithm;
use crate::error::Error;
use std::mem::swap;
use std::thread;

/// The number of documents that are copied at once, and the number that are looked at. A document that passes has two such
/// steps, so that copying gets ahead.
const COPIED: usize = 2;
const LOOKED_AT: usize = 64;

/// How many more documents are copied at most at once: about a quarter of a millisecond.
const MOST_MORE: u64 = 64;

/// The memory of tables that are built while others with this bound are used.
pub(super) fn part_of(memory: u64) -> u64 {
    memory / 4
}

/// Tables that do not have all documents yet.
pub(super) struct Renewal {
    pub tables: Tables,
    remembered: Remembered,
    /// The next document of the old tables.
    next: u32,
    /// How often removed documents of the old tables had been skipped when copies were made for it.
    skipped: u64,
}

impl Renewal {
    /// Into these empty tables.
    pub fn new(tables: Tables, old: &Remembered) -> Self {
        Renewal { tables, remembered: old.successor(), next: old.first_staying(), skipped: old.skipped() }
    }

    /// Bytes of memory.
    pub fn bytes_held(&self) -> u64 {
        self.tables.bytes_held() + self.remembered.bytes_held()
    }

    /// Bytes of memory that stay once all that can be is in files.
    pub fn bytes_staying(&self) -> u64 {
        self.tables.bytes_staying() + self.remembered.bytes_held()
    }

    /// Whether most of what it has is forgotten already, at a time in seconds.
    pub fn is_due(&mut self, now: u64) -> bool {
        self.remembered.forget(now)
    }

    /// Copies the next documents of the old tables: a few, and as many more as take the time that was spent on skipping removed ones
    /// since the last. Returns whether all are there.
    ///
    /// # Errors
    /// The log cannot be read, or the tables cannot be written.
    pub fn copy_some(
        &mut self,
        old: &Tables,
        remembered: &Remembered,
        log: &mut Log,
        algorithm: &dyn Algorithm,
    ) -> Result<bool, Error> {
        // What is beyond the limit is made up for in the next steps.
        let more = (remembered.skipped().saturating_sub(self.skipped) / SKIPS_OF_A_COPY).min(MOST_MORE);
        self.skipped += more * SKIPS_OF_A_COPY;
        let (mut copied, most) = (0, COPIED + more as usize);
        self.next = self.next.max(remembered.first_staying());
        for _ in 0..LOOKED_AT / COPIED * most {
            let Some(&place) = old.places.get(self.next as usize) else { return Ok(true) };
            if remembered.stays(self.next) {
                let record = log.read(place)?;
                let (tables, remembered) = (&mut self.tables, &mut self.remembered);
                Entering { algorithm, tables, log, remembered, notes: None }.remember(place, &record)?;
                copied += 1;
            }
            self.next += 1;
            if copied == most {
                break;
            }
        }
        Ok(self.next as usize >= old.places.len())
    }

    /// Forgets the document at a place, if it is there already.
    pub fn remove(&mut self, place: u64) {
        self.remembered.remove_at(&self.tables.places, place);
    }

    /// Takes the place of the old tables. No checkpoint of theirs may be being saved.
    pub fn replace(mut self: Box<Self>, tables: &mut Tables, remembered: &mut Remembered) {
        swap(&mut self.tables, tables);
        swap(&mut self.remembered, remembered);
        // The old ones are in `self` now.
        tables.succeed(&mut self.tables);
        // Freed beside decisions; here, if no thread starts.
        _ = thread::Builder::new().spawn(move || drop(self));
    }
}
