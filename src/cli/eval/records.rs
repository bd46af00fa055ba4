//! The records of `dedup eval`.

use super::super::preparation::{Described, Tokenization};
use super::super::spread::Spread;
use neardups::Error;
use neardups::algorithm::Value;
use neardups::engine::Outcome;
use neardups::evaluate::{Bin, Bins, Disagreement, Evaluation, Mistake, Scope, Scores, Swept};
use neardups::similarity::Similarity;
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::{self, Write};

/// One line of the output.
#[derive(Serialize)]
pub struct Record<'a> {
    r#type: &'static str,
    algo: &'a str,
    parameters: BTreeMap<&'a str, &'a Value>,
    documents: u64,
    truth_pairs: u64,
    predicted_pairs: u64,
    precision: Option<f64>,
    recall: f64,
    f1: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ari: Option<f64>,
    right: u64,
    wrong: u64,
    missed: u64,
    ignored: u64,
    tokenizer: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    accuracy: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    distribution: Option<Spread<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bins: Option<Vec<BinRecord>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    not_compared: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    no_bins: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    preparation: Option<&'a Described>,
    #[serde(flatten)]
    sample: Option<SampleFields>,
}

/// The further fields of a record if the labels are a sample.
#[derive(Serialize)]
struct SampleFields {
    truth_is: &'static str,
    truth_negatives: u64,
    unlabelled: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    precision_interval: Option<[f64; 2]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    recall_interval: Option<[f64; 2]>,
}

impl SampleFields {
    fn of(scores: &Scores) -> Option<Self> {
        (scores.scope == Scope::Sample).then(|| SampleFields {
            truth_is: "sample",
            truth_negatives: scores.negatives,
            unlabelled: scores.unlabelled,
            precision_interval: scores.precision_interval().map(|ends| ends.map(rounded)),
            recall_interval: scores.recall_interval().map(|ends| ends.map(rounded)),
        })
    }
}

/// Labelled pairs in a range of similarity.
#[derive(Serialize)]
pub struct BinRecord {
    from: f64,
    to: f64,
    pairs: u64,
    found: u64,
    recall: f64,
    predicted: f64,
}

/// To four decimals.
fn rounded(part: f64) -> f64 {
    (part * 1e4).round() / 1e4
}

impl<'a> Record<'a> {
    pub fn new(
        outcome: &'a Outcome,
        documents: u64,
        evaluation: &Evaluation,
        bins: &Result<Bins, Error>,
        tokens: &'a Tokenization,
    ) -> Self {
        let (report, scores) = (&outcome.report, &evaluation.scores);
        Record {
            r#type: "eval",
            algo: report.algorithm,
            parameters: report.parameters.iter().map(|row| (row.name, &row.value)).collect(),
            documents,
            truth_pairs: scores.labelled,
            predicted_pairs: scores.predicted(),
            precision: scores.precision(),
            recall: scores.recall(),
            f1: scores.f1(),
            ari: evaluation.ari,
            right: scores.right,
            wrong: scores.wrong,
            missed: scores.missed(),
            ignored: scores.ignored,
            tokenizer: report.tokenizer.as_deref().unwrap_or(&tokens.name),
            accuracy: evaluation.accuracy,
            distribution: report.distribution.as_ref().map(Spread::brief),
            bins: bins.as_ref().ok().map(|bins| bins.bins.iter().map(BinRecord::new).collect()),
            not_compared: bins.as_ref().ok().map(|bins| bins.not_compared),
            no_bins: bins.as_ref().err().map(Error::to_string),
            preparation: tokens.prepared.as_ref(),
            sample: SampleFields::of(scores),
        }
    }
}

impl BinRecord {
    pub fn new(bin: &Bin) -> Self {
        let Bin { from, to, pairs, found, predicted } = *bin;
        BinRecord { from, to, pairs, found, recall: rounded(bin.recall()), predicted: rounded(predicted) }
    }
}

/// A pair on which an outcome and the labels disagree.
#[derive(Serialize)]
pub struct MistakeRecord<'a> {
    r#type: &'static str,
    error: &'static str,
    a: &'a str,
    b: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    similarity: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    measure: Option<&'a str>,
    algo: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    distance: Option<u32>,
    a_at: String,
    b_at: String,
}

/// Replaces a [`Record`] for an algorithm that refuses these documents.
#[derive(Serialize)]
pub struct Refusal<'a> {
    pub r#type: &'static str,
    pub algo: &'a str,
    pub refused: &'a str,
}

/// One point of a sweep, or the best of them.
#[derive(Serialize)]
pub struct Point<'a> {
    r#type: &'static str,
    algo: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    threshold: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    distance: Option<u32>,
    truth_pairs: u64,
    predicted_pairs: u64,
    precision: Option<f64>,
    recall: f64,
    f1: Option<f64>,
    right: u64,
    wrong: u64,
    missed: u64,
    ignored: u64,
    #[serde(flatten)]
    sample: Option<SampleFields>,
}

impl<'a> Point<'a> {
    pub fn new(r#type: &'static str, algo: &'a str, swept: Swept, value: f64, scores: &Scores) -> Self {
        let (threshold, distance) = match swept {
            Swept::Threshold(_) => (Some(value), None),
            Swept::Distance(_) => (None, Some(value as u32)),
        };
        Point {
            r#type,
            algo,
            threshold,
            distance,
            truth_pairs: scores.labelled,
            predicted_pairs: scores.predicted(),
            precision: scores.precision(),
            recall: scores.recall(),
            f1: scores.f1(),
            right: scores.right,
            wrong: scores.wrong,
            missed: scores.missed(),
            ignored: scores.ignored,
            sample: SampleFields::of(scores),
        }
    }
}

/// Writes the pairs on which the outcome and the labels disagree.
pub fn write_mistakes(
    outcome: &Outcome,
    mistakes: impl Iterator<Item = Result<Mistake, Error>>,
    mut out: &mut dyn Write,
    cannot_write: impl Fn(io::Error) -> Error,
) -> Result<(), Error> {
    let (ids, report): (Vec<&str>, _) = (outcome.documents().collect(), &outcome.report);
    for mistake in mistakes {
        let Mistake { documents: (a, b), disagreement, similarity, distance, .. } = mistake?;
        let (error, measure) = match disagreement {
            Disagreement::Wrong => ("wrong", report.measure),
            Disagreement::Missed => ("missed", outcome.odds_measure()),
        };
        let record = MistakeRecord {
            r#type: "error",
            error,
            a: ids[a as usize],
            b: ids[b as usize],
            similarity: similarity.map(Similarity::value),
            measure: similarity.map(|_| measure),
            algo: report.algorithm,
            distance,
            a_at: outcome.place(a as usize).to_string(),
            b_at: outcome.place(b as usize).to_string(),
        };
        let written = serde_json::to_writer(&mut out, &record).map_err(io::Error::from);
        written.and_then(|()| out.write_all(b"\n")).map_err(&cannot_write)?;
    }
    Ok(())
}

pub fn line(out: &mut impl Write, record: &impl Serialize) -> Result<(), Error> {
    serde_json::to_writer(&mut *out, record).map_err(|error| cannot_write(error.into()))?;
    out.write_all(b"\n").map_err(cannot_write)
}

pub fn cannot_write(error: io::Error) -> Error {
    Error::output("cannot write results", error)
}
