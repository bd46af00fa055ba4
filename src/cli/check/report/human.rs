//! For people: both places, and the text with what differs marked as `git diff --word-diff` marks it.

use super::super::copies::{Copy, Place};
use super::Outcome;
use super::diff::word_diff;
use crate::cli::terminal::escaped;
use anstyle::{AnsiColor, Style};
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
    let line = |place: &Place| format!("{}:{}", escaped(&place.page.path), place.stretch.start);
    let accepted = if copy.known { " (accepted)" } else { "" };
    _ = writeln!(out, "{BOLD}{}{BOLD:#}: {}{accepted}", line(here), escaped(&copy.summary()));
    _ = writeln!(out, "{DIM}{}{DIM:#}: the other place{}", line(there), under(there));
    _ = writeln!(out, "    {}", word_diff(copy, SHOWN, [RED, GREEN]));
}

fn under(place: &Place) -> String {
    place.heading.as_ref().map_or(String::new(), |heading| format!(", under “{}”", escaped(heading)))
}
