//! `dedup scan`: finds near-duplicates among documents.

use super::arguments::OnError;
use super::arguments::scan::{Arguments, Emit};
use super::files::OutFile;
use super::input::{self, LackingStats};
use super::json::Ordered;
use super::markup;
use super::method::Method;
use super::outputs::Outputs;
use super::preparation::{Described, Tokenization};
use super::review::Page;
use super::spelling::{self, spell_all, spelled};
use super::standard_output::{WholeLines, refuse_closed_output};
use super::stats::{Failure, INCOMPLETE, end_on_signals, with_stats, write_stats};
use super::status::{Status, usage_error};
use super::terminal::{self, Terminal, bytes, count, counted};
use neardups::Error;
use neardups::algorithm::TableFactory;
use neardups::clean;
use neardups::engine::{
    self, Counts, Fingerprint, Fingerprints, Hosts, KeepPolicy, Kept, KeptOutcome, MAX_HOSTS_PER_TEXT, Outcome, Report,
    Verdict,
};
use neardups::hash;
use neardups::report::{self, JsonLines};
use neardups::source::{self, Input, Source};
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::PathBuf;
use std::time::Instant;

/// The resolved request.
pub struct Request {
    paths: Vec<PathBuf>,
    against: Vec<PathBuf>,
    pub source: source::ReadOptions,
    /// Whether `--id-field` was typed, so that every record should have an id.
    pub names_ids: bool,
    pub factory: TableFactory,
    tokens: Tokenization,
    preset: Option<&'static str>,
    pub engine: engine::ScanOptions,
    pub emit: Emit,
    pub keep: KeepPolicy,
    pub host_depth: usize,
    pub on_error: OnError,
    rejects: Option<PathBuf>,
    max_bad: u64,
    pub allow_empty: bool,
    quiet: bool,
}

impl Request {
    /// Resolves the arguments. `paths` finds what they name as input.
    ///
    /// # Errors
    /// They contradict each other.
    pub fn resolve(
        arguments: &Arguments,
        paths: impl FnOnce(&Arguments) -> Result<Vec<PathBuf>, Error>,
    ) -> Result<Self, Error> {
        let Arguments { input, run, .. } = arguments;
        let method = Method::resolve(&arguments.method)?;
        let (_, factory) = method.factory()?;
        let source = input::ranked_source_options(input, &arguments.keep, run.temp_dir.as_deref())?;
        let paths = paths(arguments)?;
        refuse_without_effect(arguments)?;
        let engine = input::deciding_engine_options((input, run), &method.tokens, &arguments.keep)?;
        // Where documents are compared with a reference alone, the order of the choice decides nothing.
        if !arguments.against.is_empty() && engine.chosen.as_ref().is_some_and(|chosen| chosen.always() == 0) {
            let why =
                "--decisions has an effect with --against only by lines with \"always\":true: the reference is kept";
            return Err(usage_error(why));
        }
        let (preset, tokens) = (method.preset.map(|preset| preset.name), method.tokens);
        Ok(Request {
            paths,
            against: arguments.against.clone(),
            source,
            names_ids: input.id_field.is_typed,
            factory,
            preset,
            engine,
            tokens,
            emit: arguments.emit,
            keep: arguments.keep.policy(),
            host_depth: arguments.host_depth.unwrap_or_default() as usize,
            on_error: arguments.on_error.value,
            rejects: input.rejects.clone(),
            max_bad: input::max_bad(input, arguments.on_error.value)?,
            allow_empty: input.allow_empty,
            quiet: run.quiet,
        })
    }

    /// The options for copies of records.
    pub fn options_of_clean(&self) -> clean::CleanOptions {
        clean::CleanOptions {
            source: self.source.clone(),
            engine: self.engine.clone(),
            keep: self.keep,
            on_error: self.on_error.into(),
            ..clean::CleanOptions::default()
        }
    }
}

