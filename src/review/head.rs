//! The head of the page: what was scanned, how, and what was found. It needs no scripts.

use super::select::Selection;
use crate::algorithm::Value;
use crate::engine::{Kept, Report};
use crate::readable::{count, counted, escaped};

/// The maximum number of inputs that are named.
const NAMED: usize = 5;

/// The maximum number of characters of an id or a path in this list.
const LISTED_CHARACTERS: usize = 300;

/// What a page is about, besides its clusters.
#[derive(Clone, Copy, Debug)]
pub struct About<'a> {
    /// The report of the scan.
    pub report: &'a Report,
    /// The names of the inputs.
    pub inputs: &'a [String],
    /// The globs of the files that are preferred, as typed, the most preferred first: of the class of a rank that has this number.
    pub prefer: &'a [String],
}

/// The head, as HTML. `tokenizer` is the one that was asked for.
pub(super) fn head(about: About<'_>, kept: &Kept<'_>, selection: &Selection, tokenizer: &str) -> String {
    let About { report, inputs, .. } = about;
    let mut rows = vec![("Documents", documents(report))];
    if !inputs.is_empty() {
        rows.insert(0, ("Input", named(inputs)));
    }
    let median = report.median_tokens as u64;
    // For short documents the algorithm chose another tokenizer, by their words.
    let tokens = match report.tokenizer.as_deref().and_then(|chosen| chosen.split(", ").next()) {
        Some(chosen) => format!("{chosen} tokens (median {} a document)", counted(median, "word")),
        None => format!("{tokenizer} tokens (median {} a document)", count(median)),
    };
    let method = format!("{}, by {}, on {tokens}", report.algorithm, report.measure);
    rows.push(("Method", listed(&method)));
    rows.push(("Parameters", listed(&parameters(report))));
    rows.extend(recall(report).map(|recall| ("Recall", recall)));
    rows.push(("Program", format!("dedup {}", env!("CARGO_PKG_VERSION"))));
    let rows: String = rows.iter().map(|(name, value)| format!("<dt>{name}</dt><dd>{value}</dd>\n")).collect();
    format!("<p><b>{}</b></p>\n<dl>\n{rows}</dl>", result(report, kept.dropped(), selection))
}

/// What was found: the share of the documents that are not kept, and the clusters.
fn result(report: &Report, dropped: u64, selection: &Selection) -> String {
    let documents = report.counts.documents;
    let share = 100.0 * dropped as f64 / documents.max(1) as f64;
    let mut result = format!(
        "{} of {} ({share:.1} %) not kept, in {}",
        count(dropped),
        counted(documents, "document"),
        counted(selection.clusters, "cluster")
    );
    if report.counts.references == 0 && selection.keeping_several > 0 {
        let several = counted(selection.keeping_several, "cluster");
        let keep = if selection.keeping_several == 1 { "keeps" } else { "keep" };
        result += &format!("; {several} {keep} more than one");
    }
    result + "."
}

/// The counts of the documents.
fn documents(report: &Report) -> String {
    let counts = &report.counts;
    let mut line = count(counts.documents);
    if counts.references > 0 {
        line += &format!(", compared with {} of a reference", count(counts.references));
    }
    line += &format!(", with {}", counted(counts.copies, "exact copy"));
    if counts.featureless > 0 {
        line += &format!("; {} with too few features to be compared", count(counts.featureless));
    }
    if counts.failed > 0 {
        line += &format!("; {} could not be read", counted(counts.failed, "further record"));
    }
    line
}

/// The first inputs by name, and the number of the others.
fn named(inputs: &[String]) -> String {
    let names: Vec<String> = inputs.iter().take(NAMED).map(|name| format!("<code>{}</code>", listed(name))).collect();
    let more = match inputs.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {} more", count(more as u64)),
    };
    names.join(", ") + &more
}

/// The parameters.
fn parameters(report: &Report) -> String {
    let rows = report.parameters.iter().map(|row| format!("{} {}", row.name.replace('_', " "), shown(&row.value)));
    rows.collect::<Vec<_>>().join(", ")
}

/// The value of a parameter, to four decimals, as in the summary of a scan.
fn shown(value: &Value) -> String {
    match value {
        Value::Decimal(number) => ((number * 1e4).round() / 1e4).to_string(),
        value => value.to_string(),
    }
}

/// What the recall at the threshold means, if the algorithm has one.
fn recall(report: &Report) -> Option<String> {
    let row = report.parameters.iter().find(|row| row.name == "recall_at_threshold")?;
    let Value::Decimal(recall) = row.value else { return None };
    Some(if recall >= 1.0 {
        "exact: every pair at or above the threshold is found".into()
    } else {
        let recall = if recall < 0.99995 { shown(&row.value) } else { "more than 0.9999".into() };
        format!("a pair at the threshold is found with a probability of {recall}, and more similar ones more surely")
    })
}

/// An untrusted name as HTML, shortened.
pub(super) fn listed(name: &str) -> String {
    let mut characters = name.chars();
    let mut start = escaped(&characters.by_ref().take(LISTED_CHARACTERS).collect::<String>());
    if characters.next().is_some() {
        start.push('…');
    }
    start.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;").replace('\'', "&#39;")
}
