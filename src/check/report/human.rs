//! For people: both places, and the text with what differs marked as `git diff --word-diff` marks it.

use super::super::copies::{Copy, Place};
use super::Outcome;
use super::diff::word_diff;
use crate::cli::terminal::Styled;
use anstyle::{AnsiColor, Style};

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();
const RED: Style = AnsiColor::Red.on_default();
const GREEN: Style = AnsiColor::Green.on_default();

/// So many characters of a text are shown.
const SHOWN: usize = 600;

/// Accepted copies are not shown. Colours are for a terminal; whoever writes this to something else takes them away.
pub fn render(outcome: &Outcome) -> String {
    let mut out = Styled::default();
    for (number, copy) in outcome.told().enumerate() {
        out = one(copy, if number > 0 { out.end_line() } else { out });
    }
    out.into_string()
}

fn one(copy: &Copy, out: Styled) -> Styled {
    let (here, there) = copy.looked_at();
    let line = |place: &Place| format!("{}:{}", place.page.path, place.stretch.start);
    let accepted = if copy.known { " (accepted)" } else { "" };
    let out = out.styled(BOLD, &line(here)).text(&format!(": {}{accepted}", copy.summary())).end_line();
    let out = out.styled(DIM, &line(there)).text(&format!(": the other place{}", under(there))).end_line();
    out.text("    ").then(&word_diff(copy, SHOWN, [RED, GREEN])).end_line()
}

fn under(place: &Place) -> String {
    place.heading.as_ref().map_or(String::new(), |heading| format!(", under “{heading}”"))
}
