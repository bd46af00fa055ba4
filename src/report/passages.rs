//! Passages as JSON lines.

use super::{PairLines, add_string, add_value, cannot_write, write_line};
use crate::engine::Pair;
use crate::error::Error;
use crate::passages::{
    CONTAINMENT, ContainedPair, Container, Containment, ContainmentVerdict, Coverage, DocumentPair, DocumentSpans,
    PairedPassage, Passage, PassagePlace, PassageVerdict, ReferencePassage, ShareOf, SharedPassage,
};
use crate::run::places::At;
use crate::similarity::Similarity;
use serde::Serialize;
use std::io::Write;

/// A record. Future versions may add fields at the end of each, but do not change these.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum Record<'a> {
    Spans {
        id: &'a str,
        spans: Vec<[usize; 2]>,
        #[serde(skip_serializing_if = "Option::is_none")]
        at: Option<String>,
    },
    Shared {
        a: &'a str,
        b: &'a str,
        passages: Vec<Paired>,
        #[serde(skip_serializing_if = "Option::is_none")]
        a_at: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        b_at: Option<String>,
    },
    Containment {
        id: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        r#in: Option<&'a str>,
        coverage: f64,
        coverage_all: f64,
        words: u64,
        passages: Vec<Shared>,
        #[serde(skip_serializing_if = "Option::is_none")]
        left_out: Option<u64>,
        #[serde(skip_serializing_if = "Option::is_none")]
        at: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        in_at: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        note: Option<&'static str>,
    },
    Coverage {
        id: &'a str,
        r#in: &'a str,
        coverage: f64,
        words: u64,
        #[serde(skip_serializing_if = "Option::is_none")]
        at: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        in_at: Option<String>,
    },
    #[serde(rename = "verdict")]
    PassageVerdict {
        id: &'a str,
        keep: bool,
        #[serde(flatten)]
        shared: Option<InReference<'a>>,
        /// Why the record could not be read.
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        at: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        contains_at: Option<String>,
    },
    Verdict {
        id: &'a str,
        keep: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        r#in: Option<&'a str>,
        /// A document of the reference that it contains.
        #[serde(skip_serializing_if = "Option::is_none")]
        contains: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        coverage: Option<f64>,
        #[serde(skip_serializing_if = "Option::is_none")]
        coverage_all: Option<f64>,
        /// Why the document was not compared.
        #[serde(skip_serializing_if = "Option::is_none")]
        note: Option<&'static str>,
        /// Why the record could not be read.
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        at: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        in_at: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        contains_at: Option<String>,
    },
}

/// The note on a document that is shorter than a run.
const NO_RUNS: &str = "no runs";

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

/// A passage of a document of the reference.
#[derive(Serialize)]
struct InReference<'a> {
    contains: &'a str,
    words: u64,
    similarity: f64,
    start: usize,
    end: usize,
    contains_start: usize,
    contains_end: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    coverage: Option<f64>,
}

