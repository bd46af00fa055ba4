//! For people: both places, and the text with what differs marked as `git diff --word-diff` marks it.

use super::super::finding::{Finding, Place};
use super::super::outcome::Outcome;
use super::diff::word_diff;
use super::marked::{Mark, Marked};

/// The most characters of a text that are shown.
const SHOWN: usize = 600;

/// Accepted findings are left out.
pub(super) fn render(outcome: &Outcome) -> Marked {
    let mut out = Marked::default();
    for (number, finding) in outcome.reported().enumerate() {
        out = one(finding, if number > 0 { out.end_line() } else { out });
    }
    out
}

fn one(finding: &Finding, out: Marked) -> Marked {
    let (here, there) = finding.primary_first();
    let line = |place: &Place| format!("{}:{}", place.path(), place.stretch.start);
    let accepted = if finding.accepted { " (accepted)" } else { "" };
    let out = out.marked(Mark::Primary, &line(here)).text(&format!(": {}{accepted}", finding.summary())).end_line();
    let out = out.marked(Mark::Other, &line(there)).text(&format!(": the other place{}", under(there))).end_line();
    out.text("    ").then(word_diff(finding, SHOWN)).end_line()
}

fn under(place: &Place) -> String {
    place.heading.as_ref().map_or(String::new(), |heading| format!(", under “{heading}”"))
}
