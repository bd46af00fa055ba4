//! The report for people: both places, and the text with differences marked as in `git diff --word-diff`.

use super::super::finding::{Finding, Place};
use super::super::outcome::Outcome;
use super::diff::word_diff;
use super::marked::{Mark, Marked};

/// Maximum number of characters shown of a text.
const MAX_SHOWN: usize = 600;

/// Omits accepted findings.
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
    out.text("    ").then(word_diff(finding, MAX_SHOWN)).end_line()
}

fn under(place: &Place) -> String {
    place.heading.as_ref().map_or(String::new(), |heading| format!(", under “{heading}”"))
}
