//! Annotations of GitHub Actions: workflow commands that its runner reads from standard output.

use super::super::outcome::Outcome;
use crate::readable::{escaped, escaped_lines};
use std::fmt::Write;

/// Omits accepted findings. Texts shown or logged by the runner are escaped. Paths are relative to the root of the repository.
pub(super) fn render(outcome: &Outcome) -> String {
    let mut out = String::new();
    for copy in outcome.reported() {
        let (here, there) = copy.primary_first();
        let (start, end) = (here.stretch.start, here.stretch.end);
        let summary = copy.summary_with(|place| outcome.path(place));
        let message = format!("{summary}; the other place is {}:{}", outcome.path(there), there.stretch.start.line);
        _ = writeln!(
            out,
            "::warning file={},line={},endLine={},col={},endColumn={},title=Copied {}::{}",
            property(&escaped_lines(&outcome.path(here))),
            start.line,
            end.line,
            start.column,
            end.column,
            copy.name(),
            data(&escaped(&message)),
        );
    }
    out
}

/// Escapes data so that the runner restores it.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
