//! The code quality report of GitLab.

use super::Outcome;
use serde_json::{Value, json};
use sha1::{Digest, Sha1};
use std::collections::BTreeMap;

/// Accepted copies are not there. Fingerprints are of the words and the files, so that they outlive a move within a file.
pub fn render(outcome: &Outcome) -> String {
    let mut seen = BTreeMap::<String, usize>::new();
    let issues: Vec<Value> = outcome
        .told()
        .map(|copy| {
            let (here, there) = copy.looked_at();
            let known_by = format!("{}\n{}\n{}", copy.fingerprint, here.path, there.path);
            // The same copy more than once in the same files.
            let times = seen.entry(known_by.clone()).or_default();
            *times += 1;
            let digest = Sha1::digest(format!("{known_by}\n{times}"));
            json!({
                "description": format!("Copied: {}; the other place is {}:{}", copy.summary(), there.path, there.stretch.start.line),
                "check_name": format!("copied-{}", copy.name()),
                "fingerprint": digest.iter().map(|byte| format!("{byte:02x}")).collect::<String>(),
                "severity": "minor",
                "location": { "path": here.path, "lines": { "begin": here.stretch.start.line, "end": here.stretch.end.line } },
            })
        })
        .collect();
    serde_json::to_string_pretty(&issues).expect("a value is JSON") + "\n"
}
