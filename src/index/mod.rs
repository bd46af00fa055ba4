//! The online index of a stream: what was let through, found again by its keys.
//!
//! ```text
//! sign      text → tokens → features → fingerprint → keys     on any thread      ([`Signer`], signature.rs)
//! decide    keys → candidates → the most similar one           one at a time      ([`Index::decide`])
//! keep      the record of a document that is let through       log, then tables   (log.rs, table.rs)
//! ```
//!
//! Decisions are as if documents came one by one: each is let through unless one that was let through before it is similar enough.
//! That is what a scan with `--emit verdicts --keep first` keeps.
//!
//! The log is all there is on disk: records one after the other, each with a checksum. The tables that find them are in memory, and
//! are made again when the log is opened. What a crash tore at its end is cut off and said; damage anywhere else is an error.

mod coded;
mod log;
mod signature;
mod table;

pub use log::{FORMAT_VERSION, Repair};
pub use signature::{Signature, Signer};

use crate::algorithm::{Algorithm, Compares};
use crate::engine::outline::{Parities, can_reach, parities};
use crate::error::Error;
use crate::hash::combine;
use crate::similarity::Similarity;
use log::{Log, Record, Stored};
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;
use table::Table;
use xxhash_rust::xxh3::xxh3_64;

/// How sure it is that what was let through is remembered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sync {
    /// On the disk before anything else is decided.
    Always,
    /// On the disk before it leaves, several at a time.
    Batch,
    /// With the operating system, which writes it when it likes: a crash of the program loses nothing, a power cut may.
    Off,
}

/// What became of a document.
#[derive(Clone, Debug, PartialEq)]
pub enum Decision {
    /// It is new, and is remembered from now on.
    Fresh,
    /// It was let through before, with this id and these tokens: it is let through again.
    Known,
    /// It gives the algorithm nothing to compare: let through.
    Featureless,
    /// It is like one that was let through.
    Duplicate {
        /// The id of that one.
        of: String,
        /// How similar they are, exactly.
        similarity: Similarity,
    },
}

/// Limits of what is remembered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Documents are forgotten once so many came after them.
    pub window: Option<u64>,
    /// Documents are forgotten after so many seconds.
    pub expire: Option<u64>,
    /// The most documents that may be remembered.
    pub max_documents: Option<u64>,
    /// The most bytes of memory that tables may take.
    pub memory: Option<u64>,
}

/// The index.
pub struct Index {
    algorithm: Arc<dyn Algorithm>,
    log: Log,
    limits: Limits,
    sync: Sync,
    /// Where the record of each document is in the log.
    places: Vec<u64>,
    /// When each came, in seconds, if documents expire.
    times: Vec<u32>,
    /// Fingerprints back to back, if those are compared, and where each ends.
    fingerprints: Vec<u64>,
    ends: Vec<u64>,
    /// The size and the parities of each set, if sets are compared.
    outlines: Vec<(u32, Parities)>,
    keys: Table,
    ids: Table,
    /// Documents below this number are forgotten.
    forgotten: u32,
    /// A buffer.
    candidates: Vec<u32>,
}

impl Index {
    /// An index in memory that is gone with the process.
    pub fn in_memory(algorithm: Arc<dyn Algorithm>, limits: Limits) -> Self {
        Self::with_log(algorithm, Log::in_memory(), limits, Sync::Off)
    }

    /// Opens the index in a file, or makes it. `header` says how signatures are made; an index of another header is refused.
    ///
    /// # Errors
    /// The file cannot be read or written, is no index, was made with other settings, has another writer, or is damaged.
    ///
    /// # Cost
    /// The log is read once.
    pub fn open(
        path: &Path,
        algorithm: Arc<dyn Algorithm>,
        header: &Value,
        limits: Limits,
        sync: Sync,
    ) -> Result<(Self, Option<Repair>), Error> {
        let (log, stored) = Log::open(path, header)?;
        let mut index = Self::with_log(algorithm, log, limits, sync);
        let (end, repair) = stored.each(|place, record| index.remember(place, &record))?;
        index.log.start_at(end)?;
        index.forget(0)?;
        Ok((index, repair))
    }

    fn with_log(algorithm: Arc<dyn Algorithm>, log: Log, limits: Limits, sync: Sync) -> Self {
        Index {
            algorithm,
            log,
            limits,
            sync,
            places: Vec::new(),
            times: Vec::new(),
            fingerprints: Vec::new(),
            ends: Vec::new(),
            outlines: Vec::new(),
            keys: Table::default(),
            ids: Table::default(),
            forgotten: 0,
            candidates: Vec::new(),
        }
    }

