//! SARIF 2.1.0 (OASIS, 2020): for code scanning.

use super::super::find::Kind;
use super::super::finding::{Finding, Place};
use super::super::outcome::Outcome;
use crate::readable::escaped;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

const SCHEMA: &str = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// The rules, with the kind of their findings.
const RULES: [(&str, Kind, &str, &str); 3] = [
    ("copied-file", Kind::File, "CopiedFile", "A file is nearly the same as another, or is contained in another."),
    (
        "copied-passage",
        Kind::Passage,
        "CopiedPassage",
        "A passage also occurs, nearly word for word, in another place.",
    ),
    (
        "copied-paragraph",
        Kind::Paragraph,
        "CopiedParagraph",
        "A paragraph also occurs, nearly word for word, in another place.",
    ),
];

const HELP: &str = "Keep the text in one place and link to it, or accept the copy: in the baseline, in dedup.toml, or between \
    dedup:ignore-start and dedup:ignore-end.";

/// Omits accepted findings: code scanning would show them as open.
pub(super) fn render(outcome: &Outcome) -> String {
    let rules: Vec<Value> = RULES
        .iter()
        .map(|(id, _, name, text)| {
            json!({
                "id": id,
                "name": name,
                "shortDescription": { "text": text },
                "help": { "text": HELP },
                "defaultConfiguration": { "level": "warning" },
            })
        })
        .collect();
    let base = match outcome.root {
        Some(_) => "The root of the repository.",
        None => "The folder that dedup check ran in.",
    };
    let log = json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "dedup",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            } },
            "columnKind": "unicodeCodePoints",
            "originalUriBaseIds": { "%SRCROOT%": { "description": { "text": base } } },
            "results": outcome.reported().map(|copy| result(outcome, copy)).collect::<Vec<_>>(),
        }],
    });
    serde_json::to_string_pretty(&log).expect("a value is JSON") + "\n"
}

fn result(outcome: &Outcome, copy: &Finding) -> Value {
    let (here, there) = copy.primary_first();
    let rule = RULES.iter().position(|(_, kind, ..)| *kind == copy.kind).expect("each kind has a rule");
    let summary = copy.summary_with(|place| outcome.path(place));
    let link = format!("[{}:{}](1)", literal(&outcome.path(there)), there.stretch.start.line);
    let mut related = location(outcome, there);
    related["id"] = json!(1);
    related["message"] = json!({ "text": "The other place." });
    json!({
        "ruleId": RULES[rule].0,
        "ruleIndex": rule,
        "level": "warning",
        "message": { "text": format!("Copied: {}. The other place is {link}.", literal(&summary)) },
        "locations": [location(outcome, here)],
        "relatedLocations": [related],
        "partialFingerprints": { "wordsOfBothPlaces/v1": copy.fingerprint },
        "baselineState": if copy.accepted { "unchanged" } else { "new" },
        "properties": { "similarity": copy.similarity },
    })
}

fn location(outcome: &Outcome, place: &Place) -> Value {
    let (start, end) = (place.stretch.start, place.stretch.end);
    json!({
        "physicalLocation": {
            "artifactLocation": artifact(outcome, place),
            "region": { "startLine": start.line, "startColumn": start.column, "endLine": end.line, "endColumn": end.column },
        },
    })
}

/// Escapes text for a message: brackets make no links, and control characters are visible.
fn literal(text: &str) -> String {
    escaped(text).replace('\\', r"\\").replace('[', r"\[").replace(']', r"\]")
}

/// The location of a file: relative to the base, unless it was given by an absolute path or is outside of the repository.
fn artifact(outcome: &Outcome, place: &Place) -> Value {
    let real = &place.page.place;
    if real.to_str().is_none() {
        return artifact_of_bytes(outcome, real, Path::new(&place.page.path).is_absolute());
    }
    let path = outcome.path(place);
    let is_below = outcome.below_root(place).is_some() || outcome.root.is_none();
    match (Path::new(path.as_ref()).is_absolute(), is_below) {
        (true, _) => json!({ "uri": format!("file:///{}", uri(path.trim_start_matches('/').as_bytes())) }),
        (false, true) => json!({ "uri": uri(path.as_bytes()), "uriBaseId": "%SRCROOT%" }),
        (false, false) => json!({ "uri": uri(path.as_bytes()) }),
    }
}

/// The same for a path that is not UTF-8: relative to the base if the file is below it.
fn artifact_of_bytes(outcome: &Outcome, real: &Path, is_absolute: bool) -> Value {
    let base = outcome.root.clone().or_else(|| fs::canonicalize(".").ok());
    match base.and_then(|base| real.strip_prefix(base).ok()).filter(|_| !is_absolute) {
        Some(inside) => json!({ "uri": uri(inside.as_os_str().as_encoded_bytes()), "uriBaseId": "%SRCROOT%" }),
        None => {
            let bytes = real.as_os_str().as_encoded_bytes();
            json!({ "uri": format!("file:///{}", uri(bytes.strip_prefix(b"/").unwrap_or(bytes))) })
        }
    }
}

/// A path as part of a URI (RFC 3986): all characters except unreserved ones and `/` as `%XX`.
fn uri(path: &[u8]) -> String {
    let unreserved = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte);
    path.iter()
        .map(|&byte| if unreserved(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}
