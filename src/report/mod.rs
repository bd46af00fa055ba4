//! Results as JSON lines: one tagged record a line, fields in a fixed order.

use crate::engine::{Cluster, Outcome, Pair, Verdict};
use crate::error::Error;
use serde::Serialize;
use std::io::{self, Write};

/// A record of the output. More fields may be added at the end of each; none of these changes.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum Record<'a> {
    Pair {
        a: &'a str,
        b: &'a str,
        similarity: f64,
        measure: &'a str,
        algo: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        distance: Option<u32>,
    },
    Cluster {
        id: u64,
        size: usize,
        members: &'a [&'a str],
        keep: &'a [&'a str],
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
    },
}

/// Writes records to a stream.
pub struct JsonLines<W: Write> {
    out: W,
    algorithm: &'static str,
    measure: &'static str,
}

impl<W: Write> JsonLines<W> {
    /// A writer for the results of one scan. `out` should be buffered.
    pub fn new(out: W, outcome: &Outcome) -> Self {
        JsonLines { out, algorithm: outcome.report.algorithm, measure: outcome.report.measure }
    }

    /// One `pair` record.
    ///
    /// # Errors
    /// [`Error::Io`] if it cannot be written; likewise for the others.
    pub fn pair(&mut self, pair: &Pair<'_>) -> Result<(), Error> {
        self.line(&Record::Pair {
            a: pair.a,
            b: pair.b,
            similarity: pair.similarity.value(),
            measure: self.measure,
            algo: self.algorithm,
            distance: pair.distance,
        })
    }

    /// One `cluster` record.
    ///
    /// # Errors
    /// As for [`pair`](Self::pair).
    pub fn cluster(&mut self, cluster: &Cluster<'_>) -> Result<(), Error> {
        let Cluster { id, members, keep } = cluster;
        self.line(&Record::Cluster { id: *id, size: members.len(), members, keep })
    }

    /// One `verdict` record.
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
            note: verdict.featureless.then_some("no features"),
        })
    }

    /// Flushes the stream.
    ///
    /// # Errors
    /// As for [`pair`](Self::pair).
    pub fn finish(mut self) -> Result<(), Error> {
        self.out.flush().map_err(cannot_write)
    }

    fn line(&mut self, record: &Record<'_>) -> Result<(), Error> {
        serde_json::to_writer(&mut self.out, record).map_err(|e| cannot_write(e.into()))?;
        self.out.write_all(b"\n").map_err(cannot_write)
    }
}

fn cannot_write(error: io::Error) -> Error {
    Error::io("cannot write results", error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::similarity::Similarity;

    fn written(write: impl FnOnce(&mut JsonLines<&mut Vec<u8>>)) -> String {
        let mut out = Vec::new();
        write(&mut JsonLines { out: &mut out, algorithm: "simhash", measure: "hamming" });
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn records_as_documented() {
        let pair = Pair { a: "1", b: "7", similarity: Similarity::ratio(62, 64), distance: Some(2) };
        assert_eq!(
            written(|w| w.pair(&pair).unwrap()),
            "{\"type\":\"pair\",\"a\":\"1\",\"b\":\"7\",\"similarity\":0.96875,\"measure\":\"hamming\",\"algo\":\"simhash\",\"distance\":2}\n"
        );
        let cluster = Cluster { id: 1, members: vec!["a", "b", "c"], keep: vec!["a"] };
        assert_eq!(
            written(|w| w.cluster(&cluster).unwrap()),
            "{\"type\":\"cluster\",\"id\":1,\"size\":3,\"members\":[\"a\",\"b\",\"c\"],\"keep\":[\"a\"]}\n"
        );
        let verdict = Verdict {
            id: "b",
            keep: false,
            duplicate_of: Some(("a", Similarity::ratio(15, 16))),
            cluster: Some(1),
            featureless: false,
        };
        assert_eq!(
            written(|w| w.verdict(&verdict).unwrap()),
            "{\"type\":\"verdict\",\"id\":\"b\",\"keep\":false,\"duplicate_of\":\"a\",\"similarity\":0.9375,\"cluster\":1}\n"
        );
        let alone = Verdict { id: "e\"\n", keep: true, duplicate_of: None, cluster: None, featureless: true };
        assert_eq!(
            written(|w| w.verdict(&alone).unwrap()),
            "{\"type\":\"verdict\",\"id\":\"e\\\"\\n\",\"keep\":true,\"note\":\"no features\"}\n"
        );
    }
}