    /// How many documents are remembered.
    pub fn len(&self) -> u64 {
        self.places.len() as u64 - u64::from(self.forgotten)
    }

    /// Whether none is.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes of the log.
    pub fn bytes_stored(&self) -> u64 {
        self.log.len()
    }

    /// Bytes of memory, about.
    pub fn bytes_held(&self) -> u64 {
        let a_document = 8 + 4 * usize::from(self.limits.expire.is_some());
        (a_document * self.places.len()) as u64
            + 8 * (self.fingerprints.len() + self.ends.len()) as u64
            + size_of_val(&*self.outlines) as u64
            + self.keys.bytes_held()
            + self.ids.bytes_held()
            + self.log.bytes_held()
    }

    /// Decides on a document, at a time in seconds. If it is let through it is remembered from now on; on the disk after the next
    /// [`commit`](Self::commit), before which it should not leave.
    ///
    /// Cost: a look-up for each key, a comparison for each document that shares one.
    ///
    /// # Errors
    /// The log cannot be read or written, or a limit is reached.
    pub fn decide(&mut self, id: &str, signature: &Signature, now: u64) -> Result<Decision, Error> {
        self.forget(now)?;
        if self.is_known(id, signature)? {
            return Ok(Decision::Known);
        }
        if !signature.featureless
            && let Some((document, similarity)) = self.most_similar(signature)?
        {
            let of = self.log.read(self.places[document as usize])?.id;
            return Ok(Decision::Duplicate { of, similarity });
        }
        self.check_limits(signature)?;
        let record = Record::new(id, signature, now, &*self.algorithm);
        let place = self.log.append(&record)?;
        self.remember(place, &record);
        self.forget(now)?;
        if self.sync == Sync::Always {
            self.log.commit(true)?;
        }
        Ok(if signature.featureless { Decision::Featureless } else { Decision::Fresh })
    }

    /// Writes what was let through; after it those documents may leave.
    ///
    /// # Errors
    /// The log cannot be written.
    pub fn commit(&mut self) -> Result<(), Error> {
        self.log.commit(self.sync != Sync::Off)
    }

    fn check_limits(&self, signature: &Signature) -> Result<(), Error> {
        let full = |what: String| {
            Err(Error::Usage(format!(
                "the index is full: {what}; --window or --expire make it forget old documents, a larger limit lets it grow"
            )))
        };
        match self.limits {
            Limits { max_documents: Some(most), window, .. } if self.len() >= most && window != Some(self.len()) => {
                full(format!("it holds {most} documents (--max-docs)"))
            }
            Limits { memory: Some(most), .. } if self.bytes_held() > most => {
                full(format!("its tables take more than {most} bytes (--memory)"))
            }
            _ if self.keys.len() + signature.tags.len() >= u32::MAX as usize
                || self.places.len() >= u32::MAX as usize =>
            {
                full("it holds 4,294,967,295 documents or keys of documents".into())
            }
            _ => Ok(()),
        }
    }

    /// Forgets what is too old; makes the tables again when that is most of what they hold.
    fn forget(&mut self, now: u64) -> Result<(), Error> {
        if let Some(window) = self.limits.window {
            let first = (self.places.len() as u64).saturating_sub(window);
            self.forgotten = self.forgotten.max(first as u32);
        }
        if let Some(expire) = self.limits.expire {
            let is_old = |time: u32| u64::from(time).saturating_add(expire) <= now;
            while self.times.get(self.forgotten as usize).is_some_and(|&time| is_old(time)) {
                self.forgotten += 1;
            }
        }
        if self.forgotten as usize > self.places.len() / 2 + FEW { self.make_again() } else { Ok(()) }
    }

    /// Makes the tables again, of what is not forgotten.
    fn make_again(&mut self) -> Result<(), Error> {
        let places = self.places.split_off(self.forgotten as usize);
        self.places.clear();
        self.times.clear();
        self.fingerprints.clear();
        self.ends.clear();
        self.outlines.clear();
        (self.keys, self.ids) = Default::default();
        self.forgotten = 0;
        self.log.drop_before(places.first().copied().unwrap_or(self.log.len()));
        for place in places {
            let record = self.log.read(place)?;
            self.remember(place, &record);
        }
        Ok(())
    }

    fn is_known(&mut self, id: &str, signature: &Signature) -> Result<bool, Error> {
        let mut candidates = std::mem::take(&mut self.candidates);
        candidates.clear();
        self.ids.find(id_tag(id, signature.sequence), |document| candidates.push(document));
        let mut known = false;
        for &document in candidates.iter().filter(|&&document| document >= self.forgotten) {
            let record = self.log.read(self.places[document as usize])?;
            known |= record.id == id && record.sequence == signature.sequence;
        }
        self.candidates = candidates;
        Ok(known)
    }

