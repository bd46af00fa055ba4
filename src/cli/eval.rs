//! `dedup eval`: measures results against labels.

use super::arguments::eval::Arguments;
use super::files::OutFile;
use super::input;
use super::method::Method;
use super::outputs::Outputs;
use super::plot::Plot;
use super::preparation::{Described, Tokenization};
use super::problems::Rejects;
use super::spelling::spelled;
use super::spread::{Spread, in_words};
use super::stats::end_programs_on_signals;
use super::status::{Status, usage_error};
use super::terminal::{self, Terminal, count, counted};
use neardups::Error;
use neardups::algorithm::{ALGORITHMS, Entry, Odds, TableFactory, Value};
use neardups::engine::{self, Counts, Observer, Outcome, Stage};
use neardups::evaluate::{self, Bin, Bins, Disagreement, Evaluation, Labels, Mistake, PairSet, Scores, Swept, Truth};
use neardups::similarity::Similarity;
use neardups::source::{self, Format, Input, Source};
use serde::Serialize;
use std::cell::Cell;
use std::collections::{BTreeMap, HashMap};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// An algorithm with its factory, or with the reason why there is none.
type Run = (&'static Entry, Result<TableFactory, String>);

/// What to run.
enum Runs {
    /// Each of these algorithms.
    Each(Vec<Run>),
    /// One algorithm, with the loosest limit of the sweep.
    Sweep(TableFactory, Swept),
}

/// The resolved request, except what to run.
struct Request {
    labels: Labels,
    ignored: Labels,
    quiet: bool,
    tokens: Tokenization,
    engine: engine::ScanOptions,
    allow_empty: bool,
    /// Taken by the first scan, because others have the same problems.
    rejects: Cell<Option<Rejects>>,
}

/// Scans, measures, and writes the results.
pub fn run(arguments: &Arguments) -> Result<Status, Error> {
    let truth = &arguments.truth;
    let ignore = match &arguments.ignore {
        Some(typed) if typed.as_os_str() == "none" => None,
        Some(typed) => Some(typed.clone()),
        None => beside(truth),
    };
    let labels_read: Vec<PathBuf> = [truth.clone()].into_iter().chain(ignore.clone()).collect();
    let paths = input::paths(&arguments.paths, &labels_read)?;
    let mut outputs = Outputs::new();
    outputs.reads_documents(&arguments.paths, arguments.input.hidden)?;
    outputs.reads_method(&arguments.method)?;
    labels_read.iter().try_for_each(|labels| outputs.reads(labels, "the labels"))?;
    let plot = arguments.plot.as_ref().map(|plot| outputs.file(plot, "--plot")).transpose()?;
    let errors = arguments.errors.as_ref().map(|errors| outputs.file(errors, "--errors")).transpose()?;

    // Errors in options are reported before anything is read.
    let method = Method::resolve(&arguments.method)?;
    let runs = runs(arguments, &method)?;
    let request = Request {
        labels: read_truth(truth)?,
        ignored: ignore.as_deref().map(read_labels).transpose()?.unwrap_or_default(),
        quiet: arguments.run.quiet,
        engine: engine::ScanOptions {
            distribution: true,
            ..input::reading_engine_options((&arguments.input, &arguments.run), &method.tokens)
        },
        tokens: method.tokens,
        allow_empty: arguments.input.allow_empty,
        rejects: Cell::new(outputs.rejects(arguments.input.rejects.as_deref())?),
    };
    let options = input::source_options(&arguments.input, arguments.run.temp_dir.as_deref())?;
    end_programs_on_signals(&options)?;
    let mut input = Input::new(paths, options);
    let mut out = BufWriter::new(std::io::stdout().lock());
    let failed = match runs {
        Runs::Sweep(factory, swept) => run_sweep(&mut input, &factory, swept, &request, plot, &mut out)?,
        Runs::Each(runs) => {
            input.keep_for_second_read();
            match errors {
                Some(file) => {
                    file.stream(|errors| run_each(&mut input, &runs, &request, &mut out, Some((errors, &file))))?
                }
                None => run_each(&mut input, &runs, &request, &mut out, None)?,
            }
        }
    };
    out.flush().map_err(cannot_write)?;
    Ok(Status::of_input(u64::from(failed)))
}

/// What to run.
fn runs(arguments: &Arguments, method: &Method) -> Result<Runs, Error> {
    let settings = &arguments.method.settings;
    if arguments.method.is_all() {
        if arguments.sweep {
            return Err(usage_error("--sweep needs a single algorithm: choose it with --algo"));
        }
        let typed = settings.given().next().map(|(name, _)| name);
        if let Some(name) = method.preset.map(|_| "preset").or(typed) {
            return Err(usage_error(format!(
                "--{name} has no effect with --algo all, which runs each with its defaults"
            )));
        }
        let run = |entry: &'static Entry| match entry.goes_with(&method.tokens.steps) {
            Ok(()) => Ok((entry, Ok(method.factory_of(entry, settings.clone())?))),
            Err(why) => Ok((entry, Err(why.to_string()))),
        };
        return ALGORITHMS.iter().map(run).collect::<Result<_, Error>>().map(Runs::Each);
    }
    if arguments.sweep {
        let entry = method.entry()?;
        let mut settings = settings.clone();
        entry.check(&settings)?;
        let by = Swept::loosen(entry, &mut settings)?;
        let factory = method.factory_of(entry, settings);
        let factory = factory.map_err(|error| usage_error(format!("cannot sweep: {error}")))?;
        return Ok(Runs::Sweep(factory, by));
    }
    let (entry, factory) = method.factory()?;
    Ok(Runs::Each(vec![(entry, Ok(factory))]))
}

