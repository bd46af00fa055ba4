//! What is forgotten, and the tables that are made anew: because most of them is forgotten, or because they have changed on the disk.
use std::io;

use super::checkpoint::Notes;
use super::disk::Disk;
use super::enter::Entering;
use super::file::are_tables_damaged;
use super::renewal::{self, Renewal};
use super::tables::{State, Tables};
use super::{Index, Limits, Mode};
use crate::error::Error;
use crate::readable::{counted, display_size};
const REBUILDING: &str = "cannot rebuild the tables of the index, which changed again meanwhile; the index itself is whole: run the same command again";

impl Index {
    pub(super) fn takes_half_of_its_memory(&self) -> bool {
        self.limits.memory.is_some_and(|most| self.bytes_needed() > most / 2)
    }

    pub(super) fn check_limits(&self) -> Result<(), Error> {
        let full = |what: String, in_a_file: &str| {
            let advice = match self.mode {
                Mode::Add => "a larger limit allows more",
                _ => "`window` or `expire` forget old documents, and a larger limit allows more",
            };
            let in_a_file = if self.log.file().is_none() { in_a_file } else { "" };
            Err(Error::Full(format!("{what}; {advice}{in_a_file}")))
        };
        match self.limits {
            Limits { max_documents: Some(most), window, .. } if self.len() >= most && window != Some(self.len()) => {
                full(format!("at most {} may be remembered (`max-docs`)", counted(most, "document")), "")
            }
            Limits { memory: Some(most), .. } if self.bytes_needed() > most => {
                let (remembered, most) = (counted(self.len(), "document"), display_size(most as usize));
                full(
                    format!("remembering {remembered} takes more than {most} (`memory`)"),
                    "; an index in a file (`index`) takes less memory",
                )
            }
            _ if self.tables.places.len() >= u32::MAX as usize => {
                Err(Error::Full("4,294,967,295 documents are remembered, and no index holds more".into()))
            }
            _ => Ok(()),
        }
    }

    /// Forgets documents that are too old. The tables are renewed when most of their content is forgotten, of small ones only if they take
    /// half of the memory that is allowed; or when skipping what is forgotten has cost as much.
    pub(super) fn forget(&mut self, now: u64) -> Result<(), Error> {
        let is_worthwhile = self.remembered.forget(now) || self.remembered.is_skipped_often();
        if self.renewal.is_none()
            && (is_worthwhile || self.remembered.is_mostly_stale() && self.takes_half_of_its_memory())
        {
            self.begin_renewal();
        }
        self.renew(now)
    }

    /// Where the decisions are that can be repeated, if the end of the log is a part with decisions.
    pub(super) fn notes(&self) -> Option<Notes> {
        self.noted.as_ref().map(|noted| Notes { place: noted.first(), follow: noted.follow() })
    }

    /// Works on the tables.
    pub(super) fn with_tables<T>(&mut self, work: impl FnOnce(&mut Tables, &mut State) -> T) -> T {
        let notes = self.notes();
        let mut state = State { log: &mut self.log, remembered: &self.remembered, notes };
        work(&mut self.tables, &mut state)
    }

    pub(super) fn entering(&mut self) -> Entering<'_> {
        let notes = self.notes();
        Entering {
            algorithm: &*self.algorithm,
            tables: &mut self.tables,
            log: &mut self.log,
            remembered: &mut self.remembered,
            notes,
        }
    }

    /// Begins to build new tables.
    pub(super) fn begin_renewal(&mut self) {
        let disk = self.tables.disk.as_ref().map(Disk::successor);
        let (only_similar, memory) = (!matches!(self.mode, Mode::Nearest(_)), self.tables.memory());
        let mut tables =
            Tables::new(&*self.algorithm, &self.signing.spec, only_similar, renewal::part_of(memory), disk);
        tables.dropped = Limits { window: self.limits.window, expire: self.limits.expire, ..Limits::default() };
        (tables.hot.from, tables.has_names) = (self.tables.hot.from, self.tables.has_names);
        self.renewal = Some(Box::new(Renewal::new(tables, &self.remembered)));
    }

    /// Copies a few documents to the new tables, if there are some, which take the place of the old ones when they have all.
    pub(super) fn renew(&mut self, now: u64) -> Result<(), Error> {
        let Some(mut renewal) = self.renewal.take() else { return Ok(()) };
        let is_complete = match renewal.copy_some(&self.tables, &self.remembered, &mut self.log, &*self.algorithm) {
            // Rebuilding leaves out what is forgotten as well. The document that is decided on may be remembered already, and would be a copy
            // of itself if it was decided on again.
            Err(error) if are_tables_damaged(&error) => return self.restore(),
            copied => copied?,
        };
        // A checkpoint that is being saved names the files of the old tables.
        if !is_complete || self.tables.disk.as_ref().is_some_and(Disk::is_saving) && !renewal.is_due(now) {
            self.renewal = Some(renewal);
            return Ok(());
        }
        self.tables.wait_for_saving();
        renewal.replace(&mut self.tables, &mut self.remembered);
        self.remembered.forget(now);
        self.log.drop_before(self.tables.places.first().copied().unwrap_or(self.log.len()));
        Ok(())
    }

    /// Copies all that is left.
    pub(super) fn end_renewal(&mut self, now: u64) -> Result<(), Error> {
        while self.renewal.is_some() {
            self.tables.wait_for_saving();
            self.renew(now)?;
        }
        Ok(())
    }

    /// Rebuilds the tables from the log.
    ///
    /// # Errors
    /// They cannot be written, or change again meanwhile. This ends the run: the log has all documents.
    pub(super) fn restore(&mut self) -> Result<(), Error> {
        if let Some(disk) = &mut self.tables.disk {
            disk.clear();
            disk.forget_checkpoint();
        }
        self.were_damaged = true;
        self.rebuild().map_err(|error| {
            // Rebuilt again, from what this has, the tables would lack the other documents.
            let again = are_tables_damaged(&error).then(|| error.to_string());
            again.map_or(error, |again| Error::io(REBUILDING, io::Error::other(again)))
        })
    }

    /// Rebuilds the tables from the documents that are not forgotten.
    pub(super) fn rebuild(&mut self) -> Result<(), Error> {
        self.renewal = None;
        let places = std::mem::take(&mut self.tables.places);
        let staying = self.remembered.restart();
        let places: Vec<u64> = staying.into_iter().map(|document| places[document as usize]).collect();
        self.tables.clear();
        let was_whole = std::mem::replace(&mut self.tables.is_whole, false);
        self.tables.dropped = Limits { window: self.limits.window, expire: self.limits.expire, ..Limits::default() };
        self.log.drop_before(places.first().copied().unwrap_or(self.log.len()));
        for place in places {
            let record = self.log.read(place)?;
            self.entering().remember(place, &record)?;
        }
        self.tables.is_whole = was_whole;
        Ok(())
    }

    /// Forgets the documents at these places.
    pub(super) fn remove_places(&mut self, places: &[u64]) {
        self.renewal = None;
        places.iter().for_each(|&place| self.remembered.remove_at(&self.tables.places, place));
    }
}
