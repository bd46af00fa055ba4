//! A record for each copy, accepted ones too.

use super::super::copies::{Copy, Piece, Place};
use super::Outcome;
use crate::cli::filter::json;
use serde::Serialize;

#[derive(Serialize)]
struct Record<'a> {
    r#type: &'static str,
    kind: &'static str,
    a: At<'a>,
    b: At<'a>,
    similarity: f64,
    /// How much of each is in the other.
    contained: [f64; 2],
    fingerprint: &'a str,
    /// Whether the baseline has it.
    known: bool,
    /// The first 1000 characters of what both have.
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

/// From 1. The column counts characters; that of an end is behind the last one.
#[derive(Serialize)]
struct Position {
    line: usize,
    column: usize,
}

pub fn render(outcome: &Outcome) -> String {
    outcome.copies.iter().map(|copy| json(&record(copy)) + "\n").collect()
}

fn record(copy: &Copy) -> Record<'_> {
    let shared = copy.pieces.iter().filter_map(|piece| match piece {
        Piece::Shared(text) => Some(text.as_str()),
        Piece::Edited(..) => None,
    });
    let text = shared.collect::<Vec<_>>().join(" … ");
    Record {
        r#type: "copy",
        kind: copy.name(),
        a: at(&copy.places[0]),
        b: at(&copy.places[1]),
        similarity: copy.similarity,
        contained: copy.contained,
        fingerprint: &copy.fingerprint,
        known: copy.known,
        text: text.chars().take(1000).collect(),
    }
}

fn at(place: &Place) -> At<'_> {
    let position = |position: neardups::prose::Position| Position { line: position.line, column: position.column };
    At {
        path: &place.path,
        start: position(place.stretch.start),
        end: position(place.stretch.end),
        words: place.words,
        heading: place.heading.as_deref(),
    }
}
