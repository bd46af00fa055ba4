//! `dedup plan`: shows the resolved options without running anything; with documents, also what these are like.

use super::arguments::plan::Arguments;
use super::data::Data;
use super::input;
use super::json::{Ordered, json};
use super::markup;
use super::method::Method;
use super::numbers::{time, whole};
use super::preparation::Described;
use super::sizing::{Collection, memory_of_filter, memory_of_index};
use super::spelling::{spell_all, spelled};
use super::stats::end_programs_on_signals;
use super::status::Status;
use super::terminal::{Terminal, bytes, count, escaped_lines};
use neardups::Error;
use neardups::algorithm::presets::Preset;
use neardups::algorithm::{CHARACTERS_OF_A_WORD, Design, PlannedRun, Row, SearchCost, SearchForecast, TableFactory};
use neardups::engine::{Similarities, sample_similarities};
use neardups::index::{bytes_of_tables, bytes_on_disk, crowded_keys};
use neardups::source::{Input, Source as _};
use serde::Serialize;
use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::Write as _;

/// Prints the plan.
pub fn run(arguments: &Arguments) -> Result<Status, Error> {
    let mut tokens = arguments.tokens;
    let method = Method::resolve(&arguments.method)?;
    let (entry, factory) = method.factory()?;
    let found = if arguments.paths.is_empty() { None } else { Some(look(arguments, &method, &factory)?) };
    let mut documents = PLANNED_DOCUMENTS;
    let mut status = Status::Done;
    if let Some(found) = &found {
        (documents, tokens, status) = (found.sampled.report.counts.documents, found.words, found.status);
    }
    let documents = arguments.documents.unwrap_or(documents);
    let memory = input::engine_options(&arguments.run, &method.tokens).memory;
    let mut plan = factory.plan(tokens as usize, documents)?;
    let data = found.as_ref().map(|found| {
        Data::new(&found.sampled, &plan, (documents, found.words, found.decoded), memory, &*method.tokens.tokenizer)
    });
    add_sizes(&mut plan, found.as_ref().map(|found| &found.sampled), documents, memory);
    spell_all(&mut plan.forecast.notes);
    let (preset, prepared) = (method.preset, method.tokens.prepared.as_ref());
    // The steps have lines of their own.
    let own = plan.tokenizer.as_deref().and_then(|name| name.split(", ").next());
    let own = own.map(|name| (name, format!("characters, for a median of {tokens} words a document")));
    let typed = method.tokens.why.clone().map(|why| (&*method.tokens.name, why));
    let tokenizer = if method.tokens.by_length.is_some() { own } else { typed.or(own) };
    let text = if arguments.json {
        let tokenizer = tokenizer.as_ref().map(|(name, _)| *name);
        let record = record(entry.name, preset, (documents, tokens), &plan, prepared, tokenizer);
        json(&Record { data: data.as_ref(), ..record }) + "\n"
    } else {
        // The tokenizer and the steps of preparation.
        let mut steps: Vec<(&str, String, String)> = Vec::new();
        steps.extend(tokenizer.map(|(name, why)| ("tokenizer", name.to_string(), why)));
        let prepared = prepared.map(Described::rows).unwrap_or_default();
        steps.extend(prepared.into_iter().map(|(step, value)| (step, value, "as given".to_string())));
        let table = as_table(entry.name, documents, &plan, &steps);
        let data = data.as_ref().map(|data| escaped_lines(&data.as_text())).unwrap_or_default();
        format!("{data}{}{table}", preset.map(about).unwrap_or_default())
    };
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(|e| Error::output("cannot write the plan", e))?;
    Ok(status)
}