/// The file of pairs to ignore in the folder of the truth.
fn beside(truth: &Path) -> Option<PathBuf> {
    let found = ["ignore.jsonl", "ignore.jsonl.gz"].into_iter().map(|name| truth.with_file_name(name));
    found.into_iter().find(|path| truth.as_os_str() != "-" && path.exists())
}

fn read_truth(path: &Path) -> Result<Labels, Error> {
    let labels = read_labels(path)?;
    match labels.is_empty() {
        true => Err(Error::Label { place: path.display().to_string(), message: "no labels in it".into() }),
        false => Ok(labels),
    }
}

fn read_labels(path: &Path) -> Result<Labels, Error> {
    if path.is_dir() {
        return Err(usage_error(format!("{}: is a folder: name a file of labels", path.display())));
    }
    let options = source::ReadOptions {
        format: Format::Lines,
        max_record: *source::ReadOptions::MAX_RECORD.end(),
        ..source::ReadOptions::default()
    };
    Labels::read(&mut Input::new(vec![path.to_path_buf()], options))
}

/// The labels of the documents that were read.
fn truth(request: &Request, numbers: &HashMap<&str, u32>, terminal: Option<&Terminal>) -> Result<Truth, Error> {
    let pairs: PairSet = request.labels.resolve(numbers)?;
    let (ignored, unknown) = request.ignored.resolve_known(numbers)?;
    if let (Some(terminal), 1..) = (terminal, unknown) {
        let what = counted(unknown as u64, "id");
        terminal.warning(&format!("{what} among the pairs to ignore: no document has such an id"));
    }
    Ok(Truth::new(pairs, &ignored))
}

/// Reports the progress of a scan, but not its problems, which an earlier scan of the same documents has reported.
struct ProgressOnly<'a>(&'a Terminal);

impl Observer for ProgressOnly<'_> {
    fn stage(&self, stage: Stage) {
        self.0.stage(stage);
    }

    fn progress(&self, bytes: u64, documents: u64) {
        self.0.progress(bytes, documents);
    }

    fn unpacked(&self, bytes: u64) {
        self.0.unpacked(bytes);
    }
}

fn scan(
    source: &mut Input,
    factory: &TableFactory,
    request: &Request,
    first: bool,
) -> (Terminal, Result<Outcome, Error>) {
    let rejects = if first { request.rejects.take() } else { None };
    let terminal = Terminal::new(request.quiet, source.total_bytes()).with_rejects(rejects);
    let progress_only = ProgressOnly(&terminal);
    let observer: &dyn Observer = if first { &terminal } else { &progress_only };
    let outcome = engine::scan(source, None, factory, &request.engine, observer);
    terminal.done();
    let checked = terminal.finish_rejects(outcome).and_then(|outcome| {
        let Counts { documents, failed, skipped, .. } = outcome.report.counts;
        input::check_not_empty(request.allow_empty, documents, (failed, skipped), &source.counts())?;
        if outcome.report.counts.repeated_ids > 0 {
            outcome.report.warnings.iter().for_each(|warning| terminal.warning(&spelled(warning)));
            return Err(usage_error(
                "labels identify documents by id, and some documents have the same id: name another field with --id-field \
                 (--id-field none uses positions as ids, FILE:LINE)",
            ));
        }
        Ok(outcome)
    });
    (terminal, checked)
}

