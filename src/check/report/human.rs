//! The report for people: the first places, and the text with differences marked as in `git diff --word-diff`.

use super::super::finding::{Finding, Place};
use super::super::grade::Grade;
use super::super::outcome::Outcome;
use super::diff::word_diff;
use super::marked::{Mark, Marked};
use super::places::{Others, accepted, and_more, others, reasons};

/// Maximum number of characters shown of a text.
const MAX_SHOWN: usize = 600;

/// Maximum number of other places that are listed, unless more are new.
const MAX_OTHERS: usize = 5;

/// Omits accepted findings. The text is indented, and no other line is. Stale entries that make the check fail follow.
pub(super) fn render(outcome: &Outcome) -> Marked {
    let mut out = Marked::default();
    let (findings, stale) = (outcome.listed(), outcome.failing_stale());
    for (number, finding) in findings.iter().enumerate() {
        out = one(finding, if number > 0 { out.end_line() } else { out });
    }
    if !stale.is_empty() && !findings.is_empty() {
        out = out.end_line();
    }
    for entry in stale {
        out = out
            .marked(Mark::Primary, &outcome.baseline_name())
            .text(": ")
            .marked(Mark::Error, Grade::Error.name())
            .text(&format!(": {}", entry.stale_message()))
            .end_line();
    }
    out
}

fn one(finding: &Finding, out: Marked) -> Marked {
    let line = |place: &Place| format!("{}:{}", place.path(), place.stretch.start);
    let Others { places, more, more_new } = others(finding, MAX_OTHERS);
    let mut out = out
        .marked(Mark::Primary, &line(finding.primary()))
        .text(": ")
        .marked(mark(finding.grade), finding.grade.name())
        .text(&format!(": {}{}{}", finding.summary(), reasons(finding), accepted(finding)))
        .end_line();
    for place in places {
        let new = if place.is_new { ", new too" } else { "" };
        out = out.text("also at ").marked(Mark::Other, &line(place)).text(&format!("{}{new}", under(place))).end_line();
    }
    if more > 0 {
        out = out.text(&and_more("", more, more_new)).end_line();
    }
    let out = out.text("    ").then(word_diff(finding.shown(), MAX_SHOWN)).end_line();
    match &finding.proposal {
        Some(proposal) => out.text(&format!("    proposal: {}", proposal.how)).end_line(),
        None => out,
    }
}

fn mark(grade: Grade) -> Mark {
    match grade {
        Grade::Error => Mark::Error,
        Grade::Warning => Mark::Warning,
        Grade::Note => Mark::Note,
    }
}

fn under(place: &Place) -> String {
    place.heading.as_ref().map_or(String::new(), |heading| format!(", under “{heading}”"))
}
