//! Results as JSON lines: one tagged record per line, fields in a fixed order.

mod passages;
#[cfg(feature = "arrow")]
pub mod table;

use crate::engine::{At, Cluster, Fingerprint, HostPair, MANY, Outcome, Pair, Partner, Portion, Report, Verdict};
use crate::error::Error;
use crate::kernel::{Level, json::plain_prefix};
use crate::postings::Buffer;
use crate::run::ordered::{self, Room};
pub use passages::PassageLines;
use serde::Serialize;
use serde_json::json;
use std::io::{self, Write};

/// A record of the output, other than a pair. Future versions may add fields at the end of each, but do not change
/// these.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum Record<'a> {
    Cluster {
        id: u64,
        size: usize,
        members: &'a [&'a str],
        keep: &'a [&'a str],
        #[serde(skip_serializing_if = "Option::is_none")]
        members_at: Option<Vec<String>>,
        #[serde(skip_serializing_if = "Option::is_none")]
        keep_at: Option<Vec<String>>,
    },
    Verdict {
        id: &'a str,
        keep: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        duplicate_of: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        similarity: Option<f64>,
        #[serde(skip_serializing_if = "Option::is_none")]
        cluster: Option<u64>,
        /// Why the document was not compared.
        #[serde(skip_serializing_if = "Option::is_none")]
        note: Option<&'static str>,
        /// Why the record could not be read.
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        at: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        duplicate_of_at: Option<String>,
    },
    Hosts {
        a: &'a str,
        b: &'a str,
        pages_a: u64,
        of_a: u64,
        share_a: f64,
        pages_b: u64,
        of_b: u64,
        share_b: f64,
    },
    Fingerprint {
        id: &'a str,
        algo: &'a str,
        /// `null` if the document has none.
        fingerprint: Option<String>,
        features: usize,
        #[serde(skip_serializing_if = "Option::is_none")]
        note: Option<&'static str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        at: Option<String>,
    },
}

/// Writes one `fingerprint` record. `out` should be buffered.
///
/// # Errors
/// [`Error::Output`] if it cannot be written.
pub fn fingerprint(out: &mut impl Write, fingerprint: &Fingerprint<'_>) -> Result<(), Error> {
    let Fingerprint { id, algorithm, features, error, at, .. } = *fingerprint;
    let record = Record::Fingerprint {
        id,
        algo: algorithm,
        fingerprint: fingerprint.hex(),
        features,
        note: note_of(fingerprint),
        error,
        at: at.map(|at| at.to_string()),
    };
    write_line(out, &record)
}

