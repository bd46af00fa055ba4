//! A record for each finding, including accepted ones, and for each stale entry that makes the check fail.

use super::super::finding::{Finding, Pair, Place, Proposal, first, shown_reason};
use super::super::grade::{Grade, Reason};
use super::super::outcome::Outcome;
use crate::prose;
use serde::Serialize;
use std::borrow::Cow;

/// Maximum number of characters of the shared text.
const MAX_SHOWN: usize = 1000;

#[derive(Serialize)]
struct Record<'a> {
    r#type: &'static str,
    kind: &'static str,
    grade: Grade,
    /// Why it is not an error.
    reasons: &'a [Reason],
    /// The words of the longest place.
    words: usize,
    places: Vec<At<'a>>,
    /// The index of the place to look at.
    primary: usize,
    fingerprint: &'a str,
    /// Whether the baseline accepts it.
    known: bool,
    /// Why.
    #[serde(skip_serializing_if = "Option::is_none")]
    known_reason: Option<Cow<'a, str>>,
    /// What to do about it.
    proposal: Option<Keeping<'a>>,
    /// The first 1000 characters of the shared text.
    text: String,
}

#[derive(Serialize)]
struct Keeping<'a> {
    /// The index of the place whose page should keep the text.
    keep: usize,
    how: &'a str,
}

#[derive(Serialize)]
struct At<'a> {
    path: &'a str,
    start: Position,
    end: Position,
    words: usize,
    heading: Option<&'a str>,
    /// Whether the text is new here.
    new: bool,
    /// The index of the place that it is compared with; none for the first place.
    of: Option<usize>,
    /// The similarity to that place, and the share of this place that is contained in it.
    similarity: Option<f64>,
    contained: Option<f64>,
}

/// Counted from 1. The column counts characters; an end column is after the last character.
#[derive(Serialize)]
struct Position {
    line: usize,
    column: usize,
}

/// An entry of the baseline that makes the check fail because it is stale.
#[derive(Serialize)]
struct Stale<'a> {
    r#type: &'static str,
    baseline: &'a str,
    paths: &'a [String],
    /// The beginning of its text.
    text: &'a str,
    /// Why it was accepted.
    #[serde(skip_serializing_if = "Option::is_none")]
    known_reason: Option<Cow<'a, str>>,
}

pub(super) fn render(outcome: &Outcome) -> String {
    let baseline = outcome.baseline_name();
    let stale = outcome.failing_stale().iter().map(|entry| Stale {
        r#type: "stale",
        baseline: &baseline,
        paths: &entry.paths,
        text: &entry.text,
        known_reason: entry.reason().map(shown_reason),
    });
    outcome.findings.iter().map(|copy| line(&record(copy))).chain(stale.map(|entry| line(&entry))).collect()
}

fn line(record: &impl Serialize) -> String {
    serde_json::to_string(record).expect("strings and numbers make JSON") + "\n"
}

fn record<'a>(copy: &'a Finding) -> Record<'a> {
    Record {
        r#type: "copy",
        kind: copy.name(),
        grade: copy.grade,
        reasons: &copy.reasons,
        words: copy.words(),
        places: copy.places.iter().enumerate().map(|(index, place)| at(place, copy.of(index))).collect(),
        primary: copy.primary,
        fingerprint: &copy.fingerprint,
        known: copy.accepted,
        known_reason: copy.shown_reason(),
        proposal: copy.proposal.as_ref().map(|Proposal { keep, how }| Keeping { keep: *keep, how }),
        text: shared(copy),
    }
}

/// The shared text of the first pair as in its first place, run by run.
fn shared(copy: &Finding) -> String {
    let (mut text, mut left) = (String::new(), MAX_SHOWN);
    let pair = &copy.pairs[0];
    let place = &pair.places[0];
    for run in &pair.runs {
        for part in [if text.is_empty() { "" } else { " … " }, place.page.text(run.a..run.a + run.tokens)] {
            let part = first(part, left);
            left -= part.chars().count();
            text.push_str(part);
        }
        if left == 0 {
            break;
        }
    }
    text
}

fn at<'a>(place: &'a Place, of: Option<&Pair>) -> At<'a> {
    let position = |position: prose::Position| Position { line: position.line, column: position.column };
    At {
        path: &place.page.path,
        start: position(place.stretch.start),
        end: position(place.stretch.end),
        words: place.words.len(),
        heading: place.heading.as_deref(),
        new: place.is_new,
        of: of.map(|pair| pair.indices[0]),
        similarity: of.map(|pair| pair.similarity),
        contained: of.map(|pair| pair.contained[1]),
    }
}
