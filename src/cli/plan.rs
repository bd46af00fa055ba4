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
use neardups::algorithm::{PlannedRun, Row};
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
    let own = plan.tokenizer.as_deref();
    let own = own.map(|name| (name, format!("characters, for a median of {tokens} tokens a document")));
    let tokenizer = method.tokens.why.clone().map(|why| (&*method.tokens.name, why)).or(own);
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
            _ if value.fract() == 0.0 => format!("{} {unit}", count(*value as u64)),
            _ => format!("{value} {unit}"),
        };
        row(format_args!("  {what}: {value}"));
    }
    row(format_args!(""));
    for note in &plan.forecast.notes {
        row(format_args!("  {note}"));
    }
    out
}