impl<'a> From<&ReferencePassage<'a>> for InReference<'a> {
    fn from(ReferencePassage { range, words, similarity, coverage, first }: &ReferencePassage<'a>) -> Self {
        InReference {
            contains: first.id,
            words: *words,
            similarity: similarity.value(),
            start: range.start,
            end: range.end,
            contains_start: first.range.start,
            contains_end: first.range.end,
            coverage: coverage.map(|share| share.value()),
        }
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

/// The position of a document whose id does not identify it.
fn position(place: Option<At<'_>>) -> Option<String> {
    place.map(|place| place.to_string())
}

/// Appends a `passage` record. There can be very many places, so it is put together from parts, with the fields in a fixed order.
fn add_passage(passage: &Passage<'_>, line: &mut Vec<u8>) {
    let &Passage { id, words, count, documents, ref places, text } = passage;
    line.extend_from_slice(b"{\"type\":\"passage\",\"id\":");
    add_value(&id, line);
    for (name, number) in [("words", words), ("count", count), ("documents", documents)] {
        add_number(name, number, line);
    }
    line.extend_from_slice(b",\"places\":[");
    for (number, place) in places.iter().enumerate() {
        if number > 0 {
            line.push(b',');
        }
        add_place(place, line);
    }
    line.extend_from_slice(b"],\"text\":");
    add_string(text, line);
    line.extend_from_slice(b"}\n");
}

/// Appends where a passage stands. The reference is only named where it is one.
fn add_place(passage: &PassagePlace<'_>, line: &mut Vec<u8>) {
    let &PassagePlace { id, place, is_reference, start, end, line: of_text, similarity, .. } = passage;
    line.extend_from_slice(b"{\"id\":");
    add_string(id, line);
    for (name, number) in [("start", start), ("end", end), ("line", of_text)] {
        add_number(name, number as u64, line);
    }
    line.extend_from_slice(b",\"similarity\":");
    match similarity.value() {
        1.0 => line.extend_from_slice(b"1.0"),
        value => add_value(&value, line),
    }
    if is_reference {
        line.extend_from_slice(b",\"reference\":true");
    }
    if let Some(at) = position(place) {
        line.extend_from_slice(b",\"at\":");
        add_string(&at, line);
    }
    line.push(b'}');
}

/// Appends a field that is not the first one, whose name needs no escape.
fn add_number(name: &str, number: u64, line: &mut Vec<u8>) {
    line.extend_from_slice(b",\"");
    line.extend_from_slice(name.as_bytes());
    line.extend_from_slice(b"\":");
    add_value(&number, line);
}

/// Writes the records of passages to a stream.
pub struct PassageLines<W: Write> {
    out: W,
    pair_lines: PairLines,
    line: Vec<u8>,
}

impl Default for PassageLines<Vec<u8>> {
    fn default() -> Self {
        PassageLines::new(Vec::new())
    }
}

impl<W: Write> PassageLines<W> {
    /// A writer. `out` should be buffered.
    pub fn new(out: W) -> Self {
        PassageLines { out, pair_lines: PairLines::new(CONTAINMENT, CONTAINMENT), line: Vec::new() }
    }

    /// Writes one `passage` record.
    ///
    /// # Errors
    /// [`Error::Output`] if it cannot be written; likewise for the others.
    pub fn passage(&mut self, passage: &Passage<'_>) -> Result<(), Error> {
        self.line.clear();
        add_passage(passage, &mut self.line);
        self.out.write_all(&self.line).map_err(cannot_write)
    }

    /// Writes the records of another writer.
    ///
    /// # Errors
    /// As for [`passage`](Self::passage).
    pub fn append(&mut self, other: &PassageLines<Vec<u8>>) -> Result<(), Error> {
        self.out.write_all(&other.out).map_err(cannot_write)
    }

    /// Writes one `spans` record.
    ///
    /// # Errors
    /// As for [`passage`](Self::passage).
    pub fn spans(&mut self, spans: &DocumentSpans<'_>) -> Result<(), Error> {
        let ranges = spans.spans.iter().map(|span| [span.start, span.end]).collect();
        write_line(&mut self.out, &Record::Spans { id: spans.id, spans: ranges, at: position(spans.place) })
    }

    /// Writes one `shared` record.
    ///
    /// # Errors
    /// As for [`passage`](Self::passage).
    pub fn pair(&mut self, pair: &DocumentPair<'_>) -> Result<(), Error> {
        let &DocumentPair { a, a_place, b, b_place, ref passages, .. } = pair;
        let passages = passages.iter().map(Paired::from).collect();
        let record = Record::Shared { a, b, passages, a_at: position(a_place), b_at: position(b_place) };
        write_line(&mut self.out, &record)
    }

    /// Writes one `containment` record.
    ///
    /// # Errors
    /// As for [`passage`](Self::passage).
    pub fn containment(&mut self, found: &Containment<'_>) -> Result<(), Error> {
        let &Containment { id, place, in_id, in_place, has_runs, coverage, coverage_all, words, .. } = found;
        let Containment { passages, left_out, .. } = found;
        let record = Record::Containment {
            id,
            r#in: in_id,
            coverage: coverage.value(),
            coverage_all: coverage_all.value(),
            words,
            passages: passages.iter().map(Shared::from).collect(),
            left_out: Some(*left_out).filter(|&left_out| left_out > 0),
            at: position(place),
            in_at: position(in_place),
            note: (!has_runs).then_some(NO_RUNS),
        };
        write_line(&mut self.out, &record)
    }

    /// Writes one `coverage` record.
    ///
    /// # Errors
    /// As for [`passage`](Self::passage).
    pub fn coverage(&mut self, found: &Coverage<'_>) -> Result<(), Error> {
        let &Coverage { id, place, in_id, in_place, coverage, words, .. } = found;
        let record = Record::Coverage {
            id,
            r#in: in_id,
            coverage: coverage.value(),
            words,
            at: position(place),
            in_at: position(in_place),
        };
        write_line(&mut self.out, &record)
    }

    /// Writes one `pair` record, as a scan does.
    ///
    /// # Errors
    /// As for [`passage`](Self::passage).
    pub fn contained_pair(&mut self, pair: &ContainedPair<'_>) -> Result<(), Error> {
        let &ContainedPair { a, a_document, a_place, b, b_document, b_place, similarity, .. } = pair;
        let (indices, places) = ((a_document, b_document), a_place.zip(b_place));
        self.line.clear();
        self.pair_lines.add(&Pair { a, b, indices, similarity, distance: None, places }, &mut self.line);
        self.out.write_all(&self.line).map_err(cannot_write)
    }

    /// Writes one `verdict` record, with places if ids do not identify documents.
    ///
    /// # Errors
    /// As for [`passage`](Self::passage).
    pub fn containment_verdict(&mut self, verdict: &ContainmentVerdict<'_>, with_places: bool) -> Result<(), Error> {
        let &ContainmentVerdict { id, place, keep, container, of, is_short, error, .. } = verdict;
        let (contained_in, contains) = match of {
            ShareOf::Document => (container, None),
            ShareOf::Reference => (None, container),
        };
        let at = |other: Option<Container<'_>>| position(other.filter(|_| with_places).map(|other| other.place));
        let record = Record::Verdict {
            id,
            keep,
            r#in: contained_in.map(|other| other.id),
            contains: contains.map(|other| other.id),
            coverage: container.map(|other| other.coverage.value()),
            coverage_all: container.and_then(|other| other.coverage_all).map(Similarity::value),
            note: is_short.then_some(NO_RUNS),
            error,
            at: position(with_places.then_some(place)),
            in_at: at(contained_in),
            contains_at: at(contains),
        };
        write_line(&mut self.out, &record)
    }

    /// Writes one `verdict` record, with places if ids do not identify documents.
    ///
    /// # Errors
    /// As for [`passage`](Self::passage).
    pub fn passage_verdict(&mut self, verdict: &PassageVerdict<'_>, with_places: bool) -> Result<(), Error> {
        let &PassageVerdict { id, place, keep, ref shared, error, .. } = verdict;
        let record = Record::PassageVerdict {
            id,
            keep,
            shared: shared.as_ref().map(InReference::from),
            error,
            at: position(with_places.then_some(place)),
            contains_at: position(shared.as_ref().filter(|_| with_places).map(|shared| shared.first.place)),
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A record as serde writes it.
    #[derive(Serialize)]
    #[serde(tag = "type", rename = "passage")]
    struct Plain<'a> {
        id: u64,
        words: u64,
        count: u64,
        documents: u64,
        places: Vec<PlainPlace<'a>>,
        text: &'a str,
    }

    #[derive(Serialize)]
    struct PlainPlace<'a> {
        id: &'a str,
        start: usize,
        end: usize,
        line: usize,
        similarity: f64,
        #[serde(skip_serializing_if = "Option::is_none")]
        reference: Option<bool>,
        #[serde(skip_serializing_if = "Option::is_none")]
        at: Option<String>,
    }

    proptest! {
        #[test]
        fn passages_are_put_together_as_serde_does(
            text in prop_oneof![any::<String>(), "[a-z0-9\"\\\\\n\r\t\u{8}\u{c}\u{0}\u{1f}\u{7f}é/北]{0,300}"],
            numbers in any::<[u64; 4]>(),
            places in prop::collection::vec((any::<String>(), any::<[usize; 3]>(), 1u64..9, any::<Option<u64>>()), 0..4),
        ) {
            let [id, words, count, documents] = numbers;
            let at = |line: Option<u64>| line.map(|line| At { path: &text, line: Some(line) });
            let found = places.iter().map(|(id, [start, end, line], part, position)| PassagePlace {
                id,
                place: at(*position),
                document: 0,
                is_reference: part % 2 == 0,
                start: *start,
                end: *end,
                line: *line,
                similarity: Similarity::ratio(*part, 8),
            });
            let plain = places.iter().map(|(id, [start, end, line], part, position)| PlainPlace {
                id,
                start: *start,
                end: *end,
                line: *line,
                similarity: *part as f64 / 8.0,
                reference: (part % 2 == 0).then_some(true),
                at: at(*position).map(|at| at.to_string()),
            });
            let expected = Plain { id, words, count, documents, places: plain.collect(), text: &text };
            let expected = serde_json::to_string(&expected).unwrap() + "\n";
            let mut lines = PassageLines::default();
            lines.passage(&Passage { id, words, count, documents, places: found.collect(), text: &text }).unwrap();
            prop_assert_eq!(String::from_utf8(lines.out).unwrap(), expected);
        }
    }
}