    /// The most similar document at or above the threshold; the earliest of several.
    fn most_similar(&mut self, signature: &Signature) -> Result<Option<(u32, Similarity)>, Error> {
        let mut candidates = std::mem::take(&mut self.candidates);
        candidates.clear();
        for &tag in &signature.tags {
            self.keys.find(tag, |document| candidates.push(document));
        }
        candidates.sort_unstable();
        candidates.dedup();
        let mut best: Option<(u32, Similarity)> = None;
        let forgotten = self.forgotten;
        for &document in candidates.iter().filter(|&&document| document >= forgotten) {
            let similarity = self.similarity(document, signature)?;
            if similarity.is_some_and(|similarity| best.is_none_or(|(_, best)| similarity.value() > best.value())) {
                best = similarity.map(|similarity| (document, similarity));
            }
        }
        self.candidates = candidates;
        Ok(best)
    }

    fn similarity(&mut self, document: u32, signature: &Signature) -> Result<Option<Similarity>, Error> {
        let at = document as usize;
        if self.algorithm.compares() == Compares::Fingerprints {
            let start = at.checked_sub(1).map_or(0, |before| self.ends[before]) as usize;
            let fingerprint = &self.fingerprints[start..self.ends[at] as usize];
            return Ok(self.algorithm.compare(fingerprint, &signature.evidence));
        }
        let (size, own) = &self.outlines[at];
        if !can_reach(&*self.algorithm, (*size, own), (signature.evidence.len() as u32, &signature.parities)) {
            return Ok(None);
        }
        let stored = self.log.read(self.places[at])?;
        Ok(self.algorithm.compare(&stored.evidence, &signature.evidence))
    }

    /// Enters a document of the log into the tables.
    fn remember(&mut self, place: u64, record: &Record) {
        let document = self.places.len() as u32;
        self.places.push(place);
        if self.limits.expire.is_some() {
            self.times.push(record.time.try_into().unwrap_or(u32::MAX));
        }
        if self.algorithm.compares() == Compares::Fingerprints {
            self.fingerprints.extend_from_slice(&record.evidence);
            self.ends.push(self.fingerprints.len() as u64);
        } else {
            self.outlines.push((record.evidence.len() as u32, parities(&record.evidence)));
        }
        record.tags(&*self.algorithm).iter().for_each(|&tag| self.keys.insert(tag, document));
        self.ids.insert(id_tag(&record.id, record.sequence), document);
    }
}

/// So many forgotten documents may stay in the tables.
const FEW: usize = 1000;

/// What a document goes by in the table of ids: by its tokens too, as an id can come again and again with others.
fn id_tag(id: &str, sequence: u128) -> u32 {
    (combine(xxh3_64(id.as_bytes()), sequence as u64) >> 32) as u32
}

/// What an index file says of itself.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// How its signatures were made.
    pub header: Value,
    /// Documents in it, those without features included.
    pub documents: u64,
    /// Documents without features.
    pub featureless: u64,
    /// When the first and the last of them were let through, in seconds since 1970.
    pub times: Option<(u64, u64)>,
    /// Bytes of the file that hold whole records.
    pub bytes: u64,
    /// What an interrupted write left behind them. It is not cut off.
    pub torn: Option<Repair>,
}

/// Reads an index from start to end, every checksum included, and hands over the id of each document with the time when it was let
/// through. The file is not changed, and may have a writer meanwhile.
///
/// # Errors
/// The file cannot be read, is no index, or is damaged; or what `each` returns.
pub fn inspect(path: &Path, mut each: impl FnMut(&str, u64) -> Result<(), Error>) -> Result<Summary, Error> {
    let stored = Stored::open(path)?;
    let (header, mut documents, mut featureless, mut times) = (stored.header.clone(), 0, 0, None::<(u64, u64)>);
    let mut failure = None;
    let (bytes, torn) = stored.each(|_, record| {
        documents += 1;
        featureless += u64::from(record.kind == log::Kind::Featureless);
        times = Some(
            times.map_or((record.time, record.time), |(first, last)| (first.min(record.time), last.max(record.time))),
        );
        if failure.is_none() {
            failure = each(&record.id, record.time).err();
        }
    })?;
    match failure {
        Some(error) => Err(error),
        None => Ok(Summary { header, documents, featureless, times, bytes, torn }),
    }
}
