//! `dedup compare`: compares two documents with every algorithm, and lists the passages that they share and the words in which
//! they differ.

mod address;
mod algorithms;
mod differences;
mod document;
mod evidence;
mod partial;
mod record;
mod report;
mod text;
mod verdict;

use super::arguments::compare::Arguments;
use super::input;
use super::method::Method;
use super::spelling::spell_all;
use super::stats::end_programs_on_signals;
use super::status::{Status, usage_error};
use super::terminal::{self, Terminal};
use super::wrap;
use address::{Address, read, read_ids};
use algorithms::{Choice, chosen_shingle, factories, shingle_factory};
use document::{Collection, Document, Read};
use neardups::Error;
use neardups::algorithm::{Entry, TableFactory};
use neardups::compare::{self, Comparison, CountVectors, Verdict, compare_among, compare_in};
use neardups::passages::{Overlap, common_runs};
use neardups::review::Differences;
use neardups::source::Input;
#[cfg(feature = "python")]
use neardups::source::Record as SourceRecord;
use neardups::tokenizer::Tokenizer;
use report::{Report, overlaps};
use std::io::{self, Write as _};

/// Reads both documents, compares them, and prints the results.
pub fn run(arguments: &Arguments) -> Result<Status, Error> {
    let addresses = arguments.sides.each_ref().map(|typed| Address::of(typed));
    let named = if arguments.within.is_empty() {
        addresses.each_ref().map(|address| &*address.path).to_vec()
    } else {
        arguments.within.iter().map(|path| &**path).collect()
    };
    if named.iter().filter(|path| path.as_os_str() == "-").count() > 1 {
        return Err(usage_error("standard input (-) can be read only once"));
    }
    let options = input::source_options(&arguments.input, None)?;
    let terminal = Terminal::new(arguments.run.quiet, None);
    let read = |tokenizer: &dyn Tokenizer, seed| {
        end_programs_on_signals(&options)?;
        match arguments.within.is_empty() {
            true => Ok(([read(&addresses[0], &options)?, read(&addresses[1], &options)?], None)),
            false => read_ids(arguments, &options, tokenizer, seed).map(|(read, of, input)| (read, Some((of, input)))),
        }
    };
    let are_records = addresses.iter().all(|address| address.record.is_some());
    let (text, warnings) = reported(arguments, read, &terminal, |report| {
        let chosen = chosen_shingle(&arguments.method.settings, &report.comparisons);
        if let Some(shingle) = chosen.filter(|_| are_records && arguments.within.is_empty()) {
            terminal.warning(&format!(
                "shingle {shingle} was chosen for these two documents: a scan chooses for all of its input, as --in FILE does"
            ));
        }
        match arguments.json {
            true => report.as_json() + "\n",
            false => wrap::plain(&terminal::escaped_lines(&report.as_text(arguments.all))),
        }
    })?;
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(|e| Error::output("cannot write results", e))?;
    warnings.iter().for_each(|warning| terminal.warning(warning));
    Ok(Status::Done)
}

/// Compares two texts, each after its id: the JSON record, and warnings.
#[cfg(feature = "python")]
pub fn of_texts(arguments: &Arguments, texts: [(&str, &str); 2]) -> Result<(String, Vec<String>), Error> {
    let read = |_: &dyn Tokenizer, _| Ok((texts.map(|(id, text)| (SourceRecord::of_text(id, text), false)), None));
    reported(arguments, read, &Terminal::new(true, None), |report| report.as_json())
}

/// Compares the documents that `read` reads. Returns how the report is shown, and warnings.
fn reported(
    arguments: &Arguments,
    read: impl FnOnce(&dyn Tokenizer, u64) -> Result<([Read; 2], Option<(Collection, Input)>), Error>,
    terminal: &Terminal,
    show: impl FnOnce(&Report<'_>) -> String,
) -> Result<(String, Vec<String>), Error> {
    let method = Method::resolve(&arguments.method)?;
    let factories = factories(&method, arguments)?;
    let shingles = shingle_factory(&method, &arguments.method.settings)?;
    let engine = input::engine_options(&arguments.run, &method.tokens);
    let cut_by = method.tokens.tokenizer.name().into_owned();
    let (tokenizer, seed) = (&*engine.tokenizer, engine.seed);
    let ([a, b], collection) = read(tokenizer, seed)?;
    let (collection, mut source) = collection.unzip();
    let document = |(record, at)| Document::new(record, at, (&*method.tokens.tokenizer, engine.seed), terminal);
    let documents = [a, b].map(document);

    let texts = documents.each_ref().map(|document| &*document.text);
    let median_tokens = match &collection {
        Some(collection) => collection.median_tokens,
        None => compare::median_tokens(texts, tokenizer, seed),
    };
    let mut judged = |factory: &TableFactory| match &mut source {
        Some(source) => compare_in(source, &engine, median_tokens, texts, factory),
        None => compare_among(median_tokens, texts, factory, tokenizer, seed),
    };
    let mut judge = |(entry, choice): (&'static Entry, Choice)| {
        let mut comparison = match choice {
            Choice::Factory(factory) => judged(&factory)?,
            Choice::Refused(comparison) => *comparison,
        };
        spell_all(&mut comparison.warnings);
        if let Verdict::Refused(why) = &mut comparison.verdict {
            spell_all([why]);
        }
        Ok::<_, Error>((entry, comparison))
    };
    let comparisons = factories.into_iter().map(&mut judge).collect::<Result<Vec<_>, _>>()?;
    let [a, b] = documents.each_ref().map(|document| document.tokens.hashes());
    let min_run = arguments.min_run;
    let runs = common_runs(a, b, min_run);
    let report = Report {
        tokenizer: &cut_by,
        overlaps: overlaps(&judged(&shingles)?, Overlap::of_shingles(a, b, 3)),
        counts: CountVectors::of(a, b),
        passages: runs.passages(),
        differences: match arguments.max_differences {
            None => Differences::between(texts[0], texts[1]),
            Some(most) => Differences::first(most, texts[0], texts[1]),
        },
        max_differences: arguments.max_differences,
        token_flags: partial::token_flags(&arguments.method.tokens, &method.tokens),
        documents,
        collection,
        median_tokens,
        comparisons,
        min_run,
        runs,
    };
    Ok((show(&report), warnings(&report.comparisons)))
}

/// The warnings of all algorithms, each once, with the names of those that have it.
fn warnings(comparisons: &[(&'static Entry, Comparison)]) -> Vec<String> {
    let mut warnings: Vec<(&str, Vec<&str>)> = Vec::new();
    for (entry, comparison) in comparisons {
        for warning in &comparison.warnings {
            match warnings.iter_mut().find(|(other, _)| other == warning) {
                Some((_, names)) => names.push(entry.name),
                None => warnings.push((warning, vec![entry.name])),
            }
        }
    }
    warnings.into_iter().map(|(warning, names)| format!("{}: {warning}", names.join(", "))).collect()
}
