//! A record for each finding, including accepted ones.

use super::super::finding::{Finding, Place, first};
use super::super::outcome::Outcome;
use crate::prose;
use serde::Serialize;

/// Maximum number of characters of the shared text.
const MAX_SHOWN: usize = 1000;

#[derive(Serialize)]
struct Record<'a> {
    r#type: &'static str,
    kind: &'static str,
    a: At<'a>,
    b: At<'a>,
    similarity: f64,
    /// The share of each place contained in the other.
    contained: [f64; 2],
    fingerprint: &'a str,
    /// Whether the baseline accepts it.
    known: bool,
    /// The first 1000 characters of the shared text.
    text: String,
}

#[derive(Serialize)]
struct At<'a> {
    path: &'a str,
    start: Position,
    end: Position,
    words: usize,
    heading: Option<&'a str>,
}

/// Counted from 1. The column counts characters; an end column is after the last character.
#[derive(Serialize)]
struct Position {
    line: usize,
    column: usize,
}

pub(super) fn render(outcome: &Outcome) -> String {
    outcome
        .findings
        .iter()
        .map(|copy| serde_json::to_string(&record(copy)).expect("strings and numbers make JSON") + "\n")
        .collect()
}

fn record<'a>(copy: &'a Finding) -> Record<'a> {
    Record {
        r#type: "copy",
        kind: copy.name(),
        a: at(&copy.places[0]),
        b: at(&copy.places[1]),
        similarity: copy.similarity,
        contained: copy.contained,
        fingerprint: &copy.fingerprint,
        known: copy.accepted,
        text: shared(copy),
    }
}

/// The shared text as in the first place, run by run.
fn shared(copy: &Finding) -> String {
    let (mut text, mut left) = (String::new(), MAX_SHOWN);
    let [place, _] = &copy.places;
    for run in &copy.runs {
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

fn at<'a>(place: &'a Place) -> At<'a> {
    let position = |position: prose::Position| Position { line: position.line, column: position.column };
    At {
        path: &place.page.path,
        start: position(place.stretch.start),
        end: position(place.stretch.end),
        words: place.words.len(),
        heading: place.heading.as_deref(),
    }
}