/// The note on a document without a fingerprint.
fn note_of(fingerprint: &Fingerprint<'_>) -> Option<&'static str> {
    (fingerprint.error.is_none() && fingerprint.words.is_empty()).then_some(NO_FEATURES)
}

/// The share of the pages of a host.
fn share(pages: u64, of: u64) -> f64 {
    pages as f64 / of as f64
}

/// The note on a document that the algorithm cannot compare.
const NO_FEATURES: &str = "no features";

/// Pair records. There can be very many, so they are put together from parts, with the fields in a fixed order. Future
/// versions may add fields at the end.
#[derive(Clone)]
struct PairLines {
    /// The text between the similarity and the distance, the same in each.
    what: String,
}

impl PairLines {
    fn new(measure: &str, algorithm: &str) -> Self {
        PairLines { what: format!(",\"measure\":{},\"algo\":{}", json!(measure), json!(algorithm)) }
    }

    /// Appends one record.
    fn add(&self, pair: &Pair<'_>, line: &mut Vec<u8>) {
        line.extend_from_slice(b"{\"type\":\"pair\",\"a\":");
        add_string(pair.a, line);
        line.extend_from_slice(b",\"b\":");
        add_string(pair.b, line);
        line.extend_from_slice(b",\"similarity\":");
        add_value(&pair.similarity.value(), line);
        line.extend_from_slice(self.what.as_bytes());
        if let Some(distance) = pair.distance {
            line.extend_from_slice(b",\"distance\":");
            add_value(&distance, line);
        }
        if let Some((a, b)) = pair.places {
            line.extend_from_slice(b",\"a_at\":");
            add_value(&a.to_string(), line);
            line.extend_from_slice(b",\"b_at\":");
            add_value(&b.to_string(), line);
        }
        line.extend_from_slice(b"}\n");
    }
}

/// Appends a string. Most characters need no escape.
fn add_string(string: &str, line: &mut Vec<u8>) {
    let (level, mut rest) = (Level::current(), string.as_bytes());
    line.push(b'"');
    loop {
        let (plain, others) = rest.split_at(plain_prefix(level, rest));
        line.extend_from_slice(plain);
        let Some((&byte, after)) = others.split_first() else { break };
        add_escape(byte, line);
        rest = after;
    }
    line.push(b'"');
}

/// Appends the shortest escape of a byte that needs one.
fn add_escape(byte: u8, line: &mut Vec<u8>) {
    let letter = match byte {
        b'\n' => b'n',
        b'\t' => b't',
        b'\r' => b'r',
        0x08 => b'b',
        0x0C => b'f',
        b'"' | b'\\' => byte,
        _ => {
            let digit = |value: u8| b"0123456789abcdef"[usize::from(value & 15)];
            return line.extend_from_slice(&[b'\\', b'u', b'0', b'0', digit(byte >> 4), digit(byte)]);
        }
    };
    line.extend_from_slice(&[b'\\', letter]);
}

fn add_value<T: Serialize + ?Sized>(value: &T, line: &mut Vec<u8>) {
    serde_json::to_writer(line, value).expect("strings and numbers make JSON, and memory takes it");
}

/// Writes records to a stream.
pub struct JsonLines<W: Write> {
    out: W,
    pair_lines: PairLines,
    line: Vec<u8>,
}

/// The lines of a portion.
struct Lines {
    lines: Vec<u8>,
    count: u64,
    /// The rest of a portion with more lines than are held, without so many partners of its first document.
    rest: Option<(Portion, usize)>,
}

/// So many portions wait to be written, each with lines of so many bytes.
const MOST_WAITING: usize = 24;
const MOST_BYTES: usize = 2 << 20;

impl<W: Write> JsonLines<W> {
    /// A writer for the results of a scan with this report. `out` should be buffered.
    pub fn new(out: W, report: &Report) -> Self {
        JsonLines { out, pair_lines: PairLines::new(report.measure, report.algorithm), line: Vec::new() }
    }

    /// Writes one `pair` record.
    ///
    /// # Errors
    /// [`Error::Output`] if it cannot be written; likewise for the others.
    pub fn pair(&mut self, pair: &Pair<'_>) -> Result<(), Error> {
        self.line.clear();
        self.pair_lines.add(pair, &mut self.line);
        self.out.write_all(&self.line).map_err(cannot_write)
    }

    /// Writes a `pair` record for every pair of the outcome, as [`Outcome::pairs`] and [`pair`](Self::pair) would, on
    /// this many threads; 0 means one per core. Returns their number.
    ///
    /// Memory: at most some 50 MiB, in addition to the pairs of one document.
    ///
    /// # Errors
    /// As for [`pair`](Self::pair) and [`Outcome::pairs`].
    pub fn pairs(&mut self, outcome: &Outcome, threads: usize) -> Result<u64, Error>
    where
        W: Send,
    {
        let JsonLines { out, pair_lines, .. } = self;
        let (pair_lines, threads) = (&*pair_lines, ordered::workers(threads));
        let worker = || {
            let mut list = Listing { outcome, partners: Vec::new(), buffer: Buffer::default() };
            move |portion: Result<Portion, Error>| list.lines(pair_lines, portion?)
        };
        let room = Room { pieces: MOST_WAITING.min(4 * threads), bytes: u64::MAX };
        let (mut portions, mut total) = (outcome.portions(), 0);
        let (mut list, mut line) = (Listing { outcome, partners: Vec::new(), buffer: Buffer::default() }, Vec::new());
        ordered::map(
            threads,
            room,
            || portions.next(),
            |_| 0,
            worker,
            |made: Result<Lines, Error>| {
                let Lines { lines, count, rest } = made?;
                total += count;
                out.write_all(&lines).map_err(cannot_write)?;
                let Some((portion, skipped)) = rest else { return Ok(()) };
                list.each(&portion, skipped, |_, pair| {
                    total += 1;
                    line.clear();
                    pair_lines.add(&pair, &mut line);
                    out.write_all(&line).map_err(cannot_write).map(|()| true)
                })
            },
        )?;
        Ok(total)
    }

    /// Writes one `cluster` record.
    ///
    /// # Errors
    /// As for [`pair`](Self::pair).
    pub fn cluster(&mut self, cluster: &Cluster<'_>) -> Result<(), Error> {
        let Cluster { id, members, keep, members_at, keep_at, .. } = cluster;
        let shown = |places: &Option<Vec<At<'_>>>| Some(places.as_ref()?.iter().map(At::to_string).collect());
        let (members_at, keep_at) = (shown(members_at), shown(keep_at));
        self.line(&Record::Cluster { id: *id, size: members.len(), members, keep, members_at, keep_at })
    }

    /// Writes one `verdict` record.
    ///
    /// # Errors
    /// As for [`pair`](Self::pair).
    pub fn verdict(&mut self, verdict: &Verdict<'_>) -> Result<(), Error> {
        self.line(&Record::Verdict {
            id: verdict.id,
            keep: verdict.keep,
            duplicate_of: verdict.duplicate_of.map(|(id, _)| id),
            similarity: verdict.duplicate_of.map(|(_, similarity)| similarity.value()),
            cluster: verdict.cluster,
            note: verdict.featureless.then_some(NO_FEATURES),
            error: verdict.error,
            at: verdict.at.map(|at| at.to_string()),
            duplicate_of_at: verdict.duplicate_of_at.map(|at| at.to_string()),
        })
    }

    /// Writes one `hosts` record.
    ///
    /// # Errors
    /// As for [`pair`](Self::pair).
    pub fn hosts(&mut self, hosts: &HostPair<'_>) -> Result<(), Error> {
        let HostPair { a, b, pages: (pages_a, pages_b), of: (of_a, of_b), .. } = *hosts;
        let (share_a, share_b) = (share(pages_a, of_a), share(pages_b, of_b));
        self.line(&Record::Hosts { a, b, pages_a, of_a, share_a, pages_b, of_b, share_b })
    }

    /// Flushes the stream.
    ///
    /// # Errors
    /// As for [`pair`](Self::pair).
    pub fn finish(mut self) -> Result<(), Error> {
        self.out.flush().map_err(cannot_write)
    }

    fn line(&mut self, record: &Record<'_>) -> Result<(), Error> {
        write_line(&mut self.out, record)
    }
}

/// Lists the pairs of portions.
struct Listing<'o> {
    outcome: &'o Outcome,
    partners: Vec<Partner>,
    buffer: Buffer,
}

