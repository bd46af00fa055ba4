//! The code quality report of GitLab.

use super::super::grade::Grade;
use super::super::outcome::Outcome;
use super::places::{also_at, annotated, reasons_in};
use crate::readable::escaped;
use serde_json::{Value, json};
use sha1::{Digest, Sha1};
use std::collections::BTreeMap;

/// Maximum number of other places in a description.
const MAX_OTHERS: usize = 3;

/// Omits accepted findings. Each new place is an issue. Fingerprints depend on words and files, so that they survive a move within a file. Paths are relative to
/// the root of the repository.
pub(super) fn render(outcome: &Outcome) -> String {
    let mut seen = BTreeMap::<String, usize>::new();
    let issues: Vec<Value> = outcome
        .listed()
        .into_iter()
        .flat_map(annotated)
        .map(|finding| {
            let finding = &*finding;
            let (here, path) = (finding.primary(), outcome.path(finding.primary()));
            let summary = finding.summary_with(|place| outcome.path(place));
            let others = also_at(finding, MAX_OTHERS, |place| outcome.path(place).into_owned());
            let proposal = finding.proposal.as_ref().map_or(String::new(), |proposal| format!("; proposal: {}", proposal.how));
            let identity = format!("{}\n{path}", finding.fingerprint);
            // The same copy may occur more than once in the same file.
            let times = seen.entry(identity.clone()).or_default();
            *times += 1;
            json!({
                "description": escaped(&format!("Copied: {summary}{}; {others}{proposal}", reasons_in(outcome, finding))),
                "check_name": format!("copied-{}", finding.name()),
                "fingerprint": hex(&format!("{identity}\n{times}")),
                "severity": severity(finding.grade),
                "location": { "path": path, "lines": { "begin": here.stretch.start.line, "end": here.stretch.end.line } },
            })
        })
        .collect();
    let path = outcome.baseline_path();
    let stale = outcome.failing_stale().iter().map(|entry| {
        json!({
            "description": escaped(&entry.stale_message()),
            "check_name": "stale-entry",
            "fingerprint": hex(&format!("stale\n{path}\n{}\n{}", entry.paths.join("\n"), entry.text)),
            "severity": severity(Grade::Error),
            "location": { "path": path, "lines": { "begin": entry.line.max(1), "end": entry.line.max(1) } },
        })
    });
    let issues: Vec<Value> = issues.into_iter().chain(stale).collect();
    serde_json::to_string_pretty(&issues).expect("a value is JSON") + "\n"
}

/// The SHA-1 of a text, in hexadecimal.
fn hex(text: &str) -> String {
    Sha1::digest(text).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn severity(grade: Grade) -> &'static str {
    match grade {
        Grade::Error => "major",
        Grade::Warning => "minor",
        Grade::Note => "info",
    }
}
