//! Annotations of GitHub Actions: workflow commands that its runner reads from standard output.

use super::super::finding::Finding;
use super::super::grade::Grade;
use super::super::outcome::Outcome;
use super::diff::edits;
use super::places::{also_at, annotated, reasons_in};
use crate::readable::{escaped, escaped_lines};
use std::cmp::Reverse;

/// Maximum number of characters shown of the differences.
const MAX_SHOWN: usize = 500;

/// Maximum number of other places in a message.
const MAX_OTHERS: usize = 5;

/// Omits accepted findings. Each new place has an annotation. GitHub shows ten of each level, so the most serious come first, and of one
/// level the first of each finding before others of it. Texts shown or logged by the runner are escaped. Paths are relative to the root of
/// the repository.
pub(super) fn render(outcome: &Outcome) -> String {
    let numbered = |finding| annotated(finding).into_iter().enumerate();
    let mut all: Vec<_> = outcome.listed_by_grade().into_iter().flat_map(numbered).collect();
    all.sort_by_key(|(number, finding)| (Reverse(finding.grade), *number > 0));
    let stale = outcome.failing_stale().iter().map(|entry| {
        let (file, message) = (property(&escaped_lines(&outcome.baseline_path())), escaped(&entry.stale_message()));
        format!("::error file={file},line={},title=Stale entry::{}\n", entry.line.max(1), data(&message))
    });
    all.iter().map(|(_, finding)| command(outcome, finding)).chain(stale).collect()
}

fn command(outcome: &Outcome, finding: &Finding) -> String {
    let here = finding.primary();
    let (start, end) = (here.stretch.start, here.stretch.end);
    let summary = finding.summary_with(|place| outcome.path(place));
    let others = also_at(finding, MAX_OTHERS, |place| outcome.path(place).into_owned());
    let first = format!("{summary}{}; {others}", reasons_in(outcome, finding));
    let proposal =
        finding.proposal.as_ref().map_or(String::new(), |proposal| format!("\nproposal: {}", escaped(&proposal.how)));
    let message = format!("{}\n{}{proposal}", escaped(&first), edits(finding.shown(), MAX_SHOWN).into_string());
    format!(
        "::{} file={},line={},endLine={},col={},endColumn={},title=Copied {}::{}\n",
        level(finding.grade),
        property(&escaped_lines(&outcome.path(here))),
        start.line,
        end.line,
        start.column,
        end.column,
        finding.name(),
        data(&message),
    )
}

fn level(grade: Grade) -> &'static str {
    match grade {
        Grade::Error => "error",
        Grade::Warning => "warning",
        Grade::Note => "notice",
    }
}

/// Escapes data so that the runner restores it.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
