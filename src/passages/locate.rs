//! From tokens to bytes and lines: the documents that have places are read again.

use super::cutting::{Cutting, PassageOptions, WordOptions, memory_of_reading, sequence_of};
use super::sites::{Located, Sites};
use crate::error::Error;
use crate::run::batches::{Numbered, Side, in_parallel};
use crate::run::observer::{Observer, Stage};
use crate::run::ordered::Load;
use crate::run::places::{At, Places};
use crate::source::{Document, Place, Problem, ProblemKind, Severity};
use crate::tokenizer::{TokenDetail, Tokens};
use std::collections::BTreeSet;
use std::ops::Range;
use xxhash_rust::xxh3::xxh3_64;

/// The documents that were read, in their order.
#[derive(Default)]
pub(super) struct Documents {
    /// The first token of each, in all together, and the end of the last one.
    pub starts: Vec<u64>,
    /// What identifies the tokens of each.
    sequences: Vec<u64>,
    /// The ids, back to back, and where each ends.
    ids: String,
    id_ends: Vec<usize>,
    /// The batches of the source, and of the reference.
    sides: [Batches; 2],
    /// Where each was read.
    places: Places,
}

/// What the promise about the memory of the process allows for what is kept of the documents, and of each.
const BYTES_OF_ALL: u64 = 16 << 20;
const BYTES_OF_EACH: u64 = 40;

/// The batches of one side.
#[derive(Default)]
struct Batches {
    /// The first document of each.
    first: Vec<u32>,
    /// The end of the documents of the last one.
    end: u32,
}

impl Documents {
    /// Adds those of a batch, and where they were read.
    pub fn add(&mut self, reference: bool, sequences: &[u64], (ids, id_ends): (&str, &[usize]), places: &Places) {
        let side = &mut self.sides[usize::from(reference)];
        side.first.push(self.sequences.len() as u32);
        self.sequences.extend_from_slice(sequences);
        side.end = self.sequences.len() as u32;
        let before = self.ids.len();
        self.ids.push_str(ids);
        self.id_ends.extend(id_ends.iter().map(|end| before + end));
        self.places.append(places);
    }

    /// The bytes for what is kept of the documents that the promise about the memory of the process does not have room for.
    pub fn bytes_beyond(&self) -> u64 {
        let (count, each) = (self.sequences.len() as u64, size_of::<(u64, u64, usize, u32)>() as u64);
        (self.ids.len() as u64 + each * count).saturating_sub(BYTES_OF_ALL + BYTES_OF_EACH * count)
    }

    /// Checks that what is kept of the documents fits half of the memory.
    ///
    /// # Errors
    /// It does not.
    pub fn check(&self, memory: u64) -> Result<(), Error> {
        if self.bytes_beyond() <= memory / 2 {
            return Ok(());
        }
        let count = self.sequences.len();
        Err(Error::Full(format!(
            "the ids of the first {count} documents do not fit `memory` ({memory} bytes): allow more"
        )))
    }

    /// Where a document was read.
    pub fn place(&self, number: u32) -> At<'_> {
        self.places.at(number)
    }

    /// The end of the documents of the reference: their number, if they come first.
    pub fn end_of_references(&self) -> u32 {
        self.sides[1].end
    }

    /// Their number.
    pub fn len(&self) -> u32 {
        self.sequences.len() as u32
    }

    /// The id of a document.
    pub fn id(&self, number: u32) -> &str {
        let number = number as usize;
        let start = number.checked_sub(1).map_or(0, |before| self.id_ends[before]);
        &self.ids[start..self.id_ends[number]]
    }

    /// Whether an id does not identify a record of its side. `others` are the ids of records of the source that are not documents.
    pub fn ids_repeat<'a>(&'a self, others: impl Iterator<Item = &'a str>) -> bool {
        let ids = |reference: bool| self.since_batch(reference, 0).map(|number| self.id(number));
        repeat(ids(false).chain(others)) || repeat(ids(true))
    }

    /// Whether an id does not identify a document of both sides together.
    pub fn ids_repeat_across(&self) -> bool {
        repeat((0..self.len()).map(|number| self.id(number)))
    }

    /// The document of a token.
    pub fn number_at(&self, token: u64) -> u32 {
        self.starts.partition_point(|&start| start <= token) as u32 - 1
    }

    /// The mean length of their ids, rounded up.
    pub fn mean_id_bytes(&self) -> u64 {
        (self.ids.len() as u64).div_ceil(u64::from(self.len().max(1)))
    }

    /// Those of a batch of one side.
    fn of_batch(&self, reference: bool, number: usize) -> Range<u32> {
        let Batches { first: of_batches, end } = &self.sides[usize::from(reference)];
        let first = |number: usize| of_batches.get(number).copied().unwrap_or(*end);
        first(number)..first(number + 1)
    }

    /// Those of one side from a batch on.
    fn since_batch(&self, reference: bool, number: usize) -> Range<u32> {
        self.of_batch(reference, number).start..self.sides[usize::from(reference)].end
    }
}

