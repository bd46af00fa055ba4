//! For people: both places, and the text with what differs marked as `git diff --word-diff` marks it.

use super::super::copies::{Copy, Piece, Place};
use super::Outcome;
use crate::cli::terminal::escaped;
use anstyle::{AnsiColor, Style};
use neardups::check::Kind;
use std::fmt::Write;

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();
const RED: Style = AnsiColor::Red.on_default();
const GREEN: Style = AnsiColor::Green.on_default();

/// So many characters of a text are shown.
const SHOWN: usize = 600;

/// Accepted copies are not shown. Colours are for a terminal; whoever writes this to something else takes them away.
pub fn render(outcome: &Outcome) -> String {
    let mut out = String::new();
    for (number, copy) in outcome.told().enumerate() {
        if number > 0 {
            out.push('\n');
        }
        one(copy, &mut out);
    }
    out
}

fn one(copy: &Copy, out: &mut String) {
    let (here, there) = copy.looked_at();
    let line = |place: &Place| format!("{}:{}", escaped(&place.path), place.stretch.start);
    let accepted = if copy.known { " (accepted)" } else { "" };
    _ = writeln!(out, "{BOLD}{}{BOLD:#}: {}{accepted}", line(here), escaped(&copy.summary()));
    _ = writeln!(out, "{DIM}{}{DIM:#}: the other place{}", line(there), under(there));
    if copy.kind != Kind::File {
        _ = writeln!(out, "{}", marked(&copy.pieces, copy.primary));
    }
}

fn under(place: &Place) -> String {
    place.heading.as_ref().map_or(String::new(), |heading| format!(", under “{}”", escaped(heading)))
}

/// The text, with `[-words-]` that the place looked at does not have, and `{+words+}` that only it has.
fn marked(pieces: &[Piece], primary: usize) -> String {
    let (mut text, mut length) = (String::from("    "), 0);
    for (number, piece) in pieces.iter().enumerate() {
        if length >= SHOWN {
            text.push_str(" …");
            break;
        }
        if number > 0 {
            text.push(' ');
        }
        let mut put = |words: &str, style: Style, marks: [&str; 2]| {
            if words.is_empty() {
                return;
            }
            // Paragraphs follow each other in a line.
            let words = words.replace("\n\n", " ¶ ");
            let cut: String = words.chars().take(SHOWN.saturating_sub(length).max(20)).collect();
            let dots = if cut.len() < words.len() { "…" } else { "" };
            length += cut.chars().count();
            _ = write!(text, "{style}{}{}{dots}{}{style:#}", marks[0], escaped(&cut), marks[1]);
        };
        match piece {
            Piece::Shared(words) => put(words, Style::new(), ["", ""]),
            Piece::Edited(first, second) => {
                let (gone, come) = if primary == 1 { (first, second) } else { (second, first) };
                put(gone, RED, ["[-", "-]"]);
                put(come, GREEN, ["{+", "+}"]);
            }
        }
    }
    text
}