/// Adds what a scan takes, and an index, of an algorithm that compares features: so many as the documents that were read have on
/// average, or those of the planned length.
fn add_sizes(plan: &mut PlannedRun, found: Option<&Similarities>, documents: u64, memory: u64) {
    let Some(mut stored) = plan.forecast.stored else { return };
    let (number, memory) = (documents as f64, memory as f64);
    let read = found.map(|found| &found.report.counts).filter(|counts| counts.documents > 0);
    let mean = read.map_or(stored.features as f64, |counts| counts.tokens as f64 / counts.documents as f64);
    stored.features = mean.round() as usize;
    if read.is_some() {
        // The median says nothing about all of them.
        plan.forecast.costs.retain(|(what, ..)| !what.starts_with("text of a document") && *what != "shingles");
    }
    let measured = found.filter(|found| found.mean_id > 0.0).map(|found| found.mean_id.ceil() as usize);
    let id = measured.unwrap_or(PLANNED_ID);
    let of_ids = match measured {
        None => "index, for ids of 20 bytes",
        Some(_) => "index, for ids as those that were read",
    };
    let keys = 8.0 * stored.keys as f64 * number;
    let collection = Collection { documents: number, features: mean * number, keys };
    let [stored_bytes, table_bytes] = [bytes_on_disk(stored, id), bytes_of_tables(stored)].map(|bytes| bytes as f64);
    let of_index = memory_of_index(documents, stored);
    // For documents that were read, the lines above have it, with the share of those that are similar.
    if read.is_none() {
        plan.forecast.costs.extend([
            ("memory of a scan, at most", collection.memory(memory), "bytes"),
            (
                "temporary files of a scan, if one document in five is somewhat similar to an earlier one",
                collection.temporary(memory, 0.2),
                "bytes",
            ),
            ("temporary files of a scan, if all are", collection.temporary(memory, 1.0), "bytes"),
        ]);
    }
    plan.forecast.costs.extend([
        (of_ids, stored_bytes, "bytes a document"),
        ("tables in the folder beside it", table_bytes, "bytes a document"),
        ("index of all documents, if all pass", stored_bytes * number, "bytes"),
        ("tables of all documents", table_bytes * number, "bytes"),
        ("least --memory of an index of all documents", of_index, "bytes"),
        (
            "memory of a filter with it, at most, plus four times the largest record",
            memory_of_filter(documents, of_index),
            "bytes",
        ),
    ]);
    let notes = &mut plan.forecast.notes;
    let note = "the sizes of an index and its tables follow from their formats; merging tables takes up to as much again for a time; a run \
                that passes fewer than 16,384 documents writes none";
    let time =
        "for the time of a scan on this machine, plan with a sample of the documents: dedup plan SAMPLE --documents N";
    // What is special about these options stays at the end.
    let place = notes.len().min(1);
    if found.is_none() {
        notes.insert(place, time.into());
    }
    notes.insert(place, note.into());
}

/// The number of documents that a plan assumes without any.
const PLANNED_DOCUMENTS: u64 = 1_000_000;

/// The bytes of an id that a plan assumes.
const PLANNED_ID: usize = 20;

/// What reading the documents showed.
struct Look {
    sampled: Similarities,
    /// The median length in words.
    words: u64,
    /// Bytes without compression, in UTF-8.
    decoded: u64,
    status: Status,
}

/// Reads the documents and samples their similarities.
fn look(arguments: &Arguments, method: &Method<'_>, factory: &TableFactory) -> Result<Look, Error> {
    let paths = input::paths(&arguments.paths, &[])?;
    let source = input::source_options(&arguments.input, arguments.run.temp_dir.as_deref())?;
    end_programs_on_signals(&source)?;
    let mut input = Input::new(paths.clone(), source.clone());
    let terminal = Terminal::new(arguments.run.quiet, input.total_bytes()).with_max_bad(arguments.input.max_bad);
    markup::hint_of_pages(&terminal, &paths, &source);
    let options = input::reading_engine_options((&arguments.input, &arguments.run), &method.tokens);
    let sample = arguments.sample.map(|sample| sample as usize);
    let found = sample_similarities(&mut input, factory, &options, &terminal, sample);
    terminal.done();
    let mut found = found?;
    let counts = &found.report.counts;
    let failed = (counts.failed, counts.skipped);
    input::check_not_empty(arguments.input.allow_empty, counts.documents, failed, &input.counts())?;
    input.fields_never_found().iter().for_each(|warning| terminal.warning(&spelled(warning)));
    input::report_lacking(&terminal, &source);
    spell_all(&mut found.report.warnings);
    found.report.warnings.iter().for_each(|warning| terminal.warning(warning));
    let asked = found.report.median_tokens;
    let are_characters = method.tokens.name.starts_with("char") && method.tokens.by_length.is_none();
    let words = if are_characters { asked.div_ceil(CHARACTERS_OF_A_WORD) } else { asked };
    let status = terminal.end_with(found.report.counts.failed);
    let decoded = terminal.decoded(found.report.counts.bytes);
    Ok(Look { sampled: found, words: words as u64, decoded, status })
}

