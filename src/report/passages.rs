//! Passages as JSON lines.

use super::{cannot_write, write_line};
use crate::error::Error;
use crate::passages::{DocumentSpans, Passage, PassagePlace};
use serde::Serialize;
use std::io::Write;

/// A record. Future versions may add fields at the end of each, but do not change these.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum Record<'a> {
    Passage { id: u64, words: u64, count: u64, places: Vec<Place<'a>>, text: &'a str },
    Spans { id: &'a str, spans: Vec<[usize; 2]> },
}

/// Where a passage stands.
#[derive(Serialize)]
struct Place<'a> {
    id: &'a str,
    start: usize,
    end: usize,
    line: usize,
}

impl<'a> From<&PassagePlace<'a>> for Place<'a> {
    fn from(place: &PassagePlace<'a>) -> Self {
        Place { id: place.id, start: place.start, end: place.end, line: place.line }
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

    /// Flushes the stream.
    ///
    /// # Errors
    /// As for [`passage`](Self::passage).
    pub fn finish(mut self) -> Result<(), Error> {
        self.out.flush().map_err(cannot_write)
    }
}