/// Refuses `--keep`, `--prefer`, `--decisions` and `--on-error` where they have no effect.
fn refuse_without_effect(arguments: &Arguments) -> Result<(), Error> {
    let Arguments { emit, keep, on_error, .. } = arguments;
    if let Some(flag) = keep.typed()
        && !matches!(emit, Emit::Clusters | Emit::Verdicts | Emit::Kept | Emit::Paths)
        && !(arguments.report.is_some() && *emit != Emit::Fingerprints)
    {
        let what = emit.name();
        return Err(usage_error(format!(
            "{flag} has no effect on {what}: use --emit clusters, --emit verdicts or --emit kept"
        )));
    }
    if *emit == Emit::Paths && arguments.paths.iter().all(|path| path.as_os_str() == "-") {
        return Err(usage_error("--print0 writes paths of files: name files or folders instead of standard input"));
    }
    if let (Some(_), Emit::Fingerprints | Emit::Kept | Emit::Paths) = (&arguments.report, emit) {
        let what = emit.name();
        return Err(usage_error(format!(
            "--report has no effect with --emit {what}: use --emit pairs, --emit clusters or --emit verdicts"
        )));
    }
    if *emit == Emit::Fingerprints && !arguments.against.is_empty() {
        return Err(usage_error("--against has no effect on fingerprints: name its files as paths"));
    }
    if arguments.host_depth.is_some() && *emit != Emit::Hosts {
        return Err(usage_error("--host-depth has an effect only on hosts: add --emit hosts"));
    }
    if let Some(flag) = keep.typed_without_decisions()
        && !arguments.against.is_empty()
    {
        return Err(usage_error(format!("{flag} has no effect with --against: the reference is kept")));
    }
    if on_error.is_typed && on_error.value != OnError::Fail && !matches!(emit, Emit::Verdicts | Emit::Kept) {
        return Err(usage_error(
            "--on-error keep and --on-error drop have an effect only on verdicts and kept records: add --emit verdicts or --emit kept",
        ));
    }
    Ok(())
}

/// Scans, writes the results, and prints a summary.
pub fn run(arguments: &Arguments) -> Result<Status, Error> {
    let mut outputs = Outputs::new();
    outputs.reads_documents(&arguments.paths, arguments.input.hidden)?;
    arguments.against.iter().try_for_each(|reference| outputs.reads_reference(reference))?;
    outputs.reads_method(&arguments.method)?;
    outputs.reads_decisions(&arguments.keep)?;
    let page = Page::open(arguments.report.as_deref(), &arguments.keep, &mut outputs)?;
    let stats = outputs.stats(arguments.stats.as_deref())?;
    with_stats(stats, |stats| {
        refuse_closed_output()?;
        end_on_signals(stats.as_ref(), INCOMPLETE)?;
        let started = Instant::now();
        let request = Request::resolve(arguments, |typed| input::paths(&typed.paths, &typed.against))?;
        scan(&request, page.as_ref(), &mut outputs, stats, started)
    })
}