/// The one object of `--json`, its fields in the order of the table.
#[derive(Serialize)]
struct Record<'a> {
    r#type: &'static str,
    algo: &'a str,
    documents: u64,
    tokens: u64,
    parameters: Ordered<'a>,
    curve_of: &'a str,
    curve: Vec<Point>,
    costs: Vec<Cost<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    search: Option<Vec<Search>>,
    notes: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    preset: Option<Provenance>,
    #[serde(skip_serializing_if = "Option::is_none")]
    preparation: Option<&'a Described>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tokenizer: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<&'a Data>,
}

/// The preset in the record.
#[derive(Serialize)]
struct Provenance {
    name: &'static str,
    summary: &'static str,
    source: &'static str,
    differs: Vec<Cow<'static, str>>,
    advice: Cow<'static, str>,
}

#[derive(Serialize)]
struct Point {
    similarity: f64,
    probability: f64,
}

#[derive(Serialize)]
struct Cost<'a> {
    what: &'a str,
    value: f64,
    unit: &'a str,
}

/// A way to find the fingerprints within the distance, and its cost.
#[derive(Serialize)]
struct Search {
    design: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    blocks: Option<String>,
    chosen: bool,
    of_index: bool,
    tables: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    key_bits: Option<[u32; 2]>,
    probes: f64,
    candidates_of_a_probe: f64,
    candidates: f64,
    bytes: f64,
    #[serde(flatten)]
    index: Option<OfIndex>,
    query_seconds: f64,
    batch_seconds: f64,
}

/// What tables cost in an index.
#[derive(Serialize)]
struct OfIndex {
    false_candidates: f64,
    bytes_in_memory: f64,
    bytes_of_filters: f64,
    compares_all: bool,
    building_seconds: f64,
}

impl Search {
    fn all(forecast: &SearchForecast) -> Vec<Self> {
        let search = |cost: &SearchCost| {
            let (design, layout) = match cost.design {
                Design::Tables(layout) => ("tables", Some(layout)),
                Design::Changes => ("changes-looked-up", None),
                Design::Copies => ("changes-stored", None),
                _ => ("each-with-each", None),
            };
            Search {
                design,
                blocks: layout.map(|layout| layout.to_string()),
                chosen: layout == Some(forecast.chosen),
                of_index: layout == Some(forecast.of_index),
                tables: cost.tables,
                key_bits: cost.key_bits.map(|(least, most)| [least, most]),
                probes: cost.probes,
                candidates_of_a_probe: cost.candidates_of_a_probe,
                candidates: cost.candidates,
                bytes: cost.bytes,
                index: cost.index.map(|index| OfIndex {
                    false_candidates: index.false_candidates,
                    bytes_in_memory: index.bytes_in_memory,
                    bytes_of_filters: index.bytes_of_filters,
                    compares_all: index.compares_all,
                    building_seconds: index.building_nanoseconds / 1e9,
                }),
                query_seconds: cost.query_nanoseconds / 1e9,
                batch_seconds: cost.batch_nanoseconds / 1e9,
            }
        };
        forecast.costs.iter().map(search).collect()
    }
}

