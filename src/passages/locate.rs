//! From tokens to bytes and lines: the documents that have places are read again.

use super::cutting::{Cutting, PassageOptions, memory_of_reading, sequence_of};
use crate::error::Error;
use crate::run::batches::{Numbered, Side, in_parallel};
use crate::run::observer::{Observer, Stage};
use crate::source::{Document, Problem, ProblemKind, Severity};
use crate::tokenizer::TokenDetail;
use std::collections::BTreeSet;
use std::ops::Range;

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
    /// The first document of each batch.
    batches: Vec<u32>,
    /// The number of those of the reference.
    pub references: u32,
}

impl Documents {
    /// Adds those of a batch.
    pub fn add(&mut self, reference: bool, sequences: &[u64], (ids, id_ends): (&str, &[usize])) {
        self.batches.push(self.sequences.len() as u32);
        self.sequences.extend_from_slice(sequences);
        let before = self.ids.len();
        self.ids.push_str(ids);
        self.id_ends.extend(id_ends.iter().map(|end| before + end));
        if reference {
            self.references = self.sequences.len() as u32;
        }
    }

    /// The id of a document.
    pub fn id(&self, number: u32) -> &str {
        let number = number as usize;
        let start = number.checked_sub(1).map_or(0, |before| self.id_ends[before]);
        &self.ids[start..self.id_ends[number]]
    }

    /// The document of a token.
    pub fn number_at(&self, token: u64) -> u32 {
        self.starts.partition_point(|&start| start <= token) as u32 - 1
    }

    /// Those of a batch.
    fn of_batch(&self, number: usize) -> Range<u32> {
        let all = self.sequences.len() as u32;
        let first = |number: usize| self.batches.get(number).copied().unwrap_or(all);
        first(number)..first(number + 1)
    }
}

/// A range of tokens, and the number of its result.
pub(super) struct Sought {
    pub at: u64,
    pub tokens: u32,
    pub target: u32,
}

/// Where it is: bytes, and the line, from 1. The default is nowhere.
#[derive(Clone, Copy, Default)]
pub(super) struct Located {
    pub start: u32,
    pub end: u32,
    pub line: u32,
}

/// What was located in a batch.
#[derive(Default)]
pub(super) struct LocatedPart {
    bytes: u64,
    unpacked: u64,
    /// Each with its target, in the order in which they are sought.
    pub places: Vec<(u32, Located)>,
    /// The texts of those that are wanted, back to back.
    pub texts: String,
    /// The documents that have changed.
    changed: Vec<u32>,
    refused: Option<Error>,
}

/// Reads documents again.
pub(super) struct Locator<'a> {
    pub documents: &'a Documents,
    pub options: &'a PassageOptions,
    pub observer: &'a dyn Observer,
}

impl Locator<'_> {
    /// Locates what is sought, in the order of the tokens, and passes on what is in each batch, in order. Returns the problems of
    /// documents that have changed, which are reported, and added to `reported` so that each is only once.
    ///
    /// # Errors
    /// Those of `take`, or a source fails as a whole.
    pub fn locate(
        &self,
        sources: &mut [Side<'_>],
        sought: &[Sought],
        with_text: impl Fn(u32) -> bool + Sync,
        reported: &mut BTreeSet<u32>,
        mut take: impl FnMut(LocatedPart) -> Result<(), Error>,
    ) -> Result<Vec<Problem>, Error> {
        let Locator { documents, options, observer } = *self;
        observer.stage(Stage::Rereading);
        let (signing, threads, room) = memory_of_reading(options);
        let (mut problems, mut found) = (Vec::new(), 0);
        let mut report = |document| {
            if reported.insert(document) {
                let problem = changed(documents.id(document));
                observer.problem(&problem);
                problems.push(problem);
            }
        };
        in_parallel(
            (threads, room),
            sources,
            |_| Ok(()),
            || (Cutting::new(options, &signing), Vec::new()),
            |(), numbered, (cutting, words)| self.part(numbered, sought, &with_text, cutting, words),
            |mut part: LocatedPart| {
                if let Some(refused) = part.refused.take() {
                    return Err(refused);
                }
                observer.unpacked(part.unpacked);
                observer.progress(part.bytes, 0);
                if observer.is_stopped() {
                    return Err(Error::Stopped);
                }
                part.changed.drain(..).for_each(&mut report);
                found += 1;
                take(part)
            },
        )?;
        let missing = documents.of_batch(found).start;
        let begins = documents.starts.get(missing as usize).copied().unwrap_or(u64::MAX);
        if let Some(sought) = sought.last().filter(|sought| sought.at >= begins) {
            report(documents.number_at(sought.at));
        }
        Ok(problems)
    }

    fn part(
        &self,
        numbered: Numbered,
        sought: &[Sought],
        with_text: &impl Fn(u32) -> bool,
        cutting: &mut Cutting<'_>,
        words: &mut Vec<u64>,
    ) -> LocatedPart {
        let (documents, batch) = (self.documents, numbered.batch);
        let mut part =
            LocatedPart { bytes: batch.bytes_read(), unpacked: batch.bytes_unpacked(), ..LocatedPart::default() };
        let range = documents.of_batch(numbered.number);
        let place = |document: u32| {
            let start = documents.starts.get(document as usize).copied().unwrap_or(u64::MAX);
            sought.partition_point(|sought| sought.at < start)
        };
        if place(range.start) == place(range.end) {
            return part;
        }
        let mut next = range.start;
        batch.documents(&mut |read| {
            let Ok(read) = read else { return };
            let number = next;
            next += 1;
            let own = if number < range.end { &sought[place(number)..place(number + 1)] } else { &[] };
            if own.is_empty() {
                return;
            }
            words.clear();
            let first = documents.starts[number as usize];
            let cut = cutting.cut(&read, TokenDetail::Everything, words, |tokens, words, _| {
                let is_same = sequence_of(words, self.options.seed) == documents.sequences[number as usize];
                if !is_same {
                    return part.changed.push(number);
                }
                let (mut lines, mut counted) = (1, 0);
                for sought in own {
                    let token = (sought.at - first) as usize;
                    let (start, end) = (tokens.span(token).start, tokens.span(token + sought.tokens as usize - 1).end);
                    lines += new_lines(&read, counted..start);
                    counted = start;
                    part.places.push((sought.target, Located { start: start as u32, end: end as u32, line: lines }));
                    if with_text(sought.target) {
                        part.texts.push_str(&read.text[start..end]);
                    }
                }
            });
            if let Err(error) = cut {
                part.refused = Some(error);
            }
        });
        // Records that are no documents any more.
        let missing = next.min(range.end)..range.end;
        let has_places = |number: &u32| place(*number) < place(number + 1);
        part.changed.extend(missing.filter(has_places));
        part
    }
}

/// The line ends in these bytes.
fn new_lines(document: &Document<'_>, bytes: Range<usize>) -> u32 {
    memchr::memchr_iter(b'\n', &document.text.as_bytes()[bytes]).count() as u32
}

fn changed(id: &str) -> Problem {
    let message = format!("document '{id}' changed between two readings; no passage in it is reported");
    let place = crate::source::Place::new(id, None);
    Problem::at(place, Severity::Failed, ProblemKind::Changed, message)
}