/// Long because each kind of output follows the same steps.
fn scan(
    request: &Request,
    page: Option<&Page>,
    outputs: &mut Outputs,
    stats_file: &mut Option<OutFile>,
    started: Instant,
) -> Result<Status, Error> {
    check_reference(&request.against)?;
    let (mut input, mut reference) = inputs(request, page.is_some());
    let total = total_bytes(&input, reference.as_ref());
    let rejects = outputs.rejects(request.rejects.as_deref())?;
    let mut terminal = Terminal::new(request.quiet, total).with_rejects(rejects).with_max_bad(request.max_bad);
    if request.emit == Emit::Fingerprints && io::stdout().is_terminal() {
        // Records are written while the input is read.
        terminal = terminal.without_bar();
    }
    report_files(&terminal, request, (&input, reference.as_ref()));
    let against = side(&mut reference);
    let (report, written) = match request.emit {
        Emit::Fingerprints => {
            let (mut report, written) = write_fingerprints(&mut input, request, &terminal)?;
            warn(&mut report, &terminal);
            (report, written)
        }
        Emit::Kept => {
            let (mut report, written) = write_kept_records(&mut input, against, request, &terminal)?;
            warn(&mut report, &terminal);
            (report, written)
        }
        Emit::Paths => {
            let (mut report, written) = write_paths(&mut input, against, request, &terminal)?;
            warn(&mut report, &terminal);
            (report, written)
        }
        Emit::Clusters | Emit::Verdicts => {
            let (factory, options, keep) = (&request.factory, &request.engine, request.keep);
            let outcome = engine::scan_to_keep(&mut input, against, factory, options, &terminal, keep);
            terminal.done();
            let outcome = terminal.finish_rejects(outcome)?;
            let mut report = outcome.report().clone();
            warn(&mut report, &terminal);
            write_page(
                page,
                (&|| Ok(outcome.kept()), &report),
                (&mut input, side(&mut reference)),
                request,
                &terminal,
            )?;
            (report, write_kept(&outcome, request))
        }
        Emit::Pairs | Emit::Hosts => {
            let outcome = engine::scan(&mut input, against, &request.factory, &request.engine, &terminal);
            terminal.done();
            let mut outcome = terminal.finish_rejects(outcome)?;
            let hosts = (request.emit == Emit::Hosts).then(|| outcome.hosts(request.host_depth)).transpose()?;
            outcome.report.warnings.extend(hosts.iter().flat_map(warnings_of_hosts));
            warn(&mut outcome.report, &terminal);
            let kept = || outcome.keep(request.keep);
            write_page(page, (&kept, &outcome.report), (&mut input, side(&mut reference)), request, &terminal)?;
            let written = write(&outcome, hosts.as_ref(), request);
            (outcome.report, written)
        }
    };

    let Counts { documents, failed, skipped, .. } = report.counts;
    let (written, closed, failure) = match written {
        Ok(written) => {
            let rejected = (failed, skipped);
            (written, false, input::check_not_empty(request.allow_empty, documents, rejected, &input.counts()).err())
        }
        // The reader closed the output early. That is not an error, but statistics and status still count.
        Err(error) if error.is_closed_pipe() => (Written::default(), true, None),
        Err(error) => (Written::default(), true, Some(error)),
    };
    let never_found = input.all_fields_never_found(reference.as_ref());
    never_found.for_each(|warning| terminal.warning(&spelled(&warning)));
    input::report_lacking(&terminal, &request.source);
    input::warn_of_no_reference_fields(&terminal, &request.source, reference.as_ref());
    let input = input.counts() + reference.as_ref().map(Input::counts).unwrap_or_default();
    if !closed {
        summarise(&terminal, &report, request, &written, input, started);
    }
    warn_of_mistakes(&terminal, &report.counts, input, request);
    let error = failure.as_ref().map(Failure::from);
    let stats = Stats { error, ..stats(&report, request, &written, input, started) };
    write_stats(stats_file.take(), &stats, failure.as_ref())?;
    failure.map_or_else(|| Ok(terminal.end_with(failed)), Err)
}

/// Warns of globs that match no file, and reports files that are on both sides.
fn report_files(terminal: &Terminal, request: &Request, (input, reference): (&Input, Option<&Input>)) {
    input::warn_of_globs(terminal, &[&request.paths, &request.against], &request.source);
    markup::hint_of_pages(terminal, &request.paths, &request.source);
    input::warn_of_file_time(terminal, &request.source.ranking, &request.paths);
    input::report_shared(terminal, input, reference, ["compared with", "an input"]);
}

/// The documents and the reference, which may be read again.
fn inputs(request: &Request, is_read_again: bool) -> (Input, Option<Input>) {
    let (mut input, mut reference) =
        Input::sides(request.paths.clone(), request.against.clone(), request.source.clone());
    if !request.allow_empty {
        reference.iter_mut().for_each(|reference| reference.require_documents("against"));
    }
    if is_read_again {
        input.keep_for_second_read();
        reference.iter_mut().for_each(Source::keep_for_second_read);
    }
    (input, reference)
}

/// The bytes of all files, if they are known.
fn total_bytes(input: &Input, reference: Option<&Input>) -> Option<u64> {
    match reference {
        None => input.total_bytes(),
        Some(reference) => input.total_bytes().zip(reference.total_bytes()).map(|(a, b)| a + b),
    }
}

/// The reference, if there is one.
fn side(reference: &mut Option<Input>) -> Option<&mut dyn Source> {
    reference.as_mut().map(|reference| reference as &mut dyn Source)
}