fn record<'a>(
    algorithm: &'a str,
    preset: Option<&Preset>,
    (documents, tokens): (u64, u64),
    plan: &'a PlannedRun,
    preparation: Option<&'a Described>,
    tokenizer: Option<&'a str>,
) -> Record<'a> {
    Record {
        r#type: "plan",
        algo: algorithm,
        documents,
        tokens,
        parameters: Ordered(plan.parameters.iter().map(|row| (row.name, &row.value)).collect()),
        curve_of: plan.forecast.curve_of,
        curve: plan.forecast.curve.iter().map(|&(similarity, probability)| Point { similarity, probability }).collect(),
        costs: plan.forecast.costs.iter().map(|&(what, value, unit)| Cost { what, value, unit }).collect(),
        search: plan.forecast.search.as_ref().map(Search::all),
        notes: &plan.forecast.notes,
        preset: preset.map(|&Preset { name, summary, source, differs, advice, .. }| Provenance {
            name,
            summary,
            source,
            differs: differs.iter().map(|differs| spelled(differs)).collect(),
            advice: spelled(advice),
        }),
        preparation,
        tokenizer,
        data: None,
    }
}

/// The source of a preset, and how it differs from it.
fn about(preset: &Preset) -> String {
    let mut out = format!("preset {}: {}\n\n  source: {}\n", preset.name, preset.summary, preset.source);
    for differs in preset.differs {
        out += &format!("  differs: {}\n", spelled(differs));
    }
    out + &format!("  advice: {}\n\n", spelled(preset.advice))
}

fn as_table(algorithm: &str, documents: u64, plan: &PlannedRun, steps: &[(&str, String, String)]) -> String {
    let mut out = String::new();
    let mut row = |line: std::fmt::Arguments<'_>| {
        writeln!(out, "{}", line.to_string().trim_end()).expect("writing to a string cannot fail");
    };
    row(format_args!("{algorithm}, {} documents\n", count(documents)));
    let width = plan.parameters.iter().map(|row| row.name.len()).fold(12, usize::max);
    for Row { name, value, provenance, .. } in &plan.parameters {
        row(format_args!("  {name:<width$} {value:<10} {}", spelled(&provenance.to_string())));
    }
    for (name, value, why) in steps {
        row(format_args!("  {name:<width$} {value:<10} {why}"));
    }
    row(format_args!("\n  {:<12} found with probability", plan.forecast.curve_of));
    for (similarity, probability) in &plan.forecast.curve {
        let bar = "#".repeat((probability * 40.0).round() as usize);
        row(format_args!("  {similarity:<12} {probability:<10.6} {bar}"));
    }
    row(format_args!(""));
    for (what, value, unit) in &plan.forecast.costs {
        let value = match *unit {
            "bytes" => bytes(*value),
            unit if unit.starts_with("seconds") => time(1e9 * value) + unit.trim_start_matches("seconds"),
            _ if value.fract() == 0.0 => format!("{} {unit}", whole(*value)),
            _ => format!("{value} {unit}"),
        };
        row(format_args!("  {what}: {value}"));
    }
    if let Some(search) = &plan.forecast.search {
        row(format_args!(""));
        table_of(search).iter().for_each(|line| row(format_args!("  {line}")));
    }
    row(format_args!(""));
    for note in &plan.forecast.notes {
        row(format_args!("  {note}"));
    }
    out
}