/// Whether one of these ids comes twice.
fn repeat<'a>(ids: impl Iterator<Item = &'a str>) -> bool {
    let mut hashes: Vec<u64> = ids.map(|id| xxh3_64(id.as_bytes())).collect();
    hashes.sort_unstable();
    hashes.windows(2).any(|two| two[0] == two[1])
}

/// What was located in a batch.
#[derive(Default)]
pub(super) struct LocatedPart {
    /// The documents in which something was sought and found.
    pub documents: Vec<u32>,
    /// The sites whose text is wanted, and these texts, each filled up with zeros to whole words.
    pub sites: Vec<u32>,
    pub texts: Vec<u64>,
}

/// Reads documents again.
pub(super) struct Locator<'a> {
    pub documents: &'a Documents,
    pub options: &'a PassageOptions,
    pub observer: &'a dyn Observer,
}

/// What is made of documents that are read again.
pub(super) trait Made: Default + Send {
    /// The memory of what grows with the documents.
    fn bytes_held(&self) -> u64;
}

impl Made for LocatedPart {
    fn bytes_held(&self) -> u64 {
        let LocatedPart { documents, sites, texts } = self;
        (size_of::<u32>() * (documents.capacity() + sites.capacity()) + 8 * texts.capacity()) as u64
    }
}

impl Locator<'_> {
    /// Locates what is sought, and passes on, in order, what else there is of each batch: `with_text` says of which sites the text is wanted.
    /// Returns the number of documents that have changed, which are reported.
    ///
    /// # Errors
    /// Those of `take`, or a source fails as a whole.
    pub fn locate(
        &self,
        sources: &mut [Side<'_>],
        sites: &Sites,
        with_text: impl Fn(usize) -> bool + Sync,
        reported: &mut BTreeSet<u32>,
        take: impl FnMut(LocatedPart) -> Result<(), Error>,
    ) -> Result<u64, Error> {
        let Locator { documents, options, observer } = *self;
        let again = Again { documents, words: options.words(), observer, lost: &|_| "no passage in it is reported" };
        let has_sites = |number: u32| !sites.of_document(number).is_empty();
        let visit = |part: &mut LocatedPart, number: u32, again: &AgainDocument<'_>| {
            let AgainDocument { document, tokens, .. } = again;
            let first = documents.starts[number as usize];
            let (mut line, mut counted) = (1, 0);
            part.documents.push(number);
            for number_of_site in sites.of_document(number) {
                let site = sites.site(number_of_site);
                let (at, count, _) = site.range();
                let token = (at - first) as usize;
                let last = token + count as usize - 1;
                let (start, end) = (tokens.span(token).start, tokens.span(last).end);
                line += new_lines(document, counted..start);
                counted = start;
                site.locate(Located { start: start as u32, end: end as u32, line, document: number });
                if with_text(number_of_site) {
                    part.sites.push(number_of_site as u32);
                    add_text(&document.text[start..end], &mut part.texts);
                }
            }
            Ok(())
        };
        again.read(sources, has_sites, visit, reported, take)
    }
}

/// Appends a text as words, of which the last is filled with zeros.
fn add_text(text: &str, words: &mut Vec<u64>) {
    let (whole, rest) = text.as_bytes().as_chunks();
    words.extend(whole.iter().map(|&bytes| u64::from_le_bytes(bytes)));
    if !rest.is_empty() {
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        words.push(u64::from_le_bytes(last));
    }
}

/// What to do about a document that has changed.
pub(super) const RUN_AGAIN: &str = "run again when nothing writes to the files";

/// A document that was read again, with the same words as before.
pub(super) struct AgainDocument<'a> {
    pub document: &'a Document<'a>,
    pub tokens: &'a Tokens,
    pub words: &'a [u64],
}

/// Another reading of documents, which finds out which of them have changed.
pub(super) struct Again<'a> {
    pub documents: &'a Documents,
    pub words: WordOptions<'a>,
    pub observer: &'a dyn Observer,
    /// What is missing because this document has changed.
    pub lost: &'a (dyn Fn(u32) -> &'static str + Sync),
}

/// What is made of a batch that is read again.
struct AgainPart<T> {
    bytes: u64,
    unpacked: u64,
    /// Of documents that have changed.
    problems: Vec<(u32, Problem)>,
    refused: Option<Error>,
    result: T,
}