/// Writes the page of `--report`, if it is wanted and the results are written.
fn write_page<'o>(
    page: Option<&Page>,
    (kept, report): (&dyn Fn() -> Result<Kept<'o>, Error>, &Report),
    (input, reference): (&mut Input, Option<&mut dyn Source>),
    request: &Request,
    terminal: &Terminal,
) -> Result<(), Error> {
    let Some(page) = page else { return Ok(()) };
    check_failed(request.on_error, report.counts.failed, NOTHING_WRITTEN)?;
    page.write((&kept()?, report), (input, reference), &request.engine, terminal)
}

/// Prints the warnings of a run, with parameters as options.
fn warn(report: &mut Report, terminal: &Terminal) {
    spell_all(&mut report.warnings);
    report.warnings.iter().for_each(|warning| terminal.warning(warning));
}

/// Warns of input that was probably read in an unintended way.
fn warn_of_mistakes(terminal: &Terminal, counts: &Counts, input: source::Counts, request: &Request) {
    let &Counts { documents, references, unnamed, unnamed_references, failed, skipped, .. } = counts;
    if request.emit != Emit::Fingerprints && documents == 1 && references == 0 {
        input::warn_of_one_document(terminal, &request.paths, (failed, skipped), input);
    }
    input::warn_of_no_fields(terminal, &request.engine.required_fields, &input);
    input::warn_of_unnamed(
        terminal,
        (&request.source, request.names_ids),
        [unnamed - unnamed_references, unnamed_references],
        [documents, references],
    );
}

/// Refuses a missing reference: without it, every document would seem new.
pub fn check_reference(against: &[PathBuf]) -> Result<(), Error> {
    for reference in against.iter().filter(|path| path.as_os_str() != "-") {
        reference
            .metadata()
            .map_err(|e| Error::input(format!("cannot read the reference {}", reference.display()), e))?;
    }
    Ok(())
}

/// Counts of what was written.
#[derive(Default)]
pub struct Written {
    records: u64,
    clusters: Option<u64>,
    dropped: Option<u64>,
    /// Clusters of which several documents are kept.
    clusters_keeping_several: Option<u64>,
    /// The pairs of documents that the pairs of hosts were counted from.
    pairs_across_hosts: Option<u64>,
}

impl Written {
    /// Records that leave out nothing.
    pub fn of_records(records: u64) -> Self {
        Written { records, ..Written::default() }
    }

    /// Documents that are kept, of those that were read.
    pub fn of_kept(counts: &Counts, records: u64) -> Self {
        let dropped = (counts.documents + counts.failed).saturating_sub(records);
        Written { records, dropped: Some(dropped), ..Written::default() }
    }

    /// A verdict on each document.
    pub fn of_verdicts(kept: &Kept<'_>, records: u64) -> Self {
        Written { records, dropped: Some(kept.dropped()), ..Written::default() }
    }

    /// Clusters. `has_reference`: whether documents were compared with a reference.
    pub fn of_clusters(kept: &Kept<'_>, has_reference: bool) -> Self {
        let (mut clusters, mut several) = (0, 0);
        for cluster in kept.clusters() {
            clusters += 1;
            several += u64::from(cluster.keep_indices.len() > 1);
        }
        // Every document of a reference is kept.
        let clusters_keeping_several = (!has_reference).then_some(several);
        Written { clusters: Some(clusters), clusters_keeping_several, ..Written::of_verdicts(kept, clusters) }
    }
}

/// What the pairs of hosts do not count.
pub fn warnings_of_hosts(hosts: &Hosts) -> Vec<String> {
    let mut warnings = Vec::new();
    if hosts.nameless > 0 {
        warnings.push(format!(
            "{} without a host: the id is neither a URL nor a path with a folder; --id-field names the field of ids",
            counted(hosts.nameless, "document")
        ));
    }
    if hosts.left_out > 0 {
        warnings.push(format!(
            "{} on more than {} hosts, which the records do not count: --emit clusters lists their documents",
            counted(hosts.left_out, "distinct text"),
            count(MAX_HOSTS_PER_TEXT as u64)
        ));
    }
    warnings
}