/// The columns of the table.
const HEADINGS: [&str; 11] =
    ["algorithm", "found", "right", "wrong", "missed", "ignored", "precision", "recall", "F1", "ARI", "accuracy"];

/// Runs each algorithm and measures it. Returns whether some documents could not be read.
fn run_each(
    input: &mut Input,
    runs: &[Run],
    request: &Request,
    out: &mut impl Write,
    mut errors: Option<(&mut dyn Write, &OutFile)>,
) -> Result<bool, Error> {
    let mut failed = false;
    let mut table = Table::new(&HEADINGS);
    let mut by_similarity = Vec::new();
    let (mut spread, mut ran) = (Vec::new(), Vec::new());
    let mut summary = None;
    let terminal = Terminal::new(request.quiet, None);
    let mut first = true;
    for (entry, factory) in runs {
        let (progress, outcome) = match factory {
            Ok(factory) => scan(input, factory, request, std::mem::take(&mut first)),
            Err(reason) => (Terminal::new(request.quiet, None), Err(Error::Unsuitable(reason.clone()))),
        };
        let outcome = match outcome {
            Err(Error::Unsuitable(reason)) if runs.len() > 1 => {
                line(out, &Refusal { r#type: "eval", algo: entry.name, refused: &spelled(&reason) })?;
                table.note(entry.name, format!("not run: {}", spelled(&reason)));
                continue;
            }
            outcome => outcome?,
        };
        let report = &outcome.report;
        let numbers = evaluate::numbers(&outcome);
        let truth = truth(request, &numbers, summary.is_none().then_some(&progress))?;
        if truth.pairs.is_empty() && summary.is_none() {
            progress.warning("there are no labelled pairs: recall is meaningless");
        }
        let evaluation = evaluate::evaluate(&outcome, &numbers, &truth)?;
        let pairs: Vec<_> = truth.pairs.iter().map(|(a, b)| (a as usize, b as usize)).collect();
        let odds = outcome.odds(input, &request.engine, &pairs);
        if let Some((errors, file)) = &mut errors {
            let odds = odds.as_deref().unwrap_or_default();
            write_mistakes(&outcome, &truth, odds, errors, |error| file.cannot_write(error))?;
        }
        let bins = match odds {
            Ok(odds) => Ok(evaluate::bins(&outcome, &numbers, &truth, &odds)?),
            Err(reason) => Err(reason),
        };
        line(out, &Record::new(&outcome, numbers.len() as u64, &evaluation, &bins, request))?;
        if runs.len() == 1 {
            by_similarity = table_of(&bins);
            spread.extend(report.distribution.as_ref().map(in_words));
        }
        let Evaluation { scores, ari, accuracy } = evaluation;
        let mut row = vec![report.algorithm.to_string()];
        row.extend([scores.predicted(), scores.right, scores.wrong, scores.missed(), scores.ignored].map(count));
        row.extend(
            [scores.precision(), Some(scores.recall()), scores.f1(), Some(ari), Some(accuracy)].map(four_or_dash),
        );
        table.row(row);
        ran.push(terminal::what_ran(report, &request.tokens));
        // Reported with the algorithm that they are about.
        report
            .warnings
            .iter()
            .for_each(|warning| progress.warning(&format!("{}: {}", report.algorithm, spelled(warning))));
        failed |= report.counts.failed > 0;
        summary.get_or_insert_with(|| counts(numbers.len() as u64, &truth));
    }
    summary
        .iter()
        .chain(&table.lines())
        .chain(&by_similarity)
        .chain(&spread)
        .chain(&ran)
        .for_each(|line| terminal.line(line));
    Ok(failed)
}

/// Writes the pairs on which the outcome and the labels disagree.
fn write_mistakes(
    outcome: &Outcome,
    truth: &Truth,
    odds: &[Option<Odds>],
    mut out: &mut dyn Write,
    cannot_write: impl Fn(io::Error) -> Error,
) -> Result<(), Error> {
    let (ids, report): (Vec<&str>, _) = (outcome.documents().collect(), &outcome.report);
    for mistake in evaluate::mistakes(outcome, truth, odds) {
        let Mistake { documents: (a, b), disagreement, similarity, distance, .. } = mistake?;
        let (error, measure) = match disagreement {
            Disagreement::Wrong => ("wrong", report.measure),
            Disagreement::Missed => ("missed", outcome.odds_measure()),
        };
        let record = MistakeRecord {
            r#type: "error",
            error,
            a: ids[a as usize],
            b: ids[b as usize],
            similarity: similarity.map(Similarity::value),
            measure: similarity.map(|_| measure),
            algo: report.algorithm,
            distance,
            a_at: outcome.place(a as usize).to_string(),
            b_at: outcome.place(b as usize).to_string(),
        };
        let written = serde_json::to_writer(&mut out, &record).map_err(io::Error::from);
        written.and_then(|()| out.write_all(b"\n")).map_err(&cannot_write)?;
    }
    Ok(())
}

/// The labelled pairs by similarity, as a table.
fn table_of(bins: &Result<Bins, Error>) -> Vec<String> {
    let Bins { bins, not_compared } = match bins {
        Ok(bins) => bins,
        Err(reason) => return vec![format!("no table of labelled pairs by similarity: {reason}")],
    };
    let mut table = Table::new(&["similarity", "labelled", "right", "recall", "predicted"]);
    for bin in bins {
        let range = format!("{:.2}-{:.2}", bin.from, bin.to);
        let counts = [bin.pairs, bin.found].map(count);
        table.row([&[range][..], &counts, &[bin.recall(), bin.predicted].map(four)].concat());
    }
    let mut lines = if bins.is_empty() { Vec::new() } else { table.lines() };
    if *not_compared > 0 {
        let pairs = counted(*not_compared, "labelled pair");
        lines.push(format!("{pairs} with a document with too few features to be compared"));
    }
    lines
}

/// Scans once with the loosest limit, and measures every point of the sweep.
fn run_sweep(
    input: &mut Input,
    factory: &TableFactory,
    swept: Swept,
    request: &Request,
    plot: Option<OutFile>,
    out: &mut impl Write,
) -> Result<bool, Error> {
    let (terminal, outcome) = scan(input, factory, request, true);
    let outcome = outcome?;
    let report = &outcome.report;
    report.warnings.iter().for_each(|warning| terminal.warning(&spelled(warning)));
    let numbers = evaluate::numbers(&outcome);
    let truth = truth(request, &numbers, Some(&terminal))?;
    let points = evaluate::sweep(&outcome, &numbers, &truth, swept)?;
    let best = evaluate::best(&points);
    for &(value, scores) in &points {
        line(out, &Point::new("point", report.algorithm, swept, value, &scores))?;
    }
    let name = match swept {
        Swept::Threshold(_) => "threshold",
        Swept::Distance(_) => "distance",
    };
    let mut table = Table::new(&[name, "found", "right", "wrong", "missed", "ignored", "precision", "recall", "F1"]);
    for &(value, scores) in &points {
        let is_best = best.is_some_and(|(best, _)| best == value);
        // Steps of 0.05 are enough for the table.
        if is_best || name == "distance" || ((value * 100.0).round() as u32).is_multiple_of(5) {
            let mut row = vec![value.to_string()];
            row.extend([scores.predicted(), scores.right, scores.wrong, scores.missed(), scores.ignored].map(count));
            row.extend([scores.precision(), Some(scores.recall()), scores.f1()].map(four_or_dash));
            table.row(row);
        }
    }
    let mut lines = vec![counts(numbers.len() as u64, &truth)];
    lines.extend(table.lines());
    lines.push(terminal::what_ran(report, &request.tokens));
    if let Some((value, scores)) = best {
        line(out, &Point::new("best", report.algorithm, swept, value, &scores))?;
        lines.push(format!("best: {name} {value}, F1 {}", four_or_dash(scores.f1())));
    }
    lines.iter().for_each(|line| terminal.line(line));
    if let Some(file) = plot {
        file.write(&picture(report.algorithm, name, points, best))?;
    }
    Ok(report.counts.failed > 0)
}

/// The plot of a sweep.
fn picture(algorithm: &str, name: &str, mut points: Vec<(f64, Scores)>, best: Option<(f64, Scores)>) -> String {
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    let at: Vec<f64> = points.iter().map(|point| point.0).collect();
    let heights = |measure: fn(&Scores) -> Option<f64>| points.iter().map(|(_, scores)| measure(scores)).collect();
    let label = best.map(|(value, scores)| (value, format!("best F1 {} at {value}", four_or_dash(scores.f1()))));
    Plot {
        title: &format!("{algorithm}: precision, recall and F1 by {name}"),
        axis: name,
        at: &at,
        curves: &[
            ("precision", heights(Scores::precision)),
            ("recall", heights(|scores| Some(scores.recall()))),
            ("F1", heights(Scores::f1)),
        ],
        mark: label.as_ref().map(|(value, label)| (*value, label.as_str())),
    }
    .svg()
}

/// The number of documents and of pairs to find.
fn counts(documents: u64, truth: &Truth) -> String {
    let mut line =
        format!("{}, {}", counted(documents, "document"), counted(truth.pairs.len() as u64, "labelled pair"));
    if !truth.ignored.is_empty() {
        line += &format!(", {} to ignore", count(truth.ignored.len() as u64));
    }
    line
}

fn four(measure: f64) -> String {
    format!("{measure:.4}")
}

/// To four decimals, or a dash for an undefined measure.
fn four_or_dash(measure: Option<f64>) -> String {
    measure.map_or_else(|| "-".into(), four)
}

/// One line of the output.
#[derive(Serialize)]
struct Record<'a> {
    r#type: &'static str,
    algo: &'a str,
    parameters: BTreeMap<&'a str, &'a Value>,
    documents: u64,
    truth_pairs: u64,
    predicted_pairs: u64,
    precision: Option<f64>,
    recall: f64,
    f1: Option<f64>,
    ari: f64,
    right: u64,
    wrong: u64,
    missed: u64,
    ignored: u64,
    tokenizer: &'a str,
    accuracy: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    distribution: Option<Spread<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bins: Option<Vec<BinRecord>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    not_compared: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    no_bins: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    preparation: Option<&'a Described>,
}

/// Labelled pairs in a range of similarity.
#[derive(Serialize)]
struct BinRecord {
    from: f64,
    to: f64,
    pairs: u64,
    found: u64,
    recall: f64,
    predicted: f64,
}

/// To four decimals.
fn rounded(part: f64) -> f64 {
    (part * 1e4).round() / 1e4
}

impl<'a> Record<'a> {
    fn new(
        outcome: &'a Outcome,
        documents: u64,
        evaluation: &Evaluation,
        bins: &Result<Bins, Error>,
        request: &'a Request,
    ) -> Self {
        let (report, scores) = (&outcome.report, &evaluation.scores);
        Record {
            r#type: "eval",
            algo: report.algorithm,
            parameters: report.parameters.iter().map(|row| (row.name, &row.value)).collect(),
            documents,
            truth_pairs: scores.labelled,
            predicted_pairs: scores.predicted(),
            precision: scores.precision(),
            recall: scores.recall(),
            f1: scores.f1(),
            ari: evaluation.ari,
            right: scores.right,
            wrong: scores.wrong,
            missed: scores.missed(),
            ignored: scores.ignored,
            tokenizer: report.tokenizer.as_deref().unwrap_or(&request.tokens.name),
            accuracy: evaluation.accuracy,
            distribution: report.distribution.as_ref().map(Spread::brief),
            bins: bins.as_ref().ok().map(|bins| bins.bins.iter().map(BinRecord::new).collect()),
            not_compared: bins.as_ref().ok().map(|bins| bins.not_compared),
            no_bins: bins.as_ref().err().map(Error::to_string),
            preparation: request.tokens.prepared.as_ref(),
        }
    }
}

impl BinRecord {
    fn new(bin: &Bin) -> Self {
        let Bin { from, to, pairs, found, predicted } = *bin;
        BinRecord { from, to, pairs, found, recall: rounded(bin.recall()), predicted: rounded(predicted) }
    }
}

/// A pair on which an outcome and the labels disagree.
#[derive(Serialize)]
struct MistakeRecord<'a> {
    r#type: &'static str,
    error: &'static str,
    a: &'a str,
    b: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    similarity: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    measure: Option<&'a str>,
    algo: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    distance: Option<u32>,
    a_at: String,
    b_at: String,
}

