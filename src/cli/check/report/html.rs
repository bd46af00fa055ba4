//! One page for a browser, which needs nothing else: texts side by side, filters, and a map of which files copy which.

use super::super::copies::{Copy, Piece, Place};
use super::Outcome;
use crate::cli::check::baseline::Entry;
use minijinja::Environment;
use minijinja::value::Serde;
use serde::Serialize;
use std::collections::BTreeMap;

/// So many files are on the map: those with the most copied words.
const ON_MAP: usize = 24;

/// So many characters of a text are shown.
const SHOWN: usize = 20_000;

#[derive(Serialize)]
struct Page<'a> {
    version: &'static str,
    summary: String,
    new: usize,
    known: usize,
    stale: &'a [Entry],
    copies: Vec<Shown<'a>>,
    map: Vec<Row<'a>>,
    left_off: usize,
}

#[derive(Serialize)]
struct Shown<'a> {
    number: usize,
    kind: &'static str,
    summary: String,
    percent: u32,
    known: bool,
    places: [At<'a>; 2],
    /// The texts of both places: parts, each with whether both have it.
    texts: [Vec<(String, bool)>; 2],
    cut: bool,
}

#[derive(Serialize)]
struct At<'a> {
    path: &'a str,
    start: String,
    end: String,
    heading: Option<&'a str>,
}

#[derive(Serialize)]
struct Row<'a> {
    path: &'a str,
    /// For each file of the map: how many copies the two have in common.
    cells: Vec<usize>,
}

pub fn render(outcome: &Outcome) -> String {
    let mut environment = Environment::new();
    environment.add_template("page.html", include_str!("page.html")).expect("the template is well formed");
    let template = environment.get_template("page.html").expect("it was added");
    let copies: Vec<Shown> = (1..).zip(outcome.copies).map(|(number, copy)| shown(number, copy)).collect();
    let (map, left_off) = map(outcome);
    let page = template.render(Serde(Page {
        version: env!("CARGO_PKG_VERSION"),
        summary: outcome.summary(),
        new: outcome.copies.iter().filter(|copy| !copy.known).count(),
        known: outcome.copies.iter().filter(|copy| copy.known).count(),
        stale: outcome.stale,
        copies,
        map,
        left_off,
    }));
    page.expect("all that the template asks for is there")
}

fn shown(number: usize, copy: &Copy) -> Shown<'_> {
    let (mut texts, mut length) = ([Vec::new(), Vec::new()], 0);
    let mut cut = false;
    for piece in &copy.pieces {
        if length >= SHOWN {
            cut = true;
            break;
        }
        let (both, shared) = match piece {
            Piece::Shared(text) => ([text, text], true),
            Piece::Edited(first, second) => ([first, second], false),
        };
        length += both[0].len().max(both[1].len());
        for (texts, text) in texts.iter_mut().zip(both) {
            cut |= text.chars().nth(SHOWN).is_some();
            texts.push((text.chars().take(SHOWN).collect(), shared));
        }
    }
    let (kind, summary, percent, known) = (copy.name(), copy.summary(), copy.percent(), copy.known);
    Shown { number, kind, summary, percent, known, places: copy.places.each_ref().map(at), texts, cut }
}

fn at(place: &Place) -> At<'_> {
    At {
        path: &place.path,
        start: place.stretch.start.to_string(),
        end: place.stretch.end.to_string(),
        heading: place.heading.as_deref(),
    }
}

/// The files with the most copied words, and how many were left off.
fn map<'a>(outcome: &Outcome<'a>) -> (Vec<Row<'a>>, usize) {
    let (mut words, mut pairs) = (BTreeMap::<&str, usize>::new(), BTreeMap::<[&str; 2], usize>::new());
    for copy in outcome.copies {
        let [a, b] = copy.places.each_ref().map(|place| place.path.as_str());
        for (path, place) in [(a, &copy.places[0]), (b, &copy.places[1])] {
            *words.entry(path).or_default() += place.words;
        }
        *pairs.entry([a.min(b), a.max(b)]).or_default() += 1;
    }
    let mut files: Vec<&str> = words.keys().copied().collect();
    files.sort_by_key(|path| std::cmp::Reverse(words[path]));
    let left_off = files.len().saturating_sub(ON_MAP);
    files.truncate(ON_MAP);
    files.sort_unstable();
    let cell = |a: &str, b: &str| pairs.get(&[a.min(b), a.max(b)]).copied().unwrap_or(0);
    let rows = files.iter().map(|&path| Row { path, cells: files.iter().map(|&other| cell(path, other)).collect() });
    (rows.collect(), left_off)
}
