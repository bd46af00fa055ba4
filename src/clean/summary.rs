//! The file that states what was run, and what was found.

use super::decisions::Counts;
use super::folder::{IndexRecord, InputRecord, ListRecord, State};
use super::inputs::Inputs;
use super::request::Cleaned;
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// A record as a line of JSON.
pub(super) fn json(record: &impl Serialize) -> Vec<u8> {
    let mut text = serde_json::to_vec(record).expect("strings and numbers make JSON");
    text.push(b'\n');
    text
}

/// The file `summary.json`.
#[derive(Serialize)]
struct Summary<'a> {
    r#type: &'static str,
    version: &'static str,
    request: &'a Map<String, Value>,
    scan: &'a RawValue,
    /// The documents that the index remembered before, and remembers now.
    #[serde(skip_serializing_if = "Option::is_none")]
    index: Option<IndexSummary<'a>>,
    records: u64,
    kept: u64,
    removed: u64,
    /// Of these, the ones whose most similar kept document is of the reference, if there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    removed_for_references: Option<u64>,
    failed: u64,
    files_written: u64,
    bytes_written: u64,
    /// Files that are not kept, and were not moved.
    #[serde(skip_serializing_if = "Option::is_none")]
    stayed: Option<u64>,
    /// Seconds of writing, in the run that ended it.
    seconds_writing: f64,
    /// The largest memory of the process so far in bytes, where the system states it.
    #[serde(skip_serializing_if = "Option::is_none")]
    peak_memory: Option<u64>,
    files: Vec<FileSummary<'a>>,
    /// What was removed and what failed, unless files move.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    lists: &'a [ListRecord],
    /// Further names of files.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    same: Vec<&'a str>,
}

#[derive(Serialize)]
struct IndexSummary<'a> {
    file: &'a str,
    before: u64,
    after: u64,
}

#[derive(Serialize)]
struct FileSummary<'a> {
    #[serde(flatten)]
    input: &'a InputRecord,
    #[serde(flatten)]
    counts: Counts,
    /// The length of its output.
    #[serde(skip_serializing_if = "Option::is_none")]
    output_bytes: Option<u64>,
}

/// The content of `summary.json`. `lengths` has that of the output of each file, unless files move.
pub(super) fn summary(
    state: &State,
    inputs: &Inputs,
    cleaned: &Cleaned,
    lengths: &[Option<u64>],
    lists: &[ListRecord],
    seconds_writing: f64,
) -> Vec<u8> {
    let lengths = lengths.iter().copied().chain(std::iter::repeat(None));
    let files = state.inputs.iter().zip(&state.counts).zip(lengths);
    json(&Summary {
        r#type: "clean",
        version: env!("CARGO_PKG_VERSION"),
        request: &state.request,
        scan: &state.scan,
        index: state.index.as_ref().map(|IndexRecord { file, before, after, .. }| IndexSummary {
            file,
            before: *before,
            after: *after,
        }),
        records: cleaned.records,
        kept: cleaned.records - cleaned.removed,
        removed: cleaned.removed,
        removed_for_references: Some(cleaned.removed_for_references).filter(|&removed| removed > 0),
        failed: cleaned.failed,
        files_written: cleaned.files_written,
        bytes_written: cleaned.bytes_written,
        stayed: state.stay.as_ref().map(|_| cleaned.stayed),
        seconds_writing,
        peak_memory: peak_memory(),
        files: files
            .map(|((input, counts), output_bytes)| FileSummary { input, counts: *counts, output_bytes })
            .collect(),
        lists,
        same: inputs.same.iter().map(|same| same.file.shown.as_str()).collect(),
    })
}

/// The largest memory of the process so far in bytes, where the system states it.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.parse().ok().map(|kilobytes: u64| kilobytes << 10)
}