/// An error if records failed and `--on-error fail` was typed. It ends with what happened to the results.
pub fn check_failed(on_error: OnError, failed: u64, results: &str) -> Result<(), Error> {
    clean::OnError::from(on_error).check(failed, results)
}

pub const NOTHING_WRITTEN: &str = "no results were written";

/// Decides, and writes the records that are kept.
fn write_kept_records(
    input: &mut Input,
    against: Option<&mut dyn Source>,
    request: &Request,
    terminal: &Terminal,
) -> Result<(Report, Result<Written, Error>), Error> {
    let options = request.options_of_clean();
    let mut out = BufWriter::with_capacity(1 << 16, io::stdout());
    let result = clean::write_kept(input, against, &request.factory, &options, terminal, &mut out);
    terminal.done();
    let (report, written) = terminal.finish_rejects(result)?;
    let written = written.and_then(|kept| {
        out.flush().map_err(|error| Error::output("cannot write results", error))?;
        Ok(Written::of_kept(&report.counts, kept))
    });
    Ok((report, written))
}

/// Decides, and writes the paths of the files that are not kept.
fn write_paths(
    input: &mut Input,
    against: Option<&mut dyn Source>,
    request: &Request,
    terminal: &Terminal,
) -> Result<(Report, Result<Written, Error>), Error> {
    let options = request.options_of_clean();
    let result = clean::duplicate_files(input, against, &request.factory, &options, terminal);
    terminal.done();
    let (report, paths) = terminal.finish_rejects(result)?;
    let written = paths.and_then(|paths| {
        let mut out = BufWriter::with_capacity(1 << 16, io::stdout());
        let mut each = paths.iter();
        let written = each.try_for_each(|path| out.write_all(&[path.as_os_str().as_encoded_bytes(), b"\0"].concat()));
        written.and_then(|()| out.flush()).map_err(|error| Error::output("cannot write results", error))?;
        let files = paths.len() as u64;
        Ok(Written { records: files, dropped: Some(files), ..Written::default() })
    });
    Ok((report, written))
}

/// Makes the fingerprints, and writes each as it is made.
fn write_fingerprints(
    input: &mut Input,
    request: &Request,
    terminal: &Terminal,
) -> Result<(Report, Result<Written, Error>), Error> {
    let prepared = Fingerprints::prepare(input, &request.factory, &request.engine, terminal);
    let result =
        prepared.map(|fingerprints| match check_failed(request.on_error, fingerprints.failed(), NOTHING_WRITTEN) {
            Ok(()) => {
                let (report, written) = write_each(fingerprints);
                // A file may have become unreadable since.
                let changed = check_failed(
                    request.on_error,
                    report.counts.failed,
                    "the results that were written are incomplete",
                );
                (report, written.and_then(|written| changed.map(|()| written)))
            }
            Err(error) => (fingerprints.for_each(|_| Ok(())).0, Err(error)),
        });
    terminal.done();
    terminal.finish_rejects(result)
}

/// Writes the fingerprints. After an error everything is still read, so that all records that fail are named.
fn write_each(fingerprints: Fingerprints<'_>) -> (Report, Result<Written, Error>) {
    let mut out = WholeLines::new();
    let (mut records, mut result) = (0, Ok(()));
    let (report, all_read) = fingerprints.for_each(|fingerprint| {
        if result.is_ok() {
            records += 1;
            let error = fingerprint.error.map(spelling::of_rejection);
            result = report::fingerprint(&mut out, &Fingerprint { error: error.as_deref(), ..fingerprint.clone() });
        }
        Ok(())
    });
    let mut flush = || out.flush().map_err(|error| Error::output("cannot write results", error));
    (report, result.and(all_read).and_then(|()| flush()).map(|()| Written::of_records(records)))
}

/// Writes pairs, or the hosts that repeat each other.
fn write(outcome: &Outcome, hosts: Option<&Hosts>, request: &Request) -> Result<Written, Error> {
    check_failed(request.on_error, outcome.report.counts.failed, NOTHING_WRITTEN)?;
    let mut out = JsonLines::new(WholeLines::new(), &outcome.report);
    let mut written = Written::default();
    match hosts {
        None => written.records = out.pairs(outcome, request.engine.threads)?,
        Some(hosts) => {
            for pair in hosts.pairs() {
                written.records += 1;
                out.hosts(&pair?)?;
            }
            written.pairs_across_hosts = Some(hosts.document_pairs);
        }
    }
    out.finish()?;
    Ok(written)
}

