//! SARIF 2.1.0 (OASIS, 2020): for code scanning.

use super::super::baseline::Entry;
use super::super::find::Kind;
use super::super::finding::{Finding, Place};
use super::super::grade::{Grade, Reason};
use super::super::link::uri;
use super::super::outcome::Outcome;
use super::places::{Others, and_more, annotated, others, reasons_in};
use crate::readable::escaped;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::collections::BTreeMap;
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

/// The rule for stale entries, which is there if there are any that make the check fail: its id, its name, what it is about, and help.
const STALE_RULE: [&str; 4] = [
    "stale-entry",
    "StaleEntry",
    "The baseline accepts a copy that is not there any more.",
    "Remove the entry from the baseline, or run dedup check with --prune-baseline. If its text moved to a copy that is reported, remove or \
        accept that copy first.",
];

/// Maximum number of other places of a finding, and of links to them in its message.
const MAX_OTHERS: usize = 20;
const MAX_LINKS: usize = 3;

const HELP: &str = "Keep the text in one place and link to it, or accept the copy: in the baseline, in dedup.toml, or between \
    dedup:ignore-start and dedup:ignore-end.";

/// Omits accepted findings: code scanning would show them as open.
pub(super) fn render(outcome: &Outcome) -> String {
    let stale = outcome.failing_stale();
    let rule = |[id, name, text, help]: [&str; 4]| {
        json!({
            "id": id,
            "name": name,
            "shortDescription": { "text": text },
            "help": { "text": help },
            "defaultConfiguration": { "level": "error" },
        })
    };
    let rules = RULES.iter().map(|(id, _, name, text)| [*id, *name, *text, HELP]);
    let rules: Vec<Value> = rules.chain((!stale.is_empty()).then_some(STALE_RULE)).map(rule).collect();
    let base = match outcome.root {
        Some(_) => "The root of the repository.",
        None => "The folder that dedup check ran in.",
    };
    let mut known = BTreeMap::new();
    let copies = outcome.listed().into_iter().flat_map(|finding| results(outcome, finding, &mut known));
    let results: Vec<Value> = copies.chain(stale.iter().map(|entry| stale_result(outcome, entry))).collect();
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
            "results": results,
        }],
    });
    serde_json::to_string_pretty(&log).expect("a value is JSON") + "\n"
}

/// A result for a stale entry of the baseline.
fn stale_result(outcome: &Outcome, entry: &Entry) -> Value {
    let path = outcome.baseline_path();
    let mut artifact = json!({ "uri": uri(path.as_bytes()) });
    if Path::new(&path).is_absolute() {
        artifact["uri"] = json!(format!("file:///{}", uri(path.trim_start_matches('/').as_bytes())));
    } else if !path.starts_with("../") {
        artifact["uriBaseId"] = json!("%SRCROOT%");
    }
    json!({
        "ruleId": STALE_RULE[0],
        "ruleIndex": RULES.len(),
        "level": level(Grade::Error),
        "message": { "text": literal(&entry.stale_message()) },
        "locations": [{ "physicalLocation": { "artifactLocation": artifact, "region": { "startLine": entry.line.max(1) } } }],
        "partialFingerprints": { "entry/v1": format!("{} {}", entry.paths.join(" "), entry.text) },
        "baselineState": "new",
    })
}

/// A result for each place to look at: code scanning shows one location of a result. `known` counts the fingerprints so far.
fn results(outcome: &Outcome, finding: &Finding, known: &mut BTreeMap<String, usize>) -> Vec<Value> {
    let of_place = |(number, at): (usize, Cow<Finding>)| {
        let fingerprint = match number {
            0 => finding.fingerprint.clone(),
            _ => fingerprint(outcome, &at),
        };
        let times = known.entry(fingerprint.clone()).or_default();
        *times += 1;
        // A file and a passage can have the same words.
        let fingerprint = if *times == 1 { fingerprint } else { format!("{fingerprint}-{times}") };
        result(outcome, &at, &fingerprint)
    };
    annotated(finding).into_iter().enumerate().map(of_place).collect()
}

/// Identifies one of several places of a finding: by its file, its words, and of places with the same words in one file by their order. So
/// it does not depend on lines, nor on other places, apart from earlier ones with the same words.
fn fingerprint(outcome: &Outcome, finding: &Finding) -> String {
    let place = finding.primary();
    let words = |place: &Place| place.page.hash(&place.words);
    let is_same = |other: &&Place| other.path() == place.path() && words(other) == words(place);
    let before = finding.places[..finding.primary].iter().filter(is_same).count();
    let order = if before == 0 { String::new() } else { format!("-{}", before + 1) };
    format!("{}-{}-{:016x}{order}", finding.fingerprint, outcome.path(place), words(place))
}

fn result(outcome: &Outcome, finding: &Finding, fingerprint: &str) -> Value {
    let rule = RULES.iter().position(|(_, kind, ..)| *kind == finding.kind).expect("each kind has a rule");
    let summary = finding.summary_with(|place| outcome.path(place));
    let Others { places, more, more_new } = others(finding, MAX_OTHERS);
    let link = |(id, place): (usize, &&Place)| {
        format!("[{}:{}]({id})", literal(&outcome.path(place)), place.stretch.start.line)
    };
    // New ones are named, whatever their number.
    let new = places.iter().rposition(|place| place.is_new).map_or(0, |last| last + 1);
    let links: Vec<String> = (1..).zip(&places).take(MAX_LINKS.max(new)).map(link).collect();
    let named_new = places.iter().skip(links.len()).filter(|place| place.is_new).count();
    let more = and_more(" ", more + places.len() - links.len(), more_new + named_new);
    let related = |(id, place): (usize, &&Place)| {
        let mut related = location(outcome, place);
        related["id"] = json!(id);
        related["message"] =
            json!({ "text": if place.is_new { "The text is also here, and new." } else { "The text is also here." } });
        related
    };
    let proposal = finding.proposal.as_ref().map(|proposal| format!(" Proposal: {}.", literal(&proposal.how)));
    let (summary, proposal) = (literal(&summary), proposal.unwrap_or_default());
    let text = format!(
        "Copied: {summary}{}. Also at {}{more}.{proposal}",
        literal(&reasons_in(outcome, finding)),
        links.join(", ")
    );
    let mut result = json!({
        "ruleId": RULES[rule].0,
        "ruleIndex": rule,
        "level": level(finding.grade),
        "message": { "text": text },
        "locations": [location(outcome, finding.primary())],
        "relatedLocations": (1..).zip(&places).map(related).collect::<Vec<_>>(),
        "partialFingerprints": { "wordsOfBothPlaces/v1": fingerprint },
        "baselineState": if finding.accepted { "unchanged" } else { "new" },
        "properties": {
            "similarity": finding.shown().similarity,
            "places": finding.places.len(),
            "reasons": finding.reasons.iter().map(|reason| Reason::name(*reason)).collect::<Vec<_>>(),
        },
    });
    if finding.accepted {
        let mut suppression = json!({ "kind": "external", "status": "accepted" });
        if let Some(reason) = finding.shown_reason() {
            suppression["justification"] = json!(escaped(&reason));
        }
        result["suppressions"] = json!([suppression]);
    }
    result
}

fn level(grade: Grade) -> &'static str {
    match grade {
        Grade::Error => "error",
        Grade::Warning => "warning",
        Grade::Note => "note",
    }
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