impl Again<'_> {
    /// Cuts the documents that are `wanted`, passes them to `visit` on some thread with the result for the batch that they are in, and
    /// passes these results on, in order. Documents that have changed are left out: they are reported as problems, and added to
    /// `reported` so that each is reported only once. Returns the number of those that were added. One more batch on one side does not
    /// change the documents of the other.
    ///
    /// # Errors
    /// Those of `visit` and of `take`, or a source fails as a whole.
    pub fn read<T: Made>(
        &self,
        sources: &mut [Side<'_>],
        wanted: impl Fn(u32) -> bool + Sync,
        visit: impl Fn(&mut T, u32, &AgainDocument<'_>) -> Result<(), Error> + Sync,
        reported: &mut BTreeSet<u32>,
        mut take: impl FnMut(T) -> Result<(), Error>,
    ) -> Result<u64, Error> {
        let Again { documents, words, observer, .. } = *self;
        observer.stage(Stage::Rereading);
        let (signing, threads, room) = memory_of_reading(&words);
        let mut changed = 0;
        let mut report = |(document, problem): (u32, Problem)| {
            if reported.insert(document) {
                observer.problem(&problem);
                changed += 1;
            }
        };
        for side in sources {
            let (reference, mut found) = (side.reference, 0);
            in_parallel(
                (threads, room),
                std::slice::from_mut(side),
                |_| Ok(()),
                || (Cutting::new(words, &signing), Vec::new()),
                |(), numbered, (cutting, words)| self.part(numbered, &wanted, &visit, cutting, words),
                |(part, _load): (AgainPart<T>, Load)| {
                    if let Some(refused) = part.refused {
                        return Err(refused);
                    }
                    observer.unpacked(part.unpacked);
                    observer.progress(part.bytes, 0);
                    if observer.is_stopped() {
                        return Err(Error::Stopped);
                    }
                    part.problems.into_iter().for_each(&mut report);
                    found += 1;
                    take(part.result)
                },
            )?;
            // Batches that are missing now.
            let missing = documents.since_batch(reference, found).filter(|&number| wanted(number));
            missing.for_each(|number| report((number, self.changed(number, None))));
        }
        Ok(changed)
    }

    fn part<T: Made>(
        &self,
        numbered: Numbered,
        wanted: &impl Fn(u32) -> bool,
        visit: &impl Fn(&mut T, u32, &AgainDocument<'_>) -> Result<(), Error>,
        cutting: &mut Cutting<'_>,
        words: &mut Vec<u64>,
    ) -> (AgainPart<T>, Load) {
        let documents = self.documents;
        let Numbered { number, reference, batch, mut load } = numbered;
        let counted = batch.bytes_held();
        let (bytes, unpacked) = (batch.bytes_read(), batch.bytes_unpacked());
        let mut part = AgainPart { bytes, unpacked, problems: Vec::new(), refused: None, result: T::default() };
        let range = documents.of_batch(reference, number);
        if !range.clone().any(wanted) {
            return (part, load);
        }
        let mut next = range.start;
        batch.documents(&mut |read| {
            let Ok(document) = &read else { return };
            let number = next;
            next += 1;
            if number >= range.end || !wanted(number) || part.refused.is_some() {
                return;
            }
            words.clear();
            let cut = cutting.cut(document, TokenDetail::Everything, words, |tokens, words, _| {
                if sequence_of(words, self.words.seed) != documents.sequences[number as usize] {
                    part.problems.push((number, self.changed(number, Some(&document.place))));
                    return Ok(());
                }
                visit(&mut part.result, number, &AgainDocument { document, tokens, words })
            });
            part.refused = cut.and_then(|visited| visited).err();
            cutting.free(words);
            // The weight of a batch has its size twice: once for what is made of it.
            load.raise(part.result.bytes_held().saturating_sub(counted));
        });
        // Records that are not documents now.
        let missing = next.min(range.end)..range.end;
        let missing = missing.filter(|&number| wanted(number));
        part.problems.extend(missing.map(|number| (number, self.changed(number, None))));
        (part, load)
    }

    /// The problem of a document that has changed, at its place now.
    fn changed(&self, number: u32, place: Option<&Place>) -> Problem {
        let id = self.documents.id(number);
        let lost = (self.lost)(number);
        let message = format!("document '{id}' changed between two readings: {lost}; {RUN_AGAIN}");
        let place = place.cloned().unwrap_or_else(|| Place::new(id, None));
        Problem::at(place, Severity::Failed, ProblemKind::Changed, message)
    }
}

/// The line ends in these bytes.
fn new_lines(document: &Document<'_>, bytes: Range<usize>) -> u32 {
    memchr::memchr_iter(b'\n', &document.text.as_bytes()[bytes]).count() as u32
}
