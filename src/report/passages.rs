//! Passages as JSON lines.

use super::{cannot_write, write_line};
use crate::error::Error;
use crate::passages::{Containment, DocumentPair, DocumentSpans, PairedPassage, Passage, PassagePlace, SharedPassage};
use serde::Serialize;
use std::io::Write;

/// A record. Future versions may add fields at the end of each, but do not change these.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum Record<'a> {
    Passage {
        id: u64,
        words: u64,
        count: u64,
        places: Vec<Place<'a>>,
        text: &'a str,
    },
    Spans {
        id: &'a str,
        spans: Vec<[usize; 2]>,
    },
    Shared {
        a: &'a str,
        b: &'a str,
        passages: Vec<Paired>,
    },
    Containment {
        id: &'a str,
        r#in: &'a str,
        coverage: f64,
        coverage_all: f64,
        words: u64,
        passages: Vec<Shared>,
        #[serde(skip_serializing_if = "Option::is_none")]
        left_out: Option<u64>,
    },
}

/// Where a passage of two documents stands.
#[derive(Serialize)]
struct Shared {
    start: usize,
    end: usize,
    line: usize,
    in_start: usize,
    in_end: usize,
    in_line: usize,
}

impl From<&SharedPassage> for Shared {
    fn from(SharedPassage { range, line, in_range, in_line }: &SharedPassage) -> Self {
        let (line, in_line) = (*line, *in_line);
        Shared { start: range.start, end: range.end, line, in_start: in_range.start, in_end: in_range.end, in_line }
    }
}

/// A passage at two places.
#[derive(Serialize)]
struct Paired {
    words: u64,
    a_start: usize,
    a_end: usize,
    a_line: usize,
    b_start: usize,
    b_end: usize,
    b_line: usize,
    similarity: f64,
}

impl From<&PairedPassage> for Paired {
    fn from(passage: &PairedPassage) -> Self {
        let &PairedPassage { words, a_range, a_line, b_range, b_line, similarity } = passage;
        let [(a_start, a_end), (b_start, b_end)] = [a_range, b_range];
        Paired { words, a_start, a_end, a_line, b_start, b_end, b_line, similarity: similarity.value() }
    }
}

/// Where a passage stands.
#[derive(Serialize)]
struct Place<'a> {
    id: &'a str,
    start: usize,
    end: usize,
    line: usize,
    similarity: f64,
}

impl<'a> From<&PassagePlace<'a>> for Place<'a> {
    fn from(place: &PassagePlace<'a>) -> Self {
        let &PassagePlace { id, start, end, line, similarity, .. } = place;
        Place { id, start, end, line, similarity: similarity.value() }
    }
}

/// Writes the records of passages to a stream.
pub struct PassageLines<W: Write> {
    out: W,
}

impl<W: Write> PassageLines<W> {
    /// A writer. `out` should be buffered.
    pub fn new(out: W) -> Self {
        PassageLines { out }
    }

    /// Writes one `passage` record.
    ///
    /// # Errors
    /// [`Error::Output`] if it cannot be written; likewise for the others.
    pub fn passage(&mut self, passage: &Passage<'_>) -> Result<(), Error> {
        let &Passage { id, words, count, ref places, text } = passage;
        let places = places.iter().map(Place::from).collect();
        write_line(&mut self.out, &Record::Passage { id, words, count, places, text })
    }

    /// Writes one `spans` record.
    ///
    /// # Errors
    /// As for [`passage`](Self::passage).
    pub fn spans(&mut self, spans: &DocumentSpans<'_>) -> Result<(), Error> {
        let ranges = spans.spans.iter().map(|span| [span.start, span.end]).collect();
        write_line(&mut self.out, &Record::Spans { id: spans.id, spans: ranges })
    }

    /// Writes one `shared` record.
    ///
    /// # Errors
    /// As for [`passage`](Self::passage).
    pub fn pair(&mut self, pair: &DocumentPair<'_>) -> Result<(), Error> {
        let &DocumentPair { a, b, ref passages, .. } = pair;
        write_line(&mut self.out, &Record::Shared { a, b, passages: passages.iter().map(Paired::from).collect() })
    }

    /// Writes one `containment` record.
    ///
    /// # Errors
    /// As for [`passage`](Self::passage).
    pub fn containment(&mut self, found: &Containment<'_>) -> Result<(), Error> {
        let &Containment { id, in_id, coverage, coverage_all, words, ref passages, left_out, .. } = found;
        let record = Record::Containment {
            id,
            r#in: in_id,
            coverage: coverage.value(),
            coverage_all: coverage_all.value(),
            words,
            passages: passages.iter().map(Shared::from).collect(),
            left_out: Some(left_out).filter(|&left_out| left_out > 0),
        };
        write_line(&mut self.out, &record)
    }

    /// Flushes the stream.
    ///
    /// # Errors
    /// As for [`passage`](Self::passage).
    pub fn finish(mut self) -> Result<(), Error> {
        self.out.flush().map_err(cannot_write)
    }
}
