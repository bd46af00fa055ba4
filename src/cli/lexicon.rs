//! `dedup lexicon`: counts of terms, in a file.

use super::arguments::{self, bytes, count, counted};
use super::outputs::Outputs;
use super::terminal::Terminal;
use super::{Status, input, preparation};
use clap::{Arg, ArgMatches, Command};
use neardups::source::{Input, Source};
use neardups::{Error, engine};
use std::io::{BufWriter, Write};

/// `dedup lexicon`.
pub fn command() -> Command {
    Command::new("lexicon")
        .about("Makes files that say in how many documents each term is")
        .long_about(
            "Makes files that say in how many documents each term is. With --lexicon FILE a scan judges terms by such a file instead \
             of counting those of its own documents: they are read once, and what is said of two of them does not depend on others.",
        )
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(build_command())
}

fn build_command() -> Command {
    let of_counting = |arg: &Arg| ["threads", "quiet"].contains(&arg.get_id().as_str());
    Command::new("build")
        .about("Counts the terms of documents, and prints the lexicon")
        .long_about(
            "Counts the terms of documents, and prints the lexicon: a line of JSON, then a line for each term with the number of \
             documents that have it, in the order of the terms' bytes. Exact copies are counted once. The same documents give the \
             same bytes. Terms are those of --tokenizer, which a scan must then use too. Takes some 100 bytes of memory for \
             every distinct term, and some 30 bytes for each document.",
        )
        .after_help(
            "Examples:\n  dedup lexicon build ./corpus > corpus.lex\n  dedup scan new.jsonl --algo imatch --lexicon corpus.lex\n  \
             dedup lexicon build crawl.jsonl.gz --min-df 5 | zstd > crawl.lex.zst",
        )
        .arg(input::paths_arg())
        .arg(
            Arg::new("min-df")
                .long("min-df")
                .value_name("N")
                .value_parser(arguments::whole_number(1..=u32::MAX.into()))
                .default_value("2")
                .help("Least documents that a term must be in to be listed")
                .long_help(
                    "Least documents that a term must be in to be listed. Most terms of a large collection are in a single document; \
                     1 lists them too, and they are judged as if they were not there.",
                ),
        )
        .args(arguments::tokens())
        .args(input::input_args())
        .args([input::rejects_arg(), input::allow_empty_arg()])
        .args(input::run_args().into_iter().filter(of_counting))
}

/// Runs one of its commands.
pub fn run(given: &ArgMatches) -> Result<Status, Error> {
    match given.subcommand() {
        Some(("build", given)) => build(given),
        _ => unreachable!("clap asks for one of its subcommands"),
    }
}

fn build(given: &ArgMatches) -> Result<Status, Error> {
    let min_df = *given.get_one::<u64>("min-df").expect("has a default") as u32;
    // A lexicon of tokens that no scan makes would be of no use.
    preparation::steps(given)?;
    let options = engine::Options {
        tokenizer: preparation::tokenizer(given)?.0,
        threads: given.get_one::<u64>("threads").map_or(0, |&n| n as usize),
        ..engine::Options::default()
    };
    let mut outputs = Outputs::new();
    outputs.read_by(given)?;
    let mut input = Input::new(input::paths(given, &[])?, input::source_options(given)?);
    let rejects = outputs.rejects(given)?;
    let terminal = Terminal::new(given.get_flag("quiet"), input.total_bytes()).with_rejects(rejects);
    let counting = engine::count_terms(&mut input, &options, &terminal);
    terminal.done();
    let (terms, counts) = terminal.finish_rejects(counting)?;
    input::check_not_empty(given.get_flag("allow-empty"), counts.documents, counts.failed, counts.skipped)?;

    let mut out = BufWriter::with_capacity(1 << 16, std::io::stdout().lock());
    let written = terms.write(&options.tokenizer.name(), min_df, &mut out);
    let digest = written
        .and_then(|digest| out.flush().map(|()| digest))
        .map_err(|error| Error::output("cannot write the lexicon", error))?;
    terminal.line(&format!(
        "{}, {}, {}: {} in at least {} of them",
        counted(counts.documents, "document"),
        counted(counts.copies, "exact copy"),
        bytes(counts.bytes as f64),
        counted(terms.len(min_df), "term"),
        count(min_df.into()),
    ));
    terminal.line(&format!("lexicon {digest}"));
    let left_out = [
        (counts.failed, "failed"),
        (counts.skipped, "skipped"),
        (counts.repaired, "repaired"),
        (counts.fell_back, input::FELL_BACK),
    ];
    let left_out = left_out.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{} {what}", count(*n)));
    let left_out: Vec<_> = left_out.collect();
    if !left_out.is_empty() {
        terminal.line(&left_out.join(", "));
    }
    Ok(Status::of_input(counts.failed))
}