/// Replaces a [`Record`] for an algorithm that refuses these documents.
#[derive(Serialize)]
struct Refusal<'a> {
    r#type: &'static str,
    algo: &'a str,
    refused: &'a str,
}

/// One point of a sweep, or the best of them.
#[derive(Serialize)]
struct Point<'a> {
    r#type: &'static str,
    algo: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    threshold: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    distance: Option<u32>,
    truth_pairs: u64,
    predicted_pairs: u64,
    precision: Option<f64>,
    recall: f64,
    f1: Option<f64>,
    right: u64,
    wrong: u64,
    missed: u64,
    ignored: u64,
}

impl<'a> Point<'a> {
    fn new(r#type: &'static str, algo: &'a str, swept: Swept, value: f64, scores: &Scores) -> Self {
        let (threshold, distance) = match swept {
            Swept::Threshold(_) => (Some(value), None),
            Swept::Distance(_) => (None, Some(value as u32)),
        };
        Point {
            r#type,
            algo,
            threshold,
            distance,
            truth_pairs: scores.labelled,
            predicted_pairs: scores.predicted(),
            precision: scores.precision(),
            recall: scores.recall(),
            f1: scores.f1(),
            right: scores.right,
            wrong: scores.wrong,
            missed: scores.missed(),
            ignored: scores.ignored,
        }
    }
}