impl<'o> Listing<'o> {
    /// Calls `each` with the pairs of a portion, but for some of its first document, until it returns false; each with the position of
    /// its second document among the partners of the first.
    fn each(
        &mut self,
        portion: &Portion,
        skipped: usize,
        mut each: impl FnMut(usize, Pair<'o>) -> Result<bool, Error>,
    ) -> Result<(), Error> {
        let Listing { outcome, partners, buffer } = self;
        let mut start = skipped;
        for document in portion.documents.clone() {
            outcome.partners_of(document, partners, buffer)?;
            start = start.max(portion.partners.start);
            for (at, &partner) in partners.iter().enumerate().take(portion.partners.end).skip(start) {
                if !each(at, outcome.pair(document, partner))? {
                    return Ok(());
                }
            }
            start = 0;
        }
        Ok(())
    }

    /// The lines of a portion, as far as they are held.
    fn lines(&mut self, pair_lines: &PairLines, portion: Portion) -> Result<Lines, Error> {
        let (mut lines, mut count, mut rest) = (Vec::new(), 0, None);
        if portion.pairs >= MANY {
            // They are written as they are made.
            return Ok(Lines { lines, count, rest: Some((portion, 0)) });
        }
        self.each(&portion, 0, |at, pair| {
            if lines.len() >= MOST_BYTES {
                let documents = pair.indices.0 as u32..portion.documents.end;
                rest = Some((Portion { documents, ..portion.clone() }, at));
                return Ok(false);
            }
            count += 1;
            pair_lines.add(&pair, &mut lines);
            Ok(true)
        })?;
        Ok(Lines { lines, count, rest })
    }
}

fn write_line(out: &mut impl Write, record: &impl Serialize) -> Result<(), Error> {
    serde_json::to_writer(&mut *out, record).map_err(|e| cannot_write(e.into()))?;
    out.write_all(b"\n").map_err(cannot_write)
}

fn cannot_write(error: io::Error) -> Error {
    Error::output("cannot write results", error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::similarity::Similarity;
    use proptest::prelude::*;

    fn written(write: impl FnOnce(&mut JsonLines<&mut Vec<u8>>)) -> String {
        let mut out = Vec::new();
        write(&mut JsonLines { out: &mut out, pair_lines: PairLines::new("hamming", "simhash"), line: Vec::new() });
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn records_as_documented() {
        let pair = Pair {
            a: "1",
            b: "7",
            indices: (0, 1),
            similarity: Similarity::ratio(62, 64),
            distance: Some(2),
            places: None,
        };
        assert_eq!(
            written(|w| w.pair(&pair).unwrap()),
            "{\"type\":\"pair\",\"a\":\"1\",\"b\":\"7\",\"similarity\":0.96875,\"measure\":\"hamming\",\"algo\":\"simhash\",\"distance\":2}\n"
        );
        let cluster = Cluster {
            id: 1,
            members: vec!["a", "b", "c"],
            keep: vec!["a"],
            indices: vec![0, 1, 2],
            keep_indices: vec![0],
            members_at: None,
            keep_at: None,
        };
        assert_eq!(
            written(|w| w.cluster(&cluster).unwrap()),
            "{\"type\":\"cluster\",\"id\":1,\"size\":3,\"members\":[\"a\",\"b\",\"c\"],\"keep\":[\"a\"]}\n"
        );
        let verdict = Verdict {
            id: "b",
            index: Some(1),
            keep: false,
            duplicate_of: Some(("a", Similarity::ratio(15, 16))),
            duplicate_of_index: Some(0),
            cluster: Some(1),
            featureless: false,
            error: None,
            is_skipped: false,
            at: None,
            duplicate_of_at: None,
        };
        assert_eq!(
            written(|w| w.verdict(&verdict).unwrap()),
            "{\"type\":\"verdict\",\"id\":\"b\",\"keep\":false,\"duplicate_of\":\"a\",\"similarity\":0.9375,\"cluster\":1}\n"
        );
        let alone =
            Verdict { id: "e\"\n", keep: true, duplicate_of: None, cluster: None, featureless: true, ..verdict };
        let place = |line| Some(At { path: "a.jsonl", line: Some(line) });
        let unread = Verdict { error: Some("not a JSON object"), featureless: false, at: place(7), ..alone };
        assert_eq!(
            written(|w| w.verdict(&unread).unwrap()),
            "{\"type\":\"verdict\",\"id\":\"e\\\"\\n\",\"keep\":true,\"error\":\"not a JSON object\",\"at\":\"a.jsonl:7\"}\n"
        );
        let ambiguous = Pair { places: place(1).zip(place(2)), ..pair };
        assert!(
            written(|w| w.pair(&ambiguous).unwrap())
                .ends_with(",\"distance\":2,\"a_at\":\"a.jsonl:1\",\"b_at\":\"a.jsonl:2\"}\n")
        );
        assert_eq!(
            written(|w| w.verdict(&alone).unwrap()),
            "{\"type\":\"verdict\",\"id\":\"e\\\"\\n\",\"keep\":true,\"note\":\"no features\"}\n"
        );
    }

    /// A pair record as serde writes it.
    #[derive(Serialize)]
    #[serde(tag = "type", rename = "pair")]
    struct Plain<'a> {
        a: &'a str,
        b: &'a str,
        similarity: f64,
        measure: &'a str,
        algo: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        distance: Option<u32>,
        #[serde(skip_serializing_if = "Option::is_none")]
        a_at: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        b_at: Option<String>,
    }

    proptest! {
        #[test]
        fn pairs_are_put_together_as_serde_does(
            a in any::<String>(), b in "[a-z0-9\"\\\\\n\u{0}\u{7f}é/]{0,80}", part in 0u64..1000, whole in 1000u64..3000,
            distance in any::<Option<u32>>(), lines in any::<Option<(u64, u64)>>(),
        ) {
            let similarity = Similarity::ratio(part, whole);
            let at = |line| At { path: &b, line: Some(line) };
            let places = lines.map(|(x, y)| (at(x), at(y)));
            let (a_at, b_at) = places.map(|(x, y)| (x.to_string(), y.to_string())).unzip();
            let value = similarity.value();
            let expected = Plain { a: &a, b: &b, similarity: value, measure: "hamming", algo: "simhash", distance, a_at, b_at };
            let expected = serde_json::to_string(&expected).unwrap() + "\n";
            prop_assert_eq!(written(|w| w.pair(&Pair { a: &a, b: &b, indices: (0, 1), similarity, distance, places }).unwrap()), expected);
        }
    }
}