/// The designs of the search, one a line.
fn table_of(forecast: &SearchForecast) -> Vec<String> {
    let (bits, distance) = (forecast.chosen.bits(), forecast.chosen.distance());
    let line = |cells: [&str; 9]| {
        let [design, rest @ ..] = cells;
        let mut line = format!("{design:<19}");
        for (cell, width) in rest.iter().zip([7, 9, 7, 10, 10, 10, 9, 9]) {
            line += &format!(" {cell:>width$}");
        }
        line
    };
    let mut lines = vec![
        format!("the search within {distance} of {bits} bits, estimated for random fingerprints and one core:"),
        line(["", "", "", "", "candidates", "candidates", "", "", ""]),
        line(["", "tables", "key bits", "probes", "a probe", "a query", "size", "a query", "a batch"]),
    ];
    for cost in &forecast.costs {
        let design = match cost.design {
            Design::Tables(layout) => {
                let blocks = match layout.blocks_again() {
                    None => layout.blocks().to_string(),
                    Some(again) => format!("{} × {again}", layout.blocks()),
                };
                let mark = |chosen, mark| if layout == chosen { mark } else { "" };
                let noun = if blocks == "1" { "block" } else { "blocks" };
                format!("{blocks} {noun} {}{}", mark(forecast.chosen, "*"), mark(forecast.of_index, "+"))
            }
            Design::Changes => "changes looked up".into(),
            Design::Copies => "changes stored".into(),
            _ => "each with each".into(),
        };
        let key_bits = match cost.key_bits {
            None => "-".into(),
            Some((least, most)) if least == most => least.to_string(),
            Some((least, most)) => format!("{least}-{most}"),
        };
        lines.push(line([
            &design,
            &short(cost.tables),
            &key_bits,
            &short(cost.probes),
            &short(cost.candidates_of_a_probe),
            &short(cost.candidates),
            &short_bytes(cost.bytes),
            &time(cost.query_nanoseconds),
            &time(cost.batch_nanoseconds),
        ]));
    }
    let (exactly, within) = forecast.changes();
    let [exactly, within] = [exactly, within].map(whole);
    lines.push("* what a scan takes; + what an index takes that expects as many documents (--expect)".into());
    lines.extend(of_index(forecast));
    lines.push(format!("changes of {distance} of {bits} bits: {exactly}; of at most {distance}: {within}"));
    lines
}

/// What an index with the tables that it takes costs besides.
fn of_index(forecast: &SearchForecast) -> Vec<String> {
    let layout = &forecast.of_index;
    let is_its = |cost: &&SearchCost| cost.design == Design::Tables(*layout);
    let Some((cost, index)) = forecast.costs.iter().find(is_its).and_then(|cost| Some((cost, cost.index?))) else {
        return Vec::new();
    };
    let [in_memory, on_disk, filters] = [index.bytes_in_memory, cost.bytes, index.bytes_of_filters].map(short_bytes);
    let mut lines = vec![
        format!(
            "+ in memory: {in_memory} (about 30 bytes a document and table); once moved to the disk: {on_disk} there, and \
             {filters} in memory (12 bits)"
        ),
        format!("+ made in: {}, besides reading and signing the documents", time(index.building_nanoseconds)),
        match index.compares_all {
            true => "+ compares all fingerprints with that of a query, which takes less time than those under its keys"
                .into(),
            false => format!(
                "+ distinguishes keys by 32 bits: a query compares {} more documents, which its time includes",
                short(index.false_candidates)
            ),
        },
    ];
    lines.extend(crowded_keys(layout, forecast.documents).map(|warning| format!("+ {warning}")));
    lines
}

/// A number in a column: small ones with two digits, large ones as a power of ten.
fn short(number: f64) -> String {
    match number {
        0.0 => "0".into(),
        _ if number < 0.01 => format!("{number:.0e}"),
        _ if number < 10.0 && number.fract() != 0.0 => format!("{number:.2}"),
        _ if number < 1e8 => count(number.round() as u64),
        _ => format!("{number:.1e}"),
    }
}

/// A size in a column.
fn short_bytes(size: f64) -> String {
    if size < 1e21 { bytes(size) } else { format!("{size:.0e} B") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_fit_their_columns() {
        assert_eq!(
            [0.0, 0.0001, 0.25, 8.0, 3584.4, 262_144.0, 1e9].map(short),
            ["0", "1e-4", "0.25", "8", "3,584", "262,144", "1.0e9"]
        );
        assert_eq!([1e12, 6e15, 1e21, 6e22].map(short_bytes), ["931.3 GiB", "5.3 PiB", "1e21 B", "6e22 B"]);
    }
}
