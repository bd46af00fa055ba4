//! Entering documents of the log into tables.

use super::checkpoint::Notes;
use super::entry::{Document, Record};
use super::file::{are_tables_damaged, cannot_read};
use super::log::Log;
use super::remembered::Remembered;
use super::search::{copy_tag, id_tag, name_tag};
use super::signature::{Evidence, Signed};
use super::tables::{State, Tables};
use crate::algorithm::{Algorithm, CompareOn};
use crate::error::Error;
use crate::outline::parities;

/// Tables, and what they are tables of.
pub(super) struct Entering<'a> {
    pub algorithm: &'a dyn Algorithm,
    pub tables: &'a mut Tables,
    pub log: &'a mut Log,
    pub remembered: &'a mut Remembered,
    /// Where the decisions that can be repeated begin, if the end of the log has some.
    pub notes: Option<Notes>,
}

impl Entering<'_> {
    /// Moves tables to the disk before they exceed their memory, before a document with so many keys comes.
    pub fn make_room(&mut self, keys: usize) -> Result<(), Error> {
        let mut state = State { log: self.log, remembered: self.remembered, notes: self.notes };
        self.tables.make_room(keys, &mut state)
    }

    /// Enters a document of the log into the tables.
    pub fn remember(&mut self, place: u64, record: &Record) -> Result<(), Error> {
        let tags = record.tags(self.algorithm);
        self.make_room(tags.len())?;
        self.enter(place, &record.document(&tags, &parities(&record.evidence)))
    }

    /// The index must have room for it.
    pub fn enter(&mut self, place: u64, entered: &Document) -> Result<(), Error> {
        let Signed { sequence, featureless, tags, evidence, parities, .. } = entered.signed;
        let document = self.tables.places.len() as u32;
        self.tables.places.push(place);
        self.tables.count();
        let time = entered.time.try_into().unwrap_or(u32::MAX);
        self.remembered.enter(time);
        if self.algorithm.compare_on() == CompareOn::Fingerprints {
            if let Evidence::Words(fingerprint) = evidence {
                self.tables.fingerprints.extend_from_slice(fingerprint);
            }
            self.tables.ends.push(self.tables.fingerprints.len() as u64);
        } else {
            self.tables.outlines.push((evidence.len() as u32, *parities));
        }
        if self.tables.disk.is_some() {
            self.tables.fresh_times.push(time);
        }
        tags.iter().for_each(|&tag| self.tables.keys.fetch(tag));
        tags.iter().for_each(|&tag| self.tables.keys.insert(tag, document));
        self.tables.hot.enter(tags, document, evidence);
        self.tables.ids.insert(id_tag(entered.id, sequence, featureless, entered.is_added), document);
        if self.tables.has_names {
            self.tables.ids.insert(name_tag(entered.id), document);
        }
        if let (Some(copies), Evidence::Words(fingerprint @ [_, ..])) = (&mut self.tables.copies, evidence) {
            copies.insert(copy_tag(fingerprint), document);
        }
        self.watch(tags, document)
    }

    /// Makes those keys of a document hot that too many documents have.
    fn watch(&mut self, tags: &[u32], document: u32) -> Result<(), Error> {
        if !self.tables.hot.counts(document) {
            return Ok(());
        }
        // What is moved to the disk meanwhile is not a state that an index can be opened with.
        let was_whole = std::mem::replace(&mut self.tables.is_whole, false);
        let watched = self.make_hot(tags);
        self.tables.is_whole = was_whole;
        match watched {
            // The document is in the log already. The next search rebuilds the tables.
            Err(error) if are_tables_damaged(&error) => Ok(()),
            watched => watched,
        }
    }

    fn make_hot(&mut self, tags: &[u32]) -> Result<(), Error> {
        for &tag in tags {
            let crowd = self.tables.hot.crowd(tag, &self.tables.keys).map_err(cannot_read)?;
            let Some(mut documents) = crowd else { continue };
            documents.retain(|&document| (document as usize) < self.tables.places.len());
            let (log, places) = (&mut self.log, &self.tables.places);
            let mut set = |document: u32| Ok::<_, Error>(log.read(places[document as usize])?.evidence.into());
            if !self.tables.hot.families().spare_comparisons(&documents, &mut set)? {
                continue;
            }
            let (family, new) = self.tables.hot.families().family_for(&documents, &mut set)?;
            let mut members = Vec::with_capacity(new.len());
            for document in new {
                self.make_room(0)?;
                let set = self.log.read(self.tables.places[document as usize])?.evidence;
                members.push(self.tables.hot.families().enter(family, document, &set));
            }
            self.tables.hot.families().add_key(tag.into(), family, members);
        }
        Ok(())
    }
}