fn line(out: &mut impl Write, record: &impl Serialize) -> Result<(), Error> {
    serde_json::to_writer(&mut *out, record).map_err(|error| cannot_write(error.into()))?;
    out.write_all(b"\n").map_err(cannot_write)
}

fn cannot_write(error: io::Error) -> Error {
    Error::output("cannot write results", error)
}

/// Rows of cells under headings; the first column is aligned to the left, the others to the right.
struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    fn new(headings: &[&str]) -> Self {
        Table { rows: vec![headings.iter().map(|heading| heading.to_string()).collect()] }
    }

    fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    /// A row with a sentence instead of cells.
    fn note(&mut self, first: &str, sentence: String) {
        self.rows.push(vec![first.to_string(), sentence]);
    }

    fn lines(&self) -> Vec<String> {
        let columns = self.rows[0].len();
        let full = || self.rows.iter().filter(|row| row.len() == columns);
        let mut widths: Vec<usize> =
            (0..columns).map(|at| full().map(|row| row[at].len()).max().unwrap_or(0)).collect();
        widths[0] = self.rows.iter().map(|row| row[0].len()).max().unwrap_or(0);
        let line = |row: &Vec<String>| {
            let mut line = format!("  {:<1$}", row[0], widths[0]);
            for (cell, width) in row[1..].iter().zip(&widths[1..]) {
                let width = if row.len() == columns { *width } else { 0 };
                line += &format!("  {cell:>width$}");
            }
            line
        };
        self.rows.iter().map(line).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_lines_up() {
        let mut table = Table::new(&["name", "n", "F1"]);
        table.row(vec!["long name".into(), "1,000".into(), "0.5000".into()]);
        table.note("x", "not run: a long reason".into());
        assert_eq!(
            table.lines(),
            ["  name           n      F1", "  long name  1,000  0.5000", "  x          not run: a long reason"]
        );
    }

    #[test]
    fn ignored_pairs_are_searched_for_next_to_the_truth() {
        let folder = tempfile::tempdir().unwrap();
        let truth = folder.path().join("truth.jsonl");
        assert_eq!(beside(&truth), None);
        std::fs::write(folder.path().join("ignore.jsonl.gz"), "").unwrap();
        assert_eq!(beside(&truth), Some(folder.path().join("ignore.jsonl.gz")));
        std::fs::write(folder.path().join("ignore.jsonl"), "").unwrap();
        assert_eq!(beside(&truth), Some(folder.path().join("ignore.jsonl")));
        assert_eq!(beside(Path::new("-")), None);
    }
}
