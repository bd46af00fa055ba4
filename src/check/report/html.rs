//! A self-contained page for a browser: texts side by side, filters, and a map of copies between files.

use super::super::baseline::Entry;
use super::super::finding::{Finding, Piece, first};
use super::super::outcome::Outcome;
use super::diff::omitted;
use crate::readable::escaped;
use minijinja::value::Serde;
use minijinja::{Environment, escape_formatter};
use serde::Serialize;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of files on the map. Pairs with more copied words come first.
const MAX_MAP_FILES: usize = 24;

/// Maximum number of characters shown of a text.
const MAX_SHOWN: usize = 20_000;

/// Number of words of the same paragraph shown before and after a passage.
const CONTEXT_WORDS: usize = 8;

/// Maximum number of bytes shown before or after a passage. Longer text does not consist of words.
const MAX_CONTEXT_BYTES: usize = 400;

/// Maximum number of words shown of a larger file between the words of a contained one.
const MAX_OWN_WORDS: usize = 20;

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
    reordered: bool,
    sides: [Side<'a>; 2],
}

/// One of the places with its text, in its own order.
#[derive(Serialize)]
struct Side<'a> {
    path: &'a str,
    start: String,
    end: String,
    heading: Option<&'a str>,
    parts: Vec<Part<'a>>,
    /// The HTML element for words that only this place has.
    own: &'static str,
}

/// A part of a text, and the white space after it.
#[derive(Serialize)]
struct Part<'a> {
    mark: Mark,
    text: Cow<'a, str>,
    space: &'a str,
}

/// The role of a part of a text.
#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Mark {
    /// Words that both places have.
    Shared,
    /// Words that only this place has.
    Own,
    /// Context around the place, or a note.
    Beside,
}

#[derive(Serialize)]
struct Row<'a> {
    path: &'a str,
    /// For each file of the map, the number of copies between the two.
    cells: Vec<usize>,
}

pub(super) fn render(outcome: &Outcome) -> String {
    let mut environment = Environment::new();
    environment.set_formatter(|out, state, value| match value.as_str() {
        Some(text) => escape_formatter(out, state, &minijinja::Value::from(visible(text))),
        None => escape_formatter(out, state, value),
    });
    environment.add_template("page.html", include_str!("page.html")).expect("the template is well formed");
    let template = environment.get_template("page.html").expect("it was added");
    // New findings come first.
    let (known, new): (Vec<&Finding>, Vec<&Finding>) = outcome.findings.iter().partition(|copy| copy.accepted);
    let copies: Vec<Shown> = (1..).zip(new.iter().chain(&known)).map(|(number, copy)| shown(number, copy)).collect();
    let (map, left_off) = map(if new.is_empty() { &known } else { &new });
    let page = template.render(Serde(Page {
        version: env!("CARGO_PKG_VERSION"),
        summary: outcome.summary(),
        new: new.len(),
        known: known.len(),
        stale: &outcome.stale,
        copies,
        map,
        left_off,
    }));
    page.expect("all values of the template are set")
}

/// A text with control characters made visible; line ends stay.
fn visible(text: &str) -> String {
    let line = |line: &str| line.split('\t').map(escaped).collect::<Vec<_>>().join("\t");
    text.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

fn shown<'a>(number: usize, copy: &'a Finding) -> Shown<'a> {
    let (kind, summary, percent, known) = (copy.name(), copy.summary(), copy.percent(), copy.accepted);
    // The other place is on the left, like the old version in a diff.
    let sides = [(1 - copy.primary, "del"), (copy.primary, "ins")].map(|(number, own)| side(copy, number, own));
    Shown { number, kind, summary, percent, known, reordered: copy.is_reordered(), sides }
}

fn side<'a>(copy: &'a Finding, number: usize, own: &'static str) -> Side<'a> {
    let place = &copy.places[number];
    Side {
        path: &place.page.path,
        start: place.stretch.start.to_string(),
        end: place.stretch.end.to_string(),
        heading: place.heading.as_deref(),
        parts: parts(copy, number),
        own,
    }
}

/// The text of a place with a few words of context. Of a larger file, only the contained part is shown.
fn parts<'a>(copy: &'a Finding, side: usize) -> Vec<Part<'a>> {
    let place = &copy.places[side];
    let beside = |text: Cow<'a, str>, space| Part { mark: Mark::Beside, text, space };
    let [(before, more_before), (after, more_after)] = place.page.around(&place.words, CONTEXT_WORDS);
    let (before, after) = (place.page.text_to_next(before), place.page.text(after));
    let fits = |text: &str| (1..=MAX_CONTEXT_BYTES).contains(&text.len());
    let mut parts = Vec::new();
    if fits(before) {
        let dots = if more_before { "… " } else { "" };
        parts.push(beside(format!("{dots}{before}").into(), ""));
    }
    let mut left = MAX_SHOWN;
    for piece in copy.pieces(side) {
        let (words, mark) = match piece {
            Piece::Shared(words) => (words[side].clone(), Mark::Shared),
            Piece::Edited(words) => (words[side].clone(), Mark::Own),
        };
        if words.is_empty() {
            continue;
        }
        if mark == Mark::Own && words.len() > MAX_OWN_WORDS && copy.whole() == Some(side) {
            parts.push(beside(format!("[{}]", omitted(words.len())).into(), place.text_of(words).1));
            continue;
        }
        let (text, space) = place.text_of(words);
        let shown = first(text, left);
        left -= shown.chars().count();
        parts.push(Part { mark, text: shown.into(), space });
        if shown.len() < text.len() || left == 0 {
            parts.push(beside("…".into(), ""));
            return parts;
        }
    }
    if fits(after) {
        let dots = if more_after { " …" } else { "" };
        parts.push(beside(format!("{after}{dots}").into(), ""));
    }
    parts
}

/// The files of the pairs with the most copied words, and how many files were omitted.
fn map<'a>(copies: &[&'a Finding]) -> (Vec<Row<'a>>, usize) {
    // For each pair of files: the number of copies, and of their words.
    let mut pairs = BTreeMap::<[&str; 2], (usize, usize)>::new();
    for copy in copies {
        let mut paths = copy.places.each_ref().map(|place| place.page.path.as_str());
        paths.sort_unstable();
        let (count, words) = pairs.entry(paths).or_default();
        (*count, *words) = (*count + 1, *words + copy.words());
    }
    let mut by_words: Vec<&[&str; 2]> = pairs.keys().collect();
    by_words.sort_by_key(|pair| std::cmp::Reverse(pairs[*pair].1));
    let mut files = BTreeSet::new();
    for pair in by_words {
        let new = BTreeSet::from(*pair).difference(&files).count();
        if files.len() + new <= MAX_MAP_FILES {
            files.extend(*pair);
        }
    }
    let all: BTreeSet<&str> = pairs.keys().flatten().copied().collect();
    let cell = |a: &str, b: &str| pairs.get(&[a.min(b), a.max(b)]).map_or(0, |&(count, _)| count);
    let rows = files.iter().map(|&path| Row { path, cells: files.iter().map(|&other| cell(path, other)).collect() });
    (rows.collect(), all.len() - files.len())
}
