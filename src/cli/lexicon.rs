//! `dedup lexicon`: document frequencies of terms, in a file.

use super::arguments::lexicon::Arguments;
use super::input;
use super::outputs::Outputs;
use super::preparation::Tokenization;
use super::spelling::spelled;
use super::stats::end_programs_on_signals;
use super::status::Status;
use super::terminal::{Terminal, bytes, count, counted};
use neardups::source::{Input, Source};
use neardups::{Error, engine};
use std::io::{BufWriter, Write};

/// Counts the terms of documents, and prints the lexicon.
pub fn build(arguments: &Arguments) -> Result<Status, Error> {
    // A lexicon of tokens that a scan would refuse is useless.
    let tokens = Tokenization::resolve(&arguments.tokens, None)?;
    tokens.refuse_by_length("the terms of a lexicon")?;
    let options = input::engine_options(&arguments.run, &tokens);
    let mut outputs = Outputs::new();
    outputs.reads_documents(&arguments.paths, arguments.input.hidden)?;
    outputs.reads_stop_words(&arguments.tokens)?;
    let paths = input::paths(&arguments.paths, &[])?;
    let source = input::source_options(&arguments.input, None)?;
    end_programs_on_signals(&source)?;
    let mut input = Input::new(paths, source.clone());
    let rejects = outputs.rejects(arguments.input.rejects.as_deref())?;
    let terminal = Terminal::new(arguments.run.quiet, input.total_bytes())
        .with_rejects(rejects)
        .with_max_bad(arguments.input.max_bad);
    let counting = engine::count_terms(&mut input, &options, &terminal);
    terminal.done();
    let (terms, counts) = terminal.finish_rejects(counting)?;
    let failed = (counts.failed, counts.skipped);
    input::check_not_empty(arguments.input.allow_empty, counts.documents, failed, &input.counts())?;

    input.fields_never_found().iter().for_each(|warning| terminal.warning(&spelled(warning)));
    input::report_lacking(&terminal, &source);
    let mut out = BufWriter::with_capacity(1 << 16, std::io::stdout().lock());
    let written = terms.write(&options.tokenizer.name(), arguments.min_df, &mut out);
    let digest = written?;
    out.flush().map_err(|error| Error::output("cannot write the lexicon", error))?;
    terminal.line(&format!(
        "{}, {}, {}: {} in at least {} of them",
        counted(counts.documents, "document"),
        counted(counts.copies, "exact copy"),
        bytes(counts.bytes as f64),
        counted(terms.len(arguments.min_df), "term"),
        count(arguments.min_df.into()),
    ));
    terminal.line(&format!("lexicon {digest}"));
    let others = [
        (counts.failed, "failed"),
        (counts.skipped, "skipped"),
        (counts.repaired, "repaired"),
        (counts.fell_back, input::FELL_BACK),
    ];
    let others = others.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{} {what}", count(*n)));
    let others: Vec<_> = others.collect();
    if !others.is_empty() {
        terminal.line(&others.join(", "));
    }
    Ok(terminal.end_with(counts.failed))
}