/// Writes clusters or verdicts.
fn write_kept(outcome: &KeptOutcome, request: &Request) -> Result<Written, Error> {
    check_failed(request.on_error, outcome.report().counts.failed, NOTHING_WRITTEN)?;
    let mut out = JsonLines::new(WholeLines::new(), outcome.report());
    let kept = outcome.kept();
    let written = if request.emit == Emit::Clusters {
        kept.clusters().try_for_each(|cluster| out.cluster(&cluster))?;
        Written::of_clusters(&kept, !request.against.is_empty())
    } else {
        let mut records = 0;
        for verdict in kept.verdicts() {
            records += 1;
            let keep = clean::OnError::from(request.on_error).keeps(verdict.keep, verdict.error, verdict.is_skipped);
            let error = verdict.error.map(spelling::of_rejection);
            out.verdict(&Verdict { keep, error: error.as_deref(), ..verdict })?;
        }
        Written::of_verdicts(&kept, records)
    };
    out.finish()?;
    Ok(written)
}

fn summarise(
    terminal: &Terminal,
    report: &Report,
    request: &Request,
    written: &Written,
    input: source::Counts,
    started: Instant,
) {
    let Counts { documents, references, featureless, copies, pairs, bytes: read, .. } = report.counts;
    let mut found = counted(documents, "document");
    if !request.against.is_empty() {
        found += &format!(" against {}", counted(references, "reference"));
    }
    let results = [
        (request.emit == Emit::Fingerprints).then(|| counted(documents - featureless, "fingerprint")),
        pairs.filter(|_| request.emit != Emit::Hosts).map(|pairs| counted(pairs, "near-duplicate pair")),
        written.pairs_across_hosts.map(|pairs| {
            let hosts = if written.records == 1 {
                "1 pair of hosts".into()
            } else {
                format!("{} pairs of hosts", count(written.records))
            };
            let pairs = if pairs == 1 { "1 pair".into() } else { format!("{} pairs", count(pairs)) };
            format!("{hosts}, from {pairs} of documents on different hosts")
        }),
        written.clusters.map(|clusters| counted(clusters, "cluster")),
        written.dropped.map(|dropped| format!("{} not kept", counted(dropped, "document"))),
        written.clusters_keeping_several.filter(|&several| several > 0).map(keeping_several),
    ];
    found += &format!(": {}", results.into_iter().flatten().collect::<Vec<_>>().join("; "));
    terminal.line(&found);
    if documents == 0 {
        return left_out(terminal, &report.counts, input);
    }
    terminal.line(&terminal::what_ran(report, &request.tokens));
    let seconds = started.elapsed().as_secs_f64();
    let names = match request.emit {
        _ if featureless == 0 => "",
        Emit::Verdicts | Emit::Fingerprints => " (note: no features)",
        _ => " (--emit verdicts names them)",
    };
    let featureless = format!("{} with too few features{names}", counted(featureless, "document"));
    let cost = terminal.cost(read, seconds);
    // What was found, and what that cost this run.
    terminal.line(&match request.emit {
        Emit::Fingerprints => format!("{featureless}; {cost}"),
        _ => {
            let [copies, compared] =
                [(copies, "exact copy"), (report.compared, "candidate")].map(|(n, of)| counted(n, of));
            format!("{copies}, {featureless}; {compared} compared, {cost}")
        }
    });
    if report.spilled > 0 {
        let spilled = bytes(report.spilled as f64);
        let again = if report.rereadings > 0 { ", and the input was read again" } else { "" };
        let files = "of keys, features and pairs went to temporary files";
        terminal.line(&format!("because of --memory, {spilled} {files}{again}"));
    }
    input::report_decisions(terminal, &request.engine);
    left_out(terminal, &report.counts, input);
}

/// How many clusters keep more than one document: some members are near-duplicates only of members that are not kept.
fn keeping_several(clusters: u64) -> String {
    format!(
        "{} more than one",
        if clusters == 1 { "1 cluster keeps".into() } else { format!("{} clusters keep", count(clusters)) }
    )
}

