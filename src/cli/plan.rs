//! `dedup plan`: shows the resolved options without running anything.

use super::arguments::plan::Arguments;
use super::json::{Ordered, json};
use super::method::Method;
use super::preparation::Described;
use super::spelling::{spell_all, spelled};
use super::status::Status;
use super::terminal::{bytes, count};
use neardups::Error;
use neardups::algorithm::presets::Preset;
use neardups::algorithm::{Design, PlannedRun, Row, SearchCost, SearchForecast};
use neardups::index::crowded_keys;
use serde::Serialize;
use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::Write as _;

/// Prints the plan.
pub fn run(arguments: &Arguments) -> Result<Status, Error> {
    let &Arguments { documents, tokens, .. } = arguments;
    let method = Method::resolve(&arguments.method)?;
    let (entry, factory) = method.factory()?;
    let mut plan = factory.plan(tokens as usize, documents)?;
    spell_all(&mut plan.forecast.notes);
    let (preset, prepared) = (method.preset, method.tokens.prepared.as_ref());
    // The steps have lines of their own.
    let own = plan.tokenizer.as_deref().and_then(|name| name.split(", ").next());
    let own = own.map(|name| (name, format!("characters, for a median of {tokens} words a document")));
    let typed = method.tokens.why.clone().map(|why| (&*method.tokens.name, why));
    let tokenizer = if method.tokens.by_length.is_some() { own } else { typed.or(own) };
    let text = if arguments.json {
        let tokenizer = tokenizer.as_ref().map(|(name, _)| *name);
        as_json(entry.name, preset, documents, tokens, &plan, prepared, tokenizer) + "\n"
    } else {
        // The tokenizer and the steps of preparation.
        let mut steps: Vec<(&str, String, String)> = Vec::new();
        steps.extend(tokenizer.map(|(name, why)| ("tokenizer", name.to_string(), why)));
        let prepared = prepared.map(Described::rows).unwrap_or_default();
        steps.extend(prepared.into_iter().map(|(step, value)| (step, value, "as given".to_string())));
        let table = as_table(entry.name, documents, &plan, &steps);
        format!("{}{table}", preset.map(about).unwrap_or_default())
    };
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(|e| Error::output("cannot write the plan", e))?;
    Ok(Status::Done)
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

fn as_json(
    algorithm: &str,
    preset: Option<&Preset>,
    documents: u64,
    tokens: u64,
    plan: &PlannedRun,
    preparation: Option<&Described>,
    tokenizer: Option<&str>,
) -> String {
    let record = Record {
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
    };
    json(&record)
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

/// A whole number with commas; a large one as a power of ten.
fn whole(number: f64) -> String {
    if number < 1e15 { count(number as u64) } else { format!("{number:.2e}") }
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

/// A time in the unit that suits it.
fn time(nanoseconds: f64) -> String {
    const UNITS: [(f64, &str); 8] = [
        (365.25 * 86_400e9, "years"),
        (86_400e9, "days"),
        (3600e9, "h"),
        (60e9, "min"),
        (1e9, "s"),
        (1e6, "ms"),
        (1e3, "µs"),
        (1.0, "ns"),
    ];
    let (size, unit) = UNITS.into_iter().find(|(size, _)| nanoseconds >= *size).unwrap_or((1.0, "ns"));
    match nanoseconds / size {
        number if number < 10.0 && unit != "ns" => format!("{number:.1} {unit}"),
        number if number < 1e5 => format!("{} {unit}", count(number.round() as u64)),
        number => format!("{number:.0e} {unit}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_fit_their_columns() {
        let times = [0.4, 100.0, 1500.0, 2.5e6, 3e9, 7.2e12, 4.999e14, 1e17, 1e30].map(time);
        assert_eq!(
            times,
            ["0 ns", "100 ns", "1.5 µs", "2.5 ms", "3.0 s", "2.0 h", "5.8 days", "3.2 years", "3e13 years"]
        );
        assert_eq!(
            [0.0, 0.0001, 0.25, 8.0, 3584.4, 262_144.0, 1e9].map(short),
            ["0", "1e-4", "0.25", "8", "3,584", "262,144", "1.0e9"]
        );
        assert_eq!([1e12, 6e15, 1e21, 6e22].map(short_bytes), ["931.3 GiB", "5.3 PiB", "1e21 B", "6e22 B"]);
        assert_eq!([499_999_500_000.0, 5e23].map(whole), ["499,999,500,000", "5.00e23"]);
    }
}
