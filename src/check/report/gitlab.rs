//! The code quality report of GitLab.

use super::super::outcome::Outcome;
use crate::readable::escaped;
use serde_json::{Value, json};
use sha1::{Digest, Sha1};
use std::collections::BTreeMap;

/// Omits accepted findings. Fingerprints depend on words and files, so that they survive a move within a file. Paths are relative to
/// the root of the repository.
pub(super) fn render(outcome: &Outcome) -> String {
    let mut seen = BTreeMap::<String, usize>::new();
    let issues: Vec<Value> = outcome
        .reported()
        .map(|copy| {
            let (here, there) = copy.primary_first();
            let [path, other] = [here, there].map(|place| outcome.path(place));
            let summary = copy.summary_with(|place| outcome.path(place));
            let identity = format!("{}\n{path}\n{other}", copy.fingerprint);
            // The same copy may occur more than once in the same files.
            let times = seen.entry(identity.clone()).or_default();
            *times += 1;
            let digest = Sha1::digest(format!("{identity}\n{times}"));
            json!({
                "description": escaped(&format!("Copied: {summary}; the other place is {other}:{}", there.stretch.start.line)),
                "check_name": format!("copied-{}", copy.name()),
                "fingerprint": digest.iter().map(|byte| format!("{byte:02x}")).collect::<String>(),
                "severity": "minor",
                "location": { "path": path, "lines": { "begin": here.stretch.start.line, "end": here.stretch.end.line } },
            })
        })
        .collect();
    serde_json::to_string_pretty(&issues).expect("a value is JSON") + "\n"
}