/// Reports what was not read, or not as it was stored.
pub fn left_out(terminal: &Terminal, counts: &Counts, input: source::Counts) {
    let &Counts { failed, skipped, repaired, fell_back, .. } = counts;
    input::report_left_out(terminal, [failed, skipped, repaired, fell_back], input);
}

/// What ran, for statistics.
pub struct Ran<'a> {
    pub report: &'a Report,
    pub tokens: &'a Tokenization,
    pub seed: u64,
    pub preset: Option<&'static str>,
    pub started: Instant,
}

/// The one object of `--stats`.
#[derive(Serialize)]
pub struct Stats<'a> {
    pub r#type: &'static str,
    pub version: &'static str,
    pub hash_version: u32,
    pub algo: &'a str,
    pub measure: &'a str,
    pub tokenizer: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preparation: Option<&'a Described>,
    pub seed: u64,
    pub parameters: Ordered<'a>,
    pub median_tokens: usize,
    pub counts: &'a Counts,
    pub hidden: u64,
    pub records: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clusters: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dropped: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clusters_keeping_several: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub files_written: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes_written: Option<u64>,
    pub compared: u64,
    pub rereadings: u64,
    pub spilled: u64,
    pub warnings: &'a [String],
    /// Seconds in each stage, and from start to end.
    pub timings: BTreeMap<&'a str, f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preset: Option<&'static str>,
    /// Records of archives that are neither HTML nor plain text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub textless: Option<u64>,
    /// Further names of files that were read, which count as skipped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub same: Option<u64>,
    /// Files that `--include` and `--exclude` leave out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub excluded: Option<u64>,
    /// Files that are among the input and the reference, and are read on one side.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shared: Option<u64>,
    #[serde(flatten)]
    pub lacking: LackingStats,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<Failure>,
}

impl<'a> Stats<'a> {
    /// Those of a run, without what was written.
    pub fn of(ran: &Ran<'a>) -> Self {
        let Ran { report, tokens, seed, preset, started } = *ran;
        let stages = report.timings.iter().map(|(name, time)| (*name, time.as_secs_f64()));
        Stats {
            r#type: "stats",
            version: env!("CARGO_PKG_VERSION"),
            hash_version: hash::HASH_VERSION,
            algo: report.algorithm,
            measure: report.measure,
            tokenizer: report.tokenizer.as_deref().unwrap_or(&tokens.name),
            preparation: tokens.prepared.as_ref(),
            seed,
            parameters: Ordered(report.parameters.iter().map(|row| (row.name, &row.value)).collect()),
            median_tokens: report.median_tokens,
            counts: &report.counts,
            hidden: 0,
            records: 0,
            clusters: None,
            dropped: None,
            clusters_keeping_several: None,
            files_written: None,
            bytes_written: None,
            compared: report.compared,
            rereadings: report.rereadings,
            spilled: report.spilled,
            warnings: &report.warnings,
            timings: stages.chain([("total", started.elapsed().as_secs_f64())]).collect(),
            preset,
            textless: None,
            same: None,
            excluded: None,
            shared: None,
            lacking: LackingStats::default(),
            error: None,
        }
    }
}

/// The statistics of a scan.
pub fn stats<'a>(
    report: &'a Report,
    request: &'a Request,
    written: &Written,
    input: source::Counts,
    started: Instant,
) -> Stats<'a> {
    let ran = Ran { report, tokens: &request.tokens, seed: request.engine.seed, preset: request.preset, started };
    Stats {
        hidden: input.hidden,
        records: written.records,
        clusters: written.clusters,
        dropped: written.dropped,
        clusters_keeping_several: written.clusters_keeping_several,
        textless: Some(input.textless).filter(|&count| count > 0),
        same: Some(input.same).filter(|&count| count > 0),
        excluded: Some(input.excluded).filter(|&count| count > 0),
        shared: Some(input.elsewhere).filter(|&count| count > 0),
        lacking: LackingStats::of(&request.source),
        ..Stats::of(&ran)
    }
}
